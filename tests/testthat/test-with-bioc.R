# Fits written back into Bioconductor and Seurat objects, and predict() on them.

skip_on_cran()

counts <- grouped_counts(30, 40)$x

# Seurat objects of the versions of assay that SeuratObject has here; `data`: normalised values.
seurat_objects <- function(m = to_sparse(t(counts)), data = log1p(m)) {
  new <- utils::packageVersion("SeuratObject") >= "5.0.0"
  lapply(c(v3 = FALSE, if (new) c(v5 = TRUE)), function(v5) {
    if (!v5) {
      assay <- SeuratObject::CreateAssayObject(counts = m)
      if (!is.null(data)) {
        assay <- if (new) SeuratObject::SetAssayData(assay, layer = "data", new.data = data) else
          SeuratObject::SetAssayData(assay, slot = "data", new.data = data)
      }
    } else {
      assay <- SeuratObject::CreateAssay5Object(counts = m)
      if (!is.null(data)) SeuratObject::LayerData(assay, "data") <- data
    }
    suppressWarnings(SeuratObject::CreateSeuratObject(assay))
  })
}
seurat_values <- function(object, layer) {
  get <- SeuratObject::GetAssayData
  as.matrix(if (utils::packageVersion("SeuratObject") >= "5.0.0") get(object, layer = layer) else
    get(object, slot = layer))
}

fit <- suppressWarnings(ufs_variance(counts))

test_that("Seurat's variable features are the chosen ones, and predict() keeps them, all layers alike", {
  skip_if_not_installed("SeuratObject")
  best <- selected_features(fit, 4)
  expect_true(is.unsorted(match(best, colnames(counts))))
  for (object in seurat_objects()) {
    expect_refusals("samples" = ufs_annotate(object, ufs_ted(counts), m = 3))
    object <- ufs_annotate(object, fit, k = 6)
    expect_identical(SeuratObject::VariableFeatures(object), selected_features(fit, 6))
    out <- predict(fit, object, k = 4)
    expect_s4_class(out, "Seurat")
    expect_identical(rownames(out), best)
    expect_identical(colnames(out), rownames(counts))
    expect_equal(seurat_values(out, "counts"), t(counts[, best]))
    expect_equal(seurat_values(out, "data"), log1p(t(counts[, best])))
    # What an assay says of its features goes along.
    expect_identical(SeuratObject::VariableFeatures(out), best)
    expect_identical(rownames(out[[SeuratObject::DefaultAssay(out)]][[]]), best)
    expect_equal(as.matrix(ufs_data(out)), log1p(counts[, best]))
    expect_identical(rownames(predict(fit, object, k = 1)), best[1])
  }
})

test_that("normalised values of Seurat objects are taken; raw counts are said once", {
  skip_if_not_installed("SeuratObject")
  withr::defer(said_once$counts <- TRUE)
  for (object in seurat_objects()) {
    said_once$counts <- FALSE
    expect_message(data <- ufs_data(object), NA)
    expect_equal(as.matrix(data), log1p(counts))
  }
  logged <- as.matrix(ufs_data(counts, counts = "log"))
  for (object in seurat_objects(data = NULL)) {
    said_once$counts <- FALSE
    expect_message(data <- ufs_data(object), "raw counts.*NormalizeData", class = "ufs_message_counts")
    expect_equal(as.matrix(data), logged)
    expect_message(ufs_data(object), NA)
    expect_equal(as.matrix(ufs_data(object, counts = "none")), counts)
    expect_equal(as.matrix(ufs_data(object, assay = "RNA")), counts)
    fit <- suppressWarnings(ufs_css(object, k = 4))
    expect_identical(selected_features(fit), selected_features(suppressWarnings(ufs_css(ufs_data(counts, counts = "log"), k = 4))))
    expect_output(print(fit), "there were raw counts only")
    expect_s4_class(predict(fit, object), "Seurat")
    expect_equal(predict(fit, counts), logged[, selected_features(fit)])
  }
  both <- seurat_objects()
  for (name in names(both)) {
    fit <- suppressWarnings(ufs_css(seurat_objects(data = NULL)[[name]], k = 4))
    expect_equal(predict(fit, both[[name]], type = "reconstruction"), predict(fit, counts, type = "reconstruction"))
  }
})

