/* ffi_alnr.c: ufs_alnr() to alnr_solve(). */
#include "ffi_util.h"
#include "samp_alnr.h"

/* x: n x p, rows = samples. settings: list(k, gamma, relative); relative: gamma is a share of its
 * bound. list(row_norm, activity, run with the counters primal, dual, gap, gamma and gamma_max). */
SEXP ffi_alnr(SEXP x, SEXP settings_, SEXP control)
{
    ffi_mat from = ffi_matrix(x, "x");
    int k = ffi_count(settings_, "k", 1, from.n);
    SEXP out = PROTECT(ffi_list("row_norm activity run"));
    ufs_run run = ffi_run_begin(control, "alnr");
    alnr_problem problem = {.n = from.n, .p = from.p, .k = k, .x = from.x};
    mm_settings settings = {.gamma = ffi_real(settings_, "gamma"),
                            .relative = ffi_flag(settings_, "relative"),
                            .max_iter = ffi_int(control, "max_iter"),
                            .tol = ffi_real(control, "tol"),
                            .eps = ffi_real(control, "eps")};
    mm_result result = {.row_norm = ffi_set_zero(out, "row_norm", from.n, 0),
                        .activity = ffi_set_zero(out, "activity", from.n, 0)};

    alnr_solve(&problem, &settings, &result, &run);
    ffi_run_end(out, &run,
                (ffi_counter[]){{"primal", result.primal},
                                {"dual", result.dual},
                                {"gap", result.gap},
                                {"gamma", result.gamma},
                                {"gamma_max", result.gamma_max},
                                {NULL, 0}});
    UNPROTECT(1);
    return out;
}
