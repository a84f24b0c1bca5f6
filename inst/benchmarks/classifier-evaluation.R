# What vignettes/classifier-evaluation.Rmd reads: each chunk below is shown there as it stands here.
#   Rscript classifier-evaluation.R [--out=FOLDER] [--only=musk,madelon,penalties,noise]
# Writes classifier-<name>.csv.gz (means and standard deviations over repeats); about ten CPU minutes with
# reference BLAS.
library(ufselect)
file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(file), "common.R"))
out <- option("out", file.path(dirname(file), "..", "extdata"))
wanted <- words(option("only", "musk,madelon,penalties,noise"))
keep <- function(table, name) {
  numbers <- vapply(table, is.numeric, NA)
  table[numbers] <- lapply(table[numbers], signif, digits = 4L)
  file <- gzfile(file.path(out, paste0("classifier-", name, ".csv.gz")))
  on.exit(close(file))
  utils::write.csv(table, file, row.names = FALSE)
}

## ---- methods
selectors <- c("laplacian", "spec", "inffs", "sogfs", "udfs")
samplers <- c("ted", "rrss", "alnr")
pipelines <- as.vector(outer(selectors, samplers, paste, sep = "+"))
methods <- c("ALFS-I" = "alfs", "ALFS-II" = "alfs", "ALFS-I pivot, TED" = "alfs",
  setNames(pipelines, pipelines), ted = "ted", rrss = "rrss", alnr = "alnr", "R-CUR" = "cur")
settings <- list(
  "ALFS-II" = list(lambda_rel = 1e-3),
  "ALFS-I pivot, TED" = list(select = "pivot", select_samples = "ted"),
  spec = list(type = "phi1"), sogfs = list(gamma = 1e-3), udfs = list(gamma = 1e-3))

## ---- data
data(musk, package = "kernlab")
musk_x <- as.matrix(musk[, 1:166])
musk_y <- musk$Class
set.seed(2003)
madelon <- ufs_simulate_madelon(400)

## ---- musk
run_musk <- function() {
  set.seed(1)
  ufs_compare(musk_x, musk_y, methods, k = c(10, 30, 90), m = c(15, 30, 60, 119), args = settings,
    classifiers = c("svm", "tree"), repeats = 3)
}

## ---- madelon
run_madelon <- function() {
  set.seed(1)
  ufs_compare(madelon$x, madelon$y, methods, k = c(10, 20, 50), m = c(40, 80, 160), args = settings,
    classifiers = c("svm", "tree"), repeats = 3)
}

## ---- penalties
shares <- c(.003, .01, .03, .1, .3)
penalties <- expand.grid(alpha_rel = shares, beta_rel = shares)
run_penalties <- function() {
  set.seed(1)
  ufs_compare(musk_x, musk_y, "alfs", k = c(10, 30), m = 60, classifiers = c("svm", "tree"), repeats = 3,
    args = list(alfs = list(grid = penalties)))
}

## ---- noise
run_noise <- function() {
  set.seed(1)
  noisy <- ufs_add_noise(scale(musk_x), share = .2, sd = 1, y = musk_y)
  ufs_compare(noisy$x, noisy$y, c("ALFS-I" = "alfs", "ALFS-I pivot, TED" = "alfs", "ted", "rrss", "alnr"),
    k = c(30, 166), m = c(15, 30, 60, 119, 285), args = settings["ALFS-I pivot, TED"],
    classifiers = c("svm", "tree"), repeats = 3)
}

## ---- end
if ("musk" %in% wanted) keep(summary(run_musk())$table, "musk")
if ("madelon" %in% wanted) keep(summary(run_madelon())$table, "madelon")
if ("noise" %in% wanted) keep(summary(run_noise())$table, "noise")
if ("penalties" %in% wanted) {
  grid <- as.data.frame(run_penalties(), what = "grid")
  grid <- cbind(grid, penalties[grid$setting, ])
  keep(stats::aggregate(accuracy ~ alpha_rel + beta_rel + k + classifier, grid, mean), "penalties")
}
