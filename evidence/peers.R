# The neighbours in R side by side: what answers the same question as one of our methods, its CPU
# time in the same process, and how far the answers agree.
#
#   Rscript peers.R [--sizes=300x500,500x2000] [--questions="RSR;CUR"] [--seconds=20]
#   [--out=file.csv]
#
# Data: five Gaussian clusters in 5 % of the columns, standardised but for the variance. `found` is
# the share of those columns among as many best (chance .05); `agreement` the share that both have.
# A peer that is not installed is left out and named. Not here: praznik (it needs labels, and R 4.5)
# and toolboxes of other languages. Rdimtools returns as many columns as it is asked for.
library(ufselect)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(script), "common.R"))

top <- function(x) max(5L, ncol(x) %/% 20L)
best <- function(score, x) order(-score)[seq_len(top(x))]
by_ufs <- function(method, ...) {
  function(x) {
    fit <- fit_once(method, x, ...)
    if (length(fit$feature_ranking)) unname(fit$feature_ranking[seq_len(top(x))]) else fit
  }
}
# `width`: the argument that holds the kernel's width, set to the mean squared distance of two
# standardised rows, or its root; at the default all weights vanish.
rdimtools <- function(name, ..., width = NULL) {
  function(x) {
    set.seed(1)
    given <- list(X = x, ndim = top(x), ...)
    if (!is.null(width)) given[[width]] <- if (width == "sigma") sqrt(2 * ncol(x)) else 2 * ncol(x)
    suppressMessages(do.call(getExportedValue("Rdimtools", name), given))$featidx
  }
}
loadings <- function(rotation) rowSums(as.matrix(rotation)[, 1:5]^2)

# question, our call, the peers' calls; each returns the indices of its best columns.
questions <- list(
  variance = list(ours = by_ufs("variance"),
    "stats: apply var" = function(x) best(apply(x, 2L, stats::var), x),
    "matrixStats: colVars" = function(x) best(matrixStats::colVars(x), x)),
  "five components" = list(ours = by_ufs("pca"),
    "stats: prcomp" = function(x) best(loadings(stats::prcomp(x, rank. = 5)$rotation), x),
    "irlba: prcomp_irlba" = function(x) {
      set.seed(1)
      best(loadings(irlba::prcomp_irlba(x, n = 5)$rotation), x)
    },
    "RSpectra: svds" = function(x) best(loadings(RSpectra::svds(x, 5)$v), x)),
  "k-means, 20 starts" = list(ours = by_ufs("kmeans_f"),
    "stats: kmeans" = function(x) {
      set.seed(1)
      found <- suppressWarnings(stats::kmeans(x, 5, nstart = 20, iter.max = 100))
      between <- colSums(found$size * found$centers^2)
      best(between / (colSums(x^2) - between), x)
    }),
  "Laplacian score" = list(ours = by_ufs("laplacian"),
    "Rdimtools: do.lscore" = rdimtools("do.lscore", type = c("knn", 5), width = "t")),
  SPEC = list(ours = by_ufs("spec"),
    "Rdimtools: do.specu" = rdimtools("do.specu", width = "sigma")),
  MCFS = list(ours = by_ufs("mcfs"),
    "Rdimtools: do.mcfs" = rdimtools("do.mcfs", type = c("knn", 5), K = 5, width = "t")),
  UDFS = list(ours = by_ufs("udfs"), "Rdimtools: do.udfs" = rdimtools("do.udfs")),
  RSR = list(ours = by_ufs("rsr"), "Rdimtools: do.rsr" = rdimtools("do.rsr")),
  CUR = list(ours = by_ufs("cur", rank = 5, draw = "top"),
    "rCUR: CUR" = function(x) {
      fit <- rCUR::CUR(x, c = top(x), r = 20, k = 5, method = "top.scores")
      best(rCUR::leverage(fit, C = TRUE), x)
    }),
  "sparse components" = list(ours = by_ufs("spca"),
    "sparsepca: spca" = function(x) {
      utils::capture.output(fit <- sparsepca::spca(x, k = 5, alpha = 1e-2, verbose = FALSE))
      best(loadings(fit$loadings), x)
    })
)

one <- function(question, peer, n, p, seconds) {
  x <- clustered(n, p, standardised = question != "variance")
  rows <- questions[[question]]
  package <- sub(":.*", "", peer)
  if (!requireNamespace(package, quietly = TRUE)) return()
  ours <- rows$ours(x)
  theirs <- within_time(rows[[peer]](x), seconds)
  used <- cpu_of_one(function() rows$ours(x))
  peers <- if (!is.null(theirs)) within_time(cpu_of_one(function() rows[[peer]](x)), seconds)
  found <- function(columns) round(mean(columns <= top(x)), 2)
  if (is.null(peers)) peers <- NA
  print_row(question, peer, n, p, signif(used, 3), signif(peers, 3), signif(peers / used, 3),
    found(ours), if (is.null(theirs)) NA else found(theirs),
    if (is.null(theirs)) NA else round(mean(ours %in% theirs), 2),
    as.character(utils::packageVersion(package)), blas_name())
}

if (!is.null(option("question"))) {
  one(option("question"), option("peer"), as.integer(option("n")), as.integer(option("p")),
    as.numeric(option("seconds")))
} else {
  sizes <- words(option("sizes", "300x500,500x2000,100x10000,5000x500"))
  asked <- words(option("questions", paste(names(questions), collapse = ";")), ";")
  jobs <- do.call(rbind, lapply(asked, function(question) {
    expand.grid(question = question, peer = setdiff(names(questions[[question]]), "ours"),
      size = sizes, stringsAsFactors = FALSE)
  }))
  size <- do.call(rbind, strsplit(jobs$size, "x"))
  jobs <- data.frame(question = jobs$question, peer = jobs$peer, n = size[, 1L], p = size[, 2L])
  table <- run_jobs(jobs, as.numeric(option("seconds", "20")))
  names(table) <- c("question", "peer", "n", "p", "our_seconds", "peer_seconds", "peer_by_ours",
    "our_found", "peer_found", "agreement", "version", "blas")
  if (!is.null(option("out"))) write.csv(table, option("out"), row.names = FALSE)
}
