/* ffi_blfse.c: the edge of BLFSE and of its kernels. */
#include "ffi_util.h"
#include "solve_blfse.h"
#include "la_low.h"
#include "qp_simplex.h"
#include "hadamard.h"
#include "graph_dense.h"

static blfse_problem unpack_problem(SEXP x, SEXP scores, SEXP labels, SEXP settings)
{
    blfse_problem prob = {Rf_nrows(x), Rf_ncols(x), Rf_ncols(scores),
        ffi_int(settings, "n_clusters"), REAL_RO(x), REAL_RO(scores), INTEGER_RO(labels)};
    if (Rf_nrows(scores) != prob.p || Rf_nrows(labels) != prob.m || Rf_ncols(labels) != prob.n)
        Rf_error("internal error: sizes of 'scores' or 'labels'");
    return prob;
}

static blfse_settings unpack_settings(SEXP psi, SEXP settings)
{
    blfse_settings set = {(blfse_projection) ffi_int(settings, "projection"),
        (blfse_order) ffi_int(settings, "order"), (blfse_form) ffi_int(settings, "form"),
        (int) Rf_xlength(psi), ffi_int(settings, "inner_max_iter"),
        ffi_int(settings, "max_iter"), REAL_RO(psi), ffi_real(settings, "gamma_cluster"),
        ffi_real(settings, "gamma_feature"), ffi_real(settings, "tol"),
        ffi_real(settings, "qp_tol"), ffi_int(settings, "dense_limit")};
    return set;
}

/* x n x p, scores p x m (columns on the simplex), labels m x n integers, psi in (0, 1);
 * settings: list(n_clusters, projection, order, form, inner_max_iter, max_iter,
 * gamma_cluster, gamma_feature, tol, qp_tol, dense_limit), codes as in solve_blfse.h. */
SEXP ffi_blfse(SEXP x, SEXP scores, SEXP labels, SEXP psi, SEXP settings, SEXP control)
{
    static const char *const names[] = {"v", "S", "W", "alpha", "beta", "component", "rho",
        "n_component", "ties", "p_unique", "kkt", "gap", "eigen", "iterations", "products",
        "status", "info", "trace", "history", "weights", NULL};
    SEXP out = PROTECT(ffi_list(names));
    blfse_problem prob = unpack_problem(x, scores, labels, settings);
    blfse_settings set = unpack_settings(psi, settings);
    blfse_result res;
    ffi_hook_data data;
    ufs_hook hook = ffi_hook(control, "blfse", &data);
    ufs_trace trace, history, weights;
    double most = fmin((double) set.n_psi * set.inner_max, set.max_iter);
    int sweeps = (int) fmin(most, 1e8);

    res.v = ffi_set_vector(out, "v", prob.p);
    res.s = ffi_set_matrix(out, "S", prob.n, prob.n);
    res.w = ffi_set_matrix(out, "W", prob.n, prob.n);
    res.alpha = ffi_set_vector(out, "alpha", prob.m);
    res.beta = ffi_set_vector(out, "beta", prob.m);
    res.component = ffi_set_ints(out, "component", prob.n);
    ufs_trace_init(&trace, 2 * set.n_psi + 6 * sweeps, BLFSE_TRACE_COLUMNS);
    ufs_trace_init(&history, sweeps, BLFSE_HISTORY_COLUMNS);
    ufs_trace_init(&weights, sweeps, 2 * prob.m);
    blfse_solve(&prob, &set, &hook, &trace, &history, &weights, &res);
    ffi_set(out, "rho", Rf_ScalarReal(res.rho));
    ffi_set(out, "n_component", Rf_ScalarInteger(res.n_component));
    ffi_set(out, "ties", Rf_ScalarInteger(res.ties));
    ffi_set(out, "p_unique", Rf_ScalarLogical(res.p_unique));
    ffi_set(out, "kkt", Rf_ScalarReal(res.kkt));
    ffi_set(out, "gap", Rf_ScalarReal(res.gap));
    ffi_set(out, "eigen", Rf_ScalarReal(res.eigen));
    ffi_set(out, "iterations", Rf_ScalarInteger(res.iterations));
    ffi_set(out, "products", Rf_ScalarInteger(res.products));
    ffi_set(out, "status", Rf_ScalarInteger((int) res.status));
    ffi_set(out, "info", Rf_ScalarInteger(res.info));
    ffi_set_trace(out, "trace", &trace);
    ffi_set_trace(out, "history", &history);
    ffi_set_trace(out, "weights", &weights);
    UNPROTECT(1);
    return out;
}

/* list(vectors n x k, times the square roots of their weights; lo, eq; worst residual;
 * path: 1 dense, 2 Krylov, 3 components; info). */
