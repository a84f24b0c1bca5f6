# CPU time and peak memory of the neighbour graph and of the methods on it.
#   Rscript graph.R            all jobs, each in a process of its own
# "pass" is the CPU time of one tcrossprod(x); "literal" that of the textbook R code, where
# it is a matter of seconds. Memory is the most that R held beside x at any time; C code of the
# package allocates through R, so it is counted. Data: 5 Gaussian clusters, 5 % informative columns, standardised.
library(ufselect)

job <- sub("^--job=", "", grep("^--job=", commandArgs(TRUE), value = TRUE))
sizes <- list(c(300, 500), c(100, 10000), c(5000, 500), c(10000, 500))
kinds <- c("pass", "literal", "variance", "graph", "laplacian", "spec phi1",
  "spec phi2", "spec phi3", "mcfs")

make_data <- function(n, p, c = 5) {
  set.seed(1)
  informative <- seq_len(ceiling(0.05 * p))
  mean <- matrix(0, c, p)
  mean[, informative] <- stats::rnorm(c * length(informative), sd = 2)
  scale(mean[sample(c, n, TRUE), ] + stats::rnorm(n * p))
}

literal_laplacian <- function(x, k = 5) {
  d <- as.matrix(stats::dist(x))
  w <- matrix(0, nrow(x), nrow(x))
  for (i in seq_len(nrow(x))) w[i, order(replace(d[i, ], i, Inf))[1:k]] <- 1
  w <- pmax(w, t(w)) * exp(-d^2 / (2 * mean(d)^2))
  degree <- rowSums(w)
  x <- sweep(x, 2, colSums(x * degree) / sum(degree))
  colSums(x * ((diag(degree) - w) %*% x)) / colSums(x^2 * degree)
}

run_job <- function(kind, n, p) {
  x <- make_data(n, p)
  run <- switch(kind,
    pass = function() tcrossprod(x),
    literal = function() literal_laplacian(x),
    variance = function() ufs_variance(x),
    graph = function() ufs_graph(x),
    laplacian = function() ufs_laplacian(x),
    `spec phi1` = function() ufs_spec(x, type = "phi1"),
    `spec phi2` = function() ufs_spec(x, type = "phi2"),
    `spec phi3` = function() ufs_spec(x, type = "phi3", n_clusters = 5),
    mcfs = function() ufs_mcfs(x, n_clusters = 5)
  )
  before <- sum(gc(reset = TRUE)[, 2])
  cpu <- sum(system.time(suppressWarnings(run()))[1:2])
  peak <- sum(gc()[, 6]) - before
  cat("RESULT", cpu, peak, "\n")
}

if (length(job)) {
  part <- strsplit(job, ",")[[1L]]
  run_job(part[1], as.integer(part[2]), as.integer(part[3]))
  quit(save = "no")
}

file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
for (size in sizes) {
  cat(sprintf("\n%d x %d\n%-10s %8s %8s %8s\n", size[1], size[2], "", "CPU s", "MiB", "passes"))
  pass <- NA
  for (kind in kinds) {
    if (kind %in% c("pass", "literal") && size[1] >= 10000) next
    out <- system2(file.path(R.home("bin"), "Rscript"),
      c(shQuote(file), shQuote(sprintf("--job=%s,%d,%d", kind, size[1], size[2]))), stdout = TRUE)
    value <- as.numeric(strsplit(grep("^RESULT", out, value = TRUE), " ")[[1L]][2:3])
    if (kind == "pass") pass <- value[1]
    cat(sprintf("%-10s %8.3f %8.0f %8.2f\n", kind, value[1], value[2], value[1] / pass))
  }
}
