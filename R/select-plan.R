# The front door for those who do not want to choose a method.

#' Choose by task, with the method that held best on real data
#'
#' Say what the selection is for. The data are looked at first ([ufs_look()]), and what is seen
#' decides about scaling, the method and its settings. Start here if you do not want to choose a
#' method yourself. The print says what was seen, which method it was and why, what the choice is
#' worth on these data and was worth on real sets, and whether anything about it looks wrong;
#' `cat(fit$code)` is code that does the same by hand. `vignette("which-method")` shows measurements
#' behind these recommendations, and `evidence/select.R` makes the table that the print
#' quotes.
#'
#' * `"compress"` chooses a few columns from which all the others can be rebuilt: [ufs_css()] with
#'   `mu_rel = 1`.
#' * `"classify"` chooses a few columns for a classifier whose labels come later: [ufs_css()] with
#'   `mu_rel = 0.1`.
#' * `"cluster"` chooses a few columns for k-means: [ufs_consensus()]; on large data [ufs_mcfs()],
#'   which takes much less time.
#' * `"label"` chooses the samples to label first: [ufs_medoids()], which solves for `m`. With
#'   `ordered = TRUE`, or an argument that only [ufs_facility()] has, it is that one, whose first
#'   samples are good for any smaller number.
#'
#' Columns in different units are standardised. Those in one unit are not by `"compress"` and
#' `"classify"`, and counts by no task: there, tasks other than `"compress"` weight features by
#' their inverse document frequency and give rows unit length (`counts = "tfidf", unit_rows = TRUE`
#' of [ufs_data()]); give `counts` yourself for another choice, as `counts = "log"` for cells. Where
#' most columns are noise, [ufs_consensus()] chooses, whatever the task: methods that choose columns
#' to complement each other prefer noise. On large data, of more than 4,000 samples or 4 million
#' values, it is [ufs_pca()].
#'
#' Without `n_clusters` the number of clusters is one more than the principal components with a
#' larger variance than any of permuted columns (after Horn 1965), at least 2 and at most 30:
#' clusters apart from each other need as many directions, less one.
#'
#' "Worth, here" compares the choice with 20 random ones of the same size, on at most 400 samples
#' and 1,000 columns besides those chosen: `captured` ([ufs_captured()]), `knn_overlap`
#' ([ufs_tune()]) and `noise`, the share of columns no better than noise by [ufs_decoys()]; for
#' samples `uncovered`, the mean squared distance to the nearest chosen sample over that to the
#' mean of all.
#'
#' Do not expect a selection of features to beat all features on clean data. It saves columns, and
#' it wins where there is noise to leave out.
#'
#' @inheritParams ufs
#' @param k How many features to choose, or `"auto"` for as many as are better than noise (see
#'   [ufs_size()]), or all where that is most of them. For `task = "label"` it is how many samples
#'   to choose, unless `m` says so.
#' @param task `"compress"`, `"classify"`, `"cluster"` or `"label"`.
#' @param m For `"label"`, how many samples to choose.
#' @param n_clusters For `"cluster"`, the number of clusters to look for.
#' @param noise Are most columns pure noise? The default `NULL` lets decoys decide.
#' @param ordered For `"label"`, should samples come in an order whose beginning is good for any
#'   smaller number?
#' @param ... Further arguments of the method, for instance `labelled` of [ufs_facility()], and
#'   those of [ufs_data()].
#' @return The method's fit; its class begins with `"ufs_select"`. Besides what the method returns
#'   it has `task`, `size` (k or m), `look` (what was seen), `reason`, `decided` (how what was not
#'   given was found), `worth` (a data frame), `checks` (sentences; none if all is well) and `code`.
#'   `selected_features(fit)` and `selected_samples(fit)` take that number by default.
#' @references Horn, J. L. (1965) A rationale and test for the number of factors in factor analysis.
#'   *Psychometrika* **30**(2), 179-185. \doi{10.1007/BF02289447}
#' @seealso [ufs_look()], [ufs_size()], [ufs_methods()], whose column `advice` says what each method
#'   is worth.
#' @examples
#' set.seed(1)
#' fit <- ufs_select(iris[, 1:4], k = 2, task = "compress")
#' fit
#' selected_features(fit)
#' ufs_select(iris[, 1:4], m = 6, task = "label")
#' @export
ufs_select <- function(x, k = NULL, task = c("compress", "classify", "cluster", "label"), m = NULL,
                       n_clusters = NULL, noise = NULL, ordered = FALSE, ...) {
  check_given(x)
  task <- check_choice(task, "task")
  check_selection(task, k, m, n_clusters, noise, ordered)
  given <- list(...)
  opened <- open_some(x, given)$x
  # The fit itself says what is constant, once.
  look <- without_constant(look_unchecked(opened))
  if (is.null(noise)) noise <- look$noisy && task != "label"
  asked <- list_of(task, k = if (task == "label" && !is.null(m)) m else k, n_clusters, noise,
    ordered, counts = any(c("counts", "unit_rows") %in% names_of(given)))
  own <- given[setdiff(names_of(given), door_arguments)]
  plan <- without_constant(selection_plan(opened, look, asked, own))
  check_wanted(stats::setNames(list(plan$size), if (task == "label") "m" else "k"), dim(opened))
  seed <- if (!method_row(plan$method)$deterministic) draw_seeds(1L)[[1L]]
  ready <- opened
  if (length(plan$transform)) ready <- do.call(ufs_data, c(list(opened), plan$transform))
  fit <- with_seed(seed, do.call(ufs, c(list(x = ready, method = plan$method), plan$args),
    quote = TRUE))
  # The call to repeat it: the user's `x`, every argument as used.
  call <- as.call(c(list(as.name(paste0("ufs_", plan$method)), x = substitute(x)),
    given[names_of(given) %in% door_arguments], plan$transform, plan$args))
  fit$code <- repeat_code(call, seed, match.call(expand.dots = TRUE))
  fit$call <- plain_call(call, paste0("ufs_", plan$method))
  fit[c("task", "size", "look", "reason", "decided")] <- list(task, plan$size, look, plan$reason,
    plan$decided)
  class(fit) <- c("ufs_select", class(fit))
  fit$worth <- without_constant(selection_worth(fit, ready))
  fit$checks <- selection_checks(fit, ready)
  fit
}

