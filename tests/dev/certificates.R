# What fits claim, recomputed in plain R on random data: Rscript tests/dev/certificates.R --repeats=5
# The objective of every method from its solution; dual <= primal; gaps not negative; the bound of
# the top-k selection and of coverage against brute force on small problems.
source("tests/dev/common.R")
source("tests/testthat/helper-objective.R")
set <- options_of(repeats = 3, seed = 100)
tried <- failed <- 0
check <- function(what, ok) {
  tried <<- tried + 1
  if (!isTRUE(ok)) {
    failed <<- failed + 1
    cat("  ", what, "\n")
  }
}
for (rep in seq_len(set$repeats)) for (shape in list(c(30, 9), c(12, 30), c(40, 40))) {
  set.seed(set$seed + rep)
  x <- clustered(shape[1], shape[2])
  x <- cbind(x, x[, 1:2], 5)
  x <- rbind(x, x[3, ])
  colnames(x) <- paste0("f", seq_len(ncol(x)))
  for (method in intersect(names(objectives), ufs_methods()$method)) {
    args <- switch(method, rsr = list(coefficients = TRUE), facility = list(m = 5), css = list(k = 5), ndfs = list(gamma = 10), list())
    fit <- do.call(fit_of, c(list(method, x), args))
    last <- utils::tail(fit$trace$objective, 1)
    check(paste(method, "objective", paste(shape, collapse = "x")), isTRUE(all.equal(objectives[[method]](fit, x), last, tolerance = 1e-5)))
    if ("gap" %in% names(fit$certificate)) check(paste(method, "gap is negative"), isTRUE(fit$certificate[["gap"]] > -1e-9))
    if (all(c("dual", "gap") %in% names(fit$certificate))) {
      check(paste(method, "dual above the objective"), fit$certificate[["dual"]] <= last * (1 + 1e-9) + 1e-12)
    }
    if ("bound" %in% names(fit$certificate) && "value" %in% names(fit$certificate)) {
      check(paste(method, "value above its bound"), fit$certificate[["value"]] <= fit$certificate[["bound"]] * (1 + 1e-9))
    }
  }
  # Coverage: the bound against all choices of 3 of the first 12 samples.
  small <- x[seq_len(12), ]
  s <- { u <- scale(small); u[is.na(u)] <- 0; l <- sqrt(rowSums(u^2)); u <- u / ifelse(l > 0, l, 1); tcrossprod(u) + 1 }
  diag(s) <- 2
  best <- max(utils::combn(12, 3, function(set) sum(apply(s[, set], 1, max))))
  fit <- fit_of("facility", small, m = 3)
  check("facility: the best of all is above the bound", best <= fit$certificate[["bound"]] * (1 + 1e-8))
  check("facility: the value is above the best of all", fit$certificate[["value"]] <= best * (1 + 1e-8))
}
finish("certificates", tried, failed)
