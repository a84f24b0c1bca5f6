#' Robust sparse representation of the samples by each other
#'
#' Writes every sample as a sparse combination of the other samples plus a sparse error, and gives
#' the links between samples that follow from the combinations. It chooses nothing: which chosen
#' column or sample stands for which others is told by [representatives()]. Use it to build a graph
#' for [ufs_propagate()] or for spectral clustering, in particular when you know something about
#' pairs of samples: `theta` says which combinations to avoid, for example 1 for pairs known to
#' differ.
#'
#' This is the first part of [ufs_topk()] with a structure of your own. With `x` (n x p, rows of
#' unit length) it minimises
#' \deqn{\|Z\|_1 + \lambda_e \|E\|_1 + \lambda_z \|Z \circ \Theta\|_1}{
#'   ||Z||_1 + lambda_e ||E||_1 + lambda_z ||Z o Theta||_1}
#' subject to `x = Zx + E` and `diag(Z) = 0`. Row i of `Z` rebuilds sample i, and
#' `W = (|Z| + |Z|')/2` holds the links. (The paper has samples in columns, so its Z is the
#' transpose of this one.) The problem is convex and separates by samples.
#'
#' `solver = "exact"` finds the optimum by linear programmes, one a sample. `"admm"` comes near it
#' by the alternating direction method of multipliers (ADMM) with over-relaxed steps.
#' `"paper"` is the paper's Algorithm 1 with its signs and thresholds corrected: an ADMM with a
#' penalty that starts at `rho0` and grows by the factor `tau` in every iteration. With `tau > 1` it
#' stops near the optimum; `tau = 1, rho0 = 10` and a large `max_iter` solves the problem exactly.
#' `certificate[["gap"]]` is a proved bound on the relative distance to the optimum.
#'
#' @inheritParams ufs_topk
#' @param ... Not used: the arguments behind need their whole names.
#' @param lambda_e The weight of the error `E`, a positive number. The default `NULL` takes
#'   `alpha_e` divided by the largest l1 norm of a sample.
#' @param theta An n x n matrix of penalties, none negative; its diagonal does not matter. The
#'   default `NULL` is a matrix of ones, which gives a plain sparse subspace representation.
#'   The matrix need not be symmetric: `theta[i, j]` penalises the use of sample j for sample i.
#' @param lambda_z The weight of `theta`, 0 or more.
#' @param alpha_e The weight of the error `E`, as a multiple of the value at which the first link
#'   appears. It is free of the scale of the data.
#' @param nonnegative Should `Z >= 0` be required?
#' @param solver `"exact"` for linear programmes, `"admm"` or `"paper"`; see above. The default
#'   `"auto"` takes linear programmes; where these would take seconds and `"admm"` less, `"admm"`;
#'   and where you give `rho0` or `tau`, `"paper"`. `params$solver` says which it was.
#' @param rho0,tau The first penalty of the paper's ADMM and its growth per iteration (at least 1).
#' @param center,scale Should the columns be centred and standardised first? Every sample is then
#'   scaled to unit length in any case.
#' @param control Settings of the ADMMs, made by [ufs_control()]: `max_iter` (default 500) and `tol`
#'   for the largest of the three residuals (1e-6, or 1e-4 for `"admm"`, as in [ufs_topk()]).
#'   A negative `tol` never stops early.
#' @return An object of class `ufs_represent`, a list: `Z`, `W` (n x n), `E` (n x p), `objective`,
#'   `trace`, `status`, `iterations`, `certificate`, `params` and `elapsed`. `trace` has one row per
#'   iteration of the paper's ADMM: its penalty `mu`, the residuals `error` = max|x - Qx - E| and
#'   `split` = max|Q - Z|, the `change` of Z, and the `objective` at (Z, E), which need not fall
#'   while the residuals are large; otherwise it has one row, with the `pivots` or `steps`.
#'   `plot()` and `autoplot()` draw the links, with `type = "objective"` the paper's objective.
#' @references Zhang, Fan, Wang, Zhou, Tao (2021) Top-k feature selection framework using
#'   robust 0-1 integer programming. IEEE Transactions on Neural Networks and Learning
#'   Systems 32(7), 3005-3019. \doi{10.1109/TNNLS.2020.3009209}
#'
#'   Barrodale, Roberts (1973) An improved algorithm for discrete l1 linear approximation. SIAM
#'   Journal on Numerical Analysis 10(5), 839-848. \doi{10.1137/0710069}
#' @seealso [ufs_topk()], [ufs_propagate()]
#' @examples
#' # Cars with different numbers of cylinders should not represent each other
#' differ <- outer(mtcars$cyl, mtcars$cyl, "!=") * 1
#' fit <- ufs_represent(mtcars, differ, lambda_z = 2, alpha_e = 5)
#' fit
#' plot(fit)
#'
#' # The share of the links between cars with the same number of cylinders, with and
#' # without that knowledge
#' sum(fit$W[differ == 0]) / sum(fit$W)
#' plain <- ufs_represent(mtcars, lambda_z = 0, alpha_e = 5)
#' sum(plain$W[differ == 0]) / sum(plain$W)
#' @export
ufs_represent <- function(x, theta = NULL, lambda_z = 0.05, ..., lambda_e = NULL, alpha_e = 10,
                          nonnegative = FALSE, solver = c("auto", "paper", "exact", "admm"),
                          rho0 = 1, tau = 1.1, center = TRUE, scale = TRUE,
                          control = ufs_control()) {
  check_given(x)
  check_dots_empty(...)
  watch_over("ufs_represent()")
  start <- proc.time()[[3L]]
  paper_settings(list(), "represent", control, list())
  solver <- check_choice(solver, "solver")
  if (solver == "auto" && !(missing(rho0) && missing(tau))) solver <- "paper"
  data <- topk_data(check_door(x, "ufs_represent()"), center, scale, 1L)
  n <- data$n
  q <- as.double(ncol(data$x))
  room <- function(solver) check_bytes(8 * if (solver %in% c("auto", "exact")) {
    5 * n * q + 3 * n^2 + min(n, q) * (n + q)
  } else 10 * n * q + (if (q < n) 3 else 12) * n^2, "ufs_represent()", "Use a part of the samples.")
  room(solver)
  theta <- if (is.null(theta)) matrix(1, n, n) else
    check_matrix(as_plain_matrix(theta, "theta"), "theta", nrow = n, ncol = n)
  if (any(theta < 0)) refuse("theta", "`theta` must not have negative entries.")
  longest <- max(l1_norms(data$x))
  settings <- list(lambda_e = topk_lambda_e(longest, lambda_e, alpha_e),
    lambda_z = check_number(lambda_z, "lambda_z", lower = 0),
    nonnegative = check_flag(nonnegative, "nonnegative"),
    rho = check_number(tau, "tau", lower = 1), mu = check_number(rho0, "rho0", 0, open = TRUE))
  if (solver == "auto") room(solver <- topk_solver(data$x, "represent", 1L, settings))
  settings$solver <- match(solver, topk_solvers) - 1L
  control <- resolve_control(control, max_iter = 500L, tol = if (solver == "admm") 1e-4 else 1e-6)
  found <- check_solved(.Call(C_represent, data$x, theta, settings, topk_names(data), control),
    "represent")
  trace <- as_trace(found$run$trace)
  fit <- structure(list(Z = found$z, E = found$e, W = found$w,
    objective = found$run$counters[["objective"]], trace = trace[names(trace) != "outer"],
    status = status_labels[[found$run$status + 1L]], iterations = as.integer(found$run$iterations),
    certificate = unlist(found$run$counters["gap"]), control = control,
    params = c(list_of(solver, alpha_e = settings$lambda_e * longest, rho0, tau, center, scale),
      settings[c("lambda_e", "lambda_z", "nonnegative")]),
    n = n, p = data$p, elapsed = proc.time()[[3L]] - start),
    class = c("ufs_represent", "ufs_result"))
  if (fit$status != "converged" && control$warn) {
    ufs_warn(fit$status, "ufs_represent() stopped after ", fit$iterations, " iterations, ",
      "residuals above `tol`: at most ", signif(100 * fit$certificate, 2L), " % above the optimum.")
  }
  fit
}

