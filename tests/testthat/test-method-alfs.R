skip_on_cran()

fixture <- function(name) as.matrix(unname(utils::read.csv(test_path("fixtures", "alfs", name), header = FALSE)))
objective <- function(fit) fit$trace$objective[nrow(fit$trace)]

test_that("fixtures: optimum, exact zeros and the dual; the first iteration and its bound are the literal ones", {
  fit <- alfs_raw(fixture("F1_X.csv"), alpha = .7, beta = .4, lambda = .3, control = ufs_control(tol = 1e-12))
  expect_identical(fit$status, "converged")
  expect_lt(abs(objective(fit) - 2.87953510802469), 1e-9)
  expect_lt(max(abs(fit$solution$W - fixture("F1_W.csv"))), 1e-6)
  s <- c(2, 1.5, 1, .5)
  expect_equal(unname(diag(fit$solution$W)), pmax(2 * s^3 - .7 - .4 - .3 * s, 0) / (2 * s^4), tolerance = 1e-6)
  expect_identical(unname(fit$support), c(3L, 3L))
  expect_identical(unname(fit$solution$W[4, ]), rep(0, 4))
  x <- fixture("F2_X.csv")
  fit <- alfs_raw(x, alpha = 92.128, beta = 98.307, control = ufs_control(tol = 1e-13))
  expect_lt(abs(objective(fit) / 49.4640393585755 - 1), 1e-12)
  expect_lt(max(abs(fit$solution$W - fixture("F2_W.csv"))), 1e-6)
  expect_identical(which(unname(fit$solution$row_norm) == 0), 1:2)
  expect_identical(which(unname(feature_scores(fit)) == 0), 5:6)
  # Where W is not zero the multipliers are fixed.
  expect_lt(max(abs(fit$solution$P[3:8, ] - fixture("F2_P.csv")[3:8, ])), 1e-3)
  expect_lt(max(abs(fit$solution$Q[, 1:4] - fixture("F2_Q.csv")[, 1:4])), 1e-3)
  for (size in list(c(20, 12), c(12, 20), c(15, 15))) for (rel in list(c(.01, .2), c(.3, .05))) {
    x <- alfs_data(size[1], size[2])
    penalty <- unname(rel * ref_alfs_max(x)[1:2])
    fit <- alfs_raw(x, alpha = penalty[1], beta = penalty[2], control = ufs_control(max_iter = 1, warn = FALSE))
    ref <- ref_alfs_first(x, penalty[1], penalty[2])
    expect_equal(fit$trace$current[2], ref[["current"]], tolerance = 1e-9)
    expect_equal(fit$certificate[["dual"]], ref[["dual"]], tolerance = 1e-9)
  }
})

test_that("solver = \"paper\" follows the literal Algorithm 1, which stops only when the objective has settled, too", {
  for (size in list(c(14, 6), c(6, 14))) {
    x <- alfs_data(size[1], size[2], 5)
    for (rel in c(0, .01)) {
      bound <- ref_alfs_max(x)
      a <- ref_alfs_paper(x, .1 * bound[[1]], .1 * bound[[2]], rel * bound[[3]])
      b <- alfs_raw(x, alpha_rel = .1, beta_rel = .1, lambda_rel = rel, solver = "paper")
      expect_identical(b$iterations, a$iterations)
      expect_identical(b$status, "converged")
      expect_lt(rel_diff(unname(b$solution$W), a$w), 1e-6)
      expect_equal(objective(b), a$objective[a$iterations], tolerance = 1e-8)
      mid <- alfs_raw(x, alpha_rel = .1, beta_rel = .1, lambda_rel = rel, solver = "paper", control = polished(40))
      expect_equal(objective(mid), a$objective[40], tolerance = 1e-8)
      expect_output(print(b), "Algorithm 1 stops by its own rule; the gap says what that costs")
      rough <- alfs_raw(x, alpha_rel = .1, beta_rel = .1, lambda_rel = rel, solver = "paper",
        control = ufs_control(tol = 1e-1))
      expect_lt(rough$iterations, b$iterations)
      ours <- alfs_raw(x, alpha_rel = .1, beta_rel = .1, lambda_rel = rel,
        control = ufs_control(tol = 1e-6, max_iter = 5000))
      expect_gte(min(a$objective), ours$certificate[["dual"]])
      expect_lt(objective(ours), objective(b))
      expect_equal(b$certificate[["gap"]], 1 - b$certificate[["dual"]] / objective(b), tolerance = 1e-9)
    }
  }
  # In a large unit W is small, and its copies agree to 1e-3 before the objective has settled.
  x <- 1000 * alfs_data(14, 6, 6)
  bound <- ref_alfs_max(x)
  a <- ref_alfs_paper(x, .1 * bound[[1]], .1 * bound[[2]], .01 * bound[[3]])
  b <- alfs_raw(x, alpha_rel = .1, beta_rel = .1, lambda_rel = .01, solver = "paper")
  expect_gt((abs(diff(a$objective)) / a$objective[-a$iterations])[a$iterations - 2], 1e-3)
  expect_identical(b$iterations, a$iterations)
  expect_equal(objective(b), a$objective[a$iterations], tolerance = 1e-8)
  x <- alfs_data(12, 8, 9)
  x <- rbind(x, x[5, ])
  for (lambda in c(0, .003)) {
    fit <- alfs_raw(x, alpha_rel = .02, beta_rel = .1, lambda_rel = lambda, control = polished(3000))
    score <- unname(fit$solution$row_norm)
    expect_gt(score[5], 0)
    expect_equal(score[5], score[13], tolerance = 1e-5)
  }
})

