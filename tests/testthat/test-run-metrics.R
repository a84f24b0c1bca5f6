test_that("one cluster and one class agree perfectly", {
  expect_identical(table_ari(matrix(5)), 1)
  expect_equal(table_ari(matrix(c(2, 1, 1, 2), 2)), (2 - 36 / 15) / (6 - 36 / 15))
})

test_that("accuracy is the best match, and nmi divides by the geometric mean of the entropies", {
  skip_if_not_installed("clue")
  class <- rep(c("b", "a", "c"), c(5, 7, 9))
  expect_equal(ufs_cluster_metrics(match(class, c("c", "a", "b")), class), c(accuracy = 1, nmi = 1, ari = 1))
  # Brute force over permutations.
  set.seed(2)
  cluster <- sample(3, 40, TRUE)
  class <- sample(3, 40, TRUE)
  perms <- rbind(1:3, c(1, 3, 2), c(2, 1, 3), c(2, 3, 1), c(3, 1, 2), 3:1)
  best <- max(apply(perms, 1, function(perm) mean(perm[cluster] == class)))
  expect_equal(ufs_cluster_metrics(cluster, class)[["accuracy"]], best)
  # More or fewer clusters than classes.
  expect_equal(ufs_cluster_metrics(1:6, rep(1:2, 3))[["accuracy"]], 2 / 6)
  expect_equal(ufs_cluster_metrics(rep(1, 6), rep(1:2, 3)), c(accuracy = .5, nmi = 0, ari = 0))
  # Four clusters, each within one of two classes: log 2 shared, entropies log 4 and log 2.
  expect_equal(ufs_cluster_metrics(1:4, c(1, 1, 2, 2))[["nmi"]], 1 / sqrt(2))
  expect_equal(ufs_cluster_metrics(c(1, 1, 2, 2), c("a", "a", "b", NA))[["accuracy"]], 1)
  expect_refusals(ufs_cluster_metrics(1:3, 1:4), ufs_cluster_metrics(c(1, NA), 1:2))
})
