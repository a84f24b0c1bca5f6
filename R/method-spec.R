#' Spectral feature selection (SPEC)
#'
#' Ranks features by how well they agree with the spectrum of the neighbour graph of the samples:
#' good features vary slowly along the graph. Use it beside the Laplacian score ([ufs_laplacian()]),
#' which is one of its three forms; `power` punishes oscillation more.
#'
#' Let \eqn{\mathcal L = D^{-1/2} L D^{-1/2}}{L^ = D^(-1/2) L D^(-1/2)} be the normalised Laplacian
#' of the graph, with eigenpairs \eqn{(\lambda_j, u_j)}, ascending, of which the first is trivial,
#' \eqn{u_1 = v} along \eqn{D^{1/2} 1}. With \eqn{\hat f = D^{1/2} f / |D^{1/2} f|},
#' \eqn{a_j = \hat f' u_j} and \eqn{g(\lambda) = \lambda^q}, `q = power`, the three scores are
#' * `"phi1"` (the default): \eqn{\sum_j a_j^2 g(\lambda_j)}, where small is good. It depends on the
#'   location of f: a feature far from 0 is nearly constant on the graph and comes first. With
#'   `center = TRUE` it does not.
#' * `"phi2"`: \eqn{\sum_{j \ge 2} a_j^2 g(\lambda_j) / (1 - (\hat f' v)^2)}, where small is good.
#'   For `power = 1` this is exactly the Laplacian score. That is why it is not the default: papers
#'   that compare both print two different columns, so what they call SPEC cannot be phi2.
#' * `"phi3"`: \eqn{\sum_{j=2}^{c} (g(2) - g(\lambda_j)) a_j^2}, where *large* is good, with
#'   `c = n_clusters` eigenvectors, counting the trivial one.
#'
#' `statistic` is the paper's quantity. The score is 1 - statistic for phi1 and phi2, so that larger
#' is always better. (One widely used public code sorts all three the wrong way round.)
#'
#' phi1 and phi2 need no eigenvectors. For phi3 the trivial vector is projected out exactly. On a
#' graph with several components eigenvalue 0 is multiple, and if c cuts through it, or through
#' another tie, the score is arbitrary up to the choice of basis; a warning says so. Samples without
#' an edge are left out. Beyond 400 samples eigenvectors come from a filtered subspace iteration.
#'
#' The paper's graph is complete (`graph = list(n_neighbours = n - 1)`). The default is that of
#' [ufs_graph()], which the other methods share.
#'
#' @inheritParams ufs_laplacian
#' @param type Which of the three scores: `"phi1"`, `"phi2"` or `"phi3"`.
#' @param n_clusters The number c of eigenvectors for phi3, from 2 to n - 1. Others do not use it.
#' @param power The exponent q of the spectral function, a whole number of at least 1. Larger
#'   values punish oscillation more.
#' @return A fit of class `c("ufs_spec", "ufs")`; `solution` holds the `graph` and for phi3
#'   the eigenvectors `U` (n x (c - 1), without the trivial one) and `eigenvalues`.
#' @references Zhao and Liu (2007) Spectral feature selection for supervised and
#'   unsupervised learning. ICML. \doi{10.1145/1273496.1273641}
#' @seealso [ufs_laplacian()], [ufs_mcfs()]
#' @examples
#' fit <- ufs_spec(iris[, 1:4], center = TRUE)
#' fit
#'
#' # The Laplacian score, and a version of it that punishes oscillation more
#' ufs_spec(iris[, 1:4], type = "phi2")$statistic
#' ufs_spec(iris[, 1:4], type = "phi2", power = 3)$statistic
#'
#' # Agreement with the leading eigenvectors, for three clusters
#' ufs_spec(mtcars, type = "phi3", n_clusters = 3, scale = TRUE)
#' @export
ufs_spec <- function(x, graph = NULL, type = c("phi1", "phi2", "phi3"), ..., n_clusters = NULL,
                     power = 1, k = NULL, center = FALSE, scale = FALSE, control = ufs_control()) {
  run_fit("spec", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_spec <- function(data, control, graph, type, n_clusters, power, ...) {
  if (type == "phi3") {
    if (is.null(n_clusters)) {
      refuse("n_clusters", "type = \"phi3\" needs `n_clusters`, the number of eigenvectors.")
    }
    n_clusters <- check_clusters(n_clusters, data$n)
  }
  graph <- as_ufs_graph(graph, data)
  solution <- list(graph = graph)
  if (type == "phi3") {
    embedding <- embed_graph(graph, n_clusters - 1L, "spec", "phi3")
    statistic <- .Call(C_spec_leading, unclass(graph), linked_rows(data$x, graph),
      power, embedding$values, embedding$vectors)
    solution$U <- spread_rows(embedding$vectors, graph)
    solution$eigenvalues <- embedding$values
  } else statistic <- .Call(C_spec_quadratic, unclass(graph), data$x, power, type == "phi2")
  statistic[is.nan(statistic)] <- NA_real_
  score <- if (type == "phi3") statistic else 1 - statistic
  warn_void(score, "spec", "A complete graph with equal weights does that.")
  c(
    list(
      params = c(list(type = type, n_clusters = if (type == "phi3") n_clusters,
        power = power), graph_params(graph)),
      feature_scores = score, without_score = data$keep[is.na(score)],
      statistic = expand_features(statistic, data, NA_real_),
      solution = solution
    ),
    if (type == "phi3") {
      list(status = embedding$status, iterations = embedding$iterations,
        certificate = c(residual = embedding$residual))
    }
  )
}

#' @export
print_notes.ufs_spec <- function(x) c(paste0("score        ", x$params$type), NextMethod())

register("spec", ufs_spec,
  solve = solve_spec,
  arguments = list(power = a_count(1L, 20L)),
  prepare = function(x, args) as_ufs_operator(x, args$center, args$scale, as_is = TRUE),
  advice = "situational",
  title = "Spectral feature selection (SPEC)",
  cost = "n^2 p (graph) + n k p",
  reference = "Zhao and Liu (2007) <doi:10.1145/1273496.1273641>",
  mixed_units = "standardise",
  refuses = c(weights = "the spectrum of its graph is that of the rows as they are")
)
