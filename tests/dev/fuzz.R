# Random calls of every method and, with --others (share, .3), of the other exports:
#   Rscript tests/dev/fuzz.R --calls=10000 --seed=1
# An answer, a classed error or a classed warning is fine. An error in R's own words, a fit called
# converged with a score that is not a number, or a call that takes more than --limit CPU seconds is
# printed with its seed: fuzz.R --calls=1 --seed=<that> repeats it.
source("tests/dev/common.R")
# --sweep makes no random calls: every argument of every method, of ufs_data() and of the other exports is
# given each odd value once, in a call that is legal otherwise (some 17,000; --only=pca|css takes these only).
set <- options_of(calls = 500, seed = 1, limit = 20, others = .3, sweep = FALSE, only = "")
# Some arguments are names of folders.
setwd(tempdir())

matrices <- list(
  plain = function() clustered(sample(4:30, 1), sample(2:20, 1)),
  wide = function() clustered(sample(4:12, 1), sample(15:60, 1)),
  frame = function() as.data.frame(clustered(12, 6)),
  integers = function() matrix(sample(5L, 60, TRUE), 12),
  logical = function() matrix(sample(c(TRUE, FALSE), 60, TRUE), 12),
  constant = function() cbind(clustered(12, 5), 7, 0),
  copies = function() { x <- clustered(12, 5); cbind(x, x[, 2], -x[, 3], 2 * x[, 1]) },
  same_rows = function() clustered(6, 5)[rep(1:6, 3), ], two_rows = function() clustered(6, 5)[rep(1:2, 6), ],
  huge = function() clustered(12, 6) * 1e155, tiny = function() clustered(12, 6) * 1e-170,
  denormal = function() clustered(12, 6) * 1e-310,
  mixed_units = function() clustered(12, 6) %*% diag(10^c(-150, -8, 0, 5, 80, 150)),
  offset = function() clustered(12, 6) + 1e9,
  missing = function() replace(clustered(12, 6), 5, NA), infinite = function() replace(clustered(12, 6), 5, Inf),
  text = function() matrix(letters[1:24], 6),
  factors = function() data.frame(a = rnorm(8), b = factor(1:8)),
  one_row = function() clustered(12, 6)[1, , drop = FALSE],
  no_column = function() clustered(12, 6)[, 0], one_column = function() clustered(12, 6)[, 1, drop = FALSE],
  all_constant = function() matrix(2, 8, 4),
  nothing = function() NULL, list = function() list(1, 2), vector = function() 1:10,
  same_names = function() `colnames<-`(clustered(12, 6), c("a", "a", "b", "", NA, "c")),
  latin1 = function() `colnames<-`(clustered(12, 6), c("\xe9t\xe9", letters[1:5])),
  sparse = function() if (requireNamespace("Matrix", quietly = TRUE)) {
    Matrix::Matrix(clustered(12, 8) * (runif(96) < .3), sparse = TRUE)
  } else clustered(12, 8),
  pattern = function() if (requireNamespace("Matrix", quietly = TRUE)) {
    Matrix::sparseMatrix(i = sample(12, 20, TRUE), j = sample(6, 20, TRUE), dims = c(12, 6))
  } else clustered(12, 6)
)
# Mostly legal data, so that calls get past ufs_data().
weight <- ifelse(names(matrices) %in% c("plain", "wide", "frame", "copies", "constant"), 8, 1)

odd <- list(-1, 0, 1, 2, 3, 4.5, .5, 1e-12, 1e9, NA, NA_real_, NaN, Inf, -Inf, "a", character(), NULL, c(1, 2),
  TRUE, list(), quote(x), .Machine$integer.max)
