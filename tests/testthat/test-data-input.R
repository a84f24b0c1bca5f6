# What x may be: every class of data, subsets, missing values, blocks.

skip_on_cran()

counts <- withr::with_seed(1, matrix(rpois(40 * 30, 0.5) * 1.5, 40,
  dimnames = list(paste0("cell", 1:40), paste0("gene", 1:30))))
plain <- ufs_variance(counts)

same_fit <- function(x, tolerance = 1e-12) {
  fit <- suppressMessages(ufs_variance(x))
  expect_equal(feature_scores(fit), feature_scores(plain), tolerance = tolerance)
  expect_identical(fit$names$samples, rownames(counts))
  expect_identical(c(fit$n, fit$p), c(40L, 30L))
  invisible(fit)
}

test_that("tables of every kind", {
  same_fit(as.data.frame(counts))
  skip_if_not_installed("tibble")
  expect_equal(unname(feature_scores(ufs_variance(tibble::as_tibble(counts)))), unname(feature_scores(plain)))
  skip_if_not_installed("data.table")
  table <- data.table::as.data.table(counts)
  fit <- ufs_variance(table)
  expect_equal(feature_scores(fit), feature_scores(plain))
  expect_identical(dim(predict(fit, table, k = 3)), c(40L, 3L))
  expect_identical(names(predict(fit, table, k = 3)), selected_features(fit, 3))
})

test_that("tables with sparse columns, as recipes makes them, stay sparse", {
  skip_if_not_installed("sparsevctrs")
  skip_if_not_installed("tibble")
  fit <- ufs_variance(sparsevctrs::coerce_to_sparse_tibble(to_sparse(counts)))
  expect_equal(feature_scores(fit), feature_scores(plain))
  expect_identical(fit$input$kind, "sparse")
})

test_that("a sparse matrix is not formed and gives the same fit", {
  skip_if_not_installed("Matrix")
  s <- to_sparse(counts)
  expect_message(same_fit(s), NA)
  expect_identical(ufs_variance(s)$input$kind, "sparse")
  expect_output(print(ufs_data(s)), "40 samples x 30 features.*sparse, .*non-zeros.*dense it would be")
  expect_message(ufs_rsr(s, control = ufs_control(max_iter = 2, warn = FALSE)), "turned into a dense", class = "ufs_message_dense")
  withr::with_options(list(ufselect.max_bytes = 1000), {
    expect_error(ufs_rsr(s), "ufs_sketch", class = "ufs_error_memory")
    expect_s3_class(ufs_variance(s), "ufs_variance")
  })
})

test_that("DelayedMatrix and HDF5Matrix, by rows and by columns, whatever the block", {
  skip_if_not_installed("HDF5Array")
  for (chunk in list(c(7, 30), c(40, 4), c(10, 10), c(40, 1))) {
    h <- stored(counts, chunk)
    # One line to a block, which takes long, where chunks are strips of both kinds.
    for (bytes in c(if (chunk[1] == 10) 8, 2000, if (chunk[1] == 7) 1e6)) {
      data <- ufs_data(h, block_bytes = bytes)
      expect_identical(data$x$by, if (chunk[1] * 30 <= chunk[2] * 40) "rows" else "columns")
      same_fit(data, 1e-10)
      for (how in all_four) {
        keep <- which(apply(counts, 2, function(v) diff(range(v)) > 0))
        made <- as_ufs_operator(data, how[1], how[2])
        op <- made$x
        ref <- reference_x(counts, keep, how[1], how[2])
        v <- matrix(sin(seq_len(2 * ncol(op))), ncol = 2)
        t <- matrix(cos(1:80), 40)
        expect_equal(unname(x_mul(op, v)), ref %*% v)
        expect_equal(unname(x_cross(op, t)), crossprod(ref, t))
        expect_equal(x_columns(op, 5:3), ref[, 5:3])
        expect_equal(made$norm, sqrt(colSums(ref^2)))
        expect_equal(x_gram(op, TRUE), tcrossprod(ref))
        expect_equal(x_gram(op, FALSE), crossprod(ref))
        # The chunks that hold the three columns are a part of a pass over a file that is stored by
        # columns: of four columns each, two of eight.
        part <- if (data$x$by == "rows") 1 else if (chunk[2] == 4) 2 / 8 else 3 / 30
        expect_equal(op$count$passes, 4 + part)
      }
    }
    expect_output(print(data), "not in memory, read (in one block|by blocks of)")
  }
  expect_equal(feature_scores(ufs_variance((h + 1)[, 3:12])), feature_scores(plain)[3:12])
  part <- ufs_data(h, features = c("gene5", "gene2"), samples = -(1:3))
  expect_equal(feature_scores(ufs_variance(part)), apply(counts[-(1:3), c("gene5", "gene2")], 2, var))
})

