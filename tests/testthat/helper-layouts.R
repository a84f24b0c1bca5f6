# One matrix in every layout in which the methods take it, and an operator that compares each of
# its answers with the matrix itself. Used by test-layouts.R and by tests/dev/layouts.R.

# x in all layouts; files go into `folder`. Blocks are of about a fifth of the matrix, or of 3 rows
# or 2 columns; "file" is one chunk and one block, as small files are written by default.
layouts_of <- function(x, folder = withr::local_tempdir(.local_envir = parent.frame())) {
  n <- nrow(x)
  p <- ncol(x)
  block <- ceiling(n * p / 5)
  on_disk <- function(chunk, block) {
    out <- suppressMessages(HDF5Array::writeHDF5Array(unname(x), tempfile("x-", folder, ".h5"), "x",
      chunkdim = pmin(chunk, dim(x))))
    dimnames(out) <- dimnames(x)
    # Half of the bytes are the block's.
    ufs_data(out, block_bytes = 16 * block)
  }
  # Without a standardised copy where it is wide, see layout_options().
  out <- list(scaled = x)
  if (requireNamespace("Matrix", quietly = TRUE)) out$sparse <- to_sparse(x)
  if (requireNamespace("HDF5Array", quietly = TRUE)) {
    out$file <- on_disk(c(n, p), 2 * n * p)
    out$by_rows <- on_disk(c(4, p), block)
    out$by_columns <- on_disk(c(n, 3), block)
    out$tiny_rows <- on_disk(c(3, p), 3 * p)
    out$tiny_columns <- on_disk(c(n, 2), 2 * n)
  }
  if (requireNamespace("bigmemory", quietly = TRUE)) {
    out$shared <- ufs_data(bigmemory::as.big.matrix(x), block_bytes = 16 * block)
  }
  out
}

layout_options <- function(layout) if (layout == "scaled") list(ufselect.copy_bytes = 0) else list()

# How far scores may differ: by what the method's own tolerance leaves open.
# socfs: an objective to 1e-10 leaves its square root open in V; other orders of the same dense rows move
# it by 1.8e-5. spca: it stops at changes of 1e-4.
layout_tolerance <- function(method) switch(method, jspca = 1e-3, socfs = 4e-5, spca = 1e-4, 1e-6)

# The largest difference of two vectors as a share of the second's largest entry; Inf where they
# are not finite in the same places.
apart <- function(a, b) {
  if (length(a) != length(b) || !identical(unname(is.finite(a)), unname(is.finite(b)))) return(Inf)
  finite <- is.finite(b)
  if (!any(finite)) return(0)
  scale <- max(abs(b[finite]))
  max(abs(a - b)[finite]) / if (scale > 0) scale else 1
}

# Of two fits; a status that differs is Inf.
fits_apart <- function(a, b) {
  if (a$status != b$status) Inf else max(apart(a$feature_scores, b$feature_scores), apart(a$sample_scores, b$sample_scores))
}

# In place of source_operator(), `original`: report(call, difference) gets, for each call, how far
# the answer is from that of `whole`, the matrix of which the source is a part, as a share of the
# sum of absolute values that it is made of. The same calls are put to the sparse and the scaled operator
# of the same columns, whose functions are C and cannot be wrapped.
checked_operator <- function(original, whole, report) {
  ns <- asNamespace("ufselect")
  force(original)
  function(source, keep, shift, divide, count = ns$new_count(), store = ns$new_store()) {
    op <- original(source, keep, shift, divide, count, store)
    rows <- if (is.null(source$rows)) seq_len(nrow(whole)) else source$rows
    columns <- if (is.null(source$columns)) seq_len(source$p) else source$columns
    # With decoys beside the file: its own columns and these, in one order.
    raw <- if (source$kind == "bound") {
      base <- source$object$base$columns
      own <- unname(whole)[, if (is.null(base)) seq_len(ncol(whole)) else base, drop = FALSE]
      cbind(own, unname(source$object$beside))[rows, source$object$ord[columns], drop = FALSE]
    } else unname(whole)[rows, columns, drop = FALSE]
    z <- raw[, keep, drop = FALSE]
    by <- function(value, default) rep(if (is.null(value)) default else value, each = nrow(z))
    made_of <- (abs(z) + abs(by(shift, rep(0, ncol(z))))) / by(divide, rep(1, ncol(z)))
    z <- (z - by(shift, rep(0, ncol(z)))) / by(divide, rep(1, ncol(z)))
    own <- list(n = nrow(z), p = ncol(z), column = as.integer(keep), shift = shift, divide = divide, ss = NULL)
    others <- list(scaled = structure(c(list(kind = "scaled", x = raw), own), class = "ufs_x"))
    if (requireNamespace("Matrix", quietly = TRUE)) {
      others$sparse <- ns$sparse_operator(to_sparse(raw))
      others$sparse[names(own)] <- own
    }
    check <- function(name, truth, other = NULL) {
      asked <- op[[name]]
      op[[name]] <<- function(...) {
        got <- asked(...)
        right <- truth(z, identity, ...)
        size <- truth(made_of, abs, ...) + .Machine$double.xmin
        compare <- function(call, value) {
          same <- length(value) == length(right) && all(is.finite(value))
          report(call, if (same) max(abs(as.vector(value) - as.vector(right)) / size) else Inf)
        }
        compare(name, got)
        if (!is.null(other)) for (kind in names(others)) compare(paste(kind, name), other(others[[kind]], ...))
        got
      }
    }
    check("mul", function(m, sign, v) m %*% sign(v), ns$x_mul)
    check("cross", function(m, sign, t) crossprod(m, sign(t)), ns$x_cross)
    check("columns", function(m, sign, j) m[, j, drop = FALSE], ns$x_columns)
    check("rows", function(m, sign, i) m[i, , drop = FALSE], ns$x_rows)
    # C hands numbers over.
    check("gram", function(m, sign, rows) if (rows) tcrossprod(m) else crossprod(m),
      function(x, rows) ns$x_gram(x, rows == 1))
    check("gram_columns", function(m, sign, j, root = NULL) {
      crossprod(m, m[, j, drop = FALSE] * if (is.null(root)) 1 else root^2)
    })
    check("row_forms", function(m, sign, s = NULL) {
      if (is.null(s)) return(rowSums(m^2))
      s[lower.tri(s)] <- t(s)[lower.tri(s)]
      rowSums((m %*% sign(s)) * m)
    })
    op
  }
}
