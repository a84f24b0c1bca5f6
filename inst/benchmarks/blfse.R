# BLFSE: speed, and what its rankings are worth beside the plain mean of its base scores.
#
#   Rscript blfse.R speed                  synthetic sizes (no data needed)
#   Rscript blfse.R qp                     the quadratic program alone, p = 10,000, four designs
#   Rscript blfse.R clustering <data folder> [sets]
#   Rscript blfse.R diverse <data folder> [sets]    base = several different selectors
#
# The folder (or the environment variable UFSELECT_DATA) holds <set>.rds files with
# list(x = n x p matrix, y = classes). Times are CPU seconds (user + system).

library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

silent <- function(code) suppressMessages(suppressWarnings(code))

# ---- speed -------------------------------------------------------------------------------

synthetic <- function(n, p, c = 5L) {
  label <- sample(rep_len(seq_len(c), n))
  x <- matrix(rnorm(n * p), n)
  k <- max(3L, p %/% 20L)
  x[, seq_len(k)] <- x[, seq_len(k)] + matrix(rnorm(c * k), c)[label, ]
  x
}

speed_one <- function(n, p) {
  set.seed(1)
  x <- synthetic(n, p)
  h <- min(50, p %/% 2)
  gram <- cpu(if (n < p) tcrossprod(x) else crossprod(x))
  before <- peak_mb()
  whole <- cpu(fit <- silent(ufs_blfse(x, 5, h)))
  say("%6d x %6d  %-9s end to end %6.1f s = %5.0f Gram, %4.0f MB more, %2d iterations, kkt %.0e\n",
    n, p, "paper", whole, whole / max(gram, 1e-3), peak_mb() - before, fit$iterations,
    fit$certificate[["kkt"]])
  for (projection in c("paper", "isotropic")) {
    alone <- cpu(fit <- silent(ufs_blfse(x, 5, h, scores = fit$solution$scores,
      labels = fit$solution$labels, projection = projection)))
    say("%6d x %6d  %-9s solver %10.1f s, %2d iterations, kkt %.0e\n", n, p, projection,
      alone, fit$iterations, fit$certificate[["kkt"]])
  }
}

speed <- function(sizes) {
  if (length(sizes)) return(speed_one(as.integer(sizes[1]), as.integer(sizes[2])))
  # Each size in a process of its own, so that the peak memory is its own.
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (size in list(c(200, 5000), c(2000, 200), c(100, 10000), c(500, 500), c(1000, 1000))) {
    system2(file.path(R.home("bin"), "Rscript"), c(script, "speed", size))
  }
}

# The program of v at n = 100, p = 10,000: H = 2 (F'F) o w0 (I - QQ') + I / m, Q an orthonormal basis of
# the weighted rows of F. Curvature: the first term against the second; zeros: a linear term so large that about
# half of the features are left out (that of BLFSE's own programs leaves out none).
qp <- function(p = 10000L, n = 100L, m = 10L) {
  set.seed(1)
  for (curvature in c("weak", "strong")) for (zeros in c(FALSE, TRUE)) {
    f <- matrix(rnorm((n - 1L) * p), n - 1L)
    scores <- matrix(rgamma(m * p, 3), m)
    v <- colMeans(scores / rowSums(scores))
    w0 <- 5 / (p - n + 1)
    ratio <- if (curvature == "weak") 1 else 1e4
    f <- f * sqrt(ratio / m / (2 * w0 * mean(colSums(f^2))))
    b <- if (zeros) 1.5 * (1 + ratio) * rgamma(p, 0.5) / (0.5 * p) else v
    rt <- sqrt(w0) * t(qr.Q(qr(t(f) * (v + 1e-3 * max(v)))))
    parts <- list(f = f, rt = rt, w0 = w0, sign = -1, scale = 2, shift = 1 / m,
      upper = 2 * w0 * colSums(f^2) + 1 / m)
    used <- cpu(out <- .Call(ufselect:::C_test_qp, "hadamard", parts, b / m, rep(1 / p, p), 1e-11))
    say("%-6s curvature, %2.0f %% of v zero: %5.2f s, %3d products, relative residual %.0e\n", curvature,
      100 * mean(out$v == 0), used, out$products, out$rel)
  }
}

# ---- clustering --------------------------------------------------------------------------

