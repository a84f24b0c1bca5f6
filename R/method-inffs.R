#' Infinite feature selection (Inf-FS)
#'
#' Ranks features so that those come first that vary much and are little correlated with the
#' others. Use it when the columns share a unit and you want to avoid redundant ones; it needs no
#' number of clusters and has no random part.
#'
#' Think of the features as the nodes of a complete graph in which an edge is heavy if the two
#' features vary much and are little correlated. The score of a feature is the total weight of all
#' paths, of every length, that leave it. With the sample standard deviations \eqn{\sigma_j},
#' \eqn{t_j = (\sigma_j - \min \sigma) / (\max \sigma - \min \sigma)} and Spearman's rank
#' correlations \eqn{\rho_{ij}},
#' \deqn{A_{ij} = \alpha \max(t_i, t_j) + (1 - \alpha) (1 - |\rho_{ij}|), \qquad
#' s = \sum_{l \ge 1} (r A)^l 1 = (I - rA)^{-1} 1 - 1, \qquad r = 0.9 / \rho(A),}
#' where \eqn{\rho(A)} is the spectral radius of A, and the largest `s` is best.
#'
#' Deviations make the ranking depend on the units of the features. With `scale = TRUE` all are
#' equal, and only redundancy, the second part of A, counts. Equal features have equal scores.
#'
#' # Variants
#' The public programs differ from the paper and from each other:
#' * `"2015"` is the paper, as given by the formula.
#' * `"2016"` (the program FSLib) puts \eqn{\alpha} on the correlations instead of the deviations
#'   and uses 0.99 in place of 0.9.
#' * `"2020"` (Inf-FS_U of the later article) divides by the largest row sum M of A twice,
#'   \eqn{s = (I - (1 - \epsilon)/M \cdot A / (M + \epsilon))^{-1} 1} with
#'   \eqn{\epsilon = 5 \cdot 10^{-6} p}, so that paths of length two and more hardly count.
#' * `"rowsum"` is `"2015"` with \eqn{r = 0.9 / M}. [ufs_blfse()] draws its base scores with it.
#'
#' # Cost
#' It takes about \eqn{n p^2 + 30 p^2} flops. The upper triangle of the rank correlations is kept if
#' it fits into 1 GiB (p of about 23,000, or 16,000 with more than 369 samples); beyond that, and
#' with 24 samples or fewer, it is recomputed in blocks in each of some six products, for \eqn{n
#' p^2} flops each and little memory.
#'
#' @inheritParams ufs_kmeans_f
#' @param alpha The weight of the deviations against the correlations, from 0 to 1.
#' @param variant Which of the published forms to compute. The default is that of the paper.
#' @param center,scale Should the columns be centred (which changes nothing) and standardised first?
#' @param control Iteration limits and tolerances, made by [ufs_control()]: `max_iter` (default 500
#'   products with A) and `tol` (1e-14), a bound on the relative residual of the linear system.
#' @return A fit of class `c("ufs_inffs", "ufs")`. `solution` holds `damping` (r) and
#'   `radius` (the spectral radius of A, or the largest row sum used in its place);
#'   `certificate` holds the `residual` of the linear system (its largest entry). Above a
#'   residual of 1e-6 the status is `"stalled"`: ranks are
#'   then so alike that the redundancies are rounding.
#' @references Roffo, Melzi and Cristani (2015), Infinite feature selection, ICCV
#'   \doi{10.1109/ICCV.2015.478}. Roffo, Melzi, Castellani, Vinciarelli and Cristani (2020),
#'   IEEE TPAMI \doi{10.1109/TPAMI.2020.3002843}.
#' @examples
#' # Columns in different units: only redundancy counts
#' fit <- ufs_inffs(mtcars, scale = TRUE)
#' selected_features(fit, k = 4)
#'
#' # Columns in one unit (cm): variation counts too
#' ufs_inffs(iris[, 1:4])
#' @export
ufs_inffs <- function(x, alpha = 0.5, variant = c("2015", "2016", "2020", "rowsum"), ..., k = NULL,
                      center = FALSE, scale = FALSE, control = ufs_control()) {
  run_fit("inffs", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_inffs <- function(data, control, alpha, variant, ...) {
  settings <- inffs_settings(data$n, length(data$keep), alpha, variant)
  found <- .Call(C_inffs, data$x, settings, control)
  counters <- found$run$counters
  if (counters[["empty"]] == 1) {
    ufs_warn("void", "All features are perfectly correlated and vary equally: ",
      "ufs_inffs() cannot tell them apart.")
  }
  list(
    params = list_of(alpha, variant),
    run = found$run,
    # Equal columns differ by the order of summation; their scores are equal.
    feature_scores = found$score[equal_columns(data$x)],
    solution = list(damping = counters[["damping"]], radius = counters[["radius"]]),
    certificate = counters["residual"]
  )
}

# For src/inffs.c: which A and which damping a variant means, and whether A is kept.
inffs_settings <- function(n, p, alpha, variant) {
  if (variant == "2020" && 5e-6 * p >= 1) {
    refuse("variant", "`variant` = \"2020\" is not defined for p >= 200,000.")
  }
  on_sd <- if (variant == "2016") 1 - alpha else alpha
  # With few samples a tile is made again as fast as it is read. Two bytes hold the products of up
  # to 58 without an error, floats of up to 369.
  bytes <- if (n <= 58L) 2 else if (n <= 369L) 4 else 8
  store <- n > 24L && (p + 256)^2 / 2 * bytes <= min(1024^3, max_bytes())
  list(
    weight_sd = on_sd, weight_corr = 1 - on_sd,
    factor = if (variant == "2016") 0.99 else 0.9,
    bound = match(variant, c("rowsum", "2020"), 0L), store = store
  )
}

register("inffs", ufs_inffs,
  solve = solve_inffs,
  arguments = list(alpha = a_number(0, 1)),
  prepare = function(x, args) as_ufs_matrix(x, args$center, args$scale, squares = FALSE),
  control = list(max_iter = 500L, tol = 1e-14),
  advice = "situational",
  title = "Infinite feature selection",
  cost = "n p^2",
  reference = "Roffo et al. (2015) <doi:10.1109/ICCV.2015.478>",
  base_args = list(alpha = 0.7, variant = "rowsum"),
  refuses = c(weights = "its rank correlations have one rank for each row")
)
