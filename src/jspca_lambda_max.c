/* jspca_lambda_max.c: the smallest penalty at which JSPCA's Q-step gives Q = 0 at the residual X.
 *
 *   over features  2 max_i || (X'X A^{1/2})_i || = 2 max_i sqrt(x_i' (XAX') x_i)
 *   over samples   2 max_i || (X'WX)_i ||        = 2 max_i sqrt((W x_i)' XX' (W x_i))
 *
 * with A and W = diag(1/(2||x_i||)) of the columns or rows of X; on the right through an n x n
 * matrix, for n <= p: 4n^2 p flops; on the left for p < n: 2np^2. Each row over the factor of its
 * penalty; rows without one do not count. */
#include "jspca.h"

/* What the square of row i's value is divided by. */
static double square_factor(const double *factor, int i)
{
    return factor == NULL ? 1.0 : factor[i] == 0.0 ? R_PosInf : factor[i] * factor[i];
}

/* Columns i of X'DX, as many at a time as fit into 16 MB, as each block is a pass over a source;
 * D = W, or I and their entries are weighted by A^{1/2}. */
static double top_row_of_gram(const ufs_x *x, const double *weight, bool sample,
                              const double *factor)
{
    size_t N = (size_t) x->n, P = (size_t) x->p, at_once = ((size_t) 1 << 21) / (N + P);
    int width = at_once < 8 ? 8 : at_once < P ? (int) at_once : x->p;
    int *index = ufs_ialloc((size_t) width);
    double *block = ufs_dalloc(N, (size_t) width), *image = ufs_dalloc(P, (size_t) width);
    double top = 0.0;

    for (int start = 0; start < x->p; start += width) {
        int m = x->p - start < width ? x->p - start : width;
        R_CheckUserInterrupt();
        for (int j = 0; j < m; j++) index[j] = start + j;
        ufs_x_columns(x, m, index, block);
        if (sample) la_scale_rows(x->n, m, weight, block, block);
        ufs_x_cross(x, m, block, image);
        for (size_t j = 0; j < (size_t) m; j++) {
            double ss = 0.0;
            for (size_t i = 0; i < P; i++)
                ss += image[i + j * P] * image[i + j * P] * (sample ? 1.0 : weight[i]);
            top = fmax(top, ss / square_factor(factor, start + (int) j));
        }
    }
    return sqrt(top);
}

/* max_i sqrt(x_i'K x_i), K = XAX', or over samples WXX'W. Of a sparse column the entries alone
 * (ufs_x_forms). */
static double top_form(const ufs_x *x, const double *weight, bool sample, const double *factor)
{
    int n = x->n, index[UFS_STRIP], waiting = 0;
    size_t N = (size_t) n;
    double *k = ufs_dalloc(N, N), *form = ufs_dalloc((size_t) x->p, 1), top = 0.0;
    double *v = ufs_dalloc(N, UFS_STRIP), *kv = ufs_dalloc(N, UFS_STRIP);

    ufs_x_gram_rows(x, sample ? NULL : weight, k);
    for (size_t j = 0; sample && j < N; j++)
        for (size_t i = 0; i < N; i++) k[i + j * N] *= weight[i] * weight[j];
    ufs_x_forms(x, k, form);
    for (int j = 0; j < x->p; j++) {
        if (R_FINITE(form[j]))
            top = fmax(top, form[j] / square_factor(factor, j));
        else
            index[waiting++] = j;
        if (waiting == 0 || (waiting < UFS_STRIP && j < x->p - 1)) continue;
        R_CheckUserInterrupt();
        ufs_x_columns(x, waiting, index, v);
        la_mul('N', 'N', n, waiting, n, 1.0, k, v, 0.0, kv);
        for (size_t l = 0; l < (size_t) waiting; l++)
            top = fmax(top, la_dot(n, v + l * N, kv + l * N) / square_factor(factor, index[l]));
        waiting = 0;
    }
    return sqrt(top);
}

double jspca_lambda_max(const ufs_x *x, bool sample, const double *factor)
{
    int m = sample ? x->n : x->p;
    double *weight = ufs_dalloc((size_t) m, 1);

    /* A or W at Q = 0; a zero row or column has no weight. */
    if (sample)
        ufs_x_row_ss(x, weight);
    else
        ufs_x_ss(x, weight);
    for (int i = 0; i < m; i++) weight[i] = weight[i] > 0.0 ? 0.5 / sqrt(weight[i]) : 0.0;
    return 2.0 * (x->p >= x->n ? top_form : top_row_of_gram)(x, weight, sample, factor);
}
