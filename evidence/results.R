# Every stored table: the script that wrote it, its command, how long that takes, where it is shown;
# and the check that what is stored still comes out of the code.
#
#   Rscript results.R list                 the tables, their dates and hashes
#   Rscript results.R run [name ...]       computes anew (resumes where the script does); hours in all.
#                                          Options of a script are passed on to it, as --packages=FOLDER
#   Rscript results.R check [name ...]     recomputes some cheap cells of each; under three minutes
#   Rscript results.R confirm [name ...]   the same; what agrees is confirmed for the sources as they are, and outdated no more
#   Rscript results.R record name ...      writes the header of a table that its script has just written
#   Rscript results.R outdate name ... --note="why"   says that the code has moved on from a table and that it
#                                          has to be computed anew; until then check skips it, and says so
#
# --data=FOLDER (or UFSELECT_DATA): the sets that are not in any package. Without it the cells that
# need them are skipped, and counted so. results/headers.csv here holds, for every table, the version, date,
# seed and BLAS of the run, a fingerprint of its data, and the hash of the sources that its calls reach (provenance.R). The check fails
# - if the sources are not those that the table was computed with, or confirmed for: after a change
#   of the code `confirm` recomputes the cheap cells and, if they agree, notes hash and date;
# - if a recomputed cell differs; if a file of results/ is not listed here.
library(ufselect)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L]))
source(file.path(here, "common.R"))
# A table that a vignette or the package reads is installed with it; scripts and all other tables are here, and
# so is a table that no run has made yet.
shipped <- normalizePath(file.path(here, "..", "inst", "benchmarks"))
place_of <- function(file) place_among(file, c(shipped, here))
header_file <- file.path(here, "results", "headers.csv")
data_folder <- option("data", Sys.getenv("UFSELECT_DATA"))

# ---- recomputed cells ----------------------------------------------------------------------------

# The definitions of a script, without running it.
definitions_of <- function(script) {
  place <- new.env(parent = globalenv())
  place$evidence_only_definitions <- TRUE
  sys.source(place_of(script), place, keep.source = FALSE)
  place
}

read_result <- function(file) utils::read.csv(place_of(file), stringsAsFactors = FALSE, check.names = FALSE)

# Runs a script for a few cells, in a process of its own. What it writes must have the columns of the stored table.
rerun <- function(stored, script, ...) {
  out <- tempfile(fileext = ".csv")
  given <- c(..., paste0("--out=", out))
  if (nzchar(data_folder)) given <- c(given, paste0("--data=", data_folder))
  log <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c(shQuote(place_of(script)), shQuote(given)),
    stdout = TRUE, stderr = TRUE))
  if (!file.exists(out)) stop(script, " wrote nothing: ", paste(utils::tail(log, 3L), collapse = " "))
  found <- utils::read.csv(out, stringsAsFactors = FALSE, check.names = FALSE)
  if (!identical(names(found), names(stored))) stop(script, " writes the columns ", paste(names(found), collapse = ", "))
  found
}
# A witness: the cells that `script` gives with these options, held against the stored ones; `keep` says which of them. Without the
# package `needs` there are none.
cells_of <- function(script, given, keys, values, tolerance, keep = NULL, needs = NULL) function(stored) {
  if (!is.null(needs) && !requireNamespace(needs, quietly = TRUE)) return(character())
  now <- rerun(stored, script, given)
  if (!is.null(keep)) now <- now[keep(now), ]
  differing(stored, now, words(keys), words(values), tolerance)
}

