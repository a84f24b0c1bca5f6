# Wishes: columns that must be in or out, cost something or go together; rows that have a weight or
# a block, are labelled or replicated. They are a property of the data, so they travel with them:
# set once by ufs_data(), cut and permuted with rows and columns, read where the data are prepared
# (weights and blocks) and where a ranking is made (R/fit-ranking.R).
#
# data$wish      of the columns: include, exclude (positions), cost, groups (one number a column;
#                NA in groups: alone), max_cor, budget. Each may be NULL.
# data$row_wish  of the rows: weights, blocks, block_scale, labelled, candidates (positions),
#                replicates, cost, budget, strata (list(level, quota)).

# ---- arguments ----------------------------------------------------------------------------------

# `given`: the arguments of ufs_data() by name; those that are NULL leave what the data have.
set_wishes <- function(data, given) {
  given <- Filter(Negate(is.null), given)
  if (isFALSE(given$block_scale)) given$block_scale <- NULL
  if (!length(given)) return(data)
  columns <- list(size = data$p, names = feature_names(data$features, data$p, FALSE),
    what = "columns", shared = names(repeated_names(data$features)))
  rows <- list(size = data$n, names = data$samples, what = "rows")
  read <- list(
    include = wished_places, exclude = wished_places, cost = wished_numbers, budget = wished_limit,
    groups = wished_groups, max_cor = wished_share, weights = wished_numbers,
    blocks = wished_levels, block_scale = function(value, arg, side) check_flag(value, arg),
    candidates = wished_places, labelled = wished_places,
    replicates = function(value, arg, side) wished_levels(value, arg, side, missing = TRUE),
    sample_cost = wished_numbers, sample_budget = wished_limit,
    strata = function(value, arg, side) wished_strata(value, given$quotas, side))
  for (arg in setdiff(names(given), "quotas")) {
    slot <- if (arg %in% column_wishes) "wish" else "row_wish"
    data[[slot]][[sub("^sample_", "", arg)]] <-
      read[[arg]](given[[arg]], arg, if (slot == "wish") columns else rows)
  }
  if (!is.null(given$quotas) && is.null(given$strata)) {
    refuse("quotas", "`quotas` need `strata`, a factor over the rows.")
  }
  for (pair in list(c("wish", "budget", "cost"), c("row_wish", "sample_budget", "sample_cost"))) {
    own <- data[[pair[1L]]]
    if (!is.null(own$budget) && is.null(own$cost)) {
      refuse(pair[2L], "`", pair[2L], "` needs `", pair[3L], "`, what each ",
        if (pair[1L] == "wish") "column" else "row", " costs.")
    }
  }
  if (isTRUE(data$row_wish$block_scale) && is.null(data$row_wish$blocks)) {
    refuse("block_scale", "`block_scale` needs `blocks`, a factor over the rows.")
  }
  data
}

# Positions for names, indices, a logical vector, or a function that makes one of these of the
# names.
wished_places <- function(value, arg, side) {
  if (is.function(value)) value <- value(side$names)
  if (is.factor(value)) value <- as.character(value)
  if (is.character(value)) value <- unlist(lapply(value, level_columns, side$names))
  refuse_unclear(value, side$shared, arg)
  as.integer(resolve_index(value, side$size, side$names, arg))
}

# The names of the columns that a factor became (`factors` of ufs_data()), for the factor's; any
# other name as it is.
level_columns <- function(name, names) {
  own <- if (!name %in% names) names[startsWith(names, paste0(name, "="))]
  if (length(own)) own else name
}

# One positive number for each column or row. Names, where both sides have some, decide which is
# whose.
wished_numbers <- function(value, arg, side) {
  if (is.function(value)) value <- value(side$names)
  one <- sub("s$", "", side$what)
  if (length(names(value)) && length(side$names)) {
    # What a factor costs is shared by its columns.
    value <- unlist(lapply(names(value), function(name) {
      own <- level_columns(name, side$names)
      stats::setNames(rep(value[[name]] / length(own), length(own)), own)
    }))
    lost <- setdiff(side$names, names(value))
    if (length(lost)) {
      refuse(arg, "`", arg, "` has names, but none for ", if (one == "row") some_names(lost) else
        some_columns(lost), "; unname() it if it is in the order of the ", side$what, ".")
    }
    value <- value[match(side$names, names(value))]
  }
  if (!is.numeric(value) || length(value) != side$size) {
    refuse(arg, "`", arg, "` must be ", side$size, " numbers, one for each ", one, "; it is ",
      deparse_short(value), ".")
  }
  bad <- which(!is.finite(value) | value <= 0)
  if (length(bad)) {
    refuse(arg, "`", arg, "` must be positive numbers; it is ", value[bad[1L]], " for ", one, " ",
      if (is.null(side$names)) bad[1L] else side$names[bad[1L]],
      if (arg == "weights") " (leave rows of weight 0 out by `samples`)", ".")
  }
  as.double(unname(value))
}