SEXP ffi_laplacian_low(SEXP s, SEXP c, SEXP dense_limit)
{
    static const char *const names[] = {"vectors", "lo", "eq", "worst", "path", "info", NULL};
    SEXP out = PROTECT(ffi_list(names));
    int n = Rf_nrows(s), k = 0;
    size_t N = (size_t) n;
    double *r = ufs_dalloc(N, N);
    low_work work;
    low_split split = {0, 0, 0.0};

    low_init(&work, n, Rf_asInteger(c), Rf_asInteger(dense_limit));
    ffi_set(out, "info", Rf_ScalarInteger(
        low_laplacian(&work, REAL_RO(s), ufs_dalloc(N, N), r, &k, &split)));
    ufs_copy(ffi_set_matrix(out, "vectors", n, k), r, N * (size_t) k);
    ffi_set(out, "lo", Rf_ScalarInteger(split.lo));
    ffi_set(out, "eq", Rf_ScalarInteger(split.eq));
    ffi_set(out, "worst", Rf_ScalarReal(work.worst));
    ffi_set(out, "path", Rf_ScalarInteger(
        work.n_dense ? 1 : work.n_krylov ? 2 : 3));
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_blfse_projection(SEXP x, SEXP scores, SEXP labels, SEXP psi, SEXP settings)
{
    static const char *const names[] = {"N", "v", "S", "ties", "info", NULL};
    SEXP out = PROTECT(ffi_list(names));
    blfse_problem prob = unpack_problem(x, scores, labels, settings);
    blfse_settings set = unpack_settings(psi, settings);
    blfse_result res;

    res.v = ffi_set_vector(out, "v", prob.p);
    res.s = ffi_set_matrix(out, "S", prob.n, prob.n);
    res.w = ufs_dalloc((size_t) prob.n, (size_t) prob.n);
    res.alpha = ufs_dalloc((size_t) prob.m, 1);
    res.beta = ufs_dalloc((size_t) prob.m, 1);
    res.component = ufs_ialloc((size_t) prob.n);
    blfse_first_projection(&prob, &set, &res, ffi_set_matrix(out, "N", prob.p, prob.p));
    ffi_set(out, "ties", Rf_ScalarInteger(res.ties));
    ffi_set(out, "info", Rf_ScalarInteger(res.info));
    UNPROTECT(1);
    return out;
}

/* kind "dense": parts = list(h, upper); "diagonal": list(h); "hadamard": list(f r x p,
 * rt k x p, w0, sign, scale, shift, upper). */
SEXP ffi_test_qp(SEXP kind, SEXP parts, SEXP b, SEXP start, SEXP tol)
{
    static const char *const names[] = {"v", "hv", "diag", "kkt", "rel", "gap", "products",
        "rounds", NULL};
    SEXP out = PROTECT(ffi_list(names));
    int p = (int) Rf_xlength(b);
    const char *which = CHAR(STRING_ELT(kind, 0));
    double *v = ffi_set_vector(out, "v", p), *diag = ffi_set_vector(out, "diag", p);
    double *g_diag = ufs_dzero((size_t) p, 1);
    qp_problem prob = {p, REAL_RO(b), NULL, NULL, NULL, diag, NULL};
    qp_info info;
    qp_work work;
    hadamard op;

    ufs_copy(v, REAL_RO(start), (size_t) p);
    qp_init(&work, p, strcmp(which, "dense") == 0);
    if (strcmp(which, "diagonal") == 0) {
        ufs_copy(diag, REAL_RO(ffi_get(parts, "h")), (size_t) p);
        qp_diagonal(p, diag, REAL_RO(b), &work, v, &info);
    } else {
        prob.upper = ffi_data(ffi_get(parts, "upper"), (size_t) p, "upper");
        if (strcmp(which, "dense") == 0) {
            prob.dense = REAL_RO(ffi_get(parts, "h"));
            for (int i = 0; i < p; i++) diag[i] = prob.dense[(size_t) i * ((size_t) p + 1)];
        } else {
            SEXP f = ffi_get(parts, "f"), rt = ffi_get(parts, "rt");
            hadamard_init(&op, p, Rf_nrows(f), Rf_nrows(rt));
            op.r = Rf_nrows(f);
            op.k = Rf_nrows(rt);
            op.f = REAL_RO(f);
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
        qp_simplex(&prob, Rf_asReal(tol), &work, v, &info);
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
    int n = Rf_nrows(s);
    SEXP out = PROTECT(Rf_allocVector(INTSXP, n));
    graph_dense_components(n, REAL_RO(s), Rf_asReal(threshold), INTEGER(out),
                           ufs_ialloc((size_t) n));
    UNPROTECT(1);
    return out;
}
