# The unit of x: a power of two changes no bit of the mantissas, so a selection that changes with it
# has an absolute threshold in it, or a square that overflows.

x <- withr::with_seed(3, planted(24, 9, informative = 4)$x * rep(c(1, 50, 1), each = 72))
# Their penalties are absolute, as published: the help pages say so at `scale`.
# consensus: NDFS is a member.
absolute <- c("blfse", "consensus", "ndfs", "sogfs", "udfs")

for (method in ufs_methods()$method) {
  has_scale <- "scale" %in% names(formals(registry()[[method]]$fit))
  for (scale in if (has_scale) c(FALSE, TRUE) else NA) {
    test_that(paste0(method, ": the same selection in any unit, or words; scale = ", scale), {
      skip_most_on_cran(method)
      fit <- function(x) tryCatch(fit_of(method, x, scale = if (has_scale) scale), ufs_error = identity)
      want <- fit(x)
      expect_s3_class(want, "ufs")
      for (k in if (on_cran()) c(-300, 40) else c(-300, -40, 40, 300)) {
        got <- fit(x * 2^k)
        if (inherits(got, "ufs_error")) {
          # Standardised columns have no unit, and a factor of 1e12 is no reason to refuse.
          expect_true(!isTRUE(scale) && (abs(k) == 300 || method %in% absolute))
          next
        }
        expect_true(got$status != "converged" || all(is.finite(c(got$feature_scores, got$sample_scores))))
        if (!isTRUE(scale) && method %in% absolute) next
        expect_identical(got$status, want$status)
        expect_identical(unname(got$feature_ranking), unname(want$feature_ranking))
        expect_identical(unname(got$sample_ranking), unname(want$sample_ranking))
      }
    })
  }
}
