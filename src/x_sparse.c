/* x_sparse.c: products with a centred and scaled column-compressed matrix that is never
 * centred or scaled in memory (see x_ops.h).
 *
 *   X V  = R D V - 1 (m'D V)           D = diag(1/s)
 *   X'T  = D (R'T - m (1'T))
 *   X W X' = R W D^2 R' - u 1' - 1 u' + q 11',   u = R W D^2 m,  q = m'W D^2 m
 *
 * The c columns of the small side are done 8 at a time, stored by rows (a slab), so that an
 * entry of R meets 8 neighbouring numbers: one read of R per 8 columns. A single column is a slab of
 * its own, which stays in the cache four times as long as one of four. (Slabs in tiles of rows that
 * fit the cache gain at 200,000 rows, and lose as much at 60,000.) */
#include "x_sparse.h"
#include "la.h"

enum { WIDE = 8, NARROW = 4 };

static int count(const ufs_x *x, int j)
{
    int u = ufs_x_user(x, j);
    return x->start[u + 1] - x->start[u];
}

/* Columns with more than n/3 entries are formed where a zero's own value would be taken out and
 * put back: that cancels no digits for the others. In Gram matrices it is faster, too. */
bool x_sparse_is_full(const ufs_x *x, int j)
{
    return count(x, j) > x->n / 3;
}

double x_sparse_entries(const ufs_x *x)
{
    double total = 0.0;
    for (int j = 0; j < x->p; j++) total += count(x, j);
    return total;
}

/* ---- slabs: w of the c columns, stored by rows, the rest zero ----------------------- */

static int slab_width(int left)
{
    return left > NARROW ? WIDE : left > 1 ? NARROW : 1;
}

double x_sparse_sum(int m, const double *u, const int *row, const double *w)
{
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    int e = 0;

    for (; e + 3 < m; e += 4) {
        a += u[e] * w[row[e]];
        b += u[e + 1] * w[row[e + 1]];
        c += u[e + 2] * w[row[e + 2]];
        d += u[e + 3] * w[row[e + 3]];
    }
    for (; e < m; e++) a += u[e] * w[row[e]];
    return (a + b) + (c + d);
}

/* sum_k += u'slab_k over the entries of column j. Both loops have a length that the compiler knows
 * where w is a constant, and run over numbers of their own, which no slab can overlap. */
static inline void gather(int w, const ufs_x *x, int j, const double *slab, double *sum)
{
    double own[WIDE] = {0.0};
    int u = ufs_x_user(x, j);

    for (int e = x->start[u]; e < x->start[u + 1]; e++) {
        const double *at = slab + (size_t) x->row[e] * (size_t) w;
        double v = x->value[e];
        for (int k = 0; k < w; k++) own[k] += v * at[k];
    }
    memcpy(sum, own, sizeof own);
}

/* slab_k += weight_k u over the same entries. */
static inline void scatter(int w, const ufs_x *x, int j, const double *weight, double *slab)
{
    double own[WIDE];
    int u = ufs_x_user(x, j);

    memcpy(own, weight, sizeof own);
    for (int e = x->start[u]; e < x->start[u + 1]; e++) {
        double *at = slab + (size_t) x->row[e] * (size_t) w, v = x->value[e];
        for (int k = 0; k < w; k++) at[k] += v * own[k];
    }
}

/* ---- products ----------------------------------------------------------------------- */

void x_sparse_mul(const ufs_x *x, int c, const double *v, double *y)
{
    size_t N = (size_t) x->n, P = (size_t) x->p;
    void *mark = vmaxget();
    double *slab = ufs_dalloc(N, WIDE);

    for (int k0 = 0, w; k0 < c; k0 += w) {
        double weight[WIDE] = {0.0}, off[WIDE] = {0.0};
        w = slab_width(c - k0);
        size_t m = (size_t) (c - k0 < w ? c - k0 : w), W = (size_t) w;
        memset(slab, 0, N * W * sizeof(double));
        ufs_hook_wait(x->hook, -1);
        for (int j = 0; j < x->p; j++) {
            bool any = false;
            for (size_t k = 0; k < m; k++) {
                weight[k] = v[(size_t) j + ((size_t) k0 + k) * P] / ufs_x_divide(x, j);
                off[k] += ufs_x_shift(x, j) * weight[k];
                any = any || weight[k] != 0.0;
            }
            if (any && w == WIDE)
                scatter(WIDE, x, j, weight, slab);
            else if (any && w == NARROW)
                scatter(NARROW, x, j, weight, slab);
            else if (any)
                scatter(1, x, j, weight, slab);
        }
        for (size_t k = 0; k < m; k++)
            for (size_t i = 0; i < N; i++) y[i + ((size_t) k0 + k) * N] = slab[i * W + k] - off[k];
    }
    vmaxset(mark);
}

