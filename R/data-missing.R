# Missing values, as `na` says.

fill_data <- function(data, na, arg) {
  if (data$kind == "source" || data$kind == "sparse" && na == "knn") {
    refuse("na", "`na` = \"", na, "\" is not possible for ", if (data$kind == "source")
      "data on disk; use \"error\"." else "sparse data; use \"omit\" or \"median\".")
  }
  watch_over("ufs_data()")
  data$input$na <- na
  # Infinite values are no missing ones: they would be taken for values, and for neighbours.
  bad <- if (data$kind == "sparse") unique(stored_column(data$x)[is.infinite(data$x@x)]) else {
    # A sum of finite numbers may be infinite, too.
    odd <- which(!is.finite(colSums(data$x, na.rm = TRUE)))
    odd[vapply(odd, function(j) any(is.infinite(data$x[, j])), NA)]
  }
  if (length(bad)) refuse_infinite(feature_names(data$features, data$p, FALSE)[bad], arg)
  missing <- missing_counts(data)
  if (sum(missing$features) == 0) {
    # New rows may have gaps where these have none.
    if (na != "omit") data$input$new_rows <- learn_fill(data, na)
    return(data)
  }
  data$input$given <- c(data$n, data$p)
  label <- function(names, at, prefix) if (is.null(names)) paste0(prefix, at) else
    labels_of(names)[at]
  out <- which(missing$features >= if (na == "omit") 1 else data$n)
  by_feature <- na != "omit" || mean(missing$features > 0) <= mean(missing$samples > 0)
  if (!by_feature) {
    out <- which(missing$samples > 0)
    data$input$dropped_samples <- label(data$samples, out, "")
    data <- keep_samples(data, setdiff(seq_len(data$n), out))
  } else if (length(out)) {
    data$input$dropped_features <- label(data$features, out, "V")
    data <- keep_features(data, setdiff(seq_len(data$p), out))
  }
  if (data$p == 0L || data$n == 0L) {
    refuse_data(arg, "Every ", if (data$p == 0L) "feature" else "sample", " of `", arg,
      "` has missing values: nothing is left with na = \"", na, "\".")
  }
  if (na == "omit") return(data)
  missing <- missing_counts(data)$features
  data$input$filled <- sum(missing)
  data$input$filled_share <- missing / data$n
  data$input$new_rows <- learn_fill(data, na)
  if (na == "median") data$x <- put_values(data$x, data$input$new_rows$value) else {
    filled <- fill_knn(data$x, knn_donors(data$x, nominal_columns(data$input$coding)))
    data$x <- filled$x
    say_means(filled, arg)
  }
  data
}

refuse_infinite <- function(names, arg) {
  refuse_data(arg, "`", arg, "` has infinite values (Inf) in ", some_columns(names),
    ", which `na` does not fill in. Make them finite first, or NA.")
}

# An error about the columns `bad`, whose values are not all finite. `na` is advised where it helps.
refuse_gaps <- function(data, bad, names, arg) {
  on_disk <- data$kind == "source"
  gone <- on_disk || (if (data$kind == "dense") anyNA(data$x[, bad]) else anyNA(data$x@x))
  names <- unique(names[bad])
  if (!gone) refuse_infinite(names, arg)
  refuse_data(arg, "`", arg, "` has missing or infinite values (NA, NaN, Inf) in ",
    some_columns(names), ". Impute or remove them first, or ",
    if (on_disk) "leave columns or rows out by `features` or `samples` of" else
      "say how, as na = \"median\"; see", " ufs_data().")
}

# Features without a name keep the number they had.
keep_features <- function(data, index) {
  if (is.null(data$features)) data$features <- paste0("V", seq_len(data$p))
  data <- subset_data(data, features = index)
  if (data$kind == "dense") colnames(data$x) <- data$features
  data
}

# Samples without a name, too: an index in what is left would point at another row of those given.
keep_samples <- function(data, index) {
  if (is.null(data$samples)) data$samples <- as.character(seq_len(data$n))
  subset_data(data, samples = index)
}

missing_counts <- function(data) {
  if (data$kind == "dense") {
    gone <- is.na(data$x)
    return(list(features = unname(colSums(gone)), samples = unname(rowSums(gone))))
  }
  at <- which(is.na(data$x@x))
  list(features = tabulate(stored_column(data$x)[at], data$p),
    samples = tabulate(data$x@i[at] + 1L, data$n))
}

# ---- what fills in ------------------------------------------------------------------------------

# The values that fill new rows, in the fit's features: list(na = "median", value) with the medians,
# or list(na = "knn", donors, value) with rows to look for neighbours in, as they came, and the
# column means. Donors are all rows, or some that are evenly spaced, so that they are at most `most`
# numbers; none (NULL) where these would be few rows.
learn_fill <- function(data, na, most = 1e6, few = 50L) {
  if (na == "median") return(list(na = na, value = column_medians(data)))
  size <- min(data$n, floor(most / data$p))
  fill <- c(list(na = na), knn_donors(data$x, nominal_columns(data$input$coding)))
  fill["donors"] <- list(if (size >= min(few, data$n)) {
    fill$donors[evenly(data$n, size), , drop = FALSE]
  })
  fill
}

