# The parts of ufs_topk(), one by one, against the literal versions in
# helper-reference-topk.R. C works on samples in rows: its Z, Q, Y2, E are transposes.

settings <- function(...) {
  utils::modifyList(list(lambda_e = .8, lambda_z = .5, lambda_a = .01, lambda_i = 3, nonnegative = FALSE, rho = 1.1,
    mu = 1, v_max_iter = 150L, inner_tol = 1e-6, bound_max_iter = 200L, bound_tol = 1e-6), list(...))
}

# Sub-problem 1 by the entry of ufs_represent(), on rows as they are.
represent <- function(x, theta, max_iter = 500L, tol = 1e-6, exact = FALSE, ...) {
  n <- nrow(x)
  shape <- list(p = ncol(x), keep = seq_len(ncol(x)) - 1L, samples = NULL, features = NULL)
  out <- .Call(C_represent, x, theta, c(list(solver = if (exact) 1L else 0L), settings(...)), shape,
    utils::modifyList(ufs_control(warn = FALSE), list(max_iter = as.integer(max_iter), tol = tol)))
  expect_identical(out$run$lapack, 0L)
  c(lapply(out[c("z", "e")], unname), out$run[c("status", "iterations", "trace")],
    out$run$counters[c("objective", "gap")])
}

select <- function(x, label, C, k, w = NULL, start = seq_len(k), ...) {
  out <- .Call(C_test_topk_select, x, as.integer(label), as.integer(C), as.integer(k), w,
    as.integer(start - 1L), settings(...))
  expect_identical(out$info, 0L)
  out
}

# Samples in three directions, a symmetric weight matrix, labels.
topk_problem <- function(n, p, C = 3L, seed = 1) {
  withr::with_seed(seed, {
    label <- rep_len(seq_len(C), n)
    x <- matrix(rnorm(n * p), n)
    informative <- seq_len(min(p, 8L))
    x[, informative] <- x[, informative] + matrix(rnorm(C * length(informative), sd = 3), C)[label, ]
    w <- matrix(rbinom(n * n, 1, .2) * runif(n * n), n)
    list(x = t(ref_unit_columns(t(x))), label = label, w = (w + t(w)) / 2 * (1 - diag(n)))
  })
}

test_that("below the first link Z is exactly zero; a probe finds the links of a sample at equal weights", {
  prob <- topk_problem(15, 30)
  out <- represent(prob$x, matrix(0, 15, 15), lambda_e = .99 / max(rowSums(abs(prob$x))))
  expect_true(all(out$z == 0))
  # The least of link_values() is the smallest alpha_e with a link (of the exact solution).
  edge <- min(link_values(prob$x, .5)) / max(rowSums(abs(prob$x)))
  exact <- function(lambda_e, ...) represent(prob$x, matrix(1, 15, 15), lambda_e = lambda_e, exact = TRUE, ...)$z
  expect_true(all(exact(.99 * edge) == 0))
  expect_true(any(exact(1.01 * edge) != 0))
  edge <- min(link_values(prob$x, .5, TRUE)) / max(rowSums(abs(prob$x)))
  expect_true(all(exact(.99 * edge, nonnegative = TRUE) == 0))
  expect_true(any(exact(1.01 * edge, nonnegative = TRUE) != 0))
  prob <- topk_problem(14, 20)
  prob$x[5L, ] <- 0
  for (exact in c(TRUE, FALSE)) for (columns in list(1:20, 1:9)) {
    out <- represent(prob$x[, columns], matrix(1, 14, 14), exact = exact)
    expect_true(all(out$z[5L, ] == 0) && all(out$z[, 5L] == 0))
  }
  for (shape in list(c(30L, 50L), c(90L, 12L))) {
    set.seed(3)
    x <- matrix(rnorm(prod(shape)), shape[1L])
    x <- x / sqrt(rowSums(x^2))
    n <- shape[1L]
    lambda_e <- 8 / max(rowSums(abs(x)))
    all <- represent(x, matrix(1, n, n), exact = TRUE, lambda_e = lambda_e, lambda_z = .05)
    probe <- function(rows, most) {
      .Call(C_topk_probe, x, rows - 1L, c(settings(lambda_e = lambda_e, lambda_z = .05), most_pivots = most))
    }
    every <- probe(seq_len(n), 20000L)
    expect_identical(every$links, as.integer(rowSums(all$z != 0)))
    expect_equal(sum(every$pivots), all$trace[[1L, 2L]])
    expect_gt(min(every$links), 0)
    expect_identical(probe(5L, 3L)$pivots, 3L)
  }
})

