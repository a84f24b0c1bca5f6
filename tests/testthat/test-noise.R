# What must not matter: noise of the size of rounding, and the seed where nothing is drawn.

skip_on_cran()

methods <- setdiff(ufs_methods()$method, "random")
x <- planted(30, 10, informative = 5)$x
colnames(x) <- paste0("f", 1:10)
needed <- function(method) {
  c(needed_arguments(method), if (method == "topk") list(n_clusters = 3), if (method == "sogfs") list(gamma = .05))
}
fit_of <- function(method, x, seed = 1) {
  withr::with_seed(seed, suppressMessages(suppressWarnings(
    do.call(ufs, c(list(x = x, method = method), needed(method))))))
}

for (method in methods) {
  test_that(paste0(method, ": noise of the size of rounding changes no choice"), {
    fit <- fit_of(method, x)
    noisy <- withr::with_seed(5, x * (1 + .Machine$double.eps * matrix(runif(300, -1, 1), 30)))
    other <- fit_of(method, noisy)
    score <- function(fit) c(fit$feature_scores, fit$sample_scores)
    expect_equal(score(other), score(fit), tolerance = 1e-3)
    clear <- function(fit) {
      # The order of scores that differ by more than the solver's tolerance.
      s <- fit$feature_scores
      if (is.null(s)) unname(fit$sample_ranking[1:4]) else unname(fit$feature_ranking[seq_len(sum(s > 1e-3 * max(s)))])
    }
    if (method != "topk") expect_identical(clear(other), clear(fit))
  })

  row <- ufs_methods()[ufs_methods()$method == method, ]
  if (row$deterministic || row$selects != "samples") {
    test_that(paste0(method, ": another seed finds the same, or the same informative columns"), {
      a <- unclass(fit_of(method, x, 1))
      b <- unclass(fit_of(method, x, 2))
      same <- c("feature_scores", "sample_scores")
      if (row$deterministic) expect_identical(a[same], b[same]) else
        expect_gt(length(intersect(a$feature_ranking[1:5], b$feature_ranking[1:5])), 2)
    })
  }
}
