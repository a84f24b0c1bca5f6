# What the pictures show, for base graphics and ggplot2 alike.

# The operators of an uncompressed PDF, coordinates to the point, as one number: fonts of the PDF device are
# the same everywhere. What differs is looked at with tests/dev/pictures.R, and then accepted.
drawing_hash <- function(code) {
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file, 5, 3.6, compress = FALSE, useDingbats = FALSE)
  tryCatch(force(code), finally = grDevices::dev.off())
  lines <- readLines(file, warn = FALSE, encoding = "latin1")
  lines <- lines[seq(grep("^stream", lines, useBytes = TRUE)[1L], grep("^endstream", lines, useBytes = TRUE)[1L])]
  number <- gregexpr("-?[0-9]+[.][0-9]+", lines)
  regmatches(lines, number) <- lapply(regmatches(lines, number), function(value) {
    formatC(round(as.numeric(value)) + 0, format = "d")
  })
  codes <- utf8ToInt(paste(lines, collapse = "\n"))
  sprintf("%d operators, %.0f", length(lines), sum(codes * (seq_along(codes) %% 9973 + 1)) %% 2147483647)
}

test_that("pictures are drawn as they were when they were looked at", {
  skip_on_cran()
  skip_if(getRversion() < "4.2" || getRversion() >= "4.4", "recorded with the PDF device of R 4.2")
  curve <- data.frame(x = rep(1:5, 3), y = c(1:5, 5:1, rep(2, 5)) / 5, series = rep(c("one", "two", "base"), each = 5))
  curve$low <- curve$y - .05
  curve$high <- curve$y + .05
  long <- sprintf("a_very_long_gene_name_%02d", 1:12)
  bars <- data.frame(x = 1:12, y = 12:1, best = 1:12 <= 4)
  cells <- matrix(seq(-3, 3, length.out = 24), 6, dimnames = list(paste0("s", 1:6), long[1:4]))
  points <- data.frame(x = 1:12, y = (1:12) %% 5, circled = 1:12 %in% 3:4)
  group <- factor(rep(c("adenocarcinoma", "normal", "other"), 4))
  pictures <- list(
    curves = new_picture("curves", table = curve, plain = "base", percent = TRUE, from = 0, xlab = "k", ylab = "share, per cent",
      title = "Curves", subtitle = "bars: sd"),
    log = new_picture("curves", table = data.frame(x = 1:8, y = 10^-(1:8)), log = "y", xlab = "iteration", ylab = "distance",
      title = "A long title that has to be broken into two lines to be whole in this picture"),
    dots = new_picture("dots", table = data.frame(series = long[1:3], value = 3:1 / 4, low = 3:1 / 4 - .1, high = 3:1 / 4 + .1),
      plain = long[2], percent = TRUE, xlab = "accuracy, per cent", ylab = "", title = "Dots"),
    spikes = new_picture("spikes", table = bars, lines = list(v = 4.5), xlab = "rank",
      ylab = "score", title = "Spikes"),
    tiles = new_picture("tiles", z = cells, group = group[1:6], group_name = "class", limits = c(-3, 3), palette = "diverging",
      value = "standardised", xlab = "features", ylab = "samples", title = "Tiles"),
    values = new_picture("tiles", z = abs(cells), group = factor(rep(long[1:2], 3)), group_name = "class", limits = c(0, 3),
      palette = "sequential", value = "distance", text = TRUE, row_labels = TRUE, mark = c(2, 3), title = "Values"),
    scatter = new_picture("scatter", table = points, group = group, group_name = "class", xlab = "component 1",
      ylab = "component 2", title = "Scatter"),
    arrows = new_picture("scatter", table = points, xlab = "component 1", ylab = "component 2", title = "Arrows",
      arrows = data.frame(x = c(9, -6, 20), y = c(3, -2, .1), label = long[1:3])),
    panels = new_picture("curves", table = data.frame(curve, panel = rep(c("left", "right"), c(10, 5))), xlab = "k",
      ylab = "share", title = "Panels"))
  expect_snapshot(for (name in names(pictures)) cat(name, drawing_hash(draw_picture(pictures[[name]])), "\n"))
})

skip_on_cran()

x <- `dimnames<-`(planted(24, 14, informative = 6)$x, list(paste0("s", 1:24), paste0("f", 1:14)))
same_error <- function(object, argument, class = "ufs_error_argument") {
  expect_identical(expect_error(object, class = class)$argument, argument)
}

for (method in ufs_methods()$method) {
  test_that(paste0(method, ": every picture draws, in base graphics and in ggplot2"), {
    withr::local_pdf(NULL)
    fit <- fit_of(method, x)
    k <- picture_size(fit, NULL)
    expect_true("embedding" %in% picture_types(fit))
    for (type in picture_types(fit)) {
      before <- par(c("mar", "mfrow", "oma"))
      expect_silent(plot(fit, type, x))
      expect_identical(par(c("mar", "mfrow", "oma")), before)
      expect_match(picture(fit, type, k = k, data = x)$title, paste0("ufs_", method), fixed = TRUE)
    }
    # One feature or sample is a picture of one row.
    if (is.null(registered[[method]]$per_k)) {
      one <- stats::setNames(list(1), if (is.null(fit$feature_scores)) "m" else "k")
      for (type in picture_types(fit)) expect_silent(do.call(plot, c(list(fit, type, x), one)))
    }
    skip_if_not_installed("ggplot2")
    for (type in picture_types(fit)) {
      p <- ggplot2::autoplot(fit, type, x)
      expect_s3_class(p, "ggplot")
      expect_silent(ggplot2::ggplotGrob(p))
      expect_identical(gsub("\n", " ", p$labels$title), picture(fit, type, k = k, data = x)$title)
    }
  })
}

