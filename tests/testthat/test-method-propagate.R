skip_on_cran()

path_graph <- function() topk_fixture("f3_W")
path_labels <- c(1L, 2L, NA, NA, NA, NA, NA)

random_graph <- function(n, seed) {
  withr::with_seed(seed, {
    w <- matrix(rbinom(n * n, 1, .25) * runif(n * n), n)
    w <- w + t(w)
    diag(w) <- runif(n)
    w
  })
}

test_that("fixture F3; the literal, harmonic result; ties, tiny edges and bad input", {
  out <- ufs_propagate(path_graph(), path_labels, x = matrix(c(0, 4, 1, 2, 3, .2, 3.7)))
  expect_equal(unname(t(out$probability)[, 3:7]), topk_fixture("f3_prob"), tolerance = 1e-12)
  expect_identical(as.integer(out$label)[3:7], as.integer(topk_fixture("f3_label")))
  expect_identical(out$reached, rep(c(TRUE, FALSE), c(5, 2)))
  # A cell of a sheet that is empty holds no label.
  expect_identical(ufs_propagate(path_graph(), factor(c("u", "v", "", "", "", "", ""))),
    ufs_propagate(path_graph(), c("u", "v", rep(NA, 5))))
  # Without x: the most frequent class, here the first of two.
  expect_identical(as.integer(ufs_propagate(path_graph(), path_labels)$label)[6:7], c(1L, 1L))
  for (seed in 1:6) {
    n <- 20L
    w <- random_graph(n, seed)
    y <- withr::with_seed(seed, sample(c("a", "b", "c"), n, TRUE))
    y[-c(match(c("a", "b", "c"), y), 2L, 9L)] <- NA
    g <- as.integer(factor(y))
    for (cmn in c(FALSE, TRUE)) {
      out <- ufs_propagate(w, y, cmn = cmn)
      ref <- ref_harmonic(w, g, 3L, cmn = cmn)
      expect_equal(unname(t(out$probability)), ref$prob, tolerance = 1e-10)
      expect_identical(as.integer(out$label), as.integer(ref$label))
      expect_identical(out$reached, ref$reached)
      expect_equal(rowSums(out$probability), rep(1, n), tolerance = 1e-10)
      expect_true(all(out$probability >= 0 & out$probability <= 1))
      expect_identical(as.character(out$label)[!is.na(y)], y[!is.na(y)])
    }
    diag(w) <- 0
    L <- diag(rowSums(w)) - w
    expect_lt(max(abs(L[is.na(y), ] %*% ufs_propagate(w, y)$probability)), 1e-10)
  }
  w <- matrix(0, 3, 3)
  w[1, 3] <- w[3, 1] <- w[2, 3] <- w[3, 2] <- 1
  expect_identical(as.integer(ufs_propagate(w, c(1, 2, NA))$label), c(1L, 2L, 1L))
  w <- matrix(0, 4, 4)
  w[1, 2] <- w[2, 1] <- 1
  w[3, 4] <- w[4, 3] <- 1
  w[2, 3] <- w[3, 2] <- 1e-13
  expect_identical(ufs_propagate(w, c("a", NA, NA, NA))$reached, c(TRUE, TRUE, FALSE, FALSE))
  w <- path_graph()
  expect_refusals(ufs_propagate(w[1:3, ], path_labels), ufs_propagate("w", path_labels), ufs_propagate(-w, path_labels),
    ufs_propagate(w + upper.tri(w), path_labels), ufs_propagate(replace(w, 3, NA), path_labels),
    ufs_propagate(w, path_labels[-1]), ufs_propagate(w, rep(NA, 7)), ufs_propagate(w, factor(path_labels, 1:3)),
    ufs_propagate(w, list(1)), ufs_propagate(w, path_labels, cmn = NA),
    ufs_propagate(w, path_labels, x = matrix(0, 3, 1)))
  expect_error(ufs_propagate(w, path_labels, x = "a"), class = "ufs_error_input")
})

# n nodes in two rings with some chords, one node alone and a pair that nothing labels.
ring_graph <- function(n, seed, weak = 1) {
  withr::with_seed(seed, {
    w <- matrix(0, n, n)
    ring <- function(at) cbind(at, c(at[-1L], at[1L]))
    edges <- rbind(ring(1:(n %/% 2)), ring((n %/% 2 + 1):(n - 3)), cbind(n - 2, n - 1),
      matrix(sample(1:(n %/% 2), n, TRUE), ncol = 2))
    w[edges] <- runif(nrow(edges))
    # What joins the rings is this weak.
    w[1, n %/% 2 + 1] <- weak
    w <- pmax(w, t(w))
    diag(w) <- 0
    w
  })
}