# What is wrong whatever the data are.
check_selection <- function(task, k, m, n_clusters, noise, ordered) {
  if (!is.null(noise)) check_flag(noise, "noise")
  check_flag(ordered, "ordered")
  label <- task == "label"
  if (!label && !is.null(m)) {
    refuse("m", "`m` is for task = \"label\"; say how many features by `k`.")
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
      " to choose, is missing", if (what == "k") "; k = \"auto\" lets decoys say it", ".")
  }
  if (!(what == "k" && identical(size, "auto"))) check_count(size, what, 1L)
}

# ---- the decisions -------------------------------------------------------------------------------

# Which method, with which arguments, and why: list(method, args, size, reason, decided, transform).
# The only place above the methods that names them: it is the advice itself.
selection_plan <- function(x, look, asked, given) {
  decided <- character()
  transform <- count_transform(x, look, asked)
  if (length(transform)) {
    x <- do.call(ufs_data, c(list(x), transform))
    decided <- c(decided,
      counts = "tf-idf weights and rows of unit length: samples of counts differ by their size")
  }
  large <- as.double(x$n) * x$p > 4e6 || x$n > 4000L
  counts <- look$values == "counts"
  scale <- if (asked$task %in% c("cluster", "label") || asked$noise) !counts else
    look$values %in% c("mixed units", "standardised")
  method <- if (asked$task == "label") {
    only <- setdiff(arguments_of(ufs_facility), arguments_of(ufs_medoids))
    if (asked$ordered || any(names_of(given) %in% only)) "facility" else "medoids"
  } else if (asked$noise) {
    if (large) "pca" else "consensus"
  } else if (asked$task == "cluster") {
    if (large) "mcfs" else "consensus"
  } else "css"
  clusters <- asked$n_clusters
  if (method %in% c("consensus", "mcfs") && is.null(clusters)) {
    clusters <- found_clusters(x, scale)
    decided <- c(decided, clusters = paste0("n_clusters = ", clusters,
      ": one more than the principal components above those of permuted columns"))
  }
  size <- asked$k
  if (identical(size, "auto")) {
    auto <- auto_k(x, method, list(n_clusters = clusters, scale = scale))
    size <- auto$k
    decided <- c(decided, k = paste0("k = ", size, ": ", auto$reason, " (by ufs_", auto$by, "())"))
  }
  size <- as.integer(size)
  args <- switch(method,
    css = list(k = size, mu_rel = if (asked$task == "compress") 1 else 0.1, scale = scale),
    consensus = list(n_clusters = clusters, k = size, scale = scale),
    mcfs = list(n_clusters = clusters, n_features = size, scale = scale),
    pca = list(n_components = sizing_method(x, "random", list())$args$n_components, scale = scale),
    # Centred counts of short documents are all alike.
    medoids = list(m = size, center = !counts, scale = scale),
    facility = list(m = size, center = !counts, scale = scale))
  # A penalty given absolutely takes the place of the share that is recommended.
  args[paste0(names_of(given), "_rel")] <- NULL
  args[names_of(given)] <- given
  reason <- switch(method,
    css = if (asked$task == "compress") "picks the columns that best rebuild all columns" else
      "picks the columns that rebuild all columns, whatever the labels will be",
    consensus = "is the mean of seven rankings, without redundancy among columns better than noise",
    mcfs = "picks the columns that explain the clusters of the neighbour graph; fast on large data",
    pca = "ranks by the leading principal components, where noise has no part; fast on large data",
    medoids = "picks samples that are the centres of all samples",
    facility = "picks samples that stand for all samples, in an order")
  list_of(method, args, size, reason, decided, transform)
}