test_that("a Seurat assay without normalised data and counts is an error, and split layers say JoinLayers()", {
  skip_if_not_installed("SeuratObject")
  object <- seurat_objects()$v3
  for (part in c("data", "counts")) methods::slot(object@assays$RNA, part) <- methods::new("dgCMatrix")
  expect_error(ufs_data(object), "neither normalised data nor counts", class = "ufs_error_input")
  skip_if_not_installed("SeuratObject", "5.0.0")
  object <- seurat_objects()$v5
  object[["RNA"]] <- split(object[["RNA"]], rep(c("a", "b"), 15))
  expect_error(ufs_data(object), "data of assay \"RNA\".*data.a.*JoinLayers", class = "ufs_error_input")
  expect_equal(as.matrix(ufs_data(SeuratObject::JoinLayers(object)))[rownames(counts), ], log1p(counts))
  raw <- seurat_objects(data = NULL)$v5
  raw[["RNA"]] <- split(raw[["RNA"]], rep(c("a", "b"), 15))
  expect_error(ufs_data(raw), "counts of assay.*JoinLayers", class = "ufs_error_input")
})

test_that("predict() of several tables takes the layer of the fit from each Seurat object", {
  skip_if_not_installed("SeuratObject")
  plain <- list(genes = counts[, 1:30], others = counts[, 31:40])
  logged <- lapply(plain, function(m) as.matrix(ufs_data(m, counts = "log")))
  for (version in names(seurat_objects())) {
    of <- function(m, ...) seurat_objects(to_sparse(t(m)), ...)[[version]]
    raw <- suppressWarnings(ufs_css(lapply(plain, of, data = NULL), 4))
    by_hand <- suppressWarnings(ufs_css(logged, 4))
    # Other normalised values beside the counts.
    new <- lapply(plain, function(m) of(m, data = to_sparse(t(sqrt(m)))))
    expect_equal(as.matrix(predict(raw, new)), as.matrix(predict(by_hand, logged)))
    named <- suppressWarnings(ufs_css(ufs_data(lapply(plain, of, data = NULL), assay = "RNA"), 4))
    expect_identical(named$input$tables$read$genes$layer, "counts")
    expect_equal(as.matrix(predict(named, new)), as.matrix(predict(named, plain)))
    rename <- function(object) SeuratObject::RenameAssays(object, RNA = "ADT")
    other <- suppressMessages(suppressWarnings(lapply(new, rename)))
    expect_error(predict(named, other), "no assay \"RNA\"", class = "ufs_error_argument")
    expect_equal(as.matrix(predict(raw, plain)), as.matrix(predict(by_hand, logged)))
  }
})