value_for <- function(name, default, wild) {
  if (name == "control") {
    return(if (!wild || runif(1) < .7) ufs_control(max_iter = sample(c(0, 1, 5, 50), 1), warn = runif(1) < .5) else
      sample(list(list(max_iter = 3), list(3), NULL, ufs_control(eps = c(1e-8, 1e-8)), ufs_control(tol = -1, max_iter = 5)), 1)[[1L]])
  }
  choices <- tryCatch(eval(default), error = function(e) NULL)
  if (!wild || runif(1) < .6) {
    if (is.logical(choices) && length(choices) == 1L) return(sample(c(TRUE, FALSE), 1))
    if (is.character(choices)) return(sample(choices, 1))
    if (is.numeric(choices) && length(choices) == 1L) return(choices * sample(c(.1, 1, 2), 1))
    return(if (wild) sample(list(1, 2, 3, .1, NULL), 1)[[1L]] else choices)
  }
  sample(odd, 1)[[1L]]
}

# Arguments of ufs_data(), which every function that takes x passes on: legal for most tables, or odd.
constraints <- function(x) {
  n <- max(NROW(x), 1L)
  p <- max(NCOL(x), 1L)
  some <- function(size, most) sample.int(size, min(size, most))
  list(features = some(p, 5), samples = some(n, 9), na = sample(c("error", "omit", "median", "knn"), 1), block_bytes = 200,
    counts = sample(c("none", "log", "tfidf"), 1), min_samples = sample(c(1, 3, .1), 1), max_samples = .9,
    rows = sample(c("center", "snv", "unit"), 1), factors = sample(c("dummies", "codes"), 1), include = some(p, 2),
    exclude = some(p, 1), cost = stats::runif(p), budget = 1, groups = rep_len(1:3, p), max_cor = .8,
    feature_strata = rep_len(c("u", "v"), p), feature_quotas = c(u = 1, v = 1), weights = stats::rexp(n),
    blocks = rep_len(1:2, p), block_scale = TRUE, candidates = some(n, 6), labelled = some(n, 2),
    replicates = rep(seq_len(n), each = 2)[seq_len(n)], sample_cost = stats::runif(n), sample_budget = 2,
    strata = rep_len(c("u", "v"), n), quotas = c(u = 1, v = 1))
}
# Those that say something only together.
pairs <- c(cost = "budget", sample_cost = "sample_budget", feature_strata = "feature_quotas", strata = "quotas",
  blocks = "block_scale")
some_constraints <- function(x) {
  all <- constraints(x)
  name <- sample(names(all), 1)
  together <- c(name, pairs[name], names(pairs)[pairs == name])
  out <- all[intersect(together, names(all))]
  if (runif(1) < .15) out[sample(length(out), 1)] <- sample(odd, 1)
  out
}

names_of <- function(list) if (is.null(names(list))) character(length(list)) else names(list)
methods <- ufs_methods()$method
one_call <- function() {
  method <- sample(methods, 1)
  wanted <- formals(registry()[[method]]$fit)
  args <- needed(method)
  # Every second call changes settings to legal values only: it gets to an answer.
  wild <- runif(1) < .5
  for (name in setdiff(names(wanted), c("x", "..."))) {
    if (runif(1) < .15) args[name] <- list(value_for(name, wanted[[name]], wild))
  }
  what <- sample(names(matrices), 1, prob = weight)
  x <- matrices[[what]]()
  if (runif(1) < .3) {
    held <- some_constraints(x)
    args <- c(args[setdiff(names(args), names(held))], held)
  }
  list(what = what, method = method, args = args, x = x)
}

