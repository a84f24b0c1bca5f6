# Moments of a covariance matrix, and of pairs of values that are there: against rows, against
# cor().

x <- withr::with_seed(5, matrix(rnorm(1440), 120) %*% (diag(12) + .5 * matrix(rnorm(144), 12)))
x <- x + rep(3 * 1:12, each = 120)
colnames(x) <- paste0("v", 1:12)
with_gaps <- function(x, share, seed = 6) withr::with_seed(seed, replace(x, sample(length(x), share * length(x)), NA))
of_moments <- function() subset(ufs_methods(), moments)$method

test_that("a covariance with means gives what the rows give, for every method of moments", {
  skip_on_cran()
  moments <- ufs_moments(cov = cov(x), n = 120, mean = colMeans(x))
  expect_true(all(c("css", "pca", "variance", "jspca") %in% of_moments()))
  for (method in of_moments()) {
    for (center in list(NULL, FALSE)) {
      if (method == "variance" && !is.null(center)) next
      fit <- function(x) {
        fit_of(method, x, center = center, k = if (method == "css") 4, loss = if (method == "jspca") "feature")
      }
      rows <- fit(x)
      own <- fit(moments)
      # The solver of ufs_spca() ends at its tolerance.
      expect_equal(feature_scores(own), feature_scores(rows), tolerance = if (method == "spca") 1e-6 else 1e-10,
        info = method)
      expect_identical(feature_ranking(own), feature_ranking(rows), info = method)
      expect_equal(own[c("center", "scale", "n")], rows[c("center", "scale", "n")], tolerance = 1e-10)
    }
  }
  expect_equal(ufs_captured(4:6, moments), ufs_captured(4:6, x), tolerance = 1e-10)
})

test_that("correlations and matrices without means do as far as they can", {
  expect_identical(ufs_moments(cov = cov(x), n = 120, mean = rev(colMeans(x)))$mean, colMeans(x))
  known <- ufs_moments(cov = as.data.frame(cor(x)), n = 120)
  expect_output(print(known), "correlations alone")
  fit <- ufs_css(known, k = 3)
  expect_identical(selected_features(fit), selected_features(ufs_css(x, k = 3)))
  expect_refusals("means" = predict(fit, x, type = "reconstruction"), "`mean`" = ufs_css(known, k = 3, center = FALSE),
    "`sd`" = c(known, known))
  bare <- ufs_moments(cov = cov(x), n = 120)
  expect_output(print(bare), "means unknown")
  expect_error(c(bare, bare), class = "ufs_error_argument", "`mean`")
  expect_identical(names(ufs_moments(columns = c("v3", "v1"), cov = cov(x), n = 9)), c("v3", "v1"))
  expect_identical(names(ufs_moments(cov = unname(cov(x)), n = 9))[12], "V12")
  both <- c(ufs_moments(cov = cov(x[1:50, ]), n = 50, mean = colMeans(x[1:50, ])), ufs_moments(x[51:120, ]))
  expect_equal(as.matrix(both), cor(x), tolerance = 1e-12)
  flat <- cov(x)
  flat[2, ] <- flat[, 2] <- 0
  expect_identical(suppressWarnings(ufs_css(ufs_moments(cov = flat, n = 99), k = 2))$constant, 2L)
  rounded <- ufs_moments(cov = round(cor(cbind(x, w = x[, 1] + x[, 2])), 2), n = 120)
  expect_lt(max(abs(as.matrix(rounded)[1:12, 1:12] - cor(x))), .015)
  expect_output(print(rounded), "changed by at most")
})

