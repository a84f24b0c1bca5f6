# The objective that a fit reports is that of the solution it returns: recomputed in plain R on
# the user's x (helper-objective.R), with and without copies and constant columns.

plain <- planted(24, 14, informative = 6)$x
# Copies of two columns, one of them twice, a column that is constant, and a copy of a sample.
crowded <- cbind(plain[, 1:6], 7, plain[, c(2, 5)], plain[, 7:10], plain[, 2])
crowded <- rbind(crowded, crowded[3, ])
wide <- cbind(crowded, planted(25, 30, informative = 6)$x[, 1:20])

fit_once <- function(method, x, ...) {
  given <- switch(method, facility = , ted = list(m = 5), css = list(k = 5), rsr = list(coefficients = TRUE),
    udfs = list(gamma = .05), sogfs = list(gamma = .01),
    # So that the term beside the orthogonality of F, at most 1e8 times the rounding of its
    # square, can be seen.
    ndfs = list(gamma = 10), list())
  do.call(fit_of, utils::modifyList(c(list(method = method, x = x), given), list(...)))
}

# The constraint x = Zx + E of topk holds up to inner_tol, 1e-6.
expect_objective <- function(method, x, ..., tolerance = if (method == "topk") 1e-5 else 1e-8) {
  fit <- fit_once(method, x, ...)
  expect_equal(objectives[[method]](fit, x), fit$trace$objective[nrow(fit$trace)], tolerance = tolerance)
  fit
}

test_that("every method has its objective in plain R, or a reason why not", {
  expect_setequal(c(names(objectives), names(no_objective)), ufs_methods()$method)
})

for (method in intersect(names(objectives), ufs_methods()$method)) {
  test_that(paste0(method, ": the objective reported is that of the solution returned"), {
    expect_objective(method, plain)
    expect_objective(method, crowded)
    expect_objective(method, wide)
  })
}

# In `crowded` 8 is a copy of 2 and 9 one of 5.
for (method in c("socfs", "jspca", "spca", "ndfs", "rsr", "udfs", "sogfs")) {
  test_that(paste0(method, ": the objective is that of the weighted penalties"), {
    skip_most_on_cran(method)
    for (x in list(plain, crowded, wide)) {
      cost <- seq(1, 2, length.out = ncol(x))
      for (form in if (method == "jspca") list(list(loss = "feature"), list(loss = "sample")) else list(list())) {
        with <- function(...) do.call(fit_once, c(list(method, x), form, list(...)))
        fit <- with(include = c(2, 4, 8), exclude = c(1, 9, 14), cost = cost, budget = 1e6)
        expect_equal(objectives[[method]](fit, x), fit$trace$objective[nrow(fit$trace)], tolerance = 1e-8)
        expect_true(all(fit$constraints$features$by[c("include", "exclude", "cost")] == "solver"))
        w <- fit$solution[[fit$coef_name]]
        if (method %in% c("socfs", "jspca")) w <- fit$solution[[c(socfs = "V", jspca = "Q")[[method]]]]
        expect_true(all(w[c(1, 9, 14), ] == 0))
        expect_true(all(rowSums(w[c(2, 4, 8), ]^2) > 0))
        if ("kkt" %in% names(fit$certificate)) expect_lte(fit$certificate[["kkt"]], if (method == "jspca") .1 else .01)
        same <- with(cost = rep(3, ncol(x)), budget = 1e6)
        none <- with()
        expect_equal(same$feature_scores, none$feature_scores, tolerance = 1e-12)
        expect_equal(same$certificate, none$certificate, tolerance = 1e-10)
      }
    }
  })
}

test_that("socfs and jspca: also for their other solvers and losses; equal columns share their rows of Q", {
  skip_on_cran()
  for (x in list(plain, crowded, wide)) {
    expect_objective("socfs", x, solver = "paper")
    expect_objective("socfs", x, gamma = 10, lambda_rel = .05)
    expect_objective("socfs", x, scale = FALSE)
    for (loss in c("feature", "sample")) {
      expect_objective("jspca", x, loss = loss, scale = FALSE, lambda_rel = .02)
      for (solver in c("exact", "paper")) {
        q <- unname(expect_objective("jspca", x, loss = loss, solver = solver)$solution$Q)
        if (identical(x, crowded)) expect_equal(q[c(8, 14, 9), ], q[c(2, 2, 5), ], tolerance = 1e-9)
      }
    }
  }
})

test_that("pca and kmeans_f: the numbers of the solution are those of plain R", {
  for (x in list(plain, crowded, wide)) {
    fit <- fit_once("pca", x)
    expect_equal(fit$solution$sdev, stats::prcomp(as_seen(fit, x))$sdev[1:2], tolerance = 1e-8)
    fit <- fit_once("kmeans_f", x)
    z <- as_seen(fit, x)
    within <- sum(vapply(split(seq_len(nrow(z)), fit$solution$cluster), function(rows) {
      sum(scale(z[rows, , drop = FALSE], scale = FALSE)^2)
    }, 0))
    expect_equal(fit$solution$within_ss, within, tolerance = 1e-12)
  }
})

test_that("udfs and sogfs: a step over W is that of eigen() where p is 50 times n, the first and the last", {
  skip_on_cran()
  x <- withr::with_seed(6, matrix(stats::rnorm(6 * 300), 6))
  for (method in c("udfs", "sogfs")) {
    one <- function(...) fit_once(method, x, gamma = .01, n_neighbours = 3, ...)
    first <- if (method == "udfs") ufs_control(max_iter = 1, warn = FALSE) else
      ufs_control(max_iter = 1, inner_max_iter = 1, warn = FALSE)
    off <- step_off(one(control = first), x, TRUE)
    expect_lt(abs(off[["value"]]), 1e-10)
    expect_lt(off[["rows"]], 1e-7)
    # SOGFS's graph is the first one in its first iteration only.
    last <- one(control = if (method == "udfs") ufs_control() else ufs_control(max_iter = 1, warn = FALSE))
    off <- step_off(last, x, FALSE)
    expect_lt(abs(off[["value"]]), 1e-4)
    expect_lt(off[["reach"]], 1)
    expect_gt(sum(rowSums(last$solution$W^2) == 0), 250)
  }
})

test_that("rsr and socfs: objective, gap and kkt are those of plain R where p is 50 times n", {
  skip_on_cran()
  x <- withr::with_seed(6, matrix(stats::rnorm(6 * 300), 6))
  for (share in c(.5, .1)) {
    fits <- lapply(list(ufs_control(), ufs_control(max_iter = 3, warn = FALSE),
      ufs_control(max_iter = 2000, tol = 1e-9, warn = FALSE)), function(control) {
      fit_once("rsr", x, lambda_rel = share, control = control)
    })
    value <- vapply(fits, function(fit) {
      found <- recomputed(fit, x)
      expect_equal(found$claimed, found$recomputed, tolerance = 1e-10)
      found$recomputed[found$what == "best"]
    }, 0)
    gap <- vapply(fits, function(fit) fit$certificate[["gap"]], 0)
    # No bound is above the best, which its own residuals prove to be the best.
    expect_lte(max(value * (1 - gap)), min(value))
    expect_gt(rsr_dual(fits[[3L]], x), min(value) * (1 - 1e-5))
  }
  for (solver in c("exact", "paper")) {
    fit <- fit_once("socfs", x, solver = solver)
    found <- recomputed(fit, x)
    expect_lt(max(abs(found$claimed - found$recomputed)), 1e-8)
    expect_lt(fit$certificate[["kkt"]], 1e-3)
  }
})
