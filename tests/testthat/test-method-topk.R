skip_on_cran()

# F2 of the fixtures: 12 features, 18 samples, used raw. What is expected is the paper's ADMM's.
f2_x <- function() t(topk_fixture("f2_X"))
f2_truth <- function() as.integer(topk_fixture("f2_truth"))
f2_fit <- function(...) {
  published("topk", f2_x(), 4, alpha_e = 3, lambda_z = .5, center = FALSE, scale = FALSE,
    nonnegative = FALSE, solver = "paper", ...)
}
f2_partial <- function() replace(f2_truth(), -c(1, 2, 7, 8, 13, 14), NA)

expect_topk <- function(fit) {
  k <- fit$params$k
  s <- fit$solution
  expect_s3_class(fit, c("ufs_topk", "ufs"), exact = TRUE)
  expect_length(unique(s$selected), k)
  expect_identical(sort(unname(fit$feature_ranking[seq_len(k)])), unname(s$selected))
  expect_identical(unname(which(s$v == 1)), unname(s$selected))
  expect_true(all(s$v %in% 0:1) && all(s$A[, s$v == 0] == 0))
  expect_setequal(selected_features(fit, as = "index"), s$selected)
  expect_equal(unname(fit$feature_scores[s$selected]), unname(colSums(s$A^2))[s$selected])
  expect_named(fit$certificate, c("selection_objective", "bound", "gap"))
  if (fit$params$bound) expect_lte(fit$certificate[["bound"]], fit$certificate[["selection_objective"]] + 1e-9)
}

test_that("fixture F2: unsupervised, semi-supervised with and without class masses, supervised", {
  fit <- f2_fit(n_clusters = 3)
  expect_topk(fit)
  s <- fit$solution
  expect_identical(unname(s$selected), as.integer(topk_fixture("f2_unsup_selected")))
  expect_identical(s$cluster, as.integer(topk_fixture("f2_unsup_groups")))
  expect_lt(max(abs(s$A - topk_fixture("f2_unsup_A")), abs(s$W - topk_fixture("f2_unsup_W"))), 1e-8)
  expect_lt(max(abs(s$Theta - topk_fixture("f2_unsup_Theta"))), 1e-8)
  expect_lt(max(abs(fit$feature_scores - topk_fixture("f2_unsup_score"))), 1e-8)
  expected <- topk_expected("f2")
  expect_equal(fit$params$lambda_e, expected$lambda_E, tolerance = 1e-12)
  expect_equal(fit$certificate[["selection_objective"]], expected$unsup_bruteforce, tolerance = 1e-8)
  trace <- utils::read.csv(test_path("fixtures", "topk", "f2_unsup_trace.csv"))
  expect_equal(fit$trace[c("objective", "z_iterations", "z_objective", "v_iterations", "g")],
    trace[c("joint", "sp1_iter", "sp1_obj", "sp2_iter", "sp2_obj")], tolerance = 1e-9, ignore_attr = TRUE)
  expect_equal(fit$trace$theta_change, trace$dTheta, tolerance = 1e-6)
  expect_identical(fit$status, "converged")
  expect_lt(fit$trace$objective[3L], fit$trace$objective[1L])
  expect_true(all(fit$trace$g <= fit$trace$g_admm + 1e-12))
  outer <- c(4L, 5L)
  for (cmn in c(FALSE, TRUE)) {
    fit <- f2_fit(y = factor(f2_partial()), cmn = cmn)
    expect_topk(fit)
    expect_identical(unname(fit$solution$selected), c(2L, 4L, 5L, 6L))
    expect_identical(fit$iterations, outer[1L + cmn])
    ref <- ref_topk(ref_unit_columns(t(f2_x())), 4L, 3L, g = f2_partial(), alpha_E = 3, lambda_Z = .5, cmn = cmn)
    expect_lt(max(abs(fit$solution$A - ref$A), abs(fit$solution$Theta - ref$Theta)), 1e-8)
    expect_lt(max(abs(fit$solution$probability - t(ref$prob))), 1e-8)
    expect_equal(fit$trace$objective, ref$trace$joint, tolerance = 1e-9)
    expect_identical(fit$solution$cluster, as.integer(ref$g))
    expect_identical(as.character(fit$solution$label), as.character(ref$g))
    known <- !is.na(f2_partial())
    expect_identical(fit$solution$cluster[known], f2_truth()[known])
    expect_true(all(fit$solution$reached))
    expect_output(print(fit), "ufs_propagate")
  }
  fit <- f2_fit(y = factor(f2_truth()))
  expect_topk(fit)
  expect_identical(unname(fit$solution$selected), as.integer(topk_fixture("f2_sup_selected")))
  expect_equal(fit$certificate[["selection_objective"]], expected$sup_objective, tolerance = 1e-10)
  expect_lt(max(abs(fit$solution$A - topk_fixture("f2_sup_A"))), 1e-8)
  expect_lt(max(abs(fit$solution$v_cont - topk_fixture("f2_sup_vcont"))), 1e-7)
  expect_null(fit$solution$Z)
  expect_identical(fit$params$lambda_i, 0)
  # The last iterate's set, without the best one before it and the polish.
  expect_identical(sort(order(-fit$solution$v_cont)[1:4]), as.integer(topk_fixture("f2_sup_selected_admm")))
})

