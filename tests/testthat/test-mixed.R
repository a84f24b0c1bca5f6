# A table with factors: k counts its columns, a factor being one, whatever is done with it.

mixed <- function(n = 60, seed = 1) {
  withr::with_seed(seed, {
    z <- rnorm(n)
    data.frame(a = z + rnorm(n) / 2, b = rnorm(n), nine = factor(sample(letters[1:9], n, TRUE)),
      two = factor(ifelse(z + rnorm(n) > 0, "yes", "no")),
      size = factor(cut(z + rnorm(n), 4, labels = c("q", "r", "s", "t")), ordered = TRUE),
      flag = rnorm(n) > 0, c = z + rnorm(n), three = factor(ifelse(z > .5, "hi", ifelse(z < -.5, "lo", "mid"))))
  })
}

d <- mixed()

test_that("every method chooses as many columns of a table with factors as are asked for", {
  table <- ufs_methods()
  for (method in table$method[table$selects != "samples"]) {
    known <- method_row(method)$arguments
    args <- list(n_clusters = 3, n_components = 2)
    args <- args[names(args) %in% known]
    fits <- lapply(if (on_cran()) 4 else c(1, 4, 8), function(k) {
      if ("k" %in% known) args$k <- k
      fit <- quietly(withr::with_seed(1, do.call(ufs, c(list(d, method, factors = "dummies"), args))))
      chosen <- suppressMessages(selected_features(fit, k))
      expect_length(chosen, k)
      expect_true(all(chosen %in% names(d)) && !anyDuplicated(chosen), label = method)
      expect_identical(suppressMessages(predict(fit, d, k = k)), d[chosen])
      fit
    })
    fit <- fits[[length(fits)]]
    expect_identical(names(feature_scores(fit)), names(d))
    expect_identical(fit$p, 8L)
    expect_match(paste(capture.output(print(fit)), collapse = " "), "(of 8)|(8 features)", label = method)
    expect_identical(nrow(as.data.frame(fit)), 8L)
    if (!on_cran()) expect_equal(quietly(ufs_captured(fit, d, k = 8))$captured, 1, tolerance = 1e-6)
  }
})

test_that("a factor weighs what its levels do: what css rebuilds is that of the table of levels", {
  d <- mixed(200)
  by_hand <- lapply(d, function(v) {
    if (!is.factor(v) || is.ordered(v)) return(scale(as.numeric(v)))
    one <- 1 * outer(as.character(v), levels(v), "==")
    scale(one, TRUE, sqrt(colMeans(one)) * sqrt(200 / 199))
  })
  z <- do.call(cbind, by_hand)
  of <- rep(seq_along(d), vapply(by_hand, ncol, 0L))
  held <- function(set) {
    q <- qr(z[, of %in% set, drop = FALSE], tol = 1e-9)
    sum(crossprod(qr.Q(q)[, seq_len(q$rank), drop = FALSE], z)^2) / sum(z^2)
  }
  fit <- ufs_css(d, 4, mu_rel = 0, factors = "dummies")
  greedy <- integer()
  for (i in 1:4) {
    left <- setdiff(seq_along(d), greedy)
    greedy <- c(greedy, left[which.max(vapply(left, function(j) held(c(greedy, j)), 0))])
  }
  expect_identical(selected_features(fit), names(d)[greedy])
  expect_equal(fit$trace$captured, vapply(1:4, function(k) held(greedy[seq_len(k)]), 0))
  expect_true(all(fit$trace$bound >= fit$trace$captured))
  # One more pick does not change those before, and the numbers of picks are those of columns.
  expect_identical(selected_features(ufs_css(d, factors = "dummies", mu_rel = 0), 3), names(d)[greedy[1:3]])
  # Exchanges find what trying all sets finds.
  best <- max(combn(8L, 4L, held))
  expect_equal(unname(ufs_css(d, 4, swaps = TRUE, factors = "dummies", mu_rel = 0)$certificate["captured"]), best,
    tolerance = .01)
  table <- representatives(fit)
  expect_identical(table$feature, names(d))
  expect_equal(table$explained[greedy], rep(1, 4))
  some <- ufs_pca(d, 2, factors = "dummies", exclude = c("nine", "three"))
  by_level <- function(j) max(abs(cor(z[, of == j], z[, of %in% selected_features(some, 2, as = "index")])))
  expect_equal(abs(representatives(some, d, 2)$r), vapply(seq_along(d), by_level, 0))
  expect_error(ufs_css(d, 4, optimal = TRUE, factors = "dummies"), class = "ufs_error_argument", "factors")
  expect_equal(predict(fit, d[1:9, ], type = "reconstruction")[, "nine=c"],
    as.double(d$nine[1:9] == "c"), ignore_attr = TRUE, tolerance = if ("nine" %in% names(d)[greedy]) 1e-8 else 2)
})

