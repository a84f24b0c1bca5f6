/* ffi_irls.c: the reweighted selectors RSR, NDFS and SOGFS, and their kernels' tests. */
#include "ffi_util.h"
#include "anderson.h"
#include "base_ndfs.h"
#include "base_rsr.h"
#include "base_sogfs.h"
#include "la.h"
#include "la_lowest.h"

/* x: n x p. list(identity, zero, info), see rsr_window(). */
SEXP ffi_rsr_window(SEXP x)
{
    static const char *const names[] = {"identity", "zero", "info", NULL};
    SEXP out = PROTECT(ffi_list(names));
    double *identity = ffi_set_vector(out, "identity", 1);
    double *zero = ffi_set_vector(out, "zero", 1);
    *ffi_set_ints(out, "info", 1) =
        rsr_window(Rf_nrows(x), Rf_ncols(x), REAL_RO(x), identity, zero);
    UNPROTECT(1);
    return out;
}

/* eps: smoothing of |e_i|^2 and |w_j|^2. list(row, residual, dual, w, objective, gap, trace,
 * status, iterations, info); w is NULL unless keep_w. */
SEXP ffi_rsr(SEXP x, SEXP lambda, SEXP eps, SEXP accelerate, SEXP keep_w, SEXP control)
{
    static const char *const names[] = {"row", "residual", "dual", "w", "objective", "gap",
                                        "trace", "status", "iterations", "info", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x);
    const double *smooth = ffi_data(eps, 2, "eps");
    SEXP out = PROTECT(ffi_list(names));
    ffi_hook_data data;
    ufs_hook hook = ffi_hook(control, "rsr", &data);
    rsr_problem problem = {.n = n, .p = p, .x = REAL_RO(x), .lambda = Rf_asReal(lambda)};
    rsr_settings settings = {.max_iter = ffi_int(control, "max_iter"),
                             .tol = ffi_real(control, "tol"),
                             .eps_residual = smooth[0], .eps_row = smooth[1],
                             .accelerate = Rf_asLogical(accelerate) == 1};
    rsr_result result = {.row = ffi_set_vector(out, "row", p),
                         .residual = ffi_set_vector(out, "residual", n),
                         .dual = ffi_set_vector(out, "dual", p), .w = NULL};
    rsr_info info;

    memset(result.row, 0, (size_t) p * sizeof(double));
    memset(result.residual, 0, (size_t) n * sizeof(double));
    memset(result.dual, 0, (size_t) p * sizeof(double));
    if (Rf_asLogical(keep_w) == 1) {
        result.w = ffi_set_matrix(out, "w", p, p);
        memset(result.w, 0, (size_t) p * (size_t) p * sizeof(double));
    }
    rsr_solve(&problem, &settings, &hook, &result, &info);
    *ffi_set_vector(out, "objective", 1) = info.objective;
    *ffi_set_vector(out, "gap", 1) = info.gap;
    ffi_set_trace(out, "trace", &info.trace);
    ffi_set(out, "status", Rf_ScalarInteger((int) info.status));
    ffi_set(out, "iterations", Rf_ScalarInteger(info.iterations));
    ffi_set(out, "info", Rf_ScalarInteger(info.lapack));
    UNPROTECT(1);
    return out;
}

/* f0: n x c start of F. settings: list(alpha, beta, gamma, start_g, accelerate, split, normalised).
 * list(f, w, orthogonality, kkt, trace, status, iterations, info). */
SEXP ffi_ndfs(SEXP x, SEXP graph, SEXP f0, SEXP settings_, SEXP control)
{
    static const char *const names[] = {"f", "w", "orthogonality", "kkt", "trace", "status",
                                        "iterations", "info", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x), c = Rf_ncols(f0);
    size_t len = (size_t) n * (size_t) c;
    SEXP out = PROTECT(ffi_list(names));
    ffi_hook_data data;
    ufs_hook hook = ffi_hook(control, "ndfs", &data);
    graph_csr g = ffi_graph_csr(graph);
    ndfs_problem problem = {.n = n, .p = p, .c = c, .x = REAL_RO(x), .graph = &g,
                            .normalised = ffi_flag(settings_, "normalised"),
                            .alpha = ffi_real(settings_, "alpha"),
                            .beta = ffi_real(settings_, "beta"),
                            .gamma = ffi_real(settings_, "gamma")};
    ndfs_settings settings = {.max_iter = ffi_int(control, "max_iter"),
                              .tol = ffi_real(control, "tol"), .eps = ffi_real(control, "eps"),
                              .kkt_tol = ffi_real(control, "inner_tol"),
                              .start_g = ffi_real(settings_, "start_g"),
                              .accelerate = ffi_flag(settings_, "accelerate"),
                              .split = ffi_flag(settings_, "split")};
    ndfs_result result = {.f = ffi_set_matrix(out, "f", n, c),
                          .w = ffi_set_matrix(out, "w", p, c)};
    ndfs_info info;

    ufs_copy(result.f, ffi_data(f0, len, "f0"), len);
    ndfs_solve(&problem, &settings, &hook, &result, &info);
    *ffi_set_vector(out, "orthogonality", 1) = info.orthogonality;
    *ffi_set_vector(out, "kkt", 1) = info.kkt;
    ffi_set_trace(out, "trace", &info.trace);
    ffi_set(out, "status", Rf_ScalarInteger((int) info.status));
    ffi_set(out, "iterations", Rf_ScalarInteger(info.iterations));
    ffi_set(out, "info", Rf_ScalarInteger(info.lapack));
    UNPROTECT(1);
    return out;
}

