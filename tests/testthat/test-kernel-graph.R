graph <- ufs_graph(iris[1:30, 1:4])

test_that("fixtures: heat and binary graphs; all columns count where there are more than one product takes", {
  for (set in c("mtcars", "synth60x200")) {
    x <- baseline_input(set)
    expect_equal(unname(as.matrix(ufs_graph(x))), baseline_graph(set, "knn5_heat_max"), tolerance = 1e-12)
    expect_identical(unname(as.matrix(ufs_graph(x, weights = "binary"))), baseline_graph(set, "knn5_binary_max"))
  }
  # Groups in the first 200 of 700 columns, which a search over the last ones alone would not see.
  x <- noise(60, 700)
  group <- rep(1:6, 10)
  x[, 1:200] <- x[, 1:200] + 5 * noise(6, 200)[group, ]
  near <- suppressWarnings(as.matrix(ufs_graph(x, n_neighbours = 5, weights = "binary")))
  expect_identical(near[outer(group, group, `!=`)], rep(0, 3000))
  d <- as.matrix(dist(x))
  diag(d) <- Inf
  a <- matrix(0, 60, 60)
  a[cbind(rep(1:60, each = 5), c(apply(d, 1, order)[1:5, ]))] <- 1
  expect_identical(near, pmax(a, t(a)))
  x <- two_islands()
  expect_warning(graph <- ufs_graph(x, n_neighbours = 3), class = "ufs_warning_graph")
  w <- as.matrix(graph)
  expect_true(isSymmetric(w))
  expect_identical(diag(w), rep(0, 20))
  expect_equal(graph$degree, rowSums(w), tolerance = 1e-14)
  expect_identical(graph$n_edges, sum(w[upper.tri(w)] > 0))
  expect_identical(graph$component, ref_components(w))
  expect_identical(graph$n_components, max(ref_components(w)))
  expect_gt(graph$n_components, 1L)
  expect_identical(graph$n_isolated, 0L)
  expect_identical(dim(graph), c(20L, 20L))
  expect_equal(as.matrix(graph$weights), w)
  out <- paste(utils::capture.output(print(graph)), collapse = "\n")
  expect_match(out, "3 nearest neighbours \\(max\\), heat weights")
  expect_match(out, paste0("components   ", graph$n_components))
  graph <- ufs_graph(mtcars, n_neighbours = 5, scale = TRUE)
  w <- as.matrix(graph)
  expect_identical(dimnames(w), list(rownames(mtcars), rownames(mtcars)))
  expect_equal(unname(w), ref_graph(unname(scale(mtcars)), 5), tolerance = 1e-12)
  skip_if_not_installed("Matrix")
  sparse <- as.matrix(graph, sparse = TRUE)
  expect_s4_class(sparse, "CsparseMatrix")
  expect_identical(as.matrix(sparse), w)
})

test_that("isolated samples: heat that underflows, mutual neighbours; bad arguments are errors that name them", {
  x <- rbind(noise(15, 2), c(1e3, 1e3))
  expect_warning(graph <- ufs_graph(x, n_neighbours = 2, bandwidth = 1), "1 of 16 samples have no edge")
  expect_identical(list(graph$n_isolated, graph$degree[16]), list(1L, 0))
  expect_identical(graph$component[16], graph$n_components)
  expect_warning(graph <- ufs_graph(x, n_neighbours = 2, symmetrise = "min"), class = "ufs_warning_graph")
  expect_identical(graph$degree[16], 0)
  expect_warning(graph <- ufs_graph(x, bandwidth = 1e-5), class = "ufs_warning_graph")
  expect_identical(graph$n_isolated, 16L)
  expect_refusals(ufs_laplacian(x, graph), ufs_laplacian(x, list(bandwidth = 1e-5)), class = "ufs_error_graph")
  x <- noise(10, 2)
  expect_refusals("at most 9 .*10 samples" = ufs_graph(x, n_neighbours = 10), ufs_graph(x, n_neighbours = 0),
    ufs_graph(x, weights = "gauss"), ufs_graph(x, symmetrise = "or"), ufs_graph(x, bandwidth = 0),
    ufs_graph(x, bandwidth = Inf))
  x[2, 1] <- NA
  expect_refusals(ufs_graph(x), "Rescale" = ufs_graph(1e200 * noise(10, 2)), class = "ufs_error_input")
  withr::local_options(ufselect.max_bytes = 1e4)
  expect_error(ufs_graph(noise(100, 2)), class = "ufs_error_memory")
})

