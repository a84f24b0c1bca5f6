# variance, pca, kmeans_f, random: what every comparison shows.

test_that("variance is var(), pca loadings prcomp's, F statistics those of aov(); ranks that are too small are named", {
  expect_equal(feature_scores(ufs_variance(mtcars)), vapply(mtcars, var, 0), tolerance = 1e-12)
  expect_warning(ufs_variance(mtcars, scale = TRUE), class = "ufs_warning_void")
  expect_setequal(feature_scores(ufs_random(mtcars)), 1:11 / 11)
  for (x in list(as.matrix(mtcars), matrix(rnorm(8 * 30), 8))) {
    fit <- ufs_pca(x, 3)
    ref <- prcomp(x, scale. = TRUE)$rotation[, 1:3]
    expect_equal(abs(unname(fit$solution$loadings)), abs(unname(ref)), tolerance = 1e-8)
    expect_equal(unname(feature_scores(fit)), unname(sqrt(rowSums(ref^2))), tolerance = 1e-8)
    expect_equal(fit$solution$scores, scale(x) %*% unname(fit$solution$loadings), ignore_attr = TRUE)
  }
  x <- withr::with_seed(6, matrix(rnorm(20 * 2), 20)) %*% matrix(c(1, 0, 0, 1, 1, 1, 1, -1, 2, 1), 2)
  for (z in list(x, t(x))) for (fit in list(ufs_pca, ufs_jspca, ufs_spca)) {
    expect_error(fit(z, 3), "`n_components` is 3, but `x` has rank 2", class = "ufs_error_argument")
  }
  set.seed(1)
  fit <- ufs_kmeans_f(mtcars, 3)
  ref <- vapply(mtcars, function(col) summary(aov(col ~ factor(fit$solution$cluster)))[[1]]$`F value`[1], 0)
  expect_equal(feature_scores(fit), ref, tolerance = 1e-10)
})

test_that("k-means: distinct partitions, best first; labels in its place; too few distinct rows are an error", {
  z <- planted()$x[, 1:4]
  set.seed(3)
  runs <- kmeans_runs(z, 4, 15)
  within <- vapply(runs, `[[`, 0, "withinss")
  expect_false(is.unsorted(within) || any(duplicated(lapply(runs, `[[`, "cluster"))))
  expect_equal(within[1], {
    cluster <- runs[[1]]$cluster
    sum(vapply(unique(cluster), function(g) sum(scale(z[cluster == g, , drop = FALSE], scale = FALSE)^2), 0))
  })
  expect_null(kmeans_runs(matrix(1, 5, 2), 2, 3))
  expect_identical(kmeans_runs(z, 1, 3)[[1]]$cluster, rep(1L, nrow(z)))
  expect_refused(ufs_kmeans_f(as.matrix(mtcars)[rep(1:2, 5), ], 3), "", "ufs_error_input", "x")
  expect_arguments(max_iter = ufs_kmeans_f(mtcars, 3, control = ufs_control(max_iter = 0)))
  f <- function(v) summary(stats::aov(v ~ iris$Species))[[1]][1, "F value"]
  fit <- ufs_kmeans_f(iris[, 1:4], 3, init = iris$Species, scale = FALSE)
  expect_equal(unname(feature_scores(fit)), unname(sapply(iris[, 1:4], f)))
  twice <- rep(1:2, 75)
  weighted <- ufs_kmeans_f(iris[, 1:4], 3, init = iris$Species, weights = twice, scale = FALSE)
  copied <- ufs_kmeans_f(iris[rep(1:150, twice), 1:4], 3, init = iris$Species[rep(1:150, twice)], scale = FALSE)
  expect_equal(feature_scores(weighted), feature_scores(copied))
  expect_equal(weighted$solution$within_ss, copied$solution$within_ss)
  expect_error(ufs_kmeans_f(iris[, 1:4], 2, init = iris$Species), class = "ufs_error_argument")
})

test_that("published values: loadings of the arrests, least sums of squares of the irises; refusals are in words", {
  # James, Witten, Hastie and Tibshirani, An Introduction to Statistical Learning (2013), table 10.1.
  fit <- ufs_pca(USArrests, n_components = 2)
  expect_equal(unname(abs(fit$solution$loadings)), cbind(c(0.5358995, 0.5831836, 0.2781909, 0.5434321),
    c(0.4181809, 0.1879856, 0.8728062, 0.1673186)), tolerance = 1e-6)
  # Global optima: du Merle, Hansen, Jaumard and Mladenovic, SIAM J. Sci. Comput. 21 (2000) 1485-1505.
  optimum <- c(152.3480, 78.85144, 57.22847, 46.44618)
  for (k in 2:5) {
    fit <- withr::with_seed(1, ufs_kmeans_f(iris[, 1:4], k, scale = FALSE, n_starts = 50))
    expect_equal(fit$solution$within_ss, optimum[k - 1], tolerance = 1e-6)
  }
  expect_refused(ufs_kmeans_f(mtcars, 2, init = 1:3),
    "`init` must name a start, be a matrix with 32 rows, or 32 labels without NA")
})
