# SOCFS: speed, exact against irls, and clustering on real data.
#
#   Rscript socfs.R speed                 synthetic sizes (no data needed)
#   Rscript socfs.R solvers <data folder> [sets]
#   Rscript socfs.R clustering <data folder> [sets]
#
# The folder (or the environment variable UFSELECT_DATA) holds <set>.rds files with
# list(x = n x p matrix, y = classes). Times are CPU seconds (user + system).

library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

# ---- speed -------------------------------------------------------------------------------

# c weakly separated clusters in min(100, p / 20) columns.
synthetic <- function(n, p, c = 5L) {
  set.seed(1)
  informative <- min(100, p / 20)
  label <- sample(rep_len(seq_len(c), n))
  x <- matrix(rnorm(n * p), n)
  x[, seq_len(informative)] <- x[, seq_len(informative)] +
    matrix(rnorm(c * informative), c)[label, ]
  x
}

# One literal iteration of the paper: full p x p inverse. Seconds.
literal_step <- function(x, c) {
  x <- scale(x)
  e <- qr.Q(qr(matrix(runif(nrow(x) * c), nrow(x))))
  cpu(solve(crossprod(x) + diag(ncol(x))) %*% crossprod(x, e))
}

# Each size in a process of its own, so that the peak memory is its own.
speed_one <- function(n, p) {
  x <- synthetic(n, p)
  gram <- cpu(if (n < p) tcrossprod(x) else crossprod(x))
  before <- peak_mb()
  for (rel in c(0.3, 0.1)) {
    set.seed(1)
    time <- cpu(fit <- ufs_socfs(x, 5, lambda_rel = rel, control = ufs_control(warn = FALSE)))
    irls <- if (p <= 10000) {
      cpu(ufs_socfs(x, 5, lambda_rel = rel, solver = "irls", init = fit$solution$cluster,
        control = ufs_control(max_iter = 10, tol = -1, warn = FALSE))) / 10
    } else NA
    literal <- if (p <= 1000) literal_step(x, 5) else NA
    say("%5d x %6d  %.1f  %8.3f  %-9s %4d  %4d  %8.1e  %5.0f  %6.1f  %9.4f  %9.3f\n", n, p, rel,
      time, fit$status, fit$iterations, fit$certificate[["live_rows"]],
      fit$certificate[["gap"]], peak_mb() - before, time / gram, irls, literal)
  }
}

speed <- function() {
  say("%5s x %6s  %3s  %8s  %-9s %4s  %4s  %8s  %5s  %6s  %9s  %9s\n", "n", "p", "rel", "CPU s",
    "status", "iter", "live", "gap", "MB", "/gram", "irls/iter", "literal/it")
  rscript <- file.path(R.home("bin"), "Rscript")
  for (size in list(c(200, 500), c(500, 2000), c(5000, 500), c(100, 10000), c(100, 100000))) {
    system2(rscript, c(shQuote(script), "speed-one", format(size, scientific = FALSE, trim = TRUE)))
  }
  say("CPU s: the default call with its 20 k-means starts. MB: peak beyond x and the session.\n")
  say("/gram: ratio to one tcrossprod(x) (n < p) or crossprod(x). irls/iter, literal/it: seconds\n")
  say("of one plain iteration and of one V-step with the full p x p inverse.\n")
}

# ---- exact against irls -------------------------------------------------------------------

true_objective <- function(fit, x) {
  x <- scale(x)
  x[is.na(x)] <- 0
  v <- fit$solution$V
  sum((x %*% v - fit$solution$E)^2) + fit$params$lambda * sum(sqrt(rowSums(v^2))) +
    fit$params$gamma * sum(pmin(fit$solution$E, 0)^2)
}

solvers <- function(folder, sets) {
  say("%-14s %3s  %-12s %5s %8s  %-9s %5s  %12s  %s\n", "set", "rel", "solver", "iter", "CPU s",
    "status", "live", "true J", "top-20 shared with irls, exact from its end")
  for (set in sets) {
    data <- readRDS(file.path(folder, paste0(set, ".rds")))
    c <- length(unique(data$y))
    for (rel in c(0.3, 0.1)) {
      set.seed(1)
      start <- ufs_socfs(data$x, c, control = ufs_control(max_iter = 0, warn = FALSE))
      run <- function(...) {
        time <- cpu(fit <- suppressWarnings(
          ufs_socfs(data$x, c, lambda_rel = rel, ...), classes = "ufs_warning"))
        list(fit = fit, time = time)
      }
      # One and the same start for all.
      e0 <- start$solution$E
      runs <- list(
        exact = run(init = e0),
        `irls, 500` = run(init = e0, solver = "irls", polish = FALSE),
        `irls + polish` = run(init = e0, solver = "irls"),
        `irls, 3000` = if (nrow(data$x) * ncol(data$x) < 2e5) {
          run(init = e0, solver = "irls", polish = FALSE,
            control = ufs_control(max_iter = 3000, tol = 1e-10))
        })
      runs <- Filter(Negate(is.null), runs)
      long <- runs[[length(runs)]]$fit
      runs$`exact on irls` <- run(init = long$solution$E)
      top <- function(fit) feature_ranking(fit)[1:20]
      for (name in names(runs)) {
        fit <- runs[[name]]$fit
        say("%-14s %.1f  %-13s %4d %8.3f  %-9s %5d  %12.6f  %.2f\n", set, rel, name,
          fit$iterations, runs[[name]]$time, fit$status, fit$certificate[["live_rows"]],
          true_objective(fit, data$x), mean(top(fit) %in% top(long)))
      }
    }
  }
}

