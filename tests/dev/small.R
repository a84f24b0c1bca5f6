# Every method once on small dense, sparse and file input, for tools under which a test file takes too
# long (valgrind.sh, gctorture.sh). Says which calls failed; --out=file.rds keeps what was chosen.
source("tests/dev/common.R")
set <- options_of(out = "")
set.seed(1)
inputs <- list(wide = clustered(12, 20), tall = clustered(24, 8))
inputs$wide[, 3] <- inputs$wide[, 2]
inputs$tall[, 4] <- 1
forms <- list(
  dense = identity,
  blocks = function(x) ufs_data(x),
  sparse = function(x) Matrix::Matrix(x * (abs(x) > 1), sparse = TRUE),
  file = function(x) ufs_data(DelayedArray::DelayedArray(x), block_bytes = 8 * 5 * nrow(x)))
needs <- c(sparse = "Matrix", file = "DelayedArray")
here <- vapply(names(forms), function(form) {
  !form %in% names(needs) || requireNamespace(needs[[form]], quietly = TRUE)
}, NA)
tried <- failed <- 0
answers <- list()
for (form in names(forms)[here]) {
  # Wide dense input is standardised by blocks, without a copy.
  options(ufselect.copy_bytes = if (form == "blocks") 0)
  for (shape in names(inputs)) {
    x <- forms[[form]](inputs[[shape]])
    for (method in ufs_methods()$method) {
      fit <- tryCatch(fit_of(method, x, control = list(max_iter = 5)), error = identity)
      tried <- tried + 1
      if (inherits(fit, "error")) {
        failed <- failed + 1
        cat("  ", method, form, shape, conditionMessage(fit), "\n")
      } else {
        answers[[paste(method, form, shape)]] <- chosen(fit)
      }
    }
  }
}
if (nzchar(set$out)) saveRDS(answers, set$out)
finish("small", tried, failed)
