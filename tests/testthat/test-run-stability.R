skip_on_cran()

test_that("Nogueira's measure: 1 for equal selections, its formula otherwise", {
  expect_equal(nogueira(matrix(rep(c(TRUE, FALSE), c(3, 7)), 6, 10, byrow = TRUE), .95)$stability, 1)
  # Where all are chosen every time nothing can be said.
  expect_identical(nogueira(matrix(TRUE, 3, 4), .95), list(stability = NA_real_, interval = c(lower = NA_real_, upper = NA_real_)))
  set.seed(1)
  z <- t(replicate(20, seq_len(12) %in% sample.int(12, 4)))
  p <- colMeans(z)
  # With a fixed k it is Kuncheva's index: mean over pairs of (overlap - k^2/p) / (k - k^2/p).
  pairs <- combn(20, 2, function(ij) (sum(z[ij[1], ] & z[ij[2], ]) - 16 / 12) / (4 - 16 / 12))
  expect_equal(nogueira(z, .95)$stability, mean(pairs), tolerance = 1e-12)
  # For selections of different sizes the jackknife estimates the same variance without the paper's formula.
  set.seed(3)
  z <- t(replicate(400, seq_len(12) %in% sample(12, sample(2:8, 1), prob = (1:12)^1.5)))
  without <- vapply(1:400, function(i) nogueira(z[-i, ], .95)$stability, 0)
  expect_equal(unname(diff(nogueira(z, .95)$interval)) / 2,
    qnorm(.975) * sqrt(399 / 400 * sum((without - mean(without))^2)), tolerance = .015)
})

test_that("several methods at once, on the same resamples, with a checkpoint", {
  folder <- withr::local_tempdir()
  run <- function() {
    set.seed(3)
    ufs_stability(mtcars, c("variance", "pca"), k = 2, n_components = 2, n_resamples = 5, checkpoint = folder)
  }
  both <- run()
  expect_s3_class(both, "ufs_stability_list")
  expect_identical(names(both$fits), c("variance", "pca"))
  expect_length(list.files(folder, "^stability"), 10)
  expect_identical(as.data.frame(suppressMessages(run())), as.data.frame(both))
  expect_identical(as.data.frame(both)$method, c("variance", "pca"))
  expect_output(print(both), "variance")
  expect_error(ufs_stability(mtcars, c("variance", "pca"), k = 2, n_comps = 2), class = "ufs_error_argument")
})

test_that("Jaccard is the mean overlap of pairs; stable features and samples are found, and summarised", {
  set.seed(1)
  out <- ufs_stability(mtcars, "variance", k = 2, n_resamples = 12)
  expect_equal(out$jaccard, mean(1 - stats::dist(out$selected, "binary")))
  expect_identical(names(sort(out$frequency, decreasing = TRUE))[1:2], c("disp", "hp"))
  both <- ufs_stability(mtcars, "random", k = 2, what = "both", m = 4, n_resamples = 10)
  expect_length(both$sample_frequency, 32)
  expect_output(print(both), "samples most often")
  withr::local_pdf(NULL)
  expect_identical(plot(both), both)
  expect_identical(plot(both, "samples"), both)
  told <- summary(both)
  expect_identical(told$table, as.data.frame(both))
  expect_identical(told$features$share, sort(unname(both$frequency), decreasing = TRUE)[1:10])
  expect_identical(both$frequency[[told$features$name[1]]], told$features$share[1])
  expect_identical(unname(both$sample_frequency)[told$samples$index], told$samples$share)
  expect_output(print(told), "most frequent samples")
  several <- ufs_stability(mtcars, c("variance", "kmeans_f"), k = 2, n_clusters = 2, n_resamples = 4)
  expect_identical(summary(several)$table, as.data.frame(several))
  expect_output(print(summary(several)), "kmeans_f")
})

