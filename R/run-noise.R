# How much of a table is noise: for the look at it, and for the judgement of a choice. The rankings
# of R/run-decoys.R are for any method; here principal components and correlations are asked, of
# which the part of the table itself is computed once.

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
  largest <- vapply(seq_len(3L), function(draw) squares(shuffled_columns(z))[1L], 0)
  sum(squares(z) > mean(largest))
}

shuffled_columns <- function(z) {
  for (j in seq_len(ncol(z))) z[, j] <- z[sample.int(nrow(z)), j]
  z
}

# Noise by the components above those of permuted columns, at most five: one more would belong to
# the decoys. list(noise, low and high of five parts of the repeats, components above); few columns
# are drawn more often. NULL where that cannot be.
random_decoys <- function(x, parts = 5L) {
  tryCatch({
    # About the table, not about what is to be chosen from it.
    x["held"] <- list(NULL)
    data <- as_ufs_operator(open_quietly(x))
    q <- length(data$keep)
    first <- equal_of_data(x, data)
    some <- function(n, most) if (n > most) sort(sample.int(n, most))
    h <- components_above(subset_data(x, some(x$n, 400L), some(x$p, 2000L)))
    ranked <- decoys_ranked(x, data, first,
      list(list(method = "pca", args = list(n_components = max(1L, min(5L, h))))))
    runs <- lapply(draw_seeds(parts * max(1L, min(4L, 200L %/% (parts * q)))), function(seed) {
      ranked(seed)[[1L]]$ranking
    })
    behind <- for_each(runs, q, function(ranking) share_behind_decoys(ranking, q))
    # Without any such component nothing tells columns from their copies.
    noise_of <- function(columns) if (h == 0L) 1 else
      noise_share(rowMeans(behind[, columns, drop = FALSE]), first)
    each <- vapply(split(seq_along(runs), rep_len(seq_len(parts), length(runs))), noise_of, 0)
    list(noise = noise_of(seq_along(runs)), low = min(each), high = max(each), above = h)
  }, ufs_error = function(e) NULL)
}

# A function of a seed: the rankings of the columns of x and of decoys by some methods, as
# decoys_fit() has them: by so many principal components, or by neighbours. `data` are those of
# as_ufs_operator(), however they are held: standardised once, and so are their products made. Rows
# that are not alone, and several tables, are fitted anew with the decoys of each.
decoys_ranked <- function(x, data, first, plan) {
  distinct <- which(first == seq_along(first))
  n_decoys <- decoys_number(NULL, x, length(distinct), FALSE)
  if (!is.null(x$input$tables) || !is.null(x$row_wish)) {
    common <- list_of(x, keep = data$keep, first, n_decoys, plan)
    return(function(seed) lapply(seq_along(plan), function(at) {
      decoys_fit(list_of(seed, at), common)
    }))
  }
  z <- data$x
  q <- ncol(z)
  n <- as.double(nrow(z))
  # Products of rows for neighbours, too, unless they would be many more numbers than x has.
  by_rows <- n <= q + n_decoys
  near <- by_rows || 8 * n^2 <= block_bytes()
  judges <- vapply(plan, `[[`, "", "method")
  rows <- if (by_rows || near && "laplacian" %in% judges) x_gram(z, rows = TRUE)
  own <- if (by_rows) rows else if ("pca" %in% judges) x_gram(z, rows = FALSE)
  judge <- list(
    pca = function(beside, args) {
      component_weights(z, beside, own, by_rows, min(args$n_components, n - 1L, q))
    },
    laplacian = function(beside, args) {
      graph <- if (near) graph_of_products(rows + tcrossprod(beside)) else
        as_ufs_graph(NULL, list(x = cbind(x_dense(z), beside), n = n))
      score <- -c(.Call(C_spec_quadratic, unclass(graph), z, 1L, TRUE),
        .Call(C_spec_quadratic, unclass(graph), beside, 1L, TRUE))
      replace(score, is.nan(score), -Inf)
    })
  function(seed) {
    drawn <- with_seed(seed, {
      of <- distinct[sample.int(length(distinct), n_decoys)]
      list(of = of, z = permuted_alike(data_columns(x, data$keep[of]), x_columns(z, of)),
        ord = mixed_order(q, n_decoys))
    })
    lapply(plan, function(own) on_error({
      score <- judge[[own$method]](drawn$z, own$args)
      list(ranking = c(seq_len(q), q + drawn$of)[drawn$ord][ufs_rank(score[drawn$ord])])
    }, function(e) list(error = conditionMessage(e))))
  }
}

