# Literal versions of ufs_topk() and ufs_propagate(), in the paper's orientation: X is
# D x N (columns = samples), Z is N x N, A is C x D, Y is C x N. Full inverses and dense
# matrices throughout, nothing of the algebra that makes the C code fast.

ref_unit_columns <- function(X) {
  norm <- sqrt(colSums(X^2))
  sweep(X, 2L, ifelse(norm < 1e-7, 1, norm), "/")
}

ref_soft <- function(a, t) sign(a) * pmax(abs(a) - t, 0)

ref_one_hot <- function(g, C) outer(seq_len(C), g, "==") * 1

ref_represent <- function(X, Theta, lambda_E, lambda_Z, rho = 1.1, mu = 1, tol = 1e-6,
                          max_iter = 500L, mu_max = 1e8, nonnegative = FALSE) {
  N <- ncol(X)
  w <- 1 + lambda_Z * Theta
  Q <- Y2 <- Z <- matrix(0, N, N)
  E <- Y1 <- 0 * X
  trace <- NULL
  for (it in seq_len(max_iter)) {
    Z_prev <- Z
    Z <- ref_soft(Q + Y2 / mu, w / mu)
    diag(Z) <- 0
    if (nonnegative) Z <- pmax(Z, 0)
    Q <- solve(crossprod(X) + diag(N), crossprod(X, X - E + Y1 / mu) + Z - Y2 / mu)
    E <- ref_soft(X - X %*% Q + Y1 / mu, lambda_E / mu)
    R1 <- X - X %*% Q - E
    R2 <- Q - Z
    Y1 <- Y1 + mu * R1
    Y2 <- Y2 + mu * R2
    mu <- min(rho * mu, mu_max)
    res <- c(max(abs(R1)), max(abs(R2)), max(abs(Z - Z_prev)))
    trace <- rbind(trace, res)
    if (max(res) < tol) break
  }
  list(Z = Z, E = E, Q = Q, Y1 = Y1, Y2 = Y2, iterations = it, trace = trace,
    objective = sum(w * abs(Z)) + lambda_E * sum(abs(X - X %*% Z)))
}

ref_criterion <- function(S, K, B, YY, lambda_A) {
  G <- K[S, S, drop = FALSE] + lambda_A * diag(length(S))
  YY - sum(B[S, , drop = FALSE] * solve(G, B[S, , drop = FALSE]))
}

ref_ridge_A <- function(v, K, B, lambda_A) {
  V <- diag(v, length(v))
  t(solve(V %*% K %*% V + lambda_A * diag(length(v)), V %*% B))
}

ref_sphere <- function(u) .5 + sqrt(length(u)) / 2 * (u - .5) / sqrt(sum((u - .5)^2))

ref_select <- function(X, Y, L, k, lambda_A, lambda_I, incumbent = TRUE, polish = TRUE,
                       growth = 1.1, max_iter = 150L, tol = 1e-6) {
  D <- nrow(X)
  K <- X %*% (diag(ncol(X)) + lambda_I * L) %*% t(X)
  B <- X %*% t(Y)
  YY <- sum(Y^2)
  g <- function(S) ref_criterion(S, K, B, YY, lambda_A)
  v <- rep(1, D)
  it <- 0L
  S <- seq_len(D)
  if (k < D) {
    v1 <- v2 <- y2 <- y3 <- rep(0, D)
    y1 <- 0
    rho <- 1
    best <- Inf
    for (it in seq_len(max_iter)) {
      v_prev <- v
      A <- ref_ridge_A(v, K, B, lambda_A)
      H <- crossprod(A) * K
      theta <- rowSums(B * t(A))
      v <- drop(solve(2 * H + rho * matrix(1, D, D) + 2 * rho * diag(D),
        2 * theta + rho * (k + v1 + v2) - (y1 + y2 + y3)))
      v1 <- pmin(pmax(v + y2 / rho, 0), 1)
      u <- v + y3 / rho
      v2 <- ref_sphere(if (sqrt(sum((u - .5)^2)) < 1e-12) v_prev else u)
      y1 <- y1 + rho * (sum(v) - k)
      y2 <- y2 + rho * (v - v1)
      y3 <- y3 + rho * (v - v2)
      rho <- rho * growth
      S_t <- sort(order(-round(v, 6), -colSums(A^2))[seq_len(k)])
      if (!incumbent || is.infinite(best) || g(S_t) < best - 1e-12 * (1 + abs(best))) {
        S <- S_t
        best <- g(S_t)
      }
      if (max(abs(sum(v) - k), abs(v - v1), abs(v - v2), abs(v - v_prev)) < tol) break
    }
  }
  v_cont <- v
  g_admm <- g(S)
  if (polish) S <- ref_polish(S, K, B, YY, lambda_A)
  v <- as.numeric(seq_len(D) %in% S)
  A <- ref_ridge_A(v, K, B, lambda_A)
  list(S = S, A = A, v = v, v_cont = v_cont, iterations = it, objective = g(S),
    g_admm = g_admm, K = K, B = B, YY = YY, score = colSums(A^2))
}

