# The demo's reader on files of all odd kinds: each must come out as it was written, to the last number,
# or stop in its own words; those marked `read` are ordinary and must not stop. A row less, a value
# changed, an error in R's words or a warning is a failure.
#   Rscript tests/dev/csv.R [--reader=inst/scripts/read-table.R]
source("tests/dev/common.R")
set <- options_of(reader = "inst/scripts/read-table.R")
reader <- new.env()
sys.source(set$reader, reader)

cases <- list()
# `x` is what was written: a matrix; NULL: nothing of it may be read. `rows`, `label`: what is asked for.
add <- function(name, text, x = NULL, read = !is.null(x), label = NULL, y = NULL, bytes = NULL) {
  if (is.null(bytes)) bytes <- charToRaw(enc2utf8(paste(text, collapse = "")))
  cases[[length(cases) + 1L]] <<- list(name = name, bytes = bytes, x = x, read = read, label = label, y = y)
}
set.seed(1)
numbers <- round(matrix(rnorm(60), 12), 4)
plain <- `colnames<-`(numbers, c("a", "b", "c", "d", "e"))
bare <- unname(numbers)
called <- function(x) `colnames<-`(x, paste0("V", seq_len(ncol(x))))
named <- `rownames<-`(plain, paste0("s", 1:12))
# Text of a table: one string per line, with its end.
lines_of <- function(x, sep = ",", dec = ".", header = colnames(x), rows = NULL, corner = "", eol = "\n", quote = "",
                     digits = NULL, end = "") {
  cell <- if (is.null(digits)) format(x, trim = TRUE, digits = 15, drop0trailing = TRUE) else
    formatC(x, format = "f", digits = digits)
  cell[] <- sub(".", dec, trimws(cell), fixed = TRUE)
  if (quote == "all") cell[] <- paste0("\"", cell, "\"")
  if (quote != "" && !is.null(header)) header <- paste0("\"", header, "\"")
  out <- apply(cbind(rows, cell), 1, paste, collapse = sep)
  if (!is.null(header)) out <- c(paste(c(if (!is.null(rows)) corner, header), collapse = sep), out)
  paste0(out, end, eol)
}
seps <- c(comma = ",", semicolon = ";", tab = "\t", bar = "|", space = " ")

# Separators x line ends x decimal marks.
for (s in names(seps)) for (eol in c("\n", "\r\n", "\r")) {
  add(paste(s, encodeString(eol)), lines_of(plain, seps[[s]], eol = eol), plain)
}
for (s in c("semicolon", "tab", "bar")) {
  add(paste("decimal comma", s), lines_of(plain, seps[[s]], ","), plain)
  add(paste("decimal comma, no header", s), lines_of(bare, seps[[s]], ",", NULL), called(bare), FALSE)
  add(paste("decimal comma, quoted", s), lines_of(plain, seps[[s]], ",", quote = "all"), plain)
}
add("decimal comma in a comma file, quoted", lines_of(plain, ",", ",", quote = "all"), plain)
add("decimal comma, spaces", lines_of(plain, " ", ","), plain, FALSE)
add("comma and space", lines_of(plain, ", "), plain)
add("semicolon and space", lines_of(plain, "; ", ","), plain)
# Headers.
for (s in names(seps)) add(paste("no header", s), lines_of(bare, seps[[s]], header = NULL), called(bare), FALSE)
add("no header, whole numbers", c("1,2,3\n", "4,5,6\n", "7,8,9\n"), called(matrix(as.double(1:9), 3, byrow = TRUE)), FALSE)
add("no header, names of rows", lines_of(bare, header = NULL, rows = rownames(named)),
  `dimnames<-`(bare, list(rownames(named), paste0("V", 2:6))), FALSE)
add("years as names", c("y2,2001,2002,2003\n", "p,5,1,4\n", "q,3,9,2\n", "r,3,5,7\n"),
  matrix(c(5, 1, 4, 3, 9, 2, 3, 5, 7), 3, byrow = TRUE, dimnames = list(c("p", "q", "r"), 2001:2003)), FALSE)
