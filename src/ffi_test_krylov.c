/* ffi_test_krylov.c: test doors of the iterative kernels: la_lowest, Anderson. */
#include "anderson.h"
#include "ffi_util.h"
#include "la.h"
#include "la_lowest.h"

/* `steps` accelerated steps of u <- a u + b from u = 0: the last u. */
SEXP ffi_test_anderson(SEXP a_, SEXP b, SEXP depth, SEXP steps)
{
    ffi_mat a = ffi_matrix(a_, "a");
    const double *shift = ffi_data(b, (size_t) a.n, "b");
    if (a.n != a.p || shift == NULL) Rf_error("internal error: a and b do not fit");
    SEXP out = PROTECT(Rf_allocVector(REALSXP, a.n));
    double *u = REAL(out), *f = ufs_dalloc((size_t) a.n, 1), *weight = ufs_dalloc((size_t) a.n, 1);
    anderson history;

    anderson_init(&history, a.n, ffi_whole(depth, 1, 100, "depth"));
    for (int i = 0; i < a.n; i++) {
        u[i] = 0.0;
        weight[i] = 1.0;
    }
    for (int t = 0; t < ffi_whole(steps, 0, 10000, "steps"); t++) {
        ufs_copy(f, shift, (size_t) a.n);
        la_gemv('N', a.n, a.n, 1.0, a.x, a.n, u, 1.0, f);
        anderson_step(&history, u, f, weight, u);
    }
    UNPROTECT(1);
    return out;
}

/* The c lowest eigenpairs of diag(delta) + m, or + b'b if m is NULL; start NULL or p x c. */
SEXP ffi_test_lowest(SEXP m_, SEXP b_, SEXP delta, SEXP c_, SEXP start, SEXP tol)
{
    static const char *const names[] = {"values",    "vectors", "applied", "residual",
                                        "converged", "lapack",  NULL};
    bool low_rank = m_ == R_NilValue, warm = start != R_NilValue;
    ffi_mat given = ffi_matrix(low_rank ? b_ : m_, "m or b");
    int p = given.p, c = ffi_whole(c_, 1, p, "c");
    const double *guess = ffi_data(start, (size_t) p * (size_t) c, "start");
    const double *diagonal = ffi_data(delta, (size_t) p, "delta");
    if (diagonal == NULL || (!low_rank && given.n != p))
        Rf_error("internal error: sizes of the matrices do not fit");
    SEXP out = PROTECT(ffi_list(names));
    double *values = ffi_set_vector(out, "values", c);
    double *vectors = ffi_set_matrix(out, "vectors", p, c);
    la_lowest work;
    la_lowest_info info;

    if (warm) ufs_copy(vectors, guess, (size_t) p * (size_t) c);
    la_lowest_init(&work, p, c, given.n, low_rank ? NULL : given.x, low_rank ? given.x : NULL);
    la_lowest_solve(&work, diagonal, warm, Rf_asReal(tol), values, vectors, &info);
    ffi_set(out, "applied", Rf_ScalarInteger(info.applied));
    ffi_set(out, "residual", Rf_ScalarReal(info.residual));
    ffi_set(out, "converged", Rf_ScalarLogical(info.converged));
    ffi_set(out, "lapack", Rf_ScalarInteger(info.lapack));
    UNPROTECT(1);
    return out;
}
