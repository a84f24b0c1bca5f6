/* la_solve.c: the weighted ridge solve, n-form or p-form (see la.h). */
#include "la.h"

void la_ridge_init(la_ridge *work, int n, int p, int c, const double *x, char form)
{
    size_t N = (size_t) n, P = (size_t) p, C = (size_t) c;
    double dn = n, dp = p;

    work->n = n;
    work->p = p;
    work->c = c;
    work->p_form = form == 'p' ||
                   (form == 'a' && dp * dp * dp / 3 < dn * dn * dp + dn * dn * dn / 3);
    if (work->p_form) {
        work->k = ufs_dalloc(P, P);
        work->gram = ufs_dalloc(P, P);
        work->y = NULL;
        work->z = ufs_dalloc(P, C);
    } else {
        work->k = ufs_dalloc(N, N);
        work->gram = NULL;
        work->y = ufs_dalloc(N, P);
        work->z = ufs_dalloc(N, C);
    }
    la_ridge_set_x(work, x);
}

void la_ridge_set_x(la_ridge *work, const double *x)
{
    work->x = x;
    if (work->p_form) la_gram('T', work->n, work->p, x, work->gram);
}

int la_ridge_solve(la_ridge *work, const double *t, const double *g, double lambda, double *v)
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
        la_gemm('T', 'N', p, c, n, 1.0, work->x, n, t, n, 0.0, z, p);
        for (size_t j = 0; j < C; j++)
            for (size_t i = 0; i < P; i++) z[i + j * P] *= sqrt(g[i]);
        la_chol_solve(p, c, k, z);
        for (size_t j = 0; j < C; j++)
            for (size_t i = 0; i < P; i++) v[i + j * P] = sqrt(g[i]) * z[i + j * P];
        return 0;
    }

    for (size_t j = 0; j < P; j++) {
        double gj = sqrt(g[j]);
        for (size_t i = 0; i < N; i++) work->y[i + j * N] = work->x[i + j * N] * gj;
    }
    la_gram('N', n, p, work->y, k);
    for (size_t i = 0; i < N; i++) k[i + i * N] += lambda;
    info = la_chol(n, k);
    if (info) return info;
    ufs_copy(z, t, N * C);
    la_chol_solve(n, c, k, z);
    la_gemm('T', 'N', p, c, n, 1.0, work->y, n, z, n, 0.0, v, p);
    for (size_t j = 0; j < C; j++)
        for (size_t i = 0; i < P; i++) v[i + j * P] *= sqrt(g[i]);
    return 0;
}
