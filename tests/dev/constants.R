# Do the tuned constants of the C sources matter? Each is made smaller and larger in a copy, which is
# built; fits that reach its file are compared with those of the sources as they are.
#
#   Rscript tests/dev/constants.R              all (two hours)
#   Rscript tests/dev/constants.R mm.c alfs    those whose file matches one of the words
#   Rscript tests/dev/constants.R --rest       those that have no row in constants.csv, or another value there
#
# A number in a line of code counts as well: its name is that line, with backticks around the number.
#
# What came out is kept in constants.csv of the package's cache folder (tools::R_user_dir()), a row per constant and value tried: CPU time as a
# multiple of that without the change (the largest and the smallest of the fits), the largest rise of
# an objective in relative terms, the smallest share of the best 20 features or samples that are the same,
# whether a status became worse. Sizes, counts and factors are halved and doubled, tolerances (below
# 1e-3 or above 1e6) divided and multiplied by 10. Constants that are names of cases, or that an
# arithmetic limit sets, are not tried: see `not_tuned`.
file_of <- function(name) file.path("src", name)
given <- commandArgs(TRUE)
table_file <- file.path(tools::R_user_dir("ufselect", "cache"), "constants.csv")

not_tuned <- c("base_mcfs.c FREE", "base_mcfs.c ACTIVE", "base_mcfs.c COLLINEAR", "alfs_work.h ROWS", "alfs_work.h COLS",
  "alfs_work.h WEIGHTS", "la_low.h LOW_DENSE", "x_sparse.c WIDE", "x_sparse.c NARROW", "x_sparse.c PAIR",
  "graph.h SPARSE_TILE",
  "base_inffs.c EXACT", "base_inffs.c SHORT", "prepare.c safe_low", "prepare.c safe_high",
  "prepare.c largest_value", "prepare.c least_sd", "trace.c TRACE_START", "ffi_spec.c MOST_POWER", "ffi_topk.c ROWS",
  "solve_topk_admm.c NEVER")

arithmetic <- c("^static const", "^enum", "^#", "^ENTRY", "static const char", "Interrupt", "ufs_hook_step", "internal error", "0x", ">> ", "<< ", "% 16 ==", "1e15",
  "9007199254740992", "4503599627370496", "-1000", "INT_MAX", "i [+] 7 < d", "^ADD", "lwork", "^double (step|iteration) = [46]", "^bool cheaper", "160[.]0 \\* l", "inner = products", "2e5", "stage|table")

# ---- the constants in the sources ---------------------------------------------------------------------

