# Columns that are no features, and faults of measuring: what ufs_look() names, the checks of
# ufs_select() and the hints of ufs_data(). From an even part of the rows and columns, so that the
# answer is the same for dense, sparse and stored data. Nothing is changed.

# Why x seems to be no table of samples and features, and which columns are doubtful: sentences for
# print(), none if all is well.
doubtful_input <- function(data) {
  c(looks_square(data), no_features(data), row_that_adds_up(data),
    missing_codes(data, closely = TRUE), measuring_faults(data))
}

# Columns that are no features. An outcome beside a spectrum is compared by and chosen from as its
# points are, and may outweigh them all.
no_features <- function(data) {
  out <- columns_beside(data)
  many <- length(out) > 1L
  c(looks_like_ids(data), if (length(out)) paste0(some_columns(data$features[out]),
    if (many) " stand" else " stands", " beside the matrix column '", data$input$widest$name,
    "' and ", if (many) "count as one more feature each" else "counts as one more feature",
    ": leave an outcome out (", without_columns(out), ")"))
}

looks_square <- function(data) {
  if (data$n != data$p || data$n < 4L) return(NULL)
  at <- evenly(data$n, 200L)
  z <- unname(dense_data(subset_data(data, at, at), "x", quiet = TRUE))
  if (max(abs(z - t(z))) > 1e-8 * max(abs(z))) return(NULL)
  diagonal <- diag(z)
  what <- if (all(z %in% c(0, 1))) "matrix of neighbours" else
    if (all(diagonal == 0) && all(z >= 0)) "matrix of distances" else
    if (all(abs(diagonal - 1) < 1e-8) && all(abs(z) <= 1 + 1e-8)) "correlation matrix" else
    "covariance matrix"
  paste0("x is symmetric and seems to be a ", what, ": give the table of samples and features",
    if (what %in% c("correlation matrix", "covariance matrix")) ", or ufs_moments(cov = x, n = )")
}

# Columns that number the rows, tell the time or name the sample, by their name or by their values:
# whole numbers that rise from row to row in equal steps, or as large as seconds since 1970.
looks_like_ids <- function(data) {
  names <- id_columns(data)
  if (length(names)) paste0(some_columns(names), if (length(names) == 1L) " seems" else " seem",
    " to number rows or samples, or to tell the time: leave out what is no feature")
}

id_columns <- function(data) {
  if (data$n < 10L) return(NULL)
  at <- evenly(data$p, 2000L)
  # The first row rules out nearly all columns of measurements.
  whole <- function(value) which(is.finite(value) & value == round(value))
  if (data$kind == "dense") at <- at[whole(data$x[1L, at])]
  if (!length(at)) return(NULL)
  z <- even_part(data, c(200L, 2000L), at)
  different <- integer(ncol(z))
  for (j in whole(z[1L, ])) {
    value <- z[, j]
    steps <- unique(value)
    if (length(steps) <= 10L && length(steps) < nrow(z)) next
    if (all(is.finite(steps)) && all(steps == round(steps))) different[j] <- length(steps)
  }
  # Names cost more than numbers to judge, and most tables have no such column.
  open <- which(different > 0L)
  if (!length(open)) return(NULL)
  names <- if (is.null(data$features)) paste0("V", at[open]) else readable(data$features[at[open]])
  called <- function(what, names) {
    upper <- gsub("(^|[|])([a-z])", "\\1\\U\\2", what, perl = TRUE)
    grepl(paste0("(^|[0-9[:punct:][:space:]])(", what, ")$"), names, ignore.case = TRUE,
      perl = TRUE) | grepl(paste0("[a-z](", upper, ")$"), names, perl = TRUE)
  }
  id <- called("id|uuid|guid", names) | grepl("[a-z]ID$", names, perl = TRUE)
  apart <- different[open] == nrow(z)
  row <- apart
  if (any(apart)) row[apart] <- called(paste0("index|row|rownames?|no|nr|number|seqno|time|date|",
    "datetime|timestamp|year|epoch"), names[apart]) |
    grepl("^(X|Unnamed: 0|[.]{3}1)$", names[apart])
  found <- vapply(seq_along(open), function(i) {
    j <- open[i]
    if (id[i]) return(different[j] > 10L)
    apart[i] &&
      (row[i] || rises_as_rows(z[, j], data$n) || is_permuted_number(data, at[j], z[, j]))
  }, NA)
  names[found]
}

# 1 to n in any order.
is_permuted_number <- function(data, j, value) {
  if (data$kind == "source" || data$n < 20L || min(value) < 0 || max(value) > data$n) return(FALSE)
  value <- sort(data_columns(data, j))
  value[1L] <= 1 && all(diff(value) == 1)
}

