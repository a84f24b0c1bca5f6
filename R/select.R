# The front door for those who do not want to choose a method.

#' Choose by task, with the method that held best on real data
#'
#' Say what the selection is for, and the recommended method is applied with its recommended
#' settings. Start here if you do not want to choose a method yourself. The print says which method
#' it was, why, and what it was worth on real data; `fit$call` is the call that does the same by
#' hand. `vignette("which-method")` shows the measurements behind these recommendations.
#'
#' * `"compress"` chooses a few columns from which all the others can be rebuilt: [ufs_css()] with
#'   `mu_rel = 1`. When new rows were rebuilt from 10 to 100 columns, the error was 4.8 percentage
#'   points (standard error 1.0) smaller than from random columns, on eleven real sets.
#' * `"classify"` chooses a few columns for a classifier whose labels come later: [ufs_css()] with
#'   `mu_rel = 0.1`. A linear support vector machine was 5.3 (1.0) points more accurate than on
#'   random columns, and won on 10 of 11 sets.
#' * `"cluster"` chooses a few columns for k-means: [ufs_mcfs()], told 5 clusters if you give no
#'   `n_clusters`. It was 4.8 points above random columns and level with all of them.
#' * `"label"` chooses the samples to label first: [ufs_facility()]. Classifiers trained on them
#'   were 6.1 (0.9) points more accurate than on random samples, and won on 11 of 12 sets.
#'
#' If most columns of your table are noise, say `noise = TRUE`. Columns are then chosen by
#' [ufs_laplacian()] on standardised columns, whatever the task: with 20 noise columns for each real
#' one, k-means on its choice was 5 points better than on all columns, while the other methods of
#' this list fell behind.
#'
#' Do not expect a selection of features to beat all features on clean data. It saves columns, and
#' it wins where there is noise to leave out.
#'
#' @param x Numeric matrix, data frame, tibble or Matrix, n samples (rows) by p features.
#' @param k How many features to choose; for `task = "label"` how many samples, unless `m` says so.
#' @param task `"compress"`, `"classify"`, `"cluster"` or `"label"`.
#' @param m For `"label"`: how many samples to choose.
#' @param n_clusters For `"cluster"`: the number of clusters to look for.
#' @param noise Are most columns pure noise?
#' @param ... Further arguments of the method, for instance `labelled` of [ufs_facility()].
#' @return The method's fit, with `task`, `size` (k or m), and `reason` besides; its class begins
#'   with `"ufs_select"`. `selected_features(fit)` and `selected_samples(fit)` take that number
#'   by default.
#' @seealso [ufs_methods()], whose column `advice` says the same of every method.
#' @examples
#' fit <- ufs_select(iris[, 1:4], k = 2, task = "compress")
#' fit
#' selected_features(fit)
#' ufs_select(iris[, 1:4], m = 6, task = "label")
#' @include ufs.R css.R
#' @export
ufs_select <- function(x, k = NULL, task = c("compress", "classify", "cluster", "label"), m = NULL,
                       n_clusters = NULL, noise = FALSE, ...) {
  check_given(x)
  task <- check_choice(task, "task", c("compress", "classify", "cluster", "label"))
  noise <- check_flag(noise, "noise")
  if (task != "label" && !is.null(m)) {
    ufs_abort("argument", "`m` is for task = \"label\"; say how many features by `k`.",
      argument = "m")
  }
  if (task != "cluster" && !is.null(n_clusters)) {
    ufs_abort("argument", "`n_clusters` is for task = \"cluster\" only.", argument = "n_clusters")
  }
  if (task == "label" && noise) {
    ufs_abort("argument", "`noise` is about choosing features; choose these first, then samples.",
      argument = "noise")
  }
  size <- if (task == "label" && !is.null(m)) m else k
  what <- if (task == "label") "m" else "k"
  if (is.null(size)) {
    ufs_abort("argument", "`", what, "`, how many ", if (what == "m") "samples" else "features",
      " to choose, is missing.", argument = what)
  }
  if (task == "label" && !is.null(m) && !is.null(k)) {
    ufs_abort("argument", "Give `m` or `k`, not both.", argument = "k")
  }
  size <- check_count(size, what, 1L)
  plan <- selection_plan(task, size, n_clusters, noise)
  given <- list(...)
  # A penalty given absolutely takes the place of the share that is recommended.
  plan$args[paste0(names(given), "_rel")] <- NULL
  twice <- intersect(names(given), names(plan$args))
  plan$args[twice] <- given[twice]
  args <- c(plan$args, given[setdiff(names(given), twice)])
  fit <- do.call(ufs, c(list(x = x, method = plan$method), args))
  check_count(size, what, 1L, if (what == "m") fit$n else fit$p,
    if (what == "m") "the samples" else "the features")
  # The call to repeat it: the user's `x`, every argument as used.
  fit$call <- plain_call(as.call(c(list(as.name(paste0("ufs_", plan$method)), x = substitute(x)),
    args)), paste0("ufs_", plan$method))
  fit$task <- task
  fit$size <- size
  fit$reason <- plan$reason
  class(fit) <- c("ufs_select", class(fit))
  sealed(fit)
}