test_that("matrices that are no covariance are errors that say why", {
  s <- cov(x)
  changed <- function(i, j, value, of = s) {
    of[i, j] <- value
    of
  }
  run <- function(...) ufs_moments(...)
  expect_refusals("not symmetric: columns 'v2', 'v1'" = run(cov = changed(1, 2, 9), n = 9),
    "negative variance in column 'v3', the least -2" = run(cov = changed(3, 3, -2), n = 9))
  bent <- changed(1, 2, -.99, changed(2, 1, -.99, changed(1, 3, .99, changed(3, 1, .99, changed(2, 3, .99,
    changed(3, 2, .99, diag(3)))))))
  expect_refusals("eigenvalue -0.98.*differ by up to 0.4" = run(cov = bent, n = 9),
    "missing or infinite values in column 'v1'" = run(cov = changed(1, 1, NA), n = 9),
    "no variance, in column 'v2'" = run(cov = changed(2, 2, 0), n = 9),
    "other names of rows than of columns: 'zz' and 'v2'" =
      run(cov = `rownames<-`(s, replace(colnames(s), 2, "zz")), n = 9),
    "more than once" = run(cov = `dimnames<-`(s, list(NULL, rep(c("a", "b"), 6))), n = 9),
    "3 x 12" = run(cov = s[1:3, ], n = 9), "square numeric" = run(cov = "s", n = 9), "`n`" = run(cov = s),
    "at least 2" = run(cov = s, n = 1), "12 finite numbers" = run(cov = s, n = 9, mean = 1:3),
    "different columns: columns 'zz', 'v1'" =
      run(cov = s, n = 9, mean = stats::setNames(1:12, c("zz", colnames(s)[-1]))),
    "`x` is about rows" = run(s, cov = s, n = 9), "`weights` is about rows" = run(cov = s, n = 9, weights = 1),
    "'v99'" = run(cov = s, n = 9, columns = "v99"), "`n` is for a covariance" = run(x, n = 9),
    "`mean` is for a covariance" = run(x, mean = 1:12), "`from`" = run(x, from = "table"))
})

test_that("a covariance given as rows takes a warning that names the door, and other squares none", {
  fit <- function(x) ufs_css(x, k = 2)
  for (given in list(cor(x), as.data.frame(cor(x)))) {
    expect_warning(fit(given), class = "ufs_warning_covariance", "a correlation matrix.*ufs_moments\\(cov = x, n = \\)")
    expect_warning(ufs_moments(given), class = "ufs_warning_covariance")
  }
  expect_warning(fit(cov(x)), class = "ufs_warning_covariance", "a covariance matrix")
  expect_warning(ufs_pca(cov(x), 2), class = "ufs_warning_covariance")
  expect_match(ufs_look(cor(x))$doubts, "ufs_moments(cov = x, n = )", fixed = TRUE, all = FALSE)
  skip_if_not_installed("Matrix")
  expect_warning(fit(Matrix::Matrix(cor(x), sparse = TRUE)), class = "ufs_warning_covariance")
  warned <- function(x) {
    seen <- FALSE
    withCallingHandlers(suppressMessages(fit(x)), warning = function(w) {
      seen <<- seen || inherits(w, "ufs_warning_covariance")
      invokeRestart("muffleWarning")
    })
    seen
  }
  expect_true(warned(cor(x)))
  square <- x[1:12, ]
  expect_false(warned(square) || warned(`rownames<-`(square, colnames(x))) || warned(unname(cor(x))))
  apart <- as.matrix(dist(t(x)))
  expect_false(warned(apart) || warned(apart + diag(12)))
})

# cor() of pairs, negative eigenvalues set to 0, the diagonal restored.
pairwise_by_hand <- function(x) {
  r <- eigen(cor(x, use = "pairwise.complete.obs"), symmetric = TRUE)
  stats::cov2cor(r$vectors %*% diag(pmax(r$values, 0)) %*% t(r$vectors))
}

