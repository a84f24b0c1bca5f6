skip_on_cran()

test_that("greedy: the ranking is the order of the picks; m ranks the rest by the next decrease and says so", {
  x <- sample_data(30, 8)
  fit <- raw(ufs_ted, x, mu = 2)
  ref <- ref_ted_greedy(x, 30L, 2)
  # The last picks share what rounding leaves; the first ones are decided by data.
  expect_identical(unname(sample_ranking(fit))[1:12], ref$order[1:12])
  expect_identical(selected_samples(fit, 5), ref$order[1:5])
  rotation <- qr.Q(qr(withr::with_seed(2, matrix(stats::rnorm(64), 8))))
  expect_identical(selected_samples(raw(ufs_ted, x %*% rotation, mu = 2), 8), ref$order[1:8])
  expect_equal(unname(fit$statistic)[ref$order[1:12]], ref$score[1:12], tolerance = 1e-10)
  x <- sample_data(20, 5)
  full <- raw(ufs_ted, x, mu = 1)
  part <- raw(ufs_ted, x, mu = 1, m = 4)
  expect_identical(sample_ranking(part)[1:4], sample_ranking(full)[1:4])
  expect_identical(sample_ranking(part)[5], sample_ranking(full)[5])
  expect_true(all(diff(unname(part$statistic)[unname(sample_ranking(part))[5:20]]) <= 1e-9))
  expect_silent(selected_samples(part, 4))
  expect_message(selected_samples(part, 5), class = "ufs_message_partial")
})

test_that("convex: the gap certifies, closed forms, the same optimum, zero at its bound with a warning", {
  for (size in list(c(20, 6), c(12, 30))) {
    x <- sample_data(size[1], size[2])
    bound <- max(2 * sqrt(rowSums(tcrossprod(x)^2)))
    for (share in c(0.02, 0.2)) {
      fit <- raw(ufs_ted, x, form = "convex", mu_rel = share, control = ufs_control(tol = 1e-7, max_iter = 5000))
      ref <- ref_ted_convex(x, share * bound, 1500L)
      expect_equal(fit$params$mu, share * bound, tolerance = 1e-12)
      expect_identical(fit$status, "converged")
      expect_true(fit$certificate[["gap"]] <= 1e-7 && fit$certificate[["gap"]] > -1e-10)
      expect_equal(ref$objective, fit$trace$objective[nrow(fit$trace)], tolerance = 1e-6)
      expect_gt(ref$objective, fit$certificate[["dual"]] * (1 - 1e-10))
      expect_lt(max(abs(sample_scores(fit) - ref$row_norm)), 1e-3 * max(ref$row_norm))
    }
  }
  size <- c(3, 2, 1.5, 1, 0.4)
  fit <- raw(ufs_ted, diag(size), mu = 3, form = "convex", control = ufs_control(tol = 1e-9))
  expect_equal(unname(sample_scores(fit)), pmax(1 - 3 / (2 * size^2), 0), tolerance = 1e-6)
  expect_identical(sum(sample_scores(fit) == 0), 2L)
  # Zeros rank by how close they are to entering: 2 s^2 / mu.
  expect_identical(unname(sample_ranking(fit)), 1:5)
  x <- sample_data(18, 5)
  expect_warning(fit <- raw(ufs_ted, x, form = "convex", mu_rel = 1), class = "ufs_warning_zero")
  expect_true(all(sample_scores(fit) == 0))
  expect_identical(unname(sample_ranking(fit))[1], which.max(rowSums(tcrossprod(x)^2)))
})

