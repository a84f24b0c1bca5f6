# Many fits: seeds, workers, progress. Used by grid, compare, stability, consensus.

# lapply() over tasks: work(task, common), one after the other, or on workers where the user
# has set a plan of package future other than sequential. What all tasks need (x above
# all) is in the list `common`: it travels to the workers once, by a file, however large it is
# and however small future.globals.maxSize. `run` is start_run()'s: with a checkpoint folder a task
# whose value is there is not run again; keys name the values and `usable(value)` says whether one
# fits. list(values, report): what print says about the folder.
run_tasks <- function(tasks, work, common = list(), run = NULL,
                      keys = task_keys(run, tasks, common), usable = function(value) TRUE) {
  done <- vector("list", length(tasks))
  open <- seq_along(tasks)
  report <- if (!is.null(run$folder)) {
    sweep_parts(run$folder)
    found <- lapply(keys, stored_value, folder = run$folder, usable = usable)
    there <- !vapply(found, function(part) is.null(part$value), NA)
    done[there] <- found[there]
    open <- which(!there)
    checkpoint_report(run, keys, open, vapply(found, `[[`, NA, "damaged"))
  }
  ticked <- 0L
  left <- function(...) paste0(ticked, " of ", count_words(length(tasks), "fit"), " done")
  # The fits inside find a watch that is set, and leave it.
  # The kind of a run may say more than the name of the function.
  watch_over(if (is.null(run$kind)) "ufselect" else paste0("ufs_", sub("-.*", "", run$kind), "()"))
  watch_says(left)
  # The progress bar lasts as long as this frame.
  show <- if (length(tasks) > 1L && isNamespaceLoaded("progressr")) {
    progressr::progressor(length(tasks), envir = environment())
  } else function(...) NULL
  tick <- function() {
    show()
    ticked <<- ticked + 1L
    watch_says(left)
  }
  for (i in setdiff(seq_along(tasks), open)) tick()
  jobs <- lapply(open, function(i) list(task = tasks[[i]], key = if (!is.null(report)) keys[[i]]))
  problem <- NULL
  # Said once a run, however often it happens: each task tries, so that what can be kept is kept.
  note <- function(why) {
    if (is.null(problem) && length(why)) {
      problem <<- why[1L]
      ufs_warn("checkpoint", "Finished work cannot be written to the checkpoint folder '",
        run$folder, "' (", problem, "). The run goes on without it and its result is complete.")
    }
  }
  note(run$problem)
  workers <- if (length(jobs)) workers_for(tasks, common) else 0
  here <- 0L
  started <- proc.time()[[3L]]
  while (here < length(jobs) &&
    !workers_pay(workers, here, length(jobs), proc.time()[[3L]] - started)) {
    here <- here + 1L
    value <- run_job(jobs[[here]], work, common, run$folder, tick)
    note(value$problem)
    done[[open[here]]] <- value
  }
  rest <- which(seq_along(jobs) > here)
  if (length(rest)) {
    found <- send_to_workers(jobs[rest], work, common, run$folder, show)
    done[open[rest]] <- found
    note(unlist(lapply(found, `[[`, "problem")))
  }
  if (!is.null(report)) report$problem <- problem
  list(values = lapply(done, `[[`, "value"), report = report)
}

# One task, here or on a worker. A failed one is not stored: it is tried again next time.
run_job <- function(job, work, common, folder, tick) {
  value <- if (is.character(common)) work(job$task, shared_value(common)) else
    work(job$task, common)
  problem <- if (!is.null(folder) && !is_failure(value)) store_value(folder, job$key, value)
  tick()
  list(value = value, problem = problem)
}

# The values of run_job() for all jobs, done by workers. The data go to them by a file.
send_to_workers <- function(jobs, work, common, folder, tick) {
  shared <- tempfile("ufselect-", tmpdir = getOption("ufselect.shared_dir", tempdir()),
    fileext = ".rds")
  on.exit(unlink(shared))
  own <- Filter(stands_alone, own_methods())
  saveRDS(c(common, list(own_methods = own)), shared, compress = FALSE)
  # Users' methods find there what is attached here.
  with <- list_of(work, common = shared, folder, tick, packages = c("ufselect",
    if (length(own)) rev(.packages())))
  # Some backends draw random numbers of their own (batchtools: for its registry).
  keep_seed(with_one_thread(with_libraries(run_on_workers(jobs, with))))
}

