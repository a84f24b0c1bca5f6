# Moments without rows: of a covariance or correlation matrix that somebody else computed, and of
# the pairs of values that are there where values are missing.

# The ufs_moments() of a covariance matrix of n rows. A column is constant if its variance is
# nothing beside its mean, as for rows (columns_vary()). `unit`: variances are not known.
moments_of_cov <- function(cov, n, mean, sd, columns) {
  # Others hand on a list as of cov.wt(), a factor analysis with its correlations, whose means
  # of zero are no means.
  if (is.list(cov) && !is.data.frame(cov)) {
    first <- function(...) Find(Negate(is.null), list(...))
    if (is.null(mean) && !all(cov$center == 0)) mean <- cov$center
    n <- first(n, cov$n.obs, cov$n)
    cov <- first(cov$cov, cov$correlation, cov$r)
  }
  cov <- covariance_matrix(cov)
  n <- check_number(n, "n", lower = 2)
  names <- colnames(cov)
  mean <- covariance_mean(mean, names)
  unit <- all(abs(diag(cov) - 1) < 1e-8)
  if (!is.null(sd)) {
    sd <- covariance_mean(sd, names, "sd")
    if (any(sd < 0) || !unit && any(abs(sd - sqrt(diag(cov))) > 1e-4 * sd)) {
      refuse("sd", "`sd` must be the standard deviations beside a correlation matrix; a ",
        "covariance matrix has its own.")
    }
    if (unit) cov <- cov * tcrossprod(sd)
  } else if (unit && any(abs(mean) > 1e-8, na.rm = TRUE)) {
    refuse("sd", "`cov` has ones on its diagonal, as a correlation matrix has, and `mean` is in ",
      "the units of the columns: give their standard deviations as `sd` (1, if that is what they ",
      "are).")
  }
  unit <- unit && is.null(sd)
  sd <- sqrt(diag(cov))
  around <- ifelse(is.na(mean), 0, mean)
  repaired <- nearest_semidefinite(cov / tcrossprod(ifelse(sd > 0, sd, 1)))
  if (repaired$most > .01) refuse("cov", "`cov` is no covariance matrix: the correlations of ",
    length(names),
    " columns have the eigenvalue ", format(repaired$least, digits = 3L), ", and the nearest ",
    "positive semidefinite ones differ by up to ", format(repaired$most, digits = 2L),
    ". Matrix::nearPD() finds these, if you want them; ufs_moments(x, na = \"pairwise\") does so ",
    "for rows with missing values.")
  css <- `dimnames<-`((n - 1) * repaired$r * tcrossprod(sd), list(names, names))
  out <- new_moments(n, mean, css, 0, 0 * around, around - sd, around + sd)
  check_moments(out, "error")
  out$repaired <- repaired$most
  if (unit) out$unit <- TRUE
  check_columns(columns)
  if (is.null(columns)) out else out[, columns]
}

covariance_matrix <- function(cov) {
  if (is.data.frame(cov) || inherits(cov, "Matrix")) cov <- as.matrix(cov)
  cov <- as_number(cov)
  if (!is.numeric(cov) || !is.matrix(cov) || nrow(cov) != ncol(cov) || !nrow(cov)) {
    refuse("cov", "`cov` must be a square numeric matrix, not ", if (is.matrix(cov))
      paste(typeof(cov), "of", nrow(cov), "x", ncol(cov)) else kind_of(cov), ".")
  }
  storage.mode(cov) <- "double"
  # Where one of the triangles is empty (missing or 0), it is the other.
  for (empty in list(upper.tri(cov), lower.tri(cov))) {
    if (all(is.na(cov[empty]) | cov[empty] == 0)) cov[empty] <- t(cov)[empty]
  }
  # Names of the rows and of the columns, which are the same where there are both.
  rows <- rownames(cov)
  columns <- colnames(cov)
  if (!is.null(rows) && !is.null(columns) && !identical(rows, columns)) {
    differ <- which(is.na(rows) | is.na(columns) | rows != columns)[1L]
    refuse("cov", "`cov` has other names of rows than of columns: '", rows[differ], "' and '",
      columns[differ], "' at ", differ, ".")
  }
  names <- feature_names(if (is.null(columns)) rows else columns, ncol(cov), FALSE)
  twice <- unique(columns[duplicated(columns)])
  if (length(twice)) refuse("cov", "`cov` has the name ", some_names(twice), " more than once.")
  dimnames(cov) <- list(names, names)
  bad <- colSums(!is.finite(cov)) > 0
  if (any(bad)) {
    refuse("cov", "`cov` has missing or infinite values in ", some_columns(names[bad]), ".")
  }
  variance <- diag(cov)
  if (any(variance < 0)) {
    refuse("cov", "`cov` has a negative variance in ", some_columns(names[variance < 0]),
      ", the least ", format(min(variance), digits = 3L), ".")
  }
  size <- sqrt(tcrossprod(variance))
  apart <- abs(cov - t(cov))
  if (any(apart > 1e-8 * pmax(size, .Machine$double.xmin))) {
    worst <- arrayInd(which.max(apart / pmax(size, .Machine$double.xmin)), dim(cov))
    refuse("cov", "`cov` is not symmetric: ", some_columns(names[worst]), " have ",
      format(cov[worst], digits = 7L), " and ", format(t(cov)[worst], digits = 7L), ".")
  }
  flat <- variance == 0 & colSums(cov != 0) > 0
  if (any(flat)) {
    refuse("cov", "`cov` has covariances, but no variance, in ", some_columns(names[flat]), ".")
  }
  cov / 2 + t(cov) / 2
}

