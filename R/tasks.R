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
  keep_seed({
    set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
    code
  })
}

# Evaluates code and puts the caller's RNG back as it was.
keep_seed <- function(code) {
  global <- globalenv()
  old <- get0(".Random.seed", envir = global, inherits = FALSE)
  on.exit(if (is.null(old)) {
    rm(list = ".Random.seed", envir = global)
  } else {
    assign(".Random.seed", old, envir = global)
  })
  code
}

# lapply() over tasks: run(task, common), one after the other, or through future.apply when it
# is installed and the user has set a plan other than sequential. What all tasks need (x above
# all) is in the list `common`: it travels to the workers once, by a file, however large it is
# and however small future.globals.maxSize. With a checkpoint folder a task whose value is
# there is not run again; keys name the values and `usable(value)` says whether one fits.
run_tasks <- function(tasks, run, common = list(), checkpoint = NULL, keys = NULL,
                      usable = function(value) TRUE) {
  done <- vector("list", length(tasks))
  open <- seq_along(tasks)
  if (!is.null(checkpoint)) {
    sweep_parts(checkpoint)
    done <- lapply(keys, stored_value, folder = checkpoint, usable = usable)
    open <- which(vapply(done, is.null, NA))
    if (length(open) < length(tasks)) {
      ufs_inform("resumed", length(tasks) - length(open), " of ", length(tasks),
        " reused from the checkpoint folder.")
    }
  }
  tick <- progress_ticks(length(tasks), envir = environment())
  for (i in setdiff(seq_along(tasks), open)) tick()
  jobs <- lapply(open, function(i) list(task = tasks[[i]], key = keys[[i]]))
  if (length(jobs) && uses_workers()) {
    shared <- tempfile("ufselect-", tmpdir = getOption("ufselect.shared_dir", tempdir()),
      fileext = ".rds")
    on.exit(unlink(shared))
    saveRDS(common, shared, compress = FALSE)
    # Some backends draw random numbers of their own (batchtools: for its registry).
    done[open] <- keep_seed(future.apply::future_lapply(jobs, run_job, run = run, common = shared,
      checkpoint = checkpoint, tick = tick, future.seed = NULL, future.globals = FALSE,
      future.packages = "ufselect"))
  } else {
    done[open] <- lapply(jobs, run_job, run = run, common = common, checkpoint = checkpoint,
      tick = tick)
  }
  lapply(done, `[[`, "value")
}

# One task, here or on a worker. A failed one is not stored: it is tried again next time.
run_job <- function(job, run, common, checkpoint, tick) {
  value <- run(job$task, if (is.character(common)) shared_value(common) else common)
  if (!is.null(checkpoint) && !is_failure(value)) store_value(checkpoint, job$key, value)
  tick()
  list(value = value)
}

is_failure <- function(value) {
  error <- value[["error"]]
  is.character(error) && any(nzchar(error))
}

# What a worker has read, so that it reads it once for all its tasks.
worker_memory <- new.env(parent = emptyenv())

shared_value <- function(file) {
  if (!identical(worker_memory$file, file)) {
    worker_memory$value <- NULL
    worker_memory$value <- readRDS(file)
    worker_memory$file <- file
  }
  worker_memory$value
}

uses_workers <- function() {
  requireNamespace("future.apply", quietly = TRUE) && requireNamespace("future", quietly = TRUE) &&
    !inherits(future::plan(), "sequential")
}

# A function to call after each of n steps. The progress bar lives as long as the caller's
# frame `envir`: one made for a helper's frame would end when the helper returns.
progress_ticks <- function(n, envir) {
  if (n > 1L && requireNamespace("progressr", quietly = TRUE)) {
    progressr::progressor(n, envir = envir)
  } else {
    function(...) NULL
  }
}

# ---- checkpoints -------------------------------------------------------------------------------

value_file <- function(folder, key) file.path(folder, paste0(key, ".rds"))

# A file appears under its name only when it is complete (write, then rename), so a killed
# run leaves finished tasks or nothing. The name of the part tells whose it is.
store_value <- function(folder, key, value) {
  part <- tempfile(paste0(key, "-", this_process(), "-"), tmpdir = folder, fileext = ".part")
  on.exit(unlink(part))
  saveRDS(list(key = key, value = value), part)
  if (!file.rename(part, value_file(folder, key))) {
    ufs_warn("checkpoint", "Could not write '", value_file(folder, key),
      "'; the run goes on without it.")
  }
}

# list(value = ...), or NULL if there is none that can be used. A file is data: nothing in it
# is called, and what could run code when looked at is not taken.
stored_value <- function(key, folder, usable) {
  file <- value_file(folder, key)
  if (!file.exists(file)) {
    return(NULL)
  }
  stored <- tryCatch(readRDS(file), error = function(e) NULL)
  if (!is.list(stored) || !is_plain(stored) || !identical(stored$key, key) ||
      is_failure(stored$value) || !isTRUE(usable(stored$value))) {
    ufs_warn("checkpoint", "'", basename(file),
      "' in the checkpoint folder is damaged or of another kind; it is computed again.")
    return(NULL)
  }
  stored["value"]
}

