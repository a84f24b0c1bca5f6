# Iterations and CPU seconds of RSR and SOGFS in two versions of the package, on thirty tables between
# 100 x 400 and 1,000 x 1,000: four kinds, three seeds. SOGFS takes those of at most 200,000 entries.
#
#   Rscript evidence/reweighted.R --before=LIBRARY --after=LIBRARY [--out=reweighted.csv] [--seeds=1,2,3]
#                         [--methods=rsr,sogfs] [--versions=before,after]
#   Rscript evidence/reweighted.R --show --out=reweighted.csv
#
# factors: ten factors in all columns, and noise; noise: nothing else; clusters: five that differ in 5 %
# of the columns; words: counts, two thirds of them 0. Every fit in a session of its own; set
# OPENBLAS_NUM_THREADS=1. --show has the ratios of after to before; less than .1 s counts as .1 s.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
  source(file.path(dirname(file), "common.R"))
})

sizes <- list(factors = c("100x400", "400x400", "1000x1000"), noise = c("100x400", "600x600"),
  clusters = c("100x400", "400x400", "500x1000"), words = c("100x400", "400x400"))

make_table <- function(kind, n, p, seed) {
  set.seed(seed)
  x <- matrix(stats::rnorm(n * p), n)
  switch(kind,
    noise = x,
    factors = matrix(stats::rnorm(n * 10L), n) %*% matrix(stats::rnorm(10L * p), 10L) + .5 * x,
    clusters = {
      informative <- max(5L, round(.05 * p))
      centre <- 3 * matrix(stats::rnorm(5L * informative), 5L)
      x[, seq_len(informative)] <- x[, seq_len(informative)] + centre[sample.int(5L, n, TRUE), ]
      x
    },
    words = {
      subject <- sample.int(5L, n, TRUE)
      rate <- outer(subject, seq_len(p), function(s, j) ifelse(j %% 5L == s - 1L, 1.2, .3))
      matrix(stats::rpois(n * p, rate), n)
    })
}

one <- function() {
  library(ufselect, lib.loc = option("library"))
  size <- as.integer(words(option("size"), "x"))
  x <- make_table(option("kind"), size[1L], size[2L], as.integer(option("seed")))
  fit <- NULL
  used <- cpu(fit <- suppressWarnings(if (option("method") == "rsr") ufs_rsr(x) else
    ufs_sogfs(x, n_clusters = 5)))
  certificate <- fit$certificate[[if (option("method") == "rsr") "gap" else "components"]]
  print_row(option("method"), option("kind"), option("size"), option("seed"), option("version"),
    fit$iterations, fit$status, signif(certificate, 2L), round(used, 2L))
}

# Lines of the file that are not asked for stay: --versions=after leaves what was measured before.
measure <- function() {
  kinds <- rep(names(sizes), lengths(sizes))
  tables <- expand.grid(seed = words(option("seeds", "1,2,3")), at = seq_along(kinds), stringsAsFactors = FALSE)
  tables <- data.frame(kind = kinds[tables$at], size = unlist(sizes)[tables$at], seed = tables$seed)
  entries <- vapply(strsplit(tables$size, "x"), function(s) prod(as.numeric(s)), 0)
  jobs <- rbind(cbind(method = "rsr", tables), cbind(method = "sogfs", tables[entries <= 2e5, ]))
  jobs <- jobs[jobs$method %in% words(option("methods", "rsr,sogfs")), ]
  versions <- words(option("versions", "before,after"))
  jobs <- merge(jobs, data.frame(version = versions), sort = FALSE)
  jobs$library <- vapply(jobs$version, option, "")
  out <- option("out")
  old <- if (!is.null(out) && file.exists(out)) utils::read.csv(out)
  for (i in seq_len(nrow(jobs))) {
    found <- run_jobs(jobs[i, ], 200)
    if (is.null(found)) next
    names(found) <- c("method", "kind", "size", "seed", "version", "iterations", "status", "certificate", "seconds")
    key <- c("method", "kind", "size", "seed", "version")
    if (!is.null(old)) old <- old[!do.call(paste, old[key]) %in% do.call(paste, found[key]), ]
    old <- rbind(old, found)
    if (!is.null(out)) utils::write.csv(old, out, row.names = FALSE, quote = FALSE)
  }
  old
}

show_table <- function(all) {
  both <- merge(all[all$version == "before", -5L], all[all$version == "after", -5L],
    by = c("method", "kind", "size", "seed"), suffixes = c("_before", "_after"), sort = FALSE)
  ratio <- data.frame(both[c("method", "kind", "size", "seed")],
    iterations = both$iterations_after / both$iterations_before,
    seconds = pmax(both$seconds_after, .1) / pmax(both$seconds_before, .1))
  print(cbind(ratio[1:4], round(ratio[5:6], 2L)), row.names = FALSE)
  print(stats::aggregate(cbind(iterations, seconds) ~ method, ratio, function(r) {
    round(c(median = stats::median(r), largest = max(r)), 2L)
  }))
}

if (!is.null(option("method"))) {
  one()
} else if ("--show" %in% commandArgs(TRUE)) {
  show_table(utils::read.csv(option("out")))
} else {
  show_table(measure())
}
