# The input pass: what every method does with `x` before its solver, once.

# Each of these functions returns a list:
#   x          the q non-constant columns, centred and scaled as asked; the user's data are never
#              touched
#   n, p       sizes of the user's x (p counts the constant columns)
#   keep       for each of these columns the one of the user's x that it is of: several times the
#              same one where that is a factor, see with_levels()
#   coded      of data with factors a table of the q columns: their name, variable and level; else
#              absent
#   constant   indices of the constant ones (score NA, ranked last)
#   features, samples   names; `named` says whether the user's columns had any, `repeated` which of
#                       them have a name that is not theirs alone (repeated_names())
#   center, scale       length p, or FALSE where not asked for
#   norm, variance      of the q columns: norms of the columns of the matrix (before the division
#                       by `divisor`), variances of the columns as they came
#   divisor             what the whole matrix was divided by
#   roots               of several tables what their q columns are divided by after they were
#                       standardised ("scaled") or left as they are ("plain"); else empty
# With `keep_constant = TRUE` x keeps all p columns (keep = 1:p). They warn of constant columns and
# say what they did with names, but not of data from open_quietly().

# x is an n x q double matrix, the one copy that is made. `squares = FALSE`: the method rescales the
# matrix itself before it squares anything. by = "norm": `scale` gives columns of unit norm, so that
# penalties do not depend on n.
as_ufs_matrix <- function(x, center = TRUE, scale = TRUE, squares = TRUE, keep_constant = FALSE,
                          by = "sd") {
  pass <- judge_columns(open_checked(x, dense = TRUE), center, scale, by, keep_constant)
  if (squares) check_norms(pass$data, pass$arg)
  write_columns(pass)
}

# x is a matrix only if the user's is dense, otherwise an operator (data-operator.R): for methods
# that need no more than products with it. `as_is`: of a matrix that is to stay as it is no copy is
# made; it is taken with the names that it has, or, without its constant columns, as an operator.
as_ufs_operator <- function(x, center = TRUE, scale = TRUE, keep_constant = FALSE, as_is = FALSE) {
  pass <- judge_columns(open_checked(x), center, scale, "sd", keep_constant)
  data <- pass$data
  check_norms(data, pass$arg)
  if (!as_is || !is.matrix(pass$raw) || !isFALSE(data$center) || !isFALSE(data$scale)) {
    return(write_columns(pass))
  }
  data$x <- if (length(pass$keep) == ncol(pass$raw)) pass$raw else lazy_operator(pass, data)
  data
}

# A dense x, too, stays an operator if it is wider than tall and larger than the option
# ufselect.copy_bytes.
as_lazy_operator <- function(x, center = TRUE, scale = TRUE) {
  pass <- judge_columns(open_checked(x), center, scale)
  check_norms(pass$data, pass$arg)
  write_columns(pass, copy = FALSE)
}

# x is divided by a power of two: next above its largest entry, or, of an operator, near its largest
# column norm. Squares and fourth powers then stay in range.
as_rescaled_operator <- function(x, center = TRUE, scale = TRUE) {
  write_columns(judge_columns(open_checked(x), center, scale), rescale = TRUE)
}

# For methods that see columns only through their inner products: of a dense x that is taller than
# wide and larger than the option ufselect.copy_bytes, or than 16 MiB with four rows a column, a
# triangle with the same ones takes the place of the rescaled matrix, and `rows` is the operator of
# the rows. Its q^2 products are summed by strips of rows: n q^2 flops, and no memory of the size of
# x.
column_triangle <- function(x, center = TRUE, scale = TRUE) {
  pass <- judge_columns(open_checked(x), center, scale)
  n <- pass$data$n
  p <- pass$data$p
  # A triangle takes less time than a copy, where it is much the smaller.
  data <- write_columns(pass, rescale = TRUE, copy = n <= p,
    most = if (n >= 4 * p) 16 * 1024^2 else Inf)
  if (is.matrix(data$x) || data$x$kind != "scaled") return(data)
  data$rows <- data$x
  root <- gram_root(x_gram(data$x, FALSE))
  data$x <- rbind(root, matrix(0, ncol(root) - nrow(root), ncol(root)))
  data
}

# For callers that want no more than means, variances and names of the columns: no matrix is made,
# x is NULL where the user's is dense. `code`: with the levels of factors, not their numbers.
as_column_stats <- function(x, center = FALSE, scale = FALSE, code = FALSE) {
  pass <- judge_columns(open_checked(x, code = code), center, scale)
  if (is.matrix(pass$raw)) pass$data else write_columns(pass)
}

