# t may hold several right-hand sides of c columns, solved one after the other.
gl <- function(x, t, lambda, v = matrix(0, ncol(x), c), c = ncol(t), vtol = 1e-11,
               full = TRUE, prune = 0.9, slots = 2000L, certify = FALSE,
               root = NULL, factor = NULL, first = NULL) {
  .Call(C_test_gl, x, t, v, list(lambda = lambda, vtol = vtol, full = full, prune = prune, slots = slots,
    certify = certify, root = root, factor = factor, first = first))
}

gl_problem <- function(n, p, c, seed) {
  withr::with_seed(seed, list(x = scale(matrix(rnorm(n * p), n) + rnorm(n)), t = qr.Q(qr(matrix(rnorm(n * c), n)))))
}

test_that("neither a call, short or partial, nor extrapolation raises the objective; certify measures any V", {
  q <- gl_problem(30, 100, 3, 6)
  lambda <- 0.2 * gl_lambda_max(q$x, q$t)
  start <- matrix(0, 100, 3)
  start[c(5, 50, 99), ] <- withr::with_seed(1, rnorm(9)) / 50
  for (full in c(TRUE, FALSE)) for (vtol in c(1e-9, 1e-2, 1)) {
    got <- gl(q$x, q$t, lambda, start, full = full, vtol = vtol)
    expect_lte(got$objective, gl_objective(q$x, q$t, lambda, start) * (1 + 1e-12))
    expect_equal(got$objective, gl_objective(q$x, q$t, lambda, got$v), tolerance = 1e-12)
  }
  expect_true(all(which(row_norms(gl(q$x, q$t, lambda, start, full = FALSE)$v) > 0) %in% c(5, 50, 99)))
  # A looser tolerance stops the same iteration earlier: columns that are nearly one, where
  # unguarded steps go astray.
  for (seed in 1:12) {
    q <- withr::with_seed(seed, list(x = matrix(rnorm(240), 20) * .1^(seed %% 4) + rnorm(20), t = matrix(rnorm(40), 20)))
    lambda <- c(.3, .05, .005)[1 + seed %% 3] * gl_lambda_max(q$x, q$t)
    way <- vapply(10^seq(1, -11, by = -.5), function(vtol) gl(q$x, q$t, lambda, vtol = vtol)$objective, 0)
    expect_lte(max(diff(way)), 1e-8 * way[1])
  }
  q <- gl_problem(30, 50, 2, 7)
  lambda <- 0.3 * gl_lambda_max(q$x, q$t)
  got <- gl(q$x, q$t, lambda, vtol = 0.3, certify = TRUE)
  r <- q$t - q$x %*% got$v
  kkt <- 2 * row_norms(crossprod(q$x, r)) / lambda
  expect_equal(got$kkt, kkt, tolerance = 1e-12, ignore_attr = TRUE)
  scale <- min(1 / max(kkt), max(0, sum(q$t * r) / sum(r^2)))
  expect_equal(got$dual, 2 * scale * sum(q$t * r) - scale^2 * sum(r^2), tolerance = 1e-12)
  norm <- row_norms(got$v)
  off <- 2 * crossprod(q$x, r) / lambda - got$v / ifelse(norm > 0, norm, 1)
  expect_equal(got$violation, max(row_norms(off)[norm > 0], kkt[norm == 0] - 1), tolerance = 1e-10)
  q <- gl_problem(30, 50, 3, 8)
  lambda <- 0.3 * gl_lambda_max(q$x, q$t)
  # No row of the start is live, so a solve of the working set alone leaves it at zero.
  zero <- gl(q$x, q$t, lambda, full = FALSE, certify = TRUE)
  expect_identical(zero$v, matrix(0, 50, 3))
  kkt <- 2 * row_norms(crossprod(q$x, q$t)) / lambda
  expect_equal(zero$kkt, unname(kkt), tolerance = 1e-12)
  expect_equal(zero$violation, max(kkt) - 1, tolerance = 1e-12)
  expect_gt(zero$violation, 1)
  expect_lte(gl(q$x, q$t, lambda)$violation, 1e-8)
})

