# Clustering evidence for RSR, NDFS, UDFS and SOGFS, beside the five lines every comparison shows:
#   Rscript irls-evidence.R [--data=FOLDER] [--sets=wine,tissue] [--repeats=10]
# k-means accuracy and NMI (10 starts, `repeats` seeds) on the best 20 and 50 features, or 10 and
# 30 % of them for sets with fewer than 100.
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

folder <- option("data", Sys.getenv("UFSELECT_DATA"))
sets <- words(option("sets", "dermatology,lung_discrete,tissue,tox171,warpPIE10P"))
repeats <- as.integer(option("repeats", "10"))
methods <- c(RSR = "rsr", `RSR .3` = "rsr", `RSR .5` = "rsr", NDFS = "ndfs",
  `NDFS beta .3` = "ndfs", UDFS = "udfs", `UDFS .01` = "udfs", SOGFS = "sogfs", `SOGFS m = 50` = "sogfs",
  `SOGFS .01` = "sogfs")

print_variants(folder, sets, repeats, function(data, k) {
  # Minutes on sets with thousands of features.
  use <- if (ncol(data$x) > 3000L) methods[names(methods) != "SOGFS .01"] else methods
  args <- list(`RSR .3` = list(lambda_rel = 0.3), `RSR .5` = list(lambda_rel = 0.5),
    `NDFS beta .3` = list(beta = 0.3), `UDFS .01` = list(gamma = 0.01),
    `SOGFS m = 50` = list(n_dims = min(50L, k[2L])), `SOGFS .01` = list(gamma = 0.01))
  list(methods = use, args = args[names(args) %in% names(use)])
})
