# Several methods and no redundancy: the mean of ranks, de-correlated where it beats noise.

#' Consensus of seven methods, without redundant features
#'
#' Runs seven methods, takes the mean of their rankings, and chooses features from the top of it
#' that differ from each other. Use it for clustering with few columns when you do not know which
#' single method suits the data: single methods win on one set and lose on the next, while on real
#' data k-means on features chosen in this way was about as accurate as on all features, and where
#' most columns are noise more accurate. It takes as long as its members together. The figures are
#' in `vignette("evidence")`, where [ufs_select()] looks for groups.
#'
#' The members go about their task in different ways: [ufs_socfs()], [ufs_jspca()], [ufs_ndfs()],
#' [ufs_mcfs()], [ufs_laplacian()], [ufs_pca()] and [ufs_kmeans_f()], all on standardised columns
#' unless `scale = FALSE` (the unit of `x` matters then, to [ufs_ndfs()]). The pool to choose from
#' holds the columns that rank above decoys, a permuted copy for each of a fifth of the columns (see
#' [ufs_decoys()], which says what decoys cannot see): as many as have at most a share `share` among
#' them that is no better than noise. One decoy more than there are is counted, so that luck with
#' few decoys lets no noise in. The choice within the pool is made as by [ufs_diversify()], with
#' ranks counted within the pool: otherwise it would prefer noise, which is never redundant. Members
#' run side by side if you set a future plan (package future); the result does not depend on the
#' number of workers. A member that fails is left out, with a warning. Of more than 15,000 samples
#' members and decoys see 15,000, spread over all and always the same ones, which `print()` says;
#' correlations are those of all. With `options(ufselect.most_rows = Inf)` they see all, and may
#' choose some other columns.
#'
#' # The same columns whatever the seed
#' Members see the columns of `x` alone. Those that would start from random k-means start from one
#' partition that is the same every time (`init = "pca_part"` of [ufs_kmeans_f()]). Decoys in the
#' members' own data would move these clusters, and the choice with them, so they meet only
#' [ufs_pca()] and [ufs_laplacian()], in three draws that are counted together and the same whoever
#' asks. `print()` says how many of the chosen columns each draw by itself would choose: the rest
#' hangs on the luck of decoys. Other rows of the same kind change the choice, too: see
#' [ufs_stability()]. Only members that draw random numbers of their own follow `set.seed()`.
#'
#' @inheritParams ufs_pca
#' @param n_clusters The number of clusters, which is told to the members that ask for one. It is
#'   the number of components of the others, of [ufs_jspca()] up to 6.
#' @param k How many features to choose so that they differ. The default `NULL` chooses as many
#'   as are estimated to be better than noise, but at most 100.
#' @param members The names of the methods to combine. They must select features and need no more
#'   than `n_clusters` or `n_components`.
#' @param strength The weight of the largest correlation against the rank within the pool, which
#'   goes from 1 to 0; 0 leaves the mean of ranks as it is.
#' @param pool How many of the best features to choose from. The default `NULL` lets the decoys
#'   decide: at least k and at most 10 k.
#' @param share The share of columns no better than noise that is accepted in the pool. With fewer
#'   than `1 / share` columns the pool is the best `k`.
#' @return A fit of class `c("ufs_consensus", "ufs")`; the score falls by 1/q with each rank.
#'   `solution` holds `ranks` (features x members, 1 = best), `mean_rank`, the `order` of choice and
#'   the table `choice` that `plot()` draws (see [ufs_diversify()]); `decoys` with how many there
#'   were (`n`) in each of the `draws`, the `share` of the best 1, 2, ... features by [ufs_pca()]
#'   and [ufs_laplacian()] that are no better than noise, how many are `better`, and `repeatable`,
#'   the share of the chosen that each draw by itself would choose; and `members`, a data frame that
#'   says for each member how many of its best k are among the chosen, its rank correlation with the
#'   consensus, its status and its seconds. `certificate` is that of [ufs_diversify()].
#' @seealso [ufs_diversify()], [ufs_decoys()]
#' @examples
#' set.seed(1)
#' ufs_consensus(iris[, 1:4], n_clusters = 3, k = 2,
#'   members = c("pca", "laplacian", "kmeans_f"))
#' @export
ufs_consensus <- function(x, n_clusters, k = NULL, ...,
                          members = c("socfs", "jspca", "ndfs", "mcfs", "laplacian", "pca",
                            "kmeans_f"),
                          strength = 1, pool = NULL, share = 0.1, center = TRUE, scale = TRUE,
                          control = ufs_control()) {
  run_fit("consensus", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_consensus <- function(data, control, n_clusters, k, members, strength, pool, share, center,
                            scale, x, ...) {
  opened <- open_data(x)
  q <- length(data$keep)
  n_clusters <- check_clusters(n_clusters, data$n)
  what <- "the features that are not constant"
  if (!is.null(k)) k <- check_count(k, "k", 1L, q, what)
  if (!is.null(pool)) pool <- check_count(pool, "pool", if (is.null(k)) 1L else k, q, what)
  tasks <- consensus_tasks(members, n_clusters, data, center, scale)
  # Members ignore constraints on columns: the ranking of the whole sees to them.
  opened["held"] <- list(NULL)
  # More rows would take time; the columns that they choose may differ.
  looked <- some_rows(opened, data$keep, 15000L)
  found <- consensus_ranks(looked$x, data, tasks, draw_seeds(length(tasks)), control)
  judges <- consensus_tasks(consensus_judges, n_clusters, data, center, scale)
  # The same decoys for everyone, see looking_seed. Columns that one draw of them lets in and
  # another does not are settled by several.
  noise <- consensus_noise(looked$x, data, judges, with_seed(looking_seed, draw_seeds(3L)), share)
  choice <- consensus_choice(opened, data, found$mean, noise, list_of(k, pool, strength))
  k <- length(choice$chosen)
  chosen <- choice$chosen
  # There is no order to agree with where all are tied.
  agreement <- if (q == 1L) 1 else suppressWarnings(drop(stats::cor(found$ranks, found$mean)))
  if (!center) data$center <- FALSE
  if (!scale) data$scale <- FALSE
  list(
    data = data,
    params = list_of(n_clusters, k, members = vapply(tasks, `[[`, "", "method"), strength,
      pool = choice$pool, share, looked_at = looked$size),
    feature_scores = rank_scores(c(chosen, setdiff(order(found$mean), chosen)), q),
    statistic = expand_features(found$mean, data, NA_real_),
    solution = list(ranks = expand_features(found$ranks, data, NA_real_),
      mean_rank = expand_features(found$mean, data, NA_real_),
      order = stats::setNames(data$keep[chosen], data$features[data$keep[chosen]]),
      choice = choice$table),
    decoys = c(noise[c("n", "draws", "share", "better")], repeatable = choice$repeatable),
    members = data.frame(member = colnames(found$ranks),
      # Ranks are counted among the real columns alone.
      chosen = unname(apply(found$ranks, 2L, function(own) sum(rank(own)[chosen] <= k))),
      agreement = unname(agreement), status = found$status, seconds = found$seconds),
    certificate = choice$certificate
  )
}

# The members' ranks on x: list(ranks, mean, status, seconds).
consensus_ranks <- function(opened, data, tasks, seeds, control) {
  q <- length(data$keep)
  tasks <- Map(function(task, seed) c(task, list(seed = seed)), tasks, seeds)
  tasks <- with_shared_parts(tasks, opened)
  # Members leave constant columns out by themselves, so that no copy without these is made.
  runs <- run_tasks(tasks, consensus_member, list(x = to_travel(opened)))$values
  failed <- vapply(runs, function(run) !is.null(run$error), NA)
  members <- vapply(tasks, `[[`, "", "method")
  if (any(failed)) {
    what <- paste0(members[failed], " (", vapply(runs[failed], `[[`, "", "error"), ")",
      collapse = "; ")
    if (all(failed)) refuse("members", "All members failed: ", what)
    if (control$warn) ufs_warn("member", "Left out of the consensus: ", what)
  }
  runs <- runs[!failed]
  ranks <- for_each(runs, q, function(run) order(setdiff(run$ranking, data$constant)))
  colnames(ranks) <- members[!failed]
  list(ranks = ranks, mean = rowMeans(ranks), status = vapply(runs, `[[`, "", "status"),
    seconds = vapply(runs, `[[`, 0, "seconds"))
}

# Members that look for the same neighbours get one graph, those that start from clusters of rows
# one partition: theirs but for the rounding of the unit of columns, and the same however x is held.
# ufs_socfs() starts from clusters of scores, and chose worse on some sets from those of rows.
with_shared_parts <- function(tasks, x) {
  has <- function(...) vapply(tasks, function(task) {
    all(c("center", "scale", ...) %in% method_row(task$method)$arguments)
  }, NA)
  graph <- has("graph")
  start <- has("init") & vapply(tasks, function(task) {
    identical(task$args$init, "pca_part") && task$method != "socfs"
  }, NA)
  if (!any(graph | start)) return(tasks)
  how <- tasks[[which(graph | start)[1L]]]$args
  # A member says itself what is wrong with x.
  quietly <- function(made) on_error(suppressMessages(suppressWarnings(made)), function(e) NULL)
  data <- quietly(as_ufs_operator(open_quietly(x), TRUE, how$scale))
  if (is.null(data)) return(tasks)
  neighbours <- if (any(graph)) quietly(as_ufs_graph(NULL, data))
  if (!is.null(neighbours)) for (i in which(graph)) tasks[[i]]$args$graph <- neighbours
  if (any(start)) {
    clusters <- tasks[[which(start)[1L]]]$args$n_clusters
    found <- quietly(parted_clusters(sample_points(data$x, clusters), clusters))
    if (identical(max(found), clusters)) for (i in which(start)) tasks[[i]]$args$init <- found
  }
  tasks
}

# Decoys meet the members that use no labels and cost little: in the data of the others they would
# move the clusters themselves, and the choice with them.
consensus_judges <- c("pca", "laplacian")

# How the columns stand among decoys: list(n decoys a draw, draws, share of noise among the best 1,
# 2, ... columns, better: how many are, safe: is each column, and the same of each draw by itself).
consensus_noise <- function(opened, data, judges, seeds, share) {
  q <- length(data$keep)
  how <- judges[[1L]]$args
  data <- as_ufs_operator(open_quietly(opened), how$center, how$scale)
  first <- equal_of_data(opened, data)
  runs <- lapply(seeds, decoys_ranked(opened, data, first, judges))
  counts <- Filter(Negate(is.null), lapply(runs, function(both) {
    both <- Filter(function(run) is.null(run$error), both)
    if (!length(both)) return(NULL)
    # Ties by the first, which knows neither which columns are decoys.
    place <- vapply(both, function(run) {
      as.double(order(match(run$ranking, c(seq_len(q), sort(run$ranking[run$ranking > q])))))
    }, numeric(length(both[[1L]]$ranking)))
    decoys_before(order(rowMeans(place), place[, 1L]), first)
  }))
  if (!length(counts)) {
    refuse("members", "No decoys can be told from columns: ", runs[[1L]][[1L]]$error)
  }
  c(list(n = counts[[1L]]$decoys, draws = length(counts)), safe_columns(counts, first, share),
    each = list(lapply(counts, function(count) safe_columns(list(count), first, share)$safe)))
}

# Judges the columns by how many decoys of all draws stand before them: list(share no better than
# noise among the first 1, 2, ..., better, safe).
safe_columns <- function(counts, first, share) {
  q <- length(first)
  before <- rowSums(for_each(counts, q, function(count) count$before[order(count$real)]))
  ranking <- order(before)
  distinct <- cumsum(!duplicated(first[ranking]))
  weight <- max(distinct) / sum(vapply(counts, `[[`, 0L, "decoys"))
  noise <- weight * before[ranking] / distinct
  list(share = noise, better = max(0L, which(noise <= share)),
    # One more decoy than there is, so that no noise comes in by luck where decoys are few.
    safe = seq_len(q) %in% ranking[seq_len(max(0L, which(noise + weight / distinct <= share)))])
}

# The columns that are chosen of those that are better than noise, by their mean rank and their
# correlations: list(chosen, pool, repeatable: the share of them that each draw of decoys by itself
# would choose, too, certificate, table: what was weighed).
consensus_choice <- function(opened, data, mean, noise, asked) {
  k <- asked$k
  pool <- asked$pool
  if (is.null(k)) {
    k <- max(1L, min(if (is.null(pool)) noise$better else pool, 100L))
    if (is.null(pool)) pool <- max(sum(noise$safe), k)
  }
  pools <- lapply(c(list(noise$safe), noise$each), function(safe) {
    order(!safe, mean)[seq_len(if (is.null(pool)) max(k, min(sum(safe), 10L * k)) else pool)]
  })
  all <- unique(unlist(pools))
  at <- data$keep[all]
  # The columns of all pools, each of length one.
  z <- if (has_row_sums(opened)) {
    whole <- x_columns(as_ufs_operator(open_quietly(opened))$x, all)
    sweep(whole, 2L, sqrt(colSums(whole^2)), "/")
  } else .Call(C_x_standardise, data_columns(opened, at), unname(data$center[at]),
    unname(data$scale[at]) * data$norm[all])
  worth <- function(best) (length(best) + 1 - seq_along(best)) / length(best)
  found <- lapply(pools, function(best) {
    decorrelate(z[, match(best, all), drop = FALSE], worth(best), k, asked$strength)
  })
  picks <- Map(function(best, one) best[one$picked], pools, found)
  own <- pools[[1L]]
  list(chosen = picks[[1L]], pool = length(own),
    table = choice_table(found[[1L]], worth(own), asked$strength, data$keep[own], data$features),
    repeatable = mean(vapply(picks[-1L], function(pick) mean(pick %in% picks[[1L]]), 0)),
    certificate = correlation_certificate(z[, match(own, all), drop = FALSE],
      match(picks[[1L]], own)))
}

# Keeps of a fit only what is looked at: the solutions of all members would be larger than x.
consensus_member <- function(task, common) {
  run <- quiet_fit(common$x, task$method, task$args, task$seed)
  if (is.null(run$fit)) return(list(error = run$error))
  list(ranking = unname(run$fit$feature_ranking), status = run$fit$status, seconds = run$seconds)
}

# One task per member: its name and what it needs.
consensus_tasks <- function(members, n_clusters, data, center, scale) {
  if (!is.character(members) || !length(members) || anyNA(members) || anyDuplicated(members)) {
    refuse("members", "`members` must be names of methods, each once.")
  }
  lapply(members, function(name) {
    row <- method_row(name, "members")
    if (row$selects == "samples") refuse("members", "`members`: ufs_", name, "() selects samples.")
    # More components than these took ufs_jspca() most of the time of all members, and chose no
    # better (k-means accuracy on 43 sets, by the estimate and by the true number of clusters, clean
    # and among noise: +.7, 0, -.2, +.3 points).
    most <- c(if (name == "jspca") 6L, n_clusters, data$n - 1L, length(data$keep))
    args <- list_of(n_clusters, n_components = min(most), scale, center)
    args <- args[names(args) %in% row$arguments]
    # The same clusters whenever they are asked for.
    if (identical(formals(row$fit)$init, "kmeans")) args$init <- "pca_part"
    list(method = name, args = args)
  })
}

#' @export
print_notes.ufs_consensus <- function(x) {
  members <- x$members[order(-x$members$chosen), ]
  c(if (!is.null(x$params$looked_at)) {
    paste0("rows         ", x$params$looked_at, ", spread over all; correlations of all rows")
  },
  paste0("members      of the best ", x$params$k, " of each are chosen: ",
    paste(members$member, members$chosen, collapse = ", ")),
    correlation_note(x, "mean of ranks alone"),
    paste0("pool         ", x$params$pool, " columns to choose from, by ", x$decoys$n,
      " decoys that ", paste(consensus_judges, collapse = " and "), " rank"),
    paste0("repeatable   each of ", x$decoys$draws, " draws of decoys by itself chooses ",
      percent(x$decoys$repeatable),
      " of these columns; of draws, not of rows: everyone gets these draws"))
}

register("consensus", ufs_consensus,
  solve = solve_consensus,
  prepare = function(x, args) {
    check_flag(args$center, "center")
    check_flag(args$scale, "scale")
    # Correlations, whatever the members are told about scaling.
    as_column_stats(x, TRUE, TRUE)
  },
  arguments = list(strength = a_number(lower = 0), share = a_number(0, 1, open = TRUE)),
  free = "members",
  deterministic = FALSE, sized_by = "pca",
  title = "Consensus of seven methods, without redundancy",
  cost = "that of its members",
  advice = "recommended for clustering with few columns",
  refuses = c(weights = "not all of its members take them")
)
