/* graph_rows.c: a sparse X by rows (graph.h). */
#include "graph.h"

sparse_rows sparse_rows_of(const ufs_x *x)
{
    size_t entries = (size_t) ufs_x_entries(x), N = (size_t) x->n;
    sparse_rows rows = {.x = x,
                        .start = ufs_ialloc(N + 1),
                        .col = ufs_ialloc(entries),
                        .value = ufs_dalloc(entries, 1)};
    int *next = ufs_ialloc(N);

    for (int j = 0; j < x->p; j++) {
        int u = ufs_x_user(x, j);
        for (int e = x->start[u]; e < x->start[u + 1]; e++) rows.start[x->row[e] + 1]++;
    }
    for (size_t i = 0; i < N; i++) {
        rows.start[i + 1] += rows.start[i];
        next[i] = rows.start[i];
    }
    for (int j = 0; j < x->p; j++) {
        int u = ufs_x_user(x, j);
        double s = ufs_x_divide(x, j);
        for (int e = x->start[u]; e < x->start[u + 1]; e++) {
            int at = next[x->row[e]]++;
            rows.col[at] = j;
            rows.value[at] = x->value[e] / s;
        }
    }
    return rows;
}

int sparse_rows_norms(const sparse_rows *rows, double *norm2)
{
    int longest = 0;

    for (int i = 0; i < rows->x->n; i++) {
        int length = rows->start[i + 1] - rows->start[i];
        longest = length > longest ? length : longest;
        norm2[i] = la_ss((size_t) length, rows->value + rows->start[i]);
    }
    return longest;
}

void sparse_rows_center(sparse_rows *rows)
{
    const ufs_x *x = rows->x;
    size_t N = (size_t) x->n;

    if (x->shift == NULL) return;
    rows->mean_dot = ufs_dzero(N, 1);
    rows->mean_ss = 0.0;
    for (int j = 0; j < x->p; j++) {
        double m = x->shift[j] / ufs_x_divide(x, j);
        rows->mean_ss += m * m;
    }
    for (size_t i = 0; i < N; i++)
        for (int e = rows->start[i]; e < rows->start[i + 1]; e++) {
            int j = rows->col[e];
            rows->mean_dot[i] += rows->value[e] * x->shift[j] / ufs_x_divide(x, j);
        }
}

sparse_tile sparse_tile_of(const sparse_rows *rows)
{
    const ufs_x *x = rows->x;
    size_t P = (size_t) x->p;
    sparse_tile tile = {.weight = ufs_dzero(P, SPARSE_TILE),
                        .column = ufs_ialloc(P),
                        .end = ufs_ialloc(P),
                        .count = ufs_ialloc(P)};

    for (int j = 0; j < x->p; j++) tile.end[j] = x->start[ufs_x_user(x, j)];
    return tile;
}

/* out_(b + SPARSE_TILE row) += weight_b value, over the entries of a column before `last`: without a
 * branch, so that the compiler may take two or four b at a time. */
static void add_column(const ufs_x *x, int first, int last, const double *weight, double *out)
{
    double w[SPARSE_TILE];

    memcpy(w, weight, sizeof w);
    for (int e = first; e < last; e++) {
        double *to = out + (size_t) x->row[e] * SPARSE_TILE, value = x->value[e];
        for (int b = 0; b < SPARSE_TILE; b++) to[b] += w[b] * value;
    }
}

void sparse_tile_inner(const sparse_rows *rows, sparse_tile *tile, int n_list, const int *list,
                       bool below, double *out)
{
    const ufs_x *x = rows->x;
    int n_columns = 0, end = below ? list[n_list - 1] + 1 : x->n;

    memset(out, 0, (size_t) end * SPARSE_TILE * sizeof(double));
    for (int b = 0; b < n_list; b++)
        for (int a = rows->start[list[b]]; a < rows->start[list[b] + 1]; a++) {
            int j = rows->col[a];
            if (tile->count[j]++ == 0) tile->column[n_columns++] = j;
            tile->weight[(size_t) b + (size_t) j * SPARSE_TILE] = rows->value[a] /
                                                                  ufs_x_divide(x, j);
        }
    for (int a = 0; a < n_columns; a++) {
        int j = tile->column[a], u = ufs_x_user(x, j), last = x->start[u + 1];
        double *weight = tile->weight + (size_t) j * SPARSE_TILE;
        if (below) {
            while (tile->end[j] < last && x->row[tile->end[j]] < end) tile->end[j]++;
            last = tile->end[j];
        }
        add_column(x, x->start[u], last, weight, out);
        memset(weight, 0, SPARSE_TILE * sizeof(double));
        tile->count[j] = 0;
    }
}

double sparse_rows_d2(const sparse_rows *rows, int i, int j)
{
    int a = rows->start[i], b = rows->start[j], a_end = rows->start[i + 1];
    int b_end = rows->start[j + 1];
    double sum = 0.0;
    while (a < a_end || b < b_end) {
        int ca = a < a_end ? rows->col[a] : INT_MAX, cb = b < b_end ? rows->col[b] : INT_MAX;
        double d = 0.0;
        if (ca <= cb) d += rows->value[a++];
        if (cb <= ca) d -= rows->value[b++];
        sum += d * d;
    }
    return sum;
}

double sparse_rows_dot(const sparse_rows *rows, int i, int j)
{
    int a = rows->start[i], b = rows->start[j];
    double sum = 0.0;
    while (a < rows->start[i + 1] && b < rows->start[j + 1]) {
        if (rows->col[a] == rows->col[b])
            sum += rows->value[a++] * rows->value[b++];
        else if (rows->col[a] < rows->col[b])
            a++;
        else
            b++;
    }
    if (rows->mean_dot == NULL) return sum;
    return sum - rows->mean_dot[i] - rows->mean_dot[j] + rows->mean_ss;
}
