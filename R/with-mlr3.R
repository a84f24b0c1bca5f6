# mlr3: the filters flt("ufs") and flt("ufs_<method>"). Their R6 class is made only when mlr3filters
# is loaded (.onLoad waits for that), so R6, paradox and mlr3filters stay suggested packages.

#' Unsupervised filters for mlr3
#'
#' Once the packages ufselect and mlr3filters are both loaded, in either order, `flt("ufs_socfs")`,
#' `flt("ufs_css")` and so on are filters: one for each method of this package that ranks features.
#' `flt("ufs", method = "socfs")` is the same. `flt("ufs")`, which is `flt("ufs_classify")`, and
#' `flt("ufs_cluster")` and `flt("ufs_compress")` keep the features of `ufs_select(x, nfeat, task)`,
#' which looks at the data and decides about scaling, method and settings. They work on every kind
#' of task, also on those without a target, and never look at the target.
#'
#' The arguments of the method, as on its own help page, are the filter's parameters; `control`
#' takes [ufs_control()]. A method that solves for one number of features, as [ufs_topk()]
#' does, is told `nfeat`. Beside them there are `include`, `exclude`, `cost`, `feature_strata` and
#' `feature_quotas` of [ufs_data()], by names of columns, and `standardise`, `na` and `seed`,
#' as in [step_select_ufs()], whose sections on units and on the default number of clusters hold
#' here too. Quotas are met by the first `nfeat` features, so `nfeat` has to be given
#' (`filter.nfeat` of a pipeline gives it).
#' The filter's id is `"ufs_<method>"`, so several of them fit into one graph.
#'
#' # Scores
#' mlr3filters keeps scores only and puts features with equal scores in random order. So that a
#' filter keeps the features of `selected_features(fit, k)`, its scores are those of the method with
#' ties drawn apart by less than the distance to the next score. Where the method's scores end, at
#' exact zeros, the others have -1, -2 and so on in the order of the ranking; so have constant
#' features. If `nfeat` goes beyond the last positive score, a message says so.
#'
#' # How many features
#' `k = "auto"` lets [ufs_size()] name the number for the training set: the features beyond it have
#' negative scores, all others positive ones, so `po("filter", flt("ufs_pca", k = "auto"),
#' filter.cutoff = 0)` keeps that number. A message gives it with its reason.
#'
#' # Missing values and weights
#' With `na = "error"`, the default, missing values are refused; the other choices are those of
#' [ufs_data()]. Weights of a task that are for learners go to every method that takes `weights`,
#' see `ufs_methods(what = "constraints")`, and to the tasks of [ufs_select()], which then take such
#' a method; other methods, and all that choose rows, ignore them, and a message says why.
#'
#' # Tuning
#' Parameters that are numbers with two bounds, switches and choices can be given to `to_tune()`
#' without a range; `n_clusters` and `n_components` are then searched up to 20, and may be set to
#' larger values. Inside [mlr3::resample()], and so in tuning, the ranking of a training set is
#' kept, so that it is made once for all numbers of features. A method that draws random numbers
#' needs a `seed` for that.
#'
#' @name mlr_filters_ufs
#' @aliases flt_ufs FilterUfs
#' @return `flt("ufs", method)` returns an object of the R6 class `FilterUfs`, which inherits from
#'   `mlr3filters::Filter`. After `$calculate(task)` its field `scores` holds the scores of the
#'   features by name, larger for better ones.
#' @seealso [mlr_pipeops_ufs_sample] for rows, `vignette("in-your-framework")`
#' @examplesIf requireNamespace("mlr3filters", quietly = TRUE)
#' library(mlr3filters)
#' filter <- flt("ufs_kmeans_f", n_clusters = 3)
#' filter$calculate(mlr3::tsk("iris"))
#' filter$scores
NULL

# Calls add() now or as soon as a package comes; both may be loaded in either order.
when_loaded <- function(package, add) {
  if (isNamespaceLoaded(package)) add()
  setHook(packageEvent(package, "onLoad"), function(...) if (isNamespaceLoaded("ufselect")) add())
}

add_mlr3_filters <- function() {
  generator <- mlr3_filter_class()
  filters <- mlr3_dictionary("mlr3filters", "mlr_filters")
  filters$add("ufs", generator)
  lapply(feature_methods(), function(method) {
    filters$add(paste0("ufs_", method), function() generator$new(method))
  })
}

mlr3_dictionary <- function(package, name) get(name, envir = asNamespace(package))

feature_methods <- function() {
  c(names(Filter(function(row) row$selects != "samples", registry())), setdiff(task_names, "label"))
}

