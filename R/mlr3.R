# mlr3: the filter flt("ufs"). Its R6 class is made only when mlr3filters is loaded (.onLoad
# below waits for that), so R6, paradox and mlr3filters stay suggested packages.

#' Unsupervised filters for mlr3
#'
#' Once the packages ufselect and mlr3filters are both loaded, in either order, `flt("ufs")`
#' makes a filter out of any method of this package that ranks features. It works on every kind
#' of task, also on those without a target, and never looks at the target.
#'
#' The arguments of the method, as on its own help page, are the filter's parameters; `control`
#' takes [ufs_control()]. A method that solves for one number of features, as [ufs_topk()]
#' does, is told `nfeat`. The filter's id is `"ufs_<method>"`, so several of them fit into one
#' graph.
#'
#' # Ties
#' mlr3filters keeps scores only and puts features with equal scores in random order. The
#' package's own rule (secondary key, then lowest index, see [selected]) therefore does not
#' hold inside mlr3: set a seed, or use [ufs()] where exact ties matter. Methods with exact
#' zeros, such as [ufs_socfs()], have many of them at the end of the ranking.
#'
#' # Missing and constant values
#' Missing values are refused; impute before the filter. Constant features get the score `NA`
#' and come last.
#'
#' @name mlr_filters_ufs
#' @aliases flt_ufs FilterUfs
#' @return `flt("ufs", method)` returns an object of the R6 class `FilterUfs`, which inherits from
#'   `mlr3filters::Filter`. After `$calculate(task)` its field `scores` holds the scores of the
#'   features by name, larger for better ones.
#' @seealso `vignette("in-your-framework")`
#' @examplesIf requireNamespace("mlr3", quietly = TRUE) && requireNamespace("mlr3filters", quietly = TRUE)
#' library(mlr3filters)
#' filter <- flt("ufs", method = "kmeans_f", n_clusters = 3)
#' filter$calculate(mlr3::tsk("iris"))
#' filter$scores
NULL

# Adds the filter now or as soon as mlr3filters comes.
register_mlr3_filter <- function() {
  if (isNamespaceLoaded("mlr3filters")) {
    add_mlr3_filter()
  }
  setHook(packageEvent("mlr3filters", "onLoad"), function(...) {
    if (isNamespaceLoaded("ufselect")) add_mlr3_filter()
  })
}

add_mlr3_filter <- function() {
  mlr3_filters()$add("ufs", mlr3_filter_class())
}

remove_mlr3_filter <- function() {
  if (isNamespaceLoaded("mlr3filters") && mlr3_filters()$has("ufs")) {
    mlr3_filters()$remove("ufs")
  }
}

mlr3_filters <- function() get("mlr_filters", envir = asNamespace("mlr3filters"))

mlr3_filter_class <- function() {
  R6::R6Class("FilterUfs",
    inherit = mlr3filters::Filter,
    public = list(
      initialize = function(method = "laplacian") {
        row <- method_row(method)
        if (row$selects == "samples") {
          ufs_abort("argument", "ufs_", method, "() selects samples, not features.",
            argument = "method")
        }
        private$.method <- method
        super$initialize(
          id = paste0("ufs_", method), task_types = NA_character_,
          param_set = mlr3_param_set(row$fit), packages = "ufselect",
          feature_types = c("logical", "integer", "numeric"),
          label = row$title, man = paste0("ufselect::ufs_", method)
        )
      }
    ),
    active = list(
      method = function(value) {
        if (!missing(value)) {
          ufs_abort("argument", "`method` is read-only: make a new filter.", argument = "method")
        }
        private$.method
      }
    ),
    private = list(
      .method = NULL,
      .calculate = function(task, nfeat) {
        x <- task$data(cols = task$feature_names)
        fit <- fit_for_k(as.data.frame(x), private$.method, nfeat, self$param_set$get_values())
        feature_scores(fit)
      }
    ),
    parent_env = environment(mlr3_filter_class)
  )
}

# The arguments of a method as a paradox parameter set. What has the form of a number, a switch
# or a choice can be tuned; anything else (a graph, a start, control) is passed on as it is.
mlr3_param_set <- function(fit) {
  arguments <- formals(fit)[setdiff(arguments_of(fit), "y")]
  domains <- Map(mlr3_domain, names(arguments), arguments)
  do.call(paradox::ps, domains)
}

mlr3_domain <- function(name, default) {
  required <- is.name(default) && !nzchar(default)
  value <- if (!required) tryCatch(eval(default, baseenv()), error = function(e) quote(unknown))
  counts <- c("n_clusters", "n_components", "n_features", "n_starts", "n_base", "k",
    "rank")
  if (name %in% counts) {
    return(paradox::p_int(lower = 1L, special_vals = list(NULL)))
  }
  if (is.logical(value) && length(value) == 1L) {
    return(paradox::p_lgl(default = value))
  }
  if (is.character(value) && length(value) > 1L) {
    return(paradox::p_fct(value, default = value[[1L]]))
  }
  penalties <- grepl("^(alpha|beta|gamma|lambda|mu)(_|$)", name)
  if (penalties || (is.numeric(value) && length(value) == 1L)) {
    return(paradox::p_dbl(lower = if (penalties) 0 else -Inf, special_vals = list(NULL)))
  }
  paradox::p_uty()
}

# Names that R6 gives to the methods of a class.
utils::globalVariables(c("private", "self", "super"))
