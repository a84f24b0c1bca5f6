# Tables from files: what a line, a name and a number is, at every door.

written <- function(...) {
  file <- tempfile(fileext = ".csv")
  writeLines(c(...), file, useBytes = TRUE)
  file
}

test_that("columns of files and of moments are matched by name, whatever their order", {
  skip_if_not_installed("data.table")
  one <- written("a,b", "1,10", "2,20", "3,30")
  two <- written("b,a", "10,1", "20,2", "30,3")
  expect_identical(ufs_moments(c(one, two))$mean, c(a = 2, b = 20))
  expect_identical(merge_moments(ufs_moments(one), ufs_moments(two))$mean, c(a = 2, b = 20))
  expect_error(ufs_moments(c(one, written("a,c", "1,2", "3,4"))), class = "ufs_error_argument", "'b'")
})

test_that("the type of a column is settled for the whole file", {
  skip_on_cran()
  skip_if_not_installed("data.table")
  open <- showConnections()
  lines <- paste(1:25000, 2, sep = ",")
  bad <- replace(lines, 22000, "n/a,2")
  expect_error(ufs_moments(written("a,b", bad)), class = "ufs_error_input", "'a'.*'n/a' in row 22,000")
  expect_error(ufs_moments(written("a,b", "1,1", "n/a,2", "4,5", "5,2")), "'n/a' in row 2")
  expect_identical(ufs_moments(written("a,b", replace(lines, 1000, "")))$n, 24999)
  expect_error(ufs_moments(written("a,b", replace(lines, 5000, "1,2,3"))), class = "ufs_error_input",
    "row 5,000 has 3 fields, not 2")
  expect_error(ufs_moments(written("a,b", replace(lines, 5000, "1"))), "row 5,000 has 1 field, not 2")
  late <- written("t,a,b", paste0(",", lines), "x,1,2")
  expect_message(m <- ufs_moments(late), "'t'")
  expect_identical(dim(m), c(25001, 2))
  expect_identical(showConnections(), open)
})

test_that("separators, decimals, headers, units and encodings are read or asked for", {
  skip_on_cran()
  skip_if_not_installed("data.table")
  mean_of <- function(...) suppressMessages(ufs_moments(...))$mean
  expect_equal(mean_of(written("a;b", "1,5;2,5", "2,5;3,5", "4,5;1,5")), c(a = 17 / 6, b = 2.5))
  expect_identical(mean_of(written("sep=;", "a;b", "1;2", "2;1", "3;3")), c(a = 2, b = 2))
  expect_identical(mean_of(written("# by hand, twice", "a,b", "1,2", "2,1", "3,3")), c(a = 2, b = 2))
  expect_message(ufs_moments(written("a,b", "mg,cm", "1,2", "2,1", "3,3")), "'mg', 'cm'")
  headless <- written("1,2", "3,4", "5,6", "9,9")
  expect_error(ufs_moments(headless), class = "ufs_error_argument", "numbers above numbers")
  expect_identical(ufs_moments(headless, header = FALSE)$n, 4)
  expect_identical(names(ufs_moments(headless, header = TRUE)), c("1", "2"))
  people <- written("people,b", "\"950\",1", "\"1,200\",2", "\"12,500\",3", "\"870\",4")
  expect_error(ufs_moments(people), class = "ufs_error_argument", "'1,200'")
  expect_identical(mean_of(people, dec = "."), c(people = 3880, b = 2.5))
  expect_equal(mean_of(people, dec = ",")[["people"]], (950 + 1.2 + 12.5 + 870) / 4)
  expect_error(ufs_moments(written("ph,ph,temp", "1,2,3", "3,4,4")), class = "ufs_error_argument", "'ph'")
  expect_message(m <- ufs_moments(written("\"\",a", "1,4", "2,5", "3,9")), "counts the rows")
  expect_identical(names(m), "a")
  latin <- written(iconv(c("H\u00f6he;b", "1,5;2", "2,5;3"), "UTF-8", "latin1"))
  expect_identical(enc2utf8(names(ufs_moments(latin))[1]), "H\u00f6he")
  wide <- tempfile(fileext = ".csv")
  writeBin(c(as.raw(c(0xff, 0xfe)), iconv("H\u00f6he,b\r\n1,2\r\n2,3\r\n", "UTF-8", "UTF-16LE", toRaw = TRUE)[[1]]), wide)
  expect_identical(unname(ufs_moments(wide)$mean), c(1.5, 2.5))
})

