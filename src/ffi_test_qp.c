/* ffi_test_qp.c: quadratic programs on the simplex, for tests/testthat/test-kernel-qp.R. */
#include "ffi_util.h"
#include "hadamard.h"
#include "qp_simplex.h"

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
