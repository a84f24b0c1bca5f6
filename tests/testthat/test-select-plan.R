skip_on_cran()

x <- `dimnames<-`(planted(40, 20, informative = 20)$x, list(paste0("s", 1:40), paste0("f", 1:20)))

pick <- function(..., seed = 1) withr::with_seed(seed, suppressMessages(ufs_select(...)))
calm <- function(...) suppressWarnings(pick(...))

# On lines as long as they come.
printed <- function(fit) withr::with_options(list(width = 1000), capture.output(print(fit)))

test_that("every task applies its method", {
  wanted <- c(compress = "css", classify = "css", cluster = "consensus", label = "medoids")
  for (task in names(wanted)) {
    fit <- pick(x, 5, task)
    expect_identical(fit$method, wanted[[task]])
    expect_s3_class(fit, c("ufs_select", paste0("ufs_", wanted[[task]]), "ufs"))
    if (task == "label") expect_length(selected_samples(fit), 5L) else
      expect_identical(predict(fit, x), x[, selected_features(fit)])
    lines <- printed(fit)
    expect_match(lines, paste0("ufs_", wanted[[task]], "\\(\\)"), all = FALSE)
    expect_lte(length(lines), 12L)
    expect_match(lines, "worth .*; [0-9]+ random (columns|samples)", all = FALSE)
    expect_match(lines, "checks +(Nothing looks wrong|not clearly better|worse)", all = FALSE)
    more <- capture.output(print(summary(fit)))
    expect_match(more, "on your data .* of 20 draws", all = FALSE)
    expect_match(more, paste0("  code .*ufs_", wanted[[task]], "\\(x = x"), all = FALSE)
    expect_identical(intersect(lines[-1L], more), character())
    narrow <- withr::with_options(list(width = 60, ufselect.width = NULL), capture.output(print(fit)))
    expect_lte(max(nchar(narrow[-c(1, grep("^  (chosen|code|status)", narrow))])), 60L)
    in_one <- function(lines) gsub(" +", " ", paste(lines, collapse = " "))
    expect_identical(in_one(narrow), in_one(lines))
  }
  expect_false(identical(pick(x, 5, "compress")$params$mu_rel, pick(x, 5, "classify")$params$mu_rel))
  expect_identical(pick(x, 5)$task, "compress")
})

test_that("what is seen decides", {
  expect_identical(pick(x, 4, "classify", noise = TRUE)$method, "consensus")
  expect_identical(pick(x, 4, "label", ordered = TRUE)$method, "facility")
  expect_identical(pick(x, 4, "label", similarity = "heat")$method, "facility")
  # The same columns whatever the units of two of them.
  other <- transform(mtcars, wt = wt * 453.6, disp = disp / 61)
  expect_identical(selected_features(pick(mtcars, 4, "cluster")), selected_features(pick(other, 4, "cluster")))
  look <- list(n = 5000, p = 1500, values = "one unit")
  asked <- list(task = "cluster", k = 3, n_clusters = 4, noise = FALSE, ordered = FALSE)
  plan <- selection_plan(list(n = 5000L, p = 1500L), look, asked, list())
  expect_identical(plan$method, "mcfs")
  # Of many samples and few columns some samples are enough.
  few <- selection_plan(list(n = 5000L, p = 250L, kind = "source"), look, asked, list())
  expect_identical(few[c("method", "samples")], list(method = "consensus", samples = quote(sort(sample.int(5000L, 2000L)))))
  asked$samples <- TRUE
  expect_identical(selection_plan(list(n = 5000L, p = 250L), look, asked, list())$method, "mcfs")
  expect_identical(plan$args, list(n_clusters = 4, n_features = 3L, k = 3L, scale = TRUE))
})

test_that("noise is found, and k with it, but nobody looks for it to label", {
  noisy <- withr::with_seed(3, cbind(planted(90, 8, informative = 8)$x, matrix(rnorm(90 * 80), 90)))
  colnames(noisy) <- paste0("v", 1:88)
  fit <- pick(noisy, "auto", "classify")
  expect_identical(fit$method, "consensus")
  expect_lt(fit$size, 20)
  expect_gt(mean(selected_features(fit) %in% paste0("v", 1:8)), .5)
  expect_match(printed(fit), "columns look like noise", all = FALSE)
  expect_match(printed(fit), paste0("k = ", fit$size, ": .* better than noise"), all = FALSE)
  worth <- fit$worth[fit$worth$measure == "noise", ]
  expect_lt(worth$chosen, worth$random)
  expect_identical(worth$beaten, 20L)
  expect_identical(pick(noisy, 5, "classify", noise = FALSE)$method, "css")
  fit <- pick(x, m = 5, task = "label")
  expect_identical(withr::with_seed(1, {
    look_unchecked(x)
    selected_samples(with_seed(draw_seeds(1L)[[1L]], ufs_medoids(x, m = 5)))
  }), selected_samples(fit))
  expect_null(fit$look$noise)
  expect_false(any(grepl("noise\\b.*(look|better)|like noise", printed(fit))))
  # The number of clusters is found.
  for (centres in c(3, 6)) {
    z <- withr::with_seed(1, matrix(rnorm(centres * 30, sd = 4), centres)[rep_len(seq_len(centres), 120), ] +
      rnorm(120 * 30))
    expect_identical(withr::with_seed(1, found_clusters(open_data(z), TRUE)), as.integer(centres))
  }
})

