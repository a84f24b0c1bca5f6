# A training set and a test set that both stand for all rows.

#' A training and a test set that both stand for the whole
#'
#' Chooses `m` rows to measure first and learn from, and `test` other rows to judge by, such that
#' either set covers the data: what duplex does for spectra (Snee 1977), by other means. Use it when
#' the reference values of both sets have yet to be measured and each costs money. With labels for
#' everything at hand a random test set is as good and its error is without bias.
#'
#' k-means makes `m` clusters of the rows, and the row nearest to each centre is chosen; then the
#' same with `test` clusters of the rows that are left. Rows are compared by their standardised
#' columns or, if columns are points of smooth curves such as spectra (neighbouring columns hardly
#' differ), by the leading principal component scores that hold 99 % of the variance, after baseline
#' and scatter were taken out of each row (`rows = "snv"` of [ufs_data()]; `rows = "none"` keeps
#' them). Rows far from all others are named in a message of class `ufs_message_outliers`.
#'
#' @inheritParams ufs
#' @param m The number of rows to learn from.
#' @param test The number of rows to judge by. The default `NULL` is half of `m`, rounded up, where
#'   enough are left.
#' @param replicates `NULL`, or a vector with one value for each row that says which rows are
#'   measurements of the same sample (scans of one soil, say). They are compared by their mean and
#'   stay together, and `m` and `test` then count samples.
#' @param strata `NULL`, or a vector with one value for each row. Each stratum gets its share of `m`
#'   and of `test` by its number of samples, and is split by itself.
#' @param ... Arguments of [ufs_data()], such as `rows = "none"`.
#' @return An object of class `ufs_split`: a list with `train` and `test` (indices of rows, named if
#'   `x` has row names), `m`, the number `n` of rows and their `names`, `replicates`, `strata`,
#'   `space` (what rows were compared by), `far` (rows far from all others), `doubts` (which columns
#'   seem to number the rows, or stand beside a spectrum, by the rules of [ufs_look()]; `NULL` if
#'   none), `coverage` and `map`.
#'   `coverage` has a row for `train`, `test` and the mean of 20 random choices of either size, with
#'   `uncovered`, the mean squared distance to the nearest chosen row over that to the mean of all,
#'   and `unknown`, the share of the variance of a smooth function that is left when it is known at
#'   the chosen rows. `map` holds two principal component scores for `plot()`. Random numbers are
#'   drawn.
#'
#'   `selected_samples(split)` gives the training rows and `selected_samples(split, set = "test")`
#'   the others, as names or indices; `as.data.frame()` has a row for each row of `x` with its `set`
#'   (`NA` for those in neither), `plot()` and `autoplot()` show both sets among all rows, and
#'   `print()` says where a set covers no more than random choice, and `summary()` names the rows.
#' @section Errors: `ufs_error_argument` if there are not enough rows, samples, or samples in a
#'   stratum, or if samples belong to several strata.
#' @references Snee (1977) Validation of regression models: methods and examples. Technometrics 19,
#'   415-428. \doi{10.1080/00401706.1977.10489581}
#' @seealso [ufs_medoids()] for a training set alone, [ufs_ted()]
#' @examples
#' set.seed(1)
#' split <- ufs_split(mtcars, m = 10, test = 5)
#' split
#' selected_samples(split, set = "test")
#' plot(split)
#' @export
ufs_split <- function(x, m, test = NULL, replicates = NULL, strata = NULL, ...) {
  call <- plain_call(match.call(), "ufs_split")
  check_given(x, m)
  watch_over("ufs_split()")
  watch_says(function(step) "choosing rows")
  replicates <- named_column(replicates, x, "replicates")
  strata <- named_column(strata, x, "strata")
  opened <- open_some(x, list(...), c("replicates", "strata"))
  # Values for all rows of x go the way of the rows.
  whole <- Filter(function(value) isTRUE(length(value) == opened$x$input$given[1L]) &&
    length(value) != opened$x$n && !anyNA(value), list_of(replicates, strata))
  if (length(whole)) {
    opened <- suppressMessages(open_some(x, c(list(...), whole)))
    if (!is.null(whole$replicates)) replicates <- NULL
    if (!is.null(whole$strata)) strata <- NULL
  }
  held <- check_door(opened$x, "ufs_split()")$row_held
  data <- naming_omitted(opened$x, split_space(opened))
  z <- data$z
  n <- nrow(z)
  # The data may bring both.
  if (is.null(replicates)) replicates <- each_alone(held$replicates)
  if (is.null(strata)) strata <- held$strata$level
  sample <- one_each(replicates, n, "replicates")
  stratum <- one_each(strata, n, "strata")
  size <- table(sample)
  means <- rowsum(z, sample) / as.vector(size)
  level <- stratum[match(seq_len(nrow(means)), sample)]
  if (any(level[sample] != stratum)) {
    refuse("strata", "`strata` has several values within one sample of `replicates`.")
  }
  # Rows of a sample stay together, so all of them must be candidates.
  open <- rep(TRUE, nrow(means))
  if (!is.null(held$candidates)) open[sample[-held$candidates]] <- FALSE
  free <- sum(open)
  counted <- paste(c("the", free, if (is.null(replicates)) "rows" else
    "samples that `replicates` tells apart", if (free < length(open)) "that are candidates"),
    collapse = " ")
  naming_omitted(opened$x, {
    m <- check_count(m, "m", 1L, free - 2L, paste("two fewer than", counted))
    test <- if (is.null(test)) min(as.integer(ceiling(m / 2)), free - m - 1L) else {
      check_count(test, "test", 1L, free - m - 1L, paste("what `m` leaves of", counted, "but one"))
    }
  })
  rows <- lapply(split_strata(means, level, m, test, open), function(of) which(sample %in% of))
  far <- far_rows(z)
  tell_far_rows(far, data$samples, " Look at them before they are measured.")
  structure(list(
    train = stats::setNames(rows$train, data$samples[rows$train]),
    test = stats::setNames(rows$test, data$samples[rows$test]),
    m = c(train = m, test = test), n = n, replicates = if (!is.null(replicates)) length(size),
    strata = if (!is.null(strata)) max(stratum), space = data$space, far = far,
    names = data$samples, doubts = data$doubts, input = data$input,
    call = call,
    coverage = split_coverage(z, rows, sample, which(open)),
    map = z[, seq_len(min(2L, ncol(z))), drop = FALSE]),
    class = c("ufs_split", "ufs_result"))
}

