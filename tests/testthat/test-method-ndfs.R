skip_on_cran()

replay <- function(steps, eps = .Machine$double.eps) ufs_control(max_iter = steps, tol = -1, eps = eps)

test_that("fixtures, and no inverse but the same numbers, from start = \"zero\" too", {
  cases <- list(list(name = "NDFS__L_a1_b1_g1e8_it30", laplacian = "unnormalised", alpha = 1, gamma = 1e8, steps = 30),
    list(name = "NDFS__Ln_a1_b1_g1e8_it30", laplacian = "normalised", alpha = 1, gamma = 1e8, steps = 30),
    list(name = "NDFS__Ln_a0.1_b1_g1000_it100", laplacian = "normalised", alpha = 0.1, gamma = 1000, steps = 100))
  for (set in c("mtcars", "synth60x200")) {
    x <- baseline_input(set)
    w <- baseline_graph(set, "knn5_heat_max")
    for (case in cases) {
      fit <- quiet(ufs_ndfs(x, 3, graph = w, alpha = case$alpha, gamma = case$gamma,
        init = kmeans3_labels(set), laplacian = case$laplacian, update = "paper",
        start = "zero", center = FALSE, scale = FALSE, control = replay(case$steps)))
      expect_lt(max(abs(feature_scores(fit) / baseline_expected(set, case$name) - 1)), 1e-9)
    }
    # That code adds a ridge of 1e-6 and stops after 58 and 17 steps.
    fit <- quiet(ufs_ndfs(x, 3, graph = w, init = kmeans3_labels(set), update = "paper", center = FALSE, scale = FALSE,
      control = replay(if (set == "mtcars") 58 else 17, 1e-32)))
    expect_lt(rel_diff(unname(feature_scores(fit)), baseline_expected(set, "NDFS__L_identity_scikit_stop")), 1e-6)
  }
  for (size in list(c(40, 8), c(15, 40))) {
    x <- unit_columns(planted(size[1], size[2], informative = 4)$x)
    labels <- rep_len(1:3, size[1])
    w <- as.matrix(ufs_graph(x))
    for (normalised in c(FALSE, TRUE)) {
      want <- ref_ndfs(x, w, one_hot(labels), 0.7, 0.3, 1e5, 8, 1, 1e-12, normalised)
      fit <- quiet(ufs_ndfs(x, 3, graph = w, alpha = 0.7, beta = 0.3, gamma = 1e5, init = labels,
        laplacian = if (normalised) "normalised" else "unnormalised", update = "paper",
        center = FALSE, scale = FALSE, control = replay(8, 1e-12)))
      expect_equal(unname(coef(fit)), want$w, tolerance = 1e-9)
      expect_equal(unname(fit$solution$F), unname(want$f), tolerance = 1e-9)
      expect_equal(fit$trace$objective, want$objective, tolerance = 1e-9)
    }
  }
  x <- unit_columns(planted(30, 6, informative = 3)$x)
  labels <- rep_len(1:2, 30)
  w <- as.matrix(ufs_graph(x))
  want <- ref_ndfs(x, w, one_hot(labels), 1, 0.1, 1e6, 12, 2e-4, 1e-8)
  fit <- quiet(ufs_ndfs(x, 2, graph = w, beta = 0.1, gamma = 1e6, init = labels, start = "zero",
    center = FALSE, scale = FALSE, control = replay(12, 1e-8)))
  expect_equal(unname(coef(fit)), want$w, tolerance = 1e-5)
})

test_that("splitting and clipping agree where gamma is large; starts from labels, a matrix, the seed", {
  x <- planted(40, 12)$x
  labels <- rep_len(1:3, 40)
  run <- function(update, gamma) {
    quiet(ufs_ndfs(x, 3, init = labels, gamma = gamma, update = update, control = ufs_control(max_iter = 60, tol = -1)))
  }
  expect_equal(feature_scores(run("split", 1e8)), feature_scores(run("paper", 1e8)), tolerance = 1e-5)
  x <- as.matrix(mtcars)
  labels <- kmeans3_labels("mtcars")
  split <- run("split", 10)$trace$objective
  expect_lt(min(split), min(run("paper", 10)$trace$objective))
  expect_true(all(diff(split) <= 1e-9 * split[1]))
  data <- planted(40, 10)
  a <- ufs_ndfs(data$x, 3, init = data$cluster)
  expect_identical(feature_scores(a), feature_scores(ufs_ndfs(data$x, 3, init = factor(letters[data$cluster]))))
  expect_identical(feature_scores(a), feature_scores(ufs_ndfs(data$x, 3, init = one_hot(data$cluster))))
  withr::with_seed(1, {
    seed <- .Random.seed
    ufs_ndfs(data$x, 3, init = data$cluster)
    expect_identical(.Random.seed, seed)
  })
})

