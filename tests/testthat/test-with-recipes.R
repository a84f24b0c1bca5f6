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

# A step on all predictors, trained, and the columns that it keeps.
trained <- function(formula, data, ...) prep(step_select_ufs(recipe(formula, data), all_predictors(), ...))
kept <- function(formula, data, ...) names(bake(trained(formula, data, ...), NULL, all_predictors()))

# The step's own line in what recipes prints around it, which differs between its versions.
step_line <- function(recipe) {
  printed <- testthat::capture_messages(lines <- utils::capture.output(print(recipe)))
  sub("^\\W+", "", grep("feature selection", unlist(strsplit(c(printed, lines), "\n")), value = TRUE))
}

# All that is printed of a step, which may be broken into lines.
step_text <- function(recipe) paste(testthat::capture_messages(print(recipe$steps[[1]])), collapse = " ")

test_that("step works, and constant columns go first", {
  step <- step_select_ufs(rec, all_predictors(), method = "pca", num_terms = 4, options = list(n_components = 2))
  out <- prep(step)
  baked <- bake(out, mtcars)
  table <- tidy(out, 1)
  fit <- ufs_pca(mtcars[, -1], n_components = 2)
  expect_setequal(names(baked), c(selected_features(fit, 4), "mpg"))
  expect_named(table, c("terms", "score", "rank", "removed", "id"))
  expect_identical(table$terms, names(feature_ranking(fit)))
  expect_equal(table$score, unname(feature_scores(fit)[table$terms]))
  expect_identical(table$removed, rep(c(FALSE, TRUE), c(4, 6)))
  expect_identical(unique(table$id), step$steps[[1]]$id)
  expect_identical(baked, bake(out, new_data = NULL))
  expect_message(out <- trained(mpg ~ ., cbind(mtcars, flat = 1), num_terms = 10), "column 'flat'",
    class = "ufs_message_constant")
  table <- tidy(out, 1)
  expect_identical(table$terms[table$removed], "flat")
  expect_identical(table$score[table$removed], NA_real_)
})

test_that("the share is rounded up, half of the columns are kept by default; all may be kept, and none", {
  share <- function(...) length(kept(mpg ~ ., mtcars, method = "variance", ...))
  expect_identical(share(), 5L)
  expect_identical(vapply(c(.31, .3, .01), function(p) share(prop_terms = p), 0L), c(4L, 3L, 1L))
  expect_length(kept(~., as.data.frame(matrix(stats::rnorm(500), 5)), method = "variance", prop_terms = .07), 7)
  for (size in list(list(num_terms = 10), list(num_terms = 50L), list(prop_terms = 1), list(num_terms = 0),
    list(prop_terms = 0))) {
    out <- do.call(trained, c(list(mpg ~ ., mtcars), size))
    all <- size[[1]] > 0
    expect_named(bake(out, mtcars), c(if (all) names(mtcars)[-1], "mpg"))
    expect_identical(unique(tidy(out, 1)$removed), !all)
  }
  # One column alone needs no ranking.
  out <- prep(step_select_ufs(rec, disp))
  expect_named(bake(out, mtcars), c(names(mtcars)[-1], "mpg"))
  expect_identical(tidy(out, 1)$score, NA_real_)
  expect_false("disp" %in% names(bake(prep(step_select_ufs(rec, disp, num_terms = 0)), mtcars)))
})

# mtcars with case weights beside the outcome.
weighted_cars <- function(weights) cbind(mtcars, tibble::tibble(wts = weights))

