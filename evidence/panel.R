# Which genes make a panel? Chosen on half of the labelled cells of three sets, and judged on the other half. blood:
# SoupX::PBMC_sc (kinds of cells, those without a name left out); muscle: HSMMSingleCell (FPKM, hours in culture); gut:
# scRNAstat::AJ064 (counts of 627 genes, kinds of cells). Where a package is not installed, --packages=FOLDER has its sources.
#   Rscript panel.R [--sets=blood,gut,muscle] [--cells=2500] [--genes=2000] [--splits=3] [--genebasis=FOLDER]
#     [--rivals=1] [--most=100] [--out=panel.csv]
#
# At most `cells` cells, half of each type choose. Candidates are the `genes` genes of highest variance above its
# trend on their mean, in the half that chooses, for all choices the same; log-normalised counts.
#   css, target r     ufs_css(scale = FALSE, target = r); all: without a target; standardised: scale = TRUE
#   rare              the same with weights of the cells: the squared distance to the tenth neighbour on 20 components
#   blocks            cells of three batches with another log expression of each gene; without: the same data, unknown
#   geneBasis         Missarova et al. (2021, doi:10.1186/s13059-021-02548-z), the sources of its package from --genebasis
#                     (Rfast and batchelor are not needed to search, only BiocNeighbors, irlba, SingleCellExperiment), in the
#                     first --rivals splits, up to --most genes
#   scran             variance above the trend (scran's modelGeneVar() and getTopHVGs())
#   deviance          binomial deviance of the counts (Townes et al. 2019, doi:10.1186/s13059-019-1861-6), as scry has it
#   random            mean of 10 draws
# cell is geneBasis' score, its mean over cells: with D the median distance of a cell to its five nearest on the panel, on 50
# components of all genes, d that to its five nearest there and M the mean one, (M - D) / (M - d). balanced: the mean over types of
# the share in % of cells that the other half recognises, by 5 nearest neighbours (knn) and a linear support vector machine (svm);
# rarest: the same of the smallest type.
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))
# ---- the cells -----------------------------------------------------------------------------------

read_cells <- list(
  blood = function() {
    counts <- from_package("SoupX", "PBMC_sc")$toc
    if (!is.null(counts)) list(x = Matrix::t(counts), y = from_package("SoupX", "PBMC_metaData")[colnames(counts), "Annotation"])
  },
  muscle = function() {
    x <- from_package("HSMMSingleCell", "HSMM_expr_matrix")
    if (is.null(x)) return(NULL)
    x <- t(as.matrix(x))
    # Estimates down to 1e-200 stand for none.
    x[x < 1e-3] <- 0
    list(x = Matrix::Matrix(x, sparse = TRUE), y = from_package("HSMMSingleCell", "HSMM_sample_sheet")[rownames(x), "Hours"])
  },
  gut = function() {
    d <- from_package("scRNAstat", "AJ064_small_last_sce")
    # A Seurat object, read without its package.
    if (!is.null(d)) list(x = Matrix::t(attr(attr(d, "assays")$RNA, "counts")), y = attr(d, "meta.data")$celltype)
  }
)
# Variance of the log-normalised counts above its trend on their mean (local regression), as scran models it (Lun, McCarthy
# and Marioni 2016, doi:10.12688/f1000research.9501.2).
highly_variable <- function(z) {
  mean <- Matrix::colMeans(z)
  variance <- Matrix::colMeans(z^2) - mean^2
  trend <- stats::loess(log(variance) ~ mean, span = .3, degree = 2L, control = stats::loess.control(surface = "interpolate"))
  order(exp(stats::fitted(trend)) - variance)
}

read_labelled <- function(set, most) {
  data <- read_cells[[set]]()
  if (is.null(data)) return(NULL)
  known <- !is.na(data$y) & data$y != "?"
  y <- as.character(data$y)[known]
  keep <- y %in% names(which(table(y) >= 10L))
  set.seed(1)
  at <- sort(sample.int(sum(keep), min(sum(keep), most)))
  x <- data$x[which(known)[keep][at], ]
  list(x = x[, !duplicated(colnames(x)) & Matrix::colSums(x > 0) >= max(3, .01 * nrow(x))], y = y[keep][at])
}

