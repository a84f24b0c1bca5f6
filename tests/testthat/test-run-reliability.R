skip_on_cran()

# One-way analysis of variance of every column, by aov().
by_aov <- function(x, g, block = NULL, weights = NULL) {
  t(apply(x, 2L, function(v) {
    table <- data.frame(v = v, g = factor(g), b = if (is.null(block)) 1 else factor(block))
    found <- if (is.null(block)) stats::anova(stats::lm(v ~ g, table)) else stats::anova(stats::lm(v ~ b + g, table))
    c(f = found["g", "F value"], p = found["g", "Pr(>F)"], df = found["g", "Df"], rest = found["Residuals", "Df"])
  }))
}
repeated_table <- function(sizes = rep(3L, 20L), p = 6L, signal = 2L) {
  g <- rep(seq_along(sizes), sizes)
  x <- matrix(stats::rnorm(length(g) * p, sd = .5), length(g))
  x[, seq_len(signal)] <- x[, seq_len(signal)] + stats::rnorm(length(sizes))[g]
  colnames(x) <- letters[seq_len(p)]
  list(x = x, g = g)
}
same_as_aov <- function(found, right, df = TRUE) {
  expect_equal(found$table$f, unname(right[, "f"]), tolerance = 1e-8)
  expect_equal(found$table$p_value, unname(right[, "p"]), tolerance = 1e-6)
  expect_equal(found$table$reliability, pmax(0, 1 - 1 / unname(right[, "f"])), tolerance = 1e-8)
  if (df) expect_equal(unname(found$df), unname(right[1L, c("df", "rest")]))
}

test_that("mean squares are those of aov(), for equal and unequal levels; blocks are taken out, nested or crossed", {
  set.seed(1)
  for (sizes in list(rep(3L, 20L), c(1L, 2L, 5L, 3L, 1L, 4L, 2L))) {
    data <- repeated_table(sizes)
    ord <- sample(length(data$g))
    found <- ufs_reliability(data$x[ord, ], paste("sample", data$g)[ord])
    same_as_aov(found, by_aov(data$x, data$g))
    expect_identical(found$n_levels, length(sizes))
  }
  set.seed(2)
  data <- repeated_table(rep(4L, 12L))
  crossed <- rep(1:4, 12L)
  for (block in list(crossed, rep(1:3, each = 16L))) {
    x <- data$x + 5 * block
    same_as_aov(ufs_reliability(x, data$g, blocks = block), by_aov(x, data$g, block))
  }
  expect_equal(ufs_reliability(data$x + 3 * crossed, data$g, blocks = crossed)$table$f,
    ufs_reliability(data$x, data$g, blocks = crossed)$table$f, tolerance = 1e-8)
})

test_that("unbalanced blocks: the two-way fit, nearly nested, bridged, with gaps and weights", {
  set.seed(1)
  r <- rep(1:8, each = 3)
  b <- rep(rep(1:4, each = 2), each = 3)
  b[seq(1, 24, 6)] <- b[seq(1, 24, 6)] %% 4 + 1
  v <- rnorm(24) + rnorm(8, sd = 1.2)[r]
  found <- ufs_reliability(cbind(v), r, blocks = b)$table
  expect_equal(round(unlist(found[c("f", "p_value")], use.names = FALSE), 4), c(2.9599, .0434))
  set.seed(5)
  id <- rep(1:6, each = 2)
  b <- rep(1:2, c(5, 7))
  x <- cbind(v = rnorm(6)[id] + rnorm(12))
  expect_equal(ufs_reliability(x, id, blocks = b)$table$f, by_aov(x, id, b)[, "f"], ignore_attr = TRUE)
  # Twelve batches, each with samples of its own and two that the next one has, too.
  g <- unlist(lapply(0:11, function(i) c(3 * i + c(1, 1, 2, 2, 3), 3 * (i + 1) + 1:2)))
  batch <- rep(1:12, each = 7)
  x <- matrix(rnorm(84 * 3), 84) + outer(rnorm(max(g))[g], c(0, .5, 1)) + 4 * batch
  gaps <- replace(x, cbind(c(1:9, 40), rep(2:3, 5)), NA)
  weights <- sample(1:3, 84, TRUE)
  long <- rep(1:84, weights)
  same_as_aov(ufs_reliability(x, g, blocks = batch), by_aov(x, g, batch))
  same_as_aov(ufs_reliability(gaps, g, blocks = batch), by_aov(gaps, g, batch), df = FALSE)
  same_as_aov(ufs_reliability(x, g, blocks = batch, weights = weights), by_aov(x[long, ], g[long], batch[long]), FALSE)
  found <- ufs_reliability(gaps, g, blocks = batch, weights = weights)
  same_as_aov(found, by_aov(gaps[long, ], g[long], batch[long]), FALSE)
  # The mean number of rows a level is that of the expected mean square.
  own <- qr.resid(qr(model.matrix(~ factor(batch))), model.matrix(~ 0 + factor(g)))
  squares <- replicate_squares(ufs_data(x, replicates = g, blocks = batch))
  expect_equal(squares$size[1], sum(own^2) / squares$df_between[1])
  # What does not vary within blocks says nothing.
  expect_identical(ufs_reliability(cbind(batch / 3), g, blocks = batch)$table$f, NA_real_)
})

