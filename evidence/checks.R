# Signals without labels that may tell the choices of ufs_select() that are worse than random ones from
# the others: on the rows that chose, and on rows left out, which nobody has looked at.
#
#   Rscript evidence/checks.R --data=<folder of sets> [--sets=a,b] [--splits=2] [--out=checks.csv]
#   Rscript evidence/checks.R --show --out=checks.csv
#
# The tasks are those that nearly all bad choices are for, cluster and label. Sets, halves and splits
# are those of select.R, so each line (a set, noise and task; means of the splits) belongs to the line
# of select.csv that says what the choice gained. Signals are differences from the mean of 20 random
# choices of the same size, larger where the choice seems better; their names say what is seen: "rows
# that chose", as ufs_select() may see it, or "rows left out", where it cannot look unless it chooses
# on fewer rows.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
})
library(ufselect)
from_select(c("cut_set", "folders_of", "halves", "tasks"))
internal <- function(name) utils::getFromNamespace(name, "ufselect")

distances <- function(a, b) {
  pmax(outer(rowSums(a^2), rowSums(b^2), "+") - 2 * tcrossprod(a, b), 0)
}
nearest_centre <- function(a, centres) max.col(-distances(a, centres), "first")
groups_of <- function(z, h) {
  suppressWarnings(stats::kmeans(z, min(h, nrow(unique(z)) - 1L), nstart = 5L, iter.max = 50L))
}
agreement <- function(a, b) ufs_cluster_metrics(a, b)[["ari"]]
# The share of the squares of zt that the groups of z foretell, rows put into them by the columns chosen.
foretold_by_groups <- function(z, zt, groups, centres, chosen) {
  means <- rowsum(z, groups) / as.vector(table(groups))
  at <- nearest_centre(zt[, chosen, drop = FALSE], centres)
  1 - sum((zt - means[at, , drop = FALSE])^2) / sum(zt^2)
}

# Each: the signals of a choice, named.
column_signals <- function(half, h) {
  z <- half$z
  zt <- half$zt
  whole <- groups_of(z, h)$cluster
  whole_new <- groups_of(zt, h)$cluster
  kept <- internal("neighbours_kept")
  near <- kept(z)
  near_new <- kept(zt)
  tail_of <- apply(z, 2L, function(v) max(v^2) / sum(v^2))
  related <- abs(stats::cor(z))
  function(chosen) {
    own <- groups_of(z[, chosen, drop = FALSE], h)
    new <- groups_of(zt[, chosen, drop = FALSE], h)
    put <- nearest_centre(zt[, chosen, drop = FALSE], own$centers)
    c("neighbours kept, rows that chose" = near(chosen), "neighbours kept, rows left out" = near_new(chosen),
      "variance rebuilt, rows left out" = tasks$compress$judge(z, zt, NULL, NULL, chosen) / 100,
      "clusters as by all columns, rows that chose" = agreement(own$cluster, whole),
      "clusters as by all columns, rows left out" = agreement(new$cluster, whole_new),
      "clusters foretell all columns, rows left out" = foretold_by_groups(z, zt, own$cluster, own$centers, chosen),
      "clusters the same in both halves" = agreement(put, new$cluster),
      "variance between clusters, rows that chose" = own$betweenss / own$totss,
      "largest square of a column, rows that chose" = mean(tail_of[chosen]),
      "correlation of the chosen, rows that chose" = mean(related[chosen, chosen]),
      "correlation with all columns, rows that chose" = mean(related[chosen, ]))
  }
}

