#' Which samples, or columns, stand for which
#'
#' Says, for a selection of samples, whom each chosen sample represents. Use it to weigh the chosen
#' samples when a model is trained on them, or to look up the representatives of a sample.
#'
#' After [ufs_facility()] or [ufs_medoids()] it says how many samples each chosen one stands for, or
#' who stands for each sample. [ufs_alfs()] rebuilds sample j as `sum_i x_i (W X)_ij`, from few
#' samples (the non-zero rows of W) and few features (its non-zero columns); after it, the function
#' lists for each row of `x` the samples with the largest weights. Rows of `x` may be new.
#'
#' After [ufs_css()], or any other method that chooses columns, it says for every column which of
#' the chosen ones it is most correlated with.
#'
#' @param fit A fit of a method that chooses columns, or by [ufs_alfs()], [ufs_facility()] or
#'   [ufs_medoids()].
#' @param ... Arguments of the methods.
#' @param x The data of the fit, which only [ufs_css()], [ufs_facility()] and [ufs_medoids()] do not
#'   need; for [ufs_alfs()] also new rows with the same columns.
#' @param k How many of the best columns to consider. The default is the `k` of the fit.
#' @param n For [ufs_alfs()], how many representatives to list.
#' @param m How many of the best samples to consider ([selected_samples()]). After [ufs_alfs()] the
#'   default `NULL` considers all; otherwise the default is the `m` of the fit.
#' @param what `"chosen"` gives one row per chosen sample, `"samples"` one row per sample.
#' @return For [ufs_facility()] and [ufs_medoids()] a data frame with one row per chosen (or already
#'   labelled) sample: `sample` (its name, or index), `index`, `weight` (how many samples it stands
#'   for, itself included), `share` of all samples, `labelled`. With `what = "samples"` it has
#'   one row per sample: `sample` and its `representative`.
#'
#'   For methods that choose columns a data frame with one row per column: `feature`, its
#'   `representative` among the best `k`, their correlation `r` (the cosine, if the columns were not
#'   centred), and `explained`, the share of its squares that all chosen columns explain together.
#'   Constant columns have `NA`.
#'
#'   For [ufs_alfs()] a data frame with `n` rows per sample (fewer if fewer have a weight):
#'   `sample` and `representative` (names, or indices), `weight` (W X)_ij, and `share`, its
#'   absolute value over the sum of those of all representatives considered.
#' @examples
#' # How many cars does each of four stand for?
#' representatives(ufs_facility(mtcars, m = 4))
#'
#' # Which of three columns stands for each other one?
#' representatives(ufs_css(mtcars, k = 3))
#' head(representatives(ufs_pca(mtcars, n_components = 2, k = 3), mtcars))
#'
#' # From which cars is each car rebuilt?
#' fit <- ufs_alfs(mtcars, alpha_rel = .2, beta_rel = .05)
#' head(representatives(fit, mtcars, n = 2))
#' @export
representatives <- function(fit, ...) {
  check_given(fit)
  if (inherits(fit, "ufs")) check_fit(fit)
  UseMethod("representatives")
}

#' @rdname representatives
#' @export
representatives.ufs <- function(fit, x, k = NULL, ...) {
  check_dots_empty(...)
  if (is.null(fit$feature_ranking)) return(representatives.default(fit))
  if (missing(x)) refuse("x", "`x`, the data of the fit, is missing: only ufs_css() keeps them.")
  check_door(x, "representatives()", "sums", fit)
  data <- as_ufs_operator(open_quietly(as_the_fit_had_it(fit, x)), !isFALSE(fit$params$center),
    !isFALSE(fit$params$scale))
  if (data$n != fit$n || !identical(data$features, fit$names$features)) {
    refuse("x", "`x` must be the data of the fit, ", fit$n, " x ", fit$p, ".")
  }
  at <- columns_of(data, suppressMessages(selected_features(fit, k, as = "index")))
  norm <- sqrt(x_ss(data$x))
  r <- x_cross(data$x, x_columns(data$x, at)) / outer(norm, norm[at])
  nearest <- max.col(abs(r), ties.method = "first")
  explained <- colSums(column_basis(data$x, at)$coordinates^2) / norm^2
  out <- data.frame(feature = data$features, representative = NA_character_, r = NA_real_,
    explained = NA_real_)
  r <- pmax(-1, pmin(1, r[cbind(seq_along(nearest), nearest)]))
  # The level of a factor that is told best.
  best <- order(data$keep, -abs(r))
  best <- best[!duplicated(data$keep[best])]
  out[data$keep[best], -1L] <- list(data$features[data$keep[at[nearest[best]]]], r[best],
    pmin(gathered(explained * norm^2, data$keep) / gathered(norm^2, data$keep), 1))
  out
}

#' @export
representatives.default <- function(fit, ...) {
  refuse("fit", "`fit` must be a fit of a method that chooses columns, or by ufs_alfs(), ",
    "ufs_facility() or ufs_medoids(), not ", kind_of(fit), ".")
}
