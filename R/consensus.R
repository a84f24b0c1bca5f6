# Several methods and no redundancy: the mean of ranks, de-correlated.

#' Consensus of seven methods, without redundant features
#'
#' Runs seven methods, takes the mean of their rankings, and chooses features from the top of it
#' that differ from each other. Use it for clustering with few columns when you do not know which
#' single method suits the data: single methods win on one set and lose on the next, while on real
#' data k-means on features chosen in this way was about as accurate as on all features. It does not
#' beat all features, and it takes as long as its slowest member. The figures are in
#' `vignette("evidence")`.
#'
#' The members go about their task in different ways: [ufs_socfs()], [ufs_jspca()], [ufs_ndfs()],
#' [ufs_mcfs()] and [ufs_laplacian()] on standardised columns, [ufs_pca()] and [ufs_kmeans_f()].
#' The mean is that of their ranks, and the choice among the features ranked high is that of
#' [ufs_diversify()]. Members run side by side if you set a future plan (package future.apply); the
#' result does not depend on the number of workers. A member that fails is left out, with a warning.
#'
#' @inheritParams ufs_kmeans_f
#' @param n_clusters The number of clusters, which is told to the members that ask for one. It is
#'   the number of components of the others.
#' @param k How many features to choose so that they differ. The default `NULL` chooses as many as
#'   there are, but at most 100, and looks at the whole ranking.
#' @param members The names of the methods to combine. They must select features and need no more
#'   than `n_clusters` or `n_components`.
#' @param strength,pool Settings of [ufs_diversify()]: the weight of the largest correlation against
#'   the rank, and how many of the best features to choose from (10 k by default).
#' @return A fit of class `c("ufs_consensus", "ufs")`; the score falls by 1/q with each rank.
#'   `solution` holds `ranks` (features x members, 1 = best), `mean_rank`, and the `order` of
#'   choice; `members` (a data frame): how many of the best k of each member are among the chosen,
#'   its rank correlation with the consensus, its status and seconds. `certificate` as in
#'   [ufs_diversify()].
#' @seealso [ufs_aggregate()], [ufs_diversify()]
#' @examples
#' set.seed(1)
#' ufs_consensus(iris[, 1:4], n_clusters = 3, k = 2, members = c("pca", "laplacian", "kmeans_f"))
#' @include ufs.R
#' @export
ufs_consensus <- function(x, n_clusters, k = NULL,
                          members = c("socfs", "jspca", "ndfs", "mcfs", "laplacian", "pca",
                            "kmeans_f"),
                          strength = 0.5, pool = NULL, control = ufs_control(), ...) {
  run_fit("consensus", match.call(), {
    control <- resolve_control(control)
    opened <- open_data(x)
    data <- as_ufs_operator(opened, TRUE, TRUE, write = FALSE)
    q <- length(data$keep)
    n_clusters <- check_count(n_clusters, "n_clusters", 2L, data$n - 1L,
      "one fewer than the samples")
    if (is.null(k)) {
      k <- min(q, 100L)
      if (is.null(pool)) pool <- q
    }
    k <- check_count(k, "k", 1L, q, "the features that are not constant")
    tasks <- consensus_tasks(members, n_clusters, data)
    seeds <- draw_seeds(length(tasks))
    tasks <- Map(function(task, seed) c(task, list(seed = seed)), tasks, seeds)
    runs <- run_tasks(tasks, consensus_member, list(x = to_travel(opened)))$values
    failed <- vapply(runs, function(run) is.null(run$fit), NA)
    if (any(failed)) {
      what <- paste0(members[failed], " (", vapply(runs[failed], `[[`, "", "error"), ")",
        collapse = "; ")
      if (all(failed)) ufs_abort("argument", "All members failed: ", what, argument = "members")
      if (control$warn) ufs_warn("member", "Left out of the consensus: ", what)
    }
    fits <- lapply(runs[!failed], `[[`, "fit")
    # Constant columns are last in every ranking: the others have ranks 1 .. q.
    ranks <- vapply(fits, function(fit) order(unname(fit$feature_ranking))[data$keep] + 0,
      numeric(q))
    ranks <- matrix(ranks, q, dimnames = list(NULL, members[!failed]))
    mean_rank <- rowMeans(ranks)
    ranking <- order(mean_rank)
    strength <- check_number(strength, "strength", lower = 0)
    pool <- check_count(if (is.null(pool)) min(10 * k, q) else pool, "pool", k, q,
      "the features that are not constant")
    best <- ranking[seq_len(pool)]
    at <- data$keep[best]
    z <- data_columns(opened, at)
    z <- .Call(C_x_standardise, z, unname(data$center[at]),
      unname(data$scale[at]) * data$norm[best])
    picked <- decorrelate(z, (q + 1 - seq_len(pool)) / q, k, strength)
    chosen <- best[picked]
    final <- c(chosen, setdiff(ranking, chosen))
    score <- numeric(q)
    score[final] <- (q + 1 - seq_len(q)) / q
    list(
      data = data, control = control,
      params = list(n_clusters = n_clusters, k = k, members = members,
        strength = strength, pool = pool),
      feature_scores = score,
      statistic = expand_features(mean_rank, data, NA_real_),
      solution = list(ranks = expand_features(ranks, data, NA_real_),
        mean_rank = expand_features(mean_rank, data, NA_real_),
        order = stats::setNames(data$keep[chosen], data$features[data$keep[chosen]])),
      members = data.frame(member = colnames(ranks),
        chosen = vapply(seq_len(ncol(ranks)), function(i) sum(ranks[chosen, i] <= k), 0L),
        agreement = vapply(seq_len(ncol(ranks)), function(i) {
          if (q > 1L) stats::cor(ranks[, i], mean_rank) else 1
        }, 0),
        status = vapply(fits, `[[`, "", "status"),
        seconds = vapply(runs[!failed], `[[`, 0, "seconds"), stringsAsFactors = FALSE),
      certificate = c(max_correlation = largest_correlation(z[, picked, drop = FALSE]),
        before = largest_correlation(z[, seq_len(k), drop = FALSE]),
        rank_lost = mean(picked) - (k + 1) / 2)
    )
  })
}

