# What each kind of data is called, and what that decides.

skip_on_cran()

tables <- kind_tables()
kind_seen <- function(x, kind = NULL) {
  x <- open_data(x)
  data_kind(x, function() as_column_stats(open_quietly(x), TRUE), kind)
}
pick <- function(x, ...) withr::with_seed(1, suppressWarnings(suppressMessages(ufs_select(x, ...))))

for (name in names(tables)) {
  test_that(paste0("the kind of data: ", name), {
    expect_identical(kind_seen(tables[[name]][[1L]])$values, tables[[name]][[2L]])
  })
}

test_that("decimals and spreads are told apart; an age among grades is no count", {
  value <- withr::with_seed(1, stats::rnorm(30))
  expect_identical(c(different_decimals(cbind(round(value, 1), round(value, 3))),
    different_decimals(cbind(round(value, 2), round(2 * value, 2)))), c(TRUE, FALSE))
  expect_identical(c(spread_words(c(0, 2, 2)), spread_words(1:2)), paste("standard", c("deviation 2", "deviations from 1 to 2")))
  z <- withr::with_seed(1, matrix(pmin(stats::rgeom(1200, .7), 5), 60))
  z[1, ] <- rep(c(7, 5), c(2, 18))
  expect_identical(c(falls(z, 20L), falls(replace(z, 1141:1200, 20:79), 20L)), c(TRUE, FALSE))
})

# ufs_select() without its fit.
seen_of <- function(x) withr::with_seed(1, without_constant(look_unchecked(x)))
planned <- function(x, task, noise = FALSE, look = seen_of(x)) {
  asked <- list_of(task, k = 2L, n_clusters = NULL, noise, ordered = FALSE, counts = FALSE)
  c(withr::with_seed(1, selection_plan(x, look, asked, list())), look = list(look))
}

test_that("what follows from the kind: scaling, weighting, method for each task, noise", {
  methods <- c(compress = "css", classify = "css", cluster = "consensus", label = "medoids")
  scaled <- list(counts = rep(FALSE, 4), `log counts` = c(FALSE, FALSE, FALSE, TRUE), raw = c(FALSE, FALSE, TRUE, TRUE),
    `mixed units` = rep(TRUE, 4), standardised = rep(TRUE, 4))
  scaled[c("grades", "one unit")] <- scaled["log counts"]
  for (name in names(tables)) {
    x <- open_data(tables[[name]][[1L]])
    values <- tables[[name]][[2L]]
    look <- seen_of(x)
    for (task in names(methods)) {
      plan <- planned(x, task, look = look)
      said <- paste(name, task)
      if (task == "label" && name %in% c("curves", "volcano")) {
        expect_identical(plan[c("method", "args")], list(method = "ted", args = list(m = 2L, similarity = "heat",
          n_scores = curve_components(ufs_data(x, rows = "snv")), scale = FALSE)), info = said)
        expect_identical(plan$transform, list(rows = "snv"), info = said)
        next
      }
      expect_identical(plan$method, methods[[task]], info = said)
      raw <- name %in% c("raw_array", "bulk_counts")
      expect_identical(plan$look$raw, raw, info = said)
      expect_identical(plan$args$scale, scaled[[if (raw) "raw" else values]][match(task, names(methods))], info = said)
      weighted <- values == "counts" && task != "compress"
      expect_identical(plan$transform, if (weighted) list(counts = "tfidf", rows = "unit"), info = said)
      # As a gene panel.
      expect_identical(plan$args$target, if (values == "log counts" && plan$method == "css") 20L, info = said)
      if (task == "label") {
        expect_identical(plan$args$center, values != "counts", info = said)
        # Directions, from ten columns on; along one factor many rows are near the mean of all.
        expect_identical(is.null(plan$args$unit), x$p >= 10L && name != "factor", info = said)
      }
    }
    expect_false(plan$look$noisy, info = name)
  }
})

test_that("among ten columns of noise for each of their own, every kind is seen to be mostly noise", {
  for (name in setdiff(names(kind_makers()), "one_hot")) {
    x <- as.matrix(tables[[name]][[1L]])
    noisy <- unname(withr::with_seed(2, cbind(x, do.call(cbind, lapply(1:10, function(i) apply(x, 2L, sample))))))
    plan <- planned(open_data(noisy), "classify", noise = TRUE)
    expect_true(plan$look$noisy, info = name)
    expect_identical(plan$method, if (plan$look$values == "counts") "pca" else "consensus", info = name)
  }
})

