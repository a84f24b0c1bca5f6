# Kind of numbers in the data, from an even part of the rows and columns, so that the answer is
# the same for dense, sparse and stored data and draws no random numbers. Cost: at most 200 x 1,000.

kinds <- c("counts", "log counts", "grades", "one unit", "mixed units", "standardised")

# list(values, reason, raw): one of `kinds` and why; raw: the spread of the columns grows with their
# mean, as in intensities that were not logged. `look()` gives mean and variance of the columns.
data_kind <- function(data, look, kind = NULL) {
  if (!is.null(kind)) return(list(values = kind, reason = "as `kind` says", raw = FALSE))
  whole <- check_variances(look())
  if (length(whole$roots)) {
    return(list(values = "mixed units", reason = "several tables", raw = FALSE))
  }
  if (length(data$input$coding)) {
    return(list(values = "mixed units", reason = "factors among the columns", raw = FALSE))
  }
  spread <- sqrt(whole$variance)
  center <- unname(whole$center)[whole$keep]
  z <- even_part(data)
  # Rounded numbers too, and standard deviations with n in the place of n - 1.
  found <- if (all(abs(center) < 5e-3) && diff(range(spread)) < 0.01 &&
      abs(mean(spread) - 1) < max(0.01, 1 / data$n)) {
    c("standardised", "means 0, standard deviations 1")
  }
  whole_numbers <- all(z == round(z))
  if (is.null(found) && whole_numbers) found <- whole_kind(z, data, whole)
  # Counts are whole before the logarithm, not after it.
  if (is.null(found) && !whole_numbers) found <- log_counts_kind(z, data)
  if (is.null(found)) found <- totals_kind(data)
  if (is.null(found)) found <- decimals_kind(z, data$p)
  if (is.null(found)) found <- profile_kind(data, spread)
  if (is.null(found) && all(z >= 0)) found <- from_zero_kind(z, center, spread)
  if (is.null(found)) found <- raw_kind(z, center, spread)
  if (is.null(found)) found <- spread_kind(data, spread)
  list(values = found[1L], reason = found[2L], raw = length(found) > 2L)
}

# Each of the following returns c(kind, reason), or NULL where it cannot tell.

# Whole numbers. Counts fall from 1 on and have no common largest value; grades have a few values,
# the same in all columns.
whole_kind <- function(z, data, look) {
  p <- data$p
  size <- apply(z, 2L, function(value) diff(range(value)))
  size <- size[size > 0]
  if (!length(size)) return(NULL)
  if (p == ncol(z) && p > 2L && all(z >= 0) && all(abs(rowSums(z) - 100) <= 2)) {
    return(c("one unit", "whole numbers, rows add up to about 100"))
  }
  # One was added to each, for a logarithm.
  from <- if (min(z) == 1) 1 else 0
  if (from == 0 && max(z) > 2 && mean(z == 0) > 0.5 && symbols_of_genes(data$features)) {
    return(c("counts", "whole numbers, most of them 0, of columns with names of genes"))
  }
  if (falls(z - from, p) || (p >= 100L && mean(z == 0) > 0.95 && repeats(look))) {
    return(c("counts", paste0("whole numbers, many ", from)))
  }
  if (spread_as_counts(z, p) && !is_picture(data)) {
    return(c("counts", "whole numbers, spread grows with the mean in every column"))
  }
  usual <- stats::median(size)
  # Items beside an age.
  if (usual <= 10 && max(size) > 5 * usual) {
    return(c("mixed units", paste0("grades with a range of ", usual, " beside ranges up to ",
      max(size))))
  }
  if (max(size) == 1) return(c("grades", "two values"))
  if (max(size) <= 10) c("grades", paste("whole numbers with a range of", max(size)))
}

# Nearly all are 0 or 1, but what is there once is there again more often than chance has it, as
# words are: of the 1 and more, by the moments of all rows, x (x - 1) is at least a twentieth of x.
repeats <- function(look) {
  center <- unname(look$center)[look$keep]
  all(center >= 0) && sum(look$variance + center^2 - center) > 0.05 * sum(center)
}

# Counts without zeros: columns differ widely, and the standard deviation follows the mean from
# column to column, is above its root, and large values are the rare ones.
spread_as_counts <- function(z, p) {
  if (p < 20L || any(z < 0)) return(FALSE)
  center <- colMeans(z)
  variance <- apply(z, 2L, stats::var)
  z <- z[, variance > 0, drop = FALSE]
  center <- center[variance > 0]
  variance <- variance[variance > 0]
  top <- apply(z, 2L, max)
  mean(variance > center) > 0.8 && mean(center > apply(z, 2L, stats::median)) > 0.8 &&
    mean(top == max(top)) < 0.5 && max(center) > 4 * min(center) &&
    stats::cor(log(center), log(variance)) > 0.9
}

