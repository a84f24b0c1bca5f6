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

static void apply_normalised_laplacian(const graph_csr *g, const double *root, double *f,
                                       double *work);

void spec_quadratic(const graph_csr *g, int p, const double *x, int power, bool center,
                    double *phi)
{
    int n = g->n;
    size_t N = (size_t) n;
    double *f = ufs_dalloc(N, 1), *work = ufs_dalloc(N, 1), *root = ufs_dalloc(N, 1);

    for (int i = 0; i < n; i++)
        root[i] = g->degree[i] > 0.0 ? 1.0 / sqrt(g->degree[i]) : 0.0;
    for (int j = 0; j < p; j++) {
        double ss = 0.0;
        if (center) {
            ss = laplacian_center(g, x + (size_t) j * N, f);
        } else {
            ufs_copy(f, x + (size_t) j * N, N);
            for (int i = 0; i < n; i++) ss += g->degree[i] * f[i] * f[i];
        }
        if (!(ss > 0.0)) {
            phi[j] = R_NaN;
            continue;
        }
        /* f stands for D^{-1/2} h throughout. */
        for (int s = 0; s < power / 2; s++) apply_normalised_laplacian(g, root, f, work);
        if (power % 2 == 1) {
            phi[j] = graph_quadratic(g, f) / ss;
        } else {
            double sum = 0.0;
            for (int i = 0; i < n; i++) sum += g->degree[i] * f[i] * f[i];
            phi[j] = sum / ss;
        }
    }
}

/* h <- L^ h for f = D^{-1/2} h: f <- D^{-1} L f. */
static void apply_normalised_laplacian(const graph_csr *g, const double *root, double *f,
                                       double *work)
{
    graph_laplacian_mult(g, 1, f, work);
    for (int i = 0; i < g->n; i++) f[i] = root[i] * root[i] * work[i];
}

void spec_leading(const graph_csr *g, int p, const double *x, int power, int m,
                  const double *l, const double *u, double *phi)
{
    int n = g->n;
    size_t N = (size_t) n;
    double *h = ufs_dalloc(N, 1), *a = ufs_dalloc((size_t) m, 1);
    for (int j = 0; j < p; j++) {
        const double *f = x + (size_t) j * N;
        double ss = 0.0, sum = 0.0;
        for (int i = 0; i < n; i++) {
            h[i] = sqrt(g->degree[i]) * f[i];
            ss += h[i] * h[i];
        }
        la_gemv('T', n, m, 1.0, u, n, h, 0.0, a);
        for (int t = 0; t < m; t++)
            sum += (pow(2.0, power) - pow(fmax(l[t], 0.0), power)) * a[t] * a[t];
        phi[j] = ss > 0.0 ? sum / ss : R_NaN;
    }
}
