skip_on_cran()

test_that("fixtures; both forms agree, a negative tolerance replays the plain iteration, acceleration ends as it", {
  for (set in c("mtcars", "synth60x200")) {
    for (lambda in c(0.1, 1)) {
      fit <- quiet(ufs_rsr(baseline_input(set), lambda = lambda, solver = "irls", center = FALSE, scale = FALSE,
        control = ufs_control(max_iter = 50, tol = -1, eps = .Machine$double.eps)))
      expect_lt(max(abs(feature_scores(fit) - baseline_expected(set, paste0("RSR__lambda", lambda, "_it50")))), 1e-9)
      expect_identical(fit$iterations, 50L)
    }
  }
  for (size in list(c(40, 12), c(12, 12), c(12, 30), c(9, 3))) {
    x <- unit_columns(planted(size[1], size[2], informative = 3)$x)
    want <- ref_rsr(x, 0.4, 12, 1e-12)
    fit <- quiet(ufs_rsr(x, lambda = 0.4, solver = "irls", coefficients = TRUE, center = FALSE,
      scale = FALSE, control = ufs_control(max_iter = 12, tol = -1, eps = 1e-12)))
    expect_equal(unname(coef(fit)), want, tolerance = 1e-8)
    expect_equal(unname(feature_scores(fit)), ref_row_norms(want), tolerance = 1e-8)
    expect_equal(unname(fit$solution$residual), ref_row_norms(x - x %*% want), tolerance = 1e-7)
  }
  x <- planted(30, 12)$x
  control <- ufs_control(max_iter = 9, tol = -1)
  expect_identical(feature_scores(quiet(ufs_rsr(x, control = control))),
    feature_scores(quiet(ufs_rsr(x, solver = "irls", control = control))))
  x <- unit_columns(planted(80, 20)$x)
  fast <- ufs_rsr(x, control = ufs_control(tol = 1e-7))
  slow <- ufs_rsr(x, solver = "irls", control = ufs_control(tol = 1e-12, max_iter = 3000))
  expect_equal(feature_scores(fast), feature_scores(slow), tolerance = 1e-4)
  expect_lt(fast$iterations, slow$iterations / 2)
  expect_true(all(diff(fast$trace$objective) <= 1e-9 * fast$trace$objective[1]))
  expect_true(all(diff(slow$trace$objective) <= 1e-9 * slow$trace$objective[1]))
})

test_that("the window of lambda, small ones with p > n, smallest sizes, and units", {
  x <- unit_columns(planted(50, 6, informative = 2)$x)
  fit <- ufs_rsr(x)
  top <- max(ref_row_norms(crossprod(x, x / ref_row_norms(x))))
  low <- 1 / max(ref_row_norms(x %*% solve(crossprod(x))))
  expect_equal(fit$params$lambda_max, top)
  expect_equal(fit$params$lambda_identity, low)
  expect_equal(fit$params$lambda, 0.5 * top)
  expect_warning(at <- ufs_rsr(x, lambda = low * 0.99), class = "ufs_warning_void")
  expect_equal(unname(coef(at)), diag(6), tolerance = 1e-6)
  expect_warning(at <- ufs_rsr(x, lambda = top * 1.01), class = "ufs_warning_void")
  expect_lt(max(feature_scores(at)), 0.05)
  expect_gt(max(feature_scores(ufs_rsr(x, lambda = top * 0.98))), 1e-3)
  wide <- unit_columns(planted(10, 25)$x)
  fit <- ufs_rsr(wide)
  expect_identical(fit$params$lambda_identity, NA_real_)
  expect_equal(fit$params$lambda_max, max(ref_row_norms(crossprod(wide, wide / ref_row_norms(wide)))))
  expect_equal(fit$params$lambda, 0.5 * fit$params$lambda_max)
  expect_identical(ufs_rsr(cbind(x, x[, 1]))$params$lambda_identity, NA_real_)
  x <- planted(12, 30)$x
  tight <- ufs_control(tol = 1e-6, max_iter = 3000)
  a <- ufs_rsr(x, lambda_rel = 0.02, control = tight)
  expect_identical(a$n_exact, 12L)
  expect_equal(feature_scores(a), feature_scores(ufs_rsr(x, lambda_rel = 0.01, control = tight)), tolerance = 1e-3)
  expect_null(coef(a))
  expect_identical(dim(coef(ufs_rsr(cbind(a = c(1, 2, 4, 3))))), c(1L, 1L))
  expect_identical(length(feature_scores(quiet(ufs_rsr(planted(3, 3, c = 2, informative = 1)$x)))), 3L)
  x <- withr::with_seed(3, matrix(rnorm(360), 30) + outer(rep(1:3, 10), c(2, -2, 1, rep(0, 9))))
  run <- function(unit) quiet(ufs_rsr(x * unit, scale = FALSE, solver = "irls"))
  for (unit in 2^c(-30, 30)) {
    expect_equal(feature_scores(run(unit)), feature_scores(run(1)), tolerance = 1e-8)
    expect_identical(run(unit)$iterations, run(1)$iterations)
  }
})

