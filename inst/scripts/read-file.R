# A user's file for the demo: data.table::fread() reads it. The checks in front of it ask, in one sentence, what the
# file does not tell (HEADER=, DEC=, ID=, DROP=, NA=), and one line says how it was read.

# list(x = numeric matrix, y = factor or NULL, said = lines to print). `label` and `id` name columns or are NULL, as
# are header ("yes" or "no"), dec ("." or ","), na (as in ufs_data()) and drop (names of columns, commas between them).
read_file <- function(file, label = NULL, id = NULL, header = NULL, dec = NULL, na = NULL, drop = NULL) {
  if (!requireNamespace("data.table", quietly = TRUE)) complain("Install the package data.table to read a file.")
  one_of(header, "HEADER", c("yes", "no"))
  one_of(dec, "DEC", c(".", ","))
  one_of(na, "NA", c("error", "omit", "median", "knn"))
  found <- with_header(records_of(text_lines(file), file), file, header)
  table <- found$table
  drop <- if (!is.null(drop)) trimws(strsplit(drop, ",", fixed = TRUE)[[1L]])
  at <- match(c(label, id, drop), names(table))
  if (anyNA(at)) {
    complain("There is no column '", c(label, id, drop)[is.na(at)][1L], "'; there are ", some(names(table)), ".")
  }
  if (!nrow(table)) complain("The file '", basename(file), "' has no row.")
  y <- if (!is.null(label)) labels_of_column(table[[label]], label)
  rest <- table[setdiff(names(table), c(label, drop))]
  counts <- found$unnamed && names(table)[1L] %in% names(rest) && counts_rows(rest[[1L]])
  if (is.null(id) && length(rest) > 1L && (counts || is_name(rest[[1L]]))) id <- names(rest)[1L]
  rows <- if (!is.null(id)) table[[id]]
  if (anyDuplicated(rows)) complain("The names in column '", id, "' are not all different (ID=).")
  twice <- if (counts && names(table)[1L] != id) names(table)[1L]
  numbers <- numeric_columns(rest[setdiff(names(rest), c(id, twice))], file, na, dec, found$sep)
  x <- numbers$x
  rownames(x) <- if (!is.null(rows)) rows[numbers$rows]
  if (!is.null(y)) y <- droplevels(y[numbers$rows])
  line <- paste0("Read ", basename(file), ": ", nrow(x), " rows and ", ncol(x), " numeric columns; separator ",
    switch(found$sep, "\t" = "tab", " " = "space", sprintf("'%s'", found$sep)), ", ",
    if (found$header) "names of the columns from the first line" else "no header", ", ",
    if (is.null(id)) "no names of rows" else paste0("names of the rows from column '", id, "'"), ", ",
    if (is.null(label)) "no labels" else paste0("labels from column '", label, "' (", nlevels(y), " classes)"), ".")
  list(x = x, y = y, said = paste(c(line, found$said,
    if (!is.null(twice)) paste0("The first column, '", twice, "', counts the rows: it is left out."), numbers$said),
    collapse = "\n"))
}

one_of <- function(value, name, words) {
  if (!is.null(value) && !value %in% words) {
    complain(name, "= must be ", paste(words, collapse = " or "), ", not '", value, "'.")
  }
}

# ---- the file as lines ----------------------------------------------------------------------------

