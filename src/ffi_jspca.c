/* ffi_jspca.c: the edge of solve_jspca.c. */
#include "ffi_util.h"
#include "solve_jspca.h"

/* x: n x p. start: list(P, weight, h). settings: list(lambda, sample, exact, eps,
 * first, dropped). control: list(max_iter, tol, verbose, progress). */
SEXP ffi_jspca(SEXP x, SEXP start, SEXP settings, SEXP control)
{
    static const char *const names[] = {
        "Q", "P", "Pbar", "residual", "row_norm", "kkt", "loadings", "rotation", "trace",
        "change", "violation", "gap", "iterations", "status", "info", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x);
    SEXP from = ffi_get(start, "P"), first = ffi_get(settings, "first");
    const double *eps = ffi_data(ffi_get(settings, "eps"), 2, "eps");
    int k = Rf_ncols(from);
    size_t P = (size_t) p, pk = P * (size_t) k;
    ffi_hook_data data;
    ufs_hook hook = ffi_hook(control, "jspca", &data);

    jspca_problem problem = {
        .n = n, .p = p, .k = k, .x = REAL_RO(x), .first = NULL,
        .dropped = ffi_int(settings, "dropped"), .lambda = ffi_real(settings, "lambda"),
        .sample = ffi_flag(settings, "sample")};
    jspca_settings set = {
        .exact = ffi_flag(settings, "exact"), .max_iter = ffi_int(control, "max_iter"),
        .tol = ffi_real(control, "tol"), .eps_res = eps[0], .eps_q = eps[1], .hook = &hook};
    int m = problem.sample ? n : p;
    if (Rf_isInteger(first) && Rf_xlength(first) == p) {
        int *index = ufs_ialloc(P), *copies = ufs_ialloc(P);
        memset(copies, 0, P * sizeof(int));
        for (size_t i = 0; i < P; i++) copies[index[i] = INTEGER(first)[i] - 1]++;
        problem.first = index;
        problem.copies = copies;
    }

    SEXP out = PROTECT(ffi_list(names));
    jspca_fit fit = {
        .pbar = ffi_set_matrix(out, "Pbar", p, k), .weight = ufs_dalloc((size_t) m, 1),
        .h = ufs_dalloc(P, 1), .q = ffi_set_matrix(out, "Q", p, k),
        .P = ffi_set_matrix(out, "P", p, k), .residual = ffi_set_vector(out, "residual", m),
        .row_norm = ffi_set_vector(out, "row_norm", p), .kkt = ffi_set_vector(out, "kkt", p),
        .rotation = ffi_set_matrix(out, "rotation", k, k),
        .loadings = ffi_set_matrix(out, "loadings", p, k)};
    ufs_copy(fit.pbar, ffi_data(from, pk, "P"), pk);
    ufs_copy(fit.weight, ffi_data(ffi_get(start, "weight"), (size_t) m, "weight"), (size_t) m);
    ufs_copy(fit.h, ffi_data(ffi_get(start, "h"), P, "h"), P);

    jspca_solve(&problem, &set, &fit);

    ffi_set_trace(out, "trace", &fit.trace);
    ffi_set(out, "change", Rf_ScalarReal(fit.change));
    ffi_set(out, "violation", Rf_ScalarReal(fit.violation));
    ffi_set(out, "gap", Rf_ScalarReal(fit.gap));
    ffi_set(out, "iterations", Rf_ScalarInteger(fit.iterations));
    ffi_set(out, "status", Rf_ScalarInteger((int) fit.status));
    ffi_set(out, "info", Rf_ScalarInteger(fit.info));
    UNPROTECT(1);
    return out;
}

SEXP ffi_jspca_compress(SEXP x)
{
    static const char *const names[] = {"x", "info", NULL};
    SEXP out = PROTECT(ffi_list(names));
    double *r = ffi_set_matrix(out, "x", Rf_ncols(x), Rf_ncols(x));
    int info = jspca_compress(Rf_nrows(x), Rf_ncols(x), REAL_RO(x), r);
    ffi_set(out, "info", Rf_ScalarInteger(info));
    UNPROTECT(1);
    return out;
}

SEXP ffi_jspca_lambda_max(SEXP x, SEXP sample)
{
    return Rf_ScalarReal(jspca_lambda_max(Rf_nrows(x), Rf_ncols(x), REAL_RO(x),
                                          Rf_asLogical(sample) == 1));
}
