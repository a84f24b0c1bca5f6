# Genes of labelled single cells: columns for a classifier and for k-means, and which cells to label.
#
#   Rscript cells.R [--sets=blood,embryo] [--rows=1200] [--splits=3] [--out=cells.csv.gz]
#   Rscript cells.R --advice --out=cells.csv.gz      the rows of ufs_select() anew, all others as they are
#
# blood: SoupX::PBMC_sc (counts, kinds of cells, those without a name left out); embryo: scDHA::Goolam (counts,
# stage of the embryo); muscle: HSMMSingleCell (Bioconductor, FPKM, hours in culture); gut: scRNAstat::AJ064 (counts
# of 627 genes, kinds of cells). Only the data of these packages are read: --packages=FOLDER names a folder of their
# unpacked sources where they are not installed; a set that is not found is left out. The labels of blood and gut were
# given to clusters of expression. At most `rows` cells; genes seen in at least 1 % of them, three at least. Half of
# the cells choose.
#   columns  k = 50 and 200. svm: a linear support vector machine learns on log-normalised counts of the chosen genes in the half
#            that chose and is judged on the other half; kmeans: accuracy of k-means in the half that chose
#   samples  5 and 10 times as many as there are classes are labelled; the classifier sees 30 principal component scores
# log: counts divided by their size factors, log(1 + .), not standardised; standardised: the same with scale = TRUE.
# highly variable genes: variance of the log-normalised counts above its trend on their mean (local regression), as scran
# models it (Lun, McCarthy and Marioni 2016, doi:10.12688/f1000research.9501.2).
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

sources <- option("packages", "")
only_advice <- "--advice" %in% commandArgs(TRUE)
from_package <- function(package, name, file = paste0(name, c(".rda", ".RData"))) {
  place <- new.env()
  unpacked <- file.path(sources, package, "data", file)
  unpacked <- unpacked[file.exists(unpacked)]
  if (length(unpacked)) {
    load(unpacked[1L], place)
  } else {
    if (!requireNamespace(package, quietly = TRUE)) return(NULL)
    utils::data(list = name, package = package, envir = place)
  }
  place
}
read_cells <- list(
  blood = function() {
    d <- from_package("SoupX", "PBMC_sc")
    y <- from_package("SoupX", "PBMC_metaData")
    if (is.null(d)) return(NULL)
    counts <- d$PBMC_sc$toc
    list(x = Matrix::t(counts), y = y$PBMC_metaData[colnames(counts), "Annotation"])
  },
  embryo = function() {
    d <- from_package("scDHA", "Goolam")$Goolam
    if (!is.null(d)) list(x = Matrix::Matrix(t(d$data), sparse = TRUE), y = d$label)
  },
  muscle = function() {
    d <- from_package("HSMMSingleCell", "HSMM_expr_matrix")
    if (is.null(d)) return(NULL)
    y <- from_package("HSMMSingleCell", "HSMM_sample_sheet")$HSMM_sample_sheet
    x <- t(as.matrix(d$HSMM_expr_matrix))
    # Estimates down to 1e-200 stand for none.
    x[x < 1e-3] <- 0
    list(x = Matrix::Matrix(x, sparse = TRUE), y = y[rownames(x), "Hours"])
  },
  gut = function() {
    d <- from_package("scRNAstat", "AJ064_small_last_sce")$AJ064_small_last_sce
    # A Seurat object, read without its package.
    if (!is.null(d)) list(x = Matrix::t(attr(attr(d, "assays")$RNA, "counts")), y = attr(d, "meta.data")$celltype)
  }
)
silently <- function(code) suppressWarnings(suppressMessages(code))

svm_accuracy <- function(train, y, test, truth) {
  y <- droplevels(y)
  model <- e1071::svm(as.matrix(train), y, kernel = "linear", cost = 1, scale = FALSE)
  100 * mean(as.character(stats::predict(model, as.matrix(test))) == as.character(truth))
}
kmeans_accuracy <- function(z, y) {
  if (nrow(unique(z)) < nlevels(y)) return(NA_real_)
  100 * mean(vapply(1:3, function(seed) {
    set.seed(seed)
    found <- stats::kmeans(z, nlevels(y), nstart = 5L, iter.max = 100L)$cluster
    ufs_cluster_metrics(found, y)[["accuracy"]]
  }, 0))
}
highly_variable <- function(z) {
  mean <- Matrix::colMeans(z)
  variance <- Matrix::colMeans(z^2) - mean^2
  trend <- stats::loess(log(variance) ~ mean, span = .3, degree = 2L, control = stats::loess.control(surface = "interpolate"))
  order(exp(stats::fitted(trend)) - variance)
}

# Given log-normalised counts.
columns <- list(
  css = function(x, k, scale) ufs_css(x, k, scale = scale),
  mcfs = function(x, k, scale) ufs_mcfs(x, 5, n_features = k, scale = scale),
  consensus = function(x, k, scale) ufs_consensus(x, 5, k = k, scale = scale),
  pca = function(x, k, scale) ufs_pca(x, 5, scale = scale),
  laplacian = function(x, k, scale) if (scale) NULL else ufs_laplacian(x),
  variance = function(x, k, scale) if (scale) NULL else ufs_variance(x)
)
samplers <- list(
  facility = function(x, m, scale) ufs_facility(x, m, scale = scale),
  medoids = function(x, m, scale) ufs_medoids(x, m, n_starts = 5, scale = scale),
  ted = function(x, m, scale) ufs_ted(x, m = m, scale = scale)
)
forms <- c(log = FALSE, standardised = TRUE)

