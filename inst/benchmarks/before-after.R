# Two versions of the package side by side: SOCFS, JSPCA (feature loss), ALFS and NDFS, CPU seconds
# of one fit from the same start, alternating between the two libraries (best of --rounds=3), with
# status, iterations and objective beside each time.
#
#   Rscript before-after.R --before=LIBRARY --after=LIBRARY --data=FOLDER [--out=file.csv]
#
# The objective is the last of the trace. The start's labels are drawn before the clock runs.
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(script), "common.R"))

labels_of <- function(x, n_clusters) {
  set.seed(1)
  stats::kmeans(x, n_clusters, nstart = 5, iter.max = 50)$cluster
}
set_named <- function(name) read_set(option("data"), name)
standard <- function(x) {
  x <- scale(x)
  x <- x[, colSums(is.finite(x)) == nrow(x)]
  matrix(x, nrow(x), dimnames = list(NULL, paste0("f", seq_len(ncol(x)))))
}

fits <- list(
  socfs = function(x, labels) ufselect::ufs_socfs(x, max(labels), init = labels),
  jspca = function(x, labels) ufselect::ufs_jspca(x, max(labels), loss = "feature"),
  alfs = function(x, labels) ufselect::ufs_alfs(x),
  ndfs = function(x, labels) ufselect::ufs_ndfs(x, max(labels), init = labels)
)

cases <- list(
  list("socfs", "lung_discrete"), list("socfs", "tissue"), list("socfs", "warpPIE10P"),
  list("jspca", "lung_discrete"), list("jspca", "tissue"), list("jspca", "warpPIE10P"),
  list("alfs", "300x500"), list("alfs", "500x2000"), list("alfs", "100x100000"),
  list("ndfs", "orl"), list("ndfs", "lung_discrete"), list("ndfs", "tissue")
)

one <- function(method, data, version) {
  if (grepl("^[0-9]+x[0-9]+$", data)) {
    size <- as.integer(strsplit(data, "x")[[1L]])
    x <- clustered(size[1L], size[2L])
    n_clusters <- 5L
  } else {
    set <- set_named(data)
    x <- standard(set$x)
    n_clusters <- nlevels(set$y)
  }
  labels <- if (method == "alfs") 1L else labels_of(x, n_clusters)
  fit <- NULL
  used <- cpu_of_one(function() {
    fit <<- suppressMessages(suppressWarnings(fits[[method]](x, labels)))
  }, enough = .3)
  value <- utils::tail(fit$trace$objective, 1L)
  print_row(version, method, data, nrow(x), ncol(x), round(used, 3), fit$iterations, fit$status,
    signif(value, 8))
}

if (!is.null(option("method"))) {
  library(ufselect, lib.loc = option("library"))
  one(option("method"), option("set"), option("version"))
} else {
  jobs <- expand.grid(version = c("before", "after"), case = seq_along(cases),
    round = seq_len(as.integer(option("rounds", "3"))), stringsAsFactors = FALSE)
  jobs <- data.frame(method = vapply(cases[jobs$case], `[[`, "", 1L),
    set = vapply(cases[jobs$case], `[[`, "", 2L), version = jobs$version,
    library = ifelse(jobs$version == "before", option("before"), option("after")),
    data = option("data"))
  all <- run_jobs(jobs, 120)
  names(all) <- c("version", "method", "set", "n", "p", "cpu_seconds", "iterations", "status",
    "objective")
  cells <- split(all, list(all$version, all$method, all$set), drop = TRUE)
  best <- do.call(rbind, lapply(cells, function(rows) rows[which.min(rows$cpu_seconds), ]))
  table <- merge(best[best$version == "before", -1L], best[best$version == "after", -1L],
    by = c("method", "set", "n", "p"), suffixes = c("_before", "_after"))
  table$ratio <- round(table$cpu_seconds_after / table$cpu_seconds_before, 2)
  print(table[c("method", "set", "cpu_seconds_before", "cpu_seconds_after", "ratio")])
  if (!is.null(option("out"))) write.csv(table, option("out"), row.names = FALSE)
}
