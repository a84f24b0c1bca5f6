test_that("settings are validated, unknown ones named, defaults fill the rest; what was made is checked anew", {
  expect_refused(ufs_control(maxiter = 5), "`maxiter`", "ufs_error_control", "maxiter")
  expect_refusals(ufs_pca(iris[, 1:4], 2, control = list(tolerance = 1)), ufs_pca(iris[, 1:4], 2, control = 5),
    class = "ufs_error_control")
  for (bad in list(list(max_iter = -1), list(max_iter = 2.5), list(tol = "a"), list(tol = NA), list(verbose = NA),
    list(progress = 3), list(eps = -1), list(eps = 1:3), list(inner_max_iter = 0), list(warn = "no"))) {
    expect_refused(do.call(ufs_control, bad), "", argument = names(bad))
  }
  control <- resolve_control(ufs_control(tol = 1e-3), tol = 1, max_iter = 7L)
  expect_identical(list(control$tol, control$max_iter), list(1e-3, 7L))
  expect_identical(resolve_control(list(max_iter = 3), max_iter = 7L)$max_iter, 3L)
  for (size in c(1, 7, 8, 9)) for (step in c(1, 4, 8, 20)) {
    pieces <- in_pieces(size, step)
    expect_equal(unlist(pieces), seq_len(size))
    expect_true(all(lengths(pieces)[-length(pieces)] == step) && max(lengths(pieces)) <= step)
  }
  skip_on_cran()
  for (control in list(list(verbose = NA), `[[<-`(ufs_control(), "verbose", NA))) {
    for (method in c("variance", "pca", "ted", "css", "rsr")) {
      args <- c(list(iris[, 1:4], method, control = control), if (method == "pca") list(n_components = 2))
      expect_arguments(verbose = do.call(ufs, args))
    }
  }
  expect_error(ufs_pca(iris[, 1:4], control = `[[<-`(ufs_control(), "tol", "a")), class = "ufs_error_argument")
})

test_that("fast paths can be switched off by name, for benchmarks, and are on again after", {
  x <- scale(as.matrix(swiss))
  fit <- function() withr::with_seed(1, ufs_socfs(x, n_clusters = 3, lambda_rel = .1))
  expect_equal(feature_scores(with_paths_off("gl_newton", fit())), feature_scores(fit()), tolerance = 1e-5)
  expect_error(with_paths_off("nothing", fit()), "no fast path is called 'nothing'")
  expect_null(getOption("ufselect.paths_off"))
})
