# A stored value is taken for no other: every argument of every function with `checkpoint`, and all
# that ufs_data() holds, is changed in turn.

skip_on_cran()

set.seed(4)
counts <- matrix(rpois(24 * 7, 6) + 1, 24, dimnames = list(sprintf("r%02d", 1:24), letters[1:7]))
holes <- replace(counts, cbind(c(3, 9), c(2, 5)), NA)
mixed <- data.frame(counts, side = factor(rep(c("left", "right", "top"), 8)))
classes <- factor(rep(c("u", "v", "w"), 8))

# For each argument of ufs_data(): the arguments before and after it has changed.
data_changes <- list(features = list(list(), list(features = 1:6)), samples = list(list(), list(samples = 1:20)),
  na = list(list(x = holes, na = "omit"), list(x = holes, na = "median"), list(x = holes, na = "knn")),
  counts = list(list(), list(counts = "log"), list(counts = "tfidf")),
  min_samples = list(list(x = replace(counts, cbind(1:20, 3), 0)),
    list(x = replace(counts, cbind(1:20, 3), 0), min_samples = 5)),
  max_samples = list(list(x = replace(counts, cbind(1:20, 3), 0)),
    list(x = replace(counts, cbind(1:20, 3), 0), max_samples = 22, min_samples = 1)),
  rows = list(list(), list(rows = "center"), list(rows = "snv"), list(rows = "unit")),
  factors = list(list(x = mixed, factors = "dummies"), list(x = mixed, factors = "codes")),
  include = list(list(), list(include = "b"), list(include = "c")),
  exclude = list(list(), list(exclude = "b"), list(exclude = c("b", "c"))),
  cost = list(list(), list(cost = 1:7), list(cost = 7:1)),
  budget = list(list(cost = rep(1, 7)), list(cost = rep(1, 7), budget = 3), list(cost = rep(1, 7), budget = 4)),
  groups = list(list(), list(groups = list(c("a", "b"))), list(groups = list(c("a", "c")))),
  max_cor = list(list(), list(max_cor = .5), list(max_cor = .2)),
  weights = list(list(), list(weights = 1:24), list(weights = 24:1)),
  blocks = list(list(), list(blocks = rep(1:2, 12)), list(blocks = rep(1:2, each = 12))),
  block_scale = list(list(blocks = rep(1:2, 12)), list(blocks = rep(1:2, 12), block_scale = TRUE)),
  candidates = list(list(), list(candidates = 1:10), list(candidates = 2:11)),
  labelled = list(list(), list(labelled = 1:3), list(labelled = 2:4)),
  replicates = list(list(), list(replicates = rep(1:12, 2)), list(replicates = rep(1:12, each = 2))),
  sample_cost = list(list(), list(sample_cost = 1:24), list(sample_cost = 24:1)),
  sample_budget = list(list(sample_cost = rep(1, 24)), list(sample_cost = rep(1, 24), sample_budget = 6)),
  feature_strata = list(list(), list(feature_strata = rep(1:2, c(3, 4))), list(feature_strata = rep(1:2, c(4, 3)))),
  feature_quotas = list(list(feature_strata = rep(1:2, c(3, 4))),
    list(feature_strata = rep(1:2, c(3, 4)), feature_quotas = list(`1` = 1))),
  strata = list(list(), list(strata = rep(1:2, 12)), list(strata = rep(1:2, each = 12))),
  quotas = list(list(strata = rep(1:2, 12)), list(strata = rep(1:2, 12), quotas = c(`1` = 1, `2` = 2))))
opened <- function(args) do.call(ufs_data, c(if (is.null(args$x)) list(x = counts), args))
# What no result depends on: how a file is read. `assay` and `join` give another x altogether.
without_effect <- c("assay", "join", "block_bytes", "BPPARAM")

# Everything in a result but times, calls and what is said of the folder.
lasting <- function(value) {
  if (!is.list(value)) return(value)
  kept <- setdiff(names(value), c("call", "checkpoint", "seconds", "elapsed"))
  if (is.null(names(value))) lapply(value, lasting) else lapply(unclass(value)[kept], lasting)
}
asked <- function(what, args, folder = NULL) {
  set.seed(8)
  quietly(do.call(paste0("ufs_", what), c(args, list(checkpoint = folder))))
}