test_that("conjugate gradients, Cholesky and the literal solution agree, whatever holds the graph", {
  skip_if_not_installed("Matrix")
  # Beyond 500 nodes without labels the solver takes conjugate gradients.
  n <- 560L
  # Of the weakest gradients prove nothing: Cholesky takes over, without a warning.
  for (weak in c(1, 1e-5, 1e-9, 1e-13)) {
    w <- ring_graph(n, 1, weak)
    y <- rep(NA_integer_, n)
    y[c(3, 40, 150, 251)] <- c(1L, 2L, 3L, 1L)
    for (cmn in c(FALSE, TRUE)) {
      ref <- ref_harmonic(w, y, 3L, cmn = cmn)
      expect_warning(out <- ufs_propagate(w, y, cmn = cmn), NA)
      # The literal solution loses digits as the edge between the rings gets weaker.
      expect_lt(max(abs(unname(t(out$probability)) - ref$prob)), 1e-14 / weak + 1e-9)
      expect_identical(as.integer(out$label), as.integer(ref$label))
      expect_identical(unname(out$reached), ref$reached)
      expect_identical(ufs_propagate(Matrix::Matrix(w, sparse = TRUE), y, cmn = cmn), out)
    }
  }
  expect_identical(ufs_propagate(w + diag(n), y), ufs_propagate(w, y))
  graph <- suppressWarnings(ufs_graph(planted(700, 10, c = 3)$x, 6))
  labels <- rep(NA, 700)
  labels[1:30] <- rep(c("a", "b", "c"), 10)
  expect_identical(ufs_propagate(graph, labels)$label, ufs_propagate(as.matrix(graph), labels)$label)
  expect_equal(unname(ufs_propagate(graph, labels)$probability),
    unname(ufs_propagate(as.matrix(graph) + 1e-300, labels)$probability), tolerance = 1e-8)
  expect_true(all(ufs_propagate(graph, ifelse(labels == "a", "a", NA))$probability > 1 - 1e-8))
  bad <- Matrix::sparseMatrix(1, 2, x = 1, dims = c(3, 3))
  expect_refusals("symmetric" = ufs_propagate(bad, c(1, NA, NA)), ufs_propagate(-(bad + Matrix::t(bad)), c(1, NA, NA)),
    ufs_propagate(bad[, 1:2], c(1, NA, NA)))
})

test_that("the print says what was not reached; a sparse graph with a weight that is no number is refused", {
  w <- matrix(0, 5, 5)
  w[cbind(1:3, 2:4)] <- 1
  spread <- ufs_propagate(w + t(w), c("a", NA, NA, "b", NA), x = NULL)
  said <- capture.output(print(spread))
  expect_match(said[1], "5 nodes, 2 with labels", fixed = TRUE)
  expect_match(said[2], sprintf("a (%d), b (%d)", sum(spread$label == "a"), sum(spread$label == "b")), fixed = TRUE)
  sure <- apply(spread$probability, 1, max)
  expect_match(said[3], paste0(signif(median(sure), 3), " in the median, at least ", signif(min(sure), 3)), fixed = TRUE)
  expect_match(said[4], "1 node, ", fixed = TRUE)
  expect_length(capture.output(print(ufs_propagate((w + t(w))[1:4, 1:4], c("a", NA, NA, "b")))), 3)
  skip_if_not_installed("Matrix")
  w <- Matrix::sparseMatrix(c(1, 2, 2, 3), c(2, 1, 3, 2), x = c(1, 1, NaN, NaN), dims = c(3, 3))
  expect_refused(ufs_propagate(w, c(1, NA, 2)), "`w` must be numeric, without missing or infinite", "ufs_error", "w")
})

test_that("probabilities that are not exact are said to be so", {
  as_it_is <- check_solved
  replaced("check_solved", function(out, ...) {
    out <- as_it_is(out, ...)
    out$run$counters[["error"]] <- 1e-3
    out
  })
  w <- matrix(c(0, 1, 0, 1, 0, 1, 0, 1, 0), 3)
  expect_warning(ufs_propagate(w, c("a", NA, "b")), "probabilities are not exact", class = "ufs_warning_max_iter")
})
