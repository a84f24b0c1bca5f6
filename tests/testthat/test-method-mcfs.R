skip_on_cran()

test_that("fixtures: the reference code, and the centred paths", {
  for (set in c("mtcars", "synth60x200")) {
    fit <- ufs_mcfs(baseline_input(set), 3, n_features = 10, center = FALSE, ridge = 1e-3)
    expect_equal(unname(feature_scores(fit)),
      baseline_expected(set, "MCFS__c3_q10_uncentred_lasso_ridge0.001"), tolerance = 1e-10)
  }
  # The other peer follows LAR, which is the lasso as long as nothing is dropped: so on this
  # set, not on mtcars.
  expect_equal(unname(feature_scores(ufs_mcfs(baseline_input("synth60x200"), 3, n_features = 10, normalise = FALSE))),
    baseline_expected("synth60x200", "MCFS__c3_q10_centred_lars"), tolerance = 1e-10)
})

# One path for a response given directly.
path <- function(x, y, card, ridge = 0, max_iter = 1000L) {
  out <- .Call(C_mcfs, x, cbind(y), as.integer(card), ridge, resolve_control(ufs_control(),
    max_iter = as.integer(max_iter)))
  c(out, out$run, kkt = out$run$counters[["kkt"]])
}

test_that("the path is the lasso's: literal path, coordinate descent, optimality", {
  cases <- list(list(x = noise(40, 8), y = noise(40, 1, 2)[, 1]), list(x = noise(12, 30), y = noise(12, 1, 3)[, 1]),
    list(x = scale(as.matrix(mtcars[, -1])), y = mtcars$mpg - mean(mtcars$mpg)),
    list(x = scale(as.matrix(mtcars[, -4]), scale = FALSE), y = mtcars$hp - mean(mtcars$hp)))
  for (case in cases) {
    for (ridge in c(0, 0.5)) {
      for (card in c(1, 3, 5, 8)) {
        out <- path(case$x, case$y, card, ridge)
        want <- ref_lasso_path(case$x, case$y, card, ridge)
        expect_equal(out$coef[, 1], unname(want$b), tolerance = 1e-9)
        expect_equal(out$penalty, want$penalty, tolerance = 1e-9)
        expect_lt(out$kkt, 1e-12)
        expect_identical(sum(out$coef != 0), as.integer(card))
        again <- ref_lasso(case$x, case$y, out$penalty, ridge, start = out$coef[, 1], sweeps = 3)
        expect_equal(out$coef[, 1], again, tolerance = 1e-9)
      }
    }
  }
  # Correlated columns: a search over seeds found paths with drops; count them here.
  steps <- vapply(1:30, function(seed) {
    x <- noise(20, 10, seed) %*% (diag(10) + matrix(0.9, 10, 10))
    y <- noise(20, 1, 100 + seed)[, 1]
    out <- path(x, y, 8)
    expect_equal(out$coef[, 1], ref_lasso_path(x, y, 8)$b, tolerance = 1e-7)
    expect_lt(out$kkt, 1e-11)
    out$iterations
  }, 0L)
  expect_gt(max(steps), 8L)
  for (seed in 1:40) {
    x <- withr::with_seed(seed, matrix(as.double(stats::rbinom(6 * 30, 1, 0.3)), 6))
    y <- withr::with_seed(seed, sample(c(-1, 0, 1), 6, TRUE))
    for (card in c(1, 3)) {
      out <- path(x, y - mean(y), card)
      expect_identical(out$status, 0L)
      expect_lt(out$kkt, 1e-10)
      # Several may come in together, so more than `card`, but fewer only at the end.
      expect_true(sum(out$coef != 0) >= card || out$penalty < 1e-12)
    }
  }
  # Nothing but rounding to explain: no path, rather than one of noise.
  y <- c(0.1, 0.2, -0.3, 0)
  expect_gt(sum(y[1:3]), 0)
  expect_identical(path(cbind(c(1, 1, 1, 0)), y, 1)$coef, matrix(0))
})