# Arguments of ufs_data() for counts of which the user says nothing; columns are to be rebuilt as
# they are.
count_transform <- function(x, look, asked) {
  open <- x$kind != "source" && is.null(x$input$transform) && !isTRUE(asked$counts)
  if (look$values == "counts" && open && asked$task != "compress" && !length(negative_columns(x))) {
    list(counts = "tfidf", unit_rows = TRUE)
  }
}

# One more than the leading principal components with a variance above that of permuted columns, on
# at most 400 rows and 2,000 columns; 2 to 30.
found_clusters <- function(x, scale, most = c(400L, 2000L)) {
  with_seed(draw_seeds(1L)[[1L]], {
    z <- as_rescaled_operator(open_quietly(drawn_part(x, most)), TRUE, scale)$x
    own <- svd(z, 0L, 0L)$d
    permuted <- svd(apply(z, 2L, sample), 0L, 0L)$d
  })
  as.integer(min(max(2, 1 + sum(own > permuted[1L])), 30, x$n - 1L))
}

# ---- the same by hand ----------------------------------------------------------------------------

# R code that makes the same selection in a session of its own. Values whose text would not give
# them back are written as the user wrote them.
repeat_code <- function(call, seed, written) {
  parts <- lapply(names(call)[-1L], function(name) {
    text <- if (name == "x") expression_text(call$x, "x") else exact_text(call[[name]])
    if (is.null(text)) text <- expression_text(written[[name]], paste0("<", name, ">"))
    paste(name, "=", text)
  })
  paste0(if (!is.null(seed)) paste0("set.seed(", seed, ")\n"),
    as.character(call[[1L]]), "(", paste(parts, collapse = ", "), ")")
}

exact_text <- function(value) {
  base <- c("keepNA", "keepInteger", "niceNames", "showAttributes")
  for (how in list(base, c(base, "digits17"))) {
    text <- paste(deparse(value, width.cutoff = 500L, control = how), collapse = " ")
    same <- tryCatch(identical(eval(parse(text = text, keep.source = FALSE)), value),
      error = function(e) FALSE)
    if (same) return(text)
  }
  NULL
}

# Code, unless it is data themselves, as do.call() gives them.
expression_text <- function(expression, otherwise, most = 1000L) {
  if (!is.language(expression)) return(otherwise)
  text <- paste(trimws(deparse(expression, width.cutoff = 500L)), collapse = " ")
  if (nchar(text) > most) otherwise else text
}
