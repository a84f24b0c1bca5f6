# Two people ask the same question: the recommended calls on the same rows with three
# seeds, and how much of the answers is the same.
#
#   Rscript evidence/seeds.R --data=<folder of sets> [--sets=a,b] [--out=seeds.csv]
#   Rscript evidence/seeds.R --show --out=seeds.csv
#
# Sets (of the folder and of its folder fresh) are cut as for select.R: 300 rows, 500 columns, k = 20 or
# 30 % of fewer than 60 columns, m = 3 samples a class; once with ten permuted copies of each of 50
# columns. same: for columns and rows the share that two answers have in common, in the mean over
# pairs of seeds; for a number of columns or clusters the smaller over the larger; for the share of
# noise 1 - the difference. least: the pair that differs most.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
})
library(ufselect)
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  place <- new.env(parent = globalenv())
  place$evidence_only_definitions <- TRUE
  sys.source(file.path(dirname(file[1L]), "select.R"), place)
  cut_set <<- place$cut_set
  folders_of <<- place$folders_of
})

shared <- function(a, b) length(intersect(a, b)) / max(length(a), length(b), 1L)
ratio <- function(a, b) if (max(a, b) == 0) 1 else min(a, b) / max(a, b)
near <- function(a, b) 1 - abs(a - b)

# Each: the question, the call, and how two of its answers are compared.
questions <- list(
  list("columns: compress", shared, function(x, k, m) selected_features(ufs_select(x, k, "compress"), k)),
  list("columns: classify", shared, function(x, k, m) selected_features(ufs_select(x, k, "classify"), k)),
  list("columns: cluster", shared, function(x, k, m) selected_features(ufs_select(x, k, "cluster"), k)),
  list("rows: label", shared, function(x, k, m) selected_samples(ufs_select(x, task = "label", m = m), m)),
  list("rows: ufs_split()", shared, function(x, k, m) selected_samples(ufs_split(x, m))),
  list("columns beyond decoys: pca", shared, function(x, k, m) ufs_decoys(x, "pca", n_components = 5)$columns$pca),
  list("how many: \"auto\", classify", ratio, function(x, k, m) ufs_size(x, task = "classify")$k),
  list("how many: \"auto\", cluster", ratio, function(x, k, m) ufs_size(x, task = "cluster")$k),
  list("how many clusters", ratio, function(x, k, m) {
    fit <- ufs_select(x, k, "cluster")
    eval(fit$params$n_clusters)
  }),
  list("share of noise", near, function(x, k, m) ufs_look(x)$noise))

measure <- function(folder, set, noise, seeds = 1:3) {
  set.seed(1)
  data <- cut_set(folder, set, noise)
  m <- min(3L * nlevels(data$y), nrow(data$x) %/% 2L)
  do.call(rbind, lapply(questions, function(q) {
    answers <- lapply(seeds, function(seed) {
      set.seed(seed)
      tryCatch(suppressWarnings(suppressMessages(q[[3L]](data$x, data$k, m))), error = function(e) {
        say("%s, %s: %s\n", set, q[[1L]], conditionMessage(e))
      })
    })
    if (any(lengths(answers) == 0L)) return(NULL)
    pairs <- utils::combn(length(seeds), 2L)
    same <- apply(pairs, 2L, function(at) q[[2L]](answers[[at[1L]]], answers[[at[2L]]]))
    data.frame(set = set, noise = as.integer(noise), question = q[[1L]], same = signif(mean(same), 3L),
      least = signif(min(same), 3L))
  }))
}

show_all <- function(table) {
  part <- split(table, list(factor(table$question, unique(table$question)), table$noise), drop = TRUE)
  print(do.call(rbind, lapply(part, function(p) data.frame(question = p$question[1L], noise = p$noise[1L],
    sets = nrow(p), same = round(mean(p$same), 3L), least = min(p$least), `all the same` = sum(p$least == 1),
    worst = p$set[which.min(p$least)], check.names = FALSE))), row.names = FALSE)
}

out <- option("out", "seeds.csv")
if ("--show" %in% commandArgs(TRUE)) {
  show_all(utils::read.csv(out))
} else {
  folders <- folders_of(option("data"))
  sets <- if (is.null(option("sets"))) names(folders) else words(option("sets"))
  table <- NULL
  for (set in sets) for (noise in c(FALSE, TRUE)) {
    table <- rbind(table, measure(folders[[set]], set, noise))
    say("%s %s\n", set, if (noise) "noise" else "")
    write_table(table, out)
  }
}
