# Sparse test matrices with everything that goes wrong elsewhere, and the plain-R X of theirs.

# n x p: ordinary counts, an empty column and row, explicit zeros, one non-zero column, a full
# column of mean 1e6 times its sd, negative values, two equal columns, a constant column.
awkward_counts <- function(n = 30, p = 24, seed = 1) {
  withr::with_seed(seed, {
    x <- matrix(stats::rpois(n * p, 0.4) * stats::rexp(n * p), n)
    x[, 2] <- 0
    x[4, ] <- 0
    x[, 3] <- c(5, rep(0, n - 1))
    x[, 5] <- 1e6 + stats::rnorm(n)
    x[, 6] <- -x[, 7]
    x[, 9] <- x[, 8]
    x[, 10] <- 3
    x[, 11] <- stats::rnorm(n)
  })
  dimnames(x) <- list(paste0("s", seq_len(n)), paste0("f", seq_len(p)))
  x
}

to_sparse <- function(x) {
  loadNamespace("Matrix")
  # In two steps: Matrix before 1.4-2 makes no "generalMatrix" of a plain matrix.
  methods::as(methods::as(Matrix::Matrix(x, sparse = TRUE, doDiag = FALSE), "generalMatrix"), "CsparseMatrix")
}

as_sparse <- function(x) {
  out <- to_sparse(x)
  # Explicit zeros: an entry of column 1 that is stored as 0.
  at <- out@p[1] + 1L
  out@x[at] <- 0
  out
}

# What the solvers see, by scale() alone: columns `keep`.
reference_x <- function(x, keep, center, scale) {
  out <- unname(as.matrix(x))[, keep, drop = FALSE]
  s <- apply(out, 2, stats::sd)
  if (center) out <- sweep(out, 2, colMeans(out))
  if (scale) out <- sweep(out, 2, s, "/")
  out
}

# Counts with planted groups, log-transformed: wide and tall; a constant column, an empty row.
grouped_counts <- function(n, p, groups = 3, seed = 1) {
  withr::with_seed(seed, {
    g <- rep(seq_len(groups), length.out = n)
    rate <- matrix(0.2, groups, p)
    for (k in seq_len(groups)) rate[k, seq.int(k, by = groups, length.out = 6)] <- 3
    x <- log1p(matrix(rpois(n * p, rate[g, ]), n))
  })
  x[, p] <- 0
  x[n, ] <- 0
  dimnames(x) <- list(paste0("s", seq_len(n)), paste0("f", seq_len(p)))
  list(x = x, group = g)
}

# Whole numbers of 64 bits as package bit64 holds them: two halves in the place of a double. `more` is added to the lower one.
as_integer64 <- function(x, more = 0) {
  high <- floor(x / 2^32)
  low <- x - high * 2^32 + more
  # -2^31 is NA in R, of the same bits.
  half <- suppressWarnings(as.integer(rbind(low - 2^32 * (low >= 2^31), high)))
  structure(readBin(writeBin(half, as.raw(NULL), endian = "little"), "double", length(x), endian = "little"), class = "integer64")
}
