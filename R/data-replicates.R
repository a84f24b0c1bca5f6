# Replicates: rows that measure the same thing several times. How much of a column's variance lies
# between their levels, in one analysis of variance a column.

# Squares between and within the levels of `replicates` (one code a row; rows with NA are left out),
# with weights as frequencies: those of the least squares fit of levels beside blocks, levels after
# blocks, whether the two are crossed, nested or anything between. Missing values are left out, each
# by itself. A list
#   between, within   mean squares, one for each column
#   df_between, df_within   their degrees of freedom
#   df                the same of a column without missing values
#   size              the mean number of rows a level, as the expectation of `between` has it
#   means             levels x columns: the means of the levels, blocks taken out, that of the
#                     column where a level has no value
#   mean              of the column; value: the codes of the levels in the order of the means
# Cost: 3 passes over x, read by columns as many as getOption("ufselect.block_bytes") holds, and
# with blocks the cube of their number for each pattern of missing values.
replicate_squares <- function(data, replicates = data$row_held$replicates) {
  used <- which(!is.na(replicates))
  rows <- function(held) if (is.null(held)) rep(1L, length(used)) else held[used]
  weight <- rows(data$row_held$weights)
  block <- rows(data$row_held$blocks)
  # Means are taken out below.
  scaled <- isTRUE(data$row_held$block_scale)
  if (scaled) data <- without_blocks(data)
  value <- sort(unique(replicates[used]))
  level <- match(replicates[used], value)
  df <- two_way_design(level, block, weight)$df
  if (df[["within"]] < 1) {
    refuse("replicates", "`replicates`: no level has two rows that could be compared.")
  }
  if (df[["between"]] < 1) {
    refuse("replicates", "`replicates` has one level only", if (length(value) > 1L) {
      " in each of the `blocks`"
    }, ".")
  }
  none <- numeric(data$p)
  squares <- list(between = none, within = none, mean = none, size = none, df_between = none,
    df_within = none, means = matrix(0, length(value), data$p))
  for (at in in_pieces(data$p, max(1, floor(block_bytes() / (8 * data$n))))) {
    z <- data_columns(data, at)[used, , drop = FALSE]
    if (scaled && anyNA(z)) {
      refuse_data("x", "`x` has missing values, and `block_scale` and `replicates` together ",
        "need all: choose `na` in ufs_data().")
    }
    for (same in split(seq_along(at), equal_columns(is.na(z) + 0))) {
      there <- !is.na(z[, same[1L]])
      part <- two_way_squares(z[there, same, drop = FALSE], level[there], block[there],
        weight[there])
      squares$means[, at[same]] <- rep(part$mean, each = length(value))
      squares$means[sort(unique(level[there])), at[same]] <- part$means
      for (name in setdiff(names(part), "means")) squares[[name]][at[same]] <- part[[name]]
    }
  }
  c(squares, list_of(df, value))
}

# What the rows say of levels and blocks: codes from 1, weights of the levels, the blocks and both
# together, the part of each level and block that blocks connect, and degrees of freedom: what
# blocks take away is counted where it lies.
two_way_design <- function(level, block, weight) {
  level <- match(level, sort(unique(level)))
  block <- match(block, unique(block))
  both <- matrix(0, max(level, 0L), max(block, 0L))
  cell <- rowsum(weight, level + nrow(both) * (block - 1L))
  both[as.integer(rownames(cell))] <- cell
  # For each level the part to which blocks connect it, by its lowest level.
  part <- seq_len(max(level, 0L))
  repeat {
    least <- tapply(part[level], block, min)
    new <- pmin(part, as.vector(tapply(least[block], level, min)))
    if (identical(new, part)) break
    part <- new
  }
  parts <- length(unique(part))
  list_of(level, block, both, of_level = rowSums(both), of_block = colSums(both), part,
    part_of_block = part[level[match(seq_len(ncol(both)), block)]],
    df = c(between = nrow(both) - parts, within = sum(weight) - sum(dim(both)) + parts))
}

