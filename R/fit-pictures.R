# Pictures. What a picture shows is worked out once, as a plain list of class ufs_picture;
# plot() draws it with base graphics and autoplot() with ggplot2, so that both show the same.

# ---- plot() and autoplot() --------------------------------------------------------------

#' Plots of a fit
#'
#' `plot(fit)` shows what [ufs_select()] chose, with its scores or the variance that it explains. Of
#' a method called by its name it shows how the objective fell and beside it the scores, if the
#' method iterates; what share of the data the first choices hold, if it chooses one after the
#' other; and the sorted scores of all others. `plot(fit, "heatmap", x)` and
#' `plot(fit, "embedding", x)` show the data through the chosen features: as a heat map with the
#' samples ordered by cluster, and as a map of the samples. `autoplot()` draws the same pictures
#' with ggplot2, one at a time: `autoplot(fit)` of an iterative method is its objective.
#'
#' Two pictures are drawn where the page has room for both, is not divided already (by
#' `par(mfrow = )` or `layout()`), and no graphical parameters are given; else the first of them.
#'
#' @param x,object A fit.
#' @param type What to show:
#'   * `"curve"`: the mean over the rows of columns that are points of a curve, such as the
#'     wavelengths of a spectrum, with upright lines at the best `k`. It is the default where the
#'     means of at least 20 columns in their order are a smooth curve (correlation of neighbours
#'     above .985, also of their ranks);
#'   * `"objective"`: the objective at each iteration;
#'   * `"share"`: the share of the data that the best 1, 2, ... features hold, beside the largest
#'     share that as many directions can hold (see [ufs_captured()]). [ufs_css()],
#'     [ufs_facility()] and greedy [ufs_ted()] know their own share; other methods need `data`;
#'   * `"groups"`: how many samples each chosen one stands for ([ufs_medoids()]);
#'   * `"choice"`: after [ufs_consensus()] and [ufs_diversify()], which weigh the rank of a column
#'     against its correlations, a line for each of the best `k` in the order of choice: from what
#'     its rank is worth to what is left. Those of the best ranks that were passed over follow in
#'     grey;
#'   * `"scores"`, `"samples"`: feature or sample scores, largest first, with the best `k` in
#'     red. Scores that hardly differ are points on a scale of their own. Where the scores are mere
#'     ranks, what the method measured is drawn, if it measured something;
#'   * `"chosen"`: the names of the best `k` with their scores (at most 40), and in grey those that
#'     come next;
#'   * `"heatmap"`: samples by the best `k` features, each column standardised and cut at three
#'     standard deviations. Three to 100 features are ordered by a tree (average linkage of
#'     1 - |r|); others are in the order of their ranking;
#'   * `"embedding"`: the first two principal components of the best `k` features, standardised.
#'     A method that only selects samples shows all features. Chosen samples are circled;
#'   * `"biplot"`: the same map with an arrow for each of the features. It points to where the
#'     feature is large, and is the longer the more of the feature the two components explain;
#'   * `"representatives"`: after [ufs_css()], how similar each feature is to the chosen ones, as
#'     |r|: a heat map with every feature below the one that stands for it, see
#'     [representatives()]. Of more than 36 features the most similar ones are shown.
#'   * `"size"`: after [ufs_select()] with `k = "auto"`, what was measured for each number of
#'     features, with the range over halves of the rows; the vertical line is the answer.
#'
#'   Some methods add types of their own, see their help pages.
#' @param data The data that were given to the method, or new data with the same columns; only
#'   needed for `"heatmap"`, `"embedding"`, `"biplot"` and, by most methods, `"share"`.
#' @param k How many of the best features to show. The default is the number that the method was
#'   asked for, or 10.
#' @param y Optional classes of the samples, for `"heatmap"`, `"embedding"` and `"biplot"`: they
#'   give the colours and the order of the rows. The default is the clusters the method found, if it
#'   finds any.
#' @param m How many of the best samples to show, or to circle in `"embedding"`, for methods that
#'   select samples. The default is as for `k`.
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
  shown <- if (is.null(type)) picture_type(x, NULL, data) else list(type)
  # The choice, beside the way of the objective.
  if (is.null(type) && shown == "objective") shown <- c(shown, "chosen")
  show_picture(x, lapply(shown, function(one) picture_of_fit(x, one, data, k, y, m)), ...)
}

