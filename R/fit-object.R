# The fitted object: constructor, ranking rule, accessors.

# Fields that a method may hand over in `made`, with their defaults; `data`, the list of the
# input pass, and `control` are always there, and any other field goes into the fit as it is.
# Feature scores and keys come in the solver's columns (data$keep) and are expanded to the user's p,
# with NA for constant columns. Sample scores have length n.
fit_parts <- list(
  params = list(),
  feature_scores = NULL,
  sample_scores = NULL,
  # A secondary key for exact ties of the score (the KKT value of rows that are exactly zero);
  # larger is better.
  feature_key = NULL,
  sample_key = NULL,
  statistic = NULL,
  solution = list(),
  # A matrix or data frame with named columns, a row per iteration.
  trace = NULL,
  status = "converged",
  iterations = 0L,
  certificate = numeric(),
  elapsed = NA_real_,
  # Features that have no score by intention, beside the constant ones.
  without_score = integer(),
  # Constraints that the solver sees to in another form of the method, not in this one.
  by_ranking = character(),
  class = character()
)

# Every method ends here.
new_ufs <- function(method, call, made) {
  own <- names(made)[!names(made) %in% c(names(fit_parts), "data", "control")]
  made <- c(made, fit_parts[!names(fit_parts) %in% names(made)])
  data <- made$data
  stopifnot(made$status %in% status_labels)
  fit <- c(list(method = method, call = plain_call(call, paste0("ufs_", method)),
    params = made$params, control = made$control, feature_scores = NULL, feature_ranking = NULL,
    sample_scores = NULL, sample_ranking = NULL, statistic = made$statistic,
    solution = made$solution, trace = as_trace(made$trace), status = made$status,
    iterations = as.integer(made$iterations), certificate = made$certificate,
    elapsed = made$elapsed, center = data$center, scale = data$scale,
    names = list(features = data$features, samples = data$samples, named = data$named,
      repeated = data$repeated), n = data$n, p = data$p, constant = data$constant,
      input = final_input(data)), if (!is.null(data$coded)) data["coded"], made[own])
  if (!is.null(data$constraints)) {
    fit$constraints <- constraints_for_fit(method, data, made$by_ranking)
  }
  if (!is.null(made$feature_scores)) {
    stopifnot(length(made$feature_scores) %in% c(length(data$keep), usable(data)))
    key <- if (is.null(made$feature_key)) rep(0, length(data$keep)) else made$feature_key
    fit$feature_scores <- expand_features(as.double(made$feature_scores), data, NA_real_)
    fit$feature_key <- expand_features(as.double(key), data, NA_real_)
    # Methods that keep constant columns may score them, too.
    fit$feature_scores[data$constant] <- NA_real_
    fit <- rank_features(fit, data)
  }
  if (!is.null(made$sample_scores)) {
    stopifnot(length(made$sample_scores) == data$n)
    fit$sample_scores <- stats::setNames(as.double(made$sample_scores), data$samples)
    fit$sample_key <- if (is.null(made$sample_key)) rep(0, data$n) else as.double(made$sample_key)
    fit <- rank_samples(fit)
  }
  # A fit with missing or infinite numbers is not called converged. Left aside are features and
  # samples that have no score by intention (constant, in `without_score`, excluded, labelled, no
  # candidates), and NA (not NaN) in a certificate, which says that a method did not compute it.
  unscored <- c(data$constant, made$without_score, barred_columns(fit))
  numbers <- c(if (!is.null(fit$feature_scores)) replace(fit$feature_scores, unscored, 0),
    if (!is.null(fit$sample_scores)) replace(fit$sample_scores, barred_samples(fit), 0),
    made$certificate[!is.na(made$certificate) | is.nan(made$certificate)], fit$trace$objective)
  if (identical(made$status, "converged") && !all(is.finite(numbers))) fit$status <- "numerical"
  structure(fit, class = c(made$class, paste0("ufs_", method), "ufs"))
}

# A fit's features, best first, as columns of the prepared data: without the constant ones.
kept_order <- function(fit, data) columns_of(data, fit$feature_ranking)

# Scores that are mere ranks: 1 for the best, falling in equal steps; NA for what is not ranked.
rank_scores <- function(ranking, steps, size = steps) {
  replace(rep(NA_real_, size), ranking, (steps + 1 - seq_along(ranking)) / steps)
}

# A ranking that begins with those picked one by one; the others of `all` follow by what they would
# add, equal up to rounding = by index.
picks_first <- function(picked, added, all = seq_along(added), digits = 10L) {
  rest <- setdiff(all, picked)
  c(picked, rest[order(-signif(added[rest], digits))])
}

# Samples that are labelled already have no score, so that they come last.
without_labelled <- function(score, labelled) replace(score, labelled, NA_real_)

empty_trace <- data.frame(iteration = integer())