as_graph <- function(graph, x, connected = FALSE) as_ufs_graph(graph, as_ufs_matrix(x, FALSE, FALSE), connected)

test_that("NULL, a list, a graph and a matrix are the same graph", {
  x <- noise(30, 3)
  graph <- ufs_graph(x, n_neighbours = 4, weights = "cosine", center = TRUE)
  w <- as.matrix(graph)
  expect_identical(as_graph(graph, x), graph)
  same <- as_graph(list(weights = "cosine", n_neighbours = 4, center = TRUE), x)
  expect_equal(same$weights, graph$weights, tolerance = 1e-14)
  expect_identical(as_graph(w, x)$weights, graph$weights)
  expect_identical(as_graph(NULL, x)$weights, ufs_graph(x)$weights)
  expect_identical(as_graph(list(), x)$weights, ufs_graph(x)$weights)
  expect_identical(as_graph(list(bandwidth = NULL), x)$weights, ufs_graph(x)$weights)
  by_scaled <- as_graph(list(scale = TRUE), x * rep(c(1, 100, 1e4), each = 30))
  expect_equal(by_scaled$weights, ufs_graph(x, scale = TRUE)$weights, tolerance = 1e-12)
  skip_if_not_installed("Matrix")
  expect_identical(as_graph(Matrix::Matrix(w, sparse = TRUE), x)$weights, graph$weights)
  expect_identical(as_graph(Matrix::Matrix(w, sparse = FALSE), x)$weights, graph$weights)
})

test_that("a matrix of the user's is checked", {
  x <- noise(8, 2)
  w <- 1 - diag(8)
  bad <- function(w, text) expect_error(as_graph(w, x), text, class = "ufs_error_argument")
  expect_refusals("for 7 samples, but `x` has 8" = as_graph(w[-1, -1], x), "square" = as_graph(w[, -1], x),
    "negative" = as_graph(-w, x), "missing or infinite" = as_graph(replace(w, 2, NA), x),
    "missing or infinite" = as_graph(replace(w, 2, Inf), x), "not symmetric" = as_graph(replace(w, 2, 0.5), x),
    "not symmetric" = as_graph(replace(w, 2, 0), x), "must be NULL" = as_graph("knn", x),
    "names among" = as_graph(list(n_neighbours = 3, neighbours = 3), x), "names among" = as_graph(list(3), x),
    "for 9 samples" = as_graph(ufs_graph(noise(9, 2)), x))
  expect_error(as_graph(0 * w, x), class = "ufs_error_graph")
  expect_message(graph <- as_graph(w + diag(8), x), "8 self loops", class = "ufs_message_loops")
  expect_identical(as.matrix(graph), w)
  skip_if_not_installed("Matrix")
  sparse <- Matrix::Matrix(w, sparse = TRUE)
  sparse[2, 3] <- NA
  bad(sparse, "missing or infinite")
})

test_that("indices out of range are refused before they are used; cosine weights have no absolute threshold", {
  weights <- graph$weights
  for (wrong in list(c(1L, -1L), c(weights$start[31], 30L))) {
    graph$weights$index <- replace(weights$index, wrong[1], as.integer(wrong[2]))
    expect_error(ufs_laplacian(iris[1:30, 1:4], graph), "indices and weights do not fit", class = "ufs_error_argument")
  }
  x <- withr::with_seed(1, matrix(rnorm(60), 12))
  want <- as.matrix(ufs_graph(x, n_neighbours = 4, weights = "cosine"))
  for (unit in 2^c(-60, 60)) expect_identical(as.matrix(ufs_graph(x * unit, n_neighbours = 4, weights = "cosine")), want)
})