test_that("the projections on the capped simplex and on the sphere are exact, also from its centre", {
  reference <- function(y, total) {
    f <- function(shift) sum(pmin(1, pmax(0, y - shift))) - total
    pmin(1, pmax(0, y - uniroot(f, c(min(y) - 1, max(y)), tol = 1e-14)$root))
  }
  for (seed in 1:5) {
    y <- withr::with_seed(seed, rnorm(30, sd = 10^(seed - 3)))
    for (total in c(1, 7.5, 29)) {
      out <- .Call(C_test_proj, y, total)$capped
      expect_equal(sum(out), total, tolerance = 1e-12)
      expect_lt(max(abs(out - reference(y, total))), 1e-9)
    }
  }
  expect_identical(.Call(C_test_proj, c(Inf, -Inf, Inf), 2)$capped, c(1, 0, 1))
  expect_equal(.Call(C_test_proj, c(Inf, .3, -Inf, .1), 1.6)$capped, c(1, .4, 0, .2))
  expect_equal(.Call(C_test_proj, rep(.2, 4), 4)$capped, rep(1, 4))
  y <- withr::with_seed(1, runif(17))
  out <- .Call(C_test_proj, y, 1)$sphere
  expect_lt(abs(sum((out - .5)^2) - 17 / 4), 1e-12)
  expect_lt(max(abs(out - ref_sphere(y))), 1e-12)
  expect_lt(abs(sum((.Call(C_test_proj, rep(.5, 8), 1)$sphere - .5)^2) - 2), 1e-12)
})

spectral <- function(z, C, previous = NULL) .Call(C_test_topk_label, z, as.integer(C), previous)

block_z <- function(n, C, seed, noise = .05) {
  withr::with_seed(seed, {
    label <- rep_len(seq_len(C), n)
    z <- outer(label, label, "==") * runif(n * n) * rbinom(n * n, 1, .6) +
      noise * matrix(rnorm(n * n), n) * rbinom(n * n, 1, .2)
    diag(z) <- 0
    list(z = z, label = label)
  })
}

# Value of the dual at the least |y| that the primal solution allows is not needed: any y that is
# feasible proves a lower bound, and complementary slackness gives one.
lp_check <- function(out, x, theta, lambda_e, lambda_z, nonnegative = FALSE) {
  w <- 1 + lambda_z * theta
  value <- sum(w * abs(out$z)) + lambda_e * sum(abs(x - out$z %*% x))
  expect_equal(out$objective, value, tolerance = 1e-12)
  expect_lt(max(abs(out$e - (x - out$z %*% x))), 1e-12)
  expect_true(all(diag(out$z) == 0))
  dual <- 0
  for (i in seq_len(nrow(x))) {
    e <- out$e[i, ]
    live <- which(out$z[i, ] != 0)
    free <- which(abs(e) < 1e-8)
    y <- lambda_e * sign(e)
    y[free] <- 0
    if (length(live)) {
      want <- w[i, live] * sign(out$z[i, live]) - x[live, , drop = FALSE] %*% y
      y[free] <- qr.coef(qr(x[live, free, drop = FALSE]), want)
    }
    reach <- drop(x %*% y)
    if (!nonnegative) reach <- abs(reach)
    y <- y / max(1, abs(y) / lambda_e, (reach / w[i, ])[-i])
    dual <- dual + sum(y * x[i, ])
  }
  expect_lt(value - dual, 1e-6 * value)
  expect_gt(value - dual, -1e-9 * value)
}

skip_on_cran()

test_that("both forms are the literal iteration", {
  for (size in list(c(20, 60), c(40, 25), c(30, 400), c(12, 12))) {
    prob <- topk_problem(size[1L], size[2L], seed = sum(size))
    theta <- withr::with_seed(1, matrix(runif(size[1L]^2), size[1L]))
    for (alpha_e in c(4, 30)) for (nonnegative in c(FALSE, TRUE)) {
      lambda_e <- alpha_e / max(rowSums(abs(prob$x)))
      for (last in list(list(500L, 1e-6), list(60L, -1))) {
        ref <- ref_represent(t(prob$x), t(theta), lambda_e, .5, nonnegative = nonnegative,
          max_iter = last[[1L]], tol = last[[2L]])
        for (off in list(character(), "topk_by_features")) with_paths_off(off, {
          out <- represent(prob$x, theta, last[[1L]], last[[2L]], lambda_e = lambda_e, nonnegative = nonnegative)
          expect_identical(out$iterations, ref$iterations)
          expect_lt(max(abs(out$z - t(ref$Z))), 1e-10)
          expect_lt(max(abs(out$e - t(ref$E))), 1e-10)
          expect_equal(out$objective, ref$objective, tolerance = 1e-12)
          expect_equal(unname(out$trace[, 4:6]), unname(ref$trace), tolerance = 1e-7)
        })
      }
    }
  }
})

