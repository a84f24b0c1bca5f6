skip_on_cran()

spread <- function(a, b) max(abs(a - b))

# One iteration of one stage: what the S step saw is known, N and Y from eigenvalues of the start.
first_step <- function(d, psi = 0.9, form = 0L) {
  start <- blfse_raw(d, form = form, max_iter = 0L)
  out <- blfse_raw(d, form = form, psi = psi, max_iter = 1L)
  m <- nrow(d$scores)
  laplacian <- diag(rowSums(start$S)) - start$S
  n <- ref_lowest(crossprod(d$x, laplacian %*% d$x) * outer(start$v, start$v), d$c)
  z <- d$x * rep(start$v, each = nrow(d$x))
  list(W = out$W, S = out$S, N = n, ties = out$run$trace[[1L, 7L]],
    B = ref_sqdist(z %*% n$n %*% t(z)), C = ref_sqdist(ref_lowest(laplacian, d$c)$n),
    T = Reduce(`+`, lapply(1:m, function(k) outer(d$labels[, k], d$labels[, k], `==`))) / m^2, sig = 1 / m)
}

clipped <- function(at) {
  s <- (at$T - (at$B + at$C) / (2 * at$W^2)) / at$sig
  diag(s) <- 1
  pmin(pmax(s, 0), 1)
}

d <- blfse_input()

test_that("t11: the fixtures are reproduced, block by block", {
  for (case in c("paper", "code", "iso")) {
    fit <- blfse_plain(d, projection = if (case == "iso") "isotropic" else "paper",
      order = if (case == "code") "code" else "paper")
    out <- function(part) blfse_fixture(paste0("fx1_out_", case, "_", part))
    table <- function(part) utils::read.csv(test_path("fixtures", "blfse", paste0("fx1_out_", case, "_", part, ".csv")))
    s <- fit$solution
    expect_lt(max(spread(s$v, out("v")), spread(s$S, out("S")), spread(s$W, out("W"))), 1e-10)
    expect_lt(spread(cbind(s$alpha, s$beta), out("alpha_beta")), 1e-10)
    expect_identical(unname(feature_ranking(fit)), as.integer(out("rank")))
    history <- table("history")
    expect_identical(names(fit$history), names(history))
    counts <- c("it", "ncomp", "ntieP", "nnz")
    expect_identical(fit$history[counts], history[counts])
    expect_equal(fit$history[c("psi", "rho")], history[c("psi", "rho")], tolerance = 1e-15)
    for (name in c("dv", "amax", "bmax", "wmean")) expect_lt(spread(fit$history[[name]], history[[name]]), 1e-10)
    trace <- table("trace")
    expect_identical(as.character(fit$trace$block), trace$blk)
    expect_lt(spread(fit$trace[c("objective", paste0("T", 1:5))],
      trace[c("total", "sep", "clus", "sp", "feat", "rank")]), 1e-11 * max(abs(trace$total)))
    expect_identical(fit$iterations, nrow(history))
    expect_identical(fit$status, if (case == "iso") "max_iter" else "converged")
    expect_lt(fit$certificate[["kkt"]], 1e-11)
  }
})

