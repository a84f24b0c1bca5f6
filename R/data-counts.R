# What `counts`, `unit_rows` and the limits on features do to data: sparse stays sparse. What new
# rows need is kept in input$transform: the same document frequencies and the same mean total.

transform_data <- function(data, counts, unit_rows, min_samples, max_samples, arg) {
  counts <- check_choice(counts, "counts", c("none", "log", "tfidf"))
  unit_rows <- check_flag(unit_rows, "unit_rows")
  min_samples <- check_number(min_samples, "min_samples", 0)
  max_samples <- if (is.null(max_samples)) Inf else check_number(max_samples, "max_samples", 0)
  limited <- min_samples > 0 || max_samples < Inf
  if (counts == "none" && !unit_rows && !limited) return(data)
  if (!is.null(data$input$transform)) {
    refuse("counts", "`", arg, "` was transformed by ufs_data() before.")
  }
  if (data$kind == "source") {
    refuse(if (counts != "none") "counts" else "unit_rows", "Counts on disk cannot be ",
      "transformed: choose features and read them into a sparse matrix first.")
  }
  load_reader(data)
  if (counts != "none" || limited) check_counted(data, arg)
  if (limited) data <- limit_features(data, min_samples, max_samples, arg)
  if (counts == "none" && !unit_rows) return(data)
  data$input$transform <- learn_transform(data, counts, unit_rows)
  apply_transform(data, data$input$transform)
}

# The first column with a negative number is named; missing values are the business of `na`.
check_counted <- function(data, arg) {
  negative <- negative_columns(data)
  if (length(negative)) {
    ufs_abort("input", "`", arg, "` has negative numbers in ",
      some_columns(feature_names(data$features, data$p, FALSE)[negative]),
      ", so these are no counts.", argument = arg)
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

learn_transform <- function(data, counts, unit_rows) {
  out <- list(counts = counts, unit_rows = unit_rows, p = data$p)
  if (counts == "log") {
    totals <- row_totals(data)
    out$total <- mean(totals[totals > 0])
  }
  # As if one more sample had every feature: no weight is zero or infinite.
  if (counts == "tfidf") out$idf <- log((1 + data$n) / (1 + document_frequency(data))) + 1
  out
}

# Dense and sparse data alike, by the stored numbers.
apply_transform <- function(data, how) {
  dense <- data$kind == "dense"
  value <- if (dense) data$x else data$x@x
  row <- if (dense) rep.int(seq_len(data$n), data$p) else data$x@i + 1L
  if (how$counts == "log") {
    size <- row_totals(data) / how$total
    value[] <- log1p(value / size[row])
    # A sample without any count.
    value[!is.finite(value)] <- 0
  } else if (how$counts == "tfidf") {
    column <- if (dense) rep(seq_len(data$p), each = data$n) else stored_column(data$x)
    value[] <- value * how$idf[column]
  }
  if (how$unit_rows) {
    square <- if (dense) rowSums(value^2) else sum_by(value^2, row, data$n)
    value[] <- value / sqrt(pmax(square, .Machine$double.xmin))[row]
  }
  if (dense) data$x <- value else data$x@x <- value
  data
}

row_totals <- function(data) {
  if (data$kind == "dense") rowSums(data$x) else sum_by(data$x@x, data$x@i + 1L, data$n)
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
  words <- c(words[names(words) %in% how$counts], if (isTRUE(how$unit_rows)) "rows of unit length")
  c(if (isTRUE(input$limited > 0)) {
    paste("left out    ", count_words(input$limited, "feature"),
      "above zero in too few or too many samples")
  }, if (!is.null(how)) paste0("counts       ", paste(words, collapse = ", ")))
}