void x_sparse_cross(const ufs_x *x, int c, const double *t, double *u)
{
    size_t N = (size_t) x->n, P = (size_t) x->p;
    void *mark = vmaxget();
    double *slab = ufs_dalloc(N, WIDE), sum[WIDE];

    for (int k0 = 0, w; k0 < c; k0 += w) {
        double total[WIDE] = {0.0};
        w = slab_width(c - k0);
        size_t m = (size_t) (c - k0 < w ? c - k0 : w), W = (size_t) w;
        memset(slab, 0, N * W * sizeof(double));
        for (size_t k = 0; k < m; k++)
            for (size_t i = 0; i < N; i++) {
                double entry = t[i + ((size_t) k0 + k) * N];
                slab[i * W + k] = entry;
                total[k] += entry;
            }
        ufs_hook_wait(x->hook, -1);
        for (int j = 0; j < x->p; j++) {
            const int first = x->start[ufs_x_user(x, j)];
            if (w == WIDE)
                gather(WIDE, x, j, slab, sum);
            else if (w == NARROW)
                gather(NARROW, x, j, slab, sum);
            else
                sum[0] = x_sparse_sum(count(x, j), x->value + first, x->row + first, slab);
            for (size_t k = 0; k < m; k++)
                u[(size_t) j + ((size_t) k0 + k) * P] = (sum[k] - ufs_x_shift(x, j) * total[k]) /
                                                        ufs_x_divide(x, j);
        }
    }
    vmaxset(mark);
}

/* ---- single columns ----------------------------------------------------------------- */

void x_sparse_column(const ufs_x *x, int j, double *out)
{
    int u = ufs_x_user(x, j);
    double m = ufs_x_shift(x, j), s = ufs_x_divide(x, j), zero = -m / s;

    for (int i = 0; i < x->n; i++) out[i] = zero;
    for (int e = x->start[u]; e < x->start[u + 1]; e++) out[x->row[e]] = (x->value[e] - m) / s;
}

double x_sparse_dot(const ufs_x *x, int j, const double *w, double total)
{
    int u = ufs_x_user(x, j);
    double sum = 0.0;
    for (int e = x->start[u]; e < x->start[u + 1]; e++) sum += x->value[e] * w[x->row[e]];
    return (sum - ufs_x_shift(x, j) * total) / ufs_x_divide(x, j);
}

double x_sparse_axpy(const ufs_x *x, int j, double a, double *y)
{
    int u = ufs_x_user(x, j);
    double weight = a / ufs_x_divide(x, j);
    for (int e = x->start[u]; e < x->start[u + 1]; e++) y[x->row[e]] += weight * x->value[e];
    return ufs_x_shift(x, j) * weight;
}

/* The rows without an entry share the weight that the others leave. */
void x_sparse_weighted_ss(const ufs_x *x, const double *root, double *ss)
{
    double all = root ? la_ss((size_t) x->n, root) : x->n;

    for (int j = 0; j < x->p; j++) {
        int u = ufs_x_user(x, j);
        double m = ufs_x_shift(x, j), s = ufs_x_divide(x, j), sum = 0.0, rest = all;
        for (int e = x->start[u]; e < x->start[u + 1]; e++) {
            double r = root ? root[x->row[e]] : 1.0, w = r * r, d = x->value[e] - m;
            sum += w * d * d;
            rest -= w;
        }
        if (x->start[u + 1] - x->start[u] == x->n) rest = 0.0;
        ss[j] = (sum + fmax(rest, 0.0) * m * m) / s / s;
    }
}

/* What an entry adds to the square of a zero, which is the same in all rows of a column. */
void x_sparse_row_ss(const ufs_x *x, double *ss)
{
    void *mark = vmaxget();
    double zeros = 0.0, *column = ufs_dalloc((size_t) x->n, 1);

    for (int j = 0; j < x->p; j++) {
        int u = ufs_x_user(x, j);
        double m = ufs_x_shift(x, j), s = ufs_x_divide(x, j), zero = m * m / s / s;
        if (x_sparse_is_full(x, j)) {
            x_sparse_column(x, j, column);
            for (int i = 0; i < x->n; i++) ss[i] += column[i] * column[i];
            continue;
        }
        zeros += zero;
        for (int e = x->start[u]; e < x->start[u + 1]; e++) {
            double d = (x->value[e] - m) / s;
            ss[x->row[e]] += d * d - zero;
        }
    }
    for (int i = 0; i < x->n; i++) ss[i] = fmax(ss[i] + zeros, 0.0);
    vmaxset(mark);
}

/* ---- single rows -------------------------------------------------------------------- */

void x_sparse_rows(const ufs_x *x, int m, const int *i, double *out)
{
    size_t M = (size_t) m;
    void *mark = vmaxget();
    int *to_row = ufs_ialloc((size_t) x->n);

    for (int r = 0; r < x->n; r++) to_row[r] = -1;
    for (int k = 0; k < m; k++) to_row[i[k]] = k;
    for (int j = 0; j < x->p; j++) {
        int u = ufs_x_user(x, j);
        double s = ufs_x_divide(x, j), mean = ufs_x_shift(x, j), *to = out + (size_t) j * M;
        for (size_t k = 0; k < M; k++) to[k] = -mean / s;
        for (int e = x->start[u]; e < x->start[u + 1]; e++)
            if (to_row[x->row[e]] >= 0) to[to_row[x->row[e]]] = (x->value[e] - mean) / s;
    }
    vmaxset(mark);
}