add("wave lengths as names", c("400,410,420,430\n", ".1,.5,.2,.3\n", ".2,.1,.3,.1\n", ".5,.1,.9,.2\n"),
  matrix(c(.1, .5, .2, .3, .2, .1, .3, .1, .5, .1, .9, .2), 3, byrow = TRUE, dimnames = list(NULL, c(400, 410, 420, 430))),
  FALSE)
add("wave lengths in quotes", c("\"400\",\"410\",\"420\"\n", ".1,.5,.2\n", ".2,.1,.3\n"),
  matrix(c(.1, .5, .2, .2, .1, .3), 2, byrow = TRUE, dimnames = list(NULL, c(400, 410, 420))))
add("numbered columns, empty corner", c(",0,1,2\n", "0,.1,.5,.2\n", "1,.2,.1,.3\n", "2,.5,.4,.6\n"), FALSE,
  x = matrix(c(0, .1, .5, .2, 1, .2, .1, .3, 2, .5, .4, .6), 3, byrow = TRUE, dimnames = list(NULL, c("V1", 0:2))))
add("no header, names of rows, spaces", lines_of(bare, " ", header = NULL, rows = rownames(named)),
  `dimnames<-`(bare, list(rownames(named), paste0("V", 2:6))), FALSE)
add("write.table()", c(paste(paste0("\"", colnames(plain), "\"", collapse = " "), "\n"),
  lines_of(plain, " ", rows = paste0("\"", 1:12, "\""))[-1]), `rownames<-`(plain, 1:12))
add("write.table(sep = comma)", c("\"a\",\"b\",\"c\",\"d\",\"e\"\n",
  lines_of(plain, ",", rows = paste0("\"", rownames(named), "\""))[-1]), named)
add("header two short", c("a,b\n", "1,2,3,4\n", "5,6,7,8\n", "1,5,2,9\n"))
add("header one short, numbers", c("a,b\n", "1.5,2,3\n", "5,6,7\n", "1,5,2\n"))
add("header one long", c("a,b,c\n", "1.5,2\n", "5,6\n", "1,5\n"))
add("one column with decimal commas", c("a\n", "1,5\n", "2,5\n", "3,25\n"), cbind(a = c(1.5, 2.5, 3.25)), FALSE)
add("duplicate names", lines_of(`colnames<-`(plain, c("a", "a", "b", "b", "c"))), `colnames<-`(plain, c("a", "a", "b", "b", "c")))
add("a column called NA", lines_of(`colnames<-`(plain, c("NA", letters[2:5]))), `colnames<-`(plain, c("NA", letters[2:5])))
add("empty names", lines_of(`colnames<-`(plain, c("a", "", "c", "", "e"))), `colnames<-`(plain, c("a", "V2", "c", "V4", "e")))
add("names with spaces", lines_of(`colnames<-`(plain, paste("the", letters[1:5]))), `colnames<-`(plain, paste("the", letters[1:5])))
add("names with separators", lines_of(`colnames<-`(plain, paste0(letters[1:5], ",x")), quote = "names"),
  `colnames<-`(plain, paste0(letters[1:5], ",x")))
add("names with quotes", c("\"a \"\"big\"\"\",b\n", "1,2\n", "3,4.5\n"),
  matrix(c(1, 3, 2, 4.5), 2, dimnames = list(NULL, c("a \"big\"", "b"))))
add("names with line ends", c("\"a\nb\",c\n", "1,2\n", "3,4.5\n"), matrix(c(1, 3, 2, 4.5), 2, dimnames = list(NULL, c("a\nb", "c"))))
add("names that are formulas", lines_of(`colnames<-`(plain, c("=a", "+b", "-c", "@d", "e"))),
  `colnames<-`(plain, c("=a", "+b", "-c", "@d", "e")))
