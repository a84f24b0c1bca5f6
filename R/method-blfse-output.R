# Contents of a fit of ufs_blfse(), its print and its pictures.

#' @export
print_notes.ufs_blfse <- function(x) {
  c(
    sprintf("consensus    %d components for %d clusters, rho = %s", x$n_component,
      x$params$n_clusters, format(signif(x$solution$rho, 3L))),
    sprintf("weights      largest alpha %.2f, beta %.2f of %d base results",
      max(x$solution$alpha), max(x$solution$beta), x$params$n_base)
  )
}

#' @export
picture_types.ufs_blfse <- function(fit) {
  c("objective", "weights", "consensus", setdiff(NextMethod(), c("objective", "samples")))
}

#' @export
picture.ufs_blfse <- function(object, type, ...) {
  trace <- object$trace
  switch(type,
    objective = {
      stage <- which(trace$block == "start")
      new_picture("curves", table = data.frame(x = seq_len(nrow(trace)), y = trace$objective),
        lines = list(v = stage[-1L] - 0.5), xlab = "block update", ylab = "objective",
        subtitle = if (length(stage) > 1L) {
          paste("new psi at each dotted line:",
            paste(signif(trace$psi[stage], 3L), collapse = ", "))
        },
        title = sprintf("ufs_blfse: objective (%s)", status_words(object$status)))
    },
    weights = {
      m <- object$params$n_base
      one <- function(which, panel) {
        path <- rbind(rep(1 / m, m), object$weights[[which]])
        data.frame(x = as.vector(row(path)) - 1L, y = as.vector(path),
          series = paste("base", as.vector(col(path))), panel = panel)
      }
      new_picture("curves", points = FALSE, xlab = "iteration", ylab = "weight",
        table = rbind(one("alpha", "alpha (scores)"), one("beta", "beta (clusterings)")),
        title = "ufs_blfse: weights of the base results")
    },
    consensus = {
      s <- as.matrix(object$solution$S)
      picture_links(object, s, order(object$solution$cluster, -rowSums(s)), c(0, 1), "similarity",
        sprintf("ufs_blfse: consensus of %d clusterings", object$params$n_base))
    },
    NextMethod()
  )
}

# ---- packed matrices ----------------------------------------------------------------------------

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
  check_dots_empty(...)
  cat_line("Symmetric matrix, ", nrow(x), " x ", nrow(x), ", packed: s[i, j], as.matrix(s)")
  invisible(x)
}
