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

ranks_features <- subset(ufs_methods(), selects != "samples")$method
cars <- mlr3::tsk("mtcars")
cars_x <- as.data.frame(cars$data(cols = cars$feature_names))
tied <- tied_columns()
tied_task <- mlr3::as_task_regr(cbind(tied, target = 1:40), target = "target")

for (method in ranks_features) {
  test_that(paste0("flt(\"ufs\", method = \"", method, "\") has the method's scores and selected_features()"), {
    row <- registry()[[method]]
    filter <- flt("ufs", method = method, seed = 11L)
    filter$param_set$set_values(.values = needs(method))
    suppressMessages(suppressWarnings(expect_ufs_filter(filter, cars)))
    fit_of <- function(x, k, names, ...) {
      args <- c(list(x, method), needs(method), if (!is.null(names)) stats::setNames(list(k), names), ...)
      suppressMessages(suppressWarnings(with_seed(11, do.call(ufs, args))))
    }
    fit <- fit_of(cars_x, 10L, row$per_k, if (row$mixed_units == "standardise") list(center = TRUE, scale = TRUE))
    score <- feature_scores(fit)[cars$feature_names]
    live <- if (any(score < 0, na.rm = TRUE)) !is.na(score) else !is.na(score) & score > 0
    expect_equal(filter$scores[cars$feature_names][live], score[live])
    expect_identical(filter$id, paste0("ufs_", method))
    expect_identical(class(flt(paste0("ufs_", method))), class(filter))
    expect_identical(flt(paste0("ufs_", method))$id, filter$id)
    for (k in c(1L, 4L, 7L, 11L)) {
      suppressMessages(suppressWarnings(filter$calculate(tied_task, nfeat = k)))
      fit <- fit_of(tied[tied_task$feature_names], k, c(row$per_k, row$picks$argument))
      expect_identical(names(filter$scores)[seq_len(k)],
        suppressMessages(as.character(selected_features(fit, k, as = "name"))))
      expect_false(anyNA(filter$scores))
      expect_false(is.unsorted(-filter$scores, strictly = TRUE))
    }
  })
}

test_that("scores fall along the ranking", {
  falling <- function(score, ranking, scored) falling_scores(list(score = score, ranking = ranking, scored = scored))
  expect_identical(falling(c(1, 3, 2), c(2L, 3L, 1L), 3L), c(3, 2, 1))
  expect_identical(falling(c(0, 2, NA), c(2L, 1L, 3L), 1L), c(2, -1, -2))
  expect_identical(falling(c(-3, -1, NA), c(2L, 1L, 3L), 2L), c(-1, -3, -4))
  tie <- falling(c(2, 5, 2, 1), c(2L, 1L, 3L, 4L), 4L)
  expect_false(is.unsorted(-tie, strictly = TRUE))
  expect_equal(tie, c(5, 2, 2, 1), tolerance = 1e-3)
  # Neither a ranking that is not by the score nor one of neighbouring doubles.
  expect_identical(falling(c(1, 3, 2), c(1L, 2L, 3L), 3L), c(3, 2, 1) / 3)
  expect_identical(falling(1 + .Machine$double.eps * c(1, 1, 1, 0), 1:4, 4L), 4:1 / 4)
  # Scores that say nothing give way to ranks of those that are kept.
  fall <- function(score) falling_scores(list(score = score, ranking = 1:3, k = 2L), TRUE)
  expect_identical(fall(c(0.5, 0.2, 0.1)), c(0.5, 0.2, -1))
  expect_identical(fall(c(0.5, -0.2, -0.3)), c(1, 0.5, -1))
})
weighted <- function(w) {
  task <- mlr3::as_task_regr(cbind(mtcars, w = w), target = "mpg")
  roles <- mlr3::mlr_reflections$task_col_roles$regr
  task$set_col_roles("w", roles = intersect(c("weights_learner", "weight"), roles)[1])
  task
}

test_that("what scores do not decide, units, weights and constant columns are said", {
  expect_message(flt("ufs_mcfs", n_clusters = 2L, n_features = 2L)$calculate(tied_task, nfeat = 9L),
    "have a score above 0", class = "ufs_message_padded")
  expect_message(flt("ufs_css")$calculate(tied_task), "'flat'", class = "ufs_message_constant")
  expect_message(flt("ufs_pca")$calculate(cars), "n_components = 5", class = "ufs_message_clusters")
  expect_message(filter <- flt("ufs_laplacian")$calculate(cars), "different units", class = "ufs_message_units")
  best <- function(...) selected_features(ufs_laplacian(cars_x, ...), 5)
  expect_identical(names(filter$scores)[1:5], best(center = TRUE, scale = TRUE))
  expect_identical(names(flt("ufs_laplacian", standardise = FALSE)$calculate(cars)$scores)[1:5], best())
  expect_error(flt("ufs_laplacian", standardise = "yes"), "standardise")
  expect_message(flt("ufs_inffs")$calculate(weighted(1)), "ufs_inffs() takes none", fixed = TRUE,
    class = "ufs_message_weights")
})