test_that("a value that is missing on disk is named, a source that fails stops the fit", {
  skip_if_not_installed("DelayedArray")
  for (at in c("gene4", "gene30")) {
    bad <- counts
    bad[17, at] <- NA
    expect_error(ufs_variance(DelayedArray::DelayedArray(bad)), at, class = "ufs_error_input")
  }
  # An HDF5 file that goes away between two passes.
  skip_if_not_installed("HDF5Array")
  h <- stored(counts, c(5, 30))
  op <- as_ufs_operator(ufs_data(h, block_bytes = 2000))$x
  unlink(DelayedArray::path(h))
  connections <- nrow(showConnections())
  expect_error(.Call(C_x_product, op, matrix(1, ncol(op), 1), FALSE))
  expect_error(ufs_variance(ufs_data(h)))
  expect_identical(nrow(showConnections()), connections)
  # A source whose functions return nonsense is an error, not a read outside.
  for (bad in list(function(v) 1, function(v) "a", function(v) NULL, function(v) stop("disk on fire"))) {
    op$mul <- bad
    expect_error(.Call(C_x_product, op, matrix(1, ncol(op), 1), FALSE), "another size|disk on fire")
  }
})

test_that("big.matrix", {
  skip_if_not_installed("bigmemory")
  big <- bigmemory::as.big.matrix(counts)
  same_fit(big)
  data <- ufs_data(big, features = 1:5, samples = paste0("cell", 11:20))
  expect_equal(unname(feature_scores(ufs_variance(data))), unname(apply(counts[11:20, 1:5], 2, var)))
})

test_that("workers of BiocParallel change nothing, not a bit", {
  skip_processes()
  skip_if_not_installed("HDF5Array")
  skip_if_not_installed("BiocParallel")
  h <- stored(counts, c(5, 30))
  a <- as_ufs_operator(ufs_data(h, block_bytes = 2000))
  t <- matrix(sin(1:120), 40)
  two <- if (.Platform$OS.type == "windows") BiocParallel::SnowParam(2) else BiocParallel::MulticoreParam(2)
  # To start them for each pass, as where nobody has, takes a minute.
  BiocParallel::bpstart(two)
  withr::defer(BiocParallel::bpstop(two))
  for (param in list(BiocParallel::SerialParam(), two)) {
    b <- as_ufs_operator(ufs_data(h, block_bytes = 2000, BPPARAM = param))
    expect_identical(b$center, a$center)
    expect_identical(b$norm, a$norm)
    expect_identical(x_cross(b$x, t), x_cross(a$x, t))
    expect_identical(x_gram(b$x, FALSE), x_gram(a$x, FALSE))
    expect_identical(x_gram(b$x, TRUE), x_gram(a$x, TRUE))
  }
  expect_error(ufs_data(h, BPPARAM = 2), class = "ufs_error_argument")
})

test_that("SummarizedExperiment: features are rows", {
  skip_if_not_installed("SummarizedExperiment")
  for (kind in c("dense", "sparse", "delayed")) {
    m <- t(counts)
    if (kind == "sparse") m <- to_sparse(m)
    if (kind == "delayed") m <- DelayedArray::DelayedArray(m)
    sce <- SummarizedExperiment::SummarizedExperiment(list(other = m + 1, logcounts = m, counts = m * 2))
    expect_message(fit <- ufs_variance(sce), "\"logcounts\" is used", class = "ufs_message_assay")
    expect_equal(feature_scores(fit), feature_scores(plain))
    expect_identical(fit$input$assay, "logcounts")
    expect_message(fit <- ufs_variance(ufs_data(sce, assay = "counts")), NA)
    expect_equal(feature_scores(fit), 4 * feature_scores(plain))
    expect_equal(feature_scores(ufs_variance(ufs_data(sce, assay = 3))), 4 * feature_scores(plain))
  }
  se <- SummarizedExperiment::SummarizedExperiment(list(t(counts)))
  expect_equal(feature_scores(ufs_variance(se)), feature_scores(plain))
  none <- SummarizedExperiment::SummarizedExperiment(rowData = asNamespace("S4Vectors")$DataFrame(a = 1:3))
  expect_refused(ufs_data(none), "`x` has no assay.", "ufs_error_input")
})

