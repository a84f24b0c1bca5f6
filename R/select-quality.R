# A choice of ufs_select() beside random ones of the same size, what looks wrong about it, what the
# same advice did on real sets, and the print.

# A data frame: measure, chosen, random (mean of the draws), beaten and tied (in how many of them),
# draws, captured (the explained variance of the rows that chose), bound (what no choice can exceed)
# and rows (of how many). NULL where there is too little to compare.
selection_quality <- function(fit, x, seed, bought = FALSE, draws = 20L) {
  if (fit$n < 6L) return(NULL)
  chosen <- chosen_indices(fit)
  with_seed(seed, if (fit$task == "label") sample_quality(fit, x, chosen, draws, bought) else
    feature_quality(fit, x, chosen, draws, bought))
}

chosen_indices <- function(fit) {
  suppressMessages(if (fit$task == "label") selected_samples(fit, as = "index") else
    selected_features(fit, as = "index"))
}

# `bought`: a budget says how many, of the random choices, too.
feature_quality <- function(fit, x, chosen, draws, bought = FALSE) {
  chosen <- setdiff(chosen, fit$constant)
  open <- x$p - length(fit$constant)
  if (!length(chosen) || length(chosen) >= open || open < 5L) return(NULL)
  draw <- random_columns(x, if (bought) open else length(chosen),
    setdiff(seq_len(x$p), fit$constant))
  random <- lapply(seq_len(draws), function(i) draw())
  rbind(explained_quality(fit, x, chosen, random), neighbour_quality(fit, x, chosen, random),
    noise_quality(x, chosen, random))
}

# `captured` and its bound as ufs_captured() has them, of all rows and columns, or of as many rows
# as a few seconds allow. Beside random columns stands what is foretold of rows left out: on the
# rows that a regression was learned from a few extreme ones may decide.
explained_quality <- function(fit, x, chosen, random, most = 4e6) {
  rows <- max(1000, floor(most / x$p))
  part <- if (x$n > rows) subset_data(x, sort(sample.int(x$n, rows))) else x
  own <- if (x$n <= rows) own_certificate(fit, x, chosen)
  if (is.null(own)) {
    data <- column_triangle(open_quietly(part), TRUE, !isFALSE(fit$params$scale))
    own <- captured_table(data$x, list(columns_of(data, chosen)))
  }
  drawn <- quality_sample(fit, x, c(list(chosen), random), max(400L, 3L * length(chosen)))
  if (is.null(drawn)) return(NULL)
  share <- foretold_share(drawn$x, drawn$sets, drawn$columns)
  quality_row("explained", share[1L], share[-1L], drawn$rows, own$bound, own$captured)
}

# The certificate of a fit that explains variance, for all it has chosen: list(captured, bound).
own_certificate <- function(fit, x, chosen) {
  plain <- is.null(x$held) && is.null(x$row_held) && !isFALSE(fit$params$center)
  if (plain && all(c("captured", "bound", "ratio") %in% names(fit$certificate)) &&
      length(chosen) == fit$params$k) {
    as.list(fit$certificate[c("captured", "bound")])
  }
}

# The share of the squares of the columns `of` that each set foretells of rows left out, a third in
# turn, by a ridge regression with an intercept (ridge: 0.1 of the mean square of a chosen column).
# As the ridge is the same for all thirds, each error is larger than that of a regression on all
# rows: the share is never above what the columns explain there. It is at least the share of the
# set's own columns, which are known.
foretold_share <- function(x, sets, of) {
  thirds <- split(seq_len(nrow(x)), sample(rep_len(1:3, nrow(x))))
  y <- x_columns(x, of)
  own <- colSums(y^2)
  total <- sum(own)
  held <- vapply(sets, function(chosen) sum(own[of %in% chosen]), 0) / total
  # No more than their inner products is asked of the rows of y.
  if (ncol(y) > nrow(y)) y <- t(gram_root(tcrossprod(y)))
  if (min(lengths(sets)) > nrow(x)) {
    by_rows <- function(chosen) foretold_by_rows(x_columns(x, chosen), y, thirds)
    return(pmax(held, vapply(sets, by_rows, 0) / total))
  }
  all <- sort(unique(unlist(sets)))
  cost <- function(size) sum(size * (size + ncol(y)))
  # Sets that overlap share their products.
  common <- if (cost(length(all)) <= cost(lengths(sets))) third_products(x, all, y, thirds)
  pmax(held, vapply(sets, function(chosen) {
    products <- common
    at <- c(1L, 1L + match(chosen, all))
    if (is.null(common)) {
      products <- third_products(x, chosen, y, thirds)
      at <- seq_len(1L + length(chosen))
    }
    whole <- list(gram = products$whole$gram[at, at, drop = FALSE],
      cross = products$whole$cross[at, , drop = FALSE])
    count <- length(chosen)
    ridge <- diag(c(0, rep(sum(diag(whole$gram)[-1L]) / 15 / count, count)))
    found <- mapply(function(gram, cross) {
      gram <- gram[at, at, drop = FALSE]
      cross <- cross[at, , drop = FALSE]
      left <- whole$gram - gram + ridge
      # Columns may be in units far apart from each other and from the intercept.
      size <- sqrt(diag(left))
      b <- solve(left / tcrossprod(size), (whole$cross - cross) / size) / size
      2 * sum(b * cross) - sum(b * (gram %*% b))
    }, products$gram, products$cross)
    sum(found) / total
  }, 0))
}