#' @rdname plot.ufs
#' @exportS3Method ggplot2::autoplot
autoplot.ufs <- function(object, type = NULL, data = NULL, k = NULL, y = NULL, m = NULL, ...) {
  ggplot_picture(picture_of_fit(object, type, data, k, y, m), ...)
}

picture_of_fit <- function(fit, type, data, k, y, m) {
  check_fit(fit)
  k <- picture_size(fit, k, m)
  picture(fit, picture_type(fit, type, data), k = k, data = data, y = y, m = m)
}

# plot() of all classes: one picture, or a list of those that belong together.
show_picture <- function(x, pic, ...) {
  if (inherits(pic, "ufs_picture")) draw_picture(pic, ...) else draw_pictures(pic, ...)
  invisible(x)
}

# How many features or samples to show: what the method was asked for, or 10.
picture_size <- function(fit, k = NULL, m = NULL) {
  features <- !is.null(fit$feature_scores)
  if (!is.null(k) && !features) {
    refuse("k", "`k` is a number of features, and ufs_", fit$method, "() chooses samples: give ",
      "`m`.")
  }
  given <- check_wanted(if (features) k else m, if (features) "k" else "m", fit$n, fit$p)
  c(given, asked_size(fit), 10L)[1L]
}

# The number of features (samples, for a method that only selects samples) that a fit was asked for.
asked_size <- function(fit) remembered_size(fit, if (is.null(fit$feature_scores)) "m" else "k")

# The default is the first type; of scores that are mere ranks the share, or the map of the samples,
# says more, for which the data must be given.
picture_type <- function(fit, type, data = NULL) {
  types <- picture_types(fit)
  if (!is.null(type)) return(check_choice(type, "type", types))
  if (is.null(data)) return(types[[1L]])
  ranks <- function(what) are_ranks(fit[[paste0(what, "_scores")]])
  switch(types[[1L]], scores = if (ranks("feature")) "share" else "scores",
    samples = if (ranks("sample")) "embedding" else "samples", types[[1L]])
}

# The kinds of picture a fit has, the default first. A method with pictures of its own has a
# method of this and of picture() in its file.
picture_types <- function(fit) UseMethod("picture_types")

#' @export
picture_types.default <- function(fit) {
  own <- !is.null(own_share(fit))
  features <- !is.null(fit$feature_scores)
  # Selections for each k of their own have no curve over k.
  nested <- is.null(registry()[[fit$method]]$per_k)
  falls <- sum(is.finite(fit$trace$objective)) > 1L
  # Samples that were asked for, each of which has a cluster.
  groups <- !features && !is.null(fit$solution$cluster) && !is.null(fit$params$m)
  # Is the table of a choice without redundancy what came out, or did a constraint change it?
  table <- fit$solution$choice
  chosen <- table$index[order(table$place, na.last = NA)]
  choice <- length(chosen) > 0L && identical(chosen, chosen_of(fit, "feature", length(chosen)))
  c(if (has_mean_curve(fit)) "curve",
    if (own) "share" else if (choice) "choice" else if (falls) "objective",
    names(which(c(groups = groups, scores = features, samples = !is.null(fit$sample_scores)))),
    "chosen", if (features) "heatmap", "embedding",
    if (features) "biplot", if (features && nested && !own) "share", if (own && falls) "objective")
}

picture <- function(object, ...) UseMethod("picture")

#' @export
picture.ufs <- function(object, type, k, data = NULL, y = NULL, m = NULL, ...) {
  switch(type,
    objective = picture_objective(object),
    curve = picture_curve(object, k),
    share = picture_share(object, data, k),
    groups = picture_groups(object),
    choice = picture_choice(object, k),
    chosen = picture_chosen(object, k),
    scores = picture_spikes(object, k, "feature"),
    samples = picture_spikes(object, if (is.null(m)) k else m, "sample"),
    heatmap = picture_heatmap(object, data, k, y),
    embedding = picture_embedding(object, data, k, y, m),
    biplot = picture_embedding(object, data, k, y, m, arrows = TRUE)
  )
}

# ---- pictures of one fit ----------------------------------------------------------------

