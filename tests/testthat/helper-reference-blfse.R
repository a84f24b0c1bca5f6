# BLFSE to the letter: every matrix dense, every eigenvalue problem in full.

# Projector on the c smallest eigenvectors, ties shared equally.
ref_lowest <- function(a, c) {
  e <- eigen((a + t(a)) / 2, symmetric = TRUE)
  value <- rev(e$values)
  vector <- e$vectors[, rev(seq_along(value)), drop = FALSE]
  tol <- 10 * length(value) * .Machine$double.eps * max(abs(value))
  lo <- value < value[c] - tol
  eq <- abs(value - value[c]) <= tol
  weight <- lo + eq * (c - sum(lo)) / sum(eq)
  list(n = vector %*% (weight * t(vector)), ties = sum(eq), value = value)
}

# min v'Hv/2 - b'v on the simplex, H positive definite: primal active set.
ref_qp <- function(h, b, v = rep(1 / length(b), length(b))) {
  free <- v > 0
  face <- function() {
    y <- solve(h[free, free, drop = FALSE], cbind(b[free], 1))
    y[, 1] + (1 - sum(y[, 1])) / sum(y[, 2]) * y[, 2]
  }
  for (step in 1:1000) {
    to <- face()
    if (any(to < 0)) {
      from <- v[free]
      ratio <- ifelse(to < from, from / (from - to), Inf)
      ratio[to >= 0] <- Inf
      block <- which.min(ratio)
      v[free] <- from + min(1, ratio[block]) * (to - from)
      v[which(free)[block]] <- 0
      free[which(free)[block]] <- FALSE
      next
    }
    v[] <- 0
    v[free] <- to
    g <- drop(h %*% v) - b
    gain <- sum(g * v) - g
    if (all(gain[!free] <= 1e-13 * max(abs(b)))) return(v)
    free[which(!free)[which.max(gain[!free])]] <- TRUE
  }
  stop("ref_qp: no end")
}

ref_sqdist <- function(k) pmax(outer(diag(k), diag(k), `+`) - 2 * k, 0)

ref_blfse <- function(x, scores, labels, c, projection = "paper", order = "paper",
                      psi = c(.9, .8, .7, .6, .5), max_inner = 5) {
  n <- nrow(x)
  p <- ncol(x)
  m <- nrow(scores)
  vk <- scores / rowSums(scores)
  sk <- lapply(seq_len(m), function(k) outer(labels[, k], labels[, k], `==`) + 0)
  laplacian <- function() diag(rowSums(s)) - s
  gram <- function() t(x) %*% laplacian() %*% x
  weighted <- function(weight, each) Reduce(`+`, Map(`*`, weight, each))
  alpha <- beta <- rep(1 / m, m)
  rho <- 1
  v <- colMeans(vk)
  s <- weighted(beta, sk)
  w <- matrix(1, n, n)
  ry <- ref_lowest(laplacian(), c)$n
  project <- function() {
    if (projection == "isotropic") return(list(n = diag(c / p, p), ties = p))
    ref_lowest(gram() * outer(v, v), c)
  }
  step_p <- project()
  trace <- history <- NULL
  lambda <- 0
  record <- function(stage, it, blk) {
    t1 <- 2 * sum(v * ((gram() * step_p$n) %*% v))
    t2 <- sum(vapply(seq_len(m), function(k) beta[k]^2 * sum((w * (s - sk[[k]]))^2), 0))
    t3 <- -lambda * sum(w)
    t4 <- sum(alpha^2 * rowSums(sweep(vk, 2L, v)^2))
    t5 <- rho * sum(ref_sqdist(ry) * s)
    trace <<- rbind(trace, data.frame(stage = stage, it = it, blk = blk, rho = rho,
      total = t1 + t2 + t3 + t4 + t5, sep = t1, clus = t2, sp = t3, feat = t4, rank = t5))
  }
  simplex <- function(e) {
    e <- 1 / pmax(e, 2.220446049250313e-16)
    e / sum(e)
  }
  steps <- list(
    P = function() step_p <<- project(),
    S = function() {
      z <- x * rep(v, each = n)
      cost <- ref_sqdist(z %*% step_p$n %*% t(z)) + rho * ref_sqdist(ry)
      new <- (weighted(beta^2, sk) - cost / (2 * w^2)) / sum(beta^2)
      new <- pmin(pmax(new, 0), 1)
      s <<- (new + t(new)) / 2
    },
    v = function() v <<- ref_qp(2 * gram() * step_p$n + diag(sum(alpha^2), p), drop(alpha^2 %*% vk), v),
    Y = function() ry <<- ref_lowest(laplacian(), c)$n,
    beta = function() beta <<- simplex(vapply(sk, function(each) sum((w * (s - each))^2), 0)),
    alpha = function() alpha <<- simplex(rowSums(sweep(vk, 2L, v)^2))
  )
  blocks <- if (order == "paper") c("P", "S", "v", "Y", "beta", "alpha") else c("P", "v", "S", "Y", "beta", "alpha")
  for (stage in psi) {
    lambda <- 2 * stage * (1 - stage) / m
    record(stage, 0, "start")
    a <- weighted(beta^2, lapply(sk, function(each) (s - each)^2))
    w <- ifelse(a > 0, pmin(1, lambda / (2 * a)), 1)
    record(stage, 0, "W")
    for (it in seq_len(max_inner)) {
      old_v <- v
      old_ry <- ry
      for (block in blocks) {
        steps[[block]]()
        record(stage, it, block)
      }
      nc <- max(ref_components(s, 1e-10))
      history <- rbind(history, data.frame(psi = stage, it = it, rho = rho, ncomp = nc, ntieP = step_p$ties,
        nnz = sum(v > 0), dv = sum(abs(v - old_v)), amax = max(alpha), bmax = max(beta), wmean = mean(w)))
      if (nc < c) rho <- 2 * rho
      if (nc > c) {
        rho <- rho / 2
        ry <- old_ry
      }
      if (nc == c && it >= 2) break
    }
  }
  list(v = v, S = s, W = w, alpha = alpha, beta = beta, rho = rho, N = step_p$n,
    rank = order(-v, seq_along(v)), trace = trace, history = history)
}

