# Every method under every wish: what ufs_data() promises holds whatever the method, the order of the columns and what
# holds the data. test-data-wishes.R has each wish by itself.

table <- ufs_methods()
features_by <- setdiff(table$method[table$selects != "samples"], "random")
samples_by <- setdiff(table$method[table$selects != "features"], "random")
# Draws that depend on the order of the columns.
drawn <- c("consensus", "blfse", "cur")

contract_x <- function() {
  x <- planted(30, 9, seed = 4)$x
  x[abs(x) < .5] <- 0
  colnames(x) <- paste0("c", seq_len(9))
  rownames(x) <- paste0("r", seq_len(30))
  x
}
contract_fit <- function(method, x, ...) {
  needed <- list(n_clusters = 3L, n_components = 2L, k = 4L, m = 5L)
  needed <- needed[intersect(names(needed), c(required_arguments(registered[[method]]$fit), registered[[method]]$per_k))]
  if (method == "topk") needed <- list(k = 4L, n_clusters = 3L, alpha_e = 20)
  withr::with_seed(1, suppressMessages(suppressWarnings(do.call(ufs, c(list(x, method), needed, list(...))))))
}
best <- function(fit, k = 4) sort(suppressMessages(selected_features(fit, k, as = "name")))
rows_of <- function(fit, m = 5) sort(suppressMessages(selected_samples(fit, m, as = "name")))

feature_wishes <- list(
  both = list(include = c("c9", "c4"), exclude = "c1"),
  cost = list(include = "c9", cost = c(1, 5, 2, 1, 3, 1, 4, 5, 2)),
  groups = list(groups = c(1, 2, 3, 4, 5, 1, 3, 6, 7), exclude = "c2")
)
turned <- function(wish, ord) {
  for (name in intersect(names(wish), c("cost", "groups"))) wish[[name]] <- wish[[name]][ord]
  wish
}

test_that("columns in another order: the same choice under the same wishes", {
  skip_if_not_installed("withr")
  x <- contract_x()
  ord <- c(5, 9, 2, 7, 1, 3, 8, 6, 4)
  for (method in setdiff(features_by, drawn)) {
    for (name in if (on_cran()) "both" else names(feature_wishes)) {
      wish <- feature_wishes[[name]]
      one <- do.call(contract_fit, c(list(method, x), wish))
      two <- do.call(contract_fit, c(list(method, x[, ord]), turned(wish, ord)))
      expect_identical(best(one), best(two), info = paste(method, name))
      expect_equal(feature_scores(two)[colnames(x)], feature_scores(one), tolerance = 1e-3, info = paste(method, name))
    }
  }
})

test_that("dense, sparse and file: the same choice under the same wishes", {
  skip_on_cran()
  skip_if_not_installed("Matrix")
  skip_if_not_installed("HDF5Array")
  x <- contract_x()
  layouts <- layouts_of(x)[c("sparse", "by_rows", "by_columns")]
  for (method in features_by) {
    wish <- feature_wishes$both
    if (method %in% drawn) wish$include <- NULL
    one <- do.call(contract_fit, c(list(method, x), wish))
    for (layout in names(layouts)) {
      two <- do.call(contract_fit, c(list(method, layouts[[layout]]), wish))
      expect_identical(best(one), best(two), info = paste(method, layout))
      expect_identical(two$wishes$features$by, one$wishes$features$by, info = paste(method, layout))
    }
  }
  wish <- list(labelled = c("r3", "r9", "r20"), candidates = 1:20)
  for (method in setdiff(samples_by, drawn)) {
    one <- do.call(contract_fit, c(list(method, x), wish))
    for (layout in names(layouts)) {
      two <- do.call(contract_fit, c(list(method, layouts[[layout]]), wish))
      expect_identical(rows_of(one), rows_of(two), info = paste(method, layout))
    }
  }
})

test_that("a table in a file of its own, read again, keeps the wishes of its columns by name", {
  x <- contract_x()
  path <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(x, path, row.names = FALSE)
  again <- utils::read.csv(path)[, c(3, 1, 2, 9:4)]
  one <- contract_fit("css", x, include = "c9", exclude = "c2", cost = stats::setNames(1:9, colnames(x)))
  two <- contract_fit("css", again, include = "c9", exclude = "c2", cost = stats::setNames(1:9, colnames(x)))
  expect_identical(best(one), best(two))
})

test_that("resamples, grids, tunings, tasks and decoys see the wishes of the data", {
  skip_on_cran()
  data <- ufs_data(contract_x(), include = "c9", exclude = "c1")
  quietly <- function(expr) withr::with_seed(1, suppressMessages(suppressWarnings(expr)))
  stable <- quietly(ufs_stability(data, "socfs", n_clusters = 3, k = 3, n_resamples = 4))
  expect_identical(unname(stable$frequency[c("c9", "c1")]), c(1, 0))
  grid <- quietly(ufs_grid(data, "spca", list(lambda_rel = c(.05, .2)), n_components = 2, keep_fits = TRUE))
  for (fit in grid$fits) {
    expect_true("c9" %in% best(fit) && !"c1" %in% best(fit))
    expect_identical(fit$wishes$features$by[["include"]], "solver")
  }
  tuned <- quietly(ufs_tune(data, "rsr", k = 3, grid = list(lambda_rel = c(.3, .6))))
  expect_true("c9" %in% best(tuned$fit, 3) && !"c1" %in% best(tuned$fit, 3))
  decoys <- quietly(ufs_decoys(data, "socfs", n_clusters = 3, repeats = 2))
  expect_true(all(is.na(decoys$behind[["socfs"]][c("c9", "c1")])))
  compared <- quietly(ufs_compare(data, rep(1:3, 10), methods = "pca", k = 3, repeats = 2, mode = "classify",
    classifiers = list(first = function(x, y, new) {
      expect_identical("c9" %in% colnames(x) && !"c1" %in% colnames(x), TRUE)
      rep(y[1], nrow(new))
    }), baselines = FALSE))
  expect_identical(compared$results$error, rep("", nrow(compared$results)))
})
