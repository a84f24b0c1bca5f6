# Every method on sparse data and data on disk against the same method on the dense matrix.

skip_on_cran()

skip_if_not_installed("Matrix")

# Runs a method on the dense matrix, on the sparse one and on blocks; the last two must agree
# with the first.
three_ways <- function(x, .method, ..., tolerance = 1e-6, seed = 1) {
  run <- function(x) withr::with_seed(seed, suppressMessages(suppressWarnings(ufs(x = x, method = .method, ...))))
  dense <- run(x)
  others <- list(sparse = run(to_sparse(x)))
  if (requireNamespace("DelayedArray", quietly = TRUE)) {
    others$blocks <- run(ufs_data(DelayedArray::DelayedArray(x), block_bytes = 8 * 7 * nrow(x)))
  }
  # No copy of a wide dense matrix, by the methods that can do without.
  others$scaled <- withr::with_options(list(ufselect.copy_bytes = 0), run(x))
  for (kind in names(others)) {
    fit <- others[[kind]]
    expect_identical(fit$input$kind, switch(kind, sparse = "sparse", blocks = "source", scaled = "dense"))
    expect_equal(feature_scores_of(fit), feature_scores_of(dense), tolerance = tolerance, info = kind)
    expect_equal(sample_scores_of(fit), sample_scores_of(dense), tolerance = tolerance, info = kind)
    expect_identical(fit$status, dense$status, info = kind)
    expect_identical(fit$names, dense$names)
    expect_identical(fit$constant, dense$constant)
  }
  invisible(c(list(dense = dense), others))
}
# What the method measured, also where picks rank: picks of equal columns differ by rounding.
feature_scores_of <- function(fit) if (is.null(fit$solution$column_norm)) fit$feature_scores else fit$solution$column_norm
sample_scores_of <- function(fit) if (is.null(fit$solution$row_norm)) fit$sample_scores else fit$solution$row_norm
objective_of <- function(fit) tail(fit$trace$objective, 1)

sets <- list(wide = grouped_counts(30, 90), tall = grouped_counts(80, 25), square = grouped_counts(40, 40))
ways <- list(wide = all_four, tall = all_four, square = all_four[1], wider = all_four[1])

for (name in names(sets)) {
  x <- sets[[name]]$x
  test_that(paste0(name, ": variance, random, pca, cur and k-means + F are those of the dense matrix"), {
    three_ways(x, "variance")
    three_ways(x, "random", what = "both")
    for (how in ways[[name]]) {
      fits <- three_ways(x, "pca", n_components = 2, center = how[1], scale = how[2])
      for (fit in fits) expect_equal(fit$solution$scores, fits$dense$solution$scores, tolerance = 1e-5)
      three_ways(x, "kmeans_f", n_clusters = 3, center = how[1], scale = how[2])
    }
    three_ways(x, "cur", rank = 2, draw = "top")
    three_ways(x, "cur", draw = "exact")
  })

  test_that(paste0(name, ": SOCFS and JSPCA are those of the dense matrix"), {
    for (how in ways[[name]]) {
      args <- list(center = how[1], scale = how[2])
      fits <- do.call(three_ways, c(list(x, "socfs", n_clusters = 3, tolerance = 1e-4), args))
      expect_lt(fits$sparse$certificate[["gap"]], 1e-6)
      expect_equal(objective_of(fits$sparse), objective_of(fits$dense), tolerance = 1e-6)
      expect_identical(fits$sparse$solution$cluster, fits$dense$solution$cluster)
      for (loss in c("feature", "sample")) {
        fits <- do.call(three_ways, c(list(x, "jspca", n_components = 2, tolerance = 1e-3,
          loss = loss, control = ufs_control(tol = 1e-6)), args))
        expect_equal(fits$sparse$params$lambda_max, fits$dense$params$lambda_max, tolerance = 1e-8)
        expect_equal(fits$sparse$solution$scores, fits$dense$solution$scores, tolerance = 1e-3)
        expect_equal(fits$sparse$certificate[["kkt"]], 0, tolerance = 1e-4)
      }
    }
  })

  test_that(paste0(name, ": graphs and what is made of them are those of the dense matrix"), {
    for (weights in c("heat", "binary", "cosine")) {
      for (how in ways[[name]]) {
        make <- function(x) suppressWarnings(ufs_graph(x, 4, weights, center = how[1], scale = how[2]))
        expect_equal(as.matrix(make(to_sparse(x))), as.matrix(make(x)), tolerance = 1e-8)
      }
    }
    three_ways(x, "laplacian")
    three_ways(x, "laplacian", scale = TRUE, graph = list(n_neighbours = 3, scale = TRUE, center = TRUE))
    three_ways(x, "spec", type = "phi1", power = 2)
    three_ways(x, "spec", type = "phi2")
    three_ways(x, "spec", type = "phi3", n_clusters = 3, graph = list(n_neighbours = 12))
    for (how in ways[[name]]) {
      three_ways(x, "mcfs", n_clusters = 2, n_features = 5, graph = list(n_neighbours = 12), center = how[1],
        scale = how[2], tolerance = 1e-5)
    }
  })

  test_that(paste0(name, ": TED, RRSS and facility location see the same inner products"), {
    for (how in ways[[name]]) {
      args <- list(center = how[1], scale = how[2])
      fits <- do.call(three_ways, c(list(x, "ted", m = 6), args))
      expect_identical(unname(fits$sparse$solution$order), unname(fits$dense$solution$order))
      expect_equal(fits$sparse$statistic, fits$dense$statistic, tolerance = 1e-6)
      do.call(three_ways, c(list(x, "rrss", tolerance = 1e-3), args))
    }
    three_ways(x, "ted", form = "convex", tolerance = 1e-3)
    three_ways(x, "facility", m = 5)
  })
}