test_that("predict() takes the chosen features of every class of data; samples leave no features to keep", {
  best <- selected_features(fit, 4)
  samples <- ufs_ted(iris[, 1:4], m = 3)
  expect_refusals("does not select features" = predict(samples, iris), "`k`" = predict(ufs_variance(iris[, 1:4]), iris))
  for (x in list(to_sparse(counts), ufs_data(to_sparse(counts)), ufs_sketch(counts, 30, "uniform"))) {
    expect_equal(as.matrix(predict(fit, x, k = 4)), counts[, best])
  }
  skip_if_not_installed("SummarizedExperiment")
  se <- SummarizedExperiment::SummarizedExperiment(list(t(counts)))
  expect_identical(rownames(predict(fit, se, k = 4)), best)
  expect_error(predict(fit, se[1:7, ], k = 4), class = "ufs_error_input")
  skip_if_not_installed("DelayedArray")
  expect_equal(as.matrix(predict(fit, DelayedArray::DelayedArray(counts), k = 4)), counts[, best])
})
test_that("tables without rows of the fit are refused by augment(), and split layers whatever the version of Seurat", {
  skip_if_not_installed("generics")
  x <- as.matrix(mtcars)
  expect_refusals("`data` must be the data of the fit, 32 rows." = generics::augment(ufs_variance(x)),
    "`newdata` must be a table." = generics::augment(ufs_variance(x), x, newdata = 1:3))
  skip_if_not_installed("SeuratObject")
  counts <- to_sparse(matrix(1:40, 4, dimnames = list(paste0("g", 1:4), paste0("c", 1:10))))
  object <- suppressWarnings(SeuratObject::CreateSeuratObject(counts))
  replaced("seurat_layers", function(assay) c("data.a", "data.b"))
  expect_refused(ufs_data(object), paste("The data of assay \"RNA\" are split into layers (columns",
    "'data.a', 'data.b'): join them first, with SeuratObject::JoinLayers()."), "ufs_error_input")
})

test_that("the layers of an assay follow its features into another order", {
  methods::setClass("ufsStandInAssay", methods::representation(features = "matrix",
    layers = "list", meta.data = "data.frame"), where = environment())
  withr::defer(methods::removeClass("ufsStandInAssay", where = environment()))
  genes <- paste0("g", 1:4)
  map <- cbind(counts = rep(TRUE, 4), data = c(TRUE, FALSE, TRUE, TRUE))
  assay <- methods::new("ufsStandInAssay", features = `rownames<-`(map, genes), layers = list(counts = matrix(1:8, 4),
    data = matrix(1:6, 3)), meta.data = data.frame(at = 1:4, row.names = genes))
  turned <- order_assay(assay, genes[c(4, 1, 3, 2)])
  expect_identical(turned@layers, list(counts = matrix(1:8, 4)[c(4, 1, 3, 2), ], data = matrix(1:6, 3)[c(3, 1, 2), ]))
  expect_identical(turned@features, `rownames<-`(map, genes)[c(4, 1, 3, 2), ])
  expect_identical(turned@meta.data$at, c(4L, 1L, 3L, 2L))
})

# Two experiments that share samples s1 to s25 under other names, of which s26 to s30 are in one; the
# slots are those of the package MultiAssayExperiment.
multi_assay <- function() {
  if (!methods::isClass("MultiAssayExperiment")) {
    methods::setClass("ListOfExperiments", slots = c(listData = "list"), where = globalenv())
    methods::setClass("MultiAssayExperiment", slots = c(ExperimentList = "ListOfExperiments", colData = "ANY", sampleMap = "ANY"),
      where = globalenv())
  }
  a <- t(counts[, 1:6])
  b <- t(counts[25:1, 7:10])
  dimnames(a) <- list(paste0("a", 1:6), paste0("x", 1:30))
  dimnames(b) <- list(paste0("b", 1:4), paste0("y", 25:1))
  se <- SummarizedExperiment::SummarizedExperiment(list(logcounts = a))
  SummarizedExperiment::rowData(se)$pathway <- rep(c("p", "q"), 3)
  people <- SummarizedExperiment::colData(se)
  rownames(people) <- paste0("s", 1:30)
  people$donor <- rep(letters[1:5], 6)
  map <- SummarizedExperiment::colData(SummarizedExperiment::SummarizedExperiment(list(matrix(0, 1, 55))))
  map$assay <- factor(rep(c("genes", "proteins"), c(30, 25)))
  map$primary <- c(paste0("s", 1:30), paste0("s", 25:1))
  map$colname <- c(colnames(a), colnames(b))
  list(object = methods::new("MultiAssayExperiment", colData = people, sampleMap = map,
    ExperimentList = methods::new("ListOfExperiments", listData = list(genes = se, proteins = b))),
    plain = list(genes = `rownames<-`(t(a), paste0("s", 1:30)), proteins = `rownames<-`(t(b), paste0("s", 25:1))))
}

