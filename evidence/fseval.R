# Our columns for FSEVAL, the public comparison of unsupervised feature selectors
# (github.com/mrajabinasab/FSEVAL), and a table beside its own.
#   Rscript fseval.R --data=FOLDER [--mats=FOLDER] [--out=file.csv] [--runs=10]
#     [--methods=css,...] [--sets=COIL20,...]
# --out: the accuracies at the three shares that results/fseval-published.csv has, one row per method and set.
#
# k = ceiling(share * p). The protocol is theirs: k-means with the true number of classes on the chosen
# columns as they are (not standardised), one start by greedy k-means++ as in scikit-learn, the mean of
# 10 runs; accuracy after the best matching; random choice is the mean of 10 draws (4 runs each).
#
# Its sets are files of skfeature/data in github.com/jundongl/scikit-feature. Some are in our data
# folder; --mats is a folder with the others (read by package R.matlab). A set whose file is in neither
# has one row that says so. No data are kept with the table. Their numbers in
# results/fseval-published.csv are from dashboard/resources/*_CLSACC_10Percent.csv at commit e1d3f52,
# at three of the shares; Random there is the mean of its ten draws.
library(ufselect)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L]))
source(file.path(here, "common.R"))

folder <- option("data", Sys.getenv("UFSELECT_DATA"))
published <- utils::read.csv(file.path(here, "..", "inst", "benchmarks", "results", "fseval-published.csv"), check.names = FALSE)
labels <- grep("^0[.]", names(published), value = TRUE)
shares <- as.numeric(labels)
runs <- as.integer(option("runs", "10"))
sets <- c(COIL20 = "coil20", Isolet = "isolet", ORL = "orl", TOX_171 = "tox171",
  lung_discrete = "lung_discrete", madelon = "madelon", warpPIE10P = "warpPIE10P")
others <- unique(published$set[!published$set %in% names(sets)])
mats <- stats::setNames(paste0(chartr("_", "-", others), ".mat"), others)
wanted <- words(option("sets", paste(c(others, names(sets)), collapse = ",")))

# A set with where it comes from, or NULL where its file is not at hand.
fetch_set <- function(name) {
  if (name %in% names(sets)) return(c(read_set(folder, sets[[name]]), source = "the data folder"))
  file <- file.path(option("mats", ""), mats[[name]])
  if (!file.exists(file)) return(NULL)
  data <- R.matlab::readMat(file)
  list(x = data$X, y = factor(data$Y), source = paste0("scikit-feature, ", mats[[name]]))
}

rankers <- list(
  css = function(x, c, k) ufs_css(x, k = min(k, nrow(x) - 1L)),
  mcfs = function(x, c, k) ufs_mcfs(x, c),
  laplacian = function(x, c, k) ufs_laplacian(x),
  `laplacian+diversify` = function(x, c, k) ufs_diversify(ufs_laplacian(x), x, k),
  pca = function(x, c, k) ufs_pca(x, c),
  consensus = function(x, c, k) ufs_consensus(x, c, k = k),
  random = function(x, c, k) ufs_random(x)
)
rankers <- rankers[words(option("methods", paste(names(rankers), collapse = ",")))]

# k-means++ by hand: stats::kmeans() starts from rows drawn uniformly. Of some candidates the one that
# leaves the smallest sum of squares is taken.
plus_plus <- function(x, c) {
  norms <- rowSums(x^2)
  squares <- function(i) pmax(norms + rep(norms[i], each = nrow(x)) -
    2 * tcrossprod(x, x[i, , drop = FALSE]), 0)
  at <- sample.int(nrow(x), 1L)
  near <- as.vector(squares(at))
  for (i in seq_len(c - 1L)) {
    tried <- sample.int(nrow(x), 2L + floor(log(c)), TRUE, if (sum(near) > 0) near)
    left <- pmin(squares(tried), near)
    best <- which.min(colSums(left))
    at <- c(at, tried[best])
    near <- left[, best]
  }
  at
}
judge <- function(x, y, runs) {
  if (nrow(unique(x)) <= nlevels(y)) return(NA_real_)
  mean(replicate(runs, {
    start <- x[plus_plus(x, nlevels(y)), , drop = FALSE]
    cluster <- tryCatch(suppressWarnings(stats::kmeans(x, start, iter.max = 300L,
      algorithm = "Lloyd"))$cluster,
      error = function(e) suppressWarnings(stats::kmeans(x, nlevels(y), iter.max = 300L))$cluster)
    ufs_cluster_metrics(cluster, y)[["accuracy"]]
  }))
}
# Accuracy at each number of features. Random choice is drawn ten times, with
# fewer runs of k-means for each.
value_of <- function(method, data, k) {
  chance <- method == "random"
  draws <- lapply(seq_len(if (chance) 10L else 1L), function(draw) {
    set.seed(draw)
    fit <- suppressWarnings(suppressMessages(
      rankers[[method]](data$x, nlevels(data$y), as.integer(max(k)))))
    vapply(k, function(size) {
      chosen <- suppressMessages(selected_features(fit, size, as = "index"))
      judge(data$x[, chosen, drop = FALSE], data$y, if (chance) ceiling(runs / 3) else runs)
    }, 0)
  })
  Reduce(`+`, draws) / length(draws)
}

rows <- lapply(wanted, function(name) {
  data <- fetch_set(name)
  if (is.null(data)) {
    gone <- data.frame(method = "none", set = name, n = NA, p = NA, classes = NA, source = paste("not at hand:", mats[[name]]))
    return(cbind(gone, t(stats::setNames(rep(NA_real_, length(labels)), labels))))
  }
  k <- pmax(1, ceiling(round(shares * ncol(data$x), 9L)))
  say("%s\n", name)
  do.call(rbind, lapply(names(rankers), function(method) {
    data.frame(method, set = name, n = nrow(data$x), p = ncol(data$x), classes = nlevels(data$y), source = data$source,
      t(stats::setNames(round(value_of(method, data, k), 4L), labels)), check.names = FALSE)
  }))
})
table <- do.call(rbind, rows)
table <- table[order(table$method, table$set), ]
if (is.null(option("out"))) print(table) else utils::write.csv(table, option("out"), row.names = FALSE)
