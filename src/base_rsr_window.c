/* base_rsr_window.c: between which penalties RSR (base_rsr.c) has a ranking: from where on W = 0 is
 * optimal, exactly, and up to where W = I is proved to be.
 *
 * W = 0: |sum_i x_ij x_i / |x_i|| <= lambda for all j. W = I: Y = lambda D X (X'DX)^{-1} has
 * X'Y = lambda I for any weights D of the samples, so |y_i| <= 1 for all i proves it. With D = I
 * this is a bound that does not depend on lambda; other D prove more, a few fixed-point steps.
 *
 * n p min(n, p) flops each, 2np^2 + p^3/3 for W = I; memory 2 min(n, p)^2 and strips. */
#include "base_rsr.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { STRIP = 256 }; /* rows or columns at a time where one pass is enough */
/* Smallest pivot of a Cholesky factor of X'X, relative: the rounding of singular ones lies near
 * 1e-8, far enough below for any order of the rows to decide alike. */
static const double FULL_RANK = 1e-5;
enum { TRIALS = 3 }; /* of D: each raises the bound by less than the one before */

static int root_of_gram(int n, int p, const double *x, double *root);
static double zero_from_root(int n, int p, const double *x, const double *root,
                             const double *length, double *activity);
static double zero_from_columns(int n, int p, const double *x, const double *length,
                                double *activity);
static double identity_bound(int n, int p, const double *x);
static double fit_norms(int n, int p, const double *x, const double *d, double *norm);

int rsr_window(int n, int p, const double *x, double *identity, double *zero, double *activity,
               double *root)
{
    double *length = ufs_dalloc((size_t) n, 1);
    int lapack = root != NULL ? root_of_gram(n, p, x, root) : 0;

    *identity = R_NaN;
    *zero = 0.0;
    if (lapack) return lapack;
    la_row_norms(n, p, x, length);
    if (root != NULL) {
        *zero = zero_from_root(n, p, x, root, length, activity);
    } else {
        *zero = zero_from_columns(n, p, x, length, activity);
        *identity = identity_bound(n, p, x);
    }
    return 0;
}

/* T with T T' = X X': P R' of the pivoted Cholesky factor, for X X' is singular when the columns
 * are centred. n^2 p + n^3/3 flops. */
static int root_of_gram(int n, int p, const double *x, double *root)
{
    size_t N = (size_t) n;
    void *mark = vmaxget();
    double *gram = ufs_dalloc(N, N), *work = ufs_dalloc(2 * N, 1);
    int *pivot = ufs_ialloc(N), rank, lapack;

    la_gram('N', n, p, x, gram);
    lapack = la_chol_pivoted(n, gram, pivot, &rank, work);
    for (size_t i = 0; i < N && lapack == 0; i++) {
        size_t row = (size_t) (pivot[i] - 1);
        for (size_t j = 0; j < N; j++) root[row + j * N] = j <= i ? gram[j + i * N] : 0.0;
    }
    vmaxset(mark);
    return lapack;
}

/* |sum_i x_ij x_i / |x_i|| for all j, through T: rows of X turn into rows of T. By strips of
 * columns, so that nothing of the size of x is needed. */
static double zero_from_root(int n, int p, const double *x, const double *root,
                             const double *length, double *activity)
{
    size_t N = (size_t) n;
    void *mark = vmaxget();
    double *unit = ufs_dalloc(N, N), top = 0.0;

    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++)
            unit[i + j * N] = length[i] > 0.0 ? root[i + j * N] / length[i] : 0.0;
    rsr_products(n, p, n, x, unit, activity);
    for (int j = 0; j < p; j++) top = fmax(top, activity[j]);
    vmaxset(mark);
    return top;
}

void rsr_products(int n, int p, int r, const double *x, double *y, double *norm)
{
    size_t N = (size_t) n, R = (size_t) r, width = p < STRIP ? (size_t) p : STRIP;
    void *mark = vmaxget();
    bool triangular = r == n && p > 2 * n;
    double *strip = ufs_dalloc(R, width);

    if (triangular) {
        int len = la_lq_work(n, n);
        double *tau = ufs_dalloc(N, 1), *work = ufs_dalloc((size_t) len, 1);
        triangular = la_lq(n, n, y, tau, work, len) == 0;
    }
    for (int from = 0; from < p; from += STRIP) {
        int cols = p - from < STRIP ? p - from : STRIP;
        const double *part = x + (size_t) from * N;
        R_CheckUserInterrupt();
        if (triangular) {
            ufs_copy(strip, part, N * (size_t) cols);
            la_trmm('L', 'L', 'T', n, cols, 1.0, y, n, strip, n);
        } else {
            la_gemm('T', 'N', r, cols, n, 1.0, y, n, part, n, 0.0, strip, r);
        }
        la_col_norms(r, cols, strip, norm + from);
    }
    vmaxset(mark);
}

