# Tools that R users have for these jobs, beside ufs_select(), in one run: sparse k-means of sparcl for
# columns that show clusters, and caret::findCorrelation() for columns that do not repeat one another.
#
#   Rscript evidence/tools.R --data=<folder of sets> [--sets=a,b] [--out=tools.csv]
#
# Sets, halves and judges are those of select.R: as they are, and with ten permuted copies of each of up to
# 50 columns. sparcl and ufs_select(task = "cluster") are told the number of classes; sparcl's bound on the
# weights is the one at which k equal weights are possible, and its k largest weights are taken.
# findCorrelation() takes no number of columns: its threshold is the one that leaves k or fewer, by
# bisection, and ufs_select(task = "classify") chooses as many as are left. praznik and most of caret
# need labels, so they answer another question. Without a package its lines are left out.
evidence_only_definitions <- TRUE
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  sys.source(file.path(dirname(file[1L]), "select.R"), globalenv())
})

by_sparcl <- function(z, k, classes) {
  weights <- NULL
  utils::capture.output(weights <- sparcl::KMeansSparseCluster(z, classes, wbounds = max(1.1, sqrt(k)), nstart = 20,
    silent = TRUE)[[1L]]$ws)
  order(-weights)[seq_len(k)]
}

by_caret <- function(z, k) {
  r <- stats::cor(z)
  low <- 0
  high <- 1
  left <- integer()
  for (try in 1:25) {
    cutoff <- (low + high) / 2
    stay <- setdiff(seq_len(ncol(z)), caret::findCorrelation(r, cutoff))
    if (length(stay) > k) high <- cutoff else {
      low <- cutoff
      if (length(stay) > length(left)) left <- stay
    }
  }
  left
}

ours <- function(x, k, task, ...) {
  fit <- suppressMessages(suppressWarnings(ufs_select(x, k, task, ...)))
  suppressMessages(selected_features(fit, as = "index"))
}

beside <- function(folder, set, noise, seed = 1L) {
  set.seed(seed)
  data <- cut_set(folder, set, noise)
  half <- halves(data)
  row <- function(task, choice, choose) {
    set.seed(seed)
    seconds <- cpu(chosen <- choose())
    if (!length(chosen)) return()
    judge <- function(columns) tasks[[task]]$judge(half$z, half$zt, half$y, half$yt, columns)
    data.frame(set = set, noise = if (noise) 10L else 0L, task = task, choice = choice, n = nrow(half$x), p = ncol(half$x),
      k = length(chosen), score = signif(judge(chosen), 4L), true = if (noise) signif(mean(data$real[chosen]), 3L) else NA,
      random = signif(mean(vapply(1:10, function(i) judge(sample.int(ncol(half$x), length(chosen))), 0)), 4L),
      seconds = signif(seconds, 3L))
  }
  rows <- NULL
  if (requireNamespace("sparcl", quietly = TRUE)) {
    classes <- nlevels(droplevels(half$y))
    rows <- rbind(row("cluster", "sparcl", function() by_sparcl(half$z, data$k, classes)),
      row("cluster", "ufs_select", function() ours(half$x, data$k, "cluster", n_clusters = classes)))
  }
  if (requireNamespace("caret", quietly = TRUE)) {
    theirs <- row("classify", "caret", function() by_caret(half$z, data$k))
    rows <- rbind(rows, theirs, if (!is.null(theirs)) row("classify", "ufs_select", function() ours(half$x, theirs$k, "classify")))
  }
  rows
}

folder <- option("data")
sets <- sort(sub("[.]rds$", "", list.files(folder, "[.]rds$")), method = "radix")
if (!is.null(option("sets"))) sets <- words(option("sets"))
all <- NULL
for (set in sets) for (noise in c(FALSE, TRUE)) {
  rows <- beside(folder, set, noise)
  all <- rbind(all, rows)
  say("%s %s: %s\n", set, if (noise) "noise" else "", paste(rows$choice, rows$score, collapse = ", "))
}
if (!is.null(option("out"))) write_table(all, option("out"))
