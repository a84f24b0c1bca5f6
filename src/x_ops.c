/* x_ops.c: the operations of x_ops.h by kind; the sparse ones are in x_sparse.c. */
#include "x_ops.h"
#include "la.h"
#include "x_scaled.h"
#include "x_sparse.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

static const double *dense_column(const ufs_x *x, int j)
{
    return x->dense + (size_t) j * (size_t) x->n;
}

ufs_x ufs_x_dense(int n, int p, const double *x)
{
    ufs_x out = {.kind = UFS_X_DENSE, .n = n, .p = p, .dense = x};
    return out;
}

double ufs_x_entries(const ufs_x *x)
{
    return x->kind == UFS_X_SPARSE ? x_sparse_entries(x) : (double) x->n * (double) x->p;
}

void ufs_x_mul(const ufs_x *x, int c, const double *v, double *y)
{
    switch (x->kind) {
    case UFS_X_DENSE:
        la_gemm('N', 'N', x->n, c, x->p, 1.0, x->dense, x->n, v, x->p, 0.0, y, x->n);
        break;
    case UFS_X_SCALED:
        x_scaled_mul(x, c, v, y);
        break;
    case UFS_X_SPARSE:
        x_sparse_mul(x, c, v, y);
        break;
    case UFS_X_SOURCE:
        x->source.mul(x->source.data, 0, NULL, c, v, y);
        break;
    }
}

void ufs_x_cross(const ufs_x *x, int c, const double *t, double *u)
{
    switch (x->kind) {
    case UFS_X_DENSE:
        la_gemm('T', 'N', x->p, c, x->n, 1.0, x->dense, x->n, t, x->n, 0.0, u, x->p);
        break;
    case UFS_X_SCALED:
        x_scaled_cross(x, c, t, u, false);
        break;
    case UFS_X_SPARSE:
        x_sparse_cross(x, c, t, u, 1, (size_t) x->p);
        break;
    case UFS_X_SOURCE:
        x->source.cross(x->source.data, 0, NULL, c, t, u);
        break;
    }
}

void ufs_x_cross_rows(const ufs_x *x, int c, const double *t, double *u)
{
    if (x->kind == UFS_X_DENSE) {
        la_gemm('T', 'N', c, x->p, x->n, 1.0, t, x->n, x->dense, x->n, 0.0, u, c);
    } else if (x->kind == UFS_X_SCALED) {
        x_scaled_cross(x, c, t, u, true);
    } else if (x->kind == UFS_X_SPARSE) {
        x_sparse_cross(x, c, t, u, (size_t) c, 1);
    } else {
        size_t P = (size_t) x->p, C = (size_t) c;
        void *mark = vmaxget();
        double *tall = ufs_dalloc(P, C);
        x->source.cross(x->source.data, 0, NULL, c, t, tall);
        for (size_t j = 0; j < P; j++)
            for (size_t k = 0; k < C; k++) u[k + j * C] = tall[j + k * P];
        vmaxset(mark);
    }
}

void ufs_x_gram_mul(const ufs_x *x, int c, const double *t, double *y)
{
    enum { TILE = 64 };
    size_t N = (size_t) x->n;
    void *mark = vmaxget();

    if (x->kind == UFS_X_SPARSE) {
        x_sparse_gram_mul(x, c, t, y);
        return;
    }
    double *u = ufs_dalloc((size_t) x->p, (size_t) c);
    if (x->kind == UFS_X_DENSE) {
        /* Columns that are at hand still are not fetched again. */
        memset(y, 0, N * (size_t) c * sizeof(double));
        for (int j = 0; j < x->p; j += TILE) {
            int m = x->p - j < TILE ? x->p - j : TILE;
            const double *tile = x->dense + (size_t) j * N;
            la_gemm('T', 'N', m, c, x->n, 1.0, tile, x->n, t, x->n, 0.0, u, m);
            la_gemm('N', 'N', x->n, c, m, 1.0, tile, x->n, u, m, 1.0, y, x->n);
        }
    } else {
        ufs_x_cross(x, c, t, u);
        ufs_x_mul(x, c, u, y);
    }
    vmaxset(mark);
}

