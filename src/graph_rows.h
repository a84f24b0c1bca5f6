/* graph_rows.h: a sparse X by rows, for neighbours and cosines. */
#ifndef UFS_GRAPH_ROWS_H
#define UFS_GRAPH_ROWS_H

#include "x_ops.h"

/* The entries, divided; centring left out. */
typedef struct {
    const ufs_x *x;
    int *start, *col; /* col: column of X */
    double *value;
    double *mean_dot; /* n, for cosines: sum_l value_l m_l / s_l of the row; NULL: no centring */
    double mean_ss;   /* sum_l (m_l / s_l)^2 */
} sparse_rows;

/* Memory from R_alloc: 12 bytes per entry. */
sparse_rows sparse_rows_of(const ufs_x *x);
/* norm2_i = ||divided row i||^2, centring left out; returns the most entries of a row. */
int sparse_rows_norms(const sparse_rows *rows, double *norm2);
/* Means, so that sparse_rows_dot() is that of the centred rows. */
void sparse_rows_center(sparse_rows *rows);
/* Products of a few rows with the others: each column of X is read once for all of them, which is
 * what counts where X does not fit the cache. */
enum { SPARSE_TILE = 8 };
typedef struct {
    double *weight;            /* SPARSE_TILE x p, zero between calls */
    int *column, *end, *count; /* count: p, of rows that have the column; zero between calls */
} sparse_tile;
sparse_tile sparse_tile_of(const sparse_rows *rows);
/* out_(b + SPARSE_TILE j) = r_i'r_j over the divided rows, i = list[b], b < n_list <= SPARSE_TILE:
 * all j, or with `below`, for lists that go through 0, 1, ... in turn, j up to the list's last row.
 * The rows of a column are ascending. */
void sparse_tile_inner(const sparse_rows *rows, sparse_tile *tile, int n_list, const int *list,
                       bool below, double *out);
double sparse_rows_d2(const sparse_rows *rows, int i, int j);
double sparse_rows_dot(const sparse_rows *rows, int i, int j);

#endif