# A few rows may be sorted by a measurement, which is no time then.
rises_as_rows <- function(value, n) {
  step <- diff(value)
  if (!(all(step > 0) || all(step < 0))) return(FALSE)
  if (min(abs(value)) > 1e8) return(TRUE)
  regular <- max(step) - min(step) <= max(2, 0.05 * mean(abs(step)))
  regular && (n >= 30L || (min(value) %in% 0:1 && max(value) <= 2 * n))
}

# ---- faults of measuring -------------------------------------------------------------------------

# Sentences with column, value and count.
measuring_faults <- function(data) {
  if (data$n < 20L) return(NULL)
  at <- evenly(data$p, 1000L)
  places <- evenly(data$n, max(1000, 2e6 %/% data$p))
  z <- even_part(data, c(length(places), 1000L))
  if (any(!is.finite(z))) return(NULL)
  # Counts, weighted or not, are alike and often 0.
  if (all(z >= 0) && mean(z == 0) > 0.2) return(NULL)
  names <- readable(feature_names(data$features, data$p, FALSE)[at])
  of <- paste0(" of ", count_words(nrow(z), "row"), if (nrow(z) < data$n) " looked at")
  # Values that are all different are none of these.
  again <- which(apply(z, 2L, anyDuplicated) > 0L)
  usual <- lapply(again, function(j) usual_value(z[, j]))
  c(fault_words(z, again, stuck_value, names, paste0(of, ": a sensor that was stuck, or values ",
      "filled in?"), usual),
    fault_words(z, again, cut_at_limit, names, paste0(of, ", at one end: were values cut at a ",
      "limit?"), usual),
    same_but_for_unit(z, names), rows_in_other_unit(z, names, places),
    drift_in_rows(z, names, id_columns(data)), columns_that_add_up(z, names))
}

# A trend from row to row, in most eighths of the rows, too: a few groups of rows have none there.
drift_in_rows <- function(z, names, ids, least = c(0.8, 0.2)) {
  z <- z[evenly(nrow(z), 1000L), , drop = FALSE]
  n <- nrow(z)
  if (n < 40L) return(NULL)
  ranks <- .Call(C_x_ranks, z)
  trend <- function(rows) drop(suppressWarnings(stats::cor(ranks[rows, , drop = FALSE], rows)))
  r <- trend(seq_len(n))
  within <- vapply(split(seq_len(n), ceiling(8 * seq_len(n) / n)), trend, r)
  within <- apply(matrix(within, ncol(z)) * sign(r), 1L, stats::median, na.rm = TRUE)
  at <- which(abs(r) >= least[1L] & within >= least[2L] & !names %in% ids)
  if (!length(at) || length(at) > max(2, 0.25 * ncol(z))) return(NULL)
  paste0(some_columns(names[at]), if (length(at) == 1L) " rises or falls" else " rise or fall",
    " from row to row (rank correlation ", signif(r[at[1L]], 2L),
    "): a drift, or sorted rows?")
}

# A row that is the sum, or the mean, of all others, or rows that are sums of those between them.
# Data on disk are not read for it.
row_that_adds_up <- function(data) {
  if (data$kind == "source" || data$n < 4L || data$p < 2L) return(NULL)
  sum <- drop(x_cross(raw_operator(data), matrix(1, data$n)))
  at <- evenly(data$p, 1000L)
  z <- data_columns(data, at[sum[at] != 0])
  if (ncol(z) < 2L || anyNA(z)) return(NULL)
  total <- colSums(z)
  is_row <- function(part) {
    # Nearly all rows fail in the first column.
    open <- which(abs(z[, 1L] / total[1L] - part) <= 1e-8)
    off <- abs(z[open, , drop = FALSE] / rep(total, each = length(open)) - part)
    open[rowSums(off > 1e-8) == 0][1L]
  }
  row <- c(is_row(1 / 2), is_row(1 / data$n))
  if (all(is.na(row))) {
    sums <- subtotal_rows(z[, evenly(ncol(z), 20L), drop = FALSE])
    return(if (length(sums)) {
      paste0("rows ", toString(utils::head(sums, 3L)), if (length(sums) > 3L) ", ...",
        " are the sums of the rows between them: leave out what is no sample (`samples`)")
    })
  }
  i <- row[!is.na(row)][1L]
  name <- data$samples[i]
  paste0("row ", i, if (length(name)) paste0(" ('", name, "')"), " is the ",
    if (is.na(row[1L])) "mean" else "sum", " of all others: leave out what is no sample ",
    "(samples = -", i, ")")
}

