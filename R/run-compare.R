# Does the selection help? The protocols of the papers.

#' Compare methods with known classes
#'
#' Lets several methods choose features and samples without looking at the classes, and then
#' measures with the classes how good the choices were. Use it on data whose classes you know, to
#' find out which method suits data of that kind. Besides the methods you name it always runs all
#' features, random choice, principal component loadings, variance, and [ufs_kmeans_f()].
#'
#' # Mode "classify"
#' This is the protocol of section 4.1 of the ALFS paper (Li et al., 2019). A stratified share
#' `train` of the samples are candidates. Each method chooses, without labels, `k` features and `m`
#' candidates whose labels are then revealed. A classifier is trained on these and judged on the
#' samples that were not candidates. All of this is done `repeats` times.
#'
#' A name `"a+b"` chooses features by `a`, and then samples by `b` on the chosen features, anew for
#' each `k`, as in the paper. A method that selects only features gets random samples, and one that
#' selects only samples gets all features. With `m = NULL` all candidates are labelled.
#'
#' Methods receive the candidates as they are and standardise them by their own defaults.
#' Classifiers receive columns centred and scaled by the candidates' means and standard deviations
#' (constant columns become zero). Classes without a sample among the `m` cannot be predicted; their
#' samples count as errors, and the number of such classes is reported. If all `m` samples are of
#' one class, that class is predicted for every sample. Under `blocks` each half of the samples is
#' centred within its own blocks before classifiers see it, as the methods' data are.
#'
#' # Mode "cluster"
#' Each method is fitted to all samples. k-means with as many clusters as there are classes is run
#' on the chosen, standardised features from 10 starts, and its accuracy, NMI and ARI are reported
#' (see [ufs_cluster_metrics()]), `repeats` times.
#'
#' # In both modes
#' Random choice is drawn `n_random` times, and both the mean and the best of the draws are shown.
#' It keeps to the constraints of the data (see [ufs_data()]) as the methods do: what must be in is
#' in every draw, what may not be in none, and under a budget no choice costs more.
#' If you look at a method's best setting, chosen with the labels, hold it against that best draw.
#' Arguments `n_clusters` and `n_components` default to the number of classes: the methods are told
#' this number, but not the labels.
#'
#' @inheritParams ufs_grid
#' @param y Classes, a factor (or what [factor()] makes of it) of length n. The order of an ordered
#'   factor is not used. Whole numbers are taken as classes, and that is said; other numbers are
#'   refused.
#' @param methods Names of methods or of pipelines `"features+samples"`; in a list also functions,
#'   which are methods for this call as [ufs_register()] has it: `list("pca", mine = function(x)
#'   ...)`. `"features+diversify"` (and `"features+diversify+samples"`) makes the chosen features
#'   differ by [ufs_diversify()], whose arguments may be given in `args` as
#'   `list("laplacian+diversify" = list(diversify = list(...)))`. A named vector gives them other
#'   labels, so that one method can enter with several settings.
#' @param k Numbers of features, a vector, or `"auto"` for one number that all methods use: how many
#'   columns of `x` are better than noise by the decoys of [ufs_pca()], or all columns where that is
#'   most of them (see [ufs_size()]). It does not look at `y`.
#' @param m Numbers of samples to label, a vector, or `NULL` for all candidates. It is needed if one
#'   of the methods chooses samples.
#' @param mode `"classify"` or `"cluster"`.
#' @param classifiers Names among `"svm"` (linear, cost 100, package e1071), `"tree"` (rpart with
#'   its defaults), `"full_tree"` (rpart grown fully: minsplit 10, minbucket 1, cp 0) and `"knn"` (5
#'   neighbours, package class); or a named list of functions `function(x, y, newx)` that return one
#'   predicted class per row of `newx`. Where more than 750 rows are candidates, `"svm"` would take
#'   most of the time: it is left out there unless you name it, and `print()` says so.
#' @param repeats The number of repeats.
#' @param train The share of the samples that are candidates.
#' @param args A named list of argument lists, by label or by method name. An element `grid` (as in
#'   [ufs_grid()]) runs all its settings and gives two lines: the setting chosen without labels,
#'   under the method's label, and the most accurate setting, chosen with the test labels, as
#'   `"label (best of N)"`. Hold the latter only against the best of the random draws. Settings of a
#'   feature selector are chosen as [ufs_tune()] does, at each k; an element `criterion` names the
#'   criterion. Settings of a sample selector are chosen, at each m, by how well the chosen samples
#'   cover the candidates: the mean, over all candidates, of the largest cosine with a chosen
#'   sample, on the chosen features. What a method cannot use is an error.
#' @param n_random The number of random draws per repeat.
#' @param baselines Should the five baselines be added?
#' @param ... Arguments of [ufs_data()] that are applied to `x` first, such as `assay` or `samples`.
#'   Anything else is an error.
#' @return An object of class `ufs_compare`. `results`: one row per method, k, m, classifier and
#'   repeat, with `accuracy` (for `"cluster"` also `nmi` and `ari`), `missing` (classes without a
#'   labelled sample), `labelled`, and about the fit its `status`, the kinds of its `warnings`, the
#'   number of `live` features (those with a score other than 0: beyond them a ranking says little),
#'   its `seconds` and its `error`. `grid` has the same for every setting of every grid, see
#'   `as.data.frame(comparison, what = "grid")`. `summary()` gives means, standard deviations over
#'   the repeats and paired differences to a reference, and `plot()` draws curves over k or m. In
#'   mode "cluster" the repeats of a method without random numbers differ by k-means alone, so its
#'   deviation says nothing about other samples.
#' @references Li, C. et al. (2019) Joint active learning with feature selection via CUR
#'   matrix decomposition. *IEEE TPAMI* **41**(6), 1382-1396. \doi{10.1109/TPAMI.2018.2840980}
#' @examples
#' if (requireNamespace("rpart", quietly = TRUE)) {
#'   set.seed(1)
#'   ufs_compare(iris[, 1:4], iris$Species, "variance", k = 2, m = 20, classifiers = "tree",
#'     repeats = 2, n_random = 3, baselines = FALSE)
#' }
#' @export
ufs_compare <- function(x, y, methods, k, ..., m = NULL, mode = c("classify", "cluster"),
                        classifiers = c("svm", "tree"), repeats = 10, train = 0.5, args = list(),
                        n_random = 12, baselines = TRUE, checkpoint = NULL) {
  check_given(x, y, methods, k)
  call <- plain_call(match.call(), "ufs_compare")
  named <- named_methods(methods, substitute(methods))
  on.exit(forget_methods(named$own))
  methods <- named$names
  mode <- check_choice(mode, "mode")
  x <- open_with(x, ufs_compare, "compare", list(...))
  x <- open_data(x)
  data <- as_column_stats(open_quietly(x))
  x$features <- data$features
  if (x$kind == "dense") colnames(x$x) <- data$features
  y <- check_classes(y, data$n)
  repeats <- check_count(repeats, "repeats", 1L, 1e6, "a million")
  n_random <- check_count(n_random, "n_random", 1L, 1e6, "a million")
  train <- check_number(train, "train", 0, 1, open = TRUE)
  plan <- compare_plan(methods, check_flag(baselines, "baselines"), args, nlevels(y), mode)
  # Rows are chosen, by methods or at random, where not all are labelled.
  check_door(x, "ufs_compare()", c(if (mode == "classify" && !is.null(m)) "rows",
    if (any(vapply(plan, function(part) part$features != "all", NA))) "columns"))
  run <- start_run(paste0("compare-", mode), x, check_checkpoint(checkpoint))
  k <- if (!identical(k, "auto")) check_counts(k, "k", x$p, "the features") else
    auto_k(x, "random", seed = task_seed(run, "k"))$k
  included <- included_columns(x$held)
  if (length(included) > min(k)) refuse_fewer(x$features[included], min(k))
  halves <- NULL
  # A linear machine at cost 100 takes nearly all of the time where it learns from many rows.
  left_out <- if (missing(classifiers) && train * data$n > 750) "svm"
  if (mode == "classify") {
    if (!is.null(left_out)) classifiers <- setdiff(classifiers, left_out)
    classifiers <- check_classifiers(classifiers)
    halves <- lapply(seq_len(repeats), function(i) {
      with_seed(task_seed(run, "half", train, i), stratified(y, train))
    })
    m <- check_labels(m, plan, min(lengths(halves)))
  } else check_installed("clue", "to match clusters with classes")
  plans <- lapply(plan, hash_of)
  tasks <- Map(function(label, i) {
    list(label = label, rep = i, plan = plan[[label]],
      seed = task_seed(run, label, i, plans[[label]]))
  }, rep(names(plan), each = repeats), rep(seq_len(repeats), length(plan)), USE.NAMES = FALSE)
  common <- list_of(x = to_travel(x), y, k, m, halves, classifiers, n_random)
  # The value of a task depends on its own half, not on those of all repeats.
  keys <- task_keys(run, lapply(tasks, function(task) c(task, list(half = halves[[task$rep]]))),
    common[setdiff(names(common), "halves")])
  common$trained <- new.env(parent = emptyenv())
  done <- run_tasks(tasks, compare_task, common, run, keys, usable = is_compared)
  structure(list_of(call, mode, results = bind_rows(done$values, "rows"),
    grid = bind_rows(done$values, "grid"), methods = names(plan),
    asked = names(plan)[seq_along(methods)], k, m, repeats, train,
    classes = levels(y), n = data$n, p = data$p, n_random, halves, checkpoint = done$report,
    left_out = if (mode == "classify") left_out),
  class = c("ufs_compare", "ufs_result"))
}

