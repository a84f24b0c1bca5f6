# Other packages at the same job, which nobody needs for this one: not in the tarball, so that
# DESCRIPTION need not suggest them. `make check-frameworks` runs these tests.

test_that("FNN finds the same neighbours", {
  skip_if_not_installed("FNN")
  x <- noise(80, 5)
  graph <- ufs_graph(x, n_neighbours = 6, weights = "binary", symmetrise = "mean")
  near <- FNN::get.knn(x, 6)$nn.index
  a <- matrix(0, 80, 80)
  a[cbind(rep(1:80, 6), c(near))] <- 1
  expect_identical(as.matrix(graph), (a + t(a)) / 2)
})

test_that("glmnet finds the lassos of ufs_mcfs() and ufs_spca()", {
  skip_if_not_installed("glmnet")
  x <- scale(noise(50, 12), scale = FALSE)
  y <- x[, 1:3] %*% c(2, -1, 0.5) + noise(50, 1, 9)
  y <- y - mean(y)
  out <- .Call(C_mcfs, x, cbind(y), 5L, 0, resolve_control(ufs_control(), max_iter = 1000L))
  other <- glmnet::glmnet(x, y, lambda = out$penalty / 50, standardize = FALSE, intercept = FALSE, thresh = 1e-16)
  # glmnet scales its penalty by the standard deviation of y, and unscales again.
  expect_equal(out$coef[, 1], as.vector(other$beta), tolerance = 1e-6)
  x <- sample_data(40, 12)
  z <- scale(x)[, ]
  fit <- ufs_spca(x, 2, lambda_rel = .2, control = ufs_control(tol = 1e-8))
  for (j in 1:2) {
    path <- glmnet::glmnet(z, drop(z %*% fit$solution$A[, j]), intercept = FALSE, standardize = FALSE, thresh = 1e-16,
      lambda = fit$params$lambda / (2 * 40) * c(4, 2, 1))
    expect_equal(as.numeric(path$beta[, 3]), unname(fit$solution$B[, j]), tolerance = 1e-4)
  }
})

test_that("mclust finds the same adjusted Rand index", {
  skip_if_not_installed("clue")
  skip_if_not_installed("mclust")
  set.seed(3)
  cluster <- sample(4, 60, TRUE)
  class <- sample(3, 60, TRUE)
  expect_equal(ufs_cluster_metrics(cluster, class)[["ari"]], mclust::adjustedRandIndex(cluster, class))
})

test_that("quadprog finds the same point of the simplex", {
  skip_if_not_installed("quadprog")
  for (p in c(5, 60)) for (spread in c(0, 1)) {
    d <- withr::with_seed(10 + p, {
      a <- matrix(rnorm(p * p), p) * rep(10^runif(p, -spread, spread), each = p)
      list(h = crossprod(a) + diag(0.1, p), b = rnorm(p))
    })
    oracle <- quadprog::solve.QP(d$h, d$b, cbind(1, diag(p)), c(1, rep(0, p)), 1)$solution
    found <- .Call(C_test_qp, "dense", list(h = d$h, upper = rowSums(abs(d$h))), d$b, rep(1 / p, p), 1e-11)
    expect_lt(max(abs(found$v - oracle)), 1e-8)
  }
})

test_that("subselect finds the same coefficients of a choice", {
  skip_if_not_installed("subselect")
  r <- stats::cor(mtcars)
  chosen <- c(2, 5, 9)
  found <- ufs_captured(chosen, mtcars, criteria = TRUE)
  expect_equal(c(found$rv, found$gcd), c(subselect::rv.coef(r, chosen), subselect::gcd.coef(r, chosen)))
})
