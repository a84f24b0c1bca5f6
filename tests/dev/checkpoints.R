# Checkpoint folders that go away or fill while a run goes on: Rscript tests/dev/checkpoints.R
# What comes out must be what a run without a folder gives, with one warning and no file cut short. The disk is a small tmpfs where one
# can be mounted, or those attacks are left out. Damaged files and keys are in test-run-checkpoint.R and test-checkpoint-contract.R.
source("tests/dev/common.R")
x <- as.matrix(mtcars)
run <- function(folder = NULL) {
  set.seed(3)
  ufs_grid(x, "kmeans_f", list(n_clusters = 2:5), n_starts = 2, checkpoint = folder)
}
plain <- run()
values <- function(folder) {
  grep("/seed-", list.files(folder, "[.]rds$", full.names = TRUE), invert = TRUE, value = TRUE)
}
scores <- function(grid) unname(grid$feature_scores)
# Runs code; list(value, warnings).
said <- function(code) {
  warnings <- character()
  value <- withCallingHandlers(tryCatch(code, error = function(e) e), warning = function(w) {
    warnings <<- c(warnings, class(w)[1L])
    invokeRestart("muffleWarning")
  })
  list(value = value, warnings = warnings)
}

ok <- logical()
why <- character()
note <- function(name, fine, text = "") {
  ok[[name]] <<- isTRUE(fine)
  why[[name]] <<- text
}

# `attack` is called at the third of the settings.
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
