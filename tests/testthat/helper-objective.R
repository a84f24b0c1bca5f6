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

# What the wishes of a fit make of the penalty of each column (?ufs_data): nothing for those that must
# be in, none at all for those that may not be, and for the others their cost over its mean.
factors_of <- function(fit) {
  wish <- fit$wishes$features
  if (!any(wish$by == "solver")) return(rep(1, fit$p))
  factor <- if (is.null(wish$cost)) rep(1, fit$p) else wish$cost
  factor <- factor / mean(factor[setdiff(seq_len(fit$p), c(wish$include, wish$exclude, fit$constant))])
  factor[wish$include] <- 0
  factor[wish$exclude] <- Inf
  factor
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
    sum((z %*% s$V - s$E)^2) + fit$params$lambda * l21(s$V, 0, factors_of(fit)) +
      fit$params$gamma * sum((s$F - s$E)^2)
  },
  jspca = function(fit, x) {
    z <- as_seen(fit, x)
    s <- fit$solution
    residual <- z - z %*% s$Q %*% t(s$P)
    if (fit$params$loss == "feature") residual <- t(residual)
    eps <- fit$control$eps * c(1, fit$params$solver == "irls")
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
      value <- value + fit$params$lambda *
        sum(abs(w %*% z) / pmax(abs(crossprod(unit)), 1e-6))
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
      a$lambda_z * (1 - a$alpha) / a$lambda_i *
        (sum((y - p)^2) + a$lambda_a * sum(s$A^2) + a$lambda_i * trace_of(p))
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
    sum((graph %*% s$F) * s$F) + a$alpha * (sum((s$F - z %*% s$W)^2) +
      a$beta * l21(s$W[live, , drop = FALSE], fit$control$eps, factors_of(fit)[live])) +
      a$gamma / 4 * sum((crossprod(s$F) - diag(a$n_clusters))^2)
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
    z <- z / sqrt(rowSums(z^2))
    similarity <- 1 + tcrossprod(z)
    sum(apply(similarity[, fit$solution$order, drop = FALSE], 1L, max))
  }
)

# Methods without an objective in their trace, or whose trace cannot be recomputed from the
# solution alone, and why.
no_objective <- c(
  blfse = "the last update is of the weights: its blocks are tested in test-method-blfse.R",
  alnr = "the coefficients, n x k, are not returned: its bounds are tested in test-method-alnr.R",
  rrss = "the coefficients, n x n, are not returned: its bounds are tested in test-method-rrss.R",
  kmeans_f = "no trace", medoids = "no trace", pca = "no trace", random = "no trace",
  variance = "no trace", inffs = "no objective", laplacian = "no trace", spec = "no trace",
  mcfs = "one problem per cluster and penalty", cur = "no trace", consensus = "no trace"
)

# ---- all that a fit claims ----------------------------------------------------------------------

# The scores that the solution stands for, by feature or by sample, where it does.
scores_of <- list(
  alfs = function(s) sqrt(colSums(s$W^2)), socfs = function(s) sqrt(rowSums(s$V^2)),
  jspca = function(s) sqrt(rowSums(s$Q^2)), spca = function(s) sqrt(rowSums(s$B^2)),
  rsr = function(s) if (!is.null(s$W)) sqrt(rowSums(s$W^2)), ndfs = function(s) rowSums(s$W^2),
  udfs = function(s) rowSums(s$W^2), sogfs = function(s) rowSums(s$W^2),
  mcfs = function(s) apply(abs(s$W), 1L, max), blfse = function(s) s$v
)
sample_scores_of <- list(alfs = function(s) sqrt(rowSums(s$W^2)), rrss = function(s) s$row_norm)

# Share of the squares of z in the span of its columns `set`, and of its k leading components.
held_by <- function(z, set) {
  q <- qr(z[, set, drop = FALSE], LAPACK = TRUE)
  d <- abs(diag(qr.R(q)))
  rank <- sum(d > 1e-7 * max(d))
  sum(crossprod(qr.Q(q)[, seq_len(rank), drop = FALSE], z)^2) / sum(z^2)
}
share_of_leading <- function(z, k) {
  d2 <- svd(z, 0L, 0L)$d^2
  sum(d2[seq_len(min(k, length(d2)))]) / sum(d2)
}

# Components of a symmetric graph, counted.
count_components <- function(w) {
  seen <- integer(nrow(w))
  while (any(seen == 0L)) {
    front <- which(seen == 0L)[1L]
    number <- max(seen) + 1L
    while (length(front)) {
      seen[front] <- number
      front <- setdiff(which(colSums(w[front, , drop = FALSE] != 0) > 0), which(seen > 0L))
    }
  }
  max(seen)
}

certificates <- list(
  css = function(fit, x) {
    z <- as_seen(fit, x)
    at <- if (is.null(fit$k)) which.min(fit$trace$ratio) else min(fit$k, nrow(fit$trace))
    if (is.null(fit$params$given) && fit$params$mu == 0)
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
    list(captured = held_by(z, fit$feature_ranking[seq_len(k)]), bound = share_of_leading(z, k))
  },
  sogfs = function(fit, x) {
    s <- as.matrix(fit$solution$S)
    list(components = count_components(s + t(s)))
  },
  ndfs = function(fit, x) {
    f <- fit$solution$F
    list(orthogonality = sqrt(sum((crossprod(f) - diag(ncol(f)))^2)))
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
  if (method %in% names(objectives) && fit$iterations > 0L &&
    !identical(fit$params$form, "convex")) {
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
  if (!identical(fit$params$select_samples, "ted"))
    of(sample_scores_of, fit$sample_scores, "sample scores")
  if (method %in% names(certificates)) {
    value <- certificates[[method]](fit, x)
    for (name in intersect(names(value), names(fit$certificate)))
      add(name, fit$certificate[[name]], value[[name]])
  }
  do.call(rbind, rows)
}
