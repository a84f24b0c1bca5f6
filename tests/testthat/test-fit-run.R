test_that("the front door is the method itself", {
  a <- ufs(iris[, 1:4], "pca", n_components = 2)
  b <- ufs_pca(iris[, 1:4], n_components = 2)
  expect_identical(feature_scores(a), feature_scores(b))
  expect_error(ufs(iris[, 1:4], "pcaa"), class = "ufs_error_argument")
  expect_error(ufs(iris[, 1:4]), class = "ufs_error_argument")
})

test_that("the registry is complete and true", {
  table <- ufs_methods()
  expect_named(table, c("method", "selects", "title", "deterministic", "moments", "cost",
    "reference", "advice"))
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

test_that("a long run says once what it does where somebody waits, and nothing elsewhere", {
  slow <- function(on) {
    withr::local_options(ufselect.progress = on)
    said <- list()
    withCallingHandlers({
      old <- watch_over("ufs_slow()", after = 0)
      # A run inside another one leaves its watch.
      expect_length(watch_over("ufs_inner()", after = 0), 0L)
      if (is.function(getOption("ufselect.watch"))) for (i in 1:3) getOption("ufselect.watch")(i)
      options(old)
    }, ufs_progress = function(m) {
      said <<- c(said, conditionMessage(m))
      invokeRestart("muffleMessage")
    })
    expect_null(getOption("ufselect.watch"))
    said
  }
  expect_length(slow(FALSE), 0L)
  expect_match(slow(TRUE)[[1L]], "ufs_slow() is at work: 1 step", fixed = TRUE)
  expect_length(slow(TRUE), 1L)
  # Solvers call it, and a run that fails takes it away.
  withr::local_options(ufselect.watch = NULL, ufselect.progress = TRUE)
  steps <- 0L
  withr::with_options(list(ufselect.watch = function(step, ...) steps <<- step), {
    ufs_facility(iris[, 1:4], m = 3)
    expect_identical(steps, 3L)
    ufs_medoids(iris[, 1:4], m = 3, n_starts = 8)
  })
  expect_identical(steps, 8L)
  expect_error(ufs_medoids(iris[, 1:4], m = 500))
  expect_null(getOption("ufselect.watch"))
})
