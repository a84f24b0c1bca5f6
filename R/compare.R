# Does the selection help? The protocols of the papers.

#' Compare methods with known classes
#'
#' Fits methods without labels and judges them with labels, by one of two protocols.
#'
#' **`mode = "classify"`** is the protocol of section 4.1 of the ALFS paper (Li et al., 2019): a
#' stratified share `train` of the samples are candidates; methods choose, without labels,
#' `k` features and `m` candidates whose labels are bought; a classifier trained on these
#' is judged on the other samples; all of it `repeats` times. A name `"a+b"` chooses
#' features by `a`, then samples by `b` on the chosen features, `k` by `k`, as the paper
#' does; a method that selects only features gets random samples, one that selects only
#' samples all features. With `m = NULL` all candidates are labelled. **`mode = "cluster"`**
#' fits on all samples, runs k-means with as many clusters as classes on the chosen,
#' standardised features (10 starts), and reports accuracy, NMI and ARI
#' ([ufs_cluster_metrics()]), `repeats` times.
#'
#' What the protocol settles: methods get the candidates as they are and standardise them
#' by their own defaults; classifiers get columns centred and scaled by the candidates' mean and
#' standard deviation (constant ones become zero), with no scaling of their own. Classes
#' absent from the `m` samples cannot be predicted: they count as errors, and their number is
#' reported; if only one class is there, it is predicted for all. Random choice is drawn
#' `n_random` times, and shown as the mean and as the best of the draws: what a method's
#' best setting, chosen with labels, must be held against. All features, random, PCA
#' loadings, variance and k-means + F are always present.
#'
#' Arguments `n_clusters` and `n_components` default to the number of classes: the number is
#' told to the methods, the labels are not.
#'
#' @inheritParams ufs_grid
#' @param y Classes, a factor (or what [factor()] makes of it) of length n.
#' @param methods Names of methods or of pipelines `"features+samples"`. A named vector gives
#'   them other labels, so that one method can enter with several settings.
#' @param k Numbers of features, a vector.
#' @param m Numbers of samples to label, a vector, or `NULL` for all candidates.
#' @param mode `"classify"` or `"cluster"`.
#' @param classifiers Names among `"svm"` (linear, cost 100, package e1071), `"tree"` (rpart with
#'   its defaults), `"full_tree"` (rpart grown fully: minsplit 10, minbucket 1, cp 0) and `"knn"`
#'   (5 neighbours, package class); or a named list of functions
#'   `function(x, y, newx)` that return one predicted class per row of `newx`.
#' @param repeats Number of repeats.
#' @param train Share of the samples that are candidates.
#' @param args Named list of argument lists, by label or by method name. An element `grid` (as in
#'   [ufs_grid()], for a method that selects features) runs all its settings and gives two
#'   lines: the setting chosen without labels as [ufs_tune()] does, at each k, under the method's
#'   label, and the most accurate setting, chosen with the test labels, as
#'   `"label (best of N)"`. Hold the latter only against the best of random draws. An
#'   element `criterion` names the criterion.
#' @param n_random Number of random draws per repeat.
#' @param baselines Add the five baselines?
#' @param checkpoint `NULL` or a folder, see [ufs_grid()].
#' @return An object of class `ufs_compare`. `results`: one row per method, k, m, classifier
#'   and repeat, with `accuracy` (for `"cluster"` also `nmi` and `ari`), `missing` (classes
#'   without a labelled sample), `labelled`, `seconds` of the fit and `error`. `summary()` gives
#'   means, standard deviations and paired differences to a reference; `plot()` curves over
#'   k or m.
#' @references Li, C. et al. (2019) Joint active learning with feature selection via CUR
#'   matrix decomposition. *IEEE TPAMI* **41**(6), 1382-1396. \doi{10.1109/TPAMI.2018.2840980}
#' @examples
#' if (requireNamespace("rpart", quietly = TRUE)) {
#'   set.seed(1)
#'   ufs_compare(iris[, 1:4], iris$Species, "variance", k = 2, m = 20, classifiers = "tree",
#'     repeats = 2, n_random = 3, baselines = FALSE)
#' }
#' @export
ufs_compare <- function(x, y, methods, k, m = NULL, mode = c("classify", "cluster"),
                        classifiers = c("svm", "tree"), repeats = 10, train = 0.5, args = list(),
                        n_random = 12, baselines = TRUE, checkpoint = NULL) {
  call <- match.call()
  mode <- check_choice(mode, "mode", c("classify", "cluster"))
  data <- as_ufs_matrix(x, FALSE, FALSE, warn = FALSE)
  x <- as_plain_matrix(x, "x")
  colnames(x) <- data$features
  y <- check_classes(y, data$n)
  repeats <- check_count(repeats, "repeats", 1L)
  n_random <- check_count(n_random, "n_random", 1L)
  train <- check_number(train, "train", 0, 1, open = TRUE)
  k <- vapply(k, check_count, 1L, arg = "k", lower = 1L, upper = data$p, limit = "the features")
  plan <- compare_plan(methods, check_flag(baselines, "baselines"), args, nlevels(y), mode)
  checkpoint <- check_checkpoint(checkpoint)
  if (mode == "classify") {
    classifiers <- check_classifiers(classifiers)
    halves <- lapply(seq_len(repeats), function(i) stratified(y, train))
    most <- min(lengths(halves))
    if (!is.null(m)) {
      m <- vapply(m, check_count, 1L, arg = "m", lower = 1L, upper = most, limit = "the candidates")
    }
    tasks <- task_grid(plan, repeats)
    run <- compare_classify
  } else {
    check_installed("clue", "to match clusters with classes")
    halves <- NULL
    tasks <- task_grid(plan, repeats)
    run <- compare_cluster
  }
  seeds <- draw_seeds(length(tasks))
  tasks <- Map(function(task, seed) c(task, list(seed = seed)), tasks, seeds)
  keys <- NULL
  if (!is.null(checkpoint)) {
    data_key <- value_key(list(x, y))
    keys <- lapply(tasks, function(task) {
      paste0("compare-", value_key(list(data_key, mode, task, k, m, names(classifiers), halves, n_random)))
    })
  }
  rows <- run_tasks(tasks, run, x = x, y = y, k = k, m = m, halves = halves,
    classifiers = classifiers, n_random = n_random, checkpoint = checkpoint, keys = keys)
  structure(list(
    call = call, mode = mode, results = do.call(rbind, rows), methods = names(plan), k = k, m = m,
    repeats = repeats, train = train, classes = levels(y), n = data$n, p = data$p,
    n_random = n_random, halves = halves
  ), class = "ufs_compare")
}