test_that("labelled samples are complemented, never picked, out of many columns too; flags need the right length", {
  x <- sample_data(20, 6)
  rownames(x) <- paste0("s", 1:20)
  given <- c(3L, 11L, 17L)
  for (form in c("n", "p")) {
    all <- ref_ted_greedy(x, 17L, 2, given)
    out <- ted_greedy(x, 17L, 2, form, list(labelled = given))
    expect_identical(out$order, all$order)
    expect_equal(out$score, all$score, tolerance = 1e-9)
    expect_equal(out$start, ref_ted_objective(x, given, 2), tolerance = 1e-10)
  }
  fit <- raw(ufs_ted, x, labelled = given)
  expect_equal(fit$trace$objective[1] + fit$trace$decrease[1],
    ref_ted_objective(x, given, fit$params$mu), tolerance = 1e-10)
  for (same in list(rownames(x)[given], seq_len(20) %in% given, rev(given))) {
    expect_identical(sample_ranking(raw(ufs_ted, x, labelled = same)), sample_ranking(fit))
  }
  expect_refusals(selected_samples(fit, 18), ufs_ted(x, labelled = 21), ufs_ted(x, labelled = given, m = 18))
  # What was chosen first is not chosen again: the same order in two steps.
  whole <- raw(ufs_ted, x)
  expect_identical(selected_samples(raw(ufs_ted, x, labelled = selected_samples(whole, 8)), 6),
    selected_samples(whole, 14)[9:14])
  expect_output(print(fit), "3 samples, which the picks complement")
  for (flags in list(c(TRUE, FALSE), rep(1, 20), rep(TRUE, 21))) {
    expect_error(ted_greedy(sample_data(20, 6), 3L, 1, open = list(allowed = flags)), "internal error")
  }
  x <- sample_data(280, 264)
  given <- c(2L, 77L)
  all <- ref_ted_greedy(x, 3L, 50, given)
  out <- ted_greedy(x, 3L, 50, "p", list(labelled = given))
  expect_identical(out$order, all$order)
  expect_equal(out$score, all$score, tolerance = 1e-8)
})

test_that("unit = TRUE is TED of the directions; values whose squares are no numbers are refused in words", {
  x <- sample_data(20, 6)
  x[4, ] <- 30 * x[4, ]
  z <- x / sqrt(rowSums(x^2))
  for (form in c("greedy", "convex")) {
    fit <- raw(ufs_ted, x, form = form, unit = TRUE)
    expect_identical(sample_ranking(fit), sample_ranking(raw(ufs_ted, z, form = form)))
    expect_equal(raw(ufs_ted, x * rep(1:5, 4), form = form, unit = TRUE)$sample_scores,
      fit$sample_scores, tolerance = 1e-8)
  }
  expect_identical(raw(ufs_ted, x, unit = FALSE)$sample_ranking[[1]], 4L)
  expect_false(raw(ufs_ted, x, unit = TRUE)$sample_ranking[[1]] == 4L)
  expect_true(raw(ufs_ted, x, unit = TRUE)$params$unit)
  x <- sample_data(12, 5)
  for (by in c(1e155, 1e-170, 5e-320)) {
    for (fit in list(ufs_ted, ufs_rrss, ufs_alnr, ufs_cur)) expect_error(raw(fit, x * by), class = "ufs_error")
    expect_error(raw(ufs_ted, x * by, form = "convex"), class = "ufs_error_input")
    expect_error(raw(ufs_ted, x * by), if (by > 1e-300) "scale = TRUE" else "ends of double", class = "ufs_error_input")
  }
  expect_identical(sample_ranking(ufs_ted(x * 1e155)), sample_ranking(ufs_ted(x)))
})

test_that("picks in advance are the picks one by one, whoever was not followed", {
  # More items than are followed at a time (256), groups that fall together, copies, and lone
  # items that only come to the front when the groups are spent.
  set.seed(12)
  n <- 700L
  x <- matrix(rnorm(12 * 9, sd = 4), 12)[sample(12, n, TRUE, prob = 1 / (1:12)^2), ] + matrix(rnorm(n * 9, sd = .2), n)
  x[601:640, ] <- x[1:40, ]
  x[641:700, ] <- x[641:700, ] * .3
  for (mu in c(1e-3, 1, 50)) {
    one <- ted_greedy(x, 150L, mu, form = "n")
    many <- ted_greedy(x, 150L, mu, form = "p")
    expect_identical(many$p_form, TRUE)
    expect_identical(many$order, one$order)
    expect_lt(max(abs(many$score - one$score), abs(many$left - one$left)), 1e-8 * one$score[1])
    k <- tcrossprod(x)
    for (t in 1:20) {
      j <- many$order[t]
      gain <- sum(k[, j]^2) / (k[j, j] + mu)
      expect_equal(many$score[t], gain, tolerance = 1e-8)
      left <- setdiff(seq_len(n), many$order[seq_len(t - 1L)])
      expect_equal(gain, max((colSums(k^2) / (diag(k) + mu))[left]), tolerance = 1e-9)
      k <- k - tcrossprod(k[, j]) / (k[j, j] + mu)
    }
  }
  some <- x[1:300, ]
  expect_identical(ted_greedy(some, 295L, 1, form = "p", open = list(labelled = 6:10))$order[1:60],
    ted_greedy(some, 295L, 1, form = "n", open = list(labelled = 6:10))$order[1:60])
  expect_setequal(ted_greedy(some, 295L, 1, form = "p", open = list(labelled = 6:10))$order, setdiff(1:300, 6:10))
})