picture_objective <- function(fit, subtitle = NULL) {
  table <- data.frame(x = fit$trace$iteration, y = fit$trace$objective)
  table <- table[is.finite(table$y), ]
  # A penalty that changes on the way makes the values before and after those of two problems.
  steps <- fit$trace$lambda
  lines <- if (length(unique(steps)) > 1L) {
    list(v = table$x[-1L][which(diff(steps) != 0)] - .5, h = utils::tail(table$y, 1L))
  }
  if (is.null(subtitle) && !is.null(lines)) {
    subtitle <- "lambda changes at upright lines; level line: the answer"
  }
  # A way that goes up and down hides how far it has come.
  if (is.null(lines) && any(diff(table$y) > .01 * diff(range(table$y)))) {
    lines <- list(h = min(table$y))
    subtitle <- paste(c(subtitle, "level line: the lowest value"), collapse = "; ")
  }
  new_picture("curves", table = table, lines = lines, subtitle = subtitle, ylab = "objective",
    xlab = if (is.null(own_share(fit))) "iteration" else number_words(fit),
    title = sprintf("ufs_%s: objective (%s)", fit$method, status_words(fit$status)))
}

status_words <- function(status) gsub("_", " ", sub("max_iter", "max. iterations", status))

# ---- spectra and other curves -----------------------------------------------------------------

# Are the columns points of a curve whose mean the fit has kept? Of columns in any other order
# neighbours have means that are not alike.
has_mean_curve <- function(fit) {
  mean <- fit$center
  if (is.null(fit$feature_scores) || !is.numeric(mean) || length(mean) != fit$p || fit$p < 20L ||
      !isTRUE(diff(range(mean)) > 0)) {
    return(FALSE)
  }
  alike <- function(how) suppressWarnings(stats::cor(mean[-1L], mean[-fit$p], method = how))
  isTRUE(min(alike("pearson"), alike("spearman")) > .985)
}

picture_curve <- function(fit, k) {
  at <- suppressWarnings(as.numeric(fit$names$features))
  numbered <- length(at) == fit$p && !anyNA(at)
  if (!numbered) at <- seq_len(fit$p)
  new_picture("curves", table = data.frame(x = at, y = unname(fit$center)), points = FALSE,
    lines = list(v = at[chosen_of(fit, "feature", k)]),
    xlab = if (numbered) "feature, by its name" else "feature, in the order of the columns",
    ylab = "mean over the rows",
    title = sprintf("ufs_%s: best %d on the mean curve", fit$method, k))
}

# ---- the share that the first 1, 2, ... choices hold ------------------------------------------

# list(x, y, bound, what, unit) if the fit has kept it: how much of the data its first 1, 2, ...
# choices hold. y is a share, or what facility location adds up where its end is not known.
own_share <- function(fit) {
  trace <- fit$trace
  if (!is.null(trace$captured)) {
    return(list(x = trace$iteration, y = trace$captured, bound = trace$bound,
      what = "variance explained", unit = " (%)", of = "PCA (upper bound)"))
  }
  if (!is.null(trace$gain) && !is.null(trace$bound)) {
    most <- c(cosine = 2, heat = 1)[c(fit$params$similarity, "")[1L]]
    share <- !is.na(most)
    top <- if (share) fit$n * most else 1
    # The best of more rows is no less: what bounds it bounds that of fewer.
    bound <- pmin(rev(cummin(rev(trace$bound))) / top, if (share) 1 else Inf)
    return(list(x = trace$iteration, y = trace$objective / top, bound = bound,
      whole = !share, of = "proved bound",
      what = "similarity covered", unit = if (share) " (%)"))
  }
  if (!is.null(trace$decrease) && !is.null(fit$solution$order)) {
    start <- trace$objective[1L] + trace$decrease[1L]
    return(list(x = trace$iteration, y = 1 - trace$objective / start,
      what = "decrease of the objective", unit = " (%)"))
  }
}

picture_share <- function(fit, data, k) {
  share <- own_share(fit)
  if (is.null(share)) {
    if (is.null(data)) refuse("data", "This picture needs the data: plot(fit, \"share\", data).")
    most <- min(sum(!is.na(fit$feature_scores)), max(2L * k, 10L))
    table <- suppressMessages(ufs_captured(fit, data, evenly(most, 30L)))
    share <- list(x = table$k, y = table$captured, bound = table$bound,
      what = "variance explained", unit = " (%)", of = "PCA (upper bound)")
  }
  # A curve of hundreds of points is one of sixty.
  at <- evenly(length(share$x), 60L)
  bound <- if (!is.null(share$bound)) share$bound[at]
  table <- data.frame(x = rep(share$x[at], 1L + !is.null(bound)), y = c(share$y[at], bound),
    series = rep(c("chosen", if (!is.null(bound)) share$of), each = length(at)))
  asked <- asked_size(fit)
  new_picture("curves", table = table, plain = share$of, percent = !isTRUE(share$whole),
    # A curve that begins near its end is a level line on a scale from zero.
    from = if (min(table$y) < .5 * max(table$y)) 0,
    points = length(at) <= 30L,
    lines = if (!is.null(asked) && asked < max(table$x)) list(v = asked),
    xlab = number_words(fit), ylab = paste0(share$what, share$unit),
    title = sprintf("ufs_%s: %s by the first %s", fit$method, share$what,
      if (is.null(fit$feature_scores)) "m samples" else "k features"))
}

