# Constraints, for every method: what must be in is in, what may not be is out, groups are whole, budgets are kept, and they
# stay with their columns and rows.

x <- `colnames<-`(planted(30, 9, seed = 4)$x, paste0("c", seq_len(9)))
constraint_methods <- function(what) {
  table <- ufs_methods()
  table$method[table$selects %in% c(what, "both")]
}
# Methods whose selections are not nested choose the size they were asked for.
fixed_size <- function(method) !is.null(registered[[method]]$per_k)
chosen <- function(fit, k) suppressMessages(selected_features(fit, k, as = "name"))

test_that("blocks are centred, and scaled if asked, before any method sees them", {
  block <- rep(c("a", "b", "c"), each = 10)
  moved <- x + c(a = 5, b = -20, c = 100)[block]
  inner <- x
  for (b in unique(block)) inner[block == b, ] <- scale(x[block == b, ], scale = FALSE)
  for (method in c("pca", "css", "laplacian", "kmeans_f")) {
    one <- constraint_fit(method, moved, blocks = block)
    expect_equal(unname(one$feature_ranking), unname(constraint_fit(method, inner)$feature_ranking), info = method)
  }
  spread <- x * c(a = 1, b = 10, c = 100)[block]
  for (b in unique(block)) inner[block == b, ] <- scale(x[block == b, ])
  one <- constraint_fit("pca", spread, blocks = block, block_scale = TRUE)
  expect_equal(unname(one$feature_ranking), unname(constraint_fit("pca", inner)$feature_ranking))
})

test_that("contradictions, and fewer than must be in, are errors that name the columns; print counts the chosen", {
  expect_refusals("'c1'" = ufs_data(x, include = "c1", exclude = c("c2", "c1")), "'zz'" = ufs_data(x, include = "zz"),
    "9 numbers" = ufs_data(x, cost = 1:3), "c1" = ufs_data(x, cost = c(-1, 1:8)), "`cost`" = ufs_data(x, budget = 3),
    "c8, c9" = ufs_data(x, include = c("c8", "c9"), cost = 1:9, budget = 10),
    "'c2'" = ufs_data(x, groups = list(c("c1", "c2"), c("c2", "c3"))),
    "groups" = ufs_data(x, groups = list(c("c1", "c2")), include = "c1", exclude = "c2"),
    "'c1'" = ufs_data(x, include = "c1", features = c("c2", "c3")), "no column" = ufs_data(x, exclude = 1:9),
    "`strata`" = ufs_data(x, quotas = c(a = 1)))
  half <- rep(c("a", "b"), length.out = nrow(x))
  none <- "`quotas` leaves no sample to choose"
  one <- ufs_data(x, strata = half, quotas = c(a = 1, b = 0), candidates = c(2, 3))
  expect_length(selected_samples(ufs_ted(one, m = 1)), 1L)
  # The last three: a level is full of labelled rows, or has no candidate.
  for (call in alist(ufs_data(x, strata = half, quotas = c(a = 0, b = 0)),
    ufs_select(x, task = "label", m = 3, strata = half, quotas = c(a = 0, b = 0)), ufs_ted(one, m = 1, labelled = 1),
    ufs_data(x, strata = half, quotas = c(a = 1, b = 0), labelled = 1),
    ufs_data(x, strata = half, quotas = c(a = 1, b = 0), candidates = c(2, 4)))) expect_refused(eval(call), none)
  expect_refusals("about samples" = ufs_pca(x, 2, candidates = 1:5), "about features" = ufs_ted(x, include = "c1"),
    "`cost`" = selected_features(ufs_pca(x, 2), budget = 3))
  expect_refusals("'c5'" = ufs_pca(x, 2, k = 1, include = c("c1", "c5")),
    "3 columns" = ufs_variance(x, k = 2, include = "c1", groups = list(c("c1", "c2", "c3"))))
  few <- ufs_pca(x, 2, k = 6, exclude = c("c1", "c2", "c3", "c4", "c5"))
  expect_match(capture.output(print(few)), "\\(4 of 4\\)$", all = FALSE)
  expect_false(any(grepl("live", capture.output(print(few)))))
})

test_that("css itself sees to constraints of columns; one that goes with no other is a group of its own", {
  fit <- ufs_css(x, k = 4, include = c("c9", "c4"), exclude = "c1")
  expect_identical(unique(unname(fit$constraints$features$by)), "solver")
  expect_identical(names(fit$solution$order)[1:2], c("c9", "c4"))
  rest <- qr.resid(qr(scale(x)[, c("c9", "c4")]), scale(x))
  gain <- function(j) sum(crossprod(rest, rest[, j])^2) / (sum(rest[, j]^2) + .1 * 29)
  free <- setdiff(colnames(x), c("c1", "c4", "c9"))
  expect_identical(names(fit$solution$order)[3], free[which.max(vapply(free, gain, 0))])
  alone <- ufs_css(x, k = 4, groups = c(1, NA, 1, NA, NA, NA, NA, NA, NA))
  expect_identical(alone$solution$order, ufs_css(x, k = 4, groups = c(1, 2, 1, 3:8))$solution$order)
  expect_length(selected_features(alone), 4L)
  expect_identical(ufs_css(x, cost = 1:9)$constraints$features$by[["cost"]], "-")
  fit <- ufs_css(x, cost = 1:9, budget = 12)
  expect_identical(fit$constraints$features$by[["cost"]], "solver")
  expect_true(all(names(fit$solution$order) %in% selected_features(fit)))
  expect_lte(sum((1:9)[selected_features(fit, as = "index")]), 12)
})

