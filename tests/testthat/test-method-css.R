skip_on_cran()

centred <- function(x) unname(scale(x))
css <- function(x, k, mu, form, max_swaps = 0L, ...) {
  .Call(C_css, x, list(k = k, mu = mu, form = form, max_swaps = max_swaps, exact_limit = 2000L, ...), ufs_control())
}

test_that("every start keeps the constraints; both forms pick what trying every column picks, the objective is J", {
  for (seed in 1:4) {
    x <- withr::with_seed(seed, planted(40, 14, informative = 7)$x)
    best <- selected_features(ufs_css(x, k = 4, mu_rel = 0, swaps = TRUE), as = "index")
    # The start by loadings is the second of three.
    run <- function(...) withr::with_seed(seed, ufs_css(ufs_data(x, ...), k = 4, mu_rel = 0, starts = 3))
    expect_identical(intersect(unname(run(exclude = best)$solution$order), best), integer())
    cost <- replace(rep(1, 14), best, 5)
    expect_lte(sum(cost[run(cost = cost, budget = 8)$solution$order]), 8)
    # Costs without a budget are no part of the search.
    expect_identical(run(cost = 14:1)$params[c("swaps", "met")], run()$params[c("swaps", "met")])
    fit <- run(feature_strata = replace(rep("other", 14), best, "best"), feature_quotas = list(best = c(0, 1)))
    expect_lte(sum(fit$solution$order %in% best), 1L)
    # What a quota asks for must be paid, too: one of the informative columns leaves too little.
    fit <- run(cost = rep(c(3, 5, 1), c(7, 3, 4)), budget = 12,
      feature_strata = rep(c("good", "weak", "noise"), c(7, 3, 4)), feature_quotas = list(weak = c(2, Inf)))
    expect_identical(tabulate(findInterval(fit$solution$order, c(1, 8, 11)), 3L), c(0L, 2L, 2L))
    near <- abs(cor(x[, run(max_cor = .5)$solution$order]))
    expect_lte(max(near[upper.tri(near)]), .5 + 1e-12)
  }
  for (size in list(c(30L, 12L), c(15L, 26L), c(20L, 20L), c(260L, 270L))) {
    x <- centred(planted(size[1], size[2])$x)
    k <- min(size - 2L, 800L %/% nrow(x)) # few of a large table: the reference tries every column
    for (mu_rel in c(0, .1, 1)) {
      mu <- mu_rel * (nrow(x) - 1)
      ref <- ref_css(x, k, mu)
      for (form in c("n", "p")) {
        found <- css(x + 0, k, mu, form)
        expect_identical(found$order, ref$order)
        expect_identical(found$run$counters[["p_form"]], (form == "p") + 0)
        expect_equal(found$run$trace[, 2L], ref$objective, tolerance = 1e-9, ignore_attr = TRUE)
        expect_equal(found$leading, cumsum(svd(x)$d^2)[seq_len(k)], tolerance = 1e-10)
      }
    }
  }
})

test_that("singular values beyond the thirtieth give an upper bound", {
  z <- centred(planted(50, 70)$x)
  share <- cumsum(svd(z)$d^2) / sum(z^2)
  expect_equal(leading_share(z, 60), c(share, rep(1, 10)), tolerance = 1e-10)
  rough <- leading_share(z, 50, exact_limit = 40L)
  expect_equal(rough[1:30], share[1:30], tolerance = 1e-7)
  expect_true(all(rough[31:48] >= share[31:48] * (1 + 1e-6)) && all(rough <= 1))
})

# What columns S of z hold of y, as a share.
held <- function(z, s, y = z) {
  q <- qr(z[, s, drop = FALSE])
  sum(crossprod(qr.Q(q)[, seq_len(q$rank), drop = FALSE], y)^2) / sum(y^2)
}

# What S holds, or the best of its exchanges of one column, as one is made after a start.
exchanged <- function(x, s) {
  max(held(x, s), unlist(lapply(seq_along(s), function(i) {
    vapply(setdiff(seq_len(ncol(x)), s), function(j) held(x, replace(s, i, j)), 0)
  })))
}

# ufs_css() with constraints for the columns of x.
constrained <- function(x, by, ...) {
  asked <- list(k = NULL, mu = NULL, mu_rel = 0, swaps = 0, starts = 1, optimal = FALSE, target = NULL)
  given <- list(...)
  asked[names(given)] <- given
  data <- as_rescaled_operator(x, TRUE, TRUE)
  data["held"] <- list(expand_groups(by))
  css_slots(data, asked, resolve_control(ufs_control(), max_iter = 1e6L), FALSE)
}

