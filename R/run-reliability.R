#' Which columns measure anything: evidence from replicates
#'
#' Says for every column how much of its variance comes back when the same sample is measured again,
#' and how many columns repeat beyond chance. Use it where rows are repeated measurements
#' (technical replicates, repeated scans, test and retest, wells of a plate), before columns are
#' chosen: a column that does not repeat cannot be worth keeping.
#'
#' Each column gets a one-way analysis of variance over the levels of `replicates`. Its F statistic
#' is the mean square between levels over that within them, and the reliability of the mean of a
#' level is 1 - 1 / F, at least 0. With `blocks` (batches, plates) the analysis is that of levels
#' and blocks, levels after blocks, as in `anova(lm(v ~ block + level))`: crossed, nested or in
#' part; with `weights` a row of weight 2 counts as two rows. A level of one row counts between
#' levels only. Where levels have unequal sizes the intervals are approximate. Missing values are
#' left out, each by itself (with `block_scale` choose `na`).
#'
#' Methods that choose columns make use of it: given `replicates`, they work on the means of the
#' levels, each column times its reliability, see [ufs_data()] and `vignette("replicates")`.
#'
#' @param x The data, with samples in rows and features in columns, see [ufs_data()].
#' @param replicates A factor over the rows: rows of one level are measurements of the same sample.
#'   `NA` leaves a row out. The default `NULL` takes those that `x` has from `ufs_data(x, replicates
#'   = )`.
#' @param fdr The false discovery rate at which columns are counted as repeating beyond chance
#'   (Benjamini and Hochberg), a number between 0 and 1. The default is the usual .05.
#' @param level The level of the intervals, a number between 0 and 1.
#' @param ... Arguments of [ufs_data()], such as `blocks`, `counts` or `na`.
#' @return An object of class `ufs_reliability`: a list with `table`, a data frame with one row for
#'   each column of `x` in their order (`feature`, `f`, `p_value`, `q_value`, `reliability` of the
#'   mean of a level, its interval from `lower` to `upper`, the reliability of a `single` row, and
#'   `repeats`: is it beyond chance at `fdr`?), `n_repeats`, `n_levels`, `n_rows` (used), `df`,
#'   `fdr` and `level`. `as.data.frame()` gives the table.
#' @section Errors: `ufs_error_argument` if there are no `replicates`, if no level has two rows, or
#'   if there is one level only; those of [ufs_data()] for the data.
#' @references Shrout and Fleiss (1979) Intraclass correlations: uses in assessing rater
#'   reliability. Psychological Bulletin 86, 420-428. \doi{10.1037/0033-2909.86.2.420}
#'
#'   Benjamini and Hochberg (1995) Controlling the false discovery rate. Journal of the Royal
#'   Statistical Society B 57, 289-300. \doi{10.1111/j.2517-6161.1995.tb02031.x}
#' @seealso [ufs_decoys()] for noise without replicates, [ufs_data()] for `replicates` as a
#' constraint
#' @examples
#' # Twenty samples measured three times: two columns repeat, three are noise
#' set.seed(1)
#' sample <- rep(1:20, each = 3)
#' x <- cbind(a = rnorm(20)[sample], b = rnorm(20)[sample], matrix(0, 60, 3)) + rnorm(300, sd = .5)
#' colnames(x)[3:5] <- c("c", "d", "e")
#' found <- ufs_reliability(x, sample)
#' found
#' plot(found)
#' @export
ufs_reliability <- function(x, replicates = NULL, fdr = 0.05, level = 0.95, ...) {
  check_given(x)
  fdr <- check_number(fdr, "fdr", 0, 1, open = TRUE)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  watch_over("ufs_reliability()")
  opened <- open_some(x, c(list(...), list(replicates = replicates)))
  if (length(opened$rest)) refuse_argument(names_of(opened$rest)[1L])
  data <- check_door(opened$x, "ufs_reliability()")
  if (is.null(data$row_held$replicates)) {
    refuse("replicates", "`replicates` says which rows measure the same sample, and is missing.")
  }
  out <- judged_reliability(data, fdr, level)
  close_source(data$x)
  out
}

# list(n, of, levels): how many columns repeat better than chance, where the data hold replicates.
counted_repeats <- function(data) {
  if (is.null(data$row_held$replicates)) return(NULL)
  found <- judged_reliability(data)
  list(n = found$n_repeats, of = data$p, levels = found$n_levels)
}

# The same of opened data that hold replicates.
judged_reliability <- function(data, fdr = 0.05, level = 0.95) {
  squares <- replicate_squares(data)
  table <- reliability_table(squares, level)
  q <- stats::p.adjust(table$p_value, "BH")
  table <- data.frame(feature = feature_names(data$features, data$p, FALSE),
    table[c("f", "p_value")], q_value = q,
    table[c("reliability", "lower", "upper", "single")], repeats = !is.na(q) & q <= fdr)
  structure(list(table = table, n_repeats = sum(table$repeats), n_levels = length(squares$value),
    n_rows = sum(!is.na(data$row_held$replicates)), df = squares$df, fdr = fdr, level = level),
    class = c("ufs_reliability", "ufs_result"))
}

#' @export
print_lines.ufs_reliability <- function(x) {
  table <- x$table
  cat_line("<ufs_reliability> ", count_words(nrow(table), "column"), " of ", x$n_rows,
    " rows that measure ", count_words(x$n_levels, "sample"))
  cat_field("  repeat", count_words(x$n_repeats, "column"), " better than chance, at a false ",
    "discovery rate of ", percent(x$fdr))
  middle <- stats::median(table$reliability, na.rm = TRUE)
  cat_field("  reliability", "of the mean of a sample: ", format(middle, digits = 2L),
    " in the median column")
  best <- utils::head(order(-table$reliability, -table$f, na.last = NA), 5L)
  cat_field("  best", paste0(table$feature[best], " (",
    format(table$reliability[best], digits = 2L), ")", collapse = ", "))
  lost <- sum(is.na(table$reliability))
  if (lost) cat_field("  constant", count_words(lost, "column"), ", of which nothing can be said")
}

#' @export
picture.ufs_reliability <- function(object, ...) {
  table <- object$table
  # Columns that repeat come first, whatever rounding says of the others.
  ord <- order(!table$repeats, -table$reliability, -table$f, na.last = NA)
  ord <- ord[!is.na(table$reliability[ord])]
  new_picture("spikes", table = data.frame(x = seq_along(ord), y = table$reliability[ord],
    best = table$repeats[ord]), ylim = c(0, 1),
    lines = list(v = object$n_repeats + .5), xlab = "columns by reliability",
    ylab = "reliability of the mean of a sample",
    title = sprintf("%d of %d columns repeat better than chance", object$n_repeats, nrow(table)),
    subtitle = sprintf("%d samples, %d rows, false discovery rate %g%%", object$n_levels,
      object$n_rows, 100 * object$fdr))
}