test_that("a certificate is that of the columns that constraints leave; print of the data says what was asked for", {
  for (held in list(list(include = "c9"), list(exclude = "c2"), list(max_cor = .3), list(cost = 9:1))) {
    fit <- do.call(constraint_fit, c(list("pca", x), held))
    captured <- sum(qr.fitted(qr(scale(x)[, chosen(fit, 2)]), scale(x))^2) / (29 * 9)
    expect_equal(fit$certificate[["captured"]], captured, info = names(held))
    expect_gte(fit$certificate[["bound"]], captured)
  }
  shown <- capture.output(print(ufs_data(x, include = "c1", exclude = c("c2", "c3"), cost = 1:9, budget = 9,
    groups = list(c("c4", "c5")), max_cor = .9, blocks = rep(1:3, 10), weights = rep(2, 30), labelled = 1:3,
    candidates = 4:20, sample_cost = 1:30, sample_budget = 40, strata = rep(1:2, 15), replicates = 1:30)))
  expect_match(shown, "^  columns +1 column in, 2 columns out, costs, budget 9, 1 group, no two correlated above 0.9, but for those of one group$",
    all = FALSE)
  expect_output(print(ufs_data(x, include = 1:2, max_cor = .9)), "2 columns in, no two correlated above 0.9, but for included ones")
  expect_match(shown, "^  rows +17 candidates, 3 rows labelled, one of each replicate, costs, budget 40, 2 strata, ", all = FALSE)
  expect_match(shown, "weights of sum 60, centred within 3 blocks$", all = FALSE)
  expect_false(any(grepl("^  (rows|columns) ", capture.output(print(ufs_data(x))))))
})

test_that("consensus de-correlates within blocks, and a ranking made to differ keeps the constraints of its fit", {
  block <- rep(1:3, each = 10)
  inner <- x
  for (b in 1:3) inner[block == b, ] <- scale(x[block == b, ], scale = FALSE)
  moved <- x + 7 * block %o% c(1, 0, 2, 0, 3, 0, 0, 1, 1)
  one <- constraint_fit("consensus", moved, blocks = block, members = c("pca", "kmeans_f"), k = 3, pool = 9)
  # Decoys are drawn within blocks, so the data without their shifts need the blocks, too.
  two <- constraint_fit("consensus", inner, blocks = block, members = c("pca", "kmeans_f"), k = 3, pool = 9)
  expect_equal(one$certificate, two$certificate)
  fit <- ufs_diversify(ufs_pca(x, 2, exclude = "c3", include = "c8"), x, k = 3)
  expect_identical(names(fit$feature_ranking)[c(1, 9)], c("c8", "c3"))
})

test_that("a factor is one column: in, out, and by its cost; the centre of a fit with blocks is the mean of all rows", {
  table <- data.frame(x, region = factor(rep(c("a", "b", "c"), 10)))
  cost <- c(stats::setNames(1:9, paste0("c", 1:9)), region = 6)
  data <- ufs_data(table, factors = "dummies", include = "region", cost = cost)
  expect_identical(colnames(data)[data$held$include], "region")
  expect_identical(data$held$cost, as.double(c(1:9, 6)))
  expect_identical(selected_features(ufs_css(data, k = 4))[1L], "region")
  expect_length(selected_features(ufs_css(data, k = 4)), 4L)
  expect_false("region" %in% selected_features(ufs_css(table, factors = "dummies", exclude = "region", k = 9)))
  expect_error(ufs_data(table, factors = "dummies", include = "regio"), class = "ufs_error_argument", "'regio'")
  out <- selected_features(suppressMessages(ufs_css(table, factors = "dummies", cost = cost, budget = 9)))
  expect_lte(sum(cost[out]), 9)
  expect_error(ufs_data(table[-10], cost = c(cost, c1 = 3)), class = "ufs_error_argument", "two values for 'c1'")
  x <- as.matrix(mtcars)
  expect_equal(suppressMessages(ufs_css(ufs_data(x, blocks = rep(1:2, c(8, 24))), k = 2))$center, colMeans(x))
})

test_that("scaling within blocks keeps the squares of each column within them", {
  block <- rep(1:2, c(8, 22))
  x[block == 1, ] <- x[block == 1, ] * rep(1:ncol(x), each = 8) + 5
  of <- function(...) unname(feature_scores(ufs_variance(ufs_data(x, blocks = block, ...))))
  within <- colSums(rowsum(x^2, block) - rowsum(x, block)^2 / c(8, 22)) / 28
  expect_equal(of(), unname(within), tolerance = 1e-10)
  expect_equal(of(block_scale = TRUE), of(), tolerance = 1e-10)
})

test_that("constraints may be functions of the names, or a factor", {
  number <- function(names) as.integer(substring(names, 2))
  expect_identical(ufs_data(x, include = function(names) number(names) > 7)$held$include, 8:9)
  expect_error(ufs_data(x, include = sum), "`include`, a function, stopped when given the names", class = "ufs_error_argument")
  expect_identical(ufs_data(x, exclude = factor(c("c3", "c2")))$held$exclude, 3:2)
  expect_identical(ufs_data(x, cost = function(names) 10 * number(names), budget = 50)$held$cost, 10 * (1:9))
  even <- function(names) ifelse(number(names) %% 2 == 0, "even", "odd")
  data <- ufs_data(x, groups = even, feature_strata = even)
  expect_identical(data$held$groups, rep_len(1:2, 9))
  expect_identical(data$held$feature_strata$name, c("odd", "even"))
  expect_identical(data$held$feature_strata$level, rep_len(1:2, 9))
})

