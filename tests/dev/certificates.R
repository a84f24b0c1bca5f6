# What fits claim, recomputed in plain R: Rscript tests/dev/certificates.R --repeats=3 --data=folder
# recomputed() (helper-objective.R) takes a fit and the user's x, and gives the objective, the scores and
# the certificate that the solution stands for. Here it meets every method on kinds of data that broke a
# claim once: one-hot columns with sums among them, repeated and dependent columns, blocks that
# are the same, few rows; with small and large penalties; stopped after 1, 3 and 10 iterations and run
# long. For convex problems no bound may lie above the objective of any of these runs. With
# --data, parts of its sets as well. --methods=css,ted takes these only. --show=yes prints every claim
# that failed with both numbers.
source("tests/dev/common.R")
source("tests/testthat/helper-objective.R")
set <- options_of(repeats = 1, seed = 100, data = "", show = "yes", rows = 90, columns = 40, methods = "", sizes = "6,12")
tried <- failed <- 0
count <- list()
check <- function(method, what, ok) {
  tried <<- tried + 1
  count[[method]] <<- c(count[[method]], isTRUE(ok))
  if (isTRUE(ok)) return()
  failed <<- failed + 1
  if (set$show == "yes") cat("  ", method, what, "\n")
}

# What a claim may be off by: the constraint of topk holds to 1e-6.
tolerance <- c(topk = 1e-5)
settings <- list(
  alfs = list(list(), list(lambda_rel = .01), list(alpha_rel = 1e-5, beta_rel = 1e-4), list(alpha_rel = .5),
    list(select_samples = "norm"), list(alpha_rel = .1, beta_rel = 0, select_samples = "norm")),
  rsr = lapply(c(.5, .01, 1e-3, 5e-4, 1e-5, .99), function(l) list(lambda_rel = l, coefficients = TRUE)),
  rrss = lapply(c(.1, .5, 1e-4), function(g) list(gamma_rel = g)),
  alnr = lapply(c(.1, .5, 1e-5), function(g) list(gamma_rel = g)),
  ted = list(list(), list(form = "convex"), list(mu_rel = 1e-6)),
  socfs = list(list(), list(lambda_rel = 1e-4), list(lambda_rel = .9), list(gamma = 100), list(solver = "paper")),
  jspca = list(list(), list(lambda_rel = 1e-4), list(loss = "sample"), list(lambda_rel = .9)),
  spca = list(list(), list(lambda_rel = 1e-4), list(lambda_rel = .9)),
  ndfs = list(list(gamma = 10), list(gamma = 10, beta = 1e-3), list(gamma = 10, beta = 100)),
  udfs = list(list(), list(gamma = 1e-5), list(gamma = 10)),
  sogfs = list(list(), list(gamma = 1e-5), list(gamma = 1)),
  css = list(list(k = 5), list(k = 1), list(k = 12), list(k = 5, mu_rel = 0)), facility = list(list(m = 5)),
  mcfs = list(list(), list(normalise = FALSE)))
# What a claim is off by is taken relative to this at least. Greedy choice subtracts from all squares of x:
# what is left is right to their rounding.
floor_of <- function(fit, x, what) {
  if (what == "objective" && fit$method %in% c("ted", "css")) {
    # The more, the smaller the penalty.
    return(min(1e-5, max(1e-9, 1e-11 / fit$params$mu_rel)) * sum(as_seen(fit, x)^2))
  }
  # Shares of 1, of which the small ones are differences of large numbers.
  if (what %in% c("kkt", "picks", "orthonormal", "orthogonality", "gap")) .5 else 1e-12
}
convex <- c("alfs", "rsr", "rrss", "alnr")
# Those whose control has max_iter, and what stops them late.
stopped <- list(list(), list(max_iter = 1), list(max_iter = 3), list(max_iter = 10), list(max_iter = 400, tol = 1e-8))
iterates <- c(convex, "socfs", "jspca", "spca", "ndfs", "udfs", "sogfs", "topk")

