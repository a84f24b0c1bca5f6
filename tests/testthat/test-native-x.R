# The operator: every operation of every kind against plain R.

skip_if_not_installed("Matrix")

near <- function(a, b, tol = 1e-9) expect_equal(unname(a), unname(b), tolerance = tol)

check_operator <- function(op, ref, tol = 1e-9) {
  n <- nrow(ref)
  p <- ncol(ref)
  expect_identical(dim(op), dim(ref))
  for (width in c(1, 2, 5, 8, 11)) {
    v <- withr::with_seed(width, matrix(rnorm(p * width), p))
    t <- withr::with_seed(width, matrix(rnorm(n * width), n))
    near(x_mul(op, v), ref %*% v, tol)
    near(x_cross(op, t), crossprod(ref, t), tol)
    w <- seq(0.1, 2, length.out = p)
    out <- .Call(C_test_x, op, t, v[, 1], w)
    near(out$cross_rows, t(crossprod(ref, t)), tol)
    near(out$gram_mul, ref %*% crossprod(ref, t), tol)
    near(out$dot, drop(crossprod(ref, t[, 1])), tol)
    near(out$axpy, drop(ref %*% v[, 1]), tol)
    near(out$gram_rows, ref %*% (w * t(ref)), tol)
    expect_identical(out$gram_rows, t(out$gram_rows))
  }
  near(x_columns(op, c(p, 1L, 3L)), ref[, c(p, 1, 3)], tol)
  near(x_ss(op), colSums(ref^2), tol)
  near(.Call(C_x_forms, op, NULL), rowSums(ref^2), tol)
  near(x_gram(op, TRUE), tcrossprod(ref), tol)
  near(x_gram(op, FALSE), crossprod(ref), tol)
  near(x_dense(op), ref, tol)
  # Columns whose weights are zero in some of the products only.
  v <- cbind(1, 0, seq_len(p), 0)
  near(x_mul(op, v), ref %*% v, tol)
  near(x_mul(op, 0 * v), matrix(0, n, 4))
}

test_that("sums of squares by row keep their digits, and entries that differ by 1e300 do not overflow", {
  n <- 12L
  x <- withr::with_seed(3, matrix(rnorm(n * 5), n) + 1e8)
  x[2, 2] <- 0
  s <- Matrix::Matrix(x, sparse = TRUE)
  ref <- sweep(x, 2L, colMeans(x))
  norms <- function(op) sqrt(.Call(C_x_forms, op, NULL))
  expect_equal(norms(as_ufs_operator(s, TRUE, FALSE)$x), sqrt(rowSums(ref^2)), tolerance = 1e-6)
  # The column with a zero would hide the others' digits: alone they are seen.
  expect_equal(norms(as_ufs_operator(s[, -2L], TRUE, FALSE)$x), sqrt(rowSums(ref[, -2L]^2)), tolerance = 1e-6)
  x <- Matrix::sparseMatrix(i = c(1, 2, 5, 1, 3, 4), j = c(1, 1, 1, 2, 2, 2),
    x = c(1e200, -2e200, 3e200, 1e-200, 2e-200, 5e-200), dims = c(6, 2))
  found <- as_ufs_operator(x)
  expect_equal(unname(found$scale), c(sd(c(1, -2, 0, 0, 3, 0)) * 1e200, sd(c(1, 0, 2, 5, 0, 0)) * 1e-200),
    tolerance = 1e-14)
  expect_equal(found$norm, sqrt(c(5, 5)), tolerance = 1e-14)
  expect_equal(x_ss(found$x), c(5, 5), tolerance = 1e-14)
})