# ---- what to run --------------------------------------------------------------------------

# A named list: label -> list(features, samples, args for both).
compare_plan <- function(methods, baselines, args, n_classes, mode) {
  if (!is.character(methods) || anyNA(methods)) {
    ufs_abort("argument", "`methods` must be a character vector.", argument = "methods")
  }
  if (!is.list(args) || (length(args) && is.null(names(args)))) {
    ufs_abort("argument", "`args` must be a named list of lists.", argument = "args")
  }
  label <- if (is.null(names(methods))) methods else ifelse(nzchar(names(methods)), names(methods), methods)
  if (baselines) {
    extra <- c("all", "random", "pca", "variance", "kmeans_f")
    label <- c(label, setdiff(extra, label))
    methods <- c(methods, setdiff(extra, unname(methods)))[seq_along(label)]
  }
  if (anyDuplicated(label)) {
    ufs_abort("argument", "`methods` has '", label[duplicated(label)][1L],
      "' twice: name the entries.", argument = "methods")
  }
  unknown <- setdiff(names(args), c(label, unlist(strsplit(methods, "+", fixed = TRUE))))
  if (length(unknown)) {
    ufs_abort("argument", "`args` has '", unknown[1L], "', which is not among `methods`.",
      argument = "args")
  }
  plan <- Map(function(method, label) compare_pipeline(method, label, args, n_classes, mode),
    unname(methods), label)
  stats::setNames(plan, label)
}

