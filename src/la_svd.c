/* la_svd.c: the thin singular value decomposition, QR and LQ. */
#include "la.h"
#include <R_ext/Memory.h>

int la_svd_thin(int n, int p, double *a, double *u, double *s, double *vt)
{
    char job = 'S';
    int r = n < p ? n : p, info = 0, lwork = -1;
    double opt = 0.0, *work;
    void *mark = vmaxget();
    int *iwork = ufs_ialloc(8 * (size_t) r);

    if (!la_finite((size_t) n * (size_t) p, a)) return LA_NOT_FINITE;

    F77_CALL(dgesdd)(&job, &n, &p, a, &n, s, u, &n, vt, &r, &opt, &lwork, iwork, &info FCONE);
    lwork = (int) opt;
    work = ufs_dalloc((size_t) lwork, 1);
    F77_CALL(dgesdd)(&job, &n, &p, a, &n, s, u, &n, vt, &r, work, &lwork, iwork, &info FCONE);
    vmaxset(mark);
    return info;
}

int la_qr(int n, int p, double *a, double *tau)
{
    int info = 0, lwork = -1;
    double opt = 0.0, *work;
    void *mark = vmaxget();

    F77_CALL(dgeqrf)(&n, &p, a, &n, tau, &opt, &lwork, &info);
    lwork = (int) opt;
    work = ufs_dalloc((size_t) lwork, 1);
    F77_CALL(dgeqrf)(&n, &p, a, &n, tau, work, &lwork, &info);
    vmaxset(mark);
    return info;
}