test_that("a dense matrix goes through the same entries; equal columns and missing values are found", {
  x <- awkward_counts()[, -c(2, 10)]
  check <- as_ufs_matrix(x)$x
  v <- matrix(rnorm(ncol(check) * 3), ncol(check))
  expect_equal(.Call(C_x_product, check, v, FALSE), check %*% v)
  expect_equal(.Call(C_x_gram, check, TRUE, NULL), tcrossprod(check))
  expect_equal(.Call(C_x_gram, check, TRUE, tcrossprod(check)), 2 * tcrossprod(check))
  expect_equal(.Call(C_x_ss, check), colSums(check^2))
  expect_equal(.Call(C_x_columns, check, 3:1), check[, 3:1])
  t <- matrix(rnorm(nrow(check) * 3), nrow(check))
  expect_equal(.Call(C_test_x, check, t, v[, 1], rep(1, ncol(check)))$gram_mul, check %*% crossprod(check, t))
  s <- as_sparse(awkward_counts())
  s@x[30] <- NA
  expect_error(ufs_variance(s), colnames(s)[findInterval(29, s@p)], class = "ufs_error_input")
  s <- as_sparse(awkward_counts())
  s[, 20] <- s[, 12] + 7
  for (how in all_four) {
    op <- suppressWarnings(as_ufs_operator(s, how[1], how[2]))$x
    expect_identical(x_equal_columns(op), equal_columns(x_dense(op)))
  }
  # Column 1 stores the zero of its second row, column 2 does not.
  x <- Matrix::sparseMatrix(i = c(1, 2, 4, 1, 4, 2, 3), j = c(1, 1, 1, 2, 2, 3, 3), x = c(1, 0, 2, 1, 2, 5, 6),
    dims = c(6, 3))
  expect_length(x@x, 7)
  expect_identical(x_equal_columns(as_ufs_operator(open_quietly(x), TRUE, FALSE)$x), c(1L, 1L, 3L))
})

eigs <- function(a, k, tol = 1e-11, block = 0L) .Call(C_test_eigs, a, 1L, as.integer(k), tol, as.integer(block))

with_spectrum <- function(value) {
  n <- length(value)
  q <- withr::with_seed(1, qr.Q(qr(matrix(rnorm(n * n), n))))
  a <- q %*% (value * t(q))
  (a + t(a)) / 2
}

skip_on_cran()

test_that("sparse operations equal plain R, centred and scaled in all four ways", {
  for (x in list(awkward_counts(), awkward_counts(12, 40, 2), awkward_counts(50, 11, 3))) {
    s <- as_sparse(x)
    x <- as.matrix(s)
    for (how in all_four) {
      data <- suppressWarnings(as_ufs_operator(s, how[1], how[2]))
      expect_s3_class(data$x, "ufs_x")
      expect_identical(data$constant, unname(which(apply(x, 2, function(v) diff(range(v)) == 0))))
      # The column of mean 1e6: the digits that centring a double leaves.
      check_operator(data$x, reference_x(x, data$keep, how[1], how[2]), 1e-8)
    }
  }
})

test_that("means, deviations and names are those of the dense matrix", {
  s <- as_sparse(awkward_counts())
  for (how in all_four) {
    a <- suppressWarnings(suppressMessages(as_ufs_matrix(s, how[1], how[2])))
    b <- suppressWarnings(as_ufs_operator(s, how[1], how[2]))
    for (slot in c("n", "p", "keep", "constant", "features", "samples", "named")) expect_identical(b[[slot]], a[[slot]])
    expect_equal(b$center, a$center, tolerance = 1e-14)
    expect_equal(b$scale, a$scale, tolerance = 1e-8)
    expect_equal(b$norm, a$norm, tolerance = 1e-8)
    expect_equal(b$variance, a$variance, tolerance = 1e-8)
  }
  a <- suppressWarnings(suppressMessages(as_ufs_matrix(s)))
  for (prepared in list(as_ufs_operator, as_rescaled_operator)) {
    b <- suppressWarnings(prepared(s))
    if (identical(prepared, as_ufs_operator)) expect_identical(b$divisor, 1) else
      expect_identical(log2(b$divisor) %% 1, 0)
    expect_equal(x_dense(b$x) * b$divisor, a$x, tolerance = 1e-8)
    expect_equal(b$norm, a$norm, tolerance = 1e-8)
  }
})

