# The reader of the demo (inst/scripts/read-file.R) and the demo itself.
scripts <- system.file("scripts", package = "ufselect")
source(file.path(scripts, "read-file.R"), local = TRUE)

lines_of <- function(..., eol = "\n") {
  file <- tempfile(fileext = ".csv")
  con <- file(file, "wb")
  writeBin(charToRaw(paste0(paste(c(...), collapse = eol), eol)), con)
  close(con)
  file
}
said <- function(code) conditionMessage(expect_error(code, class = "demo_error"))

test_that("a file is read as it was written, and one line says how", {
  skip_on_cran()
  skip_if_not_installed("data.table")
  expected <- cbind(a = c(1.5, 2, 3.25), b = c(4, 5, 6))
  plain <- read_file(lines_of("a,b", "1.5,4", "2,5", "3.25,6"))
  expect_identical(plain$x, expected)
  expect_match(plain$said, "3 rows and 2 numeric columns; separator ',', names of the columns from the first line",
    fixed = TRUE)
  expect_identical(read_file(lines_of("a;b", "1,5;4", "2;5", "3,25;6"))$x, expected)
  expect_identical(read_file(lines_of("sep=;", "a;b", "1.5;4", "2;5", "3.25;6", eol = "\r\n"))$x, expected)
  expect_identical(read_file(lines_of("a\tb", "1.5\t4", "2\t5", "3.25\t6"))$x, expected)
  expect_identical(read_file(lines_of("\ufeffa,b", "1.5,4", "2,5", "3.25,6"))$x, expected)
  named <- read_file(lines_of("name,a,b", "x,1.5,4", "y,2,5", "z,3.25,6"))
  expect_identical(named$x, `rownames<-`(expected, c("x", "y", "z")))
  expect_match(named$said, "names of the rows from column 'name'", fixed = TRUE)
  flags <- read_file(lines_of("a,ok", "1.5,TRUE", "2,FALSE", "3,TRUE"))
  expect_identical(flags$x[, "ok"], c(1, 0, 1))
  labelled <- read_file(lines_of("a,b,kind", "1,4,u", "2,5,v", "3,7,u"), "kind")
  expect_identical(labelled$y, factor(c("u", "v", "u")))
  expect_identical(colnames(labelled$x), c("a", "b"))
})

test_that("names of rows are never a feature, and features never names of rows", {
  skip_on_cran()
  skip_if_not_installed("data.table")
  # As pandas writes it: an index without a name.
  index <- read_file(lines_of(",a,b", "0,1.5,4", "1,2,5", "2,3.25,6"))
  expect_identical(colnames(index$x), c("a", "b"))
  expect_identical(rownames(index$x), c("0", "1", "2"))
  by_name <- read_file(lines_of("a,b,site", "1.5,4,17", "2,5,18", "3,6,20"), id = "site")
  expect_identical(dimnames(by_name$x), list(c("17", "18", "20"), c("a", "b")))
  for (odd in list(c("12%", "13%", "9%"), c("10 cm", "11 cm", "9 cm"), c("$1.5", "$2", "$3"), c("1 200", "1 300", "900"))) {
    message <- said(read_file(lines_of("size,a", paste(odd, 1:3, sep = ","))))
    expect_match(message, "'size'")
    expect_match(message, odd[1L], fixed = TRUE)
  }
  digits <- paste0("1234567890123456789", 1:3)
  expect_identical(levels(read_file(lines_of("a,b,who", paste(1:3, c(2, 7, 4), digits, sep = ",")), "who")$y), digits)
  expect_match(said(read_file(lines_of("a,b,n", "1,2,u", "3,4,u"), id = "n")), "not all different")
})

test_that("numbers above numbers are a header or a row only when the user says so", {
  skip_if_not_installed("data.table")
  spectra <- lines_of("site,443,490,560,665", "p1,.1,.2,.3,.4", "p2,.2,.3,.4,.5", "p3,.3,.5,.6,.9")
  expect_match(said(read_file(spectra)), "HEADER=yes or HEADER=no")
  expect_identical(dim(read_file(spectra, header = "yes")$x), c(3L, 4L))
  bare <- lines_of("1.5,4", "2,3", "3.25,6")
  expect_match(said(read_file(bare)), "'1.5', '4'")
  expect_identical(unname(read_file(bare, header = "no")$x), cbind(c(1.5, 2, 3.25), c(4, 3, 6)))
  expect_match(said(read_file(bare, header = "maybe")), "yes or no")
})

