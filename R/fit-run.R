# ufs(), ufs_methods(), and what happens around every fit.

#' Fit any method by name
#'
#' Runs the method of the given name: `ufs(x, "socfs", n_clusters = 5)` is the same as
#' `ufs_socfs(x, n_clusters = 5)`. Use it in loops over methods; [ufs_grid()] and [ufs_compare()]
#' take the same names.
#'
#' @param x The data, with n samples in rows and p features in columns. [ufs_data()] says which
#'   kinds there are.
#' @inheritParams ufs_grid
#' @param ...,m Arguments of that method, and of [ufs_data()]: `assay`, `features`, `samples`, `na`.
#' @return The method's fit, of class `c("ufs_<method>", "ufs")`.
#' @examples
#' ufs(iris[, 1:4], "variance")
#' ufs_methods()[, c("method", "selects", "title")]
#' @export
ufs <- function(x, method, ..., m) {
  check_given(x)
  table <- registry()
  args <- list(...)
  if (!missing(m)) args["m"] <- list(m)
  known <- paste0("\"", names(table), "\"", collapse = ", ")
  if (missing(method)) refuse("method", "`method`, one of ", known, ", is missing.")
  if (!is.character(method) || length(method) != 1L || !method %in% names(table)) {
    refuse("method", "`method` must be one of ", known, "; it is ", deparse_short(method), ".")
  }
  check_arguments(names_of(args), table[[method]]$fit, method)
  fit <- do.call(table[[method]]$fit, c(list(x), args), quote = TRUE)
  fit$call <- plain_call(match.call(), "ufs")
  fit
}

#' The methods of the package
#'
#' Lists all methods, what each of them selects and costs, and how well it did on real data. Use
#' it to find the name that [ufs()], [ufs_grid()] and [ufs_compare()] take.
#'
#' @param what `"methods"` for the list of methods, or `"wishes"` for what each of them does about
#'   the wishes of [ufs_data()].
#' @param ... Must be empty.
#' @return For `"methods"` a data frame with one row per method: `method` (the name [ufs()] takes),
#'   `selects` ("features", "samples" or "both"), `title`, `deterministic` (`TRUE` if no random
#'   numbers are drawn by default), `moments` (`TRUE` if `x` may be a result of [ufs_moments()]; for
#'   [ufs_jspca()] with `loss = "feature"`), `cost` (leading term of the time), `reference`, and
#'   `advice`: how the method did on real sets, "recommended for" a task,
#'   "situational" (it wins on some sets and loses on others by as much) or "historical" (there for
#'   comparison; others do better at the same job). See [ufs_select()], which applies the
#'   recommended ones.
#'
#'   For `"wishes"` a data frame with one row per method and one column per wish, with the values
#'   `"solver"`, `"ranking"`, `"refused"` and `"-"`, explained in the section on wishes of
#'   [ufs_data()], and `why`: the reason for which a method refuses `weights`.
#' @examples
#' subset(ufs_methods(), selects != "features")$method
#'
#' # Which methods take columns that must be in into account while they optimise?
#' subset(ufs_methods(what = "wishes"), include == "solver")$method
#' @export
ufs_methods <- function(what = c("methods", "wishes"), ...) {
  check_dots_empty(...)
  if (check_choice(what, "what") == "wishes") return(wishes_table())
  table <- registry()
  column <- function(name, type) unname(vapply(table, `[[`, type, name))
  data.frame(
    method = names(table), selects = column("selects", ""), title = column("title", ""),
    deterministic = column("deterministic", NA), moments = column("moments", NA),
    cost = column("cost", ""), reference = column("reference", ""), advice = column("advice", ""))
}

# ---- one run ----------------------------------------------------------------------------------

