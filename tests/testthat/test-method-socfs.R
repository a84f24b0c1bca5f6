skip_on_cran()

# Exactly `outer` plain iterations with `inner` steps each.
replay <- function(x, c, lambda, gamma, init, outer, inner, eps, ...) {
  ufs_socfs(x, c, lambda = lambda, gamma = gamma, init = init, solver = "paper",
    center = FALSE, scale = FALSE, control = ufs_control(max_iter = outer, tol = -1,
      inner_max_iter = inner, inner_tol = -1, eps = eps, warn = FALSE), ...)
}

quiet <- function(...) ufs_control(..., warn = FALSE)

# Never up, by more than rounding.
expect_monotone <- function(objective, slack = 1e-12) expect_true(all(diff(objective) <= slack * abs(objective[-1])))

test_that("the fixture socfs1 is reproduced (p-form)", {
  read <- function(name) {
    unname(as.matrix(utils::read.csv(test_path("fixtures", "socfs", paste0("socfs1_", name, ".csv")), header = FALSE)))
  }
  par <- utils::read.csv(test_path("fixtures", "socfs", "socfs1_par.csv"), header = FALSE)
  par <- as.list(stats::setNames(par[[2]], par[[1]]))
  x <- t(read("X"))
  fit <- replay(x, 2, par$lambda, par$gamma, list(E = read("E0"), F = read("F0"), g = 1), par$outer, par$inner, par$eps)
  expect_equal(fit$solution$V, read("out_V"), tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(fit$solution$E, read("out_E"), tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(fit$solution$F, read("out_F"), tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(fit$trace$objective, drop(read("out_objective")), tolerance = 1e-10)
  out <- read("out_norm_kkt_rank")
  expect_equal(unname(feature_scores(fit)), out[, 1], tolerance = 1e-8)
  expect_equal(unname(fit$feature_key), out[, 2], tolerance = 1e-8)
  expect_identical(order(unname(feature_ranking(fit))), as.integer(out[, 3]))
})

test_that("plain iterations are the paper's, with B, m = c + 2 and full inverses", {
  # p > n (n-form) with a zero and a repeated feature, then n > p (p-form).
  for (shape in list(c(12, 25), c(40, 15))) {
    n <- shape[1]
    p <- shape[2]
    c <- 3L
    x <- centred(socfs_data(n, p, c, 5, n)$x)
    x[, 7] <- 0
    x[, 12] <- x[, 3]
    e <- random_orthonormal(n, c, 1)
    f <- pmax(e, 0)
    draws <- withr::with_seed(2, matrix(rnorm(p * c), p))
    draws[12, ] <- draws[3, ]
    b <- withr::with_seed(3, qr.Q(qr(matrix(rnorm((c + 2) * c), c + 2))))
    want <- ref_socfs_literal(t(x), 1.5, 0.7, draws %*% t(b), b, e, f, rep(1, p), 1e-8, 30, 10)
    expect_warning(fit <- replay(x, c, 1.5, 0.7, list(E = e, F = f, V = draws, g = 1), 30, 10, 1e-8),
      class = "ufs_warning_constant")
    expect_equal(fit$solution$V, want$W %*% want$B, tolerance = 1e-8, ignore_attr = TRUE)
    expect_equal(row_norms(fit$solution$V), row_norms(want$W), tolerance = 1e-8, ignore_attr = TRUE)
    expect_equal(fit$solution$E, want$E, tolerance = 1e-8, ignore_attr = TRUE)
    expect_equal(fit$solution$F, want$F, tolerance = 1e-8, ignore_attr = TRUE)
    gradient <- crossprod(x, want$E - x %*% want$W %*% want$B)
    expect_equal(unname(fit$feature_key)[-7], 2 / 1.5 * row_norms(gradient)[-7], tolerance = 1e-8)
    # The zero column counts too: its V0 in the first value, sqrt(eps) in the others.
    expect_equal(fit$trace$objective, want$objective, tolerance = 1e-10)
    expect_identical(nrow(fit$trace), 31L)
    expect_identical(fit$solution$V[7, ], c(0, 0, 0))
    expect_true(is.na(feature_scores(fit)[[7]]))
    expect_equal(fit$solution$V[12, ], fit$solution$V[3, ], tolerance = 1e-12)
    expect_monotone(fit$trace$objective[-1], 1e-10)
  }
})

test_that("without given weights the plain run starts from those of V, which loses the rows of constant columns", {
  x <- centred(socfs_data(15, 20, 2, 4, 1)$x)
  e <- random_orthonormal(15, 2, 1)
  v <- withr::with_seed(2, matrix(rnorm(40), 20))
  want <- ref_socfs_literal(t(x), 1, 1, v, diag(2), e, pmax(e, 0), NULL, 1e-8, 6, 4)
  fit <- replay(x, 2, 1, 1, list(E = e, V = v), 6, 4, 1e-8)
  expect_equal(fit$solution$V, want$W, tolerance = 1e-9, ignore_attr = TRUE)
  expect_equal(fit$trace$objective, want$objective, tolerance = 1e-10)
  expect_monotone(fit$trace$objective, 1e-10)
  # W is V B' with B orthonormal.
  expect_equal(fit$solution$W, fit$solution$V %*% t(fit$solution$B), ignore_attr = TRUE)
  expect_equal(crossprod(fit$solution$B), diag(2))
  x0 <- cbind(3, x[, 1:6], 5, x[, 7:20])
  v <- withr::with_seed(2, matrix(rnorm(44), 22))
  g <- withr::with_seed(3, runif(22))
  keep <- c(2:7, 9:22)
  want <- replay(x, 2, 1, 1, list(E = e, V = v[keep, ], g = g[keep]), 5, 3, 1e-8)
  got <- suppressWarnings(replay(x0, 2, 1, 1, list(E = e, V = v, g = g), 5, 3, 1e-8))
  expect_equal(got$solution$V[keep, ], want$solution$V, tolerance = 1e-12, ignore_attr = TRUE)
  expect_identical(dim(got$solution$V), c(22L, 2L))
  expect_true(all(got$solution$V[c(1, 8), ] == 0))
})

test_that("polishing a plain run never raises the objective and makes zeros exact", {
  data <- socfs_data(50, 80, 3, 10, 5)
  fit <- function(polish) {
    ufs_socfs(data$x, 3, init = data$label, solver = "paper",
      control = quiet(max_iter = 40, paper = list(polish = polish)))
  }
  rough <- fit(FALSE)
  fine <- fit(TRUE)
  expect_true(all(feature_scores(rough) > 0) && any(feature_scores(fine) == 0))
  expect_equal(fine$trace$objective[seq_len(nrow(rough$trace))], rough$trace$objective, tolerance = 1e-12)
  expect_monotone(fine$trace$objective)
  expect_identical(fine$trace$iteration, 0:fine$iterations)
  expect_identical(unique(fine$trace$solver), c("paper", "exact"))
  expect_lte(fine$certificate[["gap"]], 1e-6)
  # A negative tolerance means the plain run and nothing else.
  plain <- ufs_socfs(data$x, 3, init = data$label, solver = "paper", control = quiet(max_iter = 7, tol = -1))
  expect_identical(plain$iterations, 7L)
  expect_false(plain$params$polish)
  expect_identical(unique(plain$trace$solver), "paper")
  x <- scale(socfs_data(50, 120, 3, 10, 6)$x)
  control <- resolve_control(quiet(), max_iter = 500L, tol = 1e-7, inner_max_iter = 10L, inner_tol = 1e-4)
  lambda <- 0.2 * 2 * max(sqrt(colSums(x^2)))
  problem <- list(x = x, lambda = lambda, gamma = 1, eps = 1e-15)
  start <- list(E = random_orthonormal(50, 3, 1))
  stages <- socfs_stages("exact", lambda, control, 0L, NULL, TRUE)
  runs <- lapply(c(0L, 1L, 5L), function(m) socfs_run(problem, start, stages, control, m))
  for (run in lapply(runs, `[[`, "run")) {
    expect_identical(status_labels[[run$status + 1L]], "converged")
    expect_monotone(run$trace[, "objective"])
    expect_lte(run$counters[["gap"]], 1e-6)
  }
  expect_lt(runs[[3]]$run$iterations, runs[[1]]$run$iterations)
  data <- socfs_data(50, 120, 3, 10, 7)
  warm <- ufs_socfs(data$x, 3, init = data$label, control = quiet(paper = list(warm_irls = 30)))
  expect_identical(warm$trace$solver[c(2, nrow(warm$trace))], c("paper", "exact"))
  expect_monotone(warm$trace$objective)
  expect_lte(warm$certificate[["gap"]], 1e-6)
  path <- ufs_socfs(data$x, 3, init = data$label, control = quiet(paper = list(path = c(0.1, 0.3))))
  expect_monotone(path$trace$objective)
  expect_identical(path$trace$iteration, 0:path$iterations)
  expect_lte(path$certificate[["kkt"]], 1e-4)
  expect_false(path$trace$objective[1] == warm$trace$objective[1])
})

test_that("from lambda_max on every row is zero, with a warning", {
  data <- socfs_data(30, 20, 2, 5, 11)
  rel <- ufs_socfs(data$x, 2, lambda_rel = 0.25, init = data$label)
  expect_equal(rel$params[c("lambda", "lambda_max", "eps")],
    list(lambda = 0.5 * sqrt(29), lambda_max = 2 * sqrt(29), eps = (1e-6 / sqrt(29))^2))
  absolute <- ufs_socfs(data$x, 2, lambda = rel$params$lambda, init = data$label)
  expect_equal(absolute$params$lambda_rel, 0.25)
  expect_equal(feature_scores(absolute), feature_scores(rel))
  for (rel in c(1.01, 5)) {
    expect_warning(fit <- ufs_socfs(data$x, 2, lambda_rel = rel, init = data$label), class = "ufs_warning_zero")
    expect_true(all(fit$solution$V == 0))
    expect_identical(list(fit$certificate[["live_rows"]], fit$certificate[["kkt"]]), list(0, 0))
    expect_true(all(fit$feature_key > 0 & fit$feature_key <= 1))
  }
  # The bound is tight: E from the positive and negative parts of a column x_i spans it, and its
  # row takes (1 - lambda_rel)^2 off the objective.
  below <- ufs_socfs(data$x, 2, lambda_rel = 0.95, init = data$label)
  expect_gte(below$certificate[["live_rows"]], 1)
  expect_lte(min(below$trace$objective), 2 - 0.05^2 + 1e-5)
  irls <- suppressWarnings(ufs_socfs(data$x, 2, lambda_rel = 1.01, init = data$label,
    solver = "paper", control = quiet(tol = -1)))
  expect_lte(max(feature_scores(irls)) * sqrt(29), 1e-4)
})

test_that("equal features share their row, under either solver", {
  data <- socfs_data(40, 20, 3, 6, 12)
  x <- data$x[, c(1:20, 3, 3, 15)]
  fit <- ufs_socfs(x, 3, init = data$label)
  one <- ufs_socfs(data$x, 3, init = data$label)
  expect_equal(unname(fit$solution$V[c(3, 21, 22), ]), unname(one$solution$V[c(3, 3, 3), ]) / 3, tolerance = 1e-12)
  expect_identical(fit$solution$V[15, ], fit$solution$V[23, ])
  expect_equal(fit$trace$objective, one$trace$objective, tolerance = 1e-12)
  expect_identical(fit$params$merged_copies, 3L)
  expect_gte(fit$counts[["gram_columns"]], fit$certificate[["live_rows"]])
  expect_true(all(diff(match(c(3, 21, 22), unname(feature_ranking(fit)))) == 1))
  irls <- ufs_socfs(x, 3, init = data$label, solver = "paper", control = quiet(tol = -1, max_iter = 20))
  expect_identical(irls$params$merged_copies, 0L)
  expect_equal(irls$solution$V[3, ], irls$solution$V[22, ], tolerance = 1e-12)
  # A polished replay from a given V keeps the copies equal too.
  v <- withr::with_seed(1, matrix(rnorm(69), 23))
  polished <- ufs_socfs(x, 3, init = list(E = irls$solution$E, V = v), solver = "paper")
  expect_equal(polished$solution$V[3, ], polished$solution$V[21, ])
  expect_lte(polished$certificate[["gap"]], 1e-6)
})

test_that("the smallest and largest numbers of clusters; no draw is made where a start is given", {
  data <- socfs_data(12, 6, 2, 3, 14)
  expect_warning(one <- ufs_socfs(data$x, 1, control = quiet()), class = "ufs_warning_clusters")
  expect_gt(one$certificate[["live_rows"]], 0)
  expect_identical(ncol(one$solution$E), 1L)
  all <- ufs_socfs(data$x, 12, lambda_rel = 0.05, control = quiet())
  expect_equal(crossprod(all$solution$E), diag(12), tolerance = 1e-12)
  expect_monotone(all$trace$objective)
  expect_identical(length(feature_scores(ufs_socfs(data$x[1:3, 1, drop = FALSE], 2, control = quiet()))), 1L)
  data <- socfs_data(40, 30, 3, 6, 15)
  set.seed(1)
  before <- .Random.seed
  ufs_socfs(data$x, 3, init = data$label)
  ufs_socfs(data$x, 3, init = random_orthonormal(40, 3, 1), control = quiet())
  expect_identical(.Random.seed, before)
  withr::local_options(ufselect.max_bytes = 100)
  expect_error(ufs_socfs(data$x, 3, solver = "paper", init = data$label), class = "ufs_error_memory")
})

# J of a fit, recomputed.
true_objective <- function(fit, x) {
  v <- unname(fit$solution$V)
  e <- unname(fit$solution$E)
  sum((e - scale(x) %*% v)^2) + fit$params$lambda * sum(row_norms(v)) + fit$params$gamma * sum(pmin(e, 0)^2)
}

test_that("from random starts the exact solver ends no higher than the paper's iteration", {
  for (x in list(as.matrix(iris[, 1:4]), socfs_data(90, 13, 3, 8, 19)$x)) {
    for (seed in 1:3) {
      e <- random_orthonormal(nrow(x), 3, seed)
      exact <- ufs_socfs(x, 3, init = e, control = quiet())
      plain <- ufs_socfs(x, 3, init = e, solver = "paper", control = quiet(paper = list(polish = FALSE)))
      polished <- ufs_socfs(x, 3, init = e, solver = "paper", control = quiet())
      expect_lte(true_objective(exact, x), true_objective(plain, x))
      expect_lte(true_objective(exact, x), true_objective(polished, x) * (1 + 1e-7))
      # V = 0 only where the plain iteration ended there too.
      expect_gt(min(sum(feature_scores(plain) > 10 * sqrt(plain$params$eps)), exact$certificate[["live_rows"]]), 0)
      expect_monotone(exact$trace$objective)
      expect_lte(exact$certificate[["gap"]], 1e-6)
    }
  }
})

test_that("V = 0 is not the answer while another V is lower, also where a plain iteration would take seconds", {
  x <- as.matrix(iris[, 1:4])
  for (rel in c(0.3, 0.7)) {
    fit <- function(solver) ufs_socfs(x, 3, lambda_rel = rel, init = rep(1:3, 50), solver = solver, control = quiet())
    plain <- fit("paper")
    exact <- fit("exact")
    expect_gt(min(plain$certificate[["live_rows"]], exact$certificate[["live_rows"]]), 0)
    expect_lte(true_objective(exact, x), true_objective(plain, x) * (1 + 1e-7))
  }
  expect_true(plain_pays(c(100, 1e5)) && plain_pays(c(1e4, 600)))
  expect_false(plain_pays(c(1e5, 2e4)))
  n <- 1300L
  expect_false(plain_pays(c(n, 1900)))
  x <- withr::with_seed(1, matrix(rnorm(n * 1900), n))
  x[, 1:20] <- x[, 1:20] + 3 * outer(rep_len(1:3, n), rep_len(1:3, 20), "==")
  fit <- ufs_socfs(x, 3, init = random_orthonormal(n, 3, 1), control = quiet())
  expect_true(all(fit$trace$solver == "exact"))
  expect_lt(true_objective(fit, x), 2.5)
  expect_gt(fit$certificate[["live_rows"]], 0)
  expect_lte(fit$certificate[["gap"]], 1e-6)
  expect_monotone(fit$trace$objective)
})

test_that("start_rule = 'objective' keeps the lowest objective, and every kind of start works", {
  data <- socfs_data(60, 80, 4, 10, 16, spread = 0.8)
  last <- function(n_starts, ...) {
    set.seed(3)
    fit <- ufs_socfs(data$x, 4, n_starts = n_starts, start_rule = "objective", control = quiet(), ...)
    c(fit$trace$objective[nrow(fit$trace)], fit$params$starts_run)
  }
  expect_lte(last(10)[1], last(1)[1])
  many <- last(6, init = "random")
  expect_identical(many[2], 6)
  expect_lte(many[1], last(1, init = "random")[1])
  set.seed(3)
  expect_identical(ufs_socfs(data$x, 4, control = quiet())$params$starts_run, 1L)
  data <- socfs_data(40, 30, 3, 6, 17)
  e <- indicator(data$label, 3)
  as_labels <- ufs_socfs(data$x, 3, init = data$label)
  for (init in list(factor(letters[data$label]), e, list(E = e))) {
    expect_equal(ufs_socfs(data$x, 3, init = init)$solution, as_labels$solution)
  }
  expect_identical(as_labels$params$init, "labels")
  skew <- e %*% matrix(c(2, 1, 0, 0, 1, 0, 0, 0, 3), 3)
  s <- svd(skew)
  expect_equal(ufs_socfs(data$x, 3, init = skew)$solution, ufs_socfs(data$x, 3, init = tcrossprod(s$u, s$v))$solution)
  expect_identical(as_labels$solution$cluster, max.col(as_labels$solution$E, ties.method = "first"))
  expect_warning(fit <- ufs_socfs(data$x[rep(1:2, 10), ], 3, control = quiet()), class = "ufs_warning_start")
  expect_identical(fit$params$init, "random")
})

test_that("bad arguments are classed errors that name them; a given start stays as it was, names travel", {
  x <- as.matrix(iris[1:20, 1:4])
  run <- function(...) published("socfs", x, ...)
  expect_arguments(n_clusters = run(), n_clusters = run(21), n_clusters = run(2.5), lambda = run(2, lambda = 0),
    warm_irls = run(2, warm_irls = -1), path = run(2, path = c(0.3, 0.1)), path = run(2, path = 1),
    path = run(2, path = numeric()), polish = run(2, polish = NA), eps = run(2, control = ufs_control(eps = c(1, 1))))
  e <- indicator(rep(1:2, 10), 2)
  for (init in list("pca", 1:19, rep(1, 20), rep(1:3, length.out = 20),
      c(NA, rep(1:2, length.out = 19)), NULL, mean, list(), list(F = e), list(e))) {
    expect_arguments(init = run(2, init = init))
  }
  expect_arguments(init = run(2, init = e[, c(1, 1)]), init = run(2, init = e[1:10, ]),
    init = run(2, init = cbind(e, 1)), init = run(2, init = list(E = e, F = -e)),
    init = run(2, init = list(E = e, Q = 1)), `init$F` = run(2, init = list(E = e, F = e[1:3, ])),
    `init$V` = run(2, init = list(E = e, V = matrix(1, 3, 2))), `init$g` = run(2, init = list(E = e, g = 1:3)),
    init = run(2, init = list(E = e, g = -1)))
  expect_equal(run(2, init = 1e-9 * cbind(e, 1)[, 2:3])$solution, run(2, init = cbind(e, 1)[, 2:3])$solution)
  expect_refusals("must have full column rank." = run(2, init = matrix(1, 20, 2)),
    "`init$F` must not be negative." = run(2, init = list(E = e, F = -e)))
  for (unit in c(1e200, 1e-200)) expect_error(ufs_socfs(x * unit, 2, scale = FALSE), class = "ufs_error_input")
  data <- socfs_data(30, 20, 2, 5, 18)
  x <- `dimnames<-`(data$x, list(paste0("s", 1:30), paste0("f", 1:20)))
  init <- list(E = indicator(data$label, 2), V = matrix(0.1, 20, 2), g = rep(1, 20))
  init_keep <- lapply(init, function(m) m + 0)
  fit <- ufs_socfs(x, 2, init = init, solver = "paper", control = quiet(max_iter = 2, paper = list(polish = FALSE)))
  expect_identical(init, init_keep)
  expect_identical(list(fit$status, fit$iterations), list("max_iter", 2L))
  expect_identical(rownames(fit$solution$V), colnames(x))
  expect_identical(rownames(fit$solution$E), rownames(x))
  expect_identical(names(fit$solution$cluster), rownames(x))
  none <- ufs_socfs(x, 2, init = data$label, control = quiet(max_iter = 0))
  expect_identical(list(nrow(none$trace), none$status), list(1L, "max_iter"))
})

test_that("the inner trace descends and agrees with the outer one; copies are named, merged or rescaled", {
  data <- socfs_data(40, 60, 3, 10, 2)
  for (solver in c("exact", "paper")) {
    fit <- ufs_socfs(data$x, 3, init = rep(1:3, length.out = 40), solver = solver,
      control = quiet(max_iter = 15, tol = if (solver == "paper") -1))
    inner <- fit$inner_trace
    expect_named(inner, c("iteration", "step", "objective"))
    expect_identical(sum(inner$step > 0L), as.integer(sum(fit$trace$inner)))
    for (part in split(inner, inner$iteration)) {
      expect_identical(part$step, seq_len(nrow(part)) - 1L)
      expect_monotone(part$objective, 1e-12)
    }
  }
  data <- socfs_data(60, 30, 3, 8, 4)
  x <- data$x
  colnames(x) <- paste0("f", 1:30)
  best <- withr::with_seed(1, ufs_socfs(x, 3, control = quiet()))
  top <- unname(feature_ranking(best)[1:2])
  more <- cbind(x, same = x[, top[1]], third = -x[, top[2]] / 3 + 5)
  fit <- withr::with_seed(1, suppressWarnings(ufs_socfs(more, 3, control = quiet())))
  expect_setequal(fit$copies$feature, c("same", "third"))
  expect_identical(fit$copies$copy_of[match(c("same", "third"), fit$copies$feature)], colnames(x)[top])
  expect_output(print(fit), "2 features are copies of others")
  expect_message(selected_features(fit, sum(feature_scores(fit) > 0)), "same", class = "ufs_message_copies")
  expect_identical(nrow(best$copies), 0L)
  expect_output(print(suppressWarnings(ufs_socfs(cbind(x, copy = x[, 1]), 3, n_starts = 1))),
    "1 feature is a copy of another")
  expect_silent(selected_features(best, 2))
})

test_that("the largest number of iterations is taken; a penalty that chooses nothing is told", {
  fit <- ufs_socfs(iris[, 1:4], 3, init = iris$Species,
    control = quiet(max_iter = .Machine$integer.max, inner_max_iter = .Machine$integer.max))
  expect_identical(fit$status, "converged")
  expect_refused(start_from_list(list(E = 1, Z = 2), NULL, 2), "it holds E, Z", argument = "init")
  expect_error(start_from_list(list(1, 2), NULL, 2), "it holds no names", class = "ufs_error_argument")
  expect_warning(warn_no_choice(list(rel = 0.5, value = 2), 0L, 4), "lambda = 2 (0.5 of lambda_max)",
    class = "ufs_warning_zero", fixed = TRUE)
  expect_warning(warn_no_choice(list(rel = 1, value = 4), 0L, 4), "at or above lambda_max = 4", class = "ufs_warning_zero")
})
