# Does a sketch keep what the whole data would have chosen? Real sets, made long by copies of their
# rows plus noise (a tenth of each column's standard deviation); every method on all rows and on
# ufs_sketch()es of them; compared: the best 50 features, and the accuracy of 1-nearest-neighbour on
# them (the set's own rows, ten halves).
#
#   Rscript sketch.R --data=<folder of sets> [--sets=musk1,usps,isolet] [--n=50000] [--m=1000]
#                    [--methods=variance,pca,kmeans_f,rsr] [--out=sketch.csv]
#
# Prints and writes: set, method, sketch, share of the best 50 of the full run, accuracy with its standard
# error over sketches, CPU seconds. RSR takes long on many rows and columns: on sets of more than 300
# columns it is left out unless --methods names it.
this <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
here <- dirname(normalizePath(this))
source(file.path(here, "common.R"))
suppressMessages(library(ufselect))

folder <- option("data", ".")
n <- as.integer(option("n", "50000"))
m <- as.integer(option("m", "1000"))
k <- 50L
draws <- 3L

longer <- function(x, n) {
  rows <- sample.int(nrow(x), n, replace = TRUE)
  spread <- apply(x, 2, sd) / 10
  out <- x[rows, , drop = FALSE]
  for (j in seq_len(ncol(x))) out[, j] <- out[, j] + rnorm(n, sd = spread[j])
  out
}

accuracy <- function(set, columns) {
  z <- scale(set$x[, columns, drop = FALSE])
  z[is.na(z)] <- 0
  mean(vapply(1:10, function(s) {
    set.seed(s)
    train <- sample.int(nrow(z), nrow(z) %/% 2)
    mean(class::knn1(z[train, ], z[-train, ], set$y[train]) == set$y[-train])
  }, 0))
}

methods <- function(classes) {
  list(variance = list("variance", scale = FALSE), pca = list("pca", n_components = classes),
    kmeans_f = list("kmeans_f", n_clusters = classes, n_starts = 5), rsr = list("rsr"))
}

file <- option("out", "sketch.csv")
table <- NULL
for (name in words(option("sets", "musk1,usps,isolet"))) {
  set <- read_set(folder, name)
  set.seed(1)
  x <- longer(set$x, n)
  best <- function(data, call) {
    set.seed(2)
    fit <- suppressMessages(suppressWarnings(do.call(ufs, c(list(data), call))))
    suppressMessages(selected_features(fit, k, as = "index"))
  }
  row <- function(method, sketch, chosen, whole, seconds) {
    value <- vapply(chosen, function(columns) accuracy(set, columns), 0)
    data.frame(set = name, n = n, p = ncol(x), m = if (sketch == "none") n else m, method = method,
      sketch = sketch, shared = round(mean(vapply(chosen, function(columns) mean(columns %in% whole), 0)), 3),
      accuracy = round(mean(value), 4),
      se = if (length(value) > 1) round(sd(value) / sqrt(length(value)), 4) else NA,
      cpu = round(seconds, 2))
  }
  sketches <- lapply(c(leverage = "leverage", uniform = "uniform"), function(type) {
    lapply(seq_len(draws), function(s) {
      set.seed(s)
      used <- cpu(part <- ufs_sketch(x, m, type))
      list(part = part, cpu = used)
    })
  })
  calls <- methods(nlevels(set$y))
  named <- option("methods")
  calls <- calls[if (is.null(named)) setdiff(names(calls), if (ncol(x) > 300L) "rsr") else words(named)]
  for (method in names(calls)) {
    used <- cpu(whole <- best(x, calls[[method]]))
    found <- row(method, "none", list(whole), whole, used)
    for (type in names(sketches)) {
      used <- cpu(chosen <- lapply(sketches[[type]], function(s) best(s$part, calls[[method]])))
      drawn <- mean(vapply(sketches[[type]], `[[`, 0, "cpu"))
      found <- rbind(found, row(method, type, chosen, whole, drawn + used / draws))
    }
    print(found, row.names = FALSE)
    table <- rbind(table, found)
    utils::write.csv(table, file, row.names = FALSE)
  }
}
