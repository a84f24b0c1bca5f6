#' Plain mean of several rankings
#'
#' Combines several fits of the same features into one ranking by the mean of their scores or ranks.
#' Use it when you do not want to rely on one method; any more elaborate ensemble has to beat it.
#'
#' With `by = "score"` the scores of each fit are shifted to start at 0 if some are negative,
#' divided by their sum, and averaged. With `by = "rank"` the mean of the ranks (1 = best, ties
#' averaged) is the `statistic`, and the score is the number of features + 1 minus it. A feature
#' constant for all fits has score `NA`; one constant for some counts there with the least score.
#'
#' @param fits A list of fits that select features of the same data, or a fit of [ufs_blfse()],
#'   whose base results are then averaged.
#' @param by Which mean to take: `"score"` or `"rank"`.
#' @param diversify Should `k` features that differ be chosen from the best of the mean, by
#'   [ufs_diversify()]? Besides `TRUE` it can be a list of further arguments of that function, such
#'   as `list(strength = 1)`.
#' @param x,k With `diversify`, the data of the fits and the number of features to choose.
#' @return A fit of class `c("ufs_aggregate", "ufs")`; `solution$scores` holds the normalised
#'   scores, one row per fit. With `diversify` a fit of class `c("ufs_diversify", "ufs")`.
#' @seealso [ufs_consensus()], [ufs_blfse()]
#' @examples
#' set.seed(1)
#' x <- iris[, 1:4]
#' fits <- list(ufs_variance(x), ufs_pca(x, 2), ufs_kmeans_f(x, 3))
#' feature_scores(ufs_aggregate(fits))
#' selected_features(ufs_aggregate(fits, by = "rank"), 2)
#' @export
ufs_aggregate <- function(fits, by = c("score", "rank"), diversify = FALSE, x = NULL, k = NULL) {
  check_given(fits)
  watch_over("ufs_aggregate()")
  if (is.list(diversify) || check_flag(diversify, "diversify")) {
    return(diversified_mean(fits, by, x, k, if (is.list(diversify)) diversify, match.call()))
  }
  start <- proc.time()[[3L]]
  call <- match.call()
  by <- check_choice(by, "by")
  if (inherits(fits, "ufs_blfse")) {
    check_fit(fits)
    like <- fits
    scores <- fits$solution$scores
    methods <- rep_len(like$params$base, nrow(scores))
    missing <- seq_len(like$p) %in% like$constant
  } else {
    if (!is.list(fits) || inherits(fits, "ufs") || !length(fits)) {
      refuse("fits", "`fits` must be a list of fits, or a fit of ufs_blfse().")
    }
    like <- fits[[1L]]
    if (inherits(like, "ufs")) check_fit(like)
    scores <- scores_of_fits(fits, if (inherits(like, "ufs")) like$p else 0L)
    same <- vapply(fits, function(fit) {
      identical(fit$names$features, like$names$features)
    }, NA)
    if (!all(same)) refuse("fits", "`fits` must be of the same features in the same order.")
    methods <- vapply(fits, `[[`, "", "method")
    missing <- Reduce(`&`, lapply(fits, function(fit) is.na(unname(fit$feature_scores))))
  }
  keep <- which(!missing)
  data <- list(n = like$n, p = like$p, keep = keep, constant = which(missing),
    features = like$names$features, samples = like$names$samples, named = like$names$named,
    repeated = like$names$repeated,
    center = FALSE, scale = FALSE)
  scores <- normalise_scores(unname(scores)[, keep, drop = FALSE])
  ranks <- mean_ranks(scores)
  new_ufs("aggregate", call, list(data = data, control = resolve_control(ufs_control()),
    params = list(by = by, methods = methods),
    feature_scores = if (by == "score") colMeans(scores) else length(keep) + 1 - ranks,
    statistic = if (by == "rank") expand_features(ranks, data, NA_real_),
    solution = list(scores = t(expand_features(t(scores), data))),
    elapsed = proc.time()[[3L]] - start))
}

# The mean, and then a choice that differs.
diversified_mean <- function(fits, by, x, k, args, call) {
  for (name in c("x", "k")) {
    if (is.null(get(name))) {
      refuse(name, "`diversify` needs `x`, the data of the fits, and `k`, how many to choose.")
    }
  }
  unknown <- setdiff(names(args), names(formals(ufs_diversify))[-(1:3)])
  if (length(args) && (is.null(names(args)) || length(unknown))) {
    refuse("diversify", "`diversify` must be TRUE, FALSE or a named list of arguments of ",
      "ufs_diversify()", if (length(unknown)) paste0("; it has `", unknown[1L], "`"), ".")
  }
  fit <- do.call(ufs_diversify, c(list(fit = ufs_aggregate(fits, by), x = x, k = k), args),
    quote = TRUE)
  fit$call <- plain_call(call, "ufs_aggregate")
  fit
}