# ---- clustering -----------------------------------------------------------------------------

accuracy <- function(label, truth) {
  table <- table(label, truth)
  size <- max(dim(table))
  square <- matrix(0, size, size)
  square[seq_len(nrow(table)), seq_len(ncol(table))] <- table
  match <- clue::solve_LSAP(square, maximum = TRUE)
  sum(square[cbind(seq_len(size), match)]) / length(truth)
}

nmi <- function(label, truth) {
  joint <- table(label, truth) / length(truth)
  entropy <- function(p) -sum(p[p > 0] * log(p[p > 0]))
  a <- rowSums(joint)
  b <- colSums(joint)
  mutual <- entropy(a) + entropy(b) - entropy(joint)
  mutual / sqrt(entropy(a) * entropy(b))
}

# Mean ACC and NMI of k-means (10 restarts) over the seeds, columns z-scored.
cluster_quality <- function(x, truth, seeds = 1:10) {
  x <- scale(x)
  x <- x[, colSums(is.na(x)) == 0, drop = FALSE]
  c <- length(unique(truth))
  distinct <- nrow(unique(x))
  if (distinct < c) return(c(ACC = NA, NMI = NA))
  rowMeans(vapply(seeds, function(seed) {
    set.seed(seed)
    label <- suppressWarnings(stats::kmeans(x, c, nstart = 10, iter.max = 50))$cluster
    c(ACC = accuracy(label, truth), NMI = nmi(label, truth))
  }, c(ACC = 0, NMI = 0)))
}

clustering <- function(folder, sets) {
  if (!requireNamespace("clue", quietly = TRUE)) stop("package 'clue' is needed")
  say("%-14s %4s  %-10s %6s %6s\n", "set", "k", "method", "ACC", "NMI")
  quiet <- ufs_control(warn = FALSE)
  for (set in sets) {
    data <- readRDS(file.path(folder, paste0(set, ".rds")))
    c <- length(unique(data$y))
    p <- ncol(data$x)
    ks <- if (p >= 300) c(20, 50) else unique(pmax(2, round(c(0.2, 0.5) * p)))
    show <- function(k, method, q) say("%-14s %4d  %-10s %6.3f %6.3f\n", set, k, method, q[1], q[2])
    show(p, "all", cluster_quality(data$x, data$y))
    # Five seeds of every method that draws starts: rankings, then their mean quality.
    seeded <- function(fit) lapply(1:5, function(seed) {
      set.seed(seed)
      unname(feature_ranking(suppressWarnings(fit())))
    })
    rankings <- list(
      socfs = seeded(function() ufs_socfs(data$x, c, control = quiet)),
      socfs.1 = seeded(function() ufs_socfs(data$x, c, lambda_rel = 0.1, control = quiet)),
      kmeans_f = seeded(function() ufs_kmeans_f(data$x, c)),
      pca = list(unname(feature_ranking(suppressWarnings(ufs_pca(data$x, c))))),
      variance = list(unname(feature_ranking(suppressWarnings(ufs_variance(data$x))))),
      random = seeded(function() ufs_random(data$x)))
    for (k in ks) for (method in names(rankings)) {
      show(k, method, rowMeans(vapply(rankings[[method]], function(ranking) {
        cluster_quality(data$x[, ranking[seq_len(k)], drop = FALSE], data$y)
      }, c(ACC = 0, NMI = 0))))
    }
  }
}

# ---- main -------------------------------------------------------------------------------------

script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
args <- commandArgs(TRUE)
what <- if (length(args)) args[1] else "speed"
folder <- if (length(args) > 1) args[2] else Sys.getenv("UFSELECT_DATA")
sets <- if (length(args) > 2) args[-(1:2)] else {
  c("lung_discrete", "tissue", "warpPIE10P", "tox171", "wine", "dermatology")
}
switch(what,
  speed = speed(),
  `speed-one` = speed_one(as.integer(args[2]), as.integer(args[3])),
  solvers = solvers(folder, sets),
  clustering = clustering(folder, sets),
  stop("first argument: speed, solvers or clustering"))