test_that("rows that the penalty leaves out are small or zero, and a priced dual point says why", {
  zeros <- 0
  for (size in list(c(60, 80), c(150, 60), c(20, 300))) {
    x <- unit_columns(withr::with_seed(4, {
      matrix(rnorm(size[1] * 4), size[1])[, rep(1:4, length.out = size[2])] + 0.4 * matrix(rnorm(prod(size)), size[1])
    }))
    fit <- ufs_rsr(x, lambda_rel = 0.7, coefficients = TRUE, center = FALSE, scale = FALSE,
      control = ufs_control(tol = 1e-4, max_iter = 3000))
    expect_identical(fit$status, "converged")
    w <- coef(fit)
    score <- unname(feature_scores(fit))
    zeros <- zeros + sum(score == 0)
    e <- x - x %*% w
    expect_equal(unname(fit$solution$residual), ref_row_norms(e), tolerance = 1e-6)
    # The bound of the certificate is not above what any point reaches, and the objective of W
    # in plain R is within the gap of the bound of plain R.
    primal <- ref_rsr_objective(x, w, fit$params$lambda)
    expect_lt((primal - ref_rsr_bound(x, w, fit$params$lambda)) / primal, 5e-3)
    # |X'Y|_j / lambda of the reported point: 1 in use, less elsewhere.
    expect_lt(max(fit$solution$dual), 1.01)
    expect_gt(min(fit$solution$dual[score > 0.1 * max(score)]), 0.99)
    at_w <- ref_row_norms(crossprod(x, e / ref_row_norms(e))) / fit$params$lambda
    expect_equal(unname(fit$solution$dual), at_w, tolerance = 0.02)
  }
  # At least one of them went through a narrower set.
  expect_gt(zeros, 10)
})

test_that("W = I and W = 0 are exact where they are the minimum, and claimed only there", {
  x <- unit_columns(withr::with_seed(5, matrix(rnorm(300 * 30), 300)))
  x[1:5, ] <- 3 * x[1:5, ]
  x <- unit_columns(x)
  low <- 1 / max(ref_row_norms(x %*% solve(crossprod(x))))
  expect_warning(fit <- ufs_rsr(x, lambda = 1.3 * low, center = FALSE, scale = FALSE), class = "ufs_warning_void")
  expect_identical(unname(coef(fit)), diag(30))
  expect_identical(list(fit$iterations, fit$certificate[["gap"]]), list(1L, 0))
  best <- 1.3 * low * 30
  expect_equal(tail(fit$trace$objective, 1), best, tolerance = 1e-6)
  tight <- quiet(ufs_rsr(x, lambda = 1.3 * low, center = FALSE, scale = FALSE, solver = "irls",
    control = ufs_control(max_iter = 500, tol = 1e-12)))
  expect_gt(ref_rsr_objective(x, coef(tight), 1.3 * low), best * (1 - 1e-9))
  expect_warning(none <- ufs_rsr(x, lambda_rel = 1, center = FALSE, scale = FALSE), class = "ufs_warning_void")
  expect_identical(unname(feature_scores(none)), numeric(30))
  expect_identical(unname(coef(none)), matrix(0, 30, 30))
  expect_equal(unname(none$solution$residual), ref_row_norms(x))
  for (lambda in low * c(1.2, 1.4, 1.6, 1.7, 1.8, 1.9, 2, 2.2)) {
    fit <- quiet(ufs_rsr(x, lambda = lambda, center = FALSE, scale = FALSE,
      control = ufs_control(tol = 1e-6, max_iter = 3000)))
    other <- quiet(ufs_rsr(x, lambda = lambda, center = FALSE, scale = FALSE, solver = "irls",
      control = ufs_control(tol = 1e-10, max_iter = 3000)))
    expect_lt(ref_rsr_objective(x, coef(fit), lambda), ref_rsr_objective(x, coef(other), lambda) * (1 + 2e-6))
  }
})

