# Greedy TED on the rows of x: m picks with ridge mu. list(order = picks, score =
# decrease of the objective by each pick, left = decrease that every other row would
# bring next, start = objective before the first pick). No random numbers; ties
# within rounding go to the lowest index (src/samp_ted.c).
ted_greedy <- function(x, m, mu, form = "a", control = ufs_control()) {
  # Fourth powers of x occur inside: an exact change of unit keeps them in range.
  unit <- power_of_two(max(abs(x)))
  out <- .Call(C_ted_greedy, x / unit, as.integer(m), as.double(mu) / unit^2, form, control)
  check_lapack(out$info, "ted")
  for (name in c("score", "left", "start")) out[[name]] <- out[[name]] * unit^2
  out
}

# The power of two nearest to a positive size (1 for 0): dividing by it is exact.
power_of_two <- function(size) if (size > 0) 2^round(log2(size)) else 1