test_that("the key of the data is made of all that ufs_data() holds", {
  expect_setequal(c(names(data_changes), without_effect), input_arguments())
  for (arg in names(data_changes)) {
    keys <- vapply(data_changes[[arg]], function(args) data_key(opened(args)), "")
    expect_identical(anyDuplicated(keys), 0L, info = arg)
    expect_identical(vapply(data_changes[[arg]], function(args) data_key(opened(args)), ""), keys, info = arg)
  }
  expect_identical(data_key(ufs_data(counts, include = "a", exclude = "b")),
    data_key(ufs_data(ufs_data(counts, exclude = "b"), include = "a")))
  # A part that nobody knows of yet counts, too.
  expect_false(data_key(c(opened(list()), list(novel = 1))) == data_key(opened(list())))
  plain <- unname(counts)
  others <- list(plain, plain[24:1, ], plain[, 7:1], counts, counts[24:1, ], counts[, 7:1],
    `colnames<-`(counts, LETTERS[1:7]), `rownames<-`(counts, NULL), t(plain), plain + 1e-12)
  keys <- vapply(others, function(x) data_key(ufs_data(x)), "")
  expect_identical(anyDuplicated(keys), 0L)
  skip_if_not_installed("Matrix")
  keys <- vapply(others, function(x) data_key(ufs_data(methods::as(x, "CsparseMatrix"))), "")
  expect_identical(anyDuplicated(keys), 0L)
})

test_that("the key of a value is made of all that its task can see", {
  run <- list(folder = "f", prefix = "p")
  tasks <- list(list(seed = 1L, args = list(a = 1, b = 2)), list(seed = 2L, args = list(a = 1)))
  keys <- function(tasks, common) unlist(task_keys(run, tasks, common))
  first <- keys(tasks, list(x = 1, k = 3, args = list(c = 4)))
  expect_identical(anyDuplicated(first), 0L)
  expect_false(any(keys(tasks, list(x = 1, k = 3, args = list(c = 4), novel = 0)) %in% first))
  expect_false(any(keys(tasks, list(x = 1, k = 4, args = list(c = 4))) %in% first))
  expect_false(any(keys(tasks, list(x = 1, k = 3, args = list(c = 5))) %in% first))
  expect_identical(keys(list(list(args = list(c = 4, b = 2, a = 1), seed = 1L)), list(x = 1, k = 3)), first[1])
  expect_error(task_keys(run, list(list(1)), list()))
  expect_null(task_keys(list(folder = NULL), tasks, list()))
})

# Of each function: a call, and what every other argument is changed to.
calls <- list(grid = list(base = list(method = "kmeans_f", grid = list(n_clusters = 2:3), n_starts = 2),
    changed = list(method = "mcfs", grid = list(n_clusters = 3:4), keep_fits = TRUE, m = 3),
    dots = list(n_starts = 3, scale = FALSE, center = FALSE, control = ufs_control(max_iter = 2), k = 3)),
  tune = list(base = list(method = "kmeans_f", grid = list(n_clusters = 2:3), k = 3),
    changed = list(method = "mcfs", grid = list(n_clusters = 3:4), k = 2, criterion = "reconstruction",
      n_clusters = 2, m = 3), dots = list(scale = FALSE)),
  stability = list(base = list(method = "kmeans_f", k = 3, n_clusters = 3, n_resamples = 3),
    changed = list(method = "mcfs", k = 2, m = 3, n_resamples = 2, fraction = .6, level = .8),
    dots = list(n_clusters = 2, scale = FALSE, n_starts = 2)),
  size = list(base = list(method = "kmeans_f", n_clusters = 3, n_resamples = 3, repeats = 2),
    changed = list(method = "mcfs", task = "classify", k = 2:3, repeats = 3, share = .3, n_resamples = 2),
    dots = list(n_clusters = 2, scale = FALSE, n_starts = 2)),
  decoys = list(base = list(method = "kmeans_f", n_clusters = 3, repeats = 2),
    changed = list(method = "mcfs", k = 3, n_decoys = 4, repeats = 3, share = .3, conservative = TRUE),
    dots = list(n_clusters = 2, scale = FALSE, n_starts = 2)),
  compare = list(base = list(y = classes, methods = "kmeans_f", k = 3, repeats = 2, n_random = 2,
      classifiers = list(f = function(x, y, newx) rep(y[1], nrow(newx)))),
    changed = list(y = rev(classes), methods = "mcfs", k = 2, m = 4, mode = "cluster",
      classifiers = list(f = function(x, y, newx) rep(y[2], nrow(newx))), repeats = 3, train = .6,
      args = list(kmeans_f = list(scale = FALSE)), n_random = 3, baselines = FALSE), dots = list(min_samples = 2)))

