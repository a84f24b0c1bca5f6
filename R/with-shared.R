# Parts that the adapters to other frameworks (with-recipes.R, with-mlr3.R, with-explorer.R) share:
# one way from a table to a ranking of its columns, with one policy for settings, units, missing
# values and messages.

# Options that a framework passes to a method: named, and names the method has, or constraints that
# a ranking for one number of columns keeps.
check_method_options <- function(method, options) {
  if (!is.list(options) || (length(options) && (is.null(names(options)) ||
      any(names(options) == "") || anyDuplicated(names(options))))) {
    refuse("options", "`options` must be a list in which each element has a name of its own.")
  }
  known <- c(row_of(method)$arguments,
    if (row_of(method)$selects != "samples") constraint_names(option = TRUE))
  unknown <- setdiff(names(options), known)
  quoted <- function(names) paste0("`", names, "`", collapse = ", ")
  if (length(unknown)) {
    refuse("options", "`options`: ", if (method %in% task_names) "task \"" else "ufs_", method,
      if (method %in% task_names) "\"" else "()", " has no argument ", quoted(unknown),
      "; it has ", quoted(known), ".")
  }
}

# ---- tasks beside methods -----------------------------------------------------------------------

# A task as a row of the registry: what it can be told.
row_of <- function(method) {
  if (!is.character(method) || length(method) != 1L || !method %in% task_names) {
    return(c(method_row(method), list(name = method)))
  }
  fit <- switch(method,
    compress = function(x, k = NULL, kind = NULL, ...) NULL,
    classify = function(x, k = NULL, noise = NULL, kind = NULL, ...) NULL,
    cluster = function(x, k = NULL, n_clusters = NULL, noise = NULL, kind = NULL, ...) NULL,
    label = function(x, m = NULL, ordered = FALSE, kind = NULL, ...) NULL)
  list(task = method, fit = fit, arguments = arguments_of(fit),
    selects = if (method == "label") "samples" else "features",
    title = paste0("ufs_select() for task = \"", method, "\""), mixed_units = "by task")
}

check_offered <- function(method, what) {
  row <- row_of(method)
  if (!row$selects %in% c(what, "both")) {
    refuse("method", if (is.null(row$task)) paste0("ufs_", method, "()") else
      paste0("Task \"", method, "\""), " selects ", row$selects, ", not ", what, ".")
  }
  row
}

# Fit of the method, or of ufs_select() for the task.
fit_of_row <- function(data, row, options, standardise, size = NULL) {
  if (is.null(row$task)) {
    return(do.call(ufs, c(list(x = data, method = row$name), paper_in_control(options, row)),
      quote = TRUE))
  }
  if (is.logical(standardise)) options$scale <- standardise
  size <- stats::setNames(list(size), if (row$task == "label") "m" else "k")
  do.call(ufs_select, c(list(x = data, task = row$task), size, options), quote = TRUE)
}

# ---- a ranking of the columns -------------------------------------------------------------------

