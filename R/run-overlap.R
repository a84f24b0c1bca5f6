# Overlap of several fits, and lists of fits.

#' How far selections agree
#'
#' Compares the best `k` features of several fits: which features they share, and how much of
#' each pair of selections is common. Use it to see whether methods, or settings, choose the same
#' features. `plot()` draws the shares of all pairs or, with `what = "features"`, which feature was
#' chosen by which fit.
#'
#' Fits of the same data can also be joined by `c()`: `plot(c(a = fit1, b = fit2), k = 10)` is
#' `plot(ufs_overlap(list(a = fit1, b = fit2), k = 10))`. A plain list of fits has no class, so
#' that `plot()` cannot know it.
#'
#' Two random choices of `k` of `p` features share `k / p` of them on average: that number is
#' printed and shown, because a share means little without it.
#'
#' @param fits A list of at least two fits of the same features, best with names; or what
#'   `c(fit1, fit2)` gives.
#' @param k How many of the best features of each fit.
#' @return An object of class `ufs_overlap`: `shared` (fits x fits, the share of the `k` features
#'   that two fits have in common), `selected` (features x fits, logical, those that any fit chose,
#'   most often chosen first), `chance` (k / p; where all fits must have, or may not have, the same
#'   columns, by the choice of the others), `k`, `p`.
#' @examples
#' fits <- list(variance = ufs_variance(mtcars), laplacian = ufs_laplacian(mtcars),
#'   pca = ufs_pca(mtcars, n_components = 2))
#' ufs_overlap(fits, k = 4)
#' plot(ufs_overlap(fits, k = 4), what = "features")
#' @export
ufs_overlap <- function(fits, k) {
  check_given(fits)
  fits <- check_fits(fits)
  p <- fits[[1L]]$p
  k <- check_count(k, "k", 1L, p)
  index <- lapply(fits, function(fit) suppressMessages(selected_features(fit, k, as = "index")))
  chosen <- t(members_of(index, p))
  dimnames(chosen) <- list(fits[[1L]]$names$features, names(fits))
  best_rank <- do.call(pmin, lapply(fits, function(fit) order(unname(fit$feature_ranking))))
  ord <- order(-rowSums(chosen), best_rank, seq_len(p))
  selected <- chosen[ord[seq_len(sum(rowSums(chosen) > 0L))], , drop = FALSE]
  held <- lapply(fits, function(fit) fit$constraints$features[c("include", "exclude")])
  # A choice that all must make alike is no chance.
  given <- Reduce(intersect, lapply(held, `[[`, "include"))
  never <- Reduce(intersect, lapply(held, `[[`, "exclude"))
  rest <- max(0, k - length(given))
  chance <- (k - rest + rest * min(1, rest / max(1, p - length(c(given, never))))) / k
  structure(list_of(shared = crossprod(chosen + 0) / k, selected, chance, k, p),
    class = c("ufs_overlap", "ufs_result"))
}

#' @export
print.ufs_overlap <- function(x, digits = 2L, ...) {
  check_dots_empty(...)
  cat_line("<ufs_overlap> ", ncol(x$selected), " fits, best ", x$k, " of ", x$p, " features: ",
    nrow(x$selected), " different ones, ", sum(rowSums(x$selected) == ncol(x$selected)),
    " in all fits")
  cat_line("Share of the selection in common (", format(x$chance, digits = 2L), " by chance):")
  print(round(x$shared, digits))
  invisible(x)
}

#' @export
picture.ufs_overlap <- function(object, what = c("pairs", "features"), ...) {
  pairs <- check_choice(what, "what", c("pairs", "features")) == "pairs"
  shown <- if (pairs) object$shared else utils::head(object$selected, 40L) + 0
  new_picture("tiles", z = shown, limits = c(0, 1), text = pairs, key = FALSE, row_labels = TRUE,
    palette = if (pairs) "sequential" else "presence", upright = TRUE, xlab = "", ylab = "",
    title = sprintf(if (pairs) "Share of the best %d of %d features in common" else
      "Chosen among the best %d of %d features", object$k, object$p),
    subtitle = if (pairs) {
      sprintf("%s by chance", format(object$chance, digits = 2L))
    } else if (nrow(object$selected) > nrow(shown)) {
      sprintf("the %d chosen most often of %d", nrow(shown), nrow(object$selected))
    })
}

#' @param ... Fits to be joined.
#' @rdname ufs_overlap
#' @export
c.ufs <- function(...) structure(list(...), class = c("ufs_list", "ufs_result"))

#' @export
picture.ufs_list <- function(object, k = min(10L, object[[1L]]$p), what = c("pairs", "features"),
                             ...) {
  picture(ufs_overlap(object, k), what)
}

#' @export
print_lines.ufs_list <- function(x) {
  for (fit in x) if (inherits(fit, "ufs")) check_fit(fit)
  cat_line("<ufs_list> ", length(x), " fits")
  Map(function(name, fit) cat_line("  ", name, ": ", if (!inherits(fit, "ufs")) kind_of(fit) else
    paste0("ufs_", fit$method, ", ", size_words(fit$n, fit$p))), labels_of(names(x), length(x)), x)
}

# Fits of the same features, with different names.
check_fits <- function(fits) {
  if (inherits(fits, "ufs") || !is.list(fits) || length(fits) < 2L ||
      !all(vapply(fits, inherits, NA, "ufs"))) {
    refuse("fits", "`fits` must be a list of at least two fits of this package.")
  }
  for (fit in fits) {
    check_fit(fit, "feature_ranking", "features")
    if (fit$p != fits[[1L]]$p || !identical(fit$names$features, fits[[1L]]$names$features)) {
      refuse("fits", "`fits` must be fits of the same features.")
    }
  }
  given <- names_of(fits)
  empty <- is.na(given) | given == ""
  given[empty] <- vapply(fits[empty], `[[`, "", "method")
  stats::setNames(unclass(fits), make.unique(given, " "))
}

# Agreement of each setting of a grid: the mean share of its best features that another has among
# its own.
agreement <- function(object, most = 10L) {
  ranking <- object$feature_rankings
  if (is.null(ranking) || ncol(ranking) < 2L) return(rep(NA_real_, nrow(object$settings)))
  top <- ranking[seq_len(min(most, nrow(ranking))), , drop = FALSE]
  vapply(seq_len(ncol(top)), function(i) {
    others <- top[, -i, drop = FALSE]
    mean(colMeans(matrix(others %in% top[, i], nrow(others)))[!is.na(others[1L, ])])
  }, 0)
}