test_that("the code repeats the selection in a session of its own, for every task and argument", {
  long <- call("ufs_css", x = quote(iris), blocks = rep(1:2, 200))
  expect_match(repeat_code(long, NULL, quote(f(blocks = batch))), "blocks = batch")
  # Arguments of a function around it have no name there.
  expect_match(repeat_code(long, NULL, quote(f(blocks = ..5))), "c(1L, 2L, 1L", fixed = TRUE)
  expect_identical(exact_text(.1), "0.1")
  expect_null(exact_text(new.env()))
  expect_identical(repeat_code(quote(ufs_css(x = iris, k = 2L)), 7L, quote(f())), "set.seed(7)\nufs_css(x = iris, k = 2L)")
  skip_processes()
  counts <- withr::with_seed(1, `rownames<-`(matrix(rpois(4000, 1), 40), rownames(x)))
  gaps <- replace(x, 7, NA)
  long <- paste0("s", 1:12)
  calls <- alist(
    ufs_select(x, 5), ufs_select(x, 5, "classify"), ufs_select(x, 5, "cluster"), ufs_select(x, 5, "label"),
    ufs_select(x, "auto", "cluster"), ufs_select(x, 5, "cluster", n_clusters = 3), ufs_select(counts, 4, "cluster"),
    ufs_select(x, 5, "classify", noise = TRUE), ufs_select(x, m = 4, task = "label", labelled = long),
    ufs_select(x, m = 4, task = "label", ordered = TRUE, labelled = 1:7), ufs_select(x, 4, mu_rel = 1 / 3),
    ufs_select(x, 4, mu = 2 / 7), ufs_select(x[, 3:20], 4, "cluster", members = c("pca", "kmeans_f")),
    ufs_select(x, 4, samples = 1:30), ufs_select(gaps, 4, "classify", na = "median"),
    ufs_select(x, 3, "cluster", control = ufs_control(max_iter = 3, warn = FALSE)),
    ufs_select(many, 2, "cluster", members = c("pca", "variance")))
  many <- withr::with_seed(1, latent_groups(4100, 5))
  set.seed(8)
  fits <- lapply(calls, function(call) suppressWarnings(suppressMessages(eval(call))))
  folder <- withr::local_tempdir()
  save(x, counts, gaps, many, file = file.path(folder, "data.rda"))
  lines <- c("library(ufselect)", "load(\"data.rda\")", "out <- list()")
  for (fit in fits) lines <- c(lines, paste0("out[[length(out) + 1]] <- {\n", fit$code, "\n}"))
  writeLines(c(lines, "saveRDS(out, \"out.rds\")"), file.path(folder, "code.R"))
  withr::with_dir(folder, system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", "code.R"),
    stdout = FALSE, stderr = FALSE, env = paste0("R_LIBS=", paste(.libPaths(), collapse = ":"))))
  expect_true(file.exists(file.path(folder, "out.rds")))
  again <- readRDS(file.path(folder, "out.rds"))
  for (i in seq_along(fits)) for (part in c("method", "feature_ranking", "sample_ranking")) {
    expect_identical(again[[i]][[part]], fits[[i]][[part]], info = paste(deparse(calls[[i]]), collapse = ""))
  }
})

test_that("what a choice is worth, beside random ones", {
  fit <- pick(x, 5, "compress")
  expect_identical(fit$worth$measure, c("explained", "neighbours", "noise"))
  expect_true(all(fit$worth$draws == 20))
  expect_gt(fit$worth$chosen[1], fit$worth$random[1])
  # Never above what the same columns explain of the rows that chose, nor is any other choice.
  expect_lt(fit$worth$chosen[1], fit$worth$captured[1])
  label <- pick(x, m = 6, task = "label")
  z <- unit_rows(scale(x))
  d <- as.matrix(dist(z))^2
  left <- function(rows) mean(apply(d[, rows], 1, min)) / mean(rowSums(sweep(z, 2, colMeans(z))^2))
  expect_equal(label$worth$chosen, left(selected_samples(label)))
  more <- pick(x, m = 3, task = "label", labelled = 1:5)
  expect_equal(more$worth$chosen, left(c(selected_samples(more, as = "index"), 1:5)))
  row <- quality_row("noise", 1, c(1, 2, 3, 0), 9, more_is_better = FALSE)
  expect_identical(unlist(row[c("beaten", "tied")]), c(beaten = 2L, tied = 1L))
  verdict <- function(beaten, tied = 0) quality_verdict(data.frame(draws = 20, beaten, tied))
  expect_identical(verdict(c(19, 18, 1, 2, 0), c(0, 2, 0, 0, 10)),
    c("better", "not clearly better", "worse", "not clearly better", "not clearly better"))
  # Choices that random ones never beat, but often meet, are not called worse or no better.
  fit <- structure(list(size = 6L, task = "compress", look = list(n = 30L)), class = "ufs_select")
  row <- data.frame(measure = "neighbours", chosen = .7, random = .6, draws = 20L, bound = NA, rows = 30L)
  said <- function(beaten, tied) quality_words(cbind(row, beaten, tied), fit)
  expect_match(said(18, 2), "60 %: not clearly better \\(better in 18 of 20 draws, tied in 2\\)")
  expect_match(said(12, 0), "not clearly better \\(better in 12 of 20 draws\\)$")
  expect_match(said(0, 1), "worse in 19 of 20 draws$")
  expect_match(said(19, 1), ": better in 19 of 20 draws$")
  expect_null(pick(x[1:5, ], 2)$worth)
  expect_null(pick(x, 20)$worth)
})

test_that("what looks wrong is said, and no benefit is promised where all is chosen, or all but one", {
  counts <- withr::with_seed(2, matrix(rbinom(60 * 110, 1, .01), 60))
  counts[cbind(1:30, 1:30)] <- 1
  suppressWarnings(expect_warning(fit <- pick(counts, 3, "compress"), class = "ufs_warning_empty"))
  expect_match(fit$checks, "all 0 in .* of the rows", all = FALSE)
  expect_match(capture.output(print(summary(fit))), "all 0 in", all = FALSE)
  two <- cbind(rep(0:1, 20), rep(0:1, 20) * 2, matrix(rnorm(40 * 6, sd = .01), 40))
  expect_match(pick(two, 1, "cluster", n_clusters = 4, members = c("pca", "variance"), scale = FALSE)$checks,
    "2 different rows, fewer than 4 clusters", all = FALSE)
  fit <- suppressWarnings(pick(cbind(x[, 1:6], 3), 6, "compress"))
  fit$size <- 7L
  expect_match(fit_checks(fit, chosen_indices(fit)), "1 of the chosen columns have no score", all = FALSE)
  for (task in c("compress", "classify", "cluster")) for (k in 10:11) {
    fit <- calm(mtcars, k, task)
    expect_match(fit$checks, "^all columns that vary, or all but one, are chosen: this saves nothing", all = FALSE)
    expect_false(any(grepl("benchmarks", capture.output(fit))))
  }
  expect_false(any(grepl("this saves nothing", calm(mtcars, 9, "compress")$checks)))
  expect_match(calm(mtcars, m = 31, task = "label")$checks, "^all samples, or all but one", all = FALSE)
})

