# What ufs_look() sees, on data of which it is known.

skip_on_cran()

look <- function(x, ...) withr::with_seed(1, suppressMessages(ufs_look(x, ...)))
set.seed(4)
x <- matrix(rnorm(60 * 12), 60) + rep(c(0, 3), each = 30)
colnames(x) <- letters[1:12]

test_that("units, counts, standardised, constant and equal columns", {
  x_mixed <- x %*% diag(rep(c(1, 100), 6))
  counts <- matrix(rpois(6000, .7), 60)
  kinds <- list(`one unit` = x, standardised = scale(x), `mixed units` = x_mixed, grades = counts[, 1:20],
    `mixed units` = cbind(counts[, 1:20], seq(20, 79)))
  for (at in seq_along(kinds)) expect_identical(look(kinds[[at]])$values, names(kinds)[at])
  expect_identical(look(counts)[c("values", "held")], list(values = "counts", held = "dense"))
  expect_equal(look(counts)$zeros, mean(counts == 0))
  more <- look(cbind(x, flat = 2, copy = x[, 3], again = x[, 3]))
  expect_identical(more[c("constant", "equal", "p")], list(constant = 1L, equal = 2L, p = 15L))
  expect_output(print(more), "1 constant, 2 copies of others")
  # Constant columns are no copies of each other, whatever their value.
  flat <- ufs_look(cbind(as.matrix(mtcars), one = 3, two = 3, three = 0, four = 0))
  expect_identical(flat[c("constant", "equal")], list(constant = 4L, equal = 0L))
  expect_length(capture.output(print(more)), 2)
  skip_if_not_installed("Matrix")
  sparse <- look(Matrix::Matrix(counts, sparse = TRUE))
  expect_identical(sparse[c("values", "held")], list(values = "counts", held = "sparse"))
  expect_equal(sparse$zeros, mean(counts == 0))
})

test_that("noise is told from structure; eight real columns of 168 are not counted as noise", {
  expect_false(look(x)$noisy)
  expect_lt(look(x)$noise, .2)
  noise <- cbind(x, matrix(rnorm(60 * 80), 60))
  expect_true(look(noise)$noisy)
  expect_gt(look(noise)$noise, .7)
  expect_output(print(look(noise)), "columns look like noise")
  expect_true(is.na(look(x[, 1:3])$noise))
  expect_false(look(x[, 1:3])$noisy)
  x <- withr::with_seed(1, cbind(rep(0:1, each = 40) %o% rep(3, 8) + rnorm(80 * 8), matrix(rnorm(80 * 160), 80)))
  expect_lt(abs(look(x)$noise - 160 / 168), .04)
  # What stands before all copies is no noise, whatever the others say.
  expect_equal(clear_share(c(rep(0, 8), rep(1, 160)), 499), 8 / 168, tolerance = .2)
  expect_identical(clear_share(rep(1, 9), 99), 0)
  expect_identical(beside_copies(diag(9), list(diag(9)), rep(1, 9), 3L)$noise, 1 - clear_share(rep(.5, 9), 9))
  fit <- withr::with_seed(1, suppressMessages(ufs_select(x, 8, "cluster")))
  expect_false(grepl("168 of 168", paste(capture.output(print(fit)), collapse = " ")))
  expect_lt(fit$worth$chosen[fit$worth$measure == "noise"], .2)
  expect_equal(fit$worth$random[fit$worth$measure == "noise"], fit$look$noise, tolerance = .1)
  found <- table_noise(open_data(x), 1:168)
  # The share is above 160 of 168, and none of it is laid on the eight.
  expect_equal(mean(found$chance), fit$look$noise, tolerance = .03)
  expect_lt(max(found$chance[1:8]), .05)
  expect_true(fit$look$noise_low <= fit$look$noise && fit$look$noise <= fit$look$noise_high)
})

