/* graph_embed.c: the bottom of the spectrum of a graph's normalised Laplacian, through the
 * top of N = D^{-1/2} W D^{-1/2} (l = 1 - mu), in [-1, 1]. Null vectors are known in closed
 * form and deflated; eig_few() finds the others. */
#include "graph.h"

/* D^{-1/2} W D^{-1/2}; its degrees are not needed. */
static graph_csr normalised(const graph_csr *g)
{
    double *w = ufs_dalloc((size_t) g->start[g->n], 1);
    for (int i = 0; i < g->n; i++)
        for (int e = g->start[i]; e < g->start[i + 1]; e++)
            w[e] = g->w[e] / sqrt(g->degree[i]) / sqrt(g->degree[g->col[e]]);
    return (graph_csr){.n = g->n, .start = g->start, .col = g->col, .w = w};
}

/* What is left of the indicator of component j after v and the components before it:
 * with s_i = sqrt(vol_i) and r = the later components, a e_j + b sum_r s_i e_i, e_i the
 * unit vectors D^{1/2} 1_i / s_i. */
static void contrast(const graph_csr *g, const int *component, const double *volume,
                     int n_components, int j, double *u)
{
    double later = 0.0, a, b;
    for (int i = j + 1; i < n_components; i++) later += volume[i];
    a = sqrt(later / (later + volume[j]));
    b = -a * sqrt(volume[j]) / later;
    for (int i = 0; i < g->n; i++) {
        double root = sqrt(g->degree[i]);
        u[i] = component[i] < j ? 0.0 : component[i] == j ? a * root / sqrt(volume[j]) : b * root;
    }
}

static void apply_weights(const void *data, int m, const double *x, double *y)
{
    graph_mult(data, false, m, x, y);
}

static void recur_weights(const void *data, int m, int steps, const double *c, double *x)
{
    graph_recur(data, false, m, steps, c, x);
}

void graph_embed(const graph_csr *g, int m, double *l, double *u, graph_embed_info *info)
{
    int n = g->n;
    size_t N = (size_t) n;
    int *component = ufs_ialloc(N), pieces = graph_components(g, component);
    /* Null vectors beyond those asked for are not needed, however many there are. */
    int all_zero = pieces - 1, n_zero = all_zero < m ? all_zero : m, n_more;
    double *known = ufs_dalloc(N, (size_t) n_zero + 1), *volume = ufs_dzero((size_t) pieces, 1),
           total = 0.0;
    graph_csr op = normalised(g);

    for (int i = 0; i < n; i++) {
        total += g->degree[i];
        volume[component[i]] += g->degree[i];
    }
    for (int i = 0; i < n; i++) known[i] = sqrt(g->degree[i] / total);
    for (int j = 0; j < n_zero; j++)
        contrast(g, component, volume, pieces, j, known + (size_t) (j + 1) * N);

    *info = (graph_embed_info){.n_zero = n_zero, .eigs = {.converged = true}};
    for (int j = 0; j < n_zero; j++) l[j] = 0.0;
    ufs_copy(u, known + N, N * (size_t) n_zero);
    info->next = m == n - 1 ? R_PosInf : 0.0;

    /* One pair more than asked for, to see whether the cut goes through a tie. */
    n_more = m - n_zero + 1;
    if (n_more > n - pieces) n_more = n - pieces;
    if (m < all_zero || n_more <= 0) return;
    double *mu = ufs_dalloc((size_t) n_more, 1), *vectors = ufs_dalloc(N, (size_t) n_more);
    eig_problem a = {.n = n,
                     .k = n_more,
                     .apply = apply_weights,
                     .recur = recur_weights,
                     .data = &op,
                     .low = -1.0,
                     .high = 1.0,
                     .n_known = n_zero + 1,
                     .known = known,
                     .proof = true,
                     .tol = 1e-11,
                     .max_iter = 300};
    eig_few(&a, mu, vectors, &info->eigs);
    for (int j = n_zero; j < m; j++) l[j] = 1.0 - mu[j - n_zero];
    if (m > n_zero) ufs_copy(u + (size_t) n_zero * N, vectors, N * (size_t) (m - n_zero));
    if (m < n - 1) info->next = 1.0 - mu[m - n_zero];
}