test_that("arguments go on to the method and decide for it, data stay out of the call, errors name their argument", {
  expect_identical(pick(x, m = 4, task = "label", labelled = c("s1", "s2"), similarity = "heat")$params$labelled, 1:2)
  expect_identical(pick(x, 4, "label")$params$m, 4L)
  expect_identical(pick(x, 4, "cluster", n_clusters = 3, members = "pca")$params$n_clusters, 3L)
  expect_equal(pick(x, 4, "classify", mu_rel = .5)$params$mu_rel, .5)
  expect_lt(object.size(do.call(ufs_select, list(x, 4, "classify"))$call), 5000)
  expect_lt(nchar(do.call(ufs_select, list(x, 4, "classify"))$code), 200)
  expect_identical(dim(predict(pick(x, 4), x, type = "reconstruction")), dim(x))
  expect_refusals(selected_samples(pick(x, 4)), selected_features(pick(x, 4, "label")))
  expect_arguments(k = ufs_select(x), m = ufs_select(x, task = "label"), k = ufs_select(x, 21),
    m = ufs_select(x, m = 41, task = "label"), m = ufs_select(x, 3, m = 2), k = ufs_select(x, 3, m = 2, task = "label"),
    task = ufs_select(x, 3, "explain"), n_clusters = ufs_select(x, 3, "classify", n_clusters = 2),
    noise = ufs_select(x, 3, "label", noise = TRUE), noise = ufs_select(x, 3, noise = NA),
    ordered = ufs_select(x, 3, ordered = TRUE), k = ufs_select(x, "many"))
  expect_error(ufs_select(x, 3, unknown = 2), class = "ufs_error_argument")
  noisy <- withr::with_seed(3, cbind(planted(60, 5, informative = 5)$x, matrix(rnorm(60 * 60), 60)))
  for (noise in c(TRUE, FALSE)) {
    expect_identical(pick(noisy, 4, "classify", noise = noise, swaps = 1)$method, "css")
    expect_identical(pick(noisy, 4, "classify", noise = noise, strength = 1)$method, "consensus")
  }
  expect_refusals("ufs_css" = pick(noisy, 4, "compress", members = "pca"),
    pick(noisy, 4, "classify", swaps = 1, members = "pca"))
  fit <- pick(noisy, 4, "compress")
  expect_identical(fit$method, "css")
  expect_identical(fit$params$mu_rel, 0)
})

test_that("counts are weighted and brought to one length, unless the user says otherwise or compresses", {
  skip_if_not_installed("Matrix")
  # Three topics of 40 words each beside common words.
  topic <- rep(1:3, each = 30)
  counts <- withr::with_seed(3, {
    rate <- matrix(.05, 90, 160)
    for (t in 1:3) rate[topic == t, 40 * (t - 1) + 1:40] <- .5
    matrix(rpois(length(rate), rate), 90, dimnames = list(paste0("d", 1:90), paste0("w", 1:160)))
  })
  for (x in list(counts, Matrix::Matrix(counts, sparse = TRUE))) {
    fit <- calm(x, m = 3, task = "label", ordered = TRUE)
    expect_match(fit$code, 'counts = "tfidf", rows = "unit"', fixed = TRUE)
    expect_setequal(topic[selected_samples(fit, as = "index")], 1:3)
    # How long a document is does not matter to it.
    longer <- x
    longer[5, ] <- 7 * longer[5, ]
    expect_identical(selected_samples(calm(longer, m = 3, task = "label", ordered = TRUE)), selected_samples(fit))
    for (task in c("classify", "cluster")) expect_identical(calm(x, 5, task)$input$transform$counts, "tfidf")
    expect_null(calm(x, 5, "compress")$input$transform)
    expect_null(calm(x, 5, "classify", counts = "none")$input$transform)
    expect_identical(calm(x, 5, "classify", counts = "log")$input$transform$counts, "log")
    # New rows come as counts.
    fit <- calm(x, 5, "classify")
    expect_equal(as.matrix(predict(fit, x)), as.matrix(ufs_data(x, counts = "tfidf", rows = "unit"))[, selected_features(fit)])
  }
})

test_that("k = \"auto\" is a choice where fewer columns do, leaves out likely noise, and keeps and draws its curve", {
  copies <- withr::with_seed(1, planted(80, 6, informative = 6)$x[, rep(1:6, 10)] + rnorm(80 * 60, sd = .03))
  for (task in c("compress", "classify", "cluster")) {
    fit <- pick(copies, "auto", task)
    expect_lt(fit$size, 40)
    expect_match(fit$decided[["k"]], "smallest number")
  }
  expect_identical(pick(withr::with_seed(1, matrix(rnorm(60 * 6), 60)), "auto", "compress")$size, 6L)
  fit <- pick(planted(80, 40, informative = 40)$x, "auto", "cluster")
  curve <- fit$size_curve
  expect_named(curve, c("number", "measure", "value", "low", "high"))
  expect_identical(curve$value[nrow(curve)], 1)
  expect_true(all(curve$low <= curve$high))
  expect_match(printed(summary(fit)), "nearest neighbours kept at .* %", all = FALSE)
  withr::local_pdf(NULL)
  expect_identical(plot(fit, "size"), fit)
  drawn <- picture_of_fit(fit, "size", NULL, NULL, NULL, NULL)
  expect_equal(drawn$table$y, curve$value)
  expect_true(drawn$percent)
  if (requireNamespace("ggplot2", quietly = TRUE)) expect_s3_class(ggplot2::autoplot(fit, "size"), "ggplot")
  expect_error(plot(pick(mtcars, 3), "size"), class = "ufs_error_argument")
  # Eight correlated columns and their shuffled copies.
  real <- withr::with_seed(1, matrix(rnorm(240 * 3), 240) %*% matrix(rnorm(24), 3) + .3 * rnorm(240 * 8))
  for (seed in 1:3) {
    x <- withr::with_seed(seed, cbind(real, do.call(cbind, lapply(1:4, function(i) apply(real, 2, sample)))))
    for (task in c("classify", "cluster")) expect_lte(pick(x, "auto", task)$size, 20L)
  }
  # Where the estimate is above one half, but not its whole range.
  expect_gt(ufs_look(x)$noise, .5)
  answer <- withr::with_seed(1, planned_size(open_data(x), "consensus", list(n_clusters = 4), "cluster", real = 10L))
  expect_lte(answer$k, 10L)
  words <- "Nothing that can be seen without labels tells how many samples are needed: give a number"
  flowers <- iris[, 1:4]
  expect_refused(pick(flowers, m = "auto", task = "label"), words)
  expect_refused(pick(flowers, "auto", "label"), words)
  expect_refused(ufs_size(flowers, task = "label"), words)
  said <- expect_error(pick(flowers, task = "label"), class = "ufs_error_argument")
  expect_false(grepl("auto", conditionMessage(said)))
})