test_that("what is no table of numbers is refused in words", {
  skip_on_cran()
  skip_if_not_installed("data.table")
  expect_match(said(read_file(tempfile())), "no file")
  expect_match(said(read_file(lines_of("a,b", "1,2", "2,", "3,4"))), "Missing values in 'b'")
  expect_match(said(read_file(lines_of("a,b", "x,x", "y,x", "x,y"))), "No numeric column is left")
  expect_match(said(read_file(lines_of("a,b", "20.46,1", "n/a,2", "3.1,3"))), "'n/a' in row 2")
  # Columns of text and dates are left out, and said; missing values are as the user says.
  mixed <- lines_of("a,day,b,kind", "1,2020-01-01,4,x", "2,2020-01-02,,y", "3,2020-01-05,6,x", "5,2020-01-06,1,y")
  expect_match(said(read_file(mixed)), "NA=omit")
  omitted <- read_file(mixed, "kind", na = "omit")
  expect_identical(unname(omitted$x[, "a"]), c(1, 3, 5))
  expect_identical(as.character(omitted$y), c("x", "x", "y"))
  expect_match(omitted$said, "Left out.*'day'")
  expect_identical(unname(read_file(mixed, na = "median", drop = "day,kind")$x[2, "b"]), 4)
  expect_match(said(read_file(mixed, na = "mean")), "must be error or omit")
  expect_match(said(read_file(mixed, drop = "zz")), "no column 'zz'")
  expect_match(said(read_file(lines_of("n,b", "\"1,200\",2", "\"12,500\",3"))), "DEC=")
  expect_identical(unname(read_file(lines_of("n,b", "\"1,200\",2", "\"12,500\",3"), dec = ".")$x[, "n"]), c(1200, 12500))
  expect_match(said(read_file(lines_of("a,b", "1,2", "2,3"), "kind")), "no column 'kind'; there are 'a', 'b'")
  expect_match(said(read_file(lines_of("a,b,c", "1,2,3", "4,5", "6,7,9"))), "no regular table|Missing values")
})

test_that("odd files of spreadsheets are read right or refused where they are odd", {
  skip_on_cran()
  skip_if_not_installed("data.table")
  rows <- c("1.5,4,7", "2,5,9", "3.25,6,8")
  expected <- cbind(a = c(1.5, 2, 3.25), b = c(4, 5, 6), c = c(7, 9, 8))
  # One longer row among the first, and a header of two lines.
  expect_match(said(read_file(lines_of("a,b,c", rows, "1,2,3,4"))), "row 4 has 4 fields, not 3")
  expect_match(said(read_file(lines_of(rows, "1,2,3,4"), header = "no")), "row 4 has 4 fields, not 3")
  expect_match(said(read_file(lines_of("water,,", "a,b,c", rows))), "'a', 'b', 'c'.*in one line")
  expect_match(read_file(lines_of("a,b,c", "mg,cm,l", rows))$said, "holds units")
  # Names of rows without a name of their own, as write.table() has them; a row number beside other names.
  expect_identical(unname(read_file(lines_of("a,b,c", paste0(c("x", "y", "z"), ",", rows)))$x), unname(expected))
  counted <- read_file(lines_of(",site,a,b,c", paste0(0:2, ",", c("x", "y", "z"), ",", rows)), id = "site")
  expect_identical(counted$x, `rownames<-`(expected, c("x", "y", "z")))
  expect_match(counted$said, "'V1', counts the rows: it is left out")
  expect_false(grepl("left out", read_file(lines_of(",a,b,c", paste0(0:2, ",", rows)))$said, fixed = TRUE))
  # Marks of thousands, and numbers that a spreadsheet shows as text.
  for (odd in list(c("1 200", "950", "12 500"), c("1'200", "1'300", "12'500"), c("1'200'000", "1'300'000", "9'999'000"),
    c("=\"1\"", "=\"2\"", "=\"3\""), c("(12)", "(3)", "(4)"))) {
    expect_match(said(read_file(lines_of("a;odd", paste(c(1, 4, 2), odd, sep = ";")))), "'odd'.*is no number")
  }
  # Dates and telephone numbers are no numbers of that kind.
  text <- read_file(lines_of("a;day;call", paste(c(1, 4, 2), c("01.02.2024", "11.02.2024", "03.02.2024"),
    c("030 1234 55", "030 4321 77", "040 5555 11"), sep = ";")))
  expect_match(text$said, "Left out.*'day', 'call'")
})

