# Fits written back into Bioconductor and Seurat objects, and predict() on them.

counts <- grouped_counts(30, 40)$x

test_that("rowData of a SingleCellExperiment gets scores, ranks and the chosen", {
  skip_on_cran()
  skip_if_not_installed("SingleCellExperiment")
  sce <- SingleCellExperiment::SingleCellExperiment(list(logcounts = to_sparse(t(counts))))
  fit <- suppressWarnings(ufs_variance(sce))
  out <- ufs_annotate(sce, fit, k = 5)
  rows <- SummarizedExperiment::rowData(out)
  expect_s4_class(out, "SingleCellExperiment")
  expect_identical(rows$ufs_score, unname(feature_scores(fit)))
  expect_identical(rownames(out)[order(rows$ufs_rank)], names(feature_ranking(fit)))
  expect_setequal(rownames(out)[rows$ufs_selected], selected_features(fit, 5))
  # In another order and with features the fit did not see.
  more <- rbind(sce[40:3, ], sce[1, ])
  rownames(more)[39] <- "new"
  rows <- SummarizedExperiment::rowData(ufs_annotate(more, fit, k = 40))
  expect_identical(rows$ufs_score[1:38], unname(feature_scores(fit))[40:3])
  expect_identical(rows$ufs_selected[39], FALSE)
  expect_true(is.na(rows$ufs_rank[39]))
  # Samples
  fit <- suppressWarnings(ufs_ted(counts))
  cols <- SummarizedExperiment::colData(ufs_annotate(sce, fit, k = 4))
  expect_setequal(colnames(sce)[cols$ufs_selected], selected_samples(fit, 4))
  # Without names: by position
  se <- SummarizedExperiment::SummarizedExperiment(list(unname(t(counts))))
  fit <- suppressWarnings(ufs_variance(se))
  expect_identical(which(SummarizedExperiment::rowData(ufs_annotate(se, fit, 3))$ufs_selected), sort(selected_features(fit, 3)))
  expect_error(ufs_annotate(se[1:5, ], fit, 3), class = "ufs_error_argument")
  expect_error(ufs_annotate(counts, fit, 3), class = "ufs_error_argument")
  expect_error(ufs_annotate(se, 1, 3), class = "ufs_error_argument")
  expect_error(ufs_annotate(se, fit, 99), class = "ufs_error_argument")
  other <- sce
  rownames(other) <- paste0("x", 1:40)
  expect_error(ufs_annotate(other, suppressWarnings(ufs_variance(sce)), 3), "in common", class = "ufs_error_argument")
})

test_that("Seurat's variable features are the chosen ones, best first", {
  skip_on_cran()
  skip_if_not_installed("SeuratObject")
  object <- suppressWarnings(SeuratObject::CreateSeuratObject(to_sparse(t(counts))))
  fit <- suppressWarnings(ufs_variance(counts))
  out <- ufs_annotate(object, fit, k = 5)
  expect_identical(SeuratObject::VariableFeatures(out), selected_features(fit, 5))
  expect_identical(rownames(predict(fit, object, k = 4)), selected_features(fit, 4))
  expect_error(ufs_annotate(object, suppressWarnings(ufs_ted(counts)), 3), "samples", class = "ufs_error_argument")
})

test_that("predict() takes the chosen features of every class of data", {
  fit <- suppressWarnings(ufs_variance(counts))
  best <- selected_features(fit, 4)
  expect_equal(as.matrix(predict(fit, to_sparse(counts), k = 4)), counts[, best])
  expect_equal(as.matrix(predict(fit, ufs_data(to_sparse(counts)), k = 4)), counts[, best])
  expect_equal(as.matrix(predict(fit, ufs_sketch(counts, 30, "uniform"), k = 4)), counts[, best])
  skip_on_cran()
  skip_if_not_installed("SummarizedExperiment")
  se <- SummarizedExperiment::SummarizedExperiment(list(t(counts)))
  expect_identical(rownames(predict(fit, se, k = 4)), best)
  expect_error(predict(fit, se[1:7, ], k = 4), class = "ufs_error_input")
  skip_if_not_installed("DelayedArray")
  expect_equal(as.matrix(predict(fit, DelayedArray::DelayedArray(counts), k = 4)), counts[, best])
})

test_that("predict() of samples says that there are no features to keep", {
  fit <- ufs_ted(iris[, 1:4], n_samples = 3)
  expect_error(predict(fit, iris), "does not select features", class = "ufs_error_argument")
  expect_error(predict(ufs_variance(iris[, 1:4]), iris), "`k`", class = "ufs_error_argument")
})
