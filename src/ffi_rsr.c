/* ffi_rsr.c: ufs_rsr() to rsr_window() and rsr_solve(). */
#include "base_rsr.h"
#include "ffi_util.h"

/* x: n x p. list(identity, zero, activity, root, lapack), see rsr_window(). */
SEXP ffi_rsr_window(SEXP x_)
{
    static const char *const names[] = {"identity", "zero", "activity", "root", "lapack", NULL};
    ffi_mat x = ffi_matrix(x_, "x");
    SEXP out = PROTECT(ffi_list(names));
    double *identity = ffi_set_vector(out, "identity", 1);
    double *zero = ffi_set_vector(out, "zero", 1);
    double *activity = ffi_set_vector(out, "activity", x.p);
    double *root = x.p > x.n ? ffi_set_zero(out, "root", x.n, x.n) : NULL;
    *ffi_set_ints(out, "lapack", 1) = rsr_window(x.n, x.p, x.x, identity, zero, activity, root);
    UNPROTECT(1);
    return out;
}

/* eps: smoothing of |e_i|^2 and |w_j|^2. settings: list(accelerate, keep_w, start_g, window), the
 * last one of ffi_rsr_window(). list(row, residual, dual, w, run with the counters
 * objective and gap); w is NULL unless keep_w. */
SEXP ffi_rsr(SEXP x_, SEXP lambda, SEXP eps, SEXP settings_, SEXP control)
{
    static const char *const names[] = {"row", "residual", "dual", "w", "run", NULL};
    ffi_mat x = ffi_matrix(x_, "x");
    const double *smooth = ffi_given(eps, 2, "eps");
    SEXP window = ffi_get(settings_, "window");
    size_t n = (size_t) x.n, square = x.p > x.n ? n * n : 0;
    rsr_problem problem = {
        .n = x.n,
        .p = x.p,
        .x = x.x,
        .lambda = ffi_number(lambda, "lambda"),
        .identity = *ffi_given(ffi_get(window, "identity"), 1, "identity"),
        .activity = ffi_given(ffi_get(window, "activity"), (size_t) x.p, "activity")};

    if (square > 0) problem.root = ffi_given(ffi_get(window, "root"), square, "root");
    if (!(problem.lambda > 0.0)) Rf_error("internal error: 'lambda' is not positive");
    SEXP out = PROTECT(ffi_list(names));
    ufs_run run = ffi_run_begin(control, "rsr");
    rsr_settings settings = {.max_iter = ffi_int(control, "max_iter"),
                             .tol = ffi_real(control, "tol"),
                             .eps_residual = smooth[0],
                             .eps_row = smooth[1],
                             .start_g = ffi_real(settings_, "start_g"),
                             .accelerate = ffi_flag(settings_, "accelerate")};
    rsr_result result = {.row = ffi_set_zero(out, "row", x.p, 0),
                         .residual = ffi_set_zero(out, "residual", x.n, 0),
                         .dual = ffi_set_zero(out, "dual", x.p, 0),
                         .w = NULL};

    if (ffi_flag(settings_, "keep_w")) result.w = ffi_set_zero(out, "w", x.p, x.p);
    rsr_solve(&problem, &settings, &result, &run);
    ffi_run_end(out, &run,
                (ffi_counter[]){{"objective", result.objective}, {"gap", result.gap}, {NULL, 0}});
    UNPROTECT(1);
    return out;
}
