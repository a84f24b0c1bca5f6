# `n_starts` k-means runs on the rows of z, distinct partitions only (up to the names of the
# clusters), lowest within-cluster sum of squares first, ties as drawn. All randomness is R's: the
# numbers that draw the seeds (src/kmeans.c). NULL if there are fewer distinct rows than clusters.
# `count`: how many rows each one stands for; NULL: one.
kmeans_runs <- function(z, n_clusters, n_starts, max_iter = 100L, count = NULL) {
  n <- nrow(z)
  if (n_clusters == 1L) {
    if (is.null(count)) count <- rep(1, n)
    within <- sum(count * sweep(z, 2L, colSums(count * z) / sum(count))^2)
    return(list(list(cluster = rep(1L, n), withinss = within, iterations = 1L)))
  }
  if (n_clusters == n) return(list(list(cluster = seq_len(n), withinss = 0, iterations = 1L)))
  first <- equal_rows(z)
  if (length(unique(first)) < n_clusters) return(NULL)
  check_starts_bytes(n, n_clusters, n_starts)
  found <- kmeans_starts(list_of(x = z, first, count), n_clusters, n_starts, max_iter)
  labels <- lapply(seq_len(n_starts), function(i) canonical_labels(found$label[, i]))
  best <- order(found$within)
  best <- best[!duplicated(labels[best])]
  lapply(best, function(i) {
    list(cluster = labels[[i]], withinss = found$within[i], iterations = found$iterations[i])
  })
}

# Runs from the start that `init` names, best first; NULL where there are too few distinct rows.
runs_from <- function(init, z, n_clusters, n_starts, max_iter = 100L, count = NULL) {
  if (init == "kmeans") return(kmeans_runs(z, n_clusters, n_starts, max_iter, count))
  if (!is.null(count)) refuse("init", "`init` = \"pca_part\" takes no `weights`; use \"kmeans\".")
  cluster <- parted_clusters(z, n_clusters, max_iter)
  if (max(cluster) == n_clusters) list(list_of(cluster, iterations = 1L,
    withinss = sum(vapply(split(seq_along(cluster), cluster), function(rows) {
      sum_of_squares(z, rows)
    }, 0))))
}

# Does `init` name a start from k-means?
is_kmeans_start <- function(init) is.character(init) && isTRUE(init %in% c("kmeans", "pca_part"))

# Labels of k-means from one start without random numbers (PCA-Part, Su and Dy 2007): the cluster
# with the largest sum of squares is split at the mean of its first principal component, until there
# are n_clusters, then k-means goes on. Fewer labels where no rows are left that differ. Of a wide
# table it sees n coordinates with the same distances, for stats::kmeans() makes many copies.
parted_clusters <- function(z, n_clusters, max_iter = 100L) {
  if (ncol(z) > 2L * nrow(z) && length(z) > 1e6) z <- row_coordinates(z)
  cluster <- rep(1L, nrow(z))
  within <- sum_of_squares(z)
  least <- within * 1e-12
  for (new in seq_len(n_clusters - 1L) + 1L) {
    widest <- which.max(within)
    if (within[widest] <= least) break
    rows <- which(cluster == widest)
    part <- z[rows, , drop = FALSE]
    part <- .Call(C_take, part, NULL, NULL, colMeans(part), NULL)
    beyond <- drop(x_pca(part, 1L, "kmeans_f", loadings = FALSE)$scores) > 0
    cluster[rows[beyond]] <- new
    within[c(widest, new)] <- c(sum_of_squares(part, !beyond), sum_of_squares(part, beyond))
  }
  cluster <- canonical_labels(cluster)
  centres <- rowsum(z, cluster) / tabulate(cluster)
  if (nrow(centres) < n_clusters) return(cluster)
  # An error says that a cluster became empty on the way.
  found <- on_error(suppressWarnings(stats::kmeans(z, centres, max_iter)$cluster),
    function(e) cluster)
  canonical_labels(found)
}

# The sum of squares of the rows of z around their mean.
sum_of_squares <- function(z, rows = NULL) {
  sum(vapply(in_pieces(ncol(z), max(1, floor(1e6 / nrow(z)))), function(at) {
    part <- if (is.null(rows)) z[, at, drop = FALSE] else z[rows, at, drop = FALSE]
    sum(.Call(C_take, part, NULL, NULL, colMeans(part), NULL)^2)
  }, 0))
}

check_starts_bytes <- function(n, n_clusters, n_starts) {
  check_bytes(8 * as.double(n_starts) * n_clusters + 4 * as.double(n_starts) * n,
    "The labels of all k-means starts", "Use a smaller `n_starts`.")
}

# All starts as src/kmeans.c leaves them. points: list(x = a matrix, or a sparse operator whose rows
# are multiplied by `shrink`, first = the first row equal to each, count = weights of the rows).
# `fixed`: rows that are centres and stay; `most`: how many starts go on after a few iterations;
# `draw`: numbers in [0, 1), a column for each start, from which its first centres follow.
kmeans_starts <- function(points, n_clusters, n_starts, max_iter, most = n_starts,
                          fixed = integer(), draw = stats::runif(n_clusters * n_starts)) {
  settings <- list(draw = matrix(draw, n_clusters), max_iter = as.integer(max_iter),
    most = as.integer(most), verbose = FALSE, count = points$count)
  found <- check_solved(.Call(C_kmeans, points$x, points$shrink, points$first, fixed,
    settings), "kmeans")
  if (status_labels[[found$run$status + 1L]] == "numerical") {
    refuse_data("x", "The samples of `x` are too far from each other for k-means: their squared ",
      "distances cannot be held. Rescale `x`, e.g. with scale = TRUE.")
  }
  found
}

# Labels 1, 2, ... by first appearance, so equal partitions have equal labels.
canonical_labels <- function(cluster) match(cluster, unique(cluster))

# Labels given as a start: n of them, none missing, exactly n_clusters distinct ones. Returns
# 1, ..., n_clusters in the order of the levels, or of the sorted values.
check_start_labels <- function(labels, n, n_clusters) {
  if (!is.atomic(labels) || !is.null(dim(labels)) || length(labels) != n || anyNA(labels)) {
    refuse("init", "`init` must name a start, be a matrix with ", n, " rows, or ", n,
      " labels without NA; it is ", deparse_short(labels), ".")
  }
  known <- if (is.factor(labels)) levels(droplevels(labels)) else sort(unique(labels))
  if (length(known) != n_clusters) {
    refuse("init", "`init` has ", length(known), " distinct labels, but `n_clusters` is ",
      n_clusters, ".")
  }
  match(labels, known)
}

# n x c with orthonormal columns: 1/sqrt(n_j) where the sample is in cluster j. Of rows that stand
# for several, as data with weights have them: times the root of how many.
indicator <- function(cluster, n_clusters, count = NULL) {
  if (is.null(count)) count <- rep(1, length(cluster))
  e <- matrix(0, length(cluster), n_clusters)
  size <- drop(rowsum(count, cluster))[as.character(cluster)]
  e[cbind(seq_along(cluster), cluster)] <- sqrt(count) / sqrt(size)
  e
}

# Rows as they are, of a matrix with rows times the root of their weights.
without_weights <- function(z, weights) if (is.null(weights)) z else z / sqrt(weights)
with_weights <- function(z, weights) if (is.null(weights)) z else z * sqrt(weights)
