/* x_ops.c: the operations of x_ops.h by kind; the sparse ones are in x_sparse.c. */
#include "x_ops.h"
#include "la.h"
#include "prepare.h"
#include "x_sparse.h"

/* Calls a source, which returns `length` numbers. */
static void source_call(const ufs_x *x, ufs_x_call what, size_t length, double *out)
{
    x->source.call(x->source.data, &what, length, out);
}

/* A walk over X: columns from .. from + m - 1 in each step. */
typedef struct {
    const ufs_x *x;
    int from, m, width, *index;
    double *block;
    const double *columns; /* n x m */
} walk;

static const double *dense_column(const ufs_x *x, int j)
{
    return x->dense + (size_t) j * (size_t) x->n;
}

/* width 0: as many columns as are worth reading together, or all of a dense X, which is not copied. */
static walk walk_begin(const ufs_x *x, int width)
{
    walk at = {.x = x, .width = width};

    if (x->kind == UFS_X_SOURCE) at.width = ufs_x_at_once(x);
    if (at.width == 0) at.width = x->kind == UFS_X_DENSE ? x->p : UFS_STRIP * UFS_STRIP / x->n;
    at.width = at.width < 1 ? 1 : at.width < x->p ? at.width : x->p;
    at.index = ufs_ialloc((size_t) at.width);
    at.block = ufs_dalloc(x->kind == UFS_X_DENSE ? 0 : (size_t) x->n, (size_t) at.width);
    /* A source that is stored by rows, where each of several reads would be a pass, makes a copy for
     * them in one pass. */
    if (x->kind == UFS_X_SOURCE && at.width < x->p)
        source_call(x, (ufs_x_call){.name = "sweep"}, 0, NULL);
    return at;
}

static bool walk_next(walk *at)
{
    int left;

    at->from += at->m;
    left = at->x->p - at->from;
    at->m = left < at->width ? left : at->width;
    if (left <= 0) return false;
    ufs_hook_wait(at->x->hook, -1);
    for (int k = 0; k < at->m; k++) at->index[k] = at->from + k;
    at->columns = at->block;
    if (at->x->kind == UFS_X_DENSE)
        at->columns = dense_column(at->x, at->from);
    else
        ufs_x_columns(at->x, at->m, at->index, at->block);
    return true;
}

ufs_x ufs_x_dense(int n, int p, const double *x)
{
    return (ufs_x){.kind = UFS_X_DENSE, .n = n, .p = p, .dense = x};
}

double ufs_x_entries(const ufs_x *x)
{
    double total = 0.0;

    if (x->kind != UFS_X_SPARSE) return (double) x->n * (double) x->p;
    for (int j = 0; j < x->p; j++) total += x_sparse_count(x, j);
    return total;
}

void ufs_x_mul(const ufs_x *x, int c, const double *v, double *y)
{
    void *mark = vmaxget();

    if (x->kind == UFS_X_SPARSE) {
        x_sparse_mul(x, c, v, y);
    } else if (x->kind == UFS_X_SOURCE) {
        ufs_x_mul_some(x, x->p, NULL, c, v, y);
    } else {
        for (walk at = walk_begin(x, 0); walk_next(&at);)
            la_gemm('N', 'N', x->n, c, at.m, 1.0, at.columns, x->n, v + at.from, x->p,
                    at.from > 0 ? 1.0 : 0.0, y, x->n);
    }
    vmaxset(mark);
}

void ufs_x_cross(const ufs_x *x, int c, const double *t, double *u)
{
    void *mark = vmaxget();

    if (x->kind == UFS_X_SPARSE) {
        x_sparse_cross(x, c, t, u);
    } else if (x->kind == UFS_X_SOURCE) {
        ufs_x_cross_some(x, x->p, NULL, c, t, u);
    } else {
        for (walk at = walk_begin(x, 0); walk_next(&at);)
            la_gemm('T', 'N', at.m, c, x->n, 1.0, at.columns, x->n, t, x->n, 0.0, u + at.from,
                    x->p);
    }
    vmaxset(mark);
}