test_that("a group is as large as what of it can be chosen", {
  # Two of the three columns of the first group are constant.
  x <- cbind(a = 1, b = 2, as.matrix(iris[c(1:8, 51:58, 101:108), 1:4]))
  groups <- rep(c("first", "second"), each = 3)
  for (k in c(1, 2)) {
    fit <- suppressWarnings(ufs_css(x, k = k, groups = groups, scale = FALSE))
    expect_identical(suppressMessages(selected_features(fit)), "Sepal.Length")
    expect_identical(suppressMessages(selected_features(fit, 1)), "Sepal.Length")
    ranked <- suppressWarnings(ufs_variance(x, k = k, groups = groups))
    expect_identical(suppressMessages(selected_features(ranked, 1)), "Sepal.Length")
  }
  expect_error(suppressWarnings(ufs_css(x, k = 2, groups = groups, exclude = "Sepal.Length")),
    "the smallest group ('Sepal.Width'", fixed = TRUE, class = "ufs_error_argument")
  # With a task: the group that fills all places is worth more than what of the first one varies.
  sparse <- cbind(matrix(0, 7, 2), diag(7)[, c(6, 3, 5, 7)])
  fit <- quietly(ufs_select(sparse, "cluster", k = 3, groups = rep(1:2, each = 3)))
  expect_setequal(suppressMessages(selected_features(fit, as = "index")), 4:6)
})

test_that("no choice is made that quotas and a budget together leave none of, nor of constant columns alone", {
  x <- as.matrix(iris[1:20, 1:4])
  for (optimal in c(FALSE, TRUE)) {
    expect_error(ufs_css(x, optimal = optimal, cost = c(3, 3, 1, 3), budget = 1, feature_strata = c("a", "a", "b", NA),
      feature_quotas = list(a = c(0, 1), b = c(0, 0))), "No choice meets `feature_quotas` with the budget of 1:",
      fixed = TRUE, class = "ufs_error_argument")
  }
  x <- cbind(a = 1, b = 2, c = sin(1:30), d = cos(1:30))
  asks <- list(variance = list(), css = list(), pca = list(1), topk = list(n_clusters = 2), blfse = list(2))
  groups <- list(none = NULL, of_constant = c("g", "g", NA, NA), of_others = c(NA, NA, "g", "g"))
  for (method in names(asks)) for (group in groups) {
    fit <- function(...) {
      suppressWarnings(do.call(ufs, c(list(x, method), asks[[method]], list(k = 1, ...),
        if (length(group)) list(groups = group))))
    }
    expect_refusals("`exclude` leaves no column to choose: all others are constant." = fit(exclude = c("c", "d")),
      "`exclude` leaves no column to choose." = fit(exclude = letters[1:4]))
  }
  expect_identical(selected_features(suppressWarnings(ufs_variance(x, k = 1, exclude = "c"))), "d")
  expect_error(suppressWarnings(ufs_size(x, "variance", exclude = c("c", "d"))), "`exclude` leaves no column",
    fixed = TRUE, class = "ufs_error_argument")
})

test_that("weights of no more than one row in all, odd blocks and quotas that are no numbers are refused by name", {
  for (odd in list(quote(x), "a", list(1), list(), TRUE, function(x) x)) {
    expect_arguments(quotas = do.call(ufs_data, list(iris[1:4], strata = iris$Species, quotas = odd), quote = TRUE))
  }
  x <- as.matrix(iris[1:20, 1:4])
  for (weight in c(.01, .05, 1e308)) {
    expect_arguments(weights = ufs_variance(x, weights = rep(weight, 20)))
    expect_refusals("add up to [^ ]+: .* above one[.]" = ufs_variance(x, weights = rep(weight, 20)))
  }
  expect_error(ufs_pca(x, n_components = 1, weights = rep(.1, 20), blocks = rep(1:2, 10)), "above 2 [(]one for each block[)]",
    class = "ufs_error_argument")
  x <- as.matrix(mtcars)
  expect_refused(ufs_data(x, blocks = c("odd", rep("a", 31))),
    "`blocks`: odd has one row only; centring within blocks would make it zero.")
  expect_refused(ufs_facility(x, m = 4, strata = rep(c("a", "b"), 16), quotas = c(a = 1.5, b = 1)),
    "`quotas` must be whole numbers with the names of the levels of `strata` (a, b).")
  expect_refused(ufs_medoids(x, m = 4, strata = rep(c("a", "b"), 16), quotas = c(a = 1)),
    "`quotas` must be whole numbers with the names of the levels of `strata` (a, b).")
})

test_that("deviations of weighted components are those of the long table; constant columns correlate with none", {
  x <- as.matrix(iris[1:20, 1:4])
  weight <- rep(1:2, 10)
  long <- ufs_pca(x[rep(1:20, weight), ], n_components = 2)$solution$sdev
  expect_equal(ufs_pca(x, n_components = 2, weights = weight)$solution$sdev, long)
  expect_gt(min(long), 0)
  x <- as.matrix(iris[, 1:4])
  fit <- suppressWarnings(ufs_variance(ufs_data(cbind(x, z = 1, y = 2), max_cor = 0.9), k = 2))
  expect_identical(selected_features(fit), selected_features(ufs_variance(ufs_data(x, max_cor = 0.9), k = 2)))
  noise <- withr::with_seed(1, matrix(stats::rnorm(1600), 20))
  # At least 50 columns are walked over; of the others none is left out.
  found <- uncorrelated(1:80, list(max_cor = 0.99), open_data(noise), flops = 1)
  expect_identical(found, list(ord = 1:80, walked = 50L))
})

