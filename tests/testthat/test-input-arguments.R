# What ufs_data() promises beyond single fits: arguments of ufs_data() in every function that takes
# x, and functions of many fits on data that are never formed.

set <- grouped_counts(60, 40)
counts <- set$x[, -40]
kinds <- function(counts = get("counts", parent.frame())) {
  out <- list()
  if (requireNamespace("Matrix", quietly = TRUE)) out$sparse <- to_sparse(counts)
  if (on_cran()) return(out)
  if (requireNamespace("HDF5Array", quietly = TRUE)) out$file <- stored(counts, c(7, ncol(counts)), parent.frame())
  if (requireNamespace("bigmemory", quietly = TRUE)) out$shared <- bigmemory::as.big.matrix(counts)
  out
}

experiment <- function() {
  skip_on_cran()
  skip_if_not_installed("SummarizedExperiment")
  SummarizedExperiment::SummarizedExperiment(list(raw = t(counts) + outer(1:39, 1:60, `%%`), logcounts = t(counts)))
}

# What one room does for all methods: one of each kind of fit.
for (method in each_kind) {
  test_that(paste0(method, ": assay = goes straight to ufs_data()"), {
    se <- experiment()
    fun <- get(paste0("ufs_", method), asNamespace("ufselect"))
    args <- needed(method)
    run <- function(...) withr::with_seed(1, quietly(fun(...)))
    direct <- do.call(run, c(list(se), args, assay = "raw"))
    raw <- do.call(run, c(list(as.matrix(t(SummarizedExperiment::assay(se, "raw")))), args))
    expect_identical(direct$feature_scores, raw$feature_scores)
    expect_identical(direct$sample_scores, raw$sample_scores)
    expect_identical(direct$input$assay, "raw")
    expect_equal(as.character(direct$call$assay), "raw")
    if (!"features" %in% names(formals(fun)) && method != "blfse") {
      expect_identical(do.call(run, c(list(se), args, assay = "raw", list(features = 30:1)))$p, 30L)
    }
  })
}

test_that("every method and function around methods takes an assay, and refuses what is no argument", {
  se <- experiment()
  for (method in ufs_methods()$method) {
    run <- function(...) quietly(do.call(paste0("ufs_", method), c(list(...), needed(method))))
    expect_arguments(assay = run(se, assay = "other"), foo = run(counts, foo = 1))
    expect_refusals("\"raw\", \"logcounts\"" = run(se, assay = "other"), "SingleCellExperiment" = run(counts, assay = "raw"))
  }
  expect_error(ufs_variance(counts, 2, FALSE, ufs_control(), 3), "unnamed argument", class = "ufs_error_argument")
  se <- experiment()
  raw <- t(SummarizedExperiment::assay(se, "raw"))
  same <- function(call, plain) {
    expect_equal(withr::with_seed(1, quietly(call)), withr::with_seed(1, quietly(plain)), tolerance = 1e-12)
  }
  same(ufs_graph(se, n_neighbours = 4, assay = "raw")$weights, ufs_graph(raw, n_neighbours = 4)$weights)
  same(ufs_sketch(se, 20, assay = "raw")$index, ufs_sketch(raw, 20)$index)
  same(ufs_sketch(se, 20, samples = 1:30, assay = "raw")$n, 30L)
  fit <- ufs_variance(raw)
  same(ufs_captured(fit, se, 1:3, assay = "raw"), ufs_captured(fit, raw, 1:3))
  same(ufs_diversify(fit, se, 5, assay = "raw")$solution, ufs_diversify(fit, raw, 5)$solution)
  same(ufs_select(se, 5, "compress", assay = "raw")$feature_scores, ufs_select(raw, 5, "compress")$feature_scores)
  same(ufs_grid(se, "pca", list(n_components = 1:2), assay = "raw")$feature_scores,
    ufs_grid(raw, "pca", list(n_components = 1:2))$feature_scores)
  same(ufs_tune(se, "pca", list(n_components = 1:2), k = 5, assay = "raw")$results$knn_overlap,
    ufs_tune(raw, "pca", list(n_components = 1:2), k = 5)$results$knn_overlap)
  same(ufs_stability(se, "variance", 5, n_resamples = 4, assay = "raw")$selected,
    ufs_stability(raw, "variance", 5, n_resamples = 4)$selected)
  two <- c("variance", "pca")
  same(ufs_stability(se, two, 5, n_components = 2, n_resamples = 4, assay = "raw")$fits$pca$selected,
    ufs_stability(raw, two, 5, n_components = 2, n_resamples = 4)$fits$pca$selected)
  guess <- list(first = function(x, y, newx) rep(y[1], nrow(newx)))
  same(ufs_compare(se, set$group, "pca", 5, classifiers = guess, repeats = 1, assay = "raw")$results$accuracy,
    ufs_compare(raw, set$group, "pca", 5, classifiers = guess, repeats = 1)$results$accuracy)
  for (call in list(quote(ufs_graph(raw, foo = 1)), quote(ufs_sketch(raw, 9, foo = 1)),
    quote(ufs_captured(fit, raw, 1, foo = 1)), quote(ufs_compare(raw, set$group, "pca", 5, foo = 1)))) {
    expect_identical(expect_error(quietly(eval(call)), class = "ufs_error_argument")$argument, "foo")
  }
})

