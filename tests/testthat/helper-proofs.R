# Proofs of ufs_css(optimal = TRUE), recomputed by trying every choice: for test-proofs.R and
# tests/dev/proofs.R. Tables of at most eleven columns: their scales from 1e-8 to 1e8, exact integers,
# orthogonal designs, copies and sums, values on few rows; with and without each constraint.

proof_table <- function() {
  p <- sample(3:11, 1L)
  kind <- sample(c("normal", "integers", "orthogonal", "dependent", "flat", "few"), 1L)
  n <- if (kind == "few") sample(20:30, 1L) else sample(4:14, 1L)
  normal <- function(a, b) matrix(stats::rnorm(a * b), a)
  # Columns of the same design have products that are exactly zero.
  orthogonal <- function() {
    h <- matrix(1, 1L, 1L)
    for (i in 1:3) h <- rbind(cbind(h, h), cbind(h, -h))
    h[, -1L] %*% matrix(sample(-2:2, 7L * p, TRUE, c(1, 2, 8, 2, 1)), 7L)
  }
  x <- switch(kind,
    normal = normal(n, p),
    integers = matrix(sample(-4:4, n * p, TRUE), n),
    orthogonal = orthogonal(),
    dependent = {
      x <- normal(n, p)
      for (j in 2:p) {
        how <- stats::runif(1L)
        if (how < .2) x[, j] <- x[, sample.int(j - 1L, 1L)] * sample(c(-1, 3), 1L)
        if (how > .7) x[, j] <- x[, 1L] + x[, sample.int(j - 1L, 1L)] + 1e-2 * (how > .9) * x[, j]
      }
      x
    },
    flat = normal(n, 2L) %*% normal(2L, p) + .1 * normal(n, p),
    few = {
      x <- normal(n, p)
      for (j in sample.int(p, sample(3L, 1L))) x[-sample.int(n, sample(2L, 1L)), j] <- 0
      x
    })
  units <- switch(sample(4L, 1L), rep(1, p), 10^stats::runif(p, -8, 8),
    sample(c(1, 1e-6), p, TRUE), 10^sample(-8:8, p, TRUE))
  x <- sweep(x, 2L, units, "*")
  colnames(x) <- paste0("v", seq_len(p))
  list(x = x, kind = kind)
}

proof_constraints <- function(p, k) {
  held <- list()
  at <- sample.int(p)
  if (stats::runif(1L) < .3) held$include <- at[seq_len(sample(min(2L, k), 1L))]
  if (stats::runif(1L) < .4) held$exclude <- setdiff(at, held$include)[seq_len(sample(max(1L, p - k - 2L), 1L))]
  if (stats::runif(1L) < .3) held$max_cor <- sample(c(.3, .5, .7, .9), 1L)
  if (stats::runif(1L) < .3) {
    held$cost <- if (stats::runif(1L) < .5) sample(5L, p, TRUE) else stats::runif(p, .1, 3)
    held$budget <- sum(held$cost[held$include]) + stats::runif(1L) * sum(held$cost)
  }
  if (stats::runif(1L) < .3) {
    held$feature_strata <- sample(c("a", "b", "c", NA), p, TRUE)
    levels <- unique(stats::na.omit(held$feature_strata))
    held$feature_quotas <- lapply(stats::setNames(nm = levels), function(level) {
      sort(sample(0:min(k, sum(held$feature_strata == level, na.rm = TRUE)), 2L, TRUE))
    })
    if (!length(levels)) held[c("feature_strata", "feature_quotas")] <- NULL
  }
  lapply(held, function(w) if (is.integer(w)) w + 0 else w)
}

# Does a set of columns have from each stratum what its quota says?
proof_counts <- function(s, held) {
  all(vapply(names(held$feature_quotas), function(level) {
    quota <- held$feature_quotas[[level]]
    count <- sum(held$feature_strata[s] == level, na.rm = TRUE)
    count >= quota[1L] && count <= quota[2L]
  }, NA))
}

# As ufs_css() sees the columns. Constant ones take no part, centred or not: they are zero in z.
proof_seen <- function(x, center, scale) {
  z <- scale(x, center, FALSE)
  spread <- sqrt(colSums(scale(x, TRUE, FALSE)^2))
  fine <- spread > 1e-10 * sqrt(colSums(x^2))
  z[, !fine] <- 0
  list(z = sweep(z, 2L, if (scale) ifelse(fine, spread, 1) else rep(1, ncol(x)), "/"), fine = which(fine))
}

