test_that("means of normalised scores and of ranks", {
  x <- as.matrix(mtcars)
  fits <- list(ufs_variance(x), ufs_pca(x, 2), ufs_inffs(x))
  scores <- t(vapply(fits, feature_scores, numeric(11)))
  mean_score <- colMeans(scores / rowSums(scores))
  fit <- ufs_aggregate(fits)
  expect_s3_class(fit, c("ufs_aggregate", "ufs"), exact = TRUE)
  expect_equal(feature_scores(fit), setNames(mean_score, colnames(x)), tolerance = 1e-12)
  mean_rank <- colMeans(t(apply(-scores, 1, rank)))
  expect_error(ufs_aggregate(fits[[1L]]), "must be a list of fits", class = "ufs_error_argument")
  by_rank <- ufs_aggregate(fits, by = "rank")
  expect_equal(unname(by_rank$statistic), unname(mean_rank))
  expect_identical(unname(feature_ranking(by_rank)), order(mean_rank))
  expect_equal(unname(feature_scores(by_rank)), unname(12 - mean_rank))
  expect_identical(ufs_aggregate(fits[2])$feature_ranking, fits[[2]]$feature_ranking)
})

test_that("a fit of BLFSE gives its base results", {
  d <- blfse_input()
  fit <- blfse_plain(d)
  expect_equal(feature_scores(ufs_aggregate(fit)), fit$solution$mean_score, tolerance = 1e-14)
  expect_equal(ufs_aggregate(fit, "rank")$statistic, fit$solution$mean_rank, tolerance = 1e-14)
  expect_equal(unname(fit$solution$mean_score), colMeans(d$scores / rowSums(d$scores)),
    tolerance = 1e-14)
})

test_that("one feature is enough", {
  one <- ufs_variance(mtcars[, 1, drop = FALSE])
  for (by in c("score", "rank")) {
    expect_identical(unname(feature_scores(ufs_aggregate(list(one, one), by))), 1)
  }
})

test_that("negative scores are shifted, ties share their rank", {
  like <- ufs_variance(mtcars)
  give <- function(...) {
    like$feature_scores[] <- c(...)
    like
  }
  fit <- ufs_aggregate(list(give(-5:5), give(rep(0:1, c(10, 1)))))
  expect_equal(unname(feature_scores(fit)), (0:10 / 55 + rep(0:1, c(10, 1))) / 2)
  ranks <- ufs_aggregate(list(give(-5:5), give(rep(0:1, c(10, 1)))), "rank")$statistic
  expect_equal(unname(ranks), (11:1 + rep(c(6.5, 1), c(10, 1))) / 2)
})

test_that("features constant for all fits have no score, for some the least", {
  x <- cbind(as.matrix(mtcars), flat = 1)
  suppressWarnings(fits <- list(ufs_variance(x), ufs_inffs(x)))
  fit <- ufs_aggregate(fits)
  expect_true(is.na(feature_scores(fit)[["flat"]]))
  expect_identical(unname(feature_ranking(fit)[12]), 12L)
  fits[[1]]$feature_scores["flat"] <- 2
  fit <- ufs_aggregate(fits)
  expect_false(anyNA(feature_scores(fit)))
  expect_identical(fit$solution$scores[2, "flat"], c(flat = 0))
})

test_that("what is not a list of matching fits is refused", {
  expect_error(ufs_aggregate(list()), class = "ufs_error_argument")
  expect_error(ufs_aggregate(ufs_variance(mtcars)), class = "ufs_error_argument")
  expect_error(ufs_aggregate(list(1, 2)), class = "ufs_error_argument")
  expect_error(ufs_aggregate(list(ufs_variance(mtcars), ufs_variance(iris[1:4]))),
    class = "ufs_error_argument")
  expect_error(ufs_aggregate(list(ufs_variance(mtcars), ufs_variance(mtcars[11:1]))),
    class = "ufs_error_argument")
  expect_error(ufs_aggregate(list(ufs_random(mtcars, "samples"))), class = "ufs_error_argument")
  expect_error(ufs_aggregate(list(ufs_variance(mtcars)), by = "vote"), class = "ufs_error_argument")
})

test_that("an argument of ufs_diversify() is looked at as it is given", {
  wrong <- expect_error(ufs_aggregate(list(ufs_variance(mtcars)), x = mtcars, k = 2, diversify = list(pool = quote(stop("run")))),
    "it is stop", class = "ufs_error_argument")
  expect_identical(wrong$argument, "pool")
})
