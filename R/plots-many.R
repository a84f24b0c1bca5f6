# Pictures of several fits: overlap, stability, grids, comparisons (how a picture is made: plots.R).

# ---- pictures of several fits -------------------------------------------------------------

#' How far selections agree
#'
#' Compares the best `k` features of several fits: which features they share, and how much of
#' each pair of selections is common. Use it to see whether methods, or settings, choose the same
#' features. `plot()` draws the shares of all pairs or, with `what = "features"`, which feature was
#' chosen by which fit.
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
  chosen <- t(members_of(index, p))
  dimnames(chosen) <- list(fits[[1L]]$names$features, names(fits))
  best_rank <- do.call(pmin, lapply(fits, function(fit) order(unname(fit$feature_ranking))))
  turn <- order(-rowSums(chosen), best_rank, seq_len(p))
  selected <- chosen[turn[seq_len(sum(rowSums(chosen) > 0L))], , drop = FALSE]
  structure(list_of(shared = crossprod(chosen + 0) / k, selected, chance = k / p, k, p),
    class = "ufs_overlap")
}

#' @export
print.ufs_overlap <- function(x, digits = 2L, ...) {
  put("<ufs_overlap> ", ncol(x$selected), " fits, best ", x$k, " of ", x$p, " features: ",
    nrow(x$selected), " different ones, ", sum(rowSums(x$selected) == ncol(x$selected)),
    " in all fits")
  put("Share of the selection in common (", format(x$chance, digits = 2L), " by chance):")
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
  show_picture(x, picture(x, what), ...)
}

#' @rdname ufs_overlap
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_overlap <- function(object, what = c("pairs", "features"), ...) {
  ggplot_picture(picture(object, what), ...)
}

#' @export
picture.ufs_overlap <- function(object, what, ...) {
  pairs <- check_choice(what, "what", c("pairs", "features")) == "pairs"
  shown <- if (pairs) object$shared else utils::head(object$selected, 40L) + 0
  new_picture("tiles", z = shown, limits = c(0, 1), text = pairs, key = FALSE, row_labels = TRUE,
    palette = if (pairs) "sequential" else "presence", upright = TRUE, xlab = "", ylab = "",
    title = sprintf(if (pairs) "Share of the best %d of %d features in common" else
      "Chosen among the best %d of %d features", object$k, object$p),
    subtitle = if (pairs) {
      sprintf("%s by chance", format(object$chance, digits = 2L))
    } else if (nrow(object$selected) > nrow(shown)) {
      sprintf("the %d chosen most often of %d", nrow(shown), nrow(object$selected))
    })
}

#' @rdname ufs_overlap
#' @export
c.ufs <- function(...) structure(list(...), class = "ufs_list")

#' @rdname ufs_overlap
#' @export
plot.ufs_list <- function(x, k = min(10L, x[[1L]]$p), what = c("pairs", "features"), ...) {
  show_picture(x, picture(ufs_overlap(x, k), what), ...)
}

#' @rdname ufs_overlap
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_list <- function(object, k = min(10L, object[[1L]]$p),
                              what = c("pairs", "features"), ...) {
  ggplot_picture(picture(ufs_overlap(object, k), what), ...)
}

#' @export
print.ufs_list <- function(x, ...) {
  for (fit in x) if (inherits(fit, "ufs")) check_fit(fit)
  put("<ufs_list> ", length(x), " fits")
  Map(function(name, fit) put("  ", name, ": ", if (!inherits(fit, "ufs")) kind_of(fit) else
    paste0("ufs_", fit$method, ", ", size_words(fit$n, fit$p))), labels_of(names(x), length(x)), x)
  invisible(x)
}

# Fits of the same features, with different names.
check_fits <- function(fits) {
  if (inherits(fits, "ufs") || !is.list(fits) || length(fits) < 2L ||
      !all(vapply(fits, inherits, NA, "ufs"))) {
    refuse("fits", "`fits` must be a list of at least two fits of this package.")
  }
  for (fit in fits) {
    check_fit(fit, "feature_ranking", "features")
    if (fit$p != fits[[1L]]$p || !identical(fit$names$features, fits[[1L]]$names$features)) {
      refuse("fits", "`fits` must be fits of the same features.")
    }
  }
  given <- names_of(fits)
  empty <- is.na(given) | given == ""
  given[empty] <- vapply(fits[empty], `[[`, "", "method")
  stats::setNames(unclass(fits), make.unique(given, " "))
}

#' Which features, or samples, are chosen again and again
#'
#' Shows how often each feature was among the best `k` of the resamples, most frequent first, with
#' the first `k` in red and named. Use it to see which of the chosen features would be chosen again.
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
  show_picture(x, picture(x, what), ...)
}

#' @rdname plot.ufs_stability
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_stability <- function(object, what = c("features", "samples"), ...) {
  ggplot_picture(picture(object, what), ...)
}

