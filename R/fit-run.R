# ufs(), ufs_methods(), and what happens around every fit.

#' Fit any method by name
#'
#' Runs the method of the given name: `ufs(x, "socfs", n_clusters = 5)` is the same as
#' `ufs_socfs(x, n_clusters = 5)`. Use it in loops over methods; [ufs_grid()] and [ufs_compare()]
#' take the same names.
#'
#' `k = "auto"`, here and in the method's own function, is as many features as [ufs_size()] names
#' for the method with these arguments and this seed, or all, with a warning, where none stands out
#' from noise; a message gives the reason. It takes several fits. Methods that solve for one number
#' of features refuse it.
#'
#' @param x The data, with n samples in rows and p features in columns. [ufs_data()] says which
#'   kinds there are.
#' @inheritParams ufs_grid
#' @param ...,m Arguments of that method, and of [ufs_data()]: `assay`, `features`, `samples`, `na`.
#' @return The method's fit, of class `c("ufs_<method>", "ufs")`.
#' @examples
#' ufs(iris[, 1:4], "variance")
#' ufs(scale(mtcars), "pca", n_components = 2, k = "auto")$params$k
#' ufs_methods()[, c("method", "selects", "title")]
#' @export
ufs <- function(x, method, ..., m) {
  check_given(x)
  table <- registry()
  args <- list(...)
  if (!missing(m)) args["m"] <- list(m)
  known <- paste0("\"", names(table), "\"", collapse = ", ")
  if (missing(method)) refuse("method", "`method`, one of ", known, ", is missing.")
  if (!is.character(method) && length(x) == 1L && x %in% names(table)) {
    refuse("method", "`x`, the data, comes before `method`: ufs(x, \"", x, "\").")
  }
  if (!is.character(method) || length(method) != 1L || !method %in% names(table)) {
    refuse("method", "`method` must be one of ", known, "; it is ", deparse_short(method), ".")
  }
  row <- table[[method]]
  check_arguments(setdiff(names_of(args), names(row$only)), row$fit, method, names(row$paper))
  fit <- do.call(table[[method]]$fit, c(list(x), args), quote = TRUE)
  call <- plain_call(match.call(), "ufs")
  if (identical(args$k, "auto")) call$k <- fit$call$k
  fit$call <- call
  fit
}

#' The methods of the package
#'
#' Lists all methods, what each of them selects and costs, and how well it did on real data. Use
#' it to find the name that [ufs()], [ufs_grid()] and [ufs_compare()] take.
#'
#' @param what `"methods"` for the list of methods, or `"constraints"` for what each of them does
#'   about the constraints of [ufs_data()].
#' @param ... Must be empty.
#' @return For `"methods"` a data frame, printed by advice, with one row per method: `method` (the
#'   name [ufs()] takes),
#'   `selects` ("features", "samples" or "both"), `title`, `deterministic` (`TRUE` if no random
#'   numbers are drawn by default), `moments` (`TRUE` if `x` may be a result of [ufs_moments()]; for
#'   [ufs_jspca()] with `loss = "feature"`), `cost` (leading term of the time), `reference`, and
#'   `advice`: how the method did on real sets, "recommended for" a task,
#'   "situational" (it wins on some sets and loses on others by as much) or "historical" (there for
#'   comparison; others do better at the same job). See [ufs_select()], which applies the
#'   recommended ones.
#'
#'   For `"constraints"` a data frame with one row per method and one column per constraint, with
#'   the values `"solver"`, `"ranking"`, `"refused"` and `"-"`, explained in the section on
#'   constraints of [ufs_data()], and `why`: the reason for which a method refuses `weights`.
#' @examples
#' subset(ufs_methods(), selects != "features")$method
#'
#' # Which methods take columns that must be in into account while they optimise?
#' subset(ufs_methods(what = "constraints"), include == "solver")$method
#' @export
ufs_methods <- function(what = c("methods", "constraints"), ...) {
  check_dots_empty(...)
  table <- registry()
  if (is.character(what) && length(what) == 1L && what %in% names(table)) {
    refuse("what", "`what` says which list, not which method; ",
      "for the row of one: subset(ufs_methods(), method == \"", what, "\").")
  }
  if (check_choice(what, "what") == "constraints") {
    listed <- names(Filter(function(row) row$ranked || (row$sums && is.null(row$needs)),
      constraint_rows()))
    out <- lapply(listed, function(name) unname(vapply(table, seen_by, "", name)))
    why <- vapply(table, function(row) c(row$refuses, weights = "")[["weights"]], "")
    return(data.frame(method = names(table), stats::setNames(out, listed), why = unname(why)))
  }
  column <- function(name, type) unname(vapply(table, `[[`, type, name))
  out <- data.frame(
    method = names(table), selects = column("selects", ""), title = column("title", ""),
    deterministic = column("deterministic", NA), moments = column("moments", NA),
    cost = column("cost", ""), reference = column("reference", ""), advice = column("advice", ""))
  class(out) <- c("ufs_methods", "data.frame")
  out
}