# Rows of which each is the sum of two or more right above it, from the first row on: a single row
# may be a sum by chance.
subtotal_rows <- function(z) {
  # Most tables have none by their first column.
  if (!any(abs(cumsum(z[, 1L])[-nrow(z)] - z[-1L, 1L]) <= 1e-8 * max(abs(z)))) return(NULL)
  above <- rbind(0, apply(z, 2L, cumsum))
  out <- integer()
  from <- 1L
  while (from + 2L <= nrow(z)) {
    later <- seq.int(from + 2L, nrow(z))
    row <- z[later, , drop = FALSE]
    off <- abs(above[later, , drop = FALSE] - rep(above[from, ], each = length(later)) - row)
    found <- later[rowSums(off > 1e-8 * max(abs(z))) == 0 & rowSums(row != 0) > 1][1L]
    if (is.na(found)) break
    out <- c(out, found)
    from <- found + 1L
  }
  if (length(out) > 1L && from > nrow(z) / 2) out
}

# Columns that are sums of others, by what depends on columns before it.
columns_that_add_up <- function(z, names, most = 200L) {
  if (ncol(z) > most || nrow(z) <= ncol(z) + 1L) return(NULL)
  z <- z[evenly(nrow(z), 5000L), , drop = FALSE]
  z <- sweep(z, 2L, colMeans(z))
  q <- qr(z, tol = 1e-9)
  free <- q$pivot[seq_len(q$rank)]
  words <- vapply(setdiff(q$pivot, free), function(j) {
    b <- qr.coef(qr(z[, free, drop = FALSE], tol = 1e-9), z[, j])
    near <- round(b)
    parts <- c(-1, near[near != 0])
    if (anyNA(b) || length(parts) < 3L || any(abs(b - near) > 1e-6) || any(abs(near) > 1)) {
      return("")
    }
    # j = a + b, or a = j + b.
    own <- c(j, free[near != 0])
    total <- if (sum(parts < 0) == 1L) 1L else which(parts > 0)
    if (length(total) != 1L) return("")
    paste0("'", names[own[total]], "' is the sum of ", some_columns(names[own[-total]]))
  }, "")
  words <- words[nzchar(words)]
  if (length(words)) paste0(paste(utils::head(words, 3L), collapse = "; "),
    ": it adds nothing to them")
}

# One sentence about what `look` finds in the columns `among`, c(value, count) or NULL each. What
# many columns have in common is their scale. `usual`: their usual_value(), where `look` takes it.
fault_words <- function(z, among, look, names, words, usual = NULL) {
  found <- vector("list", ncol(z))
  found[among] <- if (is.null(usual)) lapply(among, function(j) look(z[, j])) else
    Map(function(j, usual) look(z[, j], usual), among, usual)
  at <- which(!vapply(found, is.null, NA))
  if (!length(at) || length(at) > max(2, 0.25 * ncol(z))) return(NULL)
  each <- vapply(at, function(j) {
    paste0("'", names[j], "' is ", signif(found[[j]][1L], 10L), " in ", found[[j]][2L])
  }, "")
  paste0(first_three(each, " more like that"), words)
}

first_three <- function(words, more) {
  left <- length(words) - 3L
  paste0(paste(utils::head(words, 3L), collapse = ", "),
    if (left > 0L) paste0(" (and ", count_words(left, "column"), more, ")"))
}

# One value in a quarter of the rows of a column whose other values hardly repeat: in one run of
# rows, or in the middle of the others and in fewer than half of the rows, since what was 0 in most
# rows may have been shifted.
stuck_value <- function(value, found = usual_value(value), least = 0.25) {
  run <- rle(value)
  longest <- which.max(run$lengths)
  stuck <- run$values[longest]
  count <- run$lengths[longest]
  if (count >= max(8, least * length(value)) && length(unique(value)) > 8L &&
      count >= 0.9 * sum(value == stuck) && count >= 5 * max(run$lengths[run$values != stuck])) {
    return(c(stuck, count))
  }
  if (is.null(found) || found$count < least * length(value)) return(NULL)
  inside <- found$value != 0 && found$value > min(value) && found$value < max(value) &&
    found$count < length(value) / 2
  if (inside && !found$rounded) c(found$value, found$count)
}

# A pile at one end, of fewer than half of the rows. 0, 1 and 100 per cent are natural ends.
cut_at_limit <- function(value, found = usual_value(value), least = 0.03) {
  if (is.null(found) || found$count < max(5, least * length(value)) ||
      found$count >= length(value) / 2 || found$value %in% c(-1, 0, 1) ||
      (found$value == 100 && min(value) >= 0)) {
    return(NULL)
  }
  if (found$value %in% range(value)) c(found$value, found$count)
}