# For methods that see samples only through their inner products: of an operator with n <= p, n x n
# coordinates with the same ones take the place of x. Equal rows stay equal to the last bit.
gram_coordinates <- function(x, center, scale) as_ufs_coordinates(x, center, scale, row_coordinates)

# An operator is first divided by a power of two near its largest column norm, so that its Gram
# matrix cannot overflow.
as_ufs_coordinates <- function(x, center, scale, coordinates) {
  x <- open_data(x)
  data <- if (x$kind == "dense") as_ufs_matrix(x, center, scale, squares = FALSE) else
    as_rescaled_operator(x, center, scale)
  if (is_operator(data$x)) {
    data$x <- coordinates(data$x)
    data$n_scores <- attr(data$x, "n_scores")
    attr(data$x, "n_scores") <- NULL
    data$x <- data$x * data$divisor
    data$divisor <- 1
  }
  data
}

# ---- the stages of the pass -----------------------------------------------------------------

# Data about which the input pass gives no messages: they were checked before, or are not the
# user's.
open_quietly <- function(x, arg = "x") {
  replace(open_data(x, arg), c("quiet", "arg"), list(TRUE, arg))
}

# Data of which a method sees the squares.
of_squares <- function(x) replace(open_data(x), "squares", TRUE)

open_checked <- function(x, dense = FALSE, code = TRUE) {
  x <- open_data(x)
  arg <- if (is.null(x$arg)) "x" else x$arg
  if (dense) x[c("x", "kind")] <- list(dense_data(x, arg), "dense")
  if (x$p < 1L) refuse_data(arg, "`", arg, "` has no columns.")
  if (x$n < 3L) refuse_data(arg, "`", arg, "` has ", count_words(x$n, "row"),
    " (samples); at least 3 are needed.")
  if (!isTRUE(x$quiet)) {
    # Said once in a session, where features_in_rows() sees a reason or columns are no features:
    # genes x samples is how many tables come, and every method would take the genes for samples.
    why <- if (!isTRUE(said_once$orientation)) features_in_rows(x$n, x$p, x$samples, x$features)
    if (!is.null(why)) {
      inform_once("orientation", "`x` has ", x$n, " rows and ", x$p, " columns: ", why, ". ",
        "Rows are taken as samples and columns as features; if rows are features, give t(x). ")
    }
    doubt <- if (x$kind == "dense" && !isTRUE(said_once$numbering)) looks_like_ids(x)
    if (!is.null(doubt)) inform_once("numbering", "In `x` ", doubt, " (`features` of ufs_data()). ")
    # Codes are looked for among the values as they were given.
    if (is.null(x$input$transform) && is.null(x$levels)) x$input$codes <- missing_codes(x)
    if (x$n == x$p) warn_covariance(x, arg)
    # Results of a table without column names speak of V1, V2, ...
    if (x$kind == "dense" && is.null(x$features)) {
      inform_once("names", "The columns of `", arg, "` have no names: V1, V2, ... are used. ")
    }
  }
  if (code && !is.null(x$input$coding)) with_levels(x) else x
}

