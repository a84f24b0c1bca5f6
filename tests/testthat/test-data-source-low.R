# Sparse columns centred within blocks or weighted, against the same columns held dense.

skip_if_not_installed("Matrix")

sparse_table <- function() {
  set.seed(5)
  x <- as.matrix(Matrix::rsparsematrix(60, 12, .3))
  # Full far from zero, in all blocks or in one.
  x[, 3] <- 1e6 + rnorm(60)
  x[seq_len(20), 5] <- 1e6 + rnorm(20)
  colnames(x) <- paste0("v", seq_len(12))
  x
}

operators_of <- function(x, center, scale, ...) {
  lapply(list(dense = x, sparse = methods::as(x, "CsparseMatrix")), function(x) {
    as_rescaled_operator(open_quietly(ufs_data(x, ...)), center, scale)
  })
}

constraints <- list(list(blocks = rep(letters[1:3], each = 20)), list(weights = seq_len(60)),
  list(blocks = rep(letters[1:3], each = 20), weights = seq_len(60)))

# A part in a thousand million of the largest, as a column of a million with a spread of one allows.
expect_close <- function(a, b) expect_lt(max(abs(a - b)) / max(abs(b)), 1e-9)

test_that("products of sparse columns in blocks, or weighted, are those of the columns", {
  x <- sparse_table()
  v <- matrix(rnorm(24), 12)
  t <- matrix(rnorm(180), 60)
  middle <- crossprod(matrix(rnorm(3600), 60))
  rows <- c(3L, 7L, 20:40)
  columns <- c(3L, 9L, 5L)
  for (held in constraints) for (center in c(TRUE, FALSE)) for (scale in c(TRUE, FALSE)) {
    both <- do.call(operators_of, c(list(x, center, scale), held))
    of <- both$sparse$x
    z <- x_dense(both$dense$x) * (both$dense$divisor / both$sparse$divisor)
    expect_identical(of$kind, "source")
    expect_close(x_mul(of, v), z %*% v)
    expect_close(x_cross(of, t), crossprod(z, t))
    expect_close(x_gram(of, TRUE), tcrossprod(z))
    expect_close(x_gram(of, FALSE), crossprod(z))
    form <- of$forms(middle)
    expect_close(form[is.finite(form)], colSums(z * (middle %*% z))[is.finite(form)])
    expect_identical(is.finite(form), unname(colSums(x != 0) <= 20))
    expect_close(x_columns(of, columns), z[, columns])
    expect_close(x_mul(x_subset_rows(of, rows), v), z[rows, ] %*% v)
    expect_close(x_cross(x_subset_columns(of, columns), t), crossprod(z[, columns], t))
  }
})

test_that("columns follow a plan as its formula has it, sparse or dense, and x stays as it is", {
  x <- unname(sparse_table())
  block <- rep(1:3, each = 20)
  whole <- list(block = block, mean = matrix(rnorm(36), 3), root = sqrt(seq_len(60)),
    factor = matrix(runif(36), 3), power = 2, add = rnorm(12))
  for (plan in list(whole, whole[c("block", "mean")], whole[c("block", "mean", "add", "root")])) {
    for (columns in list(seq_len(12), c(9L, 2L, 5L))) {
      want <- x[, columns] - plan$mean[block, columns]
      if (!is.null(plan$factor)) want <- (want * plan$factor[block, columns])^2
      if (!is.null(plan$add)) want <- want + rep(plan$add[columns], each = 60)
      if (!is.null(plan$root)) want <- want * plan$root
      part <- x[, columns]
      expect_identical(planned(part, plan, NULL, columns), want)
      expect_identical(part, x[, columns])
      sparse <- columns_of_sparse(methods::as(x, "CsparseMatrix"), columns)
      expect_identical(planned(sparse, plan, NULL, columns), want)
      rows <- c(44L, 3L)
      expect_identical(planned(x[rows, columns], plan, rows, columns), want[rows, ])
    }
  }
})

test_that("columns held by two rows are found whatever holds them", {
  x <- sparse_table()
  # One row, two rows, two rows of a full column, and three.
  x[, c(1, 4, 7)] <- 0
  x[9, 1] <- 5
  x[c(2, 41), 4] <- c(-3, 4)
  x[, 6] <- rep(1:3, each = 20) + rnorm(60, sd = .01)
  x[c(7, 31), 6] <- 9
  x[c(5, 6, 50), 7] <- 1
  share <- function(z) apply(z^2, 2L, function(v) sum(sort(v, TRUE)[1:2]) / sum(v))
  for (held in constraints) for (center in c(TRUE, FALSE)) {
    both <- do.call(operators_of, c(list(x, center, TRUE), held))
    of <- both$sparse$x
    want <- which(share(x_dense(of)) >= 0.9)
    expect_true(all(c(1, 4) %in% want) && length(want) < 6)
    expect_identical(which(.Call(C_x_top_two, of) >= 0.9), want)
    expect_identical(which(.Call(C_x_top_two, both$dense$x) >= 0.9), want)
  }
})

test_that("a source loads the packages that it needs", {
  skip_if_not_installed("DelayedArray")
  x <- matrix(sin(1:60), 20)
  disk <- ufs_data(DelayedArray::DelayedArray(x), block_bytes = 160)
  expect_equal(unname(feature_scores(ufs_variance(disk))), apply(x, 2L, stats::var))
  spare <- setdiff(c("splines", "stats4", "boot", "spatial"), loadedNamespaces())[1L]
  skip_if(is.na(spare))
  withr::defer(unloadNamespace(spare))
  expect_equal(read_source(replace(disk$x, "packages", list(spare))), x)
  expect_true(spare %in% loadedNamespaces())
})

test_that("rows of one length, each block on one scale, are chosen from as if they were dense", {
  skip_if_not_installed("Matrix")
  x <- sparse_table()
  chosen <- function(x) feature_scores(ufs_css(x, k = 3, rows = "unit", blocks = rep(1:3, each = 20), block_scale = TRUE))
  expect_equal(chosen(x), chosen(as.matrix(x)), tolerance = 1e-10)
})
