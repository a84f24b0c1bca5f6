# How many: the curves are those of the other functions, the answer follows its rule.

skip_on_cran()

set.seed(11)
x <- matrix(rnorm(60 * 24), 60)
x[, 1:8] <- x[, 1:8] + matrix(rnorm(24, sd = 4), 3)[rep_len(1:3, 60), ]
x <- sweep(x, 2, rep_len(c(1, 10), 24), "*")
colnames(x) <- paste0("c", 1:24)
sized <- function(x, ..., seed = 1) {
  withr::with_seed(seed, quietly(ufs_size(x, "pca", n_components = 2, repeats = 2, n_resamples = 4, ...)))
}

test_that("the curves are those of the other functions", {
  out <- sized(x, k = c(24, 3, 8))
  expect_identical(out$curve$k, c(3L, 8L, 24L))
  fit <- ufs_pca(x, 2)
  expect_equal(out$curve[c("captured", "bound")], ufs_captured(fit, x, c(3, 8, 24))[c("captured", "bound")],
    tolerance = 1e-10)
  z <- scale(x)
  near <- nearest(z, 5)
  kept <- vapply(c(3, 8, 24), function(k) {
    other <- nearest(z[, selected_features(fit, k)], 5)
    mean(vapply(1:60, function(i) mean(near[, i] %in% other[, i]), 0))
  }, 0)
  expect_equal(out$curve$knn_overlap, kept)
  expect_identical(out$curve$share, pmin(out$decoys$curve$share[c(3, 8, 24)], out$decoys$noise * 24 / c(3, 8, 24)))
  # All columns have the noise that the table has.
  expect_lte(out$curve$share[3], out$decoys$noise + 1e-12)
  expect_true(is.na(out$curve$stability[3]))
  expect_gt(out$curve$stability[2], .5)
  # Of halves: all rows would give the same choice each time.
  expect_true(all(out$curve$stability[1:2] < 1))
  expect_identical(sized(x)$k, out$k)
})

test_that("stability is that of the best k of halves; the rule: noise, some, all, not repeatable", {
  rankings <- list(all = 1:6, halves = list(c(1, 2, 3, 4, 5, 6), c(2, 1, 4, 3, 6, 5), c(1, 3, 2, 5, 4, 6)))
  small <- x[, 1:6]
  data <- as_ufs_operator(small, TRUE, TRUE)
  curve <- size_curve(rankings, data, list(curve = data.frame(share = rep(0, 6)), noise = 1, usable = 6L), c(2L, 6L), seq_len(nrow(small)))
  expect_equal(curve$stability, c(nogueira(rbind(1:6 %in% 1:2, 1:6 %in% 1:2, 1:6 %in% c(1, 3)), .95)$stability, NA))
  rule <- function(better, stability = .8, noise = .9, q = 100, high = noise + .1) {
    size_rule(list(usable = q, k = c(pca = better), noise = noise, noise_high = high, share = .05),
      data.frame(stability = stability))
  }
  asked_of <- list(rule(0L), rule(30L), rule(99L), rule(30L, noise = .5), rule(0L, noise = .5), rule(30L, noise = .51),
    # Few columns may all be noise: by the range, or because nobody can say.
    rule(0L, noise = .4, high = 1), rule(0L, noise = NA_real_), rule(30L, .05),
    # All columns cannot be chosen otherwise.
    rule(100L, NA_real_, noise = 0))
  expect_identical(vapply(asked_of, `[[`, "", "verdict"),
    c("noise", "some", "some", "all", "all", "some", "noise", "noise", "unstable", "all"))
  expect_identical(lapply(asked_of[c(1, 2, 4, 9)], `[[`, "k"), list(0L, 30L, 100, 30L))
})

test_that("k = \"auto\" is the answer of ufs_size(), asked of principal components where decoys say little", {
  set.seed(1)
  some <- auto_k(x, "pca", list(n_components = 2), repeats = 2)
  expect_identical(some$by, "pca")
  set.seed(1)
  css <- auto_k(x, "css", list(k = 5, mu_rel = .1, scale = TRUE))
  expect_identical(css$by, "pca")
  expect_lte(abs(css$k - 8), 4)
  set.seed(1)
  expect_identical(auto_k(x, "mcfs", list(n_clusters = 2), repeats = 2)$k, some$k)
})

