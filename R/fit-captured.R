# How much of the data a selection explains.

#' How much of the data a selection holds
#'
#' Gives the explained variance of a choice: the share of the squares of the (centred, standardised)
#' data that linear combinations of the best k features explain. It is no accuracy for labels, and
#' no test of noise ([ufs_decoys()]). Beside it stands the largest share that any k directions can
#' explain, which is that of the first k principal components. Use it to see what a selection loses,
#' with any method that selects features; [ufs_css()] makes this share large on purpose. Counts that
#' the fit weighted are weighted here in the same way.
#'
#' The bound is exact for min(n, p) up to 2000. Above, singular values beyond the 30th are counted
#' as the 30th, so that it is a little too large. The cost is about min(n, p) n p + 2 n p k flops.
#'
#' @inheritParams ufs_kmeans_f
#' @param fit A fit that selects features; or a set of columns of your own, by their names or
#'   numbers.
#' @param x The data of the fit.
#' @param k The numbers of features, a vector. By default what the method was asked for. A set of
#'   your own has its size.
#' @param center Should the columns be centred (whatever the method did)?
#' @param scale Should they be standardised? The default `NULL` does what the method did, so that
#'   the share is that of the print and of the certificate; a set of your own is standardised.
#' @param criteria Should two coefficients of other fields be added? `rv` is the RV coefficient of
#'   the data and their projection on the chosen columns (Robert and Escoufier 1976), `gcd` the
#'   generalised coefficient of determination, the mean squared cosine between the span of the
#'   chosen columns and that of as many principal components (Ramsay, ten Berge and Styan 1984).
#'   Both are between 0 and 1. The default is `FALSE`, since they take all eigenvectors of a matrix
#'   of order min(n, p).
#' @return A data frame with `k`, `captured`, `bound` and `ratio`, a row for each k, and with
#'   `criteria = TRUE` also `rv` and `gcd`.
#' @references Robert and Escoufier (1976) A unifying tool for linear multivariate statistical
#'   methods: the RV-coefficient. Applied Statistics 25, 257-265. \doi{10.2307/2347233}
#'
#'   Ramsay, ten Berge and Styan (1984) Matrix correlation. Psychometrika 49, 403-423.
#'   \doi{10.1007/BF02306029}
#'
#'   Cadima and Jolliffe (2001) Variable selection and the interpretation of principal subspaces.
#'   Journal of Agricultural, Biological, and Environmental Statistics 6, 62-79.
#'   \doi{10.1198/108571101300325256}
#' @seealso [ufs_css()]
#' @examples
#' ufs_captured(ufs_pca(mtcars, 2), mtcars, k = 1:4)
#'
#' # A set of one's own
#' ufs_captured(c("hp", "wt"), mtcars, criteria = TRUE)
#' @export
ufs_captured <- function(fit, x, k = NULL, ..., center = TRUE, scale = NULL, criteria = FALSE) {
  watch_over("ufs_captured()")
  check_given(fit, x)
  own <- is.character(fit) || is.numeric(fit)
  if (!own) check_fit(fit, "feature_ranking", "features")
  if (is.null(scale)) scale <- own || !isFALSE(fit$params$scale)
  if (inherits(x, "ufs_moments")) x <- rows_of_moments(x)
  criteria <- check_flag(criteria, "criteria")
  x <- open_with(x, ufs_captured, "captured", list(...))
  check_door(x, "ufs_captured()", fit = if (!own) fit)
  if (!own) x <- as_the_fit_had_it(fit, x)
  data <- column_triangle(of_squares(open_quietly(x)), center, scale)
  if (own) {
    # The places of columns given by name or number.
    refuse_unclear(fit, names(data$repeated), "fit")
    at <- if (is.character(fit)) match(fit, data$features) else match(fit, seq_len(data$p))
    if (!length(fit) || anyNA(at)) {
      refuse("fit", "`fit` must be a fit, or names or numbers of columns of `x`",
        if (length(fit)) paste0("; there is no column ", deparse_short(fit[is.na(at)][1L])), ".")
    }
    fit <- unique(at)
    if (!is.null(k)) refuse("k", "`k` is for a fit; a set of columns has its size.")
    k <- length(fit)
  } else if (data$p != fit$p ||
    # Data made of moments have other rows than the user's.
    (if (inherits(x, "ufs_data") && !is.null(x$n_rows)) x$n_rows else data$n) != fit$n ||
    !identical(data$features, fit$names$features)) {
    refuse("x", "`x` must be the data of the fit, ", fit$n, " x ", fit$p, ".")
  } else k <- check_counts(wanted_number(fit, k, "k"), "k", data$p, "the features")
  sets <- lapply(k, function(size) columns_of(data, if (own) fit else
    suppressMessages(selected_features(fit, size, as = "index"))))
  out <- data.frame(k = k, captured_table(data$x, sets, if (is.null(data$coded)) k else
    lengths(sets)))
  out$ratio <- out$captured / out$bound
  if (criteria) cbind(out, subspace_criteria(data$x, sets)) else out
}

