/* jspca_lambda_max.c: the smallest penalty at which JSPCA's Q-step gives Q = 0 (see solve_jspca.h).
 *
 *   over features  2 max_i || (X'X A^{1/2})_i || = 2 max_i sqrt(x_i' (XAX') x_i)
 *   over samples   2 max_i || (X'WX)_i ||        = 2 max_i sqrt((W x_i)' XX' (W x_i))
 *
 * on the right through an n x n matrix, for n <= p: 2n^2 p flops; on the left for p < n: np^2 over
 * features (p^2 memory), 2np^2 over samples. */
#include "la.h"
#include "solve_jspca.h"
#include <R_ext/Utils.h>

static double top_row_of_gram(const ufs_x *x, const double *weight);
static double top_row_of_weighted_gram(const ufs_x *x, const double *weight);
static double top_form(const ufs_x *x, const double *weight, bool sample);

double jspca_lambda_max(const ufs_x *x, bool sample)
{
    int m = sample ? x->n : x->p;
    double *weight = ufs_dalloc((size_t) m, 1);

    /* A or W at Q = 0; a zero row or column has no weight. */
    if (sample)
        ufs_x_row_ss(x, weight);
    else
        ufs_x_ss(x, weight);
    for (int i = 0; i < m; i++) weight[i] = weight[i] > 0.0 ? 0.5 / sqrt(weight[i]) : 0.0;
    if (x->p >= x->n) return 2.0 * top_form(x, weight, sample);
    return 2.0 * (sample ? top_row_of_weighted_gram(x, weight) : top_row_of_gram(x, weight));
}

/* max_i || (X'X A^{1/2})_i ||. */
static double top_row_of_gram(const ufs_x *x, const double *weight)
{
    size_t P = (size_t) x->p;
    double *gram = ufs_dalloc(P, P), top = 0.0;

    ufs_x_gram_cols(x, gram);
    for (size_t i = 0; i < P; i++) {
        double ss = 0.0;
        for (size_t j = 0; j < P; j++) ss += gram[j + i * P] * gram[j + i * P] * weight[j];
        top = fmax(top, ss);
    }
    return sqrt(top);
}

/* max_i || (X'WX)_i ||, some columns of X at a time: as many as fit into 16 MB, as each block is a
 * pass over a source. */
static double top_row_of_weighted_gram(const ufs_x *x, const double *weight)
{
    size_t N = (size_t) x->n, P = (size_t) x->p, at_once = ((size_t) 1 << 21) / (N + P);
    int width = at_once < 8 ? 8 : at_once < P ? (int) at_once : x->p;
    int *index = ufs_ialloc((size_t) width);
    double *block = ufs_dalloc(N, (size_t) width), *image = ufs_dalloc(P, (size_t) width);
    double *norm = ufs_dalloc((size_t) width, 1), top = 0.0;

    for (int start = 0; start < x->p; start += width) {
        int m = x->p - start < width ? x->p - start : width;
        R_CheckUserInterrupt();
        for (int j = 0; j < m; j++) index[j] = start + j;
        ufs_x_columns(x, m, index, block);
        for (size_t j = 0; j < (size_t) m; j++)
            for (size_t i = 0; i < N; i++) block[i + j * N] *= weight[i];
        ufs_x_cross(x, m, block, image);
        la_col_norms(x->p, m, image, norm);
        for (int j = 0; j < m; j++) top = fmax(top, norm[j]);
    }
    return top;
}

/* max_i sqrt(x_i'K x_i), K = XAX', or over samples WXX'W. Of a sparse column the entries alone
 * (ufs_x_form). Of any other v'Kv = 2 v'Uv - sum_i k_ii v_i^2 with the upper triangle U, which
 * is half the flops of K v. */
static double top_form(const ufs_x *x, const double *weight, bool sample)
{
    enum { WIDTH = 128 };
    int n = x->n, index[WIDTH], waiting = 0;
    size_t N = (size_t) n;
    double *k = ufs_dalloc(N, N), *sum = ufs_dzero(N, 1), all = 0.0, top = 0.0;
    double *v = ufs_dalloc(N, WIDTH), *uv = ufs_dalloc(N, WIDTH);

    ufs_x_gram_rows(x, sample ? NULL : weight, k);
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) {
            if (sample) k[i + j * N] *= weight[i] * weight[j];
            sum[j] += k[i + j * N];
        }
    for (size_t i = 0; i < N; i++) all += sum[i];
    for (int j = 0; j < x->p; j++) {
        double form;
        if (ufs_x_form(x, j, k, sum, all, &form))
            top = fmax(top, form);
        else
            index[waiting++] = j;
        if (waiting == 0 || (waiting < WIDTH && j < x->p - 1)) continue;
        R_CheckUserInterrupt();
        ufs_x_columns(x, waiting, index, v);
        ufs_copy(uv, v, N * (size_t) waiting);
        la_trmm('L', 'U', 'N', n, waiting, 1.0, k, n, uv, n);
        for (size_t l = 0; l < (size_t) waiting; l++) {
            form = 2.0 * la_dot(n, v + l * N, uv + l * N);
            for (size_t i = 0; i < N; i++) form -= k[i + i * N] * v[i + l * N] * v[i + l * N];
            top = fmax(top, form);
        }
        waiting = 0;
    }
    return sqrt(top);
}
