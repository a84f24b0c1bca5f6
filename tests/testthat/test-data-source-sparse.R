# Files without zeros: the same answers as the same sparse matrix in memory.

skip_on_cran()

# Counts with a constant column, a copy and rows of zeros.
entries <- function(n = 90, p = 40, names = paste0("g", seq_len(p))) {
  set.seed(1)
  x <- Matrix::rsparsematrix(n, p, .1)
  x@x <- round(3 * abs(x@x)) + 1
  x[, 7] <- 0
  x[, 9] <- x[, 8]
  x[5:6, ] <- 0
  dimnames(x) <- list(NULL, names)
  methods::as(x, "dgCMatrix")
}

# A DelayedMatrix with an operation on it, which no longer is a Matrix.
delayed <- function(x) DelayedArray::DelayedArray(x) * 1

# Read by blocks of rows, as a file by rows is.
by_rows <- function(source, lines) {
  source[c("by", "unit", "step")] <- list("rows", 1, lines)
  source
}

same_fits <- function(one, two, tolerance = 1e-6) {
  fit <- function(method, x, ...) {
    set.seed(1)
    quietly(ufs(x, method = method, ...))
  }
  arguments <- list(variance = list(), pca = list(n_components = 3), css = list(k = 6),
    spca = list(n_components = 2), socfs = list(n_clusters = 3), kmeans_f = list(n_clusters = 3))
  for (method in names(arguments)) {
    a <- do.call(fit, c(list(method, one), arguments[[method]]))
    b <- do.call(fit, c(list(method, two), arguments[[method]]))
    expect_equal(feature_scores(b), feature_scores(a), tolerance = tolerance, info = method)
  }
}

test_that("a sparse file that is small enough becomes a sparse matrix", {
  skip_if_not_installed("DelayedArray")
  x <- entries()
  held <- ufs_data(delayed(x))
  expect_identical(held$kind, "sparse")
  expect_equal(unname(as.matrix(held$x)), unname(as.matrix(x)))
  expect_equal(held$features, colnames(x))
  old <- options(ufselect.block_bytes = 2000, ufselect.max_bytes = NULL)
  withr::defer(options(old))
  for (by in c("columns", "rows")) {
    source <- delayed_source(delayed(x), 2000, NULL)
    if (by == "rows") source <- by_rows(source, 13)
    expect_gt(length(source_blocks(source)), 3)
    whole <- gather_sparse(source)
    expect_equal(unname(as.matrix(whole)), unname(as.matrix(x)))
    expect_true(methods::validObject(whole, test = TRUE))
    expect_null(gather_sparse(source, most = 10))
  }
  # Too large for a quarter of the limit: blocks.
  options(ufselect.max_bytes = 40 * length(x@x))
  expect_identical(ufs_data(delayed(x))$kind, "source")
})

test_that("sparse blocks give what the matrix in memory gives", {
  skip_if_not_installed("DelayedArray")
  x <- entries()
  for (by in c("columns", "rows")) {
    file <- ufs_data(delayed(x), block_bytes = 8000)
    if (by == "rows") file$x <- by_rows(file$x, 25)
    expect_identical(file$kind, "source")
    expect_true(file$x$sparse)
    expect_identical(file$x$by, by)
    expect_gt(length(source_blocks(file$x)), 2)
    same_fits(x, file)
    expect_output(print(file), "sparse, about")
    rows <- c(12:1, 3, 3, 40:70)
    part <- file[rows, c(30, 2, 8:12)]
    expect_equal(unname(as.matrix(part)), unname(as.matrix(x[rows, c(30, 2, 8:12)])))
    same <- function(z) feature_scores(suppressWarnings(ufs_pca(z, n_components = 2)))
    expect_equal(same(part), same(x[rows, c(30, 2, 8:12)]))
    unit <- function(z) same(ufs_data(z, rows = "unit"))
    expect_equal(unit(file), unit(x))
    expect_equal(same(ufs_data(file, rows = "snv")), same(ufs_data(as.matrix(x), rows = "snv")))
    weighted <- function(z) same(ufs_data(z, weights = rep(1:3, 30)))
    expect_equal(weighted(file), weighted(x))
    expect_equal(x_equal_columns(raw_operator(file)), x_equal_columns(raw_operator(ufs_data(x))))
    # Both kinds draw the same decoys, in the same order.
    decoys <- function(z) {
      set.seed(2)
      quietly(ufs_decoys(z, "pca", n_components = 2, repeats = 2))
    }
    if (by == "rows") expect_equal(decoys(file)$curve, decoys(x)$curve)
    expect_equal(nrow(decoys(file)$curve), nrow(decoys(x)$curve))
  }
})