#' @export
print.ufs_methods <- function(x, ...) {
  if (!all(c("method", "title", "advice") %in% names(x))) return(invisible(NextMethod()))
  how <- sub("[^a-z].*", "", x$advice)
  what <- sub("^[a-z]+( for|:)? *([(].*)?", "", x$advice)
  line <- sprintf("  %-*s  %s", max(nchar(x$method)), x$method, ifelse(nzchar(what), what, x$title))
  parts <- list("Recommended for" = how == "recommended",
    "Worth a try: they win on some data and lose on others" = how == "situational",
    "For comparison" = !how %in% c("recommended", "situational"))
  for (title in names(parts)) if (any(parts[[title]])) cat(title, line[parts[[title]]], sep = "\n")
  cat("as.data.frame() of it has what each selects, costs and cites; ufs(x, method) fits one.\n")
  invisible(x)
}

# ---- one run ----------------------------------------------------------------------------------

# The road of every fit: check, open, prepare, solve, rank, report. A method's function is one line,
# which hands over its name, its call (match.call(), and sys.call() as it was written), its
# arguments, its dots, which are arguments of ufs_data(), and the frame that it was called from
# (`env`), where words without quotes are looked up. Its register() line says what it wants
# prepared, its iteration settings, the ranges of its arguments, and what solves it.
run_fit <- function(method, call, written, args, dots, env) {
  start <- proc.time()[[3L]]
  watch_over(paste0("ufs_", method, "()"))
  row <- registered[[method]]
  check_objects(as.list(written)[-1L], names(formals(row$fit)), env)
  paper <- if (row$published || (is.list(args$control) && length(args$control[["paper"]]))) {
    paper_settings(row, method, args$control, dots)
  }
  args[names(paper)] <- paper
  check_given_arguments(row, method, args, c(names(written), names(paper)), dots)
  if (row$published) {
    for (name in setdiff(names(row$paper), names(args))) {
      args[name] <- list(eval(row$paper[[name]], args, baseenv()))
    }
    dots <- dots[!names_of(dots) %in% names(row$only)]
  }
  before <- args$x
  if (inherits(before, "ufs_moments") && isTRUE(before$unit) && isFALSE(args$scale)) {
    ufs_warn("moments", "`x` holds correlations, whose variances are all 1: scale = FALSE changes ",
      "nothing. Give ufs_moments() the standard deviations, too (`sd`).")
  }
  args["x"] <- list(open_x(before, row, method, dots))
  if (!is.null(args$labelled)) args["labelled"] <- list(labelled_left(before, args$labelled, dots))
  # The fit, its call too, is that for the number.
  if (identical(args$k, "auto")) {
    if (!is.null(row$per_k)) {
      refuse("k", "ufs_", method, "() solves for one number of features: k = \"auto\" cannot find ",
        "it; ufs_size(x, task = ) can.")
    }
    seen <- if (!inherits(before, "ufs_moments")) args$x else
      open_x(rows_like(before), row, method, dots)
    found <- asked_above$size(seen, method,
      args[intersect(setdiff(names(call), c("x", "k")), names(args))])
    # A warning has said so if there is noise alone.
    if (found$verdict != "noise") {
      ufs_inform("size", "k = \"auto\": k = ", found$k, ": ", found$reason, ".")
    }
    args$k <- call$k <- as.integer(found$k)
  }
  args <- check_values(args, row)
  foretell(paste0("ufs_", method, "()"), args$x, wait_of(method, args$x, args))
  if (inherits(args$x, "ufs_data")) {
    if (args$x$kind == "source") {
      workers <- start_workers(args$x)
      on.exit(stop_workers(workers), add = TRUE)
    }
    if (row$selects == "features") args$x <- data_of_levels(args$x)
  }
  made <- naming_omitted(args$x, solve_fit(row, args, c(names(call), names(paper))))
  finish_fit(method, call, made, args$x, start)
}

