lowest <- function(delta, c, m = NULL, b = NULL, start = NULL, tol = 1e-11) {
  .Call(C_test_lowest, m, b, delta, as.integer(c), start, tol)
}

expect_lowest <- function(found, full, c, tolerance = 1e-8) {
  want <- eigen(full, symmetric = TRUE)
  p <- ncol(full)
  expect_true(found$converged)
  expect_equal(found$values, rev(want$values)[seq_len(c)], tolerance = tolerance)
  expect_equal(crossprod(found$vectors), diag(c), tolerance = 1e-12)
  expect_equal(rowSums(found$vectors^2), rowSums(want$vectors[, p - seq_len(c) + 1, drop = FALSE]^2),
    tolerance = sqrt(tolerance))
}

test_that("the lowest eigenpairs, dense and by Woodbury", {
  skip_on_cran()
  for (seed in 1:2) {
    withr::local_seed(seed)
    for (size in list(c(40, 150), c(5, 130), c(110, 125), c(30, 31))) {
      b <- matrix(rnorm(prod(size)), size[1])
      p <- size[2]
      deltas <- list(runif(p, 0.5, 1), exp(3 * rnorm(p)), 0.5 + 1e-3 * runif(p),
        # Weights as the reweighting makes them: a few small, most of them huge.
        replace(rep(5e4, p), sample(p, 20), runif(20, 0.1, 0.2)))
      for (delta in deltas) for (c in c(1, 7)) {
        full <- crossprod(b) + diag(delta)
        expect_lowest(lowest(delta, c, b = b), full, c)
        expect_lowest(lowest(delta, c, m = crossprod(b)), full, c)
      }
    }
  }
})

test_that("multiple eigenvalues, all of them, and none of M", {
  b <- withr::with_seed(1, matrix(rnorm(20 * 150), 20))
  # Three equal columns with equal weights: a double eigenvalue 0.1.
  b[, 2] <- b[, 3] <- b[, 1]
  delta <- c(0.1, 0.1, 0.1, seq(0.5, 1, length.out = 147))
  found <- lowest(delta, 3, b = b)
  expect_equal(found$values[1:2], c(0.1, 0.1))
  expect_lowest(found, crossprod(b) + diag(delta), 3)
  expect_equal(lowest(c(3, 1, 2), 3, m = diag(3))$values, c(2, 3, 4))
  flat <- lowest(seq(2, 1, length.out = 200), 2, b = matrix(0, 4, 200))
  expect_equal(flat$values, sort(seq(2, 1, length.out = 200))[1:2])
  # Three equal blocks of M and of the weights: each eigenvalue three times, and the products of a start within
  # the first block stay there.
  one <- withr::with_seed(4, matrix(rnorm(10 * 60), 10))
  delta <- rep(withr::with_seed(5, runif(60, 0.5, 1)), 3)
  b <- kronecker(diag(3), one)
  start <- rbind(lowest(delta[1:60], 6, m = crossprod(one))$vectors, matrix(0, 120, 6))
  for (form in list(list(b = b), list(m = crossprod(b)))) {
    found <- do.call(lowest, c(list(delta, 6, start = start), form))
    expect_true(found$converged)
    expect_equal(found$values, rep(lowest(delta[1:60], 2, m = crossprod(one))$values, each = 3), tolerance = 1e-9)
  }
})

test_that("nearly equal weights take few products; a warm start saves work and changes nothing", {
  b <- withr::with_seed(1, matrix(rnorm(20 * 500), 20))
  delta <- withr::with_seed(2, 4 + 1e-3 * runif(500))
  found <- lowest(delta, 5, b = b)
  expect_lowest(found, crossprod(b) + diag(delta), 5)
  # With a shift that is further below all weights: over 600.
  expect_lt(found$applied, 200)
  b <- withr::with_seed(2, matrix(rnorm(30 * 400), 30))
  delta <- withr::with_seed(3, runif(400, 0.5, 1))
  cold <- lowest(delta, 4, b = b)
  warm <- lowest(delta, 4, b = b, start = cold$vectors)
  expect_lt(warm$applied, cold$applied / 2)
  expect_equal(warm$values, cold$values, tolerance = 1e-10)
  # A start that holds nothing of the answer must not hide it.
  bad <- diag(400)[, order(delta, decreasing = TRUE)[1:4]]
  expect_equal(lowest(delta, 4, b = b, start = bad)$values, cold$values, tolerance = 1e-9)
})

test_that("Anderson acceleration solves a linear problem in a few more steps than unknowns", {
  a <- withr::with_seed(1, {
    q <- qr.Q(qr(matrix(rnorm(16), 4)))
    q %*% diag(c(0.99, 0.9, 0.5, -0.7)) %*% t(q)
  })
  b <- c(1, -2, 3, 4)
  want <- solve(diag(4) - a, b)
  run <- function(depth, steps) .Call(C_test_anderson, a, b, as.integer(depth), as.integer(steps))
  expect_equal(run(5L, 6L), want, tolerance = 1e-8)
  plain <- Reduce(function(u, i) drop(a %*% u + b), 1:6, numeric(4))
  expect_gt(max(abs(plain - want)), 1)
  # Beyond convergence all differences vanish; nothing breaks.
  expect_equal(run(5L, 40L), want, tolerance = 1e-8)
})
