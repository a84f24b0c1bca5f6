# Choosing settings without labels.

#' Choose settings without labels
#'
#' Fits a method under every setting of a grid and chooses the setting whose best `k` features do
#' best by a criterion that needs no labels. Use it when a method's settings matter and you have
#' nothing to judge them by. On average the choice beats the methods' defaults by a little; no
#' criterion is reliable on a single data set, so look at the whole table.
#'
#' The criteria are all "larger is better" and computed on the standardised columns:
#' * `"knn_overlap"` (the default): the mean share of the 5 nearest neighbours in all features that
#'   are also nearest neighbours in the chosen ones. Ties (within .001) are broken by
#'   `"reconstruction"`. Of more than 10,000 samples 4,000, spread over all, are compared with each
#'   other, which `print()` says; `options(ufselect.most_rows = Inf)` compares all.
#' * `"reconstruction"`: minus the leave-one-out error of a ridge regression of all features
#'   on the chosen ones, as a share of their variance.
#' * `"silhouette_all"`: the mean silhouette, measured in all features, of the labels that k-means
#'   with 10 starts finds on the chosen ones.
#'
#' The objective of a method is not among them: it is not comparable between penalties, and between
#' starts it does not predict accuracy. `vignette("choosing-parameters")` shows how to work with the
#' criteria, and what their choices lose against the best setting of a grid.
#'
#' @inheritParams ufs_grid
#' @param k The number of features that will be used. If there are several, the criterion is
#'   averaged over them.
#' @param criterion One or more names of criteria. The first decides, and all are reported. The
#'   default is `"knn_overlap"`.
#' @param n_clusters The number of clusters for the method, where it has that argument, and for the
#'   criteria that cluster. By default the criteria take the method's `n_clusters` or
#'   `n_components`, each setting its own if the grid varies them.
#' @return An object of class `c("ufs_tune", "ufs_grid")`: a grid whose `results` have the criteria
#'   as further columns, with `best` (the row chosen), `choice` (its settings) and `fit`.
#' @seealso [ufs_grid()], [ufs_stability()], and [ufs_compare()] if there are labels to judge by.
#' @examples
#' # How many components should rank the features of mtcars?
#' set.seed(1)
#' tuned <- ufs_tune(mtcars, "pca", list(n_components = 1:4), k = 4, criterion = "knn_overlap")
#' tuned
#' tuned$choice
#' selected_features(tuned$fit, 4)
#' @export
ufs_tune <- function(x, method, grid, k, criterion = NULL, ..., n_clusters = NULL,
                     checkpoint = NULL, m) {
  check_given(x, method, grid)
  watch_over("ufs_tune()")
  call <- plain_call(match.call(), "ufs_tune")
  row <- method_row(method)
  if (row$selects == "samples") {
    refuse("method", "ufs_", method, "() selects samples; the criteria judge features.")
  }
  arguments <- row$arguments
  opened <- open_some(x, list(...), arguments)
  x <- check_door(opened$x, "ufs_tune()", chosen_by(row))
  fixed <- opened$rest
  if (!missing(m)) fixed["m"] <- list(m)
  if (is.null(criterion)) criterion <- default_criterion
  if (!is.character(criterion) || !length(criterion)) {
    refuse("criterion", "`criterion` must be one or more of ",
      paste0("\"", names(criteria), "\"", collapse = ", "), ".")
  }
  for (name in criterion) check_choice(name, "criterion", names(criteria))
  varies <- intersect(c("n_clusters", "n_components"), names(grid))
  if (is.null(n_clusters)) n_clusters <- fixed$n_components
  if ("n_clusters" %in% arguments && !"n_clusters" %in% varies) fixed$n_clusters <- n_clusters
  clusters <- any(vapply(criteria[criterion], `[[`, NA, "clusters"))
  if (clusters && (!is.null(n_clusters) || !length(varies))) {
    n_clusters <- check_clusters(n_clusters, nrow(x))
  }
  # Fits per k only for the methods, and with the settings, that solve for their k.
  number <- number_argument(row)
  one_k <- !is.null(row$per_k) ||
    any(c("swaps", "starts", "optimal") %in% c(names(fixed), names(grid)))
  if (one_k && is.null(fixed[[number]])) {
    if (length(k) != 1L) refuse("k", "ufs_", method, "() solves for one k: give one.")
    fixed[[number]] <- k
  }
  fits <- do.call(ufs_grid, c(list_of(x, method, grid), fixed,
    list(checkpoint = checkpoint, keep_fits = TRUE)), quote = TRUE)
  k <- check_counts(k, "k", fits$p, "the features")
  judged <- judge_settings(fits, x, k, criterion, n_clusters, varies)
  fits$results[names(judged$values)] <- judged$values
  best <- judged$best
  if (judged$compared > 0L) fits$rows_compared <- judged$compared
  fits[c("call", "criterion", "k", "best", "choice", "fit")] <- list(call, criterion, k, best,
    fits$settings[best, , drop = FALSE], fits$fits[[best]])
  fits$fits <- NULL
  structure(fits, class = c("ufs_tune", class(fits)))
}

#' @export
print_lines.ufs_tune <- function(x) {
  cat_line("<ufs_tune> ufs_", x$method, ", ", count_words(nrow(x$settings), "setting"), ", by ",
    x$criterion[1L], " at k = ", paste(x$k, collapse = ", "))
  cat_line("  chosen: ", paste(names(x$choice), vapply(x$choice, function(v) format(unlist(v)), ""),
    sep = " = ", collapse = ", "))
  table <- as.data.frame(x)
  shown <- unique(c(x$criterion, intersect("reconstruction", names(table))))
  table <- table[order(-table[[x$criterion[1L]]]), c(names(x$settings), "status", shown)]
  print(utils::head(table, 8L), digits = 3L, row.names = FALSE)
  if (nrow(table) > 8L) cat("  ... and", nrow(table) - 8L, "more\n")
  if (!is.null(x$rows_compared)) {
    cat_line("  neighbours compared among ", x$rows_compared, " of the samples, spread over all")
  }
  print_checkpoint(x$checkpoint)
}

#' @export
picture.ufs_tune <- function(object, value = object$criterion[1L], over = NULL, ...) {
  picture.ufs_grid(object, value, over)
}
