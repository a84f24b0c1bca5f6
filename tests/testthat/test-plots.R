# What the pictures show, for base graphics and ggplot2 alike.

methods <- ufs_methods()
data <- planted(24, 14, informative = 6)
x <- `dimnames<-`(data$x, list(paste0("s", 1:24), paste0("f", 1:14)))
fit_of <- function(method, x) {
  arguments <- formals(registry()[[method]]$fit)
  given <- list(n_clusters = 3, n_components = 2, k = 4, n_features = 5, m = 5)
  required <- names(arguments)[vapply(arguments, function(a) is.name(a) && !nzchar(a), NA)]
  more <- given[intersect(names(given), required)]
  if (method == "topk") more$n_clusters <- 3
  if (method == "random") more$what <- "both"
  withr::with_seed(1, suppressMessages(suppressWarnings(
    do.call(ufs, c(list(x = x, method = method), more)))))
}
same_error <- function(object, argument, class = "ufs_error_argument") {
  expect_identical(expect_error(object, class = class)$argument, argument)
}

for (method in methods$method) {
  test_that(paste0(method, ": every picture draws, in base graphics and in ggplot2"), {
    pdf(NULL)
    withr::defer(dev.off())
    fit <- fit_of(method, x)
    k <- picture_size(fit, NULL)
    expect_true("embedding" %in% picture_types(fit))
    for (type in picture_types(fit)) {
      before <- par(c("mar", "mfrow", "oma"))
      expect_silent(plot(fit, type, x))
      expect_identical(par(c("mar", "mfrow", "oma")), before)
      expect_match(picture(fit, type, k = k, data = x)$title, paste0("ufs_", method), fixed = TRUE)
    }
    expect_identical(plot(fit), fit)
    skip_on_cran()
    skip_if_not_installed("ggplot2")
    for (type in picture_types(fit)) {
      p <- ggplot2::autoplot(fit, type, x)
      expect_s3_class(p, "ggplot")
      expect_silent(ggplot2::ggplotGrob(p))
      expect_identical(p$labels$title, picture(fit, type, k = k, data = x)$title)
    }
  })
}

test_that("the heat map has the chosen columns, standardised, samples by cluster", {
  fit <- fit_of("kmeans_f", x)
  pic <- picture(fit, "heatmap", k = 5, data = x)
  expect_identical(colnames(pic$z), selected_features(fit, 5))
  expect_setequal(rownames(pic$z), rownames(x))
  z <- scale(x[rownames(pic$z), colnames(pic$z)])
  expect_equal(pic$z, pmin(pmax(z[], -3), 3), ignore_attr = c("scaled:center", "scaled:scale"))
  expect_false(is.unsorted(as.integer(pic$group)))
  cluster <- stats::setNames(fit$solution$cluster, rownames(x))
  expect_identical(as.character(pic$group), as.character(cluster[rownames(pic$z)]))
  # Columns in another order, more of them, a data frame: the same picture.
  other <- as.data.frame(cbind(x[, 14:1], extra = 1))
  expect_equal(picture(fit, "heatmap", k = 5, data = other), pic)
  # The user's classes before the method's clusters; missing ones are a class of their own.
  y <- factor(rep(c("b", "a", NA), 8))
  own <- picture(fit, "heatmap", k = 5, data = x, y = y)
  expect_identical(levels(own$group), c("a", "b", "(none)"))
  expect_identical(own$group_name, "class")
  # Outliers do not swallow the colours.
  far <- x
  far[3, ] <- 1e6
  expect_lte(max(abs(picture(fit, "heatmap", k = 5, data = far)$z)), 3)
})

test_that("the embedding is that of prcomp", {
  fit <- fit_of("variance", x)
  pic <- picture(fit, "embedding", k = 6, data = x)
  pca <- stats::prcomp(x[, selected_features(fit, 6)], scale. = TRUE)
  expect_equal(abs(pic$table$x), abs(unname(pca$x[, 1])))
  expect_equal(abs(pic$table$y), abs(unname(pca$x[, 2])))
  share <- 100 * pca$sdev[1:2]^2 / sum(pca$sdev^2)
  expect_identical(pic$xlab, sprintf("component 1 (%.0f%% of the variance)", share[1]))
  # More columns than rows: the other Gram matrix, the same map.
  wide <- x[1:9, ]
  z <- standardised(wide)
  expect_equal(abs(first_components(z)$x), abs(unname(stats::prcomp(z)$x[, 1])))
  one <- picture(fit, "embedding", k = 1, data = x)
  expect_identical(one$xlab, selected_features(fit, 1))
  expect_length(one$table$y, 24)
})

test_that("chosen samples are circled", {
  both <- fit_of("random", x)
  pic <- picture(both, "embedding", k = 5, data = x, m = 4)
  expect_setequal(rownames(x)[pic$table$circled], selected_samples(both, 4))
  samples <- fit_of("ted", x)
  pic <- picture(samples, "embedding", k = 3, data = x)
  expect_setequal(rownames(x)[pic$table$circled], selected_samples(samples, 3))
  same_error(plot(samples, "heatmap", x), "type")
  same_error(plot(both, "embedding", x[1:10, ], m = 3), "m")
})