test_that("p > n and p = n: the solver is the literal one, in both orders and projections", {
  for (size in list(c(16, 24, 2, 6), c(24, 60, 5, 10), c(20, 21, 3, 10), c(20, 20, 3, 8))) {
    d <- blfse_problem(size[1], size[2], size[3], size[4], seed = sum(size))
    for (order in c("paper", "code")) for (projection in c("paper", "isotropic")) {
      fit <- blfse_plain(d, order = order, projection = projection)
      ref <- ref_blfse(d$x, d$scores, d$labels, d$c, projection, order)
      s <- fit$solution
      expect_lt(max(spread(s$v, ref$v), spread(s$S, ref$S), spread(s$W, ref$W),
        spread(s$alpha, ref$alpha), spread(s$beta, ref$beta)), 1e-8)
      expect_identical(unname(feature_ranking(fit)), ref$rank)
      expect_equal(as.matrix(fit$history[1:6]), as.matrix(ref$history[1:6]), ignore_attr = TRUE)
      expect_lt(spread(fit$trace$objective, ref$trace$total), 1e-11 * max(abs(ref$trace$total)))
      expect_lt(spread(fit$trace$T1, ref$trace$sep), 1e-12)
      expect_lt(fit$certificate[["kkt"]], 1e-9)
    }
  }
  for (seed in 1:4) {
    d <- blfse_problem(20, 6, 4, 8, seed = seed, noise = c(.25, .4)[1 + seed %% 2])
    d$c <- 3L
    fit <- blfse_plain(d)
    ref <- ref_blfse(d$x, d$scores, d$labels, d$c, "paper", "paper")
    expect_gt(max(fit$history$ncomp), 3)
    expect_equal(as.matrix(fit$history[1:6]), as.matrix(ref$history[1:6]), ignore_attr = TRUE)
    expect_lt(spread(fit$trace$objective, ref$trace$total), 1e-11 * max(abs(ref$trace$total)))
    expect_lt(max(spread(fit$solution$S, ref$S), spread(fit$solution$v, ref$v)), 1e-8)
  }
  psi <- seq(.9, .3, by = -.1)
  for (p in c(6, 60)) {
    d <- blfse_problem(40, p, 2, 3, seed = 5, noise = .02)
    # Distances of x that are rounding beside 1, so that S comes to rest.
    d$x <- 1e-7 * d$x
    for (order in c("paper", "code")) {
      fit <- blfse_plain(d, order = order, psi = psi)
      before <- blfse_plain(d, order = order, psi = psi, control = list(max_iter = 10))
      expect_identical(before$solution$S, fit$solution$S)
      expect_gt(fit$iterations, before$iterations)
      expect_identical(picture(fit, "objective")$lines$v, which(diff(fit$trace$psi) != 0) + .5)
      ref <- ref_blfse(d$x, d$scores, d$labels, d$c, "paper", order, psi)
      expect_lt(spread(fit$solution$v, ref$v), 1e-10)
      expect_lt(spread(fit$trace$objective, ref$trace$total), 1e-11 * max(abs(ref$trace$total)))
      expect_lt(spread(fit$trace$T5, ref$trace$rank), 1e-10)
      # Of the size of 1e-14 as the squares of x; after v and Y it is a difference of sums near 1.
      fresh <- fit$trace$block %in% c("P", "S")
      expect_lt(spread(fit$trace$T1[fresh], ref$trace$sep[fresh]), 1e-21)
    }
  }
})

test_that("the least score stands for none; the factor form and the dense form agree, beyond 500 features, too", {
  fit <- ufs_variance(iris[, 1:4])
  fit$feature_scores[] <- c(-3, -1, NA, -2)
  expect_identical(scores_of_fits(list(fit), 4L), rbind(c(0, 2, 0, 1)))
  wide <- blfse_problem(25, 70, 3, 10, seed = 4)
  for (order in 0:1) {
    factor <- blfse_raw(wide, order = order, form = 2L)
    dense <- blfse_raw(wide, order = order, form = 1L)
    expect_lt(max(spread(factor$v, dense$v), spread(factor$S, dense$S)), 1e-8)
    expect_identical(factor$history[, 1:6], dense$history[, 1:6])
  }
  d <- blfse_problem(30, 510, 3, 10, seed = 6)
  # Only through the dense form: forced here, chosen when n is that large.
  dense <- blfse_raw(d, form = 1L)
  factor <- blfse_raw(d, form = 2L)
  expect_lt(max(spread(factor$v, dense$v), spread(factor$S, dense$S)), 1e-8)
  expect_identical(factor$run$counters[["ties"]], dense$run$counters[["ties"]])
  # Without ties: p <= n in spirit, G of full rank.
  at <- first_step(blfse_problem(560, 505, 2, 3, seed = 7))
  expect_identical(at$ties, 1)
  expect_lt(spread(at$S, clipped(at)), 1e-8)
})