test_that("integer64, difftime and labelled numbers are numbers in moments, other columns are told", {
  skip_if_not_installed("bit64")
  x <- data.frame(a = bit64::as.integer64(1:5), t = as.difftime(1:5, units = "mins"), l = c(TRUE, FALSE, TRUE, FALSE, FALSE))
  x$q <- structure(c(1, 2, 2, 99, 1), labels = c(low = 1, high = 2), na_values = 99, class = c("haven_labelled_spss", "haven_labelled"))
  expect_identical(ufs_moments(x[1:3])$mean, c(a = 3, t = 3, l = .4))
  expect_identical(ufs_moments(x)$n, 4)
  expect_message(m <- ufs_moments(iris), "'Species'")
  expect_identical(dim(m), c(150, 4))
  expect_error(ufs_moments(data.frame(a = c("1", "2", "x", "4"), b = 1:4)), class = "ufs_error_input", "'x' in row 3")
})

test_that("moments lose no digits far from zero, and constant columns are those of rows", {
  x <- withr::with_seed(1, cbind(us = 1.6e15 + sample(0:9000, 1e4, TRUE), v = rnorm(1e4)))
  near <- var(x[, 1] - 1.6e15)
  m <- ufs_moments(x)
  expect_lt(abs(feature_scores(ufs_variance(m, scale = FALSE))[[1]] / near - 1), 1e-9)
  expect_lt(abs(as.matrix(m, "covariance")[1, 1] / near - 1), 1e-12)
  far <- withr::with_seed(2, matrix(rnorm(6150), 2050, dimnames = list(NULL, letters[1:3]))) + 1e8
  parts <- Reduce(c, lapply(split(1:2050, rep(1:41, each = 50)), function(i) ufs_moments(far[i, ])))
  expect_lt(max(abs(as.matrix(parts) - cor(far - 1e8))), 1e-14)
  flat <- cbind(a = 1e8 * (1 + c(0, 1, 0, 1, 0) * .Machine$double.eps), b = 1:5, c = c(2, 1, 4, 3, 5))
  expect_identical(suppressWarnings(ufs_variance(ufs_moments(flat)))$constant, suppressWarnings(ufs_variance(flat))$constant)
})

test_that("a database: text is an error both ways, weights and columns are checked, nothing stays open", {
  skip_on_cran()
  skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection))
  DBI::dbWriteTable(connection, "t", data.frame(a = c("1", "2", "x", "4", "x"), b = 1:5, w = -1))
  DBI::dbWriteTable(connection, "n", data.frame(name = letters[1:5], b = c(1, 2, 4, 3, 9)))
  for (where in c("fetch", "database")) {
    expect_error(ufs_moments(connection, from = "t", where = where), class = "ufs_error_input", "'a'.*'x' in row 3")
    expect_error(ufs_moments(connection, "b", "w", from = "t", where = where), class = "ufs_error_argument", "not negative")
    expect_error(ufs_moments(connection, c("b", "b"), from = "t", where = where), class = "ufs_error_argument", "distinct")
    expect_error(ufs_moments(connection, character(), from = "t", where = where), class = "ufs_error_argument", "distinct")
    expect_message(m <- ufs_moments(connection, from = "n", where = where), "'name'")
    expect_equal(m$mean, c(b = 3.8))
  }
  # A result that was left open would stop this with a warning.
  expect_silent(DBI::dbGetQuery(connection, "SELECT 1"))
})