# The jobs in three parts for each worker, so that one that is done takes what another has not
# begun; a scheduler gets one part for each. A part whose worker died, or whose job somebody
# cancelled, is done again, at most twice; all others keep what they have. `with`: the other
# arguments of run_job().
run_on_workers <- function(jobs, with) {
  done <- vector("list", length(jobs))
  open <- seq_along(jobs)
  for (again in 0:2) {
    count <- min(length(open), future::nbrOfWorkers() * if (is.finite(count_workers())) 3 else 1)
    # In turn: neighbours among the tasks often take the same time.
    parts <- unname(split(open, rep_len(seq_len(count), length(open))))
    # Not even begun where the connection to a worker is gone.
    futures <- lapply(parts, function(part) tryCatch({
      future::future(lapply(jobs, run_job, work = with$work, common = with$common,
        folder = with$folder, tick = with$tick), substitute = TRUE, seed = NULL,
        packages = with$packages, globals = list(jobs = jobs[part], with = with, run_job = run_job))
    }, FutureError = identity))
    lost <- NULL
    for (i in seq_along(parts)) {
      found <- futures[[i]]
      if (inherits(found, "Future")) found <- tryCatch(future::value(found), FutureError = identity)
      if (inherits(found, "error")) lost <- found else done[parts[[i]]] <- found
    }
    open <- which(vapply(done, is.null, NA))
    if (!length(open)) return(done)
    if (again == 2L) stop(lost)
    ufs_warn("workers", "A worker was lost with ", count_words(length(open), "fit"), " (",
      conditionMessage(lost), "). They are done again.")
    # A session that was lost stays lost: where one of those of the plan does not answer, all are
    # started anew.
    asked <- lapply(seq_len(min(64L, future::nbrOfWorkers())), function(i) {
      tryCatch(future::future(NULL, seed = NULL), FutureError = identity)
    })
    answers <- vapply(asked, function(one) {
      inherits(one, "Future") && is.null(tryCatch(future::value(one), FutureError = identity))
    }, NA)
    if (!all(answers)) {
      plan <- future::plan("list")
      future::plan("sequential")
      future::plan(plan)
    }
  }
}

# Data that a worker has read, so that it reads them once for all its tasks.
worker_memory <- new.env(parent = emptyenv())

shared_value <- function(file) {
  # A name may come back with other data in it.
  known <- c(file, file.info(file, extra_cols = FALSE)[c("size", "mtime")])
  if (!identical(worker_memory$known, known)) {
    # Data read before go first.
    worker_memory$value <- worker_memory$known <- NULL
    # Tasks on another machine see the file only in a folder that both have.
    worker_memory$value <- on_error(suppressWarnings(readRDS(file)), function(e) {
      ufs_abort("input", "A worker cannot read '", file, "', which holds the data (",
        conditionMessage(e), "). Where workers run on other machines, name a folder that all of ",
        "them share: options(ufselect.shared_dir = ).")
    })
    worker_memory$known <- known
    for (own in worker_memory$value$own_methods) enrol(own)
  }
  worker_memory$value
}

# Methods by their names, for functions that take users' functions in the place of names:
# list(names, own), where `own` are the names of those that are registered for the call alone.
# `written`: the argument as it was written, which says what a function is called.
named_methods <- function(value, written) {
  if (is.function(value)) {
    value <- list(value)
    written <- call("list", written)
  }
  if (!is.list(value)) return(list(names = value, own = character()))
  labels <- names_of(value)
  written <- if (is.call(written)) as.list(written)[-1L]
  own <- character()
  for (i in which(vapply(value, is.function, NA))) {
    known <- names(Filter(function(row) identical(row$fit, value[[i]]), registry()))
    if (!length(known)) {
      said <- if (length(written) == length(value) && is.name(written[[i]])) {
        as.character(written[[i]])
      }
      other <- make.unique(c(own, "own"))[length(own) + 1L]
      known <- c(if (nzchar(labels[i])) labels[i], said, other)[1L]
      # A method that the user registered before stays.
      there <- known %in% ls(registered)
      ufs_register(known, value[[i]])
      if (!there) {
        own <- c(own, known)
        enrol(c(registered[[known]]$own, passing = TRUE))
      }
    }
    value[[i]] <- known
  }
  names <- vapply(value, function(one) if (is.character(one)) one[1L] else NA_character_, "")
  list(names = stats::setNames(names, if (any(nzchar(labels))) labels), own = own)
}

# Methods of users that need what only this session has stay in it.
workers_for <- function(tasks, common) {
  workers <- count_workers()
  own <- if (workers > 0) own_code(list(tasks, common[setdiff(names(common), "x")]))
  here <- names(own)[!vapply(own, stands_alone, NA)]
  if (!length(here)) return(workers)
  ufs_inform("workers", "Fits run in this session, for \"", here[1L], "\" cannot leave it: ",
    "workers take methods that ufs_register() knows, and that use nothing outside of them.")
  0
}

# How many sessions on this computer the user's plan of package future has: 0 without a plan, Inf
# where a scheduler or another machine does the work, which gets all of it.
count_workers <- function() {
  # A plan is set by package future, or wanted of it from its first use on.
  if (!isNamespaceLoaded("future") && is.null(getOption("future.plan")) &&
      !nzchar(Sys.getenv("R_FUTURE_PLAN"))) return(0)
  plan <- future::plan()
  if (inherits(plan, "sequential")) 0 else
    if (inherits(plan, "multiprocess")) future::nbrOfWorkers() else Inf
}

