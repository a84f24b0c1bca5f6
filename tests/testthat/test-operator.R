# Every method on sparse data and data on disk against the same method on the dense matrix.

skip_on_cran()

skip_if_not_installed("Matrix")

sets <- list(wide = grouped_counts(30, 90), tall = grouped_counts(80, 25), square = grouped_counts(40, 40),
  wider = grouped_counts(12, 1100))
# Every way of centring and scaling is one of a wide or of a tall table.
ways <- list(wide = all_four[c(1, 4)], tall = all_four[2:3], square = all_four[1], wider = all_four[1])

# A method on the dense matrix, and on the sparse one, blocks of a file and a matrix without its standardised copy, of
# which each must agree with the first: scores (what picks rank, where picks of equal columns differ by rounding), the
# objective and the certificate, clusters, picks and what penalties are shares of.
expect_same_ways <- function(x, method, args, tolerance) {
  run <- function(x) with_seed(1, quietly(do.call(ufs, c(list(x = x, method = method), args))))
  dense <- run(x)
  others <- list(sparse = run(to_sparse(x)))
  if (requireNamespace("DelayedArray", quietly = TRUE)) {
    others$source <- run(ufs_data(DelayedArray::DelayedArray(x), block_bytes = 8 * 7 * nrow(x)))
  }
  others$dense <- withr::with_options(list(ufselect.copy_bytes = 0), run(x))
  measured <- function(fit) {
    list(if (is.null(fit$solution$column_norm)) fit$feature_scores else fit$solution$column_norm,
      if (is.null(fit$solution$row_norm)) fit$sample_scores else fit$solution$row_norm)
  }
  objective_of <- function(fit) utils::tail(fit$trace$objective, 1)
  proved <- function(fit) fit$certificate[setdiff(names(fit$certificate), c("gap", "kkt", "residual", "live_rows"))]
  small <- function(fit) fit$certificate[intersect(names(fit$certificate), c("gap", "kkt"))]
  for (kind in names(others)) {
    fit <- others[[kind]]
    info <- paste(method, kind)
    expect_identical(fit$input$kind, kind)
    expect_equal(measured(fit), measured(dense), tolerance = tolerance, info = info)
    for (part in c("status", "names", "constant")) expect_identical(fit[[part]], dense[[part]], info = info)
    for (part in c("order", "cluster")) {
      expect_identical(unname(fit$solution[[part]]), unname(dense$solution[[part]]), info = info)
    }
    for (part in c("scores", "C", "U", "R", "explained")) {
      expect_equal(fit$solution[[part]], dense$solution[[part]], tolerance = max(tolerance, 1e-5), info = info)
    }
    of <- c("lambda", "lambda_max", "alpha", "beta", "gamma", "mu")
    expect_equal(fit$params[of], dense$params[of], tolerance = 1e-8, info = info)
    expect_equal(objective_of(fit), objective_of(dense), tolerance = 3e-6, info = info)
    expect_equal(proved(fit), proved(dense), tolerance = 1e-5, info = info)
    expect_true(all(abs(small(fit)) < 1e-4 | abs(small(fit)) <= 1.1 * abs(small(dense))), info = info)
  }
  invisible(c(list(dense), others))
}

# Each with its arguments, how far scores may be apart, and whether it is run centred and scaled in all ways.
cases <- list(
  list("variance"), list("random", what = "both"), list("pca", n_components = 2, ways = TRUE),
  list("kmeans_f", n_clusters = 3, ways = TRUE), list("cur", rank = 2, draw = "top"), list("cur", draw = "exact"),
  list("cur", rank = 3, draw = "top", m = 5, k = 6, decomposition = TRUE, ways = TRUE),
  list("socfs", n_clusters = 3, ways = TRUE, tolerance = 1e-4),
  list("jspca", n_components = 2, loss = "feature", control = ufs_control(tol = 1e-6), ways = TRUE, tolerance = 1e-3),
  list("jspca", n_components = 2, loss = "sample", control = ufs_control(tol = 1e-6), ways = TRUE, tolerance = 1e-3),
  list("spca", n_components = 2, lambda_rel = .2, control = ufs_control(tol = 1e-6), ways = TRUE, tolerance = 1e-4),
  list("laplacian"), list("laplacian", scale = TRUE, graph = list(n_neighbours = 3, scale = TRUE, center = TRUE)),
  list("spec", type = "phi1", power = 2), list("spec", type = "phi2"),
  list("spec", type = "phi3", n_clusters = 3, graph = list(n_neighbours = 12)),
  list("mcfs", n_clusters = 2, n_features = 5, graph = list(n_neighbours = 12), ways = TRUE, tolerance = 1e-5),
  list("ted", m = 6, ways = TRUE), list("ted", form = "convex", tolerance = 1e-3),
  list("rrss", ways = TRUE, tolerance = 1e-3),
  list("facility", m = 5), list("css", k = 6, mu_rel = 0, swaps = TRUE, ways = TRUE),
  list("css", k = 6, mu_rel = .1, swaps = TRUE, ways = TRUE), list("medoids", m = 4, unit = TRUE, ways = TRUE),
  list("medoids", m = 4, unit = FALSE, ways = TRUE))
