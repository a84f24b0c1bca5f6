skip_on_cran()

test_that("fixtures; both forms follow the literal algorithm", {
  for (gamma in c(100, 1)) {
    fit <- quiet(ufs_sogfs(baseline_input("mtcars"), 3, n_dims = 4, gamma = gamma))
    want <- baseline_expected("mtcars", sprintf("SOGFS__gamma%d_m4_c3_k5", gamma))
    expect_lt(max(abs(feature_scores(fit) - want)), 1e-9)
  }
  cases <- list(list(x = unit_columns(iris[, 1:4]), m = 2, gamma = 0.1),
    list(x = unit_columns(planted(60, 20)$x), m = 4, gamma = 0.05),
    list(x = unit_columns(planted(25, 60)$x), m = 3, gamma = 0.5))
  for (case in cases) {
    want <- ref_sogfs(case$x, case$m, 3, 5, case$gamma)
    fit <- quiet(ufs_sogfs(case$x, 3, n_dims = case$m, gamma = case$gamma, solver = "irls",
      center = FALSE, scale = FALSE))
    expect_identical(fit$iterations, as.integer(want$iterations))
    expect_equal(fit$trace$lambda, want$lambda, tolerance = 1e-8)
    expect_equal(fit$trace$zeros, want$zeros, tolerance = 1e-4)
    expect_equal(unname(feature_scores(fit)), want$row2, tolerance = 1e-4)
    # Rows of iris have exact ties among their neighbours: any choice will do.
    if (nrow(case$x) < 150) expect_lt(max(abs(as.matrix(fit$solution$S) - want$s)), 1e-3)
  }
})

test_that("a large gamma leaves n_dims features; p > n, sparse eigenvectors, duplicated samples and limits", {
  expect_warning(fit <- ufs_sogfs(mtcars, 3, n_dims = 2, gamma = 100), "only 2 of 11", class = "ufs_warning_void")
  expect_identical(c(fit$n_nonzero, quiet(ufs_sogfs(mtcars, 3))$params$n_dims), c(2L, 4L))
  expect_identical(quiet(ufs_sogfs(mtcars, 6))$params$n_dims, 6L)
  expect_identical(ufs_sogfs(mtcars[, 1:3], 3)$params$n_dims, 3L)
  x <- unit_columns(planted(20, 50)$x)
  noisy <- withr::with_seed(1, x + 1e-13 * matrix(rnorm(length(x)), nrow(x)))
  run <- function(x) quiet(ufs_sogfs(x, 3, gamma = 0.2, center = FALSE, scale = FALSE))
  expect_equal(unname(feature_scores(run(x))), unname(feature_scores(run(noisy))), tolerance = 1e-4)
  data <- planted(500, 6, informative = 4, gap = 8)
  fit <- quiet(ufs_sogfs(data$x, 3, n_dims = 3, gamma = 100))
  expect_identical(list(fit$status, max(table(fit$solution$cluster, data$cluster))), list("converged", 167L))
  x <- planted(20, 6, informative = 2)$x
  expect_true(all(is.finite(feature_scores(quiet(ufs_sogfs(rbind(x, x[rep(1, 7), ]), 2))))))
  # Every sample many times: all distances to the neighbours are 0.
  expect_true(all(is.finite(feature_scores(quiet(ufs_sogfs(x[rep(1:3, each = 8), ], 3))))))
  expect_equal(rowSums(as.matrix(quiet(ufs_sogfs(x, 2, n_neighbours = 19))$solution$S)), rep(1, 20))
  # Every sample many times: all distances to the neighbours are 0.
  expect_true(all(is.finite(feature_scores(quiet(ufs_sogfs(x[rep(1:3, each = 8), ], 3))))))
  expect_equal(unname(feature_scores(quiet(ufs_sogfs(cbind(c(1, 2, 7, 8, 9)), 2, n_neighbours = 2)))), 1)
  expect_refusals(ufs_sogfs(mtcars, 31), ufs_sogfs(mtcars, 3, n_dims = 12),
    "32 samples" = ufs_sogfs(mtcars, 3, n_neighbours = 32))
})

test_that("rows left out are zero, and rightly so: optimality of W in plain R", {
  # More than 120 features: small rows are left out of the steps over W.
  for (size in list(c(60, 150), c(200, 140))) {
    x <- unit_columns(planted(size[1], size[2], informative = 8)$x)
    for (gamma in c(0.3, 5)) {
      fit <- quiet(ufs_sogfs(x, 3, n_dims = 4, gamma = gamma, center = FALSE, scale = FALSE,
        control = ufs_control(max_iter = 12)))
      w <- coef(fit)
      expect_equal(crossprod(w), diag(4), tolerance = 1e-9)
      zero <- rowSums(w^2) == 0
      expect_gt(sum(zero), 20L)
      expect_true(all(fit$feature_key[zero] <= 1 + 1e-5))
      # The order of the zero rows is that of their distance from entering.
      expect_false(is.unsorted(-fit$feature_key[fit$feature_ranking[fit$feature_ranking %in% which(zero)]]))
    }
  }
})

test_that("F is restored when lambda is halved; the eigenvalue sums of the trace are those of the learnt graph", {
  # Sets on which lambda overshoots, so that a step is refused; see the trace.
  found <- 0
  for (case in list(c(seed = 3, k = 5), c(4, 3))) {
    x <- withr::with_seed(case[[1]], unit_columns(matrix(rnorm(40 * 6), 40)))
    want <- ref_sogfs(x, 3, 4, case[[2]], 0.05)
    fit <- quiet(ufs_sogfs(x, 4, n_dims = 3, n_neighbours = case[[2]], gamma = 0.05, solver = "irls",
      center = FALSE, scale = FALSE))
    found <- found + any(diff(want$lambda) < 0)
    expect_equal(fit$trace$lambda, want$lambda, tolerance = 1e-8)
    expect_equal(fit$trace$zeros, want$zeros, tolerance = 1e-3)
    expect_lt(max(abs(as.matrix(fit$solution$S) - want$s)), 1e-3)
  }
  expect_identical(found, 2)
  x <- withr::with_seed(1, matrix(rnorm(450 * 4), 450) + 3 * (seq_len(450) %% 3))
  for (steps in c(1, 3)) {
    fit <- suppressWarnings(ufs_sogfs(x, 4, control = ufs_control(max_iter = steps)))
    s <- as.matrix(fit$solution$S)
    s <- (s + t(s)) / 2
    values <- rev(eigen(diag(rowSums(s)) - s, symmetric = TRUE, only.values = TRUE)$values)
    last <- fit$trace[nrow(fit$trace), ]
    expect_equal(last$zeros, sum(values[1:4]), tolerance = 1e-5)
    # The last one only tells whether the graph has too many components.
    expect_equal(last$next_zeros, sum(values[1:5]), tolerance = 0.1)
    expect_equal(sum(fit$solution$F * ((diag(rowSums(s)) - s) %*% fit$solution$F)), sum(values[1:4]), tolerance = 1e-5)
  }
})

test_that("RSR, UDFS and SOGFS hold few copies of x", {
  x <- planted(100, 1500)$x
  few <- list(rsr = 3, udfs = 4, sogfs = 4)
  for (method in names(few)) {
    fit_of(method, x)
    expect_lte(large_allocations(fit_of(method, x), x), few[[method]])
  }
})