test_that("an edited graph is refused wherever it is read; exact = TRUE searches many sparse samples, too", {
  y <- replace(iris$Species[c(1, 51, 101)[rep(1:3, 10)]], 4:30, NA)
  expect_length(ufs_propagate(graph, y)$label, 30)
  for (part in c("start", "index", "value")) {
    broken <- graph
    broken$weights[[part]][5] <- if (part == "value") NaN else 1000000L
    for (use in list(function() as.matrix(broken), function() ufs_propagate(broken, y), function() plot(broken))) {
      expect_refused(use(), "not a sound graph", argument = "graph")
    }
  }
  skip_if_not_installed("Matrix")
  x <- grouped_counts(120, 60)$x
  withr::local_options(ufselect.exact_neighbours = 100L)
  graph <- function(...) suppressWarnings(ufs_graph(...))
  expect_message(exact <- graph(to_sparse(x), 6, exact = TRUE), NA, class = "ufs_message_scores")
  expect_identical(exact$weights$index, graph(x, 6)$weights$index)
})

test_that("many samples are searched approximately, which is said; exact = TRUE is not", {
  x <- withr::with_seed(1, matrix(rnorm(400 * 3), 400))
  withr::local_options(ufselect.exact_neighbours = 300L)
  # Who waits is told how far it is, in per cent.
  steps <- NULL
  withr::with_options(list(ufselect.watch = function(step = NULL, ...) steps <<- c(steps, step)), approximate_neighbours(x, 5L))
  expect_false(is.unsorted(steps))
  expect_true(all(steps >= 0 & steps <= 100) && max(steps) > 0)
  expect_message(graph <- ufs_graph(x), class = "ufs_message_neighbours")
  expect_output(print(graph), "approximate \\(.*% of the true neighbours\\)")
  expect_gt(graph$recall, .95)
  expect_silent(exact <- ufs_graph(x, exact = TRUE))
  expect_null(exact$recall)
  withr::local_options(ufselect.exact_neighbours = 400L)
  expect_identical(ufs_graph(x)$weights, exact$weights)
})

test_that("exact embeddings in few dimensions, large weights, and sparse rows with blocks, whole or in pairs", {
  x <- withr::with_seed(1, matrix(stats::rnorm(120), 40)) + rep(c(0, 50, 200, 450), each = 10)
  out <- embed_graph(suppressWarnings(ufs_graph(x, 3)), 1L, "spec")
  expect_identical(out$status, "converged")
  expect_equal(c(out$values, out$next_value), c(0, 0))
  x <- noise(30, 3)
  graph <- suppressWarnings(ufs_graph(x, 4))
  w <- as.matrix(graph)
  fit <- function(by) ufs_laplacian(x, graph = by * w)
  expect_equal(feature_scores(fit(3e7)), feature_scores(fit(1)), tolerance = 1e-10)
  graph$weights$value <- 3e7 * graph$weights$value
  graph$degree <- 3e7 * graph$degree * (1 + 1e-12)
  expect_equal(feature_scores(ufs_laplacian(x, graph)), feature_scores(fit(1)), tolerance = 1e-10)
  skip_if_not_installed("Matrix")
  x <- withr::with_seed(1, matrix(stats::rbinom(29 * 6, 3, 0.5), 29)) + 0
  block <- rep(1:2, c(11, 18))
  centred <- x - (rowsum(x, block) / c(11, 18))[block, ]
  data <- ufs_data(to_sparse(x), blocks = block)
  graph <- function(...) unname(as.matrix(suppressWarnings(ufs_graph(data, n_neighbours = 4, center = TRUE, ...))))
  expect_equal(graph(), ref_graph(centred, 4), tolerance = 1e-12)
  withr::local_options(ufselect.block_bytes = 8 * 6 * 7)
  for (weights in c("heat", "binary", "cosine")) {
    expect_equal(graph(weights = weights, exact = TRUE), ref_graph(centred, 4, weights), tolerance = 1e-12)
  }
})

