# Constraints of the data (the rows of R/base-constraints.R): set once by ufs_data(), cut and
# permuted with rows and columns, read where the data are prepared (R/data-weights.R) and where a
# ranking is made (R/fit-constraints.R).
#
# data$held      of the columns: include, exclude (positions), cost, groups (one number a column;
#                NA in groups: alone), max_cor, budget, feature_strata (list(level, name, quota:
#                the least and most of each level, or NULL)). Each may be NULL.
# data$row_held  of the rows: weights, blocks, block_scale, labelled, candidates (positions),
#                replicates, cost, budget, strata (list(level, name, quota)).

# ---- arguments ----------------------------------------------------------------------------------

# `given`: the arguments of ufs_data() by name; those that are NULL leave what the data have.
set_constraints <- function(data, given) {
  given <- Filter(Negate(is.null), given)
  off <- vapply(names(given), function(name) {
    constraint_rows()[[name]]$kind == "switch" && isFALSE(given[[name]])
  }, NA)
  given <- given[!off]
  if (!length(given)) return(data)
  # Quotas of columns without strata are those of the tables, where there are several.
  of <- data$input$tables$of
  for (row in if (!is.null(of)) constraint_rows("columns", "quotas")) {
    if (!is.null(given[[row$name]]) && is.null(given[[row$needs[1L]]])) given[[row$needs[1L]]] <- of
  }
  sides <- list(
    columns = list(size = data$p, names = feature_names(data$features, data$p, FALSE),
      what = "columns", shared = names(repeated_names(data$features))),
    rows = list(size = data$n, names = data$samples, what = "rows"))
  for (row in constraint_rows()[names(given)]) {
    if (row$kind == "quotas") next
    own <- Filter(function(quotas) quotas$needs[1L] == row$name, constraint_rows(kind = "quotas"))
    quotas <- given[names(own)][1L][[1L]]
    arg <- row$name
    value <- given[[arg]]
    side <- sides[[row$about]]
    data[[constraint_slot(row)]][[row$held]] <- switch(row$kind,
      places = read_places(value, arg, side), numbers = read_numbers(value, arg, side),
      groups = read_groups(value, arg, side), levels = read_levels(value, arg, side),
      "some levels" = read_levels(value, arg, side, missing = TRUE),
      strata = if (row$about == "rows") read_strata(value, quotas, side) else
        read_feature_strata(value, quotas, arg, side),
      limit = check_number(value, arg, lower = 0, open = TRUE),
      share = check_number(value, arg, lower = 0, upper = 1), switch = check_flag(value, arg))
  }
  # Refuses a constraint that means nothing without another one.
  for (row in Filter(function(row) !is.null(row$needs), constraint_rows()[names(given)])) {
    other <- constraint_rows()[[row$needs[1L]]]
    # Quotas are read together with the names of the levels.
    there <- if (row$kind == "quotas") given[[other$name]] else
      data[[constraint_slot(other)]][[other$held]]
    if (is.null(there)) {
      refuse(row$name, "`", row$name, "` needs `", row$needs[1L], "`, ", row$needs[-1L], ".")
    }
  }
  # For check_constraints(), when columns have been left out.
  if (!is.null(given$include)) data$input$included <- sides$columns$names[data$held$include]
  data
}

# Positions for names, indices, a logical vector, or a function that makes one of these of the
# names.
read_places <- function(value, arg, side) {
  value <- made_of_names(value, side$names, arg)
  if (is.factor(value)) value <- as.character(value)
  refuse_unclear(value, side$shared, arg)
  as.integer(resolve_index(value, side$size, side$names, arg))
}

