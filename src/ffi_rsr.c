/* ffi_rsr.c: ufs_rsr() to rsr_solve(). */
#include "rsr.h"
#include "ffi_util.h"

/* x: n x p. eps: smoothing of |e_i|^2 and |w_j|^2. settings: list(lambda, factor, relative,
 * accelerate, keep_w, start_g, count); relative: lambda is a share of its bound; count: n, how many samples
 * each row is the sum of, or NULL. list(row, residual, dual, w, run with
 * the counters objective, gap, lambda, identity and zero); w is NULL unless keep_w. */
SEXP ffi_rsr(SEXP x_, SEXP eps, SEXP settings_, SEXP control)
{
    ffi_mat x = ffi_matrix(x_, "x");
    const double *smooth = ffi_given(eps, 2, "eps");
    rsr_problem problem = {.n = x.n,
                           .p = x.p,
                           .x = x.x,
                           .count = ffi_data(ffi_get(settings_, "count"), (size_t) x.n, "count"),
                           .start_g = ffi_real(settings_, "start_g")};
    mm_settings settings = {
        .penalty = ffi_real(settings_, "lambda"),
        .factor = ffi_data(ffi_get(settings_, "factor"), (size_t) x.p, "factor"),
        .relative = ffi_flag(settings_, "relative"),
        .eps_residual = smooth[0],
        .eps_row = smooth[1],
        .accelerate = ffi_flag(settings_, "accelerate")};

    if (!(settings.penalty > 0.0)) Rf_error("internal error: 'lambda' is not positive");
    SEXP out = PROTECT(ffi_list("row residual dual w run"));
    ufs_run run = ffi_run_begin(control, "rsr");
    rsr_result result = {.norms = {.row = ffi_set_zero(out, "row", x.p, 0),
                                   .residual = ffi_set_zero(out, "residual", x.n, 0),
                                   .dual = ffi_set_zero(out, "dual", x.p, 0)},
                         .w = NULL};

    if (ffi_flag(settings_, "keep_w")) result.w = ffi_set_zero(out, "w", x.p, x.p);
    rsr_solve(&problem, &settings, &result, &run);
    ffi_run_end(out, &run, "objective gap lambda identity zero",
                FFI_VALUES(result.norms.objective, result.norms.gap, result.norms.penalty,
                           result.identity, result.norms.penalty_max));
    UNPROTECT(1);
    return out;
}