mlr3_filter_class <- function() {
  R6::R6Class("FilterUfs",
    inherit = mlr3filters::Filter,
    public = list(
      initialize = function(method = "classify") {
        row <- check_offered(method, "features")
        private$.method <- method
        super$initialize(
          id = paste0("ufs_", method), task_types = NA_character_,
          param_set = do.call(mlr3_param_set, c(list(row, k = auto_domain(row)),
            lapply(stats::setNames(nm = constraint_names(option = TRUE)), function(name) {
              paradox::p_uty(default = NULL)
            }))), packages = "ufselect",
          feature_types = c("logical", "integer", "numeric", "factor", "ordered"),
          label = row$title,
          man = paste0("ufselect::ufs_", if (is.null(row$task)) method else "select")
        )
      }
    ),
    active = list(
      # Missing values are its own business if it is told what to do about them. What older versions
      # of mlr3filters put here when a filter is made is none.
      properties = function(value) {
        na <- self$param_set$get_values()$na
        if (missing(value)) if (is.null(na) || na == "error") character() else "missings"
      },
      method = function(value) {
        if (!missing(value)) refuse("method", "`method` is read-only: make a new filter.")
        private$.method
      }
    ),
    private = list(
      .method = NULL,
      .calculate = function(task, nfeat) {
        values <- self$param_set$get_values()
        features <- task$feature_names
        shared <- shared_values(values)
        auto <- identical(values$k, "auto")
        options <- values[setdiff(names(values), c(names(shared), "k"))]
        options$weights <- taken_weights(task_weights(task), private$.method, options)
        found <- rank_for(table_columns(task$data(cols = features), features), private$.method,
          if (auto) "auto" else max(1L, nfeat), options, shared$standardise, shared$na, shared$seed)
        # All features are what mlr3 asks for if nobody says how many.
        if (!auto && nfeat < length(features)) check_kept_quotas(found, nfeat, "nfeat", most = TRUE)
        if (!auto) say_padded(found, nfeat)
        stats::setNames(falling_scores(found, auto), found$features[found$ranking])
      }
    ),
    parent_env = environment(mlr3_filter_class)
  )
}

# Settings of both adapters to mlr3 beside the arguments of the method, as used.
shared_values <- function(values) {
  list(standardise = if (is.null(values$standardise)) "auto" else values$standardise,
    na = if (is.null(values$na)) "error" else values$na, seed = values$seed)
}

# The weights of a task for learners, in the order of its rows; NULL where it has none. Old versions
# of mlr3 have no others.
task_weights <- function(task) {
  table <- task[[if ("weights_learner" %in% names(task)) "weights_learner" else "weights"]]
  table$weight[match(task$row_ids, table$row_id)]
}

# Scores that fall along the ranking, since equal ones would be drawn by lot: those of the method
# as far as they say something, with ties drawn apart, then below them -1, -2, ... `auto`: positive
# for the k that are kept, and negative beyond.
falling_scores <- function(found, auto = FALSE) {
  score <- found$score[found$ranking]
  size <- if (auto) found$k else found$scored
  top <- score[seq_len(size)]
  if (!is.unsorted(rev(top))) {
    run <- rle(top)
    gap <- c(-diff(run$values), abs(run$values[length(run$values)]))
    top <- top - 1e-3 * (sequence(run$lengths) - 1) * rep(gap / run$lengths, run$lengths)
  }
  # Ranks in place of scores where the ranking is not by the score, or doubles are too coarse.
  if (is.unsorted(rev(top), strictly = TRUE) || auto && top[size] <= 0) {
    top <- rev(seq_len(size)) / size
  }
  c(top, min(0, top) - seq_len(length(score) - size))
}

# The arguments of a method as a paradox parameter set, and those of the adapters. What has the form
# of a number, a switch or a choice can be tuned; anything else (a graph, a start, control) is
# passed on as it is.
# How many features are kept is the filter's own parameter.
mlr3_param_set <- function(row, ...) {
  arguments <- c(formals(row$fit), row$paper, row$only)[setdiff(row$arguments, c("y", "k", "m"))]
  check <- function(value) {
    if (identical(value, "auto") || isTRUE(value) || isFALSE(value)) TRUE else
      "Must be \"auto\", TRUE or FALSE"
  }
  do.call(paradox::ps, c(Map(mlr3_domain, names(arguments), arguments), list(...), list(
    standardise = paradox::p_uty(default = "auto", custom_check = check),
    na = paradox::p_fct(c("error", "omit", "median", "knn"), default = "error"),
    seed = paradox::p_int(special_vals = list(NULL)))))
}

# The filter's own k, which is no number: that is nfeat.
auto_domain <- function(row) {
  check <- function(value) {
    if (is.null(value)) return(TRUE)
    if (!identical(value, "auto")) "Must be \"auto\": nfeat is the number of features" else
      if (is.null(row$per_k)) TRUE else "The method solves for one number of features"
  }
  paradox::p_uty(default = NULL, custom_check = check)
}