test_that("the curve of neighbours is that of all rows, the answer where it reaches its share, with its reason", {
  z <- withr::with_seed(1, scale(planted(60, 30, informative = 15)$x))
  ranking <- withr::with_seed(2, sample(30))
  curve <- withr::with_seed(3, kept_curve(z, ranking, c(2, 10, 30)))
  near <- nearest(z, 5)
  other <- nearest(z[, ranking[1:10]], 5)
  expect_equal(curve$value[2], mean(vapply(1:60, function(i) mean(near[, i] %in% other[, i]), 0)))
  line <- data.frame(number = c(2, 8, 32), value = c(.2, .4, .8))
  expect_identical(vapply(c(.1, .4, .6), function(value) number_at(line, value), 0), c(2, 8, 16))
  limits <- list(keep = .6, share = .25, least = 3, most = 10)
  wanted <- function(p, ...) wanted_size(line, utils::modifyList(limits, list(...)), p)
  expect_identical(c(wanted(32), wanted(400), wanted(32, share = .9), wanted(400, keep = .4)), c(8, 10, 10, 8))
  expect_identical(wanted_size(line, list(keep = .4, least = 12), 32), 12)
  curve <- data.frame(number = c(2, 5, 9), value = c(.2, .8, 1))
  expect_match(size_reason(9L, 9L, curve, "cluster"), "all columns: on real sets 10 at least")
  expect_match(size_reason(14L, 14L, curve, "classify"), "all columns: on real sets 60 at least")
  expect_match(size_reason(30L, 30L, curve, "cluster"), "fewer keep less than about 70 %")
  worth <- rbind(quality_row("noise", 0.05, rep(c(0.05, 0.3), 10), 40, more_is_better = FALSE),
    quality_row("noise", 0.5, rep(0.5, 20), 40, more_is_better = FALSE), quality_row("explained", 0.5, rep(0.4, 20), 40))
  expect_identical(without_noise(worth, 4L), c(TRUE, FALSE, FALSE))
})

test_that("one number for one thing, and code that chooses the same, for every kind and task", {
  # Of few columns there is nothing to compare.
  tables <- Filter(function(table) NCOL(table[[1L]]) >= 5L, kind_tables())
  # Each kind has two tasks in turn.
  for (at in seq_along(tables)) {
    name <- names(tables)[at]
    x <- tables[[at]][[1L]]
    for (task in if (at %% 2 == 1) c("compress", "cluster") else c("classify", "label")) {
      said <- paste(name, task)
      fit <- suppressWarnings(pick(x, 4, task, seed = 3))
      again <- suppressWarnings(suppressMessages(eval(parse(text = fit$code))))
      expect_identical(again$feature_ranking, fit$feature_ranking, info = said)
      expect_identical(again$sample_ranking, fit$sample_ranking, info = said)
      if (task == "label") next
      own <- fit$worth[fit$worth$measure == "explained", ]
      held <- suppressWarnings(suppressMessages(ufs_captured(fit, x, 4)))
      expect_equal(held$captured, own$captured, tolerance = 1e-8, info = said)
      expect_lte(own$chosen, own$captured + 1e-8)
      expect_equal(held$bound, own$bound, tolerance = 1e-8, info = said)
      if ("captured" %in% names(fit$certificate)) {
        expect_equal(fit$certificate[["captured"]], own$captured, tolerance = 1e-8, info = said)
      }
      # The same words in the explorer.
      model <- list(fits = list(a = fit), features = TRUE, x = x)
      expect_match(suppressWarnings(captured_words(model, "a", 4)), paste0(captured_of(fit), ": ", per_cent(own$captured)),
        fixed = TRUE, info = said)
      expect_match(compared_words(fit), captured_of(fit), all = FALSE, fixed = TRUE, info = said)
    }
  }
})

test_that("what columns foretell of rows left out is that of a ridge regression on the other rows, wide or not", {
  z <- withr::with_seed(4, scale(matrix(rnorm(40 * 3), 40) %*% matrix(rnorm(27), 3) + rnorm(40 * 9)))
  sets <- list(c(2, 5), 7, 1:9)
  own <- withr::with_seed(8, foretold_share(z, sets, c(1, 3:9)))
  third <- withr::with_seed(8, sample(rep_len(1:3, 40)))
  literal <- vapply(sets, function(set) {
    ridge <- sum(z[, set]^2) / length(set) / 15
    error <- 0
    for (f in 1:3) {
      # Rows that pull the coefficients, but not the intercept, to 0.
      a <- rbind(cbind(1, z[third != f, set]), cbind(0, sqrt(ridge) * diag(length(set))))
      for (j in c(1, 3:9)) {
        b <- qr.coef(qr(a), c(z[third != f, j], rep(0, length(set))))
        error <- error + sum((z[third == f, j] - cbind(1, z[third == f, set]) %*% b)^2)
      }
    }
    max(sum(z[, setdiff(set, 2)]^2), sum(z[, -2]^2) - error) / sum(z[, -2]^2)
  }, 0)
  expect_equal(own, literal, tolerance = 1e-10)
  expect_true(all(own < captured_table(z, sets)$captured + 1e-12))
  # All columns leave nothing to foretell.
  expect_equal(own[3L], 1)
  # Units far apart, as where an identifier stands among measurements.
  one <- function(z) withr::with_seed(8, foretold_share(z, list(2), c(1, 3:9)))
  expect_equal(one(z * rep(c(1, 1e15, 1), c(40, 40, 280))), one(z))
  x <- withr::with_seed(4, matrix(rnorm(30 * 4), 30) %*% matrix(rnorm(4 * 80), 4) + rnorm(30 * 80))
  x <- x + rep(1:80, each = 30)
  sets <- list(1:50, 80:31, c(1:20, 41:71))
  wide <- withr::with_seed(8, foretold_share(x, sets, 3:60))
  expect_equal(wide, withr::with_seed(8, foretold_share(x, c(sets, 1L), 3:60))[1:3], tolerance = 1e-10)
  # Six rows are extreme, each in its own way: six columns explain them, and foretell none of them.
  heavy <- withr::with_seed(5, matrix(rnorm(60 * 12), 60))
  heavy[1:6, ] <- 100 * heavy[1:6, ]
  own <- pick(`colnames<-`(heavy, paste0("v", 1:12)), 6, "compress", kind = "one unit")$worth[1, ]
  expect_gt(own$captured, .99)
  expect_lt(own$chosen, .6)
  expect_match(quality_words(transform(own, chosen = -.1), list(size = 6L, task = "compress", look = list(n = 60))),
    "of rows left out nothing")
})