test_that("P10: W = 0 exactly at its bounds, and not below", {
  x <- alfs_data(14, 9, 10)
  zero <- function(...) suppressWarnings(alfs_raw(x, ...))$support[["samples"]] == 0L
  for (a in c(0, .3, 1)) {
    fit <- suppressWarnings(alfs_raw(x, alpha_rel = a, beta_rel = 1 - a + 1e-12, select_samples = "norm"))
    expect_identical(list(fit$status, fit$iterations), list("converged", 0L))
    expect_true(all(fit$solution$W == 0))
    expect_lt(abs(fit$certificate[["gap"]]), 1e-10)
  }
  at <- suppressWarnings(alfs_raw(x, lambda_rel = 1))
  expect_true(all(at$solution$W == 0))
  expect_identical(at$certificate[["gap"]], 0)
  expect_lt(at$certificate[["kkt"]], 1e-10)
  dual <- ref_alfs_dual(x, at$solution$P, at$solution$Q, at$solution$L, at$params$alpha, at$params$beta, at$params$lambda)
  expect_lte(dual[["weights"]], 1 + 1e-10)
  expect_lt(dual[["equation"]], 1e-10)
  expect_false(zero(alpha = NULL, alpha_rel = .97, beta = 0) || zero(alpha = 0, beta_rel = .97))
  expect_warning(alfs_raw(x, alpha_rel = 1), class = "ufs_warning_zero")
  expect_identical(unname(sample_ranking(fit)), order(-sqrt(rowSums(fit$solution$P^2))))
  expect_warning(alfs_raw(x, alpha_rel = 1e-5, beta_rel = 1e-5), class = "ufs_warning_weak")
})

