# A fit for every setting of a grid.

#' Fit one method over a grid of settings
#'
#' Runs a method once for each setting of its arguments and keeps every score, ranking, status and
#' objective, so that any number of features can be read off afterwards. Use [ufs_tune()] to choose
#' among the settings without labels.
#'
#' Whatever all settings share is computed once: the k-means start of [ufs_socfs()], the labels of
#' [ufs_ndfs()] and the neighbour graph of the graph methods. Settings therefore differ by their
#' arguments only, not by the luck of a start.
#'
#' # Running in parallel
#' If a plan of package future is set, for example `future::plan("multisession")`, settings run in
#' parallel where that pays: of many settings the first run in this session, until it can be told
#' that those left take more than a second. Without a plan they run one after the other. The result
#' is the same for any number of workers: one number is drawn from R's random numbers (none for a
#' deterministic method), and the seed of each setting is made of it and of the setting, so that a
#' setting gives the same wherever it stands in whatever grid. The data travel to the workers once,
#' in a file, so that `future.globals.maxSize` does not limit their size. On a scheduler such as
#' Slurm, use `future::plan(future.batchtools::batchtools_slurm)` and name a folder that all nodes
#' can see with `options(ufselect.shared_dir = )`; the default is this session's `tempdir()`, which
#' is enough for workers on this computer. The fits of a worker that dies, or of a job that is
#' cancelled, are done again, twice at most, and a warning says so. Progress is signalled to package
#' progressr. Workers that are started by this call run BLAS with one thread each, unless an
#' environment variable such as `OPENBLAS_NUM_THREADS` says otherwise.
#'
#' # Stopping and resuming
#' With `checkpoint`, each finished setting is written there at once. If a run is killed and started
#' again, it does only what is left. A setting is found again by what it is: by the content of the
#' data, the arguments and the version of the package. A longer grid therefore reuses all that a
#' shorter one has done, and a file that has changed is computed anew. (Of a file of more than 64
#' MB, size, date and a sample of its content are looked at.) A damaged or edited file in the folder
#' is computed again, with a warning. If the folder cannot be written to, one warning says so and
#' the run goes on. Printing the result tells how many settings were reused, and why not more.
#'
#' The folder also keeps the seed of the first run of a method on the same data, and later runs
#' there follow it, whatever `set.seed()` says: what was computed before then fits what is computed
#' now. A message says so where the seed differs. For other random numbers name another folder.
#'
#' # Published grids
#' With `grid = "paper"`, for `"alfs"`, `"blfse"`, `"jspca"`, `"socfs"`, `"topk"`, `"ted"`, `"rrss"`
#' and `"alnr"`, the settings are those over which a published comparison searched; attribute
#' `source` of `settings` in the result says which. The ALFS paper (Li et al., 2019) searches its
#' three penalties, and those of TED, RRSS and ALNR, over \{1e-4, 1e-3, ..., 1e3\}. These are
#' absolute penalties, which depend on the unit and the size of the data. Its two grids are
#' `"ALFS-II"` (`"paper"`, 512 settings) and `"ALFS-I"` (lambda = 0, 64 settings), those of
#' [ufs_blfse()] `"Algorithm 1"` and `"program"`. Of the papers of SOCFS, JSPCA, top-k and BLFSE no
#' text with a grid was at hand: theirs is the one setting of the authors' program (for JSPCA of
#' slides about it). `solver = "paper"` fits by the published iteration.
#'
#' @param x Data of any kind, see [ufs_data()]. Nothing is made dense that the method itself does
#'   not; each worker opens a file on disk by its path.
#' @param method The name of a method, see [ufs_methods()].
#' @param grid A data frame with one row per setting and one column per argument of the method, a
#'   named list of vectors, of which all combinations are run, or `"paper"`: see "Published grids".
#' @param ...,m Arguments that are the same in all settings, and those of [ufs_data()], like
#'   `assay`.
#' @param checkpoint `NULL`, or the name of a folder in which finished work is kept: see "Stopping
#'   and resuming" in the help of [ufs_grid()].
#' @param keep_fits Should the whole fits be kept, in `result$fits`? They can be large.
#' @references Li, C. et al. (2019) Joint active learning with feature selection via CUR
#'   matrix decomposition. *IEEE TPAMI* **41**(6), 1382-1396. \doi{10.1109/TPAMI.2018.2840980}
#' @return An object of class `ufs_grid`: `settings` (data frame), `results` (data frame: status,
#'   objective, iterations, seconds, error, warnings and their kinds; one row per setting),
#'   `feature_scores` and `feature_rankings` (p x settings), `sample_scores` and `sample_rankings`
#'   (n x settings), `certificates`. The objective is comparable between settings only if they have
#'   the same penalties: never choose by it, see [ufs_tune()]. Errors of a setting are recorded,
#'   not fatal.
#' @examples
#' grid <- ufs_grid(iris[, 1:4], "pca", list(n_components = 1:3, scale = c(TRUE, FALSE)))
#' grid
#' grid$feature_scores
#' # As published, on data as they are:
#' ufs_grid(mtcars, "ted", "paper", center = FALSE, scale = FALSE)$settings
#' @export
ufs_grid <- function(x, method, grid, ..., checkpoint = NULL, keep_fits = FALSE, m) {
  check_given(x, method, grid)
  call <- plain_call(match.call(), "ufs_grid")
  row <- method_row(method)
  settings <- grid_settings(grid, row$arguments, method)
  opened <- open_some(x, list(...), row$arguments)
  x <- check_door(opened$x, "ufs_grid()", chosen_by(row))
  fixed <- opened$rest
  if (!missing(m)) fixed["m"] <- list(m)
  check_arguments(setdiff(names(fixed), names(row$only)), row$fit, method, names(row$paper))
  both <- intersect(names(fixed), names(settings))
  if (length(both)) {
    refuse(both[1L], "`", both[1L], "` is given both in `grid` and as a fixed argument.")
  }
  keep_fits <- check_flag(keep_fits, "keep_fits")
  checkpoint <- check_checkpoint(checkpoint)
  # The data are checked once here; a method would only repeat the same words.
  data <- as_column_stats(x)
  run <- start_run(paste0("grid-", method), x, checkpoint, !row$deterministic)
  setting <- if (!is.null(run$seed)) setting_keys(settings, fixed)
  shared <- with_seed(task_seed(run, "shared"), grid_shared(x, row, fixed, names(settings)))
  fixed[names(shared)] <- shared
  tasks <- lapply(seq_len(nrow(settings)), function(i) {
    list(args = setting_args(settings, i), seed = task_seed(run, setting[i]))
  })
  common <- list_of(x = to_travel(x), method, args = fixed, keep_fits)
  done <- run_tasks(tasks, grid_fit, common, run,
    usable = function(value) is_grid_value(value, row$selects, data, keep_fits))
  runs <- done$values
  text <- function(name) vapply(runs, function(run) paste(run[[name]], collapse = " | "), "")
  number <- function(name) vapply(runs, function(run) as.double(run[[name]]), 0)
  structure(list_of(
    method, call, settings, n = data$n, p = data$p,
    results = data.frame(status = text("status"), objective = number("objective"),
      iterations = as.integer(number("iterations")), seconds = number("seconds"),
      error = text("error"), warnings = text("warnings"),
      kinds = vapply(runs, function(run) paste(run$kinds, collapse = ", "), "")),
    feature_scores = bind_columns(runs, "feature_scores", data$features),
    feature_rankings = bind_columns(runs, "feature_ranking"),
    sample_scores = bind_columns(runs, "sample_scores", data$samples),
    sample_rankings = bind_columns(runs, "sample_ranking"),
    certificates = lapply(runs, `[[`, "certificate"),
    fits = if (keep_fits) lapply(runs, `[[`, "fit"), named = data$named,
    checkpoint = done$report
  ), class = c("ufs_grid", "ufs_result"))
}

