# When do two workers pay? Seconds on the clock of the same call without workers and with two. The machine must
# have two idle processors. BLAS has one thread.
#   Rscript evidence/workers.R [--rows=2000,20000,100000] [--out=workers.csv]
# Fits of an HDF5 file with SnowParam(2) of BiocParallel, their start and end included. For each number of rows
# two files of 500 columns in chunks of 200 rows, one compressed and one not.
#   Rscript evidence/workers.R fits [--out=workers-fits.csv]
# Many fits of a table in memory with two sessions of package future, which have been started. `rule` is what
# the package does, `always` all tasks on the workers, whatever they take. The quicker of two runs counts.
library(ufselect)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L]))
source(file.path(here, "common.R"))

write_file <- function(n, level) {
  file <- tempfile(fileext = ".h5")
  sink <- HDF5Array::HDF5RealizationSink(c(n, 500L), type = "double", filepath = file, name = "x",
    chunkdim = c(200L, 500L), level = level)
  grid <- DelayedArray::RegularArrayGrid(c(n, 500L), c(min(n, 2000L), 500L))
  for (b in seq_along(grid)) {
    lines <- nrow(grid[[b]])
    block <- matrix(round(stats::rnorm(lines * 500L), 2L), lines)
    block[, 1:50] <- block[, 1:50] + 2 * outer(rep_len(1:5, lines), rep_len(1:5, 50), "==")
    DelayedArray::write_block(sink, grid[[b]], block)
  }
  DelayedArray::close(sink)
  HDF5Array::HDF5Array(file, "x")
}

all <- NULL
add_row <- function(...) {
  all <<- rbind(all, data.frame(..., version = as.character(utils::packageVersion("ufselect"))))
  print(all[nrow(all), ], row.names = FALSE)
  if (!is.null(option("out"))) utils::write.csv(all, option("out"), row.names = FALSE)
}

files_part <- function() {
  fits <- list("ufs_variance(x)" = function(x) ufs_variance(x), "ufs_pca(x, 10)" = function(x) ufs_pca(x, 10),
    "ufs_mcfs(x, 5)" = function(x) ufs_mcfs(x, 5))
  set.seed(1)
  for (n in as.integer(words(option("rows", "2000,20000,100000")))) for (level in c(0L, 6L)) {
    x <- write_file(n, level)
    for (call in names(fits)) {
      if (call == "ufs_mcfs(x, 5)" && n > 2000L) next
      fit <- NULL
      clock <- function(data) {
        gc()
        system.time(fit <<- suppressMessages(suppressWarnings(fits[[call]](data))))[["elapsed"]]
      }
      alone <- clock(ufs_data(x))
      together <- clock(ufs_data(x, BPPARAM = BiocParallel::SnowParam(2)))
      add_row(n, p = 500L, MB = round(n * 500 * 8 / 2^20), compressed = level > 0L, call,
        passes = fit$input$passes, alone = round(alone, 2L), two_workers = round(together, 2L))
    }
  }
}

fits_part <- function() {
  home <- asNamespace("ufselect")
  rule <- get("workers_pay", home)
  put <- function(value) {
    unlockBinding("workers_pay", home)
    assign("workers_pay", value, home)
  }
  calls <- list(
    list(1000, 50, quote(ufs_stability(x, "socfs", n_clusters = 5, k = 10, n_resamples = 10))),
    list(300, 500, quote(ufs_stability(x, "css", k = 10, n_resamples = 50))),
    list(2000, 100, quote(ufs_stability(x, "socfs", n_clusters = 5, k = 10, n_resamples = 20))),
    list(1000, 300, quote(ufs_stability(x, "laplacian", k = 10, n_resamples = 100))),
    list(2000, 200, quote(ufs_stability(x, "socfs", n_clusters = 5, k = 10, n_resamples = 50))),
    list(4000, 200, quote(ufs_stability(x, "mcfs", n_clusters = 5, k = 10, n_resamples = 50))),
    list(500, 100, quote(ufs_grid(x, "ndfs", list(alpha = c(.1, 1, 10), beta = c(.1, 1, 10)), n_clusters = 5))),
    list(1000, 200, quote(ufs_grid(x, "ndfs", list(alpha = c(.1, 1, 10), beta = c(.1, 1, 10)), n_clusters = 5))),
    list(500, 200, quote(ufs_consensus(x, 5, k = 10))),
    list(2000, 300, quote(ufs_consensus(x, 5, k = 10))),
    list(5000, 600, quote(ufs_consensus(x, 5, k = 10))),
    list(300, 100, quote(ufs_compare(x, rep_len(1:5, 300), "css", k = c(5, 10), classifiers = "tree"))),
    list(1000, 200, quote(ufs_compare(x, rep_len(1:5, 1000), "css", k = c(5, 10), classifiers = "tree"))))
  for (one in calls) {
    x <- clustered(one[[1L]], one[[2L]])
    seconds <- function() {
      min(replicate(2, {
        set.seed(1)
        gc()
        system.time(suppressMessages(suppressWarnings(eval(one[[3L]], list(x = x)))))[["elapsed"]]
      }))
    }
    alone <- seconds()
    future::plan("multisession", workers = 2)
    by_rule <- seconds()
    put(function(workers, ...) workers > 0)
    always <- seconds()
    put(rule)
    future::plan("sequential")
    add_row(n = one[[1L]], p = one[[2L]], call = paste(deparse(one[[3L]], 500L), collapse = ""),
      alone = round(alone, 2L), rule = round(by_rule, 2L), always = round(always, 2L))
  }
}

if (identical(commandArgs(TRUE)[1L], "fits")) fits_part() else files_part()
