#' Spread a few labels over a graph
#'
#' Gives every node of a graph a label when only some of them have one, by letting each unlabelled
#' node take the average class probabilities of its neighbours. Use it when labels are scarce and
#' similar samples are likely to belong together.
#'
#' The probabilities minimise `tr(F' L F)`, where `L = diag(rowSums(w)) - w`, with the rows of F
#' that belong to labelled nodes held fixed (harmonic propagation; Zhu, Ghahramani and Lafferty
#' 2003). No probability is off by more than 1e-9; of a matrix that is mostly filled it takes
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
#' @return A list of class `"ufs_propagation"`: `label` (factor), `probability` (n x classes, rows
#'   sum to 1) and `reached` (`FALSE` for nodes without a path to a labelled one).
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
  watch_over("ufs_propagate()")
  graph <- propagate_weights(w)
  n <- graph$n
  classes <- check_partial_labels(y, n)
  cmn <- check_flag(cmn, "cmn")
  watch_says(function(step) paste(step, "of", classes$c, "classes done"))
  if (!is.null(x)) x <- {
    check_matrix(as_plain_matrix(check_door(x, "ufs_propagate()"), "x"), "x", nrow = n)
  }
  out <- check_solved(.Call(C_propagate, graph$w, classes$known, classes$c, cmn, x), "propagate")
  if (out$run$counters[["error"]] > 1e-6) {
    ufs_warn("max_iter", "Some nodes hang together with labelled ones by edges so weak that their ",
      "probabilities are not exact.")
  }
  structure(list(
    label = factor(classes$names[out$label], classes$names),
    probability = matrix(out$probability, n, classes$c,
      dimnames = list(graph$names, classes$names)),
    reached = stats::setNames(out$reached == 1L, graph$names)
  ), n_known = sum(classes$known > 0L), class = c("ufs_propagation", "ufs_result"))
}

#' @export
print_lines.ufs_propagation <- function(x) {
  known <- attr(x, "n_known")
  found <- table(x$label)
  cat_line("<ufs_propagation> ", count_words(length(x$label), "node"), ", ", known, " with labels")
  cat_line("  labels       ", paste0(names(found), " (", found, ")", collapse = ", "))
  sure <- apply(x$probability, 1L, max)
  cat_line("  probability  of the label given: ", signif(stats::median(sure), 3L),
    " in the median, at least ", signif(min(sure), 3L))
  if (!all(x$reached)) {
    cat_line("  not reached  ", count_words(sum(!x$reached), "node"), ", without a way to a label")
  }
}

# list(w, n, names): w as C_propagate takes it, by its edges if at most a quarter of it is filled.
propagate_weights <- function(w) {
  if (inherits(w, "ufs_graph")) {
    check_graph(w)
    return(list(w = unclass(w$weights), n = w$n, names = w$samples))
  }
  names <- rownames(w)
  if (is.data.frame(w)) refuse("w", "`w` must be a graph, as ufs_graph() makes it of a table, or ",
    "a matrix of similarities, not ", kind_of(w), ".")
  if (!inherits(w, "Matrix")) w <- check_matrix(w, "w")
  edges <- edges_of(w, "w")
  full <- is.matrix(w) && 4 * length(edges$value) > length(w)
  list(w = if (full) w else edges[c("start", "index", "value")], n = nrow(w), names = names)
}

# Labels as codes: list(known = 1..c or 0 for NA, c, names, complete).
check_partial_labels <- function(y, n) {
  if (!is.atomic(y) || !is.null(dim(y)) || length(y) != n) {
    refuse("y", "`y` must be a factor or vector with one label per sample (", n, "), NA where ",
      "unknown; it is ", kind_of(y), " of length ", length(y), ".")
  }
  y <- plain_factor(y)
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
