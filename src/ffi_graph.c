/* ffi_graph.c: neighbour graphs for R. An R graph is a list whose element `weights` is a
 * list(start, index, value): the CSR arrays of graph.h, 0-based. */
#include "ffi_util.h"
#include "graph.h"

static void set_description(SEXP out, const graph_csr *g);

/* list(index, d2), both k x n: column i holds the neighbours of sample i, 1-based. */
SEXP ffi_graph_knn(SEXP x, SEXP k_)
{
    static const char *const names[] = {"index", "d2", "mean_distance", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x), k = Rf_asInteger(k_);
    size_t len = (size_t) n * (size_t) k;
    SEXP out = PROTECT(ffi_list(names));
    graph_knn knn;

    graph_knn_search(n, p, REAL_RO(x), k, true, &knn);
    SEXP index = PROTECT(Rf_allocMatrix(INTSXP, k, n));
    for (size_t e = 0; e < len; e++) INTEGER(index)[e] = knn.index[e] + 1;
    ffi_set(out, "index", index);
    ufs_copy(ffi_set_matrix(out, "d2", k, n), knn.d2, len);
    *ffi_set_vector(out, "mean_distance", 1) = knn.mean_distance;
    UNPROTECT(2);
    return out;
}

/* bandwidth: a positive number, or NA for the mean distance. */
SEXP ffi_graph_build(SEXP x, SEXP k, SEXP weights, SEXP bandwidth_, SEXP rule)
{
    static const char *const names[] = {
        "start", "index", "value", "degree", "component", "n_components", "n_isolated",
        "bandwidth", "finite", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x), kind = Rf_asInteger(weights);
    double bandwidth = Rf_asReal(bandwidth_);
    bool automatic = kind == GRAPH_HEAT && ISNAN(bandwidth);
    SEXP out = PROTECT(ffi_list(names));
    graph_knn knn;
    graph_csr g;

    graph_knn_search(n, p, REAL_RO(x), Rf_asInteger(k), automatic, &knn);
    if (automatic) bandwidth = knn.mean_distance;
    bool finite = !automatic || (R_FINITE(bandwidth) && bandwidth > 0.0);
    for (size_t e = 0; e < (size_t) n * (size_t) knn.k; e++)
        if (!R_FINITE(knn.d2[e])) finite = false;
    ffi_set(out, "finite", Rf_ScalarLogical(finite));
    if (finite) {
        graph_from_knn(&knn, p, REAL_RO(x), (graph_weights) kind, bandwidth,
                       (graph_symmetrise) Rf_asInteger(rule), &g);
        size_t edges = (size_t) g.start[n];
        memcpy(ffi_set_ints(out, "start", n + 1), g.start, ((size_t) n + 1) * sizeof(int));
        if (edges > 0)
            memcpy(ffi_set_ints(out, "index", g.start[n]), g.col, edges * sizeof(int));
        else
            ffi_set_ints(out, "index", 0);
        ufs_copy(ffi_set_vector(out, "value", g.start[n]), g.w, edges);
        set_description(out, &g);
        ffi_set(out, "bandwidth", Rf_ScalarReal(kind == GRAPH_HEAT ? bandwidth : NA_REAL));
    }
    UNPROTECT(1);
    return out;
}

/* Of a matrix that came from the user, columns ascending within rows. */
SEXP ffi_graph_describe(SEXP start, SEXP index, SEXP value)
{
    static const char *const names[] = {"degree", "component", "n_components", "n_isolated",
                                        "asymmetry", NULL};
    SEXP out = PROTECT(ffi_list(names));
    graph_csr g = {.n = (int) Rf_xlength(start) - 1, .start = INTEGER_RO(start),
                   .col = INTEGER_RO(index), .w = REAL_RO(value), .degree = NULL};
    set_description(out, &g);
    *ffi_set_vector(out, "asymmetry", 1) = graph_asymmetry(&g);
    UNPROTECT(1);
    return out;
}

static void set_description(SEXP out, const graph_csr *g)
{
    graph_csr full = *g;
    double *degree = ffi_set_vector(out, "degree", g->n);
    int *component = ffi_set_ints(out, "component", g->n);

    graph_degrees(g, degree);
    full.degree = degree;
    *ffi_set_ints(out, "n_components", 1) = graph_components(g, component);
    *ffi_set_ints(out, "n_isolated", 1) = graph_isolated(&full);
    for (int i = 0; i < g->n; i++) component[i]++;
}

graph_csr ffi_graph_csr(SEXP graph)
{
    SEXP w = ffi_get(graph, "weights"), degree = ffi_get(graph, "degree");
    SEXP start = ffi_get(w, "start"), index = ffi_get(w, "index"), value = ffi_get(w, "value");
    if (TYPEOF(start) != INTSXP || TYPEOF(index) != INTSXP || TYPEOF(value) != REALSXP ||
        TYPEOF(degree) != REALSXP || Rf_xlength(start) != Rf_xlength(degree) + 1 ||
        Rf_xlength(index) != Rf_xlength(value) ||
        INTEGER_RO(start)[Rf_xlength(degree)] != (int) Rf_xlength(index))
        Rf_error("internal error: not a graph");
    graph_csr g = {.n = (int) Rf_xlength(degree), .start = INTEGER_RO(start),
                   .col = INTEGER_RO(index), .w = REAL_RO(value), .degree = REAL_RO(degree)};
    return g;
}

/* W X, or L X. */
SEXP ffi_graph_mult(SEXP graph, SEXP x, SEXP laplacian)
{
    graph_csr g = ffi_graph_csr(graph);
    int m = Rf_ncols(x);
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, g.n, m));
    if (Rf_nrows(x) != g.n) Rf_error("internal error: sizes of graph and matrix differ");
    if (Rf_asLogical(laplacian) == 1) graph_laplacian_mult(&g, m, REAL_RO(x), REAL(out));
    else graph_mult(&g, m, REAL_RO(x), REAL(out));
    UNPROTECT(1);
    return out;
}