test_that("the answer does not depend on how data are held; squares that no double can hold are refused by name", {
  for (name in c("words", "likert_0", "raw_array", "clinic")) {
    x <- unname(as.matrix(tables[[name]][[1L]]))
    for (kind in layouts_of(x)) if (!is.null(kind)) expect_identical(kind_seen(kind), kind_seen(x), info = name)
  }
  x <- as.matrix(iris[1:20, 1:4])
  for (unit in c(1e200, 1e-200)) {
    said <- paste("column 'Petal.Width' of `x` are too", if (unit > 1) "large" else "small")
    beyond <- `colnames<-`(x %*% diag(c(1, 1, 1, unit)), colnames(x))
    for (fun in list(ufs_variance, ufs_look, function(x) ufs_select(x, k = 1))) {
      expect_error(fun(beyond), said, class = "ufs_error_input")
    }
    expect_error(ufs_select(x * unit, k = 1), "'Petal.Width' of `x` are too", class = "ufs_error_input")
  }
})

test_that("counts of genes, and words among noise, are taken as log counts", {
  cells <- `colnames<-`(tables$cells[[1L]], paste0("ENSG", 1e6 + seq_len(ncol(tables$cells[[1L]]))))
  fit <- pick(cells, 8, "classify")
  expect_identical(fit$input$transform$counts, "log")
  expect_identical(fit$params$target, 20L)
  withr::local_options(width = 1000)
  expect_match(capture.output(print(summary(fit))), "of the variance of the log counts", all = FALSE)
  expect_identical(selected_features(pick(unname(cells), 8, "classify", counts = "log"), as = "index"),
    selected_features(fit, as = "index"))
  # Few genes have no more components than that.
  expect_null(pick(as.matrix(ufs_data(cells[, 1:30], counts = "log")), 8, "classify")$params$target)
  expect_identical(pick(unname(cells), 8, "classify")$input$transform$counts, "tfidf")
  # Texts of two subjects: of each word of theirs ten columns of noise.
  x <- withr::with_seed(4, {
    usual <- rep(exp(rnorm(30, -1)), each = 80)
    real <- matrix(rpois(80 * 30, usual * ifelse(outer(rep(1:2, 40), rep(1:2, 15), "=="), 5, 1)), 80)
    cbind(real, do.call(cbind, lapply(1:10, function(i) apply(real, 2L, sample))))
  })
  colnames(x) <- paste0("w", seq_len(ncol(x)))
  fit <- ufs_select(x, 12, "classify", kind = "counts")
  expect_true(fit$look$noisy)
  expect_gt(mean(selected_features(fit, as = "index") <= 30), .9)
  expect_match(fit$code, "counts = \"log\"", fixed = TRUE)
  expect_false(any(grepl("rows =", fit$code)))
  expect_match(fit$decided, "most words look like noise", all = FALSE)
  # Without noise they are weighted.
  expect_match(ufs_select(x[, 1:30], 5, "classify", kind = "counts")$code, "tfidf")
})

test_that("small, narrow and repeated tables go through every task, and so do rare flags that drawn rows may lack", {
  for (name in c("one_column", "two_columns", "ten_rows", "copies", "iris")) {
    x <- tables[[name]][[1L]]
    for (task in c("compress", "classify", "cluster", "label")) {
      fit <- pick(x, min(2L, ncol(x)), task)
      chosen <- if (task == "label") selected_samples(fit) else selected_features(fit)
      expect_false(anyDuplicated(chosen) > 0, info = paste(name, task))
      # Copies of a row are no two samples.
      if (task == "label") expect_false(anyDuplicated(x[selected_samples(fit, as = "index"), ]) > 0, info = name)
      expect_output(print(fit), "<ufs_select>")
    }
  }
  many <- withr::with_seed(1, latent_groups(1e5, 6))
  expect_identical(kind_seen(many)$values, "one unit")
  expect_length(selected_features(pick(many, 2, "cluster")), 2L)
  for (n in c(1500, 20000)) {
    x <- matrix(0, n, 6, dimnames = list(NULL, paste0("flag", 1:6)))
    withr::with_seed(1, for (j in 1:6) x[sample(n, 3 + j), j] <- 1)
    for (task in c("compress", "classify")) expect_length(selected_features(pick(x, 1, task)), 1L)
  }
})

