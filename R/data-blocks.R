# Blocks of a source (R/data-source.R): where they are, what fails when they are read, and what is
# left of them in memory.

# Indices `new` of what the indices `old` name; NULL = all.
compose_index <- function(old, new) if (is.null(new)) old else if (is.null(old)) new else old[new]

# What fails in the reading of a file is an error of this package's.
from_source <- function(read) {
  tryCatch(read, error = function(e) {
    ufs_abort("input", "`x` cannot be read from where it lies: ", conditionMessage(e),
      argument = "x")
  })
}

# Ranges of lines, one per block.
source_blocks <- function(source, by = source$by) {
  lines <- if (by == "rows") source$n else source$p
  in_pieces(lines, if (by == source$by) source$step else
    max(1, floor(source$bytes / (8 * if (by == "rows") source$p else source$n))))
}

# Beside a large file, what was read before must not stay until R looks for garbage by itself: it
# does so only after several blocks. Blocks are young; to look at all that is old takes as long
# as reading some blocks, and is worth it once a pass.
collect_garbage <- function(source, bytes = Inf) {
  due <- bytes >= source$bytes / 2 && 8 * as.double(source$n) * source$p > 1e8
  if (due) {
    gc(verbose = FALSE, full = is.infinite(bytes))
    .Call(C_x_trim)
  }
  due
}
