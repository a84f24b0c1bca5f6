# What the choices of ufs_select() are worth: each task judged with labels or on new rows, beside
# random choices of the same size and all columns, on sets as they are and with ten permuted copies
# of each of up to 50 columns. print() of a selection quotes the table that this script writes.
#
#   Rscript evidence/select.R --data=<folder of sets> [--sets=a,b] [--splits=10]
#                             [--first=1] [--out=select.csv] [--raw=splits.csv]
#   Rscript evidence/select.R --held=splits.csv --out=select.csv
#
# Sets (of the folder and of its folder fresh) are cut to 300 rows and 500 columns. Half of the rows
# choose, without labels; classifiers and the regression that rebuilds all columns learn there and
# are judged on the other half. k = 20, or 30 % of fewer than 60 columns; m = 3 samples a class.
# Nothing is told about the number of classes. All is judged on the scale that the choice was made
# on: counts as logarithms or weighted where ufs_select() takes them so, columns standardised or
# not. A single split swings by 5 to 15 points, so the table has means of ten splits, each with rows,
# columns and noise of its own: a line for each set, noise and task, with the standard deviation over
# the splits. --raw keeps the splits, too; --held=splits.csv, of other splits than the table's
# (--first=11 --splits=2), says how many of them lie inside the range that the print promises.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
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

