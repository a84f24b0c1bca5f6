#' Sparse principal component analysis
#'
#' Finds principal components that have few non-zero loadings each, and ranks the features by these
#' loadings. It is here because [ufs_jspca()] was proposed as an improvement on it: use it for that
#' comparison, and [ufs_jspca()] or [ufs_css()] to select features. Each component has zeros of its
#' own, so a feature is left out altogether only if every component happens to leave it out.
#'
#' The method minimises, over A with orthonormal columns and B (both p x c),
#' \deqn{\|X - X B A'\|_F^2 + \lambda \sum_j \|b_j\|_1,}
#' which is the criterion of Zou, Hastie and Tibshirani without its ridge term and with one penalty
#' for all components. (With a penalty for each, the components of large variance move to where the
#' penalty is small, and their own places stay empty.) The solver starts from the leading principal
#' components and alternates two exact steps that lower the objective: B by one lasso per component,
#' and A as the orthonormal factor of X'X B. The problem is not convex, so the answer depends on the
#' start. An iteration takes about `6 n p c` flops besides the lassos, and nothing is p x p.
#'
#' The score of a feature is the norm of its row of B. Of several equal columns the lasso would keep
#' only the first; B is averaged over them, which does not change the objective. Features whose row
#' is zero are ranked by how close the lassos came to including them.
#'
#' @inheritParams ufs_pca
#' @param n_components The number of components c, from 1 to the rank of `x`.
#' @param lambda The penalty, a positive number, for the matrix after `center` and `scale`. The
#'   default `NULL` computes it from `lambda_rel`.
#' @param lambda_rel The penalty as a share of the smallest value at which all loadings are zero at
#'   the start. Components of small variance may come out empty.
#' @param control Iteration limits and tolerances, made by [ufs_control()]: `max_iter` (default
#'   1000), `tol` (1e-4, relative change of B).
#' @return A fit of class `c("ufs_spca", "ufs")`. `solution` holds `A`, `B` (p x c), the sparse
#'   `loadings` (columns of B at unit length) and `explained`, the share of the variance that the
#'   first 1, ..., c components explain when what they share is counted once. `certificate`: `kkt`,
#'   the largest violation of the lassos' optimality conditions at the answer as a share of the
#'   penalty, and `change`. `trace` has the objective, which never rises.
#' @references Zou, H., Hastie, T. and Tibshirani, R. (2006) Sparse principal component analysis.
#'   *Journal of Computational and Graphical Statistics* **15**, 265-286.
#'   \doi{10.1198/106186006X113430}
#' @examples
#' fit <- ufs_spca(mtcars, n_components = 2, lambda_rel = .3)
#' round(coef(fit), 2)
#' fit$solution$explained
#' @export
ufs_spca <- function(x, n_components, ..., lambda = NULL, lambda_rel = 0.1, k = NULL, center = TRUE,
                     scale = TRUE, control = ufs_control()) {
  run_fit("spca", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_spca <- function(data, control, n_components, lambda, lambda_rel, center, ...) {
  check_count(control$max_iter, "max_iter", 1L)
  n_components <- check_components(n_components, data, center)
  check_range(max(data$norm))
  # X'X is all that counts: a tall file is read once for it, and its root replaces x.
  core <- if (is_operator(data$x)) jspca_core(data$x, "feature") else data$x
  pca <- x_pca(core, n_components, "spca")
  check_rank(pca, n_components)
  factor <- penalty_factor(data$held, length(data$keep))
  penalty <- check_penalty(lambda, lambda_rel, spca_lambda_max(core, pca, factor), "lambda")
  first <- same_penalty(x_equal_columns(data$x), factor)
  found <- .Call(C_spca, core, pca$loadings, list(lambda = penalty$value, factor = factor,
    first = first), control)
  alike <- x_alike_columns(data$x)
  alike$first <- same_penalty(alike$first, factor)
  b <- share_alike(found$B, alike)
  length_of <- sqrt(colSums(b^2))
  if (all(b == 0) && control$warn) {
    ufs_warn("zero", "All loadings of ufs_spca() are zero at this penalty. Use a smaller ",
      "`lambda_rel`.")
  }
  loadings <- sweep(b, 2L, ifelse(length_of > 0, length_of, 1), "/")
  # Shares of the variance that the first 1..k components have: squared lengths of the columns of X
  # V, after taking out the earlier ones (Zou et al., section 3.4). V are the loadings at unit
  # length: B itself is shorter the larger the penalty.
  scores <- x_mul(core, loadings)
  own <- vapply(seq_len(ncol(loadings)), function(j) {
    left <- scores[, j]
    if (j > 1L) left <- stats::lm.fit(scores[, seq_len(j - 1L), drop = FALSE], left)$residuals
    sum(left^2)
  }, 0)
  list(
    run = found$run,
    params = list(n_components = n_components, lambda = penalty$value, lambda_rel = penalty$rel),
    feature_scores = sqrt(rowSums(b^2)), feature_key = found$kkt,
    solution = list(A = expand_features(found$A, data), B = expand_features(b, data),
      loadings = expand_features(loadings, data), explained = cumsum(own) / sum(x_ss(core))),
    certificate = found$run$counters[c("kkt", "change")], coef_name = "loadings",
    live = colSums(b != 0)
  )
}

# For A = leading loadings B = 0 is optimal iff lambda >= 2 max_ij |(X'X A)_ij|; each row over the
# factor of its penalty, and X A less what the columns without a penalty explain of it.
spca_lambda_max <- function(x, pca, factor) {
  if (is.null(factor)) return(2 * max(pca$sdev2 * apply(abs(pca$loadings), 2L, max)))
  target <- x_mul(x, pca$loadings)
  free <- which(factor == 0)
  if (length(free)) target <- qr.resid(qr(x_columns(x, free)), target)
  2 * top_over_factor(apply(abs(x_cross(x, target)), 1L, max), factor)
}

#' @export
print_notes.ufs_spca <- function(x) {
  c(paste0("loadings     ", paste(x$live, collapse = ", "), " non-zero per component"),
    paste0("explained    ", format(100 * utils::tail(x$solution$explained, 1L), digits = 3L),
      " % of the variance"))
}

register("spca", ufs_spca,
  solve = solve_spca,
  prepare = function(x, args) as_ufs_operator(x, args$center, args$scale),
  control = list(max_iter = 1000L, tol = 1e-4),
  advice = "situational: redundant features; for compressing ufs_css() is better",
  title = "Sparse principal component analysis",
  cost = "n p k per iteration",
  reference = "Zou, Hastie and Tibshirani (2006) <doi:10.1198/106186006X113430>",
  constraints = c("weights", penalty_constraints), moments = TRUE
)