falls <- function(z, p) {
  if (p < 20L || any(z < 0) || mean(z == 0) < 0.2 || max(z) < 3) return(FALSE)
  above <- z[z > 0]
  top <- apply(z, 2L, max)
  few <- mean(above == 1) > 0.1 && sum(above == 2) <= sum(above == 1)
  common <- mean(top == max(top)) > 0.8
  # An age or an amount is no count of the same things: it is hardly ever 0. Few columns of counts
  # are skewed as well.
  from_zero <- colMeans(z == 0) > 0.02
  usual <- stats::median(top)
  beside <- top > 5 * usual
  # Between rare and common words there are others, between grades and an age there is nothing.
  graded <- mean(top == usual) < 0.8 && min(top[beside], Inf) <= 4 * max(top[!beside])
  alike <- graded || !any(beside) || mean(from_zero[beside]) > 0.5
  if (p < 100L) alike <- alike && mean(from_zero & colMeans(z) > apply(z, 2L, stats::median)) > 0.9
  !common && alike && (few || max(above) > 20 * stats::median(above))
}

# Logarithms of 1 + counts over the size of their row: before the logarithm, to whatever base, a row
# holds multiples of one number, of which it has the smallest. Rounded numbers too.
log_counts_kind <- function(z, data) {
  given <- data$input$transform
  if (identical(counts_of_all(given), "log") && given$rows == "none") {
    return(c("log counts", "as `counts` says"))
  }
  if (data$p < 20L || any(z < 0) || max(z) > 50 || mean(z == 0) < 0.02) return(NULL)
  for (base in c(exp(1), 2, 10)) {
    rows <- apply(base^z - 1, 1L, function(value) {
      value <- value[value > 0]
      times <- value / min(value, Inf)
      times <- times[times > 1.5 & times < 10.5]
      if (length(times)) mean(abs(times - round(times)) < 0.02) else NA
    })
    if (sum(!is.na(rows)) >= 10L && mean(rows > 0.95, na.rm = TRUE) > 0.8) {
      return(c("log counts", "multiples of one number in each row, before the logarithm"))
    }
  }
  NULL
}

# Rows of one sum or one length, which vary by far less than their columns: compositions, also those
# of which a trace was not measured, shares with or without rounding, directions.
totals_kind <- function(data, most = 4e6) {
  if (data$p < 3L) return(NULL)
  rows <- evenly(data$n, min(50, max(5, most %/% data$p)))
  z <- unname(dense_data(subset_data(data, rows), "x", quiet = TRUE))
  same <- function(total, part, most = 1e-3) {
    stats::var(total) < most * sum(apply(part, 2L, stats::var)) && min(total) > 0
  }
  if (all(z >= 0) && same(rowSums(z), z, 0.02)) {
    return(c("one unit", paste("rows add up to", signif(mean(rowSums(z)), 2L))))
  }
  if (same(rowSums(z^2), z^2)) return(c("one unit", "rows have one length"))
  if (any(z < 0) || max(z) > 50 || mean(z == 0) < 0.02) return(NULL)
  for (base in c(exp(1), 2, 10)) if (same(rowSums(base^z - 1), base^z)) {
    return(c("log counts", "rows add up to one number, before the logarithm"))
  }
}

# Flags beside measurements; columns that were read to different decimals, among few. Numbers from
# 0 to 1, or from -1, may have been brought there.
decimals_kind <- function(z, p) {
  if (nrow(z) < 10L) return(NULL)
  values <- apply(z, 2L, function(value) length(unique(value)))
  measured <- z[, values > 10L, drop = FALSE]
  if (!ncol(measured)) return(NULL)
  share <- colMeans(z == 1)
  flag <- values == 2L & colSums(z != 0 & z != 1) == 0 & share >= 0.02 & share <= 0.98
  from_zero <- all(z >= 0) && mean(colSums(measured == 0) > 0) > 0.8
  if (any(flag) && !from_zero && max(abs(measured)) > 1 + 1e-8) {
    return(c("mixed units", paste(count_words(sum(flag), "column"),
      "of 0 and 1 beside measurements")))
  }
  if (p < 50L && different_decimals(measured)) {
    c("mixed units", paste0("read to different decimals; ", spread_words(apply(z, 2L, stats::sd))))
  }
}

# The last decimal is one that a fifth of the values need.
different_decimals <- function(z) {
  if (nrow(z) <= 20L) return(FALSE)
  digits <- apply(z, 2L, function(value) {
    exact <- vapply(0:5, function(d) {
      mean(abs(value - round(value, d)) <= 1e-9 + 1e-14 * abs(value)) > 0.8
    }, NA)
    if (any(exact)) which(exact)[1L] else 7L
  })
  # Some columns of many may have been rounded.
  common <- max(tabulate(digits)) / length(digits)
  spread <- apply(z, 2L, stats::sd)
  common < if (max(spread) > 5 * min(spread)) 1 else 0.85
}

# None below 0: normalised counts, or intensities without a logarithm.
from_zero_kind <- function(z, center, spread) {
  p <- length(spread)
  zero <- colMeans(z == 0)
  if (mean(zero) > 0.5 && p >= 100L) return(c("one unit", "none below 0, most of them 0"))
  # Columns without 0 beside them must not be larger by far, as totals are.
  with_zero <- zero > 0
  wide <- apply(z, 2L, stats::sd)
  if (mean(zero) > 0.25 && p >= 20L && mean(with_zero) > 0.8 &&
      max(wide[!with_zero], 0) <= 10 * max(wide[with_zero])) {
    return(c("one unit", paste("none below 0,", if (all(with_zero)) "all" else "nearly all",
      "columns with 0")))
  }
}

