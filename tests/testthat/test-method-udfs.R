skip_on_cran()

test_that("fixture; both forms agree with full matrices, and for p > n the start is not left to LAPACK", {
  # Its first step, from equal weights, is the start here.
  fit <- quiet(ufs_udfs(baseline_input("mtcars"), 3, lambda = 0.1, gamma = 0.1, center = FALSE,
    scale = FALSE, control = ufs_control(max_iter = 2, tol = -1)))
  want <- baseline_expected("mtcars", "UDFS__k5_lambda0.1_gamma0.1")
  expect_lt(max(abs(feature_scores(fit) / want - 1)), 1e-7)
  for (size in list(c(40, 12), c(20, 60), c(30, 30), c(150, 130))) {
    x <- unit_columns(planted(size[1], size[2], informative = 4)$x)
    for (par in list(c(k = 5, lambda = 1, gamma = 0.1, c = 3), c(2, 0.01, 0.02, 2))) {
      want <- ref_wstep(ref_udfs_m(x, par[[1]], par[[2]]), par[[4]], par[[3]], 1e-12, 10)
      fit <- quiet(ufs_udfs(x, par[[4]], n_neighbours = par[[1]], lambda = par[[2]], gamma = par[[3]], solver = "irls",
        center = FALSE, scale = FALSE, control = ufs_control(max_iter = 10, tol = -1)))
      expect_equal(fit$trace$objective, want$objective, tolerance = 1e-8)
      expect_equal(unname(feature_scores(fit)), want$row2, tolerance = 1e-6)
      expect_equal(crossprod(coef(fit)), diag(par[[4]]), tolerance = 1e-10)
      expect_equal(unname(feature_scores(fit)), unname(rowSums(coef(fit)^2)))
    }
  }
  x <- unit_columns(baseline_input("synth60x200"))
  a <- quiet(ufs_udfs(x, 3, center = FALSE, scale = FALSE))
  noisy <- withr::with_seed(1, x + 1e-13 * matrix(rnorm(length(x)), nrow(x)))
  b <- quiet(ufs_udfs(noisy, 3, center = FALSE, scale = FALSE))
  expect_lt(max(abs(feature_scores(a) - feature_scores(b))), 1e-5)
  expect_identical(unname(a$feature_ranking[1:20]), unname(b$feature_ranking[1:20]))
  # Any three null vectors would be a worse start.
  m <- ref_udfs_m(x, 5, 1)
  rough <- ref_wstep(m, 3, 0.1, 1e-12, 1, row2 = rowSums(eigen(m)$vectors[, 198:200]^2))
  expect_lt(ref_wstep(m, 3, 0.1, 1e-12, 1, row2 = ref_start(m, 3))$objective, rough$objective)
})

