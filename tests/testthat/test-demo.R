# The reader of the demo (inst/scripts/read-table.R) and the demo itself.
skip_if_not_installed("data.table")
scripts <- system.file("scripts", package = "ufselect")
source(file.path(scripts, "read-table.R"), local = TRUE)

put <- function(..., eol = "\n") {
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

test_that("the demo runs on a file, marks the chosen, leaves no stale table and fails in words", {
  skip_processes()
  d <- planted(40, 12)
  file <- tempfile(fileext = ".csv")
  out <- tempfile("demo")
  dir.create(out)
  file.create(file.path(out, c("comparison.csv", "mine.txt")))
  utils::write.csv2(data.frame(d$x), file, row.names = FALSE)
  run <- function(...) {
    suppressWarnings(system2(file.path(R.home("bin"), "Rscript"),
      c(shQuote(file.path(scripts, "demo.R")), paste0("--data=", file), paste0("--out=", out), ...),
      stdout = TRUE, stderr = TRUE, env = paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep))))
  }
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
