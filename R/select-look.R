# What kind of data this is: what ufs_select() decides from. Cost: one pass over x, and three fits
# of principal components on at most 1,000 rows and 2,000 columns with decoys.

#' A look at the data before anything is chosen
#'
#' Says in two lines what kind of data `x` is: counts or measurements, columns in one unit or in
#' several, standardised already or not, whether the rows seem to be features, and which share of
#' the columns is no better than noise. Use it before you choose a method or a scaling yourself;
#' [ufs_select()] looks first and decides from what it sees.
#'
#' * Counts are whole numbers from 0 of which a fifth at least are 0, in 100 columns or more, and
#'   all sparse data.
#' * Columns have different units if the largest standard deviation is above 15 times
#'   the median one, or a tenth of the columns above 40 times another tenth. These limits were set
#'   by hand; columns of one unit differ in their spread as well.
#' * The rows seem to be features if their names look like those of genes or the column names like
#'   barcodes of cells, or if there are far more rows than columns and the rows have names that are
#'   no numbers.
#' * The share of noise is that of [ufs_decoys()] by [ufs_pca()], over 3 repeats, on at most 1,000
#'   rows and 2,000 columns drawn at random. Above one half, most columns are called noise.
#'
#' @inheritParams ufs_data
#' @param ... Arguments of [ufs_data()].
#' @return An object of class `ufs_look`: `n`, `p`; `held`, one of `"dense"`, `"sparse"` and
#'   `"source"` (on disk); `values`, one of `"counts"`, `"standardised"`, `"one unit"` and `"mixed
#'   units"`, with its `reason`; `zeros`, their share (`NA` on disk); `turned`, why rows seem to be
#'   features, or `NULL`; `constant`, how many columns are; `equal`, how many are copies of others;
#'   `noise`, the estimated share of noise, and `noisy`, whether it is most of the columns.
#' @seealso [ufs_select()], [ufs_decoys()]
#' @examples
#' ufs_look(mtcars)
#' ufs_look(cbind(iris[, 1:4], matrix(rnorm(150 * 40), 150)))
#' @export
ufs_look <- function(x, ...) {
  check_given(x)
  unknown <- setdiff(names_of(list(...)), door_arguments)
  if (length(unknown)) refuse_argument(unknown[1L])
  without_constant(look_unchecked(open_some(x, list(...))$x))
}

# Draws one number from the caller's random numbers.
look_unchecked <- function(x) {
  x <- open_data(x)
  whole <- as_ufs_moments(open_quietly(x), TRUE)
  first <- if (x$kind == "source") seq_along(whole$keep) else equal_of_data(x, whole)
  noise <- look_noise(x, whole$keep)
  structure(c(list(n = x$n, p = x$p, held = x$kind), look_values(x, whole), list(
    zeros = switch(x$kind, dense = mean(x$x == 0),
      sparse = 1 - sum(x$x@x != 0) / (as.double(x$n) * x$p), source = NA_real_),
    turned = looks_turned(x$n, x$p, x$samples, x$features), constant = length(whole$constant),
    equal = length(first) - length(unique(first)), noise = noise$noise,
    noisy = noise$verdict %in% c("some", "noise"))),
    class = "ufs_look")
}

# list(values, reason)
look_values <- function(x, whole) {
  spread <- sqrt(whole$variance)
  center <- unname(whole$center)[whole$keep]
  if (all(abs(center) < 1e-6) && diff(range(spread)) < 1e-2 && abs(mean(spread) - 1) < 1e-2) {
    return(list(values = "standardised", reason = "means 0, standard deviations 1"))
  }
  # A few columns of whole numbers are grades rather than counts, and may stand beside an age.
  few <- x$kind == "dense" && x$p < 100L
  units <- different_units(if (few) list(kind = "few") else x, function() whole)
  if (units$reason == "counts") {
    whole_numbers <- x$kind == "dense" || all(x$x@x >= 0 & x$x@x == round(x$x@x))
    return(list(values = "counts",
      reason = if (whole_numbers) "whole numbers, many 0" else "sparse"))
  }
  list(values = if (units$mixed) "mixed units" else "one unit", reason = units$reason)
}

# list(noise, verdict) by decoys, on a part of x; NA where there are too few rows or columns.
look_noise <- function(x, keep, most = c(1000L, 2000L)) {
  seed <- draw_seeds(1L)[[1L]]
  found <- if (x$n >= 6L && length(keep) >= 5L) {
    with_seed(seed, random_decoys(drawn_part(x, most, keep)))
  }
  if (is.null(found)) list(noise = NA_real_, verdict = NA_character_) else
    list(noise = found$noise[[1L]], verdict = size_rule(found)$verdict)
}

# At most so many rows and columns, drawn at random (columns: from `keep`), as dense data.
drawn_part <- function(x, most, keep = seq_len(x$p)) {
  rows <- if (x$n > most[1L]) sort(sample.int(x$n, most[1L]))
  columns <- if (x$p > most[2L]) keep[sort(sample.int(length(keep), min(most[2L], length(keep))))]
  rows <- rows_that_vary(x, rows, columns)
  dense_part(x, rows, columns)
}

# The rows drawn, and for each column (NULL: all) that is constant in them, but not in x, the first row
# with another value: rare flags would be lost. Data on disk are not searched for these.
rows_that_vary <- function(x, rows, columns) {
  if (is.null(rows) || x$kind == "source") return(rows)
  part <- dense_part(x, rows, columns)$x
  flat <- which(colSums(part != rep(part[1L, ], each = nrow(part))) == 0)
  if (!is.null(columns)) flat <- columns[flat]
  more <- lapply(unname(flat), function(j) {
    value <- data_columns(x, j)
    utils::head(which(value != value[rows[1L]]), 1L)
  })
  sort(unique(c(rows, unlist(more))))
}

# Some rows and columns (NULL: all) as dense data.
dense_part <- function(x, rows, columns) {
  part <- subset_data(x, rows, columns)
  new_data("dense", dense_data(part, "x", quiet = TRUE), list(NULL, part$features))
}

#' @export
print.ufs_look <- function(x, ...) {
  check_dots_empty(...)
  cat_line("<ufs_look> ", paste(look_words(x), collapse = "\n  "))
  invisible(x)
}

# The two lines.
look_words <- function(x) {
  held <- if (x$held == "source") "on disk" else x$held
  values <- switch(x$values, counts = "counts", standardised = "standardised already",
    `one unit` = "columns in one unit", `mixed units` = "columns in different units")
  extra <- c(if (x$constant) paste(x$constant, "constant"),
    if (x$equal) paste(x$equal, if (x$equal == 1L) "copy of another" else "copies of others"))
  noise <- if (is.na(x$noise)) "too few rows or columns to tell noise" else
    paste0(percent(x$noise), " of the columns are noise, judged by permuted columns",
      if (x$noisy) ": most of them")
  turned <- if (!is.null(x$turned)) {
    paste0("the rows seem to be features (", x$turned, "): give t(x) then")
  }
  extra <- if (length(extra)) paste0(" (", paste(extra, collapse = ", "), ")")
  c(paste0(size_words(x$n, x$p), extra, ", ", held, ": ", values, " (", x$reason, ")"),
    paste(c(noise, turned), collapse = "; "))
}
