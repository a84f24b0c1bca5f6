# Few columns for all columns: the best set of ufs_css(), with and without proof, beside subselect's searches, in one run.
#   Rscript subsets.R --data=FOLDER [--sets=wine,wdbc] [--draws=3] [--limit=60] [--out=subsets.csv]
#
# Standardised columns; constant columns and all but one of equal ones are left out, since subselect wants a regular matrix.
#   default     picks one by one, ufs_css(mu_rel = 0); swaps: with exchanges; starts: of 20 starts; more: of 40
#   proved      ufs_css(optimal = TRUE): proved says whether the proof was finished
#   eleaps, genetic, anneal, improve   of subselect, criterion RM, whose square is captured; eleaps may take `limit` seconds of its
#               clock, and proved says whether it was done by then. It is given what ours is proved from, a matrix of correlations.
# captured is the share of all squares, computed by ufs_captured() for all. What draws at random is repeated with --draws seeds; CPU
# seconds are those of one call.
library(ufselect)
file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(file), "common.R"))
stopifnot(requireNamespace("subselect", quietly = TRUE))
folder <- option("data", Sys.getenv("UFSELECT_DATA"))
draws <- seq_len(as.integer(option("draws", "3")))
limit <- as.numeric(option("limit", "60"))
sizes <- list(wine = c(3, 5, 8), vehicle = c(3, 5, 8), segment = c(3, 5, 8), wdbc = c(3, 5, 8, 12, 16, 20), ionosphere = c(3, 5, 8),
  dermatology = c(3, 5, 8), sonar = c(3, 4, 5))
quietly <- function(code) {
  utils::capture.output(value <- suppressWarnings(code))
  value
}
all <- NULL
for (set in intersect(words(option("sets", paste(names(sizes), collapse = ","))), names(sizes))) {
  x <- read_set(folder, set)$x
  x <- scale(x[, apply(x, 2L, stats::sd) > 0])
  x <- x[, !duplicated(round(t(x), 8L))]
  colnames(x) <- paste0("V", seq_len(ncol(x)))
  # Columns that depend on others, which subselect does not take.
  x <- x[, sort(qr(x, tol = 1e-5)$pivot[seq_len(qr(x, tol = 1e-5)$rank)])]
  r <- stats::cor(x)
  for (k in sizes[[set]]) {
    add <- function(how, draw, columns, seconds, proved = NA) {
      all <<- rbind(all, data.frame(set, p = ncol(x), k, how, draw, captured = round(ufs_captured(columns, x)$captured, 7L), proved,
        cpu_seconds = signif(seconds, 3L)))
    }
    ours <- function(how, ..., draw = 0L) {
      set.seed(draw)
      seconds <- cpu(fit <- suppressWarnings(suppressMessages(ufs_css(x, k, ...))))
      add(how, draw, selected_features(fit, k), seconds,
        if ("optimal" %in% names(fit$certificate)) fit$certificate[["optimal"]] == 1 else NA)
    }
    ours("default", mu_rel = 0)
    ours("swaps", mu_rel = 0, swaps = TRUE)
    ours("proved", mu_rel = 0, optimal = TRUE)
    for (draw in draws) {
      ours("starts", mu_rel = 0, starts = 20, draw = draw)
      ours("more", mu_rel = 0, starts = 40, draw = draw)
      for (search in c("genetic", "anneal", "improve")) {
        set.seed(draw)
        seconds <- cpu(found <- quietly(getExportedValue("subselect", search)(r, k, criterion = "RM")))
        add(search, draw, as.integer(found$bestsets), seconds)
      }
    }
    clock <- system.time(found <- quietly(subselect::eleaps(r, k, k, criterion = "RM", timelimit = limit)))
    add("eleaps", 0L, as.integer(found$bestsets), clock[["user.self"]] + clock[["sys.self"]], clock[["elapsed"]] < limit)
    say("%s %d\n", set, k)
  }
}
if (!is.null(option("out"))) write_table(all, option("out"))
best <- stats::ave(all$captured, all$set, all$k, FUN = max)
print(stats::aggregate(cbind(at_best = captured >= best - 1e-6, cpu_seconds) ~ how, all, function(a) signif(mean(a), 3L)))
print(all[all$how %in% c("proved", "eleaps"), ], row.names = FALSE)
