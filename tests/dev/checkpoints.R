# Checkpoint folders that are not as a run left them: Rscript tests/dev/checkpoints.R
# Each attack changes a folder, its data or the call; what comes out must be what a run without a
# folder gives, with at least as many warnings as files that were damaged, at most one for a folder
# that cannot be written to, and what can be reused must be. The disk is a small tmpfs where one can
# be mounted, or those attacks are left out.
source("tests/dev/common.R")
x <- as.matrix(mtcars)
run <- function(n = 2:5, folder = NULL, data = x, seed = 3, ...) {
  if (!is.null(seed)) set.seed(seed)
  ufs_grid(data, "kmeans_f", list(n_clusters = n), n_starts = 2, checkpoint = folder, ...)
}
plain <- run()
values <- function(folder) {
  grep("/seed-", list.files(folder, "[.]rds$", full.names = TRUE), invert = TRUE, value = TRUE)
}
scores <- function(grid) unname(grid$feature_scores)
change <- function(file, how) saveRDS(how(readRDS(file)), file, version = 2L, compress = FALSE)
edit_value <- function(how) function(part) {
  value <- how(unserialize(memDecompress(part[[3L]], "gzip")))
  replace(part, 3L, list(memCompress(serialize(value, NULL, version = 2L), "gzip")))
}

# Runs code; list(value, warnings, reused): how many tasks were reused, by what is said.
said <- function(code) {
  warnings <- character()
  reused <- 0L
  value <- withCallingHandlers(tryCatch(code, error = function(e) e), warning = function(w) {
    warnings <<- c(warnings, class(w)[1L])
    invokeRestart("muffleWarning")
  }, ufs_message_resumed = function(m) {
    reused <<- as.integer(sub(" of .*", "", conditionMessage(m)))
    invokeRestart("muffleMessage")
  })
  list(value = value, warnings = warnings, reused = reused)
}

ok <- logical()
why <- character()
note <- function(name, fine, text = "") {
  ok[[name]] <<- isTRUE(fine)
  why[[name]] <<- text
}

# A damaged file: the same result, at least one warning of the class, the others reused.
damaged <- function(name, attack, reused = 3L, warns = TRUE) {
  folder <- tempfile()
  said(run(folder = folder))
  attack(folder)
  out <- said(run(folder = folder))
  same <- !inherits(out$value, "error") && identical(scores(out$value), scores(plain))
  note(name, same && (!warns || "ufs_warning_checkpoint" %in% out$warnings) && out$reused == reused,
    sprintf("same %s, %d warnings, %d reused", same, length(out$warnings), out$reused))
}
first <- function(fun) function(folder) fun(values(folder)[1L])
bytes_of <- function(file) readBin(file, "raw", file.size(file))
damaged("truncated", first(function(f) writeBin(utils::head(bytes_of(f), 100), f)))
damaged("truncated to nothing", first(function(f) invisible(file.create(f))))
damaged("end missing", first(function(f) writeBin(utils::head(bytes_of(f), -40), f)))
for (at in c(3, 17, 40, 200, 400)) damaged(paste("a bit turned in byte", at), first(function(f) {
  b <- bytes_of(f)
  b[at] <- xor(b[at], as.raw(8))
  writeBin(b, f)
}), reused = if (at < 15) 4L else 3L, warns = at >= 15)
damaged("text", first(function(f) writeLines("not R", f)))
damaged("another rds", first(function(f) saveRDS(1:3, f)))
damaged("NULL", first(function(f) saveRDS(NULL, f)))
damaged("an empty list", first(function(f) saveRDS(list(), f)))
damaged("scores edited", first(function(f) change(f, edit_value(function(value) {
  replace(value, "feature_scores", list(rev(value$feature_scores)))
}))))
damaged("seconds edited", first(function(f) change(f, edit_value(function(v) replace(v, "seconds", 1e6)))))
damaged("another key inside", first(function(f) change(f, function(p) replace(p, 1L, "other"))))
damaged("an environment", first(function(f) saveRDS(new.env(), f)))
damaged("a function", first(function(f) saveRDS(function(...) stop("called"), f)))
damaged("values swapped", function(folder) {
  f <- values(folder)[1:2]
  a <- bytes_of(f[1L])
  writeBin(bytes_of(f[2L]), f[1L])
  writeBin(a, f[2L])
}, reused = 2L)
damaged("all truncated", function(folder) for (f in values(folder)) {
  writeBin(utils::head(bytes_of(f), -20), f)
}, reused = 0L)
damaged("one removed", first(unlink), warns = FALSE)
damaged("foreign files beside", function(folder) {
  writeLines("a", file.path(folder, "notes.txt"))
  saveRDS(1, file.path(folder, "mine.rds"))
  dir.create(file.path(folder, "more"))
}, reused = 4L, warns = FALSE)
damaged("a part of a killed process", function(folder) {
  file.create(file.path(folder, paste0(sub("[.]rds$", "", basename(values(folder)[1L])), "-1a.part")))
}, reused = 4L, warns = FALSE)

