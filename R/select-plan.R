# ufs_select(): the method and its settings, for those who do not want to choose them.

#' Select features or samples for a task, by the recommended method
#'
#' Start here if you do not want to choose a method yourself. Say what the selection is for;
#' `ufs_select()` looks at the data ([ufs_look()]) and picks scaling, method and settings. The
#' print says what was chosen, by which method, how it compares with random choices on your data,
#' and what looks wrong; `summary()` has the reasons, how such choices did on real sets, and the
#' code.
#'
#' Do not expect a selection of features to beat all features on clean data. It saves columns, and
#' it can win where there is noise to leave out.
#'
#' # Which method it takes
#' | `task` | Usually | Where most columns are noise |
#' |---|---|---|
#' | `"compress"` | [ufs_css()], least squares with exchanges | the same |
#' | `"classify"` | [ufs_css()], `mu_rel = 0.1` | [ufs_consensus()]; wide or counts: [ufs_pca()] |
#' | `"cluster"` | [ufs_consensus()]; wide data: [ufs_mcfs()] | as for `"classify"` |
#' | `"label"` | [ufs_medoids()]; `ordered = TRUE`: [ufs_facility()]; curves: [ufs_ted()] | same |
#'
#' [ufs_select_rules] has the rest: when columns count as noise, how data are prepared, what
#' `"auto"` looks at, and what the print compares. The explained variance beside random choices is
#' of rows left out, by thirds: on the rows that chose, a few extreme ones may decide.
#'
#' @inheritParams ufs
#' @param k How many features to choose, or `"auto"`. It has to be given, unless a `budget` of
#'   [ufs_data()] takes its place. For `task = "label"` it is how many samples to choose, if `m`
#'   does not say so.
#' @param task What the selection is for. `"compress"`: a few columns from which all the others can
#'   be rebuilt. `"classify"`: columns for a classifier whose labels come later. `"cluster"`:
#'   columns in which k-means finds the groups. `"label"`: samples to label, or to measure, first.
#' @param m For `"label"`, how many samples to choose; a `sample_budget` may take its place.
#' @param n_clusters For `"cluster"`, the number of clusters to look for.
#' @param noise For `"classify"` and `"cluster"`, are most columns pure noise? The default `NULL`
#'   lets permuted copies decide.
#' @param ordered For `"label"`, should samples come in an order whose beginning is good for any
#'   smaller number?
#' @param kind What kind of numbers these are, see [ufs_look()]. The default `NULL` decides by the
#'   numbers.
#' @param ... Further arguments of the method, for instance `labelled` of [ufs_facility()], and
#'   those of [ufs_data()].
#' @return The method's fit; its class begins with `"ufs_select"`. Besides what the method returns
#'   it has `task`, `size` (k or m, which `selected_features(fit)` and `selected_samples(fit)` take
#'   by default), `look` (what was seen), `reason`, `decided` (how defaults were chosen), `worth`
#'   (the comparison with random choices, a data frame), `halves` (how much the choice hangs on the
#'   rows), `price` (with constraints: the share of the gain over random choices that is left of the
#'   gain without them), `checks` (sentences; none if none objects), `unchecked` (what could not be
#'   checked) and `code`; after `"auto"` also `size_curve`, a data frame with a row for each
#'   `number` tried and `measure`: its `value`, and the range from `low` to `high` over halves of
#'   the rows.
#' @seealso [ufs_select_rules] for the rules, [ufs_look()], [ufs_size()], [ufs_fields], and
#'   [ufs_methods()], whose column `advice` says what each method is good for.
#' @examples
#' set.seed(1)
#' fit <- ufs_select(iris[, 1:4], k = 2, task = "compress")
#' fit
#' selected_features(fit)
#' ufs_select(iris[, 1:4], m = 6, task = "label")
#' @export
ufs_select <- function(x, k = NULL, task = c("compress", "classify", "cluster", "label"), m = NULL,
                       ..., n_clusters = NULL, noise = NULL, ordered = FALSE, kind = NULL) {
  check_given(x)
  watch_over("ufs_select()")
  task <- check_choice(task, "task")
  check_own_names(names_of(given <- list(...)))
  priced <- inherits(x, "ufs_data") || any(c("budget", "sample_budget") %in% names_of(given))
  check_selection(task, if (priced && is.null(c(k, m))) 1L else k, m, n_clusters, noise, ordered)
  check_kind(kind)
  watch_says(function(step) "looking at the data")
  moments <- inherits(x, "ufs_moments")
  if (moments && task != "compress") refuse_moments("x")
  # Samplers have an argument `labelled` of their own, which goes on to them.
  for_data <- setdiff(input_arguments(), if (task == "label") "labelled")
  opened <- open_some(if (moments) rows_like(x) else x, given, setdiff(input_arguments(), for_data))
  moved <- !identical(opened$rest$labelled, given$labelled)
  if (moved) given["labelled"] <- list(opened$rest$labelled)
  opened <- check_door(opened$x, "ufs_select()", if (task == "label") "rows" else "columns")
  held <- given[names_of(given) %in% for_data]
  if (bought <- is.null(c(k, m))) k <- bought_number(opened, task)
  size <- if (task == "label" && !is.null(m)) m else k
  naming_omitted(opened, {
    planned <- planned_selection(opened, list_of(task, k = size, n_clusters, noise, ordered, kind),
      names_of(given), given[setdiff(names_of(given), for_data)])
    look <- planned$look
    plan <- planned$plan
    check_wanted(plan$size, if (task == "label") "m" else "k", opened$n, opened$p)
  })
  seed <- if (!method_row(plan$method)$deterministic) draw_seeds(1L)[[1L]]
  prepared <- function(...) {
    if (...length() || length(plan$transform)) {
      do.call(ufs_data, c(list(opened, ...), plan$transform))
    } else opened
  }
  ready <- prepared()
  watch_says(function(step) paste0("ufs_", plan$method, "(), ", count_words(step, "step")))
  run <- function(free = FALSE) with_seed(seed, {
    used <- if (is.null(plan$samples)) ready else prepared(samples = eval(plan$samples))
    if (free) {
      used <- without_constraints(used, if (task == "label") "sample" else "feature")
      # A budget may have paid for fewer than were asked for.
      plan$args[names(plan$args) %in% c("k", "m")] <- list(fit$size)
    }
    # Rows that stand for moments are to be looked at.
    own <- c(list(x = if (moments) x else used), if (moments && !free) held)
    do.call(ufs, c(own, method = plan$method, plan$args), quote = TRUE)
  })
  fit <- run()
  # The call to repeat it: the user's `x`, every argument as used. Places among the rows that are
  # left would point at other rows of `x`.
  if (moved) plan$args$labelled <- opened$samples[plan$args$labelled]
  call <- as.call(c(list(as.name(paste0("ufs_", plan$method)), x = substitute(x)), held,
    plan$transform, samples = plan$samples, plan$args))
  fit$code <- repeat_code(call, seed, match.call(expand.dots = TRUE))
  fit$call <- plain_call(call, paste0("ufs_", plan$method))
  fit <- as_selection(fit, task, look, plan, bought)
  watch_says(function(step) "comparing the choice with random ones")
  with_worth(fit, ready, bought, function() run(free = TRUE), plan$args)
}

