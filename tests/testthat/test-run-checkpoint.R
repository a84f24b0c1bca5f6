skip_on_cran()

x <- as.matrix(mtcars)

# A random grid of settings `n`, with or without a seed of the session's.
run <- function(n, folder = NULL, data = x, seed = 2, ...) {
  if (!is.null(seed)) set.seed(seed)
  suppressMessages(ufs_grid(data, "kmeans_f", list(n_clusters = n), n_starts = 2, checkpoint = folder, ...))
}
values <- function(folder) list.files(folder, "^(grid|compare|stability).*rds$", full.names = TRUE)

test_that("finished settings are written and read back; a longer grid reuses all of a shorter one", {
  folder <- withr::local_tempdir()
  first <- run(2:4, folder)
  files <- values(folder)
  expect_length(files, 3)
  expect_length(list.files(folder, "part$"), 0)
  stamp <- file.mtime(files)
  second <- run(2:4, folder)
  # The times measured came back with the rest.
  expect_identical(second$results, first$results)
  expect_identical(second$feature_scores, first$feature_scores)
  expect_identical(file.mtime(files), stamp)
  expect_identical(first$feature_scores, run(2:4)$feature_scores)
  expect_identical(second$checkpoint[c("tasks", "reused", "why")], list(tasks = 3L, reused = 3L, why = NULL))
  expect_output(print(second), "3 of 3 reused from the checkpoint folder.", fixed = TRUE)
  expect_false(any(grepl("reused", capture.output(print(first)))))
  folder <- withr::local_tempdir()
  short <- run(2:9, folder)
  long <- run(c(12, 10:2), folder)
  expect_identical(long$checkpoint$reused, 8L)
  expect_identical(long$feature_scores[, 10:3], short$feature_scores)
  expect_output(print(long), "8 of 10 reused from the checkpoint folder (2 are of other settings", fixed = TRUE)
  expect_identical(run(c(12, 10:2))$feature_scores, long$feature_scores)
  # An argument for all, or in the grid; in another order; equal settings are told apart.
  again <- suppressMessages(ufs_grid(x, "kmeans_f", list(n_starts = 2, n_clusters = c(3, 3)), checkpoint = folder))
  expect_identical(again$checkpoint$reused, 1L)
  expect_identical(again$feature_scores[, 1], short$feature_scores[, 2])
  expect_identical(anyDuplicated(setting_keys(again$settings, list())), 0L)
  expect_identical(run(2:3, folder, scale = FALSE)$checkpoint$reused, 0L)
})

test_that("without set.seed() the seed of the folder makes old and new fit each other, in another version too", {
  folder <- withr::local_tempdir()
  first <- run(2:4, folder, seed = NULL)
  expect_false(identical(run(2:4, seed = NULL)$feature_scores, first$feature_scores))
  more <- run(2:6, folder, seed = NULL)
  expect_identical(more$checkpoint$reused, 3L)
  expect_identical(more$feature_scores[, 1:3], first$feature_scores)
  expect_match(more$checkpoint$why, "the seed that is kept in the folder", all = FALSE)
  # Another seed does not split the folder, and is said.
  set.seed(77)
  expect_message(ufs_grid(x, "kmeans_f", list(n_clusters = 2:4), n_starts = 2, checkpoint = folder),
    "3 of 3 reused.*name another folder", class = "ufs_message_resumed")
  # Other data of the same folder have a seed of their own, that of the session.
  expect_identical(run(2:3, folder, x + 1, seed = 5)$feature_scores, run(2:3, data = x + 1, seed = 5)$feature_scores)
  # The caller's random numbers go on the same with and without a folder.
  run(2:3, folder)
  after <- runif(1)
  run(2:3)
  expect_identical(runif(1), after)
  folder <- withr::local_tempdir()
  run(2:3, folder, seed = NULL)
  file <- values(folder)
  file.rename(file, sub(utils::packageVersion("ufselect"), "0.0.1", file, fixed = TRUE))
  again <- run(2:3, folder, seed = NULL)
  expect_identical(again$checkpoint$reused, 0L)
  expect_match(again$checkpoint$why, "results of version 0.0.1 of ufselect", all = FALSE)
})

