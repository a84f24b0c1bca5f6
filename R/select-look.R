# The kind of data, from which ufs_select() decides. Cost: one pass over x, and three fits
# of principal components on at most 1,000 rows and 2,000 columns with decoys.

#' A look at the data before anything is chosen
#'
#' Says what kind of data `x` is: counts or measurements, columns in one unit or in
#' several, standardised already or not, whether the rows seem to be features, and which share of
#' the columns is no better than noise. Use it before you choose a method or a scaling yourself;
#' [ufs_select()] looks first and decides from what it sees.
#'
#' * Counts are whole numbers from 0 in 20 columns or more, a fifth of them 0, that become rarer as
#'   they grow and have no common largest value. Images of whole numbers have one, and are no
#'   counts; nor are numbers up to 2, such as genotypes, unless nearly all are 0 and the others
#'   repeat more often than by chance, as words of short texts do. With few 0, or 1 added to each,
#'   they are counts if the standard deviation follows the mean from column to column (correlation
#'   of their logarithms above 0.9) and is above its root. Of columns with names of genes they are
#'   counts if most of them are 0.
#' * Grades are whole numbers of a small range that all columns share: two values, answers of a
#'   questionnaire. Beside an age or a weight they are columns of different units.
#' * Columns have different units if the largest standard deviation is above 15 times
#'   the median one, or a tenth of the columns above 40 times another tenth; below 50 columns, if
#'   the largest is above 15 times the smallest, or if columns were read to different decimals.
#'   Flags of 0 and 1 beside measurements have another unit than these. The limits were set by
#'   hand; areas beside volumes, say, can be of similar size, as in `TH.data::GlaucomaM`. Numbers
#' alone do not say whether columns have one unit, nor whether whole numbers are
#'   counts or grades: say it by `kind`.
#' * Log counts are, before a logarithm to the base e, 2 or 10 of one more, multiples of one number
#'   in each row, or rows that add up to one number, as cell counts that were normalised.
#' * Intensities that were not logged (`raw`) have 100 columns or more whose spread grows with their
#'   mean, with large values the rare ones; a background may have been taken off. Spectra with peaks
#'   have a spread that changes little from column to column, and neighbouring columns that are
#'   alike. Both are of one unit, and so are 100 columns or more that are named by numbers in order.
#' * None below 0 and most of them 0, but not whole, are numbers that were normalised before: one
#'   unit, and used as they are. So are rows that add up to one number and rows of one length.
#' * The rows seem to be features if their names look like those of genes or the column names like
#'   barcodes of cells, or if there are far more rows than columns and the rows have names that are
#'   no numbers. A symmetric matrix seems to be one of correlations, distances or neighbours.
#'   Columns of whole numbers that rise from row to row in equal steps, that are 1 to n in any
#'   order, or that have such a name, seem to be numbers of rows or samples or times.
#' * Codes for what is missing and faults of measuring are named with column, value and count, and
#'   nothing is changed: a rare value at one end, further from all others than twice what these span
#'   (-9999) or beyond a scale of whole numbers (99 beside answers from 1 to 5), or between the
#'   steps of all others, in one column or in many (every fit names these); one value in a quarter
#'   of the rows, in one run or in the middle of values that hardly repeat; a pile at one
#'   end other than 0, 1 or 100; a column that is another one times a number, plus a number, to the
#'   digits that were written; a block of rows with 10, 25.4, 60, 100, 1000, 3600 or a million times
#'   the values of the others.
#' * Noise are columns whose rank correlations with the columns closest to them are those of copies
#'   with permuted rows, on at most 400 rows and 1,000 columns drawn at random, with random numbers
#'   of its own: the same table has the same share whatever the seed, and [ufs_select()] and
#'   [ufs_decoys()] have it from here. The range is two standard errors. Most columns are called
#'   noise if all of it is above one half.
#'
#' The kind is seen in 200 rows and 1,000 columns at even distances, so that it is the same for
#' dense, sparse and stored data. `evidence/kinds.R` in the sources looks at real sets of known
#' kind, most of which were there when the rules were made:
#' `r {k <- read.csv("evidence/results/kinds.csv"); off <- k$truth != k$found; sum(!off)}` of
#' `r nrow(k)` are taken for what they are, not so
#' `r toString(sprintf("%s (%s, taken for %s)", k$set, k$truth, k$found)[off])`.
#'
#' @inheritParams ufs_data
#' @param kind What kind of numbers they are, if you know: `"counts"`, `"log counts"`, `"grades"`,
#'   `"one unit"`, `"mixed units"` or `"standardised"`. The default `NULL` decides by the numbers.
#' @param ... Arguments of [ufs_data()].
#' @return An object of class `ufs_look`, a list:
#'   * `n`, `p`; `constant`, how many columns are; `equal`, how many are copies of others; `usable`,
#'     how many are left without these;
#'   * `held`: `"dense"`, `"sparse"` or `"source"` (on disk);
#'   * `values`, the kind of numbers (a word of `kind`), with its `reason`; `raw`, whether the
#'     spread of the columns grows with their mean as in intensities without a logarithm; `zeros`,
#'     the share of zeros (`NA` on disk); `empty`, the rows that are all 0 in counts;
#'   * `features_in_rows`, why rows seem to be features, or `NULL`; `doubts`, sentences about what
#'     seems to be no table of features;
#'   * `noise`, the estimated share of noise, with its range from `noise_low` to `noise_high`;
#'     `noisy`, whether it is most columns;
#'   * `components`, how many principal components have a larger variance than those of permuted
#'     columns (`NA` beyond 400 rows or 2,000 columns, where a part is looked at);
#'   * `repeats`, of data with `replicates`, how many columns repeat by [ufs_reliability()], of how
#'     many, over how many `levels`.
#' @seealso [ufs_select()], [ufs_decoys()]
#' @examples
#' ufs_look(mtcars)
#' ufs_look(cbind(iris[, 1:4], matrix(rnorm(150 * 40), 150)))
#' @export
ufs_look <- function(x, kind = NULL, ...) {
  check_given(x)
  watch_over("ufs_look()")
  watch_says(function(step) "looking at the data")
  check_kind(kind)
  unknown <- setdiff(names_of(list(...)), input_arguments())
  if (length(unknown)) refuse_argument(unknown[1L])
  x <- check_door(open_some(x, list(...))$x, "ufs_look()")
  without_constant(look_unchecked(x, kind))
}