test_that("no exchange captures more after swaps, in any form; further starts never capture less", {
  moved <- 0L
  for (seed in 1:4) for (size in list(c(30, 14), c(12, 25))) {
    x <- centred(planted(size[1], size[2], seed = seed)$x)
    parts <- svd(x)
    for (target in list(NULL, 3L)) {
      y <- if (is.null(target)) x else parts$u[, 1:3] %*% diag(parts$d[1:3])
      for (form in c("n", "p")) for (mu in c(0, 3)) {
        found <- css(x, 4L, mu, form, 1000L, target = target)
        best <- held(x, found$order, y)
        moved <- moved + found$run$counters[["swaps"]]
        if (!is.null(target)) expect_equal(found$held[4] / found$run$counters[["target_start"]], best)
        for (out in 1:4) for (inn in setdiff(seq_len(ncol(x)), found$order)) {
          expect_lte(held(x, replace(found$order, out, inn), y), best * (1 + 1e-8))
        }
      }
    }
  }
  expect_gt(moved, 0)
  x <- planted(30, 14, seed = 2)$x
  fit <- ufs_css(x, k = 4, mu_rel = 0, swaps = TRUE)
  expect_gte(fit$certificate[["captured"]], ufs_css(x, k = 4, mu_rel = 0)$certificate[["captured"]])
  expect_refusals(ufs_css(x, swaps = 2), ufs_css(x, starts = 2), ufs_css(x, optimal = TRUE),
    "`k` is 2, but 3 columns are included" = ufs_css(x, k = 2, include = 1:3))
  few <- ufs_css(planted(30, 6, informative = 4)$x[, c(1:6, 1:6)], k = 9, mu_rel = 0, swaps = TRUE)
  expect_identical(few$params$swaps, 0L)
  x <- planted(30, 20, seed = 5)$x
  one <- ufs_css(x, k = 6, mu_rel = 0, swaps = TRUE)
  many <- withr::with_seed(1, ufs_css(x, k = 6, mu_rel = 0, starts = 21))
  expect_gte(many$certificate[["captured"]], one$certificate[["captured"]] - 1e-12)
  expect_true(many$params$met >= 1L && many$params$met <= 21L)
  expect_identical(withr::with_seed(1, ufs_css(x, k = 6, mu_rel = 0, starts = 21))$feature_ranking, many$feature_ranking)
  expect_equal(many$certificate[["captured"]], ufs_css(x, k = 6, mu_rel = 0, optimal = TRUE)$certificate[["captured"]])
  x <- planted(40, 24, seed = 3)$x
  proven <- ufs_css(x, k = 6, optimal = TRUE)
  best <- proven$certificate[["captured"]]
  expect_identical(proven$iterations, as.integer(proven$certificate[["nodes"]]))
  short <- suppressWarnings(ufs_css(x, k = 6, optimal = TRUE, control = ufs_control(max_iter = 5)))
  expect_identical(c(short$status, short$certificate[["optimal"]]), c("max_iter", "0"))
  expect_gte(short$certificate[["captured"]] * (1 + short$certificate[["gap"]]), best * (1 - 1e-9))
})

test_that("correlations, not cosines, keep to their ceiling, and no exchange within it captures more", {
  # All are positive: cosines are near one whatever the correlations are.
  x <- as.matrix(mtcars)
  w <- rep(1:3, length.out = 32)
  r <- abs(cov.wt(x, w, cor = TRUE)$cor)
  plain <- abs(cor(x))
  sparse <- if (requireNamespace("Matrix", quietly = TRUE)) Matrix::Matrix(x, sparse = TRUE) else x
  doors <- list(dense = list(x, plain), data = list(ufs_data(x, weights = w), r), sparse = list(sparse, plain),
    moments = list(ufs_moments(x), plain), wide = list(x[seq(1, 32, 4), ], abs(cor(x[seq(1, 32, 4), ]))))
  for (door in names(doors)) {
    near <- doors[[door]][[2L]]
    for (scale in c(TRUE, FALSE)) {
      for (optimal in c(FALSE, TRUE)) {
        fit <- ufs_css(doors[[door]][[1L]], k = 3, center = FALSE, scale = scale, max_cor = .8, optimal = optimal)
        set <- fit$solution$order
        expect_gte(length(set), 2L)
        expect_lte(max((near - diag(11))[set, set]), .8)
        expect_length(suppressMessages(selected_features(fit)), length(set))
      }
    }
  }
  for (seed in 1:6) {
    x <- withr::with_seed(seed, matrix(stats::rnorm(8 * 30), 30) %*% matrix(stats::rnorm(8 * 16), 8))
    r <- abs(stats::cor(x))
    set <- unname(constrained(x, list(max_cor = .5), k = 4L, swaps = TRUE)$solution$order)
    fine <- function(s) max(r[s, s][upper.tri(diag(length(s)))]) <= .5
    expect_true(fine(set))
    other <- Filter(fine, unlist(lapply(seq_along(set), function(i) {
      lapply(setdiff(1:16, set), function(j) replace(set, i, j))
    }), FALSE))
    expect_lte(max(0, vapply(other, function(s) held(centred(x), s), 0)), held(centred(x), set) * (1 + 1e-8))
  }
})

