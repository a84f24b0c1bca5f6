# The tests whose file matches a filter, with the installed package, and a line tried / survived:
# run-tests.R <title> [filter]. What the tools around it (sanitizers, valgrind) find ends the process.
suppressPackageStartupMessages({
  library(testthat)
  library(ufselect)
})
arg <- commandArgs(TRUE)
found <- as.data.frame(test_dir("tests/testthat", filter = if (length(arg) > 1) arg[2], package = "ufselect",
  load_package = "installed", stop_on_failure = FALSE, reporter = "summary"))
failed <- sum(found$failed) + sum(found$error)
tried <- sum(found$nb) - sum(found$skipped)
cat(sprintf("\n%-14s tried %6d   survived %6d   failed %4d\n", arg[1], tried, tried - failed, failed))
quit(save = "no", status = as.integer(failed > 0))
