# Replicates where columns are chosen: against level means, shrunk, in plain R.

# Ten columns that repeat among 60 of correlated noise that do not. `shared`: the ten have three
# factors in common.
repeated_rows <- function(seed = 1, shared = FALSE) {
  withr::with_seed(seed, {
    g <- rep(1:60, each = 3)
    signal <- matrix(rnorm(600), 60)[g, ] + .5 * matrix(rnorm(1800), 180)
    if (shared) signal <- signal + 3 * matrix(rnorm(180), 60)[g, rep(1:3, length.out = 10)]
    x <- cbind(signal, matrix(rnorm(180 * 60), 180) %*% (diag(60) + .3 * matrix(rnorm(3600), 60)))
    list(x = `colnames<-`(x, c(paste0("signal", 1:10), paste0("noise", 1:60))), g = g)
  })
}
signals <- function(fit) sum(grepl("signal", selected_features(fit, 10)))

# One column at a time, with missing values left out: list(means, share).
levels_by_hand <- function(z, g) {
  levels <- unique(g)
  out <- apply(z, 2L, function(v) {
    at <- !is.na(v)
    part <- split(v[at], factor(g[at], levels))
    size <- lengths(part)
    mean <- vapply(part, mean, 0)
    within <- sum(vapply(part, function(w) sum((w - mean(w))^2), 0)) / (sum(size) - sum(size > 0))
    between <- sum(size * (mean - mean(v[at]))^2, na.rm = TRUE) / (sum(size > 0) - 1)
    c(max(0, 1 - within / between), ifelse(size > 0, mean, mean(v[at])))
  })
  list(share = out[1L, ], means = out[-1L, ])
}

d <- repeated_rows()

test_that("every method finds them, or says why it cannot", {
  skip_on_cran()
  table <- ufs_methods(what = "constraints")
  columns <- subset(ufs_methods(), selects == "features" & method != "random")$method
  refuse <- table$method[table$replicates == "refused"]
  expect_setequal(refuse, c("topk", "udfs", "sogfs"))
  for (method in columns) {
    given <- list(n_components = 5, n_clusters = 5)
    given <- given[intersect(names(given), names(needed(method)))]
    fit <- function() do.call(fit_of, c(list(method, d$x, replicates = d$g, k = 10), given))
    if (method %in% refuse) {
      expect_error(fit(), class = "ufs_error_argument", "takes no `replicates`: its? .*shr", info = method)
    } else {
      expect_gte(signals(fit()), 9L, label = method)
    }
  }
})

test_that("a fit is the method's on the means of levels times reliability", {
  keep <- withr::with_seed(2, sort(sample(180, 140)))
  g <- d$g[keep]
  # Unequal sizes, levels of one row, missing values; rows in any order.
  x <- d$x[keep, c(1:10, 11:30)]
  x <- withr::with_seed(3, replace(x, sample(length(x), 200), NA))
  g[5] <- NA
  alone <- replace(g, 5, 999)
  found <- levels_by_hand(scale(x)[, ], alone)
  table <- sweep(found$means, 2L, found$share, "*")
  for (method in c("css", "pca", "laplacian", "spca", "rsr")) {
    given <- switch(method, css = list(k = 5), pca = , spca = list(n_components = 3), list())
    fit <- function(x, ...) do.call(fit_of, c(list(method, x), given, list(...)))
    own <- fit(x, replicates = g, scale = TRUE)
    by_hand <- fit(if (method == "rsr") table / sqrt(nrow(table) - 1) else table, scale = FALSE)
    expect_equal(feature_scores(own), feature_scores(by_hand), tolerance = 1e-6, info = method)
    expect_identical(feature_ranking(own), feature_ranking(by_hand), info = method)
  }
  # The variance is that of the column in its own unit.
  plain <- ufs_variance(x, replicates = g)
  right <- apply(table, 2, var) * apply(x, 2, var, na.rm = TRUE)
  live <- levels_by_hand(x, alone)$share > 0
  expect_equal(feature_scores(plain)[live], right[live], tolerance = 1e-10)
  expect_true(all(is.na(feature_scores(plain)[!live])))
  expect_equal(plain$levels$reliability, levels_by_hand(x, alone)$share, tolerance = 1e-10)
  expect_identical(c(plain$n, plain$levels$n_levels), c(140L, length(unique(alone))))
})

