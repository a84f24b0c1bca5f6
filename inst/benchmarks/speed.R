# The times people wait for, in two versions of the package: CPU seconds and peak memory of one call
# each, and the criterion of its answer, so that no speed is bought with a worse one.
#
#   Rscript speed.R --before=LIBRARY --after=LIBRARY [--out=file.csv] [--cases=medoids_texts,...]
#                   [--seconds=200] [--versions=before,after]
#
# A case is a function that makes the data and a call on them. Each runs in a session of its own; set
# OPENBLAS_NUM_THREADS=1. With --out, lines of other cases in the file stay.
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(script), "common.R"))

# Eight subjects with words of their own, 3 % of the entries filled, as term frequencies of unit
# length.
texts <- function(n = 5000L, p = 1500L, filled = 45L) {
  set.seed(1)
  subject <- sample.int(8L, n, replace = TRUE)
  common <- 1 / seq_len(p)^.7
  i <- rep(seq_len(n), each = filled)
  j <- unlist(lapply(subject, function(s) {
    own <- seq_len(p) %% 8L == s - 1L
    sample.int(p, filled, replace = TRUE, prob = common * ifelse(own, 4, 1))
  }))
  x <- Matrix::sparseMatrix(i, j, x = 1, dims = c(n, p))
  dimnames(x) <- list(NULL, paste0("w", seq_len(p)))
  ufselect::ufs_data(x, counts = "tfidf", unit_rows = TRUE)
}

# Clusters in half of the columns, noise in the others.
rows <- function(n, p, clusters = 8L) {
  set.seed(1)
  centre <- matrix(stats::rnorm(clusters * p), clusters)
  centre[, seq_len(p) > p / 2] <- 0
  x <- centre[sample.int(clusters, n, replace = TRUE), ] + matrix(stats::rnorm(n * p), n)
  dimnames(x) <- list(NULL, paste0("f", seq_len(p)))
  x
}

labels_of <- function(n, known, classes = 8L) {
  set.seed(2)
  y <- factor(rep(NA, n), levels = seq_len(classes))
  y[sample.int(n, known)] <- rep_len(seq_len(classes), known)
  y
}

graph_of <- function(n) {
  set.seed(1)
  x <- cbind(stats::rnorm(n), stats::rnorm(n), stats::rnorm(n))
  at <- order(x[, 1L])
  # Neighbours along three directions: a graph of the right size without a search.
  edges <- do.call(rbind, lapply(1:3, function(d) {
    at <- order(x[, d])
    do.call(rbind, lapply(1:2, function(s) cbind(at[seq_len(n - s)], at[s + seq_len(n - s)])))
  }))
  w <- Matrix::sparseMatrix(edges[, 1L], edges[, 2L], x = 1, dims = c(n, n))
  (w + Matrix::t(w) > 0) * 1
}

first <- function(name) function(fit) fit$certificate[[name]]
none <- function(fit) NA_real_

cases <- list(
  medoids_texts = list(texts, function(x) ufselect::ufs_medoids(x, m = 20, center = FALSE,
    scale = FALSE), first("within_ss")),
  medoids_texts_labelled = list(texts, function(x) ufselect::ufs_medoids(x, m = 20,
    labelled = 1:20, center = FALSE, scale = FALSE), first("within_ss")),
  facility_texts = list(texts, function(x) ufselect::ufs_facility(x, m = 20, center = FALSE,
    scale = FALSE), first("value")),
  medoids_50000x60 = list(function() rows(50000L, 60L), function(x) ufselect::ufs_medoids(x,
    m = 20), first("within_ss")),
  medoids_50000x200 = list(function() rows(50000L, 200L), function(x) ufselect::ufs_medoids(x,
    m = 20), first("within_ss")),
  facility_10000x200 = list(function() rows(10000L, 200L), function(x) ufselect::ufs_facility(x,
    m = 100), first("value")),
  propagate_5000 = list(function() list(w = ufselect::ufs_graph(texts(), 10), y = labels_of(5000L,
    40L)), function(d) ufselect::ufs_propagate(d$w, d$y), none),
  propagate_100000 = list(function() list(w = graph_of(100000L), y = labels_of(100000L, 400L)),
    function(d) ufselect::ufs_propagate(d$w, d$y), none),
  select_label_texts = list(texts, function(x) ufselect::ufs_select(x, m = 20, task = "label"),
    first("within_ss")),
  size_50000x60 = list(function() rows(50000L, 60L), function(x) ufselect::ufs_size(x, "pca", n_components = 8),
    function(fit) fit$k),
  size_5000x60 = list(function() rows(5000L, 60L), function(x) ufselect::ufs_size(x, "pca", n_components = 8),
    function(fit) fit$k),
  laplacian_100000x60 = list(function() rows(100000L, 60L), function(x) ufselect::ufs_laplacian(x),
    none),
  mcfs_100000x60 = list(function() rows(100000L, 60L), function(x) ufselect::ufs_mcfs(x, 8), none),
  select_cluster_100000x60 = list(function() rows(100000L, 60L), function(x) {
    ufselect::ufs_select(x, k = 20, task = "cluster")
  }, none),
  decoys_css_100000x60 = list(function() rows(100000L, 60L), function(x) {
    ufselect::ufs_decoys(x, "css", k = 20)
  }, function(fit) fit$k[[1L]])
)

one <- function(case, version, seconds) {
  parts <- cases[[case]]
  # The data are the same for both versions.
  set.seed(1)
  data <- suppressMessages(suppressWarnings(parts[[1L]]()))
  fit <- NULL
  invisible(gc())
  reset_peak()
  start <- resident_mb("VmRSS")
  used <- within_time(cpu({
    set.seed(1)
    fit <- suppressMessages(suppressWarnings(parts[[2L]](data)))
  }), seconds)
  if (is.null(used)) print_row(version, case, NA, NA, NA, paste("an error, or over", seconds, "s")) else
    print_row(version, case, signif(used, 3), round(resident_mb("VmHWM") - start),
      signif(parts[[3L]](fit), 8), "")
}

columns <- c("version", "case", "seconds", "mb", "criterion", "note")
if (!is.null(option("case"))) {
  library(ufselect, lib.loc = option("library"))
  one(option("case"), option("version"), as.numeric(option("limit")))
} else {
  wanted <- words(option("cases", paste(names(cases), collapse = ",")))
  versions <- words(option("versions", "before,after"))
  jobs <- merge(data.frame(case = wanted), data.frame(version = versions), sort = FALSE)
  jobs <- jobs[order(match(jobs$case, names(cases))), ]
  jobs$library <- ifelse(jobs$version == "before", option("before"), option("after"))
  jobs$limit <- option("seconds", "200")
  table <- stats::setNames(run_jobs(jobs, 2 * as.numeric(jobs$limit[1L])), columns)
  out <- option("out")
  if (!is.null(out)) {
    if (file.exists(out)) {
      old <- utils::read.csv(out)
      again <- paste(old$version, old$case) %in% paste(table$version, table$case)
      table <- rbind(old[!again, ], table)
    }
    table <- table[order(match(table$case, names(cases)), table$version == "after"), ]
    utils::write.csv(table, out, row.names = FALSE)
  }
  print(table, row.names = FALSE)
}
