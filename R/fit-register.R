# Methods of users: a function that scores columns or rows becomes a row of the registry.

#' Add a method of your own
#'
#' Makes a method of a function that scores the columns (or rows) of a matrix. The method then has
#' all that those of the package have: [ufs_compare()], [ufs_stability()], [ufs_grid()],
#' [ufs_decoys()], [ufs_size()], [ufs_tune()], [ufs_consensus()], the recipes steps and [ufs()] take
#' its name; constraints, missing values, data of all kinds, workers and checkpoint folders are seen
#' to; [ufs_methods()] lists it. [ufs_compare()] and [ufs_stability()] also take a function itself,
#' as a method for that call alone. `vignette("add-your-own-method")` goes through an example, and
#' `vignette("c-header")` has the solvers that C code of other packages may call.
#'
#' Workers and checkpoint folders take a function that stands alone: all that it uses is in packages
#' or among its arguments. One that finds something in the workspace, or in the function that made
#' it, runs in this session, as a function given in the place of a name does, and a checkpoint
#' folder refuses both. How many columns to keep is asked of [ufs_pca()], since a score of each
#' column alone is the same for a permuted copy.
#'
#' # What the function is given
#' Its first argument is a dense double matrix: columns that are not constant, without missing
#' values, centred and scaled as `center` and `scale` say, with row names and column names, each of
#' them only once. Three further arguments have a meaning:
#' * `k` (of a method for features) or `m` (for samples): the number to choose. Without a default
#'   the method cannot do without it, and selections for different numbers need not be nested. With
#'   a default it is handed on where the user gives it. A function that has such an argument and
#'   does not use it is one that does not have it.
#' * `weights`: one number for each row. Methods without this argument refuse `weights`.
#'
#' All others become arguments of the method, which users give, and [ufs_grid()] varies.
#'
#' # What it returns
#' Scores: one finite number for each column (row) of its matrix, in their order, or with their
#' names in any order; the largest is the best. Or an order: names of columns (rows), or with
#' `returns = "order"` also their numbers, the best first. Those that are not in it come last.
#' Anything else is an error of class `ufs_error_argument` that says what is wrong with it.
#'
#' @param method The name of the method: letters, digits, dots and underscores. Names of this
#'   package's methods are refused, and so is a name that stands for another function of yours,
#'   unless `replace = TRUE`.
#' @param fun The function, or `NULL` to take the method out again.
#' @param what Does it choose `"features"` (columns) or `"samples"` (rows)?
#' @param returns Are numbers that it returns `"scores"` or an `"order"`?
#' @param center,scale Whether columns are centred and divided by their standard deviation before
#'   the function sees them; defaults of the method's arguments of these names. Both are `TRUE`, as
#'   in most methods, so that units do not count.
#' @param random Does the function draw random numbers? They then follow `set.seed()`, and every
#'   fit of a grid gets a seed of its own. A warning says where this should be `TRUE`.
#' @param title A few words for [print()] and [ufs_methods()]; the default is the name.
#' @param replace May the name stand for another function of yours so far?
#' @param ... Must be empty.
#' @return The method as a function like [ufs_pca()], invisibly:
#'   `f(x, k, ..., center, scale, control)`, whose fits are of class `c("ufs_<name>", "ufs")`. With
#'   `fun = NULL`, `NULL`.
#' @seealso [ufs_methods()]
#' @examples
#' # Flat and two-peaked columns first: the kurtosis of those is small.
#' flatness <- function(x) -colMeans(x^4) / colMeans(x^2)^2
#' ufs_flatness <- ufs_register("flatness", flatness)
#' ufs_flatness(iris[, 1:4], k = 2)
#' ufs_stability(iris[, 1:4], c("flatness", "variance"), k = 2, n_resamples = 10)
#' ufs_register("flatness", NULL)
#' @export
ufs_register <- function(method, fun, ..., what = c("features", "samples"),
                         returns = c("scores", "order"), center = TRUE, scale = TRUE,
                         random = FALSE, title = NULL, replace = FALSE) {
  check_dots_empty(...)
  check_given(method, fun)
  if (!is.character(method) || length(method) != 1L || is.na(method) ||
      !grepl("^[A-Za-z][A-Za-z0-9._]*$", method)) {
    refuse("method", "`method` must be one name of letters, digits, dots and underscores; it is ",
      deparse_short(method), ".")
  }
  known <- registered[[method]]
  if (method %in% c("all", "auto", "diversify", task_names) ||
      (!is.null(known) && is.null(known$own))) {
    refuse("method", "`method`: \"", method, "\" has a meaning in ufselect already; take another.")
  }
  own <- list_of(method, fun, what = check_choice(what, "what"),
    returns = check_choice(returns, "returns"), told = !missing(returns),
    center = check_flag(center, "center"), scale = check_flag(scale, "scale"),
    random = check_flag(random, "random"),
    title = if (is.null(title)) method else title)
  if (!is.character(own$title) || length(own$title) != 1L || is.na(own$title)) {
    refuse("title", "`title` must be one text; it is ", deparse_short(title), ".")
  }
  if (is.null(fun)) return(invisible(forget_methods(intersect(method, ls(registered)))))
  # Arguments of a function that cannot be those of a method.
  if (!is.function(own$fun) || is.null(formals(args(own$fun)))) {
    refuse("fun", "`fun` must be a function of a matrix, or NULL; it is ", if (is.function(fun)) {
      "a function without arguments. Write function(x), with the matrix as `x`"
    } else kind_of(own$fun), ".")
  }
  taken <- setdiff(c(input_arguments(), "center", "scale", "control", "k", "m"),
    c("weights", own_number(own)))
  wrong <- intersect(own_formals(own$fun), taken)
  if (length(wrong)) {
    refuse("fun", "`fun`: its argument `", wrong[1L], "` has a meaning of its own beside ",
      "every method's; give it another name.")
  }
  if (!check_flag(replace, "replace") && !is.null(known) && !same_method(known$own, own)) {
    refuse("method", "`method`: \"", method, "\" is another function of yours; replace = TRUE ",
      "puts this one in its place.")
  }
  enrol(own)
  invisible(registered[[method]]$fit)
}

