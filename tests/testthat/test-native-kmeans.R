# kmeans_runs() (src/kmeans.c) against stats::kmeans() and plain R.

within_of <- function(z, cluster) {
  sum(vapply(unique(cluster), function(g) sum(scale(z[cluster == g, , drop = FALSE], scale = FALSE)^2), 0))
}

shapes <- list(tall = c(120, 6, 4), square = c(40, 40, 3), wide = c(30, 400, 5), line = c(50, 1, 3))

kmeans_data <- function(shape, seed) {
  withr::with_seed(seed, {
    g <- sample(shape[3], shape[1], TRUE)
    centre <- matrix(rnorm(shape[3] * shape[2], sd = .7), shape[3])
    matrix(rnorm(shape[1] * shape[2]), shape[1]) + centre[g, , drop = FALSE] + 3
  })
}

# No row with its count gains by another cluster, in the exchange test of Hartigan and Wong.
expect_settled <- function(z, cluster, counts = rep(1, nrow(z))) {
  size <- drop(rowsum(counts, cluster))
  mean <- rowsum(z * counts, cluster) / size
  d2 <- vapply(seq_along(size), function(j) rowSums(sweep(z, 2L, mean[j, ])^2), z[, 1])
  own <- cbind(seq_len(nrow(z)), cluster)
  save <- d2[own] * size[cluster] / (size[cluster] - counts)
  cost <- d2 * outer(counts, size, function(w, m) m / (m + w))
  cost[own] <- Inf
  movable <- tabulate(cluster)[cluster] > 1
  expect_true(all((save <= apply(cost, 1L, min) * (1 + 1e-8))[movable]))
}

test_that("sums of squares are those of the labels and no exchange lowers them; counted rows are as many rows", {
  skip_on_cran()
  for (shape in shapes) {
    z <- kmeans_data(shape, 1)
    for (run in withr::with_seed(2, kmeans_runs(z, shape[3], 10L))) {
      expect_identical(sort(unique(run$cluster)), seq_len(shape[3]))
      expect_equal(run$withinss, within_of(z, run$cluster), tolerance = 1e-10)
      expect_settled(z, run$cluster)
    }
  }
  for (shape in shapes) {
    z <- kmeans_data(shape, 5)
    counts <- withr::with_seed(6, sample(1:4, nrow(z), TRUE))
    rows <- rep(seq_len(nrow(z)), counts)
    one <- withr::with_seed(7, kmeans_runs(z, shape[3], 10L, count = as.double(counts)))[[1L]]
    two <- withr::with_seed(7, kmeans_runs(z[rows, , drop = FALSE], shape[3], 10L))[[1L]]
    expect_equal(one$withinss, within_of(z[rows, , drop = FALSE], one$cluster[rows]), tolerance = 1e-10)
    expect_lte(one$withinss, two$withinss * (1 + 1e-3))
    # Only the shares matter, however far apart they are.
    some <- withr::with_seed(8, kmeans_runs(z, shape[3], 10L, count = counts * 1e-8))[[1L]]
    expect_equal(some$withinss * 1e8, within_of(z[rows, , drop = FALSE], some$cluster[rows]), tolerance = 1e-8)
    wild <- withr::with_seed(9, kmeans_runs(z, shape[3], 5L, count = 10^stats::runif(nrow(z), -20, 20)))[[1L]]
    expect_true(is.finite(wild$withinss))
    expect_identical(sort(unique(wild$cluster)), seq_len(shape[3]))
    expect_settled(z, one$cluster, counts)
  }
})

test_that("coordinates of wide data give the partitions of the data; equal samples count and stay together", {
  z <- kmeans_data(c(30, 60, 4), 5)
  # 29 principal scores: the same distances, but held as columns.
  scores <- stats::prcomp(z)$x[, 1:29]
  wide <- withr::with_seed(6, kmeans_runs(z, 4, 8L))
  narrow <- withr::with_seed(6, kmeans_runs(scores, 4, 8L))
  expect_equal(lapply(wide, `[[`, "cluster"), lapply(narrow, `[[`, "cluster"))
  expect_equal(vapply(wide, `[[`, 0, "withinss"), vapply(narrow, `[[`, 0, "withinss"), tolerance = 1e-10)
  expect_equal(withr::with_seed(6, kmeans_runs(z + 1e4, 4, 8L))[[1L]]$cluster, wide[[1L]]$cluster)
  for (p in c(2, 80)) {
    z <- kmeans_data(c(12, p, 3), 7)[rep(1:12, each = 5), ]
    for (run in withr::with_seed(8, kmeans_runs(z, 5, 10L))) {
      expect_identical(lengths(lapply(split(run$cluster, rep(1:12, each = 5)), unique)),
        stats::setNames(rep(1L, 12), 1:12))
    }
    all <- withr::with_seed(8, kmeans_runs(z, 12, 3L))
    expect_length(all, 1L)
    expect_lte(all[[1L]]$withinss, 1e-18 * sum(z^2))
    expect_null(kmeans_runs(z, 13, 3L))
  }
})

test_that("starts come from R's random numbers, and few iterations still give a partition", {
  z <- kmeans_data(shapes$tall, 9)
  draw <- function(seed, ...) withr::with_seed(seed, kmeans_runs(z, 4, 3L, ...))
  expect_identical(draw(1), draw(1))
  expect_false(identical(draw(1), draw(2)))
  short <- draw(1, 1L)
  for (run in short) {
    expect_equal(run$withinss, within_of(z, run$cluster), tolerance = 1e-10)
    expect_identical(run$iterations, 1L)
  }
  expect_gte(short[[1L]]$withinss, draw(1)[[1L]]$withinss)
  # The passes begin as Lloyd's: each sample goes to the nearest of the means that there were.
  longer <- draw(1, 2L)
  for (i in 1:3) {
    mean <- rowsum(z, short[[i]]$cluster) / tabulate(short[[i]]$cluster)
    nearest <- max.col(-as.matrix(stats::dist(rbind(mean, z)))[-(1:4), 1:4])
    expect_identical(longer[[i]]$cluster, match(nearest, unique(nearest)))
  }
  expect_error(kmeans_runs(z, 4, 1e9L), class = "ufs_error_memory")
})

test_that("squares that cannot be held, values that are not finite and impossible numbers of clusters are errors", {
  points <- dense_points(matrix(as.double(1:8), 4), FALSE)
  for (wrong in c(4L, 0L)) expect_error(kmeans_starts(points, wrong, 1L, 5L), "internal error")
  set.seed(1)
  for (z in list(matrix(rnorm(40), 20), matrix(rnorm(240), 12))) {
    for (bad in c(1e200, 1.7e308)) expect_error(kmeans_runs(z / max(abs(z)) * bad, 3L, 2L), class = "ufs_error")
    # What ufs_data() refuses does not pass the edge either.
    z[2, 1] <- NaN
    expect_error(.Call(C_kmeans, z, NULL, seq_len(nrow(z)), integer(),
      list(draw = matrix(stats::runif(6), 3), max_iter = 10L, most = 2L, verbose = FALSE)), "not finite")
  }
  expect_identical(lapply(list("kmeans", "pca_part", "paper", c("kmeans", "pca_part"), 1L, NULL),
    is_kmeans_start), list(TRUE, TRUE, FALSE, FALSE, FALSE, FALSE))
})
