# What every registered method promises, tested for every registered method.

methods <- ufs_methods()
x <- `dimnames<-`(planted(24, 14, informative = 6)$x, list(paste0("s", 1:24), paste0("f", 1:14)))

for (method in methods$method) {
  test_that(paste0(method, ": the object is complete and the ranking is that of the scores"), {
    # Nothing is wrong with these data, but for the graph that MCFS makes.
    expect_warning(fit <- fit_of(method, x, hear = identity), if (method == "mcfs") "separate parts" else NA)
    expect_s3_class(fit, c(paste0("ufs_", method), "ufs"))
    expect_identical(fit$method, method)
    expect_true(fit$status %in% status_labels && is.data.frame(fit$trace) && "iteration" %in% names(fit$trace))
    expect_true(is.numeric(fit$certificate) && (!length(fit$certificate) || !is.null(names(fit$certificate))))
    expect_true(is.finite(fit$elapsed))
    if (is.null(fit$coef_name)) expect_error(coef(fit), class = "ufs_error_argument") else {
      value <- coef(fit)
      expect_identical(if (is.null(dim(value))) names(value) else rownames(value), colnames(x))
    }
    selects <- methods$selects[methods$method == method]
    expect_identical(!is.null(fit$feature_scores), selects != "samples")
    expect_identical(!is.null(fit$sample_scores), selects != "features")
    if (selects != "samples") {
      expect_named(feature_scores(fit), colnames(x))
      expect_identical(ufs_rank(unname(fit$feature_scores), unname(fit$feature_key)), unname(feature_ranking(fit)))
      expect_setequal(feature_ranking(fit), 1:14)
      expect_false(is.unsorted(-feature_scores(fit)[feature_ranking(fit)]))
      k <- if (method == "topk") 4 else 3
      expect_length(suppressMessages(selected_features(fit, k)), k)
      expect_true(all(suppressMessages(selected_features(fit, k)) %in% colnames(x)))
      expect_identical(dim(suppressMessages(predict(fit, x, k = k))), c(24L, as.integer(k)))
    }
    if (selects != "features") {
      expect_named(sample_scores(fit), rownames(x))
      expect_identical(ufs_rank(unname(fit$sample_scores), fit$sample_key), unname(sample_ranking(fit)))
      expect_setequal(sample_ranking(fit), 1:24)
      expect_false(is.unsorted(-sample_scores(fit)[sample_ranking(fit)]))
      expect_length(suppressMessages(selected_samples(fit, 5)), 5)
    }
    lines <- capture.output(print(fit))
    expect_lte(length(lines), 15)
    # A method that does not iterate has nothing to converge.
    expect_identical(any(grepl("^  status +", lines)), fit$iterations > 0L || fit$status != "converged")
    expect_output(print(summary(fit)), method)
    expect_identical(nrow(as.data.frame(fit)), if (selects == "samples") 24L else 14L)
    withr::local_pdf(NULL)
    expect_identical(plot(fit), fit)
  })

  test_that(paste0(method, ": same seed, same answer; the input stays as it was"), {
    skip_most_on_cran(method)
    before <- x + 0
    a <- fit_of(method, x)
    b <- fit_of(method, x)
    expect_identical(x, before)
    expect_identical(a$feature_scores, b$feature_scores)
    expect_identical(a$sample_scores, b$sample_scores)
    expect_identical(fit_of(method, as.data.frame(x))$feature_scores, a$feature_scores)
    if (methods$deterministic[methods$method == method]) {
      set.seed(3)
      seed <- .Random.seed
      quietly(do.call(ufs, c(list(x = x, method = method), needed(method))))
      expect_identical(.Random.seed, seed)
    }
  })

  test_that(paste0(method, ": a constant column is NA, last and changes nothing else"), {
    skip_most_on_cran(method)
    with_constant <- cbind(x[, 1:2], flat = 3, x[, 3:14])
    plain <- fit_of(method, x)
    said <- character()
    fit <- fit_of(method, with_constant, hear = function(code) withCallingHandlers(code, ufs_warning = function(w) {
      said <<- c(said, class(w)[1L])
      invokeRestart("muffleWarning")
    }))
    expect_identical(sum(said == "ufs_warning_constant"), 1L)
    if (!is.null(fit$feature_scores)) {
      expect_true(is.na(feature_scores(fit)[["flat"]]))
      expect_identical(unname(feature_ranking(fit))[15], 3L)
      # Random draws are a permutation of other length.
      if (method != "random") expect_equal(feature_scores(fit)[-3], feature_scores(plain), tolerance = 1e-6)
    } else {
      expect_equal(sample_scores(fit), sample_scores(plain), tolerance = 1e-6)
    }
  })

  # Draws, what stands on draws, and choices among near ties have tests of their own.
  if (!method %in% c("blfse", "consensus", "cur", "facility", "mcfs", "medoids", "random")) {
    test_that(paste0(method, ": orders, signs and units say nothing; copies share a score"), {
      skip_on_cran()
      close <- switch(method, socfs = 1e-3, ndfs = , spca = 1e-4, udfs = , jspca = 1e-5, 1e-6)
      wide <- `dimnames<-`(planted(14, 24, informative = 6)$x, list(paste0("s", 1:14), paste0("f", 1:24)))
      for (z in list(x, wide)) {
        way <- rep_len(c(1, -1), ncol(z))
        scaled <- isTRUE(formals(registry()[[method]]$fit)$scale)
        if (scaled) way <- way * rep_len(c(2, 30, .1), ncol(z))
        fit <- fit_of(method, z)
        turned <- sweep(z, 2L, way, `*`)[order(sin(seq_len(nrow(z)))), order(cos(seq_len(ncol(z))))]
        turned <- fit_of(method, turned + 3 * scaled)
        expect_equal(turned$feature_scores[colnames(z)], fit$feature_scores[colnames(z)], tolerance = close)
        expect_equal(turned$sample_scores[rownames(z)], fit$sample_scores[rownames(z)], tolerance = close)
        # Greedy choices and sets of a given size take one of two.
        if (method %in% c("css", "topk", "ted", "alfs")) next
        score <- fit_of(method, cbind(z, again = z[, 3]))$feature_scores
        if (!is.null(score)) expect_equal(score[["again"]], score[[3]], tolerance = 1e-8)
        score <- fit_of(method, rbind(z, again = z[3, ]))$sample_scores
        if (!is.null(score)) expect_identical(score[["again"]], score[[3]])
      }
    })
  }

  test_that(paste0(method, ": progress() is told what the trace keeps"), {
    skip_on_cran()
    seen <- NULL
    fit <- fit_of(method, x, control = ufs_control(progress = function(iteration, objective, change) {
      seen <<- rbind(seen, c(iteration, objective, change))
    }))
    # Rounds within iterations and rows for the start make a trace longer; some report nothing.
    if (method %in% c("blfse", "socfs")) return(expect_identical(nrow(seen), fit$iterations))
    expect_identical(as.integer(seen[, 1]), as.integer(fit$trace$iteration))
    # Three tell the objective in the unit of their solver.
    told <- c(if (!method %in% c("alnr", "css", "rrss")) "objective", "change")
    for (column in intersect(told, names(fit$trace)[nrow(fit$trace) > 0])) {
      expect_equal(seen[, match(column, c("", "objective", "change"))], fit$trace[[column]])
    }
  })

  test_that(paste0(method, ": bad data are classed errors"), {
    skip_most_on_cran(method)
    for (bad in list(replace(x, 7, NA), replace(x, 30, Inf), x[1:2, ], x[, 0], x > "a", matrix(2, 5, 6), list(x))) {
      expect_error(fit_of(method, bad), class = "ufs_error_input")
    }
  })

  test_that(paste0(method, ": more features than samples, and fewer"), {
    skip_most_on_cran(method)
    wide <- planted(12, 40, informative = 6)$x
    for (z in list(wide, planted(60, 5, informative = 3)$x)) {
      fit <- fit_of(method, z, k = if ("k" %in% names(needed(method))) 2)
      expect_true(fit$status %in% status_labels)
      score <- if (is.null(fit$feature_scores)) fit$sample_scores else fit$feature_scores
      expect_false(anyNA(score))
      expect_true(all(is.finite(score)))
    }
  })

  test_that(paste0(method, ": finite data of any size give numbers or words, the same in all"), {
    skip_on_cran()
    skip_if_not_installed("Matrix")
    x <- x[1:14, 1:6]
    x[abs(x) < 0.4] <- 0
    one <- function(f) replace(x, cbind(1:14, 2), x[, 2] * f)
    inputs <- list(small = x * 1e-300, large = x * 1e300, denormal = one(1e-310), one_small = one(1e-300),
      one_large = one(1e300), mixed = x %*% diag(10^c(-300, -160, 0, 5, 160, 0)))
    ways <- if ("scale" %in% names(formals(paste0("ufs_", method)))) {
      list(list(scale = TRUE), list(scale = FALSE))
    } else {
      list(list())
    }
    known <- c(status_labels, "ufs_error_input", "ufs_error_argument")
    for (name in names(inputs)) {
      forms <- list(dense = inputs[[name]], sparse = Matrix::Matrix(inputs[[name]], sparse = TRUE))
      if (requireNamespace("DelayedArray", quietly = TRUE)) {
        forms$file <- ufs_data(DelayedArray::DelayedArray(inputs[[name]]), block_bytes = 16 * 6 * 10)
      }
      for (way in ways) {
        how <- vapply(forms, function(form) {
          fit <- tryCatch(do.call(fit_of, c(list(method, form), way)), error = identity)
          if (inherits(fit, "error")) return(class(fit)[1L])
          if (fit$status == "converged") {
            expect_true(all(is.finite(fit$feature_scores[setdiff(seq_len(fit$p), fit$constant)])), info = name)
            expect_true(all(is.finite(fit$sample_scores)), info = name)
            expect_false(any(is.nan(fit$certificate) | is.infinite(fit$certificate)), info = name)
            expect_true(all(is.finite(fit$trace$objective)), info = name)
          }
          fit$status
        }, "")
        expect_true(all(how %in% known), info = paste(name, paste(how, collapse = " ")))
        expect_length(unique(how), 1L)
      }
    }
  })
}

