# mlr3: po("ufs_sample"), which chooses rows. Its R6 class is made when mlr3pipelines is loaded.

#' Unsupervised selection of samples in mlr3
#'
#' Once the packages ufselect and mlr3pipelines are both loaded, in either order, `po("ufs_sample")`
#' is a PipeOp that keeps the rows of a training task which a method of this package chooses by the
#' numeric features: those to label first, or a few that stand for all. It never looks at the
#' target. In prediction all rows pass.
#'
#' Its parameters are `m`, how many rows to keep (20 by default; more than there are keeps all),
#' `weights`, whether to give the rows kept the weights of [representatives()] for the learner,
#' `standardise`, `na` and `seed` as in [mlr_filters_ufs], and the arguments of the method.
#'
#' @name mlr_pipeops_ufs_sample
#' @aliases PipeOpSampleUfs
#' @return `po("ufs_sample", method)` returns an object of the R6 class `PipeOpSampleUfs`, which
#'   inherits from `mlr3pipelines::PipeOpTaskPreproc`; `method` is the name of a method that selects
#'   samples ([ufs_methods()]), by default that of [ufs_select()] for `task = "label"`. After
#'   training its `state$rows` holds the row ids of the task that were kept, best first.
#' @seealso [step_sample_ufs()], [mlr_filters_ufs] for features
#' @examplesIf requireNamespace("mlr3pipelines", quietly = TRUE)
#' library(mlr3pipelines)
#' some <- po("ufs_sample", m = 10)
#' some$train(list(mlr3::tsk("iris")))[[1]]$nrow
#' some$state$rows
NULL

mlr3_pipeop_class <- function() {
  R6::R6Class("PipeOpSampleUfs",
    inherit = mlr3pipelines::PipeOpTaskPreproc,
    public = list(
      initialize = function(method = "facility", id = "ufs_sample", param_vals = list()) {
        private$.method <- method
        set <- mlr3_param_set(check_sampler(method, FALSE)$fit, c("y", "k", "m"),
          m = paradox::p_int(lower = 1L, upper = 1000L, default = 20L,
            special_vals = as.list(1001:10000)),
          weights = paradox::p_lgl(default = FALSE))
        super$initialize(id, param_set = set, param_vals = param_vals, can_subset_cols = FALSE,
          packages = "ufselect")
      }
    ),
    active = list(
      method = function(value) {
        if (!missing(value)) refuse("method", "`method` is read-only: make a new PipeOp.")
        private$.method
      }
    ),
    private = list(
      .method = NULL,
      .additional_phash_input = function() private$.method,
      .train_task = function(task) {
        found <- mlr3_rows(task, private$.method, self$param_set$get_values())
        self$state <- list(rows = task$row_ids[found$row])
        keep_rows(task, found)
      },
      .predict_task = function(task) task
    ),
    parent_env = environment(mlr3_pipeop_class)
  )
}

mlr3_rows <- function(task, method, values) {
  say_weights(task)
  shared <- shared_values(values)
  features <- task$feature_types$id[task$feature_types$type %in% c("logical", "integer", "numeric")]
  if (!length(features)) {
    ufs_abort("input", "The task has no numeric feature to choose rows by.", argument = "task")
  }
  check_sampler(method, isTRUE(values$weights))
  found <- sample_for(table_columns(task$data(cols = features), features), method,
    c(values$m, 20L)[1L], values[setdiff(names(values), c(names(shared), "m", "weights"))],
    shared$standardise, shared$na, shared$seed, isTRUE(values$weights))
  found[!found$removed, ]
}

# The rows of a task that were found, in their order, with their weights if there are any.
keep_rows <- function(task, found) {
  found <- found[order(found$row), ]
  task$filter(task$row_ids[found$row])
  if (!anyNA(found$weight)) {
    roles <- mlr3_dictionary("mlr3", "mlr_reflections")$task_col_roles[[task$task_type]]
    role <- intersect(c("weights_learner", "weight"), roles)[1L]
    name <- utils::tail(make.unique(c(task$col_info$id, ".ufs_weight")), 1L)
    task$cbind(stats::setNames(data.frame(found$weight), name))
    task$set_col_roles(name, roles = role)
  }
  task
}
