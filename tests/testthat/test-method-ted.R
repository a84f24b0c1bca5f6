test_that("greedy: the ranking is the order of the picks, larger is better", {
  x <- sample_data(30, 8)
  fit <- raw(ufs_ted, x, mu = 2)
  ref <- ref_ted_greedy(x, 30L, 2)
  expect_identical(class(fit), c("ufs_ted", "ufs"))
  # The last picks share what rounding leaves; the first ones are decided by data.
  expect_identical(unname(sample_ranking(fit))[1:12], ref$order[1:12])
  expect_identical(selected_samples(fit, 5), ref$order[1:5])
  expect_identical(order(-sample_scores(fit)), unname(sample_ranking(fit)))
  expect_equal(unname(fit$statistic)[ref$order[1:12]], ref$score[1:12], tolerance = 1e-10)
  expect_equal(fit$trace$objective[7], ref_ted_objective(x, ref$order[1:7], 2), tolerance = 1e-10)
  expect_error(selected_features(fit, 2), class = "ufs_error_argument")
})

test_that("greedy: relative penalties make the picks free of scale, order, signs and rotation", {
  x <- sample_data(25, 6)
  picks <- function(x) selected_samples(raw(ufs_ted, x, mu_rel = 0.05), 8)
  base <- picks(x)
  expect_identical(picks(37 * x), base)
  expect_identical(picks(x[, 6:1]), base)
  expect_identical(picks(x %*% diag(c(1, -1, 1, -1, -1, 1))), base)
  expect_identical(picks(rep(c(-1, 1, 1, -1, 1), 5) * x), base)
  permutation <- withr::with_seed(1, sample.int(25))
  expect_identical(permutation[picks(x[permutation, ])], base)
  rotation <- qr.Q(qr(withr::with_seed(2, matrix(stats::rnorm(36), 6))))
  expect_identical(picks(x %*% rotation), base)
})

test_that("greedy: duplicates, samples at the centre and constant columns do no harm", {
  x <- sample_data(15, 5)
  base <- selected_samples(raw(ufs_ted, x, mu = 1), 6)
  expect_identical(selected_samples(raw(ufs_ted, rbind(x, 0), mu = 1), 6), base)
  first <- selected_samples(raw(ufs_ted, rbind(x, x), mu = 1), 1)
  expect_lte(first, 15L)
  expect_warning(fit <- ufs_ted(cbind(x, 7), mu_rel = 0.05), class = "ufs_warning_constant")
  expect_identical(sample_ranking(fit), sample_ranking(ufs_ted(x, mu_rel = 0.05)))
})

test_that("greedy: m ranks the rest by the next decrease and says so", {
  x <- sample_data(20, 5)
  full <- raw(ufs_ted, x, mu = 1)
  part <- raw(ufs_ted, x, mu = 1, m = 4)
  expect_identical(sample_ranking(part)[1:4], sample_ranking(full)[1:4])
  expect_identical(sort(unname(sample_ranking(part))), 1:20)
  expect_identical(sample_ranking(part)[5], sample_ranking(full)[5])
  rest <- unname(sample_ranking(part))[5:20]
  expect_true(all(diff(unname(part$statistic)[rest]) <= 1e-9))
  expect_silent(selected_samples(part, 4))
  expect_message(selected_samples(part, 5), class = "ufs_message_partial")
  expect_identical(nrow(part$trace), 4L)
  expect_error(ufs_ted(x, m = 21), class = "ufs_error_argument")
  expect_length(selected_samples(ufs_ted(x, form = "convex", m = 3)), 3)
})

test_that("convex: the gap certifies, and reweighting finds the same optimum", {
  skip_on_cran()
  for (size in list(c(20, 6), c(12, 30))) {
    x <- sample_data(size[1], size[2])
    bound <- max(2 * sqrt(rowSums(tcrossprod(x)^2)))
    for (share in c(0.02, 0.2)) {
      fit <- raw(ufs_ted, x, form = "convex", mu_rel = share,
        control = ufs_control(tol = 1e-7, max_iter = 5000))
      ref <- ref_ted_convex(x, share * bound, 1500L)
      expect_equal(fit$params$mu, share * bound, tolerance = 1e-12)
      expect_identical(fit$status, "converged")
      expect_true(fit$certificate[["gap"]] <= 1e-7 && fit$certificate[["gap"]] > -1e-10)
      expect_equal(ref$objective, fit$trace$objective[nrow(fit$trace)], tolerance = 1e-6)
      expect_gt(ref$objective, fit$certificate[["dual"]] * (1 - 1e-10))
      expect_lt(max(abs(sample_scores(fit) - ref$row_norm)), 1e-3 * max(ref$row_norm))
    }
  }
})

