# How well do criteria without labels predict the accuracy of a setting? For each set and
# method: a grid of settings, the accuracy of k-means on the chosen features, and every criterion of
# ufs_tune(). Writes the mean Spearman correlation within (set, k) and the regret: accuracy of
# the best setting minus that of the one chosen, of the method's defaults (default) and of a
# setting drawn blindly (blind), in points.
#   Rscript tune.R --data=FOLDER [--sets=a,b] [--methods=socfs,jspca,...] [--criteria=...] [--out=file.csv]
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

folder <- option("data", Sys.getenv("UFSELECT_DATA"))
sets <- words(option("sets",
  "lung_discrete,tissue,tox171,warpPIE10P,libras,dermatology,wine,segment,musk1,sonar,wdbc,ionosphere,vehicle"))
methods <- words(option("methods", "socfs,jspca,laplacian"))
criteria <- words(option("criteria", "knn_overlap,reconstruction,silhouette_all"))
grids <- list(
  socfs = list(lambda_rel = c(.05, .1, .3, .5), gamma = c(.1, 1, 10)),
  jspca = list(lambda_rel = c(.01, .05, .1, .2), loss = c("feature", "sample")),
  laplacian = data.frame(graph = I(lapply(c(3, 5, 10, 15), function(k) list(n_neighbours = k))))
)

judge_clusters <- function(x, y, columns) {
  columns <- columns[apply(x[, columns, drop = FALSE], 2L, stats::sd) > 0]
  z <- scale(x[, columns, drop = FALSE])
  mean(vapply(1:5, function(i) {
    cluster <- suppressWarnings(stats::kmeans(z, nlevels(y), nstart = 10L, iter.max = 100L))$cluster
    ufs_cluster_metrics(cluster, y)[["accuracy"]]
  }, 0))
}
rows <- list()
for (set in sets) {
  data <- readRDS(file.path(folder, paste0(set, ".rds")))
  x <- as.matrix(data$x)
  y <- droplevels(factor(data$y))
  c <- nlevels(y)
  ks <- if (ncol(x) < 100L) unique(pmax(2L, round(c(.1, .3) * ncol(x)))) else c(20L, 50L)
  for (method in methods) {
    set.seed(1)
    # What was drawn here once, so that the draws that follow are the same.
    for (i in split(seq_along(y), y)) sample.int(length(i), ceiling(length(i) / 2))
    arguments <- names(formals(getExportedValue("ufselect", paste0("ufs_", method))))
    number <- intersect(c("n_clusters", "n_components"), arguments)
    fixed <- stats::setNames(rep(list(c), length(number)), number)
    cpu <- system.time(fits <- suppressWarnings(do.call(ufs_grid, c(list(x = x, method = method,
      grid = grids[[method]], keep_fits = TRUE), fixed))))
    default <- suppressWarnings(do.call(ufs, c(list(x = x, method = method), fixed)))
    for (k in ks) {
      accuracy_of <- function(fit) {
        if (is.null(fit)) return(NA_real_)
        columns <- suppressMessages(selected_features(fit, k, as = "index"))
        judge_clusters(x, y, columns)
      }
      accuracy <- vapply(fits$fits, accuracy_of, 0)
      by_default <- accuracy_of(default)
      tuned <- suppressWarnings(do.call(ufs_tune, c(list(x = x, method = method,
        grid = grids[[method]], k = k, criterion = criteria), fixed,
        if (!"n_clusters" %in% number) list(n_clusters = c))))
      for (name in criteria) {
        value <- tuned$results[[name]]
        pick <- which.max(value)
        usable <- is.finite(value) & is.finite(accuracy)
        rows[[length(rows) + 1L]] <- data.frame(set = set, method = method, k = k, criterion = name,
          rho = if (sum(usable) > 2 && stats::sd(value[usable]) > 0 && stats::sd(accuracy[usable]) > 0) {
            stats::cor(value[usable], accuracy[usable], method = "spearman")
          } else NA,
          regret = 100 * (max(accuracy, na.rm = TRUE) - accuracy[pick]),
          default = 100 * (max(accuracy, na.rm = TRUE) - by_default),
          blind = 100 * (max(accuracy, na.rm = TRUE) - mean(accuracy, na.rm = TRUE)))
      }
    }
    cat(set, method, "grid CPU", round(sum(cpu[1:2]), 1L), "s\n")
  }
}
all <- do.call(rbind, rows)
if (!is.null(option("out"))) {
  all[c("rho", "regret", "default", "blind")] <- lapply(all[c("rho", "regret", "default", "blind")], signif, 4L)
  write_table(all, option("out"))
}