# The most frequent value where all others are measurements, of which there are many: none is
# nearly as frequent.
usual_value <- function(value) {
  run <- rle(sort.int(value, method = "quick"))
  top <- which.max(run$lengths)
  count <- run$lengths[top]
  rest <- run$lengths[-top]
  if (length(rest) < 15L || count < 5 * max(rest)) return(NULL)
  list(value = run$values[top], count = count, rounded = length(rest) < 0.3 * sum(rest))
}

# Columns that are another one times a number, plus a number: no further from it than both were
# rounded. Found among the neighbours in their projections on one direction.
same_but_for_unit <- function(z, names, near = 4L) {
  n <- nrow(z)
  part <- .Call(C_x_standardise, z, colMeans(z), rep(1, ncol(z)))
  spread <- sqrt(x_ss(part) / (n - 1))
  unit <- last_digits(z)
  at <- which(spread > 20 * unit)
  if (length(at) < 2L) return(NULL)
  part <- .Call(C_x_standardise, part[, at, drop = FALSE], numeric(length(at)), spread[at])
  ord <- order(abs(crossprod(part, cos(seq_len(n)^2))))
  some <- part[evenly(n, 50L), , drop = FALSE]
  words <- character()
  for (step in seq_len(min(near, length(at) - 1L))) {
    a <- ord[seq_len(length(ord) - step)]
    b <- ord[step + seq_len(length(ord) - step)]
    # The squares of the difference, in all rows, or the sum are 2 (n - 1) (1 - |r|).
    left <- some[, a, drop = FALSE]
    right <- some[, b, drop = FALSE]
    near_in_some <- pmin(colSums((left - right)^2), colSums((left + right)^2)) <= 2.01e-4 * (n - 1)
    for (i in which(near_in_some)) {
      r <- sum(part[, a[i]] * part[, b[i]]) / (n - 1)
      if (abs(r) <= 0.9999) next
      pair <- at[sort(c(a[i], b[i]))]
      words <- c(words, unit_words(z, pair, sign(r) * spread[pair[2L]] / spread[pair[1L]], unit,
        names))
    }
  }
  if (length(words)) {
    more <- length(words) - 3L
    paste0(paste(utils::head(words, 3L), collapse = "; "), if (more > 0L) {
      paste0("; and ", count_words(more, "pair"), " more")
    }, ": one measurement in two units?")
  }
}

unit_words <- function(z, pair, times, unit, names) {
  plus <- mean(z[, pair[2L]]) - times * mean(z[, pair[1L]])
  off <- abs(z[, pair[2L]] - times * z[, pair[1L]] - plus)
  # Copies are counted by another line.
  if (max(off) > 0.6 * (unit[pair[2L]] + abs(times) * unit[pair[1L]]) || all(off == 0 & times == 1 &
    plus == 0)) return(NULL)
  shift <- signif(plus, 4L)
  if (abs(plus) < 1e-3 * abs(mean(z[, pair[2L]]))) shift <- 0
  if (shift == 0 && abs(times - 1) <= 1e-6) return(NULL)
  paste0("'", names[pair[2L]], "' is '", names[pair[1L]], "'", if (abs(times - 1) > 1e-6) {
    paste(" times", signif(times, 4L))
  }, if (shift != 0) paste(if (shift > 0) " plus" else " minus", abs(shift)))
}

# The last digit to which the values of each column were written, by at most 50 of them.
last_digits <- function(z) {
  z <- z[evenly(nrow(z), 50L), , drop = FALSE]
  out <- 1e-12 * apply(abs(z), 2L, max)
  open <- seq_len(ncol(z))
  whole <- function(value, digits) {
    abs(value - round(value, digits)) <= 1e-9 * 10^-digits + 1e-14 * abs(value)
  }
  for (digits in -2:6) {
    # Most columns fail in the first row already.
    at <- open[whole(z[1L, open], digits)]
    at <- at[colSums(!whole(z[, at, drop = FALSE], digits)) == 0]
    out[at] <- 10^-digits
    open <- setdiff(open, at)
    if (!length(open)) break
  }
  out
}

# Rows in a block, or a few, of which a positive column is 10, 1000, 60, ... times as large as in
# the others, with a gap between.
rows_in_other_unit <- function(z, names, places) {
  found <- lapply(seq_len(ncol(z)), function(j) block_in_unit(z[, j]))
  at <- which(!vapply(found, is.null, NA))
  if (!length(at) || length(at) > max(2, 0.5 * ncol(z))) return(NULL)
  each <- vapply(at, function(j) {
    one <- found[[j]]
    paste0("rows ", places[one$rows[1L]], " to ", places[one$rows[2L]], " of '", names[j],
      "' (", one$count, " values) are about ", one$times, " times the others")
  }, "")
  paste0(first_three(each, " more"), ": in another unit?")
}