test_that("SQLite: each value counts as it is stored, whatever type the first one had", {
  skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection))
  ask <- function(sql) DBI::dbExecute(connection, sql)
  ask("CREATE TABLE t (a, b, c REAL)")
  # Below an integer of 64 bits RSQLite takes 2.5 for 2.
  ask("INSERT INTO t VALUES (1, 5000000000, NULL), (2.5, 2.5, NULL), (4, 3, NULL), (NULL, 1, 2), (7, 1.75, 8)")
  ask("CREATE VIEW v AS SELECT * FROM t")
  x <- cbind(a = c(1, 2.5, 4, 7), b = c(5e9, 2.5, 3, 1.75))
  y <- cbind(b = c(1, 1.75), c = c(2, 8))
  # So does a column that is empty in the pieces before.
  as_it_is <- query_pieces
  replaced("query_pieces", function(table, held, rows = 2L) as_it_is(table, held, 2L))
  for (where in c("fetch", "database")) for (from in c("t", "v")) {
    m <- expect_silent(ufs_moments(connection, c("a", "b"), from = from, where = where))
    expect_equal(m$mean, colMeans(x), tolerance = 1e-14)
    expect_equal(as.matrix(m, "covariance"), cov(x), tolerance = 1e-14)
    m <- ufs_moments(connection, c("b", "c"), from = from, where = where)
    expect_equal(as.matrix(m, "covariance"), cov(y), tolerance = 1e-14)
  }
})

test_that("a piece of a table in a database has two million values at most, one of a file 40 MB", {
  skip_on_cran()
  skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection))
  DBI::dbWriteTable(connection, "t", as.data.frame(matrix(0, 5000, 800)))
  held <- new_held()
  next_piece <- query_pieces(settle_database(database_table(connection, "t", NULL, NULL), held), held)
  rows <- integer()
  while (!is.null(piece <- next_piece())) rows <- c(rows, nrow(piece$x))
  expect_null(next_piece())
  held$close()
  expect_identical(rows, c(2500L, 2500L))
  # A file of lines of 100 kB: 400 of them are 40 MB.
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".csv")
  line <- strrep("0.12345678,", 9090)
  writeLines(c(paste0("v", 1:9091, collapse = ","), rep(paste0(line, "1"), 500)), file)
  stream <- csv_stream(file, held)
  rows <- integer()
  while (!is.null(piece <- stream())) rows <- c(rows, nrow(piece$rows))
  held$close()
  expect_identical(sum(rows), 500L)
  expect_lte(max(rows), 400L)
  # Products of few columns at once are those of all.
  x <- withr::with_seed(1, matrix(stats::rnorm(6000), 40))
  expect_equal(own_products(x, 1e5), crossprod(x), tolerance = 1e-14)
  expect_identical(own_products(x, 1e5), t(own_products(x, 1e5)))
})

test_that("SQLite: text and blobs anywhere below numbers are an error, large whole numbers a warning", {
  skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection))
  put <- function(last) {
    rows <- paste0("(", 1:1500, ", ", 1:1500 %% 7, ")", collapse = ", ")
    DBI::dbExecute(connection, "DROP TABLE IF EXISTS t")
    DBI::dbExecute(connection, "CREATE TABLE t (a, b)")
    DBI::dbExecute(connection, paste0("INSERT INTO t VALUES ", rows, ", (3, ", last, ")"))
  }
  for (where in c("fetch", "database")) {
    for (odd in c("'x'", "'12'", "x'31'", "9e999")) {
      put(odd)
      expect_error(ufs_moments(connection, from = "t", where = where), "Text, or infinite values, in column 'b'",
        class = "ufs_error_argument")
      expect_error(ufs_moments(connection, "a", "b", from = "t", where = where), "in column 'b'",
        class = "ufs_error_argument")
    }
    put("9007199254740995")
    expect_warning(ufs_moments(connection, from = "t", where = where), "'b'", class = "ufs_warning_digits")
  }
  expect_silent(DBI::dbGetQuery(connection, "SELECT 1"))
})

