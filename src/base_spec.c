/* base_spec.c: SPEC (Zhao, Liu, ICML 2007), g(l) = l^q.
 *
 * L^ = D^{-1/2} L D^{-1/2} with eigenpairs (l_j, u_j), u_1 = v the trivial one;
 * f^ = D^{1/2} f / |D^{1/2} f|, a_j = f^'u_j, x n x p (the paper's matrix is transposed):
 *   phi1 = f^'L^^q f^
 *   phi2 = phi1 / (1 - (f^'v)^2): phi1 of the D-centred f, since L^ v = 0
 *   phi3 = sum_{j=2..k} (2^q - l_j^q) a_j^2, only the k - 1 smallest l_j.
 * phi1 and phi2 need no eigenvectors: h = L^^(q/2) f^, then h'h, or h'L^h by the edges.
 * q nnz p flops, memory 3n; phi3 2npk flops beside the eigenvectors. */
#include "base_spec.h"
#include "base_laplacian.h"
#include "la.h"

static void quadratic_column(void *data, int j, const double *column);
static void leading_column(void *data, int j, const double *f);
static void apply_normalised_laplacian(const graph_csr *g, const double *root, double *f,
                                       double *work);

typedef struct {
    const graph_csr *g;
    int power;
    bool center;
    double *f, *work, *root, *phi;
} quadratic;

void spec_quadratic(const graph_csr *g, const ufs_x *x, int power, bool center, double *phi)
{
    size_t N = (size_t) g->n;
    quadratic q = {g, power, center, ufs_dalloc(N, 1), ufs_dalloc(N, 1), ufs_dalloc(N, 1), phi};

    for (int i = 0; i < g->n; i++) q.root[i] = g->degree[i] > 0.0 ? 1.0 / sqrt(g->degree[i]) : 0.0;
    ufs_x_each_column(x, quadratic_column, &q);
}

static void quadratic_column(void *data, int j, const double *column)
{
    quadratic *q = data;
    const graph_csr *g = q->g;
    int n = g->n;
    double ss = 0.0, *f = q->f;

    if (q->center) {
        ss = laplacian_center(g, column, f);
    } else {
        ufs_copy(f, column, (size_t) n);
        for (int i = 0; i < n; i++) ss += g->degree[i] * f[i] * f[i];
    }
    if (!(ss > 0.0)) {
        q->phi[j] = R_NaN;
        return;
    }
    /* f stands for D^{-1/2} h throughout. */
    for (int s = 0; s < q->power / 2; s++) apply_normalised_laplacian(g, q->root, f, q->work);
    if (q->power % 2 == 1) {
        q->phi[j] = graph_quadratic(g, f) / ss;
    } else {
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += g->degree[i] * f[i] * f[i];
        q->phi[j] = sum / ss;
    }
}

/* h <- L^ h for f = D^{-1/2} h: f <- D^{-1} L f. */
static void apply_normalised_laplacian(const graph_csr *g, const double *root, double *f,
                                       double *work)
{
    graph_laplacian_mult(g, 1, f, work);
    for (int i = 0; i < g->n; i++) f[i] = root[i] * root[i] * work[i];
}

typedef struct {
    const graph_csr *g;
    int power, m;
    const double *l, *u;
    double *h, *a, *phi;
} leading;

void spec_leading(const graph_csr *g, const ufs_x *x, int power, int m, const double *l,
                  const double *u, double *phi)
{
    leading s = {g, power, m, l, u, ufs_dalloc((size_t) g->n, 1), ufs_dalloc((size_t) m, 1), phi};
    ufs_x_each_column(x, leading_column, &s);
}

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
