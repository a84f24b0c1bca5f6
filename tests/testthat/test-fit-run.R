test_that("ufs() is the method itself, and the registry is complete and true", {
  a <- ufs(iris[, 1:4], "pca", n_components = 2)
  expect_identical(feature_scores(a), feature_scores(ufs_pca(iris[, 1:4], n_components = 2)))
  table <- ufs_methods()
  expect_named(table, c("method", "selects", "title", "deterministic", "moments", "cost", "reference", "advice"))
  expect_false(any(duplicated(table$method)))
  expect_true(all(table$selects %in% c("features", "samples", "both")))
  expect_true(all(paste0("ufs_", table$method) %in% getNamespaceExports("ufselect")))
  expect_true(all(nzchar(table$title)) && all(nzchar(table$cost)))
})

test_that("a long run says once what it does where somebody waits, and nothing elsewhere", {
  slow <- function(on) {
    withr::local_options(ufselect.progress = on)
    said <- list()
    withCallingHandlers({
      old <- watch_over("ufs_slow()", after = 0)
      # A run inside another one leaves its watch.
      expect_length(watch_over("ufs_inner()", after = 0), 0L)
      if (is.function(getOption("ufselect.watch"))) for (i in 1:3) getOption("ufselect.watch")(i)
      options(old)
    }, ufs_progress = function(m) {
      said <<- c(said, conditionMessage(m))
      invokeRestart("muffleMessage")
    })
    expect_null(getOption("ufselect.watch"))
    said
  }
  expect_length(slow(FALSE), 0L)
  expect_match(slow(TRUE)[[1L]], "ufs_slow() is at work, 0 seconds so far: 1 step.", fixed = TRUE)
  expect_length(slow(TRUE), 1L)
  withr::local_options(ufselect.watch = NULL, ufselect.progress = TRUE)
  steps <- 0L
  withr::with_options(list(ufselect.watch = function(step, ...) steps <<- step), {
    ufs_facility(iris[, 1:4], m = 3)
    expect_identical(steps, 3L)
    ufs_medoids(iris[, 1:4], m = 3, n_starts = 8)
  })
  expect_identical(steps, 8L)
  expect_error(ufs_medoids(iris[, 1:4], m = 500))
  expect_null(getOption("ufselect.watch"))
})