claims <- function(method, x, name) {
  for (args in if (is.null(settings[[method]])) list(list()) else settings[[method]]) {
    what <- paste(name, paste(deparse(args), collapse = ""))
    fits <- lapply(if (method %in% iterates) stopped else stopped[1L], function(stop) {
      if (method == "sogfs") stop$tol <- NULL
      tryCatch(do.call(fit_of, c(list(method, x), args,
        if (length(stop)) list(control = do.call(ufs_control, c(stop, warn = FALSE))))),
        ufs_error = function(e) NULL, error = function(e) {
          check(method, paste(what, "error:", conditionMessage(e)), FALSE)
          NULL
        })
    })
    fits <- Filter(Negate(is.null), fits)
    for (fit in fits) {
      found <- tryCatch(recomputed(fit, x), error = function(e) {
        check(method, paste(what, "recomputing:", conditionMessage(e)), FALSE)
        NULL
      })
      for (i in seq_len(NROW(found))) {
        off <- abs(found$claimed[i] - found$recomputed[i]) / max(abs(found$recomputed[i]), floor_of(fit, x, found$what[i]))
        limit <- if (method %in% names(tolerance)) tolerance[[method]] else 2e-6
        check(method, sprintf("%s, %s after %d iterations (%s): claimed %.8g, recomputed %.8g", what, found$what[i],
          fit$iterations, fit$status, found$claimed[i], found$recomputed[i]), off <= limit)
      }
    }
    if (method %in% convex && length(fits)) bounds(method, fits, what)
  }
}

# No bound above what any run attained.
bounds <- function(method, fits, what) {
  fits <- Filter(function(fit) nrow(fit$trace) > 0L && fit$status != "numerical", fits)
  if (!length(fits)) return()
  last <- lapply(fits, function(fit) utils::tail(fit$trace, 1L))
  attained <- vapply(last, function(row) if ("best" %in% names(row)) row$best else row$objective, 0)
  bound <- mapply(function(fit, value) {
    if ("dual" %in% names(fit$certificate)) fit$certificate[["dual"]] else value * (1 - fit$certificate[["gap"]])
  }, fits, attained)
  check(method, sprintf("%s, bound: %.9g above %.9g", what, max(bound), min(attained)),
    max(bound) <= min(attained) * (1 + 1e-8))
}

# ---- kinds of data ------------------------------------------------------------------------------

named <- function(x) {
  dimnames(x) <- list(NULL, paste0("f", seq_len(ncol(x))))
  x
}
kinds <- function() {
  base <- unname(clustered(30, 9))
  group <- rep_len(1:3, 30)
  list(plain = base, one_hot = cbind(outer(group, 1:3, `==`) + 0, base[, 1:4], base[, 1] + base[, 2]),
    repeated = cbind(base, base[, 1:4], base[, 1], 5), negative = cbind(base, -base[, 1:3]),
    dependent = base %*% matrix(stats::rnorm(9 * 14), 9), few = unname(clustered(6, 27)),
    wide = unname(clustered(14, 40)), copies = rbind(base, base[1:6, ]),
    blocks = rbind(cbind(base[1:15, 1:5], matrix(0, 15, 5)), cbind(matrix(0, 15, 5), base[1:15, 1:5])),
    scales = base * rep(10^seq(-4, 4), each = 30))
}
methods <- setdiff(ufs_methods()$method, c("random", "variance"))
if (nzchar(set$methods)) methods <- intersect(methods, strsplit(set$methods, ",")[[1L]])
for (rep in seq_len(set$repeats)) {
  set.seed(set$seed + rep)
  data <- kinds()
  for (name in names(data)) for (method in methods) claims(method, named(data[[name]]), name)
}
if (nzchar(set$data)) for (file in list.files(set$data, "[.]rds$", full.names = TRUE)) {
  x <- readRDS(file)$x
  if (is.data.frame(x)) x <- as.matrix(x[vapply(x, is.numeric, NA)])
  set.seed(set$seed)
  x <- x[sample.int(nrow(x), min(nrow(x), set$rows)), , drop = FALSE]
  x <- x[, sample.int(ncol(x), min(ncol(x), set$columns)), drop = FALSE]
  x <- x[, apply(x, 2L, function(v) diff(range(v)) > 0), drop = FALSE]
  for (method in setdiff(methods, c("blfse", "topk", "inffs"))) claims(method, named(unname(as.matrix(x))), basename(file))
}