test_that("more repeats of a comparison and more resamples reuse those that were made", {
  folder <- withr::local_tempdir()
  compare <- function(repeats, methods = c("variance", "kmeans_f"), folder = NULL) {
    set.seed(1)
    suppressMessages(ufs_compare(iris[, 1:4], iris$Species, methods, k = 2, repeats = repeats,
      baselines = FALSE, checkpoint = folder, classifiers = list(
        near = function(x, y, newx) y[apply(newx, 1, function(r) which.min(colSums((t(x) - r)^2)))])))
  }
  same <- function(a) a$results[order(a$results$method, a$results$rep), c("method", "rep", "accuracy")]
  three <- compare(3, folder = folder)
  five <- compare(5, folder = folder)
  expect_identical(five$checkpoint$reused, 6L)
  expect_equal(same(five), same(compare(5)), ignore_attr = TRUE)
  expect_identical(five$halves[1:3], three$halves)
  expect_output(print(five), "6 of 10 reused")
  expect_identical(compare(5, c("pca", "kmeans_f", "variance"), folder)$checkpoint$reused, 10L)
  stable <- function(n, method, folder = NULL) {
    set.seed(1)
    suppressMessages(ufs_stability(mtcars, method, k = 3, n_resamples = n, checkpoint = folder))
  }
  few <- stable(4, "variance", folder)
  more <- stable(6, "variance", folder)
  expect_identical(more$checkpoint$reused, 4L)
  expect_identical(more$selected, stable(6, "variance")$selected)
  expect_output(print(more), "4 of 6 reused")
  both <- stable(6, c("variance", "random"), folder)
  expect_identical(both$fits$variance$checkpoint$reused, 6L)
  expect_identical(both$fits$random$checkpoint$reused, 0L)
  expect_output(print(both), "6 of 6 reused")
})

test_that("keys hold the code of functions, not their names, and every byte; seeds fill their range", {
  expect_identical(hash_of(list(f = function(x) x)), hash_of(list(f = function(x) x)))
  expect_false(hash_of(list(f = function(x) x)) == hash_of(list(f = function(x) x + 1)))
  expect_identical(hash_of(list(f = stats::sd)), hash_of(list(f = stats::sd)))
  expect_false(hash_of(stats::sd) == hash_of(stats::var))
  expect_false(hash_of(sum) == hash_of(max))
  # Written down: another session, platform or version of R must find the same.
  expect_identical(hash_of(list(a = 1:3, b = "x")), "bef557e450a6e433064828e361d6da87")
  expect_identical(hash_of(c(0.1, NA, -Inf)), "9725b15162b570a0a6cfdb27e2d8add0")
  latin <- "caf\xe9"
  Encoding(latin) <- "latin1"
  expect_identical(hash_of(latin), hash_of("caf\u00e9"))
  expect_identical(hash_of(3L), hash_of(3))
  differ <- list(1, 2, "1", TRUE, NULL, NA, list(), list(NULL), c(1, 0), c(0, 1), c(a = 1), list(1), list(list(1)),
    numeric(), character(), factor("a"), factor(c("a", "b"))[1], as.raw(1:3), quote(a), quote(b),
    c(rep(0, 2^17), 1), c(1, rep(0, 2^17)), rep(0, 2^17 + 1), matrix(0, 2^16, 2), matrix(0, 2, 2^16))
  keys <- vapply(differ, hash_of, "")
  expect_identical(anyDuplicated(keys), 0L)
  expect_true(all(grepl("^[0-9a-f]{32}$", keys)))
  bytes <- as.raw(rep(0:255, length.out = 2^22 + 3))
  one <- hash_bytes(bytes)
  for (at in c(1, 4, 2^22, 2^22 + 1, 2^22 + 3)) {
    expect_false(hash_bytes(replace(bytes, at, xor(bytes[at], as.raw(1)))) == one)
  }
  expect_false(hash_bytes(c(bytes, as.raw(0))) == one)
  # As seeds: whole numbers that fill their range.
  seeds <- vapply(1:400, function(i) task_seed(list(seed = 1L), i), 0L)
  expect_identical(anyDuplicated(seeds), 0L)
  expect_gt(suppressWarnings(ks.test(seeds / .Machine$integer.max, "punif"))$p.value, .001)
})