test_that("a fit whose constant column was to be in can be read; of equal groups those that fill more are chosen", {
  x <- withr::with_seed(1, cbind(a = rnorm(12), b = 3, c = rnorm(12), d = rnorm(12)))
  quotas <- list(s = c(0, 1), t = c(1, Inf))
  for (method in c("css", "pca", "rsr", "laplacian")) {
    fit <- function(...) quietly(constraint_fit(method, x, include = c("a", "b"), ...))
    read <- function(fit) suppressMessages(selected_features(fit, 2))
    with <- fit(feature_strata = c("s", "u", "t", "t"), feature_quotas = quotas)
    expect_setequal(substr(read(with), 1, 1) %in% c("a", "c", "d"), TRUE)
    expect_true("a" %in% read(with) && "a" %in% read(fit(feature_strata = c("s", "s", "t", "t"))))
    expect_length(read(fit(feature_strata = c("s", "s", "t", "t"))), 2L)
    expect_true("a" %in% read(fit(cost = c(1, 1, 2, 2), budget = 4)))
    expect_output(print(with), "1 column in")
  }
  held <- list(open = 17L, groups = rep(1:6, c(3, 2, 4, 1, 5, 2)))
  ranking <- c(7, 8, 9, 6, 14, 12, 13, 11, 15, 10, 2, 1, 3, 4, 5, 17, 16)
  fit <- list(feature_ranking = ranking, feature_scores = replace(numeric(17), 7, 1), constraints = list(features = held))
  expect_setequal(choose_best(fit, "feature", 6L), c(4:9))
  fit$feature_scores[10] <- .1
  expect_setequal(choose_best(fit, "feature", 6L), 6:10)
})

skip_on_cran()

test_that("every method: columns are in or out, groups whole, budgets kept, correlations below their ceiling", {
  for (method in constraint_methods("features")) {
    fit <- constraint_fit(method, x, include = c("c9", "c4"), exclude = "c1")
    expect_setequal(names(fit$feature_ranking)[1:2], c("c4", "c9"))
    expect_true(all(c("c4", "c9") %in% chosen(fit, 4)))
    expect_false("c1" %in% chosen(fit, if (fixed_size(method)) 4 else 8))
    expect_identical(unname(fit$feature_ranking[9]), 1L, info = method)
    expect_identical(unname(feature_scores(fit)["c1"]), NA_real_, info = method)
    expect_identical(fit$p, 9L)
    if (!fixed_size(method)) expect_error(selected_features(fit, 1), class = "ufs_error_argument", "'c4'")
    expect_true(any(grepl("^ *constraints +2 columns in( \\(kept\\))?, 1 column out", capture.output(print(fit)))), info = method)
  }
  x[, "c8"] <- x[, "c2"] + .01 * x[, "c3"]
  groups <- list(c("c1", "c6"), c("c3", "c7", "c9"))
  cost <- c(1, 5, 2, 1, 3, 1, 4, 5, 1)
  for (method in constraint_methods("features")) {
    fit <- constraint_fit(method, x, groups = groups)
    for (k in if (fixed_size(method)) 4 else 2:6) {
      out <- chosen(fit, k)
      for (g in groups) expect_true(sum(g %in% out) %in% c(0, length(g)), info = paste(method, k))
    }
    fit <- constraint_fit(method, x, max_cor = .8)
    r <- abs(cor(x[, chosen(fit, 4)]))
    expect_lte(max(r[upper.tri(r)]), .8 + 1e-9, label = method)
    if (fixed_size(method)) next
    fit <- constraint_fit(method, x, cost = cost, include = "c2")
    for (budget in c(5, 8, 13)) {
      out <- suppressMessages(selected_features(fit, budget = budget, as = "index"))
      expect_lte(sum(cost[out]), budget)
      expect_true(2L %in% out)
    }
  }
})

test_that("every method: without a budget costs are told and change no choice", {
  for (method in constraint_methods("features")) {
    one <- constraint_fit(method, x)
    two <- constraint_fit(method, x, cost = c(9, 1, 9, 1, 9, 1, 9, 1, 9))
    expect_identical(two$feature_scores, one$feature_scores, info = method)
    expect_identical(two$feature_ranking, one$feature_ranking, info = method)
    expect_identical(two$constraints$features$by[["cost"]], "-", info = method)
  }
  for (method in constraint_methods("samples")) {
    one <- constraint_fit(method, x)
    two <- constraint_fit(method, x, sample_cost = rep(1:3, 10))
    expect_identical(two$sample_scores, one$sample_scores, info = method)
    expect_identical(two$sample_ranking, one$sample_ranking, info = method)
  }
  expect_match(capture.output(ufs_css(x, k = 3, cost = rep(2, 9))), "constraints +costs [(]6 spent[)]$", all = FALSE)
  # A sensor is not worth more because it is cheap: what is captured is that of the choice without costs.
  z <- withr::with_seed(1, matrix(rnorm(2500), 500)[, rep(1:5, each = 4)] + .4 * matrix(rnorm(1e4), 500))
  price <- rep(c(1, 5), 10)
  free <- ufs_captured(ufs_css(z, k = 5), z)
  expect_identical(ufs_captured(ufs_css(z, k = 5, cost = price), z)$captured, free$captured)
  expect_identical(ufs_captured(ufs_css(z, k = 5, cost = price, budget = 1e3), z)$captured, free$captured)
  fit <- ufs_pca(x, 2, cost = c(9, 1, 9, 1, 9, 1, 9, 1, 9))
  now <- ufs_pca(x, 2, cost = c(9, 1, 9, 1, 9, 1, 9, 1, 9), budget = 4)
  expect_identical(selected_features(fit, budget = 4), selected_features(now))
  rows <- ufs_facility(x, 5, sample_cost = rep(1:3, 10), strata = rep(1:2, 15))
  first <- selected_samples(rows, 20, budget = 12, as = "index")
  expect_lte(sum(rep(1:3, 10)[first]), 12)
  expect_lte(abs(diff(as.vector(table(first %% 2)))), 1)
})

