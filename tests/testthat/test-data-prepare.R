good <- as.matrix(iris[, 1:4])

expect_input_error <- function(object) expect_refused(object, "", "ufs_error_input", "x")

test_that("integer and logical matrices are numbers; bad data are refused with the names of the columns", {
  x <- matrix(c(1L, 5L, 2L, 7L, 0L, 1L), 3)
  expect_equal(feature_scores(ufs_variance(x)), c(V1 = var(x[, 1]), V2 = var(x[, 2])))
  expect_equal(unname(feature_scores(ufs_variance(x > 1))), apply(x > 1, 2, var))
  skip_on_cran()
  expect_error(ufs_variance(replace(good, 5, Inf)), "'Sepal.Length'")
  expect_error(ufs_variance(replace(good, 155, NaN)), "'Sepal.Width'")
  for (bad in list(data.frame(a = 1:3, b = c("u", "v", "w")), data.frame(a = 1:3, b = I(list(1, 2, 3))),
    matrix(letters[1:6], 3), matrix(1i, 3, 2), good[, 0], good[1:2, ], 1:10, NULL, matrix(1, 5, 3))) {
    expect_input_error(ufs_variance(bad))
  }
})

test_that("many bad columns are counted, constant ones up to rounding; centring and scaling agree with scale()", {
  x <- matrix(rnorm(60), 5)
  x[1, ] <- NA
  expect_error(ufs_variance(x), "'V1', 'V2', 'V3', 'V4', 'V5' and 7 more")
  warnings <- capture_warnings(ufs_variance(cbind(a = 7, good, b = 1e-30)))
  expect_length(warnings, 1L)
  expect_match(warnings, "^2 columns .*'a', 'b'")
  base <- c(1, 2, 4, 8)
  x <- cbind(tiny = base * 1e-200, huge = base * 1e200, offset = 1e9 + base,
    rounding = .1 + c(0, 1, 0, 1) * 1e-17, noise = 1 + c(0, 1, 0, 0) * .Machine$double.eps)
  expect_warning(data <- as_ufs_matrix(x), class = "ufs_warning_constant")
  expect_identical(data$constant, 4:5)
  colnames(data$x) <- data$features[data$keep]
  expect_equal(data$x[, "tiny"], data$x[, "huge"], tolerance = 1e-14)
  expect_equal(data$x[, "tiny"], as.vector(scale(base)), tolerance = 1e-14)
  expect_equal(data$x[, "offset"], as.vector(scale(base)), tolerance = 1e-6)
  data <- as_ufs_matrix(good)
  expect_equal(data$x, scale(good), ignore_attr = TRUE, tolerance = 1e-14)
  expect_equal(data$center, colMeans(good))
  expect_equal(data$scale, apply(good, 2, sd))
  plain <- as_ufs_matrix(good, center = FALSE, scale = FALSE)
  expect_identical(unname(plain$x), unname(good))
  expect_false(plain$center)
  # The mean lies a third of a unit of rounding beside a number.
  x <- cbind(a = 2^30 + 2^-16 * rep(c(0, 0, 1), 7), b = rep(1:7, 3))
  z <- as_ufs_matrix(x)$x
  expect_lt(max(abs(colMeans(z))), 1e-14)
  expect_equal(stats::sd(z[, 1]), 1)
  # Rows of unit length, too, however many they are.
  x <- withr::with_seed(1, matrix(stats::runif(2e5), 1e5))
  expect_lt(max(abs(colMeans(.Call(C_unit_rows, x, 1e-100, TRUE)$x))), 1e-13)
})

test_that("columns, norms and units of the input pass are those of plain R; it makes one matrix of the size of x", {
  x <- cbind(k = 3, good)
  for (center in c(TRUE, FALSE)) {
    for (by in c("sd", "norm")) {
      data <- as_ufs_matrix(open_quietly(x), center, TRUE, by = by)
      by_hand <- apply(good, 2, sd) * if (by == "norm") sqrt(nrow(good) - 1) else 1
      want <- scale(good, center = center, scale = by_hand)
      expect_equal(data$x, want, ignore_attr = TRUE, tolerance = 1e-13)
      expect_equal(data$norm, unname(sqrt(colSums(want^2))), tolerance = 1e-13)
      expect_equal(data$variance, unname(apply(good, 2, var)), tolerance = 1e-13)
      expect_identical(data$divisor, 1)
    }
    plain <- as_ufs_matrix(open_quietly(x), center, FALSE)$x
    power <- as_rescaled_operator(open_quietly(x), center, FALSE)
    expect_identical(log2(power$divisor), round(log2(power$divisor)))
    expect_identical(power$x * power$divisor, plain)
    expect_lte(max(abs(power$x)), 1)
  }
  expect_null(as_column_stats(open_quietly(x))$x)
  skip_if_not(capabilities("profmem"))
  x <- matrix(rnorm(50 * 400), 50)
  for (data in list(x, replace(x, cbind(1:50, 7), 1))) {
    expect_identical(large_allocations(as_ufs_matrix(open_quietly(data)), data), 1L)
    expect_identical(large_allocations(suppressWarnings(ufs_variance(data)), data), 0L)
  }
})