forget_methods <- function(methods) remove(list = methods, envir = registered)

# ---- the row of the registry ---------------------------------------------------------------------

own_number <- function(own) if (own$what == "features") "k" else "m"

# The arguments behind the matrix, without dots.
own_formals <- function(fun) setdiff(names(formals(args(fun)))[-1L], "...")

# Does the function use the number to choose, and can it do without?
number_role <- function(own) {
  number <- own_number(own)
  value <- formals(args(own$fun))
  if (!number %in% own_formals(own$fun)) return("none")
  body <- body(own$fun)
  if (!is.null(body) && !number %in% all.names(body)) return("none")
  if (is.name(value[[number]]) && !nzchar(value[[number]])) "needed" else "open"
}

enrol <- function(own) {
  role <- number_role(own)
  number <- own_number(own)
  weighted <- "weights" %in% own_formals(own$fun)
  # The method as a function. It carries the user's, and so works in another session, too. Defaults
  # that are no constants are left to the user's function.
  more <- formals(args(own$fun))[setdiff(own_formals(own$fun), c(number, "weights"))]
  constant <- function(value) {
    !is.language(value) || (is.name(value) && !nzchar(value)) || (is.call(value) &&
      identical(value[[1L]], quote(c)) && all(vapply(as.list(value)[-1L], is.atomic, NA)))
  }
  more[names(more)[!vapply(more, constant, NA)]] <- list(NULL)
  first <- stats::setNames(alist(x = , number = NULL), c("x", number))
  if (role == "needed") first[number] <- alist(number = )
  out <- function() NULL
  body(out) <- quote({
    run_fit(own_name(.own), match.call(), sys.call(), as.list(environment()), list(...),
      parent.frame())
  })
  formals(out) <- c(first, more, alist(... = ), list(center = own$center, scale = own$scale),
    alist(control = ufs_control()))
  environment(out) <- list2env(list(.own = own), parent = topenv())
  register(own$method, out, own = own,
    solve = function(data, control, given, ...) run_own(own, data, list(...), given), spends = TRUE,
    prepare = function(x, args) as_ufs_matrix(x, args$center, args$scale),
    arguments = if (role == "needed") stats::setNames(list(a_count(1L)), number) else list(),
    per_k = if (role == "needed") number,
    sized_by = if (own$what == "features") "pca",
    group = own$what, selects = own$what, title = own$title, cost = "",
    deterministic = !own$random, constraints = if (weighted) "weights" else character(),
    refuses = if (weighted) character() else
      c(weights = "the function that it was made of has no argument `weights`"))
}

