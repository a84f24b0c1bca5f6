# Counts: literal forms, sparse = dense, new rows, limits, errors.

skip_if_not_installed("Matrix")
set.seed(1)
words <- matrix(rpois(40 * 30, rep(c(0.1, 0.5, 2), each = 400)), 40,
  dimnames = list(paste0("text", 1:40), paste0("word", 1:30)))
words[7, ] <- 0
words[1, ] <- words[1, ] + (1:30) %% 3 # every word is somewhere among the first rows
sparse <- Matrix::Matrix(words, sparse = TRUE)

literal <- function(x, counts, unit, from = x) {
  if (counts == "log") {
    total <- rowSums(from)
    size <- rowSums(x) / mean(total[total > 0])
    x <- log1p(x / ifelse(size > 0, size, 1))
  } else if (counts == "tfidf") {
    x <- sweep(x, 2L, log((1 + nrow(from)) / (1 + colSums(from > 0))) + 1, "*")
  }
  if (unit) x <- x / pmax(sqrt(rowSums(x^2)), 1e-300)
  x
}

test_that("features in too few or too many samples are left out, and counted in print", {
  df <- colSums(words > 0)
  limited <- ufs_data(sparse, min_samples = 5, max_samples = 0.5)
  expect_identical(colnames(limited), names(df)[df >= 5 & df <= 20])
  expect_identical(colnames(ufs_data(words, min_samples = 5, max_samples = 20)), colnames(limited))
  expect_output(print(limited), paste0("left out +", sum(df < 5 | df > 20), " features"))
  # Shares and idf are of the features that are used.
  both <- ufs_data(words, counts = "log", min_samples = 5)
  expect_equal(as.matrix(both), literal(words[, df >= 5], "log", FALSE), tolerance = 1e-14)
  expect_output(print(ufs_variance(both)), "counts       log")
  fit <- ufs_variance(both)
  expect_equal(predict(fit, words, k = 2), as.matrix(both)[, selected_features(fit, 2)], tolerance = 1e-14)
})

test_that("what is no count, or not possible, is an error that names it", {
  bad <- words
  bad[3, "word4"] <- -1
  for (x in list(bad, Matrix::Matrix(bad, sparse = TRUE))) {
    expect_error(ufs_data(x, counts = "log"), "word4", class = "ufs_error_input")
    expect_error(ufs_data(x, min_samples = 2), "word4", class = "ufs_error_input")
    expect_equal(unname(rowSums(as.matrix(ufs_data(x, rows = "unit"))^2))[3], 1)
  }
  expect_arguments(counts = ufs_data(words, counts = "sqrt"), min_samples = ufs_data(words, min_samples = 41),
    counts = ufs_data(ufs_data(words, counts = "log"), counts = "tfidf"))
  skip_on_cran()
  skip_if_not_installed("DelayedArray")
  expect_error(ufs_data(DelayedArray::DelayedArray(words), counts = "log"), class = "ufs_error_argument")
})

test_that("new rows are changed as the rows of the fit; sparse rows take unit length only", {
  x <- withr::with_seed(1, matrix(rnorm(100, 3), 20))
  colnames(x) <- letters[1:5]
  fit <- ufs_variance(ufs_data(x[1:15, ], rows = "snv"), k = 2)
  new <- x[16:20, ]
  expect_equal(predict(fit, new), ((new - rowMeans(new)) / apply(new, 1L, sd))[, selected_features(fit)])
  expect_equal(predict(ufs_variance(-x, k = 2, rows = "unit"), -new)[, 1L, drop = FALSE],
    (-new / sqrt(rowSums(new^2)))[, selected_features(ufs_variance(-x, rows = "unit"), 1), drop = FALSE])
  expect_error(ufs_data(1e200 * x, rows = "unit"), "too large to be squared", class = "ufs_error_input")
  skip_if_not_installed("Matrix")
  x <- Matrix::Matrix(withr::with_seed(1, matrix(rpois(60, 1), 12)), sparse = TRUE)
  expect_refusals("fill the zeros" = ufs_data(x, rows = "snv"), ufs_data(x, rows = "center"))
  expect_equal(unname(as.matrix(ufs_data(x, rows = "unit"))), unit_rows(unname(as.matrix(x))))
})

