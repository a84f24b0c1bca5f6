test_that("sets that begin with each other share a basis; no column explains nothing, and refusals say what is wrong", {
  set.seed(7)
  x <- scale(matrix(rnorm(12 * 40), 12))
  x[, 2] <- x[, 1]
  order <- sample.int(40)
  sets <- lapply(c(0, 1, 5, 12, 23, 30, 40), function(size) order[seq_len(size)])
  expect_equal(captured_table(x, sets)$captured, vapply(sets, captured_share, 0, x = x), tolerance = 1e-10)
  # Few columns of many rows, of which two are equal.
  tall <- scale(matrix(rnorm(50 * 6), 50))
  tall[, 6] <- tall[, 3]
  sets <- lapply(1:6, function(size) c(3, 6, 1, 2, 4, 5)[seq_len(size)])
  explained <- vapply(sets, function(set) 1 - sum(qr.resid(qr(tall[, set, drop = FALSE]), tall)^2) / sum(tall^2), 0)
  expect_equal(captured_table(tall, sets)$captured, explained, tolerance = 1e-10)
  x <- scale(as.matrix(mtcars[1:4]))
  expect_identical(captured_share(x, integer()), 0)
  expect_equal(captured_share(x, 1:4), 1)
  expect_identical(unlist(subspace_criteria(x, list(integer(), 1:4))[1, ]), c(rv = 0, gcd = 0))
  expect_equal(unlist(subspace_criteria(x, list(integer(), 1:4))[2, ]), c(rv = 1, gcd = 1))
  counts <- grouped_counts(30, 20)$x
  expect_identical(captured_of(suppressWarnings(ufs_css(ufs_data(counts, counts = "log"), k = 2))), "log counts")
  x <- withr::with_seed(1, matrix(stats::rnorm(60), 20, dimnames = list(NULL, c("a", "b", "c"))))
  expect_named(ufs_pca(x, 2, scale = FALSE)$certificate, c("captured", "bound"))
  expect_null(ufs_pca(x * 1e-150, 2, scale = FALSE)$certificate)
  x <- as.matrix(mtcars)
  expect_refused(ufs_captured("mpg", x, k = 2), "`k` is for a fit; a set of columns has its size.")
})
