# Rankings by score, key and index, one rule for all methods, and how choices keep to the
# constraints of the data (R/data-constraints.R): a ranking sees to those that the solver of a
# method does not.

# Best first: score, then key, then index; NA last. Stable and deterministic. Indices, with `names`.
ufs_rank <- function(score, key = NULL, names = NULL) {
  score <- -unname(score)
  ord <- if (is.null(key)) order(score) else order(score, -unname(key))
  if (is.null(names)) ord else stats::setNames(ord, names[ord])
}

# Full ranking: eligible, then skipped, then excluded.
whole_ranking <- function(ord, never, names, size) {
  rest <- setdiff(seq_len(size), ord)
  ord <- c(ord, setdiff(rest, never), intersect(rest, never))
  stats::setNames(ord, names[ord])
}

# Ranking of those that have a score: the `first` before all others, then by score (over `cost`),
# then by the key, then by index. A group stands where the mean of its members does and its members
# are next to each other. Of scores below zero what counts is how far they are above the lowest.
group_order <- function(score, key, groups = NULL, first = integer(), cost = NULL) {
  size <- length(score)
  key <- if (is.null(key)) numeric(size) else key
  value <- score - min(0, score, na.rm = TRUE)
  # A group ranks by the mean of its members' scores over the mean of their costs.
  own <- each_alone(groups)
  group <- if (is.null(groups)) seq_len(size) else match(own, own)
  scored <- which(!is.na(score))
  average <- function(v) {
    if (is.null(groups)) v else
      replace(rep(NA_real_, size), scored, stats::ave(v[scored], group[scored]))
  }
  gain <- average(value)
  if (!is.null(cost)) gain <- gain / average(cost)
  ord <- order(!seq_len(size) %in% first, -gain, -average(key), group, -value, -key)
  ord[ord %in% scored]
}

# fit$constraints$features and $samples, of what the data bring: the same, with `open`, how many of
# the ranking may be chosen, and `by`, who saw to each constraint: "solver" or "ranking".
rank_features <- function(fit, data = NULL) {
  held <- fit$constraints$features
  score <- unname(fit$feature_scores)
  if (is.null(held)) {
    fit$feature_ranking <- ufs_rank(score, fit$feature_key, fit$names$features)
    return(fit)
  }
  never <- held$exclude
  score[never] <- NA_real_
  fit$feature_scores[never] <- NA_real_
  ord <- group_order(score, unname(fit$feature_key), held$groups, held$include,
    if (!isTRUE(held$by["cost"] == "solver")) priced(held))
  if (!is.null(held$feature_strata)) {
    # Quotas on what the method gave a score.
    scored <- replace(held, c("exclude", "include"),
      list(setdiff(seq_along(held$feature_strata$level), ord), intersect(held$include, ord)))
    check_quotas(scored, "be chosen: constant columns and those of `exclude` are not")
  }
  # `max_cor` is enforced only below what the solver already chose.
  if (!is.null(held$max_cor) && !is.null(data)) {
    apart <- uncorrelated(ord, held, if (is.null(data$columns)) data else data$columns)
    fit$constraints$features$walked <- apart$walked
    ord <- apart$ord
  }
  fit$constraints$features$open <- length(ord)
  fit$feature_ranking <- whole_ranking(ord, never, fit$names$features, length(score))
  # An error now, and not where the choice is looked at.
  if (!is.null(held$feature_strata)) {
    size <- remembered_size(fit, "k")
    choose_best(fit, "feature", if (is.null(size)) length(ord) else size, held$budget)
  }
  fit
}