test_that("what is doubtful about a table is told once: symmetric matrices, numbers of rows and times", {
  doubts <- function(x) doubtful_input(open_data(x))
  numbered <- function(v, name = "v") cbind(iris[1:4], stats::setNames(data.frame(v), name))
  # No correlation is beyond 1, and no matrix is symmetric whose halves differ by more than rounding.
  beyond <- replace(cor(mtcars), c(2, 12), 1.5)
  shuffled <- withr::with_seed(1, sample(150))
  told <- list("correlation matrix" = cor(mtcars), "matrix of distances" = as.matrix(dist(mtcars)),
    "covariance matrix" = cov(mtcars), "covariance matrix" = beyond,
    "matrix of neighbours" = 1 * (as.matrix(dist(scale(mtcars))) < 2),
    "'Year'" = longley, "column 'id' seems to number rows" = numbered(sample(150), "id"),
    # By their values: times in steps or as seconds, numbers in any order.
    "'v'" = numbered(1.6e9 + 60 * 1:150), "'v'" = numbered(1.6e9 + cumsum(shuffled)), "'v'" = numbered(shuffled),
    "'v'" = cbind(v = 0:149, iris[1:4]),
    # By their names, also where samples come several times.
    "'patientId'" = numbered(rep(1:15, each = 10), "patientId"), "'subject_id'" = numbered(rep(1:15, 10), "subject_id"))
  for (at in seq_along(told)) expect_match(doubts(told[[at]]), names(told)[at])
  beyond[1, 2] <- 1.5 * (1 + 5e-8)
  for (x in list(beyond, iris[1:4], women, pressure, quakes, mtcars[1:11, ], numbered(shuffled * 10, "paid"),
    numbered(rep(1:15, 10), "humid"))) expect_null(doubts(x))
  expect_length(grep("'patient_id' seems to number rows", pick(cbind(iris[1:4], patient_id = 1:150), 2)$checks), 1L)
  expect_identical(kind_seen(tables$likert[[1L]], "counts")$values, "counts")
  look <- withr::with_seed(1, ufs_look(USArrests, kind = "one unit"))
  expect_identical(look$values, "one unit")
  expect_output(print(look), "as `kind` says")
  expect_true(pick(USArrests, 2, "classify")$params$scale)
  expect_false(pick(USArrests, 2, "classify", kind = "one unit")$params$scale)
  expect_error(ufs_look(iris[1:4], kind = "word"), class = "ufs_error_argument")
})

test_that("rows of unit length only where directions mean something, and empty rows set aside", {
  clusters <- withr::with_seed(1, rbind(matrix(rnorm(80, 0, .2), 40), matrix(rnorm(80, 5, .2), 40),
    matrix(rnorm(80, -5, .2), 40)))
  # One of the clusters at the mean, in two columns and in many.
  for (x in list(clusters, clusters[, rep(1:2, 8)] + withr::with_seed(2, rnorm(120 * 16, sd = .2)))) {
    for (ordered in c(FALSE, TRUE)) {
      fit <- pick(x, m = 3, task = "label", ordered = ordered)
      expect_setequal((selected_samples(fit, as = "index") - 1) %/% 40, 0:2)
    }
  }
  expect_length(selected_samples(pick(iris[, 1, drop = FALSE], m = 3, task = "label")), 3L)
  words <- tables$words[[1L]]
  words[c(5, 50), ] <- 0
  fit <- pick(words, m = 4, task = "label", labelled = 3)
  expect_false(any(c(3, 5, 50) %in% selected_samples(fit, as = "index")))
  expect_identical(fit$params$labelled, c(3L, 5L, 50L))
  expect_output(print(summary(fit)), "2 empty rows set aside")
})

