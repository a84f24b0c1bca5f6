/* solve_alfs.h: ALFS, joint selection of samples and features, and its relatives
 * with one coefficient matrix between two known factors.
 *
 *   F(W) = || D - A W B ||_F^2 + alpha sum_i ||W_i.|| + beta sum_j ||W_.j||
 *          + lambda sum_ij T_ij |(W B)_ij|,      W m x q, convex.
 *
 * The solver sees it in rank coordinates: with A'A = P diag(a^2) P',
 * BB' = Q diag(b^2) Q' and D = diag(target) in the same coordinates,
 *   || D - A W B ||^2 = || diag(target) - diag(a) (P'WQ) diag(b) ||^2.
 *   ALFS (Li et al., (3.3)): A = B = D = X (p x n = t(x)), X = U S V' thin:
 *     P = V (left singular vectors of x), Q = U, a = b = target = s.
 *   convex TED: A = D = X, B = I. With W <- W V (row norms are kept):
 *     P = V, Q = identity (right = NULL, q = r), a = target = s, b = 1.
 * Theory, errata and measurements: Li, Wang, Dong, Yan, Liu, Zha,
 * "Joint active learning with feature selection via CUR matrix decomposition". */
#ifndef UFS_SOLVE_ALFS_H
#define UFS_SOLVE_ALFS_H

#include "ufs.h"

/* Where a run may start: W, P, Q and the penalties rho (rows, columns) of another
 * one, as they came out of it. lambda = 0 only. */
typedef struct {
    const double *w, *p, *q;
    double rho[2];
} alfs_start;

typedef struct {
    int m, q, r;
    const double *left;   /* P, m x r, orthonormal columns */
    const double *right;  /* Q, q x r, orthonormal columns; NULL: identity, q = r */
    const double *s;      /* r positive singular values, descending */
    double alpha, beta, lambda; /* >= 0, alpha + beta > 0; lambda > 0 only with `right` */
    const alfs_start *start;    /* or NULL */
} alfs_problem;

typedef struct {
    int max_iter;
    double tol;        /* relative duality gap (paper: its epsilon); negative: never stop early */
    bool paper;        /* Algorithm 1 with its growing penalties, and its stop */
    int check_every;   /* iterations between certificates */
    int narrow;        /* with lambda > 0: most iterations at a time on the live columns only */
    int balance_until; /* penalties are fixed, and all columns in, after this iteration */
    double floor;      /* c of T = 1 / max(|cos|, c) */
} alfs_settings;

/* The matrices are the caller's. */
typedef struct {
    double *w;      /* m x q: best primal point, with exact zeros */
    double *p, *q;  /* m x q: dual, ||P_i.|| <= alpha, ||Q_.j|| <= beta */
    double *l;      /* m x m: dual, |L| <= lambda T; NULL if lambda = 0 */
    double rho[3];  /* last penalties: rows, columns, weights, over alpha, beta, lambda */
    double objective, dual, gap, kkt;
    double primal[3]; /* relative: rows, columns, weights */
} alfs_result;

/* Trace columns: iteration, objective, dual, gap, a row per check of the full problem.
 * With lambda = 0 about 4 m q r + 4 min(m, q) r^2 flops an iteration and 7 matrices of
 * m x q in all; lambda > 0 adds 4 m^2 r flops, two matrices of m x m and up to ten of
 * m x q. */
void alfs_solve(const alfs_problem *problem, const alfs_settings *settings, alfs_result *result,
                ufs_run *run);

#endif