test_that("a counted table gives the fit of the long table, for all that take weights", {
  counts <- rep(c(1, 2, 3), 10)
  long <- x[rep(seq_len(30), counts), ]
  table <- ufs_methods("constraints")
  takes <- table$method[table$weights == "solver"]
  expect_setequal(takes, c("variance", "pca", "css", "spca", "jspca", "laplacian", "kmeans_f", "socfs", "rsr"))
  # Copies of a row are its neighbours: the long table has a graph of its own, so it is given.
  graph <- as.matrix(ufs_graph(x, n_neighbours = 12))
  for (scale in c(TRUE, FALSE)) {
    one <- ufs_laplacian(x, graph, weights = counts, scale = scale)
    two <- ufs_laplacian(long, graph[rep(seq_len(30), counts), rep(seq_len(30), counts)], scale = scale)
    expect_equal(one$statistic, two$statistic, tolerance = 1e-10)
    expect_gt(max(abs(one$statistic - ufs_laplacian(x, graph)$statistic)), .01)
  }
  expect_equal(ufs_laplacian(x, weights = rep(1, 30))$statistic, ufs_laplacian(x)$statistic, tolerance = 1e-12)
  takes <- setdiff(takes, "laplacian")
  for (method in takes) {
    for (scale in c(TRUE, FALSE)) {
      more <- c(list(scale = scale), if (method == "jspca") list(loss = "feature"))
      one <- do.call(constraint_fit, c(list(method, x, weights = counts), more))
      two <- do.call(constraint_fit, c(list(method, long), more))
      expect_equal(feature_scores(one), feature_scores(two), tolerance = 1e-10, info = method)
      expect_identical(unname(one$feature_ranking), unname(two$feature_ranking), info = method)
      expect_equal(one$certificate, two$certificate, tolerance = 1e-8, info = method)
    }
  }
  refused <- setdiff(table$method, c(takes, "laplacian"))
  expect_identical(table$why == "", !table$method %in% refused)
  expect_identical(anyDuplicated(table$why[table$method %in% refused]), 0L)
  expect_error(ufs_jspca(x, 2, weights = counts), class = "ufs_error_argument", "loss = \"feature\"")
})

test_that("weights in SOCFS and RSR: E, W and residuals are those of the long table", {
  counts <- rep(c(1, 2, 3), 10)
  rows <- rep(seq_len(30), counts)
  both <- function(method, ...) list(constraint_fit(method, x, weights = counts, ...), constraint_fit(method, x[rows, ], ...))
  for (more in list(list(3), list(3, solver = "paper"), list(3, init = rep(1:3, 10)), list(1))) {
    socfs <- function(x, more, ...) withr::with_seed(1, suppressWarnings(do.call(ufs_socfs, c(list(x), more, list(...)))))
    long <- if (is.null(more$init)) more else replace(more, "init", list(more$init[rows]))
    fits <- list(socfs(x, more, weights = counts), socfs(x[rows, ], long))
    expect_equal(unname(fits[[1]]$solution$E[rows, ]), unname(fits[[2]]$solution$E[, ]), tolerance = 1e-8)
    expect_equal(fits[[1]]$certificate[["gap"]], fits[[2]]$certificate[["gap"]], tolerance = 1e-6)
    again <- socfs(x, list(ncol(fits[[1]]$solution$E), init = fits[[1]]$solution$E), weights = counts)
    expect_equal(crossprod(again$solution$E * sqrt(counts)), diag(ncol(again$solution$E)), tolerance = 1e-10)
  }
  for (more in list(list(), list(solver = "irls"), list(lambda_rel = .1), list(scale = FALSE, lambda_rel = .7))) {
    fits <- do.call(both, c(list("rsr"), more))
    expect_equal(fits[[1]]$solution$W, fits[[2]]$solution$W, tolerance = 1e-8)
    expect_equal(unname(fits[[1]]$solution$residual[rows]), unname(fits[[2]]$solution$residual), tolerance = 1e-8)
    same <- c("lambda", "lambda_max", "lambda_identity")
    expect_equal(fits[[1]]$params[same], fits[[2]]$params[same], tolerance = 1e-10)
  }
  # More columns than rows: another way, to the same optimum.
  wide <- planted(20, 30, seed = 3)$x
  rows <- rep(1:20, rep(1:2, 10))
  control <- ufs_control(tol = 1e-6, max_iter = 3000)
  one <- suppressWarnings(ufs_rsr(wide, weights = rep(1:2, 10), control = control))
  two <- suppressWarnings(ufs_rsr(wide[rows, ], control = control))
  expect_equal(tail(one$trace$best, 1), tail(two$trace$best, 1), tolerance = 2e-6)
})

