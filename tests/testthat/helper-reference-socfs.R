# Slow, literal twins for SOCFS and its kernel la_gl. x is n x p.

row_norms <- function(v) sqrt(rowSums(v^2))

gl_objective <- function(x, t, lambda, v) {
  sum((t - x %*% v)^2) + lambda * sum(row_norms(v))
}

# Smallest lambda with V = 0.
gl_lambda_max <- function(x, t) 2 * max(row_norms(crossprod(x, t)))

# Plain cyclic coordinate descent, one row after the other, to the end.
ref_gl <- function(x, t, lambda, tol = 1e-13, sweeps = 20000L) {
  v <- matrix(0, ncol(x), ncol(t))
  r <- t
  ss <- colSums(x^2)
  for (s in seq_len(sweeps)) {
    change <- 0
    for (i in which(ss > 0)) {
      u <- drop(crossprod(x[, i], r)) + ss[i] * v[i, ]
      size <- sqrt(sum(u^2))
      to <- if (2 * size <= lambda) 0 * u else u * (1 - lambda / (2 * size)) / ss[i]
      r <- r - outer(x[, i], to - v[i, ])
      change <- max(change, sqrt(sum((to - v[i, ])^2) * ss[i]))
      v[i, ] <- to
    }
    if (change < tol) break
  }
  v
}

# Reweighted least squares with the full inverse, for the smoothed problem.
ref_gl_irls <- function(x, t, lambda, eps, steps) {
  v <- crossprod(x, t)
  for (s in seq_len(steps)) {
    g <- 2 * sqrt(rowSums(v^2) + eps)
    v <- g * crossprod(x, solve(tcrossprod(x * rep(g, each = nrow(x)), x) +
      lambda * diag(nrow(x)), t))
  }
  v
}