test_that("a lambda above half of its bound is no proof of W = 0; rows not in use are exactly zero", {
  # Orthogonal samples: a closed form, not zero up to the bound itself.
  s <- c(2, 1.5, 1, .5)
  for (rel in c(.51, .7, .95)) {
    lambda <- rel * 2 * max(s)^2
    fit <- alfs_raw(diag(s), alpha = .1, beta = .1, lambda = lambda, control = ufs_control(tol = 1e-10, max_iter = 5000))
    w <- pmax(2 * s^3 - .2 - lambda * s, 0) / (2 * s^4)
    expect_gt(w[1], 0)
    expect_equal(unname(fit$solution$W), diag(w), tolerance = 1e-6)
  }
  x <- alfs_data(14, 9, 10)
  fit <- suppressWarnings(alfs_raw(x, alpha_rel = .01, beta_rel = .01, lambda_rel = .6))
  dual <- ref_alfs_dual(x, fit$solution$P, fit$solution$Q, fit$solution$L, fit$params$alpha,
    fit$params$beta, fit$params$lambda)
  expect_lte(max(dual[c("rows", "columns", "weights")]), 1 + 1e-10)
  x <- alfs_data(30, 12, 1)
  few <- function(...) alfs_raw(x, alpha_rel = .3, beta_rel = .05, lambda_rel = .01, ...)$support[["samples"]]
  used <- few(control = ufs_control(tol = 1e-8, max_iter = 20000))
  expect_lt(used, 10)
  for (iterations in c(40, 150, 400)) expect_identical(few(control = polished(iterations)), used)
  x <- alfs_data(10, 5)
  refused <- function(...) ufs_alfs(x, control = ufs_control(paper = list(...)))
  expect_refusals(refused(alpha = -1), refused(lambda_rel = NA), refused(n_features = 6),
    "nothing would be selected" = ufs_alfs(x, alpha_rel = 0, beta_rel = 0))
  expect_error(ufs_alfs(1e-120 * x, scale = FALSE), class = "ufs_error_input")
  withr::local_options(ufselect.max_bytes = 4000)
  expect_error(refused(lambda_rel = .01), "without|lambda = 0", class = "ufs_error_memory")
})

test_that("iterations and tolerance are respected; rounds that give their memory back leave the trace alone", {
  x <- alfs_data(12, 6)
  fit <- alfs_raw(x, control = ufs_control(max_iter = 25, tol = -1, warn = FALSE))
  expect_identical(list(fit$iterations, fit$status), list(25L, "max_iter"))
  expect_identical(fit$trace$iteration, 0:25)
  none <- alfs_raw(x, control = ufs_control(max_iter = 0, warn = FALSE))
  expect_true(all(none$solution$W == 0) && none$status == "max_iter")
  x <- sweep(alfs_data(80, 30, 20), 2, rep(c(3, .3), c(6, 24)), "*")
  busy <- function(iteration, objective, change) {
    if (iteration %% 400 == 0) {
      for (size in 10000 + 1:20) numeric(size) + 1
      gc(FALSE)
    }
  }
  # More rows than the trace has room for at first.
  fit <- with_paths_off("alfs_newton", alfs_raw(x, alpha_rel = .05, beta_rel = .05, lambda_rel = .01,
    control = ufs_control(tol = 1e-12, max_iter = 1300, warn = FALSE, progress = busy)))
  expect_gt(fit$iterations, 1100)
  expect_identical(fit$trace$iteration, 0:fit$iterations)
  expect_true(all(diff(fit$trace$objective) <= 0) && all(diff(fit$trace$dual) >= 0))
})

test_that("the bound is that of a feasible pair on the way, too; kkt is that of the W, P, Q and L returned", {
  claims <- function(x, rel, most) {
    basis <- alfs_basis(x)
    penalty <- rel * basis$bound
    for (iterations in most) {
      out <- alfs_call(x, basis, penalty, ufs_control(max_iter = iterations, tol = 1e-6, warn = FALSE))
      dual <- ref_alfs_dual(x, out$p, out$q, out$l, penalty[1], penalty[2], penalty[3])
      expect_lt(dual[["equation"]], 1e-10)
      expect_lte(max(dual[c("rows", "columns", "weights")]), 1 + 1e-10)
      expect_equal(dual[["value"]], as.list(out$run$counters)$dual, tolerance = 1e-8)
    }
  }
  low_rank <- function(m, q, rank, noise) {
    z <- matrix(rnorm(m * rank), m) %*% matrix(rnorm(rank * q), rank)
    scale(z + noise * matrix(rnorm(m * q), m))[, ]
  }
  # More directions than a set has columns: what no column of the set reaches is scaled, too.
  x <- withr::with_seed(3, low_rank(60, 300, 3, .7))
  claims(x, c(.01, .4, .02), c(1, 9:15, 20:22, 60))
  claims(x, c(.01, .2, .005), c(1, 9:15, 20:22, 60))
  # The column that says how far P, Q, L must be scaled is one outside the set.
  claims(withr::with_seed(3, low_rank(40, 200, 12, .5)), c(.001, .8, .001), 15:17)
  # Near W = 0 the split of G leaves room in the bounds of P and Q; the box of L has none.
  for (rel in c(.2, .45, .7)) claims(alfs_data(14, 9, 10), c(rel, rel, .02), c(5, 10, 30, 100))
  for (size in list(c(40, 60), c(60, 20))) {
    x <- alfs_data(size[1], size[2], 21)
    fit <- suppressWarnings(alfs_raw(x, alpha_rel = .05, beta_rel = .05, lambda_rel = .005))
    s <- fit$solution
    g <- 2 * x %*% (t(x) - t(x) %*% s$W %*% t(x)) %*% x - s$L %*% x
    z <- s$W %*% t(x)
    cosine <- abs(tcrossprod(x / sqrt(rowSums(x^2))))
    missed <- c(fit$params$alpha * sum(sqrt(rowSums(s$W^2))) - sum(s$P * s$W), fit$params$beta *
      sum(sqrt(colSums(s$W^2))) - sum(s$Q * s$W), fit$params$lambda * sum(abs(z) / pmax(cosine, 1e-6)) - sum(s$L * z))
    expect_equal(fit$certificate[["kkt"]], max(missed / objective(fit),
      sqrt(sum((g - s$P - s$Q)^2) / sum((2 * tcrossprod(x) %*% x)^2))), tolerance = 1e-6)
  }
})

