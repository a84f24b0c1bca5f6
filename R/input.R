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
      say_once("names", "The columns of `", arg, "` have no names: V1, V2, ... are used. ")
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
  out <- if (!copy) kept_as_it_is(opened$x, whole, ready, keep, center, scale, size) else
    if (write) prepare_write(whole, ready, keep, center, size)
  if (write && unit == "sample") out <- .Call(C_unit_rows, out, 1e-12, FALSE)$x
  list_of(x = out, n = opened$n, p = opened$p, keep, constant, norm, variance = ready$sd[keep]^2,
    unit = size, features, samples = opened$samples, named = !is.null(opened$features),
    center = if (center) stats::setNames(ready$mean, features) else FALSE,
    scale = if (scale) stats::setNames(ready$divide, features) else FALSE, input = opened$input)
}

# The operator of the columns `keep`. `whole`: that of a sparse matrix, a dense matrix, NULL for a
# source.
kept_as_it_is <- function(x, whole, ready, keep, center, scale, unit) {
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

# The power of two next above the largest value; 1 if that is 0 or infinite.
next_power <- function(value) {
  top <- max(value)
  if (top > 0 && is.finite(top)) 2^max(-1000, min(1000, floor(log2(top)) + 1)) else 1
}

# The columns `keep`, prepared; centred constant ones are exactly zero.
prepare_write <- function(x, ready, keep, center, unit = 1) {
  all <- length(keep) == ncol(x)
  out <- take(x, NULL, if (!all) keep, ready$mean[keep], ready$divide[keep] * unit)
  if (center && any(ready$constant[keep])) out[, ready$constant[keep]] <- 0
  out
}

# A double matrix from what open_data() takes.
as_plain_matrix <- function(x, arg) {
  x <- open_data(x, arg)
  `dimnames<-`(dense_data(x, arg), dimnames(x))
}

# A double matrix from matrix, data.frame, tibble or data.table.
table_matrix <- function(x, arg) {
  if (is.data.frame(x)) {
    fine <- vapply(x, function(col) {
      (is.numeric(col) || is.logical(col)) && !is.object(col) && is.null(dim(col))
    }, NA)
    if (!all(fine)) {
      ufs_abort("input", "`", arg, "` has columns that are not numeric: ",
        some_columns(names(x)[!fine]), ". Drop them, or code them yourself, e.g. with ",
        "model.matrix().", argument = arg)
    }
    x <- as.matrix(x, rownames.force = .row_names_info(x) > 0L)
  } else if (!is.matrix(x)) {
    ufs_abort("input", "`", arg, "` must be a numeric matrix, data frame, sparse matrix or ",
      "another class that ufs_data() reads, not ", kind_of(x), ".", argument = arg)
  }
  if (!(is.numeric(x) || is.logical(x))) {
    ufs_abort("input", "`", arg, "` must be numeric, not of type ", typeof(x), ".", argument = arg)
  }
  as_double(x)
}

as_double <- function(x) {
  # The replacement copies even where there is nothing to change.
  if (!is.double(x)) storage.mode(x) <- "double"
  x
}

# Genes x samples is how many tables come, and every method would take the genes for samples.
# Said once in a session, where looks_turned() sees a reason.
hint_orientation <- function(x) {
  why <- if (!isTRUE(said_once$orientation)) {
    looks_turned(nrow(x), ncol(x), rownames(x), colnames(x))
  }
  if (!is.null(why)) {
    say_once("orientation", "`x` has ", nrow(x), " rows and ", ncol(x), " columns: ", why, ". ",
      "Rows are taken as samples and columns as features; if it is the other way round, give ",
      "t(x). ")
  }
}

said_once <- new.env(parent = emptyenv())

say_once <- function(class, ...) {
  if (!isTRUE(said_once[[class]])) {
    said_once[[class]] <- TRUE
    ufs_inform(class, ..., "(Said once in a session.)")
  }
}

feature_names <- function(names, p, warn) {
  if (is.null(names)) return(paste0("V", seq_len(p)))
  empty <- is.na(names) | names == ""
  names[empty] <- paste0("V", which(empty))
  if (anyDuplicated(names)) {
    if (warn) {
      ufs_warn("names", "Some column names occur more than once (",
        some_columns(unique(names[duplicated(names)])), "); they were made unique.")
    }
    names <- make.unique(names)
  }
  names
}

some_columns <- function(names, most = 5L) {
  shown <- paste0("'", utils::head(names, most), "'", collapse = ", ")
  more <- length(names) - most
  paste0(if (length(names) == 1L) "column " else "columns ", shown,
    if (more > 0L) paste(" and", more, "more"))
}

# Names, or numbers where there are none.
labels_of <- function(names, size) if (is.null(names)) as.character(seq_len(size)) else names

kind_of <- function(x) {
  if (is.null(x)) "NULL" else paste0("an object of class ", paste(class(x), collapse = "/"))
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

# For every column of x the index of the first column equal to it.
equal_columns <- function(x) {
  first_equal(.Call(C_x_hash, x, 0), nrow(x), function(j) x_columns(x, j))
}

# Equal columns get the mean of their values, or of their rows of a matrix: an iteration that has
# not ended splits what is theirs unevenly, by rounding; and where any split is optimal, this one
# has no favourite.
mean_of_copies <- function(value, first) {
  if (!anyDuplicated(first)) return(value)
  at <- match(first, unique(first))
  mean <- unname(rowsum(value, at) / tabulate(at))
  if (is.matrix(value)) mean[at, , drop = FALSE] else mean[at]
}

# For every row of a matrix the index of the first row equal to it.
equal_rows <- function(x) {
  first_equal(.Call(C_x_hash, x, NULL), ncol(x), function(i) t(x[i, , drop = FALSE]))
}

# Items that are equal have the same hash (two numbers each); those of one hash are read, as columns
# of `size` numbers, and compared with the first of them, a block at a time.
first_equal <- function(hash, size, read, bytes = block_bytes()) {
  first <- seq_len(nrow(hash))
  turn <- order(hash[, 1L], hash[, 2L])
  hash <- hash[turn, , drop = FALSE]
  alike <- c(FALSE, rowSums(hash[-1L, , drop = FALSE] != hash[-nrow(hash), , drop = FALSE]) == 0)
  leader <- turn[which(!alike)[cumsum(!alike)]][alike]
  copies <- turn[alike]
  for (at in in_pieces(length(copies), max(1, floor(bytes / (8 * size))))) {
    items <- unique(c(leader[at], copies[at]))
    block <- read(items)
    same <- which(colSums(block[, match(copies[at], items), drop = FALSE] !=
      block[, match(leader[at], items), drop = FALSE]) == 0)
    first[copies[at][same]] <- leader[at][same]
  }
  first
}

# Variances of the columns, without a second matrix of the size of x.
column_variances <- function(x) judge_moments(.Call(C_moments, x), TRUE)$sd^2

# (x - shift) / divide at some rows and columns, NULL for all, as one new matrix.
take <- function(x, rows = NULL, columns = NULL, shift = NULL, divide = NULL) {
  .Call(C_take, x, rows, columns, shift, divide)
}

# Norms of the rows, without a second matrix of the size of x.
row_norms <- function(x) sqrt(.Call(C_x_forms, x, NULL))

# ---- arguments ----------------------------------------------------------------------

# For generics, which must take `...`: what nobody reads is a mistake of the user.
check_dots_empty <- function(...) {
  if (...length()) refuse_argument(names_of(list(...))[1L])
}

refuse_argument <- function(name) {
  named <- nzchar(name)
  refuse(if (named) name, "Unknown argument",
    if (named) paste0(" `", name, "`") else " without a name", ".")
}

# Dots that go to base graphics, which would only warn of a wrong name, several times.
check_dots_graphics <- function(...) {
  if (!...length()) return(invisible())
  plots <- c("plot.default", "hist.default", "image.default")
  known <- c(names(graphics::par(no.readonly = TRUE)), unlist(lapply(plots, function(name) {
    names(formals(utils::getS3method(sub("[.].*", "", name), "default")))
  })))
  unknown <- setdiff(names_of(list(...)), known)
  if (length(unknown)) refuse_argument(unknown[1L])
}

check_flag <- function(value, arg) {
  if (!is.logical(value) || length(value) != 1L || is.na(value)) {
    refuse(arg, "`", arg, "` must be TRUE or FALSE.")
  }
  value
}

# One whole number in lower..upper; `limit` explains the upper end.
check_count <- function(value, arg, lower = 1L, upper = .Machine$integer.max, limit = NULL) {
  if (missing(value) || !is.numeric(value) || length(value) != 1L || is.na(value) ||
      value != round(value) || value < lower || value > min(upper, .Machine$integer.max)) {
    refuse(arg, "`", arg, "` must be a whole number of at least ", lower,
      if (upper < .Machine$integer.max) paste0(" and at most ", upper),
      if (!is.null(limit)) paste0(" (", limit, ")"),
      if (!missing(value)) paste0("; it is ", brief(value)), ".")
  }
  as.integer(value)
}

# The number of clusters that a method is told, of data of n samples.
check_clusters <- function(value, n, lower = 2L, left = 1L) {
  check_count(value, "n_clusters", lower, n - left,
    paste(if (left == 1L) "one" else "two", "fewer than the samples"))
}

# The number of components, of the list from as_ufs_matrix().
check_components <- function(value, data, center, arg = "n_components") {
  check_count(value, arg, 1L, min(data$n - center, length(data$keep)),
    "the largest possible rank of `x`")
}

# One or more whole numbers, each once.
check_counts <- function(value, arg, upper, limit) {
  if (missing(value) || !length(value)) {
    refuse(arg, "`", arg, "` must be one or more whole numbers.")
  }
  unique(vapply(value, check_count, 1L, arg = arg, lower = 1L, upper = upper, limit = limit))
}

# One finite number, above (open) or from (closed) `lower`, likewise `upper`.
check_number <- function(value, arg, lower = -Inf, upper = Inf, open = FALSE) {
  bad <- missing(value) || !is.numeric(value) || length(value) != 1L || !is.finite(value) ||
    (if (open) value <= lower || value >= upper else value < lower || value > upper)
  if (bad) {
    range <- c(
      if (is.finite(lower)) paste(if (open) "above" else "of at least", lower),
      if (is.finite(upper)) paste(if (open) "below" else "of at most", upper)
    )
    refuse(arg, "`", arg, "` must be one finite number",
      if (length(range)) paste0(" ", paste(range, collapse = " and ")),
      if (!missing(value)) paste0("; it is ", brief(value)), ".")
  }
  as.double(value)
}

# match.arg() with a classed error; the default is the first choice.
check_choice <- function(value, arg,
                         choices = eval(formals(sys.function(sys.parent()))[[arg]])) {
  if (identical(value, choices)) return(choices[[1L]])
  if (!is.character(value) || length(value) != 1L || !(value %in% choices)) {
    refuse(arg, "`", arg, "` must be one of ", paste0("\"", choices, "\"", collapse = ", "),
      "; it is ", brief(value), ".")
  }
  value
}

# A finite double matrix of a given shape (NA = any).
check_matrix <- function(value, arg, nrow = NA, ncol = NA) {
  if (!is.matrix(value) || !is.numeric(value) || !all(is.finite(value)) ||
      !(is.na(nrow) || nrow(value) == nrow) || !(is.na(ncol) || ncol(value) == ncol)) {
    size <- if (!is.na(nrow) && !is.na(ncol)) paste(nrow, "x", ncol) else
      if (!is.na(nrow)) paste(nrow, "rows") else if (!is.na(ncol)) paste(ncol, "columns")
    refuse(arg, "`", arg, "` must be a finite numeric matrix",
      if (!is.null(size)) paste(" of", size),
      if (is.matrix(value)) paste0("; it is ", nrow(value), " x ", ncol(value)), ".")
  }
  storage.mode(value) <- "double"
  dimnames(value) <- NULL
  value
}

# A penalty given absolutely or as a share of `max`, the smallest value at which
# everything is zero. Returns list(value, rel).
check_penalty <- function(absolute, rel, max, arg, zero = FALSE) {
  if (!is.null(absolute)) {
    absolute <- check_number(absolute, arg, lower = 0, open = !zero)
    return(list(value = absolute, rel = absolute / max))
  }
  rel <- check_number(rel, paste0(arg, "_rel"), lower = 0, open = !zero)
  list(value = rel * max, rel = rel)
}

brief <- function(value) {
  text <- paste(deparse(value, width.cutoff = 60L), collapse = "")
  if (nchar(text) > 40L) kind_of(value) else text
}