blfse_fixture <- function(name) {
  unname(as.matrix(utils::read.csv(test_path("fixtures", "blfse", paste0(name, ".csv")), header = FALSE)))
}

blfse_input <- function() {
  list(x = blfse_fixture("fx1_in_X"), scores = blfse_fixture("fx1_in_V"), labels = blfse_fixture("fx1_in_labels"), c = 3L)
}

# c clusters, m noisy copies of their labels, m noisy scores that prefer the columns with
# signal.
blfse_problem <- function(n, p, c, m, seed, noise = 0.15) {
  withr::with_seed(seed, {
    cluster <- rep_len(seq_len(c), n)
    signal <- seq_len(max(2L, p %/% 4L))
    x <- matrix(stats::rnorm(n * p), n)
    x[, signal] <- x[, signal] + outer(cluster, 1.5 * stats::rnorm(length(signal)))
    labels <- vapply(seq_len(m), function(k) {
      wrong <- stats::runif(n) < noise
      replace(cluster, wrong, sample(c, sum(wrong), TRUE))
    }, integer(n))
    scores <- matrix(stats::rgamma(m * p, 3), m)
    scores[, signal] <- 1.5 * scores[, signal]
    list(x = scale(x)[, ] / sqrt(p), scores = scores, labels = labels, c = c)
  })
}

# The fit without any scaling and without the warnings that small ensembles provoke.
blfse_plain <- function(d, ..., control = list()) {
  control <- do.call(ufs_control, utils::modifyList(list(warn = FALSE), control))
  published("blfse", d$x, d$c, scores = d$scores, labels = d$labels, center = FALSE, scale = FALSE,
    control = control, ...)
}

# The solver itself, with the choices that the package makes on its own.
blfse_raw <- function(d, projection = 0L, order = 0L, form = 0L,
                      psi = c(.9, .8, .7, .6, .5), max_iter = 25L) {
  labels <- check_base_labels(d$labels, nrow(d$x), nrow(d$scores))
  settings <- list(n_clusters = d$c, projection = projection, order = order, form = form,
    inner_max_iter = 5L, gamma_cluster = 1, gamma_feature = 1, qp_tol = 1e-11)
  scores <- t(normalise_scores(d$scores))
  out <- .Call(C_blfse, d$x, scores, t(labels), psi, settings, ufs_control(max_iter = max_iter, tol = 0))
  for (part in c("S", "W")) out[[part]] <- whole_symmetric(out[[part]], NULL, nrow(d$x))
  out
}