as_trace <- function(trace) {
  if (is.null(trace)) return(empty_trace)
  trace <- unclass(as_table(trace))
  if (is.null(trace$iteration)) trace <- c(list(iteration = seq_along(trace[[1L]])), trace)
  trace$iteration <- as.integer(trace$iteration)
  as_table(trace)
}

# A matrix of the solver's as a table in which some columns are whole numbers.
counted_table <- function(value, whole) {
  table <- unclass(as_table(value))
  table[whole] <- lapply(table[whole], as.integer)
  as_table(table)
}

# ---- fields -----------------------------------------------------------------------------

#' Fields that all fits share
#'
#' Whatever the method, a fit is a list of class `c("ufs_<method>", "ufs")` with these fields; that
#' of [ufs_select()] has a few more, which its help lists. Read it by functions where there is one:
#' [selected_features()], [selected_samples()], [feature_scores()], [sample_scores()],
#' [cluster_labels()], [as.data.frame.ufs()], [plot.ufs()], [predict.ufs()], `coef()` for the
#' weights of the features where a method has them, and `tidy()`, `augment()` and `glance()`
#' ([ufs_tidiers]).
#'
#' | Field | Holds |
#' |---|---|
#' | `method` | its name, as in [ufs_methods()] |
#' | `call` | the call; data that were given as a value stand there as `<matrix 3 x 3>` |
#' | `params` | every argument as it was used, defaults resolved |
#' | `control` | the settings of [ufs_control()] |
#' | `feature_scores`, `sample_scores` | a number for each, larger is better, or `NULL` |
#' | `feature_ranking`, `sample_ranking` | their indices, best first |
#' | `feature_key`, `sample_key` | what orders equal scores, larger first |
#' | `statistic` | the paper's own quantity where the score is another |
#' | `solution` | what the method solved for: weights, clusters, the order of picks |
#' | `trace` | a data frame, a row for each iteration: `objective`, residuals |
#' | `status` | `"converged"`, `"max_iter"`, `"stalled"`, `"diverged"` or `"numerical"` |
#' | `iterations`, `elapsed` | how many, and the seconds |
#' | `certificate` | named numbers that prove the answer: a gap, a bound, a residual |
#' | `center`, `scale` | what was taken off the columns, and what they were divided by |
#' | `names` | those of the features and samples |
#' | `n`, `p`, `constant` | the size of the data, and which columns are constant |
#' | `input` | what became of the data on the way in: rows left out, values filled in |
#' | `constraints` | constraints of the data, and who saw to them; `NULL` without |
#'
#' # What is promised
#' * These names, what they hold, and the columns of `as.data.frame()`, `tidy()`, `augment()` and
#'   `glance()` stay within a version x.y. A field that will go is named in NEWS one version before.
#'   New ones may come, so take fields by name.
#' * The fields of `solution`, `statistic` and `trace` are those of the method's help, and as stable
#'   as the method. Fields and parts that no help page names are for the package itself.
#' * A fit does not hold `x`; only `na = "knn"` keeps rows, to fill new ones from. It can be saved
#'   with [saveRDS()]. One whose rankings were changed by hand into something else is refused.
#' * Scores and choices for the same data, arguments and seed do not change without a line in NEWS.
#'   Other BLAS libraries may move the last digits.
#'
#' @return No function: a page on what all methods return.
#' @examples
#' fit <- ufs_pca(iris[, 1:4], n_components = 2)
#' names(fit)
#' fit$status
#' @seealso [ufs_methods()], [ufs_tidiers]
#' @name ufs_fields
NULL

# ---- accessors ------------------------------------------------------------------------

#' What a fit chose
#'
#' These functions read a fit: its scores (larger is better for every method), its rankings (best
#' first), and the best `k` features or `m` samples. Use them instead of looking into the object.
#'
#' Exact ties are broken by the method's secondary key and then by the lowest index; a tie at the
#' cut is reported by a message of class `ufs_message_tie`. Many methods give most features a score
#' of exactly 0. If more features are asked for than have a score above 0, the remaining places go
#' by the secondary key (column `key` of [as.data.frame.ufs()]) or, without one, of the columns, and
#' a message of class `ufs_message_padded` says how many. Constant features have score `NA` and come
#' last. Selections are nested in `k`, except for [ufs_topk()], which solves for its `k`.
#'
#' @param fit A fitted object of class `ufs`.
#' @param k,m How many features or samples, a whole number from 1 to the number there
#'   are. The default `NULL` takes the number that was given to the method: `ufs_pca(x, 2, k = 10)`.
#' @param as `"name"`, `"index"` or `"logical"` (one value for each column or row, in the order of
#'   `x`; `"names"` is the same as `"name"`). The default gives what `x` is indexed by: names if its
#'   columns (rows) have names, of rows each its own, and integer indices otherwise, also where the
#'   names of the rows only number them, as those of most data frames do. `as = "index"` is what
#'   leaves chosen rows out: `df[-selected_samples(fit, as = "index"), ]`.
#' @param budget How much the chosen features (samples) may cost together, for data with `cost`
#'   (`sample_cost`), see [ufs_data()]. It may take the place of `k` (`m`); with both, both hold.
#'   The default `NULL` is the budget given with the data.
#' @param ... Must be empty: an unknown argument is an error.
#' @return `feature_scores()` and `sample_scores()`: a named numeric vector in the order of the
#'   columns (rows) of `x`. `feature_ranking()` and `sample_ranking()`: indices, best first.
#'   `selected_features()` and `selected_samples()`: the best `k` (`m`), best first.
#' @examples
#' fit <- ufs_variance(iris[, 1:4])
#' feature_scores(fit)
#' selected_features(fit, k = 2)
#' selected_features(fit, k = 2, as = "index")
#'
#' priced <- ufs_variance(iris[, 1:4], cost = c(1, 1, 3, 2))
#' selected_features(priced, budget = 4)
#' @name selected
NULL

