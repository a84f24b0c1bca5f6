# What print(), summary() and the tables say, put together once more from the fit and the data.

x <- cbind(`dimnames<-`(planted(24, 14, informative = 6)$x, list(paste0("s", 1:24), paste0("f", 1:14))), flat = 2)

# Words as they were, numbers apart: those are computed elsewhere.
masked <- function(...) {
  lines <- utils::capture.output(for (value in list(...)) print(value))
  lines <- grep("^ *(features|samples|seconds|checks|code|call:|status:|time:|most often) ", lines, value = TRUE, invert = TRUE)
  gsub("[fs]?[0-9]+([.][0-9]+)?(e[-+]?[0-9]+)?", "#", lines)
}

test_that("the words that print() puts around the numbers", {
  skip_on_cran()
  words <- unlist(lapply(ufs_methods()$method, function(method) masked(fit_of(method, x))))
  expect_snapshot(writeLines(words))
})

test_that("the words where arguments differ from their defaults", {
  skip_on_cran()
  x <- x[, 1:14]
  fit <- ufs_pca(x, 2)
  gaps <- x
  gaps[1:2, 3] <- gaps[5, 4] <- NA
  # How a snapshot shows conditions depends on the version of testthat: only the words are kept.
  words <- suppressMessages(suppressWarnings(masked(
    ufs_diversify(fit, x, 4, strength = 1), ufs_diversify(fit, x, 4, how = "css"),
    ufs_facility(x, labelled = 1:3), ufs_medoids(x, m = 3, unit = FALSE, labelled = 1:3),
    ufs_css(x, k = 3), ufs_topk(x, k = 3, y = factor(rep(1:3, 8))),
    ufs_ted(x, labelled = 1:2, m = 3), ufs_ted(x, form = "convex"),
    ufs_alfs(x, select_samples = "facility", control = ufs_control(paper = list(lambda_rel = .1))),
    ufs_jspca(x, 2, loss = "feature"), ufs_spec(x, type = "phi3", n_clusters = 2),
    ufs_variance(ufs_data(gaps, na = "median")), ufs_variance(ufs_data(gaps, na = "omit")),
    ufs_data(gaps, na = "knn"), ufs_data(to_sparse(x)),
    ufs_graph(x, 3), ufs_graph(x, 4, weights = "binary", symmetrise = "mean"), ufs_represent(x))))
  expect_snapshot(writeLines(words))
})

skip_on_cran()

# The rest of the line that starts with a word, and the numbers in a text.
line_of <- function(lines, word) sub(paste0("^ *", word, " +"), "", grep(paste0("^ *", word, " "), lines, value = TRUE))
numbers_in <- function(text) as.numeric(unlist(regmatches(text, gregexpr("-?[0-9]+[.]?[0-9]*(e[-+]?[0-9]+)?", text))))
first_of <- function(score, key, names, n, size = NULL) {
  order <- order(-score, if (is.null(key)) seq_along(score) else -key, seq_along(score))
  all <- min(length(order), size)
  paste0(paste(names[order[seq_len(min(n, all))]], collapse = ", "), if (all > n) ", ...",
    if (!is.null(size)) paste0(" (", size, " of ", length(order), ")"))
}

