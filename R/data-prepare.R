# All input handling, once: as_ufs_matrix() for data, check_*() for arguments.

# Turns the user's `x` into the matrix that solvers see.
#
# Returns a list:
#   x          n x q double matrix of the q non-constant columns, centred and
#              scaled as asked; the one copy that is made, the user's data are never touched
#   n, p       sizes of the user's x (p counts the constant columns)
#   keep       indices of the non-constant columns in the user's x
#   constant   indices of the constant ones (score NA, ranked last)
#   features, samples   names; `named` says whether the user's columns had any
#   center, scale       length p, or FALSE where not asked for
#   norm, variance      of the q columns: norms of the columns of the matrix (before `unit`
#                       divides it), variances of the columns as they came
#   unit                what the whole matrix was divided by, see `unit`
# With `drop_constant = FALSE` the matrix keeps all p columns (keep = 1:p).
# by     what scale = TRUE divides a column by: "sd", or "norm", its Euclidean norm
# unit   "none", "power" (divide everything by the power of two next above the largest entry) or
#        "sample" (every sample by its norm; those that are zero but for rounding stay)
# write  FALSE: no matrix, x is NULL
# squares  FALSE: the method changes the unit itself before it squares anything
as_ufs_matrix <- function(x, center = TRUE, scale = TRUE, ...) {
  as_ufs_operator(x, center, scale, ..., dense = TRUE)
}

# As as_ufs_matrix(), but x of the list is not formed where the user's is sparse or elsewhere: it
# is then an operator (operator.R), and only methods that use it as such may ask for it.
# copy   FALSE: nor is it where the user's is dense, wide and too large for a copy in passing
as_ufs_operator <- function(x, center = TRUE, scale = TRUE, drop_constant = TRUE, min_n = 3L,
                            warn = TRUE, arg = "x", by = "sd", unit = "none", write = TRUE,
                            squares = TRUE, copy = TRUE, dense = FALSE) {
  center <- check_flag(center, "center")
  scale <- check_flag(scale, "scale")
  opened <- open_data(x, arg)
  if (dense) opened$x <- dense_data(opened, arg)
  dense <- dense || opened$kind == "dense"
  copy <- dense && (copy || opened$n > opened$p ||
    8 * as.double(opened$n) * opened$p <= copy_bytes())
  check_size(opened$n, opened$p, min_n, arg)
  if (warn) {
    hint_orientation(opened)
    # Results of a table without column names speak of V1, V2, ...
    if (dense && is.null(opened$features)) {
      inform_once("names", "The columns of `", arg, "` have no names: V1, V2, ... are used. ")
    }
  }
  features <- feature_names(opened$features, opened$p, warn)
  whole <- if (dense) opened$x else if (opened$kind == "sparse") sparse_operator(opened$x)
  ready <- prepare_columns(whole, center, if (scale) by else "none",
    if (is.null(whole)) source_moments(opened$x) else .Call(C_moments, whole))
  constant <- check_prepared(ready, features, arg, warn, is.null(whole))
  keep <- if (drop_constant && length(constant)) which(!ready$constant) else seq_len(opened$p)
  norm <- ready$norm[keep]
  if (squares && write) check_norms(norm, arg, features[keep])
  size <- if (unit != "power") 1 else if (dense) next_power(ready$largest[keep]) else
    2^ceiling(log2(max(norm)))
  out <- if (!copy) lazy_operator(opened$x, whole, ready, keep, center, scale, size) else
    if (write) prepare_write(whole, ready, keep, center, size)
  if (write && unit == "sample") out <- .Call(C_unit_rows, out, 1e-12, FALSE)$x
  list_of(x = out, n = opened$n, p = opened$p, keep, constant, norm, variance = ready$sd[keep]^2,
    unit = size, features, samples = opened$samples, named = !is.null(opened$features),
    center = if (center) stats::setNames(ready$mean, features) else FALSE,
    scale = if (scale) stats::setNames(ready$divide, features) else FALSE, input = opened$input)
}

