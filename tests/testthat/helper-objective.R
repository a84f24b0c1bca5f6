# One plain-R function per method: the objective of a fit from nothing but its solution, its
# parameters and the user's x. tests/testthat/test-objective.R holds them against the last row
# of the trace. None of them calls the package.

# x as the model sees it: centred and scaled by what the fit says it used, all p columns.
as_seen <- function(fit, x) {
  x <- unname(as.matrix(x))
  if (!isFALSE(fit$center)) x <- sweep(x, 2L, fit$center)
  if (!isFALSE(fit$scale)) x <- sweep(x, 2L, fit$scale, `/`)
  if (!isFALSE(fit$center)) x[, fit$constant] <- 0
  x
}

# Each row times its own factor; Inf: fixed at zero, and without smoothing.
l21 <- function(m, eps = 0, factor = rep(1, nrow(m))) {
  in_use <- is.finite(factor)
  stopifnot(all(m[!in_use, ] == 0))
  sum((factor * sqrt(rowSums(m^2) + eps))[in_use])
}

# What the constraints of a fit make of the penalty of each column (?ufs_data): nothing for those that must
# be in, none at all for those that may not be, and for the others their cost over its mean.
factors_of <- function(fit) {
  held <- fit$constraints$features
  if (!any(held$by == "solver")) return(rep(1, fit$p))
  factor <- if (is.null(held$cost)) rep(1, fit$p) else held$cost
  factor <- factor / mean(factor[setdiff(seq_len(fit$p), c(held$include, held$exclude, fit$constant))])
  factor[held$include] <- 0
  factor[held$exclude] <- Inf
  factor
}
# Polished, the result of irls has exact zeros and no smoothing.
socfs_eps <- function(fit) {
  plain <- fit$params$solver == "paper" && !(fit$params$polish && fit$control$tol >= 0)
  if (plain) fit$control$eps else 0
}
laplacian_of <- function(w) diag(rowSums(w)) - w

# Neighbours of each sample by Euclidean distance, ties by index.
neighbours_of <- function(z, k) {
  d <- as.matrix(stats::dist(z))
  diag(d) <- Inf
  t(apply(d, 1L, order))[, seq_len(k), drop = FALSE]
}

