# Nearest neighbours of samples, for whoever compares neighbourhoods before and after a selection.

knn_size <- function(z) min(5L, nrow(z) - 1L)

# Indices of the k nearest other rows, k x n: one column per sample.
nearest <- function(z, k) .Call(C_graph_knn, z, as.integer(k))$index

# Squared distances of the rows of x to those of `to`, up to rounding.
square_distances <- function(x, to) outer(rowSums(x^2), rowSums(to^2), "+") - 2 * tcrossprod(x, to)

# Mean share of common neighbours.
neighbour_overlap <- function(a, b) {
  mean(vapply(seq_len(ncol(a)), function(i) mean(a[, i] %in% b[, i]), 0))
}
