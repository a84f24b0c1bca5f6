# What ufs_select(k = "auto") costs, in points of k-means accuracy (cluster) and of a linear support
# vector machine (classify), against the best number of the same ranking, half of the columns and all.
#
#   Rscript evidence/auto.R --data=<folder of sets> [--sets=a,b] [--out=auto.csv]
#   Rscript evidence/auto.R --show --out=auto.csv
#   Rscript evidence/auto.R --halves --data=<folder of sets> [--sets=a,b] [--out=auto-halves.csv]
#   Rscript evidence/auto.R --halves --show --out=auto-halves.csv
#
# Sets are cut to 400 rows and 1,000 columns. Labels only judge; k-means is told the number of classes
# and started 12 times, support vector machines learn on 10 halves of the rows. The best number is a
# maximum over noisy values, so half_* judge on one half of the rows: half_best is its own maximum,
# half_chosen the value at the number that is best by the labels of the other half (and other starts),
# half_all and half_auto those of all columns and of the answer; means over 10 such halvings, both ways.
#
# The best of a dozen numbers on the very rows that judge is a matter of luck, too. With --halves two
# disjoint halves of the rows, twice, each make their own choice and ranking: k-means finds groups in
# the half, support vector machines learn there and are judged on the other. The reference is the
# number that is best by the labels of the other half, which nobody without labels can know, judged
# on this half. orl is left out by default (minutes for each half).
#
# The settings of the rules are those of select-size.R; --show chooses them anew with each set left
# out, among a grid, and judges them on this set.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
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

# 400 rows and 1,000 columns of a set, with the random numbers going on from there.
part_of_set <- function(folder, set, seed) {
  data <- read_set(folder, set)
  set.seed(seed)
  rows <- sort(sample.int(nrow(data$x), min(400L, nrow(data$x))))
  x <- data$x[rows, ]
  x <- x[, apply(x, 2L, stats::sd) > 0]
  x <- x[, sort(sample.int(ncol(x), min(1000L, ncol(x))))]
  list(x = `dimnames<-`(x, list(NULL, paste0("f", seq_len(ncol(x))))), y = droplevels(data$y[rows]))
}

# The choice with its ranking of all columns, and the numbers to judge.
choose <- function(x, task) {
  fit <- suppressMessages(suppressWarnings(ufs_select(x, "auto", task)))
  ranking <- unname(fit$feature_ranking)
  q <- ncol(x)
  if (fit$method == "css") {
    ranking <- unname(suppressWarnings(ufs_css(x, q, mu_rel = fit$params$mu_rel,
      scale = fit$params$scale))$feature_ranking)
  }
  curve <- fit$size_curve
  kept <- curve$measure[1L] == "nearest neighbours kept"
  numbers <- sort(unique(c(if (kept) curve$number else unique(round(exp(seq(log(2), log(q),
    length.out = 12L)))), fit$size, ceiling(q / 2), q)))
  numbers <- numbers[numbers > 1L]
  list(fit = fit, ranking = ranking, numbers = numbers, neighbours = if (kept) {
    stats::approx(log(curve$number), curve$value, log(numbers))$y
  } else NA_real_)
}

on_halves <- function(folder, set, task, seed = 1L, halvings = 2L) {
  data <- part_of_set(folder, set, seed)
  one <- function(h) {
    set.seed(100L * seed + h)
    a <- sort(sample.int(nrow(data$x), nrow(data$x) %/% 2L))
    rows <- list(a = a, b = setdiff(seq_len(nrow(data$x)), a))
    varies <- function(i) apply(data$x[i, ], 2L, stats::sd) > 0
    x <- data$x[, varies(rows$a) & varies(rows$b)]
    do.call(rbind, lapply(names(rows), function(half) {
      at <- rows[[half]]
      own <- choose(x[at, ], task)
      z <- scale(x[at, ])
      new <- scale(x[-at, ], attr(z, "scaled:center"), attr(z, "scaled:scale"))
      y <- droplevels(data$y[at])
      score <- vapply(own$numbers, function(k) {
        j <- own$ranking[seq_len(k)]
        if (task == "classify") {
          model <- e1071::svm(z[, j, drop = FALSE], y, kernel = "linear", cost = 1, scale = FALSE)
          return(mean(as.character(stats::predict(model, new[, j, drop = FALSE])) ==
            as.character(data$y[-at])))
        }
        mean(replicate(12L, ufs_cluster_metrics(suppressWarnings(stats::kmeans(z[, j], min(nlevels(y),
          nrow(unique(z[, j, drop = FALSE]))), nstart = 5L, iter.max = 50L))$cluster,
          y)[["accuracy"]]))
      }, 0)
      data.frame(set = set, task = task, call = sprintf("ufs_select(x, \"auto\", \"%s\")", task),
        seed = seed, version = as.character(utils::packageVersion("ufselect")), halving = h, half = half,
        n = length(at), p = ncol(x), method = own$fit$method, noise = own$fit$look$noise,
        answer = own$fit$size, k = own$numbers, neighbours = own$neighbours, score = 100 * score)
    }))
  }
  do.call(rbind, lapply(seq_len(halvings), one))
}

