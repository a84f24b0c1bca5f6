/* samp_alnr.h: neighbourhood reconstruction (see samp_alnr.c). */
#ifndef UFS_SAMP_ALNR_H
#define UFS_SAMP_ALNR_H

#include "mm.h"

typedef struct {
    int n, p, k;     /* samples, features, neighbours beside the sample itself */
    const double *x; /* n x p, rows = samples */
} alnr_problem;

void alnr_solve(const alnr_problem *problem, const mm_settings *settings, mm_result *result,
                ufs_run *run);

#endif
