# Every entry of the native table with wrong arguments, in child processes: none may kill R. Lists of
# arguments are recorded from real fits and from the tests of the kernels; a call changes one or two
# things in one of them (type, length, a value, an element of a list at any depth). The call at hand
# is in a file before it is made, so that one that kills its child is known, and the next child goes on
# behind it. Rscript tests/dev/ccall.R [--calls=5000] [--from=1] [--entry=name]; the n-th call is the
# same in every run, --from=n --calls=1 repeats it. --record=file.rds uses the lists of a run before.
source("tests/dev/common.R")
set <- options_of(calls = 5000, from = 1, entry = "", record = "", role = "parent", folder = "")

symbols <- getDLLRegisteredRoutines("ufselect")$.Call
here <- if (nzchar(set$folder)) set$folder else tempfile("ccall")
record <- if (nzchar(set$record)) set$record else file.path(here, "record.rds")

# ---- recording -----------------------------------------------------------------------------------

# The package's sources and the tests, with a .Call that keeps what it gets.
record_calls <- function() {
  kept <- new.env()
  calls <- new.env()
  shape <- function(a, depth = 0) {
    paste(typeof(a), if (is.list(a) && depth < 2) {
      paste(names(a), vapply(a, shape, "", depth = depth + 1), collapse = ",")
    } else {
      c(if (is.null(dim(a))) length(a) > 1 else c("m", sign(diff(dim(a)))),
        if (is.character(a) && length(a) == 1) a)
    }, collapse = " ")
  }
  spy <- function(.NAME, ...) {
    arguments <- list(...)
    entry <- sub("^C_", "", .NAME$name)
    seen <- kept[[entry]]
    calls[[entry]] <- (if (is.null(calls[[entry]])) 0 else calls[[entry]]) + 1
    # What has not come in the first thousand calls is hardly worth the look at each further one.
    if (calls[[entry]] <= 1000 && length(seen) < 25) {
      key <- paste(vapply(arguments, shape, ""), collapse = ";")
      packed <- if (!key %in% names(seen)) serialize(arguments, NULL)
      if (length(packed) > 0 && length(packed) < 3e5) assign(entry, c(seen, structure(list(packed), names = key)), kept)
    }
    .Call(.NAME, ...)
  }
  code <- new.env(parent = asNamespace("ufselect"))
  code$.Call <- spy
  files <- list.files("R", "[.]R$", full.names = TRUE)
  for (file in files) suppressWarnings(sys.source(file, code))
  set.seed(1)
  x <- clustered(14, 6)
  x[, 3] <- x[, 2]
  inputs <- list(x, t(clustered(6, 12)), cbind(clustered(9, 14), same = 1))
  sparse <- if (requireNamespace("Matrix", quietly = TRUE)) Matrix::Matrix(x * (abs(x) > 1), sparse = TRUE)
  disk <- if (requireNamespace("DelayedArray", quietly = TRUE)) DelayedArray::DelayedArray(x)
  try_fit <- function(method, x, ...) {
    arguments <- utils::modifyList(c(list(x = x, method = method), needed(method)), list(...))
    try(suppressMessages(suppressWarnings(do.call(code$ufs, arguments))), silent = TRUE)
  }
  for (method in ufs_methods()$method) {
    for (x in c(inputs, sparse, disk)) {
      for (wide in c(Inf, 0)) {
        options(ufselect.copy_bytes = wide)
        try_fit(method, x, control = list(max_iter = 5))
        if (!is.matrix(x)) break
      }
    }
    for (solver in eval(formals(registry()[[method]]$fit)$solver)) {
      try_fit(method, inputs[[1]], solver = solver, control = list(max_iter = 3))
    }
  }
  try(suppressWarnings(code$ufs_represent(inputs[[1]])), silent = TRUE)
  links <- `diag<-`(abs(stats::cor(t(inputs[[1]]))), 0)
  try(suppressWarnings(code$ufs_laplacian(inputs[[1]], graph = links)), silent = TRUE)
  entry <- function(name) getFromNamespace(paste0("C_", name), "ufselect")
  spy(entry("test_gemm"), matrix(1:6 / 2, 2), matrix(1:6 / 2, 3), diag(2))
  spy(entry("test_eigs"), crossprod(matrix(stats::rnorm(8100), 90)), 1L, 1L, 1e-8, 1L)
  tests <- file.path("tests/testthat", c(list.files("tests/testthat", "^test-(native|kernel)"),
    paste0("test-", c("method-blfse", "method-propagate", "method-css", "data-source-sparse", "operator"), ".R")))
  stopifnot(file.exists(tests))
  Sys.setenv(NOT_CRAN = "false")
  for (file in normalizePath(tests)) {
    # Two minutes are enough on any machine: the files that matter most come first.
    if (proc.time()[[1L]] > 120) break
    # Failures are the business of the tests.
    try(suppressWarnings(testthat::test_file(file, env = new.env(parent = code), package = "ufselect",
      load_package = "none", reporter = "silent", stop_on_failure = FALSE)), silent = TRUE)
  }
  as.list(kept)
}

