# What ufs_select(m = "auto") answers, and how well the samples that it chooses do: their labels are
# spread by ufs_propagate() to all others, at the answer and at fixed numbers, on six sets that were
# named before.
#
#   Rscript evidence/auto-samples.R --data=<folder of sets> [--sets=a,b] [--out=auto-samples.csv]
#   Rscript evidence/auto-samples.R --show --out=auto-samples.csv
#
# Sets are cut to 400 rows and 500 columns. answer: NA where it cannot say, for there is no bend
# (bends.R, which has more sets, says why). accuracy: of the samples
# without a label, % right; random: the same for as many random samples, mean of 10; alc: the area
# below the accuracy of 2, 4, 8, ... m samples against their logarithm, over its width.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
})
library(ufselect)

measure <- function(folder, set, seed = 1L) {
  data <- read_set(folder, set)
  set.seed(seed)
  rows <- sort(sample.int(nrow(data$x), min(400L, nrow(data$x))))
  x <- data$x[rows, ]
  y <- droplevels(data$y[rows])
  x <- x[, apply(x, 2L, stats::sd) > 0]
  x <- x[, sort(sample.int(ncol(x), min(500L, ncol(x))))]
  dimnames(x) <- list(NULL, paste0("f", seq_len(ncol(x))))
  quiet <- function(code) suppressMessages(suppressWarnings(code))
  answer <- NA_integer_
  seconds <- cpu(tryCatch(answer <- quiet(ufs_select(x, m = "auto", task = "label"))$size,
    ufs_error_argument = function(e) NULL))
  graph <- quiet(ufs_graph(x))
  z <- scale(x)
  accuracy <- function(at) {
    known <- replace(y, -at, NA)
    found <- quiet(ufs_propagate(graph, droplevels(known), x = z))$label
    100 * mean(as.character(found)[-at] == as.character(y)[-at])
  }
  chosen <- function(m) {
    accuracy(quiet(selected_samples(ufs_select(x, m = m, task = "label"), as = "index")))
  }
  rows <- lapply(sort(unique(c(10L, 20L, 40L, 80L, if (!is.na(answer)) answer))), function(m) {
    steps <- sort(unique(c(2^(1:floor(log2(m))), m)))
    curve <- vapply(steps, chosen, 0)
    middle <- (curve[-1L] + curve[-length(curve)]) / 2
    data.frame(set = set, call = "ufs_select(x, m = \"auto\", task = \"label\")", seed = seed,
      version = as.character(utils::packageVersion("ufselect")), n = nrow(x), p = ncol(x),
      classes = nlevels(y), answer = answer, seconds = seconds, m = m, accuracy = chosen(m),
      random = mean(replicate(10L, accuracy(sample.int(nrow(x), m)))),
      alc = if (length(steps) > 1L) sum(middle * diff(log(steps))) / diff(log(range(steps))) else
        curve)
  })
  do.call(rbind, rows)
}

out <- option("out", "auto-samples.csv")
if ("--show" %in% commandArgs(TRUE)) {
  print(utils::read.csv(out)[c("set", "classes", "answer", "m", "accuracy", "random", "alc")],
    digits = 3L, row.names = FALSE)
} else {
  for (set in words(option("sets", "dermatology,libras,segment,tissue,usps,wdbc"))) {
    rows <- measure(option("data"), set)
    numbers <- vapply(rows, is.double, NA)
    rows[numbers] <- lapply(rows[numbers], signif, 4L)
    new <- !file.exists(out)
    utils::write.table(rows, out, append = !new, sep = ",", col.names = new, row.names = FALSE,
      qmethod = "double")
    say("%s: m = %s\n", set, rows$answer[1L])
  }
}