paper_witness <- function(set) function(stored) {
  place <- definitions_of("paper-tables.R")
  place$folder <- data_folder
  data <- place$read_evaluation_set(set)
  main <- stored[stored$table == "main", ]
  rows <- do.call(rbind, lapply(seq_len(max(main$repeats)), function(i) {
    half <- place$one_repeat(data, i)
    m <- place$labelled[[set]]
    rows <- lapply(c("ALFS-I certified", "ALFS-II certified"), function(name) place$default_rows(half, name, m, 10L))
    # One set for all reweighted methods: SOGFS takes minutes on the faces and on TOX-171.
    pipes <- lapply(if (set == "musk1") c("LS", "SOGFS", "UDFS") else "LS", function(name) {
      found <- place$selector_fit(half, name)
      place$sampler_rows(half, name, found, place$best_features(found$fit, 10L), m, 0L)
    })
    every <- if (set == "musk1") place$sampler_rows(half, "all", list(seconds = 0), seq_len(ncol(half$raw)), m, 0L)
    rows <- do.call(rbind, c(rows, pipes, list(every)))
    cbind(set = set, rep = i, table = "main", rows)
  }))
  cells <- split(rows, list(rows$method, rows$classifier), drop = TRUE)
  now <- do.call(rbind, lapply(cells, place$summarise_rows, choice = "default"))
  # Lines that are not there yet are shown as missing; they are no difference.
  now <- now[now$method %in% main$method, ]
  differing(main, now, c("method", "choice", "k", "m", "classifier"), c("mean", "repeats"), .004)
}
paper_data <- function(set) function() {
  place <- definitions_of("paper-tables.R")
  place$folder <- data_folder
  data <- place$read_evaluation_set(set)
  hash_of_data(data$x, data$y)
}
few_methods <- c("ALFS-I, norm" = "alfs", "ALFS-I, TED" = "alfs", "laplacian+ted" = "laplacian+ted",
  "udfs+rrss" = "udfs+rrss", "sogfs+alnr" = "sogfs+alnr")
compare_witness <- function(name, m) function(stored) {
  place <- definitions_of("classifier-evaluation.R")
  now <- summary(place[[paste0("run_", name)]](few_methods[if (name == "noise") 1:2 else 1:5], m = m))$table
  # Baselines are drawn anew for other m.
  now <- now[!now$method %in% c("all", "variance", "pca", "kmeans_f") & !grepl("^random", now$method), ]
  differing(stored, now, c("method", "k", "m", "classifier"), "mean", .006)
}
penalties_witness <- function(stored) {
  place <- definitions_of("classifier-evaluation.R")
  grid <- place$pairs[[1L]][c(1L, 13L), ]
  found <- as.data.frame(place$run_penalties(place$musk_x, place$musk_y, grid), what = "grid")
  found$first <- grid$alpha_rel[found$setting]
  found$second <- grid$beta_rel[found$setting]
  now <- cbind(set = "musk", pair = names(place$pairs)[1L],
    stats::aggregate(accuracy ~ first + second + k + m + classifier, found, mean))
  differing(stored, now, c("set", "pair", "first", "second", "classifier"), "accuracy", .006)
}
tolerance_witness <- function(stored) {
  place <- definitions_of("classifier-evaluation.R")
  now <- cbind(set = "musk", method = "ALFS-I", place$run_tolerance(place$musk_x[seq(1, 476, by = 2), ], 0, 10^-(1:3)))
  differing(stored, now, c("set", "method", "tolerance"), "iterations", 10.5)
}

# ---- the tables ------------------------------------------------------------------------------------