# Can this be a finished task of a comparison?
is_compared <- function(value) {
  rows <- value$rows
  share <- unlist(unclass(rows)[c("accuracy", "nmi", "ari")])
  is.data.frame(rows) && nrow(rows) > 0L && is.numeric(share) && !any(is.nan(share)) &&
    all(is.na(share) | abs(share) <= 1 + 1e-8) &&
    all(c("method", "k", "m", "classifier", "rep", "accuracy", "labelled", "missing", "status",
      "warnings", "live", "seconds", "error") %in% names(rows))
}

# With all candidates labelled (NULL) a sampler has nothing to choose.
check_labels <- function(m, plan, most) {
  if (!is.null(m)) return(check_counts(m, "m", most, "the candidates"))
  idle <- vapply(plan, function(part) part$samples != "random" && !part$joint, NA)
  if (any(idle)) {
    refuse("m", "`m`, how many samples to label, is missing: '", names(plan)[idle][1L],
      "' chooses samples.")
  }
}

# ---- what to run --------------------------------------------------------------------------

# A named list: label -> list(features, samples, args for both).
compare_plan <- function(methods, baselines, args, n_classes, mode) {
  if (!is.character(methods) || anyNA(methods)) {
    refuse("methods", "`methods` must be a character vector.")
  }
  if (!is.list(args) || (length(args) && is.null(names(args)))) {
    refuse("args", "`args` must be a named list of lists.")
  }
  label <- ifelse(nzchar(names_of(methods)), names_of(methods), methods)
  if (baselines) {
    extra <- setdiff(c("all", "random", "pca", "variance", "kmeans_f"), label)
    label <- c(label, extra)
    methods <- c(methods, extra)
  }
  if (!length(methods)) {
    refuse("methods", "`methods` is empty and `baselines` is FALSE: there is nothing to compare.")
  }
  if (anyDuplicated(label)) {
    refuse("methods", "`methods` has '", label[duplicated(label)][1L], "' twice: name the entries.")
  }
  unknown <- setdiff(names(args), c(label, unlist(strsplit(methods, "+", fixed = TRUE))))
  if (length(unknown)) {
    refuse("args", "`args` has '", unknown[1L], "', which is not among `methods`.")
  }
  stats::setNames(Map(compare_pipeline, unname(methods), label,
    MoreArgs = list(args = args, n_classes = n_classes, mode = mode)), label)
}