test_that("decreases that differ by rounding go to the lowest index; digits are kept when hardly anything is left", {
  # Rows of a circulant matrix are all alike. More of them than are followed at a time (256), and
  # the first row has the largest decrease, in digits, by chance only.
  for (seed in 1:4) {
    set.seed(seed)
    for (n in c(40L, 400L)) {
      first <- rnorm(n)
      x <- t(vapply(seq_len(n) - 1L, function(by) first[(seq_len(n) - 1L - by) %% n + 1L], first))
      for (form in c("n", "p")) expect_identical(ted_greedy(x, 1L, 1, form = form)$order, 1L)
    }
  }
  x <- withr::with_seed(8, matrix(rnorm(60 * 4), 60))
  mu <- 1e-7
  fit <- suppressWarnings(ufs_ted(x, mu = mu, m = 4, center = FALSE, scale = FALSE))
  k <- tcrossprod(x)
  for (j in fit$solution$order) k <- k - tcrossprod(k[, j]) / (k[j, j] + mu)
  left <- setdiff(1:60, fit$solution$order)
  ratio <- unname(fit$statistic)[left] / (colSums(k^2) / (diag(k) + mu))[left]
  expect_lt(max(abs(ratio - 1)), 1e-6)
  expect_lt(max(fit$statistic[left]), 1e-3 * fit$statistic[fit$solution$order[1]])
})

ref_ted_kernel <- function(k, ...) ref_ted_greedy(NULL, ..., k = k)$order

test_that("kernels: the picks are those of the explicit kernel", {
  x <- scale(sample_data(60, 4))
  d2 <- as.matrix(dist(x))^2
  width <- stats::median(d2[lower.tri(d2)])
  k <- exp(-d2 / width)
  fit <- ufs_ted(x, m = 12, similarity = "heat")
  expect_equal(fit$params$bandwidth, width, tolerance = 1e-10)
  expect_identical(unname(fit$solution$order), ref_ted_kernel(k, 12L, .01))
  expect_lte(fit$certificate[["trace_left"]], 1e-4)
  expect_identical(unname(ufs_ted(x, m = 12, similarity = k)$solution$order), ref_ted_kernel(k, 12L, .01))
  given <- c(4L, 9L)
  expect_identical(unname(ufs_ted(x, m = 8, similarity = k, labelled = given)$solution$order),
    ref_ted_kernel(k, 8L, .01, given))
  narrow <- ufs_ted(x, m = 5, similarity = "heat", bandwidth = width / 3)
  expect_identical(unname(narrow$solution$order), ref_ted_kernel(k^3, 5L, .01))
  turn <- withr::with_seed(3, sample(60))
  expect_identical(turn[ufs_ted(1e6 * x[turn, ], m = 12, similarity = "heat")$solution$order], unname(fit$solution$order))
  expect_identical(ufs_ted(x, m = 6, similarity = "cosine")$solution$order, ufs_ted(x, m = 6, unit = TRUE)$solution$order)
})

