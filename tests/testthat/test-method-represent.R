skip_on_cran()

represent_x <- function(n = 24, p = 30, seed = 1) planted(n = n, p = p, c = 3, informative = 6, seed = seed)$x

test_that("solver paper is Algorithm 1 with the user's Theta, traced", {
  x <- represent_x()
  X <- ref_unit_columns(t(scale(x)))
  theta <- withr::with_seed(2, matrix(runif(24 * 24), 24))
  for (nonnegative in c(FALSE, TRUE)) {
    fit <- ufs_represent(x, theta, lambda_z = .7, alpha_e = 5, nonnegative = nonnegative, solver = "paper")
    ref <- ref_represent(X, t(theta), 5 / max(colSums(abs(X))), .7, nonnegative = nonnegative)
    expect_s3_class(fit, "ufs_represent")
    expect_identical(fit$status, "converged")
    expect_identical(fit$iterations, ref$iterations)
    expect_lt(max(abs(fit$Z - t(ref$Z)), abs(fit$E - t(ref$E))), 1e-9)
    expect_equal(as.matrix(fit$trace[c("error", "split", "change")]), ref$trace, tolerance = 1e-6, ignore_attr = TRUE)
    expect_named(fit$trace, c("iteration", "mu", "error", "split", "change", "objective"))
    # The objective at (Z, E) of the last iteration, and that of (Z, x - Zx).
    w <- 1 + .7 * theta
    expect_equal(fit$trace$objective[fit$iterations],
      sum(w * abs(fit$Z)) + fit$params$lambda_e * sum(abs(fit$E)), tolerance = 1e-9)
    x1 <- t(X)
    expect_equal(fit$objective, sum(w * abs(fit$Z)) + fit$params$lambda_e * sum(abs(x1 - fit$Z %*% x1)), tolerance = 1e-9)
    expect_equal(fit$W, (abs(fit$Z) + t(abs(fit$Z))) / 2)
  }
})

test_that("the gap is proved at the optimum; Theta keeps apart what it penalises, NULL is all ones", {
  for (shape in list(c(24, 30), c(30, 9))) {
    x <- represent_x(shape[1L], shape[2L])
    theta <- withr::with_seed(3, matrix(runif(shape[1L]^2), shape[1L]))
    exact <- ufs_represent(x, theta, .4, alpha_e = 4, solver = "exact")
    paper <- ufs_represent(x, theta, .4, alpha_e = 4, solver = "paper")
    admm <- ufs_represent(x, theta, .4, alpha_e = 4, solver = "admm")
    expect_identical(admm$control$tol, 1e-4)
    slow <- ufs_represent(x, theta, .4, alpha_e = 4, tau = 1, rho0 = 10,
      control = ufs_control(max_iter = 20000, tol = 1e-9, warn = FALSE))
    expect_identical(exact$status, "converged")
    expect_lt(exact$certificate[["gap"]], 1e-7)
    expect_equal(slow$objective, exact$objective, tolerance = 1e-6)
    for (near in list(paper, admm)) {
      expect_identical(near$status, "converged")
      expect_gte(near$objective, exact$objective * (1 - 1e-9))
      expect_lte(near$objective * (1 - near$certificate[["gap"]]), exact$objective * (1 + 1e-9))
    }
    expect_lt(admm$objective, paper$objective * 1.005)
    expect_equal(admm$trace, data.frame(iteration = 1L, steps = admm$iterations,
      objective = admm$objective, gap = admm$certificate[["gap"]]))
    expect_identical(ufs_represent(x, theta, .4, alpha_e = 4)$Z, exact$Z)
    expect_lt(slow$certificate[["gap"]], 1e-5)
    lp <- exact$Z
    value <- function(z) {
      rows <- t(ref_unit_columns(t(scale(x))))
      sum((1 + .4 * theta) * abs(z)) + exact$params$lambda_e * sum(abs(rows - z %*% rows))
    }
    expect_equal(exact$objective, value(lp), tolerance = 1e-10)
    for (seed in 1:20) {
      step <- withr::with_seed(seed, matrix(rnorm(length(lp), sd = 1e-3), nrow(lp)))
      diag(step) <- 0
      expect_gte(value(lp + step), exact$objective)
    }
  }
  x <- represent_x(30, 20)
  group <- rep(1:2, 15)
  apart <- outer(group, group, "!=") * 1
  fit <- ufs_represent(x, apart, lambda_z = 1e4, alpha_e = 5, solver = "exact")
  expect_true(all(fit$Z[apart == 1] == 0) && any(fit$Z != 0))
  half <- apart
  half[group == 1, ] <- 0
  for (solver in c("paper", "exact", "admm")) {
    one <- ufs_represent(x, half, lambda_z = 1e4, alpha_e = 5, solver = solver)
    expect_true(all(one$Z[half == 1] == 0) && any(one$Z[group == 1, group == 2] != 0))
  }
  expect_equal(ufs_represent(x)$Z, ufs_represent(x, matrix(1, 30, 30))$Z)
})

test_that("names, progress, warnings, refusals, plots", {
  theta <- matrix(0, 32, 32)
  fit <- ufs_represent(mtcars, theta, alpha_e = 4, solver = "paper")
  expect_identical(dimnames(fit$Z), list(rownames(mtcars), rownames(mtcars)))
  expect_identical(dimnames(fit$E), list(rownames(mtcars), names(mtcars)))
  expect_warning(ufs_represent(mtcars, rho0 = 1, control = ufs_control(max_iter = 5)), class = "ufs_warning_max_iter")
  seen <- 0L
  ufs_represent(mtcars, tau = 1.1, control = ufs_control(progress = function(...) seen <<- seen + 1L))
  expect_gt(seen, 50L)
  run <- function(...) ufs_represent(mtcars, ...)
  expect_arguments(theta = run(theta[-1, ]), theta = run(-1 - theta), lambda_z = run(lambda_z = -1),
    lambda_e = run(lambda_e = 0), alpha_e = run(alpha_e = -1), tau = run(tau = .5), rho0 = run(rho0 = 0),
    solver = run(solver = "lp"))
  expect_refused(run(theta - 1), "`theta` must not have negative entries.")
  expect_error(ufs_represent(replace(as.matrix(mtcars), 3, NA)), class = "ufs_error_input")
  expect_output(print(fit), "above the optimum")
  exact <- ufs_represent(mtcars, solver = "exact")
  expect_output(print(exact), "exact")
  withr::local_pdf(NULL)
  for (type in c("objective", "links")) expect_identical(plot(fit, type), fit)
  expect_identical(plot(exact), exact)
  expect_error(plot(exact, "objective"), class = "ufs_error_argument")
  expect_equal(unname(suppressWarnings(ufs_represent(cbind(mtcars, one = 1)))$Z), unname(ufs_represent(mtcars)$Z))
})

test_that("what it would need is said before it is taken", {
  withr::local_options(ufselect.max_bytes = 8 * 32^2)
  expect_error(ufs_represent(mtcars), "ufs_represent", class = "ufs_error_memory")
})
