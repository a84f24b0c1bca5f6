/* ffi_ted.c: greedy ufs_ted() to ted_solve(). */
#include "ffi_x.h"
#include "samp_ted.h"

/* x: n x p, see ffi_x(), rows = items. settings: list(m, mu, form, given (1-based items)).
 * list(order (1-based), score, left, run with the counters start and p_form). */
SEXP ffi_ted_greedy(SEXP x_, SEXP settings_, SEXP control)
{
    static const char *const names[] = {"order", "score", "left", "run", NULL};
    SEXP form = ffi_get(settings_, "form"), given_ = ffi_get(settings_, "given");
    SEXP out = PROTECT(ffi_list(names));
    int n_given = Rf_length(given_), *given = ufs_ialloc((size_t) n_given);
    ufs_x x = ffi_x(x_);
    ufs_run run = ffi_run_begin(control, "ted");
    ted_problem problem = {.n = x.n,
                           .p = x.p,
                           .x = &x,
                           .mu = ffi_real(settings_, "mu"),
                           .n_given = n_given,
                           .given = given};
    ted_settings settings = {.m = ffi_int(settings_, "m"), .form = CHAR(STRING_ELT(form, 0))[0]};
    ted_result result = {.order = ffi_set_ints(out, "order", settings.m),
                         .score = ffi_set_zero(out, "score", settings.m, 0),
                         .left = ffi_set_zero(out, "left", problem.n, 0)};

    for (int i = 0; i < n_given; i++) {
        given[i] = INTEGER_RO(given_)[i] - 1;
        if (given[i] < 0 || given[i] >= problem.n) Rf_error("item out of range");
    }
    if (settings.m < 1 || settings.m > problem.n - n_given) Rf_error("too many picks");
    memset(result.order, 0, (size_t) settings.m * sizeof(int));
    ted_solve(&problem, &settings, &result, &run);
    for (int t = 0; t < settings.m; t++) result.order[t]++;
    ffi_run_end(out, &run,
                (ffi_counter[]){{"start", result.start}, {"p_form", result.p_form}, {NULL, 0}});
    UNPROTECT(1);
    return out;
}
