# What the choices of ufs_select() are worth: each task judged with labels or on new rows, beside
# random choices of the same size and all columns, on sets as they are and with ten permuted copies
# of each of up to 50 columns. print() of a selection quotes the table that this script writes.
#
#   Rscript evidence/select.R --data=<folder of sets> [--sets=a,b] [--out=select.csv]
#   Rscript evidence/select.R --show --out=select.csv
#
# Sets are cut to 300 rows and 500 columns. Half of the rows choose, without labels; classifiers and
# the regression that rebuilds all columns learn there and are judged on the other half. k = 20, or
# 30 % of fewer than 60 columns; m = 3 samples a class. Nothing is told about the number of classes.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "..", "inst", "benchmarks", "common.R"))
})
library(ufselect)

cut_set <- function(folder, set, noise) {
  data <- read_set(folder, set)
  rows <- sort(sample.int(nrow(data$x), min(300L, nrow(data$x))))
  x <- data$x[rows, ]
  y <- droplevels(data$y[rows])
  keep <- unlist(lapply(split(seq_along(y), y), function(i) if (length(i) > 1L) i))
  x <- x[keep, ]
  y <- droplevels(y[keep])
  at <- sort(unlist(lapply(split(seq_along(y), y), function(i) i[sample.int(length(i), length(i) %/% 2L)])))
  x <- x[, apply(x[at, ], 2L, stats::sd) > 0 & apply(x[-at, ], 2L, stats::sd) > 0]
  x <- x[, sort(sample.int(ncol(x), min(if (noise) 50L else 500L, ncol(x))))]
  real <- ncol(x)
  if (noise) x <- cbind(x, do.call(cbind, lapply(1:10, function(i) apply(x, 2L, sample))))
  order <- sample.int(ncol(x))
  order <- order[apply(x[at, order], 2L, stats::sd) > 0]
  x <- x[, order]
  colnames(x) <- paste0("v", seq_len(ncol(x)))
  list(x = x, real = order <= real, y = y, at = at, k = if (real < 60L) max(2L, round(.3 * real)) else 20L)
}

# The half that chooses, as it is (x) and standardised (z, classes y), and the other by the same means and
# standard deviations (zt, yt).
halves <- function(data) {
  x <- data$x[data$at, ]
  spread <- apply(x, 2L, stats::sd)
  list(x = x, z = scale(x, TRUE, spread), zt = scale(data$x[-data$at, ], colMeans(x), spread),
    y = data$y[data$at], yt = data$y[-data$at])
}

svm_on <- function(train, y, test, truth) {
  y <- droplevels(y)
  guess <- if (nlevels(y) < 2L) rep(levels(y), nrow(test)) else {
    stats::predict(e1071::svm(train, y, kernel = "linear", cost = 1, scale = FALSE), test)
  }
  100 * mean(as.character(guess) == as.character(truth))
}

# judge(z, zt, y, yt, chosen), where z are the rows that chose; all: is the whole judged, too?
tasks <- list(
  compress = list(what = "variance of new rows rebuilt, %", all = FALSE,
    judge = function(z, zt, y, yt, chosen) {
      a <- z[, chosen, drop = FALSE]
      gram <- crossprod(a)
      coef <- solve(gram + .1 * mean(diag(gram)) * diag(length(chosen)), crossprod(a, z))
      100 * (1 - sum((zt - zt[, chosen, drop = FALSE] %*% coef)^2) / sum(zt^2))
    }),
  classify = list(what = "linear SVM, % right", all = TRUE, judge = function(z, zt, y, yt, chosen) {
    svm_on(z[, chosen, drop = FALSE], y, zt[, chosen, drop = FALSE], yt)
  }),
  cluster = list(what = "k-means, % right", all = TRUE, judge = function(z, zt, y, yt, chosen) {
    both <- rbind(z, zt)[, chosen, drop = FALSE]
    groups <- suppressWarnings(stats::kmeans(both, min(nlevels(y), nrow(unique(both))), nstart = 10L,
      iter.max = 100L))$cluster
    100 * ufs_cluster_metrics(groups, c(as.character(y), as.character(yt)))[["accuracy"]]
  }),
  label = list(what = "SVM and nearest neighbour, % right", all = FALSE,
    judge = function(z, zt, y, yt, chosen) {
      near <- class::knn1(z[chosen, ], zt, droplevels(y[chosen]))
      (svm_on(z[chosen, ], y[chosen], zt, yt) + 100 * mean(as.character(near) == as.character(yt))) / 2
    })
)

