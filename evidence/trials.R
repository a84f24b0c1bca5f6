# Trials of other advice for ufs_select(): scales that extreme values cannot bend, for the columns of a
# classifier and of clusters, and fewer columns than "auto" takes. A trial counts if what is chosen on
# the sets of the folder wins on those of its folder fresh, or the other way round.
#
#   Rscript evidence/trials.R --data=<folder of sets> [--sets=a,b] [--splits=2] [--out=trials.csv]
#   Rscript evidence/trials.R --show --out=trials.csv
#
# Sets where choices lost: more than a twentieth of the columns have a kurtosis above 20 (tails), or ten
# classes or more. Halves, judges and splits are those of select.R, without noise. as it is: ufs_select(); normal
# scores: each column's ranks as quantiles of a normal distribution; clipped: standardised, at most 3
# from the mean; median, mad: divided by the median absolute deviation (the standard deviation where
# it is 0) and not standardised; few tails: columns of a kurtosis above 20 are not chosen from;
# other scale: standardised where the advice is not to, and back. The chosen columns are judged on
# the scale of ufs_select(), and so are 5 random choices. auto, half, every, to classify: the choice by
# k = "auto" (a share `taken` of the columns), of half of the columns, and all columns.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
})
library(ufselect)
from_select(c("cut_set", "folders_of", "halves", "tasks"))

normal_scores <- function(v) stats::qnorm((rank(v) - .5) / length(v))
clipped <- function(v) pmax(-3, pmin(3, (v - mean(v)) / stats::sd(v)))
by_mad <- function(v) {
  size <- stats::mad(v)
  (v - stats::median(v)) / if (size > 0) size else stats::sd(v)
}
kurtosis <- function(v) {
  v <- v - mean(v)
  mean(v^4) / mean(v^2)^2
}

# Each: columns as treated, and whether they are standardised (NULL: as the advice is).
treatments <- list(
  "normal scores" = list(function(x) apply(x, 2L, normal_scores), TRUE),
  "clipped" = list(function(x) apply(x, 2L, clipped), TRUE),
  "median, mad" = list(function(x) apply(x, 2L, by_mad), FALSE))

measure <- function(folder, set, task, seed, draws = 5L) {
  set.seed(seed)
  data <- cut_set(folder, set, FALSE)
  x <- data$x[data$at, ]
  fit <- suppressMessages(suppressWarnings(ufs_select(x, data$k, task)))
  chosen_of <- function(fit) suppressMessages(selected_features(fit, data$k, as = "index"))
  half <- halves(data, fit)
  judge <- function(chosen) tasks[[task]]$judge(half$z, half$zt, half$y, half$yt, chosen)
  from <- as.list(fit$call)[-1L]
  args <- from[setdiff(names(from), c("x", "counts", "rows", "unit_rows"))]
  how <- from[intersect(names(from), c("counts", "rows", "unit_rows"))]
  own <- if (length(how)) as.matrix(do.call(ufs_data, c(list(x), how))) else x
  spread <- apply(own, 2L, stats::sd)
  own <- own[, spread > 0, drop = FALSE]
  at <- which(spread > 0)
  again <- function(x, scale = NULL) {
    if (!is.null(scale)) args$scale <- scale
    # The clustering members draw nothing; what the decoys of the consensus draw is the same for all.
    set.seed(seed)
    chosen_of(suppressMessages(suppressWarnings(do.call(ufs, c(list(x = x, method = fit$method), lapply(args, eval))))))
  }
  tails <- apply(own, 2L, kurtosis) > 20
  choices <- c(list("as it is" = chosen_of(fit)), lapply(treatments, function(t) at[again(t[[1L]](own), t[[2L]])]),
    list("few tails" = if (any(tails) && sum(!tails) > data$k) at[which(!tails)[again(own[, !tails])]] else chosen_of(fit),
      "other scale" = at[again(own, isFALSE(fit$params$scale))]))
  of_size <- function(k) {
    suppressMessages(suppressWarnings(selected_features(ufs_select(x, k, task), as = "index")))
  }
  classify <- task == "classify"
  auto <- if (classify) of_size("auto")
  choices <- c(choices, list(auto = auto, half = if (classify) of_size(max(1L, ncol(x) %/% 2L)), every = seq_len(ncol(x))))
  random <- mean(vapply(seq_len(draws), function(i) judge(sample.int(ncol(x), data$k)), 0))
  data.frame(set = set, task = task, values = fit$look$values, method = fit$method, seed = seed,
    version = as.character(utils::packageVersion("ufselect")), n = nrow(x), p = ncol(x), classes = nlevels(data$y),
    k = data$k, clusters = if (is.numeric(fit$params$n_clusters)) fit$params$n_clusters else NA, tails = mean(tails),
    scaled = !isFALSE(fit$params$scale), taken = if (classify) length(auto) / ncol(x) else NA, random = random, choice = names(choices), score = vapply(choices, function(at) if (length(at)) judge(at) else NA_real_, 0),
    row.names = NULL)
}

