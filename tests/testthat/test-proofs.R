# What ufs_css(optimal = TRUE) proves, against every choice there is. tests/dev/proofs.R has more cases.

skip_on_cran()

test_that("no proof is false: scales, integers, orthogonal designs, every constraint, targets", {
  found <- vapply(1:300, function(seed) {
    one <- proof_case(seed)
    if (one$status %in% c("proved", "refused", "ambiguous")) one$status else
      paste("seed", seed, one$status, signif(one$off, 3L))
  }, "")
  expect_identical(setdiff(found, c("proved", "refused", "ambiguous")), character())
  expect_gt(sum(found == "proved"), 270L)
})

# What the columns of x hold of y, centred, as a share.
held_by <- function(x, s, y) sum(qr.fitted(qr(scale(x, TRUE, FALSE)[, s]), y)^2) / sum(y^2)

test_that("the bound of a proof, targets and triangles keep columns of every scale", {
  # Three columns a millionth of the others; the best choice has one.
  short <- 0L
  for (seed in 1:60) {
    x <- withr::with_seed(seed, matrix(sample(-4:4, 48L, TRUE), 8L)) * rep(c(1, 1, 1, 1e-6, 1e-6, 1e-6), each = 8L)
    colnames(x) <- paste0("v", 1:6)
    z <- scale(x, TRUE, FALSE)
    fit <- ufs_css(ufs_data(x, exclude = "v1"), k = 3, optimal = TRUE, scale = FALSE)
    best <- max(utils::combn(2:6, 3L, function(s) held_by(x, s, z)))
    expect_equal(fit$certificate[["captured"]], best, tolerance = 1e-9)
    short <- short + any(fit$solution$order > 3L)
  }
  expect_gt(short, 20L)
  x <- withr::with_seed(1, matrix(stats::rnorm(40 * 6), 40)) %*% diag(10^c(8, 4, 0, -8, -8, -4))
  x[, 4] <- 1e-8 * x[, 4] + 1e-17 * x[, 1]
  colnames(x) <- paste0("v", 1:6)
  z <- scale(x, TRUE, FALSE)
  u <- svd(z)$u[, 1L]
  single <- vapply(1:6, function(j) held_by(x, j, u), 0)
  sparse <- if (requireNamespace("Matrix", quietly = TRUE)) Matrix::Matrix(x, sparse = TRUE)
  for (j in c(3L, 4L, 5L)) {
    one <- function(x) {
      ufs_css(ufs_data(x, include = paste0("v", j)), k = 1, target = 1, scale = FALSE)$certificate[["target"]]
    }
    expect_equal(one(x), single[j], tolerance = 1e-6)
    expect_equal(one(rbind(x, x)[1:40, ]), single[j], tolerance = 1e-6)
    if (!is.null(sparse)) {
      expect_equal(withr::with_options(list(ufselect.max_bytes = 1e3), one(sparse)), single[j], tolerance = 1e-6)
    }
  }
  x <- withr::with_seed(3, matrix(stats::rnorm(60 * 5), 60)) %*% diag(10^c(9, 0, 0, -3, -9))
  root <- gram_root(crossprod(x))
  expect_identical(nrow(root), 5L)
  expect_equal(stats::cov2cor(crossprod(root)), stats::cov2cor(crossprod(x)), tolerance = 1e-12)
  expect_identical(nrow(gram_root(crossprod(cbind(x, x[, 5], 0)))), 5L)
  withr::local_options(ufselect.copy_bytes = 0)
  expect_equal(stats::cov2cor(crossprod(column_triangle(x, TRUE, FALSE)$x)), stats::cor(x), tolerance = 1e-10)
})

test_that("a proof is about columns that help beside others only, and those with values on one or two rows", {
  x <- cbind(v1 = c(0, -2, -2, 0, 2, 0, 0, 2), v2 = c(4, -4, 6, 2, 0, -8, 2, -2),
    v3 = c(4, -6, -2, -4, 8, -2, 2, 0), v4 = c(1, 1, 5, -7, 1, 1, 5, -7))
  u <- svd(scale(x, TRUE, FALSE))$u[, 1L]
  expect_lt(held_by(x, 1L, u), 1e-20)
  fit <- ufs_css(x, k = 2, target = 1, optimal = TRUE, scale = FALSE)
  expect_setequal(names(fit$solution$order), c("v1", "v3"))
  expect_equal(fit$certificate[["target"]], .9)
  taken <- ufs_css(ufs_data(x, include = "v1"), k = 2, target = 1, optimal = TRUE, scale = FALSE)
  expect_equal(taken$certificate[["target"]], .9)
  none <- ufs_css(ufs_data(x, exclude = c("v2", "v3", "v4")), k = 1, target = 1, optimal = TRUE, scale = FALSE)
  expect_lt(none$certificate[["target"]], 1e-20)
  expect_identical(none$certificate[["optimal"]], 1)
  x <- withr::with_seed(2, matrix(stats::rnorm(30 * 7), 30, dimnames = list(NULL, paste0("v", 1:7))))
  x[, 6:7] <- 0
  x[3, 6] <- x[8, 7] <- 1
  expect_message(plain <- ufs_css(x, k = 3, mu_rel = 0), "Not chosen.*'v6', 'v7'", class = "ufs_message_few_rows")
  z <- scale(x)
  best <- utils::combn(7, 3L)[, which.max(utils::combn(7, 3L, function(s) held_by(z, s, z)))]
  expect_message(fit <- ufs_css(x, k = 3, optimal = TRUE),
    paste0("^Chosen.*", paste0("'v", intersect(best, 6:7), "'", collapse = ", ")), class = "ufs_message_few_rows")
  expect_setequal(unname(fit$solution$order), best)
  expect_true(any(6:7 %in% best))
  expect_gt(fit$certificate[["captured"]], plain$certificate[["captured"]])
  expect_message(ufs_css(ufs_data(x, exclude = c("v6", "v7")), k = 3, optimal = TRUE), NA)
})

test_that("groups are refused by a proof, and so are quotas that leave nothing to choose, which choose none of rows", {
  expect_refusals("groups" = ufs_css(ufs_data(mtcars, groups = rep(1:3, c(4, 4, 3))), k = 4, optimal = TRUE))
  strata <- rep(c("a", "b"), c(5, 6))
  none <- list(a = 0, b = 0)
  for (held in list(list(cost = 1:11, budget = 20), list(cost = 1:11, budget = 20, exclude = 1:5), list(k = 3), list())) {
    expect_error(suppressMessages(do.call(ufs_css, c(list(mtcars, feature_strata = strata, feature_quotas = none), held))),
      class = "ufs_error_argument", "`feature_quotas` leaves no column")
  }
  costs <- function(...) ufs_data(mtcars, sample_cost = 1:32, sample_budget = 5, ...)
  expect_error(costs(strata = rep(1:2, 16), quotas = c(`1` = 0, `2` = 0)), "`quotas` leaves no sample",
    class = "ufs_error_argument")
  data <- costs(replicates = rep(1:2, 16), labelled = 1:2)
  for (method in c("facility", "ted", "medoids")) {
    fit <- withr::with_seed(1, suppressMessages(ufs(data, method, m = 3)))
    expect_length(suppressMessages(selected_samples(fit, 3)), 0L)
  }
})
