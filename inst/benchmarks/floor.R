# Every method against the floor: its CPU time over that of the BLAS and LAPACK calls that it cannot
# avoid, and over one pass through x (a product with one vector), both measured in the same process
# just before. The calls are a lower bound for the method as it is published: what must be formed or
# factored once, products once; iterations beyond the first are not in it.
#
#   Rscript floor.R [--sizes=300x500,500x2000] [--methods=socfs,pca] [--seconds=30] [--out=file.csv]
#
# Data: five Gaussian clusters in 5 % of the columns. One thread; with OpenBLAS the floor is lower
# than with the reference BLAS and the ratios therefore larger. A fit may use `seconds`.
library(ufselect)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(script), "common.R"))
options(matprod = "blas")

# The building blocks, r = min(n, p), five clusters or components.
blocks <- function(x) {
  n <- nrow(x)
  p <- ncol(x)
  r <- min(n, p)
  narrow <- x[seq_len(n), seq_len(r), drop = FALSE]
  groups <- matrix(rnorm(5 * n), n)
  centres <- matrix(rnorm(5 * r), r)
  side <- min(p, 1000L)
  part <- x[, seq_len(side), drop = FALSE]
  square <- if (n < p) tcrossprod(x) else crossprod(x)
  diag(square) <- diag(square) + 1
  list(
    gram = function() if (n < p) tcrossprod(x) else crossprod(x),   # the smaller side
    rows = function() tcrossprod(x),                                # n x n
    columns = function() crossprod(part),                           # p x p, by columns
    factor = function() chol(square),                               # r x r
    eigen = function() eigen(square, symmetric = TRUE),
    cross = function() crossprod(x, groups),                        # x' times n x 5
    assign = function() narrow %*% centres                          # n x r times r x 5
  )
}

# How often each block is needed at least. k-means: 20 starts of one step each, for p > n in the n
# coordinates of the rows.
floor_of <- function(method, n, p) {
  wide <- p > n
  kmeans <- c(if (wide) c(gram = 1), assign = 20)
  graph <- c(rows = 1)
  both <- c(rows = 1, if (!wide) c(gram = 1), factor = 1)
  switch(method,
    variance = , random = NULL,
    pca = , cur = c(gram = 1, cross = 1),
    kmeans_f = , medoids = kmeans,
    socfs = c(kmeans, cross = 2),
    jspca = , spca = c(gram = 1, cross = 3),
    alfs = c(gram = 1, eigen = 1),
    topk = c(rows = 1, factor = 1),
    inffs = c(columns = 1),
    blfse = c(columns = 1, graph),
    laplacian = , spec = , alnr = , facility = graph,
    mcfs = c(graph, cross = 1),
    ndfs = , udfs = , sogfs = both,
    rsr = , rrss = c(gram = 1, factor = 1),
    css = c(gram = 1, cross = 4),
    ted = c(gram = 1),
    consensus = {
      members <- eval(formals(ufs_consensus)$members)
      unlist(lapply(members, floor_of, n = n, p = p))
    },
    stop("no floor is stated for ", method))
}

one <- function(method, n, p, seconds) {
  x <- clustered(n, p)
  ones <- rep(1, p)
  pass <- cpu_of_one(function() x %*% ones)
  calls <- floor_of(method, n, p)
  block <- blocks(x)
  times <- vapply(unique(as.character(names(calls))), function(name) {
    cpu_of_one(block[[name]]) * if (name == "columns") max(1, p / 1000)^2 else 1
  }, 0)
  bottom <- if (length(calls)) sum(times[names(calls)] * calls) else NA
  calls <- if (length(calls)) tapply(calls, names(calls), sum)
  fit <- NULL
  used <- within_time(cpu_of_one(function() fit <<- fit_once(method, x)), seconds)
  if (is.null(used)) used <- NA
  text <- if (length(calls)) paste(calls, names(calls), collapse = " + ") else ""
  print_row(method, n, p, signif(used, 3), signif(bottom, 3), signif(pass, 3),
    signif(used / bottom, 3), signif(used / pass, 3),
    if (is.null(fit$iterations)) NA else fit$iterations,
    if (is.null(fit)) "stopped" else fit$status, text, blas_name())
}

if (!is.null(option("method"))) {
  one(option("method"), as.integer(option("n")), as.integer(option("p")),
    as.numeric(option("seconds")))
} else {
  sizes <- words(option("sizes", "300x500,500x2000,100x10000,5000x500"))
  sizes <- do.call(rbind, strsplit(sizes, "x"))
  methods <- wanted_methods()
  jobs <- expand.grid(method = methods, size = seq_len(nrow(sizes)), stringsAsFactors = FALSE)
  jobs <- data.frame(method = jobs$method, n = sizes[jobs$size, 1L], p = sizes[jobs$size, 2L])
  table <- run_jobs(jobs, as.numeric(option("seconds", "30")))
  names(table) <- c("method", "n", "p", "cpu_seconds", "floor_seconds", "pass_seconds", "in_floors",
    "in_passes", "iterations", "status", "floor", "blas")
  if (!is.null(option("out"))) write.csv(table, option("out"), row.names = FALSE)
}