skip_if_not_installed("SummarizedExperiment")

test_that("rowData of an experiment gets scores, ranks and the chosen", {
  sce <- SummarizedExperiment::SummarizedExperiment(list(logcounts = to_sparse(t(counts))))
  fit <- suppressWarnings(ufs_variance(sce))
  out <- ufs_annotate(sce, fit, k = 5)
  rows <- SummarizedExperiment::rowData(out)
  expect_s4_class(out, "SummarizedExperiment")
  expect_identical(rows$ufs_score, unname(feature_scores(fit)))
  expect_identical(rownames(out)[order(rows$ufs_rank)], names(feature_ranking(fit)))
  expect_setequal(rownames(out)[rows$ufs_selected], selected_features(fit, 5))
  more <- rbind(sce[40:3, ], sce[1, ])
  rownames(more)[39] <- "new"
  rows <- SummarizedExperiment::rowData(ufs_annotate(more, fit, k = 40))
  expect_identical(rows$ufs_score[1:38], unname(feature_scores(fit))[40:3])
  expect_identical(rows$ufs_selected[39], FALSE)
  expect_true(is.na(rows$ufs_rank[39]))
  fit <- suppressWarnings(ufs_ted(counts))
  cols <- SummarizedExperiment::colData(ufs_annotate(sce, fit, m = 4))
  expect_setequal(colnames(sce)[cols$ufs_selected], selected_samples(fit, 4))
  expect_error(ufs_annotate(sce, fit, k = 4), "give `m`", class = "ufs_error_argument")
  se <- SummarizedExperiment::SummarizedExperiment(list(unname(t(counts))))
  fit <- suppressWarnings(ufs_variance(se))
  expect_identical(which(SummarizedExperiment::rowData(ufs_annotate(se, fit, 3))$ufs_selected), sort(selected_features(fit, 3)))
  expect_refusals(ufs_annotate(se[1:5, ], fit, 3), ufs_annotate(counts, fit, 3), ufs_annotate(se, 1, 3),
    ufs_annotate(se, fit, 99))
  other <- sce
  rownames(other) <- paste0("x", 1:40)
  expect_error(ufs_annotate(other, suppressWarnings(ufs_variance(sce)), 3), "in common", class = "ufs_error_argument")
  # A name that two have finds neither, but all of them in their order are matched by position.
  rownames(sce)[2] <- rownames(sce)[1]
  fit <- suppressWarnings(ufs_variance(sce))
  expect_identical(SummarizedExperiment::rowData(ufs_annotate(sce, fit, 3))$ufs_score, unname(feature_scores(fit)))
  expect_identical(expect_error(ufs_annotate(sce[40:1, ], fit, 3), class = "ufs_error_argument")$argument, "object")
})

