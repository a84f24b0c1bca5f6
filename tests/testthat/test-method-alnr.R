skip_on_cran()

test_that("the gap certifies: the alternation is never below the bound", {
  x <- sample_data(30, 5)
  fit <- raw(ufs_alnr, x, n_neighbours = 4, gamma_rel = 0.1, control = ufs_control(tol = 1e-5, max_iter = 3000))
  expect_identical(class(fit), c("ufs_alnr", "ufs"))
  expect_identical(fit$status, "converged")
  root <- fit$params$gamma / 2 # mu = g = gamma / 2
  ref <- ref_alnr(x, 4L, root, root, 400L)
  best <- ref$objective[400]
  expect_gt(best, fit$certificate[["dual"]])
  expect_lt(abs(min(fit$trace$best) / best - 1), 1e-4)
  expect_lt(max(abs(unname(sample_scores(fit)) - ref$z)), 1e-2 * max(ref$z))
  expect_true(all(diff(fit$trace$objective) <= 1e-10 * fit$trace$objective[1]))
})

test_that("closed form for orthogonal samples", {
  size <- c(3, 2, 1.5, 1, 0.4)
  fit <- raw(ufs_alnr, diag(size), n_neighbours = 2, gamma = 3, control = ufs_control(tol = 1e-7))
  expect_equal(unname(sample_scores(fit)), pmax(1 - 3 / (2 * size^2), 0), tolerance = 1e-3)
  expect_identical(unname(sample_ranking(fit)), 1:5)
})

test_that("the bound: A = 0 at it, not below", {
  x <- sample_data(20, 4)
  expect_warning(fit <- ufs_alnr(x, gamma_rel = 1), class = "ufs_warning_zero")
  expect_true(all(sample_scores(fit) == 0))
  below <- ufs_alnr(x, gamma_rel = 0.95, control = ufs_control(tol = 1e-7, max_iter = 5000))
  expect_gt(max(sample_scores(below)), 0)
  again <- ufs_alnr(x, gamma = fit$params$gamma * 0.1)
  expect_equal(again$params$gamma_rel, 0.1, tolerance = 1e-12)
})

test_that("far neighbours, duplicates, k = n - 1, n < p", {
  x <- sample_data(20, 4)
  far <- rbind(x, 1e6)
  expect_true(all(is.finite(sample_scores(ufs_alnr(far, n_neighbours = 3, control = ufs_control(warn = FALSE))))))
  expect_true(all(is.finite(sample_scores(ufs_alnr(rbind(x, x), n_neighbours = 1)))))
  expect_identical(ufs_alnr(x, n_neighbours = 19)$status, "converged")
  expect_identical(ufs_alnr(sample_data(10, 30), n_neighbours = 3)$status, "converged")
  # All neighbours at distance zero: every t is one.
  pairs <- rbind(x, x)
  expect_identical(ufs_alnr(pairs, n_neighbours = 1)$status, "converged")
})

test_that("arguments are checked", {
  x <- sample_data(20, 4)
  expect_refusals(ufs_alnr(x, n_neighbours = 20), ufs_alnr(x, n_neighbours = 0), ufs_alnr(x, gamma = -1),
    ufs_alnr(x, gamma_rel = 0))
  expect_warning(ufs_alnr(x, control = ufs_control(max_iter = 1)), class = "ufs_warning_max_iter")
  withr::with_options(list(ufselect.max_bytes = 100), {
    expect_error(ufs_alnr(x), class = "ufs_error_memory")
  })
  expect_output(print(ufs_alnr(x)), "non-zero")
})

test_that("a penalty that is no more than rounding is an error that names it", {
  x <- as.matrix(iris[, 1:4])
  error <- expect_error(ufs_alnr(x, gamma_rel = 1e-100), class = "ufs_error_argument", "larger `gamma`")
  expect_identical(error$argument, "gamma")
  expect_s3_class(ufs_alnr(x, gamma_rel = 1e-8), "ufs_alnr")
})
