# Shared parts of moments of rows (data-moments.R), of matrices and pairs (data-covariance.R) and of
# blocks (data-source.R).

# `mean` + `rest` is the mean with twice the digits; `least` and `most` say which columns are
# constant.
new_moments <- function(n, mean, css, dropped, rest = 0 * mean, least = mean, most = mean) {
  named <- function(value) stats::setNames(value, colnames(css))
  structure(list(n = as.double(n), mean = named(mean), css = css, dropped = as.double(dropped),
    rest = named(rest), least = named(least), most = named(most)), class = "ufs_moments")
}

# a + b and what rounding takes from it.
two_sum <- function(a, b) {
  total <- a + b
  part <- total - a
  list(total = total, rest = (a - (total - part)) + (b - part))
}

# Two sets of rows together, by the rule of Chan, Golub and LeVeque: list(n, mean: what is added to
# the means of the first, css: what is added to the products of both). `step` is from these means to
# those of the second; sizes are numbers, or one for each pair of columns.
union_of_rows <- function(first, second, step, products) {
  n <- first + second
  share <- ifelse(n > 0, second / n, 0)
  list_of(n, mean = step * share, css = products * (first * share))
}

# The rows that are usable and have a weight: list(x, weights, dropped: how many are not usable).
rows_to_count <- function(x, weights, usable) {
  if (!is.null(weights)) usable <- usable & !is.na(weights)
  dropped <- sum(!usable)
  if (!is.null(weights)) {
    if (any(weights < 0 | !is.finite(weights), na.rm = TRUE)) {
      refuse("weights", "`weights` must be finite and not negative.")
    }
    usable <- usable & weights > 0
  }
  if (!all(usable)) {
    x <- x[usable, , drop = FALSE]
    weights <- weights[usable]
  }
  list_of(x, weights, dropped)
}

check_same_columns <- function(columns, own) {
  if (!setequal(columns, own) || length(columns) != length(own)) {
    refuse("x", "The parts have different columns: ",
      some_columns(c(setdiff(columns, own), setdiff(own, columns))), ".")
  }
}

check_columns <- function(columns) {
  if (is.null(columns)) return(invisible())
  if (!is.character(columns) || !length(columns) || anyNA(columns) || anyDuplicated(columns)) {
    refuse("columns", "`columns` must be distinct names of columns, or NULL for all.")
  }
}

# Flags of the columns that are not constant, by the rule for rows (src/prepare.h).
columns_vary <- function(moments) {
  check_saved(moments)
  largest <- pmax(abs(moments$most), abs(moments$least))
  diag(moments$css) > 0 & moments$most - moments$least > 8 * .Machine$double.eps * largest
}

# Moments that the first versions saved lack the ends of the columns.
check_saved <- function(moments) {
  if (is.null(moments$most)) refuse_data("x",
    "This result of ufs_moments() was saved by an earlier version of ufselect: make it again.")
}

check_moments <- function(moments, na) {
  if (moments$dropped > 0 && na == "error") {
    refuse_data("x", count_words(moments$dropped, "row"),
      " of `x` lack a value. Choose na = \"omit\" to leave them out.")
  }
  if (moments$n <= 1) refuse_data("x", "`x` has fewer than 2 complete rows.")
  square <- diag(moments$css)
  bad <- !is.finite(square) | square < .Machine$double.xmin & moments$most > moments$least
  if (any(bad)) {
    refuse_data("x", "`x` has infinite values, or values too large or too small to be squared, in ",
      some_columns(names(moments$mean)[bad]), ".")
  }
  moments
}
