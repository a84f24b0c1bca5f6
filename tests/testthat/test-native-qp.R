# The simplex QP, Hadamard products, smallest eigenvectors with ties.

qp <- function(kind, parts, b, start = rep(1 / length(b), length(b)), tol = 1e-11) {
  .Call(C_test_qp, kind, parts, as.double(b), as.double(start), tol)
}

dense_qp <- function(h, b, ...) qp("dense", list(h = h, upper = rowSums(abs(h))), b, ...)

random_qp <- function(p, seed, shift = 0.1, spread = 0) {
  withr::with_seed(seed, {
    a <- matrix(rnorm(p * ceiling(p / 2)), ncol = p) * rep(10^runif(p, -spread, spread), each = ceiling(p / 2))
    list(h = crossprod(a) + diag(shift, p), b = rnorm(p))
  })
}

# What the certificate says, from its definition.
kkt <- function(h, b, v) {
  g <- drop(h %*% v) - b
  tau <- sum(g * v)
  worst <- max(abs(g - tau)[v > 0], pmax(tau - g, 0)[v == 0], 0)
  c(kkt = worst, rel = worst / max(abs(b), abs(h %*% v)), gap = max(tau - min(g), 0))
}

hadamard_parts <- function(p, r, k, seed, w0 = 0, sign = 1, shift = 0.1) {
  withr::with_seed(seed, {
    f <- matrix(rnorm(r * p), r)
    rt <- if (k) t(qr.Q(qr(matrix(rnorm(p * k), p)))) * sqrt(if (sign < 0) w0 else 1) else matrix(0, 0, p)
    g <- crossprod(f)
    n <- diag(w0, p) + sign * crossprod(rt)
    top <- if (sign < 0) w0 else 1 + w0
    list(f = f, rt = rt, w0 = w0, sign = sign, scale = 2, shift = shift,
      upper = 2 * top * colSums(f^2) + shift, h = 2 * g * n + diag(shift, p))
  })
}

test_that("dense: the active-set solution, in the interior, on the boundary and on large faces", {
  skip_on_cran()
  for (p in c(1, 2, 7, 30)) for (spread in c(0, 1.5)) {
    d <- random_qp(p, p, spread = spread)
    out <- dense_qp(d$h, d$b)
    expect_lt(out$rel, 1e-9)
    expect_equal(sum(out$v), 1, tolerance = 1e-14)
    expect_true(all(out$v >= 0))
    expect_lt(max(abs(out$v - ref_qp(d$h, d$b))), 1e-8)
    out <- dense_qp(d$h / max(d$h) + diag(p), rep(1, p))
    expect_lt(max(abs(out$v - ref_qp(d$h / max(d$h) + diag(p), rep(1, p)))), 1e-8)
  }
  # A face is solved in no more products than it has variables: the middle of the simplex, from beside it.
  q <- withr::with_seed(1, qr.Q(qr(matrix(rnorm(3600), 60))))
  h <- q %*% (rep(c(1, 2, 5), 20) * t(q))
  out <- dense_qp((h + t(h)) / 2, rowSums(h) / 60 + .3, start = 1 / 60 + 1e-3 * rep(c(1, -1), 30))
  expect_equal(out$v, rep(1 / 60, 60), tolerance = 1e-9)
  expect_lt(out$products, 60)
  p <- 450
  h <- random_qp(p, 3, shift = 1)$h
  target <- withr::with_seed(1, rexp(p) + 0.2)
  target <- target / sum(target)
  # The target has equal multipliers by construction.
  out <- dense_qp(h, drop(h %*% target) + 2)
  expect_lt(max(abs(out$v - target)), 1e-10)
  expect_lt(kkt(h, drop(h %*% target) + 2, out$v)[["rel"]], 1e-9)
  # And with a boundary: the last 20 are pushed out.
  b <- drop(h %*% target) - rep(c(0, 50), c(p - 20, 20))
  out <- dense_qp(h, b)
  expect_true(all(out$v[(p - 19):p] == 0) && sum(out$v > 0) > 400)
  expect_lt(kkt(h, b, out$v)[["rel"]], 1e-9)
})

test_that("the certificate is what it says and bounds the distance to the optimum, whatever the start", {
  d <- random_qp(20, 5)
  for (tol in c(1e-2, 1e-11)) {
    out <- dense_qp(d$h, d$b, tol = tol)
    expect_equal(c(kkt = out$kkt, rel = out$rel, gap = out$gap), kkt(d$h, d$b, out$v), tolerance = 1e-6)
    best <- ref_qp(d$h, d$b)
    q <- function(v) sum(v * (d$h %*% v)) / 2 - sum(d$b * v)
    expect_lte(q(out$v) - q(best), out$gap + 1e-13)
    expect_lte(sum((out$v - best)^2), 2 * out$gap / 0.1 + 1e-13)
  }
  d <- random_qp(25, 6)
  from_mean <- dense_qp(d$h, d$b)$v
  corner <- dense_qp(d$h, d$b, start = c(1, rep(0, 24)))$v
  wild <- dense_qp(d$h, d$b, start = seq(-3, 5, length.out = 25))$v
  expect_lt(max(abs(from_mean - corner), abs(from_mean - wild)), 1e-9)
  expect_equal(dense_qp(d$h, d$b, start = rep(-1, 25))$v, from_mean, tolerance = 1e-9)
  # Identical variables get identical values.
  d <- random_qp(8, 12)
  h <- (d$h + diag(8))[c(1:8, 3), c(1:8, 3)] + 0.1 * diag(9)
  v <- dense_qp(h, rowSums(h) / 9 + rep(c(0.3, 0), c(1, 8)))$v
  expect_equal(v[9], v[3], tolerance = 1e-10)
  expect_gt(v[3], 0)
})

