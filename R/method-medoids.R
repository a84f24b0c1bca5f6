#' Choose samples in the middle of clusters (medoids)
#'
#' Groups the samples into `m` clusters and chooses the one nearest to the centre of each. Use it to
#' decide which samples to label when you know how many labels you can afford: on real data
#' classifiers trained on such samples were more accurate than on randomly chosen ones, and
#' [ufs_facility()] was as good a choice (`vignette("which-samples")`; the figures are in
#' `vignette("evidence")`). That function ranks the samples for every m at once and has a bound,
#' while this fit is for its `m` only.
#'
#' `form = "kmeans"` runs k-means on the centred, standardised rows, each divided by its length, and
#' takes the sample of each cluster nearest to its centre. `"pam"` (partitioning around medoids) and
#' `"clara"` (the same on subsamples) choose samples that minimise the sum of the distances of all
#' samples to them. They come from the package cluster; use PAM for a few thousand samples and CLARA
#' beyond.
#'
#' It takes about 2 n p m flops per iteration and start, and memory for two copies of `x`. Sparse
#' data stay sparse, and cost their entries instead of n p.
#'
#' @inheritParams ufs_facility
#' @param m How many samples to choose, from 1 to n - 1.
#' @param form How the clusters are made: `"kmeans"`, `"pam"` or `"clara"`.
#' @param labelled Samples that are labelled already: indices, row names, or a logical vector of
#'   length n, for `form = "kmeans"` only. They are centres that stay where they are, and are not
#'   chosen. Their score is `NA` and they come last.
#' @param n_starts The number of k-means starts; the run with the lowest within-cluster sum of
#'   squares is kept. The starts are the same each time and do not depend on `set.seed()`, so that
#'   the same samples are chosen for everyone. On large data a part of them is made, a quarter at
#'   least, and a tenth goes on after four iterations: all of them would hardly do better. For
#'   `"clara"` it is the number of subsamples.
#' @param unit Should the rows be divided by their lengths first?
#' @param control Made by [ufs_control()]; `max_iter` (default 100) is that of k-means.
#' @return A fit of class `c("ufs_medoids", "ufs")`. The chosen samples come first, that of the
#'   largest cluster first of all; the others follow by their distance to the chosen sample of their
#'   cluster. `solution` holds the `order` of the chosen and `cluster`, the index of the sample that
#'   stands for each sample.
#'   `certificate` is the within-cluster sum of squares (`within_ss`) or the mean distance
#'   (`mean_distance`). [representatives()] gives how many samples each chosen one stands for.
#' @references Kaufman and Rousseeuw (1990) Finding groups in data. Wiley.
#'   \doi{10.1002/9780470316801}
#' @seealso [ufs_facility()], [ufs_propagate()] for the labels of the other samples
#' @examples
#' # Six flowers to label, and how many others each stands for
#' fit <- ufs_medoids(iris[, 1:4], m = 6)
#' selected_samples(fit)
#' representatives(fit)
#' @export
ufs_medoids <- function(x, m, ..., form = c("kmeans", "pam", "clara"), labelled = NULL,
                        n_starts = 20, unit = TRUE, center = TRUE, scale = TRUE,
                        control = ufs_control()) {
  run_fit("medoids", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_medoids <- function(data, control, m, form, labelled, n_starts, unit, ...) {
  check_count(control$max_iter, "max_iter", 1L)
  open <- open_rows(labelled, data)
  labelled <- open$labelled
  n <- data$n
  m <- if (is.null(open$allowed)) {
    check_count(m, "m", 1L, open$free - 1L, "fewer than the samples without a label")
  } else check_count(m, "m", 1L, open$free, open$limit)
  points <- if (is_operator(data$x)) sparse_points(data, unit) else dense_points(data$x, unit)
  if (form == "kmeans") {
    found <- kmeans_medoids(points, m, labelled, n_starts, control$max_iter, open$allowed)
  } else {
    if (length(labelled)) refuse("labelled", "`labelled` is for form = \"kmeans\" only.")
    check_installed("cluster", paste0("for form = \"", form, "\""))
    fit <- if (form == "pam") {
      check_bytes(8 * as.double(nrow(points$z))^2, "PAM", "Use form = \"clara\".")
      # The same swaps as PAM's, each looked for in fewer passes (Schubert and Rousseeuw 2021).
      cluster::pam(points$z, m, keep.diss = FALSE, keep.data = FALSE, pamonce = 3L)
    } else {
      with_seed(looking_seed, cluster::clara(points$z, m, samples = n_starts, rngR = TRUE,
        medoids.x = FALSE,
        sampsize = max(min(nrow(points$z) - 1L, 40L + 2L * m), m + 1L), keep.data = FALSE))
    }
    at <- if (form == "pam") fit$id.med else fit$i.med
    # PAM's last objective is that after its swaps.
    found <- list(medoids = at, stand_in = at[fit$clustering], iterations = 0L,
      certificate = c(mean_distance = fit$objective[[length(fit$objective)]]))
  }
  free <- setdiff(found$medoids, labelled)
  free <- free[order(-tabulate(match(found$stand_in, free), length(free)), free)]
  ranking <- picks_first(free, -points$distance(found$stand_in), setdiff(seq_len(n), labelled))
  list(
    params = list_of(m, form, labelled, n_starts, unit, n_scores = data$n_scores),
    sample_scores = rank_scores(ranking, n),
    solution = list(order = stats::setNames(free, data$samples[free]),
      cluster = stats::setNames(found$stand_in, data$samples)),
    certificate = found$certificate, iterations = found$iterations,
    by_ranking = if (form != "kmeans") "candidates"
  )
}

# Sparse samples stay so for k-means, where they are few enough for it and mostly zeros; others get
# coordinates.
medoid_points <- function(x, center, scale, m, form) {
  data <- open_data(x)
  size <- 8 * as.double(data$n) * min(data$n, data$p)
  if (form != "kmeans" || data$kind != "sparse" || size > min(4 * block_bytes(), max_bytes()) ||
      length(data$x@x) > as.double(data$n) * data$p / 6) {
    return(as_ufs_coordinates(data, center, scale, function(x) sample_points(x, m)))
  }
  as_rescaled_operator(data, center, scale)
}

# The samples and what is asked of them: `z`, dense; `first`, the first sample equal to each;
# `nearest(rows, among)`, of the rows `among` the one nearest to the mean of `rows`;
# `distance(who)`, squared, of each sample from the one that stands for it; and what kmeans_starts()
# takes.
dense_points <- function(x, unit) {
  z <- in_range(x)$x
  if (unit) z <- unit_rows(z)
  list(z = z, first = equal_rows(z), x = z, shrink = NULL, square = 1,
    nearest = function(rows, among) {
      centre <- colMeans(z[rows, , drop = FALSE])
      d2 <- colSums((t(z[among, , drop = FALSE]) - centre)^2)
      among[which(d2 <= min(d2) + 1e-12 * max(d2))[1L]]
    },
    distance = function(who) rowSums((z - z[who, , drop = FALSE])^2))
}

# The same by products with a sparse operator.
sparse_points <- function(data, unit) {
  x <- data$x
  size <- row_norms(x)
  shrink <- if (unit) 1 / ifelse(size > 0, size, 1) else rep(1, x$n)
  size <- size * shrink
  own <- plain_sparse(x)
  # Rows that are multiples of each other are equal after they are divided by their lengths.
  if (unit && is.null(x$shift)) own@x <- own@x * shrink[own@i + 1L]
  list(first = x_equal_columns(sparse_operator(Matrix::t(own))), x = x, shrink = shrink,
    z = NULL, square = if (unit) 1 else data$divisor^2,
    nearest = function(rows, among) {
      weight <- replace(numeric(x$n), rows, shrink[rows] / length(rows))
      product <- (x_mul(x, x_cross(x, weight)) * shrink)[among]
      d2 <- size[among]^2 - 2 * product
      among[which(d2 <= min(d2) + 1e-12 * max(size[among])^2)[1L]]
    },
    distance = function(who) {
      chosen <- unique(who)
      to <- t(x_rows(x, chosen) * shrink[chosen])
      product <- (x_mul(x, to) * shrink)[cbind(seq_len(x$n), match(who, chosen))]
      ifelse(who == seq_len(x$n), 0, pmax(size^2 + size[who]^2 - 2 * product, 0))
    })
}

# list(medoids, stand_in (of every sample), certificate, iterations). `allowed`: a flag for every
# sample that may be chosen (NULL: all); a cluster without one takes the nearest that is left.
kmeans_medoids <- function(points, m, labelled, n_starts, max_iter, allowed = NULL) {
  first <- points$first
  different <- length(unique(first)) - length(unique(first[labelled]))
  if (different < m) {
    refuse("m", "`m` is ", m, ", but only ", different, " samples are different",
      if (length(labelled)) " from each other and from those labelled", ".")
  }
  check_starts_bytes(length(first), m, n_starts)
  x <- points$x
  entries <- if (is_operator(x)) length(x$value) else as.double(length(x))
  starts <- starts_made(n_starts, entries * m)
  # A fixed design of starts, see looking_seed.
  draw <- with_seed(looking_seed, stats::runif(m * starts[["tried"]]))
  found <- kmeans_starts(points, m, starts[["tried"]], max_iter, starts[["kept"]], labelled, draw)
  best <- which.min(found$within)
  # Clusters 1 to m are free; those of labelled samples follow.
  cluster <- found$label[, best]
  open <- if (is.null(allowed)) rep(TRUE, length(first)) else as.logical(allowed)
  open[labelled] <- FALSE
  own <- vapply(seq_len(m), function(a) any(open[cluster == a]), NA)
  medoids <- integer(m)
  for (a in order(!own)) {
    rows <- which(cluster == a)
    medoids[a] <- points$nearest(rows, if (own[a]) rows[open[rows]] else which(open))
    open[medoids[a]] <- FALSE
  }
  list(medoids = c(medoids, labelled), stand_in = c(medoids, labelled)[cluster],
    certificate = c(within_ss = found$within[best] * points$square),
    iterations = found$iterations[best])
}

# Starts that take seconds each differ little: fewer are tried the more there is to do, and of
# these a few go on. The best one of all is at most .1 % better. `each`: products in a pass of one.
starts_made <- function(n_starts, each) {
  work <- each * n_starts
  if (work <= 1e9) return(c(tried = n_starts, kept = n_starts))
  c(tried = ceiling(n_starts * max(0.25, sqrt(4e8 / work))), kept = max(1, ceiling(n_starts / 10)))
}

#' @export
selected_samples.ufs_medoids <- function(fit, m = fit$params$m, as = NULL, ...) {
  # A budget and other constraints may leave fewer, and as many can be asked for.
  left <- length(suppressMessages(selected_samples.ufs(fit, fit$params$m, "index")))
  if (!identical(check_count(m, "m"), left)) check_one_size(m, fit, "m", " samples")
  selected_samples.ufs(fit, m, as, ...)
}

#' @rdname representatives
#' @export
representatives.ufs_medoids <- function(fit, m = fit$params$m, what = c("chosen", "samples"), ...) {
  check_dots_empty(...)
  chosen <- selected_samples(fit, m, as = "index")
  representative_table(fit, unname(fit$solution$cluster), chosen, check_choice(what, "what"))
}

#' @export
print_notes.ufs_medoids <- function(x) {
  c(paste0("medoids      ", x$params$m, " by ", x$params$form,
    if (x$params$unit) ", rows of unit length",
    if (!is.null(x$params$n_scores)) {
      paste0(", on the leading ", x$params$n_scores, " principal component scores")
    }),
    if (length(x$params$labelled)) {
      paste0("labelled     ", length(x$params$labelled), " already: not chosen again")
    })
}

register("medoids", ufs_medoids,
  solve = solve_medoids,
  prepare = function(x, args) medoid_points(x, args$center, args$scale, args$m, args$form),
  arguments = list(n_starts = a_count(1L)),
  control = list(max_iter = 100L),
  group = "samples", selects = "samples", deterministic = TRUE,
  title = "Samples nearest to cluster centres: k-means, PAM, CLARA",
  cost = "n p m per iteration",
  reference = "Kaufman and Rousseeuw (1990) <doi:10.1002/9780470316801>",
  advice = "recommended for choosing samples to label when m is fixed", per_k = "m",
  constraints = c("candidates", "labelled"),
  refuses = c(weights = "every row that is to be near a medoid counts once in its sum")
)