test_that("counts, short texts, arrays, per cents and spectra are told; names tell cells from grades", {
  set.seed(3)
  mu <- exp(rnorm(500, 6, 1.3))
  rna <- matrix(rnbinom(40 * 500, mu = outer(exp(rnorm(40, 0, .3)), mu), size = 5), 40)
  cells <- kind_makers()$cells$make(60, 200)
  texts <- matrix(rbinom(300 * 400, 1, .02), 300) * (1 + rbinom(300 * 400, 1, .05))
  rare <- matrix(rbinom(300 * 400, 2, .015), 300)
  peaks <- sapply(1:25, function(i) exp(-(seq_len(600) - 24 * i)^2 / 18))
  spectra <- 1 + exp(matrix(rnorm(60 * 25, 3, 1), 60)) %*% t(peaks %*% diag(exp(rnorm(25)))) + rnorm(60 * 600, sd = .2)
  array <- 2^(rep(rnorm(400, 8, 1.5), each = 60) + latent_groups(60, 400) * .3) - 60 + rnorm(24000, sd = 30)
  kinds <- list(counts = rna, counts = cells + 1, counts = texts, grades = rare, `one unit` = spectra, `one unit` = array,
    `one unit` = matrix(rpois(length(spectra), 5 * spectra), 60))
  for (at in seq_along(kinds)) expect_identical(kind_seen(kinds[[at]])$values, names(kinds)[at])
  expect_true(kind_seen(array)$raw)
  # Words that all rows have would have no weight.
  expect_identical(planned(open_data(rna), "classify")$transform, list(counts = "log"))
  z <- rbind(c(20, 30, 50), c(10, 80, 10), c(33, 33, 34), c(5, 5, 89))
  expect_identical(whole_kind(z, list(p = 3L), NULL), c("one unit", "whole numbers, rows add up to about 100"))
  expect_null(whole_kind(matrix(2, 4, 3), list(p = 3L), NULL))
  expect_null(raw_kind(withr::with_seed(1, matrix(rnorm(1000), 10)), rep(-1, 100), seq(1, 20, length.out = 100)))
  at <- seq(0, 1, length.out = 300)
  peaks <- vapply(1:6, function(i) exp(-((at - (i - 0.5) / 6) / 0.04)^2), numeric(300))
  x <- withr::with_seed(1, matrix(stats::runif(180), 30) %*% t(peaks) + 0.01 * stats::rnorm(30))
  expect_output(print(ufs_look(x)), "of one unit\\s+.neighbouring columns are alike; standard dev")
  # The same columns in another order are no spectrum.
  mixed <- withr::with_seed(2, sample(300))
  expect_false(grepl("alike", paste(capture.output(print(ufs_look(x[, mixed]))), collapse = " ")))
  cells <- withr::with_seed(2, matrix(rnbinom(60 * 20, size = 1, mu = rep(exp(rnorm(20, -2, 1.5)), each = 60)), 60))
  cells[1:6, 1] <- c(9, 4, 1, 1, 2, 15)
  symbols <- c("CD9", "GZMB", "PPBP", "NKG7", "LYZ", "CST3", "PF4", "IL32", "HBB", "KLF6", "S100A8", "TYROBP", "FCER1G", "CCL5", "MS4A1",
    "CD79A", "LTB", "GNLY", "AIF1", "SELL")
  expect_identical(kind_seen(`colnames<-`(cells, symbols))$values, "counts")
  expect_false(kind_seen(`colnames<-`(cells, paste0("ITEM", 1:20)))$reason == kind_seen(`colnames<-`(cells, symbols))$reason)
  expect_identical(kind_seen(`colnames<-`(1 * (cells > 1), symbols))$values, "grades")
  # Magnetic resonance: narrow peaks of very different height over a noisy base line.
  ppm <- seq(9.5, .5, length.out = 300)
  spectra <- withr::with_seed(3, {
    peaks <- vapply(1:40, function(j) 1 / (1 + ((ppm - runif(1, .7, 9.3)) / .01)^2), ppm)
    height <- exp(matrix(rnorm(40 * 40, 0, .5), 40) + rep(rnorm(40, 0, 1.5), each = 40))
    1e5 * height %*% t(peaks) + matrix(rnorm(40 * 300, sd = 1000), 40)
  })
  expect_identical(kind_seen(`colnames<-`(spectra, ppm))$values, "one unit")
  # Plain numbers of the columns say nothing.
  expect_identical(kind_seen(`colnames<-`(spectra, 1:300))$values, "mixed units")
})