test_that("frequency weights: the choice is that of rows repeated as often, for every method that takes them", {
  count <- rep(c(1L, 4L, 0L, 2L), 8)
  data <- weighted_cars(hardhat::frequency_weights(count))
  x <- ufs_data(mtcars[count > 0, -1], weights = count[count > 0])
  weighs <- subset(ufs_methods(what = "constraints"), weights == "solver")$method
  expect_length(weighs, 9L)
  changed <- FALSE
  for (method in weighs) {
    row <- registry()[[method]]
    options <- c(needs(method), if (method == "jspca") list(loss = "feature"))
    out <- function(data) {
      suppressMessages(trained(mpg ~ ., data, method = method, num_terms = 4, seed = 2, options = options))
    }
    names_of <- function(data) names(bake(out(data), NULL, all_predictors()))
    number <- number_argument(row)
    fit <- with_seed(2, suppressMessages(do.call(ufs, c(list(x, method), options,
      if (row$mixed_units == "standardise") list(center = TRUE, scale = TRUE),
      if (!is.null(number)) stats::setNames(list(4L), number)))))
    expect_identical(tidy(out(data), 1)$terms[1:4], selected_features(fit, 4), info = method)
    expect_match(step_text(out(data)), "weighted", info = method)
    # The graph of ufs_laplacian() links different rows; starts of k-means are drawn.
    if (!method %in% c("laplacian", "socfs", "kmeans_f")) {
      expect_setequal(names_of(data), names_of(mtcars[rep(seq_len(32), count), ]))
    }
    changed <- changed || !setequal(names_of(data), names_of(mtcars))
  }
  expect_true(changed)
  for (task in c("classify", "cluster", "compress")) {
    out <- suppressMessages(trained(mpg ~ ., data, method = task, num_terms = 4, seed = 2))
    fit <- with_seed(2, suppressMessages(ufs_select(x, 4, task)))
    expect_setequal(names(bake(out, NULL, all_predictors())), selected_features(fit))
    expect_match(step_text(out), "weighted")
  }
})

test_that("weights that are not taken are ignored, and that is said with its reason", {
  counts <- weighted_cars(hardhat::frequency_weights(rep(1:2, 16)))
  shares <- weighted_cars(hardhat::importance_weights(rep(c(.5, 2), 16)))
  out <- function(data, method, ...) trained(mpg ~ ., data, method = method, num_terms = 3, seed = 1, ...)
  said <- function(code, words) {
    expect_message(out <- code, words, fixed = TRUE, class = "ufs_message_weights")
    expect_match(step_text(out), "ignored\\s+weights")
    tidy(out, 1)$terms
  }
  plain <- out(mtcars, "mcfs", n_clusters = 2)
  expect_false(grepl("weights", step_text(plain)))
  mcfs <- said(out(counts, "mcfs", n_clusters = 2), "ufs_mcfs() takes none (in its graph")
  expect_identical(mcfs, tidy(plain, 1)$terms)
  # Only methods without weights have a number of clusters.
  said(out(counts, "cluster", n_clusters = 2), "ufs_consensus() takes none")
  expect_identical(said(out(shares, "css"), "no frequency weights"), tidy(out(mtcars, "css"), 1)$terms)
  expect_error(out(weighted_cars(hardhat::frequency_weights(c(NA, rep(1L, 31)))), "css"), class = "ufs_error_argument")
})

test_that("logical columns are numbers, as for ufs_data(), and columns of ids are named", {
  flags <- transform(mtcars, vs = vs == 1, am = am == 1)
  six <- function(data) kept(mpg ~ ., data, method = "css", num_terms = 6)
  expect_identical(six(flags), six(mtcars))
  expect_type(bake(trained(mpg ~ ., flags, num_terms = 10), flags)$vs, "logical")
  # Values filled in need not be TRUE or FALSE: the type does not depend on the rows.
  flags$vs[3] <- NA
  filled <- trained(mpg ~ ., flags, num_terms = 10, na = "median")
  expect_identical(bake(filled, flags[3, ])$vs, stats::median(flags$vs, na.rm = TRUE) + 0)
  expect_type(bake(filled, flags[1:2, ])$vs, "double")
  # One rule for ids at every door, said each time, once.
  numbered <- cbind(sample_id = 101:132, mtcars)
  doubt <- looks_like_ids(open_data(numbered[-2]))
  expect_match(doubt, "'sample_id'")
  times_said <- function(data, method) {
    sum(grepl(doubt, testthat::capture_messages(trained(mpg ~ ., data, method = method)), fixed = TRUE))
  }
  for (method in c("css", "css", "classify", "classify")) expect_identical(times_said(numbered, method), 1L)
  expect_identical(times_said(mtcars, "css"), 0L)
})