test_that("t8: permutations carry over; names of labels mean nothing", {
  set.seed(3)
  problems <- list(blfse_input(), blfse_problem(16, 24, 2, 6, seed = 48))
  for (d in problems) for (projection in c("paper", "isotropic")) {
    fit <- function(d) blfse_plain(d, projection = projection)$solution
    base <- fit(d)
    i <- sample(nrow(d$x))
    samples <- fit(within(d, { x <- x[i, ]; labels <- labels[i, ] }))
    expect_lt(max(spread(samples$v, base$v), spread(samples$S, base$S[i, i])), 1e-10)
    j <- sample(ncol(d$x))
    features <- fit(within(d, { x <- x[, j]; scores <- scores[, j] }))
    expect_lt(max(spread(features$v, base$v[j]), spread(features$S, base$S)), 1e-10)
    k <- sample(nrow(d$scores))
    bases <- fit(within(d, { scores <- scores[k, ]; labels <- labels[, k] }))
    expect_lt(max(spread(bases$alpha, base$alpha[k]), spread(bases$beta, base$beta[k])), 1e-10)
    renamed <- fit(within(d, labels <- apply(labels, 2, function(l) sample(100:120)[l])))
    expect_identical(renamed$v, base$v)
    expect_identical(renamed$S, base$S)
    expect_identical(renamed$cluster, base$cluster)
  }
})

test_that("a feature and its copy get the same weight; with p >= n the P step empties the first term and says so", {
  d$x <- cbind(d$x, d$x[, 1], d$x[, 6])
  d$scores <- cbind(d$scores, d$scores[, 1], d$scores[, 6])
  for (projection in c("paper", "isotropic")) {
    v <- unname(blfse_plain(d, projection = projection)$solution$v)
    expect_lt(max(abs(v[11] - v[1]), abs(v[12] - v[6])), 1e-8)
    expect_gt(abs(v[11] - v[12]), 1e-3)
  }
  d <- blfse_problem(16, 24, 2, 6, seed = 48)
  paper <- blfse_plain(d)$trace
  isotropic <- blfse_plain(d, projection = "isotropic")$trace
  expect_lt(max(paper$T1[paper$block == "P"]), 1e-12 * isotropic$T1[isotropic$block == "P"][1])
  expect_warning(suppressWarnings(blfse_plain(d, control = list(warn = TRUE)),
    classes = paste0("ufs_warning_", c("few_base", "collapse", "max_iter"))), class = "ufs_warning_projection")
  expect_false(blfse_plain(d)$p_unique)
  expect_true(blfse_plain(blfse_input())$p_unique)
})

quiet <- ufs_control(warn = FALSE)

test_that("scaling is what the help page says; scores of any size and sign, labels of any kind, gammas weigh terms", {
  x <- d$x + 3
  fit <- function(x, ...) published("blfse", x, 3, scores = d$scores, labels = d$labels, control = quiet, ...)$solution$v
  plain <- function(x, ...) fit(x, center = FALSE, scale = FALSE, ...)
  expect_equal(fit(x), plain(x / sqrt(rowSums(x^2))), tolerance = 1e-9)
  expect_equal(fit(x, scale = "unit"), fit(x), tolerance = 1e-14)
  expect_equal(fit(x, center = FALSE), fit(x), tolerance = 1e-9)
  zscore <- base::scale(x)[, ] / sqrt(10)
  expect_equal(fit(x, scale = "zscore"), plain(zscore), tolerance = 1e-9)
  expect_equal(fit(x, projection = "isotropic"), plain(zscore, projection = "isotropic"), tolerance = 1e-9)
  expect_equal(fit(x, scale = FALSE), plain(x), tolerance = 1e-9)
  expect_gt(spread(fit(x), plain(x)), 1e-3)
  record <- ufs_blfse(x, 3, scores = d$scores, labels = d$labels, scale = "zscore", control = quiet)
  expect_equal(unname(record$scale), unname(apply(x, 2, sd)) * sqrt(10), tolerance = 1e-12)
  expect_identical(record$params$scale, "zscore")
  # A sample of zeros stays one.
  x[5, ] <- 0
  expect_true(all(is.finite(fit(x))))
  v <- blfse_plain(d)$solution$v
  huge <- within(d, scores <- scores * 10^seq(-200, 304, length.out = 8))
  expect_equal(blfse_plain(huge)$solution$v, v, tolerance = 1e-9)
  shifted <- within(d, scores[2, ] <- scores[2, ] - min(scores[2, ]))
  below <- within(shifted, scores[2, ] <- scores[2, ] - 4)
  expect_equal(blfse_plain(below)$solution$v, blfse_plain(shifted)$solution$v, tolerance = 1e-9)
  letters_of <- within(d, labels <- as.data.frame(apply(labels, 2, function(l) letters[l]), stringsAsFactors = TRUE))
  expect_identical(blfse_plain(letters_of)$solution$v, v)
  near <- blfse_plain(d, gamma_feature = 1e6, psi = 0.9, control = list(inner_max_iter = 1))
  # T4 alone: the mean of the base scores.
  expect_lt(spread(near$solution$v, near$solution$mean_score), 1e-4)
  far <- blfse_plain(d, psi = 0.9, control = list(inner_max_iter = 1))
  expect_gt(spread(far$solution$v, far$solution$mean_score), 1e-3)
  tight <- blfse_plain(d, gamma_cluster = 1e8, psi = 0.9, control = list(inner_max_iter = 1))
  co <- Reduce(`+`, lapply(1:8, function(k) outer(d$labels[, k], d$labels[, k], `==`))) / 8
  expect_lt(spread(tight$solution$S, co), 1e-5)
  for (fit in list(near, tight)) expect_lt(max(diff(fit$trace$objective)), 1e-12 * max(abs(fit$trace$objective)))
})