test_that("a promise of real sets holds for nine of ten sets more; a measure that did not go with the gain is said", {
  sets <- data.frame(set = paste0("s", 1:39), values = rep(c("one unit", "counts"), c(20, 19)), score = c(1:20, 101:119),
    random = 0, all = NA, gain_sd = 1)
  whole <- gain_promise(sets)
  expect_identical(whole[c("sets", "same_kind", "median")], list(sets = 39L, same_kind = FALSE, median = 20))
  # 40 places for one set more, and the second of 39 on each side leaves four of them out.
  expect_identical(c(whole$low, whole$high), c(2, 118))
  same <- gain_promise(sets, "one unit")
  expect_identical(unlist(same[c("sets", "low", "high", "ahead")]), c(sets = 20, low = 1, high = 20, ahead = 20))
  expect_true(same$same_kind)
  expect_true(gain_promise(sets, "counts")$same_kind)
  expect_false(gain_promise(sets[-39, ], "counts")$same_kind)
  expect_null(gain_promise(sets, over = "all"))
  rows <- data.frame(score = 1:9, random = 0, explained = 9:1, neighbours = 1:9, distance = NA)
  expect_match(predicts(rows), "the explained variance did not foretell the gain")
  expect_false(grepl("neighbours", predicts(rows)))
  expect_null(predicts(rows[c("score", "random", "neighbours")]))
})

test_that("the print has the range of single splits, sets with as much noise, and what changed since", {
  # Splits of a set scatter by twice as much as the sets do: what a user sees is wider than means.
  held <- withr::with_seed(1, replicate(1000, {
    found <- gain_promise(data.frame(set = 1:40, values = "a", score = rnorm(40), random = 0, gain_sd = 2))
    split <- rnorm(1) + 2 * rnorm(1)
    c(split >= found$split_low && split <= found$split_high, split >= found$low && split <= found$high)
  }))
  expect_equal(rowMeans(held)[1], .9, tolerance = .025)
  expect_lt(rowMeans(held)[2], .7)
  table <- utils::read.csv(system.file("benchmarks", "results", "select.csv", package = "ufselect"))
  for (task in c("classify", "cluster")) {
    part <- table[table$task == task & table$noise == 10, ]
    for (share in c(.04, .3, .8)) {
      alike <- part[cut(part$chance, c(-Inf, .1, .5, Inf)) %in% cut(share, c(-Inf, .1, .5, Inf)), ]
      said <- selection_record(task, TRUE, share = share)
      expect_match(said, sprintf("^on %d real sets", nrow(alike)))
      expect_match(said, sprintf("%+.1f points in the median, nine in ten splits from", median(alike$score - alike$random)), fixed = TRUE)
    }
    expect_match(selection_record(task, TRUE, share = .8), "more than half of the chosen like noise")
    expect_match(selection_record(task, FALSE), "nine in ten splits from .*; means of 10 splits from")
  }
  file <- withr::local_tempfile(fileext = ".csv")
  writeLines(c("\"table\",\"value\"", "gain,2026-01-02: another rule", "noise,2026-01-03: another count"), file)
  own <- moved_since
  environment(own) <- list2env(list(system.file = function(...) file), parent = environment(moved_since))
  expect_identical(own("gain"), " (computed before this changed: another rule)")
  expect_null(own("random"))
})

test_that("rows are drawn beside every constraint, weights leave the methods that take them, and the print says so", {
  many <- drawn_table()
  names <- colnames(many)
  run <- function(...) calm(many, ..., task = "cluster", n_clusters = 3)
  fit <- run(4, include = "v7")
  expect_match(fit$decided[["samples"]], "4000 of 4100 samples, drawn at random to save time", fixed = TRUE)
  expect_identical("v7" %in% selected_features(fit), TRUE)
  expect_identical("v7" %in% selected_features(run(4, exclude = "v7")), FALSE)
  batch <- rep_len(c("a", "b"), 4100)
  shifted <- many
  shifted[, 1:4] <- shifted[, 1:4] + 50 * (batch == "a")
  own <- withr::with_seed(1, suppressWarnings(suppressMessages(ufs_select(shifted, 4, "cluster", n_clusters = 3,
    blocks = batch, kind = "one unit"))))
  expect_setequal(selected_features(own), selected_features(run(4, blocks = batch, kind = "one unit")))
  # What is long is written as the user wrote it.
  expect_match(own$code, "blocks = batch", fixed = TRUE)
  # Rows that are chosen are not asked for here.
  expect_error(run(4, labelled = 1:9), class = "ufs_error_argument", "`labelled`: ufs_select() chooses no rows", fixed = TRUE)
  w <- rep_len(c(1, 3), 40)
  expect_identical(pick(x, 4, "classify", weights = w)$method, "css")
  expect_false("weights" %in% names(pick(x, 4, "classify", weights = w)$decided))
  for (task in c("classify", "cluster")) {
    fit <- pick(x, 4, task, noise = TRUE, weights = w)
    expect_identical(fit$method, "pca")
    expect_match(fit$decided[["weights"]], "samples have weights")
  }
  expect_identical(pick(drawn_table(), 4, "cluster", weights = rep_len(c(1, 3), 4100))$method, "pca")
  expect_arguments(weights = pick(x, 4, "cluster", n_clusters = 3, weights = w))
})

