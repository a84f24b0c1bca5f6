skip_on_cran()

centred <- function(x) unname(scale(x))

test_that("picks, values and bounds are those of the plain greedy choice; after swaps no exchange helps", {
  for (size in list(c(40, 12), c(25, 60), c(30, 2))) {
    x <- planted(size[1], size[2], informative = min(8, size[2]))$x
    d2 <- as.matrix(stats::dist(centred(x)))^2
    for (kind in c("cosine", "heat")) {
      s <- if (kind == "cosine") ref_cosine(centred(x)) else exp(-d2 / stats::median(d2[lower.tri(d2)]))
      ref <- ref_facility(s, 12)
      fit <- ufs_facility(x, m = 12, similarity = kind)
      expect_identical(picks_of(fit), ref$order)
      expect_equal(fit$trace$objective, ref$value, tolerance = 1e-10)
      expect_equal(fit$trace$bound, ref$bound, tolerance = 1e-10)
      expect_equal(fit$certificate, c(value = ref$value[12], bound = ref$bound[12],
        ratio = ref$value[12] / ref$bound[12]), tolerance = 1e-10)
      expect_equal(ref_value(s, selected_samples(fit, 12)), fit$certificate[["value"]], tolerance = 1e-10)
      expect_identical(selected_samples(fit, 5), ref$order[1:5])
    }
  }
  # A case in which the first pick of the greedy choice is in the way of two better ones.
  s <- cbind(rbind(c(1, .9, 0, 0), c(.6, .9, 0, 0), c(.6, 0, .9, 0), c(.9, 0, .9, 0), c(0, 0, 0, .2)), 0)
  greedy <- ufs_facility(diag(5), m = 2, similarity = s)
  swapped <- ufs_facility(diag(5), m = 2, similarity = s, swaps = 5)
  expect_identical(picks_of(greedy)[1], 1L)
  expect_setequal(picks_of(swapped), 2:3)
  expect_gt(swapped$params$swaps, 0L)
  expect_gt(swapped$certificate[["value"]], greedy$certificate[["value"]])
  x <- planted(40, 10, seed = 2)$x
  s <- ref_cosine(centred(x))
  fit <- ufs_facility(x, m = 5, swaps = TRUE, labelled = 2)
  expect_gt(fit$params$swaps, 0L)
  chosen <- selected_samples(fit, 5)
  value <- ref_value(s, c(2, chosen))
  for (out in chosen) for (inn in setdiff(1:40, c(2, chosen))) {
    expect_lte(ref_value(s, c(2, inn, setdiff(chosen, out))), value * (1 + 1e-9))
  }
  expect_message(selected_samples(fit, 3), class = "ufs_message_partial")
})

test_that("without a table: several blocks of candidates, rows of zeros and copies", {
  x <- withr::with_seed(4, matrix(rnorm(650 * 4), 650))
  x[c(7, 300), ] <- 0
  x[400:420, ] <- x[20:40, ]
  for (kind in c("cosine", "heat")) {
    run <- function(swaps = 0) ufs_facility(x, m = 90, similarity = kind, center = FALSE, scale = FALSE, labelled = 3, swaps = swaps)
    kept <- run()
    tiles <- withr::with_options(list(ufselect.max_bytes = 5e5), run())
    expect_identical(picks_of(tiles), picks_of(kept))
    expect_equal(tiles$trace$objective, kept$trace$objective, tolerance = 1e-12)
    expect_true(all(tiles$trace$bound >= kept$trace$bound * (1 - 1e-12)))
    expect_equal(tiles$statistic, kept$statistic, tolerance = 1e-9)
    expect_gt(max(tiles$trace$evaluations), 200)
    expect_lt(sum(tiles$trace$evaluations), 0.3 * 650 * 90)
    if (kind == "heat") {
      swapped <- withr::with_options(list(ufselect.max_bytes = 5e5), run(swaps = 2))
      expect_identical(picks_of(swapped), picks_of(run(swaps = 2)))
      expect_identical(swapped$params$swaps, 2L)
    }
  }
})