# Which method, with which arguments, and why. The only place above the methods that names them:
# it is the advice itself.
selection_plan <- function(task, size, n_clusters, noise) {
  if (noise) {
    return(list(method = "laplacian", args = list(center = TRUE, scale = TRUE),
      reason = c("keeps columns that follow the neighbourhoods of samples, which noise does not",
        "20 noise columns per real one, 8 sets: clusters 5.4 points better than all columns")))
  }
  switch(task,
    compress = list(method = "css", args = list(k = size, mu_rel = 1),
      reason = c("picks the columns that best rebuild all columns",
        "11 real sets: error on new rows 4.8 (s.e. 1.0) points below random columns")),
    classify = list(method = "css", args = list(k = size, mu_rel = 0.1),
      reason = c("picks the columns that rebuild all columns, whatever the labels will be",
        paste("11 real sets: linear SVM 5.3 (s.e. 1.0) points above random columns, won 10 of 11;",
          "below all columns"))),
    cluster = list(method = "mcfs",
      args = list(n_clusters = if (is.null(n_clusters)) 5L else n_clusters),
      reason = c("picks the columns that explain the clusters of the neighbour graph",
        "11 real sets: k-means 4.8 points above random columns, 0.8 (s.e. 2.2) above all columns")),
    label = list(method = "facility", args = list(m = size),
      reason = c("picks samples that stand for all samples",
        "12 real sets: classifiers 6.1 (s.e. 0.9) points above random samples, won 11 of 12"))
  )
}

#' @export
selected_features.ufs_select <- function(fit, k = NULL, as = NULL, ...) {
  if (is.null(k) && fit$task != "label") k <- fit$size
  if (is.null(k)) {
    check_fit(fit, "feature_ranking", "features")
    ufs_abort("argument", "`k` is missing.", argument = "k")
  }
  selected_features(without_task(fit), k, as, ...)
}

#' @export
selected_samples.ufs_select <- function(fit, m = NULL, as = NULL, ...) {
  if (is.null(m) && fit$task == "label") m <- fit$size
  if (is.null(m)) {
    check_fit(fit, "sample_ranking", "samples")
    ufs_abort("argument", "`m` is missing.", argument = "m")
  }
  selected_samples(without_task(fit), m, as, ...)
}

#' @export
predict.ufs_select <- function(object, newdata, k = object$size, ...) {
  check_fit(object)
  stats::predict(without_task(object), newdata, k = k, ...)
}

without_task <- function(fit) {
  class(fit) <- setdiff(class(fit), "ufs_select")
  fit
}

#' @export
print.ufs_select <- function(x, n = 10L, ...) {
  check_dots_empty(...)
  n <- check_count(n, "n", 0L)
  check_fit(x)
  chosen <- suppressMessages(if (x$task == "label") selected_samples(x) else selected_features(x))
  cat("<ufs_select> ", x$size, if (x$task == "label") " samples" else " features", " to ", x$task,
    ", of ", if (x$task == "label") x$n else x$p, "\n", sep = "")
  cat("  chosen       ", paste(utils::head(chosen, n), collapse = ", "),
    if (length(chosen) > n) ", ...", "\n", sep = "")
  cat("  method       ufs_", x$method, "(): ", x$reason[1L], "\n", sep = "")
  cat("  worth        ", x$reason[2L], "\n", sep = "")
  cat("  to repeat    ", paste(trimws(deparse(x$call, width.cutoff = 200L)), collapse = " "),
    "\n", sep = "")
  cat("  status       ", x$status, "\n", sep = "")
  if (length(x$certificate)) {
    cat("  certificate  ", format_certificate(x$certificate), "\n", sep = "")
  }
  cat("  data         ", x$n, " samples x ", x$p, " features",
    if (length(x$constant)) paste0(" (", length(x$constant), " constant)"), "\n", sep = "")
  invisible(x)
}
