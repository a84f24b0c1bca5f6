/* la_polar.c: the orthonormal (Procrustes) factor of a thin matrix. */
#include "la.h"

void la_polar_init(la_polar_work *w, int n, int c)
{
    size_t N = (size_t) n, C = (size_t) c;
    *w = (la_polar_work){n, c, ufs_dalloc(N, C), ufs_dalloc(C, C), ufs_dalloc(C, 1)};
}

int la_polar(la_polar_work *w, const double *a, const double *e_old, double *e)
{
    int n = w->n, c = w->c, info = la_svd_thin(n, c, a, w->u, w->s, w->vt);

    if (info == 0 && e_old != NULL && w->s[c - 1] <= UFS_ROUNDING * w->s[0]) {
        double delta = w->s[0] > 0.0 ? 1e-8 * w->s[0] : 1.0;
        for (size_t i = 0; i < (size_t) n * (size_t) c; i++) w->u[i] = a[i] + delta * e_old[i];
        info = la_svd_thin(n, c, w->u, w->u, w->s, w->vt);
    }
    if (info == 0) la_gemm('N', 'N', n, c, c, 1.0, w->u, n, w->vt, c, 0.0, e, n);
    return info;
}
