# No function asks R for an n x n or p x p matrix before check_bytes() has: each runs on a tall and on
# a wide table in a session that has less memory than one such matrix.

skip_on_cran()
skip_processes()

test_that("every function ends in a result or in words where a square of rows or columns is too large", {
  folder <- withr::local_tempdir()
  script <- quote({
    library(ufselect)
    options(ufselect.max_bytes = 2^28, ufselect.progress = FALSE)
    inside <- function(name) utils::getFromNamespace(name, "ufselect")
    given <- list(n_clusters = 3, n_components = 2, k = 3, m = 3, n_features = 3, rank = 2)
    found <- character()
    must <- c("topk", "blfse", "represent", "exact", "pam", "dense", "paper", "some", "all")
    # What takes long without such a matrix is stopped, by its own CPU time.
    note <- function(name, code) {
      setTimeLimit(cpu = if (name %in% paste("tall", must)) 20 else 1)
      found[[name]] <<- tryCatch({
        suppressWarnings(suppressMessages(force(code)))
        "result"
      }, error = function(e) {
        said <- conditionMessage(e)
        if (inherits(e, "ufs_error_memory")) "refused" else if (inherits(e, "ufs_error")) paste("words:", said) else
          if (inside("ends_all")(e) && grepl("limit", said) && !grepl("memory", said)) "stopped" else said
      })
      setTimeLimit()
    }
    grDevices::pdf(NULL)
    set.seed(1)
    for (side in c("tall", "wide")) {
      x <- matrix(rnorm(12000 * 8), if (side == "tall") 12000 else 8)
      colnames(x) <- paste0("v", seq_len(ncol(x)))
      n <- nrow(x)
      halves <- rep(1:2, n / 2)
      for (method in names(inside("registry")())) {
        fit <- inside("registry")()[[method]]$fit
        needs <- c(inside("required_arguments")(fit), switch(method, blfse = "k", topk = "n_clusters"))
        note(paste(side, method), do.call(fit, c(list(x), given[intersect(names(given), needs)])))
      }
      more <- alist(represent = ufs_represent(x), exact = ufs_represent(x, solver = "exact"),
        pam = ufs_medoids(x, 3, form = "pam"), heat = ufs_ted(x, 3, similarity = "heat"),
        convex = ufs_ted(x, 3, form = "convex"), coefficients = ufs_rsr(x, coefficients = TRUE),
        labelled = ufs_cur(x, 2, labelled = 1:3), moments = ufs_moments(x),
        dense = as.matrix(ufs_graph(x[, 1:8])), paper = ufs_topk(x, 3, n_clusters = 3, solver = "paper"),
        labels = ufs_topk(x, 3, y = halves), some = ufs_topk(x, 3, y = c(1, 2, rep(NA, n - 2))),
        alfs = ufs_alfs(x, control = ufs_control(paper = list(lambda_rel = .1))), optimal = ufs_css(x, 3, optimal = TRUE),
        all = ufs_tune(x, "variance", list(scale = c(TRUE, FALSE)), k = 2, criterion = "silhouette_all", n_clusters = 3),
        size = ufs_size(x, "variance", k = 2:3), decoys = ufs_decoys(x, "variance"), split = ufs_split(x, 3),
        sketch = ufs_sketch(x, 4, type = "facility"), look = ufs_look(x), select = ufs_select(x, 3),
        cluster = ufs_select(x, 3, "cluster"), label = ufs_select(x, m = 3, task = "label"),
        captured = ufs_captured(colnames(x)[1:2], x), diversify = ufs_diversify(ufs_variance(x), x, 3),
        stability = ufs_stability(x, "variance", k = 3, n_resamples = 2), knn = ufs_data(replace(x, 3, NA), na = "knn"),
        blocks = ufs_pca(x, 2, blocks = halves), weights = ufs_pca(x, 2, weights = halves),
        max_cor = ufs_variance(x, max_cor = .5), metrics = ufs_cluster_metrics(halves, rev(halves)),
        propagate = ufs_propagate(ufs_graph(x[, 1:8]), c(1, 2, rep(NA, n - 2))),
        embedding = plot(ufs_pca(x, 2), "embedding", data = x), heatmap = plot(ufs_pca(x, 2), "heatmap", data = x),
        biplot = plot(ufs_pca(x, 2), "biplot", data = x), predict = predict(ufs_variance(x), x, k = 2))
      for (name in names(more)) note(paste(side, name), eval(more[[name]]))
    }
    saveRDS(found, "found.rds")
  })
  writeLines(c(sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")), deparse(script)),
    file.path(folder, "walk.R"))
  withr::with_dir(folder, system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", "walk.R"), stdout = "out.txt",
    stderr = "out.txt", env = c("R_MAX_VSIZE=900Mb", "OPENBLAS_NUM_THREADS=1")))
  # A session that was ended leaves nothing.
  expect_true(file.exists(file.path(folder, "found.rds")))
  found <- readRDS(file.path(folder, "found.rds"))
  words <- startsWith(found, "words: ")
  # Eight rows are too few for some.
  expect_true(all(startsWith(names(found)[words], "wide ")))
  expect_identical(unname(found[!words & !found %in% c("result", "refused", "stopped")]), character())
  expect_true(all(found[paste("tall", c("topk", "blfse", "represent", "exact", "pam", "dense", "paper", "some",
    "all"))] == "refused"))
  expect_true(all(found[paste("wide", c("coefficients", "moments"))] == "refused"))
})
