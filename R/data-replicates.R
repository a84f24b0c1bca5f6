# Replicates: rows that measure the same thing several times. How much of a column's variance lies
# between their levels, in one analysis of variance a column.

# Sums of squares between and within the levels of `replicates` (one code a row; rows with NA are
# left out), of columns that were moved to the same mean in all blocks, with weights as frequencies.
# Missing values are left out, each by itself. A list
#   between, within   mean squares, one for each column
#   df_between, df_within   their degrees of freedom
#   df                the same of a column without missing values
#   size              the mean number of rows a level, as the expectation of `between` has it
#   means             levels x columns: the means of the levels, that of the column where a level
#                     has no value; level_weight: the weights of the levels
#   mean              of the column; value: the codes of the levels in the order of the means
# Cost: 3 passes over x, read by columns as many as getOption("ufselect.block_bytes") holds.
replicate_squares <- function(data, replicates = data$row_held$replicates) {
  used <- which(!is.na(replicates))
  weight <- data$row_held$weights
  weight <- if (is.null(weight)) rep(1, length(used)) else weight[used]
  block <- data$row_held$blocks
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
  blocked <- max(block) > 1L
  none <- numeric(data$p)
  squares <- list(between = none, within = none, mean = none, size = none, df_between = none,
    df_within = none, means = matrix(0, length(value), data$p))
  for (at in in_pieces(data$p, max(1, floor(block_bytes() / (8 * data$n))))) {
    part <- squares_of_columns(data_columns(data, at)[used, , drop = FALSE], level, weight,
      if (blocked) df)
    squares$means[, at] <- part$means
    for (name in setdiff(names(part), "means")) squares[[name]][at] <- part[[name]]
  }
  c(squares, list_of(df, value, level_weight))
}

# Sums of squares of some columns. `df`: with blocks, where missing values cannot be left out.
squares_of_columns <- function(z, level, weight, df = NULL) {
  there <- !is.na(z)
  if (!is.null(df) && !all(there)) {
    ufs_abort("input", "`x` has missing values, and `blocks` and `replicates` together need all: ",
      "choose `na` in ufs_data().", argument = "x")
  }
  # A shift by the first row keeps the digits of columns far from zero.
  shift <- z[1L, ]
  if (!all(there)) shift[is.na(shift)] <- colMeans(z, na.rm = TRUE)[is.na(shift)]
  z <- z - rep(shift, each = nrow(z))
  z[!there] <- 0
  weight <- weight * there
  known <- rowsum(weight, level)
  total <- colSums(known)
  means <- rowsum(z * weight, level) / known
  means[known == 0] <- 0
  centre <- colSums(means * known) / total
  around <- rep(centre, each = nrow(means))
  means[known == 0] <- around[known == 0]
  if (is.null(df)) {
    levels <- colSums(known > 0)
    df <- list(between = levels - 1, within = total - levels)
  }
  per <- function(squares, df) if (all(df > 0)) squares / df else squares / ifelse(df > 0, df, NA)
  list(means = means + rep(shift, each = nrow(means)), mean = centre + shift,
    between = per(colSums((means - around)^2 * known), df[["between"]]),
    within = per(colSums((z - means[level, , drop = FALSE])^2 * weight), df[["within"]]),
    df_between = df[["between"]], df_within = df[["within"]],
    size = (total - colSums(known^2) / total) / (colSums(known > 0) - 1))
}

# The levels of replicates, where those without one (NA) are alone.
each_alone <- function(level) {
  alone <- which(is.na(level))
  if (length(alone)) level[alone] <- max(0L, level, na.rm = TRUE) + seq_along(alone)
  level
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
  between <- squares$df_between
  within <- squares$df_within
  flat <- squares$between <= 0 & squares$within <= 0
  f <- ifelse(flat, NA_real_, squares$between / squares$within)
  end <- function(level) suppressWarnings(stats::qf(level, between, within))
  share <- function(f) pmax(0, 1 - 1 / f)
  single <- ifelse(is.infinite(f), 1, (f - 1) / (f - 1 + squares$size))
  data.frame(f, p_value = suppressWarnings(stats::pf(f, between, within, lower.tail = FALSE)),
    reliability = share(f), lower = share(f / end((1 + level) / 2)),
    upper = share(f / end((1 - level) / 2)), single = pmax(0, single))
}

# ---- methods that choose columns ----------------------------------------------------------------

# The arguments of a fit whose data hold replicates, for a method that chooses columns: x becomes
# the table of the means of the levels, of the columns as they were to be prepared, each times its
# reliability, and is not scaled again.
on_levels <- function(args, selects) {
  if (selects != "features" || !holds_replicates(args$x)) return(args)
  args$x <- level_table(open_checked(args$x), !isFALSE(args$center), isTRUE(args$scale))
  if (isTRUE(args$scale)) args$scale <- FALSE
  args
}