test_that("equal rows of sparse data have equal scores", {
  x <- sets$wide$x
  x[7, ] <- x[2, ]
  fit <- suppressWarnings(ufs_rrss(to_sparse(x)))
  expect_identical(fit$sample_scores[[7]], fit$sample_scores[[2]])
})

test_that("ties and copies of rows: neighbours of a sparse matrix are the dense one's", {
  x <- withr::with_seed(3, matrix(rbinom(60 * 12, 1, 0.3), 60))
  x[31:60, ] <- x[1:30, ]
  for (k in c(1, 5, 58)) {
    a <- suppressWarnings(ufs_graph(x + 0, k, "binary", symmetrise = "mean"))
    b <- suppressWarnings(ufs_graph(to_sparse(x + 0), k, "binary", symmetrise = "mean"))
    expect_identical(b$weights, a$weights)
  }
  # Far from the origin nothing is proved by inner products alone.
  y <- x + 1e5 * rep(c(0, 1), each = 6 * 60)
  expect_equal(as.matrix(ufs_graph(to_sparse(y), 5, "binary")), as.matrix(ufs_graph(y, 5, "binary")))
})

test_that("many samples: neighbours on principal component scores, said in the print", {
  set <- grouped_counts(150, 60)
  withr::local_options(ufselect.exact_neighbours = 100L)
  fit <- suppressWarnings(ufs_laplacian(to_sparse(set$x), graph = list(n_neighbours = 6)))
  expect_output(print(fit), "approximate .*, on the leading 50 principal component scores")
  # On so few samples the approximate search misses next to nothing.
  z <- suppressWarnings(kmeans_rows(as_ufs_operator(to_sparse(set$x), FALSE, FALSE)$x, 2))
  exact <- as.matrix(ufs_graph(z, 6, "binary"))
  near <- as.matrix(suppressWarnings(ufs_graph(to_sparse(set$x), 6, "binary")))
  expect_gt(mean(near[exact > 0] > 0), 0.98)
  expect_identical(suppressWarnings(ufs_graph(to_sparse(set$x), 6, "binary"))$weights,
    suppressWarnings(ufs_graph(to_sparse(set$x), 6, "binary"))$weights)
  expect_error(.Call(C_graph_lists, z, matrix(1L, 2, 150), matrix(0, 2, 150), 1L, 1, 0L), "neighbour")
  expect_error(.Call(C_graph_lists, z, matrix(999L, 2, 150), matrix(0, 2, 150), 1L, 1, 0L), "range")
  expect_error(.Call(C_graph_lists, z, matrix(1L, 2, 3), matrix(0, 2, 3), 1L, 1, 0L), "sizes")
})

test_that("copies of columns share their row in sparse data too", {
  x <- sets$wide$x
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
})

