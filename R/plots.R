# Pictures. What a picture shows is worked out once, as a plain list of class ufs_picture;
# plot() draws it with base graphics and autoplot() with ggplot2, so that both show the same.

# ---- front doors ------------------------------------------------------------------------

#' Plots of a fit
#'
#' `plot(fit)` shows how the objective fell, or the sorted scores if the method has no
#' iterations. `plot(fit, "heatmap", x)` and `plot(fit, "embedding", x)` show the data through
#' the chosen features: as a heat map with the samples ordered by cluster, and as a map of the
#' samples. `autoplot()` draws the same pictures with ggplot2.
#'
#' @param x,object A fit.
#' @param type What to show:
#'   * `"objective"`: the objective at each iteration;
#'   * `"scores"`, `"samples"`: feature or sample scores, largest first, with the best `k` in
#'     red and named (at most 50 names);
#'   * `"heatmap"`: samples by the best `k` features, each column standardised and cut at three
#'     standard deviations;
#'   * `"embedding"`: the first two principal components of the best `k` features, standardised.
#'     A method that only selects samples shows all features. Chosen samples are circled.
#'
#'   Some methods add types of their own, see their help pages.
#' @param data The data that were given to the method, or new data with the same columns; only
#'   needed for `"heatmap"` and `"embedding"`.
#' @param k How many of the best features to show (samples, for a method that only selects
#'   samples). The default is 10, or the number that the method was asked for if it solves for
#'   one.
#' @param y Optional classes of the samples, for `"heatmap"` and `"embedding"`: they give the
#'   colours and the order of the rows. The default is the clusters the method found, if it finds
#'   any.
#' @param m How many of the best samples to circle in `"embedding"`, for methods that select
#'   samples.
#' @param ... For `plot()`, graphical parameters such as `main` or `xlab`, passed to the base
#'   function that draws the picture. `autoplot()` takes no further arguments: add ggplot2
#'   layers instead.
#' @return `plot()` returns the fit, invisibly; `autoplot()` a ggplot.
#' @examples
#' fit <- ufs_kmeans_f(iris[, 1:4], n_clusters = 3)
#' plot(fit, "scores", k = 2)
#' plot(fit, "embedding", iris[, 1:4], k = 2, y = iris$Species)
#' plot(fit, "heatmap", iris[, 1:4], k = 4)
#' @export
plot.ufs <- function(x, type = NULL, data = NULL, k = NULL, y = NULL, m = NULL, ...) {
  k <- picture_size(x, k)
  draw_picture(picture(x, picture_type(x, type), k = k, data = data, y = y, m = m), ...)
  invisible(x)
}

#' @rdname plot.ufs
#' @exportS3Method ggplot2::autoplot
autoplot.ufs <- function(object, type = NULL, data = NULL, k = NULL, y = NULL, m = NULL, ...) {
  check_dots_empty(...)
  k <- picture_size(object, k)
  ggplot_picture(picture(object, picture_type(object, type), k = k, data = data, y = y, m = m))
}

# How many features to show: what the method was asked for, if it solves for one number, or 10.
picture_size <- function(fit, k) {
  if (!is.null(k)) {
    return(check_count(k, "k", 1L))
  }
  asked <- fit$params[[c(registry()[[fit$method]]$per_k, "")[1L]]]
  if (is.null(asked)) 10L else asked
}

picture_type <- function(fit, type) {
  types <- picture_types(fit)
  if (is.null(type)) types[[1L]] else check_choice(type, "type", types)
}

# The kinds of picture a fit has, the default first. A method with pictures of its own has a
# method of this and of picture() in its file.
picture_types <- function(fit) UseMethod("picture_types")

#' @export
picture_types.default <- function(fit) {
  c(if (sum(is.finite(fit$trace$objective)) > 1L) "objective",
    if (!is.null(fit$feature_scores)) "scores",
    if (!is.null(fit$sample_scores)) "samples",
    if (!is.null(fit$feature_scores)) "heatmap", "embedding")
}

picture <- function(object, ...) UseMethod("picture")

#' @export
picture.ufs <- function(object, type, k, data = NULL, y = NULL, m = NULL, ...) {
  switch(type,
    objective = picture_objective(object),
    scores = picture_spikes(object$feature_scores, object$feature_ranking,
      names(object$feature_scores), k, "feature", object$method),
    samples = picture_spikes(object$sample_scores, object$sample_ranking,
      object$names$samples, if (is.null(m)) k else m, "sample", object$method),
    heatmap = picture_heatmap(object, data, k, y),
    embedding = picture_embedding(object, data, k, y, m)
  )
}

# ---- pictures of one fit ----------------------------------------------------------------

picture_objective <- function(fit, subtitle = NULL) {
  new_picture("curves", table = data.frame(x = fit$trace$iteration, y = fit$trace$objective),
    xlab = "iteration", ylab = "objective", subtitle = subtitle,
    title = sprintf("ufs_%s: objective (%s)", fit$method, status_words(fit$status)))
}

status_words <- function(status) gsub("_", " ", sub("max_iter", "max. iterations", status))

picture_spikes <- function(score, ranking, names, k, what, method) {
  k <- check_count(k, if (what == "sample") "m" else "k", 1L)
  ranking <- unname(ranking)
  sorted <- unname(score[ranking])
  sorted <- sorted[!is.na(sorted)]
  k <- min(k, length(sorted))
  # Rankings with many exact zeros end in a long flat line: show where it begins.
  live <- sum(sorted != 0)
  subtitle <- NULL
  if (live < length(sorted) / 2) {
    subtitle <- sprintf("%d of %d scores are exactly zero", length(sorted) - live, length(sorted))
    sorted <- utils::head(sorted, max(k, ceiling(1.3 * live)))
  }
  best <- utils::head(ranking, k)
  new_picture("spikes",
    table = data.frame(x = seq_along(sorted), y = sorted, best = seq_along(sorted) <= k),
    names = if (is.null(names)) as.character(best) else names[best],
    heading = paste("best", k), xlab = paste(what, "rank"), ylab = "score (larger is better)",
    subtitle = subtitle, title = sprintf("ufs_%s: %s scores", method, what))
}

picture_heatmap <- function(fit, data, k, y) {
  if (is.null(fit$feature_scores)) {
    ufs_abort("argument", "ufs_", fit$method, "() does not select features; ",
      "type = \"embedding\" shows its samples.", argument = "type")
  }
  z <- chosen_columns(fit, data, k)
  group <- sample_groups(fit, nrow(z), y)
  turn <- sample_order(z, group$of)
  shown <- pmin(pmax(z[turn, , drop = FALSE], -3), 3)
  new_picture("tiles", z = shown, group = if (!is.null(group)) group$of[turn],
    group_name = group$name, limits = c(-3, 3), palette = "diverging", value = "standardised",
    xlab = "features, best first", title = sprintf("ufs_%s: best %d of %d features", fit$method,
      ncol(z), fit$p),
    ylab = sprintf("%d samples, by %s", nrow(z), if (is.null(group)) "similarity" else group$name))
}

