/* la_svd.c: the thin singular value decomposition, QR and LQ. */
#include "la.h"
#include <R_ext/Memory.h>

int la_svd_thin(int n, int p, const double *a, double *u, double *s, double *vt)
{
    char job = 'S';
    int r = n < p ? n : p, info = 0, lwork = -1;
    size_t len = (size_t) n * (size_t) p;
    double opt = 0.0, opt_old = 0.0, *work, *copy;
    void *mark = vmaxget();
    int *iwork;

    if (!la_finite(len, a)) return LA_NOT_FINITE;
    iwork = ufs_ialloc(8 * (size_t) r);
    copy = ufs_dalloc(len, 2);
    ufs_copy(copy, a, len);
    ufs_copy(copy + len, a, len);
    F77_CALL(dgesdd)(&job, &n, &p, copy, &n, s, u, &n, vt, &r, &opt, &lwork, iwork, &info FCONE);
    F77_CALL(dgesvd)
    (&job, &job, &n, &p, copy, &n, s, u, &n, vt, &r, &opt_old, &lwork, &info FCONE FCONE);
    lwork = (int) fmax(opt, opt_old);
    work = ufs_dalloc((size_t) lwork, 1);
    F77_CALL(dgesdd)(&job, &n, &p, copy, &n, s, u, &n, vt, &r, work, &lwork, iwork, &info FCONE);
    /* dgesdd can fail to converge where the older dgesvd does not. */
    if (info) F77_CALL(dgesvd)
    (&job, &job, &n, &p, copy + len, &n, s, u, &n, vt, &r, work, &lwork, &info FCONE FCONE);
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
