# Decoys beside jackstraw (Chung and Storey, 2015, doi 10.1093/bioinformatics/btu674; package jackstraw), which
# tests whether a variable is related to the first principal components. Simulated: three components, loadings
# on a part of the columns with strengths drawn from 0.2 to 1, noise of sd 1; a column is true if it has a
# loading. jackstraw_pca() at its defaults, with its p-values adjusted by Benjamini and Hochberg at .05;
# ufs_decoys("pca") with share .05, plain and conservative: its k best columns. Both know that there are three.
#
#   Rscript jackstraw.R [--seeds=5] [--out=jackstraw.csv]
#
# For each: columns chosen, the share of them that is noise, the share of the true ones found, CPU seconds.
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

simulated <- function(n, p, true, seed) {
  set.seed(seed)
  loading <- matrix(0, 3, p)
  at <- sort(sample.int(p, true))
  strength <- stats::runif(true, .2, 1)
  direction <- matrix(stats::rnorm(3 * true), 3)
  loading[, at] <- sweep(direction, 2L, strength / sqrt(colSums(direction^2)), "*")
  x <- matrix(stats::rnorm(n * 3), n) %*% loading + matrix(stats::rnorm(n * p), n)
  colnames(x) <- paste0("v", seq_len(p))
  list(x = x, true = seq_len(p) %in% at)
}
choose <- list(
  jackstraw = function(x) {
    if (!requireNamespace("jackstraw", quietly = TRUE)) stop("package jackstraw is not installed")
    found <- jackstraw::jackstraw_pca(t(x), r = 3, verbose = FALSE)
    which(stats::p.adjust(found$p.value, "BH") <= .05)
  },
  decoys = function(x) {
    k <- quiet_decoys(x)$k[[1L]]
    if (k) selected_features(ufs_pca(x, 3), k, as = "index") else integer()
  },
  "decoys, conservative" = function(x) {
    k <- quiet_decoys(x, conservative = TRUE)$k[[1L]]
    if (k) selected_features(ufs_pca(x, 3), k, as = "index") else integer()
  })
quiet_decoys <- function(x, ...) suppressMessages(suppressWarnings(ufs_decoys(x, "pca", n_components = 3L, share = .05, ...)))

sizes <- list(c(60, 500, 50), c(100, 1000, 200), c(200, 2000, 100))
seeds <- as.integer(option("seeds", "5"))
all <- NULL
for (size in sizes) for (seed in seq_len(seeds)) {
  data <- simulated(size[1L], size[2L], size[3L], seed)
  for (how in names(choose)) {
    set.seed(seed)
    seconds <- cpu(picked <- choose[[how]](data$x))
    all <- rbind(all, data.frame(n = size[1L], p = size[2L], true = size[3L], seed, how, chosen = length(picked),
      noise = if (length(picked)) round(mean(!data$true[picked]), 4) else 0,
      found = round(sum(data$true[picked]) / sum(data$true), 4), seconds = round(seconds, 3),
      version = if (how == "jackstraw") format(utils::packageVersion("jackstraw")) else format(utils::packageVersion("ufselect"))))
  }
}
out <- option("out", "")
if (nzchar(out)) utils::write.csv(all, out, row.names = FALSE)
print(stats::aggregate(cbind(chosen, noise, found, seconds) ~ how + n + p, all, mean), digits = 2)