every_method <- setdiff(ufs_methods()$method, "random")
of_the_paper <- c("alfs", "laplacian", "spec", "sogfs", "udfs", "inffs", "ted", "rrss", "alnr", "cur")
# file, script and its options; minutes of a run; the page; the methods and functions whose sources the table depends on; whether
# it takes the sets of --data; whether it holds times alone.
stored <- function(file, script, args, minutes, shown, methods, functions = NULL, witness = NULL, needs_data = FALSE,
                   seed = "in the table or the script", ...) {
  list(file = file.path("results", file), script = script, args = args, minutes = minutes, shown = shown, methods = methods,
    functions = functions, witness = witness, needs_data = needs_data, seed = seed, times_only = is.null(witness), ...)
}
published <- function(file, text, shown) list(file = file, published = text, shown = shown)
paper_table <- function(set, minutes, needs_data) {
  stored(sprintf("paper-%s.csv.gz", set), "paper-tables.R", c(paste0("--sets=", set), "--repeats=10", "--out=@work", "--data=@data"),
    minutes, "paper-tables", of_the_paper, c("ufs_grid", "judge_settings"), paper_witness(set), needs_data,
    "100 + repeat (halves), repeat (all else)", data = paper_data(set))
}
classifier_table <- function(name, minutes, sets, witness) {
  stored(sprintf("classifier-%s.csv.gz", name), "classifier-evaluation.R", c(paste0("--only=", name), "--out=@work"), minutes,
    "classifier-evaluation", c(of_the_paper, "variance", "pca", "kmeans_f", "random"), "ufs_compare", witness, seed = "1",
    data = function() {
      place <- definitions_of("classifier-evaluation.R")
      hash_of_text(vapply(sets, function(set) {
        if (set == "musk") hash_of_data(place$musk_x, place$musk_y) else hash_of_data(place$madelon$x, place$madelon$y)
      }, ""))
    })
}
# Written to the file that has the name of the table.
timing <- function(file, script, minutes, shown, methods = every_method, ...) {
  name <- sub("[.]csv$", "", file)
  stored(file, script, c(if (script == "speed.R") name, paste0("--out=@", name)), minutes, shown, methods, ..., seed = "1")
}
on_sets <- function(file, script, minutes, shown, methods, ..., args = character()) {
  stored(file, script, c(args, paste0("--out=@", sub("[.].*", "", file)), "--data=@data"), minutes, shown, methods, ..., needs_data = TRUE)
}