test_that("rare flags are in the rows drawn; k = \"auto\" answers where columns vary in half of the rows only", {
  flags <- drawn_table()
  flags[, 1:3] <- 0
  flags[cbind(c(7, 900, 4050), 1:3)] <- 1
  expect_setequal(rare_rows(open_data(flags), 5L), c(7, 900, 4050))
  expect_warning(fit <- pick(flags, "auto", "cluster", include = c("v1", "v2", "v3")), NA)
  expect_true(all(c("v1", "v2", "v3") %in% selected_features(fit)))
  x <- withr::with_seed(1, matrix(stats::rnorm(60 * 30), 60))
  words <- "all columns are chosen, and most of them look like noise"
  expect_true("most of the chosen columns look like noise" %in% pick(x, "auto", "compress")$checks)
  expect_true(words %in% pick(x, 30)$checks)
  expect_false(words %in% pick(x, 10)$checks)
  expect_false(words %in% pick(USJudgeRatings, 12)$checks)
  fit <- calm(unclass(crimtab), "auto")
  expect_identical(fit$status, "converged")
  expect_lte(fit$size, 20L)
  few <- matrix(5, 30, 6)
  few[1, ] <- 6:11
  for (seed in 1:3) expect_identical(pick(few, "auto", seed = seed)$size, 6L)
})

test_that("k = \"auto\" keeps to constraints, has room for the smallest group, and fewer than asked for are said", {
  names <- colnames(x)
  for (task in c("compress", "cluster")) {
    fit <- pick(x, "auto", task, include = names[1:19])
    expect_gte(fit$size, 19L)
    expect_true(all(names[1:19] %in% selected_features(fit)))
    fit <- pick(x, "auto", task, exclude = names[1:17])
    expect_lte(fit$size, 3L)
    expect_silent(selected_features(fit))
    expect_true(all(selected_features(fit) %in% names[18:20]))
  }
  expect_match(printed(pick(x, 15, "classify", groups = rep(c("a", "b", "c", "d"), c(8, 8, 3, 1)))),
    "only [0-9]+ of 15 features are chosen: the constraints \\(groups\\) leave no more", all = FALSE)
  x <- withr::with_seed(103, matrix(stats::rcauchy(1200), 30))
  for (task in c("compress", "cluster")) {
    expect_gte(calm(x, "auto", task, groups = rep(1:14, c(2, 3, rep(3, 11), 2)))$size, 2L)
  }
  found <- list(k = 1L, reason = "by noise")
  data <- ufs_data(x[, 1:6], groups = c(1, 1, 1, 2, 2, 2))
  expect_identical(within_constraints(found, data), list(k = 3L, reason = "the smallest group of columns has as many"))
  expect_identical(within_constraints(list(k = 4L, reason = "seen"), data)$reason, "seen")
  expect_identical(within_constraints(found, ufs_data(x[, 1:6], include = c(1, 3)))$reason, "as many columns must be in")
  expect_identical(within_constraints(list(k = 6L, reason = ""), ufs_data(x[, 1:6], exclude = 1)),
    list(k = 5L, reason = "all columns that may be chosen"))
  # In a half of the rows some columns have one or two that count; in all rows none has.
  x <- `colnames<-`(withr::with_seed(3, matrix(stats::rpois(2000, .2), 50)), paste0("v", 1:40))
  for (half in list(1:25, 26:50)) expect_message(ufs_css(x[half, ], 5), class = "ufs_message_few_rows")
  expect_message(ufs_css(x, 5), NA)
  expect_message(ufs_select(x, "auto"), NA)
})

test_that("the print says what the data lost on the way in and what was asked for, as every fit's does", {
  set.seed(1)
  e <- data.frame(matrix(stats::rnorm(3000), 300))
  for (j in 1:10) e[sample(300, 40), j] <- NA
  omitted <- ufs_select(e, k = 3, na = "omit")
  lost <- length(omitted$input$dropped_samples)
  expect_identical(lost, sum(rowSums(is.na(e)) > 0))
  said <- paste(utils::capture.output(print(omitted)), collapse = "\n")
  expect_match(said, paste(lost, "of 300 samples"), fixed = TRUE)
  expect_match(omitted$checks, paste0("na = \"omit\" left out ", lost, " of 300 rows"), fixed = TRUE, all = FALSE)
  expect_false(grepl("Nothing looks wrong", said))
  half <- e
  half[, 1:2] <- lapply(half[, 1:2], function(v) replace(v, 1:200, NA))
  filled <- ufs_select(half, k = 3, na = "median", include = "X1")
  said <- gsub("\\s+", " ", paste(utils::capture.output(print(filled)), collapse = " "))
  expect_match(filled$checks, "more than a fifth was filled in of column 'X1'", fixed = TRUE, all = FALSE)
  expect_match(said, "constraints 1 column in", fixed = TRUE)
  expect_match(said, "more than a fifth of 2 columns", fixed = TRUE)
  expect_identical(ufs_data(half, na = "median")[, 2:1]$input$filled_share, rev(unname(colMeans(is.na(half)))[1:2]))
})

