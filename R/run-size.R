# How many features "auto" means: for a method by permuted copies of the columns, for a
# task by a curve. ufs_size(), ufs_select() and the adapters all ask here.

# list(k, verdict, reason, by, share, decoys) for a method with these arguments (a named list) on x;
# `share` is that of noise among the best 1, 2, ... Draws one number from the caller's random
# numbers.
decoys_size <- function(x, method, args = list(), repeats = 5L, seed = draw_seeds(1L)[[1L]], ...) {
  x <- data_of_levels(without_choices(open_data(x), "rows"))
  # The number better than noise does not depend on the budget, or on quotas.
  if (!is.null(x$held)) x$held[c("budget", "feature_strata")] <- list(NULL)
  sizing <- with_seed(seed, sizing_method(x, method, args))
  found <- with_seed(seed, do.call(ufs_decoys, c(list(x, sizing$method), sizing$args,
    list_of(repeats), list(...)), quote = TRUE))
  c(size_rule(found), list(by = sizing$method,
    share = found$curve$share[seq_len(found$usable)], decoys = found))
}

# The number that k = "auto" means; where no column is better than noise all are kept, with a
# warning.
auto_k <- function(x, method, args = list(), repeats = 5L, seed = draw_seeds(1L)[[1L]]) {
  found <- decoys_size(x, method, args, repeats, seed)
  if (found$verdict == "noise") {
    ufs_warn("size", "k = \"auto\": no column is better than noise by ufs_", found$by,
      "(); all are kept.")
    found$k <- length(found$share)
  }
  if (inherits(x, "ufs_data") && length(x$held$feature_strata)) {
    range <- choice_range(expand_groups(x$held), x$p)
    found$k <- as.integer(max(range[1L], min(range[2L], found$k)))
  }
  found[c("k", "verdict", "reason", "by")]
}
asked_above$size <- auto_k

# The method whose decoys are asked, with its arguments: `sized_by` in the registry where the method
# itself cannot be. More components than are above noise would give columns of noise high loadings.
sizing_method <- function(x, method, args) {
  by <- method_row(method)$sized_by
  if (is.null(by)) return(list(method = method, args = args))
  wanted <- c(args$n_components, args$n_clusters)[1L]
  if (is.null(wanted)) wanted <- planned_components(x, !isFALSE(args$scale))
  number <- max(1L, min(wanted, dim(x) - 1L, max(1L, x$p %/% 6L)))
  list(method = by, args = c(list(n_components = as.integer(number)),
    args[intersect(c("center", "scale"), names(args))]))
}

# The answer of decoys, a list(k, verdict, reason). `at`: the line of the curve at that number,
# where there is one.
size_rule <- function(decoys, at = NULL) {
  q <- decoys$usable - sum(decoys$excluded)
  better <- decoys$k[[1L]]
  columns <- paste0(q, " columns", if (!is.null(decoys$levels) && decoys$usable < decoys$p) {
    " that repeat"
  })
  noise <- decoys$noise
  words <- paste0(better, " of ", columns, " are better than noise",
    if (isTRUE(decoys$included > 0L)) paste0(" (", decoys$included, " by constraint)"))
  # All are taken where even the upper end of the range of noise leaves some columns.
  if (isTRUE(noise <= size_settings$noise && decoys$noise_high < 1)) {
    list(k = q, verdict = "all", reason = paste0("take all: about ", round(q * (1 - noise)),
      " of ", columns, " are better than noise"))
  } else if (better == 0L) {
    list(k = 0L, verdict = "noise", reason = "no column is better than noise by this method")
  } else if (isTRUE(at$stability < size_settings$stability)) {
    list(k = better, verdict = "unstable", reason = paste0("not repeatable: ", words,
      ", but halves of the samples choose others (stability ", format(at$stability, digits = 2L),
      ")"))
  } else {
    list(k = better, verdict = "some", reason = paste0(words, " (at most ",
      percent(decoys$share), " of them no better)"))
  }
}

