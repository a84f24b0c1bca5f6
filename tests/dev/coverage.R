# Lines of R/ and src/ that the whole suite runs: Rscript tests/dev/coverage.R, or `make coverage`, which installs
# what it needs. covr counts, with gcov for C. A line that no test runs must be in coverage.csv with its reason, as it
# is written there, wherever it stands in its file; a row of coverage.csv whose line is run, or gone, must go. Fails where
# that does not hold, below 95 % of lines, and where the badge of README (.github/coverage.svg) says another per cent.
#   --write            writes the badge, and leaves out of coverage.csv what is run or gone
#   --filter=<regex>   those test files alone: to try out; nothing is compared
#   --keep=<file>      the counts, line by line, as csv
source(file.path("tests", "dev", "options.R"))
options <- options_of(write = FALSE, filter = "", keep = "")
top <- normalizePath(".")
stopifnot(file.exists("DESCRIPTION"), nzchar(Sys.which("gcov")))
least <- 95
list_of <- file.path(top, "tests", "dev", "coverage.csv")
badge <- file.path(top, ".github", "coverage.svg")

# Optimised, since the suite takes hours otherwise, but with each function by itself: gcov reads the counts of
# lines from before the optimiser moves them.
options(covr.flags = c(CFLAGS = "-O1 -g0 --coverage -fno-inline", LDFLAGS = "--coverage"))
copy <- file.path(tempfile("coverage"), "ufselect")
dir.create(dirname(copy))
stopifnot(system2("bash", c(file.path(".ci", "copy"), shQuote(copy))) == 0L)
# covr counts in the functions of the namespace. Tables that the package keeps, such as the registry, hold copies of
# them once they come from the lazy-load database: when the copy is loaded they get the namespace's own again.
writeLines(c("covered_load <- .onLoad", ".onLoad <- function(libname, pkgname) {", "  covered_load(libname, pkgname)",
  "  space <- parent.env(environment())", "  key <- function(f) paste(utils::getSrcFilename(f), paste(attr(f, 'srcref'), collapse = ' '))",
  "  own <- Filter(is.function, mget(ls(space, all.names = TRUE), space))",
  "  names(own) <- vapply(own, key, '')",
  "  again <- function(part) {",
  "    if (is.function(part)) return(if (key(part) %in% names(own)) own[[key(part)]] else part)",
  "    if (is.environment(part)) for (name in ls(part)) assign(name, again(get(name, part)), part)",
  "    if (is.list(part) && !is.object(part)) part[] <- lapply(part, again)",
  "    part",
  "  }",
  "  for (name in setdiff(ls(space, all.names = TRUE), c('.__NAMESPACE__.', '.__S3MethodsTable__.'))) {",
  "    part <- get(name, space)",
  "    if (is.list(part) || is.environment(part)) assign(name, again(part), space)",
  "  }",
  "}"), file.path(copy, "R", "zzzz.R"))
told <- file.path(dirname(copy), "told.txt")
code <- c(
  "Sys.setenv(NOT_CRAN = 'true', TESTTHAT_PARALLEL = 'false', TZ = 'UTC', OPENBLAS_NUM_THREADS = '1', OMP_NUM_THREADS = '1')",
  sprintf("setwd(%s)", deparse(file.path(copy, "tests", "testthat"))),
  "library(testthat)",
  sprintf("all <- test_dir('.', package = 'ufselect', load_package = 'installed', filter = %s,",
    if (nzchar(options$filter)) deparse(options$filter) else "NULL"),
  "  reporter = 'check', stop_on_failure = FALSE)",
  "found <- as.data.frame(all)",
  # The column `error` of it is FALSE where a warning came after the error.
  "ended <- vapply(all, function(test) any(vapply(test$results, inherits, NA, 'expectation_error')), NA)",
  sprintf("writeLines(format(c(sum(found$nb) - sum(found$failed) - sum(found$skipped), sum(found$failed) + sum(ended), sum(found$skipped))), %s)",
    deparse(told)))
counted <- covr::package_coverage(copy, type = "none", code = code, clean = FALSE)
suite <- as.integer(readLines(told))
cat(sprintf("the suite, counted: %d passed, %d failed, %d skipped\n", suite[1L], suite[2L], suite[3L]))