# ---- wrong arguments -----------------------------------------------------------------------------

pick <- function(x) x[[sample.int(length(x), 1L)]]

wrong_values <- list(NULL, NA, NA_integer_, NA_real_, NaN, Inf, -Inf, -1L, -1, 0L, 0, 1L, 2, 0.5, 1e308,
  1e-310, .Machine$integer.max, -.Machine$integer.max, 2^31, 1e9, "a", "", character(), NA_character_,
  TRUE, logical(), integer(), numeric(), list(), list(1), quote(x), as.raw(1), 1i, sum, globalenv(),
  matrix(0, 0, 0), matrix(0, 0, 3), matrix(1:4, 2), matrix(c(1, NA, 3, 4), 2), factor("a"),
  rep(NA_integer_, 30), numeric(30), c(1L, NA, 2L), structure(list(), names = character()))

# Another value of the same kind: what hand-edited arguments look like.
bent <- function(a) {
  n <- length(a)
  at <- if (n) sample.int(n, 1L)
  ways <- list(
    function() a[-at], function() c(a, a[at]), function() a[0L], function() rep(a, 2L),
    function() if (is.integer(a)) `storage.mode<-`(a, "double") else `storage.mode<-`(a, "integer"),
    function() `storage.mode<-`(a, "character"), function() `attributes<-`(a, NULL),
    function() as.list(a),
    function() replace(a, at, NA), function() replace(a, at, -1L), function() replace(a, at, 0L),
    function() replace(a, at, .Machine$integer.max), function() replace(a, at, a[at] + 1L),
    function() replace(a, at, -a[at]), function() replace(a, seq_along(a), a[at]),
    function() rev(a), function() replace(a, at, 1000L))
  if (is.double(a)) {
    ways <- c(ways, lapply(c(NaN, Inf, -Inf, 1e308, 1e-310, 0.5), function(v) {
      function() replace(a, at, v)
    }))
  }
  if (is.matrix(a)) {
    ways <- c(ways, function() t(a), function() a[-1L, , drop = FALSE], function() a[, -1L, drop = FALSE],
      function() cbind(a, a), function() rbind(a, a), function() a[0L, , drop = FALSE],
      function() a[, 0L, drop = FALSE], function() array(a, c(dim(a), 1L)))
  }
  tryCatch(suppressWarnings(pick(ways)()), error = function(e) pick(wrong_values))
}

mutated <- function(a) {
  if (is.list(a) && length(a) && stats::runif(1) < 0.85) {
    at <- sample.int(length(a), 1L)
    u <- stats::runif(1)
    if (u < 0.1) a[[at]] <- NULL else if (u < 0.15) names(a)[at] <- "other" else {
      # Not [[<-, which would remove it.
      a[at] <- list(mutated(a[[at]]))
    }
    return(a)
  }
  if (is.atomic(a) && length(a) && stats::runif(1) < 0.6) bent(a) else pick(wrong_values)
}

call_of <- function(number, lists) {
  set.seed(number)
  entry <- if (nzchar(set$entry)) set$entry else names(symbols)[(number - 1) %% length(symbols) + 1]
  known <- lists[[sub("^C_", "", entry)]]
  arity <- symbols[[entry]]$numParameters
  arguments <- if (is.null(known)) replicate(arity, pick(wrong_values), simplify = FALSE) else
    unserialize(pick(known))
  for (time in seq_len(1 + (stats::runif(1) < 0.25))) {
    if (!arity) break
    at <- sample.int(arity, 1L)
    arguments[at] <- list(mutated(arguments[[at]]))
  }
  list(entry = entry, arguments = arguments)
}

