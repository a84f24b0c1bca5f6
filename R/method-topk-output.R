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
  } else sprintf("at most %.2g%% above the optimum", 100 * x$certificate[["gap"]])
  c(sprintf("selection    %s, %s (given labels and graph)", count_words(x$params$k, "feature"),
    proof),
    paste0("mode         ", mode, ", ", if (x$params$mode == "cluster") {
      count_words(x$params$n_clusters, "cluster")
    } else paste(x$params$n_clusters, "classes"), if (x$graph[["isolated"]] > 0L) {
      paste0(", ", count_words(x$graph[["isolated"]], "sample"), " without a link")
    }),
    if (x$params$mode == "propagate") {
      paste("for labels   alone ufs_propagate(ufs_graph(x), y), or a linear SVM, is often better",
        "than this fit")
    })
}

#' @export
picture_types.ufs_topk <- function(fit) c(NextMethod(), if (!is.null(fit$solution$W)) "affinity")

#' @export
picture.ufs_topk <- function(object, type, ...) {
  if (type != "affinity") return(NextMethod())
  # Links between the samples; the square root shows weak ones too.
  w <- sqrt(object$solution$W)
  picture_links(object, w, order(object$solution$cluster),
    c(0, max(w, .Machine$double.xmin)), "root of weight", "ufs_topk: links between samples")
}
