/* ffi_test_krylov.c: test doors of the iterative kernels: la_lowest, Anderson. */
#include "anderson.h"
#include "ffi_util.h"
#include "la.h"
#include "la_lowest.h"

/* `steps` accelerated steps of u <- a u + b from u = 0: the last u. */
SEXP ffi_test_anderson(SEXP a_, SEXP b, SEXP depth, SEXP steps)
{
    ffi_mat a = ffi_matrix(a_, "a");
    const double *shift = ffi_given(b, (size_t) a.n, "b");
    if (a.n != a.p) Rf_error("internal error: a and b do not fit");
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
        anderson_push(&history, u, f);
        if (!anderson_mix(&history, weight, u)) ufs_copy(u, f, (size_t) a.n);
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
    double limit = ffi_number(tol, "tol");
    ffi_mat given = ffi_matrix(low_rank ? b_ : m_, "m or b");
    int p = given.p, c = ffi_whole(c_, 1, p, "c");
    const double *guess = ffi_data(start, (size_t) p * (size_t) c, "start");
    const double *diagonal = ffi_given(delta, (size_t) p, "delta");
    if (!low_rank && given.n != p) Rf_error("internal error: sizes of the matrices do not fit");
    SEXP out = PROTECT(ffi_list(names));
    double *values = ffi_set_vector(out, "values", c);
    double *vectors = ffi_set_matrix(out, "vectors", p, c);
    la_lowest work;
    la_lowest_info info;

    if (warm) ufs_copy(vectors, guess, (size_t) p * (size_t) c);
    la_lowest_init(&work, p, c, given.n, low_rank ? NULL : given.x, low_rank ? given.x : NULL);
    la_lowest_solve(&work, diagonal, warm, limit, values, vectors, &info);
    ffi_set(out, "applied", Rf_ScalarInteger(info.applied));
    ffi_set(out, "residual", Rf_ScalarReal(info.residual));
    ffi_set(out, "converged", Rf_ScalarLogical(info.converged));
    ffi_set(out, "lapack", Rf_ScalarInteger(info.lapack));
    UNPROTECT(1);
    return out;
}

typedef struct {
    int n;
    const double *a, *diagonal;
    double last;
} cg_data;

static void cg_product(void *data, const double *x, double *y)
{
    cg_data *d = data;
    la_gemv('N', d->n, d->n, 1.0, d->a, d->n, x, 0.0, y);
}

static void cg_scale(void *data, const double *x, double *y)
{
    cg_data *d = data;
    for (int i = 0; i < d->n; i++) y[i] = x[i] / d->diagonal[i];
}

static void cg_norm(void *data, double norm)
{
    cg_data *d = data;
    d->last = norm;
}

/* a: n x n; diagonal: that of the preconditioner, or NULL; stop: list(tol, natural, max_iter).
 * list(x, steps, norm (of the last residual, NA if there was no step)). */
SEXP ffi_test_cg(SEXP a, SEXP b, SEXP start, SEXP diagonal, SEXP stop)
{
    static const char *const names[] = {"x", "steps", "norm", NULL};
    int n = Rf_length(b);
    size_t N = (size_t) n;
    SEXP out = PROTECT(ffi_list(names));
    double *x = ffi_set_vector(out, "x", n);
    bool given = diagonal != R_NilValue;
    const double *right = ffi_given(b, N, "b"), *first = ffi_given(start, N, "start");
    cg_data data = {n, ffi_sized(a, n, n, "a"), ffi_data(diagonal, N, "diagonal"), NA_REAL};
    la_cg_problem cg = {.n = n,
                        .apply = cg_product,
                        .precondition = given ? cg_scale : NULL,
                        .data = &data,
                        .tol = ffi_real(stop, "tol"),
                        .natural = ffi_flag(stop, "natural"),
                        .max_iter = ffi_int(stop, "max_iter"),
                        .watch = cg_norm,
                        .r = ufs_dalloc(N, 1),
                        .z = ufs_dalloc(N, 1),
                        .p = ufs_dalloc(N, 1),
                        .q = ufs_dalloc(N, 1)};

    ufs_copy(x, first, N);
    *ffi_set_ints(out, "steps", 1) = la_cg(&cg, right, x);
    *ffi_set_vector(out, "norm", 1) = data.last;
    UNPROTECT(1);
    return out;
}