# Counts have equal distances, which rounding must not decide.
nearest_mean <- function(x, y, newx) {
  centre <- rowsum(x, y) / as.vector(table(y))
  rownames(centre)[apply(newx, 1, function(row) which.min(round(colSums((t(centre) - row)^2), 9)))]
}
many <- list(
  grid = function(x) {
    grid <- ufs_grid(x, "pca", list(n_components = 1:2, scale = c(TRUE, FALSE)))
    list(grid$feature_scores, grid$results$status, grid$results$error)
  },
  shared_graph = function(x) ufs_grid(x, "mcfs", list(n_clusters = 2:3))$feature_scores,
  shared_start = function(x) ufs_grid(x, "socfs", list(lambda_rel = c(.2, .4)), n_clusters = 3)$results$objective,
  tune = function(x) {
    tuned <- ufs_tune(x, "pca", list(n_components = 1:3), k = 6, criterion = names(criteria), n_clusters = 3)
    tuned$results[setdiff(names(tuned$results), "seconds")]
  },
  stability = function(x) {
    ufs_stability(x, c("variance", "kmeans_f"), 6, n_clusters = 3, n_resamples = 5)$fits$kmeans_f$selected
  },
  classify = function(x) {
    compared <- ufs_compare(x, set$group, c("pca+ted", "kmeans_f", "laplacian+diversify"), k = c(4, 8),
      m = c(6, 12), classifiers = list(mean = nearest_mean), repeats = 2, n_random = 2,
      args = list(pca = list(grid = list(n_components = 1:2)), ted = list(grid = list(mu_rel = c(.01, .1)))))
    compared$results[setdiff(names(compared$results), "seconds")]
  },
  cluster = function(x) {
    compared <- ufs_compare(x, set$group, "mcfs", k = c(4, 8), mode = "cluster", repeats = 1, n_random = 1)
    # `live` counts scores that are not zero: rounding decides for one feature.
    compared$results[setdiff(names(compared$results), c("seconds", "live"))]
  }
)

for (name in names(many)) {
  test_that(paste0(name, ": the same on sparse and on-disk data as on the matrix"), {
    if (name %in% c("classify", "cluster")) skip_on_cran()
    if (name == "cluster") skip_if_not_installed("clue")
    run <- function(x) withr::with_seed(3, quietly(many[[name]](x)))
    dense <- run(counts)
    for (x in kinds()) expect_equal(run(x), dense, tolerance = 1e-5)
  })
}

test_that("workers open them once, and future.globals.maxSize does not count", {
  skip_processes()
  skip_if_not_installed("future")
  some <- function(x) {
    withr::with_seed(1, quietly(list(ufs_grid(x, "kmeans_f", list(n_clusters = 2:3), n_starts = 2)$feature_scores,
      ufs_stability(x, "variance", 5, n_resamples = 3)$selected)))
  }
  rest <- function(x) {
    withr::with_seed(1, quietly(list(ufs_tune(x, "pca", list(n_components = 1:2), k = 5)$results$reconstruction,
      ufs_compare(x, set$group, "variance", k = 4, repeats = 2, n_random = 2, baselines = FALSE,
        classifiers = list(mean = nearest_mean))$results$accuracy)))
  }
  serial <- c(lapply(kinds(), some), rest = list(rest(kinds()$sparse)))
  withr::local_options(future.globals.maxSize = 1e6)
  local_workers()
  expect_identical(c(lapply(kinds(), some), rest = list(rest(kinds()$sparse))), serial)
  # Above the limit: 2 MB of non-zeros.
  skip_if_not_installed("Matrix")
  large <- withr::with_seed(1, Matrix::rsparsematrix(500, 2000, 0.17))
  expect_gt(as.double(object.size(large)), 2e6)
  expect_identical(quietly(ufs_grid(large, "variance", list(scale = c(FALSE, TRUE))))$results$error, c("", ""))
})

test_that("predict() and pictures take columns alone", {
  withr::local_pdf(NULL)
  fit <- quietly(ufs_css(counts, k = 5))
  pca <- quietly(ufs_pca(counts, 2))
  ted <- quietly(ufs_ted(counts))
  cur <- withr::with_seed(1, quietly(ufs_cur(counts, rank = 3, m = 8, k = 8, decomposition = TRUE)))
  withr::local_options(ufselect.max_bytes = 8 * 60 * 39 - 1)
  for (x in kinds()) {
    expect_message(out <- predict(fit, ufs_data(x), k = 3), NA)
    expect_equal(as.matrix(out), counts[, selected_features(fit, 3)])
    expect_message(rebuilt <- predict(fit, x, k = 3, type = "reconstruction"), NA, class = "ufs_message_dense")
    expect_equal(rebuilt, predict(fit, counts, k = 3, type = "reconstruction"))
    expect_message(rebuilt <- predict(cur, x, type = "reconstruction"), NA, class = "ufs_message_dense")
    expect_equal(rebuilt, predict(cur, counts, type = "reconstruction"))
    for (type in c("heatmap", "embedding")) {
      expect_message(drawn <- picture(pca, type, 3, data = x), NA, class = "ufs_message_dense")
      expect_equal(drawn, picture(pca, type, 3, data = counts))
    }
    drawn <- withr::with_options(list(ufselect.max_bytes = 1e6), picture(ted, "embedding", 3, data = x))
    expect_equal(drawn$table, picture(ted, "embedding", 3, data = counts)$table, tolerance = 1e-6)
    expect_identical(drawn$xlab, picture(ted, "embedding", 3, data = counts)$xlab)
  }
})
