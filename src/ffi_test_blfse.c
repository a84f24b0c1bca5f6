/* ffi_test_blfse.c: the parts of BLFSE, one by one, for tests/testthat/test-blfse.R and
 * test-kernel-qp.R. */
#include "ffi_blfse.h"
#include "graph_dense.h"
#include "hadamard.h"
#include "la_packed.h"
#include "qp_simplex.h"

SEXP ffi_test_blfse_projection(SEXP x, SEXP scores, SEXP labels, SEXP psi, SEXP settings_)
{
    static const char *const names[] = {"N", "v", "S", "ties", "info", NULL};
    SEXP out = PROTECT(ffi_list(names));
    blfse_problem problem = ffi_blfse_problem(x, scores, labels, settings_);
    blfse_settings settings = ffi_blfse_settings(psi, settings_);
    blfse_result result;
    ufs_run run = {.status = UFS_CONVERGED};

    result.v = ffi_set_vector(out, "v", problem.p);
    result.s = ffi_set_matrix(out, "S", problem.n, problem.n);
    result.w = ufs_dalloc((size_t) problem.n, (size_t) problem.n);
    result.alpha = ufs_dalloc((size_t) problem.m, 1);
    result.beta = ufs_dalloc((size_t) problem.m, 1);
    result.component = ufs_ialloc((size_t) problem.n);
    blfse_first_projection(&problem, &settings, &result,
                           ffi_set_matrix(out, "N", problem.p, problem.p), &run);
    la_packed_to(problem.n, result.s, result.s);
    ffi_set(out, "ties", Rf_ScalarInteger(result.ties));
    ffi_set(out, "info", Rf_ScalarInteger(run.lapack));
    UNPROTECT(1);
    return out;
}

/* kind "dense": parts = list(h, upper); "diagonal": list(h); "hadamard": list(f r x p,
 * rt k x p, w0, sign, scale, shift, upper). */
SEXP ffi_test_qp(SEXP kind, SEXP parts, SEXP b, SEXP start, SEXP tol)
{
    static const char *const names[] = {"v",   "hv",       "diag",   "kkt", "rel",
                                        "gap", "products", "rounds", NULL};
    SEXP out = PROTECT(ffi_list(names));
    int p = Rf_length(b);
    size_t P = (size_t) p;
    const double *linear = ffi_given(b, P, "b"), *first = ffi_given(start, P, "start");
    double limit = ffi_number(tol, "tol");
    if (p < 1 || !Rf_isString(kind) || Rf_xlength(kind) != 1)
        Rf_error("internal error: 'kind' or 'b'");
    const char *which = CHAR(STRING_ELT(kind, 0));
    double *v = ffi_set_vector(out, "v", p), *diag = ffi_set_vector(out, "diag", p);
    double *g_diag = ufs_dzero((size_t) p, 1);
    qp_problem prob = {p, linear, NULL, NULL, NULL, diag, NULL};
    qp_info info;
    qp_work work;
    hadamard op;

    ufs_copy(v, first, P);
    qp_init(&work, p, strcmp(which, "dense") == 0);
    if (strcmp(which, "diagonal") == 0) {
        ufs_copy(diag, ffi_given(ffi_get(parts, "h"), P, "h"), P);
        qp_diagonal(p, diag, linear, &work, v, &info);
    } else {
        prob.upper = ffi_data(ffi_get(parts, "upper"), (size_t) p, "upper");
        if (strcmp(which, "dense") == 0) {
            prob.dense = ffi_sized(ffi_get(parts, "h"), p, p, "h");
            for (int i = 0; i < p; i++) diag[i] = prob.dense[(size_t) i * ((size_t) p + 1)];
        } else {
            ffi_mat f = ffi_matrix(ffi_get(parts, "f"), "f");
            SEXP rt = ffi_get(parts, "rt"); /* may have no rows */
            if (f.p != p || !Rf_isReal(rt) || !Rf_isMatrix(rt) || Rf_ncols(rt) != p)
                Rf_error("internal error: sizes of 'f' or 'rt'");
            hadamard_init(&op, p, f.n, Rf_nrows(rt));
            op.r = f.n;
            op.k = Rf_nrows(rt);
            op.f = f.x;
            op.rt = REAL_RO(rt);
            op.w0 = ffi_real(parts, "w0");
            op.sign = ffi_real(parts, "sign");
            op.scale = ffi_real(parts, "scale");
            op.shift = ffi_real(parts, "shift");
            for (size_t i = 0; i < (size_t) p; i++)
                for (size_t a = 0; a < (size_t) op.r; a++)
                    g_diag[i] += op.f[a + i * (size_t) op.r] * op.f[a + i * (size_t) op.r];
            op.g_diag = g_diag;
            hadamard_diag(&op, diag);
            prob.apply = hadamard_apply;
            prob.data = &op;
        }
        qp_simplex(&prob, limit, &work, v, &info);
    }
    ufs_copy(ffi_set_vector(out, "hv", p), work.hv, (size_t) p);
    ffi_set(out, "kkt", Rf_ScalarReal(info.kkt));
    ffi_set(out, "rel", Rf_ScalarReal(info.rel));
    ffi_set(out, "gap", Rf_ScalarReal(info.gap));
    ffi_set(out, "products", Rf_ScalarInteger(info.products));
    ffi_set(out, "rounds", Rf_ScalarInteger(info.rounds));
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_components(SEXP s, SEXP threshold)
{
    int n = ffi_matrix(s, "s").n;
    const double *from = ffi_sized(s, n, n, "s");
    double least = ffi_number(threshold, "threshold");
    SEXP out = PROTECT(Rf_allocVector(INTSXP, n));
    double *packed = ufs_dalloc(la_packed_column(n), 1);

    la_packed_from(n, from, packed);
    graph_dense_components(n, packed, least, INTEGER(out), ufs_ialloc((size_t) n));
    UNPROTECT(1);
    return out;
}
