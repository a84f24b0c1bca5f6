# Plain greedy facility location: every gain, every time.

ref_cosine <- function(x) 1 + tcrossprod(x / pmax(sqrt(rowSums(x^2)), .Machine$double.xmin))

ref_value <- function(s, chosen) sum(apply(s[, chosen, drop = FALSE], 1L, max))

ref_facility <- function(s, m, labelled = integer()) {
  n <- nrow(s)
  cover <- if (length(labelled)) apply(s[, labelled, drop = FALSE], 1L, max) else rep(0, n)
  order <- integer()
  value <- sum(cover)
  bound <- rep(Inf, m)
  for (t in 0:m) {
    gain <- colSums(pmax(s - cover, 0))
    open <- setdiff(seq_len(n), c(order, labelled))
    best <- cumsum(sort(gain[open], decreasing = TRUE))
    for (l in max(t, 1L):m) bound[l] <- min(bound[l], sum(cover) + best[min(l, length(open))], na.rm = TRUE)
    if (t == m) break
    # Equal up to rounding: the lowest index.
    pick <- open[gain[open] >= max(gain[open]) - 1e-10 * sum(s) / n][1L]
    order <- c(order, pick)
    cover <- pmax(cover, s[, pick])
    value <- c(value, sum(cover))
  }
  list(order = order, value = value[-1L], bound = bound, cover = cover)
}
