# Every stored table: the script that wrote it, its command, how long that takes, where it is shown;
# and the check that what is stored still comes out of the code.
#
#   Rscript results.R list                 the tables, their dates and hashes
#   Rscript results.R run [name ...]       computes anew (resumes where the script does); hours in all.
#                                          Options of a script are passed on to it, as --packages=FOLDER
#   Rscript results.R check [name ...]     recomputes some cheap cells of each; under three minutes
#   Rscript results.R confirm [name ...]   the same; what agrees is confirmed for the sources as they are
#   Rscript results.R record name ...      writes the header of a table that its script has just written
#   Rscript results.R adopt name ...       writes the header of one that is older than headers
#   Rscript results.R outdate name ... --note="why"   says that the code has moved on from a table and that it
#                                          has to be computed anew; until then check skips it, and says so
#
# --data=FOLDER (or UFSELECT_DATA): the sets that are not in any package. Without it the cells that
# need them are skipped, and counted so. results/headers.csv here holds, for every table, the version, date,
# seed and BLAS of the run, a fingerprint of its data, every call with all its arguments, and the
# hash of the sources that these calls reach (provenance.R). The check fails
# - if an argument has another default than the call that is stored, or is not in it;
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

# ---- the calls ---------------------------------------------------------------------------------

every_method <- setdiff(ufs_methods()$method, "random")
timed_calls <- function(methods) {
  calls <- vapply(methods, function(m) do.call(full_call, c(list(paste0("ufs_", m)), needed(m))), "")
  stats::setNames(calls, methods)
}

# The definitions of a script, without running it.
definitions_of <- function(script) {
  place <- new.env(parent = globalenv())
  place$evidence_only_definitions <- TRUE
  sys.source(place_of(script), place, keep.source = FALSE)
  place
}

paper_calls <- function() {
  place <- definitions_of("paper-tables.R")
  alfs <- vapply(place$default_calls, function(given) do.call(full_call, c("ufs_alfs", given)), "")
  pipe <- vapply(place$selectors, function(s) do.call(full_call, c(paste0("ufs_", s[[1L]]), s[-1L])), "")
  sampler <- vapply(place$samplers, function(s) full_call(paste0("ufs_", s[[1L]])), "")
  c(alfs, "ALFS paper" = full_call("ufs_alfs", solver = "paper", center = FALSE, scale = FALSE, select = "norm",
      select_samples = "ted"), pipe, sampler, "R-CUR" = full_call("ufs_cur"))
}

compare_calls <- function(labels) {
  place <- definitions_of("classifier-evaluation.R")
  methods <- place$methods
  out <- lapply(labels, function(label) {
    parts <- words(methods[[label]], "+")
    vapply(parts, function(m) {
      given <- place$settings[[label]]
      if (is.null(given)) given <- place$settings[[m]]
      do.call(full_call, c(list(paste0("ufs_", m)), given))
    }, "")
  })
  calls <- vapply(out, paste, "", collapse = "; ")
  c(stats::setNames(calls, labels), ufs_compare = full_call("ufs_compare"))
}

# ---- recomputed cells ----------------------------------------------------------------------------

read_result <- function(file) {
  utils::read.csv(place_of(file), stringsAsFactors = FALSE, check.names = FALSE)
}

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
  c(differing(main, now, c("method", "choice", "k", "m", "classifier"), c("mean", "repeats"), .004))
}
paper_data <- function(set) function() {
  place <- definitions_of("paper-tables.R")
  place$folder <- data_folder
  data <- place$read_evaluation_set(set)
  hash_of_data(data$x, data$y)
}
paper_table <- function(set, minutes, needs_data) list(file = sprintf("results/paper-%s.csv.gz", set),
  script = "paper-tables.R", args = c(paste0("--sets=", set), "--repeats=10", "--out=@work", "--data=@data"),
  minutes = minutes, shown = "paper-tables", seed = "100 + repeat (halves), repeat (all else)",
  methods = c("alfs", "laplacian", "spec", "sogfs", "udfs", "inffs", "ted", "rrss", "alnr", "cur"),
  functions = c("ufs_grid", "judge_settings"), calls = paper_calls,
  data = paper_data(set), needs_data = needs_data, witness = paper_witness(set))

