#' Choose samples in the middle of clusters (medoids)
#'
#' Groups the samples into `m` clusters and chooses the one nearest to the centre of each. Use it to
#' decide which samples to label when you know how many labels you can afford: on real data this was
#' the best choice (`vignette("which-samples")`; the figures are in `vignette("evidence")`).
#' [ufs_facility()] came close; it draws no random numbers, ranks the samples for every m at once
#' and has a bound, while this fit is for its `m` only.
#'
#' `form = "kmeans"` runs k-means on the centred, standardised rows, each divided by its length, and
#' takes the sample of each cluster nearest to its centre. With `unit = FALSE` the gain
#' over random choice was half as large. `"pam"` (partitioning around medoids) and `"clara"`
#' (the same on subsamples) choose samples that minimise the sum of the distances of all samples to
#' them. They come from the package cluster; use PAM for a few thousand samples and CLARA beyond.
#'
#' It takes about 2 n p m flops per iteration and start, and memory for two copies of `x`.
#'
#' @inheritParams ufs_facility
#' @param m How many samples to choose, from 1 to n - 1.
#' @param form How the clusters are made: `"kmeans"`, `"pam"` or `"clara"`.
#' @param labelled Samples that are labelled already: indices, row names, or a logical vector of
#'   length n, for `form = "kmeans"` only. They are centres that stay where they are, and are not
#'   chosen. Their score is `NA` and they come last.
#' @param n_starts The number of k-means starts, drawn from R's random numbers; the run with the
#'   lowest within-cluster sum of squares is kept. For `"clara"` it is the number of subsamples.
#' @param unit Should the rows be divided by their lengths first?
#' @param control Made by [ufs_control()]; `max_iter` (default 100) is that of k-means.
#' @return A fit of class `c("ufs_medoids", "ufs")`. The chosen samples come first, that of the
#'   largest cluster first of all; the others follow by their distance to the chosen sample of their
#'   cluster. `solution` holds `cluster`, the index of the sample that stands for each sample.
#'   `certificate` is the within-cluster sum of squares (`within_ss`) or the mean distance
#'   (`mean_distance`). [representatives()] gives how many samples each chosen one stands for.
#' @references Kaufman and Rousseeuw (1990) Finding groups in data. Wiley.
#'   \doi{10.1002/9780470316801}
#' @seealso [ufs_facility()], [ufs_propagate()] for the labels of the other samples
#' @examples
#' # Six flowers to label, and how many others each stands for
#' set.seed(1)
#' fit <- ufs_medoids(iris[, 1:4], m = 6)
#' selected_samples(fit)
#' representatives(fit)
#' @export
ufs_medoids <- function(x, m, form = c("kmeans", "pam", "clara"), labelled = NULL, n_starts = 20,
                        unit = TRUE, center = TRUE, scale = TRUE, control = ufs_control(), ...) {
  run_fit("medoids", match.call(), {
    control <- resolve_control(control, max_iter = 100L)
    check_count(control$max_iter, "max_iter", 1L)
    data <- as_ufs_coordinates(x, center, scale, function(x) sample_points(x, m))
    labelled <- check_labelled(labelled, data)
    n <- data$n
    m <- check_count(m, "m", 1L, n - 1L - length(labelled),
      "fewer than the samples without a label")
    n_starts <- check_count(n_starts, "n_starts", 1L)
    z <- in_range(data$x)$x
    if (unit) z <- unit_rows(z)
    if (form == "kmeans") {
      found <- kmeans_medoids(z, m, labelled, n_starts, control$max_iter)
    } else {
      if (length(labelled)) refuse("labelled", "`labelled` is for form = \"kmeans\" only.")
      found <- cluster_medoids(z, m, form, n_starts)
    }
    free <- setdiff(found$medoids, labelled)
    size <- tabulate(match(found$stand_in, free), length(free))
    free <- free[order(-size, free)]
    distance <- rowSums((z - z[found$stand_in, , drop = FALSE])^2)
    ranking <- picks_first(free, -distance, setdiff(seq_len(n), labelled))
    list(
      params = list_of(m, form, labelled, n_starts, unit, n_scores = data$n_scores),
      sample_scores = rank_scores(ranking, n),
      solution = list(order = stats::setNames(free, data$samples[free]),
        cluster = stats::setNames(found$stand_in, data$samples)),
      certificate = found$certificate, iterations = found$iterations
    )
  })
}

