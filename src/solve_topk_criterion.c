/* solve_topk_criterion.c: what the selection of top-k minimises for given labels and graph,
 *   g(S) = min over A of ||A V x' - Y||^2 + lambda_a ||A||^2 + lambda_i tr(A V x' L x V A')
 *        = ||Y||^2 - tr(B_S'(K_SS + lambda_a I)^{-1} B_S),   V = diag(1_S), Y c x n one-hot,
 * with K = x'(I + lambda_i L)x and B = x'Y' (p x c). Dense form (p <= n): K itself, n p^2 (and
 * n^2 p for the graph) to make, k^3/3 + k^2 c per value. Low-rank form: K = f'f, B = f'h with
 * f = R x (r x p, r = n), h = R^{-T}Y', R'R = I + lambda_i L (R = I without a graph):
 * n^2 p + n^3/3 to make, n k^2 + k^3/3 per value; nothing p x p.
 * Memory: dense p x p (2 p x p for the bound), low rank n x p and n x n with a graph. */
#include "solve_topk_criterion.h"
#include "la.h"
#include <R_ext/Utils.h>
#include <stdlib.h>

enum { STRIP = 64 };

static int factor_subset(topk_criterion *g, const int *subset);

void topk_criterion_init(topk_criterion *g, int n, int p, int c, int k, const double *x,
                         double lambda_a, bool graph, char form, bool factor)
{
    size_t N = (size_t) n, P = (size_t) p, C = (size_t) c, K = (size_t) k, R;

    g->n = n;
    g->p = p;
    g->c = c;
    g->k = k;
    g->x = x;
    g->lambda_a = lambda_a;
    g->dense = form == 'p' || (form == 'a' && p <= n);
    g->r = g->dense ? p : n;
    R = (size_t) g->r;
    g->b = ufs_dalloc(P, C);
    g->diag = ufs_dalloc(P, 1);
    g->kmat = g->dense ? ufs_dalloc(P, P) : NULL;
    g->f_own = (g->dense && factor) || (!g->dense && graph) ? ufs_dalloc(R, P) : NULL;
    g->h_own = !g->dense || factor ? ufs_dalloc(R, C) : NULL;
    g->f = g->f_own;
    g->h = g->h_own;
    g->chol = graph ? ufs_dalloc(N, g->dense ? P : N) : NULL;
    g->small = ufs_dalloc(K, K);
    g->cols = g->dense ? NULL : ufs_dalloc(R, K);
    g->bs = ufs_dalloc(K, C);
}

int topk_criterion_set(topk_criterion *g, const int *label, const double *weights, double lambda_i)
{
    size_t n = (size_t) g->n, p = (size_t) g->p, c = (size_t) g->c;
    bool graph = weights != NULL && lambda_i > 0.0;
    int lapack = 0;

    /* B: sums of the samples of each class. */
    memset(g->b, 0, p * c * sizeof(double));
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < n; i++) g->b[j + (size_t) (label[i] - 1) * p] += g->x[i + j * n];
    g->yy = (double) g->n;
    g->b_norm = sqrt(la_ss(p * c, g->b));

    if (g->dense) {
        la_gram('T', g->n, g->p, g->x, g->kmat);
        if (graph) {
            /* chol = L x = D x - W x, n x p. */
            for (size_t i = 0; i < n; i++) {
                double degree = 0.0;
                for (size_t l = 0; l < n; l++) degree += weights[l + i * n];
                for (size_t j = 0; j < p; j++) g->chol[i + j * n] = degree * g->x[i + j * n];
            }
            la_gemm_checked('N', 'N', g->n, g->p, g->n, -1.0, weights, g->n, g->x, g->n, 1.0,
                            g->chol, g->n);
            la_gemm_checked('T', 'N', g->p, g->p, g->n, lambda_i, g->x, g->n, g->chol, g->n, 1.0,
                            g->kmat, g->p);
            for (size_t j = 0; j < p; j++)
                for (size_t i = 0; i < j; i++)
                    g->kmat[i + j * p] = g->kmat[j + i * p] = 0.5 * (g->kmat[i + j * p] +
                                                                     g->kmat[j + i * p]);
        }
        for (size_t j = 0; j < p; j++) g->diag[j] = g->kmat[j + j * p];
        return 0;
    }

    memset(g->h_own, 0, n * c * sizeof(double));
    for (size_t i = 0; i < n; i++) g->h_own[i + (size_t) (label[i] - 1) * n] = 1.0;
    if (graph) {
        for (size_t j = 0; j < n; j++) {
            double degree = 0.0;
            for (size_t i = 0; i < n; i++) {
                degree += weights[i + j * n];
                g->chol[i + j * n] = -lambda_i * weights[i + j * n];
            }
            g->chol[j + j * n] += 1.0 + lambda_i * degree;
        }
        lapack = la_chol_checked(g->n, g->chol);
        if (lapack) return lapack;
        la_tri_solve('T', g->n, g->c, g->chol, g->h_own);
        ufs_copy(g->f_own, g->x, n * p);
        for (int from = 0; from < g->p; from += STRIP) {
            R_CheckUserInterrupt();
            la_trmm('L', 'U', 'N', g->n, g->p - from < STRIP ? g->p - from : STRIP, 1.0, g->chol,
                    g->n, g->f_own + (size_t) from * n, g->n);
        }
        g->f = g->f_own;
    } else {
        g->f = g->x;
    }
    for (size_t j = 0; j < p; j++) g->diag[j] = la_ss(n, g->f + j * n);
    return 0;
}

