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
  check_fit(x)
  k <- picture_size(x, k)
  draw_picture(picture(x, picture_type(x, type), k = k, data = data, y = y, m = m), ...)
  invisible(x)
}

#' @rdname plot.ufs
#' @exportS3Method ggplot2::autoplot
autoplot.ufs <- function(object, type = NULL, data = NULL, k = NULL, y = NULL, m = NULL, ...) {
  check_dots_empty(...)
  check_fit(object)
  k <- picture_size(object, k)
  ggplot_picture(picture(object, picture_type(object, type), k = k, data = data, y = y, m = m))
}

# How many features or samples to show: what the method was asked for, or 10.
picture_size <- function(fit, k) {
  if (!is.null(k)) {
    features <- !is.null(fit$feature_scores)
    return(check_count(k, "k", 1L, if (features) fit$p else fit$n,
      if (features) "the features" else "the samples"))
  }
  asked <- fit$params[[if (is.null(fit$feature_scores)) "m" else "k"]]
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
  # A picture is some hundreds of dots wide: of many bars every n-th is enough.
  shown <- c(seq_len(min(k, 500L)), seq(1L, length(sorted), by = ceiling(length(sorted) / 1000)), k)
  shown <- sort(unique(shown))
  new_picture("spikes", table = data.frame(x = shown, y = sorted[shown], best = shown <= k),
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
  z <- if (features) chosen_columns(fit, data, k) else all_columns(fit, data)
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
  check_given(fits)
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
  cat("Share of the selection in common (", format(x$chance, digits = 2L), " by chance):\n",
    sep = "")
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
    return(new_picture("tiles", z = object$shared, limits = c(0, 1), palette = "sequential",
      text = TRUE,
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
plot.ufs_list <- function(x, k = min(10L, x[[1L]]$p), what = c("pairs", "features"), ...) {
  draw_picture(picture(ufs_overlap(x, k), what), ...)
  invisible(x)
}

#' @rdname ufs_overlap
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_list <- function(object, k = min(10L, object[[1L]]$p),
                              what = c("pairs", "features"), ...) {
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
  have <- c(if (!is.null(object$frequency)) "features",
    if (!is.null(object$sample_frequency)) "samples")
  what <- if (identical(what, c("features", "samples"))) have[[1L]] else check_choice(what, "what",
    have)
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
#'   of a grid (its seconds if the method has no objective) and the criterion of a tuning; or a
#'   numeric vector with one value per setting,
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
  new_picture("tiles", z = cells, limits = limits, palette = "sequential", text = TRUE,
    value = what,
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
#' @examplesIf requireNamespace("clue", quietly = TRUE)
#' set.seed(1)
#' out <- ufs_compare(iris[, 1:4], iris$Species, c("pca", "laplacian"), k = 1:3, mode = "cluster",
#'   repeats = 2, n_random = 3)
#' plot(out, measure = "ari")
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
    title = sprintf("ufs_compare: %s of %s", measure,
      if (object$mode == "classify") classifier else "k-means"),
    subtitle = if (best) paste("best", other, "of each method") else if (is.null(panel) &&
      !is.na(values)) {
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

# All columns, standardised; of data that are not a matrix, points with the same distances.
all_columns <- function(fit, data) {
  if (is.null(data) || is.data.frame(data) || open_data(data, "data")$kind == "dense") {
    return(standardised(plain_columns(fit, data)))
  }
  match_columns(fit, data)
  x <- as_ufs_operator(data, TRUE, TRUE, warn = FALSE, arg = "data")$x
  structure(sample_points(x), total = sum(x_ss(x)))
}

plain_columns <- function(fit, data, index = seq_len(fit$p)) {
  if (is.null(data)) {
    ufs_abort("argument", "This picture needs the data: plot(fit, type, data).",
      argument = "data")
  }
  x <- new_columns(fit, data, index, "data")
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
  total <- attr(z, "total")
  z <- scale(z, TRUE, FALSE)
  if (ncol(z) == 1L) {
    return(list(x = z[, 1L], y = seq_len(nrow(z)), xlab = colnames(z), ylab = "sample"))
  }
  if (is.null(total)) total <- max(sum(z^2), .Machine$double.xmin)
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