test_that("pairs are those of cor(), made positive semidefinite, in pieces and by weights", {
  full <- x
  x <- with_gaps(full, .4)
  m <- ufs_moments(x, na = "pairwise")
  expect_lt(min(eigen(cor(x, use = "pairwise.complete.obs"))$values), -.01)
  expect_equal(unname(as.matrix(m)), pairwise_by_hand(x), tolerance = 1e-10)
  expect_equal(m$mean, colMeans(x, na.rm = TRUE))
  expect_equal(diag(as.matrix(m, "covariance")), apply(x, 2, var, na.rm = TRUE))
  expect_equal(m$repaired, max(abs(pairwise_by_hand(x) - cor(x, use = "pairwise.complete.obs"))))
  parts <- c(ufs_moments(x[1:30, ], na = "pairwise"), ufs_moments(x[31:120, 12:1], na = "pairwise"))
  expect_equal(unclass(parts)[c("n", "mean", "css")], unclass(m)[c("n", "mean", "css")], tolerance = 1e-10)
  expect_equal(as.matrix(m[, c("v7", "v2", "v3")], "covariance"),
    as.matrix(ufs_moments(x[, c(7, 2, 3)], na = "pairwise"), "covariance"))
  counts <- rep(0:3, 30)
  weighted <- ufs_moments(x, weights = counts, na = "pairwise")
  expect_equal(weighted$css, ufs_moments(x[rep(1:120, counts), ], na = "pairwise")$css, tolerance = 1e-10)
  expect_lt(max(abs(ufs_moments(x + 1e6, na = "pairwise")$css - m$css) / m$n), 1e-8)
  whole <- unclass(ufs_moments(full, na = "pairwise"))
  expect_equal(whole$css, ufs_moments(full)$css, tolerance = 1e-12)
  expect_identical(whole[c("repaired", "repaired_mean")], list(repaired = 0, repaired_mean = 0))
  expect_output(print(m), "pairs that are there.*% of the rows.*changed by at most")
  fit <- ufs_css(m, k = 3)
  expect_output(print(fit), "correlations changed")
  expect_identical(feature_ranking(fit), feature_ranking(ufs_css(ufs_moments(cov = as.matrix(m, "covariance"), n = 120), k = 3)))
})

test_that("pairs that cannot be judged are errors, and rows without values are counted", {
  full <- x
  flat <- x <- with_gaps(full, .2)
  expect_error(c(ufs_moments(x, na = "pairwise"), ufs_moments(full)), class = "ufs_error_argument", "All parts or none")
  apart <- x
  apart[1:60, 1] <- NA
  apart[61:120, 4] <- NA
  expect_error(ufs_moments(apart, na = "pairwise"), class = "ufs_error_input", "0 rows with values of both columns 'v4', 'v1'")
  x[5, ] <- NA
  m <- ufs_moments(x, na = "pairwise")
  expect_identical(list(m$n, m$dropped), list(119, 1))
  expect_output(print(m), "1 row without any value left out")
  x[, 2] <- NA
  expect_error(ufs_moments(x, na = "pairwise"), class = "ufs_error_input", "no value at all in column 'v2'")
  flat[!is.na(flat[, 3]), 3] <- 7
  expect_identical(suppressWarnings(ufs_css(ufs_moments(flat, na = "pairwise"), k = 2))$constant, 3L)
  connection <- local_sqlite()
  DBI::dbWriteTable(connection, "t", as.data.frame(flat))
  expect_equal(ufs_moments(connection, from = "t", na = "pairwise")$css, ufs_moments(flat, na = "pairwise")$css)
  expect_error(ufs_moments(connection, from = "t", na = "pairwise", where = "database"), class = "ufs_error_argument", "fetch")
})

test_that("a covariance of package Matrix is one, a sparse table of squares is not said to be", {
  skip_if_not_installed("Matrix")
  s <- cov(mtcars)
  expect_identical(ufs_moments(cov = Matrix::Matrix(s), n = 32), ufs_moments(cov = s, n = 32))
  expect_null(looks_like_covariance(open_data(Matrix::Matrix(s * (abs(s) > 20 | diag(11) > 0), sparse = TRUE))))
  expect_identical(looks_like_covariance(open_data(s)), "a covariance matrix")
})