add("title above", c("My table\n", "\n", lines_of(plain)))
add("units below the header", c("a,b\n", "kg,m\n", "1,2\n", "3,4\n", "5,7\n"))
add("header only", "a,b\n")
add("one line of numbers", "1,2.5,2\n", called(cbind(1, 2.5, 2)), FALSE)
# Names of rows.
add("names of rows", lines_of(plain, rows = rownames(named), corner = "id"), named)
add("names of rows without a name", lines_of(plain, rows = rownames(named)), named)
add("names of rows twice", lines_of(plain, rows = rep("s", 12), corner = "id"))
counted <- `rownames<-`(plain, 1:12)
add("rows counted without a name", lines_of(plain, rows = 1:12), counted)
add("write.csv()", lines_of(plain, rows = paste0("\"", 1:12, "\""), corner = "\"\"", quote = "names"), counted)
add("write.csv2()", lines_of(plain, ";", ",", rows = paste0("\"", 1:12, "\""), corner = "\"\"", quote = "names"), counted)
add("names of rows with commas", lines_of(plain, rows = paste0("\"s,", 1:12, "\""), corner = "id"),
  `rownames<-`(plain, paste0("s,", 1:12)))
add("names of rows with line ends", lines_of(plain, rows = paste0("\"s\n", 1:12, "\""), corner = "id"),
  `rownames<-`(plain, paste0("s\n", 1:12)))
# Encodings.
accents <- `colnames<-`(plain, c("\u00e9t\u00e9", "na\u00efve", "\u00fc", "d", "e"))
add("byte order mark", c("\ufeff", lines_of(plain)), plain)
add("byte order mark and quotes", c("\ufeff", lines_of(plain, quote = "names")), plain)
add("UTF-8 names", lines_of(accents), accents)
add("Latin-1 names", bytes = charToRaw(iconv(paste(lines_of(accents), collapse = ""), "UTF-8", "latin1")), x = accents)
add("UTF-16", bytes = iconv(paste(lines_of(plain), collapse = ""), "UTF-8", "UTF-16LE", toRaw = TRUE)[[1]])
nul <- charToRaw(paste(lines_of(plain), collapse = ""))
add("NUL byte", bytes = replace(nul, 100, as.raw(0)))
add("NUL byte in the header", bytes = replace(nul, 3, as.raw(0)))
add("NUL line", bytes = c(nul[1:10], as.raw(c(0, 0, 10)), nul[-(1:10)]))
add("gzip", bytes = memCompress(nul, "gzip"), x = plain, read = FALSE)
# Thousands.
add("thousands or decimals", c("a;b\n", "999;1\n", "1,234;2\n", "850;7\n"), NULL)
add("thousands or decimals, one column", c("a\n", "999\n", "1,234\n", "850\n"))
add("thousands or decimals, a line of them", c("999; 1,234; 850\n", "1; 2; 4\n", "7; 9; 3\n"))
add("thousands by points or decimals", c("a;b\n", "999;1\n", "1.234;2\n", "850;7\n"))
big <- cbind(a = c(999, 1234, 1234567), b = c(.5, 2, 8))
add("thousands by commas, quoted", c("a,b\n", "999,0.5\n", "\"1,234\",2\n", "\"1,234,567\",8\n"), big)
add("thousands by commas", c("a;b\n", "999;0.5\n", "1,234;2\n", "1,234,567;8\n"), big)
add("thousands by points", c("a;b\n", "999;0,5\n", "1.234;2\n", "1.234.567;8\n"), big)
add("both in one number", c("a;b\n", "1,234.5;1\n", "2;1\n", "5;3\n"), cbind(a = c(1234.5, 2, 5), b = c(1, 1, 3)))
add("both in one number, the other way", c("a;b\n", "1.234,5;1\n", "2;1\n", "5;3\n"), cbind(a = c(1234.5, 2, 5), b = c(1, 1, 3)))
add("thousands by spaces", c("a;b\n", "1 234;1\n", "2;1\n"))
add("wrong groups", c("a;b\n", "12,34,567;0.5\n", "2;1\n"))
add("two decimal marks", c("a;b\n", "1,5;0.5\n", "2;1\n", "3;2\n"))
add("two decimal marks in a column", c("a;b\n", "1,5;1\n", "2.5;1\n", "3;2\n"))
# Quotes.
add("all quoted", lines_of(plain, quote = "all"), plain)
add("inches", c("a,b\n", "5\",1\n", "2,3\n", "4\",7\n"))
add("inches in names of rows", c("id,b,c\n", "5\",1,2\n", "6,3,4\n", "4\",7,8\n"))
add("quote never closed", c("id,b\n", "\"x,1\n", "y,2\n", "z,3\n"))
add("labels in quotes with separators", c("k,b,c\n", "\"u,v\",1,2\n", "w,3,4\n", "\"u,v\",5,7\n"),
  cbind(b = c(1, 3, 5), c = c(2, 4, 7)), label = "k", y = c("u,v", "w", "u,v"))