for (method in ufs_methods()$method) {
  test_that(paste0(method, ": print and summary say what is in the fit"), {
    fit <- fit_of(method, x)
    row <- ufs_methods()[ufs_methods()$method == method, ]
    lines <- capture.output(print(fit))
    expect_identical(lines[1L], paste0("<ufs_", method, "> ", row$title))
    expect_identical(line_of(lines, "data"), "24 samples x 15 features (1 constant)")
    expect_true("data: 24 samples x 15 features, 1 constant" %in% capture.output(print(summary(fit))))
    # What does not iterate has nothing to converge.
    expect_identical(line_of(lines, "status"), if (fit$iterations == 0) character() else
      paste0(fit$status, " after ", fit$iterations, " iteration", if (fit$iterations > 1) "s"))
    shown <- line_of(lines, "certificate")
    if (method %in% c("css", "consensus", "facility", "medoids")) { # said in words; the numbers are in the summary
      expect_length(shown, 0)
      shown <- sub("^certificate: ", "", grep("^certificate: ", capture.output(print(summary(fit))), value = TRUE))
    }
    expect_length(shown, as.integer(length(fit$certificate) > 0))
    if (method %in% c("pca", "jspca")) {
      # As many columns as components, whatever k is.
      expect_match(shown, " (best 2)", fixed = TRUE)
      shown <- sub(" (best 2)", "", shown, fixed = TRUE)
    }
    if (length(shown)) {
      part <- strsplit(strsplit(shown, ", ", fixed = TRUE)[[1L]], " = ", fixed = TRUE)
      certificate <- fit$certificate[names(fit$certificate) != "live_rows"]
      expect_identical(vapply(part, `[`, "", 1L), names(certificate))
      # Never further off than half a unit of the last of three (six, from 1 on) digits.
      value <- as.numeric(vapply(part, `[`, "", 2L))
      off <- abs(value - certificate) / pmax(abs(certificate), 1e-300)
      expect_true(all(off <= ifelse(abs(certificate) >= 1, 5.0001e-6, 5.0001e-3)))
    }
    n <- if (method == "topk") 4 else 5
    if (!is.null(fit$feature_scores)) {
      key <- if (length(unique(stats::na.omit(fit$feature_key)))) fit$feature_key
      # Methods that decide on a number of their own say it, as those that were given one.
      size <- if (method == "consensus") fit$params$k else needed(method)$k
      expect_identical(line_of(lines, "features"), first_of(fit$feature_scores, key, colnames(x), n, size))
      expect_identical(line_of(capture.output(print(fit, n = 2)), "features"),
        first_of(fit$feature_scores, key, colnames(x), 2, size))
      above <- sum(fit$feature_scores > 0, na.rm = TRUE)
      live <- c(line_of(lines, "non-zero"), line_of(lines, "scores"))
      if (min(fit$feature_scores, na.rm = TRUE) == 0) {
        expect_true(any(grepl(paste0("^(24 of 24 samples and )?", above, " of 15"), live)))
      }
    }
    if (!is.null(fit$sample_scores)) {
      expect_identical(line_of(lines, "samples"),
        first_of(fit$sample_scores, fit$sample_key, rownames(x), 5, needed(method)$m))
    }

    out <- summary(fit)
    expect_identical(unclass(out)[c("method", "title", "n", "p", "constant", "status", "iterations", "elapsed", "certificate",
      "params", "call")], c(list(method = method, title = row$title, n = 24L, p = 15L, constant = 1L), unclass(fit)[c("status",
      "iterations", "elapsed", "certificate", "params", "call")]))
    if (!is.null(fit$trace$objective)) {
      expect_equal(unname(unlist(out$objective))[1:2], fit$trace$objective[c(1L, nrow(fit$trace))])
    }
    lines <- capture.output(print(out))
    expect_identical(lines[2L], paste("call:", deparse(fit$call, width.cutoff = 80L)[1L]))
    expect_true("data: 24 samples x 15 features, 1 constant" %in% lines)
    for (what in c("feature", "sample")) {
      score <- fit[[paste0(what, "_scores")]]
      if (is.null(score)) next
      known <- score[!is.na(score)]
      line <- grep(paste0("^", what, "s: scores"), lines, value = TRUE)
      expect_equal(numbers_in(line), unname(signif(c(range(known), stats::median(known), sum(known == 0)), 4)))
    }
    if (!is.null(fit$feature_scores)) {
      expect_identical(out$best, as.data.frame(fit)[1:10, ])
      expect_identical(length(lines) - which(lines == "best features:"), 11L)
    }
    table <- as.data.frame(fit)
    one <- if (is.null(fit$feature_scores)) "sample" else "feature"
    score <- fit[[paste0(one, "_scores")]]
    expect_identical(table[[one]], if (one == "sample") rownames(x)[table$index] else colnames(x)[table$index])
    expect_identical(table$score, unname(score[table$index]))
    expect_identical(table$rank, seq_along(score))
    expect_identical(table$index, unname(fit[[paste0(one, "_ranking")]]))

    glance <- glance.ufs(fit)
    objective <- fit$trace$objective
    expect_identical(as.list(glance[1:7]), list(method = method, n = 24L, p = 15L, status = fit$status, iterations = fit$iterations,
      objective = if (is.null(objective)) NA_real_ else objective[length(objective)], elapsed = fit$elapsed))
    expect_equal(as.numeric(unlist(glance[-(1:10)])), unname(fit$certificate))
    expect_identical(names(glance)[-(1:10)], as.character(names(fit$certificate)))
    if (!is.null(fit$sample_scores)) {
      more <- augment.ufs(fit, x)
      expect_identical(more$.score, unname(fit$sample_scores))
      expect_identical(order(more$.rank), unname(fit$sample_ranking))
    }
  })
}

