# Quotas of columns (`feature_strata`) in rankings: which columns may be taken so that enough are
# left for the minima. A choice so far can be completed if columns of the strata that lack some are
# left, for which there is room and money, and which go together. Without groups and max_cor
# counting decides; with them a search, which gives up after MOST_TRIES and then counts as failed.

most_tries <- 2000L

# The columns that are left to choose from, best first. level: of its columns, 0 for none; group:
# which belong together, NULL for none; cost, limit: NULL or what each costs, and how much all may;
# apart: function(i) of the columns that are too near to column i, or NULL.
new_quota_walk <- function(quota, level, cost = NULL, group = NULL, apart = NULL) {
  unit <- if (is.null(group)) seq_along(level) else group
  list(least = quota$least, most = quota$most, level = level, cost = cost, apart = apart,
    unit = unit, whole = anyDuplicated(unit) > 0L)
}

levels_of <- function(walk, at) tabulate(walk$level[at], length(walk$least))

# Can `have` (of each level) be completed by some of the columns `open` (flags)? Returns their
# indices, or NULL.
completion <- function(walk, have, room, left, open) {
  tries <- most_tries
  search <- function(have, room, left, open) {
    tries <<- tries - 1L
    need <- pmax(walk$least - have, 0)
    if (!any(need > 0)) return(integer())
    if (tries < 0L || sum(need) > room) return(NULL)
    at <- which(open & walk$level > 0L)
    at <- at[need[walk$level[at]] > 0]
    n <- levels_of(walk, at)
    if (any(n < need)) return(NULL)
    if (!is.null(walk$cost)) at <- at[order(walk$cost[at])]
    nth <- stats::ave(seq_along(at), walk$level[at], FUN = seq_along)
    first <- at[nth <= need[walk$level[at]]]
    if (!is.null(walk$cost) && sum(walk$cost[first]) > left) return(NULL)
    if (!walk$whole && is.null(walk$apart)) return(first)
    # The level with the fewest to spare.
    tight <- which(need > 0)[which.min((n - need)[need > 0])]
    for (i in at[walk$level[at] == tight]) {
      if (!open[i]) next
      all <- which(walk$unit == walk$unit[i])
      open[all] <- FALSE
      after <- have + levels_of(walk, all)
      price <- if (is.null(walk$cost)) 0 else sum(walk$cost[all])
      if (any(after > walk$most) || length(all) > room || price > left) next
      rest <- open
      if (!is.null(walk$apart)) rest <- rest & !walk$apart(i)
      found <- search(after, room - length(all), left - price, rest)
      if (!is.null(found)) return(c(all, found))
    }
    NULL
  }
  search(have, room, left, open)
}

# Flags of the columns that a walk from the best to the worst takes: `size` at most, within the
# limit, never one that makes the minima impossible. NULL if they are.
walk_quotas <- function(walk, size, limit = Inf) {
  have <- numeric(length(walk$least))
  open <- rep(TRUE, length(walk$level))
  taken <- logical(length(open))
  plain <- !walk$whole && is.null(walk$cost)
  if (is.null(completion(walk, have, size, limit, open))) return(NULL)
  for (i in seq_along(open)) {
    if (!open[i]) next
    all <- if (walk$whole) which(walk$unit == walk$unit[i]) else i
    open[all] <- FALSE
    price <- if (is.null(walk$cost)) 0 else sum(walk$cost[all])
    after <- have + levels_of(walk, all)
    if (length(all) > size || price > limit || any(after > walk$most)) next
    lacking <- sum(pmax(walk$least - after, 0))
    if (lacking > size - length(all)) next
    if (lacking > 0 && !plain &&
        is.null(completion(walk, after, size - length(all), limit - price, open))) next
    taken[all] <- TRUE
    have <- after
    size <- size - length(all)
    limit <- limit - price
    if (size == 0L) break
  }
  taken
}

# The first `size` of the ranking `ord` under the constraints of a fit.
choose_by_quotas <- function(ord, held, size, budget) {
  quota <- quotas_at(held, size, ord)
  # Columns that must be in are in, whatever the share of their level.
  walk <- new_quota_walk(quota, quota$level[ord], if (!is.null(budget)) held$cost[ord],
    each_alone(held$groups[ord]))
  taken <- walk_quotas(walk, size, if (is.null(budget)) Inf else budget * (1 + 1e-12))
  if (is.null(taken)) refuse_quotas(held, size, budget)
  ord[taken]
}

refuse_quotas <- function(held, size = Inf, budget = NULL) {
  beside <- c(groups = "`groups`", max_cor = "`max_cor`")[c("groups", "max_cor") %in%
    names(Filter(length, held))]
  if (!is.null(budget)) beside <- c(beside, paste("the budget of", format(budget)))
  refuse("feature_quotas", "No choice", if (is.finite(size)) paste(" of", size, "columns"),
    " meets `feature_quotas`", if (length(beside)) " with ", paste(beside, collapse = " and "),
    ": ask for fewer columns of a stratum, or leave a constraint out.")
}

# Does a ranking by correlation, which keeps the i-th of `ord` and leaves those flagged to be
# walked, still meet the minima? A function of both. What completed the choice before is asked
# first.
quota_watch <- function(held, ord, near_to) {
  quota <- quotas_at(held, length(ord), ord)
  if (!any(quota$least > 0)) return(function(i, open) TRUE)
  seen <- new.env(parent = emptyenv())
  walk <- new_quota_walk(quota, quota$level[ord], apart = function(i) {
    key <- as.character(i)
    if (is.null(seen[[key]])) seen[[key]] <- which(near_to(i))
    seq_along(ord) %in% seen[[key]]
  })
  have <- numeric(length(walk$least))
  ahead <- completion(walk, have, length(ord), Inf, rep(TRUE, length(ord)))
  if (is.null(ahead)) refuse_quotas(held)
  function(i, open) {
    after <- have + levels_of(walk, i)
    # Included columns stay, whatever is near to them.
    rest <- setdiff(ahead, i)
    open[seq_len(i)] <- FALSE
    if (!all(open[rest])) rest <- completion(walk, after, length(ord), Inf, open)
    if (is.null(rest)) return(FALSE)
    have <<- after
    ahead <<- rest
    TRUE
  }
}