test_that("an experiment without logcounts says once that log counts are used", {
  withr::defer(said_once$counts <- TRUE)
  sce <- SummarizedExperiment::SummarizedExperiment(list(counts = t(counts)))
  said_once$counts <- FALSE
  expect_message(ufs_data(sce, assay = "counts"), NA)
  expect_message(data <- ufs_data(sce), "raw counts.*logNormCounts", class = "ufs_message_counts")
  logged <- as.matrix(ufs_data(counts, counts = "log"))
  expect_equal(as.matrix(data), logged)
  expect_message(ufs_data(sce), NA)
  expect_equal(as.matrix(ufs_data(sce, counts = "none")), counts)
  expect_output(print(data), "there were raw counts only")
  expect_equal(unname(ufs_moments(sce)$mean), unname(colMeans(logged)))
  expect_identical(suppressWarnings(ufs_select(sce, k = 3, task = "compress"))$input$transform$counts, "log")
  fit <- suppressWarnings(ufs_css(sce, k = 4))
  expect_s4_class(predict(fit, sce), "SummarizedExperiment")
  expect_equal(ufs_captured(fit, sce)$captured, ufs_captured(fit, ufs_data(counts, counts = "log"))$captured)
  expect_equal(as.matrix(ufs_sketch(sce, 30, "uniform")$data), logged)
  said_once$counts <- FALSE
  minus <- sce
  SummarizedExperiment::assay(minus, "counts")[1] <- -1
  expect_message(data <- ufs_data(minus), "as they are", class = "ufs_message_counts")
  expect_identical(min(as.matrix(data)), -1)
  said_once$counts <- FALSE
  SummarizedExperiment::assay(sce, "logcounts") <- log1p(t(counts))
  expect_message(ufs_data(sce), "\"logcounts\" is used", class = "ufs_message_assay")
  expect_false(said_once$counts)
  expect_message(ufs_data(SummarizedExperiment::SummarizedExperiment(list(other = t(counts)))), NA)
})

test_that("predict() of several tables takes the assay of the fit from each experiment", {
  experiment <- function(m) SummarizedExperiment::SummarizedExperiment(list(logcounts = t(log1p(m)), counts = t(m)))
  plain <- list(genes = counts[, 1:30], others = counts[, 31:40])
  tables <- lapply(plain, experiment)
  x <- ufs_data(tables, assay = "counts")
  expect_identical(lapply(x$input$tables$read, `[[`, "assay"), list(genes = "counts", others = "counts"))
  fit <- suppressWarnings(ufs_css(x, 4))
  by_hand <- suppressWarnings(ufs_css(plain, 4))
  expect_identical(selected_features(fit), selected_features(by_hand))
  expect_identical(predict(fit, tables), predict(by_hand, plain))
})

test_that("raw counts of experiments in a list of tables are logged as they are alone", {
  withr::defer(said_once$counts <- TRUE)
  genes <- counts[, 1:30]
  others <- withr::with_seed(5, matrix(rnorm(60), 30))
  dimnames(others) <- list(rownames(counts), c("p", "q"))
  logged <- as.matrix(ufs_data(genes, counts = "log"))
  experiment <- SummarizedExperiment::SummarizedExperiment
  kinds <- list(experiment(list(counts = t(genes))), experiment(list(counts = to_sparse(t(genes)))))
  if (requireNamespace("SeuratObject", quietly = TRUE)) {
    kinds <- c(kinds, seurat_objects(to_sparse(t(genes)), data = NULL))
  }
  by_hand <- ufs_data(list(genes = logged, others = others))
  fit_by_hand <- suppressWarnings(ufs_css(by_hand, 4))
  chosen <- selected_features(fit_by_hand)
  captured <- ufs_captured(fit_by_hand, by_hand)$captured
  both <- function(m) list(genes = m, others = others)
  for (object in kinds) {
    said_once$counts <- FALSE
    expect_message(data <- ufs_data(both(object)), "`x\\$genes` has raw counts", class = "ufs_message_counts")
    expect_equal(as.matrix(data), as.matrix(by_hand))
    expect_equal(data$input$tables$share, by_hand$input$tables$share)
    expect_equal(data$input$tables$root, by_hand$input$tables$root)
    expect_output(print(data), "genes: log\\(1 .*there were raw counts only")
    plain <- ufs_data(both(object), counts = "none")
    expect_equal(as.matrix(plain), as.matrix(ufs_data(both(genes))))
    expect_null(plain$input$transform)
    # Some columns give what they give alone.
    expect_equal(as.matrix(ufs_data(both(object), features = c(2:9, 31)))[, 1:8],
      as.matrix(ufs_data(genes, features = 2:9, counts = "log")), ignore_attr = TRUE)
    fit <- suppressWarnings(ufs_css(both(object), 4))
    expect_identical(selected_features(fit), chosen)
    expect_output(print(fit), "genes: log")
    expect_equal(as.matrix(predict(fit, both(object))), as.matrix(by_hand)[, chosen])
    expect_equal(as.matrix(predict(fit, both(genes))), as.matrix(by_hand)[, chosen])
    expect_equal(predict(fit, both(object), type = "reconstruction"),
      predict(fit_by_hand, both(logged), type = "reconstruction"))
    expect_equal(ufs_captured(fit, both(object))$captured, captured)
    expect_equal(ufs_captured(fit, both(genes))$captured, captured)
  }
  # A table without a column is out, and negative numbers are no counts.
  expect_equal(as.matrix(ufs_data(both(kinds[[1]]), features = 31:32)), as.matrix(by_hand)[, 31:32])
  minus <- genes
  minus[1] <- -1
  said_once$counts <- FALSE
  minus <- both(experiment(list(counts = t(minus))))
  expect_message(data <- ufs_data(minus), "as they are", class = "ufs_message_counts")
  expect_null(data$input$transform)
  two <- ufs_data(list(a = kinds[[1]], b = experiment(list(counts = t(counts[, 31:40])))))
  expect_equal(as.matrix(two), cbind(logged, as.matrix(ufs_data(counts[, 31:40], counts = "log"))), ignore_attr = TRUE)
  two <- both(kinds[[1]])
  expect_arguments(rows = ufs_data(two, rows = "unit"), counts = ufs_data(two, counts = "log"))
})