picture_groups <- function(fit) {
  best <- unname(fit$sample_ranking)[seq_len(fit$params$m)]
  size <- tabulate(match(fit$solution$cluster, best), length(best))
  new_picture("spikes", table = data.frame(x = seq_along(best), y = size, best = TRUE),
    xlab = "chosen sample, in its order",
    ylab = "samples it stands for",
    title = sprintf("ufs_%s: how many samples each one stands for", fit$method))
}

# ---- scores ------------------------------------------------------------------------------

# Do the scores say no more than the order: 1, 1 - 1/q, 1 - 2/q ...?
are_ranks <- function(score) {
  known <- sort(unname(score), decreasing = TRUE)
  length(known) > 2L && abs(known[1L] - 1) < 1e-9 && known[2L] < 1 &&
    diff(range(diff(known))) < 1e-9
}

# The scores to draw: list(value, ylab, subtitle).
measured <- function(fit, what) {
  score <- unname(fit[[paste0(what, "_scores")]])
  if (!are_ranks(score)) return(list(value = score, ylab = "score (larger is better)"))
  shown <- function(value, ...) list(value = ifelse(is.na(score), NA, value), ...)
  gain <- unname(fit$statistic)
  if (length(gain) == length(score) && any(c("captured", "gain", "decrease") %in%
      names(fit$trace))) {
    return(shown(gain, ylab = "added when it was chosen",
      subtitle = "in the order of choice; then what each would add next"))
  }
  # The quantities behind picks and draws.
  behind <- switch(what, feature = c("norm in W" = "column_norm", leverage = "leverage_features",
    "score before" = "scores_before"), c("norm in W" = "row_norm", leverage = "leverage_samples"))
  for (name in names(behind)) {
    value <- unname(fit$solution[[behind[[name]]]])
    if (length(value) == length(score)) return(shown(value, ylab = name))
  }
  list(value = score, ylab = "place in the ranking (first = 1)")
}

# The best k as the accessors give them, which heed the constraints: their numbers, best first.
chosen_of <- function(fit, what, k) {
  ranking <- unname(fit[[paste0(what, "_ranking")]])[seq_len(k)]
  # A fit for one k has no choice of fewer.
  if (!is.null(registry()[[fit$method]]$per_k)) return(ranking)
  top <- if (what == "feature") selected_features else selected_samples
  on_error(unname(suppressWarnings(suppressMessages(top(fit, k, as = "index")))),
    function(e) ranking)
}

picture_spikes <- function(fit, k, what) {
  k <- check_count(k, if (what == "sample") "m" else "k", 1L)
  shown <- measured(fit, what)
  ranking <- unname(fit[[paste0(what, "_ranking")]])
  ranking <- ranking[!is.na(shown$value[ranking])]
  best <- chosen_of(fit, what, min(k, length(ranking)))
  k <- length(best)
  # A ranking that follows another rule than the scores: bars by score, and red what is chosen.
  subtitle <- shown$subtitle
  if (is.null(subtitle)) {
    ranking <- ranking[order(-shown$value[ranking], seq_along(ranking))]
    if (!setequal(best, ranking[seq_len(k)])) subtitle <- "red: chosen, and not by this alone"
  }
  sorted <- shown$value[ranking]
  # On a scale that begins at zero, or at their own values, such scores have one and the same label.
  if (are_narrow(sorted) && diff(range(sorted)) < .001 * max(abs(sorted))) {
    subtitle <- paste(c(subtitle, paste("lowest score:", format(min(sorted), digits = 4L))),
      collapse = "; ")
    shown$ylab <- "score above the lowest"
    sorted <- sorted - min(sorted)
  }
  # Rankings with many exact zeros end in a long flat line: show where it begins.
  nonzero <- sum(sorted != 0)
  if (nonzero < length(sorted) / 2) {
    zero <- length(sorted) - nonzero
    subtitle <- sprintf("%d of %d scores are exactly zero", zero, length(sorted))
    sorted <- utils::head(sorted, max(k, match(best, ranking), ceiling(1.3 * nonzero)))
  }
  red <- ranking[seq_along(sorted)] %in% best
  # A picture is some hundreds of dots wide: of many bars every n-th is enough.
  every <- seq(1L, length(sorted), by = ceiling(length(sorted) / 1000))
  at <- sort(unique(c(utils::head(which(red), 500L), every, k)))
  new_picture("spikes", table = data.frame(x = at, y = sorted[at], best = red[at]),
    lines = if (k < length(sorted) && all(red[seq_len(k)])) list(v = k + .5),
    xlab = paste(what, "rank"), ylab = shown$ylab,
    subtitle = subtitle, title = sprintf("ufs_%s: %s scores", fit$method, what))
}

