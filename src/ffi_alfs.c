/* ffi_alfs.c: ufs_alfs() and convex ufs_ted() to alfs_solve(). */
#include "alfs_space.h"
#include "ffi_x.h"
#include "la.h"
#include "solve_alfs.h"
#include <limits.h>

static alfs_settings settings_of(SEXP settings, SEXP control);
static double *result_matrix(SEXP out, const char *name, int n, int p, SEXP dimnames);
static void spread(double *x, int n, int q, int p, const int *keep);
static double norms(SEXP out, const char *name, const double *x, int n, int p, bool rows);

/* Eigenvectors of xx' or x'x (x: n x p), whichever is smaller, and the square roots of the
 * eigenvalues, descending: list(values, vectors, bound, lapack), bound the penalties alpha,
 * beta and lambda that each alone give W = 0. min(n, p) n p + 9 min(n, p)^3 flops, and
 * 2 n p min(n, p) for the bound. */
SEXP ffi_alfs_basis(SEXP x)
{
    static const char *const names[] = {"values", "vectors", "bound", "lapack", NULL};
    ufs_x op = ffi_x_finite(x);
    int n = op.n, p = op.p, r = n < p ? n : p, lapack = 0;
    size_t R = (size_t) r;
    SEXP out = PROTECT(ffi_list(names));
    double *values = ffi_set_zero(out, "values", r, 0);
    double *vectors = ffi_set_zero(out, "vectors", r, r);
    double *bound = ffi_set_zero(out, "bound", 3, 0);
    double *gram = ufs_dalloc(R, R), *ascending = ufs_dalloc(R, R), *value = ufs_dalloc(R, 1);
    bool finite = true;

    if (n <= p)
        ufs_x_gram_rows(&op, NULL, gram);
    else
        ufs_x_gram_cols(&op, gram);
    for (size_t i = 0; i < R * R; i++) finite = finite && R_FINITE(gram[i]);
    if (finite) lapack = la_eig_range(r, gram, 1, r, value, ascending);
    if (finite && lapack == 0) {
        for (size_t j = 0; j < R; j++) {
            values[j] = sqrt(fmax(value[R - 1 - j], 0.0));
            ufs_copy(vectors + j * R, ascending + (R - 1 - j) * R, R);
        }
        alfs_data data = {
            .m = n, .q = p, .x = &op, .values = values, .vectors = vectors, .unit = 1.0};
        alfs_space space;
        alfs_space_full(&space, &data);
        alfs_bounds most = alfs_largest(&space);
        bound[0] = most.alpha;
        bound[1] = most.beta;
        bound[2] = most.lambda;
    } else if (!finite) {
        bound[0] = bound[1] = bound[2] = R_PosInf;
    }
    ffi_set(out, "lapack", Rf_ScalarInteger(lapack));
    UNPROTECT(1);
    return out;
}

/* x: m x q. basis: list(values, vectors, bound). penalties: alpha, beta, lambda. start: NULL
 * or list(w, p, q, rho) of another run. settings: list(paper, rho0, tau,
 * rho_max, identity (B = I), p, keep (columns of x among p), dimnames of W). list(w, p, q
 * (m x p), l (NULL if lambda = 0), rho, norms row_w, row_p (m), col_w, col_q (q), run with
 * the counters objective, dual, gap, kkt, primal_rows, primal_columns, primal_weights,
 * certificates, columns, live_rows and live_columns). */
