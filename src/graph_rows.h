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
/* Means, so that sparse_rows_dot() is that of the centred rows. */
void sparse_rows_center(sparse_rows *rows);
/* out_j = r_i'r_j over the divided rows: all j, or with `end` (p; begun with sparse_rows_begin(), for
 * i = 0, 1, ... in turn) j < i only, half the work. The rows of a column are ascending. */
void sparse_rows_inner(const sparse_rows *rows, int i, int *end, double *out);
void sparse_rows_begin(const sparse_rows *rows, int *end);
double sparse_rows_d2(const sparse_rows *rows, int i, int j);
double sparse_rows_dot(const sparse_rows *rows, int i, int j);

#endif
