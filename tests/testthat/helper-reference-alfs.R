# Literal, slow R versions for ALFS. Inside, X is the paper's d x n (columns =
# samples), X = t(x); W is n x d.

ref_alfs_weights <- function(x, floor = 1e-6) {
  norm <- sqrt(rowSums(x^2))
  cosine <- tcrossprod(x) / outer(norm, norm)
  cosine[!is.finite(cosine)] <- 0
  weight <- 1 / pmax(abs(cosine), floor)
  diag(weight) <- 1
  weight
}

ref_alfs_objective <- function(x, w, alpha, beta, lambda = 0) {
  x_t <- t(x)
  wx <- w %*% x_t
  sum((x_t - x_t %*% wx)^2) + alpha * sum(sqrt(rowSums(w^2))) + beta * sum(sqrt(colSums(w^2))) +
    if (lambda > 0) lambda * sum(ref_alfs_weights(x) * abs(wx)) else 0
}

# Algorithm 1 as published, two eigendecompositions per iteration, with (25) read as
# Lambda_1 / rho_1. Returns the last W (not sparse), the iterations and f by iteration.
ref_alfs_paper <- function(x, alpha, beta, lambda = 0, max_iter = 600, stop = TRUE) {
  x_t <- t(x)
  n <- ncol(x_t)
  d <- nrow(x_t)
  weight <- ref_alfs_weights(x)
  w <- what <- l2 <- matrix(0, n, d)
  wtilde <- l3 <- matrix(0, d, n)
  z <- l1 <- matrix(0, n, n)
  rho <- rep(1e-6, 3)
  rows <- function(s, by) s * pmax(1 - by / pmax(sqrt(rowSums(s^2)), 1e-300), 0)
  soft <- function(a, by) sign(a) * pmax(abs(a) - by, 0)
  f <- sum(x_t^2)
  for (k in seq_len(max_iter)) {
    left <- eigen(2 * crossprod(x_t) + rho[1] * diag(n), symmetric = TRUE)
    right <- eigen(tcrossprod(x_t), symmetric = TRUE)
    h <- 2 * crossprod(x_t) %*% t(x_t) + (rho[1] * z - l1) %*% t(x_t) + rho[2] * what - l2 + t(rho[3] * wtilde - l3)
    core <- crossprod(left$vectors, h) %*% right$vectors
    w <- left$vectors %*% (core / (outer(left$values, right$values) + rho[2] + rho[3])) %*% t(right$vectors)
    wx <- w %*% x_t
    what <- rows(w + l2 / rho[2], alpha / rho[2])
    wtilde <- rows(t(w) + l3 / rho[3], beta / rho[3])
    z <- soft(wx + l1 / rho[1], lambda * weight / rho[1])
    l1 <- l1 + rho[1] * (wx - z)
    l2 <- l2 + rho[2] * (w - what)
    l3 <- l3 + rho[3] * (t(w) - wtilde)
    rho <- pmin(1.1 * rho, 1e10)
    f <- c(f, ref_alfs_objective(x, w, alpha, beta, lambda))
    change <- abs(f[k + 1] - f[k]) / f[k]
    if (stop && change < 1e-3 && max(abs(wx - z)) < 1e-3 && max(abs(w - what)) < 1e-3 &&
        max(abs(t(w) - wtilde)) < 1e-3) break
  }
  list(w = w, what = what, wtilde = t(wtilde), wx = wx, z = z, objective = f[-1], iterations = k)
}

# The dual value that P, Q, L prove, from the definition: the Y with
# 2 X'YX' = P + Q + L X' on the space of X, and the largest violation of
# feasibility, each relative to its bound (and to ||2X'XX'|| for the equation).
ref_alfs_dual <- function(x, p, q, l = NULL, alpha, beta, lambda = 0) {
  x_t <- t(x)
  s <- svd(x_t)
  keep <- s$d > 1e-10 * s$d[1]
  u <- s$u[, keep, drop = FALSE]
  v <- s$v[, keep, drop = FALSE]
  d <- s$d[keep]
  right <- p + q + if (lambda > 0) l %*% x else 0
  core <- t(v) %*% right %*% u
  y <- u %*% (core / (2 * outer(d, d))) %*% t(v)
  equation <- 2 * t(x_t) %*% y %*% t(x_t) - right
  c(value = unname(2 * sum(y * x_t) - sum(y^2)),
    equation = sqrt(sum(equation^2) / sum((2 * crossprod(x_t) %*% t(x_t))^2)),
    rows = unname(max(sqrt(rowSums(p^2))) / alpha), columns = unname(max(sqrt(colSums(q^2))) / beta),
    weights = unname(if (lambda > 0) max(abs(l) / ref_alfs_weights(x)) / lambda else 0))
}