test_that("the literal loop: structured supervision, other settings, p > n with standardised columns", {
  X <- ref_unit_columns(t(f2_x()))
  fit <- f2_fit(y = f2_truth(), structured = TRUE)
  ref <- ref_topk(X, 4L, 3L, g = f2_truth(), alpha_E = 3, lambda_Z = .5)
  expect_topk(fit)
  expect_lt(max(abs(fit$solution$A - ref$A)), 1e-8)
  expect_equal(fit$trace$objective, ref$trace$joint, tolerance = 1e-9)
  expect_identical(fit$solution$cluster, f2_truth())
  expect_null(fit$solution$probability)
  fit <- ufs_topk(f2_x(), 3, n_clusters = 2, center = FALSE, scale = FALSE, solver = "paper",
    control = ufs_control(paper = list(lambda_e = .9, lambda_z = .2, lambda_a = .1, lambda_i = 1, alpha = .5, polish = FALSE, bound = FALSE)))
  ref <- ref_topk(X, 3L, 2L, lambda_E = .9, lambda_Z = .2, lambda_A = .1, lambda_I = 1, alpha = .5, polish = FALSE)
  expect_lt(max(abs(fit$solution$A - ref$A)), 1e-8)
  expect_equal(fit$trace$objective, ref$trace$joint, tolerance = 1e-9)
  expect_true(is.na(fit$certificate[["bound"]]))
  fit <- ufs_topk(f2_x(), 3, n_clusters = 2, alpha_e = 3, center = FALSE, scale = FALSE,
    solver = "paper", control = ufs_control(paper = list(lambda_i = 0, bound = FALSE)))
  ref <- ref_topk(X, 3L, 2L, alpha_E = 3, lambda_I = 0)
  expect_equal(fit$trace$objective, ref$trace$joint, tolerance = 1e-9)
  made <- planted(n = 24, p = 60, c = 3)
  fit <- ufs_topk(made$x, 5, n_clusters = 3, alpha_e = 6, solver = "paper",
    control = ufs_control(paper = list(bound = FALSE)))
  ref <- ref_topk(ref_unit_columns(t(scale(made$x))), 5L, 3L, alpha_E = 6)
  expect_topk(fit)
  expect_identical(unname(fit$solution$selected), ref$S)
  expect_lt(max(abs(fit$solution$A - ref$A)), 1e-7)
  expect_lt(max(abs(fit$solution$Z - t(ref$Z)), abs(fit$solution$E - t(ref$E))), 1e-9)
  expect_identical(fit$solution$cluster, ref$g)
  expect_equal(fit$trace$objective, ref$trace$joint, tolerance = 1e-8)
})

test_that("branch and bound proves what brute force finds, and stopped early still reports a valid bound", {
  for (seed in 1:3) {
    made <- planted(n = 20, p = 11, c = 3, informative = 5, seed = seed, gap = 1)
    run <- function(...) ufs_topk(made$x, 3, y = factor(made$cluster), control = ufs_control(paper = list(...)))
    stopped <- run(branch_and_bound = TRUE, node_limit = 4)
    expect_lte(stopped$search$nodes, 4L)
    expect_lte(stopped$certificate[["bound"]], run(branch_and_bound = TRUE)$certificate[["selection_objective"]] + 1e-8)
    expect_gte(stopped$certificate[["bound"]], run()$certificate[["bound"]] - 1e-9)
    if (!stopped$search$proved) expect_gt(stopped$certificate[["gap"]], 1e-9)
  }
  wrong <- 0L
  worked <- 0L
  for (seed in 1:200) {
    made <- withr::with_seed(seed, {
      n <- sample(6:16, 1L)
      p <- sample(4:12, 1L)
      list(x = matrix(rnorm(n * p), n) %*% (diag(p) + .7 * matrix(rnorm(p * p), p) / sqrt(p)),
        y = canonical_labels(c(1:3, sample(3L, n - 3L, TRUE))), k = sample(p - 1L, 1L))
    })
    # The relaxation rounded: often a poor set to start from.
    fit <- ufs_topk(made$x, made$k, y = made$y, solver = "exact",
      control = ufs_control(warn = FALSE, paper = list(polish = FALSE, branch_and_bound = TRUE)))
    X <- ref_unit_columns(t(scale(made$x)))
    Y <- ref_one_hot(made$y, max(made$y))
    brute <- ref_brute(made$k, tcrossprod(X), X %*% t(Y), sum(Y^2), .01)
    worked <- worked + (fit$search$nodes > 0L)
    wrong <- wrong + !(fit$search$proved && abs(fit$certificate[["selection_objective"]] - brute$value) <= 1e-8 *
      (1 + brute$value) && fit$certificate[["bound"]] <= brute$value + 1e-8)
  }
  expect_identical(wrong, 0L)
  expect_gt(worked, 100L)
})

