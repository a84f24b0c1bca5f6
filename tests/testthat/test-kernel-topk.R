# The parts of ufs_topk(), one by one, against the literal versions in
# helper-reference-topk.R. C works on samples in rows: its Z, Q, Y2, E are transposes.

settings <- function(...) {
  utils::modifyList(list(
    lambda_e = .8, lambda_z = .5, lambda_a = .01, lambda_i = 3, alpha = .95, polish = TRUE,
    cmn = FALSE, nonnegative = FALSE, incumbent = TRUE, rho = 1.1, mu = 1,
    v_max_iter = 150L, bound = TRUE, branch_and_bound = FALSE, node_limit = 100L, max_iter = 10L, tol = 1e-5,
    inner_max_iter = 500L, inner_tol = 1e-6, bound_max_iter = 200L, bound_tol = 1e-6,
    represent_form = "auto", select_form = "auto"
  ), list(...))
}

represent <- function(x, theta, ...) {
  out <- .Call(C_test_topk_represent, x, theta, settings(...))
  expect_identical(out$info, 0L)
  out
}

select <- function(x, label, C, k, w = NULL, start = seq_len(k), ...) {
  out <- .Call(C_test_topk_select, x, as.integer(label), as.integer(C), as.integer(k), w,
    as.integer(start - 1L), settings(...))
  expect_identical(out$info, 0L)
  out
}

unit_rows <- function(x) t(ref_unit_columns(t(x)))

# Samples in three directions, a symmetric weight matrix, labels.
topk_problem <- function(n, p, C = 3L, seed = 1) {
  withr::with_seed(seed, {
    label <- rep_len(seq_len(C), n)
    x <- matrix(rnorm(n * p), n)
    informative <- seq_len(min(p, 8L))
    x[, informative] <- x[, informative] +
      matrix(rnorm(C * length(informative), sd = 3), C)[label, ]
    w <- matrix(rbinom(n * n, 1, .2) * runif(n * n), n)
    list(x = unit_rows(x), label = label, w = (w + t(w)) / 2 * (1 - diag(n)))
  })
}

# ---- sub-problem 1 ----------------------------------------------------------------------

test_that("soft thresholding minimises its scalar problem", {
  withr::with_seed(1, {
    q <- rnorm(200, sd = 2)
    t <- rexp(200)
  })
  for (i in seq_along(q)) {
    value <- function(z) t[i] * abs(z) + .5 * (q[i] - z)^2
    z <- .Call(C_test_prox, matrix(q[i]), t[i])[[1L]]
    expect_lte(value(z), optimize(value, c(-10, 10), tol = 1e-10)$objective + 1e-9)
  }
})

test_that("both forms replay fixture F1 step by step and to convergence", {
  X <- topk_fixture("f1_X")
  theta <- topk_fixture("f1_Theta")
  expected <- topk_expected("f1")
  for (form in c("n", "p")) {
    out <- represent(t(X), theta, inner_max_iter = 25L, inner_tol = -1, represent_form = form)
    expect_identical(out$n_form, form == "n")
    expect_equal(t(out$z), topk_fixture("f1_Z_it25"), tolerance = 1e-10)
    expect_equal(t(out$e), topk_fixture("f1_E_it25"), tolerance = 1e-10)
    expect_equal(t(out$q), topk_fixture("f1_Q_it25"), tolerance = 1e-10)
    expect_equal(out$trace[25L, 4:5], c(expected$it25_r1, expected$it25_r2), tolerance = 1e-10)
    out <- represent(t(X), theta, inner_tol = 1e-8, represent_form = form)
    expect_identical(out$iterations, as.integer(expected$conv_iter))
    expect_equal(t(out$z), topk_fixture("f1_Z_conv"), tolerance = 1e-10)
    expect_equal(out$objective, expected$conv_objective, tolerance = 1e-10)
    # rho > 1 stops near the optimum, feasible, with a zero diagonal.
    expect_lt(out$objective / expected$opt_objective_fixed_mu10, 1.02)
    expect_true(all(diag(out$z) == 0))
    expect_true(all(out$trace[out$iterations, 4:6] < 1e-8))
  }
})

