# tidymodels: a recipe step. Nothing here is touched before the package recipes is loaded;
# its methods are registered then (see NAMESPACE), so recipes stays a suggested package.

#' Unsupervised feature selection as a recipe step
#'
#' `step_select_ufs()` adds a step to a recipe that keeps the columns which a method of this
#' package ranks best, and removes the others. It never looks at the outcome, so it can be used
#' in any recipe, and its number of columns can be tuned like any other parameter of a
#' tidymodels workflow.
#'
#' The ranking is made by `prep()` from the training set alone; `bake()` only removes columns.
#' Most methods rank better when the columns share a scale. They standardise the columns
#' themselves unless `options` says otherwise (see `center` and `scale` on the method's help
#' page), so `recipes::step_normalize()` is not needed before this step.
#'
#' # Case weights
#' No method of this package weighs samples. A recipe with a column of case weights is refused
#' by `prep()` instead of ignoring the weights silently.
#'
#' # Tidy method
#' For a trained recipe [`tidy()`][recipes::tidy.recipe] returns a tibble with one row per
#' selected column, best first: `terms` (its name), `score` (larger is better), `rank`,
#' `removed` and `id`. A constant column has score `NA` and the last rank.
#'
#' # Tuning
#' `num_terms` and `prop_terms` can be marked with `tune()`; the corresponding parameter objects
#' are `dials::num_terms()` and `dials::prop_terms()`. Mark one of them, not both.
#'
#' @param recipe A recipe (package recipes, version 1.1.0 or newer).
#' @param ... Selectors of the columns to rank, such as `all_numeric_predictors()`. Columns must
#'   be numeric. If nothing is selected, the step does nothing.
#' @param method Name of a method that selects features, see [ufs_methods()]. The default, the
#'   Laplacian score, needs no further arguments and draws no random numbers.
#' @param num_terms How many of the selected columns to keep. More than there are keeps all of
#'   them; 0 removes all of them.
#' @param prop_terms Share of the selected columns to keep, from 0 to 1, rounded up. The default
#'   is one half if `num_terms` is not given either; giving both is an error.
#' @param options A named list with further arguments of the method, for example
#'   `list(n_clusters = 3)`. What a method needs and the step knows, the number of columns to
#'   keep, is filled in.
#' @param role Not used, because no columns are created.
#' @param trained,scores,removals For internal use: whether the step has been trained, and what
#'   it has learnt.
#' @param skip Should the step be skipped by `bake()`? Rarely useful here: see
#'   `recipes::step_select()`.
#' @param id A character string that identifies the step.
#' @return The recipe with the step added.
#' @seealso `vignette("in-your-framework")`
#' @examplesIf requireNamespace("recipes", quietly = TRUE) && packageVersion("recipes") >= "1.1.0"
#' library(recipes)
#' rec <- recipe(Species ~ ., iris)
#' rec <- step_select_ufs(rec, all_numeric_predictors(), method = "kmeans_f", num_terms = 2,
#'   options = list(n_clusters = 3))
#' trained <- prep(rec)
#' names(bake(trained, new_data = NULL))
#' tidy(trained, number = 1)
#' @export
step_select_ufs <- function(recipe, ..., method = "laplacian", num_terms = NULL,
                            prop_terms = NULL, options = list(), role = NA, trained = FALSE,
                            scores = NULL, removals = NULL, skip = FALSE,
                            id = recipes::rand_id("select_ufs")) {
  check_recipes()
  if (!inherits(recipe, "recipe")) {
    ufs_abort("argument", "`recipe` must be a recipe, not ", kind_of(recipe), ".",
      argument = "recipe")
  }
  if (!is_tunable_mark(method)) check_step_method(method, options)
  if (!is.null(num_terms) && !is.null(prop_terms)) {
    ufs_abort("argument", "`num_terms` and `prop_terms` are both given; choose one.",
      argument = "prop_terms")
  }
  if (is.null(num_terms) && is.null(prop_terms)) prop_terms <- 0.5
  check_step_size(num_terms, prop_terms)
  recipes::add_step(recipe, new_step_select_ufs(
    terms = rlang::enquos(...), method = method, num_terms = num_terms,
    prop_terms = prop_terms, options = options, role = role, trained = trained,
    scores = scores, removals = removals, skip = skip, id = id))
}

new_step_select_ufs <- function(terms, method, num_terms, prop_terms, options, role, trained,
                                scores, removals, skip, id) {
  recipes::step(subclass = "select_ufs", terms = terms, method = method, num_terms = num_terms,
    prop_terms = prop_terms, options = options, role = role, trained = trained,
    scores = scores, removals = removals, skip = skip, id = id)
}