test_that("\"auto\" is one number at every door: ufs_size(), ufs_select(), a fit and the step", {
  x <- as.data.frame(planted(60, 30, informative = 8)$x)
  asked <- function(code) with_seed(4, quietly(code))
  auto <- function(method, ...) quietly(kept(~., x, method = method, num_terms = "auto", seed = 4, ...))
  for (task in c("classify", "cluster", "compress")) {
    chosen <- asked(ufs_select(x, "auto", task))
    expect_identical(chosen$size, asked(ufs_size(x, task = task))$k, info = task)
    expect_setequal(auto(task), selected_features(chosen))
  }
  for (method in c("pca", "kmeans_f", "laplacian", "css")) {
    size <- asked(do.call(ufs_size, c(list(x, method, n_resamples = 2L), needs(method))))
    expected <- if (size$verdict == "noise") 30L else size$k
    expect_length(auto(method, options = needs(method)), expected)
    fit <- asked(do.call(ufs, c(list(x, method, k = "auto"), needs(method))))
    expect_identical(fit$params$k, expected, info = method)
  }
  expect_message(out <- trained(~., x, method = "pca", num_terms = "auto", seed = 3, options = list(n_components = 2)),
    "columns are better than noise", class = "ufs_message_size")
  size <- with_seed(3, auto_k(x, "pca", list(n_components = 2)))
  expect_identical(size$verdict, "some")
  expect_setequal(names(bake(out, NULL)), selected_features(ufs_pca(x, 2), size$k))
  # What is noise only is kept whole, and that is said.
  noise <- as.data.frame(withr::with_seed(1, matrix(rnorm(600), 60)))
  expect_message(out <- trained(~., noise, method = "pca", num_terms = "auto", seed = 1,
    options = list(n_components = 2)), "no column is better than noise")
  expect_identical(ncol(bake(out, NULL)), 10L)
  expect_refusals("one number of columns" = trained(~., x, num_terms = "auto", method = "topk"),
    trained(~., x, num_terms = "many"))
})

tied <- tied_columns()

for (method in setdiff(feature_methods(), task_names)) {
  test_that(paste("the same columns as selected_features():", method), {
    per_k <- c(registry()[[method]]$per_k, registry()[[method]]$picks$argument)
    for (k in c(1L, 4L, 7L, 11L)) {
      args <- c(needs(method), if (!is.null(per_k)) stats::setNames(list(k), per_k))
      fit <- quietly(with_seed(11, do.call(ufs, c(list(x = tied, method = method), args))))
      expect_setequal(quietly(kept(~., tied, method = method, num_terms = k, options = needs(method), seed = 11)),
        suppressMessages(selected_features(fit, k)))
    }
  })
}

test_that("the step keeps the columns of ufs_select() with the same task, by default those to classify", {
  words <- withr::with_seed(4, kind_makers()$words$make(40, 110))
  # Two units, one unit and counts.
  for (x in list(mtcars, USJudgeRatings, as.data.frame(words))) for (task in c("compress", "classify", "cluster")) {
    out <- trained(~., x, method = task, num_terms = 4, seed = 5)
    fit <- withr::with_seed(5, ufs_select(x, 4, task))
    expect_setequal(names(bake(out, NULL)), selected_features(fit))
    expect_match(step_text(out), paste0(task, ": ufs_", fit$method), fixed = TRUE)
  }
  expect_identical(formals(step_select_ufs)$method, "classify")
  cars <- function(...) kept(~., mtcars, seed = 5, ...)
  pick <- function(...) selected_features(withr::with_seed(5, ufs_select(mtcars, ...)))
  expect_setequal(cars(method = "cluster", num_terms = 4, n_clusters = 3), pick(4, "cluster", n_clusters = 3))
  expect_setequal(cars(num_terms = 4, options = list(kind = "one unit")), pick(4, "classify", kind = "one unit"))
  expect_setequal(suppressMessages(cars(method = "compress", num_terms = "auto")), pick("auto", "compress"))
  expect_error(cars(method = "label"), class = "ufs_error_argument")
  for (scale in c(TRUE, FALSE)) {
    expect_setequal(kept(mpg ~ ., mtcars, method = "compress", num_terms = 2, standardise = scale),
      selected_features(suppressMessages(ufs_select(mtcars[, -1], k = 2, task = "compress", scale = scale))))
  }
})

test_that("a number of clusters is told to the methods that have one, and what scores do not decide is said", {
  three <- function(...) kept(~., mtcars, num_terms = 3, seed = 1, ...)
  expect_identical(three(method = "pca", n_clusters = 2), three(method = "pca", options = list(n_components = 2)))
  expect_identical(three(method = "mcfs", n_clusters = 4, standardise = FALSE),
    three(method = "mcfs", options = list(n_clusters = 4, scale = FALSE)))
  expect_identical(three(n_clusters = 4), three())
  expect_message(five <- three(method = "pca"), "n_components = 5", class = "ufs_message_clusters")
  expect_identical(five, three(method = "pca", n_clusters = 5))
  live <- sum(suppressMessages(ufs_mcfs(tied[names(tied) != "flat"], 2, n_features = 2))$feature_scores > 0)
  expect_lt(live, 8)
  expect_message(suppressWarnings(trained(~., tied, method = "mcfs", num_terms = 8, n_clusters = 2,
    options = list(n_features = 2))), paste("Only", live, "of the 8"), class = "ufs_message_padded")
})