test_that("Seurat: the data of its assay", {
  skip_if_not_installed("SeuratObject")
  skip_if_not_installed("Matrix")
  m <- to_sparse(t(counts))
  object <- suppressWarnings(SeuratObject::CreateSeuratObject(m))
  if (utils::packageVersion("SeuratObject") >= "5.0.0") SeuratObject::LayerData(object, "data") <- m
  expect_identical(same_fit(ufs_data(object, assay = "RNA"))$input$assay, "RNA")
  expect_error(ufs_data(object, assay = "ADT"), "RNA", class = "ufs_error_argument")
})

test_that("a DelayedMatrix that only wraps a sparse matrix is that matrix", {
  skip_if_not_installed("DelayedArray")
  s <- to_sparse(counts)
  wrapped <- DelayedArray::DelayedArray(s)
  expect_identical(same_fit(wrapped)$input[c("kind", "origin")], list(kind = "sparse", origin = "DelayedMatrix"))
  dimnames(wrapped) <- list(NULL, toupper(colnames(counts)))
  expect_identical(ufs_data(wrapped)$features, toupper(colnames(counts)))
  # One that changes its numbers is read, as it stays sparse; one that fills in the zeros is not.
  expect_identical(c(ufs_data(log1p(wrapped))$kind, ufs_data(wrapped + 1)$kind), c("sparse", "source"))
  expect_equal(unname(feature_scores(ufs_variance(log1p(wrapped)))), unname(feature_scores(ufs_variance(log1p(counts)))))
  skip_if_not_installed("SummarizedExperiment")
  sce <- SummarizedExperiment::SummarizedExperiment(list(logcounts = DelayedArray::DelayedArray(Matrix::t(s))))
  expect_identical(same_fit(sce)$input$kind, "sparse")
})

test_that("data on disk: what is said fits them", {
  skip_if_not_installed("HDF5Array")
  h <- stored(replace(counts, cbind(3, 4), NA))
  expect_error(ufs_variance(h), "gene4.*`features` or `samples` of ufs_data", class = "ufs_error_input")
  expect_equal(ufs_variance(h, samples = -3)$n, 39L)
  unlink(DelayedArray::path(h))
  expect_error(ufs_variance(h), "`x` cannot be read", class = "ufs_error_input")
})

test_that("features and samples by name, index and logical; wrong ones are errors", {
  for (x in list(counts, to_sparse(counts))) {
    want <- counts[c(3, 1, 8, 9), c("gene7", "gene2")]
    data <- ufs_data(x, features = c("gene7", "gene2"), samples = c(3, 1, 8, 9))
    expect_equal(as.matrix(data), want)
    expect_identical(dim(data), c(4L, 2L))
    expect_identical(dimnames(data), dimnames(want))
    keep <- colnames(counts) %in% c("gene7", "gene2")
    expect_equal(as.matrix(ufs_data(x, features = keep)), counts[, keep])
    expect_equal(as.matrix(ufs_data(data, features = 2L)), want[, 2, drop = FALSE])
    expect_equal(as.matrix(data[c(1, 1, 2), ]), want[c(1, 1, 2), ])
  }
  expect_error(ufs_data(counts, features = c("gene7", "nope")), "nope", class = "ufs_error_argument")
  for (bad in list(99, 0, c(1, 1), 1.5, NA, TRUE, c(-1, 2), list(1), "x")) {
    expect_refusals(ufs_data(counts, features = bad), ufs_data(counts, samples = bad))
  }
  expect_refusals("has none" = ufs_data(unname(counts), samples = "cell1"), ufs_data(ufs_data(counts), assay = 1))
})