# The name of a method that is registered; it is put back where this session does not have it.
own_name <- function(own) {
  there <- registered[[own$method]]
  if (is.null(there)) enrol(own) else if (!identical(there$own, own)) {
    refuse("method", "\"", own$method, "\" was registered anew: take the function that ",
      "ufs_register() returned then.")
  }
  own$method
}

same_method <- function(a, b) {
  plain <- function(own) replace(own, "fun", list(if (is.primitive(own$fun)) own$fun else
    utils::removeSource(own$fun)))
  isTRUE(all.equal(plain(a)[names(a) != "fun"], plain(b)[names(b) != "fun"])) &&
    identical(plain(a)$fun, plain(b)$fun, ignore.bytecode = TRUE)
}

# Functions and settings of users' methods, on which their results depend, for all of these that are
# named anywhere in a value: stored results are known by it.
own_code <- function(value) {
  words <- unlist(rapply(list(value), function(text) unique(text), "character", how = "unlist"))
  words <- c(character(), words)
  own <- lapply(mget(intersect(words, ls(registered)), envir = registered), `[[`, "own")
  lapply(Filter(Negate(is.null), own), function(own) {
    c(own[c("fun", "what", "returns", "center", "scale")], list(passing = isTRUE(own$passing)))
  })
}

# The names that a function finds in no package, and so in no other session. Names that it gives
# values itself are its own.
outside_names <- function(fun) {
  if (is.primitive(fun)) return(character())
  words <- utils::getParseData(parse(text = deparse(fun), keep.source = TRUE))
  words <- words[words$terminal, ]
  made <- c(words$token[-1L] %in% c("LEFT_ASSIGN", "EQ_ASSIGN"), FALSE)
  own <- words$text[made | words$token == "SYMBOL_FORMALS"]
  found <- setdiff(words$text[words$token %in% c("SYMBOL", "SYMBOL_FUNCTION_CALL")], own)
  found[vapply(found, function(name) {
    at <- environment(fun)
    while (!identical(at, emptyenv()) && !exists(name, envir = at, inherits = FALSE)) {
      at <- parent.env(at)
    }
    !isNamespace(at) && !identical(at, baseenv()) && !identical(at, emptyenv()) &&
      is.null(attr(at, "path"))
  }, NA)]
}

stands_alone <- function(own) !isTRUE(own$passing) && !length(outside_names(own$fun))

# All methods of users.
own_methods <- function() {
  Filter(Negate(is.null), lapply(mget(ls(registered), envir = registered), `[[`, "own"))
}

# ---- one run -------------------------------------------------------------------------------------