# What P, Q, L and the trace of a fit claim, in plain R on x as the solver saw it.
expect_proved <- function(fit, x, tol) {
  p <- fit$params
  expect_identical(fit$status, "converged")
  expect_equal(objective(fit), ref_alfs_objective(x, fit$solution$W, p$alpha, p$beta, p$lambda), tolerance = 1e-10)
  dual <- ref_alfs_dual(x, fit$solution$P, fit$solution$Q, fit$solution$L, max(p$alpha, 1e-300),
    max(p$beta, 1e-300), p$lambda)
  expect_lt(dual[["equation"]], 1e-9)
  expect_lte(max(dual[c(if (p$alpha > 0) "rows", if (p$beta > 0) "columns", "weights")]), 1 + 1e-10)
  expect_equal(dual[["value"]], fit$certificate[["dual"]], tolerance = 1e-8)
  expect_lte(fit$certificate[["gap"]], tol)
  expect_gte(fit$certificate[["gap"]], -1e-10)
  expect_true(all(diff(fit$trace$objective) <= 0) && all(diff(fit$trace$dual) >= 0))
  expect_identical(unname(fit$support), c(sum(fit$solution$row_norm > 0), sum(feature_scores(fit) > 0)))
}

test_that("Newton's method reaches small gaps in few iterations, and its answer is ADMM's", {
  blocks <- sweep(alfs_data(40, 60, 20), 2, rep(c(3, .3), c(6, 54)), "*")
  for (x in list(blocks, alfs_data(50, 12, 3), alfs_data(20, 35, 4), alfs_data(30, 8, 5)[, c(1:8, 3)])) {
    for (rel in list(c(.05, .05, .003), c(.2, .1, .001), c(.05, .2, .01))) {
      fit <- suppressWarnings(alfs_raw(x, alpha_rel = rel[1], beta_rel = rel[2],
        lambda_rel = rel[3], control = ufs_control(tol = 1e-7, max_iter = 3000)))
      expect_proved(fit, x, 1e-7)
      expect_lt(fit$iterations, 300)
      value <- unlist(fit$params[c("alpha", "beta", "lambda")], use.names = FALSE)
      admm <- with_paths_off("alfs_columns", alfs_call(x, alfs_basis(x), value,
        ufs_control(max_iter = 1500, tol = 1e-3)))$run$counters
      expect_gte(admm[["objective"]], fit$certificate[["dual"]])
      expect_lte(admm[["dual"]], objective(fit))
    }
  }
  # Its steps do not depend on the unit, the order of samples and features, or signs.
  args <- list(alpha_rel = .05, beta_rel = .05, lambda_rel = .003, control = ufs_control(tol = 1e-9))
  run <- function(x) do.call(alfs_raw, c(list(x), args))
  w <- unname(run(blocks)$solution$W)
  expect_lt(rel_diff(64 * unname(run(64 * blocks)$solution$W), w), 1e-3)
  rows <- withr::with_seed(1, sample(40))
  cols <- withr::with_seed(2, sample(60))
  expect_lt(rel_diff(unname(run(blocks[rows, cols])$solution$W), w[rows, cols]), 1e-3)
  sign_r <- rep_len(c(1, -1, -1), 40)
  expect_lt(rel_diff(unname(run(sign_r * blocks)$solution$W), sign_r * w), 1e-3)
})