test_that("refusals say what is wrong", {
  expect_refused(check_wstep_bytes(2e5, 10, 2e5), "`k` is too large: a graph can have at most")
  withr::local_options(ufselect.max_bytes = 1e13)
  expect_refused(ufs_graph(matrix(as.double(1:40000)), n_neighbours = 30000),
    "`n_neighbours` is too large: a graph can have at most 2147483647 entries.")
})

test_that("distances that no number holds are refused after the search, too", {
  x <- matrix(c(1, -1, 2, -2, 3, 1), 6) * 1e200
  beyond <- .Call(C_graph_knn, x, 2L)
  expect_identical(c(beyond$d2), rep(Inf, 12))
  expect_identical(beyond$mean_distance, Inf)
  for (i in 1:6) expect_length(setdiff(beyond$index[, i], i), 2L)
  replaced("check_norms", function(...) NULL)
  expect_refused(ufs_graph(x, 2), "Distances between the rows of `x`", "ufs_error_input")
})

skip_on_cran()

test_that("weights and symmetrisations are those of the definition", {
  x <- noise(40, 4)
  for (weights in c("heat", "binary", "cosine")) {
    for (rule in c("max", "min", "mean")) {
      graph <- suppressWarnings(ufs_graph(x, n_neighbours = 4, weights = weights, symmetrise = rule))
      expect_equal(as.matrix(graph), ref_graph(x, 4, weights, symmetrise = rule), tolerance = 1e-13)
    }
  }
  graph <- suppressWarnings(ufs_graph(x, n_neighbours = 4, bandwidth = 0.7))
  expect_equal(as.matrix(graph), ref_graph(x, 4, bandwidth = 0.7), tolerance = 1e-13)
  expect_identical(graph$bandwidth, 0.7)
})

test_that("an edited graph is refused, in words", {
  edits <- expression(g$weights$index[5] <- 1000000L, g$weights$index[5] <- -1L, g$weights$index[1] <- 0L,
    g$weights$index[1:2] <- g$weights$index[2:1], g$weights$value[3] <- NaN, g$weights$value[3] <- -g$weights$value[3],
    g$weights$value[3] <- 2 * g$weights$value[3], g$weights$start[2] <- 1000L, g$weights$start[1] <- 1L,
    g$weights$start <- g$weights$start[-1], g$weights$value <- g$weights$value[-1],
    g$weights$index <- as.double(g$weights$index), g$weights <- NULL, g$degree <- g$degree + 1, g$degree <- NULL,
    g$n_isolated <- 3L, g$n <- 7L)
  for (edit in edits) {
    g <- graph
    eval(edit)
    for (fit in list(ufs_laplacian, function(x, graph) ufs_mcfs(x, 2, graph))) {
      expect_error(fit(iris[1:30, 1:4], graph = g), "sound graph", class = "ufs_error_argument")
    }
  }
})

