# Matrices outside R's memory: DelayedMatrix (HDF5, TileDB, ...) and big.matrix. Everything is
# one pass over blocks of whole rows or whole columns, each centred and scaled on the spot. What
# holds no zeros is read without them: data-source-sparse.R.
#
# A source is list(object, kind, n, p, by, step, rows, columns, BPPARAM): `by` says whether
# blocks of rows or of columns follow the chunks of the file, `step` how many make a block and
# `lines_per_chunk` how many a chunk;
# rows and columns are the user's own indices (NULL = all), `packages` what it takes to read it,
# row_shift and row_divide what is taken from every row and what it is divided by (NULL: nothing),
# `chunked` whether lines across the blocks cost as much as all of it.

delayed_source <- function(x, block_bytes, BPPARAM) {
  sparse <- sparse_generic("is_sparse")(x)
  # DelayedArray may still read a class or file that is another than it was.
  file <- if (sparse) on_error(ranges_of(x), function(e) NULL)
  chunk <- if (is.null(file)) DelayedArray::chunkdim(x) else
    if (file$by == "rows") c(1L, ncol(x)) else c(nrow(x), 1L)
  source <- new_source(x, "delayed", dim(x), if (is.null(chunk)) c(nrow(x), 1L) else chunk,
    block_bytes, BPPARAM)
  source$file <- file
  source$chunked <- !is.null(chunk)
  # A process that gets the object in a file must load what reads its seeds.
  source$packages <- unique(unlist(DelayedArray::seedApply(x, function(seed) {
    attr(class(seed), "package")
  })))
  if (sparse) {
    source$chunked <- FALSE
    source <- from_source(sparse_steps(source))
  }
  source
}

# Blocks of rows or of columns, whichever holds whole chunks within the bytes; the side with
# the smaller chunks if neither does. Half of the bytes are for the copy that reading makes.
new_source <- function(object, kind, size, chunk, block_bytes, BPPARAM) {
  block_bytes <- block_bytes / 2
  size <- as.double(size)
  chunk <- pmin(as.double(chunk), size)
  side <- which.min(chunk * rev(size))
  lines <- max(1, floor(block_bytes / (8 * rev(size)[side])))
  lines_per_chunk <- chunk[side]
  if (lines > lines_per_chunk) lines <- lines_per_chunk * floor(lines / lines_per_chunk)
  list_of(object, kind, n = as.integer(size[1L]), p = as.integer(size[2L]),
    by = c("rows", "columns")[side], step = lines, lines_per_chunk, rows = NULL, columns = NULL,
    bytes = block_bytes, BPPARAM)
}

# The part of a source given by samples and features (indices of what is there now).
subset_source <- function(source, rows = NULL, columns = NULL) {
  source$rows <- compose_index(source$rows, rows)
  source$columns <- compose_index(source$columns, columns)
  if (!is.null(rows)) {
    source$n <- length(rows)
    for (name in c("row_shift", "row_divide")) source[[name]] <- source[[name]][rows]
  }
  if (!is.null(columns)) source$p <- length(columns)
  source
}

# A source that another process can read: by the name of a file or of shared memory.
source_by_name <- function(source) {
  source["BPPARAM"] <- list(NULL)
  if (source$kind %in% c("bound", "planned")) {
    source$object$base <- source_by_name(source$object$base)
  }
  if (source$kind == "big" && inherits(source$object, "big.matrix")) {
    source$object <- bigmemory::describe(source$object)
  }
  source
}

new_count <- function() list2env(list(passes = 0), parent = emptyenv())

new_store <- function() {
  store <- list2env(list(reads = 0), parent = emptyenv())
  reg.finalizer(store, drop_spilled, onexit = TRUE)
  store
}

drop_spilled <- function(store) {
  if (is.list(store$spilled)) unlink(store$spilled$path)
  # Who still asks for lines across gets a new copy.
  store$spilled <- NULL
}

