# What kind of numbers these are, from an even part of the rows and columns, so that the answer is
# the same for dense, sparse and stored data and draws no random numbers. Cost: at most 200 x 1,000.

kinds <- c("counts", "grades", "one unit", "mixed units", "standardised")

# list(values, reason, raw): one of `kinds` and why; raw: the spread of the columns grows with their
# mean, as in intensities that were not logged. `look()` gives mean and variance of the columns.
data_kind <- function(data, look, kind = NULL) {
  whole <- look()
  if (!is.null(kind)) return(list(values = kind, reason = "as `kind` says", raw = FALSE))
  spread <- sqrt(whole$variance)
  center <- unname(whole$center)[whole$keep]
  out <- function(values, ..., raw = FALSE) list(values = values, reason = paste0(...), raw = raw)
  if (all(abs(center) < 1e-6) && diff(range(spread)) < 1e-2 && abs(mean(spread) - 1) < 1e-2) {
    return(out("standardised", "means 0, standard deviations 1"))
  }
  z <- even_part(data)
  if (all(z == round(z))) {
    found <- whole_kind(z, data$p)
    if (!is.null(found)) return(out(found[1L], found[2L]))
  }
  range <- c(min(spread), max(spread))
  said <- paste("standard deviations from", signif(range[1L], 2L), "to", signif(range[2L], 2L))
  if (all(z >= 0)) {
    if (data$p >= 100L && mean(z == 0) > .5) return(out("one unit", "none below 0, most of them 0"))
    if (ncol(z) == data$p && data$p > 2L) {
      if (same(rowSums(z))) return(out("one unit", "rows add up to ", signif(sum(z[1L, ]), 3L)))
      if (same(rowSums(z^2))) return(out("one unit", "rows have one length"))
    }
    if (data$p >= 500L && mean(z == 0) < .05 && all(center > 0) &&
        stats::cor(log(center), log(spread)) > .8) {
      return(out("one unit", "none below 0, spread grows with the mean; ", said, raw = TRUE))
    }
  }
  mixed <- different_spread(spread)
  out(if (mixed) "mixed units" else "one unit", said)
}

same <- function(value) diff(range(value)) <= 1e-6 * max(abs(value)) && max(abs(value)) > 0

# At most so many rows and columns, evenly, as a dense matrix.
even_part <- function(data, most = c(200L, 1000L)) {
  some <- function(n, most) if (n > most) unique(round(seq(1, n, length.out = most)))
  part <- subset_data(data, some(data$n, most[1L]), some(data$p, most[2L]))
  unname(dense_data(part, "x", quiet = TRUE))
}

# Whole numbers: c(kind, reason), or NULL where their spread decides. Counts fall from 1 on and have
# no common largest value; grades have a few values, the same in all columns.
whole_kind <- function(z, p) {
  size <- apply(z, 2L, function(value) diff(range(value)))
  size <- size[size > 0]
  if (!length(size)) return(NULL)
  usual <- stats::median(size)
  # Items beside an age.
  if (usual <= 10 && max(size) > 5 * usual) {
    if (mean(size > 5 * usual) < .5 && !falls(z, p)) {
      return(c("mixed units", paste0("grades with a range of ", usual, " beside ranges up to ",
        max(size))))
    }
  }
  if (max(size) == 1) return(c("grades", "two values"))
  if (falls(z, p)) return(c("counts", "whole numbers, many 0"))
  if (max(size) <= 10) return(c("grades", paste("whole numbers with a range of", max(size))))
  NULL
}

falls <- function(z, p) {
  if (p < 100L || any(z < 0) || mean(z == 0) < .2 || max(z) < 2) return(FALSE)
  above <- z[z > 0]
  top <- apply(z, 2L, max)
  common <- mean(top == max(top)) > .8
  few <- mean(above == 1) > .1 && sum(above == 2) <= sum(above == 1)
  !common && (few || max(above) > 20 * stats::median(above))
}

# Columns of one unit differ in their spread as well, so the limits are wide for many columns: the
# largest standard deviation against the median one finds a few columns of another unit, a tenth of
# the columns against another tenth finds many. Few columns are seldom of one unit if they differ.
# The limits were set by hand on some twenty sets.
different_spread <- function(spread, most = 15, wide = 40, few = 10) {
  tenth <- stats::quantile(spread, c(0.1, 0.9), names = FALSE)
  max(spread) > most * stats::median(spread) || tenth[2L] > wide * tenth[1L] ||
    (length(spread) < 50L && max(spread) > few * min(spread))
}

# For whoever standardises only columns of different units: list(mixed, reason).
different_units <- function(data, look) {
  found <- data_kind(data, look)
  list(mixed = found$values == "mixed units", reason = found$reason)
}

# Why x seems to be no table of samples and features, and columns that seem to be no features:
# sentences for print(), none if all is well.
doubtful_input <- function(data) {
  c(looks_square(data), looks_like_ids(data))
}