test_that("bad arguments are named", {
  pdf(NULL)
  withr::defer(dev.off())
  fit <- fit_of("variance", x)
  same_error(plot(fit, "heatmap"), "data")
  same_error(plot(fit, "heatmap", 1:5), "data", "ufs_error_input")
  same_error(plot(fit, "heatmap", x[, 1:3]), "newdata", "ufs_error_input")
  holes <- x
  holes[2, ] <- NA
  same_error(plot(fit, "heatmap", holes), "data", "ufs_error_input")
  same_error(plot(fit, "embedding", x, y = 1:3), "y")
  same_error(plot(fit, "embedding", rbind(x, x), y = 1:48), "y")
  same_error(plot(fit, "nothing"), "type")
  same_error(plot(fit, "scores", k = 0), "k")
  skip_if_not_installed("ggplot2")
  same_error(ggplot2::autoplot(fit, "scores", colour = "red"), "colour")
})

test_that("the score picture cuts at k and leaves out long tails of zeros", {
  fit <- fit_of("socfs", x)
  fit$feature_scores[] <- c(3, 2, rep(0, 12))
  fit$feature_ranking <- ufs_rank(fit$feature_scores)
  names(fit$feature_ranking) <- colnames(x)[fit$feature_ranking]
  pic <- picture(fit, "scores", k = 2)
  expect_identical(pic$table$best, c(TRUE, TRUE, FALSE))
  expect_identical(pic$names, c("f1", "f2"))
  expect_identical(pic$subtitle, "12 of 14 scores are exactly zero")
  expect_identical(nrow(picture(fit, "scores", k = 9)$table), 9L)
})

test_that("names never overlap", {
  skip_on_cran()
  # At most two columns of 25 names, whatever k.
  for (k in c(1, 10, 25, 26, 50, 51, 400)) {
    block <- name_block(sprintf("a rather long name of a feature %d", seq_len(k)))
    expect_lte(length(block$text), 50)
    expect_lte(block$columns, 2)
    expect_lt(max(block$row), 25)
    expect_false(anyDuplicated(paste(block$column, block$row)) > 0)
    expect_lte(max(nchar(block$text)), 18)
  }
  expect_identical(block$text[50], "and 351 more")
  # Axis: what is shown fits into its room.
  for (each in c(.5, .1, .05, .01, .002)) {
    fit <- name_size(each, .2)
    expect_lte(fit$size * .2, each * fit$every)
    expect_gte(fit$size, .42)
  }
  # Ends of curves: apart, in order, inside.
  set.seed(4)
  for (n in c(1, 2, 5, 12, 19)) for (rep in 1:20) {
    y <- if (rep %% 2) stats::runif(n) else rep(.5, n) + stats::rnorm(n, 0, .01)
    at <- spread_labels(y, 1 / 19, 0, 1)
    expect_true(all(diff(sort(at)) > 1 / 19 - 1e-9))
    expect_identical(order(at), order(y))
    expect_true(all(at > -1e-9 & at < 1 + 1e-9))
  }
  expect_identical(spread_labels(c(.2, .8), .1, 0, 1), c(.2, .8))
})

test_that("groups differ in colour or shape", {
  style <- group_style(40)
  expect_false(anyDuplicated(paste(style$colour, style$shape)) > 0)
  expect_identical(unique(style$shape[1:8]), 16L)
})

test_that("overlap is the share of the selections in common", {
  fits <- list(a = fit_of("variance", x), b = fit_of("laplacian", x), c = fit_of("pca", x))
  out <- ufs_overlap(fits, k = 5)
  best <- lapply(fits, selected_features, 5)
  for (i in 1:3) for (j in 1:3) {
    expect_equal(out$shared[i, j], length(intersect(best[[i]], best[[j]])) / 5)
  }
  expect_setequal(rownames(out$selected), unlist(best))
  for (i in 1:3) expect_setequal(rownames(out$selected)[out$selected[, i]], best[[i]])
  expect_false(is.unsorted(-rowSums(out$selected)))
  expect_equal(out$chance, 5 / 14)
  expect_output(print(out), "by chance")
  joined <- c(a = fits$a, b = fits$b)
  expect_s3_class(joined, "ufs_list")
  expect_identical(ufs_overlap(joined, 5)$shared, out$shared[1:2, 1:2])
  expect_output(print(joined), "2 fits")
  expect_identical(colnames(ufs_overlap(unname(fits[c(1, 1, 2)]), 3)$shared),
    c("variance", "variance 1", "laplacian"))
  pdf(NULL)
  withr::defer(dev.off())
  expect_identical(plot(joined, k = 5), joined)
  expect_identical(plot(out, "features"), out)
  expect_identical(picture(out, "pairs")$z, out$shared)
  skip_if_not_installed("ggplot2")
  for (what in c("pairs", "features")) expect_silent(ggplot2::ggplotGrob(ggplot2::autoplot(out,
    what)))
  expect_s3_class(ggplot2::autoplot(joined, k = 3), "ggplot")
})