# With Q an orthonormal basis of the chosen columns, B = Q'x and x = U D V': rv = ||BB'|| / ||xx'||
# and, of as many components as columns, gcd = ||B V / D||^2 / number. Columns that depend on others
# are not counted.
subspace_criteria <- function(x, sets) {
  of <- x_pca(x, min(dim(x)))
  out <- vapply(sets, function(chosen) {
    if (!length(chosen)) return(c(rv = 0, gcd = 0))
    b <- column_basis(x, chosen)$coordinates
    lead <- seq_len(nrow(b))
    v <- of$loadings[, lead, drop = FALSE] / rep(sqrt(of$sdev2[lead]), each = ncol(b))
    c(rv = norm(tcrossprod(b), "F") / sqrt(sum(of$sdev2^2)), gcd = sum((b %*% v)^2) / nrow(b))
  }, c(rv = 0, gcd = 0))
  as.data.frame(t(out))
}

# x with factors coded as in the fit, with its transformation (weighted counts, rows of one
# length), and with its weights and blocks of rows, if it has none yet.
as_the_fit_had_it <- function(fit, x) {
  if (length(fit$input$coding) && !inherits(x, "ufs_data")) {
    x <- open_data(x, reading = list(factors = if (is.null(fit$coded)) "codes" else "dummies"))
  }
  how <- fit$input$transform
  if (!is.null(how) && how$p == fit$p && is.null(open_data(x)$input$transform)) {
    # Opened, several tables are remembered; they weigh what their log counts do.
    x <- weigh_tables(transform_new(fit, if (is_tables(x)) open_data(x) else x, "x"))
  }
  rows <- fit$constraints$samples
  sums <- rows[intersect(names(rows), held_names("rows", sums = TRUE))]
  if (!length(sums)) return(x)
  data <- open_data(x)
  if (has_row_sums(data) || data$n != fit$n) return(x)
  data$row_held[names(sums)] <- sums
  data
}

# Names the columns whose variance is explained.
captured_of <- function(fit) {
  counts <- counts_of_all(fit$input$transform)
  if (isTRUE(counts == "log")) return("log counts")
  if (isTRUE(counts != "none")) return("weighted columns")
  if (isFALSE(fit$params$scale)) "columns as they are" else "standardised columns"
}

# The share of the squares of x that each set of columns captures, and the bound: what as many
# principal components would. Constant columns, which `size` may count, add nothing.
captured_table <- function(x, sets, size = lengths(sets)) {
  longest <- sets[[which.max(lengths(sets))]]
  nested <- length(sets) > 1L &&
    all(vapply(sets, function(set) identical(set, longest[seq_along(set)]), NA))
  captured <- if (nested) {
    # By one basis.
    basis <- column_basis(x, longest)
    share <- pmin(cumsum(c(0, rowSums(basis$coordinates^2))) / sum(x_ss(x)), 1)
    share[c(0L, basis$rank)[lengths(sets) + 1L] + 1L]
  } else {
    vapply(seq_along(sets), function(at) {
      watch_says(function(step) paste(at - 1L, "of", count_words(length(sets), "set"), "measured"))
      captured_share(x, sets[[at]])
    }, 0)
  }
  size <- pmin(size, ncol(x))
  bound <- if (max(size) > 0L) c(0, leading_share(x, max(size)))[size + 1L] else 0
  data.frame(captured, bound = pmax(bound, captured))
}

# Share of the squares of x that its given columns explain.
captured_share <- function(x, columns) {
  if (!length(columns)) return(0)
  min(norm(column_basis(x, columns)$coordinates, "F")^2 / sum(x_ss(x)), 1)
}

# The certificate of a selection by components: the share of the squares of x (a matrix or operator)
# that the best k columns by `score` explain, or those that constraints (of the columns of x) put in
# their place, and that of k components with squared singular values sdev2. Nothing where the
# squares overflow.
captured_certificate <- function(data, k, sdev2, score, key = rep(0, length(score))) {
  x <- data$x
  best <- best_columns(data, k, score, key)
  total <- sum(x_ss(x))
  if (!is.finite(total) || total < .Machine$double.xmin / .Machine$double.eps) return(NULL)
  # No group is as small.
  if (!length(best)) return(NULL)
  captured <- captured_share(x, best)
  c(captured = captured, bound = max(min(sum(sdev2[seq_len(k)]) / total, 1), captured))
}

# Shares of the squares of x that its first 1, ..., k principal components explain.
leading_share <- function(x, k, exact_limit = 2000L) {
  found <- check_solved(.Call(C_css_leading, x,
    list(k = as.integer(k), exact_limit = exact_limit), ufs_control()), "captured")
  pmin(found$leading / found$run$counters[["total"]], 1)
}