test_that("functions around fits say what they are doing, once, and only where somebody waits", {
  skip_on_cran()
  said <- function(call, waits = TRUE) {
    withr::local_options(ufselect.progress = waits, ufselect.watch_after = 0)
    words <- character()
    withCallingHandlers(suppressWarnings(call()), message = function(m) {
      if (inherits(m, "ufs_progress")) words <<- c(words, conditionMessage(m))
      invokeRestart("muffleMessage")
    })
    expect_null(getOption("ufselect.watch"))
    words
  }
  x <- iris[, 1:4]
  few <- iris[1:30, 1:4]
  by_variance <- ufs_variance(x)
  by_columns <- ufs_css(x, k = 2)
  lots <- suppressWarnings(ufs_graph(matrix(sin(1:2400)^2, 1200), 3))
  calls <- list(
    "ufs_graph\\(\\).*looking for neighbours, 0 % done" = function() ufs_graph(x),
    "ufs_select\\(\\).*looking at the data" = function() ufs_select(x, k = 2, task = "cluster"),
    "ufs_size\\(\\).*fits done" = function() ufs_size(few, "variance", repeats = 2, n_resamples = 2),
    "ufs_look\\(\\).*looking at" = function() ufs_look(x),
    "ufs_moments\\(\\).*150 rows read" = function() ufs_moments(x),
    "ufs_captured" = function() ufs_captured(1:2, x),
    "ufs_decoys\\(\\).*fits done" = function() ufs_decoys(few, "variance", repeats = 2),
    "ufs_grid\\(\\).*fits done" = function() ufs_grid(few, "kmeans_f", list(n_clusters = 2:3), n_starts = 2),
    "ufs_tune\\(\\).*fits done" = function() ufs_tune(few, "kmeans_f", list(n_clusters = 2:3), k = 2, n_starts = 2),
    "ufs_compare\\(\\).*fit done" = function() {
      ufs_compare(x, iris$Species, "variance", k = 2, repeats = 1, n_random = 1, baselines = FALSE,
        classifiers = list(first = function(x, y, newx) y[rep(1L, nrow(newx))]))
    },
    "ufs_split\\(\\).*choosing rows" = function() ufs_split(x, m = 10),
    "ufs_propagate\\(\\).*classes done" = function() ufs_propagate(lots, replace(rep(NA, 1200), 1:2, c("a", "b"))),
    "ufs_represent\\(\\).*step" = function() ufs_represent(few, solver = "paper"),
    "ufs_data\\(\\).*0 of 1 row filled" = function() ufs_data(replace(as.matrix(x), 1, NA), na = "knn"),
    "ufs_data\\(\\).*looking for medians, 0 of 4 columns done" = function() {
      ufs_data(replace(as.matrix(x), 1, NA), na = "median")
    },
    "ufs_sketch\\(\\).*computing principal components" = function() ufs_sketch(x, m = 10),
    "ufs_diversify\\(\\).*0 of 2 columns chosen" = function() ufs_diversify(by_variance, x, k = 2),
    "ufs_cluster_metrics\\(\\).*matching 3 clusters with classes" = function() {
      skip_if_not_installed("clue")
      ufs_cluster_metrics(rep(1:3, 50), iris$Species)
    },
    "predict\\(\\).*0 of 150 rows rebuilt" = function() predict(by_columns, x, type = "reconstruction")
  )
  for (words in names(calls)) {
    found <- said(calls[[words]])
    if (words != "ufs_captured") {
      expect_length(found, 1L)
      expect_match(found, words)
    }
    expect_length(said(calls[[words]], waits = FALSE), 0L)
  }
  # What can say nothing before it ends says so when it begins, and other things do not.
  whole <- said(function() {
    old <- watch_over("ufs_slow()", after = Inf)
    withr::defer(options(old))
    watch_says(function(step) "short")
    watch_components(matrix(0, 2, 3))
    watch_says(function(step) "one long call", long = TRUE)
  })
  expect_match(whole, "0 seconds so far: one long call")
  # Within one start of the clusters of many samples.
  steps <- integer()
  withr::with_options(list(ufselect.watch = function(step = 0L, ...) steps <<- c(steps, step)),
    ufs_medoids(x, m = 3, n_starts = 1))
  expect_true(any(steps < 0))
  # Within a search that takes no step of its own, and before the first step.
  set.seed(1)
  noise <- matrix(stats::rnorm(60 * 30), 60)
  steps <- integer()
  withr::local_options(ufselect.watch = function(step = 0L, ...) steps <<- c(steps, step))
  ufs_css(noise, k = 12, optimal = TRUE, control = ufs_control(max_iter = 600, warn = FALSE))
  expect_true(all(c(256L, 512L) %in% steps))
  withr::local_options(ufselect.watch = NULL)
  # Many samples are searched in another way, which says how far it is, too.
  found <- withr::with_options(list(ufselect.exact_neighbours = 50L), said(function() ufs_graph(x)))
  expect_match(found, "looking for neighbours, [0-9]+ % done")
  skip_if_not_installed("Matrix")
  steps <- integer()
  withr::local_options(ufselect.watch = function(step = 0L, ...) steps <<- c(steps, step))
  x_mul(as_ufs_operator(Matrix::Matrix(noise, sparse = TRUE), FALSE, FALSE)$x, matrix(1, 30))
  expect_identical(steps, -1L)
})

test_that("an argument in the dots is never taken for one of the functions below", {
  # Beginnings of the names that run_fit() and open_with() have for theirs.
  for (name in c("met", "ca", "ar", "d", "fu", "ro")) {
    expect_error(do.call(ufs_pca, c(list(mtcars, 2), stats::setNames(list(1), name))), class = "ufs_error_argument")
    expect_error(do.call(ufs_graph, c(list(mtcars), stats::setNames(list(1), name))), class = "ufs_error_argument")
  }
  x <- as.matrix(mtcars)
  x[3, 2] <- NA
  expect_identical(ufs_variance(x, na = "omit")$n + ufs_variance(x, na = "omit")$p, 42L)
})