measure <- function(folder, set, task, seed = 1L) {
  data <- part_of_set(folder, set, seed)
  x <- data$x
  y <- data$y
  q <- ncol(x)
  seconds <- cpu(own <- choose(x, task))
  fit <- own$fit
  ranking <- own$ranking
  numbers <- own$numbers
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
    neighbours = own$neighbours, score = 100 * vapply(found, `[[`, 0, "all"))
}

# ---- shown ---------------------------------------------------------------------------------------

score_at <- function(part, k) {
  stats::approx(log(part$k), part$score, log(min(max(k, 2), part$p[1L])), rule = 2)$y
}
loss_at <- function(part, k, best = max(part$score)) best - score_at(part, k)
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

# Of the settings with less than half of the columns in the median the one that loses least. best:
# the reference of each part, of which a set can have several.
left_out <- function(parts, task, best = vapply(parts, function(part) max(part$score), 0)) {
  grid <- settings[[task]]
  set <- vapply(parts, function(part) part$set[1L], "")
  by_set <- function(part_values) t(rowsum(t(part_values), set) / c(table(set)))
  k <- vapply(parts, function(part) {
    vapply(seq_len(nrow(grid)), function(i) rule[[task]](part, grid[i, ]), 0)
  }, numeric(nrow(grid)))
  loss <- by_set(vapply(seq_along(parts), function(j) {
    vapply(k[, j], function(k) loss_at(parts[[j]], k, best[j]), 0)
  }, k[, 1L]))
  share <- by_set(pmin(sweep(k, 2L, vapply(parts, function(part) part$p[1L], 0), "/"), 1))
  pick <- function(sets) {
    which.min(ifelse(apply(share[, sets, drop = FALSE], 1L, stats::median) < .5,
      rowMeans(loss[, sets, drop = FALSE]), Inf))
  }
  at <- cbind(vapply(seq_len(ncol(loss)), function(j) pick(-j), 0L), seq_len(ncol(loss)))
  say("%s, settings chosen without the set: loses %.2f (s.e. %.2f) with %.2f of the columns\n", task, mean(loss[at]),
    stats::sd(loss[at]) / sqrt(nrow(at)), stats::median(share[at]))
}

show_halves <- function(table) {
  for (task in unique(table$task)) {
    parts <- split(table[table$task == task, ], with(table[table$task == task, ], paste(set, halving, half)))
    other <- vapply(parts, function(part) {
      paste(part$set[1L], part$halving[1L], setdiff(c("a", "b"), part$half[1L]))
    }, "")
    reference <- mapply(function(part, twin) score_at(part, twin$k[which.max(twin$score)]), parts, parts[other])
    of <- function(value) tapply(value, vapply(parts, function(part) part$set[1L], ""), mean)
    p <- vapply(parts, function(part) part$p[1L], 0)
    answer <- vapply(parts, function(part) part$answer[1L], 0)
    loss <- function(k) of(reference - mapply(score_at, parts, k))
    out <- data.frame(p = of(p), answer = of(answer), hindsight = of(vapply(parts, function(part) max(part$score), 0) -
      reference), auto = loss(answer), half = loss(ceiling(p / 2)), all = loss(p))
    print(out, digits = 2L)
    with_error <- function(v) sprintf("%.2f (s.e. %.2f)", mean(v), stats::sd(v) / sqrt(length(v)))
    say(paste0("%s, %d sets: the number that is best on the half itself beats the one that is best on the other half by %s; ",
      "to the latter the answer loses %s with %.2f of the columns, half of the columns %s, all %s\n"), task, nrow(out),
      with_error(out$hindsight), with_error(out$auto), stats::median(out$answer / out$p), with_error(out$half),
      with_error(out$all))
    left_out(parts, task, reference)
  }
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

halves <- "--halves" %in% commandArgs(TRUE)
out <- option("out", if (halves) "auto-halves.csv" else "auto.csv")
if ("--show" %in% commandArgs(TRUE)) {
  (if (halves) show_halves else show_all)(utils::read.csv(out, stringsAsFactors = FALSE))
} else {
  folder <- option("data")
  sets <- sort(sub("[.]rds$", "", list.files(folder, "[.]rds$")), method = "radix")
  if (halves) sets <- setdiff(sets, "orl")
  if (!is.null(option("sets"))) sets <- words(option("sets"))
  for (set in sets) for (task in names(judge)) {
    rows <- (if (halves) on_halves else measure)(folder, set, task)
    numbers <- vapply(rows, is.double, NA)
    rows[numbers] <- lapply(rows[numbers], signif, 4L)
    new <- !file.exists(out)
    utils::write.table(rows, out, append = !new, sep = ",", col.names = new, row.names = FALSE, qmethod = "double")
    say("%s %s: k = %d\n", set, task, rows$answer[1L])
  }
}
