# Small questions behind the advice of the help pages, each asked of real sets: one line for each set,
# variant and measure. vignette("evidence") is computed from this table.
#
#   Rscript findings.R --data=FOLDER [--findings=ndfs,sogfs] [--sets=wine,sonar] [--out=file.csv]
#
# Sets are cut to 300 rows and 1,000 columns, the same ones in every run, and standardised unless the
# question is about scaling. Accuracies are per cent: k-means (5 seeds, 5 starts each) on the best k
# columns for both k of two_k(), or classifiers where a finding says so.
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

folder <- option("data", Sys.getenv("UFSELECT_DATA"))
quiet <- ufs_control(warn = FALSE)

cut_set <- function(set, rows = 300L, columns = 1000L) {
  data <- read_set(folder, set)
  set.seed(1)
  at <- sort(sample.int(nrow(data$x), min(rows, nrow(data$x))))
  x <- data$x[at, ]
  x <- x[, apply(x, 2L, stats::sd) > 0]
  x <- x[, sort(sample.int(ncol(x), min(columns, ncol(x))))]
  colnames(x) <- paste0("v", seq_len(ncol(x)))
  y <- droplevels(data$y[at])
  list(set = set, raw = x, x = scale(x)[, ], y = y, classes = nlevels(y), k = two_k(ncol(x)))
}

kmeans_accuracy <- function(data, columns) {
  z <- data$x[, columns, drop = FALSE]
  if (nrow(unique(z)) < data$classes) return(NA_real_)
  100 * mean(vapply(1:5, function(seed) {
    set.seed(seed)
    found <- silently(stats::kmeans(z, data$classes, nstart = 5L, iter.max = 100L))$cluster
    ufs_cluster_metrics(found, data$y)[["accuracy"]]
  }, 0))
}
# Of a fit, or of one fit for each k.
ranked_accuracy <- function(data, fit) {
  mean(vapply(data$k, function(k) {
    one <- silently(if (is.function(fit)) fit(k) else fit)
    kmeans_accuracy(data, silently(selected_features(one, k, as = "index")))
  }, 0), na.rm = TRUE)
}
svm_accuracy <- function(data, fit) {
  halves <- vapply(1:3, function(seed) {
    set.seed(seed)
    at <- sample.int(nrow(data$x), nrow(data$x) %/% 2L)
    100 * mean(vapply(data$k, function(k) {
      z <- data$x[, selected_features(fit, k, as = "index"), drop = FALSE]
      model <- e1071::svm(z[at, ], droplevels(data$y[at]), kernel = "linear", cost = 1, scale = FALSE)
      mean(as.character(stats::predict(model, z[-at, ])) == as.character(data$y[-at]))
    }, 0))
  }, 0)
  mean(halves)
}
value <- function(case, measure, value) data.frame(case = case, measure = measure, value = as.numeric(value))
final <- function(fit) utils::tail(fit$trace$objective, 1L)

small <- c("wine", "wdbc", "sonar", "dermatology", "ionosphere", "libras", "vehicle", "segment")
wide <- c("lung_discrete", "tissue", "warpPIE10P", "tox171")
many <- c(small, wide, "musk1", "usps", "isolet", "orl")

