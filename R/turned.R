# A file that is stored by rows has no cheap columns, nor one stored by columns cheap rows: each
# read of some passes over all of it. Where more than one such read comes, the file is passed over
# once and its numbers are written, block by block, to a temporary file in which a block's lines
# across (columns of blocks of rows, rows of blocks of columns) lie one after the other.

# list(path, by, n, p, lines = those of each block), or NULL where there is no room: above
# getOption("ufselect.max_bytes"), or on the disk.
turn_source <- function(source) {
  bytes <- 8 * as.double(source$n) * source$p
  if (bytes > max_bytes()) {
    return(NULL)
  }
  if (bytes > 1e8) {
    ufs_inform("turned", "`x` is read the other way than its file is stored: a copy of ",
      format_bytes(bytes), " is written to ", tempdir(), " for the time of the fit.")
    # The copies of operators that nobody holds any more go first.
    gc()
  }
  path <- tempfile("ufselect-turned-", fileext = ".bin")
  done <- FALSE
  file <- file(path, "wb")
  on.exit({
    close(file)
    if (!done) unlink(path)
  })
  blocks <- source_blocks(source)
  for (lines in blocks) {
    block <- if (source$by == "rows") read_source(source, i = lines) else
      t(read_source(source, j = lines))
    if (!write_numbers(block, file)) {
      return(NULL)
    }
  }
  flush(file)
  done <- isTRUE(file.size(path) == bytes)
  if (done) list(path = path, by = source$by, n = source$n, p = source$p, lines = lengths(blocks))
}

# A write takes less than 2^31 bytes. FALSE if the disk is full.
write_numbers <- function(block, file) {
  width <- max(1, floor(1e8 / nrow(block)))
  for (from in seq(1, ncol(block), by = width)) {
    part <- block
    if (width < ncol(block)) {
      part <- block[, seq.int(from, min(from + width - 1, ncol(block))), drop = FALSE]
    }
    fine <- tryCatch({
      writeBin(as.vector(part), file)
      TRUE
    }, warning = function(w) FALSE, error = function(e) FALSE)
    if (!fine) {
      return(FALSE)
    }
  }
  TRUE
}

# Lines `index` across, whole: n x length(index) of a source read by rows, length(index) x p of
# one read by columns.
read_turned <- function(turned, index) {
  by_rows <- turned$by == "rows"
  across <- as.double(if (by_rows) turned$p else turned$n)
  out <- if (by_rows) matrix(0, turned$n, length(index)) else matrix(0, length(index), turned$p)
  file <- file(turned$path, "rb")
  on.exit(close(file))
  # Neighbours are read together.
  first <- which(c(TRUE, diff(index) != 1))
  last <- c(first[-1L] - 1L, length(index))
  before <- 0
  for (lines in turned$lines) {
    part <- matrix(0, lines, length(index))
    for (run in seq_along(first)) {
      at <- seq.int(first[run], last[run])
      seek(file, 8 * (before * across + (index[first[run]] - 1) * lines))
      part[, at] <- readBin(file, "double", lines * length(at))
    }
    to <- before + seq_len(lines)
    if (by_rows) out[to, ] <- part else out[, to] <- t(part)
    before <- before + lines
  }
  out
}
