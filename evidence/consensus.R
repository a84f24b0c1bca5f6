# k-means on the columns that ufs_consensus() chooses, on real sets as they are and with ten
# permuted copies of each of up to 100 columns, and how many of the chosen are real there; beside all
# columns and random ones. Sets are cut to 400 rows and 1,000 columns, another cut for each seed.
#
#   Rscript evidence/consensus.R --data=<folder of sets> [--sets=a,b] [--seeds=1,2,3]
#     [--out=consensus.csv.gz]
#   Rscript evidence/consensus.R --show --out=consensus.csv.gz
#
# What --out has is not measured again. `pool = 10 k` is what the default was before there were decoys.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
})
library(ufselect)

cut_set <- function(folder, set, noise) {
  data <- read_set(folder, set)
  rows <- sort(sample.int(nrow(data$x), min(400L, nrow(data$x))))
  x <- data$x[rows, ]
  x <- x[, apply(x, 2L, stats::sd) > 0]
  x <- x[, sort(sample.int(ncol(x), min(if (noise) 100L else 1000L, ncol(x))))]
  real <- rep(TRUE, ncol(x))
  if (noise) {
    x <- cbind(x, do.call(cbind, lapply(1:10, function(i) apply(x, 2L, sample))))
    turn <- sample.int(ncol(x))
    real <- (turn <= length(real))
    x <- x[, turn]
  }
  colnames(x) <- paste0("v", seq_len(ncol(x)))
  list(x = x, y = droplevels(data$y[rows]), real = real)
}

accuracy <- function(z, y) {
  classes <- min(nlevels(y), nrow(unique(z)))
  mean(replicate(3L, {
    found <- suppressWarnings(stats::kmeans(z, classes, nstart = 5L, iter.max = 100L))$cluster
    ufs_cluster_metrics(found, y)[["accuracy"]]
  }))
}

measure <- function(folder, set, noise, seed) {
  set.seed(seed)
  data <- cut_set(folder, set, noise)
  z <- scale(data$x)
  classes <- nlevels(data$y)
  k <- if (sum(data$real) < 100L) round(.3 * sum(data$real)) else 50L
  calls <- list(consensus = list(n_clusters = classes, k = k),
    undecorrelated = list(n_clusters = classes, k = k, strength = 0),
    "pool = 10 k" = list(n_clusters = classes, k = k, pool = min(10L * k, ncol(z))))
  rows <- lapply(names(calls), function(name) {
    set.seed(seed)
    seconds <- cpu(fit <- suppressWarnings(do.call(ufs_consensus, c(list(data$x), calls[[name]]))))
    chosen <- selected_features(fit, k, as = "index")
    data.frame(method = name,
      call = sub("^list", "ufs_consensus", paste(deparse(calls[[name]], width.cutoff = 500L),
        collapse = "")),
      accuracy = accuracy(z[, chosen], data$y), real = mean(data$real[chosen]),
      pool = fit$params$pool, share = if (is.null(fit$decoys)) NA else fit$decoys$share[k],
      seconds = seconds)
  })
  random <- vapply(1:5, function(i) {
    chosen <- sample.int(ncol(z), k)
    c(accuracy(z[, chosen], data$y), mean(data$real[chosen]))
  }, c(0, 0))
  rows <- c(rows, list(
    data.frame(method = "random", call = "sample.int(p, k), five draws",
      accuracy = mean(random[1L, ]), real = mean(random[2L, ]), pool = NA, share = NA, seconds = 0),
    data.frame(method = "all", call = "all columns", accuracy = accuracy(z, data$y),
      real = mean(data$real), pool = NA, share = NA, seconds = 0)))
  cbind(set = set, noise = if (noise) 10L else 0L, seed = seed,
    version = as.character(utils::packageVersion("ufselect")), n = nrow(z), p = ncol(z),
    classes = classes, k = k, do.call(rbind, rows))
}

show_all <- function(table) {
  for (noise in unique(table$noise)) {
    part <- table[table$noise == noise, ]
    by_set <- 100 * tapply(part$accuracy, list(part$set, part$method), mean)
    say("\n%d permuted copies of each column: k-means accuracy, mean over seeds\n", noise)
    print(round(rbind(by_set, mean = colMeans(by_set)), 1L))
    for (other in c("random", "all")) {
      gain <- by_set[, "consensus"] - by_set[, other]
      say("consensus over %s: %+.1f (s.e. %.1f), won %d, lost %d of %d\n", other, mean(gain),
        stats::sd(gain) / sqrt(length(gain)), sum(gain > 1), sum(gain < -1), length(gain))
    }
    if (noise > 0) {
      cat("share of real columns among the chosen\n")
      real <- tapply(part$real, list(part$set, part$method), mean)
      print(round(rbind(real, mean = colMeans(real)), 2L))
    }
    print(round(tapply(part$seconds, part$method, sum)))
  }
}

# The cheapest sets first; each cut is written at once, and in the end by set.
run_all <- function(folder, out) {
  names <- sub("[.]rds$", "", list.files(folder, "[.]rds$"))
  every <- by_cost(stats::setNames(rep(folder, length(names)), names), c(400, 1000))
  cuts <- expand.grid(noise = c(FALSE, TRUE), seed = as.integer(words(option("seeds", "1,2,3"))),
    set = words(option("sets", paste(every, collapse = ","))), stringsAsFactors = FALSE)
  table <- if (file.exists(out)) utils::read.csv(out, stringsAsFactors = FALSE)
  key <- function(set, seed, noise) paste(set, seed, if (length(noise)) noise > 0)
  cuts <- cuts[!key(cuts$set, cuts$seed, cuts$noise) %in% key(table$set, table$seed, table$noise), ]
  for (i in seq_len(nrow(cuts))) {
    rows <- measure(folder, cuts$set[i], cuts$noise[i], cuts$seed[i])
    numbers <- vapply(rows, is.double, NA)
    rows[numbers] <- lapply(rows[numbers], signif, 4L)
    table <- rbind(table, rows)
    say("%s %d %s: %.3f, real %.2f, %.1f CPU s\n", cuts$set[i], cuts$seed[i], if (cuts$noise[i]) "noise" else "clean",
      rows$accuracy[1L], rows$real[1L], rows$seconds[1L])
    write_table(table, out)
  }
  write_table(table[order(table$set, table$seed, table$noise, method = "radix"), ], out)
}

out <- option("out", "consensus.csv.gz")
if ("--show" %in% commandArgs(TRUE)) {
  show_all(utils::read.csv(out, stringsAsFactors = FALSE))
} else {
  run_all(option("data"), out)
}
