/* la_polar.c: the orthonormal (Procrustes) factor of a thin matrix. */
#include "la.h"

static int thin_svd(la_polar_work *w);

void la_polar_init(la_polar_work *w, int n, int c)
{
    size_t N = (size_t) n, C = (size_t) c;
    la_polar_init_in(w, n, c, ufs_dalloc(N, C), ufs_dalloc(N, C));
}

void la_polar_init_in(la_polar_work *w, int n, int c, double *a, double *u)
{
    size_t C = (size_t) c;
    int info = 0, query = -1;
    double opt_sdd = 0.0, opt_svd = 0.0;
    char job = 'S';

    w->n = n;
    w->c = c;
    w->a = a;
    w->u = u;
    w->vt = ufs_dalloc(C, C);
    w->s = ufs_dalloc(C, 1);
    w->iwork = ufs_ialloc(8 * C);
    F77_CALL(dgesdd)
    (&job, &n, &c, w->a, &n, w->s, w->u, &n, w->vt, &c, &opt_sdd, &query, w->iwork, &info FCONE);
    F77_CALL(dgesvd)
    (&job, &job, &n, &c, w->a, &n, w->s, w->u, &n, w->vt, &c, &opt_svd, &query, &info FCONE FCONE);
    w->lwork = (int) fmax(opt_sdd, opt_svd);
    w->work = ufs_dalloc((size_t) w->lwork, 1);
}

int la_polar(la_polar_work *w, const double *a, const double *e_old, double *e)
{
    int n = w->n, c = w->c, info;
    size_t N = (size_t) n, C = (size_t) c;
    char job = 'S';

    ufs_copy(w->a, a, N * C);
    info = thin_svd(w);
    if (info == 0 && e_old != NULL && w->s[c - 1] <= 1e-12 * w->s[0]) {
        double delta = w->s[0] > 0.0 ? 1e-8 * w->s[0] : 1.0;
        for (size_t j = 0; j < C; j++)
            for (size_t i = 0; i < N; i++) w->u[i + j * N] *= w->s[j];
        la_gemm('N', 'N', n, c, c, 1.0, w->u, n, w->vt, c, 0.0, w->a, n);
        for (size_t i = 0; i < N * C; i++) w->a[i] += delta * e_old[i];
        info = thin_svd(w);
    }
    if (info != 0 && info != LA_NOT_FINITE) {
        /* dgesdd can fail to converge where the older dgesvd does not. */
        ufs_copy(w->a, a, N * C);
        F77_CALL(dgesvd)
        (&job, &job, &n, &c, w->a, &n, w->s, w->u, &n, w->vt, &c, w->work, &w->lwork,
         &info FCONE FCONE);
    }
    if (info == 0) la_gemm('N', 'N', n, c, c, 1.0, w->u, n, w->vt, c, 0.0, e, n);
    return info;
}

static int thin_svd(la_polar_work *w)
{
    char job = 'S';
    int info = 0;
    if (!la_finite((size_t) w->n * (size_t) w->c, w->a)) return LA_NOT_FINITE;
    F77_CALL(dgesdd)
    (&job, &w->n, &w->c, w->a, &w->n, w->s, w->u, &w->n, w->vt, &w->c, w->work, &w->lwork, w->iwork,
     &info FCONE);
    return info;
}