/* settings: list(n_clusters, n_dims, k, gamma, accelerate). list(w, row2, f, neighbour, s,
 * component, r, lambda, n_components, live, residual, trace, status, iterations, info);
 * neighbour and s are k x n, neighbour and component 0-based. */
SEXP ffi_sogfs(SEXP x, SEXP settings_, SEXP control)
{
    static const char *const names[] = {"w", "row2", "f", "neighbour", "s", "component", "r",
                                        "lambda", "n_components", "live", "residual", "trace",
                                        "status", "iterations", "info", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x), c = ffi_int(settings_, "n_clusters");
    int m = ffi_int(settings_, "n_dims"), k = ffi_int(settings_, "k");
    SEXP out = PROTECT(ffi_list(names));
    ffi_hook_data data;
    ufs_hook hook = ffi_hook(control, "sogfs", &data);
    sogfs_problem problem = {.n = n, .p = p, .x = REAL_RO(x), .m = m, .c = c, .k = k,
                             .gamma = ffi_real(settings_, "gamma")};
    sogfs_settings settings = {.max_iter = ffi_int(control, "max_iter"),
                               .inner_max_iter = ffi_int(control, "inner_max_iter"),
                               .inner_tol = ffi_real(control, "inner_tol"),
                               .eps = ffi_real(control, "eps"),
                               .accelerate = ffi_flag(settings_, "accelerate")};
    sogfs_result result = {.w = ffi_set_matrix(out, "w", p, m),
                           .row2 = ffi_set_vector(out, "row2", p),
                           .f = ffi_set_matrix(out, "f", n, c),
                           .neighbour = ffi_set_ints(out, "neighbour", n * k),
                           .s = ffi_set_matrix(out, "s", k, n),
                           .component = ffi_set_ints(out, "component", n)};
    sogfs_info info;

    memset(result.w, 0, (size_t) p * (size_t) m * sizeof(double));
    memset(result.row2, 0, (size_t) p * sizeof(double));
    sogfs_solve(&problem, &settings, &hook, &result, &info);
    ffi_set(out, "r", Rf_ScalarReal(info.r));
    ffi_set(out, "lambda", Rf_ScalarReal(info.lambda));
    ffi_set(out, "n_components", Rf_ScalarInteger(info.n_components));
    ffi_set(out, "live", Rf_ScalarInteger(info.live));
    ffi_set(out, "residual", Rf_ScalarReal(info.residual));
    ffi_set_trace(out, "trace", &info.trace);
    ffi_set(out, "status", Rf_ScalarInteger((int) info.status));
    ffi_set(out, "iterations", Rf_ScalarInteger(info.iterations));
    ffi_set(out, "info", Rf_ScalarInteger(info.lapack));
    UNPROTECT(1);
    return out;
}

/* `steps` accelerated steps of u <- a u + b from u = 0: the last u. */
SEXP ffi_test_anderson(SEXP a, SEXP b, SEXP depth, SEXP steps)
{
    int n = Rf_nrows(a);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
    double *u = REAL(out), *f = ufs_dalloc((size_t) n, 1), *weight = ufs_dalloc((size_t) n, 1);
    anderson history;

    anderson_init(&history, n, Rf_asInteger(depth));
    for (int i = 0; i < n; i++) {
        u[i] = 0.0;
        weight[i] = 1.0;
    }
    for (int t = 0; t < Rf_asInteger(steps); t++) {
        ufs_copy(f, REAL_RO(b), (size_t) n);
        la_gemv('N', n, n, 1.0, REAL_RO(a), n, u, 1.0, f);
        anderson_step(&history, u, f, weight, u);
    }
    UNPROTECT(1);
    return out;
}

/* The c lowest eigenpairs of diag(delta) + m, or + b'b if m is NULL; start NULL or p x c. */
SEXP ffi_test_lowest(SEXP m, SEXP b, SEXP delta, SEXP c_, SEXP start, SEXP tol)
{
    static const char *const names[] = {"values", "vectors", "applied", "residual", "converged",
                                        "info", NULL};
    int p = (int) Rf_xlength(delta), c = Rf_asInteger(c_);
    bool low_rank = m == R_NilValue, warm = start != R_NilValue;
    SEXP out = PROTECT(ffi_list(names));
    double *values = ffi_set_vector(out, "values", c);
    double *vectors = ffi_set_matrix(out, "vectors", p, c);
    la_lowest work;
    la_lowest_info info;

    if (warm) ufs_copy(vectors, REAL_RO(start), (size_t) p * (size_t) c);
    la_lowest_init(&work, p, c, low_rank ? Rf_nrows(b) : p, low_rank ? NULL : REAL_RO(m),
                   low_rank ? REAL_RO(b) : NULL);
    la_lowest_solve(&work, REAL_RO(delta), warm, Rf_asReal(tol), values, vectors, &info);
    ffi_set(out, "applied", Rf_ScalarInteger(info.applied));
    ffi_set(out, "residual", Rf_ScalarReal(info.residual));
    ffi_set(out, "converged", Rf_ScalarLogical(info.converged));
    ffi_set(out, "info", Rf_ScalarInteger(info.lapack));
    UNPROTECT(1);
    return out;
}
