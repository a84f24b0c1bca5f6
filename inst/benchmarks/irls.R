# CPU time and peak memory of RSR, NDFS, UDFS and SOGFS.
#   Rscript irls.R            all jobs, each in a process of its own
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