/* The same for p <= n: row norms of sum_i x_i'x_i / |x_i|. */
static double zero_from_columns(int n, int p, const double *x, const double *length,
                                double *activity)
{
    size_t P = (size_t) p;
    void *mark = vmaxget();
    double *m = ufs_dzero(P, P), *rows = ufs_dalloc(STRIP, P), top = 0.0;

    for (int from = 0; from < n; from += STRIP) {
        int count = n - from < STRIP ? n - from : STRIP;
        for (size_t j = 0; j < P; j++)
            for (size_t i = 0; i < (size_t) count; i++) {
                size_t at = (size_t) from + i;
                double norm = length[at];
                rows[i + j * (size_t) count] = norm > 0.0 ? x[at + j * (size_t) n] / sqrt(norm)
                                                          : 0.0;
            }
        la_syrk('T', p, count, 1.0, rows, count, 1.0, m, p);
    }
    la_fill_lower(p, m);
    la_row_norms(p, p, m, activity);
    for (int j = 0; j < p; j++) top = fmax(top, activity[j]);
    vmaxset(mark);
    return top;
}

static double identity_bound(int n, int p, const double *x)
{
    size_t N = (size_t) n;
    void *mark = vmaxget();
    double *d = ufs_dalloc(N, 1), *norm = ufs_dalloc(N, 1), top;

    for (size_t i = 0; i < N; i++) d[i] = 1.0;
    top = fit_norms(n, p, x, d, norm);
    vmaxset(mark);
    return R_FINITE(top) ? 1.0 / top : R_NaN;
}

/* Beyond the bound only where that does not miss by much, and lambda p <= sum |x_i|, which is
 * necessary. */
bool rsr_proves_identity(const rsr_problem *problem, const double *length)
{
    int n = problem->n, p = problem->p;
    size_t N = (size_t) n;
    void *mark = vmaxget();
    double total = 0.0, lambda = problem->lambda, worst = R_PosInf, *d, *norm;

    for (int i = 0; i < n; i++) total += length[i];
    if (lambda <= problem->identity) return true;
    if (!(lambda <= 3.0 * problem->identity) || lambda * p > 0.99 * total) return false;
    d = ufs_dalloc(N, 1);
    norm = ufs_dalloc(N, 1);
    for (size_t i = 0; i < N; i++) d[i] = length[i] > 0.0 ? 1.0 / length[i] : 0.0;
    for (int trial = 0; trial < TRIALS && worst > 1.0; trial++) {
        double before = worst;
        worst = lambda * fit_norms(n, p, problem->x, d, norm);
        if (worst > 1.0 && !(worst < 0.9 * before)) break;
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
    double *m = ufs_dzero(P, P), *work = ufs_dalloc(2 * P, 1), *rows = ufs_dalloc(STRIP, P);
    double top = 0.0;
    int *pivot = ufs_ialloc(P), rank = 0;

    for (size_t j = 0; j < P; j++) pivot[j] = (int) j + 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int from = 0; from < n; from += STRIP) {
            int count = n - from < STRIP ? n - from : STRIP;
            for (size_t j = 0; j < P; j++) {
                const double *col = x + (size_t) from + (size_t) (pivot[j] - 1) * N;
                for (size_t i = 0; i < (size_t) count; i++) {
                    double weight = d[(size_t) from + i];
                    rows[i + j * (size_t) count] = col[i] * (pass == 0 ? sqrt(weight) : weight);
                }
            }
            R_CheckUserInterrupt();
            if (pass == 0) {
                la_syrk('T', p, count, 1.0, rows, count, 1.0, m, p);
                continue;
            }
            la_trsm('R', 'U', 'N', count, p, 1.0, m, p, rows, count);
            la_trsm('R', 'U', 'T', count, p, 1.0, m, p, rows, count);
            la_row_norms(count, p, rows, norm + from);
        }
        if (pass == 0 && (la_chol_pivoted(p, m, pivot, &rank, work) != 0 || rank < p ||
                          !(m[P * P - 1] > FULL_RANK * m[0]))) {
            vmaxset(mark);
            return R_PosInf;
        }
    }
    for (int i = 0; i < n; i++) top = fmax(top, norm[i]);
    vmaxset(mark);
    return top;
}
