#' Joint sparse principal component analysis (JSPCA)
#'
#' Finds principal components that all use the same few features, and ranks the features by the
#' norms of their rows of the loadings, of which whole rows are zero. Use it when the chosen
#' features are to stand for the whole data in a few interpretable components, and when some samples
#' may be outliers.
#'
#' With the standardised \eqn{X} (n x p), \eqn{Q} and \eqn{P} (p x c) and
#' \eqn{\|M\|_{2,1}}{||M||_2,1} the sum of the row norms of \eqn{M}:
#'
#' \deqn{\mathrm{loss = "feature":}\quad \min_{P,Q} \|(X - XQP')'\|_{2,1} + \lambda\|Q\|_{2,1},
#'   \quad P = D_1^{-1/2}\bar P,\ \bar P'\bar P = I}{loss = "feature": min ||(X - XQP')'||_2,1 +
#'   lambda ||Q||_2,1, P = D1^(-1/2) Pbar, Pbar'Pbar = I}
#' \deqn{\mathrm{loss = "sample":}\quad \min_{P,Q} \|X - XQP'\|_{2,1} + \lambda\|Q\|_{2,1},
#'   \quad P'P = I}{loss = "sample": min ||X - XQP'||_2,1 + lambda ||Q||_2,1, P'P = I}
#'
#' @section Which loss:
#' **`"sample"`** (the default) sums the norms of the residuals of the samples. It is **robust to
#' outlying samples**, and every step lowers its objective. It takes longer, most of all with many
#' more samples than features: its weights change the Gram matrix of the features, so the data
#' cannot be compressed. `"exact"` keeps a Gram matrix of older weights while it bounds the
#' objective closely, and extrapolates its iterates where that lowers the objective. Where the
#' structure is weak it may need a larger `lambda_rel` (0.2 to 0.4), or a late component is noise.
#'
#' **`"feature"`** is the paper's. It sums the norms of the residuals of the features (\eqn{D_1} has
#' one weight per feature) and so gives less weight to badly fitted *features*; it does not protect
#' against outlying samples. It is solved by a fixed-point iteration whose objective may rise (the
#' constraint moves with \eqn{D_1}; the proof of descent that circulates does not hold). `fit$trace`
#' shows it; it stops on the change of \eqn{Q}. Now and then it does not settle; the status says so.
#'
#' Neither loss selects better than the other on most real data (`vignette("evidence")`). For a
#' classifier the chosen features were hardly better than random ones, for k-means a little better
#' (`vignette("which-method")`). What the method adds is the sparse set of rows and, with
#' `"sample"`, robustness.
#'
#' @section Solvers:
#' Each iteration solves for \eqn{Q} with \eqn{P} fixed, a row-sparse regression, and then for
#' \eqn{P} by a Procrustes step. `solver = "exact"` solves the regression by block coordinate
#' descent on a working set, so rows of \eqn{Q} are exactly zero; `"paper"` takes the paper's single
#' reweighted ridge step, whose rows only approach zero and which needs many more iterations. Both
#' have the same fixed points. From a matrix as the start, and where all rows ended at zero,
#' `"exact"` also takes the plain iterations, then its own, and keeps the lower objective (not for
#' data on disk). For `lambda_rel` below about 0.001 hardly any row is zero, and `"paper"` is the
#' faster one; where `"exact"` stalls there, `loss = "sample"` is solved by `"paper"` instead
#' (`fit$params$solver_used`, and `print()` says so). Nothing of size p x p is formed when p > n.
#'
#' @section Without a penalty:
#' `lambda = 0` gives principal components under a sum of norms instead of a sum of squares: with
#' `loss = "sample"` rotation-invariant L1 PCA, an orthonormal \eqn{Q = P} that outlying samples
#' turn less than those of [ufs_pca()]; with `loss = "feature"` \eqn{Q = D_1 P}, or its part in the
#' row space of \eqn{X}. Every step lowers the objective for either loss. Nothing is sparse then:
#' every feature has a score. If the columns are linearly dependent (always if p > n) many \eqn{Q}
#' give the same \eqn{XQP'}; the one returned has the smallest sum of squares, and
#' `certificate["kkt"]` is the relative error of \eqn{XQ = T}. Both solvers take the same steps.
#'
#' @inheritParams ufs_kmeans_f
#' @param n_components The number of components c, from 1 to the rank of the centred `x`. The number
#'   of classes one expects is a good choice; more than the data have make the iteration slow.
#' @param lambda The penalty, a number from 0. The default `NULL` computes it from `lambda_rel`. The
#'   section "Without a penalty" says what 0 gives.
#' @param lambda_rel The penalty as a share of `lambda_max`, at and above which \eqn{Q = 0} is
#'   a fixed point. It is free of the scale of `x`.
#' @param loss `"sample"` (the default: robust to outlying samples, monotone) or `"feature"`
#'   (the paper's). The section "Which loss" compares them.
#' @param solver `"exact"` for block coordinate descent, or `"paper"` for the paper's iteratively
#'   reweighted least squares.
#' @param init The start: `"pca"`, the leading loadings (default; no random numbers); a p x c
#'   matrix, whose orthonormal polar factor is \eqn{\bar P}{Pbar}; or `list(P =, a =, h =)`, taken
#'   as it is, for an exact replay: \eqn{\bar P}{Pbar}, the weights of the residuals,
#'   \eqn{a_i = 1/(2\|r_i\|)}{a_i = 1/(2||r_i||)} (length p, or n for `loss = "sample"`) and
#'   \eqn{h_i = 2\|q_i\|}{h_i = 2||q_i||} (length p; `"paper"` only). `a` and `h` may be left out.
#' @param center,scale Should the columns be centred and standardised first? The penalty is not free
#'   of the scale of single features, so `scale = TRUE` is recommended.
#' @param control Iteration limits and tolerances, made by [ufs_control()]: `max_iter = 500`,
#'   `tol` on the relative change of \eqn{Q}, and `eps`, by which squared norms are smoothed
#'   (residuals, \eqn{Q}). For `loss = "sample"` the default `tol` is 1e-6, and 1e-6 of the largest
#'   squared row of the data is added to the squared residuals: then scores agree to about 1e-4
#'   whatever the order of the columns. For `loss = "feature"` `tol` is 1e-4 (1e-6 needs about twice
#'   the iterations), and everywhere else `eps` is 1e-12 in the squared units of each.
#'
#' @return A fit of class `c("ufs_jspca", "ufs")`. Scores are the row norms of \eqn{Q};
#'   rows that are zero are ordered by
#'   \eqn{2\|x_i'(T - XQ)\|/\lambda}{2||x_i'(T - XQ)||/lambda}, how near they are to
#'   entering (`fit$feature_key`; \eqn{T} is the target of the last regression).
#'   `solution` holds
#'   \describe{
#'     \item{`loadings`}{p x c, what to interpret: \eqn{Q} rotated to uncorrelated scores of
#'       decreasing variance, columns of unit length, the largest entry positive;}
#'     \item{`scores`}{n x c, standardised `x` times `loadings`;}
#'     \item{`Q`, `P`, `Pbar`}{p x c, as the iteration left them: defined up to one common
#'       rotation (`Pbar = P` for `loss = "sample"`);}
#'     \item{`rotation`}{c x c, the one that turns `Q` into `loadings`, but for their
#'       lengths;}
#'     \item{`residual`}{norms of the residuals, one per feature or sample.}
#'   } `certificate`: `change`, the last relative change of \eqn{Q}; `kkt`, the largest violation of
#'   the optimality conditions of the last regression, as a share of lambda; `gap`, its relative
#'   duality gap (`solver = "exact"`); `captured`, the share of the squares of the data that
#'   least-squares reconstruction from the best `n_components` features has, and `bound`, that of as
#'   many principal components, the most there can be (see [ufs_captured()]). `trace` has the
#'   columns `objective`, `loss`, `penalty`, `change` and `live` (rows that are not zero; with
#'   `"paper"`, above 1e-3 of the largest).
#'
#'   Warnings: `ufs_warning_vanished` (all loadings zero), `ufs_warning_max_iter` (not converged),
#'   `ufs_warning_stalled` (too ill-conditioned for `"exact"`: take `"paper"` or a larger penalty).
#'
#' @section Departures from the source:
#' The slides that describe the method have errors (`vignette("methods-and-mathematics")` lists
#' them); we use the consistent form. The start is PCA instead of random, the loadings are made
#' unique, and the ranking uses the row norms of \eqn{Q} before its columns are scaled. To repeat a
#' run of the source with penalty \eqn{\lambda}{lambda} and all weights 1 at the start, use `loss =
#' "feature"` and `solver = "paper"` with `lambda * sqrt(2)`, `a = 1/2` and `h = sqrt(2)`.
#'
#' @references Yi, S., Lai, Z., He, Z., Cheung, Y. and Liu, Y. (2017). Joint sparse principal
#'   component analysis. *Pattern Recognition* 61, 524-536. \doi{10.1016/j.patcog.2016.08.025}
#' @seealso [predict.ufs_jspca()], [ufs_pca()]
#' @section Plots:
#' Beside the types of [plot.ufs()] there is `"loadings"`, a heat map of the loadings of
#' the best `k` features.
#' @examples
#' fit <- ufs_jspca(mtcars, n_components = 2)
#' fit
#' round(coef(fit), 2)
#' head(predict(fit, mtcars, type = "scores"))
#'
#' # The paper's loss
#' selected_features(ufs_jspca(mtcars, n_components = 2, loss = "feature"), k = 4)
#' @export
ufs_jspca <- function(x, n_components, ..., lambda = NULL, lambda_rel = 0.1,
                      loss = c("sample", "feature"), solver = c("exact", "paper"), init = "pca",
                      k = NULL, center = TRUE, scale = TRUE, control = ufs_control()) {
  run_fit("jspca", match.call(), sys.call(), as.list(environment()), list(...), parent.frame())
}

