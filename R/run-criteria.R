# Criteria without labels, and the best setting of a grid by them: for ufs_tune(), ufs_compare().

# Values of the criteria for every setting of a grid with its fits, and the row of the best by the
# first one. `varies` says which of n_clusters and n_components the grid varies.
judge_settings <- function(fits, x, k, criterion, n_clusters, varies = character()) {
  data <- as_ufs_operator(open_quietly(x), keep_constant = TRUE)
  context <- list(z = data$x)
  wanted <- unique(c(criterion, if (criterion[1L] == "knn_overlap") "reconstruction"))
  for (name in wanted) context <- criteria[[name]]$prepare(context)
  usable <- which(fits$results$status != "error")
  if (!length(usable)) refuse("grid", "All settings failed, first with: ", fits$results$error[1L])
  seed <- draw_seeds(1L, any(vapply(criteria[wanted], `[[`, NA, "random")))[[1L]]
  values <- lapply(stats::setNames(nm = wanted), function(name) {
    value <- rep(NA_real_, nrow(fits$settings))
    for (i in usable) {
      context$n_clusters <- if (is.null(n_clusters) && length(varies)) {
        setting_args(fits$settings, i)[[varies[1L]]]
      } else n_clusters
      # The same random numbers for every setting: they differ only in what they chose.
      value[i] <- with_seed(seed, mean(vapply(k, function(size) {
        context$k <- size
        criteria[[name]]$value(context, columns_of(data, suppressMessages(
          selected_features(fits$fits[[i]], size, as = "index"))))
      }, 0)))
    }
    value
  })
  first <- values[[criterion[1L]]]
  if (all(is.na(first))) {
    refuse("criterion", "The criterion \"", criterion[1L], "\" could not be computed.")
  }
  best <- which.max(first)
  if (criterion[1L] == "knn_overlap") {
    close <- which(first >= max(first, na.rm = TRUE) - .001)
    best <- close[which.max(values$reconstruction[close])]
  }
  list_of(values, best, compared = length(context$rows))
}

# Neighbours are compared among some of very many samples, spread over all: their mean needs no
# more. NULL: among all.
neighbour_rows <- function(z, most = 4000L) {
  from <- most_rows(10000L)
  if (nrow(z) > from) spread(nrow(z), min(most, from))
}

# The criterion that decides if none is named.
default_criterion <- "knn_overlap"

# Each criterion: what it prepares once from `z`, the standardised columns (a matrix or an operator,
# constant columns zero), its value for chosen columns, whether it needs clusters or random numbers.
criteria <- list(
  knn_overlap = list(clusters = FALSE, random = FALSE,
    prepare = function(context) {
      context$rows <- neighbour_rows(context$z)
      context$kept <- neighbours_kept(context$z, rows = context$rows)
      context
    },
    value = function(context, columns) context$kept(columns)),
  reconstruction = list(clusters = FALSE, random = FALSE, prepare = identity,
    value = function(context, columns) -loo_ridge(context$z, columns)),
  silhouette_all = list(clusters = TRUE, random = TRUE,
    prepare = function(context) {
      check_bytes(12 * as.double(nrow(context$z))^2, "The distances between all samples",
        "Choose another `criterion`, or give fewer samples.")
      context$distance <- stats::dist(sample_points(context$z))
      context
    },
    value = function(context, columns) {
      runs <- kmeans_runs(x_columns(context$z, columns), context$n_clusters, 10L)
      silhouette_of(if (!is.null(runs)) runs[[1L]]$cluster, context$distance)
    })
)

# Mean silhouette width: (b - a) / max(a, b) with a the mean distance to the own cluster and b to
# the nearest other one; 0 for clusters of one.
silhouette_of <- function(cluster, distance) {
  if (is.null(cluster) || length(unique(cluster)) < 2L) return(NA_real_)
  size <- tabulate(cluster)
  sums <- rowsum(as.matrix(distance), cluster)
  own <- cbind(cluster, seq_along(cluster))
  a <- sums[own] / pmax(size[cluster] - 1L, 1L)
  means <- sums / size
  means[own] <- Inf
  b <- apply(means, 2L, min)
  width <- (b - a) / pmax(a, b)
  width[size[cluster] == 1L | !is.finite(width)] <- 0
  mean(width)
}

