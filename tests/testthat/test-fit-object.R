x <- as.matrix(mtcars)

test_that("ranking: NA last, ties and choices beyond the live scores are told; statuses warn by class if asked", {
  expect_identical(ufs_rank(c(2, 3, 2, NA, 3)), c(2L, 5L, 1L, 3L, 4L))
  expect_identical(ufs_rank(c(0, 0, 1), c(.1, .9, 0)), c(3L, 2L, 1L))
  expect_identical(ufs_rank(c(Inf, -Inf, 0)), c(1L, 3L, 2L))
  fit <- ufs_variance(cbind(a = 1:5, b = c(2, 4, 6, 8, 1), c = 5:1, d = rnorm(5) / 10))
  expect_message(top <- selected_features(fit, 2), class = "ufs_message_tie")
  expect_identical(top, c("b", "a"))
  expect_silent(selected_features(fit, 3))
  fit <- ufs_variance(iris[, 1:4])
  for (k in list(0, 5, 1.5, NA, "2")) expect_arguments(k = selected_features(fit, k))
  expect_refusals(selected_features(fit), "does not select samples" = selected_samples(fit, 2), sample_scores(fit),
    feature_scores(1))
  expect_silent(warn_status(fit))
  for (status in setdiff(status_labels, "converged")) {
    fit$status <- status
    expect_warning(warn_status(fit), class = paste0("ufs_warning_", status))
    expect_warning(warn_status(fit), class = "ufs_warning")
  }
  fit$control$warn <- FALSE
  expect_silent(warn_status(fit))
  expect_identical(check_solved(list(lapack = 0L), "pca"), list(lapack = 0L))
  expect_error(check_solved(list(lapack = 3L), "pca"), "info = 3", class = "ufs_error_lapack")
  data <- planted(60, 30)
  set.seed(1)
  fit <- ufs_socfs(data$x, n_clusters = 3, lambda_rel = .8)
  live <- sum(feature_scores(fit) > 0)
  expect_lt(live, 20)
  expect_message(selected_features(fit, 20), paste("Only", live, "of the 20"), class = "ufs_message_padded")
  expect_message(predict(fit, data$x, k = 20), class = "ufs_message_padded")
  expect_message(selected_features(fit, live), NA)
  table <- as.data.frame(fit)
  expect_true("key" %in% names(table))
  expect_false(is.unsorted(-table[table$score == 0, ]$key) || "key" %in% names(as.data.frame(ufs_variance(data$x))))
})

test_that("a table of genes in rows is pointed at once", {
  wide <- t(planted(8, 600)$x)
  rownames(wide) <- paste0("gene", 1:600)
  withr::defer(said_once$orientation <- FALSE)
  said_once$orientation <- FALSE
  expect_message(ufs_variance(wide), "t\\(x\\)", class = "ufs_message_orientation")
  expect_message(ufs_variance(wide), NA)
  said_once$orientation <- FALSE
  expect_message(ufs_variance(unname(wide)), NA)
  expect_message(ufs_variance(t(wide)), NA)
  expect_message(ufs_variance(`rownames<-`(wide, paste0("s", 1:600))), NA)
})

test_that("a fit without numbers is not called converged", {
  data <- as_ufs_matrix(mtcars)
  for (bad in list(NaN, Inf, NA_real_)) {
    for (scores in list(list(feature_scores = c(bad, rep(1, 10))), list(sample_scores = c(bad, rep(1, 31))))) {
      fit <- new_ufs("test", quote(f()), c(list(data = data, control = ufs_control()), scores))
      expect_identical(fit$status, "numerical")
    }
  }
  expect_identical(suppressWarnings(ufs_variance(cbind(mtcars, k = 1)))$status, "converged")
})

test_that("what is no fit is refused by name; no call holds data, however the function was called", {
  for (use in list(selected_features, selected_samples, representatives, feature_scores, cluster_labels)) {
    expect_arguments(fit = use(stats::lm(dist ~ speed, cars)))
  }
  expect_refused(cluster_labels(ufs_variance(x)), "ufs_variance() has no clusters.")
  expect_refused(predict(ufs_jspca(x, 2), type = "scores"), "`newdata` is missing.")
  expect_refused(representatives(suppressWarnings(ufs_alfs(x))), "`x`, the data of the fit, is missing.")
  skip_on_cran()
  size <- function(call) sum(nchar(deparse(call)))
  for (quoted in c(FALSE, TRUE)) {
    fits <- list(do.call(ufs_variance, list(x), quote = quoted), do.call("ufs", list(x, "css", k = 3), quote = quoted),
      do.call(ufs_select, list(x, 3, "compress"), quote = quoted), do.call(ufs_ted, list(x), quote = quoted))
    fits$diversify <- do.call(ufs_diversify, list(fits[[1L]], x, 3), quote = quoted)
    fits$grid <- do.call(ufs_grid, list(x, "pca", list(n_components = 1:2)), quote = quoted)
    for (fit in fits) expect_lt(size(fit$call), 150)
  }
  expect_identical(ufs_variance(x[, 1:4])$call, quote(ufs_variance(x = x[, 1:4])))
  expect_lt(size(eval(bquote(ufs_variance(.(x)[, 1:4])))$call), 150)
})

