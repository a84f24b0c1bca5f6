/* ffi_alfs.c: ufs_alfs() and convex ufs_ted() to alfs_solve(). */
#include "alfs_space.h"
#include "ffi_util.h"

static double longest_row(int n, int p, const double *a)
{
    double *norm = ufs_dalloc((size_t) n, 1), top = 0.0;

    la_row_norms(n, p, a, norm);
    for (int i = 0; i < n; i++) top = fmax(top, norm[i]);
    return top;
}

/* Largest row and column norm of 2 X'XX', whose one side is the vectors times 2 s^3, and the other
 * x times the vectors times 2 s^2; and 2 max ||x_i||^2. */
static void largest(const ufs_x *x, const double *values, const double *vectors, double *bound)
{
    bool wide = x->n <= x->p;
    int r = wide ? x->n : x->p, longer = wide ? x->p : x->n;
    size_t R = (size_t) r;
    double *scaled = ufs_dalloc(R, R), *far = ufs_dalloc((size_t) longer, R);

    for (size_t i = 0; i < R * R; i++) scaled[i] = 2.0 * vectors[i] * values[i / R] * values[i / R];
    if (wide)
        ufs_x_cross(x, r, scaled, far);
    else
        ufs_x_mul(x, r, scaled, far);
    for (size_t i = 0; i < R * R; i++) scaled[i] *= values[i / R];
    bound[wide ? 0 : 1] = longest_row(r, r, scaled);
    bound[wide ? 1 : 0] = longest_row(longer, r, far);
    ufs_x_row_ss(x, far);
    for (int i = 0; i < x->n; i++) bound[2] = fmax(bound[2], 2.0 * far[i]);
}

/* Eigenvectors of xx' or x'x (x: n x p), whichever is smaller, and the square roots of the
 * eigenvalues, descending: list(values, vectors, bound, lapack), bound the penalties alpha,
 * beta and lambda that each alone give W = 0. min(n, p) n p + 9 min(n, p)^3 flops, and
 * 2 n p min(n, p) for the bound. */
SEXP ffi_alfs_basis(SEXP x)
{
    ufs_x op = ffi_x_finite(x);
    int n = op.n, p = op.p, r = n < p ? n : p, lapack = 0;
    size_t R = (size_t) r;
    SEXP out = PROTECT(ffi_list("values vectors bound lapack"));
    double *values = ffi_set_zero(out, "values", r, 0);
    double *vectors = ffi_set_zero(out, "vectors", r, r);
    double *bound = ffi_set_zero(out, "bound", 3, 0);
    double *gram = ufs_dalloc(R, R);

    if (n <= p)
        ufs_x_gram_rows(&op, NULL, gram);
    else
        ufs_x_gram_cols(&op, gram);
    if (!la_finite(R * R, gram)) {
        bound[0] = bound[1] = bound[2] = R_PosInf;
    } else {
        lapack = alfs_roots(r, gram, values, vectors);
        if (lapack == 0) largest(&op, values, vectors, bound);
    }
    ffi_set(out, "lapack", Rf_ScalarInteger(lapack));
    UNPROTECT(1);
    return out;
}

/* x: m x q. basis: list(values, vectors, bound). penalties: alpha, beta, lambda. settings: list(
 * paper, rho0, tau,
 * rho_max, identity (B = I), p, keep (columns of x among p), dimnames of W). list(w, p, q
 * (m x p), l (NULL if lambda = 0), norms row_w, row_p (m), col_w, col_q (q), run with
 * the counters objective, dual, gap, kkt, primal_rows, primal_columns and primal_weights). */
SEXP ffi_alfs(SEXP x, SEXP basis, SEXP penalties, SEXP settings_, SEXP control)
{
    ufs_x op = ffi_x_finite(x);
    int m = op.n, q = op.p, r = m < q ? m : q, p = ffi_count(settings_, "p", q, INT_MAX);
    size_t R = (size_t) r;
    bool identity = ffi_flag(settings_, "identity");
    const double *value = ffi_given(penalties, 3, "penalties");
    int count, *keep = ffi_indices(ffi_get(settings_, "keep"), p, &count, "keep");
    SEXP dimnames = ffi_get(settings_, "dimnames"),
         out = PROTECT(ffi_list("w p q l row_w row_p col_w col_q run"));
    ufs_run run = ffi_run_begin(control, "alfs");
    alfs_problem problem = {
        .x = &op,
        .values = ffi_given(ffi_get(basis, "values"), R, "values"),
        .vectors = identity ? NULL : ffi_sized(ffi_get(basis, "vectors"), r, r, "vectors"),
        .identity = identity,
        .alpha = value[0],
        .beta = value[1],
        .lambda = value[2],
        .bound = ffi_given(ffi_get(basis, "bound"), 3, "bound")};
    alfs_settings settings = {.paper = ffi_flag(settings_, "paper"),
                              .rho0 = ffi_real(settings_, "rho0"),
                              .growth = ffi_real(settings_, "tau"),
                              .rho_most = ffi_real(settings_, "rho_max")};
    alfs_result result = {.w = ffi_set_zero(out, "w", m, p),
                          .p = ffi_set_zero(out, "p", m, p),
                          .q = ffi_set_zero(out, "q", m, p)};

    if (count != q) Rf_error("internal error: 'keep' has the wrong length");
    for (int j = 1; j < q; j++)
        if (keep[j] <= keep[j - 1]) Rf_error("internal error: 'keep' does not ascend");
    if (problem.lambda > 0.0) result.l = ffi_set_zero(out, "l", m, m);
    if (op.kind != UFS_X_DENSE && (identity || settings.paper || problem.lambda > 0.0))
        Rf_error("internal error: this form needs a dense matrix");
    alfs_solve(&problem, &settings, &result, &run);
    la_row_norms(m, q, result.w, ffi_set_vector(out, "row_w", m));
    la_col_norms(m, q, result.w, ffi_set_vector(out, "col_w", q));
    la_row_norms(m, q, result.p, ffi_set_vector(out, "row_p", m));
    la_col_norms(m, q, result.q, ffi_set_vector(out, "col_q", q));
    for (int i = 0; i < 3; i++) { /* w, p, q */
        SEXP matrix = VECTOR_ELT(out, i);
        ffi_spread(REAL(matrix), m, q, keep);
        Rf_setAttrib(matrix, R_DimNamesSymbol, dimnames);
    }
    ffi_run_end(out, &run, "objective dual gap kkt primal_rows primal_columns primal_weights",
                FFI_VALUES(result.objective, result.dual, result.gap, result.kkt, result.primal[0],
                           result.primal[1], result.primal[2]));
    UNPROTECT(1);
    return out;
}