# The best k by name with their scores, and the next ones.
picture_chosen <- function(fit, k, most = 40L) {
  what <- if (is.null(fit$feature_scores)) "sample" else "feature"
  score <- unname(fit[[paste0(what, "_scores")]])
  ranking <- unname(fit[[paste0(what, "_ranking")]])
  ranking <- ranking[!is.na(score[ranking])]
  all <- chosen_of(fit, what, min(k, length(ranking)))
  k <- length(all)
  best <- seq_len(min(k, most))
  shown <- c(all[best], if (k <= most) utils::head(setdiff(ranking, all), 3L))
  table <- data.frame(series = labels_of(fit$names[[paste0(what, "s")]], length(score))[shown],
    value = score[shown])
  new_picture("dots", table = table, plain = table$series[-best], colour = best_colour,
    xlab = "score (larger is better)", ylab = "",
    subtitle = if (k > most) sprintf("the first %d of %d", most, k) else
      if (length(shown) > k) "grey: the next ones",
    title = sprintf("ufs_%s: best %d of %d %ss", fit$method, k, length(score), what))
}

# Why these: what the rank of each chosen one is worth, and what is left of it for its correlations
# with those above. Then as many of those with better ranks as were passed over.
picture_choice <- function(fit, k, most = 30L) {
  table <- fit$solution$choice
  chosen <- table[order(table$place, na.last = NA), ]
  chosen <- utils::head(chosen, min(k, most))
  passed <- table[is.na(table$place) & table$worth > min(chosen$worth), ]
  passed <- utils::head(passed, max(1L, min(nrow(chosen), (most - nrow(chosen)) %/% 2L, 8L)))
  shown <- rbind(chosen, passed)
  new_picture("dots", table = data.frame(series = shown$feature, value = shown$value,
    low = shown$value, high = shown$worth), plain = passed$feature, colour = best_colour,
    xlab = sprintf("rank (best = 1) less %s|r| with those above",
      if (fit$params$strength == 1) "" else paste(format(fit$params$strength), "x ")),
    subtitle = paste(c("line: from the rank alone", if (nrow(passed)) {
      "grey: better ranks that were passed over"
    }), collapse = "; "),
    title = sprintf("ufs_%s: why these %d features", fit$method, nrow(chosen)))
}

picture_heatmap <- function(fit, data, k, y) {
  if (is.null(fit$feature_scores)) {
    refuse("type", "ufs_", fit$method, "() does not select features; type = \"embedding\" shows ",
      "its samples.")
  }
  z <- chosen_columns(fit, data, k)
  # Columns that go up and down together stand side by side.
  alike <- ncol(z) > 2L && ncol(z) <= 100L
  if (alike) {
    r <- suppressWarnings(abs(stats::cor(z)))
    r[is.na(r)] <- 0
    z <- z[, stats::hclust(stats::as.dist(1 - pmin(r, 1)), "average")$order]
  }
  group <- sample_groups(fit, nrow(z), y)
  ord <- sample_order(z, group$of)
  shown <- pmin(pmax(z[ord, , drop = FALSE], -3), 3)
  new_picture("tiles", z = shown, group = if (!is.null(group)) group$of[ord],
    group_name = group$name, limits = c(-3, 3), palette = "diverging", value = "standardised",
    xlab = if (alike) "features, by similarity" else "features, best first",
    title = sprintf("ufs_%s: best %d of %d features", fit$method, ncol(z), fit$p),
    ylab = sprintf("%d samples, by %s", nrow(z), if (is.null(group)) "similarity" else group$name))
}

