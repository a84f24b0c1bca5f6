# Shared by the scripts of this folder, which source it from beside themselves.

local({
  here <- Filter(nzchar, vapply(sys.frames(), function(frame) {
    if (is.character(frame$ofile)) dirname(frame$ofile) else ""
  }, ""))
  for (file in c("provenance.R", "simulate.R")) sys.source(file.path(here[length(here)], file), globalenv())
})

# CPU seconds (user + system), so that other work on the machine does not count.
cpu <- function(code) {
  used <- system.time(code, gcFirst = FALSE)
  unname(used[["user.self"]] + used[["sys.self"]])
}

say <- function(...) cat(sprintf(...))

# --name=value on the command line.
option <- function(name, default = NULL) {
  given <- grep(paste0("^--", name, "="), commandArgs(TRUE), value = TRUE)
  if (length(given)) sub("^--[a-z]+=", "", utils::tail(given, 1L)) else default
}
# A table, compressed if the name of the file ends so.
write_table <- function(table, file) {
  to <- if (grepl("[.]gz$", file)) gzfile(file, "w") else file(file, "w")
  on.exit(close(to))
  utils::write.csv(table, to, row.names = FALSE)
}
words <- function(text, by = ",") strsplit(text, by, fixed = TRUE)[[1L]]

# A real set: <folder>/<set>.rds holds list(x, y).
read_set <- function(folder, set) {
  data <- readRDS(file.path(folder, paste0(set, ".rds")))
  list(x = as.matrix(data$x), y = droplevels(factor(data$y)))
}

# The sets in order of what they cost when cut to `most` rows and columns: an interruption loses little.
by_cost <- function(folders, most) {
  cells <- vapply(names(folders), function(set) {
    prod(pmin(dim(readRDS(file.path(folders[[set]], paste0(set, ".rds")))$x), most))
  }, 0)
  names(folders)[order(cells)]
}

# A data set of a package, of whose unpacked sources --packages=FOLDER names the folder where it is not installed; NULL
# where there is neither.
from_package <- function(package, name) {
  place <- new.env()
  unpacked <- file.path(option("packages", ""), package, "data", paste0(name, c(".rda", ".RData")))
  unpacked <- unpacked[file.exists(unpacked)]
  if (length(unpacked)) load(unpacked[1L], place) else {
    if (!requireNamespace(package, quietly = TRUE)) return(NULL)
    suppressWarnings(utils::data(list = name, package = package, envir = place))
  }
  place[[name]]
}

silently <- function(code) suppressWarnings(suppressMessages(code))

# Arguments of ufs_alfs(), of which the penalty on the weights, lambda_rel, is a setting of the published method.
alfs_settings <- function(given, ...) {
  paper <- given[names(given) == "lambda_rel"]
  c(given[names(given) != "lambda_rel"], list(control = ufselect::ufs_control(..., paper = paper)))
}

# The numbers of features shown: 20 and 50, or 10 and 30 % of few.
two_k <- function(p) if (p < 100L) unique(pmax(2L, round(c(.1, .3) * p))) else c(20L, 50L)

# ---- timings of all methods: speed.R, peers.R, scale.R -------------------------------------

# Five Gaussian clusters seen in 5 % of the columns (five at least), columns standardised or not.
clustered <- function(n, p, standardised = TRUE) {
  set.seed(1)
  informative <- max(5L, p %/% 20L)
  centre <- matrix(rnorm(5L * informative, sd = 2), 5L)
  x <- matrix(rnorm(n * p), n)
  x[, seq_len(informative)] <- x[, seq_len(informative)] + centre[rep_len(1:5, n), ]
  dimnames(x) <- list(NULL, paste0("f", seq_len(p)))
  if (standardised) scale(x)[, ] else x
}

# All methods but random choice, or those of --methods.
wanted_methods <- function() {
  words(option("methods", paste(setdiff(ufselect::ufs_methods()$method, "random"), collapse = ",")))
}

# What a method cannot do without.
needed <- function(method) {
  wanted <- formals(get(paste0("ufs_", method), asNamespace("ufselect")))
  wanted <- names(wanted)[vapply(wanted, function(a) is.name(a) && !nzchar(a), NA)]
  out <- list(n_clusters = 5L, n_components = 5L, k = 20L, m = 20L)
  out <- out[intersect(names(out), c(wanted, ufselect:::registry()[[method]]$per_k))]
  if (method == "topk") out$n_clusters <- 5L
  out
}

fit_once <- function(method, x, ...) {
  set.seed(1)
  suppressMessages(suppressWarnings(do.call(ufselect::ufs,
    c(list(x = x, method = method), needed(method), list(...)))))
}