test_that("groups of any sizes in any order capture what the literal greedy choice captures", {
  withr::local_seed(3)
  z <- NULL
  # The group that adds most for each of its columns, of all that there is room for.
  greedy <- function(groups, k) {
    set <- integer()
    repeat {
      part <- split(seq_along(groups), groups)
      part <- Filter(function(g) !any(g %in% set) && length(g) + length(set) <= k, part)
      if (!length(part)) return(set)
      before <- if (length(set)) held(z, set) else 0
      gain <- vapply(part, function(g) (held(z, c(set, g)) - before) / length(g), 0)
      set <- c(set, part[[which.max(gain)]])
    }
  }
  sizes <- list(c(6, 1, 2, 3), c(1, 6, 3, 2), c(2, 1, 3, 6), c(6, 6), c(7, 2, 3))
  for (sizes in rep(sizes, 4)) for (common in c(0, 2)) {
    # Large groups hold little that is their own, or much.
    x <- matrix(stats::rnorm(30 * 12), 30)
    x[, 1:6] <- x[, 1:6] + common * x[, 1]
    z <- centred(x)
    groups <- rep(seq_along(sizes), sizes)
    for (k in c(max(3L, min(sizes)), 7L, 9L)) {
      order <- constrained(x, list(groups = groups), k = k, mu_rel = 0)$solution$order
      expect_true(all(tapply(seq_len(12) %in% order, groups, mean) %in% 0:1) && length(order) <= k)
      expect_gte(held(z, order), held(z, greedy(groups, k)) - 1e-10)
    }
  }
})

test_that("copies, dependent and constant columns; predict() rebuilds the columns of new rows by least squares", {
  x <- planted(18, 8, informative = 5)$x
  copies <- cbind(x, x, 4, x[, 1] + x[, 2])
  for (mu_rel in c(0, .1)) {
    fit <- suppressWarnings(ufs_css(copies, mu_rel = mu_rel))
    expect_identical(anyDuplicated(setdiff(picks_of(fit)[seq_len(6)], 18L) %% 8), 0L)
    expect_true(is.na(feature_scores(fit)[[17]]) && all(is.finite(fit$trace$captured)))
    expect_equal(fit$trace$captured[nrow(fit$trace)], 1, tolerance = 1e-10)
    expect_false(is.unsorted(fit$trace$captured))
  }
  fit <- suppressWarnings(ufs_css(copies, mu_rel = 0))
  expect_identical(qr(scale(copies[, -17])[, match(picks_of(fit)[1:8], setdiff(1:18, 17))])$rank, 8L)
  expect_true(all(fit$trace$decrease[9:17] == 0) && all(picks_of(ufs_css(cbind(x, x), k = 8, mu_rel = 0)) <= 8L))
  x <- sweep(cbind(`colnames<-`(planted(40, 12)$x, paste0("f", 1:12)), flat = 3), 2L, 1:13, "*") + 5
  fit <- suppressWarnings(ufs_css(x[1:25, ], k = 7))
  for (k in c(1, 4, 7)) {
    chosen <- selected_features(fit, k)
    expected <- cbind(1, x[26:40, chosen, drop = FALSE]) %*% qr.coef(qr(cbind(1, x[1:25, chosen])), x[1:25, ])
    got <- predict(fit, x[26:40, ], k = k, type = "reconstruction")
    expect_equal(got, expected, tolerance = 1e-8, ignore_attr = TRUE)
    expect_identical(colnames(got), colnames(x))
    expect_equal(predict(fit, x[26:40, rev(chosen), drop = FALSE], k = k, type = "reconstruction"), got)
  }
  expect_identical(predict(fit, x[26:40, ], k = 2), x[26:40, selected_features(fit, 2)])
  z <- planted(20, 6, informative = 4)$x
  back <- predict(ufs_css(cbind(z, z), k = 12), cbind(z, z), type = "reconstruction")
  expect_equal(back, cbind(z, z), tolerance = 1e-6, ignore_attr = TRUE)
  expect_refusals(predict(fit, x, type = "class"), predict(fit, x, k = 8, type = "reconstruction"),
    predict(fit, x, typ0 = 1, type = "reconstruction"))
  expect_error(predict(fit, replace(x, 1:520, NA), type = "reconstruction"), class = "ufs_error_input")
  x <- planted(20, 10)$x
  part <- ufs_css(x, k = 4)
  expect_identical(feature_ranking(part)[1:5], feature_ranking(ufs_css(x))[1:5])
  expect_message(selected_features(part, 5), class = "ufs_message_partial")
  expect_equal(ufs_css(x, mu = 1.9)$params$mu_rel, .1)
  x <- planted(30, 12)$x
  css <- ufs_css(x, k = 5)
  expect_equal(ufs_captured(css, x, 1:5)[-1], css$trace[c("captured", "bound", "ratio")], tolerance = 1e-10)
  pca <- ufs_pca(x, 3)
  expect_refusals(ufs_captured(pca, x[1:20, ], 4), ufs_captured(pca, x, 13), ufs_captured(pca, x, character()),
    ufs_captured(ufs_ted(x), x, 1))
  x <- `colnames<-`(planted(30, 12)$x, paste0("f", 1:12))
  z <- centred(x)
  table <- ufs_captured(c("f3", "f5"), x)
  expect_equal(table$captured, held(z, c(3, 5)))
  expect_identical(table$k, 2L)
  expect_equal(ufs_captured(c(3, 5), x), table)
  expect_error(ufs_captured("f99", x), class = "ufs_error_argument")
  x <- cbind(x, flat = 1)
  fit <- suppressWarnings(ufs_css(x, k = 4))
  stands <- representatives(fit, k = 3)
  r <- suppressWarnings(stats::cor(x[, picks_of(fit)[1:3]], x))
  best <- apply(abs(r[, 1:12]), 2L, which.max)
  expect_equal(stands$representative, c(colnames(x)[picks_of(fit)[best]], NA), ignore_attr = TRUE)
  expect_equal(stands$r, c(r[cbind(best, 1:12)], NA))
  expect_equal(stands$explained, c(vapply(1:12, function(j) held(z[, c(picks_of(fit)[1:3], j)], 1:3, z[, j]), 0), NA))
})