test_that("wrong direct calls are errors of R, never crashes", {
  x <- matrix(as.double(1:40), 8)
  graph <- unclass(ufs_graph(x, n_neighbours = 3))
  small <- unclass(ufs_graph(x[1:5, ], n_neighbours = 3))
  control <- resolve_control(ufs_control(), max_iter = 5L, tol = 1, eps = 1, inner_tol = 1, inner_max_iter = 5L)
  wrong <- list(NULL, 1L, "a", TRUE, list(), 1:3, x[1:5, ], x[0, ], c(1, 2))
  calls <- list(list(C_spec_quadratic, graph, x, 1L, TRUE),
    list(C_spec_leading, graph, x, 1L, c(1, 2), x[, 1:2]), list(C_graph_embed, graph, 3L),
    list(C_graph_knn, x, 3L), list(C_graph_lists, x, matrix(rep(2:1, c(1, 7)), 1), matrix(1, 1, 8), 0L, 1, 0L),
    list(C_graph_mult, graph, x, TRUE), list(C_graph_describe, graph$weights$start,
      graph$weights$index, graph$weights$value), list(C_mcfs, x, x[, 1:2], 3L, 0, control),
    list(C_rsr, x, c(1, 1), list(lambda = 1, relative = FALSE, accelerate = TRUE, keep_w = FALSE,
      start_g = 1), control), list(C_ndfs, x, graph, x[, 1:2], list(alpha = 1, beta = 1, gamma = 1, start_g = 1,
      exact = TRUE, split = TRUE, normalised = FALSE), control),
    list(C_udfs, x, list(n_clusters = 2L, k = 3L, lambda = 1, gamma = 1, accelerate = TRUE), control),
    list(C_sogfs, x, list(n_clusters = 2L, n_dims = 2L, k = 3L, gamma = 1, accelerate = TRUE), control))
  for (call in calls) {
    expect_error(do.call(.Call, call), NA)
    for (at in seq_along(call)[-1]) {
      for (value in c(wrong, list(small))) {
        bad <- call
        bad[at] <- list(value)
        # An error, or an answer where the value happens to make sense: R is still there.
        expect_true(suppressWarnings(tryCatch(is.null(do.call(.Call, bad)) || TRUE, error = function(e) TRUE)))
      }
    }
  }
  expect_error(.Call(C_spec_leading, graph, x, 1L, c(1, 2, 3), x[, 1:2]), "wrong type or length")
  # Settings of the wrong size inside a list.
  for (name in c("n_clusters", "k", "n_dims")) {
    settings <- list(n_clusters = 2L, n_dims = 2L, k = 3L, lambda = 1, gamma = 1, accelerate = TRUE)
    settings[[name]] <- 1000L
    expect_error(.Call(C_sogfs, x, settings, control), "whole number")
  }
})

test_that("files beyond four blocks: neighbours on scores are announced, exact ones are the matrix's", {
  skip_if_not_installed("HDF5Array")
  folder <- withr::local_tempdir()
  # More columns than scores, and samples in many ties.
  noise <- withr::with_seed(1, matrix(rnorm(70 * 64), 70))
  ties <- withr::with_seed(3, matrix(rbinom(70 * 12, 1, 0.3), 70)) + 0
  ties[41:70, ] <- ties[1:30, ]
  on_disk <- function(x, chunk, lines) {
    out <- suppressMessages(HDF5Array::writeHDF5Array(x, tempfile("x-", folder, ".h5"), "x", chunkdim = chunk))
    ufs_data(out, block_bytes = 16 * lines * ncol(x))
  }
  graph <- function(...) suppressWarnings(ufs_graph(...))
  file <- on_disk(noise, c(3, 64), 9)
  expect_message(near <- graph(file), "50 principal component scores", class = "ufs_message_scores")
  said <- 0
  withCallingHandlers(suppressWarnings(ufs_laplacian(file)), ufs_message_scores = function(m) said <<- said + 1)
  expect_identical(said, 1)
  expect_false(identical(near$weights$index, graph(noise)$weights$index))
  expect_message(exact <- graph(file, exact = TRUE), NA, class = "ufs_message_scores")
  expect_null(exact$note)
  for (x in list(noise, ties)) {
    for (file in list(on_disk(x, c(3, ncol(x)), 9), on_disk(x, c(70, 2), 17))) {
      for (weights in c("heat", "binary", "cosine")) {
        for (k in c(1, 20)) {
          dense <- graph(x, k, weights, center = TRUE, scale = TRUE, symmetrise = "mean")
          blocks <- graph(file, k, weights, center = TRUE, scale = TRUE, symmetrise = "mean", exact = TRUE)
          expect_identical(blocks$weights$index, dense$weights$index)
          expect_equal(blocks$weights$value, dense$weights$value, tolerance = 1e-10)
          expect_equal(blocks$bandwidth, dense$bandwidth, tolerance = 1e-10)
        }
      }
    }
  }
  scores <- function(x, ...) quietly(ufs_laplacian(x, ...))$feature_scores
  expect_equal(scores(file, graph = list(exact = TRUE)), scores(ties), tolerance = 1e-10)
  expect_error(graph(noise, exact = NA), class = "ufs_error_argument")
})