test_that("iteration caps and tolerance; the three weaknesses are reported, and can be silenced", {
  none <- blfse_plain(d, control = list(max_iter = 0))
  expect_identical(none$iterations, 0L)
  expect_equal(none$solution$v, none$solution$mean_score, tolerance = 1e-14)
  expect_identical(blfse_plain(d, control = list(max_iter = 3))$iterations, 3L)
  expect_identical(blfse_plain(d, projection = "isotropic", control = list(inner_max_iter = 3))$iterations, 12L)
  # The isotropic run stands still from its eighth iteration on.
  expect_lt(blfse_plain(d, projection = "isotropic", control = list(tol = 1e-3))$iterations, 14L)
  expect_output(blfse_plain(d, control = list(verbose = TRUE)), "blfse +10 +objective")
  # A cap that no integer holds is a cap all the same.
  expect_identical(blfse_plain(d, control = list(inner_max_iter = 2e9))$iterations, 10L)
  caught <- character()
  fit <- withCallingHandlers(blfse_plain(d, projection = "isotropic", control = list(warn = TRUE)),
    warning = function(w) {
      caught[class(w)[1]] <<- conditionMessage(w)
      invokeRestart("muffleWarning")
    })
  expect_setequal(names(caught), paste0("ufs_warning_", c("max_iter", "few_base", "collapse")))
  expect_match(caught[["ufs_warning_collapse"]], c("the clusters follow", "the scores follow")[1 + (max(fit$solution$alpha) > .9)])
  expect_warning(blfse_plain(d), NA)
})

test_that("without c components the clusters come from Y, without random numbers", {
  skip_if_not_installed("clue")
  set.seed(1)
  before <- .Random.seed
  fit <- blfse_plain(d, projection = "isotropic")
  expect_identical(.Random.seed, before)
  expect_identical(fit$n_component, 7L)
  expect_length(unique(fit$solution$cluster), 3L)
  # Samples of one component are never parted.
  component <- ref_components(fit$solution$S, 1e-10)
  expect_true(all(tapply(fit$solution$cluster, component, function(g) length(unique(g))) == 1))
  few <- blfse_plain(d, control = list(max_iter = 0))
  expect_identical(few$n_component, 1L)
  expect_length(unique(few$solution$cluster), 3L)
  truth <- apply(d$labels, 1, function(l) which.max(tabulate(l)))
  expect_gt(ufs_cluster_metrics(few$solution$cluster, truth)[["accuracy"]], 0.9)
})

test_that("base results: batches of Inf-FS, k-means on the best features", {
  skip_if_not_installed("clue")
  x <- as.matrix(iris[1:4])
  set.seed(5)
  fit <- ufs_blfse(x, 3, 2, control = quiet)
  set.seed(5)
  turn <- sample.int(150)
  low <- apply(x, 2, min)
  scaled <- sweep(sweep(x, 2, low), 2, apply(x, 2, max) - low, "/")
  score <- ufs_inffs(scaled[turn[31:45], ], 0.7, "rowsum")$feature_scores
  expect_equal(fit$solution$scores[3, ], score / sum(score), tolerance = 1e-12)
  expect_identical(dim(fit$solution$labels), c(150L, 10L))
  expect_identical(fit$params$resample, "batches")
  again <- ufs_blfse(x, 3, scores = fit$solution$scores, labels = fit$solution$labels, control = quiet)
  expect_equal(again$solution$v, fit$solution$v, tolerance = 1e-10)
  # k-means on the two best of base 1, in the columns as the model sees them.
  unit <- sweep(x / sqrt(rowSums(x^2)), 2, colMeans(x / sqrt(rowSums(x^2))))
  set.seed(1)
  expect_equal(ufs_cluster_metrics(fit$solution$labels[, 1],
    kmeans_runs(unit[, order(-fit$solution$scores[1, ])[1:2]], 3, 20)[[1]]$cluster)[["accuracy"]], 1)
})