test_that("names are kept, made up or made unique, equal columns found by value; an allocation stops with its bytes", {
  fit <- ufs_variance(unname(good))
  expect_named(feature_scores(fit), paste0("V", 1:4))
  expect_type(selected_features(fit, 2), "integer")
  x <- good
  colnames(x)[3] <- "Sepal.Length"
  expect_warning(fit <- ufs_variance(x), "'Sepal.Length'", class = "ufs_warning_names")
  expect_identical(anyDuplicated(names(feature_scores(fit))), 0L)
  expect_identical(selected_features(fit, 1), "Sepal.Length.1")
  expect_equal(predict(fit, x, k = 1)[, 1], x[, 3])
  colnames(x) <- c("a", "", NA, "d")
  expect_named(feature_scores(ufs_variance(x)), c("a", "V2", "V3", "d"))
  rownames(x) <- paste0("s", seq_len(nrow(x)))
  expect_named(sample_scores(ufs_random(x, "samples")), rownames(x))
  x <- cbind(c(1, 0, 3), c(2, 2, 2), c(1, -0, 3), c(2, 2, 2), c(1, 0, 3 + 1e-15))
  expect_identical(equal_columns(x), c(1L, 2L, 1L, 2L, 5L))
  wide <- matrix(rnorm(4 * 500), 4)
  again <- sample.int(500, 300, replace = TRUE)
  expect_identical(equal_columns(cbind(wide, wide[, again]))[501:800], again)
  withr::local_options(ufselect.max_bytes = 1000)
  expect_error(check_bytes(2048, "This", "Do less."), "2 KiB.*1000 B.*Do less", class = "ufs_error_memory")
  expect_silent(check_bytes(999, "This", ""))
  skip_if_not_installed("Matrix")
  expect_error(ufs_rsr(Matrix::Matrix(good, sparse = TRUE)), class = "ufs_error_memory")
})

test_that("a table without column names is pointed at once", {
  withr::defer(said_once$names <- TRUE)
  said_once$names <- FALSE
  x <- unname(as.matrix(mtcars))
  expect_message(fit <- ufs_variance(x), "V1", class = "ufs_message_names")
  expect_named(feature_scores(fit)[1:2], c("V1", "V2"))
  expect_message(ufs_variance(x), NA)
  said_once$names <- FALSE
  expect_message(ufs_variance(mtcars), NA)
})

test_that("units whose squares cannot be held are refused in words", {
  for (unit in c(1e160, 1e-170)) {
    expect_input_error(ufs_variance(good * unit))
    expect_input_error(ufs_pca(good * unit, 2, scale = FALSE))
    expect_input_error(ufs_socfs(good * unit, 3, scale = FALSE))
    expect_equal(feature_scores(ufs_pca(good * unit, 2)), feature_scores(ufs_pca(good, 2)))
  }
  expect_equal(feature_scores(ufs_variance(good * 2^100)), feature_scores(ufs_variance(good)) * 2^200)
})

