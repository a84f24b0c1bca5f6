/* la_chol.c: Cholesky and its triangular solves. */
#include "la.h"
#include <R_ext/Utils.h>

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
    enum { BLOCK = 256 };
    size_t N = (size_t) n;
    char up = 'U';

    for (int from = 0; from < n; from += BLOCK) {
        int len = n - from < BLOCK ? n - from : BLOCK, next = from + len, info = 0;
        double *diagonal = a + (size_t) from * (N + 1);
        F77_CALL(dpotrf)(&up, &len, diagonal, &n, &info FCONE);
        if (info) return from + info;
        la_trsm('L', 'U', 'T', len, n - next, 1.0, diagonal, n,
                a + (size_t) from + (size_t) next * N, n);
        for (int j = next; j < n; j += BLOCK) {
            int width = n - j < BLOCK ? n - j : BLOCK;
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

void la_tri_solve(char trans, int n, int m, const double *r, double *b)
{
    char left = 'L', up = 'U', non_unit = 'N';
    double one = 1.0;
    if (n <= 0 || m <= 0) return;
    F77_CALL(dtrsm)
    (&left, &up, &trans, &non_unit, &n, &m, &one, r, &n, b, &n FCONE FCONE FCONE FCONE);
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

int la_chol_inverse(int n, double *r)
{
    char up = 'U';
    int info = 0;
    if (n > 0) F77_CALL(dpotri)(&up, &n, r, &n, &info FCONE);
    if (info == 0) la_fill_lower(n, r);
    return info;
}
