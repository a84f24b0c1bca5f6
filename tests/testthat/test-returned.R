# What a user gets to see, a returned or printed number, computed once more from its definition.

# The part of printed lines that matches `pattern`, which has one group.
printed <- function(x, pattern) {
  sub(paste0("^.*", pattern, ".*$"), "\\1", grep(pattern, utils::capture.output(print(x)), value = TRUE))
}

test_that("every value that knn fills in is the mean of the ten nearest that have it", {
  x <- withr::with_seed(4, {
    x <- matrix(rnorm(40 * 8), 40) + 2 * rnorm(40)
    # Samples with very different numbers of values: what two of them share is not what others share.
    x[matrix(runif(320), 40) < rep(seq(.05, .6, length.out = 40), 8)] <- NA
    x[rowSums(!is.na(x)) > 1, ]
  })
  z <- sweep(sweep(x, 2, colMeans(x, na.rm = TRUE)), 2, apply(x, 2, sd, na.rm = TRUE), "/")
  want <- x
  for (i in seq_len(nrow(x))) {
    apart <- vapply(seq_len(nrow(x)), function(l) mean((z[i, ] - z[l, ])^2, na.rm = TRUE), 0)
    apart[is.nan(apart)] <- Inf
    apart[i] <- Inf
    for (j in which(is.na(x[i, ]))) {
      from <- order(apart)[!is.na(x[order(apart), j])]
      want[i, j] <- mean(x[from[seq_len(min(10, length(from)))], j])
    }
  }
  data <- ufs_data(x, na = "knn")
  expect_equal(data$input$filled, sum(is.na(x)))
  expect_equal(unname(as.matrix(data)), want, tolerance = 1e-12)
})

test_that("the weights of a sketch are what its help says, and are printed", {
  x <- grouped_counts(60, 40)$x
  x <- x[, apply(x, 2, sd) > 0]
  z <- scale(x)
  n_vectors <- 3
  part <- withr::with_seed(2, ufs_sketch(x, m = 25, n_vectors = n_vectors))
  chance <- pmin(1, 25 * rowSums(svd(z)$u[, seq_len(n_vectors)]^2) / n_vectors)[part$index]
  want <- 1 / chance / sum(1 / chance) * 60
  expect_gt(max(want) / min(want), 2)
  expect_equal(part$weights, want, tolerance = 1e-6)
  expect_identical(printed(part, "weights +(from .*)$"), paste("from", signif(min(want), 3), "to", signif(max(want), 3)))
  expect_equal(ufs_sketch(x, m = 25, type = "uniform")$weights, rep(60 / 25, 25))
  part <- ufs_sketch(x, m = 7, type = "facility")
  near <- apply(as.matrix(dist(z))[, part$index], 1, which.min)
  expect_equal(part$weights, as.double(tabulate(near, 7)))
})

test_that("only settings within .001 of the best overlap are told apart by the reconstruction", {
  grid <- list(n_components = 1:8)
  out <- ufs_tune(planted(60, 20)$x, "pca", grid, k = 5)
  overlap <- out$results$knn_overlap
  rebuilt <- out$results$reconstruction
  close <- which(overlap >= max(overlap) - .001)
  want <- close[which.max(rebuilt[close])]
  wide <- which(overlap >= max(overlap) - .1)
  # The data tell the rule from a wider one.
  expect_false(want == wide[which.max(rebuilt[wide])])
  expect_identical(out$best, want)
  expect_identical(out$choice$n_components, grid$n_components[want])
})

test_that("TED prints the share of the squares that its first ten samples reconstruct", {
  x <- scale(as.matrix(mtcars))
  fit <- ufs_ted(mtcars, mu = .5)
  lost <- function(rows) {
    own <- x[rows, , drop = FALSE]
    other <- x %*% t(own)
    sum(x^2) - sum(other * t(solve(own %*% t(own) + .5 * diag(length(rows)), t(other))))
  }
  for (m in c(1, 4, 10, 32)) expect_equal(fit$trace$objective[m], lost(fit$solution$order[1:m]), tolerance = 1e-9)
  for (fit in list(fit, ufs_ted(mtcars, mu = .5, m = 2))) {
    m <- min(10, length(fit$solution$order))
    share <- 1 - lost(fit$solution$order[1:m]) / sum(x^2)
    expect_identical(printed(fit, paste0("(", m, " samples reduce.*)$")),
      paste(m, "samples reduce the prediction error by", signif(100 * share, 3), "%"))
  }
})