test_that("the heat map has the chosen columns, standardised, samples by cluster", {
  fit <- fit_of("kmeans_f", x)
  pic <- picture(fit, "heatmap", k = 5, data = x)
  # Columns by a tree of 1 - |r|, average linkage; two have no tree and keep their ranks.
  best <- selected_features(fit, 5)
  tree <- stats::hclust(stats::as.dist(1 - abs(stats::cor(x[, best]))), "average")
  expect_identical(colnames(pic$z), best[tree$order])
  expect_identical(colnames(picture(fit, "heatmap", k = 2, data = x)$z), selected_features(fit, 2))
  expect_setequal(rownames(pic$z), rownames(x))
  z <- scale(x[rownames(pic$z), colnames(pic$z)])
  expect_equal(pic$z, pmin(pmax(z[], -3), 3), ignore_attr = c("scaled:center", "scaled:scale"))
  expect_false(is.unsorted(as.integer(pic$group)))
  cluster <- stats::setNames(fit$solution$cluster, rownames(x))
  expect_identical(as.character(pic$group), as.character(cluster[rownames(pic$z)]))
  expect_equal(picture(fit, "heatmap", k = 5, data = as.data.frame(cbind(x[, 14:1], extra = 1))), pic)
  # The user's classes before the method's clusters; missing ones are a class of their own.
  own <- picture(fit, "heatmap", k = 5, data = x, y = factor(rep(c("b", "a", NA), 8)))
  expect_identical(levels(own$group), c("a", "b", "(none)"))
  expect_identical(own$group_name, "class")
  expect_lte(max(abs(picture(fit, "heatmap", k = 5, data = replace(x, cbind(3, 1:14), 1e6))$z)), 3)
  fit <- fit_of("variance", x)
  map <- picture(fit, "embedding", k = 6, data = x)
  pca <- stats::prcomp(x[, selected_features(fit, 6)], scale. = TRUE)
  expect_equal(abs(map$table$x), abs(unname(pca$x[, 1])))
  expect_equal(abs(map$table$y), abs(unname(pca$x[, 2])))
  expect_identical(map$xlab, sprintf("component 1 (%.0f%% of the variance)", 100 * pca$sdev[1]^2 / sum(pca$sdev^2)))
  # More columns than rows: the other Gram matrix, the same map.
  z <- standardised(x[1:9, ])
  expect_equal(abs(first_components(z)$x), abs(unname(stats::prcomp(z)$x[, 1])))
  one <- picture(fit, "embedding", k = 1, data = x)
  expect_identical(one$xlab, selected_features(fit, 1))
  expect_length(one$table$y, 24)
  pic <- picture(fit, "biplot", k = 6, data = x)
  expect_identical(pic$table, map$table)
  expect_null(map$arrows)
  r <- stats::cor(x[, selected_features(fit, 6)], as.matrix(pic$table[c("x", "y")]))
  expect_identical(pic$arrows$label, selected_features(fit, 6))
  size <- pic$arrows$x / r[, 1]
  expect_equal(unname(size), rep(size[[1]], 6))
  expect_equal(pic$arrows$y, unname(size[[1]] * r[, 2]))
  reach <- c(max(abs(pic$arrows$x)) / max(abs(map$table$x)), max(abs(pic$arrows$y)) / max(abs(map$table$y)))
  expect_equal(max(reach), .9)
  flat <- x
  flat[, selected_features(fit, 1)] <- 1
  expect_identical(unlist(picture(fit, "biplot", k = 3, data = flat)$arrows[1, 1:2], use.names = FALSE), c(0, 0))
  expect_null(picture(fit, "biplot", k = 1, data = x)$arrows)
})

test_that("clusters in the order of the choice, graphs in both engines, chosen samples circled; bad arguments named", {
  fit <- ufs_medoids(x, m = 3)
  pic <- picture(fit, "embedding", k = 3, data = x)
  expect_identical(levels(pic$group), c("1", "2", "3"))
  expect_identical(as.integer(pic$group)[selected_samples(fit, 3, as = "index")], 1:3)
  graph <- suppressWarnings(ufs_graph(x))
  expect_identical(picture(graph, "degree")$table$y, sort(graph$degree, decreasing = TRUE))
  weights <- as.matrix(graph)
  expect_equal(picture(graph, "weights")$table$y, sort(weights[upper.tri(weights) & weights > 0], decreasing = TRUE))
  both <- fit_of("random", x)
  pic <- picture(both, "embedding", k = 5, data = x, m = 4)
  expect_setequal(rownames(x)[pic$table$circled], selected_samples(both, 4))
  samples <- fit_of("ted", x)
  pic <- picture(samples, "embedding", k = 3, data = x)
  expect_setequal(rownames(x)[pic$table$circled], selected_samples(samples, 3))
  expect_arguments(type = plot(samples, "heatmap", x), m = plot(both, "embedding", x[1:10, ], m = 3))
  # The map says more than scores of samples that are no more than their order.
  withr::defer(ufs_register("own_rows", NULL))
  ufs_register("own_rows", function(x, even) if (even) nrow(x):1 / nrow(x) else (nrow(x):1)^2, what = "samples")
  expect_identical(vapply(c(TRUE, FALSE), function(even) picture_type(ufs(x, "own_rows", even = even), NULL, x), ""),
    c("embedding", "samples"))
  withr::local_pdf(NULL)
  graphics::plot.new()
  expect_null(draw_arrows(data.frame(x = 0, y = 0, label = "none"), 1))
  fit <- fit_of("variance", x)
  same_error(plot(fit, "heatmap"), "data")
  same_error(plot(fit, "heatmap", 1:5), "data", "ufs_error_input")
  same_error(plot(fit, "heatmap", x[, 1:3]), "data", "ufs_error_input")
  holes <- x
  holes[2, ] <- NA
  same_error(plot(fit, "heatmap", holes), "data", "ufs_error_input")
  expect_arguments(y = plot(fit, "embedding", x, y = 1:3), y = plot(fit, "embedding", rbind(x, x), y = 1:48),
    type = plot(fit, "nothing"), k = plot(fit, "scores", k = 0))
  skip_if_not_installed("ggplot2")
  same_error(ggplot2::autoplot(fit, "scores", colour = "red"), "colour")
})