# The operator of the columns `keep`. `whole`: that of a sparse matrix, a dense matrix, NULL for a
# source.
lazy_operator <- function(x, whole, ready, keep, center, scale, unit) {
  lift <- 1
  if (is_operator(whole) && any(ready$exponent != 0L)) {
    # Products divide by a standard deviation twice, and its square must be a number: columns are
    # divided by powers of two first, all by one where they are not scaled.
    lift <- 2^(if (scale) ready$exponent else rep(max(ready$exponent), length(ready$exponent)))
    whole$value <- whole$value / rep(lift, diff(whole$start))
  }
  shift <- if (center) (ready$mean / lift)[keep]
  divide <- if (scale || unit != 1 || any(lift != 1)) (ready$divide / lift)[keep] * unit
  if (is.null(whole)) out <- source_operator(x, keep, shift, divide) else {
    out <- if (is_operator(whole)) whole else
      structure(list(kind = "scaled", n = nrow(x), x = x), class = "ufs_x")
    out$p <- length(keep)
    out["column"] <- list(if (is_operator(whole) || out$p < ncol(x)) keep)
    out[c("shift", "divide")] <- list(shift, divide)
  }
  out$ss <- (ready$norm[keep] / unit)^2
  out
}

# Every method squares x (some in a `unit` of their own): columns whose squares cannot be held are
# refused in words.
check_norms <- function(norm, arg, features, unit = 1) {
  size <- norm / unit
  bad <- !is.finite(size) | size > 1e150 | (norm > 0 & size < 1e-150)
  if (any(bad)) {
    ufs_abort("input", "The values of ", some_columns(features[bad]), " of `", arg, "` are too ",
      if (all(size[bad] < 1)) "small" else if (all(size[bad] > 1)) "large" else
        "small or too large",
      " to be squared. Rescale them, e.g. with scale = TRUE.", argument = arg)
  }
}

# What judge_moments() says of the columns of a dense matrix, with what they are divided by
# ("none", "sd" or "norm"; constant ones by 1), the norms of the prepared columns, and bounds on
# their entries.
prepare_columns <- function(x, center, by = "none", found = .Call(C_moments, x)) {
  ready <- judge_moments(found, center)
  ready$divide <- switch(by, none = rep(1, length(ready$sd)),
    ifelse(ready$constant, 1, if (by == "sd") ready$sd else ready$centred))
  ready$largest <- ifelse(ready$norm == 0, 0, (found$top + abs(ready$mean)) / ready$divide)
  ready$norm <- ready$norm / ready$divide
  ready
}

# The columns `keep`, prepared; centred constant ones are exactly zero.
prepare_write <- function(x, ready, keep, center, unit = 1) {
  all <- length(keep) == ncol(x)
  out <- take_scaled(x, NULL, if (!all) keep, ready$mean[keep], ready$divide[keep] * unit)
  if (center && any(ready$constant[keep])) out[, ready$constant[keep]] <- 0
  out
}

# A double matrix from what open_data() takes.
as_plain_matrix <- function(x, arg) {
  x <- open_data(x, arg)
  `dimnames<-`(dense_data(x, arg), dimnames(x))
}

# Genes x samples is how many tables come, and every method would take the genes for samples.
# Said once in a session, where looks_turned() sees a reason.
hint_orientation <- function(x) {
  why <- if (!isTRUE(said_once$orientation)) {
    looks_turned(nrow(x), ncol(x), rownames(x), colnames(x))
  }
  if (!is.null(why)) {
    inform_once("orientation", "`x` has ", nrow(x), " rows and ", ncol(x), " columns: ", why, ". ",
      "Rows are taken as samples and columns as features; if it is the other way round, give ",
      "t(x). ")
  }
}

# ---- back to the user's p columns -------------------------------------------------

# Solvers saw only the q non-constant columns: a vector gets `fill` elsewhere, a
# matrix (one row per feature) rows of `fill`.
expand_features <- function(value, data, fill = 0) {
  if (!is.matrix(value)) {
    return(stats::setNames(replace(rep(fill, data$p), data$keep, value), data$features))
  }
  # Large matrices come with their names, for a copy would be as large.
  if (nrow(value) == data$p && identical(rownames(value), data$features)) return(value)
  out <- matrix(fill, data$p, ncol(value), dimnames = list(data$features, colnames(value)))
  out[data$keep, ] <- value
  out
}

