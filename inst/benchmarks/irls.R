# CPU time and peak memory of RSR, NDFS, UDFS and SOGFS.
#   Rscript irls.R            all jobs, each in a process of its own
#   Rscript irls.R --udfs --data=FOLDER    UDFS against the algorithm of scikit-feature, see below
# "pass" is the CPU time of one tcrossprod(x); "literal" that of the textbook R code (full inverses
# and eigendecompositions of p x p matrices) for 5 iterations, where that is a matter of seconds.
# Memory is the most that R held beside x at any time; C code of the package allocates through
# R, so it is counted. Data: 5 Gaussian clusters, 5 % informative columns.
library(ufselect)

job <- sub("^--job=", "", grep("^--job=", commandArgs(TRUE), value = TRUE))
sizes <- list(c(60, 200), c(300, 500), c(100, 10000), c(5000, 500))
kinds <- c("pass", "rsr", "rsr irls", "rsr literal", "ndfs", "ndfs irls", "ndfs literal", "udfs",
  "udfs irls", "udfs literal", "sogfs", "sogfs gamma 0.05")

make_data <- function(n, p, c = 5) {
  set.seed(1)
  informative <- seq_len(ceiling(0.05 * p))
  mean <- matrix(0, c, p)
  mean[, informative] <- stats::rnorm(c * length(informative), sd = 2)
  scale(mean[sample(c, n, TRUE), ] + stats::rnorm(n * p))
}

unit <- function(x) x / sqrt(nrow(x) - 1)

literal_rsr <- function(x, lambda, steps) {
  r <- rep(1, ncol(x))
  g <- rep(1, nrow(x))
  for (t in seq_len(steps)) {
    a <- crossprod(x, x / g)
    w <- solve(a + lambda * diag(1 / r), a, tol = 0)
    r <- 2 * sqrt(rowSums(w^2) + 1e-16)
    g <- 2 * sqrt(rowSums((x - x %*% w)^2) + 1e-16)
  }
}

literal_ndfs <- function(x, labels, l, steps) {
  f <- outer(labels, seq_len(max(labels)), `==`) + 0.02
  g <- rep(1, ncol(x))
  for (t in seq_len(steps)) {
    inverse <- solve(crossprod(x) + diag(1 / g), tol = 0)
    w <- inverse %*% crossprod(x, f)
    m <- l + diag(nrow(x)) - x %*% inverse %*% t(x)
    f <- f * (1e8 * f) / (m %*% f + 1e8 * f %*% crossprod(f))
    f <- sweep(f, 2L, sqrt(colSums(f^2)), `/`)
    g <- 2 * sqrt(rowSums(w^2) + 1e-16)
  }
}

literal_udfs <- function(x, c, steps) {
  n <- nrow(x)
  d <- as.matrix(stats::dist(x))
  h <- diag(6) - 1 / 6
  m <- matrix(0, ncol(x), ncol(x))
  for (i in seq_len(n)) {
    part <- h %*% x[order(d[i, ])[1:6], ]
    m <- m + t(part) %*% solve(tcrossprod(part) + diag(6)) %*% part
  }
  row2 <- rep(c / ncol(x), ncol(x))
  for (t in seq_len(steps)) {
    e <- eigen(m + 0.1 * diag(1 / (2 * sqrt(row2 + 1e-12))), symmetric = TRUE)
    row2 <- rowSums(e$vectors[, ncol(x) - seq_len(c) + 1]^2)
  }
}

literal_steps <- 5

run_job <- function(kind, n, p) {
  x <- make_data(n, p)
  fit <- NULL
  prepare <- switch(kind,
    `ndfs literal` = as.matrix(ufs_graph(unit(x)))
  )
  run <- switch(kind,
    pass = function() tcrossprod(x),
    rsr = function() ufs_rsr(x),
    `rsr irls` = function() ufs_rsr(x, solver = "irls"),
    `rsr literal` = function() literal_rsr(unit(x), 1, literal_steps),
    ndfs = function() ufs_ndfs(x, 5),
    `ndfs irls` = function() ufs_ndfs(x, 5, solver = "irls"),
    `ndfs literal` = function() literal_ndfs(unit(x), rep_len(1:5, n),
      diag(rowSums(prepare)) - prepare, literal_steps),
    udfs = function() ufs_udfs(x, 5),
    `udfs irls` = function() ufs_udfs(x, 5, solver = "irls"),
    `udfs literal` = function() literal_udfs(unit(x), 5, literal_steps),
    sogfs = function() ufs_sogfs(x, 5),
    `sogfs gamma 0.05` = function() ufs_sogfs(x, 5, gamma = 0.05)
  )
  before <- sum(gc(reset = TRUE)[, 2])
  cpu <- sum(system.time(suppressWarnings(fit <- run()))[1:2])
  peak <- sum(gc()[, 6]) - before
  steps <- if (grepl("literal", kind)) literal_steps else 0
  status <- "-"
  if (inherits(fit, "ufs")) {
    steps <- fit$iterations
    status <- fit$status
  }
  cat("RESULT", cpu, peak, steps, status, "\n")
}

if (length(job)) {
  part <- strsplit(job, ",")[[1L]]
  run_job(part[1], as.integer(part[2]), as.integer(part[3]))
  quit(save = "no")
}

