/* x_sparse.h: the operations of x_ops.h on a column-compressed matrix. */
#pragma once

#include "x.h"

/* Columns of X, or of a Gram matrix, that are worked on together where they have to stay in the cache
 * while all entries of x pass, or are used again. */
enum { X_COLUMNS = 64 };

static inline int x_sparse_count(const ufs_x *x, int j)
{
    int u = ufs_x_user(x, j);
    return x->start[u + 1] - x->start[u];
}

/* sum_e u_e w[row_e]; four sums, since one addition waits for the one before. */
double x_sparse_sum(int m, const double *u, const int *row, const double *w);
/* More than n/3 entries. */
bool x_sparse_is_full(const ufs_x *x, int j);
void x_sparse_cross(const ufs_x *x, int c, const double *t, double *u);
void x_sparse_column(const ufs_x *x, int j, double *out);
void x_sparse_gram(const ufs_x *x, void (*visit)(void *, const ufs_x_gram_part *), void *data);
void x_sparse_mul(const ufs_x *x, int c, const double *v, double *y);
void x_sparse_weighted_ss(const ufs_x *x, const double *root, double *ss);
void x_sparse_row_ss(const ufs_x *x, double *ss);
void x_sparse_rows(const ufs_x *x, int m, const int *i, double *out);
void x_sparse_gram_rows(const ufs_x *x, const double *w, double *k);
void x_sparse_forms(const ufs_x *x, const double *k, double *form);
