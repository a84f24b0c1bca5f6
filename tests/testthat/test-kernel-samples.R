# Tests of the tools that methods share which choose samples.

test_that("samples: levels as labels, no columns, digits of the median, rows far from others, squares beyond doubles", {
  x <- as.matrix(mtcars)
  expect_identical(ufs_ted(x, m = 3, labelled = factor(rownames(x)[c(9, 2)]))$params$labelled, c(2L, 9L))
  kept <- neighbours_kept(as.matrix(mtcars))
  expect_identical(list(kept(integer()), kept(1:11)), list(0, 1))
  x <- withr::with_seed(1, matrix(stats::rnorm(400 * 2), 400))
  evenly <- x[round(seq(1, 400, length.out = 300)), ]
  expect_equal(median_square(x + 1e7), stats::median(stats::dist(evenly)^2), tolerance = 1e-6)
  few <- rbind(matrix(0, 80, 2), x[1:20, ])
  expect_equal(median_square(few), mean(stats::dist(few)^2), tolerance = 1e-12)
  x <- withr::with_seed(1, matrix(stats::rnorm(40 * 2), 40))
  far <- function(n) {
    x[seq_len(n), ] <- 1000 * seq_len(n)
    far_rows(x)
  }
  expect_identical(far(2), 1:2)
  expect_identical(far(5), integer())
  expect_identical(far_rows(rbind(1e4, x[1:8, ])), integer())
  expect_error(check_squares(matrix(1e150)), "squares of the values", class = "ufs_error_input")
  expect_error(check_squares(matrix(1e-150)), "squares of the values", class = "ufs_error_input")
  x <- as.matrix(iris[seq(1, 150, 3), 1:4])
  for (eps in list(c(1, 2), 0, "a")) {
    expect_refusals("`eps` must be one positive number here" = ufs_alnr(x, control = list(eps = eps)),
      "`eps`" = ufs_rrss(x, control = list(eps = eps)), class = "ufs_error_control")
  }
})
