# Our columns for FSEVAL, the public comparison of unsupervised feature selectors
# (github.com/mrajabinasab/FSEVAL), and a table beside its own.
#   Rscript fseval.R --data=FOLDER [--out=file.csv] [--columns=folder] [--runs=10] [--methods=css,...]
# --out: the accuracies at the three shares that results/fseval-published.csv has, one row per method and
# set. --columns: <method>_CLSACC_10Percent.csv and <method>_NMI_10Percent.csv in its format, one row per
# set, one column per share of the features (0.005 to 0.1). k = ceiling(share * p). The protocol is theirs: k-means with the true number of classes on the chosen columns as they are (not
# standardised), one k-means++ start, the mean of 10 runs; accuracy after the best matching.
# Seven of its 23 sets are in our data folder. Their numbers in results/fseval-published.csv are
# from dashboard/resources/*_CLSACC_10Percent.csv at commit e1d3f52, at three of the shares.
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
wanted <- words(option("sets", paste(names(sets), collapse = ",")))

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

# k-means++ by hand: stats::kmeans() starts from rows drawn uniformly.
plus_plus <- function(x, c) {
  at <- sample.int(nrow(x), 1L)
  near <- colSums((t(x) - x[at, ])^2)
  for (i in seq_len(c - 1L)) {
    at <- c(at, sample.int(nrow(x), 1L, prob = if (sum(near) > 0) near else NULL))
    near <- pmin(near, colSums((t(x) - x[at[i + 1L], ])^2))
  }
  at
}
judge <- function(x, y) {
  if (nrow(unique(x)) <= nlevels(y)) return(c(accuracy = NA, nmi = NA))
  rowMeans(replicate(runs, {
    start <- x[plus_plus(x, nlevels(y)), , drop = FALSE]
    cluster <- tryCatch(suppressWarnings(stats::kmeans(x, start, iter.max = 300L, algorithm = "Lloyd"))$cluster,
      error = function(e) suppressWarnings(stats::kmeans(x, nlevels(y), iter.max = 300L))$cluster)
    ufs_cluster_metrics(cluster, y)[c("accuracy", "nmi")]
  }))
}

found <- list()
for (name in wanted) {
  data <- read_set(folder, sets[[name]])
  p <- ncol(data$x)
  k <- pmax(1, ceiling(round(shares * p, 9L)))
  used <- cpu(for (method in names(rankers)) {
    set.seed(1)
    fit <- suppressWarnings(suppressMessages(rankers[[method]](data$x, nlevels(data$y), as.integer(max(k)))))
    value <- vapply(k, function(size) {
      judge(data$x[, suppressMessages(selected_features(fit, size, as = "index")), drop = FALSE], data$y)
    }, numeric(2))
    found[[paste(method, name)]] <- list(method = method, set = name, value = value)
  })
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
  table <- ours[order(ours$method, ours$Dataset), c("method", "Dataset", common)]
  table[common] <- round(table[common], 4L)
  utils::write.csv(stats::setNames(table, c("method", "set", common)), option("out"), row.names = FALSE)
}
all <- rbind(data.frame(method = ours$method, set = ours$Dataset, mean = rowMeans(ours[common])),
  data.frame(method = paste(published$method, "(theirs)"), set = published$set, mean = rowMeans(published[common])))
all <- all[all$set %in% wanted, ]
wide <- tapply(100 * all$mean, list(all$method, all$set), mean)
wide <- cbind(wide, mean = rowMeans(wide))
cat("\nClustering accuracy, %, mean over the shares", paste(common, collapse = ", "), "\n")
print(round(wide[order(-wide[, "mean"]), ], 1L))
