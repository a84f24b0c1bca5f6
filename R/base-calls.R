# The arguments of a function that have no default.
required_arguments <- function(fit) {
  names(Filter(function(value) is.name(value) && !nzchar(value), formals(fit)))
}

# The arguments of ufs_data(): every function that takes x has `...` for them.
input_arguments <- function() {
  c("assay", "features", "samples", "na", "block_bytes", "BPPARAM", "counts", "min_samples",
    "max_samples", "rows", "factors", "join", constraint_names())
}

names_of <- function(list) if (is.null(names(list))) character(length(list)) else names(list)

# Arguments that neither a method nor ufs_data() has are errors in our words. Names are exact
# here, as what is shared between fits (a graph, a start) is looked up by them.
check_arguments <- function(given, fit, method, paper = NULL) {
  known <- arguments_of(fit)
  unknown <- given[nzchar(given) & !given %in% c(known, paper, input_arguments())]
  if (length(unknown)) {
    refuse(unknown[1L], "ufs_", method, "() has no argument `", unknown[1L], "`; it has ",
      paste(known, collapse = ", "), ", and those of ufs_data()",
      if (length(paper)) paste0("; in ufs_control(paper = list()): ",
        paste(paper, collapse = ", ")), ".", is_it(unknown[1L], c(known, arguments_above())))
  }
}

# The arguments of the functions of this package that are running: the one that a user called may
# have what its method has not.
arguments_above <- function() {
  own <- lapply(seq_len(sys.nframe()), function(i) {
    name <- sys.call(i)[[1L]]
    known <- names(formals(sys.function(i)))
    if (is.name(name) && startsWith(as.character(name), "ufs_") && "x" %in% known) known
  })
  setdiff(unlist(own), c("x", "..."))
}

# A question: which of the known names was likely meant by one that is none of them.
is_it <- function(name, known) {
  begun <- startsWith(known, paste0(name, "_")) | nchar(name) > 2L & startsWith(known, name) |
    nchar(known) > 2L & startsWith(rep(name, length(known)), known)
  meant <- c(if (means_number(name)) c("`k` (features)", "`m` (samples)")[c("k", "m") %in% known],
    if (any(begun)) paste0("`", known[begun], "`"))
  if (length(meant)) paste0(" Is it ", paste(unique(meant), collapse = " or "), "?")
}

# Is this how other packages call the number that is `k` or `m` here?
means_number <- function(name) {
  tolower(name) %in% c("k", "m", "n", "num", "number", "size", "top", "p", "nfeatures", "nsamples",
    paste0(c("n_", "num_"), rep(c("features", "samples", "select", "vars", "terms"), each = 2L)))
}

# A bare word where quotes are missing, or a name that is misspelt. `env` is where they are looked
# up, `known` the arguments by their places.
check_objects <- function(written, known, env) {
  name <- names_of(written)
  name[!nzchar(name)] <- c(setdiff(known, name), character(length(name)))[
    seq_len(sum(!nzchar(name)))]
  for (i in seq_along(written)) {
    word <- if (is.name(written[[i]])) as.character(written[[i]]) else ""
    if (!nzchar(word) || exists(word, env) || grepl("^[.][.]([.]|[0-9]+)$", word)) next
    refuse(name[i], "`", name[i], "`: there is no object `", word, "`", if (name[i] != "x") {
      paste0("; a name is written in quotes: \"", word, "\"")
    }, ".")
  }
}

# The arguments a method has beside x. Most are behind its dots, so that R completes no shorter name
# to them.
arguments_of <- function(fit) setdiff(names(formals(fit)), c("x", "..."))

# Arguments a function cannot do without: check_given(y, k) in its body. Names are exact, whatever
# R completes.
check_given <- function(...) {
  check_objects(as.list(sys.call(-1L))[-1L], names(formals(sys.function(-1L))), parent.frame(2L))
  strange <- refuse_completed(sys.call(-1L), sys.function(-1L))
  for (name in vapply(as.list(substitute(list(...)))[-1L], as.character, "")) {
    if (!eval(call("missing", as.name(name)), parent.frame())) next
    refuse_missing(name, if (name %in% c("k", "m")) Filter(means_number, strange))
  }
}

# R completes the names of arguments that stand before `...`: shortened ones are refused. Returns
# the names in the call that are no arguments.
refuse_completed <- function(call, fun) {
  known <- as.character(names(formals(fun)))
  strange <- setdiff(names(call), c("", known))
  for (name in strange) {
    meant <- known[startsWith(known, name) & cumsum(known == "...") == 0L]
    if (length(meant) == 1L) {
      refuse(name, "There is no argument `", name, "`: is it `", meant,
        "`? Names are not completed.")
    }
  }
  invisible(strange)
}

