/* base_rsr_window.c: for base_rsr.c, the norms that say whether W = 0 or a dual point is optimal,
 * and up to where W = I is proved to be.
 *
 * W = 0: |sum_i x_ij x_i / |x_i|| <= lambda for all j. W = I: Y = lambda D X (X'DX)^{-1} has
 * X'Y = lambda I for any weights D of the samples, so |y_i| <= 1 for all i proves it. With D = I
 * this is a bound that does not depend on lambda; other D prove more, a few fixed-point steps.
 *
 * n p min(n, p) flops each, 3np^2 + p^3/3 for W = I, which holds one matrix of the size of x. */
#include "base_rsr.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { STRIP = 256 };
/* Smallest pivot of a Cholesky factor of X'X, relative: the rounding of singular ones lies near
 * 1e-8, far enough below for any order of the rows to decide alike. */
static const double FULL_RANK = 1e-5;
enum { TRIALS = 3 }; /* of D: each raises the bound by less than the one before */

static double fit_norms(int n, int p, const double *x, const double *d, double *norm);

/* R P' of the pivoted Cholesky factor, for X X' is singular when the columns are centred.
 * n^2 p + n^3/3 flops. */
int rsr_root(int n, int p, const double *x, double *root)
{
    size_t N = (size_t) n;
    void *mark = vmaxget();
    double *gram = ufs_dalloc(N, N);
    int *pivot = ufs_ialloc(N), rank, lapack;

    la_gram('N', n, p, x, gram);
    lapack = la_chol_pivoted(n, gram, pivot, &rank, ufs_dalloc(2 * N, 1));
    for (size_t i = 0; i < N && lapack == 0; i++) {
        double *to = root + (size_t) (pivot[i] - 1) * N;
        for (size_t j = 0; j < N; j++) to[j] = j <= i ? gram[j + i * N] : 0.0;
    }
    vmaxset(mark);
    return lapack;
}

/* By strips of columns, so that nothing of the size of x is needed. */
void rsr_products(int n, int p, int r, const double *x, const double *y, double *norm)
{
    void *mark = vmaxget();
    double *strip = ufs_dalloc((size_t) r, STRIP);

    for (int from = 0; from < p; from += STRIP) {
        int cols = p - from < STRIP ? p - from : STRIP;
        la_gemm_checked('N', 'N', r, cols, n, 1.0, y, r, x + (size_t) from * (size_t) n, n, 0.0,
                        strip, r);
        la_col_norms(r, cols, strip, norm + from);
    }
    vmaxset(mark);
}

/* Beyond the bound only where that does not miss by much, and lambda p <= sum |x_i|, which is
 * necessary. */
bool rsr_proves_identity(int n, int p, const double *x, double lambda, const double *length,
                         double *bound)
{
    size_t N = (size_t) n;
    void *mark = vmaxget();
    double total = 0.0, worst, *d = ufs_dalloc(N, 1), *norm = ufs_dalloc(N, 1);

    for (size_t i = 0; i < N; i++) {
        d[i] = 1.0;
        total += length[i];
    }
    worst = fit_norms(n, p, x, d, norm);
    *bound = R_FINITE(worst) ? 1.0 / worst : R_NaN;
    worst = lambda <= *bound ? 0.0 : R_PosInf;
    for (size_t i = 0; i < N; i++) d[i] = length[i] > 0.0 ? 1.0 / length[i] : 0.0;
    for (int trial = 0; trial < TRIALS && worst > 1.0; trial++) {
        double before = worst;
        if (!(lambda <= 3.0 * *bound) || lambda * p > 0.99 * total) break;
        worst = lambda * fit_norms(n, p, x, d, norm);
        if (!(worst < 0.9 * before)) break;
        for (size_t i = 0; i < N; i++)
            if (norm[i] > 0.0) d[i] /= norm[i];
    }
    vmaxset(mark);
    return worst <= 1.0;
}

/* norm: of the rows of D X (X'DX)^{-1}; the largest of them, Inf without full rank. That is read
 * off a pivoted factor, which does not depend on the order of the columns. */
static double fit_norms(int n, int p, const double *x, const double *d, double *norm)
{
    size_t N = (size_t) n, P = (size_t) p;
    void *mark = vmaxget();
    double *m = ufs_dalloc(P, P), *rows = ufs_dalloc(N, P), top = R_PosInf;
    int *pivot = ufs_ialloc(P), rank = 0;

    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < N; i++) rows[i + j * N] = sqrt(d[i]) * x[i + j * N];
    la_gram('T', n, p, rows, m);
    if (la_chol_pivoted(p, m, pivot, &rank, ufs_dalloc(2 * P, 1)) == 0 &&
        m[P * P - 1] > FULL_RANK * m[0]) {
        for (size_t j = 0; j < P; j++)
            for (size_t i = 0; i < N; i++)
                rows[i + j * N] = d[i] * x[i + (size_t) (pivot[j] - 1) * N];
        la_trsm('R', 'U', 'N', n, p, 1.0, m, p, rows, n);
        R_CheckUserInterrupt();
        la_trsm('R', 'U', 'T', n, p, 1.0, m, p, rows, n);
        la_row_norms(n, p, rows, norm);
        top = 0.0;
        for (size_t i = 0; i < N; i++) top = fmax(top, norm[i]);
    }
    vmaxset(mark);
    return top;
}
