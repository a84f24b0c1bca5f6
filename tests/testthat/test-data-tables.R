# Several tables as one x: two sets of factors, of which the larger table has one and the smaller
# the other, in other units.
two_tables <- function(n = 60, p = 30, q = 6) {
  withr::with_seed(1, {
    f <- matrix(rnorm(n * 4), n)
    a <- f[, 1:2] %*% matrix(rnorm(2 * p), 2) + matrix(rnorm(n * p, sd = .5), n)
    b <- f[, 3:4] %*% matrix(rnorm(2 * q), 2) + matrix(rnorm(n * q, sd = .5), n)
  })
  dimnames(a) <- list(paste0("s", seq_len(n)), paste0("g", seq_len(p)))
  dimnames(b) <- list(paste0("s", seq_len(n)), paste0("p", seq_len(q)))
  b[, 2] <- 5 + 3 * b[, 2]
  list(genes = a, proteins = b)
}

# The same by hand: every table standardised, of total variance one, times the root of `total`.
tables_by_hand <- function(x, total = 1, standard = TRUE) {
  z <- do.call(cbind, unname(Map(function(table, name) {
    table <- scale(table, scale = if (standard) apply(table, 2, sd) else FALSE)
    table <- table / sqrt(sum(apply(table, 2, var)))
    colnames(table) <- paste0(name, ":", colnames(table))
    table
  }, x, names(x))))
  z * sqrt(total)
}

expect_same_fit <- function(fit, other, tolerance = 1e-10) {
  expect_identical(unname(fit$feature_ranking), unname(other$feature_ranking))
  expect_identical(unname(fit$sample_ranking), unname(other$sample_ranking))
  expect_equal(fit$feature_scores, other$feature_scores, tolerance = tolerance)
  expect_equal(fit$sample_scores, other$sample_scores, tolerance = tolerance)
  expect_equal(fit$certificate, other$certificate, tolerance = tolerance)
}

x <- two_tables()
fit <- ufs_css(x, 5)

test_that("tables are standardised each by itself and have equal total variance", {
  z <- tables_by_hand(x, 36 / 2)
  both <- function(fun, ...) {
    expect_same_fit(withr::with_seed(1, fun(x, ..., center = TRUE, scale = TRUE)),
      withr::with_seed(1, fun(z, ..., center = FALSE, scale = FALSE)))
  }
  for (fun in list(ufs_facility, ufs_medoids, ufs_ted)) both(fun, m = 6)
  for (fun in list(ufs_pca, ufs_jspca)) both(fun, n_components = 3)
  both(ufs_css, k = 5)
  both(ufs_alfs)
  expect_same_fit(ufs_css(x, 5), ufs_css(tables_by_hand(x), 5, center = FALSE, scale = FALSE))
  # As they are: columns of a table keep their spread, its total is that of the other.
  plain <- tables_by_hand(x, sum(apply(do.call(cbind, x), 2, var)) / 2, standard = FALSE)
  expect_same_fit(ufs_variance(x), ufs_variance(plain))
  expect_same_fit(ufs_pca(x, 2, scale = FALSE), ufs_pca(plain, 2, scale = FALSE))
  expect_same_fit(ufs_laplacian(x), ufs_laplacian(plain))
  score <- ufs_variance(x)$feature_scores
  expect_equal(sum(score[1:30]), sum(score[31:36]))
})

test_that("methods with columns of length one, graphs and models of their own weigh tables", {
  z <- tables_by_hand(x, 36 / 2)
  unit <- z / sqrt(nrow(z) - 1)
  own <- function(fun, ...) {
    withr::with_seed(1, on <- suppressWarnings(fun(x, ..., center = TRUE, scale = TRUE)))
    withr::with_seed(1, by <- suppressWarnings(fun(unit, ..., center = FALSE, scale = FALSE)))
    expect_equal(on$feature_scores, by$feature_scores, tolerance = 1e-6)
  }
  own(ufs_rsr)
  own(ufs_udfs, n_clusters = 3)
  graph <- ufs_graph(z)
  expect_equal(as.matrix(ufs_graph(x, center = TRUE, scale = TRUE)), as.matrix(graph))
  expect_same_fit(ufs_laplacian(x, graph = list(scale = TRUE)), ufs_laplacian(x, graph = graph))
  draws <- withr::with_seed(2, list(scores = matrix(runif(3 * 36), 3), labels = matrix(rep(1:3, 60), 60)))
  zscore <- function(x, ...) {
    suppressWarnings(ufs_blfse(x, n_clusters = 3, k = 5, scores = draws$scores, labels = draws$labels, ...))
  }
  on <- zscore(x, scale = "zscore")
  expect_equal(on$feature_scores, zscore(z / 6, scale = FALSE, center = FALSE)$feature_scores, tolerance = 1e-8)
  expect_equal(on$scale, 6 * apply(do.call(cbind, x), 2, sd) * rep(sqrt(c(30, 6) / 18), c(30, 6)),
    tolerance = 1e-12, ignore_attr = TRUE)
  expect_equal(on$center, colMeans(do.call(cbind, x)), tolerance = 1e-10, ignore_attr = TRUE)
})