test_that("matrices of classes with their own operators become plain numbers at the door", {
  values <- matrix(c(1, NA, 3, 4, 5, NA, 7, 8, 10, 2, 2, 9), 4, dimnames = list(NULL, c("a", "b", "c")))
  series <- structure(values, index = 1:4, class = c("xts", "zoo"))
  expect_identical(as.matrix(ufs_data(series, na = "median")), as.matrix(ufs_data(values, na = "median")))
  otu <- methods::setClass("otu_table", contains = "matrix", representation(taxa_are_rows = "logical"),
    where = environment())
  full <- matrix(c(1, 2, 3, 4, 5, 9), 3, dimnames = list(paste0("taxon", 1:3), c("s1", "s2")))
  expect_identical(as.matrix(ufs_data(otu(full, taxa_are_rows = TRUE))), t(full))
  expect_identical(as.matrix(ufs_data(otu(full, taxa_are_rows = FALSE))), full)
})

test_that("predict() keeps classes with their own operators, and fills them as plain numbers", {
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
  otu <- methods::setClass("otu_table", contains = "matrix", representation(taxa_are_rows = "logical"),
    where = environment())
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
  # Without a missing value `na` is no way out, and no error says so.
  for (data in list(x[-2, ], to_sparse(x[-2, ]))) {
    for (call in list(function() ufs_css(data, 2), function() ufs_data(data, rows = "unit"))) {
      said <- conditionMessage(expect_error(call(), class = "ufs_error_input", "infinite values \\(Inf\\) in column 'a'"))
      expect_false(grepl("choose `na`", said, fixed = TRUE))
    }
  }
  x[1, 1] <- NA
  expect_error(ufs_css(x, 2), class = "ufs_error_input", "choose `na`")
  large <- cbind(a = c(1e308, 1e308, 1e308), b = c(1, NA, 3))
  expect_identical(as.matrix(ufs_data(large, na = "median"))[[2, "b"]], 2)
})

test_that("a number whose name is that of a level stays out of its factor's group", {
  d <- withr::with_seed(1, data.frame("a=b" = rnorm(60), a = factor(rep(c("b", "c"), 30)), z = rnorm(60), check.names = FALSE))
  for (x in list(d, d[3:1])) {
    expect_message(data <- ufs_data(x, factors = "dummies"), "'a=b.1'", class = "ufs_message_names")
    expect_setequal(dimnames(data)[[2L]], c("a=b", "a=b.1", "a=c", "z"))
    expect_identical(as.matrix(data)[, "a=b"], d[["a=b"]])
    fit <- ufs_css(data, k = 2)
    expect_setequal(selected_features(fit), c("a=b", "z"))
    expect_equal(predict(fit, x)[["a=b"]], d[["a=b"]])
    out <- ufs_css(suppressMessages(ufs_data(x, factors = "dummies", exclude = "a")), k = 2)
    expect_identical(out$constraints$features$exclude, match(c("a=b.1", "a=c"), dimnames(data)[[2L]]))
  }
})

test_that("sparse columns that are no numbers are refused in our words", {
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
  x <- data.frame(a = c(1, 3, 2), flag = c(TRUE, FALSE, TRUE), day = Sys.Date() + 0:2, word = letters[1:3])
  code_of <- function(x) regmatches(said <- conditionMessage(expect_error(ufs_data(x), class = "ufs_error_input")),
    regexpr("(?<=\\().*(?= keeps)", said, perl = TRUE))
  expect_identical(names(eval(parse(text = code_of(x)))), c("a", "flag"))
  skip_if_not_installed("data.table")
  x <- data.table::as.data.table(x)
  expect_identical(names(eval(parse(text = code_of(x)))), c("a", "flag"))
})