test_that("graphs and given similarities: sparse, dense and asymmetric agree with the reference", {
  x <- planted(40, 12)$x
  graph <- suppressWarnings(ufs_graph(x, n_neighbours = 6))
  s <- as.matrix(graph)
  diag(s) <- 1
  ref <- ref_facility(s, 10)
  fit <- ufs_facility(x, m = 10, similarity = graph)
  expect_identical(picks_of(fit), ref$order)
  expect_equal(fit$trace$bound, ref$bound, tolerance = 1e-10)
  expect_identical(picks_of(ufs_facility(x, m = 10, similarity = s)), ref$order)
  s <- withr::with_seed(5, matrix(stats::runif(1600) * (stats::runif(1600) < .3), 40))
  ref <- ref_facility(s, 10)
  fit <- ufs_facility(x, m = 10, similarity = s)
  expect_identical(picks_of(fit), ref$order)
  expect_equal(fit$trace$objective, ref$value, tolerance = 1e-10)
  expect_equal(fit$trace$bound, ref$bound, tolerance = 1e-10)
  skip_if_not_installed("Matrix")
  sparse <- ufs_facility(x, m = 10, similarity = Matrix::Matrix(s, sparse = TRUE))
  expect_identical(sample_ranking(sparse), sample_ranking(fit))
  expect_equal(sparse$certificate, fit$certificate, tolerance = 1e-12)
})

test_that("units do not matter; copies come last; labelled samples cover and are not picked", {
  x <- planted(50, 14, seed = 3)$x
  base <- picks_of(ufs_facility(x, m = 10))
  for (unit in c(1e-160, 1e155)) {
    expect_identical(picks_of(ufs_facility(unit * centred(x), m = 10, center = FALSE, scale = FALSE)), base)
    expect_identical(picks_of(ufs_facility(unit * centred(x), m = 10, similarity = "heat",
      center = FALSE, scale = FALSE)), picks_of(ufs_facility(x, m = 10, similarity = "heat")))
  }
  # Nor does the length of a row for its cosines.
  apart <- centred(x) * rep_len(c(1e-170, 1e160), nrow(x))
  expect_identical(picks_of(ufs_facility(apart, m = 10, center = FALSE, scale = FALSE)), base)
  twice <- ufs_facility(rbind(x, x), m = 60, center = FALSE)
  expect_true(all(picks_of(twice)[1:50] <= 50L))
  expect_equal(twice$trace$ratio[50:60], rep(1, 11), tolerance = 1e-12)
  expect_identical(picks_of(twice)[51:60], 51:60)
  x <- `rownames<-`(planted(30, 10)$x, paste0("s", 1:30))
  ref <- ref_facility(ref_cosine(centred(x)), 6, c(2L, 11L))
  fit <- ufs_facility(x, m = 6, labelled = c("s11", "s2"))
  expect_identical(picks_of(fit), ref$order)
  expect_equal(fit$certificate[["bound"]], ref$bound[6], tolerance = 1e-10)
  expect_identical(sample_ranking(ufs_facility(x, m = 6, labelled = 1:30 %in% c(2, 11))), sample_ranking(fit))
  first <- ufs_facility(x, m = 5)
  expect_identical(picks_of(ufs_facility(x, m = 3, labelled = selected_samples(first, 2))), picks_of(first)[3:5])
  for (bad in list(0, 31, 1.5, NA, "nobody", rep(TRUE, 29), 1:30, list(1))) {
    expect_error(ufs_facility(x, labelled = bad), class = "ufs_error_argument")
  }
})

