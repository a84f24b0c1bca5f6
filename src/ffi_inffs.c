#include "ffi_util.h"
#include "base_inffs.h"

/* x n x p; settings: list(weight_sd, weight_corr, factor, bound, store, max_iter, tol). */
SEXP ffi_inffs(SEXP x, SEXP settings, SEXP control)
{
    static const char *const names[] = {"score", "radius", "damping", "residual",
        "iterations", "empty", "status", "info", "trace", NULL};
    SEXP out = PROTECT(ffi_list(names));
    inffs_problem prob = {Rf_nrows(x), Rf_ncols(x), REAL_RO(x)};
    inffs_settings set = {ffi_real(settings, "weight_sd"), ffi_real(settings, "weight_corr"),
        ffi_real(settings, "factor"), (inffs_bound) ffi_int(settings, "bound"),
        ffi_flag(settings, "store"), ffi_int(settings, "max_iter"), ffi_real(settings, "tol")};
    inffs_info info;
    ffi_hook_data data;
    ufs_hook hook = ffi_hook(control, "inffs", &data);
    ufs_trace trace;

    info.score = ffi_set_vector(out, "score", prob.p);
    ufs_trace_init(&trace, set.max_iter, 2);
    inffs_solve(&prob, &set, &hook, &trace, &info);
    ffi_set(out, "radius", Rf_ScalarReal(info.radius));
    ffi_set(out, "damping", Rf_ScalarReal(info.damping));
    ffi_set(out, "residual", Rf_ScalarReal(info.residual));
    ffi_set(out, "iterations", Rf_ScalarInteger(info.iterations));
    ffi_set(out, "empty", Rf_ScalarLogical(info.empty));
    ffi_set(out, "status", Rf_ScalarInteger((int) info.status));
    ffi_set(out, "info", Rf_ScalarInteger(info.info));
    ffi_set_trace(out, "trace", &trace);
    UNPROTECT(1);
    return out;
}