test_that("scores are cut at k without tails of zeros; any two of twelve colours differ for every kind of vision", {
  fit <- fit_of("socfs", x)
  fit$feature_scores[] <- c(3, 2, rep(0, 12))
  fit$feature_ranking <- ufs_rank(fit$feature_scores)
  names(fit$feature_ranking) <- colnames(x)[fit$feature_ranking]
  pic <- picture(fit, "scores", k = 2)
  expect_identical(pic$table$best, c(TRUE, TRUE, FALSE))
  expect_identical(pic$subtitle, "12 of 14 scores are exactly zero")
  expect_identical(nrow(picture(fit, "scores", k = 9)$table), 9L)
  style <- group_style(40)
  expect_false(anyDuplicated(paste(style$colour, style$shape)) > 0)
  expect_identical(unique(style$shape[1:6]), 16L)
  curves <- curve_style(list(plain = c("b", "c")), letters[1:14])
  expect_identical(unique(curves$colour[2:3]), plain_colour)
  expect_false(anyDuplicated(curves$colour[-(2:3)]) > 0 || anyDuplicated(paste(curves$colour, curves$line)) > 0)
  # Machado, Oliveira and Fernandes (2009), severity 1; linear RGB.
  vision <- list(diag(3), matrix(c(.152286, 1.052583, -.204868, .114503, .786281, .099216, -.003882, -.048116, 1.051998), 3,
    byrow = TRUE), matrix(c(.367322, .860646, -.227968, .280085, .672501, .047413, -.01182, .04294, .968881), 3, byrow = TRUE))
  rgb <- t(grDevices::col2rgb(class_colours)) / 255
  linear <- ifelse(rgb <= .04045, rgb / 12.92, ((rgb + .055) / 1.055)^2.4)
  for (m in vision) {
    seen <- pmin(pmax(linear %*% t(m), 0), 1)
    seen <- ifelse(seen <= .0031308, 12.92 * seen, 1.055 * seen^(1 / 2.4) - .055)
    expect_gt(min(stats::dist(grDevices::convertColor(seen, "sRGB", "Lab"))), 17)
  }
  expect_length(unique(class_colours), 12)
})

test_that("names are cut in the middle, and curves that lie decades apart get a logarithmic scale", {
  long <- sprintf("a_very_long_gene_name_%02d", 1:3)
  expect_identical(shorten(long, 12L), sprintf("a_ver..me_%02d", 1:3))
  expect_identical(shorten(long, 13L), sprintf("a_very..me_%02d", 1:3))
  expect_identical(shorten(c("short", long[1]), 30L), c("short", long[1]))
  far <- data.frame(x = rep(1:3, 2), y = c(3e5, 2e5, 1e5, 1, 2, 3), series = rep(c("a", "b"), each = 3))
  log_of <- function(table, ...) new_picture("curves", table = table, title = "", ...)$log
  expect_identical(log_of(far), "y")
  expect_null(c(log_of(far[4:6, ]), log_of(transform(far, y = y - 1)), log_of(far[c("x", "y")])))
  expect_null(log_of(far, percent = TRUE))
})

test_that("what the first choices hold is recomputed; mere ranks are not drawn as if they were measured", {
  fit <- ufs_css(x, k = 6)
  pic <- picture(fit, "share", k = 6)
  truth <- ufs_captured(fit, x, 1:6)
  chosen <- pic$table$series == "chosen"
  expect_equal(pic$table$y[chosen], truth$captured)
  expect_equal(pic$table$y[!chosen], truth$bound)
  expect_identical(picture_types(fit)[1], "share")
  other <- ufs_variance(x, scale = FALSE)
  pic <- picture(other, "share", k = 4, data = x)
  truth <- ufs_captured(other, x, pic$table$x[pic$table$series == "chosen"])
  expect_equal(pic$table$y, c(truth$captured, truth$bound))
  same_error(plot(other, "share"), "data")
  # Facility location: of the similarity of every sample with itself, 2 for 1 + the cosine.
  z <- scale(x)
  like <- 1 + tcrossprod(z / sqrt(rowSums(z^2)))
  samples <- ufs_facility(x, m = 4)
  pic <- picture(samples, "share", k = 4)
  best <- selected_samples(samples, 4, as = "index")
  covered <- vapply(1:4, function(m) sum(apply(like[, best[1:m], drop = FALSE], 1, max)) / sum(diag(like)), 0)
  expect_equal(pic$table$y[1:4], covered)
  set.seed(1)
  medoids <- ufs_medoids(x, m = 3)
  expect_identical(picture(medoids, "groups", k = 3)$table$y, representatives(medoids, 3)$weight)
  expect_identical(picture(fit, "scores", k = 3)$table$y, unname(fit$statistic[fit$feature_ranking]))
  expect_true(are_ranks(fit$feature_scores))
  expect_false(are_ranks(fit_of("variance", x)$feature_scores) || are_ranks(c(.3, .2, .1)))
})

