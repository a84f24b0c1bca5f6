test_that("unknown settings are errors that name them", {
  error <- expect_error(ufs_control(maxiter = 5), "`maxiter`", class = "ufs_error_control")
  expect_identical(error$argument, "maxiter")
  expect_error(ufs_pca(iris[, 1:4], 2, control = list(tolerance = 1)), class = "ufs_error_control")
  expect_error(ufs_pca(iris[, 1:4], 2, control = 5), class = "ufs_error_control")
})

test_that("settings are validated, defaults fill what was left open, and pieces are all there is, in order", {
  for (bad in list(list(max_iter = -1), list(max_iter = 2.5), list(tol = "a"), list(tol = NA), list(verbose = NA),
    list(progress = 3), list(eps = -1), list(eps = 1:3), list(inner_max_iter = 0), list(warn = "no"))) {
    error <- expect_error(do.call(ufs_control, bad), class = "ufs_error_argument")
    expect_identical(error$argument, names(bad))
  }
  control <- resolve_control(ufs_control(tol = 1e-3), tol = 1, max_iter = 7L)
  expect_identical(control$tol, 1e-3)
  expect_identical(control$max_iter, 7L)
  expect_identical(resolve_control(list(max_iter = 3), max_iter = 7L)$max_iter, 3L)
  for (size in c(1, 7, 8, 9)) for (step in c(1, 4, 8, 20)) {
    pieces <- in_pieces(size, step)
    expect_equal(unlist(pieces), seq_len(size))
    expect_true(all(lengths(pieces)[-length(pieces)] == step) && max(lengths(pieces)) <= step)
  }
})

test_that("what ufs_control() made is checked again where it is used", {
  skip_on_cran()
  for (control in list(list(verbose = NA), `[[<-`(ufs_control(), "verbose", NA))) {
    for (method in c("variance", "pca", "ted", "css", "rsr")) {
      args <- c(list(iris[, 1:4], method, control = control), if (method == "pca") list(n_components = 2))
      error <- expect_error(do.call(ufs, args), class = "ufs_error_argument")
      expect_identical(error$argument, "verbose")
    }
  }
  expect_error(ufs_pca(iris[, 1:4], control = `[[<-`(ufs_control(), "tol", "a")), class = "ufs_error_argument")
})

test_that("fast paths can be switched off by name, for benchmarks, and are on again after", {
  x <- scale(as.matrix(swiss))
  fit <- function() withr::with_seed(1, ufs_socfs(x, n_clusters = 3, lambda_rel = .1))
  off <- with_paths_off("gl_newton", fit())
  expect_equal(feature_scores(off), feature_scores(fit()), tolerance = 1e-5)
  expect_error(with_paths_off("nothing", fit()), "no fast path is called 'nothing'")
  expect_null(getOption("ufselect.paths_off"))
})
