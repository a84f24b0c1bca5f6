/* graph_mult.c: products of a graph's matrices with a few vectors (graph.h). */
#include "graph.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

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
