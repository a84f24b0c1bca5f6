# A user's file for the demo: data.table::fread() reads it, and one line says what was taken for the separator,
# the header, the names of the rows and the labels. What could be read in two ways stops with the argument that decides.

# list(x = numeric matrix, y = factor or NULL, said = lines to print). `label` and `id` name columns or are NULL,
# `header` is "yes", "no" or NULL.
read_file <- function(file, label = NULL, id = NULL, header = NULL) {
  if (!requireNamespace("data.table", quietly = TRUE)) complain("Install the package data.table to read a file.")
  if (!file.exists(file) || dir.exists(file)) complain("There is no file '", file, "' (DATA=).")
  if (!is.null(header) && !header %in% c("yes", "no")) complain("HEADER= must be yes or no, not '", header, "'.")
  head <- read_first_lines(file)
  named <- if (is.null(header)) has_header(head$fields) else header == "yes"
  table <- fread_in_words(file, sep = head$sep, skip = head$skip, header = named)
  # Labels are text: of twenty digits a number would keep sixteen.
  text <- intersect(c(label, id), names(table))
  if (length(text)) {
    table <- fread_in_words(file, sep = head$sep, skip = head$skip, header = named, colClasses = list(character = text))
  }
  columns <- as.list(table)
  at <- match(c(label, id), names(columns))
  if (anyNA(at)) complain("There is no column '", c(label, id)[is.na(at)][1L], "'; there are ", some(names(columns)), ".")
  y <- if (!is.null(label)) labels_of_column(columns[[label]], label)
  rows <- if (!is.null(id)) columns[[id]] else row_names_of(columns[setdiff(names(columns), label)])
  if (is.null(id)) id <- attr(rows, "column")
  if (anyDuplicated(rows)) complain("The names in column '", id, "' are not all different (ID=).")
  x <- numeric_columns(columns[setdiff(names(columns), c(label, id))])
  rownames(x) <- if (!is.null(rows)) as.character(rows)
  said <- paste0("Read ", basename(file), ": ", nrow(x), " rows and ", ncol(x), " numeric columns; separator ",
    separator_words(head$sep), ", ", if (named) "names of the columns from the first line" else "no header", ", ",
    if (is.null(id)) "no names of rows" else paste0("names of the rows from column '", id, "'"), ", ",
    if (is.null(label)) "no labels" else paste0("labels from column '", label, "' (", nlevels(y), " classes)"), ".")
  list(x = x, y = y, said = said)
}

# fread() warns of lines that it leaves out or fills: a table with other rows than the file has is refused.
fread_in_words <- function(file, ...) {
  refuse <- function(e) complain("The file '", basename(file), "' is no regular table: ", conditionMessage(e))
  tryCatch(data.table::fread(file, ..., data.table = FALSE, check.names = FALSE, integer64 = "double",
    na.strings = c("", "NA", "NaN"), showProgress = FALSE), error = refuse, warning = refuse)
}

# The first lines as text, with the separator found. Excel writes one alone as `sep=;`.
read_first_lines <- function(file) {
  first <- sub("^\ufeff", "", enc2utf8(readLines(file, n = 1L, warn = FALSE, encoding = "UTF-8")))
  stated <- regmatches(first, regexec("^\"?sep=(.)\"?$", first))
  skip <- if (length(stated) && length(stated[[1L]])) 1L else 0L
  sep <- if (skip) stated[[1L]][2L] else "auto"
  if (identical(sep, "auto")) sep <- separator_of(file)
  fields <- fread_in_words(file, sep = sep, skip = skip, header = FALSE, nrows = 5L, colClasses = "character", fill = TRUE)
  list(sep = sep, skip = skip, fields = fields)
}

# Of these separators, the one that stands in the first lines equally often and most often.
separator_of <- function(file) {
  lines <- readLines(file, n = 20L, warn = FALSE, encoding = "UTF-8")
  lines <- gsub("\"[^\"]*\"", "", lines[nzchar(lines)], useBytes = TRUE)
  counts <- vapply(c(";", "\t", "|", ",", " "), function(sep) {
    found <- lengths(regmatches(lines, gregexpr(sep, lines, fixed = TRUE)))
    if (length(found) && min(found) > 0L && diff(range(found)) <= 1L) min(found) else 0L
  }, 0L)
  if (all(counts == 0L)) "auto" else names(counts)[which(counts > 0L)[1L]]
}

separator_words <- function(sep) {
  switch(sep, "\t" = "tab", " " = "space", "auto" = "as found by fread()", sprintf("'%s'", sep))
}

is_number <- function(text) grepl("^ *[-+]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][-+]?[0-9]+)? *$", text)

# Names stand in the first line if the columns that are numbers below have text there. Numbers above numbers may be
# names (wave lengths, years) or a first row: the user says which.
has_header <- function(fields) {
  if (nrow(fields) < 2L) return(TRUE)
  below <- vapply(fields[-1L, , drop = FALSE], function(column) all(is_number(column) | is.na(column)), NA)
  first <- unlist(fields[1L, below], use.names = FALSE)
  if (any(is_number(first))) {
    complain("The first line has numbers above numbers (", some(first[is_number(first)], 3L),
      "): they may be the names of the columns or the first row. Say HEADER=yes or HEADER=no.")
  }
  TRUE
}

labels_of_column <- function(y, label) {
  if (anyNA(y)) complain("The label column '", label, "' has missing values, the first in row ", which(is.na(y))[1L], ".")
  factor(utils::type.convert(y, as.is = TRUE, numerals = "no.loss"))
}

# The first column, where it is text that differs in every row, or has no name and counts the rows.
row_names_of <- function(columns) {
  if (length(columns) < 2L) return(NULL)
  first <- columns[[1L]]
  unnamed <- names(columns)[1L] %in% c("", "V1", "X", "Unnamed: 0")
  counts <- unnamed && is.numeric(first) && !anyNA(first) && (all(diff(first) == 1) && first[1L] %in% 0:1)
  texts <- is.character(first) && !anyNA(first) && !anyDuplicated(first) && !any(grepl("^[^[:alpha:]]*[0-9]", first))
  if (counts || texts) structure(first, column = names(columns)[1L])
}

# Numbers with a decimal comma and TRUE and FALSE are numbers; all other text is refused by the name of its column.
numeric_columns <- function(columns) {
  columns <- lapply(columns, function(column) {
    comma <- is.character(column) && all(is.na(column) | (is_number(column) & !grepl("[.]", column)))
    if (comma) as.numeric(sub(",", ".", column, fixed = TRUE)) else if (is.logical(column)) as.numeric(column) else column
  })
  text <- which(!vapply(columns, is.numeric, NA))
  if (length(text)) {
    complain("Columns that are not numeric: ", some(names(columns)[text]), " (the first value is '",
      columns[[text[1L]]][1L], "'). Name the column of classes by LABEL= and that of row names by ID=, and leave the ",
      "others out or clean them.")
  }
  if (!length(columns)) complain("No numeric column is left.")
  missing <- vapply(columns, anyNA, NA)
  if (any(missing)) {
    complain("Missing values in ", some(names(columns)[missing]), ". Fill them in or leave these columns or rows out ",
      "(in R: the argument `na` of ufs_data()).")
  }
  matrix(as.numeric(unlist(columns, use.names = FALSE)), ncol = length(columns), dimnames = list(NULL, names(columns)))
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
