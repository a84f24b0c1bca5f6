# tidymodels: a recipe step. Nothing here is touched before the package recipes is loaded;
# its methods are registered then (see NAMESPACE), so recipes stays a suggested package.

#' Unsupervised feature selection as a recipe step
#'
#' `step_select_ufs()` adds a step to a recipe that keeps the columns which a method of this
#' package ranks best, and removes the others. It never looks at the outcome, so it can be used
#' in any recipe, and its settings can be tuned like any other parameter of a tidymodels workflow.
#'
#' The ranking is made by `prep()` from the training set alone; `bake()` only removes columns. The
#' columns kept are those of `selected_features(fit, k)` of a fit with the same arguments, for every
#' method and also where scores are tied or end.
#'
#' # Units
#' Most methods standardise the columns themselves. Of those that take them as they are,
#' [ufs_laplacian()], [ufs_spec()] and [ufs_mcfs()] are given standardised columns by `standardise =
#' "auto"` if the columns have different units by the limits of [ufs_look()], and the table is
#' neither sparse nor one of counts. A message says so, and the trained step shows it. [ufs_inffs()]
#' and [ufs_variance()] always get the columns as they are, because a large spread is what they look
#' for. `recipes::step_normalize()` before this step gives every method standardised columns.
#'
#' # Missing values and constant columns
#' With `na = "error"`, the default, missing values are an error that names the columns; the other
#' choices are those of [ufs_data()]. With `"median"` and `"knn"` missing values of the columns that
#' are kept are filled in too, those of new data with what the training set says. What `"omit"`
#' leaves out comes last. So do constant columns, with score `NA`; `prep()` says so in a message,
#' except inside a resampling.
#'
#' # Case weights
#' Frequency weights (`hardhat::frequency_weights()`) go to every method that takes `weights`, see
#' `ufs_methods(what = "constraints")`, and to the tasks, which then take such a method; rows of
#' weight 0 are left out. Other methods ignore them, and a message says why. Importance weights are
#' about the loss of a model: as in all steps of recipes that do not look at the outcome, they are
#' ignored, which is said, too. The print of the trained step ends in "weighted" or "ignored
#' weights".
#'
#' # Tidy method
#' For a trained recipe [`tidy()`][recipes::tidy.recipe] returns a tibble with one row per
#' selected column, best first: `terms` (its name), `score` (larger is better), `rank`,
#' `removed` and `id`. A constant column has score `NA` and the last rank.
#'
#' # Tuning
#' `num_terms`, `prop_terms`, `cutoff`, `method` and `n_clusters` can be marked with `tune()`; their
#' parameter objects are `dials::num_terms()` from 1 to 20, `dials::prop_terms()` and those of
#' [ufs_param()]. `update()` gives other ranges. Mark one of `num_terms` and `prop_terms`, not both.
#' Inside a resampling the ranking of a training set is kept, so that it is made once for all
#' numbers of columns (not for tasks, [ufs_topk()] and [ufs_blfse()], which solve for one number).
#'
#' @param recipe A recipe (package recipes, version 1.1.0 or newer).
#' @param ... Selectors of the columns to rank, such as `all_numeric_predictors()`. Columns must
#'   be numeric or logical; those that seem to number rows or to tell the time are named in a
#'   message. If nothing is selected, the step does nothing.
#' @param method A task of [ufs_select()], `"classify"`, `"cluster"` or `"compress"`, or the name of
#'   a method that selects features, see [ufs_methods()]. For a task the columns kept are those of
#'   `ufs_select(x, num_terms, task)`, which looks at the data and decides about scaling, method
#'   and settings.
#' @param num_terms How many of the selected columns to keep. More than there are keeps all of
#'   them; 0 removes all of them. `"auto"` keeps as many as [ufs_size()] names for the training set,
#'   which takes several fits; a message gives the number and its reason.
#' @param prop_terms Share of the selected columns to keep, from 0 to 1, rounded up. The default
#'   is one half if neither `num_terms` nor `cutoff` is given; giving both is an error.
#' @param cutoff Keep only columns with a score above this number. It can be combined with
#'   `num_terms` or `prop_terms`.
#' @param n_clusters The number of clusters, for methods that have this argument, or of components,
#'   for methods that need that number; others ignore it. Methods that need it are told 5 by
#'   default, as in [ufs_select()], and a message says so.
#' @param options A named list with further arguments of the method, for example `list(gamma = 1)`.
#'   What a method needs and the step knows, the number of columns to keep, is filled in. It may
#'   also have `include`, `exclude`, `cost`, `feature_strata` and `feature_quotas` of [ufs_data()],
#'   by names of columns: a column that must be in is kept whatever `cutoff` says.
#' @param standardise `"auto"`, or `TRUE` or `FALSE` for methods with an argument `scale`: see the
#'   section on units.
#' @param na What to do about missing values: `"error"`, `"omit"`, `"median"` or `"knn"`.
#' @param seed The seed of the random numbers that a method draws, itself drawn when the step is
#'   made.
#' @param role Not used, because no columns are created.
#' @param trained,scores,removals,standardised,case_weights For internal use: whether the step has
#'   been trained, and what it has learnt.
#' @param skip Should the step be skipped by `bake()`? This is rarely useful here; see
#'   `recipes::step_select()`.
#' @param id A character string that identifies the step.
#' @return The recipe with the step added.
#' @seealso `vignette("in-your-framework")`, also for rows
#' @examplesIf requireNamespace("recipes", quietly = TRUE) && packageVersion("recipes") >= "1.1.0"
#' library(recipes)
#' rec <- recipe(Species ~ ., iris)
#' rec <- step_select_ufs(rec, all_numeric_predictors(), method = "kmeans_f", num_terms = 2,
#'   n_clusters = 3)
#' trained <- prep(rec)
#' names(bake(trained, new_data = NULL))
#' tidy(trained, number = 1)
#' @export
step_select_ufs <- function(recipe, ..., method = "classify", num_terms = NULL, prop_terms = NULL,
                            cutoff = NULL, n_clusters = NULL, options = list(),
                            standardise = "auto", na = "error", seed = sample.int(10^5, 1),
                            role = NA, trained = FALSE, scores = NULL, removals = NULL,
                            standardised = NA, case_weights = NULL, skip = FALSE,
                            id = recipes::rand_id("select_ufs")) {
  refuse_completed(sys.call(), sys.function())
  check_installed("recipes", "for step_select_ufs()")
  if (!has_recipes()) {
    ufs_abort("package", "step_select_ufs() needs recipes 1.1.0 or newer; ",
      utils::packageVersion("recipes"), " is installed.", argument = "recipes")
  }
  if (!inherits(recipe, "recipe")) {
    refuse("recipe", "`recipe` must be a recipe, not ", kind_of(recipe), ".")
  }
  if (!is.null(num_terms) && !is.null(prop_terms)) {
    refuse("prop_terms", "`num_terms` and `prop_terms` are both given; choose one.")
  }
  if (is.null(num_terms) && is.null(prop_terms) && is.null(cutoff)) prop_terms <- 0.5
  own <- mget(setdiff(names(formals()), c("recipe", "...")))
  terms <- dplyr::enquos(...)
  # Terms have no names.
  for (name in Filter(nzchar, names(terms))) refuse_argument(name, names(formals()))
  step <- do.call(recipes::step, c(list(subclass = "select_ufs", terms = terms), own),
    quote = TRUE)
  check_select_step(step)
  recipes::add_step(recipe, step)
}