test_that("units decide whether columns are standardised, for methods that do not do so", {
  set.seed(2)
  mixed <- cbind(iris[1:4], noise = matrix(rnorm(1500, sd = 1e4), 150))
  three <- function(data, method, ...) kept(~., data, method = method, num_terms = 3, ...)
  of <- function(data, ...) selected_features(ufs_laplacian(data, ...), 3)
  expect_message(found <- three(mixed, "laplacian"), "different units", class = "ufs_message_units")
  expect_setequal(found, of(mixed, center = TRUE, scale = TRUE))
  expect_false(setequal(found, of(mixed)))
  expect_setequal(three(mixed, "laplacian", standardise = FALSE), of(mixed))
  expect_setequal(three(mixed, "laplacian", options = list(scale = FALSE)), of(mixed))
  expect_silent(same <- three(iris[1:4], "laplacian"))
  expect_setequal(same, of(iris[1:4]))
  expect_setequal(three(iris[1:4], "laplacian", standardise = TRUE), of(iris[1:4], center = TRUE, scale = TRUE))
  expect_setequal(three(mixed, "variance"), selected_features(ufs_variance(mixed), 3))
  expect_setequal(three(mixed, "inffs"), selected_features(ufs_inffs(mixed), 3))
  expect_setequal(three(mixed, "css", standardise = FALSE), selected_features(ufs_css(mixed, k = 3, scale = FALSE), 3))
  out <- trained(~., mixed, method = "laplacian")
  expect_true(out$steps[[1]]$standardised)
  expect_match(step_line(out), "(laplacian, standardised)", fixed = TRUE)
})

test_that("sparse data and counts have one unit, and sparse recipes work", {
  set.seed(1)
  counts <- matrix(rpois(12000, rep(10^seq(-3, 2, length.out = 120), each = 100)), 100)
  mixed <- function(x) {
    data_kind(open_data(x), function() as_column_stats(open_quietly(counts), TRUE))$values == "mixed units"
  }
  expect_identical(c(mixed(counts), mixed(-counts)), c(FALSE, TRUE))
  skip_if_not_installed("Matrix")
  sparse <- Matrix::Matrix(counts + 0, sparse = TRUE)
  sparse@x <- sparse@x + .5
  expect_false(mixed(sparse))
  x <- as.matrix(mtcars[c(1:4, 6:7)])
  x[x < 5] <- 0
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  rec <- update_role(recipe(sparse), everything(), new_role = "predictor")
  rec <- step_select_ufs(rec, all_predictors(), method = "variance", num_terms = 3, options = list(scale = FALSE))
  expect_setequal(names(bake(prep(rec), sparse)), selected_features(ufs_variance(x, scale = FALSE), 3))
})

test_that("missing values", {
  holes <- mtcars
  holes$disp[3:4] <- NA
  holes$hp[5] <- NA
  expect_error(trained(mpg ~ ., holes, num_terms = 4), "'disp'")
  for (na in c("median", "knn", "omit")) {
    out <- trained(mpg ~ ., holes, num_terms = 4, na = na)
    names <- names(bake(out, NULL, all_predictors()))
    expect_setequal(names, selected_features(ufs_css(ufs_data(holes[, -1], na = na), k = 4), 4))
    expect_identical(sort(tidy(out, 1)$terms), sort(names(mtcars)[-1]))
    # Nothing is filled in for the model.
    expect_identical(as.data.frame(bake(out, NULL))[names], `rownames<-`(holes[names], NULL))
  }
  holes$disp[1:20] <- NA
  last <- utils::tail(tidy(trained(mpg ~ ., holes[1:25, ], num_terms = 4, na = "omit"), 1), 2)
  expect_setequal(last$terms, c("disp", "hp"))
  expect_true(all(is.na(last$score)))
  # One column alone has its missing values refused or filled as several have.
  x <- data.frame(a = c(1, NA, 3, 5), b = 1:4)
  one <- function(na) prep(step_select_ufs(recipe(~ ., x), a, num_terms = 1, na = na))
  expect_error(one("error"), "choose `na`")
  expect_identical(bake(one("median"), x)$a, c(1, 3, 3, 5))
})

