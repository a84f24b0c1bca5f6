#' Unsupervised discriminative feature selection (UDFS)
#'
#' Keeps the features that define directions along which neighbours lie close together while the
#' data as a whole are spread out. It is a method of the literature that is here for comparison; see
#' [ufs_methods()] for the recommended ones.
#'
#' \deqn{\min_{W'W = I} tr(W'MW) + \gamma \sum_j \|w_j\|, \quad
#'   M = \sum_i \tilde X_i' (\tilde X_i \tilde X_i' + \lambda I)^{-1} \tilde X_i}
#'
#' W is p x c, with orthonormal columns and with rows that vanish for the features not needed;
#' \eqn{\tilde X_i} holds the rows of sample i and its `n_neighbours` nearest neighbours, centred
#' among themselves. The score of feature j is \eqn{\|w_j\|^2}; the scores sum to c.
#'
#' # What to watch for
#' * Features that vary little *within* neighbourhoods win, so unscaled columns of low variance
#'   would come first. The columns are therefore scaled to unit norm by default, which moves the
#'   sensible sizes of `lambda` and `gamma` with it.
#' * W has orthonormal columns, so at least c features are non-zero. With a large `gamma` there
#'   are just c of them, and the others are ranked by their distance from entering; a warning of
#'   class `ufs_warning_void` says so. Use a smaller `gamma` or a larger `n_clusters`.
#' * With p >= n the usual start is not determined (any c of more than p - n null vectors of M), and
#'   the public codes give another ranking for another LAPACK. Here the start is the mean of all,
#'   which no rotation changes. Exact duplicates of a column still share a null direction of M.
#'
#' # Computation
#' Row norms are smoothed, \eqn{\sqrt{\|w_j\|^2 + eps}}, and the objective with the smoothing never
#' rises. (Clipping at 1e-16, as other packages do, makes weights so large that no eigenvector is
#' accurate.) The problem is not convex, so either solver may end in a local minimum. It costs n^2 p
#' flops for the neighbours; if p <= n, 2 n p^2 for M and about p^3 per iteration; if p > n, n^2 p +
#' n^3 / 3 per iteration, and then nothing of size p x p exists.
#'
#' @inheritParams ufs_ndfs
#' @param n_clusters The number of clusters c, which is the number of columns of W: from 1 to the
#'   number of features that are not constant.
#' @param n_neighbours The number of neighbours, from 1 to n - 1.
#' @param lambda The ridge penalty within the neighbourhoods, a positive number.
#' @param gamma The weight of the row sparsity, a positive number.
#' @param solver `"exact"` for the accelerated iteration, or `"irls"` for the authors' plain one.
#' @param control Iteration limits and tolerances, made by [ufs_control()]: `max_iter` (default
#'   300), `tol` (1e-6, relative change of the objective) and `eps` (1e-12).
#' @return A fit of class `c("ufs_udfs", "ufs")`. `solution` holds `W` (p x c), `trace` the
#'   objective, and `certificate` the `residual` of the eigenvectors of the last step (relative, of
#'   the inverted problem; 0 from LAPACK).
#' @references Yang, Shen, Ma, Huang and Zhou (2011) l2,1-norm regularized discriminative feature
#'   selection for unsupervised learning. IJCAI. \doi{10.5591/978-1-57735-516-8/IJCAI11-267}
#' @seealso [ufs_sogfs()], [ufs_ndfs()]
#' @examples
#' fit <- ufs_udfs(mtcars, n_clusters = 3)
#' fit
#' selected_features(fit, k = 3)
#' @export
ufs_udfs <- function(x, n_clusters, ..., n_neighbours = 5, lambda = 1, gamma = 0.1,
                     solver = c("exact", "irls"), k = NULL, center = TRUE, scale = TRUE,
                     control = ufs_control()) {
  run_fit("udfs", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_udfs <- function(data, control, n_clusters, n_neighbours, lambda, gamma, solver, k, ...) {
  control$eps <- check_eps(control$eps, open = TRUE)
  exactly <- solver == "exact" && control$tol >= 0
  factor <- if (exactly) penalty_factor(data$held, length(data$keep))
  q <- length(data$keep) - if (is.null(factor)) 0L else sum(is.infinite(factor))
  n_clusters <- check_count(n_clusters, "n_clusters", 1L, q, "the features to choose from")
  n_neighbours <- check_count(n_neighbours, "n_neighbours", 1L, data$n - 1L,
    paste("one fewer than the", data$n, "samples"))
  check_wstep_bytes(data$n, length(data$keep), n_neighbours)
  found <- .Call(C_udfs, data$x, list_of(n_clusters, k = n_neighbours, lambda, gamma, factor,
    accelerate = exactly), control)
  list(
    params = list_of(n_clusters, n_neighbours, lambda, gamma, solver),
    run = found$run, feature_scores = found$row2, feature_key = found$reach,
    solution = list(W = expand_features(found$w, data)),
    certificate = found$run$counters["residual"],
    n_nonzero = count_nonzero(found$row2, control$eps), coef_name = "W",
    by_ranking = if (!exactly) penalty_constraints, control = control,
    finish = function(fit) warn_few_scores(fit, n_clusters,
      "Use a smaller `gamma`, or a larger `n_clusters`.")
  )
}

register("udfs", ufs_udfs,
  solve = solve_udfs,
  arguments = list(lambda = a_number(lower = 0, open = TRUE), gamma = a_number(lower = 0, open =
    TRUE)),
  prepare = function(x, args) as_ufs_matrix(x, args$center, args$scale, by = "norm"),
  control = list(max_iter = 300L, tol = 1e-6, eps = 1e-12),
  advice = "historical (for comparison)",
  title = "Unsupervised discriminative feature selection",
  cost = "n p max(n, p), then min(n, p)^2 p per iteration",
  reference = "Yang et al. (2011) <doi:10.5591/978-1-57735-516-8/IJCAI11-267>",
  constraints = penalty_constraints,
  refuses = c(weights = "its sets of nearest rows have each row once",
    replicates = "it looks for directions of small scatter, and shrunk columns would be the first")
)
