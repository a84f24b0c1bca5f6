/* ffi_rrss.c: ufs_rrss() to rrss_solve(). */
#include "ffi_util.h"
#include "samp_rrss.h"

/* x: r x n, columns = samples. list(max, activity). */
SEXP ffi_rrss_max(SEXP x)
{
    static const char *const names[] = {"max", "activity", NULL};
    ffi_mat from = ffi_matrix(x, "x");
    SEXP out = PROTECT(ffi_list(names));
    double *activity = ffi_set_vector(out, "activity", from.p);

    ffi_set(out, "max", Rf_ScalarReal(rrss_gamma_max(from.n, from.p, from.x, activity)));
    UNPROTECT(1);
    return out;
}

/* x: r x n, columns = samples. list(row_norm, activity, residual, run with the counters
 * primal, dual and gap). */
SEXP ffi_rrss(SEXP x, SEXP gamma, SEXP control)
{
    static const char *const names[] = {"row_norm", "activity", "residual", "run", NULL};
    ffi_mat from = ffi_matrix(x, "x");
    int n = from.p;
    SEXP out = PROTECT(ffi_list(names));
    ufs_run run = ffi_run_begin(control, "rrss");
    rrss_problem problem = {.r = from.n, .n = n, .x = from.x, .gamma = ffi_number(gamma, "gamma")};
    mm_settings settings = {.max_iter = ffi_int(control, "max_iter"),
                            .tol = ffi_real(control, "tol"),
                            .eps = ffi_real(control, "eps")};
    rrss_result result = {.row_norm = ffi_set_zero(out, "row_norm", n, 0),
                          .activity = ffi_set_zero(out, "activity", n, 0),
                          .residual = ffi_set_zero(out, "residual", n, 0)};

    rrss_solve(&problem, &settings, &result, &run);
    ffi_run_end(out, &run,
                (ffi_counter[]){{"primal", result.mm.primal},
                                {"dual", result.mm.dual},
                                {"gap", result.mm.gap},
                                {NULL, 0}});
    UNPROTECT(1);
    return out;
}