objectives <- list(
  socfs = function(fit, x) {
    z <- as_seen(fit, x)
    s <- fit$solution
    sum((z %*% s$V - s$E)^2) + fit$params$lambda * l21(s$V, socfs_eps(fit), factors_of(fit)) +
      fit$params$gamma * sum((s$F - s$E)^2)
  },
  jspca = function(fit, x) {
    z <- as_seen(fit, x)
    s <- fit$solution
    residual <- z - z %*% s$Q %*% t(s$P)
    if (fit$params$loss == "feature") residual <- t(residual)
    eps <- fit$control$eps * c(1, fit$params$solver == "paper")
    l21(residual, eps[1L]) + fit$params$lambda * l21(s$Q, eps[2L], factors_of(fit))
  },
  spca = function(fit, x) {
    z <- as_seen(fit, x)
    s <- fit$solution
    sum((z - z %*% s$B %*% t(s$A))^2) + fit$params$lambda * sum(apply(s$B, 2L, function(b) l21(as.matrix(b), 0, factors_of(fit))))
  },
  alfs = function(fit, x) {
    z <- t(as_seen(fit, x))
    w <- fit$solution$W
    value <- sum((z - z %*% w %*% z)^2) + fit$params$alpha * l21(w) + fit$params$beta * l21(t(w))
    if (fit$params$lambda > 0) {
      unit <- sweep(z, 2L, sqrt(colSums(z^2)), `/`)
      value <- value + fit$params$lambda * sum(abs(w %*% z) / pmax(abs(crossprod(unit)), 1e-6))
    }
    value
  },
  topk = function(fit, x) {
    z <- as_seen(fit, x)
    z <- z / sqrt(rowSums(z^2))
    s <- fit$solution
    a <- fit$params
    y <- t(outer(s$cluster, seq_len(a$n_clusters), `==`)) + 0
    graph <- laplacian_of((abs(s$Z) + abs(t(s$Z))) / 2)
    p <- s$A %*% (s$v * t(z))
    stopifnot(max(abs(z - s$Z %*% z - s$E)) < 1e-3)
    trace_of <- function(m) sum((m %*% graph) * m)
    sum(abs(s$Z)) + a$lambda_e * sum(abs(s$E)) + a$lambda_z * a$alpha * trace_of(y) +
      a$lambda_z * (1 - a$alpha) / a$lambda_i * (sum((y - p)^2) + a$lambda_a * sum(s$A^2) + a$lambda_i * trace_of(p))
  },
  rsr = function(fit, x) {
    z <- as_seen(fit, x)
    w <- fit$solution$W
    eps <- fit$control$eps
    live <- setdiff(seq_len(ncol(z)), fit$constant)
    l21(z - z %*% w, eps[1L]) + fit$params$lambda * l21(w[live, ], eps[2L], factors_of(fit)[live])
  },
  ndfs = function(fit, x) {
    z <- as_seen(fit, x)
    s <- fit$solution
    a <- fit$params
    graph <- laplacian_of(as.matrix(s$graph))
    live <- setdiff(seq_len(ncol(z)), fit$constant)
    sum((graph %*% s$F) * s$F) + a$alpha * (sum((s$F - z %*% s$W)^2) + a$beta * l21(s$W[live, , drop = FALSE],
      fit$control$eps, factors_of(fit)[live])) + a$gamma / 4 * sum((crossprod(s$F) - diag(a$n_clusters))^2)
  },
  udfs = function(fit, x) {
    z <- as_seen(fit, x)
    a <- fit$params
    w <- fit$solution$W
    near <- neighbours_of(z, a$n_neighbours)
    value <- 0
    for (i in seq_len(nrow(z))) {
      local <- scale(z[c(i, near[i, ]), ], scale = FALSE)
      part <- local %*% w
      value <- value + sum(part * solve(tcrossprod(local) + a$lambda * diag(a$n_neighbours + 1), part))
    }
    live <- setdiff(seq_len(ncol(z)), fit$constant)
    value + a$gamma * l21(w[live, , drop = FALSE], fit$control$eps, factors_of(fit)[live])
  },
  sogfs = function(fit, x) {
    z <- as_seen(fit, x)
    a <- fit$params
    w <- fit$solution$W
    s <- as.matrix(fit$solution$S)
    live <- setdiff(seq_len(ncol(z)), fit$constant)
    sum(as.matrix(stats::dist(z %*% w))^2 * s) + a$alpha * sum(s^2) +
      a$gamma * l21(w[live, , drop = FALSE], fit$control$eps, factors_of(fit)[live])
  },
  ted = function(fit, x) {
    z <- as_seen(fit, x)
    picked <- z[fit$solution$order[seq_len(fit$params$picks)], , drop = FALSE]
    a <- solve(tcrossprod(picked) + fit$params$mu * diag(nrow(picked)), tcrossprod(picked, z))
    sum((t(z) - t(picked) %*% a)^2) + fit$params$mu * sum(a^2)
  },
  css = function(fit, x) {
    z <- as_seen(fit, x)
    picked <- z[, fit$solution$order, drop = FALSE]
    b <- solve(crossprod(picked) + fit$params$mu * diag(ncol(picked)), crossprod(picked, z))
    sum((z - picked %*% b)^2) + fit$params$mu * sum(b^2)
  },
  facility = function(fit, x) {
    z <- as_seen(fit, x)
    similarity <- 1 + tcrossprod(z / sqrt(rowSums(z^2)))
    sum(apply(similarity[, fit$solution$order, drop = FALSE], 1L, max))
  }
)

