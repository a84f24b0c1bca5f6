/* ffi_samples.c: the edge of the sample selectors. */
#include "ffi.h"
#include "samp_ted.h"

/* x n x p; list(order (1-based), score, left, start, p_form, info). */
SEXP ffi_ted_greedy(SEXP x, SEXP m, SEXP mu, SEXP form, SEXP control)
{
    static const char *const names[] = {"order", "score", "left", "start", "p_form",
                                        "info", NULL};
    ffi_hook_data data;
    ufs_hook hook = ffi_hook(control, "ted", &data);
    ted_problem problem = {Rf_nrows(x), Rf_ncols(x), REAL_RO(x)};
    ted_settings settings = {Rf_asInteger(m), Rf_asReal(mu),
                             CHAR(STRING_ELT(form, 0))[0], &hook};
    ted_info info;
    SEXP out = PROTECT(ffi_list(names));

    info.order = ffi_set_ints(out, "order", settings.m);
    info.score = ffi_set_vector(out, "score", settings.m);
    info.left = ffi_set_vector(out, "left", problem.n);
    ted_solve(&problem, &settings, &info);
    if (info.lapack_info == 0)
        for (int t = 0; t < settings.m; t++) info.order[t]++;
    ffi_set(out, "start", Rf_ScalarReal(info.start));
    ffi_set(out, "p_form", Rf_ScalarLogical(info.p_form));
    ffi_set(out, "info", Rf_ScalarInteger(info.lapack_info));
    UNPROTECT(1);
    return out;
}