# What is no text says what it is, by its first bytes, and what to do.
text_lines <- function(file) {
  refuse <- function(...) complain("'", basename(file), "' ", ...)
  if (dir.exists(file)) refuse("is a folder: give the name of one file in it (DATA=).")
  if (!file.exists(file)) complain("There is no file '", file, "' (DATA=).")
  if (!isTRUE(file.size(file) > 0)) refuse("is empty, or a pipe or device, which cannot be read twice.")
  # gzfile() reads what is not packed, too.
  start <- reading(refuse, gzfile(file, "rb"), function(connection) readBin(connection, "raw", 512L))
  begins <- function(...) {
    any(vapply(list(...), function(bytes) identical(utils::head(start, length(bytes)), bytes), NA))
  }
  text <- function(word) charToRaw(word)
  csv <- "save it as CSV and give that (DATA=)."
  if (begins(text("PK\003\004"), as.raw(c(0xd0, 0xcf, 0x11, 0xe0)))) {
    refuse("is an Excel file, or another packed one: open it in its program, ", csv)
  }
  if (begins(text("RDX"), text("RDA"), text("X\n"), text("A\n"), as.raw(c(0x42, 0x0a)))) {
    refuse("is a file of R: write its table by data.table::fwrite(readRDS(\"", basename(file), "\"), \"table.csv\"), ",
      "and give that (DATA=).")
  }
  # R says nothing of a packed file that was cut off.
  if (!identical(readBin(file, "raw", 3L), utils::head(start, 3L))) refuse("is packed: unpack it first.")
  if (begins(text("PAR1"))) refuse("is a Parquet file: ", csv)
  if (begins(text("%PDF"), text("SQLite format"), c(as.raw(0x89), text("HDF")))) refuse("is no text file: ", csv)
  wide <- if (begins(as.raw(c(255, 254)))) "UTF-16LE" else if (begins(as.raw(c(254, 255)))) "UTF-16BE" else
    if (length(start) > 3L && all(start[c(2, 4)] == 0)) "UTF-16LE" else
    if (length(start) > 3L && all(start[c(1, 3)] == 0)) "UTF-16BE"
  if (is.null(wide)) {
    lines <- reading(refuse, file(file, "r"), readLines)
  } else {
    bytes <- readBin(file, "raw", file.size(file))
    whole <- tryCatch(iconv(list(bytes), wide, "UTF-8"), error = function(e) NA)
    if (is.na(whole)) refuse("is no text: a byte of it is zero, and it is not ", wide, ".")
    lines <- strsplit(whole, "\r\n|\n|\r")[[1L]]
  }
  odd <- !validUTF8(lines)   # as Excel writes
  lines[odd] <- iconv(lines[odd], "CP1252", "UTF-8", sub = "?")
  Encoding(lines) <- "UTF-8"
  lines <- sub("^\ufeff", "", lines)
  if (any(grepl("^\\s*<(!doctype|html|head|table|[?]xml)", utils::head(lines, 20L), ignore.case = TRUE))) {
    refuse("is a page of the web (HTML or XML), whatever its name: open it in a spreadsheet, ", csv)
  }
  lines
}

# Of damaged files R tells by warnings.
reading <- function(refuse, connection, read) {
  on.exit(close(connection))
  broken <- function(e) {
    if (grepl("incomplete final line", conditionMessage(e))) return(invokeRestart("muffleWarning"))
    refuse(if (grepl("nul", conditionMessage(e))) "is no text: a byte of it is zero." else
      paste0("cannot be read: it is damaged or gone (", conditionMessage(e), ")."))
  }
  withCallingHandlers(read(connection), warning = broken)
}

# ---- lines to a table of text ---------------------------------------------------------------------

# list(records: a line each, line breaks between quotes are blanks; sep; top: the line with `#` that may be the names).
records_of <- function(lines, file) {
  quotes <- nchar(gsub("[^\"]", "", lines))
  starts <- c(TRUE, utils::head(cumsum(quotes) %% 2 == 0, -1L))
  if (!all(starts)) lines <- unname(vapply(split(lines, cumsum(starts)), paste, "", collapse = " "))
  stated <- regmatches(lines[1L], regexec("^\"?sep=(.)\"?$", lines[1L]))[[1L]]
  if (length(stated)) lines <- lines[-1L]
  body <- which(!grepl("^\\s*(\"?#.*)?$", lines))
  if (!length(body)) complain("The file '", basename(file), "' is empty.")
  above <- utils::tail(grep("#", utils::head(lines, body[1L] - 1L), value = TRUE), 1L)
  lines <- lines[body[1L]:length(lines)]
  sep <- if (length(stated)) stated[2L] else separator_of(lines)
  lines <- lines[grepl("[^[:space:]]", lines) | sep == "\t" & nzchar(lines)]
  list(records = lines, sep = sep, top = sub("#\\s*", "", above))
}

# The separator that the first lines have equally often, and most often.
separator_of <- function(lines) {
  lines <- gsub("\"[^\"]*\"", "", utils::head(lines, 20L))
  counts <- vapply(c(";", "\t", "|", ",", " "), function(sep) {
    found <- lengths(regmatches(lines, gregexpr(sep, lines, fixed = TRUE)))
    if (min(found) > 0L && diff(range(found)) <= 1L) min(found) else 0L
  }, 0L)
  if (all(counts == 0L)) "," else names(counts)[which(counts > 0L)[1L]]
}