test_that("convex: closed form for orthogonal samples", {
  size <- c(3, 2, 1.5, 1, 0.4)
  fit <- raw(ufs_ted, diag(size), mu = 3, form = "convex", control = ufs_control(tol = 1e-9))
  expect_equal(unname(sample_scores(fit)), pmax(1 - 3 / (2 * size^2), 0), tolerance = 1e-6)
  expect_identical(sum(sample_scores(fit) == 0), 2L)
  # Zeros rank by how close they are to entering: 2 s^2 / mu.
  expect_identical(unname(sample_ranking(fit)), 1:5)
})

test_that("convex: zero solution, scale, duplicates, permutation", {
  x <- sample_data(18, 5)
  expect_warning(fit <- raw(ufs_ted, x, form = "convex", mu_rel = 1), class = "ufs_warning_zero")
  expect_true(all(sample_scores(fit) == 0))
  expect_identical(unname(sample_ranking(fit))[1], which.max(rowSums(tcrossprod(x)^2)))
  run <- function(x) {
    sample_scores(raw(ufs_ted, x, form = "convex", mu_rel = 0.1,
      control = ufs_control(tol = 1e-8, max_iter = 5000)))
  }
  base <- run(x)
  expect_gt(max(base), 0)
  expect_equal(run(37 * x), base, tolerance = 1e-6)
  expect_equal(run(x[18:1, ]), base[18:1], tolerance = 1e-4)
  twice <- run(rbind(x, x[2, ]))
  expect_identical(twice[[2]], twice[[19]])
})

test_that("no random numbers, no changed input, the same answer again", {
  x <- sample_data(20, 5)
  kept <- x + 0
  withr::with_seed(3, {
    before <- .Random.seed
    for (form in c("greedy", "convex")) {
      expect_identical(timeless(ufs_ted(x, form = form)), timeless(ufs_ted(x, form = form)))
    }
    expect_identical(.Random.seed, before)
  })
  expect_identical(x, kept)
})

test_that("arguments are checked and names are used", {
  x <- as.matrix(mtcars)
  expect_identical(names(sample_scores(ufs_ted(x))), rownames(x))
  expect_true(all(selected_samples(ufs_ted(x), 3) %in% rownames(x)))
  expect_error(ufs_ted(x, mu = 0), class = "ufs_error_argument")
  expect_error(ufs_ted(x, mu = NA_real_), class = "ufs_error_argument")
  expect_error(ufs_ted(x, mu_rel = -1), class = "ufs_error_argument")
  expect_error(ufs_ted(x, form = "both"), class = "ufs_error_argument")
  x[2, 3] <- NA
  expect_error(ufs_ted(x), "disp", class = "ufs_error_input")
  expect_warning(ufs_ted(mtcars, form = "convex", control = ufs_control(max_iter = 1)),
    class = "ufs_warning_max_iter")
})

test_that("print says what was reached; ufs() and ufs_methods() know it", {
  expect_output(print(ufs_ted(mtcars)), "lowered by")
  expect_output(print(ufs_ted(mtcars, form = "convex")), "live rows")
  expect_identical(sample_ranking(ufs(mtcars, "ted")), sample_ranking(ufs_ted(mtcars)))
  table <- ufs_methods()
  expect_identical(table$selects[match(c("ted", "rrss", "alnr", "cur"), table$method)],
    c("samples", "samples", "samples", "both"))
})

