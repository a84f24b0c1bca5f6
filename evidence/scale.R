# How far it goes: 100,000 cells x 20,000 genes, held as a sparse matrix and in a file. One process per row. The peak memory (VmHWM
# of /proc/self/status) is set back once the data are loaded and the garbage is collected, so that peak_MB is reached during
# the fit and peak_MB - start_MB is what the fit takes besides the data (Linux; elsewhere both are NA).
#   Rscript scale.R                  everything (some hours); sparse_file: cells as a TENxMatrix
#   Rscript scale.R cells "ufs_pca(x, 20)"   one row
#   --out=FILE                       instead of inst/benchmarks/results/scale.csv
# Printed: CPU seconds, the same as multiples of one product X'T with 5 columns on the same data
# in the same run, memory before the fit and at its peak, passes over a file. The table is written
# row by row: rows measured again replace the old ones.
arguments <- grep("^--", commandArgs(TRUE), invert = TRUE, value = TRUE)
folder <- Sys.getenv("SCALE_DATA", file.path(dirname(tempdir()), "ufselect-scale"))
dir.create(folder, showWarnings = FALSE)

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

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

get_data <- function(name) {
  loadNamespace("Matrix")
  if (name == "sparse_file") {
    file <- file.path(folder, "cells.h5")
    if (!file.exists(file)) HDF5Array::writeTENxMatrix(Matrix::t(get_data("cells")), file, "cells", level = 0L)
    # In a session that has not held the matrix.
    return(DelayedArray::t(HDF5Array::TENxMatrix(file, "cells")))
  }
  file <- file.path(folder, "cells.rds")
  if (!file.exists(file)) saveRDS(make_sparse(100000, 20000, 1e8), file, compress = FALSE)
  readRDS(file)
}

one_row <- function(name, call) {
  x <- get_data(name)
  invisible(gc())
  unit <- if (name == "cells") {
    data <- suppressWarnings(ufselect:::as_ufs_operator(x))
    t <- matrix(stats::rnorm(5 * data$n), ncol = 5)
    cpu(ufselect:::x_cross(data$x, t))
  } else NA
  if (!is.na(unit)) rm(data, t)
  set.seed(1)
  invisible(gc())
  reset_peak()
  before <- resident_mb("VmRSS")
  seconds <- cpu(fit <- suppressWarnings(eval(parse(text = call))))
  highest <- resident_mb("VmHWM")
  passes <- if (!is.null(fit$input$passes)) fit$input$passes else NA
  found <- if (is.null(fit$feature_scores)) NA else mean(utils::head(fit$feature_ranking, 200) <= 200)
  cat(sprintf("%s,\"%s\",%.1f,%.0f,%.0f,%.0f,%s,%.2f,%s\n", name, call, seconds, seconds / unit,
    before, highest, passes, found, if (is.null(fit$status)) "" else fit$status))
}

rows <- list(
  cells = c("ufs_variance(x)", "ufs_pca(x, 20)", "ufs_css(x, k = 100)", "ufs_decoys(x, 'pca', n_components = 4)", "ufs_kmeans_f(x, 5)", "ufs_socfs(x, 10)",
    "ufs_laplacian(x)", "ufs_mcfs(x, 5)"),
  sparse_file = c("ufs_variance(x)", "ufs_pca(x, 20)", "ufs_css(x, k = 100)", "ufs_decoys(x, 'pca', n_components = 4)"))

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
  for (data in wanted) for (call in if (any(calls)) arguments[calls] else rows[[data]]) {
    # More than half an hour of CPU time is a miss whatever comes out.
    row <- paste("ulimit -t 2400; exec", file.path(R.home("bin"), "Rscript"), shQuote(self), "row", data, shQuote(call))
    line <- suppressWarnings(system2("sh", c("-c", shQuote(row)), stdout = TRUE, stderr = FALSE))
    line <- utils::tail(grep(paste0("^", data, ","), line, value = TRUE), 1L)
    if (!length(line)) line <- sprintf("%s,\"%s\",NA,NA,NA,NA,NA,NA,failed", data, call)
    cat(line, "\n")
    lines <- c(lines[!startsWith(lines, sprintf("%s,\"%s\",", data, call))], line)
    writeLines(c(header, lines), out)
  }
}