# Methods without an objective in their trace, or whose trace cannot be recomputed from the
# solution alone, and why.
no_objective <- c(blfse = "the last update is of the weights: its blocks are tested in test-method-blfse.R",
  alnr = "the coefficients, n x k, are not returned: its bounds are tested in test-method-alnr.R",
  rrss = "the coefficients, n x n, are not returned: its bounds are tested in test-method-rrss.R",
  kmeans_f = "no trace", medoids = "no trace", pca = "no trace", random = "no trace",
  variance = "no trace", inffs = "no objective", laplacian = "no trace", spec = "no trace",
  mcfs = "one problem per cluster and penalty", cur = "no trace", consensus = "no trace")

# The scores that the solution stands for, by feature or by sample, where it does.
scores_of <- list(alfs = function(s) sqrt(colSums(s$W^2)), socfs = function(s) sqrt(rowSums(s$V^2)),
  jspca = function(s) sqrt(rowSums(s$Q^2)), spca = function(s) sqrt(rowSums(s$B^2)),
  rsr = function(s) if (!is.null(s$W)) sqrt(rowSums(s$W^2)), ndfs = function(s) rowSums(s$W^2),
  udfs = function(s) rowSums(s$W^2), sogfs = function(s) rowSums(s$W^2),
  mcfs = function(s) apply(abs(s$W), 1L, max), blfse = function(s) s$v)
sample_scores_of <- list(alfs = function(s) sqrt(rowSums(s$W^2)), rrss = function(s) s$row_norm,
  alnr = function(s) s$row_norm)

# How much more the best item would have brought, at worst, than the one that greedy TED picked: items
# with the inner products k, picks in order, penalty mu; those in `out` may not be picked.
greedy_miss <- function(k, picks, mu, out = integer()) {
  worst <- 0
  whole <- sum(diag(k))
  for (i in seq_along(picks)) {
    pick <- picks[i]
    d <- diag(k)
    gain <- ifelse(d > 1e-12 * whole, colSums(k^2) / (pmax(d, 0) + mu), 0)
    gain[c(picks[seq_len(i - 1L)], out)] <- 0
    # What is left of x is rounding: any pick is right.
    if (max(gain) <= 1e-9 * whole) break
    worst <- max(worst, 1 - gain[pick] / max(gain))
    k <- k - tcrossprod(k[, pick]) / (k[pick, pick] + mu)
  }
  worst
}

# The columns of which one or two rows have nearly all squares: ufs_css() leaves them out where it can.
on_few_rows <- function(z, k) {
  top <- apply(z^2, 2L, function(v) sum(sort(v, decreasing = TRUE)[1:2]) >= .9 * sum(v))
  if (nrow(z) < 20L || sum(!top) < k) integer() else which(top)
}

# One step of the literal iteration from the norms that a fit of rrss or alnr returns, the
# coefficients formed: its true objective is attained, and at most the smoothed one of the fit.
attained <- list(
  rrss = function(fit, x) {
    k <- tcrossprod(as_seen(fit, x))
    gamma <- fit$params$gamma
    root <- sqrt(sqrt(fit$solution$row_norm^2 + fit$control$eps^2))
    unit <- mean(sqrt(diag(k)))
    loss <- sqrt(fit$solution$residual^2 + (fit$control$eps * unit)^2)
    e <- eigen(root * t(root * k), symmetric = TRUE)
    a <- vapply(seq_along(root), function(i) {
      root * (e$vectors %*% (crossprod(e$vectors, root * k[, i]) / (pmax(e$values, 0) + gamma * loss[i])))
    }, root)
    ss <- diag(k) - 2 * colSums(k * a) + colSums(a * (k %*% a))
    sum(sqrt(pmax(ss, 0))) + gamma * sum(sqrt(rowSums(a^2)))
  },
  alnr = function(fit, x) {
    z <- as_seen(fit, x)
    n <- nrow(z)
    gamma <- fit$params$gamma
    b <- sqrt(fit$solution$row_norm^2 + fit$control$eps^2)
    d2 <- as.matrix(stats::dist(z))^2
    diag(d2) <- Inf
    # Equal distances: the lower index.
    near <- t(apply(signif(d2, 9L), 1L, order))[, seq_len(fit$params$n_neighbours), drop = FALSE]
    unit <- mean(d2[cbind(c(row(near)), c(near))])
    loss <- 0
    square <- numeric(n)
    for (i in seq_len(n)) {
      set <- c(i, near[i, ])
      t <- if (unit > 0) exp(pmin(c(0, d2[i, near[i, ]]) / unit, 100)) else rep(1, length(set))
      scale <- sqrt(b[set] / t)
      local <- scale * t(scale * tcrossprod(z[set, ]))
      a <- scale * solve(local + diag(gamma / 2, length(set)), scale * drop(z[set, ] %*% z[i, ]))
      loss <- loss + sum((z[i, ] - colSums(a * z[set, , drop = FALSE]))^2)
      square[set] <- square[set] + t * a^2
    }
    loss + gamma * sum(sqrt(square))
  }
)

