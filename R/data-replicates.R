# Replicates: rows that measure the same thing several times. How much of a column's variance lies
# between their levels, in one analysis of variance a column.

# Sums of squares between and within the levels of `replicates` (one code a row; rows with NA are
# left out), of columns that were moved to the same mean in all blocks, with weights as frequencies:
# a list
#   between, within   mean squares, one for each column
#   df                their degrees of freedom
#   size              the mean number of rows a level, as the expectation of `between` has it
#   means             levels x columns: the means of the levels; level_weight: their weights
#   mean              of the column; value: the codes of the levels in the order of the means
# Cost: 3 passes over x, read by columns as many as getOption("ufselect.block_bytes") holds.
replicate_squares <- function(data, replicates = data$row_wish$replicates) {
  used <- which(!is.na(replicates))
  weight <- data$row_wish$weights
  weight <- if (is.null(weight)) rep(1, length(used)) else weight[used]
  block <- data$row_wish$blocks
  block <- if (is.null(block)) rep(1L, length(used)) else block[used]
  data <- without_blocks(data)
  value <- sort(unique(replicates[used]))
  level <- match(replicates[used], value)
  level_weight <- as.vector(rowsum(weight, level))
  df <- replicate_df(level, block, sum(weight))
  if (df[["within"]] < 1) {
    refuse("replicates", "`replicates`: no level has two rows that could be compared.")
  }
  if (df[["between"]] < 1) refuse("replicates", "`replicates` has one level only.")
  squares <- list(between = numeric(data$p), within = numeric(data$p), mean = numeric(data$p),
    means = matrix(0, length(value), data$p))
  for (at in in_pieces(data$p, max(1, floor(block_bytes() / (8 * data$n))))) {
    z <- data_columns(data, at)[used, , drop = FALSE]
    # A shift by the first row keeps the digits of columns far from zero.
    shift <- z[1L, ]
    z <- z - rep(shift, each = nrow(z))
    means <- rowsum(z * weight, level) / level_weight
    centre <- colSums(means * level_weight) / sum(weight)
    squares$within[at] <- colSums((z - means[level, , drop = FALSE])^2 * weight)
    squares$between[at] <- colSums((means - rep(centre, each = nrow(means)))^2 * level_weight)
    squares$mean[at] <- centre + shift
    squares$means[, at] <- means + rep(shift, each = nrow(means))
  }
  squares$within <- squares$within / df[["within"]]
  squares$between <- squares$between / df[["between"]]
  total <- sum(weight)
  c(squares, list_of(df, value, level_weight,
    size = (total - sum(level_weight^2) / total) / (length(value) - 1)))
}

# Levels and blocks may cross (every sample in every batch) or be nested (a sample's repeats in one
# batch): what blocks take away is counted where it lies, by the connected parts of the two.
replicate_df <- function(level, block, total) {
  parts <- connected_parts(level, block)
  c(between = max(level) - parts,
    within = total - max(level) - length(unique(block)) + parts)
}

# How many parts the levels fall into, where a block connects its levels.
connected_parts <- function(level, block) {
  part <- seq_len(max(level))
  repeat {
    least <- tapply(part[level], block, min)[as.character(block)]
    new <- pmin(part, as.vector(tapply(least, level, min)))
    if (identical(new, part)) return(length(unique(part)))
    part <- new
  }
}

# Reliability from mean squares, a data frame with a row for each column:
#   f, p_value     between over within, and its probability where nothing repeats
#   reliability    1 - within / between, at least 0: the share of the variance of the levels' means
#                  that other measurements of the same levels would have, too; of unequal levels
#                  that of one of average size. NA for a column that does not vary
#   lower, upper   an interval of it, by the distribution of F
#   single         the share of the variance of a single row (the intraclass correlation)
reliability_table <- function(squares, level = 0.95) {
  df <- squares$df
  flat <- squares$between <= 0 & squares$within <= 0
  f <- ifelse(flat, NA_real_, squares$between / squares$within)
  ends <- stats::qf((1 + c(level, -level)) / 2, df[["between"]], df[["within"]])
  share <- function(f) pmax(0, 1 - 1 / f)
  single <- ifelse(is.infinite(f), 1, (f - 1) / (f - 1 + squares$size))
  data.frame(f, p_value = stats::pf(f, df[["between"]], df[["within"]], lower.tail = FALSE),
    reliability = share(f), lower = share(f / ends[1L]), upper = share(f / ends[2L]),
    single = pmax(0, single))
}
