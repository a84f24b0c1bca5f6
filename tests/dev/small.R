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
# Ways that the defaults do not take, for as long as it takes to get there.
long <- clustered(60, 6)
square <- clustered(24, 16)
ways <- list(
  alfs_crowded = function() {
    ufs_alfs(square, alpha_rel = .01, beta_rel = .01, control = ufs_control(paper = list(lambda_rel = 1e-3)))
  },
  alfs_few = function() ufs_alfs(square, beta_rel = .6, control = ufs_control(paper = list(lambda_rel = 1e-4))),
  alfs_diagonal = function() {
    ufs_alfs(diag(c(2, 1.5, 1, .5)), center = FALSE, scale = FALSE,
      control = ufs_control(paper = list(alpha = .1, beta = .1, lambda = 4.08)))
  },
  jspca_few_features = function() ufs_jspca(long, 3, lambda_rel = .1, loss = "sample"),
  jspca_file = function() ufs_jspca(forms$file(square), 3, lambda_rel = .1, loss = "feature"),
  socfs_file = function() ufs_socfs(forms$file(square), 3, init = rep(1:3, 8)),
  topk_admm_wide = function() ufs_topk(inputs$wide, 4, n_clusters = 3, solver = "admm", alpha_e = 20),
  topk_admm_long = function() ufs_topk(long, 4, n_clusters = 3, solver = "admm"),
  topk_paper_wide = function() ufs_topk(inputs$wide, 4, n_clusters = 3, solver = "paper", alpha_e = 20),
  topk_paper_long = function() ufs_topk(long, 4, n_clusters = 3, solver = "paper"),
  ted_given = function() ufs_ted(long, 5, labelled = c(3, 50)),
  blfse = function() ufs_blfse(1e-7 * square, 3, k = 4),
  inffs_bytes = function() lapply(c(30, 60, 380), function(n) ufs_inffs(clustered(n, 12))))
if (!here[["file"]]) ways <- ways[!endsWith(names(ways), "_file")]
for (way in names(ways)) {
  fit <- tryCatch(suppressWarnings(ways[[way]]()), error = identity)
  tried <- tried + 1
  if (inherits(fit, "error")) {
    failed <- failed + 1
    cat("  ", way, conditionMessage(fit), "\n")
  } else if (inherits(fit, "ufs")) {
    answers[[way]] <- chosen(fit)
  }
}
if (nzchar(set$out)) saveRDS(answers, set$out)
finish("small", tried, failed)