run_own <- function(own, data, args, given) {
  number <- own_number(own)
  features <- own$what == "features"
  role <- number_role(own)
  if (role == "needed") {
    args[[number]] <- check_count(args[[number]], number, 1L, if (features) data$p else data$n,
      paste("the", own$what))
  }
  known <- own_formals(own$fun)
  wanted <- setdiff(intersect(known, given), if (role == "none") number)
  values <- args[intersect(wanted, names(args))]
  if ("weights" %in% known) {
    values$weights <- if (is.null(data$weights)) rep(1, data$n) else data$weights
  }
  names <- list(labels_of(data$samples, data$n), data$features[data$keep])
  names <- lapply(names, make.unique)
  x <- data$x
  data["x"] <- list(NULL)
  # Rows come times the root of their weight, for methods that are sums over rows.
  if (!is.null(data$weights)) x <- x / sqrt(data$weights)
  dimnames(x) <- names
  before <- get0(".Random.seed", globalenv(), inherits = FALSE)
  value <- on_error(do.call(own$fun, c(list(x), values), quote = TRUE), function(e) {
    refuse("fun", "The function of ufs_", own$method, "() stopped: ", conditionMessage(e))
  })
  drew <- !identical(before, get0(".Random.seed", globalenv(), inherits = FALSE))
  key <- paste0("random-", own$method)
  if (!own$random && drew && !isTRUE(said_once[[key]])) {
    said_once[[key]] <- TRUE
    ufs_warn("random", "ufs_", own$method, "() draws random numbers: register it with random = ",
      "TRUE, so that they follow the seeds of a run. (Said once in a session.)")
  }
  score <- own_scores(value, own, names[[if (features) 2L else 1L]])
  stopifnot(length(score) == if (features) length(data$keep) else data$n)
  made <- list(list(data = data, params = if (role == "needed") args[number]), list(score))
  stats::setNames(c(made[[1L]], made[[2L]]), c("data", "params",
    if (features) "feature_scores" else "sample_scores"))
}

# The result of the user's function as scores of the columns or rows with these names.
own_scores <- function(value, own, names) {
  one <- if (own$what == "features") "column" else "row"
  wrong <- function(...) refuse("fun", "`fun` of ufs_register(\"", own$method, "\"): ", ..., ".")
  if (is.factor(value) || !(is.numeric(value) || is.character(value)) ||
      (!is.null(dim(value)) && max(dim(value)) < length(value))) {
    wrong("it must return one number for each ", one, ", or an order of them, not ", kind_of(value))
  }
  place <- function(words) {
    unknown <- setdiff(words, names)
    if (length(unknown)) wrong("it returned '", unknown[1L], "', which is no ", one, " of `x`")
    if (anyDuplicated(words)) {
      wrong("it returned ", one, " '", words[duplicated(words)][1L], "' twice")
    }
    match(words, names)
  }
  if (is.character(value) || own$returns == "order") {
    if (!length(value)) wrong("the order that it returned is empty")
    if (is.numeric(value) && !is_choice(value, length(names))) {
      wrong("an order must be numbers of ", one, "s, from 1 to ", length(names),
        ", each at most once")
    }
    order <- if (is.character(value)) place(value) else as.integer(value)
    return(replace(numeric(length(names)), order, rev(seq_along(order)) / length(order)))
  }
  if (length(value) != length(names)) {
    wrong("it returned ", count_words(length(value), "number"), " for ",
      count_words(length(names), one))
  }
  words <- names(value)
  if (isFALSE(own$told) && is.null(words) && length(value) > 4L &&
      is_choice(value, length(value))) {
    wrong("it returned 1 to ", length(value), ", each once: an order() or scores? Say ",
      "returns = \"order\" or returns = \"scores\" in ufs_register()")
  }
  value <- as.double(value)
  if (!is.null(words)) value[place(words)] <- value
  bad <- which(!is.finite(value))
  if (length(bad)) wrong("the score of ", one, " '", names[bad[1L]], "' is ", value[bad[1L]])
  value
}

# Some of the numbers 1 to `size`, each once.
is_choice <- function(value, size) {
  is.numeric(value) && length(value) > 0L && all(value %in% seq_len(size)) && !anyDuplicated(value)
}