# What all methods do around their own work. `made` is the body of the method, evaluated
# here, in the method's own frame: it checks the arguments, calls the solver and returns a
# list with
#   data, params, control   as in `fit_parts`; `data` and `control` may be left out where the method
#                           has them under these names
#   run                     the solver's list(status, iterations, lapack, trace, counters);
#                           absent where there is no solver
#   advice                  what to do if it did not converge, one sentence
# and anything else of what new_ufs() takes. run_fit() looks after LAPACK's failures, the label of
# the status, the iterations, the trace, the time and the warning if it did not converge.
#
# What a method gets in `...` are arguments of ufs_data(): x is opened with them before all else
# (open = FALSE: the method has done so itself). Arguments whose default is a choice of words or a
# switch are checked, but those in `free`, which may be something else, and `center` and `scale`,
# which the input pass checks; these two go to `params` by themselves.
run_fit <- function(method, call, made, open = TRUE, free = character()) {
  start <- proc.time()[[3L]]
  watched <- watch_over(paste0("ufs_", method, "()"))
  on.exit(options(watched))
  frame <- parent.frame()
  fun <- sys.function(sys.parent())
  if (open) {
    check_call(names_of(sys.call(sys.parent())), fun, frame, method)
    if (inherits(frame$x, "ufs_moments") && isTRUE(registered[[method]]$moments)) {
      frame$x <- rows_of_moments(frame$x)
    }
    open_dots(frame, fun, method)
    started <- start_workers(frame$x)
    on.exit(if (!is.null(started)) BiocParallel::bpstop(started), add = TRUE)
    check_honoured(frame$x, method, setdiff(names_of(sys.call(sys.parent())), arguments_of(fun)))
    check_by_default(frame, fun, free)
  }
  wanted <- numbers_to_report(frame, fun)
  made <- force(made)
  for (name in setdiff(c("data", "control"), names(made))) made[[name]] <- frame[[name]]
  same <- setdiff(intersect(c("center", "scale"), names(formals(fun))), names(made$params))
  made$params <- c(made$params, mget(same, envir = frame))
  # The numbers of samples and features are known now.
  wanted <- wanted[setdiff(names(wanted), names(made$params))]
  free <- made$data$n - length(made$params$labelled)
  made$params[names(wanted)] <- check_wanted(wanted, c(free, made$data$p))
  check_included(made$data, made$params)
  run <- made$run
  if (!is.null(run)) {
    check_lapack(run$lapack, method)
    default <- list(status = status_label(run$status), iterations = run$iterations,
      trace = run$trace)
    made <- c(made, default[setdiff(names(default), names(made))])
  }
  advice <- made$advice
  made[c("run", "advice")] <- NULL
  # Correlations need the columns, where the method kept no matrix of them.
  if (ranks_by_correlation(made$data) &&
      !identical(dim(made$data$x), c(made$data$n, length(made$data$keep)))) {
    made$data$x <- as_ufs_operator(open_quietly(frame$x))$x
  }
  fit <- new_ufs(method, call, c(made, list(elapsed = proc.time()[[3L]] - start)))
  close_source(made$data$x)
  if (inherits(frame$x, "ufs_data") && !is.null(frame$x$n_rows)) {
    fit <- without_rows(fit, frame$x$n_rows)
  }
  warn_status(fit, advice)
  fit
}

# A fit of moments: nothing in it may be of the rows, which were made up to have these moments.
without_rows <- function(fit, n) {
  fit$n <- n
  fit$solution$scores <- NULL
  fit["wishes"] <- list(if (!is.null(fit$wishes$features)) list(features = fit$wishes$features))
  fit
}

check_by_default <- function(frame, fun, free) {
  open <- c("center", "scale", "...", required_arguments(fun), free)
  for (name in setdiff(names(formals(fun)), open)) {
    default <- formals(fun)[[name]]
    if (is.logical(default) && !is.na(default)) {
      frame[[name]] <- check_flag(frame[[name]], name)
    } else if (is.call(default) && all(vapply(as.list(default)[-1L], is.character, NA)) &&
        length(default) > 2L) {
      frame[[name]] <- check_choice(frame[[name]], name, eval(default))
    }
  }
}

# How many features (`k`) and samples (`m`) the user wants to see, where the method leaves that open
# (NULL by default): they change no score and are remembered in `params`, where selected_features(),
# predict(), print() and plot() find them. Wrong ones are refused before the work, if x has its
# sizes.
numbers_to_report <- function(frame, fun) {
  known <- formals(fun)
  open <- Filter(function(name) name %in% names(known) && is.null(known[[name]]), c("k", "m"))
  size <- dim(if (is.data.frame(frame$x)) flat_table(frame$x) else frame$x)
  sized <- length(size) == 2L && all(size > 0L) &&
    (is.matrix(frame$x) || is.data.frame(frame$x) || inherits(frame$x, "Matrix"))
  check_wanted(mget(open, envir = frame), if (sized) size else c(Inf, Inf))
}

check_wanted <- function(wanted, size) {
  wanted <- Filter(Negate(is.null), wanted)
  Map(function(value, name) {
    if (name == "k") check_count(value, name, 1L, size[2L], "the features") else
      check_count(value, name, 1L, size[1L], "the samples")
  }, wanted, names(wanted))
}

# What all methods refuse: a name that R completed (names are exact everywhere), a penalty that is
# given both absolutely and as a share, no data.
check_call <- function(given, fun, frame, method) {
  check_arguments(given[given != "x"], fun, method)
  if (eval(quote(missing(x)), frame)) refuse("x", "`x`, the data, is missing.")
  for (rel in given[endsWith(given, "_rel")]) {
    absolute <- sub("_rel$", "", rel)
    if (absolute %in% given && !is.null(frame[[absolute]]) && !is.null(frame[[rel]])) {
      refuse(rel, "Give `", absolute, "` or `", rel, "`, not both.")
    }
  }
}
