/* spec.c: SPEC (Zhao, Liu, ICML 2007), g(l) = l^q.
 *
 * L^ = D^{-1/2} L D^{-1/2} with eigenpairs (l_j, u_j), u_1 = v the trivial one;
 * f^ = D^{1/2} f / |D^{1/2} f|, a_j = f^'u_j, x n x p (the paper's matrix is transposed):
 *   phi1 = f^'L^^q f^
 *   phi2 = phi1 / (1 - (f^'v)^2): phi1 of the D-centred f, since L^ v = 0; for q = 1 the Laplacian
 *          score of He, Cai and Niyogi (NIPS 2005), in [0, 2], small = good:
 *          f~'L f~ / f~'D f~,   f~ = f - (f'D1 / 1'D1) 1
 *   phi3 = sum_{j=2..k} (2^q - l_j^q) a_j^2, only the k - 1 smallest l_j.
 * phi1 and phi2 need no eigenvectors: h = L^^(q/2) f^, then h'h, or h'L^h by the edges.
 * The numerator by the edges, sum w_ij (f_i - f_j)^2, does not cancel. q nnz p flops, memory 3n;
 * phi3 2npk flops beside the eigenvectors. */
#include "spec.h"

typedef struct {
    const graph_csr *g;
    int power;
    bool center;
    double *f, *work, *root, *phi;
} quadratic;

/* out = f - (f'd / 1'd) 1. Returns sum d_i out_i^2, or 0 if that is no more than rounding. */
static double centre(const graph_csr *g, const double *f, double *out)
{
    double total = 0.0, mean = 0.0, ss = 0.0, css = 0.0;
    double rounding = (double) g->n * DBL_EPSILON;
    for (int i = 0; i < g->n; i++) {
        total += g->degree[i];
        mean += g->degree[i] * f[i];
    }
    mean /= total;
    for (int i = 0; i < g->n; i++) {
        out[i] = f[i] - mean;
        ss += g->degree[i] * f[i] * f[i];
        css += g->degree[i] * out[i] * out[i];
    }
    return css > rounding * rounding * ss ? css : 0.0;
}

static void quadratic_column(void *data, int j, const double *column)
{
    quadratic *q = data;
    const graph_csr *g = q->g;
    double ss = 0.0, sum = 0.0, *f = q->f;

    if (q->center) {
        ss = centre(g, column, f);
    } else {
        ufs_copy(f, column, (size_t) g->n);
        for (int i = 0; i < g->n; i++) ss += g->degree[i] * f[i] * f[i];
    }
    /* h <- L^ h, where f stands for D^{-1/2} h: f <- D^{-1} L f. */
    for (int s = 0; s < q->power / 2; s++) {
        graph_mult(g, true, 1, f, q->work);
        for (int i = 0; i < g->n; i++) f[i] = q->root[i] * q->root[i] * q->work[i];
    }
    if (q->power % 2 == 1)
        sum = graph_quadratic(g, f);
    else
        for (int i = 0; i < g->n; i++) sum += g->degree[i] * f[i] * f[i];
    q->phi[j] = ss > 0.0 ? sum / ss : R_NaN;
}

void spec_quadratic(const graph_csr *g, const ufs_x *x, int power, bool center, double *phi)
{
    size_t N = (size_t) g->n;
    quadratic q = {g, power, center, ufs_dalloc(N, 1), ufs_dalloc(N, 1), ufs_dalloc(N, 1), phi};

    for (int i = 0; i < g->n; i++) q.root[i] = g->degree[i] > 0.0 ? 1.0 / sqrt(g->degree[i]) : 0.0;
    ufs_x_each_column(x, quadratic_column, &q);
}

typedef struct {
    const graph_csr *g;
    int power, m;
    const double *l, *u;
    double *h, *a, *phi;
} leading;

static void leading_column(void *data, int j, const double *f)
{
    leading *s = data;
    int n = s->g->n;
    double ss = 0.0, sum = 0.0;

    for (int i = 0; i < n; i++) {
        s->h[i] = sqrt(s->g->degree[i]) * f[i];
        ss += s->h[i] * s->h[i];
    }
    la_gemv('T', n, s->m, 1.0, s->u, n, s->h, 0.0, s->a);
    for (int t = 0; t < s->m; t++)
        sum += (pow(2.0, s->power) - pow(fmax(s->l[t], 0.0), s->power)) * s->a[t] * s->a[t];
    s->phi[j] = ss > 0.0 ? sum / ss : R_NaN;
}

void spec_leading(const graph_csr *g, const ufs_x *x, int power, int m, const double *l,
                  const double *u, double *phi)
{
    leading s = {g, power, m, l, u, ufs_dalloc((size_t) g->n, 1), ufs_dalloc((size_t) m, 1), phi};
    ufs_x_each_column(x, leading_column, &s);
}
