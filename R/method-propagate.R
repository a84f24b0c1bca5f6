#' Spread a few labels over a graph
#'
#' Gives every node of a graph a label when only some of them have one, by letting each unlabelled
#' node take the average class probabilities of its neighbours. Use it when labels are scarce and
#' similar samples are likely to belong together.
#'
#' The probabilities minimise `tr(F' L F)`, where `L = diag(rowSums(w)) - w`, with the rows of F
#' that belong to labelled nodes held fixed (harmonic propagation; Zhu, Ghahramani and Lafferty
#' 2003). The system `L_uu F_u = W_ul F_l` is solved by a Cholesky decomposition, which takes
#' `u^3/3` flops for `u` unlabelled nodes. Edges up to 1e-12 times the largest weight are dropped.
#'
#' Nodes without a path to a labelled one get the class shares of the labelled nodes as
#' probabilities. Their label is that of the nearest labelled sample in `x` (by Euclidean distance,
#' ties go to the first) or, without `x`, the most frequent class.
#'
#' @param w A symmetric n x n matrix of non-negative weights: a matrix, a Matrix, or a graph made by
#'   [ufs_graph()]. Its diagonal does not matter.
#' @param y The n labels, `NA` where unknown: a factor or a vector that can become one. Every class
#'   needs a labelled node.
#' @param cmn Should class mass normalisation be applied? Each class is then scaled to a mass of one
#'   more than its number of labelled nodes before the largest probability decides, and the
#'   probabilities of each node are scaled to sum to 1 again. This helps if the labelled nodes
#'   represent the class sizes.
#' @param x A matrix with n rows, used for nodes that cannot be reached. It is not scaled.
#' @return A list: `label` (factor), `probability` (n x classes, rows sum to 1) and
#'   `reached` (`FALSE` for nodes without a path to a labelled one).
#' @references Zhu, Ghahramani, Lafferty (2003) Semi-supervised learning using Gaussian
#'   fields and harmonic functions. ICML, 912-919.
#' @seealso [ufs_graph()] for the graph, [ufs_medoids()] for which samples to label.
#' @examples
#' # A path of five nodes, labelled at its ends
#' w <- matrix(0, 5, 5)
#' w[cbind(1:4, 2:5)] <- 1
#' ufs_propagate(w + t(w), c("a", NA, NA, NA, "b"))
#'
#' # Two labelled flowers per species, the other 144 labels propagated
#' y <- iris$Species
#' y[-c(1, 2, 51, 52, 101, 102)] <- NA
#' spread <- ufs_propagate(ufs_graph(iris[, 1:4], n_neighbours = 25), y)
#' mean(spread$label == iris$Species)
#' @export
ufs_propagate <- function(w, y, cmn = FALSE, x = NULL) {
  check_given(w, y)
  if (inherits(w, "ufs_graph") || inherits(w, "Matrix")) w <- as.matrix(w)
  names <- rownames(w)
  w <- check_matrix(w, "w", ncol = if (is.matrix(w)) nrow(w) else NA)
  if (any(w < 0) || max(abs(w - t(w))) > 1e-8 * max(w, .Machine$double.xmin)) {
    refuse("w", "`w` must be symmetric and must not have negative entries.")
  }
  classes <- check_partial_labels(y, nrow(w))
  cmn <- check_flag(cmn, "cmn")
  if (!is.null(x)) x <- check_matrix(as_plain_matrix(x, "x"), "x", nrow = nrow(w))
  out <- check_solved(.Call(C_propagate, w, classes$known, classes$c, cmn, x), "propagate")
  list(
    label = factor(classes$names[out$label], classes$names),
    probability = matrix(out$probability, nrow(w), classes$c,
      dimnames = list(names, classes$names)),
    reached = stats::setNames(out$reached == 1L, names)
  )
}

# Labels as codes: list(known = 1..c or 0 for NA, c, names, complete).
check_partial_labels <- function(y, n) {
  if (!is.atomic(y) || !is.null(dim(y)) || length(y) != n) {
    refuse("y", "`y` must be a factor or vector with one label per sample (", n, "), NA where ",
      "unknown; it is ", kind_of(y), " of length ", length(y), ".")
  }
  if (!is.factor(y)) y <- factor(y)
  count <- tabulate(y, nlevels(y))
  if (!any(count > 0L)) refuse("y", "`y` has no label at all.")
  if (any(count == 0L)) {
    refuse("y", "No sample is labelled as ",
      paste0("'", levels(y)[count == 0L], "'", collapse = ", "), ": every class of `y` needs a ",
      "labelled sample. Label one, or use droplevels().")
  }
  known <- as.integer(y)
  known[is.na(known)] <- 0L
  list(known = known, c = nlevels(y), names = levels(y), complete = all(known > 0L))
}