# Smaller factors are those of groups that differ, as often.
unit_factors <- c(10, 100, 1000, 1e6, 60, 3600, 25.4)

block_in_unit <- function(value) {
  if (any(value <= 0) || length(unique(value)) < 10L) return(NULL)
  log <- log(value)
  sorted <- sort(log)
  gap <- which.max(diff(sorted))
  low <- log <= sorted[gap]
  sizes <- c(sum(low), sum(!low))
  if (min(sizes) < max(8, 0.03 * length(value))) return(NULL)
  spread <- c(stats::sd(log[low]), stats::sd(log[!low]))
  step <- mean(log[!low]) - mean(log[low])
  alike <- max(spread) < 4 * min(spread) && max(spread) < step / 4
  off <- abs(step - log(unit_factors))
  # The factor is known to a few standard errors.
  if (!alike || min(off) > min(0.15, max(0.02, 2 * sqrt(sum(spread^2 / sizes))))) return(NULL)
  if (sorted[gap + 1L] - sorted[gap] < step / 4) return(NULL)
  few <- if (sizes[1L] < sizes[2L]) low else !low
  rows <- range(which(few))
  if (mean(few[rows[1L]:rows[2L]]) < 0.95) return(NULL)
  times <- unit_factors[which.min(off)]
  list(rows = rows, count = sum(few), times = paste0(if (few[which(low)[1L]]) "1/", times))
}

# Why the rows seem to be features, NULL if they do not.
features_in_rows <- function(n, p, rows, columns) {
  if (is.null(rows)) return(NULL)
  some <- readable(rows[seq_len(min(n, 20000L))])
  if (!is.null(columns)) columns <- readable(columns[seq_len(min(p, 20000L))])
  if (genes_among(some) && !genes_among(columns)) return("row names look like genes")
  barcodes <- function(names) mean(grepl("^[ACGT]{8,}([-_.][A-Za-z0-9]+)*$", names, perl = TRUE))
  if (length(columns) && barcodes(columns) > .5 && barcodes(some) < .5) {
    return("column names look like barcodes of cells")
  }
  # Samples often have a number, with a few letters before it.
  if (n >= 20 * p && n >= 500 && !anyDuplicated(rows) &&
      mean(grepl("^[^0-9]*[0-9]+$", some)) < .5 && mean(grepl("[0-9]", some)) < .9) {
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
  length(names) > 0L && (mean(grepl(known, names, perl = TRUE)) > .5 ||
    sum(grepl(common, names, ignore.case = TRUE, perl = TRUE)) >= 5L)
}

# Are the columns points of smooth curves, as wavelengths of a spectrum? Then a column hardly
# differs from its neighbour, and by far less than from other columns. 1 - r of standardised
# columns, on at most 300 rows and 1000 neighbouring pairs. Without baseline and scatter neighbours
# have less in common.
is_smooth_columns <- function(x) {
  data <- open_data(x)
  if (data$kind == "sparse" || data$p < 20L || data$n < 5L) return(FALSE)
  apart <- 1 - neighbours_alike(data, evenly(data$p - 1L, 1000L))
  most <- if (identical(data$input$transform$rows, "snv")) 0.1 else 0.03
  isTRUE(apart[["near"]] < most && apart[["near"]] < 0.1 * apart[["far"]])
}

# Arguments of ufs_data() for curves of which the user does not say what to do with the rows, NULL
# where he does, or where other columns or tables stand beside them.
curve_transform <- function(data) {
  told <- isTRUE(data$input$rows_told) || !is.null(data$input$transform)
  if (!told && is.null(data$input$tables) && !length(columns_beside(data))) list(rows = "snv")
}

snv_words <- "baseline and scatter taken out (rows = \"snv\"; rows = \"none\" keeps them)"

# The median correlation of columns with the next one, and with one far away.
neighbours_alike <- function(data, first) {
  part <- subset_data(data, evenly(data$n, 300L))
  columns <- function(j) {
    z <- data_columns(part, j)
    z <- sweep(z, 2L, colMeans(z))
    sweep(z, 2L, pmax(sqrt(colSums(z^2)), .Machine$double.xmin), "/")
  }
  here <- columns(first)
  like <- function(j) stats::median(colSums(here * columns((j - 1L) %% data$p + 1L)))
  c(near = like(first + 1L), far = like(first + data$p %/% 3L))
}