# Keys. Number by number: one large score must not hide the others.
alike <- function(a, b) all(mapply(function(u, v) isTRUE(all.equal(u, v)), a, b))
reuses <- function(name, before, after, reused, want) {
  folder <- tempfile()
  said(before(folder))
  out <- said(after(folder))
  same <- inherits(out$value, "error") || is.null(want) || alike(scores(out$value), scores(want))
  note(name, same && !inherits(out$value, "error") && out$reused == reused,
    sprintf("same %s, %d reused", same, out$reused))
}
reuses("grid extended", function(f) run(2:9, f), function(f) run(2:10, f), 8L, run(2:10))
reuses("grid reversed", function(f) run(2:5, f), function(f) run(5:2, f), 4L, run(5:2))
reuses("no set.seed", function(f) run(2:5, f, seed = NULL), function(f) run(2:6, f, seed = NULL), 4L, NULL)
reuses("data changed far away", function(f) run(folder = f),
  function(f) run(folder = f, data = replace(x, length(x), 9)), 0L, run(data = replace(x, length(x), 9)))
compared <- function(repeats) function(f) {
  set.seed(1)
  ufs_compare(iris[, 1:4], iris$Species, c("variance", "pca"), k = 2, mode = "cluster", repeats = repeats, checkpoint = f)
}
reuses("repeats 3 to 5", compared(3), compared(5), 15L, NULL)
resampled <- function(n) function(f) {
  set.seed(1)
  ufs_stability(x, "variance", k = 3, n_resamples = n, checkpoint = f)
}
reuses("20 resamples to 30", resampled(20), resampled(30), 20L, NULL)
damaged("another version", function(folder) {
  for (f in values(folder)) file.rename(f, sub("-[0-9.]+-", "-0.0.9-", f))
}, reused = 0L, warns = FALSE)
if (requireNamespace("HDF5Array", quietly = TRUE)) {
  file <- tempfile(fileext = ".h5")
  on_disk <- HDF5Array::writeHDF5Array(x, file, "x", chunkdim = c(4, 11))
  reuses("changed HDF5 file", function(f) run(folder = f, data = on_disk), function(f) {
    unlink(file)
    HDF5Array::writeHDF5Array(replace(x, cbind(30, 8), 9), file, "x", chunkdim = c(4, 11))
    run(folder = f, data = HDF5Array::HDF5Array(file, "x"))
  }, 0L, run(data = replace(x, cbind(30, 8), 9)))
}
if (requireNamespace("bigmemory", quietly = TRUE)) {
  big <- bigmemory::as.big.matrix(x)
  reuses("changed big.matrix", function(f) run(folder = f, data = big), function(f) {
    big[30, 8] <- 9
    run(folder = f, data = big)
  }, 0L, run(data = replace(x, cbind(30, 8), 9)))
}

# Folders that go away or fill while the run goes on: `attack` is called at the third of the settings.
unwritable <- function(name, attack, folder = tempfile()) {
  done <- 0
  at <- ufs_control(progress = function(...) NULL)
  namespace <- asNamespace("ufselect")
  fit <- get("grid_fit", namespace)
  put <- function(value) {
    unlockBinding("grid_fit", namespace)
    assign("grid_fit", value, namespace)
  }
  put(function(task, common) {
    done <<- done + 1
    if (done == 3) attack(folder)
    fit(task, common)
  })
  out <- said(run(folder = folder))
  put(fit)
  same <- !inherits(out$value, "error") && identical(scores(out$value), scores(plain))
  truncated <- sum(!vapply(values(folder), function(f) {
    !is.null(tryCatch(suppressWarnings(readRDS(f)), error = function(e) NULL))
  }, NA))
  note(name, same && identical(out$warnings, "ufs_warning_checkpoint") && truncated == 0,
    sprintf("same %s, warnings: %s; %d truncated under their final names", same,
      if (length(out$warnings)) paste(out$warnings, collapse = ", ") else if (same) "none" else
        conditionMessage(out$value), truncated))
  folder
}
invisible(unwritable("folder removed midway", function(folder) unlink(folder, recursive = TRUE)))
invisible(unwritable("folder becomes a file", function(folder) {
  unlink(folder, recursive = TRUE)
  writeLines("", folder)
}))
disk <- tempfile()
dir.create(disk)
mounted <- suppressWarnings(system2("mount", c("-t", "tmpfs", "-o", "size=64k", "tmpfs", disk),
  stdout = FALSE, stderr = FALSE)) == 0
if (mounted) {
  zeros <- function(name, ...) invisible(system2("dd", c("if=/dev/zero", paste0("of=", file.path(disk, name)), ...),
    stdout = FALSE, stderr = FALSE))
  fill <- function(folder) {
    suppressWarnings(try(writeBin(raw(2^20), file.path(disk, "fill")), silent = TRUE))
    zeros("fill2", "bs=1", "count=65536")
  }
  unwritable("disk full midway", fill, file.path(disk, "runs"))
  unlink(file.path(disk, c("fill", "fill2", "runs")), recursive = TRUE)
  # Room for the beginning of a file.
  unwritable("disk nearly full", function(folder) {
    fill(folder)
    unlink(file.path(disk, c("fill", "fill2")))
    zeros("fill3", "bs=4096", "count=15")
  }, file.path(disk, "runs"))
  unlink(file.path(disk, dir(disk)), recursive = TRUE)
  unwritable("read-only midway", function(folder) {
    system2("mount", c("-o", "remount,ro", disk), stdout = FALSE, stderr = FALSE)
  }, file.path(disk, "runs"))
  invisible(system2("umount", disk))
} else {
  cat("no tmpfs here: full disks and read-only folders are not tried\n")
}

for (name in names(ok)) cat(sprintf("%-28s %s  %s\n", name, if (ok[[name]]) "ok    " else "FAILED", why[[name]]))
finish("checkpoints", length(ok), sum(!ok))