test_that("auto takes linear programmes where links are few, and their claims hold", {
  made <- planted(n = 110, p = 30, c = 3, informative = 6, seed = 2)
  fit <- ufs_topk(made$x, 5, n_clusters = 3)
  expect_identical(fit$params$solver, "exact")
  expect_topk(fit)
  s <- fit$solution
  x <- t(ref_unit_columns(t(scale(made$x))))
  expect_lt(max(abs(x - s$Z %*% x - s$E)), 1e-10)
  last <- nrow(fit$trace)
  # Sub-problem 1 is at its optimum, which the ADMM only comes near.
  expect_lt(max(fit$trace$z_residual), 1e-7)
  paper <- ufs_topk(made$x, 5, n_clusters = 3, solver = "paper")
  expect_lte(fit$trace$z_objective[1L], paper$trace$z_objective[1L] * (1 + 1e-9))
  expect_lt(fit$trace$objective[last], paper$trace$objective[nrow(paper$trace)])
  expect_identical(fit$status, "converged")
  few <- withr::with_seed(1, matrix(rnorm(30 * 200), 30))
  expect_identical(ufs_topk(few, 4, n_clusters = 3, alpha_e = 20)$params$solver, "exact")
  y <- rep(1:3, 10)
  expect_identical(ufs_topk(few, 4, y = y)$params$solver, "paper")
  expect_identical(ufs_topk(few, 4, y = y, control = ufs_control(paper = list(structured = TRUE)))$params$solver, "exact")
  # 150 iterations of the ADMM for v in less than a second, or not.
  plain <- function(n, p) topk_solver(matrix(0, n, p), "plain", 3, list())
  expect_identical(c(plain(2000, 100), plain(100, 500), plain(100, 5000)), c("paper", "paper", "exact"))
  expect_identical(plain(500, 500), "exact")
  made <- planted(n = 300, p = 500, c = 5, informative = 50, seed = 1)
  x <- scale(made$x)
  x <- x / sqrt(rowSums(x^2))
  expect_equal(l1_norms(x), rowSums(abs(x)), tolerance = 1e-14)
  solver <- function(x, alpha_e) {
    topk_solver(x, "cluster", 5, list(lambda_e = alpha_e / max(l1_norms(x)), lambda_z = .05, nonnegative = FALSE))
  }
  expect_identical(c(solver(x, 20), solver(x, 5), solver(x[300:1, ], 20)), c("admm", "exact", "admm"))
  # Many steps of few features: done in no time.
  expect_identical(solver(x[, 1:20] / sqrt(rowSums(x[, 1:20]^2)), 20), "exact")
  # Few links of many samples: seconds, but fewer than the products would take.
  wide <- withr::with_seed(1, matrix(rnorm(1500 * 2000), 1500))
  expect_identical(solver(wide / sqrt(rowSums(wide^2)), 15), "exact")
  # Many more samples than features: most features in every optimum.
  tall <- withr::with_seed(1, matrix(rnorm(2000 * 200), 2000))
  expect_identical(solver(tall / sqrt(rowSums(tall^2)), 10), "admm")
  fit <- ufs_topk(made$x, 5, n_clusters = 5, alpha_e = 20, control = ufs_control(max_iter = 1, warn = FALSE))
  expect_identical(fit$params$solver, "admm")
  # The switch that the benchmarks use, where either takes a second.
  small <- planted(n = 150, p = 300, c = 5, informative = 50, seed = 1)$x
  one_step <- function() ufs_topk(small, 5, n_clusters = 5, alpha_e = 20, solver = "admm",
    control = ufs_control(max_iter = 1, warn = FALSE))
  expect_gt(one_step()$trace$z_residual, 1e-7)
  expect_lt(with_paths_off("topk_admm", one_step())$trace$z_residual, 1e-7)
})

# 150 x 20: the set on which the claims below are recomputed.
made <- planted(n = 150, p = 20, c = 3, informative = 6, seed = 4)