test_that("rows that seem to be features are told, and samples with names are not", {
  genes <- c("ACTB", "GAPDH", "B2M", "RPL13", "RPS6", "MT-CO1", paste0("ZZZ", 1:20))
  expect_match(features_in_rows(26, 40, genes, paste0("cell", 1:40)), "genes")
  expect_match(features_in_rows(3, 2, paste0("ENSG0000000000", 1:3), c("a", "b")), "genes")
  expect_null(features_in_rows(40, 26, paste0("cell", 1:40), genes))
  cells <- c("AAACATACAACCAC-1", "AAACATTGAGCTAC-1")
  expect_match(features_in_rows(9, 2, letters[1:9], cells), "barcodes")
  expect_null(features_in_rows(2, 9, cells, letters[1:9]))
  # 506 x 14 with row numbers, or none, is a table of samples.
  expect_null(features_in_rows(506, 14, as.character(1:506), NULL))
  expect_null(features_in_rows(506, 14, NULL, NULL))
  words <- vapply(1:600, function(i) paste(letters[1 + (i %/% c(1, 26, 676)) %% 26], collapse = ""), "")
  expect_match(features_in_rows(600, 8, words, letters[1:8]), "far more rows")
  for (names in list(paste0("patient", 1:600), as.character(as.Date("2020-01-01") + 1:600),
    sprintf("%x-a", 123456 + 1:600))) expect_null(features_in_rows(600, 4, names, NULL))
})

test_that("the same for sparse data and files; one strong factor is no noise, pure noise is", {
  x[x < .5] <- 0
  dense <- look(x)
  for (kind in layouts_of(x)[c("sparse", "by_rows")]) {
    if (is.null(kind)) next
    other <- look(kind)
    expect_identical(other[c("n", "p", "constant")], dense[c("n", "p", "constant")])
    expect_equal(other$noise, dense$noise)
  }
  expect_refusals(ufs_look(x, wrong = 1), ufs_look())
  expect_identical(look(x, features = 1:6)$p, 6L)
  set.seed(2)
  factor <- rnorm(80) %o% rep(1, 60) + matrix(rnorm(80 * 60, sd = .3), 80)
  expect_lt(look(factor)$noise, .1)
  expect_false(look(factor)$noisy)
  pure <- look(matrix(rnorm(80 * 60), 80))
  expect_true(pure$noisy)
  expect_output(print(pure), "(nearly all|about 5[6-9]) of 60 columns")
  expect_false(any(grepl("100 %", capture.output(print(pure)))))
})

test_that("densities of columns are slopes of the least concave majorant; the chance of being noise is that of noise", {
  found <- list(place = withr::with_seed(1, c(stats::runif(20), stats::rbeta(20, 1, 4))), noise = .3, decoys = 99)
  place <- .01 + .99 * found$place
  at <- sort(c(0, place, 1))
  share <- stats::ecdf(place)(at)
  # Of all lines from points below to points that are not, the steepest from the point where it is the least.
  density <- vapply(place, function(v) {
    min(vapply(which(at < v), function(a) max((share - share[a])[at >= v] / (at - at[a])[at >= v]), 0))
  }, 0)
  # As dense as they are; what is cut at 1 goes to those in doubt, so that the mean is the share.
  chance <- noise_chance(found)
  plain <- pmin(1, .3 / density)
  doubt <- plain^4 * (1 - plain)
  expect_lt(mean(plain), .3)
  expect_equal(chance, plain + (.3 - mean(plain)) / mean(doubt) * doubt, tolerance = 1e-6)
  expect_equal(mean(chance), .3, tolerance = 1e-6)
  set.seed(3)
  x <- cbind(rep(0:1, each = 40) %o% rep(3, 12) + rnorm(80 * 12), matrix(rnorm(80 * 150), 80))
  chance <- partner_noise(open_data(x))$chance
  expect_lt(mean(chance[1:12]), .1)
  expect_gt(mean(chance[13:162]), .7)
  # Of the noise those with the closest columns by luck.
  r <- cor(x[, -(1:12)], method = "spearman")^2 - diag(150)
  best <- 12 + order(-apply(r, 2, function(v) mean(sort(v, decreasing = TRUE)[1:20])))[1:12]
  expect_gt(mean(chance[best]), .5)
})