test_that("a row with a missing count is no row of zeros, and limits that nothing exceeds keep all", {
  x <- matrix(c(NA, 2, 3, 4, 0, 6, 7, 8, 9), 3, dimnames = list(NULL, c("a", "b", "c")))
  expect_error(ufs_data(x, counts = "log"), class = "ufs_error_input", "missing or infinite values.*'a'")
  expect_identical(dim(ufs_data(x, counts = "log", na = "omit")), c(3L, 2L))
  x <- matrix(c(1, 0, 2, 3, 1, 1, 0, 4, 5), 3, dimnames = list(NULL, c("a", "b", "c")))
  expect_identical(as.matrix(ufs_data(x, min_samples = 2)), x, ignore_attr = TRUE)
  expect_identical(colnames(ufs_data(x, min_samples = 3)), "b")
  table <- data.frame(a = c(1, 5, 2), b = c(3, 2, 2))
  table$m <- matrix(c(4, 1, 2, 3, 9, 7, 5, 5, 1), 3)
  expect_error(ufs_data(table, rows = "center"), "columns 'a', 'b'", class = "ufs_error_argument")
  alone <- ufs_data(table, features = c("a", "b"), rows = "center")
  expect_equal(unname(as.matrix(alone)), cbind(c(-1, 1.5, 0), c(1, -1.5, 0)))
})

skip_on_cran()

test_that("counts are transformed as the formulas say, sparse, dense and whole tables alike", {
  for (counts in c("none", "log", "tfidf")) for (unit in c(FALSE, TRUE)) {
    want <- literal(words, counts, unit)
    for (x in list(words, sparse, as.data.frame(words))) {
      data <- ufs_data(x, counts = counts, rows = if (unit) "unit" else "none")
      expect_equal(unname(as.matrix(data)), unname(want), tolerance = 1e-14)
    }
    expect_s4_class(ufs_data(sparse, counts = counts, rows = if (unit) "unit" else "none")$x, "dgCMatrix")
  }
  turn <- ufs_data(words[40:1, 30:1], counts = "tfidf", rows = "unit")
  expect_equal(as.matrix(turn)[40:1, 30:1], literal(words, "tfidf", TRUE), tolerance = 1e-14)
  twice <- ufs_data(rbind(words, 2 * words[1, ]), counts = "tfidf", rows = "unit")
  expect_equal(as.matrix(twice)[1, ], as.matrix(twice)[41, ], tolerance = 1e-14)
})

test_that("new rows are transformed with the frequencies of the fit's rows", {
  train <- 1:25
  for (counts in c("none", "log", "tfidf")) {
    fit <- ufs_variance(sparse[train, ], counts = counts, rows = "unit")
    own <- selected_features(fit, 5)
    want <- literal(words[-train, ], counts, TRUE, words[train, ])[, own]
    expect_equal(as.matrix(predict(fit, sparse[-train, ], k = 5)), want, tolerance = 1e-14)
    # Columns in another order and more of them; a data frame; what is transformed already.
    expect_equal(predict(fit, as.data.frame(cbind(words, more = 1)[-train, 31:1]), k = 5), want, tolerance = 1e-14)
    own_rows <- ufs_data(sparse[train, ], counts = counts, rows = "unit")
    expect_equal(as.matrix(predict(fit, own_rows, k = 5)), as.matrix(own_rows)[, own])
  }
  fit <- ufs_jspca(words[train, ], 2, scale = FALSE, counts = "log")
  ready <- ufs_data(literal(words, "log", FALSE, words[train, ]))
  expect_equal(predict(fit, words[-train, ], type = "scores"),
    predict(ufs_jspca(literal(words[train, ], "log", FALSE), 2, scale = FALSE), as.matrix(ready)[-train, ],
      type = "scores"), tolerance = 1e-8)
  expect_error(predict(fit, -words, k = 3), class = "ufs_error_input")
  # Sizes would be those of other features.
  part <- ufs_variance(ufs_data(words, counts = "log")[, 1:10])
  expect_error(predict(part, words, k = 3), "transform `newdata`", class = "ufs_error_argument")
  expect_identical(dim(predict(part, ufs_data(words, counts = "log"), k = 3)), c(40L, 3L))
})