compare_pipeline <- function(method, label, args, n_classes, mode) {
  part <- strsplit(method, "+", fixed = TRUE)[[1L]]
  if (!length(part) || length(part) > 2L) {
    ufs_abort("argument", "`methods`: '", method, "' is not a method or \"features+samples\".",
      argument = "methods")
  }
  selects <- function(name) if (name == "all") "features" else method_row(name, "methods")$selects
  if (length(part) == 1L) {
    features <- if (selects(part) == "samples") "all" else part
    samples <- switch(selects(part), features = "random", part)
  } else {
    features <- part[1L]
    samples <- part[2L]
    if (selects(features) == "samples" || selects(samples) == "features") {
      ufs_abort("argument", "`methods`: in '", method, "' the first must select features and the ",
        "second samples.", argument = "methods")
    }
  }
  if (mode == "cluster" && features == "all" && part[1L] != "all") {
    ufs_abort("argument", "`methods`: ", part[1L], " selects samples, which mode = \"cluster\" ",
      "does not use.", argument = "methods")
  }
  own <- function(name) if (is.null(args[[label]][[name]])) args[[features]][[name]] else args[[label]][[name]]
  grid <- if (!features %in% c("all", "random")) own("grid")
  with_args <- function(name) {
    if (name %in% c("all", "random")) {
      return(list())
    }
    given <- utils::modifyList(as.list(args[[name]]), as.list(if (label != name) args[[label]]))
    given[c("grid", "criterion")] <- NULL
    accepted <- names(formals(method_row(name)$fit))
    for (number in intersect(c("n_clusters", "n_components"), accepted)) {
      if (is.null(given[[number]]) && !number %in% names(grid)) given[[number]] <- n_classes
    }
    # A label's arguments go to the part of the pipeline that knows them.
    if (length(part) == 2L) given[names(given) %in% accepted] else given
  }
  list(features = features, samples = samples, joint = features == samples && features != "random",
    feature_args = with_args(features), sample_args = with_args(samples),
    grid = grid, criterion = own("criterion"),
    n_classes = n_classes)
}

task_grid <- function(plan, repeats) {
  tasks <- list()
  for (label in names(plan)) {
    for (i in seq_len(repeats)) {
      tasks[[length(tasks) + 1L]] <- list(label = label, rep = i, plan = plan[[label]])
    }
  }
  tasks
}

check_classes <- function(y, n) {
  if (length(y) != n || anyNA(y)) {
    ufs_abort("argument", "`y` must have one class per sample and no missing ones.", argument = "y")
  }
  y <- droplevels(factor(y))
  if (nlevels(y) < 2L) ufs_abort("argument", "`y` has only one class.", argument = "y")
  y
}

# Indices of a share of each class, at least one sample of each on either side where the
# class has two.
stratified <- function(y, share) {
  take <- lapply(split(seq_along(y), y), function(rows) {
    size <- min(max(1L, round(share * length(rows))), max(1L, length(rows) - 1L))
    rows[sample.int(length(rows), size)]
  })
  sort(unlist(take, use.names = FALSE))
}

# ---- classification ------------------------------------------------------------------------

