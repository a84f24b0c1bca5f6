/* la_svd.c: the thin singular value decomposition, the orthonormal (Procrustes) factor of a thin
 * matrix, QR. */
#include "la.h"

int la_svd_thin(int n, int p, const double *a, double *copy, double *u, double *s, double *vt)
{
    char job = 'S';
    int r = n < p ? n : p, info = 0, lwork = -1;
    size_t len = (size_t) n * (size_t) p;
    double opt = 0.0, opt_old = 0.0, *work;
    void *mark = vmaxget();
    int *iwork;

    if (!la_finite(len, a)) return LA_NOT_FINITE;
    iwork = ufs_ialloc(8 * (size_t) r);
    ufs_copy(copy, a, len);
    F77_CALL(dgesdd)(&job, &n, &p, copy, &n, s, u, &n, vt, &r, &opt, &lwork, iwork, &info FCONE);
    F77_CALL(dgesvd)
    (&job, &job, &n, &p, copy, &n, s, u, &n, vt, &r, &opt_old, &lwork, &info FCONE FCONE);
    lwork = (int) fmax(opt, opt_old);
    work = ufs_dalloc((size_t) lwork, 1);
    F77_CALL(dgesdd)(&job, &n, &p, copy, &n, s, u, &n, vt, &r, work, &lwork, iwork, &info FCONE);
    /* dgesdd can fail to converge where the older dgesvd does not. */
    if (info) {
        ufs_copy(copy, a, len);
        F77_CALL(dgesvd)
        (&job, &job, &n, &p, copy, &n, s, u, &n, vt, &r, work, &lwork, &info FCONE FCONE);
    }
    vmaxset(mark);
    return info;
}

void la_polar_init(la_polar_work *w, int n, int c)
{
    size_t N = (size_t) n, C = (size_t) c;
    *w = (la_polar_work){.n = n, .c = c, .vt = ufs_dalloc(C, C), .s = ufs_dalloc(C, 1)};
    ufs_dalloc_each(N, C, (double **[]){&w->u, &w->copy, NULL});
}

int la_polar(la_polar_work *w, const double *a, const double *e_old, double *e)
{
    int n = w->n, c = w->c, info = la_svd_thin(n, c, a, w->copy, w->u, w->s, w->vt);

    if (info == 0 && e_old != NULL && w->s[c - 1] <= UFS_ROUNDING * w->s[0]) {
        double delta = w->s[0] > 0.0 ? 1e-8 * w->s[0] : 1.0;
        for (size_t i = 0; i < (size_t) n * (size_t) c; i++) e[i] = a[i] + delta * e_old[i];
        info = la_svd_thin(n, c, e, w->copy, w->u, w->s, w->vt);
    }
    if (info == 0) la_mul('N', 'N', n, c, c, 1.0, w->u, w->vt, 0.0, e);
    return info;
}

int la_r_factor(int n, int p, const double *x, double *r)
{
    int info = 0, lwork = -1;
    size_t N = (size_t) n, P = (size_t) p;
    double opt = 0.0, *work, *a, *tau;
    void *mark = vmaxget();

    a = ufs_dalloc(N, P);
    tau = ufs_dalloc(P, 1);
    ufs_copy(a, x, N * P);
    F77_CALL(dgeqrf)(&n, &p, a, &n, tau, &opt, &lwork, &info);
    lwork = (int) opt;
    work = ufs_dalloc((size_t) lwork, 1);
    F77_CALL(dgeqrf)(&n, &p, a, &n, tau, work, &lwork, &info);
    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < P; i++) r[i + j * P] = i <= j ? a[i + j * N] : 0.0;
    vmaxset(mark);
    return info;
}