# The columns of z, permuted as permuted() does it with those of x, of which they are made.
permuted_alike <- function(x, z) {
  n <- nrow(z)
  for (j in seq_len(ncol(z))) {
    full <- x[, j] != 0
    value <- z[full, j]
    if (length(value) < n) z[, j] <- z[match(FALSE, full), j]
    z[sample.int(n, length(value)), j] <- value
  }
  z
}

# The row norms of the leading loadings of cbind(z, beside); `own`: the Gram matrix of the rows of
# z, or of its columns.
component_weights <- function(z, beside, own, rows, count) {
  gram <- if (rows) own + tcrossprod(beside) else {
    across <- x_cross(z, beside)
    rbind(cbind(own, across), cbind(t(across), crossprod(beside)))
  }
  found <- check_solved(.Call(C_x_leading, gram, count, 1e-10), "pca")
  loadings <- found$vectors
  if (rows) {
    loadings <- rbind(x_cross(z, loadings), crossprod(beside, loadings))
    loadings <- loadings / rep(sqrt(colSums(loadings^2)), each = nrow(loadings))
  }
  sqrt(rowSums(loadings^2))
}

# For each usable column the probability that it is noise, by its closest columns: list(chance,
# keep). A column that has to do with others has rank correlations with some of them that its copy
# with permuted rows has not, whether or not they take part in the leading components of the whole;
# ranks, because in heavy tails and sparse columns single rows would decide. In a second round
# columns that are likely noise hardly count as company.
partner_noise <- function(x, most = c(20L, 10L), decoys = 500L) {
  data <- as_column_stats(open_quietly(x))
  q <- length(data$keep)
  first <- equal_of_data(x, data)
  distinct <- which(first == seq_len(q))
  if (length(distinct) < 5L || x$n < 6L) return(NULL)
  z <- ranks_of_one_length(data_columns(x, data$keep[distinct]))
  own <- crossprod(z)
  copies <- lapply(seq_len(ceiling(decoys / length(distinct))), function(i) {
    crossprod(z, permuted(z, list(seq_len(x$n))))
  })
  found <- beside_copies(own, copies, rep(1, length(distinct)), most[1L])
  sure <- (1 - noise_chance(found))^2
  if (sum(sure) > 1) found$place <- beside_copies(own, copies, sure, most[2L])$place
  list(chance = noise_chance(found)[match(first, distinct)], keep = data$keep)
}

# The ranks within each column, of mean 0 and length 1, or zeros.
ranks_of_one_length <- function(x) {
  x <- .Call(C_x_ranks, x) - (nrow(x) + 1) / 2
  size <- sqrt(x_ss(x))
  .Call(C_x_standardise, x, numeric(ncol(x)), ifelse(size > 0, size, 1))
}

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
  list(place = place, decoys = length(null),
    noise = min(1, 2 * mean((place > 0.5) + (place == 0.5) / 2)))
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
  hull <- 1L
  for (i in seq_along(at)[-1L]) {
    while (length(hull) > 1L && slope_of(at, share, hull[length(hull)], i) >=
        slope_of(at, share, hull[length(hull) - 1L], hull[length(hull)])) {
      hull <- hull[-length(hull)]
    }
    hull <- c(hull, i)
  }
  density <- diff(share[hull]) / diff(at[hull])
  pmin(1, found$noise / density[findInterval(place, at[hull], left.open = TRUE, all.inside = TRUE)])
}

slope_of <- function(x, y, a, b) (y[b] - y[a]) / (x[b] - x[a])
