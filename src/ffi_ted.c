/* ffi_ted.c: greedy ufs_ted() to ted_solve(). */
#include "ffi_util.h"
#include "samp_ted.h"

/* x: n x p, rows = items. settings: list(m, mu, form). list(order (1-based), score, left,
 * run with the counters start and p_form). */
SEXP ffi_ted_greedy(SEXP x, SEXP settings_, SEXP control)
{
    static const char *const names[] = {"order", "score", "left", "run", NULL};
    SEXP form = ffi_get(settings_, "form"), out = PROTECT(ffi_list(names));
    ufs_run run = ffi_run_begin(control, "ted");
    ted_problem problem = {.n = Rf_nrows(x), .p = Rf_ncols(x), .x = REAL_RO(x),
                           .mu = ffi_real(settings_, "mu")};
    ted_settings settings = {.m = ffi_int(settings_, "m"),
                             .form = CHAR(STRING_ELT(form, 0))[0]};
    ted_result result = {.order = ffi_set_ints(out, "order", settings.m),
                         .score = ffi_set_zero(out, "score", settings.m, 0),
                         .left = ffi_set_zero(out, "left", problem.n, 0)};

    memset(result.order, 0, (size_t) settings.m * sizeof(int));
    ted_solve(&problem, &settings, &result, &run);
    for (int t = 0; t < settings.m; t++) result.order[t]++;
    ffi_run_end(out, &run, (ffi_counter[]) {{"start", result.start},
                                            {"p_form", result.p_form}, {NULL, 0}});
    UNPROTECT(1);
    return out;
}
