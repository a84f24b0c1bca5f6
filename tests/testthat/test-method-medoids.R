skip_on_cran()

centred <- function(x) unname(scale(x))
unit <- function(x) x / sqrt(rowSums(x^2))

test_that("k-means: the sample nearest to each centre, in any order; more centres than rows are refused", {
  x <- planted(60, 10, c = 4)$x
  z <- unit(centred(x))
  set.seed(3)
  fit <- ufs_medoids(x, m = 4)
  set.seed(3)
  runs <- kmeans_runs(z, 4L, 20L)[[1L]]
  expect_equal(fit$certificate[["within_ss"]], runs$withinss)
  expect_true(is.numeric(fit$iterations) && fit$iterations >= 1)
  own <- vapply(1:4, function(a) {
    rows <- which(runs$cluster == a)
    rows[which.min(rowSums(sweep(z[rows, ], 2L, colMeans(z[rows, ]))^2))]
  }, 0L)
  expect_setequal(selected_samples(fit), own)
  expect_identical(unname(fit$solution$cluster), own[runs$cluster])
  size <- representatives(fit)$weight
  expect_identical(sum(size), 60L)
  expect_false(is.unsorted(-size))
  expect_identical(representatives(fit)$index, selected_samples(fit))
  expect_identical(representatives(fit, what = "samples")$representative, own[runs$cluster])
  expect_identical(length(unique(planted(60, 10, c = 4)$cluster[selected_samples(fit)])), 4L)
  expect_refusals(selected_samples(fit, 3), representatives(fit, 3), class = "ufs_error_refit")
  x <- planted(40, 8, c = 5, gap = 20)$x
  chosen <- function(x, ...) withr::with_seed(1, selected_samples(ufs_medoids(x, m = 5, ...)))
  expect_setequal(chosen(1e-160 * x, center = FALSE, scale = FALSE), chosen(x, center = FALSE, scale = FALSE))
  permutation <- withr::with_seed(2, sample.int(40))
  expect_setequal(permutation[chosen(x[permutation, ])], chosen(x))
  expect_error(ufs_medoids(x[rep(1:4, 10), ], m = 5), class = "ufs_error_argument")
  expect_length(chosen(x[rep(1:6, 10), ]), 5L)
})

test_that("labelled samples stay centres and are not chosen", {
  d <- planted(60, 10, c = 4, gap = 6)
  known <- which(d$cluster <= 2)[c(1, 2, 3, 4)]
  set.seed(1)
  fit <- ufs_medoids(d$x, m = 2, labelled = known)
  chosen <- selected_samples(fit)
  expect_setequal(d$cluster[chosen], 3:4)
  z <- unit(centred(d$x))
  # Lloyd's fixed point: everybody is with the nearest centre.
  who <- unname(fit$solution$cluster)
  centre <- rbind(t(vapply(chosen, function(j) colMeans(z[who == j, , drop = FALSE]), numeric(10))), z[known, ])
  d2 <- outer(rowSums(z^2), rowSums(centre^2), "+") - 2 * tcrossprod(z, centre)
  expect_equal(sum(apply(d2, 1L, min)), fit$certificate[["within_ss"]], tolerance = 1e-9)
  expect_identical(c(chosen, known)[max.col(-d2, "first")], who)
  table <- representatives(fit)
  expect_identical(table$labelled, rep(c(FALSE, TRUE), c(2, 4)))
  expect_identical(sum(table$weight), 60L)
  expect_refusals(ufs_medoids(d$x, m = 2, labelled = 61), ufs_medoids(d$x, m = 2, labelled = 1, form = "pam"))
})

test_that("PAM and CLARA are those of package cluster", {
  skip_if_not_installed("cluster")
  x <- planted(50, 8, c = 4)$x
  z <- unit(centred(x))
  fit <- ufs_medoids(x, m = 4, form = "pam")
  expect_setequal(selected_samples(fit), cluster::pam(z, 4)$id.med)
  d <- as.matrix(dist(z))[, selected_samples(fit)]
  expect_equal(fit$certificate[["mean_distance"]], mean(apply(d, 1L, min)))
  expect_identical(unname(fit$solution$cluster), selected_samples(fit)[max.col(-d, "first")])
  set.seed(1)
  expect_length(selected_samples(ufs_medoids(x, m = 4, form = "clara")), 4L)
})

test_that("samples equal to labelled ones count once; CLARA takes enough samples, k-means needs an iteration", {
  x <- matrix(rnorm(3 * 4), 3)[rep(1:3, 4), ]
  expect_setequal(x[ufs_medoids(x, 2, labelled = 1)$solution$order, 1], unique(x[, 1])[2:3])
  expect_error(ufs_medoids(x, 3, labelled = 1), "only 2 samples", class = "ufs_error_argument")
  skip_if_not_installed("cluster")
  x <- as.matrix(mtcars[1:6, 1:4])
  for (m in 1:5) {
    set.seed(1)
    expect_length(unique(selected_samples(ufs_medoids(x, m, form = "clara"))), m)
  }
  expect_arguments(max_iter = ufs_medoids(x, 2, control = ufs_control(max_iter = 0)))
})

sparse_counts <- function(n, p, seed) {
  withr::with_seed(seed, {
    x <- matrix(rpois(n * p, .12), n)
    x[cbind(seq_len(n), sample.int(p, n, TRUE))] <- 1
    # No ties, which rounding would break.
    x * runif(n * p, .5, 1.5)
  })
}

