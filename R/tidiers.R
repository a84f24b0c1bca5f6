# tidy() and glance(): registered when generics is loaded.

#' Tidy a fit
#'
#' `tidy()` gives one row per feature (or sample) of a fit, per setting of a grid, per cell of a
#' comparison, per feature of a stability study and per number of features of a study with decoys or
#' of sizes; `glance()` one row for the whole;
#' `augment()` the data with what a fit says of each sample: its score and rank where the method
#' selects samples, its cluster where the method has clusters. They are available when
#' the package generics (or broom) is attached, and give tibbles where tibble is installed.
#' For `autoplot()` see [plot.ufs()].
#'
#' @param x A fit, or the result of [ufs_grid()], [ufs_tune()], [ufs_compare()], [ufs_stability()],
#'   [ufs_decoys()] or [ufs_size()].
#' @param data For `augment()`: the matrix or data frame the fit was made from.
#' @param what As in [as.data.frame.ufs()].
#' @param ... Must be empty.
#' @return A tibble or data frame.
#' @examplesIf requireNamespace("generics", quietly = TRUE)
#' fit <- ufs_kmeans_f(iris[, 1:4], n_clusters = 3)
#' generics::tidy(fit)
#' generics::glance(fit)
#' head(generics::augment(fit, iris[, 1:4]))
#' @name ufs_tidiers
NULL

#' @rdname ufs_tidiers
#' @exportS3Method generics::tidy
tidy.ufs <- function(x, what = NULL, ...) {
  check_dots_empty(...)
  as_tibble_if(as.data.frame(x, what = what))
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs <- function(x, ...) {
  check_dots_empty(...)
  check_fit(x)
  objective <- x$trace$objective
  row <- list(
    method = x$method, n = x$n, p = x$p, status = x$status, iterations = x$iterations,
    objective = if (length(objective)) objective[length(objective)] else NA_real_,
    elapsed = x$elapsed
  )
  as_tibble_if(as.data.frame(c(row, as.list(x$certificate)), stringsAsFactors = FALSE))
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::augment
augment.ufs <- function(x, data, ...) {
  check_dots_empty(...)
  check_fit(x)
  if (missing(data) || length(dim(data)) != 2L || nrow(data) != x$n) {
    ufs_abort("argument", "`data` must be the data of the fit, ", x$n, " rows.", argument = "data")
  }
  if (!is.data.frame(data) && !is.matrix(data)) data <- as_plain_matrix(data, "data")
  out <- as.data.frame(data)
  # A tibble would refuse them.
  names(out) <- feature_names(names(out), ncol(out), warn = TRUE)
  if (!is.null(x$sample_scores)) {
    out$.score <- unname(x$sample_scores)
    out$.rank <- order(unname(x$sample_ranking))
  }
  if (!is.null(x$solution$cluster)) out$.cluster <- factor(unname(x$solution$cluster))
  as_tibble_if(out)
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::tidy
tidy.ufs_grid <- function(x, ...) as_tibble_if(as.data.frame(x, ...))

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs_grid <- function(x, ...) {
  check_dots_empty(...)
  status <- x$results$status
  as_tibble_if(data.frame(method = x$method, n = x$n, p = x$p, settings = nrow(x$settings),
    converged = sum(status == "converged"), failed = sum(status == "error"),
    best = if (is.null(x$best)) NA_integer_ else x$best, seconds = sum(x$results$seconds)))
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::tidy
tidy.ufs_compare <- function(x, ...) {
  check_dots_empty(...)
  as_tibble_if(summary(x)$table)
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs_compare <- function(x, ...) {
  check_dots_empty(...)
  as_tibble_if(data.frame(mode = x$mode, n = x$n, p = x$p, classes = length(x$classes),
    methods = length(x$methods), repeats = x$repeats, failed = sum(nzchar(x$results$error)),
    warned = sum(nzchar(x$results$warnings))))
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::tidy
tidy.ufs_stability <- function(x, ...) {
  check_dots_empty(...)
  frequency <- if (is.null(x$frequency)) x$sample_frequency else x$frequency
  name <- names(frequency)
  if (is.null(name)) name <- as.character(seq_along(frequency))
  out <- data.frame(name, index = seq_along(frequency), frequency = unname(frequency),
    stringsAsFactors = FALSE)
  names(out)[1L] <- if (is.null(x$frequency)) "sample" else "feature"
  as_tibble_if(out[order(-out$frequency, out$index), ])
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs_stability <- function(x, ...) as_tibble_if(as.data.frame(x, ...))

#' @rdname ufs_tidiers
#' @exportS3Method generics::tidy
tidy.ufs_decoys <- function(x, ...) {
  check_dots_empty(...)
  as_tibble_if(x$curve)
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs_decoys <- function(x, ...) as_tibble_if(as.data.frame(x, ...))

#' @rdname ufs_tidiers
#' @exportS3Method generics::tidy
tidy.ufs_size <- function(x, ...) as_tibble_if(as.data.frame(x, ...))

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs_size <- function(x, ...) {
  check_dots_empty(...)
  as_tibble_if(data.frame(method = x$method, n = x$n, p = x$p, k = x$k, verdict = x$verdict,
    stringsAsFactors = FALSE))
}

# A tibble where the user has tibble, as tidy() gives elsewhere.
as_tibble_if <- function(table) {
  rownames(table) <- NULL
  if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(table) else table
}