skip_on_cran()

test_that("constraints are about the columns of the table", {
  for (method in c("css", "pca", "jspca")) {
    fit <- function(...) {
      args <- list(d, method, k = 4, factors = "dummies", ...)
      quietly(do.call(ufs, c(args, if (method != "css") list(n_components = 2))))
    }
    expect_identical(selected_features(fit(include = "nine"))[1L], "nine")
    expect_false("nine" %in% selected_features(fit(exclude = "nine")))
    expect_length(suppressMessages(selected_features(fit(max_cor = .9))), 4L)
    expect_true(sum(c("nine", "a") %in% suppressMessages(selected_features(fit(groups = list(c("nine", "a")))))) != 1L)
    strata <- selected_features(fit(feature_strata = rep(1:2, 4), feature_quotas = 2))
    expect_identical(sum(match(strata, names(d)) %% 2L), 2L)
  }
  bought <- ufs_css(d, cost = 1:8, budget = 9, factors = "dummies")
  expect_lte(sum(match(suppressMessages(selected_features(bought)), names(d))), 9)
})

test_that("decoys, sizes, stability, comparisons and tasks count columns of the table", {
  d <- mixed(90)
  x <- ufs_data(d, factors = "dummies")
  set.seed(1)
  decoys <- quietly(ufs_decoys(x, c("pca", "css"), n_components = 2, repeats = 2))
  expect_identical(decoys$usable, 8L)
  expect_true(all(unlist(decoys$columns) %in% names(d)))
  size <- quietly(ufs_size(x, "pca", n_components = 2, repeats = 2, n_resamples = 4))
  expect_identical(max(size$curve$k), 8L)
  expect_equal(size$curve$captured[size$curve$k == 8], 1)
  for (task in c("compress", "classify", "cluster")) {
    fit <- quietly(ufs_select(d, 4, task, factors = "dummies"))
    expect_length(selected_features(fit), 4L)
    expect_match(paste(trimws(capture.output(print(fit))), collapse = " "), "4 of 8 features")
    expect_setequal(selected_features(quietly(eval(parse(text = fit$code)))), selected_features(fit))
    expect_lte(quietly(ufs_size(x, task = task))$k, 8L)
  }
  expect_identical(sum(quietly(ufs_stability(x, "pca", k = 4, n_components = 2, n_resamples = 5))$selected[1L, ]), 4L)
  skip_if_not_installed("e1071")
  found <- quietly(ufs_compare(x, d$c > 0, "css", k = 4, repeats = 2, n_random = 2, baselines = FALSE,
    classifiers = "svm"))
  expect_true(all(is.finite(found$results$accuracy)))
})

test_that("rows with weights and blocks do with factors what they do without, and replicates are refused", {
  d <- mixed(60)
  twice <- d[c(1:60, 1:20), ]
  one <- quietly(ufs_css(d, 4, weights = rep(2:1, c(20, 40)), factors = "dummies"))
  expect_setequal(selected_features(one), selected_features(quietly(ufs_css(twice, 4, factors = "dummies"))))
  expect_length(selected_features(quietly(ufs_css(d, 4, factors = "dummies", blocks = rep(1:3, 20)))), 4L)
  expect_error(ufs_css(d, 4, factors = "dummies", replicates = rep(1:20, 3)), "columns 'nine', 'two', 'three' hold",
    class = "ufs_error_argument")
})

test_that("the step of recipes keeps as many columns as it is told, factors whole", {
  skip_if_not_installed("recipes", "1.1.0")
  for (method in c("css", "pca", "compress")) {
    recipe <- step_select_ufs(recipes::recipe(~ ., data = d), recipes::all_predictors(), method = method,
      num_terms = 4, seed = 1)
    baked <- recipes::bake(quietly(recipes::prep(recipe)), d)
    expect_length(baked, 4L)
    expect_identical(as.data.frame(baked), d[names(baked)])
  }
  gaps <- d
  gaps$nine[3] <- gaps$a[5] <- NA
  recipe <- step_select_ufs(recipes::recipe(~ ., data = gaps), recipes::all_predictors(), method = "css", num_terms = 7,
    na = "median")
  baked <- recipes::bake(quietly(recipes::prep(recipe)), gaps)
  expect_false(anyNA(baked))
  expect_s3_class(baked$nine, "factor")
})

test_that("the filter of mlr3 scores factors as one feature", {
  skip_if_not_installed("mlr3filters")
  filter <- mlr3filters::flt("ufs_css")
  quietly(filter$calculate(mlr3::as_task_unsupervised(d), nfeat = 4))
  fit <- quietly(ufs_css(d, 4, factors = "dummies"))
  expect_setequal(names(sort(filter$scores, decreasing = TRUE))[1:4], selected_features(fit, 4))
  expect_setequal(names(filter$scores), names(d))
})