compare_pipeline <- function(method, label, args, n_classes, mode) {
  part <- strsplit(method, "+", fixed = TRUE)[[1L]]
  diversify <- NULL
  if (length(part) > 1L && part[2L] == "diversify") {
    part <- part[-2L]
    diversify <- as.list(args[[label]]$diversify)
    args[[label]]$diversify <- NULL
  }
  if (!length(part) || length(part) > 2L) {
    refuse("methods", "`methods`: '", method, "' is not a method or \"features+samples\".")
  }
  selects <- function(name) if (name == "all") "features" else method_row(name, "methods")$selects
  one <- length(part) == 1L
  features <- if (one && selects(part) == "samples") "all" else part[1L]
  samples <- if (!one) part[2L] else if (selects(part) == "features") "random" else part
  if (!one && (selects(features) == "samples" || selects(samples) == "features")) {
    refuse("methods", "`methods`: in '", method, "' the first must select features and the ",
      "second samples.")
  }
  if (mode == "cluster" && features == "all" && part[1L] != "all") {
    refuse("methods", "`methods`: ", part[1L], " selects samples, which mode = \"cluster\" does ",
      "not use.")
  }
  joint <- features == samples && features != "random"
  args <- pipeline_args(args, label, unique(c(features, samples)))
  grids <- pipeline_grids(args, label, features, samples, joint)
  with_args <- function(name, grid) {
    if (name %in% c("all", "random")) return(list())
    accepted <- method_row(name)$arguments
    given <- utils::modifyList(args$method[[name]], args$label[names(args$label) %in% accepted])
    given[c("grid", "criterion")] <- NULL
    for (number in intersect(c("n_clusters", "n_components"), accepted)) {
      if (is.null(given[[number]]) && !number %in% names(grid)) given[[number]] <- n_classes
    }
    given
  }
  criterion <- c(args$label$criterion, args$method[[features]]$criterion)
  list_of(features, samples, joint, feature_args = with_args(features, grids$features),
    sample_args = with_args(samples, grids$samples), grid = grids$features,
    sample_grid = grids$samples, criterion = criterion[1L], n_classes, diversify)
}