# Names of arguments that no method has, and what was meant.
check_own_names <- function(given) {
  known <- unlist(lapply(registry(), `[[`, "arguments"))
  for (name in setdiff(given, setdiff(c(known, input_arguments(), ""), "y"))) {
    meant <- is_it(name, setdiff(names(formals(ufs_select)), c("x", "...")))
    if (name %in% c("method", "methods")) meant <- " ufs(x, \"pca\") takes the name of a method."
    if (name == "y") meant <- " Labels take no part; ufs_compare(x, y, ...) compares by them."
    if (length(meant)) refuse(name, "ufs_select() has no argument `", name, "`.", meant)
  }
}

# With the comparison with random choices, what the constraints cost and what looks wrong. Where the
# method takes long it is not run a second time, without constraints, to see that, nor on halves of
# the rows: that is left to summary(fit, x). Draws nothing from the caller's random numbers.
with_worth <- function(fit, x, bought, run_free, args, most = 4e6) {
  seed <- looking_seed
  fit$worth <- without_constant(selection_quality(fit, x, seed, bought))
  constrained <- !is.null(without_constraints(x, if (fit$task == "label") "sample" else "feature"))
  if (constrained && !is.null(fit$worth)) {
    free <- if (as.double(x$n) * x$p <= most) {
      suppressMessages(suppressWarnings(tryCatch(run_free(), ufs_error = function(e) NULL)))
    }
    fit["price"] <- list(if (is.null(free)) NA_real_ else {
      free[c("task", "size", "unchecked")] <- fit[c("task", "size", "unchecked")]
      class(free) <- class(fit)
      without_constant(share_of_gain(fit, free, x, seed))
    })
  }
  if (fit$method %in% c("css", "pca") && as.double(x$n) * x$p <= most) {
    fit$halves <- row_halves(fit, x, args)
  }
  fit["unchecked"] <- list(selection_unchecked(fit, constrained))
  verdict <- quality_verdict(fit$worth)
  random <- function(what) {
    at <- fit$worth$measure[verdict == what]
    if (length(at)) paste(what, "than random choices at", toString(measure_words[at]))
  }
  verdict[without_noise(fit$worth, fit$size)] <- "better"
  out <- c(random("worse"), random("not clearly better"),
    if (isTRUE(fit$price < 0.5)) paste("the constraints cost", percent(1 - max(0, fit$price)),
      "of the gain over random choices"),
    if (!left_over(fit)) paste0("all ", if (fit$task == "label") "samples" else "columns that vary",
      ", or all but one, are chosen: this saves nothing"),
    fit_checks(fit, if (fit$task != "label") chosen_indices(fit)),
    orientation_words(fit$look), fit$look$doubts)
  fit$checks <- unique(if (fit$task == "label") out else c(out, column_checks(fit, x)))
  fit
}

