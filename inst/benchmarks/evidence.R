# Clustering evidence: k-means on the chosen features against known classes, for any
# registered methods on a folder of real sets (each an .rds with list(x, y)).
#   Rscript evidence.R --data=FOLDER --sets=wine,tissue --methods=socfs,jspca --k=20,50 \
#     --repeats=5 [--out=file.csv]
# For sets with fewer than 100 features the k are 10 % and 30 % of p instead.
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

folder <- option("data", Sys.getenv("UFSELECT_DATA"))
sets <- words(option("sets", "lung_discrete,tissue,tox171,warpPIE10P,wine"))
methods <- words(option("methods", "socfs,jspca"))
repeats <- as.integer(option("repeats", "5"))

all <- list()
for (set in sets) {
  data <- readRDS(file.path(folder, paste0(set, ".rds")))
  x <- as.matrix(data$x)
  k <- as.integer(words(option("k", "20,50")))
  if (ncol(x) < 100L) k <- unique(pmax(2L, round(c(.1, .3) * ncol(x))))
  set.seed(1)
  cpu <- system.time(out <- suppressWarnings(
    ufs_compare(x, data$y, methods, k = k, mode = "cluster", repeats = repeats)))
  cat("\n==== ", set, " (CPU ", round(sum(cpu[1:2]), 1L), " s)\n", sep = "")
  print(out)
  print(out, measure = "nmi")
  table <- cbind(set = set, summary(out)$table[c("method", "k", "mean", "sd", "seconds", "errors")])
  table$nmi <- summary(out, "nmi")$table$mean
  all[[set]] <- table
}
all <- do.call(rbind, all)
cat("\n==== mean over sets, relative to all features (accuracy points)\n")
base <- all[all$method == "all", ]
all$gain <- 100 * (all$mean - base$mean[match(paste(all$set, all$k), paste(base$set, base$k))])
print(round(sort(tapply(all$gain, all$method, mean), decreasing = TRUE), 1L))
if (!is.null(option("out"))) utils::write.csv(all, option("out"), row.names = FALSE)
