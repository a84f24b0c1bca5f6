# How much of a table is noise, the one answer to all who ask: ufs_look(), the judgement of a
# choice, ufs_decoys(), ufs_size(). Columns are compared with their permuted copies by the columns
# closest to them.

# list(noise, its range from low to high, chance: of each of the usable `columns` that it is noise,
# whose mean is about `noise`). On at most 400 rows and 1,000 columns, those `beside` among them; of
# data with replicates on their levels. NULL where there are too few.
table_noise <- function(x, keep, beside = NULL) with_seed(looking_seed, {
  usable <- length(keep)
  if (holds_replicates(x)) {
    # None can be made where no column repeats: all are noise.
    x <- tryCatch(data_of_levels(x), ufs_error = function(e) NULL)
    if (is.null(x)) {
      return(list(noise = 1, low = 1, high = 1, chance = rep(1, usable), columns = keep))
    }
    keep <- intersect(keep, as_column_stats(x)$keep)
  }
  columns <- if (length(keep) <= 1000L) keep else
    sort(unique(c(beside, keep[sample.int(length(keep), 1000L)])))
  rows <- rows_that_vary(x, if (x$n > 400L) sort(sample.int(x$n, 400L)), columns)
  block <- x$row_held$blocks
  if (!is.null(block) && !is.null(rows)) block <- block[rows]
  found <- tryCatch(partner_noise(dense_part(x, rows, columns), block),
    ufs_error = function(e) NULL)
  if (is.null(found)) return(NULL)
  # Columns that do not repeat are noise, and so are as many of those that repeat by luck: those
  # whose F is below 1 are noise, which is there with a known probability.
  repeating <- length(keep)
  levels <- x$levels
  if (!is.null(levels)) {
    alike <- levels$share[setdiff(seq_along(levels$share), levels$constant)] == 0
    below <- stats::pf(1, levels$df, max(1, levels$n_rows - levels$n_levels))
    repeating <- min(repeating, length(alike) * max(0, 1 - mean(alike) / below))
  }
  share <- function(noise) 1 - (1 - noise) * repeating / usable
  list(noise = share(found$noise), low = share(max(0, found$noise - found$range)),
    high = share(min(1, found$noise + found$range)), chance = found$chance,
    columns = columns[found$keep])
})

# For each usable column the probability that it is noise, by its closest columns: list(noise,
# range: two standard errors, chance, keep). A column that has to do with others has rank
# correlations with some of them that its copy with permuted rows has not, whether or not they take
# part in the leading components of the whole; ranks, because in heavy tails and sparse columns
# single rows would decide. In a second round columns that are likely noise hardly count as company.
# Within blocks, where there are some.
partner_noise <- function(x, block = NULL, most = c(20L, 10L), decoys = 500L) {
  data <- as_column_stats(open_quietly(x))
  first <- equal_of_data(x, data)
  distinct <- which(first == seq_along(first))
  if (length(distinct) < 5L || x$n < 6L) return(NULL)
  z <- data_columns(x, data$keep[distinct])
  if (is.null(block)) block <- rep(1L, x$n) else
    z <- z - (rowsum(z, block) / as.vector(table(block)))[as.character(block), , drop = FALSE]
  # The ranks within each column, of mean 0 and length 1, or zeros.
  z <- .Call(C_x_ranks, z) - (x$n + 1) / 2
  size <- sqrt(x_ss(z))
  z <- .Call(C_x_standardise, z, numeric(ncol(z)), ifelse(size > 0, size, 1))
  own <- crossprod(z)
  # Three copies at least: the error at the columns that are chosen is .8 of that with one.
  copies <- lapply(seq_len(max(3, ceiling(decoys / length(distinct)))), function(i) {
    crossprod(z, permuted(z, unname(split(seq_len(x$n), block))))
  })
  found <- beside_copies(own, copies, rep(1, length(distinct)), most[1L])
  sure <- (1 - noise_chance(found))^2
  if (sum(sure) > 1) found$place <- beside_copies(own, copies, sure, most[2L])$place
  tail <- mean(found$place > noise_tail)
  list(noise = found$noise, chance = noise_chance(found)[match(first, distinct)], keep = data$keep,
    range = 2 * sqrt(tail * (1 - tail) / length(distinct) + noise_tail * (1 - noise_tail) *
      found$noise^2 / found$decoys) / (1 - noise_tail))
}

# Columns that more than so great a part of their permuted copies stand before are taken for noise
# alone, and stand for as many more (Storey 2002): of .2 to .6 the least error on 45 real sets with
# ten-fold noise.
noise_tail <- 0.2

