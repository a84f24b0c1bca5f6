#' Accuracy, NMI and ARI of a clustering
#'
#' Compares cluster labels with known classes. Use it to judge a selection after the fact: cluster
#' the samples on the chosen features, and see how well the clusters agree with the classes.
#'
#' All three measures are computed from the table of clusters by classes:
#' * `accuracy` is the share of samples that agree under the best one-to-one match of clusters to
#'   classes, which the Hungarian method of package clue finds;
#' * `nmi`, the normalised mutual information, is the mutual information divided by the geometric
#'   mean of the two entropies;
#' * `ari`, the adjusted Rand index, is the Rand index corrected for chance (Hubert and Arabie,
#'   1985). It is 0 on average for random labels and may be negative.
#'
#' All three are 1 if the clusters are the classes.
#'
#' @param cluster Cluster labels, a vector of length n.
#' @param class Known classes, the same length. Samples with a missing class are left out.
#' @return A named numeric vector `accuracy`, `nmi`, `ari`.
#' @references Hubert, L. and Arabie, P. (1985) Comparing partitions. *Journal of
#'   Classification* **2**, 193-218. \doi{10.1007/BF01908075}
#' @examples
#' if (requireNamespace("clue", quietly = TRUE)) {
#'   set.seed(1)
#'   ufs_cluster_metrics(kmeans(iris[, 1:4], 3)$cluster, iris$Species)
#' }
#' @export
ufs_cluster_metrics <- function(cluster, class) {
  check_given(cluster, class)
  if (length(cluster) != length(class)) {
    refuse("class", "`cluster` has length ", length(cluster), " and `class` ", length(class), ".")
  }
  if (!is.atomic(cluster) || !is.atomic(class)) {
    refuse("cluster", "`cluster` and `class` must be vectors or factors.")
  }
  known <- !is.na(class)
  if (anyNA(cluster[known]) || !any(known)) {
    refuse("cluster", "`cluster` has missing values, or every class is missing.")
  }
  counts <- unclass(table(as.character(cluster[known]), as.character(class[known])))
  c(accuracy = matched_accuracy(counts), nmi = table_nmi(counts), ari = table_ari(counts))
}

matched_accuracy <- function(counts) {
  if (length(counts) == 1L) return(1)
  check_installed("clue", "to match clusters with classes")
  # solve_LSAP wants no more rows than columns.
  if (nrow(counts) > ncol(counts)) counts <- t(counts)
  match <- clue::solve_LSAP(counts, maximum = TRUE)
  sum(counts[cbind(seq_along(match), as.integer(match))]) / sum(counts)
}

table_nmi <- function(counts) {
  joint <- counts / sum(counts)
  row <- rowSums(joint)
  col <- colSums(joint)
  entropy <- function(p) -sum(p[p > 0] * log(p[p > 0]))
  scale <- sqrt(entropy(row) * entropy(col))
  # One cluster and one class agree perfectly; one of them alone says nothing.
  if (scale == 0) return(as.numeric(length(row) == length(col)))
  (entropy(row) + entropy(col) - entropy(joint)) / scale
}

table_ari <- function(counts) {
  pairs <- function(k) sum(k * (k - 1) / 2)
  n <- sum(counts)
  if (n < 2) return(1)
  same <- pairs(counts)
  row <- pairs(rowSums(counts))
  col <- pairs(colSums(counts))
  expected <- row * col / pairs(n)
  most <- (row + col) / 2
  if (most == expected) 1 else (same - expected) / (most - expected)
}
