rrss_call <- function(x, gamma, control, relative = FALSE) {
  out <- .Call(C_rrss, x, list(gamma = gamma, relative = relative), control)
  c(out, out$run, as.list(out$run$counters))
}

test_that("greedy TED: both forms equal the literal algorithm, scores are decreases, also over many picks", {
  skip_on_cran()
  for (size in list(c(25, 6), c(12, 30), c(20, 20))) {
    x <- sample_data(size[1], size[2])
    for (mu in c(0.01, 1, 50)) {
      ref <- ref_ted_greedy(x, 10L, mu)
      for (form in c("n", "p", "a")) {
        out <- ted_greedy(x, 10L, mu, form)
        expect_identical(out$order, ref$order)
        expect_equal(out$score, ref$score, tolerance = 1e-10)
      }
    }
    j <- vapply(0:10, function(m) ref_ted_objective(x, ref$order[seq_len(m)], mu), 0)
    expect_equal(out$score, -diff(j), tolerance = 1e-10)
    expect_equal(out$start, j[1L], tolerance = 1e-12)
  }
  # Beyond the rank, and far enough for decreases to fall by many orders of magnitude.
  x <- sweep(sample_data(60, 12), 2, 10^-(0:11 / 2), "*")
  mu <- 1e-6
  ref <- ref_ted_greedy(x, 40L, mu)
  for (form in c("n", "p")) {
    out <- ted_greedy(x, 40L, mu, form)
    expect_lt(ref$score[12] / ref$score[1], 1e-6)
    expect_identical(out$order[1:12], ref$order[1:12])
    expect_equal(out$score[1:12], ref$score[1:12], tolerance = 1e-5)
    j <- vapply(c(0, 12, 40), function(m) ref_ted_objective(x, out$order[seq_len(m)], mu), 0)
    expect_equal(sum(out$score[1:12]), j[1] - j[2], tolerance = 1e-10)
    expect_equal(sum(out$score), j[1] - j[3], tolerance = 1e-10)
  }
})

test_that("greedy TED: `left` is what each other sample would bring next, in the cheaper form", {
  x <- sample_data(15, 5)
  for (form in c("n", "p")) {
    out <- ted_greedy(x, 4L, 2, form)
    before <- ref_ted_objective(x, out$order, 2)
    gain <- vapply(seq_len(15), function(j) {
      if (j %in% out$order) 0 else before - ref_ted_objective(x, c(out$order, j), 2)
    }, 0)
    expect_equal(out$left, gain, tolerance = 1e-9)
  }
  expect_true(ted_greedy(sample_data(200, 4), 20L, 1)$p_form)
  expect_false(ted_greedy(sample_data(20, 200), 20L, 1)$p_form)
  # Equal decreases go to the lowest index.
  x <- sample_data(12, 5)
  twice <- rbind(x, x)
  for (form in c("n", "p")) {
    out <- ted_greedy(twice, 12L, 0.1, form)
    expect_identical(out$order[1L], ref_ted_greedy(twice, 1L, 0.1)$order)
    expect_true(all(match(out$order - 12L, out$order[out$order <= 12L], 0L)[out$order > 12L] > 0L))
  }
  # An orthogonal design: all samples are equal at every step.
  expect_identical(ted_greedy(diag(3, 6), 6L, 1)$order, 1:6)
  expect_identical(ted_greedy(diag(3, 6), 6L, 1, "p")$order, 1:6)
  # Samples at the centre bring nothing, and are taken in order.
  expect_identical(ted_greedy(rbind(0, x[1:3, ], 0), 5L, 1)$order[4:5], c(1L, 5L))
  expect_identical(ted_greedy(matrix(0, 4, 2), 4L, 1)$order, 1:4)
  skip_on_cran()
  for (seed in 1:5) {
    turn <- withr::with_seed(seed, qr.Q(qr(matrix(stats::rnorm(64), 8))))
    for (form in c("n", "p")) {
      expect_identical(ted_greedy(3 * turn, 8L, 1, form)$order, 1:8)
      # Every other item is twice as large: those first, in order.
      expect_identical(ted_greedy(rep(c(1, 2), 4) * turn, 8L, 1, form)$order, c(2L, 4L, 6L, 8L, 1L, 3L, 5L, 7L))
    }
  }
})

