#' Ranking by variance
#'
#' Ranks features by their variance, the largest first. It is the simplest selector and the baseline
#' to beat; use it only if the features share a unit.
#'
#' Variance has the units of the feature squared, so it is meaningful only when the features share a
#' scale. `scale = TRUE` would make all variances 1, which is why it is `FALSE` here; a warning
#' says so.
#'
#' @inheritParams ufs_pca
#' @param scale Should columns be divided by their standard deviation first? (For completeness.)
#' @return A fit of class `c("ufs_variance", "ufs")`; the score is the variance (denominator n - 1).
#' @seealso [ufs_random()], the other baseline
#' @examples
#' # Four lengths and widths in cm
#' fit <- ufs_variance(iris[, 1:4])
#' feature_scores(fit)
#' selected_features(fit, k = 2)
#' @export
ufs_variance <- function(x, k = NULL, scale = FALSE, control = ufs_control(), ...) {
  run_fit("variance", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_variance <- function(data, control, scale, ...) {
  if (!scale) check_variances(data)
  if (scale) ufs_warn("void", "With scale = TRUE every variance is 1: the ranking says nothing.")
  root <- data$roots[[if (scale) "scaled" else "plain"]]
  list(params = list(scale = scale), feature_scores = (if (scale) rep(1, length(data$keep)) else
    data$variance) / if (is.null(root)) 1 else root^2)
}

# Returns the result of as_column_stats(), if it has a number for each variance.
check_variances <- function(data) {
  beyond <- !is.finite(data$variance)
  if (any(beyond | data$variance == 0)) {
    off <- if (any(beyond)) beyond else data$variance == 0
    refuse_data("x", "The values of ", some_columns(data$features[data$keep[off]]),
      " of `x` are too ", if (any(beyond)) "large" else "small",
      " to have a variance in double precision; use other units.")
  }
  data
}

register("variance", ufs_variance,
  solve = solve_variance,
  prepare = function(x, args) as_column_stats(x, TRUE, args$scale, code = TRUE),
  advice = "historical (for comparison)",
  group = "baseline", sized_by = "pca",
  title = "Variance",
  cost = "n p",
  constraints = "weights", moments = TRUE
)
