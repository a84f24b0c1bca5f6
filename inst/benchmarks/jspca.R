# ufs_jspca(): speed and memory, exact against irls, and k-means on the chosen features.
#
#   Rscript inst/benchmarks/jspca.R [speed] [solvers] [clusters] [data=<folder>]
#
# All three by default. The last two need a folder of <name>.rds files, each
# list(x =, y =): data= or the environment variable UFSELECT_DATA. CPU seconds (user +
# system), so that other work on the machine does not count.
library(ufselect)

arguments <- commandArgs(trailingOnly = TRUE)
folder <- sub("^data=", "", grep("^data=", arguments, value = TRUE))
if (!length(folder)) folder <- Sys.getenv("UFSELECT_DATA")
parts <- intersect(arguments, c("speed", "solvers", "clusters"))
if (!length(parts)) parts <- c("speed", if (nzchar(folder)) c("solvers", "clusters"))

cpu <- function(code) {
  used <- system.time(code, gcFirst = FALSE)
  unname(used[["user.self"]] + used[["sys.self"]])
}

# Largest memory of R (all of the package's is) while `code` runs, beyond what was in
# use before, in MB.
peak_mb <- function(code) {
  before <- sum(gc(reset = TRUE)[, 2L])
  force(code)
  sum(gc()[, 6L]) - before
}

# 5 Gaussian clusters, weakly separated in min(100, p / 20) columns, noise elsewhere.
clusters_in_noise <- function(n, p, seed = 1) {
  set.seed(seed)
  informative <- min(100, p / 20)
  x <- matrix(rnorm(n * p), n)
  centre <- matrix(rnorm(5 * informative), 5)
  x[, seq_len(informative)] <- x[, seq_len(informative)] + centre[sample(5, n, TRUE), ]
  x
}

# One iteration of the paper's letters: full inverse, dense diagonals, p x p.
literal_iteration <- function(x, k) {
  X <- t(scale(x))
  p <- nrow(X)
  Pbar <- svd(X, nu = k, nv = 0)$u
  XX <- X %*% t(X)
  Q <- solve(diag(p) + XX) %*% XX %*% diag(p) %*% Pbar
  A <- svd(diag(p) %*% XX %*% Q)
  P <- diag(p) %*% A$u %*% t(A$v)
  sum(sqrt(rowSums((X - P %*% t(Q) %*% X)^2)))
}

speed <- function() {
  sizes <- list(c(200, 500), c(500, 2000), c(100, 10000), c(5000, 500), c(100, 1e5))
  rows <- lapply(sizes, function(size) {
    x <- clusters_in_noise(size[1], size[2])
    gram <- cpu(if (nrow(x) < ncol(x)) tcrossprod(x) else crossprod(x))
    literal <- if (ncol(x) <= 500) cpu(literal_iteration(x, 5)) else NA
    do.call(rbind, lapply(c("feature", "sample"), function(loss) {
      fit <- NULL
      memory <- peak_mb(seconds <- cpu(
        fit <- ufs_jspca(x, 5, loss = loss, control = ufs_control(warn = FALSE))))
      data.frame(n = nrow(x), p = ncol(x), loss = loss, status = fit$status,
        iterations = fit$iterations, live = utils::tail(fit$trace$live, 1),
        cpu = round(seconds, 2), peak_mb = round(memory), x_mb = round(8 * length(x) / 2^20),
        per_gram = round(seconds / gram, 1),
        literal_1_iteration = round(literal, 2))
    }))
  })
  cat("Speed: default call, k = 5. per_gram: CPU as a multiple of one pass x x' (or x'x if n > p).",
    "literal_1_iteration: CPU of ONE iteration by the paper's letters.", sep = "\n")
  print(do.call(rbind, rows), row.names = FALSE)
}

read_set <- function(name) {
  set <- readRDS(file.path(folder, paste0(name, ".rds")))
  set$k <- length(unique(set$y))
  set
}

# sum of residual norms + lambda sum of row norms: no smoothing.
true_objective <- function(fit) {
  sum(fit$solution$residual) + fit$params$lambda * sum(fit$feature_scores, na.rm = TRUE)
}

