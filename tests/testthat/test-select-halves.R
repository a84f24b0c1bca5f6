# How much a choice hangs on the rows.

skip_on_cran()

test_that("the share that comes back is that of an independent half of the rows", {
  # Groups of like columns: from clear to hardly any, so that choices hang on the rows more and more.
  found <- vapply(1:12, function(seed) {
    x <- withr::with_seed(seed, {
      f <- matrix(rnorm(480 * 8), 480)
      f[, rep(1:8, each = 6)] + matrix(rnorm(480 * 48, sd = .3 + seed / 6), 480) * rep(exp(rnorm(48, sd = .4)), each = 480)
    })
    colnames(x) <- paste0("v", 1:48)
    fit <- ufs_select(x[1:120, ], 8, c("classify", "compress")[1 + seed %% 2], kind = "one unit")
    others <- vapply(list(121:240, 241:360, 361:480), function(rows) {
      mean(selected_features(fit) %in% selected_features(do.call(ufs, c(list(x[rows, ]), as.list(fit$call)[-(1:2)], method = "css"))))
    }, 0)
    c(fit$halves$share, mean(others))
  }, c(0, 0))
  error <- found[1, ] - found[2, ]
  expect_lt(mean(abs(error)), .15)
  expect_lt(abs(mean(error)), .1)
  expect_gt(diff(range(found[1, ])), .2)
})

test_that("the line counts what comes back, by chance, and stand-ins, of levels where rows are measurements", {
  set.seed(2)
  f <- matrix(rnorm(60 * 10), 60)
  # Each column has a copy but for rounding: one of the two is chosen, and the other stands in.
  x <- cbind(f, f + matrix(rnorm(600, sd = .01), 60), matrix(rnorm(60 * 5, sd = .05), 60))
  colnames(x) <- paste0("v", 1:25)
  before <- .Random.seed
  fit <- ufs_select(x, 10, "compress", kind = "one unit")
  expect_identical(.Random.seed, before)
  own <- fit$halves
  expect_identical(own$of, 10L)
  expect_equal(own$chance, 100 / 25)
  expect_length(own$again, own$count)
  expect_true(all(own$again %in% selected_features(fit)))
  # Some are replaced, all of these by their copy, so nothing is lost.
  expect_lt(own$count, 10)
  expect_identical(own$stand_in, as.integer(10 - own$count))
  expect_lt(own$apart, 1)
  expect_match(paste(capture.output(print(fit)), collapse = " "), paste0("half the rows choose about ", own$count, " of these 10 +again \\(4 by +chance\\) +and a +column +like +it for +", own$stand_in, " more"))
  expect_match(paste(capture.output(print(summary(fit))), collapse = " "), paste("most often chosen again:", own$again[1]))
  expect_identical(fit$halves, with_seed(7, ufs_select(x, 10, "compress", kind = "one unit"))$halves)
  wished <- ufs_select(x, 10, "compress", kind = "one unit", include = c("v21", "v22"), exclude = "v23")$halves
  expect_identical(wished$of, 8L)
  expect_equal(wished$chance, 64 / 22)
  expect_false(any(c("v21", "v22") %in% wished$again))
  sure <- cbind(f[, 1:3] * 10, matrix(rnorm(60 * 12, sd = .1), 60))
  expect_identical(ufs_select(`colnames<-`(sure, letters[1:15]), 3, "compress", kind = "one unit")$halves$again, c("a", "b", "c")[
    match(selected_features(ufs_css(`colnames<-`(sure, letters[1:15]), k = 3, mu_rel = 0, scale = FALSE)), letters)])
  expect_null(ufs_select(x[1:11, ], 3, "compress", kind = "one unit")$halves)
  set.seed(3)
  level <- rep(1:20, each = 4)
  f <- matrix(rnorm(20 * 6), 20)[level, ]
  x <- `colnames<-`(f[, rep(1:6, 3)] + matrix(rnorm(80 * 18, sd = .3), 80), paste0("v", 1:18))
  fit <- ufs_select(x, 4, "classify", noise = FALSE, blocks = level)
  expect_true(fit$halves$levels)
  expect_match(capture.output(print(fit)), "half the levels choose about", all = FALSE)
  expect_identical(independent_rows(ufs_data(x, replicates = level)), level)
  expect_identical(independent_rows(ufs_data(x, blocks = level)), level)
  # Of few blocks each half has all.
  expect_identical(independent_rows(ufs_data(x, blocks = rep(1:2, 40))), 1:80)
  # Fewer than twelve levels say nothing.
  expect_null(row_halves(fit, ufs_data(x, replicates = rep(1:10, each = 8)), list(k = 4)))
})

test_that("summary(fit, x) says it of any method, and wants the data of the fit", {
  set.seed(1)
  fit <- ufs_select(iris[1:4], 2, "cluster")
  expect_null(fit$halves)
  expect_match(capture.output(print(summary(fit))), "summary(fit, x)", fixed = TRUE, all = FALSE)
  before <- .Random.seed
  said <- summary(fit, iris[1:4])
  expect_identical(.Random.seed, before)
  expect_match(capture.output(print(said)), "of these 2 again", all = FALSE)
  css <- ufs_select(iris[1:4], 2, "classify", samples = 1:100, weights = rep(1:2, 75))
  expect_error(summary(css, iris[1:4]), "does not hold `samples`.*result of ufs_data", class = "ufs_error_argument")
  held <- ufs_data(iris[1:4], samples = 1:100, weights = rep(1:2, 75))
  expect_identical(summary(css, held)$selection$halves, css$halves)
  words <- matrix(rpois(60 * 40, 2 * rexp(40)), 60, byrow = TRUE)
  weighted <- ufs_select(words, 5, "classify", kind = "counts")
  expect_identical(summary(weighted, words)$selection$halves[c("share", "count")], weighted$halves[c("share", "count")])
  many <- drawn_table()
  drawn <- ufs_select(many, 3, "cluster")
  expect_match(drawn$decided, "drawn at random", all = FALSE)
  expect_identical(summary(drawn, many)$selection$halves$of, 3L)
  expect_error(summary(fit, iris[1:3]), "150 samples x 4 features", class = "ufs_error_argument")
  label <- ufs_select(iris[1:4], m = 5, task = "label")
  expect_error(summary(label, iris[1:4]), class = "ufs_error_argument")
  expect_false(any(grepl("half the rows", capture.output(print(summary(label))))))
})

test_that("where the columns that are looked at are all constant nothing is said of halves", {
  few <- cbind(as.matrix(iris[1:60, 1:4]), matrix(0, 60, 30000))
  expect_warning(fit <- ufs_select(unname(few), k = 2), class = "ufs_warning_constant")
  expect_null(fit$halves)
  expect_match(fit$unchecked, "too few to choose from")
})