wished_limit <- function(value, arg, side) check_number(value, arg, lower = 0, open = TRUE)
wished_share <- function(value, arg, side) check_number(value, arg, lower = 0, upper = 1)

# Codes of a factor over columns or rows.
wished_levels <- function(value, arg, side, missing = FALSE) {
  if (is.function(value)) value <- value(side$names)
  if (!is.atomic(value) || !is.null(dim(value)) || length(value) != side$size ||
      (!missing && anyNA(value))) {
    refuse(arg, "`", arg, "` must be a factor with ", side$size, " values, one for each ",
      sub("s$", "", side$what), if (!missing) ", none of them missing", ".")
  }
  code <- match(value, unique(value[!is.na(value)]))
  if (arg == "blocks" && any(tabulate(code) < 2L)) {
    refuse(arg, "`blocks`: ", as.character(unique(value)[tabulate(code) < 2L][1L]),
      " has one row only; centring within blocks would make it zero.")
  }
  code
}

# A factor over columns, or a list of columns that go together.
wished_groups <- function(value, arg, side) {
  if (!is.list(value)) return(wished_levels(value, arg, side, missing = TRUE))
  out <- rep(NA_integer_, side$size)
  for (i in seq_along(value)) {
    at <- wished_places(value[[i]], arg, side)
    twice <- at[!is.na(out[at])]
    if (length(twice)) {
      refuse(arg, "`groups`: ", some_columns(side$names[twice]), " in more than one group.")
    }
    out[at] <- i
  }
  out
}

# quota: the largest number of rows of each level; NULL: in proportion to the size of the levels.
wished_strata <- function(value, quotas, side) {
  level <- wished_levels(value, "strata", side)
  if (is.null(quotas)) return(list(level = level, quota = NULL))
  known <- as.character(unique(value))
  quota <- quotas[match(known, names(quotas))]
  if (!is.numeric(quotas) || anyNA(quota) || any(quota < 0 | quota != round(quota))) {
    refuse("quotas", "`quotas` must be whole numbers with the names of the levels of `strata` (",
      paste(known, collapse = ", "), ").")
  }
  list(level = level, quota = as.integer(unname(quota)))
}

# ---- contradictions -----------------------------------------------------------------------------

# Once x has its final columns. `before`: the names that `include` had when it was given.
check_wishes <- function(data, before = NULL) {
  wish <- data$wish
  if (is.null(wish)) return(data)
  names <- feature_names(data$features, data$p, FALSE)
  gone <- setdiff(before, names[wish$include])
  if (length(gone)) {
    refuse("include", "`include` names ", some_columns(gone), ", which `features`, `na` or ",
      "`min_samples` leave out.")
  }
  both <- intersect(wish$include, wish$exclude)
  if (length(both)) {
    refuse("include", "`include` and `exclude` both name ", some_columns(names[both]), ".")
  }
  all <- settled_wish(wish)
  both <- intersect(all$include, all$exclude)
  if (length(both)) {
    refuse("groups", "`groups` are taken whole or not at all: ", some_columns(names[both]),
      " would be in by `include` and out by `exclude`.")
  }
  if (length(all$exclude) == data$p) refuse("exclude", "`exclude` leaves no column to choose.")
  if (!is.null(wish$budget)) check_budget(wish$budget, all, names)
  data
}

check_budget <- function(budget, wish, names, one = "column") {
  price <- sum(wish$cost[wish$include])
  if (price > budget * (1 + 1e-12)) {
    refuse("budget", "The ", one, "s that must be in (",
      paste(names[wish$include], collapse = ", "),
      ") cost ", format(price), ", more than the budget of ", format(budget), ".")
  }
  least <- smallest_unit(wish$cost, wish)
  if (!length(wish$include) && isTRUE(least$sum > budget * (1 + 1e-12))) {
    refuse("budget", "The budget of ", format(budget), " pays for no ",
      if (length(least$at) > 1L) "group of ", if (length(least$at) > 1L) "columns" else one,
      ": the cheapest (", if (is.null(names)) least$at else some_names(names[least$at]),
      ") costs ", format(least$sum), ".")
  }
}

