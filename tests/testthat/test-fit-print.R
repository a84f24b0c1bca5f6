test_that("errors read well", {
  input <- function(call, ...) expect_words(call, "ufs_error_input", ...)
  argument <- function(call, ...) expect_words(call, "ufs_error_argument", ...)
  input(ufs_variance(iris), "`x` has columns that are not numeric: column 'Species'. Drop them (x[setdiff(names(x), \"Species\")] keeps the others), ",
    "give factors = \"dummies\" (or \"codes\") for factors, or code them yourself, e.g. with model.matrix().")
  input(ufs_variance(data.frame(a = 1:3, b = letters[1:3])), "`x` has columns that are not numeric: column 'b'. Drop them ",
    "(x[setdiff(names(x), \"b\")] keeps the others), make them factors by factor() and give factors = \"dummies\", or code them yourself, e.g. with model.matrix().")
  argument(ufs_variance(iris[1:4], cost = 1:3), "`cost` must be 4 numbers, one for each column; it is 3 numbers.")
  argument(ufs_medoids(iris[1:4], 3, budget = 2), "`budget` needs `cost`, what each column costs; for rows: `sample_budget`.")
  argument(ufs_css(iris[1:4], block_scale = TRUE), "`block_scale` needs `blocks`, a factor over the rows.")
  input(ufs_variance(matrix(c(1, NA, 3), 3)), "`x` has missing or infinite values (NA, NaN, Inf) ",
    "in column 'V1'. Impute or remove them first, or say how, as na = \"median\"; see ufs_data().")
  input(ufs_variance(matrix(0, 3, 0)), "`x` has no columns.")
  argument(ufs_kmeans_f(iris[, 1:4], 2.5), "`n_clusters` must be a whole number of at least 2 and ",
    "at most 149 (one fewer than the samples); it is 2.5.")
  argument(ufs_pca(iris[, 1:4], 9), "`n_components` must be a whole number of at least 1 and at ",
    "most 4 (the largest possible rank of `x`); it is 9.")
  expect_words(ufs_control(maxit = 3), "ufs_error_control", "Unknown control setting: `maxit`. ",
    "Known: max_iter, tol, inner_max_iter, inner_tol, eps, verbose, progress, warn, paper.")
  argument(selected_features(ufs_variance(iris[, 1:4]), 5), "`k` must be a whole number of at ",
    "least 1 and at most 4 (there are that many features); it is 5.")
})

test_that("predict keeps columns by name and repairs names as the fit did; as.data.frame has a row per feature", {
  fit <- ufs_variance(iris[, 1:4])
  expect_identical(predict(fit, iris[1:3, ], k = 2), iris[1:3, selected_features(fit, 2)])
  expect_identical(predict(fit, as.matrix(iris[1:3, 4:1]), k = 2), as.matrix(iris[1:3, selected_features(fit, 2)]))
  expect_error(predict(fit, iris[, 1:2], k = 3), "'Petal.Length'", class = "ufs_error_input")
  expect_refusals(predict(fit, iris), predict(fit, 1:3, k = 1))
  expect_error(predict(ufs_variance(unname(as.matrix(iris[, 1:4]))), matrix(0, 2, 3), k = 1), class = "ufs_error_input")
  x <- as.matrix(iris[1:20, 1:4])
  colnames(x) <- c("a", "a", "", "b")
  fit <- suppressWarnings(ufs_variance(x, scale = FALSE))
  chosen <- selected_features(fit, 3, as = "index")
  expect_true(any(c(2, 3) %in% chosen))
  expect_identical(predict(fit, x, k = 3), x[, chosen])
  table <- as.data.frame(ufs_variance(iris[, 1:4]))
  expect_named(table, c("feature", "index", "score", "rank", "chosen"))
  expect_identical(table$chosen, rep(NA, 4L))
  expect_identical(as.data.frame(ufs_variance(iris[, 1:4], k = 2))$chosen, c(TRUE, TRUE, FALSE, FALSE))
  expect_identical(nrow(as.data.frame(ufs_random(iris[, 1:4], "both"), what = "samples")), 150L)
})

