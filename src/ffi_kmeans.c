/* ffi_kmeans.c: kmeans_runs() to kmeans_solve(). */
#include "ffi_util.h"
#include "kmeans.h"

/* x: n x p, dense or sparse; shrink: NULL or a number for each row of a sparse x. first: the 1-based
 * first sample equal to each; fixed: samples from 1. settings: list(draw, c x n_start numbers in
 * [0, 1), max_iter, most, verbose, count: NULL or n positive numbers). list(label n x n_start (1-based), within, iterations, run). */
SEXP ffi_kmeans(SEXP x, SEXP shrink, SEXP first, SEXP fixed, SEXP settings_)
{
    ufs_x from = ffi_x_finite(x);
    ffi_mat drawn = ffi_matrix(ffi_get(settings_, "draw"), "draw");
    int n = from.n, c = drawn.n, n_start = drawn.p, n_fixed;
    const int *given = ffi_ints(first, (size_t) n, 1, n, "first");
    const int *stay = ffi_indices(fixed, n, &n_fixed, "fixed");
    SEXP out = PROTECT(ffi_list("label within iterations run"));
    int *label = INTEGER(ffi_set(out, "label", Rf_allocMatrix(INTSXP, n, n_start))),
        *equal = ufs_ialloc((size_t) n);
    ufs_run run = ffi_run_begin(settings_, "kmeans");

    if (c < 1 || c >= n || (from.kind != UFS_X_DENSE && from.kind != UFS_X_SPARSE))
        Rf_error("internal error: arguments of kmeans");
    for (int i = 0; i < n; i++) {
        equal[i] = given[i] - 1;
        if (equal[i] > i) Rf_error("internal error: 'first' of kmeans");
    }
    for (size_t i = 0; i < (size_t) c * (size_t) n_start; i++)
        if (!(drawn.x[i] >= 0.0 && drawn.x[i] < 1.0)) Rf_error("internal error: 'draw' of kmeans");
    kmeans_problem problem = {.x = from,
                              .c = c,
                              .shrink = ffi_data(shrink, (size_t) n, "shrink"),
                              .count = ffi_data(ffi_get(settings_, "count"), (size_t) n, "count"),
                              .first = equal,
                              .n_fixed = n_fixed,
                              .fixed = stay};
    kmeans_settings settings = {.n_start = n_start,
                                .max_iter = ffi_count(settings_, "max_iter", 0, INT_MAX),
                                .most = ffi_count(settings_, "most", 1, INT_MAX),
                                .draw = drawn.x};
    kmeans_result result = {.label = label,
                            .within = ffi_set_vector(out, "within", n_start),
                            .iterations = ffi_set_ints(out, "iterations", n_start)};
    kmeans_solve(&problem, &settings, &result, &run);
    for (size_t i = 0; i < (size_t) n * (size_t) n_start; i++) label[i]++;
    ffi_run_end(out, &run, "", NULL, 0);
    UNPROTECT(1);
    return out;
}