test_that("the order of tables and rows, copies and constant columns change nothing; subsets keep what tables weigh", {
  chosen <- selected_features(fit)
  turned <- list(proteins = x$proteins[60:1, ], genes = x$genes)
  expect_identical(selected_features(ufs_css(turned, 5)), chosen)
  expect_identical(rownames(ufs_data(turned)), rev(rownames(x$genes)))
  twice <- ufs_css(c(x, list(again = x$proteins)), 5)
  expect_same_fit(twice, ufs_css(tables_by_hand(c(x, list(again = x$proteins))), 5, center = FALSE, scale = FALSE))
  flat <- x
  flat$genes <- cbind(flat$genes, flat = 1)
  expect_warning(constant <- ufs_css(flat, 5), class = "ufs_warning_constant")
  expect_identical(selected_features(constant), chosen)
  expect_equal(constant$certificate, fit$certificate, tolerance = 1e-12)
  none <- c(x["genes"], list(flat = matrix(1, 60, 2, dimnames = list(rownames(x$genes), NULL))))
  expect_equal(suppressWarnings(ufs_css(none, 4))$certificate, ufs_css(x$genes, 4)$certificate)
  expect_identical(unname(ufs_pca(x["genes"], 2)$feature_scores), unname(ufs_pca(x$genes, 2)$feature_scores))
  far <- list(genes = x$genes * 1e200, proteins = x$proteins * 1e-200)
  expect_equal(ufs_pca(far, 2)$feature_scores, ufs_pca(x, 2)$feature_scores)
  part <- ufs_data(x)[1:40, c(1:4, 31:33)]
  expect_identical(levels(part$input$tables$of), c("genes", "proteins"))
  expect_identical(as.vector(table(part$input$tables$of)), 4:3)
  z <- cbind(scale(x$genes[1:40, 1:4]) / sqrt(30), scale(x$proteins[1:40, 1:3]) / sqrt(6))
  expect_equal(ufs_css(part, 3)$certificate, ufs_css(z, 3, center = FALSE, scale = FALSE)$certificate)
  again <- ufs_data(part, features = 2:6)
  expect_equal(ufs_css(again, 3)$certificate, ufs_css(z[, 2:6], 3, center = FALSE, scale = FALSE)$certificate)
  all <- ufs_data(x)[, c(1:4, 31:33)]
  plain <- tables_by_hand(x, standard = FALSE)[, c(1:4, 31:33)]
  expect_equal(ufs_css(all, 3, scale = FALSE)$certificate, ufs_css(plain, 3, center = FALSE, scale = FALSE)$certificate)
  # Columns that are left out at the door have never been there.
  expect_equal(ufs_css(x, 3, features = c(1:4, 31:33))$certificate,
    ufs_css(list(a = x$genes[, 1:4], b = x$proteins[, 1:3]), 3)$certificate)
})

test_that("row weights, missing values and sparse tables go with several tables", {
  weight <- rep(1:2, 30)
  long <- lapply(x, function(table) unname(table)[rep(1:60, weight), ])
  for (scale in c(TRUE, FALSE)) {
    expect_equal(unname(ufs_pca(x, 2, weights = weight, scale = scale)$feature_scores),
      unname(ufs_pca(long, 2, scale = scale)$feature_scores), tolerance = 1e-8)
  }
  gone <- x
  gone$genes[3, 4] <- NA
  gone$proteins[1:2, 1] <- NA
  expect_error(ufs_css(gone, 3), "genes:g4", class = "ufs_error_input")
  filled <- lapply(gone, function(table) {
    apply(table, 2, function(value) replace(value, is.na(value), median(value, na.rm = TRUE)))
  })
  fit <- ufs_css(gone, 3, na = "median")
  expect_same_fit(fit, ufs_css(filled, 3))
  expect_identical(predict(fit, gone), predict(fit, filled))
  expect_identical(dim(ufs_data(gone, na = "omit")), c(57L, 36L))
  skip_if_not_installed("Matrix")
  thin <- withr::with_seed(3, list(a = Matrix::rsparsematrix(50, 20, .2), b = Matrix::rsparsematrix(50, 8, .3)))
  expect_identical(ufs_data(thin)$kind, "sparse")
  dense <- lapply(thin, as.matrix)
  for (other in list(dense, c(dense[1], thin[2]))) {
    expect_equal(ufs_css(thin, 4)$certificate, ufs_css(other, 4)$certificate, tolerance = 1e-10)
  }
  expect_s4_class(predict(ufs_css(thin, 4), thin), "dgCMatrix")
  graph <- list(scale = TRUE)
  expect_equal(ufs_laplacian(thin, graph = graph)$feature_scores, ufs_laplacian(dense, graph = graph)$feature_scores)
})

