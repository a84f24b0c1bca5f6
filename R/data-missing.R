# What `na` does about missing values.

fill_data <- function(data, na, arg) {
  if (data$kind == "source" || data$kind == "sparse" && na == "knn") {
    refuse("na", "`na` = \"", na, "\" is not possible for ", if (data$kind == "source")
      "data on disk; use \"error\"." else "sparse data; use \"omit\" or \"median\".")
  }
  data$input$na <- na
  missing <- missing_counts(data)
  if (sum(missing$features) == 0) return(data)
  label <- function(names, at, prefix) if (is.null(names)) paste0(prefix, at) else names[at]
  out <- which(missing$features >= if (na == "omit") 1 else data$n)
  by_feature <- na != "omit" || mean(missing$features > 0) <= mean(missing$samples > 0)
  if (!by_feature) {
    out <- which(missing$samples > 0)
    data$input$dropped_samples <- label(data$samples, out, "")
    data <- subset_data(data, samples = setdiff(seq_len(data$n), out))
  } else if (length(out)) {
    data$input$dropped_features <- label(data$features, out, "V")
    data <- keep_features(data, setdiff(seq_len(data$p), out))
  }
  if (data$p == 0L || data$n == 0L) {
    ufs_abort("input", "Every ", if (data$p == 0L) "feature" else "sample", " of `", arg,
      "` has missing values: nothing is left with na = \"", na, "\".", argument = arg)
  }
  if (na == "omit") return(data)
  data$input$filled <- sum(missing_counts(data)$features)
  data$x <- if (data$kind == "sparse") fill_sparse_median(data$x) else
    if (na == "median") fill_median(data$x) else fill_knn(data$x)
  data
}

# Features without a name keep the number they had.
keep_features <- function(data, index) {
  if (is.null(data$features)) data$features <- paste0("V", seq_len(data$p))
  data <- subset_data(data, features = index)
  if (data$kind == "dense") colnames(data$x) <- data$features
  data
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

fill_median <- function(x) {
  for (j in which(colSums(is.na(x)) > 0)) {
    gone <- is.na(x[, j])
    x[gone, j] <- stats::median(x[!gone, j])
  }
  x
}

# The zeros count.
fill_sparse_median <- function(x) {
  values <- x@x
  for (j in unique(stored_column(x)[is.na(values)])) {
    at <- seq.int(x@p[j] + 1L, x@p[j + 1L])
    gone <- at[is.na(values[at])]
    known <- values[setdiff(at, gone)]
    values[gone] <- stats::median(c(known, numeric(x@Dim[1L] - length(at))))
  }
  x@x <- values
  x
}

# Mean of the nearest samples that have the value; squared distances over what two samples both
# have, scaled up to all features: three products of n x p matrices.
fill_knn <- function(x, neighbours = 10L) {
  have <- !is.na(x)
  z <- scale(x)
  z[!have | !is.finite(z)] <- 0
  have <- have + 0
  common <- tcrossprod(have)
  distance <- (tcrossprod(z^2, have) + tcrossprod(have, z^2) - 2 * tcrossprod(z)) / common
  distance[common == 0] <- Inf
  diag(distance) <- Inf
  filled <- x
  for (i in which(rowSums(have) < ncol(x))) {
    nearest <- order(distance[i, ])
    for (j in which(have[i, ] == 0)) {
      from <- nearest[have[nearest, j] == 1]
      filled[i, j] <- mean(x[utils::head(from, neighbours), j])
    }
  }
  filled
}

# The column of each stored number of a sparse matrix.
stored_column <- function(x) rep.int(seq_len(x@Dim[2L]), diff(x@p))