test_that("scores above a cutoff are kept, and a seed fixes draws; bake() errors when needed columns are missing", {
  score <- feature_scores(ufs_variance(mtcars[, -1]))
  above <- function(...) kept(mpg ~ ., mtcars, method = "variance", ...)
  expect_setequal(above(cutoff = 1), names(score)[score > 1])
  expect_setequal(above(cutoff = score[["qsec"]]), names(score)[score > score[["qsec"]]])
  expect_setequal(above(cutoff = 1, num_terms = 2), names(sort(-score))[1:2])
  expect_length(above(cutoff = 1e6, num_terms = 2), 0)
  drawn <- step_select_ufs(recipe(~., mtcars), all_predictors(), method = "random", num_terms = 5, seed = 7)
  set.seed(1)
  before <- .Random.seed
  out <- prep(drawn)
  expect_identical(.Random.seed, before)
  expect_identical(names(bake(prep(out, training = mtcars, fresh = TRUE), NULL)), names(bake(out, NULL)))
  expect_setequal(names(bake(out, NULL)), with_seed(7, selected_features(ufs_random(mtcars), 5)))
  rec <- update_role_requirements(update_role(rec, disp, hp, wt, new_role = "potato"), "potato", bake = FALSE)
  out <- prep(step_select_ufs(rec, has_role("potato"), method = "variance", num_terms = 2))
  table <- tidy(out, 1)
  needed <- table$terms[!table$removed][1]
  expect_error(bake(out, mtcars[setdiff(names(mtcars), needed)]), paste("missing from `new_data`:", needed))
  expect_identical(bake(out, mtcars[setdiff(names(mtcars), table$terms[table$removed])]), bake(out, mtcars))
})

test_that("an empty selection changes nothing, and steps are printed, in short whatever the names", {
  empty <- step_select_ufs(rec)
  line <- "Unsupervised feature selection (classify) on: <none>"
  expect_identical(step_line(empty), line)
  expect_identical(step_line(prep(empty, mtcars)), paste(line, "| Trained"))
  expect_identical(bake(prep(empty, mtcars), mtcars), bake(prep(rec, mtcars), mtcars))
  expected <- tibble::tibble(terms = character(), score = double(), rank = integer(), removed = logical(),
    id = character())
  for (one in list(empty, prep(empty, mtcars))) expect_identical(tidy(one, number = 1), expected)
  full <- step_select_ufs(recipe(~., mtcars), all_predictors(), method = "variance", num_terms = 9)
  expect_identical(step_line(full), "Unsupervised feature selection (variance) on: all_predictors()")
  # Trained, it says what it keeps, best first.
  expect_match(step_line(prep(full)), "^Unsupervised feature selection \\(variance\\) keeps 9 of 11: disp, hp, ")
  expect_identical(tidy(full, 1)$terms, "all_predictors()")
  for (size in c(4L, 17L, 90L)) {
    wide <- as.data.frame(matrix(stats::rnorm(5 * 400), 5))
    names(wide) <- paste0(strrep("n", size), seq_len(400))
    out <- prep(step_select_ufs(recipe(~., wide), everything(), method = "variance", num_terms = 10))
    lines <- paste(testthat::capture_messages(print(out$steps[[1]])), collapse = "")
    expect_lte(length(strsplit(trimws(lines), "\n")[[1]]), 3)
    expect_match(lines, "nnnn")
  }
})