# A dense piece; i, j index the source, NULL = all.
read_source <- function(source, i = NULL, j = NULL) {
  if (!is.null(source$spilled)) return(read_spilled(source$spilled, if (is.null(i)) j else i))
  # Lines across the blocks of a sparse source, which are gathered in a pass.
  across <- if (source$by == "rows") is.null(i) && !is.null(j) else is.null(j) && !is.null(i)
  if (isTRUE(source$sparse) && across) {
    return(`dimnames<-`(as.matrix(gather_sparse(source, if (is.null(i)) j else i)), NULL))
  }
  all_rows <- is.null(i)
  shift <- if (all_rows) source$row_shift else source$row_shift[i]
  divide <- if (all_rows) source$row_divide else source$row_divide[i]
  for (package in setdiff(source$packages, loadedNamespaces())) loadNamespace(package)
  i <- compose_index(source$rows, i)
  j <- compose_index(source$columns, j)
  piece <- from_source(switch(source$kind,
    delayed = DelayedArray::extract_array(source$object, list(i, j)),
    big = {
      big <- source$object
      if (!inherits(big, "big.matrix")) big <- bigmemory::attach.big.matrix(big)
      big[if (is.null(i)) seq_len(nrow(big)) else i, if (is.null(j)) seq_len(ncol(big)) else j,
        drop = FALSE]
    },
    bound = read_bound(source$object, i, j),
    planned = {
      base <- source$object$base
      plain <- base$kind == "sparse" && is.null(base$rows) && is.null(base$row_shift) &&
        is.null(base$row_divide)
      # Whole columns of a sparse matrix are made dense where the plan is followed, one at a time.
      x <- if (!plain || !is.null(i) || is.null(j)) read_source(base, i, j) else
        columns_of_sparse(base$object, compose_index(base$columns, j))
      planned(x, source$object$plan, i, j)
    },
    sparse = read_sparse(source$object, i, j)
  ))
  if (!is.numeric(piece) && !is.logical(piece)) {
    refuse_data("x", "`x` must be numeric, not of type ", typeof(piece), ".")
  }
  # Either replacement would copy the block.
  if (!is.null(dimnames(piece))) dimnames(piece) <- NULL
  if (!is.double(piece)) storage.mode(piece) <- "double"
  if (!is.null(shift)) piece <- piece - shift
  if (!is.null(divide)) piece <- piece / divide
  piece
}

# Whole lines along the blocks.
read_block <- function(source, lines) {
  if (source$by == "rows") read_source(source, i = lines) else read_source(source, j = lines)
}

# One pass: fun(block, lines, ...) for every block, its values combined in the order of the
# blocks (by `combine`, two at a time; NULL: the rows of all, one below the other), so that the
# result does not depend on the number of workers. `ready` is
# NULL, or what turns a block into that of X: list(keep, shift, divide). With BPPARAM the
# blocks of a wave are done by the workers; a wave's values must fit into the block's bytes.
# No other variable holds the first value, so sum_in_place() may add the others to it.
source_pass <- function(source, by, ready, fun, combine, ..., value_bytes = 8) {
  blocks <- source_blocks(source, by)
  bare <- source
  bare$BPPARAM <- NULL
  joined <- is.null(combine)
  total <- if (joined) list()
  add <- function(values) {
    if (joined) total <<- c(total, values) else for (value in values) {
      total <<- if (is.null(total)) value else combine(total, value)
    }
  }
  across <- as.double(if (by == "columns") source$n else if (is.null(ready)) source$p else
    length(ready$keep))
  if (is.null(source$BPPARAM)) {
    garbage <- 0
    for (lines in blocks) {
      garbage <- garbage + 8 * length(lines) * across
      if (collect_garbage(source, garbage)) garbage <- 0
      watch_says(reads_words(lines, source, by))
      add(list(source_piece(lines, bare, by, ready, fun, ...)))
    }
  } else {
    check_installed("BiocParallel", "for `BPPARAM`")
    wave <- max(BiocParallel::bpnworkers(source$BPPARAM), floor(4 * source$bytes / value_bytes))
    for (at in in_pieces(length(blocks), wave)) {
      add(on_error(with_libraries(BiocParallel::bplapply(blocks[at], source_piece, source = bare,
        by = by, ready = ready, fun = fun, ..., BPPARAM = source$BPPARAM)), refuse_worker))
    }
  }
  if (joined) do.call(rbind, total) else total
}

