# Every method under every constraint: what ufs_data() promises holds whatever the method, the order of the columns and what
# holds the data. test-data-constraints.R has each constraint by itself.

skip_on_cran()

table <- ufs_methods()
features_by <- setdiff(table$method[table$selects != "samples"], "random")
samples_by <- setdiff(table$method[table$selects != "features"], "random")
# Draws that depend on the order of the columns.
drawn <- c("consensus", "blfse", "cur")

x <- planted(30, 9, seed = 4)$x
x[abs(x) < .5] <- 0
dimnames(x) <- list(paste0("r", seq_len(30)), paste0("c", seq_len(9)))
best <- function(fit, k = 4) sort(suppressMessages(selected_features(fit, k, as = "name")))
rows_of <- function(fit, m = 5) sort(suppressMessages(selected_samples(fit, m, as = "name")))

feature_constraints <- list(both = list(include = c("c9", "c4"), exclude = "c1"),
  cost = list(include = "c9", cost = c(1, 5, 2, 1, 3, 1, 4, 5, 2)),
  groups = list(groups = c(1, 2, 3, 4, 5, 1, 3, 6, 7), exclude = "c2"))
turned <- function(held, ord) {
  for (name in intersect(names(held), c("cost", "groups"))) held[[name]] <- held[[name]][ord]
  held
}

test_that("every method does about every constraint what ufs_methods() says", {
  table <- ufs_methods(what = "constraints")
  values <- list(include = "c9", exclude = "c1", cost = c(1, 5, 2, 1, 3, 1, 4, 5, 2), groups = list(c("c1", "c6")),
    max_cor = .8, weights = rep(1:2, 15), blocks = rep(1:3, 10), candidates = 1:20, labelled = 3:4,
    replicates = rep(1:15, 2), sample_cost = rep(1:3, 10), strata = rep(1:2, 15), feature_strata = rep(1:3, 3))
  expect_setequal(names(values), setdiff(names(table), c("method", "why")))
  for (i in seq_len(nrow(table))) for (held in names(values)) {
    method <- table$method[i]
    said <- table[[held]][i]
    about <- paste(method, held, said)
    given <- values[held]
    # Without a budget, costs are the ranking's.
    if (held == "cost") given$budget <- 12
    if (held == "sample_cost") given$sample_budget <- 9
    if (method == "jspca" && held == "weights") given$loss <- "feature"
    if (method == "random") given$what <- "both"
    # Samplers have an argument of that name.
    data <- if (held == "labelled" && said != "-") ufs_data(x, labelled = given$labelled) else x
    fit <- function() do.call(constraint_fit, c(list(method, data), given[if (is.matrix(data)) names(given) else
      setdiff(names(given), "labelled")]))
    if (said == "refused") {
      expect_error(fit(), class = "ufs_error_argument", registered[[method]]$refuses[[held]], fixed = TRUE, info = about)
    } else if (said == "-") {
      expect_error(fit(), class = "ufs_error_argument", "is about", info = about)
    } else {
      made <- fit()$constraints[[if (held %in% constraint_names("columns")) "features" else "samples"]]
      own <- sub("^sample_", "", held)
      expect_gt(length(made[[own]]), 0, label = about)
      if (!held %in% c("weights", "blocks")) expect_identical(made$by[[own]], said, info = about)
    }
  }
})