test_that("the step is tunable, and so are its parameters, in the ranges that are given", {
  param <- generics::tunable(step_select_ufs(rec, all_predictors())$steps[[1]])
  expect_named(param, c("name", "call_info", "source", "component", "component_id"))
  expect_identical(param$name, c("num_terms", "prop_terms", "cutoff", "method", "n_clusters"))
  expect_true(all(param$source == "recipe"))
  expect_identical(vapply(param$call_info, `[[`, "", "pkg"), c("dials", "dials", "dials", "ufselect", "dials"))
  skip_if_not_installed("dials", "1.4.1")
  for (which in param$name) {
    given <- stats::setNames(list(quote(hardhat::tune())), which)
    if (which == "n_clusters") given$method <- "mcfs"
    step <- do.call(step_select_ufs, c(list(recipe(~., mtcars), quote(all_predictors())), given))
    params <- extract_parameter_set_dials(step)
    expect_s3_class(params, "parameters")
    expect_identical(nrow(params), 1L)
    expect_identical(params$name, which)
    # Known without data, so that a grid can be made.
    expect_false(dials::has_unknowns(params$object[[1]]))
    expect_identical(nrow(dials::grid_regular(params, levels = 3)), 3L)
    upper <- list(num_terms = 20L, prop_terms = 1, cutoff = 1, n_clusters = 10L)[[which]]
    expect_identical(dials::finalize(params$object[[1]], mtcars)$range$upper, upper)
  }
  # The methods to tune over are the recommended ones.
  expect_setequal(ufs_param("method")$values, c("consensus", "css", "mcfs", "laplacian", "pca"))
  expect_identical(ufs_param("method", c("pca", "css"))$values, c("pca", "css"))
  expect_error(ufs_param("method", "ted"), class = "ufs_error_argument")
  skip_if_not_installed("dials")
  expect_identical(ufs_param("n_clusters")$type, "integer")
  expect_identical(unlist(ufs_param("n_clusters", c(3L, 6L))$range), c(lower = 3L, upper = 6L))
  cutoff <- ufs_param("cutoff", c(0.2, 0.9))
  expect_identical(cutoff$type, "double")
  expect_identical(unlist(cutoff$range), c(lower = 0.2, upper = 0.9))
  expect_identical(names(c(ufs_param("n_clusters")$label, cutoff$label)), c("n_clusters", "cutoff"))
})

test_that("finalize_recipe() and update() fill in what was marked", {
  rec <- step_select_ufs(recipe(~., mtcars), all_predictors(), method = hardhat::tune(), num_terms = hardhat::tune(),
    n_clusters = hardhat::tune())
  expect_error(prep(rec), "tun")
  rec$steps[[1]] <- stats::update(rec$steps[[1]], method = "pca", num_terms = 3L, n_clusters = 2L)
  expect_setequal(names(bake(prep(rec), NULL)), selected_features(ufs_pca(mtcars, 2), 3))
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
  expect_refusals("no method" = step(method = NULL), "Is it `method`" = step(metho = "css"),
    step(options = list(n_clusters = hardhat::tune())), step(standardise = TRUE, options = list(scale = FALSE)),
    "Give `standardise` or the method's own `scale`, not both." =
      prep(step(method = "css", num_terms = 2, standardise = TRUE, options = list(scale = FALSE))))
  days <- transform(iris, day = as.Date("2026-01-01") + seq_len(150))
  expect_error(prep(step_select_ufs(recipe(~., days), day)), "day|double|integer")
  out <- prep(step_select_ufs(recipe(~., mtcars), all_numeric_predictors(), num_terms = 3))
  expect_identical(dim(bake(out, mtcars[1, ])), c(1L, 3L))
  expect_identical(dim(bake(out, mtcars[0, ])), c(0L, 3L))
  out <- trained(~., mtcars)
  file <- withr::local_tempfile(fileext = ".rds")
  saveRDS(out, file)
  expect_identical(bake(readRDS(file), mtcars), bake(out, mtcars))
  expect_lt(length(serialize(out$steps[[1]]$scores, NULL)), 5000)
  expect_identical(generics::required_pkgs(step()$steps[[1L]]), "ufselect")
  replaced("has_recipes", function() FALSE)
  expect_refused(step(), paste("step_select_ufs() needs recipes 1.1.0 or newer;", utils::packageVersion("recipes"),
    "is installed."), "ufs_error_package")
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
  expect_setequal(hardhat::extract_parameter_set_dials(flow)$name, c("method", "num_terms"))
  folds <- withr::with_seed(1, of("rsample", "vfold_cv")(iris, v = 2))
  tuned <- withr::with_seed(2, suppressMessages(of("tune", "tune_grid")(flow, folds, grid = 4,
    metrics = of("yardstick", "metric_set")(accuracy))))
  notes <- do.call(rbind, tuned$.notes)
  expect_identical(sum(notes$type == "error"), 0L)
  # Iris falls into two parts, which mcfs says; nothing else is worth a note.
  expect_true(all(grepl("separate parts", notes$note)))
  expect_gte(nrow(of("tune", "collect_metrics")(tuned)), 3L)
  best <- of("tune", "select_best")(tuned, metric = "accuracy")
  step <- of("workflows", "extract_recipe")(generics::fit(of("tune", "finalize_workflow")(flow, best), iris))$steps[[1]]
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
    out <- suppressMessages(bake(trained(~ ., x, num_terms = 5, na = na), new))
    expect_equal(unlist(out[1, ]), sapply(x, if (na == "median") stats::median else mean, na.rm = TRUE))
    expect_equal(out$V1[2], as.matrix(ufs_data(x, na = na))[2, 1], ignore_attr = TRUE)
  }
  y <- tibble::tibble(a = rnorm(40), s = matrix(rnorm(160), 40))
  rec <- trained(~ ., y, num_terms = 2)
  expect_identical(nrow(generics::tidy(rec, number = 1)), 5L)
  expect_identical(sum(vapply(bake(rec, y), function(col) max(1L, ncol(col)), 0L)), 2L)
  y$s[2:3, ] <- NA
  out <- bake(trained(~ ., y, num_terms = 3, method = "variance", na = "median"), y)
  expect_false(anyNA(out$s))
  expect_identical(out$s[2, ], out$s[3, ])
  y$s.1 <- rnorm(40)
  expect_error(trained(~ ., y, na = "median"), "'s.1'")
})

