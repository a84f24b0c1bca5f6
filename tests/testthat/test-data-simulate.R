draw <- function(..., seed = 1) withr::with_seed(seed, ufs_simulate_madelon(...))

test_that("shapes, names and roles are as asked", {
  data <- draw(320)
  expect_identical(dim(data$x), c(320L, 500L))
  expect_identical(as.vector(table(data$roles)), c(5L, 15L, 480L))
  expect_named(data$roles, colnames(data$x))
  expect_identical(levels(data$y), c("-1", "1"))
  expect_identical(as.vector(table(data$vertex)), rep(10L, 32))
  plain <- draw(64, 3, 4, 5, shuffle = FALSE)
  expect_identical(as.character(plain$roles), rep(c("informative", "redundant", "probe"), c(3, 4, 5)))
  expect_identical(dim(draw(40, 2, 0, 0)$x), c(40L, 2L))
  expect_identical(draw(64, 3, 4, 5, seed = 7), draw(64, 3, 4, 5, seed = 7))
  expect_false(identical(draw(64, seed = 8)$x, draw(64, seed = 7)$x))
})

test_that("redundant columns are the stated combinations and probes are not", {
  for (shuffle in c(TRUE, FALSE)) {
    data <- draw(200, 4, 6, 8, shuffle = shuffle, seed = 3)
    informative <- data$x[, data$roles == "informative"]
    expect_equal(unname(data$x[, data$roles == "redundant"]), unname(informative %*% data$coefficients),
      tolerance = 1e-13)
    expect_true(all(abs(data$coefficients) <= 1))
    expect_identical(qr(data$x[, data$roles != "probe"])$rank, 4L)
    probe <- data$x[, data$roles == "probe"]
    expect_gt(min(svd(qr.resid(qr(informative), probe))$d), 5)
    expect_lt(max(abs(colMeans(probe))), 5 / sqrt(200))
    expect_lt(max(abs(apply(probe, 2, sd) - 1)), .25)
  }
})

test_that("clusters sit on distinct vertices of the cube, half of them in each class", {
  skip_on_cran()
  data <- draw(32 * 60, separation = 5, flip = 0, shuffle = FALSE)
  centre <- apply(data$x[, 1:5], 2, function(v) tapply(v, data$vertex, mean))
  expect_lt(max(abs(abs(centre) - 5)), 1)
  expect_identical(nrow(unique(sign(centre))), 32L)
  class_of <- tapply(as.character(data$y), data$vertex, unique)
  expect_identical(as.vector(table(unlist(class_of))), c(16L, 16L))
  # Each cluster is stretched in its own directions.
  first <- cov(data$x[data$vertex == 1, 1:5])
  second <- cov(data$x[data$vertex == 2, 1:5])
  expect_gt(max(abs(first - second)), .5)
})

test_that("the class needs the informative columns together", {
  skip_on_cran()
  skip_if_not_installed("class")
  data <- draw(1200, n_probe = 100, seed = 2)
  half <- rep(c(TRUE, FALSE), 600)
  accuracy <- function(columns) {
    guess <- class::knn(data$x[half, columns, drop = FALSE], data$x[!half, columns, drop = FALSE],
      data$y[half], k = 5)
    mean(guess == data$y[!half])
  }
  expect_gt(accuracy(data$roles == "informative"), .85)
  expect_lt(accuracy(data$roles == "probe"), .6)
  expect_lt(accuracy(which(data$roles == "informative")[1]), .75)
})

test_that("flip turns that share of the classes", {
  skip_on_cran()
  kept <- draw(640, flip = 0, seed = 4)
  for (flip in c(.1, 1)) {
    turned <- draw(640, flip = flip, seed = 4)
    expect_identical(turned$x, kept$x)
    expect_identical(sum(turned$y != kept$y), as.integer(640 * flip))
  }
})

test_that("impossible sizes are refused by name", {
  expect_error(ufs_simulate_madelon(31), class = "ufs_error_argument", regexp = "`n_samples` must be at least 32")
  expect_error(ufs_simulate_madelon(100, n_informative = 0), "n_informative", class = "ufs_error_argument")
  expect_error(ufs_simulate_madelon(100, n_informative = 21), "n_informative", class = "ufs_error_argument")
  expect_error(ufs_simulate_madelon(100, n_probe = -1), "n_probe", class = "ufs_error_argument")
  expect_error(ufs_simulate_madelon(100, flip = 2), "flip", class = "ufs_error_argument")
})

test_that("noise samples come last, are normal and have random classes", {
  x <- matrix(rep(100, 600 * 4), 600, 4, dimnames = list(NULL, letters[1:4]))
  y <- factor(rep(c("u", "v", "w"), 200))
  out <- withr::with_seed(1, ufs_add_noise(x, share = 2, sd = c(1, 1, 1, 10), y = y))
  expect_identical(out$noise, rep(c(FALSE, TRUE), c(600, 1200)))
  expect_identical(out$x[!out$noise, ], x)
  added <- out$x[out$noise, ]
  expect_identical(colnames(added), letters[1:4])
  expect_lt(max(abs(colMeans(added) / c(1, 1, 1, 10))), .12)
  expect_lt(max(abs(apply(added, 2, sd) / c(1, 1, 1, 10) - 1)), .1)
  expect_lt(max(abs(cor(added) - diag(4))), .12)
  expect_identical(out$y[1:600], y)
  expect_lt(max(abs(table(out$y[out$noise]) - 400)), 80)
})

test_that("the share is rounded, row names stay, bad arguments are errors", {
  out <- withr::with_seed(1, ufs_add_noise(as.matrix(mtcars), share = .2))
  expect_identical(nrow(out$x), 38L)
  expect_null(out$y)
  expect_identical(rownames(out$x)[c(1, 33)], c("Mazda RX4", "noise1"))
  expect_identical(sum(withr::with_seed(1, ufs_add_noise(iris[, 1:4], .001))$noise), 1L)
  expect_error(ufs_add_noise(iris), class = "ufs_error_input")
  expect_error(ufs_add_noise(iris[, 1:4], share = 0), "share", class = "ufs_error_argument")
  expect_error(ufs_add_noise(iris[, 1:4], sd = 1:3), "sd", class = "ufs_error_argument")
  expect_error(ufs_add_noise(iris[, 1:4], y = 1:3), "`y`", class = "ufs_error_argument")
  for (y in list(as.list(1:150), matrix(1:150), as.data.frame(matrix(1, 2, 150)))) {
    expect_error(ufs_add_noise(iris[, 1:4], y = y), "`y`", class = "ufs_error_argument")
  }
})