holds_replicates <- function(data) {
  inherits(data, "ufs_data") && !is.null(data$row_held$replicates)
}

level_table <- function(data, center, scale) {
  level <- each_alone(data$row_held$replicates)
  n_levels <- length(unique(level))
  if (n_levels < 3L) {
    refuse("replicates", "`replicates` has ", count_words(n_levels, "level"), "; at least 3 are ",
      "needed where columns are judged on their means.")
  }
  check_bytes(16 * as.double(n_levels) * data$p, "The means of the levels of `replicates`",
    "Give fewer `features`.")
  squares <- replicate_squares(data, level)
  names <- feature_names(data$features, data$p, !isTRUE(data$quiet))
  total <- squares$df_between + squares$df_within
  inside <- ifelse(squares$df_within > 0, squares$within * squares$df_within, 0)
  sd <- sqrt((squares$between * squares$df_between + inside) / total)
  flat <- is.finite(sd) & sd <= data$n * .Machine$double.eps * abs(squares$mean)
  check_prepared(list(bad = which(!is.finite(sd)), unfit = integer(), constant = flat), names,
    if (is.null(data$arg)) "x" else data$arg, !isTRUE(data$quiet), data)
  share <- reliability_table(squares)$reliability
  share[is.na(share) | flat] <- 0
  if (all(share == 0)) {
    refuse("replicates", "`replicates`: no column of `x` repeats: all have reliability 0.")
  }
  table_of_levels(data, squares, share, flat, center, scale, sd)
}

# How many columns repeat at all, of data with replicates: more cannot be chosen.
repeating_columns <- function(data) {
  data <- open_checked(data)
  share <- reliability_table(replicate_squares(data, each_alone(data$row_held$replicates)))
  sum(share$reliability > 0, na.rm = TRUE)
}

table_of_levels <- function(data, squares, share, flat, center, scale, sd) {
  names <- feature_names(data$features, data$p, FALSE)
  n_levels <- nrow(squares$means)
  divide <- if (scale) ifelse(flat, 1, sd) else rep(1, data$p)
  close_source(data$x)
  factor <- rep(share / divide, each = n_levels)
  z <- (squares$means - rep(squares$mean, each = n_levels)) * factor
  add <- if (center) rep(0, data$p) else squares$mean * share / divide
  z <- z + rep(add, each = n_levels)
  out <- new_data("dense", z, list(NULL, names), data$input$origin)
  out$input <- data$input
  out$input$note <- c(data$input$note, level_words(n_levels, share, flat))
  out[c("held", "quiet", "arg")] <- list(data$held, TRUE, data$arg)
  sums <- intersect(held_names("rows", sums = TRUE), names(data$row_held))
  evidence <- intersect(held_names("rows", evidence = TRUE), names(data$row_held))
  out$levels <- list(n_rows = data$n, n_levels = n_levels, share = stats::setNames(share, names),
    mean = squares$mean, constant = which(flat), scaled = scale, divide = divide, add = add,
    named = !is.null(data$features), held = c(data$row_held[sums], data$row_held[evidence],
      list(by = stats::setNames(rep("solver", length(evidence)), evidence))))
  out
}

level_words <- function(n_levels, share, flat) {
  lost <- sum(share == 0 & !flat)
  paste0("replicates   columns judged on the means of ", n_levels,
    " levels, shrunk by reliability (", format(stats::median(share[!flat]), digits = 2L),
    " in the median column)",
    if (lost) paste0("; ", count_words(lost, "column"), if (lost == 1L) " does" else " do",
      " not repeat at all"))
}

# A fit of such a table: `center` and `scale` give what it was made of from rows of x, and the rows
# have their weights and blocks.
of_levels <- function(fit, levels) {
  of <- function(given, else_value) if (isFALSE(given)) else_value else unname(given)
  center <- of(fit$center, 0)
  scale <- of(fit$scale, 1)
  live <- levels$share > 0
  by <- levels$divide / ifelse(live, levels$share, 1)
  names <- fit$names$features
  fit$center <- stats::setNames(levels$mean + ifelse(live, (center - levels$add) * by, 0), names)
  fit$scale <- stats::setNames(unname(by * scale), names)
  fit$n <- levels$n_rows
  fit$names$named <- levels$named
  fit$levels <- list(n_levels = levels$n_levels, reliability = levels$share,
    constant = levels$constant)
  fit$constraints$samples <- levels$held
  fit
}
