skip_on_cran()

test_that("leverage is that of the SVD; draws by it are without replacement, or of each sample by itself", {
  for (size in list(c(25, 6), c(10, 40))) {
    x <- sample_data(size[1], size[2])
    for (rank in c(1, 3, 5)) {
      fit <- raw(ufs_cur, x, rank = rank, draw = "top")
      ref <- ref_leverage(x, rank)
      expect_equal(unname(sample_scores(fit)), ref$samples, tolerance = 1e-8)
      expect_equal(unname(feature_scores(fit)), ref$features, tolerance = 1e-8)
      expect_lt(max(abs(sum(sample_scores(fit)) - 1), abs(sum(feature_scores(fit)) - 1)), 1e-12)
      s <- svd(x)$d
      expect_equal(fit$certificate[["spectral_gap"]], 1 - s[rank + 1] / s[rank], tolerance = 1e-6)
    }
  }
  x <- sample_data(20, 7)
  fit <- raw(ufs_cur, x, draw = "top")
  expect_identical(fit$params$rank, which(cumsum(svd(x)$d) / sum(svd(x)$d) >= 0.8)[1])
  x <- sample_data(6, 4)
  x[1, ] <- 3 * x[1, ]
  prob <- ref_leverage(x, 2)$samples
  expect_equal(sort(unname(sample_scores(raw(ufs_cur, x, rank = 2)))), 1:6 / 6)
  draws <- withr::with_seed(1, replicate(3000, draw_by_leverage(prob, "exact", 2)$first))
  # First draw: proportional to prob. Second: sum over first of p_i p_j / (1 - p_i).
  first <- tabulate(draws[1, ], 6) / 3000
  pair <- outer(prob / (1 - prob), prob)
  diag(pair) <- 0
  expect_lt(max(abs(first - prob), abs((tabulate(draws[2, ], 6) / 3000) - colSums(pair))), 0.04)
  expect_gt(max(abs(prob - 1 / 6)), 0.08) # far enough from uniform to notice
  x <- sample_data(40, 6)
  expected <- pmin(1, 10 * ref_leverage(x, 3)$samples)
  withr::with_seed(2, {
    kept <- replicate(800, {
      fit <- raw(ufs_cur, x, rank = 3, draw = "random", m = 10, k = 2)
      best <- unname(fit$sample_ranking)[seq_along(fit$solution$kept_samples)]
      stopifnot(setequal(best, fit$solution$kept_samples), length(fit$solution$kept_features) >= 1)
      tabulate(fit$solution$kept_samples, 40)
    })
  })
  expect_lt(abs(mean(colSums(kept)) - sum(expected)), 0.5)
  expect_lt(max(abs(rowMeans(kept) - expected)), 0.08)
  expect_gt(stats::sd(colSums(kept)), 1) # the number is random
})

test_that("a multiple singular value at the cut is reported; equal rows share scores; arguments and randomness", {
  x <- rbind(diag(3), -diag(3), diag(3))
  expect_warning(raw(ufs_cur, x, rank = 2, draw = "top"), class = "ufs_warning_spectrum")
  expect_silent(fit <- raw(ufs_cur, x, rank = 3, draw = "top"))
  expect_equal(unname(sample_scores(fit)), rep(1 / 9, 9), tolerance = 1e-12)
  expect_true(is.na(fit$certificate[["spectral_gap"]]))
  x <- sample_data(20, 5)
  x <- rbind(x, x[4, ])
  x <- cbind(x, x[, 2])
  fit <- ufs_cur(x, rank = 3, draw = "top")
  expect_identical(fit$sample_scores[[4]], fit$sample_scores[[21]])
  expect_identical(fit$feature_scores[[2]], fit$feature_scores[[6]])
  expect_warning(fit <- withr::with_seed(1, ufs_cur(cbind(1, x), rank = 3)), class = "ufs_warning_constant")
  expect_identical(list(fit$feature_ranking[[7]], fit$solution$leverage_features[[1]]), list(1L, 0))
  expect_warning(fit <- withr::with_seed(1, ufs_cur(cbind(1, x), rank = 3, draw = "random",
    m = 5, k = 3)), class = "ufs_warning_constant")
  expect_false(1L %in% fit$solution$kept_features)
  x <- sample_data(12, 5)
  expect_refusals(ufs_cur(x, rank = 6), ufs_cur(x, rank = 0))
  # The message names the centring that was done, whatever the warnings.
  short <- cbind(x[, 1:2], x[, 1] + x[, 2])
  for (warn in c(TRUE, FALSE)) {
    quiet <- ufs_control(warn = warn)
    expect_error(ufs_cur(short, rank = 3, control = quiet), "has rank 2 after centring")
    expect_error(ufs_cur(short, rank = 3, center = FALSE, control = quiet), "has rank 2\\.")
  }
  expect_refusals(ufs_cur(x, draw = "random"), ufs_cur(x, draw = "random", m = 3))
})

# C U R by the definition, with the pseudo-inverses of plain R.
pinv <- function(a) {
  s <- svd(a)
  live <- s$d > 1e-9 * s$d[1]
  s$v[, live, drop = FALSE] %*% (t(s$u[, live, drop = FALSE]) / s$d[live])
}

