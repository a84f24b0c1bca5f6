# Greedy column selection, literally: every J of every candidate by a ridge regression.
ref_css_objective <- function(x, chosen, mu) {
  if (!length(chosen)) return(sum(x^2))
  a <- x[, chosen, drop = FALSE]
  if (mu == 0) return(sum(qr.resid(qr(a), x)^2))
  b <- solve(crossprod(a) + mu * diag(length(chosen)), crossprod(a, x))
  sum((x - a %*% b)^2) + mu * sum(b^2)
}

ref_css <- function(x, k, mu) {
  order <- integer()
  objective <- numeric()
  for (t in seq_len(k)) {
    open <- setdiff(seq_len(ncol(x)), order)
    value <- vapply(open, function(j) ref_css_objective(x, c(order, j), mu), 0)
    best <- open[value <= min(value) + 1e-9 * sum(x^2)][1L]
    order <- c(order, best)
    objective <- c(objective, ref_css_objective(x, order, mu))
  }
  list(order = order, objective = objective)
}
