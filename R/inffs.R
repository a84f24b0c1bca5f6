#' Infinite feature selection (Inf-FS)
#'
#' Ranks a feature by the total weight of all paths, of every length, that leave it in the
#' complete graph of the features: an edge is heavy if the two features vary much and are
#' little correlated.
#'
#' With the sample standard deviations \eqn{\sigma_j}, \eqn{t_j = (\sigma_j - \min \sigma) /
#' (\max \sigma - \min \sigma)} and Spearman's rank correlations \eqn{\rho_{ij}},
#' \deqn{A_{ij} = \alpha \max(t_i, t_j) + (1 - \alpha) (1 - |\rho_{ij}|), \qquad
#' s = \sum_{l \ge 1} (r A)^l 1 = (I - rA)^{-1} 1 - 1, \qquad r = 0.9 / \rho(A),}
#' and the largest `s` is best. One Krylov space gives both the spectral radius and the solution
#' of the linear system (whose condition number is at most 19): about
#' \eqn{n p^2 + 30 p^2} flops. A is p x p by nature, because of the modulus of the
#' correlations; its upper triangle is kept up to 1 GiB (p of about 16,000), beyond that
#' recomputed in blocks in every product, \eqn{n p^2} flops each.
#'
#' The variants differ in what the public programs do: `"2015"` is the paper as above;
#' `"2016"` (FSLib) puts \eqn{\alpha} on the correlations instead of the deviations and uses
#' 0.99 in place of 0.9; `"2020"` (Inf-FS_U of the later article) divides by the largest
#' row sum M of A twice, \eqn{s = (I - (1 - \epsilon)/M \cdot A / (M + \epsilon))^{-1} 1} with
#' \eqn{\epsilon = 5 \cdot 10^{-6} p}, so paths of length two and more hardly count;
#' `"rowsum"` is `"2015"` with \eqn{r = 0.9 / M}, what [ufs_blfse()] draws its base scores
#' with.
#'
#' The standard deviations make the ranking depend on the units of the features. With
#' `scale = TRUE` all are equal, the first part of A vanishes, and only redundancy counts.
#' Equal features have exactly equal scores.
#'
#' @inheritParams ufs_kmeans_f
#' @param alpha Weight of the deviations against the correlations, 0 to 1.
#' @param variant Which of the published forms, see Details.
#' @param center,scale Centre (changes nothing here) and standardise the columns first.
#' @param control See [ufs_control()]; `max_iter` (default 500 products with A) and `tol`
#'   (1e-14) bound the relative residual of the linear system.
#' @return A fit of class `c("ufs_inffs", "ufs")`. `solution` holds `damping` (r) and
#'   `radius` (the spectral radius of A, or the largest row sum used in its place),
#'   `certificate` the `residual` of the linear system (largest entry, recomputed).
#' @references Roffo, Melzi and Cristani (2015), Infinite feature selection, ICCV
#'   \doi{10.1109/ICCV.2015.478}. Roffo, Melzi, Castellani, Vinciarelli and Cristani (2020),
#'   IEEE TPAMI \doi{10.1109/TPAMI.2020.3002843}.
#' @examples
#' fit <- ufs_inffs(mtcars, scale = TRUE)
#' fit
#' @include ufs.R
#' @export
ufs_inffs <- function(x, alpha = 0.5, variant = c("2015", "2016", "2020", "rowsum"),
                      center = FALSE, scale = FALSE, control = ufs_control()) {
  void <- FALSE
  fit <- run_fit("inffs", match.call(), {
    control <- resolve_control(control, max_iter = 500L, tol = 1e-14)
    alpha <- check_number(alpha, "alpha", 0, 1)
    variant <- check_choice(variant, "variant", c("2015", "2016", "2020", "rowsum"))
    data <- as_ufs_matrix(x, center, scale)
    settings <- inffs_settings(length(data$keep), alpha, variant)
    found <- .Call(C_inffs, data$x, settings, control)
    counters <- found$run$counters
    void <- counters[["empty"]] == 1
    list(
      data = data, control = control,
      params = list(alpha = alpha, variant = variant, center = center, scale = scale),
      run = found$run,
      # Equal columns differ by the order of summation; their scores are equal.
      feature_scores = found$score[equal_columns(data$x)],
      solution = list(damping = counters[["damping"]], radius = counters[["radius"]]),
      certificate = counters["residual"]
    )
  })
  if (void) {
    ufs_warn("void", "All features are perfectly correlated and vary equally: ",
      "ufs_inffs() cannot tell them apart.")
  }
  fit
}

# For src/base_inffs.c: which A and which damping a variant means, and whether A is kept.
inffs_settings <- function(p, alpha, variant) {
  if (variant == "2020" && 5e-6 * p >= 1) {
    ufs_abort("argument", "`variant` = \"2020\" is not defined for p >= 200,000.",
      argument = "variant")
  }
  on_sd <- if (variant == "2016") 1 - alpha else alpha
  store <- (p + 256)^2 / 2 * 8 <= min(1024^3, getOption("ufselect.max_bytes", Inf))
  list(
    weight_sd = on_sd, weight_corr = 1 - on_sd,
    factor = if (variant == "2016") 0.99 else 0.9,
    bound = match(variant, c("rowsum", "2020"), 0L), store = store
  )
}

register("inffs", ufs_inffs,
  advice = "situational",
  group = "features", selects = "features", deterministic = TRUE,
  title = "Infinite feature selection",
  cost = "n p^2",
  reference = "Roffo et al. (2015) <doi:10.1109/ICCV.2015.478>",
  base_args = list(alpha = 0.7, variant = "rowsum")
)
