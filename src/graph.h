/* graph.h: neighbour graphs of the samples (rows of x, n x p). Kernels: they know
 * no solver and no R object. Everything is deterministic and does not depend on the
 * BLAS in use, the automatic bandwidth (a mean, correct to rounding) apart. */
#pragma once

#include "eig.h"
#include "x_ops.h"

/* ---- nearest neighbours -------------------------------------------------------- */

/* Neighbours of sample i: index[i * k + 0 .. i * k + k - 1] (0-based, nearest first)
 * with the squared Euclidean distances d2 in the same places. */
typedef struct {
    int n, k;
    int *index;
    double *d2;
    double mean_distance; /* mean of all n^2 entries of the distance matrix */
} graph_knn;

/* The k nearest other samples of each sample, 1 <= k <= n - 1; itself is excluded
 * by index, so duplicates are neighbours. Distances that agree to a relative UFS_TIE
 * are ties, and ties go to the lower index. n^2 p flops in BLAS-3 blocks and
 * about 3nkp for the exact distances of the candidates; memory np + O(nk + n).
 * The struct's arrays come from R_alloc; the rest is given back. Checks for interrupts;
 * the hook (NULL: none) is told the percentage that is done.
 * X is no source. A sparse one is not formed: the inner products of one row with all others
 * come from the columns it has entries in, sum_j nnz_j^2 products in all, and exact distances
 * from two rows' entries. Memory 16 nnz + O(nk). Distances do not see the centring. */
void graph_knn_search(const ufs_x *x, int k, const ufs_hook *hook, graph_knn *out);
/* The same from the inner products of the rows, n x n: distances have their rounding. */
void graph_knn_products(int n, const double *gram, int k, const ufs_hook *hook, graph_knn *out);
/* The same for many samples of an X that is dense or scaled, not all of the nearest: see graph_near.c. mean_distance is
 * left 0. Returns the share of the true neighbours that was found, of 200 samples. */
double graph_knn_near(const ufs_x *x, int k, const ufs_hook *hook, graph_knn *out);

/* ---- weights: a symmetric sparse matrix W --------------------------------------- */

/* Row i holds columns col[start[i] .. start[i + 1] - 1], ascending, with weights w.
 * Symmetric, non-negative, no self loops, no stored zeros. */
typedef struct {
    int n;
    const int *start, *col;
    const double *w;
    const double *degree; /* row sums of W */
} graph_csr;

typedef enum { GRAPH_HEAT = 0, GRAPH_BINARY = 1, GRAPH_COSINE = 2 } graph_weights;
typedef enum { GRAPH_MAX = 0, GRAPH_MIN = 1, GRAPH_MEAN = 2 } graph_symmetrise;

/* W from neighbour lists. heat: exp(-d2 / (2 t^2)), t = bandwidth; binary: 1;
 * cosine: max(0, x_i'x_j / (|x_i| |x_j|)), x needed for this one only (NULL: d2 holds them).
 * max: i ~ j if either is a neighbour of the other; min: if both are; mean:
 * (A + A') / 2 of the directed matrix A. At most 2nk entries; weights that
 * underflow to 0 are not stored. */
void graph_from_knn(const graph_knn *knn, const ufs_x *x, graph_weights weights, double bandwidth,
                    graph_symmetrise rule, graph_csr *out);

/* What is wrong with a graph that came from outside, NULL if nothing: columns that do not ascend
 * within a row, self loops, weights that are negative or not finite, degrees that are not the row
 * sums, or weights that are not symmetric (to a relative 1e-8). nnz log(nnz / n). Row starts and
 * columns must be in range: ffi_graph.c sees to it. */
const char *graph_check(const graph_csr *g);

/* degree_i = sum_j w_ij. */
void graph_degrees(const graph_csr *g, double *degree);
/* Component of each node, numbered from 0 by smallest node; returns how many there
 * are. Isolated nodes are components of their own. */
int graph_components(const graph_csr *g, int *component);
/* The graph without its isolated nodes; node[i] is the old index of new node i. */
void graph_drop_isolated(const graph_csr *g, graph_csr *out, int *node);
/* Largest |w_ij - w_ji|; for matrices that came from outside. Columns must ascend. */
double graph_asymmetry(const graph_csr *g);

/* Y = W X, or L X with laplacian, L = D - W, for X n x m. 2 nnz m flops; the differences
 * x_i - x_j are formed first, so L X has no cancellation. */
void graph_mult(const graph_csr *g, bool laplacian, int m, const double *x, double *y);
/* `steps` times next = c_0 A x + c_1 x + c_2 before, three coefficients for each step, from X n x
 * m, which becomes the last; A = W, or -L with laplacian. 2 (nnz + 3n) m flops per step, in a
 * layout that reads each edge once for 8 columns. Checks for interrupts. */
void graph_recur(const graph_csr *g, bool laplacian, int m, int steps, const double *c, double *x);
/* f'L f = sum over edges w_ij (f_i - f_j)^2, each edge once. */
double graph_quadratic(const graph_csr *g, const double *f);

/* ---- graph.c: eigenvectors of the normalised Laplacian ---------------------- */

/* The m smallest eigenpairs (l_j, u_j) of I - D^{-1/2} W D^{-1/2} beyond the trivial one
 * (0, v), v = D^{1/2} 1 / |.|, which is left out exactly; g has no isolated nodes and
 * m <= n - 1. On several components 0 is a multiple eigenvalue and LAPACK's vectors
 * would be arbitrary; u then begins with the canonical basis of that space: indicators of
 * the components in the order of their smallest nodes, orthogonalised from first to
 * last. */
typedef struct {
    int n_zero;    /* how many of the m have l = 0 */
    double next;   /* l_{m+1}; infinite if there is none */
    eig_info eigs; /* of the others */
} graph_embed_info;

void graph_embed(const graph_csr *g, int m, double *l, double *u, graph_embed_info *info);

/* ---- graph.c: a sparse X by rows, for neighbours and cosines ------------------ */

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
