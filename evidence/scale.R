# How far it goes: sparse, on-disk and wide data. One process per row. The peak memory (VmHWM of
# /proc/self/status) is set back once the data are loaded and the garbage is collected, so that
# peak_MB is reached during the fit and peak_MB - start_MB is what the fit takes besides the
# data (Linux; elsewhere both are NA).
#   Rscript scale.R                  everything (some hours)
#   Rscript scale.R growth           time against the number of non-zeros, three sizes
#   Rscript scale.R wide cells disk  some of the data sets; sparse_file: cells as a TENxMatrix; csv, tall: five million
#                                    rows of 60 columns, in pieces of a file and in memory
#   Rscript scale.R wide "ufs_pca(x, 10)"   one row
#   --out=FILE                       instead of inst/benchmarks/results/scale.csv
# Printed: CPU seconds, the same as multiples of one product X'T with 5 columns on the same data
# in the same run, memory before the fit and at its peak, passes over a file. The table is written
# row by row: rows measured again replace the old ones.
arguments <- grep("^--", commandArgs(TRUE), invert = TRUE, value = TRUE)
folder <- Sys.getenv("SCALE_DATA", file.path(dirname(tempdir()), "ufselect-scale"))
dir.create(folder, showWarnings = FALSE)

status_file <- "/proc/self/status"
memory <- function(what) {
  if (!file.exists(status_file)) return(NA_real_)
  line <- grep(what, readLines(status_file), value = TRUE)
  round(as.numeric(gsub("[^0-9]", "", line)) / 1024)
}
# From here on the peak is counted anew.
reset_peak <- function() {
  invisible(gc())
  if (file.exists(status_file)) cat("5", file = "/proc/self/clear_refs")
  memory("VmRSS")
}
cpu <- function(expression) sum(system.time(expression)[1:2])

# n x p, the same number of entries in every column, 5 planted groups in the first 200 columns.
make_sparse <- function(n, p, nnz) {
  set.seed(1)
  per <- nnz %/% p
  group <- rep_len(1:5, n)
  i <- integer(per * p)
  x <- stats::rexp(per * p)
  for (j in seq_len(p)) {
    weight <- if (j <= 200) 1 + 9 * (group == (j - 1) %% 5 + 1)
    at <- (j - 1) * per + seq_len(per)
    i[at] <- sort(sample.int(n, per, prob = weight)) - 1L
    if (j <= 200) x[at] <- 2 + x[at]
  }
  methods::new("dgCMatrix", i = i, p = as.integer(seq.int(0, per * p, by = per)), x = x,
    Dim = as.integer(c(n, p)))
}

# Log counts of single cells: 3,000 cells of eight kinds x 20,000 genes, negative binomial, 9.3 million
# entries. The genes' means are lognormal, 300 genes of each kind are raised.
make_single <- function(n = 3000, p = 20000, kinds = 8) {
  set.seed(1)
  kind <- rep_len(seq_len(kinds), n)
  mean_count <- exp(stats::rnorm(p, -2.55, 1.6))
  depth <- exp(stats::rnorm(n, 0, 0.3))
  raised <- matrix(1, kinds, p)
  for (l in seq_len(kinds)) raised[l, sample(p, 300)] <- exp(stats::rnorm(300, 1.5, 0.5))
  parts <- lapply(split(seq_len(p), ceiling(seq_len(p) / 500)), function(j) {
    lambda <- depth * raised[kind, j] * rep(mean_count[j], each = n)
    Matrix::Matrix(log1p(matrix(stats::rnbinom(n * length(j), mu = lambda, size = 2), n)), sparse = TRUE)
  })
  do.call(cbind, unname(parts))
}

make <- list(
  single = make_single,
  wide = function() make_sparse(2000, 1e6, 2e7),
  cells = function() make_sparse(100000, 20000, 1e8),
  small = function() make_sparse(2000, 125000, 2.5e6),
  middle = function() make_sparse(2000, 250000, 5e6),
  large = function() make_sparse(2000, 500000, 1e7)
)

# Eight factors and noise in 60 columns, a piece of the rows after the other: use(piece, its number).
tall_pieces <- function(use) {
  set.seed(1)
  load <- matrix(stats::rnorm(8 * 60), 8)
  for (number in 1:20) {
    piece <- matrix(stats::rnorm(250000 * 8), 250000) %*% load + matrix(stats::rnorm(250000 * 60), 250000)
    use(round(piece, 4), number)
  }
}