# The squares that the regressions of foretold_share() foretell, from products of rows:
# n^2 (k + n) flops in place of k^2 (n + k), where there are fewer rows than columns.
foretold_by_rows <- function(a, y, thirds) {
  products <- tcrossprod(a)
  ridge <- sum(diag(products)) / 15 / ncol(a)
  sum(vapply(thirds, function(i) {
    # Columns are taken from their means in the rows that are learnt from.
    level <- rowMeans(products[, -i, drop = FALSE])
    centred <- products - outer(level, level, `+`) + mean(level[-i])
    learnt <- y[-i, , drop = FALSE]
    mean <- colMeans(learnt)
    left <- centred[-i, -i] + diag(ridge, nrow(learnt))
    weight <- solve(left, learnt - rep(mean, each = nrow(learnt)))
    told <- centred[i, -i, drop = FALSE] %*% weight + rep(mean, each = length(i))
    2 * sum(told * y[i, ]) - sum(told^2)
  }, 0))
}

# For each third, and the whole: the products of 1 and the columns with each other, and with y.
third_products <- function(x, columns, y, thirds) {
  a <- cbind(1, x_columns(x, columns))
  gram <- lapply(thirds, function(i) crossprod(a[i, , drop = FALSE]))
  cross <- lapply(thirds, function(i) crossprod(a[i, , drop = FALSE], y[i, , drop = FALSE]))
  list(gram = gram, cross = cross,
    whole = list(gram = Reduce(`+`, gram), cross = Reduce(`+`, cross)))
}

# At most so many rows of the columns of these sets, and of at most 1,000 columns beside them, as
# the fit had them: list(x, sets, columns, rows), with places in x. NULL if all are constant in the
# rows drawn, as rare flags may be.
quality_sample <- function(fit, x, sets, most) {
  rows <- if (x$n > most) sort(sample.int(x$n, most))
  columns <- if (x$p > 1000L) sort(sample.int(x$p, 1000L)) else seq_len(x$p)
  all <- unique(c(columns, unlist(sets)))
  part <- dense_part(x, rows_that_vary(x, rows, all), all)
  varies <- vapply(seq_along(all), function(j) any(part$x[, j] != part$x[1L, j]), NA)
  if (!any(varies[match(columns, all)])) return(NULL)
  data <- as_rescaled_operator(open_quietly(part), TRUE, !isFALSE(fit$params$scale))
  at <- function(j) columns_of(data, match(j, all))
  list(x = data$x, sets = lapply(sets, at), columns = at(columns), rows = part$n)
}

neighbour_quality <- function(fit, x, chosen, random) {
  drawn <- quality_sample(fit, x, c(list(chosen), random), 400L)
  if (is.null(drawn)) return(NULL)
  kept <- vapply(drawn$sets, neighbours_kept(drawn$x, drawn$columns), 0)
  quality_row("neighbours", kept[1L], kept[-1L], drawn$rows)
}

