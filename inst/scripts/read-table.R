# Reading a user's file for the demo: whatever separator, decimal mark or byte order mark it has,
# and saying in words what is wrong with it.

# list(x = numeric matrix, y = factor or NULL, said = lines to print). `label` is the name of a
# column or NULL.
read_table <- function(file, label = NULL) {
  if (!requireNamespace("data.table", quietly = TRUE)) {
    complain("Reading a file needs the package data.table: install.packages(\"data.table\").")
  }
  if (!file.exists(file)) complain("There is no file '", file, "' (DATA=).")
  if (dir.exists(file)) complain("'", file, "' is a folder; DATA= must name a file.")
  if (file.size(file) == 0) complain("The file '", file, "' is empty.")
  table <- read_any(file)
  decimal <- "."
  text <- vapply(table, is.character, NA)
  comma <- vapply(table[text], function(column) {
    column <- column[!is.na(column) & nzchar(column)]
    length(column) > 0L && all(grepl("^ *[-+]?[0-9]*(,[0-9]+)?([eE][-+]?[0-9]+)? *$", column)) &&
      any(grepl(",", column, fixed = TRUE))
  }, NA)
  if (any(comma)) {
    decimal <- ","
    for (name in which(text)[comma]) {
      table[[name]] <- as.numeric(sub(",", ".", trimws(table[[name]]), fixed = TRUE))
    }
  }
  if (nrow(table) < 1L || ncol(table) < 1L) {
    complain("The file '", file, "' has a header and no rows, or no columns.")
  }
  said <- paste0("Read ", basename(file), ": ", nrow(table), " rows, ", ncol(table), " columns",
    if (decimal == ",") ", decimal comma", ".")

  y <- NULL
  if (!is.null(label)) {
    at <- match(label, names(table))
    if (is.na(at)) {
      complain("The file has no column '", label, "' (LABEL=); it has ", some(names(table)), ".")
    }
    if (anyNA(table[[at]])) complain("The label column '", label, "' has missing values.")
    y <- factor(table[[at]])
    table <- table[-at]
    said <- c(said, paste0("Labels: column '", label, "', ", nlevels(y), " classes; not used for choosing."))
  }
  names_of <- row_names_column(table)
  rows <- NULL
  if (!is.null(names_of)) {
    rows <- as.character(table[[names_of]])
    said <- c(said, paste0("Names of the rows: column '", names(table)[names_of], "'."))
    table <- table[-names_of]
  }
  flags <- vapply(table, is.logical, NA)
  empty <- vapply(table, function(column) all(is.na(column)), NA)
  if (any(empty)) {
    complain("Columns without any value: ", some(names(table)[empty]), ". Leave them out.")
  }
  if (any(flags)) said <- c(said, paste0("TRUE and FALSE are taken as 1 and 0 in ", some(names(table)[flags]), "."))
  bad <- !vapply(table, function(column) is.numeric(column) || is.logical(column), NA)
  if (any(bad)) {
    complain("Columns that are not numeric: ", some(names(table)[bad]), ". If one of them holds the ",
      "classes, name it: LABEL=", names(table)[bad][1L], ". Leave the others out.")
  }
  if (!ncol(table)) complain("No numeric column is left.")
  missing <- vapply(table, anyNA, NA)
  if (any(missing)) {
    complain("Missing values in ", some(names(table)[missing]), ". Fill them in or leave out these ",
      "columns or their rows first (in R: the argument `na` of ufs_data()).")
  }
  x <- as.matrix(table) + 0
  rownames(x) <- rows
  list(x = x, y = y, said = said)
}

read_any <- function(file) {
  said <- NULL
  table <- tryCatch(withCallingHandlers(
    data.table::fread(file, header = TRUE, data.table = FALSE, check.names = FALSE,
      na.strings = c("", "NA"), integer64 = "numeric", encoding = "UTF-8", strip.white = TRUE),
    warning = function(w) {
      said <<- c(said, conditionMessage(w))
      invokeRestart("muffleWarning")
    }),
    error = function(e) complain("The file '", file, "' cannot be read as a table: ", conditionMessage(e)))
  # Short rows stop fread() early, with a warning only: half a table is no table.
  stopped <- grep("Stopped early|Discarded single-line footer", said, value = TRUE)
  if (length(stopped)) complain("The file '", file, "' is not a regular table: ", stopped[1L])
  names(table) <- sub("^\ufeff", "", names(table))
  unnamed <- is.na(names(table)) | !nzchar(names(table))
  names(table)[unnamed] <- paste0("V", which(unnamed))
  table
}

# A first column of distinct texts, or a first column without a name that counts the rows.
row_names_column <- function(table) {
  first <- table[[1L]]
  if (ncol(table) < 2L || anyNA(first) || anyDuplicated(first)) {
    return(NULL)
  }
  counts <- is.numeric(first) && names(table)[1L] %in% c("V1", "", "X") &&
    all(first == seq_along(first))
  if (is.character(first) || counts) 1L
}

some <- function(names, most = 5L) {
  more <- length(names) - most
  paste0(paste0("'", utils::head(names, most), "'", collapse = ", "),
    if (more > 0L) paste(" and", more, "more"))
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