test_that("columns in another order, dense, sparse and file: the same choice under the same constraints", {
  ord <- c(5, 9, 2, 7, 1, 3, 8, 6, 4)
  for (method in setdiff(features_by, drawn)) {
    for (name in names(feature_constraints)) {
      held <- feature_constraints[[name]]
      one <- do.call(constraint_fit, c(list(method, x), held))
      two <- do.call(constraint_fit, c(list(method, x[, ord]), turned(held, ord)))
      expect_identical(best(one), best(two), info = paste(method, name))
      # The order of the columns of a group, which css takes whole, is theirs.
      if (method == "css" && !is.null(held$groups)) next
      expect_equal(feature_scores(two)[colnames(x)], feature_scores(one), tolerance = 1e-3, info = paste(method, name))
    }
  }
  skip_if_not_installed("Matrix")
  skip_if_not_installed("HDF5Array")
  layouts <- layouts_of(x)[c("sparse", "by_rows", "by_columns")]
  # Each method with one of the two kinds of files: how they are read is not the method's.
  some <- function(method) c("sparse", c("by_rows", "by_columns")[match(method, union(features_by, samples_by)) %% 2L + 1L])
  for (method in features_by) {
    held <- feature_constraints$both
    if (method %in% drawn) held$include <- NULL
    one <- do.call(constraint_fit, c(list(method, x), held))
    for (layout in some(method)) {
      two <- do.call(constraint_fit, c(list(method, layouts[[layout]]), held))
      expect_identical(best(one), best(two), info = paste(method, layout))
      expect_identical(two$constraints$features$by, one$constraints$features$by, info = paste(method, layout))
    }
  }
  held <- list(labelled = c("r3", "r9", "r20"), candidates = 1:20)
  for (method in setdiff(samples_by, drawn)) {
    one <- do.call(constraint_fit, c(list(method, x), held))
    for (layout in some(method)) {
      two <- do.call(constraint_fit, c(list(method, layouts[[layout]]), held))
      expect_identical(rows_of(one), rows_of(two), info = paste(method, layout))
    }
  }
})

test_that("resamples, grids, tunings, tasks and decoys see the constraints of the data", {
  data <- ufs_data(x, include = "c9", exclude = "c1")
  quietly <- function(expr) withr::with_seed(1, suppressMessages(suppressWarnings(expr)))
  stable <- quietly(ufs_stability(data, "socfs", n_clusters = 3, k = 3, n_resamples = 4))
  expect_identical(unname(stable$frequency[c("c9", "c1")]), c(1, 0))
  grid <- quietly(ufs_grid(data, "spca", list(lambda_rel = c(.05, .2)), n_components = 2, keep_fits = TRUE))
  for (fit in grid$fits) {
    expect_true("c9" %in% best(fit) && !"c1" %in% best(fit))
    expect_identical(fit$constraints$features$by[["include"]], "solver")
  }
  tuned <- quietly(ufs_tune(data, "rsr", k = 3, grid = list(lambda_rel = c(.3, .6))))
  expect_true("c9" %in% best(tuned$fit, 3) && !"c1" %in% best(tuned$fit, 3))
  decoys <- quietly(ufs_decoys(data, "socfs", n_clusters = 3, repeats = 2))
  expect_identical(decoys[c("included", "excluded")], list(included = 1L, excluded = 1L))
  compared <- quietly(ufs_compare(data, rep(1:3, 10), methods = "pca", k = 3, repeats = 2, mode = "classify",
    classifiers = list(first = function(x, y, new) {
      expect_identical("c9" %in% colnames(x) && !"c1" %in% colnames(x), TRUE)
      rep(y[1], nrow(new))
    }), baselines = FALSE))
  expect_identical(compared$results$error, rep("", nrow(compared$results)))
})

test_that("random choices that methods are compared with keep to the constraints, and are random otherwise", {
  cost <- c(1:8, 1)
  draws <- function(..., k = 4) {
    draw <- random_columns(open_data(ufs_data(x, ...)), k)
    withr::with_seed(1, replicate(600, draw(), simplify = FALSE))
  }
  sets <- draws(include = c("c9", "c4"), exclude = "c1")
  expect_true(all(vapply(sets, function(set) length(set) == 4 && all(c(4, 9) %in% set) && !1 %in% set, NA)))
  expect_lt(max(abs((tabulate(unlist(sets), 9)[c(2, 3, 5:8)] / 600) - 2 / 6)), .08)
  expect_true(all(vapply(draws(cost = cost, budget = 9), function(set) sum(cost[set]) <= 9, NA)))
  expect_lt(max(abs(tabulate(unlist(draws(cost = cost)), 9) / 600 - 4 / 9)), .08)
  expect_true(all(vapply(draws(groups = list(c("c1", "c6"))), function(set) sum(c(1, 6) %in% set) != 1, NA)))
  r <- abs(cor(x))
  diag(r) <- 0
  limit <- stats::quantile(r, .7)
  expect_true(all(vapply(draws(max_cor = limit)[1:50], function(set) max(r[set, set]) <= limit + 1e-9, NA)))
  draw <- random_columns(open_data(x), 4)
  expect_identical(withr::with_seed(2, draw()), withr::with_seed(2, sample.int(9, 4)))
  rows <- random_samples(open_data(ufs_data(x, candidates = 1:20, labelled = 2:4, strata = rep(1:2, 15))), 6)
  sets <- lapply(1:60, function(i) rows())
  expect_setequal(unlist(sets), c(1, 5:20))
  expect_gt(length(unique(lapply(sets, sort))), 50L)
  for (set in sets[1:20]) {
    expect_true(all(set %in% c(1, 5:20)))
    expect_lte(abs(diff(table(factor(set %% 2, 0:1)) + c(2, 1))), 1)
  }
  rows <- random_samples(open_data(x), 6)
  expect_identical(withr::with_seed(3, rows()), withr::with_seed(3, sample.int(30, 6)))
})