# p far above n. --sizes=n: 12 takes seconds, 30 (eigen() of 1,500 columns) a minute or two.
for (n in if (nzchar(set$sizes)) as.integer(strsplit(set$sizes, ",")[[1L]])) {
  set.seed(set$seed + n)
  x <- clustered(n, 50 * n)
  once <- ufs_control(max_iter = 1, inner_max_iter = 2000, warn = FALSE)
  for (method in intersect(c("udfs", "sogfs"), methods)) for (gamma in c(1e-3, .01, .1)) {
    first <- if (method == "udfs") ufs_control(max_iter = 1, warn = FALSE) else
      ufs_control(max_iter = 1, inner_max_iter = 1, warn = FALSE)
    what <- function(...) sprintf("%d x %d, gamma %g, %s", n, 50 * n, gamma, sprintf(...))
    off <- step_off(fit_of(method, x, gamma = gamma, n_neighbours = 3, control = first), x, TRUE)
    check(method, what("first step: off by %.2g, rows by %.2g", off[1L], off[2L]), abs(off[1L]) < 1e-10 && off[2L] < 1e-7)
    last <- fit_of(method, x, gamma = gamma, n_neighbours = 3, control = if (method == "udfs") ufs_control() else once)
    off <- step_off(last, x, FALSE)
    check(method, what("last step: off by %.2g, reach %.4g", off[1L], off[3L]), abs(off[1L]) < 1e-4 && off[3L] <= 1 + 1e-3)
  }
  for (method in intersect(c("rsr", "socfs", "udfs", "sogfs"), methods)) claims(method, x, sprintf("%d x %d", n, 50 * n))
  if ("rsr" %in% methods) for (share in c(.5, .1, .01)) {
    fit <- fit_of("rsr", x, lambda_rel = share, coefficients = TRUE, control = ufs_control(max_iter = 2000, tol = 1e-9, warn = FALSE))
    best <- objectives$rsr(fit, x)
    check("rsr", sprintf("%d x %d, lambda %g: its residuals prove %.10g of %.10g", n, 50 * n, share, rsr_dual(fit, x), best),
      rsr_dual(fit, x) > best * (1 - 1e-4))
  }
}

# Blocks that are the same, too large for LAPACK: all copies of an eigenvalue count.
u <- rep(c(1, -1), 86)
block <- Matrix::Matrix(1 + .1 * outer(u, u), sparse = TRUE)
x <- methods::as(Matrix::kronecker(Matrix::Diagonal(12), block), "CsparseMatrix")
value <- svd(as.matrix(block))$d^2
bound <- function(k) sum(sort(rep(value, 12), decreasing = TRUE)[seq_len(k)]) / (12 * sum(value))
for (k in c(10, 14)) {
  fit <- fit_of("css", x, k = k, center = FALSE, scale = FALSE)
  check("css", sprintf("equal blocks, bound: claimed %.8g, recomputed %.8g", fit$certificate[["bound"]], bound(k)),
    abs(fit$certificate[["bound"]] - bound(k)) <= 1e-7)
}

# Coverage: the bound against all choices of 3 of 12 samples.
for (rep in seq_len(set$repeats)) {
  set.seed(set$seed + rep)
  small <- clustered(12, 9)
  unit <- scale(small)
  unit <- unit / sqrt(rowSums(unit^2))
  best <- max(utils::combn(12, 3, function(set) sum(apply((tcrossprod(unit) + 1)[, set], 1, max))))
  fit <- fit_of("facility", small, m = 3)
  check("facility", "the best of all is above the bound", best <= fit$certificate[["bound"]] * (1 + 1e-8))
  check("facility", "the value is above the best of all", fit$certificate[["value"]] <= best * (1 + 1e-8))
}
for (method in names(count)) cat(sprintf("  %-10s claims %5d   failed %4d\n", method, length(count[[method]]), sum(!count[[method]])))
finish("certificates", tried, failed)