test_that("odd but valid calls have classed answers", {
  skip_on_cran()
  expect_identical(unname(ufs_cluster_metrics(1, 1)), c(1, 1, 1))
  expect_refusals(ufs_cluster_metrics(c(1, NA), c(1, 1)), ufs_cluster_metrics(list(1, 2), c(1, 1)))
  f <- list(f = function(x, y, newx) rep(levels(y)[1], nrow(newx)))
  expect_arguments(m = ufs_compare(iris[, 1:4], iris$Species, "pca", k = 2, m = numeric(), classifiers = f),
    k = ufs_compare(iris[, 1:4], iris$Species, "pca", k = NULL, classifiers = f),
    criterion = ufs_tune(mtcars, "pca", list(n_components = 1:2), k = 2, criterion = character()),
    n_resamples = ufs_stability(mtcars, "variance", k = 2, n_resamples = 1e9))
  grid <- ufs_grid(mtcars, "variance", list(scale = FALSE))
  withr::local_pdf(NULL)
  expect_identical(plot(grid), grid)
})

test_that("print() does not round a dual above its objective; augment() mends names, and prints check their numbers", {
  expect_identical(format_certificate(c(gap = 4.9374e-5, dual = 3175.936, kkt = .0450912, captured = .90312, one = 1)),
    "gap = 4.94e-05, dual = 3175.94, kkt = 0.0451, captured = 0.903, one = 1")
  fit <- ufs_ted(iris[, 1:4])
  expect_refusals(print(fit, n = NA), print(summary(fit), digits = "a"))
  skip_if_not_installed("generics")
  data <- `names<-`(iris[, 1:4], c("a", "a", "", NA))
  expect_warning(out <- generics::augment(fit, data), class = "ufs_warning_names")
  expect_identical(names(out)[1:4], c("a", "a.1", "V3", "V4"))
  skip_if_not_installed("Matrix")
  out <- generics::augment(fit, Matrix::Matrix(as.matrix(iris[, 1:4]), sparse = TRUE))
  expect_identical(out$.rownames, as.character(1:150))
  expect_identical(out$.score, unname(fit$sample_scores))
})

test_that("settings print as what differs from the defaults, advice is a sentence, and no more than is left is said", {
  said <- function(...) capture.output(print(ufs_control(...)))
  expect_identical(said(), "<ufs_control> all defaults of the method")
  expect_identical(said(max_iter = 50, eps = c(1e-3, 1e-4), progress = function(...) NULL),
    "<ufs_control> max_iter = 50, eps = 1e-03 and 1e-04, progress = a function; otherwise defaults of the method")
  expect_identical(said(tol = -1, warn = FALSE), "<ufs_control> tol = -1, warn = FALSE; otherwise defaults of the method")
  expect_error(print(ufs_control(), digits = 2), class = "ufs_error_argument")
  advice <- c("own method: try it" = "Own method: try it.", situational = "Situational: see vignette(\"which-method\").",
    "situational: good among noise columns" = "Situational: good among noise columns; see vignette(\"which-method\").",
    "recommended for compressing" = "Recommended for compressing.",
    "historical (for comparison)" = "Included for comparison only.",
    "baseline (for comparison)" = "Baseline, included for comparison only.")
  expect_identical(vapply(names(advice), advice_sentence, ""), advice)
  fit <- ufs_facility(mtcars, m = 4, strata = mtcars$cyl, quotas = c("4" = 1, "6" = 0, "8" = 1))
  chosen <- suppressMessages(selected_samples(fit))
  expect_length(chosen, 2L)
  expect_match(capture.output(print(fit)), paste0("samples +", paste(chosen, collapse = ", "), " \\(2 of 2\\)$"),
    all = FALSE)
})

