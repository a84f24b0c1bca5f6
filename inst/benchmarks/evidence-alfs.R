# What ALFS chooses, judged with labels it never saw: k-means on the features of all samples
# (accuracy, NMI), and the ALFS paper's protocol (candidates, k features, m labelled samples,
# classifiers on the other half), beside all features, random, PCA, variance and k-means + F.
#   Rscript evidence-alfs.R --data=FOLDER --sets=musk1,orl,tox171 --mode=cluster,classify \
#     --repeats=3 --k=10,30,90 [--out=file.csv]
library(ufselect)
options(width = 150)

option <- function(name, default = NULL) {
  given <- grep(paste0("^--", name, "="), commandArgs(TRUE), value = TRUE)
  if (length(given)) sub("^--[a-z]+=", "", utils::tail(given, 1L)) else default
}
words <- function(text) strsplit(text, ",", fixed = TRUE)[[1L]]
folder <- option("data", Sys.getenv("UFSELECT_DATA"))
repeats <- as.integer(option("repeats", "3"))
methods <- c("alfs norm" = "alfs", "alfs pivot" = "alfs", "alfs auto" = "alfs")
args <- list("alfs norm" = list(select_samples = "norm"),
  "alfs pivot" = list(select = "pivot", select_samples = "norm"),
  "alfs auto" = list(select = "auto", select_samples = "norm"))
pipelines <- c(methods, "alfs ted" = "alfs", "alfs pivot, ted" = "alfs", ted = "random+ted")
args2 <- c(args, list("alfs ted" = list(select_samples = "ted"),
  "alfs pivot, ted" = list(select = "pivot", select_samples = "ted")))

all <- list()
for (set in words(option("sets", "musk1,orl,tox171"))) {
  data <- readRDS(file.path(folder, paste0(set, ".rds")))
  x <- as.matrix(data$x)
  k <- as.integer(words(option("k", "10,30,90")))
  k <- k[k < ncol(x)]
  for (mode in words(option("mode", "cluster,classify"))) {
    set.seed(1)
    cpu <- system.time(out <- suppressWarnings(if (mode == "cluster") {
      ufs_compare(x, data$y, methods, k = k, mode = "cluster", repeats = repeats, args = args)
    } else {
      half <- nrow(x) %/% 2L
      ufs_compare(x, data$y, pipelines, k = k, m = c(half %/% 4L, half %/% 2L),
        classifiers = words(option("classifiers", "knn,full_tree")), repeats = repeats, args = args2)
    }))
    cat("\n==== ", set, ", ", mode, " (CPU ", round(sum(cpu[1:2]), 1L), " s)\n", sep = "")
    table <- summary(out)$table
    columns <- intersect(c("method", "k", "m", "classifier", "mean", "sd", "missing", "errors"), names(table))
    if (mode == "cluster") table$nmi <- summary(out, "nmi")$table$mean
    print(table[c(columns, if (mode == "cluster") "nmi")], row.names = FALSE, digits = 3)
    all[[length(all) + 1L]] <- cbind(set = set, mode = mode, m = if (is.null(table$m)) NA else table$m,
      table[c("method", "k", "mean", "sd")])
  }
}
if (!is.null(option("out"))) utils::write.csv(do.call(rbind, all), option("out"), row.names = FALSE)