#' @exportS3Method recipes::prep
prep.step_select_ufs <- function(x, training, info = NULL, ...) {
  columns <- unname(recipes::recipes_eval_select(x$terms, training, info))
  recipes::check_type(training[, columns], types = c("double", "integer"))
  check_step_method(x$method, x$options)
  check_step_size(x$num_terms, x$prop_terms)
  refuse_case_weights(info)
  size <- step_size(x$num_terms, x$prop_terms, length(columns))
  scores <- if (length(columns) > 1L) {
    fit <- fit_for_k(as.data.frame(training[, columns]), x$method, max(1L, size), x$options)
    kept <- if (size > 0L) selected_features(fit, size, as = "index")
    table <- as.data.frame(fit, what = "features")
    data.frame(terms = columns[table$index], score = table$score, rank = table$rank,
      removed = !table$index %in% kept)
  } else {
    # One column alone cannot be ranked: there is nothing to compare it with.
    data.frame(terms = columns, score = rep(NA_real_, length(columns)),
      rank = seq_along(columns), removed = rep(size == 0L, length(columns)))
  }
  new_step_select_ufs(terms = x$terms, method = x$method, num_terms = x$num_terms,
    prop_terms = x$prop_terms, options = x$options, role = x$role, trained = TRUE,
    scores = scores, removals = scores$terms[scores$removed], skip = x$skip, id = x$id)
}

#' @exportS3Method recipes::bake
bake.step_select_ufs <- function(object, new_data, ...) {
  kept <- object$scores$terms[!object$scores$removed]
  recipes::check_new_data(kept, object, new_data)
  new_data[, !names(new_data) %in% object$removals]
}

#' @export
print.step_select_ufs <- function(x, width = max(20, options()$width - 36), ...) {
  method <- if (is.character(x$method)) x$method else "tune()"
  recipes::print_step(x$removals, x$terms, x$trained,
    paste0("Unsupervised feature selection (", method, ") on "), width)
  invisible(x)
}

#' @exportS3Method generics::tidy
tidy.step_select_ufs <- function(x, ...) {
  if (isTRUE(x$trained)) {
    tibble::tibble(x$scores, id = rep(x$id, nrow(x$scores)))
  } else {
    terms <- recipes::sel2char(x$terms)
    unknown <- rep(NA, length(terms))
    tibble::tibble(terms = terms, score = as.double(unknown), rank = as.integer(unknown),
      removed = unknown, id = rep(x$id, length(terms)))
  }
}

#' @exportS3Method generics::tunable
tunable.step_select_ufs <- function(x, ...) {
  tibble::tibble(
    name = c("num_terms", "prop_terms"),
    call_info = list(list(pkg = "dials", fun = "num_terms"),
      list(pkg = "dials", fun = "prop_terms")),
    source = "recipe", component = "step_select_ufs", component_id = x$id
  )
}

#' @exportS3Method generics::required_pkgs
required_pkgs.step_select_ufs <- function(x, ...) "ufselect"

# ---- checks ---------------------------------------------------------------------------

has_recipes <- function() {
  nzchar(system.file(package = "recipes")) && utils::packageVersion("recipes") >= "1.1.0"
}

check_recipes <- function() {
  check_installed("recipes", "for step_select_ufs()")
  if (!has_recipes()) {
    ufs_abort("package", "step_select_ufs() needs recipes 1.1.0 or newer; ",
      utils::packageVersion("recipes"), " is installed.", argument = "recipes")
  }
}

# tune() leaves a call in the place of the value.
is_tunable_mark <- function(value) is.call(value)

check_step_method <- function(method, options) {
  row <- method_row(method)
  if (row$selects == "samples") {
    ufs_abort("argument", "ufs_", method, "() selects samples, not features.",
      argument = "method")
  }
  check_method_options(method, options, "options")
}

check_step_size <- function(num_terms, prop_terms) {
  if (!is.null(num_terms) && !is_tunable_mark(num_terms)) check_count(num_terms, "num_terms", 0L)
  if (!is.null(prop_terms) && !is_tunable_mark(prop_terms)) {
    check_number(prop_terms, "prop_terms", 0, 1)
  }
}

step_size <- function(num_terms, prop_terms, p) {
  # Rounded up, but .07 * 100 (7.000000000000001) is 7.
  size <- if (is.null(num_terms)) ceiling(prop_terms * p - 1e-8) else num_terms
  as.integer(min(size, p))
}

refuse_case_weights <- function(info) {
  weights <- info$variable[info$role %in% "case_weights"]
  if (length(weights)) {
    ufs_abort("argument", "step_select_ufs() does not use case weights (", some_columns(weights),
      "), because no method of ufselect weighs samples. Remove that role from the recipe, or ",
      "repeat the rows if the weights are frequencies.", argument = "recipe")
  }
}