test_that("ufs_pca() and ufs_jspca() say what their best n_components features hold", {
  for (size in list(c(30, 12), c(15, 40))) {
    x <- planted(size[1], size[2])$x
    z <- centred(x)
    for (fit in suppressWarnings(list(ufs_pca(x, 4), ufs_jspca(x, 4, loss = "feature"),
      ufs_jspca(x, 4, loss = "sample")))) {
      chosen <- suppressMessages(selected_features(fit, 4))
      expect_equal(fit$certificate[["captured"]], 1 - sum(qr.resid(qr(z[, chosen]), z)^2) / sum(z^2), tolerance = 1e-9)
      expect_equal(fit$certificate[["bound"]], sum(svd(z)$d[1:4]^2) / sum(z^2), tolerance = 1e-9)
    }
  }
  # Copies and constant columns: the share of distinct directions only.
  fit <- suppressWarnings(ufs_pca(cbind(z, z[, 1:5], 2), 6))
  expect_true(all(fit$certificate > 0 & fit$certificate <= 1))
  expect_lte(fit$certificate[["captured"]], fit$certificate[["bound"]])
})

test_that("the bound counts every copy of an eigenvalue; a column of one or two rows is named and not chosen", {
  # Its twelve largest eigenvalues are alike, and it is too large for LAPACK.
  u <- rep(c(1, -1), 86)
  block <- Matrix::Matrix(1 + 0.1 * outer(u, u), sparse = TRUE)
  x <- methods::as(Matrix::kronecker(Matrix::Diagonal(12), block), "CsparseMatrix")
  fit <- suppressMessages(ufs_css(x, k = 10, center = FALSE, scale = FALSE))
  value <- svd(as.matrix(block))$d^2
  bound <- sum(sort(rep(value, 12), decreasing = TRUE)[1:10]) / (12 * sum(value))
  expect_equal(fit$certificate[["bound"]], bound, tolerance = 1e-7)
  x <- as.matrix(mtcars)
  flag <- function(rows) cbind(x, flag = replace(numeric(32), rows, seq_along(rows)))
  quiet <- function(code) expect_message(code, NA, class = "ufs_message_few_rows")
  for (rows in list(5, c(5, 9))) {
    for (mu_rel in c(0, .1)) {
      expect_message(fit <- ufs_css(flag(rows), k = 10, mu_rel = mu_rel), "'flag'", class = "ufs_message_few_rows")
      barred <- ufs_css(ufs_data(flag(rows), exclude = "flag"), k = 10, mu_rel = mu_rel)
      expect_identical(fit$solution$order, barred$solution$order)
      expect_identical(fit$certificate, barred$certificate)
      expect_identical(unname(utils::tail(feature_ranking(fit), 1L)), 12L)
      expect_false(anyNA(feature_scores(fit)))
      taken <- ufs_css(ufs_data(flag(rows), include = "flag"), k = 10, mu_rel = mu_rel)
      expect_true("flag" %in% selected_features(taken))
    }
  }
  expect_true("flag" %in% selected_features(quiet(ufs_css(flag(5), k = 12))))
  expect_message(fit <- ufs_css(flag(5)), "'flag'", class = "ufs_message_few_rows")
  expect_false("flag" %in% names(fit$solution$order))
  expect_true("flag" %in% selected_features(quiet(ufs_css(ufs_data(flag(5), groups = c(rep(NA, 10), 1, 1)), k = 11))))
  # Two of three places filled: the bound is that of three.
  half <- ufs_css(mtcars[1:5], k = 3, groups = c(1, 1, 2, 2, 2), include = "mpg")
  expect_equal(half$certificate[["bound"]], sum(eigen(cor(mtcars[1:5]))$values[1:3]) / 5)
  expect_match(capture.output(half), "with 2 features; no choice of whole groups explains more than 95.5 %", all = FALSE)
  quiet(ufs_css(flag(c(5, 9, 12, 20)), k = 4))
  quiet(ufs_css(ufs_data(flag(5), include = "flag"), k = 4))
  quiet(ufs_css(ufs_data(flag(5), exclude = "flag"), k = 4))
  quiet(ufs_css(flag(5)[1:19, ], k = 4))
})

