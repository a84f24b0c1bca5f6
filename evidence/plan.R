# Settings between which ufs_select() chooses: scaled or as they are, and what finds the true columns
# among noise. The settings were written down before anything was measured, but for
# words: that to scale them was added after it had won in a trial on the same reviews.
#
#   Rscript evidence/plan.R --data=<folder of sets> [--sets=a,b] [--out=plan.csv]
#   Rscript evidence/plan.R --show --out=plan.csv
#
# Sets as in select.R: 300 rows, of which half choose, and 500 columns; or 50 columns with ten permuted
# copies of each. Besides the sets of the folder, texts of the packages modeldata and text2vec, if they
# are installed, four times with other rows and words (1,000 rows; 100 words with ten permuted copies of
# each), as rows of unit length with tf-idf weights. classify: a linear support vector machine learnt on
# the half that chose; cluster: k-means told the number of classes, % right; true: the share of the
# chosen that are no permuted copies. k = 20, or 30 % of fewer than 60 columns.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
})
library(ufselect)

read_words <- function(package, name) {
  place <- new.env()
  utils::data(list = name, package = package, envir = place)
  d <- place[[ls(place)[1L]]]
  if (package == "modeldata") d <- place$training_data
  parts <- strsplit(gsub("[^a-z]+", " ", tolower(gsub("<[^>]*>", " ", d$review))), " ", fixed = TRUE)
  keep <- sort(sample.int(length(parts), min(1000L, length(parts))))
  parts <- parts[keep]
  found <- sort(table(unlist(lapply(parts, unique))), decreasing = TRUE)
  vocabulary <- names(found)[found >= 6 & nchar(names(found)) > 1L]
  x <- t(vapply(parts, function(part) tabulate(match(part, vocabulary), length(vocabulary)),
    numeric(length(vocabulary))))
  list(x = x[, seq_len(min(1000L, ncol(x)))], y = factor((if (package == "modeldata") d$score else d$sentiment)[keep]))
}
texts <- c(foods = "modeldata", movies = "text2vec")
read_any <- function(folder, set) {
  if (!set %in% names(texts)) return(read_set(folder, set))
  read_words(texts[[set]], c(foods = "small_fine_foods", movies = "movie_review")[[set]])
}

cut_set <- function(data, noise, text) {
  rows <- sort(sample.int(nrow(data$x), min(if (text) 1000L else 300L, nrow(data$x))))
  x <- data$x[rows, ]
  y <- droplevels(data$y[rows])
  keep <- unlist(lapply(split(seq_along(y), y), function(i) if (length(i) > 1L) i))
  x <- x[keep, ]
  y <- droplevels(y[keep])
  at <- sort(unlist(lapply(split(seq_along(y), y), function(i) i[sample.int(length(i), length(i) %/% 2L)])))
  x <- x[, apply(x[at, ], 2L, stats::sd) > 0]
  x <- x[, sort(sample.int(ncol(x), min(if (noise && text) 100L else if (noise) 50L else 500L, ncol(x))))]
  real <- ncol(x)
  if (noise) x <- cbind(x, do.call(cbind, lapply(1:10, function(i) apply(x, 2L, sample))))
  order <- sample.int(ncol(x))
  order <- order[apply(x[at, order], 2L, stats::sd) > 0]
  x <- x[, order]
  colnames(x) <- paste0("v", seq_len(ncol(x)))
  list(x = x, real = order <= real, y = y, at = at, k = if (real < 60L) max(2L, round(.3 * real)) else 20L)
}

# Each a function of the half that chooses (or its tf-idf rows), k and the number of clusters found.
settings <- function(noise, text) {
  consensus <- function(share, scale) function(x, k, h) {
    ufs_consensus(x, max(2L, min(30L, h + 1L)), k = k, share = share, scale = scale)
  }
  pca <- function(scale, most) function(x, k, h) ufs_pca(x, max(1L, min(most, h)), scale = scale)
  # Words were ranked without standardising them and by five components.
  if (noise && text) return(list(`pca unscaled, 5` = function(x, k, h) ufs_pca(x, 5L, scale = FALSE),
    `pca unscaled` = pca(FALSE, 5L), `pca scaled` = pca(TRUE, 5L)))
  if (noise) return(list(`consensus share .1` = consensus(.1, TRUE), `consensus share .05` = consensus(.05, TRUE),
    `pca scaled` = pca(TRUE, 5L), `pca unscaled` = pca(FALSE, 5L),
    `css scaled` = function(x, k, h) ufs_css(x, k, mu_rel = .1)))
  list(`css scaled` = function(x, k, h) ufs_css(x, k, mu_rel = .1),
    `css unscaled` = function(x, k, h) ufs_css(x, k, mu_rel = .1, scale = FALSE),
    `consensus scaled` = consensus(.1, TRUE), `consensus unscaled` = consensus(.1, FALSE))
}

