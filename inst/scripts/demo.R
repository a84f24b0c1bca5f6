# What the package is for, start to end, on real data; run by `make demo`. By hand:
#   Rscript demo.R --data=my.csv --clusters=5 --k=20 --label=class --id=name --out=demo-out
# and, where the reader asks for it, --header=yes or no, --dec=. or , (the sign before decimals), --na=omit, median or
# knn, --drop=columns,to,leave,out. `make demo` gives the same in the environment, as
# UFSELECT_DATA and so on: there no shell reads a file's name.
# Without a file: few genes that stand for all, an honest comparison, noise columns, and which
# samples to label. With a file: the best K columns and samples, and the comparison if there
# are labels. Rankings (CSV, chosen ones marked) and pictures (PNG) go to the folder `out`.
suppressPackageStartupMessages(library(ufselect))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L]))
source(file.path(here, "read-file.R"))

option <- function(name, default) {
  given <- grep(paste0("^--", name, "="), commandArgs(TRUE), value = TRUE)
  value <- if (length(given)) sub("^--[a-z]+=", "", utils::tail(given, 1L)) else
    Sys.getenv(paste0("UFSELECT_", toupper(name)))
  # A file may be called by any bytes; pictures and messages cannot.
  if (name != "data" && !validEnc(value)) {
    complain(toupper(name), "= has bytes that are no letters in the encoding of this session (", value, ").")
  }
  if (nzchar(value)) value else default
}

main <- function() {
  file <- option("data", NULL)
  out <- option("out", "demo-out")
  if (is.null(file)) on_real_data(out) else on_file(file, out)
  cat("\nWritten to ", out, ": ", paste(sort(list.files(out)), collapse = ", "), "\n", sep = "")
}

how_to_read <- c("header", "dec", "na", "drop")

# ---- the user's file -------------------------------------------------------------------------

on_file <- function(file, out) {
  data <- do.call(read_file, c(list(file, option("label", NULL), option("id", NULL)),
    sapply(how_to_read, option, NULL, simplify = FALSE)))
  x <- data$x
  writeLines(data$said)
  # Constant columns stay in the table, and none of them can be chosen.
  varies <- ncol(x) - length(suppressWarnings(ufs_variance(x))$constant)
  k <- if (is.null(option("k", NULL))) max(1L, min(20L, varies %/% 2L)) else {
    whole(option("k", NULL), "K", 1, varies, "columns that are not constant")
  }
  clusters <- option("clusters", NULL)
  clusters <- if (!is.null(clusters)) {
    whole(clusters, "CLUSTERS", 2, nrow(x) - 1, "rows less one")
  } else if (!is.null(data$y)) nlevels(data$y)
  if (!is.null(clusters) && (clusters < 2L || clusters >= nrow(x))) {
    complain("The label column has ", clusters, " classes; 2 to ", nrow(x) - 1L, " are needed.")
  }
  fresh_folder(out)

  cat("\n---- ", k, " columns that stand for all ", ncol(x), "\n\n", sep = "")
  fit <- ufs_select(x, k, "classify")
  print(fit)
  write_ranking(fit, "columns", "feature", k, out)
  m <- min(k, nrow(x) - 1L)
  cat("\n---- ", m, " rows to look at or to label first\n\n", sep = "")
  rows <- ufs_select(x, m = m, task = "label")
  print(rows)
  write_ranking(rows, "rows", "sample", m, out)
  picture(fit, "scores", "columns", out)
  if (is.null(clusters)) {
    cat("\nWith CLUSTERS=5 (or LABEL=, a column of known classes) methods that look for clusters are run, too.\n")
    return(invisible())
  }
  compare_selections(x, data$y, clusters, k, out)
}

# ---- real data of a suggested package -----------------------------------------------------------

