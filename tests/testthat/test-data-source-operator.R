# Lines across the blocks of a file: columns of one stored by rows, rows of one stored by columns.

skip_on_cran()

# More columns than are ever read at once for one by one (64).
counts <- grouped_counts(80, 151)$x[, -151]

# How often a file stored by rows was read while `code` runs: some columns are all of its chunks.
file_reads <- function(code) {
  times <- 0
  plain <- read_source
  replaced("read_source", function(source, i = NULL, j = NULL) {
    if (is.null(source$spilled)) times <<- times + if (is.null(i)) 1 else length(i) / source$n
    plain(source, i, j)
  })
  list(value = force(code), times = times)
}

test_that("writing to a full disk is noticed", {
  skip_if_not(file.exists("/dev/full"))
  full <- suppressWarnings(file("/dev/full", "wb"))
  withr::defer(try(close(full), silent = TRUE))
  expect_false(write_numbers(matrix(0, 1000, 1000), full))
})

test_that("with isolated samples in the graph nothing is formed", {
  skip_if_not_installed("Matrix")
  counts <- counts[, 1:30]
  w <- as.matrix(quietly(ufs_graph(counts, n_neighbours = 6)))
  w[c(3, 50), ] <- w[, c(3, 50)] <- 0
  kinds <- list(sparse = to_sparse(counts))
  if (requireNamespace("HDF5Array", quietly = TRUE)) {
    kinds$rows <- ufs_data(stored(counts, c(5, 30)), block_bytes = 12000)
    kinds$columns <- ufs_data(stored(counts, c(80, 5)), block_bytes = 12000)
  }
  fits <- list(function(x) ufs_spec(x, w, "phi3", n_clusters = 3), function(x) ufs_spec(x, w, "phi2"),
    function(x) ufs_mcfs(x, 3, w), function(x) ufs_mcfs(x, 3, w, center = FALSE, scale = TRUE))
  for (at in seq_along(fits)) {
    plain <- quietly(fits[[at]](counts))
    for (x in kinds[c(TRUE, at %% 2 == 1, at %% 2 == 0)[seq_along(kinds)]]) {
      withr::with_options(list(ufselect.max_bytes = 8 * 60 * 30), {
        expect_equal(quietly(fits[[at]](x))$feature_scores, plain$feature_scores, tolerance = 1e-8)
      })
    }
  }
})

# Whole columns that were read from the copy of a file while `code` runs.
copy_reads <- function(code) {
  columns <- 0
  plain <- read_spilled
  replaced("read_spilled", function(spilled, index, lines = NULL) {
    columns <<- columns + length(index) * (if (is.null(lines)) 1 else length(lines) / spilled$n)
    plain(spilled, index, lines)
  })
  list(value = force(code), columns = columns)
}

test_that("numbers are read from anywhere in a file, in any order, beyond 2^31 bytes too", {
  file <- withr::local_tempfile()
  writeBin(as.double(1:1000), file)
  read <- function(place, count) .Call(C_file_numbers, file, as.double(place), as.double(count))
  expect_identical(read(c(10, 0, 990), c(2, 1, 10)), c(11, 12, 1, 991:1000))
  expect_identical(read(numeric(), numeric()), numeric())
  expect_null(c(read(c(0, 995), c(1, 6)), .Call(C_file_numbers, paste0(file, "-none"), 0, 1)))
  expect_error(read(-1, 1), "range")
  # A file with a hole: it takes no room on the disk.
  skip_on_os("windows")
  con <- file(file, "wb")
  withr::defer(close(con))
  place <- 2^31 / 8 + 5
  seek(con, 8 * place, rw = "write")
  writeBin(c(3, 4), con)
  flush(con)
  expect_identical(read(c(place + 1, place), c(1, 1)), c(4, 3))
})

test_that("an error in a block is left as it is; a large copy on the disk is announced, with its size", {
  own <- tryCatch(ufs_abort("input", "in a block"), error = identity)
  expect_identical(tryCatch(refuse_worker(own), error = identity), own)
  expect_error(refuse_worker(simpleError("cannot read connection")),
    "worker of `BPPARAM` was lost .*cannot read connection", class = "ufs_error_worker")
  said <- tryCatch(spill_source(list(n = 5e6, p = 5)), ufs_message_spilled = conditionMessage)
  expect_match(said, "a copy of 190.7 MiB is written to .* for the time of the fit")
})

skip_if_not_installed("HDF5Array")

