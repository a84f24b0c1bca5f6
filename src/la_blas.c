/* la_blas.c: BLAS and LAPACK calls without their noise (see la.h). Dimensions of zero are no error. */
#include "la.h"

void la_gemm(char ta, char tb, int m, int n, int k, double alpha, const double *a, int lda,
             const double *b, int ldb, double beta, double *c, int ldc)
{
    if (m <= 0 || n <= 0) return;
    F77_CALL(dgemm)(&ta, &tb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc FCONE FCONE);
}

void la_gemv(char ta, int m, int n, double alpha, const double *a, int lda, const double *x,
             double beta, double *y)
{
    int one = 1;
    if (m <= 0 || n <= 0) return;
    F77_CALL(dgemv)(&ta, &m, &n, &alpha, a, &lda, x, &one, &beta, y, &one FCONE);
}

void la_syrk(char trans, int n, int k, double alpha, const double *a, int lda, double beta,
             double *c, int ldc)
{
    char up = 'U';
    if (n <= 0) return;
    F77_CALL(dsyrk)(&up, &trans, &n, &k, &alpha, a, &lda, &beta, c, &ldc FCONE FCONE);
}

double la_dot(int n, const double *x, const double *y)
{
    int one = 1;
    return F77_CALL(ddot)(&n, x, &one, y, &one);
}

void la_axpy(int n, double a, const double *x, double *y)
{
    int one = 1;
    F77_CALL(daxpy)(&n, &a, x, &one, y, &one);
}

double la_nrm2(int n, const double *x)
{
    int one = 1;
    return F77_CALL(dnrm2)(&n, x, &one);
}

int la_lu_inverse(int n, double *a, int *pivot, double *work, int lwork)
{
    int info;
    F77_CALL(dgetrf)(&n, &n, a, &n, pivot, &info);
    if (info == 0) F77_CALL(dgetri)(&n, a, &n, pivot, work, &lwork, &info);
    return info;
}

void la_rank_one(int m, int n, double a, const double *x, const double *y, double *out)
{
    int one = 1;
    F77_CALL(dger)(&m, &n, &a, x, &one, y, &one, out, &m);
}

void la_trmm(char side, char uplo, char trans, int m, int n, double alpha, const double *a, int lda,
             double *b, int ldb)
{
    char diag = 'N';
    if (m <= 0 || n <= 0) return;
    F77_CALL(dtrmm)
    (&side, &uplo, &trans, &diag, &m, &n, &alpha, a, &lda, b, &ldb FCONE FCONE FCONE FCONE);
}

void la_trsm(char side, char uplo, char trans, int m, int n, double alpha, const double *a, int lda,
             double *b, int ldb)
{
    char diag = 'N';
    if (m <= 0 || n <= 0) return;
    F77_CALL(dtrsm)
    (&side, &uplo, &trans, &diag, &m, &n, &alpha, a, &lda, b, &ldb FCONE FCONE FCONE FCONE);
}