test_that("malformed sparse matrices are errors, in ufs_data() and in every direct call, and so are scaled operators", {
  good <- as_sparse(awkward_counts())
  attack <- function(change) {
    x <- good
    for (slot in names(change)) attr(x, slot) <- change[[slot]]
    expect_refusals(ufs_data(x), ufs_variance(x), class = "ufs_error_input")
    op <- list(kind = "sparse", n = x@Dim[1], p = x@Dim[2], user_p = x@Dim[2], i = x@i, start = x@p,
      value = x@x, column = seq_len(24L), shift = NULL, divide = NULL)
    expect_error(.Call(C_x_ss, op))
    expect_error(.Call(C_x_product, op, matrix(1, 24, 2), FALSE))
  }
  for (i in list(good@i[-1], good@i + 1L, rev(good@i), as.double(good@i))) attack(list(i = i))
  for (wrong in c(-1L, NA, 10000000L)) attack(list(i = replace(good@i, 5L, wrong)))
  for (p in list(good@p[-1], c(good@p, 3L), as.double(good@p))) attack(list(p = p))
  for (wrong in c(100000L, -5L)) attack(list(p = replace(good@p, 3L, wrong)))
  for (wrong in c(good@p[25] + 7L, NA)) attack(list(p = replace(good@p, 25L, wrong)))
  for (x in list(good@x[-1], as.integer(good@x))) attack(list(x = x))
  x <- good
  for (dim in list(c(30L, 25L), 30L)) {
    x@Dim <- dim
    expect_error(ufs_data(x), class = "ufs_error_input")
  }
  x <- good
  attr(x, "Dimnames") <- list(NULL, "a")
  expect_error(ufs_data(x), class = "ufs_error_input")
  op <- sparse_operator(good)
  for (bad in list(list(column = 1:3), list(column = rep(25L, 24)), list(shift = 1), list(divide = "a"),
      list(n = -1L), list(p = NA_integer_), list(kind = "none"), list(value = NULL))) {
    expect_error(.Call(C_x_ss, utils::modifyList(unclass(op), bad)))
  }
  expect_error(.Call(C_x_product, op, matrix(1, 3, 2), FALSE), "rows")
  expect_error(.Call(C_x_product, op, 1:3, TRUE))
  for (wrong in c(25L, 0L)) expect_error(.Call(C_x_columns, op, wrong), "out of 1 to 24")
  expect_error(.Call(C_x_pca, op, 100L, 1e-12, TRUE), "internal error")
  expect_error(.Call(C_x_ss, "x"))
  withr::local_options(ufselect.copy_bytes = 0)
  op <- suppressWarnings(as_lazy_operator(awkward_counts(12, 40)))$x
  for (wrong in list(list(column = rep(41L, ncol(op))), list(column = 1:3), list(n = 13L), list(shift = 1),
    list(x = "no"))) {
    expect_error(.Call(C_x_product, utils::modifyList(op, wrong), matrix(1, ncol(op), 1), FALSE), "internal error")
  }
})

test_that("every sparse class of Matrix is read, duplicated entries are added, and more than an integer can count", {
  x <- matrix(c(1, 0, 0, 2, 3, 0, 0, 4, 0, 5, 0, 6, 1, 1, 0, 0), 4)
  c4 <- to_sparse(x)
  twice <- methods::new("dgTMatrix", i = c(0L, 0L, 1L, 2L), j = c(0L, 0L, 1L, 1L), x = c(1, 2, 3, 4), Dim = c(4L, 2L))
  cases <- list(c4, methods::as(c4, "RsparseMatrix"), methods::as(c4, "TsparseMatrix"), Matrix::forceSymmetric(c4),
    methods::as(c4, "lMatrix"), methods::as(c4, "nMatrix"), Matrix::Diagonal(4, x = 1:4), twice,
    methods::as(c(2L, 1L, 4L, 3L), "pMatrix"), Matrix::triu(c4))
  for (case in cases) {
    data <- ufs_data(case)
    expect_identical(data$kind, "sparse")
    expect_equal(unname(as.matrix(data)), unname(as.matrix(case) + 0))
  }
  expect_identical(ufs_data(Matrix::Matrix(x + 1))$kind, "dense")
  at <- withr::with_seed(1, cbind(sample.int(60000, 1e5, TRUE), sample.int(40000, 1e5, TRUE)))
  s <- Matrix::sparseMatrix(i = at[, 1], j = at[, 2], x = 1, dims = c(60000, 40000))
  data <- suppressWarnings(as_ufs_operator(s))
  u <- x_cross(data$x, matrix(1:60000 / 60000, ncol = 1))
  col <- as.numeric(s[, data$keep[5]])
  expect_equal(u[5], sum((col - mean(col)) / sd(col) * 1:60000 / 60000), tolerance = 1e-10)
  expect_error(suppressMessages(ufs_rsr(s)), "60,?000|GiB", class = "ufs_error_memory")
})