sampler_forms <- list(
  alfs = list(list(select_samples = "ted"), list(select_samples = "facility"), list(select_samples = "norm"),
    list(select = "pivot")), alnr = list(list()), rrss = list(list()), facility = list(list(), list(m = 4, swaps = 2)),
  cur = list(list(draw = "exact"), list(draw = "top"), list(draw = "random", m = 4, k = 3)),
  medoids = list(list(m = 4)), random = list(list(what = "samples")),
  ted = list(list(form = "greedy"), list(form = "convex")))

test_that("NULL for a number, a number in quote() and a control that is no list of settings are refused by name", {
  tried <- 0L
  for (method in names(registry())) {
    row <- registry()[[method]]
    for (name in names(row$ranges)) {
      if (is.null(formals(row$fit)[[name]])) next
      args <- c(list(x = iris[1:30, 1:4]), needed(method))
      args[name] <- list(NULL)
      wrong <- expect_error(do.call(row$fit, args), class = "ufs_error_argument")
      expect_identical(wrong$argument, name, label = paste(method, name))
      tried <- tried + 1L
    }
  }
  expect_gt(tried, 15L)
  share <- .1
  expect_refused(do.call(ufs_consensus, list(iris[, 1:4], 2, 2, share = quote(share)), quote = TRUE),
    "it is share", argument = "share")
  expect_refused(do.call(ufs_kmeans_f, list(iris[, 1:4], 3, n_starts = quote(n)), quote = TRUE), "it is n")
  for (method in names(registry())) {
    args <- c(list(x = iris[1:30, 1:4]), needed(method))
    for (odd in list(3, "a", quote(x), list(eps = NA_real_), list(eps = "a"), list(3))) {
      args$control <- odd
      expect_error(do.call(registry()[[method]]$fit, args, quote = TRUE), class = "ufs_error")
    }
  }
})

