# How often each kind of data is called by its name: tables simulated by helper-kinds.R, of 30 to
# 2,000 rows and as many columns as the kind can have. What is named wrong is printed. About 15 s:
#   Rscript tests/dev/kinds.R [seeds]
suppressMessages(library(ufselect))
seeds <- seq_len(max(1L, as.integer(c(commandArgs(TRUE), 20L)[1L])))
tests <- new.env(parent = asNamespace("ufselect"))
sys.source("tests/testthat/helper-kinds.R", tests)
named <- evalq(function(x) {
  x <- open_data(x)
  data_kind(x, function() as_column_stats(open_quietly(x), TRUE))
}, tests)

between <- function(limits) round(exp(stats::runif(1, log(limits[1L]), log(limits[2L]))))
right <- total <- 0L
for (name in names(makers <- tests$kind_makers())) {
  kind <- makers[[name]]
  wrong <- character()
  for (seed in seeds) {
    set.seed(seed)
    n <- between(kind$n)
    p <- between(kind$p)
    n <- min(n, max(kind$n[1L], 4e5 %/% p))
    seen <- suppressWarnings(suppressMessages(named(kind$make(n, p))))
    if (seen$values != kind$values) wrong <- c(wrong, sprintf("  %d x %d: %s (%s)", n, p, seen$values, seen$reason))
  }
  right <- right + length(seeds) - length(wrong)
  total <- total + length(seeds)
  cat(sprintf("%-22s %-13s %d of %d", name, kind$values, length(seeds) - length(wrong), length(seeds)), wrong, sep = "\n")
}
cat(right, "of", total, "right\n")