const double *ufs_x_column(const ufs_x *x, int j, double *scratch)
{
    if (x->kind == UFS_X_DENSE) return dense_column(x, j);
    if (x->kind == UFS_X_SCALED)
        x_scaled_column(x, j, scratch);
    else if (x->kind == UFS_X_SPARSE)
        x_sparse_column(x, j, scratch);
    else
        x->source.columns(x->source.data, 1, &j, scratch);
    return scratch;
}

void ufs_x_columns(const ufs_x *x, int m, const int *j, double *out)
{
    size_t N = (size_t) x->n;

    if (x->kind == UFS_X_SOURCE) {
        x->source.columns(x->source.data, m, j, out);
        return;
    }
    for (int k = 0; k < m; k++) {
        double *to = out + (size_t) k * N;
        const double *from = ufs_x_column(x, j[k], to);
        if (from != to) ufs_copy(to, from, N);
    }
}

int ufs_x_at_once(const ufs_x *x)
{
    int width = x->kind == UFS_X_SOURCE && x->source.at_once > 64 ? x->source.at_once : 64;
    return width < x->p ? width : x->p;
}

void ufs_x_sweep(const ufs_x *x, int width)
{
    if (x->kind == UFS_X_SOURCE && width < x->p) x->source.sweep(x->source.data);
}

void ufs_x_each_column(const ufs_x *x, void (*visit)(void *data, int j, const double *column),
                       void *data)
{
    size_t N = (size_t) x->n;
    void *mark = vmaxget();
    int width = x->kind == UFS_X_SOURCE ? ufs_x_at_once(x) : 1;
    int *index = ufs_ialloc((size_t) width);
    double *block = ufs_dalloc(x->kind == UFS_X_DENSE ? 0 : N, (size_t) width);

    ufs_x_sweep(x, width);
    for (int j0 = 0; j0 < x->p; j0 += width) {
        int m = x->p - j0 < width ? x->p - j0 : width;
        if (x->kind != UFS_X_SOURCE) {
            visit(data, j0, ufs_x_column(x, j0, block));
            continue;
        }
        for (int k = 0; k < m; k++) index[k] = j0 + k;
        ufs_x_columns(x, m, index, block);
        for (int k = 0; k < m; k++) visit(data, j0 + k, block + (size_t) k * N);
    }
    vmaxset(mark);
}

void ufs_x_prefetch(const ufs_x *x, int m, const int *j)
{
    if (x->kind == UFS_X_SOURCE && m > 0) x->source.prefetch(x->source.data, m, j);
}

void ufs_x_mul_some(const ufs_x *x, int m, const int *j, int c, const double *v, double *y)
{
    x->source.mul(x->source.data, m, j, c, v, y);
}

void ufs_x_cross_some(const ufs_x *x, int m, const int *j, int c, const double *t, double *u)
{
    x->source.cross(x->source.data, m, j, c, t, u);
}

void ufs_x_gram_some(const ufs_x *x, int m, const int *j, int from, const double *root, double *g)
{
    x->source.gram_some(x->source.data, m, j, from, root, g);
}

double ufs_x_dot(const ufs_x *x, int j, const double *w, double total, double *scratch)
{
    if (x->kind == UFS_X_SPARSE) return x_sparse_dot(x, j, w, total);
    return la_dot(x->n, ufs_x_column(x, j, scratch), w);
}

double ufs_x_axpy(const ufs_x *x, int j, double a, double *y, double *scratch)
{
    if (x->kind == UFS_X_SPARSE) return x_sparse_axpy(x, j, a, y);
    la_axpy(x->n, a, ufs_x_column(x, j, scratch), y);
    return 0.0;
}