test_that("base results: halves, other ways on demand, constant features; warnings of base methods come once", {
  x <- as.matrix(mtcars)
  set.seed(1)
  expect_identical(ufs_blfse(x, 3, 4, control = quiet)$params$resample, "halves")
  fit <- ufs_blfse(x, 3, 4, base = c("variance", "kmeans_f", "pca"), control = quiet)
  expect_identical(list(fit$params$n_base, fit$params$resample), list(3L, "none"))
  variance <- ufs_variance(sweep(x, 2, apply(x, 2, max) - apply(x, 2, min), "/"))$feature_scores
  expect_equal(unname(fit$solution$scores[1, ]), unname(variance / sum(variance)), tolerance = 1e-10)
  fit <- published("blfse", x, 2, 4, base = c("variance", "inffs"), n_base = 4, resample = "halves",
    base_args = list(inffs = list(alpha = 0.1)), control = quiet)
  expect_identical(fit$params$n_base, 4L)
  fits <- list(ufs_variance(x), ufs_inffs(x), ufs_pca(x, 2))
  fit <- ufs_blfse(x, 2, 4, base = fits, control = quiet)
  expect_equal(unname(fit$solution$scores[2, ]),
    unname(fits[[2]]$feature_scores / sum(fits[[2]]$feature_scores)), tolerance = 1e-12)
  expect_equal(ufs(x, "blfse", n_clusters = 2, scores = fit$solution$scores, labels = fit$solution$labels,
    control = quiet)$solution$v, fit$solution$v, tolerance = 1e-10)
  set.seed(2)
  x <- cbind(matrix(rnorm(60 * 5), 60), replicate(3, sample(rep(0:1, c(57, 3)))))
  expect_warning(fit <- published("blfse", x, 2, 3, n_base = 6, control = quiet), NA)
  expect_true(any(fit$solution$scores == 0))
  set.seed(1)
  expect_warning(ufs_blfse(mtcars, 2, 3, base = "kmeans_f",
    control = ufs_control(warn = FALSE, paper = list(base_args = list(kmeans_f = list(scale = TRUE)), n_base = 4))), NA)
  expect_warning(published("blfse", mtcars, 2, 3, base = "variance", base_args = list(variance = list(scale = TRUE)),
    n_base = 4, control = quiet), class = "ufs_warning_base")
  expect_error(published("blfse", mtcars, 5, 3, base = "kmeans_f", n_base = 10, resample = "batches",
    control = quiet), class = "ufs_error_base")
})

test_that("few distinct samples, two base results, one feature, all features", {
  set.seed(1)
  x <- matrix(c(1, 1, 1, 2, 2, 5, 5, 5, 5, 1, 2, 2, 9, 9, 9, 1, 1, 4), 9)
  expect_error(fit <- ufs_blfse(x, 2, 1, scores = rbind(1:2, 2:1), control = quiet), NA)
  expect_true(all(is.finite(fit$solution$v)))
  binary <- cbind(rep(0:1, 10), rep(c(0, 0, 1, 1), 5), rnorm(20))
  fit <- ufs_blfse(binary, 3, 1, scores = rbind(c(3, 1, 1), c(1, 3, 1)), scale = FALSE, control = quiet)
  expect_identical(apply(fit$solution$labels, 2, max), c(2L, 2L))
  # c = p: N = I, and T1 is the plain weighted scatter, 2 sum v_i^2 G_ii.
  d <- blfse_problem(30, 4, 4, 10, seed = 8)
  out <- blfse_raw(d, max_iter = 0L)
  g <- crossprod(d$x, (diag(rowSums(out$S)) - out$S) %*% d$x)
  expect_equal(blfse_plain(d)$trace$T1[1], 2 * sum(out$v^2 * diag(g)), tolerance = 1e-10)
})

