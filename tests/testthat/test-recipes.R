# The step in recipes. Runs where recipes 1.1.0 is installed: `make check-frameworks` sees to it.

if (!on_cran() && has_recipes()) suppressPackageStartupMessages(library(recipes))

# The step's own line in what recipes prints around it, which differs between its versions.
step_line <- function(recipe) {
  printed <- testthat::capture_messages(lines <- utils::capture.output(print(recipe)))
  printed <- unlist(strsplit(c(printed, lines), "\n"))
  sub("^\\W+", "", grep("feature selection", printed, value = TRUE))
}

test_that("step works", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  rec <- step_select_ufs(recipe(mpg ~ ., data = mtcars), all_predictors(), method = "pca",
    num_terms = 4, options = list(n_components = 2))
  trained <- prep(rec)
  baked <- bake(trained, mtcars)
  table <- tidy(trained, 1)
  fit <- ufs_pca(mtcars[, -1], n_components = 2)
  expect_setequal(names(baked), c(selected_features(fit, 4), "mpg"))
  expect_named(table, c("terms", "score", "rank", "removed", "id"))
  expect_identical(table$terms, names(feature_ranking(fit)))
  expect_equal(table$score, unname(feature_scores(fit)[table$terms]))
  expect_identical(table$removed, rep(c(FALSE, TRUE), c(4, 6)))
  expect_identical(unique(table$id), rec$steps[[1]]$id)
  expect_identical(baked, bake(trained, new_data = NULL))
})

test_that("the share is rounded up, and half of the columns are kept by default", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  kept <- function(...) {
    rec <- step_select_ufs(recipe(mpg ~ ., mtcars), all_predictors(), method = "variance", ...)
    ncol(bake(prep(rec), mtcars)) - 1L
  }
  expect_identical(kept(), 5L)
  expect_identical(kept(prop_terms = .31), 4L)
  expect_identical(kept(prop_terms = .3), 3L)
  expect_identical(kept(prop_terms = .01), 1L)
  wide <- as.data.frame(matrix(stats::rnorm(500), 5))
  rec <- step_select_ufs(recipe(~., wide), everything(), method = "variance", prop_terms = .07)
  expect_length(bake(prep(rec), wide), 7)
})

test_that("keep everything", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  for (size in list(list(num_terms = 10), list(num_terms = 50L), list(prop_terms = 1))) {
    rec <- do.call(step_select_ufs, c(list(recipe(mpg ~ ., mtcars), quote(all_predictors())), size))
    trained <- prep(rec)
    expect_named(bake(trained, mtcars), c(names(mtcars)[-1], "mpg"))
    expect_false(any(tidy(trained, 1)$removed))
  }
})

test_that("everything must go", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  for (size in list(list(num_terms = 0), list(prop_terms = 0))) {
    rec <- do.call(step_select_ufs, c(list(recipe(mpg ~ ., mtcars), quote(all_predictors())), size))
    trained <- prep(rec)
    expect_named(bake(trained, mtcars), "mpg")
    expect_true(all(tidy(trained, 1)$removed))
  }
})

test_that("one column is kept without a ranking", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  rec <- step_select_ufs(recipe(mpg ~ ., mtcars), disp)
  trained <- prep(rec)
  expect_named(bake(trained, mtcars), c(names(mtcars)[-1], "mpg"))
  expect_identical(tidy(trained, 1)$score, NA_real_)
  gone <- step_select_ufs(recipe(mpg ~ ., mtcars), disp, num_terms = 0)
  expect_false("disp" %in% names(bake(prep(gone), mtcars)))
})

test_that("a method that solves for one number of columns is told that number", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  rec <- step_select_ufs(recipe(mpg ~ ., mtcars), all_predictors(), method = "topk",
    num_terms = 3, options = list(n_clusters = 2))
  fit <- ufs_topk(mtcars[, -1], k = 3, n_clusters = 2)
  expect_setequal(setdiff(names(bake(prep(rec), mtcars)), "mpg"), selected_features(fit, 3))
})