test_that("missing values in a sparse file are named", {
  skip_if_not_installed("DelayedArray")
  x <- entries()
  x@x[x@p[[13]] + 1] <- NA
  expect_error(ufs_variance(ufs_data(delayed(x), block_bytes = 8000)), "g13", class = "ufs_error_input")
})

# Debian's rhdf5 lets the constructor of the class fail: then the parts are put together by hand.
tenx <- function(x, file) {
  out <- try(quietly(HDF5Array::writeTENxMatrix(DelayedArray::DelayedArray(x), file, "x")), silent = TRUE)
  if (!inherits(out, "try-error")) return(out)
  or_skip("TENxMatrix", {
    start <- as.double(rhdf5::h5read(file, "x/indptr"))
    loadNamespace("HDF5Array")
    DelayedArray::DelayedArray(methods::new("CSC_H5SparseMatrixSeed", filepath = file, group = "x", dim = dim(x),
      indptr_ranges = data.frame(start = start[-length(start)] + 1, width = as.integer(diff(start)))))
  })
}
or_skip <- function(class, code) {
  tryCatch(quietly(code), error = function(e) skip(paste("no", class, "can be made here:", conditionMessage(e))))
}

test_that("entries of a file may be in any order, but none outside of it or there twice", {
  lines <- list(first = c(0L, 2L, 2L), count = c(2L, 0L, 3L), index = c(3L, 1L, 2L, 0L, 1L), value = c(1.5, 2, 3, 4, 5))
  found <- lines_other_way(lines, 4)
  x <- matrix(0, 3, 4)
  x[cbind(c(1, 1, 3, 3, 3), lines$index + 1)] <- lines$value
  expect_identical(found$start, c(0L, 1L, 3L, 4L, 5L))
  expect_identical(found$i, c(2L, 0L, 2L, 2L, 0L))
  expect_identical(found$x, x[cbind(found$i + 1, rep(1:4, diff(found$start)))])
  for (wrong in list(c(3L, 1L, 2L, 0L, 4L), c(-1L, 1L, 2L, 0L, 1L), c(3L, 1L, 2L, 0L, 2L))) {
    lines$index <- wrong
    expect_error(lines_other_way(lines, 4), "damaged", class = "ufs_error_input")
  }
})

test_that("a column far from zero costs sparse data no digits", {
  x <- awkward_counts()
  x <- cbind(round(x[, 12:20] * 2^12) / 2^12, far = 2^27 + round(stats::qnorm(ppoints(30)) * 2^12) / 2^12)
  sparse <- to_sparse(x)
  for (weights in c("heat", "cosine")) for (center in c(TRUE, FALSE)) {
    expect_equal(as.matrix(ufs_graph(sparse, weights = weights, center = center)),
      as.matrix(ufs_graph(x, weights = weights, center = center)), tolerance = 1e-7)
  }
  expect_equal(ufs_graph(sparse)$bandwidth, ufs_graph(sweep(x, 2, c(rep(0, 9), 2^27)))$bandwidth)
  expect_identical(ufs_facility(sparse, 5)$sample_ranking, ufs_facility(x, 5)$sample_ranking)
  for (center in c(TRUE, FALSE)) {
    fits <- lapply(list(sparse, x), function(x) {
      set.seed(1)
      ufs_kmeans_f(x, 3, center = center, scale = FALSE)
    })
    expect_equal(fits[[1]]$feature_scores, fits[[2]]$feature_scores, tolerance = 1e-6)
    expect_identical(isFALSE(fits[[1]]$center), !center)
  }
})

# An AnnData file whose parts are `parts` where they differ from those of x (NULL: left out), as the
# seed of an undamaged file sees it.
h5ad <- function(x, layout, parts = list(), cut = 1) {
  file <- tempfile(fileext = ".h5ad")
  held <- if (layout == "csr") Matrix::t(x) else x
  start <- as.double(held@p)
  all <- list(data = held@x, indices = held@i, indptr = held@p)
  all[names(parts)] <- parts
  all <- Filter(Negate(is.null), all)
  rhdf5::h5createFile(file)
  rhdf5::h5createGroup(file, "X")
  for (name in names(all)) rhdf5::h5write(all[[name]], file, paste0("X/", name))
  rhdf5::h5closeAll()
  if (cut < 1) writeBin(readBin(file, "raw", file.size(file) * cut), file)
  loadNamespace("HDF5Array")
  DelayedArray::DelayedArray(methods::new(if (layout == "csr") "CSC_H5ADMatrixSeed" else "CSR_H5ADMatrixSeed",
    filepath = file, group = "X", dim = rev(dim(x)), indptr_ranges = data.frame(
      start = start[-length(start)] + 1, width = as.integer(diff(start)))))
}

