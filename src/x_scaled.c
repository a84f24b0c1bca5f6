/* x_scaled.c: see x_scaled.h. */
#include "x_scaled.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { BLOCK = 32768 };

static int width_of(const ufs_x *x)
{
    int width = BLOCK / x->n;
    return width < 1 ? 1 : width < x->p ? width : x->p;
}

/* Columns j0, ..., j0 + m - 1. */
static void standardise(const ufs_x *x, int j0, int m, double *out)
{
    R_CheckUserInterrupt();
    for (int k = 0; k < m; k++) x_scaled_column(x, j0 + k, out + (size_t) k * (size_t) x->n);
}

void x_scaled_column(const ufs_x *x, int j, double *out)
{
    size_t N = (size_t) x->n, at = (size_t) (x->column ? x->column[j] : j);
    const double *from = x->dense + at * N;
    double m = x->shift ? x->shift[j] : 0.0, s = x->divide ? x->divide[j] : 1.0;
    for (size_t i = 0; i < N; i++) out[i] = (from[i] - m) / s;
}

void x_scaled_mul(const ufs_x *x, int c, const double *v, double *y)
{
    void *mark = vmaxget();
    int width = width_of(x);
    double *block = ufs_dalloc((size_t) x->n, (size_t) width);

    for (int j = 0; j < x->p; j += width) {
        int m = x->p - j < width ? x->p - j : width;
        standardise(x, j, m, block);
        la_gemm('N', 'N', x->n, c, m, 1.0, block, x->n, v + j, x->p, j > 0 ? 1.0 : 0.0, y, x->n);
    }
    vmaxset(mark);
}

void x_scaled_cross(const ufs_x *x, int c, const double *t, double *u, bool by_rows)
{
    void *mark = vmaxget();
    int width = width_of(x);
    double *block = ufs_dalloc((size_t) x->n, (size_t) width);

    for (int j = 0; j < x->p; j += width) {
        int m = x->p - j < width ? x->p - j : width;
        standardise(x, j, m, block);
        if (by_rows)
            la_gemm('T', 'N', c, m, x->n, 1.0, t, x->n, block, x->n, 0.0,
                    u + (size_t) j * (size_t) c, c);
        else
            la_gemm('T', 'N', m, c, x->n, 1.0, block, x->n, t, x->n, 0.0, u + j, x->p);
    }
    vmaxset(mark);
}

void x_scaled_gram_rows(const ufs_x *x, double *k)
{
    void *mark = vmaxget();
    int width = width_of(x);
    double *block = ufs_dalloc((size_t) x->n, (size_t) width);

    for (int j = 0; j < x->p; j += width) {
        int m = x->p - j < width ? x->p - j : width;
        standardise(x, j, m, block);
        la_syrk('N', x->n, m, 1.0, block, x->n, j > 0 ? 1.0 : 0.0, k, x->n);
    }
    la_fill_lower(x->n, k);
    vmaxset(mark);
}

void x_scaled_gram_cols(const ufs_x *x, double *g)
{
    void *mark = vmaxget();
    int width = width_of(x);
    double *block = ufs_dalloc((size_t) x->n, (size_t) width);

    for (int j = 0; j < x->p; j += width) {
        int m = x->p - j < width ? x->p - j : width;
        standardise(x, j, m, block);
        x_scaled_cross(x, m, block, g + (size_t) j * (size_t) x->p, false);
    }
    vmaxset(mark);
}