test_that("laplacian and spec read a file stored by rows once beside its graph", {
  rows <- stored(counts, c(5, ncol(counts)))
  # Five rows or columns to a block.
  data <- ufs_data(rows, block_bytes = 8 * 5 * ncol(counts))
  expect_identical(data$x$by, "rows")
  graph <- quietly(ufs_graph(counts, n_neighbours = 4))
  for (fit in list(function(x) ufs_laplacian(x, graph),
    function(x) ufs_laplacian(x, graph, center = TRUE, scale = TRUE), function(x) ufs_spec(x, graph, "phi1"),
    function(x) ufs_spec(x, graph, "phi2", power = 2), function(x) ufs_spec(x, graph, "phi3", n_clusters = 3))) {
    plain <- quietly(fit(counts))
    seen <- file_reads(quietly(fit(data)))
    expect_equal(seen$times, 2)
    expect_identical(seen$value$input$passes, 2L)
    expect_equal(seen$value$feature_scores, plain$feature_scores, tolerance = 1e-12)
    columns <- quietly(fit(ufs_data(stored(counts, c(80, 3)), block_bytes = 1e9)))
    if (!seen$value$params$center) expect_identical(seen$value$feature_scores, columns$feature_scores)
  }
  # One block of columns: no copy.
  seen <- file_reads(quietly(ufs_laplacian(ufs_data(rows, block_bytes = 1e6), graph)))
  expect_equal(seen$times, 2)
})

test_that("the copy gives any columns of rows, any rows of columns, and whole products", {
  wide <- withr::with_seed(3, matrix(rnorm(20 * 90), 20))
  ask <- list(c(4L, 5L, 6L), c(9L, 2L, 3L, 12L), 17L, 20:1)
  for (x in list(counts, wide, t(wide))) {
    for (chunk in list(c(3, ncol(x)), c(nrow(x), 3))) {
      op <- as_ufs_operator(ufs_data(stored(x, chunk), block_bytes = 4000), TRUE, FALSE)$x
      z <- scale(unname(x), scale = FALSE)
      by_rows <- chunk[1L] == 3
      get <- if (by_rows) function(j) x_columns(op, j) else function(i) unname(x_rows(op, i))
      for (index in ask) {
        expect_equal(get(index), if (by_rows) z[, index, drop = FALSE] else z[index, , drop = FALSE], ignore_attr = TRUE)
      }
      # The first read goes to the file, the second makes the copy, the others are free.
      expect_identical(op$count$passes, 2)
      expect_true(file.exists(op$store$spilled$path))
      # Gram matrices pass by blocks of both kinds; one of the two passes costs nothing now.
      expect_equal(x_gram(op, TRUE), tcrossprod(z), ignore_attr = TRUE)
      expect_equal(x_gram(op, FALSE), crossprod(z), ignore_attr = TRUE)
      expect_identical(op$count$passes, 3)
      # Operators made from it share the copy, one of other rows has its own.
      expect_equal(x_columns(x_subset_columns(op, c(7L, 3L)), 1:2), z[, c(7L, 3L)], ignore_attr = TRUE)
      if (by_rows) expect_identical(op$count$passes, 3)
      part <- x_subset_rows(op, c(2L, 11L, 5L))
      expect_equal(x_columns(part, 1:4), z[c(2L, 11L, 5L), 1:4], ignore_attr = TRUE)
      expect_equal(x_mul(part, diag(ncol(x))), z[c(2L, 11L, 5L), ], ignore_attr = TRUE)
      expect_false(identical(part$store, op$store))
      path <- op$store$spilled$path
      close_source(op)
      expect_false(file.exists(path))
      # Who asks afterwards, as ALFS does for what follows its fit, gets another one.
      expect_equal(get(ask[[1L]]), if (by_rows) z[, ask[[1L]]] else z[ask[[1L]], ], ignore_attr = TRUE)
    }
  }
})

test_that("no room for a copy: read as often as it takes, with the same result", {
  data <- ufs_data(stored(counts, c(5, 150)), block_bytes = 8 * 5 * 80)
  graph <- quietly(ufs_graph(counts, n_neighbours = 4))
  with_copy <- quietly(ufs_laplacian(data, graph))
  replaced("write_numbers", function(block, file) FALSE)
  left <- list.files(tempdir(), "^ufselect-spilled")
  connections <- nrow(showConnections())
  without <- quietly(ufs_laplacian(data, graph))
  expect_identical(without$feature_scores, with_copy$feature_scores)
  # Means, the attempt, and a pass for each 64 columns.
  expect_identical(without$input$passes, 5L)
  expect_length(setdiff(list.files(tempdir(), "^ufselect-spilled"), left), 0)
  expect_identical(nrow(showConnections()), connections)
})

