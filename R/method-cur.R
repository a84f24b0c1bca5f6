#' Leverage scores and CUR sampling of samples and features
#'
#' Scores samples and features by leverage: how much of the leading singular directions of the data
#' lies on each of them. Use it to draw rows and columns at random in proportion to these scores, as
#' CUR decompositions do, or to rebuild a matrix from a few of its own rows and columns
#' (`decomposition = TRUE`). Do not expect better selections than by uniform random choice: a draw
#' by leverage is a random one, too, and the largest scores (`draw = "top"`) belong to outliers.
#'
#' With U and V the leading singular vectors of the (standardised) `x` and r = `rank`,
#' \deqn{\pi_i = \frac1r \sum_{l \le r} U_{il}^2 \text{ (samples)},\qquad
#'   \pi_j = \frac1r \sum_{l \le r} V_{jl}^2 \text{ (features)},}
#' each set summing to one.
#'
#' # From scores to a ranking
#' `draw` turns leverage scores into a ranking, by one of the rules of the archived package rCUR.
#' * `"exact"` (the default) samples without replacement, with the scores as weights, so that the
#'   first m of the ranking are a draw of exactly m, for every m.
#' * `"random"` is the paper's own rule. Each sample is kept independently with probability
#'   `min(1, m * pi)`, so the number kept is random and `m` is (a little more than)
#'   its expectation; the draw is repeated until at least one is kept. Those kept come first, by
#'   leverage, and their indices are in `solution`. Features are drawn likewise with `k`.
#' * `"top"` takes the largest leverage scores and needs no random numbers.
#'
#' Draws use R's random numbers, samples first, then features, so `set.seed()` fixes them.
#'
#' # The decomposition
#' With `decomposition = TRUE` the CUR decomposition itself is computed. With C the chosen columns
#' (`k` of them) and R the chosen rows (`m`) of the prepared matrix Z,
#' \deqn{Z \approx C U R,\qquad U = C^+ Z R^+,}
#' the U of smallest error for these C and R. A new sample can then be rebuilt from its chosen
#' features alone: `predict(fit, newdata, type = "reconstruction")`. The cost is two singular value
#' decompositions of the thin C and R, and one product with Z.
#'
#' # Computation
#' Few singular vectors are found faster on large data, so give `rank` there. If the singular values
#' number `rank` and `rank + 1` are equal (to 1e-8), the scores are not well defined, and a warning
#' of class `ufs_warning_spectrum` says so.
#'
#' @inheritParams ufs_pca
#' @inheritParams ufs_alnr
#' @param rank The number r of leading singular vectors, from 1 to the rank of `x`. The default
#'   `NULL` takes as many as make up 80 percent of the sum of all singular values.
#' @param draw How the scores become a ranking: `"exact"`, `"random"` or `"top"`.
#' @param m,k The numbers of samples and features to choose, which [selected_samples()],
#'   [selected_features()], `print()` and `plot()` then use; `NULL` leaves them open. Both are
#'   needed for `draw = "random"`, where they are the expected numbers to keep, and for
#'   `decomposition = TRUE`, where so many of the best make up R and C.
#' @param decomposition Should C, U and R be computed as well?
#' @return A fit of class `c("ufs_cur", "ufs")` with scores and rankings of samples and
#'   features. The score is the leverage for `draw = "top"`, the leverage plus 1 for what
#'   was kept by `"random"`, and falls from 1 in steps of 1/n (1/p) along the draw of `"exact"`.
#'
#'   `solution` holds `leverage_samples`, `leverage_features`, the `singular_values` (all that were
#'   computed) and, for `"random"`, `kept_samples` and `kept_features`. With `decomposition = TRUE`
#'   it also holds the matrices `C` (n x features), `U` and `R` (samples x p; constant columns are
#'   zero), named by what was chosen.
#'
#'   `certificate` is the relative distance of the `spectral_gap` after `rank` (missing at full
#'   rank) and, with a decomposition, `error`, the squared Frobenius norm of Z - C U R, and
#'   `best_error`, that of the best approximation of rank `rank`, both as shares of that of Z.
#' @references Mahoney and Drineas (2009) CUR matrix decompositions for improved data
#'   analysis. PNAS 106, 697-702. \doi{10.1073/pnas.0803205106}
#' @seealso [predict.ufs_cur()]
#' @examples
#' fit <- ufs_cur(iris[, 1:4], rank = 2, draw = "top")
#' feature_scores(fit)
#' selected_samples(fit, m = 5)
#'
#' # Rebuild four columns from two of them and the numbers of 10 samples
#' fit <- ufs_cur(iris[1:100, 1:4], rank = 2, draw = "top", m = 10, k = 2,
#'   decomposition = TRUE)
#' fit$certificate
#' head(predict(fit, iris[101:150, 1:4], type = "reconstruction"))
#' @export
ufs_cur <- function(x, rank = NULL, ..., draw = c("exact", "random", "top"), m = NULL, k = NULL,
                    labelled = NULL, decomposition = FALSE, center = TRUE, scale = TRUE,
                    control = ufs_control()) {
  run_fit("cur", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_cur <- function(data, control, rank, draw, m, k, labelled, decomposition, center, ...) {
  labelled <- check_labelled(labelled, data)
  wanted <- if (draw == "random" || decomposition) list(
    samples = check_count(m, "m", 1L, data$n - length(labelled), "the samples without a label"),
    features = check_count(k, "k", 1L, usable(data),
      "the number of features that are not constant"))
  if (!is.null(rank)) rank <- check_components(rank, data, center, "rank")
  svd <- leverage_scores(data$x, rank, center, control)
  # Equal rows and equal columns have equal leverage, to the last bit.
  samples <- svd$samples
  if (length(labelled)) {
    check_bytes(16 * prod(as.double(dim(data$x))), "ufs_cur() with `labelled`",
      "Give it a part of the features.")
    rest <- beside_labelled(x_dense(data$x), labelled)
    samples <- leverage_scores(rest, if (!is.null(rank)) svd$rank, FALSE, control)$samples
  }
  samples <- samples[x_equal_rows(data$x)]
  features <- gathered(svd$features[x_equal_columns(data$x)], data$keep)
  variables <- unique(data$keep)

  by_sample <- draw_by_leverage(samples, draw, wanted$samples, labelled)
  by_feature <- draw_by_leverage(features, draw, wanted$features)
  kept <- list(kept_samples = by_sample$kept, kept_features = variables[by_feature$kept])
  parts <- if (decomposition) {
    # C, U and R of the prepared matrix for chosen rows and columns, and the squared norm of C U R:
    # with C = Uc Dc Vc' and R = Ur Dr Vr', U = C^+ Z R^+ = Vc Dc^-1 (Uc' Z Vr) Dr^-1 Ur', and C U
    # R is the projection Uc Uc' Z Vr Vr'.
    columns <- columns_of(data, variables[by_feature$first])
    c_part <- x_columns(data$x, columns)
    r_part <- x_rows(data$x, by_sample$first)
    left <- pseudo_factors(c_part)
    right <- pseudo_factors(r_part)
    middle <- crossprod(x_cross(data$x, left$u), right$v)
    u <- sweep(left$v, 2L, left$d, "/") %*% middle %*% t(sweep(right$u, 2L, right$d, "/"))
    name_rows <- data$samples[by_sample$first]
    name_columns <- shape_of(data)$features[shape_of(data)$keep[columns]]
    list(C = `dimnames<-`(c_part, list(data$samples, name_columns)),
      U = `dimnames<-`(u, list(name_columns, name_rows)),
      R = expand_columns(r_part, data, name_rows), captured = sum(middle^2))
  }
  norm2 <- sum(x_ss(data$x))
  list(
    params = list_of(rank = svd$rank, draw, decomposition, labelled),
    sample_scores = by_sample$score, feature_scores = by_feature$score,
    solution = c(list(
      leverage_samples = stats::setNames(samples, data$samples),
      leverage_features = expand_features(features, data),
      singular_values = svd$d), if (draw == "random") kept, parts[c("C", "U", "R")]),
    certificate = c(spectral_gap = svd$gap, if (decomposition) {
      c(error = max(0, 1 - parts$captured / norm2),
        best_error = max(0, 1 - sum(svd$d[seq_len(svd$rank)]^2) / norm2))
    })
  )
}

# Leverage of rows and columns of x for its `rank` leading singular vectors.
leverage_scores <- function(x, rank, centred, control) {
  most <- min(dim(x))
  pca <- x_pca(x, if (is.null(rank)) most else min(rank + 1L, most))
  full <- sum(colSums(pca$loadings^2) > 0)
  d <- sqrt(pca$sdev2[seq_len(full)])
  if (!full || !all(is.finite(d)) || d[1L] < 1e-145) {
    refuse_range("The squares of the values of `x`")
  }
  if (is.null(rank)) rank <- which(cumsum(d) >= 0.8 * sum(d))[[1L]]
  if (rank > full) {
    refuse("rank", "`rank` is ", rank, ", but `x` has rank ", full, if (centred) " after centring",
      ".")
  }
  gap <- if (rank < full) 1 - d[[rank + 1L]] / d[[rank]] else NA_real_
  if (!is.na(gap) && gap < 1e-8 && control$warn) {
    ufs_warn("spectrum", "Singular values ", rank, " and ", rank + 1L, " are equal: leverage ",
      "scores of this `rank` are not well defined. Use another one.")
  }
  lead <- seq_len(rank)
  share <- function(v) rowSums(sweep(v^2, 2L, colSums(v^2), "/")) / rank
  list_of(rank, d, gap, samples = share(pca$scores[, lead, drop = FALSE]),
    features = share(pca$loadings[, lead, drop = FALSE]))
}

# list(score, which ranks by a draw with probabilities pi; kept, what "random" has drawn; first, the
# chosen ones).
draw_by_leverage <- function(pi, draw, expected, labelled = integer()) {
  n <- length(pi)
  share <- pi
  if (length(labelled)) {
    share[labelled] <- 0
    if (sum(share) == 0) share[-labelled] <- 1
    share <- share / sum(share)
  }
  drawn <- switch(draw,
    top = list(score = pi),
    # Exponential clocks with rates pi ring in the order of sequential draws.
    exact = list(score = (n + 1 - order(order(stats::rexp(n) / share))) / n),
    random = {
      repeat {
        kept <- stats::runif(n) < pmin(1, expected * share)
        if (any(kept)) break
      }
      list(score = pi + kept, kept = which(kept))
    })
  drawn$score <- without_labelled(drawn$score, labelled)
  # The size of a draw, or of the first of the ranking.
  size <- if (is.null(drawn$kept)) expected else length(drawn$kept)
  drawn$first <- ufs_rank(drawn$score)[seq_len(max(size, 0L))]
  drawn
}

# Thin SVD without the directions that are rounding.
pseudo_factors <- function(block) {
  factors <- svd(block)
  kept <- factors$d > 1e-10 * factors$d[1L]
  list(u = factors$u[, kept, drop = FALSE], d = factors$d[kept],
    v = factors$v[, kept, drop = FALSE])
}

#' Chosen columns, or all columns rebuilt from them
#'
#' Applies a [ufs_cur()] fit to new samples: returns their chosen columns, or rebuilds all their
#' columns from the chosen ones. Then only a few features of a new sample need be measured.
#'
#' @param object A fit of [ufs_cur()].
#' @param newdata A matrix or data frame. For `"reconstruction"` only the columns of the
#'   decomposition are looked at.
#' @param k The number of features to keep, for `"select"`.
#' @param type `"select"` returns `newdata[, chosen]`, as [predict.ufs()] does. `"reconstruction"`
#'   returns all p columns in the units of `x`, rebuilt as C U R; it needs `decomposition = TRUE`.
#' @param ... Not used.
#' @return For `"select"` what [predict.ufs()] returns. For `"reconstruction"` a matrix with one row
#'   per row of `newdata` and one column per feature of the fit. Constant columns get their constant
#'   if the fit was centred, else zero.
#' @examples
#' # An image: 87 x 61 heights of a volcano from 12 of its rows and 12 of its columns.
#' set.seed(1)
#' fit <- ufs_cur(volcano, rank = 8, m = 12, k = 12, decomposition = TRUE,
#'   center = FALSE, scale = FALSE)
#' rebuilt <- predict(fit, volcano, type = "reconstruction")
#' 1 - sum((volcano - rebuilt)^2) / sum((volcano - mean(volcano))^2)
#' @export
predict.ufs_cur <- function(object, newdata, k = NULL, type = c("select", "reconstruction"), ...) {
  check_fit(object)
  type <- check_choice(type, "type")
  if (type == "select") return(NextMethod())
  check_dots_empty(...)
  if (is.null(object$solution$U)) {
    refuse("object", "`object` holds no decomposition: fit with decomposition = TRUE.")
  }
  own <- colnames(object$solution$C)
  coded <- object$coded
  z <- scaled_columns(object, newdata, if (is.null(coded)) match(own, object$names$features) else
    unique(coded$variable[match(own, coded$name)]))
  if (!is.null(coded)) z <- z[, own, drop = FALSE]
  watch_over("predict()")
  unscaled(object, product_by_rows(z, object$solution$U %*% object$solution$R, "rebuilt"))
}

register("cur", ufs_cur,
  solve = solve_cur,
  prepare = function(x, args) as_ufs_operator(x, args$center, args$scale),
  group = "samples", selects = "both", deterministic = FALSE, sized_by = "pca",
  title = "Leverage scores and CUR sampling",
  cost = "n p min(n, p)",
  advice = "historical (for comparison)",
  reference = "Mahoney and Drineas (2009) <doi:10.1073/pnas.0803205106>",
  constraints = "labelled",
  refuses = c(weights = "it draws each row at most once, and says how likely that is")
)