test_that("na = omit leaves out the smaller share and names it; median and knn fill in, and say how much", {
  x <- replace(counts, cbind(c(5, 7), 3), NA)
  omitted <- function(x) ufs_variance(ufs_data(x, na = "omit"))
  fit <- omitted(x)
  expect_identical(fit$input$dropped_features, "gene3")
  expect_equal(feature_scores(fit), feature_scores(plain)[-3])
  expect_output(print(fit), "left out     1 of [0-9]+ features \\(gene3\\)")
  x <- replace(counts, cbind(5, 1:20), NaN)
  fit <- omitted(x)
  expect_identical(fit$input$dropped_samples, "cell5")
  expect_equal(feature_scores(fit), apply(counts[-5, ], 2, var))
  expect_identical(omitted(unname(x))$input$dropped_samples, "5")
  x <- replace(unname(counts), cbind(1:2, 2), NA)
  fit <- omitted(x)
  expect_identical(fit$input$dropped_features, "V2")
  expect_identical(names(feature_scores(fit)), paste0("V", c(1, 3:30)))
  expect_error(ufs_data(matrix(NA_real_, 4, 2), na = "omit"), "nothing is left", class = "ufs_error_input")
  x <- counts
  x[5, 3] <- x[7, 3] <- x[1, 9] <- NA
  x[, 30] <- NA
  data <- ufs_data(x, na = "median")
  expect_identical(data$input$dropped_features, "gene30")
  expect_equal(data$input$filled, 3)
  filled <- as.matrix(data)
  expect_equal(filled[5, 3], median(x[-c(5, 7), 3]))
  expect_equal(filled[!is.na(x[, -30])], x[, -30][!is.na(x[, -30])])
  skip_if_not_installed("Matrix")
  s <- to_sparse(x)
  expect_equal(as.matrix(ufs_data(s, na = "median")), filled)
  expect_equal(as.matrix(ufs_data(s[, -30], na = "omit")), counts[, -c(3, 9, 30)])
  expect_error(ufs_data(s, na = "knn"), class = "ufs_error_argument")
  # Sparse new rows are filled as dense ones are, by a fit of a dense table.
  fit <- suppressMessages(ufs_variance(x, na = "knn"))
  wanted <- suppressMessages(predict(fit, as.matrix(s), k = 5))
  for (class in c("CsparseMatrix", "TsparseMatrix")) {
    expect_equal(suppressMessages(as.matrix(predict(fit, methods::as(s, class), k = 5))), wanted)
  }
})

test_that("infinite values stay an error, na is a choice; the passes over data on disk are counted and said", {
  x <- replace(counts, 1, Inf)
  for (na in c("error", "omit", "median", "knn")) {
    expect_error(ufs_variance(ufs_data(x, na = na)), "gene1", class = "ufs_error_input")
  }
  expect_error(ufs_data(x, na = "mean"), class = "ufs_error_argument")
  skip_if_not_installed("DelayedArray")
  d <- DelayedArray::DelayedArray(counts)
  fit <- ufs_variance(d)
  expect_identical(fit$input$passes, 1L)
  expect_output(print(fit), "1 pass over the file")
  expect_null(ufs_variance(counts)$input$passes)
  expect_gt(suppressWarnings(ufs_pca(d, 2))$input$passes, 2L)
  # Rows in blocks of a sparse matrix are read the same way, from memory.
  sparse <- Matrix::Matrix(counts, sparse = TRUE)
  expect_null(suppressWarnings(ufs_pca(sparse, 2, blocks = rep_len(1:2, nrow(counts))))$input$passes)
})

test_that("blocks that a source holds itself are not standardised in place", {
  x <- matrix(rnorm(60), 10)
  holder <- new.env()
  holder$x <- x + 0
  block <- holder$x
  expect_equal(.Call(C_x_standardise, block, colMeans(x), NULL), scale(x, scale = FALSE), ignore_attr = TRUE)
  expect_identical(holder$x, x)
})