test_that("predict() takes a list of tables, or what it makes of one; factors of a table are columns of it", {
  chosen <- selected_features(fit)
  whole <- cbind(x$genes, x$proteins)
  colnames(whole) <- c(paste0("genes:", colnames(x$genes)), paste0("proteins:", colnames(x$proteins)))
  expect_identical(predict(fit, x), whole[, chosen])
  new <- list(proteins = as.data.frame(x$proteins[3:1, ]), genes = as.data.frame(x$genes[1:3, ]))
  expect_identical(predict(fit, new), whole[3:1, chosen])
  expect_identical(predict(fit, whole[1:3, ]), whole[1:3, chosen])
  expect_identical(predict(fit, ufs_data(x)[1:3, ])$x, whole[1:3, chosen])
  expect_error(predict(fit, new["proteins"]), "lacks columns? 'genes:", class = "ufs_error_input")
  expect_error(predict(fit, list(1, 2)), class = "ufs_error_argument")
  expect_equal(ufs_captured(fit, x), ufs_captured(ufs_css(tables_by_hand(x), 5, center = FALSE, scale = FALSE),
    tables_by_hand(x), center = FALSE, scale = FALSE))
  x$genes <- data.frame(x$genes[, 1:3], kind = factor(rep(c("u", "v", "w"), 20)))
  expect_error(ufs_data(x), "x$genes[setdiff(names(x$genes), \"kind\")]", fixed = TRUE, class = "ufs_error_input")
  fit <- ufs_css(x, 5, factors = "dummies", include = "genes:kind")
  expect_identical(selected_features(fit)[1L], "genes:kind")
  expect_length(selected_features(fit), 5L)
  # A factor weighs in its table what its levels do.
  data <- column_triangle(ufs_data(x, factors = "dummies"))
  total <- rowsum(x_ss(data$x) * data$divisor^2, sub(":.*", "", data$coded$name))
  expect_equal(total[1L], total[2L])
  new <- lapply(x, function(table) table[7:9, ])
  new$genes$kind <- as.character(new$genes$kind)
  expect_identical(unname(predict(fit, new)[, "genes:kind"]), c(1, 2, 3))
})

test_that("what is no list of tables of the same samples is refused; print() counts the columns of each", {
  a <- x$genes
  b <- x$proteins
  refused <- function(x, words, ...) expect_error(ufs_data(x, ...), words, class = "ufs_error_input")
  for (odd in list(list(a, b), list(a = a, b), list(a = a, a = b))) refused(odd, "needs a name of its own")
  refused(list(a = a, b = NULL), "'b' is no table")
  refused(list(a = a, b = 1:60, c = "x"), "'b', 'c' are no tables")
  refused(list(1:3, 2:4), "as.data.frame")
  refused(list(a = a, b = b[-(3:4), ]), "'b' lacks 's3', 's4'")
  refused(list(a = unname(a), b = unname(b)[-1, ]), "60 \\(a\\), 59 \\(b\\) rows")
  refused(list(a = unname(a), b = b), "'a' has none")
  rownames(b)[2] <- "s1"
  refused(list(a = a, b = b), "more than once: 's1'")
  refused(list(a = a, "my b" = matrix("a", 60, 2)), "my b")
  expect_error(ufs_data(list(a = x$genes, b = x$proteins[, 0])), "no columns", class = "ufs_error_input")
  expect_error(ufs_data(list(a = x$genes, b = ufs_data(x$proteins))), "ufs_data", class = "ufs_error_input")
  expect_refusals("several" = ufs_data(x, counts = "log"), "several" = ufs_data(x, rows = "snv"),
    "several tables" = ufs_moments(x))
  # Tables of counts are not taken for one.
  counts <- withr::with_seed(4, lapply(x, function(table) matrix(rpois(length(table), .3), nrow(table))))
  expect_identical(c(ufs_look(counts)$values, ufs_look(counts$genes)$values), c("mixed units", "counts"))
  expect_output(print(ufs_data(x)), "columns: genes 30, proteins 6", fixed = TRUE)
  from <- table(sub(":.*", "", selected_features(fit)))
  expect_output(print(fit), paste0("columns chosen: genes ", from[["genes"]], " of 30, proteins ",
    from[["proteins"]], " of 6"), fixed = TRUE)
  expect_output(print(ufs_variance(x)), "columns: genes 30, proteins 6", fixed = TRUE)
  expect_output(print(ufs_select(x, 5, "compress")), "columns chosen: genes", fixed = TRUE)
})