# list(look, plan): what is seen in the opened data, and what selection_plan() makes of it. `given`:
# the names of all arguments, `own` those for the method. The fit itself says what is constant,
# once.
planned_selection <- function(x, asked, given, own) {
  look <- without_constant(look_unchecked(x, asked$kind, noise = asked$task != "label"))
  asked$budget <- !is.null(x$row_held$budget)
  asked <- asked_for(asked, look, given, !is.null(x$row_held$weights))
  plan <- without_constant(selection_plan(x, look, asked, own))
  if (!is.null(x$stands_for)) {
    look[c("n", "held")] <- list(x$stands_for, "moments")
    plan$decided <- c(plan$decided, rows = paste("looked at and compared on", x$n,
      "rows drawn from a normal distribution with these moments"))
  }
  list_of(look, plan)
}

# How many the budget pays for.
bought_number <- function(x, task) {
  label <- task == "label"
  k <- if (label) affordable(x$row_held, x$n) else affordable(x$held, x$p)
  check_selection(task, k, NULL, NULL, NULL, FALSE)
  k
}

# The fit with what was planned and the size that was reached: constraints may leave fewer than were
# asked for. A budget alone asks for no number.
as_selection <- function(fit, task, look, plan, bought) {
  fit[c("task", "size", "look", "reason", "decided", "unchecked")] <- list(task, plan$size, look,
    plan$reason, plan$decided, NULL)
  fit$size_curve <- plan$curve
  class(fit) <- c("ufs_select", class(fit))
  message <- NULL
  fit$size <- length(withCallingHandlers(if (task == "label") selected_samples(fit) else
    selected_features(fit), message = function(m) {
      if (inherits(m, "ufs_message_constraints")) message <<- conditionMessage(m)
      invokeRestart("muffleMessage")
    }))
  if (!bought && !is.null(message)) {
    fit$decided <- c(fit$decided, short = sub("[.]\\s*$", "", sub("^Only", "only", message)))
  }
  fit
}

# The request, completed by the look's verdict on noise and the arguments of ufs_data() given.
asked_for <- function(asked, look, given, weights = FALSE) {
  features <- asked$task %in% c("classify", "cluster")
  told <- asked$noise
  # For k = "auto" noise need not be beyond doubt.
  likely <- features && (if (is.null(told)) isTRUE(look$noise > 0.5) else told)
  asked$real <- if (likely) as.integer(round(look$usable * (1 - look$noise)))
  asked$noise <- features && (if (is.null(told)) look$noisy else told)
  asked$counts <- "counts" %in% given
  asked$samples <- "samples" %in% given
  asked$weights <- weights
  asked
}