classifier_table <- function(name, minutes, labels, data, witness) {
  list(file = sprintf("results/classifier-%s.csv.gz", name), script = "classifier-evaluation.R",
    args = c(paste0("--only=", name), "--out=@work"), minutes = minutes, shown = "classifier-evaluation", seed = "1",
    methods = c("alfs", "laplacian", "spec", "sogfs", "udfs", "inffs", "ted", "rrss", "alnr", "cur", "variance", "pca",
      "kmeans_f", "random"),
    functions = "ufs_compare", calls = function() compare_calls(labels()),
    data = data, needs_data = FALSE, witness = witness)
}
all_labels <- function() names(definitions_of("classifier-evaluation.R")$methods)
classifier_data <- function(...) function() {
  place <- definitions_of("classifier-evaluation.R")
  hash_of_text(vapply(c(...), function(set) {
    if (set == "musk") hash_of_data(place$musk_x, place$musk_y) else hash_of_data(place$madelon$x, place$madelon$y)
  }, ""))
}
compared <- function(result) {
  # Baselines are drawn anew for other m.
  table <- summary(result)$table
  table[!table$method %in% c("all", "variance", "pca", "kmeans_f") & !grepl("^random", table$method), ]
}
few_methods <- c("ALFS-I, norm" = "alfs", "ALFS-I, TED" = "alfs", "laplacian+ted" = "laplacian+ted",
  "udfs+rrss" = "udfs+rrss", "sogfs+alnr" = "sogfs+alnr")
compare_witness <- function(name, m) function(stored) {
  place <- definitions_of("classifier-evaluation.R")
  now <- compared(place[[paste0("run_", name)]](few_methods[if (name == "noise") 1:2 else 1:5], m = m))
  differing(stored, now, c("method", "k", "m", "classifier"), "mean", .006)
}

# ---- the tables ------------------------------------------------------------------------------------

published <- function(file, text, shown) list(file = file, published = text, shown = shown)

timing <- function(name, script, minutes, shown, methods = every_method, calls = function() timed_calls(methods), ...) {
  list(file = sprintf("results/%s.csv", name), script = script, args = c(if (script == "speed.R") name, paste0("--out=@", name)),
    minutes = minutes,
    shown = shown, seed = "1", methods = methods, calls = calls, data = NULL, needs_data = FALSE, ...)
}
# Packed are the larger of those that the package brings along.
packed <- c("seeds", "regression", "findings")
on_sets <- function(name, script, minutes, shown, methods, calls, args = character(), ...) {
  list(file = paste0("results/", name, if (name %in% packed) ".csv.gz" else ".csv"), script = script, args = c(args, paste0("--out=@", name), "--data=@data"),
    minutes = minutes, shown = shown, seed = "in the table or the script", methods = methods, calls = calls,
    needs_data = TRUE, ...)
}
plain_calls <- function(...) function() {
  given <- list(...)
  vapply(given, function(one) do.call(full_call, as.list(one)), "")
}