test_that("weights of a task go to the methods that take them, and to the tasks", {
  count <- rep(c(1, 4, 0, 2), 8)
  task <- weighted(count)
  # Rows in another order than that of the backend.
  task$filter(32:1)
  names <- task$feature_names
  x <- ufs_data(mtcars[count > 0, names], weights = count[count > 0])
  for (method in c("css", "pca", "variance")) {
    filter <- flt("ufs", method = method)
    filter$param_set$set_values(.values = needs(method))
    expect_false(any(grepl("weights", testthat::capture_messages(filter$calculate(task, nfeat = 4L)), fixed = TRUE)))
    fit <- do.call(ufs, c(list(x, method), needs(method), if (method == "css") list(k = 4L)))
    expect_setequal(names(filter$scores)[1:4], selected_features(fit, 4))
  }
  filter <- flt("ufs_cluster", seed = 3L)
  suppressMessages(filter$calculate(task, nfeat = 4L))
  fit <- with_seed(3, suppressMessages(ufs_select(x, 4, "cluster")))
  expect_setequal(names(filter$scores)[1:4], selected_features(fit))
})

test_that("parameters have bounds and types, those of the method; the hash changes with the settings", {
  for (method in ranks_features) {
    set <- flt("ufs", method = method)$param_set
    expect_false(any(is.infinite(set$lower[set$class == "ParamDbl"])))
    expect_false(any(c("v_max_iter", "node_limit") %in% set$ids(class = "ParamDbl")))
    expect_s3_class(flt(paste0("ufs_", method)), "FilterUfs")
    expect_setequal(set$ids(), c(setdiff(registry()[[method]]$arguments, c("y", "k", "m")), "standardise", "na",
      "seed", "k", "include", "exclude", "cost", "feature_strata", "feature_quotas"))
  }
  filter <- flt("ufs_socfs", n_clusters = paradox::to_tune(), lambda_rel = paradox::to_tune(),
    solver = paradox::to_tune())
  expect_identical(unname(filter$param_set$search_space()$upper[c("n_clusters", "lambda_rel")]), c(20, 1))
  # More clusters than to_tune() would try are allowed.
  expect_identical(flt("ufs_socfs", n_clusters = 50L)$param_set$values$n_clusters, 50L)
  expect_error(flt("ufs_socfs", n_clusters = -1L), "n_clusters")
  set <- flt("ufs", method = "socfs")$param_set
  expect_identical(unname(set$class[c("n_clusters", "lambda_rel", "solver", "center", "control")]),
    c("ParamInt", "ParamDbl", "ParamFct", "ParamLgl", "ParamUty"))
  expect_identical(set$levels$solver, c("exact", "paper"))
  expect_error(set$set_values(n_clusters = 0L), "n_clusters")
  expect_error(flt("ufs", method = "socfs", nosuch = 1))
  expect_identical(flt("ufs", method = "socfs", n_clusters = 4L)$param_set$values$n_clusters, 4L)
  filter <- flt("ufs", method = "pca", n_components = 2L)
  copy <- filter$clone(deep = TRUE)
  expect_identical(copy$hash, filter$hash)
  copy$param_set$set_values(n_components = 3L)
  expect_false(identical(copy$hash, filter$hash))
  expect_false(identical(flt("ufs", method = "variance")$hash, flt("ufs", method = "laplacian")$hash))
  expect_identical(filter$param_set$values$n_components, 2L)
  expect_error(filter$method <- "pca", class = "ufs_error_argument")
  expect_true("ufs" %in% mlr_filters$keys())
  expect_true("ufs" %in% data.table::as.data.table(mlr_filters)$key)
  expect_refusals(flt("ufs", method = "nosuch"), flt("ufs", method = "ted"))
})