# Exports that are no methods: a legal call each; some arguments are made odd or left out.
clusters_of <- function(x) factor(rep_len(1:2, max(NROW(x), 1)))
constant_class <- function(x, y, newx) rep(levels(y)[1], nrow(newx))
a_fit <- function(x) fit_of(sample(c("variance", "ted", "alfs", "facility", "random", "css", "kmeans_f"), 1), x)
others <- list(
  ufs_graph = function(x) list(x, k = 3, weights = sample(c("heat", "binary", "cosine"), 1), bandwidth = NULL,
    symmetrise = "max"),
  ufs_propagate = function(x) list(ufs_graph(x, 3), y = replace(clusters_of(x), 3:5, NA), cmn = TRUE, x = NULL),
  ufs_grid = function(x) list(x, "pca", list(n_components = 1:2), center = TRUE, keep_fits = FALSE, checkpoint = NULL),
  ufs_tune = function(x) list(x, "pca", list(n_components = 1:2), k = 2, criterion = "knn_overlap", n_starts = 3,
    n_clusters = 2),
  ufs_stability = function(x) list(x, sample(c("variance", "ted", "random"), 1), k = 2, m = 2, n_resamples = 3,
    fraction = .7, level = .9),
  ufs_compare = function(x) list(x, clusters_of(x), "variance", k = 2, m = NULL, mode = "classify",
    classifiers = list(one = constant_class), repeats = 1, train = .5, args = list(), n_random = 2, baselines = FALSE),
  ufs_select = function(x) list(x, k = 2, task = sample(c("compress", "classify", "cluster", "label"), 1), n_clusters = 2),
  ufs_data = function(x) list(x, features = NULL, samples = NULL, na = sample(c("omit", "median", "knn"), 1)),
  ufs_overlap = function(x) list(list(a = ufs_variance(x), b = ufs_pca(x, 1)), k = 2),
  ufs_consensus = function(x) list(x, n_clusters = 2, k = 2),
  ufs_diversify = function(x) list(ufs_variance(x), x, k = 2, how = "correlation", strength = .5),
  ufs_represent = function(x) list(x, theta = NULL, lambda_z = .05),
  ufs_sketch = function(x) list(x, m = 5, type = sample(c("leverage", "uniform"), 1)),
  ufs_captured = function(x) list(ufs_css(x, 2), x, k = 1, center = TRUE, scale = TRUE),
  ufs_cluster_metrics = function(x) list(rep_len(1:3, NROW(x)), clusters_of(x)),
  ufs_annotate = function(x) list(x, ufs_variance(x), k = 2),
  representatives = function(x) list(ufs_alfs(x), x, n = 2, m = 3),
  selected_features = function(x) list(a_fit(x), k = 2, as = "index"),
  selected_samples = function(x) list(a_fit(x), m = 2, as = "index"),
  cluster_labels = function(x) list(a_fit(x)), feature_scores = function(x) list(a_fit(x)),
  sample_ranking = function(x) list(a_fit(x)), coef = function(x) list(a_fit(x)),
  feature_ranking = function(x) list(a_fit(x)), sample_scores = function(x) list(a_fit(x)),
  ufs_decoys = function(x) list(x, sample(c("pca", "variance", "spec"), 1), n_components = 1, n_decoys = NULL, repeats = 2,
    share = .1, conservative = FALSE),
  ufs_size = function(x) list(x, "variance", k = NULL, repeats = 2, share = .1, n_resamples = 2),
  ufs_look = function(x) list(x, kind = NULL), ufs_split = function(x) list(x, m = 4, test = NULL, strata = NULL),
  ufs_reliability = function(x) list(x[rep(seq_len(NROW(x)), 2), ], replicates = rep(seq_len(NROW(x)), 2), fdr = .05, level = .9),
  ufs_moments = function(x) list(x, columns = NULL, weights = NULL, na = "omit"),
  ufs_register = function(x) list("fuzzed", function(x, ...) colSums(x^2), what = "features", returns = "scores",
    center = TRUE, scale = FALSE, random = FALSE, title = NULL, replace = TRUE),
  ufs_methods = function(x) list("methods"), ufs_control = function(x) list(max_iter = 3, tol = .1, eps = NULL, paper = list()),
  ufs_explore = function(x) list(a_fit(x), x, viewer = "none"),
  ufs = function(x) list(x, "medoids", m = 3),
  predict = function(x) list(a_fit(x), newdata = x, k = 2), as.data.frame = function(x) list(a_fit(x)),
  summary = function(x) list(a_fit(x)), print = function(x) list(a_fit(x)),
  plot = function(x) list(a_fit(x), sample(c("scores", "objective", "residuals", "nonsense"), 1), k = 2)
)
other_call <- function() {
  name <- sample(names(others), 1)
  what <- sample(names(matrices), 1, prob = weight)
  x <- matrices[[what]]()
  # The fits inside the call are made from legal data; `x` itself may then be anything.
  args <- suppressMessages(suppressWarnings(tryCatch(others[[name]](x), error = function(e) NULL)))
  if (is.null(args)) {
    legal <- clustered(12, 6)
    args <- suppressMessages(suppressWarnings(others[[name]](legal)))
    args[vapply(args, identical, NA, legal)] <- list(x)
  }
  for (i in seq_along(args)) {
    if (i > 1 && runif(1) < .12) args[i] <- list(sample(odd, 1)[[1L]])
  }
  # Arguments that the legal call leaves out.
  more <- setdiff(names(formals(name)), c(names(args), "...", "control", "checkpoint", "viewer"))[-seq_along(args[names(args) == ""])]
  if (length(more) && runif(1) < .3) args[sample(more, 1)] <- sample(odd, 1)
  if (runif(1) < .2 && "..." %in% names(formals(name))) {
    held <- some_constraints(x)
    args <- c(args[!names_of(args) %in% names(held)], held)
  }
  if (runif(1) < .05) args <- args[-sample(length(args), 1)]
  if (runif(1) < .05) args$foo <- 1
  list(what = what, method = name, args = args, x = x, other = TRUE)
}
after_other <- function(out) {
  if (is.null(attr(out, "class"))) return()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  has_plot <- inherits(out, c("ufs", "ufs_grid", "ufs_compare", "ufs_stability", "ufs_overlap", "ufs_graph"))
  sample(list(function() utils::capture.output(print(out)),
    function() if (has_plot) plot(out),
    function() if (inherits(out, c("ufs_grid", "ufs_compare", "ufs_stability"))) as.data.frame(out)), 1)[[1L]]()
}

