# How large must a file be before two workers of BiocParallel make a fit faster? Seconds on the clock of
# the same fit of an HDF5 file without workers and with SnowParam(2), their start and end included.
#   Rscript evidence/workers.R [--rows=2000,20000,100000] [--out=workers.csv]
# For each number of rows two files of 500 columns in chunks of 200 rows, one compressed and one not.
# The machine must have two idle processors.
library(ufselect)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L]))
source(file.path(here, "common.R"))

rows <- as.integer(words(option("rows", "2000,20000,100000")))
fits <- list("ufs_variance(x)" = function(x) ufs_variance(x), "ufs_pca(x, 10)" = function(x) ufs_pca(x, 10),
  "ufs_mcfs(x, 5)" = function(x) ufs_mcfs(x, 5))

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
set.seed(1)
for (n in rows) for (level in c(0L, 6L)) {
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
    all <- rbind(all, data.frame(n, p = 500L, MB = round(n * 500 * 8 / 2^20), compressed = level > 0L, call,
      passes = fit$input$passes, alone = round(alone, 2L), two_workers = round(together, 2L),
      version = as.character(utils::packageVersion("ufselect"))))
    print(all[nrow(all), ], row.names = FALSE)
    if (!is.null(option("out"))) utils::write.csv(all, option("out"), row.names = FALSE)
  }
}