tables <- list(
  "paper-musk1" = paper_table("musk1", 25, FALSE),
  "paper-madelon" = paper_table("madelon", 30, FALSE),
  "paper-orl" = paper_table("orl", 40, TRUE),
  "paper-tox171" = paper_table("tox171", 60, TRUE),
  "paper-har-times" = list(file = "results/paper-har-times.csv", script = "paper-tables.R",
    args = c("--only=har", "--out=@work"), minutes = 1, shown = "paper-tables", seed = "1",
    methods = c("alfs", "ted", "rrss", "alnr", "cur"),
    calls = plain_calls(ALFS = "ufs_alfs", TED = "ufs_ted", RRSS = "ufs_rrss", ALNR = "ufs_alnr", "R-CUR" = "ufs_cur"),
    needs_data = FALSE, times_only = TRUE),
  published = published("results/published.csv.gz", "Li et al. (2019), Tables II to XI", "paper-tables"),
  "fseval-published" = published("results/fseval-published.csv",
    "github.com/mrajabinasab/FSEVAL, commit e1d3f52", "evidence"),
  "classifier-musk" = classifier_table("musk", 6, all_labels, classifier_data("musk"), compare_witness("musk", 60)),
  "classifier-madelon" = classifier_table("madelon", 3, all_labels, classifier_data("madelon"),
    compare_witness("madelon", 80)),
  "classifier-noise" = classifier_table("noise", 3, function() c("ALFS-I, norm", "ALFS-I, TED", "ALFS-I pivot, TED"),
    classifier_data("musk"), compare_witness("noise", 30)),
  "classifier-penalties" = classifier_table("penalties", 12, function() c("ALFS-I, norm"),
    classifier_data("musk", "madelon"), function(stored) {
    place <- definitions_of("classifier-evaluation.R")
    grid <- place$pairs[[1L]][c(1L, 13L), ]
    found <- as.data.frame(place$run_penalties(place$musk_x, place$musk_y, grid), what = "grid")
    found$first <- grid$alpha_rel[found$setting]
    found$second <- grid$beta_rel[found$setting]
    now <- cbind(set = "musk", pair = names(place$pairs)[1L],
      stats::aggregate(accuracy ~ first + second + k + m + classifier, found, mean))
    differing(stored, now, c("set", "pair", "first", "second", "classifier"), "accuracy", .006)
  }),
  "classifier-tolerance" = classifier_table("tolerance", 1, function() c("ALFS-I, norm", "ALFS-II, norm"),
    classifier_data("musk", "madelon"), function(stored) {
    place <- definitions_of("classifier-evaluation.R")
    now <- cbind(set = "musk", method = "ALFS-I", place$run_tolerance(place$musk_x[seq(1, 476, by = 2), ], 0, 10^-(1:3)))
    differing(stored, now, c("set", "method", "tolerance"), "iterations", 10.5)
  }),
  scaling = timing("scaling", "speed.R", 30, "speed, large-and-sparse-data", times_only = TRUE, versions = "libraries",
    adds = TRUE),
  peers = timing("peers", "peers.R", 15, "speed",
    c("variance", "pca", "kmeans_f", "laplacian", "spec", "mcfs", "udfs", "rsr", "cur", "spca"),
    witness = function(stored) {
      now <- rerun(stored, "peers.R", "--sizes=300x500", "--questions=variance", "--seconds=5")
      differing(stored, now, c("question", "peer", "n", "p"), "our_found", 0)
    }),
  "before-after" = timing("before-after", "speed.R", 30, "speed", times_only = TRUE, versions = "libraries", adds = TRUE),
  waits = timing("waits", "speed.R", 40, "speed", c("medoids", "facility", "laplacian", "mcfs", "css", "pca"),
    times_only = TRUE, versions = "libraries", adds = TRUE),
  "evidence-columns" = on_sets("evidence-columns", "evidence-columns.R", 60, "which-method",
    c("css", "jspca", "mcfs", "laplacian", "kmeans_f", "pca", "variance", "random"),
    plain_calls(css = "ufs_css", jspca = "ufs_jspca", mcfs = "ufs_mcfs", laplacian = "ufs_laplacian",
      kmeans_f = "ufs_kmeans_f", pca = "ufs_pca", diversify = "ufs_diversify"), functions = "ufs_diversify",
    witness = function(stored) {
      now <- rerun(stored, "evidence-columns.R", "--sets=wine", "--methods=css .1,laplacian,random")
      differing(stored, now, c("set", "method"), c("error", "svm"), .15)
    }),
  # The sets of another repository are not in the folder: --mats of fseval.R.
  fseval = on_sets("fseval", "fseval.R", 20, "evidence, which-method", c("consensus", "css", "laplacian", "mcfs", "pca"),
    plain_calls(consensus = "ufs_consensus", css = "ufs_css", laplacian = "ufs_laplacian", mcfs = "ufs_mcfs",
      pca = "ufs_pca"), witness = function(stored) {
      now <- rerun(stored, "fseval.R", "--sets=lung_discrete", "--methods=css,laplacian,mcfs")
      differing(stored, now, c("method", "set"), c("0.02", "0.05", "0.1"), .005)
    }),
  select = on_sets("select", "select.R", 90, "the print of ufs_select()", c("consensus", "css", "medoids", "mcfs", "pca"),
    plain_calls(select = "ufs_select"), functions = "ufs_select", witness = function(stored) {
      now <- rerun(stored, "select.R", "--sets=wine")
      differing(stored, now, c("set", "noise", "task", "what"), c("method", "score"), 3)
    }),
  # Cells of packages that are not on every machine, and geneBasis, take no part in the check.
  panel = list(file = "results/panel.csv", script = "panel.R", args = "--out=@panel", minutes = 20, shown = "gene-panel",
    seed = "the split", methods = c("css", "pca", "variance"), functions = "ufs_data",
    calls = plain_calls(css = c("ufs_css", k = 50, scale = FALSE, target = 20), pca = c("ufs_pca", n_components = 20, scale = FALSE),
      data = c("ufs_data", counts = "log")), needs_data = FALSE),
  subsets = on_sets("subsets", "subsets.R", 8, "evidence", "css",
    plain_calls(starts = c("ufs_css", mu_rel = 0, starts = 40), proved = c("ufs_css", mu_rel = 0, optimal = TRUE)),
    functions = "ufs_captured", witness = function(stored) {
      if (!requireNamespace("subselect", quietly = TRUE)) return(character())
      now <- rerun(stored, "subsets.R", "--sets=wine,vehicle")
      now <- now[now$how %in% c("default", "swaps", "proved", "starts", "more", "eleaps"), ]
      differing(stored, now, c("set", "k", "how", "draw"), "captured", 2e-6)
    }),
  # sparcl draws at random, and neither package is on every machine: their columns alone would be checked.
  tools = on_sets("tools", "tools.R", 10, "evidence", c("consensus", "css", "mcfs", "pca"),
    plain_calls(select = "ufs_select"), functions = "ufs_select", witness = function(stored) {
      if (!requireNamespace("caret", quietly = TRUE)) return(character())
      now <- rerun(stored, "tools.R", "--sets=wine")
      now <- now[now$task == "classify", ]
      differing(stored, now, c("set", "noise", "task", "choice"), c("k", "score"), 3)
    }),
  # Which rows TED picks is the same whatever else is installed; random choices are not.
  regression = on_sets("regression", "regression.R", 15, "laboratory", c("facility", "medoids", "ted"),
    plain_calls(ted = c("ufs_ted", similarity = "heat", scale = FALSE), facility = "ufs_facility",
      medoids = c("ufs_medoids", unit = FALSE, scale = FALSE), data = c("ufs_data", rows = "snv")),
    args = "--splits=3", functions = "ufs_data", witness = function(stored) {
      now <- rerun(stored, "regression.R", "--sets=gasoline", "--splits=3")
      now <- now[now$choice == "ted, heat", ]
      differing(stored, now, c("set", "m", "choice", "learner"), "uncovered", .002)
    }),
  kinds = on_sets("kinds", "kinds.R", 3, "the help of ufs_look()", "pca", plain_calls(look = "ufs_look"),
    functions = "ufs_look", witness = function(stored) {
      now <- rerun(stored, "kinds.R", "--sets=wine,dermatology,dna,meats,dhfr")
      differing(stored, now, "set", c("truth", "found"), 0)
    }),
  seeds = on_sets("seeds", "seeds.R", 50, "evidence", c("consensus", "css", "medoids", "pca"),
    plain_calls(select = "ufs_select", split = "ufs_split", decoys = c("ufs_decoys", method = "pca")),
    functions = c("ufs_select", "ufs_split", "ufs_size", "ufs_look", "ufs_decoys"), witness = function(stored) {
      now <- rerun(stored, "seeds.R", "--sets=wine")
      differing(stored, now, c("set", "noise", "question"), c("same", "rows"), .02)
    }),
  findings = on_sets("findings", "findings.R", 25, "evidence",
    c("alfs", "alnr", "blfse", "facility", "jspca", "kmeans_f", "laplacian", "mcfs", "medoids", "ndfs", "pca", "rrss", "socfs",
      "sogfs", "ted", "topk"),
    plain_calls(alfs = "ufs_alfs", alnr = "ufs_alnr", blfse = c("ufs_blfse", n_clusters = 5, k = 20), facility = "ufs_facility",
      jspca = "ufs_jspca", mcfs = "ufs_mcfs", medoids = "ufs_medoids", ndfs = c("ufs_ndfs", n_clusters = 5),
      rrss = "ufs_rrss", sogfs = "ufs_sogfs", ted = "ufs_ted", topk = "ufs_topk", diversify = c("ufs_diversify", how = "css")),
    functions = c("ufs_diversify", "ufs_compare"), witness = function(stored) {
      now <- rerun(stored, "findings.R", "--findings=topk_links,jspca_loss,ndfs_start,mcfs_scale,sogfs_live,alfs_published", "--sets=lung_discrete")
      now <- now[now$measure != "seconds", ]
      differing(stored, now, c("finding", "set", "case", "measure"), "value", .02)
    }),
  scale = timing("scale", "scale.R", 90, "large-and-sparse-data",
    c("variance", "pca", "socfs", "mcfs", "kmeans_f", "laplacian", "jspca", "ted", "spca", "css", "facility"),
    functions = c("ufs_decoys", "ufs_moments"), times_only = TRUE, adds = TRUE),
  labelling = list(file = "results/labelling.csv", script = "labelling.R", args = c("--weeks=10", "--seeds=2", "--out=@labelling"),
    minutes = 3, shown = "which-samples", seed = "the seed, 100 times the seed + week", methods = "medoids",
    functions = c("ufs_select", "ufs_data", "ufs_graph", "ufs_propagate"), calls = plain_calls(select = c("ufs_select", task = "label", m = 20),
      data = "ufs_data", graph = c("ufs_graph", n_neighbours = 10), propagate = c("ufs_propagate", cmn = TRUE)),
    needs_data = FALSE, witness = function(stored) {
      now <- rerun(stored, "labelling.R", "--weeks=1", "--seeds=1")
      differing(stored, now, c("seed", "choice", "week"), c("classes", "right"), .02)
    }),
  pairwise = on_sets("pairwise", "pairwise.R", 2, "the help of ufs_moments()", "css",
    plain_calls(css = "ufs_css", data = "ufs_data", moments = "ufs_moments"),
    functions = c("ufs_data", "ufs_moments", "ufs_captured"), witness = function(stored) {
      now <- rerun(stored, "pairwise.R", "--sets=wine")
      differing(stored, now, c("set", "share", "gaps"), c("omit", "median", "knn", "pairwise"), .02)
    }),
  # The other sets are of packages that are not on every machine.
  replicates = list(file = "results/replicates.csv", script = "replicates.R", args = c("--splits=20", "--out=@replicates"),
    minutes = 1, shown = "the help of ufs_data()", seed = "the split", methods = "css",
    functions = c("ufs_data", "ufs_reliability"), calls = plain_calls(css = "ufs_css", data = "ufs_data"), needs_data = FALSE,
    witness = function(stored) {
      if (!requireNamespace("mlbench", quietly = TRUE)) return(character())
      now <- rerun(stored, "replicates.R", "--sets=vowel", "--splits=20")
      differing(stored, now, c("set", "noise", "way"), c("icc", "rebuilt", "real"), .02)
    }),
  # k-means draws at random, but from one seed: the same on every machine but for ties.
  tune = on_sets("tune", "tune.R", 10, "choosing-parameters", c("socfs", "jspca", "laplacian"),
    plain_calls(tune = "ufs_tune"), functions = "ufs_tune", witness = function(stored) {
      now <- rerun(stored, "tune.R", "--sets=wine")
      differing(stored, now, c("set", "method", "k", "criterion"), "default", 3)
    })
)

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