void ufs_x_cross_rows(const ufs_x *x, int c, const double *t, double *u)
{
    void *mark = vmaxget();

    if (x->kind == UFS_X_DENSE) {
        la_mul('T', 'N', c, x->p, x->n, 1.0, t, x->dense, 0.0, u);
    } else {
        double *tall = ufs_dalloc((size_t) x->p, (size_t) c);
        ufs_x_cross(x, c, t, tall);
        la_transpose(x->p, c, tall, u);
    }
    vmaxset(mark);
}

void ufs_x_gram_mul(const ufs_x *x, int c, const double *t, double *y)
{
    size_t len = (size_t) x->n * (size_t) c;
    void *mark = vmaxget();
    double *u = ufs_dalloc((size_t) x->p, (size_t) c);

    if (x->kind == UFS_X_SPARSE) {
        ufs_x_cross(x, c, t, u);
        ufs_x_mul(x, c, u, y);
    } else {
        /* Use each block of columns twice while it is in memory. */
        memset(y, 0, len * sizeof(double));
        for (walk at = walk_begin(x, X_COLUMNS); walk_next(&at);) {
            la_mul('T', 'N', at.m, c, x->n, 1.0, at.columns, t, 0.0, u);
            la_mul('N', 'N', x->n, c, at.m, 1.0, at.columns, u, 1.0, y);
        }
    }
    vmaxset(mark);
}

const double *ufs_x_column(const ufs_x *x, int j, double *scratch)
{
    if (x->kind == UFS_X_DENSE) return dense_column(x, j);
    if (x->kind == UFS_X_SPARSE) {
        x_sparse_column(x, j, scratch);
    } else if (x->kind == UFS_X_SOURCE) {
        ufs_x_columns(x, 1, &j, scratch);
    } else {
        int u = ufs_x_user(x, j);
        prepare_take(x->n, x->dense,
                     &(prepare_part){x->n, 1, NULL, &u, x->shift ? x->shift + j : NULL,
                                     x->divide ? x->divide + j : NULL},
                     scratch);
    }
    return scratch;
}

