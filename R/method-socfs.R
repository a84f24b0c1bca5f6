#' Simultaneous orthogonal basis clustering feature selection (SOCFS)
#'
#' Clusters the samples and selects the features that explain the clusters, in one problem: it looks
#' for orthogonal cluster indicators and for a row-sparse projection of the features on them. Use it
#' when you expect a known number of clusters and want few features that tell them apart.
#'
#' # Model
#' With `x` of n samples by p features (columns centred) and c = `n_clusters`, minimise
#' \deqn{J = \|xV - E\|_F^2 + \lambda \sum_i \|v_i\|_2 + \gamma \|F - E\|_F^2,
#'   \quad E'E = I_c,\ F \ge 0,}{J = ||xV - E||^2 + lambda sum_i ||v_i|| +
#'   gamma ||F - E||^2, E'E = I, F >= 0,}
#' where V is p x c with rows \eqn{v_i}, and E and F are n x c. The score of feature i is
#' \eqn{\|v_i\|_2}{||v_i||}. The paper writes W and a basis B with
#' \eqn{\|xW - EB'\|^2}{||xW - EB'||^2}. The best W is \eqn{VB'}{VB'} for every orthonormal
#' B, and the paper's iteration never moves B, so B (returned as the identity) and its
#' width are no choices.
#'
#' At the default `lambda_rel` only few rows are non-zero. Features whose row is zero are
#' ranked by `kkt`, \eqn{2\|x_i'(E - xV)\|/\lambda}{2 ||x_i'(E - xV)||/lambda}: it is at most 1,
#' and the nearer to 1, the nearer the feature is to being chosen. `print()` says how many
#' rows are non-zero, so that the best 50 of 12 non-zero rows are not taken for more than they are.
#'
#' # Solvers
#' `"exact"` solves for V by coordinate descent on a working set (exact zeros, a duality gap as
#' proof) and extrapolates E; the objective never rises. `"paper"`, iteratively reweighted least
#' squares, is the iteration of the paper, with \eqn{\sqrt{\|v_i\|^2 + \epsilon}}{sqrt(||v_i||^2 +
#' eps)} for \eqn{\|v_i\|}{||v_i||}; its result is polished by the exact solver unless `polish =
#' FALSE` or `tol` is negative. Both have the same fixed points. "Exact" is about V: it is the best
#' one for the E returned. The problem is not convex in (V, E), and the local optimum depends on the
#' start and the path; from labels and from k-means `"exact"` may end above `"paper"`. From a start
#' that is no partition of the samples, and where V = 0 came out, it also takes the plain
#' iterations, then exact steps, and keeps the lower objective, which takes about as long as
#' `"paper"`. Where a plain iteration would take more than 2e9 multiplications (the smaller of
#' \eqn{p^3/3} and \eqn{n^2 p + n^3/3}), exact steps at .1 and .3 of the penalty take their place.
#'
#' # Does a lower objective mean a better choice?
#' Hardly. Rising penalties, solved one after the other from k-means and from a few
#' random starts, find a lower objective than the default on most real data, at many times the cost,
#' and the features are worse: on average they cluster the samples less accurately. Any single
#' column can do well: with two clusters its positive and its negative part, as E, reach
#' \eqn{2 - (1 - \lambda_{rel})^2}{2 - (1 - lambda_rel)^2} without any cluster in the data. The
#' local optimum near the k-means start is the better selection, hence the default. So choose
#' neither starts nor penalties by the objective. The figures are in `vignette("evidence")`.
#'
#' # Departures from the paper
#' The start is the best of `n_starts` k-means partitions of the leading principal component scores,
#' and the weights belong to it, so that the objective falls from the first step; random starts find
#' informative features at about chance level. The stopping rules are put right, and penalties are
#' relative: from \eqn{\lambda_{max} = 2 \max_i \|x_i\|}{lambda_max = 2 max_i ||x_i||} on all rows
#' are zero whatever E is. Equal columns are merged before the fit (the problem stays the same) and
#' share their row in equal parts.
#'
#' @inheritParams ufs_kmeans_f
#' @param n_clusters The number of clusters c, from 1 to n.
#' @param lambda,lambda_rel The penalty on the rows, absolute, or (if `lambda` is `NULL`) as a
#'   share of `lambda_max`. The default is .3; a smaller share keeps more rows.
#' @param gamma The weight of the non-negativity of E, at least 0. It is not critical from 1 to 10;
#'   100 and more freezes E at its start.
#' @param init The start: `"kmeans"`; `"pca_part"`, k-means from one start without random numbers
#'   (see [ufs_kmeans_f()]); `"random"` (orthonormal, from uniform numbers); labels (a
#'   vector of length n with `n_clusters` distinct values); an n x c matrix E of full rank (made
#'   orthonormal if it is not); or `list(E = , F = , V = , g = )` to replay a run of `"paper"`,
#'   where all but E may be missing: V is p x c, the product W0 B0 of the paper's starting
#'   matrices, and g the p weights (or one for all) of the first least-squares step. With one
#'   cluster `"kmeans"` is the positive part of the leading component's scores.
#' @param n_starts The number of k-means (or random) starts. With `init = "random"` and
#'   `start_rule = "wss"` only one start is drawn.
#' @param start_rule Which start is used: `"wss"` takes the one of lowest within-cluster sum of
#'   squares. `"objective"` runs every distinct start to the end, which takes up to `n_starts` times
#'   as long, and keeps the lowest objective; see "Does a lower objective mean a better choice?".
#' @param solver `"exact"` for coordinate descent, or `"paper"` for the paper's iteration.
#' @param center,scale Should the columns be centred and standardised first? The penalty has no
#'   scale per feature, so `scale = TRUE` is the default.
#' @param control Iteration limits and tolerances, made by [ufs_control()]: `max_iter` (500); `tol`
#'   (1e-7, or 1e-6 with `"paper"`), the relative fall of the objective; `inner_max_iter` (10, or
#'   30), the steps of E and F per iteration; `inner_tol` (1e-4, or 1e-8); and, for `"paper"`, `eps`
#'   (\eqn{(10^{-6}/s)^2}{(1e-6/s)^2}, with s the largest column norm). A negative `tol` with
#'   `solver = "paper"` replays exactly `max_iter` plain iterations, without polish or merging.
#'
#' @return A fit of class `c("ufs_socfs", "ufs")`. `solution` holds `V`, `W` (p x c),
#'   `B` (c x c), `E`, `F` (n x c) and `cluster`, the largest entry of each row of E. With `weights`
#'   of [ufs_data()] rows of E count as often: E' diag(weights) E = I.
#'
#'   `certificate` holds `kkt`, the largest violation of the optimality conditions of V as a share
#'   of lambda (for a zero row how far its kkt exceeds 1; of the smoothed problem if `"paper"` was
#'   not polished), `gap`, the relative duality gap of the V-step at the returned E, and
#'   `live_rows`, the number of non-zero rows (`"paper"`: of norm above 10 sqrt(eps)).
#'
#'   `trace` has a row for the start (iteration 0) and one per iteration: `objective`
#'   (`"paper"`: smoothed), its relative fall `change`, `inner` steps of E and F, `live` rows and
#'   the `solver`. `inner_trace` has a row per step of E and F: `iteration`, `step` (0 is where the
#'   iteration begins) and the `objective` of these steps,
#'   \eqn{\|xV - E\|^2 + \gamma\|F - E\|^2}{||xV - E||^2 + gamma ||F - E||^2}, which falls within
#'   every iteration.
#'
#'   `copies` is a data frame of the features that are a multiple of another one, after centring and
#'   scaling: equal columns, which were merged, and, among the chosen ones, those with a correlation
#'   of 1 or -1. It has the `feature` and the first such column, `copy_of`. If both are chosen,
#'   `selected_features()` says so (message of class `ufs_message_copies`).
#' @section As published:
#' Settings of the published method that few users change are given in `control`, for example
#' `control = ufs_control(paper = list(warm_irls = 30))`. `fit$params` has the values used.
#' * `warm_irls` (0): the number of plain iterations before the exact solver. 30 gives a
#'   somewhat lower objective for about five times the work.
#' * `path` (`NULL`): increasing shares of lambda (say `c(.1, .3)`) that the exact solver visits
#'   first, with at most 10 iterations each, for a lower objective.
#' * `polish` (`TRUE`): is the result of the published iteration finished with the exact solver?
#'
#' @section Warnings:
#'   Warnings: `ufs_warning_zero` if no feature is chosen
#'   (lambda too large), `ufs_warning_clusters` for `n_clusters = 1`, `ufs_warning_start` if
#'   k-means cannot make that many clusters (a random start is used), `ufs_warning_max_iter`.
#' @references Han, D. and Kim, J. (2015) Unsupervised simultaneous orthogonal basis
#'   clustering feature selection. *Proceedings of the IEEE Conference on Computer Vision and
#'   Pattern Recognition*, 5016-5023. \doi{10.1109/CVPR.2015.7299136}
#' @seealso [selected_features()]; [ufs_kmeans_f()], the cheap rival; [ufs_mcfs()]
#' @examples
#' set.seed(1)
#' fit <- ufs_socfs(iris[, 1:4], n_clusters = 3)
#' fit
#' selected_features(fit, k = 2)
#'
#' # Do the learnt clusters agree with the species?
#' table(fit$solution$cluster, iris$Species)
#'
#' # The paper's iteration, step by step from given labels
#' ufs_socfs(iris[, 1:4], 3, init = iris$Species, solver = "paper",
#'   control = ufs_control(max_iter = 20, tol = -1, warn = FALSE))
#' @export
ufs_socfs <- function(x, n_clusters, ..., lambda = NULL, lambda_rel = 0.3, gamma = 1,
                      init = "kmeans", n_starts = 20, start_rule = c("wss", "objective"),
                      solver = c("exact", "paper"), k = NULL, center = TRUE, scale = TRUE,
                      control = ufs_control()) {
  run_fit("socfs", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_socfs <- function(data, control, n_clusters, lambda, lambda_rel, gamma, init, n_starts,
                        start_rule, solver, warm_irls, path, polish, ...) {
  plain <- solver == "paper"
  polish <- polish && control$tol >= 0
  if (!is.null(path) && (!is.numeric(path) || !length(path) || anyNA(path) ||
      any(path <= 0 | path >= 1) || is.unsorted(path, strictly = TRUE))) {
    refuse("path", "`path` must be NULL or increasing shares of lambda between 0 and 1, such as ",
      "c(0.1, 0.3).")
  }
  n_clusters <- check_count(n_clusters, "n_clusters", 1L, data$n, "the number of samples")
  if (n_clusters == 1L) {
    ufs_warn("clusters", "With n_clusters = 1 there are no clusters to tell apart.")
  }
  # For each row of the largest column norm s, ||2 x_i'E|| <= 2s bounds the pull on v_i.
  exactly <- !plain && warm_irls == 0L
  factor <- if (exactly) penalty_factor(data$held, length(data$keep))
  lambda_max <- 2 * top_over_factor(data$norm, factor)
  penalty <- check_penalty(lambda, lambda_rel, lambda_max, "lambda")
  control$eps <- check_eps(control$eps, (1e-6 / max(data$norm))^2)
  starts <- socfs_starts(init, data, n_clusters, n_starts, start_rule)
  given <- starts[[1L]]
  # Equal columns as one, unless a plain run is to be replayed.
  copies <- x_equal_columns(data$x)
  replay <- plain && control$tol < 0 || !is.null(given$V) || !is.null(given$g)
  alike <- same_penalty(copies, factor)
  distinct <- if (anyDuplicated(alike) && !replay) which(alike == seq_along(alike))
  problem <- list_of(x = if (is.null(distinct)) data$x else x_subset_columns(data$x, distinct),
    lambda = penalty$value, gamma, eps = control$eps,
    factor = if (is.null(distinct)) factor else factor[distinct])
  stages <- function(plain_first = FALSE, shares = path) {
    socfs_stages(solver, penalty$value, control, warm_irls, shares, polish, plain_first)
  }
  runs <- lapply(starts, socfs_from, problem = problem, stages = stages, control = control,
    two_ways = !plain && penalty$rel < 1 && is.null(factor), path = path)
  best <- which.min(vapply(runs, socfs_objective, 0))
  exact <- !plain || polish
  found <- runs[[if (length(best)) best else 1L]]
  # A solver that saw the `distinct` columns has found the sum of each and its copies; one that saw
  # all of them may have split a weight unevenly between equal ones.
  if (!is.null(distinct)) {
    at <- match(alike, distinct)
    found$V <- found$V[at, , drop = FALSE] / tabulate(at)[at]
    found$kkt <- found$kkt[at]
  } else if (replay && exact) found$V <- mean_of_copies(found$V, alike)
  norm <- row_norms(found$V)
  nonzero <- sum(norm > if (exact) 0 else 10 * sqrt(control$eps))
  warn_no_choice(penalty, nonzero, lambda_max)
  c(socfs_fields(found, data, n_clusters, norm, nonzero), list(
    params = list_of(n_clusters, lambda = penalty$value, lambda_rel = penalty$rel,
      lambda_max, gamma, init = given$kind, n_starts, start_rule,
      starts_run = length(starts), solver, eps = control$eps, warm_irls, path, polish,
      merged_copies = if (is.null(distinct)) 0L else length(alike) - length(distinct)),
    by_ranking = if (!exactly) penalty_constraints, control = control,
    trace = socfs_trace(found$run$trace, penalty$value, control$eps, data, given$V_constant),
    copies = socfs_copies(data, copies, norm)))
}

warn_no_choice <- function(penalty, nonzero, lambda_max) {
  if (nonzero > 0L) return(invisible())
  if (penalty$rel >= 1) {
    ufs_warn("zero", "`lambda` is at or above lambda_max = ", signif(lambda_max, 4L), ": every ",
      "feature gets score 0.")
  } else {
    ufs_warn("zero", "No feature is chosen at lambda = ", signif(penalty$value, 4L), " (",
      signif(penalty$rel, 4L), " of lambda_max): every score is 0.")
  }
}

# Fields for new_ufs() from the result of C.
socfs_fields <- function(found, data, n_clusters, norm, nonzero) {
  v <- expand_features(found$V, data)
  counters <- found$run$counters
  list(
    run = found$run, feature_scores = norm, feature_key = found$kkt,
    statistic = expand_features(norm, data),
    solution = list(V = v, W = v, B = diag(n_clusters),
      E = `rownames<-`(without_weights(found$E, data$weights), data$samples),
      F = `rownames<-`(without_weights(found$F, data$weights), data$samples),
      cluster = stats::setNames(max.col(found$E, ties.method = "first"), data$samples)),
    # The steps of E and F: one row per step, step 0 is where the iteration begins.
    inner_trace = counted_table(found$inner, c("iteration", "step")),
    certificate = c(kkt = counters[["violation"]], gap = counters[["gap"]], live_rows = nonzero),
    coef_name = "W",
    counts = c(full_products = counters[["products"]], sweeps = counters[["sweeps"]],
      gram_columns = counters[["columns"]])
  )
}

# Features that say the same as another one: equal columns, and rescaled ones among the chosen.
# At most 1000 of these are compared, 2 n 1000^2 flops.
socfs_copies <- function(data, first, norm) {
  original <- first
  nonzero <- utils::head(order(-norm), min(1000L, sum(norm > 0)))
  nonzero <- sort(nonzero[first[nonzero] == nonzero])
  if (length(nonzero) > 1L) {
    part <- x_columns(data$x, nonzero)
    root <- if (is.null(data$weights)) rep(1, data$n) else sqrt(data$weights)
    part <- part - outer(root, colSums(root * part) / sum(root^2))
    part <- sweep(part, 2L, sqrt(colSums(part^2)), `/`)
    same <- abs(crossprod(part)) >= 1 - 1e-12
    original[nonzero] <- nonzero[max.col(same + 0, ties.method = "first")]
  }
  copy <- which(original != seq_along(original))
  name <- data$features[data$keep]
  data.frame(feature = name[copy], copy_of = name[original[copy]])
}

#' @export
selected_features.ufs_socfs <- function(fit, k = NULL, as = NULL, ...) {
  chosen <- NextMethod()
  k <- if (is.logical(chosen)) sum(chosen) else length(chosen)
  best <- fit$names$features[fit$feature_ranking[seq_len(k)]]
  both <- fit$copies$feature %in% best & fit$copies$copy_of %in% best
  if (any(both)) {
    ufs_inform("copies", sum(both), " of the best ", k, " features ",
      if (sum(both) == 1L) "is a copy of another: " else "are copies of others: ",
      some_columns(fit$copies$feature[both]), " (see fit$copies).")
  }
  chosen
}

#' @export
print_notes.ufs_socfs <- function(x) {
  c(paste0("penalty      lambda = ", signif(x$params$lambda, 4L), " (",
      signif(x$params$lambda_rel, 3L), " of lambda_max), gamma = ", signif(x$params$gamma, 4L)),
    nonzero_note(x, x$certificate[["live_rows"]]),
    if (nrow(x$copies)) {
      paste0("copies       ", nrow(x$copies), if (nrow(x$copies) == 1L) {
        " feature is a copy of another"
      } else " features are copies of others", " (fit$copies)")
    })
}

# ---- arguments -------------------------------------------------------------------------

# Multiplications of a least-squares step in each of its two forms, of which la_ridge_init()
# (src/la_solve.c) takes the cheaper one.
ridge_costs <- function(size) {
  n <- as.double(size[1L])
  p <- as.double(size[2L])
  c(p = p^3 / 3, n = n^2 * p + n^3 / 3)
}

check_ridge_bytes <- function(size, advice = "Use solver = \"exact\" with init = \"kmeans\".") {
  size <- as.double(size)
  cost <- ridge_costs(size)
  check_bytes(8 * if (cost[["p"]] < cost[["n"]]) 2 * size[2L]^2 else size[1L]^2,
    "The least-squares step of \"irls\"", advice)
}

# ---- starts ----------------------------------------------------------------------------

# A list of starts list(E, F, V, g, kind), best first by the rule that needs no run.
socfs_starts <- function(init, data, n_clusters, n_starts, start_rule) {
  many <- if (start_rule == "objective") n_starts else 1L
  if (is_kmeans_start(init)) {
    scores <- x_pca(data$x, n_clusters, "socfs")$scores
    if (n_clusters == 1L) {
      # The indicator of one cluster is constant, where centred columns have no pull.
      positive <- pmax(scores, 0)
      return(list(list(E = positive / sqrt(sum(positive^2)), kind = init)))
    }
    runs <- runs_from(init, without_weights(scores, data$weights), n_clusters, n_starts,
      count = data$weights)
    if (!is.null(runs)) {
      return(lapply(utils::head(runs, many), function(run) {
        list(E = indicator(run$cluster, n_clusters, data$weights), kind = init)
      }))
    }
    ufs_warn("start", "k-means cannot make ", n_clusters, " clusters (fewer distinct rows): ",
      "a random start is used.")
    init <- "random"
  }
  if (identical(init, "random")) {
    return(lapply(seq_len(many), function(i) {
      draws <- matrix(stats::runif(data$n * n_clusters), data$n)
      list(E = qr.Q(qr(with_weights(draws, data$weights))), kind = "random")
    }))
  }
  list(if (is.list(init) && !is.data.frame(init)) {
    start_from_list(init, data, n_clusters)
  } else if (length(dim(init)) == 2L) {
    list(E = orthonormal_start(init, "init", data, n_clusters), kind = "matrix")
  } else {
    cluster <- check_start_labels(init, data$n, n_clusters)
    list(E = indicator(cluster, n_clusters, data$weights), kind = "labels")
  })
}

# The user's E, or its nearest matrix with orthonormal columns; with rows times the roots of their
# weights, as those of x are.
orthonormal_start <- function(e, arg, data, n_clusters) {
  e <- with_weights(check_matrix(as.matrix(e), arg, data$n, n_clusters), data$weights)
  if (max(abs(crossprod(e) - diag(n_clusters))) <= 1e-10) return(e)
  s <- svd(e)
  if (s$d[n_clusters] <= 1e-10 * s$d[1L]) refuse("init", "`", arg, "` must have full column rank.")
  tcrossprod(s$u, s$v)
}

start_from_list <- function(init, data, n_clusters) {
  if (is.null(init$E) || is.null(names(init)) || !all(names(init) %in% c("E", "F", "V", "g"))) {
    refuse("init", "A list given as `init` must hold E and may hold F, V and g; it holds ",
      if (is.null(names(init))) "no names" else paste(names(init), collapse = ", "), ".")
  }
  start <- list(E = orthonormal_start(init$E, "init$E", data, n_clusters), kind = "list")
  if (!is.null(init$F)) {
    start$F <- with_weights(check_matrix(init$F, "init$F", data$n, n_clusters), data$weights)
  }
  # V and g refer to all p columns, the constant ones too.
  if (!is.null(init$V)) {
    v <- check_matrix(init$V, "init$V", data$p, n_clusters)
    start$V <- v[data$keep, , drop = FALSE]
    start$V_constant <- v[data$constant, , drop = FALSE]
  }
  if (!is.null(init$g)) {
    g <- as.vector(init$g)
    if (length(g) == 1L) g <- rep(g, data$p)
    start$g <- drop(check_matrix(as.matrix(g), "init$g", data$p, 1L))[data$keep]
  }
  for (part in c("F", "g")) {
    if (any(start[[part]] < 0)) refuse("init", "`init$", part, "` must not be negative.")
  }
  start
}

# ---- runs ------------------------------------------------------------------------------

# One row per stage, in the order of struct socfs_stage's table (src/ffi_socfs.c). `plain_first`:
# with plain iterations before the exact ones, until they have settled as those of "paper" do.
socfs_stages <- function(solver, lambda, control, warm_irls, path, polish, plain_first = FALSE) {
  mine <- c(as.double(solver == "exact"), lambda, control$max_iter, control$inner_max_iter,
    control$tol, control$inner_tol)
  plain <- if (plain_first) control$max_iter else warm_irls
  rbind(
    if (solver == "exact" && plain > 0L) c(0, lambda, plain, 30, 1e-6, 1e-8),
    if (solver == "exact" && !plain_first) {
      do.call(rbind, lapply(path, function(share) c(1, share * lambda, 10, 10, 1e-4, 1e-4)))
    },
    mine,
    if (solver == "paper" && polish) c(1, lambda, control$max_iter, 10, 1e-7, 1e-4)
  )
}

socfs_run <- function(problem, start, stages, control, memory = 5L) {
  if (any(stages[, 1L] == 0)) check_ridge_bytes(dim(problem$x))
  check_solved(.Call(C_socfs, problem$x, start, list(stages = stages, lambda = problem$lambda,
    gamma = problem$gamma, eps = problem$eps, factor = problem$factor, memory = memory), control),
    "socfs")
}

socfs_objective <- function(found) found$run$counters[["objective"]]

# The run from one start. Where E is no partition of the samples, few features explain it: exact
# V-steps can set all rows to zero before E has come near the data, and then nothing moves it any
# more. Plain iterations shrink the rows slowly and move E meanwhile; so do, nearly as well, exact
# steps at smaller penalties, which cost a multiple of n p c each. So with `two_ways` the run goes
# that way too from such starts, and from any that ended at V = 0, and the lower objective is kept.
socfs_from <- function(start, problem, stages, control, two_ways, path) {
  found <- socfs_run(problem, start, stages(), control)
  if (!two_ways || any(found$V != 0) && (all(start$E >= -1e-10) || !is.null(path))) return(found)
  slower <- if (plain_pays(dim(problem$x))) stages(plain_first = TRUE) else
    stages(shares = c(0.1, 0.3))
  other <- socfs_run(problem, start, slower, control)
  if (isTRUE(socfs_objective(other) < socfs_objective(found))) other else found
}

# A plain run has some hundred iterations: it pays while each takes about a second at most.
plain_pays <- function(size) min(ridge_costs(size)) <= 2e9

# The smoothed objective sums over all p features, so the constant ones, which the solver
# does not see, add their part: zero rows, but for the rows of a given V at the start.
socfs_trace <- function(trace, lambda, eps, data, v_constant) {
  trace <- as.data.frame(trace)
  trace$solver <- ifelse(trace$exact == 1, "exact", "paper")
  smooth <- trace$exact == 0
  part <- rep(lambda * sqrt(eps) * length(data$constant), nrow(trace))
  if (!is.null(v_constant)) part[1L] <- lambda * sum(sqrt(rowSums(v_constant^2) + eps))
  trace$objective[smooth] <- trace$objective[smooth] + part[smooth]
  trace$exact <- NULL
  trace
}

register("socfs", ufs_socfs,
  solve = solve_socfs,
  control = function(args) {
    if (args$solver == "paper") {
      list(max_iter = 500L, tol = 1e-6, inner_max_iter = 30L, inner_tol = 1e-8)
    } else list(max_iter = 500L, tol = 1e-7, inner_max_iter = 10L, inner_tol = 1e-4)
  },
  paper = alist(warm_irls = 0, path = NULL, polish = TRUE),
  arguments = list(gamma = a_number(lower = 0), n_starts = a_count(1L), warm_irls = a_count(0L)),
  prepare = function(x, args) as_lazy_operator(x, args$center, args$scale),
  paper_grid = list(
    source = paste("Han and Kim (2015): of the paper only the supplement, without experiments, was",
      "at hand; these are the defaults of the public program, for columns that are not",
      "standardised"),
    grids = list(program = list(lambda = 100, gamma = 100))),
  advice = "situational",
  group = "system", deterministic = FALSE,
  title = "Simultaneous orthogonal basis clustering (SOCFS)",
  cost = "n p c per full product, about one every 5 iterations",
  reference = "Han, Kim (2015) <doi:10.1109/CVPR.2015.7299136>",
  shares = list(argument = "init",
    unless = c("n_clusters", "n_starts", "center", "scale", "start_rule"),
    make = function(x, value) {
      if (is.null(value("n_clusters")) || !identical(value("start_rule")[1L], "wss")) return(NULL)
      data <- as_lazy_operator(open_quietly(x), value("center"), value("scale"))
      scores <- without_weights(x_pca(data$x, value("n_clusters"), "socfs")$scores, data$weights)
      runs <- kmeans_runs(scores, value("n_clusters"), value("n_starts"), count = data$weights)
      runs[[1L]]$cluster
    }),
  constraints = c("weights", penalty_constraints)
)
