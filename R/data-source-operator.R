# The operator of a source (source.R): what src/ffi_x.c and operator.R call as x$mul(v),
# x$columns(j) and so on. Each such call is a function of op in source_methods.

# X is the columns `keep` of the source, minus `shift`, divided by `divide`. Operators made from one
# another share `count`, which counts the passes over the file, and, where they have the same rows,
# `store`: the spilled copy (FALSE: there is no room for it) and how often lines across the blocks
# were read.
source_operator <- function(source, keep, shift, divide, count = new_count(), store = new_store()) {
  op <- list_of(source, keep, shift, divide, n = source$n,
    p = length(keep), count, store, held = new.env(parent = emptyenv()))
  calls <- lapply(source_methods, function(method) {
    force(method)
    function(...) method(op, ...)
  })
  # Does memory hold what is read? Then no file is passed over.
  base <- source
  while (base$kind == "planned") base <- base$object$base
  structure(c(list(kind = "source", n = op$n, p = op$p, count = count, store = store,
    bytes = source$bytes, held = base$kind == "sparse"), calls), class = "ufs_x")
}

# ---- the calls

source_cross <- function(op, t) {
  low <- low_rank_of(op)
  if (!is.null(low)) return(x_cross(low$sparse, t) - crossprod(low$level, crossprod(low$member, t)))
  source_product(op, "columns", x_cross, t)
}

# X V or X'T, by x_mul() or x_cross() of blocks: pieces that stand side by side where the blocks are
# of the `side` of the product, and pieces of a sum otherwise.
source_product <- function(op, side, product, v) {
  by <- op$source$by
  joined <- by == side
  size <- if (joined) op$source$step else if (side == "rows") op$n else op$p
  source_pass_x(op, by, piece_product, if (!joined) sum_in_place, product = product, v = v,
    joined = joined, value_bytes = 8 * size * ncol(v))
}

# The operators of the columns j, of the rows i, and of columns centred and scaled as well.
source_keep <- function(op, j) {
  source_operator(op$source, op$keep[j], op$shift[j], op$divide[j], op$count, op$store)
}

# ---- how they read

columns_at_once <- function(op) max(1, floor(op$source$bytes / (8 * op$n)))

source_read_columns <- function(op, j) {
  collect_garbage(op$source, 8 * op$n * length(j))
  # In a variable: C_x_standardise() works in place on what nobody else holds.
  block <- read_source(source_reader(op, "columns", op$keep[j], op$source$p), j = op$keep[j])
  .Call(C_x_standardise, block, op$shift[j], op$divide[j])
}

# The place from which the lines (rows or columns, `what`, of `of`) are read; counts the reading.
source_reader <- function(op, what, lines, of) {
  from <- op$source
  if (from$by == what) {
    op$count$passes <- op$count$passes + share_of_chunks(from, lines, of)
  } else from$spilled <- spilled_for(op)
  from
}

# One pass over X by rows or columns, see source_pass().
source_pass_x <- function(op, what, fun, combine, ..., value_bytes) {
  from <- op$source
  # Blocks of columns are counted among those kept.
  if (what == "columns") from$p <- op$p
  if (what != from$by) {
    from$spilled <- spilled_for(op, length(source_blocks(from, what)))
    # Workers on other machines do not see the copy.
    if (!is.null(from$spilled)) from["BPPARAM"] <- list(NULL)
  } else if (what == "rows" && 2 * op$p < from$p && is.list(op$store$spilled)) {
    # A few columns of rows: less than the file, if there is a copy. Of many such passes the values
    # are what is left behind.
    collect_garbage(op$source, op$source$bytes)
    from$parts <- op$store$spilled
    from["BPPARAM"] <- list(NULL)
  } else {
    few <- what == "columns" && 2 * op$p < op$source$p
    collect_garbage(op$source)
    op$count$passes <- op$count$passes +
      if (few) share_of_chunks(op$source, op$keep, op$source$p) else 1
  }
  source_pass(from, what, list(keep = op$keep, shift = op$shift, divide = op$divide), fun, combine,
    ..., value_bytes = value_bytes)
}

# A part of the lines that lie together is a part of a pass: that of the chunks they are in.
share_of_chunks <- function(source, lines, of) {
  length(unique((lines - 1) %/% source$lines_per_chunk)) / ceiling(of / source$lines_per_chunk)
}

# Makes the spilled copy, unless there is one, no room for one, or no need.
spill_once <- function(op) {
  if (!isTRUE(op$source$chunked) || !is.null(op$store$spilled)) return(invisible())
  spilled <- spill_source(op$source)
  op$store$spilled <- if (is.null(spilled)) FALSE else spilled
  op$count$passes <- op$count$passes + 1
}

# The place from which lines across the blocks are read: the spilled copy, made where several reads
# are to come or the second one does, or NULL: the file itself.
spilled_for <- function(op, reads = 1) {
  if (reads > 1 || op$store$reads > 0) spill_once(op)
  op$store$reads <- op$store$reads + 1
  if (is.list(op$store$spilled)) return(op$store$spilled)
  op$count$passes <- op$count$passes + if (isTRUE(op$source$chunked)) reads else 1
  NULL
}

# A fit is done with its operator.
close_source <- function(x) if (is_operator(x) && x$kind == "source") drop_spilled(x$store)

# ---- what is done with a block of lines: a matrix, or the operator of a sparse one

piece_hash <- function(block, lines, whole) {
  .Call(C_x_hash, block, if (whole) 0 else lines[[1L]] - 1)
}