test_that("the paper's ADMM goes from zero anew, and its certificate holds", {
  prob <- topk_problem(30, 12, seed = 7)
  theta <- withr::with_seed(2, matrix(runif(900), 30))
  lambda_e <- 6 / max(rowSums(abs(prob$x)))
  for (nonnegative in c(FALSE, TRUE)) {
    run <- function(...) represent(prob$x, theta, lambda_e = lambda_e, nonnegative = nonnegative, ...)
    exact <- run(exact = TRUE)
    for (last in c(5L, 40L, 500L)) {
      out <- run(max_iter = last)
      expect_gte(out$objective, exact$objective * (1 - 1e-9))
      expect_lte(out$objective * (1 - out$gap), exact$objective * (1 + 1e-9))
    }
    slow <- run(rho = 1, mu = 10, tol = 1e-9, max_iter = 40000L)
    expect_lt(slow$gap, 1e-6)
    expect_equal(slow$objective, exact$objective, tolerance = 1e-6)
    if (nonnegative) expect_true(all(out$z >= 0) && all(slow$z >= 0))
  }
})

test_that("the polish is the literal one, and no swap improves its result", {
  for (size in list(c(24, 12), c(9, 20))) {
    prob <- topk_problem(size[1L], size[2L], seed = 3)
    w <- prob$w
    ref <- ref_select(t(prob$x), ref_one_hot(prob$label, 3L), diag(rowSums(w)) - w, 4L, .01, 3, polish = FALSE)
    for (seed in 1:6) {
      start <- withr::with_seed(seed, sort(sample(size[2L], 4L)))
      expected <- ref_polish(start, ref$K, ref$B, ref$YY, .01)
      value <- function(S) ref_criterion(S, ref$K, ref$B, ref$YY, .01)
      for (off in list(character(), "topk_compress")) {
        out <- with_paths_off(off, select(prob$x, prob$label, 3L, 4L, w, start))
        expect_identical(out$polished + 1L, expected)
        expect_equal(out$polished_value, value(expected), tolerance = 1e-10)
      }
      expect_lte(out$polished_value, value(start) + 1e-12)
      for (i in 1:4) for (j in setdiff(seq_len(size[2L]), expected)) {
        expect_gt(value(c(expected[-i], j)), out$polished_value - 1e-9)
      }
    }
  }
})

test_that("the bound is proved: below every set, and tight for the relaxation", {
  for (size in list(c(24, 12), c(10, 13))) for (k in c(1L, 3L, 6L)) {
    prob <- topk_problem(size[1L], size[2L], seed = k)
    w <- prob$w
    L <- diag(rowSums(w)) - w
    Y <- ref_one_hot(prob$label, 3L)
    ref <- ref_select(t(prob$x), Y, L, k, .01, 3, polish = FALSE)
    brute <- ref_brute(k, ref$K, ref$B, ref$YY, .01)
    for (off in list(character(), "topk_compress")) {
      out <- with_paths_off(off, select(prob$x, prob$label, 3L, k, w))
      expect_true(all(out$relaxed >= 0 & out$relaxed <= 1))
      expect_equal(sum(out$relaxed), k, tolerance = 1e-9)
      expect_equal(out$h, ref_relaxed(out$relaxed, t(prob$x), Y, L, .01, 3)$value, tolerance = 1e-9)
      expect_lte(out$lower, min(brute$values) + 1e-9)
      expect_lte(out$lower, out$h + 1e-9)
      expect_lt(out$h - out$lower, 1e-4 * (1 + out$h))
    }
  }
})