test_that("rows: each constraint in each sampler; TED, facility and medoids choose candidates that stand for all", {
  twin <- rep(1:15, 2)
  for (method in setdiff(constraint_methods("samples"), "random")) {
    pick <- function(m, ...) suppressMessages(selected_samples(constraint_fit(method, x, ...), m, as = "index"))
    expect_true(all(pick(5, candidates = 11:20) %in% 11:20), info = method)
    expect_false(any(pick(5, labelled = 1:8) %in% 1:8), info = method)
    expect_false(anyDuplicated(twin[pick(5, replicates = twin)]) > 0, info = method)
    level <- rep(c("u", "v"), c(20, 10))
    expect_identical(max(abs(table(level[pick(5, strata = level)]) - 5 * c(2, 1) / 3)) < 1, TRUE, info = method)
    if (method == "medoids") next
    fit <- constraint_fit(method, x, sample_cost = rep(1:3, 10))
    expect_lte(sum(rep(1:3, 10)[suppressMessages(selected_samples(fit, budget = 7, as = "index"))]), 7)
  }
  some <- function(method, ...) withr::with_seed(1, suppressMessages(ufs(x, method, m = 5, ...)))
  for (method in c("ted", "facility", "medoids")) {
    fit <- some(method, candidates = 11:20)
    expect_identical(fit$constraints$samples$by[["candidates"]], "solver")
    expect_true(all(selected_samples(fit, as = "index") %in% 11:20), info = method)
    expect_true(all(is.na(sample_scores(fit)[-(11:20)])), info = method)
    expect_refusals("candidates" = some(method, candidates = 11:13),
      "all of them are labelled" = some(method, candidates = 11:13, labelled = 10:14))
  }
  like <- 1 + tcrossprod(unit_rows(scale(x)))
  value <- function(set) sum(apply(like[, set, drop = FALSE], 1, max))
  best <- max(apply(combn(11:20, 2), 2, value))
  fit <- ufs_facility(x, m = 2, candidates = 11:20, swaps = TRUE)
  expect_equal(fit$certificate[["value"]], value(selected_samples(fit, as = "index")), tolerance = 1e-10)
  expect_gte(fit$certificate[["bound"]], best * (1 - 1e-12))
  expect_gte(fit$certificate[["value"]], .95 * best)
  whole <- unname(ufs_facility(x, m = 25)$sample_ranking)
  expect_gt(fit$certificate[["value"]], value(intersect(whole, 11:20)[1:2]) - 1e-12)
})

test_that("rows labelled by ufs_data() are those of the method's own `labelled`", {
  for (method in c("ted", "facility", "medoids", "alfs", "cur", "rrss", "alnr")) {
    one <- constraint_fit(method, ufs_data(x, labelled = c(3, 9, 20)))
    two <- constraint_fit(method, x, labelled = c(3, 9, 20))
    three <- constraint_fit(method, ufs_data(x, labelled = 9), labelled = c(3, 20))
    for (name in c("sample_scores", "sample_ranking", "certificate", "solution")) {
      expect_identical(one[[name]], two[[name]], info = paste(method, name))
      expect_identical(three[[name]], two[[name]], info = paste(method, name))
    }
    expect_identical(one$params$labelled, c(3L, 9L, 20L))
  }
  first <- unname(ufs_facility(x, m = 6)$sample_ranking[1:6])
  expect_identical(unname(ufs_facility(ufs_data(x, labelled = first[1:3]), m = 3)$sample_ranking[1:3]), first[4:6])
  expect_error(ufs_medoids(ufs_data(x, labelled = 1:3), 4, form = "pam"), class = "ufs_error_argument", "kmeans")
})

test_that("what labelled rows rebuild is taken out before others are looked at", {
  known <- c(3, 9, 20, 25)
  z <- scale(x)
  # As the slow reference of TED takes its picks out, with its default penalty.
  mu <- .01 * mean(rowSums(z^2))
  kernel <- tcrossprod(z)
  left <- function(mu) {
    own <- kernel - kernel[, known] %*% solve(kernel[known, known] + mu * diag(4), kernel[known, ])
    rest <- eigen(own, symmetric = TRUE)
    sweep(rest$vectors[, 1:9], 2, sqrt(pmax(rest$values[1:9], 0)), `*`)
  }
  for (method in c("rrss", "alnr", "cur")) {
    rest <- left(if (method == "rrss") 0 else mu)
    if (method == "rrss") rest[known, ] <- 0
    more <- if (method == "cur") list(draw = "top", rank = 3) else list(control = ufs_control(tol = 1e-7, max_iter = 5000))
    fit <- function(x, ...) do.call(ufs, c(list(x, method), more, list(...)))
    beside <- fit(x, labelled = known)
    alone <- suppressWarnings(fit(rest, center = FALSE, scale = FALSE))
    expect_equal(sample_scores(beside)[-known], sample_scores(alone)[-known], tolerance = 1e-3, info = method,
      ignore_attr = TRUE)
    if (method != "cur") expect_equal(beside$certificate[["dual"]], alone$certificate[["dual"]], tolerance = 1e-5)
    expect_identical(beside$constraints$samples$by, NULL)
    expect_identical(fit(ufs_data(x, labelled = known))$constraints$samples$by[["labelled"]], "solver")
    expect_gt(max(abs(sample_scores(beside) - sample_scores(fit(x)))[-known]), .02 * max(sample_scores(fit(x))))
    scores <- sample_scores(fit(rbind(x, x[9, ]), labelled = known))
    expect_lt(scores[[31]], .5 * max(scores, na.rm = TRUE))
  }
  # No penalty on labelled samples: the objective of RRSS with least squares on them, in plain R, at
  # other coefficients of the others, is never below the bound.
  fit <- ufs_rrss(x, labelled = known, control = ufs_control(tol = 1e-6, max_iter = 5000))
  others <- setdiff(1:30, known)
  value <- function(a) sum(sqrt(colSums(qr.resid(qr(t(z[known, ])), t(z - a %*% z[others, ]))^2))) +
    fit$params$gamma * sum(sqrt(colSums(a^2)))
  for (i in 1:5) {
    a <- withr::with_seed(i, matrix(rnorm(30 * 26, sd = .02), 30)) + diag(30)[, others] * (i - 1) / 4
    expect_gte(value(a), fit$certificate[["dual"]])
  }
  expect_message(full <- ufs_rrss(ufs_data(x, labelled = 1:12)), "rebuild all others")
  expect_identical(full$constraints$samples$by[["labelled"]], "ranking")
  expect_identical(unname(ufs_alfs(ufs_data(x, labelled = known), select_samples = "norm")$constraints$samples$by), "ranking")
  expect_identical(unname(ufs_alfs(ufs_data(x, labelled = known))$constraints$samples$by), "solver")
})

