# Reading a user's file for the demo, in base R alone. Nothing is guessed in silence: one line says
# what was taken for separator, header, decimal mark and names, and how many rows came of how many
# lines. Where two readings are possible the reader stops with the number of the line and says what
# decides: HEADER=yes or no, DECIMAL=comma or point.

# list(x = numeric matrix, y = factor or NULL, said = lines to print). `label` is the name of a
# column or NULL, `header` "yes", "no" or NULL, `decimal` "comma", "point" or NULL.
read_table <- function(file, label = NULL, header = NULL, decimal = NULL) {
  check_word(header, "HEADER", c("yes", "no"))
  check_word(decimal, "DECIMAL", c("comma", "point"))
  records <- read_records(file)
  sep <- find_separator(records$text)
  table <- split_records(records, sep, header)
  said <- c(paste("separator", sep), table$said)
  fields <- table$fields
  lines <- table$line
  if (!nrow(fields) || !ncol(fields)) complain("The file '", file, "' has a header and no rows.")

  y <- NULL
  keep <- rep(TRUE, ncol(fields))
  names_of <- table$row_names
  if (!is.null(label)) {
    at <- which(table$names == label)
    if (length(at) != 1L) {
      complain("The file has ", if (length(at)) length(at) else "no", " column", if (length(at)) "s", " '",
        label, "' (LABEL=); it has ", some(table$names), ".")
    }
    if (anyNA(fields[, at])) {
      complain("The label column '", label, "' has missing values, the first in line ",
        lines[is.na(fields[, at])][1L], ".")
    }
    y <- factor(utils::type.convert(fields[, at], as.is = TRUE))
    keep[at] <- FALSE
  }
  if (is.null(names_of)) names_of <- row_names_column(fields[, keep, drop = FALSE], table$names[keep])
  rows <- NULL
  if (length(names_of)) {
    names_of <- which(keep)[names_of]
    rows <- fields[, names_of]
    said <- c(said, paste0("names of the rows in column ",
      if (nzchar(table$names[names_of])) paste0("'", table$names[names_of], "'") else names_of))
    keep[names_of] <- FALSE
  }
  names <- table$names
  names[!nzchar(names)] <- paste0("V", which(!nzchar(names)))
  names <- names[keep]
  fields <- fields[, keep, drop = FALSE]
  if (!ncol(fields)) complain("No numeric column is left.")
  empty <- colSums(!is.na(fields)) == 0
  if (any(empty)) complain("Columns without any value: ", some(names[empty]), ". Leave them out.")
  flags <- vapply(seq_along(names), function(j) {
    all(fields[, j] %in% c("TRUE", "True", "true", "FALSE", "False", "false", NA))
  }, NA)
  flag <- fields[, flags]
  fields[, flags] <- ifelse(is.na(flag), NA, ifelse(flag %in% c("TRUE", "True", "true"), "1", "0"))
  mark <- find_decimal(fields, lines, names, sep, decimal)
  said <- c(said, mark$said, table$left_out)
  fine <- mark$number | is.na(fields)
  bad <- colSums(!fine) > 0
  if (any(bad)) {
    first <- which(bad)[1L]
    row <- which(!fine[, first])[1L]
    complain("Columns that are not numeric: ", some(names[bad]), " (line ", lines[row], " has '",
      fields[row, first], "'). If one of them holds the classes, name it: LABEL=", names[first],
      ". Leave the others out.")
  }
  missing <- colSums(is.na(fields)) > 0
  if (any(missing)) {
    complain("Missing values in ", some(names[missing]), ", the first in line ",
      lines[rowSums(is.na(fields)) > 0][1L], ". Fill them in or leave out these ",
      "columns or their rows first (in R: the argument `na` of ufs_data()).")
  }
  x <- gsub(mark$group, "", fields, fixed = TRUE)
  if (mark$decimal == ",") x <- sub(",", ".", x, fixed = TRUE)
  x <- matrix(as.numeric(x), nrow(fields), dimnames = list(rows, names))
  said <- paste0("Read ", basename(file), ": ", nrow(x), " rows, ", ncol(x), " columns, from ", records$lines,
    " lines (", paste(said, collapse = ", "), ").")
  if (!is.null(y)) {
    said <- c(said, paste0("Labels: column '", label, "', ", nlevels(y), " classes; not used for choosing."))
  }
  if (any(flags)) said <- c(said, paste0("TRUE and FALSE are taken as 1 and 0 in ", some(names[flags]), "."))
  list(x = x, y = y, said = said)
}