test_that("eigenvectors tied at the cut share what is left; a large gamma, duplicated samples and smallest sizes", {
  # With all samples as neighbours M is n X'(XX' + lambda I)^{-1} X: these columns have the singular
  # values .5, 1, 1, 1, 2, so two of three tied directions would be taken.
  basis <- withr::with_seed(4, qr.Q(qr(matrix(rnorm(100), 20) - .1)))
  turn <- withr::with_seed(5, qr.Q(qr(matrix(rnorm(25), 5))))
  x <- qr.Q(qr(sweep(basis, 2L, colMeans(basis)))) %*% (c(.5, 1, 1, 1, 2) * turn)
  m <- ref_udfs_m(x, 19, 1)
  start <- ref_start(m, 3)
  expect_equal(sum(start), 3, tolerance = 1e-10)
  expect_false(isTRUE(all.equal(start, rowSums(turn[1:4, ]^2))))
  fit <- quiet(ufs_udfs(x, 3, n_neighbours = 19, lambda = 1, gamma = 0.5, solver = "irls", center = FALSE,
    scale = FALSE, control = ufs_control(max_iter = 1, tol = -1)))
  expect_equal(fit$trace$objective, ref_wstep(m, 3, 0.5, 1e-12, 1)$objective, tolerance = 1e-9)
  x <- planted(40, 15)$x
  expect_equal(sum(feature_scores(quiet(ufs_udfs(x, 4)))), 4)
  expect_warning(fit <- ufs_udfs(x, 4, gamma = 100), "only 4 of 15", class = "ufs_warning_void")
  expect_equal(unname(sort(feature_scores(fit), decreasing = TRUE)[1:5]), c(1, 1, 1, 1, 0), tolerance = 1e-6)
  expect_warning(ufs_udfs(x, 4, gamma = 0.01), NA)
  x <- planted(20, 6, informative = 2)$x
  # Six copies of one sample: all its neighbours at distance 0.
  expect_true(all(is.finite(feature_scores(ufs_udfs(rbind(x, x[rep(1, 5), ]), 2)))))
  expect_identical(length(feature_scores(quiet(ufs_udfs(x[1:4, ], 2, n_neighbours = 3)))), 6L)
  expect_equal(unname(feature_scores(quiet(ufs_udfs(x, 6, n_neighbours = 19)))), rep(1, 6))
  expect_equal(unname(feature_scores(ufs_udfs(cbind(c(1, 5, 2, 8)), 1, n_neighbours = 1))), 1)
  expect_refusals(ufs_udfs(mtcars, 12), ufs_udfs(mtcars), "5 samples" = ufs_udfs(mtcars[1:5, ], 2, n_neighbours = 5),
    ufs_udfs(mtcars, 2, control = ufs_control(eps = 0)))
})

test_that("rows left out are zero, and rightly so: optimality of W in plain R", {
  for (size in list(c(50, 160), c(150, 140))) {
    x <- unit_columns(planted(size[1], size[2], informative = 6)$x)
    fit <- quiet(ufs_udfs(x, 3, gamma = 0.2, center = FALSE, scale = FALSE))
    w <- coef(fit)
    m <- ref_udfs_m(x, 5, 1)
    zero <- rowSums(w^2) == 0
    expect_gt(sum(zero), 20L)
    expect_equal(crossprod(w), diag(3), tolerance = 1e-9)
    reach <- 2 * sqrt(rowSums((m %*% w)^2)) / 0.2
    expect_lte(max(reach[zero]), 1 + 1e-5)
    expect_equal(unname(fit$feature_key[zero]), reach[zero], tolerance = 1e-6)
    # No worse than the iteration on all rows.
    slow <- quiet(ufs_udfs(x, 3, gamma = 0.2, solver = "irls", center = FALSE, scale = FALSE,
      control = ufs_control(max_iter = 2000)))
    expect_lt(tail(fit$trace$objective, 1), tail(slow$trace$objective, 1) * (1 + 1e-4))
  }
})

