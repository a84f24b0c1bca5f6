# Two people ask the same question: the recommended calls on the same rows with three seeds, and
# on 95 % of these rows, and how much of the answers is the same.
#
#   Rscript evidence/seeds.R --data=<folder of sets> [--sets=a,b] [--seedsonly] [--out=seeds.csv]
#   Rscript evidence/seeds.R --accuracy --before=<library> --after=<library> --data=<folder of sets>
#                            [--sets=a,b] [--out=seeds-accuracy.csv]
#   Rscript evidence/seeds.R --show --out=seeds.csv
#
# Sets (of the folder and of its folder fresh) are cut as for select.R: 300 rows, 500 columns, k = 20
# or 30 % of fewer than 60 columns, m = 3 samples a class; once with ten permuted copies of each of 50
# columns. same: for columns and rows the share that two answers have in common, in the mean over
# pairs of seeds; for a number of columns or clusters the smaller over the larger; for the share of
# noise 1 - the difference. least: the pair that differs most. rows: the same between the answer
# on all rows and that on 95 % of them, a draw of rows for each seed; apart: between two such draws.
# --seedsonly leaves these two out and asks with two seeds. Sets that --out has are not measured again, except for these two.
#
# --accuracy: the columns that ufs_select(x, k, "cluster") of two versions chooses, judged by k-means
# with as many clusters as classes, on the scale that the later version chose on; two numbers of columns.
# The earlier version draws three times; the later one chooses the same columns for every seed.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
})
library(ufselect)
from_select(c("cut_set", "folders_of"))

shared <- function(a, b) length(intersect(a, b)) / max(length(a), length(b), 1L)
ratio <- function(a, b) if (max(a, b) == 0) 1 else min(a, b) / max(a, b)
near <- function(a, b) 1 - abs(a - b)

# Each question: how two of its answers are compared.
questions <- list("columns: compress" = shared, "columns: classify" = shared, "columns: cluster" = shared,
  "rows: label" = shared, "rows: ufs_split()" = shared, "columns beyond decoys: pca" = shared,
  "how many: \"auto\", classify" = ratio, "how many: \"auto\", cluster" = ratio, "how many clusters" = ratio,
  "share of noise" = near)

# The answers of one person, who has the rows `at` of x; a question that ends in an error has none.
answers_of <- function(x, at, k, m, seed) {
  x <- x[at, ]
  ask <- function(code) {
    set.seed(seed)
    tryCatch(suppressWarnings(suppressMessages(code)), error = function(e) say("%s\n", conditionMessage(e)))
  }
  columns <- function(fit) selected_features(fit, k)
  rows <- function(names) if (is.character(names)) names else at[names]
  cluster <- ask(ufs_select(x, k, "cluster"))
  found <- list(ask(columns(ufs_select(x, k, "compress"))), ask(columns(ufs_select(x, k, "classify"))),
    ask(columns(cluster)), ask(rows(selected_samples(ufs_select(x, task = "label", m = m), m))),
    ask(rows(selected_samples(ufs_split(x, m)))),
    ask(ufs_decoys(x, "pca", n_components = 5)$columns$pca), ask(ufs_size(x, task = "classify")$k),
    ask(ufs_size(x, task = "cluster")$k), ask(eval(cluster$params$n_clusters)), ask(ufs_look(x)$noise))
  stats::setNames(found, names(questions))
}

measure <- function(folder, set, noise, of_rows, seeds = seq_len(if (of_rows) 3L else 2L)) {
  set.seed(1)
  data <- cut_set(folder, set, noise)
  n <- nrow(data$x)
  m <- min(3L * nlevels(data$y), n %/% 2L)
  drawn <- lapply(seeds, function(seed) {
    set.seed(100L + seed)
    sort(sample.int(n, round(.95 * n)))
  })
  all <- lapply(seeds, function(seed) answers_of(data$x, seq_len(n), data$k, m, seed))
  part <- Map(function(at, seed) if (of_rows) answers_of(data$x, at, data$k, m, seed), drawn, seeds)
  pairs <- utils::combn(length(seeds), 2L)
  do.call(rbind, lapply(names(questions), function(question) {
    a <- lapply(all, `[[`, question)
    b <- lapply(part, `[[`, question)
    if (any(lengths(a) == 0L)) return(NULL)
    alike <- function(one, other) {
      if (length(one) && length(other)) questions[[question]](one, other) else NA
    }
    of_pairs <- function(list) apply(pairs, 2L, function(at) alike(list[[at[1L]]], list[[at[2L]]]))
    data.frame(set = set, noise = as.integer(noise), question, seeds = length(seeds), same = signif(mean(of_pairs(a)), 3L),
      least = signif(min(of_pairs(a)), 3L), rows = signif(mean(mapply(alike, a, b)), 3L),
      apart = signif(mean(of_pairs(b)), 3L))
  }))
}