test_that("the approximate search finds nearly all and measures how many; single precision changes no answer", {
  x <- withr::with_seed(1, matrix(rnorm(3000 * 4), 3000) %*% matrix(rnorm(4 * 12), 4))
  # Copies, and a far point.
  x[2001:2100, ] <- x[1:100, ]
  x[3000, ] <- 100
  near <- approximate_neighbours(x, 6L)
  hit <- near$d2 <= rep(.Call(C_graph_knn, x, 6L)$d2[6L, ], each = 6L) * (1 + 1e-10)
  expect_equal(near$recall, mean(hit[, (floor((0:199) / 200 * 3000) + 1)]), tolerance = 1e-12)
  expect_gt(mean(hit), .98)
  expect_identical(near, approximate_neighbours(x, 6L))
  own <- rep(1:3000, each = 6L)
  expect_false(any(near$index == own))
  expect_equal(as.vector(near$d2), rowSums((x[own, ] - x[as.vector(near$index), ])^2))
  expect_true(all(apply(near$index, 2L, anyDuplicated) == 0L))
  expect_false(any(apply(near$d2, 2L, is.unsorted)))
  # All equal, one column, hardly more samples than neighbours, distances that cannot be held.
  expect_true(all(approximate_neighbours(matrix(1, 300, 2), 5L)$d2 == 0))
  expect_gt(approximate_neighbours(matrix(as.double(1:500)), 2L)$recall, .95)
  # It keeps some more than k for each sample, not all: of points in every direction a few are missed.
  expect_lt(approximate_neighbours(withr::with_seed(1, matrix(rnorm(1500 * 30), 1500)), 6L)$recall, 1)
  few <- withr::with_seed(2, matrix(rnorm(24), 8))
  expect_identical(approximate_neighbours(few, 7L)$recall, 1)
  expect_true(all(approximate_neighbours(few * 1e300, 3L)$index %in% 1:8))
  expect_error(.Call(C_graph_near, few, 8L), "internal error")
  x <- withr::with_seed(3, matrix(rnorm(1500 * 21), 1500))
  near <- approximate_neighbours(x, 5L)
  # Nothing is given up where squares nearly vanish, but the search is the same.
  all <- approximate_neighbours(x * 2^-502, 5L)
  expect_identical(near$index, all$index)
  expect_equal(near$d2, all$d2 * 2^1004, tolerance = 1e-6)
  # Far from zero, in tight clusters and beside one far row single precision tells little.
  tight <- rbind(x[1:700, ] * 2^-20 + 3, x[701:1500, ], 1e7)
  beside <- approximate_neighbours(tight + 1e5, 5L)
  exact <- .Call(C_graph_knn, tight + 1e5, 5L)
  expect_gt(mean(beside$d2[, 1:700] <= rep(exact$d2[5L, 1:700], each = 5L) * (1 + 1e-6)), .8)
  n <- 700
  angle <- 2 * pi * seq_len(n) / n
  ring <- ufs_graph(cbind(cos(angle), sin(angle)), 2, weights = "binary", center = FALSE)
  out <- embed_graph(ring, 4L, "spec")
  expect_identical(out$status, "converged")
  expect_equal(out$values, 1 - cos(2 * pi * c(1, 1, 2, 2) / n), tolerance = 1e-6)
  expect_equal(out$next_value, 1 - cos(6 * pi / n), tolerance = 1e-6)
})