SEXP ffi_alfs(SEXP x, SEXP basis, SEXP penalties, SEXP settings_, SEXP start_, SEXP control)
{
    static const char *const names[] = {"w",     "p",     "q",     "l",   "rho", "row_w",
                                        "row_p", "col_w", "col_q", "run", NULL};
    ufs_x op = ffi_x_finite(x);
    int m = op.n, q = op.p, r = m < q ? m : q, p = ffi_count(settings_, "p", q, INT_MAX);
    size_t M = (size_t) m, Q = (size_t) q, R = (size_t) r;
    bool identity = ffi_flag(settings_, "identity");
    const double *value = ffi_given(penalties, 3, "penalties");
    const double *bound = ffi_given(ffi_get(basis, "bound"), 3, "bound");
    const int *keep = ffi_ints(ffi_get(settings_, "keep"), Q, 1, p, "keep");
    SEXP dimnames = ffi_get(settings_, "dimnames");
    SEXP out = PROTECT(ffi_list(names));
    ufs_run run = ffi_run_begin(control, "alfs");
    alfs_start start;
    alfs_problem problem = {
        .m = m,
        .q = q,
        .x = &op,
        .values = ffi_given(ffi_get(basis, "values"), R, "values"),
        .vectors = identity ? NULL : ffi_sized(ffi_get(basis, "vectors"), r, r, "vectors"),
        .identity = identity,
        .alpha = value[0],
        .beta = value[1],
        .lambda = value[2],
        .alpha_max = bound[0],
        .beta_max = bound[1]};
    alfs_settings settings = settings_of(settings_, control);
    alfs_result result = {.w = result_matrix(out, "w", m, p, dimnames),
                          .p = result_matrix(out, "p", m, p, dimnames),
                          .q = result_matrix(out, "q", m, p, dimnames)};

    for (size_t j = 1; j < Q; j++)
        if (keep[j] <= keep[j - 1]) Rf_error("internal error: 'keep' does not ascend");
    for (int i = 0; i < 3; i++)
        if (!(value[i] >= 0.0)) Rf_error("internal error: a penalty is negative");
    if (start_ != R_NilValue) {
        const double *rho = ffi_given(ffi_get(start_, "rho"), 3, "rho");
        start = (alfs_start){.w = ffi_given(ffi_get(start_, "w"), M * Q, "w"),
                             .p = ffi_given(ffi_get(start_, "p"), M * Q, "p"),
                             .q = ffi_given(ffi_get(start_, "q"), M * Q, "q"),
                             .rho = {rho[0], rho[1]}};
        problem.start = &start;
    }
    if (problem.lambda > 0.0) result.l = ffi_set_zero(out, "l", m, m);

    if (op.kind != UFS_X_DENSE && (identity || settings.paper || problem.lambda > 0.0))
        Rf_error("internal error: this form needs a dense matrix");
    alfs_solve(&problem, &settings, &result, &run);
    ufs_copy(ffi_set_vector(out, "rho", 3), result.rho, 3);
    double live_rows = norms(out, "row_w", result.w, m, q, true);
    double live_columns = norms(out, "col_w", result.w, m, q, false);
    norms(out, "row_p", result.p, m, q, true);
    norms(out, "col_q", result.q, m, q, false);
    spread(result.w, m, q, p, keep);
    spread(result.p, m, q, p, keep);
    spread(result.q, m, q, p, keep);
    ffi_run_end(out, &run,
                (ffi_counter[]){{"objective", result.objective},
                                {"dual", result.dual},
                                {"gap", result.gap},
                                {"kkt", result.kkt},
                                {"primal_rows", result.primal[0]},
                                {"primal_columns", result.primal[1]},
                                {"primal_weights", result.primal[2]},
                                {"certificates", result.certificates},
                                {"columns", result.columns},
                                {"live_rows", live_rows},
                                {"live_columns", live_columns},
                                {NULL, 0}});
    UNPROTECT(1);
    return out;
}

static alfs_settings settings_of(SEXP settings, SEXP control)
{
    return (alfs_settings){.max_iter = ffi_int(control, "max_iter"),
                           .tol = ffi_real(control, "tol"),
                           .paper = ffi_flag(settings, "paper"),
                           .rho0 = ffi_real(settings, "rho0"),
                           .growth = ffi_real(settings, "tau"),
                           .rho_most = ffi_real(settings, "rho_max"),
                           .check_every = 10,
                           .balance_until = 2000,
                           .floor = 1e-6};
}

static double *result_matrix(SEXP out, const char *name, int n, int p, SEXP dimnames)
{
    double *to = ffi_set_matrix(out, name, n, p);
    if (dimnames != R_NilValue) Rf_setAttrib(ffi_get(out, name), R_DimNamesSymbol, dimnames);
    return to;
}

/* The q columns at the start of an n x p matrix to their places keep[0] < keep[1] < ...
 * (1-based), zeros elsewhere. From the right, so nothing is overwritten. */
static void spread(double *x, int n, int q, int p, const int *keep)
{
    size_t N = (size_t) n;
    int from = q - 1;

    if (q == p) return;
    for (int j = p - 1; j >= 0; j--) {
        double *to = x + (size_t) j * N;
        if (from >= 0 && keep[from] == j + 1)
            memmove(to, x + (size_t) from-- * N, N * sizeof(double));
        else
            memset(to, 0, N * sizeof(double));
    }
}

/* Norms of rows or columns into a slot; how many are not zero. */
static double norms(SEXP out, const char *name, const double *x, int n, int p, bool rows)
{
    int len = rows ? n : p, live = 0;
    double *norm = ffi_set_vector(out, name, len);

    if (rows)
        la_row_norms(n, p, x, norm);
    else
        la_col_norms(n, p, x, norm);
    for (int i = 0; i < len; i++) live += norm[i] > 0.0;
    return live;
}
