# Relations between calls that must hold for every method: Rscript tests/dev/metamorphic.R --repeats=3
# Permuted columns and rows, x times a power of two, constant columns, data.frame and sparse
# Matrix instead of a matrix, all features chosen.
source("tests/dev/common.R")
set <- options_of(repeats = 2, seed = 1)
methods <- setdiff(ufs_methods()$method, "random")
random <- ufs_methods()$method[!ufs_methods()$deterministic]
loose <- c("consensus", "sogfs")
tried <- failed <- 0
check <- function(method, relation, ok) {
  tried <<- tried + 1
  if (!isTRUE(ok)) {
    failed <<- failed + 1
    cat(sprintf("  %s: %s\n", method, relation))
  }
}
# Iterative methods stop within their tolerance; copies of a decision are compared by scores.
close <- function(a, b) isTRUE(all.equal(a, b, tolerance = 1e-3))
# Ranks that are tied but for rounding may change places, and SOGFS stops before the third digit of its scores stands.
near <- function(a, b) close(a, b) || mean(abs(a - b)) < 0.005
same <- function(a, b, p = seq_along(a$feature_scores), r = seq_along(a$sample_scores)) {
  (is.null(a$feature_scores) ||
    (if (a$method %in% loose) near else close)(unname(a$feature_scores)[p], unname(b$feature_scores))) &&
    (is.null(a$sample_scores) || close(unname(a$sample_scores)[r], unname(b$sample_scores)) ||
      # Two samples that bring exactly the same: the lower index is taken, as promised, and the
      # next ones may differ; what all of them cover does not.
      close(sort(unname(a$statistic)), sort(unname(b$statistic))) ||
      "value" %in% names(a$certificate) && isTRUE(all.equal(a$certificate[["value"]], b$certificate[["value"]])))
}
# JSPCA goes through the columns one by one: rounding in another order may lead to another stationary point.
other_point <- 0
other_optimum <- function(a, b) {
  if (a$method != "jspca" || a$status != "converged" || b$status != "converged") return(FALSE)
  apart <- abs(a$certificate[["captured"]] - b$certificate[["captured"]]) > 1e-4 &&
    max(a$certificate[["kkt"]], b$certificate[["kkt"]]) < 1e-4
  other_point <<- other_point + apart
  apart
}
# RSR's default tolerance leaves the third digit of a score open.
finer <- list(rsr = list(control = ufs_control(tol = 1e-6)))
fit_with <- function(method, x) do.call(fit_of, c(list(method, x), finer[[method]]))
for (rep in seq_len(set$repeats)) for (shape in list(c(30, 9), c(14, 40))) {
  set.seed(set$seed + rep)
  x <- clustered(shape[1], shape[2])
  columns <- sample(ncol(x))
  rows <- sample(nrow(x))
  for (method in methods) {
    fit <- fit_with(method, x)
    check(method, "data.frame = matrix", same(fit, fit_with(method, as.data.frame(x))))
    if (!method %in% c(random, "cur")) {
      check(method, "permuted columns", {
        other <- fit_with(method, x[, columns])
        same(fit, other, p = columns) || other_optimum(fit, other)
      })
      # MCFS on a graph in pieces depends on the order of the samples, as ?ufs_mcfs says.
      in_pieces <- method == "mcfs" && fit$solution$graph$n_components > 1
      if (!in_pieces) check(method, "permuted rows", same(fit, fit_with(method, x[rows, ]), r = rows))
    }
    if (method != "variance") check(method, "x * 2^10", {
      other <- fit_with(method, x * 2^10)
      # Scores of unscaled methods carry the unit: the order is what must stay.
      identical(chosen(fit), chosen(other)) || same(fit, other)
    })
    check(method, "a constant column changes nothing", {
      other <- fit_with(method, cbind(x, flat = 3))
      if (is.null(fit$feature_scores)) same(fit, other) else {
        utils::tail(unname(other$feature_ranking), 1) == ncol(x) + 1 &&
          close(unname(other$feature_scores)[seq_len(ncol(x))], unname(fit$feature_scores))
      }
    })
    if (requireNamespace("Matrix", quietly = TRUE)) {
      zero <- x * (abs(x) > .8)
      check(method, "sparse = dense", same(fit_with(method, zero),
        fit_with(method, methods::as(Matrix::Matrix(zero, sparse = TRUE), "CsparseMatrix"))))
    }
    if (!is.null(fit$feature_scores) && method != "topk") {
      check(method, "k = p keeps all", setequal(suppressMessages(selected_features(fit, ncol(x))), colnames(x)))
    }
  }
}
if (other_point > 0) cat("  jspca: another stationary point in", other_point, "relations\n")
finish("metamorphic", tried, failed)