test_that("blocks are taken out before columns are compared; a few far values make no noise of a column", {
  set.seed(2)
  block <- rep(1:4, each = 30)
  x <- matrix(rnorm(120 * 40), 120) + 4 * matrix(rnorm(160), 4)[block, ]
  expect_lt(table_noise(open_data(x), 1:40)$noise, .2)
  expect_gt(table_noise(ufs_data(x, blocks = block), 1:40)$noise, .8)
  chance <- function(x) withr::with_seed(1, partner_noise(open_data(x), block)$chance)
  expect_equal(chance(x + 9 * block), chance(x))
  set.seed(4)
  x <- cbind(exp(3 * (rnorm(100) %o% rep(1, 8) + matrix(rnorm(800), 100) / 2)), exp(3 * matrix(rnorm(100 * 80), 100)))
  found <- partner_noise(open_data(cbind(x, 7, x[, 1])))
  expect_identical(found$keep, c(1:88, 90L))
  expect_lt(max(found$chance[1:8]), .3)
  expect_identical(found$chance[89], found$chance[1])
  expect_gt(mean(found$chance[9:88]), .7)
  expect_null(partner_noise(open_data(x[, 1:4])))
})

test_that("one value, a block in another unit, a copied column and a usual value are named, three pairs at most", {
  value <- withr::with_seed(1, stats::rnorm(100))
  at <- seq(1, 97, 3)
  expect_identical(stuck_value(replace(value, at, 0.1234)), c(0.1234, 33))
  expect_null(stuck_value(replace(value, at[1:15], 0.1234)))
  value <- rep(exp(c(-.05, -.03, -.01, .01, .03, .05, .02, -.02, .04, -.04)), 10)
  times <- function(rows) block_in_unit(replace(value, rows, 1000 * value[rows]))
  expect_identical(times(41:50), list(rows = c(41L, 50L), count = 10L, times = "1000"))
  expect_null(times(c(3, 14, 25, 36, 47, 58, 69, 80, 91, 92)))
  expect_null(block_in_unit(replace(value, 41:50, 1000 * value[41:50]^8)))
  inch <- c(10.2, 11.5, 9.1, 14.4)
  words <- function(b, times) unit_words(cbind(inch, b), 1:2, times, c(0.1, 0.1), c("inch", "b"))
  expect_identical(words(2.54 * inch, 2.54), "'b' is 'inch' times 2.54")
  expect_identical(words(1.8 * inch + 32, 1.8), "'b' is 'inch' times 1.8 plus 32")
  x <- withr::with_seed(1, matrix(stats::rnorm(40 * 2), 40, dimnames = list(NULL, c("a", "b"))))
  x[31:40, 1] <- x[31, 1]
  expect_match(measuring_faults(open_data(x)), "a sensor that was stuck", all = FALSE)
  expect_null(measuring_faults(open_data(replace(x, 80, NA))))
  many <- usual_value(c(rep(0, 200), seq(.1, 9, length.out = 39)))
  expect_identical(many[c("value", "count")], list(value = 0, count = 200L))
  expect_false(many$rounded)
  expect_true(usual_value(c(rep(0, 200), rep(1:20, each = 10)))$rounded)
  # Another value nearly as frequent, or few others.
  expect_null(usual_value(c(rep(0, 200), rep(1, 50), 2:20)))
  expect_null(usual_value(c(rep(0, 200), 1:14)))
  part <- withr::with_seed(1, matrix(round(stats::rnorm(300, 50, 10), 2), 60))
  both <- cbind(part, round(2.54 * part, 3))
  colnames(both) <- c(paste0("inch", 1:5), paste0("cm", 1:5))
  expect_match(measuring_faults(open_data(both)), "times 2.54; and 2 pairs more: one measurement", all = FALSE)
  value <- withr::with_seed(1, replicate(12, sample(value)))
  colnames(value) <- letters[1:12]
  value[11:30, 1:5] <- 1000 * value[11:30, 1:5]
  expect_match(measuring_faults(open_data(value)), paste("rows 11 to 30 of 'c' [(]20 values[)] are",
    "about 1000 times the others [(]and 2 columns more[)]: in another unit"), all = FALSE)
  turned <- ufs_look(matrix(sin(1:240), 40, dimnames = list(paste0("ENSG0000000000", 10:49), paste0("s", 1:6))))
  expect_output(print(turned), "the rows seem to be features .row names look like genes.: if so")
})