test_that("the filter keeps the features of ufs_select() with the same task, or none, by default those to classify", {
  bare_of <- function(x) mlr3::TaskUnsupervised$new("bare", task_type = "unsupervised", backend = mlr3::as_data_backend(x))
  filter <- flt("ufs", method = "kmeans_f", n_clusters = 3L, seed = 2L)$calculate(bare_of(iris[, 1:4]))
  fit <- with_seed(2, ufs_kmeans_f(iris[, 1:4], 3))
  expect_equal(filter$scores[names(iris)[1:4]], feature_scores(fit))
  expect_length(flt("ufs")$calculate(mlr3::tsk("sonar"), nfeat = 5)$scores, 60)
  topk <- flt("ufs", method = "topk", n_clusters = 3L)$calculate(mlr3::tsk("iris"), nfeat = 2)
  expect_setequal(names(topk$scores)[1:2], selected_features(ufs_topk(iris[, 1:4], k = 2, n_clusters = 3), 2))
  set.seed(4)
  expect_identical(flt("ufs")$method, "classify")
  expect_identical(flt("ufs")$id, "ufs_classify")
  for (x in list(mtcars, USJudgeRatings, as.data.frame(kind_makers()$words$make(40, 110)))) {
    bare <- bare_of(x)
    for (task in c("compress", "classify", "cluster")) {
      filter <- suppressMessages(flt("ufs", method = task, seed = 5L)$calculate(bare, nfeat = 4L))
      fit <- withr::with_seed(5, ufs_select(x[bare$feature_names], 4, task))
      expect_setequal(names(filter$scores)[1:4], selected_features(fit))
    }
    if (requireNamespace("mlr3pipelines", quietly = TRUE)) {
      some <- mlr3pipelines::po("ufs_sample", m = 5L, seed = 5L)
      some$train(list(bare))
      fit <- withr::with_seed(5, ufs_select(x[bare$feature_names], m = 5, task = "label"))
      expect_setequal(some$state$rows, selected_samples(fit, as = "index"))
    }
  }
})

test_that("the target is never looked at; missing values and text are refused", {
  a <- flt("ufs")$calculate(mlr3::tsk("iris"))$scores
  b <- flt("ufs")$calculate(mlr3::as_task_classif(transform(iris, Species = rev(Species)), target = "Species"))$scores
  expect_identical(a[sort(names(a))], b[sort(names(b))])
  holes <- mtcars
  holes$disp[3] <- NA
  task <- mlr3::as_task_regr(holes, target = "mpg")
  expect_error(flt("ufs")$calculate(task), "missing values")
  for (na in c("median", "knn", "omit")) {
    filter <- flt("ufs", na = na)$calculate(task, nfeat = 4L)
    fit <- ufs_css(ufs_data(holes[task$feature_names], na = na), k = 4)
    expect_identical(names(filter$scores)[1:4], selected_features(fit, 4))
    expect_setequal(names(filter$scores), task$feature_names)
    expect_true("missings" %in% filter$properties)
  }
  text <- transform(iris, Species = as.character(Species))
  expect_error(flt("ufs")$calculate(mlr3::as_task_regr(text, target = "Sepal.Length")), "character|feature types")
})

test_that("no constraint is dropped: every row of their table is a parameter that is heeded, or is refused", {
  task <- mlr3::as_task_unsupervised(as.data.frame(doors_x()))
  best <- function(values, key) {
    filter <- mlr3filters::flt(key)
    do.call(filter$param_set$set_values, c(values, list(seed = 1L)))
    names(suppressMessages(suppressWarnings(filter$calculate(task, nfeat = 3L)))$scores)
  }
  sampled <- function(values) {
    op <- mlr3pipelines::po("ufs_sample", "facility", m = 5L)
    do.call(op$param_set$set_values, values)
    suppressMessages(op$train(list(task)))[[1L]]$row_ids
  }
  for (name in constraint_names()) {
    row <- constraint_rows()[[name]]
    values <- stats::setNames(given_as(name), c(row$needs[1L], name))
    less <- values[row$needs[1L]]
    keys <- c("ufs_pca", "ufs_css", "ufs_classify")
    if (row$option) {
      same <- vapply(keys, function(key) identical(best(values, key), best(less, key)), NA)
      # Costs are told, and no budget can be given here.
      expect_identical(all(same), name == "cost", info = name)
    } else for (key in keys) expect_error(best(values, key), paste(c(name, row$needs[1L]), collapse = "|"))
    skip_if_not_installed("mlr3pipelines")
    if (name == "labelled") {
      expect_length(intersect(sampled(values), values$labelled), 0L)
      expect_gt(length(intersect(sampled(list()), values$labelled)), 0L)
    } else {
      expect_error(sampled(values), paste(c(name, row$needs[1L]), collapse = "|"))
    }
  }
})