rank_samples <- function(fit) {
  held <- fit$constraints$samples
  score <- unname(fit$sample_scores)
  key <- unname(fit$sample_key)
  if (!any(names(held) %in% held_names("rows", ranked = TRUE))) {
    fit$sample_ranking <- ufs_rank(score, key, fit$names$samples)
    return(fit)
  }
  labelled <- union(held$labelled, fit$params$labelled)
  never <- barred_samples(fit)
  score[never] <- NA_real_
  fit$sample_scores[never] <- NA_real_
  ord <- group_order(score, key, cost = if (!isTRUE(held$by["cost"] == "solver")) priced(held))
  if (!is.null(held$replicates)) {
    level <- held$replicates[ord]
    ord <- ord[is.na(level) | !(duplicated(level) | level %in% held$replicates[labelled])]
  }
  if (!is.null(held$strata)) ord <- by_strata(ord, held$strata, labelled)
  fit$constraints$samples$open <- length(ord)
  fit$sample_ranking <- whole_ranking(ord, never, fit$names$samples, fit$n)
  fit
}

# Columns that may never be chosen; they have no score by intention.
barred_columns <- function(fit) fit$constraints$features$exclude

barred_samples <- function(fit) {
  held <- fit$constraints$samples
  union(union(held$labelled, fit$params$labelled),
    if (!is.null(held$candidates)) setdiff(seq_len(fit$n), held$candidates))
}

# Under `strata` samples are taken in the order of the ranking until a level has its quota, or, in
# proportion: each next one is of the level that is farthest behind its share (Webster's rule, so
# that the choice of m is part of that of m + 1).
by_strata <- function(ord, strata, labelled) {
  level <- strata$level[ord]
  have <- tabulate(strata$level[labelled], max(strata$level))
  nth <- stats::ave(seq_along(ord), level, FUN = seq_along) + have[level]
  if (!is.null(strata$quota)) return(ord[nth <= strata$quota[level]])
  ord[order((nth - 0.5) / tabulate(strata$level, max(strata$level))[level], seq_along(ord))]
}

# Does a ranking need the columns themselves, to see which are alike?
ranks_by_correlation <- function(data) !is.null(data$constraints$features$max_cor)

# The ranking without what correlates above max_cor with a column that is before it: list(ord,
# walked: after how many the walk stopped, so that what follows is not known to be apart). Groups
# are taken whole or not at all. Cost: 2 n q flops for each column that stays.
uncorrelated <- function(ord, held, data, flops = 2e10) {
  # A constant column correlates with none.
  constant <- !ord %in% data$keep
  at <- match(ord, data$keep)
  x <- data$x
  # Columns of mean zero and norm one are those of x, shifted and divided.
  mean <- along_constant(x, data$weights)
  norm <- sqrt(pmax(x_ss(x) - mean^2, 0))
  most <- max(50, floor(flops / (2 * data$n * length(ord))))
  unit <- if (is.null(held$groups)) seq_along(ord) else each_alone(held$groups[ord])
  open <- rep(TRUE, length(ord))
  first <- ord %in% held$include
  near_to <- function(i) {
    if (constant[i]) return(logical(length(ord)))
    r <- (drop(x_cross(x, x_columns(x, at[i]))) - mean * mean[at[i]]) / norm / norm[at[i]]
    !constant & abs(r[at]) > held$max_cor + 1e-12 & !first & unit != unit[i]
  }
  fits <- quota_watch(held, ord, near_to)
  kept <- integer()
  for (i in seq_along(ord)) {
    if (!open[i]) next
    if (length(kept) >= most) {
      return(list(ord = c(kept, ord[i:length(ord)][open[i:length(ord)]]), walked = length(kept)))
    }
    near <- if (i < length(ord)) near_to(i) & seq_along(ord) > i
    after <- open
    behind <- !first & unit != unit[i] & seq_along(ord) > i
    after[near | unit %in% unit[near] & behind] <- FALSE
    # Kept if enough of each stratum that has to be in are left beside it.
    if (!fits(i, after)) {
      open[i] <- FALSE
      next
    }
    open <- after
    kept <- c(kept, ord[i])
  }
  list(ord = kept, walked = length(kept))
}

# ---- what is chosen -----------------------------------------------------------------------------