solve_jspca <- function(data, control, n_components, lambda, lambda_rel, loss, solver, init, center,
                        ...) {
  check_count(control$max_iter, "max_iter", 1L)
  n_components <- check_components(n_components, data, center)

  if (loss == "sample" && !is.null(data$weights)) {
    refuse("weights", "`weights` are for loss = \"feature\": with loss = \"sample\" the ",
      "criterion is no sum of squares over rows.")
  }
  size <- if (loss == "feature") data$norm else row_norms(data$x)
  check_range(max(size))
  # The Gram matrix of the start and of lambda_max, with its eigenvectors.
  check_bytes(8 * 2 * min(dim(data$x))^2, "The smaller Gram matrix of `x`",
    "Use fewer samples or features.")
  core <- jspca_core(data$x, loss)
  if (solver == "paper") check_ridge_bytes(dim(core), "Use solver = \"exact\".")
  pca <- x_pca(core, n_components, "jspca")
  check_rank(pca, n_components)
  begin <- jspca_start(init, n_components, data, pca, size, loss)
  # Without a penalty there is nothing that columns could have a share of.
  exactly <- solver == "exact" && !identical(if (is.null(lambda)) lambda_rel else lambda, 0)
  factor <- if (exactly) penalty_factor(data$held, length(data$keep))
  lambda_max <- .Call(C_jspca_lambda_max, core, loss == "sample", factor)
  penalty <- check_penalty(lambda, lambda_rel, lambda_max, "lambda", zero = TRUE)
  # Smoothing of the residual's and of Q's norms, relative to their units: a residual has those of
  # x, Q their inverse root over features and none over samples. Over samples a few are fitted
  # exactly where n is small. Beside a smoothing of 1e-6 they weigh a million times as much as
  # others, rows cannot be solved for to the end, and the answer is a matter of the columns' order.
  if (is.null(control$eps)) {
    control$eps <- 1e-12 * c(max(size)^2, if (loss == "feature") 1 / max(size) else 1)
    if (loss == "sample" && penalty$value > 0) control$eps[1L] <- 1e-6 * max(size)^2
  }
  control$eps <- rep_len(control$eps, 2L)

  copies <- same_penalty(x_equal_columns(data$x), factor)
  labels <- paste0("PC", seq_len(n_components))
  settings <- list_of(lambda = penalty$value, factor, sample = loss == "sample",
    eps = control$eps,
    first = copies, dropped = length(shape_of(data)$constant), labels = labels,
    features = if (length(shape_of(data)$keep) == shape_of(data)$p) shape_of(data)$features)
  found <- jspca_solve(core, begin, solver, settings, control,
    may_vanish = penalty$rel < 1 && penalty$value > 0 && is.null(factor) && !is.list(init),
    given = is.matrix(init))
  c(jspca_fields(found, data, loss, copies, labels, pca$sdev2, factor), list(
    by_ranking = if (!exactly) penalty_constraints, control = control,
    finish = function(fit) {
      # Exactly zero, or (reweighting gives no exact zeros) of no account in its own units.
      top <- if (fit$params$loss == "feature") sqrt(max(size)) else 1
      if (fit$control$warn && sqrt(sum(fit$feature_scores^2, na.rm = TRUE)) * top <= 1e-2) {
        ufs_warn("vanished", "ufs_jspca(): all loadings are zero at lambda_rel = ",
          signif(fit$params$lambda_rel, 3L), "; take a smaller penalty.")
      }
      fit
    },
    params = list_of(n_components, lambda = penalty$value, lambda_rel = penalty$rel, lambda_max,
      loss, solver, solver_used = found$solver,
      init = if (is.character(init)) init else "given")))
}