test_that("the running ADMM is the literal iteration", {
  # By features, and by samples.
  for (set in list(made, planted(n = 110, p = 180, c = 3, informative = 20, seed = 4))) {
    n <- nrow(set$x)
    x <- t(ref_unit_columns(t(scale(set$x))))
    for (signed in c(FALSE, TRUE)) {
      fit <- ufs_topk(set$x, 5, n_clusters = 3, solver = "admm", control = ufs_control(max_iter = 1,
        inner_max_iter = 27, inner_tol = 1e-12, warn = FALSE, paper = list(nonnegative = signed, bound = FALSE)))
      ref <- ref_warm(x, matrix(1.05, n, n), fit$params$lambda_e, 27, signed)
      expect_identical(fit$trace$z_iterations, 27)
      expect_gt(sum(ref$Z != 0), n)
      expect_lt(max(abs(fit$solution$Z - ref$Z)), 1e-10)
      expect_equal(fit$trace$z_residual, ref$residual, tolerance = 1e-7)
      expect_identical(fit$status, "max_iter")
    }
  }
  x <- t(ref_unit_columns(t(scale(made$x))))
  # After one iteration Z is still 0 and does not change: the other two residuals count.
  fit <- ufs_topk(made$x, 5, y = replace(made$cluster, -c(1, 60, 120), NA), solver = "admm",
    control = ufs_control(max_iter = 1, inner_max_iter = 1, warn = FALSE, paper = list(nonnegative = FALSE, bound = FALSE)))
  ref <- ref_warm(x, matrix(1.05, 150, 150), fit$params$lambda_e, 1)
  expect_true(all(fit$solution$Z == 0))
  expect_gt(ref$residual, .01)
  expect_equal(fit$trace$z_residual, ref$residual, tolerance = 1e-7)
})

# Objectives, x = Zx + E and the zeros of Z from the returned solution, no worse than the paper's.
expect_warm_claims <- function(fit, paper, x) {
  s <- fit$solution
  last <- nrow(fit$trace)
  expect_lt(max(abs(x - s$Z %*% x - s$E)), 1e-12)
  expect_true(all(diag(s$Z) == 0))
  L <- diag(rowSums(s$W)) - s$W
  P <- s$A %*% t(x)
  Y <- ref_one_hot(s$cluster, 3L)
  g <- sum((Y - P)^2) + .01 * sum(s$A^2) + 3 * sum(diag(P %*% L %*% t(P)))
  expect_equal(fit$certificate[["selection_objective"]], g, tolerance = 1e-9)
  value <- sum(abs(s$Z)) + fit$params$lambda_e * sum(abs(s$E)) +
    .05 * .95 * sum(diag(Y %*% L %*% t(Y))) + .05 * .05 / 3 * g
  expect_equal(fit$trace$objective[last], value, tolerance = 1e-9)
  expect_lt(fit$trace$objective[last], paper$trace$objective[nrow(paper$trace)] * 1.003)
}

test_that("the running ADMM's claims hold on the returned solution, on wide data and for any k, too", {
  x <- t(ref_unit_columns(t(scale(made$x))))
  for (signed in c(FALSE, TRUE)) {
    fit <- ufs_topk(made$x, 5, n_clusters = 3, solver = "admm", control = ufs_control(paper = list(nonnegative = signed)))
    paper <- ufs_topk(made$x, 5, n_clusters = 3, solver = "paper",
      control = ufs_control(paper = list(nonnegative = signed)))
    expect_topk(fit)
    expect_identical(fit$status, "converged")
    expect_warm_claims(fit, paper, x)
    if (signed) expect_true(all(fit$solution$Z >= 0))
    expect_lt(fit$trace$z_residual[nrow(fit$trace)], 1e-4)
    # The paper's count of every outer iteration, against all of them.
    expect_lt(sum(fit$trace$z_iterations), paper$trace$z_iterations[1L])
  }
  made <- planted(n = 80, p = 150, c = 3, informative = 20, seed = 6)
  x <- made$x
  x[80, ] <- x[1, ]
  x[, 150] <- x[, 1]
  x[, 149] <- 2
  z <- scale(x)
  z[, 149] <- 0
  z <- z / sqrt(rowSums(z^2))
  for (k in c(1L, 12L, 149L)) {
    fit <- suppressWarnings(ufs_topk(x, k, n_clusters = 3, solver = "admm"))
    expect_topk(fit)
    expect_warm_claims(fit, suppressWarnings(ufs_topk(x, k, n_clusters = 3, solver = "paper")), z)
    s <- fit$solution
    expect_true(s$v[1L] >= s$v[150L])
    expect_gt(min(s$Z[1, 80], s$Z[80, 1]), .99)
  }
  one <- suppressWarnings(ufs_topk(x[, 1:148], 6, n_clusters = 3, solver = "admm"))$solution
  turn <- c(148:75, 1:74)
  two <- suppressWarnings(ufs_topk(7 * x[, turn], 6, n_clusters = 3, solver = "admm"))$solution
  expect_equal(two$W, one$W, tolerance = 1e-9)
  expect_identical(two$cluster, one$cluster)
  expect_setequal(turn[two$selected], one$selected)
})

