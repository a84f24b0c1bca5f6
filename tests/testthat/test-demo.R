# The reader of the demo (inst/scripts/read-table.R) and the demo itself.
scripts <- system.file("scripts", package = "ufselect")
source(file.path(scripts, "read-table.R"), local = TRUE)

cat_line <- function(..., eol = "\n") {
  file <- tempfile(fileext = ".csv")
  con <- file(file, "wb")
  writeBin(charToRaw(paste0(paste(c(...), collapse = eol), eol)), con)
  close(con)
  file
}
said <- function(code) conditionMessage(expect_error(code, class = "demo_error"))

test_that("separators, decimal commas, byte order marks, names and logical columns are read", {
  expected <- cbind(a = c(1.5, 2, 3.25), b = c(4, 5, 6))
  plain <- read_table(put("a,b", "1.5,4", "2,5", "3.25,6"))
  expect_identical(plain$x, expected)
  expect_identical(read_table(put("a;b", "1,5;4", "2;5", "3,25;6"))$x, expected)
  expect_match(read_table(put("a;b", "1,5;4", "2;5", "3,25;6"))$said, "decimal comma")
  expect_identical(read_table(put("a;b", "1.5;4", "2;5", "3.25;6", eol = "\r\n"))$x, expected)
  expect_identical(read_table(put("a\tb", "1.5\t4", "2\t5", "3.25\t6"))$x, expected)
  expect_identical(read_table(put("\ufeffa,b", "1.5,4", "2,5", "3.25,6"))$x, expected)
  named <- read_table(put("name,a,b", "x,1.5,4", "y,2,5", "z,3.25,6"))
  expect_identical(named$x, `rownames<-`(expected, c("x", "y", "z")))
  expect_match(named$said, "'name'", all = FALSE)
  counted <- read_table(put(",a,b", "1,1.5,4", "2,2,5", "3,3.25,6"))
  expect_identical(colnames(counted$x), c("a", "b"))
  flags <- read_table(put("a,ok", "1.5,TRUE", "2,FALSE", "3,TRUE"))
  expect_identical(flags$x[, "ok"], c(1, 0, 1))
  labelled <- read_table(put("a,b,kind", "1,4,u", "2,5,v", "3,7,u"), "kind")
  expect_identical(labelled$y, factor(c("u", "v", "u")))
  expect_identical(colnames(labelled$x), c("a", "b"))
})

test_that("no row is lost: without a header, with a short one, with a NUL byte", {
  bare <- read_table(put("1.5,4", "2,3", "3.25,6"))
  expect_identical(bare$x, cbind(V1 = c(1.5, 2, 3.25), V2 = c(4, 3, 6)))
  expect_match(bare$said, "3 rows, 2 columns, from 3 lines (separator comma, no header", fixed = TRUE)
  short <- read_table(put("a b", "\"u\" 1 2", "\"v\" 3 5"))
  expect_identical(short$x, cbind(a = c(u = 1, v = 3), b = c(2, 5)))
  expect_match(short$said, "header in line 1, names of the rows in column 1", fixed = TRUE)
  expect_match(said(read_table(put("a,b", "1.5,2,3", "4,5,7"))), "Line 1 .* has 2 names, the next line 3 values")
  expect_match(said(read_table(put("a,b", "1,2,3,4", "5,6,7,9"))), "Line 1 .* has 2 values, where most have 4")
  expect_match(said(read_table(put("a,b,c", "1,2,3", "4,5", "6,7,9"))), "Line 3 .* has 2 values, where most have 3")
  expect_identical(read_table(put("a,b,", "1,2,", "3,7,"))$x, cbind(a = c(1, 3), b = c(2, 7)))
  file <- tempfile()
  writeBin(c(charToRaw("a,b\n1,2\n3,"), as.raw(0), charToRaw("4\n")), file)
  expect_match(said(read_table(file)), "line 3 has a NUL byte")
  empty <- read_table(put("# by me", "a,b", "1,2", "", "3,7"))
  expect_match(empty$said, "2 rows, 2 columns, from 5 lines .*1 comment line left out, 1 empty line left out")
  expect_identical(unname(empty$x), rbind(c(1, 2), c(3, 7)))
})