#' How `ufs_select()` decides, prepares and compares
#'
#' The rules behind [ufs_select()]: when columns count as noise, how the data are prepared for each
#' task, what `"auto"` looks at, and what the print compares. Read it to see why a selection came
#' out as it did; `fit$reason`, `fit$decided` and `cat(fit$code)` say it for one.
#'
#' # Which method it takes
#' Most columns are taken to be noise if more than half of them look like it in all repeats of
#' [ufs_look()]; methods that choose columns to complement each other would then prefer noise. Data
#' are wide with more than 1,000 columns, and more than 4,000 samples or 4 million values. From more
#' than 4,000 samples of fewer columns [ufs_consensus()] takes 1,000 to 4,000 drawn at random, which
#' `decided` says. Of log counts [ufs_css()] rebuilds the 20 leading components (`target = 20`,
#' `mu_rel = 0.1`), for `"compress"` too (`vignette("gene-panel")`).
#'
#' Spectra and other smooth curves, of which neighbouring columns hardly differ, are compared by the
#' leading principal component scores that hold nearly all of the variance, as [ufs_split()]
#' compares them, and labelled in the order of [ufs_ted()] with `similarity = "heat"`
#' (`vignette("laboratory")`). Baseline and scatter are taken out of them first (`rows = "snv"` of
#' [ufs_data()]); `rows = "none"` keeps them as they are, where the level of a curve counts.
#'
#' An argument in `...` that not all methods of a task have restricts the choice to those that have
#' it: `members` means [ufs_consensus()], `labelled` with `similarity` [ufs_facility()]. So do
#' `weights` of samples. One that none has is an error. `cat(fit$code)` is code that does the same
#' by hand.
#'
#' # How the data are prepared
#' Columns in different units are standardised, and those of one unit are not, except to label,
#' among noise, and by [ufs_mcfs()] unless they are log counts. Tasks other than `"compress"` weight
#' counts by their inverse document frequency and give rows unit length (`counts = "tfidf",
#' rows = "unit"` of [ufs_data()]); counts of columns with the names of genes become log counts
#' (`counts = "log"`). So do words most of which look like noise, as the length of their rows would
#' come from the noise; they are standardised, too, so that rare words have a part in the
#' components. Give `counts` yourself for another choice. To label, samples are
#' compared by their directions; below 10 columns, and where a tenth of the samples lies near the
#' mean of all, by their distances. Rows of counts that are empty are never chosen.
#'
#' Without `n_clusters` the number of clusters is one more than the principal components with a
#' larger variance than any of permuted columns (after Horn 1965), at least 2 and at most 30:
#' clusters apart from each other need as many directions, less one.
#'
#' # How many: `"auto"`
#' `k = "auto"` looks at a curve, on at most 400 rows and 1,000 columns, which `plot(fit, "size")`
#' shows.
#' * To compress it is the smallest number that keeps 0.95 of the variance of rows left out: that of
#'   the chosen columns, and what a ridge regression on them explains of the others.
#' * To cluster it is the smallest number that keeps 0.7 of the 5 nearest neighbours, 10 at least.
#' * To classify it is 0.45 of the columns, 60 at least and 300 at most, or fewer if they keep 0.95
#'   of the neighbours.
#' * Where more than half of the columns look like noise it is the number found by permuted copies
#'   ([ufs_decoys()]).
#'
#' `ufs_size(x, task = task)` gives the same number, without the fit.
#'
#' The shares to cluster and to classify were chosen on twenty real sets. Much of what the answers
#' cost beside the best number is luck: which of a dozen numbers is best differs from one half of
#' the rows to the other. Columns that must be in or out bound the number.
#'
#' There is no `m = "auto"`: nothing that can be seen without labels told on real sets how many
#' samples were needed (`evidence/decisions.md`), so give as many as you can afford to label.
#'
#' # What the print compares
#' The choice stands beside 20 random choices of the same size that keep to the same constraints,
#' and with a budget alone spend it:
#' * the variance explained of rows left out, by thirds; before it that of the rows that chose, as
#'   by [ufs_captured()];
#' * the nearest neighbours kept ([ufs_tune()]);
#' * how many of the chosen look like noise: their rank correlations with the columns closest to
#'   them are those of permuted copies;
#' * how many of the chosen columns are chosen again from random halves of the rows (of the levels
#'   of `replicates`), by two pairs of halves, how many of the others are replaced by a column like
#'   them, and by how much the explained variance of rows left out differs; of [ufs_css()] and
#'   [ufs_pca()] to 4 million values, and of any fit by `summary(fit, x)`, which takes a few times
#'   as long as the fit;
#' * for samples the mean squared distance to the nearest chosen or labelled sample over that to the
#'   mean of all.
#'
#' It is called better or worse than random if it is in 19 of the 20, and otherwise not clearly
#' better. With constraints the same method runs without them, too, where x has at most 4 million
#' values: a check speaks where they leave less than half of its gain.
#'
#' **That nothing looks wrong does not say that the choice is good**: nobody has seen labels. Of
#' `r {t <- utils::read.csv("inst/benchmarks/results/select.csv"); nrow(t)}` choices for a task on
#' real sets `r {bad <- t$score - t$random < -1; sum(bad)}` lost to random ones by more than
#' a point, judged with labels. No check objected on `r round(100 * mean(t$quiet[bad]))` % of the
#' halves of rows that made them, and on `r round(100 * mean(t$quiet[!bad]))` % of those that made
#' the others. `vignette("evidence")` has what else was tried as a check, on rows left out, too:
#' nothing tells the bad ones well.
#'
#' `vignette("which-method")` has the measurements behind the recommendations, and
#' `evidence/select.R` in the sources makes the table of real sets that the print quotes.
#'
#' # Labelling week after week
#' Give what is labelled as `labelled`. `vignette("which-samples")` has a rule to stop: when the
#' labels that [ufs_propagate()] passes on no longer change, and foresee the next ones no better.
#'
#' @return No function: a page on what [ufs_select()] does.
#' @examples
#' set.seed(1)
#' fit <- ufs_select(mtcars, k = "auto")
#' fit$reason
#' fit$decided
#' fit$worth
#' @seealso [ufs_select()], [ufs_size()], `vignette("which-method")`
#' @references Horn, J. L. (1965) A rationale and test for the number of factors in factor analysis.
#'   *Psychometrika* **30**(2), 179-185. \doi{10.1007/BF02289447}
#' @name ufs_select_rules
NULL