test_that("kernels: the root is a Cholesky factor, its rest is semidefinite; what is no kernel is refused", {
  x <- scale(sample_data(40, 3))
  k <- exp(-as.matrix(dist(x))^2 / 2)
  expect_lt(max(abs(tcrossprod(kernel_root(x, 2, 5L, tol = 1e-12)$root) - k)), 1e-6)
  part <- kernel_root(x, 2, 5L, tol = .05)
  rest <- k - tcrossprod(part$root)
  expect_equal(part$left, sum(diag(rest)) / 40, tolerance = 1e-8)
  expect_lte(part$left, .05)
  expect_lt(part$rank, 40L)
  expect_gt(min(eigen(rest, symmetric = TRUE)$values), -1e-10)
  expect_lt(max(abs(tcrossprod(kernel_root(NULL, 1, 5L, unname(k), tol = 1e-12)$root) - k)), 1e-6)
  x <- sample_data(20, 4)
  k <- tcrossprod(x)
  indefinite <- diag(20)
  indefinite[1, 2] <- indefinite[2, 1] <- 2
  expect_refusals("semidefinite" = ufs_ted(x, similarity = indefinite), "n x n" = ufs_ted(x, similarity = k[, 1:5]),
    ufs_ted(x, similarity = k - 50), ufs_ted(x, similarity = x[, 1]), ufs_ted(x, similarity = "warm"))
  k[1, 2] <- 7
  expect_refusals("symmetric" = ufs_ted(x, similarity = k), ufs_ted(x, bandwidth = 1),
    ufs_ted(x, form = "convex", similarity = "heat"))
  base <- withr::with_seed(1, matrix(rnorm(300), 100))
  x <- base[rep(1:100, each = 3), ] + withr::with_seed(2, matrix(rnorm(900, sd = 1e-3), 300))
  soil <- rep(1:100, each = 3)
  heat <- ufs_ted(x, m = 20, similarity = "heat")
  expect_false(anyDuplicated(soil[heat$solution$order]) > 0L)
  expect_identical(heat$params$copies, 0L)
  linear <- ufs_ted(x, m = 20)
  expect_identical(linear$params$copies, 20L - length(unique(soil[linear$solution$order])))
  expect_gt(linear$params$copies, 0L)
  expect_output(print(linear), "nearly the same as an earlier one")
  expect_gt(ufs_alnr(x)$params$copies, 0L)
  expect_false(is.null(ufs_rrss(x)$params$copies) || is.null(suppressWarnings(ufs_alfs(x))$params$copies))
  x <- withr::with_seed(1, matrix(rnorm(900), 300))
  rownames(x) <- paste0("r", 1:300)
  x[c(5, 50, 150), ] <- x[c(5, 50, 150), ] + 40 * diag(3)
  expect_message(fit <- ufs_ted(x, m = 30, similarity = "heat"), "r5, r50, r150", class = "ufs_message_outliers")
  expect_identical(unname(fit$params$far), c(5L, 50L, 150L))
  expect_message(ufs_ted(unname(x), m = 30, similarity = "heat"), "(row 5, row 50, row 150)", fixed = TRUE)
  expect_false(any(c(5, 50, 150) %in% fit$solution$order))
  expect_silent(ufs_ted(x[-c(5, 50, 150), ], m = 30, similarity = "heat"))
  x <- sample_data(40, 6)
  allowed <- rep(c(TRUE, FALSE, TRUE, FALSE), 10)
  for (form in c("n", "p")) {
    out <- ted_greedy(x, 10L, 2, form, list(labelled = c(2L, 5L), allowed = allowed))
    expect_identical(out$order, ref_ted_kernel(tcrossprod(x), 10L, 2, c(2L, 5L), allowed))
    expect_length(ted_greedy(x, 30L, 2, form, list(allowed = allowed))$order, 20L)
  }
})

test_that("costs: the better of the picks by decrease and by decrease per cost, within the budget", {
  x <- sample_data(40, 6)
  cost <- withr::with_seed(4, runif(40, .5, 3))
  ref <- function(per_cost) {
    k <- tcrossprod(x)
    rest <- 12
    order <- integer()
    total <- 0
    repeat {
      open <- setdiff(which(cost <= rest), order)
      if (!length(open)) break
      gain <- colSums(k^2) / (diag(k) + 2)
      value <- if (per_cost) gain / cost else gain
      j <- open[which.max(value[open])]
      order <- c(order, j)
      total <- total + gain[j]
      rest <- rest - cost[j]
      k <- k - tcrossprod(k[, j]) / (k[j, j] + 2)
    }
    list(order = order, total = total)
  }
  best <- if (ref(TRUE)$total > ref(FALSE)$total) ref(TRUE) else ref(FALSE)
  for (form in c("n", "p")) {
    out <- ted_greedy(x, 40L, 2, form, list(cost = cost, budget = 12))
    # The last ones change what is left by rounding only.
    expect_identical(out$order[1:5], best$order[1:5])
    expect_equal(sum(out$score), best$total, tolerance = 1e-9)
    expect_lte(sum(cost[out$order]), 12)
  }
})