test_that("the quadratic forms of rows are those of the matrix, sparse, dense and in blocks", {
  x <- awkward_counts(20, 24)
  s <- withr::with_seed(2, crossprod(matrix(rnorm(30 * 24), 30)))
  withr::local_options(ufselect.copy_bytes = 0)
  for (how in all_four) {
    ops <- list(dense = suppressWarnings(as_ufs_matrix(x, how[1], how[2])),
      scaled = suppressWarnings(as_lazy_operator(x, how[1], how[2])),
      sparse = suppressWarnings(as_ufs_operator(as_sparse(x), how[1], how[2])))
    expect_identical(ops$scaled$x$kind, "scaled")
    if (requireNamespace("DelayedArray", quietly = TRUE)) {
      ops$blocks <- suppressWarnings(as_ufs_operator(ufs_data(DelayedArray::DelayedArray(as.matrix(as_sparse(x))),
        block_bytes = 8 * 20 * 5), how[1], how[2]))
    }
    for (kind in names(ops)) {
      op <- ops[[kind]]$x
      at <- seq_len(ncol(op))
      z <- reference_x(if (kind %in% c("dense", "scaled")) x else as.matrix(as_sparse(x)), ops[[kind]]$keep, how[1], how[2])
      upper <- s[at, at]
      upper[lower.tri(upper)] <- NA
      expect_equal(.Call(C_x_forms, op, upper), rowSums((z %*% s[at, at]) * z), tolerance = 1e-8, info = kind)
    }
  }
  # More columns than a strip, more rows than a block.
  wide <- withr::with_seed(3, Matrix::rsparsematrix(300, 290, 0.1))
  s <- withr::with_seed(4, crossprod(matrix(rnorm(9 * 290), 9)))
  want <- rowSums((as.matrix(wide) %*% s) * as.matrix(wide))
  expect_equal(.Call(C_x_forms, as_ufs_operator(wide, FALSE, FALSE)$x, s), want)
  expect_equal(.Call(C_x_forms, as.matrix(wide), s), want)
})

test_that("principal components of an operator are those of svd(), small and large, wide and tall", {
  for (size in list(c(20, 50), c(50, 20), c(480, 700), c(900, 460))) {
    x <- withr::with_seed(3, {
      low <- matrix(rnorm(size[1] * 6), size[1]) %*% matrix(rnorm(6 * size[2]), 6)
      (matrix(runif(prod(size)), size[1]) < 0.1) * (low + rnorm(prod(size), 0, 0.1))
    })
    s <- to_sparse(x)
    for (how in all_four[1:2]) {
      data <- suppressWarnings(as_ufs_operator(s, how[1], how[2]))
      ref <- reference_x(x, data$keep, how[1], how[2])
      want <- svd(ref, nu = 4, nv = 4)
      got <- x_pca(data$x, 4)
      expect_equal(got$sdev2, want$d[1:4]^2, tolerance = 1e-9)
      expect_equal(abs(diag(crossprod(got$loadings, want$v))), rep(1, 4), tolerance = 1e-7)
      expect_equal(unname(got$scores), ref %*% got$loadings, tolerance = 1e-9)
      expect_equal(crossprod(got$loadings), diag(4), tolerance = 1e-8)
      bare <- x_pca(data$x, 4, loadings = FALSE)
      expect_identical(is.null(bare$loadings), nrow(x) <= length(data$keep))
      expect_equal(abs(bare$scores), abs(got$scores), tolerance = 1e-7)
    }
  }
})

test_that("components that serve as coordinates take fewer products and hold the same variance", {
  s <- withr::with_seed(4, Matrix::rsparsematrix(1300, 6500, 0.01)) %*% Matrix::Diagonal(x = (1:6500)^-0.2)
  data <- suppressWarnings(as_ufs_operator(s, FALSE, FALSE))
  exact <- .Call(C_x_pca, data$x, 20L, 1e-10, TRUE)
  loose <- .Call(C_x_pca, data$x, 20L, coordinate_tol, TRUE)
  expect_lt(exact$residual, 1e-10)
  expect_lt(loose$residual, coordinate_tol)
  expect_false(exact$full)
  expect_lt(loose$products, 0.6 * exact$products)
  expect_gt(sum(loose$sdev2), (1 - 2e-3) * sum(exact$sdev2))
  expect_true(all(loose$sdev2 <= exact$sdev2 * (1 + 1e-12)))
  expect_equal(crossprod(loose$loadings), diag(20), tolerance = 1e-8)
  # What they do not tell apart are components of about the same variance.
  expect_equal(loose$sdev2, exact$sdev2, tolerance = 0.02)
})

