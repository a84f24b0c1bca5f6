# What is drawn depends on values and seed, never on how a table is held.

skip_on_cran()

containers <- function(x) {
  held <- list(dense = x, frame = as.data.frame(x), list = list(a = x[, 1:20], b = x[, -(1:20)]))
  if (requireNamespace("Matrix", quietly = TRUE)) held$sparse <- Matrix::Matrix(x, sparse = TRUE)
  if (requireNamespace("DelayedArray", quietly = TRUE)) {
    # Several blocks, few enough that neighbours are looked for among the rows themselves.
    held$stored <- ufs_data(DelayedArray::DelayedArray(x), block_bytes = 40000)
  }
  held
}

test_that("consensus, decoys, size, look, select and stability do not see the container", {
  set.seed(1)
  rate <- matrix(stats::rgamma(4 * 70, 0.4, 1), 70)[, rep(1:4, each = 15)]
  x <- log1p(t(matrix(stats::rpois(length(rate), rate), 70)))
  x <- x[, apply(x, 2, stats::sd) > 0]
  dimnames(x) <- list(paste0("c", seq_len(nrow(x))), paste0("g", seq_len(ncol(x))))
  # MCFS and SPCA read a file many times: test-operator.R has them on files.
  members <- c("pca", "laplacian", "kmeans_f", "ndfs", "socfs")
  doors <- list(
    consensus = function(x) {
      fit <- ufs_consensus(x, n_clusters = 4, k = 10, members = members)
      list(selected_features(fit, as = "index"), fit$decoys$share)
    },
    decoys = function(x) ufs_decoys(x, "laplacian", scale = TRUE, repeats = 2)$curve[c("k", "share")],
    size = function(x) {
      size <- ufs_size(x, "pca", n_components = 3, repeats = 2, n_resamples = 3)
      size$curve[c("k", "share", "knn_overlap", "stability")]
    },
    look = function(x) unclass(ufs_look(x))[c("values", "noise", "noise_low", "components")],
    select = function(x) {
      fit <- ufs_select(x, 10, "cluster", members = members)
      list(selected_features(fit, as = "index"), fit$worth[c("chosen", "random")])
    },
    stability = function(x) unname(ufs_stability(x, "css", k = 8, n_resamples = 4)$frequency))
  run <- function(door, x) withr::with_seed(3, suppressMessages(suppressWarnings(doors[[door]](x))))
  held <- containers(x)
  # Several tables are weighted, and stay apart from one table.
  for (door in names(doors)) {
    answer <- lapply(held, function(x) run(door, x))
    for (name in setdiff(names(held), c("dense", "list"))) {
      expect_equal(answer[[name]], answer$dense, tolerance = 1e-6, info = paste(door, name))
    }
  }
  # Nor do several tables see how each of them is held.
  skip_if_not_installed("Matrix")
  sparse <- lapply(held$list, Matrix::Matrix, sparse = TRUE)
  for (door in c("consensus", "decoys", "stability")) {
    expect_equal(run(door, sparse), run(door, held$list), tolerance = 1e-6, info = paste(door, "of tables"))
  }
})