consensus_member <- function(task, common) {
  quiet_fit(common$x, task$method, task$args, task$seed)
}

# One task per member: its name and what it needs.
consensus_tasks <- function(members, n_clusters, data) {
  if (!is.character(members) || !length(members) || anyNA(members) || anyDuplicated(members)) {
    ufs_abort("argument", "`members` must be names of methods, each once.", argument = "members")
  }
  lapply(members, function(name) {
    row <- method_row(name, "members")
    if (row$selects == "samples") {
      ufs_abort("argument", "`members`: ufs_", name, "() selects samples.", argument = "members")
    }
    arguments <- formals(row$fit)[arguments_of(row$fit)]
    args <- list()
    if ("n_clusters" %in% names(arguments)) args$n_clusters <- n_clusters
    if ("n_components" %in% names(arguments)) {
      args$n_components <- min(n_clusters, data$n - 1L, length(data$keep))
    }
    if ("scale" %in% names(arguments)) args$scale <- TRUE
    if ("center" %in% names(arguments)) args$center <- TRUE
    list(method = name, args = args)
  })
}

#' @export
selected_features.ufs_consensus <- function(fit, k = NULL, as = NULL, ...) {
  selected_features.ufs_diversify(fit, k, as, ...)
}

#' @export
print_notes.ufs_consensus <- function(x) {
  members <- x$members[order(-x$members$chosen), ]
  c(paste0("members      of the best ", x$params$k, " of each are chosen: ",
    paste(members$member, members$chosen, collapse = ", ")),
    sprintf("correlation  at most %.2f among the best %d (mean of ranks alone: %.2f)",
      x$certificate[["max_correlation"]], x$params$k, x$certificate[["before"]]))
}

register("consensus", ufs_consensus,
  group = "features", selects = "features", deterministic = FALSE,
  title = "Consensus of seven methods, without redundancy",
  cost = "that of its members",
  advice = "recommended for clustering with few columns"
)
