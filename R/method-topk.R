#' Exactly k features, with no labels, a few or all (top-k 0-1 integer programming)
#'
#' Chooses a set of exactly `k` features together with a grouping of the samples that these features
#' explain. Use it when the number of features is fixed in advance and some samples, or all, have
#' labels; it also works without any. For other numbers fit again: the best `k + 1` features
#' need not contain the best `k`.
#'
#' # Which case is yours
#' * No labels (`y = NULL`): the samples are divided into `n_clusters` clusters, which take the
#'   place of labels.
#' * Some labels (`y` with `NA`): the given labels are kept, and the others follow along a graph of
#'   the samples (see [ufs_propagate()]). Every class needs a labelled sample.
#' * All labels (`y` complete): the features are those on which a ridge regression of the classes
#'   fits best. This is fast and needs no n x n matrix when p <= n. With `structured = TRUE` the
#'   full model is fitted with the labels fixed.
#'
#' To label the remaining samples rather than to choose features, a linear support vector machine
#' is usually better, and `ufs_propagate(ufs_graph(x), y)` often, at a fraction of the time.
#'
#' # How good the set is
#' The set is not a ranking that was cut: it minimises the criterion among sets of `k` features, as
#' far as the search found. `certificate` says how far that can be from the best set for the same
#' labels and graph: `selection_objective` is the criterion of the set, `bound` a proved lower bound
#' for all sets of `k` features, and `gap` their difference divided by |bound|. With
#' `branch_and_bound = TRUE` the function tries to close the gap within `node_limit` relaxations,
#' which is practical for p up to about 30, or if the gap is small already. Labels, graph and set
#' are found in turns, and nothing is claimed about the best of all three together.
#'
#' # Settings
#' Most users set `k`, `n_clusters` or `y`, and nothing else. The measurements behind the defaults
#' are in `vignette("evidence")`.
#' * `alpha_e` decides how many links the graph has: none below 1, more the larger it is. Too small
#'   a value isolates samples, which a warning says; too large a one joins samples by
#'   noise where n > p. The default is the authors' value; on small data, try 3 to 5.
#' * `nonnegative = TRUE` forbids negative weights in the graph. Around the centre of the data
#'   a sample is otherwise linked with those on the opposite side. It is the default with labels;
#'   without labels the paper's weights are. Neither is the better one on all data
#'   (`vignette("evidence")`).
#' * `solver = "paper"` runs the iterations of the paper, to reproduce it. `"auto"` solves the same
#'   problem in less time and ends at a lower objective; `params$solver` names the way it took.
#'   The better objective need not give the better labels.
#'
#' # As published
#' Settings of the published method that few users change are given in `control`, for example
#' `control = ufs_control(paper = list(lambda_i = 1))`. `fit$params` has the values used.
#' * `lambda_e` (`NULL`): the weight of the error `E`, in place of `alpha_e`; `NULL` takes
#'   `alpha_e` divided by the largest l1 norm of a sample (after each sample is scaled to unit
#'   length).
#' * `lambda_z` (.05): the weight of the structure penalty on `Z`; 0 switches it off.
#' * `lambda_a` (.01): the ridge penalty on `A`, a positive number.
#' * `lambda_i` (3): the weight of the graph in the choice of features. It is taken as 0 when
#'   `y` is complete and `structured = FALSE`.
#' * `alpha` (.95): the share of the labels in `Theta`; the rest is the distance of projected
#'   samples.
#' * `polish` (`TRUE`): is the set improved by swapping single features, best swap first? The
#'   paper's is not.
#' * `cmn` (`FALSE`): are the propagated labels corrected for the class sizes (class mass
#'   normalisation)? [ufs_propagate()] explains how.
#' * `structured` (`FALSE`): with a complete `y`, is the full model fitted?
#' * `nonnegative` (`TRUE` where `y` is given): is `Z >= 0` required?
#' * `bound` (`TRUE`): is the lower bound computed? Its rounded solution is polished, too.
#' * `branch_and_bound` (`FALSE`): is the set proved optimal, if possible? This needs `bound =
#'   TRUE`.
#' * `node_limit` (10000): the largest number of relaxations that branch and bound may solve.
#'
#' # The model
#' With `x` (n x p, rows of unit length), `V = diag(v)` and one-hot labels `Y` (classes x n), the
#' function minimises
#' \deqn{\|Z\|_1 + \lambda_e\|E\|_1 + \lambda_z\alpha\,tr(YLY') + \beta(\|Y - P\|_F^2 +
#'   \lambda_a\|A\|_F^2 + \lambda_i\,tr(PLP')), \quad P = AVx'}{
#'   ||Z||_1 + lambda_e ||E||_1 + lambda_z alpha tr(YLY') + beta (||Y - P||^2 +
#'   lambda_a ||A||^2 + lambda_i tr(P L P')),  P = A V x'}
#' subject to `x = Zx + E`, `diag(Z) = 0`, `v` in `{0,1}`, `sum(v) = k`. Each sample is a sparse
#' combination `Z` of others plus an error `E`, `L` is the Laplacian of the graph `W = (|Z| +
#' |Z|')/2`, and the chosen features must predict labels that are smooth on it;
#' `beta = lambda_z (1 - alpha) / lambda_i` (1 if `lambda_i = 0`). Three steps alternate: `Z` and
#' `E`, the labels, and `A` and `v`, until the penalties `Theta` on the links settle. The objective
#' may rise on the way, because the label step minimises only one part of it. Solvers, cost, and
#' departures from the paper (corrected signs and thresholds; a polished set, `polish = FALSE` for
#' the paper's) are in `vignette("methods-and-mathematics")`.
#'
#' @inheritParams ufs_kmeans_f
#' @param k The number of features to choose, from 1 to p.
#' @param n_clusters The number of clusters, from 1 to n. It is needed when `y = NULL`.
#' @param y The labels: `NULL` for none, or one label per sample (a factor, or a vector that can
#'   become one) with `NA` where the label is unknown. Every class needs a labelled sample.
#' @param alpha_e The weight of the error `E`, as a multiple of the value at which the first link
#'   appears. It is free of the scale of the data. If it is not given and 10 links fewer samples
#'   than there are clusters, as on wide noisy data, twice the value at which half of the samples
#'   have a link is taken; a message says so, and `params$alpha_e` has it.
#' @param center,scale Should the columns be centred and standardised first? Every sample is then
#'   scaled to unit length in any case. With `center = FALSE` a constant column other than zero acts
#'   as an intercept and may be chosen. A centred
#'   one is zero, and is chosen only if `k` exceeds the number of the others.
#' @param control Iteration limits and tolerances, made by [ufs_control()]. `max_iter`
#'   (default 10) and `tol` (1e-5, on the largest change of `Theta`) belong to the outer loop.
#'   `inner_max_iter` (500) and `inner_tol` (1e-6, where `"auto"` takes `"admm"` 1e-4; the largest
#'   residual) belong to the ADMM for `Z`; the tolerance is also that of the ADMM for `v`.
#' @param solver `"auto"`, or `"paper"` for the two ADMMs of the paper; see "Choosing the settings".
#' @return A fit of class `c("ufs_topk", "ufs")`. `feature_scores` is the squared norm of the
#'   feature's column of `A`, and zero for features that were not chosen.
#'
#'   `solution` holds `selected` (indices, ascending), `v` (0/1), `v_cont` (the last iterate of the
#'   paper's ADMM, or the relaxed `v`), `A` (classes x p) and `cluster` (class or cluster number of
#'   every sample); with `bound = TRUE` also `relaxed` (the relaxed `v`). If the graph was learnt,
#'   it holds `Z` (n x n; row i rebuilds sample i: `x = Z x + E` for the normalised `x`), `E` (n x
#'   p), `W` and `Theta` (n x n; `Theta` for up to 1,000 samples only, beyond which it is easily
#'   made: `alpha` where the clusters of two samples differ, plus `(1 - alpha)/2` times the squared
#'   distance of their columns of `A x'`). If labels were propagated, it holds `probability` (n x
#'   classes), `label` (factor) and `reached`.
#'
#'   `trace` has one row per outer iteration: the joint objective, the change of `Theta`,
#'   the iterations, objective and residual of sub-problem 1 (`z_`), the iterations and residual of
#'   sub-problem 2 (`v_`), `g` before and after polishing, the number of swaps and of labels that
#'   moved. With the solver `"exact"`, `z_iterations` counts pivots and `z_residual` is the relative
#'   duality gap (below 1e-8); with `"admm"`, `z_iterations` is 0 where `Z` was kept because the new
#'   weights changed its objective by less than 1e-4 of it. With either `v_iterations` counts
#'   evaluations of the relaxation and `v_residual` is its relative gap (0 and `NA` where the labels
#'   stayed and the set before was polished).
#'
#'   `inner` holds the residuals and objective of both ADMMs of the paper for each of their
#'   iterations. `certificate` holds the objective, bound and gap of the selection.
#' @references Zhang, Fan, Wang, Zhou, Tao (2021) Top-k feature selection framework using
#'   robust 0-1 integer programming. IEEE Transactions on Neural Networks and Learning
#'   Systems 32(7), 3005-3019. \doi{10.1109/TNNLS.2020.3009209}
#'
#'   Birgin, Martinez, Raydan (2000) Nonmonotone spectral projected gradient methods on convex sets.
#'   SIAM Journal on Optimization 10(4), 1196-1211 (for the bound). \doi{10.1137/S1052623497330963}
#' @seealso [ufs_propagate()] and [ufs_represent()] for the two parts on their own, [plot.ufs()].
#' @section Plots:
#' Beside the types of [plot.ufs()] there is `"affinity"`, the learnt links between samples, ordered
#' by cluster.
#' @examples
#' # Three features that explain three groups of cars
#' fit <- ufs_topk(mtcars, k = 3, n_clusters = 3, alpha_e = 4)
#' fit
#' selected_features(fit)
#' fit$certificate["gap"]
#'
#' # Ten labels per species; the other labels are propagated
#' y <- iris$Species
#' y[-c(1:10, 51:60, 101:110)] <- NA
#' fit <- ufs_topk(iris[, 1:4], k = 2, y = y)
#' selected_features(fit)
#' mean(fit$solution$label == iris$Species)
#' @export
ufs_topk <- function(x, k, ..., n_clusters = NULL, y = NULL,
                     solver = c("auto", "paper", "exact", "admm"), center = TRUE, scale = TRUE,
                     control = ufs_control(), alpha_e = 10) {
  run_fit("topk", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_topk <- function(data, control, k, n_clusters, y, lambda_e, alpha_e, lambda_z, lambda_a,
                       lambda_i, alpha, polish, cmn, structured, nonnegative, bound,
                       branch_and_bound, node_limit, solver, given, ...) {
  control$max_iter <- check_count(control$max_iter, "max_iter", 1L)
  k <- data$k
  default <- !any(c("alpha_e", "lambda_e") %in% given)
  classes <- topk_classes(y, n_clusters, data$n)
  if (structured && !classes$complete) {
    refuse("structured", "structured = TRUE needs a complete `y`.")
  }
  mode <- if (is.null(classes$known)) "cluster" else if (!classes$complete) "propagate" else
    if (structured) "structured" else "plain"
  longest <- max(l1_norms(data$x))
  if (branch_and_bound && !bound) {
    refuse("branch_and_bound", "`branch_and_bound` needs bound = TRUE.")
  }
  own <- list_of(lambda_e = topk_lambda_e(longest, lambda_e, alpha_e),
    lambda_z = check_number(lambda_z, "lambda_z", lower = 0),
    lambda_a = check_number(lambda_a, "lambda_a", lower = 0, open = TRUE),
    lambda_i = if (mode == "plain") 0 else check_number(lambda_i, "lambda_i", lower = 0),
    alpha = check_number(alpha, "alpha", 0, 1), polish, cmn,
    nonnegative = check_flag(nonnegative, "nonnegative"), bound, branch_and_bound,
    node_limit = check_count(node_limit, "node_limit", 1L, 1e7L))
  # The choice itself looks at n x n similarities.
  if (solver == "auto") check_topk_bytes(data$n, ncol(data$x), mode, solver, own)
  if (solver == "auto") solver <- topk_solver(data$x, mode, classes$c, c(own, topk_fixed))
  control <- resolve_control(control, inner_tol = if (solver == "admm") 1e-4 else 1e-6)
  check_included(data, list(k = k))
  must <- topk_must(data$held, ncol(data$x))
  # It counts columns: as many as k variables have in the mean.
  size <- ceiling(k * length(data$keep) / usable(data))
  size <- as.integer(min(size, if (is.null(must)) size else sum(must >= 0L)))
  quota <- whole_quotas(data$held, size, ncol(data$x))
  settings <- c(own, topk_fixed, topk_budget(data, must, size, quota), list(n_clusters = classes$c,
    must = must, quota = quota, k = size,
    mode = match(mode, topk_modes) - 1L, solver = match(solver, topk_solvers) - 1L),
    control[c("inner_max_iter", "inner_tol")])
  check_topk_bytes(data$n, ncol(data$x), mode, solver, settings)
  found <- topk_run(data, classes, settings, control)
  if (found$run$counters[["too_few_links"]] == 1 && default) {
    # The default is the authors', for data with more in common.
    other <- topk_other_alpha_e(data, settings, longest, control$warn)
    if (!is.null(other)) {
      settings$lambda_e <- other / longest
      found <- topk_run(data, classes, settings, control)
    }
  }
  if (found$run$counters[["too_few_links"]] == 1) {
    ufs_abort("isolated", "Only ", data$n - topk_isolated(found$w), " of ", data$n,
      " samples are linked to another one: too few for ", classes$c, " clusters. Raise `",
      if (is.null(lambda_e)) "alpha_e" else "lambda_e", "`: the first link appears at alpha_e = ",
      signif(min(link_values(data$x, settings$lambda_z, settings$nonnegative)), 3L), ".",
      argument = "alpha_e")
  }
  topk_fields(found, data, classes, mode, control, params = c(
    list_of(mode, k, n_clusters = classes$c, solver), settings[names(own)],
    list(alpha_e = settings$lambda_e * longest)))
}

# In the order of the C enums.
topk_modes <- c("cluster", "propagate", "structured", "plain")
topk_solvers <- c("paper", "exact", "admm")

# Constants of the solver: rho, mu and v_max_iter are the authors'; 200 evaluations are several
# times what relaxations take, and bound_tol is a tenth of the last digit of a gap that is printed.
topk_fixed <- list(rho = 1.1, mu = 1, v_max_iter = 150L, bound_max_iter = 200L, bound_tol = 1e-5)

# 1 for columns that must be in, -1 for those that may not be, 0 for the others; NULL without any.
topk_must <- function(held, q) {
  if (!length(held$include) && !length(held$exclude)) return(NULL)
  replace(replace(integer(q), held$include, 1L), held$exclude, -1L)
}

# list(cost, budget) where there is a budget, which must pay for `size` columns.
topk_budget <- function(data, must, size, quota) {
  held <- data$held
  if (is.null(held$budget)) return(NULL)
  if (is.null(must)) must <- integer(length(held$cost))
  least <- order(-must, held$cost)
  least <- least[must[least] >= 0L]
  least <- if (is.null(quota)) least[seq_len(size)] else
    least[walk_quotas(new_quota_walk(quota, quota$level[least]), size)]
  if (sum(held$cost[least]) > held$budget * (1 + 1e-12)) {
    refuse("budget", "`budget` is ", format(held$budget), ", less than the ",
      format(sum(held$cost[least])), " that the ", size, " cheapest columns cost",
      if (any(must > 0L)) " with those that must be in", if (!is.null(quota)) " within the quotas",
      ": ",
      some_columns(data$features[data$keep[least]]), ". ufs_topk() chooses exactly `k`.")
  }
  held[c("cost", "budget")]
}

topk_run <- function(data, classes, settings, control) {
  check_solved(.Call(C_topk, data$x, classes$known, settings, topk_names(data), control), "topk")
}

# Another alpha_e if it links too few samples: twice the value that links half, or NULL if that is
# less.
topk_other_alpha_e <- function(data, settings, longest, say) {
  other <- 2 * stats::median(link_values(data$x, settings$lambda_z, settings$nonnegative))
  if (!is.finite(other) || other <= settings$lambda_e * longest) return(NULL)
  if (say) {
    ufs_inform("alpha_e", "ufs_topk(): alpha_e = ", signif(settings$lambda_e * longest, 3L),
      " links too few samples of these data; ", signif(other, 3L), " is taken, twice the ",
      "value at which half of them have a link.")
  }
  other
}

# Samples without a link, but for those that rounding made.
topk_isolated <- function(w) if (is.null(w)) 0L else sum(colSums(w) <= 1e-12 * max(w))

# Fields for new_ufs().
topk_fields <- function(found, data, classes, mode, control, params) {
  counters <- found$run$counters
  alike <- same_penalty(equal_columns(data$x), topk_must(data$held, ncol(data$x)))
  alike <- same_penalty(alike, priced(data$held))
  # The set with indices from 1, and v. Of equal columns the first ones, as many as were chosen: g
  # is the same, and so are their rows of A.
  first <- same_penalty(alike, data$held$feature_strata$level)
  chosen <- found$chosen + 1L
  group <- first[chosen]
  place <- stats::ave(chosen, group, FUN = seq_along)
  members <- order(first)
  taken <- members[match(group, first[members]) + place - 1L]
  rows <- found$a[chosen, , drop = FALSE]
  found$a[] <- 0
  found$a[taken, ] <- rows
  found$chosen <- sort(taken)
  found$v <- as.double(seq_along(first) %in% taken)
  chosen <- unique(data$keep[found$chosen])
  # A constant column that was chosen has a score like the others.
  data$constant <- if (isFALSE(data$center)) integer() else setdiff(data$constant, chosen)
  list_of(
    data, control, params, run = found$run,
    advice = if (mode != "plain" && params$solver == "paper" &&
        isTRUE(utils::tail(found$run$trace[, "z_residual"], 1L) >= control$inner_tol)) {
      "The ADMM for Z did not reach inner_tol within inner_max_iter."
    },
    feature_scores = rowSums(found$a^2), feature_key = found$v,
    solution = topk_solution(found, chosen, classes, mode, data, params$alpha),
    certificate = c(counters[c("selection_objective", "bound")],
      gap = (counters[["selection_objective"]] - counters[["bound"]]) / abs(counters[["bound"]])),
    inner = list(z = as.data.frame(found$inner_z), v = as.data.frame(found$inner_v)),
    graph = c(isolated = topk_isolated(found$w), unreached = sum(found$reached == 0L)),
    search = list(nodes = as.integer(counters[["nodes"]]), proved = counters[["proved"]] == 1),
    coef_name = "A",
    # The certificate is of the set that the solver found; one that the ranking changed, for
    # constraints that the solver does not see, has none.
    finish = function(fit) {
      chosen <- suppressMessages(selected_features(fit, as = "index"))
      if (!setequal(chosen, fit$solution$selected)) {
        fit$certificate[c("selection_objective", "gap")] <- NA_real_
        fit$search$proved <- FALSE
      }
      warn_topk(fit)
    }
  )
}

# Theta is given for up to so many samples (8 MB), or would be a third of what is returned.
topk_theta_limit <- 1000L

# Centred and scaled columns, then samples of unit length, whatever their scale; those that are
# zero but for rounding stay as they are. Centred constant columns are zero and change nothing but
# the shape of the problem: they are left out unless k needs them.
topk_data <- function(x, center, scale, k) {
  data <- withCallingHandlers(
    as_ufs_matrix(x, center, scale, squares = FALSE, keep_constant = !isTRUE(center)),
    # This warning holds for centred columns only.
    ufs_warning_constant = function(w) if (!center) invokeRestart("muffleWarning")
  )
  k <- check_count(k, "k", 1L, data$p, "the features of `x`")
  if (k > usable(data)) {
    data <- as_ufs_matrix(open_quietly(x), center, scale, squares = FALSE, keep_constant = TRUE)
  }
  data$x <- .Call(C_unit_rows, data$x, 1e-12, FALSE)$x
  data$k <- k
  data
}

# The l1 norms of the samples, by few columns at a time.
l1_norms <- function(x) {
  sum <- 0
  for (from in seq(1L, ncol(x), by = 64L)) {
    sum <- sum + rowSums(abs(x[, from:min(from + 63L, ncol(x)), drop = FALSE]))
  }
  sum
}

# Without Z, the paper's ADMM for v, whose set is often the better one to start from, if 150
# iterations of it take less than about a second; otherwise the relaxation, in a few dozen.
# With Z, the cheaper way to it, in CPU time: linear programmes, unless samples have so many links
# that their first round would take seconds and more than 50 iterations of the ADMM. Six samples
# tell, the same ones in whatever order they come, and no more of them than it takes.
topk_solver <- function(x, mode, classes, settings) {
  n <- as.double(nrow(x))
  p <- as.double(ncol(x))
  if (mode == "plain") {
    r <- min(n, p)
    return(if (150 * (r^2 * (p + r) + 40 * r * p * classes) < 2e9) "paper" else "exact")
  }
  rows <- order(l1_norms(x))[evenly(n, 6L)]
  # Most optima take fewer pivots; more of them are counted as so many.
  settings$most_pivots <- as.integer(60 * sqrt(n))
  links <- pivots <- 0
  for (at in seq_along(rows)) {
    probe <- .Call(C_topk_probe, x, rows[at] - 1L, settings)
    links <- links + probe$links
    pivots <- pivots + probe$pivots
    # In nanoseconds, with an optimised BLAS: products run at 32e9 operations a second, pivots at
    # 8e9, with an overhead of 5 for their sorts and .75 for an entry of their inverse. A wrong
    # choice costs at most a few times the 2 s below which it does not matter.
    products <- 50 / 32 * if (2 * p > 3 * n) 4 * n^2 * p + 2 * n^3 else
      2 * n * p * (n + p + 3 * links / at)
    pivot <- (n + p) * (links / at / 8 + 5) + .75 * (links / at)^2
    if (n * pivots / length(rows) * pivot > max(2e9, products)) return("admm")
  }
  "exact"
}

topk_classes <- function(y, n_clusters, n) {
  if (is.null(y)) {
    if (is.null(n_clusters)) {
      refuse("n_clusters", "`n_clusters` is needed when there are no labels `y`.")
    }
    return(list(known = NULL, complete = FALSE, names = NULL,
      c = check_count(n_clusters, "n_clusters", 1L, n, "the samples of `x`")))
  }
  classes <- check_partial_labels(y, n)
  if (!is.null(n_clusters) && check_count(n_clusters, "n_clusters") != classes$c) {
    refuse("n_clusters", "`n_clusters` is ", n_clusters, ", but `y` has ", classes$c,
      " classes; leave `n_clusters` out.")
  }
  classes
}

# longest: the largest l1 norm of a sample.
topk_lambda_e <- function(longest, lambda_e, alpha_e) {
  if (!is.null(lambda_e)) return(check_number(lambda_e, "lambda_e", lower = 0, open = TRUE))
  check_number(alpha_e, "alpha_e", lower = 0, open = TRUE) / longest
}

# For every sample the alpha_e above which Z = 0 is no longer its optimum (Theta = 1): sample i can
# use sample j once lambda_e |x_j' sign(x_i)| > 1 + lambda_z. Inf if it can use none. 2n^2 p flops.
link_values <- function(x, lambda_z, nonnegative = FALSE) {
  # By few samples at a time, so that R sees interrupts.
  most <- vapply(split(seq_len(nrow(x)), (seq_len(nrow(x)) - 1L) %/% 64L), function(rows) {
    use <- tcrossprod(x, sign(x[rows, , drop = FALSE]))
    if (!nonnegative) use <- abs(use)
    use[cbind(rows, seq_along(rows))] <- 0
    list(apply(use, 2L, max))
  }, list(1))
  (1 + lambda_z) * max(l1_norms(x)) / pmax(unlist(most, use.names = FALSE), 0)
}

check_topk_bytes <- function(n, p, mode, solver, settings) {
  n <- as.double(n)
  r <- min(n, p)
  bytes <- 8 * switch(if (mode == "plain") mode else solver,
    plain = 4 * n * p + 5 * r * r,
    auto = 3 * n * n,
    admm = 8 * n * p + 3 * n * n + 6 * r * r + 1500 * n + 1600 * p,
    exact = 6 * n * p + 4 * n * n + 3 * r * r + r * (n + p),
    paper = 12 * n * p + 12 * n * n)
  if (settings$branch_and_bound) bytes <- bytes + 24 * as.double(settings$node_limit)
  check_bytes(bytes, "ufs_topk()", if (mode == "plain") "Select features or samples first." else
    paste("Fit on a subsample of the rows, or give complete labels `y`: that form needs no",
      "n x n matrix when 2p <= n."))
}

# Shape and names of the user's x, by which C makes its matrices without a copy.
topk_names <- function(data) {
  shape <- shape_of(data)
  list(p = shape$p, keep = shape$keep - 1L, samples = data$samples, features = shape$features)
}

topk_solution <- function(found, chosen, classes, mode, data, alpha) {
  samples <- data$samples
  all <- function(v) expand_features(v, data, 0)
  solution <- list(selected = stats::setNames(chosen, data$features[chosen]),
    v = all(found$v), v_cont = all(found$v_cont),
    A = t(`colnames<-`(all(found$a), classes$names)),
    cluster = stats::setNames(found$label, samples))
  if (!is.null(found$relaxed)) solution$relaxed <- all(found$relaxed)
  if (mode != "plain") {
    solution <- c(solution, list(Z = found$z, E = found$e, W = found$w))
    if (data$n <= topk_theta_limit) {
      # alpha 1{clusters differ} + (1 - alpha)/2 ||P_i - P_j||^2, P = x a.
      solution$Theta <- `dimnames<-`(alpha * outer(found$label, found$label, "!=") +
        (1 - alpha) / 2 * as.matrix(stats::dist(data$x %*% found$a))^2, dimnames(found$w))
    }
  }
  if (mode == "propagate") {
    solution$probability <- matrix(found$probability, data$n, classes$c,
      dimnames = list(samples, classes$names))
    solution$label <- factor(classes$names[found$label], classes$names)
    solution$reached <- stats::setNames(found$reached == 1L, samples)
  }
  solution
}

warn_topk <- function(fit) {
  if (!fit$control$warn) return(fit)
  isolated <- fit$graph[["isolated"]]
  if (isolated > fit$n / 5) {
    ufs_warn("isolated", isolated, " of ", fit$n, " samples are linked to no other one: ",
      "their labels mean little. Raise `alpha_e`.", data = list(isolated = isolated))
  }
  unreached <- fit$graph[["unreached"]]
  if (unreached > 0L) {
    ufs_warn("unreached", unreached, " of ", fit$n, " samples are connected to no labelled ",
      "one: they take the label of the nearest labelled sample (see solution$reached).",
      data = list(unreached = unreached))
  }
  fit
}

register("topk", ufs_topk,
  solve = solve_topk,
  prepare = function(x, args) topk_data(x, args$center, args$scale, args$k),
  control = list(max_iter = 10L, tol = 1e-5, inner_max_iter = 500L),
  paper = alist(lambda_e = NULL, lambda_z = 0.05, lambda_a = 0.01, lambda_i = 3, alpha = 0.95,
    polish = TRUE, cmn = FALSE, structured = FALSE, nonnegative = !is.null(y), bound = TRUE,
    branch_and_bound = FALSE, node_limit = 10000),
  paper_grid = list(
    source = paste("Zhang et al. (2021): of the paper only the appendix, without experiments, was",
      "at hand; these are the settings of the authors' program"),
    grids = list(program = list(alpha_e = 10, lambda_z = 0.05, lambda_a = 0.01, lambda_i = 3,
      alpha = 0.95, polish = FALSE))),
  advice = "situational",
  group = "system", sized_by = "pca", per_k = "k",
  title = "Top-k selection by 0-1 integer programming",
  cost = "n^2 (n + p) per iteration",
  reference = "Zhang et al. (2021) <doi:10.1109/TNNLS.2020.3009209>",
  constraints = c("include", "exclude", "cost", "feature_strata"),
  refuses = c(
    weights = "it links rows to others, and copies of a row would be linked to each other alone",
    replicates = "its regression hardly looks at the size of a column: shrinking keeps none out")
)