# The result of C, and the `solver` it is from. With `may_vanish` Q = 0 is not the optimum: where
# the exact solver ends there, or begins at a `given` P, plain iterations are tried as well.
jspca_solve <- function(core, begin, solver, settings, control, may_vanish, given) {
  # A sparse matrix may be made dense where that fits; a file is not.
  formed <- is.matrix(core) ||
    core$kind != "source" && 8 * prod(as.double(dim(core))) <= max_bytes()
  # A penalty too small for descent by rows: where it ends is a matter of rounding.
  settings$gives_up <- settings$sample && formed && is.null(settings$factor)
  solve_by <- function(solver, core, from = begin) {
    exact <- solver == "exact"
    settings$gives_up <- settings$gives_up && exact
    c(.Call(C_jspca, core, from, c(settings, list(exact = exact)), control), list(solver = solver))
  }
  found <- solve_by(solver, core)
  if (solver == "paper") return(found)
  if (settings$gives_up && status_labels[[found$run$status + 1L]] == "stalled") {
    check_ridge_bytes(dim(core), "Use a larger penalty.")
    return(solve_by("paper", x_dense(core)))
  }
  if (!may_vanish || !formed || !(given || isTRUE(all(found$Q == 0)))) return(found)
  # Few features span what a P far from the data asks for, so that exact Q-steps can set all rows to
  # zero before P has come near the data, and then nothing moves it any more. Plain iterations
  # shrink the rows slowly and move P meanwhile; the exact solver goes on from where they ended. The
  # better one of this way and the straight one.
  check_ridge_bytes(dim(core), "Use init = \"pca\" and a smaller penalty.")
  plain <- solve_by("paper", x_dense(core))
  other <- solve_by("exact", core, list(P = plain$Pbar,
    weight = 1 / (2 * sqrt(plain$residual^2 + settings$eps[1L])), h = begin$h))
  other$run$trace[, "iteration"] <- other$run$trace[, "iteration"] + plain$run$iterations
  other$run$trace <- rbind(plain$run$trace, other$run$trace)
  other$run$iterations <- plain$run$iterations + other$run$iterations
  # Beyond what the tolerance allows: the same model may come with another rotation.
  end <- function(found) utils::tail(found$run$trace[, "objective"], 1L)
  if (isTRUE(end(other) < (1 - 1e-6) * end(found))) other else found
}

