skip_on_cran()

# Literal alternation: coordinate-wise soft thresholding to rest, then the polar factor.
ref_spca <- function(x, a, lambda, iterations) {
  b <- matrix(0, ncol(x), ncol(a))
  ss <- colSums(x^2)
  for (step in seq_len(iterations)) {
    for (j in seq_len(ncol(a))) {
      r <- x %*% (a[, j] - b[, j])
      repeat {
        moved <- 0
        for (i in seq_len(ncol(x))) {
          z <- sum(x[, i] * r) + ss[i] * b[i, j]
          new <- sign(z) * max(0, abs(z) - lambda / 2) / ss[i]
          r <- r - x[, i] * (new - b[i, j])
          moved <- max(moved, abs(new - b[i, j]))
          b[i, j] <- new
        }
        if (moved < 1e-13) break
      }
    }
    a <- ref_polar(crossprod(x, x %*% b))
  }
  list(a = a, b = b)
}
ref_spca_objective <- function(x, a, b, lambda) sum((x - x %*% b %*% t(a))^2) + lambda * sum(abs(b))
standard <- function(x) scale(x)[, ]

test_that("the iteration is that of the literal reference", {
  for (size in list(c(30, 8), c(12, 25))) {
    x <- sample_data(size[1], size[2])
    z <- standard(x)
    start <- svd(z)$v[, 1:3]
    for (rel in c(.05, .3)) {
      fit <- suppressWarnings(ufs_spca(x, 3, lambda_rel = rel,
        control = ufs_control(max_iter = 6, tol = -1e-9, warn = FALSE)))
      ref <- ref_spca(z, start, fit$params$lambda, 6)
      turn <- sign(colSums(fit$solution$A * ref$a))
      expect_lt(rel_diff(fit$solution$B %*% diag(turn), ref$b), 1e-6)
      expect_lt(rel_diff(fit$solution$A %*% diag(turn), ref$a), 1e-6)
      last <- utils::tail(fit$trace$objective, 1)
      expect_equal(last, ref_spca_objective(z, ref$a, ref$b, fit$params$lambda), tolerance = 1e-8)
    }
  }
})

test_that("explained is the adjusted variance; a tiny penalty gives principal components, a full one nothing", {
  x <- sample_data(20, 7)
  fit <- ufs_spca(x, 3, lambda_rel = .2)
  scores <- standard(x) %*% apply(fit$solution$B, 2, function(b) b / sqrt(sum(b^2)))
  expect_equal(fit$solution$explained, cumsum(diag(qr.R(qr(scores)))^2) / sum(standard(x)^2), tolerance = 1e-10)
  x <- sample_data(30, 6)
  fit <- ufs_spca(x, 2, lambda_rel = 1e-7, control = ufs_control(tol = 1e-7))
  expect_lt(max(abs(abs(colSums(fit$solution$loadings * svd(standard(x))$v[, 1:2])) - 1)), 1e-5)
  expect_equal(fit$solution$explained[2], sum(svd(standard(x))$d[1:2]^2) / sum(standard(x)^2), tolerance = 1e-5)
  expect_warning(none <- ufs_spca(x, 2, lambda_rel = 1.001), class = "ufs_warning_zero")
  expect_true(all(none$solution$B == 0) && any(ufs_spca(x, 2, lambda_rel = .99)$solution$B != 0))
  x <- sample_data(12, 5)
  own <- ufs_spca(x, 2, lambda = 3)
  expect_identical(own$params$lambda, 3)
  expect_equal(ufs_spca(x, 2, lambda_rel = own$params$lambda_rel)$params$lambda, 3)
  expect_refusals("`lambda`" = ufs_spca(x, 2, lambda = 1:2), "`lambda`" = ufs_spca(x, 2, lambda = 0),
    "n_components" = ufs_spca(x, 6))
})

test_that("a column, its copy and its negative share a score in three methods; prints, and squares that overflow", {
  x <- as.matrix(iris[, 1:4])
  x <- cbind(x, copy = x[, 3], negative = -x[, 3])
  for (layout in list(x, methods::as(Matrix::Matrix(x, sparse = TRUE), "CsparseMatrix"))) {
    for (method in c("spca", "jspca", "mcfs")) {
      size <- if (method == "mcfs") list(n_clusters = 3) else list(n_components = 2)
      fit <- quietly(do.call(ufs, c(list(layout, method), size)))
      score <- unname(fit$feature_scores)
      expect_gt(score[3], 0)
      expect_equal(score[c(5, 6)], score[c(3, 3)], tolerance = 1e-9)
      loadings <- stats::coef(fit)
      expect_equal(unname(loadings[6, ]), -unname(loadings[3, ]), tolerance = 1e-9)
    }
  }
  fit <- ufs_spca(iris[, 1:4], n_components = 2)
  share <- format(100 * fit$solution$explained[2], digits = 3L)
  expect_lt(fit$solution$explained[2], .999)
  expect_output(print(fit), paste0("explained +", share))
  x <- withr::with_seed(1, matrix(rnorm(60), 12)) * 4e153
  out <- .Call(C_spca, x, diag(5)[, 1:2], list(lambda = 1, factor = NULL),
    resolve_control(ufs_control(), max_iter = 50L, tol = 1e-6))
  expect_identical(list(status_labels[out$run$status + 1L], out$run$iterations), list("diverged", 1L))
})
