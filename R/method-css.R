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
#' With x_j the columns of `x` and S those chosen, the criterion is
#' \deqn{J(S) = \sum_j \min_b \|x_j - X_S b\|^2 + \mu \|b\|^2,}
#' and each pick lowers J as much as one column can. `mu_rel = 0` is the classical greedy choice
#' (Farahat et al. 2011). A ridge keeps columns out that would need large coefficients: in our runs
#' `mu_rel = 0.1` (the default) served classifiers better, and `mu_rel = 1` rebuilt better. The
#' method is that of [ufs_ted()], applied to the columns.
#'
#' The `certificate` says how much of the squares of `x` the columns hold: `captured`
#' is the share that the least-squares reconstruction from the best k explains, `bound` the share
#' that the first k principal components explain, which no k columns can beat, `ratio` the one
#' over the other (usually above 0.9). [ufs_captured()] computes the same for any other method.
#'
#' When p > n nothing of size p x p is formed, and it takes n^2 p flops three times and 4 n p for
#' each pick (one pass over `x`). When p is smaller it takes `n p^2 + 4 k p^2` flops. Memory is that
#' of `x`, its standardised copy, and min(n, p)^2 numbers. Decreases that agree to 1e-9 are ties,
#' and ties go to the lowest index.
#'
#' @inheritParams ufs_facility
#' @param k How many columns to pick one by one. The default `NULL` picks as many as there are
#'   columns or samples, but at most 200. The others follow by what each would bring next.
#' @param mu The ridge penalty, a number of at least 0 in squared units of `x`. The default `NULL`
#'   computes it from `mu_rel`.
#' @param mu_rel The ridge penalty as a share of the mean sum of squares of the columns (default
#'   0.1).
#' @param swaps How many exchanges of a chosen column for a better one to make after the last pick.
#'   `TRUE` goes on until no exchange helps; `FALSE` or 0 (the default) makes none. It needs `k`,
#'   since the result is for this k only. Every try costs n^2 p (or k p^2) flops.
#' @param m This argument is refused: the method chooses features, and `k` says how many. It is here
#'   only because R would complete `m` to `mu`.
#' @return A fit of class `c("ufs_css", "ufs")`. The score is 1 for the first pick and falls by 1/p
#'   with each rank; `statistic` is the decrease of J by each column (at its pick, or as the next
#'   pick). `certificate` has `captured`, `bound` and `ratio` of the best k or, without `k`, of the
#'   number of picks for which the ratio is smallest. `trace` has for each k the `objective` J, the
#'   `decrease`, `captured`, `bound` and `ratio`. `solution` holds the `order` of the picks, and
#'   what [predict()][predict.ufs_css] needs: `factor` (k x k) and `coordinates` (k x p).
#' @references Farahat, Ghodsi and Kamel (2011) An efficient greedy method for unsupervised feature
#'   selection. ICDM, 161-170. \doi{10.1109/ICDM.2011.22}
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
ufs_css <- function(x, k = NULL, mu = NULL, mu_rel = 0.1, swaps = 0, center = TRUE, scale = TRUE,
                    control = ufs_control(), ..., m = NULL) {
  run_fit("css", match.call(), {
    control <- resolve_control(control)
    # Fourth powers of x occur inside: an exact change of unit keeps them in range.
    data <- as_rescaled_operator(x, center, scale)
    z <- data$x
    unit <- data$divisor
    check_norms(data)
    q <- length(data$keep)
    picks <- if (is.null(k)) min(q, data$n, 200L) else {
      check_count(k, "k", 1L, q, "the features that are not constant")
    }
    swaps <- check_swaps(swaps, "k", k)
    n <- as.double(data$n)
    check_bytes(8 * (if (is.matrix(z)) n * q else 0) +
      8 * (2 * min(n, q)^2 + 2 * picks * q + n * picks), "ufs_css()",
    "Select features or samples first.")
    mean_ss <- sum(x_ss(z)) / q
    ridge <- if (is.null(mu)) check_number(mu_rel, "mu_rel", lower = 0) * mean_ss else {
      check_number(mu, "mu", lower = 0) / unit / unit
    }
    found <- check_solved(.Call(C_css, z, list(k = picks, mu = ridge, form = "a", max_swaps = swaps,
      exact_limit = 2000L), control), "css")
    total <- found$run$counters[["start"]]
    basis <- column_basis(z, found$order, unit)
    captured <- pmin(cumsum(row_norms(basis$coordinates / unit)^2) / total, 1)
    captured <- captured[basis$rank]
    bound <- pmax(found$leading / total, captured)
    ranking <- picks_first(found$order, found$left, digits = 8L)
    trace <- as.data.frame(found$run$trace)
    gain <- replace(found$left, found$order, trace$decrease)
    trace[c("objective", "decrease")] <- trace[c("objective", "decrease")] * unit^2
    trace <- cbind(trace, captured, bound, ratio = captured / bound)
    at <- if (is.null(k)) which.min(trace$ratio) else picks
    list(
      params = list(k = picks, given = !is.null(k), mu = ridge * unit^2, mu_rel = ridge / mean_ss,
        swaps = as.integer(found$run$counters[["swaps"]]),
        form = if (found$run$counters[["p_form"]] > 0) "p" else "n"),
      run = found$run, feature_scores = (q + 1 - order(ranking)) / q, trace = trace,
      statistic = expand_features(gain * unit^2, data, NA_real_),
      solution = list(
        order = stats::setNames(data$keep[found$order], data$features[data$keep[found$order]]),
        factor = basis$factor * unit,
        coordinates = expand_columns(basis$coordinates, data),
        rank = basis$rank),
      certificate = c(captured = captured[at], bound = bound[at], ratio = trace$ratio[at])
    )
  })
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
  z <- new_columns(object, newdata, unname(chosen))
  if (!all(is.finite(z))) {
    ufs_abort("input", "`newdata` has missing or infinite values.", argument = "newdata")
  }
  z <- scaled_as(object, z, chosen)
  # Columns that add a basis vector: these alone are used, the others depend on them.
  rank <- object$solution$rank
  used <- which(diff(c(0L, rank[seq_len(k)])) > 0L)
  lead <- seq_along(used)
  coef <- backsolve(object$solution$factor[lead, used, drop = FALSE],
    object$solution$coordinates[lead, , drop = FALSE])
  out <- unscaled(object, z[, used, drop = FALSE] %*% coef)
  colnames(out) <- object$names$features
  out
}

#' @export
print_notes.ufs_css <- function(x) {
  last <- nrow(x$trace)
  c(if (!x$params$given) {
    paste0("worst at     k = ", which.min(x$trace$ratio), ", for which the certificate is given")
  }, paste0("captured     ", signif(100 * x$trace$captured[last], 3L), " % of the squares by ",
    count_words(last, "feature"), ", ", signif(100 * x$trace$bound[last], 3L), " % by ",
    if (last == 1L) "the first principal component" else "as many principal components"),
    if (x$params$swaps) paste0("swaps        ", x$params$swaps))
}

register("css", ufs_css,
  sized_by = "pca",
  title = "Columns that rebuild all columns: column subset selection",
  cost = "n p min(n, p) + n p k",
  reference = "Farahat, Ghodsi and Kamel (2011) <doi:10.1109/ICDM.2011.22>",
  advice = "recommended for compressing, and for classifying with few columns",
  picks = list(argument = "k", unless = "swaps"),
  wishes = "weights"
)
