# What CRAN runs and how long it takes: the tests with NOT_CRAN unset, the examples and the vignettes,
# in CPU seconds, children included. Fails above the limits below, when a test of that tier fails, and
# when a method of ufs_methods() is never fitted in it.
#   R_LIBS=<library with this ufselect> Rscript tests/dev/tiers.R [--parts=tests,examples,vignettes]
#     [--scale=1] [--filter=<regex of test files>]
# --scale multiplies the limits, for slower machines. The limits hold for one core of the machine on
# which they were set (see CONTRIBUTING.md); CRAN's are allowed half as much again.
source(file.path("tests", "dev", "common.R"))
options <- options_of(parts = "tests,examples,vignettes", scale = 1, filter = "")
parts <- strsplit(options$parts, ",", fixed = TRUE)[[1L]]
stopifnot(parts %in% c("tests", "examples", "vignettes"), options$scale > 0)
limit <- c(tests = 60, examples = 10, example = 1, vignettes = 60) * options$scale
Sys.unsetenv("NOT_CRAN")
Sys.setenv(TESTTHAT_PARALLEL = "false", OPENBLAS_NUM_THREADS = "1", OMP_NUM_THREADS = "1",
  R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))

tried <- failed <- 0L
check <- function(good, ...) {
  tried <<- tried + 1L
  if (isTRUE(good)) return(invisible())
  failed <<- failed + 1L
  cat("FAILED: ", ..., "\n", sep = "")
}
cpu <- function() sum(proc.time()[c(1L, 2L, 4L, 5L)], na.rm = TRUE)
slowest <- function(table, n = 15L) {
  table <- utils::head(table[order(-table$cpu), ], n)
  cat(sprintf("%7.2f  %s\n", table$cpu, do.call(paste, table[names(table) != "cpu"])), sep = "")
}
within <- function(part, used) {
  cat(sprintf("%s: %.1f CPU s of %.0f\n\n", part, used, limit[[part]]))
  check(used <= limit[[part]], sprintf("the %s take %.1f CPU s", part, used))
}

if ("tests" %in% parts) {
  # The last step of every fit is finish_fit(): a method that gets through it was fitted to its end.
  fitted <- new.env()
  finish_fit <- ufselect:::finish_fit
  # trace() would take a quarter of the time.
  utils::assignInNamespace("finish_fit", function(method, ...) {
    fit <- finish_fit(method, ...)
    assign(method, TRUE, envir = fitted)
    fit
  }, "ufselect")
  before <- cpu()
  found <- as.data.frame(testthat::test_dir("tests/testthat", package = "ufselect",
    load_package = "installed", stop_on_failure = FALSE, reporter = "silent",
    filter = if (nzchar(options$filter)) options$filter))
  used <- cpu() - before
  utils::assignInNamespace("finish_fit", finish_fit, "ufselect")
  found$cpu <- found$user + found$system
  cat("\nthe slowest blocks\n")
  slowest(found[c("cpu", "file", "test")], 30L)
  cat("\nthe slowest files\n")
  slowest(stats::aggregate(cpu ~ file, found, sum))
  within("tests", used)
  wrong <- sum(found$failed) + sum(found$error)
  check(wrong == 0, wrong, " expectations fail without NOT_CRAN, in ",
    paste(unique(found$file[found$failed > 0 | found$error]), collapse = ", "))
  check(!"NOT_CRAN" %in% names(Sys.getenv()), "a test has set NOT_CRAN and not restored it")
  for (method in ufs_methods()$method) {
    check(exists(method, fitted, inherits = FALSE), "no test of CRAN's tier fits ", method)
  }
}

# As R CMD check --as-cran runs them: \donttest too, all in one process.
if ("examples" %in% parts) {
  grDevices::pdf(NULL)
  pages <- sort(list.files("man", "[.]Rd$", full.names = TRUE))
  used <- vapply(pages, function(page) {
    code <- tempfile(fileext = ".R")
    tools::Rd2ex(page, code)
    if (!file.exists(code)) return(NA_real_)
    told <- NULL
    run <- function() {
      set.seed(1)
      before <- cpu()
      told <<- tryCatch({
        suppressMessages(suppressWarnings(utils::capture.output(
          source(code, local = new.env(), echo = FALSE, print.eval = TRUE))))
        NULL
      }, error = conditionMessage)
      cpu() - before
    }
    first <- run()
    check(is.null(told), "the example of ", basename(page), " stops: ", told)
    # The first time may have loaded a framework: that is part of the sum, but not the example's.
    time <- if (first > limit[["example"]]) run() else first
    check(time <= limit[["example"]], sprintf("the example of %s takes %.1f CPU s", basename(page), time))
    first
  }, 0)
  cat("the slowest examples\n")
  slowest(data.frame(cpu = used, file = basename(pages))[!is.na(used), ])
  within("examples", sum(used, na.rm = TRUE))
}

# Each in a process of its own, as when they are built; into a temporary folder.
if ("vignettes" %in% parts) {
  pages <- sort(list.files("vignettes", "[.]Rmd$", full.names = TRUE))
  used <- vapply(pages, function(page) {
    before <- cpu()
    status <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(sprintf(
      "folder <- tempfile(); dir.create(folder); rmarkdown::render(%s, quiet = TRUE, output_dir = folder, intermediates_dir = folder)",
      deparse(page)))), stdout = FALSE, stderr = "")
    check(status == 0L, "the vignette ", basename(page), " stops")
    cpu() - before
  }, 0)
  cat("the vignettes\n")
  slowest(data.frame(cpu = used, file = basename(pages)))
  within("vignettes", sum(used))
}

finish("tiers", tried, failed)