/* ---- Gram matrices ------------------------------------------------------------------ */

/* Where the entries of every column begin. */
static void first_entries(const ufs_x *x, int *at)
{
    for (int j = 0; j < x->p; j++) at[j] = x->start[ufs_x_user(x, j)];
}

double x_sparse_gram_rows_cost(const ufs_x *x)
{
    double n = x->n, cost = 0.0;
    for (int j = 0; j < x->p; j++) {
        double nnz = count(x, j);
        cost += x_sparse_is_full(x, j) ? n * n : nnz * nnz;
    }
    return cost + 2.0 * n * n;
}

/* Columns with hardly a zero, by dsyrk. */
static void add_full_columns(const ufs_x *x, const double *w, double *k)
{
    int n = x->n, waiting = 0;
    size_t N = (size_t) n;
    double *block = ufs_dalloc(N, X_COLUMNS);

    for (int j = 0; j <= x->p; j++) {
        if (j < x->p && x_sparse_is_full(x, j)) {
            double *col = block + (size_t) waiting++ * N, root = w ? sqrt(w[j]) : 1.0;
            x_sparse_column(x, j, col);
            for (size_t i = 0; i < N; i++) col[i] *= root;
        }
        if (waiting < X_COLUMNS && (j < x->p || waiting == 0)) continue;
        R_CheckUserInterrupt();
        la_syrk('N', n, waiting, 1.0, block, n, 1.0, k, n);
        waiting = 0;
    }
}

void x_sparse_gram_rows(const ufs_x *x, const double *w, double *k)
{
    size_t N = (size_t) x->n;
    void *mark = vmaxget();
    double *u = ufs_dzero(N, 1), q = 0.0;
    int *at = ufs_ialloc((size_t) x->p);

    memset(k, 0, N * N * sizeof(double));
    add_full_columns(x, w, k);
    first_entries(x, at);
    /* A few columns of K at a time: 2.4 times as fast as column by column of x for 3,000 x 20,000
     * counts with 8 million entries; 32 to 192 do as well. */
    for (int from = 0; from < x->n; from += X_COLUMNS) {
        R_CheckUserInterrupt();
        for (int j = 0; j < x->p; j++) {
            int c = ufs_x_user(x, j), b = at[j];
            double s = ufs_x_divide(x, j), m = ufs_x_shift(x, j),
                   weight = (w ? w[j] : 1.0) / (s * s);
            if (weight == 0.0 || x_sparse_is_full(x, j)) continue;
            for (; b < x->start[c + 1] && x->row[b] < from + X_COLUMNS; b++) {
                double v = weight * x->value[b], *col = k + (size_t) x->row[b] * N;
                for (int a = x->start[c]; a <= b; a++) col[x->row[a]] += v * x->value[a];
                u[x->row[b]] += v * m;
            }
            at[j] = b;
            if (from == 0) q += weight * m * m;
        }
    }
    for (size_t b = 0; b < N; b++)
        for (size_t a = 0; a <= b; a++) k[a + b * N] += q - u[a] - u[b];
    la_fill_lower(x->n, k);
    vmaxset(mark);
}

/* Takes a few columns of K at a time, as x_sparse_gram_rows() does: twice as fast as with all of K for
 * every 64 columns of x. */
void x_sparse_forms(const ufs_x *x, const double *k, double *form)
{
    size_t N = (size_t) x->n;
    void *mark = vmaxget();
    double *sum = ufs_dzero(N, 1), *cross = ufs_dzero((size_t) x->p, 1), all = 0.0;
    int *at = ufs_ialloc((size_t) x->p);

    for (size_t i = 0; i < N; i++) {
        for (size_t l = 0; l < N; l++) sum[i] += k[l + i * N];
        all += sum[i];
    }
    first_entries(x, at);
    memset(form, 0, (size_t) x->p * sizeof(double));
    for (int from = 0; from < x->n; from += X_COLUMNS) {
        R_CheckUserInterrupt();
        for (int j = 0; j < x->p; j++) {
            int a = x->start[ufs_x_user(x, j)], end = a + count(x, j), b = at[j];
            for (; b < end && x->row[b] < from + X_COLUMNS && !x_sparse_is_full(x, j); b++) {
                const double *col = k + (size_t) x->row[b] * N, v = x->value[b];
                double before = x_sparse_sum(b - a, x->value + a, x->row + a, col);
                form[j] += v * (v * col[x->row[b]] + 2.0 * before);
                cross[j] += v * sum[x->row[b]];
            }
            at[j] = b;
        }
    }
    for (int j = 0; j < x->p; j++) {
        double c = ufs_x_shift(x, j), s = ufs_x_divide(x, j);
        form[j] = x_sparse_is_full(x, j) ? R_NaN
                                         : (form[j] - 2.0 * c * cross[j] + c * c * all) / s / s;
    }
    vmaxset(mark);
}
