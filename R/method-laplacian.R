#' Laplacian score
#'
#' Ranks features by how smooth they are on the neighbour graph of the samples: a good feature
#' differs little between neighbours, compared with its variance. It is fast, has no random part,
#' needs no number of clusters, and does well when informative columns must be found among noise.
#'
#' For a feature f, with weights W, degrees D = diag(W 1) and the graph Laplacian L = D - W,
#' \deqn{LS = \frac{\tilde f' L \tilde f}{\tilde f' D \tilde f}, \quad
#'   \tilde f = f - \frac{f' D 1}{1' D 1} 1,}
#' which lies between 0 and 2, and *small* is good. `statistic` is LS; the score is 1 - LS, as in
#' the authors' code, so that larger is better.
#'
#' LS does not depend on the location and scale of f itself, but the graph does. By default the
#' graph is made from the columns as they are, as in the paper, so use `scale = TRUE` if the columns
#' have different units. A feature that is constant on the samples that have neighbours has no LS:
#' its score is `NA` and it is ranked last. (Others give it 0, the best value, or use a threshold.)
#'
#' With `weights` of [ufs_data()] an edge between two rows counts by the product of their weights,
#' as the edges between so many copies of them do. The graph itself is that of the rows: copies of
#' a row would be its nearest neighbours.
#'
#' Beside the graph the scores cost 2 n p flops for each neighbour of a sample.
#'
#' @inheritParams ufs_pca
#' @param graph The neighbour graph: `NULL` for the default graph of `x`, a list of arguments of
#'   [ufs_graph()], a graph made by [ufs_graph()], or a symmetric n x n weight matrix. The help page
#'   of [ufs_graph()] has a section on this argument.
#' @return A fit of class `c("ufs_laplacian", "ufs")`; `solution` holds the `graph`.
#' @references He, Cai and Niyogi (2005) Laplacian score for feature selection. Advances in
#'   Neural Information Processing Systems 18.
#' @seealso [ufs_spec()], of which this is the case `type = "phi2"`.
#' @examples
#' fit <- ufs_laplacian(iris[, 1:4])
#' fit$statistic
#' selected_features(fit, k = 2)
#'
#' # Columns in different units, and a graph of your own choice
#' ufs_laplacian(mtcars, graph = list(n_neighbours = 7, weights = "binary"), scale = TRUE)
#' @export
ufs_laplacian <- function(x, graph = NULL, ..., k = NULL, center = FALSE, scale = FALSE,
                          control = ufs_control()) {
  run_fit("laplacian", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_laplacian <- function(data, control, graph, ...) {
  # Neighbours are those of the rows themselves; weights come in by the edges.
  if (!is.null(data$weights)) data$x <- x_dense(data$x) / sqrt(data$weights)
  graph <- as_ufs_graph(graph, data)
  edges <- graph
  # Rows each of which stands for so many: copies of two rows are as near as these are.
  if (!is.null(data$weights)) {
    own <- graph$weights
    edges$weights$value <- own$value * data$weights[own$index + 1L] *
      data$weights[rep(seq_len(graph$n), diff(own$start))]
    edges$degree <- .Call(C_graph_describe, own$start, own$index, edges$weights$value)$degree
  }
  # The Laplacian score is SPEC's phi2 of the first power.
  statistic <- .Call(C_spec_quadratic, unclass(edges), data$x, 1L, TRUE)
  statistic[is.nan(statistic)] <- NA_real_
  warn_void(1 - statistic, "laplacian", "A complete graph with equal weights does that.")
  list(
    data = data, params = graph_params(graph),
    feature_scores = 1 - statistic, without_score = data$keep[is.na(statistic)],
    statistic = expand_features(statistic, data, NA_real_),
    solution = list(graph = graph)
  )
}

register("laplacian", ufs_laplacian,
  solve = solve_laplacian,
  spends = TRUE,
  prepare = function(x, args) as_ufs_operator(x, args$center, args$scale, as_is = TRUE),
  advice = "situational: good among noise columns",
  title = "Laplacian score",
  cost = "n^2 p (graph) + n k p",
  reference = "He, Cai and Niyogi (2005), NIPS 18",
  mixed_units = "standardise",
  constraints = "weights"
)