# The squares of y that columns s hold; columns of unit length u say the same as those of z.
proof_held <- function(u, s, y) {
  q <- qr(u[, s, drop = FALSE], tol = 1e-5)
  sum(qr.qty(q, y)[seq_len(q$rank), ]^2)
}

# list(case, status, off): what was tried, how it ended ("proved", "open", "refused", "ambiguous" or
# "false"), and by what share of all squares the best choice holds more than the proof allows.
proof_case <- function(seed) {
  set.seed(seed)
  table <- proof_table()
  x <- table$x
  p <- ncol(x)
  k <- sample(min(5L, p), 1L)
  center <- stats::runif(1L) < .7
  scale <- stats::runif(1L) < .4
  held <- proof_constraints(p, k)
  target <- if (stats::runif(1L) < .4) sample(3L, 1L)
  seen <- proof_seen(x, center, scale)
  fine <- seen$fine
  parts <- svd(seen$z[, fine, drop = FALSE])
  case <- list(seed = seed, kind = table$kind, x = x, k = k, center = center, scale = scale, held = held, target = target)
  done <- function(status, off = 0, ...) c(list(case = case, status = status, off = off), list(...))
  rank <- sum(parts$d > 1e-7 * parts$d[1L])
  if (!is.null(target)) {
    # Of equal components no one says which is among the first.
    if (target > rank || (target < rank && parts$d[target + 1L] > (1 - 1e-4) * parts$d[target])) {
      return(done("ambiguous"))
    }
  }
  given <- if (is.null(held$budget)) k
  fit <- tryCatch(suppressMessages(suppressWarnings(ufs_css(do.call(ufs_data, c(list(x), held)),
    k = given, mu_rel = sample(c(0, .1), 1L), optimal = TRUE, target = target, center = center,
    scale = scale))), error = function(e) e)
  if (inherits(fit, "error") && !inherits(fit, "ufs_error")) return(done("error", words = conditionMessage(fit)))
  y <- if (is.null(target)) seen$z else {
    lead <- seq_len(target)
    parts$u[, lead, drop = FALSE] * rep(parts$d[lead], each = nrow(x))
  }
  u <- sweep(seen$z, 2L, pmax(sqrt(colSums(seen$z^2)), .Machine$double.xmin), "/")
  r <- abs(crossprod(proof_seen(x, TRUE, TRUE)$z))
  included <- intersect(held$include, fine)
  r[included, included] <- 0
  diag(r) <- 0
  free <- setdiff(fine, c(held$include, held$exclude))
  most <- if (is.null(given)) length(fine) else k
  choices <- lapply(0:2^length(free), function(i) NULL)[0L]
  for (size in 0:min(length(free), most - length(included))) {
    choices <- c(choices, if (size == 0L) list(integer()) else
      lapply(utils::combn(length(free), size, simplify = FALSE), function(s) free[s]))
  }
  choices <- lapply(choices, function(s) c(included, s))
  allowed <- vapply(choices, function(s) {
    length(s) > 0L && (is.null(held$budget) || sum(held$cost[s]) <= held$budget * (1 + 1e-12)) &&
      (is.null(held$max_cor) || max(r[s, s]) <= held$max_cor * (1 + 1e-12)) && proof_counts(s, held)
  }, NA)
  if (inherits(fit, "condition")) {
    # Refused: no choice of k, or none within the budget.
    # Under quotas others than as many as asked for may be impossible, which is refused, too.
    some <- if (is.null(held$feature_quotas)) any(allowed) else any(lengths(choices[allowed]) == most)
    held <- some && most <= length(fine) && length(included) <= most
    return(done(if (held) "refused wrongly" else "refused", words = conditionMessage(fit)))
  }
  total <- sum(y^2)
  value <- vapply(choices[allowed], function(s) proof_held(u, s, y), 0)
  best <- max(value) / total
  chosen <- unname(fit$solution$order)
  own <- proof_held(u, chosen, y) / total
  certificate <- fit$certificate
  claimed <- unname(certificate[if (is.null(target)) "captured" else "target"])
  fits <- any(vapply(choices[allowed], setequal, NA, chosen))
  off <- best - claimed * (1 + certificate[["gap"]])
  status <- if (!fits) "not allowed" else if (!isTRUE(abs(claimed - own) <= 1e-7)) "value" else
    if (off > 1e-7) "false" else if (certificate[["optimal"]] == 1) "proved" else "open"
  done(status, off, best = best, claimed = claimed, fit = fit, set = choices[allowed][[which.max(value)]])
}