test_that("what is left of a smooth function is the variance of the process; candidates stay candidates", {
  z <- sample_data(30, 3)
  chosen <- c(3L, 8L, 20L)
  k <- exp(-as.matrix(dist(z))^2 / 2)
  left <- diag(k) - colSums(k[chosen, ] * solve(k[chosen, chosen] + .01 * diag(3), k[chosen, ]))
  expect_equal(left_of_kernel(k[chosen, chosen], crossprod(k[, chosen]), 30), mean(left), tolerance = 1e-10)
  z <- withr::with_seed(5, matrix(round(16 * rnorm(24 * 3)) / 16, 24))
  x <- cbind(z[, 1] + 2^30 * rep(c(1, -1), 12), z[, 2:3])
  kernel <- exp(-as.matrix(stats::dist(x))^2 / 2)
  inputs <- c(list(x), if (requireNamespace("Matrix", quietly = TRUE)) list(as_ufs_operator(to_sparse(x), FALSE, FALSE)$x))
  for (input in inputs) {
    expect_equal(tcrossprod(kernel_root(input, 2, 24L)$root), kernel, tolerance = 1e-7, ignore_attr = TRUE)
  }
  x <- withr::with_seed(1, matrix(rnorm(120), 40))
  x[1:2, ] <- x[1:2, ] + c(1e3, -1e3)
  fit <- suppressMessages(ufs_ted(ufs_data(x, candidates = c(1, 5:20)), m = 16, similarity = "heat"))
  expect_setequal(selected_samples(fit, 16, as = "index"), 5:20)
})

test_that("n_scores compares samples by leading scores; a similarity of class Matrix is that matrix", {
  x <- withr::with_seed(2, matrix(rnorm(40 * 12), 40) %*% diag(12:1))
  z <- prcomp(x)$x[, 1:3]
  for (similarity in c("linear", "heat", "cosine")) {
    fit <- ufs_ted(x, m = 8, similarity = similarity, n_scores = 3, scale = FALSE)
    expect_identical(fit$solution$order, ufs_ted(z, m = 8, similarity = similarity, scale = FALSE)$solution$order)
  }
  convex <- ufs_ted(x, form = "convex", n_scores = 3, scale = FALSE)
  expect_equal(unname(convex$sample_scores), unname(ufs_ted(z, form = "convex", scale = FALSE)$sample_scores), tolerance = 1e-3)
  expect_error(ufs_ted(x, n_scores = 13), "n_scores", class = "ufs_error_argument")
  expect_error(ufs_ted(x, similarity = tcrossprod(x), n_scores = 2), "n_scores", class = "ufs_error_argument")
  skip_if_not_installed("Matrix")
  k <- tcrossprod(scale(mtcars))
  given <- function(k) ufs_ted(mtcars, m = 6, similarity = k)
  expect_identical(selected_samples(given(Matrix::Matrix(k))), selected_samples(given(k)))
  withr::local_options(ufselect.max_bytes = 8 * 32^2 - 1)
  expect_refused(given(Matrix::Matrix(k)), "`similarity` as a dense matrix", "ufs_error")
})

test_that("a penalty as a number is in the unit of x squared; the kernel of rows on disk is that of rows in memory", {
  x <- withr::with_seed(1, matrix(stats::rnorm(60), 12, dimnames = list(NULL, letters[1:5])))
  chosen <- function(unit, mu) unname(ufs_ted(x * unit, mu = mu * unit^2, center = FALSE, scale = FALSE)$solution$order)
  expect_false(identical(chosen(1, .01), chosen(1, 10)))
  for (mu in c(.01, 10)) for (unit in 2^c(400, -300)) expect_identical(chosen(unit, mu), chosen(1, mu))
  x <- as.matrix(iris[seq(1, 150, 3), 1:4])
  heat <- ufs_ted(x, m = 5, similarity = "heat")
  expect_output(print(heat), paste0("heat, squared distances over ", signif(heat$params$bandwidth, 3)))
  expect_output(print(ufs_ted(x, m = 5, n_scores = 2)), "2 principal component scores")
  skip_if_not_installed("DelayedArray")
  disk <- ufs_data(DelayedArray::DelayedArray(x), block_bytes = 800)
  read <- suppressMessages(ufs_ted(disk, m = 5, similarity = "heat"))
  expect_identical(unname(read$solution$order), unname(heat$solution$order))
  expect_equal(read$params$bandwidth, heat$params$bandwidth)
})