test_that("faults of measuring are named with column, value and count, and are checks of a selection", {
  set.seed(4)
  x <- matrix(round(rnorm(120 * 5, 20, 3), 2), 120, dimnames = list(NULL, letters[1:5]))
  faults <- function(x) paste(doubtful_input(open_data(x)), collapse = "; ")
  expect_identical(faults(x), "")
  with <- function(rows, change) {
    x[rows, "b"] <- change(x[rows, "b"])
    x
  }
  expect_match(faults(with(c(4, 60, 119), function(v) -9999)), "'b' is -9999 in 3 rows, apart from all other")
  expect_match(faults(with(31:72, function(v) 21.5)), "'b' is 21.5 in 42 of 120 rows: a sensor that was stuck")
  expect_match(faults(with(1:120, function(v) pmin(v, 22))), "'b' is 22 in [0-9]+ of 120 rows, at one end")
  expect_match(faults(with(41:70, function(v) 1000 * v)), "rows 41 to 70 of 'b' \\(30 values\\) are about 1000 times")
  expect_match(faults(cbind(x, far = round(1.8 * x[, "b"] + 32, 2))), "'far' is 'b' times 1.8 plus 32")
  # Once is an outlier; a few scores, flags and groups are none of these.
  for (fine in list(with(4, function(v) -4000), cbind(x, round(x[, 1] / 3)), cbind(x, x[, 1] > 20), iris[1:4], mtcars)) {
    expect_identical(faults(fine), "")
  }
  bad <- with(c(4, 60, 119), function(v) -9999)
  expect_match(pick(bad, 2)$checks, "'b' is -9999 in 3", all = FALSE)
  expect_output(print(ufs_look(bad)), "'b' is -9999 in 3")
})

test_that("codes for missing values are named with value and count by every door that prints a fit", {
  z <- withr::with_seed(1, matrix(rnorm(4000), 800)[, rep(1:5, 6)] + matrix(rnorm(24000), 800))
  clean <- matrix(as.numeric(cut(z, c(-Inf, -2, -.7, .7, 2, Inf))), 800, dimnames = list(NULL, paste0("q", 1:30)))
  at <- withr::with_seed(2, sample(24000, 480))
  said <- function(x) missing_codes(open_data(x))
  expect_null(said(clean))
  # In all columns, also those that stand for two answers.
  for (code in c(9, 98, 99, -9)) {
    expect_match(said(replace(clean, at, code)), paste0("^", code, " is in 480 cells of 30 columns, apart from all"))
  }
  expect_match(said(replace(clean, at, c(98, 99))), "98 is in 240 cells of 30 columns, 99 is in 240 cells")
  # In one: outside the range, between whole numbers, beside steps of ten.
  one <- function(x, value, j = 3) {
    x[seq(1, nrow(x), length.out = 12), j] <- value
    said(x)
  }
  for (value in c(9, 99, -9, 2.6)) expect_match(one(clean, value), paste0("^'q3' is ", value, " in 12 rows, apart from"))
  expect_match(one(10 * round(2 * clean), 77), "'q3' is 77 in 12 rows")
  expect_match(one(z, -9999), "'V3' is -9999 in 12 rows")
  # Nines, once; below zero where nothing else is.
  for (code in c(-9, 99, -9999)) expect_match(said(replace(clean, 77, code)), paste0("^'q1' is ", code, " in 1 row, apart from"))
  expect_match(said(replace(z + 50, c(77, 877, 8000), -999)), "^-999 is in 3 cells of 3 columns")
  expect_match(said(replace(clean, at, -1)), "^-1 is in 480 cells of 30 columns")
  expect_match(said(replace(exp(z), at, -9)), "^-9 is in 480 cells of 30 columns")
  expect_null(said(rbind(-99, -98, -97, round(exp(z + 3)))[, 1:2]))
  # Rare counts, marks of a half, a scale from 0 and flags are none.
  counts <- withr::with_seed(1, matrix(rpois(40000, rgamma(200, .3)), 1000))
  for (fine in list(counts, log1p(counts), round(2 * z) / 2, clean - 1, z > 2, iris[1:4], mtcars)) expect_null(said(fine))
  bad <- replace(clean, at, 99)
  words <- "99 is in 480 cells of 30 columns"
  for (fit in list(ufs_css(bad, k = 5), ufs_variance(bad, k = 5), ufs_facility(bad, 5), ufs_css(bad, k = 5, rows = "snv"),
    ufs_css(bad, k = 2, replicates = rep(1:400, 2)), ufs_split(bad, 9, 5))) {
    expect_match(gsub("\\s+", " ", paste(capture.output(fit), collapse = " ")), words, info = class(fit)[1])
  }
  expect_match(ufs_look(bad)$doubts, words, all = FALSE)
  expect_identical(sum(grepl(words, pick(bad, 10)$checks)), 1L)
  if (requireNamespace("Matrix", quietly = TRUE)) {
    expect_match(ufs_css(ufs_data(Matrix::Matrix(bad, sparse = TRUE)), k = 5)$input$codes, words)
  }
})