# Judges the columns before they are written. Returns a list:
#   data      what the functions above return, without x
#   raw       the user's values: a dense matrix, the operator of a sparse one, NULL for a source
#   moments   of all p columns, from prepare_columns()
#   source    where to read a source from
#   arg       the name of x in messages
#   spare     may the values be written over? Of data that are read this once (see with_decoys())
# `by`: what scale = TRUE divides a column by, "sd" or "norm", its Euclidean norm.
judge_columns <- function(opened, center, scale, by = "sd", keep_constant = FALSE) {
  center <- check_flag(center, "center")
  scale <- check_flag(scale, "scale")
  arg <- if (is.null(opened$arg)) "x" else opened$arg
  warn <- !isTRUE(opened$quiet)
  features <- feature_names(opened$features, opened$p, warn)
  named_apart <- identical(features, opened$features)
  by <- if (scale) by else "none"
  # By weights or within blocks: what is read then is centred already.
  sums <- if (!is.null(opened$row_held) && has_row_sums(opened)) {
    weighted_columns(opened, center, by)
  }
  if (!is.null(sums)) opened <- sums$data
  raw <- switch(opened$kind, dense = opened$x, sparse = sparse_operator(opened$x))
  moments <- if (!is.null(sums)) sums$ready else prepare_columns(raw, center, by,
    if (is.null(raw)) source_moments(opened$x) else .Call(C_moments, raw))
  roots <- if (nlevels(opened$input$tables$of) > 1L || !is.null(opened$inertia)) {
    column_roots(opened, moments)
  }
  root <- if (scale) roots$scaled else roots$plain
  if (!is.null(root)) moments <- divide_moments(moments, root)
  # Means of replicates are scaled as rows are.
  if (scale && !is.null(opened$levels)) {
    moments <- divide_moments(moments, ifelse(moments$constant, 1, opened$levels$sd / moments$sd))
  }
  # To a method of squares, columns that do not vary have some, as they are.
  if (isTRUE(opened$squares) && !center && !scale) {
    moments$constant <- moments$constant & moments$norm == 0
  }
  constant <- check_prepared(moments, if (is.null(opened$table)) features else
    feature_names(opened$table$features, opened$table$p, FALSE)[opened$variable], arg, warn, opened)
  keep <- if (keep_constant || !length(constant)) seq_len(opened$p) else which(!moments$constant)
  if (warn && length(constant)) tell_constant(opened$held, constant, features)
  data <- list_of(x = NULL, n = opened$n, p = opened$p, keep, constant,
    norm = moments$norm[keep], variance = moments$sd[keep]^2, divisor = 1, features,
    samples = opened$samples, named = !is.null(opened$features),
    repeated = if (named_apart) stats::setNames(integer(), character()) else
      repeated_names(opened$features),
    center = if (center) stats::setNames(moments$mean, features) else FALSE,
    scale = if (scale || !is.null(root)) stats::setNames(moments$divide, features) else FALSE,
    input = opened$input, roots = lapply(roots, `[`, keep),
    df = c(sums$df, opened$levels$df, opened$n - 1)[1L], weights = opened$row_held$weights,
    held = if (!is.null(opened$held)) drop_constant(opened$held, keep),
    constraints = if (!is.null(opened$held) || !is.null(opened$row_held)) constraints_of(opened),
    reliability = unname(opened$levels$share[keep]))
  if (!is.null(sums)) moments$mean[] <- 0
  if (!is.null(opened$variable)) data <- of_variables(data, opened)
  list_of(data, raw, moments, keep, source = if (is.null(raw)) opened$x, arg,
    spare = isTRUE(opened$spare) && is.null(sums))
}

# What was found of the columns of levels (with_levels()), told of the user's variables.
of_variables <- function(data, opened) {
  own <- opened$table
  of <- opened$variable[data$keep]
  data$coded <- data.frame(name = data$features[data$keep], variable = of,
    level = opened$level[data$keep])
  for (what in c("center", "scale")) {
    if (!isFALSE(data[[what]])) data[[what]] <- data[[what]][data$coded$name]
  }
  data[c("keep", "p", "features")] <- list(of, own$p, feature_names(own$features, own$p, FALSE))
  data$constant <- setdiff(seq_len(own$p), of)
  data["repeated"] <- list(repeated_names(own$features))
  data["constraints"] <- list(if (!is.null(data$constraints)) constraints_of(own))
  data$input <- own$input
  # Each variable takes one place of k.
  data$held$places <- as.integer(!duplicated(of))
  data
}

# How many variables there are to choose from, and the columns of some of them.
usable <- function(data) length(unique(data$keep))
columns_of <- function(data, variables) {
  if (is.null(data$coded)) return(stats::na.omit(match(variables, data$keep)))
  unlist(lapply(variables, function(j) which(data$keep == j)))
}

# The data with x, from what judge_columns() found: a copy, or an operator where the standardised
# copy of a dense matrix would take more bytes than `most` or the option ufselect.copy_bytes, unless
# `copy` asks for one.
write_columns <- function(pass, rescale = FALSE, copy = TRUE, most = Inf) {
  data <- pass$data
  dense <- is.matrix(pass$raw)
  if (rescale) {
    # The power of two next above the largest entry, 1 if that is 0 or infinite.
    top <- if (dense) max(pass$moments$largest[pass$keep])
    data$divisor <- if (!dense) 2^ceiling(log2(max(data$norm))) else
      if (top > 0 && is.finite(top)) 2^max(-1000, min(1000, floor(log2(top)) + 1)) else 1
  }
  most_bytes <- function() {
    limit <- getOption("ufselect.copy_bytes", 256 * 1024^2)
    min(most, check_number(limit, "getOption(\"ufselect.copy_bytes\")", lower = 0))
  }
  copy <- dense && (copy || (data$n > data$p && !rescale) ||
    8 * as.double(data$n) * data$p <= most_bytes())
  data$x <- if (copy) {
    prepare_write(pass$raw, pass$moments, pass$keep, !isFALSE(data$center), data$divisor,
      pass$spare)
  } else lazy_operator(pass, data)
  data
}