test_that("one rule for constant columns and the ends of double precision, in all containers and units", {
  skip_if_not_installed("Matrix")
  set.seed(1)
  x <- matrix(rnorm(60), 12, dimnames = list(NULL, letters[1:5]))
  x[abs(x) < 0.3] <- 0
  forms <- function(x) {
    c(list(dense = x, sparse = Matrix::Matrix(x, sparse = TRUE)),
      if (requireNamespace("DelayedArray", quietly = TRUE)) {
        lapply(c(rows = 5, columns = 1000), function(lines) {
          ufs_data(DelayedArray::DelayedArray(x), block_bytes = 16 * lines * 5)
        })
      },
      if (requireNamespace("bigmemory", quietly = TRUE)) {
        list(big = suppressWarnings(bigmemory::as.big.matrix(x, type = "double")))
      })
  }
  of <- function(x, ...) lapply(forms(x), function(form) tryCatch(ufs_pca(form, 2, ...), error = identity))
  plain <- ufs_pca(x, 2)
  for (unit in c(2^-990, 1e200)) {
    y <- replace(x, cbind(1:12, 2), x[, 2] * unit)
    for (fit in of(y)) {
      expect_equal(feature_scores(fit), feature_scores(plain), tolerance = 1e-9)
      expect_equal(fit$scale[["b"]] / unit, plain$scale[["b"]], tolerance = 1e-12)
      expect_equal(fit$center[["b"]] / unit, plain$center[["b"]], tolerance = 1e-12)
    }
    for (fit in of(y, scale = FALSE)) {
      expect_s3_class(fit, "ufs_error_input")
      expect_match(conditionMessage(fit), "column 'b' .* squared")
    }
    y[, 2] <- unit * (1 + c(1, rep(0, 11)) * 2^-52)
    for (fit in suppressWarnings(of(y))) expect_identical(unname(fit$constant), 2L)
  }
  for (unit in c(1e-310, 2^-1010, 2^1012)) {
    y <- replace(x, cbind(1:12, 2), x[, 2] / 2 * unit)
    for (fit in of(y)) {
      expect_s3_class(fit, "ufs_error_input")
      expect_match(conditionMessage(fit), "column 'b' .* ends of double precision")
    }
  }
})

test_that("arguments that R code never passes are refused by the native code", {
  w <- diag(3)
  expect_error(.Call(C_propagate, w, c(1L, NA, 2L), 2L, FALSE, NULL), "known")
  expect_error(.Call(C_propagate, w, 1:2, 2L, FALSE, NULL), "known")
  expect_error(.Call(C_take, w, 4L, NULL, NULL, NULL), "rows")
  expect_error(.Call(C_alnr, 1:3, list(), list()), "x")
  expect_error(.Call(C_judge, sum, TRUE), "list")
})