test_that("the interval of a stability ends at 1", {
  z <- matrix(rep(c(TRUE, TRUE, FALSE, FALSE, FALSE, FALSE), each = 8), 8)
  z[1, ] <- c(TRUE, FALSE, TRUE, FALSE, FALSE, FALSE)
  found <- nogueira(z, .95)
  share <- colMeans(z)
  chance <- 2 / 6 * (1 - 2 / 6)
  value <- 1 - mean(8 / 7 * share * (1 - share)) / chance
  each <- apply(z, 1, function(row) {
    (mean(row * share) - 2 * 2 / 36 + value / 2 * (2 * 2 * 2 / 36 - 2 / 6 - 2 / 6 + 1)) / chance
  })
  half <- qnorm(.975) * sqrt(4 / 64 * sum((each - mean(each))^2))
  expect_gt(value + half, 1)
  expect_equal(found, list(stability = value, interval = c(lower = value - half, upper = 1)))
  # And as it is printed.
  out <- withr::with_seed(1, ufs_stability(planted(60, 12)$x, "variance", k = 3, n_resamples = 12))
  expect_lte(out$interval[["upper"]], 1)
  expect_equal(out$frequency, colMeans(out$selected))
  expect_identical(printed(out, "stability ([^ ]+) of 1"), format(signif(out$stability, 2)))
  expect_identical(printed(out, "interval (.*)\\)"), paste(format(out$interval, digits = 2), collapse = " to "))
})

test_that("columns that are constant on the candidates are 0 for the classifier in both halves", {
  seen <- list()
  spy <- function(x, y, newx) {
    seen[[length(seen) + 1L]] <<- list(x = x, newx = newx)
    rep(levels(y)[1], nrow(newx))
  }
  x <- as.matrix(iris[, 1:4])
  # Each of these differs from 3 in one sample only: it is constant where that one is not a candidate.
  lonely <- c(3, 20, 60, 77, 110, 140)
  spikes <- matrix(3, 150, 6, dimnames = list(NULL, paste0("spike", 1:6)))
  spikes[cbind(lonely, 1:6)] <- 8
  all <- cbind(x, spikes)
  out <- withr::with_seed(1, suppressWarnings(ufs_compare(all, iris$Species, "all", k = 10,
    classifiers = list(spy = spy), repeats = 1, baselines = FALSE)))
  half <- out$halves[[1L]]
  flat <- !lonely %in% half
  expect_true(any(flat) && !all(flat))
  middle <- colMeans(all[half, ])
  spread <- apply(all[half, ], 2, sd)
  want <- function(rows) {
    z <- sweep(sweep(all[rows, ], 2, middle), 2, spread, "/")
    z[, which(spread == 0)] <- 0
    z
  }
  got <- seen[[length(seen)]]
  expect_equal(got$x[, colnames(all)], want(half), tolerance = 1e-12, ignore_attr = TRUE)
  expect_equal(got$newx[, colnames(all)], want(-half), tolerance = 1e-12, ignore_attr = TRUE)
})

test_that("top-k: the bound of one step is the value and the k steepest slopes, and is proved", {
  set <- withr::with_seed(8, list(x = matrix(rnorm(12 * 9), 12), label = rep(1:3, 4)))
  x <- set$x / sqrt(rowSums(set$x^2))
  Y <- t(outer(set$label, 1:3, "==") * 1)
  kernel <- crossprod(x)
  b <- t(Y %*% x)
  for (k in 2:7) {
    at <- ref_relaxed(rep(k / 9, 9), t(x), Y, diag(12), .01, 0)
    want <- at$value - sum(at$gradient * k / 9) + sum(sort(at$gradient)[1:k])
    got <- .Call(C_test_topk_select, x, set$label, 3L, k, NULL, seq_len(k) - 1L, list(lambda_a = .01, lambda_i = 0,
      rho = 1.1, v_max_iter = 5L, inner_tol = 1e-6, bound_max_iter = 1L, bound_tol = 1e-6))
    expect_equal(got$lower, want, tolerance = 1e-9)
    expect_lte(got$lower, ref_brute(k, kernel, b, sum(Y^2), .01)$value + 1e-9)
  }
})