# ---- lines and records ------------------------------------------------------------------------

# list(text = one string per record, line = the number of its first line, lines = lines of the file,
# left_out = what was left out, or how it was read, in words). A quoted value may hold line ends.
read_records <- function(file) {
  if (!file.exists(file)) complain("There is no file '", file, "' (DATA=).")
  if (dir.exists(file)) complain("'", file, "' is a folder; DATA= must name a file.")
  bytes <- readBin(file, "raw", file.size(file))
  if (!length(bytes)) complain("The file '", file, "' is empty.")
  zero <- which(bytes == as.raw(0L))
  if (length(zero)) {
    complain("The file '", file, "' is not plain text: line ", 1L + sum(bytes[seq_len(zero[1L])] == as.raw(10L)),
      " has a NUL byte. Of a spreadsheet or a compressed file save the table as CSV in UTF-8 first.")
  }
  con <- file(normalizePath(file), "rb")
  on.exit(close(con))
  lines <- readLines(con, warn = FALSE, encoding = "UTF-8")
  said <- NULL
  if (!all(validUTF8(lines))) {
    lines <- iconv(lines, "latin1", "UTF-8")
    said <- "letters as Latin-1"
  }
  lines[1L] <- sub("^\ufeff", "", lines[1L])
  quotes <- nchar(lines, "bytes") - nchar(gsub("\"", "", lines, fixed = TRUE), "bytes")
  open <- cumsum(quotes) %% 2 == 1
  begins <- !c(FALSE, open[-length(open)])
  if (open[length(open)]) {
    complain("A quotation mark in line ", max(which(begins)), " of '", file, "' is never closed.")
  }
  line <- which(begins)
  text <- if (all(begins)) lines else {
    unname(vapply(split(lines, cumsum(begins)), paste, "", collapse = "\n"))
  }
  blank <- !nzchar(gsub(" ", "", text, fixed = TRUE))
  if (all(blank)) complain("The file '", file, "' is empty.")
  within <- blank & seq_along(text) > match(FALSE, blank) & seq_along(text) < max(which(!blank))
  list(text = text[!blank], line = line[!blank], lines = length(lines), empty = line[within], file = file,
    left_out = c(said, counted(sum(blank), "empty line")))
}

counted <- function(n, what) if (n > 0L) paste0(n, " ", what, if (n > 1L) "s", " left out")

# ---- separator and fields -----------------------------------------------------------------------

separators <- c(tab = "\t", semicolon = ";", bar = "|", comma = ",", space = " ", none = "\n")

# How many values each record has.
count_values <- function(text, sep) {
  bare <- text
  at <- grep("\"", text, fixed = TRUE)
  bare[at] <- gsub("\"[^\"]*\"", "q", text[at], perl = TRUE)
  if (sep == "space") {
    return(lengths(strsplit(trimws(bare), "[ \t]+")))
  }
  1L + nchar(bare, "bytes") - nchar(gsub(separators[[sep]], "", bare, fixed = TRUE), "bytes")
}

# The most frequent count; of several the largest.
usual <- function(count) {
  times <- tabulate(count)
  max(which(times == max(times)))
}

# That by which most records have the same number of values; then that by which most values are
# numbers; then the first. "space" only where nothing else separates.
find_separator <- function(text) {
  text <- text[!startsWith(text, "#")]
  text <- text[seq_along(text) <= 20L | seq_along(text) <= 1000L & cumsum(nchar(text, "bytes")) < 1e6]
  if (!length(text)) complain("The file has comments only.")
  worth <- vapply(setdiff(names(separators), c("space", "none")), function(sep) {
    count <- count_values(text, sep)
    size <- usual(count)
    if (size < 2L) {
      return(c(0, 0))
    }
    values <- unlist(strsplit(utils::head(text, 20L), separators[[sep]], fixed = TRUE))
    c(mean(count == size), mean(any_number(gsub("\"", "", trimws(values)))))
  }, numeric(2))
  if (any(worth[1L, ] > 0)) {
    return(colnames(worth)[order(-worth[1L, ], -worth[2L, ])[1L]])
  }
  if (usual(count_values(if (length(text) > 1L) text[-1L] else text, "space")) > 1L) "space" else "none"
}

