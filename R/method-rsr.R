#' Regularised self-representation (RSR)
#'
#' Keeps the features that reconstruct all features best. The problem is convex, so the answer does
#' not depend on a start and comes with a proof of how near to the optimum it is. It is here for
#' comparison; to compress data into a few columns [ufs_css()] is the recommended method.
#'
#' \deqn{\min_W \sum_{i=1}^n \|x_i - x_i W\| + \lambda \sum_{j=1}^p \|w_j\|}
#'
#' with x_i the rows of `x` (n x p) and w_j those of W (p x p). Feature j scores \eqn{\|w_j\|}.
#'
#' # Choosing the penalty
#' W = 0 from `lambda_max` on, exactly. With p <= n and full column rank, W = I is optimal for every
#' `lambda` up to `lambda_identity` (a sufficient bound): all scores are 1 and there is no ranking.
#' The values 0.1 and 1 that are often used lie there for many data sets. The default is half of
#' `lambda_max`. `params` holds both ends, and a ranking whose scores agree within 1e-6 gives a
#' warning of class `ufs_warning_void`. With p > n a small `lambda` reconstructs every sample
#' exactly, and the ranking no longer depends on it; `print()` tells how many samples are exact.
#'
#' # Algorithm
#' `solver = "exact"`, the default, solves reweighted least squares on the rows that are in use,
#' accelerated so that the objective falls all the way, and stops when the duality gap is at most
#' `tol` times the objective; rows that are left out are exactly zero. Where `lambda` is so small
#' that the systems could not be solved, the gap stays a bound but may not get below `tol`; a gap
#' below 0 beyond rounding gives the status "numerical". `"irls"` is the authors' iteration, which
#' stops on the change of the objective. Rows that are zero or nearly so are ordered by their
#' distance from entering.
#'
#' The authors standardise nothing by default. Here the columns are centred and get unit norm,
#' because `lambda` weighs all rows of W alike. With p > n no p x p matrix exists unless
#' `coefficients = TRUE`.
#'
#' @inheritParams ufs_kmeans_f
#' @param lambda The penalty, in the units of the rows of `x` as used. The default `NULL` computes
#'   it from `lambda_rel`.
#' @param lambda_rel The penalty as a share of `lambda_max`, which is free of the scale of `x`.
#' @param solver `"exact"` for the accelerated iteration with a duality gap, or `"irls"` for the
#'   authors' iteratively reweighted least squares.
#' @param coefficients Should the p x p matrix W be returned? The default `NULL`: if p <= n.
#' @param center,scale Should the columns be centred, and scaled to unit norm?
#' @param control Iteration limits and tolerances, made by [ufs_control()]: `max_iter` (default 500;
#'   200 with `"irls"`), `tol` (1e-3, the relative gap; 1e-6 with `"irls"`, the relative change) and
#'   `eps` (one or two values added to the squared norms of the residuals and of the rows of W; by
#'   default 1e-16 times the mean squared norm of a sample, and 1e-16).
#' @return A fit of class `c("ufs_rsr", "ufs")`. `solution` holds `residual` (norm of each
#'   sample's residual), `dual` (of each feature: \eqn{\|X'Y\|_j / \lambda}, 1 for the features
#'   in use) and `W`, if wanted. `trace` has the smoothed objective of every accepted step, the true
#'   one (`best`), the `bound` so far and the `gap`, `certificate` the relative duality `gap`.
#' @references Zhu, Zuo, Zhang, Hu and Shiu (2015) Unsupervised feature selection by regularized
#'   self-representation. Pattern Recognition 48. \doi{10.1016/j.patcog.2014.08.006}
#' @seealso [ufs_css()]
#' @examples
#' fit <- ufs_rsr(mtcars)
#' fit
#' selected_features(fit, k = 4)
#'
#' # How much of the data do these four columns hold?
#' ufs_captured(fit, mtcars, k = 4)
#' @export
ufs_rsr <- function(x, lambda = NULL, ..., lambda_rel = 0.5, solver = c("exact", "irls"),
                    coefficients = NULL, k = NULL, center = TRUE, scale = TRUE,
                    control = ufs_control()) {
  run_fit("rsr", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_rsr <- function(data, control, lambda, lambda_rel, solver, coefficients, ...) {
  q <- length(data$keep)
  if (is.null(coefficients)) coefficients <- q <= data$n
  coefficients <- check_flag(coefficients, "coefficients")
  if (coefficients) check_bytes(16 * as.double(data$p)^2, "W", "Use coefficients = FALSE.")
  penalty <- check_penalty(lambda, lambda_rel, 1, "lambda")$value
  count <- data$weights
  # Rows times the root of their counts; norms of rows are counted by rows times their counts.
  mean_square <- sum(data$x^2) / if (is.null(count)) data$n else sum(count)
  rows <- with_weights(data$x, count)
  size <- row_norms(rows)
  if (is.null(control$eps)) control$eps <- 1e-16 * c(mean_square, 1)
  control$eps <- rep_len(control$eps, 2L)
  # The authors' first weights are 1, which has a unit; so only where lambda has one, too.
  exactly <- solver == "exact" && control$tol >= 0
  factor <- if (exactly) penalty_factor(data$held, q)
  settings <- list(lambda = penalty, factor = factor, relative = is.null(lambda),
    keep_w = coefficients, accelerate = exactly, count = count,
    start_g = if (is.null(lambda)) sqrt(mean_square) else 1)
  found <- .Call(C_rsr, rows, control$eps, settings, control)
  used <- found$run$counters
  first <- same_penalty(equal_columns(data$x), factor)
  row <- mean_of_copies(found$row, first)
  if (coefficients) {
    used_w <- mean_of_copies(found$w, first)
    if (found$run$iterations > 0L) row <- row_norms(used_w)
    # Features by features, back in the user's p columns.
    w <- matrix(0, data$p, data$p, dimnames = list(data$features, data$features))
    w[data$keep, data$keep] <- used_w
  }
  list(
    params = list(lambda = used[["lambda"]], lambda_rel = used[["lambda"]] / used[["zero"]],
      lambda_identity = if (is.nan(used[["identity"]])) NA_real_ else used[["identity"]],
      lambda_max = used[["zero"]], solver = solver),
    run = found$run, feature_scores = row,
    feature_key = mean_of_copies(found$dual, first),
    solution = list(residual = stats::setNames(found$residual /
        if (is.null(count)) 1 else count, data$samples),
      dual = expand_features(found$dual, data, NA_real_),
      W = if (coefficients) w),
    certificate = found$run$counters["gap"],
    n_exact = if (found$run$iterations > 0L) sum(found$residual <= 1e-6 * size) else 0L,
    coef_name = "W", by_ranking = if (!exactly) penalty_constraints, control = control,
    finish = function(fit) {
      score <- fit$feature_scores[!is.na(fit$feature_scores)]
      if (fit$iterations == 0L && fit$status != "converged") return(fit)
      if (fit$params$lambda >= fit$params$lambda_max && all(score == 0)) {
        ufs_warn("void", "ufs_rsr(): `lambda` is so large that W = 0 is optimal; use one below ",
          signif(fit$params$lambda_max, 3L), " (lambda_rel < 1).")
      } else if (length(score) > 1L && diff(range(score)) <= 1e-6) {
        ufs_warn("void", "ufs_rsr(): all scores agree within 1e-6, so the ranking says nothing. ",
          "`lambda` is too small; use one above ",
          signif(max(fit$params$lambda, fit$params$lambda_identity, na.rm = TRUE), 3L), ".")
      }
      fit
    }
  )
}

#' @export
print_notes.ufs_rsr <- function(x) {
  c(paste0("lambda       ", format(signif(x$params$lambda, 3L)), " (useful range ",
    if (is.na(x$params$lambda_identity)) "0" else format(signif(x$params$lambda_identity, 3L)),
    " to ", format(signif(x$params$lambda_max, 3L)), "; from there on all weights are zero)"),
    if (x$n_exact > 0L) {
      paste0("exact        ", x$n_exact, " of ", x$n, " samples, without any residual")
    })
}

register("rsr", ufs_rsr,
  solve = solve_rsr,
  control = function(args) {
    if (args$solver == "exact") list(max_iter = 500L, tol = 1e-3) else
      list(max_iter = 200L, tol = 1e-6)
  },
  prepare = function(x, args) as_ufs_matrix(x, args$center, args$scale, by = "norm"),
  advice = "historical (for comparison)",
  title = "Regularised self-representation",
  cost = "min(n, p)^2 max(n, p) per iteration",
  reference = "Zhu et al. (2015) <doi:10.1016/j.patcog.2014.08.006>",
  constraints = c("weights", penalty_constraints)
)
