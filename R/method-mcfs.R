#' Multi-cluster feature selection (MCFS)
#'
#' Keeps the features that explain the cluster structure of the samples: the structure is read from
#' the neighbour graph, and sparse regressions say which features reproduce it. It is one of the
#' recommended methods for clustering on few chosen features (`vignette("which-method")`).
#'
#' 1. The samples are embedded by the bottom eigenvectors of the graph: \eqn{y_1, \dots, y_c} solve
#'    \eqn{L y = \lambda D y} for the c smallest eigenvalues beyond the trivial one.
#' 2. For each of them the lasso path
#'    \deqn{\min_b \tfrac12 \|y_i - X b\|^2 + \tfrac{ridge}{2} \|b\|^2 + t \|b\|_1}
#'    is followed by least angle regression (with drops) from t = max |X'y| down to the
#'    first knot with `n_features` non-zero coefficients. With `normalise = TRUE` b is then divided
#'    by its norm.
#' 3. The score of feature j is \eqn{\max_i |b_{ij}|}.
#'
#' At most `n_clusters * n_features` features have a score above 0. The others are ranked by
#' how near they were to entering a path when it stopped, \eqn{\max_i |x_j'r_i| / t_i}, which is in
#' `fit$feature_key`. Raise `n_features` if you need more features with a score.
#'
#' # Units of the columns
#' Coefficients depend on the units of the columns, so use `scale = TRUE` if these differ. On real
#' data scaling helped more often than it hurt; the counts are in `vignette("evidence")`.
#'
#' # Differences from the authors' code
#' The authors' code has `center = FALSE, ridge = 1e-3`. The default here centres, so that the
#' regressions have an intercept, and needs no ridge. (A widely used public code takes the
#' maximum without the absolute value, which gives another ranking.)
#'
#' # Graphs with several components
#' On such a graph the first eigenvectors are indicators of components, and any rotation of them
#' would do. The ranking then depends on a convention (indicators in the order of the samples,
#' orthogonalised one after the other), and a warning says so. A graph with more neighbours helps.
#' Samples without an edge are left out of the regressions.
#'
#' # Cost
#' Beside the graph it takes 2 n p c flops per step of the paths, and about `n_features` steps. No p
#' x p matrix is formed.
#'
#' @inheritParams ufs_laplacian
#' @param n_clusters The number of eigenvectors c, usually the number of clusters you expect; from 1
#'   to n - 2.
#' @param n_features The number of non-zero coefficients at which each path stops, at most p. The
#'   default `NULL` is `k` or, without one, 50, or p or n - 1 if that is less.
#' @param ridge The ridge penalty, at least 0, in the units of X'X.
#' @param normalise Should coefficient vectors be divided by their norms, so that all count alike?
#' @param control Iteration limits, made by [ufs_control()]: `max_iter` (default
#'   `100 + 10 * n_features`) bounds the steps of a path.
#' @return A fit of class `c("ufs_mcfs", "ufs")`. `solution` holds `W` (p x c, the coefficients as
#'   used for the score), `Y` (n x c, the embedding), `eigenvalues`, `graph` and `penalty`, the t at
#'   which each path stopped. `trace` has the
#'   largest penalty t and the largest number of non-zero coefficients at every step. `certificate`
#'   has `kkt`, the violation of the lasso's optimality conditions relative to max |X'y| at the end.
#' @references Cai, Zhang and He (2010) Unsupervised feature selection for multi-cluster
#'   data. KDD. \doi{10.1145/1835804.1835848}
#' @seealso [ufs_laplacian()] and [ufs_spec()], which score each feature on its own.
#' @examples
#' # Which columns explain three groups of cars?
#' fit <- ufs_mcfs(mtcars, n_clusters = 3, k = 5, scale = TRUE)
#' fit
#' selected_features(fit)
#'
#' # The coefficient of each feature for each eigenvector
#' coef(fit)
#' @export
ufs_mcfs <- function(x, n_clusters, graph = NULL, ..., n_features = NULL, ridge = 0,
                     normalise = TRUE, k = NULL, center = TRUE, scale = FALSE,
                     control = ufs_control()) {
  run_fit("mcfs", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_mcfs <- function(data, control, n_clusters, graph, n_features, ridge, normalise, k, center,
                       ...) {
  q <- length(data$keep)
  n_clusters <- check_clusters(n_clusters, data$n, 1L, 2L)
  if (is.null(n_features)) n_features <- k
  n_features <- if (is.null(n_features)) min(50L, q, data$n - 1L) else
    min(check_count(n_features, "n_features", 1L, data$p, "there are that many features"), q)
  control <- resolve_control(control, max_iter = 100L + 10L * n_features)
  graph <- as_ufs_graph(graph, data, connected = TRUE)
  embedding <- embed_graph(graph, n_clusters, "mcfs", "ufs_mcfs()")
  y <- embedding$vectors / sqrt(embedding$degree)
  # +1 or -1 for each column: the sign of its entry of largest modulus (first within 1e-9).
  y <- sweep(y, 2L, vapply(seq_len(ncol(y)), function(j) {
    size <- abs(y[, j])
    if (y[which(size >= max(size) * (1 - 1e-9))[1L], j] < 0) -1 else 1
  }, 0), `*`)
  rows <- linked_rows(data$x, graph)
  centred <- if (center) sweep(y, 2L, colMeans(y)) else y
  if (center && graph$n_isolated > 0L) {
    rows <- if (is.matrix(rows)) sweep(rows, 2L, colMeans(rows)) else
      centred_again(rows, TRUE, FALSE)
  }
  found <- .Call(C_mcfs, rows, centred, n_features, ridge, control)
  alike <- x_alike_columns(data$x)
  coefficients <- found$coef
  if (normalise) {
    norm <- sqrt(colSums(coefficients^2))
    coefficients <- sweep(coefficients, 2L, ifelse(norm > 0, norm, 1), `/`)
  }
  coefficients <- share_alike(coefficients, alike)
  score <- do.call(pmax, lapply(seq_len(n_clusters), function(i) abs(coefficients[, i])))
  # Coefficients of the columns before they were shrunk.
  if (!is.null(data$reliability)) score <- score * data$reliability
  warn_void(score, "mcfs", "No feature correlates with the embedding.")
  # How near a feature without a coefficient is to having one: 1 = it would be next. Where the
  # fit is exact up to rounding no feature is near: what is left to correlate with is noise.
  left <- x_cross(rows, centred - x_mul(rows, found$coef))
  reach <- do.call(pmax, lapply(seq_len(n_clusters), function(i) {
    noise <- 1e-10 * max(data$norm) * sqrt(sum(centred[, i]^2))
    if (found$penalty[[i]] <= noise) 0 * left[, i] else abs(left[, i]) / found$penalty[[i]]
  }))
  status <- status_labels[[found$run$status + 1L]]
  list(
    control = control,
    params = c(list_of(n_clusters, n_features, ridge, normalise), graph_params(graph)),
    run = found$run, status = if (status == "converged") embedding$status else status,
    feature_scores = score, feature_key = mean_of_copies(pmin(round(reach, 9), 1), alike$first),
    solution = list(W = expand_features(coefficients, data), Y = spread_rows(y, graph),
      eigenvalues = embedding$values, penalty = found$penalty, graph = graph),
    certificate = found$run$counters["kkt"], coef_name = "W"
  )
}

#' @export
print_notes.ufs_mcfs <- function(x) {
  c(nonzero_note(x, sum(x$feature_scores > 0, na.rm = TRUE)), graph_note(x$solution$graph))
}

register("mcfs", ufs_mcfs,
  solve = solve_mcfs,
  arguments = list(ridge = a_number(lower = 0)),
  spends = TRUE,
  prepare = function(x, args) as_ufs_operator(x, args$center, args$scale),
  advice = "recommended for clustering with few columns of wide data",
  sized_by = "pca",
  title = "Multi-cluster feature selection",
  cost = "n^2 p (graph) + n p c n_features",
  reference = "Cai, Zhang and He (2010) <doi:10.1145/1835804.1835848>",
  mixed_units = "standardise",
  refuses = c(weights = "in its graph copies of a row would be each other's neighbours")
)
