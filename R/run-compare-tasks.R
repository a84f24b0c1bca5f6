# One task of ufs_compare(): one label in one repeat.

# list(rows, grid, error): rows of the results; the values of every setting where there is a
# grid; the errors, so that a failure is not kept as finished.
compare_task <- function(task, common) {
  with_seed(task$seed, {
    classify <- !is.null(common$halves)
    trial <- if (classify) split_data(common, task$rep) else whole_data(common)
    if (task$plan$features == "random" && (!classify || task$plan$samples == "random")) {
      draw_both(task, common, trial)
    } else fit_both(task, common, trial)
  })
}

# The data that a task is tried on: the candidates as methods see them; the numbers of them to
# label (`sizes`), which are chosen if they are `sampled`, or else `all`; block(columns), these
# columns of theirs, scaled; judge(columns, rows), a value for each of the `classifiers`: the
# accuracy of each trained on these and tried on the other half, with columns scaled by the
# candidates, or `none` where there is no choice; lost(rows), how many classes have no row;
# frame(value), the columns of the results; `apart`, whether each classifier has a best setting of
# its own.
# Only the columns asked for are made dense. What was trained is in the environment common$trained
# for the next with the same columns, whoever chose them; a worker has one of its own.
split_data <- function(common, rep) {
  half <- common$halves[[rep]]
  classes <- common$y[half]
  # Classifiers see the levels of factors, whichever half they are in.
  whole <- with_levels(common$x)
  variable <- whole$variable
  whole[c("variable", "table")] <- NULL
  halves <- list(candidates = half, others = seq_len(common$x$n)[-half])
  halves <- lapply(halves, function(rows) subset_data(whole, samples = rows))
  scaled <- judge_columns(open_quietly(halves$candidates), TRUE, TRUE)$data
  # Classifiers see no blocks either: each half is centred within its own.
  within <- lapply(halves, without_blocks)
  standard <- function(data, columns) {
    if (!is.null(variable)) columns <- which(variable %in% columns)
    check_bytes(8 * as.double(data$n) * length(columns), paste(length(columns), "dense columns"),
      "Give it fewer features.")
    z <- data_columns(data, columns)
    z <- .Call(C_x_standardise, z, unname(scaled$center[columns]), unname(scaled$scale[columns]))
    z[, columns %in% scaled$constant] <- 0
    colnames(z) <- data$features[columns]
    z
  }
  truth <- as.character(common$y[-half])
  list(candidates = subset_data(common$x, samples = half), sampled = !is.null(common$m),
    all = seq_along(half), sizes = if (is.null(common$m)) length(half) else common$m,
    classifiers = names(common$classifiers), none = rep(NA_real_, length(common$classifiers)),
    apart = TRUE, frame = function(value) data.frame(accuracy = value),
    block = function(columns) standard(within$candidates, columns),
    judge = function(columns, rows) {
      train <- function(names, columns) {
        z <- standard(within$candidates, columns)[rows, , drop = FALSE]
        new <- standard(within$others, columns)
        vapply(names, function(name) {
          mean(predict_classes(common$classifiers[[name]], z, classes[rows], new, name) == truth)
        }, 0)
      }
      shared <- vapply(common$classifiers, function(one) isTRUE(attr(one, "by_set")), NA)
      known <- if (any(shared)) {
        set <- sort(columns)
        key <- hash_of(list(rep, set, rows))
        if (is.null(common$trained[[key]])) {
          common$trained[[key]] <- train(names(which(shared)), set)
        }
        common$trained[[key]]
      }
      c(known, if (!all(shared)) train(names(which(!shared)), columns))[names(shared)]
    },
    lost = function(rows) nlevels(common$y) - length(unique(classes[rows])))
}

# The same for clusters, which k-means finds among all samples in the columns.
whole_data <- function(common) {
  z <- as_ufs_operator(open_quietly(common$x))
  classes <- nlevels(common$y)
  none <- c(accuracy = NA_real_, nmi = NA_real_, ari = NA_real_)
  list_of(candidates = common$x, sampled = FALSE, all = integer(), sizes = NA_integer_,
    classifiers = "kmeans", none, apart = FALSE, frame = as.list,
    judge = function(columns, rows) {
      columns <- columns_of(z, columns)
      runs <- if (length(columns)) kmeans_runs(cluster_rows(z$x, columns, classes), classes, 10L)
      if (is.null(runs)) none else ufs_cluster_metrics(runs[[1L]]$cluster, common$y)
    }, lost = function(rows) 0L)
}

# Points for k-means in the given columns: themselves, or, where they would fill more than a block,
# points with the same distances (or principal component scores).
cluster_rows <- function(z, columns, n_clusters) {
  small <- is.matrix(z) || 8 * as.double(nrow(z)) * length(columns) <= block_bytes()
  if (small) x_columns(z, columns) else sample_points(x_subset_columns(z, columns), n_clusters)
}

