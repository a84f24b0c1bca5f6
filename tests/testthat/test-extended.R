# Recovery of planted features, over seeds and over the strength of the signal: the short form
# always, the long one with UFSELECT_EXTENDED_TESTS=true.

skip_on_cran()

# Share of the informative columns among as many chosen ones; three groups, `strength` apart.
recovered <- function(method, strength, seed, ...) {
  withr::with_seed(seed, {
    groups <- rep_len(1:3, 90)
    x <- matrix(rnorm(90 * 40), 90)
    x[, 1:8] <- x[, 1:8] + strength * matrix(rnorm(24), 3)[groups, ]
    mean(quietly(ufs(x, method, ...))$feature_ranking[1:8] <= 8)
  })
}

recovery <- function(seeds) {
  for (method in c("socfs", "kmeans_f", "jspca")) {
    number <- if (method == "jspca") list(n_components = 2) else list(n_clusters = 3)
    share <- vapply(c(weak = .3, strong = 4), function(strength) {
      mean(vapply(seeds, function(seed) do.call(recovered, c(list(method, strength, seed), number)), 0))
    }, 0)
    # A strong signal is found, more of it than of a weak one.
    expect_gt(share[["strong"]], .75)
    expect_gt(share[["strong"]], share[["weak"]])
  }
}

test_that("planted features are found, the better the stronger they are, over many seeds", {
  recovery(1:2)
  skip_if_not(identical(tolower(Sys.getenv("UFSELECT_EXTENDED_TESTS")), "true"), "UFSELECT_EXTENDED_TESTS is not set")
  recovery(1:25)
})