picture_embedding <- function(fit, data, k, y, m) {
  features <- !is.null(fit$feature_scores)
  # Methods that select samples only: k is their number, and all columns are shown.
  if (!features && is.null(m)) m <- k
  z <- if (features) chosen_columns(fit, data, k) else standardised(plain_columns(fit, data))
  group <- sample_groups(fit, nrow(z), y)
  map <- first_components(z)
  circled <- rep(FALSE, nrow(z))
  if (!is.null(m)) {
    if (nrow(z) != fit$n) {
      ufs_abort("argument", "`m`: `data` has ", nrow(z), " rows, the fit ", fit$n,
        "; only its own samples can be circled.", argument = "m")
    }
    circled[suppressMessages(selected_samples(fit, m, as = "index"))] <- TRUE
  }
  new_picture("scatter",
    table = data.frame(x = map$x, y = map$y, circled = circled),
    group = group$of, group_name = group$name, xlab = map$xlab, ylab = map$ylab,
    subtitle = if (any(circled)) sprintf("circled: best %d samples", sum(circled)),
    title = if (features) {
      sprintf("ufs_%s: samples in the best %d of %d features", fit$method, ncol(z), fit$p)
    } else {
      sprintf("ufs_%s: samples, all %d features", fit$method, fit$p)
    })
}

# ---- pictures of several fits -------------------------------------------------------------

#' How far selections agree
#'
#' Compares the best `k` features of several fits: which features they share, and how much of
#' each pair of selections is common. `plot()` draws the shares of all pairs, or with
#' `what = "features"` which feature was chosen by which fit.
#'
#' Fits of the same data can also be joined by `c()`: `plot(c(a = fit1, b = fit2), k = 10)` is
#' `plot(ufs_overlap(list(a = fit1, b = fit2), k = 10))`. A plain list of fits has no class, so
#' that `plot()` cannot know it.
#'
#' Two random choices of `k` of `p` features share `k / p` of them on average: that number is
#' printed and shown, because a share means little without it.
#'
#' @param fits A list of at least two fits of the same features, best with names; or what
#'   `c(fit1, fit2)` gives.
#' @param k How many of the best features of each fit.
#' @return An object of class `ufs_overlap`: `shared` (fits x fits, the share of the `k` features
#'   that two fits have in common), `selected` (features x fits, logical, those that any fit chose,
#'   most often chosen first), `chance` (k / p), `k`, `p`.
#' @examples
#' fits <- list(variance = ufs_variance(mtcars, scale = FALSE), laplacian = ufs_laplacian(mtcars),
#'   pca = ufs_pca(mtcars, n_components = 2))
#' ufs_overlap(fits, k = 4)
#' plot(ufs_overlap(fits, k = 4), what = "features")
#' @export
ufs_overlap <- function(fits, k) {
  fits <- check_fits(fits)
  p <- fits[[1L]]$p
  k <- check_count(k, "k", 1L, p)
  index <- lapply(fits, function(fit) {
    suppressMessages(selected_features(fit, min(k, p), as = "index"))
  })
  chosen <- vapply(index, function(i) seq_len(p) %in% i, logical(p))
  dimnames(chosen) <- list(fits[[1L]]$names$features, names(fits))
  any_fit <- rowSums(chosen) > 0L
  best_rank <- do.call(pmin, lapply(fits, function(fit) order(unname(fit$feature_ranking))))
  turn <- order(-rowSums(chosen), best_rank, seq_len(p))
  structure(list(shared = crossprod(chosen + 0) / k,
    selected = chosen[turn[any_fit[turn]], , drop = FALSE], chance = k / p, k = k, p = p),
    class = "ufs_overlap")
}

#' @export
print.ufs_overlap <- function(x, digits = 2L, ...) {
  cat("<ufs_overlap> ", ncol(x$selected), " fits, best ", x$k, " of ", x$p, " features: ",
    nrow(x$selected), " different ones, ", sum(rowSums(x$selected) == ncol(x$selected)),
    " in all fits\n", sep = "")
  cat("Share of the selection in common (", format(x$chance, digits = 2L), " by chance):\n", sep = "")
  print(round(x$shared, digits))
  invisible(x)
}

#' @rdname ufs_overlap
#' @param x,object A `ufs_overlap`, or fits joined by `c()`.
#' @param what `"pairs"` (the shares of all pairs) or `"features"` (who chose what; at most the 40
#'   features chosen most often).
#' @param ... Graphical parameters for `plot()`; fits to be joined for `c()`.
#' @export
plot.ufs_overlap <- function(x, what = c("pairs", "features"), ...) {
  draw_picture(picture(x, what), ...)
  invisible(x)
}

#' @rdname ufs_overlap
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_overlap <- function(object, what = c("pairs", "features"), ...) {
  check_dots_empty(...)
  ggplot_picture(picture(object, what))
}

#' @export
picture.ufs_overlap <- function(object, what, ...) {
  what <- check_choice(what, "what", c("pairs", "features"))
  if (what == "pairs") {
    return(new_picture("tiles", z = object$shared, limits = c(0, 1), palette = "sequential", text = TRUE,
      key = FALSE, row_labels = TRUE, upright = TRUE, value = "shared", xlab = "", ylab = "",
      title = sprintf("Share of the best %d of %d features in common", object$k, object$p),
      subtitle = sprintf("%s by chance", format(object$chance, digits = 2L))))
  }
  most <- 40L
  shown <- utils::head(object$selected, most)
  new_picture("tiles", z = shown + 0, limits = c(0, 1), palette = "presence", key = FALSE,
    row_labels = TRUE, upright = TRUE, xlab = "", ylab = "",
    title = sprintf("Chosen among the best %d of %d features", object$k, object$p),
    subtitle = if (nrow(object$selected) > most) {
      sprintf("the %d chosen most often of %d", most, nrow(object$selected))
    })
}

#' @rdname ufs_overlap
#' @export
c.ufs <- function(...) structure(list(...), class = "ufs_list")

#' @rdname ufs_overlap
#' @export
plot.ufs_list <- function(x, k = 10L, what = c("pairs", "features"), ...) {
  draw_picture(picture(ufs_overlap(x, k), what), ...)
  invisible(x)
}

#' @rdname ufs_overlap
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_list <- function(object, k = 10L, what = c("pairs", "features"), ...) {
  check_dots_empty(...)
  ggplot_picture(picture(ufs_overlap(object, k), what))
}

#' @export
print.ufs_list <- function(x, ...) {
  cat("<ufs_list> ", length(x), " fits\n", sep = "")
  for (i in seq_along(x)) {
    cat("  ", if (is.null(names(x))) i else names(x)[i], ": ", if (inherits(x[[i]], "ufs")) {
      paste0("ufs_", x[[i]]$method, ", ", x[[i]]$n, " x ", x[[i]]$p)
    } else kind_of(x[[i]]), "\n", sep = "")
  }
  invisible(x)
}

