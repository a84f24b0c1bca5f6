# Numbers of other classes and factors as plain numbers, and advice about data that are not read.

# Classes of numbers that stand for themselves, with or without a unit. Factors do not.
number_classes <- c("Date", "POSIXct", "difftime", "units", "AsIs", "ITime", "pillar_num",
  "Duration", "ts", "table",
  "haven_labelled", "labelled", "noquote", "zoo", "xts", "mts", "otu_table")

# The unit of the numbers of a column of times; "" for other columns.
time_unit <- function(col) {
  if (inherits(col, "Date")) return("days since 1970")
  if (inherits(col, "POSIXt")) return("seconds since 1970")
  if (inherits(col, "difftime")) attr(col, "units") else ""
}

# A vector or matrix of a class whose values are numbers, without the class: integer64 (of package
# bit64, which need not be there), difftime, units, labelled numbers, I(); a matrix of any class.
# Everything else as it is. Only base R touches it: a class may have its own `[`, `!=` and dim().
as_number <- function(x, name = NULL) {
  if (inherits(x, "integer64")) return(from_integer64(x, name))
  size <- attr(x, "dim")
  if (!is.object(x) || !typeof(x) %in% c("double", "integer", "logical") || is.factor(x) ||
      !(inherits(x, number_classes) || length(size) == 2L)) {
    return(x)
  }
  names <- attr(x, "dimnames")
  range <- attr(x, "na_range")
  codes <- attr(x, "na_values")
  plain <- if (isS4(x)) x@.Data else unclass(x)
  attributes(plain) <- NULL
  # Codes of a questionnaire that say why an answer is missing.
  if (length(codes)) plain[plain %in% codes] <- NA
  if (length(range) == 2L) plain[which(plain >= range[1L] & plain <= range[2L])] <- NA
  if (length(size) == 2L) matrix(plain, size[1L], size[2L], dimnames = if (is.list(names))
    unname(names)) else plain
}

# `value`, numbers that took the place of those of `was`, in its class: with its unit or index.
in_class_of <- function(value, was) {
  if (!is.object(was) || !is.double(was) || inherits(was, "integer64")) return(value)
  attributes(value) <- attributes(was)
  if (isS4(was)) asS4(value) else value
}

# Columns of text: those that were asked for, and those of numbers beside which something else
# stands.
refuse_text <- function(x, wanted, arg = "x") {
  number <- paste0("^( *[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)? *| *[-+]?Inf *|TRUE|",
    "FALSE)\\z")
  for (name in names(x)[vapply(x, is.character, NA)]) {
    own <- x[[name]]
    bad <- which(!grepl(number, own, perl = TRUE, useBytes = TRUE) & !is.na(own))
    if (length(bad) > sum(!is.na(own)) / 2 || all(is.na(own))) next
    lead <- paste0("Column '", name, "' of `", arg, "` is ")
    if (length(bad)) {
      refuse_data(arg, lead, "not numeric: '", own[bad[1L]], "' in row ",
        format(bad[1L], big.mark = ",", scientific = FALSE), " is no number. Mend it, or leave ",
        "the column out.")
    }
    refuse_data(arg, lead, "text of numbers. Make it numbers, or leave the column out.")
  }
  asked <- intersect(names(x), wanted)
  if (length(asked)) refuse("columns", "Not numeric: ", some_columns(asked), ".")
}

digits_lost <- function(what, names) {
  ufs_warn("digits", "`x` has whole ", what, " beyond 2^53", if (!is.null(names)) " in ",
    if (!is.null(names)) some_columns(names), ": their last digits are lost in double precision. ",
    "Subtract a number before, or leave identifiers out.")
}

# Whole numbers of 64 bits, two of 32 in the place of a double; the least one is NA. Doubles have 53
# bits: of larger numbers the last digits may be lost, which takes a warning, `name` in it.
from_integer64 <- function(x, name = NULL) {
  half <- readBin(writeBin(as.vector(unclass(x)), raw(), endian = "little"), "integer",
    2L * length(x), endian = "little")
  low <- half[c(TRUE, FALSE)]
  high <- half[c(FALSE, TRUE)]
  # The integer that is NA in R is -2^31.
  low[is.na(low)] <- -2^31
  low <- low %% 2^32
  out <- high * 2^32 + low
  if (any(out - high * 2^32 != low, na.rm = TRUE)) digits_lost("numbers (integer64)", name)
  if (length(dim(x)) == 2L) matrix(out, nrow(x), ncol(x), dimnames = dimnames(x)) else out
}

plain_numbers <- function(x) {
  times <- vapply(x, inherits, NA, "POSIXlt")
  x[times] <- lapply(x[times], as.POSIXct)
  own <- which(vapply(x, function(col) is.object(col) && is.null(dim(col)), NA))
  for (j in own) x[[j]] <- as_number(x[[j]], names(x)[j])
  x
}