for (name in names(sets)) {
  x <- sets[[name]]$x
  test_that(paste0(name, ": sparse principal components are those of the dense matrix"), {
    for (how in ways[[name]]) {
      fits <- three_ways(x, "spca", n_components = 3, lambda_rel = .2, center = how[1],
        scale = how[2], tolerance = 1e-4, control = ufs_control(tol = 1e-7))
      for (fit in fits) {
        expect_equal(fit$params$lambda, fits$dense$params$lambda, tolerance = 1e-8)
        expect_equal(objective_of(fit), objective_of(fits$dense), tolerance = 1e-7)
        expect_lt(fit$certificate[["kkt"]], 1e-4)
        expect_equal(fit$solution$explained, fits$dense$solution$explained, tolerance = 1e-5)
      }
    }
    y <- x
    y[, 20] <- y[, 1]
    fit <- suppressWarnings(ufs_spca(to_sparse(y), 2))
    expect_identical(unname(fit$solution$B[20, ]), unname(fit$solution$B[1, ]))
  })
}

test_that("sparse principal components read a tall file four times, once for equal columns", {
  skip_if_not_installed("DelayedArray")
  x <- sets$tall$x
  expect_lte(suppressWarnings(ufs_spca(DelayedArray::DelayedArray(x), 2))$input$passes, 4L)
})

test_that("what needs x itself forms it and says so", {
  s <- to_sparse(sets$wide$x)
  for (loss in c("feature", "sample")) {
    expect_message(suppressWarnings(ufs_jspca(s, 2, loss = loss, solver = "paper")), "dense",
      class = "ufs_message_dense")
    expect_message(suppressWarnings(ufs_jspca(s, 2, loss = loss)), NA)
  }
  expect_message(suppressWarnings(ufs_socfs(s, 2, solver = "paper")), NA)
})

for (name in c(names(sets), "wider")) {
  x <- if (name == "wider") grouped_counts(12, 1100)$x else sets[[name]]$x
  test_that(paste0(name, ": ALFS is that of the dense matrix"), {
    for (how in ways[[name]]) {
      args <- list(center = how[1], scale = how[2], select = "pivot")
      fits <- do.call(three_ways, c(list(x, "alfs", tolerance = 1e-2, control = ufs_control(tol = 1e-7)), args))
      for (fit in fits) {
        expect_equal(objective_of(fit), objective_of(fits$dense), tolerance = 1e-6)
        expect_equal(fit$certificate[["dual"]], fits$dense$certificate[["dual"]], tolerance = 1e-6)
        expect_equal(fit$params$alpha, fits$dense$params$alpha, tolerance = 1e-8)
        expect_lte(fit$certificate[["gap"]], 1e-7)
      }
      # Twelve counts standardised: many equal columns, whose picks differ by rounding.
      if (name == "wider") next
      expect_identical(head(fits$sparse$feature_ranking, 5), head(fits$dense$feature_ranking, 5))
      expect_identical(head(fits$sparse$sample_ranking, 5), head(fits$dense$sample_ranking, 5))
    }
  })

  test_that(paste0(name, ": ALFS with lambda > 0 is that of the dense matrix"), {
    for (how in ways[[name]]) {
      # An empty row of samples has no direction: its cosines, and so T, are rounding.
      y <- if (how[1]) x else x[-nrow(x), ]
      fits <- three_ways(y, "alfs", center = how[1], scale = how[2], alpha_rel = .05,
        beta_rel = .1, tolerance = 2e-2, control = ufs_control(tol = 1e-6, paper = list(lambda_rel = .002)))
      for (fit in fits) {
        expect_equal(fit$certificate[["dual"]], fits$dense$certificate[["dual"]], tolerance = 3e-6)
        expect_equal(objective_of(fit), objective_of(fits$dense), tolerance = 3e-6)
        expect_lte(fit$certificate[["gap"]], 1e-6)
      }
    }
  })
  test_that(paste0(name, ": neighbourhood reconstruction sees the same inner products"), {
    # No ties among distances: counts have many, which rounding decides.
    y <- x * (1 + withr::with_seed(5, matrix(runif(length(x), 0, .01), nrow(x))))
    for (how in ways[[name]]) {
      fits <- three_ways(y, "alnr", n_neighbours = 4, center = how[1], scale = how[2], tolerance = 1e-3,
        control = ufs_control(tol = 1e-6, max_iter = 2000))
      for (fit in fits) {
        expect_equal(fit$params$gamma, fits$dense$params$gamma, tolerance = 1e-8)
        expect_equal(fit$certificate[["dual"]], fits$dense$certificate[["dual"]], tolerance = 1e-5)
      }
    }
  })
}