#' @exportS3Method recipes::prep
prep.step_select_ufs <- function(x, training, info = NULL, ...) {
  columns <- unname(recipes::recipes_eval_select(x$terms, training, info))
  recipes::check_type(training[, columns],
    types = c("double", "integer", "logical", "factor", "ordered"))
  check_select_step(x)
  # A column that is a matrix (spectra) stands for its columns.
  table <- flat_table(table_columns(training, columns))
  columns <- names(table)
  if (anyDuplicated(columns)) {
    refuse_data("training", "Columns of a matrix column have the names of other columns (",
      some_columns(unique(columns[duplicated(columns)])), "): rename one of them.")
  }
  auto <- identical(x$num_terms, "auto") && length(columns) > 1L
  # Rounded up, but .07 * 100 (7.000000000000001) is 7.
  size <- if (is.numeric(x$num_terms)) x$num_terms else
    ceiling(c(x$prop_terms, 1)[1L] * length(columns) - 1e-8)
  size <- as.integer(min(size, length(columns)))
  # One column alone cannot be ranked: there is nothing to compare it with.
  ranking <- seq_along(columns)
  score <- rep(NA_real_, length(columns))
  if (length(columns) > 1L) {
    options <- x$options
    # `n_clusters` where the method has such a thing.
    name <- intersect(c("n_clusters", "n_components"), row_of(x$method)$arguments)
    if (!is.null(x$n_clusters) && length(name)) options[[name[1L]]] <- x$n_clusters
    given <- recipes::get_case_weights(info, training)
    counting <- !isFALSE(recipes::are_weights_used(given, unsupervised = TRUE))
    if (!counting) inform_unless_resampling("weights", "Case weights that are no frequency ",
      "weights are ignored, as by all steps that do not look at the outcome.")
    options$weights <- taken_weights(if (counting) given, x$method, options)
    if (!is.null(given)) x$case_weights <- !is.null(options$weights)
    found <- rank_for(table, x$method,
      if (auto) "auto" else max(1L, size), options, x$standardise, x$na, x$seed)
    if (auto) size <- found$k
    if (length(found$included) > size && !is.null(x$num_terms)) {
      refuse_fewer(found$included, size, "num_terms")
    }
    check_kept_quotas(found, size, if (is.null(x$num_terms)) "prop_terms" else "num_terms")
    size <- min(size, found$open)
    if (size > 0L) say_padded(found, size)
    ranking <- found$ranking
    score <- found$score[ranking]
    x[c("standardised", "applied", "new_rows", "filled", "coding")] <-
      found[c("standardised", "method", "new_rows", "filled", "coding")]
  } else if (length(columns)) {
    refuse_missing_values(table, x$na)
    data <- framework_data(table, x$na)
    x[c("new_rows", "filled", "coding")] <- list(data$input$new_rows, data$features,
      data$input$coding)
  }
  removed <- seq_along(columns) > size
  if (!is.null(x$cutoff) && length(columns) > 1L) {
    removed <- removed | (is.na(score) | score <= x$cutoff) & !columns[ranking] %in% found$included
    check_kept_quotas(found, columns[ranking][!removed], "cutoff")
  }
  x$scores <- data.frame(terms = columns[ranking], score, rank = seq_along(columns), removed)
  x$removals <- x$scores$terms[removed]
  x$trained <- TRUE
  x
}