nine <- as.data.frame(`colnames<-`(planted(60, 9, seed = 4)$x, paste0("c", 1:9)))

test_that("constraints and quotas in options: what is kept is what the method chooses for that number of columns", {
  strata <- stats::setNames(rep(c("a", "b", "c"), each = 3), names(nine))
  quotas <- list(a = c(2, 3), b = 1, c = c(0, 1))
  # In any order, and with a column that a step before has removed.
  all <- list(feature_strata = c(rev(strata), gone = "a"), feature_quotas = quotas)
  some <- function(method, ..., options = all) {
    suppressMessages(kept(~., nine, method = method, ..., options = options, seed = 1))
  }
  counts <- function(out) as.vector(table(factor(strata[out], c("a", "b", "c"))))
  for (k in 3:5) {
    fits <- list(pca = ufs_pca(nine, 5, feature_strata = strata, feature_quotas = quotas),
      css = ufs_css(nine, k = k, feature_strata = strata, feature_quotas = quotas))
    for (method in names(fits)) {
      out <- some(method, num_terms = k, options = c(all, if (method == "pca") list(n_components = 5)))
      expect_setequal(out, selected_features(fits[[method]], k))
      expect_identical(counts(out)[2], 1L)
    }
  }
  for (method in c("classify", "compress", "socfs")) expect_identical(counts(some(method, num_terms = 4))[2], 1L)
  # More than the quotas allow keeps all that they allow.
  expect_identical(counts(some("pca", num_terms = 9)), c(3L, 1L, 1L))
  expect_identical(counts(some("pca", cutoff = 0)), c(3L, 1L, 1L))
  # In proportion, without quotas.
  expect_identical(counts(some("pca", num_terms = 3, options = all["feature_strata"])), c(1L, 1L, 1L))
  for (few in list(list(num_terms = 2), list(prop_terms = .1), list(cutoff = 1e6))) {
    expect_error(do.call(some, c("pca", few)), paste0(names(few), ".*fewer than `feature_quotas`"))
  }
  expect_error(some("pca", num_terms = 3, options = list(feature_quotas = 1)), "feature_strata")
  some <- function(..., options = list(include = "c9", exclude = "c1")) {
    suppressMessages(kept(~., nine, method = "pca", ..., options = options, seed = 1))
  }
  expect_false("c1" %in% some(num_terms = 9))
  expect_identical(some(cutoff = 1e6), "c9")
  cost <- stats::setNames(c(1, 9, 1, 1, 1, 1, 9, 1, 1), names(nine))
  expect_setequal(some(num_terms = 3, options = list(n_components = 5, include = "c9", exclude = "c1", cost = cost)),
    selected_features(ufs_pca(nine, 5, include = "c9", exclude = "c1", cost = cost), 3))
  expect_error(some(num_terms = 1, options = list(include = c("c1", "c2"))), "num_terms")
  expect_error(some(num_terms = 3, options = list(include = "zz")), "zz")
  expect_error(some(num_terms = 3, options = list(groups = 1:9)), "groups")
})

test_that("no constraint is dropped: every row of their table is heeded in the options of a step, or refused", {
  d <- as.data.frame(doors_x())
  columns <- function(options, method = "pca") {
    out <- quietly(trained(~., d, method = method, num_terms = 3, options = options, seed = 1))
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