add("labels with apostrophes", c("k,b,c\n", "it's,1,2\n", "w,3,4\n", "it's,5,7\n"),
  cbind(b = c(1, 3, 5), c = c(2, 4, 7)), label = "k", y = c("it's", "w", "it's"))
add("labels that are numbers", c("k,b,c\n", "10,1,2\n", "9,3,4\n", "10,5,7\n"),
  cbind(b = c(1, 3, 5), c = c(2, 4, 7)), label = "k", y = c("10", "9", "10"))
# Lines.
add("no end of the last line", sub("\n$", "", paste(lines_of(plain), collapse = "")), plain)
add("empty lines at the end", c(lines_of(plain), "\n", "\n"), plain)
add("empty lines within", append(lines_of(plain), "\n", 4), plain, FALSE)
add("empty lines first", c("\n", "\n", lines_of(plain)), plain, FALSE)
add("a line of blanks", append(lines_of(plain), "   \n", 4), plain, FALSE)
add("empty line in one column", c("a\n", "1.5\n", "\n", "3\n"))
add("comments first", c("# made by x\n", "# on Monday, at 2\n", lines_of(plain)), plain)
add("a comment that may be the header", c("# a,b\n", "1.5,2\n", "3,1\n", "7,8\n"))
add("comment at the end", c(lines_of(plain), "# end\n"))
add("names of rows with #", lines_of(plain, rows = paste0("#", 1:12), corner = "id"), `rownames<-`(plain, paste0("#", 1:12)))
add("short row", c("a,b,c\n", "1,2,3\n", "4,5\n", "6,7,9\n"))
add("long row", c("a,b,c\n", "1,2,3\n", "4,5,6,7\n", "6,7,9\n"))
add("short last row", c("a,b,c\n", "1,2,3\n", "4,5,8\n", "6\n"))
add("short row far down", c(lines_of(called(matrix(rnorm(6000), 2000))), "1,2\n"))
add("footer", c(lines_of(plain, rows = rownames(named), corner = "id"), "12 rows\n"))
add("trailing separators", c("a,b,\n", "1.5,2,\n", "3,4,\n"), cbind(a = c(1.5, 3), b = c(2, 4)))
add("trailing separators, not in the header", c("a,b\n", "1.5,2,\n", "3,4,\n"), cbind(a = c(1.5, 3), b = c(2, 4)))
add("trailing separators in some rows", c("a,b\n", "1.5,2,\n", "3,4\n", "5,6,\n", "7,8\n"))
add("lines of separators at the end", c(lines_of(plain), ",,,,\n"))
# Cells.
add("missing", c("a,b\n", "1,\n", "3,4\n", "5,6\n"))
add("missing as NA", c("a,b\n", "1,NA\n", "3,4\n", "5,6\n"))
add("missing as ?", c("a,b\n", "1,?\n", "3,4\n", "5,6\n"))
add("text far down", c(lines_of(called(matrix(rnorm(6000), 2000))), "1,x,2\n"))
add("exponents", c("a,b\n", "1e-5,2E3\n", "3.5e+2,-4\n", "-.5e1,+6\n"), cbind(a = c(1e-5, 350, -5), b = c(2000, -4, 6)))
add("whole numbers above 2^31", c("a,b\n", "12345678901,2\n", "3,4\n"), cbind(a = c(12345678901, 3), b = c(2, 4)))
add("digits", lines_of(`colnames<-`(pi * numbers, letters[1:5]), digits = 15), `colnames<-`(round(pi * numbers, 15), letters[1:5]))
add("hexadecimal", c("a,b\n", "0x1A,2\n", "3,4\n"))
add("dates", c("a,b\n", "2020-01-02,2\n", "2020-01-03,4\n", "2020-01-03,4\n"))
add("per cent", c("a,b\n", "10%,2\n", "20%,4\n", "20%,4\n"))
add("logical", c("a,ok\n", "1.5,TRUE\n", "2,FALSE\n", "3,TRUE\n"), cbind(a = c(1.5, 2, 3), ok = c(1, 0, 1)))
add("logical in small letters", c("a,ok\n", "1.5,true\n", "2,false\n", "3,true\n"), cbind(a = c(1.5, 2, 3), ok = c(1, 0, 1)))
add("leading zeros", c("a,b\n", "007,2\n", "010,4\n"), cbind(a = c(7, 10), b = c(2, 4)))
add("blanks around numbers", c("a , b\n", " 1.5 , 2\n", "3  ,4 \n"), cbind(a = c(1.5, 3), b = c(2, 4)))
add("one column", c("a\n", "1.5\n", "3\n", "2\n"), cbind(a = c(1.5, 3, 2)))
add("one column of a name with blanks", c("sepal length\n", "1.5\n", "3\n", "2\n"), cbind("sepal length" = c(1.5, 3, 2)))
add("two hundred columns", lines_of(called(matrix(1:2000 / 8, 10))), called(matrix(1:2000 / 8, 10)))
add("empty file", "")
add("line ends only", "\n\n\n")

