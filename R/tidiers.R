# tidy(), glance() and autoplot(): registered when generics or ggplot2 is loaded.

#' Tidy a fit
#'
#' `tidy()` gives one row per feature (or sample) of a fit, per setting of a grid, per cell of a
#' comparison and per feature of a stability study; `glance()` one row for the whole;
#' `augment()` the data with what a fit says of each sample: its score and rank where the method
#' selects samples, its cluster where the method has clusters. `autoplot()` makes the plots
#' of [plot.ufs()] in ggplot2. They are available when the package generics (or broom),
#' respectively ggplot2, is attached, and give tibbles where tibble is installed.
#'
#' @param x,object A fit, or the result of [ufs_grid()], [ufs_tune()], [ufs_compare()] or
#'   [ufs_stability()].
#' @param data For `augment()`: the matrix or data frame the fit was made from.
#' @param what,type As in [as.data.frame.ufs()] and [plot.ufs()].
#' @param ... Must be empty, except for `autoplot()`.
#' @return A tibble or data frame, or a ggplot.
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
  if (missing(data) || length(dim(data)) != 2L || nrow(data) != x$n) {
    ufs_abort("argument", "`data` must be the data of the fit, ", x$n, " rows.", argument = "data")
  }
  out <- as.data.frame(data)
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

# A tibble where the user has tibble, as tidy() gives elsewhere.
as_tibble_if <- function(table) {
  rownames(table) <- NULL
  if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(table) else table
}

#' @rdname ufs_tidiers
#' @exportS3Method ggplot2::autoplot
autoplot.ufs <- function(object, type = NULL, ...) {
  check_installed("ggplot2", "for autoplot()")
  types <- intersect(plot_types(object), c("objective", "scores", "samples"))
  type <- if (is.null(type)) types[[1L]] else check_choice(type, "type", types)
  if (type == "objective") {
    table <- object$trace
    aes <- ggplot2::aes(x = .data[["iteration"]], y = .data[["objective"]])
    layer <- list(ggplot2::geom_line(), ggplot2::geom_point())
  } else {
    table <- as.data.frame(object, what = if (type == "scores") "features" else "samples")
    table <- table[!is.na(table$score), ]
    aes <- ggplot2::aes(x = .data[["rank"]], y = .data[["score"]])
    layer <- list(ggplot2::geom_col())
  }
  ggplot2::ggplot(table, aes) + layer +
    ggplot2::labs(title = paste0("ufs_", object$method, ": ", object$status))
}

utils::globalVariables(".data")