test_that("the answer on columns among noise, on noise and on columns alone, from sparse data and files too", {
  some <- sized(x)
  expect_identical(some$verdict, "some")
  expect_lt(abs(some$k - 8), 3)
  expect_identical(some$k, some$decoys$k[["pca"]])
  expect_identical(sized(x[, 1:8])[c("k", "verdict")], list(k = 8L, verdict = "all"))
  none <- sized(matrix(rnorm(60 * 40), 60))
  expect_identical(none[c("k", "verdict")], list(k = 0L, verdict = "noise"))
  expect_output(print(none), "no column is better than noise")
  flat <- sized(cbind(flat = 2, x))
  expect_identical(flat$k, some$k)
  expect_identical(flat$curve$k, some$curve$k)
  x[x < 0] <- 0
  dense <- sized(x)
  for (kind in layouts_of(x)[c("sparse", "by_rows", "shared")]) {
    if (is.null(kind)) next
    found <- sized(kind)
    expect_identical(found$k, dense$k)
    expect_equal(found$curve, dense$curve, tolerance = 1e-6)
  }
})

test_that("a fit will do; a folder keeps the work; mistakes and fits that fail are told", {
  folder <- withr::local_tempdir()
  set.seed(1)
  one <- quietly(ufs_size(x, ufs_pca(x, 2), repeats = 2, n_resamples = 3, checkpoint = folder))
  expect_identical(one$method, "pca")
  again <- quietly(ufs_size(x, "pca", n_components = 2, repeats = 2, n_resamples = 3, checkpoint = folder))
  expect_identical(again$checkpoint$reused, 4L)
  expect_identical(again$curve, one$curve)
  run <- function(...) ufs_size(x, ...)
  expect_arguments(method = run("topk", k = 3, n_clusters = 2), method = run("ted"),
    method = run(c("pca", "random"), n_components = 2), k = run("pca", n_components = 2, k = 25),
    n_resamples = run("pca", n_components = 2, n_resamples = 1), n_comp = run("pca", n_comp = 2),
    method = run("pca", n_components = 50))
  x <- withr::with_seed(1, matrix(rnorm(20), 5))
  failed <- size_fit(list(seed = draw_seeds(1L)[[1L]]), list(x = x, method = "pca", args = list(n_components = 99)))
  expect_named(failed, "error")
  expect_match(failed$error, "n_components")
  few <- task_size(open_data(x), "css", list(scale = TRUE), "compress")
  expect_identical(few$k, 4L)
  expect_identical(few$verdict, "all")
  expect_match(few$reason, "too few to judge fewer")
  expect_null(rest_of_picks(list(keep = 1:3), 1:3, 1:5))
  replaced("rest_settings", list(level = .05, most = 50L, flops = 0))
  expect_null(rest_of_picks(list(keep = 1:4, n = 5L, x = x), 1:4, 1:5))
  expect_error(ufs_size(mtcars, "variance", k = 1:3, include = 1:2), "must be in", class = "ufs_error_argument")
})

test_that("tables and pictures are those of the curve; a task has a number, its reason and its curve", {
  out <- sized(x)
  expect_identical(as.data.frame(out), out$curve)
  pic <- picture(out)
  expect_equal(pic$table$y[pic$table$series == "captured"], out$curve$captured)
  groups <- planted(60, 20, informative = 20)$x
  size <- withr::with_seed(1, ufs_size(groups, task = "cluster", n_clusters = 3))
  expect_match(size$curve$measure[1L], "neighbours")
  fit <- withr::with_seed(1, ufs_select(groups, "auto", "cluster", n_clusters = 3))
  expect_identical(size[c("k", "method", "curve")], list(k = fit$size, method = fit$method, curve = fit$size_curve))
  expect_output(print(size), paste0("k = ", size$k, ": "), fixed = TRUE)
  expect_identical(as.data.frame(size), size$curve)
  expect_identical(picture(size)$table, picture(fit, "size")$table)
  # 45 % of many columns; pairs among noise that no component tells are counted all the same.
  wide <- withr::with_seed(1, matrix(rnorm(60 * 200), 60) + matrix(rnorm(600, sd = 3), 3)[rep(1:3, 20), ])
  expect_identical(ufs_size(wide, task = "classify")$k, 90L)
  expect_match(ufs_size(wide, task = "classify")$reason, "^45 % of the columns, 60 at least and 300 at most")
  noise <- withr::with_seed(1, matrix(rnorm(60 * 80), 60))
  expect_warning(size <- ufs_size(cbind(noise, noise[, 1:3] + .1), task = "cluster"), class = "ufs_warning_size")
  expect_identical(size[c("verdict", "reason")], list(verdict = "some", reason = "about as many columns do not look like noise"))
  expect_refusals(ufs_size(groups), ufs_size(groups, "pca", task = "cluster"))
  own <- function(...) ufs_size(groups, task = "cluster", ...)
  expect_arguments(k = own(k = 3), repeats = own(repeats = 2), share = own(share = .1), n_resamples = own(n_resamples = 4))
  expect_refusals(ufs_size(groups, task = "order"), ufs_size(groups, task = "cluster", swaps = 3))
})

