# Our columns for FSEVAL, the public comparison of unsupervised feature selectors
# (github.com/mrajabinasab/FSEVAL), and a table beside its own.
#   Rscript fseval.R --data=FOLDER [--mats=FOLDER] [--out=file.csv] [--columns=folder] [--runs=10]
#     [--methods=css,...] [--sets=COIL20,...]
# --out: the accuracies at the three shares that results/fseval-published.csv has, one row per method and
# set. --columns: <method>_CLSACC_10Percent.csv and <method>_NMI_10Percent.csv in its format, one row per
# set, one column per share of the features (0.005 to 0.1).
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
columns <- option("columns")
published <- utils::read.csv(file.path(here, "..", "inst", "benchmarks", "results", "fseval-published.csv"), check.names = FALSE)
shares <- if (is.null(columns)) as.numeric(grep("^0[.]", names(published), value = TRUE)) else
  seq(0.005, 0.1, by = 0.005)
labels <- vapply(shares, format, "")
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
  if (nrow(unique(x)) <= nlevels(y)) return(c(accuracy = NA, nmi = NA))
  rowMeans(replicate(runs, {
    start <- x[plus_plus(x, nlevels(y)), , drop = FALSE]
    cluster <- tryCatch(suppressWarnings(stats::kmeans(x, start, iter.max = 300L,
      algorithm = "Lloyd"))$cluster,
      error = function(e) suppressWarnings(stats::kmeans(x, nlevels(y), iter.max = 300L))$cluster)
    ufs_cluster_metrics(cluster, y)[c("accuracy", "nmi")]
  }))
}
# Accuracy and mutual information (rows) at each number of features. Random choice is drawn ten times, with
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
    }, numeric(2))
  })
  Reduce(`+`, draws) / length(draws)
}

# Finished parts are kept beside the table until it is written: a run that was killed goes on from there.
found <- list()
absent <- character()
part_of <- function(name) if (!is.null(option("out"))) paste0(option("out"), ".", name, ".rds") else ""
for (name in wanted) {
  if (file.exists(part_of(name))) {
    found <- c(found, readRDS(part_of(name)))
    next
  }
  data <- fetch_set(name)
  if (is.null(data)) {
    absent <- c(absent, name)
    next
  }
  k <- pmax(1, ceiling(round(shares * ncol(data$x), 9L)))
  of_set <- list()
  used <- cpu(for (method in names(rankers)) {
    of_set[[paste(method, name)]] <- list(method = method, set = name, n = nrow(data$x),
      p = ncol(data$x), classes = nlevels(data$y), source = data$source,
      value = value_of(method, data, k))
  })
  if (nzchar(part_of(name))) saveRDS(of_set, part_of(name))
  found <- c(found, of_set)
  cat(name, "CPU", round(used), "s\n")
}
table_of <- function(row) {
  rows <- lapply(found, function(one) data.frame(Dataset = one$set, method = one$method,
    t(stats::setNames(one$value[row, ], labels)), check.names = FALSE))
  do.call(rbind, rows)
}
if (!is.null(columns)) for (metric in c(CLSACC = 1L, NMI = 2L)) {
  dir.create(columns, showWarnings = FALSE, recursive = TRUE)
  table <- table_of(metric)
  for (method in names(rankers)) {
    part <- table[table$method == method, names(table) != "method"]
    part[-1L] <- lapply(part[-1L], function(v) sprintf("%.8f", v))
    utils::write.csv(part, file.path(columns, paste0(method, "_", c("CLSACC", "NMI")[metric], "_10Percent.csv")),
      row.names = FALSE, quote = FALSE)
  }
}

ours <- table_of(1L)
common <- grep("^0[.]", names(published), value = TRUE)
if (!is.null(option("out"))) {
  about <- c("n", "p", "classes", "source")
  rows <- lapply(found, function(one) data.frame(method = one$method, set = one$set, one[about]))
  table <- cbind(do.call(rbind, rows), round(ours[common], 4L))
  if (length(absent)) {
    gone <- table[rep(NA_integer_, length(absent)), ]
    gone$method <- "none"
    gone$set <- absent
    gone$source <- paste("not at hand:", mats[absent])
    table <- rbind(table, gone)
  }
  table <- table[order(table$method, table$set), ]
  utils::write.csv(table, option("out"), row.names = FALSE)
  unlink(vapply(wanted, part_of, ""))
}
all <- rbind(data.frame(method = ours$method, set = ours$Dataset, mean = rowMeans(ours[common])),
  data.frame(method = paste(published$method, "(theirs)"), set = published$set, mean = rowMeans(published[common])))
all <- all[all$set %in% ours$Dataset, ]
wide <- tapply(100 * all$mean, list(all$method, all$set), mean)
wide <- cbind(wide, mean = rowMeans(wide))
cat("\nClustering accuracy, %, mean over the shares", paste(common, collapse = ", "), "\n")
print(round(wide[order(-wide[, "mean"]), ], 1L))
