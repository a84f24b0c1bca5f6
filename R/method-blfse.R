#' Bi-level ensemble feature selection (BLFSE)
#'
#' Merges several rankings of the features and several clusterings of the samples into one ranking
#' and one clustering, each level informing the other. It is offered for comparison: on real data it
#' rarely beat the plain mean of the same rankings, which comes with every fit
#' (`solution$mean_score`). For an ensemble of different selectors prefer [ufs_consensus()].
#'
#' # The model
#' Each of the m base results, number k, is a score vector \eqn{v^{(k)}} (non-negative, sum 1) and a
#' clustering with co-membership matrix \eqn{S^{(k)}} (n x n). The method looks for consensus
#' scores v (on the simplex), a consensus similarity S, confidences W of its pairs, weights
#' \eqn{\alpha, \beta} of the base results (on simplices), a c x p projection P and an n x c
#' embedding Y with orthonormal rows and columns, that minimise
#' \deqn{\sum_{ij} S_{ij} \|P \, \mathrm{diag}(v)(x_i - x_j)\|^2
#'   + \sum_k \beta_k^2 \|W \circ (S - S^{(k)})\|_F^2 - \lambda \sum_{ij} W_{ij}
#'   + \sum_k \alpha_k^2 \|v - v^{(k)}\|^2 + 2 \rho \, \mathrm{tr}(Y' L_S Y)}
#' (the columns `T1` to `T5` of the trace) for each of the values of `psi` in turn, with
#' \eqn{\lambda = 2 \psi (1 - \psi) / m}: pairs on which less than a share `psi` of the base
#' clusterings agree lose weight. \eqn{\rho} is doubled or halved until S has c connected
#' components. Every block update is an exact minimiser. The update of v is a quadratic program on
#' the simplex, solved to a relative residual of its optimality conditions of `control$inner_tol`;
#' the certificate `kkt` is the worst of the run.
#'
#' # Does the ensemble pay?
#' Hardly ever: the counts are in `vignette("evidence")`, and the plain means in
#' `solution$mean_score` and `solution$mean_rank`. With p >= n, P is not unique, and v barely leaves
#' the weighted mean of the base scores; a warning says so. And the weights \eqn{\alpha, \beta} tend
#' to collapse on one base result, at once if m <= 5: therefore the number of iterations is capped,
#' 10 or more base results are recommended, and a weight above 0.9 is reported.
#'
#' # Base results
#' With `base = "inffs"`, as in the paper, the samples are split at random into `n_base` disjoint
#' batches. [ufs_inffs()] (`alpha = 0.7, variant = "rowsum"`) scores the features on each of them,
#' and k-means (best of `n_starts` starts) then clusters all samples on the `k` best
#' features that constraints such as quotas allow, in the columns as the model sees them. The
#' clusterings therefore depend on `k`: fit again for another number of features. `base` may also
#' name other methods of [ufs_methods()], or be a list of fits. Selectors see the columns scaled to
#' \[0, 1\] unless they are fits already. All randomness is in this step; with `scores` and `labels`
#' given there is none.
#'
#' # Scaling
#' The model sees only differences of samples, so `center` changes nothing but rounding. The first
#' term grows with the square of x against the others, so the scale of x matters: `"unit"` divides
#' every sample (row) by its Euclidean norm, as the authors do; `"zscore"` divides the columns by
#' their standard deviation and \eqn{\sqrt p}. `scale = TRUE` means `"unit"` for
#' `projection = "paper"` and `"zscore"` for `"isotropic"`; `FALSE` takes x as it is.
#'
#' # Ties of P
#' Only N = P'P matters. With `projection = "paper"` it is the minimiser of least Frobenius norm
#' over all \eqn{0 \le N \le I} of trace c, which has the same objective and does not depend on
#' LAPACK. `projection = "isotropic"` fixes N = (c/p) I, which is not in the paper.
#'
#' # As published
#' What is published is what the function does: `solver = "paper"`, which chooses that in the other
#' systems, may be given and changes nothing.
#'
#' Settings of the published method that few users change are given in `control`, for example
#' `control = ufs_control(paper = list(psi = .9))`. `fit$params` has the values used.
#' * `n_base` (10): the number m of base results, if they are drawn on parts of the samples.
#' * `resample` (`"auto"`): which samples a base result sees: `"batches"` (disjoint, of floor(n
#'   / n_base) samples), `"halves"` (random halves) or `"none"` (all samples, every method of
#'   `base` once). With parts of the samples the methods of `base` take turns. `"auto"` gives
#'   one method batches, or halves if batches would have fewer than 10 samples, and gives
#'   several methods all samples.
#' * `base_args` (`list()`): a named list of further arguments by method, such as
#'   `list(laplacian = list(graph = list(n_neighbours = 7)))`. Arguments `n_clusters`,
#'   `n_components` and `k` without a default are filled in from `n_clusters` and `k`.
#' * `n_starts` (20): the number of k-means starts per base clustering.
#' * `projection` (`"paper"`): how the projection is treated: `"paper"` optimises it,
#'   `"isotropic"` fixes it.
#' * `order` (`"paper"`): the order of the block updates: `"paper"` updates S before v, as
#'   Algorithm 1 of the paper does, and `"code"` updates v before S, as the authors' program
#'   does.
#' * `psi` (.9, .8, .7, .6, .5): the self-paced schedule, numbers between 0 and 1.
#' * `gamma_cluster, gamma_feature` (1): factors of the second and third term (`gamma_cluster`)
#'   and of the fourth (`gamma_feature`); both are 1 in the paper.
#'
#' # Memory
#' 2 n^2 + 4 p^2 + 1200 n doubles for p <= n; for p > n nothing is p x p, and it is 9 n^2 + 2 np.
#'
#' @inheritParams ufs_kmeans_f
#' @param n_clusters The number of clusters c, from 2 to n - 1 and at most p.
#' @param k The number of features to be selected, because the base clusterings are made on
#'   so many. It is not needed if `labels` are given.
#' @param scores `NULL`, or an m x p matrix of base scores: one row per base result, larger is
#'   better, with a column for every column of `x` (also constant ones). A row with negative values
#'   is shifted to start at 0, and rows are scaled to sum 1.
#' @param labels `NULL`, or an n x m matrix of base clusterings, one column each.
#' @param base Where the base scores come from if `scores` is `NULL`: names of feature methods, or
#'   a list of fits.
#' @param center Should the columns be centred first?
#' @param scale How x is scaled inside the model: `TRUE`, `FALSE`, `"unit"` or `"zscore"`.
#' @param control Iteration limits and tolerances, made by [ufs_control()]. `inner_max_iter`
#'   (default 5) caps the iterations per value of `psi`, and `max_iter` (default 5 per value) all of
#'   them. `tol` (default 0: off) ends a stage once neither v (in the 1-norm) nor S moves more.
#'   `inner_tol` (default 1e-11) is the relative residual of the optimality conditions of the
#'   quadratic programs. Running "to convergence" is not recommended, because the weights collapse.
#' @return A fit of class `c("ufs_blfse", "ufs")`; the score is v. `status` is `"converged"` if
#'   S had `n_clusters` components at the end.
#'
#'   `solution` holds `v`, `S`, `W`, `alpha`, `beta`, `rho`, `cluster` (components of S; if they are
#'   not c, k-means on the embedding Y from fixed starts), `mean_score` and `mean_rank` (the plain
#'   aggregations), `scores` (m x p, normalised) and `labels` (n x m).
#'
#'   `certificate` holds `kkt` and `gap` (largest duality gap of the quadratic programs).
#'
#'   `trace` has one row per block update and `history` one per iteration: `psi`, `it`, `rho`,
#'   number of components `ncomp`, dimension of the tie in the update of P `ntieP`, non-zero weights
#'   `nnz`, move of v in the 1-norm `dv`, largest `alpha` and `beta`, mean of W. `weights` has all
#'   \eqn{\alpha} and \eqn{\beta} per iteration.
#' @section Plots:
#' Beside the types of [plot.ufs()] there are `"objective"` (per block; it must fall between the
#' dotted lines, where \eqn{\lambda} changes, except where \eqn{\rho} does) and
#' `"consensus"` (S, ordered by cluster).
#' @references Zhou, Wang and Du (2023) Bi-level ensemble method for unsupervised feature selection.
#'   Information Fusion 100, 101910, \doi{10.1016/j.inffus.2023.101910}. Its equations (5), (6)
#'   and (14) are corrected here (the weights \eqn{\beta_k^2} in W, the factor 2 of the first term).
#' @seealso [ufs_consensus()]
#' @examples
#' set.seed(1)
#' fit <- ufs_blfse(iris[, 1:4], n_clusters = 3, k = 2)
#' fit
#' table(fit$solution$cluster, iris$Species)
#'
#' # Does it earn its cost? The plain mean of its base scores:
#' head(sort(fit$solution$mean_score, decreasing = TRUE), 2)
#'
#' # An ensemble of different selectors in one line
#' fit <- ufs_blfse(iris[, 1:4], 3, 2, base = c("variance", "inffs", "kmeans_f"),
#'   control = ufs_control(warn = FALSE))
#' selected_features(fit, 2)
#' @export
ufs_blfse <- function(x, n_clusters, k = NULL, ..., scores = NULL, labels = NULL, base = "inffs",
                      center = TRUE, scale = TRUE, control = ufs_control()) {
  run_fit("blfse", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_blfse <- function(data, control, n_clusters, k, scores, labels, base, n_base, projection,
                        order, resample, base_args, n_starts, psi, gamma_cluster, gamma_feature,
                        center, scale, given, ...) {
  if (!is.numeric(psi) || !length(psi) || anyNA(psi) || any(psi <= 0 | psi >= 1)) {
    refuse("psi", "`psi` must be numbers between 0 and 1 (exclusive).")
  }
  psi <- as.double(psi)
  center <- check_flag(center, "center")
  scaling <- if (is.character(scale)) check_choice(scale, "scale", c("unit", "zscore")) else
    if (!check_flag(scale, "scale")) "none" else if (projection == "paper") "unit" else "zscore"
  control <- resolve_control(control,
    max_iter = min(.Machine$integer.max, as.double(length(psi)) * control$inner_max_iter))

  n <- data$n
  p <- length(data$keep)
  n_clusters <- check_count(n_clusters, "n_clusters", 2L, min(n - 1L, p),
    "one fewer than the samples, and the number of non-constant features")
  if (!is.null(k) || is.null(labels)) {
    k <- check_count(k, "k", 1L, p, "the number of non-constant features")
  }
  if (!"n_base" %in% given && !is.null(labels)) n_base <- NCOL(labels)
  check_bytes(8 * (if (p > n) 7 * n^2 + 2 * n * p else 4 * p^2 + 1200 * n) + 16 * n^2,
    "The consensus matrices of ufs_blfse()",
    "Use a part of the samples.")

  drawn <- if (is.null(scores)) {
    blfse_base_scores(data, base, n_base, resample, n_clusters, k, base_args)
  } else list(base = "given", resample = "none",
    scores = check_matrix(if (is.data.frame(scores)) as.matrix(scores) else scores, "scores",
      ncol = data$p))
  if (nrow(drawn$scores) < 2L) refuse("scores", "An ensemble needs at least two base results.")
  scores <- normalise_scores(drawn$scores[, data$keep, drop = FALSE], data$reliability)
  best <- if (is.null(labels)) {
    check_included(data, list(k = k))
    lapply(seq_len(nrow(scores)), function(i) best_columns(data, k, scores[i, ]))
  }
  data <- blfse_model_matrix(data, scaling, center)
  # n x m: k-means on all samples, each time on the best features of one base result.
  labels <- if (is.null(labels)) vapply(best, function(columns) {
    z <- data$x[, columns, drop = FALSE]
    runs <- kmeans_runs(z, n_clusters, n_starts)
    # Fewer distinct samples than clusters: they are the clusters.
    if (is.null(runs)) canonical_labels(equal_rows(z)) else runs[[1L]]$cluster
  }, integer(nrow(data$x))) else
    check_base_labels(labels, n, nrow(scores))

  settings <- list_of(n_clusters, projection = as.integer(projection == "isotropic"),
    order = as.integer(order == "code"), form = 0L, inner_max_iter = control$inner_max_iter,
    gamma_cluster, gamma_feature, qp_tol = control$inner_tol)
  found <- check_solved(.Call(C_blfse, data$x, t(scores), t(labels), psi, settings, control),
    "blfse")
  c(blfse_fields(found, data, scores, labels, n_clusters), list(data = data, control = control,
    params = list_of(n_clusters, k, n_base = nrow(scores), base = drawn$base,
      resample = drawn$resample, projection, order, center, scale = scaling, psi, gamma_cluster,
      gamma_feature, n_starts)))
}

# Fields for new_ufs(), without the parameters.
blfse_fields <- function(found, data, scores, labels, n_clusters) {
  counters <- found$run$counters
  n_component <- as.integer(counters[["n_component"]])
  cluster <- blfse_cluster(found$S, found$component, n_component, n_clusters)
  m <- seq_len(nrow(scores))
  symmetric <- function(values) whole_symmetric(values, list(data$samples, data$samples), data$n)
  trace <- counted_table(found$run$trace, c("iteration", "it", "nc", "ties", "nnz"))
  trace$block <- factor(trace$block, 0:7, c("start", "W", "P", "S", "v", "Y", "beta", "alpha"))
  list(
    run = found$run,
    advice = if (found$run$status == 1L) paste0("The consensus has ", n_component,
      " components instead of ", n_clusters, "."),
    feature_scores = found$v,
    solution = list(
      v = expand_features(found$v, data), S = symmetric(found$S), W = symmetric(found$W),
      alpha = found$alpha, beta = found$beta, rho = counters[["rho"]],
      cluster = stats::setNames(cluster, data$samples),
      mean_score = expand_features(colMeans(scores), data),
      mean_rank = expand_features(rowMeans(matrix(apply(-scores, 1L, rank), ncol = nrow(scores))),
        data, NA_real_),
      scores = t(expand_features(t(scores), data)), labels = labels
    ),
    trace = trace,
    certificate = counters[c("kkt", "gap")],
    history = counted_table(found$history, c("it", "ncomp", "ntieP", "nnz")),
    weights = list(alpha = found$weights[, m, drop = FALSE],
      beta = found$weights[, -m, drop = FALSE]),
    n_component = n_component, p_unique = counters[["p_unique"]] == 1, coef_name = "v",
    finish = blfse_warnings
  )
}

# The symmetric matrix with these entries (1, 1), (1, 2), (2, 2), (1, 3), ...
whole_symmetric <- function(values, names, n) {
  out <- matrix(0, n, n, dimnames = names)
  out[upper.tri(out, diag = TRUE)] <- values
  out[lower.tri(out)] <- t(out)[lower.tri(out)]
  out
}

# ---- input -----------------------------------------------------------------------------

# data with x as the model sees it; see the help page.
blfse_model_matrix <- function(data, scaling, center) {
  if (scaling == "unit") {
    rows <- .Call(C_unit_rows, data$x, 0, center)
    data$x <- rows$x
    if (center) data$center <- by_column(rows$mean, data, NA_real_)
    return(data)
  }
  if (scaling == "none" && largest(data$x) > 1e100) {
    refuse_data("scale", "The largest entry of `x` is ", signif(largest(data$x), 3L), ": its ",
      "squares would overflow with scale = FALSE. Use another unit, or scale = TRUE.")
  }
  moments <- prepare_columns(data$x, TRUE, "sd")
  shift <- if (center) moments$mean
  divide <- if (scaling == "zscore") moments$divide * sqrt(ncol(data$x))
  # Columns of several tables come divided by what these weigh as they are.
  if (!is.null(data$roots$scaled) && !is.null(divide)) divide <- divide * data$roots$scaled
  root <- if (is.null(data$roots$plain)) 1 else data$roots$plain
  if (center) data$center <- by_column(shift * root, data, NA_real_)
  if (!is.null(divide)) data$scale <- by_column(divide * root, data, NA_real_)
  if (center || !is.null(divide)) data$x <- .Call(C_take, data$x, NULL, NULL, shift, divide)
  data
}

# Rows on the simplex: shifted to start at 0 if negative, divided by their sum. `share`: the
# reliability of the columns, of which base methods know nothing: they see columns from 0 to 1.
normalise_scores <- function(scores, share = NULL) {
  scores <- scores - pmin(apply(scores, 1L, min), 0)
  if (!is.null(share)) scores <- sweep(scores, 2L, share, `*`)
  # First by the largest: a sum of huge scores must not overflow.
  top <- apply(scores, 1L, max)
  if (any(top <= 0)) {
    refuse("scores", "Base result ", which(top <= 0)[[1L]], " scores all features equally (after ",
      "shifting negative scores): it says nothing.")
  }
  scores <- scores / top
  scores / rowSums(scores)
}

# n x m integer labels.
check_base_labels <- function(labels, n, m) {
  if (!is.data.frame(labels) && !is.matrix(labels) || nrow(labels) != n || ncol(labels) != m) {
    refuse("labels", "`labels` must be a matrix of ", n, " x ", m, " (samples x base results)",
      if (length(dim(labels)) == 2L) paste0("; it is ", nrow(labels), " x ", ncol(labels)), ".")
  }
  if (anyNA(labels)) refuse("labels", "`labels` has missing values.")
  vapply(seq_len(m), function(k) canonical_labels(labels[, k, drop = TRUE]), integer(n))
}

# ---- base results -----------------------------------------------------------------------

# list(scores, base, resample): m x p scores of all p features of the user's x, and how they were
# made.
blfse_base_scores <- function(data, base, n_base, resample, n_clusters, n_features, base_args) {
  if (is.list(base)) {
    return(list(scores = scores_of_fits(base, data$p), base = "fits", resample = "none"))
  }
  table <- registry()
  if (!is.character(base) || !length(base) || !all(base %in% setdiff(names(table), "blfse")) ||
      any(vapply(table[base], `[[`, "", "selects") == "samples")) {
    refuse("base", "`base` must be names of methods that select features (see ufs_methods()), or ",
      "a list of fits.")
  }
  if (!is.list(base_args) || !all(names(base_args) %in% base) ||
      length(base_args) != length(names(base_args))) {
    refuse("base_args", "`base_args` must be a list named by methods of `base`.")
  }
  n_base <- check_count(n_base, "n_base", 2L)
  check_bytes(8 * as.double(n_base) * (data$p + data$n), "The base results",
    "Use a smaller `n_base`.")
  if (resample == "auto") {
    resample <- if (length(base) > 1L) "none" else
      if (data$n %/% n_base >= 10L) "batches" else "halves"
  }
  parts <- draw_parts(data$n, if (resample == "none") length(base) else n_base, resample)
  method <- rep_len(base, length(parts))
  # Columns from 0 to 1; a part at a time, so that x is not copied whole.
  low <- apply(data$x, 2L, min)
  high <- apply(data$x, 2L, max)
  names <- data$features[data$keep]
  fits <- one_warning(lapply(seq_along(parts), function(k) {
    part <- .Call(C_take, data$x, parts[[k]], NULL, low, high - low)
    dimnames(part) <- list(NULL, names)
    # A fit of one base method, with what it needs filled in.
    args <- base_args[[method[[k]]]]
    row <- registry()[[method[[k]]]]
    fill <- list(n_components = n_clusters, k = n_features)
    fill <- fill[names(fill) %in% required_arguments(row$fit)]
    if ("n_clusters" %in% row$arguments) fill$n_clusters <- n_clusters
    fill[names(row$base_args)] <- row$base_args
    fill[names(args)] <- args
    on_error(do.call(row$fit, c(list(part), fill)), function(e) {
      ufs_abort("base", "Base method \"", method[[k]], "\" failed on ", nrow(part), " samples: ",
        conditionMessage(e), argument = "base")
    })
  }))
  scores <- matrix(0, length(fits), data$p)
  scores[, data$keep] <- scores_of_fits(fits, ncol(data$x))
  list_of(scores, base, resample)
}

draw_parts <- function(n, m, resample) {
  if (resample == "none") return(rep(list(seq_len(n)), m))
  if (resample == "halves") return(lapply(seq_len(m), function(k) sample.int(n, ceiling(n / 2))))
  size <- n %/% m
  if (size < 3L) {
    refuse("n_base", "`n_base` = ", m, " batches of ", n, " samples have ", size, " samples each; ",
      "at least 3 are needed.")
  }
  drawn <- sample.int(n)
  lapply(seq_len(m), function(k) drawn[(k - 1L) * size + seq_len(size)])
}

# Many base fits on parts of the samples give the same warning: one for all, and none for features
# that are constant in a part, which is usual.
one_warning <- function(expr) {
  said <- character()
  value <- withCallingHandlers(expr,
    ufs_warning = function(w) {
      if (!inherits(w, "ufs_warning_constant")) said <<- c(said, conditionMessage(w))
      invokeRestart("muffleWarning")
    },
    ufs_message = function(m) invokeRestart("muffleMessage")
  )
  if (length(said)) {
    ufs_warn("base", length(said), " warning", if (length(said) > 1L) "s",
      " from the base methods; the first: ", said[[1L]])
  }
  value
}

# Scores of fits as rows; features without a score (constant for that fit) get its least.
scores_of_fits <- function(fits, p) {
  if (!length(fits) || !all(vapply(fits, inherits, NA, "ufs"))) {
    refuse("base", "A list of base results must hold fits of this package.")
  }
  for (fit in fits) check_fit(fit)
  if (any(vapply(fits, function(fit) is.null(fit$feature_scores), NA))) {
    refuse("base", "All fits must select features.")
  }
  if (any(vapply(fits, `[[`, 0L, "p") != p)) {
    refuse("base", "All fits must be of data with ", p, " features.")
  }
  rows <- lapply(fits, function(fit) {
    score <- unname(fit$feature_scores)
    # Shifted here, so that "no score" is not better than a negative one.
    score <- score - min(score, 0, na.rm = TRUE)
    replace(score, is.na(score), 0)
  })
  do.call(rbind, rows)
}

# Components of S if there are c, else k-means on the embedding, started at c samples
# as far apart as possible: no random numbers.
blfse_cluster <- function(s, component, n_component, n_clusters) {
  if (n_component == n_clusters || n_component == length(component)) return(component)
  low <- .Call(C_laplacian_low, s, n_clusters)
  check_solved(list(lapack = low$info), "blfse")
  y <- low$vectors
  at <- which.max(rowSums(y^2))
  far <- rep(Inf, nrow(y))
  while (length(at) < n_clusters) {
    far <- pmin(far, rowSums(sweep(y, 2L, y[at[length(at)], ])^2))
    if (max(far) <= 1e-12) return(component)
    at <- c(at, which.max(far))
  }
  run <- on_error(suppressWarnings(stats::kmeans(y, y[at, , drop = FALSE], iter.max = 100L)),
    function(e) NULL)
  if (is.null(run)) {
    # A centre lost all its samples: the nearest start decides.
    d <- vapply(at, function(i) rowSums(sweep(y, 2L, y[i, ])^2), numeric(nrow(y)))
    return(canonical_labels(max.col(-d, ties.method = "first")))
  }
  canonical_labels(run$cluster)
}

blfse_warnings <- function(fit) {
  if (!fit$control$warn) return(fit)
  m <- fit$params$n_base
  if (m < 10L) {
    ufs_warn("few_base", "ufs_blfse() with ", m, " base results: 10 or more are ",
      "recommended, since the weights collapse on one of a few.")
  }
  top <- c(alpha = max(fit$solution$alpha), beta = max(fit$solution$beta))
  if (any(top > 0.9)) {
    ufs_warn("collapse", "The weights have collapsed on one base result (largest alpha ",
      signif(top[["alpha"]], 3L), ", beta ", signif(top[["beta"]], 3L), "): the ",
      if (top[["alpha"]] > 0.9) "scores" else "clusters", " follow that one; ",
      "`solution$mean_score` has the plain mean.")
  }
  if (!fit$p_unique) {
    ufs_warn("projection", "The projection P is not unique (as always if p >= n): the clusters ",
      "hardly inform the scores, which stay near the mean of the base scores, weighted by alpha.")
  }
  fit
}

register("blfse", ufs_blfse,
  solve = solve_blfse,
  only = list(solver = "paper"),
  paper = alist(n_base = 10, resample = c("auto", "batches", "halves", "none"), base_args = list(),
    n_starts = 20, projection = c("paper", "isotropic"), order = c("paper", "code"),
    psi = c(0.9, 0.8, 0.7, 0.6, 0.5), gamma_cluster = 1, gamma_feature = 1),
  arguments = list(gamma_cluster = a_number(0, open = TRUE), gamma_feature = a_number(0, open =
    TRUE), n_starts = a_count(1L)),
  prepare = function(x, args) as_ufs_matrix(x, FALSE, FALSE, squares = FALSE),
  control = list(inner_max_iter = 5L, tol = 0, inner_tol = 1e-11),
  paper_grid = list(
    source = paste("Zhou, Wang and Du (2023): Algorithm 1, and the order of the authors' program;",
      "no other setting varies"),
    grids = list("Algorithm 1" = list(n_base = 10, gamma_cluster = 1, gamma_feature = 1,
      order = "paper"), program = list(n_base = 10, gamma_cluster = 1, gamma_feature = 1,
      order = "code"))),
  advice = "historical (for comparison)",
  group = "system", deterministic = FALSE, sized_by = "pca", per_k = "k",
  title = "Bi-level ensemble",
  cost = "iterations x (n^2 p + n^3 or p^3)",
  reference = "Zhou, Wang and Du (2023) <doi:10.1016/j.inffus.2023.101910>",
  refuses = c(weights = "it compares every pair of rows once")
)