test_that("rows are centred and scaled by a fit as its levels were", {
  z <- scale(d$x)[, ]
  hand <- levels_by_hand(z, d$g)
  for (center in c(TRUE, FALSE)) {
    fit <- ufs_css(d$x, k = 5, replicates = d$g, center = center)
    if (center) {
      right <- sweep(sweep(z, 2, hand$share, "*"), 2, colMeans(hand$means) * hand$share)
      live <- hand$share > 0
      expect_equal(unname(scaled_as(fit, d$x)[, live]), unname(right[, live]), tolerance = 1e-10)
    }
    back <- predict(fit, d$x, type = "reconstruction")
    signal <- d$x[, 1:10]
    expect_identical(dim(back), dim(d$x))
    expect_false(anyNA(back))
    expect_identical(colnames(predict(fit, d$x)), selected_features(fit))
  }
  expect_equal(ufs_captured(fit, d$x), ufs_captured(selected_features(fit), d$x, center = TRUE), tolerance = 1e-10)
  expect_identical(fit$params$scale, TRUE)
  expect_identical(nrow(representatives(ufs_pca(d$x, 3, k = 5, replicates = d$g), d$x)),
    nrow(representatives(ufs_pca(d$x, 3, k = 5), d$x)))
  for (one in list(ufs_css(d$x, k = 5, replicates = d$g), ufs_pca(d$x, 3, k = 5, replicates = d$g))) {
    expect_s3_class(ufs_diversify(one, d$x, 4), "ufs")
    withr::local_pdf(NULL)
    for (type in c("share", "heatmap", "embedding")) expect_invisible(plot(one, type, data = d$x))
  }
})

test_that("weights are rows, blocks are taken out, sparse data and columns' constraints are the same", {
  x <- d$x[, 1:20]
  counts <- rep(c(1, 2, 3), 60)
  long <- rep(seq_len(180), counts)
  fit <- function(x, ...) ufs_css(x, k = 5, ...)
  weighted <- fit(x, replicates = d$g, weights = counts)
  expect_equal(feature_scores(weighted), feature_scores(fit(x[long, ], replicates = d$g[long])), tolerance = 1e-10)
  expect_equal(ufs_captured(weighted, x), ufs_captured(selected_features(weighted), x[long, ]))
  batch <- rep(1:3, 60)
  moved <- x + 9 * batch
  # Batches that are not taken out cover whatever repeats.
  expect_error(fit(moved, replicates = d$g), class = "ufs_error_argument", "no column of `x` repeats")
  blocked <- fit(moved, replicates = d$g, blocks = batch)
  expect_equal(unname(blocked$levels$reliability), ufs_reliability(moved, d$g, blocks = batch)$table$reliability)
  expect_true(all(grepl("signal", selected_features(blocked))))
  kept <- fit(x, replicates = d$g, include = "noise3", exclude = "signal1")
  expect_true("noise3" %in% selected_features(kept) && !"signal1" %in% selected_features(kept))
  skip_if_not_installed("Matrix")
  holed <- replace(x, abs(x) < .5, 0)
  sparse <- Matrix::Matrix(holed, sparse = TRUE)
  expect_equal(feature_scores(fit(sparse, replicates = d$g)), feature_scores(fit(holed, replicates = d$g)))
})

test_that("means of levels in unbalanced blocks are those of the two-way fit; constant columns move no reliability", {
  set.seed(7)
  # Samples bridge the batches in a chain; the last batch has samples of its own.
  g <- c(1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8)
  batch <- c(1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 1, 2, 3, 4, 4, 4, 4)
  x <- matrix(rnorm(17 * 5), 17) + 2 * matrix(rnorm(40), 8)[g, ] + 5 * matrix(rnorm(20), 4)[batch, ]
  found <- data_of_levels(ufs_data(x, replicates = g, blocks = batch))
  hand <- vapply(1:5, function(j) {
    fit <- lm(x[, j] ~ 0 + factor(g) + factor(batch))
    effect <- coef(fit)[1:8]
    # Batches 1 to 3 hang together; each part has the mean of the column.
    effect - ave(effect[g], g > 6)[!duplicated(g)] + mean(x[, j])
  }, numeric(8))
  share <- ufs_reliability(x, g, blocks = batch)$table$reliability
  expect_equal(unname(found$x), unname(sweep(hand, 2, share, "*")), tolerance = 1e-10)
  expect_equal(unname(found$levels$share), share)
  expect_equal(found$levels$df, 6)
  expect_equal(unname(ufs_pca(x, 2, replicates = g, blocks = batch)$levels$reliability), share)
  x <- d$x[1:60, c(1:4, 11:14)]
  ranks <- function(x) withr::with_seed(1, suppressMessages(withCallingHandlers(
    ufs_consensus(x, n_clusters = 2, k = 3, members = c("mcfs", "pca", "laplacian"), replicates = d$g[1:60]),
    ufs_warning_constant = function(w) invokeRestart("muffleWarning"))))$solution$ranks
  withr::local_options(warn = 2)
  expect_equal(ranks(cbind(flat = 2, x))[-1, ], ranks(x))
})

