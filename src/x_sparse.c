/* x_sparse.c: products with a centred and scaled column-compressed matrix that is never
 * centred or scaled in memory.
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

/* Columns with more than n/3 entries are formed where a zero's own value would be taken out and
 * put back: that cancels no digits for the others. In Gram matrices it is faster, too. */
bool x_sparse_is_full(const ufs_x *x, int j)
{
    return x_sparse_count(x, j) > x->n / 3;
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
                sum[0] = x_sparse_sum(x_sparse_count(x, j), x->value + first, x->row + first, slab);
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
            int a = x->start[ufs_x_user(x, j)], end = a + x_sparse_count(x, j), b = at[j];
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

/* ---- X'X ------------------------------------------------------------------------------------ */

/* Every row adds the products of its entries: sum_i nnz_i^2 flops by
 * symmetry, where each column against all entries would cost 2 p nnz. Columns with more than n/3
 * entries take that way nevertheless (see x_sparse_is_full()), as the centring, which is done on the
 * sums here, would cancel digits.
 *
 * The others are taken SEGMENT at a time, and X'X in tiles of two segments, which stay in the
 * cache. All tiles of some segments, STRIP bytes, are filled in one sweep over blocks of rows; the
 * entries of a block are put in order by rows for that. Memory: STRIP, 12 ENTRIES bytes or the entries of
 * one row, and 64 columns of x and of X'X. */
enum { SEGMENT = 256, ENTRIES = 1 << 21 };
static const double STRIP = 134217728.0;

typedef struct {
    const ufs_x *x;
    int n_few, *few; /* columns that are taken by rows, ascending */
    int n_segment;   /* of these */
    int *at;         /* n_few: the next entry of each */
    double *sum;     /* n_few: of the entries over s_j */
    int block, row;  /* rows of a block, and the first of this one */
    int *start;      /* (block + 1) x n_segment: where the entries of a row begin */
    int *cursor;     /* block */
    int *index;      /* entries of the block: the column in its segment, */
    double *value;   /* and the value over s_j */
    double *tile;    /* SEGMENT x SEGMENT for each pair of segments of the strip */
} gram_work;

static int width_of(const gram_work *work, int segment)
{
    int left = work->n_few - segment * SEGMENT;
    return left < SEGMENT ? left : SEGMENT;
}

/* The entries of the block's rows in the columns of a segment, by rows, from `used` on; how many are
 * used then. */
static int sort_segment(gram_work *work, int segment, int used)
{
    const ufs_x *x = work->x;
    int *start = work->start + (size_t) segment * ((size_t) work->block + 1), rows = work->block;
    int end = work->row + rows, first = segment * SEGMENT;

    for (int r = 0; r <= rows; r++) start[r] = 0;
    for (int c = first; c < first + width_of(work, segment); c++) {
        int last = x->start[ufs_x_user(x, work->few[c]) + 1];
        for (int e = work->at[c]; e < last && x->row[e] < end; e++)
            start[x->row[e] - work->row + 1]++;
    }
    start[0] = used;
    for (int r = 0; r < rows; r++) {
        start[r + 1] += start[r];
        work->cursor[r] = start[r];
    }
    for (int c = first; c < first + width_of(work, segment); c++) {
        int j = work->few[c], last = x->start[ufs_x_user(x, j) + 1], e = work->at[c];
        double s = ufs_x_divide(x, j);
        for (; e < last && x->row[e] < end; e++) {
            int to = work->cursor[x->row[e] - work->row]++;
            work->index[to] = c - first;
            work->value[to] = x->value[e] / s;
        }
        work->at[c] = e;
    }
    return start[rows];
}

/* What the block's rows add to the products of two segments. */
static void add_rows(const gram_work *work, int left, int right, double *tile)
{
    size_t rows = (size_t) work->block + 1;
    const int *from = work->start + (size_t) left * rows, *to = work->start + (size_t) right * rows;

    for (size_t r = 0; r + 1 < rows; r++)
        for (int a = from[r]; a < from[r + 1]; a++) {
            double *line = tile + (size_t) work->index[a] * SEGMENT, v = work->value[a];
            for (int b = to[r]; b < to[r + 1]; b++) line[work->index[b]] += v * work->value[b];
        }
}

static double *tile_of(const gram_work *work, int first, int left, int right)
{
    size_t at = (size_t) (left - first) * (size_t) (work->n_segment - first) +
                (size_t) (right - first);
    return work->tile + at * SEGMENT * SEGMENT;
}

/* Centred, and given to the caller. */
static void visit_tile(const gram_work *work, int left, int right, double *tile,
                       void (*visit)(void *, const ufs_x_gram_part *), void *data)
{
    const ufs_x *x = work->x;
    int *l = work->few + left * SEGMENT, *r = work->few + right * SEGMENT;
    const double *sl = work->sum + left * SEGMENT, *sr = work->sum + right * SEGMENT;
    ufs_x_gram_part part = {width_of(work, left), l, width_of(work, right), r, tile, SEGMENT, 1};

    for (int a = 0; a < part.n_left; a++) {
        double m = ufs_x_shift(x, l[a]) / ufs_x_divide(x, l[a]), *line = tile + a * SEGMENT;
        for (int b = 0; b < part.n_right; b++) {
            double c = ufs_x_shift(x, r[b]) / ufs_x_divide(x, r[b]);
            line[b] += x->n * m * c - sl[a] * c - m * sr[b];
        }
    }
    visit(data, &part);
    if (left == right) return;
    part = (ufs_x_gram_part){part.n_right, r, part.n_left, l, tile, 1, SEGMENT};
    visit(data, &part);
}

/* All tiles of segments first .. last - 1 with those from `first` on. */
static void fill_strip(gram_work *work, int first, int last)
{
    const ufs_x *x = work->x;
    size_t tiles = (size_t) (last - first) * (size_t) (work->n_segment - first);

    memset(work->tile, 0, tiles * SEGMENT * SEGMENT * sizeof(double));
    for (int c = first * SEGMENT; c < work->n_few; c++)
        work->at[c] = x->start[ufs_x_user(x, work->few[c])];
    for (work->row = 0; work->row < x->n; work->row += work->block) {
        int used = 0;
        ufs_hook_wait(x->hook, -1);
        for (int s = first; s < work->n_segment; s++) used = sort_segment(work, s, used);
        for (int s = first; s < last; s++)
            for (int t = s; t < work->n_segment; t++)
                add_rows(work, s, t, tile_of(work, first, s, t));
    }
}

/* Columns j[0 .. m) with all others, and these with them. */
static void visit_full(const gram_work *work, int m, int *j, double *column, double *product,
                       void (*visit)(void *, const ufs_x_gram_part *), void *data)
{
    const ufs_x *x = work->x;
    size_t P = (size_t) x->p;
    int *all = work->at;

    for (int i = 0; i < x->p; i++) all[i] = i;
    for (int l = 0; l < m; l++) x_sparse_column(x, j[l], column + (size_t) l * (size_t) x->n);
    x_sparse_cross(x, m, column, product);
    visit(data, &(ufs_x_gram_part){m, j, x->p, all, product, P, 1});
    for (size_t a = 0; a < (size_t) m; a++)
        for (int b = 0; b < work->n_few; b++)
            product[(size_t) b + a * P] = product[(size_t) work->few[b] + a * P];
    visit(data, &(ufs_x_gram_part){work->n_few, work->few, m, j, product, 1, P});
}

static gram_work begin(const ufs_x *x)
{
    size_t P = (size_t) x->p;
    gram_work work = {.x = x, .few = ufs_ialloc(P), .at = ufs_ialloc(P), .sum = ufs_dzero(P, 1)};
    double most = 0.0, entries = 0.0;
    int *in_row = ufs_ialloc((size_t) x->n);

    for (int j = 0; j < x->p; j++)
        if (!x_sparse_is_full(x, j)) work.few[work.n_few++] = j;
    for (int c = 0; c < work.n_few; c++) {
        int u = ufs_x_user(x, work.few[c]);
        for (int e = x->start[u]; e < x->start[u + 1]; e++) {
            work.sum[c] += x->value[e] / ufs_x_divide(x, work.few[c]);
            in_row[x->row[e]]++;
        }
    }
    work.n_segment = (work.n_few + SEGMENT - 1) / SEGMENT;
    for (int i = 0; i < x->n; i++) entries += in_row[i];
    work.block = (int) fmax(1.0, fmin(x->n, ENTRIES / fmax(1.0, entries / x->n)));
    for (int i0 = 0; i0 < x->n; i0 += work.block) {
        double here = 0.0;
        for (int i = i0; i < x->n && i < i0 + work.block; i++) here += in_row[i];
        most = fmax(most, here);
    }
    work.start = ufs_ialloc(((size_t) work.block + 1) * (size_t) work.n_segment);
    work.cursor = ufs_ialloc((size_t) work.block);
    work.index = ufs_ialloc((size_t) most);
    work.value = ufs_dalloc((size_t) most, 1);
    return work;
}

void x_sparse_gram(const ufs_x *x, void (*visit)(void *, const ufs_x_gram_part *), void *data)
{
    void *mark = vmaxget();
    gram_work work = begin(x);
    double tile = SEGMENT * SEGMENT * sizeof(double), tiles;
    int full[X_COLUMNS], m = 0;

    tiles = fmin(STRIP / tile, (double) work.n_segment * work.n_segment);
    work.tile = ufs_dalloc((size_t) fmax(tiles, work.n_segment), SEGMENT * SEGMENT);
    for (int first = 0, last; first < work.n_segment; first = last) {
        last = first + (int) fmax(1.0, STRIP / tile / (work.n_segment - first));
        if (last > work.n_segment) last = work.n_segment;
        fill_strip(&work, first, last);
        for (int s = first; s < last; s++)
            for (int t = s; t < work.n_segment; t++)
                visit_tile(&work, s, t, tile_of(&work, first, s, t), visit, data);
    }
    if (work.n_few < x->p) {
        double *column = ufs_dalloc((size_t) x->n, X_COLUMNS);
        double *product = ufs_dalloc((size_t) x->p, X_COLUMNS);
        for (int j = 0; j <= x->p; j++) {
            if (j < x->p && x_sparse_is_full(x, j)) full[m++] = j;
            if (m < X_COLUMNS && (j < x->p || m == 0)) continue;
            R_CheckUserInterrupt();
            visit_full(&work, m, full, column, product, visit, data);
            m = 0;
        }
    }
    vmaxset(mark);
}
