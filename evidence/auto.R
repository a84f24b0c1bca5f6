# What ufs_select(k = "auto") costs, in points of k-means accuracy (cluster) and of a linear support
# vector machine (classify), against the best number of the same ranking, half of the columns and all.
#
#   Rscript evidence/auto.R --data=<folder of sets> [--sets=a,b] [--out=auto.csv]
#   Rscript evidence/auto.R --show --out=auto.csv
#
# Sets are cut to 400 rows and 1,000 columns. Labels only judge; k-means is told the number of classes
# and started 12 times, support vector machines learn on 10 halves of the rows. The best number is a
# maximum over noisy values, so half_* judge on one half of the rows: half_best is its own maximum,
# half_chosen the value at the number that is best by the labels of the other half (and other starts),
# half_all and half_auto those of all columns and of the answer; means over 10 such halvings, both ways.
#
# The settings of the rules are those of select-size.R; --show chooses them anew with each set left
# out, among a grid, and judges them on this set.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "..", "inst", "benchmarks", "common.R"))
})
library(ufselect)

# Values of all rows (repeats x numbers) and of two halves (2 x halvings x numbers).
judge <- list(
  cluster = function(z, y, ranking, numbers) {
    accuracy <- function(found, at) ufs_cluster_metrics(found[at], y[at])[["accuracy"]]
    halves <- lapply(1:10, function(i) sample(nrow(z), nrow(z) %/% 2L))
    lapply(numbers, function(k) {
      w <- z[, ranking[seq_len(k)], drop = FALSE]
      found <- lapply(1:12, function(i) {
        suppressWarnings(stats::kmeans(w, min(nlevels(y), nrow(unique(w))), nstart = 5L,
          iter.max = 50L))$cluster
      })
      list(all = mean(vapply(found, accuracy, 0, TRUE)), halves = vapply(halves, function(rows) {
        c(mean(vapply(found[c(TRUE, FALSE)], accuracy, 0, rows)),
          mean(vapply(found[c(FALSE, TRUE)], accuracy, 0, -rows)))
      }, c(0, 0)))
    })
  },
  classify = function(z, y, ranking, numbers) {
    learn <- lapply(1:10, function(i) unlist(lapply(split(seq_along(y), y), function(at) {
      at[sample.int(length(at), ceiling(length(at) / 2))]
    })))
    first <- lapply(learn, function(at) {
      rest <- setdiff(seq_along(y), at)
      sample(rest, length(rest) %/% 2L)
    })
    lapply(numbers, function(k) {
      w <- z[, ranking[seq_len(k)], drop = FALSE]
      right <- lapply(learn, function(at) {
        model <- e1071::svm(w[at, , drop = FALSE], y[at], kernel = "linear", cost = 1, scale = FALSE)
        replace(stats::predict(model, w) == y, at, NA)
      })
      list(all = mean(vapply(right, mean, 0, na.rm = TRUE)), halves = vapply(1:10, function(i) {
        c(mean(right[[i]][first[[i]]]), mean(right[[i]][-first[[i]]], na.rm = TRUE))
      }, c(0, 0)))
    })
  }
)

measure <- function(folder, set, task, seed = 1L) {
  data <- read_set(folder, set)
  set.seed(seed)
  rows <- sort(sample.int(nrow(data$x), min(400L, nrow(data$x))))
  x <- data$x[rows, ]
  y <- droplevels(data$y[rows])
  x <- x[, apply(x, 2L, stats::sd) > 0]
  x <- x[, sort(sample.int(ncol(x), min(1000L, ncol(x))))]
  dimnames(x) <- list(NULL, paste0("f", seq_len(ncol(x))))
  q <- ncol(x)
  seconds <- cpu(fit <- suppressMessages(suppressWarnings(ufs_select(x, "auto", task))))
  ranking <- unname(fit$feature_ranking)
  if (fit$method == "css") {
    ranking <- unname(suppressWarnings(ufs_css(x, q, mu_rel = fit$params$mu_rel,
      scale = fit$params$scale))$feature_ranking)
  }
  curve <- fit$size_curve
  kept <- curve$measure[1L] == "nearest neighbours kept"
  numbers <- sort(unique(c(if (kept) curve$number else unique(round(exp(seq(log(2), log(q),
    length.out = 12L)))), fit$size, ceiling(q / 2), q)))
  numbers <- numbers[numbers > 1L]
  found <- judge[[task]](scale(x), y, ranking, numbers)
  halves <- vapply(found, `[[`, found[[1L]]$halves, "halves")
  at <- function(k) mean(halves[, , match(k, numbers)])
  ways <- apply(halves, 2L, function(two) c(max(two[1L, ]), max(two[2L, ]),
    two[2L, which.max(two[1L, ])], two[1L, which.max(two[2L, ])]))
  data.frame(set = set, task = task, call = sprintf("ufs_select(x, \"auto\", \"%s\")", task),
    code = gsub("\n", "; ", fit$code), seed = seed,
    version = as.character(utils::packageVersion("ufselect")), n = nrow(x), p = q,
    classes = nlevels(y), method = fit$method, noise = fit$look$noise, answer = fit$size,
    seconds = seconds, half_best = 100 * mean(ways[1:2, ]), half_chosen = 100 * mean(ways[3:4, ]),
    half_all = 100 * at(q), half_auto = 100 * at(fit$size), k = numbers,
    neighbours = if (kept) stats::approx(log(curve$number), curve$value, log(numbers))$y else NA_real_,
    score = 100 * vapply(found, `[[`, 0, "all"))
}

