/* ffi_test.c: the kernels, one by one, for tests/testthat/test-kernel-*.R. */
#include "ffi_x.h"
#include "la.h"
#include "la_gl.h"
#include "prox.h"
#include "proj.h"
#include <limits.h>

SEXP ffi_test_norms(SEXP v, SEXP eps)
{
    static const char *const names[] = {"row", "col", "l21", "g", "ss", NULL};
    ffi_mat from = ffi_matrix(v, "v");
    int p = from.n, c = from.p;
    double smooth = ffi_number(eps, "eps");
    SEXP out = PROTECT(ffi_list(names));
    double *row = ffi_set_vector(out, "row", p), *col = ffi_set_vector(out, "col", c);
    la_row_norms(p, c, from.x, row);
    la_col_norms(p, c, from.x, col);
    la_irls_g(p, row, smooth, ffi_set_vector(out, "g", p));
    *ffi_set_vector(out, "l21", 1) = la_l21(p, row, smooth);
    *ffi_set_vector(out, "ss", 1) = la_ss((size_t) p * (size_t) c, from.x);
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_ridge(SEXP x, SEXP t, SEXP g, SEXP lambda, SEXP form)
{
    static const char *const names[] = {"v", "p_form", "info", NULL};
    ffi_mat from = ffi_matrix(x, "x");
    int n = from.n, p = from.p, c = ffi_matrix(t, "t").p;
    const double *target = ffi_sized(t, n, c, "t"), *weight = ffi_given(g, (size_t) p, "g");
    double penalty = ffi_number(lambda, "lambda");
    SEXP out = PROTECT(ffi_list(names));
    double *v = ffi_set_matrix(out, "v", p, c);
    ufs_x op = ufs_x_dense(n, p, from.x);
    la_ridge work;
    if (!Rf_isString(form) || Rf_xlength(form) != 1) Rf_error("internal error: 'form'");
    la_ridge_init(&work, c, &op, CHAR(STRING_ELT(form, 0))[0]);
    *ffi_set_ints(out, "info", 1) = la_ridge_solve(&work, target, weight, penalty, v);
    ffi_set(out, "p_form", Rf_ScalarLogical(work.p_form));
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_polar(SEXP a, SEXP e_old)
{
    static const char *const names[] = {"e", "info", NULL};
    ffi_mat from = ffi_matrix(a, "a");
    int n = from.n, c = from.p;
    const double *old = e_old == R_NilValue ? NULL : ffi_sized(e_old, n, c, "e_old");
    if (c > n) Rf_error("internal error: 'a' is wide");
    SEXP out = PROTECT(ffi_list(names));
    double *e = ffi_set_matrix(out, "e", n, c);
    la_polar_work work;
    la_polar_init(&work, n, c);
    *ffi_set_ints(out, "info", 1) = la_polar(&work, from.x, old, e);
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_svd(SEXP a)
{
    static const char *const names[] = {"u", "s", "vt", "info", NULL};
    ffi_mat from = ffi_matrix(a, "a");
    int n = from.n, p = from.p, r = n < p ? n : p;
    SEXP out = PROTECT(ffi_list(names));
    double *u = ffi_set_matrix(out, "u", n, r), *s = ffi_set_vector(out, "s", r);
    double *vt = ffi_set_matrix(out, "vt", r, p);
    double *copy = ufs_dalloc((size_t) n, (size_t) p);
    ufs_copy(copy, from.x, (size_t) n * (size_t) p);
    *ffi_set_ints(out, "info", 1) = la_svd_thin(n, p, copy, u, s, vt);
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_eig(SEXP a, SEXP il, SEXP iu)
{
    static const char *const names[] = {"values", "vectors", "info", NULL};
    int n = ffi_matrix(a, "a").n;
    const double *from = ffi_sized(a, n, n, "a");
    int lo = ffi_whole(il, 1, n, "il"), hi = ffi_whole(iu, lo, n, "iu");
    SEXP out = PROTECT(ffi_list(names));
    double *w = ffi_set_vector(out, "values", hi - lo + 1);
    double *z = ffi_set_matrix(out, "vectors", n, hi - lo + 1);
    double *copy = ufs_dalloc((size_t) n, (size_t) n);
    ufs_copy(copy, from, (size_t) n * (size_t) n);
    *ffi_set_ints(out, "info", 1) = la_eig_range(n, copy, lo, hi, w, z);
    la_fix_signs(n, hi - lo + 1, z);
    UNPROTECT(1);
    return out;
}

/* The inverse of a positive definite matrix by its Cholesky factor. */
SEXP ffi_test_inverse(SEXP a)
{
    static const char *const names[] = {"inverse", "info", NULL};
    int n = ffi_matrix(a, "a").n, info;
    const double *from = ffi_sized(a, n, n, "a");
    SEXP out = PROTECT(ffi_list(names));
    double *r = ffi_set_matrix(out, "inverse", n, n);
    ufs_copy(r, from, (size_t) n * (size_t) n);
    info = la_chol_checked(n, r);
    *ffi_set_ints(out, "info", 1) = info ? info : la_chol_inverse(n, r);
    UNPROTECT(1);
    return out;
}

/* c + a b, or c + a b'. */
SEXP ffi_test_gemm(SEXP a, SEXP b, SEXP c)
{
    ffi_mat left = ffi_matrix(a, "a"), right = ffi_matrix(b, "b");
    int m = left.n, k = left.p, n = ffi_matrix(c, "c").p;
    bool plain = right.n == k;
    ffi_sized(b, plain ? k : n, plain ? n : k, "b");
    ffi_sized(c, m, n, "c");
    SEXP out = PROTECT(Rf_duplicate(c));
    la_gemm_checked('N', plain ? 'N' : 'T', m, n, k, 1.0, left.x, m, right.x, right.n, 1.0,
                    REAL(out), m);
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_prox(SEXP a, SEXP t)
{
    R_xlen_t len = Rf_xlength(a);
    const double *from = ffi_given(a, (size_t) len, "a"), by = ffi_number(t, "t");
    SEXP out = PROTECT(Rf_allocVector(REALSXP, len));
    for (R_xlen_t i = 0; i < len; i++) REAL(out)[i] = prox_soft(from[i], by);
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_proj(SEXP y, SEXP total)
{
    static const char *const names[] = {"simplex", "sphere", "capped", NULL};
    int n = Rf_length(y);
    const double *from = ffi_given(y, (size_t) n, "y"), sum = ffi_number(total, "total");
    if (n < 1) Rf_error("internal error: 'y' is empty");
    SEXP out = PROTECT(ffi_list(names));
    proj_simplex(n, from, sum, ufs_dalloc((size_t) n, 1), ffi_set_vector(out, "simplex", n));
    proj_half_sphere(n, from, NULL, ffi_set_vector(out, "sphere", n));
    proj_capped_simplex(n, from, fmin(sum, n), ffi_set_vector(out, "capped", n));
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_hook(SEXP control, SEXP n)
{
    ufs_run run = ffi_run_begin(control, "test");
    int steps = ffi_whole(n, 0, 1000000, "n");
    for (int i = 1; i <= steps; i++) ufs_hook_step(&run.hook, i, 1.0 / i, 0.5);
    return R_NilValue;
}

/* t: n x (c blocks), solved one after the other from the last v, so that the cached
 * Gram columns are used again. */
SEXP ffi_test_gl(SEXP x, SEXP t, SEXP v0, SEXP options)
{
    static const char *const names[] = {"v",         "xv",        "kkt",     "gap",      "dual",
                                        "objective", "violation", "settled", "products", "sweeps",
                                        "columns",   "m",         NULL};
    ufs_x op = ffi_x(x);
    int n = op.n, p = op.p, c = ffi_matrix(v0, "v0").p, blocks = ffi_matrix(t, "t").p / c;
    size_t block = (size_t) n * (size_t) c;
    const double *target = ffi_sized(t, n, blocks < 1 ? c : blocks * c, "t");
    const double *start = ffi_sized(v0, p, c, "v0");
    double lambda = ffi_real(options, "lambda");
    SEXP out = PROTECT(ffi_list(names));
    double *v = ffi_set_matrix(out, "v", p, c);
    la_gl w;

    la_gl_init(&w, c, &op, ffi_count(options, "slots", 1, INT_MAX));
    w.form = ffi_letter(options, "form", "agr");
    if (ffi_get(options, "root") != R_NilValue)
        la_gl_set_rows(&w, ffi_given(ffi_get(options, "root"), (size_t) n, "root"));
    ufs_copy(v, start, (size_t) p * (size_t) c);
    for (int b = 0; b < blocks; b++)
        la_gl_solve(&w, target + (size_t) b * block, lambda, ffi_real(options, "vtol"),
                    ffi_flag(options, "full"), ffi_real(options, "prune"), v);
    ufs_copy(ffi_set_matrix(out, "xv", n, c), w.xv, block);
    *ffi_set_vector(out, "objective", 1) = w.objective;
    *ffi_set_vector(out, "sweeps", 1) = w.sweeps;
    *ffi_set_vector(out, "columns", 1) = w.columns;
    *ffi_set_vector(out, "products", 1) = w.products;
    *ffi_set_ints(out, "m", 1) = w.m;
    ffi_set(out, "settled", Rf_ScalarLogical(w.settled));
    if (ffi_flag(options, "certify"))
        la_gl_certify(&w, target + (size_t) (blocks - 1) * block, lambda, v);
    ufs_copy(ffi_set_vector(out, "kkt", p), w.kkt, (size_t) p);
    *ffi_set_vector(out, "gap", 1) = w.gap;
    *ffi_set_vector(out, "dual", 1) = w.dual;
    *ffi_set_vector(out, "violation", 1) = la_gl_violation(&w, lambda, 0.0, v);
    UNPROTECT(1);
    return out;
}

/* n rows (i, -i) into a trace that takes at most `most`. */
SEXP ffi_test_trace(SEXP n, SEXP most)
{
    static const char *const names[] = {"trace", NULL};
    SEXP out = PROTECT(ffi_list(names));
    ufs_trace trace;
    int rows = ffi_whole(n, 0, 1000000, "n");
    ufs_trace_init(&trace, ffi_whole(most, 0, INT_MAX, "most"), 2);
    for (int i = 1; i <= rows; i++) {
        double row[2] = {i, -i};
        ufs_trace_add(&trace, row);
    }
    ffi_set_trace(out, "trace", &trace);
    SEXP value = VECTOR_ELT(out, 0);
    UNPROTECT(1);
    return value;
}