measure <- function(folder, set, noise, seed = 1L) {
  set.seed(seed)
  data <- cut_set(read_any(folder, set), noise, set %in% names(texts))
  counts <- set %in% names(texts)
  x <- data$x[data$at, ]
  spread <- apply(x, 2L, stats::sd)
  z <- scale(x, TRUE, spread)
  zt <- scale(data$x[-data$at, ], colMeans(x), spread)
  y <- data$y[data$at]
  given <- if (counts) ufs_data(x[rowSums(x) > 0, ], counts = "tfidf", unit_rows = TRUE) else x
  look <- suppressMessages(ufs_look(x))
  standard <- if (counts) scale(as.matrix(given)) else z
  h <- sum(svd(standard, 0L, 0L)$d > svd(apply(standard, 2L, sample), 0L, 0L)$d[1L])
  rows <- lapply(names(settings(noise, counts)), function(name) {
    seconds <- cpu(fit <- suppressMessages(suppressWarnings(settings(noise, counts)[[name]](given, data$k, h))))
    chosen <- suppressMessages(selected_features(fit, data$k, as = "index"))
    model <- e1071::svm(z[, chosen, drop = FALSE], y, kernel = "linear", cost = 1, scale = FALSE)
    both <- rbind(z, zt)[, chosen, drop = FALSE]
    truth <- c(as.character(y), as.character(data$y[-data$at]))
    groups <- replicate(3L, suppressWarnings(stats::kmeans(both, min(nlevels(y), nrow(unique(both))),
      nstart = 10L, iter.max = 100L))$cluster)
    data.frame(set = set, noise = if (noise) 10L else 0L, setting = name, seed = seed,
      version = as.character(utils::packageVersion("ufselect")), values = if (counts) "counts" else look$values,
      raw = isTRUE(look$raw), n = nrow(x), p = ncol(x), k = data$k, components = h,
      classify = 100 * mean(stats::predict(model, zt[, chosen, drop = FALSE]) == data$y[-data$at]),
      cluster = 100 * mean(apply(groups, 2L, function(g) ufs_cluster_metrics(g, truth)[["accuracy"]])),
      true = mean(data$real[chosen]), seconds = seconds)
  })
  do.call(rbind, rows)
}

show_all <- function(table) {
  kind <- ifelse(table$set %in% names(texts), "text", ifelse(table$values == "one unit", ifelse(table$raw, "raw",
    "one unit"), "other"))
  means <- stats::aggregate(table[c("classify", "cluster", "true")], list(setting = table$setting, kind = kind,
    noise = table$noise), mean)
  means$sets <- stats::aggregate(table$k, list(table$setting, kind, table$noise), length)$x
  print(means[order(means$noise, means$kind), ], digits = 3L, row.names = FALSE)
  pair <- function(one, two, noise) for (kind_of in unique(kind)) {
    a <- table[table$setting == one & table$noise == noise & kind == kind_of, ]
    b <- table[table$setting == two & table$noise == noise & kind == kind_of, ]
    if (!nrow(a) || !nrow(b)) next
    b <- b[match(paste(a$set, a$seed), paste(b$set, b$seed)), ]
    for (what in c("classify", "cluster", "true")) {
      gain <- a[[what]] - b[[what]]
      if (what == "true") gain <- 100 * gain
      if (any(gain != 0)) {
        say("%s over %s, noise %d, %s, %s: %+.1f (s.e. %.1f), won %d, lost %d of %d\n", one, two,
          noise, kind_of, what, mean(gain), stats::sd(gain) / sqrt(length(gain)), sum(gain > 1),
          sum(gain < -1), length(gain))
      }
    }
  }
  pair("css unscaled", "css scaled", 0L)
  pair("consensus unscaled", "consensus scaled", 0L)
  pair("consensus share .05", "consensus share .1", 10L)
  pair("pca scaled", "consensus share .1", 10L)
  pair("pca scaled", "pca unscaled", 10L)
  pair("pca scaled", "pca unscaled, 5", 10L)
}

out <- option("out", "plan.csv")
if ("--show" %in% commandArgs(TRUE)) {
  show_all(utils::read.csv(out, stringsAsFactors = FALSE))
} else {
  folder <- option("data")
  sets <- sort(sub("[.]rds$", "", list.files(folder, "[.]rds$")), method = "radix")
  sets <- c(sets, names(texts)[vapply(texts, requireNamespace, NA, quietly = TRUE)])
  if (!is.null(option("sets"))) sets <- words(option("sets"))
  for (set in sets) for (noise in c(FALSE, TRUE)) for (seed in if (set %in% names(texts)) 1:4 else 1L) {
    rows <- measure(folder, set, noise, seed)
    numbers <- vapply(rows, is.double, NA)
    rows[numbers] <- lapply(rows[numbers], signif, 4L)
    new <- !file.exists(out)
    utils::write.table(rows, out, append = !new, sep = ",", col.names = new, row.names = FALSE, qmethod = "double")
    say("%s %s: %s\n", set, if (noise) "noise" else "", paste(rows$setting, rows$true, collapse = ", "))
  }
}
