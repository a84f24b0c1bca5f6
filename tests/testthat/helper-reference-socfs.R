# Slow, literal twins for SOCFS and its kernel gl.c. x is n x p.

row_norms <- function(v) sqrt(rowSums(v^2))

# factor: of each row's penalty; Inf: the row is zero.
gl_objective <- function(x, t, lambda, v, factor = rep(1, ncol(x))) {
  norm <- row_norms(v)
  sum((t - x %*% v)^2) + lambda * sum((factor * norm)[norm > 0])
}

# Smallest lambda with V = 0.
gl_lambda_max <- function(x, t) 2 * max(row_norms(crossprod(x, t)))

# Plain cyclic coordinate descent, one row after the other, to the end.
ref_gl <- function(x, t, lambda, tol = 1e-13, sweeps = 20000L, factor = rep(1, ncol(x))) {
  v <- matrix(0, ncol(x), ncol(t))
  r <- t
  ss <- colSums(x^2)
  for (s in seq_len(sweeps)) {
    change <- 0
    for (i in which(ss > 0)) {
      u <- drop(crossprod(x[, i], r)) + ss[i] * v[i, ]
      size <- sqrt(sum(u^2))
      own <- lambda * factor[i]
      to <- if (2 * size <= own) 0 * u else u * (1 - own / (2 * size)) / ss[i]
      r <- r - outer(x[, i], to - v[i, ])
      change <- max(change, sqrt(sum((to - v[i, ])^2) * ss[i]))
      v[i, ] <- to
    }
    if (change < tol) break
  }
  v
}

# The paper's Algorithms 1 and 2 to the letter, in the paper's orientation (x is d x n)
# and with its basis: w d x m, b m x c, full d x d inverses. Order of the paper: E and F,
# W, B. g: reciprocal diagonal of D for the first W, later from the rows of W.
ref_socfs_literal <- function(x, lambda, gamma, w, b, e, f, g, eps, outer, inner) {
  polar <- function(a) {
    s <- svd(a)
    s$u %*% t(s$v)
  }
  objective <- function() sum((t(w) %*% x - b %*% t(e))^2) + lambda * sum(sqrt(rowSums(w^2) + eps)) + gamma * sum((f - e)^2)
  trace <- objective()
  for (t in seq_len(outer)) {
    for (s in seq_len(inner)) {
      e <- polar(t(x) %*% w %*% b + gamma * f)
      f <- (e + abs(e)) / 2
    }
    if (t > 1L || is.null(g)) g <- 2 * sqrt(rowSums(w^2) + eps)
    w <- solve(x %*% t(x) + lambda * diag(1 / g)) %*% x %*% e %*% t(b)
    b <- t(polar(t(e) %*% t(x) %*% w))
    trace <- c(trace, objective())
  }
  list(W = w, B = b, E = e, F = f, objective = trace)
}

# Gaussian clusters in the first `informative` of p features, noise in the rest.
socfs_data <- function(n, p, c, informative, seed, spread = 1.5) {
  withr::with_seed(seed, {
    label <- sample(rep_len(seq_len(c), n))
    x <- matrix(rnorm(n * p), n)
    centre <- matrix(rnorm(c * informative), c) * spread
    x[, seq_len(informative)] <- x[, seq_len(informative)] + centre[label, ]
    list(x = x, label = label)
  })
}

centred <- function(x) sweep(x, 2L, colMeans(x))

random_orthonormal <- function(n, c, seed) withr::with_seed(seed, qr.Q(qr(matrix(runif(n * c), n))))