looks_square <- function(data) {
  if (data$n != data$p || data$n < 4L) return(NULL)
  at <- unique(round(seq(1, data$n, length.out = min(200L, data$n))))
  z <- unname(dense_data(subset_data(data, at, at), "x", quiet = TRUE))
  if (max(abs(z - t(z))) > 1e-8 * max(abs(z))) return(NULL)
  what <- if (all(diag(z) == 0) && all(z >= 0)) "matrix of distances" else
    if (all(abs(diag(z) - 1) < 1e-8)) "correlation matrix" else "covariance matrix"
  paste0("x is symmetric and seems to be a ", what, ": give the table of samples and features")
}

looks_like_ids <- function(data) {
  if (data$n < 10L) return(NULL)
  z <- even_part(data, c(200L, 2000L))
  names <- data$features
  at <- unique(round(seq(1, data$p, length.out = min(2000L, data$p))))
  called <- if (is.null(names)) logical(length(at)) else
    grepl("^(.*[_. ])?(id|index|row|rownames?|no|nr|number|time|date|timestamp|year)$", names[at],
      ignore.case = TRUE)
  found <- vapply(seq_len(ncol(z)), function(j) {
    value <- z[, j]
    all(value == round(value)) && !anyDuplicated(value) &&
      (called[j] || all(diff(value) > 0) || all(diff(value) < 0))
  }, NA)
  if (!any(found)) return(NULL)
  names <- if (is.null(names)) paste0("V", at[found]) else names[at[found]]
  paste0(some_columns(names), if (sum(found) == 1L) " seems" else " seem",
    " to number the rows or to tell the time: leave out what is no feature")
}

# Why the rows seem to be features, NULL if they do not.
looks_turned <- function(n, p, rows, columns) {
  if (is.null(rows)) return(NULL)
  some <- function(names) if (is.null(names)) character() else utils::head(names, 20000L)
  if (genes_among(some(rows)) && !genes_among(some(columns))) return("row names look like genes")
  barcode <- "^[ACGT]{8,}([-_.][A-Za-z0-9]+)*$"
  if (length(columns) && mean(grepl(barcode, some(columns))) > .5 &&
      mean(grepl(barcode, some(rows))) < .5) {
    return("column names look like barcodes of cells")
  }
  # Samples often have a number, with a few letters before it.
  if (n >= 20 * p && n >= 500 && !anyDuplicated(rows) &&
      mean(grepl("^[^0-9]*[0-9]+$", some(rows))) < .5) {
    return("far more rows than columns, and rows with names")
  }
  NULL
}

# Identifiers of the large collections, or genes that hardly any table of genes is without.
genes_among <- function(names) {
  known <- paste0("^(ENS[A-Z]*[GT][0-9]{6,}([.][0-9]+)?|AT[1-5CM]G[0-9]{5}|Y[A-P][LR][0-9]{3}[CW]|",
    "[0-9]+(_[a-z]+)?_at|(gene|probe|transcript|cg|rs)[_.-]?[0-9]+)$")
  common <- paste0("^(ACTB|ACTG1|B2M|GAPDH|EEF1A1|EEF2|FTL1?|FTH1|TMSB4X|MALAT1|TP53|TRP53|UBC|",
    "UBB|VIM|PGK1|HPRT1?|TBP|MYC|EGFR|CD[348][A-G]?|RP[LS][0-9]+[AXYL]*|MT-[A-Z0-9]+)$")
  length(names) > 0L && (mean(grepl(known, names)) > .5 ||
    sum(grepl(common, names, ignore.case = TRUE)) >= 5L)
}

# Are the columns points of smooth curves, as wavelengths of a spectrum? Then a column hardly
# differs from its neighbour, and by far less than from other columns. 1 - r of standardised
# columns, on at most 300 rows and 1000 neighbouring pairs.
is_smooth_columns <- function(x) {
  data <- open_data(x)
  if (data$kind == "sparse" || data$p < 20L || data$n < 5L) return(FALSE)
  rows <- unique(round(seq(1, data$n, length.out = min(data$n, 300L))))
  first <- unique(round(seq(1, data$p - 1L, length.out = min(data$p - 1L, 1000L))))
  part <- subset_data(data, rows)
  columns <- function(j) {
    z <- data_columns(part, j)
    z <- sweep(z, 2L, colMeans(z))
    sweep(z, 2L, pmax(sqrt(colSums(z^2)), .Machine$double.xmin), "/")
  }
  apart <- function(a, b) stats::median(1 - colSums(a * b))
  here <- columns(first)
  near <- apart(here, columns(first + 1L))
  far <- apart(here, columns((first + data$p %/% 3L - 1L) %% data$p + 1L))
  isTRUE(near < 0.03 && near < 0.1 * far)
}