test_that("a package that comes later is met: the filter arrives whichever comes first", {
  met <- 0
  withr::defer(setHook(packageEvent("stats", "onLoad"), NULL, "replace"))
  when_loaded("stats", function() met <<- met + 1)
  expect_identical(met, 1)
  utils::tail(getHook(packageEvent("stats", "onLoad")), 1L)[[1L]]()
  expect_identical(met, 2)
  skip_processes()
  told <- function(...) {
    out <- withr::with_envvar(c(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep)),
      system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(paste(c(...), collapse = "; "))), stdout = TRUE))
    as.logical(out[length(out)])
  }
  known <- "cat('ufs' %in% get('mlr_filters', asNamespace('mlr3filters'))$keys())"
  load <- function(package) sprintf("invisible(loadNamespace('%s'))", package)
  expect_true(told(load("ufselect"), load("mlr3filters"), known))
  expect_true(told(load("mlr3filters"), load("ufselect"), known))
  expect_false(told(load("ufselect"), load("mlr3filters"), "unloadNamespace('ufselect')", known))
  # covr, which counts lines, brings R6 along.
  skip_on_covr()
  frameworks <- "c('mlr3filters', 'R6', 'paradox', 'recipes', 'shiny', 'ggplot2')"
  expect_false(told(load("ufselect"), sprintf("cat(any(%s %%in%% loadedNamespaces()))", frameworks)))
})

skip_if_not_installed("mlr3pipelines")
po <- mlr3pipelines::po
in_front <- function(of) mlr3::as_learner(mlr3pipelines::`%>>%`(of, mlr3::lrn("classif.rpart")))
rows_of <- function(task, ...) po("ufs_sample", ...)$train(list(task))[[1L]]
weights_of <- function(task) {
  found <- if (is.null(task$weights_learner)) task$weights else task$weights_learner
  found$weight[order(found$row_id)]
}

test_that("inside a graph learner it is refitted on each training set; one ranking serves every number of features", {
  skip_if_not_installed("rpart")
  learner <- in_front(po("filter", filter = flt("ufs", method = "variance", scale = FALSE), filter.nfeat = 3L))
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
  count <- 0L
  own <- fresh_ranking
  replaced("fresh_ranking", function(...) {
    count <<- count + 1L
    own(...)
  })
  kept_rankings$all <- NULL
  task <- mlr3::as_task_classif(cbind(iris, flat = 1), target = "Species")
  split <- mlr3::rsmp("cv", folds = 3L)
  set.seed(1)
  split$instantiate(task)
  chosen <- function(filter, k) mlr3::resample(task, in_front(po("filter", filter = filter, filter.nfeat = k)), split)
  for (filter in list(flt("ufs_css"), flt("ufs_rsr"), flt("ufs_kmeans_f", n_clusters = 3L, seed = 1L))) {
    count <- 0L
    expect_silent(for (k in 1:4) chosen(filter, k))
    expect_identical(count, 3L)
  }
  # Without a seed every ranking is a new draw.
  count <- 0L
  for (k in 1:2) chosen(flt("ufs_kmeans_f", n_clusters = 3L), k)
  expect_identical(count, 6L)
})

test_that("po(\"ufs_sample\") keeps the rows that the method chooses, gives weights, and works in a learner", {
  for (method in c("facility", "medoids", "ted")) {
    some <- po("ufs_sample", method = method, m = 6L, seed = 5L)
    out <- some$train(list(cars))[[1L]]
    fit <- with_seed(5, do.call(ufs, c(list(x = cars_x, method = method), if (method != "ted") list(m = 6L))))
    rows <- cars$row_ids[selected_samples(fit, 6, as = "index")]
    expect_identical(some$state$rows, rows)
    expect_setequal(out$row_ids, rows)
    expect_identical(c(some$predict(list(cars))[[1L]]$nrow, cars$nrow), c(32L, 32L))
    expect_identical(some$method, method)
  }
  # A method of columns and rows is asked for rows.
  expect_length(unique(po("ufs_sample", "random", m = 6L, seed = 5L)$train(list(cars))[[1L]]$row_ids), 6L)
  expect_refused(some$method <- "pca", "`method` is read-only: make a new PipeOp.")
  expect_false(identical(some$phash, po("ufs_sample")$phash))
  expect_error(po("ufs_sample", method = "pca"), class = "ufs_error_argument")
  expect_true("ufs_sample" %in% mlr3pipelines::mlr_pipeops$keys())
  stands <- representatives(ufs_facility(cars_x, m = 6))
  some <- rows_of(cars, method = "facility", m = 6L, weights = TRUE)
  expect_equal(weights_of(some), stands$weight[order(stands$index)])
  expect_error(rows_of(cars, method = "ted", weights = TRUE), class = "ufs_error_argument")
  text <- data.frame(a = factor(letters[1:6]), y = factor(rep(1:2, 3)))
  expect_error(rows_of(mlr3::as_task_classif(text, target = "y")), "no numeric feature")
  skip_if_not_installed("rpart")
  mixed <- mlr3::tsk("penguins")
  expect_length(in_front(po("ufs_sample", m = 30L, na = "omit"))$train(mixed)$predict(mixed)$response, mixed$nrow)
})