# The names of the fields of a print, in order.
fields_of <- function(fit) trimws(substr(grep("^  [a-z]", capture.output(print(fit)), value = TRUE), 3L, 15L))

test_that("27 usual choices say all in at most 12 lines, by fields in one order", {
  skip_on_cran()
  withr::local_options(width = 80, ufselect.width = 80)
  sets <- list(iris[, 1:4], mtcars, airquality[, 1:4], swiss, attitude, USArrests, quakes, stackloss, longley)
  order <- c("chosen", "data", "noise", "left out", "factors", "method", "worth", "stability", "checks", "more")
  for (x in sets) {
    for (task in c("compress", "cluster", "label")) {
      fit <- withr::with_seed(1, quietly(ufs_select(x, k = if (task == "label") 6 else 3, task = task, na = "omit")))
      expect_lte(length(capture.output(print(fit))), 12L)
      fields <- fields_of(fit)
      expect_identical(fields, intersect(order, fields))
      expect_true(all(c("chosen", "data", "method", "checks", "more") %in% fields))
      expect_gt(length(capture.output(print(summary(fit)))), length(capture.output(print(fit))))
    }
  }
})

test_that("plain fits and splits print parts in one order, what was asked for beside what was done about it", {
  fields <- fields_of(ufs_css(replace(as.matrix(mtcars), cbind(1:5, 2), NA), 4, na = "omit", include = "mpg"))
  expect_identical(fields[c(1:4)], c("features", "data", "left out", "constraints"))
  expect_identical(utils::tail(fields, 1L), "code")
  split <- withr::with_seed(1, ufs_split(mtcars, 8, 4, strata = mtcars$am))
  expect_identical(fields_of(split), c("strata", "method", "train", "test", "code"))
  x <- withr::with_seed(4, matrix(rnorm(40 * 12), 40, dimnames = list(paste0("r", 1:40), paste0("c", 1:12))))
  cost <- 1:12
  fit <- ufs_css(x, 5, include = c("c1", "c2"), exclude = "c3", cost = cost, budget = 30, groups = list(c("c4", "c5")))
  best <- selected_features(fit, as = "index")
  said <- gsub(" +", " ", paste(capture.output(print(fit)), collapse = " "))
  expect_match(said, paste0("2 columns in, 1 column out, costs, budget 30 (", sum(cost[best]),
    " spent), 1 group (", as.integer(all(4:5 %in% best)), " chosen whole)"), fixed = TRUE)
  expect_true(all(1:2 %in% best))
  rows <- ufs_medoids(x, m = 4, candidates = 1:20, labelled = 3, sample_cost = 40:1, sample_budget = 130,
    strata = rep(c("a", "b"), 20), quotas = c(a = 2, b = 2))
  best <- selected_samples(rows, as = "index")
  said <- gsub(" +", " ", paste(capture.output(print(rows)), collapse = " "))
  expect_match(said, paste(sum((40:1)[best]), "spent"), fixed = TRUE)
  expect_match(said, paste0("2 strata (a: ", sum(best %% 2 == 1), ", b: ", sum(best %% 2 == 0), ")"), fixed = TRUE)
  expect_match(said, "20 candidates,", fixed = TRUE)
  # A fit that was not asked for a number has done nothing yet.
  expect_match(capture.output(print(ufs_pca(x, 2, include = "c1"))), "constraints +1 column in$", all = FALSE)
  # The print says what is not kept.
  words <- function(held, chosen) constraint_words(held, "columns", chosen = chosen)
  expect_identical(words(list(include = 1:3, exclude = 5), c(1, 3, 5)), c("3 columns in (2 of 3 kept)", "1 column out (1 chosen)"))
  expect_identical(words(list(groups = c(1, 1, 2, 2)), c(1, 3, 4)), "2 groups (1 of 2 chosen whole)")
  x <- airquality[c(1:8), 1:4]
  wanted <- sprintf("na = \"omit\" left out %d of 8 rows", sum(!stats::complete.cases(x)))
  asked <- alist(ufs_medoids(x, m = 7, na = "omit"), ufs_select(x, m = 7, task = "label", na = "omit"),
    ufs_split(x, m = 6, na = "omit"), ufs_split(x, m = 3, test = 3, na = "omit"))
  for (call in asked) expect_refused(eval(call), wanted)
  two <- data.frame(a = c(1, NA, 3), b = c(NA, 2, 3))
  for (f in list(ufs_css, ufs_select)) {
    expect_error(f(two, k = 1, na = "omit"), "at least 3 are needed.*left out 2 of 3 rows", class = "ufs_error_input")
  }
  expect_error(ufs_css(mtcars[1:2, ], 1), "needed[.]$")
  expect_error(ufs_css(x, 2, na = "omit", mu_rel = -1), "finite number[^(]*$")
  x <- as.matrix(mtcars)
  few <- replace(x, cbind(1:10, 1), NA)
  expect_match(capture.output(print(ufs_css(few, 3, na = "median", include = "mpg"))), "filled in of column 'mpg'", all = FALSE)
  expect_false(any(grepl("checks", capture.output(print(ufs_css(replace(x, cbind(1:3, 1:3), NA), 3, na = "omit"))))))
  expect_match(capture.output(print(ufs_css(replace(x, cbind(1:6, 1:6), NA), 3, na = "omit"))), "left out 6 of 32 rows",
    all = FALSE)
  fit <- suppressWarnings(ufs_socfs(x, 3, control = ufs_control(max_iter = 1)))
  expect_match(capture.output(print(fit)), "the run ended as \"max_iter\"", all = FALSE)
  expect_identical(code_line("ufs_pca(x)", "cat(fit$code)"), "ufs_pca(x)")
  expect_identical(code_line(strrep("a", 301), "cat(fit$code)"), paste0(strrep("a", 250), " ... (the whole: cat(fit$code))"))
  expect_identical(graph_text(list(kind = "user", n_neighbours = NA)), "weights given by the user")
})

