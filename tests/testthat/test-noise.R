# What must not matter: noise of the size of rounding, and the seed where nothing is drawn.

skip_on_cran()

x <- planted(30, 10, informative = 5)$x
colnames(x) <- paste0("f", 1:10)
fit <- function(method, ...) fit_of(method, ..., gamma = if (method == "sogfs") .05)

for (method in setdiff(ufs_methods()$method, "random")) {
  test_that(paste0(method, ": noise of the size of rounding changes no choice"), {
    one <- fit(method, x)
    other <- fit(method, withr::with_seed(5, x * (1 + .Machine$double.eps * matrix(runif(300, -1, 1), 30))))
    score <- function(fit) c(fit$feature_scores, fit$sample_scores)
    expect_equal(score(other), score(one), tolerance = 1e-3)
    clear <- function(fit) {
      # The order of scores that differ by more than the solver's tolerance.
      s <- fit$feature_scores
      if (is.null(s)) unname(fit$sample_ranking[1:4]) else unname(fit$feature_ranking[seq_len(sum(s > 1e-3 * max(s)))])
    }
    if (method != "topk") expect_identical(clear(other), clear(one))
  })

  row <- ufs_methods()[ufs_methods()$method == method, ]
  if (row$deterministic || row$selects != "samples") {
    test_that(paste0(method, ": another seed finds the same, or the same informative columns"), {
      a <- unclass(fit(method, x))
      b <- unclass(fit(method, x, seed = 2))
      same <- c("feature_scores", "sample_scores")
      if (row$deterministic) expect_identical(a[same], b[same]) else
        expect_gt(length(intersect(a$feature_ranking[1:5], b$feature_ranking[1:5])), 2)
    })
  }
}
