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
  expect_equal(predict(ufs_variance(x, k = 7), x)[["m.2"]], x$m[, 2])
  big <- as_integer64(c(-5, 0, 7, 2^31, -2^31, 2^40 + 3, -2^40, 9e15))
  want <- c(-5, 0, 7, 2^31, -2^31, 2^40 + 3, -2^40, 9e15)
  with_column <- function(b) list2DF(list(b = b, a = seq_along(b)))
  expect_identical(unname(as.matrix(ufs_data(with_column(big)))[, 1]), want)
  expect_error(ufs_variance(with_column(as_integer64(c(1:8, -2^63)))), "'b'", class = "ufs_error_input")
  expect_identical(unname(as.matrix(ufs_data(structure(big, dim = c(4L, 2L))))), matrix(want, 4))
  # Beyond 2^53 not every whole number is a double.
  ids <- list2DF(list(a = 1:9, id = as_integer64(rep(2^53, 9), 1:9)))
  expect_warning(ufs_data(ids), "column 'id'", class = "ufs_warning_digits")
  expect_warning(ufs_data(structure(ids$id, dim = c(3L, 3L))), "`x`", class = "ufs_warning_digits")
  ids$id <- as_integer64(rep(2^60, 9))
  expect_warning(ufs_data(ids), NA)
  metres <- structure(as.double(1:9), units = structure(list(numerator = "m", denominator = character()), class = "symbolic_units"),
    class = "units")
  expect_equal(as.matrix(ufs_data(list2DF(list(u = metres, a = 9:1))))[, "u"], 1:9, ignore_attr = TRUE)
})