test_that("red is what is chosen, as many as the fit was asked for, and ticks of counts are whole", {
  fit <- fit_of("alfs", x)
  pic <- picture(fit, "samples", k = 5)
  norms <- unname(fit$solution$row_norm)
  expect_identical(pic$table$y, sort(norms, decreasing = TRUE))
  expect_identical(sort(pic$table$y[pic$table$best]), sort(norms[selected_samples(fit, 5, as = "index")]))
  fit <- fit_of("variance", x)
  expect_identical(picture(fit, "scores", k = 3)$lines$v, 3.5)
  expect_identical(c(picture_size(ufs_css(x, k = 6), NULL), picture_size(ufs_css(x), NULL)), c(6L, 10L))
  expect_identical(c(picture_size(ufs_facility(x, m = 3), NULL), picture_size(fit_of("topk", x), NULL)), c(3L, 4L))
  for (at in list(c(1, 2, 3), c(1, 2))) expect_identical(ticks_within(at), at)
  expect_true(all(ticks_within(1:4) %% 1 == 0))
  expect_identical(ticks_within(c(10, 10)), 10)
})

test_that("overlap is the share of the selections in common", {
  fits <- list(a = fit_of("variance", x), b = fit_of("laplacian", x), c = fit_of("pca", x))
  out <- ufs_overlap(fits, k = 5)
  best <- lapply(fits, selected_features, 5)
  for (i in 1:3) for (j in 1:3) expect_equal(out$shared[i, j], length(intersect(best[[i]], best[[j]])) / 5)
  expect_setequal(rownames(out$selected), unlist(best))
  for (i in 1:3) expect_setequal(rownames(out$selected)[out$selected[, i]], best[[i]])
  expect_false(is.unsorted(-rowSums(out$selected)))
  expect_equal(out$chance, 5 / 14)
  expect_output(print(out), "by chance")
  joined <- c(a = fits$a, b = fits$b)
  expect_s3_class(joined, "ufs_list")
  expect_identical(ufs_overlap(joined, 5)$shared, out$shared[1:2, 1:2])
  expect_output(print(joined), "2 fits")
  expect_identical(colnames(ufs_overlap(unname(fits[c(1, 1, 2)]), 3)$shared), c("variance", "variance 1", "laplacian"))
  withr::local_pdf(NULL)
  expect_identical(plot(joined, k = 5), joined)
  expect_identical(plot(out, "features"), out)
  expect_identical(picture(out, "pairs")$z, out$shared)
  skip_if_not_installed("ggplot2")
  for (what in c("pairs", "features")) expect_silent(ggplot2::ggplotGrob(ggplot2::autoplot(out, what)))
  expect_s3_class(ggplot2::autoplot(joined, k = 3), "ggplot")
})

test_that("overlap refuses what cannot be compared; pictures of stability and grids have what was found", {
  expect_arguments(fits = ufs_overlap(fit_of("variance", x), 3), fits = ufs_overlap(list(fit_of("variance", x)), 3),
    fits = ufs_overlap(list(fit_of("variance", x), fit_of("variance", x[, -1])), 3),
    fit = ufs_overlap(list(fit_of("variance", x), fit_of("ted", x)), 3),
    k = ufs_overlap(list(fit_of("variance", x), fit_of("pca", x)), 15))
  set.seed(1)
  out <- list(stability = ufs_stability(x, "variance", k = 3, n_resamples = 8),
    grid = ufs_grid(x, "pca", list(n_components = 1:3, scale = c(TRUE, FALSE))))
  pic <- picture(out$stability, "features")
  expect_identical(pic$table$value, unname(sort(out$stability$frequency, decreasing = TRUE))[1:6])
  expect_identical(pic$plain, pic$table$series[4:6])
  expect_match(pic$title, "ufs_variance")
  value <- c(1, 2, 3, 4, 5, 6)
  cells <- picture(out$grid, value, NULL)$z
  limits <- picture(out$grid, rep(2, 6), NULL)$limits
  expect_equal(mean(limits), 2)
  expect_true(diff(limits) > 0 && diff(limits) < .2)
  top <- lapply(1:6, function(i) unname(out$grid$feature_rankings[1:10, i]))
  agree <- vapply(1:6, function(i) mean(vapply(setdiff(1:6, i), function(j) mean(top[[j]] %in% top[[i]]), 0)), 0)
  expect_equal(agreement(out$grid), agree)
  expect_match(picture(out$grid, NULL, NULL)$title, "agreement")
  settings <- out$grid$settings
  for (i in 1:6) expect_identical(cells[format(settings$scale[[i]]), as.character(settings$n_components[[i]])], value[i])
})