# Of rows b of a regression with the gradient g (both by row): how far beyond 1 a zero row is, and how far
# from its subgradient another one.
worst_row <- function(g, b, eps = 0) {
  size <- sqrt(rowSums(b^2) + eps)
  reach <- sqrt(rowSums(g^2))
  live <- size > 0
  max(0, reach[!live] - 1, sqrt(rowSums((g - b / ifelse(live, size, 1))^2))[live])
}

# Share of the squares of z in the span of its columns `set`, and of its k leading components.
held_by <- function(z, set) {
  q <- qr(z[, set, drop = FALSE], LAPACK = TRUE)
  d <- abs(diag(qr.R(q)))
  sum(crossprod(qr.Q(q)[, seq_len(sum(d > 1e-7 * max(d))), drop = FALSE], z)^2) / sum(z^2)
}
share_of_leading <- function(z, k) {
  d2 <- svd(z, 0L, 0L)$d^2
  sum(d2[seq_len(min(k, length(d2)))]) / sum(d2)
}

# The component of each node of a symmetric graph, by the first node that is in it.
ref_components <- function(w, above = 0) {
  n <- nrow(w)
  label <- seq_len(n)
  repeat {
    new <- vapply(seq_len(n), function(i) min(label[i], label[w[, i] > above]), 0)
    if (all(new == label)) break
    label <- new
  }
  match(label, unique(label))
}