row_signals <- function(half, h) {
  z <- half$z
  zt <- half$zt
  own <- distances(z, z)
  new <- distances(zt, z)
  whole <- groups_of(z, h)$cluster
  at_new <- nearest_centre(zt, rowsum(z, whole) / as.vector(table(whole)))
  two <- groups_of(z, 2L)$cluster
  two_new <- nearest_centre(zt, rowsum(z, two) / as.vector(table(two)))
  middle <- apply(own, 1L, function(d) mean(sort(d)[2:6]))
  least <- function(d) mean(apply(d, 1L, min))
  function(chosen) {
    near <- max.col(-new[, chosen, drop = FALSE], "first")
    c("distance to the chosen, rows that chose" = -least(own[, chosen]) / mean(own),
      "distance to the chosen, rows left out" = -least(new[, chosen]) / mean(new),
      "clusters by the nearest chosen, rows left out" = mean(whole[chosen][near] == at_new),
      "two clusters by the nearest chosen, rows left out" = mean(two[chosen][near] == two_new),
      "distance of the chosen to their neighbours" = -mean(middle[chosen]) / mean(middle),
      "rows of the smallest part, rows that chose" = min(tabulate(max.col(-own[, chosen], "first"), length(chosen))) / nrow(z),
      "rows of the largest part, rows that chose" = -max(tabulate(max.col(-own[, chosen], "first"), length(chosen))) / nrow(z),
      "different clusters among the chosen" = length(unique(whole[chosen])) / h)
  }
}

measure <- function(folder, set, noise, task, seed, draws = 20L) {
  set.seed(seed)
  data <- cut_set(folder, set, noise)
  x <- data$x[data$at, ]
  rows <- task == "label"
  size <- if (rows) min(3L * nlevels(data$y), nrow(x) - 1L) else data$k
  choose <- function(x) suppressMessages(suppressWarnings(ufs_select(x, size, task)))
  chosen_of <- function(fit) suppressMessages(if (rows) selected_samples(fit, as = "index") else
    selected_features(fit, as = "index"))
  fit <- choose(x)
  chosen <- chosen_of(fit)
  half <- halves(data, fit)
  from <- if (rows) nrow(x) else ncol(x)
  random <- lapply(seq_len(draws), function(i) sample.int(from, length(chosen)))
  h <- if (is.numeric(fit$params$n_clusters)) fit$params$n_clusters else
    internal("found_clusters")(ufs_data(x), !isFALSE(fit$params$scale))
  h <- max(2L, min(h, nrow(x) %/% 5L))
  signals <- (if (rows) row_signals else column_signals)(half, h)
  drawn <- vapply(random, signals, signals(chosen))
  seen <- signals(chosen) - rowMeans(drawn)
  worth <- fit$worth
  of <- function(name, what) {
    at <- which(worth$measure == name)
    if (length(at)) worth[[what]][at] else NA_real_
  }
  printed <- if (rows) c("distance, draws beaten (printed)" = of("distance", "beaten") / 20) else {
    again <- chosen_of(choose(data$x[-data$at, ]))
    c("variance of rows left out by thirds (printed)" = of("explained", "chosen") - of("explained", "random"),
      "variance by thirds, draws beaten (printed)" = of("explained", "beaten") / 20,
      "neighbours, draws beaten (printed)" = of("neighbours", "beaten") / 20,
      "share of noise (printed)" = -of("noise", "chosen"),
      "share of noise avoided (printed)" = of("noise", "random") - of("noise", "chosen"),
      "columns that the other half chooses, too" = mean(chosen %in% again) - length(chosen) / from)
  }
  plain <- c("rows a column" = nrow(x) / ncol(x), "share chosen" = -length(chosen) / from, "clusters found" = -h,
    "no check objects (printed)" = as.numeric(!length(fit$checks)))
  seen <- c(printed, seen, plain)
  data.frame(set = set, noise = if (noise) 10L else 0L, task = task, seed = seed, signal = names(seen), value = unname(seen))
}

# ---- what they tell ------------------------------------------------------------------------------

# The chance that a choice worse than random has a lower value than another, ties half.
area <- function(value, worse) {
  known <- !is.na(value)
  value <- value[known]
  worse <- worse[known]
  if (!any(worse) || all(worse)) return(NA_real_)
  (mean(rank(value)[!worse]) - (sum(!worse) + 1) / 2) / sum(worse)
}