test_that("Newton steps reach the same answer in far fewer sweeps where columns are alike", {
  x <- withr::with_seed(1, scale(t(apply(matrix(rnorm(60 * 40), 60), 1L, stats::filter, 0.97, method = "recursive"))))
  t <- withr::with_seed(2, qr.Q(qr(matrix(rnorm(60 * 3), 60))))
  lambda <- 0.02 * gl_lambda_max(x, t)
  newton <- gl(x, t, lambda)
  plain <- gl(x, t, lambda, slots = 1L)
  expect_equal(newton$objective, plain$objective, tolerance = 1e-13)
  expect_equal(newton$objective, gl_objective(x, t, lambda, newton$v), tolerance = 1e-13)
  expect_equal(newton$v, plain$v, tolerance = 1e-6)
  expect_lt(newton$violation, 1e-8)
  expect_lt(newton$sweeps, plain$sweeps / 2)
  # Profiles that are constant but for jumps: many more rows of V than dimensions of x.
  x <- withr::with_seed(1, t(replicate(40, {
    cuts <- sort(sample(149, 4))
    rnorm(5)[findInterval(1:150, cuts + 1) + 1]
  })))
  x <- scale(x, scale = FALSE)
  t <- svd(x, 10, 0)$u
  got <- gl(x, t, .02 * gl_lambda_max(x, t), vtol = 1e-8)
  expect_true(got$settled)
  expect_lte(got$gap, 1e-6 * got$objective)
  expect_lt(got$sweeps, 2000)
})

test_that("free columns that nearly depend on each other leave nothing of them in the rest; equal ones share a row", {
  for (apart in c(1e-2, 1e-4, 1e-6)) for (seed in 8:9) {
    q <- gl_problem(40, 12, 2, seed)
    x <- q$x
    for (j in 6:9) x[, j] <- x[, j - 5] + x[, 10] + apart * x[, j]
    free <- c(1:4, 6:10)
    out <- gl(x, q$t, .1, factor = replace(rep(1, 12), free, 0))
    expect_lte(max(abs(crossprod(x[, free], q$t - out$xv) / sqrt(colSums(x[, free]^2)))), 2e-15)
  }
  q <- gl_problem(25, 30, 3, 5)
  first <- c(1:30, rep(c(2L, 7L), each = 10))
  x <- q$x[, first]
  lambda <- .1 * gl_lambda_max(x, q$t)
  # A start that is split unevenly, and one column without a penalty.
  start <- withr::with_seed(6, matrix(rnorm(150), 50))
  for (factor in list(NULL, replace(rep(1, 50), first == 7L, 0))) {
    alone <- gl(q$x, q$t, lambda, factor = factor[1:30])
    got <- gl(x, q$t, lambda, start, factor = factor, first = first)
    expect_identical(got$v, got$v[first, ])
    expect_equal(rowsum(got$v, first, reorder = FALSE), alone$v, ignore_attr = TRUE, tolerance = 1e-8)
    expect_equal(got$objective, alone$objective, tolerance = 1e-12)
    expect_lte(got$m, 30L)
    expect_lte(got$columns, 30)
    expect_lte(got$violation, 1e-8)
  }
  expect_error(gl(x, q$t, lambda, first = rev(first)), "equal columns")
})

skip_on_cran()

test_that("gl agrees with plain coordinate descent, in Gram form and in residual form once the slots are exhausted", {
  for (shape in list(c(25, 60, 3), c(40, 12, 2), c(15, 15, 1))) {
    q <- gl_problem(shape[1], shape[2], shape[3], 1)
    for (rel in c(0.7, 0.3, 0.08)) {
      lambda <- rel * gl_lambda_max(q$x, q$t)
      want <- ref_gl(q$x, q$t, lambda)
      got <- gl(q$x, q$t, lambda)
      expect_equal(got$v, want, tolerance = 1e-7)
      expect_identical(row_norms(got$v) > 0, row_norms(want) > 0)
      expect_equal(got$objective, gl_objective(q$x, q$t, lambda, want), tolerance = 1e-12)
      expect_equal(got$xv, q$x %*% got$v, tolerance = 1e-12, ignore_attr = TRUE)
      kkt <- 2 * row_norms(crossprod(q$x, q$t - q$x %*% got$v)) / lambda
      expect_equal(got$kkt, unname(kkt), tolerance = 1e-10)
    }
  }
  for (shape in list(c(20, 120, 3), c(50, 30, 2))) {
    q <- gl_problem(shape[1], shape[2], shape[3], 4)
    for (rel in c(0.4, 0.05)) {
      lambda <- rel * gl_lambda_max(q$x, q$t)
      want <- gl(q$x, q$t, lambda)
      expect_gt(want$columns, 1)
      expect_lte(gl(q$x, q$t, lambda, slots = 1L)$columns, 1)
      for (slots in c(1L, 7L, 25L)) expect_equal(gl(q$x, q$t, lambda, slots = slots)$v, want$v, tolerance = 1e-7)
    }
  }
})