test_that("functions of many fits keep the tables", {
  on <- withr::with_seed(5, ufs_stability(x, "pca", k = 5, n_components = 2, n_resamples = 4))
  by <- withr::with_seed(5, ufs_stability(ufs_data(x), "pca", k = 5, n_components = 2, n_resamples = 4))
  own <- setdiff(names(on), c("call", "elapsed", "seconds"))
  expect_equal(unclass(on)[own], unclass(by)[own])
  # A decoy is of the table of the column that it was made of.
  decoys <- with_decoys(ufs_data(x), 1:36, 1:36, 12)
  of <- decoys$data$input$tables$of
  expect_identical(unname(of[match(1:36, decoys$column)]), ufs_data(x)$input$tables$of)
  expect_identical(length(of), 48L)
  key <- data_key(ufs_data(x))
  moved <- list(genes = x$genes[, -30], proteins = cbind(g30 = x$genes[, 30], x$proteins))
  expect_false(data_key(ufs_data(stats::setNames(x, c("genes", "others")))) == key || data_key(ufs_data(moved)) == key)
  expect_identical(data_key(ufs_data(x)), key)
  file <- withr::local_tempfile()
  saveRDS(ufs_data(x), file)
  expect_same_fit(ufs_css(readRDS(file), 4), ufs_css(x, 4))
})

test_that("quotas of columns alone are those of the tables", {
  of <- rep(c("genes", "proteins"), c(30, 6))
  for (data in list(x, ufs_data(x), ufs_data(x)[, 36:1])) {
    fit <- ufs_css(data, 5, feature_quotas = c(genes = 4, proteins = 1))
    expect_identical(sum(startsWith(selected_features(fit), "genes:")), 4L)
  }
  same <- ufs_css(x, 5, feature_strata = of, feature_quotas = c(genes = 4, proteins = 1))
  expect_identical(ufs_css(x, 5, feature_quotas = c(genes = 4, proteins = 1))$feature_ranking, same$feature_ranking)
  expect_error(ufs_css(x, 5, feature_quotas = c(cells = 1)), "cells", class = "ufs_error_argument")
  expect_error(ufs_css(x$genes, 5, feature_quotas = c(cells = 1)), "feature_strata", class = "ufs_error_argument")
})

# The results of a run, without times and what it reused.
found_by <- function(run, ...) {
  out <- withr::with_seed(5, suppressMessages(run(...)))
  out <- unclass(out)[setdiff(names(out), c("call", "elapsed", "checkpoint"))]
  for (part in c("results", "members")) out[[part]]$seconds <- NULL
  out$fit$elapsed <- NULL
  out
}

tables_runs <- list(
  compare = function(x, ...) ufs_compare(x, factor(rep(1:3, 20)), methods = c("pca", "variance"), k = c(3, 6), repeats = 2,
    baselines = FALSE, n_random = 2, ...),
  grid = function(x, ...) ufs_grid(x, "jspca", list(lambda_rel = c(.05, .2)), n_components = 2, ...),
  tune = function(x, ...) ufs_tune(x, "jspca", list(lambda_rel = c(.05, .2)), k = 4, n_components = 2, ...),
  stability = function(x, ...) ufs_stability(x, "pca", k = 5, n_components = 2, n_resamples = 4, ...),
  consensus = function(x, ...) ufs_consensus(x, 2, k = 4, members = c("pca", "kmeans_f"), ...))

test_that("a folder of fits of a list is reused for the list and its data, and for no other tables", {
  skip_on_cran()
  moved <- list(genes = x$genes[, -30], proteins = cbind(g30 = x$genes[, 30], x$proteins))
  for (name in setdiff(names(tables_runs), "consensus")) {
    run <- tables_runs[[name]]
    plain <- found_by(run, x)
    folder <- withr::local_tempdir()
    expect_equal(found_by(run, x, checkpoint = folder), plain, info = name)
    files <- list.files(folder)
    expect_message(withr::with_seed(5, run(ufs_data(x), checkpoint = folder)), "([0-9]+) of \\1 reused")
    expect_identical(list.files(folder), files)
    expect_equal(found_by(run, ufs_data(x), checkpoint = folder), plain, info = name)
    found_by(run, moved, checkpoint = folder)
    expect_gt(length(list.files(folder)), length(files))
  }
})

