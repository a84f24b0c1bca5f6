# The C kernels of graph*.c and eig_few.c.

knn <- function(x, k) {
  out <- .Call(C_graph_knn, x, as.integer(k))
  out$sorted <- matrix(apply(out$index, 2L, sort), nrow = k)
  out
}

test_that("neighbours, distances and their mean are those of the definition; ties go to the lower index", {
  skip_on_cran()
  for (x in list(noise(30, 4), noise(12, 40), noise(500, 3), noise(3, 1))) {
    for (k in unique(c(1, min(7, nrow(x) - 1), nrow(x) - 1))) {
      out <- knn(x, k)
      expect_identical(out$sorted, ref_neighbours(x, k))
      d2 <- unname(as.matrix(stats::dist(x)))^2
      expect_equal(out$d2, matrix(d2[cbind(c(out$index), rep(seq_len(nrow(x)), each = k))], k), tolerance = 1e-12)
      expect_false(any(apply(out$d2, 2L, is.unsorted)))
      expect_equal(out$mean_distance, mean(sqrt(d2)), tolerance = 1e-12)
    }
  }
  x <- unname(as.matrix(iris[, 1:4]))
  # The rounding of other units must not matter.
  for (z in list(x, x * 0.1 + 7, x[, 4:1])) expect_identical(knn(z, 5)$sorted, ref_neighbours(x, 5))
  expect_identical(knn(unname(as.matrix(expand.grid(0:1, 0:1, 0:1)) + 0), 2)$sorted[, 8], c(4L, 6L))
  # Binary data: dozens of samples at the same distance, more than the heaps hold.
  x <- withr::with_seed(2, matrix(as.double(stats::rbinom(250 * 12, 1, 0.3)), 250))
  for (k in c(1, 5, 60)) expect_identical(knn(x, k)$sorted, ref_neighbours(x, k))
  # Far clusters: distances inside them are below the rounding of the Gram matrix.
  # Or just above it, where a bound without the rounding in it would seem to prove them.
  for (far in c(1e9, 5.6e7)) {
    x <- noise(300, 3)
    x[101:300, ] <- x[101:300, ] + far
    near <- vapply(1:300, function(i) {
      d2 <- colSums((t(x) - x[i, ])^2)
      d2[i] <- Inf
      sort(order(d2)[1:5])
    }, integer(5))
    expect_identical(knn(x, 5)$sorted, near)
  }
  # Nearly all rows are equal.
  for (seed in 1:12) {
    set.seed(seed)
    x <- matrix(sample(0:2, 180, TRUE), 60) * 1.5
    x[sample(60, 45), ] <- 0
    k <- c(1L, 4L, 20L)[seed %% 3 + 1]
    d <- as.matrix(dist(x))
    diag(d) <- Inf
    want <- apply(d, 1, function(row) order(round(row, 9))[seq_len(k)])
    expect_identical(getFromNamespace("nearest", "ufselect")(x, k), unname(matrix(want, k)))
  }
})

test_that("duplicates are neighbours, the sample itself is not; products with W and L are the dense matrices'", {
  out <- knn(noise(20, 3)[rep(1:20, 2), ], 1)
  expect_identical(c(out$index), c(21:40, 1:20))
  expect_identical(c(out$d2), rep(0, 40))
  expect_identical(knn(matrix(1, 6, 2), 2)$sorted[, c(1, 6)], matrix(c(2L, 3L, 1L, 2L), 2))
  graph <- suppressWarnings(ufs_graph(noise(40, 3), n_neighbours = 3))
  w <- as.matrix(graph)
  x <- noise(40, 5, 2)
  times <- function(graph, x, laplacian) .Call(C_graph_mult, unclass(graph), x, laplacian)
  expect_equal(times(graph, x, FALSE), w %*% x, tolerance = 1e-13)
  expect_equal(times(graph, x, TRUE), (diag(rowSums(w)) - w) %*% x, tolerance = 1e-12)
  # No cancellation: constants are in the null space exactly.
  expect_identical(times(graph, matrix(1e8, 40, 1), TRUE), matrix(0, 40, 1))
})

dense_laplacian <- function(graph) {
  w <- as.matrix(graph)
  root <- 1 / sqrt(rowSums(w))
  diag(nrow(w)) - root * t(root * w)
}
eigenvalues <- function(graph) rev(eigen(dense_laplacian(graph), symmetric = TRUE, only.values = TRUE)$values)

