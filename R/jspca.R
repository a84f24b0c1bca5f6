ufs_jspca <- function(x, n_components, lambda = NULL, lambda_rel = 0.1,
                      loss = c("feature", "sample"), solver = c("exact", "irls"),
                      init = "pca", center = TRUE, scale = TRUE,
                      control = ufs_control()) {
  start <- proc.time()[[3L]]
  call <- match.call()
  loss <- check_choice(loss, "loss", c("feature", "sample"))
  solver <- check_choice(solver, "solver", c("exact", "irls"))
  control <- resolve_control(control, max_iter = 500L, tol = 1e-4)
  check_count(control$max_iter, "max_iter", 1L)
  data <- as_ufs_matrix(x, center, scale)
  n_components <- check_count(n_components, "n_components", 1L,
    min(data$n - center, length(data$keep)), "the largest possible rank of `x`")

  core <- jspca_core(data$x, loss)
  pca <- gram_pca(core, n_components)
  check_rank(pca, n_components)
  size <- sqrt(if (loss == "feature") colSums(data$x^2) else rowSums(data$x^2))
  begin <- jspca_start(init, n_components, data, pca, size, loss)
  lambda_max <- .Call(C_jspca_lambda_max, core, loss == "sample")
  penalty <- check_penalty(lambda, lambda_rel, lambda_max, "lambda")
  control$eps <- jspca_eps(control$eps, max(size), loss)

  out <- .Call(C_jspca, core, begin, list(
    lambda = penalty$value, sample = loss == "sample", exact = solver == "exact",
    eps = control$eps, first = jspca_copies(data$x), dropped = length(data$constant)
  ), control)
  check_lapack(out$info, "jspca")

  labels <- paste0("PC", seq_len(n_components))
  loadings <- expand_features(`colnames<-`(out$loadings, labels), data)
  residual <- if (loss == "feature") expand_features(out$residual, data) else
    stats::setNames(out$residual, data$samples)
  fit <- new_ufs("jspca", call,
    list(n_components = n_components, lambda = penalty$value, lambda_rel = penalty$rel,
      lambda_max = lambda_max, loss = loss, solver = solver,
      init = if (is.character(init)) init else "given", center = center, scale = scale),
    control, data,
    feature_scores = out$row_norm, feature_key = out$kkt,
    solution = list(
      Q = expand_features(out$Q, data), P = expand_features(out$P, data),
      Pbar = expand_features(out$Pbar, data), loadings = loadings,
      rotation = `dimnames<-`(out$rotation, list(NULL, labels)),
      scores = `dimnames<-`(data$x %*% out$loadings, list(data$samples, labels)),
      residual = residual
    ),
    trace = `colnames<-`(out$trace, c("objective", "loss", "penalty", "change", "live")),
    status = status_label(out$status), iterations = out$iterations,
    certificate = c(change = out$change, kkt = out$violation,
      gap = if (solver == "exact") out$gap),
    elapsed = proc.time()[[3L]] - start, coef_name = "loadings")
  warn_vanished(fit, size)
  warn_status(fit, sprintf("The relative change of Q is still %.1e.", out$change))
  fit
}

# What the solver works on: over features the QR factor of a tall x will do, because it
# leaves every column norm of x M as it is.
jspca_core <- function(x, loss) {
  if (loss == "sample" || nrow(x) <= ncol(x)) {
    return(x)
  }
  qr <- .Call(C_jspca_compress, x)
  check_lapack(qr$info, "jspca")
  qr$x
}

# Pbar, the weights a of the features (samples) and h = 1/D2.
jspca_start <- function(init, k, data, pca, size, loss) {
  p <- length(data$keep)
  weight <- rep(1 / (2 * mean(size)), length(size))
  # ||q_i|| if the rows of Q were all equally long.
  h <- rep(2 * sqrt(k / p * if (loss == "feature") weight[[1L]] else 1), p)
  if (is.character(init)) {
    check_choice(init, "init", "pca")
    return(list(P = pca$loadings, weight = weight, h = h))
  }
  if (is.matrix(init)) {
    polar <- svd(check_matrix(init, "init", data$p, k)[data$keep, , drop = FALSE])
    if (polar$d[[k]] <= 1e-10 * polar$d[[1L]]) {
      ufs_abort("argument", "`init` must have linearly independent columns (over the ",
        "features that are not constant).", argument = "init")
    }
    return(list(P = tcrossprod(polar$u, polar$v), weight = weight, h = h))
  }
  if (!is.list(init) || is.null(init$P) || length(setdiff(names(init), c("P", "a", "h")))) {
    ufs_abort("argument", "`init` must be \"pca\", a matrix of ", data$p, " x ", k,
      ", or list(P =, a =, h =).", argument = "init")
  }
  P <- check_matrix(init$P, "init$P", data$p, k)
  if (!is.null(init$a)) {
    weight <- check_weights(init$a, "init$a", if (loss == "feature") data$p else data$n)
    if (loss == "feature") weight <- weight[data$keep]
  }
  if (!is.null(init$h)) h <- check_weights(init$h, "init$h", data$p)[data$keep]
  list(P = P[data$keep, , drop = FALSE], weight = weight, h = h)
}

check_weights <- function(value, arg, length) {
  value <- as.double(check_matrix(as.matrix(value), arg, length, 1L))
  if (any(value <= 0)) {
    ufs_abort("argument", "`", arg, "` must be positive.", argument = arg)
  }
  value
}

# Smoothing of the residual's and of Q's norms, relative to their units: a residual has
# those of x, Q their inverse root over features and none over samples.
jspca_eps <- function(eps, size, loss) {
  if (is.null(eps)) {
    eps <- 1e-12 * c(size^2, if (loss == "feature") 1 / size else 1)
  }
  rep_len(eps, 2L)
}

# The first column equal to each, or NULL if no two are.
jspca_copies <- function(x) {
  first <- equal_columns(x)
  if (all(first == seq_along(first))) NULL else first
}

# Exactly zero, or (reweighting gives no exact zeros) a reconstruction of no account.
warn_vanished <- function(fit, size) {
  penalty <- fit$trace$penalty
  if (!fit$control$warn) {
    return(invisible(fit))
  }
  if (all(fit$feature_scores[!is.na(fit$feature_scores)] == 0)) {
    ufs_warn("vanished", "ufs_jspca(): all loadings are zero at lambda_rel = ",
      signif(fit$params$lambda_rel, 3L), "; the ranking is by `kkt` only. Take a smaller lambda.")
  }
  invisible(fit)
}
