/* ffi_reweighted.c: ufs_rrss() to rrss_solve(), ufs_alnr() to alnr_solve(). */
#include "ffi_util.h"
#include "reweighted.h"

/* One of the two. */
static SEXP select_samples(const rrss_problem *rrss, const alnr_problem *alnr, SEXP settings_,
                           SEXP control)
{
    int n = rrss != NULL ? rrss->n : alnr->n;
    SEXP out = PROTECT(ffi_list("row_norm activity residual run"));
    ufs_run run = ffi_run_begin(control, rrss != NULL ? "rrss" : "alnr");
    double eps = ffi_real(control, "eps");
    mm_settings settings = {.penalty = ffi_real(settings_, "gamma"),
                            .relative = ffi_flag(settings_, "relative"),
                            .eps_row = eps * eps,
                            .eps_residual = eps * eps,
                            .accelerate = run.tol >= 0.0};
    mm_result result = {.row = ffi_set_zero(out, "row_norm", n, 0),
                        .dual = ffi_set_zero(out, "activity", n, 0)};

    if (rrss != NULL) result.residual = ffi_set_zero(out, "residual", n, 0);
    if (rrss != NULL)
        rrss_solve(rrss, &settings, &result, &run);
    else
        alnr_solve(alnr, &settings, &result, &run);
    ffi_run_end(
        out, &run, "primal dual gap gamma gamma_max",
        FFI_VALUES(result.primal, result.bound, result.gap, result.penalty, result.penalty_max));
    UNPROTECT(1);
    return out;
}

/* x: r x n, columns = samples. settings: list(gamma, relative); relative: gamma is a share of its
 * bound. list(row_norm, activity, residual, run with the counters primal, dual, gap, gamma and
 * gamma_max). */
SEXP ffi_rrss(SEXP x, SEXP settings_, SEXP control)
{
    ffi_mat from = ffi_matrix(x, "x");
    rrss_problem problem = {.r = from.n, .n = from.p, .x = from.x};

    return select_samples(&problem, NULL, settings_, control);
}

/* The same for x: n x p, rows = samples, with k in settings; residual is NULL. */
SEXP ffi_alnr(SEXP x, SEXP settings_, SEXP control)
{
    ffi_mat from = ffi_matrix(x, "x");
    int k = ffi_count(settings_, "k", 1, from.n);
    alnr_problem problem = {.n = from.n, .p = from.p, .k = k, .x = from.x};

    return select_samples(NULL, &problem, settings_, control);
}