# Words for an argument that is missing; `instead`: the wrong name it was given by.
missing_words <- c(x = "the data", fit = "what a function such as ufs_css() returned",
  y = "the class of each sample, as y = iris$Species", k = "how many features, as k = 10",
  m = "how many samples, as m = 10", n_clusters = "how many clusters, as n_clusters = 3",
  n_components = "how many components, as n_components = 3",
  method = "its name, as \"pca\"; see ufs_methods()", grid = "as list(n_components = 1:3)",
  fun = "a function that scores columns, as function(x) apply(x, 2, var)")
refuse_missing <- function(arg, instead = NULL) {
  said <- if (length(instead)) paste0("write `", arg, "` in place of `", instead[1L], "`") else
    stats::na.omit(missing_words[arg])
  refuse(arg, "`", arg, "` is missing", if (length(said)) paste0(": ", said), ".")
}

# list(a = a, b = b) by the names alone.
list_of <- function(...) {
  out <- list(...)
  name <- names_of(out)
  bare <- which(!nzchar(name))
  stats::setNames(out, replace(name, bare, as.character(substitute(c(...))[bare + 1L])))
}

# A call to print and to keep: no data in it. Where it was made by do.call() its arguments are
# values, maybe in quote(), and those that are not a few numbers or words are named by what they
# are.
plain_call <- function(call, name) {
  if (!is.language(call[[1L]])) call[[1L]] <- as.name(name)
  # do.call(quote = TRUE) writes the one or the other.
  quoted <- list(quote(quote), quote(base::quote))
  for (i in seq_along(call)[-1L]) {
    if (identical(call[[i]], quote(expr = ))) next
    value <- call[[i]]
    if (is.call(value) && length(value) == 2L && !is.language(value[[2L]]) &&
        any(vapply(quoted, identical, NA, value[[1L]]))) value <- value[[2L]]
    few <- is.null(value) ||
      is.atomic(value) && length(value) <= 5L && is.null(attributes(value))
    call[i] <- list(if (is.call(value) && !identical(value[[1L]], as.name("function"))) {
      plain_call(value, class(value[[1L]])[1L])
    } else if (few || is.language(value)) value else {
      as.name(paste0("<", class(value)[1L], if (length(dim(value)) == 2L) {
        paste0(" ", nrow(value), " x ", ncol(value))
      }, ">"))
    })
  }
  call
}

# ---- code to paste -------------------------------------------------------------------------------

# The text of code, which parses to it whatever the names in it are; `otherwise` for data
# themselves, as do.call() gives them, and where there is no such text.
expression_text <- function(code, otherwise, most = 1000L) {
  # ..1, ..2, ... stand for arguments of the function that called, which have no name here.
  if (!is.language(code) || is.symbol(code) && grepl("^[.][.][0-9]+$", as.character(code))) {
    return(otherwise)
  }
  code <- without_source(code)
  if (is.call(code) && holds_values(code)) return(otherwise)
  lines <- on_error(deparse(code, width.cutoff = 500L, backtick = TRUE), function(e) "")
  # Lines in braces must stay apart.
  for (text in c(paste(trimws(lines), collapse = " "), paste(lines, collapse = "\n"))) {
    if (nchar(text) <= most && identical(parsed_or_null(text), as.expression(code))) return(text)
  }
  otherwise
}

# Values in code, where do.call() has put them, have no text that parses to them. deparse() of a
# table takes long, and fails where the name of a column is no text.
holds_values <- function(code) {
  any(vapply(seq_along(code), function(i) {
    if (is.call(code[[i]])) holds_values(code[[i]]) else
      !is.language(code[[i]]) && !is.pairlist(code[[i]]) &&
        (length(code[[i]]) > 1L || !is.null(attributes(code[[i]])))
  }, NA))
}

parsed_or_null <- function(text) on_error(parse(text = text, keep.source = FALSE), function(e) NULL)

# Code without the places in a file that functions in it come from.
without_source <- function(code) {
  if (!is.call(code)) return(code)
  if (identical(code[[1L]], quote(`function`))) code[4L] <- list(NULL)
  for (name in c("srcref", "srcfile", "wholeSrcref")) attr(code, name) <- NULL
  for (i in seq_along(code)) if (is.call(code[[i]])) code[[i]] <- without_source(code[[i]])
  code
}

# Every line of the text as a comment.
as_comment <- function(text) paste0("# ", gsub("\n", "\n# ", text, fixed = TRUE))