#' @exportS3Method recipes::bake
bake.step_select_ufs <- function(object, new_data, ...) {
  kept <- object$scores$terms[!object$scores$removed]
  wide <- names(new_data)[vapply(new_data, function(col) length(dim(col)) == 2L, NA)]
  # The names of the columns of each matrix column.
  inner <- lapply(stats::setNames(wide, wide), function(name) names(flat_table(new_data[name])))
  recipes::check_new_data(setdiff(kept, unlist(inner)), object, new_data)
  # Columns that are kept, filled as `na` says with what the training set says. Logical columns
  # become numbers in every table, for what is filled in may be 0.5.
  flat <- flat_table(table_columns(new_data, names(new_data)))
  kept <- intersect(kept, object$filled)
  gone <- kept[vapply(kept, function(name) is.logical(flat[[name]]) || anyNA(flat[[name]]), NA)]
  if (length(gone) && !is.null(object$new_rows)) {
    fit <- list(input = object[c("new_rows", "coding")], p = length(object$filled),
      names = list(features = object$filled, named = TRUE))
    filled <- fill_new(fit, flat[gone], flat, match(gone, object$filled), "new_data")
    for (name in gone) {
      value <- if (is.logical(filled[[name]])) as.double(filled[[name]]) else filled[[name]]
      place <- names(inner)[vapply(inner, function(names) name %in% names, NA)]
      if (length(place)) new_data[[place]][, match(name, inner[[place]])] <- value else
        new_data[[name]] <- value
    }
  }
  for (name in wide) {
    gone <- inner[[name]] %in% object$removals
    if (any(gone)) new_data[[name]] <- if (!all(gone)) new_data[[name]][, !gone, drop = FALSE]
  }
  new_data[, !names(new_data) %in% object$removals]
}

