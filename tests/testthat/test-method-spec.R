skip_on_cran()

test_that("fixtures; every type and power is that of the definition, in the right direction", {
  for (set in c("mtcars", "synth60x200")) {
    x <- baseline_input(set)
    statistic <- function(type = "phi2", ...) unname(ufs_spec(x, type = type, ...)$statistic)
    expect_equal(statistic(type = "phi1"), baseline_expected(set, "SPEC__given_heat_style-1"), tolerance = 1e-11)
    expect_equal(statistic(type = "phi2"), baseline_expected(set, "SPEC__given_heat_style0"), tolerance = 1e-11)
    expect_equal(statistic(type = "phi3", n_clusters = 3),
      baseline_expected(set, "SPEC__given_heat_style3"), tolerance = 1e-10)
  }
  for (x in list(noise(30, 5) + 1, noise(12, 20) + 1)) {
    w <- ref_graph(x, 4)
    for (power in 1:4) {
      for (type in c("phi1", "phi2")) {
        fit <- ufs_spec(x, list(n_neighbours = 4), type = type, power = power)
        want <- ref_spec(x, w, type, power = power)
        expect_equal(unname(fit$statistic), want, tolerance = 1e-10)
        expect_identical(unname(feature_ranking(fit)), order(want))
      }
      fit <- ufs_spec(x, list(n_neighbours = 4), type = "phi3", n_clusters = 5, power = power)
      want <- ref_spec(x, w, "phi3", k = 5, power = power)
      expect_equal(unname(fit$statistic), want, tolerance = 1e-10)
      expect_identical(unname(feature_ranking(fit)), order(-want))
    }
  }
})

test_that("phi2 and phi1 are the Laplacian score, phi3 the decomposition's whatever the order; cuts are announced", {
  x <- noise(30, 4)
  graph <- ufs_graph(x)
  expect_equal(ufs_spec(x, graph, "phi2")$statistic, ufs_laplacian(x, graph)$statistic, tolerance = 1e-13)
  centred <- sweep(x, 2, colSums(x * graph$degree) / sum(graph$degree))
  expect_equal(ufs_spec(centred, graph, type = "phi1")$statistic, ufs_laplacian(x, graph)$statistic, tolerance = 1e-12)
  # The pitfall: a feature far from 0 looks smooth.
  far <- x
  far[, 2] <- far[, 2] + 1e3
  expect_identical(unname(feature_ranking(ufs_spec(far, graph, type = "phi1")))[1], 2L)
  expect_equal(ufs_spec(far, graph, "phi2")$statistic, ufs_spec(x, graph, "phi2")$statistic, tolerance = 1e-9)
  x <- noise(450, 4)
  fit <- ufs_spec(x, type = "phi3", n_clusters = 4)
  expect_gt(fit$iterations, 0L)
  expect_lt(fit$certificate[["residual"]], 1e-10)
  expect_equal(unname(fit$statistic), ref_spec(x, ref_graph(x, 5), "phi3", k = 4), tolerance = 1e-8)
  x <- two_islands(24)
  o <- withr::with_seed(2, sample(24))
  graph <- suppressWarnings(ufs_graph(x, n_neighbours = 3))
  m <- graph$n_components + 2L
  fit <- ufs_spec(x, list(n_neighbours = 3), type = "phi3", n_clusters = m)
  again <- ufs_spec(x[o, ], list(n_neighbours = 3), type = "phi3", n_clusters = m)
  expect_equal(again$statistic, fit$statistic, tolerance = 1e-10)
  expect_equal(fit$solution$eigenvalues[1], 0)
  d <- graph$degree
  expect_equal(crossprod(cbind(sqrt(d / sum(d)), fit$solution$U)), diag(m), tolerance = 1e-10)
  x <- noise(45, 2)
  x[16:30, ] <- x[16:30, ] + 100
  x[31:45, ] <- x[31:45, ] - 100
  expect_warning(ufs_spec(x, list(n_neighbours = 5, bandwidth = 5), type = "phi3", n_clusters = 2),
    class = "ufs_warning_cut")
  expect_silent(ufs_spec(x, list(n_neighbours = 5, bandwidth = 5), type = "phi3", n_clusters = 3))
})

test_that("isolated samples count as absent, constant columns have no score, and bad arguments are errors", {
  x <- noise(20, 3)
  w <- ref_graph(x[-20, ], 4)
  with_one <- rbind(cbind(w, 0), 0)
  for (type in c("phi1", "phi2", "phi3")) {
    expect_warning(fit <- ufs_spec(x, with_one, type = type, n_clusters = 4), class = "ufs_warning_graph")
    expect_equal(fit$statistic, ufs_spec(x[-20, ], w, type = type, n_clusters = 4)$statistic, tolerance = 1e-12)
  }
  expect_identical(fit$solution$U[20, ], rep(0, 3))
  graph <- unclass(suppressWarnings(ufs_graph(noise(20, 3), 4)))
  constant <- matrix(c(1e-9, 1, 1e9) %o% (1 / c(3, 7, 11, 13, 17, 19)), 20, 18, byrow = TRUE)
  phi <- .Call(C_spec_quadratic, graph, cbind(noise(20, 2), constant), 1L, TRUE)
  expect_identical(is.finite(phi), rep(c(TRUE, FALSE), c(2, 18)))
  x <- noise(10, 3)
  expect_refusals("n_clusters" = ufs_spec(x, type = "phi3"), ufs_spec(x, type = "phi3", n_clusters = 1),
    ufs_spec(x, type = "phi3", n_clusters = 10))
  w <- matrix(0, 10, 10)
  w[1:3, 1:3] <- 1 - diag(3)
  expect_error(suppressWarnings(ufs_spec(x, w, type = "phi3", n_clusters = 4)), "only 3 samples",
    class = "ufs_error_argument")
})
