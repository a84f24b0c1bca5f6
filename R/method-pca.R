#' Ranking by principal component loadings
#'
#' Ranks features by their weight in the leading principal components: how much of a feature's
#' direction lies in the space of the first `n_components` components. It is fast, has no random
#' part, and does well among many columns of noise; correlated features get similar scores, though,
#' so its best features can be redundant. [ufs_css()] avoids that.
#'
#' The score is the row norm of the loadings. Up to 400 samples or features the components come from
#' the smaller of the two Gram matrices. Beyond, the few that are asked for are found alone, to a
#' relative residual of 1e-10; where they are too close to the next ones for that, as in pure noise,
#' all components are computed, and a message says so.
#'
#' @inheritParams ufs_kmeans_f
#' @param n_components The number of leading components c, from 1 to the rank of the centred `x`.
#' @param center,scale Should the columns be centred and standardised first?
#' @param control Made by [ufs_control()]. There is no iteration to tune, so the default will do.
#' @return A fit of class `c("ufs_pca", "ufs")`. `solution` holds `loadings` (p x c, unit
#'   columns), `scores` (n x c) and `sdev`. `certificate` holds `captured`, the share of the squares
#'   that least-squares reconstruction from the best `n_components` features has, and `bound`, that
#'   of the components themselves: no other choice of as many features can hold more.
#'   [ufs_captured()] gives the share for other numbers of features.
#' @seealso [ufs_jspca()] and [ufs_spca()] for sparse components, [ufs_css()]
#' @examples
#' fit <- ufs_pca(iris[, 1:4], n_components = 2)
#' feature_scores(fit)
#'
#' # How much of the data the best two columns hold, and two components at most
#' fit$certificate
#'
#' # Standardised, every column counts alike. Without, the column with the largest numbers leads,
#' # here arrests for assault, which is right only where all columns share a unit.
#' feature_scores(ufs_pca(USArrests, n_components = 1))
#' feature_scores(ufs_pca(USArrests, n_components = 1, scale = FALSE))
#' @export
ufs_pca <- function(x, n_components, k = NULL, ..., center = TRUE, scale = TRUE,
                    control = ufs_control()) {
  run_fit("pca", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_pca <- function(data, control, n_components, center, x, ...) {
  n_components <- check_components(n_components, data, center)
  pca <- x_pca(data$x, n_components)
  check_rank(pca, n_components)
  score <- sqrt(rowSums(pca$loadings^2))
  list(params = list(n_components = n_components),
    feature_scores = score,
    certificate = if (!inherits(x, "ufs_data") || !isTRUE(x$spare)) {
      captured_certificate(data, n_components, pca$sdev2, score)
    },
    solution = list(loadings = expand_features(pca$loadings, data),
      scores = `rownames<-`(if (is.null(data$weights)) pca$scores else
        pca$scores / sqrt(data$weights), data$samples), sdev = sqrt(pca$sdev2 / data$df)),
    coef_name = "loadings")
}

check_rank <- function(pca, n_components) {
  rank <- sum(x_ss(pca$loadings) > 0)
  if (rank < n_components) {
    refuse("n_components", "`n_components` is ", n_components, ", but `x` has rank ", rank,
      " after centring.")
  }
}

register("pca", ufs_pca,
  solve = solve_pca,
  spends = TRUE,
  prepare = function(x, args) as_lazy_operator(x, args$center, args$scale),
  advice = "situational: good among noise columns",
  group = "baseline",
  title = "Norms of the leading PCA loadings",
  cost = "n p min(n, p)",
  reference = "Jolliffe (2002) <doi:10.1007/b98835>",
  constraints = "weights", moments = TRUE
)