test_that("lambda > 0: one penalty alone, constant and zero data, a stop on the way, few iterations", {
  x <- alfs_data(40, 25, 6)
  rows <- alfs_raw(x, alpha_rel = .1, beta = 0, lambda_rel = .005)
  cols <- alfs_raw(x, alpha = 0, beta_rel = .1, lambda_rel = .005, control = ufs_control(tol = 1e-6))
  expect_proved(rows, x, 1e-3)
  expect_proved(cols, x, 1e-6)
  expect_identical(cols$support[["samples"]], 40L)
  holes <- x
  holes[7, ] <- 0
  holes[, 9] <- 0
  fit <- suppressWarnings(alfs_raw(holes, alpha_rel = .05, beta_rel = .05, lambda_rel = .003,
    control = ufs_control(tol = 1e-6)))
  expect_lte(fit$certificate[["gap"]], 1e-6)
  expect_identical(unname(fit$solution$W[7, ]), numeric(25))
  expect_true(is.na(feature_scores(fit)[[9]]))
  for (most in c(1, 10, 21, 23, 27)) {
    stopped <- alfs_raw(x, alpha_rel = .05, beta_rel = .05, lambda_rel = .003,
      control = ufs_control(tol = 1e-12, max_iter = most, warn = FALSE))
    expect_identical(c(stopped$iterations, nrow(stopped$trace)), as.integer(c(most, most + 1)))
    expect_identical(stopped$status, "max_iter")
    expect_identical(stopped$trace$iteration, 0:most)
  }
  taken <- function(n, p, seed, tol) {
    alfs_raw(alfs_data(n, p, seed), alpha_rel = .05, beta_rel = .05, lambda_rel = .003,
      control = ufs_control(tol = tol))$iterations
  }
  # Without Newton's method 185, without balance 57 and 315.
  expect_lt(taken(40, 25, 7, 1e-8), 80)
  expect_lt(taken(30, 60, 8, 1e-4), 45)
  expect_lt(taken(30, 60, 8, 1e-8), 160)
})

test_that("many columns: the optimum and its dual", {
  # 10 samples, structure in 30 of 200 columns.
  x <- sweep(alfs_data(10, 200, 21), 2, rep(c(2, .4), c(30, 170)), "*")
  basis <- alfs_basis(x)
  bound <- basis$bound
  run <- function(rel, tol = 1e-8, most = 4000L) {
    out <- alfs_call(x, basis, c(rel * bound[1:2], 0), ufs_control(max_iter = most, tol = tol))
    c(out, out$run, as.list(out$run$counters))
  }
  for (rel in list(c(.01, .2), c(.3, .4), c(.3, .05), c(0, .3))) {
    fit <- run(rel)
    expect_identical(fit$status, 0L)
    expect_equal(fit$objective, ref_alfs_objective(x, fit$w, rel[1] * bound[[1]], rel[2] * bound[[2]]), tolerance = 1e-12)
    dual <- ref_alfs_dual(x, fit$p, fit$q, NULL, max(rel[1], 1e-300) * bound[[1]], rel[2] * bound[[2]])
    expect_lt(dual[["equation"]], 1e-10)
    expect_lte(max(dual[if (rel[1] > 0) c("rows", "columns") else "columns"]), 1 + 1e-10)
    expect_equal(dual[["value"]], fit$dual, tolerance = 1e-9)
    expect_lte(fit$gap, 1e-8)
    expect_true(all(diff(fit$trace[, "objective"]) <= 0))
    expect_identical(fit$trace[nrow(fit$trace), "iteration"], c(iteration = fit$iterations + 0))
  }
  base <- run(c(.05, .2))
  stopped <- run(c(.05, .2), most = 7L)
  expect_identical(c(stopped$status, stopped$iterations), c(1L, 7L))
  expect_lte(stopped$dual, base$objective)
  # Wherever a run stops it is certified there: the longer it ran, the more is proved.
  ended <- lapply(c(1L, 3L, 7L, 18L), function(most) run(c(.05, .2), most = most))
  for (fit in ended) {
    expect_equal(fit$objective, ref_alfs_objective(x, fit$w, .05 * bound[[1]], .2 * bound[[2]]), tolerance = 1e-12)
    dual <- ref_alfs_dual(x, fit$p, fit$q, NULL, .05 * bound[[1]], .2 * bound[[2]])
    expect_equal(dual[["value"]], fit$dual, tolerance = 1e-9)
  }
  expect_true(all(diff(vapply(ended, `[[`, 0, "dual")) > 0) && all(diff(vapply(ended, `[[`, 0, "objective")) < 0))
})