skip_on_cran()

test_that("sample scores are in the order of the ranking; labelled samples are not chosen again", {
  samplers <- methods$method[methods$selects != "features"]
  expect_setequal(names(sampler_forms), samplers)
  for (method in samplers) for (form in sampler_forms[[method]]) {
    known <- c("s3", "s9", "s17")
    fit <- withr::with_seed(1, suppressMessages(do.call(ufs, c(list(x = x, method = method, labelled = known), form))))
    info <- paste(method, paste(names(form), form, collapse = " "))
    score <- sample_scores(fit)[sample_ranking(fit)]
    expect_setequal(names(utils::tail(score, 3)), known)
    expect_identical(unname(is.na(score)), rep(c(FALSE, TRUE), c(21, 3)), info = info)
    expect_false(is.unsorted(-score[1:21]), info = info)
    expect_identical(fit$params$labelled, c(3L, 9L, 17L))
    expect_false(fit$status == "numerical", info = info)
    if (method != "medoids") {
      expect_false(any(known %in% suppressMessages(selected_samples(fit, 21))), info = info)
      expect_error(selected_samples(fit, 22), "without a label", class = "ufs_error_argument")
    }
    if (method != "alfs" || !identical(form$select, "pivot")) next
    expect_false(is.unsorted(-feature_scores(fit)[feature_ranking(fit)]))
  }
})

test_that("an argument of the wrong kind is an error with a class, in every method", {
  failed <- character()
  for (method in methods$method) {
    for (arg in setdiff(registry()[[method]]$arguments, "control")) {
      for (value in list("zz", sum)) {
        given <- c(list(method = method, x = x), stats::setNames(list(value), arg))
        fit <- tryCatch(do.call(fit_of, given), error = identity)
        if (inherits(fit, "error") && !inherits(fit, "ufs_error")) failed <- c(failed, paste(method, arg))
      }
    }
  }
  expect_identical(failed, character())
})

