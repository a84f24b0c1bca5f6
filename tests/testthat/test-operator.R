# Every method on sparse data and data on disk against the same method on the dense matrix.

skip_if_not_installed("Matrix")

# Counts with planted groups, log-transformed: wide and tall; a constant column, an empty row.
grouped_counts <- function(n, p, groups = 3, seed = 1) {
  withr::with_seed(seed, {
    g <- rep(seq_len(groups), length.out = n)
    rate <- matrix(0.2, groups, p)
    for (k in seq_len(groups)) rate[k, seq.int(k, by = groups, length.out = 6)] <- 3
    x <- log1p(matrix(rpois(n * p, rate[g, ]), n))
  })
  x[, p] <- 0
  x[n, ] <- 0
  dimnames(x) <- list(paste0("s", seq_len(n)), paste0("f", seq_len(p)))
  list(x = x, group = g)
}

# Runs a method on the dense matrix, on the sparse one and on blocks; the last two must agree
# with the first.
three_ways <- function(x, method, ..., tolerance = 1e-6, seed = 1) {
  run <- function(x) {
    withr::with_seed(seed, suppressMessages(suppressWarnings(ufs(x, method, ...))))
  }
  dense <- run(x)
  others <- list(sparse = run(to_sparse(x)))
  if (requireNamespace("DelayedArray", quietly = TRUE)) {
    others$blocks <- run(ufs_data(DelayedArray::DelayedArray(x), block_bytes = 8 * 7 * nrow(x)))
  }
  for (kind in names(others)) {
    fit <- others[[kind]]
    expect_identical(fit$input$kind, if (kind == "sparse") "sparse" else "source")
    expect_equal(feature_scores_of(fit), feature_scores_of(dense), tolerance = tolerance, info = kind)
    expect_equal(fit$sample_scores, dense$sample_scores, tolerance = tolerance, info = kind)
    expect_identical(fit$status, dense$status, info = kind)
    expect_identical(fit$names, dense$names)
    expect_identical(fit$constant, dense$constant)
  }
  invisible(list(dense = dense, sparse = others$sparse, blocks = others$blocks))
}
feature_scores_of <- function(fit) fit$feature_scores

sets <- list(wide = grouped_counts(30, 90), tall = grouped_counts(80, 25), square = grouped_counts(40, 40))

for (name in names(sets)) {
  x <- sets[[name]]$x
  test_that(paste0(name, ": variance, random, pca, cur and k-means + F are those of the dense matrix"), {
    three_ways(x, "variance")
    three_ways(x, "random", what = "both")
    for (how in all_four) {
      fits <- three_ways(x, "pca", n_components = 2, center = how[1], scale = how[2])
      for (fit in fits) expect_equal(fit$solution$scores, fits$dense$solution$scores, tolerance = 1e-5)
      three_ways(x, "kmeans_f", n_clusters = 3, center = how[1], scale = how[2])
    }
    three_ways(x, "cur", rank = 2, draw = "top")
    three_ways(x, "cur", draw = "exact")
  })
}

test_that("equal rows and columns of sparse data have equal leverage to the last bit", {
  x <- sets$wide$x
  x[5, ] <- x[9, ]
  x[, 7] <- x[, 3]
  fit <- suppressWarnings(ufs_cur(to_sparse(x), rank = 3, draw = "top"))
  expect_identical(fit$solution$leverage_samples[[5]], fit$solution$leverage_samples[[9]])
  expect_identical(fit$solution$leverage_features[[7]], fit$solution$leverage_features[[3]])
})

test_that("above 50 components k-means says that it saw only those", {
  x <- withr::with_seed(1, Matrix::rsparsematrix(120, 200, 0.1))
  fit <- withr::with_seed(1, ufs_kmeans_f(x, 3))
  expect_output(print(fit), "leading 50 principal component scores")
  expect_equal(unname(feature_scores(fit)), unname(f_statistic(as.matrix(x), fit$solution$cluster)), tolerance = 1e-8)
})
