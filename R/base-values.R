as_double <- function(x) {
  # The replacement copies even where there is nothing to change.
  if (!is.double(x)) storage.mode(x) <- "double"
  x
}

# Equal columns get the mean of their values, or of their rows of a matrix. Any split between them
# may be optimal, and an iteration that was stopped splits unevenly, by rounding: this one treats
# them alike.
mean_of_copies <- function(value, first) {
  if (!anyDuplicated(first)) return(value)
  at <- match(first, unique(first))
  mean <- unname(rowsum(value, at) / tabulate(at))
  if (is.matrix(value)) mean[at, , drop = FALSE] else mean[at]
}

# Codes of levels or groups, those without one (NA) alone.
each_alone <- function(code) {
  alone <- which(is.na(code))
  if (length(alone)) code[alone] <- max(0L, code, na.rm = TRUE) + seq_along(alone)
  code
}

# Norms of the rows, without a second matrix of the size of x.
row_norms <- function(x) sqrt(.Call(C_x_forms, x, NULL))

# At most `most` of 1 .. size, in equal steps.
evenly <- function(size, most) {
  if (size <= most) seq_len(size) else as.integer(unique(round(seq(1, size, length.out = most))))
}

# `some` of 1 .. size: those whose multiples of the golden ratio leave the least fraction. They are
# as dense everywhere and in every cycle, which equal steps could be in time with.
spread <- function(size, some) sort(order((seq_len(size) * (sqrt(5) - 1) / 2) %% 1)[seq_len(some)])

# 1 .. size in pieces of `step`.
in_pieces <- function(size, step) {
  starts <- seq(1, by = step, length.out = ceiling(size / step))
  lapply(starts, function(from) seq.int(from, min(from + step - 1, size)))
}

# Seeds from the caller's random numbers, so that a result depends neither on the order of tasks
# nor on the number of workers. NULL where nothing random happens: then the
# caller's RNG is not touched at all.
draw_seeds <- function(n, random = TRUE) {
  if (random) as.list(sample.int(.Machine$integer.max, n)) else vector("list", n)
}

# Random numbers by which the package looks at a table or begins a search, where the caller did not
# ask for a draw: two people with the same table get the same answer. How far it would move with
# another draw, or with other rows, is measured by evidence/seeds.R.
looking_seed <- 1L

# Evaluates code under a seed of its own and puts the caller's RNG back as it was.
with_seed <- function(seed, code) {
  if (is.null(seed)) return(code)
  keep_seed({
    set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
    code
  })
}

# Evaluates code and puts the caller's RNG back as it was.
keep_seed <- function(code) {
  global <- globalenv()
  old <- get0(".Random.seed", envir = global, inherits = FALSE)
  on.exit(if (is.null(old)) rm(list = ".Random.seed", envir = global) else
    assign(".Random.seed", old, envir = global))
  code
}

largest <- function(x) max(-min(x), max(x))

# The power of two nearest to a positive size (1 for 0): dividing by it is exact.
power_of_two <- function(size) if (size > 0) 2^round(log2(size)) else 1

# Sessions that are started in the meantime find the packages that this one finds.
with_libraries <- function(expr) {
  old <- Sys.getenv("R_LIBS", NA)
  on.exit(if (is.na(old)) Sys.unsetenv("R_LIBS") else Sys.setenv(R_LIBS = old))
  Sys.setenv(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  expr
}

# The names by which a user says how many threads BLAS may take.
thread_names <- c("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")

# A matrix with column names, or a list of columns of one length, as a data frame. data.frame() and
# as.data.frame() take longer than a small fit.
as_table <- function(value) {
  if (is.data.frame(value)) return(value)
  if (is.matrix(value)) {
    value <- stats::setNames(lapply(seq_len(ncol(value)), function(j) unname(value[, j])),
      colnames(value))
  }
  structure(value, row.names = .set_row_names(length(value[[1L]])), class = "data.frame")
}
