# Choosing settings without labels.

#' Choose settings without labels
#'
#' Runs a grid ([ufs_grid()]) and chooses the setting whose best `k` features do best by a
#' criterion that needs no labels.
#'
#' Criteria, all "larger is better", computed on the standardised columns:
#' * `"knn_overlap"`: mean share of the 5 nearest neighbours in all features that are also
#'   nearest neighbours in the chosen ones. Ties (within .001) are broken by
#'   `"reconstruction"`.
#' * `"reconstruction"`: minus the leave-one-out error of a ridge regression of all features
#'   on the chosen ones, as a share of their variance.
#' * `"silhouette_all"`: mean silhouette, measured in all features, of the k-means labels found
#'   on the chosen ones.
#' * `"silhouette_chosen"`: the same, measured in the chosen features.
#' * `"seed_agreement"`: mean adjusted Rand index between single k-means runs on the chosen
#'   features.
#' * `"stability"`: [ufs_stability()] with 10 halves. Slow, and repeatable is not right.
#'
#' The objective is not among them: it is not comparable between penalties, and between
#' starts it does not predict accuracy.
#'
#' How well they do: on seven real sets at two values of `k` the mean rank correlation of
#' `silhouette_all` with accuracy was .24 (12 settings of SOCFS), .31 (8 of JSPCA) and .18
#' (4 graphs of the Laplacian score), and its pick lost 4.6, 2.5 and 1.9 points against the best
#' of the grid, where a blind choice loses 6.2, 5.6 and 2.9; `knn_overlap` had .15, .15, .27 and
#' lost 6.9, 4.9, 1.3; `reconstruction` .32, .21, .32 and 5.4, 2.1, 1.2. None is reliable
#' on a single data set. The script is `inst/benchmarks/tune.R`, the vignette "Choosing
#' parameters without labels" has the whole table.
#'
#' @inheritParams ufs_grid
#' @param k Number of features that will be used; of several, the criterion is averaged.
#' @param criterion One or more names; the first decides, all are reported. The default is
#'   `"silhouette_all"` for methods that take a number of clusters or components, and
#'   `"knn_overlap"` otherwise.
#' @param n_clusters Number of clusters for the method, where it has that argument, and for the
#'   criteria that cluster. By default the criteria take the method's `n_clusters` or
#'   `n_components`, each setting its own if the grid varies them.
#' @param n_starts k-means starts per criterion.
#' @return An object of class `c("ufs_tune", "ufs_grid")`: a grid whose `results` have the criteria
#'   as further columns, with `best` (the row chosen), `choice` (its settings) and `fit`.
#' @examples
#' set.seed(1)
#' tuned <- ufs_tune(mtcars, "pca", list(n_components = 1:4), k = 4, criterion = "knn_overlap")
#' tuned
#' selected_features(tuned$fit, 4)
#' @export
ufs_tune <- function(x, method, grid, k, criterion = NULL, ..., n_clusters = NULL, n_starts = 10,
                     checkpoint = NULL) {
  call <- match.call()
  row <- method_row(method)
  if (row$selects == "samples") {
    ufs_abort("argument", "ufs_", method, "() selects samples; the criteria judge features.",
      argument = "method")
  }
  arguments <- names(formals(row$fit))
  fixed <- list(...)
  if (is.null(criterion)) criterion <- default_criterion(method)
  for (name in criterion) check_choice(name, "criterion", names(criteria))
  n_starts <- check_count(n_starts, "n_starts", 2L)
  counts <- c("n_clusters", "n_components")
  varies <- intersect(counts, names(grid))
  if (is.null(n_clusters)) n_clusters <- fixed$n_components
  if ("n_clusters" %in% arguments && !"n_clusters" %in% varies) fixed$n_clusters <- n_clusters
  clusters <- any(vapply(criteria[criterion], `[[`, NA, "clusters"))
  if (clusters && (!is.null(n_clusters) || !length(varies))) {
    n_clusters <- check_count(n_clusters, "n_clusters", 2L, nrow(x) - 1L, "one fewer than the samples")
  }
  # Fits per k only for the methods that solve for their k.
  per_k <- method_row(method)$per_k
  if (!is.null(per_k) && is.null(fixed[[per_k]])) {
    if (length(k) != 1L) {
      ufs_abort("argument", "ufs_", method, "() solves for one k: give one.", argument = "k")
    }
    fixed[[per_k]] <- k
  }
  fits <- do.call(ufs_grid, c(list(x = x, method = method, grid = grid), fixed,
    list(checkpoint = checkpoint, keep_fits = TRUE)))
  k <- vapply(k, check_count, 1L, arg = "k", lower = 1L, upper = fits$p, limit = "the features")
  judged <- judge_settings(fits, x, k, criterion, fixed, n_clusters, varies, n_starts)
  fits$results[names(judged$values)] <- judged$values
  best <- judged$best
  fits$call <- call
  fits$criterion <- criterion
  fits$k <- k
  fits$best <- best
  fits$choice <- fits$settings[best, , drop = FALSE]
  fits$fit <- fits$fits[[best]]
  fits$fits <- NULL
  class(fits) <- c("ufs_tune", "ufs_grid")
  fits
}