test_that("curves are labelled by TED in the heat kernel of their leading components, and the code repeats it", {
  spectra <- withr::with_seed(3, {
    peak <- function(at) exp(-outer(seq_len(80), at, "-")^2 / 200)
    matrix(rexp(60 * 6), 60) %*% t(peak(c(10, 25, 35, 50, 60, 75))) + rnorm(60) + matrix(rnorm(60 * 80, sd = 1e-3), 60)
  })
  for (rows in c("none", "snv")) {
    fit <- ufs_select(spectra, m = 15, task = "label", rows = rows)
    parts <- prcomp(as.matrix(ufs_data(spectra, rows = rows)))
    q <- which(cumsum(parts$sdev^2) / sum(parts$sdev^2) >= .99)[1L]
    by_hand <- ufs_ted(parts$x[, seq_len(q)], m = 15, similarity = "heat", scale = FALSE)
    expect_identical(selected_samples(fit), selected_samples(by_hand))
    expect_identical(fit$params$n_scores, q)
    expect_identical(selected_samples(eval(parse(text = fit$code))), selected_samples(fit))
    expect_match(fit$decided, "neighbouring columns hardly differ", all = FALSE)
    # As ufs_split() sees them.
    expect_match(ufs_split(spectra, m = 15, rows = rows)$space, paste0("^", q, " principal component score"))
  }
  # Baseline and scatter are taken out unless the user says what to do with the rows.
  by_default <- ufs_select(spectra, m = 15, task = "label")
  expect_identical(selected_samples(by_default), selected_samples(fit))
  expect_match(printed(by_default), "baseline and scatter taken out", all = FALSE)
  expect_match(by_default$code, "rows = \"snv\"", fixed = TRUE)
  # The record of spectra has the numbers of its table.
  table <- read.csv(system.file("benchmarks", "results", "regression.csv.gz", package = "ufselect"))
  error <- with(table[table$spectra & table$choice == "ted, heat", ], tapply(ratio, set, mean))
  expect_match(printed(summary(by_default)), sprintf("on %d sets of real spectra", length(error)), all = FALSE)
  expect_match(paste(printed(summary(by_default)), collapse = " "), sprintf("%.0f %% of that after random", 100 * mean(error)))
  told <- ufs_data(spectra, rows = "none")
  raw <- ufs_select(spectra, m = 15, task = "label", rows = "none")
  expect_identical(selected_samples(ufs_select(told, m = 15, task = "label")), selected_samples(raw))
  expect_false(identical(selected_samples(raw), selected_samples(fit)))
  expect_false(any(grepl("baseline", printed(raw))))
  split_by <- function(...) withr::with_seed(1, unclass(ufs_split(..., m = 15))[c("train", "test", "space")])
  expect_identical(split_by(spectra)[1:2], split_by(spectra, rows = "snv")[1:2])
  expect_match(split_by(spectra)$space, "baseline and scatter taken out")
  expect_identical(split_by(told), split_by(spectra, rows = "none"))
  expect_false(identical(split_by(told)$train, split_by(spectra)$train))
  # An outcome beside the spectrum is no part of it.
  beside <- data.frame(y = seq_len(60) / 7)
  beside$nir <- spectra
  expect_false(any(grepl("baseline", suppressMessages(ufs_split(beside, m = 15))$space)))
  method_of <- function(x, ...) ufs_select(x, m = 5, task = "label", ...)$method
  expect_identical(method_of(spectra, ordered = TRUE), "ted")
  # An argument that only another method has still decides.
  expect_identical(method_of(spectra, n_starts = 3), "medoids")
  expect_identical(method_of(spectra, similarity = "heat"), "facility")
  expect_identical(method_of(spectra[, sample(80)[1:15]]), "medoids")
})

test_that("random choices keep the constraints of the choice, of rows, too, and spend the same budget", {
  # As many candidates as are to be chosen leave no other choice.
  fit <- pick(x, m = 6, task = "label", candidates = 3:8)
  expect_setequal(selected_samples(fit, as = "index"), 3:8)
  expect_identical(fit$worth$tied, 20L)
  bought <- pick(x, task = "label", sample_cost = rep(1, 40), sample_budget = 5, candidates = 3:7)
  expect_identical(bought$worth$tied, 20L)
  # A budget alone says how many: a random choice buys cheap columns until it is spent.
  cost <- rep(c(1, 10), each = 10)
  draw <- random_columns(open_data(ufs_data(x, cost = cost, budget = 25)), 20L)
  spent <- withr::with_seed(1, replicate(50, sum(cost[draw()])))
  expect_true(all(spent <= 25 & spent > 15))
  expect_match(printed(pick(x, 4, cost = cost, budget = 25)), "random columns under the same constraints", all = FALSE)
  expect_false(any(grepl("constraints", printed(pick(x, 4)))))
})

test_that("constraints that cost more than half of the gain are said, of columns and of samples", {
  signal <- withr::with_seed(6, matrix(rnorm(80 * 3), 80))
  z <- withr::with_seed(7, cbind(signal[, rep(1:3, each = 5)] + rnorm(80 * 15, sd = .1), matrix(rnorm(80 * 5), 80)))
  colnames(z) <- paste0("v", 1:20)
  dear <- pick(z, 3, exclude = 1:15)
  expect_lt(dear$price, .5)
  expect_match(dear$checks, "^the constraints cost .* of the gain over random choices", all = FALSE)
  cheap <- pick(z, 3, exclude = c(1, 20))
  expect_gt(cheap$price, .5)
  expect_false(any(grepl("constraints cost", cheap$checks)))
  free <- pick(z, 3)
  expect_null(free$price)
  share <- share_of_gain(dear, free, open_data(ufs_data(z, exclude = 1:15)), 5)
  gain <- function(fit) withr::with_seed(5, {
    random <- lapply(1:20, function(i) sample.int(20, 3))
    own <- explained_quality(fit, open_data(z), selected_features(fit, as = "index"), random)
    own$chosen - own$random
  })
  expect_equal(share, gain(dear) / gain(free), tolerance = 1e-6)
  # Where it takes long nobody looks, and the print says so.
  far <- with_worth(dear, open_data(ufs_data(z, exclude = 1:15)), FALSE, function() stop("run"), most = 0)
  expect_true(is.na(far$price))
  expect_match(far$unchecked, "what the constraints cost was not looked at", all = FALSE)
  type <- factor(mtcars$cyl)
  quotas <- c("4" = 1, "6" = 2, "8" = 3)
  kept <- pick(mtcars, m = 6, task = "label", strata = type, quotas = quotas)
  free <- pick(mtcars, m = 6, task = "label")
  x <- open_data(ufs_data(mtcars, strata = type, quotas = quotas))
  # By the directions of the standardised rows, recomputed.
  z <- scale(mtcars) / sqrt(rowSums(scale(mtcars)^2))
  apart <- as.matrix(dist(z))^2
  left <- function(rows) mean(apply(apart[, rows], 1, min)) / mean(rowSums(scale(z, scale = FALSE)^2))
  ends <- c(left(selected_samples(kept, as = "index")), left(selected_samples(free, as = "index")))
  expect_match(printed(free), "rows of unit length", all = FALSE)
  random <- withr::with_seed(1, mean(replicate(2000, left(sample(32, 6)))))
  found <- vapply(1:40, function(seed) share_of_gain(kept, free, x, seed), 0)
  expect_equal(mean(found), (random - ends[1]) / (random - ends[2]), tolerance = .05)
  # Draws of their own for either end went beyond this.
  expect_lt(stats::sd(found), .065)
})

