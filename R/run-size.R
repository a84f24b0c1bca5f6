# How many features: what is known without labels, against k, and a number with its reason. Cost:
# one fit, those of ufs_decoys(), and n_resamples fits of half the samples.

#' How many features to choose
#'
#' Draws on one page, against the number of features k, what can be known without labels, and names
#' a number with its reason. Use it where nobody tells you k. It says "take all" where every column
#' seems to be of use, "no column is better than noise" where none is, and "not repeatable" where
#' halves of the samples choose other columns.
#'
#' The four curves, in the columns of `curve`:
#'
#' * `share`: the share of the best k that are no better than noise, see [ufs_decoys()]. Structure
#'   that is not wanted counts as structure.
#' * `captured` and `bound`: the share of the squares of x that the best k columns explain, and what
#'   k principal components would, see [ufs_captured()].
#' * `knn_overlap`: how many of the 5 nearest neighbours of each sample by all columns are its
#'   neighbours by the best k, see [ufs_tune()]. Of more than 2,000 samples these are drawn at
#'   random, and neighbours are looked for among them.
#' * `stability`: how much the best k of halves of the samples agree beyond chance, see
#'   [ufs_stability()].
#'
#' The rule: if at most half of all columns are noise by the estimate of [ufs_decoys()] (`noise`
#' there), beyond chance, the answer is all columns. Otherwise it is the columns that are better
#' than noise. Where the stability at the answer is below 0.1 the verdict is "not repeatable", and
#' the number is kept. The rule does not look for the smallest k that will do: read that off the
#' curves, from what you are ready to lose. `evidence/size.R` measures what its answers cost,
#' with labels, beside simpler rules; `evidence/results/size.csv` has what came out.
#'
#' Methods that rank columns to complement each other ([ufs_css()], [ufs_mcfs()]) or by their own
#' values alone ([ufs_variance()]) have a share of noise that says little, and this answer with it.
#' [ufs_topk()] and [ufs_blfse()], which solve for one number, are refused.
#'
#' @inheritParams ufs_decoys
#' @param method The name of a method that selects features, or a fit, whose method and arguments
#'   are taken.
#' @param k The numbers to look at; the default is about ten, from 2 to all columns that are not
#'   constant. The answer need not be among them.
#' @param repeats How many times decoys are drawn, see [ufs_decoys()].
#' @param n_resamples How many random halves of the samples to draw for the stability.
#' @return An object of class `ufs_size`: `k`, a whole number; `verdict`, one of `"some"`, `"all"`,
#'   `"noise"` (then `k` is 0) and `"unstable"`; `reason`, a sentence; `curve`, a data frame
#'   with a row for each k; `rows`, among how many samples neighbours were compared; `decoys`, the
#'   [ufs_decoys()] result.
#' @seealso [ufs_decoys()], [ufs_captured()], [ufs_stability()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 30), 60)
#' x[, 1:8] <- x[, 1:8] + 3 * rep(0:1, each = 30)
#' colnames(x) <- paste0("v", 1:30)
#' size <- ufs_size(x, "pca", n_components = 2, repeats = 3, n_resamples = 4)
#' size
#' size$k
#' @export
ufs_size <- function(x, method, ..., k = NULL, repeats = 5L, share = 0.05, n_resamples = 10L,
                     checkpoint = NULL) {
  check_given(x, method)
  watched <- watch_over("ufs_size()")
  on.exit(options(watched))
  call <- plain_call(match.call(), "ufs_size")
  plan <- decoys_plan(method, list(...), parent.frame())
  if (length(plan$methods) != 1L) refuse("method", "`method` must be one method or fit.")
  own <- plan$methods[[1L]]
  if (!is.null(method_row(own$method)$per_k)) {
    refuse("method", "ufs_", own$method, "() solves for one number of features; compare its fits ",
      "for several.")
  }
  x <- open_some(x, plan$input)$x
  n_resamples <- check_count(n_resamples, "n_resamples", 2L, 1e6, "a million resamples")
  checkpoint <- check_checkpoint(checkpoint)
  data <- as_rescaled_operator(x)
  q <- length(data$keep) - length(data$wish$exclude)
  include <- data$wish$include
  if (is.null(k)) {
    k <- round(exp(seq(log(min(max(2, length(include)), q)), log(q), length.out = min(q, 10L))))
  }
  k <- sort(check_counts(k, "k", q, paste0("the features that are not constant",
    if (length(data$wish$exclude)) " and may be chosen")))
  if (length(include) > k[1L]) refuse_fewer(data$features[data$keep[include]], k[1L])
  if (data$n < 6L) ufs_abort("input", "`x` has ", data$n, " rows; 6 are needed.", argument = "x")
  decoys <- do.call(ufs_decoys, c(list(x, own$method), own$args, list_of(repeats,
    share, checkpoint)), quote = TRUE)
  run <- start_run("size", x, checkpoint)
  # The first task is all samples.
  tasks <- lapply(0:n_resamples, function(i) {
    list(seed = task_seed(run, "half", i), size = if (i > 0L) data$n %/% 2L)
  })
  done <- run_tasks(tasks, size_fit, list(x = to_travel(x), method = own$method, args = own$args),
    run, usable = function(value) is_order(value$ranking, data$p))
  rankings <- size_rankings(done$values, own$method)
  # At the answer, too, which need not be on the grid.
  answer <- decoys$k[[1L]]
  # Neighbours are compared among at most 2,000 samples drawn: their mean needs no more.
  rows <- if (data$n <= 2000L) seq_len(data$n) else
    with_seed(task_seed(run, "rows", 0L), sort(sample.int(data$n, 2000L)))
  watch_says(function(step) "comparing numbers of columns")
  all <- size_curve(rankings, data, decoys, sort(unique(c(k, if (answer > 0L) answer))), rows)
  curve <- all[all$k %in% k, ]
  rownames(curve) <- NULL
  at <- if (answer > 0L) all[all$k == answer, ]
  structure(c(list(call = call, method = own$method, n = data$n, p = data$p, usable = q),
    size_rule(decoys, at), list_of(curve, at, decoys,
      n_resamples, errors = rankings$errors, checkpoint = done$report, rows = length(rows))),
    class = "ufs_size")
}

