/* base_udfs.h: unsupervised discriminative feature selection, see base_udfs.c. */
#ifndef UFS_BASE_UDFS_H
#define UFS_BASE_UDFS_H

#include "ufs.h"

typedef struct {
    int n, p, c;
    const double *x; /* n x p */
    int k;           /* neighbours */
    double lambda, gamma;
} udfs_problem;

typedef struct {
    int max_iter;
    double tol, eps;
    bool accelerate;
} udfs_settings;

typedef struct {
    double *w;       /* p x c */
    double *row2;    /* p: |w_j|^2 */
    double *reach;   /* p: 2 |(MW)_j| / gamma; a row of zeros stays zero up to 1 */
    int live;        /* rows that are not zero */
    double residual; /* of the last step's eigenvectors, relative */
} udfs_result;

void udfs_solve(const udfs_problem *problem, const udfs_settings *settings, udfs_result *result,
                ufs_run *run);

#endif