test_that("what is in a checkpoint folder is not believed blindly", {
  folder <- withr::local_tempdir()
  good <- run(2:3, folder)
  file <- values(folder)[1]
  key <- sub("[.]rds$", "", basename(file))
  bytes <- readBin(file, "raw", file.size(file))
  trap <- new.env()
  makeActiveBinding("value", function() stop("looked at"), trap)
  # Whole as a file, with the check that goes with it: what is inside is looked at all the same.
  forged <- function(value, key. = key) {
    payload <- if (is.raw(value)) value else memCompress(serialize(value, NULL, version = 2L), "gzip")
    part <- unserialize(part_bytes(key., payload))
    expect_identical(part, list(key., hash_bytes(payload, key.), payload))
    part
  }
  value <- stored_value(key, folder, is.list)$value
  edited <- forged(replace(value, "seconds", 1234))
  content <- list(other_key = forged(value, "other"), environment = trap, text = "a",
    nothing = NULL, unfinished = list(key), edited = replace(edited, 2, forged(value)[2]),
    holds_environment = forged(list(status = "converged", fit = trap)),
    other_size = forged(replace(value, "feature_scores", list(1:3))),
    failed = forged(replace(value, "error", list("an old failure"))), number = forged(7),
    nonsense = forged(as.raw(1:9)))
  damage <- c(lapply(content, function(value) function() saveRDS(value, file, version = 2L, compress = FALSE)), list(
    truncated = function() writeBin(head(bytes, 200), file),
    empty = function() file.create(file),
    flipped = function() writeBin(replace(bytes, 300, xor(bytes[300], as.raw(1))), file),
    text = function() writeLines("nonsense", file),
    other_part = function() file.copy(values(folder)[2], file, overwrite = TRUE)))
  for (name in names(damage)) {
    damage[[name]]()
    expect_warning(again <- run(2:3, folder), "1 of the files in the checkpoint folder", class = "ufs_warning_checkpoint")
    expect_identical(again$feature_scores, good$feature_scores, info = name)
    expect_identical(again$checkpoint$reused, 1L)
    expect_match(again$checkpoint$why, "1 cannot be read or were changed", info = name)
    expect_silent(mended <- run(2:3, folder))
    expect_identical(mended$checkpoint$reused, 2L, info = name)
  }
  writeLines("7", list.files(folder, "^seed", full.names = TRUE))
  expect_warning(again <- run(2:3, folder), "first seed", class = "ufs_warning_checkpoint")
  expect_identical(again$feature_scores, good$feature_scores)
  expect_identical(run(2:3, folder, seed = NULL)$checkpoint$reused, 2L)
})

test_that("no bit of a checkpoint's file can be wrong unnoticed, or end R", {
  folder <- withr::local_tempdir()
  expect_null(store_value(folder, "key", list(numbers = c(1.5, 2), words = c("a", NA))))
  file <- value_file(folder, "key")
  bytes <- readBin(file, "raw", file.size(file))
  right <- read_part(file, "key")
  expect_identical(readRDS(file)[[1]], "key")
  taken <- vapply(seq_along(bytes), function(i) any(vapply(as.raw(2^(0:7)), function(bit) {
    writeBin(replace(bytes, i, xor(bytes[i], bit)), file)
    !is.null(read_part(file, "key"))
  }, NA)), NA)
  # The version of R is no part of the value.
  expect_identical(which(taken), 1:14)
  writeBin(c(bytes, as.raw(0)), file)
  expect_null(read_part(file, "key"))
})

test_that("a folder that cannot be written to costs one warning and nothing else", {
  good <- run(2:5)
  attempt <- function(folder, why) {
    more <- testthat::capture_warnings(expect_warning(out <- run(2:5, folder), why, class = "ufs_warning_checkpoint"))
    expect_length(more, 0)
    expect_identical(out$feature_scores, good$feature_scores)
    expect_output(print(out), "not all is in the checkpoint folder")
    expect_length(list.files(folder, "part$"), 0)
  }
  # Full: nothing can be written, or only the beginning, which shows when it is read back.
  plain <- write_part
  ways <- list("No space left" = function(content, file) stop("No space left on device"),
    "could not be read back" = function(content, file) {
      plain(content, file)
      writeBin(readBin(file, "raw", file.size(file) / 2), file)
    })
  # A device that is full says so when the connection is closed, which must not stay.
  if (file.exists("/dev/full")) ways[["No space"]] <- function(content, file) {
    full <- file("/dev/full", "wb", raw = TRUE)
    withr::defer(close(full))
    writeBin(content, full)
  }
  for (why in names(ways)) local({
    replaced("write_part", ways[[why]])
    folder <- withr::local_tempdir()
    before <- length(getAllConnections())
    attempt(folder, why)
    expect_identical(length(getAllConnections()), before)
    expect_length(values(folder), 0)
  })
  # Removed while the run goes on, and a name that is taken.
  local({
    folder <- withr::local_tempdir()
    replaced("write_part", function(content, file) {
      unlink(folder, recursive = TRUE)
      plain(content, file)
    })
    attempt(folder, "")
    expect_identical(dir.exists(folder), FALSE)
  })
  folder <- withr::local_tempdir()
  run(2:5, folder)
  file <- values(folder)[1]
  unlink(file)
  dir.create(file.path(file, "in-the-way"), recursive = TRUE)
  expect_warning(expect_warning(out <- run(2:5, folder), "cannot be read"), "cannot be written")
  expect_identical(out$feature_scores, good$feature_scores)
  expect_identical(out$checkpoint$reused, 3L)
})