# A line for each set and task, with means of its splits; each treatment has a column.
averaged <- function(lines) {
  choices <- unique(lines$choice)
  part <- interaction(lines$set, lines$task, drop = TRUE, lex.order = TRUE)
  do.call(rbind, lapply(split(lines, part), function(s) {
    usual <- function(v) names(sort(table(v), decreasing = TRUE))[1L]
    means <- lapply(s[c("n", "p", "k", "clusters", "tails", "scaled", "taken", "random")], function(v) signif(mean(v), 4L))
    scores <- vapply(choices, function(name) signif(mean(s$score[s$choice == name]), 4L), 0)
    data.frame(s[1L, c("set", "fresh", "task")], values = usual(s$values), method = usual(s$method),
      version = s$version[1L], classes = max(s$classes), splits = length(unique(s$seed)), means, t(scores),
      check.names = FALSE)
  }))
}

# The gain of each treatment over the choice as it is: of all sets, by kinds, of heavy tails, many clusters.
show_all <- function(table) {
  parts <- list(all = rep(TRUE, nrow(table)), "mixed units" = table$values == "mixed units", "one unit" = table$values == "one unit",
    counts = grepl("counts", table$values), grades = table$values == "grades", "heavy tails" = table$tails > .05,
    "no heavy tails" = table$tails <= .05, "ten classes or more" = table$classes >= 10L)
  at <- match("as it is", names(table))
  lines <- expand.grid(part = names(parts), choice = setdiff(names(table)[(at + 1L):ncol(table)], c("auto", "half", "every")), task = unique(table$task),
    stringsAsFactors = FALSE)
  said <- function(of, choice) {
    gain <- table[[choice]][of] - table$`as it is`[of]
    if (length(gain) < 2L) return("")
    sprintf("%+.1f (%.1f), %d", mean(gain), stats::sd(gain) / sqrt(length(gain)), length(gain))
  }
  for (where in c("folder", "fresh")) lines[[where]] <- vapply(seq_len(nrow(lines)), function(i) {
    said(table$task == lines$task[i] & parts[[lines$part[i]]] & table$fresh == (where == "fresh"), lines$choice[i])
  }, "")
  print(lines[lines$folder != "" | lines$fresh != "", c("task", "choice", "part", "folder", "fresh")], row.names = FALSE,
    right = FALSE)
  # The number of columns: what each costs beside all of them.
  for (fresh in c(FALSE, TRUE)) {
    t <- table[table$task == "classify" & table$fresh == fresh, ]
    fewer <- ifelse(t$taken > .5, t$half, t$auto)
    lost <- function(score) sprintf("%+.1f (%.1f)", mean(score - t$every), stats::sd(score - t$every) / sqrt(nrow(t)))
    say("%s: auto takes %.0f %% for %s; half %s; at most half takes %.0f %% for %s\n",
      if (fresh) "fresh" else "folder", 100 * mean(t$taken), lost(t$auto), lost(t$half), 100 * mean(pmin(t$taken, .5)),
      lost(fewer))
  }
}

# Does a set belong to those where choices lost?
lost <- function(folder, set) {
  set.seed(1)
  data <- cut_set(folder, set, FALSE)
  mean(apply(data$x, 2L, kurtosis) > 20) > .05 || nlevels(data$y) >= 10L
}

out <- option("out", "trials.csv")
if ("--show" %in% commandArgs(TRUE)) {
  show_all(utils::read.csv(out, stringsAsFactors = FALSE, check.names = FALSE))
} else if (!exists("evidence_only_definitions")) {
  folders <- folders_of(option("data"))
  sets <- if (is.null(option("sets"))) Filter(function(set) lost(folders[[set]], set), names(folders)) else words(option("sets"))
  lines <- NULL
  for (set in sets) {
    for (task in c("classify", "cluster")) for (seed in seq_len(as.integer(option("splits", "2")))) {
      rows <- measure(folders[[set]], set, task, seed)
      rows$fresh <- basename(folders[[set]]) == "fresh"
      lines <- rbind(lines, rows)
    }
    say("%s\n", set)
    write_table(averaged(lines), out)
  }
}