size_fit <- function(task, common) {
  with_seed(task$seed, {
    x <- common$x
    if (!is.null(task$size)) x <- x[sort(sample.int(nrow(x), task$size)), , drop = FALSE]
    run <- quiet_fit(x, common$method, common$args, NULL)
  })
  if (is.null(run$error)) list(ranking = unname(run$fit$feature_ranking)) else
    list(error = run$error)
}

# list(all, halves, errors)
size_rankings <- function(values, method) {
  failed <- vapply(values, function(value) !is.null(value$error), NA)
  if (failed[1L] || sum(!failed[-1L]) < 2L) {
    refuse("method", "ufs_", method, "() failed", if (!failed[1L]) " on halves of the samples",
      ": ", values[[which(failed)[1L]]]$error)
  }
  list(all = values[[1L]]$ranking, halves = lapply(values[-1L][!failed[-1L]], `[[`, "ranking"),
    errors = vapply(values[failed], `[[`, "", "error"))
}

size_curve <- function(rankings, data, decoys, k, rows = seq_len(data$n)) {
  ranking <- match(rankings$all, data$keep)
  ranking <- ranking[!is.na(ranking)]
  part <- if (length(rows) < data$n) x_subset_rows(data$x, rows) else data$x
  near <- nearest(sample_points(part), knn_size(part))
  captured <- vapply(k, function(size) captured_share(data$x, ranking[seq_len(size)]), 0)
  data.frame(k = k, share = decoys$curve$share[k], captured = captured,
    bound = pmax(leading_share(data$x, max(k))[k], captured),
    knn_overlap = vapply(k, function(size) {
      neighbour_overlap(near, nearest(x_columns(part, ranking[seq_len(size)]), knn_size(part)))
    }, 0),
    stability = vapply(k, function(size) {
      if (size == data$p) return(NA_real_)
      chosen <- members_of(lapply(rankings$halves, utils::head, size), data$p)
      nogueira(chosen[, unplaced(data), drop = FALSE], .95)$stability
    }, 0))
}

# The answer of decoys, a list(k, verdict, reason). `at`: the line of the curve at that number,
# where there is one.
size_rule <- function(decoys, at = NULL) {
  q <- decoys$usable - sum(decoys$excluded)
  better <- decoys$k[[1L]]
  noise <- decoys$noise[[1L]]
  # Not by chance: noise is behind the median decoy as often as before it.
  if (noise <= size_settings$noise && stats::pbinom(noise * q / 2, q, 0.5) <= decoys$share) {
    return(list(k = q, verdict = "all", reason = paste0("take all: about ",
      round(q * (1 - noise)), " of ", q, " columns are better than noise")))
  }
  if (better == 0L) {
    return(list(k = 0L, verdict = "noise",
      reason = "no column is better than noise by this method"))
  }
  words <- paste0(better, " of ", q, " columns are better than noise",
    if (isTRUE(decoys$included > 0L)) paste0(" (", decoys$included, " by wish)"))
  if (isTRUE(at$stability < size_settings$stability)) {
    return(list(k = better, verdict = "unstable", reason = paste0("not repeatable: ", words,
      ", but halves of the samples choose others (stability ", format(at$stability, digits = 2L),
      ")")))
  }
  list(k = better, verdict = "some", reason = paste0(words, " (at most ",
    percent(decoys$share), " of them no better)"))
}

