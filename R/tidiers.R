# tidy(), glance() and autoplot(): registered when generics or ggplot2 is loaded.

#' Tidy a fit
#'
#' `tidy()` gives one row per feature (or sample), `glance()` one row per fit,
#' `autoplot()` the plots of [plot.ufs()] in ggplot2. They are available when the package
#' generics (or broom), respectively ggplot2, is attached.
#'
#' @param x,object A fit.
#' @param what,type As in [as.data.frame.ufs()] and [plot.ufs()].
#' @param ... Not used.
#' @return A data frame, or a ggplot.
#' @name ufs_tidiers
NULL

#' @rdname ufs_tidiers
#' @exportS3Method generics::tidy
tidy.ufs <- function(x, what = NULL, ...) as.data.frame(x, what = what)

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs <- function(x, ...) {
  objective <- x$trace$objective
  row <- list(
    method = x$method, n = x$n, p = x$p, status = x$status, iterations = x$iterations,
    objective = if (length(objective)) objective[length(objective)] else NA_real_,
    elapsed = x$elapsed
  )
  as.data.frame(c(row, as.list(x$certificate)), stringsAsFactors = FALSE)
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