test_that("a drift is named, groups of rows in order and ids are not; so are rows and columns that add up others", {
  set.seed(1)
  z <- matrix(rexp(600), 60, dimnames = list(NULL, letters[1:10]))
  z[, 3] <- .1 * z[, 3] + (1:60) * .02
  said <- look_unchecked(z)$doubts
  expect_match(said, "column 'c' rises or falls from row to row .rank correlation 0[.]9.*a drift", all = FALSE)
  expect_length(said, 1L)
  expect_match(drift_in_rows(cbind(z, z[, 3:1], z[, 3]), letters[1:14], ""), "'c', 'k', 'n' rise or fall")
  expect_match(look_unchecked(replace(z, 1:60 + 120, -z[, 3]))$doubts, "column 'c' rises or falls", all = FALSE)
  expect_false(any(grepl("drift", look_unchecked(z[sample(60), ])$doubts)))
  expect_false(any(grepl("drift", look_unchecked(iris[, 1:4])$doubts)))
  said <- look_unchecked(cbind(z[, -3], order_id = cumsum(sample(1:9, 60, TRUE))))$doubts
  expect_match(said, "'order_id' seems to number rows", all = FALSE)
  expect_false(any(grepl("drift", said)))
  expect_match(suppressMessages(ufs_select(z, 3))$checks, "'c' rises or falls", all = FALSE)
  set.seed(2)
  x <- matrix(rexp(200), 20, dimnames = list(paste0("s", 1:20), letters[1:10]))
  doubts <- function(x, ...) look_unchecked(ufs_data(x, ...))$doubts
  total <- rbind(x, Total = colSums(x))
  words <- "row 21 ('Total') is the sum of all others: leave out what is no sample (samples = -21)"
  expect_true(words %in% doubts(total))
  expect_false(any(grepl("of all others", doubts(rbind(x, -x)))))
  expect_true(sub("sum", "mean", words) %in% doubts(rbind(x, Total = colMeans(x))))
  expect_match(suppressMessages(ufs_select(total, m = 3, task = "label"))$checks, "'Total'", all = FALSE)
  expect_false(any(grepl("of all others", doubts(total, samples = -21))))
  # Of groups: each from the one before, not a single one by chance.
  within <- rbind(x[1:6, ], colSums(x[1:6, ]), x[7:11, ], colSums(x[7:11, ]), x[12:20, ], colSums(x[12:20, ]))
  expect_true("rows 7, 13, 23 are the sums of the rows between them: leave out what is no sample (`samples`)" %in% doubts(within))
  expect_false(any(grepl("sums of the rows", doubts(within[-(13:23), ]))))
  skip_if_not_installed("Matrix")
  sparse <- Matrix::Matrix(total * (total > .5), sparse = TRUE)
  sparse[21, ] <- Matrix::colSums(sparse[1:20, ])
  expect_true(words %in% doubts(sparse))
  wide <- matrix(rexp(600), 60, dimnames = list(NULL, letters[1:10]))
  sums <- cbind(all = rowSums(wide[, 1:4]), wide, late = wide[, 8] + wide[, 9])
  expect_match(doubts(sums), "'all' is the sum of columns 'd', 'a', 'b', 'c'; 'late' is the sum of columns 'h', 'i'", all = FALSE)
  expect_false(any(grepl("is the sum of", doubts(wide))))
  # Shares of a whole are no sums of each other.
  expect_false(any(grepl("is the sum of", doubts(wide / rowSums(wide)))))
})
