/* ffi_rrss.c: ufs_rrss() to rrss_solve(). */
#include "ffi_util.h"
#include "samp_rrss.h"

/* x: r x n, columns = samples. settings: list(gamma, relative); relative: gamma is a share of its
 * bound. list(row_norm, activity, residual, run with the counters primal, dual, gap, gamma and
 * gamma_max). */
SEXP ffi_rrss(SEXP x, SEXP settings_, SEXP control)
{
    ffi_mat from = ffi_matrix(x, "x");
    SEXP out = PROTECT(ffi_list("row_norm activity residual run"));
    ufs_run run = ffi_run_begin(control, "rrss");
    rrss_problem problem = {.r = from.n, .n = from.p, .x = from.x};
    mm_settings settings = {.gamma = ffi_real(settings_, "gamma"),
                            .relative = ffi_flag(settings_, "relative"),
                            .max_iter = ffi_int(control, "max_iter"),
                            .tol = ffi_real(control, "tol"),
                            .eps = ffi_real(control, "eps")};
    mm_result result = {.row_norm = ffi_set_zero(out, "row_norm", from.p, 0),
                        .activity = ffi_set_zero(out, "activity", from.p, 0)};

    rrss_solve(&problem, &settings, &result, ffi_set_zero(out, "residual", from.p, 0), &run);
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
