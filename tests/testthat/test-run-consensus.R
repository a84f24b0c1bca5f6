skip_on_cran()

judges_by_hand <- function(scale = TRUE, center = TRUE) {
  list(function(w) ufs_pca(w, 3, center = center, scale = scale),
    function(w) ufs_laplacian(w, center = center, scale = scale))
}

test_that("members see some of very many rows, which the print says", {
  x <- withr::with_seed(1, matrix(rnorm(300 * 8), 300))
  x[, 1:3] <- x[, 1:3] + 4 * rep(0:1, 150)
  x[, 8] <- rep(c(1, 0), c(1, 299))
  looked <- some_rows(open_quietly(x), 1:8, 300L)
  expect_identical(looked$x$n, 300L)
  expect_null(looked$size)
  some <- some_rows(open_quietly(x), 1:8, 100L, from = 200L)
  # Rows by the golden ratio, and the one that tells a rare flag.
  rows <- union(which(rank((1:300 * (sqrt(5) - 1) / 2) %% 1) <= 100), 1L)
  expect_identical(some$x$x, x[sort(rows), ])
  expect_identical(some$size, length(rows))
  run <- function(x) suppressMessages(ufs_consensus(x, 2, k = 3, members = c("pca", "laplacian")))
  # Ranks are those of these rows, whatever the others hold.
  plain <- run(x[sort(rows), ])
  withr::local_options(ufselect.most_rows = 100)
  fit <- run(x)
  expect_identical(fit$solution$ranks, plain$solution$ranks)
  expect_output(print(fit), paste("rows         ", length(rows), ", spread over all", sep = ""), fixed = TRUE)
  withr::local_options(ufselect.most_rows = Inf)
  expect_identical(some_rows(open_quietly(x), 1:8, 100L)$x$n, 300L)
  withr::local_options(ufselect.most_rows = "all")
  expect_error(run(x), "most_rows", class = "ufs_error_argument")
})

test_that("the mean of the members' ranks, a pool that beats decoys, then a choice that differs", {
  x <- planted(30, 14, informative = 6)$x
  fit <- withr::with_seed(5,
    ufs_consensus(x, n_clusters = 3, k = 4, members = c("pca", "laplacian", "kmeans_f"), share = .3))
  ranks <- sapply(list(ufs_pca(x, 3), ufs_laplacian(x, center = TRUE, scale = TRUE),
    ufs_kmeans_f(x, 3, init = ref_parted(scale(x), 3))), function(f) order(feature_ranking(f)))
  expect_identical(unname(fit$solution$ranks), ranks + 0)
  mean <- rowMeans(ranks)
  expect_equal(unname(fit$solution$mean_rank), mean)
  seeds <- withr::with_seed(looking_seed, draw_seeds(3))
  draws <- ref_safe(x, seeds, judges_by_hand(), .3)
  expect_equal(fit$decoys$share, draws$share)
  pool <- sum(draws$safe)
  expect_gt(pool, 4)
  expect_lt(pool, 14)
  expect_identical(fit$params$pool, pool)
  choose <- function(safe) {
    best <- order(!safe, mean)[seq_len(max(4, sum(safe)))]
    r <- abs(cor(x[, best]))
    chosen <- 1L
    while (length(chosen) < 4) {
      worth <- rev(seq_along(best)) / length(best) - apply(r[, chosen, drop = FALSE], 1, max)
      worth[chosen] <- -Inf
      chosen <- c(chosen, which.max(worth))
    }
    best[chosen]
  }
  chosen <- choose(draws$safe)
  expect_identical(unname(feature_ranking(fit)), c(chosen, setdiff(order(mean), chosen)))
  alone <- sapply(seeds, function(seed) mean(choose(ref_safe(x, list(seed), judges_by_hand(), .3)$safe) %in% chosen))
  expect_equal(fit$decoys$repeatable, mean(alone))
  expect_identical(fit$members$chosen, as.integer(colSums(ranks[chosen, ] <= 4)))
  expect_output(print(fit), "of the best 4 of each")
  expect_output(print(fit), "columns to choose from, by [0-9]+ decoys that pca and laplacian rank")
  expect_output(print(fit), "each of 3 draws of decoys by itself chooses")
})