# ---- the processes -------------------------------------------------------------------------------

if (set$role == "record") {
  saveRDS(record_calls(), record)
  cat("recorded in", round(proc.time()[[1L]]), "CPU seconds\n")
  quit(save = "no")
}

if (set$role == "child") {
  lists <- readRDS(record)
  for (package in c("Matrix", "DelayedArray")) requireNamespace(package, quietly = TRUE)
  count <- c(ok = 0, error = 0)
  for (number in seq(set$from, length.out = set$calls)) {
    this <- call_of(number, lists)
    cat(number, this$entry, "\n", file = file.path(here, "at"))
    how <- tryCatch({
      setTimeLimit(elapsed = 20, transient = TRUE)
      do.call(.Call, c(list(symbols[[this$entry]]), this$arguments), quote = TRUE)
      "ok"
    }, error = function(e) "error")
    setTimeLimit()
    cat(how, "\n", file = file.path(here, "how"), append = TRUE)
  }
  cat("done\n", file = file.path(here, "at"))
  quit(save = "no")
}

rscript <- file.path(R.home("bin"), "Rscript")
limits <- c(record = 3600, child = 600)
child <- function(role, ...) {
  args <- c("tests/dev/ccall.R", paste0("--role=", role), paste0("--folder=", here),
    paste0("--record=", record), if (nzchar(set$entry)) paste0("--entry=", set$entry), ...)
  # A huge size that is asked for must be refused, not fill the machine.
  limit <- if (.Platform$OS.type == "unix" && !nzchar(Sys.getenv("LD_PRELOAD"))) "ulimit -v 6000000; "
  if (is.null(limit)) return(system2(rscript, args, stdout = FALSE, stderr = file.path(here, "err"), timeout = limits[[role]]))
  system(paste0(limit, "exec ", paste(shQuote(c(rscript, args)), collapse = " "), " >", here, "/out 2>", here,
    "/err"), timeout = limits[[role]])
}

dir.create(here, showWarnings = FALSE)
if (!file.exists(record)) child("record")
if (!file.exists(record)) stop("Nothing was recorded: ", paste(readLines(file.path(here, "err")), collapse = "\n"))
lists <- readRDS(record)
missing <- setdiff(sub("^C_", "", names(symbols)), names(lists))
cat(sum(lengths(lists)), "lists of arguments for", length(lists), "of", length(symbols), "entries",
  if (length(missing)) paste("; none for", paste(missing, collapse = ", ")), "\n")
number <- set$from
last <- set$from + set$calls - 1
killed <- character()
at_file <- file.path(here, "at")
while (number <= last) {
  cat(number, "\n", file = at_file)
  left <- min(100, last - number + 1)
  status <- suppressWarnings(child("child", paste0("--from=", number), paste0("--calls=", left)))
  at <- readLines(at_file)
  if (identical(trimws(at), "done")) {
    number <- number + left
    next
  }
  reached <- as.numeric(sub(" .*", "", at))
  # Out of time on a busy machine, not in one call: another child goes on with it.
  if (status == 124 && difftime(Sys.time(), file.mtime(at_file), units = "secs") < 100 && reached > number) {
    number <- reached
    next
  }
  why <- grep("caught|AddressSanitizer|runtime error|corrupt|free\\(\\)", readLines(file.path(here, "err")),
    value = TRUE)
  cat("  killed by call", at, if (status == 124) "(out of time)", substr(why[1], 1, 160), "\n")
  killed <- c(killed, sub("^[0-9]+ ", "", at))
  number <- reached + 1
}
if (length(killed)) print(sort(table(killed), decreasing = TRUE))
how <- if (file.exists(file.path(here, "how"))) readLines(file.path(here, "how")) else character()
cat("refused", sum(grepl("error", how)), "answered", sum(grepl("ok", how)), "\n")
finish("ccall", set$calls, length(killed))