# The operator of the columns `pass$keep`, divided by `data$divisor`.
lazy_operator <- function(pass, data) {
  raw <- pass$raw
  moments <- pass$moments
  keep <- pass$keep
  scale <- !isFALSE(data$scale)
  lift <- 1
  # A full column far from zero is centred at once: products that are centred afterwards lose as
  # many digits as its mean has more than its spread.
  far <- if (is_operator(raw) && !isFALSE(data$center)) {
    which(abs(moments$mean) > 1e3 * moments$sd & diff(raw$start) == data$n & !moments$constant)
  }
  for (j in far) {
    at <- seq.int(raw$start[j] + 1L, raw$start[j + 1L])
    value <- raw$value[at] - moments$mean[j]
    raw$value[at] <- value - mean(value)
    moments$mean[j] <- 0
  }
  if (is_operator(raw) && any(moments$exponent != 0L)) {
    # Products divide by a standard deviation twice, and its square must be a number: columns are
    # divided by powers of two first, all by one where they are not scaled.
    lift <- 2^(if (scale) moments$exponent else
      rep(max(moments$exponent), length(moments$exponent)))
    raw$value <- raw$value / rep(lift, diff(raw$start))
  }
  shift <- if (!isFALSE(data$center)) (moments$mean / lift)[keep]
  divide <- if (scale || data$divisor != 1 || any(lift != 1)) {
    (moments$divide / lift)[keep] * data$divisor
  }
  if (is.null(raw)) out <- source_operator(pass$source, keep, shift, divide) else {
    out <- if (is_operator(raw)) raw else
      structure(list(kind = "scaled", n = data$n, x = raw), class = "ufs_x")
    out$p <- length(keep)
    out["column"] <- list(if (is_operator(raw) || out$p < ncol(raw)) keep)
    out[c("shift", "divide")] <- list(shift, divide)
  }
  out$ss <- (data$norm / data$divisor)^2
  out
}

# Every method squares x: columns whose squares cannot be held are refused in words.
check_norms <- function(data, arg = "x") {
  norm <- data$norm
  size <- norm / data$divisor
  bad <- !is.finite(size) | size > 1e150 | (norm > 0 & size < 1e-150)
  if (any(bad)) {
    refuse_data(arg, "The values of ", some_columns(data$features[data$keep][bad]), " of `", arg,
      "` are too ", if (all(size[bad] < 1)) "small" else if (all(size[bad] > 1)) "large" else
        "small or too large",
      " to be squared. Rescale them, e.g. with scale = TRUE.")
  }
}

# The result of judge_moments() for the columns of a dense matrix, with their divisors
# ("none", "sd" or "norm"; constant ones by 1), the norms of the prepared columns, and bounds on
# their entries.
prepare_columns <- function(x, center, by = "none", sums = .Call(C_moments, x)) {
  out <- judge_moments(sums, center)
  out$divide <- switch(by, none = rep(1, length(out$sd)),
    ifelse(out$constant, 1, if (by == "sd") out$sd else out$centred))
  out$largest <- ifelse(out$norm == 0, 0, (pmax(-sums$low, sums$high) + abs(out$mean)) / out$divide)
  out$norm <- out$norm / out$divide
  out
}

# The columns `keep`, prepared; centred constant ones are exactly zero. `spare`: in place.
prepare_write <- function(x, moments, keep, center, divisor = 1, spare = FALSE) {
  all <- length(keep) == ncol(x)
  divide <- moments$divide[keep] * divisor
  # (x - shift) / divide at some rows and columns (NULL: all), as one new matrix.
  out <- if (spare && all) .Call(C_x_overwrite, x, moments$mean, divide) else
    .Call(C_take, x, NULL, if (!all) keep, moments$mean[keep], divide)
  if (center && any(moments$constant[keep])) out[, moments$constant[keep]] <- 0
  # The mean itself is rounded: seen beside a spread that is far smaller.
  far <- if (center) which(abs(moments$mean) > 1e6 * moments$sd & !moments$constant)
  for (j in match(intersect(far, keep), keep)) out[, j] <- out[, j] - mean(out[, j])
  out
}

