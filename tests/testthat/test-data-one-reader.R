# One table in many forms, through every door that reads tables: the same columns, the same ones left out, the same
# moments, or the same words about the same value.

skip_on_cran()

for (package in c("tibble", "data.table", "RSQLite", "dbplyr", "dplyr")) skip_if_not_installed(package)
source(system.file("scripts", "read-file.R", package = "ufselect"), local = TRUE)

numbers <- withr::with_seed(3, {
  x <- data.frame(a = round(rnorm(60), 3), b = sample(1:9, 60, TRUE), flag = rep(c(TRUE, FALSE, TRUE), 20))
  x$big <- as_integer64(sample(1e6, 60))
  x$took <- as.difftime(round(runif(60, 1, 9), 2), units = "mins")
  x
})
doubles <- sapply(numbers, as.numeric)
with_text <- function(x) {
  n <- nrow(x)
  cbind(x, kind = factor(rep(c("x", "y"), n / 2)), note = paste("note", letters[seq_len(n) %% 26 + 1]))
}
# As files and databases hold it: no difftime, no factor.
stored <- function(x) {
  x$took <- as.numeric(x$took)
  for (j in which(vapply(x, is.factor, NA))) x[[j]] <- as.character(x[[j]])
  x
}
in_file <- function(x) {
  file <- tempfile(fileext = ".csv")
  x <- stored(x)
  x$big <- as.double(x$big)
  data.table::fwrite(x, file)
  file
}

# Functions of no arguments that give the moments of x: each another form, through ufs_moments().
forms_of <- function(x, connection) {
  DBI::dbWriteTable(connection, "t", stored(x), overwrite = TRUE)
  first <- seq_len(nrow(x)) <= nrow(x) / 2
  turned <- rev(names(x))
  forms <- list(
    data.frame = function() ufs_moments(x),
    tibble = function() ufs_moments(tibble::as_tibble(x)),
    data.table = function() ufs_moments(data.table::as.data.table(x)),
    pieces = function() c(ufs_moments(x[first, ]), ufs_moments(x[!first, turned])),
    given = function() {
      parts <- list(x[first, ], x[!first, turned])
      ufs_moments(function() {
        part <- parts[1L]
        parts <<- parts[-1L]
        part[[1L]]
      })
    },
    csv = function() ufs_moments(data.table::fread(in_file(x))),
    fetched = function() ufs_moments(connection, from = "t"),
    query = function() ufs_moments(connection, from = DBI::SQL(paste("SELECT", toString(turned), "FROM t"))),
    database = function() ufs_moments(connection, from = "t", where = "database"),
    dbplyr = function() ufs_moments(dplyr::tbl(connection, "t")),
    compared = function() ufs_moments(x, na = "pairwise"))
  forms
}

# The columns said to be left out, and the value: list(value, left).
listening <- function(code) {
  left <- character()
  value <- withCallingHandlers(code, message = function(m) {
    words <- conditionMessage(m)
    words <- regmatches(words, regexpr("Left out[^\n]*", words))
    left <<- c(left, unlist(regmatches(words, gregexpr("'[^']+'", words))))
    invokeRestart("muffleMessage")
  })
  # Pieces say it each for itself.
  list(value = value, left = gsub("'", "", sort(unique(left))))
}

test_that("one table in every form, in every function: the same columns, the same ones left out, the same moments", {
  connection <- local_sqlite()
  for (text in c(FALSE, TRUE)) {
    x <- if (text) with_text(numbers) else numbers
    left <- if (text) c("kind", "note") else character()
    same <- function(found, mean, cov, info) {
      expect_setequal(names(mean), names(numbers))
      expect_equal(mean[names(numbers)], colMeans(doubles), tolerance = 1e-12, info = info)
      expect_equal(cov[names(numbers), names(numbers)], cov(doubles), tolerance = 1e-9, info = info)
      expect_identical(found$left, left, info = info)
    }
    for (form in names(forms_of(x, connection))) {
      found <- listening(forms_of(x, connection)[[form]]())
      same(found, found$value$mean, as.matrix(found$value, "covariance"), form)
    }
    found <- listening(ufs_sketch(dplyr::tbl(connection, "t"), 60))
    drawn <- as.matrix(found$value$data)
    same(found, colMeans(drawn), cov(drawn), "sketch of a table in a database")
    read <- read_file(in_file(x))
    found <- listening(message(read$said))
    same(found, colMeans(read$x), cov(read$x), "demo")
  }
  tables <- function(x) list(x, tibble::as_tibble(x), data.table::as.data.table(x))
  split <- withr::with_seed(1, ufs_split(doubles, 20))
  for (x in tables(numbers)) {
    expect_equal(as.matrix(ufs_data(x)), doubles, ignore_attr = TRUE)
    expect_equal(as.matrix(withr::with_seed(1, ufs_sketch(x, 30, "uniform"))$data),
      as.matrix(withr::with_seed(1, ufs_sketch(doubles, 30, "uniform"))$data), ignore_attr = TRUE)
    expect_identical(withr::with_seed(1, ufs_split(x, 20))$test, split$test)
  }
  doors <- list(ufs_data, function(x) ufs_sketch(x, 30, "uniform"), function(x) ufs_split(x, 20))
  for (x in tables(with_text(numbers))) for (door in doors) {
    expect_error(door(x), class = "ufs_error_input", "not numeric: columns 'kind', 'note'")
  }
})

test_that("a value that cannot be read is named with column and row in the same words at every door", {
  connection <- local_sqlite()
  x <- with_text(numbers)
  x$a <- as.character(x$a)
  x$a[23] <- "oops"
  words <- function(code, class = "ufs_error_input") {
    said <- conditionMessage(expect_error(suppressMessages(code), class = class))
    sub(" of (`x`|file '[^']*')", "", sub(" [(]DROP=[)]", "", said))
  }
  right <- "Column 'a' is not numeric: 'oops' in row 23 is no number. Mend it, or leave the column out."
  # A piece counts its own rows.
  for (form in names(forms_of(x, connection))) expect_identical(words(forms_of(x, connection)[[form]]()), right, info = form)
  expect_identical(words(ufs_data(x)), right)
  expect_identical(words(ufs_sketch(tibble::as_tibble(x), 30)), right)
  expect_identical(words(ufs_split(data.table::as.data.table(x), 20)), right)
  expect_identical(words(ufs_sketch(dplyr::tbl(connection, "t"), 30)), right)
  expect_identical(words(read_file(in_file(x)), "demo_error"), right)
})

test_that("a missing value costs its row in moments, and names its column where rows are wanted", {
  connection <- local_sqlite()
  x <- replace(numbers, "a", list(replace(numbers$a, 7, NA)))
  doubles <- doubles[-7, ]
  for (form in setdiff(names(forms_of(x, connection)), "compared")) {
    m <- forms_of(x, connection)[[form]]()
    expect_equal(m$mean[colnames(doubles)], colMeans(doubles), tolerance = 1e-12, info = form)
    spread <- as.matrix(m, "covariance")[colnames(doubles), colnames(doubles)]
    expect_equal(spread, cov(doubles), tolerance = 1e-9, info = form)
    expect_identical(m$dropped, 1, info = form)
  }
  for (door in list(function(x) ufs_css(x, 2), function(x) ufs_split(x, 20), function(x) ufs_sketch(x, 20))) {
    for (table in list(x, tibble::as_tibble(x), data.table::as.data.table(x))) {
      expect_error(door(table), class = "ufs_error_input", "in column 'a'.*as na = .median")
    }
  }
  expect_error(read_file(in_file(x)), class = "demo_error", "Missing values in 'a'")
})