tables <- list(
  "paper-musk1" = paper_table("musk1", 25, FALSE),
  "paper-madelon" = paper_table("madelon", 30, FALSE),
  "paper-orl" = paper_table("orl", 40, TRUE),
  "paper-tox171" = paper_table("tox171", 60, TRUE),
  published = published("results/published.csv.gz", "Li et al. (2019), Tables II to XI", "paper-tables"),
  "fseval-published" = published("results/fseval-published.csv", "github.com/mrajabinasab/FSEVAL, commit e1d3f52", "evidence"),
  "classifier-musk" = classifier_table("musk", 6, "musk", compare_witness("musk", 60)),
  "classifier-madelon" = classifier_table("madelon", 3, "madelon", compare_witness("madelon", 80)),
  "classifier-noise" = classifier_table("noise", 3, "musk", compare_witness("noise", 30)),
  "classifier-penalties" = classifier_table("penalties", 12, c("musk", "madelon"), penalties_witness),
  "classifier-tolerance" = classifier_table("tolerance", 1, c("musk", "madelon"), tolerance_witness),
  scaling = timing("scaling.csv", "speed.R", 30, "speed, large-and-sparse-data", versions = "libraries", adds = TRUE),
  peers = timing("peers.csv", "peers.R", 15, "speed",
    c("variance", "pca", "kmeans_f", "laplacian", "spec", "mcfs", "udfs", "rsr", "cur", "spca"),
    witness = cells_of("peers.R", c("--sizes=300x500", "--questions=variance", "--seconds=5"), "question,peer,n,p", "our_found", 0)),
  "before-after" = timing("before-after.csv", "speed.R", 30, "speed", versions = "libraries", adds = TRUE),
  waits = timing("waits.csv", "speed.R", 40, "speed", c("medoids", "facility", "laplacian", "mcfs", "css", "pca"),
    versions = "libraries", adds = TRUE),
  "evidence-columns" = on_sets("evidence-columns.csv", "evidence-columns.R", 60, "which-method",
    c("css", "jspca", "mcfs", "laplacian", "kmeans_f", "pca", "variance", "random"), "ufs_diversify",
    cells_of("evidence-columns.R", c("--sets=wine", "--methods=css .1,laplacian,random"), "set,method", "error,svm", .15)),
  # The sets of another repository are not in the folder: --mats of fseval.R.
  fseval = on_sets("fseval.csv", "fseval.R", 20, "evidence, which-method", c("consensus", "css", "laplacian", "mcfs", "pca"),
    witness = cells_of("fseval.R", c("--sets=lung_discrete", "--methods=css,laplacian,mcfs"), "method,set", "0.02,0.05,0.1", .005)),
  select = on_sets("select.csv", "select.R", 90, "the print of ufs_select()", c("consensus", "css", "medoids", "mcfs", "pca"),
    "ufs_select", cells_of("select.R", "--sets=wine", "set,noise,task,what", "method,score", 3)),
  # Cells of packages that are not on every machine, and geneBasis, take no part in the check.
  panel = stored("panel.csv", "panel.R", "--out=@panel", 20, "gene-panel", c("css", "pca", "variance"), "ufs_data", seed = "the split"),
  subsets = on_sets("subsets.csv", "subsets.R", 8, "evidence", "css", "ufs_captured", cells_of("subsets.R", "--sets=wine,vehicle",
    "set,k,how,draw", "captured", 2e-6, function(now) !now$how %in% c("genetic", "anneal", "improve"), "subselect")),
  # sparcl draws at random, and neither package is on every machine: their columns alone would be checked.
  tools = on_sets("tools.csv", "tools.R", 10, "evidence", c("consensus", "css", "mcfs", "pca"), "ufs_select",
    cells_of("tools.R", "--sets=wine", "set,noise,task,choice", "k,score", 3, function(now) now$task == "classify", "caret")),
  # Which rows TED picks is the same whatever else is installed; random choices are not.
  regression = on_sets("regression.csv.gz", "regression.R", 15, "laboratory", c("facility", "medoids", "ted"), "ufs_data",
    cells_of("regression.R", c("--sets=gasoline", "--splits=3"), "set,m,choice,learner", "uncovered", .002,
      function(now) now$choice == "ted, heat"), args = "--splits=3"),
  kinds = on_sets("kinds.csv", "kinds.R", 3, "the help of ufs_look()", "pca", "ufs_look",
    cells_of("kinds.R", "--sets=wine,dermatology,dna,meats,dhfr", "set", "truth,found", 0)),
  seeds = on_sets("seeds.csv.gz", "seeds.R", 50, "evidence", c("consensus", "css", "medoids", "pca"),
    c("ufs_select", "ufs_split", "ufs_size", "ufs_look", "ufs_decoys"),
    cells_of("seeds.R", "--sets=wine", "set,noise,question", "same,rows", .02)),
  findings = on_sets("findings.csv.gz", "findings.R", 25, "evidence",
    c("alfs", "alnr", "blfse", "facility", "jspca", "kmeans_f", "laplacian", "mcfs", "medoids", "ndfs", "pca", "rrss", "socfs",
      "sogfs", "ted", "topk"), c("ufs_diversify", "ufs_compare"),
    cells_of("findings.R", c("--findings=topk_links,jspca_loss,ndfs_start,mcfs_scale,sogfs_live,alfs_published", "--sets=lung_discrete"),
      "finding,set,case,measure", "value", .02, function(now) now$measure != "seconds")),
  scale = timing("scale.csv", "scale.R", 90, "large-and-sparse-data",
    c("variance", "pca", "socfs", "mcfs", "kmeans_f", "laplacian", "css"), "ufs_decoys", adds = TRUE),
  pairwise = on_sets("pairwise.csv", "pairwise.R", 2, "the help of ufs_moments()", "css", c("ufs_data", "ufs_moments", "ufs_captured"),
    cells_of("pairwise.R", "--sets=wine", "set,share,gaps", "omit,median,knn,pairwise", .02)),
  # The other sets are of packages that are not on every machine.
  replicates = stored("replicates.csv", "replicates.R", c("--splits=20", "--out=@replicates"), 1, "the help of ufs_data()", "css",
    c("ufs_data", "ufs_reliability"),
    cells_of("replicates.R", c("--sets=vowel", "--splits=20"), "set,noise,way", "icc,rebuilt,real", .02, needs = "mlbench"),
    seed = "the split"),
  # k-means draws at random, but from one seed: the same on every machine but for ties.
  tune = on_sets("tune.csv", "tune.R", 10, "choosing-parameters", c("socfs", "jspca", "laplacian"), "ufs_tune",
    cells_of("tune.R", "--sets=wine", "set,method,k,criterion", "default", 3)))