test_that("arguments that are missing, unknown or completed are named", {
  skip_on_cran()
  expect_arguments(sample_size = ufs_ted(good, sample_size = 20), neighbours = ufs_graph(good, neighbours = 3),
    n_neighbors = ufs_udfs(good, 2, n_neighbors = 3), m = ufs_css(good, 2, m = 20), m = ufs_topk(good, 2, 3, m = 20),
    n_cl = ufs_socfs(good, n_cl = 3), method = ufs_grid(good), grid = ufs_tune(good, "pca"), fits = ufs_overlap(),
    y = ufs_propagate(diag(3)), fit = ufs_diversify(x = good, k = 2), x = ufs_represent(),
    class = ufs_cluster_metrics(1:3), method = ufs(good))
  # No export answers a call without arguments in R's own words, which have no class.
  for (name in setdiff(getNamespaceExports("ufselect"), c("ufs_explore", "step_select_ufs"))) {
    said <- tryCatch(suppressWarnings(getExportedValue("ufselect", name)()), error = function(e) e)
    if (inherits(said, "error")) expect_s3_class(said, "ufs_error")
  }
  expect_refused(ufs_methods("methods", "foo"), "Unknown argument")
  for (call in list(quote(ufs_ted(good, mu = 1, mu_rel = .1)), quote(ufs_css(good, 2, mu = 1, mu_rel = .1)),
    quote(ufs(good, "ted", mu = 1, mu_rel = .1)))) {
    expect_refused(eval(call), "Give `mu` or `mu_rel`, not both", argument = "mu_rel")
  }
  expect_arguments(alpha_rel = ufs_alfs(good, alpha_rel = .1, control = ufs_control(paper = list(alpha = 1))),
    lambda_rel = ufs_socfs(good, 3, lambda = 1, lambda_rel = .1))
  expect_identical(ufs_ted(good, mu = NULL, mu_rel = .1)$params$mu_rel, .1)
  expect_equal(ufs_select(good, 2, "compress", mu = 3)$params$mu, 3)
})

test_that("messages read well where there is nothing to say; a number that no integer holds is refused in our words", {
  expect_error(ufs_ted(good, m = 1000), "at most 150 (the samples); it is 1000", fixed = TRUE)
  expect_error(ufs_facility(good, 1000), "at most 150 (the samples); it is 1000", fixed = TRUE)
  expect_error(ufs_propagate(1, 1), "`w` must be a finite numeric matrix.", fixed = TRUE)
  expect_error(ufs_propagate(iris[1:4], 1:150), "as ufs_graph() makes it of a table", fixed = TRUE)
  expect_error(ufs_propagate(matrix(1, 2, 3), 1:2), "`w` must be square, n x n; it is 2 x 3.", fixed = TRUE)
  expect_error(ufs_variance(matrix(1:6, 3), k = Inf), "`k` must be a whole number", class = "ufs_error_argument")
  expect_warning(try(ufs_kmeans_f(1:5, n_clusters = 3, k = Inf), silent = TRUE), NA)
  expect_error(ufs_kmeans_f(1:5, n_clusters = 3, k = Inf), class = "ufs_error")
})
test_that("columns vary by what doubles can tell apart, for any number of rows", {
  skip_on_cran()
  set.seed(1)
  x <- cbind(osc = 1e7 + rnorm(1e6, 0, 1e-3), t = rnorm(1e6), near = 1 + (0:1) * 2^-48,
    whole = 1e14 + rep(0:9, 1e5), same = 3, rounding = 1 + (0:1) * 2^-51)
  fit <- suppressWarnings(ufs_variance(x))
  expect_identical(fit$constant, 5:6)
  expect_equal(feature_scores(fit)[["osc"]], var(x[, 1]), tolerance = 1e-6)
  data <- as_ufs_matrix(open_quietly(x[1:1000, ]), TRUE, TRUE)
  expect_identical(data$constant, 5:6)
  expect_equal(data$x[, 3], as.vector(scale(rep(0:1, 500))), tolerance = 1e-12)
  expect_equal(data$x[, 4], as.vector(scale(rep(0:9, 100))), tolerance = 1e-12)
})

test_that("without donors a missing value becomes the mean; data without gaps stay, and still columns say nothing", {
  expect_identical(fill_knn(rbind(c(1, NA), c(NA, NA), c(4, 6)), list(donors = NULL, value = c(2.5, 6))),
    list(x = rbind(c(1, 6), c(2.5, 6), c(4, 6)), means = 3L, rows = 2L))
  x <- cbind(a = c(1, 5, 2, 9), b = c(3, 2, 2, 7))
  for (na in c("omit", "median")) expect_identical(as.matrix(ufs_data(x, na = na)), x, ignore_attr = TRUE)
  expect_identical(unname(predict(ufs_css(x, k = 2, na = "median"), replace(x, 1, NA))[, "a"]), c(3.5, 5, 2, 9))
  donors <- knn_donors(cbind(c(1, 2, 3, 6), 2, c(NA, NA, NA, 1)))
  expect_equal(donors$scale, c(stats::sd(c(1, 2, 3, 6)), Inf, Inf))
  expect_equal(donors$value, c(3, 2, 1))
})