test_that("resamples are of some of very many samples, which the print says", {
  x <- withr::with_seed(1, matrix(rnorm(300 * 8), 300, dimnames = list(NULL, letters[1:8])))
  x[, 1:3] <- x[, 1:3] * c(1, 2)
  run <- function(x, ...) withr::with_seed(2, ufs_stability(x, "variance", k = 2, n_resamples = 6, ...))
  all <- run(x)
  expect_null(all$looked_at)
  withr::local_options(ufselect.most_rows = 100)
  some <- run(x)
  rows <- which(rank((1:300 * (sqrt(5) - 1) / 2) %% 1) <= 100)
  of_rows <- run(x[rows, ])
  same <- c("stability", "interval", "frequency", "selected", "size")
  expect_identical(some[same], of_rows[same])
  expect_null(of_rows$looked_at)
  expect_identical(some$size, 50)
  expect_identical(some[c("looked_at", "n")], list(looked_at = 100L, n = 300L))
  expect_output(print(some), "100 of 300 samples drawn, spread over all: the stability of a choice from 50,\\n  usually below that of a choice from 150")
  expect_false(any(grepl("drawn", capture.output(print(of_rows)))))
  # Methods that choose samples have all to choose from.
  rows_too <- withr::with_seed(2, ufs_stability(x, "random", k = 2, what = "both", m = 4, n_resamples = 4))
  expect_identical(rows_too$size, 150)
  expect_length(rows_too$sample_frequency, 300L)
  two <- withr::with_seed(2, ufs_stability(x, c("variance", "random"), k = 2, n_resamples = 4))
  expect_identical(two$fits$random$looked_at, 100L)
  expect_output(print(two), "100 of 300 samples drawn")
  expect_error(run(replace(x, cbind(setdiff(1:300, rows)[1L], 1L), Inf)), class = "ufs_error")
  withr::local_options(ufselect.most_rows = Inf)
  expect_identical(run(x)[same], all[same])
})

test_that("bad arguments and methods that fail are named at once; a method that solves for its number gets it", {
  expect_arguments(k = ufs_stability(mtcars, "variance", k = 11), m = ufs_stability(mtcars, "variance", k = 2, m = 3),
    fraction = ufs_stability(mtcars, "variance", k = 2, fraction = 1),
    fraction = ufs_stability(mtcars, "variance", k = 2, fraction = .01),
    n_resamples = ufs_stability(mtcars, "variance", k = 2, n_resamples = 1),
    method = ufs_stability(mtcars, "pca", k = 2, n_components = 99))
  expect_error(ufs_stability(mtcars, c("variance", "pca"), k = 2, n_components = 99, n_resamples = 4),
    "ufs_pca\\(\\) failed", class = "ufs_error_argument")
  expect_arguments(n_components = ufs_stability(mtcars, c("variance", "pca"), k = 2),
    n_components = ufs_decoys(mtcars, c("variance", "pca")))
  expect_refusals("does not select features" = ufs_stability(iris[1:4], "ted", k = 2, m = 2),
    ufs_stability(iris[1:4], "ted", k = character(), m = 2))
  out <- withr::with_seed(1, ufs_stability(mtcars, "topk", k = 3, n_clusters = 2, alpha_e = 3, n_resamples = 3))
  expect_identical(as.vector(rowSums(out$selected)), c(3, 3, 3))
  told <- summary(withr::with_seed(1, ufs_stability(mtcars, "ted", m = 4, n_resamples = 3)))
  expect_null(told$features)
  expect_s3_class(told$samples, "data.frame")
  both <- ufs_stability(mtcars, c("variance", "random"), k = 2, n_resamples = 3, checkpoint = withr::local_tempdir())
  expect_output(print(both), "variance:.*random:")
  both$fits$variance["checkpoint"] <- list(NULL)
  said <- paste(utils::capture.output(print(both)), collapse = " ")
  expect_identical(c(grepl("variance:", said), grepl("random:", said)), c(FALSE, TRUE))
})

test_that("one column is compared and printed as several are; only what was chosen at all is among the most often", {
  one <- mtcars[, 1, drop = FALSE]
  overlap <- ufs_overlap(list(a = ufs_variance(one), b = ufs_pca(one, 1)), 1)
  expect_equal(overlap$shared, matrix(1, 2, 2, dimnames = rep(list(c("a", "b")), 2)))
  expect_equal(overlap$selected, matrix(TRUE, 1, 2, dimnames = list("mpg", c("a", "b"))))
  expect_identical(members_of(list(1L, integer(), 1L), 1L), matrix(c(TRUE, FALSE, TRUE)))
  expect_output(print(ufs_moments(one)), "32 rows x 1 feature:", fixed = TRUE)
  expect_output(print(ufs_sketch(one, 4, n_vectors = 1)), "samples x 1 feature\n", fixed = TRUE)
  stable <- withr::with_seed(1, ufs_stability(mtcars[, 1:4], "variance", k = 1, n_resamples = 3))
  expect_identical(unname(stable$frequency), c(0, 0, 1, 0))
  expect_match(capture.output(print(stable)), "^  most often: disp \\(100 %\\)$", all = FALSE)
  rows <- withr::with_seed(1, ufs_stability(mtcars, "medoids", m = 1, n_resamples = 2, fraction = .9))
  often <- sort(rows$sample_frequency[which(rows$sample_frequency > 0)], decreasing = TRUE)
  expect_match(capture.output(print(rows)), paste0("(m = 1): ", paste0(names(often), " (", round(100 * often), " %)",
    collapse = ", ")), fixed = TRUE, all = FALSE)
})