on_real_data <- function(out) {
  of_file <- Filter(function(name) !is.null(option(name, NULL)), c("clusters", "label", "id", how_to_read))
  if (length(of_file)) complain(toupper(of_file[1L]), "= is about a file of yours: give DATA=my.csv, too.")
  if (!requireNamespace("dslabs", quietly = TRUE)) {
    complain("The demo needs data: install the package dslabs, or give DATA=my.csv.")
  }
  x <- dslabs::tissue_gene_expression$x
  y <- factor(dslabs::tissue_gene_expression$y)
  k <- whole(option("k", "20"), "K", 1, ncol(x), "columns")
  fresh_folder(out)

  cat("---- ", k, " genes that stand for ", ncol(x), " (", nrow(x), " samples of ", nlevels(y),
    " tissues, package dslabs)\n\n", sep = "")
  fit <- ufs_select(x, k, "classify")
  print(fit)
  write_ranking(fit, "columns", "feature", k, out)
  picture(fit, "objective", "columns", out)
  compare_selections(x, y, nlevels(y), k, out)
  noise_job(out)
  label_job(x, y, out)
}

# k-means on the chosen columns against the known classes, all columns and random ones beside.
compare_selections <- function(x, y, clusters, k, out) {
  cat("\n---- methods that look for ", clusters, " clusters, and what they are held against\n\n", sep = "")
  set.seed(1)
  parts <- min(clusters, nrow(x) - 1L, sum(apply(x, 2L, function(column) any(column != column[1L]))))
  fits <- list(
    `ufs_select(task = "cluster")` = quietly(ufs_select(x, k, "cluster", n_clusters = clusters)),
    `ufs_select(task = "classify")` = quietly(ufs_select(x, k, "classify")),
    SOCFS = quietly(ufs_socfs(x, n_clusters = clusters)),
    JSPCA = quietly(ufs_jspca(x, n_components = parts, loss = "sample")),
    `k-means + F` = quietly(ufs_kmeans_f(x, n_clusters = clusters)),
    variance = quietly(ufs_variance(x, scale = FALSE)),
    `PCA loadings` = quietly(ufs_pca(x, n_components = parts))
  )
  write_ranking(fits$SOCFS, "socfs", "feature", k, out)
  if (is.null(y)) {
    cat("No label column (LABEL=): nothing to compare the selections with. The best ", k, " by SOCFS:\n", sep = "")
    cat(strwrap(paste(selected_features(fits$SOCFS, k, as = "name"), collapse = ", "), prefix = "  "), sep = "\n")
    return(invisible())
  }
  if (!requireNamespace("clue", quietly = TRUE)) {
    cat("Install the package clue to compare clusterings with the known classes.\n")
    return(invisible())
  }
  chosen <- quietly(lapply(fits, selected_features, k = k, as = "index"))
  judge <- function(columns) accuracy(x[, columns, drop = FALSE], y)
  result <- rbind(
    t(vapply(chosen, judge, numeric(2))),
    `random columns (mean of 10)` = rowMeans(replicate(10L, judge(sample.int(ncol(x), k)))),
    `all columns` = judge(seq_len(ncol(x)))
  )
  cat("k-means on the best ", k, " columns against the known classes (means over 5 runs):\n", sep = "")
  print(round(result, 3L))
  cat("Few columns can do as well as all; no method here does better on all data.\n")
  write_csv(data.frame(selection = rownames(result), round(result, 4L)), file.path(out, "comparison.csv"))
}

# Where selecting wins: most columns are noise.
noise_job <- function(out) {
  oil <- as.matrix(dslabs::olive[, 3:10])
  area <- dslabs::olive$area
  set.seed(1)
  copies <- do.call(cbind, lapply(1:20, function(i) apply(oil, 2L, sample)))
  colnames(copies) <- paste0("noise", seq_len(ncol(copies)))
  x <- cbind(oil, copies)
  cat("\n---- noise columns: ", ncol(oil), " fatty acids of ", nrow(x), " olive oils from ", nlevels(area),
    " areas (package dslabs),\n     and ", ncol(copies), " columns that are these, shuffled\n\n", sep = "")
  fit <- ufs_select(x, ncol(oil), "cluster")
  print(fit)
  write_ranking(fit, "noise", "feature", ncol(oil), out)
  if (!requireNamespace("clue", quietly = TRUE)) {
    return(invisible())
  }
  chosen <- selected_features(fit, as = "index")
  result <- rbind(`the 8 real columns` = accuracy(oil, area), `all 168 columns` = accuracy(x, area),
    `the 8 chosen` = accuracy(x[, chosen], area),
    `8 random ones (mean of 10)` = rowMeans(replicate(10L, accuracy(x[, sample.int(ncol(x), 8L)], area, 1L))))
  cat("\nk-means against the known areas:\n")
  print(round(result, 3L))
}

