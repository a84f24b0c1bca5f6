# Peak memory of every method beyond x, as a multiple of x: Rscript tests/dev/memory.R --n=100 --p=20000
# A constant column must change nothing. Fails above --most times x. Each fit in a process of its own
# (VmHWM of /proc/self/status; other systems leave it out). --methods=css takes these only, and --copy sets
# the option ufselect.copy_bytes: no copy of a tall x is made by ufs_css() above it, so that
#   Rscript tests/dev/memory.R --n=500000 --p=60 --methods=css --copy=1e8 --most=0.3
# passes.
source("tests/dev/common.R")
set <- options_of(child = "", methods = "", copy = 256 * 1024^2, n = 100, p = 20000, constant = "no", most = 12)
if (!file.exists("/proc/self/status")) {
  cat("no /proc here: left out, none tried\n")
  finish("memory", 0, 0)
}
peak <- function() as.double(gsub("[^0-9]", "", grep("VmHWM", readLines("/proc/self/status"), value = TRUE))) * 1024
if (nzchar(set$child)) {
  options(ufselect.copy_bytes = set$copy)
  set.seed(1)
  x <- clustered(set$n, set$p)
  if (set$constant == "yes") x[, 5] <- 3
  # Everything that only loading costs is counted before.
  invisible(fit_of(set$child, x[, 1:8], control = list(max_iter = 2)))
  invisible(gc(full = TRUE))
  # Forget the peak so far.
  try(writeLines("5", "/proc/self/clear_refs"), silent = TRUE)
  before <- peak()
  # Without links between samples the paper's top-k has nothing to select from.
  links <- if (set$child == "topk") list(alpha_e = 100)
  invisible(do.call(fit_of, c(list(set$child, x, control = list(max_iter = 5)), links)))
  cat(peak() - before, "\n")
  quit(save = "no")
}
methods <- if (nzchar(set$methods)) strsplit(set$methods, ",")[[1L]] else setdiff(ufs_methods()$method, "random")
# What is freed goes back to the system at once, and R collects early. By itself it collects nothing before there
# are 64 MB of vectors, and the garbage would count as memory that the fit needs.
allocator <- c("MALLOC_MMAP_THRESHOLD_=65536", "MALLOC_TRIM_THRESHOLD_=65536", "R_GC_MEM_GROW=0", "R_VSIZE=1M")
failed <- 0
for (method in methods) {
  # BLFSE takes minutes over more.
  p <- if (method == "blfse") min(set$p, 2000) else set$p
  size <- set$n * p * 8
  times <- vapply(c("no", "yes"), function(constant) {
    out <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c("tests/dev/memory.R", paste0("--child=", method), paste0("--copy=", set$copy),
      paste0("--n=", format(set$n, scientific = FALSE)), paste0("--p=", format(p, scientific = FALSE)), paste0("--constant=", constant)),
      stdout = TRUE, stderr = FALSE, env = allocator))
    if (length(out)) as.double(utils::tail(out, 1)) / size else NA_real_
  }, 0)
  # A fit that ended without a number has not been measured: that is no success.
  # Inf-FS, whose scores BLFSE starts from, keeps products of all pairs of features in up to 1 GiB.
  bad <- anyNA(times) || any(times > set$most + (method %in% c("inffs", "blfse")) * 2^30 / size) || times[2] > times[1] + 1
  failed <- failed + bad
  cat(sprintf("  %-10s %5.1f x, with a constant column %5.1f x%s\n", method, times[1], times[2], if (bad) "  TOO MUCH" else ""))
}
finish("memory", length(methods), failed)