get_data <- function(name) {
  loadNamespace("Matrix")
  if (name == "tall") {
    x <- matrix(0, 5e6, 60, dimnames = list(NULL, paste0("f", 1:60)))
    tall_pieces(function(piece, number) x[(number - 1) * 250000 + 1:250000, ] <<- piece)
    return(x)
  }
  if (name == "csv") {
    file <- file.path(folder, "tall.csv")
    if (!file.exists(file)) tall_pieces(function(piece, number) {
      piece <- stats::setNames(as.data.frame(piece), paste0("f", 1:60))
      data.table::fwrite(piece, file, append = number > 1)
    })
    rows <- file(file, "r")
    top <- readLines(rows, 1)
    return(function() if (length(part <- readLines(rows, 20000))) data.table::fread(text = c(top, part), header = TRUE))
  }
  if (name == "sparse_file") {
    file <- file.path(folder, "cells.h5")
    if (!file.exists(file)) {
      HDF5Array::writeTENxMatrix(Matrix::t(get_data("cells")), file, "cells", level = 0L)
    }
    # In a session that has not held the matrix.
    return(DelayedArray::t(HDF5Array::TENxMatrix(file, "cells")))
  }
  if (name == "disk") {
    file <- file.path(folder, "disk.h5")
    if (!file.exists(file)) {
      set.seed(1)
      sink <- HDF5Array::HDF5RealizationSink(c(100000L, 2000L), type = "double", filepath = file,
        name = "x", chunkdim = c(1000L, 2000L), level = 0)
      grid <- DelayedArray::RegularArrayGrid(c(100000L, 2000L), c(1000L, 2000L))
      for (b in seq_along(grid)) {
        block <- matrix(stats::rnorm(2e6), 1000)
        block[, 1:200] <- block[, 1:200] + 2 * outer(rep_len(1:5, 1000), rep_len(1:5, 200), "==")
        DelayedArray::write_block(sink, grid[[b]], block)
      }
      DelayedArray::close(sink)
    }
    return(HDF5Array::HDF5Array(file, "x"))
  }
  if (name == "dense") {
    set.seed(1)
    return(matrix(stats::rnorm(1e8), 100))
  }
  file <- file.path(folder, paste0(name, ".rds"))
  if (!file.exists(file)) saveRDS(make[[name]](), file, compress = FALSE)
  readRDS(file)
}

one_row <- function(name, call) {
  x <- get_data(name)
  invisible(gc())
  unit <- if (name %in% names(make)) {
    data <- suppressWarnings(ufselect:::as_ufs_operator(x))
    t <- matrix(stats::rnorm(5 * data$n), ncol = 5)
    cpu(ufselect:::x_cross(data$x, t))
  } else NA
  if (!is.na(unit)) rm(data, t)
  set.seed(1)
  before <- reset_peak()
  seconds <- cpu(fit <- suppressWarnings(eval(parse(text = call))))
  highest <- memory("VmHWM")
  passes <- if (!is.null(fit$input$passes)) fit$input$passes else NA
  found <- if (is.null(fit$feature_scores)) NA else mean(utils::head(fit$feature_ranking, 200) <= 200)
  cat(sprintf("%s,\"%s\",%.1f,%.0f,%.0f,%.0f,%s,%.2f,%s\n", name, call, seconds, seconds / unit,
    before, highest, passes, found, if (is.null(fit$status)) "" else fit$status))
}

rows <- list(
  wide = c("ufs_variance(x)", "ufs_pca(x, 10)", "ufs_socfs(x, 5)", "ufs_jspca(x, 5)",
    "ufs_kmeans_f(x, 5)", "ufs_mcfs(x, 5)", "ufs_laplacian(x)"),
  cells = c("ufs_variance(x)", "ufs_pca(x, 20)", "ufs_css(x, k = 100)", "ufs_decoys(x, 'pca', n_components = 4)", "ufs_kmeans_f(x, 5)", "ufs_socfs(x, 10)",
    "ufs_laplacian(x)", "ufs_mcfs(x, 5)"),
  disk = c("ufs_variance(x)", "ufs_pca(x, 10)", "ufs_ted(x, m = 50)", "ufs_socfs(x, 5)",
    "ufs_spca(x, 5)"),
  sparse_file = c("ufs_variance(x)", "ufs_pca(x, 20)", "ufs_css(x, k = 100)", "ufs_decoys(x, 'pca', n_components = 4)"),
  tall = "ufs_css(x, k = 20)",
  csv = "ufs_css(ufs_moments(x), k = 20)",
  dense = c("ufs_variance(x)", "ufs_socfs(x, 5)", "ufs_jspca(x, 5)"),
  single = c("ufs_laplacian(x)", "ufs_mcfs(x, 8)", "ufs_facility(x, m = 50)", "ufs_css(x, k = 200)"),
  growth = c("ufs_variance(x)", "ufs_pca(x, 10)", "ufs_socfs(x, 5)", "ufs_mcfs(x, 5)")
)

if (length(arguments) == 3 && arguments[1] == "row") {
  library(ufselect)
  one_row(arguments[2], arguments[3])
} else {
  self <- sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))
  calls <- grepl("(", arguments, fixed = TRUE)
  wanted <- if (any(!calls)) arguments[!calls] else names(rows)
  out <- sub("^--out=", "", grep("^--out=", commandArgs(TRUE), value = TRUE))
  if (!length(out)) out <- file.path(dirname(self), "..", "inst", "benchmarks", "results", "scale.csv")
  header <- "data,call,cpu_s,in_products,start_MB,peak_MB,passes,planted_in_best_200,status"
  lines <- if (file.exists(out)) readLines(out)[-1L] else character()
  for (name in wanted) {
    for (data in if (name == "growth") c("small", "middle", "large") else name) {
      for (call in if (any(calls)) arguments[calls] else rows[[name]]) {
        # More than half an hour of CPU time is a miss whatever comes out.
        row <- paste("ulimit -t 2400; exec", file.path(R.home("bin"), "Rscript"), shQuote(self),
          "row", data, shQuote(call))
        line <- suppressWarnings(system2("sh", c("-c", shQuote(row)), stdout = TRUE, stderr = FALSE))
        line <- utils::tail(grep(paste0("^", data, ","), line, value = TRUE), 1L)
        if (!length(line)) line <- sprintf("%s,\"%s\",NA,NA,NA,NA,NA,NA,failed", data, call)
        cat(line, "\n")
        lines <- c(lines[!startsWith(lines, sprintf("%s,\"%s\",", data, call))], line)
        writeLines(c(header, lines), out)
      }
    }
  }
}
