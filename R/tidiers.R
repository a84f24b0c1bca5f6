# tidy() and glance(): registered when generics is loaded.

#' Tidy a fit
#'
#' `tidy()` gives one row per feature (or sample), `glance()` one row per fit. They are available
#' when the package generics (or broom) is attached. For `autoplot()` see [plot.ufs()].
#'
#' @param x A fit.
#' @param what As in [as.data.frame.ufs()].
#' @param ... Not used.
#' @return A data frame.
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