solvers <- function() {
  rows <- list()
  for (name in c("lung_discrete", "tissue", "tox171", "warpPIE10P")) {
    set <- read_set(name)
    for (loss in c("feature", "sample")) {
      fits <- seconds <- list()
      for (solver in c("exact", "irls")) {
        seconds[[solver]] <- cpu(fits[[solver]] <- ufs_jspca(set$x, set$k, loss = loss,
          solver = solver, control = ufs_control(warn = FALSE)))
      }
      top <- lapply(fits, function(fit) feature_ranking(fit)[1:20])
      for (solver in names(fits)) {
        fit <- fits[[solver]]
        rows[[length(rows) + 1L]] <- data.frame(set = name, n = fit$n, p = fit$p, k = set$k,
          loss = loss, solver = solver, status = fit$status, iterations = fit$iterations,
          cpu = round(seconds[[solver]], 2), change = signif(fit$certificate[["change"]], 2),
          objective = signif(true_objective(fit), 8), live = utils::tail(fit$trace$live, 1),
          top20 = mean(top$exact %in% top$irls))
      }
    }
  }
  cat("\nExact against irls, defaults (tol 1e-4, max_iter 500, lambda_rel 0.1). objective: not",
    "smoothed; top20: overlap of the two solvers' best 20.", sep = "\n")
  print(do.call(rbind, rows), row.names = FALSE)
}

accuracy <- function(truth, cluster) {
  table <- table(factor(truth), factor(cluster, seq_len(length(unique(truth)))))
  sum(table[cbind(seq_len(nrow(table)), clue::solve_LSAP(table, maximum = TRUE))]) / length(truth)
}

nmi <- function(truth, cluster) {
  joint <- table(truth, cluster) / length(truth)
  entropy <- function(q) -sum(q[q > 0] * log(q[q > 0]))
  a <- entropy(rowSums(joint))
  b <- entropy(colSums(joint))
  (a + b - entropy(joint)) / sqrt(a * b)
}

clusters <- function() {
  rows <- list()
  for (name in c("lung_discrete", "tissue", "tox171", "warpPIE10P", "libras", "orl")) {
    set <- read_set(name)
    x <- set$x[, apply(set$x, 2L, stats::sd) > 0]
    z <- scale(x)
    p <- ncol(z)
    quiet <- ufs_control(warn = FALSE)
    set.seed(1)
    rankings <- list(
      feature = feature_ranking(ufs_jspca(z, set$k, control = quiet)),
      sample = feature_ranking(ufs_jspca(z, set$k, loss = "sample", control = quiet)),
      sample_.3 = feature_ranking(ufs_jspca(z, set$k, loss = "sample", lambda_rel = 0.3,
        control = quiet)),
      pca = feature_ranking(ufs_pca(z, set$k)),
      # Of the raw columns: standardised ones all have variance 1.
      variance = feature_ranking(ufs_variance(x)),
      kmeans_f = feature_ranking(ufs_kmeans_f(z, set$k)))
    score <- function(columns) {
      runs <- vapply(1:10, function(seed) {
        set.seed(seed)
        if (is.function(columns)) columns <- columns()
        cluster <- suppressWarnings(stats::kmeans(z[, columns, drop = FALSE], set$k,
          iter.max = 100, nstart = 10))$cluster
        c(accuracy(set$y, cluster), nmi(set$y, cluster))
      }, numeric(2))
      rowMeans(runs)
    }
    all <- score(seq_len(p))
    for (k in if (p > 200) c(20, 100) else c(10, 30)) {
      result <- c(list(all = all, random = score(function() sample(p, k))),
        lapply(rankings, function(ranking) score(ranking[seq_len(k)])))
      for (measure in 1:2) {
        rows[[length(rows) + 1L]] <- data.frame(set = name, k = k,
          measure = c("ACC", "NMI")[measure],
          as.list(round(vapply(result, `[`, 0, measure), 3)))
      }
    }
  }
  cat("\nk-means on the best k features (z-scored, 10 seeds x 10 starts, true number of clusters).",
    "feature, sample: ufs_jspca() by loss; sample_.3: with lambda_rel = 0.3.", sep = "\n")
  table <- do.call(rbind, rows)
  print(table, row.names = FALSE)
  cat("mean\n")
  print(stats::aggregate(. ~ measure, table[setdiff(names(table), c("set", "k"))],
    function(v) round(mean(v), 3)), row.names = FALSE)
}

options(width = 160)
cat(R.version.string, "| BLAS:", basename(extSoftVersion()[["BLAS"]]), "\n")
for (part in parts) get(part)()