test_that("representatives are the most similar chosen; m is a number of picks, and without it bounds are cautious", {
  x <- planted(35, 8)$x
  s <- ref_cosine(centred(x))
  fit <- ufs_facility(x, m = 9, labelled = 4)
  for (m in c(1, 4, 9)) {
    chosen <- c(selected_samples(fit, m), 4L)
    who <- chosen[apply(s[, chosen], 1L, which.max)]
    table <- representatives(fit, m)
    expect_equal(table$share, table$weight / fit$n)
    expect_identical(table$index, chosen)
    expect_identical(table$weight, tabulate(match(who, chosen), m + 1L))
    expect_identical(sum(table$weight), 35L)
    expect_identical(representatives(fit, m, what = "samples")$representative, who)
  }
  expect_refusals(representatives(fit, 10), representatives(ufs_pca(x, 2)))
  x <- planted(30, 6, informative = 4)$x
  full <- ufs_facility(x)
  expect_identical(nrow(full$trace), 30L)
  expect_equal(full$certificate[["ratio"]], min(full$trace$ratio))
  part <- ufs_facility(x, m = 4)
  expect_identical(sample_ranking(part)[1:5], sample_ranking(full)[1:5])
  expect_message(selected_samples(part, 5), class = "ufs_message_partial")
  for (bad in list(diag(3), -diag(30), matrix(0, 30, 30), matrix(NA_real_, 30, 30), "euclid", 3)) {
    expect_error(ufs_facility(x, similarity = bad), class = "ufs_error_argument")
  }
  expect_refusals(ufs_facility(x, bandwidth = 2), ufs_facility(x, similarity = suppressWarnings(ufs_graph(x[1:20, ]))))
})

# Plain greedy choice among what is affordable, by the gain over cost^power.
literal_budget <- function(s, cost, budget, power, labelled = integer()) {
  cover <- if (length(labelled)) apply(s[, labelled, drop = FALSE], 1L, max) else rep(0, nrow(s))
  picks <- integer()
  repeat {
    open <- setdiff(which(cost <= budget - sum(cost[picks]) + 1e-12), c(picks, labelled))
    if (!length(open)) return(list(picks = picks, value = sum(cover)))
    gain <- vapply(open, function(j) sum(pmax(s[, j] - cover, 0)), 0) / cost[open]^power
    best <- open[which.max(gain >= max(gain) - 1e-10)]
    picks <- c(picks, best)
    cover <- pmax(cover, s[, best])
  }
}

test_that("a budget: the better of two greedy choices, and a bound that no set passes", {
  x <- withr::with_seed(3, matrix(rnorm(14 * 3), 14))
  s <- 1 + tcrossprod(x / sqrt(rowSums(x^2)))
  cost <- withr::with_seed(4, round(runif(14, .5, 4), 2))
  sets <- as.matrix(expand.grid(rep(list(c(FALSE, TRUE)), 14)))
  value <- apply(sets, 1L, function(set) if (any(set)) sum(apply(s[, set, drop = FALSE], 1L, max)) else 0)
  control <- resolve_control(ufs_control())
  for (stored in c(TRUE, FALSE)) {
    like <- list(kind = 0L, x = x, bandwidth = 1, stored = stored)
    for (budget in c(2, 4, 7.3, 12)) {
      open <- list(cost = cost, budget = budget)
      found <- facility_picks(like, 14L, 14L, open, 0L, control)
      expect_lte(sum(cost[found$order]), budget + 1e-9)
      both <- lapply(0:1, function(power) literal_budget(s, cost, budget, power))
      expect_equal(found$run$counters[["value"]], max(vapply(both, `[[`, 0, "value")), tolerance = 1e-10)
      # What the budget could buy on top of either, the last one in part.
      most <- vapply(both, function(made) {
        open <- setdiff(which(cost <= budget), made$picks)
        cover <- apply(s[, made$picks, drop = FALSE], 1L, max)
        gain <- vapply(open, function(j) sum(pmax(s[, j] - cover, 0)), 0)
        by_cost <- order(-gain / cost[open])
        before <- cumsum(c(0, cost[open][by_cost]))[seq_along(by_cost)]
        made$value + sum(pmin(1, pmax(0, budget - before) / cost[open][by_cost]) * gain[by_cost])
      }, 0)
      expect_equal(found$bound[1L], min(most), tolerance = 1e-10)
      best <- max(value[sets %*% cost <= budget])
      expect_gte(found$bound[1L], best - 1e-8)
      expect_lte(found$bound[1L], 2 * best)
      swapped <- facility_picks(like, 14L, 14L, open, 50L, control)
      expect_lte(sum(cost[swapped$order]), budget + 1e-9)
      expect_gte(swapped$run$counters[["value"]], found$run$counters[["value"]] - 1e-9)
    }
    allowed <- rep(c(TRUE, FALSE), 7)
    some <- facility_picks(like, 14L, 14L, list(labelled = 3L, allowed = allowed), 0L, control)
    expect_setequal(some$order, setdiff(which(allowed), 3L))
    expect_identical(some$order[1L], {
      gain <- colSums(pmax(s - s[, 3], 0))
      gain[!allowed] <- -1
      which.max(gain)
    })
  }
})

