# Sketches: leverage by svd(), rare samples, use by methods.

skip_on_cran()

x <- grouped_counts(200, 60)$x

test_that("leverage is that of the singular vectors; any method takes a sketch and says so", {
  for (data in list(x, to_sparse(x), x[1:40, ])) {
    ref <- suppressWarnings(as_ufs_matrix(as.matrix(data)))$x
    part <- withr::with_seed(1, ufs_sketch(data, m = 20, n_vectors = 5))
    expect_equal(unname(part$leverage), rowSums(svd(ref, nu = 5)$u^2), tolerance = 1e-6)
    expect_equal(sum(part$leverage), 5)
    expect_identical(dim(part), c(20L, 60L))
    expect_false(is.unsorted(part$index, strictly = TRUE))
    expect_equal(sum(part$weights), nrow(data))
    expect_equal(as.matrix(part$data), as.matrix(data)[part$index, ])
  }
  expect_identical(withr::with_seed(3, ufs_sketch(x, 9))$index, withr::with_seed(3, ufs_sketch(x, 9))$index)
  expect_equal(sum(ufs_sketch(x[1:12, ], 5, n_vectors = 500)$leverage), qr(suppressWarnings(as_ufs_matrix(x[1:12, ]))$x)$rank)
  part <- withr::with_seed(1, ufs_sketch(to_sparse(x), 50))
  for (method in c("variance", "pca", "rsr")) {
    fit <- fit_of(method, part)
    expect_identical(fit$n, 50L)
    expect_identical(fit$names$samples, rownames(x)[part$index])
    expect_output(print(fit), "sketch       50 of 200 samples, by leverage on 50 singular vectors")
  }
  expect_output(print(part), "50 of 200 samples x 60 features")
  expect_equal(feature_scores(suppressWarnings(ufs_variance(part))), replace(apply(x[part$index, ], 2, var), 60, NA))
  for (bad in list(2, 201, 0, NA, "a")) expect_error(ufs_sketch(x, bad), class = "ufs_error_argument")
  expect_error(ufs_sketch(x, 10, "other"), class = "ufs_error_argument")
})

test_that("a sketch has the names of its rows; PostgreSQL draws rows where it has enough", {
  x <- matrix(1:24 + 0, 6, dimnames = list(letters[1:6], LETTERS[1:4]))
  part <- withr::with_seed(1, suppressWarnings(ufs_sketch(x, 4)))
  expect_identical(dimnames(part), list(letters[part$index], LETTERS[1:4]))
  skip_if_not_installed("DBI")
  skip_if_not_installed("dbplyr")
  asked <- NULL
  table <- data.frame(a = 1:30)
  replaced("remote_name", function(x) "t", package = "dbplyr")
  replaced("dbQuoteIdentifier", function(conn, x, ...) paste0("\"", x, "\""), package = "DBI")
  replaced("dbGetQuery", function(conn, statement, ...) {
    asked <<- statement
    table
  }, package = "DBI")
  connection <- structure(list(), class = "PqConnection")
  rows <- withr::with_seed(1, sampled_rows(NULL, 4, 100, connection))
  # 4 + 6 sqrt(4) + 6 of 100 rows are asked for.
  expect_match(asked, "SELECT * FROM \"t\" TABLESAMPLE BERNOULLI (22) REPEATABLE (", fixed = TRUE)
  expect_identical(dim(rows), c(4L, 1L))
  expect_false(is.unsorted(rows$a, strictly = TRUE))
  table <- table[1:3, , drop = FALSE]
  expect_null(sampled_rows(NULL, 4, 100, connection))
  expect_null(sampled_rows(NULL, 4, 100, structure(list(), class = "SQLiteConnection")))
})
