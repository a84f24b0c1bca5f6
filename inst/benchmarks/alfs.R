# ALFS against the literal Algorithm 1: time, iterations, certified gap, and what the
# published schedule costs. CPU seconds (user + system) throughout.
#   Rscript alfs.R --part=sizes,weights,real,tolerance,madelon,har --data=FOLDER
# The literal algorithm is timed over a few iterations, times the number it needs by its own
# stop; solver = "paper" makes the same iterates (tests) and gives that number and its
# objective. `har` takes about two minutes and 0.6 GB; `real` with weights on madelon about one.
library(ufselect)
options(width = 160)

option <- function(name, default) {
  given <- grep(paste0("^--", name, "="), commandArgs(TRUE), value = TRUE)
  if (length(given)) sub("^--[a-z]+=", "", utils::tail(given, 1L)) else default
}
words <- function(text) strsplit(text, ",", fixed = TRUE)[[1L]]
folder <- option("data", Sys.getenv("UFSELECT_DATA"))
parts <- words(option("part", "sizes,weights,tolerance"))
cpu <- function(expr) {
  time <- system.time(expr)
  sum(time[1:2])
}
show <- function(rows) print(do.call(rbind, rows), row.names = FALSE, digits = 3)
quiet <- ufs_control(warn = FALSE)

# One iteration of Algorithm 1 as published: eigendecompositions, products n x n and d x d.
literal_seconds <- function(x, alpha, beta, lambda, n_iter = 4L) {
  x_t <- t(x)
  n <- ncol(x_t)
  d <- nrow(x_t)
  norm <- sqrt(rowSums(x^2))
  weight <- 1 / pmax(abs(tcrossprod(x) / outer(norm, norm)), 1e-6)
  w <- what <- l2 <- matrix(0, n, d)
  wtilde <- l3 <- matrix(0, d, n)
  z <- l1 <- matrix(0, n, n)
  rho <- 1e-6
  rows <- function(s, by) s * pmax(1 - by / pmax(sqrt(rowSums(s^2)), 1e-300), 0)
  cpu(for (k in seq_len(n_iter)) {
    left <- eigen(2 * crossprod(x_t) + rho * diag(n), symmetric = TRUE)
    right <- eigen(tcrossprod(x_t), symmetric = TRUE)
    h <- 2 * crossprod(x_t) %*% t(x_t) + (rho * z - l1) %*% t(x_t) + rho * what - l2 +
      t(rho * wtilde - l3)
    core <- crossprod(left$vectors, h) %*% right$vectors
    w <- left$vectors %*% (core / (outer(left$values, right$values) + 2 * rho)) %*% t(right$vectors)
    wx <- w %*% x_t
    what <- rows(w + l2 / rho, alpha / rho)
    wtilde <- rows(t(w) + l3 / rho, beta / rho)
    z <- wx + l1 / rho
    z <- sign(z) * pmax(abs(z) - lambda * weight / rho, 0)
    l1 <- l1 + rho * (wx - z)
    l2 <- l2 + rho * (w - what)
    l3 <- l3 + rho * (t(w) - wtilde)
    rho <- 1.1 * rho
    f <- sum((x_t - x_t %*% wx)^2) + alpha * sum(sqrt(rowSums(w^2))) +
      beta * sum(sqrt(colSums(w^2))) + lambda * sum(weight * abs(wx))
  }) / n_iter
}

# Groups in `k` dimensions seen by `informative` columns, the others noise.
simulate <- function(n, p, informative, seed, scaled) {
  set.seed(seed)
  z <- matrix(rnorm(5 * 8, sd = 2), 5)[sample.int(5, n, TRUE), ] + matrix(rnorm(n * 8), n)
  x <- matrix(rnorm(n * p, sd = .5), n)
  x[, seq_len(informative)] <- x[, seq_len(informative)] + z %*% matrix(rnorm(8 * informative), 8)
  x <- scale(x, scale = scaled)[, ]
  x / svd(x, 0, 0)$d[1L] # where the published schedule does best
}

candidates <- function(set) {
  data <- readRDS(file.path(folder, paste0(set, ".rds")))
  set.seed(1)
  half <- unlist(lapply(split(seq_along(data$y), data$y), function(i) i[sample.int(length(i), length(i) %/% 2L)]))
  x <- as.matrix(data$x)[half, ]
  list(x = scale(x[, apply(x, 2L, stats::sd) > 0])[, ], all = data, half = half)
}