# Fits of the same features, with different names.
check_fits <- function(fits) {
  if (inherits(fits, "ufs") || !is.list(fits) || length(fits) < 2L ||
      !all(vapply(fits, inherits, NA, "ufs"))) {
    ufs_abort("argument", "`fits` must be a list of at least two fits of this package.",
      argument = "fits")
  }
  for (fit in fits) {
    check_fit(fit, "feature_ranking", "features")
    if (fit$p != fits[[1L]]$p || !identical(fit$names$features, fits[[1L]]$names$features)) {
      ufs_abort("argument", "`fits` must be fits of the same features.", argument = "fits")
    }
  }
  given <- names(fits)
  if (is.null(given)) given <- rep("", length(fits))
  empty <- is.na(given) | given == ""
  given[empty] <- vapply(fits[empty], `[[`, "", "method")
  names(fits) <- make.unique(given, " ")
  unclass(fits)
}

#' Which features, or samples, are chosen again and again
#'
#' Shows how often each feature was among the best `k` of the resamples, most frequent first,
#' with the first `k` in red and named.
#'
#' @param x,object A [ufs_stability()] result.
#' @param what `"features"` or `"samples"`; the default is what was followed.
#' @param ... Graphical parameters for `plot()`.
#' @return `plot()` returns `x`, invisibly; `autoplot()` a ggplot.
#' @examples
#' set.seed(1)
#' plot(ufs_stability(mtcars, "variance", k = 3, n_resamples = 20))
#' @export
plot.ufs_stability <- function(x, what = c("features", "samples"), ...) {
  draw_picture(picture(x, what), ...)
  invisible(x)
}

#' @rdname plot.ufs_stability
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_stability <- function(object, what = c("features", "samples"), ...) {
  check_dots_empty(...)
  ggplot_picture(picture(object, what))
}

#' @export
picture.ufs_stability <- function(object, what, ...) {
  have <- c(if (!is.null(object$frequency)) "features", if (!is.null(object$sample_frequency)) "samples")
  what <- if (identical(what, c("features", "samples"))) have[[1L]] else check_choice(what, "what", have)
  features <- what == "features"
  value <- if (features) object$frequency else object$sample_frequency
  label <- if (is.null(names(value))) seq_along(value) else names(value)
  turn <- order(-value, seq_along(value), na.last = NA)
  n <- if (features) object$k else object$m
  value <- unname(value[turn])
  # The long tail of what was never chosen says nothing.
  shown <- seq_len(min(length(value), max(3L * n, sum(value > 0))))
  new_picture("spikes", table = data.frame(x = shown, y = value[shown], best = shown <= n),
    names = as.character(label[turn][seq_len(min(n, length(turn)))]), ylim = c(0, 1),
    heading = sprintf("first %d", n), lines = list(v = n + .5), xlab = paste(what, "by frequency"),
    ylab = "share of the resamples",
    title = sprintf("ufs_%s: how often %s are chosen, %s = %d", object$method, what,
      if (features) "k" else "m", n),
    subtitle = if (features) {
      sprintf("stability %.2f (%g%% interval %.2f to %.2f)", object$stability, 100 * object$level,
        object$interval[[1L]], object$interval[[2L]])
    })
}

#' Picture of a grid
#'
#' A heat map of a result over two arguments, or a curve over one.
#'
#' @param x,object A [ufs_grid()] or [ufs_tune()] result.
#' @param y Not used.
#' @param value What to show: a numeric column of `as.data.frame(x)`, by default the objective
#'   of a grid (its seconds if the method has no objective) and the criterion of a tuning; or a numeric vector with one value per setting,
#'   for example an accuracy.
#' @param over Names of one or two arguments that span the picture; by default the first
#'   two that vary. Values are averaged over the others.
#' @param ... Graphical parameters for `plot()`.
#' @return `plot()` returns the object, invisibly; `autoplot()` a ggplot.
#' @examples
#' grid <- ufs_grid(iris[, 1:4], "pca", list(n_components = 1:3, scale = c(TRUE, FALSE)))
#' plot(grid, value = "seconds")
#' @export
plot.ufs_grid <- function(x, y = NULL, value = NULL, over = NULL, ...) {
  draw_picture(picture(x, value, over), ...)
  invisible(x)
}

#' @rdname plot.ufs_grid
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_grid <- function(object, value = NULL, over = NULL, ...) {
  check_dots_empty(...)
  ggplot_picture(picture(object, value, over))
}

#' @rdname plot.ufs_grid
#' @export
plot.ufs_tune <- function(x, y = NULL, value = x$criterion[1L], over = NULL, ...) {
  draw_picture(picture(x, value, over), ...)
  invisible(x)
}

#' @rdname plot.ufs_grid
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_tune <- function(object, value = object$criterion[1L], over = NULL, ...) {
  check_dots_empty(...)
  ggplot_picture(picture(object, value, over))
}

#' @export
picture.ufs_grid <- function(object, value, over, ...) {
  table <- as.data.frame(object)
  # Not every method has an objective.
  if (is.null(value)) value <- if (all(is.na(table$objective))) "seconds" else "objective"
  what <- if (is.character(value)) value else "value"
  if (is.character(value)) {
    value <- check_choice(value, "value", names(table)[vapply(table, is.numeric, NA)])
    value <- table[[value]]
  }
  if (!is.numeric(value) || length(value) != nrow(table) || !any(is.finite(value))) {
    ufs_abort("argument", "`value` must name a column or have one number per setting.",
      argument = "value")
  }
  settings <- object$settings
  varies <- names(settings)[vapply(settings, function(v) length(unique(v)) > 1L, NA)]
  if (is.null(over)) over <- utils::head(c(varies, names(settings)), 2L)
  over <- unique(over)
  if (!length(over) || length(over) > 2L || !all(over %in% names(settings))) {
    ufs_abort("argument", "`over` must name one or two columns of the grid.", argument = "over")
  }
  level <- lapply(settings[over], function(v) sort(unique(unlist(v))))
  at <- Map(function(v, l) factor(match(unlist(v), l), seq_along(l)), settings[over], level)
  value[!is.finite(value)] <- NA
  mean_value <- tapply(value, at, mean, na.rm = TRUE)
  others <- setdiff(varies, over)
  subtitle <- if (length(others)) paste("mean over", paste(others, collapse = ", "))
  title <- sprintf("ufs_%s: %s over %s", object$method, what, paste(over, collapse = " and "))
  if (length(over) == 1L) {
    return(new_picture("curves", table = data.frame(x = seq_along(level[[1L]]),
      y = as.vector(mean_value)), x_labels = format(level[[1L]], digits = 3L, trim = TRUE),
      xlab = over, ylab = what, title = title, subtitle = subtitle))
  }
  words <- lapply(level, format, digits = 3L, trim = TRUE)
  # The first argument runs to the right, the second upwards.
  cells <- t(matrix(as.vector(mean_value), length(level[[1L]]), length(level[[2L]])))
  cells <- cells[rev(seq_len(nrow(cells))), , drop = FALSE]
  cells[!is.finite(cells)] <- NA
  dimnames(cells) <- list(rev(words[[2L]]), words[[1L]])
  limits <- range(cells, na.rm = TRUE)
  if (diff(limits) == 0) limits <- limits + c(-1, 1) * max(abs(limits[1L]), 1) * .01
  new_picture("tiles", z = cells, limits = limits, palette = "sequential", text = TRUE, value = what,
    row_labels = TRUE, upright = TRUE, xlab = over[1L], ylab = over[2L], title = title,
    subtitle = subtitle)
}