# noise: up to which estimated share of noise among all columns all are taken; stability: below
# which it is not called repeatable.
size_settings <- list(noise = .5, stability = .1)

# ---- curves --------------------------------------------------------------------------------------

# The four curves of ufs_size() for a method, and the rule with the stability at the answer: fields
# of the result; of data with replicates of their levels. Cost: one fit, those of ufs_decoys(), and
# n_resamples fits of half the samples.
size_of_method <- function(x, own, k, repeats, share, n_resamples, checkpoint) {
  levels <- data_of_levels(x)
  data <- as_rescaled_operator(levels)
  held <- held_of_variables(data)
  check_open(held, usable(data))
  q <- usable(data) - length(held$exclude)
  include <- held$include
  # About ten numbers to look at by default.
  if (is.null(k)) {
    k <- round(exp(seq(log(min(max(2, length(include)), q)), log(q), length.out = min(q, 10L))))
  }
  k <- sort(check_counts(k, "k", q, paste0("the features that are not constant",
    if (length(held$exclude)) " and may be chosen")))
  if (length(include) > k[1L]) refuse_fewer(data$features[unique(data$keep)[include]], k[1L])
  if (data$n < 6L) {
    refuse_data("x", "`x` has ", data$n, if (is.null(levels$levels)) " rows" else
      " levels of `replicates`", "; 6 are needed.")
  }
  one <- wait_of(own$method, levels, own$args)
  fits <- 1 + n_resamples / 4 + (if (is.null(method_row(own$method)$sized_by)) repeats else 0)
  foretell("ufs_size()", levels, fits * one, c("n_resamples", "repeats"))
  found <- decoys_size(levels, own$method, own$args, repeats, share = share,
    checkpoint = checkpoint)
  run <- start_run("size", x, checkpoint)
  # The first task is all samples.
  tasks <- lapply(0:n_resamples, function(i) {
    list(seed = task_seed(run, "half", i), size = if (i > 0L) data$n %/% 2L)
  })
  done <- run_tasks(tasks, size_fit, list(x = to_travel(x), method = own$method, args = own$args),
    run, usable = function(value) is_order(value$ranking, data$p))
  rankings <- size_rankings(done$values, own$method)
  # At the answer, too, which need not be on the grid.
  answer <- found$decoys$k[[1L]]
  # Neighbours are compared among at most 2,000 samples drawn: their mean needs no more.
  rows <- if (data$n <= 2000L) seq_len(data$n) else
    with_seed(task_seed(run, "rows", 0L), sort(sample.int(data$n, 2000L)))
  watch_says(function(step) "comparing numbers of columns")
  all <- size_curve(rankings, data, found$decoys, sort(unique(c(k, if (answer > 0L) answer))), rows)
  curve <- data.frame(all[all$k %in% k, ], row.names = NULL)
  at <- if (answer > 0L) all[all$k == answer, ]
  # Columns that were picked one by one: each is for what those before it leave.
  rest <- if (identical(method_row(own$method)$picks$argument, "k")) {
    rest_of_picks(data, rankings$all, rows)
  }
  c(list(usable = q, by = found$by), size_rule(found$decoys, at), list(curve = curve, at = at,
      decoys = found$decoys, n_resamples = n_resamples, errors = rankings$errors,
      checkpoint = done$report, rows = length(rows), levels = levels$levels$n_levels, rest = rest))
}

size_fit <- function(task, common) {
  with_seed(task$seed, {
    x <- common$x
    if (!is.null(task$size)) {
      x <- for_ranking(x[half_rows(x, task$size), , drop = FALSE], common$method, common$args)
    }
    run <- quiet_fit(x, common$method, common$args, NULL)
  })
  if (is.null(run$error)) list(ranking = unname(run$fit$feature_ranking)) else
    list(error = run$error)
}