test_that("RRSS without n systems equals RRSS with them, step by step; coordinates keep inner products", {
  for (size in list(c(20, 6), c(10, 25))) {
    x <- sample_data(size[1], size[2])
    x <- x / mean(row_norms(x))
    # No residual vanishes at this penalty: the literal form gets those by subtraction.
    ref <- ref_rrss(x, 1, 15L)
    out <- rrss_call(sample_coordinates(x), 1, ufs_control(max_iter = 15, tol = -1, eps = 1e-8))
    expect_equal(out$trace[, "objective"], ref$objective, tolerance = 1e-10)
    expect_equal(out$row_norm, ref$row_norm, tolerance = 1e-8)
    expect_equal(out$residual, ref$residual, tolerance = 1e-8)
    expect_true(all(diff(out$trace[, "objective"]) <= 1e-12))
  }
  for (size in list(c(8, 3), c(5, 20), c(6, 6))) {
    x <- sample_data(size[1], size[2])
    z <- sample_coordinates(x)
    expect_equal(dim(z), c(min(size), size[1]))
    expect_equal(crossprod(z), tcrossprod(x), tolerance = 1e-12)
  }
})

test_that("the RRSS penalty bound is exact; acceleration lowers the objective and agrees with plain steps", {
  x <- sample_coordinates(sample_data(20, 6))
  unit <- sweep(x, 2L, sqrt(colSums(x^2)), "/")
  at_zero <- rrss_call(x, 1, ufs_control(max_iter = 0, tol = 1e-3, eps = 1e-8), relative = TRUE)
  activity <- sqrt(colSums(crossprod(unit, x)^2))
  expect_equal(at_zero$gamma_max, max(activity), tolerance = 1e-12)
  expect_equal(at_zero$activity, activity / max(activity), tolerance = 1e-12)
  solve_at <- function(share) rrss_call(x, share, ufs_control(max_iter = 500, tol = 1e-6, eps = 1e-8), relative = TRUE)
  expect_identical(solve_at(1)$row_norm, rep(0, 20))
  expect_gt(max(solve_at(0.9)$row_norm), 1e-3)
  x <- sample_coordinates(sample_data(40, 10))
  x <- x / mean(sqrt(colSums(x^2)))
  plain <- rrss_call(x, 0.2, ufs_control(max_iter = 400, tol = -1, eps = 1e-8), relative = TRUE)
  fast <- rrss_call(x, 0.2, ufs_control(max_iter = 400, tol = 1e-4, eps = 1e-8), relative = TRUE)
  expect_identical(plain$iterations, 400L)
  expect_lt(fast$iterations, 400L)
  expect_identical(fast$status, 0L)
  expect_true(all(diff(fast$trace[, "objective"]) <= 1e-12 * fast$trace[1L, "objective"]))
  expect_lt(abs(fast$primal / plain$primal - 1), 1e-5)
  # Both bounds hold for both answers, and gaps never fall below zero.
  expect_gt(min(plain$primal, fast$primal), max(plain$dual, fast$dual))
  expect_gt(min(plain$trace[, "gap"], fast$trace[, "gap"]), -1e-10)
})

test_that("ALNR-style equals the alternation in A and b", {
  x <- sample_data(25, 4)
  gram <- x %*% t(x)
  mu <- 0.5
  g <- 2
  gamma <- 2 * sqrt(mu * g)
  ref <- ref_alnr(x, 4L, mu, g, 12L)
  control <- ufs_control(max_iter = 12, tol = -1, eps = 1e-12)
  out <- .Call(C_alnr, x, list(k = 4L, gamma = gamma, relative = FALSE), control)
  trace <- out$run$trace[, "objective"]
  expect_equal(trace, ref$objective, tolerance = 1e-9)
  expect_equal(out$row_norm, ref$z, tolerance = 1e-8)
  expect_true(all(diff(trace) <= 1e-10 * trace[1L]))
})
