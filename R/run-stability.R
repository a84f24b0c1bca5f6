# How much a selection depends on the samples.

#' Stability of a selection under resampling
#'
#' Repeats a method on random subsets of the samples and reports how often each feature is
#' chosen. Use it before you interpret single features: a feature that is chosen only by chance of
#' the sample will rarely be chosen again. Stability does not say that a selection is right, only
#' that it is repeatable.
#'
#' `stability` is the measure of Nogueira, Sechidis and Brown (2018), eq. 4: \eqn{1 -
#' \frac{\frac1p\sum_f s_f^2}{\frac{\bar k}{p}(1 - \frac{\bar k}{p})}}{ 1 - mean(s_f^2) / ((k/p)(1 -
#' k/p))} with \eqn{s_f^2} the unbiased variance of the selection of feature f: 1 if the same
#' features are always chosen, 0 on average for random choices, corrected for chance. Its confidence
#' interval is their asymptotic one. `jaccard` is the mean overlap of pairs of resamples. Columns
#' that must or may not be chosen (see [ufs_data()]) do not count in `stability`, since any method
#' has them so.
#'
#' # Very many samples
#' From more than 10,000 samples, 4,000 are drawn, spread over all and always the same ones.
#' Resamples are then taken from these, unless `m` asks for samples. This measures the stability of
#' a choice from `fraction` of the drawn samples, as `print()` says. A choice from more samples
#' depends less on which they are, so that the value from all is usually higher. With
#' `options(ufselect.most_rows = Inf)` resamples are taken from all.
#'
#' @inheritParams ufs_grid
#' @param method The name of a method, or of several, or a function (in a list of several), which is
#'   a method for this call as [ufs_register()] has it. Several are run on the same resamples, each
#'   gets those of the arguments in `...` that it has, and the result is a list of class
#'   `ufs_stability_list` with their results in `fits`, to print and for [as.data.frame()].
#' @param k The number of features chosen in each resample.
#' @param ... Arguments of the method, and those of [ufs_data()], like `assay`.
#' @param m The number of samples chosen in each resample, for methods that select samples. `NULL`
#'   leaves them out.
#' @param n_resamples The number of resamples.
#' @param fraction The share of the samples in each of them, drawn without replacement.
#' @param level The level of the confidence interval.
#' @return An object of class `ufs_stability`: `stability`, `interval`, `jaccard`, `frequency` (one
#'   number per feature), `sample_frequency` (share of the resamples in which a sample was chosen
#'   among those in which it was there), `selected` (n_resamples x p, logical), `size` (the
#'   samples in each resample), `k`, `m`, `errors`; of
#'   very many samples `looked_at`, how many of `n` were drawn.
#' @references Nogueira, S., Sechidis, K. and Brown, G. (2018) On the stability of feature
#'   selection algorithms. *Journal of Machine Learning Research* **18**(174), 1-54.
#' @examples
#' set.seed(1)
#' stable <- ufs_stability(mtcars, "pca", k = 3, n_components = 2, n_resamples = 20)
#' stable
#' # How often each feature was chosen
#' sort(stable$frequency, decreasing = TRUE)
#' @export
ufs_stability <- function(x, method, k = NULL, ..., m = NULL, n_resamples = 50, fraction = 0.5,
                          level = 0.95, checkpoint = NULL) {
  check_given(x, method)
  call <- plain_call(match.call(), "ufs_stability")
  named <- named_methods(method, substitute(method))
  on.exit(forget_methods(named$own))
  method <- unname(named$names)
  if (is.character(method) && length(method) > 1L) {
    return(several_stabilities(call, x, method, list(...), m, list_of(k, n_resamples,
      fraction, level, checkpoint)))
  }
  row <- method_row(method)
  dots <- list(...)
  check_arguments(setdiff(names(dots), names(row$only)), row$fit, method, names(row$paper))
  opened <- open_some(x, dots, row$arguments)
  x <- check_door(opened$x, "ufs_stability()", c(if (row$selects != "samples") "columns",
    if (row$selects == "samples" || !is.null(m)) "rows"))
  args <- opened$rest
  data <- as_column_stats(x)
  n_resamples <- check_count(n_resamples, "n_resamples", 2L, 1e6, "a million resamples")
  fraction <- check_number(fraction, "fraction", 0, 1, open = TRUE)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  # Some of very many samples save time. That measures a choice from fewer, as the print says.
  looked <- if (is.null(m)) some_rows(x, data$keep, 4000L, 10000L) else list(x = x)
  n <- nrow(looked$x)
  size <- round(fraction * n)
  if (size < 3L) refuse("fraction", "`fraction` leaves ", size, " samples; 3 are needed.")
  for (name in c(k = "features", m = "samples")[c(!is.null(k), !is.null(m))]) {
    if (!row$selects %in% c(name, "both")) {
      refuse(if (name == "features") "k" else "m", "ufs_", method, "() does not select ", name, ".")
    }
  }
  if (row$selects != "samples") k <- check_count(k, "k", 1L, data$p - 1L, "fewer than the features")
  if (row$selects == "samples" || !is.null(m)) {
    m <- check_count(m, "m", 1L, size, "the samples of a resample")
  }
  # The seed does not depend on the method, so that all methods get the same resamples.
  run <- start_run("stability", looked$x, check_checkpoint(checkpoint))
  tasks <- lapply(seq_len(n_resamples), function(i) list(seed = task_seed(run, "resample", i)))
  # A method that solves for its number gets it, and picks one by one end at it, unless a resample
  # may have fewer of the columns that vary.
  if (identical(row$picks$argument, "k") && isTRUE(4L * k <= length(data$keep))) args$k <- k
  if (!is.null(row$per_k) && is.null(args[[row$per_k]])) args[[row$per_k]] <- c(k, m)[1L]
  common <- list_of(x = to_travel(looked$x), method, args, size, k, m)
  done <- run_tasks(tasks, stability_fit, common, run, usable = function(value) {
    length(value$rows) == size && is_choice(value$rows, n) &&
      (is.null(k) || length(value$features) <= k && is_choice(value$features, data$p)) &&
      (is.null(m) || length(value$samples) <= m && all(value$samples %in% value$rows) &&
        is_choice(value$samples, n))
  })
  failed <- vapply(done$values, function(run) !is.null(run$error), NA)
  errors <- vapply(done$values[failed], `[[`, "", "error")
  if (sum(!failed) < 2L) {
    refuse("method", "ufs_", method, "() failed on all resamples, first with: ", errors[1L])
  }
  structure(c(list_of(method, call, k, m, n_resamples, fraction, level, size, errors,
    checkpoint = done$report), stability_of(done$values[!failed], data, k, m, level),
    if (!is.null(looked$size)) list(looked_at = looked$size, n = data$n)),
    class = c("ufs_stability", "ufs_result"))
}