noise_quality <- function(x, chosen, random) {
  constrained <- !is.null(x$held)
  found <- table_noise(x, seq_len(x$p), c(chosen, if (constrained) unlist(random)))
  if (is.null(found)) return(NULL)
  share <- function(j) mean(found$chance[match(j, found$columns)], na.rm = TRUE)
  from <- found$columns
  if (!any(chosen %in% from)) return(NULL)
  quality_row("noise", share(chosen), vapply(random, function(j) {
    share(if (constrained) j else sample(from, min(length(j), length(from))))
  }, 0), min(x$n, 400L), more_is_better = FALSE)
}

# Distances to the nearest sample chosen or labelled before. Random samples are drawn from all, as
# the constraints want them, and the rows that are looked at hold them.
sample_quality <- function(fit, x, chosen, draws, bought = FALSE) {
  m <- length(chosen)
  given <- fit$params$labelled
  if (m + length(given) >= x$n) return(NULL)
  others <- setdiff(seq_len(x$n), c(chosen, given))
  constrained <- !is.null(without_constraints(x, "sample"))
  random <- if (constrained) {
    draw <- random_samples(x, if (bought) x$n else m, setdiff(seq_len(x$n), given))
    lapply(seq_len(draws), function(i) draw())
  }
  if (length(others) > 1000L) others <- sort(sample(others, 1000L))
  others <- union(others, setdiff(unlist(random), chosen))
  columns <- if (x$p > 1000L) sort(sample.int(x$p, 1000L))
  part <- dense_part(x, c(chosen, others, given), columns)
  z <- as_rescaled_operator(open_quietly(part), TRUE, !isFALSE(fit$params$scale))$x
  if (isTRUE(fit$params$unit)) z <- unit_rows(z)
  free <- seq_len(m + length(others))
  # The mean squared distance to the nearest of the rows i of z, or of those labelled before, over
  # that to the mean of all.
  total <- mean(rowSums(sweep(z, 2L, colMeans(z))^2))
  nearest_of <- function(i) {
    d <- square_distances(z, z[i, , drop = FALSE])
    pmax(d[least_of_rows(d)], 0)
  }
  known <- if (length(given)) nearest_of(-free) else Inf
  far <- function(i) mean(pmin(nearest_of(i), known)) / total
  value <- vapply(seq_len(draws), function(i) {
    far(if (constrained) match(random[[i]], c(chosen, others)) else sample(free, m))
  }, 0)
  quality_row("distance", far(seq_len(m)), value, nrow(z), more_is_better = FALSE)
}

quality_row <- function(measure, own, random, rows, bound = NA_real_, captured = NA_real_,
                        more_is_better = TRUE) {
  better <- (if (more_is_better) 1 else -1) * (own - random)
  tied <- abs(better) <= 1e-9 * max(abs(own), 1e-300)
  data.frame(measure, chosen = own, random = mean(random), beaten = sum(better > 0 & !tied),
    tied = sum(tied), draws = length(random), captured, bound, rows)
}

# "better", "worse" or "not clearly better" than random choice: in 19 of 20 draws, or neither.
quality_verdict <- function(quality) {
  limit <- 0.95 * quality$draws
  ifelse(quality$beaten >= limit, "better",
    ifelse(quality$draws - quality$beaten - quality$tied >= limit, "worse", "not clearly better"))
}

# No choice avoids more if there is no noise to avoid, or none was taken.
without_noise <- function(quality, size) {
  quality$measure == "noise" & (quality$random < 0.1 | round(quality$chosen * size) == 0)
}

# ---- what looks wrong ----------------------------------------------------------------------------

# The cost of constraints: the gain of the choice over random choices as a share of the gain of the
# same method without them (`free`), both over random choices without them: in the explained
# variance of rows left out, or in distances to label. NULL where that gain is none.
share_of_gain <- function(fit, free, x, seed, draws = 20L) {
  plain <- without_constraints(x, if (fit$task == "label") "sample" else "feature")
  value <- function(chosen) with_seed(seed, {
    if (fit$task == "label") return(sample_quality(fit, plain, chosen, draws))
    open <- setdiff(seq_len(x$p), fit$constant)
    random <- lapply(seq_len(draws), function(i) open[sample.int(length(open), fit$size)])
    explained_quality(fit, plain, chosen, random)
  })
  kept <- value(chosen_indices(fit))
  best <- value(chosen_indices(free))
  if (is.null(kept) || is.null(best) || quality_verdict(best) != "better") return(NULL)
  # One level for both: of samples the draws differ.
  random <- (kept$random + best$random) / 2
  (kept$chosen - random) / (best$chosen - random)
}