compare_classify <- function(task, x, y, k, m, halves, classifiers, n_random) {
  with_seed(task$seed, {
    half <- halves[[task$rep]]
    cand <- x[half, , drop = FALSE]
    # The classifier's columns: scaled by the candidates, constant ones zero.
    centre <- colMeans(cand)
    spread <- apply(cand, 2L, stats::sd)
    standard <- function(block) {
      z <- sweep(sweep(block, 2L, centre), 2L, ifelse(spread > 0, spread, 1), "/")
      z[, !(spread > 0)] <- 0
      z
    }
    z <- standard(cand)
    new <- standard(x[-half, , drop = FALSE])
    truth <- y[-half]
    judge <- function(columns, rows) {
      vapply(classifiers, function(classifier) {
        mean(predict_classes(classifier, z[rows, columns, drop = FALSE], y[half][rows],
          new[, columns, drop = FALSE]) == as.character(truth))
      }, 0)
    }
    everyone <- seq_along(half)
    sizes <- if (is.null(m)) length(half) else m
    rows <- list()
    add <- function(label, k, m, accuracy, chosen, seconds, error = "") {
      rows[[length(rows) + 1L]] <<- data.frame(method = label, k = k, m = m,
        classifier = names(classifiers), rep = task$rep, accuracy = accuracy,
        labelled = length(chosen), missing = nlevels(y) - length(unique(y[half][chosen])),
        seconds = seconds, error = error, stringsAsFactors = FALSE, row.names = NULL)
    }
    ks <- if (task$plan$features == "all") ncol(x) else k
    if (task$plan$features == "random" && task$plan$samples == "random") {
      for (kk in ks) for (mm in sizes) {
        draws <- lapply(seq_len(n_random), function(i) {
          chosen <- if (is.null(m)) everyone else sample.int(length(half), mm)
          list(accuracy = judge(sample.int(ncol(x), kk), chosen), chosen = chosen)
        })
        accuracy <- matrix(vapply(draws, `[[`, numeric(length(classifiers)), "accuracy"),
          length(classifiers))
        lost <- mean(vapply(draws, function(d) nlevels(y) - length(unique(y[half][d$chosen])), 0))
        add(task$label, kk, mm, rowMeans(accuracy), draws[[1L]]$chosen, 0)
        rows[[length(rows)]]$missing <- lost
        add(paste0(task$label, " (best of ", n_random, ")"), kk, mm, apply(accuracy, 1L, max),
          draws[[1L]]$chosen, 0)
        rows[[length(rows)]]$missing <- lost
      }
      return(do.call(rbind, rows))
    }
    cache <- list()
    for (kk in ks) {
      found <- pipeline_features(task$plan, cand, kk, cache)
      cache <- found$cache
      order <- vector("list", length(found$picks))
      for (mm in sizes) {
        # For each setting its accuracy by classifier.
        value <- rep(list(rep(NA_real_, length(classifiers))), length(found$picks))
        chosen <- vector("list", length(found$picks))
        for (i in seq_along(found$picks)) {
          pick <- found$picks[[i]]
          if (nzchar(pick$error)) next
          if (is.null(m)) {
            chosen[[i]] <- everyone
          } else {
            take <- pipeline_samples(task$plan, cand, pick, mm, order[[i]])
            found$picks[[i]]$seconds <- pick$seconds + take$seconds
            if (nzchar(take$error)) {
              found$picks[[i]]$error <- take$error
              next
            }
            # A joint method's samples may depend on nothing but its fit; keep it for the next m.
            order[i] <- list(take$fit)
            chosen[[i]] <- take$chosen
          }
          value[[i]] <- judge(pick$columns, chosen[[i]])
        }
        for (row in pick_rows(task$label, value, found$best, apart = TRUE)) {
          pick <- found$picks[[row$pick]]
          add(row$label, kk, mm, row$value, chosen[[row$pick]], pick$seconds, pick$error)
        }
      }
    }
    do.call(rbind, rows)
  })
}

# The k features of a pipeline: a list with one entry (columns, fit, seconds, error), or one per
# setting of its grid, with `best`, the setting chosen without labels. What was fitted stays in
# `cache` for the next k, where selections are nested.
pipeline_features <- function(plan, x, k, cache) {
  if (plan$features == "all") {
    return(list(picks = list(list(columns = seq_len(ncol(x)), seconds = 0, error = "")), best = 1L))
  }
  args <- plan$feature_args
  # Selections that are not nested: a fit for every k.
  per_k <- method_row(plan$features)$per_k
  fresh <- !is.null(per_k)
  if (fresh) args[[per_k]] <- k
  if (fresh || is.null(cache$runs)) {
    cache$runs <- if (is.null(plan$grid)) {
      list(quiet_fit(x, plan$features, args, NULL))
    } else {
      cache$fits <- quiet_grid(x, plan$features, plan$grid, args)
      Map(function(fit, error, seconds) {
        list(fit = fit, error = if (is.null(fit)) error, seconds = seconds)
      }, cache$fits$fits, cache$fits$results$error, cache$fits$results$seconds)
    }
  }
  picks <- lapply(cache$runs, function(run) {
    if (is.null(run$fit)) {
      return(list(seconds = run$seconds, error = run$error))
    }
    list(columns = suppressMessages(selected_features(run$fit, k, as = "index")), fit = run$fit,
      seconds = run$seconds, error = "")
  })
  best <- 1L
  if (length(picks) > 1L && any(vapply(cache$runs, function(run) !is.null(run$fit), NA))) {
    criterion <- if (is.null(plan$criterion)) default_criterion(plan$features) else plan$criterion
    best <- judge_settings(cache$fits, x, k, criterion, args, plan$n_classes, character(), 10L)$best
  }
  list(picks = picks, best = best, cache = cache)
}

