/* ffi_blfse.c: ufs_blfse() to blfse_solve(), and the embedding of its consensus. */
#include "ffi_util.h"
#include "eig.h"
#include "blfse.h"

/* A symmetric n x n matrix, packed (la.h). */
static double *symmetric(SEXP out, const char *name, int n)
{
    ffi_set(out, name, Rf_allocVector(REALSXP, (R_xlen_t) la_packed_column(n)));
    return memset(REAL(ffi_get(out, name)), 0, la_packed_column(n) * sizeof(double));
}

/* x n x p, scores p x m (columns on the simplex), labels m x n integers, psi in (0, 1);
 * s: list(n_clusters, projection, order, form, inner_max_iter, gamma_cluster, gamma_feature, qp_tol), codes as in blfse.h. S and W are the columns of the upper triangle. */
SEXP ffi_blfse(SEXP x, SEXP scores, SEXP labels, SEXP psi, SEXP s, SEXP control)
{
    SEXP out = PROTECT(ffi_list("v S W alpha beta component history weights run"));
    ffi_mat from = ffi_matrix(x, "x"), base = ffi_matrix(scores, "scores");
    size_t cells = (size_t) base.p * (size_t) from.n;
    blfse_problem problem = {.n = from.n,
                             .p = from.p,
                             .m = base.p,
                             .c = ffi_count(s, "n_clusters", 1, from.n - 1),
                             .x = from.x,
                             .scores = base.x,
                             .labels = ffi_ints(labels, cells, -INT_MAX, INT_MAX, "labels")};
    int n_psi = Rf_xlength(psi) > INT_MAX ? 0 : (int) Rf_xlength(psi);
    blfse_settings settings = {
        .projection = (blfse_projection) ffi_count(s, "projection", 0, BLFSE_ISOTROPIC),
        .order = (blfse_order) ffi_count(s, "order", 0, BLFSE_V_FIRST),
        .form = (blfse_form) ffi_count(s, "form", 0, BLFSE_FACTOR),
        .n_psi = n_psi,
        .inner_max = ffi_count(s, "inner_max_iter", 0, INT_MAX),
        .psi = ffi_given(psi, (size_t) n_psi, "psi"),
        .gamma_cluster = ffi_real(s, "gamma_cluster"),
        .gamma_feature = ffi_real(s, "gamma_feature"),
        .qp_tol = ffi_real(s, "qp_tol")};
    ufs_run run = ffi_run_begin(control, "blfse");
    blfse_result result = {.v = ffi_set_zero(out, "v", problem.p, 0),
                           .s = symmetric(out, "S", problem.n),
                           .w = symmetric(out, "W", problem.n),
                           .alpha = ffi_set_zero(out, "alpha", problem.m, 0),
                           .beta = ffi_set_zero(out, "beta", problem.m, 0),
                           .component = ffi_set_ints(out, "component", problem.n)};

    if (base.n != problem.p || !Rf_isMatrix(labels) || Rf_nrows(labels) != problem.m)
        Rf_error("internal error: sizes of 'scores' or 'labels'");
    blfse_solve(&problem, &settings, &result, &run);
    ffi_set_trace(out, "history", &result.history);
    ffi_set_trace(out, "weights", &result.weights);
    ffi_run_end(out, &run, "kkt gap rho n_component ties p_unique products",
                FFI_VALUES(result.kkt, result.gap, result.rho, result.n_component, result.ties,
                           result.p_unique, result.products));
    UNPROTECT(1);
    return out;
}

/* s: the columns of the upper triangle. list(vectors n x k, times the square roots of
 * their weights; lo, eq; path: 1 dense, 2 components; info). */
SEXP ffi_laplacian_low(SEXP s, SEXP c)
{
    SEXP out = PROTECT(ffi_list("vectors lo eq path info"));
    double length = (double) Rf_xlength(s);
    int n = (int) (sqrt(2.0 * length + 0.25) - 0.5 + 1e-6), k = 0;
    size_t N = (size_t) n;
    const double *columns = ffi_given(s, n < 1 ? 1 : la_packed_column(n), "s");
    int clusters = ffi_whole(c, 1, n, "c");
    double *r = ufs_dalloc(N, N), *degree = ufs_dalloc(N, 1);
    low_work work;
    low_split split = {0, 0, 0.0};

    la_packed_row_sums(n, columns, degree);
    low_init(&work, n, clusters);
    ffi_set(
        out, "info",
        Rf_ScalarInteger(low_laplacian(&work, columns, degree, ufs_dalloc(N, N), r, &k, &split)));
    ufs_copy(ffi_set_matrix(out, "vectors", n, k), r, N * (size_t) k);
    ffi_set(out, "lo", Rf_ScalarInteger(split.lo));
    ffi_set(out, "eq", Rf_ScalarInteger(split.eq));
    ffi_set(out, "path", Rf_ScalarInteger((int) work.path));
    UNPROTECT(1);
    return out;
}