test_that("center and scale of a fit are the means and the spreads (or norms) of the columns", {
  skip_on_cran()
  x <- cbind(planted(20, 9)$x, flat = 2)
  x[abs(x) < .3] <- 0
  spread <- apply(x, 2, sd)
  # A method divides by the spread or by the norm of the centred column; a constant column by 1.
  for (method in setdiff(ufs_methods()$method, c("random", "consensus", "blfse"))) { # which scales its rows first
    for (form in list(x, to_sparse(x))) {
      fit <- fit_of(method, form)
      if (is.numeric(fit$center)) expect_equal(unname(fit$center), unname(colMeans(x)), info = method)
      if (!is.numeric(fit$scale)) next
      ratio <- unname(fit$scale[1:9] / spread[1:9])
      expect_equal(ratio, rep(if (ratio[1L] < 2) 1 else sqrt(19), 9), tolerance = 1e-12, info = method)
      expect_equal(fit$scale[[10L]], 1, info = method)
    }
  }
})

test_that("a grid is drawn over at most two columns; neighbours, base results and residuals are as they must be", {
  x <- planted(20, 9)$x
  grid <- suppressWarnings(ufs_grid(x, "rsr", list(lambda_rel = c(.2, .5), center = c(TRUE, FALSE), scale = c(TRUE, FALSE))))
  all <- names(grid$settings)
  expect_length(all, 3L)
  expect_error(plot(grid, over = all), class = "ufs_error_argument")
  shown <- picture(grid, "objective", c("lambda_rel", "center"))
  for (lambda in c(.2, .5)) for (center in c(TRUE, FALSE)) {
    rows <- grid$settings$lambda_rel == lambda & grid$settings$center == center
    expect_equal(shown$z[as.character(center), as.character(lambda)], mean(grid$results$objective[rows]))
  }
  expect_identical(c(shown$xlab, shown$ylab, shown$subtitle), c("lambda_rel", "center", "mean over scale"))
  expect_identical(knn_size(matrix(0, 4, 2)), 3L)
  expect_identical(knn_size(matrix(0, 20, 2)), 5L)
  fit <- list(params = list(n_base = 20L), p_unique = TRUE, control = list(warn = TRUE))
  said <- function(alpha, beta) tryCatch(blfse_warnings(c(fit, list(solution = list(alpha = alpha, beta = beta)))),
    ufs_warning_collapse = conditionMessage)
  expect_match(said(c(.95, .05), c(.5, .5)), "the scores follow", fixed = TRUE)
  expect_match(said(c(.5, .5), c(.95, .05)), "the clusters follow", fixed = TRUE)
  grid <- ufs_grid(mtcars, "css", list(k = 2:4))
  expect_refusals(plot(grid, value = rep(TRUE, 3)), plot(grid, value = 1:2))
  fit <- ufs_alfs(mtcars, control = ufs_control(tol = 1e-8, max_iter = 5000))
  expect_gt(fit$certificate[["kkt"]], 0)
  expect_lt(fit$certificate[["kkt"]], 1e-3)
})

test_that("the largest number of components is the rank that x can have; what is too large is named first", {
  x <- withr::with_seed(1, matrix(rnorm(45), 5))
  for (center in c(TRUE, FALSE)) {
    most <- 5L - center
    expect_identical(ufs_pca(x, most, center = center, scale = FALSE)$params$n_components, most)
    expect_error(ufs_pca(x, most + 1, center = center, scale = FALSE), class = "ufs_error_argument",
      paste0("n_components.*\\b", most, "\\b.*largest possible rank"))
  }
  skip_on_cran()
  withr::local_options(ufselect.max_bytes = 1000)
  x <- withr::with_seed(1, matrix(rnorm(600), 20))
  told <- 0
  for (method in ufs_methods()$method) {
    error <- tryCatch(fit_of(method, x), error = identity)
    if (!inherits(error, "ufs_error_memory")) next
    told <- told + 1
    expect_match(conditionMessage(error), "^[^.]+ would need [0-9.]+ ([KMGT]i)?B, more than the limit of 1000 B[.] [A-Z]",
      info = method)
  }
  expect_gt(told, 5)
})