# list(fields = character matrix, NA where missing, line = of each row, names, row_names = 1 where the
# header is one name short, said, left_out).
split_records <- function(records, sep, header) {
  where <- function(line) paste0("Line ", line, " of '", records$file, "' ")
  skip <- match(FALSE, startsWith(records$text, "#")) - 1L
  text <- records$text[seq_along(records$text) > skip]
  line <- records$line[seq_along(records$text) > skip]
  check_quotes(text, line, sep, where)
  count <- count_values(text, sep)
  size <- usual(if (length(count) > 2L) count[-1L] else count)
  odd <- which(count != size)
  short <- length(text) > 1L && count[1L] == size - 1L && !identical(header, "no")
  if (short) odd <- setdiff(odd, 1L)
  if (length(odd)) {
    complain(where(line[odd[1L]]), "has ", count[odd[1L]], " value", if (count[odd[1L]] != 1L) "s",
      ", where most have ", size, " (separator ", sep, ").")
  }
  if (size == 1L && length(records$empty)) {
    complain(where(records$empty[1L]), "is empty: a missing value, or nothing? Write NA or take it out.")
  }
  if (short) text[1L] <- paste0(text[1L], if (sep == "space") " \"\"" else separators[[sep]])
  fields <- scan_records(text, sep, size)
  names <- fields[1L, ]
  fields[fields %in% c("", "NA")] <- NA
  first <- fields[1L, ]
  body <- fields[-1L, , drop = FALSE]
  row_names <- NULL
  said <- NULL
  if (size > 1L && nrow(body) && is.na(first[size]) && all(is.na(body[, size]))) {
    said <- "the separator at the end of every line ignored"
    body <- body[, -size, drop = FALSE]
    first <- first[-size]
    names <- names[-size]
    short <- FALSE
  } else if (short) {
    # As write.table() does it: the names of the rows have no name.
    texts <- !any_number(body[, 1L]) | quoted(text[-1L], sep, 1L)
    if (!all(texts) || anyNA(body[, 1L]) || anyDuplicated(body[, 1L])) {
      complain(where(line[1L]), "has ", size - 1L, " name", if (size > 2L) "s", ", the next line ", size,
        " values: which column has no name?")
    }
    names <- c("", names[-size])
    row_names <- 1L
  }
  named <- if (short || identical(header, "yes")) TRUE else if (identical(header, "no")) FALSE else
    has_header(first, body, text, sep, where(line[1L]))
  if (skip && !named && is.null(header) && any(count_values(records$text[seq_len(skip)], sep) == size)) {
    complain(where(records$line[skip]), "begins with # and may hold the names of the columns, or be a comment. ",
      "Take the # out, or say HEADER=no.")
  }
  if (!named) body <- rbind(first, body, deparse.level = 0L)
  list(fields = body, line = if (named) line[-1L] else line,
    names = if (named) names else paste0("V", seq_along(names)), row_names = row_names,
    said = c(if (named) paste("header in line", line[1L]) else
      "no header: the columns are called V1, V2, ...", said),
    left_out = c(counted(skip, "comment line"), records$left_out))
}

# A quotation mark stands at both ends of a value or not at all: one inside (5" for inches) would
# swallow separators and line ends up to the next.
check_quotes <- function(text, line, sep, where) {
  at <- which(grepl("\"", text, fixed = TRUE))
  if (!length(at)) {
    return(invisible())
  }
  mark <- if (sep == "space") "[ \t]" else paste0("[", separators[[sep]], "]")
  rest <- gsub(paste0("(^|", mark, ")[ \t]*\"[^\"]*+(?:\"\"[^\"]*+)*+\"[ \t]*(?=", mark, "|$)"), "\\1",
    text[at], perl = TRUE)
  bad <- grep("\"", rest, fixed = TRUE)
  if (length(bad)) {
    complain(where(line[at[bad[1L]]]), "has a quotation mark inside a value, or one that is closed too late.")
  }
}