# The half that chooses, as it is (x) and on the scale of the judges (z, classes y), and the other by
# the same means and standard deviations (zt, yt). Columns that are not standardised by themselves
# are divided by one number, which a support vector machine needs.
halves <- function(data, fit = NULL) {
  how <- as.list(fit$call)[c("counts", "rows")]
  how <- how[!vapply(how, is.null, NA)]
  all <- if (length(how)) as.matrix(do.call(ufs_data, c(list(data$x), how))) else data$x
  x <- all[data$at, ]
  spread <- apply(x, 2L, stats::sd)
  if (isFALSE(fit$params$scale)) spread[] <- sqrt(mean(spread^2))
  list(x = data$x[data$at, ], z = scale(x, TRUE, spread), zt = scale(all[-data$at, ], colMeans(x), spread),
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

measure <- function(folder, set, noise, task, seed = 1L, draws = 5L) {
  set.seed(seed)
  data <- cut_set(folder, set, noise)
  x <- data$x[data$at, ]
  size <- if (task == "label") min(3L * nlevels(data$y), nrow(x) - 1L) else data$k
  seconds <- cpu(fit <- suppressMessages(suppressWarnings(ufs_select(x, size, task))))
  chosen <- suppressMessages(if (task == "label") selected_samples(fit, as = "index") else
    selected_features(fit, as = "index"))
  # How much better than random choice by each measure on the data themselves.
  gain_by <- function(measure) {
    at <- which(fit$worth$measure == measure)
    if (!length(at)) return(NA_real_)
    (if (measure == "distance") -1 else 1) * (fit$worth$chosen[at] - fit$worth$random[at])
  }
  half <- halves(data, fit)
  judge <- function(chosen) tasks[[task]]$judge(half$z, half$zt, half$y, half$yt, chosen)
  from <- if (task == "label") nrow(x) else ncol(x)
  said <- fit$worth$chosen[fit$worth$measure == "noise"]
  data.frame(set = set, noise = if (noise) 10L else 0L, task = task, what = tasks[[task]]$what,
    values = fit$look$values, noisy = fit$look$noisy, method = fit$method, seed = seed,
    version = as.character(utils::packageVersion("ufselect")), n = nrow(x), p = ncol(x),
    classes = nlevels(data$y), size = size, score = judge(chosen),
    random = mean(vapply(seq_len(draws), function(i) judge(sample.int(from, size)), 0)),
    all = if (tasks[[task]]$all) judge(seq_len(from)) else NA, seconds = seconds,
    explained = gain_by("explained"), neighbours = gain_by("neighbours"),
    distance = gain_by("distance"), quiet = !length(fit$checks),
    chance = if (noise && length(said)) said else NA_real_,
    truth = if (noise) mean(!data$real[chosen]) else NA_real_, stringsAsFactors = FALSE)
}

# One line for each set, noise and task: means, the standard deviation of the gain over the splits,
# the share of splits without a warning (quiet), and the mean error of the share of noise.
averaged <- function(splits) {
  usual <- function(value) names(sort(table(value), decreasing = TRUE))[1L]
  part <- interaction(splits$set, splits$noise, splits$task, drop = TRUE, lex.order = TRUE)
  lines <- lapply(split(splits, part), function(s) {
    mean_of <- function(value) signif(mean(value, na.rm = TRUE), 4L)
    means <- lapply(s[c("n", "p", "size", "score", "random", "all", "seconds", "explained",
      "neighbours", "distance", "quiet", "chance", "truth")], mean_of)
    data.frame(s[1L, c("set", "noise", "task", "what")], values = usual(s$values),
      noisy = mean_of(s$noisy), method = usual(s$method), version = s$version[1L],
      classes = max(s$classes), splits = nrow(s), means,
      gain_sd = signif(stats::sd(s$score - s$random), 3L),
      noise_error = mean_of(abs(s$chance - s$truth)))
  })
  table <- do.call(rbind, lines)
  table[] <- lapply(table, function(v) if (is.double(v)) ifelse(is.nan(v), NA, v) else v)
  table[order(table$set, table$noise, match(table$task, names(tasks)), method = "radix"), ]
}

# For each split of `raw`: does its gain lie inside the range for single splits that the other sets promise?
held_splits <- function(table, raw) {
  promise <- utils::getFromNamespace("gain_promise", "ufselect")
  parts <- split(raw, list(raw$task, raw$noise), drop = TRUE)
  do.call(rbind, lapply(parts, function(part) {
    held <- vapply(seq_len(nrow(part)), function(i) {
      others <- table[table$task == part$task[i] & table$noise == part$noise[i] & table$set != part$set[i], ]
      said <- promise(others, part$values[i])
      gain <- part$score[i] - part$random[i]
      gain >= said$split_low && gain <= said$split_high
    }, NA)
    data.frame(task = part$task[1L], noise = part$noise[1L], splits = length(held), held = mean(held))
  }))
}

# name = folder of every set.
folders_of <- function(folder) {
  places <- c(folder, file.path(folder, "fresh"))
  found <- lapply(places, function(place) {
    names <- sub("[.]rds$", "", list.files(place, "[.]rds$"))
    stats::setNames(rep(place, length(names)), names)
  })
  found <- unlist(found)
  found[order(names(found), method = "radix")]
}

out <- option("out", "select.csv")
if (exists("evidence_only_definitions")) {
  # tools.R judges by the same tasks.
} else if (!is.null(option("held"))) {
  print(held_splits(utils::read.csv(out), utils::read.csv(option("held"))), row.names = FALSE, digits = 3L)
} else {
  folders <- folders_of(option("data"))
  sets <- if (is.null(option("sets"))) names(folders) else words(option("sets"))
  splits <- NULL
  seeds <- as.integer(option("first", "1")) - 1L + seq_len(as.integer(option("splits", "10")))
  for (set in sets) for (noise in c(FALSE, TRUE)) {
    for (task in if (noise) c("classify", "cluster") else names(tasks)) {
      rows <- do.call(rbind, lapply(seeds, function(seed) {
        measure(folders[[set]], set, noise, task, seed)
      }))
      splits <- rbind(splits, rows)
      say("%s %s %s: %.1f, random %.1f, all %.1f, %.1f CPU s\n", set, task, if (noise) "noise" else "",
        mean(rows$score), mean(rows$random), mean(rows$all), mean(rows$seconds))
    }
  }
  if (!is.null(option("raw"))) write_table(splits, option("raw"))
  write_table(averaged(splits), out)
}