# ---- headers ---------------------------------------------------------------------------------------

read_headers <- function() {
  if (!file.exists(header_file)) return(data.frame(table = character(), item = character(), value = character()))
  utils::read.csv(header_file, stringsAsFactors = FALSE, colClasses = "character")
}
write_headers <- function(headers) {
  headers <- headers[order(match(headers$table, names(tables))), ]
  utils::write.csv(headers, header_file, row.names = FALSE)
  # Prints and pages say which tables the code has left behind.
  moved <- headers[headers$item == "outdated", c("table", "value")]
  utils::write.csv(moved, file.path(shipped, "results", "outdated.csv"), row.names = FALSE)
}
header_of <- function(name, headers = read_headers()) {
  part <- headers[headers$table == name, ]
  stats::setNames(as.list(part$value), part$item)
}
hash_now <- function(entry) sources_of(entry$methods, entry$functions)

record <- function(name) {
  entry <- tables[[name]]
  items <- c(script = entry$script, command = paste("Rscript", entry$script, paste(entry$args, collapse = " ")),
    version = as.character(utils::packageVersion("ufselect")), r = paste(R.version$major, R.version$minor, sep = "."),
    blas = option("blas", blas_name()), seed = entry$seed,
    data = if (is.function(entry$data)) entry$data() else "simulated or named in the rows",
    computed = format(Sys.Date()), sources = option("sources", hash_now(entry)),
    if (!is.null(option("note"))) c(note = option("note")))
  headers <- read_headers()
  headers <- headers[headers$table != name, ]
  write_headers(rbind(headers, data.frame(table = name, item = names(items), value = unname(items))))
}

confirm <- function(name) {
  headers <- read_headers()
  entry <- tables[[name]]
  value <- paste(hash_now(entry), format(Sys.Date()))
  headers <- headers[!(headers$table == name & headers$item %in% c("confirmed", "outdated")), ]
  write_headers(rbind(headers, data.frame(table = name, item = "confirmed", value = value)))
}

# A table whose numbers the code no longer gives, until it is computed anew: `run` writes a new header. Pages
# that show it name it from here.
outdate <- function(name) {
  note <- option("note")
  if (is.null(note)) stop("outdate needs --note: what moved the table")
  headers <- read_headers()
  headers <- headers[!(headers$table == name & headers$item == "outdated"), ]
  write_headers(rbind(headers, data.frame(table = name, item = "outdated",
    value = paste0(format(Sys.Date()), ": ", note))))
}

# ---- check -----------------------------------------------------------------------------------------

counts <- c(passed = 0L, failed = 0L, skipped = 0L)
tell <- function(how, name, ...) {
  counts[[how]] <<- counts[[how]] + 1L
  if (how != "passed") say("%s %s: %s\n", c(failed = "FAILED", skipped = "skipped")[[how]], name, paste0(...))
  invisible(how)
}

# TRUE where the recomputed cells agree, FALSE where not, NA where there are none.
check_cells <- function(name, entry) {
  if (is.null(entry$witness)) {
    tell("skipped", name, if (isTRUE(entry$times_only)) "times are not compared" else "has no cheap cell")
    return(NA)
  }
  if (entry$needs_data && !nzchar(data_folder)) {
    tell("skipped", name, "its data are not at hand (UFSELECT_DATA)")
    return(NA)
  }
  stored <- read_result(entry$file)
  found <- tryCatch(entry$witness(stored), error = function(e) paste("stopped:", conditionMessage(e)))
  if (!length(found)) return(tell("passed", name) == "passed")
  tell("failed", name, length(found), " cells differ; ", paste(utils::head(found, 3L), collapse = "; "))
  FALSE
}