test_that("heat between clusters far from each other is that of the distances themselves", {
  # Multiples of 1/16 and means of 0: differences are exact.
  z <- withr::with_seed(5, matrix(round(16 * rnorm(24 * 3)) / 16, 24))
  x <- cbind(z[, 1] + (2^30 * rep(c(1, -1), 12)), z[, 2:3])
  x[, 1] <- x[, 1] - mean(x[, 1])
  d2 <- as.matrix(stats::dist(x))^2
  ref <- ref_facility(exp(-d2 / 2), 8)
  width <- stats::median(d2[lower.tri(d2)])
  for (input in c(list(x), if (requireNamespace("Matrix", quietly = TRUE)) list(Matrix::Matrix(x, sparse = TRUE)))) {
    for (bytes in c(8 * 2^30, 5e4)) {
      withr::local_options(ufselect.max_bytes = bytes)
      fit <- ufs_facility(input, m = 8, similarity = "heat", bandwidth = 2, scale = FALSE)
      expect_identical(picks_of(fit), ref$order)
      expect_equal(fit$trace$objective, ref$value, tolerance = 1e-7)
    }
  }
  expect_equal(ufs_facility(x, m = 8, similarity = "heat", scale = FALSE)$params$bandwidth, width, tolerance = 1e-7)
  # 2 and 12: the median distance is one within a cluster.
  x <- x[c(1, 3, seq(2, 24, 2)), ]
  expect_equal(median_square(x), stats::median(as.vector(stats::dist(x))^2), tolerance = 1e-10)
  expect_equal(square_distances(x, x[1:4, ]), unname(as.matrix(stats::dist(x))[, 1:4]^2), tolerance = 1e-12)
})

test_that("without a table: what is kept is bounded where the candidates that it is judged by mislead", {
  # Every tenth sample is far from all others, the candidates that the estimate looks at.
  x <- withr::with_seed(6, matrix(rnorm(640 * 3), 640))
  x[seq(1, 640, 10), ] <- 1e3 * x[seq(1, 640, 10), ]
  run <- function() ufs_facility(x, m = 30, similarity = "heat", scale = FALSE, bandwidth = 4)
  kept <- run()
  tiles <- withr::with_options(list(ufselect.max_bytes = 1e5), run())
  expect_identical(picks_of(tiles), picks_of(kept))
  expect_equal(tiles$trace$objective, kept$trace$objective, tolerance = 1e-12)
  expect_equal(tiles$statistic, kept$statistic, tolerance = 1e-9)
  x <- outer(1:12, 1:2)
  expect_identical(c(near_copies(rbind(x, x + .01), c(1L, 5L, 13L, 17L, 20L)), near_copies(x, 3L)), c(2L, 0L))
  skip_if_not_installed("Matrix")
  set.seed(2)
  x <- matrix(rnorm(30 * 8) * (runif(240) < .4), 30)
  blocks <- rep(1:3, 10)
  for (center in c(TRUE, FALSE)) for (similarity in c("cosine", "heat")) {
    own <- ufs_facility(Matrix::Matrix(x, sparse = TRUE), 5, similarity, blocks = blocks, center = center)
    held <- ufs_facility(x, 5, similarity, blocks = blocks, center = center)
    expect_identical(unname(own$solution$order), unname(held$solution$order))
    expect_equal(own$certificate, held$certificate, tolerance = 1e-10)
  }
})

