# For methods of generics, which must have `...`: an argument that lands there is a mistake.
# tibble::as_tibble() hands `stringsAsFactors` on.
check_dots_empty <- function(..., stringsAsFactors) {
  refuse_completed(sys.call(-1L), sys.function(-1L))
  if (...length()) refuse_argument(names_of(list(...))[1L], names(formals(sys.function(-1L))))
}

refuse_argument <- function(name, known = character()) {
  named <- nzchar(name)
  refuse(if (named) name, "Unknown argument",
    if (named) paste0(" `", name, "`") else " without a name", ".", if (named) is_it(name, known))
}

check_flag <- function(value, arg) {
  if (!is.logical(value) || length(value) != 1L || is.na(value)) {
    refuse(arg, "`", arg, "` must be TRUE or FALSE.")
  }
  value
}

# One whole number in lower..upper; `limit` explains the upper end.
check_count <- function(value, arg, lower = 1L, upper = .Machine$integer.max, limit = NULL) {
  if (missing(value) || is.null(value)) refuse_missing(arg)
  if (!is.numeric(value) || length(value) != 1L || is.na(value) ||
      value != round(value) || value < lower || value > min(upper, .Machine$integer.max)) {
    refuse(arg, "`", arg, "` must be a whole number of at least ", lower,
      if (upper < .Machine$integer.max) paste0(" and at most ", upper),
      if (!is.null(limit)) paste0(" (", limit, ")"), "; it is ", deparse_short(value), ".",
      if (length(dim(value)) == 2L) " The data come first, as `x`.")
  }
  as.integer(value)
}

# The number of swaps: FALSE is none, TRUE as many as help.
check_swaps <- function(swaps, arg, value) {
  if (is.logical(swaps)) swaps <- if (check_flag(swaps, "swaps")) .Machine$integer.max else 0L
  swaps <- check_count(swaps, "swaps", 0L)
  if (swaps > 0L && is.null(value)) {
    refuse(arg, "`swaps` needs `", arg, "`: their result is for one `", arg, "` only.")
  }
  swaps
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
  if (missing(value)) refuse_missing(arg)
  if (!length(value)) refuse(arg, "`", arg, "` must be one or more whole numbers.")
  unique(vapply(value, check_count, 1L, arg = arg, lower = 1L, upper = upper, limit = limit))
}

# One finite number, above (open) or from (closed) `lower`, likewise `upper`.
check_number <- function(value, arg, lower = -Inf, upper = Inf, open = FALSE) {
  if (missing(value)) refuse_missing(arg)
  bad <- !is.numeric(value) || length(value) != 1L || !is.finite(value) ||
    (if (open) value <= lower || value >= upper else value < lower || value > upper)
  if (bad) {
    range <- c(
      if (is.finite(lower)) paste(if (open) "above" else "of at least", lower),
      if (is.finite(upper)) paste(if (open) "below" else "of at most", upper)
    )
    refuse(arg, "`", arg, "` must be one finite number",
      if (length(range)) paste0(" ", paste(range, collapse = " and ")),
      "; it is ", deparse_short(value), ".")
  }
  as.double(value)
}

# Ranges of arguments as register() takes them: a function of the value and its name.
a_number <- function(...) function(value, arg) check_number(value, arg, ...)

a_count <- function(...) function(value, arg) check_count(value, arg, ...)

# match.arg() with a classed error; the default is the first choice.
check_choice <- function(value, arg, choices = eval(formals(sys.function(sys.parent()))[[arg]])) {
  if (identical(value, choices)) return(choices[[1L]])
  if (!is.character(value) || length(value) != 1L || !(value %in% choices)) {
    refuse(arg, "`", arg, "` must be one of ", paste0("\"", choices, "\"", collapse = ", "),
      "; it is ", deparse_short(value), ".")
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
  unname(as_double(value))
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

# Above how many rows only some are used, to save time; Inf: never.
most_rows <- function(usual) {
  value <- getOption("ufselect.most_rows", usual)
  if (identical(value, Inf)) return(value)
  check_number(value, "getOption(\"ufselect.most_rows\")", lower = 10)
}

# How much memory a block of a matrix that is read block by block may take.
block_bytes <- function() {
  value <- getOption("ufselect.block_bytes", 64 * 1024^2)
  check_number(value, "getOption(\"ufselect.block_bytes\")", lower = 8)
}

# summary() of a result whose print() says all there is to say.
whole_summary <- function(object, ...) {
  check_dots_empty(...)
  object
}