test_that("Windows-1252, Latin-1 and UTF-16 are text, signs of typesetters are numbers", {
  skip_on_cran()
  skip_if_not_installed("data.table")
  lines <- c("ort;H\u00f6he;low", "K\u00f6ln \u2013 1\u20ac;1,5;\u22122,5", "Z\u00fcrich;2,5;3", "\u201eOrt\u201c;4;\u22121")
  x <- cbind("H\u00f6he" = c(1.5, 2.5, 4), low = c(-2.5, 3, -1))
  written_as <- function(code, lines) {
    file <- tempfile(fileext = ".csv")
    writeBin(iconv(paste0(paste(lines, collapse = "\r\n"), "\r\n"), "UTF-8", code, toRaw = TRUE)[[1L]], file)
    read_file(file)
  }
  for (code in c("UTF-8", "UTF-16LE", "UTF-16BE", "CP1252")) {
    # Windows-1252 has no sign of minus of its own.
    own <- if (code == "CP1252") gsub("\u2212", "-", lines) else lines
    found <- written_as(code, own)
    expect_equal(unname(found$x), unname(x))
    expect_identical(enc2utf8(colnames(found$x)), colnames(x))
    expect_identical(enc2utf8(rownames(found$x)), c("K\u00f6ln \u2013 1\u20ac", "Z\u00fcrich", "\u201eOrt\u201c"))
  }
  narrow <- read_file(lines_of("a,\u00a0b", "1.5,\u00a04", "2,\u00a05", "3.25,\u00a06"))
  expect_equal(narrow$x, cbind(a = c(1.5, 2, 3.25), b = c(4, 5, 6)))
})

test_that("numbers of the command line are checked", {
  expect_match(said(whole("0", "K", 1, 10, "columns")), "at least 1")
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
  # As R CMD INSTALL does, it runs a make of its own.
  variables <- sub("^override export UFSELECT_([A-Z]+) .*", "\\1", grep("^override export", lines, value = TRUE))
  expect_gt(length(variables), 9L)
  writeLines(c(lines[seq_len(grep("^[.]PHONY", lines) - 1L)], "show:",
    "\t@printf 'all:\\n\\t@true\\n' | make -s -f - all", "\t@printenv UFSELECT_$(THIS)"), file.path(folder, "Makefile"))
  for (name in c("a\"; touch x; \".csv", "it's $b `touch x` c.csv", "$(shell touch x)", "$(eval y := $(shell touch x))")) {
    for (variable in variables) {
      got <- system2("make", c("-s", "-C", shQuote(folder), "show", paste0("THIS=", variable),
        shQuote(paste0(variable, "=", name))), stdout = TRUE)
      expect_identical(got, name, info = variable)
    }
  }
  expect_identical(list.files(folder), "Makefile")
})

test_that("the demo runs on a file, marks the chosen, leaves no stale table and fails in words", {
  skip_processes()
  skip_if_not_installed("data.table")
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
  expect_match(lines, "separator ';'", all = FALSE)
  expect_setequal(list.files(out), c("mine.txt", "columns-ranking.csv", "rows-ranking.csv", "columns-scores.png"))
  table <- utils::read.csv(file.path(out, "columns-ranking.csv"))
  expect_identical(sum(table$chosen), 4L)
  expect_identical(table$rank[table$chosen], 1:4)
  # Bytes that are no letter, in every option but the name of the file.
  options <- c("K", "CLUSTERS", "LABEL", "HEADER", "ID", "NA", "DROP", "DEC")
  if (Sys.info()[["sysname"]] == "Linux") for (name in options) {
    odd <- stats::setNames(rawToChar(as.raw(c(255, 254))), paste0("UFSELECT_", name))
    lines <- withr::with_envvar(c(odd, LC_ALL = "C.UTF-8"), run())
    expect_identical(attr(lines, "status"), 1L, info = name)
    expect_match(lines, paste0(name, "= has bytes"), all = FALSE, useBytes = TRUE)
  }
  lines <- withr::with_envvar(c(UFSELECT_DATA = ""), run("--label=kind"))
  expect_identical(attr(lines, "status"), 1L)
  expect_match(lines, "LABEL= is about a file of yours", all = FALSE)
  lines <- run("--k=-3")
  expect_identical(attr(lines, "status"), 1L)
  expect_match(lines, "whole number of at least 1", all = FALSE)
  expect_false(any(grepl("Execution halted|Error in", lines)))
})