test_that("the embedding solves the eigenproblem, dense and by filtered iteration", {
  skip_on_cran()
  for (n in c(60, 700)) {
    graph <- suppressWarnings(ufs_graph(noise(n, 4)))
    l <- dense_laplacian(graph)
    want <- eigenvalues(graph)
    for (m in c(1, 6)) {
      out <- embed_graph(graph, m, "test")
      expect_equal(out$values, want[1 + seq_len(m)], tolerance = 1e-9)
      expect_equal(out$next_value, want[m + 2], tolerance = 1e-9)
      expect_equal(crossprod(cbind(sqrt(graph$degree / sum(graph$degree)), out$vectors)), diag(m + 1), tolerance = 1e-9)
      expect_lt(max(abs(l %*% out$vectors - sweep(out$vectors, 2, out$values, `*`))), 1e-9)
      expect_identical(out$status, "converged")
      expect_identical(out$iterations > 0, n > 400)
    }
  }
})

test_that("small gaps, small n and multiple eigenvalues, each found as often as it occurs", {
  graph <- ufs_graph(cbind(seq_len(600)^1.01), n_neighbours = 2)
  expect_equal(embed_graph(graph, 5, "test")$values, eigenvalues(graph)[2:6], tolerance = 1e-8)
  small <- ufs_graph(noise(6, 2), n_neighbours = 4)
  out <- embed_graph(small, 5, "test")
  expect_equal(out$values, eigenvalues(small)[-1], tolerance = 1e-12)
  expect_identical(out$next_value, Inf)
  skip_on_cran()
  cloud <- noise(170, 3)
  graph <- suppressWarnings(ufs_graph(rbind(cloud, cloud + 1000, cloud + 2000), bandwidth = 1))
  expect_identical(graph$n_components, 3L)
  out <- embed_graph(graph, 8, "test")
  expect_identical(out$n_zero, 2L)
  expect_identical(out$values[1:2], c(0, 0))
  expect_equal(out$values, eigenvalues(graph)[2:9], tolerance = 1e-9)
  expect_lt(out$values[5] - out$values[3], 1e-9)
})

test_that("the null space has the canonical basis", {
  x <- noise(30, 2)
  x[c(3, 9:14), ] <- x[c(3, 9:14), ] + 100
  x[c(5, 20:24), ] <- x[c(5, 20:24), ] - 100
  graph <- suppressWarnings(ufs_graph(x, n_neighbours = 3, bandwidth = 5))
  expect_identical(graph$n_components, 3L)
  out <- embed_graph(graph, 2, "test")
  q <- qr(sqrt(graph$degree) * cbind(1, graph$component == 1, graph$component == 2))
  expect_equal(out$vectors, (qr.Q(q) %*% diag(sign(diag(qr.R(q)))))[, -1], tolerance = 1e-12)
  # Fewer than there are: the first ones, and the cut is seen.
  one <- embed_graph(graph, 1, "test")
  expect_equal(one$vectors, out$vectors[, 1, drop = FALSE], tolerance = 1e-14)
  expect_identical(one$next_value, 0)
})

test_that("neighbours and cosines of columns that are standardised on the spot are those of a copy", {
  x <- withr::with_seed(4, matrix(stats::rnorm(300 * 7, 5), 300))
  column <- c(6L, 2L, 3L, 7L)
  shift <- colMeans(x)[column]
  divide <- apply(x, 2L, stats::sd)[column]
  scaled <- structure(list(kind = "scaled", n = 300L, p = 4L, x = x, column = column, shift = shift,
    divide = divide), class = "ufs_x")
  copy <- sweep(sweep(x[, column], 2L, shift), 2L, divide, "/")
  found <- .Call(C_graph_knn, copy, 6L)
  expect_identical(.Call(C_graph_knn, scaled, 6L), found)
  expect_identical(.Call(C_graph_near, scaled, 6L), .Call(C_graph_near, copy, 6L))
  cosines <- lapply(list(copy, scaled), function(x) .Call(C_graph_lists, x, found$index, found$d2, 2L, NA_real_, 0L))
  expect_identical(cosines[[2L]], cosines[[1L]])
  expect_gt(length(unique(cosines[[1L]]$value)), 300)
})
