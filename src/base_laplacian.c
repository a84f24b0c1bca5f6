/* base_laplacian.c: Laplacian score (He, Cai, Niyogi, NIPS 2005).
 *
 *   score_j = f~'L f~ / f~'D f~,   f~ = f - (f'D1 / 1'D1) 1,   in [0, 2], small = good.
 *
 * x n x p (the paper's matrix is transposed), W sparse symmetric n x n, L = D - W. The
 * numerator is sum over edges of w_ij (f_i - f_j)^2: no cancellation. About
 * 2 nnz p + 8 n p flops, memory n. */
#include "base_laplacian.h"

typedef struct {
    const graph_csr *g;
    double *work, *score;
} scoring;

static void score_column(void *data, int j, const double *column)
{
    scoring *s = data;
    double den = laplacian_center(s->g, column, s->work);
    s->score[j] = den > 0.0 ? graph_quadratic(s->g, s->work) / den : R_NaN;
}

void laplacian_scores(const graph_csr *g, const ufs_x *x, double *work, double *score)
{
    scoring s = {g, work, score};
    ufs_x_each_column(x, score_column, &s);
}

double laplacian_center(const graph_csr *g, const double *f, double *out)
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