# noise: up to which estimated share of noise among all columns all are taken; stability: below
# which it is not called repeatable.
size_settings <- list(noise = .5, stability = .1)

# ---- k = "auto" ----------------------------------------------------------------------------------

# The answer of ufs_size() without its curves, for a method with these arguments (a named list) on
# x: list(k, verdict, reason, by, share), where share is that of noise among the best 1, 2, ...
# Draws one number from the caller's random numbers.
decoys_size <- function(x, method, args = list(), repeats = 3L, seed = draw_seeds(1L)[[1L]]) {
  x <- open_data(x)
  sizing <- sizing_method(x, method, args)
  found <- with_seed(seed, do.call(ufs_decoys, c(list(x, sizing$method), sizing$args,
    list_of(repeats)), quote = TRUE))
  c(size_rule(found), list(by = sizing$method, share = found$curve$share[seq_len(found$usable)]))
}

# The number that k = "auto" means; where no column is better than noise all are kept, with a
# warning.
auto_k <- function(x, method, args = list(), repeats = 3L, seed = draw_seeds(1L)[[1L]]) {
  found <- decoys_size(x, method, args, repeats, seed)
  if (found$verdict == "noise") {
    ufs_warn("size", "k = \"auto\": no column is better than noise by ufs_", found$by,
      "(); all are kept.")
    found$k <- length(found$share)
  }
  found[c("k", "verdict", "reason", "by")]
}

# The method whose decoys are asked, with its arguments: `sized_by` in the registry where the method
# itself cannot be.
sizing_method <- function(x, method, args) {
  row <- method_row(method)
  if (is.null(row$sized_by)) return(list(method = method, args = args))
  wanted <- c(args$n_components, args$n_clusters, 5L)[1L]
  number <- max(1L, min(wanted, dim(x) - 1L, max(1L, x$p %/% 6L)))
  list(method = row$sized_by, args = c(list(n_components = as.integer(number)),
    args[intersect(c("center", "scale"), names(args))]))
}

#' @export
print.ufs_size <- function(x, ...) {
  check_dots_empty(...)
  cat_line("<ufs_size> ufs_", x$method, ", ", size_words(x$n, x$p))
  cat_line("  k = ", x$k, ": ", x$reason)
  if (x$k > 0L) {
    at <- if (x$verdict == "all") x$curve[x$curve$k == x$k, ] else x$at
    if (nrow(at)) cat_line("  they capture ", percent(at$captured), " of x (at best ",
      percent(at$bound), ") and keep ", percent(at$knn_overlap), " of the nearest neighbours",
      if (x$rows < x$n) paste0(" (among ", x$rows, " drawn samples)"))
  }
  print(x$curve, digits = 2L, row.names = FALSE)
  print_failed(x$errors, "  ", "resample")
  print_checkpoint(x$checkpoint)
  invisible(x)
}

#' @export
as.data.frame.ufs_size <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots_empty(...)
  x$curve
}

#' What is known of each number of features
#'
#' Draws four curves on one page, against k: the share that is no better than noise, what the
#' columns capture of the data with its bound, the neighbours they keep, and how repeatable they
#' are. The vertical line is the answer. Use it to see what fewer or more columns would cost or
#' bring.
#'
#' @param x,object A [ufs_size()] result.
#' @param ... Graphical parameters for `plot()`.
#' @return `plot()` returns `x`, invisibly; `autoplot()` a ggplot.
#' @examples
#' set.seed(1)
#' x <- cbind(iris[, 1:4], matrix(rnorm(150 * 8), 150))
#' plot(ufs_size(x, "pca", n_components = 2, repeats = 2, n_resamples = 4))
#' @export
plot.ufs_size <- function(x, ...) show_picture(x, picture(x), ...)

#' @rdname plot.ufs_size
#' @exportS3Method ggplot2::autoplot
autoplot.ufs_size <- function(object, ...) ggplot_picture(picture(object), ...)

#' @export
picture.ufs_size <- function(object, ...) {
  curve <- object$curve
  words <- c(share = "no better than noise", captured = "captured", bound = "best possible",
    knn_overlap = "neighbours kept", stability = "stability")
  # Numbers from 2 to thousands: equal steps of the grid.
  at <- seq_along(curve$k)
  table <- do.call(rbind, lapply(names(words), function(name) {
    data.frame(x = at, y = curve[[name]], series = words[[name]], label = words[[name]])
  }))
  place <- if (object$k > 0L && length(at) > 1L) {
    stats::approx(log(curve$k), at, log(object$k), rule = 2)$y
  }
  new_picture("curves", table = table, x_labels = curve$k, plain = "best possible",
    lines = list(v = place), xlab = "features chosen (k)", ylab = "share",
    title = sprintf("ufs_%s: how many features?", object$method),
    subtitle = sprintf("k = %d: %s", object$k, object$reason))
}