# Checks of the arguments that need no data.
check_selection <- function(task, k, m, n_clusters, noise, ordered) {
  if (!is.null(noise)) check_flag(noise, "noise")
  check_flag(ordered, "ordered")
  label <- task == "label"
  if (!label && !is.null(m)) {
    refuse("m", "`m` only applies to task = \"label\". Use `k` for the number of features.")
  }
  if (!label && ordered) refuse("ordered", "`ordered` is for task = \"label\".")
  if (label && isTRUE(noise)) {
    refuse("noise", "`noise` is about choosing features; choose these first, then samples.")
  }
  if (label && !is.null(m) && !is.null(k)) refuse("k", "Give `m` or `k`, not both.")
  if (task != "cluster" && !is.null(n_clusters)) {
    refuse("n_clusters", "`n_clusters` is for task = \"cluster\" only.")
  }
  what <- if (label) "m" else "k"
  size <- if (label && !is.null(m)) m else k
  if (is.null(size)) {
    refuse(what, "`", what, "`, how many ", if (what == "m") "samples" else "features",
      " to choose, is missing", if (!label) "; k = \"auto\" lets the data say it", ".")
  }
  if (label && identical(size, "auto")) {
    refuse(what, "Nothing that can be seen without labels tells how many samples are needed: give ",
      "a number, as many as you can afford to label.")
  }
  if (!identical(size, "auto")) check_count(size, what, 1L)
}

# ---- the decisions -------------------------------------------------------------------------------

