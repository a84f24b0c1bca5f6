# Shared parts of the reweighted selectors: ufs_rsr(), ufs_ndfs(), ufs_udfs(), ufs_sogfs().

# How many |w_j|^2 exceed the size that the smoothing alone gives.
count_nonzero <- function(row2, eps) sum(row2 > 100 * eps)

# Warns of a ranking with no more features above zero than the constraint (c or m columns of norm
# one) keeps there whatever the data are: `forced`.
warn_few_scores <- function(fit, forced, advice) {
  ranked <- fit$p - length(fit$constant)
  if (fit$n_nonzero <= forced && fit$n_nonzero < ranked) {
    ufs_warn("void", "ufs_", fit$method, "(): only ", fit$n_nonzero, " of ", ranked,
      " features have scores above zero",
      if (fit$n_nonzero > 0L) ", the order of the others is that of their distance from entering",
      ". ", advice)
  }
  fit
}

# Memory that wstep.c and its start hold at once, with neighbour lists and their graph both
# ways.
check_wstep_bytes <- function(n, p, k) {
  if (2 * as.double(n) * k > .Machine$integer.max) {
    refuse("k", "`k` is too large: a graph can have at most ", .Machine$integer.max, " entries.")
  }
  n <- as.double(n)
  p <- as.double(p)
  check_bytes(8 * (if (p > n) 5 * n * p + 4 * n^2 else 5 * n * p + 4 * p^2) + 60 * n * k,
    "The scatter matrix", "Select features or samples first.")
}