# The features of x as a method ranks them, for a framework that will keep the best k: a list with
#   features      names of all columns of x
#   ranking       their indices, best first; what na = "omit" left out comes last
#   score         of each feature, NA if it is constant or was left out
#   scored        how many scores say something, `rest` in which order the others come
#   standardised  TRUE, FALSE, or NA where the method has no say in it
#   k             as asked for, or the answer of ufs_size() for k = "auto"
#   included      those that must be in, and `open`, how many of the ranking may be chosen
#   quota         what quotas of columns ask for; with strata the best k that these allow come first
# `options`: arguments of the method, and constraints, `weights` among them where the table has some
# that the method takes. `standardise`, `na`: see step_select_ufs(). Inside a resampling the ranking
# is kept, since a tuning run asks for one again with every k.
rank_for <- function(x, method, k, options, standardise, na, seed) {
  row <- row_of(method)
  refuse_missing_values(x, na)
  own <- names(options) %in% c(constraint_names(option = TRUE), "weights")
  held <- options[own]
  # Frameworks put columns in an order of their own, to which nothing that is given by place
  # applies.
  for (one in constraint_rows("columns", c("places", "numbers", "strata"))) {
    value <- held[[one$name]]
    named <- if (one$kind == "places") is.character(value) || is.function(value) else
      !is.null(names(value))
    if (length(value) && !named) {
      refuse(one$name, "`", one$name, "` needs the names of the columns here, whose order may be ",
        "another one: ", if (one$kind == "places") "c(\"column\", ...)" else
          paste0("c(column = ", deparse_short(value[[1L]]), ", ...)"), ".")
    }
  }
  data <- framework_data(x, na, held)
  # A method that must be told a number of clusters or components is told 5 if the user says
  # nothing, as in ufs_select(), or what the data allow.
  options <- options[!own]
  most <- c(n_clusters = data$n - 2L, n_components = min(data$n - 1L, data$p))
  for (name in setdiff(intersect(names(most), required_arguments(row$fit)), names(options))) {
    options[[name]] <- max(1L, min(5L, most[[name]]))
    inform_unless_resampling("clusters", "ufs_", method, "() is told `", name, " = ",
      options[[name]], "`: set it if you know better.")
  }
  make <- function(k) with_seed(seed, fresh_ranking(x, data, method, row, k, options, standardise))
  key <- if (in_resampling()) {
    list(data_key(data), if (na != "error") colnames(x), method, c(options, held), standardise,
      seed, own_code(method))
  }
  if (identical(k, "auto")) {
    k <- kept_ranking(if (!is.null(key)) c(key, list("auto")), function() {
      with_seed(seed, auto_size(data, method, row, options, standardise))
    })
  }
  c(if (is.null(key)) make(k) else ranking_from_kept(key, make, k, row, c(options, held)),
    list(k = k, new_rows = data$input$new_rows, filled = data$features,
      coding = data$input$coding))
}

# The table as the adapters give it to a method, with a word about columns that are no features.
# Rows of weight 0 stand for no row.
framework_data <- function(x, na, given = list()) {
  none <- which(given$weights == 0)
  if (length(none)) {
    x <- x[-none, , drop = FALSE]
    given$weights <- given$weights[-none]
  }
  data <- if (length(given)) {
    do.call(ufs_data, c(list(x, na = na, factors = "dummies"), given), quote = TRUE)
  } else open_data(x, na = na, reading = list(factors = "dummies"))
  doubt <- if (!in_resampling()) looks_like_ids(data)
  if (!is.null(doubt)) ufs_inform("numbering", "Among the columns to choose from ", doubt, ".")
  data
}

# Weights of the rows of a table, where the method (or task) takes them; NULL where it does not,
# which is said. `chose`: the method that a task came to, where it is known.
taken_weights <- function(weights, method, options, chose = NULL) {
  if (is.null(weights)) return(NULL)
  methods <- if (!is.null(chose)) chose else if (is.null(row_of(method)$task)) method else
    task_methods(c(list(task = method), options[names(options) %in% c("n_clusters", "ordered")]))
  if (any(take_weights(methods))) return(as.double(weights))
  inform_unless_resampling("weights", "Weights are ignored: ", paste(vapply(methods, function(one) {
    paste0("ufs_", one, "() takes none (", method_row(one)$refuses[["weights"]], ")")
  }, ""), collapse = ", "), ".")
}

# In an adapter missing values are a matter of its own `na`.
refuse_missing_values <- function(x, na) {
  if (na != "error" || !is.data.frame(x)) return(invisible())
  gone <- vapply(x, anyNA, NA)
  if (any(gone)) {
    refuse_data("na", "There are missing values in ", some_columns(names(x)[gone]),
      ": choose `na`, an argument of the step or filter itself, or fill them in before.")
  }
}