# Checks that could not run, in words; NULL if all did.
selection_unchecked <- function(fit, constrained) {
  if (is.null(fit$worth)) return("not compared with random choices: too few to choose from")
  wanted <- if (fit$task == "label") "distance" else c("explained", "neighbours", "noise")
  missing <- setdiff(wanted, fit$worth$measure)
  c(if (length(missing)) {
      paste("not compared with random choices at", toString(measure_words[missing]))
    },
    if (fit$task != "label" && anyNA(fit$look$noise)) "too few rows or columns to tell noise",
    if (constrained && isTRUE(is.na(fit$price))) {
      "what the constraints cost was not looked at, to save time"
    })
}

measure_words <- c(explained = "explained variance", neighbours = "nearest neighbours",
  noise = "avoiding noise", distance = "nearness to all samples")

# Is more than one of the columns that vary, or of the samples, left out?
left_over <- function(fit) fit$size < (if (fit$task == "label") fit$n else fit$look$usable) - 1L

column_checks <- function(fit, x) {
  chosen <- chosen_indices(fit)
  out <- character()
  add <- function(...) out <<- c(out, paste0(...))
  # A number that was asked for is the user's.
  if (left_over(fit) && "k" %in% names(fit$decided) && length(chosen) >= 0.9 * fit$look$usable) {
    add("k = \"auto\" keeps ", length(chosen), " of ", fit$look$usable,
      " columns: choosing saves hardly anything")
  }
  z <- dense_part(x, if (x$n > 2000L) round(seq(1, x$n, length.out = 2000L)), chosen)$x
  empty <- mean(rowSums(z != 0) == 0)
  if (empty > .5) {
    add("the chosen columns are all 0 in ", percent(empty), " of the rows")
    ufs_warn("empty", "The ", length(chosen), " chosen columns are all 0 in ", percent(empty),
      " of the rows: nothing tells these rows apart. ",
      if (length(chosen) < x$p) "Choose more of them, or see " else "See ",
      "`counts` of ufs_data().")
  }
  zero <- sum(colMeans(z != 0) < .05)
  if (zero > length(chosen) / 2) {
    add(zero, " of the chosen columns are 0 in more than 95 % of the rows")
  }
  wanted <- if (is.null(fit$params$n_clusters)) 2L else fit$params$n_clusters
  patterns <- length(unique(equal_rows(unname(z))))
  if (patterns < min(wanted, nrow(z))) {
    add("the chosen columns have ", patterns, " different rows, fewer than ", wanted, " clusters")
  }
  noise <- fit$worth$chosen[fit$worth$measure == "noise"]
  if (isTRUE(noise > .5)) add("most of the chosen columns look like noise")
  # All are chosen: there is no comparison above.
  if (isTRUE(fit$look$noisy) && length(chosen) >= fit$look$usable) {
    add("all columns are chosen, and most of them look like noise")
  }
  out
}

# ---- the same advice on real sets ----------------------------------------------------------------

# The gain of the task's advice on the stored sets, one sentence; NULL for tasks it does not have.
# For data of a kind that there are sets enough of, on those of the same kind. Among noise, on sets
# where as much of the choice looked like noise as this `share`. Of single splits: a user has
# one, and of their means.
selection_record <- function(task, noise, method = "", kind = "", share = NA) {
  if (method == "ted") return(curves_record())
  table <- utils::read.csv(system.file("benchmarks", "results", "select.csv", package = "ufselect"))
  table <- table[table$task == task & table$noise == (if (noise) 10L else 0L), ]
  alike <- function(share) findInterval(share, noise_steps, left.open = TRUE) + 1L
  if (noise && !is.na(share)) table <- table[which(alike(table$chance) == alike(share)), ]
  if (!nrow(table)) return(NULL)
  gain <- gain_promise(table, kind)
  all <- gain_promise(table, kind, "all")
  range <- function(low, high) sprintf("from %+.1f to %+.1f", low, high)
  median <- function(found) sprintf("%+.1f points in the median, nine in ten", found$median)
  split <- paste(median(gain), "splits", range(gain$split_low, gain$split_high))
  sets <- paste0("on ", gain$sets, " real sets", if (gain$same_kind) {
    paste0(" of ", kind_words[[kind]])
  }, if (noise) " with 10 columns of noise for each", if (noise && !is.na(share)) {
    paste0(", ", c("up to a tenth", "a tenth to half", "more than half")[alike(share)],
      " of the chosen like noise")
  })
  moved <- moved_since("select")
  paste0(sets, " (", table$what[1L], "): over random choice ", split, "; means of ",
    table$splits[1L], " splits ", range(gain$low, gain$high), if (!is.null(all)) {
      paste0("; over all columns ", median(all), " ", range(all$low, all$high), ", better on ",
        all$ahead, " of ", all$sets)
    }, if (gain$sets >= 19L) predicts(table), moved)
}

