/* la_eig.c: some eigenpairs of a symmetric matrix. */
#include "la.h"
#include <R_ext/Memory.h>

int la_eig_range(int n, double *a, int il, int iu, double *w, double *z)
{
    char job = 'V', up = 'U', range = 'I';
    int found = 0, info = 0, lwork = -1, liwork = -1, iopt = 0;
    int k = iu - il + 1;
    double opt = 0.0, none = 0.0, *work, *values;
    void *mark = vmaxget();
    int *support = ufs_ialloc(2 * (size_t) n), *iwork;

    /* dsyevr may write n eigenvalues, though only k are asked for. */
    values = ufs_dalloc((size_t) n, 1);
    F77_CALL(dsyevr)
    (&job, &range, &up, &n, a, &n, &none, &none, &il, &iu, &none, &found, values, z, &n, support,
     &opt, &lwork, &iopt, &liwork, &info FCONE FCONE FCONE);
    lwork = (int) opt;
    liwork = iopt;
    work = ufs_dalloc((size_t) lwork, 1);
    iwork = ufs_ialloc((size_t) liwork);
    F77_CALL(dsyevr)
    (&job, &range, &up, &n, a, &n, &none, &none, &il, &iu, &none, &found, values, z, &n, support,
     work, &lwork, iwork, &liwork, &info FCONE FCONE FCONE);
    for (int i = 0; i < k; i++) w[i] = values[i];
    vmaxset(mark);
    if (info == 0 && found != k) info = 1;
    return info;
}

int la_eig_values(int n, double *a, double *w)
{
    char job = 'N', up = 'U';
    int lwork = -1, info = 0;
    double opt = 0.0;
    void *mark = vmaxget();

    F77_CALL(dsyev)(&job, &up, &n, a, &n, w, &opt, &lwork, &info FCONE FCONE);
    lwork = (int) opt;
    double *work = ufs_dalloc((size_t) lwork, 1);
    F77_CALL(dsyev)(&job, &up, &n, a, &n, w, work, &lwork, &info FCONE FCONE);
    vmaxset(mark);
    return info;
}

void la_fix_signs(int n, int k, double *z)
{
    for (int j = 0; j < k; j++) {
        double *col = z + (size_t) j * (size_t) n, top = 0.0;
        int at = 0;
        for (int i = 0; i < n; i++)
            if (fabs(col[i]) > top * (1.0 + 1e-9)) {
                top = fabs(col[i]);
                at = i;
            }
        if (col[at] < 0.0)
            for (int i = 0; i < n; i++) col[i] = -col[i];
    }
}