test_that("settings that nobody gave are those of the help pages", {
  promised <- list(alfs = "2000 1e-04", alfs.paper = "600 0.001", blfse = "25 0 5 1e-11", jspca = "500 1e-06",
    jspca.feature = "500 1e-04", socfs = "500 1e-07 10 1e-04", socfs.paper = "500 1e-06 30 1e-08",
    topk = "10 1e-05 500 1e-06", topk.admm = "10 1e-05 500 1e-04", kmeans_f = "100", css = "10000000",
    inffs = "500 1e-14", mcfs = "160", ndfs = "300 1e-06 0.01", rsr = "500 0.001", rsr.irls = "200 1e-06",
    sogfs = "50 100 1e-06", spca = "1000 1e-04", udfs = "300 1e-06", alnr = "300 0.001", medoids = "100",
    rrss = "300 0.001", ted.convex = "2000 1e-04")
  few <- x[, 1:6]
  for (name in names(promised)) {
    part <- strsplit(name, ".", fixed = TRUE)[[1L]]
    asked <- switch(paste0(part[2L]), convex = list(form = "convex"), feature = list(loss = "feature"),
      "NA" = list(), list(solver = part[2L]))
    given <- do.call(fit_of, c(list(part[1L], few), asked))$control[c("max_iter", "tol", "inner_max_iter", "inner_tol")]
    expect_identical(paste(vapply(Filter(Negate(is.null), given), format, "", digits = 4L), collapse = " "),
      promised[[name]], label = name)
  }
  expect_identical(ufs_represent(few)$control[c("max_iter", "tol")], list(max_iter = 500L, tol = 1e-6))
})

test_that("the bytes that a method says it needs are those of the formulas that were checked", {
  known <- utils::read.csv(testthat::test_path("fixtures", "bytes.csv"))
  asked <- NULL
  replaced("check_bytes", function(bytes, what, advice) asked <<- rbind(asked, data.frame(what, bytes)))
  for (shape in c("tall", "wide")) for (method in setdiff(methods$method, "consensus")) {
    asked <- NULL
    fit_of(method, if (shape == "tall") x else t(x))
    want <- known[known$shape == shape & known$method == method, ]
    # Top-k asks for what choosing its solver needs, too.
    if (method == "topk") asked <- asked[nrow(asked), ]
    expect_identical(paste(unique(asked)$what, unique(asked)$bytes), paste(want$what, want$bytes), label = paste(shape, method))
  }
  check_topk_bytes(30, 20, "plain", "exact", list(branch_and_bound = FALSE))
  expect_identical(utils::tail(asked$bytes, 1L), 8 * (4 * 600 + 5 * 400))
})

test_that("a value that an argument cannot have is refused by its name, in every method", {
  for (method in methods$method) {
    row <- registry()[[method]]
    numbers <- c(names(row$ranges), row$open_numbers, grep("_rel$", row$arguments, value = TRUE), "lambda", "mu",
      "gamma", "alpha", "beta", "n_clusters", "n_components", "k", "m")
    wrong <- c(lapply(row$choices, function(words) "no such word"), sapply(numbers, function(name) -1),
      sapply(c(row$switches, "center", "scale"), function(name) NA))
    # phi2 has no use for a number of clusters.
    for (name in setdiff(intersect(names(wrong), row$arguments), if (method == "spec") "n_clusters")) {
      error <- expect_error(do.call(fit_of, c(list(method = method, x = x), wrong[name])), class = "ufs_error_argument",
        label = paste(method, name))
      expect_identical(error$argument, name, info = method)
    }
  }
})

test_that("a run that is cut short ends as that, and says so unless it is told not to", {
  stops <- c("alfs", "alnr", "inffs", "jspca", "mcfs", "ndfs", "rrss", "rsr", "socfs", "sogfs", "spca", "ted", "topk",
    "udfs")
  for (method in stops) {
    form <- if (method == "ted") list(form = "convex")
    run <- function(...) {
      do.call(fit_of, c(list(method, x, control = ufs_control(max_iter = 1, ...)), form,
        hear = function(code) suppressWarnings(code, classes = "ufs_warning_graph")))
    }
    expect_warning(fit <- run(), class = "ufs_warning_max_iter")
    expect_identical(list(fit$status, fit$iterations), list("max_iter", 1L), info = method)
    expect_warning(run(warn = FALSE), NA)
  }
})