# Agreement of the resamples.
stability_of <- function(runs, data, k, m, level) {
  chosen <- function(name, size) members_of(lapply(runs, `[[`, name), size)
  c(if (!is.null(k)) {
    selected <- chosen("features", data$p)
    colnames(selected) <- data$features
    both <- tcrossprod(selected + 0)
    jaccard <- both / (outer(diag(both), diag(both), "+") - both)
    c(nogueira(selected[, unplaced(data), drop = FALSE], level),
      list(jaccard = mean(jaccard[upper.tri(jaccard)]), frequency = colMeans(selected),
        selected = selected))
  }, if (!is.null(m)) {
    often <- colSums(chosen("samples", data$n)) / colSums(chosen("rows", data$n))
    list(sample_frequency = stats::setNames(often, data$samples))
  })
}

# Columns that must or may not be in say nothing of how stable a choice is: any would have them so.
unplaced <- function(data) setdiff(seq_len(data$p), placed_columns(data$constraints$features))

# Sets of indices up to `size` as rows of a logical matrix.
members_of <- function(sets, size) {
  members <- vapply(sets, function(set) seq_len(size) %in% set, logical(size))
  # For size 1 this is a vector.
  matrix(members, ncol = size, byrow = TRUE,
    dimnames = if (!is.null(names(sets))) list(names(sets), NULL))
}