test_that("`current` and residuals are those of each iteration; pivots are greedy TED picks in a growing pool", {
  # Small numbers: a residual is relative, whatever the unit.
  x <- alfs_data(11, 7, 23) / 100
  bound <- ref_alfs_max(x)
  for (lambda in c(0, .01 * bound[[3]])) {
    paper <- function(n) {
      alfs_raw(x, alpha = .1 * bound[[1]], beta = .1 * bound[[2]], lambda = lambda,
        solver = "paper", control = polished(n))
    }
    whole <- paper(30)
    expect_identical(whole$trace$iteration, 0:30)
    expect_identical(whole$trace$current, whole$trace$objective)
    literal <- ref_alfs_paper(x, .1 * bound[[1]], .1 * bound[[2]], lambda, 30, stop = FALSE)
    expect_equal(whole$trace$current[-1], literal$objective, tolerance = 1e-8)
    far <- function(a) sqrt(sum((literal$w - a)^2) / max(sum(literal$w^2), sum(a^2)))
    last <- whole$certificate
    before <- ref_alfs_paper(x, .1 * bound[[1]], .1 * bound[[2]], lambda, 29, stop = FALSE)
    expect_equal(last[["primal_rows"]], far(before$what), tolerance = 1e-6)
    expect_equal(last[["primal_columns"]], far(before$wtilde), tolerance = 1e-6)
    if (lambda > 0) {
      expect_equal(last[["primal_weights"]], sqrt(sum((literal$wx - before$z)^2) / sum(literal$wx^2)), tolerance = 1e-6)
    }
    expect_equal(paper(10)$trace$current, whole$trace$current[1:11], tolerance = 1e-12)
  }
  x <- alfs_data(12, 30, 17)
  by_norm <- withr::with_seed(3, sample(30))
  plain <- pivot_order(x, by_norm)
  expect_identical(plain, ref_pivot_order(x, by_norm, 450L, 500L))
  expect_identical(plain[1:8], by_norm[ted_greedy(t(x[, by_norm]), 8L, mean(colSums(x^2)) / 11)$order])
  stepped <- pivot_order(x, by_norm, first = 10L, most = 7L)
  expect_identical(stepped, ref_pivot_order(x, by_norm, 10L, 7L))
  expect_true(all(stepped[1:2] %in% by_norm[1:10]) && all(stepped[3:4] %in% by_norm[1:20]))
  expect_setequal(stepped, 1:30)
  expect_identical(stepped[8:30], setdiff(by_norm, stepped[1:7]))
  # The loudest columns stand behind the first 450: nobody may pick them before pick 91.
  x <- withr::with_seed(4, cbind(matrix(rnorm(30 * 450), 30), matrix(rnorm(30 * 60, sd = 6), 30)))
  order <- pivot_order(x, 1:510)
  expect_true(all(order[1:90] <= 450) && order[91] > 450)
  expect_setequal(order, 1:510)
})

