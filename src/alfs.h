/* alfs.h: ALFS, joint selection of samples and features, and its relatives
 * with one coefficient matrix between two known factors.
 *
 *   F(W) = || D - A W B ||_F^2 + alpha sum_i ||W_i.|| + beta sum_j ||W_.j||
 *          + lambda sum_ij T_ij |(W B)_ij|,      W m x q, convex.
 *
 *   ALFS (Li, Wang, Dong, Yan, Liu, Zha, "Joint active learning with feature selection
 *   via CUR matrix decomposition", (3.3)): A = B = D = X = t(x), x n x p.
 *   Convex TED: A = D = X, B = I. With W <- W V for X = U S V' (row norms are kept) it is
 *   A = S V', D = S, W n x r: x is then V S, n x r with orthogonal columns.
 *
 * Files, each of which calls those before it only: alfs_space.[ch] the coordinates;
 * alfs_step.c one iteration, the side of lambda, the certificate and many iterations; alfs_newton.c
 * Newton's method on some columns of W; alfs_columns.c the choice of columns; alfs_solve.c the whole. */
#pragma once

#include "x_ops.h"

typedef struct {
    const ufs_x *x;             /* m x q, rows = samples; dense if identity, paper or lambda > 0 */
    const double *values;       /* min(m, q), descending: singular values of x */
    const double *vectors;      /* of xx' or x'x, whichever is smaller */
    bool identity;              /* B = I; x has orthogonal columns, vectors are not read */
    double alpha, beta, lambda; /* >= 0, alpha + beta > 0; lambda > 0 not with identity */
    const double *bound; /* of alpha, beta, lambda: largest row and column norm of 2 A'DB', and
                               2 max ||x_i||^2 */
} alfs_problem;

typedef struct {
    bool paper;                    /* Algorithm 1 with its growing penalties, and its stop */
    double rho0, growth, rho_most; /* of Algorithm 1; growth = 1 keeps rho constant */
} alfs_settings;

/* The matrices are the caller's, and zero. */
typedef struct {
    double *w;     /* m x q: best primal point, with exact zeros (paper: the last W) */
    double *p, *q; /* m x q: dual, ||P_i.|| <= alpha, ||Q_.j|| <= beta */
    double *l;     /* m x m: dual, |L| <= lambda T; NULL if lambda = 0 */
    double objective, dual, gap, kkt; /* dual: what P, Q, L prove */
    double primal[3];                 /* relative: rows, columns, weights */
} alfs_result;

/* tol: relative duality gap (paper: its epsilon); negative: never stop early.
 * Trace, a row per iteration: iteration, objective (the lowest F found), dual, gap (both of
 * the last certificate of the whole problem), current (F of the iteration's W), rows,
 * columns (relative residuals of the splits) and, with lambda > 0, weights.
 * lambda = 0: 4 m q min(m, q) + 6 min(m, q)^3 flops an iteration, and x, W, P, Q are all that is
 * of their size (one more where 1/4 < m/q < 4).
 * lambda > 0 adds 4 m^2 min(m, q) flops, four matrices of m x m and, on q' of the columns, five of
 * m x q'; Newton steps (alfs_newton.c) four of m x m more, and m q'^2. */
void alfs_solve(const alfs_problem *problem, const alfs_settings *settings, alfs_result *result,
                ufs_run *run);
