#' Transductive experimental design (TED)
#'
#' Chooses samples from which all samples are best reconstructed; equivalently, samples such that a
#' ridge regression fitted to them predicts all samples well, whatever their labels will be. It is
#' the classical choice of experimental design and covers the directions in which the data vary. If
#' the aim is to choose what to label, begin with [ufs_facility()] or [ufs_medoids()] instead: they
#' did better on real data (`vignette("which-samples")`; the figures are in `vignette("evidence")`).
#' Spectra and other smooth curves are the exception: for these take `similarity = "heat"` on the
#' leading components, as [ufs_select()] does with `task = "label"` (`vignette("laboratory")`).
#'
#' Do not use linear TED when there are only two or three features. These span everything after as
#' many picks, and what follows repeats the extremes; print() counts the picks that are nearly
#' copies of an earlier one. `similarity = "heat"` is free of this.
#'
#' # Similarities
#' Linear TED sees samples by their inner products, and asks which of them let a *linear* model
#' predict all. Any kernel K can take the place of xx':
#' * `"linear"` is xx'.
#' * `"cosine"` is the cosine of the angle between two rows, the same as `unit = TRUE`.
#' * `"heat"` is `exp(-d_ij^2 / bandwidth)`, for a model that is smooth but not linear. Far pairs of
#'   samples have nothing in common, so a new region of the data always lowers J more than a copy of
#'   a pick. For spectra use `ufs_data(rows = "snv")` first. Rows that are far from all others (the
#'   third nearest row is much farther than with most rows, and twice as far as rows usually are
#'   from each other, both squared) are named in a message of class `ufs_message_outliers` and not
#'   picked.
#' * A symmetric positive semidefinite n x n matrix of your own.
#'
#' Of a kernel only some columns are computed: Cholesky with pivots writes K as RR' up to a rest,
#' with R of at most `max(sqrt(4e9 / n), m + 100)` columns, and TED runs on the rows of R.
#' `certificate` has the share of the trace of K in that rest (`trace_left`; 1e-4 at most unless R
#' is full). Many unrelated columns fill R and leave more, since in a heat kernel hardly two samples
#' are then alike; `n_scores`, or a wider `bandwidth`, leaves less.
#' Nothing of size n x n exists. It takes `2 r n (p + r)` flops for r columns, and J is in
#' units of K.
#'
#' # Greedy and convex form
#' `form = "greedy"` (Yu, Bi and Tresp 2006) picks one sample after the other. With x_i the i-th row
#' of `x` and S the chosen samples,
#' \deqn{J(S) = \sum_i \min_a \|x_i - \sum_{j \in S} a_j x_j\|^2 + \mu \|a\|^2}
#' and each pick lowers J as much as one sample can. The picks are exact: with K = xx' deflated
#' by the earlier picks, sample j lowers J by `||K_j||^2 / (K_jj + mu)`. The ranking is the
#' order of picking and serves every number of samples at once. It takes `3 n p^2 + 4 n p m`
#' flops or, if less, `n^2 p + 6 n^2 m`; K is never formed when p is small. Sparse data and
#' data on disk with more samples than features are used by products and single rows (but not with
#' `unit`), with three p x p matrices in memory; others by one n x n matrix.
#'
#' `form = "convex"` (after Yu, Zhu, Xu and Gong 2008) weighs all samples at once,
#' \deqn{\min_A \|X - A X\|_F^2 + \mu \sum_j \|A_{\cdot j}\|_2,}
#' and sample j scores the norm of its column of A. This is the paper's problem with its auxiliary
#' weights minimised out. It is solved by the alternating direction method of `ufs_alfs()`, in n x r
#' coordinates (r is the rank of `x`), to a relative duality gap of at most `tol`. Scores of samples
#' that are not needed are exactly zero, and these samples rank by their dual `activity`. Similar
#' samples share their norm, so the best m are less spread than the greedy ones.
#'
#' # Choosing the penalty
#' A small `mu` spreads the picks. A large one picks samples far from the centre along the main
#' direction, again and again, and so covers less than random picks do.
#'
#' # Ties
#' Ties go to the lowest index. Decreases d within `1e-12 sqrt(d d_1)`, with d_1 the decrease of the
#' first pick, count as equal, so that the order does not depend on the linear algebra library.
#'
#' @inheritParams ufs_rrss
#' @param mu The penalty, a positive number in squared units of `x`. The default `NULL` computes it
#'   from `mu_rel`. [ufs_grid()] has the published grid of values.
#' @param form `"greedy"` for picks one by one, or `"convex"` for one joint problem.
#' @param mu_rel The penalty as a share, which is free of the scale of `x`: of the mean squared norm
#'   of the samples for `form = "greedy"` (default 0.01), or of `max_j ||2 X x_j||`, the smallest
#'   value at which A = 0 is optimal, for `form = "convex"` (default 0.01).
#' @param m The number of samples to choose, which [selected_samples()], `print()` and `plot()` then
#'   use. With `form = "greedy"` so many are picked one by one (`NULL`: all, but at most 1000); the
#'   rest are ranked by the decrease that each would add next.
#' @param unit Should the rows of the prepared `x` be scaled to unit length? Then only the direction
#'   of a sample counts, not how far out it lies.
#' @param similarity How samples are compared: `"linear"`, `"heat"`, `"cosine"`, or an n x n kernel
#'   matrix. `form = "convex"` has the linear one and the cosine only.
#' @param bandwidth For `"heat"`, a positive number in squared units of the (standardised) columns.
#'   The default `NULL` takes the median squared distance (of at most 2000 evenly spaced rows).
#' @param labelled Samples that are labelled already: indices, row names, or a logical vector of
#'   length n. They are not chosen: their score is `NA` and they come last. The others complement
#'   them: with `form = "convex"` there is no penalty on their columns of A.
#' @param n_scores Compare samples by so many leading principal component scores of the prepared
#'   `x`; for spectra those that hold nearly all variance. The default `NULL` compares them by all
#'   columns.
#' @param control Iteration limits and tolerances, made by [ufs_control()]. Only `form = "convex"`
#'   has iterations: `max_iter` is 2000 and `tol`, the relative duality gap, 1e-4.
#' @return A fit of class `c("ufs_ted", "ufs")`; [selected_samples()] gives the samples.
#'   * With `form = "greedy"` the score is 1 for the first pick and falls by 1/n with each rank.
#'     `statistic` is the decrease of J by each sample (at its pick, or as the next pick), `trace`
#'     has J after each pick, `certificate` is that of the kernel (see there), `solution` holds the
#'     `order` of the picks and `params$labelled` the indices of the labelled samples.
#'   * With `form = "convex"` the score is the norm. `certificate` has the relative duality `gap`
#'     and the `dual` bound; `trace` has the `objective`, `bound` and `gap` of every iteration, with
#'     the residuals that [ufs_alfs()] describes; `solution` holds the `activity`.
#' @references Yu, Bi and Tresp (2006) Active learning via transductive experimental
#'   design. ICML 23, 1081-1088. \doi{10.1145/1143844.1143980}
#'
#'   Yu, Zhu, Xu and Gong (2008) Non-greedy active learning for text categorization using
#'   convex transductive experimental design. SIGIR 31, 635-642. \doi{10.1145/1390334.1390442}
#'
#'   Fine and Scheinberg (2001) Efficient SVM training using low-rank kernel representations.
#'   Journal of Machine Learning Research 2, 243-264.
#' @seealso [ufs_facility()] and [ufs_medoids()], [selected_samples()]
#' @examples
#' # Six flowers to measure first
#' fit <- ufs_ted(iris[, 1:4])
#' first <- selected_samples(fit, m = 6)
#' first
#' iris[first, "Species"]
#'
#' # Six more, given these
#' more <- ufs_ted(iris[, 1:4], labelled = first)
#' selected_samples(more, m = 6)
#'
#' # The share of the variation that the first m samples reconstruct
#' head(1 - fit$trace$objective / sum(scale(iris[, 1:4])^2))
#'
#' ufs_ted(iris[, 1:4], similarity = "heat", m = 6)
#'
#' ufs_ted(iris[, 1:4], form = "convex")
#' @export
ufs_ted <- function(x, mu = NULL, ..., form = c("greedy", "convex"), mu_rel = NULL, m = NULL,
                    unit = FALSE, labelled = NULL, similarity = c("linear", "heat", "cosine"),
                    bandwidth = NULL, n_scores = NULL, center = TRUE, scale = TRUE,
                    control = ufs_control()) {
  run_fit("ted", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_ted <- function(data, control, mu, form, mu_rel, m, unit, labelled, similarity, bandwidth,
                      n_scores, center, scale, x, ...) {
  if (is.null(mu_rel)) mu_rel <- 0.01
  # list(label, bandwidth, matrix) of the arguments `similarity` and `bandwidth`.
  named <- is.character(similarity)
  label <- if (named) check_choice(similarity, "similarity", c("linear", "heat", "cosine")) else
    "given"
  if (form == "convex" && !label %in% c("linear", "cosine")) {
    refuse("similarity", "form = \"convex\" has the similarities \"linear\" and \"cosine\" only.")
  }
  if (!is.null(bandwidth)) {
    if (label != "heat") refuse("bandwidth", "`bandwidth` is for similarity = \"heat\" only.")
    bandwidth <- check_number(bandwidth, "bandwidth", lower = 0, open = TRUE)
  }
  like <- list(label = label, bandwidth = bandwidth, matrix = if (!named) similarity)
  if (like$label == "cosine") unit <- TRUE
  if (!is.null(n_scores) && like$label == "given") {
    refuse("n_scores",
      "`n_scores` is about columns, which a `similarity` of your own does ",
      "not see.")
  }
  penalty <- list_of(mu, mu_rel)
  how <- list_of(center, scale, control, n_scores)
  if (form == "greedy") greedy_ted(x, penalty, m, unit, labelled, like, how) else
    convex_ted(x, penalty, unit, labelled, how)
}

# greedy_ted() and convex_ted() return what run_fit() needs.
greedy_ted <- function(x, penalty, m, unit, labelled, like, how) {
  control <- resolve_control(how$control)
  data <- if (is.null(how$n_scores)) ted_rows(x, unit, how$center, how$scale) else
    score_rows(x, unit, how)
  n <- data$n
  open <- open_rows(labelled, data)
  labelled <- open$labelled
  picks <- if (is.null(m)) min(open$free, 1000L) else check_count(m, "m", 1L, open$free, open$limit)
  rows <- if (like$label %in% c("linear", "cosine")) {
    list(z = data$x, divisor = if (is_operator(data$x)) data$divisor,
      size = mean_square(data$x) * data$divisor^2)
  } else kernel_rows(data, like, picks, labelled)
  mu <- check_penalty(penalty$mu, penalty$mu_rel, rows$size, "mu")
  # Candidates stay if every one is far from all others.
  if (length(rows$far)) {
    near <- !seq_len(n) %in% rows$far
    if (is.null(open$allowed)) open$allowed <- near else
      if (any(open$allowed & near)) open$allowed <- open$allowed & near
    picks <- min(picks, sum(open$allowed[setdiff(seq_len(n), labelled)]))
  }
  found <- ted_greedy(rows$z, picks, mu$value, open = open, control = control,
    divisor = rows$divisor)
  ranking <- picks_first(found$order, found$left, setdiff(seq_len(n), labelled))
  list(
    data = data, control = control,
    params = list_of(mu = mu$value, mu_rel = mu$rel, form = "greedy", picks, unit, labelled,
      similarity = like$label, bandwidth = rows$width, n_scores = how$n_scores,
      copies = near_copies(data$x, utils::head(found$order, if (is.null(m)) 10L else m)),
      far = rows$far),
    run = found$run, trace = found$trace, sample_scores = rank_scores(ranking, n),
    statistic = stats::setNames(replace(found$left, found$order, found$score), data$samples),
    solution = list(order = stats::setNames(found$order, data$samples[found$order])),
    certificate = if (is.null(rows$left)) numeric() else c(trace_left = rows$left)
  )
}

# The rows of a kernel: list(z, size = mean K_ii, width, left = share of the trace not in z, far =
# rows far from all others, which are not picked).
kernel_rows <- function(data, like, m, labelled) {
  if (like$label == "given") {
    s <- like$matrix
    check_similarity(s, data$n, "\"linear\", \"heat\", \"cosine\"")
    if (inherits(s, "Matrix")) {
      check_bytes(8 * as.double(data$n)^2, "`similarity` as a dense matrix",
        "Choose fewer samples.")
      s <- as.matrix(s)
    }
    s <- as_double(unname(s))
    if (!isSymmetric(s)) refuse_similarity("must be symmetric")
    root <- if (min(diag(s)) >= 0 && max(diag(s)) > 0) kernel_root(NULL, 1, m, s, tol = 1e-10)
    if (is.null(root) || root$least < -1e-8 * root$trace / data$n) {
      refuse_similarity("is not positive semidefinite: it is no kernel")
    }
    return(list(z = root$root, size = root$trace / data$n, left = root$left))
  }
  z <- data$x
  if (is_operator(z) && z$kind == "source") z <- x_dense(z)
  some <- if (is_operator(z)) x_rows_of(z, evenly(data$n, 2000L)) else z
  divisor <- data$divisor
  width <- if (is.null(like$bandwidth)) median_square(some) else like$bandwidth / divisor^2
  far <- if (is_operator(z)) integer() else setdiff(far_rows(z), labelled)
  tell_far_rows(far, data$samples,
    " They are not chosen; look at them, and leave them out if they are errors.")
  root <- kernel_root(z, width, m)
  list(z = root$root, size = 1, width = width * divisor^2, left = root$left, far = far)
}

# x of data: the rows, or, with more samples than features, an operator divided by data$divisor.
ted_rows <- function(x, unit, center, scale) {
  opened <- open_data(x)
  if (opened$kind != "dense" && opened$n > opened$p && !unit) {
    data <- as_rescaled_operator(opened, center, scale)
    check_squares(top = max(data$norm))
    check_bytes(24 * as.double(ncol(data$x))^2, "ufs_ted()",
      "Use fewer features, or samples that ufs_sketch() chooses.")
    return(data)
  }
  data <- gram_coordinates(opened, center, scale)
  check_squares(data$x)
  if (unit) data$x <- unit_rows(data$x)
  data
}

# The leading principal component scores in the place of the columns.
score_rows <- function(x, unit, how) {
  data <- as_rescaled_operator(x, how$center, how$scale)
  q <- check_count(how$n_scores, "n_scores", 1L, min(dim(data$x)), "the components that `x` has")
  scores <- x_pca(data$x, q, loadings = FALSE)$scores * data$divisor
  close_source(data$x)
  check_squares(scores)
  data$x <- if (unit) unit_rows(scores) else scores
  data$divisor <- 1
  data
}

# The ALFS solver with A = D = X and B = I (src/alfs.h): W = A V is n x r.
convex_ted <- function(x, penalty, unit, labelled, how) {
  control <- resolve_control(how$control, max_iter = 2000L, tol = 1e-4)
  data <- if (is.null(how$n_scores)) gram_coordinates(x, how$center, how$scale) else
    score_rows(x, FALSE, how)
  labelled <- check_labelled(labelled, data)
  check_bytes(64 * as.double(data$n) * min(data$n, ncol(data$x)), "ufs_ted()",
    "Give it a subset of the samples.")
  check_squares(data$x)
  rest <- without_penalty(if (unit) unit_rows(data$x) else data$x, labelled, "ted", control$warn)
  z <- rest$x
  size <- mean(row_norms(z))
  # In principal coordinates; an n x n problem is one of n columns.
  basis <- alfs_basis(z / size, "ted")
  coordinates <- if (data$n <= ncol(z)) sweep(basis$vectors, 2L, basis$values, "*") else
    z %*% (basis$vectors / size)
  bound <- 2 * max(sqrt(rowSums(sweep(coordinates, 2L, basis$values, "*")^2)))
  basis$bound[] <- bound
  mu <- check_penalty(penalty$mu, penalty$mu_rel, bound * size^2, "mu")
  found <- alfs_call(coordinates, basis, c(mu$value / size^2, 0, 0), control,
    settings = list(identity = TRUE))
  first <- equal_rows(data$x)
  activity <- found$row_p / (mu$value / size^2)
  trace <- found$run$trace
  colnames(trace)[colnames(trace) == "dual"] <- "bound"
  for (name in c("objective", "bound", "current")) trace[, name] <- trace[, name] * size^2
  list_of(
    data, control, run = found$run, trace,
    params = list_of(mu = mu$value, mu_rel = mu$rel, form = "convex", unit, labelled,
      similarity = if (unit) "cosine" else "linear", n_scores = how$n_scores),
    sample_scores = without_labelled(found$row_w[first], labelled),
    sample_key = ifelse(found$row_w > 0, 0, activity)[first],
    by_ranking = c("candidates", "cost", rest$by_ranking),
    solution = list(activity = stats::setNames(activity, data$samples)),
    certificate = c(found$run$counters["gap"], dual = found$run$counters[["dual"]] * size^2),
    finish = function(fit) warn_zero(fit, "mu")
  )
}

#' @export
print_notes.ufs_ted <- function(x) {
  if (x$params$form == "convex") return(NextMethod())
  given <- length(x$params$labelled)
  # The m that was asked for, or ten.
  m <- min(c(remembered_size(x, "m"), 10L)[1L], nrow(x$trace))
  objective <- x$trace$objective
  lowered <- 1 - objective[[m]] / (objective[[1L]] + x$trace$decrease[[1L]])
  c(paste0("objective    ", count_words(m, "sample"), if (m == 1L) " reduces" else " reduce",
    " the prediction error by ", signif(100 * lowered, 3L), " %"),
    if (x$params$similarity %in% c("heat", "given")) paste0("similarity   ", x$params$similarity,
      if (!is.null(x$params$bandwidth)) {
        paste0(", squared distances over ", signif(x$params$bandwidth, 3L))
      }),
    if (!is.null(x$params$n_scores)) {
      paste0("compared by  ", count_words(x$params$n_scores, "principal component score"))
    },
    copies_note(x),
    if (given) {
      paste0("labelled     ", count_words(given, "sample"), ", which the picks complement")
    })
}

register("ted", ufs_ted,
  solve = solve_ted,
  free = "similarity",
  advice = "recommended for choosing spectra to measure, with similarity = \"heat\"",
  group = "samples", selects = "samples",
  title = "Transductive experimental design",
  cost = "n p^2 + n p m, or n^2 (p + m)",
  reference = "Yu, Bi and Tresp (2006) <doi:10.1145/1143844.1143980>",
  paper_grid = alfs_rival_grid(mu = 10^(-4:3)),
  constraints = c("candidates", "labelled", "sample_cost"),
  refuses = c(weights = "every row that is to be predicted counts once in its criterion")
)
