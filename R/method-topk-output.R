# Accessors, print and pictures of ufs_topk().

#' @rdname selected
#' @export
selected_features.ufs_topk <- function(fit, k = fit$params$k, as = NULL, ...) {
  if (is.null(k)) k <- fit$params$k
  check_one_size(k, fit, "k", " features")
  selected_features.ufs(fit, k, as, ...)
}

#' @export
print_notes.ufs_topk <- function(x) {
  mode <- c(cluster = "unsupervised", propagate = "semi-supervised",
    structured = "supervised, structured", plain = "supervised")[[x$params$mode]]
  proof <- if (x$search$proved) "proved optimal" else if (is.na(x$certificate[["gap"]])) {
    if (is.na(x$certificate[["bound"]])) "no bound" else "changed by the ranking: no proof"
  } else {
    sprintf("at most %.2g%% above the optimum", 100 * x$certificate[["gap"]])
  }
  c(sprintf("selection    %s, %s (given labels and graph)", count_words(x$params$k, "feature"),
    proof),
    paste0("mode         ", mode, ", ", if (x$params$mode == "cluster") {
      count_words(x$params$n_clusters, "cluster")
    } else {
      paste(x$params$n_clusters, "classes")
    }, if (x$graph[["isolated"]] > 0L) {
      paste0(", ", count_words(x$graph[["isolated"]], "sample"), " without a link")
    }),
    if (x$params$mode == "propagate") {
      paste("for labels   alone ufs_propagate(ufs_graph(x), y), or a linear SVM, is often better",
        "than this fit")
    })
}

#' @export
picture_types.ufs_topk <- function(fit) {
  c(NextMethod(), if (nrow(fit$inner$z) || nrow(fit$inner$v)) c("residuals", "inner"),
    if (!is.null(fit$solution$W)) "affinity")
}

#' @export
picture.ufs_topk <- function(object, type, k, ...) {
  switch(type, residuals = picture_inner(object, TRUE), inner = picture_inner(object, FALSE),
    affinity = {
      # Links between the samples; the square root shows weak ones too.
      w <- sqrt(object$solution$W)
      picture_links(object, w, order(object$solution$cluster),
        c(0, max(w, .Machine$double.xmin)), "root of weight", "ufs_topk: links between samples")
    }, scores = {
      # The cut is after the k features that were asked for, whatever the scores are.
      chosen <- object$params$k
      most <- min(object$p, max(2L * chosen, chosen + 10L))
      shown <- unname(object$feature_ranking[seq_len(most)])
      score <- unname(object$feature_scores[shown])
      score[is.na(score)] <- 0
      named <- seq_len(min(check_count(k, "k", 1L), chosen))
      new_picture("spikes",
        table = data.frame(x = seq_along(score), y = score, best = seq_along(score) <= chosen),
        names = object$names$features[shown[named]],
        heading = sprintf("%d of %d chosen", length(named), chosen), lines = list(v = chosen + .5),
        xlab = "feature rank", ylab = "score (larger is better)",
        title = "ufs_topk: feature scores")
    }, NextMethod())
}

# The last inner iterations: their residuals, or their objectives, at points that meet the
# constraints only in the end.
picture_inner <- function(fit, residuals) {
  one <- function(table, panel) {
    table <- table[table$outer == max(c(table$outer, 0)), ]
    names <- if (!residuals) "objective" else
      setdiff(names(table), c("outer", "iteration", "mu", "objective"))
    value <- as.matrix(table[names])
    if (residuals) value[value <= 0] <- NA
    data.frame(x = rep(table$iteration, length(names)), y = as.vector(value),
      series = rep(names, each = nrow(table)), panel = rep(panel, length(value)))
  }
  new_picture("curves", log = if (residuals) "y", points = FALSE, xlab = "iteration",
    table = rbind(one(fit$inner$z, "ADMM for Z"), one(fit$inner$v, "ADMM for v")),
    ylab = if (residuals) "largest residual" else "objective",
    title = paste("ufs_topk:", if (residuals) "residuals" else "objectives",
      "of the inner iterations"))
}