# A data frame of text; where lines have other numbers of fields, the first of these is named.
split_lines <- function(lines, sep, file) {
  ragged <- function(e) {
    text <- textConnection(lines)
    on.exit(close(text))
    width <- utils::count.fields(text, sep, quote = "\"", comment.char = "", blank.lines.skip = FALSE)
    usual <- as.integer(names(which.max(table(width))))
    off <- which(width != usual)[1L]
    complain("The file '", basename(file), "' is no regular table: ", if (is.na(off)) conditionMessage(e) else
      paste0("row ", off, " has ", width[off], " fields, not ", usual, "."))
  }
  table <- tryCatch(data.table::fread(text = if (length(lines) > 1L) lines else paste0(lines, "\n"), sep = sep,
    header = FALSE, colClasses = "character", na.strings = c("", "NA", "NaN"), data.table = FALSE,
    showProgress = FALSE, encoding = "UTF-8", quote = "\"", strip.white = TRUE), error = ragged, warning = ragged)
  if (nrow(table) != length(lines)) ragged(simpleError("its lines have different numbers of fields."))
  table[] <- lapply(table, function(column) trimws(gsub("\"\"", "\"", column, fixed = TRUE), whitespace = "[ \u00a0]"))
  table
}

# list(table, sep, header: has it names, unnamed: has the first column none, said).
with_header <- function(found, file, header) {
  lines <- found$records
  split <- function(lines) split_lines(lines, found$sep, file)
  if (identical(header, "no")) return(list(table = split(lines), sep = found$sep, header = FALSE, unnamed = FALSE))
  shown <- split(if (length(lines) > 1L) utils::head(lines[-1L], 200L) else lines)
  numeric <- vapply(shown, function(column) mean(is_number(column[!is.na(column)])) > .5, NA) %in% TRUE
  fields <- function(line) unlist(split(c(line, line))[1L, ], use.names = FALSE)
  above <- function(fields) {
    fields <- if (length(fields) == ncol(shown)) fields[numeric]
    fields[is_number(fields)]
  }
  first <- fields(lines[1L])
  # A line with `#` is the names if it has as many fields, and the line below it is none.
  if (length(found$top) && length(above(first)) && length(first) > 1L &&
      length(fields(found$top)) == length(first)) {
    lines <- c(found$top, lines)
    first <- fields(found$top)
    header <- "yes"
  }
  if (is.null(header) && length(above(first))) {
    complain("The first line of '", basename(file), "' has numbers above numbers (", some(above(first)), "): they may ",
      "be the names of the columns or the first row. Say HEADER=yes or HEADER=no.")
  }
  table <- if (length(lines) > 1L) split(lines[-1L]) else shown[0L, , drop = FALSE]
  first[is.na(first)] <- ""
  empty <- all(is.na(table[[ncol(table)]]))
  # Numbers there, between commas, may be the first half of others.
  halves <- found$sep == "," && all(is_number(table[[1L]])) && !counts_rows(table[[1L]])
  if (length(first) == ncol(table) - 1L && (empty || !halves)) first <- if (empty) c(first, "") else c("", first)
  if (length(first) != ncol(table)) {
    complain("The file '", basename(file), "' is no regular table: its first line has ", length(first), " fields, a ",
      "later one ", ncol(table), ".")
  }
  named_table(table, first, numeric, empty, file, found$sep)
}

