# Sparse columns that were centred within blocks, or weighted (data-weights.R), are a sparse matrix
# less one of low rank: X = S - C L, with a column of C (n x r) for every block. Products with them
# cost the entries, where forming them would cost n p in each pass.

# The parts of a source's operator, list(sparse, member = C, level = L), or NULL where it is none of
# these. Where all rows of a block have an entry its level is taken from the entries: products that
# are centred afterwards lose as many digits as a mean has more than the spread.
low_rank_parts <- function(op) {
  source <- op$source
  if (source$kind != "planned" || source$object$base$kind != "sparse") return(NULL)
  plan <- source$object$plan
  base <- source$object$base
  changed <- list(plan$factor, plan$power, source$row_shift, source$row_divide, base$row_shift,
    base$row_divide)
  if (!all(vapply(changed, is.null, NA))) return(NULL)
  rows <- compose_index(base$rows, source$rows)
  at <- compose_index(source$columns, op$keep)
  x <- base$object
  from <- compose_index(base$columns, at)
  if (is.null(rows)) {
    if (!identical(as.integer(from), seq_len(ncol(x)))) x <- x[, from, drop = FALSE]
  } else x <- x[rows, from, drop = FALSE]
  block <- if (is.null(source$rows)) plan$block else plan$block[source$rows]
  root <- if (is.null(plan$root)) rep(1, op$n) else
    if (is.null(source$rows)) plan$root else plan$root[source$rows]
  level <- plan$mean[, at, drop = FALSE]
  if (!is.null(plan$add)) level <- level - rep(plan$add[at], each = nrow(level))
  many <- nrow(level)
  cell <- block[x@i + 1L] + (rep(seq_len(op$p), diff(x@p)) - 1) * many
  full <- tabulate(cell, many * op$p) == tabulate(block, many)
  x@x <- (x@x - ifelse(full[cell], level[cell], 0)) * root[x@i + 1L]
  level[full] <- 0
  member <- matrix(0, op$n, many)
  member[cbind(seq_len(op$n), block)] <- root
  if (!is.null(op$shift)) {
    member <- cbind(member, 1)
    level <- rbind(level, op$shift)
  }
  sparse <- sparse_operator(x)
  if (!is.null(op$divide)) {
    sparse$divide <- op$divide
    level <- level / rep(op$divide, each = nrow(level))
  }
  list_of(sparse, member, level)
}

# The same, made once for all products with an operator, when the first of them comes.
low_rank_of <- function(op) {
  if (is.null(op$held$parts)) op$held$parts <- list(low_rank_parts(op))
  op$held$parts[[1L]]
}

# X X' (rows) or X'X.
low_rank_gram <- function(low, rows) {
  rows <- rows > 0
  one <- if (rows) x_mul(low$sparse, t(low$level)) else x_cross(low$sparse, low$member)
  side <- if (rows) low$member else t(low$level)
  inner <- if (rows) tcrossprod(low$level) else crossprod(low$member)
  # (S - CL)(S - CL)' = SS' - HC' - CH', H = SL' - C LL' / 2.
  half <- one - side %*% inner / 2
  sum_in_place(x_gram(low$sparse, rows), tcrossprod(cbind(half, side), cbind(-side, -half)))
}

# x_j'K x_j for every column.
low_rank_forms <- function(low, k) {
  with <- k %*% low$member
  rest <- crossprod(low$member, with) %*% low$level - 2 * t(x_cross(low$sparse, with))
  .Call(C_x_column_forms, low$sparse, k) + colSums(low$level * rest)
}