# Fields for new_ufs(), without the parameters.
jspca_fields <- function(found, data, loss, copies, labels, sdev2, factor = NULL) {
  residual <- if (loss == "feature") expand_features(found$residual, data) else
    stats::setNames(found$residual, data$samples)
  counters <- found$run$counters
  # The solver shares between copies; a column and its negative are left to share here.
  alike <- x_alike_columns(data$x)
  alike$first <- same_penalty(alike$first, factor)
  if (any(alike$first != copies)) {
    found[c("Q", "loadings")] <- lapply(found[c("Q", "loadings")], share_alike, alike)
    size <- function(norm) sum(if (is.null(factor)) norm else (factor * norm)[norm > 0])
    before <- size(found$row_norm)
    found$row_norm <- sqrt(rowSums(found$Q^2))
    # X Q stays; the penalty is less where the rows did not agree in their directions yet.
    last <- NROW(found$run$trace)
    if (last > 0L && before > 0) {
      saved <- found$run$trace[last, "penalty"] * (1 - size(found$row_norm) / before)
      found$run$trace[last, c("objective", "penalty")] <-
        found$run$trace[last, c("objective", "penalty")] - saved
    }
    found$kkt <- mean_of_copies(found$kkt, alike$first)
    copies <- alike$first
  }
  score <- same_for_copies(found$row_norm, copies)
  key <- same_for_copies(found$kkt, copies)
  list(
    run = found$run, feature_scores = score, feature_key = key,
    solution = list(
      Q = expand_features(found$Q, data), P = expand_features(found$P, data),
      Pbar = expand_features(found$Pbar, data),
      loadings = expand_features(found$loadings, data),
      rotation = `dimnames<-`(found$rotation, list(NULL, labels)),
      scores = `dimnames<-`(x_mul(data$x, found$loadings), list(data$samples, labels)),
      residual = residual
    ),
    certificate = c(change = counters[["change"]], kkt = counters[["violation"]],
      gap = if (found$solver == "exact") counters[["gap"]],
      captured_certificate(data, length(labels), sdev2, score, key)),
    advice = sprintf("The relative change of Q is still %.1e.", counters[["change"]]),
    coef_name = "loadings"
  )
}

