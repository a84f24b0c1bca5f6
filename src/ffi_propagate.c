/* ffi_propagate.c: ufs_propagate() to propagate_solve(). */
#include "ffi_util.h"
#include "propagate.h"

/* w: n x n, or list(start, index, value), its edges; known: 0..c; x: n x p or NULL. list(label,
 * probability, reached, run with the counter error). */
SEXP ffi_propagate(SEXP w, SEXP known, SEXP c_, SEXP cmn, SEXP x)
{
    ffi_mat from = {0};
    bool edges = TYPEOF(w) == VECSXP;
    int n = edges ? (int) Rf_xlength(ffi_get(w, "start")) - 1 : ffi_matrix(w, "w").n;
    int c = ffi_whole(c_, 1, n, "c");
    if (x != R_NilValue) from = ffi_matrix(x, "x");
    ufs_hook hook = ffi_watch();
    propagate_problem problem = {.n = n,
                                 .c = c,
                                 .known = ffi_ints(known, (size_t) n, 0, c, "known"),
                                 .p = from.p,
                                 .x = from.x,
                                 .cmn = ffi_yes(cmn, "cmn"),
                                 .hook = &hook};
    SEXP out = PROTECT(ffi_list("label probability reached run"));
    ufs_run run = {.status = UFS_CONVERGED};
    propagate_result result = {.label = ffi_set_ints(out, "label", n),
                               .probability = ffi_set_zero(out, "probability", n, c),
                               .reached = ffi_set_ints(out, "reached", n)};

    if (edges)
        ffi_edges(w, n, &problem.start, &problem.index, &problem.w);
    else
        problem.w = ffi_sized(w, n, n, "w");
    if (from.x != NULL && from.n != n) Rf_error("internal error: size of 'x'");
    run.lapack = propagate_solve(&problem, &result);
    ffi_run_end(out, &run, "error", FFI_VALUES(result.error));
    UNPROTECT(1);
    return out;
}
