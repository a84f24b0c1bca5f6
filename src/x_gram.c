/* x_gram.c: X'X of a sparse X. Every row adds the products of its entries: sum_i nnz_i^2 flops by
 * symmetry, where each column against all entries would cost 2 p nnz. Columns with more than n/3
 * entries take that way nevertheless (see x_ops.c), as the centring, which is done on the
 * sums here, would cancel digits.
 *
 * The others are taken SEGMENT at a time, and X'X in tiles of two segments, which stay in the
 * cache. All tiles of some segments, STRIP bytes, are filled in one sweep over blocks of rows; the
 * entries of a block are put in order by rows for that. Memory: STRIP, 12 ENTRIES bytes or the entries of
 * one row, and 64 columns of x and of X'X. */
#include "la.h"
#include "x_sparse.h"

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