void ufs_x_columns(const ufs_x *x, int m, const int *j, double *out)
{
    size_t N = (size_t) x->n;

    if (x->kind == UFS_X_SOURCE) {
        source_call(x, (ufs_x_call){.name = "columns", .n_index = m, .index = j}, N * (size_t) m,
                    out);
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
    int width = x->kind == UFS_X_SOURCE && x->source.at_once > X_COLUMNS ? x->source.at_once
                                                                         : X_COLUMNS;
    return width < x->p ? width : x->p;
}

void ufs_x_each_column(const ufs_x *x, void (*visit)(void *data, int j, const double *column),
                       void *data)
{
    void *mark = vmaxget();

    for (walk at = walk_begin(x, 0); walk_next(&at);)
        for (int k = 0; k < at.m; k++)
            visit(data, at.from + k, at.columns + (size_t) k * (size_t) x->n);
    vmaxset(mark);
}

void ufs_x_by_rows(const ufs_x *x, const int *rows, double *out)
{
    size_t N = (size_t) x->n, P = (size_t) x->p;
    void *mark = vmaxget();
    ufs_x quiet = *x;

    /* Its share of what the caller reports is too small to be told. */
    quiet.hook = NULL;
    for (walk at = walk_begin(&quiet, X_COLUMNS); walk_next(&at);)
        for (size_t i = 0; i < N; i++) {
            const double *from = at.columns + (rows == NULL ? i : (size_t) rows[i]);
            double *to = out + i * P + at.from;
            for (size_t k = 0; k < (size_t) at.m; k++) to[k] = from[k * N];
        }
    vmaxset(mark);
}

void ufs_x_prefetch(const ufs_x *x, int m, const int *j)
{
    if (x->kind == UFS_X_SOURCE && m > 0)
        source_call(x, (ufs_x_call){.name = "prefetch", .n_index = m, .index = j}, 0, NULL);
}

void ufs_x_mul_some(const ufs_x *x, int m, const int *j, int c, const double *v, double *y)
{
    source_call(x, (ufs_x_call){.name = "mul", .m = m, .j = j, .rows = m, .cols = c, .value = v},
                (size_t) x->n * (size_t) c, y);
}

void ufs_x_cross_some(const ufs_x *x, int m, const int *j, int c, const double *t, double *u)
{
    source_call(x,
                (ufs_x_call){.name = "cross", .m = m, .j = j, .rows = x->n, .cols = c, .value = t},
                (size_t) m * (size_t) c, u);
}

void ufs_x_gram_some(const ufs_x *x, int m, const int *j, int from, const double *root, double *g)
{
    const void *mark = vmaxget();
    int *last = ufs_ialloc((size_t) (m - from));

    for (int k = from; k < m; k++) last[k - from] = k;
    source_call(x,
                (ufs_x_call){.name = "gram_columns",
                             .m = m,
                             .j = j,
                             .n_index = m - from,
                             .index = last,
                             .cols = x->n,
                             .value = root},
                (size_t) m * (size_t) (m - from), g);
    vmaxset(mark);
}

double ufs_x_dot(const ufs_x *x, int j, const double *w, double total, double *scratch)
{
    int u = ufs_x_user(x, j);
    double sum = 0.0;

    if (x->kind != UFS_X_SPARSE) return la_dot(x->n, ufs_x_column(x, j, scratch), w);
    for (int e = x->start[u]; e < x->start[u + 1]; e++) sum += x->value[e] * w[x->row[e]];
    return (sum - ufs_x_shift(x, j) * total) / ufs_x_divide(x, j);
}

double ufs_x_axpy(const ufs_x *x, int j, double a, double *y, double *scratch)
{
    int u = ufs_x_user(x, j);
    double weight = a / ufs_x_divide(x, j);

    if (x->kind != UFS_X_SPARSE) {
        la_axpy(x->n, a, ufs_x_column(x, j, scratch), y);
        return 0.0;
    }
    for (int e = x->start[u]; e < x->start[u + 1]; e++) y[x->row[e]] += weight * x->value[e];
    return ufs_x_shift(x, j) * weight;
}

void ufs_x_ss(const ufs_x *x, double *ss)
{
    if (x->ss)
        ufs_copy(ss, x->ss, (size_t) x->p);
    else
        ufs_x_weighted_ss(x, NULL, ss);
}

void ufs_x_weighted_ss(const ufs_x *x, const double *root, double *ss)
{
    if (x->kind == UFS_X_SPARSE) {
        x_sparse_weighted_ss(x, root, ss);
        return;
    }
    void *mark = vmaxget();
    for (walk at = walk_begin(x, 0); walk_next(&at);)
        for (int k = 0; k < at.m; k++) {
            const double *column = at.columns + (size_t) k * (size_t) x->n;
            double sum = 0.0;
            for (int i = 0; i < x->n; i++) {
                double v = root ? root[i] * column[i] : column[i];
                sum += v * v;
            }
            ss[at.from + k] = sum;
        }
    vmaxset(mark);
}

void ufs_x_row_ss(const ufs_x *x, double *ss)
{
    void *mark = vmaxget();

    memset(ss, 0, (size_t) x->n * sizeof(double));
    if (x->kind == UFS_X_SOURCE) {
        source_call(x, (ufs_x_call){.name = "row_forms"}, (size_t) x->n, ss);
    } else if (x->kind == UFS_X_SPARSE) {
        x_sparse_row_ss(x, ss);
    } else {
        for (walk at = walk_begin(x, 0); walk_next(&at);)
            for (int k = 0; k < at.m; k++) {
                const double *column = at.columns + (size_t) k * (size_t) x->n;
                for (int i = 0; i < x->n; i++) ss[i] += column[i] * column[i];
            }
    }
    vmaxset(mark);
}

void ufs_x_rows(const ufs_x *x, int m, const int *i, double *out)
{
    if (x->kind == UFS_X_SPARSE)
        x_sparse_rows(x, m, i, out);
    else if (x->kind == UFS_X_SOURCE)
        source_call(x, (ufs_x_call){.name = "rows", .n_index = m, .index = i},
                    (size_t) m * (size_t) x->p, out);
    else
        prepare_take(x->n, x->dense, &(prepare_part){m, x->p, i, x->column, x->shift, x->divide},
                     out);
}

/* half ((from + wide) x wide): columns from .. from + wide - 1 of S, its upper triangle twice, so that
 * they need no row below. */
static void fill_half(int p, int from, int wide, const double *s, double *half)
{
    size_t deep = (size_t) (from + wide);

    for (size_t j = 0; j < (size_t) wide; j++) {
        size_t at = (size_t) from + j;
        const double *col = s + at * (size_t) p;
        for (size_t i = 0; i < deep; i++)
            half[i + j * deep] = i < at ? 2.0 * col[i] : i == at ? col[i] : 0.0;
    }
}

/* By strips of rows, and of columns of S. */
void ufs_x_row_forms(const ufs_x *x, const double *s, double *out)
{
    int p = x->p, index[UFS_STRIP];

    if (x->kind == UFS_X_SOURCE) {
        source_call(x, (ufs_x_call){.name = "row_forms", .rows = p, .cols = p, .value = s},
                    (size_t) x->n, out);
        return;
    }
    void *mark = vmaxget();
    double *rows = ufs_dalloc(UFS_STRIP, (size_t) p), *half = ufs_dalloc(UFS_STRIP, (size_t) p);
    double *with = ufs_dalloc(UFS_STRIP, UFS_STRIP);
    for (int first = 0, m; first < x->n; first += m) {
        m = x->n - first < UFS_STRIP ? x->n - first : UFS_STRIP;
        for (int k = 0; k < m; k++) index[k] = first + k;
        ufs_x_rows(x, m, index, rows);
        memset(out + first, 0, (size_t) m * sizeof(double));
        for (int from = 0, wide; from < p; from += wide) {
            wide = p - from < UFS_STRIP ? p - from : UFS_STRIP;
            R_CheckUserInterrupt();
            fill_half(p, from, wide, s, half);
            la_mul('N', 'N', m, wide, from + wide, 1.0, rows, half, 0.0, with);
            for (int j = 0; j < wide; j++) {
                const double *col = rows + (size_t) (from + j) * (size_t) m;
                const double *by = with + (size_t) j * (size_t) m;
                for (int i = 0; i < m; i++) out[first + i] += col[i] * by[i];
            }
        }
    }
    vmaxset(mark);
}

void ufs_x_gram_rows(const ufs_x *x, const double *w, double *k)
{
    int n = x->n;
    size_t N = (size_t) n;
    void *mark = vmaxget();

    if (x->kind == UFS_X_SPARSE) {
        x_sparse_gram_rows(x, w, k);
    } else if (w == NULL && x->kind == UFS_X_DENSE) {
        la_gram('N', n, x->p, x->dense, k);
    } else if (w == NULL && x->kind == UFS_X_SOURCE) {
        source_call(x, (ufs_x_call){.name = "gram", .cols = 1, .value = (const double[]){1.0}},
                    N * N, k);
    } else {
        walk at = walk_begin(x, w ? X_COLUMNS : 0);
        double *block = ufs_dalloc(w ? N : 0, (size_t) at.width);
        while (walk_next(&at)) {
            for (size_t j = 0; w && j < (size_t) at.m; j++) {
                double root = sqrt(w[(size_t) at.from + j]);
                for (size_t i = 0; i < N; i++) block[i + j * N] = root * at.columns[i + j * N];
            }
            la_syrk('N', n, at.m, 1.0, w ? block : at.columns, n, at.from > 0 ? 1.0 : 0.0, k, n);
        }
        la_fill_lower(n, k);
    }
    vmaxset(mark);
}

void ufs_x_forms(const ufs_x *x, const double *k, double *form)
{
    if (x->kind == UFS_X_SPARSE)
        x_sparse_forms(x, k, form);
    else if (x->kind == UFS_X_SOURCE)
        source_call(x, (ufs_x_call){.name = "forms", .rows = x->n, .cols = x->n, .value = k},
                    (size_t) x->p, form);
    else
        for (int j = 0; j < x->p; j++) form[j] = R_NaN;
}

/* By strips of rows, prepared one after the other. */
static void gram_by_strips(const ufs_x *x, double *g)
{
    enum { ROWS = 512 };
    int index[ROWS];
    double *rows = ufs_dalloc(ROWS, (size_t) x->p);

    for (int first = 0, m; first < x->n; first += m) {
        m = x->n - first < ROWS ? x->n - first : ROWS;
        if (first % (64 * ROWS) == 0) R_CheckUserInterrupt();
        for (int i = 0; i < m; i++) index[i] = first + i;
        ufs_x_rows(x, m, index, rows);
        la_syrk('T', x->p, m, 1.0, rows, m, first > 0 ? 1.0 : 0.0, g, x->p);
    }
    la_fill_lower(x->p, g);
}

typedef struct {
    size_t p;
    double *g;
} placed;

static void place_part(void *data, const ufs_x_gram_part *part)
{
    const placed *to = data;

    for (size_t b = 0; b < (size_t) part->n_right; b++) {
        double *column = to->g + (size_t) part->right[b] * to->p;
        for (size_t a = 0; a < (size_t) part->n_left; a++)
            column[part->left[a]] = part->value[a * part->by_left + b * part->by_right];
    }
}

void ufs_x_gram_cols(const ufs_x *x, double *g)
{
    void *mark = vmaxget();

    if (x->kind == UFS_X_DENSE)
        la_gram('T', x->n, x->p, x->dense, g);
    else if (x->kind == UFS_X_SOURCE)
        source_call(x, (ufs_x_call){.name = "gram", .cols = 1, .value = (const double[]){0.0}},
                    (size_t) x->p * (size_t) x->p, g);
    else if (x->kind == UFS_X_SCALED && x->n > x->p)
        gram_by_strips(x, g);
    else if (x->kind == UFS_X_SPARSE)
        x_sparse_gram(x, place_part, &(placed){(size_t) x->p, g});
    else {
        for (walk at = walk_begin(x, X_COLUMNS); walk_next(&at);)
            ufs_x_cross(x, at.m, at.columns, g + (size_t) at.from * (size_t) x->p);
        la_fill_lower(x->p, g);
    }
    vmaxset(mark);
}

double ufs_x_gram_rows_cost(const ufs_x *x)
{
    double n = x->n, cost = 2.0 * n * n;

    if (x->kind != UFS_X_SPARSE) return n * n * (double) x->p;
    for (int j = 0; j < x->p; j++) {
        double nnz = x_sparse_count(x, j);
        cost += x_sparse_is_full(x, j) ? n * n : nnz * nnz;
    }
    return cost;
}

/* ---- soundness ---------------------------------------------------------------------- */

const char *ufs_x_check_slots(int n, int p, size_t n_start, const int *start, size_t n_row,
                              const int *row, size_t n_value)
{
    if (n < 0 || p < 0) return "its dimensions are negative";
    if (n_start != (size_t) p + 1) return "slot p must have one entry more than columns";
    if (n_row != n_value) return "slots i and x differ in length";
    if (start[0] != 0) return "slot p must begin with 0";
    for (int j = 0; j < p; j++)
        if (start[j + 1] < start[j]) return "slot p must not decrease";
    if ((size_t) start[p] != n_row) return "slot p must end with the length of slot i";
    for (int j = 0; j < p; j++) {
        int before = -1;
        for (int e = start[j]; e < start[j + 1]; e++) {
            if (row[e] < 0 || row[e] >= n) return "slot i has row indices out of range";
            if (row[e] <= before) return "slot i must increase inside every column";
            before = row[e];
        }
    }
    return NULL;
}