# The place of each column among the permuted ones by the mean of its largest squared correlations,
# with any but itself or its copy, of which each counts as `weight` says of the other column:
# list(place, noise, decoys). Correlations of columns by rows with the columns, or their copies.
beside_copies <- function(own, copies, weight, most) {
  most <- min(most, length(weight) - 1L)
  # Sums that are equal but for rounding are tied.
  closest <- function(r) signif(.Call(C_x_closest, r, weight, most), 10L)
  score <- closest(own)
  null <- sort(unlist(lapply(copies, closest)))
  below <- (findInterval(score, null) + findInterval(score, null, left.open = TRUE)) / 2
  place <- 1 - below / length(null)
  list_of(place, decoys = length(null), noise = min(1 - clear_share(place, length(null)),
    mean((place > noise_tail) + (place == noise_tail) / 2) / (1 - noise_tail)))
}

# At least so great a part stands before the copies, however the others fall (Meinshausen and Rice
# 2006): what beats the copies is not counted as noise.
clear_share <- function(place, decoys) {
  at <- sort((place * decoys + 1) / (decoys + 1))
  q <- length(at)
  luck <- sqrt(2 * log(log(max(q, 8))) / q * at * (1 - at))
  max(0, ((seq_len(q) / q - at - luck) / (1 - at))[at < 0.5])
}

# For each column the probability that it is noise: noise is anywhere among its decoys, what is not
# stands before most of them. How dense the columns are at a place is the slope of the least concave
# majorant of their distribution (Grenander 1956). Unlike the number of decoys before a column this
# does not depend on having chosen the column.
noise_chance <- function(found) {
  shift <- 1 / (found$decoys + 1)
  place <- shift + found$place * (1 - shift)
  at <- c(0, sort(unique(c(place, 1))))
  share <- stats::ecdf(place)(at)
  slope <- function(a, b) (share[b] - share[a]) / (at[b] - at[a])
  hull <- 1L
  for (i in seq_along(at)[-1L]) {
    while (length(hull) > 1L &&
        slope(hull[length(hull)], i) >= slope(hull[length(hull) - 1L], hull[length(hull)])) {
      hull <- hull[-length(hull)]
    }
    hull <- c(hull, i)
  }
  density <- diff(share[hull]) / diff(at[hull])
  chance <- pmin(1, found$noise /
    density[findInterval(place, at[hull], left.open = TRUE, all.inside = TRUE)])
  # Their mean is the share of noise, but for what was cut at 1: columns in doubt make up for it,
  # not those that are surely none.
  doubt <- chance^4 * (1 - chance)
  chance + min(1, max(0, (found$noise - mean(chance)) / max(mean(doubt), 1e-300))) * doubt
}

# Every column permuted by itself, within each block of rows, whose differences are no part of the
# data. Only what is not zero draws a place, so that a sparse column takes the same random numbers.
permuted <- function(x, blocks) {
  out <- matrix(0, nrow(x), ncol(x))
  for (j in seq_len(ncol(x))) for (rows in blocks) {
    value <- x[rows, j][x[rows, j] != 0]
    out[rows[sample.int(length(rows), length(value))], j] <- value
  }
  out
}

# For every column that is not constant the number of the first one equal to it.
equal_of_data <- function(x, data) {
  if (!is.null(data$coded)) data$keep <- unique(data$keep)
  if (x$kind == "dense") match(equal_columns(x$x)[data$keep], data$keep) else
    if (is.null(data$coded)) x_equal_columns(data$x) else seq_along(data$keep)
}

# How many principal components have a larger variance than any of permuted columns (Horn 1965), on
# at most 400 rows and 2,000 columns of dense data; 0 where all rows are equal.
components_above <- function(x, scale = TRUE) {
  # Rare flags may be the same in all of the rows drawn.
  if (all(x$x == rep(x$x[1L, ], each = x$n))) return(0L)
  z <- as_rescaled_operator(open_quietly(x), TRUE, scale)$x
  squares <- function(z) {
    eigen(if (nrow(z) < ncol(z)) tcrossprod(z) else crossprod(z), TRUE, TRUE)$values
  }
  # The largest of one draw varies by more than neighbouring components differ.
  largest <- vapply(seq_len(3L), function(draw) {
    for (j in seq_len(ncol(z))) z[, j] <- z[sample.int(nrow(z)), j]
    squares(z)[1L]
  }, 0)
  sum(squares(z) > mean(largest))
}
