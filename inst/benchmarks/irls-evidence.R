# Clustering evidence for RSR, NDFS, UDFS and SOGFS, beside the five lines every comparison shows:
#   Rscript irls-evidence.R [--data=FOLDER] [--sets=wine,tissue] [--repeats=10]
# k-means accuracy and NMI (10 starts, `repeats` seeds) on the best 20 and 50 features, or 10 and
# 30 % of them for sets with fewer than 100.
library(ufselect)

option <- function(name, default) {
  given <- grep(paste0("^--", name, "="), commandArgs(TRUE), value = TRUE)
  if (length(given)) sub("^--[a-z]+=", "", utils::tail(given, 1L)) else default
}
folder <- option("data", Sys.getenv("UFSELECT_DATA"))
sets <- strsplit(option("sets", "dermatology,lung_discrete,tissue,tox171,warpPIE10P"), ",")[[1L]]
repeats <- as.integer(option("repeats", "10"))
methods <- c(RSR = "rsr", `RSR .3` = "rsr", `RSR .5` = "rsr", NDFS = "ndfs",
  `NDFS beta .3` = "ndfs", UDFS = "udfs", `UDFS .01` = "udfs", SOGFS = "sogfs", `SOGFS m = 50` = "sogfs",
  `SOGFS .01` = "sogfs")

tables <- list()
for (set in sets) {
  data <- readRDS(file.path(folder, paste0(set, ".rds")))
  x <- as.matrix(data$x)
  k <- if (ncol(x) < 100L) unique(pmax(2L, round(c(0.1, 0.3) * ncol(x)))) else c(20L, 50L)
  args <- list(`RSR .3` = list(lambda_rel = 0.3), `RSR .5` = list(lambda_rel = 0.5),
    `NDFS beta .3` = list(beta = 0.3), `UDFS .01` = list(gamma = 0.01),
    `SOGFS m = 50` = list(n_dims = min(50L, k[2L])), `SOGFS .01` = list(gamma = 0.01))
  # Minutes on sets with thousands of features.
  use <- if (ncol(x) > 3000L) methods[names(methods) != "SOGFS .01"] else methods
  set.seed(1)
  out <- suppressWarnings(ufs_compare(x, data$y, use, k = k, mode = "cluster", repeats = repeats,
    args = args[names(args) %in% names(use)]))
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