test_that("every method remembers how many it was asked for, and its print shows no more", {
  for (method in ufs_methods()$method) {
    known <- names(formals(getExportedValue("ufselect", paste0("ufs_", method))))
    for (name in if (method == "css") "k" else intersect(c("k", "m"), known)) {
      fit <- do.call(fit_of, c(list(method = method, x = x), stats::setNames(list(3), name)))
      best <- suppressMessages(if (name == "k") selected_features(fit) else selected_samples(fit))
      expect_length(best, 3L)
      line <- line_of(capture.output(print(fit)), if (name == "k") "features" else "samples")
      expect_identical(line, paste0(paste(best, collapse = ", "), " (3 of ", if (name == "k") 15 else 24, ")"), label = method)
    }
  }
})

test_that("shares and counts in the notes are those of the data, and what is left out or filled in is counted", {
  gaps <- x
  gaps[1:2, 3] <- gaps[5, 4] <- NA
  said <- function(x, ...) line_of(capture.output(print(ufs_data(x, ...))), "(left out|filled in)")
  expect_identical(said(gaps, na = "median"), "3 missing values (median)")
  one <- x
  one[7, 2] <- NA
  expect_identical(said(one, na = "knn"), "1 missing value (knn)")
  # 2 of 15 features or 3 of 24 samples have gaps: the smaller share goes.
  expect_identical(said(gaps, na = "omit"), "3 of 24 samples (s1, s2, s5) with missing values")
  many <- x
  many[, 2:6] <- NA
  expect_identical(said(many, na = "median"), "5 of 15 features (f2, f3, f4, ...) with missing values")
  s <- to_sparse(x * (abs(x) > 1))
  line <- line_of(capture.output(print(ufs_data(s))), "held")
  filled <- sum(abs(x) > 1)
  expect_equal(numbers_in(line)[1:2], c(filled, signif(100 * filled / length(x), 3)))
  x <- x[, 1:14]
  z <- scale(x)
  fit <- ufs_css(x, k = 3)
  kept <- 100 * (1 - sum(qr.resid(qr(z[, selected_features(fit, 3)]), z)^2) / sum(z^2))
  best <- 100 * sum(svd(z)$d[1:3]^2) / sum(z^2)
  expect_equal(numbers_in(line_of(capture.output(print(fit)), "explains")), c(signif(kept, 3), 3, 3, signif(best, 3)))

  fit <- ufs_spca(x, 2)
  expect_equal(numbers_in(line_of(capture.output(print(fit)), "loadings")), unname(colSums(coef(fit) != 0)))

  fit <- ufs_diversify(ufs_pca(x, 2), x, 4)
  r <- abs(cor(z))
  largest <- function(names) max(r[names, names][lower.tri(diag(4))])
  expect_equal(numbers_in(line_of(capture.output(print(fit)), "correlation")), c(
    round(largest(selected_features(fit, 4)), 2), 4, round(largest(selected_features(ufs_pca(x, 2), 4)), 2)))

  graph <- suppressWarnings(ufs_graph(x, 3))
  w <- as.matrix(graph)
  lines <- capture.output(print(graph))
  expect_equal(numbers_in(line_of(lines, "edges")), sum(w[upper.tri(w)] > 0))
  reach <- diag(24) + (w > 0) > 0
  for (i in 1:6) reach <- reach %*% reach > 0
  expect_equal(numbers_in(line_of(lines, "components")), nrow(unique(reach)))
  expect_equal(numbers_in(line_of(lines, "samples")), 24)

  own <- ufs_represent(x)
  lines <- capture.output(print(own))
  expect_equal(numbers_in(line_of(lines, "links")), c(stats::median(rowSums(own$W > 0)), sum(rowSums(own$W) == 0)))

  fit <- fit_of("medoids", x)
  expect_equal(numbers_in(line_of(capture.output(print(fit)), "medoids")), fit$params$m)
})

