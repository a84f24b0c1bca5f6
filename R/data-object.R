# `names`: those of samples and features, or NULL.
new_data <- function(kind, x, names, origin = "matrix") {
  size <- if (kind == "source") c(x$n, x$p) else dim(x)
  structure(list_of(kind, x, n = size[1L], p = size[2L], features = names[[2L]],
    samples = names[[1L]], input = list_of(kind, origin, assay = NULL,
      dropped_features = character(), dropped_samples = character(), filled = 0)),
    class = "ufs_data")
}

# The data as they go to workers: the values themselves, or for a file its name.
to_travel <- function(data) {
  if (data$kind == "source") data$x <- source_by_name(data$x)
  data
}

# Dense columns of the user's numbers.
data_columns <- function(data, j) {
  load_reader(data)
  switch(data$kind,
    dense = data$x[, j, drop = FALSE],
    sparse = as.matrix(data$x[, j, drop = FALSE]),
    source = read_source(data$x, j = j)
  )
}

# Positions for names, indices or a logical vector.
resolve_index <- function(index, size, names, arg) {
  if (is.null(index)) return(NULL)
  out <- if (is.character(index)) {
    if (is.null(names)) refuse(arg, "`", arg, "` are names, but `x` has none.")
    refuse_unclear(index, names[shared_names(names)], arg)
    match(index, names)
  } else if (is.logical(index) && length(index) == size) {
    which(index)
  } else if (is.numeric(index) && !anyNA(index) && all(index == round(index)) &&
      (all(index > 0) || all(index < 0))) {
    seq_len(size)[index]
  }
  if (is.null(out) || anyNA(out) || anyDuplicated(out)) {
    what <- if (is.character(index) && anyNA(out)) {
      lost <- index[is.na(out)]
      # Arguments whose names are those of rows.
      paste0(": not in `x`: ", if (arg %in% c("samples", "i", constraint_names("rows",
        "places"))) "row" else "column",
        if (length(lost) > 1L) "s", " ", some_names(lost))
    }
    refuse(arg, "`", arg, "` must be distinct names, indices or a logical vector of length ", size,
      what, ".")
  }
  out
}

# `shared`: names that are not those of one column or row alone.
refuse_unclear <- function(index, shared, arg, advice = "give indices") {
  twice <- if (is.character(index)) intersect(index, shared)
  if (length(twice)) {
    refuse(arg, "`", arg, "`: the name ", some_names(unique(twice)), " occurs more than once in ",
      "`x`; ", advice, ".")
  }
}

# A process that has read the data from a file may not have loaded the package of their class.
load_reader <- function(data) if (data$kind == "sparse") loadNamespace("Matrix")

subset_data <- function(data, samples = NULL, features = NULL) {
  if (is.null(samples) && is.null(features)) return(data)
  load_reader(data)
  rows <- if (is.null(samples)) seq_len(data$n) else samples
  columns <- if (is.null(features)) seq_len(data$p) else features
  data$x <- if (data$kind == "source") subset_source(data$x, samples, features) else
    if (is.null(features)) data$x[rows, , drop = FALSE] else
    if (is.null(samples)) data$x[, columns, drop = FALSE] else data$x[rows, columns, drop = FALSE]
  data$samples <- data$samples[rows]
  data$features <- data$features[columns]
  data$offset <- data$offset[columns]
  data$n <- length(rows)
  data$p <- length(columns)
  if (!is.null(samples)) {
    data["row_held"] <- list(subset_constraints(data$row_held, samples, "rows"))
  }
  if (is.null(features)) return(data)
  fill <- data$input$new_rows
  if (!is.null(fill)) {
    for (name in c("value", "center", "scale")) fill[[name]] <- fill[[name]][columns]
    if (!is.null(fill$donors)) fill$donors <- fill$donors[, columns, drop = FALSE]
    fill$nominal <- which(columns %in% fill$nominal)
    data$input$new_rows <- fill
  }
  data$input$filled_share <- data$input$filled_share[columns]
  data$input$tables <- subset_tables(data$input$tables, columns)
  data$input$coding <- data$input$coding[columns]
  if (!is.null(data$levels)) data$levels <- subset_levels(data$levels, columns)
  data["held"] <- list(subset_constraints(data$held, columns))
  data
}

#' @export
dim.ufs_data <- function(x) c(x$n, x$p)

#' @export
dimnames.ufs_data <- function(x) {
  if (is.null(x$samples) && is.null(x$features)) NULL else list(x$samples, x$features)
}

#' @export
`[.ufs_data` <- function(x, i, j, ..., drop = FALSE) {
  subset_data(x, if (missing(i)) NULL else repeated_index(i, x$n, x$samples, "i"),
    if (missing(j)) NULL else repeated_index(j, x$p, x$features, "j"))
}

