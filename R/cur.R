#' Leverage scores and CUR sampling of samples and features
#'
#' Leverage scores say how much of the leading `rank` singular directions lies on one
#' sample or feature; CUR decompositions draw rows and columns with these
#' probabilities. With U and V the leading singular vectors of the (standardised) `x`,
#' \deqn{\pi_i = \frac1k \sum_{l \le k} U_{il}^2 \text{ (samples)},\qquad
#'   \pi_j = \frac1k \sum_{l \le k} V_{jl}^2 \text{ (features)},}
#' each set summing to one.
#'
#' `draw` turns the leverage scores into a ranking:
#' * `"exact"` (default): weighted sampling without replacement, so that the first m of the ranking
#'   are a draw of exactly m, for every m.
#' * `"random"`: the paper's own rule. Each sample is kept independently with probability
#'   `min(1, n_samples * pi)`, so the number kept is random and `n_samples` (a little more than) its
#'   expectation; redrawn until at least one is kept. Those kept come first, by
#'   leverage; their indices are in `solution`. Features likewise with `n_features`.
#' * `"top"`: the largest leverage scores, no random numbers.
#'
#' Draws use R's random numbers (`set.seed()`), samples first, then features. The three
#' rules are those of the archived package rCUR. Do not expect more than random choice from it:
#' in our runs a draw was as good as a uniform one, and `"top"`, which likes outliers,
#' was worse on most sets.
#'
#' Singular vectors come from the smaller Gram matrix, so p > n costs no p x p. If the singular
#' values number `rank` and `rank + 1` are equal (to 1e-8), the scores are not well defined and a
#' warning of class `ufs_warning_spectrum` says so. The matrix U of C U R is not
#' computed.
#'
#' @inheritParams ufs_kmeans_f
#' @param rank Number k of leading singular vectors, 1 to the rank of `x`. `NULL`: as many
#'   as it takes for their singular values to make up 80 percent of the sum of all.
#' @param draw `"exact"`, `"random"` or `"top"`, see Details.
#' @param n_samples,n_features Expected numbers, for `draw = "random"` only.
#' @param center,scale Centre and standardise the columns first.
#' @param control See [ufs_control()]; there are no iterations.
#' @return A fit of class `c("ufs_cur", "ufs")` with scores and rankings of samples and
#'   features. The score is the leverage for `draw = "top"`, the leverage plus 1 for what
#'   was kept by `"random"`, and falls from 1 in steps of 1/n (1/p) along the draw of `"exact"`.
#'   `solution` holds `leverage_samples`, `leverage_features`, the `singular_values` (all that were
#'   computed) and, for `"random"`, `kept_samples` and `kept_features`. `certificate` is
#'   the relative distance of the `spectral_gap` after `rank` (missing at full rank).
#' @references Mahoney and Drineas (2009) CUR matrix decompositions for improved data
#'   analysis. PNAS 106, 697-702. \doi{10.1073/pnas.0803205106}
#' @examples
#' fit <- ufs_cur(iris[, 1:4], rank = 2, draw = "top")
#' feature_scores(fit)
#' selected_samples(fit, m = 5)
#' @include ufs.R
#' @export
ufs_cur <- function(x, rank = NULL, draw = c("exact", "random", "top"), n_samples = NULL,
                    n_features = NULL, center = TRUE, scale = TRUE,
                    control = ufs_control()) {
  run_fit("cur", match.call(), {
    draw <- check_choice(draw, "draw", c("exact", "random", "top"))
    control <- resolve_control(control)
    data <- as_ufs_matrix(x, center, scale)
    wanted <- expected_numbers(draw, n_samples, n_features, data)
    most <- min(data$n - center, length(data$keep))
    if (!is.null(rank)) {
      rank <- check_count(rank, "rank", 1L, most, "the largest possible rank of `x`")
    }
    svd <- leverage_scores(data$x, rank, center, control)
    # Equal rows and equal columns have equal leverage, to the last bit.
    samples <- svd$samples[equal_rows(data$x)]
    features <- svd$features[equal_columns(data$x)]

    by_sample <- draw_by_leverage(samples, draw, wanted$samples)
    by_feature <- draw_by_leverage(features, draw, wanted$features)
    kept <- list(kept_samples = by_sample$kept, kept_features = data$keep[by_feature$kept])
    list(
      data = data, control = control,
      params = c(list(rank = svd$rank, draw = draw, center = center, scale = scale),
        if (draw == "random") list(n_samples = wanted$samples, n_features = wanted$features)),
      sample_scores = by_sample$score, feature_scores = by_feature$score,
      solution = c(list(
        leverage_samples = stats::setNames(samples, data$samples),
        leverage_features = expand_features(features, data),
        singular_values = svd$d), if (draw == "random") kept),
      certificate = c(spectral_gap = svd$gap)
    )
  })
}

expected_numbers <- function(draw, n_samples, n_features, data) {
  if (draw != "random") {
    for (arg in c("n_samples", "n_features")) {
      if (!is.null(get(arg))) {
        ufs_abort("argument", "`", arg, "` is for draw = \"random\" only.", argument = arg)
      }
    }
    return(NULL)
  }
  list(samples = check_count(n_samples, "n_samples", 1L, data$n, "the number of samples"),
    features = check_count(n_features, "n_features", 1L, length(data$keep),
      "the number of features that are not constant"))
}

# Leverage of rows and columns of x for its `rank` leading singular vectors.
leverage_scores <- function(x, rank, centred, control) {
  most <- min(dim(x))
  pca <- gram_pca(x, if (is.null(rank)) most else min(rank + 1L, most))
  full <- sum(colSums(pca$loadings^2) > 0)
  d <- sqrt(pca$sdev2[seq_len(full)])
  if (is.null(rank)) rank <- which(cumsum(d) >= 0.8 * sum(d))[[1L]]
  if (rank > full) {
    ufs_abort("argument", "`rank` is ", rank, ", but `x` has rank ", full,
      if (centred) " after centring", ".", argument = "rank")
  }
  gap <- if (rank < full) 1 - d[[rank + 1L]] / d[[rank]] else NA_real_
  if (!is.na(gap) && gap < 1e-8 && control$warn) {
    ufs_warn("spectrum", "Singular values ", rank, " and ", rank + 1L, " are equal: leverage ",
      "scores of this `rank` are not well defined. Use another one.")
  }
  lead <- seq_len(rank)
  share <- function(v) rowSums(sweep(v^2, 2L, colSums(v^2), "/")) / rank
  list(rank = rank, d = d, gap = gap, samples = share(pca$scores[, lead, drop = FALSE]),
    features = share(pca$loadings[, lead, drop = FALSE]))
}

# Scores that rank by a draw with probabilities pi, and what was kept by "random".
draw_by_leverage <- function(pi, draw, expected) {
  n <- length(pi)
  switch(draw,
    top = list(score = pi),
    # Exponential clocks with rates pi ring in the order of sequential draws.
    exact = list(score = (n + 1 - order(order(stats::rexp(n) / pi))) / n),
    random = {
      repeat {
        kept <- stats::runif(n) < pmin(1, expected * pi)
        if (any(kept)) break
      }
      list(score = pi + kept, kept = which(kept))
    })
}

register("cur", ufs_cur,
  group = "samples", selects = "both", deterministic = FALSE,
  title = "Leverage scores and CUR sampling",
  cost = "n p min(n, p)",
  reference = "Mahoney and Drineas (2009) <doi:10.1073/pnas.0803205106>"
)
