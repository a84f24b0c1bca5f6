# The front door and the registry.

#' Fit any method by name
#'
#' `ufs(x, "socfs", n_clusters = 5)` is `ufs_socfs(x, n_clusters = 5)`: one entry for
#' loops over methods, for [ufs_grid()] and for [ufs_compare()].
#'
#' @param x Numeric matrix, data frame, tibble or Matrix, n samples (rows) by p
#'   features (columns).
#' @param method Name of a method, see [ufs_methods()].
#' @param ... Arguments of that method.
#' @return The method's fit, of class `c("ufs_<method>", "ufs")`.
#' @examples
#' ufs(iris[, 1:4], "variance")
#' ufs_methods()[, c("method", "selects", "title")]
#' @export
ufs <- function(x, method, ...) {
  table <- registry()
  if (missing(method) || !is.character(method) || length(method) != 1L ||
      !method %in% names(table)) {
    ufs_abort("argument", "`method` must be one of ",
      paste0("\"", names(table), "\"", collapse = ", "),
      if (!missing(method)) paste0("; it is ", brief(method)), ".", argument = "method")
  }
  fit <- table[[method]]$fit(x, ...)
  fit$call <- match.call()
  fit
}

#' The methods of the package
#'
#' @return A data frame with one row per method: `method` (the name [ufs()] takes),
#'   `selects` ("features", "samples" or "both"), `title`, `deterministic` (`TRUE` if
#'   no random numbers are drawn by default), `cost` (leading term of the time) and
#'   `reference`.
#' @examples
#' subset(ufs_methods(), selects != "features")$method
#' @export
ufs_methods <- function() {
  table <- registry()
  column <- function(name, type) unname(vapply(table, `[[`, type, name))
  data.frame(
    method = names(table), selects = column("selects", ""), title = column("title", ""),
    deterministic = column("deterministic", NA), cost = column("cost", ""),
    reference = column("reference", ""), stringsAsFactors = FALSE
  )
}

# One row per method: a new method adds its row here and nothing else above.
registry <- function() {
  row <- function(fit, selects, title, deterministic, cost, reference) {
    list(fit = fit, selects = selects, title = title, deterministic = deterministic,
      cost = cost, reference = reference)
  }
  table <- list()
  # Systems of the papers.
  table$socfs <- row(ufs_socfs, "features",
    "Simultaneous orthogonal basis clustering (SOCFS)", FALSE,
    "n p c per full product, about one every 5 iterations",
    "Han, Kim (2015) <doi:10.1109/CVPR.2015.7299136>")
  table$jspca <- row(ufs_jspca, "features", "Joint sparse principal component analysis", TRUE,
    "n p k per iteration", "Yi, Lai, He, Cheung and Liu (2017) <doi:10.1016/j.patcog.2016.08.025>")
  table$alfs <- row(ufs_alfs, "both", "Joint selection of samples and features (ALFS)", TRUE,
    "n p min(n, p) per iteration", "Li et al. (2019) <doi:10.1109/TPAMI.2018.2840980>")
  table$topk <- row(ufs_topk, "features", "Top-k selection by 0-1 integer programming", TRUE,
    "n^2 (n + p) per iteration", "Zhang et al. (2021) IEEE TNNLS 32(7), 3005-3019")
  table$blfse <- row(ufs_blfse, "features", "Bi-level ensemble", FALSE,
    "iterations x (n^2 p + n^3 or p^3)", "Information Fusion (2023) <doi:10.1016/j.inffus.2023.101910>")
  # Baselines that every comparison shows.
  table$variance <- row(ufs_variance, "features", "Variance", TRUE, "n p", "")
  table$pca <- row(ufs_pca, "features", "Norms of the leading PCA loadings", TRUE,
    "n p min(n, p)", "Jolliffe (2002) <doi:10.1007/b98835>")
  table$kmeans_f <- row(ufs_kmeans_f, "features", "k-means labels, then F statistic",
    FALSE, "n p c per k-means iteration", "")
  table$random <- row(ufs_random, "both", "Random ranking", FALSE, "n + p", "")
  # Comparators: features.
  table$laplacian <- row(ufs_laplacian, "features", "Laplacian score", TRUE,
    "n^2 p (graph) + n k p", "He, Cai and Niyogi (2005), NIPS 18")
  table$spec <- row(ufs_spec, "features", "Spectral feature selection (SPEC)", TRUE,
    "n^2 p (graph) + n k p", "Zhao and Liu (2007) <doi:10.1145/1273496.1273641>")
  table$mcfs <- row(ufs_mcfs, "features", "Multi-cluster feature selection", TRUE,
    "n^2 p (graph) + n p c n_features", "Cai, Zhang and He (2010) <doi:10.1145/1835804.1835848>")
  table$udfs <- row(ufs_udfs, "features", "Unsupervised discriminative feature selection", TRUE,
    "n p max(n, p), then min(n, p)^2 p per iteration",
    "Yang et al. (2011) <doi:10.5591/978-1-57735-516-8/IJCAI11-267>")
  table$sogfs <- row(ufs_sogfs, "features", "Structured optimal graph feature selection", TRUE,
    "n p max(n, p) per iteration", "Nie, Zhu and Li (2016), AAAI")
  table$ndfs <- row(ufs_ndfs, "features", "Nonnegative discriminative feature selection",
    FALSE, "graph, then min(n, p)^2 p per iteration", "Li et al. (2012), AAAI")
  table$rsr <- row(ufs_rsr, "features", "Regularised self-representation", TRUE,
    "min(n, p)^2 max(n, p) per iteration",
    "Zhu et al. (2015) <doi:10.1016/j.patcog.2014.08.006>")
  table$inffs <- row(ufs_inffs, "features", "Infinite feature selection", TRUE, "n p^2",
    "Roffo et al. (2015) <doi:10.1109/ICCV.2015.478>")
  # Comparators: samples.
  table$ted <- row(ufs_ted, "samples", "Transductive experimental design", TRUE,
    "n p^2 + n p m, or n^2 (p + m)", "Yu, Bi and Tresp (2006) <doi:10.1145/1143844.1143980>")
  table$rrss <- row(ufs_rrss, "samples", "Robust representative sample selection", TRUE,
    "n min(n, p)^2 per iteration", "Nie, Wang, Huang and Ding (2013), IJCAI")
  table$alnr <- row(ufs_alnr, "samples", "Neighbourhood reconstruction (ALNR-style)", TRUE,
    "n^2 p + n k^3 per iteration", "Hu, Zhang, Jin, Cai and He (2013), IJCAI")
  table$cur <- row(ufs_cur, "both", "Leverage scores and CUR sampling", FALSE,
    "n p min(n, p)", "Mahoney and Drineas (2009) <doi:10.1073/pnas.0803205106>")
  table
}