test_that("spectral labels are the literal ones, and allow isolated samples", {
  for (seed in 1:8) {
    made <- block_z(24L, 3L, seed, noise = .1 * seed)
    for (C in 1:4) {
      out <- spectral(made$z, C)
      expect_identical(out$info, 0L)
      expect_identical(out$label, ref_spectral(t(made$z), C))
      expect_identical(out$label, canonical_labels(out$label))
    }
    previous <- withr::with_seed(seed, canonical_labels(sample(rep_len(1:3, 24L))))
    expect_identical(spectral(made$z, 3L, previous)$label, ref_spectral(t(made$z), 3L, previous))
  }
  # A sample with one link and no other to it belongs where it points.
  for (alone in 1:7) {
    others <- setdiff(1:7, alone)
    z <- matrix(0, 7, 7)
    z[others[1:3], others[1:3]] <- z[others[4:6], others[4:6]] <- 1 - diag(3)
    z[others[5], alone] <- .5
    label <- spectral(z, 2L)$label
    expect_identical(label, ref_spectral(t(z), 2L))
    expect_identical(label[alone], label[others[5]])
    label <- spectral(t(z), 2L)$label
    expect_identical(label, ref_spectral(z, 2L))
    expect_identical(label[alone], label[others[5]])
  }
  made <- block_z(30L, 3L, 9, noise = .01)
  expect_identical(spectral(made$z, 3L)$label, canonical_labels(made$label))
  # The partition before is kept where it is the better one.
  kept <- 0L
  for (seed in 1:20) {
    z <- withr::with_seed(seed, matrix(rnorm(900) * rbinom(900, 1, .3), 30))
    diag(z) <- 0
    previous <- withr::with_seed(seed, canonical_labels(sample(rep_len(1:4, 30L))))
    label <- spectral(z, 4L, previous)$label
    expect_identical(label, ref_spectral(t(z), 4L, previous))
    kept <- kept + !identical(label, spectral(z, 4L)$label)
  }
  expect_gt(kept, 0L)
  made <- block_z(30L, 3L, 4)
  made$z[c(4, 9), ] <- 0
  made$z[, c(4, 9)] <- 0
  out <- spectral(made$z, 3L)
  expect_identical(out$label, ref_spectral(t(made$z), 3L))
  expect_identical(canonical_labels(out$label[-c(4, 9)]), canonical_labels(made$label[-c(4, 9)]))
  # Two linked samples cannot seed three clusters.
  z <- matrix(0, 10, 10)
  z[1, 2] <- z[2, 1] <- 1
  expect_identical(spectral(z, 3L)$info, -1L)
  expect_identical(spectral(z, 2L)$info, 0L)
})

test_that("the linear programmes reach the optimum, in any order of the samples, with ties, copies and zeros", {
  for (size in list(c(20, 60), c(40, 25), c(12, 12), c(60, 8))) {
    prob <- topk_problem(size[1L], size[2L], seed = sum(size))
    theta <- withr::with_seed(2, matrix(runif(size[1L]^2), size[1L]))
    theta <- theta + t(theta)
    for (alpha_e in c(2, 5, 30)) for (nonnegative in c(FALSE, TRUE)) {
      lambda_e <- alpha_e / max(rowSums(abs(prob$x)))
      run <- function(x, theta) represent(x, theta, exact = TRUE, lambda_e = lambda_e, nonnegative = nonnegative)
      out <- run(prob$x, theta)
      expect_identical(out$status, 0L)
      expect_lt(out$gap, 1e-7)
      lp_check(out, prob$x, theta, lambda_e, .5, nonnegative)
      if (nonnegative) expect_true(all(out$z >= 0))
      order <- withr::with_seed(3, sample(size[1L]))
      expect_lt(max(abs(run(prob$x[order, ], theta[order, order])$z - out$z[order, order])), 1e-7)
    }
  }
  out <- represent(t(topk_fixture("f1_X")), topk_fixture("f1_Theta"), exact = TRUE)
  expect_equal(out$objective, topk_expected("f1")$opt_objective_fixed_mu10, tolerance = 1e-6)
  expect_lt(max(abs(t(out$z) - topk_fixture("f1_Z_opt"))), 1e-5)
  x <- withr::with_seed(1, matrix(sample(-1:1, 30 * 20, TRUE), 30))
  x[7, ] <- x[3, ]
  x[8, ] <- -x[3, ]
  x[, 5] <- x[, 2]
  x[, 6] <- 0
  x[11, ] <- 0
  x <- x / pmax(sqrt(rowSums(x^2)), 1)
  for (alpha_e in c(2, 10)) {
    out <- represent(x, matrix(1, 30, 30), exact = TRUE, lambda_e = alpha_e / max(rowSums(abs(x))))
    expect_identical(out$status, 0L)
    expect_lt(out$gap, 1e-6)
    expect_true(all(out$z[11, ] == 0) && all(out$z[, 11] == 0))
  }
})

test_that("both ADMMs write their objective beside the residuals", {
  for (p in c(40, 9)) for (last in c(7L, 40L, 90L)) {
    prob <- topk_problem(14, p)
    lambda_e <- 6 / max(rowSums(abs(prob$x)))
    out <- represent(prob$x, matrix(1, 14, 14), last, -1, lambda_e = lambda_e)
    expect_equal(out$trace[[last, 7L]], 1.5 * sum(abs(out$z)) + lambda_e * sum(abs(out$e)), tolerance = 1e-9)
  }
  for (n in c(18, 30)) {
    prob <- topk_problem(n, 12)
    out <- select(prob$x, prob$label, 3L, 5L, prob$w)
    L <- diag(rowSums(prob$w)) - prob$w
    first <- ref_select(t(prob$x), ref_one_hot(prob$label, 3L), L, 5L, .01, 3, polish = FALSE)
    # The first row is the ridge regression on all features.
    expect_equal(out$trace[1L, 7L], ref_criterion(1:12, first$K, first$B, first$YY, .01), tolerance = 1e-9)
  }
})
