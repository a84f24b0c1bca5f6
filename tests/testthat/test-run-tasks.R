x <- as.matrix(mtcars)

# The signals that a progress bar would get from `code`: types in order, and amounts.
signals <- function(code) {
  seen <- list()
  withr::local_options(progressr.enable = TRUE)
  withCallingHandlers(code, progression = function(p) {
    if (p$type %in% c("initiate", "update", "finish")) seen[[length(seen) + 1]] <<- p
  })
  list(type = vapply(seen, `[[`, "", "type"),
    amount = sum(vapply(seen, function(p) if (p$type == "update") as.numeric(p$amount) else 0, 0)))
}

test_that("progress reaches the end before the bar is closed, which says nothing more", {
  skip_on_cran()
  skip_if_not_installed("progressr")
  first <- list(f = function(x, y, newx) rep(y[1], nrow(newx)))
  calls <- alist(ufs_grid(x, "pca", list(n_components = 1:5)), ufs_stability(x, "variance", k = 3, n_resamples = 5),
    ufs_compare(iris[, 1:4], iris$Species, "variance", k = 2, repeats = 5, baselines = FALSE, classifiers = first))
  for (call in calls) {
    seen <- signals(eval(call))
    expect_identical(seen$amount, 5)
    expect_identical(seen$type[1], "initiate")
    expect_identical(sum(seen$type == "update"), 5L)
    expect_true(max(which(seen$type == "update")) < min(c(which(seen$type == "finish"), Inf)))
  }
  skip_processes()
  skip_if_not_installed("progressr")
  script <- function(...) {
    file <- withr::local_tempfile(fileext = ".R")
    writeLines(c(sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
      "library(ufselect)", "options(progressr.enable = TRUE, progressr.clear = FALSE)", ...), file)
    system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(file)), stdout = TRUE, stderr = TRUE)
  }
  work <- "invisible(ufs_grid(as.matrix(mtcars), 'pca', list(n_components = 1:5)))"
  handler <- "progressr::handlers(progressr::handler_txtprogressbar(file = stdout(), enable = TRUE, intrusiveness = 0))"
  global <- script("progressr::handlers(global = TRUE)", handler, work)
  expect_true(any(grepl("100%", global, fixed = TRUE)))
  expect_false(any(grepl("warning", global, ignore.case = TRUE)))
  expect_true(any(grepl("100%", script(handler, sprintf("progressr::with_progress(%s)", work)), fixed = TRUE)))
})

test_that("workers get x by a file, whatever its size, and signal their progress", {
  skip_processes()
  skip_if_not_installed("future")
  skip_if_not_installed("progressr")
  set.seed(1)
  large <- matrix(rnorm(60 * 3000), 60)
  withr::local_options(future.globals.maxSize = 1e6)
  expect_gt(as.double(object.size(large)), 1e6)
  local_workers()
  expect_identical(signals(grid <- ufs_grid(large, "pca", list(n_components = 1:3)))$amount, 3)
  expect_identical(grid$results$status, rep("converged", 3))
  expect_identical(grid$feature_scores[, 2], feature_scores(ufs_pca(large, 2)))
  expect_length(ufs_stability(large, "variance", k = 10, n_resamples = 4)$errors, 0)
  # A graph that all settings share does not travel with each of them either.
  shared <- ufs_grid(large, "laplacian", list(graph = list(list(n_neighbours = 3), list(n_neighbours = 4))))
  expect_identical(shared$results$error, c("", ""))
  y <- rep(1:3, 20)
  compared <- suppressMessages(ufs_compare(large, y, "variance", k = 5, repeats = 2, baselines = FALSE,
    classifiers = list(f = function(x, y, newx) rep(y[1], nrow(newx)))))
  expect_identical(compared$results$error, c("", ""))
  expect_length(list.files(tempdir(), "^ufselect-.*rds$"), 0)
})