test_that("overlap refuses what cannot be compared", {
  same_error(ufs_overlap(fit_of("variance", x), 3), "fits")
  same_error(ufs_overlap(list(fit_of("variance", x)), 3), "fits")
  same_error(ufs_overlap(list(fit_of("variance", x), fit_of("variance", x[, -1])), 3), "fits")
  same_error(ufs_overlap(list(fit_of("variance", x), fit_of("ted", x)), 3), "fit")
  same_error(ufs_overlap(list(fit_of("variance", x), fit_of("pca", x)), 15), "k")
})

test_that("stability, grids, tunings and comparisons have the same picture twice", {
  skip_if_not_installed("ggplot2")
  pdf(NULL)
  withr::defer(dev.off())
  set.seed(1)
  out <- list(
    stability = ufs_stability(x, "variance", k = 3, n_resamples = 8),
    grid = ufs_grid(x, "pca", list(n_components = 1:3, scale = c(TRUE, FALSE))),
    line = ufs_grid(x, "pca", list(n_components = 1:3)),
    tune = ufs_tune(x, "pca", list(n_components = 1:3), k = 4)
  )
  for (name in names(out)) {
    args <- list(out[[name]], if (name %in% c("grid", "line")) list(value = "seconds"))
    args <- c(args[1], args[[2]])
    expect_identical(do.call(plot, args), out[[name]])
    expect_silent(ggplot2::ggplotGrob(do.call(ggplot2::autoplot, args)))
  }
  pic <- picture(out$stability, "features")
  expect_identical(pic$table$y, unname(sort(out$stability$frequency,
    decreasing = TRUE))[pic$table$x])
  expect_identical(sum(pic$table$best), 3L)
  expect_match(pic$title, "ufs_variance")
  value <- c(1, 2, 3, 4, 5, 6)
  cells <- picture(out$grid, value, NULL)$z
  settings <- out$grid$settings
  for (i in 1:6) {
    expect_identical(cells[format(settings$scale[[i]]), as.character(settings$n_components[[i]])],
      value[i])
  }
})

test_that("a comparison names each curve at its end with its value", {
  skip_on_cran()
  skip_if_not_installed("kernlab")
  set.seed(1)
  out <- suppressWarnings(ufs_compare(x, rep(1:2, 12), "variance", k = c(2, 4), mode = "cluster",
    repeats = 1))
  pic <- picture(out, NULL, "accuracy", NULL, NULL, NULL)
  last <- summary(out)$table
  last <- last[last$method == "pca" & last$k == 4, "mean"]
  expect_true(sprintf("pca %.2f", last) %in% pic$table$label)
  expect_true(all(c("all", "pca") %in% pic$plain))
  expect_false("no such" %in% pic$plain)
  ends <- curve_ends(pic$table, "")
  expect_setequal(ends$series, pic$table$series)
  expect_true(all(ends$x == 4))
  pdf(NULL)
  withr::defer(dev.off())
  expect_identical(plot(out), out)
  skip_if_not_installed("ggplot2")
  expect_silent(ggplot2::ggplotGrob(ggplot2::autoplot(out)))
})

test_that("names that are no text in this locale are drawn all the same", {
  skip_if_not(l10n_info()[["UTF-8"]])
  withr::local_pdf(NULL)
  x <- as.matrix(iris[1:20, 1:4])
  colnames(x)[1] <- "\xe9t\xe9"
  fit <- ufs_variance(x)
  expect_error(plot(fit), NA)
  expect_identical(shorten(colnames(x)[1], 12L), "<e9>t<e9>")
})

test_that("a picture of more features than there are is refused", {
  pdf(NULL)
  withr::defer(dev.off())
  for (type in c("scores", "heatmap", "embedding")) {
    error <- expect_error(plot(ufs_variance(mtcars), type, mtcars, k = 100), "at most 11", class = "ufs_error_argument")
    expect_identical(error$argument, "k")
  }
  expect_error(plot(ufs_ted(mtcars), "samples", k = 33), "at most 32", class = "ufs_error_argument")
})

test_that("values that differ by rounding alone are drawn as one", {
  pdf(NULL)
  withr::defer(dev.off())
  for (y in list(22 + c(0, 2, 1) * .Machine$double.eps * 8, c(5, 5, 5), -1e-300 * (1:3))) {
    pic <- list(kind = "curves", table = data.frame(x = 1:3, y = y), xlab = "", ylab = "", title = "")
    expect_warning(draw_curves(pic), NA)
  }
  expect_identical(drawn_ends(c(1, 1 + 1e-9)), c(1, 1 + 1e-9))
})