# Is the rest of `all` tasks, of which `here` took `seconds` in this session, for the workers? They
# pay where more work is left than bringing them the data costs (evidence/decisions.md). Few tasks
# go to them at once: the first of them alone would be a large part of the whole.
workers_pay <- function(workers, here, all, seconds) {
  if (workers == 0) return(FALSE)
  all < 3 * workers || (here > 0L && seconds > 0.2 && seconds / here * (all - here) > 1)
}

# Data that were made for one fit, of which no more than a ranking is wanted: a method that reads
# them once may write over them.
for_ranking <- function(x, method, args) {
  x$spare <- method_row(method)$spends && is.null(x$held) && is.null(x$row_held) &&
    !identical(args$k, "auto")
  x
}

# The best k columns by a method that is told k, or NULL where it fails. Where nothing constrains
# the choice no fit is made around what was solved.
chosen_quickly <- function(x, method, args, seed) {
  row <- method_row(method)
  x <- for_ranking(x, method, args)
  if (!x$spare || any(names(args) %in% names(row$paper))) {
    run <- quiet_fit(x, method, args, seed)
    return(if (is.null(run$error)) suppressMessages(selected_features(run$fit, as = "index")))
  }
  on_error(suppressMessages(suppressWarnings(with_seed(seed, {
    others <- formals(row$fit)
    others <- lapply(others[setdiff(names(others), c("x", "...", names(args)))], eval)
    made <- solve_fit(row, check_values(c(list(x = x), args, others), row), names(args))
    wide <- function(value) expand_features(as.double(value), made$data, NA_real_)
    score <- replace(wide(made$feature_scores), made$data$constant, NA_real_)
    ufs_rank(score, if (!is.null(made$feature_key)) wide(made$feature_key))[seq_len(made$params$k)]
  }))), function(e) NULL)
}

# A fit with its warnings collected instead of shown, and its error instead of stopping.
quiet_fit <- function(x, method, args, seed) {
  args <- paper_in_control(args, method_row(method))
  said <- kinds <- character()
  started <- proc.time()[[3L]]
  fit <- on_error(withCallingHandlers(
    with_seed(seed, do.call(ufs, c(list(x = x, method = method), args), quote = TRUE)),
    ufs_warning = function(w) {
      said <<- c(said, conditionMessage(w))
      kinds <<- c(kinds, sub("^ufs_warning_", "", class(w)[1L]))
      invokeRestart("muffleWarning")
    },
    ufs_message = function(m) invokeRestart("muffleMessage")
  ), identity)
  list(fit = if (inherits(fit, "ufs")) fit,
    error = if (inherits(fit, "error")) conditionMessage(fit),
    warnings = unique(said), kinds = unique(kinds), seconds = proc.time()[[3L]] - started)
}

print_failed <- function(errors, indent, what) {
  if (length(errors)) {
    cat_line(indent, count_words(length(errors), what), " failed, first: ", errors[[1L]])
  }
}

# Several methods, each once: list(rows, own), their registry rows and all arguments that they have.
# `dots` may hold these and those of ufs_data().
method_rows <- function(method, dots) {
  if (anyDuplicated(method)) {
    refuse("method", "`method` has '", method[duplicated(method)][1L], "' twice.")
  }
  rows <- lapply(method, method_row)
  own <- unique(unlist(lapply(rows, function(row) row$arguments)))
  unknown <- setdiff(names_of(dots), c(own, input_arguments()))[1L]
  if (!is.na(unknown)) {
    one <- length(method) == 1L
    refuse(if (nzchar(unknown)) unknown else "...",
      if (one) paste0("ufs_", method, "() has no") else "None of the methods has an",
      " argument `", unknown, "`", if (one) paste0("; it has ", paste(own, collapse = ", ")), ".",
      is_it(unknown, c(own, arguments_above())))
  }
  # How many to choose may come from the caller.
  for (row in rows) {
    left <- setdiff(intersect(row$arguments, required_arguments(row$fit)),
      c("k", "m", names_of(dots)))
    if (length(left)) refuse_missing(left[1L])
  }
  list_of(rows, own)
}

# Sessions that are started in the meantime run BLAS with one thread each, unless the user says
# otherwise: side by side they would wait for each other.
with_one_thread <- function(expr) {
  if (any(nzchar(Sys.getenv(thread_names)))) return(expr)
  on.exit(Sys.unsetenv(thread_names[1:2]))
  Sys.setenv(OPENBLAS_NUM_THREADS = "1", OMP_NUM_THREADS = "1")
  expr
}