# The limit below which a choice is called bad: as many of the bad ones caught less others caught as
# possible, both as shares.
limit_of <- function(value, worse) {
  known <- !is.na(value)
  value <- value[known]
  worse <- worse[known]
  if (!any(worse) || all(worse)) return(-Inf)
  at <- sort(unique(value))
  gain <- vapply(at, function(v) mean(value[worse] <= v) - mean(value[!worse] <= v), 0)
  if (max(gain) <= 0) -Inf else at[which.max(gain)]
}
below <- function(value, limit) !is.na(value) & value <= limit

# A table with a line for each signal and task. caught and alarms: the shares of the bad and of the
# other choices below a limit that was chosen on all other sets; by_folder the same with the limit of
# the sets of the folder on the sets of fresh, and back.
told <- function(table, points = 1) {
  record <- utils::read.csv(system.file("benchmarks", "results", "select.csv", package = "ufselect"))
  key <- function(t) paste(t$set, t$noise, t$task)
  table$worse <- (record$score - record$random)[match(key(table), key(record))] < -points
  cells <- expand.grid(signal = names(table)[-c(1:5, ncol(table))], task = unique(table$task),
    stringsAsFactors = FALSE)
  lines <- lapply(seq_len(nrow(cells)), function(cell) {
    part <- table[table$task == cells$task[cell], ]
    part$value <- part[[cells$signal[cell]]]
    if (all(is.na(part$value))) return(NULL)
    out <- vapply(seq_len(nrow(part)), function(i) {
      others <- part$set != part$set[i]
      below(part$value[i], limit_of(part$value[others], part$worse[others]))
    }, NA)
    across <- vapply(seq_len(nrow(part)), function(i) {
      others <- part$fresh != part$fresh[i]
      below(part$value[i], limit_of(part$value[others], part$worse[others]))
    }, NA)
    data.frame(task = part$task[1L], signal = cells$signal[cell], choices = nrow(part), worse = sum(part$worse),
      area = signif(area(part$value, part$worse), 3L),
      caught = signif(mean(out[part$worse]), 3L), alarms = signif(mean(out[!part$worse]), 3L),
      caught_by_folder = signif(mean(across[part$worse]), 3L),
      alarms_by_folder = signif(mean(across[!part$worse]), 3L))
  })
  lines <- do.call(rbind, lines)
  lines[order(lines$task, -lines$area), ]
}

# A line for each choice, with means of its splits; each signal has a column.
averaged <- function(lines) {
  choice <- interaction(lines$set, lines$noise, lines$task, drop = TRUE, lex.order = TRUE)
  signals <- unique(lines$signal)
  found <- lapply(split(lines, choice), function(s) {
    of <- vapply(signals, function(name) signif(mean(s$value[s$signal == name], na.rm = TRUE), 3L), 0)
    data.frame(s[1L, c("set", "fresh", "noise", "task")], splits = length(unique(s$seed)),
      t(replace(of, is.nan(of), NA)),
      check.names = FALSE)
  })
  do.call(rbind, found)
}

out <- option("out", "checks.csv")
if ("--show" %in% commandArgs(TRUE)) {
  print(told(utils::read.csv(out, stringsAsFactors = FALSE, check.names = FALSE)), row.names = FALSE, digits = 2L)
} else if (!exists("evidence_only_definitions")) {
  folders <- folders_of(option("data"))
  sets <- if (is.null(option("sets"))) names(folders) else words(option("sets"))
  lines <- NULL
  for (set in sets) {
    for (noise in c(FALSE, TRUE)) for (task in if (noise) "cluster" else c("cluster", "label")) {
      rows <- do.call(rbind, lapply(seq_len(as.integer(option("splits", "2"))), function(seed) {
        measure(folders[[set]], set, noise, task, seed)
      }))
      rows$fresh <- basename(folders[[set]]) == "fresh"
      lines <- rbind(lines, rows)
    }
    say("%s\n", set)
    write_table(averaged(lines), out)
  }
}
