/* ffi_propagate.c: ufs_propagate() to propagate_solve(). */
#include "ffi_util.h"
#include "propagate.h"

/* w: n x n; known: 0..c; x: n x p or NULL. list(label, probability, reached, run). */
SEXP ffi_propagate(SEXP w, SEXP known, SEXP c_, SEXP cmn, SEXP x)
{
    ffi_mat weights = ffi_matrix(w, "w"), from = {0};
    int n = weights.n, c = ffi_whole(c_, 1, n, "c");
    if (x != R_NilValue) from = ffi_matrix(x, "x");
    propagate_problem problem = {.n = n,
                                 .c = c,
                                 .w = ffi_sized(w, n, n, "w"),
                                 .known = ffi_ints(known, (size_t) n, 0, c, "known"),
                                 .p = from.p,
                                 .x = from.x,
                                 .cmn = ffi_yes(cmn, "cmn")};
    SEXP out = PROTECT(ffi_list("label probability reached run"));
    ufs_run run = {.status = UFS_CONVERGED};
    propagate_result result = {ffi_set_ints(out, "label", n),
                               ffi_set_zero(out, "probability", n, c),
                               ffi_set_ints(out, "reached", n)};

    if (from.x != NULL && from.n != n) Rf_error("internal error: size of 'x'");
    run.lapack = propagate_solve(&problem, &result);
    ffi_run_end(out, &run, "", NULL, 0);
    UNPROTECT(1);
    return out;
}
