# The reader of the demo (inst/scripts/read-file.R) and the demo itself.

skip_on_cran()

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

test_that("numbers of the command line are checked, and a spreadsheet takes no text of ours for a formula", {
  expect_match(said(whole("0", "K", 1, 10, "columns")), "at least 1")
  expect_match(said(whole("11", "K", 1, 10, "columns")), "more than the 10 columns")
  expect_match(said(whole("two", "K", 1, 10, "columns")), "whole number")
  expect_identical(whole("3", "K", 1, 10, "columns"), 3L)
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

skip_if_not_installed("data.table")

test_that("a file is read as it was written, and one line says how", {
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
  expect_identical(read_file(lines_of("a,ok", "1.5,TRUE", "2,FALSE", "3,TRUE"))$x[, "ok"], c(1, 0, 1))
  labelled <- read_file(lines_of("a,b,kind", "1,4,u", "2,5,v", "3,7,u"), "kind")
  expect_identical(labelled$y, factor(c("u", "v", "u")))
  expect_identical(colnames(labelled$x), c("a", "b"))
})

test_that("names of rows are never a feature; numbers above numbers are a header only when the user says so", {
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
  spectra <- lines_of("site,443,490,560,665", "p1,.1,.2,.3,.4", "p2,.2,.3,.4,.5", "p3,.3,.5,.6,.9")
  expect_match(said(read_file(spectra)), "HEADER=yes or HEADER=no")
  expect_identical(dim(read_file(spectra, header = "yes")$x), c(3L, 4L))
  bare <- lines_of("1.5,4", "2,3", "3.25,6")
  expect_match(said(read_file(bare)), "'1.5', '4'")
  expect_identical(unname(read_file(bare, header = "no")$x), cbind(c(1.5, 2, 3.25), c(4, 3, 6)))
  expect_match(said(read_file(bare, header = "maybe")), "yes or no")
})

test_that("what is no table of numbers is refused in words", {
  expect_match(said(read_file(tempfile())), "no file")
  expect_match(said(read_file(lines_of("a,b", "1,2", "2,", "3,4"))), "Missing values in 'b'")
  expect_match(said(read_file(lines_of("a,b", "x,x", "y,x", "x,y"))), "No numeric column is left")
  expect_match(said(read_file(lines_of("a,b", "20.46,1", "?!,2", "3.1,3"))), "'?!' in row 2", fixed = TRUE)
  # Words for a missing value are none in a column of numbers, and stay in others.
  gone <- lines_of("a,kind,b", "20.46,-,1", "n/a,u,-", "3.1,-,3", "4,u,5")
  expect_match(said(read_file(gone, "kind")), "Missing values in 'a', 'b'.*NA=omit")
  kept <- read_file(gone, "kind", na = "omit")
  expect_identical(unname(kept$x), cbind(c(20.46, 3.1, 4), c(1, 3, 5)))
  expect_identical(kept$y, factor(c("-", "-", "u")))
  expect_match(kept$said, "'n/a' in column 'a' is taken as missing")
  # Columns of text and dates are left out, and said; missing values are as the user says.
  mixed <- lines_of("a,day,b,kind", "1,2020-01-01,4,x", "2,2020-01-02,,y", "3,2020-01-05,6,x", "5,2020-01-06,1,y")
  expect_match(said(read_file(mixed)), "NA=omit")
  omitted <- read_file(mixed, "kind", na = "omit")
  expect_identical(unname(omitted$x[, "a"]), c(1, 3, 5))
  expect_identical(as.character(omitted$y), c("x", "x", "y"))
  expect_match(omitted$said, "Left out.*'day'")
  expect_identical(unname(read_file(mixed, na = "median", drop = "day,kind")$x[2, "b"]), 4)
  expect_match(read_file(lines_of("a,b,c", "1,,1", "2,,4", "4,,2"))$said, "Left out.*'b'")
  expect_match(said(read_file(mixed, na = "mean")), "must be error or omit")
  expect_match(said(read_file(mixed, drop = "zz")), "no column 'zz'")
  expect_match(said(read_file(lines_of("n,b", "\"1,200\",2", "\"12,500\",3"))), "DEC=")
  expect_identical(unname(read_file(lines_of("n,b", "\"1,200\",2", "\"12,500\",3"), dec = ".")$x[, "n"]), c(1200, 12500))
  expect_match(said(read_file(lines_of("a,b", "1,2", "2,3"), "kind")), "no column 'kind'; there are 'a', 'b'")
  expect_match(said(read_file(lines_of("a,b,c", "1,2,3", "4,5", "6,7,9"))), "no regular table|Missing values")
})

test_that("odd files of spreadsheets, Windows-1252, Latin-1 and UTF-16 are read right or refused where they are odd", {
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
  lines <- c("ort;H\u00f6he;low", "K\u00f6ln \u2013 1\u20ac;1,5;\u22122,5", "Z\u00fcrich;2,5;3", "\u201eOrt\u201c;4;\u22121")
  x <- cbind("H\u00f6he" = c(1.5, 2.5, 4), low = c(-2.5, 3, -1))
  written_as <- function(code, lines) {
    file <- tempfile(fileext = ".csv")
    writeBin(iconv(paste0(paste(lines, collapse = "\r\n"), "\r\n"), "UTF-8", code, toRaw = TRUE)[[1L]], file)
    read_file(file)
  }
  for (code in c("UTF-8", "UTF-16LE", "UTF-16BE", "CP1252")) {
    # Windows-1252 has no sign of minus of its own.
    found <- written_as(code, if (code == "CP1252") gsub("\u2212", "-", lines) else lines)
    expect_equal(unname(found$x), unname(x))
    expect_identical(enc2utf8(colnames(found$x)), colnames(x))
    expect_identical(enc2utf8(rownames(found$x)), c("K\u00f6ln \u2013 1\u20ac", "Z\u00fcrich", "\u201eOrt\u201c"))
  }
  narrow <- read_file(lines_of("a,\u00a0b", "1.5,\u00a04", "2,\u00a05", "3.25,\u00a06"))
  expect_equal(narrow$x, cbind(a = c(1.5, 2, 3.25), b = c(4, 5, 6)))
})

test_that("a mark that may stand before decimals or between thousands is asked about, in any mixture", {
  reads <- function(..., dec = NULL) unname(read_file(lines_of(...), dec = dec)$x)
  asks <- function(..., mark = "dot") expect_match(said(read_file(lines_of(...))), paste0("The ", mark, " in .*DEC="))
  asks("a;b", "1.200;1", "950;2", "12.500;3")
  asks("a\tb", "1.200\t1", "3.450\t2", "12.500\t3")
  # Decimals elsewhere say nothing of a column of which every dot may be one of thousands.
  asks("a;b", "1.200;0.5", "950;2.25", "12.500;3")
  asks("a;b", "1.200;1,200", "950;3", "2.100;4")
  asks("a,b", "\"1,200\",1", "\"12,500\",2", mark = "comma")
  expect_match(said(read_file(lines_of("a;b", "1,5;0.5", "2,25;1.75"))), "point.*'0.5'.*comma.*'1,5'.*DEC=")
  expect_identical(reads("a;b", "1.200;0,5", "950;2,25", "12.500;3"), cbind(c(1200, 950, 12500), c(.5, 2.25, 3)))
  expect_identical(reads("a;b", "1.234.567;1", "950;2"), cbind(c(1234567, 950), 1:2 + 0))
  expect_identical(reads("a;b", "1.234,5;1", "2.000,5;3"), cbind(c(1234.5, 2000.5), c(1, 3)))
  expect_identical(reads("a;b", "1,234.5;1", "2,000.5;3"), cbind(c(1234.5, 2000.5), c(1, 3)))
  expect_identical(reads("a;b", "1,234;1", "2,345;3"), cbind(c(1.234, 2.345), c(1, 3)))
  expect_identical(reads("a,b", "1.234,1", "1.5,3"), cbind(c(1.234, 1.5), c(1, 3)))
  expect_identical(reads("a,b", "0.234,1", "1.523,3"), cbind(c(.234, 1.523), c(1, 3)))
  expect_identical(reads("a;b", "1.200;0.5", "950;2.25", "12.500;3", dec = "."), cbind(c(1.2, 950, 12.5), c(.5, 2.25, 3)))
  expect_identical(reads("a;b", "1.200;1", "950;2", dec = ","), cbind(c(1200, 950), c(1, 2)))
  # Where the comma is the sign, 0.5 is no number.
  expect_match(said(read_file(lines_of("a;b", "1.200;1,5", "950;0.5", "100;2"), dec = ",")), "'0.5' in row 2")
  # Words and dates are not asked about.
  expect_match(read_file(lines_of("a;day;v", "1;01.02.2024;1.234 beta", "2;11.02.2024;x", "4;03.02.2024;y"))$said,
    "Left out.*'day', 'v'")
})

test_that("a first line with `#` has names or is a comment; line breaks, quotes and ragged lines in odd places", {
  names_of <- function(...) {
    read <- read_file(lines_of(...))
    list(colnames(read$x), rownames(read$x), unname(read$x))
  }
  expect_identical(names_of("#OTU ID\ts1\ts2", "otu1\t3\t4", "otu2\t5\t7", "otu3\t1\t2"),
    list(c("s1", "s2"), paste0("otu", 1:3), cbind(c(3, 5, 1), c(4, 7, 2))))
  expect_identical(names_of("# Constructed from biom file", "#OTU ID\ts1\ts2", "otu1\t3\t4", "otu2\t5\t7"),
    list(c("s1", "s2"), c("otu1", "otu2"), cbind(c(3, 5), c(4, 7))))
  expect_identical(names_of("#a,b", "1,2", "3,5", "4,4"), list(c("a", "b"), NULL, cbind(c(1, 3, 4), c(2, 5, 4))))
  expect_identical(names_of("\"#a\",\"b\"", "1,2", "3,5"), list(c("a", "b"), NULL, cbind(c(1, 3), c(2, 5))))
  expect_identical(names_of("# by hand, twice", "a,b", "1,2", "3,5"), list(c("a", "b"), NULL, cbind(c(1, 3), c(2, 5))))
  # A comment above numbers: nobody knows what the first line is.
  expect_match(said(read_file(lines_of("# by hand", "1,2", "3,5", "4,4"))), "HEADER=yes or HEADER=no")
  expect_identical(unname(read_file(lines_of("#a,b", "1,2", "3,5"), header = "no")$x), cbind(c(1, 3), c(2, 5)))
  broken <- read_file(lines_of("\"yield", "(kg)\",\"say \"\"b\"\"\",note", "1,2,\"one", "two\"", "3,5,x", "4,4,x"))
  expect_identical(broken$x, cbind("yield (kg)" = c(1, 3, 4), "say \"b\"" = c(2, 5, 4)))
  expect_identical(unname(read_file(lines_of("a,b", "1,4,", "2,5,", "3,9,"))$x), cbind(c(1, 2, 3), c(4, 5, 9)))
  expect_match(said(read_file(lines_of("a,b", "1,2,3,5", "2,3,4,5", "4,5,6,6"))), "first line has 2 fields, a later one 4")
  # Decimal commas between commas: half a number is no name of a row.
  expect_match(said(read_file(lines_of("a", "0,5", "2,25", "1,75"))), "first line has 1 fields, a later one 2")
  expect_match(said(read_file(lines_of("a,b,a", "1,2,3", "3,4,4"))), "more than one column of the name 'a'")
  expect_match(said(read_file(lines_of("# exported", "", "#"))), "is empty")
  expect_identical(unname(read_file(lines_of("a b", "1  2", "3 5"))$x), cbind(c(1, 3), c(2, 5)))
  expect_identical(unname(read_file(lines_of("a", "1", "2", "6"))$x), cbind(c(1, 2, 6)))
})

test_that("what is no file of text says what it is and what to do", {
  of_bytes <- function(..., ending = ".csv") {
    file <- tempfile(fileext = ending)
    writeBin(c(...), file)
    file
  }
  told <- function(file, words) expect_match(said(read_file(file)), words)
  told(tempdir(), "is a folder.*one file")
  told(of_bytes(charToRaw("PK\003\004rest"), ending = ".xlsx"), "is an Excel file.*CSV")
  told(of_bytes(as.raw(c(0xd0, 0xcf, 0x11, 0xe0, 1)), ending = ".xls"), "is an Excel file.*CSV")
  rds <- tempfile(fileext = ".rds")
  for (compress in c("gzip", "xz")) {
    saveRDS(iris, rds, compress = compress)
    told(rds, "is a file of R.*readRDS.*fwrite|is a file of R.*fwrite.*readRDS")
  }
  told(of_bytes(charToRaw("PAR1rest")), "is a Parquet file")
  told(of_bytes(as.raw(c(0x89, 0x48, 0x44, 0x46))), "is no text file")
  told(lines_of("<!DOCTYPE html>", "<table><tr><td>1</td></tr></table>"), "is a page of the web")
  told(lines_of("", "<html><body>", "1,2"), "is a page of the web")
  packed <- tempfile(fileext = ".csv.gz")
  connection <- gzfile(packed, "w")
  writeLines(c("a,b", "1,2", "2,1"), connection)
  close(connection)
  told(packed, "is packed: unpack it")
  told(of_bytes(charToRaw("a,b\n1,2\n3,"), base::raw(4), charToRaw("\n2,2\n")), "a byte of it is zero")
  told(of_bytes(as.raw(c(255, 254, 65)), base::raw(3)), "a byte of it is zero")
  told(of_bytes(base::raw()), "is empty")
})

test_that("the demo runs on a file, marks the chosen, leaves no stale table and fails in words", {
  skip_processes()
  d <- planted(40, 12)
  file <- tempfile(fileext = ".csv")
  out <- tempfile("demo")
  dir.create(out)
  file.create(file.path(out, c("comparison.csv", "mine.txt")))
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
  # Half of the columns that vary: all of them would be no choice.
  expect_match(lines, "6 columns that stand for all 13", all = FALSE)
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