test_that("the penalties' bounds are those of the dense matrix where x passes in many blocks", {
  x <- grouped_counts(64, 2301)$x[, -2301]
  dense <- alfs_basis(as_ufs_matrix(x, TRUE, FALSE)$x)
  expect_equal(alfs_basis(as_ufs_operator(to_sparse(x), TRUE, FALSE)$x)$bound, dense$bound, tolerance = 1e-10)
})

test_that("ALFS forms x only where it must", {
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
  expect_error(suppressWarnings(ufs_alfs(s, control = ufs_control(paper = list(lambda_rel = "a")))), class = "ufs_error_argument")
})

test_that("samples that are fitted all but exactly have exact residuals in sparse data too", {
  # Rank 2, three rows apart: the expanded form of the others' residuals has no digits left.
  x <- withr::with_seed(3, matrix(rexp(40), 20) %*% matrix(rexp(120) * (runif(120) < 0.5), 2))
  x[1:3, ] <- x[1:3, ] + withr::with_seed(4, matrix(rexp(180), 3))
  fits <- three_ways(x, "jspca", n_components = 2, lambda_rel = 1e-3, center = FALSE, scale = FALSE, tolerance = 1e-2)
  for (fit in fits) {
    rest <- sqrt(rowSums((x - x %*% fit$solution$Q %*% t(fit$solution$P))^2))
    expect_lt(min(rest / sqrt(rowSums(x^2))), 0.01)
    expect_equal(unname(fit$solution$residual), rest, tolerance = 1e-8)
  }
})

test_that("equal rows and columns of sparse data have equal leverage to the last bit", {
  x <- sets$wide$x
  x[5, ] <- x[9, ]
  x[, 7] <- x[, 3]
  fit <- suppressWarnings(ufs_cur(to_sparse(x), rank = 3, draw = "top"))
  expect_identical(fit$solution$leverage_samples[[5]], fit$solution$leverage_samples[[9]])
  expect_identical(fit$solution$leverage_features[[7]], fit$solution$leverage_features[[3]])
})

test_that("above 50 components k-means says that it saw only those", {
  x <- withr::with_seed(1, Matrix::rsparsematrix(120, 200, 0.1))
  fit <- withr::with_seed(1, ufs_kmeans_f(x, 3))
  expect_output(print(fit), "leading 50 principal component scores")
  expect_equal(unname(feature_scores(fit)), unname(f_statistic(as.matrix(x), fit$solution$cluster)), tolerance = 1e-8)
})

for (name in names(sets)) {
  x <- sets[[name]]$x
  test_that(paste0(name, ": css, medoids, consensus and diversify are those of the dense matrix"), {
    for (how in ways[[name]]) {
      args <- list(center = how[1], scale = how[2])
      for (mu_rel in c(0, 0.1)) {
        fits <- do.call(three_ways, c(list(x, "css", k = 6, mu_rel = mu_rel, swaps = TRUE), args))
        for (fit in fits) {
          expect_identical(fit$solution$order, fits$dense$solution$order)
          expect_equal(fit$certificate, fits$dense$certificate, tolerance = 1e-8)
          expect_equal(fit$trace, fits$dense$trace, tolerance = 1e-6)
        }
      }
      for (unit in c(TRUE, FALSE)) {
        fits <- do.call(three_ways, c(list(x, "medoids", m = 4, unit = unit), args))
        for (fit in fits) {
          expect_identical(fit$solution$cluster, fits$dense$solution$cluster)
          expect_equal(fit$certificate, fits$dense$certificate, tolerance = 1e-8)
        }
      }
    }
    members <- c("variance", "pca", "kmeans_f")
    # Without ties, which rounding would order.
    fits <- three_ways(x * withr::with_seed(2, runif(length(x), 1, 1.5)), "consensus", n_clusters = 3,
      k = 5, members = members)
    for (fit in fits) expect_identical(fit$solution$order, fits$dense$solution$order)
    base <- suppressWarnings(ufs_variance(x))
    others <- c(list(to_sparse(x)), if (requireNamespace("DelayedArray", quietly = TRUE)) {
      list(ufs_data(DelayedArray::DelayedArray(x)))
    })
    for (how in c("correlation", "css")) {
      dense <- ufs_diversify(base, x, 5, how)
      for (other in others) {
        fit <- ufs_diversify(base, other, 5, how)
        expect_identical(fit$solution$order, dense$solution$order)
        expect_equal(fit$certificate, dense$certificate, tolerance = 1e-8)
      }
    }
    for (other in others) expect_equal(ufs_captured(base, other, 1:6), ufs_captured(base, x, 1:6), tolerance = 1e-8)
  })

  test_that(paste0(name, ": the CUR decomposition reads its rows and columns alone"), {
    for (how in ways[[name]]) {
      fits <- three_ways(x, "cur", rank = 3, draw = "top", m = 5, k = 6,
        decomposition = TRUE, center = how[1], scale = how[2])
      for (fit in fits) {
        for (part in c("C", "U", "R")) expect_equal(fit$solution[[part]], fits$dense$solution[[part]], tolerance = 1e-6)
        expect_equal(fit$certificate, fits$dense$certificate, tolerance = 1e-8)
      }
    }
  })
}

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

