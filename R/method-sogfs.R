#' Structured optimal graph feature selection (SOGFS)
#'
#' Learns a neighbour graph that falls into as many pieces as there are clusters and, at the same
#' time, the features in which neighbours are close. It is a method of the literature that is here
#' for comparison; see [ufs_methods()] for the recommended ones.
#'
#' \deqn{\min \sum_{ij} (\|W'x_i - W'x_j\|^2 s_{ij} + \alpha s_{ij}^2) + \gamma \sum_j \|w_j\| +
#'   2 \lambda\, tr(F'L_S F)}
#'
#' over row-stochastic S >= 0, \eqn{W'W = I} (p x m), \eqn{F'F = I} (n x c). Every row of S has at
#' most `n_neighbours` non-zeros; \eqn{\alpha} comes from the distances, and \eqn{\lambda} is
#' doubled and halved until the graph has c components. The score of feature j is \eqn{\|w_j\|^2};
#' the scores sum to m. The authors centre the columns and scale them to unit norm, too.
#'
#' # What to watch for
#' * W has orthonormal columns, so at least `n_dims` features are non-zero. With a large `gamma`
#'   (the 100 of the authors' code is very large for columns of unit norm) W is `n_dims` unit
#'   vectors exactly: the selected features are known, the order of all others is that of their
#'   distance from entering, and a warning of class `ufs_warning_void` says so. Set `n_dims` to the
#'   number of features wanted, or use a smaller `gamma`.
#' * With p >= n the first W is not determined. The mean of all is taken, which no rotation changes.
#' * `status = "max_iter"` means that no value of \eqn{\lambda} that was tried gave c components.
#'
#' # Cost
#' It takes n^2 p flops for the neighbours, and per iteration 2 n p^2 or, if p > n, n^3 / 3 + n^2 p,
#' a few steps like those of [ufs_udfs()], and c + 1 eigenvectors of a sparse matrix.
#'
#' @inheritParams ufs_ndfs
#' @param n_clusters The number of clusters c, from 1 to n - 2.
#' @param n_dims The number of columns m of W, from 1 to the number of features that are not
#'   constant. The default `NULL` takes the larger of 4 and `n_clusters`, if there are so many.
#' @param n_neighbours The number of neighbours, from 2 to n - 1.
#' @param gamma The weight of the row sparsity, a positive number. With .1 and more often hardly
#'   more than `n_dims` features stay in use; with the default .01 many do (`vignette("evidence")`).
#' @param solver How W is updated: `"irls"` takes the authors' steps of iteratively reweighted least
#'   squares, and `"exact"`, the default, extrapolates their weights.
#' @param control Iteration limits and tolerances, made by [ufs_control()]: `max_iter` (default 50),
#'   `inner_max_iter` (100) and `inner_tol` (1e-6, relative change) of the steps over W, and `eps`
#'   (1e-12, added to the squared row norms).
#' @return A fit of class `c("ufs_sogfs", "ufs")`. `solution` holds `W` (p x m), `F` (n x c), `S`
#'   (sparse; `as.matrix()` makes it n x n) and `cluster` (the component of each sample). `trace`
#'   has, for every iteration, the `objective` without its last term, `lambda`, the sums of the c
#'   and c + 1 smallest eigenvalues of L (`zeros`, `next_zeros`) and the number of `inner` steps.
#'   `certificate` has the number of `components` and the `residual` of the last eigenvectors W.
#' @references Nie, Zhu and Li (2016) Unsupervised feature selection with structured graph
#'   optimization. AAAI 30, 1302-1308. \doi{10.1609/aaai.v30i1.10168}
#' @seealso [ufs_udfs()], [ufs_mcfs()]
#' @examples
#' fit <- ufs_sogfs(iris[, 1:4], n_clusters = 3, n_dims = 2, gamma = 0.003)
#' fit
#'
#' # The components of the learnt graph are a clustering
#' table(fit$solution$cluster, iris$Species)
#' @export
ufs_sogfs <- function(x, n_clusters, ..., n_dims = NULL, n_neighbours = 5, gamma = 0.01,
                      solver = c("exact", "irls"), k = NULL, center = TRUE, scale = TRUE,
                      control = ufs_control()) {
  run_fit("sogfs", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_sogfs <- function(data, control, n_clusters, n_dims, n_neighbours, gamma, solver, k, ...) {
  control$eps <- check_eps(control$eps, open = TRUE)
  exactly <- solver == "exact" && control$inner_tol >= 0
  factor <- if (exactly) penalty_factor(data$held, length(data$keep))
  q <- length(data$keep) - if (is.null(factor)) 0L else sum(is.infinite(factor))
  n_clusters <- check_clusters(n_clusters, data$n, 1L, 2L)
  if (is.null(n_dims)) n_dims <- min(q, max(4L, n_clusters))
  n_dims <- check_count(n_dims, "n_dims", 1L, q, "the features to choose from")
  n_neighbours <- check_count(n_neighbours, "n_neighbours", 2L, data$n - 1L,
    paste("one fewer than the", data$n, "samples"))
  check_wstep_bytes(data$n, length(data$keep), n_neighbours)
  found <- .Call(C_sogfs, data$x, list_of(n_clusters, n_dims, k = n_neighbours, gamma, factor,
    accelerate = exactly), control)
  counters <- found$run$counters
  rownames(found$f) <- data$samples
  # Rows of S as a sparse matrix: neighbours (from 0) and weights are k x n.
  row <- as.vector(col(found$s))
  order <- order(row, found$neighbour)
  order <- order[found$s[order] > 0]
  s <- structure(list(start = c(0L, cumsum(tabulate(row[order], data$n))),
    index = found$neighbour[order], value = found$s[order]), class = "ufs_csr")
  list(
    params = list_of(n_clusters, n_dims, n_neighbours, gamma, alpha = counters[["alpha"]],
      lambda = counters[["lambda"]], solver),
    run = found$run, feature_scores = found$row2, feature_key = found$reach,
    solution = list(W = expand_features(found$w, data), F = found$f, S = s,
      cluster = stats::setNames(found$component + 1L, data$samples)),
    certificate = c(components = max(found$component) + 1, counters["residual"]),
    n_nonzero = count_nonzero(found$row2, control$eps), coef_name = "W",
    by_ranking = if (!exactly) penalty_constraints, control = control,
    advice = "The graph did not reach `n_clusters` components.",
    finish = function(fit) warn_few_scores(fit, n_dims,
      "Set `n_dims` to the number of features wanted, or use a smaller `gamma`.")
  )
}

register("sogfs", ufs_sogfs,
  solve = solve_sogfs,
  arguments = list(gamma = a_number(lower = 0, open = TRUE)),
  prepare = function(x, args) as_ufs_matrix(x, args$center, args$scale, by = "norm"),
  control = list(max_iter = 50L, inner_max_iter = 100L, inner_tol = 1e-6, eps = 1e-12),
  advice = "historical (for comparison)",
  title = "Structured optimal graph feature selection",
  cost = "n p max(n, p) per iteration",
  reference = "Nie, Zhu and Li (2016) <doi:10.1609/aaai.v30i1.10168>",
  constraints = penalty_constraints,
  refuses = c(
    weights = "the graph that it learns shares links between rows, not between what they stand for",
    replicates = "it looks for directions of small variance, and shrunk columns would be the first")
)