# So many rows, or levels of replicates.
half_rows <- function(x, size) {
  if (!holds_replicates(x)) return(sort(sample.int(nrow(x), size)))
  level <- each_alone(x$row_held$replicates)
  all <- unique(level)
  which(level %in% all[sample.int(length(all), max(3L, size))])
}

# list(all, halves, errors)
size_rankings <- function(values, method) {
  failed <- vapply(values, function(value) !is.null(value$error), NA)
  if (failed[1L] || sum(!failed[-1L]) < 2L) {
    refuse("method", "ufs_", method, "() failed", if (!failed[1L]) " on halves of the samples",
      ": ", values[[which(failed)[1L]]]$error)
  }
  list(all = values[[1L]]$ranking, halves = lapply(values[-1L][!failed[-1L]], `[[`, "ranking"),
    errors = vapply(values[failed], `[[`, "", "error"))
}

size_curve <- function(rankings, data, decoys, k, rows = seq_len(data$n)) {
  ranking <- intersect(rankings$all, data$keep)
  part <- if (length(rows) < data$n) x_subset_rows(data$x, rows) else data$x
  best <- lapply(k, function(size) columns_of(data, ranking[seq_len(size)]))
  # A triangle with the same products of columns is enough for a tall table.
  tall <- is.matrix(data$x) && nrow(data$x) >= 2L * ncol(data$x)
  seen <- if (tall) gram_root(x_gram(data$x, rows = FALSE)) else data$x
  # Decoys take all columns for noise: the best k have no more of it than the whole table.
  share <- decoys$curve$share[k]
  most <- decoys$noise * decoys$usable / k
  high <- which(share > most)
  share[high] <- most[high]
  data.frame(k, share, captured_table(seen, best),
    knn_overlap = neighbours_along(part, best),
    stability = vapply(k, function(size) {
      if (size == data$p) return(NA_real_)
      chosen <- members_of(lapply(rankings$halves, utils::head, size), data$p)
      nogueira(chosen[, unplaced(data), drop = FALSE], .95)$stability
    }, 0))
}

# ---- is the rest noise? --------------------------------------------------------------------------

# level: of the test; most: so many columns are tried; flops: and no more than about these allow.
# alike: rows are plainly not independent.
rest_settings <- list(level = 0.05, most = 50L, flops = 2e10, alike = 0.5)

# The test of rest_is_noise() for the ranking of a fit; NULL with weights, whose rows are no units.
rest_of_picks <- function(data, ranking, rows) {
  if (!is.null(data$weights) || length(data$keep) < 4L || !is.null(data$coded)) return(NULL)
  wide <- length(data$keep) > length(rows)
  one <- if (wide) as.double(length(rows))^2 * length(data$keep) else 3 * length(data$keep)^2
  steps <- floor(rest_settings$flops / one)
  if (steps < 1) return(NULL)
  z <- x_dense(if (length(rows) < data$n) x_subset_rows(data$x, rows) else data$x)
  out <- rest_is_noise(z, match(intersect(ranking, data$keep), data$keep),
    data$df - data$n + length(rows), min(steps, rest_settings$most))
  # Rows in a series have far fewer degrees of freedom.
  alike <- mean(colSums(z[-1L, , drop = FALSE] * z[-nrow(z), , drop = FALSE]) / colSums(z^2))
  if (!identical(out$k, 0L) && alike > rest_settings$alike) {
    ufs_warn("rows", "`rest` takes rows to be independent, and those of `x` are like the next ",
      "ones (mean correlation ", signif(alike, 2L), "): of a series it asks for too many columns.")
  }
  out
}

