#' Robust representative sample selection (RRSS)
#'
#' Finds samples whose span reconstructs all samples, with a loss that does not let outliers
#' dominate. Use it to find archetypes, and outliers (the samples with a large `residual`). Do not
#' use it to choose what to label: there it did worse than random choice, while [ufs_facility()] and
#' [ufs_medoids()] did better (`vignette("which-samples")`; the figures are in
#' `vignette("evidence")`). Chosen samples are little spread: similar ones share their norm.
#'
#' With x_i the i-th row of the (standardised) `x`, the method minimises
#' \deqn{\min_{A} \sum_i \|x_i - \sum_j A_{ij} x_j\|_2 + \gamma \sum_j \|A_{\cdot j}\|_2,}
#' and sample j scores the norm of its column of A: how much it is used by all others. The
#' text of the paper was not available to us beyond its abstract; the objective is the one
#' that its abstract and later papers state.
#'
#' # Zero scores
#' Norms below 1e-6 of the largest count as zero; among these samples the ranking follows their
#' `activity`, the share of the dual bound that they reach. Equal rows of `x` have equal scores.
#'
#' # Computation
#' The problem is solved by reweighted least squares without an n x n matrix, in `6 n r^2 + 10 r^3`
#' flops per iteration with r = min(n, p). Every step yields a lower bound of the minimum, and the
#' iteration stops when the relative duality gap is at most `tol`; the objective is then much closer
#' to its minimum than the gap says (within 1e-5 on the sets we tried). A negative `tol` in
#' [ufs_control()] gives exactly `max_iter` plain steps.
#'
#' @inheritParams ufs_pca
#' @param gamma The penalty, a positive number in units of `x`. The default `NULL` computes it from
#'   `gamma_rel`. [ufs_grid()] has the published grid of values.
#' @param gamma_rel The penalty as a share of the smallest value at which A = 0 is optimal, `max_j
#'   ||N x_j||`, where N holds all samples at unit length. It is free of the scale of `x`.
#' @param m The number of samples to choose, a whole number, or `NULL` (the default) to leave it
#'   open. It changes no score: [selected_samples()], `print()` and `plot()` use it.
#' @param labelled Samples that are labelled already: indices, row names, or a logical vector of
#'   length n. They are not chosen: their score is `NA` and they come last. The others complement
#'   them: labelled samples rebuild without a penalty what they can of each sample. If that is
#'   everything, a message says so, and they are left out only.
#' @param control Iteration limits and tolerances, made by [ufs_control()]: `max_iter` (300), `tol`
#'   (1e-3, the relative duality gap) and `eps` (1e-8, the smoothing of the norms, in units of the
#'   mean norm of the samples).
#' @return A fit of class `c("ufs_rrss", "ufs")`; [selected_samples()] gives the samples. `solution`
#'   holds `row_norm` (the norms, unrounded), `activity` and `residual` (the reconstruction error of
#'   each sample, in units of the standardised `x`). `certificate` holds the relative duality `gap`
#'   and the `dual` bound, `trace` the smoothed `objective` of every accepted step, the true one
#'   (`best`, lower than those before), the `bound` so far and the `gap`. A warning of class
#'   `ufs_warning_zero` says that the penalty leaves A = 0.
#' @references Nie, Wang, Huang and Ding (2013) Early active learning via robust
#'   representation and structured sparsity. IJCAI 23, 1572-1578.
#' @seealso [ufs_facility()], [ufs_medoids()], [ufs_ted()]
#' @examples
#' # Cars that stand for the others
#' fit <- ufs_rrss(mtcars)
#' fit
#' selected_samples(fit, m = 5)
#'
#' # Cars that the chosen ones rebuild worst: possible outliers
#' fit <- ufs_rrss(mtcars, gamma_rel = 0.3)
#' head(sort(fit$solution$residual, decreasing = TRUE), 3)
#' @export
ufs_rrss <- function(x, gamma = NULL, ..., gamma_rel = 0.05, m = NULL, labelled = NULL,
                     center = TRUE, scale = TRUE, control = ufs_control()) {
  run_fit("rrss", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_rrss <- function(data, control, gamma, gamma_rel, labelled, ...) {
  labelled <- check_labelled(labelled, data)
  # Three matrices of the size of x at most, beside x itself.
  check_bytes(24 * as.double(data$n) * min(data$n, ncol(data$x)), "ufs_rrss()",
    "Give it a subset of the samples.")
  check_squares(data$x)
  rest <- without_penalty(data$x, labelled, "rrss", control$warn)
  size <- mean(row_norms(rest$x))
  found <- .Call(C_rrss, sample_coordinates(rest$x, size), mm_penalty(gamma, gamma_rel, size),
    control)
  c(mm_fit_fields(data, list_of(gamma, gamma_rel, labelled), found, size,
    solution = list(residual = found$residual * size)),
    list(by_ranking = rest$by_ranking))
}

register("rrss", ufs_rrss,
  solve = solve_rrss, control = mm_defaults,
  prepare = function(x, args) gram_coordinates(x, args$center, args$scale),
  group = "samples", selects = "samples",
  title = "Robust representative sample selection",
  cost = "n min(n, p)^2 per iteration",
  advice = "historical (for comparison)",
  reference = "Nie, Wang, Huang and Ding (2013), IJCAI",
  paper_grid = alfs_rival_grid(gamma = 10^(-4:3)),
  constraints = "labelled",
  refuses = c(weights = "copies of a row would share the weight that its penalty is about")
)