# Vectors, lists and calls, nothing that is evaluated when it is looked at.
is_plain <- function(value) {
  if (typeof(value) %in% c("environment", "promise", "closure", "externalptr", "weakref", "S4",
    "bytecode", "...")) {
    return(FALSE)
  }
  inside <- attributes(value)
  if (!is.null(inside) && !all(vapply(inside, is_plain, NA))) {
    return(FALSE)
  }
  if (typeof(value) != "list") {
    return(TRUE)
  }
  all(vapply(unclass(value), is_plain, NA))
}

this_process <- function() {
  paste0(gsub("[^A-Za-z0-9]", "", Sys.info()[["nodename"]]), "_", Sys.getpid())
}

# Parts of processes that are gone. Another computer's are left for a day.
sweep_parts <- function(folder) {
  part <- list.files(folder, "[.]part$", full.names = TRUE)
  owner <- sub("^.*-([A-Za-z0-9]*_[0-9]+)-[^-]*[.]part$", "\\1", basename(part))
  host <- sub("_[0-9]+$", "", owner)
  pid <- suppressWarnings(as.integer(sub("^.*_", "", owner)))
  here <- host == sub("_[0-9]+$", "", this_process()) & !is.na(pid)
  alive <- here
  alive[here] <- vapply(pid[here], tools::pskill, NA, signal = 0L)
  age <- as.double(difftime(Sys.time(), file.mtime(part), units = "hours"))
  unlink(part[(here & !alive) | (!here & age > 24)])
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

# A name for a value: equal values, equal keys, also in another session; another version of
# the package, another key. Functions count by their code and by the values it uses.
value_key <- function(value) {
  file <- tempfile()
  on.exit(unlink(file))
  con <- file(file, "wb")
  value <- list(utils::packageVersion("ufselect"), functions_as_code(value))
  serialize(value, con, version = 2L)
  close(con)
  unname(tools::md5sum(file))
}

functions_as_code <- function(value, seen = list()) {
  if (is.function(value)) {
    return(function_code(value, seen))
  }
  if (is.list(value)) {
    value[] <- lapply(value, functions_as_code, seen = seen)
  }
  value
}

# The code of a function and what its free variables are, up to the functions of packages.
function_code <- function(fun, seen) {
  if (is.primitive(fun) || any(vapply(seen, identical, NA, fun))) {
    return(deparse(fun))
  }
  code <- deparse(utils::removeSource(fun))
  home <- environment(fun)
  if (isNamespace(topenv(home)) && identical(topenv(home), home)) {
    return(c(environmentName(home), code))
  }
  free <- setdiff(all.names(body(fun), unique = TRUE), names(formals(fun)))
  found <- lapply(free, function(name) {
    at <- home
    while (!identical(at, emptyenv()) && !exists(name, envir = at, inherits = FALSE)) {
      at <- parent.env(at)
    }
    # What comes from an attached package is known by its name.
    if (identical(at, emptyenv()) || isNamespace(at) || identical(at, baseenv()) ||
        (!identical(at, globalenv()) && !is.null(attr(at, "path")))) {
      return(NULL)
    }
    functions_as_code(get(name, envir = at), c(seen, list(fun)))
  })
  list(code, stats::setNames(found, free))
}

# A fit with its warnings collected instead of shown, and its error instead of stopping.
quiet_fit <- function(x, method, args, seed) {
  said <- character()
  kinds <- character()
  started <- proc.time()[[3L]]
  fit <- tryCatch(
    withCallingHandlers(
      with_seed(seed, do.call(ufs, c(list(x = x, method = method), args))),
      ufs_warning = function(w) {
        said <<- c(said, conditionMessage(w))
        kinds <<- c(kinds, sub("^ufs_warning_", "", class(w)[1L]))
        invokeRestart("muffleWarning")
      },
      ufs_message = function(m) invokeRestart("muffleMessage")
    ),
    error = function(e) e
  )
  list(fit = if (inherits(fit, "ufs")) fit,
    error = if (inherits(fit, "error")) conditionMessage(fit),
    warnings = unique(said), kinds = unique(kinds), seconds = proc.time()[[3L]] - started)
}

# Checks names of methods; returns their registry rows.
method_row <- function(method, arg = "method") {
  table <- registry()
  if (!is.character(method) || length(method) != 1L || !method %in% names(table)) {
    ufs_abort("argument", "`", arg, "`: there is no method ", brief(method),
      "; see ufs_methods().",
      if (is.numeric(method)) " (Write `method =` in full beside an argument `m`.)",
      argument = arg)
  }
  table[[method]]
}