test_that("bad input is refused by name; names, weights and words", {
  fit <- function(...) {
    args <- modifyList(list(x = d$x, n_clusters = 3, scores = d$scores, labels = d$labels,
      control = quiet), list(...), keep.null = TRUE)
    do.call(published, c("blfse", args))
  }
  expect_refusals("All fits must select features" = ufs_blfse(d$x, 3, base = list(ufs_ted(d$x)), k = 4),
    "^Base result 2 scores all" = fit(scores = replace(d$scores, cbind(2, 1:10), 0)))
  expect_arguments(n_clusters = fit(n_clusters = 1), n_clusters = fit(n_clusters = 11), k = fit(k = 0), k = fit(k = 11),
    k = fit(labels = NULL), scores = fit(scores = d$scores[, 1:9]), scores = fit(scores = replace(d$scores, 3, NA)),
    scores = fit(scores = replace(d$scores, cbind(2, 1:10), -3)), scores = fit(scores = d$scores[1, , drop = FALSE]),
    labels = fit(labels = d$labels[, 1:7]), labels = fit(labels = d$labels[1:40, ]),
    labels = fit(labels = replace(d$labels, 4, NA)), labels = fit(labels = 1:48), projection = fit(projection = "none"),
    order = fit(order = "other"), scale = fit(scale = "minmax"), psi = fit(psi = c(0.9, 1)),
    gamma_feature = fit(gamma_feature = 0), base = fit(scores = NULL, labels = NULL, k = 2, base = "ted"),
    base = fit(scores = NULL, labels = NULL, k = 2, base = list(1)),
    base = fit(scores = NULL, labels = NULL, k = 2, base = list(ufs_variance(iris[1:4]), ufs_variance(iris[1:4]))),
    base_args = fit(scores = NULL, labels = NULL, k = 2, base_args = list(pca = list())),
    n_base = fit(scores = NULL, labels = NULL, k = 2, n_base = 20, resample = "batches"))
  expect_error(ufs_blfse(mtcars, 3, 2, control = ufs_control(paper = list(n_base = 1e9))), "smaller `n_base`", class = "ufs_error_memory")
  colnames(d$x) <- paste0("f", 1:10)
  rownames(d$x) <- paste0("s", 1:48)
  fit <- blfse_plain(d)
  expect_identical(names(fit$solution$v), colnames(d$x))
  expect_identical(dimnames(fit$solution$S), list(rownames(d$x), rownames(d$x)))
  expect_equal(unname(fit$weights$alpha[10, ]), fit$solution$alpha)
  expect_equal(unname(fit$weights$beta[10, ]), fit$solution$beta)
  expect_match(capture.output(print(fit)), "3 components for 3 clusters", all = FALSE)
  expect_output(print(summary(fit)), "largest alpha")
})

test_that("labels of more than a byte, scores times reliability, and centres of k-means that lose their samples", {
  d <- blfse_problem(600, 4, 3, 3, seed = 11)
  # Pairs that differ in the second byte only, and in the first only.
  d$labels[, 2] <- c(rep(1:290, 2), 1:20)
  want <- Reduce(`+`, lapply(1:3, function(k) outer(d$labels[, k], d$labels[, k], `==`))) / 3
  expect_lt(spread(blfse_raw(d, max_iter = 0L)$S, want), 1e-15)
  expect_equal(normalise_scores(rbind(c(1, 2, 3)), c(1, .5, 0)), rbind(c(.5, .5, 0)))
  expect_equal(normalise_scores(rbind(c(-1, 0, 1))), rbind(c(0, 1, 2) / 3))
  fit <- withr::with_seed(1, ufs_blfse(as.matrix(iris[seq(1, 150, 3), 1:4]), 3, k = 2, control = quiet))
  # Asked as if its parts hung together, the embedding has a point for each of them.
  s <- fit$solution$S
  again <- function() blfse_cluster(s[upper.tri(s, TRUE)], rep(1L, 50), 1L, 3L)
  expect_identical(again(), unname(fit$solution$cluster))
  replaced("kmeans", function(...) stop("empty cluster"), "stats")
  expect_identical(again(), unname(fit$solution$cluster))
})