# The first `size` of a ranking of features or samples (`one`), with constraints: as many as may be
# chosen, groups whole, within the budget.
choose_best <- function(fit, one, size, budget = NULL) {
  ranking <- unname(fit[[paste0(one, "_ranking")]])
  held <- fit$constraints[[paste0(one, "s")]]
  if (is.null(held$open)) return(ranking[seq_len(size)])
  ord <- ranking[seq_len(held$open)]
  if (!is.null(budget) && is.null(held$budget)) {
    # Ranked without a budget: from here on it counts what each costs.
    fit$constraints[[paste0(one, "s")]]$budget <- budget
    again <- if (one == "feature") rank_features(fit) else rank_samples(fit)
    ord <- intersect(unname(again[[paste0(one, "_ranking")]]), ord)
  }
  groups <- if (is.null(held$groups)) rep(NA, length(ord)) else held$groups[ord]
  if (one == "feature" && !is.null(held$feature_strata)) {
    return(choose_by_quotas(ord, held, size, budget))
  }
  if (!length(ord) || (is.null(budget) && all(is.na(groups)))) return(utils::head(ord, size))
  cost <- if (is.null(budget)) rep(0, length(ord)) else held$cost[ord]
  left <- if (is.null(budget)) Inf else budget * (1 + 1e-12)
  # Members of a group stand next to each other.
  group <- cumsum(is.na(groups) | !duplicated(groups))
  count <- tabulate(group)
  price <- as.vector(rowsum(cost, group))
  walk <- function(first = NULL) {
    taken <- logical(length(count))
    for (u in c(first, seq_along(count))) {
      if (taken[u] || count[u] > size || price[u] > left) next
      taken[u] <- TRUE
      size <- size - count[u]
      left <- left - price[u]
      if (size == 0L) break
    }
    list(taken = taken, places = size)
  }
  found <- walk()
  # Groups that leave places: another one first, and what fits beside it, if that is worth more, or
  # as much and leaves fewer.
  if (found$places > 0L && any(count > 1L)) {
    score <- unname(fit[[paste0(one, "_scores")]])[ord]
    worth <- as.vector(rowsum(score - min(0, score), group))
    for (u in which(!found$taken & count <= size & !any(ord %in% held$include))) {
      other <- walk(u)
      gain <- sum(worth[other$taken]) - sum(worth[found$taken])
      fuller <- gain == 0 && other$places < found$places
      if (fuller || gain > 1e-9 * sum(worth[found$taken])) found <- other
    }
  }
  ord[found$taken[group]]
}

# The best k columns of data$x by scores, as the ranking of the fit will have them.
best_columns <- function(data, k, score, key = NULL) {
  if (is.null(data$held)) return(ufs_rank(score, key)[seq_len(k)])
  of <- match(data$keep, unique(data$keep))
  held <- held_of_variables(data)
  score <- gathered(score, of)
  bare <- list(feature_scores = score, feature_key = if (!is.null(key)) gathered(key, of),
    constraints = list(features = held))
  data$keep <- of
  ranked <- rank_features(bare, data)
  k <- max(k, choice_range(held, length(score))[1L])
  columns_of(data, choose_best(ranked, "feature", k))
}

# Random choices that keep to the constraints of the data x, which methods are compared with: a
# function that draws one, of k columns among those given, or of m rows. Costs do not decide what
# comes first at random, but a budget is kept to: with k or m as large as can be it is all that
# binds, and each draw spends it.
random_columns <- function(x, k, among = seq_len(x$p)) {
  held <- expand_groups(x$held)
  if (is.null(held)) return(function() among[sample.int(length(among), k)])
  data <- if (!is.null(held$max_cor)) as_ufs_operator(open_quietly(x))
  if (!is.null(data)) among <- intersect(among, data$keep)
  held$by <- c(cost = "solver")
  function() {
    score <- replace(rep(NA_real_, x$p), among, sample.int(length(among)))
    fit <- rank_features(list(feature_scores = score, constraints = list(features = held)), data)
    choose_best(fit, "feature", max(k, choice_range(held, x$p)[1L]), held$budget)
  }
}