test_that("k = \"auto\" of a method is the number that ufs_size() names, and is refused where it has no meaning", {
  asked <- function(code) withr::with_seed(6, quietly(code))
  for (method in c("pca", "kmeans_f", "random")) {
    args <- switch(method, pca = list(n_components = 2L), kmeans_f = list(n_clusters = 3L))
    size <- asked(do.call(ufs_size, c(list(x, method, n_resamples = 2L), args)))
    fit <- asked(do.call(ufs, c(list(x, method, k = "auto"), args)))
    expect_identical(fit$params$k, if (size$verdict == "noise") 24L else size$k, info = method)
    expect_length(quietly(selected_features(fit)), fit$params$k)
    own <- asked(do.call(paste0("ufs_", method), c(list(x, k = "auto"), args)))
    expect_identical(own$feature_ranking, fit$feature_ranking)
    # The call is that for the number, so that it can be repeated.
    expect_identical(c(own$call$k, fit$call$k), rep(fit$params$k, 2L))
  }
  expect_message(fit <- withr::with_seed(6, ufs_pca(x, 2, k = "auto")), "columns are better than noise",
    class = "ufs_message_size")
  expect_lt(fit$params$k, 24L)
  expect_identical(eval(fit$call)$params$k, fit$params$k)
  # The arguments of ufs_data() count: columns that must be in are no evidence, and are in.
  kept <- asked(ufs_pca(x, 2, k = "auto", include = "c24"))
  expect_identical(kept$params$k, asked(ufs_size(x, "pca", n_components = 2, n_resamples = 2L, include = "c24"))$k)
  expect_true("c24" %in% selected_features(kept))
  noise <- withr::with_seed(1, matrix(rnorm(60 * 12), 60))
  expect_warning(none <- withr::with_seed(1, ufs_pca(noise, 2, k = "auto")), class = "ufs_warning_size")
  expect_identical(none$params$k, 12L)
  expect_arguments(k = ufs_topk(x, k = "auto", n_clusters = 2), k = ufs(x, "blfse", n_clusters = 2, k = "auto"),
    k = ufs_facility(x, k = "auto"), k = ufs_css(x, k = "many"))
  # The subset method is sized by as many components as are above noise.
  for (seed in c(3, 5, 6)) {
    x <- withr::with_seed(seed, {
      cbind(matrix(rnorm(24, sd = 2), 3)[rep(1:3, 20), ] + rnorm(480, sd = .7), matrix(rnorm(60 * 22), 60))
    })
    size <- withr::with_seed(1, quietly(decoys_size(ufs_data(x), "css")))
    expect_identical(size$verdict, "some", info = seed)
    expect_true(size$k >= 6 && size$k <= 10, info = seed)
  }
})

# n rows of `true` independent columns and mixes of them with noise of their own.
mixed_columns <- function(n, p, true, seed) {
  withr::with_seed(seed, {
    x <- matrix(rnorm(n * true), n)
    cbind(x, x %*% matrix(rnorm(true * (p - true)), true) * .6 + matrix(rnorm(n * (p - true)), n))
  })
}

test_that("the rest after k columns is noise where its correlations are those of independent columns", {
  for (size in list(c(60, 12), c(30, 50))) {
    x <- scale(mixed_columns(size[1], size[2], 3, 1))
    found <- rest_is_noise(x, seq_len(size[2]), size[1] - 1, 50)
    by_hand <- vapply(0:3, function(k) {
      e <- if (k) qr.resid(qr(x[, seq_len(k)]), x[, -seq_len(k)]) else x
      nu <- size[1] - 1 - k
      r2 <- cor(e)[upper.tri(diag(ncol(e)))]^2
      # Moments of one squared correlation of independent columns.
      beta <- c(1, nu - 1) / 2
      mean <- length(r2) * beta[1] / sum(beta)
      variance <- length(r2) * prod(beta) / (sum(beta)^2 * (sum(beta) + 1))
      1 - pgamma(sum(r2), mean^2 / variance, mean / variance)
    }, 0)
    expect_equal(found$p_value, by_hand[seq_along(found$p_value)], tolerance = 1e-8)
    expect_identical(found$k, 3L)
  }
  twin <- scale(mixed_columns(60, 12, 3, 1))
  after <- function(ranking) rest_is_noise(cbind(twin, twin[, 1:3]), ranking, 59, 50)$k
  expect_identical(c(after(1:15), after(c(1, 13, 2, 14, 3:12, 15))), c(3L, 5L))
  expect_identical(rest_is_noise(twin, 1:12, 59, 2)$k, NA_integer_)
  expect_identical(rest_is_noise(twin[, c(1, 1, 1, 1)], 1:4, 59, 50)$k, 1L)
})

