# Slow, literal R versions of the shared kernels. One helper-reference-<system>.R per
# system holds the literal versions of its solver.

rel_diff <- function(a, b) max(abs(a - b)) / max(abs(b), .Machine$double.xmin)

ref_row_norms <- function(v) apply(v, 1L, function(row) sqrt(sum(row^2)))

ref_polar <- function(a) {
  s <- svd(a)
  s$u %*% t(s$v)
}

# Bisection on the shift: slow, but obviously the projection.
ref_simplex <- function(y, total) {
  f <- function(shift) sum(pmax(y - shift, 0)) - total
  shift <- uniroot(f, c(min(y) - total, max(y)), tol = 1e-14)$root
  pmax(y - shift, 0)
}

# A planted problem: c Gaussian clusters in the first `informative` columns.
planted <- function(n = 60, p = 40, c = 3, informative = 8, seed = 1, gap = 3) {
  withr::with_seed(seed, {
    cluster <- rep_len(seq_len(c), n)
    centre <- replicate(informative, sample(seq(-gap, gap, length.out = c)))
    x <- matrix(rnorm(n * p), n)
    x[, seq_len(informative)] <- x[, seq_len(informative)] + centre[cluster, ]
    list(x = x, cluster = cluster, informative = seq_len(informative))
  })
}

noise <- function(n, p, seed = 1) withr::with_seed(seed, matrix(stats::rnorm(n * p), n))
picks_of <- function(fit) unname(fit$solution$order)

# Messages and warnings that the test is not about are dropped.
quietly <- function(code) suppressMessages(suppressWarnings(code))
quiet <- function(expr) suppressWarnings(expr, classes = "ufs_warning")

# How many vectors of at least 90 % of the size of x an expression allocates.
large_allocations <- function(expression, x) {
  file <- tempfile()
  on.exit(unlink(file))
  utils::Rprofmem(file, threshold = .9 * 8 * length(x))
  value <- tryCatch(force(expression), finally = utils::Rprofmem(NULL))
  sum(grepl("^[0-9]+ ?:", readLines(file)))
}

# The arguments that a method cannot do without, or has to be told; a fit of any method with it, from one seed.
needed <- function(method) {
  row <- registry()[[method]]
  given <- list(n_clusters = 3, n_components = 2, k = 4, m = 5, what = "both")
  given[intersect(names(given), c(required_arguments(row$fit), row$per_k, switch(method, topk = "n_clusters", random = "what")))]
}
fit_of <- function(method, x, ..., hear = suppressWarnings, seed = 1) {
  given <- utils::modifyList(needed(method), list(...))
  withr::with_seed(seed, suppressMessages(hear(do.call(ufs, c(list(x = x, method = method), given)))))
}

# A fit whose settings of the published method stand among the other arguments.
published <- function(method, ...) {
  do.call(paste0("ufs_", method), paper_in_control(list(...), registry()[[method]]), quote = TRUE)
}

# Class and message of an error, exactly: how testthat prints an error differs between its versions.
expect_words <- function(call, class, ...) {
  testthat::expect_identical(conditionMessage(testthat::expect_error(call, class = class)), paste0(...))
}

# Some words of a refusal, on the way to which anything may be said, and the argument that it names.
expect_refused <- function(call, words, class = "ufs_error_argument", argument = error$argument) {
  error <- testthat::expect_error(suppressWarnings(suppressMessages(call)), words, fixed = TRUE, class = class)
  if (!missing(argument)) testthat::expect_identical(error$argument, argument)
}

# A table of calls that are refused, each under words of its message, or under none; errors name arguments.
expect_refusals <- function(..., class = "ufs_error_argument") {
  calls <- eval(substitute(alist(...)))
  env <- parent.frame()
  for (i in seq_along(calls)) {
    label <- paste(deparse(calls[[i]]), collapse = " ")
    quietly <- function() suppressWarnings(suppressMessages(eval(calls[[i]], env)))
    error <- testthat::expect_error(quietly(), class = class, label = label)
    testthat::expect_match(c(error$argument, "x")[1L], "^[A-Za-z.][A-Za-z0-9_.$]*$", label = label)
    words <- names(calls)[i]
    if (!length(words) || !nzchar(words)) next
    said <- conditionMessage(error)
    testthat::expect_true(grepl(words, said, fixed = TRUE) || grepl(words, said), label = paste0(label, ": ", said))
  }
}

# A table of calls that are refused, each under the argument that the error names.
expect_arguments <- function(...) {
  calls <- eval(substitute(alist(...)))
  env <- parent.frame()
  for (i in seq_along(calls)) {
    label <- paste(deparse(calls[[i]]), collapse = " ")
    quietly <- function() suppressWarnings(suppressMessages(eval(calls[[i]], env)))
    error <- testthat::expect_error(quietly(), class = "ufs_error_argument", label = label)
    testthat::expect_identical(error$argument, names(calls)[i], label = label)
  }
}

# Whether CRAN's tier of the tests runs (CONTRIBUTING.md): for blocks that take less data there.
on_cran <- function() !identical(tolower(Sys.getenv("NOT_CRAN")), "true")

# What one room does for all methods is tested with each of them, in CRAN's tier with one of each kind of fit.
each_kind <- c("alfs", "blfse", "consensus", "medoids", "socfs", "topk")
skip_most_on_cran <- function(method) if (!method %in% each_kind) testthat::skip_on_cran()

# Blocks that start other processes: not on CRAN, nor under what watches the native code of one process.
skip_processes <- function() {
  testthat::skip_on_cran()
  testthat::skip_if(identical(Sys.getenv("UFSELECT_ONE_PROCESS"), "true"), "one process")
}

# Centred and scaled; two of the four ways in CRAN's tier.
all_four <- list(c(TRUE, TRUE), c(FALSE, FALSE), c(TRUE, FALSE), c(FALSE, TRUE))
if (on_cran()) all_four <- all_four[1:2]
