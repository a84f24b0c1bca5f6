# Slow, literal versions of RSR, NDFS, UDFS and SOGFS: full inverses, full eigendecompositions.

# As the methods see x: centred columns of unit norm.
unit_columns <- function(x) {
  x <- scale(as.matrix(x), scale = FALSE)
  unname(sweep(x, 2L, sqrt(colSums(x^2)), `/`))[, , drop = FALSE]
}

kmeans3_labels <- function(set) scan(test_path("fixtures", "baselines", "graph", paste0(set, "__kmeans3.csv")), quiet = TRUE)

# factor: of each row's penalty; Inf: the row is zero.
ref_rsr_objective <- function(x, w, lambda, factor = rep(1, ncol(x))) {
  norm <- ref_row_norms(w)
  sum(ref_row_norms(x - x %*% w)) + lambda * sum((factor * norm)[norm > 0])
}

ref_rsr <- function(x, lambda, steps, eps, factor = rep(1, ncol(x))) {
  r <- rep(1, ncol(x))
  g <- rep(1, nrow(x))
  in_use <- is.finite(factor)
  w <- matrix(0, ncol(x), ncol(x))
  for (t in seq_len(steps)) {
    a <- crossprod(x, x / g)
    w[in_use, ] <- solve(a[in_use, in_use] + lambda * diag((factor / r)[in_use]), a[in_use, ], tol = 0)
    r <- 2 * sqrt(rowSums(w^2) + eps)
    g <- 2 * sqrt(rowSums((x - x %*% w)^2) + eps)
  }
  w
}

# The dual problem max <Y, X>, |y_i| <= 1, |(X'Y)_j| <= lambda, at a feasible multiple of the
# subgradient: a lower bound of the minimum.
ref_rsr_bound <- function(x, w, lambda) {
  e <- x - x %*% w
  y <- e / pmax(ref_row_norms(e), 1e-12)
  y <- y * min(1, lambda / max(ref_row_norms(crossprod(x, y))))
  sum(y * x)
}

# With M formed, and the clipped quotient. Returns list(w, f, objective).
ref_ndfs <- function(x, weights, f, alpha, beta, gamma, steps, g, eps, normalised = FALSE) {
  n <- nrow(x)
  p <- ncol(x)
  degree <- rowSums(weights)
  l <- diag(degree) - weights
  if (normalised) {
    root <- ifelse(degree > 0, 1 / sqrt(degree), 0)
    l <- diag(n) - root * t(root * weights)
  }
  g <- rep(g, length.out = p)
  objective <- numeric()
  for (t in seq_len(steps)) {
    inverse <- solve(crossprod(x) + beta * diag(1 / g, p), tol = 0)
    w <- inverse %*% crossprod(x, f)
    m <- l + alpha * (diag(n) - x %*% inverse %*% t(x))
    f <- f * (gamma * f) / pmax(m %*% f + gamma * f %*% crossprod(f), 1e-8)
    f <- sweep(f, 2L, sqrt(colSums(f^2)), `/`)
    size <- sqrt(rowSums(w^2) + eps)
    g <- 2 * size
    objective[t] <- sum(f * (l %*% f)) + alpha * (sum((f - x %*% w)^2) + beta * sum(size)) +
      gamma / 4 * sum((crossprod(f) - diag(ncol(f)))^2)
  }
  list(w = w, f = f, objective = objective)
}

one_hot <- function(labels, offset = 0.02) {
  f <- outer(labels, sort(unique(labels)), `==`) + 0
  sweep(f, 2L, sqrt(colSums(f)), `/`) + offset
}

ref_udfs_m <- function(x, k, lambda) {
  near <- cbind(seq_len(nrow(x)), neighbours_of(x, k))
  h <- diag(k + 1) - 1 / (k + 1)
  m <- matrix(0, ncol(x), ncol(x))
  for (i in seq_len(nrow(x))) {
    part <- h %*% x[near[i, ], , drop = FALSE]
    m <- m + t(part) %*% solve(tcrossprod(part) + lambda * diag(k + 1)) %*% part
  }
  (m + t(m)) / 2
}