# Can this be a finished fit of such data?
is_grid_value <- function(value, selects, data, keep_fits) {
  sizes <- c(feature = data$p, sample = data$n)
  ranked <- vapply(names(sizes), function(what) {
    scores <- value[[paste0(what, "_scores")]]
    ranking <- value[[paste0(what, "_ranking")]]
    if (is.null(scores) && is.null(ranking)) return(selects != paste0(what, "s"))
    (is.double(scores) && length(scores) == sizes[[what]] && !any(is.nan(scores))) &&
      is_order(ranking, sizes[[what]])
  }, NA)
  same <- c("feature_scores", "feature_ranking", "sample_scores", "sample_ranking", "status")
  all(ranked) && is.character(value$status) && length(value$status) == 1L &&
    all(vapply(value[c("objective", "iterations", "seconds")], is_number, NA)) &&
    (!keep_fits || inherits(value$fit, "ufs") && identical(value[same], unclass(value$fit)[same]))
}

# A key for each setting, the same whether an argument is fixed or varies over the grid; equal
# settings are numbered.
setting_keys <- function(settings, fixed) {
  fixed <- argument_keys(fixed)
  key <- vapply(seq_len(nrow(settings)), function(i) {
    all <- c(argument_keys(setting_args(settings, i)), fixed)
    hash_of(all[order(names(all), method = "radix")])
  }, "")
  paste(key, stats::ave(seq_along(key), key, FUN = seq_along))
}

