skip_on_cran()

test_that("both sets stand for all rows: better than random choice", {
  x <- withr::with_seed(1, matrix(rnorm(600), 150))
  split <- withr::with_seed(2, ufs_split(x, m = 20, test = 10))
  expect_length(split$train, 20)
  expect_length(split$test, 10)
  expect_length(intersect(split$train, split$test), 0)
  for (set in c("train", "test")) {
    of <- split$coverage$uncovered[split$coverage$set == set]
    expect_lt(of[1L], of[2L])
  }
  z <- scale(x)
  near <- apply(as.matrix(dist(z))[, split$train]^2, 1L, min)
  expect_equal(split$coverage$uncovered[1L], mean(near) / mean(rowSums(z^2)), tolerance = 1e-6)
  expect_output(print(split), "20 rows to learn from and 10 to judge by, of 150")
  expect_length(ufs_split(x, m = 5)$test, 3)
})

test_that("scans of one sample stay together, strata get their shares, also where rows are left out", {
  base <- withr::with_seed(1, matrix(rnorm(160), 40))
  scan <- rep(1:40, each = 3)
  x <- base[scan, ] + withr::with_seed(2, matrix(rnorm(480, sd = .05), 120))
  rownames(x) <- paste0("scan", 1:120)
  turn <- withr::with_seed(3, sample(120))
  split <- ufs_split(x[turn, ], m = 8, test = 4, replicates = paste0("soil", scan[turn]))
  expect_length(split$train, 24)
  expect_length(split$test, 12)
  expect_identical(as.vector(table(scan[turn][split$train])), rep(3L, 8))
  expect_false(any(scan[turn][split$train] %in% scan[turn][split$test]))
  expect_identical(names(split$train), rownames(x)[turn][split$train])
  expect_output(print(split), "8 and 4, of 40.*random samples")
  # Random choice is of samples, too: equal scans leave what their samples leave.
  alone <- withr::with_seed(4, ufs_split(base, m = 8, test = 4))$coverage
  scans <- withr::with_seed(4, ufs_split(base[scan, ], m = 8, test = 4, replicates = scan))$coverage
  expect_equal(scans$uncovered, alone$uncovered)
  x <- withr::with_seed(1, matrix(rnorm(400), 100))
  strata <- rep(c("a", "b", "c"), c(60, 30, 10))
  split <- ufs_split(x, m = 20, test = 10, strata = strata)
  expect_identical(as.vector(table(strata[split$train])), c(12L, 6L, 2L))
  expect_identical(as.vector(table(strata[split$test])), c(6L, 3L, 1L))
  expect_refusals(ufs_split(x, 5, strata = strata, replicates = rep(1:50, 2)),
    ufs_split(x, 5, strata = as.list(strata)), ufs_split(x, 99), ufs_split(x, 50, test = 50), ufs_split(x, 5, tset = 4),
    "10 samples that `replicates` tells apart" = ufs_split(x[1:30, ], m = 15, replicates = rep(1:10, each = 3)),
    "two fewer than the 30 rows" = ufs_split(x[1:30, ], m = 29),
    "`strata` has several values within one sample of `replicates`." =
      ufs_split(mtcars, 5, replicates = rep(1:16, 2), strata = rep(c("a", "b"), each = 16)),
    "`strata` must have one value for each of the 32 rows." = ufs_split(mtcars, 5, strata = 1:3),
    "The strata are too small for `m` and `test`." = ufs_split(mtcars[1:6, ], 3, test = 2, strata = 1:6))
  expect_identical(shares(7L, c(1L, 1L, 1L), c(5L, 5L, 5L)), c(3, 2, 2))
  expect_null(shares(7L, c(3L, 3L), c(3L, 3L)))
  expect_null(shares(5, c(1, 1), c(2, 2)))
  expect_equal(shares(3, c(1, 2), c(2, 2)), c(1, 2))
  x <- airquality
  left <- which(stats::complete.cases(x))
  half <- rep(c("a", "b", "c"), 51)
  pair <- rep(1:77, each = 2)[1:153]
  for (given in list(list(strata = half), list(replicates = pair), list(strata = half[pair], replicates = pair))) {
    part <- lapply(given, `[`, left)
    whole <- withr::with_seed(1, do.call(ufs_split, c(list(x, 8, na = "omit"), given)))
    alone <- withr::with_seed(1, do.call(ufs_split, c(list(x[left, ], 8), part)))
    short <- withr::with_seed(1, do.call(ufs_split, c(list(x, 8, na = "omit"), part)))
    same <- c("train", "test", "m", "n", "replicates", "strata", "coverage", "names")
    expect_equal(whole[same], alone[same])
    expect_equal(short[same], alone[same])
  }
  expect_error(ufs_split(x, 8, na = "omit", strata = 1:7), "each of the 111 rows", class = "ufs_error_argument")
})

