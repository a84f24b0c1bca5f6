# Every generic refuses what it does not know, in our words.

x <- planted(24, 8, informative = 4)$x
colnames(x) <- paste0("f", 1:8)
refused <- function(call) expect_identical(expect_error(quietly(call), class = "ufs_error_argument")$argument, "foo")

for (method in ufs_methods()$method) {
  test_that(paste0(method, ": unknown arguments are errors in every generic"), {
    skip_most_on_cran(method)
    fit <- fit_of(method, x)
    expect_arguments(foo = ufs(x, method, foo = 1), foo = print(fit, foo = 1), foo = summary(fit, foo = 1),
      foo = as.data.frame(fit, foo = 1))
    if (!is.null(fit$coef_name)) refused(coef(fit, foo = 1))
    if (!is.null(fit$feature_scores)) {
      k <- if (method == "topk") 4 else 2
      expect_arguments(foo = selected_features(fit, k, foo = 1), foo = predict(fit, x, k = k, foo = 1))
    }
    if (!is.null(fit$sample_scores)) {
      # A method that solves for its number is asked for that one.
      refused(selected_samples(fit, if (is.null(fit$params$m)) 2 else fit$params$m, foo = 1))
    }
    skip_if_not_installed("generics")
    expect_arguments(foo = generics::tidy(fit, foo = 1), foo = generics::glance(fit, foo = 1),
      foo = generics::augment(fit, x, foo = 1))
  })
}

test_that("pictures take graphical parameters and nothing else", {
  skip_on_cran()
  withr::local_pdf(NULL)
  fit <- ufs_variance(x)
  graph <- suppressWarnings(ufs_graph(x))
  grid <- ufs_grid(x, "pca", list(n_components = 1:2))
  set.seed(1)
  stable <- ufs_stability(x, "variance", k = 2, n_resamples = 4)
  for (object in list(fit, graph, grid, stable, ufs_overlap(c(fit, fit), 2), c(fit, fit))) {
    refused(plot(object, foo = 1))
    expect_warning(plot(object, main = "Mine", xlab = "Here", cex.lab = .8, las = 1), NA)
  }
  refused(plot(graph, what = "weights", foo = 1))
  expect_warning(plot(graph, what = "weights", main = "Mine", col = "blue"), NA)
  expect_error(plot(graph, what = "weights", breaks = 3), "breaks", class = "ufs_error_argument")
})

test_that("an argument m of a method is not completed to `method`", {
  set.seed(1)
  direct <- ufs_facility(x, m = 5)
  expect_identical(ufs(x, "facility", m = 5)$sample_ranking, direct$sample_ranking)
  expect_identical(ufs(m = 5, method = "facility", x)$sample_ranking, direct$sample_ranking)
  grid <- ufs_grid(x, "facility", list(similarity = c("heat", "cosine")), m = 5)
  expect_identical(grid$method, "facility")
  expect_identical(grid$results$error, c("", ""))
  expect_equal(unname(grid$sample_rankings[, 1]), unname(ufs_facility(x, m = 5, similarity = "heat")$sample_ranking))
  expect_error(ufs_grid(x, "facility", list(m = 4:5), m = 5), class = "ufs_error_argument")
  expect_error(ufs_tune(x, "pca", list(n_components = 1:2), k = 2, m = 5), class = "ufs_error_argument")
})
