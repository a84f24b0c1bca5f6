# Parameters that no other test, page or example sets: why one would.

skip_on_cran()

cars <- as.matrix(mtcars)

test_that("labelled samples, shares of rows to learn from, centres of sketches and offsets of NDFS are heeded", {
  fit <- ufs_random(cars, "samples", labelled = c(3, 17))
  expect_setequal(selected_samples(fit, 30, as = "index"), setdiff(1:32, c(3, 17)))
  skip_if_not_installed("rpart")
  results <- function(train) {
    withr::with_seed(1, ufs_compare(iris[, 1:4], iris$Species, "variance", k = 2, train = train, repeats = 1,
      classifiers = "tree", n_random = 2)$results)
  }
  many <- results(.97)
  expect_true(all(many$labelled == 144L))
  expect_equal(6 * many$accuracy, round(6 * many$accuracy), tolerance = 1e-12)
  expect_true(all(results(.5)$labelled == 75L))
  chance <- function(center) {
    withr::with_seed(1, ufs_sketch(cars + 100, 8, "leverage", n_vectors = 1, center = center, scale = FALSE)$weights)
  }
  # Far from the origin all rows have nearly the same leverage unless the mean is taken off.
  expect_lt(stats::sd(chance(FALSE)) / mean(chance(FALSE)), stats::sd(chance(TRUE)) / mean(chance(TRUE)))
  fit <- function(...) withr::with_seed(1, ufs_ndfs(as.matrix(iris[, 1:4]), n_clusters = 3, ...))
  expect_identical(fit(n_starts = 3)$params$n_starts, 3L)
  expect_false(isTRUE(all.equal(fit(offset = .02)$solution, fit(offset = .5)$solution)))
})

test_that("numbers of decoys, levels, shares of noise, penalties, weights and centres are heeded", {
  found <- withr::with_seed(1, ufs_decoys(cars, "pca", n_components = 2, n_decoys = 7, repeats = 2))
  expect_identical(as.integer(found$n_decoys), 7L)
  expect_output(print(found), "7 decoys")
  set.seed(1)
  width <- function(level) {
    stable <- withr::with_seed(2, ufs_stability(cars, "laplacian", k = 3, n_resamples = 10, level = level))
    diff(as.numeric(stable$interval))
  }
  expect_gt(width(.99), width(.5))
  g <- rep(1:8, each = 3)
  x <- matrix(rnorm(24 * 5), 24) + g
  of <- function(level) {
    table <- ufs_reliability(x, g, level = level)$table
    table$upper - table$lower
  }
  expect_true(all(of(.99) > of(.5)))
  set.seed(3)
  x <- cbind(matrix(rnorm(60), 60, 6) + rnorm(360, 0, .7), matrix(rnorm(60 * 40), 60))
  size <- function(share) {
    withr::with_seed(1, ufs_size(x, "pca", n_components = 2, share = share, repeats = 3, n_resamples = 2)$k)
  }
  expect_gte(size(.4), size(.01))
  expect_gt(size(.4), 0)
  x <- as.matrix(iris[c(1:6, 51:56), 1:4])
  theta <- matrix(1, 12, 12)
  theta[, 1L] <- 1e3
  free <- ufs_represent(x, solver = "exact")
  dear <- ufs_represent(x, theta = theta, solver = "exact")
  # Nobody is written as a copy of a sample that is dear.
  expect_gt(sum(abs(free$Z[-1L, 1L])), 0)
  expect_lt(sum(abs(dear$Z[-1L, 1L])), sum(abs(free$Z[-1L, 1L])))
  # A large weight of the error leaves none; a small one allows all.
  left <- function(lambda_e) sum(abs(ufs_represent(x, lambda_e = lambda_e, solver = "exact")$E))
  expect_lt(left(100), left(1e-3))
  expect_false(isTRUE(all.equal(ufs_represent(x, center = FALSE)$Z, ufs_represent(x)$Z)))
})

test_that("a method of one's own says what it returns, on which scale, and that it draws", {
  seen <- NULL
  ufs_register("test_order", function(x) {
    seen <<- x
    rev(seq_len(ncol(x)))
  }, returns = "order", center = FALSE, scale = FALSE)
  ufs_register("test_draws", function(x) stats::runif(ncol(x)), random = TRUE)
  withr::defer(suppressWarnings(forget_methods(c("test_order", "test_draws", "test_silent"))))
  expect_identical(selected_features(ufs(cars, "test_order"), 2), rev(colnames(cars))[1:2])
  expect_equal(unname(seen), unname(cars))
  drawn <- function() withr::with_seed(5, feature_ranking(ufs(cars, "test_draws")))
  expect_identical(drawn(), drawn())
  # A function that draws and does not say so is named.
  ufs_register("test_silent", function(x) stats::runif(ncol(x)))
  expect_warning(ufs(cars, "test_silent"), "random")
})
