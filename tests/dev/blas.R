# The same selections under another BLAS: Rscript tests/dev/blas.R
# Runs every method in child processes, with the BLAS that R found and with OpenBLAS (1 and 2
# threads), preloaded; Debian: libopenblas0-pthread. Compares rankings.
source("tests/dev/common.R")
set <- options_of(child = "", openblas = "")
shapes <- list(c(40, 12), c(20, 80), c(60, 60))
if (nzchar(set$child)) {
  out <- list()
  for (i in seq_along(shapes)) for (method in ufs_methods()$method) {
    set.seed(i)
    x <- clustered(shapes[[i]][1], shapes[[i]][2])
    out[[paste(method, paste(shapes[[i]], collapse = "x"))]] <- chosen(fit_of(method, x))
  }
  saveRDS(list(out = out, blas = extSoftVersion()[["BLAS"]]), set$child)
  quit(save = "no")
}
library_file <- if (nzchar(set$openblas)) set$openblas else
  utils::head(Sys.glob(c("/usr/lib/*/openblas-pthread/libblas.so.3", "/usr/lib/*/openblas-pthread/libopenblas.so.0")), 1)
if (!length(library_file)) {
  cat("no OpenBLAS here (Debian: libopenblas0-pthread): left out, none tried\n")
  finish("blas", 0, 0)
}
lapack <- Sys.glob("/usr/lib/*/openblas-pthread/liblapack.so.3")
preload <- paste0("LD_PRELOAD=", paste(c(library_file, lapack), collapse = ":"))
run <- function(env) {
  file <- tempfile(fileext = ".rds")
  system2("env", c(env, shQuote(file.path(R.home("bin"), "Rscript")), "tests/dev/blas.R", paste0("--child=", file)))
  readRDS(file)
}
base <- run(character())
tried <- failed <- 0
for (threads in 1:2) {
  other <- run(c(preload, paste0("OPENBLAS_NUM_THREADS=", threads)))
  cat("  ", basename(dirname(base$blas)), "against", other$blas, threads, "thread(s)\n")
  for (name in names(base$out)) {
    tried <- tried + 1
    if (!identical(base$out[[name]], other$out[[name]])) {
      failed <- failed + 1
      cat("  ", name, "differs\n")
    }
  }
}
finish("blas", tried, failed)
