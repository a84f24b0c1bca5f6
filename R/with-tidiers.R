#' Tidy a fit
#'
#' `tidy()` gives one row per feature (or sample) of a fit, per setting of a grid, per cell of a
#' comparison, per feature of a stability study or of several fits, per pair of fits of an overlap,
#' and per number of features of a result of [ufs_decoys()] or [ufs_size()]. `glance()` gives one
#' row for the whole, or for each of several fits.
#'
#' `augment()` gives the data with what a fit says of each sample: its score and rank where the
#' method selects samples, its cluster where the method has clusters; of [ufs_split()] the `.set`
#' of each row. Rows are matched by name where
#' the fit and the data have names, and by place otherwise. A column of the data is never replaced.
#' Of data that are sparse, on disk or a `ufs_data` only the names come back, as column `.rownames`.
#'
#' They are available when the package generics (or broom) is attached, and give tibbles where
#' tibble is installed. For `autoplot()` see [plot.ufs()].
#'
#' @param x A fit, several fits ([c()]), or the result of [ufs_grid()], [ufs_tune()],
#'   [ufs_compare()], [ufs_stability()], [ufs_overlap()], [ufs_decoys()], [ufs_size()],
#'   [ufs_split()] or [ufs_reliability()].
#' @param data For `augment()`, the data the fit was made from.
#' @param newdata For `augment()`, other rows to take in place of `data`; their names say which
#'   samples they are. Rows that are not samples of the fit get `NA`.
#' @param what As in [as.data.frame.ufs()].
#' @param ... Must be empty.
#' @return A tibble or data frame.
#' @examplesIf requireNamespace("generics", quietly = TRUE)
#' fit <- ufs_kmeans_f(iris[, 1:4], n_clusters = 3)
#' generics::tidy(fit)
#' generics::glance(fit)
#' head(generics::augment(fit, iris[, 1:4]))
#' @name ufs_tidiers
NULL

#' @rdname ufs_tidiers
#' @exportS3Method generics::tidy
tidy.ufs <- function(x, what = NULL, ...) as_tibble_if(keyed_table(x, what), ...)