# A solve_<method>() gets the prepared data, the settings of the iteration, the arguments of its
# method, checked, and `given`, the names of those that the user gave. It returns a list with
#   params                  as in `fit_parts`; `center`, `scale`, `k` and `m` go there by themselves
#   data, control           where they are not those that it was given
#   run                     the solver's list(status, iterations, lapack, trace, counters); absent
#                           where there is no solver
#   advice                  what to do if it did not converge, one sentence
#   finish                  a function of the fit: what is left to do with it, or to warn of
# and anything else of what new_ufs() takes.
solve_fit <- function(row, args, given) {
  check_control(args$control)
  default <- if (is.function(row$control)) row$control(args) else row$control
  control <- do.call(resolve_control, c(list(args$control), default), quote = TRUE)
  if (row$moments && isFALSE(args$center)) args$x <- of_squares(args$x)
  data <- if (!is.null(row$prepare)) row$prepare(args$x, args)
  made <- do.call(row$solve, c(list(data, control), args[names(args) != "control"],
    list(given = given)), quote = TRUE)
  if (is.null(made$data)) made$data <- data
  if (is.null(made$control)) made$control <- control
  same <- setdiff(intersect(c("center", "scale"), row$arguments), names(made$params))
  made$params <- c(made$params, args[same])
  # The numbers of samples and features are known now.
  wanted <- setdiff(row$open_numbers, names(made$params))
  free <- made$data$n - length(made$params$labelled)
  for (name in wanted) made$params[[name]] <- check_wanted(args[[name]], name, free, made$data$p)
  made
}

# Rank and report: the fit of what was made, LAPACK's failures, the label of the status, the
# iterations, the trace, the time and the warning if it did not converge.
finish_fit <- function(method, call, made, x, start) {
  constrained <- !is.null(made$data$constraints)
  if (constrained) check_included(made$data, made$params)
  run <- made$run
  if (!is.null(run)) {
    check_solved(made, method)
    default <- list(status = status_labels[[run$status + 1L]], iterations = run$iterations,
      trace = run$trace)
    made <- c(made, default[setdiff(names(default), names(made))])
  }
  finish <- made$finish
  advice <- made$advice
  made[c("run", "advice", "finish")] <- NULL
  # Correlations are those of the columns themselves: what the method was given may have rows of one
  # length, or other rows.
  if (constrained && ranks_by_correlation(made$data)) {
    made$data$columns <- as_ufs_operator(open_quietly(x))
  }
  fit <- new_ufs(method, call, c(made, list(elapsed = proc.time()[[3L]] - start)))
  if (is.object(made$data$x)) close_source(made$data$x)
  if (!is.null(made$data$columns)) close_source(made$data$columns$x)
  if (inherits(x, "ufs_data")) {
    if (!is.null(x$n_rows)) {
      # Of moments: nothing may be of the rows, which were made up to have these moments.
      fit$n <- x$n_rows
      fit$solution$scores <- NULL
      held <- fit$constraints["features"]
      fit["constraints"] <- list(if (!is.null(held$features)) held)
    }
    if (!is.null(levels <- x$levels)) {
      # The fit is of means of levels, but new data are rows: `center` and `scale` are for these,
      # and n, weights and blocks are those of the rows.
      of <- function(given, else_value) if (isFALSE(given)) else_value else unname(given)
      live <- levels$share > 0
      by <- 1 / ifelse(live, levels$share, 1)
      names <- fit$names$features
      fit$center <- stats::setNames(ifelse(live, of(fit$center, 0) * by, levels$mean), names)
      fit$scale <- stats::setNames(unname(by * of(fit$scale, 1)), names)
      fit$n <- levels$n_rows
      fit$levels <- list(n_levels = levels$n_levels, reliability = levels$share,
        constant = levels$constant)
      fit$constraints$samples <- levels$held
    }
  }
  if (!identical(fit$status, "converged")) warn_status(fit, advice)
  if (is.null(finish)) fit else finish(fit)
}