# The c lowest eigenvectors, with the mean of |w_j|^2 over all choices in a tied space.
ref_start <- function(m, c) {
  e <- eigen(m, symmetric = TRUE)
  p <- ncol(m)
  values <- rev(e$values)
  vectors <- e$vectors[, p:1]
  tied <- abs(values - values[c]) <= 1e-10 * values[p]
  below <- values < values[c] & !tied
  share <- (c - sum(below)) / sum(tied)
  drop(vectors^2 %*% (below + share * tied))
}

# min tr(W'MW) + gamma sum sqrt(|w_j|^2 + eps); returns list(w, row2, objective).
ref_wstep <- function(m, c, gamma, eps, steps, row2 = ref_start(m, c), tol = -1) {
  p <- ncol(m)
  objective <- numeric()
  for (t in seq_len(steps)) {
    e <- eigen(m + gamma * diag(1 / (2 * sqrt(row2 + eps)), p), symmetric = TRUE)
    w <- e$vectors[, p:(p - c + 1), drop = FALSE]
    row2 <- rowSums(w^2)
    objective[t] <- sum(w * (m %*% w)) + gamma * sum(sqrt(row2 + eps))
    if (t > 1 && abs(objective[t] - objective[t - 1]) <= tol * abs(objective[t])) break
  }
  list(w = w, row2 = row2, objective = objective)
}

# Returns list(row2, s, lambda, zeros, iterations).
ref_sogfs <- function(x, m, c, k, gamma, max_iter = 50, eps = 1e-12) {
  n <- nrow(x)
  squared <- function(z) as.matrix(stats::dist(z))^2
  bottom <- function(l) {
    e <- eigen(l, symmetric = TRUE)
    list(f = e$vectors[, n:1][, seq_len(c), drop = FALSE], values = rev(e$values))
  }
  d <- squared(x)
  first <- near <- neighbours_of(x, k)
  wide <- neighbours_of(x, k + 1)
  s <- matrix(0, n, n)
  half <- numeric(n)
  for (i in seq_len(n)) {
    di <- d[i, wide[i, ]]
    den <- k * di[k + 1] - sum(di[seq_len(k)])
    s[i, first[i, ]] <- (di[k + 1] - di[seq_len(k)]) / den
    half[i] <- den / 2
  }
  r <- lambda <- mean(half)
  laplacian <- function(s) {
    s <- (s + t(s)) / 2
    diag(rowSums(s)) - s
  }
  l <- laplacian(s)
  f <- bottom(l)$f
  row2 <- NULL
  zeros <- lambdas <- numeric()
  for (t in seq_len(max_iter)) {
    scatter <- crossprod(x, l %*% x)
    if (is.null(row2)) row2 <- ref_start(scatter, m)
    step <- ref_wstep(scatter, m, gamma, eps, 100, row2, tol = 1e-6)
    row2 <- step$row2
    dx <- squared(x %*% step$w)
    df <- squared(f)
    if (t > 5) near <- neighbours_of(x %*% step$w, k)
    s <- matrix(0, n, n)
    for (i in seq_len(n)) s[i, near[i, ]] <- ref_simplex(-(dx + lambda * df)[i, near[i, ]] / (2 * r), 1)
    l <- laplacian(s)
    now <- bottom(l)
    zeros[t] <- sum(now$values[seq_len(c)])
    lambdas[t] <- lambda
    if (zeros[t] > 1e-9) {
      lambda <- lambda * 2
      f <- now$f
    } else if (sum(now$values[seq_len(c + 1)]) < 1e-11) {
      lambda <- lambda / 2
    } else {
      f <- now$f
      if (t > 2) break
    }
  }
  list(row2 = row2, s = s, lambda = lambdas, zeros = zeros, iterations = t)
}