test_that("equal columns share their weights, and the certificate is that of what they share", {
  # After one step a small penalty leaves the weights of equal columns apart by more than rounding.
  x <- unit_columns(planted(30, 9)$x)[, c(1:9, 1:4, 1)]
  for (include in list(NULL, 2)) {
    for (steps in c(1, 3)) {
      fit <- ufs_ndfs(x, 3, init = rep_len(1:3, 30), gamma = 10, beta = 1e-3, center = FALSE,
        scale = FALSE, include = include, control = ufs_control(max_iter = steps, warn = FALSE))
      w <- unname(coef(fit))
      expect_identical(w[c(10, 12:14), ], w[c(1, 3, 4, 1), ])
      # The second column has a penalty by itself.
      if (is.null(include)) expect_identical(w[11, ], w[2, ])
      half <- replace(rep(5e-4, 14), include, 0)
      gradient <- crossprod(x, fit$solution$F - x %*% w)
      size <- ref_row_norms(w)
      off <- ref_row_norms(gradient - (size > 0) * half * w / pmax(size, 1e-300))
      expect_equal(max(off / 5e-4 - (size == 0)), fit$certificate[["kkt"]], tolerance = 1e-9)
    }
  }
})

test_that("graphs: arguments, a matrix, isolated samples; errors say what is wrong", {
  data <- planted(30, 8, informative = 4)
  w <- as.matrix(ufs_graph(unit_columns(data$x), n_neighbours = 4, weights = "binary"))
  expect_equal(feature_scores(ufs_ndfs(data$x, 3, graph = w, init = data$cluster, gamma = 10)),
    feature_scores(ufs_ndfs(data$x, 3, graph = list(n_neighbours = 4, weights = "binary"),
      init = data$cluster, gamma = 10)), tolerance = 1e-8)
  w[5, ] <- w[, 5] <- 0
  expect_warning(fit <- ufs_ndfs(data$x, 3, graph = w, init = data$cluster,
    laplacian = "normalised"), class = "ufs_warning_graph")
  expect_true(all(is.finite(feature_scores(fit))))
  expect_error(ufs_ndfs(data$x, 3, graph = w[-1, -1], init = data$cluster), class = "ufs_error_argument")
  two <- cbind(a = rep(0:1, 15), b = rep(0:1, 15))
  expect_refusals(ufs_ndfs(mtcars, 32), ufs_ndfs(mtcars), ufs_ndfs(mtcars, 3, init = 1:4),
    ufs_ndfs(mtcars, 3, init = rep(1:2, 16)), ufs_ndfs(mtcars, 2, init = cbind(1, numeric(32))),
    "nonnegative, without a zero column" = ufs_ndfs(mtcars, 2, init = matrix(-1, 32, 2)),
    ufs_ndfs(cbind(rep(1:2, 5), rep(2:1, 5)), 3),
    "k-means cannot make 3 clusters: `x` has too few distinct rows." = ufs_ndfs(two, 3))
  fit <- quiet(ufs_ndfs(mtcars, 3, init = rep_len(1:3, 32), control = ufs_control(max_iter = 4, warn = FALSE)))
  expect_output(print(fit), "non-zero .* of 11 features")
})

test_that("the objective never rises, whatever gamma is, and is the one of the solution", {
  rises <- 0
  for (seed in 1:6) {
    data <- withr::with_seed(seed, {
      labels <- rep_len(1:3, 24)
      list(x = cbind(matrix(rnorm(24 * 8), 24) + labels, 5), labels = labels)
    })
    x <- cbind(data$x, data$x[, 2])
    for (gamma in c(0.01, 1, 10, 100, 1e4, 1e8)) {
      for (update in c("split", "paper")) {
        fit <- quiet(ufs_ndfs(x, 3, init = data$labels, gamma = gamma, update = update))
        objective <- fit$trace$objective
        expect_true(all(diff(objective) <= 1e-10 * abs(objective[-1])))
        plain <- quiet(ufs_ndfs(x, 3, init = data$labels, gamma = gamma, update = update,
          solver = "irls", control = ufs_control(max_iter = 30)))$trace$objective
        rises <- rises + any(diff(plain) > 1e-6 * abs(plain[-1]))
      }
    }
  }
  # The authors' iteration does rise: there is something to guard against.
  expect_gt(rises, 10)
})