test_that("damaged files, pipes and devices are refused in words", {
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".csv")
  refused <- function(bytes, words) {
    writeBin(bytes, file)
    expect_error(ufs_moments(file), words, class = "ufs_error_input", fixed = TRUE)
  }
  wide <- function(text) c(as.raw(c(255, 254)), iconv(text, "UTF-8", "UTF-16LE", toRaw = TRUE)[[1L]])
  for (size in c(1, 2, 3, 4, 5000)) refused(base::raw(size), "a byte of it is zero")
  refused(c(charToRaw("a,b\n1,2\n3,"), base::raw(4), charToRaw("\n2,2\n")), "a byte of it is zero")
  refused(c(wide("a,b\n1,2\n"), base::raw(2), charToRaw("1")), "cannot be read as UTF-16LE")
  refused(wide("a,b\n1,2\n")[-3], "cannot be read as UTF-16LE")
  refused(as.raw(c(31, 139, 8, 0, 0, 0, 0, 0)), "it is damaged")
  refused(base::raw(), "is empty")
  connections <- nrow(showConnections())
  skip_on_os("windows")
  for (device in c("/dev/null", "/dev/zero")) {
    expect_error(ufs_moments(device), "pipe or device", class = "ufs_error_input")
  }
  pipe <- withr::local_tempfile()
  skip_if_not(nzchar(Sys.which("mkfifo")) && system2("mkfifo", shQuote(pipe)) == 0)
  expect_error(ufs_moments(pipe), "pipe or device", class = "ufs_error_input")
  expect_identical(nrow(showConnections()), connections)
})

test_that("a gzip file that was cut off is refused at whatever byte", {
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".csv.gz")
  cut <- withr::local_tempfile(fileext = ".csv.gz")
  x <- withr::with_seed(1, round(matrix(rnorm(2000), 400), 3))
  connection <- gzfile(file, "w")
  utils::write.csv(x, connection, row.names = FALSE)
  close(connection)
  expect_equal(ufs_moments(file)$n, 400)
  bytes <- readBin(file, "raw", file.size(file))
  for (at in round(seq(30, length(bytes) - 1, length.out = 25))) {
    writeBin(bytes[seq_len(at)], cut)
    expect_error(ufs_moments(cut), "damaged|cut off", class = "ufs_error_input")
  }
  # Two files in one, as `cat a.gz b.gz` makes them: the end speaks of the second alone.
  header <- gzfile(cut, "w")
  writeLines("a,b", header)
  close(header)
  head <- readBin(cut, "raw", file.size(cut))
  rows <- gzfile(cut, "w")
  writeLines(c("1,2", "3,5", "4,4"), rows)
  close(rows)
  writeBin(c(head, readBin(cut, "raw", file.size(cut))), cut)
  expect_equal(unname(ufs_moments(cut)$mean), c(8, 11) / 3)
})

test_that("records over several lines, blanks between fields, one column and no newline at the end", {
  skip_if_not_installed("data.table")
  mean_of <- function(...) suppressMessages(ufs_moments(...))$mean
  # The 200th line, the last of the first look, begins a record of three.
  rows <- c("a,note", paste0(1:198, ",x"), "1000,\"one", "two", "three\"", "0,y")
  expect_identical(mean_of(written(rows)), c(a = (sum(1:198) + 1000) / 200))
  expect_identical(mean_of(written("a b", "1  2", "3 5")), c(a = 2, b = 3.5))
  expect_identical(mean_of(written("a", "1", "2", "6")), c(a = 3))
  file <- withr::local_tempfile(fileext = ".csv")
  writeBin(charToRaw("a,b\n1,2\n3,5"), file)
  expect_identical(expect_silent(ufs_moments(file))$mean, c(a = 2, b = 3.5))
  # A quote that nothing closes takes the lines to the end.
  lines <- c("1,\"x", "2,y", "3,z")
  expect_identical(whole_records(function(n) {
    out <- utils::head(lines, n)
    lines <<- utils::tail(lines, -n)
    out
  }, 1), c("1,\"x", "2,y", "3,z"))
})