test_that("prints, looks and decoys know of replicates; those that say nothing are errors", {
  data <- ufs_data(d$x, replicates = d$g)
  expect_output(print(ufs_css(data, k = 5)),
    paste0("180 samples x 70 features\n.*means of 60 levels, shrunk by reliability.*", "do not\\s+repeat at all"))
  look <- ufs_look(data)
  expect_identical(look$repeats[c("n", "of", "levels")],
    list(n = ufs_reliability(data)$n_repeats, of = 70L, levels = 60L))
  expect_output(print(look), "of 70 columns repeat better than chance over 60 levels")
  expect_null(ufs_look(d$x)$repeats)
  related <- ufs_data(repeated_rows(shared = TRUE)$x, replicates = d$g)
  decoys <- withr::with_seed(1, ufs_decoys(related, "pca", n_components = 3))
  expect_output(print(decoys), "10 of 70 columns are better than noise")
  holes <- replace(d$x, cbind(1:50, 1), NA)
  expect_equal(ufs_reliability(holes, d$g)$table$reliability, unname(levels_by_hand(holes, d$g)$share))
  refused <- function(words, ..., class = "ufs_error_argument") expect_error(ufs_css(..., k = 3), class = class, words)
  refused("no level has two rows", d$x, replicates = 1:180)
  refused("one level only in each of the `blocks`", d$x, replicates = rep(1:3, each = 60), blocks = rep(1:3, each = 60))
  refused("1 level; at least 3", d$x, replicates = rep(1, 180))
  refused("2 levels; at least 3", d$x, replicates = rep(1:2, 90))
  noise <- sin(outer(1:180, 1:4)) * 1e-3 + rep(c(-1, 1), 90)
  refused("no column of `x` repeats", noise, replicates = rep(1:90, each = 2))
  refused("infinite", replace(d$x, 5, Inf), replicates = d$g, class = "ufs_error_input")
  refused("missing values", replace(d$x, 5, NA), replicates = d$g, blocks = rep(1:3, 60),
    block_scale = TRUE, class = "ufs_error_input")
  refused("scale", d$x, replicates = d$g, scale = "both")
  expect_refusals("single rows.*rowsum" = ufs_size(d$x, task = "compress", replicates = d$g))
  flat <- d$x
  flat[, 4] <- 7
  expect_warning(fit <- ufs_css(flat, k = 3, replicates = d$g), class = "ufs_warning_constant", "signal4")
  expect_output(print(fit), "(1 constant)", fixed = TRUE)
})

test_that("k = \"auto\" counts the columns that repeat and have to do with others", {
  skip_on_cran()
  d <- repeated_rows(shared = TRUE)
  found <- withr::with_seed(1, suppressMessages(ufs_pca(d$x, 3, k = "auto", replicates = d$g)))
  expect_gte(found$params$k, 10)
  expect_lte(found$params$k, 14)
  expect_identical(signals(found), 10L)
  # ufs_size() draws halves of the levels, and says the same.
  size <- withr::with_seed(1, ufs_size(d$x, "pca", n_components = 3, replicates = d$g, n_resamples = 4, repeats = 5))
  expect_identical(size$k, found$params$k)
  expect_gt(size$at$stability, .9)
  expect_identical(as.vector(table(d$g[half_rows(ufs_data(d$x, replicates = d$g), 30L)])), rep(3L, 30L))
  # A column that does not repeat at all cannot be chosen.
  all <- d$x[, 1:11]
  all[, 11] <- rep(c(-1, 0, 1), 60)
  expect_lte(withr::with_seed(1, suppressMessages(ufs_pca(all, 3, k = "auto", replicates = d$g)))$params$k, 10L)
})

test_that("a grid takes replicates as each of its fits does; what judges single rows says so", {
  made <- repeated_rows()
  grid <- ufs_grid(made$x, "css", list(mu_rel = c(0, .1)), k = 10, replicates = made$g)
  for (i in 1:2) {
    one <- ufs_css(made$x, 10, mu_rel = c(0, .1)[i], replicates = made$g)
    expect_equal(unname(grid$feature_rankings[, i]), unname(one$feature_ranking))
  }
  expect_refusals("single rows.*ufs_reliability.*the means of its levels: rowsum" = ufs_select(made$x, 10, replicates = made$g),
    "single rows" = ufs_stability(made$x, "css", k = 10, replicates = made$g))
})