test_that("the leading eigenpairs equal eigen()'s, each as often as it occurs, whatever the block", {
  n <- 300
  spread <- seq(1, 0.1, length.out = n)
  for (value in list(n:1, c(rep(10, 5), rep(1, n - 5)), c(5, 3, rep(0, n - 2)), c(9, 9 - 1e-6, 8, (n - 3):1 / n),
      rep(2, n),
      # Twice, three and eight times, at the top, below it, and with a bulk that is close.
      c(2, 2, spread[-(1:2)]), c(3, 2, 2, 2, spread[-(1:4)]), c(rep(1.1, 8), spread[-(1:8)]),
      c(1.3, rep(1.05, 8), spread[-(1:9)]), rep(spread[1:100], each = 3), rep(spread[1:38], each = 8)[1:n])) {
    a <- with_spectrum(value)
    want <- as.double(sort(value, decreasing = TRUE)[1:6])
    for (block in c(0, 1, 2, 8)) {
      got <- eigs(a, 6, block = block)
      expect_true(got$converged)
      expect_equal(got$values, want, tolerance = 1e-9)
      expect_equal(crossprod(got$vectors), diag(6), tolerance = 1e-10)
      expect_lt(max(abs(a %*% got$vectors - got$vectors %*% diag(got$values))), 1e-9 * max(value))
    }
  }
  expect_identical(eigs(a, 6, block = 8), got)
  expect_false(eigs(with_spectrum(seq(1, 2, length.out = n)), 20, tol = 0)$converged)
  for (block in c(0, 1)) {
    expect_identical(eigs(matrix(0, n, n), 3, block = block)$values, numeric(3))
    expect_equal(eigs(with_spectrum(c(5, 3, rep(0, n - 2))), 4, block = block)$values, c(5, 3, 0, 0), tolerance = 1e-12)
  }
  small <- with_spectrum(c(4, 4, 4, 3, 2, 1))
  for (block in c(0, 1)) expect_equal(eigs(small, 5, block = block)$values, c(4, 4, 4, 3, 2), tolerance = 1e-12)
})

test_that("multiple singular values of a matrix, dense and sparse", {
  n <- 480
  u <- withr::with_seed(2, qr.Q(qr(matrix(rnorm(n * n), n))))
  v <- withr::with_seed(3, qr.Q(qr(matrix(rnorm(n * 600), 600))))
  block <- withr::with_seed(3, Matrix::rsparsematrix(150, 200, 0.1))
  one <- svd(as.matrix(block), 0, 0)$d
  for (times in c(1L, 2L, 3L, 6L, 8L)) {
    value <- c(9, rep(7, times), seq(5, 1, length.out = n - times - 1))
    got <- .Call(C_x_pca, u %*% (value * t(v)), times + 1L, 1e-10, TRUE)
    if (times < 8L) expect_false(got$full)
    expect_equal(sqrt(got$sdev2), value[seq_len(times + 1)], tolerance = 1e-9)
    # Blocks of a sparse matrix that are the same occur as often.
    s <- do.call(Matrix::bdiag, rep(list(block), times + 3))
    got <- x_pca(suppressWarnings(as_ufs_operator(methods::as(s, "CsparseMatrix"), FALSE, FALSE))$x, 10)
    expect_equal(got$sdev2, rep(one, each = times + 3)[1:10]^2, tolerance = 1e-9)
  }
})

test_that("products by tiles of rows are those of the whole, empty tiles included", {
  # More than two tiles of 4,096 rows; the second tile of column 2 is empty, column 3 has one entry.
  n <- 20001L
  x <- withr::with_seed(1, matrix(rbinom(n * 6, 1, 0.2) * rexp(n * 6), n))
  x[4097:8192, 2] <- 0
  x[, 3] <- 0
  x[n, 3] <- 2
  x[c(1, 4096, 4097, 8192, 8193, n), 4] <- 7
  for (how in all_four) {
    op <- as_ufs_operator(to_sparse(x), how[1], how[2])$x
    z <- reference_x(x, 1:6, how[1], how[2])
    for (c in c(1L, 3L, 8L, 11L)) {
      v <- matrix(sin(seq_len(6 * c)), 6)
      t <- matrix(cos(seq_len(n * c)), n)
      v[5, ] <- 0
      expect_equal(x_mul(op, v), z %*% v, tolerance = 1e-12)
      expect_equal(x_cross(op, t), crossprod(z, t), tolerance = 1e-11)
    }
  }
})

