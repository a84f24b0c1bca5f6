# Slow, literal versions of the sample selectors. x is n x p, rows = samples.

# Greedy TED as in the paper's algorithm: an explicit kernel, deflated; `given`: taken out beforehand.
ref_ted_greedy <- function(x, m, mu, given = integer(), k = tcrossprod(x), allowed = rep(TRUE, nrow(k))) {
  for (j in given) k <- k - tcrossprod(k[, j]) / (k[j, j] + mu)
  left <- setdiff(which(allowed), given)
  order <- integer()
  score <- numeric()
  for (t in seq_len(m)) {
    gain <- colSums(k^2) / (diag(k) + mu)
    j <- left[which.max(gain[left])]
    order[t] <- j
    score[t] <- gain[j]
    left <- setdiff(left, j)
    k <- k - tcrossprod(k[, j]) / (k[j, j] + mu)
  }
  list(order = order, score = score)
}

# J(S): one ridge regression per sample.
ref_ted_objective <- function(x, chosen, mu) {
  if (!length(chosen)) return(sum(x^2))
  base <- x[chosen, , drop = FALSE]
  coef <- solve(tcrossprod(base) + mu * diag(length(chosen)), tcrossprod(base, x))
  sum((x - crossprod(coef, base))^2) + mu * sum(coef^2)
}

# RRSS by n linear systems of size n (the published iteration); A is returned in the
# paper's orientation: column i reconstructs sample i.
ref_rrss <- function(x, gamma, max_iter, eps = 1e-8) {
  n <- nrow(x)
  k <- tcrossprod(x)
  u <- v <- rep(1, n)
  objective <- numeric()
  for (t in seq_len(max_iter)) {
    # a_i = (X'X + gamma/u_i diag(v))^-1 X'x_i, scaled by v^-1/2 on both sides: v may
    # be 1e8 and the unscaled system has no digits left then.
    root <- 1 / sqrt(v)
    a <- vapply(seq_len(n), function(i) {
      root * solve(root * t(root * k) + gamma / u[i] * diag(n), root * k[, i])
    }, numeric(n))
    residual <- sqrt(colSums((t(x) - t(x) %*% a)^2))
    row <- sqrt(rowSums(a^2))
    u <- 1 / (2 * sqrt(residual^2 + eps^2))
    v <- 1 / (2 * sqrt(row^2 + eps^2))
    objective[t] <- sum(sqrt(residual^2 + eps^2)) + gamma * sum(sqrt(row^2 + eps^2))
  }
  list(a = a, row_norm = row, residual = residual, objective = objective)
}

# Convex TED by reweighting: A = B X'(X B X' + mu/2 I)^-1 X, n x n all the way.
ref_ted_convex <- function(x, mu, max_iter, eps = 1e-10) {
  k <- tcrossprod(x)
  b <- rep(1, nrow(x))
  for (t in seq_len(max_iter)) {
    root <- sqrt(b)
    a <- root * solve(root * t(root * k) + mu / 2 * diag(nrow(x)), root * k)
    row <- sqrt(rowSums(a^2))
    b <- sqrt(row^2 + eps^2)
  }
  list(a = a, row_norm = row, objective = sum((t(x) - t(x) %*% a)^2) + mu * sum(row))
}

# The alternation for the ALNR-style problem in (A, b), with its two
# weights mu and g; started at b = sqrt(mu / g).
ref_alnr <- function(x, k, mu, g, max_iter) {
  n <- nrow(x)
  d2 <- unname(as.matrix(stats::dist(x))^2)
  near <- lapply(seq_len(n), function(i) c(i, setdiff(order(d2[i, ]), i)[seq_len(k)]))
  scale <- mean(vapply(seq_len(n), function(i) mean(d2[i, near[[i]][-1L]]), 0))
  t_weight <- exp(pmin(d2 / scale, 100))
  gram <- tcrossprod(x)
  b <- rep(sqrt(mu / g), n)
  objective <- numeric()
  for (it in seq_len(max_iter)) {
    a <- matrix(0, n, n)
    for (i in seq_len(n)) {
      at <- near[[i]]
      root <- sqrt(b[at] / t_weight[i, at]) # scaled as in ref_rrss()
      a[at, i] <- root * solve(root * t(root * gram[at, at]) + mu * diag(k + 1), root * gram[at, i])
    }
    b <- sqrt(mu * rowSums(t(t_weight) * a^2) / g)
    objective[it] <- sum((t(x) - t(x) %*% a)^2) + mu * sum((t(t_weight) * a^2)[b > 0, ] / b[b > 0]) + g * sum(b)
  }
  list(a = a, z = unname(b) * sqrt(g / mu), objective = objective)
}

ref_leverage <- function(x, rank) {
  s <- svd(x)
  list(samples = rowSums(s$u[, seq_len(rank), drop = FALSE]^2) / rank,
    features = rowSums(s$v[, seq_len(rank), drop = FALSE]^2) / rank)
}

# A standardised n x p matrix of correlated columns, the same for every caller.
sample_data <- function(n, p, seed = 1) {
  withr::with_seed(seed, {
    factors <- matrix(stats::rnorm(n * 4), n)
    x <- factors %*% matrix(stats::rnorm(4 * p), 4) + 0.5 * matrix(stats::rnorm(n * p), n)
  })
  x <- scale(x)
  attributes(x) <- list(dim = c(n, p))
  x
}

raw <- function(f, x, ...) f(x, ..., center = FALSE, scale = FALSE)