test_that("ufs_size() of css says after how many columns the rest is noise; halves keep the rows of a level together", {
  x <- mixed_columns(200, 15, 3, 1)
  size <- ufs_size(x, "css", repeats = 2, n_resamples = 2)
  expect_equal(size$rest, rest_is_noise(scale(x), unname(feature_ranking(ufs_css(x))), 199, 50), tolerance = 1e-8)
  expect_match(capture.output(print(size)), "beyond the best 3 the others have nothing in common but chance", all = FALSE)
  noise <- ufs_size(withr::with_seed(1, matrix(rnorm(2000), 50)), "css", repeats = 2, n_resamples = 2)
  expect_match(capture.output(print(noise)), "the columns have nothing in common but chance", all = FALSE)
  expect_null(ufs_size(x, "variance", repeats = 2, n_resamples = 2)$rest)
  expect_null(ufs_size(ufs_data(x, weights = rep(1:2, 100)), "css", repeats = 2, n_resamples = 2)$rest)
  # Within blocks there are as many means as blocks.
  block <- rep(1:4, 50)
  within <- apply(x, 2, function(column) column - ave(column, block))
  expect_equal(ufs_size(x, "css", repeats = 2, n_resamples = 2, blocks = block)$rest,
    rest_is_noise(scale(within), unname(feature_ranking(ufs_css(within))), 196, 50), tolerance = 1e-8)
  size$rest <- list(k = NA, p_value = c(0, 0, 0))
  expect_match(capture.output(print(size)), "beyond the best 2 the others still have something in common", all = FALSE)
  level <- rep(1:4, each = 2)
  x <- withr::with_seed(1, ufs_data(matrix(rnorm(40), 8), replicates = level))
  expect_identical(as.vector(table(level[withr::with_seed(1, half_rows(x, 2))])), c(2L, 2L, 2L))
})

# Unrelated columns of 60 samples, each measured five times.
measured <- function(seed, sd = .3) {
  set.seed(seed)
  id <- rep(1:60, each = 5)
  y <- matrix(rnorm(480), 60)
  list(x = y[id, ] + rnorm(2400) * sd, id = id, y = y)
}

test_that("the rest, decoys, auto and the look count levels of replicates, not their rows", {
  d <- measured(5)
  data <- ufs_data(d$x, replicates = d$id)
  size <- withr::with_seed(1, ufs_size(data, "css", n_resamples = 2, repeats = 3))
  expect_identical(size[c("k", "verdict", "levels")], list(k = 0L, verdict = "noise", levels = 60L))
  expect_identical(size$rest$k, 0L)
  expect_equal(size$rest$p_value, rest_is_noise(scale(rowsum(d$x, d$id) / 5), 1:8, 59, 50)$p_value[1])
  decoys <- withr::with_seed(1, ufs_decoys(data, c("pca", "laplacian"), n_components = 3))
  expect_identical(unname(decoys$k), c(0L, 0L))
  expect_output(print(decoys), "300 samples x 8 features (60 levels of replicates)", fixed = TRUE)
  expect_warning(suppressMessages(withr::with_seed(1, ufs_css(data, k = "auto"))),
    class = "ufs_warning_size", "no column is better than noise")
  look <- ufs_look(data)
  expect_gt(look$noise_low, .9)
  expect_identical(look$repeats$n, 8L)
})

