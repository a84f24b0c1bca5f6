# Top-k selection: speed, clustering and propagated labels on real data.
#
#   Rscript topk.R speed [n p ...]               synthetic sizes (no data needed)
#   Rscript topk.R clustering <data folder> [sets]
#   Rscript topk.R semi <data folder> [sets]     (DRAWS=5 in the environment)
#   Rscript topk.R alpha <data folder> [sets]    alpha_e, links and isolated samples
#
# The folder (or the environment variable UFSELECT_DATA) holds <set>.rds files with
# list(x = n x p matrix, y = classes). Times are CPU seconds (user + system).

library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

# ---- speed -------------------------------------------------------------------------------

# The literal iterations in R: products with E, inverses per iteration, p x p matrices. Timed
# for a few iterations of each ADMM and multiplied by the numbers of iterations of the fit.
literal_seconds <- function(x, fit) {
  x <- scale(x)
  X <- t(x / sqrt(rowSums(x^2)))
  n <- ncol(X)
  p <- nrow(X)
  if (p > 1000) return(NA_real_)
  E <- Y1 <- 0 * X
  Z <- Q <- Y2 <- matrix(0, n, n)
  soft <- function(a, t) sign(a) * pmax(abs(a) - t, 0)
  first <- cpu(for (i in 1:3) {
    Z <- soft(Q + Y2, 1.05)
    diag(Z) <- 0
    Q <- solve(crossprod(X) + diag(n), crossprod(X, X - E + Y1) + Z - Y2)
    XQ <- X %*% Q
    E <- soft(X - XQ + Y1, .1)
    Y1 <- Y1 + X - XQ - E
    Y2 <- Y2 + Q - Z
  }) / 3
  v <- rep(.5, p)
  K <- tcrossprod(X)
  B <- X[, 1:5]
  second <- cpu({
    A <- solve(outer(v, v) * K + .01 * diag(p), v * B)
    solve(2 * tcrossprod(A) * K + 1 + 2 * diag(p), rowSums(B * A))
  })
  sum(fit$trace$z_iterations) * first + sum(fit$trace$v_iterations) * second
}

speed <- function(sizes) {
  say("%6s %6s %9s %6s %8s %10s %10s %12s\n", "n", "p", "CPU s", "outer", "peak MB",
    "literal s", "literal/c", "tcrossprods")
  for (size in sizes) {
    n <- size[1L]
    p <- size[2L]
    set.seed(1)
    group <- rep_len(1:5, n)
    q <- p %/% 10
    x <- matrix(rnorm(n * p), n)
    x[, seq_len(q)] <- x[, seq_len(q)] + matrix(2 * rnorm(5 * q), 5)[group, ]
    pass <- cpu(for (i in 1:10) tcrossprod(x)) / 10
    seconds <- cpu(fit <- ufs_topk(x, 20, n_clusters = 5, alpha_e = 20))
    peak <- peak_mb()
    literal <- literal_seconds(x, fit)
    say("%6d %6d %9.1f %6d %8.0f %10.0f %10.1f %12.0f\n", n, p, seconds, fit$iterations, peak,
      literal, literal / seconds, seconds / pass)
  }
}

# ---- clustering ---------------------------------------------------------------------------

kmeans_score <- function(x, y, columns, seeds = 10L) {
  z <- scale(x[, columns, drop = FALSE])
  z[, !is.finite(colSums(z))] <- 0
  rowMeans(vapply(seq_len(seeds), function(seed) {
    set.seed(seed)
    ufs_cluster_metrics(kmeans(z, nlevels(y), nstart = 1L, iter.max = 100L)$cluster, y)[1:2]
  }, c(accuracy = 0, nmi = 0)))
}

clustering <- function(folder, sets) {
  say("k-means (10 seeds) on the chosen features: accuracy / NMI, all z-scored\n")
  say("%-14s %4s %11s %11s %11s %11s %11s %11s %11s %7s %7s %6s\n", "set", "k", "topk",
    "topk Z>=0", "all", "random", "pca", "variance", "kmeans_f", "gap %", "CPU s", "outer")
  for (set in sets) {
    d <- read_set(folder, set)
    c <- nlevels(d$y)
    show <- function(m) sprintf("%.3f/%.3f", m[1L], m[2L])
    everything <- kmeans_score(d$x, d$y, seq_len(ncol(d$x)))
    for (k in two_k(ncol(d$x))) {
      seconds <- cpu(fit <- suppressWarnings(ufs_topk(d$x, k, n_clusters = c)))
      signed <- suppressWarnings(ufs_topk(d$x, k, n_clusters = c, nonnegative = TRUE))
      rival <- function(fit) kmeans_score(d$x, d$y, selected_features(fit, k, as = "index"))
      set.seed(1)
      random <- rowMeans(replicate(10, kmeans_score(d$x, d$y, sample(ncol(d$x), k), 1L)))
      pca <- suppressWarnings(ufs_pca(d$x, n_components = min(c, ncol(d$x) - 1L)))
      set.seed(1)
      labels <- suppressWarnings(ufs_kmeans_f(d$x, c))
      say("%-14s %4d %11s %11s %11s %11s %11s %11s %11s %7.2f %7.1f %6d\n", set, k,
        show(kmeans_score(d$x, d$y, fit$solution$selected)),
        show(kmeans_score(d$x, d$y, signed$solution$selected)), show(everything),
        show(random), show(rival(pca)), show(rival(suppressWarnings(ufs_variance(d$x)))),
        show(rival(labels)), 100 * fit$certificate[["gap"]], seconds, fit$iterations)
      for (f in list(fit, signed)) {
        own <- ufs_cluster_metrics(f$solution$cluster, d$y)
        say("    %s own clusters %.3f/%.3f, %d of %d samples isolated, gap %.1f %%, status %s\n",
          if (f$params$nonnegative) "Z >= 0:" else "paper: ", own[1L], own[2L],
          f$graph[["isolated"]], nrow(d$x), 100 * f$certificate[["gap"]], f$status)
      }
    }
  }
}