scan_records <- function(text, sep, size) {
  fields <- scan(text = text, what = "", sep = if (sep == "space") "" else separators[[sep]], quote = "\"",
    na.strings = character(), strip.white = TRUE, comment.char = "", blank.lines.skip = FALSE, quiet = TRUE)
  if (length(fields) != size * length(text)) {
    complain("The file is not a regular table: ", length(text), " rows of ", size, " would be ",
      size * length(text), " values, and there are ", length(fields), ".")
  }
  matrix(fields, length(text), size, byrow = TRUE)
}

# Is value j of these records in quotes? (No separator is inside those that matter: numbers.)
quoted <- function(text, sep, j) {
  parts <- strsplit(trimws(text), if (sep == "space") "[ \t]+" else separators[[sep]], fixed = sep != "space")
  vapply(parts, function(part) length(part) >= j && grepl("^[ \t]*\".*\"[ \t]*$", part[j]), NA)
}

# Is the first record the names of the columns? Only columns that hold numbers below it tell.
has_header <- function(first, body, text, sep, where) {
  if (!nrow(body)) {
    return(!all(any_number(first)))
  }
  top <- utils::head(body, 100L)
  telling <- which(colSums(any_number(top) | is.na(top)) == nrow(top) & colSums(!is.na(top)) > 0)
  value <- first[telling]
  number <- any_number(value)
  texts <- !is.na(value) & !number
  if (!length(telling) || any(texts) && !any(number)) {
    return(TRUE)
  }
  # Names in quotes above bare numbers.
  if (all(vapply(telling, function(j) quoted(text[1L], sep, j) && !quoted(text[2L], sep, j), NA))) {
    return(TRUE)
  }
  # Years or wave lengths are names that look like data: in order, or evenly spaced, where the rows
  # below are not. With an empty corner they are names.
  rows <- rbind(first, utils::head(body, 20L))[, telling[number], drop = FALSE]
  steps <- lapply(seq_len(nrow(rows)), function(i) {
    diff(suppressWarnings(as.numeric(sub(",", ".", rows[i, ], fixed = TRUE))))
  })
  alone <- function(kind) kind(steps[[1L]]) && mean(vapply(steps[-1L], kind, NA)) < 0.5
  ordered <- alone(function(step) length(step) > 1L && isTRUE(all(step > 0) || all(step < 0))) ||
    alone(function(step) isTRUE(all(step == step[1L]) && (step[1L] == 1 || step[1L] != 0 && length(step) > 1L)))
  if (ordered && is.na(first[1L]) && !anyNA(first[-1L]) && !anyNA(body[, 1L])) {
    return(TRUE)
  }
  if (any(texts) || anyNA(value) || ordered) {
    complain(where, "may hold the names of the columns or the first row: say HEADER=yes or HEADER=no.")
  }
  FALSE
}

# ---- numbers -------------------------------------------------------------------------------------

# A number with this decimal mark and, before it, maybe groups of three digits.
is_number <- function(text, decimal, group) {
  fine <- grepl(paste0("^[-+]?([0-9]+[", decimal, "]?[0-9]*|[", decimal, "][0-9]+)([eE][-+]?[0-9]+)?$"), text,
    perl = TRUE)
  rest <- which(!fine & !is.na(text))
  fine[rest] <- grepl(paste0("^[-+]?[1-9][0-9]{0,2}([", group, "][0-9]{3})+([", decimal, "][0-9]*)?$"), text[rest],
    perl = TRUE)
  dim(fine) <- dim(text)
  fine
}

any_number <- function(text) {
  fine <- is_number(text, ".", ",")
  rest <- which(!fine & !is.na(text))
  fine[rest] <- is_number(text[rest], ",", ".")
  fine
}