# The fit of some columns without missing values. Blocks are solved for, of which there are few, and
# the first of each connected part stands where it is.
two_way_squares <- function(z, level, block, weight) {
  own <- two_way_design(level, block, weight)
  # A shift by the first row of its block keeps the digits of columns far from zero.
  first <- z[match(seq_along(own$of_block), own$block), , drop = FALSE]
  z <- z - first[own$block, , drop = FALSE]
  centre <- rowsum(z * weight, own$block) / own$of_block
  z <- z - centre[own$block, , drop = FALSE]
  means <- rowsum(z * weight, own$level) / own$of_level
  free <- duplicated(own$part_of_block)
  moved <- matrix(0, nrow(centre), ncol(z))
  if (any(free)) {
    share <- own$both / own$of_level
    moved[free, ] <- solve((diag(own$of_block) - crossprod(own$both, share))[free, free],
      -crossprod(own$both, means)[free, , drop = FALSE])
    means <- means - share %*% moved
  }
  fitted <- (means[own$level, , drop = FALSE] + moved[own$block, , drop = FALSE])
  # Levels of parts that no block connects are compared with their own.
  middle <- rowsum(means * own$of_level, own$part) / as.vector(rowsum(own$of_level, own$part))
  means <- means - middle[match(own$part, sort(unique(own$part))), , drop = FALSE]
  mean <- colSums((centre + first) * own$of_block) / sum(weight)
  per <- function(squares, df) squares / if (df > 0) df else NA
  list(means = means + rep(mean, each = nrow(means)), mean = mean,
    between = per(colSums(fitted^2 * weight), own$df[["between"]]),
    within = per(colSums((z - fitted)^2 * weight), own$df[["within"]]),
    df_between = own$df[["between"]], df_within = own$df[["within"]],
    size = per(sum(weight) - sum(t(own$both)^2 / own$of_block), own$df[["between"]]))
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

# Rows that are drawn together: levels of replicates, or blocks where there are enough of them.
independent_rows <- function(x) {
  if (holds_replicates(x)) return(each_alone(x$row_held$replicates))
  block <- x$row_held$blocks
  if (length(unique(block)) >= 12L) match(block, unique(block)) else seq_len(x$n)
}

# ---- methods that choose columns ----------------------------------------------------------------

# What permutes rows, tests or counts degrees of freedom works on independent units: of data with
# replicates their levels. `least`: fewer say nothing.
data_of_levels <- function(data, least = 3L) {
  if (!holds_replicates(data)) return(data)
  own <- nominal_columns(data$input$coding)
  if (length(own)) {
    refuse("replicates", "`replicates`: of measurements means are taken, and ",
      some_columns(data$features[own]), " hold levels of factors. Leave them out by `features`.")
  }
  data <- open_checked(data)
  level <- each_alone(data$row_held$replicates)
  n_levels <- length(unique(level))
  if (n_levels < least) {
    refuse("replicates", "`replicates` has ", count_words(n_levels, "level"), "; at least ", least,
      " are needed where columns are judged on their means.")
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
  close_source(data$x)
  # The means of the levels, each column times its reliability. Where columns are scaled it is by
  # `sd`, that of the rows (judge_columns()): a column that repeats little stays short.
  z <- squares$means * rep(share, each = n_levels)
  out <- new_data("dense", z, list(NULL, data$features), data$input$origin)
  out$input <- data$input
  lost <- sum(share == 0 & !flat)
  out$input$note <- c(data$input$note, paste0("replicates   columns judged on the means of ",
    n_levels, " levels, shrunk by reliability (", format(stats::median(share[!flat]), digits = 2L),
    " in the median column)",
    if (lost) paste0("; ", count_words(lost, "column"), if (lost == 1L) " does" else " do",
      " not repeat at all")))
  out[c("held", "quiet", "arg")] <- list(data$held, TRUE, data$arg)
  sums <- intersect(held_names("rows", sums = TRUE), names(data$row_held))
  evidence <- intersect(held_names("rows", evidence = TRUE), names(data$row_held))
  names(share) <- names
  out$levels <- list(n_rows = data$n, n_levels = n_levels, df = squares$df[["between"]],
    share = share, mean = squares$mean, sd = sd, constant = which(flat),
    held = c(data$row_held[sums], data$row_held[evidence],
      list(by = stats::setNames(rep("solver", length(evidence)), evidence))))
  out
}

holds_replicates <- function(data) inherits(data, "ufs_data") && !is.null(data$row_held$replicates)
