# How fast does a running fit let go? Rscript tests/dev/interrupts.R --n=1500 --p=1500 --goal=1
# Starts each method on a long job in a child process, sends SIGINT after --after seconds and
# measures the CPU time that the child spends until it reports it (wall time says nothing on a busy
# machine). Methods that end before are left out. Beside them: ufs_moments() of pieces, of the rows of a
# database and by its sums, over and over.
source("tests/dev/common.R")
set <- options_of(child = "", file = "", n = 1500, p = 1500, goal = 1, after = 3, methods = "")
moments <- c("pieces", "fetch", "database")
if (set$child %in% moments) {
  x <- as.data.frame(matrix(stats::rnorm(4e6), ncol = 20))
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  DBI::dbWriteTable(connection, "t", x)
  at <- 0
  piece <- function() if ((at <<- at + 1) %% 11) x[at %% 11 * 18000 + 1:18000, ]
  say <- function(...) cat(..., file = set$file, append = TRUE)
  say("ready\n")
  tryCatch(repeat if (set$child == "pieces") ufs_moments(piece) else ufs_moments(connection, from = "t", where = set$child),
    interrupt = function(i) say("interrupted", sum(proc.time()[1:2]), "\n"))
  quit(save = "no")
}
if (nzchar(set$child)) {
  set.seed(1)
  x <- clustered(set$n, set$p, informative = 20)
  say <- function(...) cat(..., file = set$file, append = TRUE)
  say("ready\n")
  tryCatch({
    fit_of(set$child, x)
    say("done\n")
  }, interrupt = function(i) say("interrupted", sum(proc.time()[1:2]), "\n"))
  quit(save = "no")
}
methods <- if (nzchar(set$methods)) strsplit(set$methods, ",")[[1L]] else
  c(ufs_methods()$method, if (requireNamespace("RSQLite", quietly = TRUE)) moments)
tried <- failed <- 0
for (method in methods) {
  file <- tempfile()
  pid <- tempfile()
  system(sprintf("exec 2>/dev/null; %s tests/dev/interrupts.R --child=%s --file=%s --n=%d --p=%d & echo $! > %s",
    shQuote(file.path(R.home("bin"), "Rscript")), method, file, as.integer(set$n), as.integer(set$p), pid))
  wait <- function(word, seconds) {
    end <- Sys.time() + seconds
    while (Sys.time() < end) {
      if (file.exists(file) && any(grepl(word, readLines(file, warn = FALSE)))) return(TRUE)
      Sys.sleep(.02)
    }
    FALSE
  }
  id <- as.integer(readLines(pid))
  if (!wait("ready", 60)) next
  if (wait("done", set$after)) {
    cat(sprintf("  %-10s ends before\n", method))
    next
  }
  # User and system time so far, in ticks of 1/100 s.
  used <- sum(as.double(strsplit(readLines(file.path("/proc", id, "stat")), " ")[[1L]][14:15])) / 100
  tools::pskill(id, tools::SIGINT)
  # With the blank behind the number: a line that is half written has none.
  answered <- wait("interrupted [0-9.]+ $|done", 120)
  if (any(readLines(file, warn = FALSE) == "done")) {
    cat(sprintf("  %-10s ends at the signal\n", method))
    next
  }
  said <- if (answered) grep("interrupted", readLines(file), value = TRUE) else NA
  took <- as.double(sub("interrupted ", "", said)) - used
  if (!answered) tools::pskill(id, tools::SIGKILL)
  tried <- tried + 1
  bad <- !answered || took > set$goal
  failed <- failed + bad
  cat(sprintf("  %-10s %s%5.2f s%s\n", method, if (answered) "" else "no answer", took, if (bad) "  TOO SLOW" else ""))
}
finish("interrupts", tried, failed)