#' @export
print.step_select_ufs <- function(x, width = max(20, options()$width - 36), ...) {
  method <- if (is.character(x$method)) x$method else "tune()"
  # By the step's decision, not by the method's own default.
  note <- if (isTRUE(x$trained) && isTRUE(x$standardised) &&
      isFALSE(eval(formals(row_of(method)$fit)$scale))) ", standardised"
  if (!is.null(x$applied) && x$applied != method) note <- paste0(": ufs_", x$applied, "()")
  kept <- if (isTRUE(x$trained)) x$scores$terms[!x$scores$removed]
  # Once it is trained, the step says what it keeps, best first: who reads it asks for that.
  said <- if (length(x$scores$terms)) paste0(" keeps ", length(kept), " of ", nrow(x$scores)) else
    " on"
  width <- max(20, width - nchar(said) + 3)
  # As many names as fit, and how many more there are.
  wide <- nchar(kept) + 2L
  if (sum(wide) > width) {
    fit <- max(1L, sum(cumsum(wide) <= width - 12L))
    kept <- c(substr(kept[seq_len(fit)], 1L, max(1L, width - 12L)),
      if (length(kept) > fit) paste("and", length(kept) - fit, "more"))
  }
  recipes::print_step(kept, x$terms, x$trained,
    paste0("Unsupervised feature selection (", method, note, ")", said), width,
    case_weights = x$case_weights)
  invisible(x)
}

#' @exportS3Method generics::tidy
tidy.step_select_ufs <- function(x, ...) {
  table <- if (isTRUE(x$trained)) x$scores else {
    tibble::tibble(terms = recipes::sel2char(x$terms), score = NA_real_, rank = NA_integer_,
      removed = NA)
  }
  tibble::tibble(table, id = rep(x$id, nrow(table)))
}

#' @exportS3Method generics::tunable
tunable.step_select_ufs <- function(x, ...) {
  calls <- list(
    num_terms = list(pkg = "dials", fun = "num_terms", range = c(1L, 20L)),
    prop_terms = list(pkg = "dials", fun = "prop_terms"),
    cutoff = list(pkg = "dials", fun = "threshold", range = c(0, 1)),
    method = list(pkg = "ufselect", fun = "ufs_param"),
    n_clusters = list(pkg = "dials", fun = "num_clusters", range = c(2L, 10L)))
  tibble::tibble(name = names(calls), call_info = unname(calls), source = "recipe",
    component = class(x)[1L], component_id = x$id)
}

#' @exportS3Method generics::required_pkgs
required_pkgs.step_select_ufs <- function(x, ...) "ufselect"

has_recipes <- function() {
  nzchar(system.file(package = "recipes")) && utils::packageVersion("recipes") >= "1.1.0"
}

