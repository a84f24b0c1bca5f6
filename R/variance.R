#' Ranking by variance
#'
#' The simplest selector: features with the largest variance come first.
#'
#' Variance has the units of the feature squared, so it is meaningful only when the
#' features share a scale; `scale = TRUE` would make all variances 1, which is why it
#' is `FALSE` here (and void otherwise: a warning says so).
#'
#' @inheritParams ufs_kmeans_f
#' @param scale Divide by the standard deviation first. Only for completeness.
#' @return A fit of class `c("ufs_variance", "ufs")`; the score is the variance with
#'   denominator n - 1.
#' @examples
#' fit <- ufs_variance(iris[, 1:4])
#' fit
#' @include ufs.R
#' @export
ufs_variance <- function(x, scale = FALSE, control = ufs_control()) {
  run_fit("variance", match.call(), {
    control <- resolve_control(control)
    data <- as_ufs_operator(x, center = TRUE, scale = scale, write = FALSE)
    if (!scale && !all(is.finite(data$variance) & data$variance > 0)) {
      ufs_abort("input", "The columns of `x` are too ",
        if (all(is.finite(data$variance))) "small" else "large",
        " to have a variance in double precision; use other units.", argument = "x")
    }
    if (scale) {
      ufs_warn("void", "With scale = TRUE every variance is 1: the ranking says nothing.")
    }
    list(data = data, control = control, params = list(scale = scale),
      feature_scores = if (scale) rep(1, length(data$keep)) else data$variance)
  })
}

register("variance", ufs_variance,
  advice = "historical (for comparison)",
  group = "baseline", selects = "features", deterministic = TRUE,
  title = "Variance",
  cost = "n p"
)
