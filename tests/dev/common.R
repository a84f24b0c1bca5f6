# Shared by the scripts of this folder: data, a legal call of every method, a table to print.
suppressPackageStartupMessages(library(ufselect))
source("tests/dev/options.R")

clustered <- function(n, p, groups = 3, informative = min(p, 5)) {
  cluster <- rep_len(seq_len(groups), n)
  x <- matrix(stats::rnorm(n * p), n)
  centre <- matrix(stats::rnorm(groups * informative, sd = 3), groups)
  x[, seq_len(informative)] <- x[, seq_len(informative)] + centre[cluster, ]
  dimnames(x) <- list(paste0("s", seq_len(n)), paste0("f", seq_len(p)))
  x
}

registry <- getFromNamespace("registry", "ufselect")

# The arguments a method cannot do without.
needed <- function(method) {
  row <- registry()[[method]]
  given <- list(n_clusters = 3, n_components = 2, k = 4, m = 4)
  out <- given[intersect(names(given), c(getFromNamespace("required_arguments", "ufselect")(row$fit), row$per_k,
    if (method == "topk") "n_clusters"))]
  if (method == "random") out$what <- "both"
  out
}

# Dots in the names: `m = 5` must not be completed to `method`.
fit_of <- function(.method, .x, ..., .seed = 1) {
  set.seed(.seed)
  suppressMessages(suppressWarnings(
    do.call(ufs, utils::modifyList(c(list(x = .x, method = .method), needed(.method)), list(...)))))
}

chosen <- function(fit) {
  list(features = unname(fit$feature_ranking), samples = unname(fit$sample_ranking))
}

# A table tried / survived and the exit status.
finish <- function(title, tried, failed) {
  cat(sprintf("%-14s tried %6d   survived %6d   failed %4d\n", title, tried, tried - failed, failed))
  quit(save = "no", status = as.integer(failed > 0))
}