# Values of the criteria for every setting of a grid with its fits, and the row of the best by the
# first one. `varies`: which of n_clusters and n_components the grid varies.
judge_settings <- function(fits, x, k, criterion, fixed, n_clusters, varies, n_starts) {
  z <- expand_columns(as_ufs_matrix(x, TRUE, TRUE, warn = FALSE))
  context <- list(z = z, x = x, method = fits$method, fixed = fixed, n_starts = n_starts)
  wanted <- unique(c(criterion, if (criterion[1L] == "knn_overlap") "reconstruction"))
  for (name in wanted) context <- criteria[[name]]$prepare(context)
  usable <- which(fits$results$status != "error")
  if (!length(usable)) {
    ufs_abort("argument", "All settings failed, first with: ", fits$results$error[1L],
      argument = "grid")
  }
  random <- any(vapply(criteria[wanted], `[[`, NA, "random"))
  seed <- draw_seeds(1L, random)[[1L]]
  values <- list()
  for (name in wanted) {
    value <- rep(NA_real_, nrow(fits$settings))
    for (i in usable) {
      context$args <- setting_args(fits$settings, i)
      context$n_clusters <- if (is.null(n_clusters) && length(varies)) {
        context$args[[varies[1L]]]
      } else {
        n_clusters
      }
      # The same random numbers for every setting: they differ only in what they chose.
      value[i] <- with_seed(seed, mean(vapply(k, function(size) {
        context$k <- size
        criteria[[name]]$value(context, suppressMessages(
          selected_features(fits$fits[[i]], size, as = "index")))
      }, 0)))
    }
    values[[name]] <- value
  }
  first <- values[[criterion[1L]]]
  if (all(is.na(first))) {
    ufs_abort("argument", "The criterion \"", criterion[1L], "\" could not be computed.",
      argument = "criterion")
  }
  best <- which.max(first)
  if (criterion[1L] == "knn_overlap") {
    close <- which(first >= max(first, na.rm = TRUE) - .001)
    best <- close[which.max(values$reconstruction[close])]
  }
  list(values = values, best = best)
}

# The criterion that decides if none is named.
default_criterion <- function(method) {
  arguments <- names(formals(registry()[[method]]$fit))
  if (any(c("n_clusters", "n_components") %in% arguments)) "silhouette_all" else "knn_overlap"
}

# The standardised matrix with all p columns, constant ones zero.
expand_columns <- function(data) {
  z <- matrix(0, data$n, data$p)
  z[, data$keep] <- data$x
  z
}