#' Curves of a comparison
#'
#' One curve a method, named at its end with its last value, so that the order of the methods can
#' be read without a legend. Baselines are thin and dashed.
#'
#' @param x,object A [ufs_compare()] result.
#' @param y Not used.
#' @param over `"k"` or `"m"`: what the horizontal axis shows; the default is what varies.
#' @param measure `"accuracy"`, or `"nmi"` or `"ari"` in cluster mode.
#' @param classifier Which classifier; the first by default.
#' @param at Values of the other one of k and m, a panel for each; its first by default.
#'   `"best"`: for every method the value at which its mean is largest, judged with the labels.
#' @param methods Which methods to draw; all by default.
#' @param ... Graphical parameters for `plot()`.
#' @return `plot()` returns `x`, invisibly; `autoplot()` a ggplot.
#' @export
plot.ufs_compare <- function(x, y = NULL, over = NULL, measure = "accuracy", classifier = NULL,
                             at = NULL, methods = NULL, ...) {
  draw_picture(picture(x, over, measure, classifier, at, methods), ...)
  invisible(x)
}

#' @rdname plot.ufs_compare
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_compare <- function(object, over = NULL, measure = "accuracy", classifier = NULL,
                                 at = NULL, methods = NULL, ...) {
  check_dots_empty(...)
  ggplot_picture(picture(object, over, measure, classifier, at, methods))
}

#' @export
picture.ufs_compare <- function(object, over, measure, classifier, at, methods, ...) {
  table <- summary(object, measure)$table
  if (is.null(over)) over <- if (length(object$m) > 1L && length(object$k) == 1L) "m" else "k"
  over <- check_choice(over, "over", c("k", "m"))
  other <- setdiff(c("k", "m"), over)
  if (is.null(classifier)) classifier <- table$classifier[1L]
  classifier <- check_choice(classifier, "classifier", unique(table$classifier))
  for (name in methods) check_choice(name, "methods", unique(table$method))
  if (is.null(methods)) methods <- unique(table$method)
  table <- table[table$classifier == classifier & table$method %in% methods, ]
  best <- identical(at, "best")
  values <- if (is.null(at)) table[[other]][1L] else unique(at)
  if (!best && !all(values %in% table[[other]])) {
    ufs_abort("argument", "There are no results with ", other, " = ",
      brief(values[!values %in% table[[other]]][1L]), ".", argument = "at")
  }
  table <- if (best) best_rows(table, over) else table[table[[other]] %in% values, ]
  table <- table[is.finite(table$mean), ]
  panel <- if (!best && length(values) > 1L) paste(other, "=", table[[other]])
  # The value at its end belongs to the label, so that labels differ between panels.
  piece <- interaction(table$method, if (is.null(panel)) "" else panel, drop = TRUE)
  last <- vapply(split(table, piece), function(part) part$mean[which.max(part[[over]])], 0)
  label <- sprintf("%s %.2f", table$method, last[as.character(piece)])
  baseline <- names(Filter(function(row) row$group == "baseline", registry()))
  plain <- table$method %in% c("all", baseline) | grepl("(best of ", table$method, fixed = TRUE)
  pic <- data.frame(x = table[[over]], y = table$mean, series = table$method, label = label)
  pic$panel <- panel
  new_picture("curves", table = pic, plain = unique(table$method[plain]),
    xlab = if (over == "k") "features chosen (k)" else "samples labelled (m)",
    ylab = paste("mean", measure),
    title = sprintf("ufs_compare: %s of %s", measure, if (object$mode == "classify") classifier else "k-means"),
    subtitle = if (best) paste("best", other, "of each method") else if (is.null(panel) && !is.na(values)) {
      sprintf("%s = %s", other, values)
    })
}

# ---- what the pictures of the data need ---------------------------------------------------

# The best k columns of the data, standardised, best first, with names.
chosen_columns <- function(fit, data, k) {
  k <- check_count(k, "k", 1L)
  scored <- sum(!is.na(fit$feature_scores))
  index <- suppressMessages(selected_features(fit, min(k, scored), as = "index"))
  standardised(plain_columns(fit, data, index))
}

plain_columns <- function(fit, data, index = seq_len(fit$p)) {
  if (is.null(data)) {
    ufs_abort("argument", "This picture needs the data: plot(fit, type, data).",
      argument = "data")
  }
  # A data frame may have columns beside those of the fit that are not numeric.
  if (!is.data.frame(data)) data <- open_data(data, "data")
  at <- match_columns(fit, data, index)
  x <- suppressMessages(as_plain_matrix(data[, at, drop = FALSE], "data"))
  if (!all(is.finite(x))) {
    ufs_abort("input", "`data` has missing or infinite values.", argument = "data")
  }
  colnames(x) <- fit$names$features[index]
  x
}

standardised <- function(x) {
  z <- scale(x)
  z[!is.finite(z)] <- 0
  attributes(z)[c("scaled:center", "scaled:scale")] <- NULL
  z
}

# The classes given, or the clusters of the fit: list(of = factor, name), or NULL.
sample_groups <- function(fit, n, y) {
  if (!is.null(y)) {
    if (!is.atomic(y) || length(y) != n) {
      ufs_abort("argument", "`y` must have one class for each of the ", n, " samples; it has ",
        "length ", length(y), ".", argument = "y")
    }
    y <- droplevels(as.factor(y))
    if (nlevels(y) > 40L) {
      ufs_abort("argument", "`y` has ", nlevels(y), " different values; it must be a factor with ",
        "at most 40 classes.", argument = "y")
    }
    if (anyNA(y)) {
      y <- factor(y, levels = c(levels(y), NA), labels = c(levels(y), "(none)"), exclude = NULL)
    }
    return(list(of = y, name = "class"))
  }
  cluster <- fit$solution$cluster
  if (length(cluster) == n && length(unique(cluster)) <= 40L) {
    list(of = as.factor(cluster), name = "cluster")
  }
}

# Similar samples next to each other: within groups, along the first component; without groups,
# as a tree puts them if there are not too many.
sample_order <- function(z, group) {
  along <- first_components(z)$x
  if (!is.null(group)) {
    return(order(as.integer(group), along))
  }
  if (nrow(z) <= 1500L && nrow(z) > 2L) {
    stats::hclust(stats::dist(z), "average")$order
  } else {
    order(along)
  }
}

