#' Ranking by k-means labels and F statistics
#'
#' Clusters the samples on all features by k-means and ranks each feature by how well it separates
#' the clusters, by the F statistic of a one-way analysis of variance. It is the cheap rival of
#' every selector based on clustering: a method that does not beat it does not repay its cost.
#'
#' The F statistic is `(B / (c - 1)) / (W / (n - c))` with the between- and within-cluster sums of
#' squares of the feature. Starts are drawn by R, so `set.seed()` fixes the result.
#'
#' @param x The data: a numeric matrix, data frame or Matrix with n samples (rows) and p features
#'   (columns). [ufs_data] describes sparse data, data on disk and other forms.
#' @param n_clusters The number of clusters c, from 2 to n - 1.
#' @param n_starts The number of k-means starts. The run with the lowest within-cluster sum of
#'   squares is kept.
#' @param k The number of features to choose, a whole number, or `NULL` (the default) to leave it
#'   open. It changes no score; [selected_features()], [predict.ufs()], `print()`, `plot()` use it.
#' @param center,scale Should columns be centred and standardised for k-means? F depends on neither.
#' @param control Iteration limits, made by [ufs_control()]: `max_iter` (default 100) of k-means.
#' @param init The clusters: `"kmeans"` for those of k-means from `n_starts` random starts;
#'   `"pca_part"` for those from one start without random numbers (Su and Dy 2007): the cluster with
#'   the largest sum of squares is split at the mean of its first principal component, until there
#'   are `n_clusters`; or n labels with `n_clusters` distinct values, in the place of k-means.
#' @param ... Arguments of [ufs_data()] for `x`, such as `assay` or `samples`; others are errors.
#' @return A fit of class `c("ufs_kmeans_f", "ufs")`; the score is the F statistic. `solution` holds
#'   `cluster`, named by the samples, and `within_ss`, the within-cluster sum of squares. It is an
#'   error of class `ufs_error_input` if `x` has fewer distinct rows than clusters.
#' @references Su, T. and Dy, J. G. (2007) In search of deterministic methods for initializing
#'   K-means and Gaussian mixture clustering. *Intelligent Data Analysis* **11**(4), 319-338.
#'   \doi{10.3233/IDA-2007-11402}
#' @seealso [selected_features()], [ufs_compare()]
#' @examples
#' set.seed(1)
#' fit <- ufs_kmeans_f(iris[, 1:4], n_clusters = 3)
#' feature_scores(fit)
#' selected_features(fit, k = 2)
#'
#' # The clusters that the ranking rests on
#' table(fit$solution$cluster, iris$Species)
#' @export
ufs_kmeans_f <- function(x, n_clusters, ..., n_starts = 20, k = NULL, center = TRUE, scale = TRUE,
                         control = ufs_control(), init = "kmeans") {
  run_fit("kmeans_f", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_kmeans_f <- function(data, control, n_clusters, n_starts, init, ...) {
  check_count(control$max_iter, "max_iter", 1L)
  n_clusters <- check_clusters(n_clusters, data$n)
  named <- is_kmeans_start(init)
  if (named) {
    rows <- if (is.matrix(data$x)) data$x else leading_scores(data$x, n_clusters)
    rows <- without_weights(rows, data$weights)
    runs <- runs_from(init, rows, n_clusters, n_starts, control$max_iter, data$weights)
    if (is.null(runs)) {
      refuse_data("x", "`x` has fewer than n_clusters = ", n_clusters, " distinct rows: ",
        "k-means cannot make that many clusters.")
    }
    best <- c(runs[[1L]], n_scores = if (is_operator(data$x)) ncol(rows))
  } else {
    cluster <- check_start_labels(init, data$n, n_clusters)
    own <- x_cross(data$x, indicator(cluster, max(cluster), data$weights))
    best <- list(cluster = cluster, withinss = sum(x_ss(data$x)) - sum(own^2), iterations = 0L)
  }
  list(params = list_of(n_clusters, n_starts, n_scores = best$n_scores,
      init = if (named) init else "given"),
    feature_scores = f_statistic(data$x, best$cluster, data$weights),
    solution = list(cluster = stats::setNames(best$cluster, data$samples),
      within_ss = best$withinss),
    iterations = best$iterations)
}

# One-way F statistic of every column for a grouping; 4np flops. With `weights` the rows of x are
# times their roots.
f_statistic <- function(x, cluster, weights = NULL) {
  count <- if (is.null(weights)) rep(1, nrow(x)) else weights
  n <- sum(count)
  used <- sort(unique(cluster))
  size <- drop(rowsum(count, cluster))
  if (is.matrix(x) && is.null(weights)) {
    between <- colSums(sweep(rowsum(x, cluster) / size, 2L, colMeans(x))^2 * size)
    total <- (n - 1) * judge_moments(.Call(C_moments, x), TRUE)$sd^2
  } else if (is.matrix(x)) {
    # From the mean, for differences of squares lose digits.
    x <- x - outer(sqrt(count), colSums(x * sqrt(count)) / n)
    between <- colSums(rowsum(x * sqrt(count), cluster)^2 / size)
    total <- colSums(x^2)
  } else {
    sums <- x_cross(x, outer(cluster, used, `==`) * sqrt(count))
    between <- drop(sums^2 %*% (1 / size)) - rowSums(sums)^2 / n
    total <- x_ss(x) - rowSums(sums)^2 / n
  }
  within <- pmax(total - between, 0)
  # A feature that is constant inside every cluster separates them perfectly.
  f <- (between / (length(used) - 1)) / (within / (n - length(used)))
  replace(f, within <= total * 1e-14, .Machine$double.xmax)
}

register("kmeans_f", ufs_kmeans_f,
  solve = solve_kmeans_f,
  arguments = list(n_starts = a_count(1L)),
  spends = TRUE,
  prepare = function(x, args) {
    # Neither the clusters nor F depend on where zero is, but products far from it lose digits.
    data <- as_ufs_operator(x, TRUE, args$scale)
    if (!check_flag(args$center, "center")) data$center <- FALSE
    data
  },
  control = list(max_iter = 100L),
  advice = "situational",
  group = "baseline", deterministic = FALSE,
  title = "k-means labels, then F statistic",
  cost = "n p c per k-means iteration",
  constraints = "weights"
)