# Workers of BiocParallel that nobody has started yet serve all passes of a fit: those that are
# started, for bpstop(), or NULL. New sessions find the packages that this one finds.
start_workers <- function(x) {
  workers <- x$x$BPPARAM
  if (is.null(workers) || !requireNamespace("BiocParallel", quietly = TRUE) ||
      BiocParallel::bpisup(workers)) return(NULL)
  with_libraries(BiocParallel::bpstart(workers))
}

# An error that arose in a block is left as it is. Any other means that a worker has died, of which
# BiocParallel says no more than that a connection cannot be read or written.
refuse_worker <- function(e) {
  if (inherits(e, c("ufs_error", "bplist_error"))) stop(e)
  ufs_abort("worker", "A worker of `BPPARAM` was lost while the data were read (",
    conditionMessage(e), "). Start the fit again, with fewer workers if memory was short.",
    argument = "BPPARAM")
}

# bpstop() says goodbye to every worker and ends at one that is dead: then the connections are
# closed, at which the others end.
stop_workers <- function(workers) {
  if (is.null(workers)) return(invisible())
  on_error(BiocParallel::bpstop(workers), function(e) {
    nodes <- BiocParallel::bpbackend(workers)
    for (node in unclass(nodes)) on_error(close(node$con), function(e) NULL)
    on_error(BiocParallel::`bpbackend<-`(workers, nodes[integer()]), function(e) NULL)
  })
}

# total + value, in place: saves a copy for each block.
sum_in_place <- function(total, value) .Call(C_x_add, total, value)

source_piece <- function(lines, source, by, ready, fun, ...) {
  if (isTRUE(source$sparse) && by == source$by) {
    return(fun(sparse_block(source, lines, by, ready), lines, ...))
  }
  block <- if (by == "columns") {
    read_source(source, j = if (is.null(ready)) lines else ready$keep[lines])
  } else if (!is.null(source$parts)) {
    read_spilled(source$parts, ready$keep, lines)
  } else read_lines(source, lines, ready$keep)
  if (!is.null(ready)) {
    at <- if (by == "columns") lines else seq_along(ready$keep)
    block <- .Call(C_x_standardise, block, ready$shift[at], ready$divide[at])
  }
  fun(block, lines, ...)
}

# Rows i, read whole, of which the columns `keep` are used, in this order (NULL: all).
read_lines <- function(source, i, keep) {
  block <- read_source(source, i = i)
  # Taking the columns copies the block.
  if (is.null(keep) || identical(as.integer(keep), seq_len(ncol(block)))) block else
    block[, keep, drop = FALSE]
}

# The moments of the columns of a source, in one pass.
source_moments <- function(source) {
  beside <- source$by == "columns"
  source_pass(source, source$by, NULL, moments_of, if (beside) beside_moments else join_moments,
    offset = beside, value_bytes = 28 * if (beside) source$step else source$p)
}

moments_of <- function(block, lines, offset) {
  found <- .Call(C_moments, block)
  # The union of blocks has it from the others.
  found$ss <- NULL
  if (offset) found$bad <- lines[found$bad]
  found
}

# Moments of two disjoint sets of columns.
beside_moments <- function(a, b) {
  all <- setdiff(names(a), "size")
  replace(a, all, Map(c, a[all], b[all]))
}

# Moments of the union of two sets of rows. The larger of the two powers of two is good for both.
join_moments <- function(a, b) {
  exponent <- pmax(a$exponent, b$exponent)
  # Two factors: the square of one may be below the least number there is.
  rescaled <- function(m) {
    by <- 2^(m$exponent - exponent)
    list(mean = m$mean * by, css = m$css * by * by)
  }
  one <- rescaled(a)
  two <- rescaled(b)
  step <- two$mean - one$mean
  both <- union_of_rows(a$size, b$size, step, step^2)
  list(bad = union(a$bad, b$bad), low = pmin(a$low, b$low), high = pmax(a$high, b$high),
    exponent = exponent, mean = one$mean + both$mean, css = one$css + two$css + both$css,
    size = both$n)
}

