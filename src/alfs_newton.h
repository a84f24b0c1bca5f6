/* alfs_newton.h: what alfs_newton.c and its preconditioner alfs_newton_rows.c share. */
#ifndef UFS_ALFS_NEWTON_H
#define UFS_ALFS_NEWTON_H

#include "alfs_work.h"
#include "la.h"

enum { ALFS_NEWTON_STRIP = 64 }; /* rows whose k are gathered at once: a cache line of each */

typedef struct {
    alfs_work *work;
    int m, q, k;
    double alpha, beta, lambda;
    double e, row_unit, col_unit, z_unit; /* smoothing, and the sizes it refers to */
    double least_row, least_col, least_z; /* their products */
    const double *x;                      /* m x q: columns of X, in the units of work */
    double *w, *d, *g, *trial, *half;     /* m x q */
    double *bb, *low_bb;                  /* q x q: BB', and its Cholesky factor */
    double *gram;                         /* m x m: X'X, or NULL: left diag(a^2) left' */
    double *turned;                       /* r x q: scratch of apply_gram() */
    double *z, *dz, *k_weight, *y;        /* m x m: W B, D B, k, scratch */
    double *s, *c;                        /* of the W of the last evaluation */
    double *row_a, *row_b, *col_a, *col_b;
    double *xt;                  /* q x m */
    double *strip, *key;         /* m x ALFS_NEWTON_STRIP, m */
    double *heavy;               /* q x m */
    double *inverse;             /* q x q x m: H_i^{-1} */
    double *shared;              /* m x k: sqrt(2) leading columns of left diag(a) */
    double *square;              /* m x k (k + 1) / 2: products of them */
    double *rest;                /* m: d_i */
    double *core;                /* kq x kq */
    double *blocks;              /* q^2 x k (k + 1) / 2 */
    double *one_row, *projected; /* 2q, kq */
    la_cg_problem cg;
} newton;

/* The preconditioner at W; LAPACK's info. */
int alfs_newton_blocks(newton *a);
/* z = M^{-1} r; data: the newton struct. */
void alfs_newton_precondition(void *data, const double *r, double *z);

#endif