# list(z, space, samples): the rows as they are compared, in principal axes.
split_space <- function(opened) {
  if (length(opened$rest)) refuse_argument(names_of(opened$rest)[1L])
  smooth <- is_smooth_columns(opened$x)
  transform <- if (smooth) curve_transform(opened$x)
  if (length(transform)) opened$x <- do.call(ufs_data, c(list(opened$x), transform))
  data <- as_rescaled_operator(opened$x, TRUE, !smooth)
  z <- if (smooth) smooth_scores(data) else {
    # The rows in their principal axes: a rotation, or the leading 200 scores where there are more.
    watch_components(data$x)
    scores <- x_pca(data$x, min(dim(data$x), 200L), loadings = FALSE, tol = coordinate_tol)$scores
    watch_says(function(step) "choosing rows")
    scores[, colSums(scores^2) > 0, drop = FALSE]
  }
  close_source(data$x)
  list(z = z, samples = data$samples, input = final_input(data), doubts = no_features(opened$x),
    space = if (smooth) {
    paste0(count_words(ncol(z), "principal component score"), " of smooth curves",
      if (length(transform)) paste0("; ", snv_words))
  } else "standardised columns")
}

# 1, 2, ... in the order of appearance; for NULL by `n` all different (replicates) or all the same.
one_each <- function(value, n, arg) {
  if (is.null(value)) return(if (arg == "replicates") seq_len(n) else rep(1L, n))
  value <- plain_factor(value)
  if (!is.atomic(value) || length(value) != n || anyNA(value)) {
    refuse(arg, "`", arg, "` must have one value for each of the ", n, " rows.")
  }
  match(value, unique(value))
}

