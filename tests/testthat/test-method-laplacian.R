skip_on_cran()

test_that("Laplacian scores: fixtures, definition, constants beside isolated samples, rankings that say nothing", {
  for (set in c("mtcars", "synth60x200")) {
    x <- baseline_input(set)
    heat <- ufs_laplacian(x)
    expect_equal(unname(heat$statistic), baseline_expected(set, "LS__given_heat"), tolerance = 1e-12)
    binary <- ufs_laplacian(x, list(weights = "binary"))
    expect_equal(unname(binary$statistic), baseline_expected(set, "LS__given_binary"), tolerance = 1e-12)
  }
  for (x in list(noise(40, 6), noise(10, 30), cbind(noise(15, 1)))) {
    fit <- ufs_laplacian(x, list(n_neighbours = 3))
    want <- ref_laplacian(x, ref_graph(x, 3))
    expect_equal(unname(fit$statistic), want, tolerance = 1e-12)
    expect_equal(unname(feature_scores(fit)), 1 - want, tolerance = 1e-12)
    expect_true(all(want >= 0 & want <= 2))
  }
  fit <- ufs_laplacian(two_islands(), list(n_neighbours = 3))
  expect_equal(unname(fit$statistic), ref_laplacian(two_islands(), ref_graph(two_islands(), 3)), tolerance = 1e-12)
  w <- abs(ref_graph(noise(12, 2), 3))
  w[12, ] <- w[, 12] <- 0
  x <- cbind(noise(12, 2), c(0.3 + (1:11 %% 2) * 5e-17, 5))
  fit <- suppressWarnings(ufs_laplacian(x, w))
  expect_true(is.na(feature_scores(fit)[[3]]))
  expect_identical(unname(feature_ranking(fit))[3], 3L)
  expect_equal(unname(fit$statistic[1:2]), ref_laplacian(x[-12, 1:2], w[-12, -12]), tolerance = 1e-12)
  expect_warning(ufs_laplacian(noise(10, 3), 1 - diag(10)), class = "ufs_warning_void")
})

test_that("features constant on connected samples have no score; a graph without a copy is that of the columns", {
  x <- planted(20, 6, informative = 3)$x
  x[1:19, 3] <- 0
  x[20, 3] <- 1
  w <- matrix(1, 20, 20) - diag(20)
  w[20, ] <- 0
  w[, 20] <- 0
  for (fit in list(suppressWarnings(ufs_laplacian(x, graph = w)), suppressWarnings(ufs_spec(x, graph = w)))) {
    expect_true(is.na(feature_scores(fit)[[3]]))
    expect_false(anyNA(feature_scores(fit)[-3]))
    expect_identical(list(fit$status, unname(feature_ranking(fit))[6]), list("converged", 3L))
  }
  x <- planted(90, 12, informative = 3)$x
  x[, c(4, 12)] <- rep(c(7, -2), each = 90)
  bare <- x[, -c(4, 12)]
  for (weights in c("heat", "binary", "cosine")) for (most in c(20000, 50)) {
    withr::local_options(ufselect.exact_neighbours = most)
    graph <- list(weights = weights)
    made <- lapply(list(x, bare), function(x) quietly(ufs_graph(x, weights = weights)))
    expect_identical(made[[1L]]$recall, made[[2L]]$recall)
    expect_identical(as.matrix(made[[1L]]), as.matrix(made[[2L]]))
    for (center in c(FALSE, TRUE)) {
      graph$center <- center
      scores <- lapply(list(x, bare), function(x) unname(feature_scores(quietly(ufs_laplacian(x, graph = graph)))))
      expect_identical(scores[[1L]][-c(4, 12)], scores[[2L]])
    }
  }
})