# Zeros of a sparse matrix count: the median is 0 unless more than half of the numbers that are
# there have one sign.
column_medians <- function(data) {
  x <- data$x
  nominal <- nominal_columns(data$input$coding)
  if (data$kind == "dense") {
    return(vapply(seq_len(data$p), function(j) {
      watch_says(function(step) paste("looking for medians,", j - 1L, "of",
        count_words(data$p, "column"), "done"))
      typical(x[, j], j %in% nominal, stats::median)
    }, 0))
  }
  out <- numeric(data$p)
  column <- stored_column(x)
  gone <- is.na(x@x)
  known <- data$n - tabulate(column[gone], data$p)
  most <- pmax(tabulate(column[!gone & x@x > 0], data$p), tabulate(column[!gone & x@x < 0], data$p))
  for (j in which(2 * most >= known)) {
    value <- x@x[seq.int(x@p[j] + 1L, length.out = x@p[j + 1L] - x@p[j])]
    value <- value[!is.na(value)]
    out[j] <- typical(c(value, numeric(known[j] - length(value))), j %in% nominal, stats::median)
  }
  out
}

# The most frequent one stands for numbers, or for the levels of a factor.
typical <- function(value, nominal, number = mean) {
  if (!nominal) return(number(value, na.rm = TRUE))
  known <- sort(unique(value))
  known[which.max(tabulate(match(value, known)))]
}

# One value for each column, where numbers are missing.
put_values <- function(x, value) {
  if (is.matrix(x)) {
    gone <- which(is.na(x))
    x[gone] <- value[(gone - 1L) %/% nrow(x) + 1L]
  } else {
    gone <- which(is.na(x@x))
    x@x[gone] <- value[stored_column(x)[gone]]
  }
  x
}

# The rows of x to look for neighbours in, and what standardises a column; one that does not vary,
# or is `nominal`, says nothing about distances.
knn_donors <- function(x, nominal = integer()) {
  mean <- unname(colMeans(x, na.rm = TRUE))
  sd <- vapply(seq_len(ncol(x)), function(j) stats::sd(x[, j], na.rm = TRUE), 0)
  sd[nominal] <- Inf
  mean[nominal] <- vapply(nominal, function(j) typical(x[, j], TRUE), 0)
  list(donors = unname(x), center = mean, scale = ifelse(is.finite(sd) & sd > 0, sd, Inf),
    value = mean, nominal = nominal)
}

# Each missing number of x becomes the mean of those that the nearest donors have, squared distances
# being means over the features that both have: three products of matrices. All donors as near as
# the last of the neighbours count, so that the order of rows does not matter. Without a donor at a
# finite distance it is the column's mean. list(x, means: how many of these, rows: in how many
# rows).
fill_knn <- function(x, fill, neighbours = 10L) {
  incomplete <- which(rowSums(is.na(x)) > 0)
  donors <- fill$donors
  if (is.null(donors)) {
    return(list(x = put_values(x, fill$value), means = sum(is.na(x)), rows = length(incomplete)))
  }
  there <- !is.na(donors)
  standardised <- function(rows) {
    z <- sweep(sweep(rows, 2L, fill$center), 2L, fill$scale, "/")
    replace(z, !is.finite(z), 0)
  }
  z <- standardised(donors)
  size <- rowSums(z^2)
  means <- 0L
  rows <- 0L
  watch_over("ufs_data()")
  for (at in in_pieces(length(incomplete), max(1, floor(block_bytes() / (8 * nrow(donors)))))) {
    some <- incomplete[at]
    watch_says(function(step) paste(at[1L] - 1L, "of", count_words(length(incomplete), "row"),
      "filled"))
    have <- !is.na(x[some, , drop = FALSE])
    own <- standardised(x[some, , drop = FALSE])
    common <- tcrossprod(have + 0, there + 0)
    d2 <- (tcrossprod(own^2, there + 0) + tcrossprod(have + 0, z^2) -
      2 * tcrossprod(own, z)) / common
    # Rounding of differences of sums of squares.
    rounding <- 1e-10 * outer(rowSums(own^2), size, "+") / common
    for (r in seq_along(some)) {
      near <- which(is.finite(d2[r, ]))
      before <- means
      for (j in which(!have[r, ])) {
        from <- near[there[near, j]]
        if (length(from) > neighbours) {
          cut <- sort(d2[r, from], partial = neighbours)[neighbours]
          from <- from[d2[r, from] <= cut + rounding[r, from]]
        }
        x[some[r], j] <- if (length(from)) typical(donors[from, j], j %in% fill$nominal) else
          fill$value[j]
        means <- means + !length(from)
      }
      rows <- rows + (means > before)
    }
  }
  list_of(x, means, rows)
}

say_means <- function(filled, arg) {
  if (filled$means > 0) {
    ufs_inform("filled", count_words(filled$means, "missing value"), " of `", arg, "`, in ",
      count_words(filled$rows, "row"), ", became the mean of the column: no row with the value is ",
      "at a known distance.")
  }
}

# The columns `index` of new rows, filled as those of the fit. `whole`: a function of rows that
# gives them with all features of the fit, NA where these are not known.
fill_columns <- function(x, fill, index, whole, arg) {
  gone <- which(is.na(x))
  if (!length(gone)) return(x)
  if (fill$na == "median") return(put_values(x, fill$value[index]))
  rows <- which(rowSums(is.na(x)) > 0)
  filled <- fill_knn(whole(rows), fill)
  say_means(filled, arg)
  better <- x
  better[rows, ] <- filled$x[, index]
  x[gone] <- better[gone]
  x
}

# The column of each stored number of a sparse matrix.
stored_column <- function(x) rep.int(seq_len(x@Dim[2L]), diff(x@p))
