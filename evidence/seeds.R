# Two people ask the same question: the recommended calls on the same rows with three seeds, and
# on 95 % of these rows, and how much of the answers is the same.
#
#   Rscript evidence/seeds.R --data=<folder of sets> [--sets=a,b] [--out=seeds.csv]
#
# Sets (of the folder and of its folder fresh) are cut as for select.R: 300 rows, 500 columns, k = 20
# or 30 % of fewer than 60 columns, m = 3 samples a class; once with ten permuted copies of each of 50
# columns. same: for columns and rows the share that two answers have in common, in the mean over
# pairs of seeds; for a number of columns or clusters the smaller over the larger; for the share of
# noise 1 - the difference. least: the pair that differs most. rows: the same between the answer
# on all rows and that on 95 % of them, a draw of rows for each seed; apart: between two such draws.
# Sets that --out has are not measured again.
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

measure <- function(folder, set, noise, seeds = 1:3) {
  set.seed(1)
  data <- cut_set(folder, set, noise)
  n <- nrow(data$x)
  m <- min(3L * nlevels(data$y), n %/% 2L)
  drawn <- lapply(seeds, function(seed) {
    set.seed(100L + seed)
    sort(sample.int(n, round(.95 * n)))
  })
  all <- lapply(seeds, function(seed) answers_of(data$x, seq_len(n), data$k, m, seed))
  part <- Map(function(at, seed) answers_of(data$x, at, data$k, m, seed), drawn, seeds)
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

out <- option("out", "seeds.csv")
folders <- folders_of(option("data"))
sets <- if (is.null(option("sets"))) by_cost(folders, c(300, 500)) else words(option("sets"))
table <- if (file.exists(out)) utils::read.csv(out, stringsAsFactors = FALSE)
for (set in setdiff(sets, table$set)) {
  table <- rbind(table, do.call(rbind, lapply(c(FALSE, TRUE), function(noise) measure(folders[[set]], set, noise))))
  say("%s\n", set)
  write_table(table, out)
}
write_table(table[order(table$set, method = "radix"), ], out)