test_that("without package tibble tidy() gives a data frame; nobs() and tibbles know a fit", {
  own <- as_tibble_if
  environment(own) <- list2env(list(requireNamespace = function(...) FALSE), parent = environment(own))
  expect_identical(own(data.frame(a = 1:2, row.names = c("x", "y"))), data.frame(a = 1:2))
  fit <- ufs_css(mtcars, k = 2)
  expect_identical(stats::nobs(fit), 32L)
  skip_if_not_installed("tibble")
  expect_identical(as.data.frame(tibble::as_tibble(fit)), as.data.frame(fit))
})

skip_if_not_installed("generics")

test_that("tidy(), glance() and augment() know fits, grids, comparisons and stability", {
  skip_on_cran()
  x <- mtcars
  fit <- ufs_ted(x)
  expect_error(generics::augment(fit, x[1:3, ]), class = "ufs_error_argument")
  set.seed(1)
  clusters <- ufs_kmeans_f(x, 3)
  expect_identical(as.integer(generics::augment(clusters, x)$.cluster),
    as.integer(factor(unname(clusters$solution$cluster))))
  grid <- ufs_grid(x, "pca", list(n_components = 1:3))
  expect_identical(generics::tidy(grid)$n_components, 1:3)
  expect_identical(generics::glance(grid)$settings, 3L)
  expect_identical(generics::glance(grid)$seconds, sum(grid$results$seconds))
  stable <- ufs_stability(x, "variance", k = 3, n_resamples = 4)
  expect_identical(generics::tidy(stable)$frequency, sort(unname(stable$frequency), decreasing = TRUE))
  expect_identical(generics::glance(stable)$stability, stable$stability)
  compared <- ufs_compare(iris[, 1:4], iris$Species, "variance", k = 2, repeats = 2, baselines = FALSE,
    classifiers = list(f = function(x, y, newx) rep(levels(y)[1], nrow(newx))))
  expect_equal(generics::tidy(compared)$mean, summary(compared)$table$mean)
  expect_identical(c(generics::glance(compared)$repeats, generics::glance(compared)$classes), c(2L, 3L))
  skip_if_not_installed("tibble")
  for (table in list(generics::tidy(fit), generics::glance(fit), generics::tidy(grid), tibble::as_tibble(fit),
    tibble::as_tibble(grid), tibble::as_tibble(stable), tibble::as_tibble(compared))) expect_s3_class(table, "tbl_df")
})

