# Two versions of the package side by side, alternating between the two libraries: CPU seconds of
# one fit at its defaults (the best of --rounds=3; one round where a fit takes over ten seconds),
# the memory that it adds to its data, and status, iterations, objective and certificate beside
# them, so that no speed is bought with a worse answer.
#
#   Rscript before-after.R --before=LIBRARY --after=LIBRARY --data=FOLDER [--out=file.csv]
#                          [--methods=topk,rsr] [--seconds=120]
#
# --before holds an older version, installed by R CMD INSTALL --library=LIBRARY from a checkout;
# both use the BLAS and threads that the caller sets (LD_PRELOAD, OPENBLAS_NUM_THREADS). Real sets
# of --data by name, and five Gaussian clusters (common.R) by "n x p". The labels that SOCFS and NDFS
# start from are drawn before the clock runs. With --out, lines of other methods in the file stay.
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(script), "common.R"))

fits <- list(
  alfs = function(x, g, labels) ufselect::ufs_alfs(x),
  alfs_weights = function(x, g, labels) ufselect::ufs_alfs(x, lambda_rel = .001),
  alfs_few = function(x, g, labels) ufselect::ufs_alfs(x, beta_rel = .6, lambda_rel = 1e-4),
  blfse = function(x, g, labels) ufselect::ufs_blfse(x, g, k = 20),
  consensus = function(x, g, labels) ufselect::ufs_consensus(x, g),
  css = function(x, g, labels) ufselect::ufs_css(x, k = 20),
  inffs = function(x, g, labels) ufselect::ufs_inffs(x),
  jspca = function(x, g, labels) ufselect::ufs_jspca(x, g, loss = "feature"),
  jspca_sample = function(x, g, labels) ufselect::ufs_jspca(x, g, loss = "sample"),
  kmeans_f = function(x, g, labels) ufselect::ufs_kmeans_f(x, g),
  laplacian = function(x, g, labels) ufselect::ufs_laplacian(x),
  mcfs = function(x, g, labels) ufselect::ufs_mcfs(x, g),
  ndfs = function(x, g, labels) ufselect::ufs_ndfs(x, g, init = labels),
  pca = function(x, g, labels) ufselect::ufs_pca(x, g),
  rrss = function(x, g, labels) ufselect::ufs_rrss(x),
  rsr = function(x, g, labels) ufselect::ufs_rsr(x),
  socfs = function(x, g, labels) ufselect::ufs_socfs(x, g, init = labels),
  sogfs = function(x, g, labels) ufselect::ufs_sogfs(x, g, gamma = .01),
  ted = function(x, g, labels) ufselect::ufs_ted(x),
  topk = function(x, g, labels) ufselect::ufs_topk(x, k = 20, n_clusters = g),
  topk_links = function(x, g, labels) {
    ufselect::ufs_topk(x, k = 20, n_clusters = g, alpha_e = 20)
  },
  udfs = function(x, g, labels) ufselect::ufs_udfs(x, g),
  variance = function(x, g, labels) ufselect::ufs_variance(x)
)

cases <- list(
  topk = c("300x500", "100x2000", "500x2000", "1000x1000", "2000x200"),
  topk_links = c("300x500", "500x2000", "1000x1000"),
  kmeans_f = c("300x500", "500x2000", "1000x1000", "5000x500", "100x100000"),
  variance = c("300x500", "500x2000", "100x10000", "5000x500"),
  pca = "1000x1000",
  laplacian = "100x10000",
  udfs = c("lung_discrete", "300x500", "1000x1000", "orl"),
  rsr = c("1000x1000", "5000x500", "100x100000"),
  rrss = c("1000x1000", "8000x200", "7352x561"),
  ted = c("1000x1000", "5000x500", "100x100000"),
  alfs = c("300x500", "500x2000", "1000x1000", "100x100000"),
  alfs_weights = c("500x100", "300x500"),
  alfs_few = c("500x100", "300x500"),
  ndfs = c("lung_discrete", "tissue", "orl", "100x100000"),
  jspca = c("lung_discrete", "tissue", "warpPIE10P", "musk1", "libras", "segment", "500x2000",
    "100x10000", "100x100000"),
  jspca_sample = c("lung_discrete", "tissue", "warpPIE10P", "musk1", "libras", "segment",
    "500x2000", "100x10000"),
  socfs = c("lung_discrete", "tissue", "warpPIE10P", "100x100000"),
  sogfs = c("1000x1000", "5000x500", "8000x200"),
  blfse = c("8000x200", "100x10000"),
  inffs = c("100x10000", "100x100000"),
  mcfs = c("100x100000", "50x1000000"),
  css = "100x100000",
  consensus = "100x100000"
)