record <- function(name, computed = TRUE) {
  entry <- tables[[name]]
  old <- header_of(name)
  calls <- entry$calls()
  items <- c(script = entry$script, command = paste("Rscript", entry$script, paste(entry$args, collapse = " ")),
    version = as.character(utils::packageVersion("ufselect")), r = paste(R.version$major, R.version$minor, sep = "."),
    blas = option("blas", blas_name()), seed = entry$seed,
    data = if (is.function(entry$data)) entry$data() else "simulated or named in the rows",
    computed = if (computed) format(Sys.Date()) else "before headers were kept",
    sources = if (computed) option("sources", hash_now(entry)) else "unknown",
    if (!is.null(option("note"))) c(note = option("note")),
    if (!computed) c(confirmed = paste(hash_now(entry), format(Sys.Date()))),
    stats::setNames(calls, paste0("call: ", names(calls))))
  headers <- read_headers()
  headers <- headers[headers$table != name, ]
  write_headers(rbind(headers, data.frame(table = name, item = names(items), value = unname(items))))
  invisible(old)
}

confirm <- function(name) {
  headers <- read_headers()
  entry <- tables[[name]]
  value <- paste(hash_now(entry), format(Sys.Date()))
  headers <- headers[!(headers$table == name & headers$item == "confirmed"), ]
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

check_calls <- function(name, entry, header) {
  now <- entry$calls()
  before <- counts[["failed"]]
  for (call in names(now)) {
    stored <- header[[paste0("call: ", call)]]
    if (is.null(stored)) tell("failed", name, "the call '", call, "' is not stored")
    else if (!identical(stored, now[[call]])) {
      tell("failed", name, "a changed default in '", call, "': ", paste(differing_arguments(stored, now[[call]]), collapse = "; "))
    }
  }
  if (counts[["failed"]] == before) tell("passed", name)
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

# An argument that functions did not have when a table was made: where the recomputed cells agree, its default is
# what was done then, and joins the stored call. A default that changed is no such thing.
pin_new_arguments <- function(name, calls, header) {
  headers <- read_headers()
  for (call in names(calls)) {
    item <- paste0("call: ", call)
    stored <- header[[item]]
    if (is.null(stored) || identical(stored, calls[[call]])) next
    changed <- differing_arguments(stored, calls[[call]])
    if (all(grepl("stored not pinned", changed, fixed = TRUE))) {
      headers$value[headers$table == name & headers$item == item] <- calls[[call]]
    }
  }
  write_headers(headers)
}

check_table <- function(name, confirming) {
  entry <- tables[[name]]
  if (!file.exists(place_of(entry$file))) return(tell("failed", name, "is not there: ", entry$file))
  if (!is.null(entry$published)) return(tell("passed", name))
  header <- header_of(name)
  if (!length(header)) return(tell("failed", name, "has no header: Rscript results.R record ", name))
  if (!is.null(header$outdated)) return(tell("skipped", name, "outdated since ", header$outdated))
  if (!confirming) check_calls(name, entry, header)
  if (is.function(entry$data) && (!entry$needs_data || nzchar(data_folder))) {
    same <- identical(entry$data(), header$data)
    tell(if (same) "passed" else "failed", name, "the data are not those that it was computed on")
  }
  agrees <- check_cells(name, entry)
  if (confirming && !isFALSE(agrees)) pin_new_arguments(name, entry$calls(), header)
  if (confirming) check_calls(name, entry, header_of(name))
  known <- c(header$sources, substr(header$confirmed, 1L, 12L))
  if (confirming && !isFALSE(agrees)) {
    if (!hash_now(entry) %in% known) confirm(name)
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
  adopt = for (name in named) record(name, computed = FALSE),
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
