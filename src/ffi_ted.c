/* ffi_ted.c: greedy ufs_ted() to ted_solve(). */
#include "ffi_util.h"
#include "samp_ted.h"

/* x: n x p, see ffi_x(), rows = items. settings: list(m, mu, form, given (1-based items)).
 * list(order (1-based), score, left, run with the counters start and p_form). */
SEXP ffi_ted_greedy(SEXP x_, SEXP settings_, SEXP control)
{
    SEXP out = PROTECT(ffi_list("order score left run"));
    ufs_x x = ffi_x_finite(x_);
    int n_given, *given = ffi_indices(ffi_get(settings_, "given"), x.n, &n_given, "given");
    ufs_run run = ffi_run_begin(control, "ted");
    ted_problem problem = {&x, ffi_real(settings_, "mu"), n_given, given};
    ted_settings settings = {.m = ffi_count(settings_, "m", 1, x.n - n_given),
                             .form = ffi_form(settings_, "form")};
    ted_result result = {.order = ffi_set_ints(out, "order", settings.m),
                         .score = ffi_set_zero(out, "score", settings.m, 0),
                         .left = ffi_set_zero(out, "left", x.n, 0)};

    for (int i = 0; i < n_given; i++)
        for (int k = 0; k < i; k++)
            if (given[k] == given[i]) Rf_error("internal error: 'given' has an item twice");
    ted_solve(&problem, &settings, &result, &run);
    for (int t = 0; t < settings.m; t++) result.order[t]++;
    ffi_run_end(out, &run, "start p_form", FFI_VALUES(result.start, result.p_form));
    UNPROTECT(1);
    return out;
}