# Sums modulo 2^64 of numbers in two halves of 32 bits.
add_hashes <- function(a, b) {
  low <- a[, 2L] + b[, 2L]
  cbind((a[, 1L] + b[, 1L] + (low >= 2^32)) %% 2^32, low %% 2^32)
}

piece_product <- function(block, lines, product, v, joined) {
  product(block, if (joined) v else v[lines, , drop = FALSE])
}
piece_forms <- function(block, lines, matrix) cbind(.Call(C_x_forms, block, matrix))
# `rows` comes from C as a number.
piece_gram <- function(block, lines, rows) x_gram(block, rows > 0)
# A file that is stored by rows has no cheap columns, nor one stored by columns cheap rows: each
# read of some passes over all of it. Where more than one such read comes, the file is passed over
# once and its numbers are written, block by block, to a temporary file in which a block's lines
# across (columns of blocks of rows, rows of blocks of columns) lie one after the other.

# list(path, by, n, p, lines = those of each block), or NULL where there is no room: above
# getOption("ufselect.max_bytes"), or on the disk.
spill_source <- function(source) {
  bytes <- 8 * as.double(source$n) * source$p
  if (bytes > max_bytes()) return(NULL)
  if (bytes > 1e8) {
    ufs_inform("spilled", "`x` is read the other way than its file is stored: a copy of ",
      format_bytes(bytes), " is written to ", tempdir(), " for the time of the fit.")
  }
  # The copies of operators that nobody holds any more go first.
  collect_garbage(source)
  path <- tempfile("ufselect-spilled-", fileext = ".bin")
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
    fine <- tryCatch(on_error({
      writeBin(if (length(block) > most) block[at] else as.vector(block), file)
      TRUE
    }, function(e) FALSE), warning = function(w) FALSE)
    if (!fine) return(FALSE)
  }
  TRUE
}

# The calls of an operator, by name.
source_methods <- list(
  # X V and X'T.
  mul = function(op, v) {
    low <- low_rank_of(op)
    if (!is.null(low)) return(x_mul(low$sparse, v) - low$member %*% (low$level %*% v))
    source_product(op, "rows", x_mul, v)
  },
  cross = source_cross,
  # X X' (rows) or X'X.
  gram = function(op, rows) {
    low <- low_rank_of(op)
    if (!is.null(low)) return(low_rank_gram(low, rows))
    source_pass_x(op, if (rows) "columns" else "rows", piece_gram, sum_in_place, rows = rows,
      value_bytes = 8 * as.double(if (rows) op$n else op$p)^2)
  },
  # X'diag(root)^2 X_j, a block of columns at a time; root NULL for ones.
  gram_columns = function(op, j, root = NULL) {
    do.call(cbind, lapply(in_pieces(length(j), columns_at_once(op)), function(at) {
      read <- source_read_columns(op, j[at])
      source_cross(op, if (is.null(root)) read else read * root^2)
    }))
  },
  columns = function(op, j) {
    at <- match(j, op$held$index)
    if (anyNA(at)) source_read_columns(op, j) else op$held$block[, at, drop = FALSE]
  },
  rows = function(op, i) {
    block <- read_lines(source_reader(op, "rows", i, op$n), i, op$keep)
    .Call(C_x_standardise, block, op$shift, op$divide)
  },
  # x_i'S x_i for every row, S the identity if NULL; only the upper triangle of S is read.
  row_forms = function(op, s = NULL) {
    sums <- is.null(s) && op$source$by == "columns"
    drop(source_pass_x(op, if (sums) "columns" else "rows", piece_forms, if (sums) sum_in_place,
      matrix = s, value_bytes = 8 * if (sums) op$n else op$source$step))
  },
  # x_j'K x_j for every column; NaN where the entries do not give it.
  forms = function(op, k) {
    low <- low_rank_of(op)
    if (is.null(low)) rep(NaN, op$p) else low_rank_forms(low, k)
  },
  # Two numbers for each column, equal where the columns are: see first_equal().
  hash = function(op) {
    whole <- op$source$by == "columns"
    source_pass_x(op, op$source$by, piece_hash, if (!whole) add_hashes, whole = whole,
      value_bytes = 16 * if (whole) op$source$step else op$p)
  },
  keep = source_keep,
  part = function(op, i) {
    source_operator(subset_source(op$source, i), op$keep, op$shift, op$divide, op$count)
  },
  again = function(op, center, scale, root) {
    found <- judge_moments(source_moments(op$source), TRUE)
    source_operator(op$source, op$keep, if (center) found$mean[op$keep] else op$shift,
      if (scale) found$sd[op$keep] * root else op$divide, op$count, op$store)
  },
  # The columns j, which will be used again and again: of a file stored by rows that takes a copy.
  some = function(op, j) {
    if (op$source$by == "rows" && length(j) < op$p) spill_once(op)
    source_keep(op, j)
  },
  # All columns are to be asked for, in several reads.
  sweep = function(op) {
    if (op$source$by == "rows") spill_once(op)
    numeric()
  },
  # Columns that a solver will ask for one by one are held: at most a block of them, but four for a
  # file stored by rows of which there is no copy, as every read is a pass.
  prefetch = function(op, j) {
    if (all(j %in% op$held$index)) return(numeric())
    width <- columns_at_once(op)
    if (op$source$by == "rows" && length(j) > width) spill_once(op)
    # The old block goes before the new one is read.
    op$held$index <- op$held$block <- NULL
    cheap <- is.list(op$store$spilled) || op$source$by == "columns"
    j <- utils::head(j, if (cheap) width else 4 * width)
    op$held$block <- source_read_columns(op, j)
    op$held$index <- j
    numeric()
  }
)