quietly <- function(code) withCallingHandlers(code, message = function(m) stop("message: ", conditionMessage(m)))
count <- c(right = 0, stopped = 0)
failed <- 0
for (case in cases) {
  file <- tempfile(fileext = ".csv")
  writeBin(case$bytes, file)
  got <- tryCatch(quietly(reader$read_table(file, case$label)),
    demo_error = function(e) conditionMessage(e), warning = function(w) simpleError(paste("warning:", conditionMessage(w))),
    error = identity)
  unlink(file)
  same <- is.list(got) && !inherits(got, "error") && !is.null(case$x) &&
    isTRUE(all.equal(unname(got$x), unname(case$x), tolerance = 1e-14)) &&
    identical(colnames(got$x), colnames(case$x)) && identical(rownames(got$x), rownames(case$x)) &&
    identical(if (!is.null(got$y)) as.character(got$y), case$y)
  kind <- if (same) "right" else if (is.character(got) && !case$read) "stopped" else "failed"
  if (kind != "failed") count[kind] <- count[kind] + 1 else {
    failed <- failed + 1
    cat("  ", case$name, ": ", if (is.character(got)) paste("stopped:", got) else if (inherits(got, "error"))
      conditionMessage(got) else paste0("read as ", nrow(got$x), " x ", ncol(got$x), " (",
        paste(utils::head(colnames(got$x), 3), collapse = ", "), "): ", paste(utils::head(got$x, 4), collapse = " ")), "\n",
      sep = "")
  }
}
cat("  read as written ", count["right"], ", stopped ", count["stopped"], "\n", sep = "")
finish("csv", length(cases), failed)
