# What is no error of a fit (a time limit, memory, an interrupt) ends the loop over fits around it.

skip_on_cran()

x <- as.matrix(mtcars)
loops <- list(grid = quote(ufs_grid(x, "pca", list(n_components = rep(1:3, 4)))),
  tune = quote(ufs_tune(x, "pca", list(n_components = rep(1:3, 4)), k = 3)),
  stability = quote(ufs_stability(x, "pca", k = 3, n_components = 2, n_resamples = 12)),
  stabilities = quote(ufs_stability(x, c("pca", "variance"), k = 3, n_components = 2, n_resamples = 6)),
  size = quote(ufs_size(x, "pca", n_components = 2, n_resamples = 12, repeats = 6)),
  decoys = quote(ufs_decoys(x, "pca", n_components = 2, repeats = 12)),
  compare = quote(ufs_compare(x, rep(1:2, 16), "pca", k = 3, repeats = 12, baselines = FALSE,
    classifiers = list(f = function(x, y, newx) rep(y[1], nrow(newx))))),
  cluster = quote(ufs_compare(x, rep(1:2, 16), "pca", k = 3, repeats = 12, mode = "cluster", baselines = FALSE)),
  settings = quote(ufs_compare(x, rep(1:2, 16), "pca", k = 3, repeats = 6, baselines = FALSE,
    args = list(pca = list(grid = list(n_components = 1:2))),
    classifiers = list(f = function(x, y, newx) rep(y[1], nrow(newx))))), consensus = quote(ufs_consensus(x, 3, 4)),
  select = quote(ufs_select(x, "auto", "cluster")))

# What a function may not leave: files, connections, options, graphics devices, another folder or
# kind of random numbers, libraries for workers.
left_behind <- function() {
  # They set options when they are loaded.
  for (package in c("progressr", "future", "clue", "Matrix")) requireNamespace(package, quietly = TRUE)
  list(files = setdiff(list.files(tempdir(), "^(ufselect|file).*"), basename(list.dirs(tempdir(), recursive = FALSE))),
    connections = getAllConnections(), options = options(), devices = grDevices::dev.list(),
    folder = getwd(), random = RNGkind(), libraries = Sys.getenv("R_LIBS", NA))
}

# What R itself raises, raised from inside the call: no test waits for a clock or a signal.
out_of_time <- function(...) stop(gettext("reached elapsed time limit", domain = "R"), call. = FALSE)
interrupted <- function(...) stop(structure(list(), class = c("interrupt", "condition")))

# All loops with `during()` in each fit but the first: the condition that each ends with, and how
# many fits had begun.
ended <- function(during) {
  plain <- ufs
  for (name in names(loops)) {
    if (name == "cluster" && !requireNamespace("clue", quietly = TRUE)) next
    begun <- 0
    replaced("ufs", function(...) {
      begun <<- begun + 1
      if (begun == 2) during()
      plain(...)
    })
    for (folder in list(NULL, withr::local_tempdir())) {
      begun <- 0
      call <- loops[[name]]
      if (!is.null(folder) && "checkpoint" %in% names(formals(as.character(call[[1L]])))) call$checkpoint <- folder
      before <- left_behind()
      found <- tryCatch(quietly(eval(call)), error = identity, interrupt = identity)
      now <- left_behind()
      # Files that others made before may be gone, with the objects that they belonged to.
      now$files <- union(before$files, now$files)
      expect_identical(changed(now, before), character(), info = name)
      expect_s3_class(found, "condition")
      expect_identical(begun, 2, info = name)
      if (!is.null(folder)) expect_length(list.files(folder, "part$"), 0)
      if (inherits(found, "condition")) last <- found
    }
  }
  last
}

test_that("what is no error of a fit ends the loops over fits, workers or not, and leaves nothing behind", {
  last <- ended(out_of_time)
  expect_match(conditionMessage(last), gettext("reached elapsed time limit", domain = "R"), fixed = TRUE)
  expect_match(conditionMessage(ended(function() numeric(2^50))), "cannot allocate vector")
  expect_s3_class(ended(interrupted), "interrupt")
  kept <- function(...) on_error(stop(...), function(e) "kept")
  expect_identical(kept("singular"), "kept")
  expect_identical(on_error(ufs_abort("memory", "cannot allocate vector of size"), function(e) "kept"), "kept")
  for (words in c("reached elapsed time limit", "reached CPU time limit", "reached session elapsed time limit",
    "cannot allocate vector of size 7.5 Gb", "vector memory limit of 16.0 Gb reached, see mem.maxVSize()")) {
    expect_error(kept(words), words, fixed = TRUE)
  }
  deep <- function(n) deep(n + 1)
  if (getRversion() >= "4.2.0") expect_error(on_error(deep(1), function(e) "kept"))
  skip_processes()
  local_workers()
  slow <- function(x, y, newx) {
    Sys.sleep(1)
    rep(y[1], nrow(newx))
  }
  wrong <- function(x, y, newx) stop("no")
  run <- function(classifier, ...) {
    suppressWarnings(ufs_compare(x, factor(rep(1:2, 16)), "pca", k = 3, repeats = 2, baselines = FALSE,
      classifiers = list(f = classifier), ...))
  }
  run(function(x, y, newx) rep(y[1], nrow(newx)))
  before <- left_behind()
  expect_error(run(wrong), "failed: no", class = "ufs_error_argument")
  expect_identical(changed(left_behind(), before), character())
  # They come where this process waits for what the workers have.
  for (during in list(out_of_time, interrupted)) {
    local({
      replaced("value", during, "future")
      ended <- tryCatch(run(slow), error = identity, interrupt = identity)
      expect_identical(ended, tryCatch(during(), error = identity, interrupt = identity))
    })
    expect_identical(changed(left_behind(), before), character())
  }
  expect_identical(nrow(run(function(x, y, newx) rep(y[1], nrow(newx)))$results), 2L)
})