test_that("only the training set decides", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  rec <- step_select_ufs(recipe(mpg ~ ., mtcars), all_predictors(), num_terms = 3)
  trained <- prep(rec, training = mtcars[1:20, ])
  expect_setequal(setdiff(names(bake(trained, mtcars)), "mpg"),
    selected_features(ufs_laplacian(mtcars[1:20, -1]), 3))
})

test_that("constant columns go first", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  data <- cbind(mtcars, flat = 1)
  rec <- step_select_ufs(recipe(mpg ~ ., data), all_predictors(), num_terms = 10)
  expect_warning(trained <- prep(rec), class = "ufs_warning_constant")
  table <- tidy(trained, 1)
  expect_identical(table$terms[table$removed], "flat")
  expect_identical(table$score[table$removed], NA_real_)
})

test_that("case weights", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  for (weights in list(hardhat::frequency_weights(rep(1:2, 16)),
    hardhat::importance_weights(rep(c(.5, 2), 16)))) {
    data <- mtcars
    data$wts <- weights
    rec <- step_select_ufs(recipe(mpg ~ ., data), all_numeric_predictors())
    expect_error(prep(rec), "does not use case weights \\(column 'wts'\\)")
  }
})

# ---- the names that tidymodels gives the tests of a step ------------------------------------

test_that("bake method errors when needed columns are missing", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  rec <- step_select_ufs(recipe(mpg ~ ., mtcars), all_predictors(), method = "variance",
    num_terms = 3)
  trained <- prep(rec)
  kept <- setdiff(names(bake(trained, mtcars)), "mpg")
  expect_error(bake(trained, mtcars[setdiff(names(mtcars), kept[1])]), kept[1])
})

test_that("bake method errors when needed non-standard role columns are missing", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  rec <- update_role(recipe(mpg ~ ., mtcars), disp, hp, wt, new_role = "potato")
  rec <- update_role_requirements(rec, "potato", bake = FALSE)
  rec <- step_select_ufs(rec, has_role("potato"), method = "variance", num_terms = 2)
  trained <- prep(rec)
  table <- tidy(trained, 1)
  kept <- table$terms[!table$removed]
  expect_error(bake(trained, mtcars[setdiff(names(mtcars), kept[1])]),
    paste("missing from `new_data`:", kept[1]))
  # What the step removes may be absent.
  bare <- mtcars[setdiff(names(mtcars), table$terms[table$removed])]
  expect_identical(bake(trained, bare), bake(trained, mtcars))
})

test_that("empty printing", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  rec <- step_select_ufs(recipe(mpg ~ ., mtcars))
  line <- "Unsupervised feature selection (laplacian) on: <none>"
  expect_identical(step_line(rec), line)
  expect_identical(step_line(prep(rec, mtcars)), paste(line, "| Trained"))
})

test_that("empty selection prep/bake is a no-op", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  plain <- recipe(mpg ~ ., mtcars)
  empty <- step_select_ufs(plain)
  expect_identical(bake(prep(empty, mtcars), mtcars), bake(prep(plain, mtcars), mtcars))
})

test_that("empty selection tidy method works", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  rec <- step_select_ufs(recipe(mpg ~ ., mtcars))
  expected <- tibble::tibble(terms = character(), score = double(), rank = integer(),
    removed = logical(), id = character())
  expect_identical(tidy(rec, number = 1), expected)
  expect_identical(tidy(prep(rec, mtcars), number = 1), expected)
})

test_that("printing", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  rec <- step_select_ufs(recipe(~., mtcars), all_predictors(), method = "variance", num_terms = 9)
  line <- "Unsupervised feature selection (variance) on:"
  expect_identical(step_line(rec), paste(line, "all_predictors()"))
  expect_identical(step_line(prep(rec)), paste(line, "vs am | Trained"))
  expect_identical(tidy(rec, 1)$terms, "all_predictors()")
})

