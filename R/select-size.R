# ufs_size(): how many features, for a method or a task, and its pictures. The judgement is that of
# R/run-size.R.

#' How many features to choose
#'
#' Says how many features to choose, with the reason and the curves behind the number. Use it where
#' nobody tells you k. Give a `task`, and it is the number that `ufs_select(x, "auto", task)`
#' chooses; give a `method`, and it is what `k = "auto"` means for this method in [ufs()], in its
#' own function, in [step_select_ufs()] and in the filters of mlr3. The same seed gives the same
#' number in all of these; where it is 0, they keep all columns and say so.
#'
#' # For a task
#' The rules are [ufs_select_rules]. `curve` has a row for each `number` tried and `measure`: its
#' `value`, and the range from `low` to `high` over halves of the rows.
#'
#' # For a method
#' It says "take all" where every column seems to be of use, "no column is better than noise" where
#' none is, and "not repeatable" where halves of the samples choose other columns. The four curves,
#' in the columns of `curve`:
#'
#' * `share`: the share of the best k that are no better than noise, see [ufs_decoys()], and never
#'   more than as many columns as look like noise in all. Structure that is not wanted counts as
#'   structure.
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
#' curves, from what you are ready to lose.
#'
#' Methods that rank columns to complement each other ([ufs_css()], [ufs_mcfs()]) or by their own
#' values alone ([ufs_variance()]) have a share of noise that says little: for these the columns are
#' counted, and `share` is measured, by [ufs_pca()], which the print says. [ufs_topk()] and
#' [ufs_blfse()], which solve for one number, are refused.
#'
#' # Is the rest noise?
#' For [ufs_css()], which picks columns one by one, `rest` has one more answer: `k`, the smallest
#' number of its first columns that leave of all others what is uncorrelated but for chance, so that
#' further columns would stand for themselves alone. `p_value` has those of the test for 0, 1, 2,
#' ... columns, up to the first above 0.05; `k` is `NA` if none was in as many as were tried (50 at
#' most). The test compares the sum of the squared correlations with that of independent columns. If
#' the first k columns are those that make the others, it says more than k in about one of twenty
#' tables. It asks about the columns chosen: others of the same number may leave less. It takes rows
#' to be independent, and warns where they are like the next ones, as in a series. There is none
#' with `weights`, nor where it would take very long.
#'
#' @inheritParams ufs_decoys
#' @param method The name of a method that selects features, or a fit, whose method and arguments
#'   are taken.
#' @param task In the place of a method, a task of [ufs_select()]: `"compress"`, `"classify"` or
#'   `"cluster"`.
#' @param ... Further arguments of the method, and those of [ufs_data()]; with a `task`, those of
#'   [ufs_select()].
#' @param k The numbers to look at; the default is about ten, from 2 to all columns that are not
#'   constant. The answer need not be among them.
#' @param repeats How many times decoys are drawn, see [ufs_decoys()].
#' @param n_resamples How many random halves of the samples (of the levels of `replicates`)
#'   to draw for the stability.
#' @return An object of class `ufs_size`: `k`, a whole number; `verdict`, one of `"some"`, `"all"`,
#'   `"noise"` (then `k` is 0) and `"unstable"`; `reason`, a sentence; `curve`, a data frame; `n`,
#'   `p`; and `method` or `task`. For a method also `usable`, how many columns are not constant;
#'   `at`, the row of `curve` at the answer; `errors` of fits that failed; `by`, whose permuted
#'   copies were asked; `rows`, among how many samples neighbours were compared; `levels`, of
#'   `replicates`, which count as samples here (or `NULL`); `decoys`, the
#'   [ufs_decoys()] result; `rest`, for [ufs_css()]: `list(k, p_value)`, or `NULL`. For a task also
#'   `method`, which [ufs_select()] would take.
#' @references Sood, Hastie (2023) A statistical view of column subset selection.
#'   \doi{10.48550/arXiv.2307.12892} (for the question whether the rest is noise).
#' @seealso [ufs_decoys()], [ufs_captured()], [ufs_stability()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 30), 60)
#' x[, 1:8] <- x[, 1:8] + 3 * rep(0:1, each = 30)
#' colnames(x) <- paste0("v", 1:30)
#' size <- ufs_size(x, "pca", n_components = 2, repeats = 3, n_resamples = 4)
#' size
#' size$k
#' ufs_size(x, task = "cluster")
#' @export
ufs_size <- function(x, method = NULL, ..., task = NULL, k = NULL, repeats = 5L, share = 0.05,
                     n_resamples = 10L, checkpoint = NULL) {
  check_given(x)
  watch_over("ufs_size()")
  call <- plain_call(match.call(), "ufs_size")
  if (is.null(method) == is.null(task)) {
    refuse("method", "Give a `method`, or a `task` of ufs_select(): one of them.")
  }
  if (!is.null(task)) {
    unused <- c(k = !is.null(k), repeats = !missing(repeats), share = !missing(share),
      n_resamples = !missing(n_resamples), checkpoint = !is.null(checkpoint))
    for (name in names(which(unused))) {
      refuse(name, "`", name, "` is for a `method`; a task has a curve of its own.")
    }
    return(size_of_task(x, task, list(...), call))
  }
  plan <- decoys_plan(method, list(...), parent.frame())
  if (length(plan$methods) != 1L) refuse("method", "`method` must be one method or fit.")
  own <- plan$methods[[1L]]
  if (!is.null(method_row(own$method)$per_k)) {
    refuse("method", "ufs_", own$method, "() solves for one number of features; compare its fits ",
      "for several.")
  }
  n <- NULL
  if (inherits(x, "ufs_moments") && method_row(own$method)$moments) {
    n <- x$n
    x <- rows_like(x)
  }
  x <- check_door(open_some(x, plan$input)$x, "ufs_size()",
    c("columns", constraint_names(evidence = TRUE)))
  n_resamples <- check_count(n_resamples, "n_resamples", 2L, 1e6, "a million resamples")
  found <- size_of_method(x, own, k, repeats, share, n_resamples, check_checkpoint(checkpoint))
  structure(c(list(call = call, method = own$method, n = c(n, x$n)[1L], p = x$p), found),
    class = c("ufs_size", "ufs_result"))
}

