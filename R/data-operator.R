# The matrix that the solvers see, for R code, whichever way it is held: a plain double
# matrix, or an object of class ufs_x, which is never formed. C entries take both.
#
# A ufs_x is list(kind = "sparse", n, p, user_p, i, start, value, column, shift, divide, ss) with
# the slots of the user's dgCMatrix as they are, list(kind = "scaled", n, p, x, column, shift,
# divide, ss) with the user's matrix x as it is (column NULL: all), or list(kind = "source", n, p,
# ss, count, store, bytes, held and the calls that source_operator() lists). p counts the columns
# that are not constant.

# X V, X'T, X[, j], X[i, ], ||x_j||^2, X X' or X'X.
x_mul <- function(x, v) {
  if (is.matrix(x)) x %*% v else .Call(C_x_product, x, as_double(as.matrix(v)), FALSE)
}

x_cross <- function(x, t) {
  if (is.matrix(x)) crossprod(x, t) else .Call(C_x_product, x, as_double(as.matrix(t)), TRUE)
}

x_columns <- function(x, j) {
  if (is.matrix(x)) x[, j, drop = FALSE] else .Call(C_x_columns, x, as.integer(j))
}

x_rows <- function(x, i) {
  i <- as.integer(i)
  if (is.matrix(x)) return(x[i, , drop = FALSE])
  if (x$kind == "source") return(x$rows(i))
  if (x$kind == "scaled") return(.Call(C_take, x$x, i, x$column, x$shift, x$divide))
  .Call(C_x_standardise, as.matrix(plain_sparse(x)[i, x$column, drop = FALSE]), x$shift, x$divide)
}

x_ss <- function(x) .Call(C_x_ss, x)

# The part of each column along the constant, x_j'1 / ||1||: centring takes its square off x_j'x_j.
# Rows that were multiplied by the roots of weights have these roots in place of ones.
along_constant <- function(x, weights) {
  one <- matrix(if (is.null(weights)) 1 else sqrt(weights), nrow(x))
  drop(x_cross(x, one)) / sqrt(sum(one^2))
}

x_gram <- function(x, rows, to = NULL) {
  side <- if (rows) nrow(x) else ncol(x)
  check_bytes(8 * as.double(side)^2, paste0("The ", side, " x ", side, " Gram matrix"),
    "Use fewer samples or features, or ufs_sketch().")
  .Call(C_x_gram, x, rows, to)
}

#' @export
dim.ufs_x <- function(x) c(x$n, x$p)

#' @export
print.ufs_x <- function(x, ...) {
  check_dots_empty(...)
  cat_line("<ufs_x> ", x$kind, ", ", x$n, " samples x ", x$p, " features")
  invisible(x)
}

is_operator <- function(x) inherits(x, "ufs_x")

# For every column the index of the first one equal to it.
x_equal_columns <- function(x) {
  if (!is_operator(x) || x$kind != "source") return(equal_columns(x))
  first_equal(x$hash(), x$n, function(j) x_columns(x, j), x$bytes)
}

# For every column the first one that equals it or its negative (`first`), and the sign that makes
# them equal. In a source only equal ones are looked for.
x_alike_columns <- function(x) {
  if (is_operator(x) && x$kind == "source") return(list(first = x_equal_columns(x), sign = 1))
  # Which of x_j and -x_j: the sign of a product with a vector that no column is orthogonal to.
  sign <- ifelse(x_cross(x, sin(seq_len(nrow(x)))) < 0, -1, 1)[seq_len(ncol(x))]
  flipped <- if (is_operator(x)) unclass(x) else
    list(kind = "scaled", n = nrow(x), p = ncol(x), x = x)
  flipped$divide <- sign * (if (is.null(flipped$divide)) 1 else flipped$divide)
  flipped <- structure(flipped, class = "ufs_x")
  list(first = x_equal_columns(flipped), sign = sign)
}

# Rows of features that are equal but for a sign share: X times the value stays, and so does the sum
# of the absolute values, or of the norms, where the rows agree in their signs or directions.
share_alike <- function(value, alike) {
  if (!anyDuplicated(alike$first)) return(value)
  alike$sign * mean_of_copies(alike$sign * value, alike$first)
}