test_that("factors are variables of several columns, or the numbers of their levels, if asked", {
  set.seed(3)
  x <- data.frame(a = rnorm(12), kind = factor(rep(c("u", "v", "w"), 4)), b = rnorm(12),
    size = factor(rep(c("low", "mid", "high"), each = 4), c("low", "mid", "high"), ordered = TRUE),
    flag = factor(rep(c("no", "yes"), 6)))
  error <- expect_error(ufs_data(x), class = "ufs_error_input", "factors = \"dummies\"")
  expect_match(conditionMessage(error), "'kind', 'size', 'flag'")
  # Characters are no factors yet; only where an argument of this name is, for new data follow the fit.
  expect_error(ufs_data(data.frame(a = 1:3, b = letters[1:3])), "factors by factor()", fixed = TRUE, class = "ufs_error_input")
  data <- ufs_data(x, factors = "dummies")
  expect_identical(dim(data), c(12L, 5L))
  expect_identical(colnames(data), names(x))
  expect_output(print(data), "kind (3 levels), size (number of the level), flag (2 levels)", fixed = TRUE)
  # A standardised column has the variance 1, a factor of three levels has 2.
  z <- as_ufs_matrix(data)
  expect_identical(z$coded$name, c("a", "kind=u", "kind=v", "kind=w", "b", "size", "flag=no", "flag=yes"))
  expect_equal(unname(drop(rowsum(colSums(z$x^2) / 11, z$keep))), c(1, 2, 1, 1, 1))
  expect_equal(z$x[, 1] * z$scale[[1]] + z$center[[1]], x$a)
  expect_equal(unname(z$x[, 2] * z$scale[["kind=u"]] + z$center[["kind=u"]]), as.double(x$kind == "u"))
  codes <- ufs_data(x, factors = "codes")
  expect_identical(as.matrix(codes), cbind(a = x$a, kind = rep(c(1, 2, 3), 4), b = x$b,
    size = rep(c(1, 2, 3), each = 4), flag = rep(c(1, 2), 6)))
  expect_null(as_ufs_matrix(codes)$coded)
  # A factor of two levels says what one column of zeros and ones does.
  two <- ufs_css(x[c("a", "b", "flag")], 2, mu_rel = 0, factors = "dummies")
  one <- ufs_css(cbind(a = x$a, b = x$b, flag = as.double(x$flag)), 2, mu_rel = 0)
  expect_identical(selected_features(two), selected_features(one))
  expect_equal(two$trace$captured, one$trace$captured)
  # A method takes the argument too; new rows are chosen from as they are, and coded as the fit's.
  fit <- ufs_pca(x, 2, factors = "dummies")
  new <- x[c(2, 7, 11), ]
  expect_identical(predict(fit, new, k = 5), new[selected_features(fit, 5)])
  fit <- ufs_jspca(x, 2, factors = "dummies")
  whole <- predict(fit, x, type = "scores")
  expect_identical(predict(fit, x[12:1, c(5, 3, 4, 1, 2)], type = "scores"), whole[12:1, ], ignore_attr = TRUE)
  turned <- x
  turned$kind <- factor(x$kind, rev(levels(x$kind)))
  expect_equal(predict(fit, turned, type = "scores"), whole)
  expect_equal(predict(fit, ufs_data(turned, factors = "dummies"), type = "scores"), whole, ignore_attr = TRUE)
  new$kind <- factor("z")
  expect_error(predict(fit, new, type = "scores"), class = "ufs_error_input", "levels in column 'kind' .* 'z'")
  rebuilt <- predict(ufs_css(x, 4, mu_rel = 0, factors = "dummies"), x, type = "reconstruction")
  expect_identical(colnames(rebuilt), z$coded$name)
  # Missing levels are missing values, and become the most frequent level.
  x$kind[c(3, 6)] <- NA
  error <- expect_error(ufs_pca(x, 2, factors = "dummies"), class = "ufs_error_input", "missing")
  expect_match(conditionMessage(error), "column 'kind'")
  for (na in c("median", "knn")) {
    filled <- ufs_data(x, factors = "dummies", na = na)
    expect_identical(filled$x[-c(3, 6), "kind"], as.double(x$kind[-c(3, 6)]))
    expect_true(all(filled$x[c(3, 6), "kind"] %in% 1:3))
    fit <- ufs_pca(filled, 2, k = 5)
    expect_false(anyNA(predict(fit, x)))
    expect_identical(levels(predict(fit, x)$kind), levels(x$kind))
    # Numbers of levels stand for the levels.
    expect_equal(predict(fit, within(x, kind <- as.double(kind)))$kind, as.double(predict(fit, x)$kind))
  }
  expect_identical(unname(ufs_data(x, factors = "dummies", na = "median")$x[3, "kind"]), 1)
})

test_that("the levels of factors are not transformed; dates and times are numbers, and a message says so", {
  x <- data.frame(a = 1:4, b = c(2, 0, 1, 5), f = factor(c("u", "v", "u", "v")))
  expect_error(ufs_data(x, factors = "dummies", rows = "unit"), "column 'f' hold", class = "ufs_error_argument")
  expect_error(ufs_data(x, factors = "dummies", counts = "log"), "`features`", class = "ufs_error_argument")
  x <- data.frame(a = c(2, 1, 4, 3), day = as.Date("2026-01-01") + c(0, 5, 9, 30))
  x$time <- as.POSIXlt("2026-01-01 10:00", tz = "UTC") + 60 * 1:4
  expect_message(data <- ufs_data(x), "'day', 'time' are taken as numbers: days since 1970 and seconds since 1970",
    class = "ufs_message_dates")
  expect_identical(unname(as.matrix(data)[, "day"]), as.double(x$day))
  expect_message(fit <- ufs_css(x["day" == names(x) | "a" == names(x)], 1), class = "ufs_message_dates")
  x <- data.frame(a = c(2, 1, 4, 3), took = as.difftime(c(3, 1, 2, 8), units = "hours"))
  expect_message(ufs_data(x), "'took' is taken as numbers: hours", class = "ufs_message_dates")
})

