# Weights of rows, and blocks of rows within which columns are centred: both are in every sum over
# rows, so that they are seen to before any method sees the data.

# The data as everything that is a sum over rows must see them: columns moved to the same mean in
# all blocks, centred by weighted means, rows times the root of their weight. list(data, ready, df):
# the data to go on with, dense or a source, whose columns are centred already if asked; what
# prepare_columns() says of them; the degrees of freedom. A weight is a frequency: a row of weight 2
# stands for two rows.
#
# Cost: two more passes (three with block_scale); a dense x is copied once. Sparse data become a
# source, for centred within blocks they are not sparse.
weighted_columns <- function(data, center, by) {
  rows <- data$row_held
  n <- data$n
  weight <- if (is.null(rows$weights)) rep(1, n) else rows$weights
  block <- if (is.null(rows$blocks)) rep(1L, n) else match(rows$blocks, unique(rows$blocks))
  member <- matrix(0, n, max(block))
  member[cbind(seq_len(n), block)] <- weight
  size <- colSums(member)
  sums <- function(x) t(x_cross(x, member)) / size
  mean <- sums(raw_operator(data))
  overall <- colSums(mean * size) / sum(size)
  # Rows made of moments (data-moments.R) have an offset beside them.
  if (!is.null(data$offset)) overall <- overall + data$offset
  # The means of a covariance matrix may be unknown.
  if (anyNA(data$offset) && !center) {
    refuse("center", "`center` = FALSE needs the means of the columns: give `mean` beside `cov`.")
  }
  plan <- list(block = block, mean = mean, root = if (!is.null(rows$weights)) sqrt(weight))
  df <- sum(weight) - max(block)
  if (!is.null(rows$weights) && df <= n * .Machine$double.eps * sum(weight)) {
    refuse("weights", "`weights` say how many rows each row stands for. They add up to ",
      format(sum(weight), digits = 3L), ": multiply them by a number that makes the sum ",
      "finite and above ",
      if (is.null(rows$blocks)) "one" else paste(max(block), "(one for each block)"), ".")
  }
  total <- colSums(mean^2 * size)
  if (isTRUE(rows$block_scale)) {
    square <- sums(raw_operator(planned_data(data, c(plan["block"], plan["mean"], power = 2))))
    pooled <- colSums(square * size) / df
    # A column that is constant within a block stays so.
    flat <- sweep(square, 2L, (n * .Machine$double.eps)^2 * (pooled + colSums(mean^2)), "<=")
    plan$factor <- ifelse(flat, 0, sqrt(rep(pooled, each = nrow(square)) / square *
      ((size - 1) / size)))
  }
  centred <- planned_data(data, plan)
  found <- data_moments(centred)
  ready <- judge_moments(found, FALSE)
  ready$centred <- ready$norm
  ready$constant <- ready$norm^2 <= (n * .Machine$double.eps)^2 * (total + ready$norm^2)
  ready$sd <- ready$norm / sqrt(df)
  ready$unfit <- ready$unfit[!ready$constant[ready$unfit]]
  if (center) ready$norm[ready$constant] <- 0 else {
    plan$add <- overall
    centred <- planned_data(data, plan)
    found <- data_moments(centred)
    ready$norm <- judge_moments(found, FALSE)$norm
  }
  ready$mean <- if (center) overall else rep(0, data$p)
  ready$divide <- switch(by, none = rep(1, data$p),
    ifelse(ready$constant, 1, if (by == "sd") ready$sd else ready$centred))
  ready$largest <- ifelse(ready$norm == 0, 0, pmax(-found$low, found$high) / ready$divide)
  ready$norm <- ready$norm / ready$divide
  list(data = centred, ready = ready, df = df)
}

# The data with their columns moved to the same mean in all blocks (and scaled within, if asked),
# and no constraint about it left.
without_blocks <- function(data) {
  if (is.null(data$row_held$blocks)) return(data)
  own <- data
  own$row_held["weights"] <- list(NULL)
  out <- weighted_columns(own, FALSE, "none")$data
  out$row_held[c("blocks", "block_scale")] <- NULL
  out
}

has_row_sums <- function(data) !is.null(data$row_held$weights) || !is.null(data$row_held$blocks)

# All columns as the user has them, for products.
raw_operator <- function(data) {
  load_reader(data)
  switch(data$kind, dense = data$x, sparse = sparse_operator(data$x),
    source = source_operator(data$x, seq_len(data$p), NULL, NULL))
}

data_moments <- function(data) if (data$kind == "dense") .Call(C_moments, data$x) else
  source_moments(data$x)

# The data after the plan: a new matrix, or a source that reads through it.
planned_data <- function(data, plan) {
  if (data$kind == "dense") data$x <- planned(data$x, plan, NULL, NULL) else {
    # Read by columns, as a sparse matrix is held.
    base <- if (data$kind == "source") data$x else c(new_source(data$x, "sparse",
      c(data$n, data$p), c(data$n, 1L), 2 * block_bytes(), NULL), packages = "Matrix")
    load_reader(data)
    out <- base
    base["BPPARAM"] <- list(NULL)
    out[c("object", "kind", "rows", "columns")] <- list(list_of(base, plan), "planned", NULL, NULL)
    out$sparse <- FALSE
    data$x <- out
    data$kind <- "source"
  }
  data
}