test_that("a comparison has a curve for each method", {
  set.seed(1)
  out <- suppressWarnings(ufs_compare(x, rep(1:2, 12), "variance", k = c(2, 4), mode = "cluster", repeats = 1))
  pic <- picture(out, NULL, "accuracy", NULL, NULL, NULL)
  # Bars are one standard deviation over the repeats; one k is a dot plot, the best on top.
  expect_true(pic$percent)
  one <- picture(out, "k", "accuracy", NULL, NULL, "variance")
  table <- summary(out)$table
  table <- table[table$method == "variance", ]
  expect_equal(one$table$high - one$table$y, ifelse(is.na(table$sd), 0, table$sd))
  single <- out
  single$k <- 2
  single$results <- out$results[out$results$k %in% c(2, out$p), ]
  dots <- picture(single, NULL, "accuracy", NULL, NULL, NULL)
  expect_identical(dots$kind, "dots")
  expect_false(is.unsorted(-dots$table$value))
  expect_setequal(dots$table$series, unique(out$results$method))
  expect_true(all(c("all", "pca") %in% pic$plain))
  expect_false("variance" %in% pic$plain || "no such" %in% pic$plain)
  withr::local_pdf(NULL)
  expect_identical(plot(out), out)
  skip_if_not_installed("ggplot2")
  expect_silent(ggplot2::ggplotGrob(ggplot2::autoplot(out)))
  drawn <- ggplot2::ggplot_build(ggplot2::autoplot(single))$data
  expect_identical(nrow(drawn[[length(drawn)]]), nrow(dots$table))
  expect_setequal(drawn[[length(drawn)]]$x, dots$table$value)
})

test_that("names that are no text in this locale are drawn all the same", {
  skip_if_not(l10n_info()[["UTF-8"]])
  withr::local_pdf(NULL)
  x <- as.matrix(iris[1:20, 1:4])
  colnames(x)[1] <- "\xe9t\xe9"
  expect_error(plot(ufs_variance(x)), NA)
  expect_identical(shorten(colnames(x)[1], 12L), "<e9>t<e9>")
  # Newer R and R 4.0 warn of such names where they are searched.
  expect_warning(chosen <- suppressMessages(ufs_select(x, k = 4)), NA)
  expect_output(print(chosen), "<e9>t<e9>", fixed = TRUE)
})

test_that("a picture of more features than there are is refused", {
  withr::local_pdf(NULL)
  for (type in c("scores", "heatmap", "embedding")) {
    expect_refused(plot(ufs_variance(mtcars), type, mtcars, k = 100), "at most 11", argument = "k")
  }
  expect_error(plot(ufs_ted(mtcars), "samples", m = 33), "at most 32", class = "ufs_error_argument")
})

test_that("values that differ by rounding alone are drawn as one", {
  withr::local_pdf(NULL)
  for (y in list(22 + c(0, 2, 1) * .Machine$double.eps * 8, c(5, 5, 5), -1e-300 * (1:3))) {
    pic <- list(kind = "curves", table = data.frame(x = 1:3, y = y), xlab = "", ylab = "", title = "")
    expect_warning(draw_curves(pic), NA)
  }
  expect_identical(drawn_ends(c(1, 1 + 1e-9)), c(1, 1 + 1e-9))
})

test_that("ggplot2 keeps the order of the panels", {
  skip_if_not_installed("ggplot2")
  pic <- new_picture("curves", table = data.frame(x = rep(1:3, 4), y = 1:12, series = rep(c("a", "b"), each = 3),
    panel = rep(c("m = 5", "m = 10"), each = 6)), xlab = "k", ylab = "accuracy", title = "panels")
  drawn <- ggplot2::ggplot_build(ggplot_picture(pic))
  expect_identical(as.character(drawn$layout$layout$panel), c("m = 5", "m = 10"))
  for (layer in drawn$data) expect_identical(as.integer(tapply(layer$y, layer$PANEL, max)), c(6L, 12L))
})

test_that("draws by leverage show it; a choice without redundancy says what it weighed", {
  fit <- withr::with_seed(1, ufs_cur(x, rank = 3, k = 4, m = 5))
  for (what in c("feature", "sample")) {
    leverage <- unname(fit$solution[[paste0("leverage_", what, "s")]])
    pic <- picture(fit, if (what == "feature") "scores" else "samples", k = 4, m = 5)
    expect_equal(pic$table$y, sort(leverage, decreasing = TRUE))
    best <- fit[[paste0(what, "_ranking")]][seq_len(if (what == "feature") 4 else 5)]
    expect_equal(pic$table$y[pic$table$best], sort(leverage[best], decreasing = TRUE))
  }
  base <- ufs_variance(x)
  strength <- .7
  fit <- ufs_diversify(base, x, k = 4, strength = strength)
  # At each step the rank as a share, less the largest correlation with those chosen before.
  worth <- stats::setNames((14:1) / 14, names(base$feature_ranking))
  r <- abs(stats::cor(x))
  near <- function(column, of) if (length(of)) max(r[column, of]) else 0
  chosen <- selected_features(fit, 4)
  value <- vapply(1:4, function(i) worth[[chosen[i]]] - strength * near(chosen[i], chosen[seq_len(i - 1)]), 0)
  passed <- setdiff(names(worth)[worth > min(worth[chosen])], chosen)
  pic <- picture(fit, "choice", k = 4)
  expect_identical(picture_types(fit)[1], "choice")
  expect_identical(pic$table$series[1:4], chosen)
  expect_equal(pic$table$value[1:4], value)
  expect_equal(pic$table$high[1:4], unname(worth[chosen]))
  expect_identical(pic$plain, utils::head(passed, 4))
  rest <- pic$table[-(1:4), ]
  expect_equal(rest$value, unname(worth[rest$series] - strength * vapply(rest$series, near, 0, chosen)))
  consensus <- fit_of("consensus", x)
  shown <- picture(consensus, "choice", k = 14)
  own <- !shown$table$series %in% shown$plain
  expect_identical(shown$table$series[own], selected_features(consensus, sum(own)))
  expect_false(is.unsorted(-shown$table$value[own]))
  # css chooses by another rule: the scores of the ranking, in red what it took.
  other <- ufs_diversify(base, x, k = 4, how = "css")
  expect_identical(picture_types(other)[1], "scores")
  expect_equal(picture(other, "scores", k = 4)$table$y, unname(sort(base$feature_scores, decreasing = TRUE)))
})