# As resolve_index(), but bootstrap samples may have an index twice.
repeated_index <- function(index, size, names, arg) {
  if (is.numeric(index) && !anyNA(index) && all(index >= 1 & index <= size)) as.integer(index) else
    resolve_index(index, size, names, arg)
}

#' @export
as.matrix.ufs_data <- function(x, ...) `dimnames<-`(dense_data(x, "x", quiet = TRUE), dimnames(x))

# A plain double matrix.
dense_data <- function(data, arg, quiet = FALSE) {
  load_reader(data)
  if (data$kind == "dense") return(data$x)
  bytes <- 8 * as.double(data$n) * data$p
  check_bytes(bytes, paste0("`", arg, "` as a dense matrix"), dense_advice)
  if (!quiet) {
    ufs_inform("dense", "`", arg, "` is turned into a dense matrix of ", format_bytes(bytes), ".")
  }
  if (data$kind == "sparse") as.matrix(data$x) else
    `dimnames<-`(read_source(data$x), dimnames(data))
}

feature_names <- function(names, p, warn) {
  if (is.null(names)) return(sprintf("V%d", seq_len(p)))
  empty <- is.na(names) | names == ""
  names[empty] <- paste0("V", which(empty))
  if (anyDuplicated(names)) {
    if (warn) {
      ufs_warn("names", "Some column names occur more than once (",
        some_columns(unique(names[duplicated(names)])), "); they were made unique.")
    }
    names <- make.unique(names)
  }
  names
}

# The parts of a table of the means of replicates that belong to these columns.
subset_levels <- function(levels, columns) {
  for (name in c("share", "mean", "sd")) levels[[name]] <- levels[[name]][columns]
  levels$constant <- which(columns %in% levels$constant)
  levels
}

# At most so many rows and columns, drawn at random, as dense data.
drawn_part <- function(x, most) {
  rows <- if (x$n > most[1L]) sort(sample.int(x$n, most[1L]))
  columns <- if (x$p > most[2L]) sort(sample.int(x$p, most[2L]))
  dense_part(x, rows_that_vary(x, rows, columns), columns)
}

# The rows drawn, and for each column (NULL: all) that is constant in them, but not in x, the first
# row with another value: rare flags would be lost. Data on disk are not searched for these.
rows_that_vary <- function(x, rows, columns) {
  if (is.null(rows) || x$kind == "source") return(rows)
  part <- dense_part(x, rows, columns)$x
  flat <- which(colSums(part != rep(part[1L, ], each = nrow(part))) == 0)
  if (!is.null(columns)) flat <- columns[flat]
  more <- lapply(unname(flat), function(j) {
    value <- data_columns(x, j)
    utils::head(which(value != value[rows[1L]]), 1L)
  })
  sort(unique(c(rows, unlist(more))))
}

# `most` rows, spread over all and always the same ones, where there are more than `from`.
# list(x, size), size NULL: all. `keep`: the columns that are not constant.
some_rows <- function(x, keep, most, from = most) {
  from <- most_rows(from)
  if (x$n <= from) return(list(x = x))
  rows <- rows_that_vary(x, spread(x$n, min(most, from)), keep)
  list(x = subset_data(x, samples = rows), size = length(rows))
}

# Some rows and columns (NULL: all) as dense data.
dense_part <- function(x, rows, columns) {
  part <- subset_data(x, rows, columns)
  out <- new_data("dense", dense_data(part, "x", quiet = TRUE), list(NULL, part$features))
  out$input[c("tables", "coding")] <- part$input[c("tables", "coding")]
  out$levels <- part$levels
  out
}

# ---- names, of which features and samples may have one more than once ----------------------------

# Names that are empty or not unique.
shared_names <- function(names) is.na(names) | names == "" | names %in% names[duplicated(names)]

# A fit has made the names of features unique: the places of those that were not, with their names
# in the data.
repeated_names <- function(names) {
  at <- which(shared_names(names))
  stats::setNames(at, names[at])
}

# For each of `wanted` its place among `names`, NA where it is not there. `shared`: the names of the
# other side that stand for several things. Such a name, here or there, points to none of them: that
# is an error which names it, and no guess.
places_by_name <- function(wanted, names, shared, arg, what) {
  at <- match(wanted, names)
  unclear <- (!is.na(at) & shared_names(names)[at]) | wanted %in% shared
  if (any(unclear)) refuse_shared(wanted[unclear], arg, what)
  at
}

refuse_shared <- function(names, arg, what) {
  names <- unique(names)
  names[is.na(names)] <- ""
  refuse(arg, "Several ", what, "s have the name ", some_names(names), ", so those of `", arg,
    "` and of the fit cannot be matched by name. Give them unique names before the fit, or give ",
    "the data of the fit with all ", what, "s in their order, which are matched by position.")
}