test_that("a call with one argument changed gives what it gives without a folder", {
  has <- Filter(function(name) "checkpoint" %in% names(formals(name)), getNamespaceExports("ufselect"))
  expect_setequal(has, paste0("ufs_", names(calls)))
  for (what in names(calls)) {
    call <- calls[[what]]
    expect_setequal(names(call$changed), setdiff(names(formals(paste0("ufs_", what))), c("x", "...", "checkpoint")))
    folder <- withr::local_tempdir()
    base <- c(list(x = counts), call$base)
    first <- asked(what, base, folder)
    again <- asked(what, base, folder)
    expect_identical(again$checkpoint$reused, again$checkpoint$tasks, info = what)
    expect_identical(lasting(again), lasting(first), info = what)
    for (arg in c(names(call$changed), names(call$dots))) {
      args <- base
      args[arg] <- list(c(call$changed, call$dots)[[arg]])
      if (!is.null(args$mode)) skip_if_not_installed("clue")
      if (arg == "m" && what %in% c("grid", "tune", "stability")) args$method <- if (what == "tune") next else "facility"
      if (identical(args$method, "facility")) args[c("grid", "n_clusters", "n_starts", "k")] <- NULL
      if (what == "grid" && arg == "m") args$grid <- list(scale = c(TRUE, FALSE))
      if (what == "grid" && arg == "method") args$n_starts <- NULL
      if (arg == "task") {
        expect_error(asked(what, args[c("x", "task")], folder), class = "ufs_error_argument")
        next
      }
      expect_identical(lasting(asked(what, args, folder)), lasting(asked(what, args)), info = paste(what, arg))
    }
  }
})

test_that("no function takes results of other constraints or data for its own", {
  each <- list(grid = list(method = "pca", grid = list(n_components = 1:2), keep_fits = TRUE),
    tune = list(method = "css", grid = list(mu_rel = c(0, .1)), k = 3),
    stability = list(method = "pca", k = 3, n_components = 2, n_resamples = 3),
    size = list(method = "pca", n_components = 2, n_resamples = 2, repeats = 2, k = 3),
    decoys = list(method = "pca", n_components = 2, repeats = 2),
    compare = list(y = classes, methods = "pca", k = 3, repeats = 2, baselines = FALSE,
      classifiers = calls$compare$base$classifiers))
  fresh <- function(what, args) tryCatch(lasting(asked(what, args)), ufs_error = conditionMessage)
  # Each argument with a grid and with one of the others in turn: one key of the data serves all.
  args_of_data <- setdiff(names(data_changes), c("samples", "budget"))
  for (at in seq_along(args_of_data)) for (what in names(each)[c(1L, 2L + at %% 5L)]) {
    arg <- args_of_data[at]
    folder <- withr::local_tempdir()
    for (args in data_changes[[arg]]) {
      call <- c(list(x = opened(args)), each[[what]])
      found <- tryCatch(asked(what, call, folder), ufs_error = identity)
      if (inherits(found, "error")) found <- conditionMessage(found) else {
        expect_identical(found$checkpoint$reused, 0L, info = paste(what, arg))
        found <- lasting(found)
      }
      expect_identical(found, fresh(what, call), info = paste(what, arg))
    }
  }
  for (arg in c("candidates", "labelled", "replicates", "sample_cost", "strata", "quotas")) {
    folder <- withr::local_tempdir()
    chosen <- lapply(data_changes[[arg]], function(args) {
      out <- asked("grid", list(x = opened(args), method = "facility", grid = list(center = TRUE), m = 3), folder)
      expect_identical(out$checkpoint$reused, 0L, info = arg)
      out$sample_rankings[1:3, 1]
    })
    if (arg == "candidates") expect_true(all(chosen[[2]] <= 10))
  }
})

