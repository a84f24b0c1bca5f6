x <- as.matrix(mtcars)

test_that("a grid is its fits, one by one, and shows itself", {
  skip_on_cran()
  grid <- ufs_grid(x, "pca", list(n_components = 1:3, scale = c(TRUE, FALSE)))
  expect_identical(nrow(grid$settings), 6L)
  for (i in 1:6) {
    fit <- ufs_pca(x, grid$settings$n_components[i], scale = grid$settings$scale[i])
    expect_identical(grid$feature_scores[, i], feature_scores(fit))
    expect_identical(grid$feature_rankings[, i], as.double(feature_ranking(fit)))
  }
  frame <- ufs_grid(x, "pca", data.frame(n_components = c(2, 4)), scale = FALSE)
  expect_identical(frame$feature_scores[, 1], feature_scores(ufs_pca(x, 2, scale = FALSE)))
  withr::local_pdf(NULL)
  expect_identical(plot(grid, value = 1:6, main = "mine", xlab = "here"), grid)
  expect_identical(plot(grid, value = "seconds", over = "n_components"), grid)
  expect_refusals(plot(grid, value = 1:5), plot(grid, value = "nothing"))
  three <- ufs_grid(x, "pca", list(n_components = 1:2, scale = c(TRUE, FALSE), center = c(TRUE, FALSE)))
  for (over in list("k", character(), c("n_components", "k"), c("n_components", "scale", "center"))) {
    expect_refused(plot(three, value = 1:8, over = over), "`over` must name one or two columns")
  }
})

test_that("a deterministic grid leaves the random numbers alone; an error in one setting is recorded, not fatal", {
  set.seed(1)
  before <- .Random.seed
  ufs_grid(x, "pca", list(n_components = 1:2))
  expect_identical(.Random.seed, before)
  run <- function() {
    set.seed(4)
    ufs_grid(x, "kmeans_f", list(n_clusters = 2:4), n_starts = 2)$feature_scores
  }
  expect_identical(run(), run())
  grid <- ufs_grid(x, "pca", list(n_components = c(2, 50)))
  expect_identical(grid$results$status, c("converged", "error"))
  expect_match(grid$results$error[2], "n_components")
  expect_true(all(is.na(grid$feature_scores[, 2])))
  expect_false(anyNA(grid$feature_scores[, 1]))
  expect_output(print(grid), "error: 1")
  expect_output(print(ufs_grid(x, "pca", list(n_components = c(40, 50)))), "n_components")
  expect_arguments(grid = ufs_grid(x, "pca", list(1:3)), grid = ufs_grid(x, "pca", list()),
    grid = ufs_grid(x, "pca", data.frame()), grid = ufs_grid(x, "pca", list(n_comp = 1:3)),
    method = ufs_grid(x, "pcas", list(n_components = 1)),
    n_components = ufs_grid(x, "pca", list(n_components = 1), n_components = 2),
    checkpoint = ufs_grid(x, "pca", list(n_components = 1), checkpoint = 3))
  expect_error(ufs_grid(replace(x, 3, NA), "pca", list(n_components = 1)), class = "ufs_error_input")
})

test_that("a killed run resumes and loses at most the setting in flight", {
  skip_processes()
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  script <- withr::local_tempfile(fileext = ".R")
  pid <- withr::local_tempfile()
  # Some tenths of a second per setting: time enough for the kill to fall among them.
  writeLines(c(sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")), "library(ufselect)",
    sprintf("writeLines(format(Sys.getpid()), %s)", deparse(pid)), "set.seed(8)",
    sprintf("ufs_grid(as.matrix(mtcars), 'kmeans_f', data.frame(n_clusters = 2:9), n_starts = 1000, checkpoint = %s)",
      deparse(folder))), script)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), wait = FALSE,
    stdout = FALSE, stderr = FALSE)
  deadline <- Sys.time() + 30
  while (length(list.files(folder, "^grid.*rds$")) < 2 && Sys.time() < deadline) Sys.sleep(.05)
  expect_true(tools::pskill(as.integer(readLines(pid)), tools::SIGKILL))
  Sys.sleep(.2)
  done <- list.files(folder, "^grid.*rds$", full.names = TRUE)
  expect_gte(length(done), 2)
  expect_lt(length(done), 8)
  expect_true(all(vapply(done, function(file) is.list(readRDS(file)), NA)))
  before <- file.mtime(done)
  run <- function(...) {
    set.seed(8)
    ufs_grid(x, "kmeans_f", data.frame(n_clusters = 2:9), n_starts = 1000, ...)$feature_scores
  }
  resumed <- run(checkpoint = folder)
  expect_identical(file.mtime(done), before)
  expect_identical(resumed, run())
})

test_that("one and two workers give identical results", {
  skip_processes()
  skip_if_not_installed("future")
  run <- function() {
    set.seed(6)
    list(ufs_grid(x, "kmeans_f", list(n_clusters = 2:5), n_starts = 3)$feature_scores, runif(1))
  }
  serial <- run()
  local_workers()
  expect_identical(run(), serial)
})

test_that("settings that change the data share neither a graph nor a start", {
  skip_on_cran()
  wide <- scale(planted(40, 12)$x, FALSE, 1 / (1:12))
  for (varying in list(list(scale = c(TRUE, FALSE)), list(center = c(TRUE, FALSE)))) {
    grid <- ufs_grid(wide, "laplacian", varying)
    for (i in 1:2) {
      alone <- do.call(ufs_laplacian, c(list(wide), setting_args(grid$settings, i)))
      expect_identical(grid$feature_scores[, i], feature_scores(alone))
    }
    for (method in c("socfs", "ndfs")) {
      set.seed(1)
      grid <- suppressWarnings(ufs_grid(wide, method, varying, n_clusters = 3, n_starts = 2, keep_fits = TRUE))
      expect_identical(vapply(grid$fits, function(fit) fit$params$init[1], ""), rep("kmeans", 2))
      set.seed(1)
      run <- start_run(paste0("grid-", method), NULL, NULL)
      setting <- setting_keys(grid$settings, list(n_clusters = 3, n_starts = 2))
      for (i in 1:2) {
        args <- c(list(x = wide, method = method, n_clusters = 3, n_starts = 2), setting_args(grid$settings, i))
        alone <- with_seed(task_seed(run, setting[i]), suppressWarnings(do.call(ufs, args)))
        expect_identical(grid$feature_scores[, i], feature_scores(alone))
      }
    }
  }
})