# The method that ufs_select(x, "auto", task) would choose, without its fit.
size_of_task <- function(x, task, given, call) {
  task <- check_choice(task, "task", c("compress", "classify", "cluster", "label"))
  if (inherits(x, "ufs_moments")) {
    if (task != "compress") refuse_moments("x")
    x <- rows_like(x)
  }
  opened <- open_some(x, given)
  check_door(opened$x, "ufs_size()", "columns")
  own <- intersect(c("n_clusters", "noise", "ordered", "kind"), names_of(opened$rest))
  asked <- c(list(task = task, k = "auto"), opened$rest[own])
  check_selection(task, "auto", NULL, asked$n_clusters, asked$noise, isTRUE(asked$ordered))
  check_kind(asked$kind)
  watch_says(function(step) "looking at the data")
  found <- planned_selection(opened$x, asked, names_of(given),
    opened$rest[setdiff(names_of(opened$rest), own)])
  structure(c(list(call = call, task = task, n = found$look$n, p = opened$x$p),
    found$plan[c("method", "verdict", "curve")], list(k = found$plan$size,
      reason = found$plan$number_reason)), class = c("ufs_size", "ufs_result"))
}

#' @export
print_lines.ufs_size <- function(x) {
  cat_line("<ufs_size> ", if (is.null(x$task)) paste0("ufs_", x$method) else
    paste0("task \"", x$task, "\""), ", ", size_words(x$n, x$p))
  cat_line("  k = ", x$k, ": ", x$reason,
    if (!is.null(x$by) && x$by != x$method) paste0(", by ufs_", x$by, "()"))
  if (x$k > 0L && is.null(x$task) && x$verdict != "all" && nrow(x$at)) {
    cat_field(at = 2L, "", "they explain ", percent(x$at$captured), " of the variance (at best ",
      percent(x$at$bound), ") and keep ", percent(x$at$knn_overlap), " of the nearest neighbours",
      if (x$rows < x$n) paste0(" (among ", x$rows, if (is.null(x$levels)) " drawn samples)" else
        " levels of replicates)"))
  }
  if (!is.null(x$rest)) {
    tried <- length(x$rest$p_value) - 1L
    cat_field(at = 2L, "", if (is.na(x$rest$k)) {
      paste("beyond the best", tried, "the others still have something in common")
    } else paste0(if (x$rest$k == 0L) "the columns have" else
      paste("beyond the best", x$rest$k, "the others have"),
      " nothing in common but chance (test at ", percent(rest_settings$level), ")"))
  }
  shown <- x$curve
  # The estimate of a share may lie above one.
  if (!is.null(shown$share)) shown$share <- pmin(shown$share, 1)
  if (!is.null(shown)) print(shown, digits = 2L, row.names = FALSE)
  print_failed(x$errors, "  ", "resample")
  print_checkpoint(x$checkpoint)
}

#' @export
as.data.frame.ufs_size <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots_empty(...)
  x$curve
}

#' @export
picture.ufs_size <- function(object, ...) {
  curve <- object$curve
  if (!is.null(object$task)) {
    if (is.null(curve)) refuse("object", "There is no curve: ", object$reason, ".")
    return(size_picture(curve, object$k))
  }
  words <- c(share = "no better than noise", captured = "captured", bound = "best possible",
    knn_overlap = "neighbours kept", stability = "stability")
  # Numbers from 2 to thousands: equal steps of the grid.
  at <- seq_along(curve$k)
  table <- do.call(rbind, lapply(names(words), function(name) {
    data.frame(x = at, y = curve[[name]], series = words[[name]])
  }))
  place <- if (object$k > 0L && length(at) > 1L) {
    stats::approx(log(curve$k), at, log(object$k), rule = 2)$y
  }
  new_picture("curves", table = table, x_labels = curve$k, plain = "best possible",
    lines = list(v = place), xlab = "features chosen (k)", ylab = "share",
    title = sprintf("ufs_%s: how many features?", object$method),
    subtitle = sprintf("k = %d: %s", object$k, object$reason))
}

#' @export
picture_types.ufs_select <- function(fit) {
  types <- NextMethod()
  # The choice comes first, the way of the method last.
  c(setdiff(types, "objective"), if (!is.null(fit$size_curve)) "size",
    intersect(types, "objective"))
}

#' @export
picture.ufs_select <- function(object, type, ...) {
  if (type != "size") return(NextMethod())
  size_picture(object$size_curve, object$size)
}

size_picture <- function(curve, size) {
  numbers <- sort(unique(curve$number))
  # From 2 to thousands: equal steps of the grid.
  curve$number <- match(curve$number, numbers)
  new_picture("curves", table = data.frame(x = curve$number, y = curve$value,
    series = curve$measure, low = curve$low, high = curve$high),
    x_labels = numbers, percent = TRUE, xlab = "features chosen",
    ylab = if (length(unique(curve$measure)) == 1L) paste(curve$measure[1L], "(%)") else "%",
    lines = list(v = if (length(numbers) > 1L) {
      stats::approx(log(numbers), seq_along(numbers), log(size), rule = 2)$y
    }), title = "How many features", subtitle = paste(size, "were chosen"))
}
