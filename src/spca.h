/* spca.h: sparse principal component analysis, see spca.c. */
#pragma once

#include "gl.h"

typedef struct {
    const ufs_x *x; /* n x p, no zero column */
    int k;
    double lambda;        /* positive */
    gl_copies copies;     /* equal columns */
    const double *factor; /* p: of each row's penalty, see gl.h; NULL for ones */
} spca_problem;

/* In: a, the start, orthonormal columns. Out: everything. */
typedef struct {
    double *a, *b;    /* p x k */
    double *kkt;      /* p: max_j 2|x_i'(X a_j - X b_j)| / (lambda f_i) */
    double change;    /* |B - B_old| / |B| at the end */
    double violation; /* largest violation of the optimality conditions of b_1, ..., b_k */
    double objective;
} spca_result;

/* tol is of the relative change of B. */
void spca_solve(const spca_problem *problem, spca_result *result, ufs_run *run);