# Arguments that are known already are checked when the step is made, the others by prep(): tune()
# leaves a call in the place of the value.
check_select_step <- function(x) {
  known <- function(name) !is.null(x[[name]]) && !is.call(x[[name]])
  if (is.list(x$options) && any(vapply(x$options, is.call, NA))) {
    refuse("options", "tune() inside `options` is not seen by tune_grid(): `method`, ",
      "`n_clusters`, `cutoff` and the number of columns can be tuned as arguments of the step.")
  }
  auto <- identical(x$num_terms, "auto")
  if (!is.call(x$method)) {
    row <- check_offered(x$method, "features")
    check_method_options(x$method, x$options)
    if (auto && !is.null(row$per_k)) {
      refuse("num_terms", "ufs_", x$method, "() solves for one number of columns: `num_terms = ",
        "\"auto\"` cannot find it.")
    }
  }
  if (known("num_terms") && !auto) check_count(x$num_terms, "num_terms", 0L)
  if (known("prop_terms")) check_number(x$prop_terms, "prop_terms", 0, 1)
  if (known("cutoff")) check_number(x$cutoff, "cutoff")
  if (known("n_clusters")) check_count(x$n_clusters, "n_clusters", 1L)
  if (!is.null(x$n_clusters) && any(c("n_clusters", "n_components") %in% names(x$options))) {
    refuse("n_clusters", "`n_clusters` and `options` both give the number of clusters or ",
      "components.")
  }
  if (!identical(x$standardise, "auto") && !isTRUE(x$standardise) && !isFALSE(x$standardise)) {
    refuse("standardise", "`standardise` must be \"auto\", TRUE or FALSE; it is ",
      deparse_short(x$standardise), ".")
  }
  if (is.logical(x$standardise) && !is.null(x$options$scale)) {
    refuse("standardise", "Give `standardise` or the method's own `scale`, not both.")
  }
  check_choice(x$na, "na", c("error", "omit", "median", "knn"))
  if (!is.null(x$seed)) check_count(x$seed, "seed", -.Machine$integer.max)
}

# The columns of a tibble as a data frame, in no time for any number of them.
table_columns <- function(data, columns) {
  structure(unclass(data)[columns], class = "data.frame", row.names = .set_row_names(nrow(data)))
}

# ---- parameters of dials for tuning --------------------------------------------------------------

#' Parameters of the recipe step for tuning
#'
#' Makes dials parameter objects for `tune()` in [step_select_ufs()]. tune finds its own by itself;
#' call this to give other ranges or values, as in
#' `update(parameters, method = ufs_param("method", c("css", "pca")))`.
#'
#' The scores of a method are in units of its own, so the default range of `"cutoff"` suits only
#' methods whose scores fall from 1 to 0, as those of [ufs_css()] and [ufs_consensus()] do.
#'
#' @param what The argument of the step: `"method"`, `"n_clusters"` or `"cutoff"`.
#' @param values For `"method"`, names of methods or of tasks of [ufs_select()]; the default `NULL`
#'   takes the methods that [ufs_methods()] recommends without conditions, and the one that
#'   [ufs_select()] takes among columns of noise. For the others the smallest and the largest value;
#'   `NULL` is 2 to 10 clusters, a limit from 0 to 1.
#' @param trans A transformation of package scales for a number, or `NULL`.
#' @return A parameter object of package dials.
#' @examplesIf requireNamespace("dials", quietly = TRUE)
#' ufs_param("method")
#' ufs_param("n_clusters", c(3L, 6L))
#' @export
ufs_param <- function(what = c("method", "n_clusters", "cutoff"), values = NULL, trans = NULL) {
  check_given()
  what <- check_choice(what, "what")
  check_installed("dials", "for tuning")
  if (what == "method") {
    if (is.null(values)) {
      table <- ufs_methods()
      # Advice with a condition has it in brackets.
      sound <- grepl("^recommended[^(]*$|good among noise", table$advice)
      values <- table$method[sound & table$selects != "samples"]
    }
    for (name in values) check_offered(name, "features")
    return(dials::new_qual_param("character", values = values,
      label = c(method = "Selection Method")))
  }
  known <- list(n_clusters = list("integer", c(2L, 10L), "# Clusters"),
    cutoff = list("double", c(0, 1), "Score Cutoff"))[[what]]
  dials::new_quant_param(known[[1L]], range = if (is.null(values)) known[[2L]] else values,
    inclusive = c(TRUE, TRUE), trans = trans, label = stats::setNames(known[[3L]], what),
    finalize = NULL)
}