test_that("red is what the accessors give, whatever constraints changed", {
  strata <- rep(c("a", "b"), 7)
  constraints <- list(list(max_cor = .3), list(feature_strata = strata, feature_quotas = list(a = c(0, 1))),
    list(groups = rep(1:7, each = 2)), list(include = "f14"), list(cost = rep(c(3, 1), 7), budget = 7))
  for (held in constraints) {
    fit <- quietly(do.call(ufs_variance, c(list(x, k = 5), held)))
    best <- quietly(selected_features(fit))
    pic <- picture(fit, "scores", k = 5)
    expect_setequal(pic$table$y[pic$table$best], feature_scores(fit)[best])
    listed <- picture(fit, "chosen", k = 5)
    expect_identical(setdiff(listed$table$series, listed$plain), best)
  }
  # A choice that a constraint changed afterwards is not explained by what was weighed before it.
  fit <- ufs_diversify(ufs_variance(x), x, k = 4)
  expect_true("choice" %in% picture_types(fit))
  fit$feature_ranking <- rev(fit$feature_ranking)
  expect_false("choice" %in% picture_types(fit))
})

test_that("scores that hardly differ are points, or drawn above the lowest", {
  fit <- fit_of("variance", x)
  kind <- function(score) {
    fit$feature_scores[] <- score
    fit$feature_ranking[] <- order(-score)
    picture(fit, "scores", k = 3)
  }
  far <- kind(14:1)
  near <- kind(114:101)
  alike <- kind(1 + (14:1) * 1e-7)
  expect_identical(c(far$narrow, near$narrow, alike$narrow, kind(-(101:114))$narrow), c(FALSE, TRUE, FALSE, TRUE))
  expect_equal(range(near$table$y), spikes_range(near))
  expect_identical(spikes_range(far), c(0, 14))
  expect_equal(alike$table$y, (13:0) * 1e-7, tolerance = 1e-6)
  expect_match(alike$subtitle, "lowest score: 1")
  withr::local_pdf(NULL)
  for (pic in list(near, alike, kind(rep(1, 14)))) expect_silent(draw_picture(pic))
})

test_that("an iterative method shows its objective and what it chose, where there is room", {
  fit <- ufs_rsr(x, k = 5)
  drawn <- character()
  real <- draw_picture
  replaced("draw_picture", function(pic, ...) {
    drawn <<- c(drawn, pic$kind)
    real(pic, ...)
  })
  kinds <- function(width, height, before = function() NULL, ...) {
    drawn <<- character()
    withr::local_pdf(NULL, width = width, height = height)
    before()
    old <- graphics::par(c("mfrow", "mar", "cex", "mex", "cex.main", "oma"))
    expect_silent(plot(fit, ...))
    expect_identical(graphics::par(c("mfrow", "mar", "cex", "mex", "cex.main", "oma")), old)
    drawn
  }
  both <- c("curves", "dots")
  expect_identical(list(kinds(7, 7), kinds(6.7, 5), kinds(5, 3)), list(both, both, both[1]))
  # A page that is divided already, parameters for one picture.
  expect_identical(kinds(7, 7, function() graphics::par(mfrow = 1:2)), both[1])
  expect_identical(kinds(7, 7, main = "mine"), both[1])
  expect_identical(kinds(7, 7, type = "chosen"), both[2])
  expect_identical(kinds(7, 7, function() graphics::par(cex = .8)), both)
  pic <- picture(fit, "chosen", k = 5)
  expect_identical(pic$table$series, names(fit$feature_ranking)[1:8])
  expect_equal(pic$table$value, unname(fit$feature_scores[fit$feature_ranking[1:8]]))
  expect_identical(pic$plain, names(fit$feature_ranking)[6:8])
  expect_identical(nrow(picture(ufs_variance(matrix(stats::rnorm(300), 5)), "chosen", k = 40)$table), 43L)
  # Where rows are mere ranks, the data show more.
  drawn <- character()
  withr::local_pdf(NULL)
  plot(ufs_random(x, "samples", m = 4), data = x)
  plot(ufs_represent(x))
  expect_identical(drawn, c("scatter", "tiles"))
})