#' @rdname selected
#' @export
feature_scores <- function(fit) check_fit(fit, "feature_scores", "features")

#' @rdname selected
#' @export
feature_ranking <- function(fit) check_fit(fit, "feature_ranking", "features")

#' @rdname selected
#' @export
selected_features <- function(fit, k = NULL, as = NULL, ...) {
  check_fit(fit)
  UseMethod("selected_features")
}

#' @rdname selected
#' @export
selected_features.ufs <- function(fit, k = NULL, as = NULL, budget = NULL, ...) {
  check_dots_empty(...)
  check_fit(fit, "feature_ranking", "features")
  k <- if (by_budget(fit, "features", "k", k, budget)) fit$p else wanted_number(fit, k, "k")
  top_of(fit, "feature", "k", k, as, fit$names$named, wanted_budget(fit, "features", budget))
}

#' Cluster labels of a fit
#'
#' Gives the clusters of the samples that a method found on its way, in the same form for every
#' method that has them ([ufs_socfs()], [ufs_kmeans_f()], [ufs_ndfs()], [ufs_sogfs()],
#' [ufs_blfse()], [ufs_topk()]). Use it to see which groups of samples the chosen features explain.
#'
#' @param fit A fit with clusters.
#' @return An integer vector, named by the samples: 1 is the largest cluster, 2 the second largest,
#'   and so on; of clusters of one size, the one that occurs first comes first.
#' @examples
#' set.seed(1)
#' table(cluster_labels(ufs_kmeans_f(iris[, 1:4], n_clusters = 3)), iris$Species)
#' @export
cluster_labels <- function(fit) {
  check_fit(fit)
  cluster <- fit$solution$cluster
  if (is.null(cluster)) refuse("fit", "ufs_", fit$method, "() has no clusters.")
  known <- unique(as.vector(cluster))
  size <- tabulate(match(cluster, known), length(known))
  stats::setNames(match(cluster, known[order(-size)]), fit$names$samples)
}

#' @rdname selected
#' @export
sample_scores <- function(fit) check_fit(fit, "sample_scores", "samples")

#' @rdname selected
#' @export
sample_ranking <- function(fit) check_fit(fit, "sample_ranking", "samples")

#' @rdname selected
#' @export
selected_samples <- function(fit, m = NULL, as = NULL, ...) {
  check_given(fit)
  UseMethod("selected_samples")
}

#' @export
selected_samples.default <- function(fit, m = NULL, as = NULL, ...) check_fit(fit)

#' @rdname selected
#' @export
selected_samples.ufs <- function(fit, m = NULL, as = NULL, budget = NULL, ...) {
  check_dots_empty(...)
  check_fit(fit, "sample_ranking", "samples")
  if (by_budget(fit, "samples", "m", m, budget)) m <- fit$n else {
    m <- wanted_number(fit, m, "m")
    # Samples that were labelled already are not chosen again.
    given <- length(union(fit$params$labelled, fit$constraints$samples$labelled))
    if (given) check_count(m, "m", 1L, fit$n - given, "the samples without a label")
  }
  top_of(fit, "sample", "m", m, as, named_samples(fit), wanted_budget(fit, "samples", budget))
}

# Do names tell the samples apart, and say more than their number?
named_samples <- function(fit) {
  names <- fit$names$samples
  !is.null(names) && !any(shared_names(names)) && !identical(names, as.character(seq_along(names)))
}

# Methods fitted for one k only: their selections for several numbers are not nested.
check_one_size <- function(size, fit, name, what) {
  if (!identical(check_count(size, name), fit$params[[name]])) {
    ufs_abort("refit", "This fit chose exactly ", fit$params[[name]], what, ", and selections of ",
      "ufs_", fit$method, "() are not nested: fit again with ", name, " = ", size, ".",
      argument = name)
  }
}