# lambda_max is the root of a fourth power of x.
check_range <- function(size) {
  if (!is.finite(size) || size > 1e75 || size < 1e-75) {
    refuse_data("x", "The columns of `x` are too ", if (size > 1) "large" else "small",
      " to be squared twice; use scale = TRUE.")
  }
}

# The solver's data: over features R of a tall x = QR, as R M has the column norms of x M.
jspca_core <- function(x, loss) {
  if (loss == "sample" || nrow(x) <= ncol(x) || is_operator(x) && x$kind == "sparse") return(x)
  if (is_operator(x)) {
    # One pass over the file; the root of a Gram matrix has half the digits of a QR factor.
    return(gram_root(x_gram(x, rows = FALSE)))
  }
  check_solved(.Call(C_jspca_compress, x), "jspca")$x
}

# Pbar, the weights a of the features (samples) and h = 1/D2.
jspca_start <- function(init, k, data, pca, size, loss) {
  p <- length(data$keep)
  weight <- rep(1 / (2 * mean(size)), length(size))
  # ||q_i|| if the rows of Q were all equally long.
  h <- rep(2 * sqrt(k / p * if (loss == "feature") weight[[1L]] else 1), p)
  start <- list(P = pca$loadings, weight = weight, h = h)
  if (is.character(init)) {
    check_choice(init, "init", "pca")
    return(start)
  }
  if (is.matrix(init)) {
    polar <- svd(check_matrix(init, "init", data$p, k)[data$keep, , drop = FALSE])
    if (polar$d[[k]] <= 1e-10 * polar$d[[1L]]) {
      refuse("init", "`init` must have linearly independent columns (over the features that are ",
        "not constant).")
    }
    start$P <- tcrossprod(polar$u, polar$v)
    return(start)
  }
  if (!is.list(init) || is.null(init$P) || length(setdiff(names(init), c("P", "a", "h")))) {
    refuse("init", "`init` must be \"pca\", a matrix of ", data$p, " x ", k, ", or list(P =, a =, ",
      "h =).")
  }
  start$P <- check_matrix(init$P, "init$P", data$p, k)[data$keep, , drop = FALSE]
  if (!is.null(init$a)) {
    start$weight <- if (loss == "sample") check_weights(init$a, "init$a", data$n) else
      check_weights(init$a, "init$a", data$p)[data$keep]
  }
  if (!is.null(init$h)) start$h <- check_weights(init$h, "init$h", data$p)[data$keep]
  start
}

check_weights <- function(value, arg, length) {
  value <- as.double(check_matrix(as.matrix(value), arg, length, 1L))
  if (any(value <= 0)) refuse(arg, "`", arg, "` must be positive.")
  value
}

# Equal columns differ by rounding at most; then not at all, so that the index decides.
same_for_copies <- function(value, first) {
  near <- which(abs(value - value[first]) <= 1e-9 * max(value))
  replace(value, near, value[first][near])
}

#' @export
print_notes.ufs_jspca <- function(x) {
  nonzero <- as.integer(utils::tail(x$trace$live, 1L))
  # A fixed-point iteration may end above where it began.
  rose <- last_objective(x) / min(x$trace$objective) - 1
  c(sprintf("loss         over %ss, lambda = %s (%s of lambda_max)", x$params$loss,
      signif(x$params$lambda, 3L), signif(x$params$lambda_rel, 3L)),
    if (x$params$solver_used != "paper") nonzero_note(x, nonzero) else
      paste0("non-zero     ", nonzero, " of ", x$p, " features (above 1e-3 of the largest)"),
    if (x$params$solver_used != x$params$solver) {
      "solver       \"irls\": lambda is too small for \"exact\""
    },
    if (x$params$loss == "feature" && isTRUE(rose > 1e-3)) {
      sprintf("objective    ends %.1f %% above its lowest: a fixed-point iteration, see ?ufs_jspca",
        100 * rose)
    })
}