test_that("nearly collinear columns do no harm, collinear ones are passed over; c paths in step are c paths alone", {
  x <- noise(30, 4)
  y <- noise(30, 1, 6)[, 1]
  for (distance in 10^-(6:12)) {
    out <- path(cbind(x, x + distance * noise(30, 4, 2)), y, 8)
    expect_identical(out$status, 0L)
    expect_lt(out$kkt, 10 * distance)
    expect_lt(max(abs(out$coef)), 2)
  }
  x <- noise(20, 5)
  y <- noise(20, 1, 4)[, 1]
  out <- path(x, y, 6)
  expect_identical(out$penalty, 0)
  expect_equal(out$coef[, 1], unname(qr.coef(qr(x), y)), tolerance = 1e-10)
  out <- path(noise(6, 30), y[1:6], 30)
  expect_identical(out$status, 0L)
  expect_lte(sum(out$coef != 0), 6L)
  expect_lt(out$kkt, 1e-12)
  x <- noise(30, 4)
  y <- noise(30, 1, 5)[, 1]
  twice <- cbind(x, x, x[, 1] + x[, 2])
  out <- path(twice, y, 9)
  expect_identical(out$coef[5:8, 1], rep(0, 4))
  expect_equal(drop(twice %*% out$coef), drop(x %*% qr.coef(qr(x), y)), tolerance = 1e-9)
  expect_lt(out$kkt, 1e-10)
  expect_identical(path(cbind(x, -x), y, 4)$coef[5:8, 1], rep(0, 4))
  x <- noise(25, 15)
  y <- noise(25, 4, 7)
  together <- .Call(C_mcfs, x, y, 6L, 0, resolve_control(ufs_control(), max_iter = 100L))
  for (i in 1:4) expect_equal(together$coef[, i], path(x, y[, i], 6)$coef[, 1], tolerance = 1e-12)
  none <- path(x, rep(0, 25), 3)
  expect_identical(none$coef, matrix(0, 15, 1))
  expect_identical(none$status, 0L)
})

test_that("the embedding is that of the definition", {
  x <- noise(40, 5)
  w <- ref_graph(x, 5)
  fit <- ufs_mcfs(x, 3)
  d <- rowSums(w)
  y <- fit$solution$Y
  expect_lt(max(abs((diag(d) - w) %*% y - d * sweep(y, 2, fit$solution$eigenvalues, `*`))), 1e-10)
  expect_equal(crossprod(y * sqrt(d)), diag(3), tolerance = 1e-10)
  expect_lt(max(abs(crossprod(d, y))), 1e-10)
  for (j in 1:3) expect_gt(y[which.max(abs(y[, j])), j], 0)
  expect_equal(colSums(coef(fit)^2), rep(1, 3), tolerance = 1e-12)
  expect_equal(unname(feature_scores(fit)), unname(apply(abs(coef(fit)), 1, max)))
  x <- noise(40, 12)
  fit <- ufs_mcfs(x, 3, n_features = 5)
  other <- ufs_mcfs(x[withr::with_seed(5, sample(40)), 12:1] * rep(c(1, -1, 1), each = 40), 3, n_features = 5)
  expect_equal(unname(feature_scores(other)), unname(feature_scores(fit)[12:1]), tolerance = 1e-8)
  w <- rbind(cbind(ref_graph(x, 5), 0), 0)
  expect_warning(more <- ufs_mcfs(rbind(x, 99), 3, graph = w, n_features = 5), class = "ufs_warning_graph")
  expect_equal(feature_scores(more), feature_scores(fit), tolerance = 1e-8)
  x <- two_islands(24)
  expect_warning(fit <- ufs_mcfs(x, 2, graph = list(n_neighbours = 5)), class = "ufs_warning_graph")
  expect_identical(list(length(unique(round(fit$solution$Y[, 1], 10))), fit$solution$eigenvalues[1]), list(2L, 0))
  expect_length(feature_scores(ufs_mcfs(noise(10, 1), 1)), 1L)
  expect_refusals(ufs_mcfs(noise(10, 3), 9), "n_clusters" = ufs_mcfs(noise(10, 3)),
    ufs_mcfs(noise(10, 3), 2, n_features = 4))
})

test_that("features without a coefficient, or left over by an exact fit, are ranked by their distance from entering", {
  x <- scale(as.matrix(mtcars))
  fit <- ufs_mcfs(x, 2, n_features = 2)
  zero <- which(feature_scores(fit) == 0)
  expect_gt(length(zero), 3L)
  # From the solution alone, before its columns were normalised.
  raw <- ufs_mcfs(x, 2, n_features = 2, normalise = FALSE)
  left <- abs(crossprod(x, scale(raw$solution$Y, scale = FALSE) - x %*% coef(raw)))
  reach <- apply(sweep(left, 2L, raw$solution$penalty, `/`), 1L, max)
  expect_equal(unname(fit$feature_key[zero]), unname(reach[zero]), tolerance = 1e-8)
  rest <- fit$feature_ranking[fit$feature_ranking %in% zero]
  expect_identical(unname(rest), unname(zero[order(-round(reach[zero], 9))]))
  # 19 features fit 20 centred samples exactly.
  x <- withr::with_seed(2, planted(20, 80)$x)
  exact <- suppressWarnings(ufs_mcfs(x, 3))
  zero <- exact$feature_scores == 0
  expect_true(any(zero))
  expect_identical(unname(exact$feature_key[zero]), numeric(sum(zero)))
  # With a target that is not reached they are ordered by how near they are.
  part <- suppressWarnings(ufs_mcfs(x, 3, n_features = 5))
  expect_gt(length(unique(part$feature_key[part$feature_scores == 0])), 30)
})