# Best swap first, each one by the definition of g.
ref_polish <- function(S, K, B, YY, lambda_A) {
  g <- function(S) ref_criterion(S, K, B, YY, lambda_A)
  repeat {
    rest <- setdiff(seq_len(nrow(K)), S)
    if (!length(rest)) return(sort(S))
    swap <- expand.grid(out = seq_along(S), into = rest)
    value <- mapply(function(out, into) g(c(S[-out], into)), swap$out, swap$into)
    best <- which.min(value)
    if (value[best] - g(S) > -1e-10 * sqrt(sum(B^2))) return(sort(S))
    S <- sort(c(S[-swap$out[best]], swap$into[best]))
  }
}

ref_brute <- function(k, K, B, YY, lambda_A) {
  all <- utils::combn(nrow(K), k)
  value <- apply(all, 2L, ref_criterion, K = K, B = B, YY = YY, lambda_A = lambda_A)
  list(S = all[, which.min(value)], value = min(value), all = all, values = value)
}

# The relaxation of section 13.
ref_relaxed <- function(s, X, Y, L, lambda_A, lambda_I) {
  R <- chol(diag(ncol(X)) + lambda_I * L)
  Xt <- X %*% t(R)
  Fm <- backsolve(R, t(Y), transpose = TRUE)
  M <- solve(lambda_A * diag(ncol(X)) + t(Xt) %*% (s * Xt), Fm)
  list(value = sum(Y^2) - sum(Fm^2) + lambda_A * sum(Fm * M), gradient = -lambda_A * rowSums((Xt %*% M)^2))
}

ref_spectral <- function(Z, C, previous = NULL) {
  N <- ncol(Z)
  if (C == 1L) return(rep(1L, N))
  M <- abs(Z)
  top <- apply(M, 2L, max)
  M <- sweep(M, 2L, ifelse(top > 0, top, 1), "/")
  S <- M + t(M)
  degree <- rowSums(S)
  isolated <- degree <= 1e-12 * max(degree)
  d <- ifelse(isolated, 0, 1 / sqrt(ifelse(isolated, 1, degree)))
  U <- eigen(S * outer(d, d), symmetric = TRUE)$vectors[, seq_len(C), drop = FALSE]
  norm <- sqrt(rowSums(U^2))
  U <- U / ifelse(norm > 1e-12, norm, 1)
  U[norm <= 1e-12 | isolated, ] <- 0
  seed <- which(degree >= (1 - 1e-9) * max(degree))[1L]
  while (length(seed) < C) {
    closest <- apply(abs(U %*% t(U[seed, , drop = FALSE])), 1L, max)
    closest[isolated] <- Inf
    closest[seed] <- Inf
    seed <- c(seed, which(closest <= min(closest) + 1e-9)[1L])
  }
  run <- ref_lloyd(U, U[seed, , drop = FALSE], C)
  if (!is.null(previous)) {
    again <- ref_lloyd(U, ref_centres(U, previous, C), C)
    if (again$wss <= run$wss + 1e-9) run <- again
  }
  match(run$g, unique(run$g))
}

ref_centres <- function(U, g, C) t(vapply(seq_len(C), function(c) colMeans(U[g == c, , drop = FALSE]), numeric(ncol(U))))

ref_lloyd <- function(U, centre, C) {
  g <- rep(0L, nrow(U))
  for (it in 1:100) {
    d2 <- vapply(seq_len(C), function(c) colSums((t(U) - centre[c, ])^2), numeric(nrow(U)))
    new <- apply(d2, 1L, function(row) which(row <= min(row) + 1e-9)[1L])
    own <- d2[cbind(seq_along(new), new)]
    for (c in seq_len(C)) if (!any(new == c)) {
      movable <- tabulate(new, C)[new] > 1
      far <- which(movable & own >= max(own[movable]) - 1e-9)[1L]
      new[far] <- c
      own[far] <- 0
    }
    if (identical(new, g)) break
    g <- new
    centre <- ref_centres(U, g, C)
  }
  list(g = g, wss = sum((U - ref_centres(U, g, C)[g, , drop = FALSE])^2))
}

# g: class or NA for every node.
ref_harmonic <- function(W, g, C, X = NULL, cmn = FALSE) {
  N <- length(g)
  W[W <= 1e-12 * max(W)] <- 0
  labelled <- which(!is.na(g))
  reached <- !is.na(g)
  repeat {
    more <- !reached & colSums(W[reached, , drop = FALSE]) > 0
    if (!any(more)) break
    reached <- reached | more
  }
  count <- tabulate(g[labelled], C)
  prob <- matrix(count / sum(count), C, N)
  prob[, labelled] <- ref_one_hot(g[labelled], C)
  u <- which(reached & is.na(g))
  label <- g
  if (length(u)) {
    L <- diag(rowSums(W)) - W
    Yu <- -prob[, labelled, drop = FALSE] %*% L[labelled, u, drop = FALSE] %*% solve(L[u, u])
    if (cmn) {
      Yu <- Yu * ((count + 1) / rowSums(Yu))
      Yu <- sweep(Yu, 2L, colSums(Yu), "/")
    }
    prob[, u] <- Yu
    label[u] <- apply(Yu, 2L, function(col) which(col >= max(col) - 1e-12)[1L])
  }
  for (i in which(!reached)) {
    label[i] <- if (is.null(X)) which.max(count) else {
      g[labelled[which.min(colSums((X[, labelled, drop = FALSE] - X[, i])^2))]]
    }
  }
  list(label = label, prob = prob, reached = reached)
}

