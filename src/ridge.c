/* ridge.c: the weighted ridge solve, n-form or p-form (see ridge.h). */
#include "ridge.h"
#include "la.h"

void ridge_init(ridge_work *work, int c, const ufs_x *x, char form)
{
    double n = x->n, p = x->p;
    size_t side;

    work->n = x->n;
    work->p = x->p;
    work->c = c;
    work->p_form = form == 'p' || (form == 'a' && p * p * p / 3 < n * n * p + n * n * n / 3);
    side = (size_t) (work->p_form ? x->p : x->n);
    work->k = ufs_dalloc(side, side);
    work->gram = work->p_form ? ufs_dalloc(side, side) : NULL;
    work->z = ufs_dalloc(side, (size_t) c);
    ridge_set_x(work, x);
}

void ridge_set_x(ridge_work *work, const ufs_x *x)
{
    work->x = *x;
    if (work->p_form) ufs_x_gram_cols(x, work->gram);
}

int ridge_solve(ridge_work *work, const double *t, const double *g, double lambda, double *v)
{
    int n = work->n, p = work->p, c = work->c, info;
    size_t N = (size_t) n, P = (size_t) p, C = (size_t) c;
    double *k = work->k, *z = work->z;

    if (work->p_form) {
        for (size_t j = 0; j < P; j++) {
            double gj = sqrt(g[j]);
            for (size_t i = 0; i <= j; i++) k[i + j * P] = sqrt(g[i]) * work->gram[i + j * P] * gj;
            k[j + j * P] += lambda;
        }
        info = la_chol(p, k);
        if (info) return info;
        ufs_x_cross(&work->x, c, t, z);
        for (size_t j = 0; j < C; j++)
            for (size_t i = 0; i < P; i++) z[i + j * P] *= sqrt(g[i]);
        la_chol_solve(p, c, k, z);
        for (size_t j = 0; j < C; j++)
            for (size_t i = 0; i < P; i++) v[i + j * P] = sqrt(g[i]) * z[i + j * P];
        return 0;
    }

    ufs_x_gram_rows(&work->x, g, k);
    for (size_t i = 0; i < N; i++) k[i + i * N] += lambda;
    info = la_chol(n, k);
    if (info) return info;
    ufs_copy(z, t, N * C);
    la_chol_solve(n, c, k, z);
    ufs_x_cross(&work->x, c, z, v);
    la_scale_rows(p, c, g, v, v);
    return 0;
}
