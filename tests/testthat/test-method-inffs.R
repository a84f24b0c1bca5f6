skip_on_cran()

variants <- c("2015", "2016", "2020", "rowsum")

inffs_fixture <- function(...) test_path("fixtures", "baselines", ...)

test_that("products are kept where half of the padded square fits into the memory", {
  p <- 300
  for (n in c(40, 300, 500)) {
    bytes <- (p + 256)^2 / 2 * c("40" = 2, "300" = 4, "500" = 8)[[paste(n)]]
    kept <- function(most) withr::with_options(list(ufselect.max_bytes = most), inffs_settings(n, p, .5, "rowsum")$store)
    expect_identical(c(kept(bytes), kept(bytes - 1)), c(TRUE, FALSE))
  }
  code <- c("2015" = "iccv2015", "2016" = "code2016", "2020" = "tpami2020")
  for (set in c("mtcars", "synth60x200")) {
    x <- as.matrix(read.csv(inffs_fixture("input", paste0(set, ".csv")), header = FALSE))
    for (variant in names(code)) for (alpha in c(0.2, 0.5)) {
      expected <- read.csv(inffs_fixture(set, sprintf("InfFS_%s__alpha%s.csv", code[[variant]], alpha)))
      fit <- ufs_inffs(x, alpha, variant)
      expect_lt(rel_diff(unname(feature_scores(fit)), expected$score), 1e-12)
      expect_identical(order(unname(feature_ranking(fit))), expected$rank_position)
      expect_lt(fit$certificate[["residual"]], 1e-12)
      expect_identical(fit$status, "converged")
    }
  }
  withr::local_seed(1)
  tied <- matrix(rpois(30 * 12, 1), 30)
  wide <- matrix(rnorm(12 * 300), 12) * rep(runif(300), each = 12)
  for (x in list(tied, wide, as.matrix(iris[1:4]))) for (variant in variants) {
    expect_lt(rel_diff(unname(feature_scores(ufs_inffs(x, 0.4, variant))), ref_inffs(x, 0.4, variant)), 1e-11)
  }
})

test_that("the spectral radius is eigen()'s, also when A has no Perron gap", {
  # Two groups of perfectly correlated features, equal deviations: A is bipartite, so
  # -rho(A) is an eigenvalue as well.
  withr::local_seed(2)
  z <- scale(cbind(rnorm(20), rnorm(20)))
  x <- z[, c(1, 1, 1, 2, 2)] * rep(c(1, -1, 1, 1, -1), each = 20)
  fit <- ufs_inffs(x, 0.5)
  edge <- 0.5 * (1 - abs(cor(z, method = "spearman")[1, 2]))
  expect_equal(fit$solution$radius, edge * sqrt(6), tolerance = 1e-12)
  x <- as.matrix(mtcars)
  a <- 0.3 * (function(s) (s - min(s)) / diff(range(s)))(outer(apply(x, 2, sd), apply(x, 2, sd), pmax)) +
    0.7 * (1 - abs(cor(x, method = "spearman")))
  fit <- ufs_inffs(x, 0.3)
  expect_equal(fit$solution$radius, max(eigen(a, TRUE)$values), tolerance = 1e-13)
  expect_equal(fit$solution$damping, 0.9 / max(eigen(a, TRUE)$values), tolerance = 1e-13)
})

test_that("A kept and A recomputed tile by tile give the same", {
  withr::local_seed(3)
  for (n in c(9, 25, 58, 59, 369, 370)) {
    x <- matrix(rnorm(n * 600), n) * rep(runif(600, 0.5, 1.5), each = n)
    x[, 1:300] <- round(x[, 1:300], 1)
    kept <- feature_scores(ufs_inffs(x))
    expect_lt(rel_diff(unname(kept), ref_inffs(x, 0.5, "2015")), 1e-11)
    again <- withr::with_options(list(ufselect.max_bytes = 100000), feature_scores(ufs_inffs(x)))
    expect_equal(again, kept, tolerance = 1e-13)
  }
  # Products of 58 samples in order almost reach 2^16, of 369 2^24; of 59 and of 1,001 two bytes and
  # floats would lose some.
  for (n in c(58, 59, 369, 1001)) {
    x <- cbind(seq_len(n), rev(seq_len(n)), c(2:1, 3:n), sample(n)) + 0
    expect_lt(rel_diff(unname(feature_scores(ufs_inffs(x, 0.2))), ref_inffs(x, 0.2, "2015")), 1e-11)
  }
})