# The measure of the answer that the fit itself gives, and the tightest of its certificates.
answer <- function(fit) {
  certificate <- fit$certificate
  value <- fit$solution$within_ss
  if (length(value)) value <- sum(value)
  if ("selection_objective" %in% names(certificate)) value <- certificate[["selection_objective"]]
  if (!length(value)) value <- utils::tail(fit$trace$objective, 1L)
  shown <- intersect(c("gap", "kkt", "residual", "change"), names(certificate))
  list(objective = if (length(value)) signif(value, 8) else NA,
    certificate = if (length(shown)) paste(shown[1L], signif(certificate[[shown[1L]]], 2)) else "")
}

one <- function(method, data, version, seconds) {
  if (grepl("^[0-9]+x[0-9]+$", data)) {
    size <- as.integer(strsplit(data, "x")[[1L]])
    x <- clustered(size[1L], size[2L])
    n_clusters <- 5L
  } else {
    set <- read_set(option("data"), data)
    x <- scale(set$x)
    x <- x[, colSums(is.finite(x)) == nrow(x)]
    x <- matrix(x, nrow(x), dimnames = list(NULL, paste0("f", seq_len(ncol(x)))))
    n_clusters <- nlevels(set$y)
  }
  labels <- if (method %in% c("socfs", "ndfs") && ncol(x) < 10000L) {
    set.seed(1)
    stats::kmeans(x, n_clusters, nstart = 5, iter.max = 50)$cluster
  } else {
    "kmeans"
  }
  fit <- NULL
  invisible(gc())
  reset_peak()
  start <- resident_mb("VmRSS")
  used <- within_time(cpu_of_one(function() {
    set.seed(1)
    fit <<- suppressMessages(suppressWarnings(fits[[method]](x, n_clusters, labels)))
  }, enough = .3), seconds)
  if (is.null(used)) {
    print_row(version, method, data, nrow(x), ncol(x), NA, NA, NA, paste("over", seconds, "s"), NA,
      "")
  } else {
    said <- answer(fit)
    print_row(version, method, data, nrow(x), ncol(x), signif(used, 3),
      round(resident_mb("VmHWM") - start), fit$iterations, fit$status, said$objective,
      said$certificate)
  }
}

columns <- c("version", "method", "set", "n", "p", "seconds", "mb", "iterations", "status",
  "objective", "certificate")
if (!is.null(option("method"))) {
  library(ufselect, lib.loc = option("library"))
  one(option("method"), option("set"), option("version"), as.numeric(option("limit")))
} else {
  methods <- words(option("methods", paste(names(cases), collapse = ",")))
  lines <- data.frame(method = rep(methods, lengths(cases[methods])),
    set = unlist(cases[methods], use.names = FALSE))
  jobs <- merge(lines, data.frame(version = c("before", "after")), sort = FALSE)
  jobs <- jobs[order(match(paste(jobs$method, jobs$set), paste(lines$method, lines$set))), ]
  jobs$library <- ifelse(jobs$version == "before", option("before"), option("after"))
  jobs$limit <- option("seconds", "120")
  if (!is.null(option("data"))) jobs$data <- option("data")
  all <- NULL
  for (round in seq_len(as.integer(option("rounds", "3")))) {
    slow <- if (!is.null(all)) all[is.na(all$seconds) | all$seconds > 10, ]
    left <- jobs[!paste(jobs$method, jobs$set) %in% paste(slow$method, slow$set), ]
    if (!nrow(left)) break
    all <- rbind(all, stats::setNames(run_jobs(left, 600), columns))
  }
  cells <- split(all, list(all$version, all$method, all$set), drop = TRUE)
  best <- do.call(rbind, lapply(cells, function(rows) {
    rows[c(which.min(rows$seconds), 1L)[1L], ]
  }))
  table <- merge(best[best$version == "before", -1L], best[best$version == "after", -1L],
    by = c("method", "set", "n", "p"), suffixes = c("_before", "_after"))
  table$times_faster <- signif(table$seconds_before / table$seconds_after, 3)
  print(table[c("method", "set", "seconds_before", "seconds_after", "times_faster")])
  out <- option("out")
  if (!is.null(out)) {
    if (file.exists(out)) {
      old <- utils::read.csv(out)
      if (identical(names(old), names(table))) {
        table <- rbind(old[!old$method %in% table$method, ], table)
      }
    }
    table <- table[order(table$method, table$n * table$p), ]
    utils::write.csv(table, out, row.names = FALSE)
  }
}