log_counts <- function(counts) as.matrix(ufs_data(counts, counts = "log"))

# Counts and log counts of the genes that may be chosen, in the half that chooses; log counts in the other.
halves <- function(data, split, n_genes) {
  set.seed(split)
  half <- sort(unlist(lapply(split(seq_along(data$y), data$y), function(i) i[sample.int(length(i), ceiling(length(i) / 2))])))
  train <- data$x[half, ]
  train <- train[, Matrix::colSums(train > 0) >= 2]
  learn <- ufs_data(train, counts = "log")
  here <- as.matrix(learn)
  other <- as.matrix(predict(silently(ufs_variance(learn)), data$x[-half, colnames(here)], ncol(here)))[, colnames(here)]
  top <- highly_variable(here)[seq_len(min(n_genes, ncol(here)))]
  list(counts = as.matrix(train[, top]), total = Matrix::rowSums(train), here = here[, top], y = data$y[half],
    other = other[, top], truth = data$y[-half])
}

# Three batches, in each of which every gene has an expression of its own.
batched <- function(d, split) {
  set.seed(1000 + split)
  batch <- sample.int(3L, nrow(d$here), replace = TRUE)
  factor <- matrix(exp(stats::rnorm(3L * ncol(d$here), sd = .5)), 3L)
  d$here <- log_counts(Matrix::Matrix(d$counts * factor[batch, ], sparse = TRUE))
  d$batch <- batch
  d
}

# ---- the choices ---------------------------------------------------------------------------------

components_of <- function(x, r) {
  set.seed(1)
  found <- irlba::irlba(scale(x, scale = FALSE), min(r, dim(x) - 1L))
  found$u %*% diag(found$d)
}
sparsity <- function(x) FNN::get.knn(components_of(x, 20L), 10L)$nn.dist[, 10L]^2
css <- function(x, k, ...) selected_features(silently(ufs_css(x, k, ...)), k)
deviance_of <- function(counts, total) {
  share <- colSums(counts) / sum(total)
  rest <- total - counts
  expected <- outer(total, share)
  -2 * colSums(ifelse(counts > 0, counts * log(expected / counts), 0) + rest * log(outer(total, 1 - share) / rest))
}
choices <- list(
  "css, all" = function(d, k) css(d$here, k, scale = FALSE),
  "css, target 10" = function(d, k) css(d$here, k, scale = FALSE, target = 10),
  "css, target 20" = function(d, k) css(d$here, k, scale = FALSE, target = 20),
  "css, target 30" = function(d, k) css(d$here, k, scale = FALSE, target = 30),
  "css, standardised" = function(d, k) css(d$here, k),
  "css, rare" = function(d, k) css(ufs_data(d$here, weights = sparsity(d$here)), k, scale = FALSE),
  "css, target 20, rare" = function(d, k) css(ufs_data(d$here, weights = sparsity(d$here)), k, scale = FALSE, target = 20),
  pca = function(d, k) selected_features(silently(ufs_pca(d$here, 20, scale = FALSE)), k),
  scran = function(d, k) if (requireNamespace("scran", quietly = TRUE)) {
    scran::getTopHVGs(scran::modelGeneVar(t(d$here)), n = k)
  },
  variance = function(d, k) order(-apply(d$here, 2L, stats::var))[seq_len(k)],
  deviance = function(d, k) order(-deviance_of(d$counts, d$total))[seq_len(k)])
with_batches <- list(
  "css, target 20, blocks" = function(d, k) css(ufs_data(d$here, blocks = d$batch), k, scale = FALSE, target = 20),
  "css, target 20, without" = function(d, k) css(d$here, k, scale = FALSE, target = 20))

# The functions of geneBasisR as they are, with what they import.
genebasis <- function(folder) {
  if (dir.exists(file.path(folder, "R"))) folder <- file.path(folder, "R")
  place <- new.env(parent = globalenv())
  take <- function(package, names) for (name in names) assign(name, getExportedValue(package, name), place)
  take("SingleCellExperiment", c("logcounts", "logcounts<-"))
  take("SummarizedExperiment", c("assays", "colData"))
  take("BiocNeighbors", "queryKNN")
  take("irlba", "prcomp_irlba")
  for (file in list.files(folder, "[.]R$", full.names = TRUE)) sys.source(file, place)
  # NULL would be called in silence as the function of the same name that R has.
  if (!is.function(place$gene_search)) stop("no gene_search() in the sources of ", folder, call. = FALSE)
  place$gene_search
}