on_wider <- list(
  list("alfs", select = "pivot", control = ufs_control(tol = 1e-7), ways = TRUE, tolerance = 1e-2),
  list("alfs", alpha_rel = .05, beta_rel = .1, control = ufs_control(tol = 1e-6, paper = list(lambda_rel = .002)),
    ways = TRUE, tolerance = 2e-2),
  list("alnr", n_neighbours = 4, control = ufs_control(tol = 1e-6, max_iter = 2000), ways = TRUE, tolerance = 1e-3))

for (name in names(sets)) {
  x <- sets[[name]]$x
  test_that(paste0(name, ": what every method finds is what it finds in the dense matrix"), {
    # Counts have ties among distances, which rounding decides.
    apart <- x * (1 + with_seed(5, matrix(runif(length(x), 0, .01), nrow(x))))
    for (case in c(if (name != "wider") cases, on_wider)) {
      y <- if (case[[1L]] == "alnr") apart else x
      for (how in if (isTRUE(case$ways)) ways[[name]] else list(NULL)) {
        args <- c(case[!names(case) %in% c("", "ways", "tolerance")],
          if (length(how)) list(center = how[1], scale = how[2]))
        # An empty row of samples has no direction: its cosines, and so T, are rounding.
        if (!is.null(case$alpha_rel)) y <- if (how[1]) x else x[-nrow(x), ]
        expect_same_ways(y, case[[1L]], args, if (is.null(case$tolerance)) 1e-6 else case$tolerance)
      }
    }
  })

  if (name == "wider") next
  test_that(paste0(name, ": graphs, choices of several methods and one made to differ are the dense matrix's"), {
    for (weights in c("heat", "binary", "cosine")) for (how in ways[[name]]) {
      make <- function(x) suppressWarnings(ufs_graph(x, 4, weights, center = how[1], scale = how[2]))
      expect_equal(as.matrix(make(to_sparse(x))), as.matrix(make(x)), tolerance = 1e-8)
    }
    expect_same_ways(x * with_seed(2, runif(length(x), 1, 1.5)), "consensus",
      list(n_clusters = 3, k = 5, members = c("variance", "pca", "kmeans_f")), 1e-6)
    base <- suppressWarnings(ufs_variance(x))
    others <- c(list(to_sparse(x)), if (requireNamespace("DelayedArray", quietly = TRUE)) {
      list(ufs_data(DelayedArray::DelayedArray(x)))
    })
    for (other in others) {
      for (how in c("correlation", "css")) {
        fits <- lapply(list(x, other), function(x) ufs_diversify(base, x, 5, how)[c("solution", "certificate")])
        expect_equal(fits[[2L]], fits[[1L]], tolerance = 1e-8)
      }
      expect_equal(ufs_captured(base, other, 1:6), ufs_captured(base, x, 1:6), tolerance = 1e-8)
    }
  })
}

x <- sets$wide$x

test_that("equal rows and columns of sparse data have equal scores, leverage and neighbours", {
  x[7, ] <- x[2, ]
  fit <- suppressWarnings(ufs_rrss(to_sparse(x)))
  expect_identical(fit$sample_scores[[7]], fit$sample_scores[[2]])
  x <- withr::with_seed(3, matrix(rbinom(60 * 12, 1, 0.3), 60))
  x[31:60, ] <- x[1:30, ]
  for (k in c(1, 5, 58)) {
    a <- suppressWarnings(ufs_graph(x + 0, k, "binary", symmetrise = "mean"))
    expect_identical(suppressWarnings(ufs_graph(to_sparse(x + 0), k, "binary", symmetrise = "mean"))$weights, a$weights)
  }
  # Far from the origin nothing is proved by inner products alone.
  y <- x + 1e5 * rep(c(0, 1), each = 6 * 60)
  expect_equal(as.matrix(ufs_graph(to_sparse(y), 5, "binary")), as.matrix(ufs_graph(y, 5, "binary")))
  x <- sets$wide$x
  x[5, ] <- x[9, ]
  x[, 7] <- x[, 3]
  fit <- suppressWarnings(ufs_cur(to_sparse(x), rank = 3, draw = "top"))
  expect_identical(fit$solution$leverage_samples[[5]], fit$solution$leverage_samples[[9]])
  expect_identical(fit$solution$leverage_features[[7]], fit$solution$leverage_features[[3]])
  x <- withr::with_seed(1, Matrix::rsparsematrix(120, 200, 0.1))
  fit <- withr::with_seed(1, ufs_kmeans_f(x, 3))
  expect_output(print(fit), "leading 50 principal component scores")
  expect_equal(unname(feature_scores(fit)), unname(f_statistic(as.matrix(x), fit$solution$cluster)), tolerance = 1e-8)
})

