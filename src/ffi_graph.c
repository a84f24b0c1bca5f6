/* ffi_graph.c: neighbour graphs for R. An R graph is a list whose element `weights` is a
 * list(start, index, value): the CSR arrays of graph.h, 0-based. */
#include "ffi_util.h"
#include "graph.h"

/* list(index, d2), both k x n: column i holds the neighbours of sample i, 1-based; and `last`. */
static SEXP neighbour_lists(const graph_knn *knn, const char *names, const char *last, double value)
{
    size_t len = (size_t) knn->n * (size_t) knn->k;
    SEXP out = PROTECT(ffi_list(names));
    int *index = INTEGER(ffi_set(out, "index", Rf_allocMatrix(INTSXP, knn->k, knn->n)));
    for (size_t e = 0; e < len; e++) index[e] = knn->index[e] + 1;
    ufs_copy(ffi_set_matrix(out, "d2", knn->k, knn->n), knn->d2, len);
    *ffi_set_vector(out, last, 1) = value;
    UNPROTECT(1);
    return out;
}

/* x: no source. */
SEXP ffi_graph_knn(SEXP x_, SEXP k_)
{
    ufs_x x = ffi_x_finite(x_);
    if (x.kind == UFS_X_SOURCE) Rf_error("internal error: neighbours need rows");
    graph_knn knn;
    ufs_hook hook = ffi_watch();
    graph_knn_search(&x, ffi_whole(k_, 1, x.n - 1, "k"), &hook, &knn);
    return neighbour_lists(&knn, "index d2 mean_distance", "mean_distance", knn.mean_distance);
}

SEXP ffi_graph_products(SEXP gram_, SEXP k_)
{
    ffi_mat gram = ffi_matrix(gram_, "gram");
    if (gram.n != gram.p) Rf_error("internal error: gram is not square");
    graph_knn knn;
    ufs_hook hook = ffi_watch();
    graph_knn_products(gram.n, gram.x, ffi_whole(k_, 1, gram.n - 1, "k"), &hook, &knn);
    return neighbour_lists(&knn, "index d2 mean_distance", "mean_distance", knn.mean_distance);
}

/* The same by an approximate search, with its recall in the place of mean_distance. */
SEXP ffi_graph_near(SEXP x_, SEXP k_)
{
    ufs_x x = ffi_x_finite(x_);
    int k = ffi_whole(k_, 1, x.n - 1, "k");
    graph_knn knn;

    if (x.kind != UFS_X_DENSE && x.kind != UFS_X_SCALED)
        Rf_error("internal error: neighbours need rows");
    ufs_hook hook = ffi_watch();
    return neighbour_lists(&knn, "index d2 recall", "recall", graph_knn_near(&x, k, &hook, &knn));
}

static void set_description(SEXP out, const graph_csr *g)
{
    double *degree = ffi_set_vector(out, "degree", g->n);
    int *component = ffi_set_ints(out, "component", g->n), isolated = 0;

    graph_degrees(g, degree);
    *ffi_set_ints(out, "n_components", 1) = graph_components(g, component);
    for (int i = 0; i < g->n; i++) {
        component[i]++;
        isolated += !(degree[i] > 0.0);
    }
    *ffi_set_ints(out, "n_isolated", 1) = isolated;
}

/* The graph of neighbour lists: index and d2 k x n, column i those of sample i (1-based), distinct and
 * without i; x, no source, for cosines, or NULL: d2 then holds these. finite:
 * FALSE, and nothing else, where a distance or the bandwidth of heat weights is not positive. */
SEXP ffi_graph_lists(SEXP x_, SEXP index_, SEXP d2_, SEXP weights, SEXP bandwidth_, SEXP rule_)
{
    ffi_mat d2 = ffi_table(d2_, "d2");
    ufs_x x = x_ == R_NilValue ? ufs_x_dense(d2.p, 0, NULL) : ffi_x_finite(x_);
    int n = x.n, k = d2.n, *seen = ufs_ialloc((size_t) n);
    int kind = ffi_whole(weights, GRAPH_HEAT, GRAPH_COSINE, "weights");
    int rule = ffi_whole(rule_, GRAPH_MAX, GRAPH_MEAN, "rule");
    double bandwidth = Rf_asReal(bandwidth_);
    size_t len = (size_t) n * (size_t) k;
    bool finite = kind != GRAPH_HEAT || (R_FINITE(bandwidth) && bandwidth > 0.0);
    graph_knn knn = {.n = n, .k = k, .index = ufs_ialloc(len), .d2 = ufs_dalloc(len, 1)};
    graph_csr g;

    if (x.kind == UFS_X_SOURCE || d2.p != n || k > n - 1 || !Rf_isInteger(index_) ||
        (size_t) Rf_xlength(index_) != len)
        Rf_error("internal error: sizes of neighbour lists differ");
    for (size_t e = 0; e < len; e++) {
        int own = (int) (e / (size_t) k) + 1, j = INTEGER_RO(index_)[e];
        if (j < 1 || j > n || j == own) Rf_error("internal error: a neighbour is out of range");
        if (seen[j - 1] == own) Rf_error("internal error: a neighbour occurs twice");
        seen[j - 1] = own;
        knn.index[e] = j - 1;
        knn.d2[e] = d2.x[e];
        finite = finite && R_FINITE(d2.x[e]);
    }
    SEXP out = PROTECT(
        ffi_list("start index value degree component n_components n_isolated finite"));
    ffi_set(out, "finite", Rf_ScalarLogical(finite));
    if (finite) {
        graph_from_knn(&knn, x.p > 0 ? &x : NULL, (graph_weights) kind, bandwidth,
                       (graph_symmetrise) rule, &g);
        int edges = g.start[n];
        memcpy(ffi_set_ints(out, "start", n + 1), g.start, ((size_t) n + 1) * sizeof(int));
        memcpy(ffi_set_ints(out, "index", edges), g.col, (size_t) edges * sizeof(int));
        ufs_copy(ffi_set_vector(out, "value", edges), g.w, (size_t) edges);
        set_description(out, &g);
    }
    UNPROTECT(1);
    return out;
}