compare <- function(name, x, rel, tols, literal = TRUE) {
  run <- function(...) {
    ufs_alfs(x, alpha_rel = rel[1L], beta_rel = rel[2L], lambda_rel = rel[3L], center = FALSE,
      scale = FALSE, ...)
  }
  out <- list()
  last <- NULL
  for (tol in tols) {
    time <- cpu(fit <- run(control = ufs_control(tol = tol, max_iter = 5000, warn = FALSE)))
    last <- fit
    out[[length(out) + 1L]] <- data.frame(set = name, n = nrow(x), p = ncol(x),
      alpha = rel[1L], beta = rel[2L], lambda = rel[3L], solver = "admm", tol = tol,
      iterations = fit$iterations, cpu = time, gap = fit$certificate[["gap"]],
      objective = utils::tail(fit$trace$objective, 1L), rows = fit$support[["samples"]],
      columns = fit$support[["features"]])
  }
  bound <- last$certificate[["dual"]]
  if (literal) {
    each <- literal_seconds(x, last$params$alpha, last$params$beta, last$params$lambda)
    time <- cpu(fit <- run(solver = "paper", control = quiet))
    common <- length(intersect(feature_ranking(fit)[1:20], feature_ranking(last)[1:20]))
    for (solver in c("literal", "paper in C")) {
      out[[length(out) + 1L]] <- data.frame(set = name, n = nrow(x), p = ncol(x),
        alpha = rel[1L], beta = rel[2L], lambda = rel[3L], solver = solver, tol = NA,
        iterations = fit$iterations, cpu = if (solver == "literal") each * fit$iterations else time,
        gap = fit$certificate[["gap"]], objective = utils::tail(fit$trace$objective, 1L),
        rows = fit$support[["samples"]], columns = fit$support[["features"]])
    }
  }
  out <- do.call(rbind, out)
  out$above <- out$objective / bound - 1 # excess over the best lower bound
  out$literal_over_it <- if (literal) out$cpu[out$solver == "literal"] / out$cpu else NA
  pass <- cpu(for (i in 1:5) tcrossprod(x)) / 5
  out$passes <- out$cpu / max(pass, 1e-4)
  attr(out, "common") <- if (literal) common
  out
}

if ("sizes" %in% parts) {
  cat("\n== lambda = 0: CPU to gap 1e-2, 1e-4, 1e-6; `passes` in units of one tcrossprod(x)\n")
  show(list(
    compare("blocks", simulate(80, 50, 15, 1, FALSE), c(.1, .1, 0), c(1e-2, 1e-4, 1e-6)),
    compare("blocks", simulate(500, 100, 20, 1, FALSE), c(.1, .1, 0), c(1e-2, 1e-4, 1e-6)),
    compare("blocks", simulate(100, 500, 50, 1, FALSE), c(.1, .1, 0), c(1e-2, 1e-4, 1e-6)),
    compare("scaled", simulate(500, 100, 20, 1, TRUE), c(.01, .2, 0), c(1e-2, 1e-4, 1e-6)),
    compare("scaled", simulate(100, 500, 50, 1, TRUE), c(.01, .2, 0), c(1e-2, 1e-4, 1e-6))))
}

if ("weights" %in% parts) {
  cat("\n== lambda > 0: CPU to gap 1e-2, 1e-3, 1e-6\n")
  show(list(
    compare("blocks", simulate(80, 50, 15, 1, FALSE), c(.05, .05, .005), 10^-c(2, 3, 6)),
    compare("blocks", simulate(500, 100, 20, 1, FALSE), c(.05, .05, .005), 10^-c(2, 3, 6)),
    compare("blocks", simulate(500, 100, 20, 1, FALSE), c(.01, .2, .005), 10^-c(2, 3, 6)),
    compare("blocks", simulate(300, 500, 50, 1, FALSE), c(.05, .05, .005), 10^-c(2, 3, 6)),
    compare("scaled", simulate(500, 100, 60, 1, TRUE), c(.05, .05, .005), 10^-c(2, 3, 6)),
    compare("scaled", simulate(500, 100, 100, 1, TRUE), c(.1, .1, .01), 10^-c(2, 3, 6))))
}