# Intensities without a logarithm, of which a background may have been taken off: the spread of the
# columns grows with their mean, large values are the rare ones, and spreads have no gap between.
raw_kind <- function(z, center, spread) {
  p <- length(spread)
  if (p < 100L || mean(z == 0) > 0.2 || max(spread) < 10 * min(spread)) return(NULL)
  above <- center > 0
  if (sum(above) < 0.3 * p) return(NULL)
  grows <- stats::cor(log(center[above]), log(spread[above])) > (if (all(z >= 0)) 0.7 else 0.65)
  skewed <- mean(colMeans(z) > apply(z, 2L, stats::median)) > (if (all(z >= 0)) 0.6 else 0.65)
  # Measures in different units have spreads farther apart.
  near <- (all(z >= 0) && all(above)) ||
    (stats::sd(log(spread)) < 1.2 && max(diff(sort(log(spread)))) < 1.5)
  if (grows && skewed && near && !different_decimals(z)) {
    c("one unit", paste0(if (all(z >= 0)) "none below 0, ", "spread grows with the mean; ",
      spread_words(spread)), "raw")
  }
}

# Spectra with peaks: from column to column the spread hardly changes, up and down over all columns,
# and where it is large neighbouring columns are alike.
profile_kind <- function(data, spread, few = 100L) {
  p <- length(spread)
  if (p < few || data$kind == "sparse") return(NULL)
  size <- log(spread)
  step <- diff(size)
  tenth <- stats::quantile(size, c(0.1, 0.9), names = FALSE)
  smooth <- stats::sd(size) > 0 && stats::median(abs(step)) < 0.15 * stats::sd(size) &&
    stats::quantile(abs(step), 0.97) < 0.25 * diff(range(size)) && diff(tenth) < log(1000) &&
    stats::cor(size[-1L], size[-p]) > 0.9 && abs(mean(step > 0) - 0.5) < 0.3
  if (!smooth) return(NULL)
  at <- which(size[-1L] > stats::median(size) & size[-p] > stats::median(size))
  if (is_picture(data, at)) {
    c("one unit", paste0("neighbouring columns are alike; ", spread_words(spread)))
  }
}

# Are neighbouring columns alike, as pixels and points of a spectrum are?
is_picture <- function(data, at = seq_len(data$p - 1L)) {
  like <- neighbours_alike(data, at[evenly(length(at), 300L)])
  isTRUE(like[["near"]] > 0.5 && like[["near"]] > 1.5 * like[["far"]])
}

spread_words <- function(spread) {
  range <- signif(range(spread[spread > 0]), 2L)
  if (range[1L] == range[2L]) paste("standard deviation", range[1L]) else
    paste("standard deviations from", range[1L], "to", range[2L])
}

spread_kind <- function(data, spread) {
  mixed <- different_spread(spread)
  if (mixed && points_named(data$features)) {
    return(c("one unit", paste0("columns are named by numbers in order, as points of a spectrum; ",
      spread_words(spread))))
  }
  if (mixed && length(spread) < 50L && !different_spread(spread, few = Inf) &&
      is_smooth_columns(even_part(data))) {
    return(c("one unit", paste0("neighbouring columns are alike; ", spread_words(spread))))
  }
  c(if (mixed) "mixed units" else "one unit", paste0(if (!mixed && length(spread) > 1L) "similar ",
    spread_words(spread)))
}

# Columns of one unit differ in their spread as well, so the limits are wide for many columns: the
# largest standard deviation against the median one finds a few columns of another unit, a tenth of
# the columns against another tenth finds many. Few columns are seldom of one unit if they differ.
# The limits were set by hand on some twenty sets.
different_spread <- function(spread, most = 15, wide = 40, few = 15) {
  tenth <- stats::quantile(spread, c(0.1, 0.9), names = FALSE)
  max(spread) > most * stats::median(spread) || tenth[2L] > wide * tenth[1L] ||
    (length(spread) < 50L && max(spread) > few * min(spread))
}

# Capitals with or without digits, and hardly two of one stem, as items of a questionnaire are.
symbols_of_genes <- function(names, least = 20L) {
  stem <- sub("[-.]?[0-9]+[A-Z]?$", "", names)
  length(names) >= least && (genes_among(names) ||
    mean(grepl("^[A-Z][A-Z0-9-]+$", names) & nchar(stem) > 1L) > 0.8 &&
      length(unique(stem)) > 0.6 * length(stem))
}

# Wavelengths, shifts, times: numbers that rise or fall, other than those of the columns.
points_named <- function(names, least = 100L) {
  at <- if (length(names) >= least) suppressWarnings(as.numeric(sub("^X", "", names)))
  length(at) > 0L && !anyNA(at) && (all(diff(at) > 0) || all(diff(at) < 0)) &&
    !all(abs(diff(at)) == 1 & min(at) <= 1)
}