test_that("what cannot be read is said once; a column may be asked for twice, by rows and by columns", {
  expect_error(from_source(from_source(stop("invalid 'times' value"))),
    "^`x` cannot be read from where it lies: the file is damaged, gone, or not what it was \\(invalid 'times' value\\).$",
    class = "ufs_error_input")
  skip_if_not_installed("DelayedArray")
  x <- entries(30, 12)
  source <- ufs_data(delayed(x), block_bytes = 800)$x
  for (one in list(source, by_rows(source, 4))) {
    found <- read_sparse_part(one, c(3, 3, 30), c(2, 9, 2))
    expect_equal(unname(as.matrix(found)), unname(as.matrix(x)[c(3, 3, 30), c(2, 9, 2)]))
  }
})

test_that("a file of many entries that is read into memory says so, with its size and the way out", {
  replaced("gather_sparse", function(source, most) list(step = source$step, most = most))
  replaced("collect_garbage", function(source, bytes = Inf) NULL)
  source <- list(fill = 0.5, n = 1e4, p = 2e3, step = 10, by = "rows")
  withr::local_options(ufselect.max_bytes = 48 * 1e7)
  expect_message(found <- hold_source(source), "sparse matrix of about .* Give `block_bytes`", class = "ufs_message_held")
  expect_identical(found, list(step = 40, most = 1e7))
  expect_null(hold_source(replace(source, "fill", 0.6)))
  expect_silent(hold_source(replace(source, "fill", 0.1)))
})

test_that("a sparse matrix is read by rows, by columns and whole", {
  skip_if_not_installed("Matrix")
  x <- matrix(c(0, 2, 0, 0, 5, 1, 0, 0, 3, 4, 0, 0), 3)
  sparse <- to_sparse(x)
  read <- function(i, j) unname(as.matrix(read_sparse(sparse, i, j)))
  expect_identical(read(NULL, NULL), x)
  expect_identical(read(NULL, c(4L, 2L)), x[, c(4, 2)])
  expect_identical(read(3:2, NULL), x[3:2, ])
  expect_identical(read(2L, c(1L, 4L)), x[2, c(1, 4), drop = FALSE])
  plan <- list(block = rep(1L, 3), mean = matrix(0, 1, 4), factor = matrix(1, 1, 4), add = numeric(4))
  expect_identical(planned(`dimnames<-`(x, list(letters[1:3], NULL)), plan, NULL, NULL), x)
})

skip_if_not_installed("HDF5Array")

test_that("a TENxMatrix, genes in rows, is read as cells", {
  x <- entries(60, 25, NULL)
  genes <- Matrix::t(x)
  file <- tempfile(fileext = ".h5")
  withr::defer(unlink(file))
  cells <- DelayedArray::t(tenx(genes, file))
  expect_identical(ufs_data(cells)$kind, "sparse")
  file_data <- ufs_data(cells, block_bytes = 4000)
  expect_identical(file_data$x$by, "rows")
  same_fits(x, file_data)
})

test_that("the ranges of a compressed file are its rows and columns", {
  x <- entries(60, 25, NULL)
  stored <- tenx(x, file.path(withr::local_tempdir(), "x.h5"))
  # As extract_sparse_array() reads it.
  same <- function(object, dense, i = NULL, j = NULL) {
    source <- delayed_source(object, 4000, NULL)
    expect_false(is.null(source$file))
    found <- read_sparse_part(source, i, j)
    expect_true(methods::validObject(found, test = TRUE))
    if (!is.null(i)) dense <- dense[i, , drop = FALSE]
    if (!is.null(j)) dense <- dense[, j, drop = FALSE]
    expect_equal(unname(as.matrix(found)), unname(dense))
    expect_equal(unname(as.matrix(gather_sparse(delayed_source(object, 4000, NULL)))), unname(as.matrix(object)))
    source$by
  }
  dense <- as.matrix(x)
  across <- DelayedArray::t(stored)
  expect_identical(c(same(stored, dense), same(across, t(dense))), c("columns", "rows"))
  rows <- c(40:31, 2, 59)
  columns <- c(25, 3, 3, 9:20)
  same(stored, dense, rows, columns)
  same(across, t(dense), columns, rows)
  # What the user took already, and names.
  columns <- unique(columns)
  part <- across[columns, rows]
  rownames(part) <- paste0("cell", seq_along(columns))
  expect_identical(same(part, t(dense)[columns, rows], c(4, 1), 12:2), "rows")
  expect_identical(same(stored[rows, columns], dense[rows, columns]), "columns")
  expect_identical(ufs_data(part)$samples, rownames(part))
  # Lines that are far apart are read on their own.
  replaced("range_gap", 3)
  same(across, t(dense), columns, rows)
  same(stored[, c(1, 25)], dense[, c(1, 25)])
  # Other operations are DelayedArray's.
  expect_null(delayed_source(stored * 2, 4000, NULL)$file)
  expect_null(delayed_source(DelayedArray::cbind(stored, stored), 4000, NULL)$file)
  expect_equal(unname(as.matrix(ufs_data(stored * 2)$x)), 2 * dense)
})