test_that("the warning of a graph in pieces counts those of more than one sample", {
  w <- function(points) tryCatch({
    ufs_graph(cbind(points), n_neighbours = 2, bandwidth = 1)
    NULL
  }, ufs_warning_graph = conditionMessage)
  near <- c(0, .1, .2, .3)
  expect_null(w(near))
  expect_match(w(c(near, 1000 + near)), "has 2 separate parts")
  # Their edges have the weight exp(-1000^2), which is 0.
  alone <- w(c(near, -40000, 40000))
  expect_match(alone, "2 of 6 samples have no edge")
  expect_false(grepl("separate parts", alone))
  expect_match(w(c(near, 1000 + near, -5000)), "1 of 9 samples have no edge.*has 2 separate parts")
})

test_that("an option that is no number is an error that says so, and so are methods that are no names", {
  # Older withr does not set an option to NULL.
  old <- options(ufselect.max_bytes = NULL)
  withr::defer(options(old))
  for (wrong in list(c(1e9, 1e9), numeric(), "8 GB", NA_real_)) {
    options(ufselect.max_bytes = wrong)
    expect_error(ufs_rrss(mtcars), "ufselect.max_bytes", class = "ufs_error_argument")
  }
  for (wrong in list(1:2, c("pca", NA), list("pca", 3))) {
    expect_arguments(methods = ufs_compare(iris[1:4], iris$Species, wrong, k = 2))
  }
})

test_that("one new row is rebuilt from sparse data as from dense; inner products are taken in units, however large", {
  skip_if_not_installed("Matrix")
  x <- round(as.matrix(mtcars))
  fit <- ufs_css(x, k = 3)
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  expect_equal(predict(fit, sparse[5, , drop = FALSE], type = "reconstruction"),
    predict(fit, x[5, , drop = FALSE], type = "reconstruction"))
  order_of <- function(x) ufs_facility(x, m = 6, center = FALSE, scale = FALSE)$solution$order
  expect_identical(order_of(sparse * 2^600), order_of(sparse))
})

test_that("k of decoys needs both: a small share, and fewer decoys than noise has before so many columns", {
  skip_on_cran()
  # Means over repeats; the decoys of all of them are drawn from together.
  literal <- function(before, decoys, level) {
    size <- nrow(before)
    fine <- vapply(seq_len(size), function(k) {
      share <- mean(size / decoys * before[k, ] / k)
      drawn <- 1 - phyper(k - 1, size, decoys * ncol(before), k + sum(before[k, ]))
      share <= level && drawn <= level
    }, NA)
    if (any(fine)) max(which(fine)) else 0L
  }
  for (seed in 1:200) withr::with_seed(seed, {
    size <- 4L
    decoys <- sample(10:30, 1)
    level <- runif(1, .1, .4)
    before <- apply(matrix(rbinom(3 * size, 1, .15), size), 2, cumsum)
    counts <- lapply(1:3, function(i) list(size = size, distinct = seq_len(size), before = before[, i], decoys = decoys,
      plus = FALSE))
    expect_equal(noise_curve(counts, level)$k, literal(before, decoys, level), info = seed)
  })
})

test_that("a millionth of the largest column is smoothed; the gap of top-k; columns are summed in blocks", {
  fit <- ufs_socfs(mtcars, 3, solver = "paper", control = ufs_control(max_iter = 3, warn = FALSE))
  expect_equal(fit$control$eps / (1e-6 / max(sqrt(colSums(scale(mtcars)^2))))^2, 1, tolerance = 1e-10)
  found <- ufs_topk(mtcars, 4, n_clusters = 3)$certificate
  expect_equal(found[["gap"]], (found[["selection_objective"]] - found[["bound"]]) / abs(found[["bound"]]))
  for (p in c(1L, 64L, 65L, 129L)) {
    x <- matrix(seq_len(3 * p) - p, 3)
    expect_equal(l1_norms(x), rowSums(abs(x)))
  }
})

test_that("degrees are compared with the sums relative to these", {
  graph <- ufs_graph(mtcars, n_neighbours = 4)
  for (unit in c(1e-6, 1, 1e6)) {
    scaled <- unclass(graph)
    scaled$weights$value <- scaled$weights$value * unit
    scaled$degree <- scaled$degree * unit
    expect_null(.Call(C_graph_check, scaled))
    scaled$degree <- scaled$degree * (1 + 1e-6)
    expect_match(.Call(C_graph_check, scaled), "degrees")
  }
})
