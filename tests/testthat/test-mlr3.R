# The filter in mlr3. Runs where mlr3filters is installed: `make check-frameworks` sees to it.

skip_on_cran()
skip_if_not_installed("mlr3filters")
skip_if_not_installed("mlr3")
suppressPackageStartupMessages(library(mlr3filters))

getExportedValue("lgr", "get_logger")("mlr3")$set_threshold("warn")

# What mlr3filters asks of each of its filters (its own helper of that name is not installed).
expect_ufs_filter <- function(filter, task) {
  expect_s3_class(filter, "Filter")
  for (text in list(filter$id, filter$label, filter$man)) {
    expect_true(is.character(text) && length(text) == 1L && nzchar(text))
  }
  expect_true(all(filter$packages %in% c("ufselect", "mlr3filters")))
  expect_true(is.na(filter$task_types))
  expect_true(all(filter$feature_types %in% mlr3::mlr_reflections$task_feature_types))
  expect_s3_class(filter$param_set, "ParamSet")
  expect_match(filter$man, "::", fixed = TRUE)
  expect_output(print(filter), filter$id)
  filter$calculate(task)
  expect_true(is.numeric(filter$scores))
  expect_identical(sort(names(filter$scores)), sort(task$feature_names))
  expect_false(is.unsorted(-filter$scores[!is.na(filter$scores)]))
  table <- data.table::as.data.table(filter)
  expect_identical(names(table), c("feature", "score"))
  expect_identical(nrow(table), length(task$feature_names))
}

settings <- function(method) {
  arguments <- formals(registry()[[method]]$fit)
  given <- list(n_clusters = 3L, n_components = 2L)
  required <- names(arguments)[vapply(arguments, function(a) is.name(a) && !nzchar(a), NA)]
  given <- given[intersect(names(given), required)]
  if ("y" %in% names(arguments)) given$n_clusters <- 3L
  given
}

ranks_features <- subset(ufs_methods(), selects != "samples")$method

for (method in ranks_features) {
  test_that(paste0("flt(\"ufs\", method = \"", method, "\") is a filter with the method's scores"),
    {
    task <- mlr3::tsk("mtcars")
    filter <- flt("ufs", method = method)
    filter$param_set$set_values(.values = settings(method))
    set.seed(1)
    suppressMessages(suppressWarnings(expect_ufs_filter(filter, task)))
    set.seed(1)
    per_k <- registry()[[method]]$per_k
    args <- c(settings(method), if (!is.null(per_k)) stats::setNames(list(10L), per_k))
    fit <- suppressMessages(suppressWarnings(do.call(ufs, c(list(
      x = as.data.frame(task$data(cols = task$feature_names)), method = method), args))))
    expect_equal(filter$scores[task$feature_names], feature_scores(fit)[task$feature_names])
    expect_identical(filter$id, paste0("ufs_", method))
  })
}

test_that("the parameters are the arguments of the method", {
  ids <- function(method) flt("ufs", method = method)$param_set$ids()
  for (method in ranks_features) {
    expect_setequal(ids(method), setdiff(arguments_of(registry()[[method]]$fit), "y"))
  }
  set <- flt("ufs", method = "socfs")$param_set
  expect_identical(set$class[["n_clusters"]], "ParamInt")
  expect_identical(set$class[["lambda_rel"]], "ParamDbl")
  expect_identical(set$class[["solver"]], "ParamFct")
  expect_identical(set$levels$solver, c("exact", "irls"))
  expect_identical(set$class[["center"]], "ParamLgl")
  expect_identical(set$class[["control"]], "ParamUty")
  expect_error(set$set_values(n_clusters = 0L), "n_clusters")
  expect_error(flt("ufs", method = "socfs", nosuch = 1))
  expect_identical(flt("ufs", method = "socfs", n_clusters = 4L)$param_set$values$n_clusters, 4L)
})