# The mean of random choices and the best of them.
draw_both <- function(task, common, trial) {
  rows <- NULL
  for (k in common$k) for (m in trial$sizes) {
    samples <- if (trial$sampled) random_samples(trial$candidates, m) else function() trial$all
    columns <- random_columns(trial$candidates, k)
    draws <- lapply(seq_len(common$n_random), function(i) {
      chosen <- samples()
      list(value = trial$judge(columns(), chosen), lost = trial$lost(chosen))
    })
    values <- do.call(cbind, lapply(draws, `[[`, "value"))
    at <- list(rep = task$rep, k = k, m = m, classifier = trial$classifiers,
      labelled = if (trial$sampled) m else length(trial$all),
      missing = mean(vapply(draws, `[[`, 0L, "lost")))
    row <- function(label, value) result_row(label, at, trial$frame(value), nothing_fitted)
    rows <- rbind(rows, row(task$label, rowMeans(values)),
      row(paste0(task$label, " (best of ", common$n_random, ")"), apply(values, 1L, max)))
  }
  list_of(rows)
}

fit_both <- function(task, common, trial) {
  plan <- task$plan
  parts <- list()
  cache <- new.env()
  for (k in if (plan$features == "all") ncol(trial$candidates) else common$k) {
    found <- pipeline_features(plan, trial$candidates, k, cache)
    # The fits of the sample selector on each choice of features, for the next m.
    sampler <- vector("list", length(found$picks))
    for (m in trial$sizes) {
      tries <- list()
      for (i in seq_along(found$picks)) {
        taken <- pipeline_samples(plan, trial, found$picks[[i]], m, sampler[[i]])
        sampler[i] <- list(taken$runs)
        for (j in seq_along(taken$picks)) {
          pick <- taken$picks[[j]]
          value <- trial$none
          if (!nzchar(pick$error)) tryCatch({
            value <- trial$judge(found$picks[[i]]$columns, pick$chosen)
          }, ufs_error_memory = function(e) pick$error <<- conditionMessage(e))
          tries[[length(tries) + 1L]] <- c(pick[c("chosen", "error", "said")], list_of(value,
            settings = c(i, j), free = i == found$best && j == taken$best))
        }
      }
      parts <- c(parts, list(compared_rows(task, trial, tries, k, m)))
    }
  }
  rows <- bind_rows(parts, "rows")
  list(rows = rows, grid = bind_rows(parts, "grid"), error = unique(rows$error[nzchar(rows$error)]))
}

# ---- parts of a task -------------------------------------------------------------------------

# The columns status, warnings, live (features with a score other than 0) and seconds of a result:
# if nothing was fitted, and of a run.
nothing_fitted <- list(status = "", warnings = "", live = NA_integer_, seconds = 0)

run_said <- function(run) {
  score <- run$fit$feature_scores
  list(status = if (is.null(run$fit)) "error" else run$fit$status,
    warnings = paste(run$kinds, collapse = ", "),
    live = if (is.null(score)) NA_integer_ else sum(score != 0, na.rm = TRUE),
    seconds = run$seconds)
}

result_row <- function(label, at, value, said, error = "") {
  data.frame(method = label, k = at$k, m = at$m, classifier = at$classifier, rep = at$rep, value,
    labelled = at$labelled, missing = at$missing, status = said$status, warnings = said$warnings,
    live = said$live, seconds = said$seconds, error = error, row.names = NULL)
}

# The rows of one label at one k and m: the setting chosen without labels and, if there are
# several, the best with labels (for each classifier its own best if they stand `apart`,
# else the best by the first measure), and every setting for the grid.
compared_rows <- function(task, trial, tries, k, m) {
  row <- function(label, try, value = try$value) {
    at <- list(rep = task$rep, k = k, m = m, classifier = trial$classifiers,
      labelled = length(try$chosen),
      missing = if (nzchar(try$error)) NA else trial$lost(try$chosen))
    result_row(label, at, trial$frame(value), try$said, try$error)
  }
  rows <- row(task$label, Filter(function(try) try$free, tries)[[1L]])
  if (length(tries) == 1L) return(list(rows = rows))
  value <- do.call(rbind, lapply(tries, `[[`, "value"))
  top <- c(which.max(value[, 1L]), 1L)[1L]
  grid <- do.call(rbind, lapply(tries, function(try) {
    cbind(row(task$label, try), setting = try$settings[1L], sample_setting = try$settings[2L],
      chosen = try$free)
  }))
  list_of(rows = rbind(rows, row(paste0(task$label, " (best of ", length(tries), ")"), tries[[top]],
    if (trial$apart) apply(value, 2L, extreme, max) else value[top, ])), grid)
}