#' @export
picture.ufs_stability <- function(object, what, ...) {
  have <- c(if (!is.null(object$frequency)) "features",
    if (!is.null(object$sample_frequency)) "samples")
  if (identical(what, c("features", "samples"))) what <- have[[1L]]
  features <- check_choice(what, "what", have) == "features"
  value <- if (features) object$frequency else object$sample_frequency
  label <- labels_of(names(value), length(value))
  turn <- order(-value, seq_along(value), na.last = NA)
  n <- if (features) object$k else object$m
  value <- unname(value[turn])
  # The long tail of what was never chosen says nothing.
  shown <- seq_len(min(length(value), max(n + 2L, sum(value > 0))))
  new_picture("spikes", table = data.frame(x = shown, y = value[shown], best = shown <= n),
    names = label[turn][seq_len(min(n, length(turn)))], ylim = c(0, 1),
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
#' Draws a result of the settings as a heat map over two arguments, or as a curve over one. Use it
#' to see how much the choice depends on the settings.
#'
#' @param x,object A [ufs_grid()] or [ufs_tune()] result.
#' @param y Not used.
#' @param value What to show: a numeric column of `as.data.frame(x)`, or a numeric vector with one
#'   value per setting, for example an accuracy. The default is the criterion of a tuning; and of a
#'   grid the share of its best ten features that a setting has in common with the other settings,
#'   on average: where it is large, the choice hardly depends on the setting. Not the objective:
#'   settings with different penalties minimise different objectives.
#' @param over Names of one or two arguments that span the picture; by default the first
#'   two that vary. Values are averaged over the others.
#' @param ... Graphical parameters for `plot()`.
#' @return `plot()` returns the object, invisibly; `autoplot()` a ggplot.
#' @examples
#' grid <- ufs_grid(iris[, 1:4], "pca", list(n_components = 1:3, scale = c(TRUE, FALSE)))
#' plot(grid, value = "seconds")
#' @export
plot.ufs_grid <- function(x, y = NULL, value = NULL, over = NULL, ...) {
  show_picture(x, picture(x, value, over), ...)
}

#' @rdname plot.ufs_grid
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_grid <- function(object, value = NULL, over = NULL, ...) {
  ggplot_picture(picture(object, value, over), ...)
}

#' @rdname plot.ufs_grid
#' @export
plot.ufs_tune <- function(x, y = NULL, value = x$criterion[1L], over = NULL, ...) {
  show_picture(x, picture(x, value, over), ...)
}

#' @rdname plot.ufs_grid
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_tune <- function(object, value = object$criterion[1L], over = NULL, ...) {
  ggplot_picture(picture(object, value, over), ...)
}

#' @export
picture.ufs_grid <- function(object, value, over, ...) {
  table <- as.data.frame(object)
  what <- if (is.character(value)) value else "value"
  if (is.null(value)) {
    value <- agreement(object)
    what <- "agreement"
    if (all(is.na(value))) value <- what <- "seconds"
  }
  if (is.character(value)) {
    value <- check_choice(value, "value", names(table)[vapply(table, is.numeric, NA)])
    value <- table[[value]]
  }
  if (!is.numeric(value) || length(value) != nrow(table) || !any(is.finite(value))) {
    refuse("value", "`value` must name a column or have one number per setting.")
  }
  settings <- object$settings
  varies <- names(settings)[vapply(settings, function(v) length(unique(v)) > 1L, NA)]
  if (is.null(over)) over <- utils::head(c(varies, names(settings)), 2L)
  over <- unique(over)
  if (!length(over) || length(over) > 2L || !all(over %in% names(settings))) {
    refuse("over", "`over` must name one or two columns of the grid.")
  }
  level <- lapply(settings[over], function(v) sort(unique(unlist(v))))
  at <- Map(function(v, l) factor(match(unlist(v), l), seq_along(l)), settings[over], level)
  value[!is.finite(value)] <- NA
  mean_value <- tapply(value, at, mean, na.rm = TRUE)
  others <- setdiff(varies, over)
  subtitle <- c(if (what == "agreement") "share of the best features in common with other settings",
    if (length(others)) paste("mean over", paste(others, collapse = ", ")))
  if (length(subtitle)) subtitle <- paste(subtitle, collapse = "; ")
  title <- sprintf("ufs_%s: %s over %s", object$method, what, paste(over, collapse = " and "))
  words <- lapply(level, format, digits = 3L, trim = TRUE)
  if (length(over) == 1L) {
    return(new_picture("curves", table = data.frame(x = seq_along(level[[1L]]),
      y = as.vector(mean_value)), x_labels = words[[1L]], xlab = over, ylab = what, title = title,
      subtitle = subtitle))
  }
  # The first argument runs to the right, the second upwards.
  dimnames(mean_value) <- unname(words)
  cells <- t(mean_value)[rev(seq_along(level[[2L]])), , drop = FALSE]
  cells[!is.finite(cells)] <- NA
  limits <- range(cells, na.rm = TRUE)
  if (diff(limits) == 0) limits <- limits + c(-1, 1) * max(abs(limits[1L]), 1) * .01
  new_picture("tiles", z = cells, limits = limits, palette = "sequential", text = TRUE,
    value = what, row_labels = TRUE, upright = TRUE, xlab = over[1L], ylab = over[2L],
    title = title, subtitle = subtitle)
}

# Of each setting of a grid: the mean share of its best features that another one has among its own.
agreement <- function(object, most = 10L) {
  ranking <- object$feature_rankings
  if (is.null(ranking) || ncol(ranking) < 2L) return(rep(NA_real_, nrow(object$settings)))
  top <- ranking[seq_len(min(most, nrow(ranking))), , drop = FALSE]
  vapply(seq_len(ncol(top)), function(i) {
    others <- top[, -i, drop = FALSE]
    mean(colMeans(matrix(others %in% top[, i], nrow(others)))[!is.na(others[1L, ])])
  }, 0)
}

#' Curves of a comparison
#'
#' Draws one curve for each method, with its name and last value at the end, so that the order of
#' the methods can be read without a legend. Baselines are grey, thin and dashed. With one value of
#' `k` (or `m`) there is one line of a dot plot for each method, the best on top. Bars are one
#' standard deviation to either side; the picture says of what. All values are per cent.
#'
#' @param x,object A [ufs_compare()] result.
#' @param y Not used.
#' @param over `"k"` or `"m"`: what the horizontal axis shows; the default is what varies.
#' @param measure `"accuracy"`, or `"nmi"` or `"ari"` in cluster mode.
#' @param classifier Which classifier; the first by default.
#' @param at Values of the other one of k and m, a panel for each; its first by default. `"best"`
#'   takes for every method the value at which its mean is largest, judged with the labels.
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
  show_picture(x, picture(x, over, measure, classifier, at, methods), ...)
}

#' @rdname plot.ufs_compare
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_compare <- function(object, over = NULL, measure = "accuracy", classifier = NULL,
                                 at = NULL, methods = NULL, ...) {
  ggplot_picture(picture(object, over, measure, classifier, at, methods), ...)
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
    refuse("at", "There are no results with ", other, " = ",
      brief(values[!values %in% table[[other]]][1L]), ".")
  }
  table <- if (best) best_rows(table, over) else table[table[[other]] %in% values, ]
  table <- table[is.finite(table$mean), ]
  baseline <- names(Filter(function(row) row$group == "baseline", registry()))
  shown <- unique(table$method)
  plain <- shown[shown %in% c("all", baseline) | grepl("(best of ", shown, fixed = TRUE)]
  one <- length(values) == 1L
  said <- c(if (best) paste("best", other, "of each method") else
    if (one && !is.na(values)) sprintf("%s = %s", other, values),
  if (any(table$sd > 0, na.rm = TRUE)) {
    sprintf("bars: standard deviation over %d %s", object$repeats, repeat_words(object))
  })
  spread <- ifelse(is.na(table$sd), 0, table$sd)
  pic <- data.frame(x = table[[over]], y = table$mean, series = table$method,
    low = table$mean - spread, high = table$mean + spread)
  title <- sprintf("ufs_compare: %s of %s", measure,
    if (object$mode == "classify") classifier else "k-means")
  ylab <- paste0("mean ", measure, ", per cent")
  if (length(unique(pic$x)) == 1L && (best || one)) {
    pic <- pic[order(-pic$y, pic$series %in% plain), ]
    names(pic)[2L] <- "value"
    return(new_picture("dots", table = pic, plain = plain, percent = TRUE, xlab = ylab,
      ylab = "", title = title,
      subtitle = paste(c(sprintf("%s = %s", over, pic$x[1L]), said), collapse = "; ")))
  }
  panel <- if (!best && !one) paste(other, "=", table[[other]])
  # The value at its end belongs to the label, so that labels differ between panels.
  piece <- interaction(table$method, if (is.null(panel)) "" else panel, drop = TRUE)
  last <- vapply(split(table, piece), function(part) part$mean[which.max(part[[over]])], 0)
  pic$label <- sprintf("%s %.0f", table$method, 100 * last[as.character(piece)])
  pic$panel <- panel
  new_picture("curves", table = pic, plain = plain, percent = TRUE,
    xlab = if (over == "k") "features chosen (k)" else "samples labelled (m)", ylab = ylab,
    title = title, subtitle = if (length(said)) paste(said, collapse = "; "))
}

# What the repeats of a comparison repeat.
repeat_words <- function(object) if (object$mode == "classify") "splits" else "runs of k-means"