# The number given here, or that of the call of the fit.
wanted_number <- function(fit, value, name) {
  if (is.null(value)) value <- fit$params[[name]]
  if (is.null(value)) {
    refuse(name, "`", name, "`, the number of ", if (name == "k") "features" else "samples",
      " to choose, is missing: give it here or to ufs_", fit$method, "()",
      if (name == "k") "; ufs_size() helps to find it", ".")
  }
  value
}

# A fit of this package with sound rankings; with a `slot`, which it gives, where it selects `what`.
check_fit <- function(fit, slot = NULL, what = NULL) {
  refuse_completed(sys.call(-1L), sys.function(-1L))
  check_given(fit)
  if (!inherits(fit, "ufs") || !is.list(fit)) {
    refuse("fit", "`fit` must be a fit of this package, not ", kind_of(fit), ".")
  }
  for (ranking in list(fit$feature_ranking, fit$sample_ranking)) {
    if (!is.null(ranking) &&
        !(is.numeric(ranking) && all(tabulate(ranking, length(ranking)) == 1L))) {
      refuse("fit", "The fit was changed after it was made: its ranking does not have each index ",
        "once. Fit again.")
    }
  }
  if (is.null(slot)) return(invisible())
  if (is.null(fit[[slot]])) {
    refuse("fit", "ufs_", fit$method, "() does not select ", what, "; selected_",
      setdiff(c("features", "samples"), what), "() gives what it selects.")
  }
  fit[[slot]]
}

# The first k of a ranking of features or samples (`one`), with messages about ties, scores of zero
# and constraints.
top_of <- function(fit, one, arg, k, as, named, budget = NULL) {
  what <- paste0(one, "s")
  ranking <- fit[[paste0(one, "_ranking")]]
  score <- fit[[paste0(one, "_scores")]]
  key <- fit[[paste0(one, "_key")]]
  k <- check_count(k, arg, 1L, length(ranking), paste("there are that many", what))
  as <- check_as(as, named)
  check_choice_size(fit, one, k, budget)
  best <- choose_best(fit, one, k, budget)
  say_short(fit, one, k, best, budget)
  best <- stats::setNames(best, names(score)[best])
  scored <- count_scored(score)
  if (length(best) < k) k <- length(best)
  if (scored < k) {
    ufs_inform("padded", "Only ", scored, " of the ", k, " ", what, " have a score above 0; the ",
      "rest is ", order_of_rest(score, key), ".")
  } else if (tied_at_cut(ranking, score, key, k)) {
    ufs_inform("tie", what, " ", k, " and ", k + 1L,
      " have equal scores: the lower index was taken.")
  }
  # For methods that pick features or samples one by one, from all or from a pool: a message where
  # more are asked for than were picked, or another number than swaps were made for. `name` is the
  # argument to fit again with.
  picked <- length(fit$solution$order)
  again <- paste0(k, " fit again with ", arg, " = ", k, ".")
  if (isTRUE(fit$params$swaps > 0L) && k != picked) {
    ufs_inform("partial", "The swaps were made for the best ", picked, " ", what, "; for ", again)
  } else if (picked > 0L && k > picked) {
    ufs_inform("partial", "Only the first ", picked, " ", what, " were ",
      if (is.null(fit$params$pool)) "picked one by one" else "chosen to differ", "; for all ",
      again)
  }
  chosen_as(best, score, as)
}

check_as <- function(as, named) {
  if (is.null(as)) return(if (named) "name" else "index")
  check_choice(if (identical(as, "names")) "name" else as, "as", c("name", "index", "logical"))
}

# Indices with names as they are asked for.
chosen_as <- function(best, score, as) {
  switch(as, index = unname(best),
    logical = stats::setNames(seq_along(score) %in% best, names(score)),
    name = if (is.null(names(best))) as.character(best) else names(best))
}

# How many scores say something: all of them, unless the method leaves some at exactly zero.
count_scored <- function(score) {
  known <- score[!is.na(score)]
  if (any(known < 0)) length(known) else sum(known > 0)
}

# In what order a ranking goes on where its scores end.
order_of_rest <- function(score, key) {
  rest <- which(!is.na(score) & score == 0)
  if (length(unique(key[rest])) > 1L) {
    return("ordered by the method's second criterion (`key` in as.data.frame())")
  }
  if (length(rest)) "in the order of the columns and says nothing" else "constant"
}

tied_at_cut <- function(ranking, score, key, k) {
  if (k < 1L || k >= length(ranking)) return(FALSE)
  pair <- unname(ranking[k + 0:1])
  isTRUE(score[[pair[1L]]] == score[[pair[2L]]] && key[[pair[1L]]] == key[[pair[2L]]])
}