# `open`: which of the samples may be chosen.
split_strata <- function(means, level, m, test, open) {
  size <- tabulate(level)
  free <- tabulate(level[open], length(size))
  quota <- list(train = shares(m, size, pmax(free - 1L, 0L)))
  if (!is.null(quota$train)) quota$test <- shares(test, size, free - quota$train)
  if (is.null(quota$test)) refuse("test", "The strata are too small for `m` and `test`.")
  train <- kept <- integer()
  for (s in seq_along(size)) {
    at <- which(level == s)
    train <- c(train, at[medoid_rows(means[at, , drop = FALSE], quota$train[s], open[at])])
    at <- setdiff(at, train)
    kept <- c(kept, at[medoid_rows(means[at, , drop = FALSE], quota$test[s], open[at])])
  }
  list(train = sort(train), test = sort(kept))
}

# `total` in proportion to `size`, by largest remainders, at most `most` each.
shares <- function(total, size, most) {
  exact <- total * size / sum(size)
  out <- pmin(floor(exact), most)
  while (sum(out) < total) {
    open <- which(out < most)
    if (!length(open)) return(NULL)
    at <- open[which.max((exact - out)[open])]
    out[at] <- out[at] + 1L
  }
  out
}

medoid_rows <- function(z, m, open) {
  if (m < 1L) return(integer())
  if (m >= sum(open)) return(which(open))
  # The more rows, columns and clusters, the less one start differs from another.
  work <- as.double(length(z)) * m
  n_starts <- if (work > 2.5e8) 1 else min(20, max(2, round(2.5e7 / work)))
  # The last iterations change next to nothing: below .1 % of the sum of squares.
  steps <- if (work > 1e8) 30L else 100L
  sort(kmeans_medoids(dense_points(z, FALSE), m, integer(), n_starts, steps,
    if (!all(open)) open)$medoids)
}

# A data frame with one row for each set and for random ones of as many samples, of which all rows
# are taken.
split_coverage <- function(z, rows, sample, open, draws = 20L) {
  of_sample <- split(seq_along(sample), sample)
  some <- if (nrow(z) > 2000L) sort(sample.int(nrow(z), 2000L)) else seq_len(nrow(z))
  size <- mean(rowSums(z^2))
  width <- median_square(z)
  all <- if (nrow(z) <= 2000L) square_distances(z, z)
  value <- function(chosen) {
    at <- seq_along(chosen)
    d2 <- if (!is.null(all)) all[c(chosen, some), chosen, drop = FALSE] else
      square_distances(z[c(chosen, some), , drop = FALSE], z[chosen, , drop = FALSE])
    others <- d2[-at, , drop = FALSE]
    near <- exp(-pmax(d2, 0) / width)
    c(uncovered = mean(pmax(others[least_of_rows(others)], 0)) / size,
      unknown = left_of_kernel(near[at, , drop = FALSE], crossprod(near), nrow(near)))
  }
  out <- do.call(rbind, lapply(rows, function(chosen) {
    random <- rowMeans(vapply(seq_len(draws), function(i) {
      drawn <- open[sample.int(length(open), length(unique(sample[chosen])))]
      value(unlist(of_sample[drawn], use.names = FALSE))
    }, numeric(2L)))
    rbind(value(chosen), random)
  }))
  data.frame(set = rep(names(rows), each = 2L), choice = c("chosen", "random"), out,
    row.names = NULL)
}

