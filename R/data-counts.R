# Applies `counts`, `rows` and the limits on features to data: sparse stays sparse. All that new
# rows need is kept in input$transform: the same document frequencies and the same mean total; of
# tables of which some are counts also `of`, the factor of these over the columns, NA for others.

transform_data <- function(data, how, min_samples, max_samples, arg) {
  min_samples <- check_number(min_samples, "min_samples", 0)
  max_samples <- if (is.null(max_samples)) Inf else check_number(max_samples, "max_samples", 0)
  limited <- min_samples > 0 || max_samples < Inf
  changed <- how$counts != "none" || how$rows != "none"
  if (!changed && !limited) return(data)
  if (!is.null(data$input$transform)) {
    refuse(if (how$counts != "none") "counts" else "rows", "`", arg,
      "` was transformed by ufs_data() before.")
  }
  tables <- !is.null(data$input$tables)
  # Counts by default are those of each table by itself.
  whole <- how$counts != "none" && is.null(how$of)
  if (tables && (how$rows != "none" || whole)) {
    what <- if (whole) "counts" else "rows"
    refuse(what, "`", what, "` = \"", how[[what]], "\" is for the rows of one table, and `", arg,
      "` has several: transform the tables before they are joined.")
  }
  counted <- whole || limited
  if (data$kind == "source" && counted) {
    refuse("counts", "Counts on disk cannot be transformed: choose features and read them into a ",
      "sparse matrix first.")
  }
  if (data$kind == "sparse" && how$rows %in% c("center", "snv")) {
    refuse("rows", "rows = \"", how$rows, "\" would fill the zeros of a sparse matrix; rows = ",
      "\"unit\" keeps them. If `", arg, "` has few zeros, give as.matrix(", arg, ").")
  }
  if (how$rows != "none") check_one_matrix(data, how$rows, arg)
  if (changed && length(data$input$coding)) {
    refuse(if (how$rows != "none") "rows" else "counts", "The rows of `", arg, "` are not ",
      "transformed: ", some_columns(data$features[lengths(data$input$coding) > 0L]),
      " hold levels of factors, which are no measurements. Leave them out by `features`.")
  }
  load_reader(data)
  data$input$codes <- missing_codes(data)
  if (counted) check_counted(data, arg)
  if (limited) data <- limit_features(data, min_samples, max_samples, arg)
  if (!changed) return(data)
  counts <- how$counts
  # Limits may have left out columns since.
  if (!is.null(how$of)) how$of <- factor(data$input$tables$of, levels(how$of))
  out <- c(how, p = data$p)
  if (counts == "log") {
    out$total <- vapply(counted_columns(how), function(at) {
      totals <- row_totals(data, at)
      mean(totals[totals > 0])
    }, 0)
  }
  # As if one more sample had every feature: no weight is zero or infinite.
  if (counts == "tfidf") out$idf <- log((1 + data$n) / (1 + document_frequency(data))) + 1
  data$input$transform <- out
  data <- apply_transform(data, data$input$transform, arg)
  if (tables) weigh_tables(data) else data
}

# Treatments of rows are for the points of one spectrum: an outcome beside it would be taken for
# one more point.
check_one_matrix <- function(data, rows, arg) {
  out <- columns_beside(data)
  if (!length(out)) return(invisible())
  refuse("rows", "rows = \"", rows, "\" would run over ", some_columns(data$features[out]), " of `",
    arg, "`, which ", if (length(out) == 1L) "is" else "are", " no part of its matrix column '",
    data$input$widest$name, "'. Leave ", if (length(out) == 1L) "it" else "them", " out by ",
    without_columns(out), ", or give the matrix column alone.")
}

# The columns of a data frame that stand beside its widest matrix column.
columns_beside <- function(data) {
  widest <- data$input$widest
  if (is.null(widest)) return(integer())
  out <- which(!data$features %in% widest$columns)
  if (length(out) == data$p) integer() else out
}

# The argument that leaves these columns out, in words.
without_columns <- function(out) {
  left <- if (length(out) == 1L) out else if (all(diff(out) == 1L)) {
    paste0("(", out[1L], ":", max(out), ")")
  } else if (length(out) <= 20L) paste0("c(", paste(out, collapse = ", "), ")")
  if (is.null(left)) "`features`" else paste0("features = -", left)
}

# The first column with a negative number is named; missing values are the business of `na`.
# `of`: as in a transformation of tables, of which some are no counts.
check_counted <- function(data, arg, of = NULL) {
  negative <- negative_columns(data)
  if (!is.null(of)) negative <- negative[!is.na(of[negative])]
  if (length(negative)) {
    refuse_data(arg, "`", arg, "` has negative numbers in ",
      some_columns(feature_names(data$features, data$p, FALSE)[negative]),
      ", so these are no counts.")
  }
}

negative_columns <- function(data) {
  if (data$kind == "dense") which(colSums(data$x < 0, na.rm = TRUE) > 0) else
    unique(stored_column(data$x)[which(data$x@x < 0)])
}

# In how many samples each feature is not zero.
document_frequency <- function(data) {
  if (data$kind == "dense") unname(colSums(data$x != 0, na.rm = TRUE)) else
    tabulate(stored_column(data$x)[is.na(data$x@x) | data$x@x != 0], data$p)
}

limit_features <- function(data, min_samples, max_samples, arg) {
  # Below 1 a share of the samples, from 1 on their number.
  number <- function(limit) if (limit < 1) limit * data$n else limit
  frequency <- document_frequency(data)
  out <- which(frequency < number(min_samples) | frequency > number(max_samples))
  if (length(out) == data$p) {
    refuse("min_samples", "No feature of `", arg, "` is above zero in at least ",
      format(number(min_samples)), " and at most ", format(number(max_samples)), " samples.")
  }
  data$input$limited <- length(out)
  if (length(out)) keep_features(data, setdiff(seq_len(data$p), out)) else data
}

