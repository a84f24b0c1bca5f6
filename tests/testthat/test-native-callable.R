# Solvers for the C code of other packages: a package that links to this one is built, and each
# function is held against plain R.

caller_sources <- list(
  DESCRIPTION = c("Package: ufscaller", "Version: 0.0.1", "Title: Calls Solvers of 'ufselect'",
    "Description: For a test.", "License: GPL-2", "Author: A", "Maintainer: A <a@example.org>", "Imports: ufselect",
    "LinkingTo: ufselect"),
  NAMESPACE = c("importFrom(ufselect, ufs_methods)", "useDynLib(ufscaller)"),
  "src/caller.c" = '
#include <ufselect.h>
#include <string.h>
#include <Rinternals.h>

static SEXP list(int length) { return PROTECT(Rf_allocVector(VECSXP, length)); }
static SEXP ended(int status, SEXP out)
{
    SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(status));
    UNPROTECT(1);
    return out;
}
static ufselect_matrix matrix_of(SEXP x) { return (ufselect_matrix) {Rf_nrows(x), Rf_ncols(x), REAL(x)}; }
static double *numbers(SEXP out, int i, int n, int m)
{
    SET_VECTOR_ELT(out, i, Rf_allocMatrix(REALSXP, n, m));
    return memset(REAL(VECTOR_ELT(out, i)), 0, sizeof(double) * (size_t) n * (size_t) m);
}
static int *counts(SEXP out, int i, int n)
{
    SET_VECTOR_ELT(out, i, Rf_allocVector(INTSXP, n));
    return INTEGER(VECTOR_ELT(out, i));
}

SEXP call_css(SEXP x, SEXP k_, SEXP swaps)
{
    int k = Rf_asInteger(k_), most = k > 0 ? k : 1;
    ufselect_matrix given = matrix_of(x);
    SEXP out = list(4);
    return ended(ufselect_css(&given, k, Rf_asInteger(swaps), counts(out, 1, most), numbers(out, 2, most, 1),
        numbers(out, 3, most, 1)), out);
}
SEXP call_facility(SEXP x, SEXP m_)
{
    int m = Rf_asInteger(m_);
    ufselect_matrix given = matrix_of(x);
    SEXP out = list(4);
    return ended(ufselect_facility(&given, m, counts(out, 1, m), numbers(out, 2, m, 1), numbers(out, 3, m, 1)), out);
}
SEXP call_medoids(SEXP x, SEXP draw, SEXP max_iter)
{
    int m = Rf_nrows(draw);
    ufselect_matrix given = matrix_of(x);
    ufselect_starts starts = {Rf_ncols(draw), Rf_asInteger(max_iter), REAL(draw)};
    SEXP out = list(4);
    return ended(ufselect_medoids(&given, m, &starts, counts(out, 1, m), counts(out, 2, given.n), numbers(out, 3, 1, 1)), out);
}
SEXP call_group_lasso(SEXP x, SEXP t, SEXP lambda, SEXP tol)
{
    ufselect_matrix given = matrix_of(x), target = matrix_of(t);
    SEXP out = list(4);
    return ended(ufselect_group_lasso(&given, &target, Rf_asReal(lambda), Rf_asReal(tol),
        numbers(out, 1, given.p, target.p), numbers(out, 2, 1, 1), numbers(out, 3, 1, 1)), out);
}
static void product(const void *data, int m, const double *x, double *y)
{
    const ufselect_matrix *a = (const ufselect_matrix *) data;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < a->n; i++) {
            double sum = 0;
            for (int l = 0; l < a->n; l++) sum += a->x[i + l * a->n] * x[l + j * a->n];
            y[i + j * a->n] = sum;
        }
}
SEXP call_eigen(SEXP a, SEXP k_, SEXP tol)
{
    ufselect_matrix given = matrix_of(a);
    ufselect_operator operator = {given.n, product, &given};
    int k = Rf_asInteger(k_);
    SEXP out = list(4);
    return ended(ufselect_eigen(&operator, k, Rf_asReal(tol), numbers(out, 1, k, 1), numbers(out, 2, given.n, k),
        numbers(out, 3, 1, 1)), out);
}
SEXP call_neighbours(SEXP x, SEXP k_)
{
    int k = Rf_asInteger(k_);
    ufselect_matrix given = matrix_of(x);
    SEXP out = list(3);
    return ended(ufselect_neighbours(&given, k, counts(out, 1, given.n * k), numbers(out, 2, k, given.n)), out);
}
')

# Builds the package in a folder of its own; returns the name of its library.
build_caller <- function() {
  folder <- withr::local_tempdir(.local_envir = parent.frame())
  source <- file.path(folder, "source", "ufscaller")
  dir.create(file.path(source, "src"), recursive = TRUE)
  for (file in names(caller_sources)) writeLines(caller_sources[[file]], file.path(source, file))
  log <- file.path(folder, "log")
  status <- withr::with_envvar(c(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep), R_TESTS = ""),
    system2(file.path(R.home("bin"), "R"), c("CMD", "INSTALL", "--no-test-load", "--no-docs",
      paste0("--library=", shQuote(folder)), shQuote(source)), stdout = log, stderr = log))
  if (status != 0L) stop(paste(readLines(log), collapse = "\n"))
  folder
}