# For every row the first one equal to it. In a source equal rows are not looked for.
x_equal_rows <- function(x) {
  if (is.matrix(x)) return(equal_rows(x))
  if (x$kind == "source") return(seq_len(x$n))
  if (x$kind == "scaled") return(equal_rows(x$x))
  x_equal_columns(sparse_operator(Matrix::t(plain_sparse(x))))
}

# The user's numbers of a sparse operator, all their columns.
plain_sparse <- function(x) {
  methods::new("dgCMatrix", i = x$i, p = x$start, x = x$value, Dim = c(x$n, x$user_p))
}

# The columns j, without a copy of the entries.
x_subset_columns <- function(x, j) {
  if (is.matrix(x)) return(x[, j, drop = FALSE])
  if (x$kind == "source") {
    out <- x$keep(j)
    out["ss"] <- list(x$ss[j])
    return(out)
  }
  x$p <- length(j)
  x$column <- if (is.null(x$column)) as.integer(j) else x$column[j]
  x[c("shift", "divide", "ss")] <- list(x$shift[j], x$divide[j], x$ss[j])
  x
}

# The rows i, centred and scaled as they were among all.
x_subset_rows <- function(x, i) {
  if (is.matrix(x)) return(x[i, , drop = FALSE])
  if (x$kind == "source") return(x$part(i))
  if (x$kind == "scaled") {
    x$x <- x$x[i, , drop = FALSE]
  } else {
    part <- plain_sparse(x)[i, , drop = FALSE]
    x[c("i", "start", "value")] <- list(part@i, part@p, part@x)
  }
  x$n <- length(i)
  x["ss"] <- list(NULL)
  x
}

# The k leading components of the columns of x (already centred): scores, loadings,
# sdev2 (squared singular values). Signs fixed; components beyond the numerical rank
# have zero loadings; see src/x_ops.h. With loadings = FALSE they may be left out, and the signs
# of the scores are others. tol: the largest residual as a share of the largest eigenvalue, where
# they are found by iteration.
x_pca <- function(x, k, method = "pca", loadings = TRUE, tol = 1e-10) {
  side <- min(dim(x))
  k <- min(k, side)
  if (side < 4 * k + 64) {
    check_bytes(8 * 2 * as.double(side)^2, paste("The Gram matrix for", k, "components"),
      "Ask for fewer components, or use ufs_sketch().")
  }
  pca <- .Call(C_x_pca, x, as.integer(k), tol, loadings)
  check_solved(pca, method)
  if (pca$full) {
    ufs_inform("spectrum", "The ", k, " leading principal components are too close to the next ",
      "ones to be found alone: all ", side, " were computed.")
  }
  if (!pca$converged) {
    ufs_warn("max_iter", "The leading ", k, " principal components have a relative residual of ",
      signif(pca$residual, 2L), ": the last ones are close together.")
  }
  pca
}

# Components that only serve as coordinates (of k-means, neighbours, leverage): those of noise need
# not be told apart: any of their subspaces that holds the same variance to a part in a thousand
# will do, and takes far fewer products.
coordinate_tol <- 1e-2

# r x q with R'R = gram, r its numerical rank: Cholesky with pivots. These are compared with each
# other, and are those of items of unit length.
gram_root <- function(gram) {
  size <- sqrt(pmax(diag(gram), 0))
  size[size == 0] <- 1
  root <- suppressWarnings(chol(gram / size / rep(size, each = length(size)), pivot = TRUE))
  rows <- seq_len(attr(root, "rank"))
  root[rows, order(attr(root, "pivot")), drop = FALSE] * rep(size, each = length(rows))
}

# Rows with the inner products of those of x: a root of its Gram matrix if n <= p, else these rows
# themselves. Equal rows are made equal to the last bit.
row_coordinates <- function(x) {
  rows <- if (nrow(x) <= ncol(x)) t(gram_root(x_gram(x, rows = TRUE))) else x_dense(x)
  rows[x_equal_rows(x), , drop = FALSE]
}