test_that("weights of the rows are those of a weighted matrix, dense and sparse", {
  q <- gl_problem(30, 90, 3, 8)
  root <- withr::with_seed(9, rexp(30) + 0.01)
  sets <- list(q$x)
  if (requireNamespace("Matrix", quietly = TRUE)) {
    # Sparse numbers have their own solution: zeros, a full column and one with a single zero.
    r <- withr::with_seed(10, matrix(rexp(2700) * (runif(2700) < 0.3), 30))
    r[, 1:2] <- 5 + q$x[, 1:2]
    r[7, 2] <- 0
    sets <- c(sets, list(as_ufs_operator(to_sparse(r))$x))
  }
  for (x in sets) {
    y <- root * x_columns(x, seq_len(90))
    lambda <- 0.15 * gl_lambda_max(y, q$t)
    want <- gl(y, q$t, lambda)
    for (slots in c(2000L, 10L)) {
      got <- gl(x, q$t, lambda, slots = slots, root = root)
      for (name in c("v", "xv", "kkt")) expect_equal(got[[name]], want[[name]], tolerance = 1e-6)
      expect_equal(got$objective, want$objective, tolerance = 1e-10)
      expect_lte(got$gap, 1e-6 * got$objective)
    }
    checked <- gl(x, q$t, lambda, want$v, vtol = 1, full = FALSE, slots = 10L, certify = TRUE, root = root)
    expect_equal(checked$kkt, want$kkt, tolerance = 1e-4)
  }
})

test_that("the working set and its Gram columns survive new right-hand sides", {
  q <- gl_problem(30, 150, 3, 5)
  others <- lapply(6:9, function(seed) gl_problem(30, 150, 3, seed)$t)
  lambda <- 0.35 * gl_lambda_max(q$x, q$t)
  want <- gl(q$x, q$t, lambda)
  # Slots from plenty to too few; pruning on and off, so that places are exchanged,
  # dropped and taken again.
  for (slots in c(2000L, 60L, 40L, 21L, 5L)) for (prune in c(2, 0.9, -1)) {
    got <- gl(q$x, do.call(cbind, c(others, list(q$t))), lambda, c = 3L, slots = slots, prune = prune)
    expect_equal(got$v, want$v, tolerance = 1e-7)
    expect_lte(got$violation, 1e-6)
  }
  expect_identical(gl(q$x, cbind(q$t, q$t), lambda, c = 3L, prune = -1)$columns, gl(q$x, q$t, lambda, prune = -1)$columns)
})

test_that("degenerate problems", {
  q <- gl_problem(20, 30, 2, 8)
  top <- gl_lambda_max(q$x, q$t)
  expect_true(all(gl(q$x, q$t, 1.0001 * top)$v == 0))
  expect_false(all(gl(q$x, q$t, 0.99 * top)$v == 0))
  zero <- gl(q$x, 0 * q$t, top)
  expect_true(all(zero$v == 0))
  expect_identical(zero$gap, 0)
  # A zero column never enters, and a warm start on it is dropped.
  x <- q$x
  x[, 4] <- 0
  start <- matrix(0, 30, 2)
  start[4, ] <- 1
  got <- gl(x, q$t, 0.3 * top, start)
  expect_identical(got$v[4, ], c(0, 0))
  expect_identical(got$kkt[4], 0)
  expect_equal(got$v, ref_gl(x, q$t, 0.3 * top), tolerance = 1e-7)
})