test_that("with candidates drawn the picks are the greedy ones among them, and the bound is for all", {
  x <- withr::with_seed(7, matrix(rnorm(700 * 4), 700))
  control <- resolve_control(ufs_control())
  drawn <- replace(integer(700), withr::with_seed(8, sample.int(700, 300)), 1L)
  for (kind in 0:1) {
    s <- if (kind == 0) ref_cosine(x) else exp(-as.matrix(stats::dist(x))^2 / 3)
    for (labelled in list(integer(), 5L)) {
      like <- list(kind = kind, x = x, bandwidth = 3, stored = FALSE)
      open <- list(labelled = labelled)
      some <- facility_picks(like, 700L, 40L, open, 0L, control, drawn)
      same <- facility_picks(like, 700L, 40L, c(open, list(allowed = drawn == 1L)), 0L, control)
      expect_identical(some$order, same$order)
      expect_equal(some$run$trace[, "objective"], same$run$trace[, "objective"], tolerance = 1e-12)
      cover <- apply(s[, c(labelled, some$order)], 1L, max)
      gain <- unname(colSums(pmax(s - cover, 0)))
      expect_equal(some$left, replace(gain, c(labelled, some$order), 0), tolerance = 1e-9)
      expect_true(all(some$bound <= (sum(cover) + cumsum(sort(gain, decreasing = TRUE))[1:40]) * (1 + 1e-10)))
      all <- facility_picks(like, 700L, 40L, open, 0L, control)
      expect_true(all(all$run$trace[, "objective"] <= some$bound * (1 + 1e-12)))
    }
  }
})

test_that("candidates from 12,000 samples on are spread over the rows; of very many some thousands are looked at", {
  like <- list(kind = 0L, stored = FALSE)
  expect_null(facility_drawn(like, 11999L, 5L, list()))
  drawn <- facility_drawn(like, 12000L, 5L, list(labelled = 1:6000))
  expect_identical(c(sum(drawn), sum(drawn[1:6000])), c(2000L, 0L))
  expect_identical(sum(facility_drawn(like, 12000L, 600L, list())), 2400L)
  expect_null(facility_drawn(like, 12000L, 5L, list(cost = rep(1, 12000))))
  expect_null(facility_drawn(list(kind = 3L, stored = FALSE), 12000L, 5L, list()))
  expect_true(registry()$facility$deterministic)
  before <- withr::with_seed(1, {
    facility_drawn(like, 12000L, 5L, list())
    stats::runif(1)
  })
  expect_identical(before, withr::with_seed(1, stats::runif(1)))
  at <- which(facility_drawn(like, 12000L, 5L, list()) == 1L)
  expect_length(at, 2000L)
  # One in six everywhere, and among the rows that have the same place in a cycle.
  expect_lte(max(diff(c(0L, at, 12001L))), 13L)
  for (cycle in c(2, 5, 6, 8, 13, 24)) {
    expect_equal(as.vector(table(at %% cycle)), rep(2000 / cycle, cycle), tolerance = 0.05)
  }
  x <- withr::with_seed(1, matrix(stats::rnorm(12000 * 2), 12000))
  fit <- ufs_facility(x, m = 2)
  expect_identical(fit$params$looked_at, 2000L)
  expect_output(print(fit), "2000 candidates spread over the rows, the bound at all")
  unit <- scale(x)
  unit <- unit / sqrt(rowSums(unit^2))
  best <- pmax(unit %*% unit[fit$solution$order[1], ], unit %*% unit[fit$solution$order[2], ])
  expect_equal(fit$trace$objective[2], sum(1 + best), tolerance = 1e-6)
})
