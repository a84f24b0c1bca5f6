# Values go where they belong: names that are not unique, assays, missing values of new rows.

twice <- function() {
  x <- as.matrix(mtcars)
  colnames(x)[c(2, 5)] <- "hp"
  x
}

test_that("features with one name are matched by position or not at all", {
  x <- twice()
  fit <- suppressWarnings(ufs_variance(x))
  expect_identical(unname(predict(fit, x, k = 11)), unname(x[, unname(feature_ranking(fit))]))
  turned <- x[, 11:1]
  expect_error(predict(fit, turned, k = 11), "'hp'", class = "ufs_error_argument")
  # Those chosen have names of their own.
  expect_identical(predict(fit, turned, k = 1), x[, "disp", drop = FALSE])
  # One column of the name in new data: which of the three?
  expect_error(predict(fit, as.matrix(mtcars), k = 11), "'hp'", class = "ufs_error_argument")
  expect_refusals("'hp'" = predict(ufs_variance(mtcars), turned, k = 2), "'hp'" = ufs_data(x, features = c("hp", "wt")))
  x <- as.matrix(iris[1:20, c(1:4, 1)])
  colnames(x) <- c("a", "a", "b", "c", "")
  twice <- "the name 'a' occurs more than once in `x`"
  unclear <- list(function() ufs_data(x, include = "a"), function() ufs_data(x, exclude = c("b", "a")),
    function() ufs_data(x, groups = list(c("a", "b"))), function() ufs_captured(c("a", "b"), x),
    function() ufs_moments(x[, 1:4]), function() ufs_moments(as.data.frame(x[, 1:4]), columns = "a"),
    function() ufs_moments(to_sparse(x[, 1:4])), function() ufs_moments(x, "b", weights = "a"))
  for (ask in unclear) expect_error(ask(), twice, class = "ufs_error_argument")
  expect_error(ufs_moments(x[, 3:5]), "the name '' occurs", class = "ufs_error_argument")
  # By the name that the fit has made unique, and beside it, nothing is unclear.
  made <- suppressWarnings(ufs_variance(x))$names$features
  expect_identical(ufs_data(x, exclude = made[2])$held$exclude, 2L)
  expect_equal(suppressWarnings(ufs_captured(made[2], x))$captured, suppressWarnings(ufs_captured(2, x))$captured)
  expect_identical(names(ufs_moments(x, c("c", "b"))), c("c", "b"))
  x <- as.matrix(mtcars)
  rownames(x)[2:3] <- "car"
  fit <- ufs_ted(x)
  expect_identical(selected_samples(fit, 4), selected_samples(ufs_ted(unname(x)), 4))
  augment <- getFromNamespace("augment.ufs", "ufselect")
  expect_identical(augment(fit, data = x)$.rank, order(unname(sample_ranking(fit))))
  expect_refusals("'car'" = augment(fit, data = x[32:1, ]), "'car'" = augment(fit, newdata = x[3:5, ]))
  expect_identical(augment(fit, newdata = x[5:9, ])$.score, unname(sample_scores(fit))[5:9])
  expect_identical(representatives(ufs_facility(x, m = 5), what = "samples")$sample, 1:32)
  expect_error(ufs_facility(x, m = 5, labelled = "car"), "'car'", class = "ufs_error_argument")
})

test_that("na = \"knn\" knows rows without values, and no order of rows", {
  set.seed(4)
  x <- rbind(matrix(rnorm(40, 10, .1), 10), matrix(rnorm(160, 0, .1), 40))
  x[50, ] <- NA
  x[c(3, 20, 44), 2] <- NA
  expect_message(filled <- as.matrix(ufs_data(x, na = "knn")), class = "ufs_message_filled")
  expect_equal(filled[50, ], colMeans(x, na.rm = TRUE), ignore_attr = TRUE)
  turn <- sample(50)
  again <- suppressMessages(as.matrix(ufs_data(x[turn, ], na = "knn")))
  expect_equal(again, filled[turn, ], tolerance = 1e-13, ignore_attr = TRUE)
  # Ties: all as near as the tenth
  y <- cbind(rep(c(1, 2), each = 20), 1:40)
  expect_equal(as.matrix(ufs_data(rbind(y, c(1, NA)), na = "knn"))[41, 2], mean(1:20), ignore_attr = TRUE)
  # No feature in common with those that have the value
  y <- cbind(c(1, 2, NA, NA, 5), c(NA, NA, 3, 4, NA), c(NA, NA, 7, 9, NA))
  expect_message(filled <- as.matrix(ufs_data(y, na = "knn")), "mean of the column")
  expect_equal(filled[c(1, 2, 5), 3], c(8, 8, 8), ignore_attr = TRUE)
})

