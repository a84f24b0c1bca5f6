# A browser, a tuner and a scheduler: not in the tarball, so that DESCRIPTION need not suggest what only these
# tests take. `make check-frameworks` runs them.

test_that("in a browser: the slider changes table and picture, the code is right", {
  skip_processes()
  for (package in c("shiny", "miniUI", "shinytest2", "chromote")) skip_if_not_installed(package)
  skip_if(is.null(suppressMessages(chromote::find_chrome())), "no browser")
  x <- `dimnames<-`(planted(40, 25, informative = 6)$x, list(paste0("s", 1:40), paste0("f", 1:25)))
  fit <- withr::with_seed(1, ufs_kmeans_f(x, 3))
  other <- ufs_laplacian(x)
  # shinytest2 would compile the package that it finds around the working directory.
  withr::local_dir(withr::local_tempdir())
  chromote::set_chrome_args(c("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"))
  saveRDS(list(fits = list(a = fit, b = other), x = x), "data.rds")
  writeLines(c("data <- readRDS('data.rds')",
    "ufselect:::explore_app(data$fits, data$x, said = list(fit = quote(fits), x = quote(x)))"), "app.R")
  app <- suppressMessages(shinytest2::AppDriver$new(".", name = "explore", load_timeout = 90000,
    timeout = 60000, height = 700, width = 1000))
  withr::defer(app$stop())
  # A busy machine may take its time: what must come is waited for, up to half a minute.
  eventually <- function(condition) {
    until <- Sys.time() + 30
    while (!isTRUE(condition()) && Sys.time() < until) Sys.sleep(.2)
    expect_true(condition())
  }
  tabs <- "$('a').filter(function(){return $(this).text().trim()==='%s'}).click()"
  open <- function(tab) app$run_js(sprintf(tabs, tab))
  picture <- function(id) {
    source <- app$get_js(sprintf("$('#%s img').attr('src')", id))
    if (is.character(source)) source else ""
  }
  eventually(function() startsWith(picture("scores"), "data:image/png"))
  before <- picture("scores")
  app$set_inputs(k = 5, wait_ = FALSE)
  eventually(function() !identical(picture("scores"), before))
  open("Table")
  cells <- "$('#table td:nth-child(2)').map(function(){return $(this).text().trim()}).get()"
  features <- function() unlist(app$get_js(cells))
  eventually(function() identical(features(), selected_features(fit, 5)))
  app$set_inputs(fit = "b", k = 3, wait_ = FALSE)
  eventually(function() identical(features(), selected_features(other, 3)))
  env <- list2env(list(fits = list(a = fit, b = other), x = x))
  eval(parse(text = app$get_js("$('#code').text()")), env)
  expect_identical(env$chosen, selected_features(other, 3))
  open("Heat map")
  eventually(function() startsWith(picture("heatmap"), "data:image/png"))
  eventually(function() app$get_js("(function(){var i=$('#heatmap img')[0].getBoundingClientRect(),
    c=$('#code')[0].getBoundingClientRect();return i.bottom<=c.top+1})()"))
  open("Constraints")
  eventually(function() isTRUE(app$get_js("$('#ticks tbody tr').length") == 25))
  tick <- function() for (at in c("must][value=24", "never][value=7")) {
    app$run_js(sprintf("$('.ufs-tick[data-constraint=%s]').click()", at))
  }
  tick()
  app$run_js("$('#again').click()")
  eventually(function() grepl('include = "f24", exclude = "f7"', app$get_js("$('#code').text()"), fixed = TRUE))
  if (nzchar(Sys.getenv("UFSELECT_EXPLORER_PNG"))) app$get_screenshot(Sys.getenv("UFSELECT_EXPLORER_PNG"))
  eval(parse(text = app$get_js("$('#code').text()")), env)
  expect_identical(env$chosen, selected_features(ufs_laplacian(x, include = "f24", exclude = "f7"), 3))
  tick()
  app$run_js("$('#again').click()")
  eventually(function() !grepl("include", app$get_js("$('#code').text()")))
  app$run_js("$('#insert').click()")
  eventually(function() grepl("copy the code", app$get_js("$('.shiny-notification').text()")))
  expect_identical(utils::read.csv(app$get_download("save"))$feature, selected_features(other, 3))
})

test_that("an autotuner chooses the number of features and of clusters", {
  for (package in c("mlr3pipelines", "mlr3tuning", "mlr3filters", "rpart")) skip_if_not_installed(package)
  getExportedValue("lgr", "get_logger")("mlr3")$set_threshold("warn")
  flt <- mlr3filters::flt
  graph <- mlr3pipelines::`%>>%`(mlr3pipelines::po("filter", filter = flt("ufs_mcfs", n_clusters = paradox::to_tune()),
    filter.nfeat = paradox::to_tune(1, 4)), mlr3::lrn("classif.rpart"))
  tuner <- mlr3tuning::auto_tuner(mlr3tuning::tnr("random_search"), mlr3::as_learner(graph),
    mlr3::rsmp("holdout"), mlr3::msr("classif.acc"), term_evals = 4L)
  getExportedValue("lgr", "get_logger")("bbotk")$set_threshold("warn")
  set.seed(1)
  suppressWarnings(tuner$train(mlr3::tsk("iris")))
  found <- tuner$tuning_result
  expect_true(found$ufs_mcfs.filter.nfeat %in% 1:4)
  expect_true(found$ufs_mcfs.n_clusters %in% 2:20)
})

test_that("a scheduler's workers give the same answer", {
  skip_processes()
  skip_if_not_installed("future.batchtools")
  skip_if_not_installed("future")
  withr::local_dir(withr::local_tempdir())
  run <- function() {
    set.seed(1)
    ufs_grid(x, "kmeans_f", list(n_clusters = 2:3), n_starts = 2)$feature_scores
  }
  x <- as.matrix(mtcars)
  serial <- run()
  old <- future::plan(future.batchtools::batchtools_local)
  withr::defer(future::plan(old))
  withr::local_options(future.globals.maxSize = 1e6)
  expect_identical(run(), serial)
})

test_that("a cancelled job costs its fits, which are done again", {
  skip_processes()
  skip_if_not_installed("future.batchtools")
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  old <- future::plan(future.batchtools::batchtools_local)
  withr::defer(future::plan(old))
  work <- function(task, common) {
    cat(".", file = file.path(common$folder, task), append = TRUE)
    flag <- file.path(common$folder, "died")
    if (task == 2 && (common$always || !file.exists(flag))) {
      file.create(flag)
      quit("no", status = 1)
    }
    10 * task
  }
  environment(work) <- baseenv()
  run <- function(always) ufselect:::run_tasks(as.list(1:3), work, list(folder = folder, always = always))
  said <- capture_warnings(found <- run(FALSE))
  expect_identical(found$values, list(10, 20, 30))
  expect_length(grep("A worker was lost with 3 fits ", said), 1L)
  # This scheduler has one worker, which had all of them; the last one had not begun.
  expect_identical(file.size(file.path(folder, 1:3)), c(2, 2, 1))
  expect_error(suppressWarnings(run(TRUE)), class = "FutureError")
})