# One positive number for each column or row. Names, where both sides have some, decide which is
# whose.
read_numbers <- function(value, arg, side) {
  value <- made_of_names(value, side$names, arg)
  one <- sub("s$", "", side$what)
  if (length(names(value)) && length(side$names)) {
    twice <- unique(names(value)[duplicated(names(value))])
    if (length(twice)) refuse(arg, "`", arg, "` has two values for ", some_names(twice), ".")
    lost <- setdiff(side$names, names(value))
    if (length(lost)) {
      refuse(arg, "`", arg, "` has names, but none for ", if (one == "row") some_names(lost) else
        some_columns(lost), "; unname() it if it is in the order of the ", side$what, ".")
    }
    value <- value[match(side$names, names(value))]
  }
  if (!is.numeric(value) || length(value) != side$size) {
    refuse(arg, "`", arg, "` must be ", side$size, " numbers, one for each ", one, "; it is ",
      if (is.numeric(value)) count_words(length(value), "number") else deparse_short(value), ".")
  }
  bad <- which(!is.finite(value) | value <= 0)
  if (length(bad)) {
    refuse(arg, "`", arg, "` must be positive numbers; it is ", value[bad[1L]], " for ", one, " ",
      if (is.null(side$names)) bad[1L] else side$names[bad[1L]],
      if (arg == "weights") " (leave rows of weight 0 out by `samples`)", ".")
  }
  as.double(unname(value))
}

# A factor that is held in runs (S4Vectors::Rle) as a vector; an empty text is no level.
plain_factor <- function(value) {
  if (inherits(value, "Rle")) value <- as.vector(value)
  if (is.factor(value)) levels(value)[levels(value) == ""] <- NA
  if (is.character(value)) value[value %in% ""] <- NA
  value
}

