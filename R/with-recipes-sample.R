# tidymodels: a recipe step that chooses rows. Registered late, as those of with-recipes.R.

#' Unsupervised selection of samples as a recipe step
#'
#' `step_sample_ufs()` adds a step to a recipe that keeps the rows of the training set which a
#' method of this package chooses: those to label first, or a few that stand for all. It never looks
#' at the outcome, which may be missing.
#'
#' `prep()` chooses among the rows of the training set; `bake()` returns new data unchanged with
#' `skip = TRUE`, the default, as for every step that removes rows. With `skip = FALSE` it chooses
#' among the rows of the new data. Rows keep their order.
#'
#' The section of [step_select_ufs()] on missing values holds here too; rows that `na = "omit"`
#' leaves out are not chosen. No method that chooses rows takes case weights: they are ignored, and
#' a message says why.
#'
#' # Tidy method
#' For a trained recipe [`tidy()`][recipes::tidy.recipe] returns a tibble with one row per row of
#' the training set, best first: `row` (its number), `score`, `rank`, `removed`, `weight` (how many
#' rows it stands for; `NA` without `weights_to`) and `id`. Of a step that is not trained the rows
#' are not known yet; its tibble gives the selectors in `terms`.
#'
#' @inheritParams step_select_ufs
#' @param ... Selectors of the columns by which rows are chosen, such as `all_numeric_predictors()`.
#'   Columns must be numeric or logical. If nothing is selected, the step does nothing.
#' @param method `"label"`, the task of [ufs_select()], which looks at the data and decides about
#'   scaling, method and settings, or the name of a method that selects samples, see
#'   [ufs_methods()].
#' @param options A named list with further arguments of the method.
#' @param m How many rows to keep. More than there are keeps all of them. It can be marked with
#'   `tune()`; the parameter object is `sample_size()` of dials, from 5 to 50.
#' @param weights_to The name of a new column of importance weights: how many rows each row that was
#'   kept stands for, as by [representatives()]. The default `NULL` makes none. Its role is
#'   `"case_weights"`.
#' @param role The role of the column of weights.
#' @param trained,columns,chosen,case_weights For internal use: whether the step has been trained,
#'   and what it has learnt.
#' @return The recipe with the step added.
#' @seealso [step_select_ufs()] for columns, `vignette("in-your-framework")`
#' @examplesIf requireNamespace("recipes", quietly = TRUE) && packageVersion("recipes") >= "1.1.0"
#' library(recipes)
#' rec <- step_sample_ufs(recipe(Species ~ ., iris), all_numeric_predictors(), m = 10)
#' bake(prep(rec), new_data = NULL)
#' @export
step_sample_ufs <- function(recipe, ..., method = "label", m = 20L, weights_to = NULL,
                            options = list(), standardise = "auto", na = "error",
                            seed = sample.int(10^5, 1), role = "case_weights", trained = FALSE,
                            columns = NULL, chosen = NULL, case_weights = NULL, skip = TRUE,
                            id = recipes::rand_id("sample_ufs")) {
  check_recipe(recipe, "step_sample_ufs")
  own <- mget(setdiff(names(formals()), c("recipe", "...")))
  step <- do.call(recipes::step, c(list(subclass = "sample_ufs", terms = dplyr::enquos(...)), own),
    quote = TRUE)
  check_sample_step(step)
  recipes::add_step(recipe, step)
}

#' @exportS3Method recipes::prep
prep.step_sample_ufs <- function(x, training, info = NULL, ...) {
  x$columns <- unname(recipes::recipes_eval_select(x$terms, training, info))
  recipes::check_type(training[, x$columns], types = number_types)
  check_sample_step(x)
  if (!is.null(x$weights_to)) {
    check_installed("hardhat", "for `weights_to`")
    if (x$weights_to %in% names(training)) {
      refuse("weights_to", "`weights_to`: there is a column '", x$weights_to, "' already.")
    }
  }
  x["chosen"] <- list(chosen_rows(x, training))
  given <- recipes::get_case_weights(info, training)
  if (!is.null(given)) {
    taken_weights(given, x$method, x$options, attr(x$chosen$table, "method"))
    x$case_weights <- FALSE
  }
  x$trained <- TRUE
  x
}

#' @exportS3Method recipes::bake
bake.step_sample_ufs <- function(object, new_data, ...) {
  recipes::check_new_data(object$columns, object, new_data)
  if (!length(object$columns) || !nrow(new_data)) return(new_data)
  chosen <- object$chosen
  # The training set itself, in prep(): what was chosen from it.
  if (!identical(chosen$key, rows_key(object, new_data))) chosen <- chosen_rows(object, new_data)
  table <- chosen$table[!chosen$table$removed, ]
  table <- table[order(table$row), ]
  out <- new_data[table$row, ]
  if (!is.null(object$weights_to)) {
    out[[object$weights_to]] <- hardhat::importance_weights(table$weight)
  }
  out
}

rows_key <- function(x, data) {
  data <- open_data(table_columns(data, x$columns))
  # A tibble may have become a data frame.
  data["input"] <- list(NULL)
  data_key(data)
}

chosen_rows <- function(x, data) {
  if (!length(x$columns)) return(NULL)
  list(key = rows_key(x, data), table = sample_for(table_columns(data, x$columns), x$method, x$m,
    x$options, list(standardise = x$standardise, na = x$na, seed = x$seed,
      weights = !is.null(x$weights_to))))
}

#' @export
print.step_sample_ufs <- function(x, width = max(20, options()$width - 36), ...) {
  method <- if (is.character(x$method)) x$method else "tune()"
  m <- if (is_tunable_mark(x$m)) "tune()" else x$m
  rows <- if (identical(as.double(m), 1)) " row (" else " rows ("
  recipes::print_step(few_names(x$columns, width), x$terms, x$trained,
    paste0("Unsupervised selection of ", m, rows, method, ") by "), width,
    case_weights = x$case_weights)
  invisible(x)
}

#' @exportS3Method generics::tidy
tidy.step_sample_ufs <- function(x, ...) {
  table <- x$chosen$table
  if (!isTRUE(x$trained)) table <- tibble::tibble(terms = recipes::sel2char(x$terms)) else
    if (is.null(table)) {
      table <- data.frame(row = integer(), score = double(), rank = integer(), removed = logical(),
        weight = double())
    }
  tibble::tibble(table, id = rep(x$id, nrow(table)))
}

#' @exportS3Method generics::tunable
tunable.step_sample_ufs <- function(x, ...) {
  tunable_arguments(x, list(m = list(pkg = "dials", fun = "sample_size", range = c(5L, 50L))))
}

#' @exportS3Method generics::required_pkgs
required_pkgs.step_sample_ufs <- function(x, ...) {
  c("ufselect", if (!is.null(x$weights_to)) "hardhat")
}

check_sample_step <- function(x) {
  check_step_options(x$options)
  check_sampler(x$method, !is.null(x$weights_to))
  check_method_options(x$method, x$options, "options")
  if (!is_tunable_mark(x$m)) check_count(x$m, "m")
  if (!is.null(x$weights_to) && (!is.character(x$weights_to) || length(x$weights_to) != 1L ||
      is.na(x$weights_to) || !nzchar(x$weights_to))) {
    refuse("weights_to", "`weights_to` must be the name of a new column, or NULL.")
  }
  check_shared(x)
}