test_that("summaries of comparisons and grids, and their prints, are means and counts over their results", {
  y <- factor(rep(1:3, 8))
  set.seed(1)
  out <- suppressWarnings(ufs_compare(x[, 1:14], y, c("variance", "pca"), k = c(2, 4), m = 6, repeats = 3,
    args = list(pca = list(n_components = 2)), classifiers = "knn"))
  # All features, 14 of them, stand at every k.
  all <- do.call(rbind, lapply(c(2, 4), function(at) transform(out$results[out$results$k %in% c(at, 14), ], k = at)))
  table <- summary(out)$table
  expect_identical(nrow(unique(table[c("method", "k", "m", "classifier")])), nrow(table))
  for (i in seq_len(nrow(table))) {
    line <- table[i, ]
    r <- all[all$method == line$method & all$k == line$k & all$m %in% line$m & all$classifier == line$classifier, ]
    random <- all[all$method == "random" & all$k == line$k & all$m %in% line$m & all$classifier == line$classifier, ]
    more <- r$accuracy - random$accuracy[match(r$rep, random$rep)]
    expect_equal(unlist(line[c("mean", "sd", "runs", "difference", "difference_sd", "missing", "seconds")]),
      c(mean = mean(r$accuracy), sd = sd(r$accuracy), runs = nrow(r), difference = mean(more), difference_sd = sd(more),
        missing = mean(r$missing), seconds = mean(r$seconds)))
  }
  lines <- capture.output(print(out))
  expect_identical(lines[1L], "<ufs_compare> 24 samples x 14 features, 3 classes, 3 repeats, 50 % of the samples to learn from")
  for (method in unique(table$method)) {
    line <- lines[startsWith(lines, formatC(method, width = -max(nchar(table$method)) - 1L))][1L]
    want <- table[table$method == method, ]
    want <- want[match(c(2, 4), want$k), ]
    expect_equal(numbers_in(substring(line, nchar(method) + 1L)), as.vector(rbind(round(100 * want$mean, 1), round(100 * want$sd, 1))), tolerance = 1e-8)
  }
  lost <- tapply(table$missing, table$method, mean)
  expect_setequal(trimws(strsplit(sub("^.*mean: ", "", grep("classes without", lines, value = TRUE)), ", ")[[1L]]),
    paste(names(lost), signif(lost, 2))[lost > 0])
  x <- x[, 1:14]
  grid <- ufs_grid(x, "pca", list(n_components = 1:4))
  out <- summary(grid, k = 3)
  count <- table(unlist(lapply(1:4, function(r) selected_features(ufs_pca(x, r), 3))))
  expect_setequal(out$often$feature, names(count))
  expect_equal(out$often$share, as.vector(count[out$often$feature]) / 4)
  expect_identical(colnames(x)[out$often$index], out$often$feature)
  expect_false(is.unsorted(-out$often$share))
  lines <- capture.output(print(grid))
  expect_identical(lines[1L], "<ufs_grid> ufs_pca, 4 settings of n_components, 24 samples x 14 features")
  expect_match(lines[2L], "converged: 4$")
  many <- capture.output(print(ufs_grid(x, "pca", list(n_components = 1:8))))
  expect_identical(trimws(many[length(many)]), "... and 2 more")
})

test_that("sentences are broken where the console ends, and not before a per cent sign; large numbers are in digits", {
  fit <- ufs_css(x[, 1:14], k = 3)
  whole <- capture.output(print(fit))
  # Older withr does not set an option to NULL.
  before <- options(ufselect.width = NULL)
  withr::defer(options(before))
  for (width in c(60, 80)) {
    withr::local_options(width = width)
    lines <- capture.output(print(fit))
    expect_true(all(nchar(lines[-1]) < width))
    expect_false(any(grepl("^ *%", lines)))
    expect_identical(gsub(" +", " ", paste(lines, collapse = " ")), gsub(" +", " ", paste(whole, collapse = " ")))
  }
  expect_identical(size_words(1e5, 60), "100000 samples x 60 features")
  expect_identical(count_words(2e6, "sample"), "2000000 samples")
  expect_identical(count_words(1L, "row"), "1 row")
})
