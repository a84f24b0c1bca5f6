# Classed conditions: every error and warning of the package goes through here.

# Labels of the C status enum (src/ufs.h), in its order.
status_labels <- c("converged", "max_iter", "stalled", "diverged", "numerical")

new_condition <- function(kind, class, ..., fields = list()) {
  structure(c(list(message = paste0(...), call = NULL), fields),
    class = c(paste0("ufs_", kind, "_", class), paste0("ufs_", kind), kind, "condition"))
}

ufs_abort <- function(class, ..., argument = NULL) {
  stop(new_condition("error", class, ..., fields = list(argument = argument)))
}

# Something is wrong with an argument, or with the data that it holds.
refuse <- function(arg, ...) ufs_abort("argument", ..., argument = arg)
refuse_data <- function(arg, ...) ufs_abort("input", ..., argument = arg)

# The values of `x`, or what is made of them, are too large or too small for double precision.
refuse_range <- function(what) {
  refuse_data("x", what, " overflow or underflow. Rescale `x`, e.g. with scale = TRUE.")
}

ufs_warn <- function(class, ..., data = list()) {
  warning(new_condition("warning", class, ..., fields = data))
}

ufs_inform <- function(class, ...) message(new_condition("message", class, ..., "\n"))

# Warns if a fit did not converge. Its status says so, too: control$warn = FALSE loses nothing.
warn_status <- function(fit, advice = NULL) {
  if (identical(fit$status, "converged") || !isTRUE(fit$control$warn)) return(invisible())
  what <- switch(fit$status,
    max_iter = paste("did not converge in", fit$iterations,
      "iterations; raise max_iter or tol in ufs_control()"),
    stalled = "made no further progress before reaching its tolerance",
    diverged = "diverged: the objective is not finite",
    numerical = "met a numerical problem; do not trust the ranking"
  )
  ufs_warn(fit$status, "ufs_", fit$method, "() ", what, ".",
    if (!is.null(advice)) paste0(" ", advice))
}

# Returns what C returned, unless LAPACK failed: then there is no answer to return.
check_solved <- function(found, method) {
  info <- if (is.null(found$run)) found$lapack else found$run$lapack
  if (info != 0L) {
    ufs_abort("lapack", "ufs_", method, "(): a LAPACK routine failed (info = ", info,
      "). Please check the scale of the columns of `x`.")
  }
  found
}

# Evaluates code; an error of it goes to handle(e). What is no error of the code ends all around it,
# too: a time limit (setTimeLimit()), which R forgets once it has been reached, and memory or stack
# that R does not get. Interrupts are no errors to R. All that catches errors is written with this.
on_error <- function(code, handle) {
  tryCatch(code, error = function(e) if (ends_all(e)) stop(e) else handle(e))
}

# The value of a user, or what a function of theirs makes of the names.
made_of_names <- function(value, names, arg) {
  if (!is.function(value)) return(value)
  on_error(value(names), function(e) {
    refuse(arg, "`", arg, "`, a function, stopped when given the names: ", conditionMessage(e))
  })
}

# R gives these errors no class before 4.2, and words in the language of the session.
ends_all <- function(e) {
  if (inherits(e, "ufs_error")) return(FALSE)
  if (inherits(e, c("stackOverflowError", "TimeoutException"))) return(TRUE)
  words <- gettext("reached elapsed time limit", "reached CPU time limit",
    "reached session elapsed time limit", "reached session CPU time limit",
    "cannot allocate vector of size %0.1f Gb", "cannot allocate vector of size %0.1f Mb",
    "cannot allocate vector of size %0.f Kb", "cannot allocate memory block of size %0.f Tb",
    "vector memory exhausted (limit reached?)", "cons memory exhausted (limit reached?)",
    "memory exhausted (limit reached?)", domain = "R")
  # "vector memory limit of ... reached" is that of R 4.4 and later.
  any(startsWith(conditionMessage(e), c(sub("%.*", "", words), "vector memory limit of ")))
}

# How much memory one object may take.
max_bytes <- function() {
  limit <- getOption("ufselect.max_bytes", 8 * 1024^3)
  if (!is.numeric(limit) || length(limit) != 1L || is.na(limit)) {
    refuse("ufselect.max_bytes", "The option `ufselect.max_bytes` must be one number, not ",
      deparse_short(limit), ".")
  }
  limit
}

