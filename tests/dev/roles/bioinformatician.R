# A bioinformatician: counts of cells x genes, sparse, in a SingleCellExperiment; wants marker genes and
# a smaller object, and has heard of highly variable genes.
library(ufselect)
suppressPackageStartupMessages({ library(Matrix); library(SingleCellExperiment) })
set.seed(1)
group <- rep(1:4, each = 60)
rate <- matrix(.05, 800, 240)
for (g in 1:4) rate[(g - 1) * 10 + 1:10, group == g] <- 3
counts <- as(matrix(rpois(length(rate), rate), 800, dimnames = list(paste0("gene", 1:800), paste0("cell", 1:240))), "CsparseMatrix")
sce <- SingleCellExperiment(assays = list(counts = counts, logcounts = log1p(counts)))
fit <- ufs_variance(ufs_data(sce, assay = "logcounts"))
print(fit)
fit <- ufs_laplacian(ufs_data(sce, assay = "logcounts"))
found <- suppressMessages(selected_features(fit, 40))
cat("markers among the best 40:", sum(found %in% paste0("gene", 1:40)), "\n")
marked <- ufs_annotate(sce, fit, k = 40)
print(head(rowData(marked)))
# The usual slip: genes in rows of a plain matrix.
invisible(ufs_variance(as.matrix(counts)[1:600, 1:20]))
