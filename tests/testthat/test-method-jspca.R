skip_on_cran()

# The paper's loss, which most properties here are about, unless a test says otherwise.
jspca <- function(x, ..., loss = "feature") ufs_jspca(x, ..., loss = loss)

relative <- function(a, b) max(abs(unname(a) - unname(b))) / max(abs(b))
quiet <- function(..., warn = FALSE) ufs_control(..., warn = warn)
fixture <- function(name) {
  unname(as.matrix(utils::read.csv(test_path("fixtures", "jspca", paste0(name, ".csv")), header = FALSE)))
}
orthonormal <- function(p, k, seed) withr::with_seed(seed, qr.Q(qr(matrix(rnorm(p * k), p))))
# X in the papers' orientation, centred; the plain iteration from a = h = 1.
replay <- function(X, P0, lambda, iterations, eps, loss = "feature", ...) {
  m <- if (loss == "feature") nrow(X) else ncol(X)
  suppressWarnings(jspca(t(X), ncol(P0), lambda = lambda, loss = loss, solver = "paper",
    init = list(P = P0, a = rep(1, m), h = rep(1, nrow(X))), center = FALSE, scale = FALSE,
    control = quiet(max_iter = iterations, tol = -1, eps = eps), ...))
}
centred <- function(p, n, seed) {
  X <- withr::with_seed(seed, matrix(rnorm(p * n), p))
  X - rowMeans(X)
}

test_that("the fixture is reproduced: Q, P, Pbar as they are, canonical loadings, ranks", {
  fit <- replay(fixture("jspca1_X"), fixture("jspca1_Pbar0"), 0.5, 5, c(1e-10, 1e-10))
  expect_equal(fit$iterations, 5L)
  expect_identical(fit$status, "max_iter")
  for (name in c("Q", "P", "Pbar", "loadings")) {
    expect_lt(relative(fit$solution[[name]], fixture(paste0("jspca1_out_", name))), 1e-8)
  }
  expect_lt(relative(fit$trace$objective, drop(fixture("jspca1_out_objective"))), 1e-10)
  out <- fixture("jspca1_out_norm_res_rank")
  expect_lt(max(relative(fit$feature_scores, out[, 1L]), relative(fit$solution$residual, out[, 2L])), 1e-8)
  expect_identical(unname(order(fit$feature_ranking)), as.integer(out[, 3L]))
  X <- centred(30, 10, 1)
  X[4, ] <- 0
  P0 <- orthonormal(30, 3, 2)
  fit <- replay(X, P0, 0.5, 25, c(1e-10, 1e-10))
  literal <- jspca_reference(X, P0, 0.5, 25, c(1e-10, 1e-10))
  for (name in c("Q", "P", "Pbar", "loadings")) expect_lt(relative(fit$solution[[name]], literal[[name]]), 1e-8)
  # The zero feature counts with its smoothing constants.
  expect_lt(relative(fit$trace$objective, literal$objective), 1e-10)
  expect_lt(relative(fit$trace$change, literal$change), 1e-8)
  expect_lt(relative(fit$solution$residual[-4], literal$residual[-4]), 1e-8)
  expect_lt(relative(fit$feature_key[-4], literal$kkt[-4]), 1e-8)
  expect_equal(unname(fit$feature_ranking), c(setdiff(order(-literal$norm), 4), 4))
  for (name in c("Q", "P", "Pbar", "loadings")) expect_identical(unname(fit$solution[[name]][4, ]), numeric(3))
  for (case in list(list(8, 40, "feature"), list(30, 12, "sample"), list(8, 40, "sample"))) {
    X <- centred(case[[1]], case[[2]], 5)
    P0 <- orthonormal(case[[1]], 2, 6)
    fit <- replay(X, P0, 0.5, 12, c(1e-8, 1e-8), case[[3]])
    literal <- jspca_reference(X, P0, 0.5, 12, c(1e-8, 1e-8), case[[3]])
    for (name in c("Q", "P", "Pbar", "loadings")) expect_lt(relative(fit$solution[[name]], literal[[name]]), 1e-8)
    expect_lt(relative(fit$trace$objective, literal$objective), 1e-10)
    expect_lt(relative(fit$solution$residual, literal$residual), 1e-8)
    expect_lt(relative(fit$feature_key, literal$kkt), 1e-7)
  }
})