test_that("a way that goes up and down has a line at its lowest value, one over several lambda at its end", {
  fit <- fit_of("rsr", x)
  fit$trace <- data.frame(iteration = 1:5, objective = c(9, 4, 6, 3, 5))
  pic <- picture(fit, "objective", k = 3)
  expect_identical(pic$lines$h, 3)
  expect_match(pic$subtitle, "lowest")
  fit$trace$objective <- 9:5
  expect_null(picture(fit, "objective", k = 3)$lines)
  fit$trace$lambda <- c(1, 1, 2, 4, 4)
  expect_identical(picture(fit, "objective", k = 3)$lines, list(v = c(2.5, 3.5), h = 5L))
})

test_that("a split shows its sets among all rows, a tuning its choice, a comparison what was asked for", {
  split <- withr::with_seed(1, ufs_split(x, m = 6, test = 4))
  pic <- picture(split)
  expect_identical(table(pic$group)[["in neither"]], 14L)
  sets <- list(`to learn from` = split$train, `to judge by` = split$test)
  sets$`in neither` <- setdiff(1:24, unlist(sets))
  for (set in names(sets)) {
    expect_setequal(pic$table$x[pic$group == set], split$map[sets[[set]], 1])
    expect_setequal(pic$table$y[pic$group == set], split$map[sets[[set]], 2])
  }
  withr::local_pdf(NULL)
  expect_identical(plot(split), split)
  expect_identical(plot(withr::with_seed(1, ufs_split(x, m = 14, test = 9)), main = "all rows")$n, 24L)
  tune <- ufs_tune(x, "pca", list(n_components = 1:3, scale = c(TRUE, FALSE)), k = 4)
  cells <- picture(tune, "reconstruction", NULL)
  expect_identical(cells$mark, c(match(tune$choice$n_components[[1]], 1:3), match(tune$choice$scale[[1]], c(FALSE, TRUE))))
  # From below, as it is drawn.
  expect_identical(rownames(cells$z)[3 - cells$mark[2]], format(tune$choice$scale[[1]]))
  line <- picture(tune, "reconstruction", "n_components")
  expect_equal(line$mark, c(cells$mark[1], line$table$y[cells$mark[1]]))
  expect_null(picture(ufs_grid(x, "pca", list(n_components = 1:3)), "seconds", NULL)$mark)
  plot(tune)
  plot(tune, over = "scale")
  skip_if_not_installed("ggplot2")
  represent <- ufs_represent(x, solver = "paper")
  titles <- vapply(c("links", "objective"), function(type) {
    p <- ggplot2::autoplot(represent, type = type)
    expect_silent(ggplot2::ggplotGrob(p))
    p$labels$title
  }, "")
  expect_identical(titles, c(links = "ufs_represent: links between samples", objective = "ufs_represent: objective"))
  same_error(ggplot2::autoplot(represent, "nothing"), "type")
  thin <- picture(ufs_variance(cbind(x, matrix(stats::rnorm(24 * 200), 24))), "scores", k = 7)
  expect_identical(sort(ggplot2::ggplot_build(ggplot_picture(thin))$data[[2]]$x), as.double(which(thin$table$best)))
  for (over in list(NULL, "scale")) expect_silent(ggplot2::ggplotGrob(ggplot2::autoplot(tune, over = over)))
  expect_silent(ggplot2::ggplotGrob(ggplot2::autoplot(split)))
  expect_silent(ggplot2::ggplotGrob(ggplot_picture(new_picture("spikes", table = data.frame(x = 1:4, y = 104:101,
    best = 1:4 < 2), title = "narrow"))))
})

test_that("the picture of the representatives has their correlations", {
  fit <- ufs_css(x, k = 4)
  pic <- picture(fit, "representatives", k = 4)
  expect_identical(colnames(pic$z), selected_features(fit, 4))
  expect_setequal(rownames(pic$z), colnames(x))
  expect_equal(pic$z, abs(stats::cor(x[, rownames(pic$z)], x[, colnames(pic$z)])), tolerance = 1e-8)
  # Each below the one that stands for it, from the most similar on; the chosen ones head their own.
  said <- representatives(fit, 4)
  of <- said$representative[match(rownames(pic$z), said$feature)]
  expect_identical(unique(of), colnames(pic$z))
  expect_identical(rownames(pic$z)[!duplicated(of)], colnames(pic$z))
  for (one in unique(of)) expect_false(is.unsorted(-abs(said$r[match(rownames(pic$z)[of == one], said$feature)])))
  withr::local_pdf(NULL)
  expect_silent(plot(ufs_css(x, k = 1), "representatives"))
  wide <- cbind(withr::with_seed(1, matrix(stats::rnorm(20 * 100), 20)), 1)
  many <- picture(suppressWarnings(ufs_css(wide, k = 5)), "representatives", k = 5)
  expect_lte(nrow(many$z), 36)
  expect_match(many$ylab, "of 100 features")
})

test_that("settings that rank no features agree on none; bars end before the next one, a legend has room", {
  expect_identical(agreement(list(settings = data.frame(a = 1:2))), c(NA_real_, NA_real_))
  expect_equal(bar_edges(c(1, 2, 5)), data.frame(left = c(.65, 1.65, 4.65), right = c(1.35, 4.5, 5.35)))
  withr::local_pdf(NULL, width = 7, height = 7)
  table <- data.frame(x = rep(0:4, 2), y = 1:10, series = rep(c("one", "other"), each = 5))
  right <- function(table) {
    draw_curves(list(kind = "curves", table = table, xlab = "", ylab = "", title = ""))
    graphics::par("usr")[2L]
  }
  expect_gt(right(table), right(table[1:5, ]) + .2)
  # What is left for labels beside the data is about as wide as they are.
  graphics::plot.new()
  for (label in c("a feature", strrep("mn", 9))) {
    beside <- label_room(label, .75)
    wide <- beside / (1 + beside) * graphics::par("pin")[1L] - .25
    expect_lt(abs(log(wide / graphics::strwidth(label, "inches", cex = .75))), log(1.6))
  }
})