# Coordinates for clusterings of samples, which can do with less: where those of row_coordinates()
# take more than four blocks, the leading principal component scores (data$n_scores of them, at
# least `least`) take their place. The same ones, but for a rotation, however x is held.
sample_points <- function(x, least = 1L) {
  if (8 * as.double(nrow(x)) * min(dim(x)) <= min(4 * block_bytes(), max_bytes())) {
    return(if (is.matrix(x)) x else row_coordinates(x))
  }
  rows <- leading_scores(x, least)[x_equal_rows(x), , drop = FALSE]
  structure(rows, n_scores = ncol(rows))
}

# The matrix itself, where it is small enough to be formed.
x_dense <- function(x) {
  if (is.matrix(x)) return(x)
  check_bytes(8 * as.double(x$n) * x$p, "The matrix as a dense matrix", dense_advice)
  .Call(C_x_columns, x, seq_len(x$p))
}

dense_advice <- "Give it fewer columns, or the samples that ufs_sketch() chooses."

# For every column of x the index of the first column equal to it.
equal_columns <- function(x) {
  first_equal(.Call(C_x_hash, x, 0), nrow(x), function(j) x_columns(x, j))
}

# For every row of a matrix the index of the first row equal to it.
equal_rows <- function(x) {
  first_equal(.Call(C_x_hash, x, NULL), ncol(x), function(i) t(x[i, , drop = FALSE]))
}

# Items that are equal have the same hash (two numbers each); those of one hash are read, as columns
# of `size` numbers, and compared with the first of them, a block at a time.
first_equal <- function(hash, size, read, bytes = block_bytes()) {
  first <- seq_len(nrow(hash))
  ord <- order(hash[, 1L], hash[, 2L])
  hash <- hash[ord, , drop = FALSE]
  alike <- c(FALSE, rowSums(hash[-1L, , drop = FALSE] != hash[-nrow(hash), , drop = FALSE]) == 0)
  leader <- ord[which(!alike)[cumsum(!alike)]][alike]
  copies <- ord[alike]
  for (at in in_pieces(length(copies), max(1, floor(bytes / (8 * size))))) {
    items <- unique(c(leader[at], copies[at]))
    block <- read(items)
    same <- which(colSums(block[, match(copies[at], items), drop = FALSE] !=
      block[, match(leader[at], items), drop = FALSE]) == 0)
    first[copies[at][same]] <- leader[at][same]
  }
  first
}

# The leading principal component scores of the rows, at least `least` of them, whose distances are
# those of the rows but for what is left out.
leading_scores <- function(x, least) {
  scores <- x_pca(x, min(dim(x), max(50L, least)), "kmeans_f", loadings = FALSE,
    tol = coordinate_tol)$scores
  scores[, colSums(scores^2) > 0, drop = FALSE]
}

# Verdict on the moments of columns (src/prepare.h): list(bad, exponent, constant, unfit, mean, sd,
# centred, norm).
judge_moments <- function(found, center) {
  c(found[c("bad", "exponent")], .Call(C_judge, found, center))
}

# Orthonormal basis Q of x[, order], one column at a time, columns that the ones before rebuild
# left out: rank[t] is the number of basis vectors of the first t. coordinates = Q'x divisor
# (rank x p), as large as x where k = n: no other matrix here is. factor = Q'x[, order] (rank x k).
# 2 n k (k + p) flops.
column_basis <- function(x, order, divisor = 1) {
  chosen <- x_columns(x, order)
  first <- seq_len(min(2L * nrow(chosen), length(order)))
  q <- qr(chosen[, first, drop = FALSE], tol = 1e-5)
  basis <- qr.Q(q)[, seq_len(q$rank), drop = FALSE]
  # Twice as many columns as rows span all there is, as a rule.
  rest <- chosen[, -first, drop = FALSE]
  if (any(colSums((rest - basis %*% crossprod(basis, rest))^2) > 1e-10 * colSums(rest^2))) {
    q <- qr(chosen, tol = 1e-5)
    basis <- qr.Q(q)[, seq_len(q$rank), drop = FALSE]
  }
  # qr() moves columns that depend on those before to the end, and keeps the order otherwise.
  alive <- logical(length(order))
  alive[q$pivot[seq_len(q$rank)]] <- TRUE
  coordinates <- if (is.matrix(x)) crossprod(basis * divisor, x) else t(x_cross(x, basis * divisor))
  list(rank = cumsum(alive), coordinates = coordinates, factor = crossprod(basis, chosen))
}