test_that("many samples: neighbours on principal component scores, said in the print", {
  set <- grouped_counts(150, 60)
  withr::local_options(ufselect.exact_neighbours = 100L)
  fit <- suppressWarnings(ufs_laplacian(to_sparse(set$x), graph = list(n_neighbours = 6)))
  expect_output(print(fit), "approximate .*, on the leading 50 principal component scores")
  # On so few samples the approximate search misses next to nothing.
  z <- suppressWarnings(leading_scores(as_ufs_operator(to_sparse(set$x), FALSE, FALSE)$x, 2))
  exact <- as.matrix(ufs_graph(z, 6, "binary"))
  expect_gt(mean(as.matrix(suppressWarnings(ufs_graph(to_sparse(set$x), 6, "binary")))[exact > 0] > 0), 0.98)
  expect_identical(suppressWarnings(ufs_graph(to_sparse(set$x), 6, "binary"))$weights,
    suppressWarnings(ufs_graph(to_sparse(set$x), 6, "binary"))$weights)
  expect_error(.Call(C_graph_lists, z, matrix(1L, 2, 150), matrix(0, 2, 150), 1L, 1, 0L), "neighbour")
  expect_error(.Call(C_graph_lists, z, matrix(999L, 2, 150), matrix(0, 2, 150), 1L, 1, 0L), "range")
  expect_error(.Call(C_graph_lists, z, matrix(1L, 2, 3), matrix(0, 2, 3), 1L, 1, 0L), "sizes")
})

test_that("copies of columns share their row in sparse data too", {
  best <- feature_ranking(suppressWarnings(ufs_kmeans_f(x, 3)))[[1]]
  x[, 60] <- x[, best]
  fit <- suppressWarnings(withr::with_seed(1, ufs_socfs(to_sparse(x), 3)))
  expect_gt(sum(fit$solution$V[60, ]^2), 0)
  expect_identical(unname(fit$solution$V[60, ]), unname(fit$solution$V[best, ]))
  expect_identical(fit$params$merged_copies, 1L)
  for (loss in c("feature", "sample")) {
    fit <- suppressWarnings(ufs_jspca(to_sparse(x), 2, loss = loss))
    expect_gt(sum(fit$solution$Q[60, ]^2), 0)
    expect_identical(unname(fit$solution$Q[60, ]), unname(fit$solution$Q[best, ]))
  }
  y <- sets$wide$x
  y[, 20] <- y[, 1]
  fit <- suppressWarnings(ufs_spca(to_sparse(y), 2))
  expect_identical(unname(fit$solution$B[20, ]), unname(fit$solution$B[1, ]))
  # Columns that equal others but for their sign are found whatever they are divided by.
  x <- withr::with_seed(2, matrix(stats::rnorm(60) * stats::rbinom(60, 1, .6), 12))
  x <- cbind(x, -4 * x[, 2], x[, 4] / 8, -x[, 2])
  found <- x_alike_columns(as_rescaled_operator(open_data(to_sparse(x)), TRUE, TRUE)$x)
  expect_identical(found$first, c(1:5, 2L, 4L, 2L))
  expect_identical(found$sign[6:8] * found$sign[c(2, 4, 2)], c(-1, 1, -1))
  expect_identical(x_alike_columns(scale(x)[, ])$first, found$first)
})

test_that("what needs x itself forms it and says so, ALFS only where it must; bounds are those of the dense matrix", {
  s <- to_sparse(sets$wide$x)
  for (loss in c("feature", "sample")) {
    expect_message(suppressWarnings(ufs_jspca(s, 2, loss = loss, solver = "paper")), "dense", class = "ufs_message_dense")
    expect_message(suppressWarnings(ufs_jspca(s, 2, loss = loss)), NA)
  }
  expect_message(suppressWarnings(ufs_socfs(s, 2, solver = "paper")), NA)
  x <- grouped_counts(64, 2301)$x[, -2301]
  dense <- alfs_basis(as_ufs_matrix(x, TRUE, FALSE)$x)
  expect_equal(alfs_basis(as_ufs_operator(to_sparse(x), TRUE, FALSE)$x)$bound, dense$bound, tolerance = 1e-10)
  x <- as_ufs_operator(open_data(to_sparse(diag(4)[, 1:3] * 2)), TRUE, FALSE)$x
  expect_output(print(x), "<ufs_x> sparse, 4 samples x 3 features", fixed = TRUE)
  s <- to_sparse(sets$wide$x)
  dense_said <- function(...) {
    said <- FALSE
    withCallingHandlers(suppressWarnings(ufs_alfs(s, ...)),
      ufs_message_dense = function(m) said <<- TRUE, message = function(m) invokeRestart("muffleMessage"))
    said
  }
  expect_false(dense_said())
  expect_false(dense_said(select = "pivot", select_samples = "facility"))
  expect_true(dense_said(control = ufs_control(paper = list(lambda_rel = 1e-3))))
  expect_true(dense_said(select = "auto"))
  expect_true(dense_said(solver = "paper"))
  expect_refusals(ufs_alfs(s, control = ufs_control(paper = list(lambda_rel = "a"))))
})