test_that("an H5AD file, by cells, is read in ranges, too", {
  x <- entries(60, 25, NULL)
  genes <- Matrix::t(x)
  file <- withr::local_tempfile(fileext = ".h5ad")
  stored <- or_skip("H5ADMatrix", {
    rhdf5::h5createFile(file)
    rhdf5::h5createGroup(file, "X")
    rhdf5::h5write(genes@x, file, "X/data")
    rhdf5::h5write(genes@i, file, "X/indices")
    rhdf5::h5write(genes@p, file, "X/indptr")
    # As the constructor does, which fails with Debian's rhdf5.
    loadNamespace("HDF5Array")
    DelayedArray::DelayedArray(methods::new("CSC_H5ADMatrixSeed", filepath = file, group = "/X", dim = dim(genes),
      indptr_ranges = data.frame(start = utils::head(genes@p, -1L) + 1, width = diff(genes@p))))
  })
  source <- delayed_source(DelayedArray::t(stored), 4000, NULL)
  expect_identical(source$file$by, "rows")
  expect_equal(unname(as.matrix(gather_sparse(source))), unname(as.matrix(x)))
})

test_that("a damaged AnnData file is refused in one sentence, or read rightly", {
  skip_if_not_installed("rhdf5")
  x <- entries(40, 15, NULL)
  want <- unname(feature_scores(suppressWarnings(ufs_variance(x, scale = FALSE))))
  for (layout in c("csr", "csc")) {
    held <- if (layout == "csr") Matrix::t(x) else x
    # Two places of one line.
    pair <- held@p[which(diff(held@p) >= 2)[1]] + 1:2
    or_skip("H5ADMatrix", h5ad(x, layout))
    damage <- list(parts = list(), beyond = list(indices = replace(held@i, 7, 4000L)),
      negative = list(indices = replace(held@i, 7, -3L)), twice = list(indices = replace(held@i, pair[2], held@i[pair[1]])),
      halves = list(indices = held@i + .5), words = list(data = rep("a", length(held@x))), no_data = list(data = NULL),
      no_places = list(indices = NULL), no_starts = list(indptr = NULL), short = list(data = held@x[1:9]),
      short_places = list(indices = held@i[1:9]), start = list(indptr = held@p + 2L),
      over = list(indptr = replace(held@p, length(held@p), 100000L)), falling = list(indptr = replace(held@p, 5, 0L)),
      starts = list(indptr = held@p[1:9]), table = list(data = matrix(held@x[1:20], 4)),
      nan = list(data = replace(held@x, 3, NaN)), empty = list(data = numeric()))
    for (name in c(names(damage), "truncated", "head")) for (blocks in c(FALSE, TRUE)) {
      stored <- h5ad(x, layout, damage[[name]], c(truncated = .5, head = .01, 1)[match(name, c("truncated", "head"), 3)])
      found <- tryCatch({
        cells <- DelayedArray::t(stored)
        suppressWarnings(ufs_variance(if (blocks) ufs_data(cells, block_bytes = 2000) else cells, scale = FALSE))
      }, error = identity)
      said <- paste(layout, name, blocks)
      if (inherits(found, "ufs")) {
        expect_true(name %in% c("parts", "no_starts", "falling", "starts"), info = said)
        expect_equal(as.vector(unlist(found$feature_scores)), want, info = said)
      } else {
        expect_s3_class(found, "ufs_error_input")
        words <- conditionMessage(found)
        expect_length(gregexpr("cannot be read from where it lies|is damaged:", words)[[1]], 1)
        expect_false(grepl("in selecting a method", words), info = said)
      }
      unlink(DelayedArray::path(stored))
    }
  }
})

test_that("a compressed file is not read in ranges without rhdf5, and a part loads its packages", {
  x <- entries(60, 25, NULL)
  stored <- tenx(x, temporary_file(".h5", environment()))
  expect_identical(ranges_of(stored)$path, stored@seed@filepath)
  own <- ranges_of
  environment(own) <- list2env(list(requireNamespace = function(...) FALSE), parent = environment(own))
  expect_null(own(stored))
  spare <- setdiff(c("splines", "boot", "spatial"), loadedNamespaces())[1L]
  skip_if(is.na(spare))
  withr::defer(unloadNamespace(spare))
  source <- replace(delayed_source(stored, 4000, NULL), "packages", list(spare))
  expect_equal(as.matrix(read_sparse_part(source, i = 1:3)), as.matrix(x[1:3, ]), ignore_attr = TRUE)
  expect_true(spare %in% loadedNamespaces())
})
