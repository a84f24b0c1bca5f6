# Labels week after week: 5,000 simulated texts of eight classes (30 % to 3 %), 1,500 words, 20 labels a
# week, chosen by ufs_select(task = "label") or at random. Each week the labels are passed on to all texts
# over a neighbour graph (ufs_propagate), and the row says how many were right, how many agree with the week
# before, how many of the week's own labels had been foreseen, and CPU seconds of the choice.
#   Rscript labelling.R [--weeks=12] [--seeds=3] [--out=results/labelling.csv]          about four minutes
this <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
here <- dirname(normalizePath(this))
source(file.path(here, "common.R"))
suppressMessages(library(ufselect))

weeks <- as.integer(option("weeks", "12"))
seeds <- seq_len(as.integer(option("seeds", "3")))
out <- option("out", file.path(here, "..", "inst", "benchmarks", "results", "labelling.csv"))

texts <- function(n = 5000, p = 1500, words = 60) {
  share <- c(.3, .2, .15, .1, .1, .07, .05, .03)
  class <- sample(length(share), n, TRUE, share)
  rate <- matrix(sample(1 / (10 + seq_len(p))), length(share), p, byrow = TRUE)
  for (k in seq_along(share)) {
    own <- sample(p, 80)
    rate[k, own] <- 4 * rate[k, own]
  }
  length_of <- words * exp(stats::rnorm(n, 0, .5))
  count <- stats::rpois(n * p, (rate / rowSums(rate))[class, ] * length_of)
  list(x = Matrix::Matrix(matrix(count, n), sparse = TRUE), class = as.character(class))
}

one_run <- function(seed, choice) {
  set.seed(seed)
  data <- texts()
  graph <- ufs_graph(ufs_data(data$x, counts = "tfidf", unit_rows = TRUE), n_neighbours = 10)
  known <- integer()
  last <- NULL
  rows <- lapply(seq_len(weeks), function(week) {
    set.seed(100 * seed + week)
    distance <- random <- NA
    seconds <- sum(system.time(if (choice == "select") {
      fit <- ufs_select(data$x, m = 20, task = "label", labelled = known)
      new <- selected_samples(fit, as = "index")
      distance <- fit$worth$chosen
      random <- fit$worth$random
    } else new <- sample(setdiff(seq_along(data$class), known), 20))[1:2])
    foreseen <- if (is.null(last)) NA else mean(last[new] == data$class[new])
    known <<- c(known, new)
    y <- factor(replace(rep(NA, length(data$class)), known, data$class[known]))
    passed <- as.character(ufs_propagate(graph, y, cmn = TRUE)$label)
    row <- data.frame(seed, choice, week, labels = length(known), seconds = round(seconds, 2),
      classes = nlevels(y), right = round(mean((passed == data$class)[-known]), 4),
      agree = if (is.null(last)) NA else round(mean(passed == last), 4), foreseen,
      distance = round(distance, 4), random = round(random, 4))
    last <<- passed
    row
  })
  do.call(rbind, rows)
}

runs <- expand.grid(seed = seeds, choice = c("select", "random"), stringsAsFactors = FALSE)
table <- do.call(rbind, Map(one_run, runs$seed, runs$choice))
utils::write.csv(table, out, row.names = FALSE)
print(table, row.names = FALSE)