quiet_grid <- function(x, method, grid, args) {
  suppressMessages(withCallingHandlers(
    do.call(ufs_grid, c(list(x = x, method = method, grid = grid, keep_fits = TRUE), args)),
    ufs_warning = function(w) invokeRestart("muffleWarning")
  ))
}

# Which rows of the results the settings of a grid fill: the choice without labels and, if there
# are several, the best with labels. `value`: one vector per setting; the best is that of the
# largest first element, or each element's own (`apart`: they belong to different classifiers).
pick_rows <- function(label, value, best, apart = FALSE) {
  rows <- list(list(label = label, value = value[[best]], pick = best))
  if (length(value) > 1L) {
    all <- do.call(rbind, value)
    top <- if (all(is.na(all[, 1L]))) best else which.max(all[, 1L])
    most <- if (apart) apply(all, 2L, function(v) if (all(is.na(v))) NA_real_ else max(v, na.rm = TRUE))
    rows[[2L]] <- list(label = paste0(label, " (best of ", length(value), ")"),
      value = if (apart) most else all[top, ], pick = top)
  }
  rows
}

pipeline_samples <- function(plan, x, pick, m, fit) {
  seconds <- 0
  if (plan$samples == "random") {
    return(list(chosen = sample.int(nrow(x), m), seconds = 0, error = ""))
  }
  if (is.null(fit)) {
    if (plan$joint) {
      fit <- pick$fit
    } else {
      run <- quiet_fit(x[, pick$columns, drop = FALSE], plan$samples, plan$sample_args, NULL)
      if (!is.null(run$error)) {
        return(list(error = run$error, seconds = run$seconds))
      }
      fit <- run$fit
      seconds <- run$seconds
    }
  }
  list(chosen = suppressMessages(selected_samples(fit, m, as = "index")), fit = fit,
    seconds = seconds, error = "")
}

# ---- clustering ------------------------------------------------------------------------------

compare_cluster <- function(task, x, y, k, m, halves, classifiers, n_random) {
  with_seed(task$seed, {
    spread <- apply(x, 2L, stats::sd)
    nothing <- c(accuracy = NA_real_, nmi = NA_real_, ari = NA_real_)
    score <- function(columns) {
      columns <- columns[spread[columns] > 0]
      runs <- if (length(columns)) kmeans_runs(scale(x[, columns, drop = FALSE]), nlevels(y), 10L)
      if (is.null(runs)) nothing else ufs_cluster_metrics(runs[[1L]]$cluster, y)
    }
    rows <- list()
    add <- function(label, k, value, seconds, error = "") {
      rows[[length(rows) + 1L]] <<- data.frame(method = label, k = k, m = NA_integer_,
        classifier = "kmeans", rep = task$rep, as.list(value), labelled = 0L, missing = 0L,
        seconds = seconds, error = error, stringsAsFactors = FALSE, row.names = NULL)
    }
    cache <- list()
    for (kk in if (task$plan$features == "all") ncol(x) else k) {
      if (task$plan$features == "random") {
        draws <- vapply(seq_len(n_random), function(i) score(sample.int(ncol(x), kk)), numeric(3))
        add(task$label, kk, rowMeans(draws), 0)
        add(paste0(task$label, " (best of ", n_random, ")"), kk, apply(draws, 1L, max), 0)
        next
      }
      found <- pipeline_features(task$plan, x, kk, cache)
      cache <- found$cache
      value <- lapply(found$picks, function(pick) {
        if (nzchar(pick$error)) nothing else score(pick$columns)
      })
      for (row in pick_rows(task$label, value, found$best)) {
        pick <- found$picks[[row$pick]]
        add(row$label, kk, row$value, pick$seconds, pick$error)
      }
    }
    do.call(rbind, rows)
  })
}
