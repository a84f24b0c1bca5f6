/* samp_alnr.h: neighbourhood reconstruction (see samp_alnr.c). */
#ifndef UFS_SAMP_ALNR_H
#define UFS_SAMP_ALNR_H

#include "mm.h"

typedef struct {
    int n, p, k;     /* samples, features, neighbours beside the sample itself */
    const double *x; /* n x p, rows = samples */
    double unit;     /* what x is divided by */
    double gamma;
    bool relative; /* gamma is a share of gamma_max */
} alnr_problem;

/* Of the best A found; vectors of length n, the caller's. */
typedef struct {
    double *row_norm; /* z_j = sqrt(sum_i t_ij A_ji^2) */
    double *activity; /* sqrt(sum_i (x_j'y_i)^2 / t_ij) / gamma, at most 1 */
    double gamma, gamma_max;
    mm_result mm;
} alnr_result;

void alnr_solve(const alnr_problem *problem, const mm_settings *settings, alnr_result *result,
                ufs_run *run);

#endif