# A data frame whose columns that are matrices or data frames became their columns: of `a` without
# names a.1, a.2, ..., with names a[first], a[second], ...
flat_table <- function(x) {
  wide <- vapply(x, function(col) length(dim(col)) == 2L, NA)
  if (!any(wide)) return(x)
  parts <- lapply(seq_along(x), function(j) {
    if (!wide[j]) return(stats::setNames(list(x[[j]]), names(x)[j]))
    inner <- as_number(x[[j]], names(x)[j])
    columns <- lapply(seq_len(ncol(inner)), function(l) {
      if (is.data.frame(inner)) inner[[l]] else as.vector(inner[, l])
    })
    stats::setNames(columns, flat_names(names(x)[j], inner))
  })
  # The columns of the lists `parts` as a data frame with the rows of x.
  structure(do.call(c, parts), class = "data.frame",
    row.names = if (.row_names_info(x) > 0L) attr(x, "row.names") else .set_row_names(nrow(x)))
}

flat_names <- function(name, inner) {
  names <- colnames(inner)
  if (is.null(names)) paste0(name, ".", seq_len(ncol(inner))) else paste0(name, "[", names, "]")
}

# ---- factors ------------------------------------------------------------------------------------

# How the factors of a table are coded: for each column list(levels, nominal), NULL for one that is
# no factor; NULL without any. An ordered factor is a number, the rank of its level, and so is
# every factor unless they are `nominal`.
coding_of <- function(x, nominal) {
  coding <- lapply(x, function(col) {
    if (is.factor(col)) list(levels = levels(col), nominal = nominal && !is.ordered(col))
  })
  if (length(unlist(coding))) coding
}

# A flat table with the numbers of the levels in the place of factors; a missing level is a missing
# value.
coded_table <- function(x, coding, arg) {
  x <- flat_table(x)
  for (j in which(lengths(coding) > 0L)) {
    value <- x[[j]]
    if (!is.factor(value) && !is.character(value)) next
    code <- match(as.character(value), coding[[j]]$levels)
    new <- unique(as.character(value)[is.na(code) & !is.na(value)])
    if (length(new)) {
      refuse_data(arg, "`", arg, "` has levels in ", some_columns(names(x)[j]),
        " that the data of the fit do not have: ", some_names(new), ".")
    }
    x[[j]] <- as.double(code)
  }
  x
}

# The places of columns that are factors without an order.
nominal_columns <- function(coding) which(vapply(coding, function(how) isTRUE(how$nominal), NA))

# Advice on an x that ufs_data() does not read, in a sentence; NULL if there is nothing to
# say.
reading_advice <- function(x) {
  if (is.character(x) && length(x) == 1L && !is.na(x)) {
    ending <- tolower(sub(".*[.]", "", sub("[.](gz|bz2|xz)$", "", x)))
    reader <- switch(ending, h5 = , hdf5 = , hdf = "HDF5Array::HDF5Array(file, name)",
      h5ad = "HDF5Array::H5ADMatrix(file)", csv = , tsv = , txt = , tab = "data.table::fread(file)",
      rds = "readRDS(file)", parquet = "arrow::read_parquet(file)",
      feather = "arrow::read_feather(file)", mtx = "Matrix::readMM(file)",
      xlsx = , xls = "readxl::read_excel(file)", "utils::read.table(file)")
    return(paste0(" A file is not read here: give what ", reader, " makes of it",
      if (ending %in% c("h5", "hdf5", "hdf")) ", which stays on disk", "."))
  }
  kinds <- list(
    tbl_sql = paste("dplyr::collect(x), or where it is too long for that, ufs_sketch(x, m) for m",
      "of its rows, or ufs_moments(x) for methods of columns"),
    tbl_lazy = "dplyr::collect(x)",
    arrow_dplyr_query = "dplyr::collect(x)", Dataset = "dplyr::collect(x)",
    DBIConnection = "DBI::dbReadTable(x, name), the table in it",
    ArrowTabular = "as.data.frame(x)", RecordBatch = "as.data.frame(x)",
    polars_data_frame = "as.data.frame(x)", RPolarsDataFrame = "as.data.frame(x)",
    TermDocumentMatrix = paste0("Matrix::sparseMatrix(x$j, x$i, x = x$v, dims = c(x$ncol, ",
      "x$nrow), dimnames = rev(x$dimnames)), with documents in rows"),
    simple_triplet_matrix = paste0("Matrix::sparseMatrix(x$i, x$j, x = x$v, dims = c(x$nrow, ",
      "x$ncol), dimnames = x$dimnames)"),
    mpfrMatrix = "Rmpfr::asNumeric(x)", mpfr = "Rmpfr::asNumeric(x)",
    bigz = "gmp::asNumeric(x)", bigq = "gmp::asNumeric(x)",
    SpatRaster = "terra::as.data.frame(x), a row for each cell with values",
    Raster = "raster::as.data.frame(x)",
    ExpressionSet = "t(Biobase::exprs(x))", dist = "the data that the distances are of",
    list = "as.data.frame(x)", ufs = "the data of the fit",
    formula = "the columns, in place of y ~ . all but y: df[names(df) != \"y\"]")
  for (class in names(kinds)) {
    if (inherits(x, class) || class == "list" && is.list(x) && !is.object(x)) {
      return(paste0(" Give ", kinds[[class]], "."))
    }
  }
  if (is.numeric(x) && is.null(dim(x))) " A single feature is cbind(x)." else
    if (length(dim(x)) > 2L) " An array needs two dimensions: samples and features."
}
