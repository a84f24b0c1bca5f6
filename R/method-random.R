#' Random ranking of features, samples or both
#'
#' Ranks features or samples at random. Any other method should be held against this one:
#' [ufs_compare()] always shows it. The draws are R's, so `set.seed()` makes them repeatable.
#'
#' @inheritParams ufs_pca
#' @inheritParams ufs_rrss
#' @param what `"features"` (default), `"samples"` or `"both"`.
#' @param labelled Samples that are labelled already: indices, row names, or a logical vector of
#'   length n. They are not chosen: their score is `NA` and they come last.
#' @return A fit of class `c("ufs_random", "ufs")` with uniform random scores.
#' @examples
#' set.seed(1)
#' selected_features(ufs_random(iris[, 1:4]), k = 2)
#' selected_samples(ufs_random(iris[, 1:4], what = "samples"), m = 5)
#' @export
ufs_random <- function(x, what = c("features", "samples", "both"), k = NULL,
                       m = NULL, labelled = NULL, control = ufs_control(), ...) {
  run_fit("random", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_random <- function(data, control, what, labelled, ...) {
  labelled <- check_labelled(labelled, data)
  # Ranks rather than raw draws: no ties, and the order is the permutation drawn.
  draw <- function(size) (size + 1 - sample.int(size)) / size
  list(params = list(what = what, labelled = labelled),
    feature_scores = if (what != "samples") draw(length(data$keep)),
    sample_scores = if (what != "features") without_labelled(draw(data$n), labelled))
}

register("random", ufs_random,
  solve = solve_random,
  prepare = function(x, args) as_column_stats(x),
  advice = "baseline (for comparison)",
  group = "baseline", selects = "both", deterministic = FALSE, sized_by = "pca",
  title = "Random ranking",
  cost = "n + p",
  refuses = c(weights = "it does not look at the rows at all")
)