test_that("one name stands for a column of what is known of the samples, for lists of experiments, too", {
  counts <- counts[, apply(counts, 2, sd) > 0]
  about <- data.frame(stim = rep(c("a", "b", "c"), 10), donor = rep(1:15, each = 2), size = 1:30)
  sce <- SummarizedExperiment::SummarizedExperiment(list(logcounts = t(counts)), colData = about)
  objects <- list(sce)
  if (requireNamespace("SeuratObject", quietly = TRUE)) {
    objects <- c(objects, lapply(seurat_objects(to_sparse(t(counts))), function(object) {
      for (name in names(about)) object[[name]] <- about[[name]]
      object
    }))
  }
  for (object in objects) {
    by_name <- ufs_data(object, blocks = "stim", strata = "stim", replicates = "donor", weights = "size", sample_cost = "size")
    by_value <- ufs_data(object, blocks = about$stim, strata = about$stim, replicates = about$donor, weights = about$size,
      sample_cost = about$size)
    expect_identical(by_name$row_held, by_value$row_held)
    expect_identical(ufs_split(object, 5, replicates = "donor")$train, ufs_split(object, 5, replicates = about$donor)$train)
    expect_error(ufs_data(object, blocks = "stimulus"), "'stimulus'.*'stim'", class = "ufs_error_argument")
  }
  expect_identical(ufs_css(sce, k = 3, blocks = "stim")$solution, ufs_css(sce, k = 3, blocks = about$stim)$solution)
  for (object in objects[-1L]) {
    object[["RNA"]][["kind"]] <- rep_len(c("p", "q"), nrow(object))
    expect_identical(unname(ufs_data(object, feature_strata = "kind")$held$feature_strata$name), c("p", "q"))
  }
  expect_identical(ufs_reliability(sce, "donor")$table, ufs_reliability(sce, about$donor)$table)
  se <- multi_assay()$object@ExperimentList@listData$genes
  groups <- rep(c("p", "q"), 3)
  expect_identical(ufs_data(se, groups = "pathway")$held, ufs_data(t(SummarizedExperiment::assay(se)), groups = groups)$held)
  expect_error(ufs_data(se, groups = "kind"), "no column 'kind' in rowData", class = "ufs_error_argument")
  both <- list(a = se, b = se[1:2, 30:1])
  both$a$donor <- rep(1:10, 3)
  plain <- lapply(both, function(one) t(SummarizedExperiment::assay(one)))
  expect_identical(ufs_data(both, replicates = "donor")$row_held, ufs_data(plain, replicates = rep(1:10, 3))$row_held)
  expect_identical(ufs_data(both, feature_strata = "pathway")$held,
    ufs_data(plain, feature_strata = c(groups, "p", "q"))$held)
  expect_identical(ufs_split(both, 4, replicates = "donor")$train, ufs_split(plain, 4, replicates = rep(1:10, 3))$train)
  # A matrix has no column of this name; samples without names are matched by their order.
  expect_identical(ufs_data(list(a = se, b = plain$b), feature_strata = "pathway")$held,
    ufs_data(plain, feature_strata = c(groups, NA, NA))$held)
  nameless <- lapply(list(a = both$a, b = both$a[1:2, ]), `colnames<-`, NULL)
  expect_identical(ufs_data(nameless, replicates = "donor")$row_held$replicates, rep(1:10, 3))
  fit <- ufs_variance(both)
  out <- ufs_annotate(both, fit, k = 8)
  expect_identical(SummarizedExperiment::rowData(out$b)$ufs_score, unname(fit$feature_scores[7:8]))
  both$b$donor <- 1:30
  expect_error(ufs_data(both, replicates = "donor"), "differs between the tables", class = "ufs_error_argument")
})