# A data frame of settings whose columns are arguments of the method.
grid_settings <- function(grid, arguments, method) {
  if (is.character(grid)) return(published_grid(grid, method))
  settings <- if (is.data.frame(grid)) grid else
    if (is.list(grid) && length(grid) && all(nzchar(names_of(grid)))) {
      # Over positions: expand.grid() itself would take a list of values apart.
      at <- do.call(expand.grid, c(lapply(grid, seq_along), list(KEEP.OUT.ATTRS = FALSE)))
      list2DF(Map(function(values, i) values[i], grid, at))
    } else refuse("grid", "`grid` must be a data frame or a named list of vectors.")
  if (nrow(settings) < 1L || ncol(settings) < 1L) refuse("grid", "`grid` has no settings.")
  unknown <- setdiff(names(settings), arguments)
  if (length(unknown)) {
    refuse("grid", "`grid`: ufs_", method, "() has no argument `", unknown[1L], "`.")
  }
  rownames(settings) <- NULL
  settings
}

# The grid of a paper by its name, or the first one.
published_grid <- function(variant, method) {
  paper <- registered[[method]]$paper_grid
  if (is.null(paper)) {
    known <- Filter(function(row) !is.null(row$paper_grid), registry())
    refuse("grid", "No settings of ufs_", method, "() are published; those of ",
      paste0("\"", names(known), "\"", collapse = ", "), " are.")
  }
  if (identical(variant, "paper")) variant <- names(paper$grids)[1L]
  variant <- check_choice(variant, "grid", names(paper$grids))
  structure(do.call(expand.grid, c(paper$grids[[variant]], list(KEEP.OUT.ATTRS = FALSE,
    stringsAsFactors = FALSE))), source = paper$source)
}

setting_args <- function(settings, i) {
  lapply(settings, function(column) if (is.list(column)) column[[i]] else column[i])
}

# Arguments that all settings share.
grid_shared <- function(x, row, fixed, varying) {
  # An argument's value; NULL if it is not given and has no default.
  value <- function(name) {
    if (!is.null(fixed[[name]])) return(fixed[[name]])
    default <- formals(row$fit)[[name]]
    if (!identical(default, quote(expr = ))) eval(default)
  }
  shared <- list()
  if ("graph" %in% row$arguments && !"graph" %in% varying && !inherits(fixed$graph, "ufs_graph") &&
      !any(c("center", "scale") %in% varying)) {
    data <- as_ufs_operator(open_quietly(x), value("center"), value("scale"))
    shared$graph <- as_ufs_graph(fixed$graph, data)
  }
  # One start for all settings, so that they differ by their penalties alone.
  own <- row$shares
  if (!is.null(own) && !own$argument %in% c(names(fixed), varying) &&
      !any(own$unless %in% varying)) {
    shared[[own$argument]] <- own$make(x, value)
  }
  shared
}

grid_fit <- function(task, common) {
  run <- quiet_fit(common$x, common$method, c(task$args, common$args), task$seed)
  fit <- run$fit
  c(run[c("seconds", "error", "warnings", "kinds")],
    unclass(fit)[c("feature_scores", "feature_ranking", "sample_scores", "sample_ranking",
      "certificate")],
    list(status = if (is.null(fit)) "error" else fit$status, objective = last_objective(fit),
      iterations = if (is.null(fit)) NA else fit$iterations, fit = if (common$keep_fits) fit))
}

# One column per run; NA where a run failed, NULL where no run has such scores.
bind_columns <- function(runs, name, row_names = NULL) {
  columns <- lapply(runs, `[[`, name)
  size <- max(lengths(columns))
  if (size == 0L) return(NULL)
  values <- for_each(columns, size, function(column) as.double(column)[seq_len(size)])
  `rownames<-`(values, row_names)
}

#' @export
print_lines.ufs_grid <- function(x) {
  cat_line("<ufs_grid> ufs_", x$method, ", ", count_words(nrow(x$settings), "setting"),
    " of ", paste(names(x$settings), collapse = ", "), ", ", size_words(x$n, x$p))
  count <- table(x$results$status)
  cat_line("  status   ", paste(names(count), count, sep = ": ", collapse = ", "))
  failed <- unique(x$results$error[nzchar(x$results$error)])
  if (length(failed)) {
    cat_line("  error    ", failed[1L], if (length(failed) > 1L) {
      paste0(" (and ", length(failed) - 1L, " other, see as.data.frame())")
    })
  }
  cat_line("  seconds  ", format(sum(x$results$seconds), digits = 3L), " in all")
  shown <- utils::head(as.data.frame(x), 6L)
  print(shown[setdiff(names(shown), c("error", "warnings", "kinds"))], digits = 4L,
    row.names = FALSE)
  if (nrow(x$settings) > 6L) cat("  ... and", nrow(x$settings) - 6L, "more\n")
  print_checkpoint(x$checkpoint)
}