test_that("well fitted features and samples have exact residuals", {
  # Noise 1e-5 of the signal: the expanded form of the residual would lose ten digits.
  for (size in list(c(12, 30), c(12, 6))) {
    n <- size[1]
    p <- size[2]
    X <- t(scale(jspca_factors(n, p, 2, p, 7, noise = 1e-5), scale = FALSE))
    P0 <- orthonormal(p, 2, 8)
    for (loss in c("feature", "sample")) {
      fit <- replay(X, P0, 1e-3, 5, c(1e-12, 1e-12), loss)
      R <- X - fit$solution$P %*% t(fit$solution$Q) %*% X
      exact <- sqrt(if (loss == "feature") rowSums(R^2) else colSums(R^2))
      expect_lt(min(exact / sqrt(if (loss == "feature") rowSums(X^2) else colSums(X^2))), 0.05)
      expect_lt(max(abs(unname(fit$solution$residual) / exact - 1)), 1e-8)
    }
  }
})

test_that("lambda_max is the literal one, scales as it should, and above it all loadings vanish, with a warning", {
  for (size in list(c(30, 10), c(8, 40))) {
    X <- centred(size[1], size[2], 9)
    for (loss in c("feature", "sample")) {
      of <- function(X) {
        jspca(t(X), 1, loss = loss, center = FALSE, scale = FALSE, control = quiet(max_iter = 1))$params$lambda_max
      }
      expect_equal(of(X), jspca_lambda_max_reference(X, loss), tolerance = 1e-12)
      expect_equal(of(9 * X), of(X) * if (loss == "feature") 27 else 9, tolerance = 1e-12)
    }
  }
  x <- jspca_factors(60, 80, 3, 20, 25)
  for (loss in c("feature", "sample")) {
    expect_warning(fit <- jspca(x, 3, lambda_rel = 1.01, loss = loss), class = "ufs_warning_vanished")
    expect_true(all(fit$solution$Q == 0) && all(coef(fit) == 0))
    expect_identical(fit$status, "converged")
    expect_true(all(fit$feature_key < 1))
    expect_equal(unname(fit$feature_ranking), order(-fit$feature_key))
    expect_warning(expect_warning(plain <-
      jspca(x, 3, lambda_rel = 1.01, loss = loss, solver = "paper", control = ufs_control(max_iter = 300)),
      class = "ufs_warning_vanished"), class = "ufs_warning_max_iter")
    expect_lte(max(plain$feature_scores) * (if (loss == "feature") sqrt(sqrt(59)) else 1), 1e-2)
    # Just below, something is left, however small it is beside samples of 60 numbers.
    expect_warning(jspca(x, 3, lambda_rel = 0.99, loss = loss, control = ufs_control()), NA)
    expect_gt(sum(jspca(x, 3, lambda_rel = 0.5, loss = loss, control = ufs_control())$feature_scores > 0), 0)
  }
})

test_that("predict: scores, reconstruction, selection", {
  x <- jspca_factors(40, 30, 3, 10, 29)
  x <- cbind(x[, 1:4], 5, x[, -(1:4)])
  dimnames(x) <- list(paste0("s", 1:40), paste0("f", 1:31))
  for (scale in c(TRUE, FALSE)) for (center in c(TRUE, FALSE)) {
    fit <- suppressWarnings(jspca(x, 3, center = center, scale = scale, control = quiet()))
    scores <- predict(fit, x, type = "scores")
    expect_equal(scores, fit$solution$scores, tolerance = 1e-12)
    expect_identical(dimnames(scores), list(rownames(x), c("PC1", "PC2", "PC3")))
    expect_equal(predict(fit, x, n_components = 2, type = "scores"), scores[, 1:2])
    back <- predict(fit, x, type = "reconstruction")
    expect_error(predict(fit, x, type = "scores", components = 2), "`components`", class = "ufs_error_argument")
    expect_identical(dimnames(back), dimnames(x))
    residual <- sqrt(colSums(((x - back) / rep(if (scale) fit$scale else 1, each = 40))[, -5]^2))
    expect_equal(residual, fit$solution$residual[-5], tolerance = 1e-10)
    if (center) expect_equal(unname(back[, 5]), rep(5, 40))
    mixed <- as.data.frame(x[7:9, 31:1])
    expect_equal(predict(fit, mixed, type = "scores"), scores[7:9, ])
    expect_equal(predict(fit, mixed, type = "reconstruction"), back[7:9, ])
    expect_identical(predict(fit, x, k = 4), x[, selected_features(fit, 4)])
  }
  expect_equal(predict(fit, x, n_components = 3, type = "reconstruction"), back)
  expect_gt(max(abs(predict(fit, x, n_components = 1, type = "reconstruction") - back)), 1e-3)
  expect_error(predict(fit, x[, -2], type = "scores"), class = "ufs_error_input")
  expect_error(predict(fit, replace(x, 3, NA), type = "scores"), class = "ufs_error_input")
  expect_refusals(predict(fit, x, n_components = 4, type = "scores"), predict(fit, x, type = "nothing"),
    predict(fit, type = "scores"), predict(fit, x))
})

