# The blocks of a source (data-source.R), and what is done around reading them.

# Indices `new` of what the indices `old` name; NULL = all.
compose_index <- function(old, new) if (is.null(new)) old else if (is.null(old)) new else old[new]

# is_sparse() and extract_sparse_array(), which were in DelayedArray until Bioconductor 3.17.
sparse_generic <- function(name) {
  loadNamespace("DelayedArray")
  for (package in intersect(c("SparseArray", "S4Arrays", "DelayedArray"), loadedNamespaces())) {
    if (name %in% getNamespaceExports(package)) return(getExportedValue(package, name))
  }
}

# Ranges of lines, one per block.
source_blocks <- function(source, by = source$by) {
  in_pieces(if (by == "rows") source$n else source$p, if (by == source$by) source$step else
    max(1, floor(source$bytes / (8 * if (by == "rows") source$p else source$n))))
}

# Turns a failure in the reading of a file into an error of this package.
from_source <- function(read) {
  on_error(read, function(e) {
    # Said already.
    if (inherits(e, "ufs_error")) stop(e)
    # S4 puts this before the words of others.
    words <- "error in evaluating the argument .[^']*. in selecting a method for function .[^']*.: "
    said <- sub("[.]?\\s*$", "", gsub(words, "", conditionMessage(e)))
    refuse_data("x", "`x` cannot be read from where it lies: the file is damaged, gone, or not ",
      "what it was (", said, ").")
  })
}

# With a large file, blocks read before must not stay in memory until R collects garbage by itself,
# which it does only after several blocks. Blocks are recent, so a quick collection finds them; a
# full one takes as long as reading some blocks, and is made once a pass.
collect_garbage <- function(source, bytes = Inf) {
  due <- bytes >= source$bytes / 2 && 8 * as.double(source$n) * source$p > 1e8
  if (due) {
    gc(verbose = FALSE, full = is.infinite(bytes))
    .Call(C_x_trim)
  }
  due
}

reads_words <- function(lines, source, by) function(step) {
  paste0("reading x, ", by, " ", lines[1L], " to ", lines[length(lines)], " of ",
    if (by == "rows") source$n else source$p)
}