test_that("augment() matches rows by name, and replaces no column", {
  fit <- ufs_ted(mtcars)
  turned <- generics::augment(fit, mtcars[32:1, ])
  expect_identical(turned$.score, unname(rev(sample_scores(fit))))
  expect_identical(turned$.rank, rev(match(seq_len(32), sample_ranking(fit))))
  bad <- function(...) {
    expect_identical(expect_error(generics::augment(fit, ...), class = "ufs_error_argument")$argument,
      if ("newdata" %in% names(list(...))) "newdata" else "data")
  }
  other <- mtcars
  rownames(other)[3] <- "Trabant"
  bad(other)
  bad(mtcars[c(1:31, 31), ])
  bad(cbind(mtcars, .score = 1))
  bad(newdata = `rownames<-`(as.matrix(mtcars), NULL))
  some <- generics::augment(fit, newdata = rbind(mtcars[5:3, ], Trabant = mtcars[1, ]))
  expect_identical(some$.score, c(unname(sample_scores(fit))[5:3], NA))
  # Without names on one side only the place is left.
  expect_identical(generics::augment(fit, `rownames<-`(as.matrix(mtcars), NULL))$.score, unname(sample_scores(fit)))
  expect_identical(generics::augment(fit, ufs_data(mtcars))$.rownames, rownames(mtcars))
  expect_identical(generics::augment(fit, ufs_data(mtcars))$.score, unname(sample_scores(fit)))
  skip_if_not_installed("Matrix")
  sparse <- Matrix::Matrix(as.matrix(mtcars)[32:1, ], sparse = TRUE)
  expect_identical(generics::augment(fit, sparse)$.score, unname(rev(sample_scores(fit))))
})

test_that("tidy() without tibble; nobs() and tibbles; data of another number of rows are refused without names", {
  set.seed(1)
  fits <- c(a = ufs_socfs(mtcars, 3), b = ufs_variance(mtcars))
  columns <- c("feature", "index", "score", "rank", "chosen", "key")
  for (fit in fits) expect_named(generics::tidy(fit), columns)
  expect_named(generics::tidy(ufs_ted(mtcars)), c("sample", columns[-1]))
  table <- generics::tidy(fits)
  expect_named(table, c("fit", "what", "name", columns[-1]))
  expect_identical(table$name[table$fit == "b"], names(feature_ranking(fits$b)))
  row <- generics::glance(fits)
  expect_identical(row$fit, c("a", "b"))
  expect_identical(row$method, c("socfs", "variance"))
  overlap <- ufs_overlap(c(fits, list(third = ufs_pca(mtcars, 2))), k = 4)
  pairs <- generics::tidy(overlap)
  expect_identical(pairs$fit1, c("a", "a", "b"))
  expect_identical(pairs$fit2, c("b", "third", "third"))
  expect_identical(pairs$shared, overlap$shared[cbind(c(1, 1, 2), c(2, 3, 3))])
  expect_identical(generics::glance(overlap)$mean_shared, mean(pairs$shared))
  fit <- ufs_ted(unname(as.matrix(iris[, 1:4])), m = 2)
  expect_refused(generics::augment(fit, data = unname(as.matrix(iris[1:10, 1:4]))),
    "`data` must be the data of the fit, 150 rows; it has 10.")
})