test_that("the running ADMM: few and many outer iterations, all modes, both shapes", {
  # The first call is coarse only if others follow.
  one <- ufs_topk(made$x, 5, n_clusters = 3, solver = "admm", control = ufs_control(max_iter = 1, warn = FALSE))
  two <- ufs_topk(made$x, 5, n_clusters = 3, solver = "admm", control = ufs_control(max_iter = 2, warn = FALSE))
  expect_gt(one$trace$z_iterations, 20)
  expect_lt(one$trace$z_residual, 1e-4)
  expect_identical(two$trace$z_iterations[1L], 20)
  expect_lt(one$trace$z_objective, two$trace$z_objective[1L])
  # It goes on until Theta stays, and then Z stays.
  fit <- ufs_topk(made$x, 5, n_clusters = 3, solver = "admm", control = ufs_control(tol = 1e-9))
  last <- nrow(fit$trace)
  expect_identical(list(fit$trace$z_iterations[last], fit$trace$theta_change[last]), list(0, 0))
  expect_identical(fit$trace$z_residual[last], fit$trace$z_residual[last - 1L])
  part <- replace(made$cluster, -c(1:4, 60:64, 120:124), NA)
  for (x in list(made$x, t(made$x[1:26, ])[, 1:26])) {
    y <- rep_len(part, nrow(x))
    if (nrow(x) < 150) y <- rep_len(c(1, 2, NA), nrow(x))
    expect_topk(suppressWarnings(ufs_topk(x, 3, n_clusters = 3, solver = "admm")))
    expect_topk(suppressWarnings(ufs_topk(x, 3, y = y, solver = "admm")))
  }
  expect_topk(ufs_topk(made$x, 4, y = made$cluster, solver = "admm",
    control = ufs_control(paper = list(structured = TRUE))))
  plain <- ufs_topk(made$x, 4, y = made$cluster, solver = "admm")
  expect_true(all(plain$trace$z_iterations == 0))
  expect_identical(plain$solution$selected, ufs_topk(made$x, 4, y = made$cluster, solver = "exact")$solution$selected)
})

test_that("the running ADMM keeps Z exactly where the new weights hardly change its objective", {
  kept <- 0
  for (seed in c(2, 7, 11)) {
    made <- planted(n = 150, p = 20, c = 3, informative = 6, seed = seed)
    fits <- lapply(2:5, function(outer) {
      ufs_topk(made$x, 5, n_clusters = 3, solver = "admm",
        control = ufs_control(max_iter = outer, tol = 1e-12, warn = FALSE, paper = list(bound = FALSE)))
    })
    for (t in seq_len(nrow(fits[[4]]$trace))[-(1:3)]) {
      now <- fits[[t - 2L]]
      moved <- abs(now$solution$Theta - fits[[t - 3L]]$solution$Theta)
      change <- .05 * sum(moved * abs(now$solution$Z)) / now$trace$z_objective[t - 1L]
      expect_identical(fits[[4]]$trace$z_iterations[t] == 0, change <= 1e-4)
      kept <- c(kept, change <= 1e-4)
      if (change > 1e-4) next
      last <- fits[[t - 1L]]
      expect_identical(last$solution[c("Z", "E")], now$solution[c("Z", "E")])
      expect_equal(last$trace$z_objective[t], tolerance = 1e-12,
        sum((1 + .05 * now$solution$Theta) * abs(now$solution$Z)) + last$params$lambda_e * sum(abs(now$solution$E)))
    }
  }
  expect_true(any(kept == 1) && sum(kept == 0) > 1)
})

test_that("Theta is what the help page says, and left out where it is large", {
  for (solver in c("exact", "admm")) {
    run <- function() ufs_topk(made$x, 5, n_clusters = 3, solver = solver)
    kept <- run()
    limited <- function(limit) {
      replaced("topk_theta_limit", limit)
      run()
    }
    left_out <- limited(149L)
    s <- kept$solution
    expect_null(left_out$solution$Theta)
    expect_identical(left_out$solution, s[names(s) != "Theta"])
    expect_identical(dim(limited(150L)$solution$Theta), c(150L, 150L))
    x <- t(ref_unit_columns(t(scale(made$x))))
    expect_equal(unname(s$Theta), unname(.95 * outer(s$cluster, s$cluster, "!=") +
      .05 / 2 * as.matrix(dist(t(s$A %*% t(x))))^2), tolerance = 1e-10)
  }
})