# The arguments for this label, and those for the methods of its pipeline by name. What
# nobody can use is an error, never dropped.
pipeline_args <- function(args, label, methods) {
  known <- lapply(stats::setNames(nm = methods), function(name) {
    if (!name %in% c("all", "random")) c(method_row(name)$arguments, "grid", "criterion")
  })
  by_method <- lapply(stats::setNames(nm = methods), function(name) as.list(args[[name]]))
  by_label <- if (label %in% methods) list() else as.list(args[[label]])
  check <- function(given, known, whose) {
    unknown <- setdiff(names(given), known)
    if (length(unknown) || (length(given) && is.null(names(given)))) {
      refuse("args", "`args`: ", whose, " cannot use ",
        if (length(unknown)) paste0("`", unknown[1L], "`") else "arguments without names", ".")
    }
  }
  for (name in methods) check(by_method[[name]], known[[name]], name)
  check(by_label, unlist(known), paste0("'", label, "'"))
  list(method = by_method, label = by_label)
}

# The grid of the feature selector and that of the sample selector. One given by label belongs
# to the part that has its arguments.
pipeline_grids <- function(args, label, features, samples, joint) {
  grids <- list(features = args$method[[features]]$grid,
    samples = if (!joint) args$method[[samples]]$grid)
  own <- args$label$grid
  if (is.null(own)) return(grids)
  arguments <- function(name) if (!name %in% c("all", "random")) method_row(name)$arguments
  part <- if (all(names(own) %in% arguments(features))) "features" else
    if (all(names(own) %in% arguments(samples))) "samples"
  if (is.null(part)) {
    refuse("args", "`args`: the grid of '", label, "' has arguments of neither ", features, " nor ",
      samples, " alone; give each its own grid, by the method's name.")
  }
  grids[[part]] <- own
  grids
}

check_classes <- function(y, n) {
  y <- plain_factor(y)
  if (!is.atomic(y) || !is.null(dim(y)) || length(y) != n || anyNA(y)) {
    refuse("y", "`y` must have one class for each of the ", count_words(n, "sample"),
      ", and no missing ones.")
  }
  if (is.numeric(y)) {
    classes <- length(unique(y))
    if (any(y != round(y)) || classes > max(20L, n / 10)) {
      refuse("y", "`y` is numeric with ", classes, " different values, so it is not a class; for ",
        "a regression this comparison is of no use. If it is a class, give factor(y).")
    }
    ufs_inform("classes", "`y` is numeric: each of its ", count_words(classes, "value"), " is ",
      "taken as a class.")
  }
  y <- droplevels(factor(y))
  if (nlevels(y) < 2L) refuse("y", "`y` has only one class.")
  y
}

# Indices of a share of each class, at least one sample of each on either side where the
# class has two.
stratified <- function(y, share) {
  sort(unlist(lapply(split(seq_along(y), y), function(rows) {
    size <- min(max(1L, round(share * length(rows))), max(1L, length(rows) - 1L))
    rows[sample.int(length(rows), size)]
  }), use.names = FALSE))
}