# The x of a fit: as it was given, or opened with the arguments of ufs_data() in the dots.
open_x <- function(x, row, method, dots) {
  if (inherits(x, "ufs_moments") && row$moments) x <- rows_of_moments(x)
  if (length(dots)) x <- open_with(x, row$fit, method, dots)
  if (inherits(x, "ufs_sketch")) x <- x$data
  if (!inherits(x, "ufs_data")) return(x)
  # Before the work: weights that the method cannot see to, and constraints given to it that are
  # about what it does not choose.
  for (name in setdiff(names(row$refuses), row$constraints)) {
    if (!is.null(x$row_held[[name]])) refuse(name, "ufs_", method, "() takes no `", name, "`: ",
      row$refuses[[name]], ". ufs_methods(what = \"constraints\") says which methods do.")
  }
  other <- constraint_names(if (row$selects == "features") "rows" else "columns", sums = FALSE,
    evidence = FALSE)
  wrong <- intersect(names(dots), other)
  if (row$selects != "both" && length(wrong)) {
    refuse(wrong[1L], "`", wrong[1L], "` is about ", setdiff(c("features", "samples"), row$selects),
      "; ufs_", method, "() chooses ", row$selects, ".")
  }
  x
}

# ---- settings of the published method -----------------------------------------------------------

# Settings that the user gave in ufs_control(paper = list()).
paper_settings <- function(row, method, control, dots) {
  # An argument with one form takes no other value.
  for (name in intersect(names_of(dots), names(row$only))) {
    if (!identical(dots[[name]], row$only[[name]])) {
      refuse(name, "`", name, "` of ufs_", method, "() can only be \"", row$only[[name]],
        "\": what is published is what it does; it is ", deparse_short(dots[[name]]), ".")
    }
  }
  known <- names(row$paper)
  given <- if (is.list(control)) control[["paper"]]
  if (length(given)) given <- check_paper(given)
  unknown <- setdiff(names(given), known)
  if (length(unknown)) {
    refuse("paper", "`paper` in ufs_control(): ufs_", method, "() has no setting `", unknown[1L],
      "` there", if (length(known)) paste0("; it has ", paste(known, collapse = ", ")), ".")
  }
  given
}

# Arguments with the settings of the published method in `control`, for functions whose arguments
# are those of any method.
paper_in_control <- function(args, row) {
  at <- names_of(args) %in% names(row$paper)
  control <- if (is.null(args$control)) ufs_control() else args$control
  if (!any(at) || !is.list(control)) return(args)
  control$paper <- c(control$paper, args[at])
  c(args[!at & names(args) != "control"], list(control = control))
}

# ---- checks -------------------------------------------------------------------------------------

# Refuses, for all methods: a name that R completed (names are exact everywhere), no data, an
# argument that is needed and not there, a penalty that is given both absolutely and as a share.
check_given_arguments <- function(row, method, args, written, dots) {
  unknown <- setdiff(c(written, names(dots)), c("x", "", row$arguments, names(row$only)))
  if (length(unknown)) check_arguments(unknown, row$fit, method, names(row$paper))
  if (is.character(dots$samples) && all(dots$samples %in% row$choices$select_samples)) {
    refuse("samples", "`samples` names rows of `x`. Is it `select_samples`?")
  }
  is_missing <- function(name) identical(args[[name]], quote(expr = ))
  if (is_missing("x")) refuse("x", "`x`, the data, is missing.")
  for (name in row$required) if (is_missing(name)) refuse_missing(name)
  for (rel in grep("_rel$", written, value = TRUE)) {
    absolute <- sub("_rel$", "", rel)
    if (absolute %in% written && !is.null(args[[absolute]]) && !is.null(args[[rel]])) {
      refuse(rel, "Give `", absolute, "` or `", rel, "`, not both.")
    }
  }
}

# Choices and switches, of which each has its values in the default of the argument, and numbers, of
# which the register() line says the range. `center` and `scale` are the input pass's to check.
check_values <- function(args, row) {
  for (name in names(row$choices)) {
    args[[name]] <- check_choice(args[[name]], name, row$choices[[name]])
  }
  for (name in row$switches) args[[name]] <- check_flag(args[[name]], name)
  # NULL is allowed only where it is the default: the number is then computed.
  numbers <- names(Filter(Negate(is.null), as.list(formals(row$fit))))
  for (name in names(row$ranges)) {
    if (is.null(args[[name]]) && !name %in% numbers) next
    args[[name]] <- row$ranges[[name]](args[[name]], name)
  }
  # How many features (`k`) and samples (`m`) the user wants to see, where the method leaves that
  # open: they change no score and are remembered in `params`, where selected_features(), predict(),
  # print() and plot() find them. Wrong ones are refused before the work, if x has its sizes.
  x <- args$x
  size <- if (is.data.frame(x)) c(nrow(x), sum(vapply(x, NCOL, 0L))) else
    if (is.matrix(x) || inherits(x, "Matrix")) dim(x)
  if (!all(size > 0L) || is.null(size)) size <- c(Inf, Inf)
  for (name in row$open_numbers) {
    if (!is.null(args[[name]])) args[[name]] <- check_wanted(args[[name]], name, size[1L], size[2L])
  }
  args
}