test_that("each row may have a factor of its own: 0 leaves it free, Inf fixes it at zero", {
  for (shape in list(c(25, 60, 3), c(40, 12, 2), c(15, 15, 1))) {
    q <- gl_problem(shape[1], shape[2], shape[3], 6)
    p <- shape[2]
    factor <- withr::with_seed(7, runif(p, .3, 3))
    factor[c(2, 7, 11)] <- 0
    factor[c(1, 5)] <- Inf
    rest <- qr.resid(qr(q$x[, c(2, 7, 11)]), q$t)
    top <- 2 * max((row_norms(crossprod(q$x, rest)) / factor)[-c(2, 7, 11)])
    # At the smallest lambda with nothing but the free rows, and above, these are least squares.
    zero <- gl(q$x, q$t, top * (1 + 1e-9), factor = factor)
    expect_true(all(zero$v[-c(2, 7, 11), ] == 0))
    expect_equal(q$t - zero$xv, rest, tolerance = 1e-10, ignore_attr = TRUE)
    for (rel in c(.7, .3, .08)) {
      lambda <- rel * top
      want <- ref_gl(q$x, q$t, lambda, factor = factor)
      for (slots in c(2000L, 4L)) {
        got <- gl(q$x, q$t, lambda, factor = factor, slots = slots)
        expect_equal(got$v, want, tolerance = 1e-6)
        expect_identical(got$v[c(1, 5), ], want[c(1, 5), ] * 0)
        expect_equal(got$objective, gl_objective(q$x, q$t, lambda, got$v, factor), tolerance = 1e-12)
        # The dual point, recomputed: R is orthogonal to the free columns and feasible for the others.
        r <- q$t - q$x %*% got$v
        expect_lte(max(abs(crossprod(q$x[, c(2, 7, 11)], r))), 1e-12 * sqrt(sum(q$x^2)))
        s <- min(sum(q$t * r) / sum(r^2), (lambda * factor / 2 / row_norms(crossprod(q$x, r)))[-c(2, 7, 11)])
        expect_equal(got$dual, s * (2 * sum(q$t * r) - s * sum(r^2)), tolerance = 1e-10)
        expect_gte(got$gap, -1e-12 * got$objective)
        expect_lte(got$gap, 1e-6 * got$objective)
        expect_lte(got$violation, 1e-6)
        expect_lte(max(abs(got$kkt[row_norms(got$v) > 0 & factor > 0] - 1)), 1e-6)
        expect_lte(max(got$kkt[c(1, 2, 5, 7, 11)]), 1e-12)
      }
      expect_equal(gl(q$x, q$t, lambda / 4, factor = 4 * factor)$v, got$v, tolerance = 1e-8)
    }
    one <- gl(q$x, q$t, lambda)
    expect_identical(gl(q$x, q$t, lambda, factor = rep(1, p)), one)
    expect_equal(gl(q$x, q$t, lambda / 2, factor = rep(2, p))$v, one$v, tolerance = 1e-12)
  }
})

test_that("free rows: certificate of any V, copies among them, weights of the rows, sparse", {
  skip_if_not_installed("Matrix")
  q <- gl_problem(30, 50, 2, 8)
  q$x[, 9] <- q$x[, 4] - q$x[, 3]
  factor <- rep(1:2, 25)
  factor[c(3, 4, 9)] <- 0
  factor[10] <- Inf
  lambda <- .2 * gl_lambda_max(q$x, q$t)
  good <- gl(q$x, q$t, lambda, factor = factor)
  expect_lte(good$gap, 1e-6 * good$objective)
  # What V is given does not matter to the dual value: it is one below every objective.
  v <- good$v + .01 * withr::with_seed(9, rnorm(100)) * (factor < Inf)
  any <- gl(q$x, q$t, lambda, v, factor = factor, certify = TRUE, full = FALSE, vtol = 1e-2)
  expect_lte(any$dual, good$objective * (1 + 1e-12))
  expect_gte(any$dual, .5 * good$objective)
  expect_equal(any$kkt[5], 2 * sqrt(sum(crossprod(q$x[, 5], q$t - q$x %*% any$v)^2)) / lambda)
  root <- withr::with_seed(3, runif(30, .5, 2))
  expect_equal(gl(q$x, q$t, lambda, factor = factor, root = root)$xv,
    gl(q$x * root, q$t, lambda, factor = factor)$xv, tolerance = 1e-6)
  x <- q$x
  x[abs(x) < .7] <- 0
  sparse <- sparse_operator(Matrix::Matrix(x, sparse = TRUE))
  expect_equal(gl(sparse, q$t, lambda, factor = factor)$v, gl(x, q$t, lambda, factor = factor)$v, tolerance = 1e-8)
})