test_that("weights count rows, NA and empty texts leave rows out, and the layout does not matter", {
  set.seed(3)
  data <- repeated_table()
  weights <- sample(1:3, length(data$g), TRUE)
  twice <- rep(seq_along(data$g), weights)
  same <- c("f", "p_value", "reliability", "single")
  expect_equal(ufs_reliability(data$x, data$g, weights = weights)$table[same],
    ufs_reliability(data$x[twice, ], data$g[twice])$table[same], tolerance = 1e-10)
  g <- replace(data$g, 1:6, NA)
  expect_equal(ufs_reliability(data$x, g)$table, ufs_reliability(data$x[-(1:6), ], data$g[-(1:6)])$table)
  expect_identical(ufs_reliability(ufs_data(data$x, replicates = g))$table, ufs_reliability(data$x, g)$table)
  skip_if_not_installed("Matrix")
  sparse <- abs(data$x) * (data$x > .3)
  expect_equal(ufs_reliability(Matrix::Matrix(sparse, sparse = TRUE), data$g)$table,
    ufs_reliability(sparse, data$g)$table)
  withr::with_options(list(ufselect.block_bytes = 8 * 60 * 2), expect_identical(
    ufs_reliability(data$x, data$g)$table, ufs_reliability(data$x, data$g)$table))
  set.seed(8)
  x <- matrix(rnorm(60), 20)
  level <- rep(c("a", "b", "c", "d", ""), each = 4)
  known <- replace(level, level == "", NA)
  for (given in list(level, factor(level))) {
    expect_identical(ufs_reliability(x, given)$table, ufs_reliability(x, known)$table)
    expect_identical(ufs_reliability(x, given)$n_levels, 4L)
  }
  for (arg in c("blocks", "strata")) {
    expect_error(do.call(ufs_data, c(list(x), stats::setNames(list(level), arg))), "none of them missing",
      class = "ufs_error_argument")
  }
  expect_error(ufs_split(x, 4, replicates = level), "one value for each", class = "ufs_error_argument")
  skip_if_not_installed("SummarizedExperiment")
  expect_identical(ufs_reliability(x, asNamespace("S4Vectors")$Rle(factor(level)))$table, ufs_reliability(x, known)$table)
  expect_identical(ufs_data(x, strata = asNamespace("S4Vectors")$Rle(rep(1:2, each = 10)))$row_held,
    ufs_data(x, strata = rep(1:2, each = 10))$row_held)
})

test_that("columns far from zero and constant ones are judged rightly; bad replicates name the argument", {
  set.seed(4)
  data <- repeated_table()
  expect_equal(ufs_reliability(data$x * 2^10 + 2^40, data$g)$table$f,
    ufs_reliability(round(data$x * 2^22) / 2^22 * 2^10, data$g)$table$f, tolerance = 1e-5)
  table <- ufs_reliability(cbind(data$x, flat = 7, exact = data$g), data$g)$table
  expect_identical(table$reliability[7:8], c(NA, 1))
  expect_identical(table$repeats[7:8], c(FALSE, TRUE))
  x <- matrix(stats::rnorm(40), 10L)
  expect_refusals(ufs_reliability(x), "no level has two rows" = ufs_reliability(x, 1:10),
    "one level only" = ufs_reliability(x, rep(1, 10L)), "`replicates`" = ufs_reliability(x, 1:9),
    "`fdr`" = ufs_reliability(x, rep(1:5, 2L), fdr = 1), "`extra`" = ufs_reliability(x, rep(1:5, 2L), extra = 1))
})

test_that("a constant column is told; tidy() gives the table and glance() its sizes", {
  level <- rep(1:10, each = 2)
  x <- withr::with_seed(1, cbind(a = rnorm(10)[level] + rnorm(20, sd = .1), b = rnorm(20), c = 1))
  found <- withr::with_seed(1, suppressWarnings(ufs_reliability(x, level)))
  expect_output(print(found), "1 column, of which nothing can be said")
  skip_if_not_installed("generics")
  expect_identical(as.data.frame(generics::tidy(found)), found$table)
  expect_equal(unlist(generics::glance(found)[c("columns", "samples", "rows")]), c(columns = 3, samples = 10, rows = 20))
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(found), "ggplot")
})