test_that("what may be names or data, thousands or decimals is asked for", {
  years <- put("400,410,430", ".1,.5,.2", ".2,.1,.3", ".5,.1,.9")
  expect_match(said(read_table(years)), "Line 1 .*HEADER=yes or HEADER=no")
  expect_identical(dim(read_table(years, header = "no")$x), 4:3)
  expect_identical(colnames(read_table(years, header = "yes")$x), c("400", "410", "430"))
  quoted <- read_table(put("\"400\",\"410\",\"430\"", ".1,.5,.2", ".2,.1,.3"))
  expect_identical(colnames(quoted$x), c("400", "410", "430"))
  expect_match(said(read_table(put("# a,b", "1.5,2", "3,1"))), "Line 1 .* begins with #")
  thousands <- put("a;b", "999;1", "1,234;2", "850;5")
  expect_match(said(read_table(thousands)), "'1,234' in line 3, column 'a': thousands or three decimals")
  expect_identical(read_table(thousands, decimal = "comma")$x[, "a"], c(999, 1.234, 850))
  expect_identical(read_table(thousands, decimal = "point")$x[, "a"], c(999, 1234, 850))
  expect_error(read_table(put("a;b", "999;1", "1.234;2", "850;5")), class = "demo_error")
  # One value that can be read in one way only decides.
  decided <- read_table(put("a;b", "999;1", "1,234;2.5", "850;5"))
  expect_identical(decided$x[, "a"], c(999, 1234, 850))
  expect_match(decided$said, "decimal point, commas between thousands")
  expect_identical(read_table(put("a;b", "999;1", "1.234;2,5", "850;5"))$x[, "a"], c(999, 1234, 850))
  expect_match(said(read_table(put("a;b", "1,5;1", "2;2.5"))), "'2.5' in line 3.* '1,5' in line 2")
  expect_match(said(read_table(put("a;b", "1,5;1", "2;2"), decimal = "point")), "'1,5' in line 2")
  expect_match(said(read_table(put("a,b", "1,2"), header = "maybe")), "HEADER= must be yes or no")
  expect_match(said(read_table(put("a,b", "5\",1", "2,3", "4\",7"))), "Line 2 .* quotation mark")
  expect_match(said(read_table(put("a,b", "\"x,1", "y,2"))), "line 2 .* never closed")
})

test_that("what is wrong with a file is said in words", {
  expect_match(said(read_table(tempfile())), "There is no file")
  expect_match(said(read_table(tempdir())), "folder")
  empty <- tempfile()
  file.create(empty)
  expect_match(said(read_table(empty)), "empty")
  expect_match(said(read_table(put("a,b"))), "no rows|cannot be read")
  texts <- put(paste(c("id", paste0("t", 1:7)), collapse = ","), paste(c(1, letters[1:7]), collapse = ","),
    paste(c(1, letters[2:8]), collapse = ","))
  message <- said(read_table(texts))
  expect_match(message, "'t1', 't2', 't3', 't4', 't5' and 2 more")
  expect_match(message, "LABEL=t1")
  expect_match(said(read_table(put("a,b", "1,2", "3,4"), "kind")), "no column 'kind'")
  expect_match(said(read_table(put("a,b", "1,", "3,4", "5,6"))), "Missing values in 'b'")
  expect_match(said(read_table(put("a,b,kind", "1,2,u", "3,4,", "5,6,v"), "kind")), "label column")
  expect_match(said(whole("-3", "K", 1, 10, "columns")), "K= must be a whole number of at least 1, not '-3'")
  expect_match(said(whole("11", "K", 1, 10, "columns")), "more than the 10 columns")
  expect_match(said(whole("two", "K", 1, 10, "columns")), "whole number")
  expect_identical(whole("3", "K", 1, 10, "columns"), 3L)
})