test_that("a tall x too large for a copy gives what the copy gives", {
  x <- planted(200, 12, informative = 8)$x * 3 + 50
  x <- `colnames<-`(cbind(x, x[, 1], x[, 2] + x[, 3], 4), paste0("f", 1:15))
  fits <- function() suppressWarnings(list(ufs_css(x, k = 6), ufs_css(x, k = 6, scale = FALSE, mu_rel = 0),
    ufs_css(x, k = 4, center = FALSE), ufs_css(x, k = 5, target = 3, swaps = TRUE),
    ufs_css(x, k = 4, optimal = TRUE), ufs_css(ufs_data(x, include = "f9"), k = 3)))
  copied <- fits()
  withr::local_options(ufselect.copy_bytes = 0)
  expect_false(is.null(suppressWarnings(column_triangle(x))$rows))
  lean <- fits()
  for (i in seq_along(lean)) {
    expect_identical(feature_ranking(lean[[i]]), feature_ranking(copied[[i]]))
    expect_equal(lean[[i]]$trace, copied[[i]]$trace, tolerance = 1e-9)
    expect_equal(lean[[i]]$certificate, copied[[i]]$certificate, tolerance = 1e-9)
    expect_equal(predict(lean[[i]], x, type = "reconstruction"),
      predict(copied[[i]], x, type = "reconstruction"), tolerance = 1e-7)
  }
  # Without the option, from 16 MiB on.
  withr::local_options(ufselect.copy_bytes = NULL)
  tall <- withr::with_seed(1, matrix(stats::rnorm(2.2e6), ncol = 4))
  expect_false(is.null(suppressMessages(column_triangle(tall))$rows))
  expect_null(suppressMessages(column_triangle(tall[1:1000, ]))$rows)
  withr::local_options(ufselect.copy_bytes = 0)
  # Columns far from zero; more rows than a strip has.
  far <- withr::with_seed(1, sweep(matrix(stats::rnorm(7200), 1200), 2L, 10^(1:6), "+"))
  expect_equal(stats::cov2cor(crossprod(column_triangle(far)$x)), stats::cor(far), tolerance = 1e-10)
  expect_message(ufs_css(cbind(x[, 1:12], flag = c(1, rep(0, 199))), k = 12), "'flag'", class = "ufs_message_few_rows")
  table <- data.frame(x[, 1:5], flag = c(1, rep(0, 199)), level = factor(rep(c("p", "q", "r", "p"), 50)))
  expect_message(fit <- ufs_css(table, k = 6, factors = "dummies"), "'flag'", class = "ufs_message_few_rows")
  expect_false("flag" %in% selected_features(fit))
  expect_equal(suppressWarnings(ufs_captured(lean[[1]], x, 1:6))[-1], lean[[1]]$trace[c("captured", "bound", "ratio")], tolerance = 1e-9)
})

test_that("RV and GCD of a choice are those of their definitions", {
  literal <- function(z, s) {
    project <- function(q) q %*% t(q)
    span <- project(qr.Q(qr(z[, s, drop = FALSE])))
    rv <- sum((span %*% z %*% t(span %*% z)) * (z %*% t(z)))
    c(rv / sqrt(sum(tcrossprod(span %*% z)^2) * sum(tcrossprod(z)^2)),
      sum(diag(span %*% project(svd(z)$u[, seq_along(s), drop = FALSE]))) / length(s))
  }
  for (size in list(c(30, 12), c(12, 30))) {
    x <- planted(size[1], size[2])$x
    for (s in list(4, c(2, 5, 9))) {
      found <- ufs_captured(s, x, criteria = TRUE)
      expect_equal(unlist(found[c("rv", "gcd")]), literal(centred(x), s), ignore_attr = TRUE)
    }
    fit <- ufs_css(x, k = 5)
    many <- ufs_captured(fit, x, 1:5, criteria = TRUE)
    expect_equal(many$gcd[5], literal(centred(x), picks_of(fit)[1:5])[2])
    expect_true(all(many$rv <= 1 + 1e-12 & many$gcd <= 1 + 1e-12))
  }
  expect_equal(ufs_captured(c(1, 3), cbind(x[, 1:6], x[, 1]), criteria = TRUE)$gcd,
    ufs_captured(c(1, 3, 7), cbind(x[, 1:6], x[, 1]), criteria = TRUE)$gcd)
  expect_error(ufs_captured(1, x, criteria = NA), class = "ufs_error_argument")
})

test_that("a further start keeps the half with the larger numbers and adds the column that is drawn", {
  x <- unname(scale(planted(30, 12, seed = 11)$x, scale = FALSE))
  # No exchange improves the first choice; one is made after a start, the best of all.
  run <- function(starts) css(x, 3L, 0, "p", 1L, starts = starts)$order
  first <- run(NULL)
  others <- setdiff(1:12, first)
  better <- 0
  for (leaves in 1:3) for (i in seq_along(others)) {
    found <- run(matrix(c(replace(c(.2, .3, .4), leaves, .1), (i - .5) / 9)))
    best <- max(held(x, first), exchanged(x, c(first[-leaves], others[i])))
    expect_equal(held(x, found), best)
    better <- better + (best > held(x, first) * (1 + 1e-6))
  }
  expect_gt(better, 0)
})

