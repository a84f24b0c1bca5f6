/* ffi_spca.c: ufs_spca() to spca_solve(). */
#include "spca.h"
#include "ffi_util.h"

/* x: n x p, see ffi_x(). start: p x k, orthonormal columns. settings: list(lambda,
 * factor, first). list(A, B, kkt, run with the counters change, violation and objective). */
SEXP ffi_spca(SEXP x_, SEXP start_, SEXP settings, SEXP control)
{
    ufs_x x = ffi_x_finite(x_);
    ffi_mat start = ffi_matrix(start_, "start");
    SEXP out = PROTECT(ffi_list("A B kkt run"));
    ufs_run run = ffi_run_begin(control, "spca");
    if (start.n != x.p || start.p > x.p || start.p > x.n)
        Rf_error("internal error: 'start' is not p x k");
    spca_problem problem = {
        .x = &x,
        .k = start.p,
        .copies = ffi_copies(settings, x.p),
        .lambda = ffi_real(settings, "lambda"),
        .factor = ffi_data(ffi_get(settings, "factor"), (size_t) x.p, "factor")};
    spca_result result = {.a = ffi_set_zero(out, "A", x.p, start.p),
                          .b = ffi_set_zero(out, "B", x.p, start.p),
                          .kkt = ffi_set_zero(out, "kkt", x.p, 0),
                          .violation = R_NaN};
    ufs_copy(result.a, start.x, (size_t) x.p * (size_t) start.p);

    spca_solve(&problem, &result, &run);
    ffi_run_end(out, &run, "change kkt objective",
                FFI_VALUES(result.change, result.violation, result.objective));
    UNPROTECT(1);
    return out;
}
