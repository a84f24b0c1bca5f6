#' Choose columns that rebuild all columns (column subset selection)
#'
#' Picks, one by one, the column from which, together with those picked before, all columns are
#' best rebuilt by linear combinations. It is the method to begin with when a few columns are to
#' stand for all of them, to compress data or to classify later; it needs no number of clusters and
#' no random numbers, and one fit serves every k.
#'
#' It fails where most columns are pure noise, because each noise column needs itself to be rebuilt;
#' there use [ufs_consensus()], [ufs_pca()] or [ufs_laplacian()]. `vignette("which-method")`
#' compares the methods, and the figures are in `vignette("evidence")`.
#'
#' A column that differs from a constant in one or two rows only cannot be rebuilt from others, and
#' would be chosen for that, although it says nothing about new rows. Where `x` has at least 20
#' rows, a column of which one or two rows have at least 90 % of the squares (after centring) is
#' rebuilt like all others but not chosen, unless it is included (see [ufs_data()]), has a group, or
#' `k` asks for it. A message of class `ufs_message_few_rows` names such columns. With
#' `optimal = TRUE`, which speaks of all choices, they may be chosen, and the message says which
#' were.
#'
#' With x_j the columns of `x` and S those chosen, the criterion is
#' \deqn{J(S) = \sum_j \min_b \|x_j - X_S b\|^2 + \mu \|b\|^2,}
#' and each pick lowers J as much as one column can. `mu_rel = 0` is the classical greedy choice
#' (Farahat et al. 2011). A ridge keeps columns out that would need large coefficients; they
#' rebuild less well, so for compression take `mu_rel = 0` with `swaps = TRUE` or `starts = 40`. The
#' method is that of [ufs_ted()], applied to the columns.
#'
#' The `certificate` says how much of the squares of `x` the columns hold: `captured`
#' is the share that the least-squares reconstruction from the best k explains, `bound` the share
#' that the first k principal components explain, which no k columns can beat, `ratio` the one
#' over the other (usually above 0.9). [ufs_captured()] computes the same for any other method.
#'
#' It takes n^2 p flops three times and 4 n p for each pick where p > n, and nothing of size p x p
#' is formed; where p is smaller, `n p^2 + 4 k p^2`. Memory is that of `x`, its standardised copy
#' (none of a tall dense `x` that is larger than `getOption("ufselect.copy_bytes")`, or than `2^24`
#' bytes with at least four rows a column), and min(n, p)^2 numbers; of a sparse `x` that is large
#' both ways k numbers for each column instead, and each pick takes three products with `x` (unless
#' columns are exchanged). Decreases that agree to 1e-9 are ties, and ties go to the lowest index.
#'
#' @inheritParams ufs_facility
#' @param k How many columns to pick one by one. The default `NULL` picks as many as there are
#'   columns or samples, but at most 200. The rest are ranked by the gain that each
#'   would add next.
#' @param mu The ridge penalty, a number of at least 0 in squared units of `x`. The default `NULL`
#'   computes it from `mu_rel`.
#' @param mu_rel The ridge penalty as a share of the mean sum of squares of the columns (default
#'   0.1).
#' @param swaps How many exchanges of a chosen column for a better one to make after the last pick.
#'   `TRUE` goes on until no exchange helps; `FALSE` or 0 (the default) makes none. It needs `k`,
#'   since the result is for this k only. Exchanges raise `captured`, whatever the ridge. A try
#'   takes 4 n p (or 4 p^2) flops.
#' @param starts How many starts to exchange columns from, of which the best is returned. The
#'   default 1 is the picks one by one. Each of the others takes the best choice so far, leaves out
#'   a random half of it (every second start all of it), adds a random column, fills up one by one
#'   and exchanges columns until nothing helps, but for the third start, which is chosen by the
#'   loadings of the first `k` components (Osinsky 2023); `params$met` says how many of the starts
#'   ended with as much captured as the best one. With the same seed more starts never capture less.
#'   More than 1 needs `k`, and makes `swaps` `TRUE`.
#' @param optimal Should the choice be proved to capture as much as any k columns can? A search by
#'   branch and bound replaces it where it finds a better one. Its nodes are limited to
#'   `control$max_iter` (default 1e7); then the `certificate` has the gap that was reached. It
#'   proved every `k` that was tried on 30 columns, and small ones on 60. The proof is about
#'   all columns but constant ones and those that the data exclude; one of which less than 1e-10 of
#'   the squares is left beside others counts as rebuilt by these.
#' @param target How many leading principal components to rebuild in place of all columns, so that
#'   what is noise of one column does not count. The default `NULL` rebuilds all columns. For log
#'   counts of cells take 20, with `scale = FALSE` (`vignette("gene-panel")` has the comparison).
#' @param ... Arguments of [ufs_data()] for `x`, such as `assay` or `samples`; others
#'   are errors.
#' @return A fit of class `c("ufs_css", "ufs")`. The score is 1 for the first pick and falls by 1/p
#'   with each rank; `statistic` is the decrease of J by each column (at its pick, or as the next
#'   pick). `certificate` has `captured`, `bound` and `ratio` of the best k or, without `k`, of the
#'   number of picks for which the ratio is smallest; with `target`, `target` and `target_bound`,
#'   the same shares of the components; with `optimal`, `optimal` (1 if proved), `gap` (how much
#'   more of what is to be rebuilt another choice may hold, as a share) and `nodes`. `trace` has for
#'   each k the `objective` J, the
#'   `decrease`, `captured`, `bound` and `ratio`. `solution` holds the `order` of the picks, and
#'   what [predict()][predict.ufs_css] needs: `factor` (k x k) and `coordinates` (k x p), and
#'   `norm2`, the sum of squares of each column.
#' @references Farahat, Ghodsi and Kamel (2011) An efficient greedy method for unsupervised feature
#'   selection. ICDM, 161-170. \doi{10.1109/ICDM.2011.22}
#'
#'   Osinsky (2023) Close to optimal column approximations with a single SVD.
#'   \doi{10.48550/arXiv.2308.09068}
#'
#'   Yu, Bi and Tresp (2006) Active learning via transductive experimental design. ICML 23,
#'   1081-1088. \doi{10.1145/1143844.1143980}
#' @seealso [predict.ufs_css()], [ufs_captured()]
#' @examples
#' # Three columns that stand for all eleven
#' fit <- ufs_css(mtcars, k = 3)
#' fit
#' selected_features(fit, 3)
#'
#' # All columns, rebuilt from these three
#' head(predict(fit, mtcars, k = 3, type = "reconstruction"), 2)
#' @export
ufs_css <- function(x, k = NULL, ..., mu = NULL, mu_rel = 0.1, swaps = 0, starts = 1,
                    optimal = FALSE, target = NULL, center = TRUE, scale = TRUE,
                    control = ufs_control()) {
  run_fit("css", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_css <- function(data, control, k, mu, mu_rel, swaps, starts, optimal, target, x, ...) {
  # Fourth powers of x occur inside: dividing by a power of two keeps them in range.
  check_norms(data)
  opened <- inherits(x, "ufs_data")
  slots <- css_slots(data, list_of(k, mu, mu_rel, swaps, starts, optimal, target), control,
    judge_rows = !(opened && !is.null(x$n_rows)), whole = !(opened && isTRUE(x$spare)))
  if (length(slots$few) && !(opened && isTRUE(x$quiet))) ufs_inform("few_rows",
    if (optimal) "Chosen, though" else "Not chosen, because",
    " one or two rows have at least 90 % of the squares: ",
    some_columns(unique(data$features[data$keep[slots$few]])), ". ",
    if (optimal) "ufs_data(exclude = ) keeps columns out." else
      "ufs_data(include = ) takes columns in.")
  slots[names(slots) != "few"]
}

# The work of ufs_css(), of the list from column_triangle(); `asked` has the arguments as they came.
# judge_rows: are columns with values on one or two rows only left out? They are returned as `few`;
# of a proof, which is about all choices, those that were chosen all the same. `whole`: is more
# wanted than the ranking? Coordinates of all columns may be as large as x.
css_slots <- function(data, asked, control, judge_rows, whole = TRUE) {
  z <- data$x
  divisor <- data$divisor
  ss <- x_ss(z)
  held <- if (!is.null(data$held)) constraints_for_css(data)
  settings <- css_settings(asked, held, data, ss)
  few <- if (judge_rows) few_rows(data, held, if (is.null(asked$k)) 1L else settings$picks)
  if (length(few) && !settings$prove) settings$held$exclude <- c(held$exclude, few)
  found <- check_solved(.Call(C_css, z, settings, control), "css")
  count <- as.list(found$run$counters)
  order <- found$order[seq_len(count$n_chosen)]
  if (!is.null(settings$held$quota)) check_quotas_met(settings, held, order)
  if (count$n_chosen == 0) refuse_empty(settings, held, data$features[data$keep])
  if (settings$prove) few <- intersect(few, order)
  whole <- whole || settings$prove
  # The picks end here: after each column, or after the last one of each variable.
  ends <- which(!duplicated(data$keep[order], fromLast = TRUE))
  basis <- if (whole) column_basis(z, order, divisor)
  trace <- css_trace(found, basis, divisor, ends, spanned = !is.null(data$coded))
  gain <- replace(found$left, order, found$run$trace[, "decrease"])
  free <- is.null(asked$k) && is.null(held$budget)
  at <- if (!whole) 1L else if (free) which.min(trace$ratio) else length(ends)
  certificate <- vapply(trace[-seq_len(3L)], `[`, 0, at)
  if (settings$prove) certificate <- c(certificate, css_proof(as.list(certificate), count))
  last <- c(if (!settings$prove) few, held$exclude)
  variables <- unique(data$keep)
  place <- function(j) unique(match(data$keep[j], variables))
  ranking <- picks_first(place(order), gathered(found$left, data$keep), digits = 8L)
  ranking <- c(setdiff(ranking, place(last)), place(last))
  score <- (length(ranking) + 1 - order(ranking)) / length(ranking)
  list(few = few,
    params = c(list(k = length(ends), given = !free, mu = settings$mu * divisor^2,
      mu_rel = settings$mu / settings$mean_ss, swaps = as.integer(count$swaps),
      form = if (settings$form == "x") "x" else if (count$p_form > 0) "p" else "n",
      starts = settings$n_starts),
      if (settings$n_starts > 1L) list(met = as.integer(count$met)),
      if (!is.null(settings$target)) list(target = settings$target),
      if (!is.null(held)) list(included = length(held$include), excluded = length(held$exclude)),
      if (!is.null(held$budget)) {
        list(budget = held$budget, affordable = as.integer(count$affordable))
      },
      if (!is.null(held$max_cor)) list(max_cor = held$max_cor)),
    run = found$run,
    feature_scores = replace(score, place(held$exclude), NA_real_),
    without_score = unique(data$keep[held$exclude]), trace = trace,
    by_ranking = if (!is.null(data$coded)) left_to_ranking,
    advice = "Raise ufs_control(max_iter = ), the largest number of nodes of the search.",
    statistic = expand_features(gain * divisor^2, data, NA_real_),
    solution = list(
      order = stats::setNames(variables[place(order)], data$features[variables[place(order)]]),
      columns = if (!is.null(data$coded)) data$coded$name[order],
      factor = if (whole) basis$factor * divisor,
      coordinates = if (whole) expand_columns(basis$coordinates, data),
      rank = basis$rank,
      norm2 = by_column(ss * divisor^2, data)),
    certificate = certificate
  )
}

# A search that found no choice within the quotas.
check_quotas_met <- function(settings, held, order) {
  quota <- settings$held$quota
  if (any(tabulate(quota$level[order], length(quota$least)) < quota$least)) {
    refuse_quotas(held, settings$k, held$budget)
  }
}

# What counts columns, and is left to the ranking where these are levels.
left_to_ranking <- c("max_cor", "feature_strata")

css_settings <- function(asked, held, data, ss) {
  q <- usable(data)
  k <- asked$k
  sized <- !is.null(k) || !is.null(held$budget)
  strata <- !is.null(held$feature_strata)
  most <- if (strata) max(choice_range(held, q))
  picks <- if (is.null(k)) min(q, if (!sized) c(data$n, 200L), most) else
    check_count(k, "k", 1L, q, "the features that are not constant")
  if (strata && most < 1) refuse("feature_quotas", "`feature_quotas` leaves no column to choose.")
  starts <- check_count(asked$starts, "starts", 1L)
  swaps <- check_swaps(asked$swaps, "k", if (sized) picks)
  for (name in c("starts", "optimal")[c(starts > 1L, asked$optimal)]) {
    if (!sized) refuse("k", "`", name, "` needs `k`: the result is for one `k` only.")
  }
  if (starts > 1L || asked$optimal || !is.null(held$budget)) swaps <- .Machine$integer.max
  included <- unique(data$keep[held$include])
  if (length(included) > picks) {
    refuse("k", "`k` is ", picks, ", but ", length(included), " columns are included: ",
      paste(data$features[included], collapse = ", "), ".")
  }
  if (strata) check_quota_size(picks, held)
  if (!is.null(held$groups) && asked$optimal) {
    refuse("optimal", "`optimal` cannot prove a choice of groups of columns, nor of factors.")
  }
  held["quota"] <- list(if (strata) whole_quotas(held, picks, q))
  mean_ss <- sum(ss) / length(ss)
  held["room"] <- list(if (!is.null(held$places)) picks)
  target <- asked$target
  if (!is.null(target)) {
    target <- check_count(target, "target", 1L, min(data$n, q), "the components there are")
  }
  # No large Gram matrix of a sparse x is formed where picks are all there is to do.
  products <- !is.matrix(data$x) && data$x$kind == "sparse" && swaps == 0 &&
    16 * min(data$n, q)^2 > max_bytes() / 16
  form <- if (!is.null(held$groups) || asked$optimal) "p" else if (products) "x" else "a"
  # So many columns are picked at most, whichever variables they are of.
  most <- if (is.null(data$coded)) picks else
    sum(sort(tabulate(data$keep), decreasing = TRUE)[seq_len(picks)])
  rows <- as.double(nrow(data$x))
  p <- as.double(ncol(data$x))
  grams <- if (asked$optimal) 2 * most + 8 else if (is.null(held$groups)) 0 else 4
  check_bytes(8 * ((if (is.matrix(data$x)) rows * p else 0) +
    (if (form == "x") 0 else 2 * min(data$n, p)^2) + 2 * most * p + rows * most + grams * p^2),
  "ufs_css()", "Select features or samples first.")
  list(k = as.integer(most), picks = picks,
  mu = if (is.null(asked$mu)) check_number(asked$mu_rel, "mu_rel", lower = 0) * mean_ss
    else check_number(asked$mu, "mu", lower = 0) / data$divisor / data$divisor,
  form = form, max_swaps = swaps, exact_limit = 2000L,
  n_starts = starts, mean_ss = mean_ss, target = target, prove = asked$optimal, held = held,
  starts = if (starts > 1L) matrix(stats::runif((starts - 1) * (most + 1)), most + 1L))
}

# The constraints as the solver takes them; check_constraints() has seen them.
constraints_for_css <- function(data) {
  held <- data$held
  if (!is.null(held$max_cor) && isFALSE(data$center)) {
    held$mean <- along_constant(if (is.null(data$rows)) data$x else data$rows, data$weights)
  }
  if (!is.null(data$coded)) held[left_to_ranking] <- NULL
  # A column that goes with no other is a group of its own.
  held$groups <- each_alone(held$groups)
  for (name in c("include", "exclude")) {
    at <- as.integer(held[[name]])
    # Members of a group side by side.
    if (length(held$groups)) at <- at[order(match(held$groups[at], held$groups[at]), at)]
    held[name] <- list(at)
  }
  if (!is.null(held$groups)) held$groups <- match(held$groups, unique(held$groups)) - 1L
  held
}

# No column, or no group, may be chosen.
refuse_empty <- function(settings, held, names) {
  seen <- settings$held
  check_open(seen, length(names))
  if (!is.null(seen$budget)) check_budget(seen$budget, seen, names)
  if (!is.null(seen$groups) && is.null(seen$places)) check_smallest(settings$k, seen, names)
  # Each of the constraints leaves a column to choose, all together leave none.
  size <- if (is.null(held$budget)) settings$k else Inf
  if (!is.null(seen$quota)) refuse_quotas(held, size, held$budget)
}

# Columns of data$keep that would be chosen because of one or two rows, which no other column can
# rebuild. NULL with fewer than twenty rows, where any two have a large share, and where fewer than
# k other columns are left.
few_rows <- function(data, held, k) {
  if (data$n < 20L) return(NULL)
  open <- setdiff(seq_along(data$keep), c(held$exclude, held$include))
  if (!is.null(held$groups)) open <- open[tabulate(held$groups + 1L)[held$groups[open] + 1L] == 1L]
  few <- open[.Call(C_x_top_two, if (is.null(data$rows)) data$x else data$rows)[open] >= 0.9]
  if (!length(few)) return(NULL)
  # A stratum keeps those without which it has too few.
  strata <- held$feature_strata
  if (!is.null(strata$quota)) {
    left <- in_strata(strata, setdiff(seq_along(data$keep), c(held$exclude, few)))
    few <- few[!strata$level[few] %in% which(left < strata$quota[, "least"])]
  }
  if (!is.null(data$coded)) {
    return(if (usable(data) - length(unique(data$keep[c(held$exclude, few)])) >= k) few)
  }
  if (choice_range(replace(held, "exclude", list(c(held$exclude, few))),
    length(data$keep))[2L] < k) NULL else few
}

# Certificate of the search for a choice with these shares, in squares of the target.
css_proof <- function(shares, count) {
  held <- if (is.null(shares$target)) shares$captured * count$start else
    shares$target * count$target_start
  gap <- if (count$bound > held) count$bound / held - 1 else 0
  c(optimal = as.numeric(gap <= 1e-8), gap = gap, nodes = count$nodes)
}

# The trace in units of x, a row where each pick ends, with shares of all squares by least squares,
# and of those of a target; NA without `basis`. `spanned`: beside as many components as the columns
# span, not as there are columns.
css_trace <- function(found, basis, divisor, ends, spanned) {
  decrease <- found$run$trace[, "decrease"] * divisor^2
  if (length(ends) < length(decrease)) decrease <- diff(c(0, cumsum(decrease)[ends]))
  trace <- list(iteration = seq_along(ends),
    objective = found$run$trace[ends, "objective"] * divisor^2, decrease = decrease)
  unknown <- rep(NA_real_, length(ends))
  if (is.null(basis)) return(as_table(c(trace, list_of(captured = unknown, bound = unknown,
    ratio = unknown))))
  count <- as.list(found$run$counters)
  held <- unlist(lapply(in_pieces(nrow(basis$coordinates), 16L), function(at) {
    row_norms(basis$coordinates[at, , drop = FALSE] / divisor)
  }))
  captured <- pmin(cumsum(held^2) / count$start, 1)
  captured <- captured[basis$rank]
  # Under a budget no more columns than it pays for can be chosen, but fewer may be.
  size <- if (spanned) basis$rank else seq_along(captured)
  bound <- pmax(found$leading[size] / count$start, captured)
  last <- length(captured)
  if (count$affordable > last) {
    bound[last] <- max(found$leading[count$affordable] / count$start, bound[last])
  }
  out <- list(captured = captured, bound = bound, ratio = captured / bound)
  if (any(found$target_leading > 0)) {
    out$target <- pmin(found$held[size] / count$target_start, 1)
    out$target_bound <- pmax(found$target_leading[size] / count$target_start, out$target)
  }
  as_table(c(trace, lapply(out, `[`, ends)))
}

#' New data from a column subset
#'
#' Applies a [ufs_css()] fit to new samples: returns their chosen columns, or rebuilds all columns
#' from the chosen ones. Then only a few columns of a new sample need be measured.
#'
#' The columns are rebuilt by least squares, with coefficients learnt from the data of the fit, so
#' `newdata` needs only the chosen columns.
#'
#' @param object A fit of [ufs_css()].
#' @param newdata A matrix or data frame with at least the chosen columns.
#' @param k How many columns to use, by default the `k` of the fit. For `"reconstruction"` it is at
#'   most as many as were picked one by one.
#' @param type `"select"` returns the best `k` columns of `newdata`, as for all methods.
#'   `"reconstruction"` returns all columns, rebuilt from the best `k`.
#' @param ... Must be empty.
#' @return `newdata[, chosen]`, or a matrix with one row per row of `newdata` and one column per
#'   column of the data of the fit, in their units. Constant columns have their value.
#' @examples
#' fit <- ufs_css(mtcars, k = 4)
#' head(predict(fit, mtcars, k = 2, type = "reconstruction"))
#' @export
predict.ufs_css <- function(object, newdata, k = object$params$k,
                            type = c("select", "reconstruction"), ...) {
  check_fit(object)
  type <- check_choice(type, "type")
  if (type == "select") return(predict.ufs(object, newdata, k, ...))
  check_dots_empty(...)
  check_newdata(newdata)
  k <- check_count(k, "k", 1L, object$params$k, "the columns picked one by one")
  chosen <- object$solution$order[seq_len(k)]
  check_door(newdata, "predict()", fit = object)
  z <- new_columns(object, newdata, unname(chosen))
  if (!all(is.finite(z))) refuse_data("newdata", "`newdata` has missing or infinite values.")
  z <- scaled_as(object, z, chosen)
  if (!is.null(object$coded)) z <- z[, picked_columns(object, k), drop = FALSE]
  # Columns that add a basis vector: these alone are used, the others depend on them.
  rank <- object$solution$rank
  used <- which(diff(c(0L, rank[seq_len(ncol(z))])) > 0L)
  lead <- seq_along(used)
  coef <- backsolve(object$solution$factor[lead, used, drop = FALSE],
    object$solution$coordinates[lead, , drop = FALSE])
  watch_over("predict()")
  out <- unscaled(object, product_by_rows(z[, used, drop = FALSE], coef, "rebuilt"))
  colnames(out) <- if (is.null(object$coded)) object$names$features else object$coded$name
  out
}

# The names of the columns of the first k variables, in the order in which they were picked.
picked_columns <- function(fit, k) {
  of <- fit$coded$variable[match(fit$solution$columns, fit$coded$name)]
  fit$solution$columns[of %in% fit$solution$order[seq_len(k)]]
}

#' @rdname representatives
#' @export
representatives.ufs_css <- function(fit, k = fit$params$k, ...) {
  check_dots_empty(...)
  k <- check_count(k, "k", 1L, fit$params$k, "the columns picked one by one")
  chosen <- fit$solution$order[seq_len(k)]
  lead <- seq_len(fit$solution$rank[picked_count(fit, k)])
  own <- colSums(fit$solution$coordinates[lead, , drop = FALSE]^2)
  norm2 <- fit$solution$norm2
  if (!is.null(fit$coded)) {
    data <- list(p = fit$p, keep = fit$coded$variable, coded = fit$coded)
    own <- expand_features(own, data)
    norm2 <- expand_features(norm2, data)
  }
  r <- css_correlations(fit, k)
  at <- max.col(abs(t(replace(r, is.na(r), 0))), ties.method = "first")
  out <- data.frame(feature = fit$names$features,
    representative = fit$names$features[chosen][at],
    r = pmax(-1, pmin(1, r[cbind(at, seq_along(at))])), explained = pmin(own / norm2, 1))
  out[!(norm2 > 0), -1L] <- NA
  out
}

# How many columns the first k variables are.
picked_count <- function(fit, k) if (is.null(fit$coded)) k else length(picked_columns(fit, k))

# Correlations of the best k columns (rows) with all columns; of a factor that of the level that is
# told best.
css_correlations <- function(fit, k) {
  chosen <- seq_len(picked_count(fit, k))
  lead <- seq_len(fit$solution$rank[length(chosen)])
  norm <- unname(sqrt(fit$solution$norm2))
  # Products of columns in the span of the chosen ones with any column are those of coordinates.
  product <- crossprod(fit$solution$factor[lead, chosen, drop = FALSE],
    fit$solution$coordinates[lead, , drop = FALSE])
  at <- fit$solution$order[chosen]
  of <- fit$coded$variable
  if (!is.null(of)) at <- match(fit$solution$columns[chosen], fit$coded$name)
  r <- sweep(product, 2L, norm, "/") / norm[at]
  if (is.null(of)) return(r)
  vapply(seq_len(fit$p), function(j) vapply(fit$solution$order[seq_len(k)], function(i) {
    part <- r[of[at] == i, of == j]
    c(part, NA)[which.max(c(abs(part), 0))]
  }, 0), numeric(k))
}

#' @export
picture_types.ufs_css <- function(fit) c(NextMethod(), "representatives")

#' @export
picture.ufs_css <- function(object, type, k, ...) {
  if (type == "representatives") {
    # All columns against the chosen ones, each below the one that stands for it, the most similar
    # first; of many columns the most similar of each.
    k <- min(check_count(k, "k", 1L), object$params$k)
    chosen <- object$solution$order[seq_len(k)]
    table <- representatives(object, k)
    of <- match(table$representative, object$names$features[chosen])
    r <- abs(table$r)
    # A chosen column heads its own, also where it has copies.
    ord <- order(of, !seq_along(of) %in% chosen, -r, na.last = NA)
    nth <- stats::ave(seq_along(ord), of[ord], FUN = seq_along)
    shown <- ord[nth <= max(2L, 36L %/% k) | length(ord) <= 36L]
    z <- pmin(abs(t(css_correlations(object, k)))[shown, , drop = FALSE], 1)
    dimnames(z) <- list(object$names$features[shown], object$names$features[chosen])
    new_picture("tiles", z = z, limits = c(0, 1), palette = "sequential", value = "|r|",
      row_labels = TRUE, xlab = "chosen features",
      ylab = if (length(shown) < length(ord)) sprintf("%d of %d features", length(shown),
        length(ord)) else "features, below the one that stands for them",
      title = sprintf("ufs_css: which of the %d chosen features stands for which", k))
  } else NextMethod()
}

#' @export
print_notes.ufs_css <- function(x) {
  last <- nrow(x$trace)
  # A factor spans several dimensions.
  spanned <- if (is.null(x$solution$columns)) last else max(x$solution$rank)
  # A budget may pay for more columns than were chosen, and whole groups leave places empty.
  limits <- intersect(c("budget", "groups"), names(x$constraints$features))
  within <- c(budget = "within the budget", groups = "of whole groups")[limits]
  bound <- signif(100 * x$trace$bound[last], 3L)
  c(if (!x$params$given) {
    worst <- which.min(x$trace$ratio)
    paste0("weakest      at k = ", worst, ": ", signif(100 * x$trace$captured[worst], 3L),
      " %, where principal components explain ", signif(100 * x$trace$bound[worst], 3L), " %")
  }, paste0("explains     ", signif(100 * x$trace$captured[last], 3L), " % of the ",
    if (is.numeric(x$center)) "variance" else "squares", " of the ",
    if (!is.null(x$levels)) "shrunk " else if (!isFALSE(x$params$scale)) "standardised ",
    "columns with ", count_words(last, "feature"),
    "; ",
    if (length(limits)) paste("no choice", within[1L], "explains more than", bound) else
      paste(count_words(spanned, "principal component"),
        if (spanned == 1L) "explains" else "explain",
        bound), " %"),
    if (x$params$swaps) paste0("swaps        ", x$params$swaps),
    if (x$params$starts > 1L) {
      paste0("starts       ", x$params$met, " of ", x$params$starts, " found the best choice")
    },
    if (!is.null(x$params$target)) paste0("target       ", signif(100 * x$trace$target[last], 3L),
      " % of the ", count_words(x$params$target, "leading component")),
    if (length(x$certificate) > 3L && "optimal" %in% names(x$certificate)) {
      if (x$certificate[["optimal"]] == 1) {
        paste0("proof        no other choice ", if (length(limits)) within[1L] else "of this size",
          if (length(x$constant) && isFALSE(x$center)) " of columns that vary", " explains more")
      } else {
        paste0("proof        not finished: another choice may explain up to ",
          signif(100 * x$certificate[["gap"]], 3L), " % more")
      }
    })
}

register("css", ufs_css,
  solve = solve_css,
  spends = TRUE,
  prepare = function(x, args) column_triangle(x, args$center, args$scale),
  control = list(max_iter = 1e7L),
  sized_by = "pca",
  title = "Columns that rebuild all columns: column subset selection",
  cost = "n p min(n, p) + n p k",
  reference = "Farahat, Ghodsi and Kamel (2011) <doi:10.1109/ICDM.2011.22>",
  advice = "recommended for compressing, and for classifying with few columns",
  picks = list(argument = "k", unless = "swaps"),
  constraints = c("include", "exclude", "cost", "groups", "max_cor", "feature_strata", "weights"),
  moments = TRUE
)
