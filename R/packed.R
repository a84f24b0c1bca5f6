# Large symmetric matrices of which only the upper triangle is kept, column by column: half the
# memory. See "Memory" in ?ufs_blfse for what users can do with them.

# values: entries (1, 1), (1, 2), (2, 2), (1, 3), ...
new_packed <- function(values, n, names = NULL) {
  structure(list_of(values, n, names), class = "ufs_packed")
}

#' @export
dim.ufs_packed <- function(x) c(unclass(x)$n, unclass(x)$n)

#' @export
dimnames.ufs_packed <- function(x) {
  names <- unclass(x)$names
  if (is.null(names)) NULL else list(names, names)
}

#' @export
as.matrix.ufs_packed <- function(x, ...) {
  n <- nrow(x)
  values <- unclass(x)$values
  full <- matrix(0, n, n)
  for (j in seq_len(n)) {
    column <- values[(j - 1) * j / 2 + seq_len(j)]
    full[seq_len(j), j] <- column
    full[j, seq_len(j)] <- column
  }
  dimnames(full) <- dimnames(x)
  full
}

#' @export
`[.ufs_packed` <- function(x, i, j, ..., drop = TRUE) {
  if (nargs() - (!missing(drop)) < 3L) {
    refuse("i", "A packed symmetric matrix takes two indices, as in s[i, j]; as.matrix() makes an ",
      "ordinary one.")
  }
  names <- unclass(x)$names
  at <- stats::setNames(seq_len(nrow(x)), names)
  rows <- if (missing(i)) at else at[i]
  cols <- if (missing(j)) at else at[j]
  if (anyNA(rows) || anyNA(cols)) refuse(if (anyNA(rows)) "i" else "j", "Subscript out of bounds.")
  out <- vapply(cols, function(col) {
    last <- pmax(rows, col)
    unclass(x)$values[(last - 1) * last / 2 + pmin(rows, col)]
  }, numeric(length(rows)))
  out <- matrix(out, length(rows), length(cols),
    dimnames = if (!is.null(names)) list(names[rows], names[cols]))
  if (drop) drop(out) else out
}

#' @export
print.ufs_packed <- function(x, ...) {
  put("Symmetric matrix, ", nrow(x), " x ", nrow(x), ", packed: s[i, j], as.matrix(s)")
  invisible(x)
}