test_that("samples that are fitted all but exactly have exact residuals in sparse data too", {
  # Rank 2, three rows apart: the expanded form of the others' residuals has no digits left.
  x <- withr::with_seed(3, matrix(rexp(40), 20) %*% matrix(rexp(120) * (runif(120) < 0.5), 2))
  x[1:3, ] <- x[1:3, ] + withr::with_seed(4, matrix(rexp(180), 3))
  fits <- expect_same_ways(x, "jspca", list(n_components = 2, lambda_rel = 1e-3, center = FALSE, scale = FALSE), 1e-2)
  for (fit in fits) {
    rest <- sqrt(rowSums((x - x %*% fit$solution$Q %*% t(fit$solution$P))^2))
    expect_lt(min(rest / sqrt(rowSums(x^2))), 0.01)
    expect_equal(unname(fit$solution$residual), rest, tolerance = 1e-8)
  }
})

test_that("none of these forms the matrix", {
  x <- to_sparse(sets$wide$x)
  withr::local_options(ufselect.max_bytes = 8 * 30 * 90 - 1, ufselect.block_bytes = 30 * 8 * 7)
  expect_silence <- function(call) suppressWarnings(expect_message(call, NA))
  expect_error(suppressWarnings(ufs_rsr(x)), class = "ufs_error_memory")
  # Says which columns live on one or two rows.
  expect_silence(suppressMessages(ufs_css(x, 2, mu_rel = 0), "ufs_message_few_rows"))
  expect_silence(ufs_spca(x, 2))
  expect_silence(ufs_cur(x, 2, draw = "top", m = 3, k = 3, decomposition = TRUE))
  expect_silence(fit <- withr::with_seed(1, ufs_medoids(x, 3)))
  # Here even the coordinates are too many.
  expect_output(print(fit), "on the leading 29 principal component scores")
})

test_that("copies of columns are found in one pass over a file, whichever way it lies; sparse components take four", {
  skip_if_not_installed("HDF5Array")
  x <- withr::with_seed(1, matrix(rnorm(50 * 30), 50))
  x[, c(7, 19)] <- x[, 3]
  x[, 12] <- x[, 11]
  x[50, 12] <- x[50, 12] + 1
  x[, 21] <- 0
  x[, 22] <- -0
  want <- replace(1:30, c(7, 19, 22), c(3L, 3L, 21L))
  for (chunk in list(c(7, 30), c(50, 4))) {
    h <- stored(x, chunk)
    op <- as_ufs_operator(open_quietly(ufs_data(h, block_bytes = 4000)), FALSE, FALSE, keep_constant = TRUE)$x
    expect_identical(x_equal_columns(op), want)
    # One for the hashes, one for the candidates: of chunks of columns the four of eight they are in.
    expect_equal(op$count$passes, if (chunk[2] == 30) 2 else 1 + 4 / 8)
  }
  # 64 bits in halves add up as they should.
  expect_identical(add_hashes(cbind(2^32 - 1, 2^32 - 1), cbind(0, 1)), cbind(0, 0))
  expect_identical(add_hashes(cbind(3, 2^32 - 1), cbind(4, 5)), cbind(8, 4))
  expect_lte(suppressWarnings(ufs_spca(DelayedArray::DelayedArray(sets$tall$x), 2))$input$passes, 4L)
})

test_that("components too close to the next ones take all others, or are given with their residual, which is said", {
  x <- withr::with_seed(1, matrix(stats::rnorm(600 * 800), 600))
  expect_message(found <- x_pca(x, 10, tol = 1e-30), "10 leading principal.*all 600 were", class = "ufs_message_spectrum")
  expect_equal(found$sdev2, svd(x, 0, 0)$d[1:10]^2, tolerance = 1e-9)
  # Too many columns for their Gram matrix, and the leading squares differ by 1e-8 of the first.
  x <- Matrix::sparseMatrix(i = 1:6200, j = 1:6200, x = sqrt(1 - (0:6199 / 6200)^2))
  expect_warning(fit <- ufs_pca(ufs_data(x), 2, center = FALSE, scale = FALSE),
    "leading 2 principal components have a relative residual of .*close together", class = "ufs_warning_max_iter")
  expect_length(fit$feature_scores, 6200L)
})
