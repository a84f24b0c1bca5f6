# Slow, literal R versions of the graph methods, and their fixtures.

baseline_input <- function(set) {
  as.matrix(utils::read.csv(test_path("fixtures", "baselines", "input", paste0(set, ".csv")), header = FALSE))
}

baseline_expected <- function(set, name) utils::read.csv(test_path("fixtures", "baselines", set, paste0(name, ".csv")))$score

baseline_graph <- function(set, name) {
  at <- utils::read.csv(test_path("fixtures", "baselines", "graph", paste0(set, "__", name, ".csv")))
  n <- max(at$i, at$j)
  w <- matrix(0, n, n)
  w[cbind(at$i, at$j)] <- at$w
  w
}

# k neighbours of each row, ties within 1e-10 (relative, squared distances) to the lower
# index; k x n, sorted by index.
ref_neighbours <- function(x, k) {
  out <- vapply(seq_len(nrow(x)), function(i) {
    d2 <- colSums((t(x) - x[i, ])^2)
    d2[i] <- Inf
    kth <- sort(d2)[k]
    tied <- which(abs(d2 - kth) <= 1e-10 * kth)
    near <- setdiff(which(d2 < kth), tied)
    sort(c(near, tied[seq_len(k - length(near))]))
  }, integer(k))
  matrix(out, nrow = k)
}

ref_graph <- function(x, k, weights = "heat", bandwidth = NULL, symmetrise = "max") {
  n <- nrow(x)
  d <- as.matrix(stats::dist(x))
  if (is.null(bandwidth)) bandwidth <- mean(d)
  a <- matrix(0, n, n)
  near <- ref_neighbours(x, k)
  for (i in seq_len(n)) a[i, near[, i]] <- 1
  norm <- pmax(sqrt(rowSums(x^2)), 1e-12)
  value <- switch(weights, heat = exp(-d^2 / (2 * bandwidth^2)), binary = matrix(1, n, n),
    cosine = pmax(tcrossprod(x) / outer(norm, norm), 0))
  unname(switch(symmetrise, max = pmax(a, t(a)), min = pmin(a, t(a)), mean = (a + t(a)) / 2) * value)
}

ref_laplacian <- function(x, w) {
  d <- rowSums(w)
  l <- diag(d) - w
  unname(apply(x, 2L, function(f) {
    f <- f - sum(f * d) / sum(d)
    sum(f * (l %*% f)) / sum(f^2 * d)
  }))
}

# SPEC by the full eigen-decomposition; g(l) = l^power. Connected graphs only for phi3.
ref_spec <- function(x, w, type, k = NULL, power = 1) {
  d <- rowSums(w)
  root <- ifelse(d > 0, 1 / sqrt(d), 0)
  e <- eigen(root * t(root * (diag(d) - w)), symmetric = TRUE)
  values <- rev(pmax(e$values, 0))
  vectors <- e$vectors[, rev(seq_along(values))]
  unname(apply(x, 2L, function(f) {
    f <- sqrt(d) * f
    f <- f / sqrt(sum(f^2))
    a2 <- drop(crossprod(vectors, f))^2
    switch(type, phi1 = sum(a2 * values^power), phi2 = sum(a2 * values^power) / (1 - sum(f * sqrt(d))^2 / sum(d)),
      phi3 = sum((2^power - values[2:k]^power) * a2[2:k]))
  }))
}

# min 1/2 |y - x b|^2 + ridge/2 |b|^2 + t |b|_1 by coordinate descent.
ref_lasso <- function(x, y, t, ridge = 0, start = rep(0, ncol(x)), sweeps = 20000) {
  b <- start
  r <- drop(y - x %*% b)
  size <- colSums(x^2)
  for (s in seq_len(sweeps)) {
    moved <- 0
    for (j in seq_along(b)) {
      if (size[j] == 0) next
      z <- sum(x[, j] * r) + size[j] * b[j]
      new <- sign(z) * max(abs(z) - t, 0) / (size[j] + ridge)
      if (new != b[j]) {
        r <- r - x[, j] * (new - b[j])
        moved <- max(moved, abs(new - b[j]) * sqrt(size[j]))
        b[j] <- new
      }
    }
    if (moved <= 1e-14 * sqrt(sum(y^2))) break
  }
  b
}

# The lasso path by brute force on sign patterns: from t down, at each knot the change of
# the active set that keeps the optimality conditions. Literal LARS with dense solves.
ref_lasso_path <- function(x, y, card, ridge = 0) {
  p <- ncol(x)
  b <- rep(0, p)
  active <- integer()
  barred <- 0
  repeat {
    correlation <- drop(crossprod(x, y - x %*% b)) - ridge * b
    t <- if (length(active)) max(abs(correlation[active])) else max(abs(correlation))
    if (!length(active)) active <- which.max(abs(correlation))
    s <- sign(correlation[active])
    gram <- crossprod(x[, active, drop = FALSE]) + diag(ridge, length(active))
    direction <- solve(gram, s)
    slope <- drop(crossprod(x, x[, active, drop = FALSE] %*% direction))
    rest <- setdiff(seq_len(p), active)
    plus <- (t - correlation[rest]) / (1 - slope[rest])
    minus <- (t + correlation[rest]) / (1 + slope[rest])
    # A variable just dropped has the correlation t: only its other sign counts.
    plus[rest == abs(barred) & barred > 0] <- Inf
    minus[rest == abs(barred) & barred < 0] <- Inf
    plus[plus <= 1e-12 * t] <- Inf
    minus[minus <= 1e-12 * t] <- Inf
    join <- pmin(plus, minus)
    drop <- -b[active] / direction
    drop[drop <= 1e-14] <- Inf
    step <- min(join, drop, t)
    b[active] <- b[active] + step * direction
    barred <- 0
    if (step == t) return(list(b = b, penalty = 0))
    if (min(drop) == step) {
      out <- active[which.min(drop)]
      b[out] <- 0
      barred <- out * s[which.min(drop)]
      active <- setdiff(active, out)
    } else {
      joins <- rest[which.min(join)]
      if (sum(b != 0) >= card) return(list(b = b, penalty = t - step))
      active <- c(active, joins)
    }
    if (sum(b != 0) >= card) return(list(b = b, penalty = t - step))
  }
}

# Two tight groups of samples, so far apart that no edge joins them.
two_islands <- function(n = 20, p = 4, seed = 1) {
  withr::with_seed(seed, {
    x <- matrix(stats::rnorm(n * p), n)
    x[seq_len(n / 2), ] <- x[seq_len(n / 2), ] + 50
    x
  })
}