test_that("another package calls the solvers by their header", {
  skip_on_cran()
  skip_processes()
  skip_if(!nzchar(system.file("include", "ufselect.h", package = "ufselect")), "not installed")
  dll <- dyn.load(file.path(build_caller(), "ufscaller", "libs", paste0("ufscaller", .Platform$dynlib.ext)))
  withr::defer(dyn.unload(dll[["path"]]))
  call_c <- function(name, ...) .Call(getNativeSymbolInfo(paste0("call_", name), dll), ...)

  x <- scale(as.matrix(mtcars))
  attributes(x) <- list(dim = dim(x))
  css <- call_c("css", x, 4L, 50L)
  expect_identical(css[[1L]], 0L)
  expect_setequal(css[[2L]] + 1L, selected_features(ufs_css(x, 4, swaps = 50), 4, as = "index"))
  held <- vapply(1:4, function(t) sum(qr.fitted(qr(x[, css[[2L]][1:t] + 1L]), x)^2), 0)
  expect_equal(c(css[[3L]]), held, tolerance = 1e-10)
  expect_equal(c(css[[4L]]), cumsum(svd(x)$d^2)[1:4], tolerance = 1e-10)
  # Two columns rebuild the third: there is nothing for a third pick to add.
  flat <- cbind(x[, 1:2], x[, 1] + x[, 2])
  short <- call_c("css", flat, 3L, 0L)
  expect_identical(short[[1L]], 0L)
  expect_identical(short[[2L]][3L], -1L)
  expect_equal(short[[3L]][2:3], rep(sum(flat^2), 2L), tolerance = 1e-10)
  expect_identical(call_c("css", cbind(c(1, 0, 0, 0), c(1, 0, 0, 0)), 2L, 5L)[[2L]], c(0L, -1L))
  expect_identical(call_c("css", matrix(0, 4L, 2L), 2L, 0L)[[2L]], c(-1L, -1L))
  for (size in c(1e-100, 1e-80, 1e80, 1e100)) {
    far <- call_c("css", x * size, 4L, 50L)
    expect_identical(far[1:2], css[1:2])
    expect_equal(far[[3L]] / size^2, css[[3L]], tolerance = 1e-10)
    expect_equal(far[[4L]] / size^2, css[[4L]], tolerance = 1e-10)
  }
  for (size in c(1e200, 1e-160)) expect_identical(call_c("css", x * size, 2L, 0L)[[1L]], -2L)

  facility <- call_c("facility", x, 5L)
  like <- 1 + tcrossprod(x / sqrt(rowSums(x^2)))
  expect_identical(facility[[1L]], 0L)
  expect_identical(facility[[2L]] + 1L,
    unname(selected_samples(ufs_facility(x, 5, center = FALSE, scale = FALSE), 5, as = "index")))
  value <- vapply(1:5, function(t) sum(apply(like[, facility[[2L]][1:t] + 1L, drop = FALSE], 1L, max)), 0)
  expect_equal(c(facility[[3L]]), value, tolerance = 1e-10)
  expect_true(all(facility[[4L]] >= facility[[3L]] * (1 - 1e-12)))
  # Cosines do not depend on the length of a row.
  for (size in list(1e-300, 1e200, rep(c(1e-170, 1, 1e160, 1e300), 8))) {
    expect_equal(call_c("facility", x * size, 5L), facility, tolerance = 1e-10)
  }

  set.seed(1)
  flowers <- as.matrix(iris[, 1:4])
  dimnames(flowers) <- NULL
  medoids <- call_c("medoids", flowers, matrix(runif(60), 3L), 100L)
  expect_identical(medoids[[1L]], 0L)
  centres <- rowsum(flowers, medoids[[3L]]) / tabulate(medoids[[3L]] + 1L)
  expect_equal(medoids[[4L]][1L], sum((flowers - centres[medoids[[3L]] + 1L, ])^2), tolerance = 1e-10)
  expect_equal(medoids[[4L]][1L], min(replicate(20L, kmeans(flowers, 3L)$tot.withinss)), tolerance = 1e-8)
  far <- unname(rowSums((flowers - centres[medoids[[3L]] + 1L, ])^2))
  expect_equal(far[medoids[[2L]] + 1L], unname(c(tapply(far, medoids[[3L]], min))), tolerance = 1e-10)

  # Squares of distances are right at any scale, or refused.
  near <- call_c("neighbours", flowers, 2L)
  for (size in c(2^-450, 2^500)) {
    far <- call_c("medoids", flowers * size, withr::with_seed(2, matrix(runif(60), 3L)), 100L)
    expect_equal(far[[4L]][1L] / size^2, medoids[[4L]][1L], tolerance = 1e-10)
    far <- call_c("neighbours", flowers * size, 2L)
    expect_identical(list(far[[2L]], far[[3L]] / size^2), near[2:3])
  }
  for (size in c(1e-170, 1e170)) {
    expect_identical(call_c("medoids", flowers * size, matrix(.5, 3L, 2L), 100L)[[1L]], -2L)
    expect_identical(call_c("neighbours", flowers * size, 2L)[[1L]], -2L)
  }

  target <- svd(x)$u[, 1:2]
  lasso <- call_c("group_lasso", x, target, 4, 1e-10)
  objective <- function(v) sum((target - x %*% v)^2) + 4 * sum(sqrt(rowSums(v^2)))
  expect_identical(lasso[[1L]], 0L)
  expect_equal(lasso[[3L]][1L], objective(lasso[[2L]]), tolerance = 1e-10)
  expect_lt(lasso[[4L]][1L], 1e-6 * lasso[[3L]][1L])
  expect_gt(sum(rowSums(lasso[[2L]]^2) == 0), 0L)
  for (size in c(1e-100, 1e100)) for (of_t in c(1e-90, 1, 1e90)) {
    far <- call_c("group_lasso", x * size, target * of_t, 4 * size * of_t, 1e-10)
    expect_identical(far[[1L]], 0L)
    expect_equal(far[[2L]] * size / of_t, lasso[[2L]], tolerance = 1e-8)
    expect_equal(far[[3L]] / of_t^2, lasso[[3L]], tolerance = 1e-10)
  }

  gram <- crossprod(x)
  eigen <- call_c("eigen", gram, 3L, 1e-10)
  expect_identical(eigen[[1L]], 0L)
  rest <- gram %*% eigen[[3L]] - eigen[[3L]] %*% diag(c(eigen[[2L]]))
  expect_lt(max(sqrt(colSums(rest^2))), 1e-9 * eigen[[2L]][1L])
  expect_lt(eigen[[4L]], 1e-9)
  expect_equal(c(eigen[[2L]]), eigen(gram, TRUE)$values[1:3], tolerance = 1e-8)
  expect_equal(abs(crossprod(eigen[[3L]], eigen(gram, TRUE)$vectors[, 1:3])), diag(3L), tolerance = 1e-6)

  near <- call_c("neighbours", x, 2L)
  d <- unname(as.matrix(dist(x)))
  diag(d) <- Inf
  expect_identical(near[[1L]], 0L)
  expect_equal(near[[3L]], apply(d, 1L, function(row) sort(row)[1:2])^2, tolerance = 1e-10)
  expect_identical(matrix(near[[2L]], 2L) + 1L, apply(d, 1L, function(row) order(row)[1:2]))

  # Each argument outside its range, alone: -1. Values that are not finite: -2.
  status <- function(...) call_c(...)[[1L]]
  draw <- matrix(.5, 3L, 2L)
  outside <- list(list("css", x, 0L, 0L), list("css", x, 12L, 0L), list("css", x, 2L, -1L),
    list("css", x[0L, ], 2L, 0L), list("facility", x, 0L), list("facility", x, 33L), list("medoids", x, draw[0L, ], 9L),
    list("medoids", x[1:3, ], draw, 9L), list("medoids", x, draw[, 0L], 9L), list("medoids", x, draw, -1L),
    list("medoids", x, replace(draw, 6L, 1), 9L), list("medoids", x, replace(draw, 1L, -.1), 9L),
    list("medoids", x[rep(1L, 20L), ], draw, 9L), list("group_lasso", x, target[-1L, ], 4, 1e-10),
    list("group_lasso", x, target, 0, 1e-10), list("group_lasso", x, target, Inf, 1e-10),
    list("group_lasso", x, target, 4, 0), list("eigen", gram, 0L, 1e-10), list("eigen", gram, 12L, 1e-10),
    list("eigen", gram, 3L, 0), list("neighbours", x, 0L), list("neighbours", x, 32L))
  for (args in outside) expect_identical(do.call(status, args), -1L)
  bad <- replace(x, 3L, NaN)
  expect_identical(c(status("css", bad, 2L, 0L), status("facility", bad, 2L), status("medoids", bad, draw, 9L),
    status("group_lasso", bad, target, 4, 1e-10), status("group_lasso", x, replace(target, 1L, Inf), 4, 1e-10),
    status("neighbours", bad, 2L)), rep(-2L, 6L))
  expect_identical(c(status("css", x, 11L, 0L), status("facility", x, 32L),
    status("medoids", x[1:4, ], replace(draw, 1L, 0), 100L), status("eigen", gram, 11L, 1e-10),
    status("neighbours", x, 31L)), integer(5L))
})
