/* base_mcfs.h: the lasso paths of MCFS. */
#ifndef UFS_BASE_MCFS_H
#define UFS_BASE_MCFS_H

#include "ufs.h"

typedef struct {
    int n, p, c;
    const double *x; /* n x p */
    const double *y; /* n x c responses */
} mcfs_problem;

typedef struct {
    int card;      /* stop a path when so many coefficients are non-zero */
    double ridge;  /* added to the diagonal of X'X */
    int max_iter;  /* steps of a path */
} mcfs_settings;

typedef struct {
    ufs_status status;
    int iterations;
    double kkt;      /* largest violation over the responses, relative */
    double *penalty; /* c: where each path stopped */
    ufs_trace trace; /* largest penalty, most non-zero coefficients */
} mcfs_info;

/* coef: p x c, zero outside the supports. */
void mcfs_solve(const mcfs_problem *prob, const mcfs_settings *set, const ufs_hook *hook,
                double *coef, mcfs_info *info);

#endif