file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))

# UDFS as scikit-feature computes it (written from its description, in R): M is p x p, each step a
# full eigendecomposition of M + gamma D, D from the identity on, norms no smaller than 1e-16; it
# stops when the objective changes by less than 1e-3 (absolute), after 1,000 steps at most.
# Neighbours as in the paper, and as in its code, where the lists of the first k + 1 samples stand in
# for those of all. Both W are measured by the objective of the paper's M, without smoothing; its
# time is counted to its own stop and to where its objective first is as low as ours, if ever
# within 100 steps.
scatter_udfs <- function(x, k, ridge, as_coded) {
  near <- t(apply(as.matrix(stats::dist(x)), 1L, order))[, seq_len(k + 1L)]
  h <- diag(k + 1) - 1 / (k + 1)
  a <- matrix(0, nrow(x), nrow(x))
  for (i in seq_len(nrow(x))) {
    part <- h %*% x[near[i, ], ]
    b <- h %*% solve(tcrossprod(part) + ridge * diag(k + 1)) %*% h
    if (as_coded) {
      select <- matrix(0, nrow(x), k + 1L)
      for (q in seq_len(k + 1L)) select[near[q, ], q] <- 1
      a <- a + select %*% b %*% t(select)
    } else {
      a[near[i, ], near[i, ]] <- a[near[i, ], near[i, ]] + b
    }
  }
  crossprod(x, a %*% x)
}

objective_udfs <- function(m, w, gamma) sum(w * (m %*% w)) + gamma * sum(sqrt(rowSums(w^2)))

published_udfs <- function(m, c, gamma, goal = NULL) {
  d <- rep(1, ncol(m))
  old <- Inf
  for (t in seq_len(if (is.null(goal)) 1000L else 100L)) {
    e <- eigen(m + gamma * diag(d), symmetric = TRUE)
    w <- e$vectors[, ncol(m) - seq_len(c) + 1L, drop = FALSE]
    d <- 0.5 / pmax(sqrt(rowSums(w^2)), 1e-16)
    value <- objective_udfs(m, w, gamma)
    if (if (is.null(goal)) abs(old - value) < 1e-3 else value <= goal) break
    old <- value
  }
  list(w = w, steps = t, reached = is.null(goal) || value <= goal)
}

compare_udfs <- function(name, x, c, gamma = 0.1, k = 5) {
  x <- unit(x)
  m <- scatter_udfs(x, k, gamma, FALSE)
  time <- function(code) sum(system.time(code)[1:2])
  ours <- time(fit <- ufs_udfs(x, c, n_neighbours = k, lambda = gamma, gamma = gamma, center = FALSE, scale = FALSE))
  goal <- objective_udfs(m, fit$solution$W, gamma)
  say("%-14s ours: %.2f s, %d steps, %s, objective %.5f\n", name, ours, fit$iterations, fit$status, goal)
  for (as_coded in c(FALSE, TRUE)) {
    used <- time(found <- published_udfs(scatter_udfs(x, k, gamma, as_coded), c, gamma))
    say("%-14s its stop%s: %.2f s, %d steps, objective %.5f\n", "",
      if (as_coded) ", M as coded" else "", used, found$steps, objective_udfs(m, found$w, gamma))
  }
  used <- time(found <- published_udfs(scatter_udfs(x, k, gamma, FALSE), c, gamma, goal * (1 + 1e-6)))
  say("%-14s to our objective: %.2f s, %d steps%s\n", "", used, found$steps,
    if (found$reached) "" else ", not reached")
}

if ("--udfs" %in% commandArgs(TRUE)) {
  source(file.path(dirname(file), "common.R"))
  for (name in words(option("sets", "lung_discrete,300x500,orl"))) {
    if (grepl("^[0-9]+x[0-9]+$", name)) {
      size <- as.integer(words(name, "x"))
      x <- make_data(size[1L], size[2L])
    } else {
      x <- scale(read_set(option("data"), name)$x)
      x <- x[, colSums(!is.finite(x)) == 0]
    }
    compare_udfs(name, x, 5L)
  }
  quit(save = "no")
}

for (size in sizes) {
  cat(sprintf("\n%d x %d\n%-18s %8s %8s %8s %10s %s\n", size[1], size[2], "", "CPU s", "MiB",
    "passes", "iterations", "status"))
  pass <- NA
  for (kind in kinds) {
    # Literal forms need p x p inverses: seconds per iteration here, hours there.
    if (grepl("literal", kind) && size[2] > 500) next
    if (kind == "ndfs literal" && size[1] > 1000) next
    if (kind == "rsr irls" && size[1] > 1000) next
    out <- system2(file.path(R.home("bin"), "Rscript"),
      c(shQuote(file), shQuote(sprintf("--job=%s,%d,%d", kind, size[1], size[2]))), stdout = TRUE)
    value <- strsplit(grep("^RESULT", out, value = TRUE), " ")[[1L]]
    number <- as.numeric(value[2:4])
    if (kind == "pass") pass <- max(number[1], 1e-3)
    cat(sprintf("%-18s %8.2f %8.0f %8.0f %10.0f %s\n", kind, number[1], number[2],
      number[1] / pass, number[3], value[5]))
  }
}