test_that("what is done to rows does not run over an outcome beside a matrix column, and where they stay it is told", {
  x <- withr::with_seed(1, data.frame(octane = rnorm(30), NIR = I(t(apply(matrix(rnorm(30 * 25), 30), 1L, cumsum)))))
  refused <- function(code) {
    expect_error(code, "column 'octane' of `x`.*matrix column 'NIR'.*features = -1", class = "ufs_error_argument")
  }
  for (rows in c("center", "snv", "unit")) {
    refused(ufs_data(x, rows = rows))
    refused(ufs_data(ufs_data(x), rows = rows))
    refused(ufs_select(x, m = 5, task = "label", rows = rows))
    refused(ufs_split(x, m = 5, rows = rows))
    expect_identical(unname(as.matrix(ufs_data(x, rows = rows, features = -1))),
      unname(as.matrix(ufs_data(unclass(x$NIR), rows = rows))))
  }
  x$field <- factor(rep(1:2, 15))
  expect_error(ufs_data(x, rows = "snv", factors = "dummies"),
    "columns 'octane', 'field'.*features = -c[(]1, 27[)]", class = "ufs_error_argument")
  # Neighbours are told as a range; more than twenty that are none, not at all.
  pair <- data.frame(octane = 1:4, age = 4:1)
  pair$NIR <- matrix(cos(1:20), 4)
  expect_refused(ufs_data(pair, rows = "snv"), "Leave them out by features = -(1:2), or")
  wide <- data.frame(matrix(sin(1:48), 4))[c(1:6, 12, 7:11)]
  wide <- cbind(wide, wide + 1)
  wide <- cbind(wide[1:12], NIR = I(matrix(cos(1:120), 4)), setNames(wide[13:24], letters[1:12]))
  expect_refused(ufs_data(wide, rows = "snv"), "and 19 more of `x`")
  expect_refused(ufs_data(wide, rows = "snv"), "Leave them out by `features`, or")
  expect_s3_class(ufs_data(transform(mtcars, hp = scale(hp)), rows = "snv"), "ufs_data")
  expect_s3_class(ufs_data(x["NIR"], rows = "snv"), "ufs_data")
  x <- withr::with_seed(1, data.frame(octane = rnorm(30, 0, 50), NIR = I(t(apply(matrix(rnorm(30 * 25), 30), 1L, cumsum)))))
  said <- "column 'octane' stands beside the matrix column 'NIR' and counts as one more feature.*features = -1"
  shown <- function(value) paste(trimws(capture.output(print(value))), collapse = " ")
  for (value in list(ufs_look(x), ufs_select(x, m = 5, task = "label"), ufs_select(x, k = 3), ufs_split(x, m = 5))) {
    expect_match(shown(value), said)
  }
  x$water <- x$octane^2
  expect_match(shown(ufs_split(x, m = 5)), "columns 'octane', 'water' stand beside .* count as one more feature each")
  expect_null(ufs_split(x, m = 5, features = 2:26)$doubts)
  expect_null(ufs_split(transform(mtcars, hp = scale(hp)), m = 5)$doubts)
  sketch <- ufs_sketch(as.matrix(mtcars), 12)
  rows <- as.matrix(mtcars)[sketch$index, ]
  expect_equal(ufs_moments(sketch)$mean, colMeans(rows))
  expect_equal(as.matrix(ufs_moments(sketch)), suppressWarnings(cor(rows)))
})

test_that("whole numbers of a DelayedMatrix are read as doubles", {
  skip_if_not_installed("DelayedArray")
  x <- matrix(1:12, 4, dimnames = list(NULL, c("a", "b", "c")))
  data <- ufs_data(DelayedArray::DelayedArray(x))
  expect_identical(unname(read_source(data$x)), unname(x + 0))
  expect_identical(read_source(data$x, 3:2, 2L), matrix(c(7, 6)))
  expect_identical(reads_words(2:4, data$x, "rows")(1), "reading x, rows 2 to 4 of 4")
  expect_identical(reads_words(2:3, data$x, "columns")(1), "reading x, columns 2 to 3 of 3")
})

test_that("what is no table of numbers is named by its kind, column or slot", {
  expect_refused(ufs_css(NULL, k = 1), "ufs_data() reads, not NULL.", "ufs_error_input")
  expect_refused(ufs_data(data.frame(a = as.character(1:9), b = 9:1)),
    "Column 'a' of `x` is text of numbers. Make it numbers, or leave the column out.", "ufs_error_input")
  skip_if_not_installed("Matrix")
  x <- methods::as(to_sparse(matrix(c(1:3, 0), 2)), "TsparseMatrix")
  x@i[1L] <- 99L
  expect_refused(ufs_data(x), "`x` of class dgTMatrix cannot be read: invalid class", "ufs_error_input")
  skip_if_not_installed("DelayedArray")
  letters_on_disk <- DelayedArray::DelayedArray(matrix(letters[1:20], 10))
  expect_refused(ufs_css(letters_on_disk, k = 1), "`x` must be numeric, not of type character.", "ufs_error_input")
})

