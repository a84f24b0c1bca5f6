set.seed(42)

test_that("the weighted ridge solve has one answer in both forms; the polar factor is the maximiser of tr(E'A)", {
  for (size in list(c(12, 5), c(5, 12), c(8, 8), c(6, 1))) {
    x <- matrix(rnorm(prod(size)), size[1])
    t <- matrix(rnorm(size[1] * 3), size[1])
    g <- runif(size[2], .1, 2)
    ref <- solve(crossprod(x) + .7 * diag(1 / g, size[2])) %*% crossprod(x, t)
    for (form in c("n", "p", "a")) {
      out <- .Call(C_test_ridge, x, t, g, .7, form)
      expect_identical(out$info, 0L)
      expect_lt(rel_diff(out$v, ref), 1e-12)
    }
  }
  form <- function(n, p) .Call(C_test_ridge, matrix(rnorm(n * p), n), matrix(rnorm(n), n), rep(1, p), 1, "a")$p_form
  expect_true(form(40, 20))
  expect_false(form(20, 60))
  x <- matrix(rnorm(60), 6)
  g <- runif(10)
  g[4] <- 0
  for (form in c("n", "p")) {
    v <- .Call(C_test_ridge, x, matrix(rnorm(12), 6), g, .3, form)$v
    expect_identical(v[4, ], c(0, 0))
    expect_true(all(v[-4, ] != 0))
  }
  for (size in list(c(9, 3), c(4, 4), c(7, 1))) {
    a <- matrix(rnorm(prod(size)), size[1])
    e <- .Call(C_test_polar, a, NULL)$e
    expect_lt(max(abs(crossprod(e) - diag(size[2]))), 1e-13)
    expect_equal(e, ref_polar(a), tolerance = 1e-12)
    expect_equal(sum(e * a), sum(svd(a)$d), tolerance = 1e-13)
  }
  a <- outer(rnorm(8), rnorm(3))
  old <- qr.Q(qr(matrix(rnorm(24), 8)))
  e <- .Call(C_test_polar, a, old)$e
  expect_lt(max(abs(crossprod(e) - diag(3))), 1e-12)
  expect_gte(sum(e * a), sum(old * a) - 1e-12)
  expect_equal(.Call(C_test_polar, 0 * a, old)$e, old, tolerance = 1e-12)
})

test_that("the simplex projection is exact", {
  skip_on_cran()
  for (total in c(1, 2.5)) {
    for (y in list(rnorm(10), c(5, -5), rep(.3, 4), 7, c(0, 0, 1))) {
      out <- .Call(C_test_proj, as.double(y), total)$simplex
      expect_equal(sum(out), total, tolerance = 1e-14)
      expect_true(all(out >= 0))
      expect_equal(out, ref_simplex(y, total), tolerance = 1e-10)
    }
  }
  # Many in all orders: a sort that looks for the end by comparing would run beyond NaN.
  for (seed in 1:200) {
    set.seed(seed)
    y <- replace(rnorm(40), sample(40, 3), NaN)
    out <- .Call(C_test_proj, y, 1)$simplex
    expect_identical(which(is.nan(out)), which(is.nan(y)))
  }
})

test_that("eigenpairs of a large matrix, found step by step, are eigenpairs", {
  skip_on_cran()
  # Many panels; one value 120 times, one alone on top, the rest in between.
  n <- 650L
  set.seed(4)
  q <- qr.Q(qr(matrix(rnorm(n^2), n)))
  value <- sort(c(rep(1, 120), 9, seq(1.5, 4, length.out = n - 121)))
  a <- q %*% (value * t(q))
  a <- (a + t(a)) / 2
  for (range in list(c(1L, n), c(n - 2L, n), c(3L, 90L))) {
    at <- range[1]:range[2]
    out <- .Call(C_test_eigs, a, range[1], range[2], 0, NULL)
    expect_identical(out$info, 0L)
    expect_lt(max(abs(out$values - value[at])), 1e-12)
    expect_lt(max(abs(crossprod(out$vectors) - diag(length(at)))), 1e-12)
    expect_lt(max(abs(a %*% out$vectors - out$vectors %*% diag(out$values))), 1e-12)
  }
  # Entries whose squares overflow or vanish.
  for (unit in c(2^1015, 2^600, 2^-700, 2^-1000)) {
    out <- .Call(C_test_eigs, a * unit, n - 1L, n, 0, NULL)
    expect_equal(out$values / unit, value[n - 1:0], tolerance = 1e-12)
    expect_lt(max(abs(a %*% out$vectors - out$vectors %*% diag(out$values / unit))), 1e-12)
  }
})

