skip_on_cran()

test_that("the gap certifies from the first steps; orthogonal samples have a closed form, norms do not overshoot", {
  for (size in list(c(24, 5), c(10, 30))) {
    x <- sample_data(size[1], size[2])
    fit <- raw(ufs_rrss, x, gamma_rel = 0.2, control = ufs_control(tol = 1e-3))
    expect_identical(fit$status, "converged")
    gap <- fit$certificate[["gap"]]
    expect_true(gap <= 1e-3 && gap > -1e-10)
    ref <- ref_rrss(x, fit$params$gamma, 150L)
    best <- sum(ref$residual) + fit$params$gamma * sum(ref$row_norm)
    expect_gt(best, fit$certificate[["dual"]])
    expect_lt(abs(min(fit$trace$best) / best - 1), 1e-3)
    expect_equal(sum(fit$solution$residual) + fit$params$gamma * sum(fit$solution$row_norm),
      min(fit$trace$best), tolerance = 1e-10)
  }
  size <- c(3, 2, 1.5, 1, 0.4)
  fit <- raw(ufs_rrss, diag(size), gamma = 1.2, control = ufs_control(tol = 1e-6))
  expect_equal(sum(pmin(size, 1.2)), min(fit$trace$best), tolerance = 1e-5)
  expect_equal(unname(sample_scores(fit)), as.numeric(size > 1.2), tolerance = 1e-4)
  expect_identical(selected_samples(fit, 3) > 3, c(FALSE, FALSE, FALSE))
  # Zeros rank by activity, s / gamma.
  expect_identical(unname(sample_ranking(fit))[4:5], 4:5)
  # Some residuals vanish for a while and have to grow again: each is solved for at once.
  for (size in list(c(60, 60), c(60, 90), c(120, 60))) {
    x <- sample_data(size[1], size[2])
    fit <- raw(ufs_rrss, x)
    expect_identical(fit$status, "converged")
    expect_lte(fit$iterations, 12)
    slow <- raw(ufs_rrss, x, control = ufs_control(tol = -1, max_iter = 400, warn = FALSE))
    expect_lt(min(fit$trace$best) / min(slow$trace$best) - 1, 1e-3)
    expect_gt(min(slow$trace$best), fit$certificate[["dual"]])
  }
  set.seed(1)
  x <- matrix(rnorm(600 * 40), 600) + rbind(matrix(rnorm(5 * 40) * 2, 5))[rep_len(1:5, 600), ]
  # The logarithm's Newton step, as of norms that shrink, takes more of them.
  expect_lt(raw(ufs_rrss, x)$iterations, 25L)
})

test_that("the bound holds at every tolerance, and one above the objective is never called converged", {
  over <- unlist(lapply(1:6, function(seed) {
    x <- withr::with_seed(seed, matrix(rt(40 * 3, 3), 40))
    x <- cbind(rbind(x, x[1:5, ]), 1)
    fit_to <- function(tol) suppressWarnings(raw(ufs_rrss, x, control = ufs_control(tol = tol, max_iter = 3000)))
    best <- min(fit_to(1e-7)$trace$best)
    vapply(c(.1, .03, .01, 1e-3, 1e-4), function(tol) {
      fit <- fit_to(tol)
      expect_identical(fit$status, "converged")
      expect_lte(min(fit$trace$best) - fit$certificate[["dual"]], tol * min(fit$trace$best))
      fit$certificate[["dual"]] / best - 1
    }, 0)
  }))
  expect_lte(max(over), 1e-10)
  # Rows and columns over twenty-four orders of magnitude, nearly no penalty: rounding wins.
  status <- gap <- NULL
  for (seed in 1:20) {
    x <- withr::with_seed(seed, matrix(rnorm(12 * 8), 12) * 10^runif(12, -12, 12))
    fit <- raw(ufs_rrss, x, gamma_rel = 1e-13, control = ufs_control(eps = 1e-16, tol = 1e-13,
      max_iter = 60, warn = FALSE))
    status[seed] <- fit$status
    gap[seed] <- fit$certificate[["gap"]]
  }
  expect_true(any(status == "numerical") && all(gap[status != "numerical"] > -1e-10))
})

test_that("A = 0 at the bound; defaults certify; small samples and copies do not hold up the end", {
  x <- sample_data(20, 6)
  expect_warning(fit <- ufs_rrss(x, gamma_rel = 1), class = "ufs_warning_zero")
  expect_true(all(sample_scores(fit) == 0))
  expect_identical(fit$iterations, 0L)
  expect_gt(max(sample_scores(ufs_rrss(x, gamma_rel = 0.95, control = ufs_control(tol = 1e-6)))), 0)
  expect_true(ufs_rrss(mtcars)$certificate[["gap"]] <= 1e-3)
  expect_true(all(sample_scores(ufs_rrss(x, control = ufs_control(max_iter = 0, warn = FALSE))) == 0))
  for (eps in list(0, c(1, 1))) expect_error(ufs_rrss(x, control = ufs_control(eps = eps)), class = "ufs_error_control")
  # While every sample was held back alike, each of these used all its 300 iterations.
  fits <- suppressWarnings(list(ufs_rrss(state.x77, gamma_rel = 0.5),
    ufs_rrss(sample_data(90, 10, seed = 9), gamma_rel = 0.3),
    ufs_rrss(sample_data(90, 10, seed = 5), gamma_rel = 0.02)))
  for (fit in fits) {
    expect_identical(fit$status, "converged")
    expect_lt(fit$iterations, 60)
  }
  x <- sample_data(40, 10)
  x <- rbind(x, x[1:6, ])
  for (gamma in c(0.3, 0.1, 0.02)) {
    fit <- suppressWarnings(ufs_rrss(x, gamma_rel = gamma, control = ufs_control(max_iter = 400, tol = 1e-8)))
    norm <- unname(fit$solution$row_norm)
    expect_equal(norm[41:46], norm[1:6], tolerance = 1e-9)
  }
})