# Shares of the chosen columns that look like noise, between which the gain differs most.
noise_steps <- c(0.1, 0.5)

# The gain on real sets over random choice, or all columns: its median, and a range that holds
# nine of ten further sets if these are drawn like the stored ones. Of n numbers in order, those
# from the i-th to the i-th from above hold one more with the probability (n + 1 - 2 i) / (n + 1).
# NULL where there is nothing to compare with.
gain_promise <- function(table, kind = "", over = "random", least = 0.9) {
  of_kind <- tapply(table$set, table$values, function(set) length(unique(set)))
  same_kind <- isTRUE(of_kind[kind] >= 2 / (1 - least) - 1 - 1e-9)
  if (same_kind) table <- table[table$values == kind, ]
  gain <- sort(tapply(table$score - table[[over]], table$set, mean), na.last = TRUE)
  if (anyNA(gain)) return(NULL)
  n <- length(gain)
  at <- max(1, floor((n + 1) * (1 - least) / 2 + 1e-9))
  split <- if (over == "random") {
    # The range for single splits of further sets: those of a set scatter about its mean. The fewer
    # sets there are, the further are others from them.
    single <- table$score - table$random
    sd <- pmax(table$gain_sd, 1e-3)
    below <- (1 - least) / 2 * length(single) / (length(single) + 5)
    ends <- range(single) + c(-9, 9) * max(sd)
    vapply(c(below, 1 - below), function(share) {
      stats::uniroot(function(q) mean(stats::pnorm(q, single, sd)) - share, ends)$root
    }, 0)
  }
  list(sets = n, same_kind = same_kind, median = stats::median(gain), low = gain[[at]],
    high = gain[[n + 1L - at]], ahead = sum(gain > 0), split_low = split[1L],
    split_high = split[2L])
}

kind_words <- c(counts = "counts", "log counts" = "log counts", grades = "grades",
  "one unit" = "one unit", "mixed units" = "mixed units", standardised = "standardised columns")

# Says what changed since a stored table was computed; NULL if it is up to date.
moved_since <- function(name) {
  moved <- utils::read.csv(system.file("benchmarks", "results", "outdated.csv",
    package = "ufselect"), colClasses = "character")
  note <- moved$value[moved$table == name]
  if (length(note)) paste0(" (computed before this changed: ", sub("^[^:]*: ", "", note), ")")
}

# The same of spectra, from the table of vignette("laboratory").
curves_record <- function() {
  table <- utils::read.csv(system.file("benchmarks", "results", "regression.csv.gz",
    package = "ufselect"))
  error <- function(choice) {
    own <- table[table$spectra & table$choice == choice, ]
    100 * tapply(own$ratio, own$set, mean)
  }
  treated <- error("ted, heat")
  sprintf(paste("on %d sets of real spectra after rows = \"snv\", the error of a regression was",
    "%.0f %% of that after random choice in the mean, from %.0f to %.0f; without it %.0f %%"),
    length(treated), mean(treated), min(treated), max(treated),
    mean(error("ted, heat, without SNV")))
}

# How well the comparison with random choice on the data themselves foretells the gain: the rank
# correlation over the sets with each measure.
predicts <- function(table, least = 0.3) {
  measures <- intersect(c("explained", "neighbours", "distance"), names(table))
  found <- vapply(measures, function(name) {
    value <- table[[name]]
    if (all(is.na(value))) return(NA_real_)
    suppressWarnings(stats::cor(value, table$score - table$random, method = "spearman",
      use = "complete.obs"))
  }, 0)
  poor <- measures[!is.na(found) & found < least]
  if (length(poor)) {
    said <- c(explained = "the explained variance", neighbours = "the neighbours kept",
      distance = "the distance")
    paste0("; there ", paste(said[poor], collapse = " and "), " did not foretell the gain")
  }
}