test_that("what every method stores is taken again", {
  for (method in ufs_methods()$method) {
    needs <- required_arguments(registry()[[method]]$fit)
    args <- list(n_clusters = 3, n_components = 2, k = 3, m = 3, n_features = 3, rank = 2)
    args <- args[intersect(names(args), c(needs, switch(method, blfse = "k", topk = "n_clusters")))]
    varying <- if ("scale" %in% arguments_of(registry()[[method]]$fit)) list(scale = c(TRUE, FALSE)) else
      list(control = list(ufs_control(), ufs_control(max_iter = 500)))
    if (!names(varying) %in% arguments_of(registry()[[method]]$fit)) varying <- list(k = 2:3)
    folder <- withr::local_tempdir()
    call <- c(list(x = counts, method = method, grid = varying, keep_fits = TRUE), args[setdiff(names(args), names(varying))])
    first <- asked("grid", call, folder)
    again <- asked("grid", call, folder)
    expect_identical(again$checkpoint$reused, sum(!nzchar(first$results$error)), info = method)
    expect_gt(again$checkpoint$reused, 0)
    expect_identical(lasting(again), lasting(first), info = method)
  }
})

test_that("a stored value that no run can have written is refused in words and made again", {
  # `forge` changes what is stored, with the checks that go with it.
  refused <- function(what, args, forgeries) {
    for (name in names(forgeries)) {
      folder <- withr::local_tempdir()
      good <- asked(what, args, folder)
      files <- setdiff(list.files(folder, "rds$"), list.files(folder, "^seed"))
      # ufs_size() stores decoys, too.
      key <- sub("[.]rds$", "", files[startsWith(files, what)][1L])
      expect_null(store_value(folder, key, forgeries[[name]](stored_value(key, folder, function(value) TRUE)$value)))
      set.seed(8)
      expect_warning(again <- suppressMessages(do.call(paste0("ufs_", what), c(args, list(checkpoint = folder)))),
        "cannot be read or were changed", class = "ufs_warning_checkpoint")
      expect_identical(lasting(again), lasting(good), info = paste(what, name))
    }
  }
  put <- function(name, change) function(value) {
    value[[name]] <- change(value[[name]])
    value
  }
  nan <- function(v) replace(v, 1, NaN)
  short <- function(v) v[-1]
  twice <- function(v) replace(v, 2, v[1])
  beyond <- function(v) replace(v, 1, 1000)
  refused("grid", list(x = counts, method = "pca", grid = list(n_components = 1:2)), list(
    nan = put("feature_scores", nan), short = put("feature_ranking", short), twice = put("feature_ranking", twice),
    beyond = put("feature_ranking", beyond), words = put("objective", function(v) "a"),
    none = function(value) value[setdiff(names(value), c("feature_scores", "feature_ranking"))]))
  refused("grid", list(x = counts, method = "pca", grid = list(n_components = 1:2), keep_fits = TRUE), list(
    fit = function(value) {
      value$fit$feature_scores[1] <- 99
      value
    }))
  refused("grid", list(x = counts, method = "ted", grid = list(scale = c(TRUE, FALSE)), m = 3), list(
    nan = put("sample_scores", nan), short = put("sample_ranking", short)))
  refused("stability", list(x = counts, method = "pca", k = 3, n_components = 2, n_resamples = 3), list(
    rows = put("rows", twice), beyond = put("features", beyond), none = put("features", function(v) NULL)))
  refused("size", list(x = counts, method = "pca", n_components = 2, n_resamples = 2, repeats = 2, k = 3), list(
    short = put("ranking", short), twice = put("ranking", twice)))
  refused("decoys", list(x = counts, method = "pca", n_components = 2, repeats = 2), list(
    short = put("ranking", short), beyond = put("ranking", beyond), twice = put("ranking", twice)))
  compared <- list(x = counts, y = classes, methods = "pca", k = 3, repeats = 2, baselines = FALSE,
    classifiers = calls$compare$base$classifiers)
  refused("compare", compared, list(nan = function(value) {
    value$rows$accuracy[1] <- NaN
    value
  }, none = put("rows", function(v) v[0, ]), much = function(value) {
    value$rows$accuracy <- value$rows$accuracy + 3
    value
  }))
})
