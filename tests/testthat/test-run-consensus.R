# The members on x with decoys, by hand: their ranks (columns of x first), and what was drawn.
by_hand <- function(x, seed, fits, n_decoys = ncol(x)) {
  q <- ncol(x)
  withr::with_seed(seed, seeds <- draw_seeds(length(fits) + 1L))
  with <- with_seed(seeds[[length(seeds)]], with_decoys(open_data(x), seq_len(q), seq_len(q), n_decoys))
  w <- as.matrix(with$data)
  ranks <- Map(function(fit, seed) order(with$column[feature_ranking(with_seed(seed, fit(w)))]),
    fits, seeds[seq_along(fits)])
  list(ranks = vapply(ranks, as.numeric, numeric(q + n_decoys)), column = with$column)
}

test_that("the mean of ranks of the members, a pool that beats decoys, then a choice that differs", {
  x <- planted(30, 14, informative = 6)$x
  fit <- withr::with_seed(5,
    ufs_consensus(x, n_clusters = 3, k = 4, members = c("pca", "laplacian", "kmeans_f"), share = .3))
  hand <- by_hand(x, 5, list(function(w) ufs_pca(w, 3), function(w) ufs_laplacian(w, center = TRUE, scale = TRUE),
    function(w) ufs_kmeans_f(w, 3)))
  expect_identical(unname(fit$solution$ranks), hand$ranks[1:14, ])
  mean <- rowMeans(hand$ranks)
  expect_equal(unname(fit$solution$mean_rank), mean[1:14])
  ranking <- order(mean, order(hand$column))
  real <- ranking[ranking <= 14]
  share <- (match(real, ranking) - 1:14) / 1:14
  expect_equal(fit$decoys$share, share)
  pool <- max(4, which((match(real, ranking) - 1:14 + 1) / 1:14 <= .3))
  expect_gt(pool, 4)
  expect_lt(pool, 14)
  expect_identical(fit$params$pool, as.integer(pool))
  best <- real[1:pool]
  r <- abs(cor(x[, best]))
  chosen <- 1L
  while (length(chosen) < 4) {
    worth <- (pool:1) / pool - apply(r[, chosen, drop = FALSE], 1, max)
    worth[chosen] <- -Inf
    chosen <- c(chosen, which.max(worth))
  }
  expect_identical(unname(feature_ranking(fit)), c(best[chosen], setdiff(real, best[chosen])))
  own <- apply(hand$ranks[1:14, ], 2, rank)
  expect_identical(fit$members$chosen, unname(as.integer(colSums(own[best[chosen], ] <= 4))))
  expect_output(print(fit), "of the best 4 of each")
  expect_output(print(fit), "of the best 4 by mean rank no better than noise")
})

test_that("under noise the choice is of real columns, and k = NULL ends where noise begins", {
  skip_on_cran()
  set.seed(2)
  x <- planted(60, 15, informative = 15)$x
  w <- cbind(x, do.call(cbind, lapply(1:8, function(i) apply(x, 2, sample))))
  members <- c("pca", "laplacian", "kmeans_f")
  fit <- ufs_consensus(w, 3, k = 8, members = members, strength = .5)
  expect_gte(mean(selected_features(fit, 8, as = "index") <= 15), .75)
  # Any pool is filled with noise by a choice that differs.
  loose <- ufs_consensus(w, 3, k = 8, members = members, strength = 1, pool = 135)
  expect_lt(mean(selected_features(loose, 8, as = "index") <= 15), .7)
  open <- ufs_consensus(w, 3, members = members)
  expect_lt(open$params$k, 30)
  expect_gt(open$params$k, 8)
})

test_that("center and scale go to the members that have them", {
  x <- planted(30, 10, informative = 5)$x
  x[, 10] <- 1000 * x[, 10]
  for (scale in c(TRUE, FALSE)) {
    fit <- withr::with_seed(1, ufs_consensus(x, 3, k = 3, members = c("pca", "variance"), scale = scale, center = FALSE))
    hand <- by_hand(x, 1, list(function(w) ufs_pca(w, 3, center = FALSE, scale = scale),
      function(w) suppressWarnings(ufs_variance(w, scale = scale))))
    expect_identical(unname(fit$solution$ranks), hand$ranks[1:10, ])
    expect_identical(isFALSE(fit$scale), !scale)
    expect_false(fit$center)
  }
})

test_that("all seven members, and what cannot be a member", {
  skip_on_cran()
  x <- planted(40, 20)$x
  set.seed(1)
  fit <- suppressWarnings(ufs_consensus(x, n_clusters = 3, k = 6))
  expect_identical(nrow(fit$members), 7L)
  expect_lt(mean(match(1:8, feature_ranking(fit))), 8)
  expect_error(ufs_consensus(x, 3, members = "ted"), class = "ufs_error_argument")
  expect_error(ufs_consensus(x, 3, members = "nobody"), class = "ufs_error_argument")
  expect_error(ufs_consensus(x, 3, members = c("pca", "pca")), class = "ufs_error_argument")
  expect_error(ufs_consensus(x, 3, members = "topk"), class = "ufs_error_argument")
  expect_warning(ufs_consensus(x, 3, k = 3, members = c("pca", "topk")), class = "ufs_warning_member")
})

test_that("the same for any number of workers", {
  skip_if_not_installed("future")
  skip_processes()
  x <- planted(30, 10)$x
  run <- function() withr::with_seed(2, ufs_consensus(x, 3, k = 3, members = c("kmeans_f", "pca"))$feature_scores)
  alone <- run()
  old <- future::plan(future::multisession, workers = 2)
  withr::defer(future::plan(old))
  expect_identical(run(), alone)
})

test_that("constant columns, wherever they are, change nothing", {
  skip_on_cran()
  x <- planted(40, 12, informative = 5)$x
  colnames(x) <- paste0("f", 1:12)
  run <- function(x) withr::with_seed(3, suppressMessages(suppressWarnings(ufs_consensus(x, n_clusters = 3, k = 5))))
  plain <- run(x)
  padded <- run(cbind(c0 = 1, x[, 1:4], c1 = 7, x[, 5:12], c2 = 0))
  expect_identical(selected_features(padded, 5), selected_features(plain, 5))
  expect_equal(padded$feature_scores[colnames(x)], plain$feature_scores, tolerance = 1e-12)
  expect_equal(padded$certificate, plain$certificate, tolerance = 1e-8)
  expect_true(all(padded$solution$mean_rank[colnames(x)] <= 24))
  expect_identical(padded$decoys, plain$decoys)
})

test_that("members that tie all columns agree with nothing, and nothing is warned of", {
  skip_on_cran()
  x <- withr::with_seed(1, matrix(stats::rnorm(8), 4))
  colnames(x) <- c("a", "b")
  # On four samples of two columns some mean of ranks is tied.
  for (seed in 1:6) {
    z <- withr::with_seed(seed, x[sample(4), ] + stats::rnorm(8))
    expect_warning(fit <- withr::with_seed(1, suppressMessages(ufs_consensus(z, 2, control = ufs_control(warn = FALSE)))), NA)
    expect_true(all(is.na(fit$members$agreement) | abs(fit$members$agreement) <= 1 + 1e-12))
  }
})