check_kind <- function(kind) if (!is.null(kind)) check_choice(kind, "kind", kinds)

look_unchecked <- function(x, kind = NULL, noise = TRUE) {
  x <- open_data(x)
  whole <- as_column_stats(open_quietly(x), TRUE)
  first <- if (x$kind == "source") seq_along(whole$keep) else equal_of_data(x, whole)
  noise <- look_noise(x, whole$keep, noise)
  values <- data_kind(x, function() whole, kind)
  structure(c(list(n = x$n, p = x$p, held = x$kind), values, list(
    zeros = switch(x$kind, dense = mean(x$x == 0),
      sparse = 1 - sum(x$x@x != 0) / (as.double(x$n) * x$p), source = NA_real_),
    empty = if (values$values == "counts" && x$kind != "source") which(row_totals(x) == 0),
    features_in_rows = features_in_rows(x$n, x$p, x$samples, x$features),
    doubts = doubtful_input(x),
    constant = length(whole$constant), equal = length(first) - length(unique(first)),
    repeats = counted_repeats(x), usable = length(whole$keep), noise = noise$noise,
    noise_low = noise$low, noise_high = noise$high, components = noise$above,
    noisy = isTRUE(noise$low > 0.5))),
  class = c("ufs_look", "ufs_result"))
}

# list(noise, low, high, above); NA where there are too few rows or columns, NULL where nobody asks.
look_noise <- function(x, keep, asked) {
  if (!asked) return(NULL)
  found <- table_noise(x, keep)
  if (is.null(found)) found <- list(noise = NA_real_, low = NA_real_, high = NA_real_)
  found$above <- if (!is.na(found$noise) && x$n <= 400L && x$p <= 2000L) {
    with_seed(looking_seed, components_above(dense_part(x, NULL, NULL)))
  } else NA_integer_
  found
}

#' @export
print_lines.ufs_look <- function(x) {
  words <- c(seen_words(x), if (!is.null(x$repeats)) {
    paste0(x$repeats$n, " of ", count_words(x$repeats$of, "column"),
      " repeat better than chance over ", count_words(x$repeats$levels, "level"),
      " of replicates (ufs_reliability())")
  }, orientation_words(x), x$doubts)
  cat_field("<ufs_look>", words[1L], at = 11L)
  for (line in words[-1L]) cat_field("", line, at = 2L)
}

orientation_words <- function(x) {
  if (!is.null(x$features_in_rows)) {
    paste0("the rows seem to be features (", x$features_in_rows, "): if so, give t(x)")
  }
}

seen_words <- function(x, whole = TRUE) {
  held <- switch(x$held, source = ", on disk", sparse = ", sparse")
  values <- switch(x$values, counts = "counts", `log counts` = "log counts", grades = "grades",
    standardised = "standardised already", `one unit` = "taken for columns of one unit",
    `mixed units` = "taken for columns in different units")
  extra <- c(if (x$constant) paste(x$constant, "constant"),
    if (x$equal) paste(x$equal, if (x$equal == 1L) "copy of another" else "copies of others"),
    if (length(x$empty)) count_words(length(x$empty), "empty row"))
  extra <- if (length(extra)) paste0(" (", paste(extra, collapse = ", "), ")")
  c(paste0(size_words(x$n, x$p), extra, held, ": ", values,
    if (whole) paste0(" (", x$reason, ")")), noise_words(x))
}

# "about 160 of 168": a share that was estimated is no exact number, and never all.
noise_words <- function(x) {
  if (is.null(x$noise)) return(NULL)
  if (is.na(x$noise)) return("too few rows or columns to tell noise")
  number <- function(share) round(share * x$usable)
  low <- number(x$noise_low)
  high <- number(x$noise_high)
  most <- number(x$noise) == x$usable
  words <- if (most) paste("nearly all of", x$usable) else
    if (high == 0) paste("none of the", x$usable) else
    if (number(x$noise) == 0) paste("none or few of the", x$usable) else
    paste("about", number(x$noise), "of", x$usable)
  range <- if (low < high && !most) paste0(low, " to ", high, ", ")
  paste0(words, " columns look", if (high > 0 && number(x$noise) == 1) "s",
    " like noise (", range, "by permuted copies)")
}