# The k features of a pipeline: a list with one entry (columns, fit, seconds, said, error), or
# one per setting of its grid, with `best`, the setting chosen without labels. What was fitted
# stays in `cache`, an environment, for the next k, where selections are nested.
pipeline_features <- function(plan, x, k, cache) {
  if (plan$features == "all") {
    all <- list(columns = seq_len(ncol(x)), said = nothing_fitted, error = "")
    return(list(best = 1L, picks = list(all)))
  }
  args <- plan$feature_args
  # Selections that are not nested: a fit for every k.
  per_k <- method_row(plan$features)$per_k
  if (!is.null(per_k)) args[[per_k]] <- k
  if (!is.null(per_k) || is.null(cache$runs)) {
    cache$runs <- setting_runs(x, plan$features, plan$grid, args)
  }
  picks <- lapply(cache$runs, function(run) {
    if (is.null(run$fit)) return(list(said = run_said(run), error = run$error))
    list(columns = pipeline_columns(run$fit, x, k, plan$diversify), fit = run$fit,
      said = run_said(run), error = "")
  })
  best <- 1L
  if (length(picks) > 1L && any(vapply(cache$runs, function(run) !is.null(run$fit), NA))) {
    criterion <- if (is.null(plan$criterion)) default_criterion else plan$criterion
    best <- judge_settings(attr(cache$runs, "grid"), x, k, criterion, plan$n_classes)$best
  }
  list_of(picks, best)
}

# The best k of a fit, made to differ if the pipeline asks for it.
pipeline_columns <- function(fit, x, k, diversify) {
  if (!is.null(diversify)) fit <- do.call(ufs_diversify, c(list_of(fit, x, k), diversify))
  suppressMessages(selected_features(fit, k, as = "index"))
}

# One run as of quiet_fit(), or one for each setting of a grid, with the grid as an attribute.
setting_runs <- function(x, method, grid, args) {
  if (is.null(grid)) return(list(quiet_fit(x, method, args, NULL)))
  fits <- suppressMessages(suppressWarnings(classes = "ufs_warning",
    do.call(ufs_grid, c(list_of(x, method, grid, keep_fits = TRUE), args))))
  structure(Map(function(fit, error, seconds, kinds) {
    list(fit = fit, error = if (is.null(fit)) error, seconds = seconds,
      kinds = setdiff(strsplit(kinds, ", ", fixed = TRUE)[[1L]], ""))
  }, fits$fits, fits$results$error, fits$results$seconds, fits$results$kinds), grid = fits)
}

# The m samples to label, chosen on the chosen features (all, where none are sampled): a list
# with one entry (chosen, said, error), or one per setting of the sampler's grid, with `best`,
# the setting whose choice covers the candidates best, and `runs`, for the next m.
pipeline_samples <- function(plan, trial, pick, m, runs) {
  x <- trial$candidates
  one <- function(chosen, error = "", said = pick$said) {
    list(best = 1L, runs = runs, picks = list(list_of(chosen, error, said)))
  }
  if (nzchar(pick$error)) return(one(integer(), pick$error))
  if (!trial$sampled) return(one(trial$all))
  if (plan$samples == "random") return(one(random_samples(x, m)()))
  per_m <- if (!plan$joint) method_row(plan$samples)$per_k
  if (is.null(runs) || !is.null(per_m)) {
    args <- plan$sample_args
    if (!is.null(per_m)) args[[per_m]] <- m
    runs <- if (plan$joint) list(list(fit = pick$fit, seconds = 0)) else
      setting_runs(subset_data(x, features = pick$columns), plan$samples, plan$sample_grid, args)
  }
  picks <- lapply(runs, function(run) {
    said <- pick$said
    if (!plan$joint) {
      mine <- run_said(run)
      said$seconds <- said$seconds + mine$seconds
      said$warnings <- paste(Filter(nzchar, c(said$warnings, mine$warnings)), collapse = ", ")
      if (said$status %in% c("", "converged")) said$status <- mine$status
    }
    if (is.null(run$fit)) return(list(chosen = integer(), error = run$error, said = said))
    list(chosen = suppressMessages(selected_samples(run$fit, m, as = "index")), error = "",
      said = said)
  })
  best <- 1L
  if (length(picks) > 1L) {
    unit <- unit_rows(trial$block(pick$columns))
    # The mean, over all candidates, of the largest cosine between one and a chosen sample.
    best <- which.max(vapply(picks, function(p) {
      if (nzchar(p$error)) return(-Inf)
      mean(apply(tcrossprod(unit, unit[p$chosen, , drop = FALSE]), 1L, max))
    }, 0))
  }
  list_of(picks, best, runs)
}

bind_rows <- function(parts, name) do.call(rbind, lapply(parts, `[[`, name))
