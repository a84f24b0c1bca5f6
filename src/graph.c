/* graph.c: whether a graph is one, what it says, and products of its matrices with a few vectors
 * (graph.h). */
#include "graph.h"

const char *graph_check(const graph_csr *g)
{
    double top = 0.0;

    for (int i = 0; i < g->n; i++) {
        double sum = 0.0;
        for (int e = g->start[i]; e < g->start[i + 1]; e++) {
            if (g->col[e] == i) return "a sample is its own neighbour";
            if (e > g->start[i] && g->col[e] <= g->col[e - 1]) return "indices do not ascend";
            if (!R_FINITE(g->w[e]) || g->w[e] < 0.0)
                return "a weight is negative, missing or infinite";
            sum += g->w[e];
            top = fmax(top, g->w[e]);
        }
        if (g->degree != NULL && !(fabs(sum - g->degree[i]) <= 1e-8 * sum))
            return "degrees are not the sums of the weights";
    }
    return graph_asymmetry(g) <= 1e-8 * top ? NULL : "weights are not symmetric";
}

double graph_asymmetry(const graph_csr *g)
{
    double worst = 0.0;
    for (int i = 0; i < g->n; i++)
        for (int e = g->start[i]; e < g->start[i + 1]; e++) {
            /* Binary search of column i in row j. */
            int j = g->col[e], low = g->start[j], high = g->start[j + 1];
            while (low < high) {
                int middle = low + (high - low) / 2;
                if (g->col[middle] < i)
                    low = middle + 1;
                else
                    high = middle;
            }
            bool there = low < g->start[j + 1] && g->col[low] == i;
            worst = fmax(worst, fabs(g->w[e] - (there ? g->w[low] : 0.0)));
        }
    return worst;
}

void graph_degrees(const graph_csr *g, double *degree)
{
    for (int i = 0; i < g->n; i++) {
        double sum = 0.0;
        for (int e = g->start[i]; e < g->start[i + 1]; e++) sum += g->w[e];
        degree[i] = sum;
    }
}

int graph_components(const graph_csr *g, int *component)
{
    int n = g->n, count = 0;
    void *mark = vmaxget();
    int *stack = ufs_ialloc((size_t) n);
    for (int i = 0; i < n; i++) component[i] = -1;
    for (int root = 0; root < n; root++) {
        int depth = 0;
        if (component[root] >= 0) continue;
        component[root] = count;
        stack[depth++] = root;
        while (depth > 0) {
            int i = stack[--depth];
            for (int e = g->start[i]; e < g->start[i + 1]; e++)
                if (component[g->col[e]] < 0) {
                    component[g->col[e]] = count;
                    stack[depth++] = g->col[e];
                }
        }
        count++;
    }
    vmaxset(mark);
    return count;
}

void graph_drop_isolated(const graph_csr *g, graph_csr *out, int *node)
{
    size_t N = (size_t) g->n, edges = (size_t) g->start[g->n];
    int *renamed = ufs_ialloc(N), kept = 0, used = 0;
    int *start = ufs_ialloc(N + 1), *col = ufs_ialloc(edges);
    double *w = ufs_dalloc(edges, 1), *degree = ufs_dalloc(N, 1);

    for (int i = 0; i < g->n; i++)
        if (g->degree[i] > 0.0) {
            renamed[i] = kept;
            node[kept++] = i;
        }
    for (int i = 0; i < kept; i++) {
        start[i] = used;
        degree[i] = g->degree[node[i]];
        for (int e = g->start[node[i]]; e < g->start[node[i] + 1]; e++) {
            col[used] = renamed[g->col[e]];
            w[used++] = g->w[e];
        }
    }
    start[kept] = used;
    *out = (graph_csr){kept, start, col, w, degree};
}

/* ---- products -------------------------------------------------------------------------- */

/* Columns that share one reading of an edge. */
enum { LANES = 8 };

/* before <- c_0 A now + c_1 now + c_2 before, A = W, or -L with laplacian: LANES columns
 * interleaved, so that the rows that an edge joins lie together, and its index is read once. */
static void recur_lanes(const graph_csr *g, bool laplacian, const double *c,
                        const double *restrict now, double *restrict before)
{
    for (int i = 0; i < g->n; i++) {
        double sum[LANES] = {0.0}, from[LANES] = {0.0};
        const double *mine = now + (size_t) i * LANES;
        double *to = before + (size_t) i * LANES;
        if (laplacian) memcpy(from, mine, sizeof from);
        /* sum of w (x_j - x_i): no cancellation, unlike W x - D x. */
        for (int e = g->start[i]; e < g->start[i + 1]; e++) {
            const double *other = now + (size_t) g->col[e] * LANES;
            double w = g->w[e];
            for (int l = 0; l < LANES; l++) sum[l] += w * (other[l] - from[l]);
        }
        for (int l = 0; l < LANES; l++) to[l] = c[0] * sum[l] + c[1] * mine[l] + c[2] * to[l];
    }
}

void graph_recur(const graph_csr *g, bool laplacian, int m, int steps, const double *c, double *x)
{
    size_t N = (size_t) g->n, M = (size_t) m;
    void *mark = vmaxget();
    double *now = ufs_dalloc(N, LANES), *before = ufs_dalloc(N, LANES);

    for (size_t j = 0; j < M; j += LANES) {
        size_t width = M - j < LANES ? M - j : LANES;
        for (size_t i = 0; i < N; i++)
            for (size_t l = 0; l < LANES; l++) {
                now[i * LANES + l] = l < width ? x[i + (j + l) * N] : 0.0;
                before[i * LANES + l] = 0.0;
            }
        for (int d = 0; d < steps; d++) {
            double *swap = now;
            R_CheckUserInterrupt();
            recur_lanes(g, laplacian, c + 3 * d, now, before);
            now = before;
            before = swap;
        }
        for (size_t i = 0; i < N; i++)
            for (size_t l = 0; l < width; l++) x[i + (j + l) * N] = now[i * LANES + l];
    }
    vmaxset(mark);
}

void graph_mult(const graph_csr *g, bool laplacian, int m, const double *x, double *y)
{
    ufs_copy(y, x, (size_t) g->n * (size_t) m);
    graph_recur(g, laplacian, m, 1, (const double[]){laplacian ? -1.0 : 1.0, 0.0, 0.0}, y);
}

double graph_quadratic(const graph_csr *g, const double *f)
{
    double sum = 0.0;
    for (int i = 0; i < g->n; i++) {
        double mine = f[i];
        /* Columns ascend: from the back, the edges to later nodes come first. */
        for (int e = g->start[i + 1] - 1; e >= g->start[i] && g->col[e] > i; e--) {
            double d = mine - f[g->col[e]];
            sum += g->w[e] * d * d;
        }
    }
    return sum;
}
