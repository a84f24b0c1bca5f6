# Every method once with a collection at every allocation: Rscript tests/dev/gctorture.R
# A value that is not protected shows as a crash or as another answer.
source("tests/dev/common.R")
set <- options_of(step = 1)
set.seed(1)
x <- clustered(8, 6)
methods <- ufs_methods()$method
failed <- 0
for (method in methods) {
  calm <- fit_of(method, x, control = list(max_iter = 2))
  # R-level work dominates: torture begins where .Call() does.
  gctorture2(as.integer(set$step), inhibit_release = TRUE)
  torn <- try(fit_of(method, x, control = list(max_iter = 2)), silent = TRUE)
  gctorture(FALSE)
  same <- !inherits(torn, "try-error") && identical(chosen(calm), chosen(torn))
  failed <- failed + !same
  if (!same) cat("  ", method, "differs\n")
}
finish("gctorture", length(methods), failed)
