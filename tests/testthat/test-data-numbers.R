# Numbers in other clothes.

test_that("integer64, difftime, units and matrix columns are numbers", {
  skip_on_cran()
  set.seed(1)
  x <- data.frame(a = rnorm(12), t = as.difftime(1:12, units = "mins"), i = I(12:1))
  x$m <- matrix(rnorm(24), 12)
  x$s <- matrix(rnorm(24), 12, dimnames = list(NULL, c("u", "v")))
  data <- ufs_data(x)
  expect_identical(colnames(data), c("a", "t", "i", "m.1", "m.2", "s[u]", "s[v]"))
  expect_equal(as.matrix(data)[, "s[v]"], x$s[, "v"], ignore_attr = TRUE)
  expect_equal(as.matrix(data)[, "t"], 1:12, ignore_attr = TRUE)
  fit <- ufs_variance(x, k = 7)
  expect_equal(predict(fit, x)[["m.2"]], x$m[, 2])
  skip_if_not_installed("bit64")
  big <- bit64::as.integer64(c(-5, 0, 7, 2^31, -2^31, 2^40 + 3, -2^40, 9e15))
  want <- c(-5, 0, 7, 2^31, -2^31, 2^40 + 3, -2^40, 9e15)
  expect_identical(unname(as.matrix(ufs_data(data.frame(b = big, a = 1:8)))[, 1]), want)
  expect_error(ufs_variance(data.frame(b = c(big, bit64::NA_integer64_), a = 1:9)), "'b'", class = "ufs_error_input")
  expect_identical(unname(as.matrix(ufs_data(structure(big, dim = c(4L, 2L))))), matrix(want, 4))
  # Beyond 2^53 not every whole number is a double.
  ids <- data.frame(a = 1:9, id = bit64::as.integer64("9007199254740993") + 0:8)
  expect_warning(ufs_data(ids), "column 'id'", class = "ufs_warning_digits")
  expect_warning(ufs_data(structure(ids$id, dim = c(3L, 3L))), "`x`", class = "ufs_warning_digits")
  ids$id <- bit64::as.integer64(2)^60
  expect_warning(ufs_data(ids), NA)
  skip_if_not_installed("units")
  expect_equal(as.matrix(ufs_data(data.frame(u = units::set_units(1:9, "m"), a = 9:1)))[, "u"], 1:9, ignore_attr = TRUE)
})

test_that("what is not read names a way out, what is missing is missing", {
  expect_error(ufs_select("x.h5", k = 50), "HDF5Array::HDF5Array", class = "ufs_error_input")
  expect_error(ufs_data("a/b.csv.gz"), "fread", class = "ufs_error_input")
  expect_error(ufs_data(structure(list(), class = c("tbl_dbi", "tbl_sql", "tbl_lazy", "tbl"))), "collect", class = "ufs_error_input")
  expect_error(ufs_pca(iris[, 1:4]), "`n_components` is missing", class = "ufs_error_argument")
  expect_error(ufs_socfs(iris[, 1:4]), "`n_clusters` is missing", class = "ufs_error_argument")
  expect_error(ufs_add_noise(iris[1:10, 1:4], share = 1, y = rep(NA, 10)), "class", class = "ufs_error_argument")
  x <- cbind(matrix(rnorm(16), 8), 0, 0)
  expect_equal(suppressWarnings(ufs_captured(ufs_variance(x), x, 3))$bound, 1)
})

test_that("rare flags vary in the rows that ufs_select() draws", {
  skip_on_cran()
  n <- 1500
  set.seed(1)
  x <- matrix(0, n, 6, dimnames = list(NULL, paste0("flag", 1:6)))
  for (j in 1:6) x[sample(n, 3 + j), j] <- 1
  set.seed(1)
  expect_s3_class(suppressWarnings(ufs_select(x, k = 1, task = "compress")), "ufs_select")
})

test_that("heat at a large offset is that without one", {
  x <- as.matrix(iris[, 1:4])
  near <- ufs_facility(x, m = 6, similarity = "heat", center = FALSE, scale = FALSE)
  far <- ufs_facility(x + 2^30, m = 6, similarity = "heat", center = FALSE, scale = FALSE)
  expect_identical(selected_samples(far), selected_samples(near))
})

test_that("a column that numbers the rows is pointed out once", {
  said <- getFromNamespace("said_once", "ufselect")
  before <- said$numbering
  withr::defer(said$numbering <- before)
  for (x in list(cbind(n = 1:150, iris[, 1:4]), cbind(patient_id = 1000 - 7 * 1:150, iris[, 1:4]))) {
    said$numbering <- NULL
    expect_message(ufs_variance(x), names(x)[1], class = "ufs_message_numbering")
    expect_silent(ufs_variance(x))
  }
})

test_that("a vector of numbers is told how to be a column, and another vector is not", {
  skip_on_cran()
  said <- function(x) conditionMessage(expect_error(ufs_variance(x), class = "ufs_error_input"))
  expect_match(said(1:9 / 2), "cbind(x)", fixed = TRUE)
  expect_false(grepl("cbind(x)", said(letters), fixed = TRUE))
})

test_that("rows of opened data may be taken twice, the first one, too", {
  skip_on_cran()
  x <- matrix(as.double(1:12), 4)
  expect_identical(unname(as.matrix(ufs_data(x)[c(1, 1, 3), ])), x[c(1, 1, 3), ])
})

test_that("a range of codes is missing values, and columns may be data frames", {
  x <- data.frame(z = c(4, 1, 3, 2, 9))
  x$q <- structure(c(1, 2, 97, 99, 4), na_range = c(97, 99),
    class = c("haven_labelled_spss", "haven_labelled"))
  expect_identical(unname(as.matrix(ufs_data(x, na = "median"))[, "q"]), c(1, 2, 2, 2, 4))
  x$d <- data.frame(u = 5:1, v = c(0, 1, 0, 1, 0))
  data <- ufs_data(x["d"])
  expect_identical(colnames(data), c("d[u]", "d[v]"))
  expect_identical(unname(as.matrix(data)), cbind(as.double(5:1), x$d$v))
})

test_that("numbers take the place of those of an S4 class in it", {
  measured <- methods::setClass("measured", contains = "numeric",
    representation(unit = "character"), where = environment())
  expect_identical(in_class_of(c(1, 2), measured(c(3, 4), unit = "m")), measured(c(1, 2), unit = "m"))
  time <- function(...) as.difftime(c(...), units = "mins")
  expect_identical(in_class_of(c(1, 2), time(3, 4)), time(1, 2))
})

test_that("new rows without the factors of the fit stay as they are", {
  x <- data.frame(a = c(1, 5, 2, 9), f = factor(c("u", "v", "u", "v")))
  how <- code_factors(x, "dummies")$factors
  expect_identical(coded_table(x["a"], how, "newdata"), x["a"])
  expect_identical(coded_table(x, how, "newdata")[["f=v"]], c(0, 1, 0, 1))
})

test_that("an array of three dimensions is told that it needs two", {
  expect_error(ufs_data(array(1:8, c(2, 2, 2))), "An array needs two dimensions",
    class = "ufs_error_input")
})
