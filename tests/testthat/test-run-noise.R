skip_on_cran()

test_that("columns beside decoys rank by shared products as by fits, and so does the graph, in any container", {
  set.seed(5)
  x <- cbind(matrix(rnorm(40 * 8), 40) + 3 * rep(0:1, 20), matrix(rnorm(40 * 50), 40), 7)
  x[x < -1] <- 0
  x[, 12] <- x[, 3]
  plan <- list(list(method = "pca", args = list(n_components = 2L)),
    list(method = "laplacian", args = list(center = TRUE, scale = TRUE)))
  held <- list(identity, as.data.frame,
    if (requireNamespace("Matrix", quietly = TRUE)) function(x) Matrix::Matrix(x, sparse = TRUE))
  # Fewer rows than columns and decoys, and more; with products of rows, and without.
  for (columns in list(1:59, c(1:12, 20, 59))) for (most in c(64 * 1024^2, 8 * 1000)) {
    withr::local_options(ufselect.block_bytes = most)
    for (hold in Filter(Negate(is.null), held)) {
      opened <- open_quietly(hold(x[, columns]))
      data <- as_ufs_operator(opened)
      first <- equal_of_data(opened, data)
      common <- list(x = opened, keep = data$keep, first = first, plan = plan,
        n_decoys = decoys_number(NULL, opened, sum(first == seq_along(first)), FALSE))
      ranked <- decoys_ranked(opened, data, first, plan)
      # Columns that are equal are tied up to rounding.
      alike <- c(first, length(first) + first)
      for (seed in 1:3) for (at in 1:2) {
        expected <- decoys_fit(list(seed = seed, at = at), common)$ranking
        expect_identical(alike[ranked(seed)[[at]]$ranking], alike[expected])
      }
    }
  }
  tables <- ufs_data(list(a = x[, 1:20], b = x[, 21:58]))
  data <- as_ufs_operator(open_quietly(tables))
  first <- equal_of_data(tables, data)
  ranking <- sort(decoys_ranked(open_quietly(tables), data, first, plan[1])(1)[[1]]$ranking)
  expect_identical(ranking[seq_along(first)], seq_along(first))
  expect_length(intersect(ranking[-seq_along(first)] - length(first), first), length(ranking) - length(first))
  expect_length(ranking, length(first) + 50L)
  x <- withr::with_seed(8, matrix(stats::rnorm(240), 40))
  x[21:24, ] <- x[1:4, ]
  expect_equal(graph_of_products(tcrossprod(sweep(x, 2, colMeans(x))))[c("weights", "degree")],
    ufs_graph(x)[c("weights", "degree")])
  expect_error(.Call(C_graph_products, x, 5L), "not square")
  expect_error(graph_of_products(matrix(1, 8, 8)), class = "ufs_error")
})

test_that("ranks of columns, their closest columns and leading pairs of a Gram matrix are those of the whole", {
  set.seed(6)
  x <- cbind(matrix(round(rnorm(60), 1), 10), 2)
  ranks <- unname(apply(x, 2, rank))
  expect_identical(.Call(C_x_ranks, x), ranks)
  noise <- function(x) withr::with_seed(1, partner_noise(open_data(x)))
  expect_identical(noise(exp(x)), noise(x))
  r <- matrix(rnorm(49), 7)
  weight <- runif(7)
  for (most in c(1L, 3L, 6L)) {
    expect_equal(.Call(C_x_closest, r, weight, most), vapply(1:7, function(j) {
      sum(sort((weight * r[, j]^2)[-j], decreasing = TRUE)[seq_len(most)])
    }, 0))
  }
  expect_error(.Call(C_x_closest, r, weight, 7L), "most")
  expect_error(.Call(C_x_closest, r[, -1], weight, 2L), "not square")
  set.seed(7)
  gram <- crossprod(matrix(rnorm(30 * 12), 30))
  found <- .Call(C_x_leading, gram, 3L, 1e-10)
  true <- eigen(gram)
  expect_equal(found$values, true$values[1:3])
  expect_equal(abs(crossprod(found$vectors, true$vectors[, 1:3])), diag(3))
  expect_error(.Call(C_x_leading, gram[-1, ], 3L, 1e-10), "not square")
  set.seed(8)
  group <- rep(0:2, 20)
  x <- cbind(matrix(rnorm(60 * 12), 60) + 3 * outer(group, 1:12 %% 3 == 0) + 3 * (group == 1), matrix(rnorm(60 * 30), 60))
  opened <- open_data(x)
  look <- look_unchecked(opened)
  expect_identical(as.integer(max(2, look$components + 1)), found_clusters(opened, TRUE))
  expect_identical(found_clusters(opened, TRUE, 6L), 7L)
  expect_identical(found_clusters(opened, TRUE, NA_integer_), found_clusters(opened, TRUE))
  expect_identical(look_unchecked(open_data(x[rep(1:60, 7), ]))$components, NA_integer_)
})

test_that("a pass finds the columns that may have a code for what is missing", {
  scale <- rep(1:5, 20)
  steps <- 10 * rep(1:10, 10)
  x <- cbind(scale, replace(scale, 1:3, 99), replace(scale, 1, 99), replace(steps, 1:3, 33), replace(steps, c(1:3, 5:7),
    rep(c(33, 47), each = 3)), seq_len(100) / 7, -replace(scale, 1:3, 99))
  odd <- .Call(C_x_odd, unname(x), 1:100, 1:7)
  expect_identical(odd$look, c(FALSE, TRUE, TRUE, FALSE, FALSE, FALSE, TRUE))
  expect_identical(odd$between, c(NA, NA, NA, 33, NA, NA, NA))
  expect_identical(.Call(C_x_odd, unname(x), 100:1, c(7L, 4L)), lapply(odd, `[`, c(7, 4)))
  expect_null(.Call(C_x_odd, replace(unname(x), 250, NA), 1:100, 1:7))
})
