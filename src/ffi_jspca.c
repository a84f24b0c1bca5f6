/* ffi_jspca.c: the edge of jspca_solve.c. */
#include "ffi_util.h"
#include "jspca.h"

/* x: n x p, see ffi_x(). start: list(P, weight, h). settings: list(lambda, factor, sample,
 * exact, gives_up, eps, first, dropped, features and labels: names of the p features, or NULL, and of the
 * k components). list(Q, P, Pbar, residual, row_norm, kkt, loadings, rotation, run with the
 * counters change, violation, gap). Over samples P is Pbar. */
SEXP ffi_jspca(SEXP x, SEXP start, SEXP settings_, SEXP control)
{
    ufs_x op = ffi_x_finite(x);
    int n = op.n, p = op.p;
    SEXP from = ffi_get(start, "P");
    const double *eps = ffi_given(ffi_get(settings_, "eps"), 2, "eps");
    int k = ffi_matrix(from, "P").p;
    size_t P = (size_t) p, pk = P * (size_t) k;
    const double *start_p = ffi_sized(from, p, k, "P");
    SEXP out = PROTECT(ffi_list("Q P Pbar residual row_norm kkt loadings rotation run"));
    ufs_run run = ffi_run_begin(control, "jspca");
    jspca_problem problem = {.n = n,
                             .p = p,
                             .k = k,
                             .x = &op,
                             .dropped = ffi_count(settings_, "dropped", 0, INT_MAX - p),
                             .copies = ffi_copies(settings_, p),
                             .lambda = ffi_real(settings_, "lambda"),
                             .factor = ffi_data(ffi_get(settings_, "factor"), P, "factor"),
                             .sample = ffi_flag(settings_, "sample")};
    bool exact = ffi_flag(settings_, "exact");
    jspca_settings settings = {.exact = exact,
                               .gives_up = ffi_flag(settings_, "gives_up"),
                               .eps_res = eps[0],
                               .eps_q = exact ? 0.0 : eps[1]};
    int m = problem.sample ? n : p;

    if (op.kind != UFS_X_DENSE && !exact)
        Rf_error("internal error: this solver needs a dense matrix");
    if (k > (n < p ? n : p)) Rf_error("internal error: too many components");

    jspca_result result = {.pbar = ffi_set_zero(out, "Pbar", p, k),
                           .weight = ufs_dalloc((size_t) m, 1),
                           .h = exact ? NULL : ufs_dalloc(P, 1),
                           .q = ffi_set_zero(out, "Q", p, k),
                           .P = problem.sample ? NULL : ffi_set_zero(out, "P", p, k),
                           .residual = ffi_set_zero(out, "residual", m, 0),
                           .row_norm = ffi_set_zero(out, "row_norm", p, 0),
                           .kkt = ffi_set_zero(out, "kkt", p, 0),
                           .rotation = ffi_set_zero(out, "rotation", k, k),
                           .loadings = ffi_set_zero(out, "loadings", p, k)};
    ufs_copy(result.pbar, start_p, pk);
    ufs_copy(result.weight, ffi_given(ffi_get(start, "weight"), (size_t) m, "weight"), (size_t) m);
    if (!exact) ufs_copy(result.h, ffi_given(ffi_get(start, "h"), P, "h"), P);

    jspca_solve(&problem, &settings, &result, &run);
    if (problem.sample) ffi_set(out, "P", ffi_get(out, "Pbar"));
    SEXP features = ffi_get(settings_, "features");
    ffi_set_names(out, "Q", features, R_NilValue);
    ffi_set_names(out, "P", features, R_NilValue);
    ffi_set_names(out, "Pbar", features, R_NilValue);
    ffi_set_names(out, "loadings", features, ffi_get(settings_, "labels"));

    ffi_run_end(out, &run, "change violation gap",
                FFI_VALUES(result.change, result.violation, result.gap));
    UNPROTECT(1);
    return out;
}

/* x: n x p, n >= p. list(x = its R, which can stand for it in the loss over features, lapack). */
SEXP ffi_jspca_compress(SEXP x)
{
    SEXP out = PROTECT(ffi_list("x lapack"));
    ffi_mat from = ffi_matrix(x, "x");
    if (from.n < from.p) Rf_error("internal error: nothing to compress");
    double *r = ffi_set_matrix(out, "x", from.p, from.p);
    ffi_set(out, "lapack", Rf_ScalarInteger(la_r_factor(from.n, from.p, from.x, r)));
    UNPROTECT(1);
    return out;
}

SEXP ffi_jspca_lambda_max(SEXP x, SEXP sample, SEXP factor)
{
    ufs_x op = ffi_x_finite(x);
    return Rf_ScalarReal(jspca_lambda_max(&op, ffi_yes(sample, "sample"),
                                          ffi_data(factor, (size_t) op.p, "factor")));
}
