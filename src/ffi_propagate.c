/* ffi_propagate.c: ufs_propagate() to propagate_solve(). */
#include "ffi_util.h"
#include "propagate.h"

/* w: n x n; known: 0..c; x: n x p or NULL. list(label, probability, reached, run). */
SEXP ffi_propagate(SEXP w, SEXP known, SEXP c_, SEXP cmn, SEXP x)
{
    static const char *const names[] = {"label", "probability", "reached", "run", NULL};
    propagate_problem problem = {.n = Rf_nrows(w),
                                 .c = Rf_asInteger(c_),
                                 .w = REAL_RO(w),
                                 .known = INTEGER_RO(known),
                                 .p = x == R_NilValue ? 0 : Rf_ncols(x),
                                 .x = x == R_NilValue ? NULL : REAL_RO(x)};
    propagate_settings settings = {.cmn = Rf_asLogical(cmn) == 1};
    SEXP out = PROTECT(ffi_list(names));
    ufs_run run = {.status = UFS_CONVERGED};
    propagate_result result;

    if (Rf_ncols(w) != problem.n || Rf_xlength(known) != problem.n ||
        (x != R_NilValue && Rf_nrows(x) != problem.n))
        Rf_error("internal error: sizes of 'w', 'known' or 'x'");
    result.label = ffi_set_ints(out, "label", problem.n);
    result.reached = ffi_set_ints(out, "reached", problem.n);
    result.probability = ffi_set_zero(out, "probability", problem.n, problem.c);
    memset(result.label, 0, (size_t) problem.n * sizeof(int));
    propagate_solve(&problem, &settings, &result, &run);
    ffi_run_end(out, &run, NULL);
    UNPROTECT(1);
    return out;
}