lines <- covr::tally_coverage(counted, by = "line")
lines <- data.frame(file = lines$filename, line = lines$line, runs = lines$value, stringsAsFactors = FALSE)
lines$file <- sub("^.*/(R|src)/", "\\1/", lines$file)
lines <- stats::aggregate(runs ~ file + line, lines, sum)
lines <- lines[lines$file != "R/zzzz.R", ]
lines <- lines[order(lines$file, lines$line, method = "radix"), ]
text <- lapply(stats::setNames(nm = unique(lines$file)), function(file) trimws(readLines(file.path(top, file))))
lines$code <- mapply(function(file, line) text[[file]][line], lines$file, lines$line, USE.NAMES = FALSE)
if (nzchar(options$keep)) utils::write.csv(lines, options$keep, row.names = FALSE)
share <- function(runs) floor(1000 * mean(runs > 0)) / 10
language <- sub("/.*", "", lines$file)
for (one in c("R", "src")) {
  cat(sprintf("%-4s %6d lines, %6d run, %.1f %%\n", one, sum(language == one), sum(lines$runs[language == one] > 0),
    share(lines$runs[language == one])))
}
all <- share(lines$runs)
cat(sprintf("both %6d lines, %6d run, %.1f %%\n", nrow(lines), sum(lines$runs > 0), all))
if (nzchar(options$filter)) quit(save = "no")

# Rows and lines are matched by file and text; of several of one text as many rows as lines.
key <- function(table) {
  key <- paste(table$file, table$code, sep = "\r")
  paste(key, stats::ave(seq_along(key), key, FUN = seq_along), sep = "\r")
}
open <- lines[lines$runs == 0, ]
listed <- utils::read.csv(list_of, colClasses = "character", encoding = "UTF-8")
known <- key(open) %in% key(listed[nzchar(listed$reason), ])
stale <- !key(listed) %in% key(open)
cat(sprintf("%d lines are run by no test: %d with a reason in tests/dev/coverage.csv, %d without\n", nrow(open), sum(known), sum(!known)))
cat(sprintf("  %s:%d: %s\n", open$file, open$line, open$code)[!known], sep = "")
if (any(stale)) cat("rows of tests/dev/coverage.csv whose line is run, or gone:\n", sprintf("  %s: %s\n", listed$file, listed$code)[stale], sep = "")

# Both figures in the middle of their half, as shields.io draws them.
drawn <- function(all) {
  colour <- if (all >= least) "#2e7d32" else if (all >= 80) "#b26a00" else "#b71c1c"
  sprintf(paste0("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"112\" height=\"20\" role=\"img\" aria-label=\"coverage: %1$.1f %%\">",
    "<title>coverage: %1$.1f %% of the lines of R and C</title><rect width=\"62\" height=\"20\" rx=\"3\" fill=\"#555\"/>",
    "<rect x=\"58\" width=\"54\" height=\"20\" rx=\"3\" fill=\"%2$s\"/><rect x=\"58\" width=\"6\" height=\"20\" fill=\"%2$s\"/>",
    "<g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\" text-anchor=\"middle\">",
    "<text x=\"30\" y=\"14\">coverage</text><text x=\"85\" y=\"14\">%1$.1f %%</text></g></svg>"), all, colour)
}
if (options$write) {
  writeLines(drawn(all), badge)
  utils::write.csv(listed[!stale, ], list_of, row.names = FALSE, fileEncoding = "UTF-8")
  stale[] <- FALSE
}
# Other versions of R, of the compiler and of suggested packages run a few lines more or less.
said <- if (file.exists(badge)) as.numeric(sub(".*aria-label=\"coverage: ([0-9.]+) .*", "\\1", readLines(badge)[1L])) else NA
wrong <- c(if (suite[2L]) "tests fail", if (any(!known)) "lines without a reason", if (any(stale)) "rows without a line",
  if (all < least) sprintf("below %d %%", least), if (is.na(said) || abs(said - all) > 0.5) "the badge says another figure")
cat(if (length(wrong)) paste0("coverage: ", paste(wrong, collapse = "; ")) else "coverage: as listed", "\n", sep = "")
quit(save = "no", status = as.integer(length(wrong) > 0L))