# One decimal mark for the whole file: list(decimal, group, said). 1,234 and 1.234 may be either; a
# value that can only be read in one way decides for all.
find_decimal <- function(fields, lines, names, sep, given) {
  choice <- function(decimal, groups = FALSE) {
    list(decimal = decimal, group = setdiff(c(".", ","), decimal),
      number = if (decimal == ".") point else comma,
      said = c(paste("decimal", if (decimal == ".") "point" else "comma"), if (groups) {
        paste(if (decimal == ".") "commas" else "points", "between thousands")
      }))
  }
  marked <- grepl(".", fields, fixed = TRUE) | grepl(",", fields, fixed = TRUE)
  point <- is_number(fields, ".", ",")
  comma <- point
  comma[marked] <- is_number(fields[marked], ",", ".")
  numbers <- colSums(point | comma | is.na(fields)) == nrow(fields)
  at <- which(marked & rep(numbers, each = nrow(fields)))
  value <- fields[at]
  has <- function(mark) grepl(mark, value, fixed = TRUE)
  either <- grepl("^[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}$", value, perl = TRUE)
  sure <- list("." = !either & point[at], "," = !either & comma[at])
  where <- function(hit) {
    i <- at[which(hit)[1L]]
    paste0("'", fields[i], "' in line ", lines[(i - 1L) %% nrow(fields) + 1L], ", column '",
      names[(i - 1L) %/% nrow(fields) + 1L], "'")
  }
  if (!is.null(given)) {
    decimal <- if (given == "comma") "," else "."
    wrong <- sure[[setdiff(c(".", ","), decimal)]] & !sure[[decimal]]
    if (any(wrong)) complain("DECIMAL=", given, ", but there is ", where(wrong), ".")
    return(choice(decimal, any(has(setdiff(c(".", ","), decimal)))))
  }
  if (any(sure[["."]]) && any(sure[[","]])) {
    complain("Two decimal marks: ", where(sure[["."]]), ", and ", where(sure[[","]]), ".")
  }
  for (decimal in c(".", ",")) {
    if (any(sure[[decimal]])) {
      return(choice(decimal, any(has(setdiff(c(".", ","), decimal)))))
    }
  }
  # Points before three digits are decimal points, unless they stand beside whole numbers in a file
  # whose separator is not the comma.
  whole <- colSums(!marked & !is.na(fields)) > 0
  doubt <- if (any(has(","))) has(",") else if (sep != "comma") whole[(at - 1L) %/% nrow(fields) + 1L]
  if (any(doubt)) {
    complain(where(doubt), ": thousands or three decimals? Say DECIMAL=comma or DECIMAL=point.")
  }
  choice(".")
}

# A first column of distinct texts, or a first column without a name that counts the rows.
row_names_column <- function(fields, names) {
  if (ncol(fields) < 2L || anyNA(fields[, 1L]) || anyDuplicated(fields[, 1L])) {
    return(NULL)
  }
  first <- fields[, 1L]
  counts <- names[1L] %in% c("", "X") && identical(first, as.character(seq_along(first)))
  flags <- all(toupper(first) %in% c("TRUE", "FALSE"))
  if (counts || !flags && !any(any_number(first))) 1L
}

# ---- words ---------------------------------------------------------------------------------------

some <- function(names, most = 5L) {
  more <- length(names) - most
  paste0(paste0("'", utils::head(names, most), "'", collapse = ", "),
    if (more > 0L) paste(" and", more, "more"))
}

complain <- function(...) stop(structure(class = c("demo_error", "error", "condition"),
  list(message = paste0(...), call = NULL)))

check_word <- function(value, name, choices) {
  if (!is.null(value) && !value %in% choices) {
    complain(name, "= must be ", paste(choices, collapse = " or "), ", not '", value, "'.")
  }
}

# A whole number from the command line.
whole <- function(text, name, least, most, what) {
  value <- suppressWarnings(as.numeric(text))
  if (length(value) != 1L || is.na(value) || value != round(value) || value < least) {
    complain(name, "= must be a whole number of at least ", least, ", not '", text, "'.")
  }
  if (value > most) complain(name, "=", text, " is more than the ", most, " ", what, ".")
  as.integer(value)
}
