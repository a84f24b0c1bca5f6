# JSPCA by its letters, in the papers' orientation (X is p x n): dense diagonal
# matrices, full inverses, explicit residuals. Slow and independent of the C code.

jspca_reference <- function(X, P0, lambda, iterations, eps, loss = "feature",
                            a = rep(1, if (loss == "feature") nrow(X) else ncol(X)),
                            h = rep(1, nrow(X))) {
  row_norm <- function(m) sqrt(rowSums(m^2))
  polar <- function(m) with(svd(m), u %*% t(v))
  p <- nrow(X)
  Pbar <- P0
  Q <- matrix(0, p, ncol(P0))
  objective <- change <- numeric(iterations)
  for (t in seq_len(iterations)) {
    D2 <- diag(1 / h, p)
    Q_old <- Q
    Pbar_old <- Pbar
    if (loss == "feature") {
      D1 <- diag(a)
      XX <- X %*% t(X)
      Q <- solve(lambda * D2 + XX) %*% XX %*% sqrt(D1) %*% Pbar
      Pbar <- polar(sqrt(D1) %*% XX %*% Q)
      P <- diag(1 / sqrt(a)) %*% Pbar
      R <- X - P %*% t(Q) %*% X
      kkt <- 2 * row_norm(XX %*% (sqrt(D1) %*% Pbar_old - Q)) / lambda
      residual <- row_norm(R)
    } else {
      YY <- X %*% diag(a) %*% t(X)
      Q <- solve(lambda * D2 + YY) %*% YY %*% Pbar
      P <- Pbar <- polar(YY %*% Q)
      R <- X - P %*% t(Q) %*% X
      kkt <- 2 * row_norm(YY %*% (Pbar_old - Q)) / lambda
      residual <- row_norm(t(R))
    }
    norm <- row_norm(Q)
    objective[t] <- sum(sqrt(residual^2 + eps[1])) + lambda * sum(sqrt(norm^2 + eps[2]))
    change[t] <- sqrt(sum((Q - Q_old)^2) / sum(Q^2))
    a <- 1 / (2 * sqrt(residual^2 + eps[1]))
    h <- 2 * sqrt(norm^2 + eps[2])
  }
  rotated <- Q %*% svd(t(X) %*% Q)$v
  sign <- apply(rotated, 2L, function(v) sign(v[which.max(abs(v))]))
  list(Q = Q, P = P, Pbar = Pbar, objective = objective, change = change, norm = norm,
    residual = residual, kkt = kkt, R = R, loadings = sweep(rotated, 2L, sign / sqrt(colSums(rotated^2)), "*"))
}

# 2 max_i || (XX'A^{1/2})_i ||, or 2 max_i || (XWX')_i ||, at Q = 0.
jspca_lambda_max_reference <- function(X, loss = "feature") {
  norm <- if (loss == "feature") sqrt(rowSums(X^2)) else sqrt(colSums(X^2))
  m <- if (loss == "feature") {
    X %*% t(X) %*% diag(ifelse(norm > 0, sqrt(1 / (2 * norm)), 0))
  } else {
    X %*% diag(ifelse(norm > 0, 1 / (2 * norm), 0)) %*% t(X)
  }
  2 * max(sqrt(rowSums(m^2)))
}

# k latent factors loading on the first `informative` of p features, the rest noise.
jspca_factors <- function(n, p, k, informative, seed, noise = 0.5) {
  withr::with_seed(seed, {
    factors <- matrix(rnorm(n * k), n)
    load <- matrix(0, k, p)
    load[, seq_len(informative)] <- rnorm(k * informative)
    factors %*% load + noise * matrix(rnorm(n * p), n)
  })
}