check_table <- function(name, confirming) {
  entry <- tables[[name]]
  if (!file.exists(place_of(entry$file))) return(tell("failed", name, "is not there: ", entry$file))
  if (!is.null(entry$published)) return(tell("passed", name))
  header <- header_of(name)
  if (!length(header)) return(tell("failed", name, "has no header: Rscript results.R record ", name))
  if (!is.null(header$outdated) && !confirming) return(tell("skipped", name, "outdated since ", header$outdated))
  if (is.function(entry$data) && (!entry$needs_data || nzchar(data_folder))) {
    same <- identical(entry$data(), header$data)
    tell(if (same) "passed" else "failed", name, "the data are not those that it was computed on")
  }
  agrees <- check_cells(name, entry)
  known <- c(header$sources, substr(header$confirmed, 1L, 12L))
  if (!is.null(header$outdated) && !isTRUE(agrees)) return()
  if (confirming && !isFALSE(agrees)) {
    if (!hash_now(entry) %in% known || !is.null(header$outdated)) confirm(name)
    return(tell("passed", name))
  }
  tell(if (hash_now(entry) %in% known) "passed" else "failed", name, "is older than its sources (now ", hash_now(entry),
    ", known ", paste(known, collapse = ", "), "): Rscript results.R confirm ", name, ", or run")
}

# Files that nobody lists.
check_files <- function() {
  files <- file.path("results", list.files(file.path(c(here, shipped), "results"), "csv"))
  listed <- c("results/headers.csv", "results/outdated.csv", vapply(tables, `[[`, "", "file"))
  for (file in setdiff(files, listed)) tell("failed", file, "is not listed in results.R")
}

# The header of each table and the search for what changed are tested beside them.
check_tests <- function() {
  found <- testthat::test_file(file.path(here, "test-provenance.R"), package = "ufselect", load_package = "installed",
    reporter = "check", stop_on_failure = FALSE)
  found <- as.data.frame(found)
  counts[["passed"]] <<- counts[["passed"]] + sum(found$passed)
  failed <- found$test[found$failed > 0L | found$error]
  for (test in failed) tell("failed", "test-provenance.R", test)
}

# README's R code runs, and what its comments say about the size of the data is so.
check_readme <- function() {
  root <- source_root()
  file <- if (!is.null(root)) file.path(root, "README.md")
  if (is.null(file) || !requireNamespace("dslabs", quietly = TRUE)) return(tell("skipped", "README", "not at hand"))
  lines <- readLines(file)
  fences <- grep("^```", lines)
  code <- unlist(lapply(fences[lines[fences] == "```r"], function(from) {
    lines[seq(from + 1L, fences[fences > from][1L] - 1L)]
  }))
  code <- code[!grepl("^install.packages", code)]
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  place <- new.env(parent = globalenv())
  found <- tryCatch(utils::capture.output(eval(parse(text = code), place)), error = function(e) e)
  if (inherits(found, "error")) return(tell("failed", "README", conditionMessage(found)))
  # What README shows is what is printed.
  shown <- lines[seq(which(lines == "```text") + 1L, fences[fences > which(lines == "```text")][1L] - 1L)]
  options(width = 80L)
  said <- utils::capture.output(print(place$fit))
  if (!identical(shown, said)) tell("failed", "README", "prints ", paste(setdiff(said, shown), collapse = " | "))
  size <- sprintf("%d samples x %d genes", nrow(place$x), ncol(place$x))
  tell(if (any(grepl(size, code, fixed = TRUE))) "passed" else "failed", "README", "x has ", size)
}

# What was given to this script for the one that it starts, as --packages= or --before=.
given_to <- function(script) {
  given <- grep("^--[a-z]+=", commandArgs(TRUE), value = TRUE)
  names <- sub("^--([a-z]+)=.*", "\\1", given)
  code <- paste(unlist(lapply(c(script, "common.R"), function(file) readLines(place_of(file)))), collapse = "\n")
  given[vapply(names, function(name) name != "data" && grepl(sprintf("option(\"%s\"", name), code, fixed = TRUE), NA)]
}