test_that("settings of the published method are read in one place; components of a large table are long work", {
  x <- as.matrix(iris[, 1:4])
  paper <- list(lambda_i = 1, alpha = .9)
  fit <- ufs_topk(x, 2, n_clusters = 3, control = ufs_control(paper = paper))
  expect_identical(fit$params[c("lambda_i", "alpha", "alpha_e")], c(paper, alpha_e = 10))
  same <- function(other) expect_identical(other$feature_scores, fit$feature_scores)
  expect_warning(same(ufs(x, "topk", k = 2, n_clusters = 3, control = list(paper = paper))), NA)
  grid <- ufs_grid(x, "topk", list(lambda_i = c(0, 1)), k = 2, n_clusters = 3, alpha = .9)
  expect_identical(grid$results$warnings, c("", ""))
  expect_identical(grid$feature_scores[, 2], fit$feature_scores)
  refused <- function(code, argument, words) expect_refused(code, words, argument = argument)
  with <- function(...) ufs_control(paper = list(...))
  refused(ufs_socfs(iris[, 1:4], 3, control = with(rho0 = 1)), "paper", "it has warm_irls, path, polish")
  refused(ufs_variance(iris[, 1:4], control = with(rho0 = 1)), "paper", "ufs_variance() has no setting `rho0`")
  refused(ufs_represent(mtcars, control = with(rho0 = 1)), "paper", "ufs_represent()")
  refused(ufs_alfs(mtcars, alpha_rel = .1, control = with(alpha = 1)), "alpha_rel", "not both")
  refused(ufs_topk(mtcars, 2, n_clusters = 2, control = with(lambda_a = 0)), "lambda_a", "lambda_a")
  refused(with(1), "paper", "a name")
  refused(with(a = 1, a = 2), "paper", "twice")
  expect_output(print(with(a = 1)), "paper = list(a)", fixed = TRUE)
  row <- list(only = list(form = "greedy"))
  expect_arguments(form = paper_settings(row, "none", NULL, list(form = "convex")))
  expect_refusals("can only be \"greedy\".*\"convex\"" = paper_settings(row, "none", NULL, list(form = "convex")))
  expect_null(paper_settings(row, "none", NULL, list(form = "greedy")))
  said <- logical()
  withr::local_options(ufselect.watch = function(words, long) said <<- c(said, long))
  watch_components(matrix(as.raw(1), 4000, 4000))
  watch_components(matrix(as.raw(1), 40, 40))
  expect_identical(said, c(TRUE, FALSE))
})

test_that("refusals say what is wrong; NULL is a number only where it is the default; ufs_methods() prints by advice", {
  expect_refused(ufs_methods("css"), "subset(ufs_methods(), method == \"css\").")
  row <- list(fit = function(x, a = NULL, b = 1) NULL,
    ranges = list(a = ask <- function(value, name) refuse(name, "`", name, "` is asked."), b = ask))
  expect_refused(check_values(list(a = NULL, b = NULL), row), "`b` is asked.")
  expect_refused(check_values(list(a = 2, b = 1), row), "`a` is asked.")
  row$ranges$b <- NULL
  expect_identical(check_values(list(a = NULL, b = 1), row)$b, 1)
  all <- ufs_methods()
  lines <- capture.output(print(all))
  expect_lte(length(lines), 30)
  expect_true(all(nchar(lines) <= 86))
  at <- vapply(all$method, function(method) which(startsWith(lines, sprintf("  %-9s ", method))), 0L)
  parts <- findInterval(at, grep("^[A-Z]", lines))
  how <- sub("[^a-z].*", "", all$advice)
  expect_equal(parts, c(recommended = 1L, situational = 2L, historical = 3L, baseline = 3L)[how], ignore_attr = TRUE)
  expect_identical(class(as.data.frame(all)), "data.frame")
  expect_output(print(all["method"]), "method")
})