# ---- methods -------------------------------------------------------------------------------------

#' @export
selected_features.ufs_select <- function(fit, k = NULL, as = NULL, ...) {
  selected_features(without_task(fit), if (is.null(k)) fit$size else k, as, ...)
}

#' @export
selected_samples.ufs_select <- function(fit, m = NULL, as = NULL, ...) {
  selected_samples(without_task(fit), if (is.null(m)) fit$size else m, as, ...)
}

#' @export
predict.ufs_select <- function(object, newdata, k = object$size, ...) {
  stats::predict(without_task(object), newdata, k = k, ...)
}

#' @export
print.summary.ufs_select <- function(x, ...) {
  selection <- x$selection
  cat_line(selection_title(selection))
  checks <- c(selection$checks, selection$unchecked)
  fields <- list(data = selection$look$reason, method = c(selection$reason, selection$decided),
    "on your data" = c(compared_words(selection), halves_words(selection, TRUE)),
    noise = noise_words(selection$look),
    checks = if (length(checks) > 1L) checks,
    benchmarks = if (left_over(selection)) selection_record(selection$task,
      selection$look$noisy && selection$task %in% c("classify", "cluster"), selection$method,
      selection$look$values,
      share = c(selection$worth$chosen[selection$worth$measure == "noise"], NA)[1L]))
  for (name in names(fields)) {
    words <- unlist(fields[[name]], use.names = FALSE)
    for (i in seq_along(words)) cat_field(paste0("  ", if (i == 1L) name), words[[i]])
  }
  # The seed and the fit on one line, which may not be broken: it is pasted.
  cat_line("  code         ", code_line(sub("\n", "; ", selection$code), "cat(fit$code)"))
  cat_line("")
  NextMethod()
  invisible(x)
}

without_task <- function(fit) {
  class(fit) <- setdiff(class(fit), "ufs_select")
  fit
}

#' @export
print.ufs_select <- function(x, n = 10L, ...) {
  check_dots_empty(...)
  n <- check_count(n, "n", 0L)
  check_fit(x)
  # At most twelve lines: what was chosen of which data, how, and its worth. summary() has more.
  told <- x$decided[names(x$decided) %in% c("k", "short")]
  rows <- x$decided[names(x$decided) == "rows"]
  notes <- as_fields(data_notes(x))
  print_report(selection_title(x), list(
    chosen = c(chosen = best_line(selection_names(x), NULL, n)),
    data = c(data = paste0(sub(": taken for ", ": ", seen_words(x$look, FALSE)[1L]),
        scale_words(x)),
      if (isTRUE(x$look$noisy)) c(noise = noise_words(x$look)[1L]),
      replace(notes, names(rows), rows)),
    constraints = as_fields(constraint_notes(x)),
    method = c(method = paste0("ufs_", x$method, "(): ", sub("[:,].*", "", method_title(x$method)),
        if (isTRUE(x$params$unit)) "; rows of unit length"),
      stats::setNames(told, rep("", length(told))),
      if (!identical(x$status, "converged")) c(status = x$status)),
    worth = c(worth = worth_words(x), stability = if (length(x$halves)) halves_words(x)),
    checks = c(checks = selection_verdict(x)),
    records = c(more = "summary(fit): details and the code")))
  invisible(x)
}

# Columns without names are V1, V2, ... here as in every other print.
selection_names <- function(x) {
  suppressMessages(if (x$task == "label") selected_samples(x) else
    names(x$feature_scores)[selected_features(x, as = "index")])
}

selection_title <- function(x) {
  paste0("<ufs_select> ", length(selection_names(x)), " of ",
    if (x$task == "label") count_words(x$n, "sample") else count_words(x$p, "feature"), ", chosen ",
    c(compress = "for compression", classify = "for classification", cluster = "for clustering",
      label = "to be labelled")[[x$task]])
}