test_that("the sign before decimals is told by numbers that can be read in one way, or by `;`", {
  skip_if_not_installed("data.table")
  expect_identical(ufs_moments(written("a;b", "1,234.5;1", "2,000.5;3"))$mean, c(a = 1617.5, b = 2))
  expect_equal(ufs_moments(written("a;b", "1,234;1", "2,345;3"))$mean, c(a = 1.7895, b = 2))
})

test_that("a header with one name less, and lines with more fields than it", {
  skip_if_not_installed("data.table")
  expect_message(m <- ufs_moments(written("a,b", "1,4,2", "2,5,3", "3,9,7")), "counts the rows",
    class = "ufs_message_columns")
  expect_identical(m$mean, c(a = 6, b = 4))
  expect_message(m <- ufs_moments(written("a,b", "1,4,", "2,5,", "3,9,")), "neither name nor values",
    class = "ufs_message_columns")
  expect_identical(m$mean, c(a = 2, b = 6))
  expect_error(ufs_moments(written("a,b", "1,2", "3,4", "5,6,7")), "row 3 has 3 fields, not 2",
    class = "ufs_error_input")
  found <- list(names = c("a", "b"), sep = ",")
  expect_error(fields_of(c("1,2,3", "4,5,6"), found, "f.csv", 40001, NULL),
    "'f.csv' is no regular table: row 40,001 has 3 fields, not 2", class = "ufs_error_input")
  expect_identical(fields_of(c("", " "), found, "f.csv", 1, NULL), data.frame(a = 1, b = 1)[0, ])
})

test_that("what fails while a file is read is said in words", {
  expect_error(in_words_of_file("f.csv", stop("no such device")),
    "'f.csv' cannot be read: it is damaged or gone \\(no such device\\)", class = "ufs_error_input")
  expect_error(in_words_of_file("f.csv", refuse("dec", "Say `dec`.")), "Say `dec`",
    class = "ufs_error_argument")
})

test_that("a file of comments alone is called empty", {
  skip_if_not_installed("data.table")
  file <- temporary_file(".csv", environment())
  writeLines(c("# exported", "", "#"), file)
  expect_refused(ufs_moments(file), "is empty.", "ufs_error_input")
})

test_that("first lines that name too few columns are refused", {
  skip_if_not_installed("data.table")
  expect_refused(ufs_moments(written("a,,c", "cm,kg,m", "1,2,3", "2,3,5", "4,5,6")),
    "names some columns and the line below it all ('cm', 'kg', 'm'): give the names in one line.",
    "ufs_error_input")
  expect_refused(ufs_moments(written("a,b", "1,2,3,5", "2,3,4,5", "4,5,6,6")),
    "is no regular table: its first line has 2 fields, a later one 4.", "ufs_error_input")
})

test_that("nothing is left out of a table without a line of names", {
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".csv")
  writeLines(c("1.5,2,7", "2.5,4,1", "0.5,3,5"), file)
  expect_false(any(grepl("left out", capture_messages(ufs_moments(file, header = FALSE)))))
})

test_that("more lines than are read at once come in their order", {
  lines <- as.character(seq_len(150000L))
  at <- 0L
  found <- whole_records(function(n) {
    out <- lines[at + seq_len(min(n, length(lines) - at))]
    at <<- at + length(out)
    out
  }, length(lines))
  expect_identical(found, lines)
})

test_that("a compressed file of nothing is called empty", {
  skip_if_not_installed("data.table")
  file <- temporary_file(".csv.gz", environment())
  close(gzfile(file, "w"))
  expect_gt(file.size(file), 0)
  expect_refused(ufs_moments(file), ".csv.gz' is empty.", "ufs_error_input")
})