# One function for each finding; `sets` where they differ from `many`.
findings <- list(
  label_samples = list(sets = c("wine", "dermatology", "libras", "segment", "vehicle", "usps", "isolet", "coil20", "orl",
    "musk1", wide), run = function(data) {
    samplers <- list(`ufs_medoids(unit = TRUE)` = function(z, m) ufs_medoids(z, m = m, unit = TRUE),
      `ufs_medoids(unit = FALSE)` = function(z, m) ufs_medoids(z, m = m, unit = FALSE),
      `ufs_facility()` = function(z, m) ufs_facility(z, m = m),
      `ufs_ted(unit = TRUE)` = function(z, m) ufs_ted(z, m = m, unit = TRUE),
      `ufs_ted(unit = FALSE)` = function(z, m) ufs_ted(z, m = m, unit = FALSE),
      `ufs_ted(form = "convex")` = function(z, m) ufs_ted(z, m = m, form = "convex"),
      `ufs_rrss()` = function(z, m) ufs_rrss(z, m = m), `ufs_alnr()` = function(z, m) ufs_alnr(z, m = m),
      `ufs_alfs(select_samples = "norm")` = function(z, m) ufs_alfs(z, m = m, select_samples = "norm"))
    splits <- lapply(1:5, function(seed) {
      set.seed(seed)
      at <- sort(unlist(lapply(split(seq_along(data$y), data$y), function(i) i[sample.int(length(i), ceiling(length(i) / 2))])))
      z <- data$x[at, apply(data$x[at, ], 2L, stats::sd) > 0]
      test <- data$x[-at, colnames(z)]
      judge <- function(chosen) {
        y <- droplevels(data$y[at][chosen])
        svm <- if (nlevels(y) < 2L) rep(levels(y), nrow(test)) else
          stats::predict(e1071::svm(z[chosen, ], y, kernel = "linear", cost = 1, scale = FALSE), test)
        near <- class::knn1(z[chosen, ], test, y)
        50 * (mean(as.character(svm) == data$y[-at]) + mean(as.character(near) == data$y[-at]))
      }
      do.call(rbind, lapply(c(2L, 5L), function(each) {
        m <- min(each * data$classes, length(at) - 1L)
        random <- mean(replicate(10L, judge(sample.int(length(at), m))))
        gain <- vapply(samplers, function(s) judge(selected_samples(silently(s(z, m)), m, as = "index")), 0)
        data.frame(case = c(names(samplers), "random"), value = c(gain, random))
      }))
    })
    found <- stats::aggregate(value ~ case, do.call(rbind, splits), mean)
    value(found$case, "accuracy", found$value)
  }),
  alfs_ranking = list(sets = c("musk1", "orl", wide), run = function(data) {
    variants <- list(norm = list(select_samples = "norm"), pivot = list(select = "pivot", select_samples = "norm"),
      TED = list(select_samples = "ted"), `pivot, TED` = list(select = "pivot", select_samples = "ted"))
    methods <- c(stats::setNames(rep("alfs", 4L), names(variants)), `random + TED` = "random+ted")
    half <- nrow(data$x) %/% 2L
    judged <- summary(silently(ufs_compare(data$x, data$y, methods, k = c(10, 30, 90), m = c(half %/% 4L, half %/% 2L),
      classifiers = c("svm", "knn"), repeats = 4L, args = variants)))$table
    grouped <- summary(silently(ufs_compare(data$x, data$y, methods[1:2], k = c(10, 30, 90), mode = "cluster",
      repeats = 4L, args = variants[1:2])))$table
    each <- function(table, measure) {
      mean_of <- tapply(100 * table$mean, table$method, mean, na.rm = TRUE)
      value(names(mean_of), measure, mean_of)
    }
    rbind(each(judged, "classifiers"), each(grouped, "k-means"))
  }),
  alfs_published = list(sets = c("musk1", "orl", wide), run = function(data) {
    do.call(rbind, lapply(c("standardised", "divided by the largest singular value"), function(unit) {
      x <- if (unit == "standardised") data$x else data$raw / norm(data$raw, "2")
      given <- list(x, center = FALSE, scale = FALSE, select = "norm", control = quiet)
      fit <- lapply(c("admm", "paper"), function(solver) silently(do.call(ufs_alfs, c(given, solver = solver))))
      common <- length(intersect(feature_ranking(fit[[1L]])[1:20], feature_ranking(fit[[2L]])[1:20]))
      value(unit, c("above the optimum", "common"), c(100 * (final(fit[[2L]]) / final(fit[[1L]]) - 1), common))
    }))
  }),
  topk_links = list(sets = c("wine", "libras", wide), run = function(data) {
    do.call(rbind, lapply(c(paper = FALSE, nonnegative = TRUE), function(nonnegative) {
      fit <- silently(ufs_topk(data$x, data$k[1L], n_clusters = data$classes,
        control = ufs_control(paper = list(nonnegative = nonnegative))))
      labelled <- data$y
      set.seed(1)
      rows <- unlist(lapply(split(seq_along(labelled), labelled), function(i) i[sample.int(length(i), min(3L, length(i) - 1L))]))
      labelled[-rows] <- NA
      half <- silently(ufs_topk(data$x, data$k[1L], y = labelled,
        control = ufs_control(paper = list(nonnegative = nonnegative))))
      rest <- is.na(labelled)
      case <- if (nonnegative) "nonnegative = TRUE" else "nonnegative = FALSE"
      value(case, c("clusters", "labels"), 100 * c(ufs_cluster_metrics(fit$solution$cluster, data$y)[["accuracy"]],
        mean(half$solution$label[rest] == data$y[rest])))
    }))
  }),
  topk_solvers = list(sets = c("wine", "libras", "lung_discrete", "tissue"), run = function(data) {
    do.call(rbind, lapply(c("paper", "exact"), function(solver) {
      seconds <- cpu(fit <- silently(ufs_topk(data$x, data$k[1L], n_clusters = data$classes, solver = solver)))
      value(solver, c("objective", "seconds"), c(final(fit), seconds))
    }))
  }),
  jspca_loss = list(run = function(data) {
    do.call(rbind, lapply(c("sample", "feature"), function(loss) {
      seconds <- cpu(fit <- ufs_jspca(data$x, min(data$classes, ncol(data$x) - 1L), loss = loss, control = quiet))
      value(loss, c("k-means", "svm", "seconds"), c(ranked_accuracy(data, fit), svm_accuracy(data, fit), seconds))
    }))
  }),
  ndfs_start = list(sets = wide, run = function(data) {
    set.seed(1)
    start <- sample(rep_len(seq_len(data$classes), nrow(data$x)))
    do.call(rbind, lapply(c(1e8, 1), function(gamma) {
      fit <- silently(ufs_ndfs(data$x, data$classes, gamma = gamma, init = start, control = quiet))
      default <- silently(ufs_ndfs(data$x, data$classes, gamma = gamma, control = quiet))
      k <- min(50L, ncol(data$x))
      common <- intersect(feature_ranking(fit)[seq_len(k)], feature_ranking(default)[seq_len(k)])
      value(sprintf("gamma = %g", gamma), c("leave", "common"), c(100 * mean(fit$solution$cluster != start), length(common)))
    }))
  }),
  mcfs_scale = list(run = function(data) {
    do.call(rbind, lapply(c(TRUE, FALSE), function(scale) {
      value(sprintf("scale = %s", scale), "k-means",
        ranked_accuracy(data, function(k) ufs_mcfs(data$raw, data$classes, n_features = k, scale = scale)))
    }))
  }),
  sogfs_live = list(sets = c("wine", "sonar", "libras", wide), run = function(data) {
    do.call(rbind, lapply(c(100, 1, .1, .01), function(gamma) {
      fit <- silently(ufs_sogfs(data$x, data$classes, gamma = gamma, control = quiet))
      value(sprintf("%g", gamma), c("live", "n_dims"), c(sum(fit$feature_scores > 1e-6 * max(fit$feature_scores)),
        fit$params$n_dims))
    }))
  }),
  blfse = list(sets = c(small, "lung_discrete", "tissue", "warpPIE10P"), run = function(data) {
    several <- c("variance", "kmeans_f", "inffs", "laplacian", "socfs", "pca", "mcfs", "spec")
    do.call(rbind, lapply(list(batches = NULL, selectors = several), function(base) {
      do.call(rbind, lapply(data$k, function(k) {
        set.seed(1)
        given <- if (is.null(base)) list() else list(base = base)
        fit <- silently(do.call(ufs_blfse, c(list(data$x, data$classes, k, control = quiet), given)))
        case <- paste0(if (is.null(base)) "batches" else "selectors", ", k = ", k)
        at <- function(fit) kmeans_accuracy(data, silently(selected_features(fit, k, as = "index")))
        value(case, c("blfse", "mean"), c(at(fit), at(utils::modifyList(fit, list(feature_scores = fit$solution$mean_score, feature_ranking = order(-fit$solution$mean_score))))))
      }))
    }))
  }),
  diversify = list(run = function(data) {
    fits <- list(laplacian = ufs_laplacian(data$x), kmeans_f = ufs_kmeans_f(data$x, data$classes),
      pca = ufs_pca(data$x, min(data$classes, ncol(data$x) - 1L)), socfs = ufs_socfs(data$x, data$classes))
    do.call(rbind, lapply(names(fits), function(name) {
      alone <- ranked_accuracy(data, fits[[name]])
      differing <- ranked_accuracy(data, function(k) ufs_diversify(fits[[name]], data$x, k, how = "css"))
      value(name, c("alone", "diversified"), c(alone, differing))
    }))
  })
)

wanted <- words(option("findings", paste(names(findings), collapse = ",")))
rows <- do.call(rbind, lapply(wanted, function(name) {
  sets <- if (is.null(findings[[name]]$sets)) many else findings[[name]]$sets
  if (!is.null(option("sets"))) sets <- intersect(sets, words(option("sets")))
  do.call(rbind, lapply(sets, function(set) {
    set.seed(1)
    seconds <- cpu(found <- silently(findings[[name]]$run(cut_set(set))))
    say("%s %s: %.1f CPU s\n", name, set, seconds)
    cbind(finding = name, set = set, found)
  }))
}))
rows$value <- signif(rows$value, 5L)
if (!is.null(option("out"))) write_table(rows, option("out"))
