# Clustering evidence for the graph methods, raw and standardised columns:
#   Rscript graph-evidence.R [--data=FOLDER] [--sets=wine,tissue] [--repeats=10]
# k-means accuracy and NMI (10 starts, `repeats` seeds) on the best 20 and 50 features, or 10 and
# 30 % of them for sets with fewer than 100.
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

folder <- option("data", Sys.getenv("UFSELECT_DATA"))
sets <- strsplit(option("sets", "dermatology,lung_discrete,tissue,tox171,warpPIE10P,orl"), ",")[[1L]]
repeats <- as.integer(option("repeats", "10"))
methods <- c(LS = "laplacian", `LS scaled` = "laplacian", `LS binary scaled` = "laplacian",
  phi1 = "spec", `phi1 centred scaled` = "spec", `phi3 scaled` = "spec",
  MCFS = "mcfs", `MCFS scaled` = "mcfs", `MCFS scaled, no norm` = "mcfs")

tables <- list()
for (set in sets) {
  data <- readRDS(file.path(folder, paste0(set, ".rds")))
  x <- as.matrix(data$x)
  k <- if (ncol(x) < 100L) unique(pmax(2L, round(c(0.1, 0.3) * ncol(x)))) else c(20L, 50L)
  args <- list(`LS scaled` = list(scale = TRUE),
    `LS binary scaled` = list(scale = TRUE, graph = list(weights = "binary")),
    phi1 = list(type = "phi1"),
    `phi1 centred scaled` = list(type = "phi1", center = TRUE, scale = TRUE),
    `phi3 scaled` = list(type = "phi3", center = TRUE, scale = TRUE,
      n_clusters = length(unique(data$y))),
    MCFS = list(n_features = min(50L, ncol(x))),
    `MCFS scaled` = list(scale = TRUE, n_features = min(50L, ncol(x))),
    `MCFS scaled, no norm` = list(scale = TRUE, n_features = min(50L, ncol(x)), normalise = FALSE))
  set.seed(1)
  out <- suppressWarnings(ufs_compare(x, data$y, methods, k = k, mode = "cluster",
    repeats = repeats, args = args))
  table <- summary(out)$table[c("method", "k", "mean", "errors")]
  table$nmi <- summary(out, "nmi")$table$mean
  tables[[set]] <- cbind(set = set, table)
}
all <- do.call(rbind, tables)
for (measure in c("mean", "nmi")) {
  wide <- tapply(all[[measure]], list(all$method, paste0(substr(all$set, 1, 9), "/", all$k)), mean)
  cat("\n", if (measure == "mean") "accuracy" else "NMI", "\n", sep = "")
  print(round(wide, 3))
}
cat("errors:", sum(all$errors), "\n")