test_that("rows and columns without names keep numbers and are called by these; no argument is one of the dots", {
  x <- withr::with_seed(1, matrix(rnorm(40 * 6), 40))
  x[c(2, 5, 6, 30), 1] <- NA
  left <- setdiff(1:40, c(2, 5, 6, 30))
  frame <- as.data.frame(x)
  for (given in list(x, frame)) {
    fit <- ufs_medoids(given, 4, na = "omit")
    own <- selected_samples(ufs_medoids(x[left, ], 4))
    expect_identical(selected_samples(fit), as.character(left[own]))
    expect_identical(selected_samples(fit, as = "index"), own)
    expect_match(capture.output(print(fit)), paste0("samples +", toString(left[own]), " "), all = FALSE)
    expect_identical(as.data.frame(fit)$sample[1:4], as.character(left[own]))
    expect_identical(selected_samples(ufs_medoids(given, 4, samples = left, na = "omit")), selected_samples(fit))
    split <- withr::with_seed(2, ufs_split(given, 5, na = "omit"))
    expect_identical(selected_samples(split), as.character(left[withr::with_seed(2, ufs_split(x[left, ], 5))$train]))
    expect_identical(as.data.frame(split)$sample, as.character(left))
  }
  # Such a name finds the row of the data frame.
  expect_equal(unlist(frame[selected_samples(fit)[1L], ], use.names = FALSE), x[left[own[1L]], ])
  fit <- ufs_variance(x[left, ], k = 2, features = c(6, 2, 4), scale = FALSE)
  expect_identical(selected_features(fit), paste0("V", c(6, 2, 4)[order(-apply(x[left, c(6, 2, 4)], 2, var))[1:2]]))
  expect_identical(selected_samples(ufs_medoids(x[left, ], 4, na = "omit")), own)
  x <- as.matrix(mtcars)
  x[1, ] <- 30 * x[1, ]
  rownames(x)[1:2] <- c("", NA)
  expect_message(split <- ufs_split(x, 6), "far from all others (row 1)", fixed = TRUE)
  expect_identical(as.data.frame(split)$sample[1:3], c("1", "2", "Datsun 710"))
  fit <- ufs_medoids(x, 31)
  expect_match(capture.output(print(fit, n = 31)), "(, |samples +)1(,| \\()", all = FALSE)
  expect_identical(sort(as.data.frame(fit)$sample), sort(c("1", "2", rownames(mtcars)[-(1:2)])))
  x[1, 3] <- NA
  expect_output(print(ufs_variance(x, na = "omit")), "1 of 32 samples (1)", fixed = TRUE)
  expect_refused(open_with(x, ufs_split, "split", list(m = 6)), "Unknown argument `m`.")
  expect_refused(open_with(x, ufs_split, "split", list(mm = 6)), "ufs_split() has no argument `mm`")
})

test_that("medians of sparse columns are those of the dense ones, zeros and missing values counted", {
  skip_if_not_installed("Matrix")
  withr::local_seed(4)
  for (n in c(9, 10)) for (share in c(.3, .5, .7, .9)) {
    dense <- matrix(stats::rnorm(n * 40, .5) * stats::rbinom(n * 40, 1, share), n)
    dense[sample(length(dense), 20)] <- NA
    dense[1L, ] <- 1
    x <- Matrix::Matrix(dense, sparse = TRUE)
    want <- apply(dense, 2L, stats::median, na.rm = TRUE)
    expect_equal(column_medians(list(x = x, kind = "sparse", n = n, p = 40L)), want)
    expect_equal(column_medians(list(x = dense, kind = "dense", n = n, p = 40L)), want)
  }
})

test_that("each class of other packages that is known has its own advice", {
  for (class in c("ArrowTabular", "RecordBatch", "polars_data_frame", "RPolarsDataFrame", "tbl_lazy")) {
    expect_refused(ufs_pca(structure(list(), class = class), 2), if (class == "tbl_lazy") {
      "Give dplyr::collect(x)."
    } else "Give as.data.frame(x).", class = "ufs_error")
  }
})
