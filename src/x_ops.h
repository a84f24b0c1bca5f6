/* x_ops.h: the matrix the solvers see, known by what can be done with it.
 *
 * X = (R - 1 m') diag(1/s), n x p: R the user's numbers (rows = samples), m the column
 * means and s the standard deviations, either of them absent where not asked for, constant
 * columns left out. Four kinds:
 *   dense   X itself, n x p doubles: every operation is a BLAS call
 *   scaled  a dense R as the user holds it, too large for a copy: blocks of columns
 *           of at most 256 KB (one column at least) are standardised on the spot, whenever they
 *           are needed: 2np flops more per pass, and no copy
 *   sparse  the slots of a column-compressed R as they are, never a copy of them; the
 *           centring is implicit, so nothing of size n x p is ever formed
 *   source  R lies elsewhere (a file, a remote object): functions that pass over it
 * With nnz stored entries and c columns on the other side:
 *   mul, cross          2 nnz c + O((n + p) c) flops (dense: 2npc)
 *   gram_mul            4 nnz c
 *   column              n
 *   dot, axpy           2 nnz_j + O(1) (axpy without its centring part, see below)
 *   gram_rows           sum_j min(nnz_j^2, n^2) + O(n^2)
 *   gram_cols, parts    sum_i nnz_i^2 + p nnz_j for columns with more than n/3 entries (see x_sparse.c)
 * Scratch: c <= 8 columns are done at a time, 8 n doubles, given back on return.
 * A sparse column has m_j^2 n <= nnz_j / (n - nnz_j) times its centred sum of squares, so
 * the implicit centring loses no digits unless the column has hardly a zero; gram_rows,
 * where it would count twice, forms columns with more than n/3 entries. */
#pragma once

#include "x.h"

ufs_x ufs_x_dense(int n, int p, const double *x);

/* Stored entries: n p if dense or unknown. */
double ufs_x_entries(const ufs_x *x);

/* Y = X V, V p x c, Y n x c. */
void ufs_x_mul(const ufs_x *x, int c, const double *v, double *y);
/* U = X'T, T n x c, U p x c. */
void ufs_x_cross(const ufs_x *x, int c, const double *t, double *u);
/* The same transposed, U c x p: one feature's c numbers lie together. */
void ufs_x_cross_rows(const ufs_x *x, int c, const double *t, double *u);
/* Y = X X'T, T and Y n x c. */
void ufs_x_gram_mul(const ufs_x *x, int c, const double *t, double *y);

/* Column j; a pointer into X if dense, otherwise `scratch` (n), filled. */
const double *ufs_x_column(const ufs_x *x, int j, double *scratch);
/* Columns j[0..m) into out (n x m); one pass over a source. */
void ufs_x_columns(const ufs_x *x, int m, const int *j, double *out);
/* How many columns are worth reading together: a block of a source, else 64. One pass over a
 * source is p / at_once reads. */
int ufs_x_at_once(const ufs_x *x);
/* out = X', p x n, row by row of X: rows[0], rows[1], ... of n; NULL: all in their order. n p steps, 64
 * columns of scratch. */
void ufs_x_by_rows(const ufs_x *x, const int *rows, double *out);
/* visit(data, j, column j) for every column in turn, read ufs_x_at_once() at a time. The column
 * may not be kept. */
void ufs_x_each_column(const ufs_x *x, void (*visit)(void *data, int j, const double *column),
                       void *data);
/* Columns j[0..m) will be asked for one by one: a source reads them in one pass and keeps
 * them for a while. */
void ufs_x_prefetch(const ufs_x *x, int m, const int *j);
/* Of a source only, a read of the columns j[0..m) each, for which a source that is stored by rows
 * makes a copy: Y = X_J V; U = X_J'T; G = X_J'diag(root)^2 X_L, L = j[from..m), m x (m - from),
 * root NULL for ones, L being read too. */
void ufs_x_mul_some(const ufs_x *x, int m, const int *j, int c, const double *v, double *y);
void ufs_x_cross_some(const ufs_x *x, int m, const int *j, int c, const double *t, double *u);
void ufs_x_gram_some(const ufs_x *x, int m, const int *j, int from, const double *root, double *g);
/* x_j'w, where total = sum of w (it is asked for often with the same w). */
double ufs_x_dot(const ufs_x *x, int j, const double *w, double total, double *scratch);
/* y += a x_j but for its centring part: returns b such that b must be taken off every
 * entry of y, so that sums of many columns pay for it once. */
