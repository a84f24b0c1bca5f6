/* mcfs.h: the lasso paths of MCFS. */
#pragma once

#include "x_ops.h"

typedef struct {
    int n, p, c;
    const ufs_x *x;  /* n x p */
    const double *y; /* n x c responses */
} mcfs_problem;

typedef struct {
    int card;     /* stop a path when so many coefficients are non-zero */
    double ridge; /* added to the diagonal of X'X */
} mcfs_settings;

typedef struct {
    double *coef;    /* p x c, zeros on entry */
    double *penalty; /* c: where each path stopped */
    double kkt;      /* largest violation over the responses, relative */
} mcfs_result;

/* Iterations are steps of all paths. */
void mcfs_solve(const mcfs_problem *problem, const mcfs_settings *settings, mcfs_result *result,
                ufs_run *run);
