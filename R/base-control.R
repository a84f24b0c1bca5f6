#' Settings of the iterative solvers
#'
#' Makes the list of iteration limits, tolerances and other settings that all methods take as
#' `control`. Use it when a fit did not converge, to see its progress, or to make it stop earlier.
#'
#' `NULL` means the method's own default, see its help page. `fit$control` has the values used.
#'
#' @param max_iter The largest number of (outer) iterations, a whole number of at least 0.
#' @param tol The tolerance of the stopping rule. It is relative and therefore free of the scale of
#'   `x`. A negative value never stops early and, with `solver = "irls"` (iteratively reweighted
#'   least squares; `"paper"` in [ufs_socfs()] and [ufs_jspca()]), never accelerates, so that the
#'   plain iteration can be replayed step by step.
#' @param inner_max_iter,inner_tol The same for the inner loop, where there is one.
#' @param eps The smoothing constant or constants of the reweighted solvers. [ufs_jspca()] takes two
#'   values, for residuals and loadings.
#' @param paper A named list of settings of the published method that few users change, such as
#'   `list(lambda_i = 1)` for [ufs_topk()]. The section "As published" of a method's help page lists
#'   those that it has; names that it has not are errors.
#' @param verbose Should one line be printed per iteration?
#' @param progress `NULL`, or a function of `(iteration, objective, change)` that is called
#'   once per outer iteration.
#' @param warn Should a fit that did not converge give a warning? If not, only its `status` says so.
#' @param ... Must be empty: unknown settings are errors, not ignored.
#' @return A list of class `ufs_control`.
#' @examples
#' # More iterations, a sharper tolerance
#' control <- ufs_control(max_iter = 1000, tol = 1e-8)
#' set.seed(1)
#' fit <- ufs_socfs(iris[, 1:4], n_clusters = 3, control = control)
#' fit$status
#'
#' # A setting of the published method
#' ufs_topk(iris[, 1:4], 2, n_clusters = 3, control = ufs_control(paper = list(lambda_i = 1)))
#'
#' # Names that are not settings are errors
#' try(ufs_control(maxiter = 50))
#' @export
ufs_control <- function(max_iter = NULL, tol = NULL, ..., inner_max_iter = NULL,
                        inner_tol = NULL, eps = NULL, verbose = FALSE,
                        progress = NULL, warn = TRUE, paper = list()) {
  check_given()
  known <- setdiff(names(formals(ufs_control)), "...")
  extra <- list(...)
  if (length(extra)) {
    ufs_abort("control", "Unknown control setting", if (length(extra) > 1L) "s", ": ",
      paste0("`", if (is.null(names(extra))) "<unnamed>" else names(extra), "`", collapse = ", "),
      ". Known: ", paste(known, collapse = ", "), ".", argument = names(extra)[1L])
  }
  if (!is.null(max_iter)) max_iter <- check_count(max_iter, "max_iter", 0L)
  if (!is.null(inner_max_iter)) inner_max_iter <- check_count(inner_max_iter, "inner_max_iter", 1L)
  if (!is.null(tol)) tol <- check_number(tol, "tol")
  if (!is.null(inner_tol)) inner_tol <- check_number(inner_tol, "inner_tol")
  if (!is.null(eps)) {
    if (!is.numeric(eps) || !length(eps) %in% 1:2 || !all(is.finite(eps)) || any(eps < 0)) {
      refuse("eps", "`eps` must be one or two finite numbers of at least 0.")
    }
    eps <- as.double(eps)
  }
  verbose <- check_flag(verbose, "verbose")
  warn <- check_flag(warn, "warn")
  if (!is.null(progress) && !is.function(progress)) {
    refuse("progress", "`progress` must be NULL or a function.")
  }
  paper <- if (length(paper)) check_paper(paper) else list()
  structure(mget(known), class = "ufs_control")
}

check_paper <- function(paper) {
  if (!is.list(paper) || !all(nzchar(names_of(paper)))) {
    refuse("paper", "`paper` must be a list in which each element has a name.")
  }
  twice <- names(paper)[duplicated(names(paper))]
  if (length(twice)) refuse("paper", "`paper`: `", twice[1L], "` is given twice.")
  paper
}

#' @export
print.ufs_control <- function(x, ...) {
  check_dots_empty(...)
  default <- ufs_control()
  other <- names(default)[!vapply(names(default), function(name) {
    identical(x[[name]], default[[name]])
  }, NA)]
  value <- vapply(x[other], function(value) if (is.function(value)) "a function" else
    if (is.list(value)) paste0("list(", paste(names(value), collapse = ", "), ")") else
      paste(format(value), collapse = " and "), "")
  cat_line("<ufs_control> ", if (length(other)) paste0(paste(other, value, sep = " = ",
    collapse = ", "), "; otherwise defaults of the method") else
    "all defaults of the method")
  invisible(x)
}

# The user's control (or a plain list of settings) with a method's defaults in place of NULL.
resolve_control <- function(control, ...) {
  check_control(control)
  # Also what ufs_control() made, as it may have been edited since.
  control <- do.call(ufs_control, unclass(control), quote = TRUE)
  default <- list(...)
  for (name in names(default)) if (is.null(control[[name]])) control[[name]] <- default[[name]]
  control
}

check_control <- function(control) {
  if (!is.list(control) || (length(control) && is.null(names(control)))) {
    ufs_abort("control", "`control` must come from ufs_control().", argument = "control")
  }
}

# The smoothing constant of methods that have one.
check_eps <- function(eps, default = NULL, open = FALSE) {
  if (length(eps) > 1L) refuse("eps", "`eps` must be one number for this method.")
  if (is.null(eps)) default else check_number(eps, "eps", lower = 0, open = open)
}
