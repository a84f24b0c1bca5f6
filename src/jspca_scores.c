/* jspca_scores.c: for JSPCA over many samples of few features (see jspca_scores.h).
 *
 * V are the r eigenvectors of X'X that are not in its null space. W^{1/2} X and C V' have the same
 * inner products, and one has n rows, the other r. Memory: n r + 2 p r + 2 r^2 + p^2 + ROWS r. */
#include "jspca_scores.h"
#include "la.h"

enum { ROWS = 256, MANY = 4 };

bool jspca_scores_pay(const ufs_x *x, int k)
{
    return x->kind == UFS_X_DENSE && x->p <= x->n / MANY && x->p <= 8 * k;
}

int jspca_scores_init(jspca_scores *work, const ufs_x *x, int k)
{
    int n = x->n, p = x->p, info, first = 0;
    size_t P = (size_t) p, K = (size_t) k, R;
    double *gram = ufs_dalloc(P, P), *value = ufs_dalloc(P, 1), *vector = ufs_dalloc(P, P);

    *work = (jspca_scores){.n = n, .p = p, .k = k};
    ufs_x_gram_cols(x, gram);
    if ((info = la_eig_range(p, gram, 1, p, value, vector))) return info;
    while (first < p && value[first] <= 1e-13 * value[p - 1]) first++;
    if (p - first < k || !(value[first] > 1e-9 * value[p - 1])) return 0;
    work->r = p - first;
    R = (size_t) work->r;
    work->v = vector + (size_t) first * P;
    work->sigma = value + first;
    for (size_t j = 0; j < R; j++) work->sigma[j] = sqrt(work->sigma[j]);
    work->s = ufs_dalloc((size_t) n, R);
    work->gram = ufs_dalloc(R, R);
    work->root = ufs_dalloc(R, R);
    work->small = ufs_dzero(R, P);
    work->tile = ufs_dalloc(R, ROWS > 2 * K ? ROWS : 2 * K);
    work->x = ufs_x_dense(work->r, p, work->small);
    la_gemm('N', 'N', n, work->r, p, 1.0, x->dense, n, work->v, p, 0.0, work->s, n);
    return 0;
}

int jspca_scores_weigh(jspca_scores *work, const double *weight)
{
    int n = work->n, p = work->p, r = work->r, info = 0;
    size_t N = (size_t) n, R = (size_t) r;
    double top = 0.0, root[ROWS];

    memset(work->gram, 0, R * R * sizeof(double));
    for (int from = 0; from < n; from += ROWS) {
        int rows = n - from < ROWS ? n - from : ROWS;
        size_t M = (size_t) rows;
        for (size_t i = 0; i < M; i++) root[i] = sqrt(weight[(size_t) from + i]);
        for (size_t j = 0; j < R; j++)
            for (size_t i = 0; i < M; i++)
                work->tile[i + j * M] = root[i] * work->s[(size_t) from + i + j * N];
        la_syrk('T', r, rows, 1.0, work->tile, rows, 1.0, work->gram, r);
    }
    la_fill_lower(r, work->gram);
    for (size_t j = 0; j < R; j++) top = fmax(top, work->gram[j + j * R]);
    /* Weights of very different size may leave it indefinite by rounding. */
    for (double lift = 0.0; lift < 1e-6; lift = fmax(10.0 * lift, 1e-15)) {
        ufs_copy(work->root, work->gram, R * R);
        for (size_t j = 0; j < R; j++) work->root[j + j * R] += lift * top;
        if ((info = la_chol(r, work->root)) == 0) break;
    }
    if (info) return info;
    la_transpose(p, r, work->v, work->small);
    la_trmm('L', 'U', 'N', r, p, 1.0, work->root, r, work->small, r);
    return 0;
}

void jspca_scores_times(jspca_scores *work, const double *a, double *inner, double *out)
{
    int n = work->n, p = work->p, k = work->k, r = work->r;

    if (inner == NULL) inner = work->tile;
    la_gemm('T', 'N', r, k, p, 1.0, work->v, p, a, p, 0.0, inner, r);
    la_gemm('N', 'N', n, k, r, 1.0, work->s, n, inner, r, 0.0, out, n);
}

void jspca_scores_weighted(jspca_scores *work, const double *a, double *out)
{
    int p = work->p, k = work->k, r = work->r;
    double *inner = work->tile, *weighted = inner + (size_t) r * (size_t) k;

    la_gemm('T', 'N', r, k, p, 1.0, work->v, p, a, p, 0.0, inner, r);
    la_gemm('N', 'N', r, k, r, 1.0, work->gram, r, inner, r, 0.0, weighted, r);
    la_gemm('N', 'N', p, k, r, 1.0, work->v, p, weighted, r, 0.0, out, p);
}