test_that("smooth curves are compared by few scores, and far rows are named", {
  grid <- seq(0, 1, length.out = 80)
  x <- withr::with_seed(1, t(vapply(1:60, function(i) {
    rnorm(1) * sin(3 * grid) + rnorm(1) * grid^2 + rnorm(1, sd = .3) * exp(-50 * (grid - .5)^2)
  }, grid)))
  expect_true(is_smooth_columns(x))
  expect_false(is_smooth_columns(x[, withr::with_seed(2, sample(80))]))
  expect_false(is_smooth_columns(x[, 1:10]))
  split <- ufs_split(x, m = 10)
  expect_match(split$space, "of smooth curves")
  x[7, ] <- x[7, ] + 30
  expect_message(split <- ufs_split(x, m = 10, rows = "none"), "row 7", class = "ufs_message_outliers")
  expect_identical(split$far, 7L)
  scores <- smooth_scores(as_ufs_matrix(x, TRUE, FALSE))
  full <- prcomp(x)
  expect_identical(ncol(scores), as.integer(max(2L, which(cumsum(full$sdev^2) / sum(full$sdev^2) >= .99)[1L])))
  expect_equal(abs(unname(scores)), abs(unname(full$x[, seq_len(ncol(scores))])), tolerance = 1e-6)
})

test_that("a split is read like a fit, its summary names all rows, and augment() gives each its set, by name", {
  split <- withr::with_seed(1, ufs_split(mtcars, m = 8, test = 4))
  expect_identical(selected_samples(split), names(split$train))
  expect_identical(selected_samples(split, set = "test", as = "index"), unname(split$test))
  expect_identical(unname(which(selected_samples(split, as = "logical"))), unname(split$train))
  numbered <- ufs_split(iris[, 1:4], m = 8)
  expect_identical(selected_samples(numbered), unname(numbered$train))
  table <- as.data.frame(split)
  expect_named(table, c("sample", "index", "set"))
  expect_identical(table$sample[which(table$set == "test")], names(split$test))
  expect_identical(sum(is.na(table$set)), 20L)
  expect_error(selected_samples(split, m = 3), class = "ufs_error_refit")
  told <- summary(split)
  expect_identical(told$coverage, split$coverage)
  expect_identical(split(told$rows$sample, told$rows$set), lapply(split[c("test", "train")], names))
  said <- utils::capture.output(expect_invisible(print(told)))
  expect_identical(said[1L], "<ufs_split> of 32 rows")
  expect_true(all(c("train (8):", "test (4):") %in% said))
  in_one <- gsub(" +", " ", paste(said, collapse = " "))
  for (name in c(names(split$train), names(split$test))) expect_match(in_one, name, fixed = TRUE)
  expect_error(summary(split, 3), class = "ufs_error_argument")
  out <- augment.ufs_split(split, mtcars)
  expect_identical(out$.set, table$set)
  expect_identical(augment.ufs_split(split, mtcars[32:1, ])$.set, rev(out$.set))
  expect_refusals(augment.ufs_split(split), augment.ufs_split(split, mtcars[1:5, ]),
    "already" = augment.ufs_split(split, out))
  skip_if_not_installed("generics")
  expect_identical(generics::glance(split)$test, 4L)
  expect_identical(nrow(generics::tidy(split)), 32L)
})

test_that("the print tells a column that numbers the rows, far rows, and which set is no better than chance", {
  x <- withr::with_seed(1, cbind(sample = 1:40, matrix(rnorm(120), 40, dimnames = list(NULL, letters[1:3]))))
  split <- ufs_split(x, m = 6)
  expect_identical(split$doubts, ufs_look(x)$doubts)
  expect_match(paste(trimws(capture.output(print(split))), collapse = " "), "column 'sample' seems to number rows")
  expect_null(ufs_split(x[, -1], m = 6)$doubts)
  split <- withr::with_seed(1, ufs_split(iris[, 1:4], m = 10))
  expect_false(any(grepl("no better than", capture.output(print(split)))))
  split$coverage[split$coverage$set == "test" & split$coverage$choice == "chosen", c("uncovered", "unknown")] <- 1
  expect_output(print(split), "test: no better than random rows")
  split <- withr::with_seed(1, suppressMessages(ufs_split(rbind(as.matrix(mtcars), odd = 1e4), m = 8)))
  expect_identical(unname(split$far), 33L)
  expect_output(print(split), "far rows +1 row: see \\$far")
  # A table of one column is drawn.
  split <- withr::with_seed(1, suppressMessages(ufs_split(cbind(a = (1:20)^1.5), m = 4)))
  expect_identical(unique(picture(split)$table$y), 0)
  expect_length(split$test, 2L)
})

test_that("far rows and smooth functions by products are those of distances row by row", {
  z <- withr::with_seed(4, rbind(matrix(rnorm(3 * 1499), 1499), c(40, 0, 0)))
  to <- round(seq(1, 1500, length.out = 1000))
  d2 <- as.matrix(stats::dist(z))^2
  diag(d2) <- Inf
  near <- apply(d2[, to], 1L, function(d) sort(d)[3L])
  size <- log(near)
  far <- size > stats::median(size) + 3.5 * stats::mad(size) & near > 2 * median_square(z, 1000L)
  expect_identical(far_rows(z), unname(which(far)))
  expect_true(1500L %in% far_rows(z))
  # The unit does not matter, also where most rows have copies, which are at no distance.
  copies <- rbind(z[rep(1:300, 4), ], z[1500, ])
  for (unit in c(1e-6, 1e6)) {
    expect_identical(far_rows(unit * z), far_rows(z))
    expect_identical(far_rows(unit * copies), far_rows(copies))
  }
  expect_identical(least_of_rows(rbind(c(2, 1, 1), c(0, 3, -1))), cbind(1:2, 2:3))
  z <- matrix(c(0, 1, 5, 6), 4)
  expect_identical(medoid_rows(z, 0, rep(TRUE, 4)), integer())
  expect_identical(medoid_rows(z, 3, c(TRUE, FALSE, TRUE, FALSE)), c(1L, 3L))
})