# Which method, with which arguments, and why: list(method, args, size, reason, decided, transform,
# curve, samples), samples being the call that draws some. The only place above the methods that
# names them: it is the advice itself.
selection_plan <- function(x, look, asked, given) {
  decided <- character()
  smooth <- asked$task == "label" && is_smooth_columns(x)
  transform <- if (smooth) curve_transform(x) else count_transform(x, look, asked)
  if (length(transform)) {
    x <- do.call(ufs_data, c(list(x), transform))
    if (!smooth && counted_as_cells(x, look)) look$values <- "log counts"
    if (!smooth) decided[["counts"]] <- counts_reason(x, transform$counts, look$values)
  }
  # Data that the user prepared are compared as ?ufs_data says.
  how <- x$input$transform
  told <- any(c("counts_told", "rows_told") %in% names(x$input))
  asked$prepared <- !length(transform) && !is.null(how) && told
  if (asked$prepared && how$counts == "tfidf") look$values <- "counts"
  # Methods mean different things by these two.
  asked$curves <- smooth && !any(c("form", "similarity") %in% names_of(given))
  large <- as.double(x$n) * x$p > 4e6 || x$n > 4000L
  drawn <- large && x$p <= 1000L && !isTRUE(asked$samples)
  method <- planned_method(look, asked, large && !drawn, names_of(given))
  samples <- if (drawn && method == "consensus") drawn_samples(x)
  if (!is.null(samples)) decided[["samples"]] <- paste(drawn_size(x), "of", x$n,
    "samples, drawn at random to save time")
  scale <- planned_scale(look, asked, method)
  clusters <- asked$n_clusters
  if (method %in% c("consensus", "mcfs") && is.null(clusters)) {
    # The look has counted them in the same numbers.
    clusters <- found_clusters(x, scale, if (scale && !length(transform)) look$components)
    decided <- c(decided, clusters = paste0("n_clusters = ", clusters, " (",
      count_words(clusters - 1L, "principal component"), " above noise, plus one)"))
  }
  auto <- if (identical(asked$k, "auto")) planned_number(x, asked, list_of(method, scale, clusters))
  decided <- c(decided, auto$decided,
    if (method != planned_method(look, replace(asked, "weights", FALSE), large && !drawn,
      names_of(given))) {
      c(weights = "samples have weights, which other methods for the task do not take")
    })
  size <- as.integer(if (is.null(auto)) asked$k else auto$k)
  args <- planned_args(x, look, asked$task, list_of(method, size, scale, clusters, large,
    curves = asked$curves))
  if (!is.null(args$target)) {
    decided <- c(decided, target = paste0("target = ", args$target,
      ": the rest of log counts is mostly noise of single columns"))
  }
  if (asked$task == "label" && length(look$empty)) {
    args$labelled <- look$empty
    decided <- c(decided, empty = paste0(count_words(length(look$empty), "empty row"),
      " set aside: as if labelled, so that none is chosen"))
    if (!is.null(given$labelled)) {
      given$labelled <- sort(union(look$empty, check_labelled(given$labelled, x)))
    }
  }
  # A penalty given absolutely takes the place of the share that is recommended.
  args[paste0(names_of(given), "_rel")] <- NULL
  args[names_of(given)] <- given
  if (method == "ted") decided[["curves"]] <- curve_reason(args$n_scores)
  if (smooth && length(transform)) decided <- c(decided, rows = snv_words)
  list_of(method, args, size, reason = plan_reason(method, asked$task, args$target), decided,
    transform, curve = auto$curve, verdict = auto$verdict, number_reason = auto$reason, samples)
}

counts_reason <- function(x, counts, values) {
  if (counts == "log") {
    paste("logarithms of counts over the total of their row, because", if (values == "counts") {
      "most words look like noise, which the length of a row would come from,"
    } else if (genes_among(x$features)) "columns are genes" else "few of them are 0",
      "and rows differ in their totals")
  } else "tf-idf weights and rows of unit length, because rows of counts differ in their totals"
}

curve_reason <- function(q) {
  paste0("neighbouring columns hardly differ, as in spectra, so samples are compared by ",
    count_words(q, "leading component"), " (99 % of the variance, 20 at most)")
}

drawn_size <- function(x) as.integer(max(1000, min(4000, 5e5 %/% x$p)))

# As code, so that the selection can be repeated. Columns of which few rows differ from the others,
# such as rare flags, would be constant in the rows drawn: one of these rows comes along.
drawn_samples <- function(x, few = 5L) {
  rows <- if (x$kind %in% c("dense", "sparse")) rare_rows(x, few)
  draw <- bquote(sample.int(.(x$n), .(drawn_size(x))))
  if (length(rows)) bquote(sort(unique(c(.(rows), .(draw))))) else bquote(sort(.(draw)))
}

rare_rows <- function(x, few) {
  part <- dense_part(x, round(seq(1, x$n, length.out = min(x$n, 1000L))), NULL)$x
  usual <- apply(part, 2L, stats::median)
  rare <- which(colSums(part != rep(usual, each = nrow(part))) <= few)
  unique(unlist(lapply(unname(rare), function(j) {
    utils::head(which(data_columns(x, j) != usual[j]), 1L)
  })))
}

planned_args <- function(x, look, task, plan) {
  center <- look$values != "counts"
  # Directions of samples mean something for words, and where there are some ten columns.
  unit <- task != "label" || (look$values == "counts" || (!plan$curves && x$p >= 10L &&
    !many_near_centre(x)))
  # Log counts: the leading components are to be rebuilt (evidence/panel.R), as by a gene panel.
  panel <- look$values == "log counts" && !plan$scale && min(x$n, x$p) >= 40L
  switch(plan$method,
    css = c(list(k = plan$size, mu_rel = if (task == "compress" && !panel) 0 else 0.1),
      if (task == "compress" && !panel) list(swaps = if (plan$large) 0L else TRUE),
      if (panel) list(target = 20L), list(scale = plan$scale)),
    consensus = list(n_clusters = plan$clusters, k = plan$size, scale = plan$scale),
    mcfs = list(n_clusters = plan$clusters, n_features = plan$size, k = plan$size,
      scale = plan$scale),
    pca = list(n_components = planned_components(x, plan$scale), k = plan$size, scale = plan$scale),
    # Centred counts of short documents are all alike.
    medoids = c(list(m = plan$size), if (!unit) list(unit = FALSE), list(center = center,
      scale = plan$scale)),
    facility = c(list(m = plan$size), if (!unit) list(similarity = "heat"), list(center = center,
      scale = plan$scale)),
    ted = list(m = plan$size, similarity = "heat", n_scores = curve_components(x),
      scale = plan$scale))
}