test_that("ufs_compare() and ufs_select() compare with random choices under the same constraints", {
  skip_if_not_installed("clue")
  y <- rep(1:3, 10)
  quietly <- function(expr) withr::with_seed(1, suppressMessages(suppressWarnings(expr)))
  # Where constraints leave one choice alone, the random one is the method's.
  data <- ufs_data(x, include = c("c2", "c3"), exclude = c("c1", "c5", "c6", "c7", "c8", "c9"))
  for (mode in c("cluster", "classify")) {
    out <- quietly(ufs_compare(data, y, c("pca", "variance"), k = 3, mode = mode, repeats = 2, baselines = FALSE,
      n_random = 3, classifiers = list(mean = function(x, y, new) {
        expect_setequal(colnames(x), c("c2", "c3", "c4"))
        rep(y[1], nrow(new))
      })))
    random <- quietly(ufs_compare(data, y, "random", k = 3, mode = mode, repeats = 2, baselines = FALSE, n_random = 3,
      classifiers = list(mean = function(x, y, new) {
        expect_setequal(colnames(x), c("c2", "c3", "c4"))
        rep(y[1], nrow(new))
      })))
    if (mode == "cluster") expect_equal(mean(random$results$accuracy), mean(out$results$accuracy), tolerance = .05)
  }
  expect_error(ufs_compare(data, y, "pca", k = c(1, 3)), class = "ufs_error_argument", "'c2'")
  cost <- stats::setNames(c(1:8, 1), colnames(x))
  quietly(ufs_compare(ufs_data(x, cost = cost, budget = 9), y, c("pca", "css", "random"), k = 5, repeats = 2,
    baselines = FALSE, n_random = 3, classifiers = list(price = function(x, y, new) {
      expect_lte(sum(cost[colnames(x)]), 9)
      rep(y[1], nrow(new))
    })))
  chosen <- quietly(ufs_select(x, k = 4, task = "compress", include = c("c9", "c8"), exclude = "c1"))
  expect_true(all(c("c8", "c9") %in% selected_features(chosen)))
  # Stability: 0 for random choices, whatever all of them must have.
  random <- quietly(ufs_stability(ufs_data(x, include = c("c9", "c4"), exclude = "c1"), "random", k = 4,
    n_resamples = 100))
  expect_lt(abs(random$stability), .05)
  size <- quietly(ufs_size(ufs_data(x, include = c("c9", "c4", "c2"), exclude = "c1"), "pca", n_components = 2))
  expect_equal(range(size$curve$k), c(3, 8))
  expect_error(quietly(ufs_size(ufs_data(x, include = c("c9", "c4")), "pca", n_components = 2, k = 1)),
    class = "ufs_error_argument", "'c9'")
  fits <- list(a = ufs_pca(x, 2, include = c("c9", "c4"), exclude = "c1"), b = ufs_variance(x, include = c("c9", "c4")))
  expect_equal(ufs_overlap(fits, 4)$chance, (2 + 2 * 2 / 7) / 4)
  expect_equal(ufs_overlap(list(a = ufs_pca(x, 2), b = ufs_variance(x)), 4)$chance, 4 / 9)
})