test_that("Hadamard products are those of the dense matrix, and so are solutions, in both forms of N", {
  set.seed(1)
  for (case in list(c(5, 3, 2, 0, 1), c(300, 7, 3, 0, 1), c(300, 20, 6, 0.01, -1), c(6, 4, 0, 0.3, 1))) {
    d <- hadamard_parts(case[1], case[2], case[3], sum(case), case[4], case[5])
    b <- rexp(case[1])
    out <- qp("hadamard", d, b, start = b)
    expect_equal(out$hv, drop(d$h %*% out$v), tolerance = 1e-12)
    expect_equal(out$diag, diag(d$h), tolerance = 1e-12)
  }
  for (case in list(c(40, 10, 3, 0, 1), c(60, 12, 11, 0.05, -1))) {
    d <- hadamard_parts(case[1], case[2], case[3], 9, case[4], case[5])
    b <- withr::with_seed(2, rnorm(case[1]))
    free <- qp("hadamard", d, b)
    dense <- dense_qp(d$h, b)
    expect_lt(free$rel, 1e-9)
    expect_lt(max(abs(free$v - dense$v)), 1e-8)
    expect_lt(max(abs(free$v - ref_qp(d$h, b))), 1e-8)
  }
})

test_that("diagonal: exact, also with zeros and a single survivor", {
  set.seed(4)
  for (p in c(1, 3, 50)) {
    h <- rexp(p) + 0.01
    b <- rnorm(p)
    out <- qp("diagonal", list(h = h), b)
    expect_lt(max(abs(out$v - ref_qp(diag(h, p), b))), 1e-12)
    expect_equal(sum(out$v), 1, tolerance = 1e-14)
    expect_lt(out$rel, 1e-12)
  }
  expect_equal(qp("diagonal", list(h = c(1, 1, 1)), c(5, 0, 0))$v, c(1, 0, 0))
  # Ties at the breakpoint.
  expect_equal(qp("diagonal", list(h = c(2, 2, 2)), c(1, 1, 1))$v, rep(1 / 3, 3))
  # The general solver agrees where H is diagonal.
  h <- rexp(30) + 0.1
  b <- rnorm(30)
  expect_equal(dense_qp(diag(h), b)$v, qp("diagonal", list(h = h), b)$v, tolerance = 1e-9)
})

low <- function(s, c) .Call(C_laplacian_low, s[upper.tri(s, diag = TRUE)], c)
laplacian <- function(s) diag(rowSums(s)) - s

test_that("the lowest vectors are those of the whole spectrum; components and ties are shared equally", {
  skip_on_cran()
  for (n in c(30, 120, 300)) {
    d <- blfse_problem(n, 6, 4, 10, seed = n, noise = 0.3)
    s <- Reduce(`+`, lapply(1:10, function(k) outer(d$labels[, k], d$labels[, k], `==`))) / 10
    for (c in c(2L, 4L)) {
      found <- low(s, c)
      expect_identical(found$path, 1L)
      expect_lt(max(abs(tcrossprod(found$vectors) - ref_lowest(laplacian(s), c)$n)), 1e-9)
    }
  }
  blocks <- outer(rep(1:4, c(5, 9, 7, 12)), rep(1:4, c(5, 9, 7, 12)), `==`) + 0
  set.seed(8)
  blocks <- blocks * (function(z) (z + t(z)) / 2)(matrix(runif(33^2, 0.5, 1), 33))
  for (c in 2:5) {
    free <- low(blocks, c)
    expect_identical(free$path, if (c <= 4L) 2L else 1L)
    expect_lt(max(abs(tcrossprod(free$vectors) - ref_lowest(laplacian(blocks), c)$n)), 1e-9)
    if (c <= 4L) expect_identical(free$eq, 4L)
  }
  # Two components but c = 3: the third eigenvalue is the size of a block, many times.
  full <- outer(rep(1:2, c(10, 14)), rep(1:2, c(10, 14)), `==`) + 0
  free <- low(full, 3L)
  expect_identical(free$path, 1L)
  expect_identical(c(free$lo, free$eq), c(2L, 9L))
  expect_lt(max(abs(tcrossprod(free$vectors) - ref_lowest(laplacian(full), 3)$n)), 1e-10)
  # Nothing but the diagonal: every eigenvalue is 0.
  expect_equal(tcrossprod(low(diag(6), 2L)$vectors), diag(1 / 3, 6), tolerance = 1e-12)
  # Parts that hang together by less than the tolerance count as a tie.
  s <- outer(rep(1:3, each = 6), rep(1:3, each = 6), `==`) + 0
  s[1, 7] <- s[7, 1] <- 1e-16
  expect_lt(max(abs(tcrossprod(low(s, 2L)$vectors) - ref_lowest(laplacian(s), 2)$n)), 1e-9)
})