void ufs_x_ss(const ufs_x *x, double *ss)
{
    void *mark = vmaxget();

    if (x->ss) {
        ufs_copy(ss, x->ss, (size_t) x->p);
    } else if (x->kind == UFS_X_DENSE) {
        for (int j = 0; j < x->p; j++) ss[j] = la_ss((size_t) x->n, dense_column(x, j));
    } else if (x->kind == UFS_X_SPARSE) {
        for (int j = 0; j < x->p; j++) ss[j] = x_sparse_ss(x, j);
    } else {
        int at_once = ufs_x_at_once(x), *index = ufs_ialloc((size_t) at_once);
        double *block = ufs_dalloc((size_t) x->n, (size_t) at_once);
        ufs_x_sweep(x, at_once);
        for (int j0 = 0; j0 < x->p; j0 += at_once) {
            int m = x->p - j0 < at_once ? x->p - j0 : at_once;
            for (int k = 0; k < m; k++) index[k] = j0 + k;
            ufs_x_columns(x, m, index, block);
            for (int k = 0; k < m; k++)
                ss[j0 + k] = la_ss((size_t) x->n, block + (size_t) k * (size_t) x->n);
        }
    }
    vmaxset(mark);
}

typedef struct {
    size_t n;
    const double *root;
    double *ss;
} ss_visit;

static void add_weighted(void *data, int j, const double *column)
{
    ss_visit *to = data;
    double ss = 0.0;
    for (size_t i = 0; i < to->n; i++) {
        double v = to->root[i] * column[i];
        ss += v * v;
    }
    to->ss[j] = ss;
}

void ufs_x_weighted_ss(const ufs_x *x, const double *root, double *ss)
{
    ss_visit to = {.n = (size_t) x->n, .root = root, .ss = ss};
    if (x->kind == UFS_X_SPARSE)
        x_sparse_weighted_ss(x, root, ss);
    else
        ufs_x_each_column(x, add_weighted, &to);
}

static void add_squares(void *data, int j, const double *column)
{
    ss_visit *to = data;
    (void) j;
    for (size_t i = 0; i < to->n; i++) to->ss[i] += column[i] * column[i];
}

void ufs_x_row_ss(const ufs_x *x, double *ss)
{
    ss_visit to = {.n = (size_t) x->n, .ss = ss};
    memset(ss, 0, to.n * sizeof(double));
    if (x->kind == UFS_X_SPARSE)
        x_sparse_row_ss(x, ss);
    else if (x->kind == UFS_X_SOURCE)
        x->source.row_forms(x->source.data, NULL, ss);
    else
        ufs_x_each_column(x, add_squares, &to);
}

void ufs_x_rows(const ufs_x *x, int m, const int *i, double *out)
{
    size_t N = (size_t) x->n, M = (size_t) m;

    if (x->kind == UFS_X_SPARSE) {
        x_sparse_rows(x, m, i, out);
    } else if (x->kind == UFS_X_SOURCE) {
        x->source.rows(x->source.data, m, i, out);
    } else {
        bool scaled = x->kind == UFS_X_SCALED;
        for (size_t j = 0; j < (size_t) x->p; j++) {
            const double *col = x->dense + (scaled && x->column ? (size_t) x->column[j] : j) * N;
            double mean = scaled && x->shift ? x->shift[j] : 0.0;
            double s = scaled && x->divide ? x->divide[j] : 1.0;
            for (size_t k = 0; k < M; k++) out[k + j * M] = (col[i[k]] - mean) / s;
        }
    }
}

enum { STRIP = 256 };

typedef struct {
    int p;
    const double *s;
    double *half;  /* p x STRIP: columns of S, the upper triangle twice */
    double *strip; /* n x STRIP */
    double *out;
} form_visit;

/* The upper triangle counts twice, so that a strip of columns needs no row below it. */
static void forms_of(void *data, int first, int n, const double *x)
{
    form_visit *to = data;
    int p = to->p;
    size_t N = (size_t) n, P = (size_t) p;
    double *out = to->out + first;

    memset(out, 0, N * sizeof(double));
    for (int from = 0; from < p; from += STRIP) {
        int wide = p - from < STRIP ? p - from : STRIP, deep = from + wide;
        R_CheckUserInterrupt();
        for (size_t j = 0; j < (size_t) wide; j++) {
            size_t at = (size_t) from + j;
            double *half = to->half + j * (size_t) deep;
            for (size_t i = 0; i < (size_t) deep; i++)
                half[i] = i < at ? 2.0 * to->s[i + at * P] : i == at ? to->s[i + at * P] : 0.0;
        }
        la_gemm('N', 'N', n, wide, deep, 1.0, x, n, to->half, deep, 0.0, to->strip, n);
        for (size_t j = 0; j < (size_t) wide; j++) {
            const double *col = x + ((size_t) from + j) * N, *with = to->strip + j * N;
            for (size_t i = 0; i < N; i++) out[i] += col[i] * with[i];
        }
    }
}