test_that("exact zeros, a fixed point of the plain iteration, and the literal kkt", {
  for (size in list(c(50, 120, 3), c(90, 25, 2))) {
    x <- jspca_factors(size[1], size[2], size[3], 10, 31)
    fit <- jspca(x, size[3], control = ufs_control(tol = 1e-6))
    expect_identical(fit$status, "converged")
    zero <- fit$feature_scores == 0
    expect_gt(sum(zero), 0)
    expect_equal(sum(!zero), utils::tail(fit$trace$live, 1))
    expect_true(all(fit$feature_key <= 1 + 1e-6))
    expect_lt(max(abs(fit$feature_key[!zero] - 1), fit$certificate[["kkt"]], fit$certificate[["gap"]]), 1e-4)
    expect_gt(fit$certificate[["gap"]], -1e-12)
    # One reweighted step from the limit.
    step <- jspca(x, size[3], solver = "paper", control = quiet(max_iter = 1), init = list(P = fit$solution$Pbar,
      a = 1 / (2 * sqrt(fit$solution$residual^2 + fit$control$eps[1])),
      h = 2 * sqrt(fit$feature_scores^2 + fit$control$eps[2])))
    expect_lt(sqrt(sum((step$solution$Q - fit$solution$Q)^2) / sum(fit$solution$Q^2)), 1e-4)
  }
  x <- scale(jspca_factors(30, 45, 2, 10, 34))
  P0 <- orthonormal(45, 2, 35)
  for (solver in c("exact", "paper")) {
    # One iteration from a = h = 1, so T = X Pbar0.
    fit <- jspca(x, 2, solver = solver, init = list(P = P0, a = rep(1, 45), h = rep(1, 45)),
      control = quiet(max_iter = 1, eps = c(1e-6, 1e-2)))
    gradient <- 2 * crossprod(x, x %*% (P0 - fit$solution$Q)) / fit$params$lambda
    expect_equal(unname(fit$feature_key), sqrt(rowSums(gradient^2)), tolerance = 1e-8)
    norm <- sqrt(fit$feature_scores^2 + (if (solver == "paper") fit$control$eps[2] else 0))
    live <- norm > 0
    off <- sqrt(rowSums((gradient - fit$solution$Q / norm)[live, ]^2))
    expect_equal(fit$certificate[["kkt"]], max(off, fit$feature_key[!live] - 1), tolerance = 1e-6)
  }
})