# The smallest number of columns, the first of `ranking`, that leave of the others what is
# uncorrelated but for chance, in the manner of Sood and Hastie (2023): list(k, p_value), of 0, 1,
# 2, ... columns; k is NA if none up to `most` does. z: centred columns with so many `degrees` of
# freedom each. Cost: 3 p^2 flops a column after the products of columns. Where there are fewer rows
# than columns it is n^2 p: z stays as it is, and the n x n products of the rows, with each column
# divided by the length that is left of it, are projected off an orthonormal basis of the columns
# that were picked.
rest_is_noise <- function(z, ranking, degrees, most) {
  wide <- ncol(z) > nrow(z)
  rest <- if (wide) t(z) else crossprod(z)
  left <- first <- if (wide) rowSums(rest^2) else diag(rest)
  open <- rep(TRUE, ncol(z))
  basis <- matrix(0, nrow(z), 0L)
  outside <- function(x) x - basis %*% crossprod(basis, x)
  p_value <- numeric()
  for (k in 0:max(0L, min(most, degrees - 3L, ncol(z) - 2L, length(ranking)))) {
    j <- ranking[k]
    # A copy of what is chosen leaves rounding.
    if (k > 0L && left[j] > 1e-8 * first[j]) {
      degrees <- degrees - 1L
      # Projected twice, so that rounding leaves the basis orthonormal.
      along <- if (wide) outside(outside(rest[j, ])) else rest[, j] / sqrt(rest[j, j])
      if (wide) basis <- cbind(basis, along / sqrt(sum(along^2))) else
        rest <- rest - tcrossprod(along)
      left <- left - drop(if (wide) rest %*% basis[, ncol(basis)] else along)^2
    }
    open <- open & left > 1e-8 * first & !seq_along(open) %in% j
    weight <- ifelse(open, 1 / left, 0)
    squares <- if (wide) sum(outside(t(outside(crossprod(rest * sqrt(weight)))))^2) else
      drop(weight %*% rest^2 %*% weight)
    p_value[k + 1L] <- correlated_by_chance(squares, sum(open), degrees)
    if (p_value[k + 1L] > rest_settings$level) return(list_of(k, p_value))
  }
  list(k = NA_integer_, p_value = p_value)
}

# The chance of so large a sum of squared correlations of q independent columns: each is of a beta
# distribution, no two of them are correlated, and their sum is taken for a gamma variable.
correlated_by_chance <- function(squares, q, degrees) {
  if (q < 2L) return(1)
  pairs <- q * (q - 1) / 2
  mean <- pairs / degrees
  variance <- pairs * 2 * (degrees - 1) / (degrees^2 * (degrees + 2))
  stats::pgamma((squares - q) / 2, mean^2 / variance, mean / variance, lower.tail = FALSE)
}

# ---- for a task ----------------------------------------------------------------------------------

# A curve against the number, what halves of the rows differ by, and an answer with its reason: on a
# part of the rows and columns, a ranking by the method, or one on each half of the rows, and what
# each number keeps.

# keep: the share of the nearest neighbours, or of the variance, that is enough; share: of all
# columns; least and most: whatever these say. Those to cluster and classify were chosen on twenty
# real sets, leaving out each in turn (evidence/decisions.md).
auto_settings <- list(compress = list(keep = 0.95, least = 1L),
  cluster = list(keep = 0.7, least = 10L),
  classify = list(keep = 0.95, share = 0.45, least = 60L, most = 300L))

# list(k, verdict, reason, curve); curve: a data frame with number, measure, value, low and high.
# If most columns look like noise, and about `real` of them do not, it is the number that is
# better than noise, as in ufs_size().
planned_size <- function(x, method, args, task, real = NULL) {
  if (!is.null(real)) {
    found <- decoys_size(x, "pca", list(n_components = planned_components(x, TRUE)),
      seed = looking_seed)
    if (found$verdict %in% c("some", "unstable")) {
      numbers <- unique(round(exp(seq(0, log(length(found$share)), length.out = 12L))))
      return(c(found[c("k", "verdict", "reason")], list(curve = data.frame(number = numbers,
        measure = "no better than noise", value = found$share[numbers], low = NA_real_,
        high = NA_real_))))
    }
    if (found$verdict == "noise") {
      ufs_warn("size", "k = \"auto\": no column is better than noise by ufs_", found$by,
        "(); the number is one of columns that look like noise.")
    }
  }
  out <- with_seed(looking_seed, task_size(x, method, args, task))
  if (isTRUE(real >= 1L && real < out$k)) {
    out[c("k", "verdict", "reason")] <- list(real, "some",
      "about as many columns do not look like noise")
  }
  out
}