test_that("all components as the target are x itself, also those with hardly any variance", {
  x <- withr::with_seed(1, matrix(stats::rnorm(20 * 6), 20))
  x <- cbind(x, x[, 1:3] + 1e-2 * x[, 4:6])
  for (z in list(x, t(x))) {
    got <- constrained(z, NULL, k = 3L, swaps = TRUE, target = min(dim(z), nrow(z) - 1L))
    want <- constrained(z, NULL, k = 3L, swaps = TRUE)
    expect_identical(picks_of(got), picks_of(want))
    expect_equal(got$trace$target, want$trace$captured, tolerance = 1e-8)
  }
  x <- planted(30, 9, seed = 2)$x
  fit <- ufs_css(x, k = 3)
  expect_equal(sort(unname(feature_scores(fit)), decreasing = TRUE), 9:1 / 9)
  expect_output(print(fit), paste("3 principal components explain", signif(100 * fit$certificate[["bound"]], 3), "%"), fixed = TRUE)
  # 5 and 9 are spent; 1, 2 and 3 are what is left of 20.
  expect_identical(constrained(x, list(include = c(5L, 9L), cost = as.double(1:9), budget = 20))$params$affordable, 5L)
  for (seed in 1:6) {
    x <- withr::with_seed(seed, matrix(stats::rnorm(600), 30))
    groups <- rep(1:10, each = 2)
    once <- constrained(x, list(groups = groups, include = 3L), k = 6L, swaps = TRUE)
    fit <- withr::with_seed(1, constrained(x, list(groups = groups, include = 3L), k = 6L, starts = 12))
    chosen <- fit$solution$order
    expect_true(all(table(groups[chosen]) == 2L) && length(chosen) == 6L && all(3:4 %in% chosen))
    expect_gte(held(centred(x), unname(chosen)), held(centred(x), unname(once$solution$order)) - 1e-9)
  }
  x <- cbind(v1 = c(rep(0, 18), 8, 0, 0, 0, 2, 0, 0), v2 = c(1, rep(0, 24)), v3 = c(0, 9, rep(0, 23)))
  fit <- suppressMessages(ufs_css(ufs_data(x, cost = c(4, 1, 4), budget = 2), target = 1, center = FALSE,
    scale = FALSE, optimal = TRUE))
  expect_identical(list(names(fit$solution$order), fit$certificate[["target"]]), list("v2", 0))
  expect_identical(fit$certificate[["optimal"]], 1)
})

test_that("the second further start is the choice by loadings, written out", {
  by_loadings <- function(x, k) {
    v <- t(svd(x)$v[, seq_len(k)])
    left <- x - x %*% crossprod(v)
    chosen <- integer()
    for (t in seq_len(k)) {
      j <- which.min(replace(colSums(left^2) / colSums(v^2), chosen, Inf))
      w <- drop(crossprod(v, v[, j])) / sum(v[, j]^2)
      left <- left - outer(left[, j], w)
      v <- v - outer(v[, j], w)
      chosen <- c(chosen, j)
    }
    chosen
  }
  won <- 0L
  for (seed in 1:12) {
    x <- withr::with_seed(seed, centred(matrix(stats::rnorm(240), 40) %*% matrix(stats::rnorm(120), 6) +
      matrix(stats::rnorm(800), 40)))
    random <- withr::with_seed(seed, matrix(stats::runif(10), 5))
    for (form in c("p", "n")) {
      run <- function(starts) held(x, css(x, 4L, 0, form, 1L, starts = starts)$order)
      before <- run(random[, 1L, drop = FALSE])
      want <- max(before, exchanged(x, by_loadings(x, 4L)))
      expect_equal(run(random), want, tolerance = 1e-9)
      won <- won + (want > before * (1 + 1e-9))
    }
  }
  expect_gt(won, 0L)
})

test_that("the print says how many starts met, and what the proof shows", {
  x <- as.matrix(iris[, 1:4])
  said <- function(fit) gsub("\\s+", " ", paste(capture.output(print(fit)), collapse = " "))
  fit <- withr::with_seed(1, ufs_css(x, 2, starts = 6))
  expect_match(said(fit), paste("starts", fit$params$met, "of 6 found the best choice"))
  expect_match(said(ufs_css(x, 2, optimal = TRUE)), "no other choice of this size explains more")
  priced <- ufs_css(ufs_data(x, cost = c(1, 2, 1, 1), budget = 3), optimal = TRUE)
  expect_match(said(priced), "no other choice within the budget explains more")
  wide <- withr::with_seed(1, matrix(stats::rnorm(6000), 100))
  open <- suppressWarnings(ufs_css(wide, 12, optimal = TRUE, control = list(max_iter = 1)))
  most <- 100 * (open$certificate[["gap"]])
  expect_gt(most, 0)
  expect_match(said(open), paste("another choice may explain up to", signif(most, 3), "% more"))
})