test_that("sparse samples give what dense ones give", {
  skip_if_not_installed("Matrix")
  # Nine groups with columns of their own: the best clusters are clear, whatever the rounding.
  x <- sparse_counts(120, 63, 1)
  x[, seq_len(63) %% 4 != 0] <- 0
  x <- x + 6 * outer(rep_len(1:9, 120), rep_len(1:9, 63), "==")
  # Equal rows, and rows that are multiples of each other.
  x[10:18, ] <- x[1:9, ]
  x[19:23, ] <- 2 * x[1:5, ]
  held <- Matrix::Matrix(x, sparse = TRUE)
  expect_identical(medoid_points(held, TRUE, TRUE, 5, "kmeans")$x$kind, "sparse")
  # Where hardly an entry is zero sparse products would take longer.
  expect_true(is.matrix(medoid_points(Matrix::Matrix(x + 1, sparse = TRUE), TRUE, TRUE, 5, "kmeans")$x))
  for (unit in c(TRUE, FALSE)) for (scale in c(TRUE, FALSE)) for (known in list(NULL, c(3, 50, 90))) {
    fit <- function(x) {
      withr::with_seed(2, ufs_medoids(x, 9 - length(known), labelled = known, unit = unit, center = scale, scale = scale))
    }
    a <- fit(x)
    b <- fit(held)
    expect_equal(b$certificate, a$certificate, tolerance = 1e-8)
    expect_identical(b$solution$order, a$solution$order)
    expect_identical(b$solution$cluster, a$solution$cluster)
  }
})

# Lloyd's iteration in plain R from given free centres, fixed ones beside them.
literal_lloyd <- function(z, free, fixed) {
  repeat {
    d2 <- apply(rbind(free, fixed), 1L, function(at) colSums((t(z) - at)^2))
    who <- max.col(-d2, "first")
    # A cluster that got empty.
    if (any(tabulate(who, nrow(free)) == 0L)) return(Inf)
    new <- rowsum(z, who)[seq_len(nrow(free)), , drop = FALSE] / tabulate(who)[seq_len(nrow(free))]
    if (max(abs(new - free)) < 1e-12) return(sum(d2[cbind(seq_along(who), who)]))
    free <- new
  }
}

test_that("fixed centres: the sum of squares is that of the labels, and Lloyd in plain R finds no better", {
  for (p in c(1, 4, 150)) {
    z <- withr::with_seed(p, matrix(rnorm(80 * p), 80) + 3 * rep(0:3, 20))
    fixed <- c(5L, 6L, 40L)
    found <- withr::with_seed(3, kmeans_starts(list(x = z, first = equal_rows(z)), 4L, 10L, 100L, 10L, fixed))
    for (s in 1:10) {
      who <- found$label[, s]
      centre <- rbind(rowsum(z[who <= 4, , drop = FALSE], who[who <= 4]) / tabulate(who[who <= 4], 4),
        z[fixed, , drop = FALSE])
      d2 <- outer(rowSums(z^2), rowSums(centre^2), "+") - 2 * tcrossprod(z, centre)
      own <- d2[cbind(1:80, who)]
      expect_equal(sum(own), found$within[s], tolerance = 1e-8)
      expect_true(all(own <= apply(d2, 1L, min) + 1e-8))
      expect_identical(who[fixed], 4L + seq_along(fixed))
      expect_equal(literal_lloyd(z, centre[1:4, , drop = FALSE], z[fixed, , drop = FALSE]),
        found$within[s], tolerance = 1e-8)
    }
    literal <- withr::with_seed(4, replicate(10, {
      literal_lloyd(z, z[sample(setdiff(1:80, fixed), 4), , drop = FALSE], z[fixed, , drop = FALSE])
    }))
    expect_lte(min(found$within), min(literal) * 1.02)
    # Of a race the best goes on, from where it was.
    few <- withr::with_seed(3, kmeans_starts(list(x = z, first = equal_rows(z)), 4L, 10L, 100L, 3L, fixed))
    expect_lte(min(few$within), stats::median(found$within) * (1 + 1e-8))
    all <- withr::with_seed(3, kmeans_starts(list(x = z, first = equal_rows(z)), 4L, 10L, 100L, 9L, fixed))
    expect_equal(min(all$within), min(found$within), tolerance = 1e-8)
  }
})

test_that("only candidates are chosen, also where a cluster has none; fewer starts where all take seconds", {
  z <- planted(40, 10, c = 4, gap = 10)
  allowed <- z$cluster != 2
  found <- withr::with_seed(1, kmeans_medoids(dense_points(centred(z$x), TRUE), 4L, integer(), 20L, 100L, allowed))
  expect_true(all(allowed[found$medoids]))
  expect_identical(anyDuplicated(found$medoids), 0L)
  expect_setequal(z$cluster[found$medoids], c(1, 3, 4))
  x <- withr::with_seed(1, matrix(stats::rnorm(60, sd = .3), 20)) + rep(c(0, 9), each = 10)
  x[1, 1] <- 2
  fit <- withr::with_seed(1, ufs_medoids(ufs_data(x, candidates = c(1, 11, 12)), m = 2))
  expect_true(1 %in% selected_samples(fit, as = "index") && any(11:12 %in% selected_samples(fit, as = "index")))
  expect_identical(starts_made(20, 5e7), c(tried = 20, kept = 20))
  # 50,000 x 60 with m = 20, 100,000 x 25 with m = 100, and far more.
  expect_identical(starts_made(20, 6e7), c(tried = 12, kept = 2))
  expect_identical(starts_made(20, 2.5e8), c(tried = 6, kept = 2))
  expect_identical(starts_made(20, 1e12), c(tried = 5, kept = 2))
  expect_identical(starts_made(1, 1e12), c(tried = 1, kept = 1))
})
