/* ffi_alnr.c: ufs_alnr() to alnr_solve(). */
#include "ffi_util.h"
#include "samp_alnr.h"

/* x: n x p, rows = samples. settings: list(k, gamma, relative, unit); relative: gamma is a
 * share of its bound; unit: what x is divided by. list(row_norm, activity, run with the counters
 * primal, dual, gap, gamma and gamma_max). */
SEXP ffi_alnr(SEXP x, SEXP settings_, SEXP control)
{
    static const char *const names[] = {"row_norm", "activity", "run", NULL};
    ffi_mat from = ffi_matrix(x, "x");
    int n = from.n;
    SEXP out = PROTECT(ffi_list(names));
    ufs_run run = ffi_run_begin(control, "alnr");
    alnr_problem problem = {.n = n,
                            .p = from.p,
                            .k = ffi_count(settings_, "k", 1, n),
                            .x = from.x,
                            .unit = ffi_real(settings_, "unit"),
                            .gamma = ffi_real(settings_, "gamma"),
                            .relative = ffi_flag(settings_, "relative")};
    mm_settings settings = {.max_iter = ffi_int(control, "max_iter"),
                            .tol = ffi_real(control, "tol"),
                            .eps = ffi_real(control, "eps")};
    alnr_result result = {.row_norm = ffi_set_zero(out, "row_norm", n, 0),
                          .activity = ffi_set_zero(out, "activity", n, 0)};

    alnr_solve(&problem, &settings, &result, &run);
    ffi_run_end(out, &run,
                (ffi_counter[]){{"primal", result.mm.primal},
                                {"dual", result.mm.dual},
                                {"gap", result.mm.gap},
                                {"gamma", result.gamma},
                                {"gamma_max", result.gamma_max},
                                {NULL, 0}});
    UNPROTECT(1);
    return out;
}