test_that("tasks without a target, other types of task, nfeat", {
  bare <- mlr3::TaskUnsupervised$new("bare", task_type = "unsupervised",
    backend = mlr3::as_data_backend(iris[, 1:4]))
  filter <- flt("ufs", method = "kmeans_f", n_clusters = 3L)
  set.seed(2)
  filter$calculate(bare)
  set.seed(2)
  expect_equal(filter$scores[names(iris)[1:4]],
    feature_scores(ufs_kmeans_f(iris[, 1:4], 3)))
  classif <- flt("ufs")
  classif$calculate(mlr3::tsk("sonar"), nfeat = 5)
  expect_length(classif$scores, 60)
  topk <- flt("ufs", method = "topk", n_clusters = 3L)
  topk$calculate(mlr3::tsk("iris"), nfeat = 2)
  best <- names(topk$scores)[1:2]
  expect_setequal(best, selected_features(ufs_topk(iris[, 1:4], k = 2, n_clusters = 3), 2))
})

test_that("the target is never looked at", {
  task <- mlr3::tsk("iris")
  other <- mlr3::as_task_classif(transform(iris, Species = rev(Species)), target = "Species")
  a <- flt("ufs")$calculate(task)$scores
  b <- flt("ufs")$calculate(other)$scores
  expect_identical(a[sort(names(a))], b[sort(names(b))])
})

test_that("missing values and factors are refused", {
  holes <- mtcars
  holes$disp[3] <- NA
  task <- mlr3::as_task_regr(holes, target = "mpg")
  expect_error(flt("ufs")$calculate(task), "missing values")
  expect_error(flt("ufs")$calculate(mlr3::as_task_regr(iris, target = "Sepal.Length")),
    "factor|feature types")
})

test_that("hash is stable under clone and changes with the settings", {
  filter <- flt("ufs", method = "pca", n_components = 2L)
  copy <- filter$clone(deep = TRUE)
  expect_identical(copy$hash, filter$hash)
  copy$param_set$set_values(n_components = 3L)
  expect_false(identical(copy$hash, filter$hash))
  expect_false(identical(flt("ufs", method = "variance")$hash, flt("ufs",
    method = "laplacian")$hash))
  expect_identical(filter$param_set$values$n_components, 2L)
  expect_error(filter$method <- "pca", class = "ufs_error_argument")
})

test_that("it is in the dictionary, and bad methods are refused", {
  expect_true("ufs" %in% mlr_filters$keys())
  expect_true("ufs" %in% data.table::as.data.table(mlr_filters)$key)
  expect_error(flt("ufs", method = "nosuch"), class = "ufs_error_argument")
  expect_error(flt("ufs", method = "ted"), class = "ufs_error_argument")
})

test_that("the filter arrives whichever package comes first", {
  skip_processes()
  skip_if_not_installed("callr")
  code <- function(first, second) {
    out <- callr::r(function(first, second) {
      loadNamespace(first)
      loadNamespace(second)
      "ufs" %in% get("mlr_filters", asNamespace("mlr3filters"))$keys()
    }, list(first, second), libpath = .libPaths())
  }
  expect_true(code("ufselect", "mlr3filters"))
  expect_true(code("mlr3filters", "ufselect"))
  expect_false(callr::r(function() {
    loadNamespace("ufselect")
    any(c("mlr3filters", "R6", "paradox", "recipes", "shiny", "ggplot2") %in% loadedNamespaces())
  }, libpath = .libPaths()))
  expect_false(callr::r(function() {
    loadNamespace("ufselect")
    loadNamespace("mlr3filters")
    unloadNamespace("ufselect")
    "ufs" %in% get("mlr_filters", asNamespace("mlr3filters"))$keys()
  }, libpath = .libPaths()))
})

test_that("inside a graph learner it is refitted on each training set", {
  skip_if_not_installed("mlr3pipelines")
  skip_if_not_installed("rpart")
  graph <- mlr3pipelines::`%>>%`(mlr3pipelines::po("filter", filter = flt("ufs",
    method = "variance", scale = FALSE),
    filter.nfeat = 3L), mlr3::lrn("classif.rpart"))
  learner <- mlr3::as_learner(graph)
  task <- mlr3::tsk("sonar")
  set.seed(1)
  result <- mlr3::resample(task, learner, mlr3::rsmp("cv", folds = 3L), store_models = TRUE)
  expect_length(result$errors$msg, 0)
  expect_true(is.finite(result$aggregate(mlr3::msr("classif.acc"))))
  for (i in 1:3) {
    train <- task$data(result$resampling$train_set(i), task$feature_names)
    kept <- result$learners[[i]]$model$ufs_variance$features
    expect_setequal(kept, selected_features(ufs_variance(as.data.frame(train), scale = FALSE), 3))
  }
})