test_that("without a penalty: XQ = XP, descent, a fixed point, the shortest Q, copies and outliers", {
  for (size in list(c(60, 20), c(20, 60))) for (loss in c("feature", "sample")) {
    x <- jspca_factors(size[1], size[2], 3, 12, 23)
    z <- scale(x)
    fit <- jspca(x, 3, lambda = 0, loss = loss, control = quiet(tol = 1e-9, max_iter = 5000))
    expect_identical(fit$status, "converged")
    objective <- fit$trace$objective
    expect_lte(max(diff(objective)), 1e-12 * objective[[1]])
    s <- fit$solution
    rest <- z - z %*% s$Q %*% t(s$P)
    norms <- if (loss == "sample") sqrt(rowSums(rest^2)) else sqrt(colSums(rest^2))
    # Some samples are fitted exactly: there the smoothing shows.
    expect_equal(sum(sqrt(norms^2 + fit$control$eps[1])), tail(objective, 1), tolerance = 1e-9)
    expect_identical(unname(tail(fit$trace$penalty, 1)), 0)
    v <- svd(z)$v[, 1:3]
    pca <- z - z %*% v %*% t(v)
    expect_lt(sum(norms), sum(if (loss == "sample") sqrt(rowSums(pca^2)) else sqrt(colSums(pca^2))))
    # The shortest of all Q with this XQ.
    row_space <- svd(z)
    basis <- row_space$v[, row_space$d > 1e-10 * row_space$d[1]]
    expect_lt(max(abs(s$Q - basis %*% crossprod(basis, s$Q)), fit$certificate[["kkt"]]), 1e-10)
    expect_identical(fit$certificate[["gap"]], 0)
    if (loss == "sample") {
      expect_equal(s$Q, s$P, tolerance = 1e-8)
      # Stationary: P spans the leading eigenvectors of the weighted Gram matrix.
      e <- eigen(crossprod(z * sqrt(1 / (2 * norms))), symmetric = TRUE)$vectors[, 1:3]
      expect_lt(max(abs(tcrossprod(s$P) - tcrossprod(e))), 1e-5)
    } else {
      xq <- z %*% s$Q
      p <- crossprod(z, xq) %*% solve(crossprod(xq))
      expect_equal(z %*% s$Q %*% t(s$P), xq %*% t(p), tolerance = 1e-5, ignore_attr = TRUE)
    }
    both <- jspca(x, 3, lambda_rel = 0, loss = loss, solver = "paper", control = quiet(tol = 1e-9, max_iter = 5000))
    expect_equal(both$solution$Q, s$Q, tolerance = 1e-8)
    near <- jspca(x, 3, lambda_rel = 1e-9, loss = loss, solver = "paper",
      control = quiet(tol = 1e-9, max_iter = 5000, eps = fit$control$eps))
    expect_equal(tail(near$trace$objective, 1), sum(norms), tolerance = 1e-5)
  }
  x <- jspca_factors(60, 20, 3, 12, 23)
  x <- cbind(x, x[, 1] + x[, 2])
  fit <- jspca(x, 3, lambda = 0, control = quiet())
  row_space <- svd(scale(x))$v[, 1:20]
  expect_lt(max(abs(fit$solution$Q - row_space %*% crossprod(row_space, fit$solution$Q))), 1e-10)
  x <- jspca_factors(50, 20, 2, 12, 24)
  x <- cbind(x, x[, 3], 1)
  for (loss in c("feature", "sample")) {
    fit <- suppressWarnings(jspca(x, 2, lambda = 0, loss = loss, control = quiet()))
    expect_identical(fit$feature_scores[[21]], fit$feature_scores[[3]])
  }
  truth <- withr::with_seed(1, qr.Q(qr(matrix(rnorm(40), 20))))
  clean <- withr::with_seed(2, matrix(rnorm(200), 100) %*% t(truth) + matrix(rnorm(2000, sd = 0.05), 100))
  clean[1:5, ] <- withr::with_seed(3, matrix(rnorm(100, sd = 2), 5))
  angle <- function(p) sqrt(1 - min(svd(crossprod(truth, qr.Q(qr(p))))$d)^2)
  robust <- jspca(clean, 2, lambda = 0, loss = "sample", scale = FALSE, control = quiet())
  expect_lt(angle(robust$solution$P), angle(svd(scale(clean, scale = FALSE))$v[, 1:2]) / 2)
  expect_warning(fit <- jspca(jspca_factors(30, 60, 3, 10, 36), 3, lambda_rel = 1e-7), class = "ufs_warning_stalled")
  expect_gt(fit$certificate[["kkt"]], 0.1)
})