# Largest penalties, from dense G0.
ref_alfs_max <- function(x) {
  g0 <- 2 * tcrossprod(x) %*% x
  c(alpha = max(sqrt(rowSums(g0^2))), beta = max(sqrt(colSums(g0^2))), lambda = 2 * max(rowSums(x^2)))
}

# Greedy TED over columns with the growing pool, by deflating the Gram matrix of all
# columns; picked columns are no longer rebuilt.
ref_pivot_order <- function(x, by_norm, first, most) {
  mu <- mean(colSums(x^2)) / (nrow(x) - 1)
  k <- crossprod(x)
  pool <- min(first, length(by_norm))
  picked <- integer()
  done <- integer() # picked under an earlier pool
  repeat {
    until <- min(most, if (pool == length(by_norm)) pool else pool %/% 5L)
    while (length(picked) < until) {
      items <- setdiff(by_norm[seq_len(pool)], done)
      open <- setdiff(items, picked)
      score <- colSums(k[items, open, drop = FALSE]^2) / (diag(k)[open] + mu)
      j <- open[which.max(score)]
      k <- k - tcrossprod(k[, j]) / (k[j, j] + mu)
      picked <- c(picked, j)
    }
    if (pool == length(by_norm) || until == most) break
    done <- picked
    pool <- min(2L * pool, length(by_norm))
  }
  c(picked, setdiff(by_norm, picked))
}

# Test data: few groups, correlated columns and noise.
alfs_data <- function(n, p, seed = 1) {
  withr::with_seed(seed, {
    z <- matrix(rnorm(n * 4), n) + matrix(rnorm(12), 3)[rep_len(1:3, n), ]
    x <- matrix(rnorm(n * p, sd = .5), n)
    half <- seq_len(ceiling(p / 2))
    x[, half] <- x[, half] + z %*% matrix(rnorm(4 * length(half)), 4)
    scale(x)[, ]
  })
}

# As given: no centring, no scaling.
alfs_raw <- function(x, ...) published("alfs", x, ..., center = FALSE, scale = FALSE)

# Polished: a fixed number of iterations, no early stop.
polished <- function(n = 2000L) ufs_control(max_iter = n, tol = -1, warn = FALSE)

# The first iteration of ADMM at lambda = 0, alpha and beta > 0: V from the ridge regression whose
# penalty is that of all rows, and of all columns, of one norm; W from V; the pairs that bring G less
# one side's multiplier within the other side's bounds, and what the better one proves.
ref_alfs_first <- function(x, alpha, beta) {
  unit <- svd(x)$d[1]
  x <- x / unit
  s <- svd(x)
  d <- s$d
  penalty <- c(alpha, beta) / unit^3
  norms <- list(function(a) sqrt(rowSums(a^2)), function(a) sqrt(colSums(a^2)))
  into <- function(a, bound, which) sweep(a, which, pmin(1, bound / norms[[which]](a)), "*")
  slope <- penalty * sqrt(dim(x))
  size <- 1
  for (i in 1:30) size <- sqrt(sum((2 * d^3 / (2 * d^4 + sum(slope) / size))^2))
  ridge <- slope / size
  rho <- pmin(4 * penalty, .3 * ridge)
  w <- s$u %*% (2 * d^3 / (2 * d^4 + sum(ridge)) * t(s$v))
  l <- lapply(1:2, function(i) into((rho[i] + ridge[i]) * w, penalty[i], i))
  # rho copy - L of both, rho V = rho copy + L
  h <- sum(rho + ridge) * w - 2 * (l[[1]] + l[[2]])
  e <- t(s$u) %*% h %*% s$v
  core <- (e + diag(2 * d^3)) / (2 * outer(d^2, d^2) + sum(rho))
  w <- (h + s$u %*% (core * sum(rho) - e) %*% t(s$v)) / sum(rho)
  residual <- t(x) - t(x) %*% w %*% t(x)
  g <- 2 * x %*% residual %*% x
  bounds <- vapply(1:2, function(first) {
    own <- into(g - l[[3 - first]], penalty[first], first)
    t <- max(1, norms[[3 - first]](g - own) / penalty[3 - first])
    by <- min(sum(residual * t(x)) / sum(residual^2), 1 / t)
    2 * by * sum(residual * t(x)) - by^2 * sum(residual^2)
  }, 0)
  unit^2 * c(current = ref_alfs_objective(x, w, penalty[1], penalty[2]), dual = max(bounds))
}
