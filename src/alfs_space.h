/* alfs_space.h: the coordinates of alfs_solve.c.
 *
 *   || D - A W B ||^2 = || target - diag(a) (P'WQ) diag(b) ||^2 + rest,
 *   A'A = P diag(a^2) P',  BB' = Q diag(b^2) Q',  target = D in these coordinates.
 *
 * Neither P nor Q is kept when it is of the size of x: W (m x q) is seen through y only,
 * in one of two forms, and all else is of the smaller size.
 *   wide  B = (outer y)' with y k x q:  acc = W y' (m x k),   core = P' acc outer
 *                                       = (P'WQ) diag(b),     a change of W is N y
 *   tall  A = inner' y' with y m x k:   acc = y'W (k x q),    core = inner' acc Q
 *                                       = diag(a) (P'WQ),     a change of W is y N
 * With uv = a_i (wide) or b_j (tall):  residual = target - uv core, and
 *   2A'RB' = lift of 2 uv residual.
 * The lift of a core c (r x rb) is N = left c right', `left` and `right` being P and outer
 * (wide) or inner and Q (tall); NULL stands for the identity. No singular value is divided
 * by, so none needs to be cut off.
 *
 * W and everything of its size pass in blocks of columns: 2 m q k flops for acc, as many
 * for N y; 2 m k r + 2 r k rb at most for core and for a lift. */
#pragma once

#include "alfs.h"

typedef struct {
    bool wide;
    int m, q, k, r, rb;
    int n_acc, p_acc;           /* size of acc and N: m x k (wide), k x q (tall) */
    int width;                  /* columns of a block */
    const double *y;            /* NULL: the columns (wide), or products (tall), of op */
    const ufs_x *op;            /* X where it is no dense matrix; y is X then */
    double *piece;              /* m x width, with op */
    int *index;                 /* width, with op */
    double divisor;             /* y stands for y / divisor */
    const double *left, *right; /* n_acc x r, p_acc x rb, or NULL */
    const double *outer;        /* wide: m x rb, orthonormal columns */
    double *a, *b;              /* r, rb */
    double *target;             /* r x rb */
    double rest, total;         /* || D ||^2 outside, and in all */
    double *acc;                /* n_acc x p_acc */
    double *half;               /* scratch of core and lift */
    double *block;              /* m x width */
} alfs_space;

/* The whole problem. weights: the wide form is wanted. */
void alfs_space_full(alfs_space *space, const alfs_problem *problem, bool weights, double divisor);
/* The same with only some columns of W: B = those rows of X (full must be wide and not
 * the identity form). x: m x n_col, the columns of x over full->divisor; kept. LAPACK's info. */
int alfs_space_columns(alfs_space *space, const alfs_space *full, int n_col, const double *x);

/* Columns of the block that begins at column `from`. */
static inline int alfs_block(const alfs_space *space, int from)
{
    return space->q - from < space->width ? space->q - from : space->width;
}

/* Entry (i, j) of the residual is target - uv core. */
static inline double alfs_uv(const alfs_space *space, size_t i, size_t j)
{
    return space->wide ? space->a[i] : space->b[j];
}

/* acc of a matrix that comes in blocks: start, then add every block in order. */
void alfs_start_acc(alfs_space *space);
void alfs_add_block(alfs_space *space, int from, int n, const double *w);
/* Both, of a whole m x q matrix. */
void alfs_add_all(alfs_space *space, const double *w);
/* core (r x rb) from acc. */
void alfs_core(alfs_space *space, double *core);
/* N (n_acc x p_acc) from a core. */
void alfs_lift(alfs_space *space, const double *core, double *lift);
/* out (m x n) += columns from, ..., from + n - 1 of N y or y N. */
void alfs_add_lift(const alfs_space *space, const double *lift, int from, int n, double *out);
/* ||residual||^2 and <residual, target> of a core, which becomes 2 uv residual. */
void alfs_residual(const alfs_space *space, double *core, double *ss, double *inner);
/* ||residual||^2 + rest. */
double alfs_loss(const alfs_space *space, const double *core);

/* la_gemm of two plain matrices in blocks of rows that stay in cache: nothing to a
 * tuned BLAS, a factor 1.7 to the reference one when m is large. */
typedef struct {
    int m, n, k; /* of C (m x n), and the sum over k */
} alfs_sizes;
void alfs_gemm(alfs_sizes size, double alpha, const double *a, const double *b, double beta,
               double *c);

/* The samples in their own coordinates: left diag(a), m x r; wide form. */
void alfs_samples(const alfs_space *space, double *out);

/* Square roots of the eigenvalues of a Gram matrix of order n, which is lost, descending, and its
 * eigenvectors (n x n). LAPACK's info. */
int alfs_roots(int n, double *gram, double *root, double *vectors);