# A double matrix from what open_data() takes.
as_plain_matrix <- function(x, arg) {
  x <- open_data(x, arg)
  `dimnames<-`(dense_data(x, arg), dimnames(x))
}

# ---- back to the user's p columns -------------------------------------------------

# Solvers saw only the q non-constant columns: a vector gets `fill` in the others, a
# matrix (one row per feature) rows of `fill`. The one place where columns are gathered to
# variables: a factor has the sum of the values of its columns. A matrix keeps a row for each of
# them.
expand_features <- function(value, data, fill = 0) {
  if (!is.null(data$coded)) {
    if (is.matrix(value)) return(`rownames<-`(value, data$coded$name))
    if (length(value) != usable(data)) value <- gathered(value, data$keep)
    data$keep <- unique(data$keep)
  }
  if (!is.matrix(value)) {
    return(stats::setNames(replace(rep(fill, data$p), data$keep, value), data$features))
  }
  # Large matrices come with their names, for a copy would be as large.
  if (nrow(value) == data$p && identical(rownames(value), data$features)) return(value)
  out <- matrix(fill, data$p, ncol(value), dimnames = list(data$features, colnames(value)))
  out[data$keep, ] <- value
  out
}

# For each variable, in their order, what `value` has for its columns.
gathered <- function(value, of) {
  if (!anyDuplicated(of)) return(as.double(value))
  vapply(split(as.double(value), of), sum, 0, USE.NAMES = FALSE)
}

# What the names of a solver's matrices are made of: of data with factors its own columns.
shape_of <- function(data) {
  if (is.null(data$coded)) return(data[c("p", "keep", "features", "constant")])
  list(p = nrow(data$coded), keep = seq_len(nrow(data$coded)), features = data$coded$name,
    constant = integer())
}

# A value for each column of the data: each of p, or of the levels of factors each.
by_column <- function(value, data, fill = 0) {
  if (is.null(data$coded)) expand_features(value, data, fill) else
    stats::setNames(value, data$coded$name)
}

# k x p for the user's p columns: 0 where a column is constant.
expand_columns <- function(value, data, names = NULL) {
  if (!is.null(data$coded)) return(`dimnames<-`(value, list(names, data$coded$name)))
  if (!length(data$constant)) return(`dimnames<-`(value, list(names, data$features)))
  out <- matrix(0, nrow(value), data$p, dimnames = list(names, data$features))
  out[, data$keep] <- value
  out
}

# ---- arguments ----------------------------------------------------------------------

# Errors and warnings of the input pass; returns the constant columns.
check_prepared <- function(moments, features, arg, warn, opened) {
  if (length(moments$bad)) refuse_gaps(opened, moments$bad, features, arg)
  if (length(moments$unfit)) {
    refuse_data(arg, "The values of ", some_columns(features[moments$unfit]), " of `", arg,
      "` are too near the ends of double precision: they cannot be centred and scaled without ",
      "loss. Multiply or divide them first.")
  }
  constant <- which(moments$constant)
  if (length(constant) == length(features)) {
    refuse_data(arg, "All columns of `", arg, "` are constant: nothing can be selected.")
  }
  if (length(constant) && warn) {
    ufs_warn("constant", count_words(length(constant), "column"), " of `", arg, "` ",
      if (length(constant) == 1L) "is constant. It is kept, gets score NA, and is ranked last" else
        "are constant. They are kept, get score NA, and are ranked last",
      " (", some_columns(features[constant]), ").", data = list(columns = constant))
  }
  constant
}

# The columns of data that were prepared before, centred and standardised now.
# `root`: what standardised columns are divided by then, if they are of several tables.
centred_again <- function(x, center, scale, root = 1) {
  if (is.matrix(x)) {
    moments <- prepare_columns(x, center, if (scale) "sd" else "none")
    if (scale) moments$divide <- moments$divide * root
    return(prepare_write(x, moments, seq_len(ncol(x)), center))
  }
  if (x$kind == "source") return(x$again(center, scale, root))
  whole <- if (x$kind == "scaled") x$x else sparse_operator(plain_sparse(x))
  moments <- judge_moments(.Call(C_moments, whole), TRUE)
  at <- if (is.null(x$column)) seq_len(x$p) else x$column
  if (center) x["shift"] <- list(moments$mean[at])
  if (scale) x["divide"] <- list(moments$sd[at] * root)
  x["ss"] <- list(NULL)
  x
}