test_that("gaps of an object are filled in its assay; a column of run lengths gives strata", {
  values <- matrix(c(1, NA, 3, 8, 2, 2, 5, 1, 9, 4, 4, 6), 3, byrow = TRUE,
    dimnames = list(c("a", "b", "c"), paste0("s", 1:4)))
  # A package that SummarizedExperiment brings along.
  s4 <- asNamespace("S4Vectors")
  object <- SummarizedExperiment::SummarizedExperiment(list(values = values),
    colData = s4$DataFrame(batch = s4$Rle(c("u", "v"), c(1, 3)), row.names = colnames(values)))
  out <- predict(ufs_css(object, k = 3, na = "median"), object)
  expect_s4_class(out, "SummarizedExperiment")
  expect_identical(SummarizedExperiment::assay(out)[c("a", "b", "c"), ], replace(values, 4, 3))
  expect_identical(ufs_data(object[, ], na = "median", strata = "batch")$row_held$strata$level, c(1L, 2L, 2L, 2L))
})

test_that("a MultiAssayExperiment is read by its sample map, and annotated where it came from", {
  made <- multi_assay()
  object <- made$object
  expect_error(ufs_data(object), "'proteins' lacks", class = "ufs_error_input")
  expect_message(data <- ufs_data(object, join = "inner"), "25 of 30")
  plain <- suppressMessages(as.matrix(ufs_data(made$plain, join = "inner")))
  expect_identical(as.matrix(data), plain)
  fit <- suppressMessages(ufs_css(object, k = 3, join = "inner", blocks = "donor"))
  expect_identical(fit$feature_ranking, suppressMessages(ufs_css(made$plain, k = 3, join = "inner", blocks = rep(letters[1:5], 5)))$feature_ranking)
  expect_identical(suppressMessages(predict(fit, object)), plain[, selected_features(fit)])
  out <- ufs_annotate(object, fit)
  genes <- out@ExperimentList@listData$genes
  expect_identical(SummarizedExperiment::rowData(genes)$ufs_score, unname(fit$feature_scores[1:6]))
  expect_identical(colnames(genes), paste0("x", 1:30))
  expect_identical(out@ExperimentList@listData$proteins, object@ExperimentList@listData$proteins)
  expect_error(ufs_data(object, join = "inner", blocks = "plate"), "no column 'plate'.*'donor'", class = "ufs_error_argument")
  object@sampleMap$primary[2] <- "s1"
  expect_error(ufs_data(object), "several columns of sample 's1'", class = "ufs_error_input")
})