test_that("scale = FALSE is honoured by every feature method that has it", {
  methods <- with(ufs_methods(), setdiff(method[selects != "samples"], "random"))
  x <- scale(planted(60, 12, informative = 6)$x)[, ]
  larger <- x * rep(c(1, 50, 1), c(120, 60, 540))
  scores <- function(method, x, scale) unname(fit_of(method, x, scale = scale)$feature_scores)
  for (method in Filter(function(m) "scale" %in% method_row(m)$arguments, methods)) {
    expect_false(isTRUE(all.equal(scores(method, x, FALSE), scores(method, larger, FALSE))), info = method)
    # BLFSE divides all columns by one number.
    if (!method %in% c("variance", "blfse")) {
      expect_equal(scores(method, x, TRUE), scores(method, larger, TRUE), tolerance = 1e-6, info = method)
    }
  }
})

test_that("rows are centred, standardised or of unit length before columns are looked at, a file's block by block", {
  x <- withr::with_seed(1, matrix(rnorm(60, 3), 12))
  colnames(x) <- letters[1:5]
  center <- x - rowMeans(x)
  snv <- center / apply(x, 1L, sd)
  expect_equal(as.matrix(ufs_data(x, rows = "center")), center)
  expect_equal(as.matrix(ufs_data(x, rows = "snv")), snv)
  expect_equal(as.matrix(ufs_data(x, rows = "unit")), x / sqrt(rowSums(x^2)))
  expect_identical(sample_ranking(ufs_ted(x, rows = "snv")), sample_ranking(ufs_ted(snv)))
  x[3, ] <- 7
  expect_identical(unname(as.matrix(ufs_data(x, rows = "snv"))[3, ]), rep(0, 5))
  expect_output(print(ufs_data(x, rows = "snv")), "each minus its mean, over its standard deviation")
  expect_refusals(ufs_data(x, rows = "msc"), ufs_data(ufs_data(x, rows = "snv"), rows = "unit"))
  x[2, 4] <- NA
  expect_error(ufs_data(x, rows = "snv"), "in column 'd'", class = "ufs_error_input")
  skip_if_not_installed("HDF5Array")
  x <- withr::with_seed(1, matrix(rnorm(400, 2), 40))
  colnames(x) <- paste0("c", 1:10)
  # Sums that are rounded do not make a row vary.
  x[2:3, ] <- c(1 / 3, 1e6 + .1)
  for (chunk in list(c(4L, 10L), c(40L, 2L))) {
    file <- HDF5Array::writeHDF5Array(x, chunkdim = chunk, with.dimnames = TRUE)
    for (rows in c("center", "snv", "unit")) {
      dense <- ufs_data(x, rows = rows)
      held <- ufs_data(file, rows = rows, block_bytes = 1600)
      expect_equal(suppressMessages(as.matrix(held)), as.matrix(dense))
      # A part of the rows and columns has the means of the whole.
      expect_equal(suppressMessages(as.matrix(held[c(30, 2, 17), 3:5])),
        as.matrix(dense[c(30, 2, 17), 3:5]), ignore_attr = TRUE)
      expect_identical(unname(sample_ranking(suppressMessages(ufs_ted(held, m = 8))))[1:8],
        unname(sample_ranking(ufs_ted(dense, m = 8)))[1:8])
      fit <- ufs_pca(held, n_components = 2, k = 3)
      expect_equal(predict(fit, file), as.matrix(dense)[, selected_features(fit)], ignore_attr = TRUE)
    }
  }
})