# A source with columns in memory beside it, in the order `ord`: read as any other.
bound_source <- function(base, beside, ord) {
  out <- base
  base["BPPARAM"] <- list(NULL)
  out[c("object", "kind", "p", "rows", "columns")] <- list(list_of(base, beside, ord), "bound",
    length(ord), NULL, NULL)
  out$row_shift <- out$row_divide <- NULL
  # Lines of rows are longer now.
  if (out$by == "rows") out$step <- max(1, floor(base$step * base$p / out$p))
  out
}

read_bound <- function(object, i, j) {
  ord <- if (is.null(j)) object$ord else object$ord[j]
  q <- object$base$p
  real <- which(ord <= q)
  out <- matrix(0, if (is.null(i)) object$base$n else length(i), length(ord))
  if (length(real)) {
    # Sorted, as files are read.
    asked <- sort(ord[real])
    whole <- identical(as.integer(asked), seq_len(q))
    out[, real] <- read_source(object$base, i, if (!whole) asked)[, match(ord[real], asked)]
  }
  if (length(real) < length(ord)) {
    beside <- ord[ord > q] - q
    out[, ord > q] <- as.matrix(if (is.null(i)) object$beside[, beside] else
      object$beside[i, beside])
  }
  out
}

# Lines `index` across, whole: n x length(index) of a source read by rows, length(index) x p of
# one read by columns; or that part of them which lies in the block of `lines`.
read_spilled <- function(spilled, index, lines = NULL) {
  # Neighbours are read together.
  ord <- order(index)
  first <- which(c(TRUE, diff(index[ord]) != 1))
  last <- c(first[-1L] - 1L, length(index))
  across <- as.double(if (spilled$by == "rows") spilled$p else spilled$n)
  block <- function(before, lines) {
    read <- .Call(C_file_numbers, spilled$path, before * across + (index[ord[first]] - 1) * lines,
      as.double(lines * (last - first + 1)))
    if (is.null(read)) {
      refuse_data("x", "The temporary copy of `x`, '", spilled$path, "', cannot be read any ",
        "more.")
    }
    dim(read) <- c(lines, length(index))
    if (is.unsorted(ord)) read[, order(ord), drop = FALSE] else read
  }
  if (!is.null(lines)) {
    part <- block(lines[1L] - 1, length(lines))
    return(if (spilled$by == "rows") part else t(part))
  }
  out <- matrix(0, if (spilled$by == "rows") spilled$n else length(index),
    if (spilled$by == "rows") length(index) else spilled$p)
  before <- 0
  for (lines in spilled$lines) {
    to <- before + seq_len(lines)
    part <- block(before, lines)
    if (spilled$by == "rows") out[to, ] <- part else out[, to] <- t(part)
    before <- before + lines
  }
  out
}

# ---- data that are read through a plan: R/data-weights.R ----------------------------------------

read_sparse <- function(x, i, j) {
  if (!is.null(i)) return(as.matrix(if (is.null(j)) x[i, , drop = FALSE] else
    x[i, j, drop = FALSE]))
  if (is.null(j)) return(as.matrix(x))
  x_columns(columns_of_sparse(x, j), seq_along(j))
}

# x[, j], which takes a hundred times as long for a few columns.
columns_of_sparse <- function(x, j) {
  count <- x@p[j + 1L] - x@p[j]
  at <- sequence(count, x@p[j] + 1L)
  sparse_entries(x@Dim[1L], x@i[at], c(0L, cumsum(count)), x@x[at])
}

# (x - mean of its block) * factor of its block, to the power, + add, times root: for the rows i and
# columns j (NULL: all) of the plan, that x holds.
planned <- function(x, plan, i, j) {
  if (!is.null(i)) plan[c("block", "root")] <- list(plan$block[i], plan$root[i])
  if (!is.null(j)) {
    plan[c("mean", "factor", "add")] <- list(plan$mean[, j, drop = FALSE],
      plan$factor[, j, drop = FALSE], plan$add[j])
  }
  x <- .Call(C_x_planned, x, plan)
  if (!is.null(dimnames(x))) dimnames(x) <- NULL
  x
}
