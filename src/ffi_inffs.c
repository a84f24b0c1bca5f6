/* ffi_inffs.c: ufs_inffs() to inffs_solve(). */
#include "inffs.h"
#include "ffi_util.h"

/* x: n x p. settings: list(weight_sd, weight_corr, factor, bound, store). list(score, run with
 * the counters residual, radius, damping and empty). */
SEXP ffi_inffs(SEXP x, SEXP settings_, SEXP control)
{
    SEXP out = PROTECT(ffi_list("score run"));
    ufs_run run = ffi_run_begin(control, "inffs");
    ffi_mat from = ffi_matrix(x, "x");
    inffs_problem problem = {.n = from.n, .p = from.p, .x = from.x};
    inffs_settings settings = {.weight_sd = ffi_real(settings_, "weight_sd"),
                               .weight_corr = ffi_real(settings_, "weight_corr"),
                               .factor = ffi_real(settings_, "factor"),
                               .bound = (inffs_bound) ffi_count(settings_, "bound", 0, INFFS_TPAMI),
                               .store = ffi_flag(settings_, "store")};
    inffs_result result = {.score = ffi_set_zero(out, "score", problem.p, 0)};

    inffs_solve(&problem, &settings, &result, &run);
    ffi_run_end(out, &run, "residual radius damping empty",
                FFI_VALUES(result.residual, result.radius, result.damping, result.empty));
    UNPROTECT(1);
    return out;
}