# Line breaks within comments stay.
without_comments <- function(text) {
  at <- gregexpr("(?s)/\\*.*?\\*/", text, perl = TRUE)
  regmatches(text, at) <- list(gsub("[^\n]", "", regmatches(text, at)[[1L]]))
  text
}
# Lines of code as they are, without comments and indentation.
code_of <- function(lines) trimws(strsplit(without_comments(paste(lines, collapse = "\n")), "\n", fixed = TRUE)[[1L]])
constants_of <- function(file) {
  text <- without_comments(paste(readLines(file_of(file)), collapse = "\n"))
  parts <- regmatches(text, gregexpr("(static const (double|int) [^;(*]*;|(?<!typedef )enum \\{[^}]*\\})", text, perl = TRUE))[[1L]]
  parts <- gsub("static const (double|int) |enum \\{|[;}]", "", parts)
  parts <- trimws(unlist(strsplit(parts, ",")))
  parts <- grep("^[A-Za-z_0-9]+ *= *[-+.0-9ex]+( \\+ [-+.0-9e]+)?$", parts, value = TRUE)
  rbind(data.frame(file = rep(file, length(parts)), name = sub(" *=.*", "", parts), value = sub(".*= *", "", parts)), inline_of(file))
}
# Left out are small whole numbers and halves, which are arithmetic almost everywhere, limits of rounding
# (1e-8 and below) and lines that count flops, hash, look for an interrupt or a limit of integers.
inline_of <- function(file) {
  lines <- gsub("\"[^\"]*\"", "\"\"", code_of(readLines(file_of(file))))
  lines <- unique(lines[!grepl(paste(arithmetic, collapse = "|"), lines)])
  number <- "(?<![A-Za-z0-9_.])[0-9]+[.]?[0-9]*(e[-+]?[0-9]+)?(?![A-Za-z0-9_.])"
  found <- lapply(lines, function(line) {
    value <- unique(regmatches(line, gregexpr(number, line, perl = TRUE))[[1L]])
    value <- value[!as.numeric(value) %in% c(0:4, 8, 0.5) & as.numeric(value) > 1e-8]
    marked <- vapply(value, function(v) {
      gsub(paste0("(?<![A-Za-z0-9_.])(", gsub(".", "[.]", v, fixed = TRUE), ")(?![A-Za-z0-9_.])"), "`\\1`", line, perl = TRUE)
    }, "")
    data.frame(name = marked, value = value, row.names = NULL)
  })
  found <- do.call(rbind, found)
  data.frame(file = rep(file, NROW(found)), found)
}
all_constants <- function() {
  files <- c(setdiff(list.files("src", "[.]c$"), list.files("src", "^ffi_(blfse|input|mcfs|socfs|x|spilled)[.]c$")), "alfs_work.h", "la.h", "solve_blfse_projection.h",
    "x_sparse.h")
  found <- do.call(rbind, lapply(setdiff(files, "ffi_test.c"), constants_of))
  found[!paste(found$file, found$name) %in% not_tuned, ]
}
# Smaller and larger; a whole number stays one, a share below 1, a factor above 1 (and below 2: RELAX).
tried <- function(value) {
  number <- eval(str2lang(value))
  by <- if (number < 1e-3 || number > 1e6) 10 else 2
  to <- number * c(1 / by, by)
  if (grepl(" + ", value, fixed = TRUE)) to <- 1 + (number - 1) * c(0.1, 10)
  else if (grepl("^[0-9]+$", value)) to <- pmax(1, round(to))
  else if (number > 1 && number < 2) to <- c(1 + (number - 1) / 2, min(2 * number - 1, 1 + number / 2))
  else if (number > 0.5 && number < 1) to <- c(2 * number - 1, (1 + number) / 2)
  to <- vapply(to, format, "", digits = 15, scientific = if (number < 1e-3 || number > 1e6) TRUE else FALSE)
  if (grepl("^[0-9]+$", value)) to else ifelse(grepl("[.e]", to), to, paste0(to, ".0"))
}

known <- if (file.exists(table_file)) utils::read.csv(table_file, colClasses = c(value = "character", tried = "character")) else NULL

# ---- fits, in a process of their own --------------------------------------------------------------------