# ---- the judgement ---------------------------------------------------------------------------------

nearest <- function(x, k = 5L) FNN::get.knn(x, k)$nn.index
# Distances on 50 components of the other half; the mean of a cell, and the median to its neighbours.
true_places <- function(other) {
  z <- components_of(other, 50L)
  d <- as.matrix(stats::dist(z))
  list(d = d, mean = rowSums(d) / (nrow(d) - 1), own = median_to(d, nearest(z)))
}
median_to <- function(d, neighbours) vapply(seq_len(nrow(d)), function(i) stats::median(d[i, neighbours[i, ]]), 0)
judge <- function(j, d, true) {
  x <- d$clean[, j, drop = FALSE]
  new <- d$other[, j, drop = FALSE]
  y <- factor(d$y)
  rate <- function(found) 100 * tapply(as.character(found) == d$truth, d$truth, mean)
  svm <- rate(stats::predict(e1071::svm(x, y, kernel = "linear", cost = 1, scale = FALSE), new))
  knn <- rate(class::knn(x, new, y, 5L))
  small <- names(which.min(table(d$truth)))
  cell <- mean((true$mean - median_to(true$d, nearest(new))) / (true$mean - true$own))
  c(cell = cell, knn = mean(knn), svm = mean(svm), knn_rarest = knn[[small]], svm_rarest = svm[[small]],
    knn_worst = min(knn), svm_worst = min(svm))
}

# ---- the run -----------------------------------------------------------------------------------------

sizes <- c(50L, 100L, 200L)
all <- NULL
for (set in words(option("sets", "blood,gut,muscle"))) {
  data <- read_labelled(set, as.integer(option("cells", "2500")))
  if (is.null(data)) next
  for (split in seq_len(as.integer(option("splits", "3")))) {
    d <- halves(data, split, as.integer(option("genes", "2000")))
    d$clean <- d$here
    true <- true_places(d$other)
    add <- function(choice, k, result, seconds = NA) {
      all <<- rbind(all, data.frame(set, cells = nrow(d$here), genes = ncol(d$here), types = length(unique(d$y)), split, k, choice,
        t(c(round(result[1L], 4L), round(result[-1L], 2L))), cpu_seconds = signif(seconds, 2L)))
    }
    for (k in sizes) {
      try_all <- function(choices, d) for (choice in names(choices)) {
        set.seed(split)
        seconds <- cpu(j <- choices[[choice]](d, k))
        if (length(j)) add(choice, k, judge(j, d, true), seconds)
      }
      try_all(choices, d)
      if (set == "blood") try_all(with_batches, batched(d, split))
      set.seed(split)
      add("random", k, rowMeans(replicate(10L, judge(sample.int(ncol(d$here), k), d, true))))
    }
    if (!is.null(option("genebasis")) && split <= as.integer(option("rivals", "1"))) {
      sce <- SingleCellExperiment::SingleCellExperiment(assays = list(logcounts = Matrix::Matrix(t(d$here), sparse = TRUE)))
      colnames(sce) <- paste0("cell", seq_len(ncol(sce)))
      gene_search <- genebasis(option("genebasis"))
      base <- NULL
      spent <- 0
      for (k in sizes[sizes <= as.integer(option("most", "100"))]) {
        spent <- spent + cpu(base <- silently(gene_search(sce, genes_base = base, n_genes_total = k, verbose = FALSE))$gene)
        add("geneBasis", k, judge(base, d, true), spent)
      }
    }
    say("%s %d: %d cells, %d genes, %d types\n", set, split, nrow(d$here), ncol(d$here), length(unique(d$y)))
    if (!is.null(option("out"))) write_table(all, option("out"))
  }
}
print(stats::aggregate(cbind(cell, knn, svm, knn_rarest, svm_rarest, cpu_seconds) ~ choice + set, all,
  function(a) signif(mean(a), 3L), na.action = stats::na.pass))