#' @export
print_lines.ufs_represent <- function(x) {
  links <- rowSums(x$W > 0)
  cat_line("<ufs_represent> ", size_words(x$n, x$p))
  cat_line("solver       ", x$params$solver, ", ", x$status, " after ",
    count_words(x$iterations, if (x$params$solver == "exact") "sample" else "iteration"))
  cat_line("objective    ", format(x$objective, digits = 6L),
    sprintf(", at most %.2g %% above the optimum", 100 * x$certificate[["gap"]]))
  cat_line("links        ", format(stats::median(links)), " per sample (median), ",
    count_words(sum(links == 0L), "sample"), " without one")
}

#' @export
picture.ufs_represent <- function(object, type = "links", ...) {
  # The exact solver has no steps.
  check_choice(type, "type", c("links", if (nrow(object$trace) > 1L) "objective"))
  if (type == "objective") {
    return(new_picture("curves", table = data.frame(x = object$trace$iteration,
      y = object$trace$objective), points = FALSE, xlab = "iteration",
      ylab = "objective at (Z, E)", title = "ufs_represent: objective"))
  }
  w <- structure(sqrt(object$W), dimnames = rep(list(seq_len(object$n)), 2L))
  new_picture("tiles", z = w, limits = c(0, max(w, .Machine$double.xmin)), palette = "sequential",
    value = "root of weight", xlab = "samples", ylab = "samples",
    title = "ufs_represent: links between samples")
}
