# Copies of x: for every method the number of vectors at least 90 % as large as x that are
# allocated (Rprofmem counts R's and, through R_alloc, those of the C code), and the peak of
# resident memory above the start of the fit as a multiple of x, with and without a constant
# column. Goal: at most 2 for methods that only read x, 4 for the others, and the same with a
# constant column. Methods that are n x n by nature are measured where n^2 is small beside x.
#
#   Rscript memory.R [--n=100] [--p=20000] [--methods=socfs,jspca]
#
# Each fit runs in its own process: a peak never falls.

this <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
here <- dirname(normalizePath(this))
source(file.path(here, "common.R"))
suppressMessages(library(ufselect))

arguments <- function(method) {
  needed <- formals(get(paste0("ufs_", method), asNamespace("ufselect")))
  needed <- names(needed)[vapply(needed, function(a) is.name(a) && !nzchar(a), NA)]
  given <- list(n_clusters = 3, n_components = 3, k = 20, m = 10)
  out <- given[intersect(names(given), c(needed, ufselect:::registry()[[method]]$per_k))]
  if (method == "topk") out$n_clusters <- 3
  few <- c("alfs", "ndfs", "udfs", "sogfs", "rsr", "rrss", "alnr", "jspca", "socfs")
  if (method %in% few) out$control <- ufs_control(max_iter = 5)
  if (method == "blfse") out$n_base <- 3
  out
}

one <- function(method, n, p, constant) {
  set.seed(1)
  x <- matrix(rnorm(n * p), n) + rnorm(n)
  if (constant) x[, 5] <- 1
  run <- function() suppressMessages(suppressWarnings(do.call(ufs,
    c(list(x = x, method = method), arguments(method)))))
  invisible(gc())
  before <- resident_mb("VmRSS")
  reset_peak()
  run()
  peak <- (peak_mb() - before) / (8 * length(x) / 2^20)
  file <- tempfile()
  utils::Rprofmem(file, threshold = .9 * 8 * length(x))
  run()
  utils::Rprofmem(NULL)
  copies <- sum(grepl("^[0-9]+ ?:", readLines(file)))
  say("%-10s constant %-5s  copies %2d  peak %5.1f x\n", method, constant, copies, peak)
}

n <- as.integer(option("n", "100"))
p <- as.integer(option("p", "20000"))
if (!is.null(option("one"))) {
  one(option("one"), n, p, option("constant") == "TRUE")
} else {
  methods <- words(option("methods", paste(ufs_methods()$method, collapse = ",")))
  say("x: %d x %d, %.1f MB\n", n, p, 8 * n * p / 2^20)
  for (method in methods) {
    for (constant in c(FALSE, TRUE)) {
      out <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"),
        c(shQuote(this), paste0("--one=", method), paste0("--constant=", constant),
          paste0("--n=", n), paste0("--p=", p)), stdout = TRUE, stderr = TRUE, timeout = 120))
      line <- grep("copies", out, value = TRUE)
      cat(if (length(line)) line else paste(method, "failed:", utils::tail(out, 1L)), "\n", sep = "")
    }
  }
}