# Of what is taken together, among what may be chosen, that whose values have the smallest sum:
# list(at, sum).
smallest_unit <- function(value, wish) {
  unit <- if (is.null(wish$groups)) -seq_along(value) else
    ifelse(is.na(wish$groups), -seq_along(value), wish$groups)
  open <- setdiff(seq_along(value), wish$exclude)
  if (!length(open)) return(list(at = integer(), sum = Inf))
  sums <- tapply(value[open], unit[open], sum)
  list(at = open[unit[open] == as.integer(names(which.min(sums)))], sum = min(sums))
}

# Of so few columns no group is whole.
check_smallest <- function(k, wish, names) {
  if (is.null(wish$groups)) return(invisible())
  least <- smallest_unit(rep(1, length(wish$groups)), wish)
  if (least$sum > k) {
    refuse("k", "`k` is ", k, ", but the smallest group (", some_names(names[least$at]), ") has ",
      least$sum, " columns, and groups are taken whole.")
  }
}

# The largest number of columns, or rows, that the budget pays for; NULL without one.
affordable <- function(wish, size) {
  if (is.null(wish$budget)) return(NULL)
  never <- c(wish$exclude, wish$labelled,
    if (!is.null(wish$candidates)) setdiff(seq_len(size), wish$candidates))
  open <- setdiff(seq_len(size), never)
  price <- wish$cost[open[order(!open %in% wish$include, wish$cost[open])]]
  max(1L, sum(cumsum(price) <= wish$budget * (1 + 1e-12)))
}

# As the ranking sees them: what is in or out takes its whole group along.
settled_wish <- function(wish) {
  if (is.null(wish$groups)) return(wish)
  whole <- function(at) {
    codes <- wish$groups[at]
    union(at, which(wish$groups %in% codes[!is.na(codes)]))
  }
  wish["include"] <- list(whole(wish$include))
  wish["exclude"] <- list(whole(wish$exclude))
  wish
}

# ---- on the way ---------------------------------------------------------------------------------

# Columns beside those of the data, copies of the columns `of` in cost, each group of copies a
# group: decoys. Nothing makes them be in; the copies of what is out are out.
widen_wishes <- function(wish, of, p) {
  if (is.null(wish)) return(NULL)
  wish <- settled_wish(wish)
  wish["exclude"] <- list(c(wish$exclude, p + which(of %in% wish$exclude)))
  if (!is.null(wish$cost)) wish$cost <- c(wish$cost, wish$cost[of])
  if (!is.null(wish$groups)) {
    wish$groups <- c(wish$groups, wish$groups[of] + max(0L, wish$groups, na.rm = TRUE))
  }
  wish
}

# What engines take: the settled wishes of the columns that are not constant.
kept_wish <- function(wish, keep) {
  if (is.null(wish)) return(NULL)
  pick_wishes(settled_wish(wish), keep, c("include", "exclude"), c("cost", "groups"))
}

# What each column's own penalty is of the penalty of a method that has one for each column: 0 for
# columns that must be in, Inf for those that may not be, and for the others their cost over the
# mean of theirs. NULL: all alike.
penalty_factor <- function(wish, q) {
  if (!length(wish$include) && !length(wish$exclude) && is.null(wish$cost)) return(NULL)
  factor <- if (is.null(wish$cost)) rep(1, q) else wish$cost
  open <- setdiff(seq_len(q), c(wish$include, wish$exclude))
  if (length(open)) factor <- factor / mean(factor[open])
  factor[wish$include] <- 0
  factor[wish$exclude] <- Inf
  if (max(abs(factor - 1)) > 1e-14) factor
}

# What penalty_factor() sees to.
penalty_wishes <- c("include", "exclude", "cost")

# The largest of values of the columns, each over its factor.
top_over_factor <- function(value, factor) {
  if (is.null(factor)) return(max(value))
  penalised <- factor > 0 & is.finite(factor)
  if (!any(penalised)) return(max(value))
  max(value[penalised] / factor[penalised])
}