double ufs_x_axpy(const ufs_x *x, int j, double a, double *y, double *scratch);
/* ss_j = ||x_j||^2. */
void ufs_x_ss(const ufs_x *x, double *ss);
/* ss_j = ||diag(root) x_j||^2, root: n, NULL for ones. */
void ufs_x_weighted_ss(const ufs_x *x, const double *root, double *ss);
/* ss_i = ||row i of X||^2; n. */
void ufs_x_row_ss(const ufs_x *x, double *ss);
/* Rows i[0..m), ascending, into out (m x p). mp + nnz steps, n integers; a read of these rows. */
void ufs_x_rows(const ufs_x *x, int m, const int *i, double *out);
/* out_i = x_i'S x_i for every row x_i, S p x p and symmetric, of which the upper triangle is read.
 * n p^2 flops by blocks of rows, 256 (2p + 256) doubles; one pass over a source. */
void ufs_x_row_forms(const ufs_x *x, const double *s, double *out);

/* K = X diag(w) X', n x n, both triangles; w: p, NULL for ones. */
void ufs_x_gram_rows(const ufs_x *x, const double *w, double *k);
/* x_j'K x_j, p, for a symmetric K (n x n) by the entries of sparse columns: nnz_j^2 flops. NaN where
 * a column is not sparse; a source says so itself. */
void ufs_x_forms(const ufs_x *x, const double *k, double *form);
/* G = X'X, p x p, both triangles. */
void ufs_x_gram_cols(const ufs_x *x, double *g);
/* Flops of ufs_x_gram_rows. */
double ufs_x_gram_rows_cost(const ufs_x *x);

/* Hashes of the columns of a block of rows, the first of which is row first_row (from 0) of the
 * matrix, or of the rows of a dense X: out is p x 2, or n x 2, the upper and the lower 32 bits. The
 * hash of a column is the sum of those of its blocks modulo 2^64. Values are taken as the solvers
 * see them; 0 and -0 agree. nnz (dense: np) steps, 8 bytes per item + 16n. No source. */
void ufs_x_hash(const ufs_x *x, bool rows, double first_row, double *out);

/* Whether the slots of a column-compressed matrix (n rows, p columns) are sound: start
 * from 0, not falling, ending at n_entry; rows in 0..n-1 and ascending in every column.
 * NULL, or what is wrong. nnz comparisons. */
const char *ufs_x_check_slots(int n, int p, size_t n_start, const int *start, size_t n_row,
                              const int *row, size_t n_value);

/* ---- x_pca.c ------------------------------------------------------------------------ */

/* Y = X'X V, V and Y p x m, for eig_problem. */
void ufs_x_cols_mul(const void *x, int m, const double *v, double *y);

/* The k leading principal components of X: scores n x k, loadings p x k (unit columns,
 * largest entry positive, zero beyond the rank), d2 k squared singular values. loadings may
 * be NULL if n <= p: the scores then have signs of their own, and are zero beyond the rank. By
 * eig_krylov() to residuals of tol times the largest eigenvalue, on products with X or with the
 * smaller Gram matrix if that is cheaper; by the whole spectrum of that matrix where it is small,
 * where many components are asked for, or where the others do not settle in the time that takes. */
typedef struct {
    int lapack, products; /* products: with X and X', per vector; 0 if by Gram */
    double residual;      /* largest relative residual of the eigenpairs */
    bool converged;
    bool full; /* given up for the whole spectrum */
} ufs_x_pca_info;

void ufs_x_pca(const ufs_x *x, int k, double tol, double *scores, double *loadings, double *d2,
               ufs_x_pca_info *info);

/* The k leading eigenpairs of a Gram matrix (r x r): w descending, z r x k, found as above. */
void ufs_x_leading(int r, const double *gram, int k, double tol, double *w, double *z,
                   ufs_x_pca_info *info);

/* ---- x_company.c -------------------------------------------------------------------- */

/* The ranks within each column, from 1; equal values have the mean of theirs. out n x p. */
void ufs_column_ranks(int n, int p, const double *x, double *out);

/* For each column j of r (q x q) the sum of the `most` < q largest weight[i] r[i, j]^2, i not j. */
void ufs_closest(int q, const double *r, const double *weight, int most, double *sum);

/* May a column have a code for what is missing? `look` where few repeated values stand apart at
 * one end, a sieve that lets all through that odd_values() in R would find; `between` the one rare
 * value between the equal steps of the others, else NA. False if a value is not finite. */
bool ufs_odd(int n, const double *x, int *look, double *between);