measure <- function(folder, set, noise, task, seed = 1L) {
  set.seed(seed)
  data <- cut_set(folder, set, noise)
  half <- halves(data)
  x <- half$x
  z <- half$z
  zt <- half$zt
  y <- half$y
  yt <- half$yt
  size <- if (task == "label") min(3L * nlevels(y), nrow(z) - 1L) else data$k
  seconds <- cpu(fit <- suppressMessages(suppressWarnings(ufs_select(x, size, task))))
  chosen <- suppressMessages(if (task == "label") selected_samples(fit, as = "index") else
    selected_features(fit, as = "index"))
  # How much better than random choice by each measure on the data themselves.
  gain_by <- function(measure) {
    at <- which(fit$worth$measure == measure)
    if (!length(at)) return(NA_real_)
    (if (measure == "distance") -1 else 1) * (fit$worth$chosen[at] - fit$worth$random[at])
  }
  judge <- function(chosen) tasks[[task]]$judge(z, zt, y, yt, chosen)
  from <- if (task == "label") nrow(z) else ncol(z)
  data.frame(set = set, noise = if (noise) 10L else 0L, task = task, what = tasks[[task]]$what,
    values = fit$look$values, noisy = fit$look$noisy, method = fit$method,
    code = gsub("\n", "; ", fit$code), seed = seed,
    version = as.character(utils::packageVersion("ufselect")), n = nrow(x), p = ncol(x),
    classes = nlevels(y), size = size, score = judge(chosen),
    random = mean(vapply(1:10, function(i) judge(sample.int(from, size)), 0)),
    all = if (tasks[[task]]$all) judge(seq_len(ncol(z))) else NA, seconds = seconds,
    explained = gain_by("explained"), neighbours = gain_by("neighbours"),
    distance = gain_by("distance"), chance = if (noise) {
      sum(fit$worth$chosen[fit$worth$measure == "noise"])
    } else NA_real_, truth = if (noise) mean(!data$real[chosen]) else NA_real_,
    stringsAsFactors = FALSE)
}

show_all <- function(table) {
  table$gain <- table$score - table$random
  table$over_all <- table$score - table$all
  print(table[c("set", "noise", "task", "values", "noisy", "method", "score", "random", "all",
    "seconds")], digits = 3L, row.names = FALSE)
  for (part in split(table, list(table$task, table$noise), drop = TRUE)) {
    say("%s, noise %d: over random %+.1f (s.e. %.1f), won %d, lost %d of %d; over all %+.1f\n",
      part$task[1L], part$noise[1L], mean(part$gain), stats::sd(part$gain) / sqrt(nrow(part)),
      sum(part$gain > 1), sum(part$gain < -1), nrow(part), mean(part$over_all))
  }
  noisy <- table[table$noise > 0, ]
  say("share of noise among the chosen: error %.3f, bias %+.3f\n",
    mean(abs(noisy$chance - noisy$truth), na.rm = TRUE),
    mean(noisy$chance - noisy$truth, na.rm = TRUE))
  for (part in split(table, list(table$task, table$noise), drop = TRUE)) {
    gain <- part$score - part$random
    inside <- vapply(seq_along(gain), function(i) {
      gain[i] >= min(gain[-i]) && gain[i] <= max(gain[-i])
    }, NA)
    say("%s, noise %d: the range of the other sets holds the gain on %d of %d sets left out\n",
      part$task[1L], part$noise[1L], sum(inside), length(inside))
  }
  say("noise seen where it is: %d of %d; where it is not: %d of %d\n",
    sum(table$noisy[table$noise > 0]), sum(table$noise > 0), sum(table$noisy[table$noise == 0]),
    sum(table$noise == 0))
}

out <- option("out", "select.csv")
if (exists("evidence_only_definitions")) {
  # tools.R judges by the same tasks.
} else if ("--show" %in% commandArgs(TRUE)) {
  show_all(utils::read.csv(out, stringsAsFactors = FALSE))
} else {
  folder <- option("data")
  sets <- sort(sub("[.]rds$", "", list.files(folder, "[.]rds$")), method = "radix")
  if (!is.null(option("sets"))) sets <- words(option("sets"))
  for (set in sets) for (noise in c(FALSE, TRUE)) {
    for (task in if (noise) c("classify", "cluster") else names(tasks)) {
      row <- measure(folder, set, noise, task)
      numbers <- vapply(row, is.double, NA)
      row[numbers] <- lapply(row[numbers], signif, 4L)
      new <- !file.exists(out)
      utils::write.table(row, out, append = !new, sep = ",", col.names = new, row.names = FALSE,
        qmethod = "double")
      say("%s %s %s: %.1f, random %.1f, all %.1f, %.1f CPU s\n", set, task, if (noise) "noise" else "",
        row$score, row$random, row$all, row$seconds)
    }
  }
}