# list(medoids, stand_in (of every sample), certificate, iterations).
kmeans_medoids <- function(z, m, labelled, n_starts, max_iter) {
  first <- equal_rows(z)
  different <- length(unique(first)) - length(unique(first[labelled]))
  if (different < m) {
    refuse("m", "`m` is ", m, ", but only ", different, " samples are different",
      if (length(labelled)) " from each other and from those labelled", ".")
  }
  if (length(labelled)) {
    best <- NULL
    for (i in seq_len(n_starts)) {
      run <- anchored_kmeans(z, m, z[labelled, , drop = FALSE], max_iter)
      if (is.null(best) || run$withinss < best$withinss * (1 - 1e-12)) best <- run
    }
  } else {
    best <- kmeans_runs(z, m, n_starts, max_iter)[[1L]]
  }
  # Clusters 1 to m are free; those of labelled samples follow.
  cluster <- best$cluster
  medoids <- vapply(seq_len(m), function(a) {
    rows <- which(cluster == a)
    centre <- colMeans(z[rows, , drop = FALSE])
    d2 <- colSums((t(z[rows, , drop = FALSE]) - centre)^2)
    rows[which(d2 <= min(d2) + 1e-12 * max(d2, min(d2)))[1L]]
  }, 0L)
  list(medoids = c(medoids, labelled), stand_in = c(medoids, labelled)[cluster],
    certificate = c(within_ss = best$withinss), iterations = best$iterations)
}

# Lloyd's k-means with m free centres and fixed ones. Starts: rows drawn with probability
# proportional to their squared distance to the centres there are.
anchored_kmeans <- function(z, m, fixed, max_iter) {
  to <- function(centres) pmax(square_distances(z, centres), 0)
  near <- apply(to(fixed), 1L, min)
  free <- matrix(0, m, ncol(z))
  tiny <- 1e-12 * max(rowSums(z^2), .Machine$double.xmin)
  for (a in seq_len(m)) {
    at <- sample.int(nrow(z), 1L, prob = ifelse(near > tiny, near, 0))
    free[a, ] <- z[at, ]
    near <- pmin(near, to(free[a, , drop = FALSE])[, 1L])
  }
  cluster <- NULL
  for (iteration in seq_len(max(max_iter, 1L))) {
    d2 <- to(rbind(free, fixed))
    new <- max.col(-d2, ties.method = "first")
    # An empty cluster takes the sample that is farthest from its centre.
    for (a in setdiff(seq_len(m), new)) {
      own <- d2[cbind(seq_along(new), new)]
      own[new <= m & tabulate(new, m)[pmin(new, m)] == 1L] <- -1
      new[which.max(own)] <- a
    }
    if (identical(new, cluster)) break
    cluster <- new
    moving <- cluster <= m
    sums <- rowsum(z[moving, , drop = FALSE], cluster[moving])
    free <- sums / tabulate(cluster[moving], m)
  }
  d2 <- to(rbind(free, fixed))
  list(cluster = cluster, withinss = sum(d2[cbind(seq_along(cluster), cluster)]),
    iterations = iteration)
}

cluster_medoids <- function(z, m, form, n_starts) {
  check_installed("cluster", paste0("for form = \"", form, "\""))
  fit <- if (form == "pam") {
    check_bytes(8 * as.double(nrow(z))^2, "PAM", "Use form = \"clara\".")
    cluster::pam(z, m, keep.diss = FALSE, keep.data = FALSE)
  } else {
    cluster::clara(z, m, samples = n_starts, rngR = TRUE, medoids.x = FALSE,
      sampsize = max(min(nrow(z) - 1L, 40L + 2L * m), m + 1L), keep.data = FALSE)
  }
  at <- if (form == "pam") fit$id.med else fit$i.med
  # PAM's last objective is that after its swaps.
  list(medoids = at, stand_in = at[fit$clustering], iterations = 0L,
    certificate = c(mean_distance = fit$objective[[length(fit$objective)]]))
}

#' @export
selected_samples.ufs_medoids <- function(fit, m = fit$params$m, as = NULL, ...) {
  check_one_size(m, fit, "m", " samples")
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
  group = "samples", selects = "samples", deterministic = FALSE,
  title = "Samples nearest to cluster centres: k-means, PAM, CLARA",
  cost = "n p m per iteration",
  reference = "Kaufman and Rousseeuw (1990) <doi:10.1002/9780470316801>",
  advice = "recommended for choosing samples to label, for one m", per_k = "m"
)