after <- function(fit, x) {
  k <- sample(odd, 1)[[1L]]
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  sample(list(
    function() utils::capture.output(print(fit)), function() utils::capture.output(print(summary(fit))),
    function() plot(fit), function() plot(fit, k = k), function() as.data.frame(fit),
    function() if (!is.null(fit$feature_scores)) selected_features(fit, k) else selected_samples(fit, k),
    function() if (!is.null(fit$feature_scores)) predict(fit, x, k = k) else as.data.frame(fit)
  ), 1)[[1L]]()
}

outcome <- function(call) {
  started <- proc.time()[[1L]]
  quietly <- function(code) suppressMessages(withCallingHandlers(code,
    warning = function(w) if (inherits(w, "ufs_warning")) invokeRestart("muffleWarning")))
  step <- "fit"
  out <- tryCatch({
    # On a busy machine a second of work takes several.
    setTimeLimit(cpu = set$limit, elapsed = 20 * set$limit, transient = TRUE)
    if (isTRUE(call$other)) {
      grDevices::pdf(NULL)
      on.exit(grDevices::dev.off())
      utils::capture.output(out <- quietly(do.call(call$method, call$args, quote = TRUE)))
      step <- "after"
      quietly(after_other(out))
      return(list(out = "answer", step = step, seconds = 0))
    }
    fit <- quietly(do.call(ufs, c(list(x = call$x, method = call$method), call$args), quote = TRUE))
    score <- c(fit$feature_scores[setdiff(seq_len(fit$p), fit$constant)],
      fit$sample_scores[setdiff(seq_len(fit$n), fit$params$labelled)])
    # Those that may not be chosen have none.
    if (any(c("exclude", "candidates") %in% names(call$args))) score <- score[!is.na(score) | is.nan(score)]
    if (fit$status == "converged" && !all(is.finite(score))) "NOT A NUMBER" else {
      step <- "after"
      quietly(after(fit, call$x))
      "answer"
    }
  }, ufs_error = function(e) "classed error", warning = function(w) paste("UNCLASSED WARNING:", conditionMessage(w)),
  error = function(e) {
    said <- conditionMessage(e)
    # R itself, before any of our code runs: it names the argument.
    own <- isTRUE(call$other) && grepl("^unused argument|^argument \"[a-z_]+\" is missing, with no default", said)
    # Two thousand million starts take their time, and can be interrupted.
    late <- if (isTRUE(call$args$n_starts > 1e6)) "as long as asked" else "TIME"
    if (grepl("time limit", said)) late else if (own) "R's own words" else paste("UNCLASSED ERROR:", said)
  }, finally = setTimeLimit())
  list(out = out, step = step, seconds = proc.time()[[1L]] - started)
}