# Means (or what else `arg` says) in the order of the columns; NA where nobody knows them.
covariance_mean <- function(mean, names, arg = "mean") {
  if (is.null(mean)) return(stats::setNames(rep(NA_real_, length(names)), names))
  mean <- as_number(mean)
  if (!is.numeric(mean) || length(mean) != length(names) || any(!is.finite(mean))) {
    refuse(arg, "`", arg, "` must be NULL or ", length(names), " finite numbers.")
  }
  given <- names(mean)
  if (!is.null(given)) {
    if (!setequal(given, names)) {
      refuse(arg, "`", arg, "` and `cov` have different columns: ",
        some_columns(c(setdiff(given, names), setdiff(names, given))), ".")
    }
    mean <- mean[names]
  }
  stats::setNames(as.double(mean), names)
}

# A symmetric matrix with ones on its diagonal (0 where nothing varies) as a positive semidefinite
# one: without its negative eigenvalues, and rows and columns rescaled so that the diagonal is what
# it was. list(r, most: the largest change of a number, mean: the mean absolute one, least: the
# least eigenvalue). What is rounding alone is left as it came.
nearest_semidefinite <- function(r) {
  watch_says(function(step) "looking for negative eigenvalues", are_long(10 * ncol(r)^3))
  spectrum <- eigen(r, symmetric = TRUE)
  least <- min(spectrum$values)
  if (least >= -1e-10 * ncol(r)) return(list_of(r, most = 0, mean = 0, least))
  near <- spectrum$vectors %*% (pmax(spectrum$values, 0) * t(spectrum$vectors))
  size <- sqrt(pmax(diag(near), 0) / ifelse(diag(r) > 0, diag(r), 1))
  near <- near / tcrossprod(ifelse(size > 0, size, 1))
  near <- (near + t(near)) / 2
  diag(near) <- diag(r)
  change <- abs(near - r)[upper.tri(r)]
  list_of(r = near, most = max(change), mean = mean(change), least)
}

# Why rows given as x seem to be a covariance matrix, NULL if they do not.
looks_like_covariance <- function(x) {
  names <- x$features
  if (x$n != x$p || x$p < 3L || is.null(names) || anyNA(names) || anyDuplicated(names) ||
      !identical(names, x$samples) || x$kind == "source") {
    return(NULL)
  }
  load_reader(x)
  z <- if (x$kind == "sparse") x$x else unname(x$x)
  ones <- if (x$kind == "sparse") Matrix::diag(z) else diag(z)
  if (anyNA(ones) || any(ones <= 0)) return(NULL)
  same <- if (x$kind == "sparse") max(abs(z - Matrix::t(z))) <= 1e-8 * max(ones) else
    isSymmetric(z, tol = 1e-8)
  if (!isTRUE(same)) return(NULL)
  if (all(abs(ones - 1) < 1e-8) && max(abs(z), na.rm = TRUE) <= 1 + 1e-8) {
    return("a correlation matrix")
  }
  if (x$kind == "sparse" || anyNA(z)) return(NULL)
  r <- z / sqrt(tcrossprod(ones))
  diag(r) <- 1 + 1e-8 * x$p
  definite <- on_error({
    chol(r)
    TRUE
  }, function(e) FALSE)
  if (definite) "a covariance matrix"
}

warn_covariance <- function(x, arg) {
  kind <- looks_like_covariance(x)
  if (!is.null(kind)) ufs_warn("covariance", "`", arg, "` looks like ", kind,
    " (it is symmetric, with the names of the columns on its rows",
    if (kind == "a correlation matrix") ", and ones on its diagonal", "), and its rows are taken ",
    "as samples. If it is one, give ufs_moments(cov = x, n = ), with the number of rows it is of.")
}

# ---- pairs of values that are there --------------------------------------------------------------