task_size <- function(x, method, args, task, steps = 12L) {
  part <- drawn_part(x, c(400L, 1000L))
  data <- as_rescaled_operator(open_quietly(part), TRUE, !isFALSE(args$scale))
  q <- usable(data)
  # The drawn columns stand for all.
  all <- x$p - (part$p - q)
  if (data$n < 12L || q < 3L) {
    return(list(k = all, verdict = "all", reason = "all columns: too few to judge fewer"))
  }
  sizes <- unique(round(exp(seq(log(2), log(q), length.out = steps))))
  curve <- if (task == "compress") rebuilt_curve(data$x, sizes, data$keep) else
    kept_curve(data$x, size_ranking(part, data, method, args), sizes, data$keep)
  k <- wanted_size(curve, auto_settings[[task]], all)
  k <- as.integer(if (k >= q && task != "classify") all else min(k, all))
  list(k = k, verdict = if (k < all) "some" else "all", curve = curve,
    reason = size_reason(k, all, curve, task))
}

# The smallest number that keeps enough of the neighbours, within the limits of the task.
wanted_size <- function(curve, limits, all) {
  enough <- number_at(curve, limits$keep)
  if (is.null(limits$share)) return(max(enough, limits$least))
  min(enough, max(limits$least, min(limits$most, ceiling(limits$share * all))))
}

# The number at which a curve first reaches a value, between two of its numbers if need be.
number_at <- function(curve, value) {
  at <- which(curve$value >= value)[1L]
  if (is.na(at)) return(max(curve$number))
  if (at == 1L) return(curve$number[1L])
  two <- at - 1:0
  ceiling(exp(stats::approx(curve$value[two], log(curve$number[two]), value)$y) - 1e-9)
}

size_reason <- function(k, all, curve, task) {
  limits <- auto_settings[[task]]
  enough <- paste0("about ", percent(limits$keep), " of the ", if (task == "compress") {
    "variance of rows left out (chosen columns keep theirs)"
  } else "nearest neighbours")
  if (k < all && k >= number_at(curve, limits$keep)) {
    return(paste0("the smallest number", if (limits$least > 1L && task == "cluster") {
      paste0(", ", limits$least, " at least,")
    }, " that keeps ", enough))
  }
  if (k >= all && all <= limits$least) {
    return(paste0("all columns: on real sets ", limits$least, " at least were needed"))
  }
  if (task != "classify") return(paste0("all columns: fewer keep less than ", enough))
  paste0(percent(limits$share), " of the columns, ", limits$least, " at least and ", limits$most,
    " at most: on real sets labels that come later needed as many")
}

# The curve in one line: up to four of its numbers around the answer, and how far halves differ.
curve_words <- function(curve, size) {
  parts <- vapply(split(curve, factor(curve$measure, unique(curve$measure))), function(part) {
    at <- part[sort(utils::head(order(abs(log(part$number / size))), 4L)), ]
    halves <- max(at$high - at$low)
    paste0(at$measure[1L], " at ", paste(at$number, collapse = ", "), ": ",
      paste(format(round(100 * at$value), trim = TRUE), collapse = ", "), " %",
      if (is.finite(halves)) paste0(" (halves of the rows differ by up to ", percent(halves), ")"))
  }, "")
  paste0(paste(parts, collapse = "; "), "; see plot(fit, \"size\")")
}