# Coordinates on the first two principal components by the smaller Gram matrix; signs fixed so
# that the picture is the same everywhere. One column is drawn against the row number.
first_components <- function(z) {
  z <- scale(z, TRUE, FALSE)
  if (ncol(z) == 1L) {
    return(list(x = z[, 1L], y = seq_len(nrow(z)), xlab = colnames(z), ylab = "sample"))
  }
  total <- max(sum(z^2), .Machine$double.xmin)
  wide <- ncol(z) > nrow(z)
  e <- eigen(if (wide) tcrossprod(z) else crossprod(z), symmetric = TRUE)
  value <- pmax(e$values[1:2], 0)
  map <- if (wide) e$vectors[, 1:2] * rep(sqrt(value), each = nrow(z)) else z %*% e$vectors[, 1:2]
  for (j in 1:2) {
    far <- which.max(abs(round(map[, j], 8L)))
    if (map[far, j] < 0) map[, j] <- -map[, j]
  }
  label <- sprintf("component %d (%.0f%% of the variance)", 1:2, 100 * value / total)
  list(x = unname(map[, 1L]), y = unname(map[, 2L]), xlab = label[1L], ylab = label[2L])
}

# ---- the list that both engines draw ----------------------------------------------------

# kind: "curves"  table x, y, and where there are several: series, panel; log: "y" or ""
#       "spikes"  table x, y, best, (panel); names and heading listed beside the bars
#       "tiles"   z (rows from top to bottom, with dimnames), limits, palette, text, group
#       "scatter" table x, y, circled; group
# All: title, subtitle, xlab, ylab; lines = list(h = , v = ) for reference lines.
new_picture <- function(kind, ..., title, subtitle = NULL) {
  pic <- structure(list(kind = kind, ..., title = title, subtitle = subtitle), class = "ufs_picture")
  if (kind == "curves") {
    pic$table <- pic$table[is.finite(pic$table$y), ]
    if (!nrow(pic$table)) {
      ufs_abort("argument", title, ": there is no finite value to draw.", argument = "x")
    }
  }
  pic
}

panels_of <- function(pic) {
  if (is.null(pic$table$panel)) {
    return(list(pic$table))
  }
  split(pic$table, factor(pic$table$panel, unique(pic$table$panel)))
}

# Distinguishable with any colour vision (Okabe and Ito), dark ones first.
class_colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
  "#B0A000")
class_shapes <- c(16L, 17L, 15L, 18L, 3L)

# Colours run out after eight groups: then the shape (the line type) changes as well.
group_style <- function(n) {
  i <- seq_len(n) - 1L
  list(colour = class_colours[1L + i %% 8L], shape = class_shapes[1L + (i %/% 8L) %% 5L],
    line = 1L + (i %/% 8L) %% 6L)
}
best_colour <- "#B2182B"
rest_colour <- "grey65"

tile_colours <- function(palette) {
  switch(palette,
    diverging = grDevices::hcl.colors(101L, "Blue-Red 3"),
    sequential = grDevices::hcl.colors(101L, "YlGnBu", rev = TRUE),
    presence = c("grey94", class_colours[1L])
  )
}

# At most `most` names in columns of `rows`, each cut to a width.
name_block <- function(names, rows = 25L, most = 50L) {
  if (length(names) > most) {
    names <- c(names[seq_len(most - 1L)], paste("and", length(names) - most + 1L, "more"))
  }
  columns <- max(1L, ceiling(length(names) / rows))
  list(text = shorten(names, if (columns > 1L) 12L else 18L), columns = columns, rows = rows,
    column = (seq_along(names) - 1L) %/% rows, row = (seq_along(names) - 1L) %% rows)
}

shorten <- function(names, width) {
  long <- nchar(names) > width
  names[long] <- paste0(substr(names[long], 1L, width - 2L), "..")
  names
}

# Heights for labels at the ends of curves: as near to `y` as a distance of `gap` allows.
spread_labels <- function(y, gap, low, high) {
  if (length(y) < 2L) {
    return(y)
  }
  gap <- min(gap, (high - low) / (length(y) - 1L))
  turn <- order(y)
  at <- y[turn]
  # Blocks of labels that touch share their mean shift; merge until none overlap.
  block <- as.list(seq_along(at))
  centre <- at
  repeat {
    half <- gap * (lengths(block) - 1L) / 2
    centre <- pmin(pmax(centre, low + half), high - half)
    touch <- which(diff(centre) < (half[-1L] + half[-length(half)] + gap) * (1 - 1e-9))
    if (!length(touch)) break
    i <- touch[1L]
    block[[i]] <- c(block[[i]], block[[i + 1L]])
    centre[i] <- mean(at[block[[i]]])
    block[[i + 1L]] <- NULL
    centre <- centre[-(i + 1L)]
  }
  out <- numeric(length(at))
  for (i in seq_along(block)) {
    m <- length(block[[i]])
    out[block[[i]]] <- centre[i] + gap * (seq_len(m) - (m + 1) / 2)
  }
  out[order(turn)]
}

# The end of each curve and where its label goes.
curve_ends <- function(table, log) {
  last <- lapply(split(table, factor(table$series, unique(table$series))), function(part) {
    if (is.null(part$label)) part$label <- part$series
    part[which.max(part$x), c("x", "y", "series", "label")]
  })
  last <- do.call(rbind, last)
  height <- if (log == "y") log10(last$y) else last$y
  range <- range(if (log == "y") log10(table$y) else table$y, finite = TRUE)
  at <- spread_labels(height, diff(range) / 19, range[1L], range[2L])
  last$label_y <- if (log == "y") 10^at else at
  last
}

# ---- base graphics ----------------------------------------------------------------------

draw_picture <- function(pic, ...) {
  panels <- if (pic$kind %in% c("curves", "spikes")) panels_of(pic) else list(NULL)
  if (length(panels) > 1L) {
    # Bars need width, curves height.
    many <- length(panels)
    old <- graphics::par(mfrow = if (pic$kind == "spikes") c(many, 1L) else c(1L, many),
      oma = c(0, 0, 2, 0), mar = c(4, 4, 2, .5), cex.main = 1)
    on.exit(graphics::par(old))
    for (name in names(panels)) {
      one <- pic
      one$table <- panels[[name]]
      one$title <- name
      one$lines <- c(pic$lines, pic$panel_lines[[name]])
      draw_one(one, ...)
    }
    graphics::mtext(pic$title, outer = TRUE, font = 2L)
  } else {
    draw_one(pic, ...)
  }
}

draw_one <- function(pic, ...) {
  switch(pic$kind, curves = draw_curves(pic, ...), spikes = draw_spikes(pic, ...),
    tiles = draw_tiles(pic, ...), scatter = draw_scatter(pic, ...))
}

# plot() with our settings, the user's ones in front.
draw <- function(default, ..., with = graphics::plot) {
  mine <- list(...)
  do.call(with, c(mine, default[setdiff(names(default), names(mine))]))
}

draw_lines <- function(lines) {
  if (length(lines$h)) graphics::abline(h = lines$h, lty = 3L, col = "grey40")
  if (length(lines$v)) graphics::abline(v = lines$v, lty = 3L, col = "grey40")
}

draw_subtitle <- function(pic) {
  if (!is.null(pic$subtitle)) graphics::mtext(pic$subtitle, line = .3, cex = .8 * graphics::par("cex"))
}

# Tick marks only where there are data: the rest of the axis is room for names.
ticks_within <- function(x) {
  at <- pretty(x)
  at[at >= min(x) - 1e-8 & at <= max(x) + 1e-8]
}