# One result per method, on the same resamples: each starts from the same seed.
several_stabilities <- function(call, x, methods, args, m, shared) {
  known <- method_rows(methods, args)
  opened <- open_some(x, args, known$own)
  kinds <- vapply(known$rows, `[[`, "", "selects")
  seed <- draw_seeds(1L)[[1L]]
  structure(list_of(call, methods, fits = Map(function(method, row) {
    mine <- opened$rest[names(opened$rest) %in% row$arguments]
    # Methods may differ in whether they choose columns or rows.
    own <- if (length(unique(kinds)) < 2L) opened$x else without_choices(opened$x,
      switch(row$selects, features = "rows", samples = "columns", character()))
    with_seed(seed, do.call(ufs_stability, c(list(x = own, method = method), mine,
      list(m = if (row$selects != "features") m), shared), quote = TRUE))
  }, methods, known$rows)), class = c("ufs_stability_list", "ufs_result"))
}

stability_fit <- function(task, common) {
  with_seed(task$seed, {
    rows <- sort(sample.int(nrow(common$x), common$size))
    # Seed NULL: the method goes on with the numbers of this resample.
    x <- common$x[rows, , drop = FALSE]
    if (is.null(common$m)) x <- for_ranking(x, common$method, common$args)
    run <- quiet_fit(x, common$method, common$args, NULL)
  })
  if (!is.null(run$error)) return(list(error = run$error))
  chosen <- function(select, size) suppressMessages(select(run$fit, size, as = "index"))
  list(rows = rows, features = if (!is.null(common$k)) chosen(selected_features, common$k),
    samples = if (!is.null(common$m)) rows[chosen(selected_samples, common$m)])
}

# z: resamples x features, logical. Equations 4 and 7-9 of the paper.
nogueira <- function(z, level) {
  m <- nrow(z)
  p <- ncol(z)
  share <- colMeans(z)
  size <- rowSums(z)
  mean_size <- mean(size)
  chance <- mean_size / p * (1 - mean_size / p)
  if (p == 0L || chance == 0) return(list(stability = NA_real_, interval = c(lower = NA_real_,
    upper = NA_real_)))
  stability <- 1 - mean(m / (m - 1) * share * (1 - share)) / chance
  each <- (as.vector(z %*% share) / p - size * mean_size / p^2 +
    stability / 2 * (2 * size * mean_size / p^2 - size / p - mean_size / p + 1)) / chance
  variance <- 4 / m^2 * sum((each - mean(each))^2)
  half <- stats::qnorm(1 - (1 - level) / 2) * sqrt(variance)
  list(stability = stability,
    interval = c(lower = stability - half, upper = min(1, stability + half)))
}

#' @export
print_lines.ufs_stability <- function(x) {
  cat_line("<ufs_stability> ufs_", x$method, ", ", count_words(x$n_resamples, "resample"), " of ",
    count_words(x$size, "sample"))
  print_looked(x)
  if (!is.null(x$stability)) {
    cat_line("  k = ", x$k, ": stability ", signif(x$stability, 2L), " of 1 (0 by chance; ",
      100 * x$level, " % interval ", paste(format(x$interval, digits = 2L), collapse = " to "), ")")
    cat_line("  most often: ", most_often(x$frequency))
  }
  if (!is.null(x$sample_frequency)) {
    cat_line("  samples most often (m = ", x$m, "): ", most_often(x$sample_frequency))
  }
  print_failed(x$errors, "  ", "resample")
  print_checkpoint(x$checkpoint)
}