test_that("products and inverses in steps that see interrupts are the same", {
  skip_on_cran()
  set.seed(5)
  a <- matrix(rnorm(2.5e6), 1000)
  b <- matrix(rnorm(2500 * 120), 2500)
  c <- matrix(rnorm(1.2e5), 1000)
  # Strips of 100 columns.
  want <- c + a %*% b
  expect_equal(.Call(C_test_gemm, a, b, c), want, tolerance = 1e-13)
  expect_equal(.Call(C_test_gemm, a, t(b), c), want, tolerance = 1e-13)
  # One block, and several with a part of one.
  for (n in c(60L, 850L)) {
    s <- crossprod(matrix(rnorm(n * (n + 20L)), n + 20L)) + diag(n)
    out <- .Call(C_test_inverse, s)
    expect_identical(out$info, 0L)
    expect_equal(s %*% out$inverse, diag(n), tolerance = 1e-9)
    expect_identical(out$inverse, t(out$inverse))
  }
  s[700, 700] <- -1
  expect_identical(.Call(C_test_inverse, s)$info, 700L)
  # Gram matrices of 1e9 flops and more: several strips, the second pair with more than one depth.
  for (size in list(c(1060, 900), c(500, 4300))) for (rows in c(TRUE, FALSE)) {
    x <- matrix(rnorm(prod(size)), if (rows) size[1] else size[2])
    got <- .Call(C_x_gram, x, rows, NULL)
    expect_lt(max(abs(got - if (rows) tcrossprod(x) else crossprod(x))), 1e-10)
    expect_identical(got, t(got))
  }
})

test_that("pairs of one value that bisection misses are found all the same", {
  skip_on_cran()
  # Thirty pairs of samples that know each other only: 29 times the value 1, within rounding.
  n <- 60L
  for (seed in c(71, 1, 2)) {
    set.seed(seed)
    turn <- sample(n)
    s <- matrix(0, n, n)
    s[cbind(turn[1:30], turn[31:60])] <- 1
    s <- s + t(s)
    s[turn[31], turn[2]] <- s[turn[2], turn[31]] <- runif(1)
    s <- s / sqrt(outer(rowSums(s), rowSums(s)))
    for (lowest in n - 1:8) {
      out <- .Call(C_test_eigs, s, lowest, n, 0, NULL)
      expect_identical(out$info, 0L)
      expect_equal(out$values, rep(1, n - lowest + 1L), tolerance = 1e-12)
      expect_equal(crossprod(out$vectors), diag(n - lowest + 1L), tolerance = 1e-12)
      expect_equal(s %*% out$vectors, out$vectors, tolerance = 1e-12)
    }
  }
})

test_that("conjugate gradients: the solution, its steps and both rules of stopping", {
  # Well conditioned, since R and C round differently, on 32-bit processors above all.
  n <- 30L
  a <- withr::with_seed(1, crossprod(matrix(rnorm(900), n)) + diag(10^seq(0, 2, length.out = n)))
  b <- withr::with_seed(2, rnorm(n))
  cg <- function(start = numeric(n), diagonal = NULL, tol = 1e-12, natural = FALSE, max_iter = 500L) {
    .Call(C_test_cg, a, b, start, diagonal, list(tol = tol, natural = natural, max_iter = max_iter))
  }
  literal <- function(x, diagonal, steps) {
    r <- b - as.vector(a %*% x)
    p <- z <- r / diagonal
    for (k in seq_len(steps)) {
      q <- as.vector(a %*% p)
      t <- sum(r * z) / sum(p * q)
      x <- x + t * p
      rz <- sum(r * z)
      r <- r - t * q
      z <- r / diagonal
      p <- z + sum(r * z) / rz * p
    }
    list(x = x, natural = sqrt(sum(r * z)), norm = sqrt(sum(r^2)))
  }
  exact <- solve(a, b)
  start <- withr::with_seed(3, rnorm(n))
  for (diagonal in list(NULL, diag(a))) {
    for (x in list(numeric(n), start)) expect_equal(cg(x, diagonal)$x, exact, tolerance = 1e-8)
    by <- if (is.null(diagonal)) rep(1, n) else diagonal
    few <- cg(start, diagonal, tol = 0, max_iter = 5L)
    expect_identical(few$steps, 5L)
    expect_equal(few$x, literal(start, by, 5)$x, tolerance = 1e-10)
    expect_equal(few$norm, literal(start, by, 5)$norm, tolerance = 1e-8)
    plain <- cg(start, diagonal, tol = 1e-2)
    expect_lte(literal(start, by, plain$steps)$norm, 1e-2 * sqrt(sum(b^2)) * (1 + 1e-8))
    expect_gt(literal(start, by, plain$steps - 1)$norm, 1e-2 * sqrt(sum(b^2)))
    natural <- cg(start, diagonal, tol = 1e-2, natural = TRUE)
    first <- literal(start, by, 0)$natural
    expect_lte(literal(start, by, natural$steps)$natural, 1e-2 * first * (1 + 1e-8))
    expect_gt(literal(start, by, natural$steps - 1)$natural, 1e-2 * first)
  }
  done <- cg(exact, tol = 1e-6)
  expect_identical(c(done$steps, is.na(done$norm)), c(0L, 1L))
  a <- -a
  expect_identical(cg()$steps, 0L)
})
