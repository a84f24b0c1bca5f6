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

cpu <- function(code) {
  start <- proc.time()
  force(code)
  sum((proc.time() - start)[1:2])
}

peak_mb <- function() {
  file <- "/proc/self/status"
  if (!file.exists(file)) return(NA_real_)
  as.numeric(gsub("[^0-9]", "", grep("^VmHWM", readLines(file), value = TRUE))) / 1024
}

say <- function(...) cat(sprintf(...))

two_k <- function(p) if (p < 100) pmax(2L, round(c(.1, .3) * p)) else c(20L, 50L)

read_set <- function(folder, set) {
  data <- readRDS(file.path(folder, paste0(set, ".rds")))
  list(x = as.matrix(data$x), y = factor(data$y))
}

# ---- speed -------------------------------------------------------------------------------

speed <- function(sizes) {
  say("%6s %6s %9s %6s %8s %8s %10s %8s\n", "n", "p", "CPU s", "outer", "MB", "n-form", "x literal",
    "ratio")
  for (size in sizes) {
    n <- size[1L]
    p <- size[2L]
    set.seed(1)
    group <- rep_len(1:5, n)
    q <- p %/% 10
    x <- matrix(rnorm(n * p), n)
    x[, seq_len(q)] <- x[, seq_len(q)] + matrix(2 * rnorm(5 * q), 5)[group, ]
    pass <- cpu(for (i in 1:5) tcrossprod(x)) / 5
    seconds <- cpu(fit <- ufs_topk(x, 20, n_clusters = 5, alpha_e = 20))
    # The literal iteration: 4n^2 p + 2n^3 flops, at the speed of tcrossprod.
    flops <- sum(fit$trace$z_iterations) * (4 * n^2 * p + 2 * n^3)
    literal <- flops / (n^2 * p) * pass
    say("%6d %6d %9.1f %6d %8.0f %8s %10.2f %8.0f\n", n, p, seconds, fit$iterations, peak_mb(),
      n <= p, literal / seconds, seconds / pass)
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
  say("%-14s %4s %11s %11s %11s %11s %11s %11s %7s %7s %6s\n", "set", "k", "topk", "all",
    "random", "pca", "variance", "kmeans_f", "gap %", "CPU s", "outer")
  for (set in sets) {
    d <- read_set(folder, set)
    c <- nlevels(d$y)
    show <- function(m) sprintf("%.3f/%.3f", m[1L], m[2L])
    everything <- kmeans_score(d$x, d$y, seq_len(ncol(d$x)))
    for (k in two_k(ncol(d$x))) {
      seconds <- cpu(fit <- suppressWarnings(ufs_topk(d$x, k, n_clusters = c)))
      rival <- function(fit) kmeans_score(d$x, d$y, selected_features(fit, k, as = "index"))
      set.seed(1)
      random <- rowMeans(replicate(10, kmeans_score(d$x, d$y, sample(ncol(d$x), k), 1L)))
      pca <- suppressWarnings(ufs_pca(d$x, n_components = min(c, ncol(d$x) - 1L)))
      set.seed(1)
      labels <- suppressWarnings(ufs_kmeans_f(d$x, c))
      say("%-14s %4d %11s %11s %11s %11s %11s %11s %7.2f %7.1f %6d\n", set, k,
        show(rival_of_topk <- kmeans_score(d$x, d$y, fit$solution$selected)), show(everything),
        show(random), show(rival(pca)), show(rival(suppressWarnings(ufs_variance(d$x)))),
        show(rival(labels)), 100 * fit$certificate[["gap"]], seconds, fit$iterations)
      own <- ufs_cluster_metrics(fit$solution$cluster, d$y)
      say("    its own clusters %.3f/%.3f, %d of %d samples isolated, status %s\n", own[1L],
        own[2L], fit$graph[["isolated"]], nrow(d$x), fit$status)
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
  say("%-14s %7s %6s %4s %7s %7s %7s %10s %8s %7s\n", "set", "alpha_e", "labels", "k", "topk",
    "cmn", "1-NN", "unreached", "kmeans", "CPU s")
  for (set in sets) {
    d <- read_set(folder, set)
    for (value in c(3, 10)) for (each in c(3L, 10L)) {
      k <- two_k(ncol(d$x))[1L]
      out <- vapply(seq_len(seeds), function(seed) {
        set.seed(seed)
        y <- d$y
        rows <- unlist(lapply(split(seq_along(y), y), function(rows) {
          rows[sample.int(length(rows), min(each, length(rows) - 1L))]
        }))
        y[-rows] <- NA
        rest <- is.na(y)
        seconds <- cpu(fit <- suppressWarnings(ufs_topk(d$x, k, y = y, alpha_e = value)))
        mass <- ufs_propagate(fit$solution$W, y, cmn = TRUE)
        hit <- function(label) mean(label[rest] == d$y[rest])
        c(hit(fit$solution$label), hit(mass$label), hit(one_nn(d$x, y)),
          sum(!fit$solution$reached), kmeans_score(d$x, d$y, fit$solution$selected)[[1L]], seconds)
      }, numeric(6L))
      out <- rowMeans(out)
      say("%-14s %7g %6d %4d %7.3f %7.3f %7.3f %10.1f %8.3f %7.1f\n", set, value, each, k, out[1L], out[2L],
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
