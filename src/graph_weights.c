/* graph_weights.c: the sparse weight matrix from neighbour lists (graph.h). p flops per edge for
 * cosines; memory 32 nk bytes beside the result. */
#include "graph.h"

typedef struct {
    int neighbour;
    double d2;
} arc;

/* What cosines need: rows of either kind and their norms; no norms: d2 holds the cosines. */
typedef struct {
    int p;
    const double *row; /* p x n; NULL: sparse */
    sparse_rows sparse;
    double *norm;
} cosines;

static void set_cosines(const ufs_x *x, cosines *rows)
{
    int n = x->n, p = x->p;

    rows->norm = ufs_dalloc((size_t) n, 1);
    if (x->kind == UFS_X_SPARSE) {
        rows->sparse = sparse_rows_of(x);
        sparse_rows_center(&rows->sparse);
        for (int i = 0; i < n; i++)
            rows->norm[i] = sqrt(fmax(0.0, sparse_rows_dot(&rows->sparse, i, i)));
    } else {
        double *row = ufs_dalloc((size_t) p, (size_t) n);
        ufs_x_by_rows(x, NULL, row);
        la_col_norms(p, n, row, rows->norm);
        rows->row = row;
    }
}

/* By a counting sort; lists of the transpose begin at at[0..n]. */
static void transpose_arcs(int n, const int *start, const arc *from, int *at, arc *to)
{
    memset(at, 0, ((size_t) n + 1) * sizeof(int));
    for (int e = 0; e < start[n]; e++) at[from[e].neighbour + 1]++;
    for (int i = 0; i < n; i++) at[i + 1] += at[i];
    for (int i = 0; i < n; i++)
        for (int e = start[i]; e < start[i + 1]; e++)
            to[at[from[e].neighbour]++] = (arc){i, from[e].d2};
    /* Each is now where the next one begins. */
    memmove(at + 1, at, (size_t) n * sizeof(int));
    at[0] = 0;
}

static double weight_of(graph_weights weights, double bandwidth, double d2, const cosines *rows,
                        int i, int j)
{
    size_t p = (size_t) rows->p;
    const double *norm = rows->norm;
    if (weights == GRAPH_BINARY) return 1.0;
    if (weights == GRAPH_HEAT) {
        double ratio = sqrt(d2) / bandwidth;
        return exp(-0.5 * ratio * ratio);
    }
    if (norm == NULL) return fmax(0.0, d2);
    double dot = rows->row ? la_dot(rows->p, rows->row + (size_t) i * p, rows->row + (size_t) j * p)
                           : sparse_rows_dot(&rows->sparse, i, j);
    /* In two steps, as a product of norms could overflow; the same ones for (j, i). */
    double large = fmax(norm[i], norm[j]), small = fmin(norm[i], norm[j]);
    return small > 0.0 ? fmax(0.0, dot / large / small) : 0.0;
}

void graph_from_knn(const graph_knn *knn, const ufs_x *x, graph_weights weights, double bandwidth,
                    graph_symmetrise rule, graph_csr *out)
{
    int n = knn->n, k = knn->k;
    size_t N = (size_t) n, K = (size_t) k, edges = N * K, most = 2 * edges;
    int *start = ufs_ialloc(N + 1), *col = ufs_ialloc(most);
    double *w = ufs_dalloc(most, 1), *degree = ufs_dalloc(N, 1);

    *out = (graph_csr){n, start, col, w, degree};
    void *mark = vmaxget();
    cosines rows = {.p = x ? x->p : 0};
    if (weights == GRAPH_COSINE && x) set_cosines(x, &rows);
    /* Transposed twice by counting sorts, the lists come out sorted. */
    arc *mine = (arc *) R_alloc(edges, sizeof(arc)), *theirs = (arc *) R_alloc(edges, sizeof(arc));
    int *from = ufs_ialloc(N + 1), *at = ufs_ialloc(N + 1);
    for (size_t i = 0; i <= N; i++) from[i] = (int) (i * K);
    for (size_t e = 0; e < edges; e++) mine[e] = (arc){knn->index[e], knn->d2[e]};
    transpose_arcs(n, from, mine, at, theirs);
    transpose_arcs(n, at, theirs, from, mine);

    int used = 0;
    for (int i = 0; i < n; i++) {
        const arc *a = mine + (size_t) i * K, *a_end = a + K;
        const arc *b = theirs + at[i], *b_end = theirs + at[i + 1];
        start[i] = used;
        while (a < a_end || b < b_end) {
            bool from_a = a < a_end && (b == b_end || a->neighbour <= b->neighbour);
            bool from_b = b < b_end && (a == a_end || b->neighbour <= a->neighbour);
            const arc *e = from_a ? a : b;
            bool mutual = from_a && from_b;
            if (mutual || rule != GRAPH_MIN) {
                double value = weight_of(weights, bandwidth, e->d2, &rows, i, e->neighbour);
                if (rule == GRAPH_MEAN) {
                    if (mutual)
                        value += weight_of(weights, bandwidth, b->d2, &rows, i, b->neighbour);
                    value *= 0.5;
                }
                if (value > 0.0) {
                    col[used] = e->neighbour;
                    w[used++] = value;
                }
            }
            a += from_a;
            b += from_b;
        }
    }
    start[n] = used;
    vmaxset(mark);
    graph_degrees(out, degree);
}