test_that("select and samples change rankings, and the scores with them", {
  x <- alfs_data(30, 16, 18)
  x[, 4] <- 1
  norm <- suppressWarnings(ufs_alfs(x, select_samples = "norm"))
  fit <- suppressWarnings(ufs_alfs(x, select = "pivot", select_samples = "ted"))
  expect_identical(fit$solution[c("row_norm", "column_norm")], norm$solution[c("row_norm", "column_norm")])
  expect_identical(unname(feature_scores(fit))[feature_ranking(fit)], c(15:1 / 15, NA))
  expect_identical(unname(sample_scores(fit))[sample_ranking(fit)], 30:1 / 30)
  expect_false(identical(feature_ranking(fit), feature_ranking(norm)))
  expect_identical(unname(feature_ranking(fit))[16], 4L)
  for (k in c(1, 5, 15)) {
    expect_silent(chosen <- selected_features(fit, k, as = "index"))
    expect_identical(chosen, unname(feature_ranking(fit))[seq_len(k)])
  }
  data <- scale(x[, -4])
  space <- function(k) data[, match(selected_features(fit, k, as = "index"), (1:16)[-4]), drop = FALSE]
  picks <- function(k) {
    z <- space(k)
    ted_greedy(z, 30L, .01 * mean(rowSums(z^2)))$order
  }
  expect_identical(fit$params$n_features, 7L)
  expect_identical(selected_samples(fit, 10, as = "index"), picks(7)[1:10])
  expect_identical(selected_samples(fit, 10, as = "index", k = 3), picks(3)[1:10])
  expect_setequal(selected_samples(fit, 30), 1:30)
  known <- c(2L, 11L)
  more <- suppressWarnings(ufs_alfs(x, select = "pivot", select_samples = "ted", labelled = known))
  z <- space(7)
  given <- ted_greedy(z, 28L, .01 * mean(rowSums(z^2)), open = list(labelled = known))$order
  expect_identical(selected_samples(more, 28, as = "index"), given)
  expect_false(identical(given, setdiff(picks(7), known)))
  expect_refusals("without a label" = selected_samples(more, 29, k = 3), selected_samples(fit, 3, k = 16),
    selected_samples(norm, 3, k = 2), selected_samples(fit, 31))
  cover <- suppressWarnings(ufs_alfs(x, select = "pivot", select_samples = "facility"))
  expect_identical(selected_samples(cover, 30, as = "index"), facility_order(space(7), 30L))
  expect_identical(selected_samples(cover, 5, as = "index", k = 3), facility_order(space(3), 5L))
  expect_output(print(cover), "samples by facility location")
  expect_output(print(norm), "worse than chance")
  expect_identical(selected_samples(suppressWarnings(ufs_alfs(x, select = "pivot")), 9), selected_samples(fit, 9))
})

test_that("Algorithm 1 with a constant penalty converges, as Theorem 3.1 says; its schedule is open", {
  x <- alfs_data(15, 8, 6)
  x <- x / svd(x)$d[1]
  bound <- ref_alfs_max(x)
  for (rel in c(0, .01)) {
    run <- function(...) alfs_raw(x, alpha = .1 * bound[[1]], beta = .1 * bound[[2]], lambda = rel * bound[[3]], ...)
    constant <- run(solver = "paper", rho0 = .1, tau = 1, control = polished(4000))
    ours <- run(control = ufs_control(tol = 1e-7, max_iter = 20000))
    expect_lt(objective(constant) / ours$certificate[["dual"]] - 1, 1e-4)
    residual <- as.matrix(constant$trace[c("rows", "columns", if (rel > 0) "weights")])
    expect_lt(max(residual[4001, ]), 1e-4)
    expect_true(all(residual[4001, ] < 1e-2 * residual[11, ]))
    expect_identical(run(solver = "paper")$trace, run(solver = "paper", rho0 = 1e-6, tau = 1.1, rho_max = 1e10)$trace)
    early <- run(solver = "paper", rho_max = 1e-3, control = polished(200))
    expect_false(isTRUE(all.equal(early$trace$current, run(solver = "paper", control = polished(200))$trace$current)))
  }
  expect_refusals(run(rho0 = 1), run(solver = "paper", tau = .9), run(solver = "paper", rho0 = 1, rho_max = .1))
})

