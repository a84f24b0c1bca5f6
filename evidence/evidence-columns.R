# Columns that stand for all columns: reconstruction of all columns on new rows, and a linear
# support vector machine on the chosen columns, for greedy column selection and what it is held
# against; then what taking redundancy out of a ranking does to k-means.
#   Rscript evidence-columns.R --data=FOLDER [--sets=...] [--splits=5] [--out=file.csv]
# Half of the rows choose (stratified); ridge regression of all columns on the chosen ones is learnt
# on these (ridge 0.1 times the mean eigenvalue) and judged on the other half.
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

folder <- option("data", Sys.getenv("UFSELECT_DATA"))
sets <- words(option("sets", "wine,dermatology,libras,lung_discrete,tissue,warpPIE10P,sonar,wdbc"))
splits <- as.integer(option("splits", "5"))

rankers <- list(
  `css .1` = function(z, c, k) ufs_css(z, k = k),
  `css 1` = function(z, c, k) ufs_css(z, k = k, mu_rel = 1),
  `css 0` = function(z, c, k) ufs_css(z, k = k, mu_rel = 0),
  `jspca sample` = function(z, c, k) ufs_jspca(z, c, loss = "sample"),
  mcfs = function(z, c, k) ufs_mcfs(z, c),
  laplacian = function(z, c, k) ufs_laplacian(z, center = TRUE, scale = TRUE),
  `laplacian+diversify` = function(z, c, k) {
    ufs_diversify(ufs_laplacian(z, center = TRUE, scale = TRUE), z, k)
  },
  kmeans_f = function(z, c, k) ufs_kmeans_f(z, c),
  `kmeans_f+diversify` = function(z, c, k) ufs_diversify(ufs_kmeans_f(z, c), z, k),
  pca = function(z, c, k) ufs_pca(z, min(c, ncol(z), nrow(z) - 1L)),
  `pca+diversify` = function(z, c, k) ufs_diversify(ufs_pca(z, min(c, ncol(z), nrow(z) - 1L)), z, k),
  consensus = function(z, c, k) ufs_consensus(z, c, k = k),
  variance = function(z, c, k) ufs_variance(z, scale = FALSE),
  random = function(z, c, k) ufs_random(z)
)

rebuild_error <- function(train, test, columns) {
  a <- train[, columns, drop = FALSE]
  gram <- crossprod(a)
  coef <- solve(gram + .1 * mean(diag(gram)) * diag(length(columns)), crossprod(a, train))
  sum((test - test[, columns, drop = FALSE] %*% coef)^2) / sum(test^2)
}

all <- list()
for (set in sets) {
  data <- read_set(folder, set)
  classes <- nlevels(data$y)
  cpu_used <- cpu(for (split in seq_len(splits)) {
    set.seed(split)
    at <- sort(unlist(lapply(split(seq_along(data$y), data$y), function(i) {
      i[sample.int(length(i), (length(i) + 1L) %/% 2L)]
    })))
    spread <- apply(data$x[at, ], 2L, stats::sd)
    z <- scale(data$x[, spread > 0], colMeans(data$x[at, spread > 0]), spread[spread > 0])
    train <- z[at, ]
    test <- z[-at, ]
    for (k in two_k(ncol(z))) {
      for (name in names(rankers)) {
        fit <- try(suppressWarnings(suppressMessages(rankers[[name]](train, classes, k))), silent = TRUE)
        if (inherits(fit, "try-error")) next
        columns <- suppressMessages(selected_features(fit, k, as = "index"))
        guess <- stats::predict(e1071::svm(train[, columns], data$y[at], kernel = "linear", cost = 100,
          scale = FALSE), test[, columns])
        groups <- suppressWarnings(stats::kmeans(train[, columns], classes, nstart = 5L, iter.max = 100L))$cluster
        all[[length(all) + 1L]] <- data.frame(set = set, split = split, k = k, method = name,
          error = 100 * rebuild_error(train, test, columns),
          svm = 100 * mean(as.character(guess) == as.character(data$y[-at])),
          cluster = 100 * ufs_cluster_metrics(groups, data$y[at])[["accuracy"]])
      }
    }
  })
  cat(set, "CPU", round(cpu_used), "s\n")
}
all <- do.call(rbind, all)

# Means over splits and sizes, and what they are above random columns.
measures <- c("error", "svm", "cluster")
means <- stats::aggregate(all[measures], all[c("set", "method")], mean)
above <- means[measures] - means[means$method == "random", ][match(means$set, means$set[means$method == "random"]), measures]
written <- cbind(means, stats::setNames(above, paste0(measures, "_gain")))
written[-(1:2)] <- round(written[-(1:2)], 1L)
if (!is.null(option("out"))) utils::write.csv(written, option("out"), row.names = FALSE)