/* Fills g but for its degrees; false unless it is safe to walk over: types and lengths, row starts that
 * ascend and indices in range. */
static bool read_csr(SEXP start, SEXP index, SEXP value, graph_csr *g)
{
    if (TYPEOF(start) != INTSXP || TYPEOF(index) != INTSXP || TYPEOF(value) != REALSXP)
        return false;
    R_xlen_t n = Rf_xlength(start) - 1, edges = Rf_xlength(index);
    if (n < 1 || n > INT_MAX || edges > INT_MAX || Rf_xlength(value) != edges) return false;
    const int *from = INTEGER_RO(start), *col = INTEGER_RO(index);
    if (from[0] != 0 || from[n] != (int) edges) return false;
    for (R_xlen_t i = 0; i < n; i++)
        if (from[i + 1] < from[i]) return false;
    for (R_xlen_t e = 0; e < edges; e++)
        if (col[e] < 0 || col[e] >= n) return false;
    *g = (graph_csr){.n = (int) n, .start = from, .col = col, .w = REAL_RO(value)};
    return true;
}

/* Of a matrix that came from the user, columns ascending within rows. */
SEXP ffi_graph_describe(SEXP start, SEXP index, SEXP value)
{
    graph_csr g;
    if (!read_csr(start, index, value, &g)) Rf_error("internal error: not a sparse matrix");
    SEXP out = PROTECT(ffi_list("degree component n_components n_isolated asymmetry"));
    set_description(out, &g);
    *ffi_set_vector(out, "asymmetry", 1) = graph_asymmetry(&g);
    UNPROTECT(1);
    return out;
}

/* What is wrong with the graph, NULL if nothing; g is filled as far as its types allow. */
static const char *read_graph(SEXP graph, graph_csr *g)
{
    SEXP w = Rf_isNewList(graph) ? ffi_get(graph, "weights") : R_NilValue;
    SEXP degree = Rf_isNewList(graph) ? ffi_get(graph, "degree") : R_NilValue;
    if (!Rf_isNewList(w) || TYPEOF(degree) != REALSXP) return "parts are missing";
    SEXP start = ffi_get(w, "start"), index = ffi_get(w, "index"), value = ffi_get(w, "value");
    if (!read_csr(start, index, value, g)) return "row starts, indices and weights do not fit";
    if (Rf_xlength(start) != Rf_xlength(degree) + 1) return "degrees do not fit the rows";
    g->degree = REAL_RO(degree);
    return graph_check(g);
}

graph_csr ffi_graph_csr(SEXP graph)
{
    graph_csr g;
    const char *wrong = read_graph(graph, &g);
    if (wrong != NULL) Rf_error("internal error: not a graph: %s", wrong);
    return g;
}

graph_csr ffi_graph_for(SEXP graph, int n)
{
    graph_csr g = ffi_graph_csr(graph);
    if (g.n != n) Rf_error("internal error: sizes of graph and matrix differ");
    return g;
}

/* What is wrong with a graph object, as a string; NULL if nothing. */
SEXP ffi_graph_check(SEXP graph)
{
    graph_csr g;
    const char *wrong = read_graph(graph, &g);
    return wrong == NULL ? R_NilValue : Rf_mkString(wrong);
}

/* W X, or L X. */
SEXP ffi_graph_mult(SEXP graph, SEXP x_, SEXP laplacian)
{
    ffi_mat x = ffi_matrix(x_, "x");
    graph_csr g = ffi_graph_for(graph, x.n);
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, x.n, x.p));
    graph_mult(&g, ffi_yes(laplacian, "laplacian"), x.p, x.x, REAL(out));
    UNPROTECT(1);
    return out;
}

/* m non-trivial eigenpairs of the normalised Laplacian on the non-isolated nodes. */
SEXP ffi_graph_embed(SEXP graph, SEXP m_)
{
    graph_csr g = ffi_graph_csr(graph), used;
    graph_drop_isolated(&g, &used, ufs_ialloc((size_t) g.n));
    int m = ffi_whole(m_, 1, used.n - 1, "m");
    SEXP out = PROTECT(
        ffi_list("values vectors degree n_zero next_value lapack iterations residual converged"));
    graph_embed_info info;

    graph_embed(&used, m, ffi_set_vector(out, "values", m),
                ffi_set_matrix(out, "vectors", used.n, m), &info);
    ufs_copy(ffi_set_vector(out, "degree", used.n), used.degree, (size_t) used.n);
    ffi_set(out, "n_zero", Rf_ScalarInteger(info.n_zero));
    ffi_set(out, "next_value", Rf_ScalarReal(info.next));
    ffi_set(out, "lapack", Rf_ScalarInteger(info.eigs.lapack));
    ffi_set(out, "iterations", Rf_ScalarInteger(info.eigs.iterations));
    ffi_set(out, "residual", Rf_ScalarReal(info.eigs.residual));
    ffi_set(out, "converged", Rf_ScalarLogical(info.eigs.converged));
    UNPROTECT(1);
    return out;
}