test_that("labelled samples are complemented and never picked", {
  x <- sample_data(20, 6)
  rownames(x) <- paste0("s", 1:20)
  given <- c(3L, 11L, 17L)
  for (form in c("n", "p")) {
    all <- ref_ted_greedy_given(x, 17L, 2, given)
    out <- ted_greedy(x, 17L, 2, form, given)
    expect_identical(out$order, all$order)
    expect_equal(out$score, all$score, tolerance = 1e-9)
    expect_equal(out$start, ref_ted_objective(x, given, 2), tolerance = 1e-10)
  }
  fit <- raw(ufs_ted, x, labelled = given)
  expect_true(all(is.na(sample_scores(fit)[given])))
  expect_setequal(sample_ranking(fit)[18:20], given)
  expect_false(any(selected_samples(fit, 17, as = "index") %in% given))
  expect_identical(fit$params$labelled, given)
  expect_equal(fit$trace$objective[1] + fit$trace$decrease[1],
    ref_ted_objective(x, given, fit$params$mu), tolerance = 1e-10)
  for (same in list(rownames(x)[given], seq_len(20) %in% given, rev(given))) {
    expect_identical(sample_ranking(raw(ufs_ted, x, labelled = same)), sample_ranking(fit))
  }
  expect_error(selected_samples(fit, 18), class = "ufs_error_argument")
  expect_error(ufs_ted(x, labelled = 21), class = "ufs_error_argument")
  expect_error(ufs_ted(x, labelled = given, m = 18), class = "ufs_error_argument")
  # What was chosen first is not chosen again: the same order in two steps.
  whole <- raw(ufs_ted, x)
  expect_identical(selected_samples(raw(ufs_ted, x, labelled = selected_samples(whole, 8)), 6),
    selected_samples(whole, 14)[9:14])
  expect_output(print(fit), "3 samples, which the picks complement")
})

test_that("unit = TRUE is TED of the directions", {
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
})

test_that("values whose squares are no numbers are refused in words", {
  x <- sample_data(12, 5)
  for (by in c(1e155, 1e-170, 5e-320)) {
    for (fit in list(ufs_ted, ufs_rrss, ufs_alnr, ufs_cur)) {
      expect_error(raw(fit, x * by), class = "ufs_error")
    }
    expect_error(raw(ufs_ted, x * by, form = "convex"), class = "ufs_error_input")
    expect_error(raw(ufs_ted, x * by), if (by > 1e-300) "scale = TRUE" else "ends of double",
      class = "ufs_error_input")
  }
  expect_identical(sample_ranking(ufs_ted(x * 1e155)), sample_ranking(ufs_ted(x)))
})

test_that("the help's advice is printed where a ranking loses to chance", {
  for (fit in list(ufs_ted(mtcars, form = "convex"), ufs_rrss(mtcars), ufs_alnr(mtcars))) {
    expect_output(print(fit), "use ufs_facility\\(\\)")
  }
  expect_false(any(grepl("chance", utils::capture.output(print(ufs_ted(mtcars))))))
})

test_that("picks in advance are the picks one by one, whoever was not followed", {
  skip_on_cran()
  # More items than are followed at a time (256), groups that fall together, copies, and lone
  # items that only come to the front when the groups are spent.
  set.seed(12)
  n <- 700L
  centre <- matrix(rnorm(12 * 9, sd = 4), 12)
  x <- centre[sample(12, n, TRUE, prob = 1 / (1:12)^2), ] + matrix(rnorm(n * 9, sd = .2), n)
  x[601:640, ] <- x[1:40, ]
  x[641:700, ] <- x[641:700, ] * .3
  for (mu in c(1e-3, 1, 50)) {
    one <- ted_greedy(x, 150L, mu, form = "n")
    many <- ted_greedy(x, 150L, mu, form = "p")
    expect_identical(many$p_form, TRUE)
    expect_identical(many$order, one$order)
    expect_lt(max(abs(many$score - one$score)), 1e-8 * one$score[1])
    expect_lt(max(abs(many$left - one$left)), 1e-8 * one$score[1])
    # The decreases are what the picks take off, recomputed.
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
  # With items given beforehand, and as many picks as there are items.
  some <- x[1:300, ]
  expect_identical(ted_greedy(some, 295L, 1, form = "p", given = 6:10)$order[1:60],
    ted_greedy(some, 295L, 1, form = "n", given = 6:10)$order[1:60])
  expect_setequal(ted_greedy(some, 295L, 1, form = "p", given = 6:10)$order, setdiff(1:300, 6:10))
})

test_that("decreases that differ by rounding only go to the lowest index", {
  skip_on_cran()
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
})

test_that("what the samples left over would bring has its digits when hardly anything is left", {
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
