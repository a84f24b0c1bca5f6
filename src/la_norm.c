/* la_norm.c: norms of rows and columns, the l2,1 norm and its IRLS weights. */
#include "la.h"

enum { GRAM_DEEP = 4096, TILE = 32 };

/* One dsyrk where that takes less than about half a second; else in strips of C, and of A where
 * it has many inner entries, so that an interrupt is seen between them. */
void la_gram(char trans, int n, int p, const double *a, double *c)
{
    int order = trans == 'N' ? n : p, inner = trans == 'N' ? p : n;
    size_t N = (size_t) n, M = (size_t) order;
    bool rows = trans == 'N';

    if (order <= 0) return;
    if ((double) order * order * inner < 1e9) {
        la_syrk(trans, order, inner, 1.0, a, n, 0.0, c, order);
        la_fill_lower(order, c);
        return;
    }
    for (int from = 0; from < order; from += UFS_STRIP)
        for (int at = 0; at < inner; at += GRAM_DEEP) {
            int wide = order - from < UFS_STRIP ? order - from : UFS_STRIP;
            int deep = inner - at < GRAM_DEEP ? inner - at : GRAM_DEEP;
            const double *left = rows ? a + (size_t) at * N : a + at;
            const double *right = rows ? left + from : left + (size_t) from * N;
            double *out = c + (size_t) from * M, keep = at > 0 ? 1.0 : 0.0;
            R_CheckUserInterrupt();
            la_gemm(rows ? 'N' : 'T', rows ? 'T' : 'N', from, wide, deep, 1.0, left, n, right, n,
                    keep, out, order);
            la_syrk(trans, wide, deep, 1.0, right, n, keep, out + from, order);
        }
    la_fill_lower(order, c);
}

void la_gemm_checked(char ta, char tb, int m, int n, int k, double alpha, const double *a, int lda,
                     const double *b, int ldb, double beta, double *c, int ldc)
{
    /* Some 0.3 s of a plain BLAS. */
    double most = 2.5e8 / (1.0 + (double) m * (double) k);
    int strip = most < 32.0 ? 32 : most < (double) n ? (int) most : n;

    for (int from = 0; from < n; from += strip) {
        const double *right = b + (size_t) from * (tb == 'N' ? (size_t) ldb : 1);
        R_CheckUserInterrupt();
        la_gemm(ta, tb, m, n - from < strip ? n - from : strip, k, alpha, a, lda, right, ldb, beta,
                c + (size_t) from * (size_t) ldc, ldc);
    }
}

void la_mul(char ta, char tb, int m, int n, int k, double alpha, const double *a, const double *b,
            double beta, double *c)
{
    la_gemm_checked(ta, tb, m, n, k, alpha, a, ta == 'N' ? m : k, b, tb == 'N' ? k : n, beta, c, m);
}

void la_fill_lower(int n, double *a)
{
    size_t N = (size_t) n;
    for (size_t i0 = 0; i0 < N; i0 += TILE)
        for (size_t j = i0 + 1; j < N; j++)
            for (size_t i = i0; i < j && i < i0 + TILE; i++) a[j + i * N] = a[i + j * N];
}

void la_row_norms(int p, int c, const double *v, double *out)
{
    /* Column by column, so that v is read in memory order. */
    for (int i = 0; i < p; i++) out[i] = 0.0;
    for (int j = 0; j < c; j++) {
        const double *col = v + (size_t) j * (size_t) p;
        for (int i = 0; i < p; i++) out[i] += col[i] * col[i];
    }
    for (int i = 0; i < p; i++) out[i] = sqrt(out[i]);
}

void la_col_norms(int p, int c, const double *v, double *out)
{
    for (int j = 0; j < c; j++) out[j] = sqrt(la_ss((size_t) p, v + (size_t) j * (size_t) p));
}

double la_l21(int p, const double *norm, double eps)
{
    double sum = 0.0;
    for (int i = 0; i < p; i++) sum += eps > 0.0 ? sqrt(norm[i] * norm[i] + eps) : norm[i];
    return sum;
}

void la_irls_g(int p, const double *norm, double eps, double *g)
{
    for (int i = 0; i < p; i++) g[i] = 2.0 * sqrt(norm[i] * norm[i] + eps);
}

bool la_finite(size_t len, const double *a)
{
    double sum = 0.0;
    /* 0 v is NaN where v is not finite. */
    for (size_t i = 0; i < len; i++) sum += 0.0 * a[i];
    return sum == 0.0;
}

double la_ss(size_t len, const double *a)
{
    double ss = 0.0;
    for (size_t i = 0; i < len; i++) ss += a[i] * a[i];
    return ss;
}

double la_ss_diff(size_t len, const double *a, const double *b)
{
    double ss = 0.0;
    for (size_t i = 0; i < len; i++) {
        double d = a[i] - b[i];
        ss += d * d;
    }
    return ss;
}

void la_scale_rows(int n, int m, const double *by, const double *x, double *out)
{
    for (size_t j = 0; j < (size_t) m; j++)
        for (size_t i = 0; i < (size_t) n; i++)
            out[i + j * (size_t) n] = by[i] * x[i + j * (size_t) n];
}

void la_transpose(int n, int p, const double *a, double *out)
{
    for (int j0 = 0; j0 < p; j0 += TILE)
        for (int i0 = 0; i0 < n; i0 += TILE)
            for (int i = i0; i < i0 + TILE && i < n; i++)
                for (int j = j0; j < j0 + TILE && j < p; j++)
                    out[(size_t) j + (size_t) i * (size_t) p] =
                        a[(size_t) i + (size_t) j * (size_t) n];
}
