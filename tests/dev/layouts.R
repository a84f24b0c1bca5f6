# Every method on four real sets in every layout: dense, scaled by blocks, sparse, files by rows and
# by columns, shared memory, blocks of 3 rows and of 2 columns; and each call of the operator
# inside these fits against the matrix. Prints what differs. Usage:
#   Rscript tests/dev/layouts.R --rows=40 --columns=60 --methods=all --layouts=all --data=folder
# `data`: a folder of *.rds files, list(x = ), of which --sets are taken; "" for R's own data sets,
# all or some of judges, wide, states, cars.
# One side at most 50: neighbours and clusters in a file beyond four blocks are those on 50
# principal component scores.
source("tests/dev/common.R")
source("tests/testthat/helper-reference-x.R")
source("tests/testthat/helper-layouts.R")
options <- options_of(rows = 40, columns = 60, methods = "all", layouts = "all", data = "", sets = "all")
some <- function(given, all) if (given == "all") all else strsplit(given, ",")[[1]]
real <- if (nzchar(options$data)) {
  lapply(stats::setNames(nm = some(options$sets, c("wdbc", "vehicle", "ionosphere", "lung_discrete"))), function(name) {
    as.matrix(readRDS(file.path(options$data, paste0(name, ".rds")))$x) + 0
  })
} else {
  list(judges = as.matrix(USJudgeRatings), wide = t(as.matrix(USJudgeRatings)),
    states = state.x77, cars = as.matrix(mtcars))
}
original <- getFromNamespace("source_operator", "ufselect")
# Beside the defaults: all features in use (where SOCFS at its default tolerance leaves the third
# digit of a score open, and 1e-10 the fourth where there are more columns than rows), and ALFS's
# third penalty.
tight <- ufs_control(tol = 1e-14, inner_tol = 1e-13)
variants <- list(socfs = list(list(lambda_rel = .01, control = tight)), jspca = list(list(lambda_rel = .02),
  list(lambda_rel = .02, loss = "sample")), alfs = list(list(control = ufs_control(paper = list(lambda_rel = .02)))),
  laplacian = list(list(graph = list(exact = TRUE))))
tried <- failed <- 0
judge <- function(what, difference, tolerance) {
  tried <<- tried + 1
  if (is.finite(difference) && difference <= tolerance) return(invisible())
  failed <<- failed + 1
  cat(what, "is off by", signif(difference, 2), "\n")
}
fit_in <- function(layout, method, x, args) {
  tryCatch(withr::with_options(layout_options(layout), do.call(fit_of, c(list(method, x), args))),
    error = function(e) list(status = conditionMessage(e)))
}
for (name in some(if (nzchar(options$data)) "all" else options$sets, names(real))) {
  started <- proc.time()[[1L]]
  x <- real[[name]]
  set.seed(1)
  x <- x[sort(sample(nrow(x), min(nrow(x), options$rows))), , drop = FALSE]
  x <- x[, sort(sample(ncol(x), min(ncol(x), options$columns))), drop = FALSE]
  dimnames(x) <- list(NULL, paste0("f", seq_len(ncol(x))))
  worst <- list()
  assignInNamespace("source_operator", checked_operator(original, x, function(call, difference) {
    worst[[call]] <<- max(worst[[call]], difference)
  }), "ufselect")
  folder <- tempfile("layouts")
  dir.create(folder)
  layouts <- layouts_of(x, folder)
  for (method in some(options$methods, setdiff(ufs_methods()$method, "random"))) {
    for (args in c(list(list()), variants[[method]])) {
      dense <- fit_in("dense", method, x, args)
      for (layout in intersect(some(options$layouts, names(layouts)), names(layouts))) {
        # Columns of a chunk stay together among the decoys: ties of ranks end in another order.
        if (method == "consensus" && layout %in% c("by_columns", "tiny_columns")) next
        what <- paste(c(name, method, names(args), layout), collapse = " ")
        fit <- fit_in(layout, method, layouts[[layout]], args)
        judge(what, fits_apart(fit, dense), layout_tolerance(method))
      }
    }
  }
  for (call in names(worst)) judge(paste(name, "call", call), worst[[call]], 1e-10)
  cat(sprintf("  %-14s tried %5d, %4.0f CPU s\n", name, tried, proc.time()[[1L]] - started))
}
finish("layouts", tried, failed)
