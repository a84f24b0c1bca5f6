/* x_scaled.c: see x_scaled.h. */
#include "x_scaled.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { BLOCK = 32768 };

/* A walk over X: m columns from `from` on are in `columns`, up to `width` in each step. */
typedef struct {
    int from, m, width;
    double *columns;
} walk;

static walk begin(const ufs_x *x)
{
    int width = BLOCK / x->n;
    walk at = {.width = width < 1 ? 1 : width < x->p ? width : x->p};
    at.columns = ufs_dalloc((size_t) x->n, (size_t) at.width);
    return at;
}

static bool next(const ufs_x *x, walk *at)
{
    int left;

    at->from += at->m;
    left = x->p - at->from;
    at->m = left < at->width ? left : at->width;
    if (left <= 0) return false;
    R_CheckUserInterrupt();
    for (int k = 0; k < at->m; k++)
        x_scaled_column(x, at->from + k, at->columns + (size_t) k * (size_t) x->n);
    return true;
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
    walk at = begin(x);

    while (next(x, &at))
        la_gemm('N', 'N', x->n, c, at.m, 1.0, at.columns, x->n, v + at.from, x->p,
                at.from > 0 ? 1.0 : 0.0, y, x->n);
    vmaxset(mark);
}

void x_scaled_cross(const ufs_x *x, int c, const double *t, double *u, bool by_rows)
{
    void *mark = vmaxget();
    walk at = begin(x);

    while (next(x, &at))
        if (by_rows)
            la_gemm('T', 'N', c, at.m, x->n, 1.0, t, x->n, at.columns, x->n, 0.0,
                    u + (size_t) at.from * (size_t) c, c);
        else
            la_gemm('T', 'N', at.m, c, x->n, 1.0, at.columns, x->n, t, x->n, 0.0, u + at.from,
                    x->p);
    vmaxset(mark);
}

void x_scaled_gram_rows(const ufs_x *x, double *k)
{
    void *mark = vmaxget();
    walk at = begin(x);

    while (next(x, &at))
        la_syrk('N', x->n, at.m, 1.0, at.columns, x->n, at.from > 0 ? 1.0 : 0.0, k, x->n);
    la_fill_lower(x->n, k);
    vmaxset(mark);
}

void x_scaled_gram_cols(const ufs_x *x, double *g)
{
    void *mark = vmaxget();
    walk at = begin(x);

    while (next(x, &at))
        x_scaled_cross(x, at.m, at.columns, g + (size_t) at.from * (size_t) x->p, false);
    vmaxset(mark);
}