certificates <- list(
  alfs = function(fit, x) {
    z <- as_seen(fit, x)
    s <- fit$solution
    a <- fit$params
    g <- s$P + s$Q
    value <- objectives$alfs(fit, x)
    pairing <- c(a$alpha * l21(s$W) - sum(s$P * s$W), a$beta * l21(t(s$W)) - sum(s$Q * s$W))
    if (a$lambda > 0) {
      g <- g + s$L %*% z
      unit <- z / sqrt(rowSums(z^2))
      product <- s$W %*% t(z)
      pairing <- c(pairing, a$lambda * sum(abs(product) / pmax(abs(tcrossprod(unit)), 1e-6)) - sum(s$L * product))
      top <- max(abs(s$L) * pmax(abs(tcrossprod(unit)), 1e-6)) / a$lambda
    } else top <- 0
    gradient <- 2 * z %*% (t(z) - t(z) %*% s$W %*% t(z)) %*% z
    whole <- sqrt(sum((2 * tcrossprod(z) %*% z)^2))
    # The dual in coordinates in which z is diagonal: g = z'r z, and the minimum over W of
    # |z' - y|^2 + <r, y>.
    e <- svd(z)
    held <- e$d > 1e-7 * e$d[1L]
    r <- crossprod(e$u[, held, drop = FALSE], g %*% e$v[, held, drop = FALSE]) / outer(e$d[held], e$d[held])
    list(kkt = max(sqrt(sum((gradient - g)^2)) / whole, pairing / value),
      dual = sum(diag(r) * e$d[held]) - sum(r^2) / 4,
      gap = (value - fit$certificate[["dual"]]) / value,
      # Feasible, and without a part that W could use to go down for ever.
      feasible = max(1, (sqrt(rowSums(s$P^2)) + 1e-300) / (a$alpha + 1e-300),
        (sqrt(colSums(s$Q^2)) + 1e-300) / (a$beta + 1e-300), top,
        1 + (sqrt(max(sum(g^2) - sum((r * outer(e$d[held], e$d[held]))^2), 0)) / whole)))
  },
  socfs = function(fit, x) {
    z <- as_seen(fit, x)
    s <- fit$solution
    at <- setdiff(seq_len(ncol(z)), fit$constant)
    g <- 2 * crossprod(z, s$E - z %*% s$V) / fit$params$lambda
    list(kkt = worst_row(g[at, , drop = FALSE], s$V[at, , drop = FALSE], socfs_eps(fit)))
  },
  spca = function(fit, x) {
    z <- as_seen(fit, x)
    s <- fit$solution
    g <- 2 * crossprod(z, z %*% (s$A - s$B)) / fit$params$lambda
    list(kkt = max(0, ifelse(s$B == 0, abs(g) - 1, abs(g - sign(s$B)))))
  },
  mcfs = function(fit, x) {
    z <- as_seen(fit, x)
    s <- fit$solution
    if (fit$params$normalise || anyNA(s$Y)) return(NULL)
    # A sample without neighbours takes no part.
    linked <- s$graph$degree > 0
    middle <- function(part) if (isFALSE(fit$center)) part else sweep(part, 2L, colMeans(part))
    y <- middle(s$Y[linked, , drop = FALSE])
    z <- middle(z[linked, , drop = FALSE])
    g <- crossprod(z, y - z %*% s$W) - fit$params$ridge * s$W
    t <- matrix(s$penalty, ncol(z), ncol(s$W), byrow = TRUE)
    top <- apply(abs(crossprod(z, y)), 2L, max)
    off <- ifelse(s$W == 0, pmax(abs(g) - t, 0), abs(g - t * sign(s$W)))
    list(kkt = max(0, (apply(off, 2L, max) / top)[top > 0]))
  },
  rrss = function(fit, x) {
    k <- tcrossprod(as_seen(fit, x))
    value <- sum(fit$solution$residual) + fit$params$gamma * sum(fit$solution$row_norm)
    list(gap = 1 - fit$certificate[["dual"]] / value)
  },
  udfs = function(fit, x) list(orthonormal = sum((crossprod(fit$solution$W) - diag(ncol(fit$solution$W)))^2)),
  topk = function(fit, x) {
    z <- as_seen(fit, x)
    z <- z / sqrt(rowSums(z^2))
    s <- fit$solution
    a <- fit$params
    y <- t(outer(s$cluster, seq_len(a$n_clusters), `==`)) + 0
    p <- s$A %*% (s$v * t(z))
    graph <- laplacian_of((abs(s$Z) + abs(t(s$Z))) / 2)
    list(selection_objective = sum((y - p)^2) + a$lambda_a * sum(s$A^2) + a$lambda_i * sum((p %*% graph) * p))
  },
  css = function(fit, x) {
    z <- as_seen(fit, x)
    at <- if (fit$params$given) length(fit$solution$order) else which.min(fit$trace$ratio)
    list(captured = held_by(z, fit$solution$order[seq_len(at)]), bound = share_of_leading(z, at))
  },
  pca = function(fit, x) {
    z <- as_seen(fit, x)
    k <- fit$params$n_components
    list(captured = held_by(z, fit$feature_ranking[seq_len(k)]), bound = share_of_leading(z, k))
  },
  jspca = function(fit, x) {
    z <- as_seen(fit, x)
    k <- fit$params$n_components
    out <- list(captured = held_by(z, fit$feature_ranking[seq_len(k)]), bound = share_of_leading(z, k))
    if (fit$params$lambda > 0 && fit$status == "converged" && all(factors_of(fit) == 1)) {
      s <- fit$solution
      r <- sqrt(s$residual^2 + fit$control$eps[1L])
      by_sample <- fit$params$loss == "sample"
      target <- if (by_sample) crossprod(z / r, z %*% s$P) else crossprod(z, z %*% (s$P / r))
      g <- target - if (by_sample) crossprod(z / r, z %*% s$Q) else 2 * crossprod(z, z %*% s$Q)
      at <- setdiff(seq_len(ncol(z)), fit$constant)
      smooth <- if (fit$params$solver_used == "paper") utils::tail(fit$control$eps, 1L) else 0
      kkt <- worst_row(g[at, , drop = FALSE] / fit$params$lambda, s$Q[at, , drop = FALSE], smooth)
      # The claim is of the last regression; P has turned since, by as much as Q still changes.
      turned <- kkt <= fit$certificate[["kkt"]] + 1e3 * fit$certificate[["change"]] *
        max(1, sqrt(rowSums(target^2)) / fit$params$lambda)
      out$kkt <- if (turned) fit$certificate[["kkt"]] else kkt
    }
    out
  },
  sogfs = function(fit, x) {
    s <- as.matrix(fit$solution$S)
    w <- fit$solution$W
    list(components = max(ref_components(s + t(s))), orthonormal = sum((crossprod(w) - diag(ncol(w)))^2))
  },
  ndfs = function(fit, x) {
    z <- as_seen(fit, x)
    s <- fit$solution
    half <- fit$params$beta / 2
    at <- setdiff(seq_len(ncol(z)), fit$constant)
    w <- s$W[at, , drop = FALSE]
    # Rows below the smoothing count as zero.
    w[rowSums(w^2) <= 100 * fit$control$eps, ] <- 0
    g <- crossprod(z[, at], s$F - z %*% s$W)
    list(orthogonality = sqrt(sum((crossprod(s$F) - diag(ncol(s$F)))^2)), kkt = worst_row(g / half, w))
  },
  facility = function(fit, x) list(value = objectives$facility(fit, x)),
  medoids = function(fit, x) {
    if (!"within_ss" %in% names(fit$certificate) || !is.null(fit$params$n_scores)) return(NULL)
    z <- as_seen(fit, x)
    if (fit$params$unit) z <- z / pmax(sqrt(rowSums(z^2)), 1e-300)
    list(within_ss = sum(vapply(split(seq_len(nrow(z)), fit$solution$cluster), function(rows) {
      sum(scale(z[rows, , drop = FALSE], scale = FALSE)^2)
    }, 0)))
  }
)

