#' Nonnegative discriminative feature selection (NDFS)
#'
#' Learns cluster indicators of the samples and, at the same time, the few features from which the
#' indicators can be predicted. Use it when you expect clusters and want features that separate them
#' jointly; [ufs_mcfs()] is the faster method of the same idea.
#'
#' The indicators F are smooth on the neighbour graph, and the regression W on them is row-sparse:
#' \deqn{\min_{F \ge 0, W} tr(F'LF) + \alpha (\|F - XW\|^2 + \beta \sum_j \|w_j\|) +
#'   \tfrac{\gamma}{4} \|F'F - I\|^2}
#' F is n x c, W is p x c, and L = D - W is the Laplacian of the graph (or the normalised one). The
#' score of feature j is \eqn{\|w_j\|^2}. Features that explain none of F (their correlation with it
#' is below beta / 2 at unit norm) have score 0 and are ranked by that correlation; `print()` tells
#' how many are above 0.
#'
#' # How much the start decides
#' With the usual `gamma = 1e8` the indicators stay at their start. The method is then a row-sparse
#' regression on k-means labels, and all rests on those, whatever `beta` is. Set the seed, or give
#' labels. With `gamma = 1` F does move; an example with figures is in `vignette("evidence")`.
#'
#' # The update of F
#' The multiplicative update of F divides by a matrix that can have negative entries, and public
#' codes divide by a tiny guard there. `update = "split"` moves the negative part to the numerator
#' instead; `"paper"` clips. The two agree for large `gamma`. With `gamma` of 100 or less the
#' objective can rise in either; `solver = "exact"` then takes the step back and goes along the
#' gradient, so it never rises, and `"irls"` does not.
#'
#' An iteration of `"exact"` costs that of the features in use, and every tenth and the last one 2 n
#' p c flops; one of `"irls"` costs p^3 / 3 flops if p <= n and n^2 p + n^3 / 3 otherwise, and 4 n p
#' c. There is no p x p matrix if p > n.
#'
#' @inheritParams ufs_rsr
#' @inheritParams ufs_laplacian
#' @param n_clusters The number of clusters c, from 2 to n - 1.
#' @param alpha The weight of the regression.
#' @param beta The weight of the row sparsity. With columns of unit norm (`scale = TRUE`) W is zero
#'   from `2 max_j |x_j'F|` on, which is at most 2. With `scale = FALSE` it goes with the unit: of
#'   raw pixels, which go to 255, 1 keeps nearly all features, and such a fit takes long.
#' @param gamma The weight of the orthogonality of the indicators.
#' @param init The start of F: `"kmeans"` (the best of `n_starts` runs drawn from R's random numbers
#'   on the data as used), `"pca_part"` (one run from a start without random numbers, see
#'   [ufs_kmeans_f()]), a vector of n labels, or an n x c nonnegative matrix, used as it is.
#' @param n_starts The number of k-means starts.
#' @param offset A number that is added to the start from labels, whose columns have unit norm.
#'   Without it a zero of F could never change.
#' @param laplacian `"unnormalised"` for L = D - W, or `"normalised"` for \eqn{D^{-1/2} L D^{-1/2}}.
#' @param update How F stays nonnegative: `"split"` moves negative parts to the numerator, `"paper"`
#'   clips.
#' @param start The first weights of the rows of W with `"irls"`: `"ridge"` (all 1) or `"zero"` (of
#'   W = 0, as in the authors' code). They change the path, and the result of few iterations.
#' @param solver `"exact"` solves the regression for W in every iteration, with rows that are
#'   exactly zero. `"irls"` is the authors' plain iteration, one reweighted least-squares step.
#' @param center,scale Should the columns be centred, and scaled to unit norm? With `scale = FALSE`
#'   the weights of the penalties depend on the unit of `x`.
#' @param control Iteration limits and tolerances, made by [ufs_control()]: `max_iter` (default
#'   300), `tol` (1e-6, relative change of the objective), `inner_tol` (the `kkt` below which the
#'   fit counts as converged: 0.01 with `"exact"`, no limit with `"irls"`) and `eps` (1e-16, added
#'   to the squared row norms of W; with `"exact"` there is nothing to smooth and it is 0).
#' @return A fit of class `c("ufs_ndfs", "ufs")`. `solution` holds `F` (n x c), `W` (p x c),
#'   `cluster` (the largest entry of each row of F) and `graph`. `trace` has the objective and
#'   `orthogonality`, \eqn{\|F'F - I\|}. `certificate` has that last value and `kkt`, the largest
#'   violation of the optimality conditions of W given F, relative to beta / 2.
#' @references Li, Yang, Liu, Zhou and Lu (2012) Unsupervised feature selection using nonnegative
#'   spectral analysis. AAAI 26, 1026-1032. \doi{10.1609/aaai.v26i1.8289}
#' @seealso [ufs_mcfs()], [ufs_socfs()]
#' @examples
#' set.seed(1)
#' fit <- ufs_ndfs(iris[, 1:4], n_clusters = 3)
#' selected_features(fit, k = 2)
#'
#' # Do the learnt clusters agree with the species?
#' table(fit$solution$cluster, iris$Species)
#'
#' # Labels of your own as the start
#' fit <- ufs_ndfs(iris[, 1:4], n_clusters = 3, init = iris$Species)
#' fit
#' @export
ufs_ndfs <- function(x, n_clusters, graph = NULL, ..., alpha = 1, beta = 1, gamma = 1e8,
                     init = "kmeans", n_starts = 20, offset = 0.02,
                     laplacian = c("unnormalised", "normalised"),
                     update = c("split", "paper"), start = c("ridge", "zero"),
                     solver = c("exact", "irls"), k = NULL,
                     center = TRUE, scale = TRUE, control = ufs_control()) {
  run_fit("ndfs", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_ndfs <- function(data, control, n_clusters, graph, alpha, beta, gamma, init, n_starts, offset,
                       laplacian, update, start, solver, ...) {
  control$eps <- check_eps(control$eps, 1e-16)
  exact <- solver == "exact" && control$tol >= 0
  if (exact) control$eps <- 0
  n_clusters <- check_clusters(n_clusters, data$n)
  graph <- as_ufs_graph(graph, data)
  f0 <- ndfs_start(init, data, n_clusters, n_starts, offset)
  settings <- list_of(alpha, beta, gamma,
    start_g = if (start == "ridge") 1 else 2 * sqrt(control$eps), exact,
    split = update == "split", normalised = laplacian == "normalised")
  settings["factor"] <- list(if (exact) penalty_factor(data$held, length(data$keep)))
  first <- if (exact) same_penalty(equal_columns(data$x), settings$factor)
  settings["first"] <- list(first)
  found <- .Call(C_ndfs, data$x, unclass(graph), f0, settings, control)
  if (exact) {
    found[c("w", "reach")] <- lapply(found[c("w", "reach")], mean_of_copies, first)
    if (anyDuplicated(first)) {
      # How far W is from optimal for F, relative to beta / 2: the C solver's measure, of the W
      # that is returned where equal columns share theirs.
      gradient <- crossprod(data$x, found$f - data$x %*% found$w) / (beta / 2)
      norm <- sqrt(rowSums(found$w^2))
      own <- if (is.null(settings$factor)) rep(1, length(norm)) else settings$factor
      nonzero <- norm > 0 | own == 0
      pull <- found$w / ifelse(norm > 0, norm, 1)
      size <- ifelse(own == 0, 1, own)
      off <- sqrt(rowSums((gradient - own * nonzero * pull)^2)) / size - !nonzero
      found$run$counters[["kkt"]] <- max(0, off[is.finite(own)])
    }
  }
  row_ss <- rowSums(found$w^2)
  rownames(found$f) <- data$samples
  list(
    params = c(list_of(n_clusters, alpha, beta, gamma,
      init = if (is.character(init)) init else "given", n_starts, offset, laplacian, update,
      start, solver), graph_params(graph)),
    run = found$run, feature_scores = row_ss, feature_key = found$reach,
    solution = list(F = found$f, W = expand_features(found$w, data),
      cluster = stats::setNames(max.col(found$f, ties.method = "first"), data$samples),
      graph = graph),
    certificate = found$run$counters[c("orthogonality", "kkt")],
    n_nonzero = count_nonzero(row_ss, control$eps), coef_name = "W",
    by_ranking = if (!exact) penalty_constraints, control = control,
    finish = function(fit) warn_few_scores(fit, 0L, "Use a smaller `beta`.")
  )
}

# The first F: n x c, nonnegative.
ndfs_start <- function(init, data, n_clusters, n_starts, offset) {
  if (is.matrix(init)) {
    f <- check_matrix(init, "init", data$n, n_clusters)
    if (any(f < 0) || any(colSums(f) == 0)) {
      refuse("init", "`init` must be nonnegative, without a zero column.")
    }
    return(f)
  }
  if (is_kmeans_start(init)) {
    runs <- runs_from(init, data$x, n_clusters, n_starts)
    if (is.null(runs)) {
      refuse("n_clusters", "k-means cannot make ", n_clusters, " clusters: `x` has too few ",
        "distinct rows.")
    }
    labels <- runs[[1L]]$cluster
  } else labels <- check_start_labels(init, data$n, n_clusters)
  indicator(labels, n_clusters) + offset
}

register("ndfs", ufs_ndfs,
  solve = solve_ndfs,
  control = function(args) {
    list(max_iter = 300L, tol = 1e-6,
      inner_tol = if (args$solver == "exact") 0.01 else .Machine$double.xmax)
  },
  arguments = list(alpha = a_number(lower = 0, open = TRUE), beta = a_number(lower = 0, open =
    TRUE), gamma = a_number(lower = 0, open = TRUE), n_starts = a_count(1L), offset =
    a_number(lower = 0)),
  prepare = function(x, args) as_ufs_matrix(x, args$center, args$scale, by = "norm"),
  advice = "situational",
  deterministic = FALSE,
  title = "Nonnegative discriminative feature selection",
  cost = "graph, then min(n, p)^2 p per iteration",
  reference = "Li et al. (2012) <doi:10.1609/aaai.v26i1.8289>",
  shares = list(argument = "init", unless = c("n_clusters", "n_starts", "center", "scale"),
    make = function(x, value) {
      if (is.null(value("n_clusters"))) return(NULL)
      data <- as_ufs_matrix(open_quietly(x), value("center"), value("scale"))
      kmeans_runs(data$x, value("n_clusters"), value("n_starts"))[[1L]]$cluster
    }),
  constraints = penalty_constraints,
  refuses = c(weights = "its graph and its labels have each row once")
)
