/* ffi_mcfs.c: ufs_mcfs() to mcfs_solve(). */
#include "mcfs.h"
#include "ffi_util.h"

/* x: n x p, y: n x c. list(coef p x c, penalty c, run with the counter kkt). */
SEXP ffi_mcfs(SEXP x_, SEXP y_, SEXP card, SEXP ridge, SEXP control)
{
    ufs_x x = ffi_x_finite(x_);
    ffi_mat y = ffi_matrix(y_, "y");
    mcfs_problem problem = {.n = x.n, .p = x.p, .c = y.p, .x = &x, .y = y.x};
    mcfs_settings settings = {.card = ffi_whole(card, 1, INT_MAX - 16, "card"),
                              .ridge = ffi_number(ridge, "ridge")};
    if (x.n != y.n || !(settings.ridge >= 0.0))
        Rf_error("internal error: arguments of mcfs do not fit");
    SEXP out = PROTECT(ffi_list("coef penalty run"));
    ufs_run run = ffi_run_begin(control, "mcfs");
    mcfs_result result = {.coef = ffi_set_zero(out, "coef", x.p, y.p),
                          .penalty = ffi_set_zero(out, "penalty", y.p, 0)};

    mcfs_solve(&problem, &settings, &result, &run);
    ffi_run_end(out, &run, "kkt", FFI_VALUES(result.kkt));
    UNPROTECT(1);
    return out;
}