# CPU seconds of one call, repeated until they add up to `enough`. A first call of less than a second is
# not counted: it pays for code and memory that are used for the first time.
cpu_of_one <- function(f, enough = .2) {
  used <- cpu(f())
  if (used >= 1) return(used)
  used <- 0
  n <- 0L
  while (used < enough && n < 20000L) {
    used <- used + cpu(f())
    n <- n + 1L
  }
  used / n
}

# The script starts itself once for every line of `jobs` (a data frame of options), so that one job
# neither pays for another's memory nor ends it, and binds the lines that they print with
# print_row(). A job may use `seconds` of CPU time; what it did not finish is missing from its line.
run_jobs <- function(jobs, seconds, env = character()) {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
  rows <- lapply(seq_len(nrow(jobs)), function(i) {
    given <- paste0("--", names(jobs), "=", vapply(jobs[i, ], as.character, ""))
    # Compiled code that looks for no interrupt goes on beyond its CPU time: ended from outside.
    run <- paste(c(shQuote(c(file.path(R.home("bin"), "Rscript"), normalizePath(script), given)),
      paste0("--seconds=", seconds)), collapse = " ")
    out <- suppressWarnings(system2("sh", c("-c", shQuote(sprintf("ulimit -t %.0f; exec %s", seconds + 60, run))),
      stdout = TRUE, stderr = FALSE, env = env))
    found <- sub("^row: ", "", grep("^row: ", out, value = TRUE))
    say("%s\n", if (length(found)) found else paste(c(given, "no result"), collapse = " "))
    if (length(found)) read.csv(text = found, header = FALSE) else NULL
  })
  do.call(rbind, rows)
}

print_row <- function(...) {
  cat("row: ")
  utils::write.table(data.frame(...), sep = ",", col.names = FALSE, row.names = FALSE,
    qmethod = "double")
}

# The code's value, or NULL when it fails or uses more than `seconds` of CPU time.
within_time <- function(code, seconds) {
  on.exit(setTimeLimit())
  setTimeLimit(cpu = seconds, transient = TRUE)
  tryCatch(code, error = function(e) NULL)
}

# The BLAS that R runs on; another than these two by the name of its file.
blas_name <- function() {
  file <- extSoftVersion()[["BLAS"]]
  if (grepl("openblas", file, ignore.case = TRUE)) return("OpenBLAS")
  if (grepl("/blas/libblas|Rblas", file)) "reference" else basename(file)
}

# --libraries=NAME=FOLDER,NAME=FOLDER: versions of the package side by side, named by their commits, the
# newest last; without it the one that is installed.
libraries <- function() {
  given <- words(option("libraries", paste0("installed=", dirname(system.file(package = "ufselect")))))
  stats::setNames(sub("^[^=]*=", "", given), sub("=.*", "", given))
}

# Every line of `lines` with every version, versions in turn.
with_versions <- function(lines) {
  known <- libraries()
  wanted <- words(option("versions", paste(names(known), collapse = ",")))
  at <- expand.grid(version = wanted, line = seq_len(nrow(lines)), stringsAsFactors = FALSE)
  jobs <- lines[at$line, , drop = FALSE]
  jobs$version <- at$version
  jobs$library <- known[at$version]
  jobs
}

# A stored table with lines measured anew: those of the same key go, and so do lines of versions that are
# no longer compared, where another of their key was measured.
renewed <- function(file, table, key) {
  if (is.null(file) || !file.exists(file)) return(table)
  old <- utils::read.csv(file)
  same <- do.call(paste, old[key]) %in% do.call(paste, table[key])
  gone <- old$version %in% table$version | !old$version %in% names(libraries())
  rbind(old[!(same & gone), ], table)
}

# Resident memory in MB, VmRSS or VmHWM, its peak (Linux; NA elsewhere).
resident_mb <- function(field) {
  if (!file.exists("/proc/self/status")) return(NA_real_)
  as.numeric(gsub("[^0-9]", "", grep(paste0("^", field), readLines("/proc/self/status"),
    value = TRUE))) / 1024
}

# Linux: the high-water mark of resident memory starts anew.
reset_peak <- function() try(writeLines("5", "/proc/self/clear_refs"), silent = TRUE)

# Takes functions from select.R without running it: its sets, halves and judges.
from_select <- function(names) {
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  place <- new.env(parent = globalenv())
  place$evidence_only_definitions <- TRUE
  sys.source(file.path(dirname(file[1L]), "select.R"), place)
  for (name in names) assign(name, place[[name]], globalenv())
}
