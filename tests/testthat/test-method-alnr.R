skip_on_cran()

test_that("the gap certifies the alternation, and the closed form for orthogonal samples is met", {
  x <- sample_data(30, 5)
  fit <- raw(ufs_alnr, x, n_neighbours = 4, gamma_rel = 0.1, control = ufs_control(tol = 1e-5, max_iter = 3000))
  expect_identical(fit$status, "converged")
  root <- fit$params$gamma / 2 # mu = g = gamma / 2
  ref <- ref_alnr(x, 4L, root, root, 400L)
  best <- ref$objective[400]
  expect_gt(best, fit$certificate[["dual"]])
  expect_lt(abs(min(fit$trace$best) / best - 1), 1e-4)
  expect_lt(max(abs(unname(sample_scores(fit)) - ref$z)), 1e-2 * max(ref$z))
  expect_true(all(diff(fit$trace$objective) <= 1e-10 * fit$trace$objective[1]))
  size <- c(3, 2, 1.5, 1, 0.4)
  fit <- raw(ufs_alnr, diag(size), n_neighbours = 2, gamma = 3, control = ufs_control(tol = 1e-7))
  expect_equal(unname(sample_scores(fit)), pmax(1 - 3 / (2 * size^2), 0), tolerance = 1e-3)
  expect_identical(unname(sample_ranking(fit)), 1:5)
})

test_that("A = 0 at the bound, not below; fewer neighbours than samples; no penalty of rounding size", {
  x <- sample_data(20, 4)
  expect_warning(fit <- ufs_alnr(x, gamma_rel = 1), class = "ufs_warning_zero")
  expect_true(all(sample_scores(fit) == 0))
  below <- ufs_alnr(x, gamma_rel = 0.95, control = ufs_control(tol = 1e-7, max_iter = 5000))
  expect_gt(max(sample_scores(below)), 0)
  again <- ufs_alnr(x, gamma = fit$params$gamma * 0.1)
  expect_equal(again$params$gamma_rel, 0.1, tolerance = 1e-12)
  expect_refusals(ufs_alnr(x, n_neighbours = 20), ufs_alnr(x, n_neighbours = 0))
  expect_output(print(ufs_alnr(x)), "non-zero")
  x <- as.matrix(iris[, 1:4])
  error <- expect_error(ufs_alnr(x, gamma_rel = 1e-100), class = "ufs_error_argument", "larger `gamma`")
  expect_identical(error$argument, "gamma")
  expect_s3_class(ufs_alnr(x, gamma_rel = 1e-8), "ufs_alnr")
})