test_that("what is not read names a way out; a column that numbers the rows is pointed out once", {
  expect_error(ufs_select("x.h5", k = 50), "HDF5Array::HDF5Array", class = "ufs_error_input")
  expect_error(ufs_data("a/b.csv.gz"), "fread", class = "ufs_error_input")
  expect_error(ufs_data(structure(list(), class = c("tbl_dbi", "tbl_sql", "tbl_lazy", "tbl"))), "collect", class = "ufs_error_input")
  x <- cbind(matrix(rnorm(16), 8), 0, 0)
  expect_equal(suppressWarnings(ufs_captured(ufs_variance(x), x, 3))$bound, 1)
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

test_that("ranges of codes are missing values, columns may be data frames or of an S4 class, and arrays are refused", {
  x <- data.frame(z = c(4, 1, 3, 2, 9))
  x$q <- structure(c(1, 2, 97, 99, 4), na_range = c(97, 99), class = c("haven_labelled_spss", "haven_labelled"))
  expect_identical(unname(as.matrix(ufs_data(x, na = "median"))[, "q"]), c(1, 2, 2, 2, 4))
  x$d <- data.frame(u = 5:1, v = c(0, 1, 0, 1, 0))
  data <- ufs_data(x["d"])
  expect_identical(colnames(data), c("d[u]", "d[v]"))
  expect_identical(unname(as.matrix(data)), cbind(as.double(5:1), x$d$v))
  measured <- methods::setClass("measured", contains = "numeric",
    representation(unit = "character"), where = environment())
  expect_identical(in_class_of(c(1, 2), measured(c(3, 4), unit = "m")), measured(c(1, 2), unit = "m"))
  time <- function(...) as.difftime(c(...), units = "mins")
  expect_identical(in_class_of(c(1, 2), time(3, 4)), time(1, 2))
  x <- data.frame(a = c(1, 5, 2, 9), f = factor(c("u", "v", "u", "v")))
  how <- coding_of(x, TRUE)
  expect_identical(coded_table(x["a"], how["a"], "newdata"), x["a"])
  expect_identical(coded_table(x, how, "newdata")[["f"]], c(1, 2, 1, 2))
  expect_error(ufs_data(array(1:8, c(2, 2, 2))), "An array needs two dimensions", class = "ufs_error_input")
})

test_that("matrices of classes with their own operators become plain numbers; predict() keeps their classes", {
  values <- matrix(c(1, NA, 3, 4, 5, NA, 7, 8, 10, 2, 2, 9), 4, dimnames = list(NULL, c("a", "b", "c")))
  series <- structure(values, index = 1:4, class = c("xts", "zoo"))
  expect_identical(as.matrix(ufs_data(series, na = "median")), as.matrix(ufs_data(values, na = "median")))
  otu <- methods::setClass("otu_table", contains = "matrix", representation(taxa_are_rows = "logical"),
    where = environment())
  full <- matrix(c(1, 2, 3, 4, 5, 9), 3, dimnames = list(paste0("taxon", 1:3), c("s1", "s2")))
  expect_identical(as.matrix(ufs_data(otu(full, taxa_are_rows = TRUE))), t(full))
  expect_identical(as.matrix(ufs_data(otu(full, taxa_are_rows = FALSE))), full)
  refuses <- function(x, ...) stop("its own operator was met")
  for (what in c("[<-", "!=", "is.na")) registerS3method(what, "strict_series", refuses)
  registerS3method("[", "strict_series", function(x, i, j, drop) {
    if (missing(i)) i <- seq_len(nrow(x))
    structure(matrix(attr(x, "values")[i, j], length(i)), dimnames = list(NULL, colnames(x)[j]), index = attr(x, "index")[i],
      class = class(x))
  })
  values <- withr::with_seed(1, matrix(rnorm(60), 12, dimnames = list(NULL, letters[1:5])))
  values[cbind(c(2, 5, 9), c(1, 3, 4))] <- NA
  series <- structure(values, index = 1:12, values = values, class = c("strict_series", "zoo"))
  for (na in c("median", "knn")) {
    fit <- ufs_css(series, k = 4, na = na)
    out <- predict(fit, series)
    expect_s3_class(out, "strict_series")
    expect_identical(attr(out, "index"), 1:12)
    expect_identical(matrix(unclass(out)[1:48], 12), unname(predict(fit, values)))
  }
  full <- replace(values, is.na(values), 0)
  whole <- methods::setClass("phyloseq", representation(otu_table = "otu_table"), where = environment())
  rownames(full) <- paste0("s", 1:12)
  fit <- ufs_css(full, k = 2)
  for (x in list(otu(t(full), taxa_are_rows = TRUE), otu(full, taxa_are_rows = FALSE),
    whole(otu_table = otu(t(full), taxa_are_rows = TRUE)))) {
    expect_identical(predict(fit, x), predict(fit, full))
    expect_identical(ufs_moments(x)$mean, ufs_moments(full)$mean)
  }
  # A column keeps its unit, and a code that means missing is filled.
  spent <- data.frame(a = c(3, 1, NA, 2, 9), t = as.difftime(c(1, NA, 3, 5, 20), units = "mins"))
  spent$q <- structure(c(1, 2, 2, 99, 1), labels = c(low = 1, high = 2), na_values = 99, class = c("haven_labelled_spss", "haven_labelled"))
  out <- predict(ufs_css(spent, k = 3, na = "median"), spent)
  expect_identical(out$t, as.difftime(c(1, 4, 3, 5, 20), units = "mins"))
  expect_identical(as.numeric(unclass(out$q)), c(1, 2, 2, 1.5, 1))
  expect_s3_class(out$q, "haven_labelled")
})

test_that("what predict() gives of a data.table shares nothing with it", {
  skip_if_not_installed("data.table")
  x <- data.table::as.data.table(iris[, 1:4])
  out <- predict(ufs_css(x, k = 4), x)
  expect_silent(data.table::set(out, j = "new", value = 1))
  data.table::set(out, j = "Petal.Width", value = 0)
  expect_identical(x$Petal.Width, iris$Petal.Width)
  expect_identical(names(x), names(iris)[1:4])
})

test_that("infinite values are no missing ones, in words", {
  x <- matrix(c(1, NA, Inf, 4, 5, 6, 7, 8, 9, 2, 3, 1), 4, dimnames = list(NULL, c("a", "b", "c")))
  for (na in c("omit", "median", "knn")) {
    expect_error(ufs_data(x, na = na), class = "ufs_error_input", "infinite values \\(Inf\\) in column 'a', which `na` does not")
  }
  expect_error(ufs_data(to_sparse(x), na = "median"), class = "ufs_error_input", "column 'a', which `na`")
  for (data in list(x[-2, ], to_sparse(x[-2, ]))) {
    for (call in list(function() ufs_css(data, 2), function() ufs_data(data, rows = "unit"))) {
      said <- conditionMessage(expect_error(call(), class = "ufs_error_input", "infinite values \\(Inf\\) in column 'a'"))
      expect_false(grepl("na = \"", said, fixed = TRUE))
    }
  }
  x[1, 1] <- NA
  expect_error(ufs_css(x, 2), class = "ufs_error_input", "na = \"median\"")
  expect_identical(as.matrix(ufs_data(cbind(a = c(1e308, 1e308, 1e308), b = c(1, NA, 3)), na = "median"))[[2, "b"]], 2)
  d <- withr::with_seed(1, data.frame("a=b" = rnorm(60), a = factor(rep(c("b", "c"), 30)), z = rnorm(60), check.names = FALSE))
  for (x in list(d, d[3:1])) {
    data <- ufs_data(x, factors = "dummies")
    expect_identical(dimnames(data)[[2L]], names(x))
    fit <- ufs_css(data, k = 2)
    expect_identical(predict(fit, x)[selected_features(fit)], x[selected_features(fit)])
    expect_false(anyDuplicated(fit$coded$name) > 0L)
    expect_identical(unname(fit$coded$variable[!is.na(fit$coded$level)]), rep(match("a", names(x)), 2L))
  }
  skip_if_not_installed("sparsevctrs")
  flag <- sparsevctrs::sparse_logical(TRUE, 2, 5)
  x <- data.frame(n = sparsevctrs::sparse_double(3, 4, 5), f = flag, z = c(1, 4, 2, 5, 3))
  expect_equal(unname(as.matrix(ufs_data(x))[, "f"]), c(0, 1, 0, 0, 0))
  x$w <- sparsevctrs::sparse_character("a", 2, 5)
  expect_error(ufs_data(x), class = "ufs_error_input", "not numeric: column 'w'")
})

test_that("advice about classes of matrices is code that gives samples in rows", {
  skip_if_not_installed("Matrix")
  full <- matrix(c(0, 2, 1, 0, 3, 0), 2, dimnames = list(Docs = c("d1", "d2"), Terms = c("a", "b", "c")))
  triplets <- function(m, class) {
    at <- which(m != 0, arr.ind = TRUE)
    structure(list(i = at[, 1], j = at[, 2], v = m[at], nrow = nrow(m), ncol = ncol(m), dimnames = dimnames(m)),
      class = c(class, "simple_triplet_matrix"))
  }
  for (x in list(triplets(full, "DocumentTermMatrix"), triplets(t(full), "TermDocumentMatrix"), triplets(full, NULL))) {
    said <- conditionMessage(expect_error(ufs_data(x), class = "ufs_error_input"))
    code <- sub(".* Give (Matrix::sparseMatrix.*)\\), with.*", "\\1)", sub("[.]$", "", said))
    code <- sub(".* Give ", "", code)
    expect_identical(unname(as.matrix(ufs_data(eval(parse(text = code))))), unname(full))
    expect_identical(dimnames(ufs_data(eval(parse(text = code))))[[2L]], colnames(full))
  }
})

test_that("the code that an error advises drops what is not read and keeps the rest", {
  x <- data.frame(a = c(1, 3, 2), flag = c(TRUE, FALSE, TRUE), day = complex(3), word = letters[1:3])
  code_of <- function(x) regmatches(said <- conditionMessage(expect_error(ufs_data(x), class = "ufs_error_input")),
    regexpr("(?<=\\().*(?= keeps)", said, perl = TRUE))
  expect_identical(names(eval(parse(text = code_of(x)))), c("a", "flag"))
  skip_if_not_installed("data.table")
  x <- data.table::as.data.table(x)
  expect_identical(names(eval(parse(text = code_of(x)))), c("a", "flag"))
})
