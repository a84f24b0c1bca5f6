# A file that is stored by rows has no cheap columns, nor one stored by columns cheap rows: each
# read of some passes over all of it. Where more than one such read comes, the file is passed over
# once and its numbers are written, block by block, to a temporary file in which a block's lines
# across (columns of blocks of rows, rows of blocks of columns) lie one after the other.

# list(path, by, n, p, lines = those of each block), or NULL where there is no room: above
# getOption("ufselect.max_bytes"), or on the disk.
turn_source <- function(source) {
  bytes <- 8 * as.double(source$n) * source$p
  if (bytes > max_bytes()) return(NULL)
  if (bytes > 1e8) {
    ufs_inform("turned", "`x` is read the other way than its file is stored: a copy of ",
      format_bytes(bytes), " is written to ", tempdir(), " for the time of the fit.")
  }
  # The copies of operators that nobody holds any more go first.
  collect_garbage(source)
  path <- tempfile("ufselect-turned-", fileext = ".bin")
  done <- FALSE
  file <- file(path, "wb")
  on.exit({
    close(file)
    if (!done) unlink(path)
  })
  blocks <- source_blocks(source)
  for (lines in blocks) {
    collect_garbage(source, source$bytes)
    block <- read_block(source, lines)
    if (source$by == "columns") block <- t(block)
    dim(block) <- NULL
    if (!write_numbers(block, file)) return(NULL)
  }
  block <- NULL
  collect_garbage(source)
  flush(file)
  done <- isTRUE(file.size(path) == bytes)
  if (done) list(path = path, by = source$by, n = source$n, p = source$p, lines = lengths(blocks))
}

# A write takes less than 2^31 bytes. FALSE if the disk is full.
write_numbers <- function(block, file) {
  most <- 1e8
  for (at in in_pieces(length(block), most)) {
    fine <- tryCatch({
      writeBin(if (length(block) > most) block[at] else as.vector(block), file)
      TRUE
    }, warning = function(w) FALSE, error = function(e) FALSE)
    if (!fine) return(FALSE)
  }
  TRUE
}

# Lines `index` across, whole: n x length(index) of a source read by rows, length(index) x p of
# one read by columns; or that part of them which lies in the block of `lines`.
read_turned <- function(turned, index, lines = NULL) {
  # Neighbours are read together.
  turn <- order(index)
  first <- which(c(TRUE, diff(index[turn]) != 1))
  last <- c(first[-1L] - 1L, length(index))
  across <- as.double(if (turned$by == "rows") turned$p else turned$n)
  block <- function(before, lines) {
    read <- .Call(C_file_numbers, turned$path, before * across + (index[turn[first]] - 1) * lines,
      as.double(lines * (last - first + 1)))
    if (is.null(read)) {
      ufs_abort("input", "The temporary copy of `x`, '", turned$path, "', cannot be read any more.",
        argument = "x")
    }
    dim(read) <- c(lines, length(index))
    if (is.unsorted(turn)) read[, order(turn), drop = FALSE] else read
  }
  if (!is.null(lines)) {
    part <- block(lines[1L] - 1, length(lines))
    return(if (turned$by == "rows") part else t(part))
  }
  out <- matrix(0, if (turned$by == "rows") turned$n else length(index),
    if (turned$by == "rows") length(index) else turned$p)
  before <- 0
  for (lines in turned$lines) {
    to <- before + seq_len(lines)
    part <- block(before, lines)
    if (turned$by == "rows") out[to, ] <- part else out[, to] <- t(part)
    before <- before + lines
  }
  out
}
