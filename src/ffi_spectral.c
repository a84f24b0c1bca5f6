/* ffi_spectral.c: Laplacian score, SPEC and MCFS. */
#include "ffi_util.h"
#include "base_laplacian.h"
#include "base_mcfs.h"
#include "base_spec.h"

SEXP ffi_laplacian(SEXP graph, SEXP x)
{
    graph_csr g = ffi_graph_csr(graph);
    int p = Rf_ncols(x);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, p));
    laplacian_scores(&g, p, REAL_RO(x), ufs_dalloc((size_t) g.n, 1), REAL(out));
    UNPROTECT(1);
    return out;
}

SEXP ffi_spec_quadratic(SEXP graph, SEXP x, SEXP power, SEXP center)
{
    graph_csr g = ffi_graph_csr(graph);
    int p = Rf_ncols(x);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, p));
    spec_quadratic(&g, p, REAL_RO(x), Rf_asInteger(power), Rf_asLogical(center) == 1,
                   REAL(out));
    UNPROTECT(1);
    return out;
}

/* x has the rows of the nodes that are not isolated, as `vectors` of ffi_graph_embed. */
SEXP ffi_spec_leading(SEXP graph, SEXP x, SEXP power, SEXP values, SEXP vectors)
{
    graph_csr g = ffi_graph_csr(graph), used;
    int p = Rf_ncols(x), m = Rf_ncols(vectors);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, p));
    graph_drop_isolated(&g, &used, ufs_ialloc((size_t) g.n));
    if (used.n != Rf_nrows(x) || used.n != Rf_nrows(vectors))
        Rf_error("internal error: sizes of graph and matrix differ");
    spec_leading(&used, p, REAL_RO(x), Rf_asInteger(power), m, REAL_RO(values),
                 REAL_RO(vectors), REAL(out));
    UNPROTECT(1);
    return out;
}

/* m non-trivial eigenpairs of the normalised Laplacian on the non-isolated nodes. */
SEXP ffi_graph_embed(SEXP graph, SEXP m_)
{
    static const char *const names[] = {"values", "vectors", "degree", "n_zero", "next_value",
                                        "info", "iterations", "residual", "converged", NULL};
    graph_csr g = ffi_graph_csr(graph), used;
    int m = Rf_asInteger(m_);
    SEXP out = PROTECT(ffi_list(names));
    graph_embed_info info;

    graph_drop_isolated(&g, &used, ufs_ialloc((size_t) g.n));
    graph_embed(&used, m, ffi_set_vector(out, "values", m),
                ffi_set_matrix(out, "vectors", used.n, m), &info);
    ufs_copy(ffi_set_vector(out, "degree", used.n), used.degree, (size_t) used.n);
    ffi_set(out, "n_zero", Rf_ScalarInteger(info.n_zero));
    ffi_set(out, "next_value", Rf_ScalarReal(info.next));
    ffi_set(out, "info", Rf_ScalarInteger(info.lapack));
    ffi_set(out, "iterations", Rf_ScalarInteger(info.iterations));
    ffi_set(out, "residual", Rf_ScalarReal(info.residual));
    ffi_set(out, "converged", Rf_ScalarLogical(info.converged));
    UNPROTECT(1);
    return out;
}

SEXP ffi_mcfs(SEXP x, SEXP y, SEXP card, SEXP ridge, SEXP control)
{
    static const char *const names[] = {"coef", "penalty", "status", "iterations", "kkt",
                                        "trace", NULL};
    mcfs_problem prob = {.n = Rf_nrows(x), .p = Rf_ncols(x), .c = Rf_ncols(y)};
    mcfs_settings set = {.card = Rf_asInteger(card), .ridge = Rf_asReal(ridge),
                         .max_iter = ffi_int(control, "max_iter")};
    SEXP out = PROTECT(ffi_list(names));
    ffi_hook_data data;
    ufs_hook hook = ffi_hook(control, "mcfs", &data);
    mcfs_info info;

    prob.x = REAL_RO(x);
    prob.y = ffi_data(y, (size_t) prob.n * (size_t) prob.c, "y");
    info.penalty = ffi_set_vector(out, "penalty", prob.c);
    mcfs_solve(&prob, &set, &hook, ffi_set_matrix(out, "coef", prob.p, prob.c), &info);
    ffi_set(out, "status", Rf_ScalarInteger((int) info.status));
    ffi_set(out, "iterations", Rf_ScalarInteger(info.iterations));
    ffi_set(out, "kkt", Rf_ScalarReal(info.kkt));
    ffi_set_trace(out, "trace", &info.trace);
    UNPROTECT(1);
    return out;
}