test_that("rho = 1 solves sub-problem 1 exactly: KKT and the value of the linear programme", {
  X <- topk_fixture("f1_X")
  theta <- topk_fixture("f1_Theta")
  w <- 1 + .5 * theta
  for (form in c("n", "p")) {
    out <- represent(t(X), theta, rho = 1, mu = 10, inner_tol = 1e-9,
      inner_max_iter = 20000L, represent_form = form)
    expect_lt(out$iterations, 20000L)
    expect_equal(out$objective, topk_expected("f1")$opt_objective_fixed_mu10, tolerance = 1e-6)
    expect_lt(max(abs(t(out$z) - topk_fixture("f1_Z_opt"))), 1e-5)
    expect_lt(max(abs(out$y1)) - .8, 1e-6)
    off <- row(w) != col(w)
    expect_lt(max((abs(out$y2) - w)[off]), 1e-6)
    live <- out$z != 0
    expect_lt(max(abs(out$y2 - w * sign(out$z))[live]), 1e-6)
    expect_lt(max(abs(tcrossprod(out$y1, t(X)) - out$y2)), 1e-6)
    expect_lt(max(abs(t(X) - out$z %*% t(X) - out$e)), 1e-6)
  }
})

test_that("the identities behind the two forms hold", {
  prob <- topk_problem(9, 6)
  X <- t(prob$x)
  withr::with_seed(2, {
    Bm <- matrix(rnorm(54), 6)
    Cm <- matrix(rnorm(81), 9)
  })
  Q <- ref_q_step(X, Bm, Cm)
  # Gradient of the augmented Lagrangian in Q.
  expect_lt(max(abs(crossprod(X, X %*% Q - Bm) + Q - Cm)), 1e-10)
  T <- solve(tcrossprod(X) + diag(6), Bm - X %*% Cm)
  expect_lt(max(abs(Q - Cm - crossprod(X, T))), 1e-10)
  expect_lt(max(abs(X %*% Q - (Bm - T))), 1e-10)
})

test_that("both forms are the literal iteration, screened or not", {
  skip_on_cran()
  screened <- 0L
  for (size in list(c(20, 60), c(40, 25), c(30, 400), c(12, 12))) {
    prob <- topk_problem(size[1L], size[2L], seed = sum(size))
    theta <- withr::with_seed(1, matrix(runif(size[1L]^2), size[1L]))
    theta <- theta + t(theta)
    for (alpha_e in c(4, 30)) {
      lambda_e <- alpha_e / max(rowSums(abs(prob$x)))
      ref <- ref_represent(t(prob$x), theta, lambda_e, .5)
      for (form in c("n", "p")) {
        out <- represent(prob$x, theta, lambda_e = lambda_e, represent_form = form)
        expect_identical(out$iterations, ref$iterations)
        expect_lt(max(abs(out$z - t(ref$Z))), 1e-10)
        expect_lt(max(abs(out$e - t(ref$E))), 1e-10)
        expect_lt(max(abs(out$q - t(ref$Q))), 1e-10)
        expect_equal(out$objective, ref$objective, tolerance = 1e-12)
        expect_equal(out$trace[, 4:6], unname(ref$trace), tolerance = 1e-7)
        screened <- screened + out$screened
      }
      # In the middle of the run, where E has not been completed for other reasons.
      ref <- ref_represent(t(prob$x), theta, lambda_e, .5, tol = -1, max_iter = 60L)
      out <- represent(prob$x, theta, lambda_e = lambda_e, inner_tol = -1,
        inner_max_iter = 60L, represent_form = "n")
      expect_lt(max(abs(out$e - t(ref$E))), 1e-10)
    }
  }
  expect_gt(screened, 200L)
})

test_that("Z >= 0: both forms are the literal iteration, and rho = 1 meets the KKT conditions", {
  skip_on_cran()
  for (size in list(c(15, 40), c(30, 12))) {
    prob <- topk_problem(size[1L], size[2L], seed = 7)
    theta <- matrix(1, size[1L], size[1L])
    lambda_e <- 6 / max(rowSums(abs(prob$x)))
    ref <- ref_represent(t(prob$x), theta, lambda_e, .5, nonnegative = TRUE)
    for (form in c("n", "p")) {
      out <- represent(prob$x, theta, lambda_e = lambda_e, nonnegative = TRUE,
        represent_form = form)
      expect_lt(max(abs(out$z - t(ref$Z))), 1e-10)
      expect_lt(max(abs(out$e - t(ref$E))), 1e-10)
      expect_true(all(out$z >= 0))
    }
    out <- represent(prob$x, theta, lambda_e = lambda_e, nonnegative = TRUE, rho = 1, mu = 10,
      inner_tol = 1e-9, inner_max_iter = 40000L)
    off <- row(theta) != col(theta)
    expect_lt(max((out$y2 - 1.5)[off]), 1e-6)
    expect_lt(max(abs(out$y2 - 1.5)[out$z > 0]), 1e-6)
    expect_lt(max(abs(tcrossprod(out$y1, prob$x) - out$y2)), 1e-6)
    expect_lte(out$objective, ref$objective + 1e-6)
  }
})

