/* eig_held.c: some eigenpairs of a symmetric matrix. */
#include "eig.h"

/* Columns of a panel: those of dsytrd. */
enum { PANEL = 32 };

/* A symmetric tridiagonal matrix: its diagonal and the one beside it, both overwritten. */
typedef struct {
    int n;
    double *d, *e;
} bands;

static bool upper_finite(int n, const double *a)
{
    for (size_t j = 0; j < (size_t) n; j++)
        if (!la_finite(j + 1, a + j * (size_t) n)) return false;
    return true;
}

/* Q'AQ = T with diagonal d and off-diagonal e, the reflectors as dsytrd leaves them: panels of
 * PANEL columns from the right, each followed by its update of the rest. */
static int tridiagonal(int n, double *a, double *d, double *e, double *tau)
{
    char up = 'U', no = 'N';
    int nb = PANEL, rest = n, info = 0, lwork = PANEL * n;
    size_t N = (size_t) n;
    double minus = -1.0, one = 1.0, *w = ufs_dalloc(N, PANEL);

    for (; rest > 4 * PANEL; rest -= PANEL) {
        int order = rest, before = rest - PANEL;
        R_CheckUserInterrupt();
        F77_CALL(dlatrd)(&up, &order, &nb, a, &n, e, tau, w, &n FCONE);
        F77_CALL(dsyr2k)
        (&up, &no, &before, &nb, &minus, a + (size_t) before * N, &n, w, &n, &one, a,
         &n FCONE FCONE);
        for (int j = before; j < order; j++) d[j] = a[(size_t) j + (size_t) j * N];
    }
    F77_CALL(dsytrd)(&up, &rest, a, &n, d, e, tau, w, &lwork, &info FCONE);
    return info;
}

/* Eigenpairs il..iu of t; whole: as part of all of them, because
 * bisection may miss some of many equal values. */
static int spectrum(bands t, int il, int iu, double *w, double *z, bool whole)
{
    char job = 'V', range = whole || (il == 1 && iu == t.n) ? 'A' : 'I';
    int n = t.n, k = iu - il + 1, found = 0, info = 0, lwork = 20 * n, liwork = 10 * n;
    size_t N = (size_t) n, skip = range == 'A' ? (size_t) il - 1 : 0;
    double none = 0.0;
    void *mark = vmaxget();
    double *value = ufs_dalloc(N, 1), *work = ufs_dalloc((size_t) lwork, 1);
    double *vector = whole ? ufs_dalloc(N, N) : z;
    int *support = ufs_ialloc(2 * N), *iwork = ufs_ialloc((size_t) liwork);

    F77_CALL(dstevr)
    (&job, &range, &n, t.d, t.e, &none, &none, &il, &iu, &none, &found, value, vector, &n, support,
     work, &lwork, iwork, &liwork, &info FCONE FCONE);
    if (info == 0 && found != (range == 'A' ? n : k)) info = 1;
    ufs_copy(w, value + skip, (size_t) k);
    if (whole) ufs_copy(z, vector + skip * N, (size_t) k * N);
    vmaxset(mark);
    return info;
}

int eig_range(int n, double *a, int il, int iu, double *w, double *z)
{
    char left = 'L', up = 'U', no = 'N';
    int k = iu - il + 1, info, side = UFS_STRIP * n;
    size_t N = (size_t) n;
    void *mark = vmaxget();
    double *d, *e, *tau, *back;

    if (!upper_finite(n, a)) return LA_NOT_FINITE;
    ufs_dalloc_each(N, 2, (double **[]){&d, &e, NULL});
    tau = ufs_dalloc(N, 1);
    info = tridiagonal(n, a, d, e, tau);
    R_CheckUserInterrupt();
    ufs_copy(d + N, d, N);
    ufs_copy(e + N, e, N - 1);
    if (info == 0) info = spectrum((bands){n, d, e}, il, iu, w, z, false);
    if (info) info = spectrum((bands){n, d + N, e + N}, il, iu, w, z, true);
    back = ufs_dalloc(UFS_STRIP, N);
    for (int from = 0; from < k && info == 0; from += UFS_STRIP) {
        int wide = k - from < UFS_STRIP ? k - from : UFS_STRIP;
        R_CheckUserInterrupt();
        F77_CALL(dormtr)
        (&left, &up, &no, &n, &wide, a, &n, tau, z + (size_t) from * N, &n, back, &side,
         &info FCONE FCONE FCONE);
    }
    vmaxset(mark);
    return info;
}

int eig_leading(int n, double *a, int k, double *w, double *z)
{
    size_t N = (size_t) n;
    void *mark = vmaxget();
    double *value = ufs_dalloc((size_t) k, 1), *vector = ufs_dalloc(N, (size_t) k);
    int info = eig_range(n, a, n - k + 1, n, value, vector);

    for (int j = 0; j < k && info == 0; j++) {
        w[j] = value[k - 1 - j];
        ufs_copy(z + (size_t) j * N, vector + (size_t) (k - 1 - j) * N, N);
    }
    vmaxset(mark);
    return info;
}

int eig_values(int n, double *a, double *w)
{
    int info;
    void *mark = vmaxget();
    double *e, *tau;

    if (!upper_finite(n, a)) return LA_NOT_FINITE;
    ufs_dalloc_each((size_t) n, 1, (double **[]){&e, &tau, NULL});
    info = tridiagonal(n, a, w, e, tau);
    if (info == 0) F77_CALL(dsterf)(&n, w, e, &info);
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
