# Missing values: moments of the pairs that are there, beside rows left out, medians and neighbours.
# Columns are chosen by ufs_css() from a table of which a share of the values is missing, and judged
# by how much of the complete table they capture.
#
#   Rscript evidence/pairwise.R --data=<folder of sets> [--sets=a,b] [--draws=5] [--out=pairwise.csv]
#
# Sets are cut to 400 rows and 100 columns. Values are missing completely at random, or (gaps = "high")
# three times as often above the median of their column as below it. k: 10 % of the columns, 3 at
# least. captured: per cent of the variance of the standardised columns of the complete table that the
# chosen ones rebuild, the mean of the draws; complete: what columns chosen from the complete table
# capture; random: what k columns at random do; failed: draws in which rows or columns left out left
# nothing to choose from, where omit counts as random.
library(ufselect)
file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(file), "common.R"))

ten <- "wine,vehicle,segment,wdbc,dermatology,ionosphere,sonar,libras,musk1,tissue"
ways <- list(
  omit = function(x) ufs_data(x, na = "omit"),
  median = function(x) ufs_data(x, na = "median"),
  knn = function(x) ufs_data(x, na = "knn"),
  pairwise = function(x) ufs_moments(x, na = "pairwise"))

ways_named <- names(ways)

cut_set <- function(folder, set) {
  x <- read_set(folder, set)$x
  x <- x[sort(sample.int(nrow(x), min(400L, nrow(x)))), ]
  x <- x[, apply(x, 2L, stats::sd) > 0]
  x <- x[, sort(sample.int(ncol(x), min(100L, ncol(x))))]
  `dimnames<-`(x, list(NULL, paste0("v", seq_len(ncol(x)))))
}

with_gaps <- function(x, share, gaps) {
  odds <- if (gaps == "random") rep(1, length(x)) else
    ifelse(x > rep(apply(x, 2L, stats::median), each = nrow(x)), 3, 1)
  replace(x, sample.int(length(x), round(share * length(x)), prob = odds), NA)
}

captured <- function(names, x) 100 * ufs_captured(names, x)$captured

measure <- function(folder, set, draws) {
  set.seed(1L)
  x <- cut_set(folder, set)
  k <- max(3L, round(.1 * ncol(x)))
  best <- captured(silently(selected_features(ufs_css(x, k = k))), x)
  random <- mean(vapply(1:20, function(i) captured(sample(colnames(x), k), x), 0))
  rows <- expand.grid(way = ways_named, share = c(.05, .2, .4), gaps = c("random", "high"), stringsAsFactors = FALSE)
  found <- array(NA_real_, c(draws, nrow(rows)))
  for (draw in seq_len(draws)) for (gaps in c("random", "high")) for (share in unique(rows$share)) {
    set.seed(draw)
    holed <- with_gaps(x, share, gaps)
    for (i in which(rows$share == share & rows$gaps == gaps)) {
      chosen <- tryCatch(silently(selected_features(ufs_css(ways[[rows$way[i]]](holed), k = k), k)),
        ufs_error = function(e) NULL)
      if (length(chosen)) found[draw, i] <- captured(chosen, x)
    }
  }
  value <- apply(found, 2L, function(v) mean(ifelse(is.na(v), random, v)))
  cells <- rows$way == ways_named[1L]
  data.frame(set = set, n = nrow(x), p = ncol(x), k = k, draws = draws, rows[cells, c("share", "gaps")],
    round(vapply(ways_named, function(way) value[rows$way == way], value[cells]), 2L), complete = round(best, 2L),
    random = round(random, 2L), failed = colSums(is.na(found))[cells], row.names = NULL)
}

all <- do.call(rbind, lapply(words(option("sets", ten)), function(set) {
  measure(option("data", Sys.getenv("UFSELECT_DATA")), set, as.integer(option("draws", "5")))
}))
if (is.null(option("out"))) print(all) else write_table(all, option("out"))