test_that("strata keep columns of few rows, and find a choice wherever groups or correlations leave one", {
  few <- cbind(as.matrix(iris[seq(1, 150, 3), 1:4]), a = c(100, rep(0, 49)), b = c(0, 50, rep(0, 48)))
  of <- rep(c("u", "v"), c(4, 2))
  fit <- ufs_css(ufs_data(few, feature_strata = of, feature_quotas = c(u = 1, v = 1)), k = 2)
  expect_identical(sum(selected_features(fit) %in% c("a", "b")), 1L)
  expect_message(free <- ufs_css(few, k = 2), "columns 'a', 'b'", class = "ufs_message_few_rows")
  expect_false(any(c("a", "b") %in% selected_features(free)))
  z <- withr::with_seed(1, matrix(stats::rnorm(480), 40))
  r <- abs(stats::cor(z))
  chosen <- function(..., k) {
    tryCatch(quietly(selected_features(ufs_css(ufs_data(z, ...), k = k),
      as = "index")), ufs_error_argument = function(e) NULL)
  }
  for (seed in c(1:12, 17, 18, 20, 21)) {
    draw <- withr::with_seed(seed, list(sample(1:6, 12, TRUE), sample(1:3, 12, TRUE)))
    of <- letters[draw[[2L]]]
    units <- unique(draw[[1L]])
    all <- unlist(lapply(seq_along(units), utils::combn, x = units, simplify = FALSE), FALSE)
    fine <- vapply(all, function(some) {
      at <- draw[[1L]] %in% some
      sum(at) <= 4L && all(letters[1:3] %in% of[at])
    }, NA)
    found <- chosen(groups = draw[[1L]], feature_strata = of, k = 4L,
      feature_quotas = list(a = c(1, Inf), b = c(1, Inf), c = c(1, Inf)))
    expect_identical(is.null(found), !any(fine), info = seed)
    if (!is.null(found)) {
      expect_true(list(sort(unique(draw[[1L]][found]))) %in% lapply(all[fine], sort), info = seed)
      expect_setequal(found, which(draw[[1L]] %in% draw[[1L]][found]))
    }
    sets <- as.matrix(expand.grid(which(of == "a"), which(of == "b"), which(of == "c")))
    apart <- apply(sets, 1L, function(i) max(r[i, i][upper.tri(diag(3))]) <= 0.15)
    found <- chosen(max_cor = 0.15, feature_strata = of, feature_quotas = c(a = 1, b = 1, c = 1), k = 3L)
    expect_identical(is.null(found), !any(apart), info = seed)
    if (!is.null(found)) expect_lte(max(r[found, found][upper.tri(diag(3))]), 0.15)
  }
})

test_that("dependent included columns have a place in a proof; constant ones count by squares; forms of sparse x", {
  x <- as.matrix(iris[seq(1, 150, 3), 1:4])
  fit <- ufs_css(ufs_data(cbind(x, twice = 2 * x[, 1]), include = c("Sepal.Length", "twice")), k = 3, optimal = TRUE)
  expect_identical(fit$certificate[["optimal"]], 1)
  expect_true(all(c("Sepal.Length", "twice") %in% selected_features(fit)))
  # The third is the best beside Sepal.Length, by least squares.
  z <- scale(cbind(x, x[, 1]))
  share <- vapply(2:4, function(j) sum(qr.fitted(qr(z[, c(1, j)]), z)^2) / sum(z^2), 0)
  expect_equal(fit$certificate[["captured"]], max(share), tolerance = 1e-10)
  expect_true(colnames(x)[which.max(share) + 1L] %in% selected_features(fit))
  z <- withr::with_seed(1, cbind(a = rnorm(12, sd = .1), b = 10, c = rnorm(12, sd = .1), zero = 0))
  fit <- suppressWarnings(ufs_css(z, k = 1, mu_rel = 0, optimal = TRUE, center = FALSE, scale = FALSE))
  expect_identical(selected_features(fit), "b")
  expect_equal(fit$certificate[["captured"]], 1 - sum(qr.resid(qr(z[, "b"]), z)^2) / sum(z^2))
  expect_output(print(fit), "no other choice of this size of columns that vary explains more|of this size explains more")
  expect_identical(names(fit$feature_scores)[is.na(fit$feature_scores)], "zero")
  own <- suppressWarnings(ufs_captured("a", z, center = FALSE, scale = FALSE))
  expect_equal(own$captured, 1 - sum(qr.resid(qr(z[, "a"]), z)^2) / sum(z^2))
  pca <- suppressWarnings(ufs_pca(z, 1, center = FALSE, scale = FALSE))
  expect_identical(selected_features(pca, 1), "b")
  expect_equal(pca$certificate[["bound"]], svd(z)$d[1]^2 / sum(z^2))
  # One that varies not at all has no standard deviation to be divided by, and the proof says of what it is.
  scaled <- suppressWarnings(ufs_css(z, k = 1, mu_rel = 0, optimal = TRUE, center = FALSE))
  expect_output(print(scaled), "no other choice of this size of columns that vary explains more")
  skip_if_not_installed("Matrix")
  x <- withr::with_seed(1, Matrix::rsparsematrix(300, 500, .01))
  sparse <- suppressWarnings(ufs_css(x, 5, center = FALSE, scale = FALSE))
  dense <- suppressWarnings(ufs_css(as.matrix(x), 5, center = FALSE, scale = FALSE))
  expect_identical(c(sparse$params$form, dense$params$form), c("n", "p"))
  expect_identical(selected_features(sparse, as = "index"), selected_features(dense, as = "index"))
  expect_equal(sparse$certificate, dense$certificate, tolerance = 1e-8)
})