# One row for each claim of a fit: what, claimed, recomputed in plain R from solution and params.
recomputed <- function(fit, x) {
  method <- fit$method
  rows <- list()
  add <- function(what, claimed, value) {
    rows[[length(rows) + 1L]] <<- data.frame(method = method, what = what, claimed = claimed,
      recomputed = value, stringsAsFactors = FALSE)
  }
  if (method %in% names(objectives) && fit$iterations > 0L && !identical(fit$params$form, "convex")) {
    last <- utils::tail(fit$trace, 1L)
    add("objective", last$objective, objectives[[method]](fit, x))
    if (method == "rsr") {
      true <- fit
      true$control$eps <- c(0, 0)
      add("best", last$best, objectives$rsr(true, x))
    }
  }
  of <- function(table, scores, what) {
    value <- if (method %in% names(table)) unname(table[[method]](fit$solution))
    scores <- unname(scores)
    if (is.null(value) || is.null(scores) || all(is.na(scores))) return()
    off <- abs(value - scores)
    off[is.na(scores)] <- 0
    # One row for all: the one that is farthest off, in units of the largest.
    unit <- max(abs(scores), na.rm = TRUE)
    if (unit > 0) add(what, 1, 1 + max(off) / unit)
  }
  of(scores_of, fit$feature_scores, "feature scores")
  own <- fit$sample_scores
  # Its equal rows have the score of the first of them.
  if (method == "alnr") own[duplicated(as_seen(fit, x))] <- NA
  if (!identical(fit$params$select_samples, "ted")) of(sample_scores_of, own, "sample scores")
  if (method == "alfs" && identical(fit$params$select_samples, "ted")) {
    z <- as_seen(fit, x)[, utils::head(fit$feature_ranking, fit$params$n_features), drop = FALSE]
    add("picks", 0, greedy_miss(tcrossprod(z), utils::head(fit$sample_ranking, 8L), 0.01 * mean(rowSums(z^2))))
  }
  if (method == "ted" && identical(fit$params$form, "greedy")) add("picks", 0, greedy_miss(tcrossprod(as_seen(fit, x)),
    utils::head(fit$solution$order, fit$params$picks), fit$params$mu))
  if (method == "css" && !fit$params$swaps)
    add("picks", 0, greedy_miss(crossprod(as_seen(fit, x)), fit$solution$order, fit$params$mu, on_few_rows(as_seen(fit, x), fit$params$k)))
  if (method %in% names(attained) && fit$iterations > 0L) {
    last <- utils::tail(fit$trace, 1L)
    value <- attained[[method]](fit, x)
    add("attained", value, min(value, last$objective))
    add("bound", fit$certificate[["dual"]], min(value, fit$certificate[["dual"]]))
    if (method == "rrss") add("best", last$best, sum(fit$solution$residual) + fit$params$gamma * sum(fit$solution$row_norm))
  }
  if (method %in% names(certificates)) {
    value <- certificates[[method]](fit, x)
    fixed <- c(feasible = 1, orthonormal = 0)
    for (name in names(value)) {
      claimed <- c(fit$certificate, fixed)
      if (name %in% names(claimed)) add(name, claimed[[name]], value[[name]])
    }
  }
  do.call(rbind, rows)
}