test_that("over samples a penalty too small for rows goes to the reweighted steps", {
  x <- withr::with_seed(1, matrix(rnorm(400), 10) + rnorm(10) %o% rnorm(40))
  calm <- quiet(max_iter = 2000)
  fit <- jspca(x, 3, lambda_rel = 1e-5, loss = "sample", control = calm)
  expect_identical(c(fit$params$solver_used, fit$status), c("paper", "converged"))
  expect_lte(fit$certificate[["kkt"]], 0.1)
  plain <- jspca(x, 3, lambda_rel = 1e-5, loss = "sample", solver = "paper", control = calm)
  expect_equal(fit$feature_scores, plain$feature_scores)
  expect_output(print(fit), "too small for \"exact\"")
  turned <- jspca(x[10:1, ], 3, lambda_rel = 1e-5, loss = "sample", control = calm)
  expect_equal(turned$feature_scores, fit$feature_scores, tolerance = 1e-6)
  expect_identical(head(turned$feature_ranking, 20), head(fit$feature_ranking, 20))
  larger <- jspca(x, 3, lambda_rel = 1e-2, loss = "sample", control = calm)
  expect_identical(larger$params$solver_used, "exact")
  expect_lte(larger$certificate[["kkt"]], 1e-3)
  skip_if_not_installed("Matrix")
  other <- jspca(Matrix::Matrix(x, sparse = TRUE), 3, lambda_rel = 1e-5, loss = "sample", control = calm)
  expect_identical(other$params$solver_used, "paper")
  expect_equal(other$feature_scores, fit$feature_scores, tolerance = 1e-6)
})

test_that("over samples, near the border and without room for reweighted steps, rows end where these do", {
  x <- withr::with_seed(1, matrix(rnorm(1500), 15) + rnorm(15) %o% rnorm(100))
  # Near the border rounding chooses the solver, and either finds the same answer.
  border <- vapply(1:2, function(seed) {
    order <- withr::with_seed(seed, sample(15))
    fit <- jspca(x[order, ], 3, lambda_rel = 1e-4, loss = "sample", control = quiet(max_iter = 2000))
    expect_identical(fit$status, "converged")
    fit$trace$objective[nrow(fit$trace)]
  }, 0)
  expect_lte(max(border) / min(border) - 1, 1e-6)
  skip_if_not_installed("Matrix")
  # Where the dense matrix would not fit, descent by rows goes on as far as it gets.
  best <- jspca(x, 3, lambda_rel = 1e-5, loss = "sample", solver = "paper", control = quiet(max_iter = 2000))$trace$objective
  withr::local_options(ufselect.max_bytes = 8 * 1400)
  order <- withr::with_seed(1, list(sample(15), sample(100)))
  kept <- jspca(Matrix::Matrix(x, sparse = TRUE)[order[[1]], order[[2]]], 3, lambda_rel = 1e-5, loss = "sample",
    control = quiet(max_iter = 100))
  expect_identical(kept$params$solver_used, "exact")
  # No Newton step along the null space of so few samples, where rounding looks like a gain.
  expect_lte(kept$trace$objective[nrow(kept$trace)], best[length(best)] * (1 + 1e-4))
})

test_that("over samples of wide data P is made of XX' and is orthonormal in the end", {
  data <- planted(40, 70, informative = 8)
  z <- scale(data$x)
  for (control in list(ufs_control(), ufs_control(max_iter = 7, warn = FALSE))) {
    fit <- ufs_jspca(data$x, 2, control = control)
    s <- fit$solution
    expect_lt(max(abs(crossprod(s$P) - diag(2))), 1e-12)
    # P is that of the last Q and its weights, which smoothed residuals gave.
    rest <- z - z %*% s$Q %*% t(s$P)
    expect_equal(unname(s$residual), unname(sqrt(rowSums(rest^2))), tolerance = 1e-9)
    expect_equal(sum(sqrt(rowSums(rest^2) + fit$control$eps[1])) +
      fit$params$lambda * sum(fit$feature_scores), tail(fit$trace$objective, 1), tolerance = 1e-12)
  }
  fit <- ufs_jspca(data$x, 2)
  plain <- ufs_jspca(data$x, 2, solver = "paper", control = ufs_control(tol = 1e-9, max_iter = 5000, warn = FALSE))
  expect_lt(relative(fit$feature_scores, plain$feature_scores), 1e-3)
  # Without smoothing to speak of, residuals are formed; the answer is near.
  formed <- ufs_jspca(data$x, 2, control = ufs_control(eps = 1e-8 * max(rowSums(z^2))))
  expect_lt(relative(fit$feature_scores, formed$feature_scores), 0.05)
  expect_lt(max(abs(crossprod(formed$solution$P) - diag(2))), 1e-12)
})