groups <- function(n, p, informative = max(5, p %/% 20), noise = 1, k = 5) {
  set.seed(1)
  x <- matrix(stats::rnorm(n * p, sd = noise), n)
  at <- seq_len(informative)
  x[, at] <- x[, at] + 2 * matrix(stats::rnorm(k * informative), k)[rep_len(seq_len(k), n), ]
  x
}
smooth <- function(n, p) {
  set.seed(1)
  t(apply(matrix(stats::rnorm(n * p), n), 1L, stats::filter, 0.97, method = "recursive"))
}
counts <- function(n, p) {
  set.seed(1)
  Matrix::Matrix(matrix(stats::rpois(n * p, rep(stats::rexp(p, 5), each = n)), n), sparse = TRUE)
}
few <- function(n, p) groups(n, p, informative = 15, noise = 0.3)
# Dots in the names: `m` must not be completed to `method`.
job <- function(.method, .x, ...) list(method = .method, x = .x, args = list(...))
jobs <- list(
  alfs = function() job("alfs", groups(400, 300)),
  alfs_columns = function() job("alfs", few(300, 150), lambda_rel = 0.001, select_samples = "norm", scale = FALSE),
  alfs_newton = function() job("alfs", few(300, 100), alpha_rel = 0.05, beta_rel = 0.05, lambda_rel = 0.005, select_samples = "norm",
    scale = FALSE),
  alnr = function() job("alnr", groups(1200, 200)),
  rrss = function() job("rrss", groups(600, 300)),
  rsr_wide = function() job("rsr", groups(100, 1500)),
  rsr_tall = function() job("rsr", groups(2000, 150, informative = 15), lambda_rel = 0.6),
  sogfs = function() job("sogfs", groups(300, 250), n_clusters = 5),
  udfs = function() job("udfs", groups(300, 300), n_clusters = 5),
  socfs = function() job("socfs", groups(400, 4000), n_clusters = 5),
  socfs_smooth = function() job("socfs", smooth(300, 300), n_clusters = 5, lambda_rel = 0.05),
  ndfs = function() job("ndfs", groups(400, 1500), n_clusters = 5),
  jspca = function() job("jspca", groups(100, 5000), n_components = 5),
  jspca_tall = function() job("jspca", groups(5000, 40), n_components = 5),
  jspca_samples = function() job("jspca", groups(500, 800), n_components = 5, loss = "sample"),
  jspca_smooth = function() job("jspca", smooth(300, 200), n_components = 10, lambda_rel = 0.02),
  spca = function() job("spca", groups(200, 1500), n_components = 4, k = 20),
  topk = function() job("topk", groups(150, 120), k = 10, n_clusters = 5, alpha_e = 20, solver = "admm"),
  topk_tall = function() job("topk", groups(400, 40), k = 10, n_clusters = 5, solver = "admm"),
  topk_exact = function() job("topk", groups(160, 80), k = 10, n_clusters = 5, solver = "exact"),
  topk_paper = function() job("topk", groups(60, 40), k = 8, n_clusters = 5, solver = "paper"),
  topk_labels = function() job("topk", groups(3000, 120), k = 10, y = rep_len(1:5, 3000)),
  blfse = function() job("blfse", groups(200, 300), n_clusters = 5, k = 20),
  blfse_wide = function() job("blfse", groups(80, 1500), n_clusters = 4, k = 20),
  kmeans_f = function() job("kmeans_f", groups(5000, 100), n_clusters = 5),
  medoids = function() job("medoids", groups(800, 60), m = 20),
  facility = function() job("facility", groups(5000, 30), m = 60),
  ted = function() job("ted", groups(4000, 300), m = 100),
  inffs = function() job("inffs", groups(100, 3000)),
  mcfs = function() job("mcfs", groups(1000, 1000), n_clusters = 5, k = 30),
  spec = function() job("spec", groups(2000, 200)),
  css = function() job("css", groups(500, 2000), k = 60),
  css_sparse = function() job("css", counts(500, 2000), k = 40),
  pca = function() job("pca", groups(900, 900), n_components = 5),
  pca_wide = function() job("pca", groups(500, 5000), n_components = 5),
  pca_sparse = function() job("pca", counts(1500, 3000), n_components = 10),
  mcfs_sparse = function() job("mcfs", counts(1500, 3000), n_clusters = 5, k = 30),
  duplicates = function() { x <- groups(300, 3000); job("socfs", cbind(x, x[, 1:500]), n_clusters = 5) }
)
# Which fits reach a file.
reach <- list(
  "^alfs_newton|^solve_alfs_bound" = c("alfs", "alfs_newton"), "^alfs_(columns|weights|space|run|step|work)|^solve_alfs" = c("alfs", "alfs_columns", "alfs_newton"),
  "^samp_alnr" = "alnr", "^samp_rrss" = "rrss", "^base_rsr" = c("rsr_wide", "rsr_tall"), "^base_sogfs" = "sogfs",
  "^base_wstep|^la_lowest" = c("sogfs", "udfs"), "^mm[.]c" = c("rsr_wide", "rsr_tall", "sogfs", "udfs", "rrss", "alnr"),
  "^anderson" = c("rsr_wide", "udfs"), "^la_gl" = c("socfs", "socfs_smooth", "jspca_smooth", "ndfs"), "^base_ndfs" = "ndfs",
  "^solve_socfs" = "socfs", "^base_spca" = "spca", "^jspca|^solve_jspca" = c("jspca", "jspca_tall", "jspca_samples", "jspca_smooth"),
  "^solve_topk_lp" = "topk_exact", "^solve_topk_admm" = c("topk", "topk_tall"), "^(solve_topk_select|proj)" = "topk_paper",
  "^solve_topk(_criterion|_bound|_label|)[.]c|^propagate" = c("topk", "topk_labels", "topk_exact"),
  "^solve_blfse|^qp_simplex|^la_low[.]|^la_packed" = c("blfse", "blfse_wide"), "^kmeans" = c("kmeans_f", "medoids"),
  "^samp_facility" = "facility", "^samp_ted" = "ted", "^base_inffs" = "inffs", "^base_mcfs" = "mcfs", "^base_css|^css_" = c("css", "css_sparse"),
  "^graph" = c("mcfs", "spec", "mcfs_sparse"), "^x_pca" = c("pca", "pca_wide", "pca_sparse"), "^x_sparse" = c("css_sparse", "pca_sparse", "mcfs_sparse"),
  "^x_ops|^x_equal" = c("css", "ted", "duplicates"), "^la_eigs|^la_krylov" = c("pca", "pca_wide", "mcfs", "css", "sogfs"), "^la[.]h" = c("pca", "mcfs", "sogfs"),
  "^la_eig[.]c" = c("pca_wide", "blfse"), "^la_chol" = c("alfs", "rsr_wide"), "^la_norm" = c("rrss", "jspca_samples", "inffs"), "^la_" = c("socfs", "alfs")
)
jobs_for <- function(file) {
  hit <- Find(function(pattern) grepl(pattern, file), names(reach))
  if (is.null(hit)) stop("no fit is named that reaches ", file)
  reach[[hit]]
}