test_that("po(\"ufs_sample\") knows curves as ufs_select() does, and leaves out rows with missing values", {
  t <- seq(.1, 1, length.out = 40)
  curves <- withr::with_seed(1, as.data.frame(base::t(replicate(30, sin(4 * t * runif(1, .7, 1.3)) + runif(1) * t))))
  rows <- selected_samples(ufs_select(curves, m = 5, task = "label"), as = "index")
  curve_rows <- function(m) rows_of(mlr3::as_task_regr(cbind(curves, y = seq_len(30)), target = "y"), m = m, weights = TRUE)
  expect_warning(expect_equal(weights_of(curve_rows(1L)), 30), NA)
  out <- curve_rows(5L)
  expect_identical(out$row_ids, sort(rows))
  near <- rows[max.col(-as.matrix(dist(prcomp(curves)$x))[, rows], "first")]
  expect_equal(weights_of(out), as.double(table(near)))
  holes <- mtcars
  holes$disp[3:4] <- NA
  kept <- function(...) rows_of(mlr3::as_task_unsupervised(holes), method = "facility", ...)$row_ids
  expect_error(kept(m = 5L), "'disp': choose `na`")
  expect_length(kept(m = 5L, na = "median"), 5L)
  expect_identical(kept(m = 100L, na = "omit"), setdiff(1:32, 3:4))
  fit <- ufs_facility(mtcars[-(3:4), ], m = 5)
  expect_setequal(kept(m = 5L, na = "omit"), setdiff(1:32, 3:4)[selected_samples(fit, 5, as = "index")])
})

test_that("k = \"auto\" gives positive scores to as many features as ufs_size() names", {
  x <- as.data.frame(planted(60, 30, informative = 8)$x)
  task <- mlr3::as_task_regr(data.frame(x, y = seq_len(60)), target = "y")
  x <- as.data.frame(task$data(cols = task$feature_names))
  size <- with_seed(3, auto_k(x, "pca", list(n_components = 2)))
  expect_identical(size$verdict, "some")
  op <- po("filter", flt("ufs_pca", n_components = 2L, k = "auto", seed = 3L), filter.cutoff = 0)
  expect_message(out <- op$train(list(task))[[1L]], "better than noise", class = "ufs_message_size")
  expect_setequal(out$feature_names, selected_features(ufs_pca(x, 2), size$k))
  expect_error(flt("ufs_pca", k = 3L), "auto")
  expect_error(flt("ufs_topk", k = "auto"), "one number")
})

test_that("quotas are parameters of the filters, and the first nfeat features meet them", {
  x <- planted(60, 9, seed = 4)$x
  colnames(x) <- paste0("c", seq_len(9))
  strata <- stats::setNames(rep(c("a", "b", "c"), each = 3), colnames(x))
  quotas <- list(a = c(2, 3), b = 1, c = c(0, 1))
  task <- mlr3::as_task_unsupervised(as.data.frame(x))
  for (key in c("ufs_variance", "ufs_css", "ufs_compress")) for (k in 3:5) {
    filter <- mlr3filters::flt(key)
    filter$param_set$set_values(feature_strata = strata, feature_quotas = quotas, seed = 1L)
    out <- suppressMessages(po("filter", filter, filter.nfeat = k)$train(list(task)))[[1]]$feature_names
    expect_length(out, k)
    have <- as.vector(table(factor(strata[out], c("a", "b", "c"))))
    expect_true(have[1] >= 2 && have[2] == 1 && have[3] <= 1, info = paste(key, k))
    if (key == "ufs_css") {
      expect_setequal(out, selected_features(ufs_css(x, k = k, feature_strata = strata, feature_quotas = quotas)))
    }
  }
  expect_error(suppressMessages(filter$calculate(task, nfeat = 2)), "nfeat.*fewer than `feature_quotas`")
  expect_error(suppressMessages(filter$calculate(task, nfeat = 7)), "nfeat.*more than `feature_quotas`")
  expect_identical(as.vector(table(strata[names(suppressMessages(filter$calculate(task))$scores)[1:5]])), c(3L, 1L, 1L))
})