#' @export
print_lines.ufs_split <- function(x) {
  random <- if (is.null(x$replicates)) "random rows" else "random samples"
  sets <- split(x$coverage, factor(x$coverage$set, c("train", "test")))
  left <- vapply(sets, function(of) {
    paste0("leaves ", percent(of$uncovered[1L]), " of the variance uncovered (", random, " ",
      percent(of$uncovered[2L]), "), ", percent(of$unknown[1L]), " of a smooth function unknown (",
      percent(of$unknown[2L]), ")")
  }, "")
  worse <- names(Filter(function(of) {
    of$uncovered[1L] >= of$uncovered[2L] && of$unknown[1L] >= of$unknown[2L]
  }, sets))
  faults <- c(if (length(worse)) {
    paste0(paste(worse, collapse = " and "), ": no better than ", random)
  }, omitted_words(x$input, 0.1, "rows"), x$input$codes, x$doubts)
  print_report(paste0("<ufs_split> ", count_words(length(x$train), "row"), " to learn from and ",
    length(x$test), " to judge by, of ", x$n), list(
    data = as_fields(input_notes(x$input)),
    constraints = c(if (!is.null(x$replicates)) {
      c(samples = paste0(x$m[["train"]], " and ", x$m[["test"]], ", of ", x$replicates,
        "; their rows stay together"))
    }, if (!is.null(x$strata)) c(strata = paste0(x$strata, ", each by itself"))),
    method = c(method = paste0("rows nearest to the centres of k-means, compared by ", x$space)),
    worth = left,
    checks = c(if (length(faults)) c(checks = paste(faults, collapse = "; ")), if (length(x$far)) {
      c(`far rows` = paste0(count_words(length(x$far), "row"), ": see $far"))
    }),
    code = c(code = if (!is.null(x$call)) {
      code_line(paste(deparse(x$call, 500L), collapse = " "), "split$call")
    })))
}

# The coverage of each set beside random ones, and the rows of both.
#' @export
summary.ufs_split <- function(object, ...) {
  check_dots_empty(...)
  rows <- as.data.frame(object)
  rows <- rows[!is.na(rows$set), ]
  structure(list(n = object$n, coverage = object$coverage,
    rows = rows[order(rows$set != "train", rows$index), ]), class = "summary.ufs_split")
}

#' @export
print.summary.ufs_split <- function(x, ...) {
  check_dots_empty(...)
  cat_line("<ufs_split> of ", count_words(x$n, "row"))
  print(x$coverage, digits = 2L, row.names = FALSE)
  for (set in c("train", "test")) {
    named <- x$rows$sample[x$rows$set == set]
    cat_line(set, " (", length(named), "):")
    cat(strwrap(paste(named, collapse = ", "), indent = 2L, exdent = 2L), sep = "\n")
  }
  invisible(x)
}

#' @rdname selected
#' @param set For a result of [ufs_split()], which rows: `"train"` or `"test"`.
#' @export
selected_samples.ufs_split <- function(fit, m = NULL, as = NULL, set = c("train", "test"), ...) {
  check_dots_empty(...)
  set <- check_choice(set, "set")
  if (!is.null(m)) check_one_size(m, list(params = as.list(c(m = length(fit[[set]]))),
    method = "split"), "m", " rows")
  as <- check_as(as, named_samples(list(names = list(samples = fit$names))))
  chosen_as(fit[[set]], stats::setNames(logical(fit$n), fit$names), as)
}

#' @export
as.data.frame.ufs_split <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots_empty(...)
  set <- rep(NA_character_, x$n)
  for (name in c("train", "test")) set[x[[name]]] <- name
  data.frame(sample = labels_of(x$names, x$n), index = seq_len(x$n), set)
}

#' @export
picture.ufs_split <- function(object, ...) {
  map <- unname(object$map)
  if (ncol(map) < 2L) map <- cbind(map, 0)
  sets <- c(train = "to learn from", test = "to judge by", rest = "in neither")
  of <- as.data.frame(object)$set
  of <- factor(sets[replace(of, is.na(of), "rest")], sets)
  # Rows in neither set lie below the others.
  ord <- order(-as.integer(of))
  new_picture("scatter", table = data.frame(x = map[, 1L], y = map[, 2L], circled = FALSE)[ord, ],
    group = droplevels(of[ord]), group_name = "rows", style = list(colour = c(best_colour,
      class_colours[1L], rest_colour), shape = c(16L, 17L, 1L)),
    xlab = "first component", ylab = "second component",
    title = "ufs_split: both sets among all rows",
    subtitle = sprintf("%d rows to learn from, %d to judge by, of %d", length(object$train),
      length(object$test), object$n))
}