if (length(given) && startsWith(given[1L], "--fits=")) {
  suppressPackageStartupMessages(library(ufselect))
  fits <- lapply(strsplit(sub("^--fits=", "", given[1L]), ",")[[1L]], function(name) {
    job <- jobs[[name]]()
    control <- ufs_control(warn = FALSE)
    run <- function() {
      set.seed(1)
      suppressMessages(suppressWarnings(do.call(paste0("ufs_", job$method), c(list(job$x), job$args, list(control = control)))))
    }
    once <- function() sum(system.time(fit <<- tryCatch(run(), error = function(e) conditionMessage(e)))[1:2])
    fit <- NULL
    seconds <- once()
    for (again in 1:2) if (seconds < 0.7) seconds <- min(seconds, once())
    if (is.character(fit)) return(list(seconds = seconds, status = "error", objective = NA_real_, best = character()))
    objective <- fit$trace$objective[NROW(fit$trace)]
    ranking <- if (is.null(fit$feature_scores)) fit$sample_ranking else fit$feature_ranking
    list(seconds = seconds, status = fit$status, objective = if (length(objective)) objective else NA_real_,
      best = as.character(utils::head(ranking, 20L)))
  })
  saveRDS(fits, given[2L])
  quit(save = "no")
}

# ---- a copy, built anew where a constant changes --------------------------------------------------------