test_that("a session that dies costs its fits, which are done again by a new one", {
  skip_processes()
  skip_on_os("windows")
  local_workers()
  flag <- withr::local_tempfile()
  compare <- function(classifier, ...) {
    set.seed(1)
    ufs_compare(x, factor(rep(1:2, 16)), "pca", k = 3, repeats = 4, baselines = FALSE,
      classifiers = list(f = classifier), ...)
  }
  first <- function(x, y, newx) rep(y[1], nrow(newx))
  deadly <- function(x, y, newx, flag) {
    if (!file.exists(flag)) {
      file.create(flag)
      tools::pskill(Sys.getpid(), tools::SIGKILL)
    }
    rep(y[1], nrow(newx))
  }
  formals(deadly)$flag <- flag
  folder <- withr::local_tempdir()
  expect_length(grep("A worker was lost with", capture_warnings(found <- compare(deadly, checkpoint = folder))), 1L)
  expect_true(file.exists(flag))
  expect_identical(found$results$accuracy, compare(first)$results$accuracy)
  expect_length(list.files(folder, "^compare.*rds$"), 4)
  expect_length(list.files(tempdir(), "^ufselect-.*rds$"), 0)
  expect_equal(future::nbrOfWorkers(), 2)
})

test_that("a call keeps no data, a worker that cannot read says so, and workers run BLAS with one thread", {
  fit <- do.call(ufs, list(x, "variance"))
  expect_identical(fit$call$x, as.name("<matrix 32 x 11>"))
  expect_lt(as.double(object.size(do.call(ufs_variance, list(matrix(rnorm(3e4), 30))))), 5e5)
  expect_match(capture.output(print(summary(fit)))[2], "<matrix 32 x 11>", fixed = TRUE)
  expect_error(ufselect:::shared_value(tempfile(fileext = ".rds")), "ufselect.shared_dir",
    class = "ufs_error_input", fixed = TRUE)
  withr::local_envvar(stats::setNames(rep(NA, length(thread_names)), thread_names))
  seen <- function() Sys.getenv(c("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), NA, names = FALSE)
  expect_identical(with_one_thread(seen()), c("1", "1"))
  # They are gone after it, after an error, too.
  expect_error(with_one_thread(stop("no")), "no")
  expect_identical(seen(), c(NA_character_, NA_character_))
  withr::local_envvar(OPENBLAS_NUM_THREADS = "2")
  expect_identical(with_one_thread(seen()), c("2", NA))
})

test_that("workers get what is worth the way to them", {
  skip_if_not_installed("future")
  expect_false(workers_pay(0, here = 0L, all = 100L, seconds = 50))
  # Few tasks, and all that a scheduler has to do, at once.
  expect_true(workers_pay(2, here = 0L, all = 5L, seconds = 0))
  expect_true(workers_pay(Inf, here = 0L, all = 1e5, seconds = 0))
  # The tasks that are left must take over a second, as far as one can tell.
  expect_false(workers_pay(2, here = 0L, all = 6L, seconds = 0))
  expect_false(workers_pay(2, here = 3L, all = 6L, seconds = 0.9))
  expect_false(workers_pay(2, here = 1L, all = 100L, seconds = 0.1))
  expect_true(workers_pay(2, here = 1L, all = 6L, seconds = 0.5))
  old <- future::plan("multisession", workers = 2)
  withr::defer(future::plan(old))
  replaced("workers_pay", function(workers, here, all, seconds) here == 3L)
  out <- run_tasks(as.list(1:6), function(task, common) c(task, Sys.getpid()), list(a = 1))$values
  expect_identical(vapply(out, `[`, 0L, 1L), 1:6)
  expect_identical(vapply(out, `[`, 0L, 2L) == Sys.getpid(), rep(c(TRUE, FALSE), each = 3))
})

test_that("who waits hears before a long fit begins how long it takes and what shortens it", {
  withr::local_options(ufselect.progress = TRUE)
  x <- matrix(stats::rnorm(1e6), 2000)
  told <- function(call) tryCatch(call, ufs_wait = conditionMessage)
  expect_match(told(ufs_topk(x, k = 20, n_clusters = 5)),
    "^ufs_topk\\(\\) on 2,?000 samples x 500 features will take about [0-9]+ seconds; to shorten it: `ufs_control\\(max_iter = \\)`, or fewer ")
  expect_match(told(ufs_size(x, "css", n_resamples = 400)), "`n_resamples` and `repeats`, or fewer")
  expect_s3_class(told(ufs_variance(x)), "ufs_variance")
  withr::local_options(ufselect.progress = FALSE)
  expect_silent(foretell("f()", x, c(k = 100)))
  # Failed fits are counted and the first is quoted.
  expect_output(print_failed(c("no data", "no rows"), "  ", "repeat"), "^  2 repeats failed, first: no data$")
  expect_identical(capture.output(print_failed(character(), "  ", "repeat")), character())
})
