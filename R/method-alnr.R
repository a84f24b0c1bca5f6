#' Samples that reconstruct their neighbours ("ALNR-style")
#'
#' Chooses samples from which their neighbours can be reconstructed: like [ufs_ted()] in its convex
#' form, but each sample is rebuilt only from itself and its `n_neighbours` nearest others, and
#' nearer neighbours cost less. It is here because the joint method [ufs_alfs()] was compared with
#' it. To choose samples to label use [ufs_facility()] or [ufs_medoids()]; this ranking did worse
#' than random choice there (the figures are in `vignette("evidence")`).
#'
#' With x_i the i-th row of the (standardised) `x` and N_i the neighbourhood of sample i,
#' \deqn{\min_A \sum_i \|x_i - \sum_{j \in N_i} A_{ij} x_j\|^2 + \gamma \sum_j
#'   \sqrt{\sum_i t_{ij} A_{ij}^2},\quad t_{ij} = \exp(d_{ij}^2 / s),}
#' where s is the mean of the squared distances d^2 over all neighbour pairs (the exponent is
#' cut at 100). Sample j scores its term of the penalty.
#'
#' # What is the paper's and what is ours
#' ALNR stands for active learning via neighbourhood reconstruction. The title says "style" on
#' purpose: of the paper by Hu et al. (2013) we could read only the abstract and the opening. What
#' is theirs is reconstruction from nearest neighbours in which nearer ones weigh more, with a
#' penalty that selects whole rows. What is ours are the weights t, the sample itself in its
#' neighbourhood, the penalty, the solver (reweighting with an accelerator), and the certificate.
#'
#' # Computation
#' The neighbours take n^2 p flops once, and each iteration about `n q^3 / 3`, where q is
#' `n_neighbours + 1`. Memory is `8 n q^2` bytes beside the samples, and the n x n matrix of inner
#' products for sparse data and files with n < p. Stopping, duality gap, zero scores and trace
#' follow the rules of [ufs_rrss()]. Equal distances (to 1e-10) go to the lower index, and equal
#' rows all have the score of the first of them.
#'
#' @inheritParams ufs_rrss
#' @param labelled Samples that are labelled already: indices, row names, or a logical vector of
#'   length n. They are not chosen: their score is `NA` and they come last. What a ridge regression
#'   on them rebuilds of each sample is taken out first, as picks of [ufs_ted()] do, so that the
#'   others complement them.
#' @param n_neighbours The number of neighbours beside the sample itself, from 1 to n - 1.
#' @param gamma The penalty, a positive number in squared units of `x`. The default `NULL` computes
#'   it from `gamma_rel`. [ufs_grid()] has the published grid of values.
#' @param gamma_rel The penalty as a share of the smallest value at which A = 0 is optimal,
#'   `max_j sqrt(sum_i (2 x_i'x_j)^2 / t_ij)`. It is free of the scale of `x`.
#' @return A fit of class `c("ufs_alnr", "ufs")`; [selected_samples()] gives the samples. `solution`
#'   holds `row_norm` and `activity`; the other parts are those of [ufs_rrss()].
#' @references Hu, Zhang, Jin, Cai and He (2013) Active learning via neighborhood
#'   reconstruction. IJCAI 23, 1415-1421.
#' @seealso [ufs_facility()], [ufs_medoids()], [ufs_ted()]
#' @examples
#' fit <- ufs_alnr(iris[, 1:4], n_neighbours = 5)
#' chosen <- selected_samples(fit, m = 6)
#' chosen
#'
#' # Does every species have a representative?
#' table(iris[chosen, "Species"])
#' @export
ufs_alnr <- function(x, n_neighbours = 5, ..., gamma = NULL, gamma_rel = 0.05, m = NULL,
                     labelled = NULL, center = TRUE, scale = TRUE, control = ufs_control()) {
  run_fit("alnr", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_alnr <- function(data, control, n_neighbours, gamma, gamma_rel, labelled, ...) {
  labelled <- check_labelled(labelled, data)
  check_squares(data$x)
  n_neighbours <- check_count(n_neighbours, "n_neighbours", 1L, data$n - 1L,
    "one fewer than the samples")
  check_bytes(8 * data$n * ((n_neighbours + 1) * (n_neighbours + 4) + 2 * ncol(data$x)),
    "ufs_alnr()", "Use a smaller `n_neighbours`.")
  rest <- beside_labelled(data$x, labelled)
  size <- mean(row_norms(rest))
  settings <- c(list(k = n_neighbours), mm_penalty(gamma, gamma_rel, size^2))
  found <- .Call(C_alnr, rest / size, settings, control)
  if (found$run$lapack != 0L) {
    refuse("gamma", "`gamma` is too small beside the squares of `x`: the weights of a ",
      "neighbourhood cannot be told from rounding. Use a larger `gamma` or `gamma_rel`.")
  }
  mm_fit_fields(data, list_of(n_neighbours, gamma, gamma_rel, labelled), found, size^2)
}

register("alnr", ufs_alnr,
  solve = solve_alnr, control = mm_defaults,
  prepare = function(x, args) gram_coordinates(x, args$center, args$scale),
  group = "samples", selects = "samples",
  title = "Neighbourhood reconstruction (ALNR-style)",
  cost = "n^2 p + n k^3 per iteration",
  advice = "historical (for comparison)",
  reference = "Hu, Zhang, Jin, Cai and He (2013), IJCAI",
  paper_grid = alfs_rival_grid(gamma = 10^(-4:3)),
  constraints = "labelled",
  refuses = c(weights = "copies of a row would be its nearest neighbours")
)