test_that("a selection without objections points to what checks miss; what is too small is not compared", {
  few <- pick(iris[, 1:4], 2)
  expect_match(few$unchecked, "not compared with random choices", all = FALSE)
  expect_match(printed(few), "checks +not compared with random choices", all = FALSE)
  whole <- pick(iris[, 1:4], m = 6, task = "label")
  expect_null(whole$unchecked)
  expect_match(printed(whole), "Nothing looks wrong (what this cannot see: ?ufs_select_rules)", fixed = TRUE, all = FALSE)
  z <- scale(sample_data(40, 9))
  share <- function(sets) withr::with_seed(8, foretold_share(z, sets, 1:9))
  for (sets in list(lapply(1:8, function(i) c(1:4, i %% 5 + 5L)), list(1L, 2L, 9L))) {
    expect_equal(share(sets), vapply(sets, function(set) share(list(set)), 0), tolerance = 1e-12)
  }
  cost <- seq_len(150) / 10
  fit <- pick(iris[, 1:4], m = 6, task = "label", sample_cost = cost, sample_budget = 30)
  expect_identical(fit$method, "facility")
  chosen <- selected_samples(fit, as = "index")
  expect_lte(sum(cost[chosen]), 30)
  expect_gt(sum(cost[chosen]), 20)
  expect_true(fit$worth$chosen < fit$worth$random)
  expect_null(selection_quality(list(n = 5), NULL, 1))
  expect_null(sample_quality(list(params = list(labelled = 1L)), list(n = 4), 2:4, 5))
  fit <- list(worth = data.frame(measure = "explained"), task = "compress", look = list(noise = NA))
  expect_identical(selection_unchecked(fit, FALSE), c("not compared with random choices at nearest neighbours, avoiding noise",
    "too few rows or columns to tell noise"))
  expect_null(selection_record("none", FALSE))
  expect_null(scale_words(list(params = list())))
})

test_that("a choice, or a draw of rows, in which nothing varies is not measured", {
  rare <- matrix(0, 500, 4, dimnames = list(NULL, letters[1:4]))
  rare[cbind(1:4, 1:4)] <- 1
  data <- open_data(rare)
  fit <- ufs_variance(rare)
  replaced("rows_that_vary", function(x, rows, columns) 100:200)
  expect_null(quality_sample(fit, data, list(1:2), 400L))
  expect_null(neighbour_quality(fit, data, 1:2, list(3:4)))
  expect_null(explained_quality(fit, data, 1:2, list(3:4)))
  expect_null(noise_quality(data, 1:2, list(3:4)))
  # Columns that can be told from noise, but not those chosen.
  mixed <- cbind(rare, withr::with_seed(1, matrix(stats::rnorm(500 * 6), 500)))
  expect_null(noise_quality(open_data(mixed), 1:2, list(5:6)))
  expect_identical(noise_quality(open_data(mixed), 5:6, list(7:8))$measure, "noise")
})

test_that("what a fit certifies of its choice is what would be computed again", {
  z <- withr::with_seed(11, matrix(rnorm(60 * 12), 60))
  z[, 4:9] <- z[, rep(1:3, 2)] + withr::with_seed(12, rnorm(360, sd = .3))
  colnames(z) <- paste0("v", 1:12)
  for (scale in c(TRUE, FALSE)) {
    fit <- ufs_css(z, 3, scale = scale)
    chosen <- selected_features(fit, as = "index")
    expect_type(own_certificate(fit, open_data(z), chosen), "list")
    bare <- fit
    bare$certificate <- NULL
    expect_null(own_certificate(bare, open_data(z), chosen))
    explained <- function(fit) withr::with_seed(1, explained_quality(fit, open_data(z), chosen, list(1:3)))
    expect_equal(explained(fit), explained(bare), tolerance = 1e-10)
  }
  expect_null(own_certificate(fit, open_data(z), selected_features(fit, 2, as = "index")))
  expect_null(own_certificate(fit, open_data(ufs_data(z, exclude = "v1")), selected_features(fit, as = "index")))
})

test_that("what is explained is computed on few enough numbers, of a thousand rows at least", {
  x <- sample_data(1500, 4)
  fit <- ufs_variance(x)
  seen <- NULL
  original <- column_triangle
  replaced("column_triangle", function(x, ...) {
    seen <<- c(seen, x$n)
    original(x, ...)
  })
  for (most in c(1, 4800, 6e3, 4e6)) withr::with_seed(1, explained_quality(fit, open_data(x), 1:2, list(3:4), most = most))
  expect_equal(seen, c(1000, 1200, 1500, 1500))
  # Of many columns and rows a part is looked at, the choice always among it.
  x <- withr::with_seed(1, matrix(stats::rnorm(30 * 1100), 30))
  found <- withr::with_seed(2, noise_quality(open_data(x), 1:3, list(4:6)))
  expect_identical(found$rows, 30L)
  expect_gt(found$chosen, 0.2)
  many <- withr::with_seed(1, matrix(stats::rnorm(1300 * 2), 1300))
  found <- withr::with_seed(2, sample_quality(ufs_medoids(many, m = 4), open_data(many), 1:4, 2L))
  expect_identical(as.integer(found$rows), 1004L)
})

test_that("who gives counts or rows gets the scaling that the help of ufs_data() advises", {
  x <- withr::with_seed(1, {
    rate <- matrix(rgamma(480, .15), 4)[rep(1:4, 50), ]
    matrix(rpois(24000, 20 * rate / rowSums(rate)), 200, dimnames = list(NULL, paste0("w", 1:120)))
  })
  for (how in list(list(counts = "tfidf", rows = "unit"), list(counts = "log"))) for (task in c("label", "classify", "cluster")) {
    fit <- do.call(calm, c(list(x, 10, task), how))
    expect_false(fit$params$scale, label = paste(task, how$counts))
    expect_false(any(grepl("stuck|two units", c(fit$checks, fit$look$doubts))))
  }
  # The same as by default, which weights the counts itself.
  own <- calm(x, 10, "label")
  told <- calm(x, 10, "label", counts = "tfidf", rows = "unit")
  expect_setequal(selected_samples(told, as = "index"), selected_samples(own, as = "index"))
  # Words of one source, zeros of counts and copies are no faults of measuring.
  z <- withr::with_seed(2, matrix(round(rnorm(400), 2), 50))
  expect_null(measuring_faults(open_data(cbind(z, z[, 1] + 1e-15))))
  counts <- replace(x, cbind(1:60, 3), 0)
  expect_null(measuring_faults(open_data(cbind(counts, 2 * counts[, 5]))))
})
