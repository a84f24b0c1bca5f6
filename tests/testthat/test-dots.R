# Every generic refuses what it does not know, in our words.

methods <- ufs_methods()
x <- planted(24, 8, informative = 4)$x
colnames(x) <- paste0("f", 1:8)
arguments <- function(method) {
  c(needed_arguments(method), if (method == "topk") list(n_clusters = 3),
    if (method == "random") list(what = "both"))
}
refused <- function(call) {
  expect_identical(
    expect_error(suppressMessages(suppressWarnings(call)), class = "ufs_error_argument")$argument,
    "foo")
}

for (method in methods$method) {
  test_that(paste0(method, ": unknown arguments are errors in every generic"), {
    fit <- withr::with_seed(1, suppressMessages(suppressWarnings(
      do.call(ufs, c(list(x, method), arguments(method))))))
    refused(ufs(x, method, foo = 1))
    refused(print(fit, foo = 1))
    refused(summary(fit, foo = 1))
    refused(as.data.frame(fit, foo = 1))
    if (!is.null(fit$coef_name)) refused(coef(fit, foo = 1))
    if (!is.null(fit$feature_scores)) {
      k <- if (method == "topk") 4 else 2
      refused(selected_features(fit, k, foo = 1))
      refused(predict(fit, x, k = k, foo = 1))
    }
    if (!is.null(fit$sample_scores)) {
      # A method that solves for its number is asked for that one.
      refused(selected_samples(fit, if (is.null(fit$params$m)) 2 else fit$params$m, foo = 1))
    }
    skip_if_not_installed("generics")
    refused(generics::tidy(fit, foo = 1))
    refused(generics::glance(fit, foo = 1))
    refused(generics::augment(fit, x, foo = 1))
  })
}

test_that("so do grids, comparisons and stability", {
  grid <- ufs_grid(x, "pca", list(n_components = 1:2))
  set.seed(1)
  stable <- ufs_stability(x, "variance", k = 2, n_resamples = 4)
  compared <- ufs_compare(x, rep(letters[1:2], 12), "variance", k = 2, repeats = 1, baselines = FALSE,
    classifiers = list(f = function(x, y, newx) rep(levels(y)[1], nrow(newx))))
  tuned <- ufs_tune(x, "pca", list(n_components = 1:2), k = 2, criterion = "knn_overlap")
  for (object in list(grid, stable, compared, tuned)) {
    refused(print(object, foo = 1))
    refused(as.data.frame(object, foo = 1))
  }
  refused(summary(grid, foo = 1))
  refused(summary(compared, foo = 1))
  refused(ufs_grid(x, "pca", list(n_components = 1:2), foo = 1))
  refused(ufs_stability(x, "pca", k = 2, n_components = 2, foo = 1))
})
