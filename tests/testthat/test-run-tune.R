skip_on_cran()

z <- scale(as.matrix(iris[, 1:4]))

test_that("neighbours are compared among some of very many samples, which the print says", {
  x <- withr::with_seed(1, matrix(rnorm(60 * 6), 60))
  expect_null(neighbour_rows(x))
  rows <- withr::with_options(list(ufselect.most_rows = 50), neighbour_rows(x, most = 40))
  expect_identical(rows, which(rank((1:60 * (sqrt(5) - 1) / 2) %% 1) <= 40))
  kept <- neighbours_kept(x, rows = rows)
  near <- function(z) t(apply(as.matrix(dist(z)), 1, function(d) order(d)[2:6]))
  all <- near(x[rows, ])
  own <- near(x[rows, 1:3])
  expect_equal(kept(1:3), mean(vapply(1:40, function(i) mean(all[i, ] %in% own[i, ]), 0)))
  run <- function() ufs_tune(x, "pca", list(n_components = 1:2), k = 3)
  expect_false(any(grepl("neighbours compared", capture.output(print(run())))))
  replaced("neighbour_rows", function(z) rows)
  tuned <- run()
  expect_output(print(tuned), "neighbours compared among 40 of the samples", fixed = TRUE)
  expect_equal(tuned$results$knn_overlap[1], neighbours_kept(scale(x), rows = rows)(
    selected_features(ufs_pca(x, n_components = 1), 3, as = "index")))
})

test_that("neighbours, leave-one-out ridge and silhouettes are those of the slow definitions", {
  d <- as.matrix(dist(z[1:20, ]))
  diag(d) <- Inf
  ref <- apply(d, 1, function(row) order(round(row, 12))[1:3])
  expect_identical(nearest(z[1:20, ], 3), unname(ref))
  expect_identical(neighbour_overlap(nearest(z, 5), nearest(z, 5)), 1)
  expect_equal(neighbour_overlap(matrix(1:4, 2), matrix(c(1L, 9L, 4L, 3L), 2)), mean(c(.5, 1)))
  x <- scale(planted(25, 12)$x, scale = FALSE)
  for (columns in list(1:3, 5L)) {
    chosen <- x[, columns, drop = FALSE]
    # 0.1 times the mean eigenvalue of all samples.
    ridge <- diag(.1 * sum(chosen^2) / nrow(x), length(columns))
    error <- 0
    for (i in seq_len(nrow(x))) {
      rest <- chosen[-i, , drop = FALSE]
      beta <- solve(crossprod(rest) + ridge, crossprod(rest, x[-i, ]))
      error <- error + sum((x[i, ] - chosen[i, ] %*% beta)^2)
    }
    expect_equal(loo_ridge(x, columns), error / sum(x^2), tolerance = 1e-10)
  }
  expect_equal(loo_ridge(cbind(0, x), 1), 1)
  skip_if_not_installed("cluster")
  set.seed(1)
  for (label in list(kmeans(z, 3)$cluster, c(rep(1, 149), 2))) {
    expect_equal(silhouette_of(label, dist(z)), mean(cluster::silhouette(label, dist(z))[, 3]), tolerance = 1e-12)
  }
  expect_identical(silhouette_of(rep(1, 150), dist(z)), NA_real_)
})

test_that("the choice is the best by the first criterion, by default one for all methods; errors name arguments", {
  set.seed(1)
  data <- planted(60, 30)
  out <- ufs_tune(data$x, "pca", list(n_components = c(1, 2, 8)), k = 8, n_clusters = 3, criterion = names(criteria))
  expect_true(all(names(criteria) %in% names(out$results)))
  expect_identical(out$best, which.max(out$results$knn_overlap))
  expect_identical(feature_scores(out$fit), feature_scores(ufs_pca(data$x, out$choice$n_components)))
  expect_output(print(out), "by knn_overlap at k = 8")
  withr::local_pdf(NULL)
  expect_identical(plot(out), out)
  set.seed(1)
  expect_identical(ufs_tune(mtcars, "pca", list(n_components = 2:3), k = 3, n_clusters = 2)$criterion, "knn_overlap")
  one <- function(...) ufs_tune(mtcars, "variance", list(scale = FALSE), ...)
  expect_identical(one(k = 3)$criterion, "knn_overlap")
  expect_arguments(criterion = one(k = 3, criterion = "objective"),
    n_clusters = one(k = 3, criterion = "silhouette_all"), k = one(k = 30), grid = ufs_tune(mtcars, "pca", list(n_components = 99), k = 3, n_clusters = 2))
})

test_that("an argument is looked at as it is given, and the number of clusters reaches the method and the criteria", {
  x <- iris[1:30, 1:4]
  expect_error(do.call(ufs_tune, list(x, "pca", list(n_components = 1:2), k = 2, center = quote(absent)), quote = TRUE),
    "`center` must be TRUE or FALSE", class = "ufs_error_argument")
  set.seed(1)
  out <- ufs_tune(mtcars, "kmeans_f", list(n_starts = c(1, 5)), k = 3, n_clusters = 4)
  expect_identical(out$fit$params$n_clusters, 4L)
  varied <- ufs_tune(mtcars, "kmeans_f", list(n_clusters = 2:3), k = 3, criterion = "silhouette_all")
  expect_false(anyNA(varied$results$silhouette_all))
  both <- ufs_tune(mtcars, "kmeans_f", list(n_clusters = 2:3), k = 3, n_clusters = 4, criterion = "silhouette_all")
  expect_identical(both$results$error, c("", ""))
})

test_that("a method that solves for its number gets it; refusals say what is wrong; exchanges are made for that k", {
  tuned <- withr::with_seed(1, ufs_tune(mtcars, "topk", list(alpha_e = 3:5), k = 2, n_clusters = 2))
  expect_identical(tuned$fit$params$k, 2L)
  flags <- cbind(a = rep(0:1, 15), b = rep(0:1, each = 15))
  expect_refusals("could not be computed" = ufs_tune(flags, "variance", list(scale = c(TRUE, FALSE)), k = 1,
    criterion = "silhouette_all", n_clusters = 3))
  said <- utils::capture.output(print(withr::with_seed(1, ufs_tune(mtcars, "pca", list(n_components = 1:9), k = 2))))
  expect_identical(sum(grepl("^ +[1-9] converged", said)), 8L)
  expect_identical(utils::tail(said, 1L), "  ... and 1 more")
  expect_refusals("ufs_ted() selects samples; the criteria judge features." =
      ufs_tune(mtcars, "ted", list(mu_rel = 1:2), k = 2),
    "ufs_topk() solves for one k: give one." = ufs_tune(mtcars, "topk", list(alpha_e = 3:4), k = 2:3, n_clusters = 2),
    "solves for one k" = ufs_tune(mtcars, "css", list(swaps = 0:1), k = 3:4))
  tuned <- ufs_tune(mtcars, "css", list(mu_rel = c(0, .1)), k = 3, swaps = 5, criterion = "reconstruction")
  expect_identical(selected_features(tuned$fit), selected_features(ufs_css(mtcars, 3, swaps = 5, mu_rel = tuned$choice$mu_rel)))
})