test_that("two samples stand along the first component, and titles may be expressions", {
  z <- matrix(c(3, 1, 0, 2), 2)
  expect_identical(sample_order(z, NULL), order(stats::prcomp(z)$x[, 1] * sign(stats::prcomp(z)$x[1, 1])))
  expect_identical(sample_order(z, factor(c("a", "b"))), 1:2)
  written <- function(code, ...) {
    file <- tempfile(fileext = ".pdf")
    withr::defer(unlink(file))
    grDevices::pdf(file, compress = FALSE, ...)
    code()
    grDevices::dev.off()
    paste(readLines(file, warn = FALSE, encoding = "latin1"), collapse = "\n")
  }
  fit <- fit_of("pca", x)
  expect_false(grepl("ufs_pca", written(function() plot(fit, "scores", main = expression(alpha^2)))))
})

test_that("an overlap of more than forty features draws the forty chosen most often; refusals say what is wrong", {
  wide <- withr::with_seed(1, matrix(stats::rnorm(5000), 50))
  overlap <- ufs_overlap(lapply(1:5, function(seed) withr::with_seed(seed, ufs_random(wide))), k = 20)
  pic <- picture(overlap, "features")
  expect_gt(nrow(overlap$selected), 40L)
  expect_identical(pic$subtitle, sprintf("the 40 chosen most often of %d", nrow(overlap$selected)))
  expect_gte(min(rowSums(pic$z)), max(rowSums(overlap$selected[-(1:40), ])))
  withr::local_pdf(NULL)
  expect_refused(plot(ufs_ted(mtcars, m = 3), k = 2),
    "`k` is a number of features, and ufs_ted() chooses samples: give `m`.")
  expect_refused(new_picture("curves", table = data.frame(x = 1, y = NA), title = "t"),
    "t: there is no finite value to draw.")
  expect_refused(plot(structure(list(task = "cluster", curve = NULL, reason = "too few rows"), class = c("ufs_size", "ufs_result"))),
    "There is no curve: too few rows.")
})

test_that("scores that are mere ranks are shown by what the choice holds, others as they are", {
  withr::defer(forget_methods(c("own_columns", "own_rows")))
  ufs_register("own_columns", function(x, even) if (even) ncol(x):1 / ncol(x) else (ncol(x):1)^2)
  ufs_register("own_rows", function(x, even) if (even) nrow(x):1 / nrow(x) else (nrow(x):1)^2, what = "samples")
  default <- function(method, even) {
    fit <- ufs(x, method, even = even)
    expect_identical(picture_type(fit, NULL), picture_types(fit)[1L])
    picture_type(fit, NULL, x)
  }
  expect_identical(c(default("own_columns", TRUE), default("own_columns", FALSE)), c("share", "scores"))
  expect_identical(c(default("own_rows", TRUE), default("own_rows", FALSE)), c("embedding", "samples"))
})

test_that("chosen points of curves are marked on the mean curve; a share near its end has a scale of its own", {
  wave <- seq(400, 700, length.out = 120)
  x <- withr::with_seed(1, outer(runif(30), dnorm(wave, 480, 30)) + outer(runif(30), dnorm(wave, 600, 40)))
  colnames(x) <- wave
  for (fit in list(ufs_css(x, 3), ufs_select(x, 3, "compress"))) {
    pic <- picture_of_fit(fit, NULL, NULL, NULL, NULL, NULL)
    expect_equal(pic$table$x, wave)
    expect_equal(pic$table$y, unname(colMeans(x)))
    expect_equal(pic$lines$v, wave[unname(selected_features(fit, as = "index"))])
    expect_match(pic$title, "best 3 on the mean curve")
  }
  expect_s3_class(ggplot2::autoplot(ufs_css(x, 3)), "ggplot")
  expect_identical(picture_of_fit(ufs_css(unname(x), 3), "curve", NULL, NULL, NULL, NULL)$table$x, 1:120)
  mixed <- x[, withr::with_seed(1, sample.int(120L))]
  expect_false("curve" %in% picture_types(ufs_css(mixed, 3)) || "curve" %in% picture_types(ufs_css(mtcars, 3)))
  expect_false("curve" %in% picture_types(ufs_medoids(x, 3)))
  x <- withr::with_seed(2, outer(rnorm(40), 1:8) + .1 * matrix(rnorm(320), 40))
  expect_null(picture_of_fit(ufs_css(x, 3), "share", NULL, NULL, NULL, NULL)$from)
  x <- withr::with_seed(2, matrix(rnorm(320), 40))
  expect_identical(picture_of_fit(ufs_css(x, 5), "share", NULL, NULL, NULL, NULL)$from, 0)
  pic <- picture_of_fit(ufs_facility(scale(iris[1:4]), 10), "share", NULL, NULL, NULL, NULL)$table
  bound <- pic$y[pic$series == "proved bound"]
  expect_true(all(diff(bound) >= 0) && all(bound <= 1 & bound >= pic$y[pic$series == "chosen"] - 1e-12))
})