test_that("columns that do not repeat are noise to the look, and cannot be chosen", {
  d <- measured(6)
  shared <- matrix(rnorm(60), 60)[d$id, ]
  # Noise that rows share and samples do not: as rows, more than half of the columns have company.
  x <- cbind(2 * shared + .3 * d$x[, 1:5], rnorm(300) + matrix(rnorm(300 * 5), 300) * .5)
  data <- ufs_data(x, replicates = d$id)
  repeats <- sum(ufs_reliability(data)$table$reliability > 0)
  expect_gte(ufs_look(data)$noise, 1 - repeats / 10)
  expect_lt(ufs_look(x)$noise, .2)
  decoys <- withr::with_seed(1, ufs_decoys(data, "pca", n_components = 1))
  expect_identical(decoys$usable, repeats)
  expect_lte(decoys$k[["pca"]], repeats)
  expect_identical(ufs_look(ufs_data(d$x[, 1:5] * c(-1, 1, 0, 2, -2), replicates = rep(1:60, each = 5)))$noise, 1)
})

test_that("to compress, columns that are chosen count as kept, and more never keep less", {
  set.seed(1)
  size <- suppressMessages(ufs_size(matrix(rnorm(150 * 135), 150), task = "compress"))
  expect_match(size$curve$measure[1L], "rows left out")
  expect_false(is.unsorted(size$curve$value))
  # Of unrelated columns so many of 135 keep that part.
  expect_equal(size$curve$value, size$curve$number / 135, tolerance = .03)
  expect_identical(size$curve$value[12], 1)
  expect_gte(size$k, .93 * 135)
  # Ten columns with four others each like them: ten are enough, and are no more than what they are.
  x <- matrix(rnorm(1200), 120)[, rep(1:10, 5)] + .1 * matrix(rnorm(6000), 120)
  curve <- withr::with_seed(1, rebuilt_curve(scale(x), c(5, 10, 20, 50)))
  expect_gt(curve$value[2], .95)
  expect_true(all(curve$low <= curve$value & curve$value <= curve$high + .01))
})

test_that("refusals say what is wrong and on which rows; k = \"auto\" stays within quotas", {
  expect_refused(ufs_size(mtcars[1:5, ], "variance"), "`x` has 5 rows; 6 are needed.", "ufs_error_input")
  fine <- list(ranking = 1:3)
  wrong <- list(error = "no luck")
  expect_refused(size_rankings(list(wrong, fine, fine), "pca"), "ufs_pca() failed: no luck")
  expect_refused(size_rankings(list(fine, wrong, fine), "pca"), "ufs_pca() failed on halves of the samples: no luck")
  found <- size_rankings(list(fine, wrong, fine, list(ranking = 3:1)), "pca")
  expect_identical(found, list(all = 1:3, halves = list(1:3, 3:1), errors = "no luck"))
  x <- as.matrix(iris[seq(1, 150, 3), 1:4])
  held <- ufs_data(x, feature_strata = c("u", "u", "v", "v"), feature_quotas = c(u = 1, v = 1))
  # All four are better than noise, and two may be chosen.
  expect_length(selected_features(suppressMessages(ufs_variance(held, k = "auto"))), 2L)
  expect_identical(suppressMessages(length(selected_features(ufs_variance(x, k = "auto")))), 4L)
  # Decoys are made without quotas; the choice among the real columns keeps to them.
  held <- ufs_data(cbind(x, withr::with_seed(1, matrix(rnorm(50 * 12), 50))), feature_strata = rep(c("u", "v"), 8),
    feature_quotas = list(u = c(1, 2), v = c(1, 3)))
  chosen <- selected_features(suppressMessages(ufs_select(held, "auto", "cluster")), as = "index")
  expect_true(sum(chosen %% 2 == 1) %in% 1:2 && sum(chosen %% 2 == 0) %in% 1:3)
  data <- as_rescaled_operator(open_data(x), TRUE, TRUE)
  expect_setequal(size_ranking(open_data(x), data, "pca", list(scale = TRUE)), 1:4)
  replaced("quiet_fit", function(...) list(error = "no luck"))
  expect_refused(size_ranking(open_data(x), data, "css", list()), "k = \"auto\": ufs_css() failed: no luck")
})

test_that("rows that are no units are told where the rest is judged", {
  set.seed(3)
  series <- apply(matrix(rnorm(1800), 300), 2, function(e) stats::filter(e, .95, "recursive"))
  size <- function(x) withr::with_seed(1, suppressMessages(ufs_size(x, "css", n_resamples = 2, repeats = 1)))
  expect_warning(found <- size(series), "takes rows to be independent.*mean correlation 0[.]9", class = "ufs_warning_rows")
  expect_gt(found$rest$k, 0)
  expect_warning(size(series[sample(300), ]), NA)
})