test_that("nothing is left behind, and a large copy is announced", {
  data <- ufs_data(stored(counts, c(5, 150)), block_bytes = 8 * 5 * 80)
  graph <- quietly(ufs_graph(counts, n_neighbours = 4))
  before <- list.files(tempdir(), "^ufselect-spilled")
  quietly(ufs_laplacian(data, graph))
  expect_identical(list.files(tempdir(), "^ufselect-spilled"), before)
  op <- as_ufs_operator(data)$x
  op$sweep()
  path <- op$store$spilled$path
  expect_true(file.exists(path))
  rm(op)
  gc()
  expect_false(file.exists(path))
  expect_error(quietly(ufs_laplacian(data, matrix(0, 80, 80))), class = "ufs_error_graph")
  gc()
  expect_identical(list.files(tempdir(), "^ufselect-spilled"), before)
})

test_that("row-sparse regression reads the columns of a working set a few times, not by sweeps", {
  z <- scale(unname(counts))
  t <- qr.Q(qr(withr::with_seed(4, matrix(rnorm(80 * 3), 80))))
  others <- qr.Q(qr(withr::with_seed(5, matrix(rnorm(80 * 3), 80))))
  root <- seq(0.5, 2, length.out = 80)
  solve <- function(x, t, v = matrix(0, 150, 3), ...) {
    settings <- list(lambda = 0.4 * gl_lambda_max(z, t), vtol = 1e-11, full = TRUE, prune = 0.9,
      slots = 2000L, certify = FALSE, root = NULL)
    .Call(C_test_gl, x, t, v, utils::modifyList(settings, list(...), keep.null = TRUE))
  }
  for (chunk in list(c(5, 150), c(80, 5))) {
    file <- stored(counts, chunk)
    op <- as_ufs_operator(ufs_data(file, block_bytes = 2 * 8 * 80 * 30))$x
    wide <- as_ufs_operator(ufs_data(file, block_bytes = 2 * 8 * 80 * 150))$x
    for (given in list(list(), list(root = root), list(slots = 12L), list(slots = 40L, prune = 2),
      list(slots = 25L, prune = -1), list(form = "r"))) {
      for (side in list(t, cbind(others, t))) {
        want <- do.call(solve, c(list(z, side), given))
        x <- if (is.null(given$form) && is.null(given$slots)) op else wide
        got <- do.call(solve, c(list(x, side), given))
        expect_gt(sum(rowSums(want$v != 0) > 0), 5)
        for (name in c("v", "xv", "kkt")) expect_equal(got[[name]], want[[name]], tolerance = 1e-6)
        expect_equal(got$objective, want$objective, tolerance = 1e-10)
      }
    }
    # The Gram columns (read, and multiplied), X'T and X V: four times ten columns.
    v <- matrix(0, 150, 3)
    v[seq(4, 40, by = 4), ] <- 0.01
    before <- op$count$passes
    seen <- copy_reads(solve(op, t, v, full = FALSE))
    expect_gt(seen$value$sweeps, 5)
    expect_equal(seen$value$xv, z %*% seen$value$v, tolerance = 1e-12)
    if (chunk[1] == 5) {
      expect_lte(seen$columns, 40)
      expect_gt(seen$columns, 30)
      expect_identical(op$count$passes, before)
    } else {
      # Eight of the 30 chunks have one or two of them.
      expect_lte(op$count$passes - before, 4 * 10 / 30 + 1e-9)
    }
  }
})

test_that("SOCFS on a file passes over it once for each look at all features", {
  x <- counts[, 1:60]
  plain <- quietly(ufs_socfs(x, 3))
  seen <- file_reads(quietly(ufs_socfs(ufs_data(stored(x, c(5, 60)), block_bytes = 2 * 8 * 80 * 4), 3)))
  expect_equal(seen$value$feature_scores, plain$feature_scores, tolerance = 1e-6)
  expect_equal(tail(seen$value$trace$objective, 1), tail(plain$trace$objective, 1), tolerance = 1e-8)
  expect_equal(seen$value$input$passes, ceiling(seen$times - 1e-9), tolerance = 1e-12)
  # Means, the starts' products, lambda_max and the copy; then the looks.
  looks <- seen$value$counts[["full_products"]]
  expect_gt(seen$value$iterations, 3)
  expect_lte(seen$times, looks + 8)
})

test_that("greedy TED on a tall file: labelled samples cost one read of their rows", {
  x <- withr::with_seed(6, matrix(rnorm(400 * 12), 400) %*% diag(12:1))
  for (chunk in list(c(20, 12), c(400, 3))) {
    data <- ufs_data(stored(x, chunk), block_bytes = 2 * 8 * 40 * 12)
    reads <- function(labelled) {
      plain <- quietly(ufs_ted(x, m = 5, labelled = labelled))
      seen <- file_reads(quietly(ufs_ted(data, m = 5, labelled = labelled)))
      expect_identical(unname(seen$value$solution$order), unname(plain$solution$order))
      expect_equal(seen$value$statistic, plain$statistic, tolerance = 1e-9)
      expect_equal(seen$value$trace, plain$trace, tolerance = 1e-9)
      if (chunk[1] == 20) expect_gte(seen$value$input$passes, seen$times)
      seen$value$input$passes
    }
    none <- reads(NULL)
    few <- reads(c(7, 3))
    # Means, inner products, two forms of every row, and for each batch its rows and products.
    expect_lte(none, 8)
    expect_lte(max(few, reads(rev(seq(1, 400, by = 13)))), none + 2)
  }
})