# Sentence of the print on how the method chooses.
plan_reason <- function(method, task, target) {
  switch(method,
    css = if (!is.null(target)) {
      "picks the columns that rebuild the leading components of all columns"
    } else if (task == "compress") {
      "picks the columns that rebuild all columns best by least squares"
    } else {
      paste("picks columns that rebuild all columns with small coefficients (a ridge), whatever",
        "the labels will be")
    },
    consensus = paste("averages seven rankings, keeps columns that rank above permuted copies, and",
      "avoids near-duplicates"),
    mcfs = "picks the columns that explain the clusters of the neighbour graph; fast on large data",
    pca = "ranks by the leading principal components, where noise has no part",
    medoids = "picks the samples nearest to the centres of k-means with as many clusters",
    facility = "picks samples in an order of which every beginning stands for all samples",
    ted = paste("picks the samples that tell most about all others, whatever smooth function is",
      "measured, in an order of which every beginning is good"))
}

# "auto": list(k, curve, decided).
planned_number <- function(x, asked, plan) {
  found <- within_constraints(planned_size(x, plan$method, list(n_clusters = plan$clusters,
    scale = plan$scale), asked$task, asked$real), x)
  list(k = found$k, curve = found$curve, verdict = found$verdict, reason = found$reason,
    decided = c(
      k = paste0("k = ", found$k, ": ", found$reason),
      curve = if (!is.null(found$curve)) curve_words(found$curve, found$k)))
}

# Columns that must be in or out, and groups, which are taken whole, bound the number.
within_constraints <- function(found, x) {
  held <- expand_groups(x$held)
  group <- if (is.null(held$groups)) 0 else smallest_unit(rep(1, x$p), held)$sum
  range <- choice_range(held, x$p)
  k <- as.integer(max(range[1L], group, min(range[2L], found$k)))
  if (k != found$k) {
    found$reason <- if (k < found$k) "all columns that may be chosen" else
      if (k > group) "as many columns must be in" else "the smallest group of columns has as many"
    found$k <- k
  }
  found
}

# The method for a task. An argument that only one of its methods has decides, whatever the data
# are.
planned_method <- function(look, asked, large, given) {
  weights <- isTRUE(asked$weights)
  noisy <- if (large || weights || look$values == "counts") "pca" else "consensus"
  usual <- switch(asked$task, compress = "css",
    # Medoids do not know what samples cost: the cheapest would come first.
    label = if (asked$curves) "ted" else if (isTRUE(asked$ordered) || isTRUE(asked$budget)) {
      "facility"
    } else "medoids",
    classify = if (asked$noise) noisy else "css",
    cluster = if (asked$noise || weights) noisy else if (large) "mcfs" else "consensus")
  of_task <- task_methods(asked)
  takes <- take_weights(of_task)
  if (weights && any(takes)) of_task <- of_task[takes]
  has <- function(method) all(given %in% method_row(method)$arguments)
  # Arguments that other methods of the task share do not decide.
  own <- setdiff(given, unlist(lapply(of_task, function(method) method_row(method)$arguments)))
  if (length(own)) {
    refuse(own[1L], "`", own[1L], "` is no argument of the methods for task = \"",
      asked$task, "\": ",
      paste0("ufs_", of_task, "()", collapse = ", "),
      if (isTRUE(asked$ordered)) " (`ordered` = TRUE)", ".")
  }
  fit <- Filter(has, c(intersect(usual, of_task), of_task))
  if (!length(fit)) {
    refuse(given[1L], "No method for task = \"", asked$task, "\" has all of the arguments ",
      paste0("`", given, "`", collapse = ", "), ".")
  }
  only <- Filter(has, of_task)
  if (length(only) < length(of_task)) intersect(c(usual, of_task), only)[1L] else fit[1L]
}