test_that("of shuffled copies the first are chosen; the change of Theta counts what the bound has improved", {
  for (seed in 1:6) {
    made <- planted(n = 24, p = 10, c = 3, informative = 4, seed = seed)
    which <- withr::with_seed(seed, sample(c(1:10, 1:10, 1:5)))
    x <- made$x[, which]
    for (solver in c("paper", "exact")) for (polish in c(TRUE, FALSE)) {
      fit <- ufs_topk(x, 6, y = made$cluster, solver = solver, control = ufs_control(paper = list(polish = polish)))
      for (group in split(seq_along(which), which)) {
        chosen <- group %in% fit$solution$selected
        expect_identical(chosen, seq_along(group) <= sum(chosen))
      }
    }
  }
  improved <- 0L
  for (seed in 1:4) {
    made <- planted(n = 24, p = 12, c = 3, informative = 5, seed = seed)
    fit <- function(max_iter, ...) {
      published("topk", made$x, 4, y = made$cluster, solver = "exact", alpha_e = 6, structured = TRUE, polish = FALSE,
        control = ufs_control(max_iter = max_iter, warn = FALSE), ...)
    }
    before <- fit(1, bound = FALSE)
    after <- fit(2, branch_and_bound = TRUE)
    improved <- improved + !identical(fit(2, bound = FALSE)$solution$selected, after$solution$selected)
    expect_equal(after$trace$theta_change[2], max(abs(after$solution$Theta - before$solution$Theta)), tolerance = 1e-12)
  }
  expect_gt(improved, 0L)
})

test_that("the bound never exceeds the value; k = 1, k = p, one cluster; a constant column without centring", {
  made <- planted(n = 24, p = 14, c = 3, informative = 5, seed = 2)
  x <- made$x
  x[3, ] <- x[3, ] * 1e-9
  y <- replace(made$cluster, -c(1:3, 10:12, 20:22), NA)
  args <- list(center = FALSE, scale = FALSE, alpha_e = 6)
  fit <- do.call(ufs_topk, c(list(x, 4, n_clusters = 3), args))
  s <- fit$solution
  rows <- x / sqrt(rowSums(x^2))
  exact <- do.call(ufs_topk, c(list(x, 4, n_clusters = 3, solver = "exact"), args))$solution
  expect_lt(max(abs(exact$Z %*% rows + exact$E - rows)), 1e-12)
  links <- do.call(ufs_represent, c(list(x), args))
  spread <- function(x) {
    graph <- suppressWarnings(classes = "ufs_warning_graph",
      ufs_graph(x, n_neighbours = 5, weights = "cosine", center = FALSE, scale = FALSE))
    ufs_propagate(graph, y)
  }
  for (k in c(-500, -30, 30, 400)) {
    moved <- x * 2^k
    expect_identical(do.call(ufs_topk, c(list(moved, 4, n_clusters = 3), args))$solution, s)
    expect_identical(do.call(ufs_represent, c(list(moved), args))$Z, links$Z)
    expect_identical(spread(moved)$label, spread(x)$label)
    expect_equal(spread(moved)$probability, spread(x)$probability, tolerance = 1e-12)
  }
  for (seed in 1:5) {
    made <- planted(n = 20, p = 15, c = 3, informative = 5, seed = seed)
    for (lambda_a in c(1e-12, 1e-10)) for (lambda_i in c(3, 1e12)) {
      fit <- ufs_topk(made$x, 4, n_clusters = 3, alpha_e = 6,
        control = ufs_control(warn = FALSE, paper = list(lambda_a = lambda_a, lambda_i = lambda_i)))
      expect_lte(fit$certificate[["bound"]], fit$certificate[["selection_objective"]])
    }
  }
  for (k in c(1, 12)) {
    fit <- ufs_topk(f2_x(), k, n_clusters = 3, alpha_e = 3)
    expect_topk(fit)
    expect_identical(fit$status, "converged")
  }
  expect_lt(abs(fit$certificate[["gap"]]), 1e-9)
  expect_true(all(fit$solution$v == 1))
  one <- ufs_topk(f2_x(), 2, n_clusters = 1, alpha_e = 3, center = FALSE)
  expect_topk(one)
  expect_true(all(one$solution$cluster == 1L))
  withr::with_seed(4, {
    x <- matrix(rnorm(120), 30)
    y <- rep(1:2, c(27, 3))
  })
  expect_silent(fit <- ufs_topk(cbind(x, one = 1.5), 1, y = y, center = FALSE, scale = FALSE))
  expect_identical(selected_features(fit), "one")
  expect_gt(fit$feature_scores[["one"]], 0)
})