# Each criterion: what it prepares once, its value for chosen columns, whether it needs a
# number of clusters and random numbers.
criteria <- list(
  knn_overlap = list(clusters = FALSE, random = FALSE,
    prepare = function(context) {
      context$near <- nearest(context$z, knn_size(context$z))
      context
    },
    value = function(context, columns) {
      neighbour_overlap(context$near, nearest(context$z[, columns, drop = FALSE], knn_size(context$z)))
    }),
  reconstruction = list(clusters = FALSE, random = FALSE,
    prepare = function(context) context,
    value = function(context, columns) -loo_ridge(context$z, columns)),
  silhouette_all = list(clusters = TRUE, random = TRUE,
    prepare = function(context) {
      context$distance <- stats::dist(context$z)
      context
    },
    value = function(context, columns) {
      silhouette_of(cluster_on(context, columns), context$distance)
    }),
  silhouette_chosen = list(clusters = TRUE, random = TRUE,
    prepare = function(context) context,
    value = function(context, columns) {
      silhouette_of(cluster_on(context, columns), stats::dist(context$z[, columns, drop = FALSE]))
    }),
  seed_agreement = list(clusters = TRUE, random = TRUE,
    prepare = function(context) context,
    value = function(context, columns) {
      z <- context$z[, columns, drop = FALSE]
      labels <- lapply(seq_len(context$n_starts), function(i) {
        kmeans_runs(z, context$n_clusters, 1L)[[1L]]$cluster
      })
      pair <- utils::combn(length(labels), 2L)
      mean(apply(pair, 2L, function(ij) {
        if (is.null(labels[[ij[1L]]]) || is.null(labels[[ij[2L]]])) return(NA_real_)
        table_ari(unclass(table(labels[[ij[1L]]], labels[[ij[2L]]])))
      }), na.rm = TRUE)
    }),
  stability = list(clusters = FALSE, random = TRUE,
    prepare = function(context) context,
    value = function(context, columns) {
      fixed <- context$fixed[setdiff(names(context$fixed), c("init", "graph"))]
      do.call(ufs_stability, c(list(x = context$x, method = context$method, k = context$k,
        n_resamples = 10L), context$args, fixed))$stability
    })
)

cluster_on <- function(context, columns) {
  runs <- kmeans_runs(context$z[, columns, drop = FALSE], context$n_clusters, context$n_starts)
  if (is.null(runs)) NULL else runs[[1L]]$cluster
}

# Mean silhouette width: (b - a) / max(a, b) with a the mean distance to the own cluster and b to
# the nearest other one; 0 for clusters of one.
silhouette_of <- function(cluster, distance) {
  if (is.null(cluster) || length(unique(cluster)) < 2L) {
    return(NA_real_)
  }
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

knn_size <- function(z) min(5L, nrow(z) - 1L)

# Indices of the k nearest other rows, k x n: one column per sample.
nearest <- function(z, k) .Call(C_graph_knn, z, as.integer(k))$index

# Mean share of common neighbours.
neighbour_overlap <- function(a, b) {
  mean(vapply(seq_len(ncol(a)), function(i) mean(a[, i] %in% b[, i]), 0))
}

# Leave-one-out error of the ridge regression of all columns on the chosen ones (ridge 0.1 times
# the mean eigenvalue), divided by the total sum of squares. Residuals by the hat matrix.
loo_ridge <- function(z, columns) {
  chosen <- z[, columns, drop = FALSE]
  s <- svd(chosen, nv = 0L)
  keep <- s$d > 1e-10 * max(s$d, .Machine$double.xmin)
  if (!any(keep)) {
    return(1)
  }
  u <- s$u[, keep, drop = FALSE]
  d2 <- s$d[keep]^2
  shrink <- d2 / (d2 + .1 * sum(d2) / nrow(z))
  fitted <- u %*% (shrink * crossprod(u, z))
  leverage <- rowSums(sweep(u^2, 2L, shrink, "*"))
  sum(((z - fitted) / (1 - leverage))^2) / sum(z^2)
}

#' @export
print.ufs_tune <- function(x, ...) {
  cat("<ufs_tune> ufs_", x$method, ", ", nrow(x$settings), " settings, by ", x$criterion[1L],
    " at k = ", paste(x$k, collapse = ", "), "\n", sep = "")
  cat("  chosen: ", paste(names(x$choice), vapply(x$choice, function(v) format(unlist(v)), ""),
    sep = " = ", collapse = ", "), "\n", sep = "")
  table <- as.data.frame(x)
  table <- table[order(-table[[x$criterion[1L]]]), c(names(x$settings), "status", unique(c(x$criterion,
    intersect("reconstruction", names(table)))))]
  print(utils::head(table, 8L), digits = 3L, row.names = FALSE)
  if (nrow(table) > 8L) cat("  ... and", nrow(table) - 8L, "more\n")
  invisible(x)
}

#' @export
plot.ufs_tune <- function(x, y = NULL, value = x$criterion[1L], ...) {
  plot.ufs_grid(x, value = value, ...)
}
