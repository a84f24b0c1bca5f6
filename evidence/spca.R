# ufs_spca() beside ufs_jspca() on real sets: k-means on the chosen features against the classes
# (accuracy), with the five baselines, and what an iteration costs.
#   Rscript spca.R --data=FOLDER --sets=lung_discrete,tissue,libras,dermatology,orl
library(ufselect)
file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(file), "..", "inst", "benchmarks", "common.R"))
folder <- option("data", Sys.getenv("UFSELECT_DATA"))
for (set in words(option("sets", "lung_discrete,tissue,libras,dermatology,orl"))) {
  data <- read_set(folder, set)
  n_components <- min(nlevels(data$y), 10L)
  seconds <- cpu(fit <- suppressWarnings(ufs_spca(data$x, n_components)))
  say("\n%s: %d x %d, %d components: %.2f s CPU, %d iterations, %s, kkt %.1e\n", set, nrow(data$x),
    ncol(data$x), n_components, seconds, fit$iterations, fit$status, fit$certificate[["kkt"]])
  set.seed(1)
  settings <- list(spca = list(n_components = n_components), jspca = list(n_components = n_components))
  result <- suppressWarnings(ufs_compare(data$x, data$y, c("spca", "jspca"), two_k(ncol(data$x)),
    mode = "cluster", repeats = 3, args = settings))
  print(result)
}
