# Every layout of the same numbers gives the same answers, call by call and fit by fit.

skip_on_cran()

judges <- unname(as.matrix(USJudgeRatings))
named <- function(x) `dimnames<-`(x, list(NULL, paste0("f", seq_len(ncol(x)))))

fit_layout <- function(layout, ...) withr::with_options(layout_options(layout), fit_of(...))

expect_same_fits <- function(x, method, ..., only = names(layouts), layouts = layouts_of(x)) {
  dense <- fit_of(method, x, ...)
  for (layout in intersect(only, names(layouts))) {
    fit <- fit_layout(layout, method, layouts[[layout]], ...)
    expect_lt(fits_apart(fit, dense), layout_tolerance(method), label = paste(method, layout))
  }
}

# Of an operator over the standardised columns z.
expect_kept <- function(op, z) {
  for (keep in list(5:1, c(3L, 1L, 5L, 2L, 4L), c(4L, 2L), c(2L, 5L, 2L, 1L, 3L))) {
    some <- op$keep(keep)
    right <- z[, keep]
    v <- matrix(seq_len(2 * length(keep)) + 0, ncol = 2)
    t <- matrix(seq_len(24) + 0, ncol = 2)
    expect_equal(some$rows(1:3), right[1:3, ], ignore_attr = TRUE)
    expect_equal(some$columns(seq_along(keep)), right, ignore_attr = TRUE)
    expect_equal(some$mul(v), right %*% v, ignore_attr = TRUE)
    expect_equal(some$cross(t), crossprod(right, t), ignore_attr = TRUE)
    expect_equal(some$gram(FALSE), crossprod(right), ignore_attr = TRUE)
    expect_equal(some$row_forms(NULL), rowSums(right^2))
    expect_equal(op$some(keep)$gram_columns(1:2, NULL), crossprod(right, right[, 1:2]), ignore_attr = TRUE)
  }
}

test_that("columns that are kept come in the order asked for", {
  skip_if_not_installed("bigmemory")
  x <- judges[1:12, 1:5]
  # By rows, as no big.matrix is by itself.
  source <- new_source(bigmemory::as.big.matrix(x), "big", dim(x), c(3, 5), 16 * 3 * 5, NULL)
  expect_kept(source_operator(source, 1:5, colMeans(x), apply(x, 2, sd)), scale(x))
})

test_that("so they do in files, whatever the layout", {
  skip_if_not_installed("HDF5Array")
  x <- judges[1:12, 1:5]
  for (layout in layouts_of(x)[c("file", "by_rows", "tiny_rows", "tiny_columns")]) {
    expect_kept(as_ufs_operator(layout, TRUE, TRUE)$x, scale(x))
  }
})

test_that("all columns in use: SOCFS and JSPCA on a file are those of the matrix", {
  expect_same_fits(named(as.matrix(mtcars)), "socfs", lambda_rel = .01, only = "file")
  expect_same_fits(named(judges), "jspca", lambda_rel = .02, loss = "sample", only = "file")
})

# Methods that pass over a file in one way each have all layouts; the others three and one of the rest in
# turn. tests/dev/layouts.R has them all.
test_that("every method gives the same scores in every layout", {
  short <- named(judges[1:24, ])
  layouts <- layouts_of(short)
  tall <- named(t(judges[1:24, ]))
  turned <- list(scaled = tall, sparse = if (!is.null(layouts$sparse)) to_sparse(tall))
  rest <- setdiff(names(layouts), c("scaled", "sparse", "file"))
  methods <- ufs_methods()$method
  for (at in seq_along(methods)) {
    method <- methods[at]
    some <- if (method %in% c("consensus", "jspca", "mcfs")) "file" else
      c("scaled", "sparse", "file", rest[(at - 1) %% max(1, length(rest)) + 1])
    if (method %in% c("laplacian", "socfs", "ted")) some <- names(layouts)
    expect_same_fits(short, method, layouts = layouts, only = some)
    expect_same_fits(tall, method, layouts = Filter(Negate(is.null), turned))
  }
})

test_that("each call of an operator in a fit answers as the matrix does", {
  skip_if_not_installed("HDF5Array")
  x <- named(judges[1:30, ])
  worst <- list()
  replaced("source_operator", checked_operator(source_operator, x,
    function(call, difference) worst[[call]] <<- max(worst[[call]], difference)))
  layouts <- layouts_of(x)
  for (method in c("socfs", "jspca", "alnr", "spec")) {
    for (layout in if (method == "jspca") "file" else c("file", "by_rows")) {
      fit_layout(layout, method, layouts[[layout]], lambda_rel = if (method %in% c("socfs", "jspca")) .05)
    }
  }
  expect_setequal(setdiff(names(worst), c("row_forms", "rows", "scaled rows", "sparse rows")), c("gram_columns",
    paste0(rep(c("", "scaled ", "sparse "), 4), rep(c("mul", "cross", "columns", "gram"), each = 3))))
  expect_lt(max(unlist(worst)), 1e-12)
})
