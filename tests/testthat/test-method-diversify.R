skip_on_cran()

ref_diversify <- function(x, ranking, k, strength, pool) {
  r <- abs(stats::cor(x))
  picked <- integer()
  for (t in seq_len(k)) {
    worth <- vapply(seq_len(pool), function(i) {
      j <- ranking[i]
      if (j %in% picked) return(-Inf)
      near <- if (length(picked)) max(r[j, picked]) else 0
      (length(ranking) + 1 - i) / length(ranking) - strength * near
    }, 0)
    picked <- c(picked, ranking[which(worth >= max(worth) - 1e-9)[1L]])
  }
  picked
}

test_that("correlation: rank against the largest one with those chosen; no copies; unit and signs do not matter", {
  x <- planted(40, 25)$x
  x <- cbind(x, x[, 1:5] + .1 * x[, 6:10])
  fit <- ufs_pca(x, 3)
  ranking <- unname(feature_ranking(fit))
  for (strength in c(.2, .5, 2)) {
    got <- ufs_diversify(fit, x, k = 8, strength = strength, pool = 20)
    expect_identical(unname(got$solution$order), ref_diversify(x, ranking, 8, strength, 20))
    chosen <- selected_features(got, 8)
    r <- abs(stats::cor(x[, chosen]))
    expect_equal(got$certificate[["max_correlation"]], max(r[lower.tri(r)]))
    r <- abs(stats::cor(x[, ranking[1:8]]))
    expect_equal(got$certificate[["before"]], max(r[lower.tri(r)]))
    expect_equal(got$certificate[["rank_lost"]], mean(match(chosen, ranking)) - 4.5)
  }
  expect_identical(feature_ranking(ufs_diversify(fit, x, k = 8, strength = 0)), feature_ranking(fit))
  small <- ufs_diversify(fit, x, k = 4, pool = 20)
  got <- ufs_diversify(fit, x, k = 8, pool = 20)
  expect_identical(selected_features(got, 4), selected_features(small, 4))
  expect_identical(unname(feature_ranking(got))[9:30], setdiff(ranking, selected_features(got, 8)))
  expect_message(selected_features(got, 9), class = "ufs_message_partial")
  x <- planted(30, 12)$x
  twice <- cbind(x, 3 * x + 1, -x)
  fit <- ufs_kmeans_f(twice, 3)
  fit$feature_scores[] <- rep(12:1, 3)
  fit$feature_ranking <- ufs_rank(fit$feature_scores)
  got <- ufs_diversify(fit, twice, k = 10, strength = 5)
  expect_identical(anyDuplicated(selected_features(got, 10) %% 12), 0L)
  expect_lt(got$certificate[["max_correlation"]], 1 - 1e-6)
  expect_equal(got$certificate[["before"]], 1)
})

test_that("css: the greedy choice of ufs_css() in the pool; constants stay last; arguments are checked", {
  x <- cbind(planted(30, 20)$x, 1)
  fit <- suppressWarnings(ufs_variance(x, scale = FALSE))
  got <- ufs_diversify(fit, x, k = 5, how = "css")
  pool <- unname(feature_ranking(fit))[1:15]
  expect_identical(unname(got$solution$order), pool[unname(ufs_css(x[, pool], k = 5)$solution$order)])
  expect_true(is.na(feature_scores(got)[[21]]))
  expect_identical(dim(predict(got, x, k = 5)), c(30L, 5L))
  expect_s3_class(got, c("ufs_diversify", "ufs"))
  x <- planted(20, 10)$x
  fit <- ufs_variance(x)
  expect_refusals(ufs_diversify(fit, x[, 1:9], 3),
    ufs_diversify(ufs_variance(as.data.frame(x)), as.data.frame(x)[10:1], 3), ufs_diversify(ufs_ted(x), x, 3),
    ufs_diversify(fit, x, 11), ufs_diversify(fit, x, 3, strength = -1), ufs_diversify(fit, x, 3, pool = 2))
  for (odd in list(list(), quote(x), c(8, 9), "9", NULL)) {
    expect_arguments(pool = do.call(ufs_diversify, list(fit, x, 3, pool = odd), quote = TRUE))
  }
  expect_error(ufs_diversify(fit, x, 3, how = "best"), class = "ufs_error_argument")
})

test_that("a pipeline of ufs_compare() can be made to differ", {
  skip_if_not_installed("rpart")
  d <- planted(40, 12)
  set.seed(1)
  out <- ufs_compare(d$x, factor(d$cluster), c("pca", "pca+diversify", "pca+diversify+ted"), k = 3, m = 10,
    classifiers = "tree", repeats = 2, n_random = 2, baselines = FALSE,
    args = list("pca+diversify" = list(diversify = list(strength = 2))))
  expect_setequal(out$methods, c("pca", "pca+diversify", "pca+diversify+ted"))
  expect_true(all(is.finite(out$results$accuracy)))
  fit <- ufs_pca(d$x, 3)
  expect_identical(pipeline_columns(fit, d$x, 4, list(strength = 2)),
    unname(ufs_diversify(fit, d$x, 4, strength = 2)$solution$order))
  expect_identical(pipeline_columns(fit, d$x, 4, NULL), selected_features(fit, 4))
})