# Codes of a factor over columns or rows.
read_levels <- function(value, arg, side, missing = FALSE) {
  value <- made_of_names(value, side$names, arg)
  value <- plain_factor(value)
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
read_groups <- function(value, arg, side) {
  if (!is.list(value)) return(read_levels(value, arg, side, missing = TRUE))
  out <- rep(NA_integer_, side$size)
  for (i in seq_along(value)) {
    at <- read_places(value[[i]], arg, side)
    twice <- at[!is.na(out[at])]
    if (length(twice)) {
      refuse(arg, "`groups`: ", some_columns(side$names[twice]), " in more than one group.")
    }
    out[at] <- i
  }
  out
}

# quota: the largest number of rows of each level; NULL: in proportion to the size of the levels.
read_strata <- function(value, quotas, side) {
  level <- read_levels(value, "strata", side)
  known <- as.character(unique(made_of_names(value, side$names, "strata")))
  if (is.null(quotas)) return(list(level = level, name = known, quota = NULL))
  quota <- if (is.numeric(quotas)) quotas[match(known, names(quotas))] else NA
  if (anyNA(quota) || any(quota < 0 | quota != round(quota))) {
    refuse("quotas", "`quotas` must be whole numbers with the names of the levels of `strata` (",
      paste(known, collapse = ", "), ").")
  }
  list(level = level, name = known, quota = as.integer(unname(quota)))
}

# Codes of the strata of the columns, NA for a column of none, their names, and their quotas.
read_feature_strata <- function(value, quotas, arg, side) {
  value <- made_of_names(value, side$names, arg)
  value <- plain_factor(value)
  # With the names of all columns, and perhaps of others, it may be in any order.
  own <- names(value)
  if (is.atomic(value) && length(own) && all(side$names %in% own) && !anyDuplicated(own)) {
    value <- value[match(side$names, own)]
  }
  level <- read_levels(value, arg, side, missing = TRUE)
  name <- as.character(unique(value[!is.na(value)]))
  list(level = level, name = name, quota = if (!is.null(quotas)) read_feature_quotas(quotas, name))
}

# Two columns, the least and the most columns of each level: from one number for the exact count or
# two for the ends, in a list or vector with the names of levels, or without names for all of them.
# A level that is not named is free.
read_feature_quotas <- function(quotas, name) {
  wanted <- function(...) {
    refuse("feature_quotas", "`feature_quotas` ", ..., ". Give each of the levels of ",
      "`feature_strata` (", paste(utils::head(name, 6L), collapse = ", "),
      if (length(name) > 6L) ", ...", ") a whole number, or the least and the most: ",
      "list(a = 2, b = c(1, 3)).")
  }
  if (is.null(names(quotas)) && is.numeric(quotas)) {
    quotas <- stats::setNames(rep(list(quotas), length(name)), name)
  }
  quotas <- as.list(quotas)
  lost <- setdiff(names(quotas), name)
  if (!length(quotas) || is.null(names(quotas))) wanted("has no names")
  if (length(lost)) wanted("names ", some_names(lost), ", which no column has")
  if (anyDuplicated(names(quotas))) {
    wanted("names ", some_names(names(quotas)[duplicated(names(quotas))]), " twice")
  }
  out <- cbind(least = rep(0, length(name)), most = rep(Inf, length(name)))
  for (one in names(quotas)) {
    range <- quotas[[one]]
    if (!is.numeric(range) || !length(range) %in% 1:2 || anyNA(range) || any(range < 0) ||
        any(range != round(range)) || range[1L] > range[length(range)] || is.infinite(range[1L])) {
      wanted("of ", one, " is ", deparse_short(range))
    }
    out[match(one, name), ] <- range[c(1L, length(range))]
  }
  out
}

# ---- contradictions -----------------------------------------------------------------------------

# Once x has its final columns. `before`: the names that `include` had when it was given.
check_constraints <- function(data, before = NULL) {
  if (!is.null(data$row_held$strata$quota)) check_row_quotas(data$row_held)
  held <- data$held
  if (is.null(held)) return(data)
  names <- feature_names(data$features, data$p, FALSE)
  gone <- setdiff(before, names[held$include])
  if (length(gone)) {
    refuse("include", "`include` names ", some_columns(gone), ", which `features`, `na` or ",
      "`min_samples` leave out.")
  }
  both <- intersect(held$include, held$exclude)
  if (length(both)) {
    refuse("include", "`include` and `exclude` both name ", some_columns(names[both]), ".")
  }
  all <- expand_groups(held)
  both <- intersect(all$include, all$exclude)
  if (length(both)) {
    refuse("groups", "`groups` are taken whole or not at all: ", some_columns(names[both]),
      " would be in by `include` and out by `exclude`.")
  }
  check_open(all, data$p, "")
  if (!is.null(held$budget)) check_budget(held$budget, all, names)
  if (!is.null(held$feature_strata$quota)) check_quotas(all, "be chosen")
  data
}

# Refuses a choice among `size` columns none of which may be taken.
check_open <- function(held, size, others = ": all others are constant") {
  if (length(held$exclude) == size) {
    refuse("exclude", "`exclude` leaves no column to choose", others, ".")
  }
}

# Refuses quotas of the strata of rows that leave no row to choose; labelled rows count.
check_row_quotas <- function(held, labelled = held$labelled) {
  strata <- held$strata
  if (is.null(strata$quota)) return(invisible())
  may <- if (is.null(held$candidates)) seq_along(strata$level) else held$candidates
  left <- strata$quota - in_strata(strata, labelled)
  if (!any(pmin(left, in_strata(strata, setdiff(may, labelled))) > 0)) {
    refuse("quotas", "`quotas` leaves no sample to choose.")
  }
}

# Refuses quotas that these columns cannot meet, whatever their number. may: what those that count
# may, in words.
check_quotas <- function(held, may) {
  strata <- held$feature_strata
  if (is.null(strata$quota)) return(invisible())
  open <- in_strata(strata, setdiff(seq_along(strata$level), held$exclude))
  few <- which(open < strata$quota[, "least"])
  if (length(few)) {
    refuse("feature_quotas", "`feature_quotas` asks for ",
      count_words(strata$quota[few[1L], "least"], "column"), " of '", strata$name[few[1L]],
      "', of which ", open[few[1L]], " may ", may, ".")
  }
  have <- in_strata(strata, held$include)
  many <- which(have > strata$quota[, "most"])
  if (length(many)) {
    refuse("feature_quotas", "`feature_quotas` allows ",
      count_words(strata$quota[many[1L], "most"], "column"), " of '", strata$name[many[1L]],
      "', but ", have[many[1L]], " must be in.")
  }
}

# The least and the largest number of columns that include, exclude and quotas allow.
choice_range <- function(held, size) {
  open <- setdiff(seq_len(size), held$exclude)
  strata <- held$feature_strata
  if (is.null(strata$quota)) return(c(length(held$include), length(open)))
  lacking <- pmax(strata$quota[, "least"] - in_strata(strata, held$include), 0)
  c(length(held$include) + sum(lacking),
    sum(pmin(strata$quota[, "most"], in_strata(strata, open))) + sum(is.na(strata$level[open])))
}

# Refuses a number of columns that quotas rule out.
check_quota_size <- function(k, held) {
  quota <- held$feature_strata$quota
  if (is.null(quota)) return(invisible())
  size <- length(held$feature_strata$level)
  range <- choice_range(held, size)
  if (k < range[1L]) {
    refuse("k", "`k` is ", k, ", but `feature_quotas`",
      if (length(held$include)) " and `include` ask" else " asks", " for at least ",
      count_words(range[1L], "column"), ".")
  }
  # Without quotas there may be no more, either.
  if (k > range[2L] && range[2L] < size - length(held$exclude)) {
    refuse("k", "`k` is ", k, ", but `feature_quotas` allows at most ",
      count_words(range[2L], "column"), if (any(quota[, "least"] == quota[, "most"])) {
        "; one number is exact, c(2, Inf) is at least two"
      }, ".")
  }
}

# Quotas of the strata for a choice of `size` columns: list(level, least, most), levels from 1 and 0
# for a column of none. Without quotas no stratum has more than its share of the columns `open`:
# each next column is of the level that is farthest behind (Webster's rule), after those that must
# be in.
quotas_at <- function(held, size, open) {
  strata <- held$feature_strata
  if (is.null(strata)) return(NULL)
  named <- seq_along(strata$name)
  level <- ifelse(is.na(strata$level), 0L, strata$level)
  if (!is.null(strata$quota)) {
    return(list(level = level, least = strata$quota[, "least"], most = strata$quota[, "most"]))
  }
  # Columns of no stratum have a share like the others, which they may exceed.
  of <- ifelse(level == 0L, length(named) + 1L, level)
  n <- tabulate(of[open], length(named) + 1L)
  have <- tabulate(of[intersect(held$include, open)], length(n))
  nth <- unlist(lapply(seq_along(n), function(l) if (n[l] > have[l]) (have[l] + 1L):n[l]))
  of <- rep(seq_along(n), pmax(n - have, 0L))
  more <- of[order((nth - 0.5) / n[of], of)]
  more <- utils::head(more, max(0, size - sum(have)))
  list(level = level, least = rep(0, length(named)),
    most = (have + tabulate(more, length(n)))[named])
}

# The same in a choice of k of q columns, in whole numbers, for solvers.
whole_quotas <- function(held, k, q) {
  quota <- quotas_at(held, k, setdiff(seq_len(q), held$exclude))
  if (!is.null(quota)) lapply(quota, function(number) as.integer(pmin(number, q)))
}

check_budget <- function(budget, held, names, one = "column") {
  price <- sum(held$cost[held$include])
  if (price > budget * (1 + 1e-12)) {
    refuse("budget", "The ", one, "s that must be in (",
      paste(names[held$include], collapse = ", "),
      ") cost ", format(price), ", more than the budget of ", format(budget), ".")
  }
  least <- smallest_unit(held$cost, held)
  if (!length(held$include) && isTRUE(least$sum > budget * (1 + 1e-12))) {
    refuse("budget", "The budget of ", format(budget), " pays for no ",
      if (length(least$at) > 1L) "group of columns" else one,
      ": the cheapest (", if (is.null(names)) least$at else some_names(names[least$at]),
      ") costs ", format(least$sum), ".")
  }
}

# The group (or single column) with the smallest sum of `value` among those that may be chosen:
# list(at, sum).
smallest_unit <- function(value, held) {
  unit <- if (is.null(held$groups)) -seq_along(value) else
    ifelse(is.na(held$groups), -seq_along(value), held$groups)
  open <- setdiff(seq_along(value), held$exclude)
  sums <- tapply(value[open], unit[open], sum)
  list(at = open[unit[open] == as.integer(names(which.min(sums)))], sum = min(sums))
}

# Refuses a `k` smaller than the smallest group.
check_smallest <- function(k, held, names) {
  check_open(held, length(held$groups))
  least <- smallest_unit(rep(1, length(held$groups)), held)
  if (least$sum > k) {
    refuse("k", "`k` is ", k, ", but the smallest group (", some_names(names[least$at]), ") has ",
      least$sum, " columns, and groups are taken whole.")
  }
}

# The largest number of columns, or rows, that the budget pays for; NULL without one.
affordable <- function(held, size) {
  if (is.null(held$budget)) return(NULL)
  never <- c(held$exclude, held$labelled,
    if (!is.null(held$candidates)) setdiff(seq_len(size), held$candidates))
  open <- setdiff(seq_len(size), never)
  price <- held$cost[open[order(!open %in% held$include, held$cost[open])]]
  max(1L, sum(cumsum(price) <= held$budget * (1 + 1e-12)))
}

# As rankings see them: what is in or out takes its whole group along.
expand_groups <- function(held) {
  if (is.null(held$groups)) return(held)
  whole <- function(at) {
    codes <- held$groups[at]
    union(at, which(held$groups %in% codes[!is.na(codes)]))
  }
  replace(held, c("include", "exclude"), list(whole(held$include), whole(held$exclude)))
}

# The columns that must be in, with their groups.
included_columns <- function(held) expand_groups(held)$include

# Says which columns that must be in are constant.
tell_constant <- function(held, constant, features) {
  lost <- intersect(held$include, constant)
  if (length(lost)) {
    ufs_inform("constraints", "In by `include`, but constant, and so not chosen: ",
      some_columns(features[lost]), ".")
  }
}

# The columns of a variable share its cost and are one group, with those of its own group.
constraints_of_levels <- function(held, of) {
  if (!is.null(held$cost)) held$cost <- held$cost / tabulate(of)[of]
  own <- if (is.null(held$groups)) rep(NA_integer_, length(of)) else held$groups
  held$groups <- ifelse(is.na(own), max(0L, own, na.rm = TRUE) + of, own)
  held
}

# ---- on the way ---------------------------------------------------------------------------------

# Columns beside those of the data, copies of the columns `of` in what each has a value for, each
# group of copies a group: decoys. Nothing makes them be in; the copies of what is out are out.
widen_constraints <- function(held, of, p) {
  if (is.null(held)) return(NULL)
  held <- expand_groups(held)
  held["exclude"] <- list(c(held$exclude, p + which(of %in% held$exclude)))
  for (name in intersect(held_names("columns", setdiff(value_kinds, "groups")), names(held))) {
    held[[name]] <- c(held[[name]], held[[name]][of])
  }
  for (name in intersect(held_names("columns", "groups"), names(held))) {
    held[[name]] <- c(held[[name]], held[[name]][of] + max(0L, held[[name]], na.rm = TRUE))
  }
  # Copies have strata of their own, and there are no quotas: these say how many, not which.
  for (name in intersect(held_names("columns", "strata"), names(held))) {
    own <- held[[name]]
    held[[name]] <- list(level = c(own$level, own$level[of] + length(own$name)),
      name = c(own$name, paste0(own$name, "'")))
  }
  held
}

# Constraints for the engines, on the columns `keep`, which are not constant.
drop_constant <- function(held, keep) subset_constraints(expand_groups(held), keep)

# The columns that constraints put where they are, in or out: they are no evidence.
placed_columns <- function(held) c(held$include, held$exclude)

# What each column or row costs where a budget makes it count; otherwise costs are only told.
priced <- function(held) if (!is.null(held$budget)) held$cost

# Factor of each column on the penalty of a method that has one for each column: 0 for
# columns that must be in, Inf for those that may not be, and for the others, under a budget, their
# cost over the mean of theirs. NULL: all alike.
penalty_factor <- function(held, q) {
  cost <- priced(held)
  if (!length(held$include) && !length(held$exclude) && is.null(cost)) return(NULL)
  factor <- if (is.null(cost)) rep(1, q) else cost
  open <- setdiff(seq_len(q), c(held$include, held$exclude))
  if (length(open)) factor <- factor / mean(factor[open])
  factor[held$include] <- 0
  factor[held$exclude] <- Inf
  if (max(abs(factor - 1)) > 1e-14) factor
}

# The constraints that penalty_factor() heeds.
penalty_constraints <- c("include", "exclude", "cost")

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

# The constraints as a fit keeps them, in the user's columns and rows; NULL without any.
constraints_of <- function(data) {
  out <- list(features = expand_groups(data$held), samples = data$row_held)
  if (any(lengths(out) > 0L)) out
}

# ---- in words -----------------------------------------------------------------------------------

constraint_line <- function(name, parts) if (length(parts)) {
  paste0(formatC(name, width = -13), paste(parts, collapse = ", "))
}
