# The share of noise that ufs_decoys() estimates against the true one: up to 100 real columns of
# each set hidden among five times as many permuted ones, on at most 300 rows.
#
#   Rscript evidence/decoys.R --data=<folder of sets> [--sets=a,b] [--methods=pca,laplacian]
#     [--repeats=3] [--out=decoys.csv]
#   Rscript evidence/decoys.R --show --out=decoys.csv
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
})
library(ufselect)

hide <- function(x, real, ratio) {
  x <- x[, sort(sample.int(ncol(x), min(real, ncol(x))))]
  x <- x[, apply(x, 2L, stats::sd) > 0]
  p <- ncol(x)
  w <- cbind(x, do.call(cbind, lapply(seq_len(ratio), function(i) apply(x, 2L, sample))))
  order <- sample.int(ncol(w))
  list(x = `colnames<-`(w[, order], paste0("v", seq_along(order))), real = order <= p)
}

measure <- function(folder, set, method, repeats, seed = 1L) {
  data <- read_set(folder, set)
  set.seed(seed)
  rows <- sort(sample.int(nrow(data$x), min(300L, nrow(data$x))))
  hidden <- hide(data$x[rows, ], 100L, 5L)
  classes <- nlevels(droplevels(data$y[rows]))
  args <- switch(method, pca = list(n_components = classes), laplacian = list(scale = TRUE),
    list(n_clusters = classes))
  k <- min(50L, sum(hidden$real))
  call <- c(list(method), args, list(k = k, repeats = repeats, share = .05))
  seconds <- cpu(found <- suppressWarnings(do.call(ufs_decoys, c(list(hidden$x), call))))
  fit <- suppressWarnings(do.call(ufs, c(list(hidden$x, method), args)))
  best <- function(k) {
    mean(!hidden$real[suppressMessages(selected_features(fit, k, as = "index"))])
  }
  answer <- found$k[[1L]]
  data.frame(set = set, method = method,
    call = sub("^list", "ufs_decoys", paste(deparse(call, width.cutoff = 500L), collapse = "")),
    seed = seed, version = as.character(utils::packageVersion("ufselect")), n = length(rows),
    p = ncol(hidden$x), real = sum(hidden$real), n_decoys = found$n_decoys, k = k,
    estimate = found$curve$share[k], truth = best(k), answer = answer,
    truth_at_answer = if (answer > 0L) best(answer) else NA, seconds = seconds,
    stringsAsFactors = FALSE)
}

out <- option("out", "decoys.csv")
if ("--show" %in% commandArgs(TRUE)) {
  table <- utils::read.csv(out, stringsAsFactors = FALSE)
  print(table[c("set", "method", "real", "p", "k", "estimate", "truth", "answer",
    "truth_at_answer", "seconds")], digits = 2L, row.names = FALSE)
  off <- table$estimate - table$truth
  say("%d cases: correlation %.2f, mean error %.3f, bias %+.3f\n", nrow(table),
    stats::cor(table$estimate, table$truth), mean(abs(off)), mean(off))
} else {
  folder <- option("data")
  sets <- sort(sub("[.]rds$", "", list.files(folder, "[.]rds$")), method = "radix")
  if (!is.null(option("sets"))) sets <- words(option("sets"))
  for (set in sets) for (method in words(option("methods", "pca,laplacian,kmeans_f"))) {
    row <- measure(folder, set, method, as.integer(option("repeats", "3")))
    numbers <- vapply(row, is.double, NA)
    row[numbers] <- lapply(row[numbers], signif, 4L)
    new <- !file.exists(out)
    utils::write.table(row, out, append = !new, sep = ",", col.names = new, row.names = FALSE)
    say("%s %s: estimate %.2f, truth %.2f, %.1f CPU s\n", set, method, row$estimate, row$truth,
      row$seconds)
  }
}
