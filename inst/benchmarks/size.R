# How many columns: what the answer of ufs_size() costs, in points of k-means accuracy and of a
# linear support vector machine, against the best k of the same ranking and against fixed rules.
#
#   Rscript inst/benchmarks/size.R --data=<folder of sets> [--out=size.csv] [--methods=pca,kmeans_f]
#   Rscript inst/benchmarks/size.R --show --out=size.csv
#
# Sets are cut to 400 rows and 1,000 columns. The rule is chosen on the sets at odd places of the
# alphabet ("choose") and tried on the others ("try"). Labels only judge; methods are told the
# number of classes.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
})
library(ufselect)

rules <- list(
  size = function(t) t$answer[1L],
  decoys = function(t) if (t$decoys_k[1L] > 0L) t$decoys_k[1L] else max(t$k),
  overlap = function(t) min(t$k[t$knn_overlap >= .5]),
  captured = function(t) min(t$k[t$captured >= .9]),
  fifty = function(t) min(50L, max(t$k)),
  all = function(t) max(t$k)
)

show_rules <- function(table) {
  out <- list()
  for (part in split(table, paste(table$set, table$method))) {
    for (rule in names(rules)) {
      k <- rules[[rule]](part)
      # An answer between two of the grid gets the mean of the two, weighted.
      at <- function(what) if (nrow(part) > 1L) {
        stats::approx(log(part$k), part[[what]], log(max(k, min(part$k))), rule = 2)$y
      } else part[[what]]
      out[[length(out) + 1L]] <- data.frame(role = part$role[1L], set = part$set[1L],
        method = part$method[1L], rule = rule, k = k, p = max(part$k),
        cluster = 100 * (max(part$cluster) - at("cluster")), svm = 100 * (max(part$svm) - at("svm")))
    }
  }
  out <- do.call(rbind, out)
  print(out[out$rule == "size", ], digits = 3L, row.names = FALSE)
  mean_of <- stats::aggregate(out[c("cluster", "svm")], out[c("rule", "role", "method")], mean)
  print(mean_of[order(mean_of$method, mean_of$role, mean_of$cluster), ], digits = 2L,
    row.names = FALSE)
  print(table(sets = out$role[out$rule == "size"]))
}

accuracy <- function(z, y, classes) {
  patterns <- nrow(unique(z))
  found <- stats::kmeans(z, min(classes, patterns), nstart = 5L, iter.max = 50L)$cluster
  ufs_cluster_metrics(found, y)[["accuracy"]]
}

measure <- function(folder, set, method, role, seed = 1L) {
  data <- read_set(folder, set)
  x <- data$x
  y <- data$y
  set.seed(seed)
  if (nrow(x) > 400L) {
    rows <- sort(sample(nrow(x), 400L))
    x <- x[rows, ]
    y <- droplevels(y[rows])
  }
  if (ncol(x) > 1000L) x <- x[, sort(sample(ncol(x), 1000L))]
  x <- x[, apply(x, 2L, stats::sd) > 0]
  colnames(x) <- paste0("f", seq_len(ncol(x)))
  classes <- nlevels(y)
  args <- if (method == "pca") list(n_components = classes) else list(n_clusters = classes)
  k <- sort(unique(pmin(ncol(x), c(2L, 4L, 8L, 15L, 20L, 30L, 50L, 100L, 200L, 400L, ncol(x)))))
  call <- c(list(method), args, list(repeats = 5L, share = .05, n_resamples = 6L))
  seconds <- cpu(size <- suppressWarnings(do.call(ufs_size, c(list(x), call, list(k = k)))))
  fit <- suppressWarnings(do.call(ufs, c(list(x, method), args)))
  z <- scale(x)
  halves <- lapply(1:3, function(i) {
    unlist(lapply(split(seq_along(y), y), function(j) j[sample.int(length(j), ceiling(length(j) / 2))]))
  })
  judged <- t(vapply(k, function(size) {
    w <- z[, suppressMessages(selected_features(fit, size, as = "index")), drop = FALSE]
    c(cluster = mean(replicate(3L, suppressWarnings(accuracy(w, y, classes)))),
      svm = mean(vapply(halves, function(half) {
        model <- e1071::svm(w[half, , drop = FALSE], y[half], kernel = "linear", cost = 1,
          scale = FALSE)
        mean(stats::predict(model, w[-half, , drop = FALSE]) == y[-half])
      }, 0)))
  }, c(cluster = 0, svm = 0)))
  cbind(set = set, role = role, method = method,
    call = sub("^list", "ufs_size", paste(deparse(call, width.cutoff = 500L), collapse = "")),
    seed = seed, version = as.character(utils::packageVersion("ufselect")), n = nrow(x),
    p = ncol(x), classes = classes, answer = size$k, verdict = size$verdict,
    decoys_k = size$decoys$k[[1L]], seconds = seconds, size$curve, judged)
}

out <- option("out", "size.csv")
if ("--show" %in% commandArgs(TRUE)) {
  show_rules(utils::read.csv(out, stringsAsFactors = FALSE))
} else {
  folder <- option("data")
  sets <- sort(sub("[.]rds$", "", list.files(folder, "[.]rds$")), method = "radix")
  role <- stats::setNames(rep_len(c("choose", "try"), length(sets)), sets)
  # Small ones first.
  sets <- sets[order(file.size(file.path(folder, paste0(sets, ".rds"))))]
  if (!is.null(option("sets"))) sets <- words(option("sets"))
  for (set in sets) for (method in words(option("methods", "pca,kmeans_f"))) {
    rows <- measure(folder, set, method, role[[set]])
    numbers <- vapply(rows, is.double, NA)
    rows[numbers] <- lapply(rows[numbers], signif, 4L)
    new <- !file.exists(out)
    utils::write.table(rows, out, append = !new, sep = ",", col.names = new, row.names = FALSE)
    say("%s %s: k = %d, %s, %.1f CPU s\n", set, method, rows$answer[1L], rows$verdict[1L],
      rows$seconds[1L])
  }
}