# A ranking for k that serves other numbers, too, where the method allows it.
ranking_from_kept <- function(key, make, k, row, options) {
  number <- if (is.null(row$task)) number_argument(row)
  fixed <- !is.null(number) && !is.null(options[[number]])
  own <- function() kept_ranking(c(key, list(k)), function() make(k))
  per_k <- !is.null(row$per_k) || !is.null(row$task) ||
    any(names(options) %in% constraint_names("columns", "strata"))
  if (!fixed && (per_k || any(names(options) %in% row$picks$unless))) return(own())
  out <- kept_ranking(key, function() make(NULL))
  if (!fixed && !is.null(out$picked) && k > out$picked) own() else out
}

# k = NULL: as many as the method picks by itself.
fresh_ranking <- function(x, data, method, row, k, options, standardise) {
  delayedAssign("table", as_column_stats(open_quietly(data), TRUE))
  # Only columns that are not constant count.
  if (!is.null(k)) {
    range <- choice_range(expand_groups(data$held), data$p)
    k <- min(max(k, range[1L]), length(table$keep), range[2L])
  }
  if (!is.null(k) && is.null(row$task)) options <- with_number(options, row, k)
  decided <- standardise_or_not(row, options, standardise, data, table)
  if (isTRUE(decided$change)) {
    inform_unless_resampling("units", "Columns have different units (", decided$reason, "): ufs_",
      method, "() gets them standardised; see `standardise`.")
  }
  fit <- quietly_constant(fit_of_row(data, row, decided$options, standardise, k))
  if (!is.null(row$task)) decided$standardised <- !isFALSE(fit$params$scale)
  # Over all columns of x, of which `omit` may have left some out.
  features <- if (is.null(colnames(x))) fit$names$features else colnames(x)
  at <- if (length(data$input$dropped_features)) match(fit$names$features, features) else
    seq_along(features)
  score <- rep(NA_real_, length(features))
  score[at] <- unname(fit$feature_scores)
  held <- fit$constraints$features
  strata <- held$feature_strata
  open <- held$open
  order <- unname(fit$feature_ranking)
  if (!is.null(k) && !is.null(strata)) {
    order <- union(choose_best(fit, "feature", k), order)
    open <- min(open, choice_range(held, fit$p)[2L])
  }
  list_of(features, ranking = c(at[order], setdiff(seq_along(features), at)),
    score, scored = count_scored(fit$feature_scores),
    rest = order_of_rest(fit$feature_scores, fit$feature_key),
    standardised = decided$standardised, method = fit$method,
    picked = if (!is.null(row$picks)) fit$params[[row$picks$argument]],
    included = features[at[held$include]], open,
    quota = if (!is.null(strata$quota)) {
      # Of the columns that the framework has.
      list(level = replace(rep(NA_integer_, length(features)), at, strata$level),
        least = strata$quota[, "least"], range = choice_range(held, fit$p))
    })
}

# Refuses a number of columns, or those that are kept, where quotas want more; and (`most`) a number
# that they do not allow.
check_kept_quotas <- function(found, kept, arg, most = FALSE) {
  quota <- found$quota
  if (is.null(quota)) return(invisible())
  named <- is.character(kept)
  size <- if (named) length(kept) else kept
  few <- size < quota$range[1L] || (named && any(quota$least >
    tabulate(quota$level[match(kept, found$features)], length(quota$least))))
  if (few || (most && size > quota$range[2L])) {
    refuse(arg, "`", arg, "` keeps ", count_words(size, "column"), if (few) ", fewer than " else
      ", more than ", "`feature_quotas` ", if (few) "asks for." else "allows.")
  }
}

# The number that "auto" means for the method with its options (auto_k()); all columns where none is
# better than noise. Either is said.
auto_size <- function(data, method, row, options, standardise) {
  if (!is.null(row$task)) {
    found <- quietly_constant(do.call(ufs_size, c(list(data, task = row$task), options,
      if (is.logical(standardise)) list(scale = standardise)), quote = TRUE))
    inform_unless_resampling("size", "\"auto\": k = ", found$k, ": ", found$reason, ".")
    return(found$k)
  }
  options <- standardise_or_not(row, options, standardise, data)$options
  found <- withCallingHandlers(quietly_constant(auto_k(data, method, options)),
    ufs_warning_size = function(w) invokeRestart("muffleWarning"))
  inform_unless_resampling("size", "\"auto\": ", if (found$verdict == "noise")
    "no column is better than noise; all are kept" else found$reason, ".")
  found$k
}

