# What each kind of data is called, and what that decides.

tables <- kind_tables()
kind_seen <- function(x, kind = NULL) {
  x <- open_data(x)
  data_kind(x, function() as_column_stats(open_quietly(x), TRUE), kind)
}

for (name in names(tables)) {
  test_that(paste0("the kind of data: ", name), {
    expect_identical(kind_seen(tables[[name]][[1L]])$values, tables[[name]][[2L]])
  })
}

test_that("the answer does not depend on how the data are held", {
  skip_on_cran()
  for (name in c("words", "logcells", "likert0", "images")) {
    x <- as.matrix(tables[[name]][[1L]])
    for (kind in layouts_of(x)) {
      if (!is.null(kind)) expect_identical(kind_seen(kind)$values, tables[[name]][[2L]])
    }
  }
})

test_that("kind = says what the numbers do not", {
  likert <- tables$likert[[1L]]
  expect_identical(kind_seen(likert, "counts")$values, "counts")
  look <- withr::with_seed(1, ufs_look(USArrests, kind = "one unit"))
  expect_identical(look$values, "one unit")
  expect_output(print(look), "as `kind` says")
  pick <- function(...) withr::with_seed(1, ufs_select(USArrests, 2, "classify", ...))
  expect_true(pick()$params$scale)
  expect_false(pick(kind = "one unit")$params$scale)
  expect_error(ufs_look(iris[1:4], kind = "word"), class = "ufs_error_argument")
})

test_that("a symmetric matrix, numbers of rows and times are told", {
  doubts <- function(x) doubtful_input(open_data(x))
  expect_match(doubts(cor(mtcars)), "correlation matrix")
  expect_match(doubts(as.matrix(dist(mtcars))), "matrix of distances")
  expect_match(doubts(cov(mtcars)), "covariance matrix")
  expect_null(doubts(mtcars[1:11, ]))
  expect_match(doubts(cbind(iris[1:4], id = sample(150))), "column 'id' seems to number the rows")
  expect_match(doubts(longley), "'Year'")
  expect_match(doubts(cbind(iris[1:4], v = 1.6e9 + 60 * 1:150)), "'v'")
  expect_null(doubts(iris[1:4]))
})

test_that("rows of unit length only where directions mean something, and empty rows set aside", {
  skip_on_cran()
  clusters <- withr::with_seed(1, rbind(matrix(rnorm(80, 0, .2), 40), matrix(rnorm(80, 5, .2), 40),
    matrix(rnorm(80, -5, .2), 40)))
  fit <- withr::with_seed(1, ufs_select(clusters, m = 3, task = "label"))
  expect_setequal((selected_samples(fit, as = "index") - 1) %/% 40, 0:2)
  fit <- withr::with_seed(1, ufs_select(iris[, 1, drop = FALSE], m = 3, task = "label"))
  expect_length(selected_samples(fit), 3L)
  words <- tables$words[[1L]]
  words[c(5, 50), ] <- 0
  fit <- withr::with_seed(1, ufs_select(words, m = 4, task = "label"))
  expect_false(any(c(5, 50) %in% selected_samples(fit, as = "index")))
  expect_output(print(fit), "2 empty rows set aside")
})

test_that("rare flags: drawn rows may be constant", {
  skip_on_cran()
  for (n in c(1500, 20000)) {
    x <- matrix(0, n, 6, dimnames = list(NULL, paste0("flag", 1:6)))
    withr::with_seed(1, for (j in 1:6) x[sample(n, 3 + j), j] <- 1)
    for (task in c("compress", "classify")) {
      fit <- suppressWarnings(withr::with_seed(1, ufs_select(x, 1, task)))
      expect_length(selected_features(fit), 1L)
    }
  }
})