# The five chosen most often, of those that were chosen at all.
most_often <- function(frequency) {
  at <- utils::head(order(-frequency), min(5L, sum(frequency > 0, na.rm = TRUE)))
  paste0(labels_of(names(frequency), length(frequency))[at], " (", round(100 * frequency[at]),
    " %)", collapse = ", ")
}

# Says so where the stability is not that of a choice from `fraction` of all samples.
print_looked <- function(x) {
  if (is.null(x$looked_at)) return(invisible())
  cat_line("  ", x$looked_at, " of ", x$n, " samples drawn, spread over all: the stability of a ",
    "choice from ", x$size, ",\n  usually below that of a choice from ", round(x$fraction * x$n))
}

# The table of as.data.frame(), and how often each feature (sample) was chosen.
#' @export
summary.ufs_stability <- function(object, ...) {
  check_dots_empty(...)
  often <- function(share) {
    if (is.null(share)) return(NULL)
    top <- utils::head(order(-share), 10L)
    data.frame(name = if (is.null(names(share))) top else names(share)[top], index = top,
      share = unname(share[top]))
  }
  structure(list(table = as.data.frame(object), features = often(object$frequency),
    samples = often(object$sample_frequency)), class = "summary.ufs_stability")
}

#' @export
summary.ufs_stability_list <- function(object, ...) {
  check_dots_empty(...)
  structure(list(table = as.data.frame(object)), class = "summary.ufs_stability")
}

#' @export
print.summary.ufs_stability <- function(x, ...) {
  check_dots_empty(...)
  print(x$table, digits = 3L, row.names = FALSE)
  for (what in c("features", "samples")) {
    if (is.null(x[[what]])) next
    cat_line("Share of the resamples that chose each, the most frequent ", what, ":")
    print(x[[what]], digits = 2L, row.names = FALSE)
  }
  invisible(x)
}

#' @export
print_lines.ufs_stability_list <- function(x) {
  cat_line("<ufs_stability> of ", length(x$fits), " methods")
  print(as.data.frame(x), digits = 3L, row.names = FALSE)
  print_looked(x$fits[[1L]])
  for (name in names(x$fits)) {
    if (is.null(x$fits[[name]]$checkpoint)) next
    cat_line(name, ":")
    print_checkpoint(x$fits[[name]]$checkpoint)
  }
}

#' @export
as.data.frame.ufs_stability_list <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots_empty(...)
  do.call(rbind, lapply(unname(x$fits), as.data.frame))
}

#' @export
as.data.frame.ufs_stability <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots_empty(...)
  value <- function(v) c(unname(v), NA)[1L]
  data.frame(method = x$method, k = value(x$k), m = value(x$m), n_resamples = x$n_resamples,
    stability = value(x$stability), lower = value(x$interval["lower"]),
    upper = value(x$interval["upper"]), jaccard = value(x$jaccard), errors = length(x$errors))
}

#' @export
picture.ufs_stability <- function(object, what = c("features", "samples"), ...) {
  have <- c(if (!is.null(object$frequency)) "features",
    if (!is.null(object$sample_frequency)) "samples")
  if (identical(what, c("features", "samples"))) what <- have[[1L]]
  features <- check_choice(what, "what", have) == "features"
  value <- if (features) object$frequency else object$sample_frequency
  label <- labels_of(names(value), length(value))
  n <- if (features) object$k else object$m
  shown <- utils::head(order(-value, seq_along(value), na.last = NA), min(n + 3L, 40L))
  new_picture("dots", table = data.frame(series = label[shown], value = unname(value)[shown]),
    plain = label[shown][-seq_len(n)], colour = best_colour, percent = TRUE,
    xlab = "share of the resamples, per cent", ylab = "",
    title = sprintf("ufs_%s: how often %s are chosen, %s = %d", object$method, what,
      if (features) "k" else "m", n),
    subtitle = if (features) {
      sprintf("stability %.2f (%g%% interval %.2f to %.2f)", object$stability, 100 * object$level,
        object$interval[[1L]], object$interval[[2L]])
    })
}