test_that("the start without random numbers is that of Su and Dy, whatever the seed", {
  for (seed in 1:4) {
    z <- planted(40, 9, c = 5, seed = seed)$x
    set.seed(seed)
    found <- parted_clusters(z, 5L)
    set.seed(seed + 10L)
    expect_identical(parted_clusters(z, 5L), found)
    expect_identical(found, canonical_labels(ref_parted(z, 5)))
  }
  # K-means sees coordinates of a wide table.
  wide <- planted(40, 9, c = 5, seed = 1)$x %*% matrix(sin(seq_len(9 * 25100)), 9)
  expect_identical(parted_clusters(wide, 5L), canonical_labels(ref_parted(wide, 5)))
  short <- ufs_control(max_iter = 0, warn = FALSE)
  given <- ufs_socfs(z, 4, init = ref_parted(ufs_pca(z, 4)$solution$scores, 4), control = short)
  expect_equal(ufs_socfs(z, 4, init = "pca_part", control = short)$trace$objective[1], given$trace$objective[1])
  for (method in c("ndfs", "kmeans_f")) {
    own <- ufs(z, method, n_clusters = 4, init = "pca_part")
    given <- ufs(z, method, n_clusters = 4, init = ref_parted(scale(z), 4))
    expect_equal(feature_scores(own), feature_scores(given))
    expect_equal(own$solution$within_ss, given$solution$within_ss)
  }
  expect_error(ufs_kmeans_f(z, 4, init = "pca_part", weights = rep(1:2, 20)), class = "ufs_error_argument")
  # No more clusters than rows that differ.
  expect_identical(parted_clusters(matrix(c(0, 0, 1, 1), 4, 2), 3L), c(1L, 1L, 2L, 2L))
  few <- matrix(rep(c(0, 1, 5, 2, 7), c(4, 4, 4, 4, 4)), 10, 2)
  expect_warning(ufs_consensus(few, 6, k = 2, members = c("laplacian", "kmeans_f")), class = "ufs_warning_member")
})

test_that("the same columns for every seed and any number of workers", {
  # Here other decoys would choose other columns.
  set.seed(5)
  noisy <- cbind(planted(40, 20, informative = 12)$x, matrix(stats::rnorm(40 * 60), 40))
  run <- function(x, seed) withr::with_seed(seed, ufs_consensus(x, 4, k = 4, control = ufs_control(warn = FALSE)))
  expect_lt(run(noisy, 5)$decoys$repeatable, 1)
  for (x in list(mtcars, longley, attitude, noisy)) {
    chosen <- lapply(1:3, function(seed) selected_features(run(x, seed)))
    expect_identical(chosen[2:3], chosen[c(1, 1)])
  }
  skip_if_not_installed("future")
  skip_processes()
  x <- planted(30, 10)$x
  run <- function() withr::with_seed(2, ufs_consensus(x, 3, k = 3, members = c("kmeans_f", "pca"))$feature_scores)
  alone <- run()
  local_workers()
  expect_identical(run(), alone)
})

test_that("under noise the choice is of real columns, and k = NULL ends where noise begins", {
  set.seed(2)
  x <- planted(60, 15, informative = 15)$x
  w <- cbind(x, do.call(cbind, lapply(1:8, function(i) apply(x, 2, sample))))
  members <- c("pca", "laplacian", "kmeans_f")
  fit <- ufs_consensus(w, 3, k = 8, members = members, strength = .5)
  expect_gte(mean(selected_features(fit, 8, as = "index") <= 15), .75)
  expect_equal(fit$solution$choice$worth, rev(seq_along(fit$solution$choice$worth)) / nrow(fit$solution$choice))
  # Any pool is filled with noise by a choice that differs.
  loose <- ufs_consensus(w, 3, k = 8, members = members, strength = 1, pool = 135)
  expect_lt(mean(selected_features(loose, 8, as = "index") <= 15), .7)
  open <- ufs_consensus(w, 3, members = members)
  expect_true(open$params$k > 8 && open$params$k < 30)
})

