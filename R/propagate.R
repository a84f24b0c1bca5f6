#' Harmonic label propagation on a weighted graph
#'
#' Spreads a few labels over a graph: the unlabelled nodes take the class probabilities
#' that minimise `tr(F' L F)`, `L = diag(rowSums(w)) - w`, with the labelled ones fixed,
#' that is the average of their neighbours (Zhu, Ghahramani and Lafferty 2003).
#'
#' Solves `L_uu F_u = W_ul F_l` by Cholesky, `u^3/3` flops for `u` unlabelled nodes. Edges
#' of at most 1e-12 times the largest weight are dropped. Nodes without a path to a
#' labelled one get the class shares of the labelled nodes as probabilities, and the label
#' of the nearest labelled sample in `x` (Euclidean, the first of equals), or without `x`
#' the most frequent class.
#'
#' @param w Symmetric n x n matrix of non-negative weights (matrix, Matrix, or a graph of
#'   the package); its diagonal does not matter.
#' @param y n labels, `NA` = unknown: a factor or a vector that becomes one. Every class
#'   needs a labelled node.
#' @param cmn Class mass normalisation: class c is scaled to the mass (labelled members of
#'   c) + 1 before the largest probability decides, and the probabilities of a node again
#'   to sum 1. Helps if the labelled nodes represent the class sizes.
#' @param x Matrix with n rows, for nodes that cannot be reached. No scaling is done.
#' @return A list: `label` (factor), `probability` (n x classes, rows sum to 1) and
#'   `reached` (`FALSE` for nodes without a path to a labelled one).
#' @references Zhu, Ghahramani, Lafferty (2003) Semi-supervised learning using Gaussian
#'   fields and harmonic functions. ICML, 912-919.
#' @examples
#' # A path of five nodes, labelled at its ends.
#' w <- matrix(0, 5, 5)
#' w[cbind(1:4, 2:5)] <- 1
#' ufs_propagate(w + t(w), c("a", NA, NA, NA, "b"))
#' @export
ufs_propagate <- function(w, y, cmn = FALSE, x = NULL) {
  if (inherits(w, "ufs_graph") || inherits(w, "Matrix")) w <- as.matrix(w)
  names <- rownames(w)
  w <- check_matrix(w, "w", ncol = if (is.matrix(w)) nrow(w) else NA)
  if (any(w < 0) || max(abs(w - t(w))) > 1e-8 * max(w, .Machine$double.xmin)) {
    ufs_abort("argument", "`w` must be symmetric and must not have negative entries.",
      argument = "w")
  }
  classes <- check_partial_labels(y, nrow(w))
  cmn <- check_flag(cmn, "cmn")
  if (!is.null(x)) x <- check_matrix(as_plain_matrix(x, "x"), "x", nrow = nrow(w))
  out <- .Call(C_propagate, w, classes$known, classes$c, cmn, x)
  check_lapack(out$run$lapack, "propagate")
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
    ufs_abort("argument", "`y` must be a factor or vector with one label per sample (", n,
      "), NA where unknown; it is ", kind_of(y), " of length ", length(y), ".",
      argument = "y")
  }
  if (!is.factor(y)) y <- factor(y)
  count <- tabulate(y, nlevels(y))
  if (!any(count > 0L)) {
    ufs_abort("argument", "`y` has no label at all.", argument = "y")
  }
  if (any(count == 0L)) {
    ufs_abort("argument", "No sample is labelled as ",
      paste0("'", levels(y)[count == 0L], "'", collapse = ", "),
      ": every class of `y` needs a labelled sample. Label one, or use droplevels().",
      argument = "y")
  }
  known <- as.integer(y)
  known[is.na(known)] <- 0L
  list(known = known, c = nlevels(y), names = levels(y), complete = all(known > 0L))
}
