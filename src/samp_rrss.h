/* samp_rrss.h: robust representative sample selection (see samp_rrss.c). */
#ifndef UFS_SAMP_RRSS_H
#define UFS_SAMP_RRSS_H

#include "mm.h"

typedef struct {
    int r, n;        /* coordinates, samples */
    const double *x; /* r x n, columns = samples */
} rrss_problem;

/* residual: n, ||x_i - X a_i||, the caller's. */
void rrss_solve(const rrss_problem *problem, const mm_settings *settings, mm_result *result,
                double *residual, ufs_run *run);

#endif