test_that("center and scale go to the members that have them; all seven members, and what cannot be a member", {
  x <- planted(30, 10, informative = 5)$x
  x[, 10] <- 1000 * x[, 10]
  for (scale in c(TRUE, FALSE)) {
    fit <- withr::with_seed(1, ufs_consensus(x, 3, k = 3, members = c("pca", "variance"), scale = scale, center = FALSE))
    ranks <- sapply(list(ufs_pca(x, 3, center = FALSE, scale = scale), suppressWarnings(ufs_variance(x, scale = scale))),
      function(f) order(feature_ranking(f)))
    expect_identical(unname(fit$solution$ranks), ranks + 0)
    draws <- ref_safe(x, withr::with_seed(looking_seed, draw_seeds(3)), judges_by_hand(scale, FALSE), .1)
    expect_equal(fit$decoys$share, draws$share)
    expect_identical(isFALSE(fit$scale), !scale)
    expect_false(fit$center)
  }
  x <- planted(40, 20)$x
  set.seed(1)
  fit <- suppressWarnings(ufs_consensus(x, n_clusters = 3, k = 6))
  expect_identical(nrow(fit$members), 7L)
  expect_lt(mean(match(1:8, feature_ranking(fit))), 8)
  expect_refusals("`members`: ufs_ted() selects samples." = ufs_consensus(x, 3, members = "ted"),
    ufs_consensus(x, 3, members = "nobody"), ufs_consensus(x, 3, members = "topk"),
    "`members` must be names of methods, each once." = ufs_consensus(x, 3, members = c("pca", "pca")))
  expect_warning(ufs_consensus(x, 3, k = 3, members = c("pca", "topk")), class = "ufs_warning_member")
})

test_that("members that tie all columns agree with nothing; those that look for the same neighbours share a graph", {
  x <- withr::with_seed(1, matrix(stats::rnorm(8), 4, dimnames = list(NULL, c("a", "b"))))
  # On four samples of two columns some mean of ranks is tied.
  for (seed in 1:6) {
    z <- withr::with_seed(seed, x[sample(4), ] + stats::rnorm(8))
    expect_warning(fit <- withr::with_seed(1, suppressMessages(ufs_consensus(z, 2, control = ufs_control(warn = FALSE)))), NA)
    expect_true(all(is.na(fit$members$agreement) | abs(fit$members$agreement) <= 1 + 1e-12))
  }
  set.seed(7)
  x <- matrix(rnorm(60 * 12), 60) + 2 * outer(rep(0:2, 20), 1:12 %% 4 == 0)
  members <- c("ndfs", "mcfs", "laplacian", "pca")
  for (scale in c(TRUE, FALSE)) {
    set.seed(1)
    shared <- ufs_consensus(x, 3, k = 3, members = members, scale = scale)
    for (member in members[1:3]) {
      args <- list(x = x, method = member, scale = scale, center = TRUE)
      if (member != "laplacian") args$n_clusters <- 3
      if (member == "ndfs") args$init <- "pca_part"
      expect_equal(unname(shared$solution$ranks[, member]), order(unname(do.call(ufs, args)$feature_ranking)))
    }
  }
  own <- list(center = TRUE, scale = TRUE)
  tasks <- list(list(method = "mcfs", args = own), list(method = "pca", args = own))
  found <- with_shared_parts(tasks, open_data(x))
  expect_named(found[[1]]$args, c("center", "scale", "graph"))
  expect_identical(found[[2]], tasks[[2]])
  replaced("component_weights", function(...) stop("no luck"))
  replaced("graph_of_products", function(...) stop("no luck"))
  expect_refused(ufs_consensus(x, 3, k = 2, members = c("variance", "pca")),
    "No decoys can be told from columns: no luck")
})
