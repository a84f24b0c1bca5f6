# Files that hold no zeros: TENxMatrix, H5ADMatrix, and whatever else is_sparse() says of a
# DelayedMatrix. Their blocks are read as dgCMatrix, so that a pass costs the entries.

# Memory of an entry while its block is read (places, values, and both in another order), over
# what a number of a dense block takes.
entry_share <- 8

# R is asked to collect its garbage after so many bytes of it.
garbage_most <- 2.5e8

# A source as it is read sparse: `fill`, the share of entries at three places (the largest), says
# how many lines make a block.
sparse_steps <- function(source) {
  across <- as.double(if (source$by == "rows") source$p else source$n)
  lines <- if (source$by == "rows") source$n else source$p
  some <- min(lines, max(source$lines_per_chunk, min(source$step, 50)))
  from <- unique(round(c(0, (lines - some) / 2, lines - some)))
  found <- vapply(from, function(at) length(read_lines_sparse(source, at + seq_len(some))@x), 0)
  source$sparse <- TRUE
  source$fill <- max(found) / (some * across)
  step <- source$step / max(entry_share * source$fill, 1e-3)
  chunk <- source$lines_per_chunk
  if (step > chunk) step <- chunk * floor(step / chunk)
  source$step <- min(max(source$step, step), lines)
  source
}

# Rows i and columns j (NULL: all) as a dgCMatrix.
read_sparse_part <- function(source, i = NULL, j = NULL) {
  for (package in setdiff(c("Matrix", source$packages), loadedNamespaces())) loadNamespace(package)
  divide <- if (is.null(i)) source$row_divide else source$row_divide[i]
  i <- compose_index(source$rows, i)
  j <- compose_index(source$columns, j)
  block <- from_source(switch(source$kind,
    delayed = if (is.null(source$file)) sparse_part(source$object, i, j) else
      ranges_part(source$file, i, j),
    bound = sparse_bound(source$object, i, j)
  ))
  if (!is.null(divide)) block@x <- block@x / divide[block@i + 1L]
  block
}

# No line may be asked for twice.
sparse_part <- function(object, i, j) {
  asked <- lapply(list(i, j), function(at) if (!is.null(at)) as.integer(unique(at)))
  block <- methods::as(sparse_generic("extract_sparse_array")(object, asked), "dgCMatrix")
  if (anyDuplicated(i)) block <- block[match(i, asked[[1L]]), , drop = FALSE]
  if (anyDuplicated(j)) block <- block[, match(j, asked[[2L]]), drop = FALSE]
  block
}

sparse_bound <- function(object, i, j) {
  ord <- if (is.null(j)) object$ord else object$ord[j]
  q <- object$base$p
  asked <- sort(ord[ord <= q])
  beside <- ord[ord > q] - q
  base <- read_sparse_part(object$base, i, if (length(asked) < q) asked)
  beside <- if (is.null(i)) object$beside[, beside, drop = FALSE] else
    object$beside[i, beside, drop = FALSE]
  at <- match(ord, asked)
  at[ord > q] <- length(asked) + seq_len(ncol(beside))
  cbind(base, beside)[, at, drop = FALSE]
}

read_lines_sparse <- function(source, lines) {
  if (source$by == "rows") read_sparse_part(source, lines) else read_sparse_part(source, j = lines)
}

sparse_operator <- function(x) sparse_entries(x@Dim[1L], x@i, x@p, x@x)

sparse_entries <- function(n, i, start, value) {
  p <- length(start) - 1L
  structure(list(kind = "sparse", n = n, p = p, user_p = p, i = i, start = start, value = value,
    column = seq_len(p), shift = NULL, divide = NULL), class = "ufs_x")
}

# As the solvers see a block of `lines`: an operator.
sparse_block <- function(source, lines, by, ready) {
  kept <- by == "columns" && !is.null(ready)
  out <- sparse_operator(read_lines_sparse(source, if (kept) ready$keep[lines] else lines))
  if (is.null(ready)) return(out)
  at <- if (by == "columns") lines else seq_along(ready$keep)
  if (by == "rows") out$column <- as.integer(ready$keep)
  out$p <- length(at)
  out[c("shift", "divide")] <- list(ready$shift[at], ready$divide[at])
  out
}

# Columns j of a source that is read by rows, or rows i of one read by columns (NULL: all), as a
# dgCMatrix: one pass. NULL if there are more than `most` entries.
gather_sparse <- function(source, across = NULL, most = .Machine$integer.max) {
  by_rows <- source$by == "rows"
  # In an environment, so that a block that is removed from it is free.
  parts <- new.env()
  total <- garbage <- 0
  for (lines in source_blocks(source)) {
    watch_says(reads_words(lines, source, source$by))
    part <- read_lines_sparse(source, lines)
    if (!is.null(across)) part <- if (by_rows) part[, across, drop = FALSE] else
      part[across, , drop = FALSE]
    total <- total + length(part@x)
    if (total > most) return(NULL)
    parts[[paste(length(parts) + 1L)]] <- list(rows = part@Dim[1L], start = part@p, i = part@i,
      x = part@x)
    garbage <- garbage + 8 * entry_share * length(part@x)
    if (garbage > garbage_most && collect_garbage(source, source$bytes)) garbage <- 0
  }
  size <- c(source$n, source$p)
  if (!is.null(across)) size[if (by_rows) 2L else 1L] <- length(across)
  out <- join_parts(parts, by_rows)
  methods::new("dgCMatrix", i = out$i, p = out$start, x = out$x, Dim = as.integer(size))
}

# A block goes when its entries are in their places; memory that nothing was written to yet is
# none, so that all takes little more than the entries.
join_parts <- function(parts, by_rows) {
  blocks <- paste(seq_len(length(parts)))
  counts <- lapply(blocks, function(k) diff(parts[[k]]$start))
  start <- c(0L, cumsum(if (by_rows) Reduce(`+`, counts) else unlist(counts)))
  room <- .Call(C_x_room, start)
  before <- 0L
  freed <- 0
  for (k in blocks) {
    part <- parts[[k]]
    # A block of columns fills its own columns only.
    if (!by_rows) room$at <- start[before + seq_len(length(part$start) - 1L)]
    .Call(C_x_place, room, part, if (by_rows) before else 0L)
    before <- before + if (by_rows) part$rows else length(room$at)
    freed <- freed + 12 * length(part$x)
    rm(list = k, envir = parts)
    if (freed > garbage_most) {
      part <- NULL
      gc(verbose = FALSE)
      .Call(C_x_trim)
      freed <- 0
    }
  }
  list(i = room$i, x = room$x, start = start)
}

# A sparse file whose entries take at most a quarter of max_bytes() is read once, and is a sparse
# matrix from then on; NULL if they take more.
hold_source <- function(source) {
  most <- min(max_bytes() / 48, .Machine$integer.max)
  entries <- source$fill * source$n * source$p
  if (entries > most) return(NULL)
  if (12 * entries > 1e8) {
    ufs_inform("held", "`x` is read into memory, as a sparse matrix of about ",
      format_bytes(12 * entries), ". Give `block_bytes` to have it read by blocks.")
  }
  # Larger blocks take less time for each entry, and are still small beside all entries.
  source$step <- min(4 * source$step, if (source$by == "rows") source$n else source$p)
  out <- gather_sparse(source, most = most)
  collect_garbage(source)
  out
}