one_split <- function(x, y, seed) {
  set.seed(seed)
  at <- sort(unlist(lapply(split(seq_along(y), y), function(i) i[sample.int(length(i), ceiling(length(i) / 2))])))
  train <- x[at, ]
  train <- train[, Matrix::colSums(train > 0) >= 2]
  learn <- ufs_data(train, counts = "log")
  here <- as.matrix(learn)
  other <- predict(silently(ufs_variance(learn)), x[-at, colnames(here)], ncol(here))[, colnames(here)]
  other <- as.matrix(other)
  rows <- NULL
  add <- function(task, size, method, form, svm, kmeans = NA, seconds = NA) {
    rows <<- rbind(rows, data.frame(task = task, size = size, method = method, form = form, svm = svm, kmeans = kmeans,
      cpu_seconds = seconds))
  }
  judge <- function(j) svm_accuracy(here[, j], y[at], other[, j], y[-at])
  groups <- function(j) kmeans_accuracy(here[, j], y[at])
  plain <- if (!only_advice) list(`highly variable genes` = highly_variable(here), `most expressed` = order(-colMeans(here)))
  for (k in c(50L, 200L)) {
    if (!only_advice) for (name in names(plain)) add("columns", k, name, "log", judge(plain[[name]][1:k]), groups(plain[[name]][1:k]))
    draws <- replicate(5L, sample.int(ncol(here), k))
    if (!only_advice) add("columns", k, "random", "log", mean(apply(draws, 2L, judge)), mean(apply(draws, 2L, groups)))
    if (!only_advice) for (name in names(columns)) for (form in names(forms)) {
      set.seed(seed)
      seconds <- cpu(fit <- silently(columns[[name]](learn, k, forms[[form]])))
      if (is.null(fit)) next
      j <- silently(selected_features(fit, k))
      add("columns", k, name, form, judge(j), groups(j), seconds)
    }
    for (task in c("classify", "cluster")) {
      set.seed(seed)
      seconds <- cpu(front <- silently(ufs_select(train, k, task, counts = "log")))
      j <- selected_features(front)
      add("columns", k, paste0("ufs_select, ", task), "log", judge(j), groups(j), seconds)
    }
  }
  if (only_advice) return(cbind(split = seed, rows))
  # Classifiers of cells see principal component scores, as is usual.
  loadings <- coef(silently(ufs_pca(learn, 30, scale = FALSE)))
  centre <- colMeans(here)
  z <- sweep(here, 2L, centre) %*% loadings
  new <- sweep(other, 2L, centre) %*% loadings
  label <- function(i) {
    if (length(unique(y[at][i])) < 2L) return(100 * mean(y[-at] == y[at][i[1L]]))
    svm_accuracy(z[i, ], y[at][i], new, y[-at])
  }
  for (each in c(5L, 10L)) {
    m <- each * nlevels(y)
    if (m > nrow(z) / 2) next
    add("samples", m, "random", "log", mean(replicate(20L, label(sample.int(nrow(z), m)))))
    for (form in names(forms)) for (name in names(samplers)) {
      set.seed(seed)
      seconds <- cpu(fit <- silently(samplers[[name]](learn, m, forms[[form]])))
      add("samples", m, name, form, label(silently(selected_samples(fit, m, as = "index"))), seconds = seconds)
    }
  }
  cbind(split = seed, rows)
}

all <- list()
for (set in words(option("sets", "blood,embryo,muscle,gut"))) {
  data <- read_cells[[set]]()
  if (is.null(data)) next
  known <- !is.na(data$y) & data$y != "?"
  y <- droplevels(factor(as.character(data$y)[known]))
  y <- droplevels(y[keep <- y %in% names(which(table(y) >= 10L))])
  set.seed(1)
  at <- sort(sample.int(length(y), min(length(y), as.integer(option("rows", "1200")))))
  x <- data$x[which(known)[keep][at], ]
  y <- y[at]
  x <- x[, Matrix::colSums(x > 0) >= max(3, .01 * nrow(x))]
  for (seed in seq_len(as.integer(option("splits", "3")))) {
    seconds <- cpu(rows <- one_split(x, y, seed))
    say("%s %d: %d x %d, %d classes, %.1f CPU s\n", set, seed, nrow(x), ncol(x), nlevels(y), seconds)
    all[[length(all) + 1L]] <- cbind(set = set, n = nrow(x), p = ncol(x), classes = nlevels(y), rows)
  }
}
all <- do.call(rbind, all)
all[c("svm", "kmeans")] <- round(all[c("svm", "kmeans")], 2L)
all$cpu_seconds <- signif(all$cpu_seconds, 3L)
if (only_advice) {
  # The same rows take the places of the old ones.
  old <- utils::read.csv(option("out"), stringsAsFactors = FALSE)
  key <- function(t) paste(t$set, t$split, t$task, t$size, t$method)
  at <- match(key(all), key(old))
  stopifnot(!anyNA(at))
  old[at, names(all)] <- all
  all <- old
}
if (!is.null(option("out"))) write_table(all, option("out"))
print(round(tapply(all$svm, list(paste(all$task, all$size, all$method), paste(all$form, all$set)), mean), 1L))