test_that("over many samples of few features the answer is that of any other data", {
  skip_if_not_installed("Matrix")
  x <- jspca_factors(160, 12, 3, 6, 41)
  x[, 12] <- rowMeans(x[, 1:3])
  z <- scale(x)
  for (most in c(7, 500)) {
    fit <- ufs_jspca(x, 3, control = ufs_control(max_iter = most, warn = FALSE))
    s <- fit$solution
    expect_identical(fit$status, if (most == 7) "max_iter" else "converged")
    expect_lt(max(abs(crossprod(s$P) - diag(3))), 1e-12)
    rest <- sqrt(rowSums((z - z %*% s$Q %*% t(s$P))^2))
    expect_equal(unname(s$residual), unname(rest), tolerance = 1e-9)
    expect_equal(sum(sqrt(rest^2 + fit$control$eps[1])) + fit$params$lambda *
      sum(fit$feature_scores), tail(fit$trace$objective, 1), tolerance = 1e-12)
    expect_true(all(diff(fit$trace$objective) <= 1e-10 * fit$trace$objective[1]))
  }
  gradient <- 2 * crossprod(z, (z %*% (s$P - s$Q)) / (2 * sqrt(rest^2 + fit$control$eps[1]))) / fit$params$lambda
  live <- fit$feature_scores > 0
  expect_lt(max(sqrt(rowSums((gradient - s$Q / pmax(fit$feature_scores, 1e-300))[live, ]^2))), 1e-4)
  expect_lt(max(sqrt(rowSums(gradient[!live, , drop = FALSE]^2)), 0), 1 + 1e-4)
  other <- ufs_jspca(Matrix::Matrix(x, sparse = TRUE), 3)
  expect_lt(relative(fit$feature_scores, other$feature_scores), 1e-5)
  expect_equal(tail(fit$trace$objective, 1), tail(other$trace$objective, 1), tolerance = 1e-10)
  # Samples that are fitted exactly have weights beyond all others: their sums are indefinite.
  exact <- rbind(jspca_factors(120, 6, 2, 6, 42, noise = 0), jspca_factors(40, 6, 2, 6, 43))
  fit <- ufs_jspca(exact, 2, lambda_rel = 1e-5, center = FALSE, scale = FALSE, control = ufs_control(eps = 1e-22))
  expect_identical(fit$status, "converged")
  expect_true(all(diff(fit$trace$objective) <= 1e-8 * fit$trace$objective[1]))
})

test_that("over samples of wide data components may vanish", {
  data <- planted(30, 50, informative = 5)
  for (rel in c(0.5, 0.9, 0.999)) {
    fit <- suppressWarnings(ufs_jspca(data$x, 4, lambda_rel = rel))
    expect_lte(max(diff(fit$trace$objective)), 1e-10 * fit$trace$objective[1])
    expect_lt(max(abs(crossprod(fit$solution$P) - diag(4))), 1e-10)
    expect_identical(fit$status, "converged")
  }
  # At 0.9 fewer directions are left than components.
  expect_lt(qr(suppressWarnings(ufs_jspca(data$x, 4, lambda_rel = 0.9))$solution$Q)$rank, 4)
})

