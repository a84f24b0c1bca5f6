# Clustering evidence for the graph methods, raw and standardised columns:
#   Rscript graph-evidence.R [--data=FOLDER] [--sets=wine,tissue] [--repeats=10]
# k-means accuracy and NMI (10 starts, `repeats` seeds) on the best 20 and 50 features, or 10 and
# 30 % of them for sets with fewer than 100.
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

folder <- option("data", Sys.getenv("UFSELECT_DATA"))
sets <- words(option("sets", "dermatology,lung_discrete,tissue,tox171,warpPIE10P,orl"))
repeats <- as.integer(option("repeats", "10"))
methods <- c(LS = "laplacian", `LS scaled` = "laplacian", `LS binary scaled` = "laplacian",
  phi1 = "spec", `phi1 centred scaled` = "spec", `phi3 scaled` = "spec",
  MCFS = "mcfs", `MCFS scaled` = "mcfs", `MCFS scaled, no norm` = "mcfs")

print_variants(folder, sets, repeats, function(data, k) {
  few <- list(n_features = min(50L, ncol(data$x)))
  list(methods = methods, args = list(`LS scaled` = list(scale = TRUE),
    `LS binary scaled` = list(scale = TRUE, graph = list(weights = "binary")),
    phi1 = list(type = "phi1"),
    `phi1 centred scaled` = list(type = "phi1", center = TRUE, scale = TRUE),
    `phi3 scaled` = list(type = "phi3", center = TRUE, scale = TRUE, n_clusters = nlevels(data$y)),
    MCFS = few, `MCFS scaled` = c(few, scale = TRUE),
    `MCFS scaled, no norm` = c(few, scale = TRUE, normalise = FALSE)))
})