# ---- few labels ----------------------------------------------------------------------------

# The nearest labelled sample, on the same normalised data.
one_nn <- function(x, y) {
  z <- scale(x)
  z[, !is.finite(colSums(z))] <- 0
  z <- z / sqrt(rowSums(z^2))
  known <- which(!is.na(y))
  y[known[max.col(tcrossprod(z, z[known, ]), "first")]]
}

semi <- function(folder, sets, seeds = as.integer(Sys.getenv("DRAWS", "5"))) {
  say("accuracy of the labels of the unlabelled samples, mean of %d draws\n", seeds)
  say("%-14s %7s %6s %4s %7s %7s %7s %10s %8s %7s\n", "set", "Z", "labels", "k", "topk",
    "cmn", "1-NN", "unreached", "kmeans", "CPU s")
  for (set in sets) {
    d <- read_set(folder, set)
    for (signed in c(FALSE, TRUE)) for (each in c(3L, 10L)) {
      k <- two_k(ncol(d$x))[1L]
      out <- vapply(seq_len(seeds), function(seed) {
        set.seed(seed)
        y <- d$y
        rows <- unlist(lapply(split(seq_along(y), y), function(rows) {
          rows[sample.int(length(rows), min(each, length(rows) - 1L))]
        }))
        y[-rows] <- NA
        rest <- is.na(y)
        seconds <- cpu(fit <- suppressWarnings(ufs_topk(d$x, k, y = y,
          nonnegative = signed)))
        mass <- ufs_propagate(fit$solution$W, y, cmn = TRUE)
        hit <- function(label) mean(label[rest] == d$y[rest])
        c(hit(fit$solution$label), hit(mass$label), hit(one_nn(d$x, y)),
          sum(!fit$solution$reached), kmeans_score(d$x, d$y, fit$solution$selected)[[1L]], seconds)
      }, numeric(6L))
      out <- rowMeans(out)
      say("%-14s %7s %6d %4d %7.3f %7.3f %7.3f %10.1f %8.3f %7.1f\n", set,
        if (signed) ">= 0" else "paper", each, k, out[1L], out[2L],
        out[3L], out[4L], out[5L], out[6L])
    }
  }
}

# ---- alpha_e -------------------------------------------------------------------------------

alpha <- function(folder, sets) {
  say("%-14s %8s %9s %9s %17s %17s\n", "set", "alpha_e", "links", "isolated", "own clusters",
    "k-means on k")
  for (set in sets) {
    d <- read_set(folder, set)
    for (value in c(2, 3, 5, 10, 20)) {
      k <- two_k(ncol(d$x))[1L]
      fit <- tryCatch(suppressWarnings(ufs_topk(d$x, k, n_clusters = nlevels(d$y),
        alpha_e = value, bound = FALSE)), ufs_error_isolated = function(e) NULL)
      if (is.null(fit)) {
        say("%-14s %8g  too few samples have a link\n", set, value)
        next
      }
      own <- ufs_cluster_metrics(fit$solution$cluster, d$y)
      km <- kmeans_score(d$x, d$y, fit$solution$selected)
      say("%-14s %8g %8.1f%% %9d %8.3f/%.3f %8.3f/%.3f\n", set, value,
        100 * mean(fit$solution$W > 0), fit$graph[["isolated"]], own[1L], own[2L], km[1L], km[2L])
    }
  }
}

arguments <- commandArgs(TRUE)
what <- if (length(arguments)) arguments[1L] else "speed"
if (what == "speed") {
  sizes <- as.integer(arguments[-1L])
  speed(if (length(sizes)) split(sizes, rep(seq_len(length(sizes) / 2), each = 2)) else
    list(c(100, 1000), c(100, 10000), c(500, 1000), c(500, 100)))
} else {
  folder <- if (length(arguments) > 1L) arguments[2L] else Sys.getenv("UFSELECT_DATA")
  sets <- arguments[-(1:2)]
  if (!length(sets)) sets <- c("lung_discrete", "wine", "libras", "warpPIE10P", "tox171")
  switch(what, clustering = clustering(folder, sets), semi = semi(folder, sets),
    alpha = alpha(folder, sets), stop("unknown part: ", what))
}
