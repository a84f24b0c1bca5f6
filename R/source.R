# Matrices that lie elsewhere: DelayedMatrix (HDF5, TileDB, ...) and big.matrix. Everything is
# one pass over blocks of whole rows or whole columns, each centred and scaled on the spot.
#
# A source is list(object, kind, n, p, by, step, rows, columns, BPPARAM): `by` says whether
# blocks of rows or of columns follow the chunks of the file, `step` how many make a block and
# `unit` how many a chunk;
# rows and columns are the user's own indices (NULL = all), `packages` what it takes to read it,
# `chunked` whether lines across the blocks cost as much as all of it (turned.R).

delayed_source <- function(x, block_bytes, BPPARAM) {
  check_installed("DelayedArray", "for DelayedMatrix input")
  chunk <- DelayedArray::chunkdim(x)
  source <- new_source(x, "delayed", dim(x), if (is.null(chunk)) c(nrow(x), 1L) else chunk,
    block_bytes, BPPARAM)
  source$chunked <- !is.null(chunk)
  # A process that gets the object in a file must load what reads its seeds.
  source$packages <- unique(unlist(DelayedArray::seedApply(x, function(seed) {
    attr(class(seed), "package")
  })))
  source
}

big_source <- function(x, block_bytes, BPPARAM) {
  check_installed("bigmemory", "for big.matrix input")
  object <- if (is.null(BPPARAM)) x else bigmemory::describe(x)
  # Stored by columns.
  new_source(object, "big", dim(x), c(nrow(x), 1L), block_bytes, BPPARAM)
}

# Blocks of rows or of columns, whichever holds whole chunks within the bytes; the side with
# the smaller chunks if neither does. Half of the bytes are for the copy that reading makes.
new_source <- function(object, kind, size, chunk, block_bytes, BPPARAM) {
  block_bytes <- block_bytes / 2
  size <- as.double(size)
  chunk <- pmin(as.double(chunk), size)
  slab <- 8 * c(rows = chunk[1L] * size[2L], columns = chunk[2L] * size[1L])
  by <- names(slab)[which.min(slab)]
  per_line <- 8 * if (by == "rows") size[2L] else size[1L]
  lines <- max(1, floor(block_bytes / per_line))
  unit <- if (by == "rows") chunk[1L] else chunk[2L]
  if (lines > unit) lines <- unit * floor(lines / unit)
  list(object = object, kind = kind, n = as.integer(size[1L]), p = as.integer(size[2L]),
    by = by, step = lines, unit = unit, rows = NULL, columns = NULL, bytes = block_bytes,
    BPPARAM = BPPARAM)
}

# The part of a source given by samples and features (indices of what is there now).
subset_source <- function(source, rows = NULL, columns = NULL) {
  take <- function(old, new, n) {
    if (is.null(new)) old else if (is.null(old)) new else old[new]
  }
  source$rows <- take(source$rows, rows, source$n)
  source$columns <- take(source$columns, columns, source$p)
  if (!is.null(rows)) source$n <- length(rows)
  if (!is.null(columns)) source$p <- length(columns)
  source
}

# A source that another process can read: by the name of a file or of shared memory.
source_by_name <- function(source) {
  source["BPPARAM"] <- list(NULL)
  if (source$kind == "bound") source$object$base <- source_by_name(source$object$base)
  if (source$kind == "big" && inherits(source$object, "big.matrix")) {
    source$object <- bigmemory::describe(source$object)
  }
  source
}

new_count <- function() {
  count <- new.env(parent = emptyenv())
  count$passes <- 0
  count
}

new_store <- function() {
  store <- new.env(parent = emptyenv())
  store$reads <- 0
  reg.finalizer(store, drop_turned, onexit = TRUE)
  store
}

# A fit is done with its operator.
close_source <- function(x) if (is_operator(x) && x$kind == "source") drop_turned(x$store)

drop_turned <- function(store) {
  if (is.list(store$turned)) unlink(store$turned$path)
  # Who still asks for lines across gets a new copy.
  store$turned <- NULL
}

# A dense piece; i, j index the source, NULL = all.
read_source <- function(source, i = NULL, j = NULL) {
  if (!is.null(source$turned)) {
    return(read_turned(source$turned, if (is.null(i)) j else i))
  }
  for (package in setdiff(source$packages, loadedNamespaces())) loadNamespace(package)
  pick <- function(own, index) if (is.null(own)) index else if (is.null(index)) own else own[index]
  i <- pick(source$rows, i)
  j <- pick(source$columns, j)
  piece <- from_source(switch(source$kind,
    delayed = DelayedArray::extract_array(source$object, list(i, j)),
    big = read_big(source$object, i, j),
    bound = read_bound(source$object, i, j)
  ))
  if (!is.numeric(piece) && !is.logical(piece)) {
    ufs_abort("input", "`x` must be numeric, not of type ", typeof(piece), ".", argument = "x")
  }
  # Either replacement would copy the block.
  if (!is.null(dimnames(piece))) dimnames(piece) <- NULL
  if (!is.double(piece)) storage.mode(piece) <- "double"
  piece
}

