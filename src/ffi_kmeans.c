/* ffi_kmeans.c: kmeans_runs() to kmeans_solve(). */
#include "ffi_util.h"
#include "kmeans.h"
#include <limits.h>

/* x: n x p. first: the 1-based first sample equal to each. draw: c x n_start numbers in [0, 1).
 * list(label n x n_start (1-based), within, iterations, run). */
SEXP ffi_kmeans(SEXP x, SEXP first, SEXP draw, SEXP max_iter)
{
    ffi_mat from = ffi_matrix(x, "x"), drawn = ffi_matrix(draw, "draw");
    int n = from.n, c = drawn.n, n_start = drawn.p;
    const int *given = ffi_ints(first, (size_t) n, 1, n, "first");
    SEXP out = PROTECT(ffi_list("label within iterations run"));
    int *label = INTEGER(ffi_set(out, "label", Rf_allocMatrix(INTSXP, n, n_start))),
        *equal = ufs_ialloc((size_t) n);
    ufs_run run = {.status = UFS_CONVERGED};

    if (c < 2 || c >= n) Rf_error("internal error: arguments of kmeans");
    for (int i = 0; i < n; i++) {
        equal[i] = given[i] - 1;
        if (equal[i] > i) Rf_error("internal error: 'first' of kmeans");
    }
    for (size_t i = 0; i < (size_t) c * (size_t) n_start; i++)
        if (!(drawn.x[i] >= 0.0 && drawn.x[i] < 1.0)) Rf_error("internal error: 'draw' of kmeans");
    kmeans_problem problem = {.n = n, .p = from.p, .c = c, .first = equal, .x = from.x};
    kmeans_settings settings = {.n_start = n_start,
                                .max_iter = ffi_whole(max_iter, 0, INT_MAX, "max_iter"),
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
