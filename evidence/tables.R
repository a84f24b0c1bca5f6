# Several tables of the same samples as one x: does the choice leave the largest table the others' place, and
# how well do the columns show classes that nobody told it?
#   Rscript tables.R --data=FOLDER [--packages=FOLDER] [--sets=jv73] [--method=css] [--splits=10] [--out=tables.csv]
#
# dermatology  signs seen by eye, and under a microscope; six diseases (FOLDER/dermatology.rds)
# jv73         rivers of the Jura: shape, chemistry, fishes; which river (package ade4)
# lascaux      trout: counts, lengths, colours, ornaments; which river (ade4; rows without missing values)
# piosphere    plants around a waterhole, and soil; kind of habitat (ade4)
# nutrimouse   genes and lipids of mice (package CCA); diet, and the same with genotype
# --packages: unpacked sources of packages that are not installed.
#
# Half of each class chooses `k` columns, and the other half is told by its five nearest neighbours on these; kmeans: both
# halves grouped by k-means on them. The columns are chosen from
#   list       the tables as a list
#   quotas     the same, with as many columns from each table, as far as it has them
#   cbind      all columns side by side, standardised
#   a table    it alone, by its name
# largest: the part of the columns chosen that is of the table with most columns. Means over the splits, accuracies in %.
evidence_only_definitions <- TRUE
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  here <- dirname(file[1L])
  sys.source(file.path(here, "select.R"), globalenv())
  # The reader of cells.R, without running it.
  for (part in parse(file.path(here, "cells.R"))) {
    if (is.call(part) && identical(part[[2L]], as.name("from_package"))) eval(part, globalenv())
  }
})
sources <- option("packages", "")
folder <- option("data", Sys.getenv("UFSELECT_DATA"))

from_ade4 <- function(name, parts, class) {
  data <- from_package("ade4", name)[[name]]
  if (is.null(data)) return(NULL)
  list(tables = data[parts], y = data[[class]])
}
of_mice <- function(y) {
  data <- from_package("CCA", "nutrimouse")$nutrimouse
  if (is.null(data)) return(NULL)
  list(tables = data[c("gene", "lipid")], y = y(data))
}
table_sets <- list(
  dermatology = function() {
    data <- tryCatch(read_set(folder, "dermatology"), error = function(e) NULL)
    if (is.null(data)) return(NULL)
    seen <- c(1:11, 34)
    list(tables = list(clinical = data$x[, seen], histology = data$x[, -seen]), y = data$y)
  },
  jv73 = function() from_ade4("jv73", c("morpho", "phychi", "poi"), "fac.riv"),
  lascaux = function() from_ade4("lascaux", c("meris", "morpho", "colo", "ornem"), "riv"),
  piosphere = function() from_ade4("piosphere", c("veg", "env"), "habitat"),
  "nutrimouse diet" = function() of_mice(function(data) data$diet),
  "nutrimouse genotype" = function() of_mice(function(data) data$genotype))

# Rows without missing values, of classes of four or more; matrices with names.
read_tables <- function(set) {
  data <- table_sets[[set]]()
  if (is.null(data)) return(NULL)
  tables <- lapply(data$tables, data.matrix)
  y <- factor(data$y)
  keep <- stats::complete.cases(do.call(cbind, tables)) & !is.na(y)
  keep <- keep & y %in% names(which(table(y[keep]) >= 4L))
  tables <- lapply(tables, function(table) {
    dimnames(table) <- NULL
    table[keep, ]
  })
  list(tables = tables, y = droplevels(y[keep]))
}

methods <- list(
  css = function(x, k, ...) ufs_css(x, k = min(k, ufs_data(x)$p), ...),
  pca = function(x, k, ...) ufs_pca(x, 5, k = k, ...))

one_split <- function(data, seed, k) {
  set.seed(seed)
  y <- data$y
  at <- sort(unlist(lapply(split(seq_along(y), y), function(i) i[sample.int(length(i), length(i) %/% 2L)])))
  tables <- lapply(data$tables, function(table) table[, apply(table[at, ], 2L, stats::sd) > 0])
  of <- rep(names(tables), vapply(tables, ncol, 0L))
  half <- halves(list(x = do.call(cbind, tables), y = y, at = at))
  inside <- lapply(tables, function(table) table[at, ])
  # As many of each table, and of the others what one lacks.
  size <- table(factor(of, names(tables)))
  even <- vapply(names(size), function(name) min(k %/% length(size), size[[name]]), 0)
  ways <- c(list(
    list = function(choose) choose(inside, k),
    quotas = function(choose) choose(inside, k, feature_quotas = lapply(even, function(least) c(least, Inf))),
    cbind = function(choose) choose(half$x, k)),
    lapply(inside, function(table) function(choose) choose(table, min(k, ncol(table)))))
  rows <- NULL
  for (way in names(ways)) {
    fit <- suppressMessages(suppressWarnings(ways[[way]](methods[[option("method", "css")]])))
    chosen <- suppressMessages(selected_features(fit, min(k, length(fit$feature_scores)), as = "index"))
    if (way %in% names(tables)) chosen <- which(of == way)[chosen]
    set.seed(seed)
    near <- class::knn(half$z[, chosen, drop = FALSE], half$zt[, chosen, drop = FALSE], half$y, 5L)
    rows <- rbind(rows, data.frame(way, knn = 100 * mean(near == half$yt),
      kmeans = tasks$cluster$judge(half$z, half$zt, half$y, half$yt, chosen),
      largest = mean(of[chosen] == names(which.max(size)))))
  }
  rows
}

main <- function() {
  names <- option("sets")
  all <- NULL
  for (set in if (is.null(names)) names(table_sets) else words(names)) {
    data <- read_tables(set)
    if (is.null(data)) {
      say("%s: not there, left out\n", set)
      next
    }
    for (k in c(5L, 10L)) {
      rows <- do.call(rbind, lapply(seq_len(as.integer(option("splits", "10"))), function(seed) one_split(data, seed, k)))
      rows$way <- factor(rows$way, unique(rows$way))
      means <- stats::aggregate(rows[c("knn", "kmeans", "largest")], rows["way"], mean)
      all <- rbind(all, cbind(set, k, means["way"], round(means[c("knn", "kmeans")], 1L), largest = round(means$largest, 2L)))
      size <- vapply(data$tables, ncol, 0L)
      say("%s: %d rows, columns %s\n", set, length(data$y), paste(names(size), size, collapse = ", "))
      print(all[all$set == set & all$k == k, -1], row.names = FALSE)
    }
  }
  write_table(all, option("out", "tables.csv"))
}
if (!exists("tables_only_definitions")) main()