test_that("steps may be rough, but not the last, and a row left out too early comes back, before the end, too", {
  for (size in list(c(40, 200), c(150, 140))) {
    x <- unit_columns(planted(size[1], size[2], informative = 6)$x)
    fit <- function(...) quiet(ufs_udfs(x, 3, gamma = 0.2, center = FALSE, scale = FALSE, control = ufs_control(...)))
    for (found in list(fit(tol = 0.1), fit(max_iter = 1), fit(max_iter = 2), fit(max_iter = 3))) {
      expect_lte(found$certificate[["residual"]], 1e-10)
    }
    # One more exact step, from the weights of what was returned, changes nothing.
    w <- coef(fit(tol = 1e-12, max_iter = 1000))
    live <- rowSums(w^2) > 0
    weighted <- ref_udfs_m(x, 5, 1)[live, live] + diag(0.1 / sqrt(rowSums(w[live, ]^2) + 1e-12))
    lowest <- eigen(weighted, symmetric = TRUE)$values
    expect_equal(sum(w[live, ] * (weighted %*% w[live, ])), sum(rev(lowest)[1:3]), tolerance = 1e-6)
  }
  # Where none did, zero rows ended with a reach of 1.36, 1.25, 1.21.
  for (case in list(c(1, 60, 140), c(1, 100, 200), c(2, 60, 140))) {
    x <- withr::with_seed(case[1], matrix(rnorm(case[2] * case[3]), case[2]))
    fit <- quiet(ufs_udfs(x, 5, gamma = 0.03, control = ufs_control(max_iter = 600)))
    zero <- feature_scores(fit) == 0
    expect_gt(sum(zero), 20L)
    expect_identical(fit$status, "converged")
    expect_lte(max(fit$feature_key[zero]), 1 + 1e-5)
  }
  # Without a last look at them the reach of one was 1.009, 1.028 and 1.005.
  for (seed in c(17, 661, 1075)) {
    set <- withr::with_seed(seed, {
      size <- c(sample(c(20, 40, 60), 1), sample(c(125, 160, 200), 1))
      x <- matrix(rnorm(prod(size)), size[1])
      x[, 1:8] <- x[, 1:8] + 2 * matrix(rnorm(24), 3)[rep_len(1:3, size[1]), ]
      list(x = x, gamma = 10^runif(1, -2, 1))
    })
    fit <- quiet(ufs_udfs(set$x, 3, gamma = set$gamma))
    zero <- feature_scores(fit) == 0
    expect_gt(sum(zero), 0)
    expect_lte(max(fit$feature_key[zero]), 1 + 1e-5)
  }
})

test_that("large unscaled columns are no error: the ridge is then no more than rounding", {
  set.seed(1)
  for (p in c(8, 50)) {
    x <- matrix(rnorm(40 * p), 40)
    some <- function(unit) ufs_udfs(x * unit, 3, scale = FALSE, gamma = .01)
    far <- some(1e9)
    # M no longer depends on the unit, and neither does the choice.
    expect_identical(some(2^40)$feature_ranking, some(2^300)$feature_ranking)
    expect_equal(feature_scores(far), feature_scores(some(2^60)), tolerance = 1e-3)
    expect_true(far$status %in% c("converged", "max_iter"))
  }
})

test_that("each row has a penalty of its own: W is stationary, with the lowest eigenvalues", {
  for (size in list(c(60, 15), c(140, 130), c(30, 200))) {
    x <- unit_columns(planted(size[1], size[2], informative = 6)$x)
    p <- size[2]
    cost <- seq(.5, 2, length.out = p)
    gamma <- if (p > size[1]) .01 else .05
    fit <- quiet(ufs_udfs(x, 3, gamma = gamma, center = FALSE, scale = FALSE, include = c(3, 8), exclude = c(1, 6),
      cost = cost, budget = 1e6, control = ufs_control(max_iter = 1000, tol = 1e-9)))
    factor <- cost / mean(cost[-c(1, 3, 6, 8)])
    factor[c(3, 8)] <- 0
    factor[c(1, 6)] <- Inf
    w <- coef(fit)
    m <- ref_udfs_m(x, 5, 1)
    norm <- ref_row_norms(w)
    expect_true(all(norm[c(1, 6)] == 0) && all(norm[c(3, 8)] > 0))
    expect_equal(crossprod(w), diag(3), tolerance = 1e-9)
    at <- which(norm > 0)
    own <- m[at, at] + gamma * diag((factor / (2 * sqrt(norm^2 + 1e-12)))[at])
    expect_equal(sum(w[at, ] * (own %*% w[at, ])), sum(tail(eigen(own, symmetric = TRUE)$values, 3)), tolerance = 1e-4)
    # Rows that are zero stay so, each by its own penalty.
    zero <- setdiff(which(norm == 0), c(1, 6))
    if (length(zero)) expect_lte(max(2 * ref_row_norms((m %*% w)[zero, , drop = FALSE]) / factor[zero]), gamma * 1.001)
    expect_true(all(diff(fit$trace$objective) <= 1e-6 * abs(fit$trace$objective[-1])))
  }
  expect_error(ufs_udfs(x[, 1:5], 4, exclude = 1:2), class = "ufs_error_argument", "to choose from")
})
