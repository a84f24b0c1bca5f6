# A compressed sparse matrix in an HDF5 file (TENxMatrix, H5ADMatrix), to which nothing was done but
# subsets and transposition. The entries of neighbouring lines are neighbours in the file and are
# read as one range, where extract_sparse_array() looks up the place of each.

# Up to so many entries between two lines are read and dropped, which costs less than another call.
range_gap <- 1e5

# list(path, data, indices: the names of both, start: where each line begins, size: of a line, by,
# lines, across: of the file's, in the order of x; NULL: all), or NULL if x is no such thing.
ranges_of <- function(x) {
  if (DelayedArray::nseed(x) != 1L || !DelayedArray::contentIsPristine(x)) return(NULL)
  seed <- DelayedArray::seed(x)
  if (!methods::is(seed, "H5SparseMatrixSeed") || !is.character(seed@filepath) ||
      !is.null(seed@subdata) || !requireNamespace("rhdf5", quietly = TRUE)) return(NULL)
  side <- if (methods::is(seed, "CSR_H5SparseMatrixSeed")) 1L else 2L
  name <- paste0(seed@group, c("/data", "/indices", "/indptr"))
  start <- range_numbers(seed@filepath, name[3L])
  if (length(start) != dim(seed)[side] + 1 || is.unsorted(start)) return(NULL)
  part <- DelayedArray::netSubsetAndAperm(x)
  of <- attr(part, "dimmap")
  if (is.null(of)) of <- 1:2
  if (!setequal(of, 1:2)) return(NULL)
  list(path = seed@filepath, data = name[1L], indices = name[2L], start = start,
    size = dim(seed)[3L - side], by = c("rows", "columns")[match(side, of)],
    lines = part[[side]], across = part[[3L - side]])
}

# The numbers of a data set, or those from `from` on.
range_numbers <- function(path, name, from = NULL, count = NULL) {
  found <- rhdf5::h5read(path, name, start = from, count = count, bit64conversion = "double")
  dim(found) <- NULL
  found
}

# Rows i and columns j of x (NULL: all) as a dgCMatrix.
ranges_part <- function(file, i, j) {
  by_rows <- file$by == "rows"
  lines <- compose_index(file$lines, if (by_rows) i else j)
  across <- compose_index(file$across, if (by_rows) j else i)
  asked <- if (is.null(lines)) seq_len(length(file$start) - 1L) else sort(unique(lines))
  found <- lines_other_way(read_ranges(file, asked), file$size)
  size <- c(length(asked), file$size)
  if (!by_rows) {
    found <- lines_other_way(list(first = utils::head(found$start, -1L),
      count = diff(found$start), index = found$i, value = found$x), length(asked))
    size <- rev(size)
  }
  out <- methods::new("dgCMatrix", i = found$i, p = found$start, x = found$x, Dim = size)
  if (!is.null(across)) out <- if (by_rows) out[, across, drop = FALSE] else
    out[across, , drop = FALSE]
  if (identical(as.integer(lines), asked) || is.null(lines)) return(out)
  at <- match(lines, asked)
  if (by_rows) out[at, , drop = FALSE] else out[, at, drop = FALSE]
}

# list(first, count, index, value): entries of the lines, that of line l from first[l] (from 0) on.
read_ranges <- function(file, lines) {
  begin <- file$start[lines]
  end <- file$start[lines + 1L]
  fresh <- if (length(lines)) c(TRUE, begin[-1L] - end[-length(end)] > range_gap)
  from <- begin[fresh]
  count <- end[c(fresh[-1L], TRUE)] - from
  read <- function(name) {
    parts <- lapply(which(count > 0), function(k) {
      range_numbers(file$path, name, from[k] + 1, count[k])
    })
    if (length(parts) == 1L) parts[[1L]] else unlist(parts)
  }
  before <- c(0, cumsum(count))[cumsum(fresh)]
  index <- read(file$indices)
  if (is.double(index) && any(index != round(index), na.rm = TRUE)) refuse_damaged()
  list(first = as.integer(begin - from[cumsum(fresh)] + before), count = as.integer(end - begin),
    index = as.integer(index), value = as.double(read(file$data)))
}

# Entries by lines put in order by what they are across: list(start, i, x).
lines_other_way <- function(lines, size) {
  out <- .Call(C_x_across, lines, as.integer(size))
  if (is.null(out)) refuse_damaged()
  out
}

refuse_damaged <- function() {
  refuse_data("x", "The file of `x` is damaged: the place of an entry is outside the matrix, ",
    "or there twice.")
}
