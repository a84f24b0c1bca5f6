# Many fits: seeds, workers, progress, checkpoints. Used by grid, compare, stability, tune.

# One seed per task from the caller's random numbers, so that the result depends neither on
# the order nor on the number of workers. NULL where nothing random happens: then the
# caller's RNG is not touched at all.
draw_seeds <- function(n, random = TRUE) {
  if (random) as.list(sample.int(.Machine$integer.max, n)) else vector("list", n)
}

# Evaluates code under a seed of its own and puts the caller's RNG back as it was.
with_seed <- function(seed, code) {
  if (is.null(seed)) {
    return(code)
  }
  global <- globalenv()
  old <- get0(".Random.seed", envir = global, inherits = FALSE)
  on.exit(if (is.null(old)) {
    rm(list = ".Random.seed", envir = global)
  } else {
    assign(".Random.seed", old, envir = global)
  })
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  code
}

# lapply() over tasks, through future.apply when it is installed and the user has set a
# plan other than sequential, with progress for whoever listens. `run(task, ...)`.
run_tasks <- function(tasks, run, ..., checkpoint = NULL, keys = NULL) {
  tick <- progress_ticks(length(tasks))
  one <- function(i, ...) {
    value <- checkpointed(checkpoint, keys[[i]], run(tasks[[i]], ...))
    tick()
    value
  }
  if (uses_workers()) {
    future.apply::future_lapply(seq_along(tasks), one, ..., future.seed = NULL,
      future.packages = "ufselect")
  } else {
    lapply(seq_along(tasks), one, ...)
  }
}

uses_workers <- function() {
  requireNamespace("future.apply", quietly = TRUE) && requireNamespace("future", quietly = TRUE) &&
    !inherits(future::plan(), "sequential")
}

progress_ticks <- function(n) {
  if (n > 1L && requireNamespace("progressr", quietly = TRUE)) {
    progressr::progressor(n)
  } else {
    function(...) NULL
  }
}

# The value stored under `key` in the folder if there is one, else that of `code`, stored.
# A file appears under its name only when it is complete (write, then rename), so a killed
# run leaves finished tasks or nothing.
checkpointed <- function(folder, key, code) {
  if (is.null(folder)) {
    return(code)
  }
  file <- file.path(folder, paste0(key, ".rds"))
  if (file.exists(file)) {
    stored <- tryCatch(readRDS(file), error = function(e) NULL)
    if (!is.null(stored)) {
      return(stored$value)
    }
  }
  value <- code
  partial <- tempfile(paste0(key, "-"), tmpdir = folder, fileext = ".part")
  on.exit(unlink(partial))
  saveRDS(list(value = value), partial)
  if (!file.rename(partial, file)) {
    ufs_warn("checkpoint", "Could not write '", file, "'; the run goes on without it.")
  }
  value
}

check_checkpoint <- function(folder) {
  if (is.null(folder)) {
    return(NULL)
  }
  if (!is.character(folder) || length(folder) != 1L || is.na(folder) || !nzchar(folder)) {
    ufs_abort("argument", "`checkpoint` must be NULL or the name of a folder.",
      argument = "checkpoint")
  }
  if (!dir.exists(folder) && !dir.create(folder, recursive = TRUE, showWarnings = FALSE)) {
    ufs_abort("argument", "The folder '", folder, "' (`checkpoint`) cannot be made.",
      argument = "checkpoint")
  }
  normalizePath(folder)
}

# A name for a value: equal values, equal keys, also in another session.
value_key <- function(value) {
  file <- tempfile()
  on.exit(unlink(file))
  con <- file(file, "wb")
  # Version 3 with the header of a fixed native encoding; functions lose their source
  # references and environments would not be comparable, so they are deparsed.
  serialize(rapply(list(value), deparse, classes = "function", how = "replace"), con, version = 2L)
  close(con)
  unname(tools::md5sum(file))
}

# A fit with its warnings collected instead of shown, and its error instead of stopping.
quiet_fit <- function(x, method, args, seed) {
  said <- character()
  started <- proc.time()[[3L]]
  fit <- tryCatch(
    withCallingHandlers(
      with_seed(seed, do.call(ufs, c(list(x = x, method = method), args))),
      ufs_warning = function(w) {
        said <<- c(said, conditionMessage(w))
        invokeRestart("muffleWarning")
      },
      ufs_message = function(m) invokeRestart("muffleMessage")
    ),
    error = function(e) e
  )
  list(fit = if (inherits(fit, "ufs")) fit, error = if (inherits(fit, "error")) conditionMessage(fit),
    warnings = unique(said), seconds = proc.time()[[3L]] - started)
}

# Checks names of methods; returns their registry rows.
method_row <- function(method, arg = "method") {
  table <- registry()
  if (!is.character(method) || length(method) != 1L || !method %in% names(table)) {
    ufs_abort("argument", "`", arg, "`: there is no method ", brief(method),
      "; see ufs_methods().", argument = arg)
  }
  table[[method]]
}
