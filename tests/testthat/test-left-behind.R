# An error or an interrupt in the middle leaves nothing behind: no connection, result, file, option or seed.

skip_on_cran()

# Everything that could be left; `connection`: one of SQLite, which tells of a result that is open. showConnections()
# collects garbage first, which takes half a second here.
state_of <- function(connection) {
  open <- tryCatch(withCallingHandlers({
    DBI::dbGetQuery(connection, "SELECT 1")
    "closed"
  }, warning = function(w) stop(conditionMessage(w))), error = conditionMessage)
  list(connections = getAllConnections(), result = open, options = options(), kind = RNGkind(),
    files = sort(list.files(tempdir())), folder = getwd(),
    variables = Sys.getenv(), seed = get0(".Random.seed", globalenv(), inherits = FALSE))
}
rows_of <- function() withr::with_seed(1, matrix(stats::rnorm(450), 90, dimnames = list(NULL, letters[1:5])))

test_that("an error in any piece of the moments, or of a sketch, leaves nothing behind", {
  skip_if_not_installed("Matrix")
  connection <- local_sqlite()
  DBI::dbWriteTable(connection, "t", as.data.frame(rows_of()))
  small_queries <- query_pieces
  replaced("query_pieces", function(table, held, rows = 7L) small_queries(table, held, 7L))
  withr::local_options(ufselect.block_bytes = 8 * 5 * 7, ufselect.progress = TRUE, ufselect.watch_after = Inf)
  calls <- list(
    given = function() {
      at <- 0L
      ufs_moments(function() {
        at <<- at + 1L
        if (at <= 12L) rows_of()[7 * at + 0:6, ]
      })
    },
    fetch = function() ufs_moments(connection, from = "t"),
    database = function() ufs_moments(connection, from = "t", where = "database"),
    sums = function() {
      table <- database_table(connection, "t", NULL, NULL)
      table$is_sqlite <- FALSE
      moments_by_sql(table, batch = 4L)
    },
    sparse = function() ufs_moments(Matrix::Matrix(rows_of(), sparse = TRUE)),
    leverage = function() withr::with_seed(1, ufs_sketch(rows_of(), 20, n_vectors = 2)),
    facility = function() ufs_sketch(rows_of(), 20, "facility"))
  # The function called in each of them; the error is in its first call, in the middle one, in the last.
  inside <- c("moments_of_rows", "merge_moments", "moment_columns", "engine_sums", "watch_says", "subset_data", "x_pca")
  tried <- 0L
  for (name in names(calls)) for (place in inside) {
    passed <- 0L
    stop_at <- Inf
    own <- get(place, asNamespace("ufselect"))
    local({
      replaced(place, function(...) {
        passed <<- passed + 1L
        if (passed >= stop_at) stop("in the middle")
        own(...)
      })
      suppressMessages(calls[[name]]())
      for (at in unique(c(1L, (passed + 1L) %/% 2L, passed))) {
        if (at < 1L) next
        before <- state_of(connection)
        stop_at <- at
        passed <- 0L
        # Some errors are caught, and another way is gone.
        said <- tryCatch(suppressMessages(calls[[name]]()), error = conditionMessage)
        stop_at <- Inf
        expect_identical(changed(state_of(connection), before), character(), info = paste(name, place, at))
        tried <<- tried + identical(said, "in the middle")
      }
    })
  }
  expect_gt(tried, 50L)
})

# The script sends itself an interrupt in a random step of each call, and writes what is left.
test_that("an interrupt in a random step is answered at once and leaves nothing behind", {
  skip_processes()
  skip_on_os("windows")
  skip_if_not_installed("RSQLite")
  folder <- withr::local_tempdir()
  script <- c("library(ufselect)", deparse(call("<-", quote(state_of), state_of)),
    deparse(call("<-", quote(changed), changed)), bquote(setwd(.(folder))), quote({
    set.seed(1)
    x <- as.data.frame(matrix(stats::rnorm(3e5), ncol = 20))
    connection <- DBI::dbConnect(RSQLite::SQLite(), "d.sqlite")
    DBI::dbWriteTable(connection, "t", x)
    options(ufselect.watch = function(...) {
      passed <<- passed + 1L
      if (passed == stop_at) tools::pskill(Sys.getpid(), tools::SIGINT)
    })
    calls <- list(fetch = function() ufs_moments(connection, from = "t"),
      database = function() ufs_moments(connection, from = "t", where = "database"),
      sketch = function() ufs_sketch(x[1:2000, ], 20, "facility"))
    for (name in names(calls)) {
      stop_at <- Inf
      passed <- 0L
      suppressMessages(calls[[name]]())
      for (at in sample.int(passed, 6L, TRUE)) {
        before <- state_of(connection)
        stop_at <- at
        passed <- 0L
        # R hears of it at its next look, which may be in this sleep.
        said <- tryCatch({
          suppressMessages(calls[[name]]())
          Sys.sleep(.01)
          "no interrupt came"
        }, interrupt = function(i) "interrupted", error = conditionMessage)
        left <- changed(state_of(connection), before)
        cat(c(name, said, left), "\n", file = "said", append = TRUE)
      }
    }
  }))
  file <- file.path(folder, "run.R")
  writeLines(unlist(lapply(script, function(line) if (is.character(line)) line else deparse(line))), file)
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  system2(file.path(R.home("bin"), "Rscript"), shQuote(file), stdout = FALSE, stderr = FALSE)
  said <- readLines(file.path(folder, "said"))
  expect_identical(said, paste0(rep(c("fetch", "database", "sketch"), each = 6), " interrupted "))
})