test_that("columns of a table of means of replicates keep what is known of each", {
  data <- open_data(as.matrix(iris[, 1:4]))
  data$levels <- list(share = 1:4 / 10, mean = 1:4, constant = c(2L, 4L), n_levels = 3L)
  expect_identical(subset_data(data, features = c(4L, 1L, 2L))$levels, list(share = c(4, 1, 2) / 10,
    mean = c(4L, 1L, 2L), constant = c(1L, 3L), n_levels = 3L))
})

skip_on_cran()

test_that("row data of genes with one name are their own", {
  skip_if_not_installed("SummarizedExperiment")
  set.seed(1)
  m <- matrix(rpois(40 * 20, 5), 40, dimnames = list(paste0("g", 1:40), paste0("c", 1:20)))
  rownames(m)[1:2] <- "A"
  sce <- SummarizedExperiment::SummarizedExperiment(list(logcounts = m, other = 100 - m))
  fit <- suppressWarnings(ufs_variance(sce, k = 5))
  rows <- SummarizedExperiment::rowData(ufs_annotate(sce, fit))
  expect_equal(rows$ufs_score, unname(apply(m, 1, var)))
  expect_identical(sum(rows$ufs_selected), 5L)
  expect_refusals("'A'" = ufs_annotate(sce[40:1, ], fit), "'A'" = ufs_annotate(sce[2:40, ], fit))
})

test_that("the assay of the fit is written to and read from", {
  skip_if_not_installed("SeuratObject")
  set.seed(1)
  m <- matrix(rpois(12 * 8, 3), 12, dimnames = list(paste0("g", 1:12), paste0("c", 1:8)))
  s <- SeuratObject::CreateSeuratObject(to_sparse(m))
  s[["SCT"]] <- SeuratObject::CreateAssayObject(to_sparse(m[c(3, 1, 5, 7, 9, 11), ] + 1))
  SeuratObject::DefaultAssay(s) <- "SCT"
  fit <- suppressMessages(ufs_variance(s, assay = "RNA", k = 3))
  chosen <- suppressMessages(selected_features(fit))
  out <- ufs_annotate(s, fit)
  expect_setequal(SeuratObject::VariableFeatures(out, assay = "RNA"), chosen)
  expect_length(SeuratObject::VariableFeatures(out, assay = "SCT"), 0L)
  expect_identical(rownames(suppressMessages(predict(fit, s))[["RNA"]]), chosen)
  s[["RNA2"]] <- SeuratObject::CreateAssayObject(to_sparse(m), key = "rnatwo_")
  SeuratObject::DefaultAssay(s) <- "RNA2"
  s[["RNA"]] <- NULL
  expect_error(ufs_annotate(s, fit), "RNA", class = "ufs_error_argument")
  skip_if_not_installed("SummarizedExperiment")
  sce <- SummarizedExperiment::SummarizedExperiment(list(logcounts = m, other = 100 - 2 * m))
  css <- suppressWarnings(ufs_css(sce, k = 3, assay = "other"))
  expect_equal(predict(css, sce, type = "reconstruction"), predict(css, t(100 - 2 * m), type = "reconstruction"))
})

test_that("new rows are filled as those of the fit", {
  set.seed(2)
  x <- matrix(rnorm(60 * 6), 60, dimnames = list(NULL, letters[1:6])) + rnorm(60)
  holes <- replace(x, sample(360, 40), NA)
  new <- x[1:8, ]
  new[cbind(1:5, c(1:4, 1))] <- NA
  for (na in c("median", "knn")) {
    fit <- ufs_variance(holes, na = na, k = 6)
    own <- as.matrix(ufs_data(holes, na = na))
    chosen <- selected_features(fit)
    expect_equal(predict(fit, holes), own[, chosen])
    expect_equal(predict(fit, as.data.frame(holes[, 6:1]))[["b"]], unname(own[, "b"]))
    expect_identical(predict(fit, x[, 6:1]), x[, chosen])
    # Not with what the new rows say of themselves: one at a time is as all at once.
    expect_equal(predict(fit, new)[4, ], predict(fit, new[4, , drop = FALSE])[1, ])
    expect_true(all(is.finite(predict(ufs_css(holes, k = 3, na = na), new, type = "reconstruction"))))
  }
  fit <- ufs_variance(holes, na = "median", k = 6)
  expect_equal(predict(fit, new)[[3, "c"]], stats::median(holes[, "c"], na.rm = TRUE))
  part <- ufs_variance(ufs_data(x, na = "median")[, c(4, 2)], k = 2)
  expect_equal(unname(predict(part, new)[2, "b"]), stats::median(x[, "b"]))
  sparse <- to_sparse(replace(holes, holes < 0, 0))
  fit <- ufs_variance(sparse, na = "median", k = 6, scale = FALSE)
  expect_equal(as.matrix(predict(fit, sparse)), as.matrix(ufs_data(sparse, na = "median"))[, selected_features(fit)])
})