# The choice beside random ones, by what its task is about, in one line; NULL where nothing was
# compared. Equal figures are called equal, however many draws are behind.
worth_words <- function(x) {
  measure <- c(compress = "explained", classify = "explained", cluster = "neighbours",
    label = "distance")[[x$task]]
  one <- x$worth[x$worth$measure == measure, ]
  if (!NROW(one)) return(NULL)
  value <- signif(100 * c(one$chosen, one$random), 2L)
  of <- paste("random", if (x$task == "label") "sample" else "column")
  random <- paste0("; ", if ("price" %in% names(x)) paste0(of, "s under the same constraints") else
    count_words(x$size, of), " ")
  what <- switch(measure, explained = "explains %s %% of the held-out variance",
    neighbours = "keeps %s %% of the nearest neighbours",
    distance = "squared distances to the nearest chosen sample are %s %% of those to the mean")
  paste0(sprintf(what, format(value[1L])), random, if (value[1L] == value[2L]) "as much" else
    paste(format(value[2L]), "%"))
}

# The first fault found, or that nothing looks wrong, where the checks ran.
selection_verdict <- function(x) {
  said <- c(x$checks, x$unchecked)
  if (!length(said)) return("Nothing looks wrong (what this cannot see: ?ufs_select_rules)")
  paste0(said[1L], if (length(said) > 1L) paste0("; ", length(said) - 1L, " more: summary(fit)"))
}

# Every comparison with random choices; how many rows were looked at is said where it changes.
compared_words <- function(x) {
  vapply(seq_len(NROW(x$worth)), function(i) {
    quality_words(x$worth[i, ], x, i == 1L || x$worth$rows[i] != x$worth$rows[i - 1L])
  }, "")
}

scale_words <- function(x) {
  if (is.null(x$params$scale) || x$look$values == "standardised") return(NULL)
  if (!isFALSE(x$params$scale)) return(", standardised")
  if (!isTRUE(counts_of_all(x$input$transform) != "none")) ", as they are"
}

# Words for `halves` (R/select-halves.R); `whole`: with what summary() has beside them.
halves_words <- function(fit, whole = FALSE) {
  halves <- fit$halves
  if (is.null(halves)) {
    return(if (whole && fit$task != "label") {
      "how many half the rows choose again: summary(fit, x)"
    })
  }
  near <- halves$stand_in
  c(paste0("half the ", if (halves$levels) "levels" else "rows", " choose about ", halves$count,
    " of ", if (halves$of < fit$size) paste("the", halves$of, "free ones") else
      paste("these", halves$of), " again (", round(halves$chance), " by chance)",
    if (near) paste(" and a column like it for", near, "more (|r| > 0.8)"), if (whole) {
        paste0("; the variance explained differs by ",
          count_words(signif(halves$apart, 1L), "point"))
    }),
  if (whole && halves$count) paste("most often chosen again:", toString(halves$again)))
}

# One line of the comparison, with its verdict.
quality_words <- function(quality, fit, rows_too = TRUE) {
  shown <- function(share) format(signif(100 * share, 2L), trim = TRUE, scientific = FALSE)
  left_out <- function(share) if (share < 0.005) "nothing" else paste(shown(share), "%")
  number <- function(share) round(share * fit$size)
  random <- paste0("; random choices",
    if ("price" %in% names(fit)) " with the same constraints", " ")
  words <- switch(quality$measure,
    explained = paste0("explains ", shown(quality$captured), " % of the variance of the ",
      captured_of(fit), " (no ", fit$size, " more than ", shown(quality$bound),
      " %); of rows left out ", left_out(quality$chosen), random, left_out(quality$random)),
    neighbours = paste0("keeps ", shown(quality$chosen), " % of the nearest neighbours", random,
      shown(quality$random), " %"),
    noise = paste0(if (number(quality$chosen)) paste("about", number(quality$chosen)) else "none",
      " of the ", fit$size, " chosen ", if (number(quality$chosen) == 1) "looks" else "look",
      " like noise", random, number(quality$random)),
    distance = paste0("squared distance to the nearest chosen sample ",
      signif(quality$chosen, 2L), " of that to the mean of all", random,
      signif(quality$random, 2L)))
  rows <- fit$look$n
  part <- if (rows_too && quality$rows < rows) paste0(" (on ", quality$rows, " of ", rows, " rows)")
  if (without_noise(quality, fit$size)) return(paste0(words, part))
  verdict <- quality_verdict(quality)
  of <- paste0(" of ", quality$draws, " draws")
  paste0(words, part, ": ", verdict, switch(verdict,
    better = paste0(" in ", quality$beaten, of),
    worse = paste0(" in ", quality$draws - quality$beaten - quality$tied, of),
    paste0(" (better in ", quality$beaten, of,
      if (quality$tied) paste0(", tied in ", quality$tied), ")")))
}