# A script writes into a folder beside the sources, where what was killed resumes if the script can, and the
# stored table is replaced at the end. Where rows are measured one by one, those that a run does not make
# (another BLAS, a data set that is not there) stay; elsewhere a table with fewer rows than the stored one
# replaces nothing: a package or a set is missing.
run_table <- function(name) {
  entry <- tables[[name]]
  if (is.null(entry$script)) return(say("%s is published: nothing to run\n", name))
  work <- option("work", file.path(if (is.null(source_root())) "." else source_root(), ".evidence"))
  dir.create(work, showWarnings = FALSE)
  if (entry$needs_data && !nzchar(data_folder)) return(say("%s: its data are not at hand (--data=)\n", name))
  if (any(vapply(entry$versions, function(one) is.null(option(one)), NA))) {
    return(say("%s: the versions are not named (%s)\n", name, paste0("--", entry$versions, "=", collapse = ", ")))
  }
  made <- file.path(work, basename(entry$file))
  stored <- place_of(entry$file)
  args <- sub("@data", data_folder, entry$args, fixed = TRUE)
  args <- sub("@work", work, args, fixed = TRUE)
  args <- c(sub(paste0("@", name), made, args, fixed = TRUE), given_to(entry$script))
  if (isTRUE(entry$adds)) file.copy(stored, made, overwrite = TRUE) else unlink(made)
  say("%s: about %g minutes\n", name, entry$minutes)
  status <- system2(file.path(R.home("bin"), "Rscript"), c(shQuote(place_of(entry$script)), shQuote(args)))
  if (status != 0L) stop(name, " failed")
  rows <- vapply(c(made, stored), function(file) if (file.exists(file)) nrow(utils::read.csv(file)) else 0L, 0L)
  if (rows[[1L]] < rows[[2L]]) {
    stop(name, ": ", rows[[1L]], " rows, and ", rows[[2L]], " are stored; they are left in ", made)
  }
  file.copy(made, stored, overwrite = TRUE)
  record(name)
}

list_tables <- function() {
  headers <- read_headers()
  rows <- lapply(names(tables), function(name) {
    header <- header_of(name, headers)
    or <- function(value, else_value) if (is.null(value)) else_value else value
    data.frame(table = name, computed = or(header$computed, or(tables[[name]]$published, "no header")),
      sources = or(header$sources, ""), confirmed = or(header$confirmed, ""), version = or(header$version, ""),
      minutes = or(tables[[name]]$minutes, NA), shown = tables[[name]]$shown)
  })
  options(width = 200L)
  print(do.call(rbind, rows), right = FALSE, row.names = FALSE)
}

given <- commandArgs(TRUE)
given <- given[!startsWith(given, "--")]
named <- if (length(given) > 1L) given[-1L] else names(tables)
stopifnot(all(named %in% names(tables)))
switch(given[1L],
  list = list_tables(),
  run = {
    failed <- 0L
    for (name in named) tryCatch(run_table(name), error = function(e) {
      failed <<- failed + 1L
      say("FAILED %s\n", conditionMessage(e))
    })
    quit(status = as.integer(failed > 0L))
  },
  record = for (name in named) record(name),
  outdate = for (name in named) outdate(name),
  check = , confirm = {
    check_files()
    if (length(given) == 1L) {
      check_tests()
      check_readme()
    }
    for (name in named) {
      seconds <- system.time(check_table(name, given[1L] == "confirm"))[["elapsed"]]
      if (seconds > 5) say("  %s took %.0f s\n", name, seconds)
    }
    say("%d passed, %d failed, %d skipped\n", counts[["passed"]], counts[["failed"]], counts[["skipped"]])
    quit(status = as.integer(counts[["failed"]] > 0L))
  },
  stop("first argument: list, run, check, confirm, record or outdate"))