# The methods that a task may take, as far as what else is asked for has a meaning for them.
task_methods <- function(asked) {
  curves <- if (isTRUE(asked$curves)) "ted"
  of_task <- switch(asked$task, compress = "css", label = c(curves, "medoids", "facility"),
    classify = c("css", "consensus", "pca"), cluster = c("consensus", "mcfs", "pca"))
  if (asked$task == "label" && isTRUE(asked$ordered)) return(c(curves, "facility"))
  if (is.null(asked$n_clusters)) of_task else setdiff(of_task, "pca")
}

# Flags of the methods that take weights of rows.
take_weights <- function(methods) {
  vapply(methods, function(m) seen_by(method_row(m), "weights") != "refused", NA)
}

# Are columns standardised? Measured on real sets (evidence/decisions.md): css to classify and the
# consensus do better on columns of one unit as they are; the consensus needs its decoys on one
# scale among noise, and raw intensities for clustering.
planned_scale <- function(look, asked, method) {
  if (isTRUE(asked$curves) || isTRUE(asked$prepared)) return(FALSE)
  # Rare words have no part in leading components unless all words have one variance.
  if (look$values == "counts") return(isTRUE(asked$noise))
  if (look$values %in% c("mixed units", "standardised")) return(TRUE)
  asked$task == "label" || asked$noise || (method == "mcfs" && look$values != "log counts") ||
    (method != "css" && isTRUE(look$raw))
}

# Rows in the middle of all have no direction but that of their noise.
many_near_centre <- function(x, least = 0.2) {
  z <- even_part(x)
  z <- sweep(z, 2L, colMeans(z))
  spread <- sqrt(colSums(z^2))
  z <- sweep(z[, spread > 0, drop = FALSE], 2L, spread[spread > 0], "/")
  size <- stats::quantile(rowSums(z^2), c(0.1, 0.9), names = FALSE)
  sqrt(size[1L]) < least * sqrt(size[2L])
}

# Arguments of ufs_data() for counts of which the user says nothing; columns are to be rebuilt as
# they are.
count_transform <- function(x, look, asked) {
  open <- x$kind != "source" && is.null(x$input$transform) && !isTRUE(asked$counts)
  if (look$values == "counts" && open && asked$task != "compress" && !length(negative_columns(x))) {
    log <- isTRUE(asked$noise) || counted_as_cells(x, look)
    if (log) list(counts = "log") else list(counts = "tfidf", rows = "unit")
  }
}

# A word that all rows have would have no weight.
counted_as_cells <- function(x, look) genes_among(x$features) || isTRUE(look$zeros < 0.2)

# One more than the leading principal components with a variance above that of permuted columns, on
# at most 400 rows and 2,000 columns; 2 to 30.
found_clusters <- function(x, scale, above = NULL, most = c(400L, 2000L)) {
  if (is.null(above) || is.na(above)) {
    above <- with_seed(looking_seed, components_above(drawn_part(x, most), scale))
  }
  as.integer(min(max(2, 1 + above), 30, x$n - 1L))
}

# ---- the same by hand ----------------------------------------------------------------------------

# R code that makes the same selection in a session of its own, and parses whatever the data are
# called. Values whose text would not give them back, or would be long, are written as the user
# wrote them, or else by the name of their argument.
repeat_code <- function(call, seed, written) {
  parts <- lapply(names(call)[-1L], function(name) {
    value <- call[[name]]
    text <- if (name == "x") expression_text(value, "x") else exact_text(value)
    if (is.null(text) || (nchar(text) > 300L && !is.null(written[[name]]))) {
      text <- expression_text(if (is.call(value)) value else written[[name]],
        if (is.null(text)) name else text)
    }
    paste(name, "=", text)
  })
  paste0(if (!is.null(seed)) paste0("set.seed(", seed, ")\n"),
    as.character(call[[1L]]), "(", paste(parts, collapse = ", "), ")")
}

# Calls that make a value in the text that deparse() writes.
makes_values <- c("c", "list", "structure", ":", "-", "+", "as.raw", "complex")

# Text that gives the value back, and calls nothing else; NULL where there is none.
exact_text <- function(value) {
  if (is.language(value)) return(NULL)
  base <- c("keepNA", "keepInteger", "niceNames", "showAttributes")
  for (how in list(base, c(base, "digits17"))) {
    text <- paste(deparse(value, width.cutoff = 500L, control = how), collapse = " ")
    # R itself does not escape quotes in names.
    code <- parsed_or_null(text)
    same <- length(code) == 1L && all(all.names(code[[1L]]) %in% makes_values) &&
      identical(eval(code[[1L]], baseenv()), value)
    if (same) return(text)
  }
  NULL
}