test_that("a spreadsheet takes no text of ours for a formula", {
  script <- parse(file.path(scripts, "demo.R"))
  is_it <- vapply(script, function(line) is.call(line) && identical(line[[1L]], as.name("<-")) &&
    identical(line[[2L]], as.name("write_csv")), NA)
  eval(script[is_it][[1L]])
  file <- tempfile()
  write_csv(data.frame(feature = c("=1+1", "+a", "-b", "@c", "d", "e=f"), score = c(-1, 2, -3, 4, 5, 6)), file)
  expect_identical(readLines(file)[-1L], paste0("\"", c("'=1+1", "'+a", "'-b", "'@c", "d", "e=f"), "\",",
    c(-1, 2, -3, 4, 5, 6)))
})

test_that("make gives the demo names of files as they are", {
  skip_on_cran()
  skip_on_os("windows")
  makefile <- file.path(test_path("..", ".."), "Makefile")
  skip_if_not(file.exists(makefile) && nzchar(Sys.which("make")))
  folder <- tempfile("make")
  dir.create(folder)
  lines <- readLines(makefile)
  # The settings of the Makefile with a target of our own, which says what a script would get.
  writeLines(c(lines[seq_len(grep("^[.]PHONY", lines) - 1L)], "show:", "\t@printenv UFSELECT_DATA"),
    file.path(folder, "Makefile"))
  for (name in c("a\"; touch x; \".csv", "it's $b `touch x` c.csv", "$(shell touch x)")) {
    got <- system2("make", c("-s", "-C", shQuote(folder), "show", shQuote(paste0("DATA=", name))), stdout = TRUE)
    expect_identical(got, name)
  }
  expect_identical(list.files(folder), "Makefile")
})

test_that("the demo runs on a file, marks the chosen, leaves no stale table and fails in words", {
  skip_processes()
  d <- planted(40, 12)
  file <- tempfile(fileext = ".csv")
  out <- tempfile("demo")
  dir.create(out)
  file.create(file.path(out, c("comparison.csv", "mine.txt")))
  # A constant column is in the table, and fewer than 20 others.
  utils::write.csv2(data.frame(d$x, flat = 1), file, row.names = FALSE)
  before <- Sys.getenv(c("R_LIBS", "UFSELECT_DATA"), NA, names = TRUE)
  withr::defer({
    Sys.unsetenv(names(before)[is.na(before)])
    if (!all(is.na(before))) do.call(Sys.setenv, as.list(before[!is.na(before)]))
  })
  Sys.setenv(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep), UFSELECT_DATA = file)
  run <- function(...) {
    suppressWarnings(system2(file.path(R.home("bin"), "Rscript"),
      c(shQuote(file.path(scripts, "demo.R")), shQuote(paste0("--out=", out)), ...), stdout = TRUE, stderr = TRUE))
  }
  lines <- run()
  expect_null(attr(lines, "status"))
  expect_match(lines, "12 columns that stand for all 13", all = FALSE)
  lines <- run("--k=4")
  expect_null(attr(lines, "status"))
  expect_match(lines, "decimal comma", all = FALSE)
  expect_setequal(list.files(out), c("mine.txt", "columns-ranking.csv", "rows-ranking.csv", "columns-scores.png"))
  table <- utils::read.csv(file.path(out, "columns-ranking.csv"))
  expect_identical(sum(table$chosen), 4L)
  expect_identical(table$rank[table$chosen], 1:4)
  lines <- run("--k=-3")
  expect_identical(attr(lines, "status"), 1L)
  expect_match(lines, "whole number of at least 1", all = FALSE)
  expect_false(any(grepl("Execution halted|Error in", lines)))
})
