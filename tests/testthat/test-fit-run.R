test_that("the front door is the method itself", {
  a <- ufs(iris[, 1:4], "pca", n_components = 2)
  b <- ufs_pca(iris[, 1:4], n_components = 2)
  expect_identical(feature_scores(a), feature_scores(b))
  expect_error(ufs(iris[, 1:4], "pcaa"), class = "ufs_error_argument")
  expect_error(ufs(iris[, 1:4]), class = "ufs_error_argument")
})

test_that("the registry is complete and true", {
  table <- ufs_methods()
  expect_named(table, c("method", "selects", "title", "deterministic", "cost", "reference",
    "advice"))
  expect_false(any(duplicated(table$method)))
  expect_true(all(table$selects %in% c("features", "samples", "both")))
  exported <- getNamespaceExports("ufselect")
  expect_true(all(paste0("ufs_", table$method) %in% exported))
  expect_true(all(nzchar(table$title)) && all(nzchar(table$cost)))
})

test_that("an argument m is not taken for the method", {
  fit <- ufs(mtcars, "medoids", m = 4)
  expect_s3_class(fit, "ufs_medoids")
  expect_identical(fit$params$m, 4L)
  expect_identical(ufs(mtcars, method = "medoids", m = 4)$sample_ranking, fit$sample_ranking)
  expect_identical(ufs(mtcars, m = 4, "medoids")$sample_ranking, fit$sample_ranking)
  expect_identical(ufs_grid(mtcars, "medoids", list(scale = TRUE), m = 4)$method, "medoids")
})
