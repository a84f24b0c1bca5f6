/* reweighted.h: the convex sample selectors (see rrss.c, alnr.c). */
#pragma once

#include "mm.h"

typedef struct {
    int r, n;        /* coordinates, samples */
    const double *x; /* r x n, columns = samples */
} rrss_problem;

typedef struct {
    int n, p, k;     /* samples, features, neighbours beside the sample itself */
    const double *x; /* n x p, rows = samples */
} alnr_problem;

void rrss_solve(const rrss_problem *problem, const mm_settings *settings, mm_result *result,
                ufs_run *run);
void alnr_solve(const alnr_problem *problem, const mm_settings *settings, mm_result *result,
                ufs_run *run);