test_that("select = \"auto\" takes pivots where they keep more neighbours", {
  # Ten copies of one loud signal, five quiet independent ones: norms take the copies.
  x <- withr::with_seed(1, cbind(rnorm(60) + matrix(rnorm(600, sd = .05), 60), matrix(rnorm(300), 60)))
  fit <- ufs_alfs(x, select = "auto", control = ufs_control(paper = list(n_features = 6)))
  expect_identical(fit$params$select, "pivot")
  near <- function(columns) nearest(scale(x)[, columns], 5L)
  gain <- neighbour_overlap(near(1:15), near(selected_features(fit, 6))) -
    neighbour_overlap(near(1:15), near(selected_features(ufs_alfs(x), 6)))
  expect_equal(fit$params$overlap_gain, gain)
  # One signal only: nothing to gain, norms stay.
  same <- ufs_alfs(x[, 1:10], select = "auto", control = ufs_control(paper = list(n_features = 10)))
  expect_identical(same$params$select, "norm")
  expect_identical(feature_ranking(same), feature_ranking(ufs_alfs(x[, 1:10])))
})

test_that("representatives are the largest entries of W X", {
  fit <- ufs_alfs(mtcars, alpha_rel = .2, beta_rel = .05)
  weight <- fit$solution$W %*% t(scale(as.matrix(mtcars)))
  got <- representatives(fit, mtcars, n = 4)
  expect_error(representatives(fit, mtcars, k = 4), "`k`", class = "ufs_error_argument")
  expect_identical(unique(got$sample), rownames(mtcars))
  for (name in rownames(mtcars)[c(1, 17, 32)]) {
    best <- sort(-abs(weight[, name]))[1:4]
    one <- got[got$sample == name, ]
    expect_identical(one$representative, names(best))
    expect_equal(one$weight, unname(weight[names(best), name]))
    expect_equal(one$share, unname(-best / sum(abs(weight[, name]))))
  }
  few <- representatives(fit, mtcars[5:6, 11:1], n = 2, m = 3)
  expect_true(all(few$representative %in% selected_samples(fit, 3)))
  expect_identical(few$sample, rep(rownames(mtcars)[5:6], each = 2))
  one <- representatives(fit, mtcars, m = 1)
  expect_identical(unique(one$representative), selected_samples(fit, 1))
  expect_equal(one$share, rep(1, 32))
  expect_identical(nrow(representatives(suppressWarnings(ufs_alfs(mtcars, alpha_rel = 1)), mtcars)), 0L)
  expect_error(representatives(ufs_pca(mtcars, 2), mtcars), class = "ufs_error_argument")
  x <- as.matrix(mtcars)
  expect_refused(representatives(fit, replace(x, 3, NA)), "`x` has missing or infinite values.", "ufs_error_input")
  bare <- representatives(ufs_alfs(unname(x), alpha_rel = .2, beta_rel = .05), unname(x), n = 4)
  expect_type(bare$sample, "integer")
  expect_identical(rownames(x)[bare$representative], got$representative)
  expect_identical(rownames(x)[bare$sample], got$sample)
})

test_that("rows beyond those asked for come after the picks; what is printed on the way is what the trace keeps", {
  x <- withr::with_seed(1, matrix(rnorm(60), 12))
  order <- ufselect:::ted_order(x, 3L)
  expect_identical(sort(order), 1:12)
  expect_identical(order[1:3], ufselect:::ted_order(x, 12L)[1:3])
  expect_identical(sort(ufselect:::ted_order(x, 3L, given = c(2L, 5L))), setdiff(1:12, c(2L, 5L)))
  x <- withr::with_seed(1, matrix(rnorm(20 * 120), 20) %*% diag(runif(120, 5, 50)))
  for (data in list(x, x[, 1:12])) {
    lines <- capture.output(fit <- ufs_alfs(data, scale = FALSE,
      control = ufs_control(verbose = TRUE, warn = FALSE, paper = list(lambda_rel = .001))))
    lines <- grep("^alfs +[0-9]+ +objective", lines, value = TRUE)
    expect_gt(length(lines), 3L)
    shown <- utils::read.table(text = lines)
    kept <- fit$trace[match(shown$V2, fit$trace$iteration), ]
    expect_equal(shown$V4, kept$objective, tolerance = 1e-6)
    # The bound only rises: the row of the trace may have one that came after the line. Three digits.
    expect_true(all(shown$V6 > kept$gap * .995))
    expect_lte(sum(shown$V6 > kept$gap * 1.005), 2L)
  }
})