#' Predictions of a joint sparse principal component analysis
#'
#' Applies a [ufs_jspca()] fit to new samples: returns their chosen columns, their scores on the
#' sparse components, or their reconstruction from these. Use the scores where you would use those
#' of principal components.
#'
#' @param object A fit of [ufs_jspca()].
#' @param newdata A matrix or data frame. For `"scores"` and `"reconstruction"` it needs all columns
#'   of the data the fit was made on, by name or, without names, by position.
#' @param k For `"select"`, how many features to keep. The default `NULL` takes the number that was
#'   given to the method.
#' @param n_components For the other types, how many leading components to use; all by default.
#' @param type `"select"` gives `newdata[, chosen]`, as [predict.ufs()] does; `"scores"` centred and
#'   scaled `newdata` times the loadings; `"reconstruction"` \eqn{XQP'} in its units.
#' @param ... Not used.
#' @return For `"select"` what [predict.ufs()] returns; for `"scores"` a matrix with one row per row
#'   of `newdata` and `n_components` columns; for `"reconstruction"` a matrix with the rows of
#'   `newdata` and the columns of the fit.
#' @examples
#' fit <- ufs_jspca(mtcars[1:20, ], n_components = 2)
#' head(predict(fit, mtcars[21:32, ], type = "scores"))
#' head(predict(fit, mtcars[21:32, ], type = "reconstruction", n_components = 1))
#' head(predict(fit, mtcars[21:32, ], k = 3))
#' @export
predict.ufs_jspca <- function(object, newdata, k = NULL,
                              type = c("select", "scores", "reconstruction"),
                              n_components = NULL, ...) {
  check_fit(object)
  type <- check_choice(type, "type")
  if (type == "select") return(NextMethod())
  check_dots_empty(...)
  most <- object$params$n_components
  if (is.null(n_components)) n_components <- most
  n_components <- check_count(n_components, "n_components", 1L, most, "the components of the fit")
  z <- scaled_columns(object, newdata)
  solution <- object$solution
  first <- seq_len(n_components)
  if (type == "scores") return(z %*% solution$loadings[, first, drop = FALSE])
  rotation <- solution$rotation[, first, drop = FALSE]
  unscaled(object, z %*% (solution$Q %*% rotation) %*% t(solution$P %*% rotation))
}

#' @export
picture_types.ufs_jspca <- function(fit) c(NextMethod(), "loadings")

#' @export
picture.ufs_jspca <- function(object, type, k, ...) {
  if (type == "objective" && object$params$loss == "feature") {
    return(picture_objective(object, "a fixed-point iteration: the objective may rise"))
  }
  if (type != "loadings") return(NextMethod())
  k <- min(check_count(k, "k", 1L), sum(!is.na(object$feature_scores)))
  top <- object$solution$loadings[utils::head(object$feature_ranking, k), , drop = FALSE]
  most <- max(abs(top), .Machine$double.xmin)
  new_picture("tiles", z = top, limits = c(-most, most), palette = "diverging",
    value = "loading", row_labels = TRUE, upright = TRUE, xlab = "component", ylab = "",
    title = sprintf("ufs_jspca: loadings of the best %d features", nrow(top)))
}

register("jspca", ufs_jspca,
  solve = solve_jspca,
  # The reweighted steps work on x itself.
  prepare = function(x, args) {
    if (args$solver == "exact") as_lazy_operator(x, args$center, args$scale) else
      as_ufs_matrix(x, args$center, args$scale)
  },
  control = function(args) list(max_iter = 500L, tol = if (args$loss == "sample") 1e-6 else 1e-4),
  paper_grid = list(
    source = paste("Yi et al. (2017): the paper was not at hand; this is the setting of slides",
      "about it, on wdbc (Maurya, Prakash, Das and Srivastava, 2022)"),
    grids = list(slides = list(lambda = 3, loss = "feature"))),
  advice = "situational: compressing with outliers, by loss = \"sample\"; else ufs_css()",
  group = "system",
  title = "Joint sparse principal component analysis",
  cost = "n p k per iteration",
  reference = "Yi, Lai, He, Cheung and Liu (2017) <doi:10.1016/j.patcog.2016.08.025>",
  constraints = c("weights", penalty_constraints), moments = TRUE
)
