test_that("many columns are on the basis that the first of them give, or on that of all", {
  x <- withr::with_seed(3, matrix(rnorm(10 * 60), 10))
  whole <- function(x) qr(x, tol = 1e-5)
  ord <- 60:1
  found <- column_basis(x, ord)
  expect_identical(found$rank, pmin(1:60, 10L))
  expect_equal(found$coordinates, crossprod(qr.Q(whole(x[, ord])), x), tolerance = 1e-12)
  # The first 20 columns have rank 3 only: what the others bring is not lost.
  x[, 1:30] <- x[, 1:3] %*% matrix(withr::with_seed(4, rnorm(90)), 3)
  late <- column_basis(x, 1:60)
  expect_identical(late$rank, c(1:3, rep(3L, 27), pmin(4:33, 10L)))
  expect_equal(colSums(late$coordinates^2), colSums(x^2), tolerance = 1e-12)
})
