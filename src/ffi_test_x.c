/* ffi_test_x.c: the operations of x_ops.h that no R function calls, for the tests. */
#include "ffi_x.h"
#include "la.h"

/* list(cross_rows = (X'T)', gram_mul = X X'T, dot = x_j't_1 for every j,
 * axpy = sum_j v_j x_j, gram_rows = X diag(w) X', entries). */
SEXP ffi_test_x(SEXP x, SEXP t, SEXP v, SEXP w)
{
    static const char *const names[] = {"cross_rows", "gram_mul", "dot", "axpy",
                                        "gram_rows",  "entries",  NULL};
    ufs_x op = ffi_x(x);
    int c = ffi_matrix(t, "t").p;
    size_t N = (size_t) op.n, P = (size_t) op.p;
    const double *from = ffi_sized(t, op.n, c, "t"), *step = ffi_given(v, P, "v");
    double total = 0.0, off = 0.0, *scratch = ufs_dalloc(N, 1);
    SEXP out = PROTECT(ffi_list(names));

    ufs_x_cross_rows(&op, c, from, ffi_set_matrix(out, "cross_rows", c, op.p));
    ufs_x_gram_mul(&op, c, from, ffi_set_matrix(out, "gram_mul", op.n, c));
    double *dot = ffi_set_vector(out, "dot", op.p), *sum = ffi_set_vector(out, "axpy", op.n);
    for (size_t i = 0; i < N; i++) {
        total += from[i];
        sum[i] = 0.0;
    }
    for (int j = 0; j < op.p; j++) {
        dot[j] = ufs_x_dot(&op, j, from, total, scratch);
        off += ufs_x_axpy(&op, j, step[j], sum, scratch);
    }
    for (size_t i = 0; i < N; i++) sum[i] -= off;
    ufs_x_gram_rows(&op, ffi_data(w, P, "w"), ffi_set_matrix(out, "gram_rows", op.n, op.n));
    ffi_set(out, "entries", Rf_ScalarReal(ufs_x_entries(&op)));
    UNPROTECT(1);
    return out;
}

/* list(rows = rows `index` (1-based, ascending), forms = x_i'S x_i of every row). */
SEXP ffi_test_x_rows(SEXP x, SEXP index, SEXP s)
{
    static const char *const names[] = {"rows", "forms", NULL};
    ufs_x op = ffi_x(x);
    int m, *at = ffi_indices(index, op.n, &m, "index");
    SEXP out = PROTECT(ffi_list(names));

    for (int k = 1; k < m; k++)
        if (at[k] <= at[k - 1]) Rf_error("internal error: 'index' does not ascend");
    ufs_x_rows(&op, m, at, ffi_set_matrix(out, "rows", m, op.p));
    ufs_x_row_forms(&op, ffi_upper(s, op.p, "s"), ffi_set_vector(out, "forms", op.n));
    UNPROTECT(1);
    return out;
}

typedef struct {
    int n;
    const double *a;
} test_operator;

static void apply_test(const void *data, int m, const double *x, double *y)
{
    const test_operator *op = data;
    la_gemm('N', 'N', op->n, m, op->n, 1.0, op->a, op->n, x, op->n, 0.0, y, op->n);
}

/* The k largest eigenpairs of the symmetric a (n x n) by products with blocks of vectors; basis:
 * vectors held, 0 for the usual number. */
SEXP ffi_test_eigs(SEXP a, SEXP k_, SEXP tol, SEXP block, SEXP basis)
{
    static const char *const names[] = {"values",    "vectors", "products", "residual",
                                        "converged", "info",    NULL};
    int n = ffi_matrix(a, "a").n, k = ffi_whole(k_, 1, n, "k");
    test_operator op = {n, ffi_sized(a, n, n, "a")};
    la_eigs_problem problem = {.n = n,
                               .k = k,
                               .apply = apply_test,
                               .data = &op,
                               .block = ffi_whole(block, 0, n, "block"),
                               .basis = ffi_whole(basis, 0, n, "basis"),
                               .tol = ffi_number(tol, "tol"),
                               .max_iter = 13 * (k + 10)};
    la_eigs_info info;
    SEXP out = PROTECT(ffi_list(names));
    double *w = ffi_set_vector(out, "values", k), *z = ffi_set_matrix(out, "vectors", n, k);
    la_eigs_krylov(&problem, w, z, &info);
    ffi_set(out, "products", Rf_ScalarInteger(info.products));
    ffi_set(out, "residual", Rf_ScalarReal(info.residual));
    ffi_set(out, "converged", Rf_ScalarLogical(info.converged));
    ffi_set(out, "info", Rf_ScalarInteger(info.lapack));
    UNPROTECT(1);
    return out;
}