# Passes on what selected_features() says about a selection that its scores do not decide.
say_padded <- function(found, k) {
  if (found$scored < k && k < length(found$features)) {
    inform_unless_resampling("padded", "Only ", found$scored, " of the ", k,
      " features have a score above 0; the rest is ", found$rest, ".")
  }
}

# A method that solves for one number of features, or picks them one by one, is told that number,
# unless the user has.
with_number <- function(options, row, number) {
  argument <- number_argument(row)
  if (!is.null(argument) && is.null(options[[argument]])) options[[argument]] <- number
  options
}

# ---- units ------------------------------------------------------------------------------------

# Whether a method gets standardised columns: list(options, standardised, change, reason). `table`
# is looked at only where the units decide.
standardise_or_not <- function(row, options, standardise, data,
                               table = as_column_stats(open_quietly(data), TRUE)) {
  has <- intersect(c("center", "scale"), row$arguments)
  out <- list(options = options, change = FALSE, standardised = NA)
  if (!"scale" %in% has) return(out)
  own <- if (is.null(options$scale)) eval(formals(row$fit)$scale) else options$scale
  wanted <- if (identical(standardise, "auto")) own else standardise
  if (identical(standardise, "auto") && is.null(options$scale) &&
      row$mixed_units == "standardise") {
    units <- data_kind(data, function() table)
    wanted <- units$values == "mixed units"
    out[c("reason", "change")] <- list(units$reason, wanted)
  }
  if (wanted && !own) {
    out$options[setdiff(has, names(options))] <- TRUE
  } else if (own && !wanted) {
    out$options$scale <- FALSE
  }
  out$standardised <- isTRUE(wanted)
  out
}

# ---- messages -----------------------------------------------------------------------------------

# Tells a user once: inside a resampling it would be said for every model.
inform_unless_resampling <- function(class, ...) if (!in_resampling()) ufs_inform(class, ...)

# A constant column is no event in a training set: one message in place of a warning. Columns that
# number the rows were named by framework_data().
quietly_constant <- function(code) {
  before <- said_once$numbering
  said_once$numbering <- TRUE
  on.exit(said_once$numbering <- before)
  withCallingHandlers(code, ufs_warning_constant = function(w) {
    inform_unless_resampling("constant", conditionMessage(w))
    invokeRestart("muffleWarning")
  })
}

# Is a function of tune or of mlr3's resample() at work, which fits anew on every fold?
in_resampling <- function() {
  worker <- if (isNamespaceLoaded("mlr3")) get0("workhorse", asNamespace("mlr3"))
  if (is.null(worker) && !isNamespaceLoaded("tune")) return(FALSE)
  for (i in seq_len(sys.nframe())) {
    fun <- sys.function(i)
    if (identical(environmentName(topenv(environment(fun))), "tune") || identical(fun, worker)) {
      return(TRUE)
    }
  }
  FALSE
}

# ---- one ranking for every k --------------------------------------------------------------------

kept_rankings <- new.env(parent = emptyenv())

# The value of make(), kept under a key that says what it depends on (NULL: it is not kept), with
# the 32 last ones. What drew random numbers is not kept, since the next draw is another.
kept_ranking <- function(key, make, most = 32L) {
  if (is.null(key)) return(make())
  key <- hash_of(key)
  kept <- kept_rankings$all[[key]]
  if (!is.null(kept)) return(kept)
  before <- get0(".Random.seed", globalenv(), inherits = FALSE)
  value <- make()
  if (identical(before, get0(".Random.seed", globalenv(), inherits = FALSE))) {
    kept_rankings$all <- utils::tail(c(kept_rankings$all, stats::setNames(list(value), key)), most)
  }
  value
}