test_that("duplicated features and samples, a zero sample; too few links are an error that says what to do", {
  x <- f2_x()
  twice <- ufs_topk(cbind(x, x[, 4]), 4, n_clusters = 3, alpha_e = 3, center = FALSE,
    scale = FALSE, control = ufs_control(paper = list(lambda_z = .5)))
  expect_topk(twice)
  expect_false(all(c(4, 13) %in% twice$solution$selected))
  more <- ufs_topk(x[c(1:18, 3, 9), ], 4, n_clusters = 3, alpha_e = 3)
  expect_topk(more)
  expect_identical(more$solution$cluster[19:20], more$solution$cluster[c(3, 9)])
  x[7, ] <- 0
  zero <- ufs_topk(x, 4, n_clusters = 3, alpha_e = 3, center = FALSE, scale = FALSE,
    control = ufs_control(paper = list(lambda_z = .5)))
  expect_topk(zero)
  expect_true(all(zero$solution$W[7, ] == 0))
  expect_identical(zero$graph[["isolated"]], 1L)
  expect_warning(semi <- ufs_topk(x, 4, y = replace(f2_partial(), 7, NA), alpha_e = 3, center = FALSE, scale = FALSE,
    control = ufs_control(paper = list(lambda_z = .5))), class = "ufs_warning_unreached")
  expect_false(semi$solution$reached[7])
  expect_identical(semi$graph[["unreached"]], sum(!semi$solution$reached))
  expect_equal(unname(semi$solution$probability[7, ]), c(2, 1, 2) / 5)
  expect_refusals("Only 1?[0-9] of 18 samples.*first link appears at alpha_e" = ufs_topk(f2_x(), 4, n_clusters = 3, alpha_e = .9),
    "lambda_e" = ufs_topk(f2_x(), 4, n_clusters = 3, control = ufs_control(paper = list(lambda_e = 1e-3))),
    class = "ufs_error_isolated")
  # With labels it goes on: everyone takes the nearest label, and two warnings say so.
  warnings <- capture_warnings(fit <- ufs_topk(f2_x(), 4, y = f2_partial(), alpha_e = .9))
  expect_match(warnings, "linked to no other", all = FALSE)
  expect_match(warnings, "connected to no labelled", all = FALSE)
  expect_identical(sum(!fit$solution$reached), 12L)
})

test_that("on wide noise the default alpha_e gives way to one that links samples", {
  x <- withr::with_seed(5, matrix(rnorm(30 * 4000), 30))
  expect_message(fit <- ufs_topk(x, 5, n_clusters = 3), class = "ufs_message_alpha_e")
  expect_topk(fit)
  # Half of the samples have a link just above half of the value taken, and fewer below it.
  unit <- t(ref_unit_columns(t(scale(x))))
  linked <- function(alpha_e) {
    lambda_e <- alpha_e / max(rowSums(abs(unit)))
    use <- abs(tcrossprod(unit, sign(unit)))
    diag(use) <- 0
    sum(lambda_e * apply(use, 2L, max) > 1.05)
  }
  half <- fit$params$alpha_e / 2
  expect_gt(half, 5)
  expect_identical(c(linked(half), linked(10), fit$graph[["isolated"]]), c(15L, 0L, 0L))
  expect_identical(ufs_topk(x, 5, n_clusters = 3, alpha_e = fit$params$alpha_e)$solution, fit$solution)
  expect_error(ufs_topk(x, 5, n_clusters = 3, alpha_e = 10), class = "ufs_error_isolated",
    "first link appears at alpha_e")
  expect_error(ufs_topk(x, 5, n_clusters = 3,
    control = ufs_control(paper = list(lambda_e = fit$params$lambda_e * 10 / (2 * half)))),
    class = "ufs_error_isolated")
  expect_silent(ufs_topk(x, 5, n_clusters = 3, control = ufs_control(warn = FALSE)))
})

