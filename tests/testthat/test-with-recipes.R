# The step in recipes. Runs where recipes 1.1.0 is installed: `make check-frameworks` sees to it.

skip_on_cran()

test_that("without tune and mlr3 nothing is resampled", {
  own <- in_resampling
  environment(own) <- list2env(list(isNamespaceLoaded = function(name) FALSE), parent = environment(own))
  expect_false(own())
})

skip_if_not_installed("recipes", "1.1.0")
suppressPackageStartupMessages(library(recipes))

rec <- recipe(mpg ~ ., mtcars)

# The step's own line in what recipes prints around it, which differs between its versions.
step_line <- function(recipe) {
  printed <- testthat::capture_messages(lines <- utils::capture.output(print(recipe)))
  printed <- unlist(strsplit(c(printed, lines), "\n"))
  sub("^\\W+", "", grep("feature selection", printed, value = TRUE))
}

# All that is printed of a step, which may be broken into lines.
step_text <- function(recipe) paste(testthat::capture_messages(print(recipe$steps[[1]])), collapse = " ")

test_that("step works", {
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

test_that("all columns may be kept, one without a ranking, and none", {
  sizes <- list(list(num_terms = 10), list(num_terms = 50L), list(prop_terms = 1), list(num_terms = 0),
    list(prop_terms = 0))
  for (size in sizes) {
    rec <- do.call(step_select_ufs, c(list(recipe(mpg ~ ., mtcars), quote(all_predictors())), size))
    trained <- prep(rec)
    all <- size[[1]] > 0
    expect_named(bake(trained, mtcars), c(if (all) names(mtcars)[-1], "mpg"))
    expect_identical(unique(tidy(trained, 1)$removed), !all)
  }
  rec <- step_select_ufs(recipe(mpg ~ ., mtcars), disp)
  trained <- prep(rec)
  expect_named(bake(trained, mtcars), c(names(mtcars)[-1], "mpg"))
  expect_identical(tidy(trained, 1)$score, NA_real_)
  gone <- step_select_ufs(recipe(mpg ~ ., mtcars), disp, num_terms = 0)
  expect_error(step_select_ufs(recipe(mpg ~ ., mtcars), disp, metho = "css"), "Is it `method`", class = "ufs_error_argument")
  expect_false("disp" %in% names(bake(prep(gone), mtcars)))
})

test_that("constant columns go first", {
  data <- cbind(mtcars, flat = 1)
  rec <- step_select_ufs(recipe(mpg ~ ., data), all_predictors(), num_terms = 10)
  expect_message(trained <- prep(rec), "column 'flat'", class = "ufs_message_constant")
  table <- tidy(trained, 1)
  expect_identical(table$terms[table$removed], "flat")
  expect_identical(table$score[table$removed], NA_real_)
})

# mtcars with case weights beside the outcome.
weighted_cars <- function(weights) cbind(mtcars, tibble::tibble(wts = weights))

test_that("frequency weights: the choice is that of rows repeated as often, for every method that takes them", {
  count <- rep(c(1L, 4L, 0L, 2L), 8)
  data <- weighted_cars(hardhat::frequency_weights(count))
  often <- mtcars[rep(seq_len(32), count), ]
  weighs <- subset(ufs_methods(what = "constraints"), weights == "solver")$method
  expect_length(weighs, 9L)
  changed <- FALSE
  for (method in weighs) {
    options <- c(needs(method), if (method == "jspca") list(loss = "feature"))
    trained <- function(data, ...) {
      suppressMessages(prep(step_select_ufs(recipe(mpg ~ ., data), all_numeric_predictors(), method = method,
        num_terms = 4, seed = 2, ...)))
    }
    kept <- function(data) names(bake(trained(data, options = options), NULL, all_predictors()))
    x <- ufs_data(mtcars[count > 0, -1], weights = count[count > 0])
    scale <- if (registry()[[method]]$mixed_units == "standardise") list(center = TRUE, scale = TRUE)
    fit <- with_seed(2, suppressMessages(do.call(ufs, c(list(x, method), options, scale,
      if (!is.null(number_argument(registry()[[method]]))) stats::setNames(list(4L), number_argument(registry()[[method]]))))))
    expect_identical(tidy(trained(data, options = options), 1)$terms[1:4], selected_features(fit, 4), info = method)
    expect_match(step_text(trained(data, options = options)), "weighted", info = method)
    # The graph of ufs_laplacian() links different rows; starts of k-means are drawn.
    if (!method %in% c("laplacian", "socfs", "kmeans_f")) expect_setequal(kept(data), kept(often))
    changed <- changed || !setequal(kept(data), kept(mtcars))
  }
  expect_true(changed)
  for (task in c("classify", "cluster", "compress")) {
    trained <- suppressMessages(prep(step_select_ufs(recipe(mpg ~ ., data), all_numeric_predictors(), method = task,
      num_terms = 4, seed = 2)))
    fit <- with_seed(2, suppressMessages(ufs_select(x, 4, task)))
    expect_setequal(names(bake(trained, NULL, all_predictors())), selected_features(fit))
    expect_match(step_text(trained), "weighted")
  }
})

test_that("weights that are not taken are ignored, and that is said with its reason", {
  counts <- weighted_cars(hardhat::frequency_weights(rep(1:2, 16)))
  shares <- weighted_cars(hardhat::importance_weights(rep(c(.5, 2), 16)))
  trained <- function(data, method, n_clusters = NULL) {
    prep(step_select_ufs(recipe(mpg ~ ., data), all_numeric_predictors(), method = method, num_terms = 3,
      n_clusters = n_clusters, seed = 1))
  }
  said <- function(code, words, ...) {
    expect_message(out <- code, words, ..., class = "ufs_message_weights")
    expect_match(step_text(out), "ignored\\s+weights")
    out
  }
  plain <- trained(mtcars, "mcfs", 2)
  expect_false(grepl("weights", step_text(plain)))
  mcfs <- said(trained(counts, "mcfs", 2), "ufs_mcfs() takes none (in its graph", fixed = TRUE)
  expect_identical(tidy(mcfs, 1)$terms, tidy(plain, 1)$terms)
  # Only methods without weights have a number of clusters.
  said(trained(counts, "cluster", 2), "ufs_consensus() takes none", fixed = TRUE)
  css <- said(trained(shares, "css"), "no frequency weights")
  expect_identical(tidy(css, 1)$terms, tidy(trained(mtcars, "css"), 1)$terms)
  missing <- weighted_cars(hardhat::frequency_weights(c(NA, rep(1L, 31))))
  expect_error(trained(missing, "css"), class = "ufs_error_argument")
})

test_that("logical columns are numbers, as for ufs_data(), and columns of ids are named", {
  flags <- transform(mtcars, vs = vs == 1, am = am == 1)
  kept <- function(data, ...) {
    names(bake(prep(step_select_ufs(recipe(mpg ~ ., data), all_predictors(), method = "css", num_terms = 6, ...)),
      NULL, all_predictors()))
  }
  expect_identical(kept(flags), kept(mtcars))
  step <- prep(step_select_ufs(recipe(mpg ~ ., flags), all_predictors(), num_terms = 10))
  expect_type(bake(step, flags)$vs, "logical")
  # Values filled in need not be TRUE or FALSE: the type does not depend on the rows.
  flags$vs[3] <- NA
  filled <- prep(step_select_ufs(recipe(mpg ~ ., flags), all_predictors(), num_terms = 10, na = "median"))
  expect_identical(bake(filled, flags[3, ])$vs, stats::median(flags$vs, na.rm = TRUE) + 0)
  expect_type(bake(filled, flags[1:2, ])$vs, "double")
  # One rule for ids at every door, said each time, once.
  numbered <- cbind(sample_id = 101:132, mtcars)
  doubt <- looks_like_ids(open_data(numbered[-2]))
  expect_match(doubt, "'sample_id'")
  for (method in c("css", "classify")) {
    for (again in 1:2) {
      said <- testthat::capture_messages(prep(step_select_ufs(recipe(mpg ~ ., numbered), all_predictors(), method = method)))
      expect_identical(sum(grepl(doubt, said, fixed = TRUE)), 1L)
    }
  }
  said <- testthat::capture_messages(prep(step_select_ufs(recipe(mpg ~ ., mtcars), all_predictors(), method = "css")))
  expect_false(any(grepl(doubt, said, fixed = TRUE)))
})

test_that("\"auto\" is one number at every door: ufs_size(), ufs_select(), a fit and the step", {
  x <- as.data.frame(planted(60, 30, informative = 8)$x)
  asked <- function(code) with_seed(4, suppressMessages(suppressWarnings(code)))
  kept <- function(method, ...) {
    rec <- step_select_ufs(recipe(~., x), all_predictors(), method = method, num_terms = "auto", seed = 4, ...)
    names(suppressMessages(suppressWarnings(bake(prep(rec), NULL))))
  }
  for (task in c("classify", "cluster", "compress")) {
    chosen <- asked(ufs_select(x, "auto", task))
    expect_identical(chosen$size, asked(ufs_size(x, task = task))$k, info = task)
    expect_setequal(kept(task), selected_features(chosen))
  }
  for (method in c("pca", "kmeans_f", "laplacian", "css")) {
    size <- asked(do.call(ufs_size, c(list(x, method, n_resamples = 2L), needs(method))))
    expected <- if (size$verdict == "noise") 30L else size$k
    expect_length(kept(method, options = needs(method)), expected)
    fit <- asked(do.call(ufs, c(list(x, method, k = "auto"), needs(method))))
    expect_identical(fit$params$k, expected, info = method)
  }
})

tied <- tied_columns()

for (method in setdiff(feature_methods(), task_names)) {
  test_that(paste("the same columns as selected_features():", method), {
      per_k <- c(registry()[[method]]$per_k, registry()[[method]]$picks$argument)
    sizes <- c(1L, 4L, 7L, 11L)
    for (k in sizes) {
      args <- c(needs(method), if (!is.null(per_k)) stats::setNames(list(k), per_k))
      rec <- step_select_ufs(recipe(~., tied), all_predictors(), method = method, num_terms = k,
        options = needs(method), seed = 11)
      kept <- suppressMessages(suppressWarnings(names(bake(prep(rec), NULL))))
      fit <- suppressMessages(suppressWarnings(with_seed(11, do.call(ufs, c(list(x = tied, method = method), args)))))
      expect_setequal(kept, suppressMessages(selected_features(fit, k)))
    }
  })
}

# Two units, one unit and counts.
task_tables <- function() {
  set.seed(4)
  words <- kind_makers()$words$make(40, 110)
  list(cars = mtcars, judges = USJudgeRatings, words = as.data.frame(words))
}

test_that("the step keeps the columns of ufs_select() with the same task, by default those to classify", {
  for (x in task_tables()) {
    for (task in c("compress", "classify", "cluster")) {
      rec <- step_select_ufs(recipe(~., x), all_predictors(), method = task, num_terms = 4, seed = 5)
      fit <- withr::with_seed(5, ufs_select(x, 4, task))
      expect_setequal(names(bake(prep(rec), NULL)), selected_features(fit))
      expect_match(step_text(prep(rec)), paste0(task, ": ufs_", fit$method), fixed = TRUE)
    }
  }
  expect_identical(formals(step_select_ufs)$method, "classify")
  kept <- function(...) names(bake(prep(step_select_ufs(recipe(~., mtcars), all_predictors(), seed = 5, ...)), NULL))
  pick <- function(...) selected_features(withr::with_seed(5, ufs_select(mtcars, ...)))
  expect_setequal(kept(method = "cluster", num_terms = 4, n_clusters = 3), pick(4, "cluster", n_clusters = 3))
  expect_setequal(kept(num_terms = 4, options = list(kind = "one unit")), pick(4, "classify", kind = "one unit"))
  expect_setequal(suppressMessages(kept(method = "compress", num_terms = "auto")), pick("auto", "compress"))
  expect_error(kept(method = "label"), class = "ufs_error_argument")
})

test_that("a number of clusters is told to the methods that have one, and what scores do not decide is said", {
  kept <- function(...) {
    rec <- step_select_ufs(recipe(~., mtcars), all_predictors(), num_terms = 3, seed = 1, ...)
    setdiff(names(bake(prep(rec), NULL)), "mpg")
  }
  expect_identical(kept(method = "pca", n_clusters = 2), kept(method = "pca", options = list(n_components = 2)))
  expect_identical(kept(method = "mcfs", n_clusters = 4, standardise = FALSE),
    kept(method = "mcfs", options = list(n_clusters = 4, scale = FALSE)))
  expect_identical(kept(n_clusters = 4), kept())
  expect_message(five <- kept(method = "pca"), "n_components = 5", class = "ufs_message_clusters")
  expect_identical(five, kept(method = "pca", n_clusters = 5))
  rec <- step_select_ufs(recipe(~., tied), all_predictors(), method = "mcfs", num_terms = 8,
    n_clusters = 2, options = list(n_features = 2))
  found <- suppressMessages(ufs_mcfs(tied[names(tied) != "flat"], 2, n_features = 2))
  live <- sum(found$feature_scores > 0)
  expect_lt(live, 8)
  expect_message(suppressWarnings(prep(rec)), paste("Only", live, "of the 8"), class = "ufs_message_padded")
})

test_that("units decide whether columns are standardised, for methods that do not do so", {
  set.seed(2)
  mixed <- cbind(iris[1:4], noise = matrix(rnorm(1500, sd = 1e4), 150))
  kept <- function(data, method, ...) {
    rec <- step_select_ufs(recipe(~., data), all_predictors(), method = method, num_terms = 3, ...)
    names(bake(prep(rec), NULL))
  }
  of <- function(data, ...) selected_features(ufs_laplacian(data, ...), 3)
  expect_message(found <- kept(mixed, "laplacian"), "different units", class = "ufs_message_units")
  expect_setequal(found, of(mixed, center = TRUE, scale = TRUE))
  expect_false(setequal(found, of(mixed)))
  expect_setequal(kept(mixed, "laplacian", standardise = FALSE), of(mixed))
  expect_setequal(kept(mixed, "laplacian", options = list(scale = FALSE)), of(mixed))
  expect_silent(same <- kept(iris[1:4], "laplacian"))
  expect_setequal(same, of(iris[1:4]))
  expect_setequal(kept(iris[1:4], "laplacian", standardise = TRUE), of(iris[1:4], center = TRUE, scale = TRUE))
  expect_setequal(kept(mixed, "variance"), selected_features(ufs_variance(mixed), 3))
  expect_setequal(kept(mixed, "inffs"), selected_features(ufs_inffs(mixed), 3))
  expect_setequal(kept(mixed, "css", standardise = FALSE), selected_features(ufs_css(mixed, k = 3, scale = FALSE), 3))
  rec <- prep(step_select_ufs(recipe(~., mixed), all_predictors(), method = "laplacian"))
  expect_true(rec$steps[[1]]$standardised)
  expect_match(step_line(rec), "(laplacian, standardised)", fixed = TRUE)
  expect_error(step_select_ufs(recipe(~., iris), all_predictors(), standardise = TRUE,
    options = list(scale = FALSE)), class = "ufs_error_argument")
})

test_that("sparse data and counts have one unit", {
  set.seed(1)
  counts <- matrix(rpois(12000, rep(10^seq(-3, 2, length.out = 120), each = 100)), 100)
  look <- function() as_column_stats(open_quietly(counts), TRUE)
  expect_false(data_kind(open_data(counts), look)$values == "mixed units")
  expect_true(data_kind(open_data(-counts), look)$values == "mixed units")
  skip_if_not_installed("Matrix")
  sparse <- Matrix::Matrix(counts + 0, sparse = TRUE)
  sparse@x <- sparse@x + .5
  expect_false(data_kind(open_data(sparse), look)$values == "mixed units")
})

test_that("missing values", {
  holes <- mtcars
  holes$disp[3:4] <- NA
  holes$hp[5] <- NA
  trained <- function(na, ...) {
    prep(step_select_ufs(recipe(mpg ~ ., holes), all_predictors(), num_terms = 4, na = na, ...))
  }
  expect_error(trained("error"), "'disp'")
  for (na in c("median", "knn", "omit")) {
    rec <- trained(na)
    expect_setequal(setdiff(names(bake(rec, NULL)), "mpg"),
      selected_features(ufs_css(ufs_data(holes[, -1], na = na), k = 4), 4))
    expect_identical(sort(tidy(rec, 1)$terms), sort(names(mtcars)[-1]))
    # Nothing is filled in for the model.
    kept <- intersect(names(bake(rec, NULL)), names(holes))
    expect_identical(as.data.frame(bake(rec, NULL))[kept], `rownames<-`(holes[kept], NULL))
  }
  most <- holes
  most$disp[1:20] <- NA
  rec <- prep(step_select_ufs(recipe(mpg ~ ., most[1:25, ]), all_predictors(), num_terms = 4, na = "omit"))
  last <- utils::tail(tidy(rec, 1), 2)
  expect_setequal(last$terms, c("disp", "hp"))
  expect_true(all(is.na(last$score)))
})

test_that("scores above a cutoff are kept, and a seed fixes draws; bake() errors when needed columns are missing", {
  score <- feature_scores(ufs_variance(mtcars[, -1]))
  kept <- function(...) {
    rec <- step_select_ufs(recipe(mpg ~ ., mtcars), all_predictors(), method = "variance", ...)
    setdiff(names(bake(prep(rec), NULL)), "mpg")
  }
  expect_setequal(kept(cutoff = 1), names(score)[score > 1])
  expect_setequal(kept(cutoff = score[["qsec"]]), names(score)[score > score[["qsec"]]])
  expect_setequal(kept(cutoff = 1, num_terms = 2), names(sort(-score))[1:2])
  expect_length(kept(cutoff = 1e6, num_terms = 2), 0)
  rec <- step_select_ufs(recipe(~., mtcars), all_predictors(), method = "random", num_terms = 5, seed = 7)
  set.seed(1)
  before <- .Random.seed
  first <- names(bake(prep(rec), NULL))
  expect_identical(.Random.seed, before)
  expect_identical(names(bake(prep(rec, training = mtcars, fresh = TRUE), NULL)), first)
  expect_setequal(first, with_seed(7, selected_features(ufs_random(mtcars), 5)))
  rec <- update_role(recipe(mpg ~ ., mtcars), disp, hp, wt, new_role = "potato")
  rec <- update_role_requirements(rec, "potato", bake = FALSE)
  rec <- step_select_ufs(rec, has_role("potato"), method = "variance", num_terms = 2)
  trained <- prep(rec)
  table <- tidy(trained, 1)
  kept <- table$terms[!table$removed]
  expect_error(bake(trained, mtcars[setdiff(names(mtcars), kept[1])]), paste("missing from `new_data`:", kept[1]))
  bare <- mtcars[setdiff(names(mtcars), table$terms[table$removed])]
  expect_identical(bake(trained, bare), bake(trained, mtcars))
})

test_that("an empty selection changes nothing, and steps are printed", {
  plain <- recipe(mpg ~ ., mtcars)
  rec <- step_select_ufs(plain)
  line <- "Unsupervised feature selection (classify) on: <none>"
  expect_identical(step_line(rec), line)
  expect_identical(step_line(prep(rec, mtcars)), paste(line, "| Trained"))
  expect_identical(bake(prep(rec, mtcars), mtcars), bake(prep(plain, mtcars), mtcars))
  expected <- tibble::tibble(terms = character(), score = double(), rank = integer(), removed = logical(),
    id = character())
  for (one in list(rec, prep(rec, mtcars))) expect_identical(tidy(one, number = 1), expected)
  rec <- step_select_ufs(recipe(~., mtcars), all_predictors(), method = "variance", num_terms = 9)
  line <- "Unsupervised feature selection (variance) on:"
  expect_identical(step_line(rec), paste(line, "all_predictors()"))
  # Trained, it says what it keeps, best first.
  expect_match(step_line(prep(rec)), "^Unsupervised feature selection \\(variance\\) keeps 9 of 11: disp, hp, ")
  expect_identical(tidy(rec, 1)$terms, "all_predictors()")
})

test_that("the print is short whatever the names; tunable", {
  for (size in c(4L, 17L, 90L)) {
    wide <- as.data.frame(matrix(stats::rnorm(5 * 400), 5))
    names(wide) <- paste0(strrep("n", size), seq_len(400))
    trained <- prep(step_select_ufs(recipe(~., wide), everything(), method = "variance", num_terms = 10))
    expect_lte(length(testthat::capture_messages(print(trained$steps[[1]]))), 3)
    lines <- testthat::capture_messages(print(trained$steps[[1]]))
    expect_lte(length(strsplit(trimws(paste(lines, collapse = "")), "\n")[[1]]), 3)
    expect_match(paste(lines, collapse = ""), "nnnn")
  }
  rec <- step_select_ufs(recipe(~., mtcars), all_predictors())
  param <- generics::tunable(rec$steps[[1]])
  expect_identical(param$name, c("num_terms", "prop_terms", "cutoff", "method", "n_clusters"))
  expect_true(all(param$source == "recipe"))
  expect_identical(vapply(param$call_info, `[[`, "", "pkg"), c("dials", "dials", "dials", "ufselect", "dials"))
  expect_identical(nrow(param), 5L)
  expect_named(param, c("name", "call_info", "source", "component", "component_id"))
})

test_that("tunable is setup to work with extract_parameter_set_dials", {
  skip_if_not_installed("dials", "1.4.1")
  marked <- list(
    num_terms = step_select_ufs(recipe(~., mtcars), all_predictors(), num_terms = hardhat::tune()),
    prop_terms = step_select_ufs(recipe(~., mtcars), all_predictors(), prop_terms = hardhat::tune()),
    cutoff = step_select_ufs(recipe(~., mtcars), all_predictors(), cutoff = hardhat::tune()),
    method = step_select_ufs(recipe(~., mtcars), all_predictors(), method = hardhat::tune()),
    n_clusters = step_select_ufs(recipe(~., mtcars), all_predictors(), method = "mcfs", n_clusters = hardhat::tune())
  )
  for (which in names(marked)) {
    rec <- marked[[which]]
    params <- extract_parameter_set_dials(rec)
    expect_s3_class(params, "parameters")
    expect_identical(nrow(params), 1L)
    expect_identical(params$name, which)
    # Known without data, so that a grid can be made.
    expect_false(dials::has_unknowns(params$object[[1]]))
    expect_identical(nrow(dials::grid_regular(params, levels = 3)), 3L)
    ready <- dials::finalize(params$object[[1]], mtcars)
    upper <- list(num_terms = 20L, prop_terms = 1, cutoff = 1, n_clusters = 10L)[[which]]
    expect_identical(ready$range$upper, upper)
  }
})

test_that("the methods to tune over are the recommended ones", {
  skip_if_not_installed("dials", "1.4.1")
  values <- ufs_param("method")$values
  expect_setequal(values, c("consensus", "css", "mcfs", "laplacian", "pca"))
  expect_identical(ufs_param("method", c("pca", "css"))$values, c("pca", "css"))
  expect_error(ufs_param("method", "ted"), class = "ufs_error_argument")
})

test_that("finalize_recipe() and update() fill in what was marked", {
  rec <- step_select_ufs(recipe(~., mtcars), all_predictors(), method = hardhat::tune(),
    num_terms = hardhat::tune(), n_clusters = hardhat::tune())
  expect_error(prep(rec), "tun")
  step <- stats::update(rec$steps[[1]], method = "pca", num_terms = 3L, n_clusters = 2L)
  rec$steps[[1]] <- step
  expect_setequal(names(bake(prep(rec), NULL)), selected_features(ufs_pca(mtcars, 2), 3))
  expect_error(step_select_ufs(recipe(~., mtcars), all_predictors(),
    options = list(n_clusters = hardhat::tune())), class = "ufs_error_argument")
})

test_that("parameters have the ranges that are given, and whole numbers where numbers are counts", {
  skip_if_not_installed("dials")
  expect_identical(ufs_param("n_clusters")$type, "integer")
  expect_identical(unlist(ufs_param("n_clusters", c(3L, 6L))$range), c(lower = 3L, upper = 6L))
  cutoff <- ufs_param("cutoff", c(0.2, 0.9))
  expect_identical(cutoff$type, "double")
  expect_identical(unlist(cutoff$range), c(lower = 0.2, upper = 0.9))
  expect_identical(names(c(ufs_param("n_clusters")$label, cutoff$label)),
    c("n_clusters", "cutoff"))
})

test_that("bad args; 0 and 1 rows in bake(); a trained recipe survives a trip through a file, small", {
  step <- function(...) step_select_ufs(rec, all_predictors(), ...)
  expect_arguments(method = step(method = "nosuch"), method = step(method = "ted"), num_terms = step(num_terms = -1),
    num_terms = step(num_terms = 1.5), prop_terms = step(prop_terms = 2),
    prop_terms = step(num_terms = 2, prop_terms = .5), options = step(options = list(3)),
    options = step(options = list(n_clusters = 3)), cutoff = step(cutoff = "a"), n_clusters = step(n_clusters = 0),
    n_clusters = step(method = "mcfs", n_clusters = 2, options = list(n_clusters = 3)),
    standardise = step(standardise = "yes"), na = step(na = "drop"), seed = step(seed = "a"),
    recipe = step_select_ufs(mtcars, disp))
  days <- transform(iris, day = as.Date("2026-01-01") + seq_len(150))
  expect_error(prep(step_select_ufs(recipe(~., days), day)), "day|double|integer")
  holes <- mtcars
  holes$disp[3] <- NA
  expect_error(prep(step_select_ufs(recipe(mpg ~ ., holes), all_predictors())), "'disp'")
  trained <- prep(step_select_ufs(recipe(~., mtcars), all_numeric_predictors(), num_terms = 3))
  expect_identical(dim(bake(trained, mtcars[1, ])), c(1L, 3L))
  expect_identical(dim(bake(trained, mtcars[0, ])), c(0L, 3L))
  trained <- prep(step_select_ufs(recipe(~., mtcars), all_predictors()))
  file <- withr::local_tempfile(fileext = ".rds")
  saveRDS(trained, file)
  expect_identical(bake(readRDS(file), mtcars), bake(trained, mtcars))
  expect_lt(length(serialize(trained$steps[[1]]$scores, NULL)), 5000)
})

test_that("sparse recipes work", {
  skip_if_not_installed("Matrix")
  x <- as.matrix(mtcars[c(1:4, 6:7)])
  x[x < 5] <- 0
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  rec <- update_role(recipe(sparse), everything(), new_role = "predictor")
  rec <- step_select_ufs(rec, all_predictors(), method = "variance", num_terms = 3, options = list(scale = FALSE))
  expect_setequal(names(bake(prep(rec), sparse)), selected_features(ufs_variance(x, scale = FALSE), 3))
})

test_that("num_terms = \"auto\" keeps as many columns as are better than noise", {
  data <- planted(60, 30, informative = 8)
  x <- as.data.frame(data$x)
  rec <- function(...) step_select_ufs(recipe(~., x), all_predictors(), num_terms = "auto", seed = 3, ...)
  expect_message(trained <- prep(rec(method = "pca", options = list(n_components = 2))), "columns are better than noise",
    class = "ufs_message_size")
  size <- with_seed(3, auto_k(x, "pca", list(n_components = 2)))
  expect_identical(size$verdict, "some")
  expect_setequal(names(bake(trained, NULL)), selected_features(ufs_pca(x, 2), size$k))
  # What is noise only is kept whole, and that is said.
  noise <- as.data.frame(withr::with_seed(1, matrix(rnorm(600), 60)))
  none <- step_select_ufs(recipe(~., noise), all_predictors(), method = "pca", num_terms = "auto", seed = 1,
    options = list(n_components = 2))
  expect_message(trained <- prep(none), "no column is better than noise")
  expect_identical(ncol(bake(trained, NULL)), 10L)
  expect_error(rec(method = "topk"), "one number of columns", class = "ufs_error_argument")
  expect_error(step_select_ufs(recipe(~., x), all_predictors(), num_terms = "many"), class = "ufs_error_argument")
})

test_that("tune_grid() makes a grid by itself, and the best setting is filled in", {
  for (package in c("tune", "workflows", "parsnip", "rsample", "yardstick", "rpart")) skip_if_not_installed(package)
  skip_if_not_installed("dials", "1.4.1")
  # Not suggested packages: only this test has use for them.
  of <- function(package, name) getExportedValue(package, name)
  accuracy <- of("yardstick", "accuracy")
  tree <- of("parsnip", "decision_tree")(mode = "classification", engine = "rpart")
  rec <- step_select_ufs(recipe(Species ~ ., iris), all_numeric_predictors(), method = hardhat::tune(),
    num_terms = hardhat::tune(), n_clusters = 3)
  flow <- of("workflows", "workflow")(rec, tree)
  params <- hardhat::extract_parameter_set_dials(flow)
  expect_setequal(params$name, c("method", "num_terms"))
  folds <- withr::with_seed(1, of("rsample", "vfold_cv")(iris, v = 2))
  tuned <- withr::with_seed(2, suppressMessages(of("tune", "tune_grid")(flow, folds, grid = 4,
    metrics = of("yardstick", "metric_set")(accuracy))))
  notes <- do.call(rbind, tuned$.notes)
  expect_identical(sum(notes$type == "error"), 0L)
  # Iris falls into two parts, which mcfs says; nothing else is worth a note.
  expect_true(all(grepl("separate parts", notes$note)))
  expect_gte(nrow(of("tune", "collect_metrics")(tuned)), 3L)
  best <- of("tune", "select_best")(tuned, metric = "accuracy")
  fitted <- generics::fit(of("tune", "finalize_workflow")(flow, best), iris)
  step <- of("workflows", "extract_recipe")(fitted)$steps[[1]]
  expect_identical(step$method, best$method)
  expect_identical(sum(!step$scores$removed), min(as.integer(best$num_terms), 4L))
  # The same columns as the method's own.
  kept <- step$scores$terms[!step$scores$removed]
  arguments <- intersect("n_clusters", names(formals(paste0("ufs_", best$method))))
  fit <- suppressMessages(with_seed(step$seed, do.call(ufs, c(list(x = iris[, 1:4], method = best$method),
    list(n_clusters = 3)[arguments]))))
  expect_identical(kept, suppressMessages(selected_features(fit, length(kept))))
})
test_that("bake() fills new rows as the training set says, and matrix columns are their columns", {
  set.seed(1)
  x <- as.data.frame(matrix(rnorm(200), 40))
  x[2, 1] <- NA
  new <- x[1:3, ]
  new[1, ] <- NA
  for (na in c("median", "knn")) {
    rec <- recipes::prep(step_select_ufs(recipes::recipe(~ ., x), recipes::all_predictors(), num_terms = 5, na = na))
    out <- suppressMessages(recipes::bake(rec, new))
    middle <- if (na == "median") stats::median else mean
    expect_equal(unlist(out[1, ]), sapply(x, middle, na.rm = TRUE))
    own <- as.matrix(ufs_data(x, na = na))
    expect_equal(out$V1[2], own[2, 1], ignore_attr = TRUE)
  }
  rec <- step_select_ufs(recipes::recipe(~ ., x), recipes::all_predictors(), num_terms = 2)
  expect_error(recipes::prep(rec), "choose `na`")
  y <- tibble::tibble(a = rnorm(40), s = matrix(rnorm(160), 40))
  rec <- recipes::prep(step_select_ufs(recipes::recipe(~ ., y), recipes::all_predictors(), num_terms = 2))
  expect_identical(nrow(generics::tidy(rec, number = 1)), 5L)
  expect_identical(sum(vapply(recipes::bake(rec, y), function(col) max(1L, ncol(col)), 0L)), 2L)
  y$s[2:3, ] <- NA
  rec <- recipes::prep(step_select_ufs(recipes::recipe(~ ., y), recipes::all_predictors(), num_terms = 3,
    method = "variance", na = "median"))
  out <- recipes::bake(rec, y)
  expect_false(anyNA(out$s))
  expect_identical(out$s[2, ], out$s[3, ])
  y$s.1 <- rnorm(40)
  expect_error(recipes::prep(step_select_ufs(recipes::recipe(~ ., y), recipes::all_predictors(), na = "median")), "'s.1'")
})

test_that("one column alone has its missing values refused or filled as several have", {
  x <- data.frame(a = c(1, NA, 3, 5), b = 1:4)
  one <- function(na) recipes::prep(step_select_ufs(recipes::recipe(~ ., x), a, num_terms = 1, na = na))
  expect_error(one("error"), "choose `na`")
  expect_identical(recipes::bake(one("median"), x)$a, c(1, 3, 3, 5))
  expect_error(step_select_ufs(recipes::recipe(~ ., x), a, method = NULL), "no method", class = "ufs_error_argument")
})

test_that("constraints in options: what must be in is kept whatever the cutoff, what may not be never", {
  x <- planted(60, 9, seed = 4)$x
  colnames(x) <- paste0("c", seq_len(9))
  d <- as.data.frame(x)
  kept <- function(method, ..., options = list(include = "c9", exclude = "c1")) {
    step <- suppressMessages(recipes::prep(step_select_ufs(recipes::recipe(~., d), recipes::all_predictors(), method = method,
      ..., options = options, seed = 1)))
    names(recipes::bake(step, new_data = NULL))
  }
  expect_false("c1" %in% kept("pca", num_terms = 9))
  expect_identical(kept("pca", cutoff = 1e6), "c9")
  cost <- stats::setNames(c(1, 9, 1, 1, 1, 1, 9, 1, 1), colnames(x))
  expect_setequal(kept("pca", num_terms = 3, options = list(n_components = 5, include = "c9", exclude = "c1", cost = cost)),
    selected_features(ufs_pca(d, 5, include = "c9", exclude = "c1", cost = cost), 3))
  expect_error(kept("pca", num_terms = 1, options = list(include = c("c1", "c2"))), "num_terms")
  expect_error(kept("pca", num_terms = 3, options = list(include = "zz")), "zz")
  expect_error(kept("pca", num_terms = 3, options = list(groups = 1:9)), "groups")
})

test_that("quotas in options: what is kept is what the method chooses for that number of columns", {
  x <- planted(60, 9, seed = 4)$x
  colnames(x) <- paste0("c", seq_len(9))
  d <- as.data.frame(x)
  strata <- stats::setNames(rep(c("a", "b", "c"), each = 3), colnames(x))
  quotas <- list(a = c(2, 3), b = 1, c = c(0, 1))
  # In any order, and with a column that a step before has removed.
  options <- list(feature_strata = c(rev(strata), gone = "a"), feature_quotas = quotas)
  kept <- function(method, ..., options) {
    step <- suppressMessages(recipes::prep(step_select_ufs(recipes::recipe(~., d), recipes::all_predictors(),
      method = method, ..., options = options, seed = 1)))
    names(recipes::bake(step, new_data = NULL))
  }
  for (k in 3:5) {
    fits <- list(pca = ufs_pca(d, 5, feature_strata = strata, feature_quotas = quotas),
      css = ufs_css(d, k = k, feature_strata = strata, feature_quotas = quotas))
    for (method in names(fits)) {
      more <- if (method == "pca") list(n_components = 5)
      out <- kept(method, num_terms = k, options = c(options, more))
      expect_setequal(out, selected_features(fits[[method]], k))
      expect_identical(as.vector(table(strata[out]))[2], 1L)
    }
  }
  counts <- function(out) as.vector(table(factor(strata[out], c("a", "b", "c"))))
  for (method in c("classify", "compress", "socfs")) expect_identical(counts(kept(method, num_terms = 4, options = options))[2], 1L)
  # More than the quotas allow keeps all that they allow.
  expect_identical(counts(kept("pca", num_terms = 9, options = options)), c(3L, 1L, 1L))
  expect_identical(counts(kept("pca", cutoff = 0, options = options)), c(3L, 1L, 1L))
  # In proportion, without quotas.
  expect_identical(counts(kept("pca", num_terms = 3, options = options["feature_strata"])), c(1L, 1L, 1L))
  few <- function(arg, ...) expect_error(kept("pca", ..., options = options), paste0(arg, ".*fewer than `feature_quotas`"))
  few("num_terms", num_terms = 2)
  few("prop_terms", prop_terms = .1)
  few("cutoff", cutoff = 1e6)
  expect_error(kept("pca", num_terms = 3, options = list(feature_quotas = 1)), "feature_strata")
})

test_that("no constraint is dropped: every row of their table is heeded in the options of a step, or refused", {
  d <- as.data.frame(doors_x())
  columns <- function(options, method = "pca") {
    step <- step_select_ufs(recipe(~., d), all_predictors(), method = method, num_terms = 3, options = options, seed = 1)
    out <- suppressMessages(suppressWarnings(prep(step)))
    list(sort(names(bake(out, new_data = NULL))), tidy(out, 1)$terms)
  }
  for (name in constraint_names()) {
    row <- constraint_rows()[[name]]
    options <- stats::setNames(given_as(name), c(row$needs[1L], name))
    less <- options[row$needs[1L]]
    methods <- c("pca", "css", "classify")
    if (row$option) {
      # One of them may choose by itself what is asked for.
      same <- vapply(methods, function(method) identical(columns(options, method), columns(less, method)), NA)
      # Costs are told, and no budget can be given here.
      expect_identical(all(same), name == "cost", info = name)
    } else for (method in methods) {
      expect_error(columns(options, method), paste0("`", name, "`"), class = "ufs_error_argument", fixed = TRUE)
    }
  }
})

test_that("a step refuses what contradicts itself, and has packages before it is trained", {
  expect_refused(prep(step_select_ufs(rec, all_predictors(), method = "css", num_terms = 2,
    standardise = TRUE, options = list(scale = FALSE))),
    "Give `standardise` or the method's own `scale`, not both.")
  expect_identical(generics::required_pkgs(step_select_ufs(rec, all_predictors())$steps[[1L]]), "ufselect")
  replaced("has_recipes", function() FALSE)
  expect_refused(step_select_ufs(rec, all_predictors()), paste("step_select_ufs() needs recipes 1.1.0 or newer;",
    utils::packageVersion("recipes"), "is installed."), "ufs_error_package")
})

test_that("a task is standardised as it is told", {
  for (scale in c(TRUE, FALSE)) {
    out <- bake(prep(step_select_ufs(rec, all_predictors(), method = "compress", num_terms = 2,
      standardise = scale)), NULL)
    fit <- suppressMessages(ufs_select(mtcars[, -1], k = 2, task = "compress", scale = scale))
    expect_setequal(setdiff(names(out), "mpg"), selected_features(fit))
  }
})