test_that("convex TED: labelled rows pay no penalty, so the others rebuild what these leave", {
  known <- c(3, 9, 20, 25)
  z <- scale(x)
  rest <- t(qr.resid(qr(t(z[known, ])), t(z)))
  fit <- function(...) ufs_ted(x, form = "convex", control = ufs_control(tol = 1e-9), ...)
  beside <- fit(labelled = known, mu_rel = .1)
  best <- ref_ted_convex(rest, beside$params$mu, 1500L)
  expect_equal(unname(sample_scores(beside)[-known]), best$row_norm[-known], tolerance = 1e-3)
  expect_equal(beside$certificate[["dual"]], best$objective, tolerance = 1e-6)
  for (i in 1:5) {
    a <- withr::with_seed(i, matrix(rnorm(900, sd = .05), 30))
    a[, known] <- a[, known] + t(qr.coef(qr(t(z[known, ])), t(z)))
    value <- sum((z - a %*% z)^2) + beside$params$mu * sum(sqrt(colSums(a[, -known]^2)))
    expect_gte(value, beside$certificate[["dual"]])
  }
  expect_gt(max(abs(sample_scores(beside) - sample_scores(fit(mu_rel = .1)))[-known]), .02)
  expect_identical(unname(ufs_ted(ufs_data(x, labelled = known), form = "convex")$constraints$samples$by), "solver")
  expect_message(ufs_ted(x, form = "convex", labelled = 1:12), "rebuild all others")
})

test_that("top-k within a budget: the best affordable set, proved, and a bound for all of them", {
  y <- factor(rep(1:3, 10))
  cost <- c(1, 5, 2, 1, 3, 1, 4, 5, 2)
  z <- unit_rows(scale(x))
  b <- crossprod(z, outer(as.integer(y), 1:3, `==`) + 0)
  criterion <- function(s) 30 - sum(b[s, ] * solve(crossprod(z)[s, s] + .01 * diag(length(s)), b[s, ]))
  sets <- combn(9, 4)
  for (budget in c(5, 8, 12)) for (include in list(NULL, 5L)) {
    if (budget == 5 && length(include)) next
    affordable <- apply(sets, 2, function(s) sum(cost[s]) <= budget && all(include %in% s))
    least <- min(apply(sets[, affordable, drop = FALSE], 2, criterion))
    data <- ufs_data(x, cost = cost, budget = budget, include = include)
    for (proved in c(FALSE, TRUE)) for (solver in c("paper", "exact")) {
      fit <- ufs_topk(data, 4, y = y, solver = solver, control = ufs_control(paper = list(branch_and_bound = proved)))
      set <- fit$solution$selected
      expect_lte(sum(cost[set]), budget)
      expect_true(all(include %in% set))
      expect_setequal(selected_features(fit, as = "index"), set)
      expect_equal(fit$certificate[["selection_objective"]], criterion(set), tolerance = 1e-8)
      expect_lte(fit$certificate[["bound"]], least + 1e-8)
      if (proved) expect_equal(criterion(set), least, tolerance = 1e-8)
    }
    expect_identical(fit$constraints$features$by[["cost"]], "solver")
  }
  free <- ufs_topk(x, 4, y = y)$certificate[["bound"]]
  expect_gt(ufs_topk(ufs_data(x, cost = cost, budget = 5), 4, y = y)$certificate[["bound"]], free + .01)
  expect_identical(ufs_topk(x, 4, y = y, cost = cost)$constraints$features$by[["cost"]], "-")
  expect_error(ufs_topk(ufs_data(x, cost = cost, budget = 4), 4, y = y), class = "ufs_error_argument", "'c3'")
})

test_that("TED and facility choose within a budget whose unit does not matter, and replicates leave no value", {
  cost <- rep(c(3, 1, 2), 10)
  for (budget in c(3, 5)) for (method in c("facility", "ted")) {
    run <- function(unit) ufs(ufs_data(x, sample_cost = unit * cost, sample_budget = unit * budget), method)
    fit <- run(1)
    expect_identical(fit$constraints$samples$by[["cost"]], "solver")
    expect_lte(max(sum(cost[fit$solution$order]), sum(cost[selected_samples(fit, as = "index")])), budget)
    expect_true(all(fit$solution$order %in% selected_samples(fit, as = "index")))
    held <- c("certificate", "sample_ranking", "solution")
    for (unit in c(1 / 16, 8)) expect_identical(unclass(run(unit))[held], unclass(fit)[held])
  }
  expect_identical(ufs_ted(x, form = "convex", sample_cost = cost, sample_budget = 5)$constraints$samples$by[["cost"]],
    "ranking")
  expect_refusals("cheapest" = ufs_facility(x, sample_cost = cost, sample_budget = .5))
  # The ranking passes over picks that are replicates of earlier ones: the value is not that of the choice.
  fit <- ufs_facility(x, m = 5, replicates = rep(1:15, 2))
  expect_identical(is.na(fit$certificate), c(value = TRUE, bound = FALSE, ratio = TRUE))
  expect_false(any(grepl("certificate", capture.output(print(fit)))))
})

