# What a fit of ufs_blfse() holds, its print and its pictures.

# Components of S if there are c, else k-means on the embedding, started at c samples
# as far apart as possible: no random numbers.
blfse_cluster <- function(s, component, n_component, n_clusters) {
  if (n_component == n_clusters || n_component == length(component)) return(component)
  low <- .Call(C_laplacian_low, s, n_clusters, blfse_dense_limit)
  check_lapack(low$info, "blfse")
  y <- low$vectors
  at <- which.max(rowSums(y^2))
  far <- rep(Inf, nrow(y))
  while (length(at) < n_clusters) {
    far <- pmin(far, rowSums(sweep(y, 2L, y[at[length(at)], ])^2))
    if (max(far) <= 1e-12) return(component)
    at <- c(at, which.max(far))
  }
  run <- tryCatch(suppressWarnings(stats::kmeans(y, y[at, , drop = FALSE], iter.max = 100L)),
    error = function(e) NULL)
  if (is.null(run)) {
    # A centre lost all its samples: the nearest start decides.
    d <- vapply(at, function(i) rowSums(sweep(y, 2L, y[i, ])^2), numeric(nrow(y)))
    return(canonical_labels(max.col(-d, ties.method = "first")))
  }
  canonical_labels(run$cluster)
}

blfse_warnings <- function(fit) {
  if (!fit$control$warn) return()
  m <- fit$params$n_base
  if (m < 10L) {
    ufs_warn("few_base", "ufs_blfse() with ", m, " base results: 10 or more are ",
      "recommended, since the weights collapse on one of a few.")
  }
  top <- c(alpha = max(fit$solution$alpha), beta = max(fit$solution$beta))
  if (any(top > 0.9)) {
    ufs_warn("collapse", "The weights have collapsed on one base result (largest alpha ",
      signif(top[["alpha"]], 3L), ", beta ", signif(top[["beta"]], 3L), "): the ",
      if (top[["alpha"]] > 0.9) "scores" else "clusters", " follow that one; see ",
      "ufs_aggregate() for the plain mean.")
  }
  if (!fit$p_unique) {
    ufs_warn("projection", "The projection P is not unique (as always if p >= n): the clusters ",
      "hardly inform the scores, which stay near the mean of the base scores, weighted by alpha.")
  }
}

#' @export
print_notes.ufs_blfse <- function(x) {
  c(
    sprintf("consensus    %d components for %d clusters, rho = %s", x$n_component,
      x$params$n_clusters, format(signif(x$solution$rho, 3L))),
    sprintf("weights      largest alpha %.2f, beta %.2f of %d base results",
      max(x$solution$alpha), max(x$solution$beta), x$params$n_base)
  )
}

#' @export
picture_types.ufs_blfse <- function(fit) {
  c("objective", "weights", "consensus", setdiff(NextMethod(), c("objective", "samples")))
}

#' @export
picture.ufs_blfse <- function(object, type, ...) {
  switch(type,
    objective = picture_blocks(object),
    weights = picture_weights(object),
    consensus = picture_consensus(object),
    NextMethod()
  )
}

picture_blocks <- function(fit) {
  trace <- fit$trace
  stage <- which(trace$block == "start")
  new_picture("curves", table = data.frame(x = seq_len(nrow(trace)), y = trace$objective),
    lines = list(v = stage[-1L] - 0.5), xlab = "block update", ylab = "objective",
    subtitle = if (length(stage) > 1L) {
      paste("new psi at each dotted line:", paste(signif(trace$psi[stage], 3L), collapse = ", "))
    },
    title = sprintf("ufs_blfse: objective (%s)", status_words(fit$status)))
}

picture_weights <- function(fit) {
  m <- fit$params$n_base
  one <- function(which, panel) {
    path <- rbind(rep(1 / m, m), fit$weights[[which]])
    data.frame(x = as.vector(row(path)) - 1L, y = as.vector(path),
      series = paste("base", as.vector(col(path))), panel = panel)
  }
  new_picture("curves", points = FALSE, xlab = "iteration", ylab = "weight",
    table = rbind(one("alpha", "alpha (scores)"), one("beta", "beta (clusterings)")),
    title = "ufs_blfse: weights of the base results")
}

picture_consensus <- function(fit) {
  s <- as.matrix(fit$solution$S)
  picture_links(fit, s, order(fit$solution$cluster, -rowSums(s)), c(0, 1), "similarity",
    sprintf("ufs_blfse: consensus of %d clusterings", fit$params$n_base))
}