# Names of a column may be no text.
as_text <- function(a) tryCatch(substr(paste(deparse(a), collapse = ""), 1, 40), error = function(e) class(a)[1L])

# All calls of --sweep, each with one odd value.
sweep_calls <- function() {
  set.seed(set$seed)
  x <- clustered(12, 6)
  calls <- list()
  add <- function(method, args, x, other) {
    calls[[length(calls) + 1L]] <<- list(what = "plain", method = method, args = args, x = x, other = other)
  }
  with_odd <- function(method, args, name, x, other) {
    for (value in odd) {
      args[name] <- list(value)
      add(method, args, x, other)
    }
  }
  wanted <- function(name) grepl(set$only, name)
  for (method in Filter(wanted, methods)) {
    for (name in setdiff(names(formals(registry()[[method]]$fit)), c("x", "..."))) {
      with_odd(method, needed(method), name, x, FALSE)
    }
    # A list that ufs_control() has not seen.
    for (name in setdiff(names(formals(ufs_control)), "...")) for (value in odd) {
      add(method, c(needed(method), list(control = stats::setNames(list(value), name))), x, FALSE)
    }
  }
  for (method in Filter(wanted, c("css", "facility"))) for (name in names(constraints(x))) {
    partner <- constraints(x)[intersect(c(pairs[name], names(pairs)[pairs == name]), names(constraints(x)))]
    with_odd(method, c(needed(method), list(swaps = 0)[method == "css"], partner), name, x, FALSE)
  }
  for (name in Filter(wanted, names(others))) {
    args <- suppressMessages(suppressWarnings(others[[name]](x)))
    more <- setdiff(names(formals(name)), c(names(args), "...", "viewer"))
    more <- utils::tail(more, length(more) - sum(!nzchar(names_of(args))))
    # R itself looks at the object of its own generics.
    own <- name %in% c("coef", "predict", "plot", "print", "summary", "as.data.frame")
    for (i in seq_along(args)[!own | seq_along(args) > 1L]) with_odd(name, args, i, x, TRUE)
    for (argument in more) with_odd(name, args, argument, x, TRUE)
  }
  calls
}

count <- list()
failed <- 0
calls <- if (set$sweep) sweep_calls()
if (length(calls)) set$calls <- length(calls)
for (i in seq_len(set$calls)) {
  seed <- set$seed + i - 1
  set.seed(seed)
  call <- if (length(calls)) calls[[i]] else if (runif(1) < set$others) other_call() else one_call()
  result <- outcome(call)
  kind <- sub(":.*", "", result$out)
  count[[kind]] <- c(count[[kind]], i)
  if (grepl("^[A-Z ]+$", kind)) {
    failed <- failed + 1
    cat(sprintf("seed %d, %s: %s(<%s>, %s)\n  %s\n", seed, result$step,
      paste0(if (!isTRUE(call$other)) "ufs_", call$method), call$what,
      paste(names_of(call$args), vapply(call$args, as_text, ""), sep = " = ",
        collapse = ", "), substr(result$out, 1, 200)))
  }
}
cat(sprintf("  %-20s %6d\n", names(count), lengths(count)), sep = "")
finish("fuzz", set$calls, failed)