draw_ticks <- function(x, labels = NULL) {
  at <- if (is.null(labels)) ticks_within(x) else sort(unique(x))
  graphics::axis(1L, at, if (is.null(labels)) TRUE else labels[at])
}

draw_curves <- function(pic, ...) {
  table <- pic$table
  if (is.null(table$series)) table$series <- ""
  log <- if (is.null(pic$log)) "" else pic$log
  series <- unique(table$series)
  style <- curve_style(pic, series)
  many <- length(series) > 1L
  ends <- curve_ends(table, log)
  widest <- if (many) max(nchar(ends$label)) else 0L
  across <- range(table$x)
  # Room for the labels at the ends of the curves, in the plot region: a margin would have to
  # be put back, and points() or lines() afterwards would land elsewhere.
  room <- if (many) max(diff(across), 1e-8) * min(.6, .06 + .022 * widest) else 0
  draw(list(x = across, y = range(table$y, pic$lines$h, finite = TRUE), type = "n", log = log,
    xlim = across + c(0, room), xaxt = "n", xlab = pic$xlab, ylab = pic$ylab, main = pic$title,
    bty = "l"), ...)
  draw_ticks(table$x, pic$x_labels)
  draw_lines(pic$lines)
  for (i in seq_along(series)) {
    part <- table[table$series == series[i], ]
    graphics::lines(part$x, part$y, col = style$colour[i], lty = style$line[i], lwd = style$width[i])
    if (!isFALSE(pic$points)) graphics::points(part$x, part$y, col = style$colour[i], pch = style$shape[i])
  }
  if (many) {
    size <- .75
    from <- across[2L] + .04 * diff(across)
    graphics::segments(ends$x, ends$y, from, ends$label_y,
      col = grDevices::adjustcolor(style$colour, .6), lty = 3L)
    graphics::text(from, ends$label_y, ends$label, adj = c(-.05, .5), cex = size,
      col = style$colour, xpd = NA)
  }
  draw_subtitle(pic)
}

# Okabe-Ito by order; what the picture calls plain is thin and dashed.
curve_style <- function(pic, series) {
  style <- group_style(length(series))
  if (length(series) == 1L) style$colour <- "black"
  style$width <- rep(1.6, length(series))
  style$width[series %in% pic$plain] <- 1
  style$line[series %in% pic$plain] <- 2L
  style$shape <- rep_len(c(16L, 17L, 15L, 18L, 1L, 2L, 0L, 5L), length(series))
  style
}

draw_spikes <- function(pic, ...) {
  table <- pic$table
  many <- nrow(table)
  block <- if (!is.null(pic$names)) name_block(pic$names)
  room <- if (is.null(block)) 0 else many * c(.32, .62)[min(2L, block$columns)]
  draw(list(x = table$x, y = table$y, type = "n", xlim = c(.5, many + .5 + room),
    ylim = if (is.null(pic$ylim)) range(0, table$y) else pic$ylim, xaxt = "n", xlab = pic$xlab,
    ylab = pic$ylab, main = pic$title, bty = "l"), ...)
  # An argument of the user's that colours is meant for the bars.
  bars <- list(...)
  bars <- bars[intersect(names(bars), c("col", "border"))]
  half <- if (many > 150L) .5 else .35
  do.call(graphics::rect, c(bars, list(xleft = table$x - half, ybottom = 0, xright = table$x + half,
    ytop = table$y, border = NA, col = ifelse(table$best, best_colour, rest_colour))[
      setdiff(c("xleft", "ybottom", "xright", "ytop", "border", "col"), names(bars))]))
  draw_ticks(c(1, many))
  draw_lines(pic$lines)
  if (!is.null(block)) {
    usr <- graphics::par("usr")
    line <- (usr[4L] - usr[3L]) / (block$rows + 1.5)
    left <- many + .5 + .04 * many
    width <- (usr[2L] - left) / block$columns
    size <- min(.8, line / (1.6 * graphics::strheight("M")),
      .95 * width / max(graphics::strwidth(block$text)))
    graphics::text(left, usr[4L] - line * .5, pic$heading, adj = c(0, .5), font = 2L, cex = size)
    graphics::text(left + block$column * width, usr[4L] - line * (block$row + 1.75), block$text,
      adj = c(0, .5), cex = size)
  }
  draw_subtitle(pic)
}

draw_scatter <- function(pic, ...) {
  table <- pic$table
  groups <- levels(pic$group)
  style <- group_style(max(1L, length(groups)))
  of <- if (is.null(pic$group)) rep(1L, nrow(table)) else as.integer(pic$group)
  across <- range(table$x)
  columns <- 1L + (length(groups) > 20L)
  room <- if (length(groups)) {
    diff(across) * min(.6, columns * (.1 + .02 * max(nchar(shorten(groups, 16L)))))
  } else 0
  draw(list(x = table$x, y = table$y, pch = style$shape[of], cex = if (nrow(table) > 2000L) .5 else .9,
    col = grDevices::adjustcolor(style$colour[of], if (nrow(table) > 500L) .6 else .9),
    xlim = across + c(0, room), xlab = pic$xlab, ylab = pic$ylab, main = pic$title, bty = "l"), ...)
  if (any(table$circled)) {
    graphics::points(table$x[table$circled], table$y[table$circled], pch = 1L, cex = 2, lwd = 2)
  }
  if (length(groups)) {
    usr <- graphics::par("usr")
    graphics::legend(across[2L] + .03 * diff(across), usr[4L], legend = shorten(groups, 16L),
      title = pic$group_name, pch = style$shape, col = style$colour, bty = "n", cex = .8,
      ncol = columns, xpd = NA)
  }
  draw_subtitle(pic)
}

