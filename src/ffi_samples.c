/* ffi_samples.c: the edge of the sample selectors. */
#include "ffi_util.h"
#include "samp_ted.h"
#include "samp_rrss.h"
#include "samp_alnr.h"

static void set_mm(SEXP out, const mm_info *info);

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

/* x r x n, columns = samples; list(max, activity). */
SEXP ffi_rrss_max(SEXP x)
{
    static const char *const names[] = {"max", "activity", NULL};
    int r = Rf_nrows(x), n = Rf_ncols(x);
    SEXP out = PROTECT(ffi_list(names));
    double *activity = ffi_set_vector(out, "activity", n);
    ffi_set(out, "max", Rf_ScalarReal(rrss_gamma_max(r, n, REAL_RO(x), activity)));
    UNPROTECT(1);
    return out;
}

/* What the mm_solve() methods return beside their own vectors. */
#define MM_NAMES "primal", "dual", "gap", "trace", "status", "iterations", "info"

SEXP ffi_rrss(SEXP x, SEXP gamma, SEXP control)
{
    static const char *const names[] = {"row_norm", "activity", "residual", MM_NAMES, NULL};
    ffi_hook_data data;
    ufs_hook hook = ffi_hook(control, "rrss", &data);
    rrss_problem problem = {Rf_nrows(x), Rf_ncols(x), REAL_RO(x), Rf_asReal(gamma),
                            ffi_real(control, "eps")};
    mm_settings settings = {ffi_int(control, "max_iter"), ffi_real(control, "tol"), &hook};
    rrss_info info;
    SEXP out = PROTECT(ffi_list(names));

    info.row_norm = ffi_set_vector(out, "row_norm", problem.n);
    info.activity = ffi_set_vector(out, "activity", problem.n);
    info.residual = ffi_set_vector(out, "residual", problem.n);
    rrss_solve(&problem, &settings, &info);
    set_mm(out, &info.mm);
    UNPROTECT(1);
    return out;
}

/* x n x p, rows = samples; relative: gamma is a share of its bound. */
SEXP ffi_alnr(SEXP x, SEXP k, SEXP gamma, SEXP relative, SEXP control)
{
    static const char *const names[] = {"row_norm", "activity", "gamma", "gamma_max",
                                        MM_NAMES, NULL};
    ffi_hook_data data;
    ufs_hook hook = ffi_hook(control, "alnr", &data);
    alnr_problem problem = {Rf_nrows(x), Rf_ncols(x), Rf_asInteger(k), REAL_RO(x),
                            Rf_asReal(gamma), ffi_real(control, "eps"),
                            Rf_asLogical(relative) == 1};
    mm_settings settings = {ffi_int(control, "max_iter"), ffi_real(control, "tol"), &hook};
    alnr_info info;
    SEXP out = PROTECT(ffi_list(names));

    info.row_norm = ffi_set_vector(out, "row_norm", problem.n);
    info.activity = ffi_set_vector(out, "activity", problem.n);
    alnr_solve(&problem, &settings, &info);
    ffi_set(out, "gamma", Rf_ScalarReal(info.gamma));
    ffi_set(out, "gamma_max", Rf_ScalarReal(info.gamma_max));
    set_mm(out, &info.mm);
    UNPROTECT(1);
    return out;
}

static void set_mm(SEXP out, const mm_info *info)
{
    ffi_set(out, "primal", Rf_ScalarReal(info->primal));
    ffi_set(out, "dual", Rf_ScalarReal(info->dual));
    ffi_set(out, "gap", Rf_ScalarReal(info->gap));
    ffi_set_trace(out, "trace", &info->trace);
    ffi_set(out, "status", Rf_ScalarInteger((int) info->status));
    ffi_set(out, "iterations", Rf_ScalarInteger(info->iterations));
    ffi_set(out, "info", Rf_ScalarInteger(info->lapack_info));
}
