# The main job, start to end, on real data: fits SOCFS and JSPCA, prints the fits, writes
# the rankings (CSV) and the pictures (PNG), and says whether the selection helps. Run by
# `make demo`; by hand:
#   Rscript demo.R --data=my.csv --clusters=5 --k=20 --label=class --out=demo-out
library(ufselect)

option <- function(name, default) {
  given <- grep(paste0("^--", name, "="), commandArgs(TRUE), value = TRUE)
  value <- sub("^--[a-z]+=", "", utils::tail(given, 1L))
  if (length(value) && nzchar(value)) value else default
}
file <- option("data", NULL)
k <- as.integer(option("k", 20))
out <- option("out", "demo-out")
dir.create(out, showWarnings = FALSE, recursive = TRUE)

# ---- data: the user's file, or real data of a suggested package -----------------------
if (!is.null(file)) {
  table <- utils::read.csv(file, check.names = FALSE)
  label <- option("label", NULL)
  if (!is.null(label) && !label %in% names(table)) {
    stop("The file has no column '", label, "' (LABEL=).", call. = FALSE)
  }
  y <- if (!is.null(label)) factor(table[[label]])
  x <- table[, setdiff(names(table), label), drop = FALSE]
  text <- names(x)[!vapply(x, is.numeric, NA)]
  if (length(text)) {
    stop("Columns that are not numeric: ", paste(utils::head(text, 5L), collapse = ", "),
      ". If one of them holds the classes, name it: LABEL=", text[1L], ". Drop the others.",
      call. = FALSE)
  }
  source <- basename(file)
} else if (requireNamespace("dslabs", quietly = TRUE)) {
  x <- dslabs::tissue_gene_expression$x
  y <- factor(dslabs::tissue_gene_expression$y)
  source <- "tissue_gene_expression (package dslabs)"
} else if (requireNamespace("kernlab", quietly = TRUE)) {
  musk <- new.env()
  utils::data("musk", package = "kernlab", envir = musk)
  x <- musk$musk[, names(musk$musk) != "Class"]
  y <- musk$musk$Class
  source <- "musk (package kernlab)"
} else {
  stop("The demo needs data: install the package dslabs, or give DATA=my.csv.", call. = FALSE)
}
clusters <- as.integer(option("clusters", if (is.null(y)) NA else nlevels(y)))
if (is.na(clusters)) {
  stop("Say how many clusters to look for: CLUSTERS=5 (or name the label column, LABEL=).",
    call. = FALSE)
}
k <- min(k, ncol(x))
cat("Data: ", source, ", ", nrow(x), " samples x ", ncol(x), " features, ", clusters,
  " clusters, k = ", k, "\n\n", sep = "")

# ---- fits -------------------------------------------------------------------------------
set.seed(1)
fits <- list(
  socfs = ufs_socfs(x, n_clusters = clusters),
  jspca = ufs_jspca(x, n_components = min(clusters, nrow(x) - 1L, ncol(x))),
  `k-means + F` = ufs_kmeans_f(x, n_clusters = clusters),
  variance = ufs_variance(x),
  `PCA loadings` = ufs_pca(x, n_components = min(clusters, nrow(x) - 1L, ncol(x)))
)
for (name in c("socfs", "jspca")) {
  fit <- fits[[name]]
  print(fit)
  cat("\n")
  utils::write.csv(as.data.frame(fit), file.path(out, paste0(name, "-ranking.csv")),
    row.names = FALSE)
  for (type in c("objective", "scores")) {
    grDevices::png(file.path(out, paste0(name, "-", type, ".png")), 900, 600, res = 120)
    plot(fit, type)
    invisible(grDevices::dev.off())
  }
}

# ---- does it help? k-means on the chosen features against the known classes ---------------
x <- as.matrix(x)
usable <- which(apply(x, 2L, stats::sd) > 0)
clusterings <- function(columns, starts = 10L) {
  z <- scale(x[, intersect(columns, usable), drop = FALSE])
  lapply(seq_len(starts), function(i) {
    suppressWarnings(stats::kmeans(z, clusters, nstart = 10L, iter.max = 100L))$cluster
  })
}
score <- function(columns) {
  rowMeans(vapply(clusterings(columns), ufs_cluster_metrics, numeric(3), class = y))
}
if (!is.null(y) && requireNamespace("clue", quietly = TRUE)) {
  chosen <- lapply(fits, selected_features, k = k, as = "index")
  result <- rbind(
    t(vapply(chosen, score, numeric(3))),
    `random (mean of 10)` = rowMeans(replicate(10L, score(sample.int(ncol(x), k)))),
    `all features` = score(seq_len(ncol(x)))
  )
  cat("k-means on the best ", k, " features, against the known classes (means over 10 runs):\n", sep = "")
  print(round(result[, c("accuracy", "nmi")], 3L))
  utils::write.csv(round(result, 4L), file.path(out, "comparison.csv"))
} else if (!is.null(y)) {
  cat("Install the package clue to compare clusterings with the known classes.\n")
} else {
  cat("No label column (LABEL=): the rankings are written, nothing to compare them with.\n")
}
cat("\nWritten to ", out, ": ", paste(sort(list.files(out)), collapse = ", "), "\n", sep = "")