# M of the first steps over W of udfs and sogfs, p x p, from nothing but x.
first_m <- function(fit, z) {
  k <- fit$params$n_neighbours
  n <- nrow(z)
  a <- matrix(0, n, n)
  if (fit$method == "udfs") {
    near <- neighbours_of(z, k)
    for (i in seq_len(n)) {
      at <- c(i, near[i, ])
      h <- diag(k + 1) - 1 / (k + 1)
      a[at, at] <- a[at, at] + h %*% solve(tcrossprod(h %*% z[at, ]) + fit$params$lambda * diag(k + 1), h)
    }
  } else {
    near <- neighbours_of(z, k + 1)
    d <- as.matrix(stats::dist(z))^2
    for (i in seq_len(n)) {
      reach <- d[i, near[i, ]]
      a[i, near[i, -(k + 1)]] <- (reach[k + 1] - reach[seq_len(k)]) / sum(reach[k + 1] - reach[seq_len(k)])
    }
    a <- laplacian_of((a + t(a)) / 2)
  }
  crossprod(z, a %*% z)
}

# How W is off the lowest eigenvectors by eigen() of M and the diagonal of the weights, among its rows in
# use: `value` of their sum, `rows` of their squared row norms; and the largest `reach` of a zero row.
# `first`: the weights are those of the start, the mean over all null vectors of M; else W's own.
step_off <- function(fit, x, first) {
  z <- as_seen(fit, x)
  m <- first_m(fit, z)
  w <- unname(fit$solution$W)
  size <- rowSums(w^2)
  from <- size
  if (first) {
    held <- eigen(m, symmetric = TRUE)
    held <- held$vectors[, held$values > 1e-12 * held$values[1L]]
    from <- ncol(w) / (ncol(z) - ncol(held)) * (1 - rowSums(held^2))
  }
  use <- size > 0
  weight <- fit$params$gamma / 2 / sqrt(from + fit$control$eps)
  low <- eigen((m + diag(weight))[use, use], symmetric = TRUE)
  at <- sum(use) + 1L - seq_len(ncol(w))
  reach <- 2 * sqrt(rowSums((m %*% w)^2)) / fit$params$gamma
  c(value = (sum(w * (m %*% w)) + sum(weight * size)) / sum(low$values[at]) - 1,
    rows = max(abs(rowSums(low$vectors[, at, drop = FALSE]^2) - size[use])), reach = max(0, reach[!use]))
}

# The dual value of rsr that the residuals of W prove.
rsr_dual <- function(fit, x) {
  z <- as_seen(fit, x)
  e <- z - z %*% fit$solution$W
  y <- e / sqrt(rowSums(e^2) + fit$control$eps[1L])
  sum(z * y) * min(1, fit$params$lambda / sqrt(max(rowSums(crossprod(z, y)^2))))
}
