/* ndfs.h: nonnegative discriminative feature selection, see ndfs.c. */
#pragma once

#include "gl.h"
#include "graph.h"

typedef struct {
    int n, p, c;
    const double *x; /* n x p */
    const graph_csr *graph;
    bool normalised; /* Laplacian I - D^{-1/2} W D^{-1/2} instead of D - W */
    double alpha, beta, gamma;
    gl_copies copies;     /* equal columns; exact only */
    const double *factor; /* p: of each row's penalty, see gl.h; NULL for ones. exact only */
} ndfs_problem;

typedef struct {
    double eps;
    double kkt_tol; /* converged only if the KKT residual is no larger */
    double start_g; /* first weight g of every row of W, plain steps only */
    bool exact;     /* W solves its regression, and the objective never rises */
    bool split;     /* keep the multiplicative update positive by splitting, else clip */
} ndfs_settings;

/* f holds the start on entry, w zeros. */
typedef struct {
    double *f; /* n x c */
    double *w; /* p x c */
    double
        *reach; /* p: |x_j'U| over its own beta / 2 where w_j = 0 (it stays so up to 1), else 1 */
    double orthogonality; /* |F'F - I|_F */
    double kkt;           /* of the regression W, given F; relative to beta / 2 */
} ndfs_result;

/* tol is of the relative change of the objective. */
void ndfs_solve(const ndfs_problem *problem, const ndfs_settings *settings, ndfs_result *result,
                ufs_run *run);
