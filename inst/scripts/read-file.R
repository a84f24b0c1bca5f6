# A user's file for the demo: data.table::fread() reads it, and one line says what was taken for the separator,
# the header, the names of the rows and the labels. What could be read in two ways stops with the argument that decides.

# What the reader of the package refuses is refused in its words.
read_file <- function(...) tryCatch(read_user_file(...), ufs_error = function(e) complain(conditionMessage(e)))

# list(x = numeric matrix, y = factor or NULL, said = lines to print). `label` and `id` name columns or are NULL, as
# are header ("yes" or "no"), dec ("." or ","), na (as in ufs_data()) and drop (names of columns, commas between them).
read_user_file <- function(file, label = NULL, id = NULL, header = NULL, dec = NULL, na = NULL, drop = NULL) {
  if (!requireNamespace("data.table", quietly = TRUE)) complain("Install the package data.table to read a file.")
  if (!file.exists(file) || dir.exists(file)) complain("There is no file '", file, "' (DATA=).")
  how <- checked_options(list(header = header, dec = dec, na = na, drop = drop))
  said <- character()
  held <- ufselect:::new_held()
  on.exit(held$close())
  withCallingHandlers({
    table <- ufselect:::csv_stream(file, held, list(header = how$header, dec = how$dec, text = c(label, id),
      numbers = TRUE))(Inf)$rows
  }, message = function(m) {
    said <<- c(said, sub("\n$", "", conditionMessage(m)))
    invokeRestart("muffleMessage")
  })
  if (is.null(table)) complain("The file '", basename(file), "' has no row.")
  found <- held$found
  at <- match(c(label, id, how$drop), names(table))
  if (anyNA(at)) {
    complain("There is no column '", c(label, id, how$drop)[is.na(at)][1L], "'; there are ", some(names(table)), ".")
  }
  y <- if (!is.null(label)) labels_of_column(table[[label]], label)
  rest <- table[setdiff(names(table), c(label, how$drop))]
  if (found$counted && !is.null(id) && !names(table)[1L] %in% c(id, label)) {
    said <- c(said, paste0("The first column, '", names(table)[1L], "', counts the rows: it is left out."))
    rest[[names(table)[1L]]] <- NULL
  }
  rows <- if (!is.null(id)) table[[id]] else row_names_of(rest, found$counted)
  if (is.null(id)) id <- attr(rows, "column")
  if (anyDuplicated(rows)) complain("The names in column '", id, "' are not all different (ID=).")
  numbers <- numeric_columns(rest[setdiff(names(rest), id)], file, how$na)
  x <- numbers$x
  rownames(x) <- if (!is.null(rows)) as.character(rows)[numbers$rows]
  if (!is.null(y)) y <- droplevels(y[numbers$rows])
  line <- paste0("Read ", basename(file), ": ", nrow(x), " rows and ", ncol(x), " numeric columns; separator ",
    separator_words(found$sep), ", ", if (found$header) "names of the columns from the first line" else "no header",
    ", ", if (is.null(id)) "no names of rows" else paste0("names of the rows from column '", id, "'"), ", ",
    if (is.null(label)) "no labels" else paste0("labels from column '", label, "' (", nlevels(y), " classes)"), ".")
  list(x = x, y = y, said = paste(c(line, said, numbers$said), collapse = "\n"))
}

checked_options <- function(how) {
  one_of <- function(name, words) {
    value <- how[[name]]
    if (!is.null(value) && !value %in% words) {
      complain(toupper(name), "= must be ", paste(words, collapse = " or "), ", not '", value, "'.")
    }
    value
  }
  header <- one_of("header", c("yes", "no"))
  list(header = if (!is.null(header)) header == "yes", dec = one_of("dec", c(".", ",")),
    na = one_of("na", c("error", "omit", "median", "knn")),
    drop = if (!is.null(how$drop)) trimws(strsplit(how$drop, ",", fixed = TRUE)[[1L]]))
}

separator_words <- function(sep) {
  switch(sep, "\t" = "tab", " " = "space", sprintf("'%s'", sep))
}

labels_of_column <- function(y, label) {
  if (anyNA(y)) complain("The label column '", label, "' has missing values, the first in row ", which(is.na(y))[1L], ".")
  factor(utils::type.convert(as.character(y), as.is = TRUE, numerals = "no.loss"))
}

# The first column, where it is text that differs in every row, or has no name and counts the rows.
row_names_of <- function(columns, counted) {
  if (length(columns) < 2L) return(NULL)
  first <- columns[[1L]]
  texts <- is.character(first) && !anyNA(first) && !anyDuplicated(first) && !any(grepl("^[^[:alpha:]]*[0-9]", first))
  if (counted || texts) structure(first, column = names(columns)[1L])
}

# list(x = the columns of numbers as a matrix, rows = which rows these are, said = what was left out or filled in).
numeric_columns <- function(columns, file, na) {
  settled <- ufselect:::settle_kinds(columns, NULL, NULL, 1, file)
  use <- names(columns)[settled$kinds[names(columns)] == "number"]
  out <- setdiff(names(columns), use)
  if (!length(use)) complain("No numeric column is left: ", some(out), " are not numeric.")
  said <- if (length(out)) paste0("Left out, for not numeric: ", some(out), ".")
  table <- settled$rows[use]
  x <- matrix(as.numeric(unlist(table, use.names = FALSE)), ncol = length(use), dimnames = list(NULL, use))
  missing <- colSums(is.na(x)) > 0
  if (!any(missing)) return(list(x = x, rows = seq_len(nrow(x)), said = said))
  if (is.null(na) || na == "error") {
    complain("Missing values in ", some(use[missing]), ". Say what to do about them, NA=omit, median or knn, or leave ",
      "these columns out by DROP=.")
  }
  rownames(x) <- seq_len(nrow(x))
  data <- ufs_data(x, na = na)
  list(x = unname_rows(as.matrix(data)), rows = as.integer(dimnames(data)[[1L]]),
    said = c(said, ufselect:::input_notes(data$input)))
}

unname_rows <- function(x) `rownames<-`(x, NULL)

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