named_table <- function(table, names, numeric, empty, file, sep) {
  twice <- unique(names[nzchar(names) & duplicated(names)])
  if (length(twice)) complain("The file '", basename(file), "' has more than one column of the name ", some(twice), ".")
  last <- if (empty && names[ncol(table)] == "" && ncol(table) > 1L) ncol(table)
  gaps <- setdiff(which(names == ""), c(1L, last))
  units <- unlist(table[1L, numeric], use.names = FALSE)
  units <- units[!is.na(units)]
  if (length(units) && nrow(table) > 2L && !any(is_number(units)) &&
      all(is_number(stats::na.omit(unlist(table[2:3, numeric]))))) {
    if (length(gaps)) {
      complain("The first line of '", basename(file), "' names some columns and the line below it all (", some(units),
        "): give the names in one line.")
    }
    table <- table[-1L, , drop = FALSE]
  } else units <- NULL
  unnamed <- names[1L] %in% c("", "X", "V1", "Unnamed: 0")
  names[names == ""] <- paste0("V", which(names == ""))
  names(table) <- make.unique(names)
  list(table = if (is.null(last)) table else table[-last], sep = sep, header = TRUE, unnamed = unnamed,
    said = c(if (length(units)) paste0("The line below the names holds units (", some(units), "): it is left out."),
      if (!is.null(last)) "The last column has neither name nor values: it is left out."))
}

counts_rows <- function(text) {
  number <- suppressWarnings(as.numeric(text))
  length(number) > 1L && !anyNA(number) && number[1L] %in% 0:1 && all(diff(number) == 1)
}

# Text that differs in every row and is no number with a unit names the rows.
is_name <- function(column) {
  !anyNA(column) && !anyDuplicated(column) && !any(grepl("^[^[:alpha:]]*[0-9]", column))
}

# ---- text to numbers ------------------------------------------------------------------------------

number <- "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$"
flags <- c("TRUE", "FALSE")
missing_words <- c("n/a", "N/A", "#N/A", "-", "--", "?", "null", "NULL")
# Signs as typesetters have them.
plain <- function(text) chartr("\u2212\u00a0\u202f", "-  ", text)
is_number <- function(text) grepl(number, sub(",", ".", gsub("(?<=[0-9])[.,](?=[0-9]{3}([.,]|$))", "", plain(text),
  perl = TRUE), fixed = TRUE)) | text %in% flags | text %in% c("Inf", "-Inf", "+Inf")

# The sign before decimals, by the numbers that can be read in one way only; what can be read in two is asked about. A
# dot is judged within its column: others may have decimals, and this one thousands.
settle_dec <- function(columns, given, sep) {
  if (!is.null(given)) return(given)
  text <- lapply(columns, function(column) {
    own <- unique(plain(column[!is.na(column)]))
    marked <- grepl("^[-+]?[0-9.,]*[0-9][0-9.,]*([eE][-+]?[0-9]+)?$", own)
    if (any(marked) && mean(marked) > .5) grep("[.,]", own[marked], value = TRUE)
  })
  one <- function(mark) paste0("^[-+]?[1-9][0-9]{0,2}[", mark, "][0-9]{3}$")
  # Certainly before decimals: `mark`; `other` stands between thousands.
  sure <- function(text, mark, other) {
    grepl(paste0("^[-+]?[0-9]{1,3}([", other, "][0-9]{3})+[", mark, "]"), text) |
      grepl(paste0("^[-+]?[0-9]{1,3}([", other, "][0-9]{3}){2,}$"), text) |
      grepl(paste0("^[-+]?[0-9]*[", mark, "][0-9]*([eE].*)?$"), text) & !grepl(one(mark), text)
  }
  all <- unlist(text)
  point <- all[sure(all, ".", ",")]
  comma <- all[sure(all, ",", ".")]
  way <- "Say DEC=. or DEC=, (the sign before decimals), or leave columns out (DROP=)."
  if (length(point) && length(comma)) {
    complain("A point stands before decimals in '", point[1L], "', and a comma in '", comma[1L], "'. ", way)
  }
  dots <- unlist(lapply(text, function(own) if (!any(sure(own, ".", ","))) grep(one("."), own, value = TRUE)))
  commas <- grep(one(","), all, value = TRUE)
  open <- if (!length(comma)) c(dots, if (!length(point) && (sep != ";" || length(dots))) commas)
  if (length(open)) {
    complain("The ", if (length(dots)) "dot" else "comma", " in '", open[1L], "' may stand before decimals or between ",
      "thousands. ", way)
  }
  if (length(comma) || length(commas) && !length(point)) "," else "."
}