# ---- shown ---------------------------------------------------------------------------------------

loss_at <- function(part, k) {
  max(part$score) - stats::approx(log(part$k), part$score, log(min(max(k, 2), part$p[1L])))$y
}
reached <- function(part, value) {
  if (anyNA(part$neighbours)) return(part$answer[1L])
  at <- which(part$neighbours >= value)[1L]
  if (at == 1L) return(part$k[1L])
  two <- at - 1:0
  exp(stats::approx(part$neighbours[two], log(part$k[two]), value)$y)
}
# One grid of settings a task; where most columns are noise the answer is that of the decoys.
settings <- list(
  cluster = expand.grid(keep = seq(.4, .9, .05), least = c(2, 10, 20)),
  classify = expand.grid(share = c(.2, .3, .4, .45, .5, .6), least = c(2, 20, 40, 60),
    most = c(100, 200, 300, 450), keep = c(.9, .95, 1)))
rule <- list(
  cluster = function(part, s) max(reached(part, s$keep), s$least),
  classify = function(part, s) {
    if (anyNA(part$neighbours)) return(part$answer[1L])
    min(reached(part, s$keep), max(s$least, min(s$most, s$share * part$p[1L])))
  })

# Of the settings with less than half of the columns in the median the one that loses least.
left_out <- function(parts, task) {
  grid <- settings[[task]]
  k <- vapply(parts, function(part) {
    vapply(seq_len(nrow(grid)), function(i) rule[[task]](part, grid[i, ]), 0)
  }, numeric(nrow(grid)))
  loss <- vapply(seq_along(parts), function(j) vapply(k[, j], function(k) loss_at(parts[[j]], k), 0), k[, 1L])
  share <- pmin(sweep(k, 2L, vapply(parts, function(part) part$p[1L], 0), "/"), 1)
  pick <- function(sets) {
    which.min(ifelse(apply(share[, sets], 1L, stats::median) < .5, rowMeans(loss[, sets]), Inf))
  }
  own <- vapply(seq_along(parts), function(j) pick(-j), 0L)
  at <- cbind(own, seq_along(parts))
  say("%s, settings chosen without the set: loses %.2f (s.e. %.2f) with %.2f of the columns\n", task, mean(loss[at]),
    stats::sd(loss[at]) / sqrt(length(parts)), stats::median(share[at]))
}

show_all <- function(table) {
  for (task in unique(table$task)) {
    parts <- split(table[table$task == task, ], table$set[table$task == task])
    of <- function(what) vapply(parts, what, 0)
    out <- data.frame(p = of(function(t) t$p[1L]), answer = of(function(t) t$answer[1L]),
      best = of(function(t) t$k[which.max(t$score)]),
      auto = of(function(t) loss_at(t, t$answer[1L])), all = of(function(t) loss_at(t, t$p[1L])),
      half = of(function(t) loss_at(t, ceiling(t$p[1L] / 2))),
      chosen = of(function(t) t$half_best[1L] - t$half_chosen[1L]),
      half_auto = of(function(t) t$half_best[1L] - t$half_auto[1L]),
      half_all = of(function(t) t$half_best[1L] - t$half_all[1L]), seconds = of(function(t) t$seconds[1L]))
    print(out, digits = 2L)
    say("%s: the answer loses %.2f (s.e. %.2f) to the best number with %.2f of the columns; all %.2f, half %.2f\n",
      task, mean(out$auto), stats::sd(out$auto) / sqrt(nrow(out)), stats::median(out$answer / out$p), mean(out$all),
      mean(out$half))
    say(paste0("%s, on one half of the rows: the number best by the labels of the other half loses ",
      "%.2f to the best; the answer %.2f, all %.2f\n"),
      task, mean(out$chosen), mean(out$half_auto), mean(out$half_all))
    left_out(parts, task)
  }
}

out <- option("out", "auto.csv")
if ("--show" %in% commandArgs(TRUE)) {
  show_all(utils::read.csv(out, stringsAsFactors = FALSE))
} else {
  folder <- option("data")
  sets <- sort(sub("[.]rds$", "", list.files(folder, "[.]rds$")), method = "radix")
  if (!is.null(option("sets"))) sets <- words(option("sets"))
  for (set in sets) for (task in names(judge)) {
    rows <- measure(folder, set, task)
    numbers <- vapply(rows, is.double, NA)
    rows[numbers] <- lapply(rows[numbers], signif, 4L)
    new <- !file.exists(out)
    utils::write.table(rows, out, append = !new, sep = ",", col.names = new, row.names = FALSE, qmethod = "double")
    say("%s %s: k = %d, %.1f CPU s\n", set, task, rows$answer[1L], rows$seconds[1L])
  }
}
