# Rankings by score, key and index: one rule for all methods.

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

# Ranking of those that have a score: the `first` before all others, then by score over cost, then
# by the key, then by index. A group stands where the mean of its members does and its members are
# next to each other. Of scores below zero what counts is how far they are above the lowest.
group_order <- function(score, key, groups = NULL, first = integer(), cost = NULL) {
  size <- length(score)
  key <- if (is.null(key)) numeric(size) else key
  value <- score - min(0, score, na.rm = TRUE)
  # A group ranks by the mean of its members' scores over the mean of their costs.
  group <- if (is.null(groups)) seq_len(size) else
    match(ifelse(is.na(groups), -seq_len(size), groups),
      ifelse(is.na(groups), -seq_len(size), groups))
  scored <- which(!is.na(score))
  average <- function(v) {
    if (is.null(groups)) return(v)
    out <- rep(NA_real_, size)
    out[scored] <- stats::ave(v[scored], group[scored])
    out
  }
  gain <- average(value)
  if (!is.null(cost)) gain <- gain / average(cost)
  ord <- order(!seq_len(size) %in% first, -gain, -average(key), group, -value, -key)
  ord[ord %in% scored]
}