test_that("copies of columns are found in one pass over a file, whichever way it lies", {
  skip_if_not_installed("HDF5Array")
  x <- withr::with_seed(1, matrix(rnorm(50 * 30), 50))
  x[, c(7, 19)] <- x[, 3]
  x[, 12] <- x[, 11]
  x[50, 12] <- x[50, 12] + 1
  x[, 21] <- 0
  x[, 22] <- -0
  want <- replace(1:30, c(7, 19, 22), c(3L, 3L, 21L))
  for (chunk in list(c(7, 30), c(50, 4))) {
    file <- withr::local_tempfile(fileext = ".h5")
    h <- HDF5Array::writeHDF5Array(x, file, "x", chunkdim = chunk)
    op <- as_ufs_operator(open_quietly(ufs_data(h, block_bytes = 4000)), FALSE, FALSE, keep_constant = TRUE)$x
    expect_identical(x_equal_columns(op), want)
    # One for the hashes, one for the candidates: of chunks of columns the four of eight they are in.
    expect_equal(op$count$passes, if (chunk[2] == 30) 2 else 1 + 4 / 8)
  }
  # 64 bits in halves add up as they should.
  a <- cbind(2^32 - 1, 2^32 - 1)
  expect_identical(add_hashes(a, cbind(0, 1)), cbind(0, 0))
  expect_identical(add_hashes(cbind(3, 2^32 - 1), cbind(4, 5)), cbind(8, 4))
})

test_that("an operator prints what it is and its size", {
  skip_if_not_installed("Matrix")
  x <- as_ufs_operator(open_data(to_sparse(diag(4)[, 1:3] * 2)), TRUE, FALSE)$x
  expect_output(print(x), "<ufs_x> sparse, 4 samples x 3 features", fixed = TRUE)
})

test_that("components too close to the next ones are computed with all others, which is said", {
  x <- withr::with_seed(1, matrix(stats::rnorm(600 * 800), 600))
  expect_message(found <- x_pca(x, 10, tol = 1e-30), "10 leading principal.*all 600 were",
    class = "ufs_message_spectrum")
  expect_equal(found$sdev2, svd(x, 0, 0)$d[1:10]^2, tolerance = 1e-9)
})

test_that("components that do not converge are given with a warning and their residual", {
  skip_if_not_installed("Matrix")
  # Too many columns for their Gram matrix, and the leading squares differ by 1e-8 of the first.
  x <- Matrix::sparseMatrix(i = 1:6200, j = 1:6200, x = sqrt(1 - (0:6199 / 6200)^2))
  expect_warning(fit <- ufs_pca(ufs_data(x), 2, center = FALSE, scale = FALSE),
    "leading 2 principal components have a relative residual of .*close together", class = "ufs_warning_max_iter")
  expect_length(fit$feature_scores, 6200L)
})

test_that("columns that equal others but for their sign are found whatever they are divided by", {
  skip_if_not_installed("Matrix")
  x <- withr::with_seed(2, matrix(stats::rnorm(60) * stats::rbinom(60, 1, .6), 12))
  x <- cbind(x, -4 * x[, 2], x[, 4] / 8, -x[, 2])
  operator <- as_rescaled_operator(open_data(to_sparse(x)), TRUE, TRUE)$x
  found <- x_alike_columns(operator)
  expect_identical(found$first[6:8], c(2L, 4L, 2L))
  expect_identical(found$first[1:5], 1:5)
  expect_identical(found$sign[6:8] * found$sign[c(2, 4, 2)], c(-1, 1, -1))
  dense <- x_alike_columns(scale(x)[, ])
  expect_identical(dense$first, found$first)
})