mlr3_domain <- function(name, default) {
  required <- is.name(default) && !nzchar(default)
  value <- if (!required) on_error(eval(default, baseenv()), function(e) quote(unknown))
  none <- list(NULL)
  counts <- c("k", "m", "rank", "pool", "power", "v_max_iter", "node_limit")
  if (name %in% c("n_clusters", "n_components")) {
    paradox::p_int(lower = if (name == "n_clusters") 2L else 1L, upper = 20L,
      special_vals = c(none, as.list(c(1L, 21:1000))))
  } else if (is.logical(value) && length(value) == 1L) {
    paradox::p_lgl(default = value)
  } else if (is.character(value) && length(value) > 1L) {
    paradox::p_fct(value, default = value[[1L]])
  } else if (name %in% c("swaps", "warm_irls")) {
    paradox::p_int(lower = 0L, special_vals = c(none, TRUE, FALSE))
  } else if (grepl("^n_", name) || name %in% counts) {
    paradox::p_int(lower = 1L, special_vals = none)
  } else if (grepl("^(alpha|beta|gamma|lambda)_rel$", name)) {
    # A share of the smallest penalty at which everything is zero.
    paradox::p_dbl(lower = 0, upper = 1, special_vals = none)
  } else if (grepl("^(alpha|beta|gamma|lambda|mu)(_|$)", name) ||
      (is.numeric(value) && length(value) == 1L)) {
    paradox::p_dbl(lower = 0, special_vals = none)
  } else paradox::p_uty()
}

# ---- po("ufs_sample"), which chooses rows --------------------------------------------------------

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
#'   inherits from `mlr3pipelines::PipeOpTaskPreproc`; `method` is `"label"`, the task of
#'   [ufs_select()], or the name of a method that selects samples ([ufs_methods()]). After
#'   training its `state$rows` holds the row ids of the task that were kept, best first.
#' @seealso [mlr_filters_ufs] for features
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
      initialize = function(method = "label", id = "ufs_sample", param_vals = list()) {
        private$.method <- method
        set <- mlr3_param_set(check_offered(method, "samples"),
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
        # In the order of the task, with their weights if there are any.
        found <- found[order(found$row), ]
        task$filter(task$row_ids[found$row])
        if (anyNA(found$weight)) return(task)
        roles <- mlr3_dictionary("mlr3", "mlr_reflections")$task_col_roles[[task$task_type]]
        name <- utils::tail(make.unique(c(task$col_info$id, ".ufs_weight")), 1L)
        task$cbind(stats::setNames(data.frame(found$weight), name))
        task$set_col_roles(name, roles = intersect(c("weights_learner", "weight"), roles)[1L])
      },
      .predict_task = function(task) task
    ),
    parent_env = environment(mlr3_pipeop_class)
  )
}

# The rows of the task that a method chooses, best first: a data frame with `row` and `weight` (how
# many rows it stands for, NA without `weights`).
mlr3_rows <- function(task, method, values) {
  shared <- shared_values(values)
  features <- task$feature_types$id[task$feature_types$type %in% c("logical", "integer", "numeric")]
  if (!length(features)) refuse_data("task", "The task has no numeric feature to choose rows by.")
  row <- check_offered(method, "samples")
  if (is.null(row$task) && isTRUE(values$weights) &&
      !("m" %in% row$arguments && counts_rows_stood_for(method))) {
    refuse("weights", "ufs_", method, "() does not say how many rows a row stands for; ",
      "ufs_facility() and ufs_medoids() do.")
  }
  m <- c(values$m, 20L)[1L]
  x <- table_columns(task$data(cols = features), features)
  refuse_missing_values(x, shared$na)
  data <- framework_data(x, shared$na)
  # `omit` leaves out columns, or the rows with missing values.
  at <- if (data$n < nrow(x)) which(stats::complete.cases(x)) else seq_len(nrow(x))
  none <- if (isTRUE(values$weights)) 1 else NA_real_
  if (m >= data$n) {
    taken_weights(task_weights(task), method, values)
    return(data.frame(row = at, weight = none))
  }
  options <- values[setdiff(names(values), c(names(shared), "m", "weights"))]
  if (is.null(row$task)) options <- with_number(options, row, m)
  # A method of both kinds is asked for samples.
  if ("what" %in% row$arguments) options$what <- "samples"
  decided <- standardise_or_not(row, options, shared$standardise, data)
  fit <- with_seed(shared$seed, quietly_constant(fit_of_row(data, row, decided$options,
    shared$standardise, m)))
  taken_weights(task_weights(task), method, values, fit$method)
  chosen <- selected_samples(fit, m, as = "index")
  found <- data.frame(row = at[chosen], weight = none)
  if (isTRUE(values$weights)) {
    stands <- if (counts_rows_stood_for(fit$method)) representatives(fit, m) else {
      # The method that task "label" takes for curves does not say how many rows each stands for:
      # those nearest by the scores by which it compares rows.
      ready <- as_rescaled_operator(open_quietly(data), fit$params$center, fit$params$scale)
      scores <- smooth_scores(ready)
      near <- scores %*% t(scores[chosen, , drop = FALSE])
      who <- chosen[max.col(sweep(2 * near, 2L, diag(near[chosen, , drop = FALSE])), "first")]
      representative_table(fit, who, chosen, "chosen")
    }
    found$weight <- stands$weight[match(chosen, stands$index)]
  }
  found
}

counts_rows_stood_for <- function(method) {
  exists(paste0("representatives.ufs_", method), mode = "function")
}

# Names that R6 gives to the methods of a class.
utils::globalVariables(c("private", "self", "super"))