test_that("bad arguments are classed errors that name the argument", {
  x <- jspca_factors(20, 9, 2, 9, 38)
  expect_arguments(n_components = jspca(x), n_components = jspca(x, 10), n_components = jspca(x, 2.5),
    n_components = jspca(cbind(x[, 1:2], x[, 1] + x[, 2]), 3), init = jspca(x, 2, init = "random"),
    init = jspca(x, 2, init = matrix(0, 9, 3)), init = jspca(x, 2, init = matrix(1, 9, 2)),
    init = jspca(x, 2, init = list(Q = matrix(1, 9, 2))), `init$P` = jspca(x, 2, init = list(P = matrix(1, 8, 2))),
    `init$a` = jspca(x, 2, init = list(P = diag(9)[, 1:2], a = 1)),
    `init$h` = jspca(x, 2, init = list(P = diag(9)[, 1:2], h = rep(0, 9))),
    `init$a` = jspca(x, 2, loss = "sample", init = list(P = diag(9)[, 1:2], a = rep(1, 9))),
    max_iter = jspca(x, 2, control = ufs_control(max_iter = 0)))
  expect_refusals("must be \"pca\", a matrix of 9 x 2, or list(P =, a =, h =)" = jspca(x, 2, init = list(Pbar = 1)),
    "linearly independent columns" = jspca(x, 2, init = matrix(1, 9, 2)),
    "`init$h` must be positive." = jspca(x, 2, init = list(P = diag(9)[, 1:2], h = rep(0, 9))))
  for (unit in c(1e100, 1e-100)) expect_error(jspca(x * unit, 2, scale = FALSE), class = "ufs_error_input")
  for (loss in c("feature", "sample")) {
    big <- jspca(x * 1e60, 2, loss = loss, scale = FALSE)
    expect_equal(big$feature_ranking, jspca(x, 2, loss = loss, scale = FALSE)$feature_ranking)
  }
  withr::local_options(ufselect.max_bytes = 1000)
  expect_error(jspca(x, 2), "Gram matrix", class = "ufs_error_memory")
  expect_silent(jspca(x[1:5, ], 2, control = quiet()))
  expect_error(jspca(x[1:5, ], 2, solver = "paper"), "\"exact\"", class = "ufs_error_memory")
})

test_that("a matrix start is made orthonormal, a list start is left alone; a short run ends with the last product", {
  x <- jspca_factors(20, 12, 2, 12, 40)
  P0 <- orthonormal(12, 2, 41)
  one <- function(init) jspca(x, 2, init = init, solver = "paper", control = quiet(max_iter = 3))$solution$Q
  stretched <- P0 %*% diag(c(1, 3))
  expect_equal(one(stretched), one(P0), tolerance = 1e-10)
  expect_equal(one(list(P = P0)), one(P0), tolerance = 1e-10)
  expect_gt(relative(one(list(P = stretched)), one(P0)), 1e-2)
  x <- jspca_factors(40, 60, 3, 12, 42)
  run <- function(iterations) jspca(x, 3, control = quiet(max_iter = iterations))
  before <- run(3)
  cut <- run(4)
  a <- 1 / (2 * sqrt(before$solution$residual^2 + before$control$eps[1]))
  gap <- sqrt(a) * before$solution$Pbar - cut$solution$Q
  z <- scale(x)
  expect_equal(unname(cut$feature_key),
    2 * sqrt(rowSums(crossprod(z, z %*% gap)^2)) / cut$params$lambda, tolerance = 1e-8)
  x <- jspca_factors(30, 20, 2, 8, 43)
  dimnames(x) <- list(paste0("row", 1:30), paste0("col", 1:20))
  fit <- jspca(x, 2)
  for (name in c("Q", "P", "Pbar", "loadings")) expect_identical(rownames(fit$solution[[name]]), colnames(x))
  expect_identical(names(fit$solution$residual), colnames(x))
  expect_identical(names(jspca(x, 2, loss = "sample")$solution$residual), rownames(x))
  start <- orthonormal(20, 2, 44)
  start_copy <- start + 0
  jspca(x, 2, init = list(P = start))
  expect_identical(start, start_copy)
})

test_that("lambda and lambda_rel are two ways to say one thing; the print says what a score is and how the run ended", {
  x <- jspca_factors(30, 20, 2, 8, 45)
  rel <- jspca(x, 2, lambda_rel = 0.2)
  absolute <- jspca(x, 2, lambda = 0.2 * rel$params$lambda_max)
  expect_identical(absolute$solution, rel$solution)
  expect_equal(absolute$params$lambda_rel, 0.2, tolerance = 1e-14)
  x <- jspca_factors(30, 40, 2, 8, 47)
  lines <- capture.output(print(summary(jspca(x, 2, loss = "sample", solver = "paper", control = quiet()))))
  expect_match(lines, "over samples", all = FALSE)
  expect_match(lines, "above 1e-3 of the largest", all = FALSE)
  fit <- jspca(x, 2)
  expect_refusals(plot(fit, "loadings", k = 100L), plot(fit, "loadings", k = 0))
  expect_equal(picture(fit, "loadings", 3)$z, coef(fit)[fit$feature_ranking[1:3], ])
  expect_match(picture(fit, "objective")$subtitle, "a fixed-point iteration: the objective may rise")
  other <- jspca(mtcars, 2, loss = "sample", control = quiet())
  expect_false(any(grepl("may rise", picture(other, "objective")$subtitle)))
  fit$trace <- data.frame(iteration = 1:3, objective = c(10, 5, 6), live = 3)
  expect_output(print(fit), "20.0 % above its lowest")
  fit$trace$objective <- c(10, 5, 5)
  expect_false(any(grepl("above its lowest", capture.output(print(fit)))))
})