# The ranking of the part, by a setting of the method that does not depend on k.
size_ranking <- function(part, data, method, args) {
  own <- if (method %in% c("consensus", "mcfs", "pca")) args else list(mu_rel = 0.1)
  own <- own[names(own) %in% method_row(method)$arguments]
  if (method == "pca") own$n_components <- sizing_method(part, "random", list())$args$n_components
  own$scale <- args$scale
  fit <- quiet_fit(part, method, own, draw_seeds(1L)[[1L]])
  if (!is.null(fit$error)) refuse("k", "k = \"auto\": ufs_", method, "() failed: ", fit$error)
  intersect(fit$fit$feature_ranking, data$keep)
}

# low, high: the range over four halves of the rows.
kept_curve <- function(z, ranking, sizes, of = seq_len(ncol(z))) {
  place <- match(of, ranking)
  best <- lapply(sizes, function(k) order(place)[seq_len(sum(place <= k, na.rm = TRUE))])
  first <- lapply(1:2, function(i) sample.int(nrow(z), nrow(z) %/% 2L))
  halves <- vapply(c(first, lapply(first, function(i) setdiff(seq_len(nrow(z)), i))),
    function(rows) neighbours_along(z[rows, , drop = FALSE], best), sizes)
  data.frame(number = sizes, measure = "nearest neighbours kept",
    value = neighbours_along(z, best),
    low = apply(halves, 1L, min), high = apply(halves, 1L, max))
}

# Each half of the rows, with the chosen columns as they are and the others rebuilt as learnt on the
# other half. More columns can do what fewer did.
rebuilt_curve <- function(z, sizes, of = seq_len(ncol(z))) {
  half <- sample.int(nrow(z), nrow(z) %/% 2L)
  explained <- function(own, other) {
    varying <- sum(!prepare_columns(own, TRUE)$constant)
    # Messages of ufs_css() would be about this half alone.
    ranking <- if (varying) {
      unname(ufs_css(open_quietly(own), min(varying, nrow(own)), mu_rel = 0, scale = FALSE,
        control = ufs_control(warn = FALSE))$feature_ranking)
    }
    first <- unique(of[ranking])
    mean <- colMeans(own)
    own <- sweep(own, 2L, mean)
    other <- sweep(other, 2L, mean)
    total <- sum(other^2)
    if (!varying || total == 0) return(rep(as.numeric(total == 0), length(sizes)))
    vapply(sizes, function(k) {
      chosen <- ranking[of[ranking] %in% first[seq_len(k)]]
      if (length(chosen) == ncol(own)) return(1)
      # With a ridge, by generalised cross-validation: as many columns as rows would rebuild these
      # rows and no others, and what is unrelated rebuilds none.
      parts <- svd(own[, chosen, drop = FALSE])
      along <- crossprod(parts$u, own[, -chosen, drop = FALSE])
      ridges <- mean(colSums(own[, chosen, drop = FALSE]^2)) * c(0.1, 0.3, 1, 3, 10, 100)
      errors <- vapply(ridges, function(ridge) {
        kept <- parts$d^2 / (parts$d^2 + ridge)
        (sum(own[, -chosen]^2) - sum((2 * kept - kept^2) * along^2)) /
          (nrow(own) - 1 - sum(kept))^2
      }, 0)
      ridge <- ridges[which.min(errors)]
      coef <- parts$v %*% (along * parts$d / (parts$d^2 + ridge))
      1 - sum((other[, -chosen] - other[, chosen, drop = FALSE] %*% coef)^2) / total
    }, 0)
  }
  both <- suppressWarnings(cbind(explained(z[half, , drop = FALSE], z[-half, , drop = FALSE]),
    explained(z[-half, , drop = FALSE], z[half, , drop = FALSE])))
  data.frame(number = sizes, measure = "variance of rows left out explained",
    value = cummax(rowMeans(both)),
    low = apply(both, 1L, min), high = apply(both, 1L, max))
}

# The principal components with a variance above those of permuted columns, 1 to 5.
planned_components <- function(x, scale) {
  h <- with_seed(looking_seed, components_above(drawn_part(x, c(400L, 2000L)), scale))
  max(1L, min(5L, h))
}
