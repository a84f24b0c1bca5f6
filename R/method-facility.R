#' Choose samples that stand for all samples (facility location)
#'
#' Says which samples to label first when nothing is labelled: those that lie in the middle of what
#' they stand for, spread over all of the data. It is one of the two recommended choices. On real
#' data classifiers trained on such samples were clearly more accurate than on randomly chosen ones;
#' expect little, though, where two or three classes overlap (`vignette("which-samples")`; the
#' figures are in `vignette("evidence")`).
#'
#' Every sample is represented by the chosen sample most similar to it, and the choice makes the sum
#' of these similarities large. With similarities s_ij >= 0 and S the chosen samples (together with
#' those `labelled`),
#' \deqn{F(S) = \sum_i \max_{j \in S} s_{ij}.}
#' Each pick raises F most, and the ranking is the order of picking, so one fit serves every m.
#'
#' # How good the choice is
#' Greedy choice reaches at least 63 % of the largest F there is. The `certificate` says how much it
#' reached on these data, usually above 90 %: `bound` is the least, over t <= m, of F after t picks
#' plus the m largest gains that are then left, and no m samples have a larger F.
#'
#' # Similarities
#' * `"cosine"` is 1 + the cosine of the angle between two rows, from 0 to 2. With centred and
#'   standardised columns the length of a row says how far out the sample is, and its direction what
#'   it is like; only the direction counts here. A row of zeros has similarity 1 to all.
#' * `"heat"` is `exp(-d_ij^2 / bandwidth)`, by default with the median squared distance as
#'   bandwidth.
#' * A [ufs_graph()] gives its weights, and the largest possible weight between a sample and itself.
#'   Only neighbours are compared, which suits very many samples.
#' * An n x n matrix or Matrix of your own must not be negative: s_ij says how well sample j stands
#'   for sample i. It need not be symmetric.
#'
#' # Cost
#' For `"cosine"` and `"heat"` it takes n^2 p flops and about n^2 (2 + log m) for the picks. Only
#' candidates whose old gain could still be the largest are looked at again (lazy evaluation), which
#' gives exactly the greedy order. Up to n = 4,096 (128 MiB) the similarities are kept, for swaps,
#' costs and sparse `x` a few times more. Above, they are recomputed from `x` in tiles, up to
#' 2 n^2 p log m flops in all and often far fewer, and the pairs of samples that can still matter
#' are kept as soon as they fit into twice the memory of `x`. Until then old gains serve for the
#' bound, which is a little less sharp. Memory is that of `x`, its standardised copy, another one
#' and these pairs. Ties go to the lowest index: gains within 1e-12 of the first pick's gain count
#' as equal.
#'
#' From n = 12,000 on the picks are the greedy ones among 4 m candidates, at least 2,000, that are
#' spread over the rows, always the same ones. The print says so, and the `bound` is for all
#' samples: it looks at all pairs once.
#'
#' @inheritParams ufs_pca
#' @param m How many samples to pick one by one, a whole number. The default `NULL` picks all, but
#'   at most 1000. The others follow by what each would add next. The certificate is for `m` picks.
#' @param similarity How similarity is measured: `"cosine"`, `"heat"`, a graph made by
#'   [ufs_graph()], or a matrix of your own.
#' @param labelled Samples that are labelled already: indices, row names, or a logical vector of
#'   length n. Picks complement them: what they cover need not be covered again. They are not
#'   picked; their score is `NA` and they come last.
#' @param swaps How many exchanges of a chosen sample for another one to make after the last
#'   pick, each time the best one. `TRUE` goes on until none helps; `FALSE` or 0 (the default) makes
#'   none. It needs `m`, since the result is for this m only. It usually gains less than one
#'   percent, and a round costs n^2 + 2 n m.
#' @param bandwidth For `"heat"`, a positive number in squared units of the (standardised) columns.
#'   The default `NULL` takes the median squared distance (of at most 2000 evenly spaced rows).
#' @param control Made by [ufs_control()]. There is no tolerance; `progress` is called after each
#'   pick.
#' @return A fit of class `c("ufs_facility", "ufs")`; [selected_samples()] gives the samples. The
#'   score is 1 for the first pick and falls by 1/n with each rank; `statistic` is what each sample
#'   added to F (or would add next). `certificate` has the `value` F of the best m, its `bound` and
#'   their `ratio`; without `m`, at the number of picks for which the ratio is smallest. `trace` has
#'   for each m the `objective` F, the `gain`, the `bound` and their `ratio`, and the `evaluations`
#'   (candidates looked at; the plain greedy choice looks at all). `solution` holds the `order`
#'   of the picks. [representatives()] gives how many samples each chosen one stands for.
#' @references Nemhauser, Wolsey and Fisher (1978) An analysis of approximations for maximizing
#'   submodular set functions, I. Mathematical Programming 14, 265-294. \doi{10.1007/BF01588971}
#'
#'   Minoux (1978) Accelerated greedy algorithms for maximizing submodular set functions.
#'   Optimization Techniques, Lecture Notes in Control and Information Sciences 7, 234-243.
#'   \doi{10.1007/BFb0006528}
#' @seealso [ufs_medoids()], [ufs_ted()], [ufs_propagate()] for the labels of the other samples
#' @examples
#' # Six flowers to label first, and how many others each stands for
#' fit <- ufs_facility(iris[, 1:4], m = 6)
#' fit
#' selected_samples(fit, m = 6)
#' representatives(fit, m = 6)
#'
#' # Six more, given that these are labelled
#' more <- ufs_facility(iris[, 1:4], m = 6, labelled = selected_samples(fit, m = 6))
#' selected_samples(more, m = 6)
#' @export
ufs_facility <- function(x, m = NULL, similarity = c("cosine", "heat"), ..., labelled = NULL,
                         swaps = 0, bandwidth = NULL, center = TRUE, scale = TRUE,
                         control = ufs_control()) {
  run_fit("facility", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_facility <- function(data, control, m, similarity, labelled, swaps, bandwidth, ...) {
  open <- open_rows(labelled, data)
  labelled <- open$labelled
  picks <- if (is.null(m)) min(open$free, 1000L) else check_count(m, "m", 1L, open$free, open$limit)
  swaps <- check_swaps(swaps, "m", m)
  like <- facility_similarity(similarity, data, bandwidth,
    if (swaps > 0L || !is.null(open$cost)) again_bytes else table_bytes)
  drawn <- facility_drawn(like, data$n, picks, open)
  found <- facility_picks(like, data$n, picks, open, swaps, control, drawn)
  # A budget may be spent before.
  picks <- length(found$order)
  ranking <- picks_first(found$order, found$left, setdiff(seq_len(data$n), labelled))
  trace <- unclass(as_table(found$run$trace))
  trace$bound <- pmax(found$bound, trace$objective)
  trace$ratio <- trace$objective / trace$bound
  trace <- as_table(trace[c("iteration", "objective", "gain", "bound", "ratio", "evaluations")])
  at <- if (is.null(m) && is.null(open$cost) && is.null(drawn)) which.min(trace$ratio) else picks
  certificate <- c(value = trace$objective[at], bound = trace$bound[at], ratio = trace$ratio[at])
  # The ranking by replicates and strata differs from the picks.
  other <- data$constraints$samples[c("replicates", "strata")]
  if (any(lengths(other) > 0L)) certificate[c("value", "ratio")] <- NA
  list(
    params = list(m = picks, given = !is.null(m), similarity = like$label, bandwidth = like$width,
      labelled = labelled, looked_at = sum(drawn),
      swaps = as.integer(found$run$counters[["swaps"]])),
    run = found$run, sample_scores = rank_scores(ranking, data$n), trace = trace,
    statistic = stats::setNames(replace(found$left, found$order, trace$gain), data$samples),
    solution = list(order = stats::setNames(found$order, data$samples[found$order]),
      first = found$first, change = found$change),
    certificate = certificate
  )
}

# Sparse samples stay so where their similarities are kept, which is all that is formed then. Within
# blocks they are not sparse.
facility_points <- function(x, center, scale, similarity) {
  data <- open_data(x)
  if (!is.character(similarity) || "heat" %in% similarity[1L] || data$kind != "sparse" ||
      has_row_sums(data) || !fits_table(data$n, again_bytes)) {
    return(gram_coordinates(data, center, scale))
  }
  as_rescaled_operator(data, center, scale)
}

# The first m picks by cosine similarity among the rows of a prepared x, for other methods.
facility_order <- function(x, m, labelled = NULL) {
  like <- list(kind = 0L, x = x, bandwidth = 1, stored = fits_table(nrow(x)))
  facility_picks(like, nrow(x), m, list(labelled = labelled), 0L, ufs_control())$order
}

# The candidates that are looked at, a flag for each sample; NULL: all. Of very many samples a few
# thousand hold some as good as the best. A budget may need any of them.
facility_drawn <- function(like, n, m, open, from = 12000L) {
  free <- setdiff(if (is.null(open$allowed)) seq_len(n) else which(open$allowed), open$labelled)
  some <- max(2000L, 4L * m)
  if (like$kind > 1L || like$stored || n < from || length(free) <= some || !is.null(open$cost)) {
    return(NULL)
  }
  replace(integer(n), free[spread(length(free), some)], 1L)
}

# `open` is as open_rows() makes it; under a budget there may be fewer than m.
facility_picks <- function(like, n, m, open, swaps, control, drawn = NULL) {
  allowed <- open$allowed
  if (!is.null(allowed)) m <- min(m, sum(allowed[setdiff(seq_len(n), open$labelled)]))
  settings <- list(n = n, m = as.integer(m), max_swaps = swaps, table = like$stored,
    drawn = drawn, pair_bytes = if (like$kind < 2L) min(table_bytes, max_bytes() / 2,
      16 * as.double(nrow(like$x)) * ncol(like$x)) else 0,
    allowed = if (!is.null(allowed)) as.integer(allowed), cost = open$cost, budget = open$budget)
  found <- check_solved(.Call(C_facility, like, as.integer(open$labelled), settings, control),
    "facility")
  picks <- seq_len(found$run$counters[["picks"]])
  replace(found, c("order", "bound"), list(found$order[picks], found$bound[picks]))
}

# May the n x n similarities be kept? More of them where they are used again and again, or would
# have to be computed from a dense copy of a sparse x.
fits_table <- function(n, most = table_bytes) 8 * as.double(n)^2 <= min(most, max_bytes() / 2)
table_bytes <- 2^27
again_bytes <- 2^30

# Similarities for C_facility: list(kind, x, bandwidth) or list(kind, candidate, sample); and
# `label` for the fit, `stored` if an n x n table is made, of `most` bytes.
facility_similarity <- function(similarity, data, bandwidth, most = table_bytes) {
  named <- is.character(similarity)
  if (named) similarity <- check_choice(similarity, "similarity", c("cosine", "heat"))
  if (!is.null(bandwidth) && !identical(similarity, "heat")) {
    refuse("bandwidth", "`bandwidth` is for similarity = \"heat\" only.")
  }
  if (named) {
    x <- if (is_operator(data$x) || similarity == "cosine") list(x = data$x, divisor = 1) else
      in_range(data$x)
    like <- list(kind = match(similarity, c("cosine", "heat")) - 1L, x = x$x, bandwidth = 1,
      label = similarity, stored = is_operator(data$x) || fits_table(data$n, most))
    if (similarity == "heat") {
      like$bandwidth <- if (is.null(bandwidth)) median_square(x$x) else {
        check_number(bandwidth, "bandwidth", lower = 0, open = TRUE) / x$divisor / x$divisor
      }
      like$width <- like$bandwidth * x$divisor * x$divisor
    }
    return(like)
  }
  if (inherits(similarity, "ufs_graph")) {
    check_graph_size(similarity$n, data$n)
    own <- max(if (similarity$kind == "user") 0 else 1, similarity$weights$value)
    # The columns of a graph's weights with `own` on the diagonal.
    n <- length(similarity$weights$start) - 1L
    # By columns, the diagonal last in each.
    ord <- order(c(rep.int(seq_len(n), diff(similarity$weights$start)), seq_len(n)))
    columns <- list(start = similarity$weights$start + 0:n, index = c(similarity$weights$index,
      seq_len(n) - 1L)[ord],
      value = c(similarity$weights$value, rep(own, n))[ord])
    return(list(kind = 3L, candidate = columns, sample = columns, stored = FALSE,
      label = paste("graph:", graph_text(similarity))))
  }
  s <- similarity
  check_similarity(s, data$n, "\"cosine\", \"heat\", a graph from ufs_graph(),")
  if (min(s) < 0) refuse_similarity("has negative entries; shift them, e.g. s - min(s)")
  if (sum(s) == 0) refuse_similarity("is zero everywhere")
  if (!inherits(s, "Matrix")) {
    s <- as_double(unname(s))
    return(list(kind = 2L, candidate = s, sample = if (isSymmetric(s)) s else t(s), stored = TRUE,
      label = "given"))
  }
  list(kind = 3L, candidate = sparse_columns(s), sample = sparse_columns(Matrix::t(s)),
    stored = FALSE, label = "given, sparse")
}

# start, index (from 0), value of the columns of a Matrix.
sparse_columns <- function(s) {
  at <- places_of(s)
  list(start = c(0L, cumsum(tabulate(at[, 2L], ncol(s)))), index = as.integer(at[, 1L]) - 1L,
    value = as.double(s[at]))
}

#' @rdname representatives
#' @export
representatives.ufs_facility <- function(fit, m = fit$params$m, what = c("chosen", "samples"),
                                         ...) {
  check_dots_empty(...)
  m <- check_count(m, "m", 1L, fit$params$m, "the samples picked one by one")
  what <- check_choice(what, "what")
  # For every sample the index of the one that stands for it after m picks, NA = nobody. Later
  # changes overwrite earlier ones.
  who <- unname(fit$solution$first)
  change <- fit$solution$change
  change <- change[, change[1L, ] <= m, drop = FALSE]
  who[change[2L, ]] <- fit$solution$order[change[1L, ]]
  who[who == 0L] <- NA
  representative_table(fit, who, fit$solution$order[seq_len(m)], what)
}

#' @export
print_notes.ufs_facility <- function(x) {
  ratio <- x$certificate[["ratio"]]
  c(paste0("similarity   ", x$params$similarity, if (!is.na(ratio)) {
    paste0(": at least ", signif(100 * ratio, 3L), " % of the best possible", if (!x$params$given) {
      paste0(" for m = ", which.min(x$trace$ratio), ", the worst")
    })
  }), labelled_note(x),
    if (isTRUE(x$params$looked_at > 0)) {
      paste0("looked at    ", x$params$looked_at,
        " candidates spread over the rows, the bound at all")
    },
    if (x$params$swaps) paste0("swaps        ", x$params$swaps))
}

register("facility", ufs_facility,
  solve = solve_facility,
  prepare = function(x, args) {
    # Distances do not see the mean, but their rounding does.
    data <- facility_points(x, check_flag(args$center, "center") ||
      identical(args$similarity, "heat"), args$scale, args$similarity)
    if (!args$center) data$center <- FALSE
    data
  },
  free = "similarity",
  group = "samples", selects = "samples",
  title = "Samples that stand for all: facility location",
  cost = "n^2 p + n^2 log m",
  reference = "Nemhauser, Wolsey and Fisher (1978) <doi:10.1007/BF01588971>",
  advice = "recommended for choosing samples to label when m is open: an order",
  constraints = c("candidates", "labelled", "sample_cost"),
  picks = list(argument = "m", unless = "swaps"),
  refuses = c(weights = "every row that is to be covered counts once in its value")
)