skip_if_not_installed("Matrix")

test_that("a sparse matrix gives what the dense one gives, full columns and the bound by its entries too", {
  x <- withr::with_seed(4, {
    x <- matrix(rpois(60 * 400, .05), 60)
    # Some columns have hardly a zero, and two are equal.
    x[, 1:5] <- rpois(300, 6)
    x[, 9] <- x[, 3]
    x[, colSums(x != 0) > 0]
  })
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  for (mu_rel in c(0, .1)) for (scaled in c(TRUE, FALSE)) {
    run <- function(x) ufs_css(x, k = 12, mu_rel = mu_rel, scale = scaled)
    plain <- run(x)
    fit <- run(sparse)
    expect_identical(c(fit$params$form, fit$input$kind), c("n", "sparse"))
    expect_identical(picks_of(fit), picks_of(plain))
    expect_equal(fit$trace, plain$trace, tolerance = 1e-9)
    expect_equal(fit$statistic, plain$statistic, tolerance = 1e-8)
  }
  # Of order above `exact_limit` the bound comes from products with x, here by its entries.
  few <- Matrix::sparseMatrix(rep_len(1:200, 600), rep(1:300, each = 2), x = withr::with_seed(1, runif(600)))
  expect_lt(8 * length(few@x), 200^2)
  data <- as_ufs_operator(open_quietly(few), TRUE, FALSE)
  lead <- function(x, limit) .Call(C_css_leading, x, list(k = 20L, exact_limit = limit), ufs_control())$leading
  expect_equal(lead(data$x, 10L), lead(data$x, 2000L), tolerance = 1e-7)
})

test_that("a sparse x without a Gram matrix: the picks of the p-form, constraints and a target, too", {
  x <- withr::with_seed(1, Matrix::rsparsematrix(120, 90, 0.1, rand.x = function(n) round(rexp(n), 2) + 0.01))
  x[, 7] <- 2 * x[, 9]
  # All but a copy, which is measured anew; and columns with hardly a zero.
  x[, 8] <- x[, 9] + 5e-3 * withr::with_seed(3, rbinom(120, 1, 0.1))
  x[, 20] <- withr::with_seed(2, rexp(120))
  x[, 21] <- 5 + 0.1 * x[, 20]
  dimnames(x) <- list(NULL, paste0("v", 1:90))
  constrained <- ufs_data(x, include = "v30", exclude = "v20", max_cor = 0.9)
  for (given in list(list(x, mu_rel = 0), list(x), list(constrained, mu_rel = 0), list(x, target = 5), list(x, mu_rel = 0, target = 5),
    list(x, center = FALSE), list(x, scale = FALSE))) {
    run <- function() do.call(ufs_css, c(given, list(k = 60)))
    dense <- suppressMessages(run())
    found <- withr::with_options(list(ufselect.max_bytes = 1e6), suppressMessages(run()))
    expect_identical(c(dense$params$form, found$params$form), c("p", "x"))
    expect_identical(found$solution$order, dense$solution$order)
    expect_equal(found$trace[c("decrease", "captured")], dense$trace[c("decrease", "captured")], tolerance = 1e-8)
    expect_equal(found$statistic, dense$statistic, tolerance = 1e-7)
    expect_equal(found$trace$target, dense$trace$target, tolerance = 1e-7)
    # Found by products, the bound is a little less sharp.
    expect_true(all(found$trace$bound >= dense$trace$bound * (1 - 1e-9)))
    expect_lt(max(found$trace$bound / dense$trace$bound), 1.2)
  }
  withr::local_options(ufselect.max_bytes = 1e6)
  expect_identical(ufs_css(x, k = 5, swaps = 1)$params$form, "p")
})

test_that("the squares of x'x, by segments of columns, strips of these and blocks of rows", {
  # More than one strip; more than one block of rows, and columns with hardly a zero.
  for (size in list(c(30, 4400, 0.2, 2e5), c(7400, 1000, 0.3, 2e8))) {
    withr::local_options(ufselect.max_bytes = size[4])
    x <- withr::with_seed(3, Matrix::rsparsematrix(size[1], size[2], size[3]))
    if (size[2] == 1000) x <- cbind(x[, -(1:2)], to_sparse(withr::with_seed(4, matrix(rnorm(2 * 7400), 7400))))
    ss <- Matrix::colSums(x^2)
    f <- if (size[1] < size[2]) Matrix::colSums(x * (Matrix::tcrossprod(x) %*% x)) else Matrix::colSums(Matrix::crossprod(x)^2)
    # With a large ridge what a column adds says what its squares are, but for the one that was picked.
    fit <- quietly(ufs_css(x, k = 1, mu = 1e9, center = FALSE, scale = FALSE))
    expect_identical(fit$params$form, "x")
    rest <- setdiff(which(ss > 0), fit$solution$order)
    expect_equal(unname(fit$statistic * (ss + 1e9))[rest], f[rest], tolerance = 1e-6)
  }
})