test_that("a fit that is stopped early claims no more than is true", {
  expect_warning(none <- ufs_rsr(mtcars, control = ufs_control(max_iter = 0)), class = "ufs_warning")
  expect_output(print(none), "status +max_iter")
  narrow <- 0
  for (seed in 1:6) {
    x <- unit_columns(withr::with_seed(seed, {
      matrix(rnorm(40 * 3), 40)[, rep(1:3, 20)] + 0.5 * matrix(rnorm(40 * 60), 40)
    }))
    run <- function(max_iter, tol) {
      quiet(ufs_rsr(x, lambda_rel = 0.8, coefficients = TRUE, center = FALSE, scale = FALSE,
        control = ufs_control(tol = tol, max_iter = max_iter)))
    }
    best <- tail(run(3000, 1e-7)$trace$objective, 1)
    for (max_iter in 2:40) {
      fit <- run(max_iter, 1e-7)
      expect_lte(ref_rsr_objective(x, coef(fit), fit$params$lambda) * (1 - fit$certificate[["gap"]]), best * (1 + 1e-6))
      narrow <- narrow + any(feature_scores(fit) == 0)
    }
  }
  expect_gt(narrow, 20)
})

test_that("the smallest penalties have an answer; a trace of a thousand rows is what progress() was told", {
  for (seed in 1:40) {
    set.seed(seed)
    n <- 3 + seed %% 6
    x <- matrix(rnorm(n * c(4, 6, 3, 12)[1 + seed %% 4]), n)
    for (lambda_rel in c(1e-8, 1e-12)) {
      for (solver in c("exact", "irls")) {
        fit <- suppressWarnings(ufs_rsr(x, lambda_rel = lambda_rel, solver = solver,
          control = ufs_control(max_iter = 100)))
        expect_true(all(is.finite(fit$feature_scores)))
        expect_gt(fit$certificate[["gap"]], -1e-3)
        if (fit$status == "converged") expect_gt(fit$certificate[["gap"]], -1e-8)
        if (solver == "exact") expect_false(fit$status == "numerical")
      }
    }
  }
  x <- withr::with_seed(1, matrix(rnorm(40 * 25), 40))
  told <- list()
  fit <- quiet(ufs_rsr(x, lambda_rel = 0.9, control = ufs_control(max_iter = 1500, tol = -1, warn = FALSE,
    progress = function(iteration, objective, change) {
      # Memory that was given back too early is used by somebody else now.
      if (iteration %% 500L == 0L) gc(FALSE)
      told[[length(told) + 1L]] <<- c(iteration, objective)
    })))
  told <- do.call(rbind, told)
  expect_gt(nrow(fit$trace), 1024)
  expect_equal(fit$trace$objective, told[match(fit$trace$iteration, told[, 1]), 2], tolerance = 1e-14)
})

unrow <- function(x) `rownames<-`(x, NULL)

test_that("the objective and the bound are those of the W that is returned", {
  one_hot <- cbind(stats::model.matrix(~ Species - 1, iris), as.matrix(iris[, 1:4]), sum = iris[, 1] + iris[, 2])
  copies <- cbind(as.matrix(mtcars), as.matrix(mtcars[, 1:4]))
  colnames(copies) <- paste0("f", seq_len(ncol(copies)))
  wide <- withr::with_seed(1, matrix(rnorm(4 * 27), 4, dimnames = list(NULL, paste0("f", 1:27))))
  # Rank 5 of 8 rows; scaled apart by 1e3.
  thin <- withr::with_seed(2, matrix(rnorm(40), 8) %*% matrix(rnorm(150), 5) * rep(10^(0:2), each = 80))
  colnames(thin) <- paste0("f", 1:30)
  # Columns of lengths apart by 100: T by Cholesky proved too much here.
  spread <- withr::with_seed(1, matrix(rnorm(480), 12) %*% diag(10^runif(40, -1, 1)))
  colnames(spread) <- paste0("f", 1:40)
  for (x in list(one_hot, copies, wide, thin, wide[, 1:3], spread)) {
    for (lambda_rel in c(0.5, 0.01, 1e-3, 5e-4, 1e-4, 1e-6)) {
      runs <- list(list(), list(max_iter = 3), list(max_iter = 300, tol = 1e-9))
      fits <- lapply(runs, function(run) quiet(ufs_rsr(unrow(x), lambda_rel = lambda_rel,
        coefficients = TRUE, control = do.call(ufs_control, c(run, warn = FALSE)))))
      value <- vapply(fits, function(fit) ref_rsr_objective(as_seen(fit, x), fit$solution$W, fit$params$lambda), 0)
      for (i in seq_along(fits)) {
        last <- utils::tail(fits[[i]]$trace, 1L)
        # Copies share what W has for them, which is another W, no worse.
        shared <- anyDuplicated(t(unrow(x))) > 0
        expect_equal(last$best, value[i], tolerance = if (shared && lambda_rel < 1e-5) 1e-4 else if (shared) 1e-7 else 1e-9)
        expect_equal(unname(fits[[i]]$feature_scores), unname(sqrt(rowSums(fits[[i]]$solution$W^2))), tolerance = 1e-7)
        expect_lte(last$bound, min(value) * (1 + 1e-9))
        expect_gte(last$bound, value[i] * (1 - fits[[i]]$certificate[["gap"]]) - 1e-4 * value[i])
      }
    }
  }
})

