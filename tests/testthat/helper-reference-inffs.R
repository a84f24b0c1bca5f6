# Inf-FS to the letter: a dense eigenvalue problem and a dense solve.
ref_inffs <- function(x, alpha, variant) {
  p <- ncol(x)
  one <- rep(1, p)
  sd <- apply(x, 2L, stats::sd)
  s <- outer(sd, sd, pmax) - min(sd)
  if (max(s) > 1e-12 * max(sd)) s <- s / max(s) else s[] <- 0
  rho <- suppressWarnings(stats::cor(x, method = "spearman"))
  rho[is.na(rho)] <- 0
  diag(rho) <- 1
  a <- if (variant == "2016") alpha * (1 - abs(rho)) + (1 - alpha) * s else alpha * s + (1 - alpha) * (1 - abs(rho))
  top <- max(rowSums(a))
  if (variant == "2020") {
    e <- 5e-6 * p
    return(unname(solve(diag(p) - (1 - e) / top * a / (top + e), one)))
  }
  r <- switch(variant,
    "2015" = 0.9 / max(eigen(a, TRUE, TRUE)$values),
    "2016" = 0.99 / max(eigen(a, TRUE, TRUE)$values),
    rowsum = 0.9 / top
  )
  unname(solve(diag(p) - r * a, one) - 1)
}

# Scores from the columns `chosen` (in the order of their deviations), entry by entry, and the
# error that their odd and even members give.
ref_inffs_sampled <- function(x, alpha, chosen) {
  p <- ncol(x)
  m <- length(chosen)
  sd <- apply(x, 2L, stats::sd)
  t <- (sd - min(sd)) / (max(sd) - min(sd))
  a <- alpha * outer(t, t, pmax) + (1 - alpha) * (1 - abs(stats::cor(x, method = "spearman")))
  inner <- a[chosen, chosen]
  radius <- max(eigen(inner, TRUE, TRUE)$values)
  y <- solve(diag(m) - 0.9 / radius * inner, rep(1, m))
  r <- 0.9 / (radius * p / m)
  score <- function(part, loop) vapply(seq_len(p), function(i) {
    others <- part[chosen[part] != i]
    total <- r * (p - 1) / length(others) * sum(a[i, chosen[others]] * y[others])
    if (loop) (total + r * a[i, i]) / (1 - r * a[i, i]) else total
  }, 0)
  all <- score(seq_len(m), TRUE)
  halves <- score(seq(1, m, 2), FALSE) - score(seq(2, m, 2), FALSE)
  list(score = all, radius = radius * p / m, error = stats::sd(halves) / 2 * sqrt(1 - m / p) / stats::sd(all))
}