picture_embedding <- function(fit, data, k, y, m, arrows = FALSE) {
  features <- !is.null(fit$feature_scores)
  # Methods that select samples only: k is their number, and all columns are shown.
  if (!features && is.null(m)) m <- k
  z <- if (features) chosen_columns(fit, data, k) else all_columns(fit, data)
  group <- sample_groups(fit, nrow(z), y)
  circled <- rep(FALSE, nrow(z))
  if (!is.null(m)) {
    if (nrow(z) != fit$n) {
      refuse("m", "`m`: `data` has ", nrow(z), " rows, the fit ", fit$n, "; only its own samples ",
        "can be circled.")
    }
    circled[suppressMessages(selected_samples(fit, m, as = "index"))] <- TRUE
  }
  map <- first_components(z)
  new_picture("scatter", table = data.frame(map[c("x", "y")], circled), group = group$of,
    arrows = if (arrows && ncol(z) > 1L) arrows_of(z, map),
    group_name = group$name, xlab = map$xlab, ylab = map$ylab,
    subtitle = if (any(circled)) sprintf("circled: best %d samples", sum(circled)),
    title = sprintf("ufs_%s: samples%s %d features", fit$method, if (!features) ", all" else
      sprintf(" %s best %d of", if (arrows) "and the" else "in the", ncol(z)), fit$p))
}

# The correlation of each feature with the two components, as long as the picture has room.
arrows_of <- function(z, map) {
  to <- suppressWarnings(stats::cor(z, cbind(map$x, map$y)))
  to[is.na(to)] <- 0
  size <- .9 * min(apply(abs(cbind(map$x, map$y)), 2L, max) / pmax(apply(abs(to), 2L, max), 1e-8))
  data.frame(x = size * to[, 1L], y = size * to[, 2L], label = colnames(z))
}

# Similarities of samples that have clusters, in the order `ord`.
picture_links <- function(fit, z, ord, limits, value, title) {
  name <- labels_of(fit$names$samples, nrow(z))
  new_picture("tiles", z = `dimnames<-`(unname(z[ord, ord]), list(name[ord], name[ord])),
    group = factor(fit$solution$cluster[ord]), group_name = "cluster", limits = limits,
    palette = "sequential", value = value, xlab = "samples, by cluster",
    ylab = "samples, by cluster", title = title)
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
  x <- as_ufs_operator(open_quietly(data, "data"))$x
  structure(sample_points(x), total = sum(x_ss(x)))
}

plain_columns <- function(fit, data, index = seq_len(fit$p)) {
  if (is.null(data)) refuse("data", "This picture needs the data: plot(fit, type, data).")
  x <- new_columns(fit, data, index, "data")
  if (!all(is.finite(x))) refuse_data("data", "`data` has missing or infinite values.")
  if (is.null(fit$coded)) colnames(x) <- fit$names$features[index]
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
      refuse("y", "`y` must have one class for each of the ", n, " samples; it has length ",
        length(y), ".")
    }
    y <- droplevels(as.factor(y))
    if (nlevels(y) > 40L) {
      refuse("y", "`y` has ", nlevels(y), " different values; it must be a factor with at most 40 ",
        "classes.")
    }
    y <- addNA(y, ifany = TRUE)
    levels(y)[is.na(levels(y))] <- "(none)"
    return(list(of = y, name = "class"))
  }
  cluster <- fit$solution$cluster
  # Clusters around chosen samples have these as their numbers: counted in the order of the choice.
  if (is.null(fit$feature_scores)) cluster <- match(cluster, intersect(fit$sample_ranking, cluster))
  if (length(cluster) == n && length(unique(cluster)) <= 40L) {
    list(of = as.factor(cluster), name = "cluster")
  }
}

# Similar samples next to each other: within groups, along the first component; without groups,
# as a tree puts them if there are not too many.
sample_order <- function(z, group) {
  along <- first_components(z)$x
  if (!is.null(group)) return(order(as.integer(group), along))
  if (nrow(z) <= 1500L && nrow(z) > 2L) stats::hclust(stats::dist(z), "average")$order else
    order(along)
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

number_words <- function(fit) {
  if (is.null(fit$feature_scores)) "samples chosen (m)" else "features chosen (k)"
}
