#' A selection without redundant features
#'
#' Goes down the ranking of any fit and chooses `k` features that differ from each other. Use it
#' after methods that score features one by one, which rank all near copies of a good feature high.
#' On real data it made the chosen features better for clustering, but it can do harm where most
#' columns are noise, because noise is never redundant. It is therefore an option; only
#' [ufs_consensus()] chooses in this way by itself, among columns better than noise. The figures are
#' in `vignette("evidence")`.
#'
#' With `how = "correlation"` each next feature maximises `rank - strength * c`, where rank is its
#' rank as a share (1 for the best of all features that are not constant, 1/q for the last of q)
#' and c its largest absolute correlation with those chosen. Only the best `pool` features are
#' looked at. The choice is nested: the first features of a choice of k are the choice of fewer,
#' as long as `pool` is the same. `how = "css"` takes the greedy choice of [ufs_css()] among the
#' best `pool` features, whatever their order there.
#'
#' Correlations take 2 n k `pool` flops; the page of [ufs_css()] gives the cost of the other way.
#'
#' @inheritParams ufs_kmeans_f
#' @param fit A fit that selects features, by any method.
#' @param x The data of the fit (for the correlations; the fit does not keep them).
#' @param k How many features to choose.
#' @param how How features that differ are found: `"correlation"` or `"css"`.
#' @param strength The weight of the largest correlation against the rank, a number of at least 0; 0
#'   leaves the ranking as it is.
#' @param pool How many of the best features to choose from. By default 10 k, or 3 k for `"css"`.
#' @return A fit of class `c("ufs_diversify", "ufs")`, for all accessors and
#'   [predict()][predict.ufs]. The chosen features come first, in that order, then the others as
#'   they were ranked; the score falls by 1/q with each rank. `solution` has the `order` of choice,
#'   the `scores_before`, those of `fit`, and with `how = "correlation"` the table `choice` that
#'   `plot()` draws: for each column of the pool what its rank is `worth`, its largest `correlation`
#'   with those chosen before it (with all, if it was passed over), the `value` that is left, and
#'   its `place` among the chosen. `certificate` has `max_correlation`,
#'   the largest absolute correlation of two of the k chosen features; `before`, the same for the
#'   best k of `fit`, and `rank_lost`, the mean rank of the chosen features less that of the best k.
#' @seealso [ufs_consensus()], [ufs_compare()], where `"laplacian+diversify"` is a method.
#' @examples
#' # The four best by the Laplacian score, and four that differ
#' selected_features(ufs_laplacian(mtcars, scale = TRUE), k = 4)
#' ufs_diversify(ufs_laplacian(mtcars, scale = TRUE), mtcars, k = 4, strength = 1)
#' @export
ufs_diversify <- function(fit, x, k, how = c("correlation", "css"), strength = 0.5,
                          pool = if (how == "css") 3 * k else 10 * k, ...) {
  start <- proc.time()[[3L]]
  watch_over("ufs_diversify()")
  check_arguments(setdiff(names_of(sys.call()), "x"), ufs_diversify, "diversify")
  check_given(fit, x)
  check_fit(fit, "feature_ranking", "features")
  how <- check_choice(how, "how")
  x <- as_the_fit_had_it(fit, open_with(x, ufs_diversify, "diversify", list(...)))
  data <- as_ufs_operator(open_quietly(check_door(x, "ufs_diversify()", fit = fit)))
  if (data$p != fit$p || !identical(data$features, fit$names$features)) {
    refuse("x", "`x` must have the ", fit$p, " columns of the fit.")
  }
  # The constraints of the fit, where `x` comes without.
  if (is.null(data$constraints$features)) data$constraints$features <- fit$constraints$features
  # In the columns of data$x, best first; those that are constant are in no pool.
  ranking <- kept_order(fit, data)
  q <- length(ranking)
  k <- check_count(k, "k", 1L, q, "the features that are not constant")
  strength <- check_number(strength, "strength", lower = 0)
  if (is.numeric(pool) && length(pool) == 1L) pool <- min(pool, q)
  pool <- check_count(pool, "pool", k, q, "the features that are not constant")
  best <- ranking[seq_len(pool)]
  z <- in_range(x_columns(data$x, best), 1e50)$x
  z <- sweep(z, 2L, sqrt(colSums(z^2)), "/")
  worth <- (q + 1 - seq_len(pool)) / q
  found <- if (how == "correlation") decorrelate(z, worth, k, strength) else {
    settings <- list(k = k, mu = 0.1 * sum(z^2) / ncol(z), form = "a", max_swaps = 0L,
      exact_limit = 1L)
    list(picked = check_solved(.Call(C_css, z, settings, ufs_control()), "css")$order)
  }
  picked <- found$picked
  chosen <- best[picked]
  finish_fit("diversify", match.call(), list(
    data = data, control = ufs_control(),
    params = list_of(of = fit$method, k, how, strength, pool),
    feature_scores = rank_scores(c(chosen, setdiff(ranking, chosen)), q),
    solution = c(
      list(order = stats::setNames(data$keep[chosen], data$features[data$keep[chosen]]),
        scores_before = fit$feature_scores),
      if (how == "correlation") {
        list(choice = choice_table(found, worth, strength, data$keep[best], data$features))
      }),
    certificate = correlation_certificate(z, picked)
  ), x, start)
}

# Picks k columns of z (unit length): the largest value - strength * |correlation|, ties by index.
# list(picked, near: the largest correlation with those picked before, or with all that are picked).
decorrelate <- function(z, value, k, strength) {
  near <- rep(0, ncol(z))
  open <- rep(TRUE, ncol(z))
  picked <- integer(k)
  for (t in seq_len(k)) {
    watch_says(function(step) paste(t - 1L, "of", count_words(k, "column"), "chosen"))
    gain <- ifelse(open, value - strength * near, -Inf)
    picked[t] <- which(gain >= max(gain) - 1e-9)[1L]
    open[picked[t]] <- FALSE
    r <- abs(drop(crossprod(z, z[, picked[t]])))
    near[open] <- pmax(near, r)[open]
  }
  list_of(picked, near)
}

# The quantities that decorrelate() weighed, for each column of the pool, best first: place is its
# order of choice.
choice_table <- function(found, worth, strength, index, names) {
  data.frame(feature = names[index], index, worth, correlation = found$near,
    value = worth - strength * found$near, place = match(seq_along(worth), found$picked))
}

# Certificate of the columns picked of z, whose own order is the ranking.
correlation_certificate <- function(z, picked) {
  k <- length(picked)
  c(max_correlation = largest_correlation(z[, picked, drop = FALSE]),
    before = largest_correlation(z[, seq_len(k), drop = FALSE]),
    rank_lost = mean(picked) - (k + 1) / 2)
}

largest_correlation <- function(z) {
  if (ncol(z) < 2L) return(0)
  r <- abs(crossprod(z))
  min(max(r[lower.tri(r)]), 1)
}

#' @export
print_notes.ufs_diversify <- function(x) {
  c(paste0("ranking of   ufs_", x$params$of, "(), best ", x$params$pool, " looked at, by ",
    x$params$how, if (x$params$how == "correlation") paste0(" (strength ", x$params$strength, ")")),
    correlation_note(x, "before"))
}

correlation_note <- function(x, before) {
  sprintf("correlation  at most %.2f among the best %d (%s: %.2f)",
    x$certificate[["max_correlation"]], x$params$k, before, x$certificate[["before"]])
}