show_all <- function(table) {
  part <- split(table, list(factor(table$question, unique(table$question)), table$noise), drop = TRUE)
  print(do.call(rbind, lapply(part, function(p) data.frame(question = p$question[1L], noise = p$noise[1L],
    sets = nrow(p), same = round(mean(p$same), 3L), least = min(p$least), `all the same` = sum(p$least == 1),
    worst = p$set[which.min(p$least)], rows = round(mean(p$rows, na.rm = TRUE), 3L),
    apart = round(mean(p$apart, na.rm = TRUE), 3L), check.names = FALSE))), row.names = FALSE)
}

# ---- accuracy against an earlier version ---------------------------------------------------------

# In a process with one of the versions: list(k, chosen: columns by draw, seconds, scale: what the
# call says about the scale) for both numbers of columns.
choose <- function(folder, set, draws) {
  set.seed(1)
  data <- cut_set(folder, set, FALSE)
  # The first call of a process takes longer than others.
  suppressMessages(suppressWarnings(ufs_select(data$x[, 1:5], 2L, "cluster")))
  lapply(two_k(ncol(data$x)), function(k) {
    seconds <- cpu(fits <- lapply(seq_len(draws), function(seed) {
      set.seed(seed)
      suppressMessages(suppressWarnings(ufs_select(data$x, k, "cluster")))
    }))
    list(k = k, chosen = lapply(fits, function(fit) suppressMessages(selected_features(fit, k, as = "index"))),
      seconds = seconds / draws, how = as.list(fits[[1L]]$call)[c("counts", "rows", "unit_rows")],
      scale = !isFALSE(fits[[1L]]$params$scale))
  })
}

# The script started anew with another library; NULL where it failed.
chosen_by <- function(library, folder, set, draws) {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
  given <- c("--choose", paste0("--data=", folder), paste0("--sets=", set), paste0("--draws=", draws), paste0("--out=", file))
  system2(file.path(R.home("bin"), "Rscript"), shQuote(c(normalizePath(script), given)), stdout = FALSE, stderr = FALSE,
    env = paste0("R_LIBS=", paste(c(library, .libPaths()), collapse = .Platform$path.sep)))
  if (file.exists(file)) readRDS(file)
}

# Accuracy by k-means on the chosen columns.
judge <- function(data, made, chosen) {
  how <- Filter(Negate(is.null), made$how)
  z <- if (length(how)) as.matrix(do.call(ufs_data, c(list(data$x), how))) else data$x
  z <- scale(z[, chosen, drop = FALSE], TRUE, made$scale)
  set.seed(1)
  groups <- suppressWarnings(stats::kmeans(z, min(nlevels(data$y), nrow(unique(z))), nstart = 30L, iter.max = 100L))$cluster
  100 * ufs_cluster_metrics(groups, as.character(data$y))[["accuracy"]]
}

accuracy <- function(folder, set, draws = c(before = 3L, after = 1L)) {
  made <- lapply(c(before = "before", after = "after"), function(when) {
    chosen_by(option(when), folder, set, draws[[when]])
  })
  if (any(lengths(made) == 0L)) return(say("%s: no choice\n", set))
  set.seed(1)
  data <- cut_set(folder, set, FALSE)
  do.call(rbind, Map(function(before, after) {
    points <- lapply(list(before = before, after = after), function(one) {
      vapply(one$chosen, function(chosen) judge(data, after, chosen), 0)
    })
    data.frame(set, k = after$k, before = signif(mean(points$before), 4L), before_sd = signif(stats::sd(points$before), 3L),
      now = signif(mean(points$after), 4L),
      before_seconds = signif(before$seconds, 3L), now_seconds = signif(after$seconds, 3L))
  }, made$before, made$after))
}

# ---- run -----------------------------------------------------------------------------------------

# measure(set) of every set that the file does not have yet, or not whole, written after each one, in the end by name.
write_sets <- function(folders, out, measure, of_rows = FALSE) {
  sets <- if (is.null(option("sets"))) by_cost(folders, c(300, 500)) else words(option("sets"))
  table <- if (file.exists(out)) utils::read.csv(out, stringsAsFactors = FALSE)
  done <- if (of_rows) table$set[!is.na(table$rows)] else table$set
  for (set in setdiff(sets, done)) {
    found <- measure(set)
    table <- rbind(table[table$set != set, ], found)
    say("%s\n", set)
    write_table(table, out)
  }
  write_table(table[order(table$set, method = "radix"), ], out)
}

given <- commandArgs(TRUE)
of_rows <- !"--seedsonly" %in% given
out <- option("out", if ("--accuracy" %in% given) "seeds-accuracy.csv" else "seeds.csv")
if ("--show" %in% given) {
  show_all(utils::read.csv(out))
} else if ("--choose" %in% given) {
  saveRDS(choose(option("data"), option("sets"), as.integer(option("draws"))), out)
} else {
  folders <- folders_of(option("data"))
  if ("--accuracy" %in% given) {
    write_sets(folders, out, function(set) accuracy(folders[[set]], set))
  } else {
    write_sets(folders, out, function(set) {
      do.call(rbind, lapply(c(FALSE, TRUE), function(noise) measure(folders[[set]], set, noise, of_rows)))
    }, of_rows)
  }
}