test_that("blocks are added up in place, and what came first is nobody else's", {
  z <- unname(counts)
  for (chunk in list(c(5, 150), c(80, 5))) {
    op <- as_ufs_operator(ufs_data(stored(counts, chunk), block_bytes = 2 * 8 * 5 * 80), FALSE, FALSE)$x
    v <- matrix(seq_len(300) / 100, 150)
    t <- matrix(seq_len(160) / 100, 80)
    first <- list(op$mul(v), op$cross(t), op$gram(TRUE), op$gram(FALSE))
    kept <- lapply(first, function(a) a + 0)
    again <- list(op$mul(v), op$cross(t), op$gram(TRUE), op$gram(FALSE))
    expect_identical(first, kept)
    expect_identical(again, kept)
    expect_equal(kept, list(z %*% v, crossprod(z, t), tcrossprod(z), crossprod(z)))
    s <- crossprod(z[1:9, ])
    half <- s
    half[lower.tri(half)] <- NaN
    expect_equal(op$row_forms(half), rowSums((z %*% s) * z))
    expect_equal(op$row_forms(NULL), rowSums(z^2))
    root <- seq_len(80) / 40
    expect_equal(op$gram_columns(c(9L, 2L, 140L), root), crossprod(z, root^2 * z[, c(9, 2, 140)]))
    some <- op$some(c(140L, 3L, 4L, 60L))
    expect_equal(some$mul(v[1:4, ]), z[, c(140, 3, 4, 60)] %*% v[1:4, ])
    expect_equal(some$cross(t), crossprod(z[, c(140, 3, 4, 60)], t))
  }
})

test_that("a copy that is gone is an error that says so", {
  op <- as_ufs_operator(ufs_data(stored(counts, c(5, 150)), block_bytes = 4000))$x
  op$sweep()
  unlink(op$store$spilled$path)
  expect_identical(expect_error(x_columns(op, 3), "cannot be read", class = "ufs_error_input")$argument, "x")
})

test_that("workers of BiocParallel are started once for all passes of a fit, and stopped with it", {
  skip_processes()
  skip_if_not_installed("BiocParallel")
  up <- logical()
  plain <- source_pass
  watched <- function(data) local({
    replaced("source_pass", function(source, ...) {
      if (!is.null(source$BPPARAM)) up <<- c(up, BiocParallel::bpisup(source$BPPARAM))
      plain(source, ...)
    })
    quietly(ufs_pca(data, n_components = 2))
  })
  serial <- quietly(ufs_pca(ufs_data(stored(counts, c(5, 150)), block_bytes = 50000), n_components = 2))
  own <- BiocParallel::MulticoreParam(2, force.GC = FALSE)
  data <- ufs_data(stored(counts, c(5, 150)), block_bytes = 50000, BPPARAM = own)
  expect_identical(watched(data)$feature_scores, serial$feature_scores)
  expect_gt(length(up), 1L)
  expect_true(all(up))
  expect_false(BiocParallel::bpisup(own))
  # Workers that the user has started stay.
  BiocParallel::bpstart(own)
  quietly(ufs_variance(data))
  expect_true(BiocParallel::bpisup(own))
  BiocParallel::bpstop(own)
  # Also where the fit fails.
  expect_error(ufs_pca(data, n_components = 0), class = "ufs_error_argument")
  expect_false(BiocParallel::bpisup(own))
})

test_that("a worker that dies is an error in words; none stays, and the next fit has new ones", {
  skip_processes()
  skip_on_os("windows")
  skip_if_not_installed("BiocParallel")
  own <- BiocParallel::MulticoreParam(2, force.GC = FALSE)
  data <- ufs_data(stored(counts, c(5, 150)), block_bytes = 50000, BPPARAM = own)
  before <- length(getAllConnections())
  local({
    mine <- Sys.getpid()
    replaced("source_piece", function(...) if (Sys.getpid() != mine) tools::pskill(Sys.getpid(), tools::SIGKILL))
    expect_error(quietly(ufs_variance(data)), "worker of `BPPARAM` was lost", class = "ufs_error_worker")
  })
  expect_identical(length(getAllConnections()), before)
  expect_false(BiocParallel::bpisup(own))
  expect_s3_class(quietly(ufs_variance(data)), "ufs_variance")
})