# Works on the stored numbers, of dense and sparse data alike.
apply_transform <- function(data, how, arg = "x") {
  if (data$kind == "source") return(change_rows_of_source(data, how$rows))
  dense <- data$kind == "dense"
  value <- if (dense) data$x else data$x@x
  # A missing value would make its whole row missing: found before, while its column can be named.
  if ((how$rows != "none" || how$counts == "log") && !all(is.finite(range(value, 0)))) {
    bad <- if (dense) which(colSums(!is.finite(data$x)) > 0) else
      unique(stored_column(data$x)[which(!is.finite(value))])
    refuse_gaps(data, bad, feature_names(data$features, data$p, FALSE), arg)
  }
  if (how$counts == "log") data <- log_counts(data, how)
  value <- if (dense) data$x else data$x@x
  row <- if (dense) rep.int(seq_len(data$n), data$p) else data$x@i + 1L
  if (how$counts == "tfidf") {
    column <- if (dense) rep(seq_len(data$p), each = data$n) else stored_column(data$x)
    value[] <- value * how$idf[column]
  }
  shift <- if (how$rows %in% c("center", "snv")) rowMeans(value)
  if (!is.null(shift)) value <- value - shift
  if (how$rows %in% c("snv", "unit")) {
    square <- if (dense) rowSums(value^2) else sum_by(value^2, row, data$n)
    size <- row_size(square, how$rows, data$p, shift)
    value[] <- value / (if (dense) size else size[row])
  }
  if (dense) data$x <- value else data$x@x <- value
  data
}

# The columns that are logged together: all (NULL), or those of each table of counts.
counted_columns <- function(how) {
  if (is.null(how$of)) list(NULL) else split(seq_along(how$of), how$of)
}

# The treatment of counts where these are all of x, "none" where they are one table of several.
counts_of_all <- function(how) if (anyNA(how$of)) "none" else how$counts

log_counts <- function(data, how) {
  columns <- counted_columns(how)
  dense <- data$kind == "dense"
  for (l in seq_along(columns)) {
    at <- columns[[l]]
    size <- row_totals(data, at) / how$total[[l]]
    if (dense) {
      if (is.null(at)) data$x <- log_ratio(data$x, size) else
        data$x[, at] <- log_ratio(data$x[, at, drop = FALSE], size)
    } else {
      entry <- if (is.null(at)) seq_along(data$x@x) else which(stored_column(data$x) %in% at)
      data$x@x[entry] <- log_ratio(data$x@x[entry], size[data$x@i[entry] + 1L])
    }
  }
  data
}

# Zero for a sample without any count.
log_ratio <- function(value, size) {
  out <- log1p(value / size)
  replace(out, !is.finite(out), 0)
}

# Divisors of the rows: their standard deviation or their length; 1 where that is zero but for
# rounding.
row_size <- function(square, rows, p, shift) {
  size <- sqrt(if (rows == "snv") square / (p - 1) else square)
  if (any(size == Inf)) refuse_data("x", "`x` has rows of values too large to be squared.")
  ifelse(size > p * .Machine$double.eps * abs(if (is.null(shift)) 0 else shift), size, 1)
}

# One pass over the file finds the mean and the size of every row; blocks are changed as they are
# read (read_source()).
change_rows_of_source <- function(data, rows) {
  source <- data$x
  by <- source$by
  shift <- NULL
  if (rows != "unit") {
    # Zeros do not stay.
    source$sparse <- data$x$sparse <- FALSE
    shift <- drop(source_pass(source, by, NULL, piece_row_sums,
      if (by == "columns") sum_in_place, shift = NULL, square = FALSE)) / data$p
  }
  square <- drop(source_pass(source, by, NULL, piece_row_sums,
    if (by == "columns") sum_in_place, shift = shift, square = TRUE))
  data$x$row_shift <- shift
  data$x$row_divide <- if (rows != "center") row_size(square, rows, data$p, shift)
  data
}

# Sums over a block of the rows' numbers, or of their squares after the shift.
piece_row_sums <- function(block, lines, shift, square) {
  if (!is.null(shift)) block <- block - if (nrow(block) == length(shift)) shift else shift[lines]
  cbind(if (square) .Call(C_x_forms, block, NULL) else rowSums(block))
}

# `at`: of some columns only.
row_totals <- function(data, at = NULL) {
  x <- if (is.null(at)) data$x else data$x[, at, drop = FALSE]
  if (data$kind == "dense") rowSums(x) else sum_by(x@x, x@i + 1L, data$n)
}

sum_by <- function(value, group, size) {
  out <- rowsum(value, group, reorder = FALSE)
  replace(numeric(size), as.integer(rownames(out)), out)
}

# For print(), in words.
transform_words <- function(input) {
  how <- input$transform
  words <- c(log = "log(1 + count / size of the sample)",
    tfidf = "weighted by inverse document frequency")
  words <- words[names(words) %in% how$counts]
  rows <- c(center = "each minus its mean",
    snv = "each minus its mean, over its standard deviation",
    unit = "of unit length")
  c(if (isTRUE(input$limited > 0)) {
    paste("left out    ", count_words(input$limited, "feature"),
      "above zero in too few or too many samples")
  }, if (length(words)) paste0("counts       ",
    if (!is.null(how$of)) paste0(paste(levels(how$of), collapse = ", "), ": "), words,
    if (isTRUE(how$default)) "; there were raw counts only"),
  if (!is.null(how) && how$rows != "none") paste0("rows         ", rows[[how$rows]]))
}