# The numbers of a column of text, NA for what is none.
as_numbers <- function(text, dec) {
  own <- plain(text)
  other <- if (dec == ",") "." else ","
  grouped <- grepl(paste0("^[-+]?[1-9][0-9]{0,2}([", other, "][0-9]{3})+([", dec, "][0-9]*)?$"), own)
  own[grouped] <- gsub(other, "", own[grouped], fixed = TRUE)
  if (dec == ",") own <- chartr(",.", ".x", own)
  fine <- grepl(number, own) | own %in% c("Inf", "-Inf", "+Inf")
  out <- rep(NA_real_, length(own))
  out[fine] <- as.numeric(own[fine])
  ifelse(text %in% flags, text == "TRUE", out)
}

# list(x = the columns of numbers as a matrix, rows = which rows these are, said = what was left out or filled in).
numeric_columns <- function(columns, file, na, dec, sep) {
  dec <- settle_dec(columns, dec, sep)
  said <- NULL
  read <- lapply(stats::setNames(nm = names(columns)), function(name) {
    text <- columns[[name]]
    value <- as_numbers(text, dec)
    fine <- !is.na(value)
    gone <- text %in% missing_words
    bad <- !fine & !is.na(text) & !gone
    if (!any(fine | bad) || sum(bad) > sum(fine) && !all_units(text[fine | bad])) return(NULL)
    if (any(bad)) {
      complain("Column '", name, "' of file '", basename(file), "' is not numeric: '", text[bad][1L], "' in row ",
        format(which(bad)[1L], big.mark = ",", scientific = FALSE), " is no number. Mend it, or leave the column out ",
        "(DROP=).")
    }
    if (any(gone)) said <<- c(said, paste0(some(unique(text[gone])), " in column '", name, "' is taken as missing."))
    value
  })
  use <- names(read)[lengths(read) > 0L]
  out <- setdiff(names(columns), use)
  if (!length(use)) complain("No numeric column is left; not numeric: ", some(out), ".")
  if (length(out)) said <- c(said, paste0("Left out, for not numeric: ", some(out), "."))
  x <- do.call(cbind, read[use])
  missing <- colSums(is.na(x)) > 0
  if (!any(missing)) return(list(x = x, rows = seq_len(nrow(x)), said = said))
  if (is.null(na) || na == "error") {
    complain("Missing values in ", some(use[missing]), ". Say what to do about them, NA=omit, median or knn, or leave ",
      "these columns out by DROP=.")
  }
  rownames(x) <- seq_len(nrow(x))
  data <- tryCatch(ufs_data(x, na = na), ufs_error = function(e) complain(conditionMessage(e)))
  list(x = `rownames<-`(as.matrix(data), NULL), rows = as.integer(dimnames(data)[[1L]]),
    said = c(said, ufselect:::input_notes(data$input)))
}

# Are all of these numbers with the same signs before or behind, of a unit or as a spreadsheet has them (="1"), or with
# blanks or apostrophes between thousands?
all_units <- function(text) {
  mark <- "[ .,'\u2019]"
  number <- paste0("[-+]?([0-9]+(", mark, "[0-9]+)?|[1-9][0-9]{0,2}(", mark, "[0-9]{3})+([.,][0-9]+)?)")
  length(text) && all(grepl(paste0("^[^[:alnum:]]{0,3}", number, "( ?[^0-9]{1,6})?$"), plain(text), perl = TRUE)) &&
    length(unique(gsub("[-+., '\u20190-9]", "", plain(text)))) == 1L
}

labels_of_column <- function(y, label) {
  if (anyNA(y)) complain("The label column '", label, "' has missing values, the first in row ", which(is.na(y))[1L], ".")
  factor(utils::type.convert(y, as.is = TRUE, numerals = "no.loss"))
}

some <- function(names, most = 5L) {
  more <- length(names) - most
  paste0(paste0("'", utils::head(names, most), "'", collapse = ", "), if (more > 0L) paste(" and", more, "more"))
}

complain <- function(...) stop(structure(class = c("demo_error", "error", "condition"),
  list(message = paste0(...), call = NULL)))

# A whole number from the command line.
whole <- function(text, name, least, most, what) {
  value <- suppressWarnings(as.numeric(text))
  if (length(value) != 1L || is.na(value) || value != round(value) || value < least) {
    complain(name, "= must be a whole number of at least ", least, ", not '", text, "'.")
  }
  if (value > most) complain(name, "=", text, " is more than the ", most, " ", what, ".")
  as.integer(value)
}