# X: D x N, already normalised. g: class or NA, all NA = unsupervised.
ref_topk <- function(X, k, C, g = rep(NA_integer_, ncol(X)), alpha_E = 10, lambda_E = NULL,
                     lambda_Z = .05, lambda_A = .01, lambda_I = 3, alpha = .95,
                     polish = TRUE, incumbent = TRUE, cmn = FALSE, max_iter = 10L,
                     tol = 1e-5) {
  N <- ncol(X)
  if (is.null(lambda_E)) lambda_E <- alpha_E / max(colSums(abs(X)))
  Theta <- matrix(1, N, N)
  beta <- if (lambda_I > 0) lambda_Z * (1 - alpha) / lambda_I else 1
  trace <- NULL
  label <- NULL
  for (t in seq_len(max_iter)) {
    sub1 <- ref_represent(X, Theta, lambda_E, lambda_Z)
    W <- (abs(sub1$Z) + t(abs(sub1$Z))) / 2
    L <- diag(rowSums(W)) - W
    prob <- NULL
    label <- if (all(is.na(g))) {
      ref_spectral(sub1$Z, C, label)
    } else if (anyNA(g)) {
      fit <- ref_harmonic(W, g, C, X, cmn)
      prob <- fit$prob
      fit$label
    } else {
      g
    }
    Y <- ref_one_hot(label, C)
    sub2 <- ref_select(X, Y, L, k, lambda_A, lambda_I, incumbent, polish)
    Theta1 <- outer(label, label, "!=") * 1
    P <- sub2$A %*% (sub2$v * X)
    Theta2 <- as.matrix(stats::dist(t(P)))^2 / 2
    dimnames(Theta2) <- NULL
    new <- alpha * Theta1 + (1 - alpha) * Theta2
    joint <- sum(abs(sub1$Z)) + lambda_E * sum(abs(X - X %*% sub1$Z)) +
      lambda_Z * alpha * sum(abs(sub1$Z) * Theta1) + beta * sub2$objective
    change <- max(abs(new - Theta))
    trace <- rbind(trace, data.frame(outer = t, sp1_iter = sub1$iterations, sp1_obj = sub1$objective,
      sp2_iter = sub2$iterations, sp2_obj = sub2$objective, joint = joint, dTheta = change))
    Theta <- new
    if (change < tol) break
  }
  list(S = sub2$S, A = sub2$A, v = sub2$v, v_cont = sub2$v_cont, score = sub2$score,
    objective = sub2$objective, Z = sub1$Z, E = sub1$E, W = W, L = L, Theta = Theta,
    g = label, Y = Y, prob = prob, trace = trace, converged = change < tol, lambda_E = lambda_E)
}

# A fixture as a plain matrix or vector.
topk_fixture <- function(name) {
  path <- testthat::test_path("fixtures", "topk", paste0(name, ".csv"))
  out <- as.matrix(utils::read.csv(path, header = FALSE))
  dimnames(out) <- NULL
  if (ncol(out) == 1L) drop(out) else out
}

topk_expected <- function(name) {
  path <- testthat::test_path("fixtures", "topk", paste0(name, "_expected.csv"))
  table <- utils::read.csv(path)
  stats::setNames(as.list(table$value), table$key)
}

# Sub-problem 1 as solver = "admm" iterates, all samples side by side and with every product
# written out: x n x p, weights n x n; one call that is not coarse.
ref_warm <- function(x, weights, lambda_e, iterations, nonnegative = FALSE) {
  n <- nrow(x)
  p <- ncol(x)
  Z <- Q <- matrix(0, n, n)
  Y <- matrix(0, n, p)
  mu <- 15
  for (it in seq_len(iterations)) {
    before <- Z
    Z <- ref_soft(Q + Y %*% t(x) / mu, weights / mu)
    if (nonnegative) Z <- pmax(Z, 0)
    diag(Z) <- 0
    E <- ref_soft(x - Q %*% x + Y / mu, lambda_e / mu)
    Zr <- 1.9 * Z - .9 * Q
    Er <- 1.9 * E - .9 * (x - Q %*% x)
    # Q minimises ||x - E' - Qx + Y/mu||^2 + ||Q - Z' + Y x'/mu||^2 over all Q.
    C <- Zr - Y %*% t(x) / mu
    Q <- ((x - Er + Y / mu) %*% t(x) + C) %*% solve(tcrossprod(x) + diag(n))
    Y <- Y + mu * (x - Er - Q %*% x)
    residual <- max(abs(x - Q %*% x - E), abs(Q - Z), abs(Z - before))
    if (it > 20) mu <- 1.3 * mu
  }
  list(Z = Z, Y = Y, residual = residual)
}