# Which samples to label: 20 of them, against random choice.
label_job <- function(x, y, out) {
  m <- 20L
  cat("\n---- which ", m, " of ", nrow(x), " samples to label\n\n", sep = "")
  fit <- ufs_select(x, m = m, task = "label")
  print(fit)
  write_ranking(fit, "label", "sample", m, out)
  set.seed(1)
  z <- scale(x)
  nearest <- function(rows) {
    d2 <- outer(rowSums(z[-rows, ]^2), rowSums(z[rows, ]^2), "+") - 2 * tcrossprod(z[-rows, ], z[rows, ])
    mean(y[rows][max.col(-d2, "first")] == y[-rows])
  }
  random <- replicate(50L, nearest(sample.int(nrow(x), m)))
  cat(sprintf("\nThe other %d samples, each given the class of the nearest labelled one: %.1f %% right;\n",
    nrow(x) - m, 100 * nearest(selected_samples(fit, as = "index"))),
    sprintf("with %d random samples %.1f %% (mean of 50 draws; the best draw %.1f %%).\n", m, 100 * mean(random),
      100 * max(random)), sep = "")
}

# ---- helpers --------------------------------------------------------------------------------------

# Accuracy and NMI of k-means on standardised columns, mean over runs.
accuracy <- function(x, y, runs = 5L) {
  spread <- apply(x, 2L, stats::sd)
  z <- scale(x[, spread > 0, drop = FALSE])
  rowMeans(replicate(runs, {
    cluster <- suppressWarnings(stats::kmeans(z, nlevels(y), nstart = 10L, iter.max = 100L))$cluster
    ufs_cluster_metrics(cluster, y)[c("accuracy", "nmi")]
  }))
}

# Every warning once, as a line that says who warns.
quietly <- function(code) {
  who <- as.character(substitute(code))[1L]
  lead <- if (startsWith(who, "ufs_")) paste0("Note of ", who, "():") else "Note:"
  said <- character()
  value <- withCallingHandlers(suppressMessages(code), warning = function(w) {
    said <<- c(said, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  for (line in unique(said)) cat(strwrap(paste(lead, line), 100L, exdent = 6L), sep = "\n")
  value
}

ours <- c("columns-ranking.csv", "rows-ranking.csv", "socfs-ranking.csv", "noise-ranking.csv",
  "label-ranking.csv", "comparison.csv", "columns-scores.png", "columns-objective.png",
  "jspca-ranking.csv", "jspca-objective.png", "jspca-scores.png", "socfs-objective.png", "socfs-scores.png")

# Nothing of an earlier run stays, and nothing else is touched.
fresh_folder <- function(out) {
  dir.create(out, showWarnings = FALSE, recursive = TRUE)
  if (!dir.exists(out)) complain("The folder '", out, "' cannot be made.")
  unlink(file.path(out, ours))
}

write_ranking <- function(fit, name, what, k, out) {
  table <- as.data.frame(fit, what = paste0(what, "s"))
  table$key <- NULL   # orders ties, which the rows do already
  table$chosen <- table$rank <= k
  write_csv(table, file.path(out, paste0(name, "-ranking.csv")))
}

# A spreadsheet takes a text that begins so for a formula and runs it; an apostrophe makes it text.
write_csv <- function(table, file) {
  table[] <- lapply(table, function(column) {
    if (is.character(column)) sub("^([-=+@\t\r])", "'\\1", column) else column
  })
  utils::write.csv(table, file, row.names = FALSE)
}

picture <- function(fit, type, name, out) {
  grDevices::png(file.path(out, paste0(name, "-", type, ".png")), 900, 600, res = 120)
  on.exit(grDevices::dev.off())
  plot(fit, type)
}

failed <- tryCatch({
  quietly(main())
  FALSE
}, demo_error = function(e) e, ufs_error = function(e) e)
if (!isFALSE(failed)) {
  cat("Sorry:", strwrap(conditionMessage(failed), 100L, exdent = 2L), sep = "\n  ", file = stderr())
  quit(status = 1L)
}
