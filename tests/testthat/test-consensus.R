test_that("the mean of ranks of the members, then a choice that differs", {
  x <- planted(30, 14, informative = 6)$x
  set.seed(5)
  fit <- ufs_consensus(x, n_clusters = 3, k = 4, members = c("pca", "laplacian", "kmeans_f"))
  set.seed(5)
  seeds <- draw_seeds(3)
  fits <- list(ufs_pca(x, 3), ufs_laplacian(x, center = TRUE, scale = TRUE),
    with_seed(seeds[[3]], ufs_kmeans_f(x, 3)))
  ranks <- vapply(fits, function(f) order(unname(feature_ranking(f))) + 0, numeric(14))
  expect_identical(unname(fit$solution$ranks), unname(ranks))
  expect_equal(unname(fit$solution$mean_rank), rowMeans(ranks))
  mean <- fits[[1]]
  mean$feature_scores[] <- -rowMeans(ranks)
  mean$feature_ranking <- ufs_rank(mean$feature_scores)
  expect_identical(unname(feature_ranking(fit)), unname(feature_ranking(ufs_diversify(mean, x, 4))))
  chosen <- selected_features(fit, 4)
  expect_identical(fit$members$chosen,
    vapply(fits, function(f) sum(chosen %in% selected_features(f, 4)), 0L))
  expect_output(print(fit), "of the best 4 of each")
})

test_that("all seven members, and what cannot be a member", {
  x <- planted(40, 20)$x
  set.seed(1)
  fit <- suppressWarnings(ufs_consensus(x, n_clusters = 3, k = 6))
  expect_identical(nrow(fit$members), 7L)
  expect_lt(mean(match(1:8, feature_ranking(fit))), 8)
  expect_error(ufs_consensus(x, 3, members = "ted"), class = "ufs_error_argument")
  expect_error(ufs_consensus(x, 3, members = "nobody"), class = "ufs_error_argument")
  expect_error(ufs_consensus(x, 3, members = c("pca", "pca")), class = "ufs_error_argument")
  expect_error(ufs_consensus(x, 3, members = "topk"), class = "ufs_error_argument")
  expect_warning(ufs_consensus(x, 3, k = 3, members = c("pca", "topk")), class = "ufs_warning_member")
})

test_that("the same for any number of workers", {
  skip_if_not_installed("future.apply")
  skip_processes()
  x <- planted(30, 10)$x
  run <- function() withr::with_seed(2, ufs_consensus(x, 3, k = 3, members = c("kmeans_f", "pca"))$feature_scores)
  alone <- run()
  old <- future::plan(future::multisession, workers = 2)
  withr::defer(future::plan(old))
  expect_identical(run(), alone)
})

test_that("constant columns, wherever they are, change nothing", {
  x <- planted(40, 12, informative = 5)$x
  colnames(x) <- paste0("f", 1:12)
  run <- function(x) withr::with_seed(3, suppressMessages(suppressWarnings(ufs_consensus(x, n_clusters = 3, k = 5))))
  plain <- run(x)
  padded <- run(cbind(c0 = 1, x[, 1:4], c1 = 7, x[, 5:12], c2 = 0))
  expect_identical(selected_features(padded, 5), selected_features(plain, 5))
  expect_equal(padded$feature_scores[colnames(x)], plain$feature_scores, tolerance = 1e-12)
  expect_equal(padded$certificate, plain$certificate, tolerance = 1e-8)
  expect_true(all(padded$solution$mean_rank[colnames(x)] <= 12))
})