test_that("blocks of samples stop together, at the iteration at which all have converged", {
  skip_on_cran()
  prob <- topk_problem(150L, 12L, seed = 3)
  prob$x[1:20, ] <- prob$x[1, ]
  theta <- withr::with_seed(1, matrix(runif(150^2), 150L))
  lambda_e <- 8 / max(rowSums(abs(prob$x)))
  for (more in list(list(), list(inner_tol = -1, inner_max_iter = 30L), list(inner_max_iter = 3L),
    list(rho = 1, mu = 10, inner_tol = 1e-4, inner_max_iter = 3000L))) {
    run <- function(form) {
      do.call(represent, c(list(prob$x, theta, lambda_e = lambda_e, represent_form = form), more))
    }
    whole <- run("n")
    parts <- run("p")
    expect_identical(parts$iterations, whole$iterations)
    for (part in c("z", "e", "q", "y1")) expect_lt(max(abs(parts[[part]] - whole[[part]])), 1e-8)
    expect_equal(parts$trace, whole$trace, tolerance = 1e-6)
    expect_equal(parts$objective, whole$objective, tolerance = 1e-10)
    expect_equal(parts$gap, whole$gap, tolerance = 1e-6)
  }
})

test_that("below the first link Z is exactly zero", {
  prob <- topk_problem(15, 30)
  out <- represent(prob$x, matrix(0, 15, 15), lambda_e = .99 / max(rowSums(abs(prob$x))))
  expect_true(all(out$z == 0))
  # first_link() is the smallest alpha_e with a link (of the exact solution).
  edge <- first_link(prob$x, .5) / max(rowSums(abs(prob$x)))
  exact <- function(lambda_e, ...) {
    represent(prob$x, matrix(1, 15, 15), lambda_e = lambda_e, rho = 1, mu = 10,
      inner_max_iter = 5000L, ...)$z
  }
  expect_true(all(exact(.99 * edge) == 0))
  expect_true(any(exact(1.01 * edge) != 0))
  edge <- first_link(prob$x, .5, TRUE) / max(rowSums(abs(prob$x)))
  expect_true(all(exact(.99 * edge, nonnegative = TRUE) == 0))
  expect_true(any(exact(1.01 * edge, nonnegative = TRUE) != 0))
})

test_that("a zero sample gets no links and gives none", {
  prob <- topk_problem(14, 20)
  prob$x[5L, ] <- 0
  for (form in c("n", "p")) {
    out <- represent(prob$x, matrix(1, 14, 14), represent_form = form)
    expect_true(all(out$z[5L, ] == 0) && all(out$z[, 5L] == 0))
  }
})

# ---- sub-problem 2 ----------------------------------------------------------------------

test_that("dense and low-rank ADMM are the literal one", {
  skip_on_cran()
  for (size in list(c(18, 12), c(12, 40))) {
    prob <- topk_problem(size[1L], size[2L], seed = size[2L])
    Y <- ref_one_hot(prob$label, 3L)
    for (graph in c(TRUE, FALSE)) for (incumbent in c(TRUE, FALSE)) {
      w <- if (graph) prob$w
      L <- if (graph) diag(rowSums(w)) - w else matrix(0, size[1L], size[1L])
      ref <- ref_select(t(prob$x), Y, L, 5L, .01, if (graph) 3 else 0, incumbent,
        polish = FALSE)
      for (form in c("n", "p")) {
        out <- select(prob$x, prob$label, 3L, 5L, w, incumbent = incumbent, select_form = form)
        expect_identical(out$dense, form == "p")
        expect_identical(out$iterations, ref$iterations)
        expect_identical(out$chosen + 1L, ref$S)
        expect_equal(out$value, ref$objective, tolerance = 1e-9)
        expect_lt(max(abs(out$v - ref$v_cont)), 1e-6)
        expect_lt(max(abs(t(out$a) - ref$A)), 1e-8)
        # A is the ridge solution of its set, and g its explicit objective.
        V <- diag(as.numeric(seq_len(size[2L]) %in% ref$S))
        A <- t(out$a)
        expect_lt(max(abs(A %*% (V %*% ref$K %*% V + .01 * diag(size[2L])) -
          t(ref$B) %*% V)), 1e-10)
        P <- A %*% V %*% t(prob$x)
        explicit <- sum((P - Y)^2) + .01 * sum(A^2) + 3 * sum(diag(P %*% L %*% t(P)))
        expect_equal(out$value, explicit, tolerance = 1e-9)
      }
    }
  }
})