# The same columns for every method: `key` also where there is none.
keyed_table <- function(x, what = NULL) {
  out <- as.data.frame(x, what = what)
  if (is.null(out$key)) out$key <- rep(NA_real_, nrow(out))
  out
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs <- function(x, ...) {
  check_dots_empty(...)
  check_fit(x)
  number <- function(one) {
    as.integer(c(if (!is.null(x[[paste0(one, "_scores")]])) shown_ranking(x, one)$size, NA)[1L])
  }
  as_tibble_if(as.data.frame(c(unclass(x)[c("method", "n", "p", "status", "iterations")],
    list(objective = last_objective(x), elapsed = x$elapsed, k = number("feature"),
      m = number("sample"), task = c(x$task, NA_character_)[1L]), as.list(x$certificate))))
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::augment
augment.ufs <- function(x, data, newdata = NULL, ...) {
  check_dots_empty(...)
  check_fit(x)
  # The rows of `newdata` are found by name, NA for others.
  if (!is.null(newdata)) {
    if (length(dim(newdata)) != 2L) refuse("newdata", "`newdata` must be a table.")
    table <- augmented_table(newdata, "newdata")
    known <- x$names$samples
    if (is.null(known) || is.null(table$samples)) {
      refuse("newdata", "The rows of `newdata` can only be found by their names, and ",
        if (is.null(known)) "the fit" else "`newdata`", " has none.")
    }
    at <- places_of_samples(x, table$samples, "newdata")
  } else {
    if (missing(data) || length(dim(data)) != 2L) {
      refuse("data", "`data` must be the data of the fit, ", x$n, " rows.")
    }
    table <- augmented_table(data, "data")
    at <- matched_rows(x, table$samples, nrow(table$out))
  }
  add <- list()
  if (!is.null(x$sample_scores)) {
    add$.score <- unname(x$sample_scores)[at]
    add$.rank <- order(unname(x$sample_ranking))[at]
  }
  if (!is.null(x$solution$cluster)) add$.cluster <- factor(unname(x$solution$cluster))[at]
  add_columns(table$out, add)
}

# A data frame of the rows to augment, and their names. What is sparse or not in memory is not
# written out: it gives a table of the names alone.
augmented_table <- function(data, arg) {
  if (is.data.frame(data) || is.matrix(data)) {
    out <- as.data.frame(data)
    names <- if (is.matrix(data) || .row_names_info(data) > 0L) rownames(data)
    # A tibble would refuse them.
    names(out) <- feature_names(names(out), ncol(out), warn = TRUE)
    return(list(out = out, samples = names))
  }
  data <- open_data(data, arg)
  list(out = data.frame(.rownames = labels_of(data$samples, data$n)), samples = data$samples)
}

# Places of samples with these names in the fit, NA if they are not there: by position where they
# are all of the fit's in their order.
places_of_samples <- function(fit, names, arg) {
  known <- fit$names$samples
  if (identical(names, known)) return(seq_along(known))
  places_by_name(names, known, known[shared_names(known)], arg, "sample")
}

# Places of the rows of a table in the fit: by name where both have names, else by place.
matched_rows <- function(x, names, n) {
  known <- x$names$samples
  named <- !is.null(known) && !is.null(names)
  if (n == x$n && (!named || identical(names, known))) return(seq_len(n))
  if (!named) refuse("data", "`data` must be the data of the fit, ", x$n, " rows; it has ", n, ".")
  at <- places_of_samples(x, names, "data")
  if (n != x$n || anyNA(at) || anyDuplicated(at)) {
    refuse("data", "`data` must be the data of the fit: the names of its rows are not those of ",
      "the ", x$n, " samples; `newdata` is for other rows.")
  }
  at
}

# Columns are added, never in the place of one of the user's.
add_columns <- function(out, add) {
  taken <- intersect(names(add), names(out))
  if (length(taken)) {
    refuse("data", "The data have ", some_columns(taken), " already: rename them first.")
  }
  out[names(add)] <- add
  as_tibble_if(out)
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs_grid <- function(x, ...) {
  status <- x$results$status
  as_tibble_if(data.frame(method = x$method, n = x$n, p = x$p, settings = nrow(x$settings),
    converged = sum(status == "converged"), failed = sum(status == "error"),
    best = if (is.null(x$best)) NA_integer_ else x$best, seconds = sum(x$results$seconds)), ...)
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::tidy
tidy.ufs_compare <- function(x, ...) as_tibble_if(summary(x)$table, ...)

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs_compare <- function(x, ...) {
  as_tibble_if(data.frame(mode = x$mode, n = x$n, p = x$p, classes = length(x$classes),
    methods = length(x$methods), repeats = x$repeats, failed = sum(nzchar(x$results$error)),
    warned = sum(nzchar(x$results$warnings))), ...)
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::tidy
tidy.ufs_stability <- function(x, ...) {
  frequency <- if (is.null(x$frequency)) x$sample_frequency else x$frequency
  size <- length(frequency)
  out <- data.frame(name = labels_of(names(frequency), size), index = seq_len(size),
    frequency = unname(frequency))
  names(out)[1L] <- if (is.null(x$frequency)) "sample" else "feature"
  as_tibble_if(out[order(-out$frequency, out$index), ], ...)
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::tidy
tidy.ufs_decoys <- function(x, ...) as_tibble_if(x$curve, ...)

#' @rdname ufs_tidiers
#' @exportS3Method generics::tidy
tidy.ufs_list <- function(x, ...) {
  as_tibble_if(stack_fits(x, function(fit) {
    out <- keyed_table(fit)
    names(out)[1L] <- "name"
    cbind(what = if (is.null(fit$feature_scores)) "sample" else "feature", out)
  }), ...)
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs_size <- function(x, ...) {
  as_tibble_if(data.frame(method = x$method, n = x$n, p = x$p, k = x$k, verdict = x$verdict), ...)
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs_list <- function(x, ...) {
  # The rest are certificates, which differ between methods.
  as_tibble_if(stack_fits(x, function(fit) as.data.frame(glance.ufs(fit))[1:10]), ...)
}

# One table of all fits, with their names as first column.
stack_fits <- function(fits, table) {
  do.call(rbind, unname(Map(function(fit, name) {
    check_fit(fit)
    cbind(fit = name, table(fit))
  }, unclass(fits), make.unique(labels_of(names(fits), length(fits))))))
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::augment
augment.ufs_split <- function(x, data, ...) {
  check_dots_empty(...)
  if (missing(data) || length(dim(data)) != 2L) {
    refuse("data", "`data` must be the data of the split, ", x$n, " rows.")
  }
  table <- augmented_table(data, "data")
  at <- matched_rows(list(n = x$n, names = list(samples = x$names)), table$samples, nrow(table$out))
  add_columns(table$out, list(.set = as.data.frame(x)$set[at]))
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs_split <- function(x, ...) {
  part <- function(set, choice) {
    x$coverage$uncovered[x$coverage$set == set & x$coverage$choice == choice]
  }
  as_tibble_if(data.frame(n = x$n, train = length(x$train), test = length(x$test),
    uncovered_train = part("train", "chosen"), random_train = part("train", "random"),
    uncovered_test = part("test", "chosen"), random_test = part("test", "random")), ...)
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs_reliability <- function(x, ...) {
  as_tibble_if(data.frame(columns = nrow(x$table), repeats = x$n_repeats, samples = x$n_levels,
    rows = x$n_rows, fdr = x$fdr), ...)
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::tidy
tidy.ufs_overlap <- function(x, ...) {
  name <- colnames(x$shared)
  pair <- which(upper.tri(x$shared), arr.ind = TRUE)
  as_tibble_if(data.frame(fit1 = name[pair[, 1L]], fit2 = name[pair[, 2L]],
    shared = x$shared[pair], chance = rep(x$chance, nrow(pair))), ...)
}

#' @rdname ufs_tidiers
#' @exportS3Method generics::glance
glance.ufs_overlap <- function(x, ...) {
  as_tibble_if(data.frame(fits = ncol(x$selected), k = x$k, p = x$p,
    different = nrow(x$selected), in_all = sum(rowSums(x$selected) == ncol(x$selected)),
    mean_shared = mean(x$shared[upper.tri(x$shared)]), chance = x$chance), ...)
}