test_that("each row has a penalty of its own: the reweighted reference, and a bound below it", {
  for (size in list(c(60, 15), c(15, 40))) {
    x <- unit_columns(planted(size[1], size[2], informative = 4)$x)
    cost <- seq(.5, 2, length.out = size[2])
    x[, 11] <- x[, 3]
    fit <- ufs_rsr(x, lambda_rel = .5, coefficients = TRUE, center = FALSE, scale = FALSE, include = c(3, 8, 11),
      exclude = c(1, 6), cost = cost, budget = 1e6, control = ufs_control(tol = 1e-5, max_iter = 2000))
    expect_identical(fit$status, "converged")
    factor <- cost / mean(cost[-c(1, 3, 6, 8, 11)])
    factor[c(3, 8, 11)] <- 0
    factor[c(1, 6)] <- Inf
    lambda <- fit$params$lambda
    w <- coef(fit)
    expect_true(all(w[c(1, 6), ] == 0))
    value <- ref_rsr_objective(x, w, lambda, factor)
    # The reference knows no copy among columns without a penalty: only one of the two is there.
    other <- replace(factor, 11, Inf)
    best <- ref_rsr_objective(x, ref_rsr(x, lambda, 400, 1e-13, other), lambda, other)
    expect_lt(abs(value / best - 1), 2e-5)
    bound <- (1 - fit$certificate[["gap"]]) * value
    expect_lte(bound, best * (1 + 1e-9))
    expect_gt(bound, best * (1 - 1e-4))
    e <- x - x %*% w
    y <- e / ref_row_norms(e)
    if (fit$n_exact == 0L) {
      expect_lt(max(abs(crossprod(x[, c(3, 8)], y))), 1e-3 * lambda)
      expect_lt(max((ref_row_norms(crossprod(x, y)) / factor)[-c(3, 8, 11)]), lambda * 1.01)
    }
    plainly <- ufs_rsr(x, lambda_rel = .5, solver = "irls", include = 3, control = ufs_control(warn = FALSE))
    expect_identical(plainly$constraints$features$by[["include"]], "ranking")
  }
})

test_that("one small feature that should grow does not hold up the end; samples without any residual are counted", {
  # While every feature was held back alike, these took more than 200 iterations.
  fits <- quiet(list(ufs_rsr(sample_data(40, 30, seed = 13), lambda_rel = 0.1),
    ufs_rsr(sample_data(40, 30, seed = 21), lambda_rel = 0.05)))
  for (fit in fits) {
    expect_identical(fit$status, "converged")
    expect_lt(fit$iterations, 60)
  }
  # Each moved by itself, this took 146 steps.
  x <- withr::with_seed(1, {
    noise <- matrix(rnorm(250^2), 250)
    matrix(rnorm(250 * 10), 250) %*% matrix(rnorm(10 * 250), 10) + 0.5 * noise
  })
  fit <- suppressWarnings(ufs_rsr(x))
  expect_identical(fit$status, "converged")
  expect_lt(fit$iterations, 40)
  fit <- quiet(ufs_rsr(withr::with_seed(1, matrix(stats::rnorm(30), 5)), lambda_rel = 1e-4))
  expect_identical(fit$n_exact, 5L)
  expect_output(print(fit), "5 of 5 samples, without any residual")
})