test_that("the ADMM ends binary with the right sum on fixture F2", {
  x <- unit_rows(t(topk_fixture("f2_X")))
  out <- select(x, topk_fixture("f2_truth"), 3L, 4L)
  expect_lt(max(abs(out$v - round(out$v))), 1e-5)
  expect_lt(abs(sum(out$v) - 4), 1e-5)
  expect_lt(out$iterations, 150L)
  expect_equal(out$v, topk_fixture("f2_sup_vcont"), tolerance = 1e-6)
  expect_true(all(out$trace[out$iterations, 3:6] < 1e-6))
})

test_that("the polish is the literal one, and no swap improves its result", {
  skip_on_cran()
  for (size in list(c(18, 12), c(9, 20))) {
    prob <- topk_problem(size[1L], size[2L], seed = 3)
    w <- prob$w
    ref <- ref_select(t(prob$x), ref_one_hot(prob$label, 3L), diag(rowSums(w)) - w, 4L, .01,
      3, polish = FALSE)
    for (seed in 1:6) {
      start <- withr::with_seed(seed, sort(sample(size[2L], 4L)))
      expected <- ref_polish(start, ref$K, ref$B, ref$YY, .01)
      value <- function(S) ref_criterion(S, ref$K, ref$B, ref$YY, .01)
      for (form in c("n", "p")) {
        out <- select(prob$x, prob$label, 3L, 4L, w, start, select_form = form)
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

# ---- bound ------------------------------------------------------------------------------

test_that("the bound is proved: below every set, and tight for the relaxation", {
  skip_on_cran()
  for (size in list(c(18, 12), c(10, 13))) for (k in c(1L, 3L, 6L)) {
    prob <- topk_problem(size[1L], size[2L], seed = k)
    w <- prob$w
    L <- diag(rowSums(w)) - w
    Y <- ref_one_hot(prob$label, 3L)
    ref <- ref_select(t(prob$x), Y, L, k, .01, 3, polish = FALSE)
    brute <- ref_brute(k, ref$K, ref$B, ref$YY, .01)
    for (form in c("n", "p")) {
      out <- select(prob$x, prob$label, 3L, k, w, select_form = form)
      expect_true(all(out$relaxed >= 0 & out$relaxed <= 1))
      expect_equal(sum(out$relaxed), k, tolerance = 1e-9)
      literal <- ref_relaxed(out$relaxed, t(prob$x), Y, L, .01, 3)
      expect_equal(out$h, literal$value, tolerance = 1e-9)
      expect_lte(out$lower, min(brute$values) + 1e-9)
      expect_lte(out$lower, out$h + 1e-9)
      expect_lt(out$h - out$lower, 1e-4 * (1 + out$h))
      # The bound of section 13 at the last point is not above the one kept.
      frank_wolfe <- literal$value - sum(literal$gradient * out$relaxed) +
        sum(sort(literal$gradient)[seq_len(k)])
      expect_gte(out$lower, frank_wolfe - 1e-9)
    }
    # h(1_S) = g(S).
    for (i in seq(1L, ncol(brute$all), by = 50L)) {
      s <- as.numeric(seq_len(size[2L]) %in% brute$all[, i])
      expect_equal(ref_relaxed(s, t(prob$x), Y, L, .01, 3)$value, brute$values[i],
        tolerance = 1e-10)
    }
  }
})

test_that("the projection on the capped simplex is exact", {
  reference <- function(y, total) {
    f <- function(shift) sum(pmin(1, pmax(0, y - shift))) - total
    pmin(1, pmax(0, y - uniroot(f, c(min(y) - 1, max(y)), tol = 1e-14)$root))
  }
  for (seed in 1:5) {
    y <- withr::with_seed(seed, rnorm(30, sd = 10^(seed - 3)))
    for (total in c(1, 7.5, 29)) {
      out <- .Call(C_test_proj_capped, y, total)
      expect_equal(sum(out), total, tolerance = 1e-12)
      expect_lt(max(abs(out - reference(y, total))), 1e-9)
    }
  }
  expect_identical(.Call(C_test_proj_capped, c(Inf, -Inf, Inf), 2), c(1, 0, 1))
  expect_equal(.Call(C_test_proj_capped, c(Inf, .3, -Inf, .1), 1.6), c(1, .4, 0, .2))
  expect_equal(.Call(C_test_proj_capped, rep(.2, 4), 4), rep(1, 4))
})

test_that("the sphere projection has the right distance, also from its centre", {
  y <- withr::with_seed(1, runif(17))
  out <- .Call(C_test_proj, y, 1)$sphere
  expect_lt(abs(sum((out - .5)^2) - 17 / 4), 1e-12)
  expect_lt(max(abs(out - ref_sphere(y))), 1e-12)
  centre <- .Call(C_test_proj, rep(.5, 8), 1)$sphere
  expect_lt(abs(sum((centre - .5)^2) - 2), 1e-12)
})

# ---- labels -----------------------------------------------------------------------------

spectral <- function(z, C, previous = NULL) {
  .Call(C_test_topk_label, z, as.integer(C), previous)
}

block_z <- function(n, C, seed, noise = .05) {
  withr::with_seed(seed, {
    label <- rep_len(seq_len(C), n)
    z <- outer(label, label, "==") * runif(n * n) * rbinom(n * n, 1, .6) +
      noise * matrix(rnorm(n * n), n) * rbinom(n * n, 1, .2)
    diag(z) <- 0
    list(z = z, label = label)
  })
}

test_that("spectral labels are the literal ones", {
  skip_on_cran()
  for (seed in 1:8) {
    made <- block_z(24L, 3L, seed, noise = .1 * seed)
    for (C in 1:4) {
      out <- spectral(made$z, C)
      expect_identical(out$info, 0L)
      expect_identical(out$label, ref_spectral(t(made$z), C))
      expect_identical(out$label, canonical_labels(out$label))
    }
    previous <- withr::with_seed(seed, canonical_labels(sample(rep_len(1:3, 24L))))
    expect_identical(spectral(made$z, 3L, previous)$label,
      ref_spectral(t(made$z), 3L, previous))
  }
  made <- block_z(30L, 3L, 9, noise = .01)
  expect_identical(spectral(made$z, 3L)$label, canonical_labels(made$label))
})

test_that("the partition before is kept where it is the better one", {
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
})

test_that("spectral labels follow a permutation, and isolated samples are allowed", {
  made <- block_z(30L, 3L, 4)
  order <- withr::with_seed(1, sample(30L))
  expect_identical(spectral(made$z[order, order], 3L)$label,
    canonical_labels(spectral(made$z, 3L)$label[order]))
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

# ---- sub-problem 1 sample by sample ---------------------------------------------------------

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

test_that("a probe finds the links of a sample at equal weights", {
  for (shape in list(c(30L, 50L), c(90L, 12L))) {
    set.seed(3)
    x <- matrix(rnorm(prod(shape)), shape[1L])
    x <- x / sqrt(rowSums(x^2))
    n <- shape[1L]
    s <- settings(lambda_e = 8 / max(rowSums(abs(x))), lambda_z = .05, inner_max_iter = 20000L)
    all <- .Call(C_test_topk_lp, x, list(matrix(1, n, n)), s)
    probe <- .Call(C_topk_probe, x, seq_len(n) - 1L, c(s, most_pivots = 20000L))
    expect_identical(probe$links, as.integer(rowSums(all$z != 0)))
    expect_equal(sum(probe$pivots), all$pivots)
    expect_gt(min(probe$links), 0)
    expect_identical(.Call(C_topk_probe, x, 4L, c(s, most_pivots = 3L))$pivots, 3L)
  }
})

test_that("the linear programmes reach the optimum, cold and from another optimum", {
  skip_on_cran()
  for (size in list(c(20, 60), c(40, 25), c(12, 12), c(60, 8))) {
    prob <- topk_problem(size[1L], size[2L], seed = sum(size))
    theta <- withr::with_seed(2, matrix(runif(size[1L]^2), size[1L]))
    theta <- theta + t(theta)
    one <- matrix(1, size[1L], size[1L])
    for (alpha_e in c(2, 5, 30)) for (nonnegative in c(FALSE, TRUE)) {
      lambda_e <- alpha_e / max(rowSums(abs(prob$x)))
      run <- function(thetas, rows = prob$x) {
        .Call(C_test_topk_lp, rows, thetas, settings(lambda_e = lambda_e,
          nonnegative = nonnegative, inner_max_iter = 10000L))
      }
      cold <- run(list(theta))
      expect_identical(cold$unsolved, 0L)
      expect_lt(cold$gap, 1e-7)
      lp_check(cold, prob$x, theta, lambda_e, .5, nonnegative)
      if (nonnegative) expect_true(all(cold$z >= 0))
      warm <- run(list(one, theta, theta))
      expect_lt(max(abs(warm$z - cold$z)), 1e-7)
      expect_identical(warm$pivots[3L], 0)
      order <- withr::with_seed(3, sample(size[1L]))
      moved <- .Call(C_test_topk_lp, prob$x[order, ], list(theta[order, order]),
        settings(lambda_e = lambda_e, nonnegative = nonnegative, inner_max_iter = 10000L))
      expect_lt(max(abs(moved$z - cold$z[order, order])), 1e-7)
    }
  }
  # The value of fixture F1's linear programme.
  out <- .Call(C_test_topk_lp, t(topk_fixture("f1_X")), list(topk_fixture("f1_Theta")),
    settings(inner_max_iter = 10000L))
  expect_equal(out$objective, topk_expected("f1")$opt_objective_fixed_mu10, tolerance = 1e-6)
  expect_lt(max(abs(t(out$z) - topk_fixture("f1_Z_opt"))), 1e-5)
})

test_that("ties, copies, zero samples and discrete numbers do not stop the linear programmes", {
  x <- withr::with_seed(1, matrix(sample(-1:1, 30 * 20, TRUE), 30))
  x[7, ] <- x[3, ]
  x[8, ] <- -x[3, ]
  x[, 5] <- x[, 2]
  x[, 6] <- 0
  x[11, ] <- 0
  x <- x / pmax(sqrt(rowSums(x^2)), 1)
  theta <- matrix(1, 30, 30)
  for (alpha_e in c(2, 10)) {
    lambda_e <- alpha_e / max(rowSums(abs(x)))
    out <- .Call(C_test_topk_lp, x, list(theta), settings(lambda_e = lambda_e,
      inner_max_iter = 10000L))
    expect_identical(out$unsolved, 0L)
    expect_lt(out$gap, 1e-6)
    expect_true(all(out$z[11, ] == 0) && all(out$z[, 11] == 0))
  }
})

test_that("both ADMMs write their objective beside the residuals", {
  prob <- topk_problem(14, 40)
  theta <- matrix(1, 14, 14)
  lambda_e <- 6 / max(rowSums(abs(prob$x)))
  for (form in c("n", "p")) for (last in c(7L, 40L, 90L)) {
    out <- represent(prob$x, theta, lambda_e = lambda_e, represent_form = form,
      inner_max_iter = last, inner_tol = -1)
    expect_equal(out$trace[last, 7L], 1.5 * sum(abs(out$z)) + lambda_e * sum(abs(out$e)),
      tolerance = 1e-9)
  }
  prob <- topk_problem(18, 12)
  for (form in c("n", "p")) {
    out <- select(prob$x, prob$label, 3L, 5L, prob$w, select_form = form)
    first <- ref_select(t(prob$x), ref_one_hot(prob$label, 3L),
      diag(rowSums(prob$w)) - prob$w, 5L, .01, 3, polish = FALSE)
    # The first row is the ridge regression on all features.
    expect_equal(out$trace[1L, 7L],
      ref_criterion(1:12, first$K, first$B, first$YY, .01), tolerance = 1e-9)
  }
})