test_that("older weights change neither descent nor limit, and a tight tolerance is reached with them", {
  data <- planted(60, 40, informative = 8)
  tight <- ufs_control(tol = 1e-7, max_iter = 5000, warn = FALSE)
  exact <- ufs_jspca(data$x, 2, control = tight)
  plain <- ufs_jspca(data$x, 2, solver = "paper", control = tight)
  last <- function(fit) fit$trace$objective[nrow(fit$trace)]
  expect_identical(exact$status, "converged")
  expect_lte(max(diff(exact$trace$objective)), 1e-10 * last(exact))
  expect_equal(last(exact), last(plain), tolerance = 1e-5)
  for (seed in 3:5) {
    x <- withr::with_seed(seed, {
      centre <- matrix(rnorm(15, sd = 3), 3)
      matrix(rnorm(14 * 40), 14) + cbind(centre[rep_len(1:3, 14), ], matrix(0, 14, 35))
    })
    tight <- jspca(x, 2, loss = "sample", control = ufs_control(tol = 1e-8, max_iter = 450))
    expect_identical(tight$status, "converged")
    expect_lte(tail(tight$trace$objective, 1), tail(jspca(x, 2, loss = "sample")$trace$objective, 1) * (1 + 1e-6))
  }
})

test_that("from a random start the exact solver has no zero that the plain iteration has not", {
  x <- as.matrix(datasets::mtcars)
  # The objective of a fit, smoothed as over samples.
  value <- function(fit) {
    z <- scale(x)
    r <- z - z %*% fit$solution$Q %*% t(fit$solution$P)
    sample <- fit$params$loss == "sample"
    eps <- if (sample) 1e-6 * max(rowSums(z^2)) else 0
    sum(sqrt((if (sample) rowSums(r^2) else colSums(r^2)) + eps)) +
      fit$params$lambda * sum(sqrt(rowSums(fit$solution$Q^2)))
  }
  for (loss in c("sample", "feature")) {
    for (seed in 1:3) {
      start <- withr::with_seed(seed, qr.Q(qr(matrix(stats::rnorm(22), 11))))
      fit <- function(solver) {
        ufs_jspca(x, 2, lambda_rel = 0.6, loss = loss, solver = solver, init = start, control = ufs_control(warn = FALSE))
      }
      plain <- fit("paper")
      exact <- fit("exact")
      expect_gt(min(max(feature_scores(plain)), max(feature_scores(exact))), 0.01)
      # Over features the iteration is no descent.
      expect_lte(value(exact), value(plain) * (1 + if (loss == "sample") 2e-6 else 0.01))
      expect_identical(exact$trace$iteration, seq_len(nrow(exact$trace)))
      expect_identical(exact$iterations, nrow(exact$trace))
      expect_identical(exact$status, "converged")
    }
  }
})

test_that("samples of two kinds only, whose residuals vanish by one factor in every step", {
  for (i in 1:3) {
    x <- matrix(withr::with_seed(i, stats::rnorm(10)), 2)[rep(1:2, 6), ]
    colnames(x) <- letters[1:5]
    fit <- ufs_jspca(x, n_components = 1, lambda_rel = 0.1)
    expect_identical(fit$status, "converged")
    expect_equal(fit$certificate[["captured"]], 1)
    # Its columns are copies of each other but for the sign; they share what the penalty leaves.
    expect_true(all(is.finite(fit$solution$Q)))
    expect_gt(sqrt(sum(fit$solution$Q^2)), 0.5)
  }
})