test_that("bad arguments are refused by name, unfinished loops say so, and another k needs another fit", {
  x <- f2_x()
  run <- function(...) published("topk", x, ...)
  expect_arguments(k = run(n_clusters = 3), k = run(k = 0, n_clusters = 3), k = run(k = 13, n_clusters = 3),
    n_clusters = run(k = 4), n_clusters = run(k = 4, n_clusters = 19),
    n_clusters = run(k = 4, n_clusters = 2, y = f2_truth()), y = run(k = 4, y = f2_truth()[-1]),
    y = run(k = 4, y = rep(NA, 18)), y = run(k = 4, y = factor(f2_partial(), 1:4)),
    structured = run(k = 4, y = f2_partial(), structured = TRUE), lambda_e = run(k = 4, n_clusters = 3, lambda_e = 0),
    alpha_e = run(k = 4, n_clusters = 3, alpha_e = -1), lambda_a = run(k = 4, n_clusters = 3, lambda_a = 0),
    lambda_z = run(k = 4, n_clusters = 3, lambda_z = -1), alpha = run(k = 4, n_clusters = 3, alpha = 1.1))
  # A constant column is chosen only where nothing else is left.
  expect_warning(all <- ufs_topk(cbind(flat = 2, x), k = 13, n_clusters = 3), class = "ufs_warning_constant")
  expect_length(selected_features(all), 13L)
  expect_arguments(branch_and_bound = run(k = 4, n_clusters = 3, bound = FALSE, branch_and_bound = TRUE),
    max_iter = run(k = 4, n_clusters = 3, control = ufs_control(max_iter = 0)))
  expect_error(ufs_topk(x, 4, y = factor(f2_partial(), 1:4)), "'4'")
  expect_warning(fit <- f2_fit(n_clusters = 3, control = ufs_control(inner_max_iter = 100)), "inner_max_iter")
  expect_identical(fit$status, "max_iter")
  replay <- f2_fit(n_clusters = 3, control = ufs_control(max_iter = 4, tol = -1, inner_max_iter = 140, inner_tol = -1,
    warn = FALSE))
  expect_identical(nrow(replay$trace), 4L)
  expect_identical(replay$trace$z_iterations, rep(140, 4))
  expect_identical(nrow(replay$inner$z), 560L)
  fit <- f2_fit(n_clusters = 3)
  expect_setequal(selected_features(fit, as = "index"), c(2, 4, 5, 6))
  expect_identical(selected_features(fit, k = 4), selected_features(fit))
  expect_refused(selected_features(fit, k = 3), "fit again", "ufs_error_refit", "k")
  x <- f2_x()
  expect_identical(predict(fit, x), x[, selected_features(fit, as = "index")])
  expect_error(predict(fit, x, k = 5), class = "ufs_error_refit")
})

test_that("names of samples, features and classes are kept", {
  fit <- ufs_topk(mtcars, 3, y = factor(replace(mtcars$am, 5:30, NA), labels = c("auto", "man")),
    alpha_e = 5, control = ufs_control(warn = FALSE))
  s <- fit$solution
  expect_identical(dimnames(s$A), list(c("auto", "man"), names(mtcars)))
  expect_identical(dimnames(s$W), list(rownames(mtcars), rownames(mtcars)))
  expect_identical(dimnames(s$E), list(rownames(mtcars), names(mtcars)))
  expect_identical(dimnames(s$probability), list(rownames(mtcars), c("auto", "man")))
  expect_named(s$v, names(mtcars))
  expect_named(s$cluster, rownames(mtcars))
  expect_identical(coef(fit), t(s$A))
  x <- planted(40, 9, informative = 4)$x
  y <- factor(planted(40, 9, informative = 4)$cluster)
  expect_error(ufs_topk(x, 2, y = y, include = 1:3), class = "ufs_error_argument", "3 columns")
  expect_length(suppressMessages(selected_features(ufs_topk(x, 4, y = y, exclude = 1:7))), 2L)
  cluster <- selected_features(ufs_topk(x, 4, n_clusters = 3, alpha_e = 20, include = 8:9, exclude = 1), as = "index")
  expect_true(all(8:9 %in% cluster) && !1 %in% cluster)
  x <- as.matrix(iris[seq(1, 150, 3), 1:4])
  settings <- list(lambda_z = 1, nonnegative = FALSE, lambda_e = 1e9)
  expect_null(topk_other_alpha_e(list(x = x), settings, 1, FALSE))
  middle <- stats::median(link_values(x, 1, FALSE))
  expect_equal(topk_other_alpha_e(list(x = x), replace(settings, "lambda_e", 1e-9), 1, FALSE), 2 * middle)
  x <- rbind(x, 20 * x[1:3, ])
  fit <- ufs_topk(x, k = 2, n_clusters = 3)
  fit$graph[["isolated"]] <- 2L
  expect_output(print(fit), "3 clusters, 2 samples without a link")
  apart <- suppressWarnings(ufs_topk(ufs_data(x, max_cor = 0.9), k = 2, n_clusters = 3))
  apart$certificate[["gap"]] <- NA
  apart$search$proved <- FALSE
  expect_output(print(apart), "changed by the ranking: no proof")
  apart$certificate[["bound"]] <- NA
  expect_output(print(apart), "no bound")
})