# How many are wanted: features for the name "k", samples for any other.
check_wanted <- function(value, name, n, p) {
  if (is.null(value)) return(NULL)
  if (name == "k") check_count(value, name, 1L, p, "the features") else
    check_count(value, name, 1L, n, "the samples")
}

# ---- a fit that takes long says so before it begins ---------------------------------------------

# Seconds on one core, coarsely, of methods that may take long on a table that fits into memory: n
# rows, p columns, r the smaller number, `many` clusters, components, features or samples asked for.
# Each is named by what makes it shorter.
waits <- list(
  alfs = quote(c(`ufs_control(max_iter = )` = 4e-9 * n * p * r)),
  blfse = quote(c(`ufs_control(max_iter = )` = 4e-6 * n * p + 2e-10 * n^3)),
  consensus = quote(c(members = 1e-7 * n * p * (5 + many) + 2e-9 * min(n, 15000)^2 * p)),
  css = quote(c(k = 2e-9 * n * p * (r + many))),
  facility = quote(c(m = 2e-10 * n^2 * (p + many))),
  inffs = quote(c(`ufs_control(max_iter = )` = 2e-10 * (n * p^2 + p^2 * r))),
  jspca = quote(c(n_components = 1e-7 * n * p * many)),
  laplacian = quote(c(graph = 5e-11 * n^2 * p)),
  mcfs = quote(c(graph = 4e-11 * n^2 * p + 1e-8 * n * p * many)),
  medoids = quote(c(m = 2e-8 * n * p * many)),
  ndfs = quote(c(`ufs_control(max_iter = )` = 5e-11 * n^2 * p + 2e-9 * r^2 * p)),
  rsr = quote(c(`ufs_control(max_iter = )` = 4e-9 * r^2 * max(n, p))),
  socfs = quote(c(n_clusters = 4e-8 * n * p * many)),
  sogfs = quote(c(`ufs_control(max_iter = )` = 5e-9 * n * p * max(n, p))),
  spca = quote(c(n_components = 1e-7 * n * p * many)),
  spec = quote(c(graph = 5e-11 * n^2 * p)),
  topk = quote(c(`ufs_control(max_iter = )` = 3e-8 * n * p * r)),
  udfs = quote(c(`ufs_control(max_iter = )` = 2e-10 * n * p * max(n, p) + 5e-9 * r^2 * p)))

# The seconds of one fit, named by what shortens it; NULL where nothing is known.
wait_of <- function(method, x, args) {
  size <- as.double(dim(x))
  dense <- is.matrix(x) || is.data.frame(x) || inherits(x, "ufs_data") && x$kind == "dense"
  if (is.null(waits[[method]]) || !dense) return(NULL)
  asked <- Filter(is.numeric, args[c("n_clusters", "n_components", "k", "m")])
  eval(waits[[method]], list(n = size[1L], p = size[2L], r = min(size),
    many = c(unlist(asked, use.names = FALSE), 5)[1L]))
}

# Once for the outermost run, where watch_over() found somebody who waits.
foretell <- function(name, x, seconds, shorter = names(seconds), after = 5) {
  watch <- environment(getOption("ufselect.watch", mean))
  if (!identical(watch$foretold, FALSE) || !isTRUE(seconds > after)) return()
  watch$foretold <- TRUE
  about <- signif(seconds, 1L)
  message(structure(class = c("ufs_wait", "ufs_progress", "message", "condition"), list(
    message = paste0(name, " on ", size_words(nrow(x), ncol(x)), " will take about ",
      if (about < 100) paste(about, "seconds") else paste(round(about / 60), "minutes"),
      "; to shorten it: ", paste0("`", shorter, "`", collapse = " and "),
      ", or fewer rows or columns (`samples`, `features`).\n"), call = NULL)))
}