test_that("the residual is the one of the returned scores", {
  x <- withr::with_seed(9, matrix(rexp(25 * 80), 25))
  for (variant in variants) for (tol in c(1e-3, 1e-14)) {
    fit <- ufs_inffs(x, 0.4, variant, control = ufs_control(tol = tol))
    t <- apply(x, 2, sd)
    t <- (t - min(t)) / diff(range(t))
    weight <- if (variant == "2016") 0.6 else 0.4
    a <- weight * outer(t, t, pmax) + (1 - weight) * (1 - abs(cor(x, method = "spearman")))
    y <- unname(fit$feature_scores) + (variant != "2020")
    rest <- max(abs(1 - y + fit$solution$damping * drop(a %*% y)))
    expect_lt(abs(rest - fit$certificate[["residual"]]), 1e-13)
    if (tol == 1e-3) expect_gt(rest, 1e-10)
  }
})

test_that("only ranks matter with alpha = 0, equal columns have equal scores; one Krylov space serves both", {
  x <- as.matrix(mtcars)
  expect_equal(feature_scores(ufs_inffs(x, center = TRUE)), feature_scores(ufs_inffs(x)), tolerance = 1e-12)
  for (fit in list(ufs_inffs(exp(x / 100), 0), ufs_inffs(x, 0.5, scale = TRUE))) {
    expect_equal(feature_scores(fit), feature_scores(ufs_inffs(x, 0)), tolerance = 1e-12)
  }
  x <- withr::with_seed(5, matrix(rnorm(14 * 700), 14) * rep(exp(rnorm(700)), each = 14))
  copies <- 651:700
  x[, copies] <- x[, 1:50]
  score <- unname(feature_scores(fit <- ufs_inffs(x)))
  expect_identical(score[copies], score[1:50])
  place <- order(unname(feature_ranking(fit)))
  expect_true(all(place[1:50] < place[copies]))
  # Deviations and correlations in two scales: more than 40 vectors are needed.
  x <- withr::with_seed(6, matrix(rnorm(5 * 90), 5) * rep(exp(6 * rnorm(90)), each = 5))
  for (variant in variants) {
    fit <- ufs_inffs(x, 0.6, variant)
    expect_lt(rel_diff(unname(feature_scores(fit)), ref_inffs(x, 0.6, variant)), 1e-10)
    expect_lt(fit$certificate[["residual"]], 1e-10)
    expect_identical(fit$iterations, nrow(fit$trace))
  }
})

test_that("a solution that rounding has spoilt is not called converged, and degenerate input is reported", {
  # Ranks that differ by one swap of neighbours: 1 - |rho| is below 1e-12.
  n <- 60000
  x <- vapply(1:10, function(j) {
    line <- as.double(seq_len(n))
    swap <- 7 * j + 0:1
    replace(line, swap, line[rev(swap)]) * j
  }, numeric(n))
  colnames(x) <- letters[1:10]
  fit <- ufs_inffs(x, alpha = 0, control = ufs_control(warn = FALSE))
  expect_identical(fit$status, if (fit$certificate[["residual"]] > 1e-6) "stalled" else "converged")
  expect_warning(one <- ufs_inffs(mtcars[, 1, drop = FALSE]), class = "ufs_warning_void")
  expect_identical(unname(feature_scores(one)), 0)
  expect_refused(inffs_settings(10, 2e5, .5, "2020"), "`variant` = \"2020\" is not defined for p >= 200,000.")
  fit <- ufs_inffs(as.matrix(mtcars))
  expect_lt(fit$trace$residual[nrow(fit$trace)], 1e-14)
  x <- withr::with_seed(1, matrix(rnorm(40), 8))
  for (variant in variants) {
    settings <- utils::modifyList(inffs_settings(8L, 5L, .5, variant), list(weight_sd = 1e308))
    out <- .Call(C_inffs, x, settings, resolve_control(ufs_control(), max_iter = 50L, tol = 1e-14))
    expect_true(is.nan(out$run$counters[["residual"]]))
  }
  expect_identical(unclass(ufs_inffs(mtcars))[c("center", "scale")], list(center = FALSE, scale = FALSE))
})