test_that("U is the best for the chosen rows and columns, and the error is that of C U R", {
  for (size in list(c(25, 6), c(10, 40), c(30, 8))) {
    x <- `colnames<-`(sample_data(size[1], size[2]), paste0("f", seq_len(size[2])))
    if (size[1] == 30) x[, 8] <- x[, 3] # a copy: C may be rank deficient
    for (centred in c(TRUE, FALSE)) {
      fit <- withr::with_seed(1, ufs_cur(x, rank = 3, m = 7, k = 5,
        decomposition = TRUE, center = centred, scale = centred))
      z <- if (centred) scale(x) else x
      rows <- selected_samples(fit, 7, as = "index")
      columns <- selected_features(fit, 5, as = "index")
      chosen <- fit$solution
      expect_equal(unname(chosen$C), unname(z[, columns]), tolerance = 1e-12, ignore_attr = TRUE)
      expect_equal(unname(chosen$R), unname(z[rows, ]), tolerance = 1e-12, ignore_attr = TRUE)
      expect_equal(unname(chosen$U), pinv(z[, columns]) %*% z %*% pinv(z[rows, ]), tolerance = 1e-8, ignore_attr = TRUE)
      error <- sum((z - chosen$C %*% chosen$U %*% chosen$R)^2) / sum(z^2)
      expect_equal(fit$certificate[["error"]], error, tolerance = 1e-8)
      s <- svd(z)$d
      expect_equal(fit$certificate[["best_error"]], sum(s[-(1:3)]^2) / sum(s^2), tolerance = 1e-8)
      worse <- chosen$U * (1 + 1e-2 * (row(chosen$U) == 1))
      expect_gt(sum((z - chosen$C %*% worse %*% chosen$R)^2) / sum(z^2), error - 1e-14)
    }
  }
})

test_that("all rows and columns rebuild the matrix; a draw's parts are what was kept; constants come back", {
  x <- `colnames<-`(sample_data(12, 5), letters[1:5])
  all <- ufs_cur(x, rank = 2, draw = "top", m = 12, k = 5, decomposition = TRUE)
  expect_lt(all$certificate[["error"]], 1e-12)
  expect_equal(predict(all, x, type = "reconstruction"), x, tolerance = 1e-10)
  fit <- ufs_cur(x, rank = 2, draw = "top", m = 6, k = 2, decomposition = TRUE)
  best <- selected_features(fit, 2)
  new <- `colnames<-`(sample_data(4, 5), letters[1:5])
  whole <- predict(fit, new, type = "reconstruction")
  expect_identical(dim(whole), c(4L, 5L))
  expect_equal(predict(fit, new[, rev(best)], type = "reconstruction"), whole, tolerance = 1e-14)
  z <- sweep(sweep(new[, best], 2, fit$center[best]), 2, fit$scale[best], "/")
  byhand <- sweep(sweep(z %*% fit$solution$U %*% fit$solution$R, 2, fit$scale, "*"), 2, fit$center, "+")
  expect_equal(whole, byhand, tolerance = 1e-12)
  expect_identical(predict(fit, new, k = 2), new[, best])
  expect_error(predict(fit, new[, setdiff(letters[1:5], best)], type = "reconstruction"), class = "ufs_error_input")
  expect_error(predict(fit, replace(new, 1:20, NA), type = "reconstruction"), class = "ufs_error_input")
  x <- cbind(sample_data(30, 6), 4)
  colnames(x) <- letters[1:7]
  expect_warning(fit <- withr::with_seed(4, ufs_cur(x, rank = 2, draw = "random", m = 9,
    k = 3, decomposition = TRUE)), class = "ufs_warning_constant")
  expect_setequal(colnames(fit$solution$C), letters[fit$solution$kept_features])
  expect_equal(unname(fit$solution$R[, 1:6]),
    unname(scale(x[, 1:6])[selected_samples(fit, length(fit$solution$kept_samples), as = "index"), ]),
    tolerance = 1e-12)
  expect_equal(unname(predict(fit, x, type = "reconstruction")[, 7]), rep(4, 30))
  # The chosen columns come back as they are, those of levels too.
  table <- data.frame(x[, 1:6], level = factor(rep(c("p", "q", "r"), 10)))
  coded <- ufs_cur(table, rank = 3, draw = "top", m = 9, k = 4, decomposition = TRUE, factors = "dummies")
  own <- intersect(colnames(coded$solution$C), names(table))
  expect_lt(length(own), ncol(coded$solution$C))
  expect_equal(predict(coded, table, type = "reconstruction")[, own], as.matrix(table[own]), ignore_attr = TRUE)
  plain <- withr::with_seed(4, suppressWarnings(ufs_cur(x, rank = 2)))
  expect_null(plain$solution$U)
  expect_named(plain$certificate, "spectral_gap")
  expect_refusals("decomposition" = predict(plain, x, type = "reconstruction"),
    "`m`" = predict(fit, x, type = "reconstruction", m = 2), "`m`" = ufs_cur(x[, 1:6], decomposition = TRUE),
    "`k`" = ufs_cur(x[, 1:6], decomposition = TRUE, m = 3, k = 7))
})

test_that("where the labelled rows have all the leverage the others are drawn alike; squares that vanish are refused", {
  drawn <- withr::with_seed(1, draw_by_leverage(c(1, 0, 0), "random", 2, labelled = 1L))
  expect_identical(drawn$score, c(NA, 1, 1))
  expect_identical(drawn$first, 2:3)
  first <- withr::with_seed(1, replicate(400, draw_by_leverage(c(1, 0, 0), "exact", 1, labelled = 1L)$first))
  expect_lt(abs(mean(first == 2) - .5), .1)
  replaced("check_norms", function(...) NULL)
  x <- as.matrix(iris[, 1:4]) * 1e-160
  expect_refused(ufs_cur(x, scale = FALSE), "The squares of the values of `x`", "ufs_error_input")
})