test_that("tunable", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  rec <- step_select_ufs(recipe(~., mtcars), all_predictors())
  param <- generics::tunable(rec$steps[[1]])
  expect_identical(param$name, c("num_terms", "prop_terms"))
  expect_true(all(param$source == "recipe"))
  expect_identical(nrow(param), 2L)
  expect_named(param, c("name", "call_info", "source", "component", "component_id"))
})

test_that("tunable is setup to work with extract_parameter_set_dials", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  skip_if_not_installed("dials", "1.4.1")
  marked <- list(
    num_terms = step_select_ufs(recipe(~., mtcars), all_predictors(), num_terms = hardhat::tune()),
    prop_terms = step_select_ufs(recipe(~., mtcars), all_predictors(), prop_terms = hardhat::tune())
  )
  for (which in names(marked)) {
    rec <- marked[[which]]
    params <- extract_parameter_set_dials(rec)
    expect_s3_class(params, "parameters")
    expect_identical(nrow(params), 1L)
    expect_identical(params$name, which)
    ready <- dials::finalize(params$object[[1]], mtcars)
    expect_identical(ready$range$upper, if (which == "num_terms") 11L else 1)
  }
})

test_that("required packages are named", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  rec <- step_select_ufs(recipe(~., mtcars), all_predictors())
  expect_true("ufselect" %in% generics::required_pkgs(rec))
})

test_that("bad args", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  rec <- recipe(mpg ~ ., mtcars)
  bad <- function(object, argument) {
    expect_identical(expect_error(object, class = "ufs_error_argument")$argument, argument)
  }
  bad(step_select_ufs(rec, all_predictors(), method = "nosuch"), "method")
  bad(step_select_ufs(rec, all_predictors(), method = "ted"), "method")
  bad(step_select_ufs(rec, all_predictors(), num_terms = -1), "num_terms")
  bad(step_select_ufs(rec, all_predictors(), num_terms = 1.5), "num_terms")
  bad(step_select_ufs(rec, all_predictors(), prop_terms = 2), "prop_terms")
  bad(step_select_ufs(rec, all_predictors(), num_terms = 2, prop_terms = .5), "prop_terms")
  bad(step_select_ufs(rec, all_predictors(), options = list(3)), "options")
  bad(step_select_ufs(rec, all_predictors(), options = list(n_clusters = 3)), "options")
  bad(step_select_ufs(mtcars, disp), "recipe")
  expect_error(prep(step_select_ufs(rec, all_predictors(), method = "pca")), "n_components")
  text <- step_select_ufs(recipe(~., iris), Species)
  expect_error(prep(text), "Species|double|integer")
  holes <- mtcars
  holes$disp[3] <- NA
  expect_error(prep(step_select_ufs(recipe(mpg ~ ., holes), all_predictors())), "'disp'")
})

test_that("0 and 1 rows data work in bake method", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  trained <- prep(step_select_ufs(recipe(~., mtcars), all_numeric_predictors(), num_terms = 3))
  expect_identical(dim(bake(trained, mtcars[1, ])), c(1L, 3L))
  expect_identical(dim(bake(trained, mtcars[0, ])), c(0L, 3L))
})

test_that("a trained recipe survives a trip through a file, small", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  trained <- prep(step_select_ufs(recipe(~., mtcars), all_predictors()))
  file <- withr::local_tempfile(fileext = ".rds")
  saveRDS(trained, file)
  expect_identical(bake(readRDS(file), mtcars), bake(trained, mtcars))
  expect_lt(length(serialize(trained$steps[[1]]$scores, NULL)), 5000)
})

test_that("sparse recipes work", {
  skip_on_cran()
  skip_if_not_installed("recipes", "1.1.0")
  skip_if_not_installed("Matrix")
  x <- as.matrix(mtcars[c(1:4, 6:7)])
  x[x < 5] <- 0
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  rec <- update_role(recipe(sparse), everything(), new_role = "predictor")
  rec <- step_select_ufs(rec, all_predictors(), method = "variance", num_terms = 3,
    options = list(scale = FALSE))
  expect_setequal(names(bake(prep(rec), sparse)),
    selected_features(ufs_variance(x, scale = FALSE), 3))
})