test_that("correlations with means want standard deviations; their unit diagonal is not taken for variances", {
  x <- as.matrix(mtcars)
  expect_refused(ufs_moments(cov = cor(x), n = 32, mean = colMeans(x)), "give their standard deviations as `sd`")
  sd <- apply(x, 2, stats::sd)
  known <- ufs_moments(cov = cor(x), n = 32, mean = colMeans(x), sd = rev(sd))
  expect_equal(as.matrix(known, "covariance"), cov(x), tolerance = 1e-12)
  scores <- function(x) predict(ufs_jspca(x, 2, loss = "feature"), mtcars[1:3, ], type = "scores")
  expect_equal(abs(scores(known)), abs(scores(x)), tolerance = 1e-5)
  expect_equal(abs(scores(known)[1, 1]), .7748, tolerance = 1e-3)
  # A covariance matrix has its own; of columns that are standardised it is that of correlations.
  expect_s3_class(ufs_moments(cov = cov(x), n = 32, mean = colMeans(x), sd = sd), "ufs_moments")
  expect_refused(ufs_moments(cov = cov(x), n = 32, sd = 2 * sd), "a covariance matrix has its own")
  expect_refused(ufs_moments(cov = cor(x), n = 32, sd = 1:3), "`sd` must be NULL or 11 finite numbers")
  expect_refused(ufs_moments(cov = cor(x), n = 32, sd = -sd), "`sd` must be the standard deviations")
  z <- scale(x)
  expect_equal(predict(ufs_css(ufs_moments(cov = cor(x), n = 32, mean = rep(0, 11)), k = 3), z, type = "reconstruction"),
    predict(ufs_css(z, k = 3), z, type = "reconstruction"), tolerance = 1e-8)
  expect_refused(ufs_moments(x, sd = sd), "`sd` is for a covariance matrix")
  x <- as.matrix(mtcars)
  bare <- ufs_moments(cov = cor(x), n = 32)
  fits <- list(function(x, ...) ufs_variance(x, ...), function(x, ...) ufs_pca(x, 2, ...), function(x, ...) ufs_css(x, k = 2, ...),
    function(x, ...) ufs_spca(x, 2, ...), function(x, ...) ufs_jspca(x, 2, loss = "feature", ...))
  for (fit in fits) for (one in list(bare, bare[, 1:9])) {
    expect_warning(fit(one, scale = FALSE), "variances are all 1: scale = FALSE changes nothing", class = "ufs_warning_moments")
  }
  for (fit in fits[-1]) expect_warning(fit(bare), NA, class = "ufs_warning_moments")
  expect_warning(ufs_variance(ufs_moments(cov = cor(x), n = 32, sd = apply(x, 2, stats::sd))), NA, class = "ufs_warning_moments")
  expect_refused(c(bare, ufs_moments(x)), "give `sd` beside `cov`")
})

test_that("what cov.wt(), factanal() and others hand on is read, and one triangle; unrelated pairs are told", {
  x <- as.matrix(mtcars)
  of_list <- ufs_moments(cov = stats::cov.wt(x))
  expect_equal(unclass(of_list)[c("n", "mean", "css")], unclass(ufs_moments(x))[c("n", "mean", "css")], tolerance = 1e-12)
  expect_equal(as.matrix(ufs_moments(cov = stats::factanal(x, 3))), cor(x), tolerance = 1e-12)
  expect_equal(as.matrix(ufs_moments(cov = list(r = cor(x), n = 32))), cor(x))
  ability <- ufs_moments(cov = datasets::ability.cov)
  expect_equal(as.matrix(ability, "covariance"), datasets::ability.cov$cov, tolerance = 1e-12)
  expect_identical(ability$n, 112)
  harman <- ufs_moments(cov = datasets::Harman74.cor)
  expect_identical(harman$n, 145)
  expect_true(all(is.na(harman$mean)))
  expect_refused(ufs_moments(cov = list(center = 1:2)), "`cov` must be a square numeric matrix")
  for (empty in c(NA, 0)) for (upper in c(TRUE, FALSE)) {
    half <- cov(x)
    half[if (upper) upper.tri(half) else lower.tri(half)] <- empty
    expect_equal(as.matrix(ufs_moments(cov = half, n = 32), "covariance"), cov(x), tolerance = 1e-12)
  }
  expect_refused(ufs_moments(cov = replace(cov(x), 2, NA), n = 32), "missing or infinite values")
  x <- withr::with_seed(1, cbind(a = rnorm(60), b = rnorm(60), c = rnorm(60)))
  x[1:30, "a"] <- 2.7
  x[31:60, "b"] <- NA
  expect_warning(m <- ufs_moments(x, na = "pairwise"),
    "'a' does not vary in the rows that have 'b': nothing is known of their correlation", class = "ufs_warning_pairs")
  expect_identical(as.matrix(m)["a", "b"], 0)
  expect_equal(as.matrix(m)["a", "c"], cor(x[, "a"], x[, "c"]), tolerance = 1e-12)
  # A constant column is another thing, and so are pairs that vary.
  expect_warning(ufs_moments(cbind(x[, 2:3], d = 1), na = "pairwise"), NA)
  parts <- suppressWarnings(list(ufs_moments(x[1:30, ], na = "pairwise"), ufs_moments(x[c(1:30, 31:34), ], na = "pairwise")))
  expect_warning(do.call(c, parts), "does not vary", class = "ufs_warning_pairs")
})