random_samples <- function(x, m, among = seq_len(x$n)) {
  held <- x$row_held
  if (!any(names(held) %in% held_names("rows", ranked = TRUE))) {
    return(function() among[sample.int(length(among), m)])
  }
  held$by <- c(cost = "solver")
  function() {
    score <- replace(rep(NA_real_, x$n), among, sample.int(length(among)))
    fit <- rank_samples(list(sample_scores = score, n = x$n, constraints = list(samples = held)))
    choose_best(fit, "sample", m, held$budget)
  }
}

# k or m as the method was given it, or NULL: methods that pick one by one note how many they
# picked, and whether anybody asked for it.
remembered_size <- function(fit, name) if (!isFALSE(fit$params$given)) fit$params[[name]]

# For print(): list(ranking, of what may be chosen, what is chosen first; size, how many that is,
# NULL where neither a number nor a budget was given).
shown_ranking <- function(fit, one) {
  held <- fit$constraints[[paste0(one, "s")]]
  ranking <- unname(fit[[paste0(one, "_ranking")]])
  size <- remembered_size(fit, if (one == "feature") "k" else "m")
  if (!is.null(held$open)) ranking <- ranking[seq_len(held$open)]
  if (is.null(c(size, held$budget)) || is.null(held$open)) return(list_of(ranking, size))
  chosen <- choose_best(fit, one, if (is.null(size)) length(ranking) else size, held$budget)
  list(ranking = c(chosen, setdiff(ranking, chosen)), size = length(chosen))
}

# The choice itself, as indices; NULL where neither a number nor a budget was given.
chosen_now <- function(fit, one) {
  shown <- if (!is.null(fit[[paste0(one, "_ranking")]])) shown_ranking(fit, one)
  if (!is.null(shown$size)) utils::head(shown$ranking, shown$size)
}

# Opened data without the constraints that decide what is chosen; those in every sum stay, and so
# does what is labelled, which is no constraint. NULL where there is none of them.
without_constraints <- function(x, one) {
  slot <- if (one == "feature") "held" else "row_held"
  stays <- c("labelled", held_names(if (one == "feature") "columns" else "rows", sums = TRUE))
  if (!length(setdiff(names(Filter(length, x[[slot]])), stays))) return(NULL)
  left <- x[[slot]][intersect(names(x[[slot]]), stays)]
  replace(x, slot, list(if (length(left)) left))
}

# `k` as the fit was asked for.
check_included <- function(data, params) {
  if (is.null(params$k) || isFALSE(params$given)) return(invisible())
  held <- held_of_variables(data)
  names <- data$features[unique(data$keep)]
  check_open(held, length(names))
  if (length(held$include) > params$k) refuse_fewer(names[held$include], params$k)
  if (!is.null(held$groups)) check_smallest(params$k, held, names)
  if (!is.null(held$feature_strata)) check_quota_size(params$k, held)
}

# The constraints on the variables that are not constant, whose columns are those of `data$held`.
held_of_variables <- function(data) {
  if (is.null(data$coded)) return(data$held)
  held <- data$constraints$features
  if (!is.null(held)) drop_constant(held, unique(data$keep))
}

# Numbers that no choice can meet.
check_choice_size <- function(fit, one, size, budget) {
  held <- fit$constraints[[paste0(one, "s")]]
  names <- fit$names[[paste0(one, "s")]]
  # A constant column is never chosen, though it was to be in.
  held$include <- setdiff(held$include, fit$constant)
  if (length(held$include) > size) refuse_fewer(names[held$include], size)
  if (one == "feature") {
    # A group is as large as what of it can be chosen.
    held$exclude <- union(held$exclude, fit$constant)
    if (!is.null(held$groups)) check_smallest(size, held, names)
    # A budget alone says how many.
    if (is.null(budget) || size < length(fit$feature_scores)) check_quota_size(size, held)
  }
  if (!is.null(budget)) {
    if (is.null(held$cost)) {
      refuse("budget", "`budget` needs costs: give `", if (one == "feature") "cost" else
        "sample_cost", "` to ufs_data() or to the fit.")
    }
    check_budget(budget, held, names, if (one == "feature") "column" else "row")
  }
}

refuse_fewer <- function(names, size, arg = "k") {
  refuse(arg, "`", arg, "` is ", size, ", fewer than the ", length(names),
    " columns that must be in: ", some_columns(names), ".")
}