top <- normalizePath(".")
stopifnot(file.exists(file.path(top, "DESCRIPTION")))
work <- tempfile("constants")
copy <- file.path(work, "copy")
lib <- file.path(work, "lib")
dir.create(lib, recursive = TRUE)
run <- function(command, args, env = character()) {
  suppressWarnings(system2(command, shQuote(args), env = env, stdout = FALSE, stderr = FALSE))
}
stopifnot(run("bash", c(".ci/copy", copy)) == 0L)
install <- function(...) run("R", c("CMD", "INSTALL", ..., "--no-test-load", paste0("--library=", lib), copy), "MAKEFLAGS=-j2") == 0L
stopifnot(install("--no-docs"))
build <- function(file) {
  if (grepl("[.]h$", file)) unlink(file.path(copy, "src", list.files(file.path(copy, "src"), "[.]o$")))
  install("--libs-only")
}
# Untouched, and run again for each constant: other work on the machine changes CPU times, too.
untouched <- file.path(work, "untouched")
dir.create(untouched)
stopifnot(file.copy(file.path(lib, "ufselect"), untouched, recursive = TRUE))
fits_now <- function(names, from = lib) {
  out <- tempfile(tmpdir = work)
  libs <- paste(c(from, .libPaths()), collapse = .Platform$path.sep)
  status <- run("timeout", c("300", "Rscript", file.path(top, "tests", "dev", "constants.R"), paste0("--fits=", paste(names, collapse = ",")), out),
    paste0("R_LIBS=", libs))
  if (status == 0L) stats::setNames(readRDS(out), names)
}
change <- function(constant, value) {
  path <- file.path(copy, "src", constant$file)
  lines <- readLines(file.path(top, "src", constant$file))
  if (grepl("`", constant$name, fixed = TRUE)) {
    now <- gsub("`", "", constant$name, fixed = TRUE)
    at <- which(code_of(lines) == now & grepl(now, lines, fixed = TRUE))
    stopifnot(length(at) > 0L)
    lines[at] <- sub(now, gsub("`[^`]*`", value, constant$name), lines[at], fixed = TRUE)
    return(writeLines(lines, path))
  }
  text <- paste(lines, collapse = "\n")
  pattern <- paste0("\\b", constant$name, " = ", gsub("([.+])", "\\\\\\1", constant$value), "(?=[,; }])")
  stopifnot(lengths(regmatches(text, gregexpr(pattern, text, perl = TRUE))) == 1L)
  writeLines(sub(pattern, paste0(constant$name, " = ", value), text, perl = TRUE), path)
}

order_of_status <- c("closed_form", "converged", "stalled", "max_iter", "diverged", "numerical", "error")
compared <- function(before, after) {
  pick <- function(fits, what) vapply(fits, function(fit) as.numeric(fit[[what]]), 0)
  ratio <- pick(after, "seconds") / pick(before, "seconds")
  rise <- pick(after, "objective") / pick(before, "objective") - 1
  same <- mapply(function(a, b) length(intersect(a$best, b$best)) / max(1, length(a$best)), before, after)
  rank <- function(fits) match(vapply(fits, function(fit) fit$status, ""), order_of_status)
  data.frame(least_time = round(min(ratio), 2), most_time = round(max(ratio), 2),
    rise = if (all(is.na(rise))) NA_real_ else signif(max(rise, na.rm = TRUE), 2), same_best = round(min(same), 2),
    worse = paste(names(after)[rank(after) > rank(before)], collapse = " "))
}

todo <- all_constants()
known <- known[paste(known$file, known$name, known$value) %in% paste(todo$file, todo$name, todo$value), ]
if ("--rest" %in% given) {
  todo <- todo[!paste(todo$file, todo$name, todo$value) %in% paste(known$file, known$name, known$value), ]
}
words <- setdiff(given, "--rest")
if (length(words)) todo <- todo[Reduce(`|`, lapply(words, grepl, todo$file, fixed = TRUE)), ]
for (i in seq_len(nrow(todo))) {
  constant <- todo[i, ]
  names <- jobs_for(constant$file)
  before <- fits_now(names, untouched)
  for (value in tried(constant$value)) {
    change(constant, value)
    row <- data.frame(constant, tried = value, fits = paste(names, collapse = " "), stringsAsFactors = FALSE)
    after <- if (build(constant$file)) fits_now(names)
    told <- if (is.null(after)) {
      data.frame(least_time = NA_real_, most_time = NA_real_, rise = NA_real_, same_best = NA_real_, worse = "does not build or end")
    } else compared(before, after)
    row <- cbind(row, told, date = format(Sys.Date()))
    cat(sprintf("%-26s %-16s %8s -> %-8s time %.2f to %.2f  rise %8.1e  same %.2f %s\n", row$file, row$name, row$value, value,
      row$least_time, row$most_time, row$rise, row$same_best, row$worse))
    old <- known[!(known$file == row$file & known$name == row$name & known$tried == row$tried), ]
    known <- rbind(old, row)
    utils::write.csv(known[order(known$file, known$name), ], table_file, row.names = FALSE)
  }
  stopifnot(file.copy(file.path(top, "src", constant$file), file.path(copy, "src", constant$file), overwrite = TRUE))
  build(constant$file)
}
unlink(work, recursive = TRUE)