# Stops before a hopeless allocation, with the number and the way out.
check_bytes <- function(bytes, what, advice) {
  limit <- max_bytes()
  if (bytes > limit) {
    ufs_abort("memory", what, " would need ", format_bytes(bytes), ", more than the limit of ",
      format_bytes(limit), ". ", advice, " The limit is getOption(\"ufselect.max_bytes\").")
  }
}

format_bytes <- function(bytes) {
  format(structure(bytes, class = "object_size"), units = "auto", standard = "IEC")
}

# For code that uses a suggested package.
check_installed <- function(package, reason) {
  if (!requireNamespace(package, quietly = TRUE)) {
    ufs_abort("package", "The package '", package, "' is needed ", reason, ". Install it with ",
      "install.packages(\"", package, "\").", argument = package)
  }
}

said_once <- new.env(parent = emptyenv())

inform_once <- function(class, ...) {
  if (!isTRUE(said_once[[class]])) {
    said_once[[class]] <- TRUE
    ufs_inform(class, ..., "(Said once in a session.)")
  }
}

without_constant <- function(code) {
  withCallingHandlers(code, ufs_warning_constant = function(w) invokeRestart("muffleWarning"))
}

# For functions that need rows.
refuse_moments <- function(arg) {
  refuse_data(arg, "`", arg, "` is a result of ufs_moments(), which holds no rows, and this ",
    "needs rows. Give it a sample of them, see ufs_sketch(), or choose a method to which moments ",
    "are enough: column `moments` of ufs_methods().")
}

# ---- long runs ----------------------------------------------------------------------------------

# Nothing is silent for long where somebody waits: in an interactive session, or where progressr
# reports to the whole session, or with options(ufselect.progress = TRUE), a run that takes more
# than three seconds says once what it does and how far it is. The outermost run sets the function
# in option "ufselect.watch"; solvers and the search for neighbours call it with the number of their
# step (ffi_watch() in C), R code by watch_says() with words. It goes with the frame `env`, which is
# settled before it is there: an interrupt may come at any moment.
# `long`: what comes now will take seconds, and cannot say anything before it ends.
watch_over <- function(name, after = getOption("ufselect.watch_after", 3), env = parent.frame()) {
  somebody_waits <- function() interactive() || (isNamespaceLoaded("progressr") &&
    isTRUE(on_error(progressr::handlers(global = NA), function(e) FALSE)))
  if (!is.null(getOption("ufselect.watch")) ||
      !isTRUE(getOption("ufselect.progress", somebody_waits()))) {
    return(invisible())
  }
  do.call(on.exit, list(quote(options(ufselect.watch = NULL)), add = TRUE), envir = env)
  begin <- proc.time()[[3L]]
  told <- foretold <- FALSE
  stage <- function(step) if (step > 0) count_words(step, "step") else "it has begun"
  at <- 0L
  options(ufselect.watch = function(step = at, ..., words = NULL, long = FALSE) {
    if (!is.null(words)) stage <<- words
    # Products with x know no step.
    if (step >= 0) at <<- step else step <- at
    spent <- proc.time()[[3L]] - begin
    if (told || (spent < after && !long)) return(invisible())
    told <<- TRUE
    # Not of class "ufs_message", which runs of many fits muffle.
    message(structure(class = c("ufs_progress", "message", "condition"), list(
      message = paste0(name, " is at work, ", round(spent), " seconds so far: ", stage(step),
        ".\n"), call = NULL)))
  })
}

# Sets the text shown for the current stage, a function of the number of the step.
watch_says <- function(words, long = FALSE) {
  watch <- getOption("ufselect.watch")
  if (is.function(watch)) watch(words = words, long = long)
}

# That many operations take some three seconds.
are_long <- function(flops) flops > 3e10

watch_components <- function(x) {
  size <- as.double(dim(x))
  watch_says(function(step) "computing principal components",
    is.matrix(x) && are_long(prod(size) * min(size)))
}

# x %*% y, some rows after the other, between which an interrupt is heard.
product_by_rows <- function(x, y, words) {
  out <- matrix(0, nrow(x), ncol(y), dimnames = list(rownames(x), colnames(y)))
  for (at in in_pieces(nrow(x), max(1, floor(1e9 / (as.double(nrow(y)) * ncol(y)))))) {
    watch_says(function(step) paste(at[1L] - 1L, "of", count_words(nrow(x), "row"), words))
    out[at, ] <- x[at, , drop = FALSE] %*% y
  }
  out
}