# Says so where constraints leave fewer than were asked for; a budget alone asks for all that it
# pays for.
say_short <- function(fit, one, size, chosen, budget) {
  held <- fit$constraints[[paste0(one, "s")]]
  few <- !is.null(held$open) && length(chosen) < size
  if (!few || !is.null(budget) && size == length(fit[[paste0(one, "_scores")]])) return(invisible())
  seen <- held_names(if (one == "feature") "columns" else "rows", ranked = TRUE)
  seen <- intersect(seen, names(Filter(length, held)))
  seen <- if (is.null(budget)) setdiff(seen, "cost") else sub("^cost$", "budget", seen)
  ufs_inform("constraints", "Only ", length(chosen), " of ", size, " ", one,
    "s are chosen: the constraints (", paste(seen, collapse = ", "), ") leave no more.")
}

# ---- who sees to a constraint -------------------------------------------------------------------

# "solver", "ranking", "refused", or "-" where a method does not choose what the constraint is
# about. Columns are centred within blocks before any method sees them; no ranking can see to
# weights.
seen_by <- function(row, name) {
  constraint <- constraint_rows()[[name]]
  if (name %in% c("blocks", row$constraints)) return("solver")
  if (constraint$sums || name %in% names(row$refuses)) return("refused")
  if (constraint$evidence && row$selects == "features") return("solver")
  about <- if (constraint$about == "columns") "features" else "samples"
  if (row$selects %in% c(about, "both")) "ranking" else "-"
}

# The constraints as a fit keeps them: with `by`, who saw to each, or NULL. `by_ranking`: what this
# form of the method leaves to the ranking.
constraints_for_fit <- function(method, data, by_ranking = NULL) {
  all <- data$constraints
  row <- registered[[method]]
  for (what in c("features", "samples")) {
    if (is.null(all[[what]])) next
    if (what == "features") all$features <- all$features[lengths(all$features) > 0L]
    rows <- constraint_rows(if (what == "features") "columns" else "rows", ranked = TRUE)
    rows <- Filter(function(one) one$held %in% names(all[[what]]), rows)
    all[[what]]$by <- stats::setNames(vapply(rows, function(one) {
      # Costs are told, and nothing else, unless there is a budget.
      if (one$held == "cost" && is.null(all[[what]]$budget)) return("-")
      if (is.null(row) || one$held %in% by_ranking) "ranking" else seen_by(row, one$name)
    }, ""), vapply(rows, `[[`, "", "held"))
  }
  all
}

# For print(): one line for columns, one for rows, one for what is in every sum.
constraint_notes <- function(fit) {
  all <- fit$constraints
  if (is.null(all)) return(NULL)
  held <- all$features
  rows <- all$samples
  # A constant column is never chosen, though it was to be in.
  held$include <- setdiff(held$include, fit$constant)
  held$constant <- fit$constant
  shown <- !is.null(fit$feature_scores)
  chosen <- !is.null(fit$sample_scores)
  columns <- constraint_words(held, "columns", chosen = if (shown) chosen_now(fit, "feature"))
  samples <- constraint_words(rows, "rows", chosen = if (chosen) chosen_now(fit, "sample"))
  c(if (shown) constraint_line("constraints", columns),
    if (chosen) constraint_line(if (shown && length(columns)) "" else "constraints", samples),
    constraint_line("rows", constraint_words(rows, "rows", sums = TRUE)))
}

# ---- what is asked of a fit ---------------------------------------------------------------------

# The budget given here, or that of the data.
wanted_budget <- function(fit, what, budget) {
  if (is.null(budget)) fit$constraints[[what]]$budget else
    check_number(budget, "budget", lower = 0, open = TRUE)
}

# Does a budget alone say how many? One given here does where no number is; that of the data does
# where the fit was not asked for a number either.
by_budget <- function(fit, what, name, size, budget) {
  is.null(size) && (!is.null(budget) ||
    (is.null(remembered_size(fit, name)) && !is.null(fit$constraints[[what]]$budget)))
}