# Mean accuracy and NMI of k-means on standardised columns, over seeds.
judge <- function(x, y, chosen, seeds = 10L) {
  z <- scale(x[, chosen, drop = FALSE])
  z <- z[, colSums(!is.finite(z)) == 0, drop = FALSE]
  classes <- length(unique(y))
  if (nrow(unique(z)) < classes) return(c(NA, NA))
  rowMeans(vapply(seq_len(seeds), function(seed) {
    set.seed(1000 + seed)
    run <- silent(kmeans(z, classes, iter.max = 50, nstart = 3))
    m <- ufs_cluster_metrics(run$cluster, y)
    c(m[["accuracy"]], m[["nmi"]])
  }, numeric(2)))
}

sizes_of <- function(p) {
  if (p < 100) unique(pmax(2L, round(p * c(.2, .4)))) else c(20L, 50L)
}

load_set <- function(folder, set) {
  data <- readRDS(file.path(folder, paste0(set, ".rds")))
  x <- as.matrix(data$x)
  storage.mode(x) <- "double"
  list(x = x[, apply(x, 2, sd) > 0], y = as.integer(factor(data$y)))
}

average <- function(rows) colMeans(do.call(rbind, rows), na.rm = TRUE)

# All rankings of one set, one k and one draw of base results.
contest <- function(x, y, k, draw, ...) {
  classes <- length(unique(y))
  set.seed(draw)
  quiet <- ufs_control(warn = FALSE)
  paper <- silent(ufs_blfse(x, classes, k, control = quiet, ...))
  set.seed(draw)
  isotropic <- silent(ufs_blfse(x, classes, k, scores = paper$solution$scores,
    projection = "isotropic", control = quiet))
  base <- lapply(seq_len(nrow(paper$solution$scores)), function(i) {
    judge(x, y, order(-paper$solution$scores[i, ])[seq_len(k)], 3L)
  })
  base <- do.call(rbind, base)
  set.seed(draw)
  top <- function(fit) judge(x, y, silent(selected_features(fit, k, as = "index")))
  out <- rbind(
    paper = top(paper), isotropic = top(isotropic),
    mean_score = top(ufs_aggregate(paper)), mean_rank = top(ufs_aggregate(paper, "rank")),
    average_base = colMeans(base, na.rm = TRUE), best_base = apply(base, 2, max, na.rm = TRUE),
    random = average(lapply(1:5, function(i) judge(x, y, sample(ncol(x), k), 3L))),
    pca = top(ufs_pca(x, min(classes, dim(x) - 1L))), variance = top(ufs_variance(x)),
    kmeans_f = top(silent(ufs_kmeans_f(x, classes))),
    all = judge(x, y, seq_len(ncol(x)))
  )
  attr(out, "note") <- sprintf("alpha %.2f beta %.2f, top-%d overlap with mean_score %.2f",
    max(paper$solution$alpha), max(paper$solution$beta), k,
    length(intersect(selected_features(paper, k, "index"),
      selected_features(ufs_aggregate(paper), k, "index"))) / k)
  out
}

clustering <- function(folder, sets, draws = 2L, ...) {
  if (!length(sets)) {
    sets <- c("wine", "dermatology", "ionosphere", "libras", "sonar", "lung_discrete",
      "tissue", "warpPIE10P", "tox171")
  }
  total <- list()
  for (set in sets) {
    data <- load_set(folder, set)
    for (k in sizes_of(ncol(data$x))) {
      runs <- lapply(seq_len(draws), function(draw) contest(data$x, data$y, k, draw, ...))
      table <- Reduce(`+`, runs) / length(runs)
      attr(table, "note") <- NULL
      say("%s (%d x %d), k = %d: %s\n", set, nrow(data$x), ncol(data$x), k,
        attr(runs[[1]], "note"))
      print(round(t(`colnames<-`(table, c("ACC", "NMI"))), 3))
      total[[paste(set, k)]] <- table[, 1]
    }
  }
  acc <- do.call(rbind, total)
  cat("\nmean ACC; cells won, tied (within .01), lost against the plain mean of scores\n")
  gain <- acc - acc[, "mean_score"]
  print(rbind(ACC = round(colMeans(acc), 3), won = colSums(gain > .01),
    tied = colSums(abs(gain) <= .01), lost = colSums(gain < -.01)))
}

args <- commandArgs(TRUE)
folder <- if (length(args) > 1L) args[2] else Sys.getenv("UFSELECT_DATA")
sets <- args[-(1:2)]
switch(if (length(args)) args[1] else "speed",
  speed = speed(args[-1]),
  qp = qp(),
  clustering = clustering(folder, sets),
  diverse = clustering(folder, sets,
    base = c("variance", "kmeans_f", "inffs", "laplacian", "socfs", "pca", "mcfs", "spec"))
)