/* K = V diag(d) V': f = d^{1/2} V', h = d^{-1/2} V'B; directions with no more than
 * rounding are zero in both (B lies in the range of K). 10p^3 flops. */
int topk_criterion_factor(topk_criterion *g)
{
    size_t p = (size_t) g->p, c = (size_t) g->c;
    double *vec, *val;
    int lapack;

    if (!g->dense) return 0;
    vec = ufs_dalloc(p, p);
    val = ufs_dalloc(p, 1);
    ufs_copy(g->f_own, g->kmat, p * p);
    lapack = la_eig_range(g->p, g->f_own, 1, g->p, val, vec);
    if (lapack) return lapack;
    la_gemm('T', 'N', g->p, g->c, g->p, 1.0, vec, g->p, g->b, g->p, 0.0, g->h_own, g->p);
    for (size_t i = 0; i < p; i++) {
        bool keep = val[i] > 1e-13 * (double) g->p * val[p - 1];
        double root = keep ? sqrt(val[i]) : 0.0;
        for (size_t j = 0; j < p; j++) g->f_own[i + j * p] = root * vec[j + i * p];
        for (size_t j = 0; j < c; j++) g->h_own[i + j * p] *= keep ? 1.0 / root : 0.0;
    }
    return 0;
}

/* small = chol(K_SS + lambda_a I), bs = B_S. */
static int factor_subset(topk_criterion *g, const int *subset)
{
    size_t k = (size_t) g->k, p = (size_t) g->p, r = (size_t) g->r, c = (size_t) g->c;

    if (g->dense) {
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < k; i++)
                g->small[i + j * k] = g->kmat[(size_t) subset[i] + (size_t) subset[j] * p];
    } else {
        for (size_t j = 0; j < k; j++) ufs_copy(g->cols + j * r, g->f + (size_t) subset[j] * r, r);
        la_gram('T', g->r, g->k, g->cols, g->small);
    }
    for (size_t j = 0; j < k; j++) g->small[j + j * k] += g->lambda_a;
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < k; i++) g->bs[i + l * k] = g->b[(size_t) subset[i] + l * p];
    return la_chol_checked(g->k, g->small);
}

double topk_criterion_value(topk_criterion *g, const int *subset)
{
    if (factor_subset(g, subset)) return R_PosInf;
    la_tri_solve('T', g->k, g->c, g->small, g->bs);
    return g->yy - la_ss((size_t) g->k * (size_t) g->c, g->bs);
}

int topk_criterion_coef(topk_criterion *g, const int *subset, double *a)
{
    size_t k = (size_t) g->k, p = (size_t) g->p, c = (size_t) g->c;
    int lapack = factor_subset(g, subset);
    if (lapack) return lapack;
    la_chol_solve(g->k, g->c, g->small, g->bs);
    memset(a, 0, p * c * sizeof(double));
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < k; i++) a[(size_t) subset[i] + l * p] = g->bs[i + l * k];
    return 0;
}

void topk_criterion_columns(const topk_criterion *g, const int *subset, int m, double *scratch,
                            double *out)
{
    size_t p = (size_t) g->p, r = (size_t) g->r;
    if (g->dense) {
        for (size_t j = 0; j < (size_t) m; j++)
            ufs_copy(out + j * p, g->kmat + (size_t) subset[j] * p, p);
        return;
    }
    for (size_t j = 0; j < (size_t) m; j++)
        ufs_copy(scratch + j * r, g->f + (size_t) subset[j] * r, r);
    la_gemm_checked('T', 'N', g->p, m, g->r, 1.0, g->f, g->r, scratch, g->r, 0.0, out, g->p);
}

/* ---- order ----------------------------------------------------------------------- */

static int by_entry(const void *x, const void *y)
{
    const topk_entry *a = x, *b = y;
    if (a->first != b->first) return a->first > b->first ? -1 : 1;
    if (a->second != b->second) return a->second > b->second ? -1 : 1;
    return a->index < b->index ? -1 : (a->index > b->index);
}

static int by_index(const void *x, const void *y)
{
    int a = *(const int *) x, b = *(const int *) y;
    return a < b ? -1 : (a > b);
}

void topk_best(int p, int k, topk_entry *entry, int *subset)
{
    qsort(entry, (size_t) p, sizeof(topk_entry), by_entry);
    for (int i = 0; i < k; i++) subset[i] = entry[i].index;
    qsort(subset, (size_t) k, sizeof(int), by_index);
}
