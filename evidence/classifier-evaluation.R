# What vignettes/articles/classifier-evaluation.Rmd reads: each chunk below is shown there as it stands here.
#   Rscript classifier-evaluation.R [--out=FOLDER] [--only=musk,madelon,penalties,noise,tolerance]
# Writes classifier-<name>.csv.gz (means and standard deviations over repeats); about a quarter of an
# hour of CPU time with reference BLAS. How few repeats and which m the check of results.R asks for
# is said by it: the functions take them as arguments.
library(ufselect)
if (!exists("read_set")) {
  source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))
}

## ---- methods
selectors <- c("laplacian", "spec", "inffs", "sogfs", "udfs")
samplers <- c("ted", "rrss", "alnr")
pipelines <- as.vector(outer(selectors, samplers, paste, sep = "+"))
methods <- c("ALFS-I, norm" = "alfs", "ALFS-I, TED" = "alfs", "ALFS-II, norm" = "alfs", "ALFS-II, TED" = "alfs",
  "ALFS-I pivot, TED" = "alfs", setNames(pipelines, pipelines), ted = "ted", rrss = "rrss", alnr = "alnr",
  "R-CUR" = "cur")
settings <- list(
  "ALFS-I, norm" = list(lambda_rel = 0, select = "norm", select_samples = "norm"),
  "ALFS-I, TED" = list(lambda_rel = 0, select = "norm", select_samples = "ted"),
  "ALFS-II, norm" = list(lambda_rel = 1e-3, select = "norm", select_samples = "norm"),
  "ALFS-II, TED" = list(lambda_rel = 1e-3, select = "norm", select_samples = "ted"),
  "ALFS-I pivot, TED" = list(lambda_rel = 0, select = "pivot", select_samples = "ted"),
  spec = list(type = "phi1"), sogfs = list(gamma = 1e-3), udfs = list(gamma = 1e-3))

## ---- data
data(musk, package = "kernlab")
musk_x <- as.matrix(musk[, 1:166])
musk_y <- musk$Class
set.seed(2003)
madelon <- simulate_madelon(400)

## ---- musk
run_musk <- function(methods, m = c(10, 30, 60, 119), repeats = 3) {
  set.seed(1)
  ufs_compare(musk_x, musk_y, methods, k = c(10, 30, 90), m = m, args = settings[names(settings) %in%
      c(names(methods), methods, unlist(strsplit(methods, "+", fixed = TRUE)))],
    classifiers = c("svm", "full_tree"), repeats = repeats)
}

## ---- madelon
run_madelon <- function(methods, m = c(40, 80, 160), repeats = 3) {
  set.seed(1)
  ufs_compare(madelon$x, madelon$y, methods, k = c(10, 20, 50), m = m, args = settings[names(settings) %in%
      c(names(methods), methods, unlist(strsplit(methods, "+", fixed = TRUE)))],
    classifiers = "full_tree", repeats = repeats)
}

## ---- penalties
shares <- c(.003, .01, .03, .1, .3)
local_shares <- c(1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
pairs <- list(
  "alpha_rel, beta_rel" = expand.grid(alpha_rel = shares, beta_rel = shares),
  "alpha_rel, lambda_rel" = expand.grid(alpha_rel = shares, lambda_rel = local_shares),
  "beta_rel, lambda_rel" = expand.grid(beta_rel = shares, lambda_rel = local_shares))
run_penalties <- function(x, y, grid, repeats = 3) {
  set.seed(1)
  ufs_compare(x, y, "alfs", k = 10, m = 60, classifiers = c("svm", "full_tree"), repeats = repeats,
    baselines = FALSE, args = list(alfs = list(grid = grid, select = "norm", select_samples = "norm")))
}

## ---- noise
run_noise <- function(methods = c("ALFS-I, norm" = "alfs", "ALFS-I, TED" = "alfs", "ALFS-I pivot, TED" = "alfs",
                        "ted", "rrss", "alnr"), m = c(10, 30, 60, 119, 285), repeats = 3) {
  set.seed(1)
  noisy <- add_noise(scale(musk_x), musk_y)
  ufs_compare(noisy$x, noisy$y, methods, k = c(30, 166), m = m, args = settings[names(settings) %in% names(methods)],
    classifiers = c("svm", "full_tree"), repeats = repeats)
}

## ---- tolerance
run_tolerance <- function(x, lambda_rel, tolerance = 10^-(1:6)) {
  do.call(rbind, lapply(tolerance, function(tol) {
    seconds <- system.time(fit <- do.call(ufs_alfs, c(list(x), alfs_settings(list(lambda_rel = lambda_rel), tol = tol,
      max_iter = 2000, warn = FALSE))))
    data.frame(tolerance = tol, iterations = fit$iterations, seconds = seconds[["user.self"]],
      gap = fit$certificate[["gap"]])
  }))
}

## ---- end
all_pairs <- function(repeats = 3) {
  sets <- list(musk = list(musk_x, musk_y), madelon = list(madelon$x, madelon$y))
  do.call(rbind, lapply(names(sets), function(set) do.call(rbind, lapply(names(pairs), function(pair) {
    grid <- pairs[[pair]]
    found <- as.data.frame(run_penalties(sets[[set]][[1L]], sets[[set]][[2L]], grid, repeats), what = "grid")
    found$first <- grid[found$setting, 1L]
    found$second <- grid[found$setting, 2L]
    cbind(set = set, pair = pair, stats::aggregate(accuracy ~ first + second + k + m + classifier, found, mean))
  }))))
}
all_tolerances <- function() {
  halves <- list(musk = musk_x[seq(1, 476, by = 2), ], madelon = madelon$x[seq(1, 400, by = 2), ])
  variants <- c("ALFS-I" = 0, "ALFS-II" = 1e-3)
  do.call(rbind, lapply(names(halves), function(set) do.call(rbind, lapply(names(variants), function(name) {
    cbind(set = set, method = name, run_tolerance(halves[[set]], variants[[name]]))
  }))))
}
of_name <- list(
  musk = function() summary(run_musk(methods))$table,
  madelon = function() summary(run_madelon(methods))$table,
  noise = function() summary(run_noise())$table,
  penalties = all_pairs, tolerance = all_tolerances)

if (!exists("evidence_only_definitions")) {
  out <- option("out", file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])),
    "results"))
  for (name in words(option("only", paste(names(of_name), collapse = ",")))) {
    seconds <- cpu(table <- of_name[[name]]())
    numbers <- vapply(table, is.numeric, NA)
    table[numbers] <- lapply(table[numbers], signif, digits = 4L)
    file <- gzfile(file.path(out, paste0("classifier-", name, ".csv.gz")))
    utils::write.csv(table, file, row.names = FALSE)
    say("%s: CPU %.0f s\n", name, seconds)
  }
}