if ("real" %in% parts) {
  cat("\n== Candidate halves at the default, with the published schedule (as it is, and on x / s_1)\n")
  for (set in words(option("sets", "musk1,orl,tox171,madelon"))) {
    x <- candidates(set)$x
    lambdas <- if (set == "madelon" && !"slow" %in% parts) 0 else c(0, .005)
    for (lambda in lambdas) {
      time <- cpu(fit <- ufs_alfs(x, lambda_rel = lambda, center = FALSE, scale = FALSE, control = quiet))
      cat(sprintf("%s %d x %d, lambda_rel %g: gap %.1e, %d iterations, %.2f s, %d rows, %d columns not zero\n",
        set, nrow(x), ncol(x), lambda, fit$certificate[["gap"]], fit$iterations, time,
        fit$support[["samples"]], fit$support[["features"]]))
      if (set == "madelon" && lambda > 0) next
      unit <- svd(x, 0, 0)$d[1L]
      for (by in c(1, unit)) {
        time <- cpu(old <- ufs_alfs(x / by, lambda_rel = lambda, solver = "paper", center = FALSE,
          scale = FALSE, control = quiet))
        above <- utils::tail(old$trace$objective, 1L) * by^2 / fit$certificate[["dual"]] - 1
        cat(sprintf("  schedule on x%s: %s after %d iterations, %.1f s (in C), %.1f %% above the bound; of the best 20 features %d, of the best 50 samples %d in common\n",
          if (by == 1) "" else " / s_1", old$status, old$iterations, time, 100 * above,
          length(intersect(feature_ranking(fit)[1:20], feature_ranking(old)[1:20])),
          length(intersect(sample_ranking(fit)[1:50], sample_ranking(old)[1:50]))))
      }
    }
  }
}

if ("tolerance" %in% parts) {
  cat("\n== CPU against tolerance (the paper's Figure 6): gap for ours, epsilon for Algorithm 1\n")
  x <- simulate(300, 100, 20, 2, FALSE)
  show(lapply(10^-(1:6), function(tol) {
    ours <- cpu(a <- ufs_alfs(x, alpha_rel = .1, beta_rel = .1, center = FALSE, scale = FALSE,
      control = ufs_control(tol = tol, warn = FALSE)))
    theirs <- cpu(b <- ufs_alfs(x, alpha_rel = .1, beta_rel = .1, center = FALSE, scale = FALSE,
      solver = "paper", control = ufs_control(tol = tol, warn = FALSE)))
    data.frame(tol = tol, admm_cpu = ours, admm_iterations = a$iterations,
      admm_gap = a$certificate[["gap"]], paper_cpu_in_C = theirs, paper_iterations = b$iterations,
      paper_gap = b$certificate[["gap"]])
  }))
}

if ("madelon" %in% parts) {
  repeats <- as.integer(option("repeats", "3"))
  cat("\n== Madelon at the default: r = 10, m = 1200 of 1300 candidates, fully grown tree and 5-NN\n")
  data <- readRDS(file.path(folder, "madelon.rds"))
  set.seed(1)
  out <- ufs_compare(data$x, data$y, "alfs", k = 10, m = 1200, classifiers = c("full_tree", "knn"),
    repeats = repeats, baselines = FALSE)
  print(out$results[c("classifier", "rep", "accuracy", "seconds", "error")], row.names = FALSE)
  print(stats::aggregate(accuracy ~ classifier, out$results, function(a) c(mean = mean(a), sd = stats::sd(a))))
}

if ("har" %in% parts) {
  cat("\n== The size of HAR: 10299 x 561, simulated, lambda = 0\n")
  set.seed(1)
  n <- 10299L
  p <- 561L
  x <- matrix(rnorm(6 * 30, sd = 2), 6)[sample.int(6, n, TRUE), ] + matrix(rnorm(n * 30), n)
  x <- x %*% matrix(rnorm(30 * p), 30) + 2 * matrix(rnorm(n * p), n)
  time <- cpu(fit <- ufs_alfs(x, control = quiet))
  print(fit)
  status <- readLines("/proc/self/status")
  cat(sprintf("CPU %.0f s; peak of the process: %s (x itself %.0f MB)\n", time,
    sub("VmHWM:\\s*", "", grep("VmHWM", status, value = TRUE)), 8e-6 * n * p))
}
