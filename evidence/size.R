# How many columns: what the answer of ufs_size() costs, in points of k-means accuracy and of a
# linear support vector machine, against the best k of the same ranking and against fixed rules.
#
#   Rscript evidence/size.R --data=<folder of sets> [--out=size.csv] [--methods=pca,kmeans_f]
#   Rscript evidence/size.R --show --out=size.csv
#
# Sets are cut to 400 rows and 1,000 columns; with noise to 50 columns, and ten permuted copies of
# each are added. The rule was chosen on the sets at odd places of the alphabet ("choose"), as they
# are, and tried on the others ("try"). Where the answer is 0 (nothing is better than noise) all
# columns are kept, as k = "auto" does. Labels only judge; methods are told the number of classes.
#
# The rule. On the sets to choose from, the columns better than noise (share at most .05), or all where
# they are 80 % (the first rule), lost 27 points by SVM on dermatology, a table of 34 columns, too few
# for the share to be told: the share of noise among all columns is estimated from all ranks instead,
# and up to one half all columns are kept.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
})
library(ufselect)

rules <- list(
  size = function(t) if (t$answer[1L] > 0L) t$answer[1L] else max(t$k),
  decoys = function(t) if (t$decoys_k[1L] > 0L) t$decoys_k[1L] else max(t$k),
  overlap = function(t) min(t$k[t$knn_overlap >= .5]),
  captured = function(t) min(t$k[t$captured >= .9]),
  fifty = function(t) min(50L, max(t$k)),
  all = function(t) max(t$k)
)

show_rules <- function(table) {
  out <- list()
  for (part in split(table, paste(table$set, table$method, table$noise))) {
    for (rule in names(rules)) {
      k <- rules[[rule]](part)
      # An answer between two of the grid gets the mean of the two, weighted.
      at <- function(what) if (nrow(part) > 1L) {
        stats::approx(log(part$k), part[[what]], log(max(k, min(part$k))), rule = 2)$y
      } else part[[what]]
      out[[length(out) + 1L]] <- data.frame(role = part$role[1L], noise = part$noise[1L],
        set = part$set[1L], method = part$method[1L], rule = rule, k = k, p = max(part$k),
        cluster = 100 * (max(part$cluster) - at("cluster")), svm = 100 * (max(part$svm) - at("svm")))
    }
  }
  out <- do.call(rbind, out)
  print(out[out$rule == "size", ], digits = 3L, row.names = FALSE)
  mean_of <- stats::aggregate(out[c("cluster", "svm")], out[c("rule", "role", "method", "noise")], mean)
  both <- stats::aggregate(out[c("cluster", "svm")], out[c("rule", "role", "noise")], mean)
  print(mean_of[order(mean_of$noise, mean_of$method, mean_of$role, mean_of$cluster), ], digits = 2L,
    row.names = FALSE)
  cat("both methods together\n")
  print(both[order(both$noise, both$role, both$cluster), ], digits = 2L, row.names = FALSE)
}

accuracy <- function(z, y, classes) {
  patterns <- nrow(unique(z))
  found <- stats::kmeans(z, min(classes, patterns), nstart = 5L, iter.max = 50L)$cluster
  ufs_cluster_metrics(found, y)[["accuracy"]]
}

measure <- function(folder, set, method, role, noise, seed = 1L) {
  data <- read_set(folder, set)
  x <- data$x
  y <- data$y
  set.seed(seed)
  if (nrow(x) > 400L) {
    rows <- sort(sample(nrow(x), 400L))
    x <- x[rows, ]
    y <- droplevels(y[rows])
  }
  x <- x[, apply(x, 2L, stats::sd) > 0]
  x <- x[, sort(sample.int(ncol(x), min(if (noise) 50L else 1000L, ncol(x))))]
  if (noise) {
    x <- cbind(x, do.call(cbind, lapply(1:10, function(i) apply(x, 2L, sample))))
    x <- x[, sample.int(ncol(x))]
  }
  colnames(x) <- paste0("f", seq_len(ncol(x)))
  classes <- nlevels(y)
  args <- if (method == "pca") list(n_components = min(classes, max(1L, ncol(x) %/% 6L))) else list(n_clusters = classes)
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
  cbind(set = set, role = role, noise = if (noise) 10L else 0L, method = method,
    call = sub("^list", "ufs_size", paste(deparse(call, width.cutoff = 500L), collapse = "")),
    seed = seed, version = as.character(utils::packageVersion("ufselect")), n = nrow(x),
    p = ncol(x), classes = classes, answer = size$k, verdict = size$verdict,
    noise_seen = size$decoys$noise[[1L]],
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
  runs <- expand.grid(method = words(option("methods", "pca,kmeans_f")), noise = c(FALSE, TRUE),
    set = sets, stringsAsFactors = FALSE)
  for (i in seq_len(nrow(runs))) {
    set <- runs$set[i]
    method <- runs$method[i]
    rows <- measure(folder, set, method, role[[set]], runs$noise[i])
    numbers <- vapply(rows, is.double, NA)
    rows[numbers] <- lapply(rows[numbers], signif, 4L)
    new <- !file.exists(out)
    utils::write.table(rows, out, append = !new, sep = ",", col.names = new, row.names = FALSE)
    say("%s %s %s: k = %d, %s, %.1f CPU s\n", set, method, if (runs$noise[i]) "noise" else "", rows$answer[1L], rows$verdict[1L],
      rows$seconds[1L])
  }
}
