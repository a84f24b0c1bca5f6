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
  r <- switch(variant, "2015" = 0.9 / max(eigen(a, TRUE, TRUE)$values),
    "2016" = 0.99 / max(eigen(a, TRUE, TRUE)$values), rowsum = 0.9 / top)
  unname(solve(diag(p) - r * a, one) - 1)
}