# For each column the first one equal to it (`first`) that has the same penalty, too.
same_penalty <- function(first, factor) {
  if (is.null(factor)) return(first)
  both <- paste(first, match(factor, unique(factor)))
  match(both, both)
}

# What a fit must know of them, in the user's columns and rows; NULL without any.
used_wishes <- function(data) {
  out <- list(features = settled_wish(data$wish), samples = data$row_wish)
  if (any(lengths(out) > 0L)) out
}

# ---- in words -----------------------------------------------------------------------------------

counted_wish <- function(at, what, word) if (length(at)) paste(count_words(length(at), what), word)

cost_words <- function(wish) if (!is.null(wish$cost)) {
  paste0("costs", if (!is.null(wish$budget)) paste0(", budget ", format(wish$budget)))
}

column_wish_words <- function(wish) {
  c(counted_wish(wish$include, "column", "in"), counted_wish(wish$exclude, "column", "out"),
    cost_words(wish),
    if (!is.null(wish$groups)) count_words(length(unique(wish$groups[!is.na(wish$groups)])),
      "group"),
    if (!is.null(wish$max_cor)) paste("no |r| above", format(wish$max_cor)))
}

row_wish_words <- function(wish) {
  c(counted_wish(wish$labelled, "row", "labelled"),
    if (!is.null(wish$candidates)) count_words(length(wish$candidates), "candidate"),
    if (!is.null(wish$replicates)) "one of each replicate", cost_words(wish),
    if (!is.null(wish$strata)) paste(max(wish$strata$level), "strata"))
}

sum_wish_words <- function(wish) {
  c(if (!is.null(wish$weights)) paste("weights of sum", format(sum(wish$weights))),
    if (!is.null(wish$blocks)) paste0("centred ", if (isTRUE(wish$block_scale)) "and scaled ",
      "within ", count_words(length(unique(wish$blocks)), "block")))
}

wish_line <- function(name, parts) if (length(parts)) {
  paste0(formatC(name, width = -13), paste(parts, collapse = ", "))
}

# ---- weights and blocks -------------------------------------------------------------------------

# The data as everything that is a sum over rows must see them: columns moved to the same mean in
# all blocks, centred by weighted means, rows times the root of their weight. list(data, ready, df):
# the data to go on with, dense or a source, whose columns are centred already if asked; what
# prepare_columns() says of them; the degrees of freedom. A weight is a frequency: a row of weight 2
# stands for two rows.
#
# Cost: two more passes (three with block_scale); a dense x is copied once. Sparse data become a
# source, for centred within blocks they are not sparse.
weighted_columns <- function(data, center, by) {
  rows <- data$row_wish
  n <- data$n
  weight <- if (is.null(rows$weights)) rep(1, n) else rows$weights
  block <- if (is.null(rows$blocks)) rep(1L, n) else match(rows$blocks, unique(rows$blocks))
  member <- matrix(0, n, max(block))
  member[cbind(seq_len(n), block)] <- weight
  size <- colSums(member)
  sums <- function(x) t(x_cross(x, member)) / size
  mean <- sums(raw_operator(data))
  overall <- colSums(mean * size) / sum(size)
  plan <- list(block = block, mean = mean, root = if (!is.null(rows$weights)) sqrt(weight))
  df <- sum(weight) - max(block)
  total <- colSums(mean^2 * size)
  if (isTRUE(rows$block_scale)) {
    square <- sums(raw_operator(planned_data(data, c(plan["block"], plan["mean"], power = 2))))
    pooled <- colSums(square * size) / df
    # What is constant within a block stays so.
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
  ready$largest <- ifelse(ready$norm == 0, 0, found$top / ready$divide)
  ready$norm <- ready$norm / ready$divide
  list(data = centred, ready = ready, df = df)
}

# The data with their columns moved to the same mean in all blocks (and scaled within, if asked),
# and no wish about it left.
without_blocks <- function(data) {
  if (is.null(data$row_wish$blocks)) return(data)
  own <- data
  own$row_wish["weights"] <- list(NULL)
  out <- weighted_columns(own, FALSE, "none")$data
  out$row_wish[c("blocks", "block_scale")] <- NULL
  out
}

has_row_sums <- function(data) !is.null(data$row_wish$weights) || !is.null(data$row_wish$blocks)

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
    data$x <- planned_source(data, plan)
    data$kind <- "source"
  }
  data
}