# Leave-one-out error of the ridge regression of all columns on the chosen ones (ridge 0.1 times
# the mean eigenvalue), divided by the total sum of squares. Residuals by the hat matrix, a
# block of columns at a time.
loo_ridge <- function(z, columns) {
  s <- svd(x_columns(z, columns), nv = 0L)
  keep <- s$d > 1e-10 * max(s$d, .Machine$double.xmin)
  if (!any(keep)) return(1)
  u <- s$u[, keep, drop = FALSE]
  d2 <- s$d[keep]^2
  shrink <- d2 / (d2 + .1 * sum(d2) / nrow(z))
  keep_share <- 1 - rowSums(sweep(u^2, 2L, shrink, "*"))
  error <- 0
  for (j in in_pieces(ncol(z), max(1, floor(block_bytes() / (8 * nrow(z)))))) {
    block <- x_columns(z, j)
    error <- error + sum(((block - u %*% (shrink * crossprod(u, block))) / keep_share)^2)
  }
  error / sum(x_ss(z))
}

# ---- clusters against classes --------------------------------------------------------------------

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
  watch_over("ufs_cluster_metrics()")
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
  # The cube of the number of classes, at worst.
  watch_says(function(step) paste("matching", count_words(nrow(counts), "cluster"), "with classes"),
    are_long(4 * ncol(counts)^3))
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
  row <- pairs(rowSums(counts))
  col <- pairs(colSums(counts))
  expected <- row * col / pairs(n)
  most <- (row + col) / 2
  if (most == expected) 1 else (pairs(counts) - expected) / (most - expected)
}

# ---- classifiers of ufs_compare() ----------------------------------------------------------------

# Classifiers of the comparison: those of suggested packages by name, the user's as functions.

predict_classes <- function(classifier, x, y, newx, name = "") {
  y <- droplevels(y)
  if (nlevels(y) == 1L) return(rep(levels(y), nrow(newx)))
  who <- if (nzchar(name)) paste0("Classifier '", name, "'") else "A classifier"
  out <- on_error(as.character(classifier(x, y, newx)), function(e) {
    if (inherits(e, "ufs_error")) stop(e)
    refuse("classifiers", who, " failed: ", conditionMessage(e))
  })
  if (length(out) != nrow(newx)) {
    refuse("classifiers", who, " returned ", length(out), " predictions for ", nrow(newx),
      " samples.")
  }
  out
}

check_classifiers <- function(classifiers) {
  known <- list(
    # The machine draws no random numbers, and minds no order of columns: of equal sets of columns
    # it is trained once. Trees are not, for ties go to the first column.
    svm = list("e1071", structure(function(x, y, newx) {
      stats::predict(e1071::svm(x, y, kernel = "linear", cost = 100, scale = FALSE,
        fitted = FALSE), newx)
    }, by_set = TRUE)),
    tree = list("rpart", function(x, y, newx) {
      grow_tree(x, y, newx, rpart::rpart.control(xval = 0))
    }),
    full_tree = list("rpart", function(x, y, newx) {
      grow_tree(x, y, newx, rpart::rpart.control(minsplit = 10, minbucket = 1, cp = 0, xval = 0))
    }),
    knn = list("class", function(x, y, newx) class::knn(x, newx, y, k = min(5L, nrow(x))))
  )
  if (is.function(classifiers)) classifiers <- list(classifier = classifiers)
  if (is.list(classifiers) && length(classifiers) && all(vapply(classifiers, is.function, NA)) &&
      !is.null(names(classifiers))) {
    return(classifiers)
  }
  if (!is.character(classifiers) || !length(classifiers) || !all(classifiers %in% names(known))) {
    refuse("classifiers", "`classifiers` must be among ",
      paste0("\"", names(known), "\"", collapse = ", "), " or a named list of functions.")
  }
  for (name in classifiers) {
    check_installed(known[[name]][[1L]], paste0("for the classifier \"", name, "\""))
  }
  lapply(known[unique(classifiers)], `[[`, 2L)
}

grow_tree <- function(x, y, newx, control) {
  frame <- function(block) stats::setNames(as.data.frame(block), paste0("v", seq_len(ncol(block))))
  tree <- rpart::rpart(y ~ ., data = cbind(y = y, frame(x)), method = "class", control = control)
  stats::predict(tree, frame(newx), type = "class")
}