# What fails in the reading of a file is an error of this package's.
from_source <- function(read) {
  tryCatch(read, error = function(e) {
    ufs_abort("input", "`x` cannot be read from where it lies: ", conditionMessage(e),
      argument = "x")
  })
}

read_big <- function(object, i, j) {
  if (!inherits(object, "big.matrix")) object <- bigmemory::attach.big.matrix(object)
  if (is.null(i)) i <- seq_len(nrow(object))
  if (is.null(j)) j <- seq_len(ncol(object))
  object[i, j, drop = FALSE]
}

# Ranges of lines, one per block.
source_blocks <- function(source, by = source$by) {
  lines <- if (by == "rows") source$n else source$p
  step <- if (by == source$by) source$step else {
    max(1, floor(source$bytes / (8 * if (by == "rows") source$p else source$n)))
  }
  starts <- seq(1, lines, by = step)
  lapply(starts, function(from) seq.int(from, min(from + step - 1, lines)))
}

# One pass: fun(block, lines, ...) for every block, its values combined in the order of the
# blocks (by `combine`, two at a time; NULL: the rows of all, one below the other), so that the
# result does not depend on the number of workers. `ready` is
# NULL, or what turns a block into that of X: list(keep, shift, divide). With BPPARAM the
# blocks of a wave are done by the workers; a wave's values must fit into the block's bytes.
# The first value is nobody else's: sum_in_place() may add the others to it.
source_pass <- function(source, by, ready, fun, combine, ..., value_bytes = 8) {
  blocks <- source_blocks(source, by)
  bare <- source
  bare$BPPARAM <- NULL
  total <- if (is.null(combine)) list()
  add <- function(values) {
    if (is.null(combine)) {
      total <<- c(total, values)
    } else {
      for (value in values) total <<- if (is.null(total)) value else combine(total, value)
    }
  }
  result <- function() if (is.null(combine)) do.call(rbind, total) else total
  across <- as.double(if (by == "columns") source$n else if (is.null(ready)) source$p else
    length(ready$keep))
  if (is.null(source$BPPARAM)) {
    garbage <- 0
    for (lines in blocks) {
      garbage <- garbage + 8 * length(lines) * across
      if (collect_garbage(source, garbage)) garbage <- 0
      add(list(source_piece(lines, bare, by, ready, fun, ...)))
    }
    return(result())
  }
  check_installed("BiocParallel", "for `BPPARAM`")
  wave <- max(BiocParallel::bpnworkers(source$BPPARAM), floor(4 * source$bytes / value_bytes))
  for (from in seq(1, length(blocks), by = wave)) {
    add(BiocParallel::bplapply(blocks[seq.int(from, min(from + wave - 1, length(blocks)))],
      source_piece, source = bare, by = by, ready = ready, fun = fun, ...,
      BPPARAM = source$BPPARAM))
  }
  result()
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

# A sum of many blocks' values takes no copy per block.
sum_in_place <- function(total, value) .Call(C_x_add, total, value)

source_piece <- function(lines, source, by, ready, fun, ...) {
  block <- if (by == "columns") {
    read_source(source, j = if (is.null(ready)) lines else ready$keep[lines])
  } else if (!is.null(source$parts)) {
    read_turned(source$parts, ready$keep, lines)
  } else {
    read_lines(source, lines, ready$keep)
  }
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

# The moments of the columns (src/prepare.h), in one pass, and what they say: list(bad, constant,
# unfit, mean, sd, norm).
source_moments <- function(source, center) {
  found <- if (source$by == "columns") {
    source_pass(source, "columns", NULL, moments_of, beside_moments, offset = TRUE,
      value_bytes = 28 * source$step)
  } else {
    source_pass(source, "rows", NULL, moments_of, join_moments, offset = FALSE,
      value_bytes = 28 * source$p)
  }
  c(list(bad = found$bad), .Call(C_judge, found, center))
}

moments_of <- function(block, lines, offset) {
  found <- .Call(C_moments, block)
  if (offset) found$bad <- lines[found$bad]
  found
}

# Of other columns.
beside_moments <- function(a, b) {
  all <- setdiff(names(a), "size")
  a[all] <- Map(c, a[all], b[all])
  a
}

# Of other rows: Chan, Golub and LeVeque's rule for the union of two samples. The larger of the two
# units holds both.
join_moments <- function(a, b) {
  size <- a$size + b$size
  exponent <- pmax(a$exponent, b$exponent)
  # Two factors: the square of one may be below the least number there is.
  in_unit <- function(m) {
    by <- 2^(m$exponent - exponent)
    list(mean = m$mean * by, css = m$css * by * by)
  }
  one <- in_unit(a)
  two <- in_unit(b)
  step <- two$mean - one$mean
  list(bad = union(a$bad, b$bad), top = pmax(a$top, b$top), exponent = exponent,
    mean = one$mean + step * (b$size / size),
    css = one$css + two$css + step^2 * (a$size / size * b$size), size = size)
}

# The operator of a source: functions for src/ffi_x.c. Operators made from one another share
# `count`, which counts the passes over the file, and, where they have the same rows, `store`: the
# turned copy (FALSE: there is no room for it) and how often lines across the blocks were read.
source_operator <- function(source, keep, shift, divide, count = new_count(), store = new_store()) {
  ready <- list(keep = keep, shift = shift, divide = divide)
  n <- source$n
  p <- length(keep)
  by <- source$by
  turn <- function() {
    if (!isTRUE(source$chunked) || !is.null(store$turned)) {
      return(invisible())
    }
    turned <- turn_source(source)
    store$turned <- if (is.null(turned)) FALSE else turned
    count$passes <- count$passes + 1
  }
  # What lines across the blocks are read from: the turned copy, made where several reads are to
  # come or the second one does, or NULL: the file itself.
  across <- function(reads = 1) {
    if (reads > 1 || store$reads > 0) turn()
    store$reads <- store$reads + 1
    if (is.list(store$turned)) {
      return(store$turned)
    }
    count$passes <- count$passes + if (isTRUE(source$chunked)) reads else 1
    NULL
  }
  # A part of the lines that lie together is a part of a pass: that of the chunks they are in.
  chunks_of <- function(lines, of) {
    length(unique((lines - 1) %/% source$unit)) / ceiling(of / source$unit)
  }
  pass <- function(what, fun, combine, ..., value_bytes) {
    from <- source
    # Blocks of columns are counted among those kept.
    if (what == "columns") from$p <- p
    if (what == by) {
      # A few columns of rows: less than the file, if there is a copy.
      if (by == "rows" && 2 * p < source$p && is.list(store$turned)) {
        # Of many such passes the values are what is left behind.
        collect_garbage(source, source$bytes)
        from$parts <- store$turned
        from["BPPARAM"] <- list(NULL)
      } else {
        collect_garbage(source)
        count$passes <- count$passes +
          if (by == "columns" && 2 * p < source$p) chunks_of(keep, source$p) else 1
      }
    } else {
      from$turned <- across(length(source_blocks(from, what)))
      # Workers on other machines do not see the copy.
      if (!is.null(from$turned)) from["BPPARAM"] <- list(NULL)
    }
    source_pass(from, what, ready, fun, combine, ..., value_bytes = value_bytes)
  }
  reader <- function(what, lines, of) {
    from <- source
    if (by == what) {
      count$passes <- count$passes + chunks_of(lines, of)
    } else {
      from$turned <- across()
    }
    from
  }
  read_columns <- function(j) {
    collect_garbage(source, 8 * n * length(j))
    block <- read_source(reader("columns", keep[j], source$p), j = keep[j])
    .Call(C_x_standardise, block, shift[j], divide[j])
  }
  cross <- function(t) {
    if (by == "rows") {
      pass("rows", piece_cross_part, sum_in_place, t = t, value_bytes = 8 * p * ncol(t))
    } else {
      pass("columns", piece_cross, NULL, t = t, value_bytes = 8 * source$step * ncol(t))
    }
  }
  # Columns that a solver will ask for one by one: list(index, block).
  held <- NULL
  keep_columns <- function(j) source_operator(source, keep[j], shift[j], divide[j], count, store)
  structure(list(
    kind = "source", n = n, p = p, count = count, store = store,
    bytes = source$bytes,
    again = function(center, scale) {
      found <- source_moments(source, TRUE)
      source_operator(source, keep, if (center) found$mean[keep] else shift,
        if (scale) found$sd[keep] else divide, count, store)
    },
    keep = keep_columns,
    part = function(i) source_operator(subset_source(source, i), keep, shift, divide, count),
    mul = function(v) {
      if (by == "rows") {
        pass("rows", piece_mul, NULL, v = v, value_bytes = 8 * source$step * ncol(v))
      } else {
        pass("columns", piece_mul_part, sum_in_place, v = v, value_bytes = 8 * n * ncol(v))
      }
    },
    cross = cross,
    columns = function(j) {
      at <- match(j, held$index)
      if (!anyNA(at)) return(held$block[, at, drop = FALSE])
      read_columns(j)
    },
    # Some columns will be used again and again: of a file stored by rows that takes a copy.
    some = function(j) {
      if (by == "rows" && length(j) < p) turn()
      keep_columns(j)
    },
    rows = function(i) {
      block <- read_lines(reader("rows", i, n), i, keep)
      .Call(C_x_standardise, block, shift, divide)
    },
    # x_i'S x_i for every row, S the identity if NULL; only the upper triangle of S is read.
    row_forms = function(s) {
      if (is.null(s) && by == "columns") {
        return(drop(pass("columns", piece_forms, sum_in_place, matrix = s, value_bytes = 8 * n)))
      }
      drop(pass("rows", piece_forms, NULL, matrix = s, value_bytes = 8 * source$step))
    },
    # All columns are to be asked for, in several reads.
    sweep = function(none) {
      if (by == "rows") turn()
      numeric()
    },
    # At most a block, but four for a file stored by rows of which there is no copy: every read
    # is a pass.
    prefetch = function(j) {
      if (all(j %in% held$index)) return(numeric())
      width <- max(1, floor(source$bytes / (8 * n)))
      if (by == "rows" && length(j) > width) turn()
      held <<- NULL
      j <- utils::head(j, if (is.list(store$turned) || by == "columns") width else 4 * width)
      held <<- list(index = j, block = read_columns(j))
      numeric()
    },
    hash = function() {
      if (by == "rows") {
        pass("rows", piece_hash, add_hashes, whole = FALSE, value_bytes = 16 * p)
      } else {
        pass("columns", piece_hash, NULL, whole = TRUE, value_bytes = 16 * source$step)
      }
    },
    # X'diag(root)^2 X_j, a block of columns at a time; root NULL for ones.
    gram_columns = function(j, root) {
      width <- max(1, floor(source$bytes / (8 * n)))
      parts <- lapply(split(j, (seq_along(j) - 1) %/% width), function(at) {
        read <- read_columns(at)
        cross(if (is.null(root)) read else read * root^2)
      })
      do.call(cbind, parts)
    },
    gram = function(rows) {
      if (rows) pass("columns", piece_tcrossprod, sum_in_place, value_bytes = 8 * n^2) else {
        pass("rows", piece_crossprod, sum_in_place, value_bytes = 8 * as.double(p)^2)
      }
    }
  ), class = "ufs_x")
}

# Columns that are equal have the same hash; those of one hash are read and compared.
equal_source_columns <- function(x) {
  first <- seq_len(x$p)
  hash <- x$hash()
  turn <- order(hash[, 1L], hash[, 2L])
  hash <- hash[turn, , drop = FALSE]
  alike <- c(FALSE, rowSums(diff(hash) != 0) == 0)
  leader <- turn[which(!alike)[cumsum(!alike)]]
  copies <- turn[alike]
  leader <- leader[alike]
  width <- max(1, floor(x$bytes / (8 * x$n)))
  for (at in split(seq_along(copies), ceiling(seq_along(copies) / width))) {
    read <- unique(c(leader[at], copies[at]))
    block <- x_columns(x, read)
    same <- colSums(block[, match(copies[at], read), drop = FALSE] !=
      block[, match(leader[at], read), drop = FALSE]) == 0
    first[copies[at][same]] <- leader[at][same]
  }
  first
}

piece_hash <- function(block, lines, whole) {
  .Call(C_x_hash, block, if (whole) 0 else lines[[1L]] - 1)
}

# Sums modulo 2^64 of numbers in two halves of 32 bits.
add_hashes <- function(a, b) {
  low <- a[, 2L] + b[, 2L]
  cbind((a[, 1L] + b[, 1L] + (low >= 2^32)) %% 2^32, low %% 2^32)
}

piece_mul <- function(block, lines, v) block %*% v
piece_mul_part <- function(block, lines, v) block %*% v[lines, , drop = FALSE]
piece_cross <- function(block, lines, t) crossprod(block, t)
piece_cross_part <- function(block, lines, t) crossprod(block, t[lines, , drop = FALSE])
piece_forms <- function(block, lines, matrix) cbind(.Call(C_x_forms, block, matrix))
piece_crossprod <- function(block, lines) crossprod(block)
piece_tcrossprod <- function(block, lines) tcrossprod(block)