# Sums over the rows that have both columns of a pair, all p x p, first column in rows:
#   n         the weight of these rows
#   mean      of the first column over them, beside `origin`, one number for each column
#   square    centred sum of squares of the first column over them
#   css       centred sum of products
# and of the table rows (their weight), dropped (those without any value), least and most.
pairs_of_rows <- function(x, weights = NULL) {
  check_bytes(64 * as.double(ncol(x))^2, "The sums of all pairs of columns",
    "Give fewer `columns`.")
  kept <- rows_to_count(x, weights, rowSums(!is.na(x)) > 0)
  x <- kept$x
  weight <- if (is.null(kept$weights)) rep(1, nrow(x)) else kept$weights
  there <- !is.na(x)
  known <- colSums(there * weight)
  origin <- colSums(replace(x, !there, 0) * weight) / pmax(known, .Machine$double.xmin)
  ends <- function(f, empty) apply(replace(x, !there, empty), 2L, f, empty)
  z <- replace(x - rep(origin, each = nrow(x)), !there, 0)
  n <- crossprod(there * weight, there + 0)
  sums <- crossprod(z * weight, there + 0)
  mean <- sums * ifelse(n > 0, 1 / n, 0)
  list_of(n, origin, mean, square = crossprod(z^2 * weight, there + 0) - sums * mean,
    css = crossprod(z * weight, z) - sums * t(mean), rows = sum(weight), dropped = kept$dropped,
    least = ends(min, Inf), most = ends(max, -Inf), names = colnames(x))
}

# The sums of two tables together, as moments_of_rows() and merge_moments() would have them for each
# pair.
merge_pairs <- function(a, b) {
  if (is.null(a)) return(b)
  check_same_columns(a$names, b$names)
  b <- if (identical(b$names, a$names)) b else pairs_of(b, match(a$names, b$names))
  step <- (b$mean - a$mean) + (b$origin - a$origin)
  both <- union_of_rows(a$n, b$n, step, step * t(step))
  square <- union_of_rows(a$n, b$n, step, step^2)$css
  list_of(n = both$n, origin = a$origin, mean = a$mean + both$mean,
    square = a$square + b$square + square, css = a$css + b$css + both$css, rows = a$rows + b$rows,
    dropped = a$dropped + b$dropped, least = pmin(a$least, b$least), most = pmax(a$most, b$most),
    names = a$names)
}

# Some of the columns.
pairs_of <- function(pairs, j) {
  for (name in c("n", "mean", "square", "css")) pairs[[name]] <- pairs[[name]][j, j, drop = FALSE]
  for (name in c("origin", "least", "most", "names")) pairs[[name]] <- pairs[[name]][j]
  pairs
}

# The ufs_moments() of pairs: correlations over the rows of each pair, made positive semidefinite,
# and variances over all values of a column.
moments_of_pairs <- function(pairs) {
  refuse_blank(pairs$names[diag(pairs$n) == 0])
  low <- pairs$n
  diag(low) <- Inf
  if (any(low < 3)) {
    at <- arrayInd(which.min(low), dim(low))
    refuse_data("x", "`x` has ", count_words(min(low), "row"), " with values of both ",
      some_columns(pairs$names[at]), "; na = \"pairwise\" needs ", 3, ". Leave one of them ",
      "out by `columns`.")
  }
  names <- pairs$names
  known <- diag(pairs$n)
  mean <- two_sum(pairs$origin, diag(pairs$mean))
  variance <- ifelse(known > 1, pmax(diag(pairs$square), 0) / (known - 1), 0)
  varies <- columns_vary(list(most = pairs$most, least = pairs$least,
    css = diag(variance, length(variance))))
  # Squares that are nothing beside those of all values are rounding.
  square <- ifelse(pairs$square > 1e-12 * pairs$n * variance, pairs$square, 0)
  size <- sqrt(square * t(square))
  r <- ifelse(size > 0, pairs$css / size, 0)
  r <- pmin(pmax((r + t(r)) / 2, -1), 1)
  flat <- which(square == 0 & outer(varies, varies, `&`), arr.ind = TRUE)
  # Pairs in which the first column has one value wherever the second is known.
  if (nrow(flat)) ufs_warn("pairs", "'", names[flat[1L, 1L]],
    "' does not vary in the rows that have '", names[flat[1L, 2L]], "'",
    if (nrow(flat) > 1L) paste0(" (and ", count_words(nrow(flat) - 1L, "more pair"), ")"),
    ": nothing is known of their correlation, and 0 is taken for it.")
  r[!varies, ] <- r[, !varies] <- 0
  diag(r) <- as.double(varies)
  repaired <- nearest_semidefinite(r)
  css <- (pairs$rows - 1) * repaired$r * sqrt(tcrossprod(variance))
  out <- new_moments(pairs$rows, mean$total, `dimnames<-`(css, list(names, names)),
    pairs$dropped, mean$rest, pairs$least, pairs$most)
  out[c("repaired", "repaired_mean")] <- repaired[c("most", "mean")]
  out$pairs <- pairs
  out
}

# Columns without a value leave no complete row, and no pair.
refuse_blank <- function(columns) {
  if (length(columns)) refuse_data("x", "`x` has no value at all in ", some_columns(columns), ".")
}
