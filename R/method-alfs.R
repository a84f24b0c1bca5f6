#' Joint selection of samples and features (ALFS)
#'
#' Finds, in one problem, samples and features from which the whole matrix can be rebuilt. Use it
#' when you can label only some samples and keep only some features, and want both choices to fit
#' each other. The problem is convex, so the answer comes with a proof of how near to the optimum it
#' is. ALFS stands for active learning with feature selection.
#'
#' With X = `t(x)` (p x n, after centring and scaling) and W n x p it solves
#' \deqn{\min_W \|X - X W X\|_F^2 + \alpha \sum_i \|W_{i\cdot}\|_2 +
#'   \beta \sum_j \|W_{\cdot j}\|_2 + \lambda \sum_{ij} T_{ij} |(W X)_{ij}|}
#' with `T_ij = 1 / max(|cos(x_i, x_j)|, 1e-6)`. Samples are scored by the norms of the rows
#' of W, features by those of its columns. `lambda = 0` is the paper's ALFS-I, `lambda > 0`
#' ALFS-II, in which a sample is rebuilt from samples of similar direction. The paper adds a
#' constant to the cosine only where it is 0; the floor 1e-6 is the same thing without overflow.
#'
#' @section What to expect: Correlated features get similar norms, so the best features by norm are
#' redundant. Row norms favour samples far out, and miss classes where there are many. On six real
#' sets the published ranking by norms (`select = "norm", select_samples = "norm"`) was worse than
#' random choice, and that by picks (`select = "pivot", select_samples = "ted"`) a little better.
#' The ranking by norms shines where redundancy is the signal, as on Madelon. With `select = "auto"`
#' the function decides between the two without labels. The tables are in `vignette("evidence")`.
#' Compare with [ufs_random()] on your data.
#'
#' @section Rankings:
#' * `select = "norm"` and `select_samples = "norm"` rank by the norms of W, as published.
#' * `select = "pivot"` puts features in the order of greedy picks of transductive experimental
#'   design ([ufs_ted()], features as items, penalty 1 on standardised features). Pick r is made
#'   among the `max(450, 5 r)` columns of largest norm, in steps, so that selections stay nested: up
#'   to 90 picks come from 450 columns, up to 180 from 900 and so on, up to 500 picks. The others
#'   follow by norm.
#' * `select = "auto"` takes the picks if that raises the mean overlap of the 5 nearest neighbours
#'   (in all features against the best `n_features`) by more than .01, and otherwise the norms.
#' * `select_samples = "ted"` (the default) puts all samples in the order of greedy picks of the
#'   same design in the space of the best `n_features` features. `selected_samples(fit, m, k = 30)`
#'   uses the best 30 (at most 100) instead. Up to 1000 samples are picked one by one.
#' * `select_samples = "facility"` does the same with the picks of [ufs_facility()], which is the
#'   better choice where labels are few.
#'
#' Scores are in the order of the ranking: the norms of W where these rank, with exactly equal ones
#' (rows or columns of zeros) ranked by dual activity, `||P_i|| / alpha` and `||Q_j|| / beta`, which
#' says how near to being chosen they are. Where picks rank, the score is 1 for the first and falls
#' by 1/n (1/p) with each rank. `solution` has the norms in either case.
#'
#' @section Penalties:
#' The relative penalties are shares of `max_i ||2 (X'XX')_i||` (alpha), `max_j ||2 (X'XX')_j||`
#' (beta) and `2 max_i ||x_i||^2` (lambda). `alpha_rel = 1` alone makes all rows zero, `beta_rel =
#' 1` alone all columns, and so does `alpha_rel + beta_rel >= 1` (often less: on three of four sets
#' .4 + .4 did); `lambda_rel = 1` makes all zero, often much less does. Absolute values refer to the
#' matrix as the solver sees it, after `center` and `scale`; one of alpha and beta may be 0.
#'
#' The defaults .01 and .2 are what worked best without tuning on four sets. The paper's absolute
#' grid is that of `ufs_grid(x, "alfs", "paper")`. To tune without labels, use [ufs_tune()] over
#' `{.01, .05, .2, .4}^2` with `alpha_rel + beta_rel <= .5`. If W = 0 is the answer, a
#' warning says so and only the dual ranks. Below 1e-4 both penalties hardly select, and a
#' warning says that, too.
#'
#' `lambda_rel > 0` did not change accuracies beyond noise in our runs, costs more and needs eight
#' n x n matrices; the bytes are computed first.
#'
#' @section The proof:
#' The answer comes with a lower bound of the optimum. `certificate` holds `gap`, the relative
#' duality gap (objective minus bound, over objective): the objective is at most that far from the
#' optimum, whatever the iterations did. `dual` is the bound, `kkt` the largest relative violation
#' of the optimality conditions by W, P, Q (and L), and `primal_*` the relative differences between
#' W and its sparse copies. A gap below -1e-10 would be an error and gives the status `"numerical"`.
#'
#' @section Solvers:
#' `solver = "admm"`, the alternating direction method of multipliers, works in the coordinates of
#' the smaller side of `x`: about `9 r^3` flops first, then `4 n p r + 6 r^3` an iteration, r =
#' min(n, p). With `lambda > 0` it begins with few columns, lets others in when the certificate,
#' always that of the whole problem, asks for them, and goes over to Newton's method on those in use
#' where that is faster; each step is an iteration of the trace.
#'
#' `solver = "paper"` is the published Algorithm 1 on the matrix as it is. Its penalties `rho0
#' tau^k`, at most `rho_max`, force feasibility but not optimality, and its first penalty, its stop
#' and so its answer depend on the unit of `x`. Its W has no exact zeros, status "converged" means
#' its own stop, and the certificate says what that cost: at the default penalties on standardised
#' data it stopped far above the optimum (figures in `vignette("evidence")`). Its Theorem 3.1 is
#' about `tau = 1`.
#'
#' @section As published:
#' Settings of the published method that few users change are given in `control`, for example
#' `control = ufs_control(paper = list(alpha = 1, beta = 1))`. `fit$params` has the values used.
#' * `alpha, beta, lambda` (`NULL`): absolute penalties of the rows (samples), the columns
#'   (features) and the reconstruction weights, in place of their relative versions.
#' * `lambda_rel` (0): the penalty of the reconstruction weights as a share of the smallest value
#'   that alone gives W = 0; above 0 it is the paper's ALFS-II.
#' * `n_features` (`NULL`): the number of features that `select = "auto"` compares, and in whose
#'   space `select_samples = "ted"` and `"facility"` work; `NULL` is `k` or, without one, 50, at
#'   most half of the features.
#' * `rho0, tau, rho_max` (1e-6, 1.1, 1e10): for `solver = "paper"`: the first penalty, its
#'   growth per iteration (at least 1; 1 keeps it constant) and its largest value.
#'
#' @section The trace:
#' The trace has a row per iteration: `objective`, the lowest value found (it never rises); `dual`
#' and `gap`, bound and gap at the last check (every tenth iteration and where the gap should be
#' reached; the bound never falls, the gap never rises); `current`, the objective of the iteration's
#' own W, which is not sparse and may rise; `rows`, `columns` and, with `lambda > 0`, `weights`, the
#' relative differences between W (or WX) and its copies, which go to zero but not monotonically
#' (Newton steps need no copies: `rows` and `columns` say how far W is from its sparse form,
#' `weights` is 0). With `solver = "paper"` the objective is that of W itself.
#'
#' @inheritParams ufs_pca
#' @param alpha_rel,beta_rel The penalties of the rows (samples) and the columns (features), as
#'   shares of the smallest values that alone give W = 0. They are free of the scale of `x`.
#' @param solver `"admm"` for the solver with a proved gap, `"paper"` for the published one.
#' @param select,select_samples How features and samples are ranked, see the section "Rankings".
#' @param k,m The numbers of features and of samples to choose, whole numbers, or `NULL` (the
#'   default) to leave them open. They change no score: [selected_features()], [selected_samples()],
#'   [predict.ufs()], `print()` and `plot()` use them.
#' @param labelled Samples that are labelled already: indices, row names, or a logical vector of
#'   length n. They are not chosen: their score is `NA` and they come last. Picks (`select_samples =
#'   "ted"` and `"facility"`) complement them.
#' @param control Iteration limits and tolerances, made by [ufs_control()]. `max_iter` is 2000, and
#'   `tol`, the relative duality gap, is 1e-4 at `lambda = 0` and 1e-3 above. With `"paper"`,
#'   `max_iter` is 600, and `tol` 1e-3 is the published absolute and relative epsilon, not the gap.
#' @return A fit of class `c("ufs_alfs", "ufs")`. `solution` holds W (n x p, exact zeros) with its
#'   `row_norm` and `column_norm`, P and Q (n x p) and, with `lambda > 0`, L (n x n): a feasible
#'   point of the dual, `P + Q + L X'` with `||P_i|| <= alpha`, `||Q_j|| <= beta`, `|L| <= lambda
#'   T`, the very point that proves `certificate["dual"]`.
#' @references Li, Wang, Dong, Yan, Liu and Zha (2019) Joint active learning with feature
#'   selection via CUR matrix decomposition. IEEE Transactions on Pattern Analysis and Machine
#'   Intelligence 41, 1382-1396. \doi{10.1109/TPAMI.2018.2840980}
#' @seealso [representatives()] for which samples rebuild which, [ufs_facility()] and [ufs_css()]
#'   for either choice on its own.
#' @section Plots:
#' `"objective"` of [plot.ufs()] has the lower bound beside it.
#' @examples
#' # Three columns to keep and five cars to label
#' fit <- ufs_alfs(mtcars, alpha_rel = .1)
#' fit
#' selected_features(fit, k = 3)
#' selected_samples(fit, m = 5)
#' plot(fit)
#'
#' # The paper's Figure 3: two features, one with more variance; ALFS keeps that one and
#' # samples along it.
#' set.seed(1)
#' x <- cbind(a = rnorm(60, sd = 3), b = rnorm(60, sd = .6))
#' fit <- ufs_alfs(x, alpha_rel = .2, beta_rel = .3, scale = FALSE)
#' best <- selected_features(fit, 1)
#' chosen <- selected_samples(fit, 12, as = "index")
#' plot(x, asp = 1, col = "blue")
#' points(x[chosen, best], rep(0, 12), col = "red")
#' @export
ufs_alfs <- function(x, solver = c("admm", "paper"), ..., select = c("norm", "pivot", "auto"),
                     select_samples = c("ted", "facility", "norm"), k = NULL, m = NULL,
                     labelled = NULL, center = TRUE, scale = TRUE, control = ufs_control(),
                     alpha_rel = 0.01, beta_rel = 0.2) {
  run_fit("alfs", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_alfs <- function(data, control, alpha, beta, lambda, alpha_rel, beta_rel, lambda_rel, solver,
                       select, select_samples, n_features, rho0, tau, rho_max, k, labelled, center,
                       scale, x, ...) {
  # The penalties of Algorithm 1: rho0 tau^k, at most rho_max.
  schedule <- if (solver == "paper") {
    rho0 <- check_number(if (is.null(rho0)) 1e-6 else rho0, "rho0", lower = 0, open = TRUE)
    list(rho0 = rho0, tau = check_number(if (is.null(tau)) 1.1 else tau, "tau", lower = 1),
      rho_max = check_number(if (is.null(rho_max)) max(1e10, rho0) else rho_max, "rho_max", rho0))
  }
  given <- names(Filter(Negate(is.null), list_of(rho0, tau, rho_max)))
  if (is.null(schedule) && length(given)) {
    refuse(given[1L], "`", given[1L], "` is for solver = \"paper\".")
  }
  # Algorithm 1 and neighbours work on x itself; so do the candidates for W with lambda > 0, whose
  # n x n and n x p numbers are many times those of x.
  given <- if (is.null(lambda)) lambda_rel else lambda
  products <- solver == "admm" && select != "auto" && is.numeric(given) && isTRUE(given == 0)
  data <- if (products) as_ufs_operator(x, center, scale) else as_ufs_matrix(x, center, scale)
  labelled <- check_labelled(labelled, data)
  usable <- length(data$keep)
  if (is.null(n_features)) n_features <- k
  n_features <- if (is.null(n_features)) max(1L, min(50L, usable %/% 2L)) else
    min(usable, check_count(n_features, "n_features", 1L, data$p, "the features of `x`"))
  basis <- alfs_basis(data$x)
  penalty <- alfs_penalties(basis, alpha, beta, lambda, alpha_rel, beta_rel, lambda_rel)
  found <- alfs_solve(data, basis, penalty, solver, control, schedule)
  activity <- function(norms, bound) if (bound > 0) norms / bound
  weighted <- penalty[["lambda"]] > 0
  list(
    data = data, control = found$control, run = found$run,
    params = c(as.list(penalty), list_of(solver, select, select_samples, n_features, labelled),
      schedule),
    feature_scores = found$col_w, feature_key = activity(found$col_q, penalty[["beta"]]),
    sample_scores = without_labelled(found$row_w, labelled),
    sample_key = activity(found$row_p, penalty[["alpha"]]),
    solution = c(list(W = found$w, P = found$p, Q = found$q,
      row_norm = stats::setNames(found$row_w, data$samples),
      column_norm = expand_features(found$col_w, data, NA_real_)),
      if (weighted) list(L = `dimnames<-`(found$l, list(data$samples, data$samples)))),
    by_ranking = if (select_samples == "norm") "labelled",
    certificate = found$run$counters[c("gap", "dual", "kkt", "primal_rows", "primal_columns",
      if (weighted) "primal_weights")],
    coef_name = "W",
    support = c(samples = sum(found$row_w > 0), features = sum(found$col_w > 0)),
    finish = function(fit) alfs_rank(fit, data)
  )
}

# ---- parts --------------------------------------------------------------------------

# alpha, beta, lambda, and the same as shares of their bounds: alpha_rel, beta_rel, lambda_rel.
alfs_penalties <- function(basis, alpha, beta, lambda, alpha_rel, beta_rel, lambda_rel) {
  # The largest useful penalties are norms of the rows and columns of 2X'XX', and 2 max ||x_i||^2.
  bound <- stats::setNames(as.list(basis$bound), c("alpha", "beta", "lambda"))
  if (!all(is.finite(unlist(bound)) & unlist(bound) > 1e-290)) {
    refuse_range("The third powers of the values of `x`")
  }
  found <- Map(check_penalty, list(alpha, beta, lambda), list(alpha_rel, beta_rel, lambda_rel),
    bound, names(bound), zero = TRUE)
  penalty <- c(vapply(found, `[[`, 0, "value"), vapply(found, `[[`, 0, "rel"))
  if (all(penalty[1:2] == 0)) {
    refuse("alpha", "`alpha` and `beta` are both 0: nothing would be selected.")
  }
  stats::setNames(penalty, c(names(bound), paste0(names(bound), "_rel")))
}

alfs_solve <- function(data, basis, penalty, solver, control, schedule) {
  weighted <- penalty[["lambda"]] > 0
  control <- resolve_control(control, max_iter = if (solver == "paper") 600L else 2000L,
    tol = if (solver == "paper" || weighted) 1e-3 else 1e-4)
  shape <- shape_of(data)
  # W, P, Q and what the solver adds (src/alfs.h).
  n <- as.double(data$n)
  q <- length(data$keep)
  small <- min(n, q)
  numbers <- 3 * n * shape$p + (if (max(n, q) < 4 * small) n * q else 0) + 6 * small^2
  if (weighted) numbers <- numbers + 7 * n^2 + 8 * n * q + min(n * q^2, max(16 * n^2, 2e7))
  check_bytes(8 * numbers, paste0("ufs_alfs()", if (weighted) " with lambda > 0"),
    if (weighted) "Use lambda = 0 (no n x n matrix), or fit on a random part of the samples." else
      "Fit on a random part of the samples.")
  c(alfs_call(data$x, basis, unname(penalty[1:3]), control,
    c(list(paper = solver == "paper", p = shape$p, keep = shape$keep,
      dimnames = list(data$samples, shape$features)), schedule)), list(control = control))
}

# ---- rankings other than by norm ---------------------------------------------------

alfs_rank <- function(fit, data) {
  rel <- unlist(fit$params[c("alpha_rel", "beta_rel", "lambda_rel")])
  if (isTRUE(fit$control$warn) && fit$support[["samples"]] == 0L && fit$status == "converged") {
    ufs_warn("zero", "W = 0 is the optimum at these penalties (",
      paste(names(rel), signif(rel, 3L), sep = " = ", collapse = ", "),
      "): only the dual ranks. Lower them.")
  } else if (isTRUE(fit$control$warn) && max(rel[1:2]) < 1e-4) {
    ufs_warn("weak", "alpha_rel and beta_rel are both below 1e-4: W is nearly a ",
      "pseudo-inverse and selects little. Try alpha_rel = .01, beta_rel = .2.")
  }
  start <- proc.time()[[3L]]
  if (fit$params$select != "norm") fit <- alfs_pivot(fit, data)
  # The samples in the order of picks in the space of the chosen features.
  if (fit$params$select_samples != "norm") {
    columns <- kept_order(fit, data)
    most <- min(length(columns), max(100L, fit$params$n_features))
    fit$space <- unname(x_columns(data$x, columns[seq_len(most)]))
    fit <- rank_by_cover(fit, fit$params$n_features)
  }
  shown <- utils::head(fit$sample_ranking, if (is.null(fit$params$m)) 10L else fit$params$m)
  fit$params$copies <- near_copies(data$x, setdiff(unname(shown), fit$params$labelled))
  fit$elapsed <- fit$elapsed + proc.time()[[3L]] - start
  fit
}

# The features in the order of greedy TED picks among those of large norm.
alfs_pivot <- function(fit, data) {
  by_norm <- kept_order(fit, data)
  order <- pivot_order(data$x, by_norm)
  if (fit$params$select == "auto") {
    top <- seq_len(fit$params$n_features)
    kept <- neighbours_kept(data$x)
    gain <- kept(order[top]) - kept(by_norm[top])
    fit$params$select <- if (gain > .01) "pivot" else "norm"
    fit$params$overlap_gain <- gain
    if (gain <= .01) return(fit)
  }
  fit$feature_scores[] <- rank_scores(unique(data$keep[order]), usable(data), data$p)
  fit$feature_key[data$keep] <- 0
  rank_features(fit, data)
}

# Greedy TED on the columns of x, `by_norm` in the order of their norms: pick r is made among at
# least max(450, 5 r) columns. The pool doubles when the picks reach a fifth of it; the columns are
# then deflated by those picked, which is what TED's own deflation does: with S the picked, x'x -
# x'S (S'S + mu)^-1 S'x = y'y for y = (I + SS'/mu)^(-1/2) x.
pivot_order <- function(x, by_norm, first = 450L, most = 500L) {
  mu <- mean(x_ss(x)) / (nrow(x) - 1)
  picked <- integer()
  pool <- min(first, length(by_norm))
  columns <- function(j) x_columns(x, j)
  repeat {
    full <- pool == length(by_norm)
    until <- min(most, if (full) length(by_norm) else pool %/% 5L)
    open <- setdiff(by_norm[seq_len(pool)], picked)
    picked <- c(picked, open[ted_greedy(t(columns(open)), until - length(picked), mu)$order])
    if (full || until == most) return(c(picked, setdiff(by_norm, picked)))
    s <- svd(x_columns(x, picked), nv = 0L)
    shrink <- 1 - sqrt(mu / (s$d^2 + mu))
    columns <- function(j) {
      z <- x_columns(x, j)
      z - s$u %*% (shrink * crossprod(s$u, z))
    }
    pool <- min(2L * pool, length(by_norm))
  }
}

# The fit with its samples in the order of picks in the space of the best k features, beyond 1000
# picks by the norms of W; those with labels, which the picks complement, come last.
rank_by_cover <- function(fit, k) {
  z <- fit$space[, seq_len(k), drop = FALSE]
  given <- as.integer(fit$params$labelled)
  most <- min(nrow(z) - length(given), 1000L)
  ranking <- if (fit$params$select_samples == "ted") ted_order(z, most, given) else {
    picks <- facility_order(z, most, given)
    c(picks, setdiff(ufs_rank(fit$solution$row_norm, row_norms(fit$solution$P)), c(picks, given)))
  }
  fit$sample_scores[] <- rank_scores(setdiff(ranking, given), fit$n)
  fit$sample_key <- rep(0, fit$n)
  rank_samples(fit)
}

# All rows of x but those given by greedy TED picks; beyond `most` by what each would bring.
ted_order <- function(x, most, given = integer()) {
  out <- ted_greedy(x, most, 0.01 * mean_square(x), open = list(labelled = given))
  picks_first(out$order, out$left, setdiff(seq_len(nrow(x)), given))
}

#' @export
selected_samples.ufs_alfs <- function(fit, m = NULL, as = NULL, k = NULL, ...) {
  if (is.null(k)) return(NextMethod())
  if (fit$params$select_samples == "norm") {
    refuse("k", "`k` is for fits with select_samples = \"ted\" or \"facility\": row norms do not ",
      "depend on the number of features.")
  }
  check_dots_empty(...)
  k <- check_count(k, "k", 1L, ncol(fit$space), "features kept for this")
  selected_samples.ufs(rank_by_cover(fit, k), m, as)
}

# ---- print and plot ----------------------------------------------------------------

#' @export
print_notes.ufs_alfs <- function(x) {
  rel <- unlist(x$params[c("alpha_rel", "beta_rel", if (x$params$lambda > 0) "lambda_rel")])
  ranked <- c(if (x$params$select == "pivot") "features by pivots",
    switch(x$params$select_samples, ted = "samples by TED",
      facility = "samples by facility location"))
  c(sprintf("non-zero     %d of %d samples and %d of %d features (%s)", x$support[["samples"]], x$n,
    x$support[["features"]], x$p, paste(names(rel), signif(rel, 3L), sep = " = ", collapse = ", ")),
    if (x$params$solver == "paper") {
      "paper        Algorithm 1 stops by its own rule; the gap says what that costs"
    },
    if (length(ranked)) paste0("ranking      ", paste(ranked, collapse = ", ")), labelled_note(x),
    copies_note(x),
    if (x$params$select_samples == "norm") {
      "for labels   use select_samples = \"facility\": row norms do worse than chance there"
    })
}

#' @export
picture.ufs_alfs <- function(object, type, ...) {
  if (type != "objective") return(NextMethod())
  table <- object$trace
  new_picture("curves",
    table = data.frame(x = table$iteration, y = c(table$objective, table$current, table$dual),
      series = rep(c("lowest objective", "current iterate", "lower bound"), each = nrow(table))),
    xlab = "iteration", ylab = "objective",
    title = sprintf("ufs_alfs: objective (%s, relative gap %s)", status_words(object$status),
      signif(object$certificate[["gap"]], 2L)))
}

#' @rdname representatives
#' @export
representatives.ufs_alfs <- function(fit, x, n = 3L, m = NULL, ...) {
  check_dots_empty(...)
  n <- check_count(n, "n", 1L)
  if (missing(x)) refuse("x", "`x`, the data of the fit, is missing.")
  check_door(x, "representatives()", fit = fit)
  x <- new_columns(fit, x, arg = "x")
  rows <- rownames(x)
  if (!all(is.finite(x))) refuse_data("x", "`x` has missing or infinite values.")
  x <- scaled_as(fit, x)
  from <- which(rowSums(fit$solution$W != 0) > 0)
  if (!is.null(m)) from <- intersect(from, suppressMessages(selected_samples(fit, m, as = "index")))
  name <- function(index, names) {
    if (is.null(names) || any(shared_names(names))) index else names[index]
  }
  if (!length(from) || !nrow(x)) {
    return(data.frame(sample = name(integer(), rows),
      representative = name(integer(), fit$names$samples), weight = numeric(), share = numeric()))
  }
  n <- min(n, length(from))
  w <- fit$solution$W[from, , drop = FALSE]
  # Blocks of samples: never all of W X at once.
  parts <- lapply(split(seq_len(nrow(x)), (seq_len(nrow(x)) - 1L) %/% 500L), function(block) {
    weight <- tcrossprod(w, x[block, , drop = FALSE])
    top <- matrix(apply(-abs(weight), 2L, order), nrow(weight))[seq_len(n), , drop = FALSE]
    value <- weight[cbind(as.vector(top), rep(seq_along(block), each = n))]
    data.frame(sample = name(rep(block, each = n), rows),
      representative = name(from[as.vector(top)], fit$names$samples), weight = value,
      share = abs(value) / rep(pmax(colSums(abs(weight)), .Machine$double.xmin), each = n))
  })
  out <- do.call(rbind, unname(parts))
  out <- out[out$weight != 0, ]
  rownames(out) <- NULL
  out
}

register("alfs", ufs_alfs,
  solve = solve_alfs,
  paper = alist(alpha = NULL, beta = NULL, lambda = NULL, lambda_rel = 0, n_features = NULL,
    rho0 = NULL, tau = NULL, rho_max = NULL),
  advice = "situational: compressing by select = \"pivot\"; take ufs_css() first",
  group = "system", selects = "both",
  title = "Joint selection of samples and features (ALFS)",
  cost = "n p min(n, p) per iteration",
  reference = "Li et al. (2019) <doi:10.1109/TPAMI.2018.2840980>",
  paper_grid = list(source = "Li et al. (2019), section 4.1", grids = list(
    "ALFS-II" = list(alpha = 10^(-4:3), beta = 10^(-4:3), lambda = 10^(-4:3)),
    "ALFS-I" = list(alpha = 10^(-4:3), beta = 10^(-4:3), lambda = 0))),
  constraints = "labelled",
  refuses = c(weights = "a row that stood for several would pay once to rebuild all of them")
)