test_that("what is selected indexes the data it came from; glance() says how many were chosen, and for what", {
  set.seed(1)
  numbered <- iris[, 1:4]
  fit <- ufs_facility(numbered, m = 5)
  chosen <- selected_samples(fit)
  expect_type(chosen, "integer")
  # Row names that only number the rows, whether R made them or a file did.
  written <- numbered
  row.names(written) <- as.character(seq_len(nrow(written)))
  for (x in list(numbered, written, unname(as.matrix(numbered)))) {
    at <- selected_samples(ufs_facility(x, m = 5))
    expect_identical(at, chosen)
    expect_identical(dim(x[-at, ]), c(145L, 4L))
  }
  shuffled <- numbered[150:1, ]
  named <- selected_samples(ufs_facility(shuffled, m = 5))
  expect_type(named, "character")
  expect_identical(nrow(shuffled[named, ]), 5L)
  for (as in c("name", "names")) expect_identical(selected_samples(fit, as = as), as.character(chosen))
  flags <- selected_samples(fit, as = "logical")
  expect_identical(unname(which(flags)), sort(chosen))
  expect_identical(numbered[flags, ], numbered[sort(chosen), ])
  columns <- ufs_pca(numbered, 2, k = 2)
  expect_identical(numbered[selected_features(columns, as = "logical")],
    numbered[sort(selected_features(columns, as = "index"))])
  set.seed(1)
  expect_length(suppressMessages(selected_features(ufs_socfs(cbind(iris[, 1:4], copy = iris[, 1]), 3), 2, as = "logical")), 5L)
  expect_refusals(selected_features(columns, as = "letters"), "must be a fit" = selected_samples(1:3))
  skip_if_not_installed("generics")
  row <- generics::glance(ufs_pca(mtcars, 2, k = 3))
  expect_identical(row$k, 3L)
  expect_identical(c(row$m, row$task), c(NA, NA_character_))
  expect_identical(generics::glance(ufs_facility(mtcars, m = 4))$m, 4L)
  chosen <- ufs_select(mtcars, k = 3, task = "compress")
  row <- generics::glance(chosen)
  expect_identical(list(row$k, row$task), list(3L, "compress"))
  expect_identical(sort(as.data.frame(chosen)$feature[as.data.frame(chosen)$chosen]), sort(selected_features(chosen)))
})

skip_on_cran()

test_that("cluster labels: named by samples, by size, for every method with clusters", {
  x <- as.matrix(iris[c(1:50, 51:70, 101:130), 1:4])
  rownames(x) <- paste0("s", 1:100)
  withr::with_seed(1, {
    fits <- quietly(list(ufs_kmeans_f(x, 3), ufs_socfs(x, 3),
      ufs_ndfs(x, 3), ufs_sogfs(x, 3), ufs_topk(x, 2, n_clusters = 3), ufs_blfse(x, 3, k = 2)))
  })
  for (fit in fits) {
    labels <- cluster_labels(fit)
    expect_type(labels, "integer")
    expect_named(labels, rownames(x))
    expect_false(is.unsorted(-tabulate(labels)))
    expect_identical(nrow(unique(cbind(labels, as.vector(fit$solution$cluster)))), max(labels))
  }
  fake <- fits[[1L]]
  attr(fake, "shape") <- NULL
  fake$solution$cluster <- rep(c(7, 2, 9, 2), c(2, 3, 2, 1))
  fake$names$samples <- NULL
  expect_identical(cluster_labels(fake), as.integer(c(2, 2, 1, 1, 1, 3, 3, 1)))
})

test_that("a fit without its call and trace, as it is saved, is read like any other", {
  fits <- list(ufs_variance(x), ufs_css(x, 3), suppressWarnings(ufs_alfs(x)), ufs_jspca(x, 2), ufs_ted(x),
    ufs_select(x, 3, "compress"))
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  for (fit in fits) {
    slim <- replace(fit, c("call", "trace"), NULL)
    expect_output(print(slim), "<ufs_")
    expect_output(print(summary(slim)), "status|time")
    expect_identical(as.data.frame(slim), as.data.frame(fit))
    if (!is.null(fit$feature_scores)) {
      expect_identical(feature_scores(slim), feature_scores(fit))
      expect_identical(suppressMessages(selected_features(slim, 3)), suppressMessages(selected_features(fit, 3)))
      expect_identical(suppressMessages(predict(slim, x, k = 3)), suppressMessages(predict(fit, x, k = 3)))
      expect_error(suppressMessages(plot(slim, "scores")), NA)
      expect_identical(ufs_captured(slim, x, 2), ufs_captured(fit, x, 2))
    }
    if (!is.null(fit$sample_scores)) expect_identical(sample_ranking(slim), sample_ranking(fit))
  }
})

test_that("a ranking that was edited is refused, and more fields are not", {
  fit <- ufs_css(mtcars, 3)
  fit$note <- "mine"
  expect_length(selected_features(fit, 2), 2L)
  for (wrong in list(replace(fit$feature_ranking, 1L, fit$feature_ranking[2L]), replace(fit$feature_ranking, 2L, NA),
    as.character(fit$feature_ranking), fit$feature_ranking + 1L)) {
    edited <- fit
    edited$feature_ranking <- wrong
    for (use in list(print, feature_scores, function(fit) selected_features(fit, 2), function(fit) predict(fit, mtcars, k = 2))) {
      expect_refused(use(edited), "each index once", argument = "fit")
    }
  }
})