test_that("workers give with a list what one session gives", {
  skip_processes()
  skip_if_not_installed("future")
  serial <- lapply(tables_runs, found_by, x)
  local_workers()
  for (name in names(tables_runs)) expect_equal(found_by(tables_runs[[name]], x), serial[[name]], info = name)
})

test_that("ufs_select() and ufs_split() take a list", {
  skip_on_cran()
  for (task in c("compress", "classify", "cluster")) {
    fit <- withr::with_seed(1, suppressMessages(ufs_select(x, k = 5, task = task)))
    same <- withr::with_seed(1, suppressMessages(ufs_select(ufs_data(x), k = 5, task = task)))
    expect_identical(selected_features(fit), selected_features(same))
    units <- withr::with_seed(1, suppressMessages(ufs_select(list(genes = x$genes * 1e3, proteins = x$proteins), k = 5,
      task = task)))
    expect_identical(selected_features(units), selected_features(fit))
    expect_match(capture.output(print(fit)), "columns chosen: genes [0-9] of 30, proteins [0-9] of 6", all = FALSE)
  }
  expect_length(selected_samples(withr::with_seed(1, suppressMessages(ufs_select(x, m = 5, task = "label")))), 5L)
  quotas <- suppressMessages(ufs_select(x, k = 5, task = "compress", feature_quotas = c(genes = 4, proteins = 1)))
  expect_identical(sum(startsWith(selected_features(quotas), "genes:")), 4L)
  split_of <- function(x) withr::with_seed(1, ufs_split(x, 12))
  part <- split_of(x)
  expect_equal(part, split_of(ufs_data(x)))
  expect_identical(part$train, split_of(list(genes = x$genes * 1e3, proteins = x$proteins))$train)
  expect_equal(unname(diag(abs(cor(part$map, stats::prcomp(tables_by_hand(x))$x[, 1:2])))), c(1, 1), tolerance = 1e-8)
})

test_that("tables without variance have no weight; a table on disk is not joined, and is named", {
  of <- factor(c("a", "a", "b"))
  expect_identical(table_roots(c(0, 0, 0), of), c(a = 0, b = 0))
  expect_equal(table_roots(c(3, 4, 2), of), c(a = 5, b = 2))
  skip_if_not_installed("DelayedArray")
  disk <- DelayedArray::DelayedArray(matrix(cos(1:50), 10))
  expect_refused(ufs_data(list(small = mtcars[1:10, 1:3], big = disk)),
    "`x`: 'big' is on disk, and several tables are joined in memory", "ufs_error_input")
  expect_refused(ufs_data(list(one = disk, two = disk)), "`x`: 'one', 'two' are on disk", "ufs_error_input")
})

test_that("join = \"inner\" takes the samples that all tables share, and says how many", {
  a <- as.matrix(mtcars[1:20, 1:4])
  b <- mtcars[32:11, 5:7]
  both <- rownames(mtcars)[11:20]
  plain <- ufs_data(list(a = a[both, ], b = b[both, ]))
  said <- expect_message(data <- ufs_data(list(a = a, b = b), join = "inner"), "10 of 32 samples are in every table",
    class = "ufs_message_join")
  expect_identical(data$x, plain$x)
  expect_identical(data$samples, both)
  expect_identical(data$input$tables$root, plain$input$tables$root)
  expect_identical(suppressMessages(ufs_pca(list(a = a, b = b), 2, join = "inner"))$feature_scores,
    ufs_pca(plain, 2)$feature_scores)
  weights <- rep(1:2, 5)
  expect_identical(suppressMessages(ufs_pca(list(a = a, b = b), 2, join = "inner", weights = weights))$feature_scores,
    ufs_pca(ufs_data(plain, weights = weights), 2)$feature_scores)
  expect_message(ufs_data(list(a = a, b = b[both, ], c = a)[c(1, 3)], join = "inner"), NA)
  expect_error(ufs_data(list(a = a, b = b)), "join = \"inner\"", class = "ufs_error_input")
  expect_error(ufs_data(list(a = a[1:5, ], b = b), join = "inner"), "share no sample", class = "ufs_error_input")
  expect_error(ufs_data(list(a = a, b = b), join = "outer"), "`join`", class = "ufs_error_argument")
})