draw_tiles <- function(pic, ...) {
  z <- pic$z
  rows <- nrow(z)
  columns <- ncol(z)
  colours <- tile_colours(pic$palette)
  labels <- shorten(colnames(z), 20L)
  row_labels <- if (isTRUE(pic$row_labels)) shorten(rownames(z), 20L)
  upright <- isTRUE(pic$upright) && max(nchar(labels)) * columns < 60L
  # A letter is about .6 of a line high; names are made as small as their columns need.
  left_side <- if (length(row_labels)) min(11, 3 + .5 * max(nchar(row_labels))) else 2.6
  line <- graphics::par("cin")[2L] * graphics::par("cex")
  each <- (graphics::par("fin")[1L] - (left_side + 1) * line) / (1.35 * columns)
  size <- name_size(each, line)$size
  old <- graphics::par(mar = c(if (upright) 4 else 2.4 + .52 * size * max(nchar(labels)),
    left_side, 3.2, 1))
  on.exit(graphics::par(old))
  strip <- if (is.null(pic$group)) 0 else max(.3, .03 * columns)
  key <- isTRUE(is.null(pic$key) || pic$key)
  names_width <- if (is.null(pic$group)) 5L else max(5L, nchar(shorten(levels(pic$group), 14L)))
  room <- if (key || !is.null(pic$group)) columns * (.12 + .016 * names_width) + .3 else 0
  draw(list(x = c(.5 - 1.4 * strip, columns + .5 + room), y = c(.5, rows + .5), type = "n",
    xaxs = "i", yaxs = "i", axes = FALSE, xlab = "", ylab = "", main = pic$title), ...)
  graphics::image(seq_len(columns), seq_len(rows), t(z[rows:1, , drop = FALSE]), col = colours,
    zlim = pic$limits, add = TRUE, useRaster = rows * columns > 4000L)
  if (isTRUE(pic$row_labels)) {
    graphics::segments(.5, seq_len(rows - 1L) + .5, columns + .5, col = "white")
    graphics::segments(seq_len(columns - 1L) + .5, .5, y1 = rows + .5, col = "white")
  }
  graphics::rect(.5, .5, columns + .5, rows + .5, border = "grey40")
  # Names never overlap: first smaller, then only every second, third ...
  wide <- graphics::par("pin")[1L] / diff(graphics::par("usr")[1:2])
  tall <- graphics::par("pin")[2L] / rows
  axis_names(1L, seq_len(columns), labels, wide, if (upright) 0L else 2L)
  if (length(row_labels)) axis_names(2L, rows:1, row_labels, tall, 2L)
  graphics::mtext(pic$xlab, 1L, line = graphics::par("mar")[1L] - 1.2)
  graphics::mtext(pic$ylab, 2L, line = graphics::par("mar")[2L] - 1.4)
  if (isTRUE(pic$text)) {
    middle <- mean(pic$limits)
    cell <- ifelse(is.na(z), "", format_cells(z))
    size <- min(.9, .85 * wide / max(graphics::strwidth(cell, "inches")),
      .7 * tall / graphics::strheight("8", "inches"))
    if (size > .3) {
      graphics::text(col(z), rows + 1 - row(z), cell, cex = size,
        col = ifelse(!is.na(z) & z > middle, "white", "black"))
    }
  }
  left <- columns + .5 + .04 * columns + .1
  below <- rows + .5
  if (!is.null(pic$group)) {
    style <- group_style(nlevels(pic$group))
    at <- rle(as.integer(pic$group))
    end <- cumsum(at$lengths)
    graphics::rect(.5 - 1.3 * strip, rows + .5 - end, .5 - .3 * strip,
      rows + .5 - (end - at$lengths), col = style$colour[at$values], border = "white", lwd = .5)
    box <- graphics::legend(left, rows + .5, legend = shorten(levels(pic$group), 14L),
      fill = style$colour, border = NA, title = pic$group_name, bty = "n", cex = .75,
      ncol = 1L + (nlevels(pic$group) > 20L))
    below <- box$rect$top - box$rect$h
  }
  if (key) draw_key(left, below, rows, columns, colours, pic)
  draw_subtitle(pic)
}

draw_key <- function(left, below, rows, columns, colours, pic) {
  at <- pretty(pic$limits, 4L)
  at <- at[at >= pic$limits[1L] & at <= pic$limits[2L]]
  line <- 1.2 * graphics::strheight("8", cex = .75)
  high <- min(.35 * rows, below - .5 - 4 * line)
  bottom <- below - 3 * line - high
  wide <- .035 * columns + .1
  graphics::rasterImage(as.raster(matrix(rev(colours))), left, bottom, left + wide,
    bottom + high, interpolate = FALSE)
  share <- (at - pic$limits[1L]) / diff(pic$limits)
  fits <- high / max(1L, length(at) - 1L) > line
  if (!fits) {
    at <- pic$limits
    share <- 0:1
  }
  graphics::text(left + 1.2 * wide, bottom + share * high, format(at, trim = TRUE), adj = c(0, .5),
    cex = .7)
  graphics::text(left, bottom + high + 1.5 * line, pic$value, adj = c(0, .5), cex = .75)
}

axis_names <- function(side, at, labels, each, las) {
  fit <- if (las == 2L) name_size(each, graphics::par("cin")[2L]) else list(size = .8, every = 1L)
  size <- fit$size
  every <- fit$every
  show <- seq(1L, length(at), by = every)
  graphics::axis(side, at[show], FALSE, tick = length(at) <= 60L, tcl = -.2, lwd = 0, lwd.ticks = .5)
  # Not axis(): it leaves out labels that it thinks would overlap.
  graphics::mtext(labels[show], side, at = at[show], las = las, cex = size * graphics::par("cex"),
    line = .4)
}

# Names side by side, `each` inches for one and `line` inches high at full size: their size, and
# which of them to show so that the size stays readable.
name_size <- function(each, line) {
  size <- min(.8, .95 * each / line)
  every <- 1L
  if (size < .42) {
    every <- as.integer(ceiling(.42 * line / (.95 * each)))
    size <- .42
  }
  list(size = size, every = every)
}

format_cells <- function(z) format(signif(z, 3L), trim = TRUE, digits = 3L)

# ---- ggplot2 ----------------------------------------------------------------------------

ggplot_picture <- function(pic) {
  check_installed("ggplot2", "for autoplot()")
  out <- switch(pic$kind, curves = ggplot_curves(pic), spikes = ggplot_spikes(pic),
    tiles = ggplot_tiles(pic), scatter = ggplot_scatter(pic))
  out + ggplot2::labs(title = pic$title, subtitle = pic$subtitle, x = pic$xlab, y = pic$ylab) +
    ggplot2::theme(plot.title = ggplot2::element_text(size = 12, face = "bold"),
      panel.grid.minor = ggplot2::element_blank())
}

column <- function(name) {
  force(name)
  as.call(list(as.name("[["), as.name(".data"), name))
}

# aes() from names of columns, without a word in it that R CMD check does not know.
aes_of <- function(...) do.call(ggplot2::aes, lapply(list(...), column))

ggplot_curves <- function(pic) {
  table <- pic$table
  if (is.null(table$series)) table$series <- ""
  log <- if (is.null(pic$log)) "" else pic$log
  series <- unique(table$series)
  table$series <- factor(table$series, series)
  style <- curve_style(pic, series)
  by <- function(values) stats::setNames(values, series)
  p <- ggplot2::ggplot(table, aes_of(x = "x", y = "y", colour = "series")) +
    ggplot2::theme_minimal() +
    ggplot2::geom_line(aes_of(linetype = "series")) +
    ggplot2::scale_colour_manual(values = by(style$colour), guide = "none") +
    ggplot2::scale_linetype_manual(values = by(style$line), guide = "none") +
    ggplot2::scale_shape_manual(values = by(style$shape), guide = "none")
  if (!isFALSE(pic$points)) p <- p + ggplot2::geom_point(aes_of(shape = "series"))
  if (log == "y") p <- p + ggplot2::scale_y_log10()
  if (!is.null(table$panel)) {
    table$panel <- factor(table$panel, unique(table$panel))
    p <- p + ggplot2::facet_wrap("panel", scales = "free")
  }
  if (length(series) > 1L) {
    ends <- do.call(rbind, lapply(panels_of(pic), function(part) {
      part$series <- as.character(part$series)
      cbind(curve_ends(part, log), panel = if (is.null(part$panel)) "" else part$panel[1L],
        from = max(part$x) + .03 * diff(range(part$x)),
        edge = max(part$x) + diff(range(part$x)) *
          min(.6, .06 + .022 * max(nchar(c(part$label, part$series)))))
    }))
    if (is.null(table$panel)) ends$panel <- NULL
    ends$series <- factor(ends$series, series)
    p <- p +
      ggplot2::geom_segment(ggplot2::aes(x = .data[["x"]], xend = .data[["from"]], y = .data[["y"]],
        yend = .data[["label_y"]], colour = .data[["series"]]), data = ends, linetype = 3L) +
      ggplot2::geom_text(aes_of(x = "from", y = "label_y", label = "label", colour = "series"),
        data = ends, hjust = -.03, size = 3) +
      ggplot2::geom_blank(aes_of(x = "edge", y = "label_y"), data = ends)
  }
  if (!is.null(pic$x_labels)) {
    p <- p + ggplot2::scale_x_continuous(breaks = sort(unique(table$x)), labels = pic$x_labels[sort(unique(table$x))])
  } else if (is.null(table$panel)) {
    p <- p + ggplot2::scale_x_continuous(breaks = ticks_within(table$x))
  }
  ggplot_lines(p, pic)
}

