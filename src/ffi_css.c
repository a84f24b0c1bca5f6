/* ffi_css.c: ufs_css() to css_solve(). */
#include "base_css.h"
#include "ffi_util.h"
#include <limits.h>

/* x n x p, a matrix or an operator; settings: list(k, mu, form, max_swaps, exact_limit).
 * list(order (from 1), left, leading, run with the counters start, swaps, p_form, exact). */
SEXP ffi_css(SEXP x, SEXP settings_, SEXP control)
{
    SEXP out = PROTECT(ffi_list("order left leading run"));
    ufs_x op = ffi_x_finite(x);
    css_problem problem = {op.n, op.p, &op};
    css_settings settings = {.k = ffi_count(settings_, "k", 1, op.p),
                             .mu = ffi_real(settings_, "mu"),
                             .max_swaps = ffi_count(settings_, "max_swaps", 0, INT_MAX),
                             .exact_limit = ffi_int(settings_, "exact_limit"),
                             .form = ffi_form(settings_, "form")};
    ufs_run run = ffi_run_begin(control, "css");

    if (!(settings.mu >= 0.0)) Rf_error("internal error: arguments of css");
    css_result result = {.order = ffi_set_ints(out, "order", settings.k),
                         .left = ffi_set_zero(out, "left", problem.p, 0),
                         .leading = ffi_set_zero(out, "leading", settings.k, 0)};
    css_solve(&problem, &settings, &result, &run);
    for (int t = 0; t < settings.k; t++) result.order[t]++;
    ffi_run_end(out, &run, "start swaps p_form exact",
                FFI_VALUES(result.start, result.swaps, result.p_form, result.exact));
    UNPROTECT(1);
    return out;
}

/* x the same; settings: list(k, exact_limit). list(leading (k sums), run with the
 * counters total and exact). */
SEXP ffi_css_leading(SEXP x, SEXP settings, SEXP control)
{
    SEXP out = PROTECT(ffi_list("leading run"));
    ufs_x op = ffi_x_finite(x);
    css_problem problem = {op.n, op.p, &op};
    int k = ffi_count(settings, "k", 1, op.p);
    ufs_run run = ffi_run_begin(control, "css");
    double total = 0.0;
    bool exact = false;

    double *leading = ffi_set_zero(out, "leading", k, 0);
    run.lapack = css_leading(&problem, k, ffi_int(settings, "exact_limit"), leading, &total,
                             &exact);
    ffi_run_end(out, &run, "total exact", FFI_VALUES(total, exact));
    UNPROTECT(1);
    return out;
}