test_that("nobody owns a part: it goes with the value of its name, or with time", {
  folder <- withr::local_tempdir()
  first <- ufs_grid(x, "pca", list(n_components = c(2, 50)), checkpoint = folder)
  expect_length(list.files(folder), 1)
  key <- sub("[.]rds$", "", basename(values(folder)))
  part <- file.path(folder, c(paste0(key, "-1f.part"), "other-2f.part", "old-3f.part"))
  file.create(part)
  Sys.setFileTime(part[3], Sys.time() - 2 * 86400)
  unlink(values(folder))
  expect_message(ufs_grid(x, "pca", list(n_components = c(2, 50)), checkpoint = folder), NA)
  expect_identical(file.exists(part), c(FALSE, TRUE, FALSE))
  expect_message(ufs_grid(x, "pca", list(n_components = c(2, 50)), checkpoint = folder), "1 of 2")
  # Another process has stored the value and taken our part away: nothing is wrong.
  plain <- read_part
  replaced("read_part", function(file, key) {
    out <- plain(file, key)
    if (grepl("part$", file)) file.rename(file, value_file(folder, key))
    out
  })
  expect_null(store_value(folder, "k", list(1)))
  expect_identical(stored_value("k", folder, is.list)$value, list(1))
})

test_that("data count by what is in them, however they are stored, in files too", {
  folder <- withr::local_tempdir()
  reused <- function(data, into = folder) run(2:3, into, data)$checkpoint$reused
  integers <- round(x)
  expect_identical(reused(integers), 0L)
  storage.mode(integers) <- "integer"
  expect_identical(reused(integers), 2L)
  skip_if_not_installed("Matrix")
  sparse <- to_sparse(x * (x > 2.5 | x == 1))
  expect_identical(reused(sparse), 0L)
  sparse@x[5] <- 99
  expect_identical(reused(sparse), 0L)
  expect_identical(reused(sparse), 2L)
  if (requireNamespace("HDF5Array", quietly = TRUE)) {
    for (chunk in list(c(4, 11), c(32, 2))) {
      folder <- withr::local_tempdir()
      write <- function(x, file = temporary_file(".h5", parent.frame())) {
        HDF5Array::writeHDF5Array(x, file, "x", chunkdim = chunk, with.dimnames = TRUE)
      }
      file <- withr::local_tempfile(fileext = ".h5")
      stored <- write(x, file)
      expect_identical(reused(stored, folder), 0L)
      expect_identical(reused(ufs_data(stored, block_bytes = 1000), folder), 2L)
      expect_identical(reused(write(x), folder), 2L)
      # One number far from the first, under the same name.
      unlink(file)
      write(replace(x, cbind(29, 10), 99), file)
      expect_identical(reused(HDF5Array::HDF5Array(file, "x"), folder), 0L)
    }
    # Large files: not read through, but their size, date and a sample count.
    content <- function(x) {
      replaced("large_bytes", 100)
      source_content(ufs_data(x)$x)
    }
    expect_length(source_files(ufs_data(write(x))$x), 1)
    expect_null(source_files(list(kind = "blocks")))
    stored <- write(x)
    first <- content(stored)
    expect_identical(hash_of(content(stored)), hash_of(first))
    Sys.setFileTime(DelayedArray::path(stored), Sys.time() - 5)
    expect_false(hash_of(content(stored)) == hash_of(first))
    expect_false(hash_of(content(stored + 1)) == hash_of(content(stored)))
    expect_null(source_files(ufs_data(DelayedArray::cbind(stored, DelayedArray::DelayedArray(x)))$x))
  }
  skip_if_not_installed("bigmemory")
  folder <- withr::local_tempdir()
  big <- bigmemory::as.big.matrix(x)
  expect_identical(reused(big, folder), 0L)
  expect_identical(reused(big, folder), 2L)
  big[30, 9] <- 5
  expect_identical(reused(big, folder), 0L)
})

test_that("workers store what they have done, and fail to store it, as one process does", {
  skip_if_not_installed("future")
  folder <- withr::local_tempdir()
  serial <- run(2:6)
  local_workers()
  run(2:4, folder)
  both <- run(2:6, folder)
  expect_identical(both$checkpoint$reused, 3L)
  expect_identical(both$feature_scores, serial$feature_scores)
  lost <- withr::local_tempdir()
  # The seed is written, then the folder goes before the workers come to it.
  plain <- sweep_parts
  replaced("sweep_parts", function(folder) unlink(folder, recursive = TRUE))
  expect_length(testthat::capture_warnings(expect_warning(out <- run(2:6, lost), class = "ufs_warning_checkpoint")), 0)
  expect_identical(out$feature_scores, serial$feature_scores)
})

test_that("a folder that cannot be made, and a file that cannot be renamed, are told", {
  file <- withr::local_tempfile()
  writeLines("", file)
  expect_refused(check_checkpoint(file.path(file, "run")), "/run' (`checkpoint`) cannot be made.")
  folder <- withr::local_tempdir()
  replaced("rename_part", function(from, to) FALSE)
  expect_identical(store_value(folder, "key", 1), "its file could not be renamed")
  expect_length(list.files(folder), 0L)
})