#' @export
as.data.frame.ufs_grid <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots_empty(...)
  cbind(x$settings, x$results)
}

#' @export
summary.ufs_grid <- function(object, k = min(10L, object$p), ...) {
  check_dots_empty(...)
  often <- if (!is.null(object$feature_rankings)) {
    k <- check_count(k, "k", 1L, object$p)
    top <- object$feature_rankings[seq_len(k), , drop = FALSE]
    count <- sort(table(top), decreasing = TRUE)
    index <- as.integer(names(count))
    data.frame(feature = rownames(object$feature_scores)[index], index = index,
      share = as.integer(count) / sum(!is.na(top[1L, ])))
  }
  structure(list_of(method = object$method, table = as.data.frame(object), k, often),
    class = "summary.ufs_grid")
}

#' @export
print.summary.ufs_grid <- function(x, ...) {
  check_dots_empty(...)
  cat_line("ufs_", x$method, " over ", count_words(nrow(x$table), "setting"))
  print(x$table[setdiff(names(x$table), c("warnings", "kinds"))], digits = 4L, row.names = FALSE)
  if (!is.null(x$often)) {
    cat_line("Most often among the best ", x$k, ":")
    print(utils::head(x$often, 10L), digits = 2L, row.names = FALSE)
  }
  invisible(x)
}

#' @export
picture.ufs_grid <- function(object, value = NULL, over = NULL, ...) {
  table <- as.data.frame(object)
  what <- if (is.character(value)) value else "value"
  if (is.null(value)) {
    value <- agreement(object)
    what <- "agreement"
    if (all(is.na(value))) value <- what <- "seconds"
  }
  if (is.character(value)) {
    value <- table[[check_choice(value, "value", names(table)[vapply(table, is.numeric, NA)])]]
  }
  if (!is.numeric(value) || length(value) != nrow(table) || !any(is.finite(value))) {
    refuse("value", "`value` must name a column or have one number per setting.")
  }
  settings <- object$settings
  varies <- names(settings)[vapply(settings, function(v) length(unique(v)) > 1L, NA)]
  if (is.null(over)) over <- utils::head(c(varies, names(settings)), 2L)
  over <- unique(over)
  if (!length(over) || length(over) > 2L || !all(over %in% names(settings))) {
    refuse("over", "`over` must name one or two columns of the grid.")
  }
  level <- lapply(settings[over], function(v) sort(unique(unlist(v))))
  at <- Map(function(v, l) factor(match(unlist(v), l), seq_along(l)), settings[over], level)
  value[!is.finite(value)] <- NA
  mean_value <- tapply(value, at, mean, na.rm = TRUE)
  others <- setdiff(varies, over)
  subtitle <- c(if (what == "agreement") "share of the best features in common with other settings",
    if (length(others)) paste("mean over", paste(others, collapse = ", ")),
    if (!is.null(object$best)) "red: chosen")
  if (length(subtitle)) subtitle <- paste(subtitle, collapse = "; ")
  title <- sprintf("ufs_%s: %s over %s", object$method, what, paste(over, collapse = " and "))
  words <- lapply(level, format, digits = 3L, trim = TRUE)
  # The place of the setting that a tuning chose.
  mark <- if (!is.null(object$best)) unname(vapply(at, function(v) as.integer(v[object$best]), 0L))
  if (length(over) == 1L) {
    return(new_picture("curves", table = data.frame(x = seq_along(level[[1L]]),
      y = as.vector(mean_value)), x_labels = words[[1L]], xlab = over, ylab = what, title = title,
      subtitle = subtitle, mark = if (!is.null(mark)) c(mark, mean_value[[mark]])))
  }
  # The first argument runs to the right, the second upwards.
  dimnames(mean_value) <- unname(words)
  cells <- t(mean_value)[rev(seq_along(level[[2L]])), , drop = FALSE]
  cells[!is.finite(cells)] <- NA
  limits <- range(cells, na.rm = TRUE)
  if (diff(limits) == 0) limits <- limits + c(-1, 1) * max(abs(limits[1L]), 1) * .01
  new_picture("tiles", z = cells, limits = limits, palette = "sequential", text = TRUE,
    value = what, row_labels = TRUE, upright = TRUE, xlab = over[1L], ylab = over[2L],
    title = title, subtitle = subtitle, mark = mark)
}
