# Parameter objects of dials for the steps of recipes.R and recipes-sample.R.

#' Parameters of the recipe steps for tuning
#'
#' These functions make the dials parameter objects behind `tune()` in [step_select_ufs()] and
#' [step_sample_ufs()]. tune finds them by itself; call them to give other ranges or values, as in
#' `update(parameters, method = ufs_param_method(c("css", "pca")))`.
#'
#' The scores of a method are in units of its own, so `ufs_param_cutoff()` has a range that suits
#' only methods whose scores fall from 1 to 0, as those of [ufs_css()] and [ufs_consensus()] do.
#'
#' @param values Names of methods. The default `NULL` takes those that [ufs_methods()] recommends
#'   without conditions, and the one that [ufs_select()] takes among columns of noise.
#' @param range The smallest and the largest value.
#' @param trans A transformation of package scales, or `NULL`.
#' @return A parameter object of package dials.
#' @examplesIf requireNamespace("dials", quietly = TRUE)
#' ufs_param_method()
#' ufs_param_n_clusters(c(3L, 6L))
#' @name ufs_dials
NULL

#' @rdname ufs_dials
#' @export
ufs_param_method <- function(values = NULL) {
  check_installed("dials", "for tuning")
  if (is.null(values)) {
    table <- ufs_methods()
    # Advice with a condition has it in brackets.
    sound <- grepl("^recommended[^(]*$|good among noise", table$advice) & table$selects != "samples"
    values <- table$method[sound]
  }
  for (name in values) check_selects(name, "features")
  dials::new_qual_param("character", values = values, label = c(method = "Selection Method"))
}

#' @rdname ufs_dials
#' @export
ufs_param_n_clusters <- function(range = c(2L, 10L), trans = NULL) {
  number_param("integer", range, trans, c(n_clusters = "# Clusters"))
}

#' @rdname ufs_dials
#' @export
ufs_param_m <- function(range = c(5L, 50L), trans = NULL) {
  number_param("integer", range, trans, c(m = "# Samples"))
}

#' @rdname ufs_dials
#' @export
ufs_param_cutoff <- function(range = c(0, 1), trans = NULL) {
  number_param("double", range, trans, c(cutoff = "Score Cutoff"))
}

number_param <- function(type, range, trans, label) {
  check_installed("dials", "for tuning")
  dials::new_quant_param(type, range = range, inclusive = c(TRUE, TRUE), trans = trans,
    label = label, finalize = NULL)
}