static void forms_by_rows(const ufs_x *x, form_visit *to)
{
    double *block = ufs_dalloc(STRIP, (size_t) x->p);
    int index[STRIP];

    for (int from = 0; from < x->n; from += STRIP) {
        int m = x->n - from < STRIP ? x->n - from : STRIP;
        for (int k = 0; k < m; k++) index[k] = from + k;
        ufs_x_rows(x, m, index, block);
        forms_of(to, from, m, block);
    }
}

void ufs_x_row_forms(const ufs_x *x, const double *s, double *out)
{
    size_t P = (size_t) x->p, wide = P < STRIP ? P : STRIP;
    void *mark = vmaxget();
    form_visit to = {.p = x->p, .s = s, .out = out};

    if (x->kind == UFS_X_SOURCE) {
        x->source.row_forms(x->source.data, s, out);
        return;
    }
    to.half = ufs_dalloc(P, wide);
    to.strip = ufs_dalloc(x->kind == UFS_X_DENSE ? (size_t) x->n : STRIP, wide);
    if (x->kind == UFS_X_DENSE)
        forms_of(&to, 0, x->n, x->dense);
    else if (x->kind == UFS_X_SPARSE)
        x_sparse_each_rows(x, STRIP, forms_of, &to);
    else
        forms_by_rows(x, &to);
    vmaxset(mark);
}

void ufs_x_gram_rows(const ufs_x *x, const double *w, double *k)
{
    int n = x->n, width = x->kind == UFS_X_SOURCE ? ufs_x_at_once(x) : 128;
    size_t N = (size_t) n;
    char up = 'U', no = 'N';
    double one = 1.0;
    void *mark = vmaxget();

    if (x->kind == UFS_X_SPARSE) {
        x_sparse_gram_rows(x, w, k);
        return;
    }
    if (w == NULL) {
        if (x->kind == UFS_X_DENSE)
            la_gram('N', n, x->p, x->dense, k);
        else if (x->kind == UFS_X_SCALED)
            x_scaled_gram_rows(x, k);
        else
            x->source.gram(x->source.data, true, k);
        return;
    }
    double *block = ufs_dalloc(N, (size_t) width);
    int *index = ufs_ialloc((size_t) width);
    memset(k, 0, N * N * sizeof(double));
    ufs_x_sweep(x, width);
    for (int j0 = 0; j0 < x->p; j0 += width) {
        int m = x->p - j0 < width ? x->p - j0 : width;
        for (int j = 0; j < m; j++) index[j] = j0 + j;
        ufs_x_columns(x, m, index, block);
        for (int j = 0; j < m; j++) {
            double root = sqrt(w[j0 + j]), *col = block + (size_t) j * N;
            for (size_t i = 0; i < N; i++) col[i] *= root;
        }
        F77_CALL(dsyrk)(&up, &no, &n, &m, &one, block, &n, &one, k, &n FCONE FCONE);
    }
    la_fill_lower(n, k);
    vmaxset(mark);
}

void ufs_x_forms(const ufs_x *x, const double *k, double *form)
{
    if (x->kind == UFS_X_SPARSE)
        x_sparse_forms(x, k, form);
    else
        for (int j = 0; j < x->p; j++) form[j] = R_NaN;
}

void ufs_x_gram_cols(const ufs_x *x, double *g)
{
    if (x->kind == UFS_X_DENSE)
        la_gram('T', x->n, x->p, x->dense, g);
    else if (x->kind == UFS_X_SCALED)
        x_scaled_gram_cols(x, g);
    else if (x->kind == UFS_X_SPARSE)
        x_sparse_gram_cols(x, g);
    else
        x->source.gram(x->source.data, false, g);
}

double ufs_x_gram_rows_cost(const ufs_x *x)
{
    double n = x->n;
    return x->kind == UFS_X_SPARSE ? x_sparse_gram_rows_cost(x) : n * n * (double) x->p;
}