test_that("a wide dense matrix is standardised on the spot, in every operation", {
  withr::local_options(ufselect.copy_bytes = 0)
  # 300 rows: several blocks of columns.
  for (x in list(awkward_counts(12, 40, 2), awkward_counts(24, 24, 3), awkward_counts(300, 400, 4))) {
    for (how in all_four) {
      data <- suppressWarnings(as_lazy_operator(x, how[1], how[2]))
      whole <- suppressWarnings(as_ufs_operator(x, how[1], how[2]))
      expect_identical(data$x$kind, "scaled")
      expect_identical(data[setdiff(names(data), "x")], whole[setdiff(names(whole), "x")])
      # A column far from zero is centred twice where it is written, once where it is not.
      near(x_dense(data$x), whole$x, 1e-9)
      whole$x <- x_dense(data$x)
      if (nrow(x) < 300) check_operator(data$x, whole$x)
      t <- matrix(cos(seq_len(5 * nrow(x))), nrow(x))
      v <- matrix(sin(seq_len(3 * ncol(data$x))), ncol(data$x))
      near(x_cross(data$x, t), crossprod(whole$x, t), 1e-11)
      near(x_mul(data$x, v), whole$x %*% v, 1e-11)
      near(x_gram(data$x, TRUE), tcrossprod(whole$x), 1e-11)
      near(x_gram(data$x, FALSE), crossprod(whole$x), 1e-11)
      expect_identical(x_equal_columns(data$x), x_equal_columns(whole$x))
      expect_identical(x_equal_rows(data$x), x_equal_rows(whole$x))
      expect_identical(x_rows(data$x, c(3, 1)), whole$x[c(3, 1), ])
      expect_identical(x_dense(x_subset_columns(data$x, c(5L, 2L))), whole$x[, c(5, 2)])
      expect_identical(x_dense(x_subset_rows(data$x, 4:9)), whole$x[4:9, ])
      near(x_dense(centred_again(data$x, TRUE, TRUE)), unname(scale(whole$x))[, ])
    }
  }
  expect_true(is.matrix(suppressWarnings(as_lazy_operator(awkward_counts(41, 40)))$x))
  withr::local_options(ufselect.copy_bytes = 8 * 12 * 40)
  expect_true(is.matrix(suppressWarnings(as_lazy_operator(awkward_counts(12, 40)))$x))
  withr::local_options(ufselect.copy_bytes = NA)
  expect_error(suppressWarnings(ufs_pca(awkward_counts(12, 40), 2)), "copy_bytes", class = "ufs_error_argument")
})

test_that("no copy of a multiple eigenvalue is missing, for any multiplicity and block, and none is made up", {
  spread <- function(m) seq(2.9, 0.1, length.out = m)
  n <- 150
  for (times in c(1, 2, 9, 29)) {
    for (value in list(rep(sqrt(seq_len(n)), each = times)[seq_len(n)], c(rep(10, times), spread(n - times)),
      c(5, rep(3, times), spread(n - times - 1)), c(10 - 1e-9 * seq_len(times), spread(n - times)))) {
      a <- with_spectrum(value)
      for (k in c(1, 30)) {
        want <- sort(value, decreasing = TRUE)[seq_len(k)]
        for (block in c(0, 1, 8)) {
          got <- eigs(a, k, 1e-10, block)
          if (got$converged) expect_lt(max(abs(got$values - want)), 1e-8 * want[1])
        }
      }
    }
  }
  # All eigenvalues far from zero beside their range: what rounding leaves of the eigenvectors grew tenfold in
  # each step, and was taken for a missing one.
  value <- seq(14, 10, length.out = 300)
  a <- with_spectrum(value)
  for (block in c(0, 1, 8)) {
    got <- eigs(a, 5, 1e-8, block)
    expect_true(got$converged)
    expect_equal(got$values, value[1:5], tolerance = 1e-12)
    expect_lt(got$products, 500)
  }
})