ggplot_lines <- function(p, pic) {
  if (length(pic$lines$h)) p <- p + ggplot2::geom_hline(yintercept = pic$lines$h, linetype = 3L, colour = "grey40")
  if (length(pic$lines$v)) p <- p + ggplot2::geom_vline(xintercept = pic$lines$v, linetype = 3L, colour = "grey40")
  p
}

ggplot_spikes <- function(pic) {
  table <- pic$table
  many <- nrow(table)
  table$best <- factor(table$best, c(TRUE, FALSE))
  p <- ggplot2::ggplot(table, aes_of(x = "x", y = "y")) +
    ggplot2::theme_minimal() +
    ggplot2::geom_col(aes_of(fill = "best"), width = if (many > 300L) 1 else .7) +
    ggplot2::scale_fill_manual(values = c(`TRUE` = best_colour, `FALSE` = rest_colour), guide = "none")
  if (!is.null(table$panel)) {
    table$panel <- factor(table$panel, unique(table$panel))
    p$data <- table
    p <- p + ggplot2::facet_wrap("panel", scales = "free", ncol = 1L)
  }
  if (!is.null(pic$ylim)) p <- p + ggplot2::coord_cartesian(ylim = pic$ylim)
  if (!is.null(pic$names)) {
    block <- name_block(pic$names)
    top <- max(pic$ylim, table$y, 0)
    low <- min(pic$ylim, table$y, 0)
    line <- (top - low) / (block$rows + 1)
    left <- many + .5 + .04 * many
    width <- many * .3
    names <- data.frame(x = left + block$column * width, y = top - line * (block$row + 1),
      label = block$text)
    p <- p +
      ggplot2::geom_text(aes_of(x = "x", y = "y", label = "label"), data = names, hjust = 0,
        size = 2.8) +
      ggplot2::annotate("text", x = left, y = top, label = pic$heading, hjust = 0, size = 2.8,
        fontface = "bold") +
      ggplot2::expand_limits(x = left + block$columns * width) +
      ggplot2::scale_x_continuous(breaks = ticks_within(c(1, many)))
  }
  ggplot_lines(p, pic)
}

ggplot_scatter <- function(pic) {
  table <- pic$table
  p <- ggplot2::ggplot(table, aes_of(x = "x", y = "y")) + ggplot2::theme_minimal()
  if (is.null(pic$group)) {
    p <- p + ggplot2::geom_point(colour = class_colours[1L], alpha = .8)
  } else {
    style <- group_style(nlevels(pic$group))
    p$data$group <- pic$group
    p <- p + ggplot2::geom_point(aes_of(colour = "group", shape = "group"), alpha = .8) +
      ggplot2::scale_colour_manual(values = style$colour, name = pic$group_name) +
      ggplot2::scale_shape_manual(values = style$shape, name = pic$group_name)
  }
  if (any(table$circled)) {
    p <- p + ggplot2::geom_point(data = table[table$circled, ], shape = 1L, size = 3.6, stroke = 1)
  }
  p
}

ggplot_tiles <- function(pic) {
  z <- pic$z
  table <- data.frame(x = as.vector(col(z)), y = nrow(z) + 1L - as.vector(row(z)),
    value = as.vector(z))
  every <- max(1L, ceiling(ncol(z) / 80))
  show <- seq(1L, ncol(z), by = every)
  p <- ggplot2::ggplot(table, aes_of(x = "x", y = "y", fill = "value")) +
    ggplot2::theme_minimal() +
    (if (isTRUE(pic$row_labels)) ggplot2::geom_tile(colour = "white") else ggplot2::geom_raster()) +
    ggplot2::scale_fill_gradientn(colours = tile_colours(pic$palette), limits = pic$limits,
      name = pic$value, na.value = "white",
      guide = if (isTRUE(is.null(pic$key) || pic$key)) "colourbar" else "none") +
    ggplot2::scale_x_continuous(breaks = show, labels = shorten(colnames(z), 20L)[show],
      expand = c(0, 0)) +
    ggplot2::theme(panel.grid = ggplot2::element_blank(),
      axis.text.x = ggplot2::element_text(angle = if (isTRUE(pic$upright)) 0 else 90,
        hjust = if (isTRUE(pic$upright)) .5 else 1, vjust = .5, size = min(9, 330 / length(show))))
  if (isTRUE(pic$row_labels)) {
    show <- seq(1L, nrow(z), by = max(1L, ceiling(nrow(z) / 60)))
    p <- p + ggplot2::scale_y_continuous(breaks = nrow(z) + 1L - show,
      labels = shorten(rownames(z), 20L)[show], expand = c(0, 0)) +
      ggplot2::theme(axis.text.y = ggplot2::element_text(size = min(9, 260 / length(show))))
  } else {
    p <- p + ggplot2::scale_y_continuous(breaks = NULL, expand = c(0, 0))
  }
  if (isTRUE(pic$text)) {
    table$label <- ifelse(is.na(table$value), "", format_cells(as.vector(z)))
    table$dark <- ifelse(!is.na(table$value) & table$value > mean(pic$limits), "white", "black")
    p <- p + ggplot2::geom_text(aes_of(label = "label"), data = table, colour = table$dark,
      size = min(3.5, 60 / ncol(z), 80 / nrow(z)))
  }
  if (!is.null(pic$group)) {
    style <- group_style(nlevels(pic$group))
    strip <- max(.3, .03 * ncol(z))
    table <- data.frame(x = .5 - .8 * strip, y = nrow(z):1, group = pic$group)
    # One fill scale a plot: the strip is made of points that cover its rows.
    p <- p + ggplot2::geom_segment(ggplot2::aes(x = .data[["x"]], xend = .data[["x"]],
      y = .data[["y"]] - .5, yend = .data[["y"]] + .5, colour = .data[["group"]]), data = table,
      linewidth = 3.5, inherit.aes = FALSE) +
      ggplot2::scale_colour_manual(values = style$colour, name = pic$group_name) +
      ggplot2::expand_limits(x = .5 - 1.5 * strip)
  }
  p
}

utils::globalVariables(".data")
