# How time grows: exponents of CPU time in p (100 rows) and in n (50 columns), by a line through the
# logarithms of the last three sizes, for the whole fit and per iteration; and the peak of resident
# memory above the start, as a multiple of x, at the largest size. Sizes double until a fit takes a
# second, three times at least. Goal: 1.1 in p for p >> n, and 1.1 in n for n >> p but for methods
# that are n x n by nature.
#
#   Rscript scaling.R [--methods=socfs,pca] [--seconds=20] [--out=file.csv]
library(ufselect)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(script), "common.R"))

# They hold or walk through all pairs of samples: a graph, a kernel, a representation of every
# sample by every other.
by_nature <- c("topk", "blfse", "laplacian", "spec", "mcfs", "udfs", "sogfs", "ndfs",
  "consensus", "alnr", "facility", "ted", "rrss")
largest <- c(n = 64000L, p = 80000L)
smallest <- c(n = 500L, p = 1250L)

one <- function(method, along, seconds) {
  size <- smallest[[along]]
  seen <- NULL
  repeat {
    x <- if (along == "p") clustered(100L, size) else clustered(size, 50L)
    invisible(gc())
    reset_peak()
    before <- resident_mb("VmRSS")
    fit <- NULL
    used <- within_time(cpu_of_one(function() fit <<- fit_once(method, x), enough = .1), seconds)
    if (is.null(used)) break
    steps <- max(1, fit$iterations)
    seen <- rbind(seen, data.frame(size, used, each = used / steps, steps,
      memory = (resident_mb("VmHWM") - before) / (8 * length(x) / 2^20)))
    if ((used > 1 && nrow(seen) >= 3L) || size >= largest[[along]]) break
    size <- 2L * size
  }
  if (is.null(seen)) return()
  last <- utils::tail(seen, 3L)
  slope <- function(y) {
    if (nrow(last) < 2L) return(NA)
    stats::coef(stats::lm(log(y) ~ log(last$size)))[[2L]]
  }
  end <- last[nrow(last), ]
  print_row(method, along, along == "n" && method %in% by_nature, last$size[1L], end$size,
    signif(end$used, 3), round(slope(last$used), 2), round(slope(last$each), 2), end$steps,
    round(end$memory, 1), blas_name())
}

if (!is.null(option("method"))) {
  one(option("method"), option("along"), as.numeric(option("seconds")))
} else {
  methods <- wanted_methods()
  jobs <- expand.grid(along = c("p", "n"), method = methods, stringsAsFactors = FALSE)
  # glibc: what is freed goes back at once, or the next fit would find it and look thrifty.
  table <- run_jobs(jobs, as.numeric(option("seconds", "20")), "MALLOC_MMAP_THRESHOLD_=131072")
  names(table) <- c("method", "along", "n_by_n", "from", "to", "cpu_seconds", "exponent",
    "exponent_per_iteration", "iterations", "peak_in_x", "blas")
  if (!is.null(option("out"))) write.csv(table, option("out"), row.names = FALSE)
}
