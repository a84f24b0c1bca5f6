/* la_chol.c: Cholesky and its triangular solves. */
#include "la.h"

int la_chol(int n, double *a)
{
    char up = 'U';
    int info = 0;
    if (n > 0) F77_CALL(dpotrf)(&up, &n, a, &n, &info FCONE);
    return info;
}

/* Right-looking: the block row, then what is left of the trailing triangle, by panels. */
int la_chol_checked(int n, double *a)
{
    size_t N = (size_t) n;
    char up = 'U';

    for (int from = 0; from < n; from += UFS_STRIP) {
        int len = n - from < UFS_STRIP ? n - from : UFS_STRIP, next = from + len, info = 0;
        double *diagonal = a + (size_t) from * (N + 1);
        F77_CALL(dpotrf)(&up, &len, diagonal, &n, &info FCONE);
        if (info) return from + info;
        la_trsm('L', 'U', 'T', len, n - next, 1.0, diagonal, n,
                a + (size_t) from + (size_t) next * N, n);
        for (int j = next; j < n; j += UFS_STRIP) {
            int width = n - j < UFS_STRIP ? n - j : UFS_STRIP;
            const double *right = a + (size_t) from + (size_t) j * N;
            R_CheckUserInterrupt();
            la_gemm('T', 'N', j + width - next, width, len, -1.0,
                    a + (size_t) from + (size_t) next * N, n, right, n, 1.0,
                    a + (size_t) next + (size_t) j * N, n);
        }
    }
    return 0;
}

void la_chol_solve(int n, int m, const double *r, double *b)
{
    char up = 'U';
    int info = 0;
    if (n > 0 && m > 0) F77_CALL(dpotrs)(&up, &n, &m, r, &n, b, &n, &info FCONE);
}

int la_chol_pivoted(int n, double *a, int *pivot, int *rank, double *work)
{
    char up = 'U';
    double tol = -1.0;
    int info = 0;
    *rank = 0;
    F77_CALL(dpstrf)(&up, &n, a, &n, pivot, rank, &tol, work, &info FCONE);
    if (info < 0) return info;
    for (int j = *rank; j < n; j++)
        for (int i = *rank; i <= j; i++) a[(size_t) i + (size_t) j * (size_t) n] = 0.0;
    return 0;
}

int la_chol_root(int n, double *a, double *u, int *rank)
{
    size_t N = (size_t) n;
    void *mark = vmaxget();
    int *pivot = ufs_ialloc(N), info = la_chol_pivoted(n, a, pivot, rank, ufs_dalloc(2 * N, 1));

    for (size_t j = 0; j < N && info == 0; j++)
        for (size_t i = 0, rows = (size_t) *rank; i < rows; i++)
            u[i + (size_t) (pivot[j] - 1) * rows] = i <= j ? a[i + j * N] : 0.0;
    vmaxset(mark);
    return info;
}

/* R^{-1} by block columns from the right, which use what is still R to their left; then
 * R^{-1} R^{-T} by block columns from the left. */
int la_chol_inverse(int n, double *r)
{
    size_t N = (size_t) n;
    char up = 'U', no = 'N';
    void *mark = vmaxget();
    double *keep = ufs_dalloc(N, UFS_STRIP);

    for (int from = (n - 1) / UFS_STRIP * UFS_STRIP; from >= 0; from -= UFS_STRIP) {
        int len = n - from < UFS_STRIP ? n - from : UFS_STRIP, info = 0;
        double *above = r + (size_t) from * N, *corner = above + from;
        R_CheckUserInterrupt();
        F77_CALL(dtrtri)(&up, &no, &len, corner, &n, &info FCONE FCONE);
        if (info) return from + info;
        la_trsm('L', 'U', 'N', from, len, -1.0, r, n, above, n);
        la_trmm('R', 'U', 'N', from, len, 1.0, corner, n, above, n);
    }
    for (int from = 0; from < n; from += UFS_STRIP) {
        int len = n - from < UFS_STRIP ? n - from : UFS_STRIP, to = from + len;
        double *block = r + (size_t) from * N;
        for (int j = from; j < to; j++) {
            double *column = keep + (size_t) (j - from) * N;
            ufs_copy(column, r + (size_t) j * N, (size_t) j + 1);
            memset(column + j + 1, 0, (size_t) (to - j - 1) * sizeof(double));
        }
        la_gemm_checked('N', 'T', to, len, len, 1.0, keep, n, keep + from, n, 0.0, block, n);
        la_gemm_checked('N', 'T', to, len, n - to, 1.0, r + (size_t) to * N, n,
                        r + (size_t) from + (size_t) to * N, n, 1.0, block, n);
    }
    vmaxset(mark);
    la_fill_lower(n, r);
    return 0;
}