test_that("a budget and a number hold together, wherever the choice is read", {
  cost <- stats::setNames(c(1, 5, 2, 1, 3, 1, 4, 5, 1), colnames(x))
  for (method in c("pca", "css", "variance", "facility", "ted")) {
    if (method %in% c("facility", "ted")) {
      data <- ufs_data(x, sample_cost = rep(1:3, 10), sample_budget = 9)
      fit <- constraint_fit(method, data)
      out <- suppressMessages(selected_samples(ufs(data, method, m = 4), as = "index"))
      expect_lte(sum(rep(1:3, 10)[out]), 9)
      expect_lte(length(out), 4)
      next
    }
    few <- constraint_fit(method, ufs_data(x, cost = cost, budget = 12), k = 3)
    expect_length(suppressMessages(selected_features(few)), 3)
    expect_identical(ncol(suppressMessages(predict(few, x))), 3L)
    expect_match(capture.output(print(few)), "\\(3 of 9\\)$", all = FALSE)
    tight <- constraint_fit(method, ufs_data(x, cost = cost, budget = 4), k = 5)
    out <- suppressMessages(selected_features(tight))
    expect_lte(sum(cost[out]), 4)
    expect_identical(suppressMessages(selected_features(tight, 5)), out)
    expect_gt(length(suppressMessages(selected_features(tight, budget = 20))), length(out))
  }
  expect_message(selected_features(ufs_pca(ufs_data(x, cost = cost, budget = 3), 2, k = 5)), "\\(budget\\)")
  bought <- suppressMessages(ufs_select(x, task = "compress", cost = cost, budget = 6, include = "c5"))
  expect_lte(sum(cost[selected_features(bought)]), 6)
  expect_true("c5" %in% selected_features(bought))
  expect_identical(bought$size, length(selected_features(bought)))
  expect_match(capture.output(print(bought))[1], sprintf("^<ufs_select> %d of 9 features", bought$size))
  rows <- suppressMessages(ufs_select(x, task = "label", sample_cost = rep(1:3, 10), sample_budget = 7))
  expect_lte(sum(rep(1:3, 10)[selected_samples(rows, as = "index")]), 7)
  expect_error(ufs_select(ufs_data(x, exclude = "c1"), task = "compress"), class = "ufs_error_argument", "`k`")
})

test_that("constraints that nothing meets, or that name what is not there, are errors", {
  cost <- stats::setNames(1:9, colnames(x))
  expect_refusals("'c1') costs 1" = ufs_data(x, cost = cost, budget = .5),
    "no column" = selected_features(ufs_pca(x, 2, cost = cost), budget = .5))
  groups <- list(c("c1", "c2"), c("c3", "c4", "c5"), c("c6", "c7", "c8", "c9"))
  expect_error(ufs_data(x, cost = cost, budget = 2.5, groups = groups), class = "ufs_error_argument", "group of columns")
  for (method in c("pca", "css")) {
    expect_error(constraint_fit(method, x, groups = groups, k = 1), class = "ufs_error_argument", "smallest group")
  }
  expect_error(selected_features(ufs_variance(x, groups = groups), 1), class = "ufs_error_argument", "'c2'")
  # Names decide which cost is whose, so they must fit.
  expect_identical(ufs_data(x, cost = rev(cost))$held$cost, as.double(1:9))
  expect_error(ufs_data(x, cost = c(cost[-3], other = 1)), class = "ufs_error_argument", "'c3'")
  rownames(x) <- paste0("r", 1:30)
  expect_error(ufs_data(x, weights = stats::setNames(1:30, paste0("R", 1:30))), class = "ufs_error_argument", "'r1'")
  expect_error(ufs_facility(x, m = 3, candidates = c("r1", "zz")), class = "ufs_error_argument", "row 'zz'")
  # No group is as small as the number of components: nothing is said of what these hold.
  expect_identical(names(ufs_pca(x, 1, groups = groups)$certificate), NULL)
  x[, "c4"] <- 1
  expect_message(suppressWarnings(ufs_pca(x, 2, include = c("c4", "c5"))), "'c4'")
})

test_that("which chosen column stands for each other one, after any method that chooses columns", {
  withr::local_seed(1)
  fit <- ufs_kmeans_f(x, 3, k = 3, include = "c9")
  table <- representatives(fit, x)
  r <- cor(x)
  expect_setequal(table$representative, selected_features(fit))
  expect_equal(abs(table$r), unname(apply(abs(r[, selected_features(fit)]), 1, max)), tolerance = 1e-10)
  expect_refusals("`x`" = representatives(fit), "data of the fit" = representatives(fit, x[, 1:3]),
    "chooses columns" = representatives(ufs_ted(x), x))
})

test_that("where all columns are placed those that must be in are chosen", {
  for (fit in list(ufs_spca(mtcars, 2, include = 1:3, exclude = 4:11), ufs_socfs(mtcars, 3, k = 3, include = 1:3, exclude = 4:11))) {
    expect_setequal(selected_features(fit, 3), names(mtcars)[1:3])
  }
})