test_that("new rows on disk, of experiments and of Seurat objects are filled as those of the fit", {
  set.seed(2)
  x <- matrix(round(rnorm(30 * 6), 3) + 5, 30, dimnames = list(paste0("s", 1:30), letters[1:6])) + round(rnorm(30), 3)
  holes <- replace(x, sample(180, 20), NA)
  new <- x[1:8, ] + 1
  new[cbind(1:5, c(1:4, 1))] <- NA
  for (na in c("median", "knn")) {
    fit <- ufs_variance(holes, na = na, k = 4)
    want <- predict(fit, new)
    expect_false(anyNA(want))
    scores <- ufs_jspca(holes, 2, na = na)
    expected <- predict(scores, new, type = "scores")
    if (requireNamespace("HDF5Array", quietly = TRUE)) {
      disk <- stored(new)
      for (reading in list(identity, ufs_data)) {
        out <- predict(fit, reading(disk))
        expect_true(inherits(out, c("DelayedMatrix", "ufs_data")))
        expect_equal(as.matrix(out), want)
        expect_equal(predict(scores, reading(disk), type = "scores"), expected)
      }
      expect_false(is.matrix(DelayedArray::seed(predict(fit, stored(x)))))
    }
    if (requireNamespace("SummarizedExperiment", quietly = TRUE)) {
      of <- function(m) SummarizedExperiment::SummarizedExperiment(list(other = 0 * t(m), value = t(m)))
      own <- suppressWarnings(ufs_variance(of(holes), assay = "value", na = na, k = 4))
      out <- predict(own, of(new))
      expect_equal(t(SummarizedExperiment::assay(out, "value")), want)
      expect_identical(SummarizedExperiment::assay(out, "other"), 0 * t(new[, colnames(want)]))
      if (requireNamespace("HDF5Array", quietly = TRUE)) {
        expect_equal(t(as.matrix(SummarizedExperiment::assay(predict(own, of(disk)), "value"))), want)
      }
    }
  }
  skip_if_not_installed("SeuratObject")
  fit <- suppressWarnings(ufs_variance(holes, na = "median", k = 4))
  s <- suppressWarnings(SeuratObject::CreateSeuratObject(to_sparse(t(replace(new, is.na(new), 0)))))
  # The argument is called layer from SeuratObject 5 on.
  layer <- function(call, ...) {
    slot <- if (utils::packageVersion("SeuratObject") >= "5.0.0") "layer" else "slot"
    do.call(call, c(list(...), stats::setNames("data", slot)))
  }
  s <- layer(SeuratObject::SetAssayData, s, new.data = to_sparse(t(new)))
  expect_equal(t(as.matrix(layer(SeuratObject::GetAssayData, quietly(predict(fit, s))))), predict(fit, new))
})

test_that("new rows are filled as those of the fit before they are transformed", {
  x <- as.matrix(iris[, 1:4])
  known <- replace(x, 1, NA)
  new <- replace(x[1:20, ], 3, NA)
  filled <- replace(new, 3, stats::median(known[, 1], na.rm = TRUE))
  unit <- filled / sqrt(rowSums(filled^2))
  fit <- ufs_variance(ufs_data(known, na = "median", rows = "unit"), k = 2)
  for (data in list(new, ufs_data(new))) expect_equal(predict(fit, data), unit[, selected_features(fit)])
  plain <- ufs_variance(ufs_data(known, na = "median"), k = 2)
  expect_equal(as.matrix(predict(plain, ufs_data(new))), filled[, selected_features(plain)])
  skip_if_not_installed("SummarizedExperiment")
  cells <- function(m) SummarizedExperiment::SummarizedExperiment(list(value = t(m)))
  fit <- ufs_variance(ufs_data(cells(known), na = "median"), k = 2)
  own <- function(m) t(SummarizedExperiment::assay(predict(fit, cells(m)), "value"))
  chosen <- selected_features(fit, as = "index")
  # Nothing is missing in some of the new rows, or in the columns that are chosen.
  expect_equal(own(x[1:20, ]), x[1:20, chosen], ignore_attr = TRUE)
  expect_equal(own(new), filled[, chosen], ignore_attr = TRUE)
})