# Variances of the columns, without a second matrix of the size of x.
column_variances <- function(x) judge_moments(.Call(C_moments, x), TRUE)$sd^2

# ---- arguments ----------------------------------------------------------------------

# The largest wide dense matrix whose standardised copy a method of products makes.
copy_bytes <- function() {
  limit <- getOption("ufselect.copy_bytes", 256 * 1024^2)
  check_number(limit, "getOption(\"ufselect.copy_bytes\")", lower = 0)
}

check_size <- function(n, p, min_n, arg) {
  if (p < 1L) ufs_abort("input", "`", arg, "` has no columns.", argument = arg)
  if (n < min_n) {
    ufs_abort("input", "`", arg, "` has ", count_words(n, "row"), " (samples); at least ", min_n,
      " are needed.", argument = arg)
  }
}

# Errors and warnings of the input pass; returns the constant columns.
check_prepared <- function(ready, features, arg, warn, on_disk = FALSE) {
  if (length(ready$bad)) {
    ufs_abort("input", "`", arg, "` has missing or infinite values (NA, NaN, Inf) in ",
      some_columns(features[ready$bad]), ". Impute or remove them first, or ",
      if (on_disk) "leave columns or rows out by `features` or `samples` of" else
        "choose `na` in", " ufs_data().", argument = arg)
  }
  if (length(ready$unfit)) {
    ufs_abort("input", "The values of ", some_columns(features[ready$unfit]), " of `", arg,
      "` are too near the ends of double precision: they cannot be centred and scaled without ",
      "loss. Multiply or divide them first.", argument = arg)
  }
  constant <- which(ready$constant)
  if (length(constant) == length(features)) {
    ufs_abort("input", "All columns of `", arg, "` are constant: nothing can be selected.",
      argument = arg)
  }
  if (length(constant) && warn) {
    ufs_warn("constant", count_words(length(constant), "column"), " of `", arg, "` ",
      if (length(constant) == 1L) "is" else "are", " constant: kept, with score NA and the last ",
      "ranks (", some_columns(features[constant]), ").", data = list(columns = constant))
  }
  constant
}

# The columns of what passed the door, centred and standardised now.
centred_again <- function(x, center, scale) {
  if (is.matrix(x)) {
    ready <- prepare_columns(x, center, if (scale) "sd" else "none")
    return(prepare_write(x, ready, seq_len(ncol(x)), center))
  }
  if (x$kind == "source") return(x$again(center, scale))
  whole <- if (x$kind == "scaled") x$x else sparse_operator(plain_sparse(x))
  ready <- judge_moments(.Call(C_moments, whole), TRUE)
  at <- if (is.null(x$column)) seq_len(x$p) else x$column
  if (center) x["shift"] <- list(ready$mean[at])
  if (scale) x["divide"] <- list(ready$sd[at])
  x["ss"] <- list(NULL)
  x
}

# Columns of mean 0.
x_center <- function(x) {
  if (is.matrix(x)) sweep(x, 2L, colMeans(x)) else centred_again(x, TRUE, FALSE)
}

# As as_ufs_operator(), for methods that see samples only through their inner products: of an
# operator with n <= p, n x n coordinates with the same ones take the place of x. Equal rows stay
# equal to the last bit.
gram_coordinates <- function(x, center, scale) as_ufs_coordinates(x, center, scale, row_coordinates)

# Inner products of what is not formed are taken in units of its largest column.
as_ufs_coordinates <- function(x, center, scale, coordinates) {
  data <- open_data(x, "x")
  data <- as_ufs_operator(data, center, scale, squares = FALSE,
    unit = if (data$kind == "dense") "none" else "power")
  if (is_operator(data$x)) {
    data$x <- coordinates(data$x)
    data$n_scores <- attr(data$x, "n_scores")
    attr(data$x, "n_scores") <- NULL
    data$x <- data$x * data$unit
    data$unit <- 1
  }
  data
}
