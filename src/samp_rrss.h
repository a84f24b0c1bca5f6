/* samp_rrss.h: robust representative sample selection (see samp_rrss.c). */
#ifndef UFS_SAMP_RRSS_H
#define UFS_SAMP_RRSS_H

#include "mm.h"

typedef struct {
    int r, n;        /* coordinates, samples */
    const double *x; /* r x n, columns = samples */
    double gamma;
} rrss_problem;

/* Of the best A found; vectors of length n, the caller's. */
typedef struct {
    double *row_norm; /* ||A_j.||: how much sample j represents */
    double *activity; /* ||(X'Y)_j.|| / gamma of its dual point, at most 1 */
    double *residual; /* ||x_i - X a_i|| */
    mm_result mm;
} rrss_result;

void rrss_solve(const rrss_problem *problem, const mm_settings *settings, rrss_result *result,
                ufs_run *run);

/* gamma_max = max_j ||x_j' N||, N the samples at unit length: A = 0 is optimal if
 * and only if gamma >= gamma_max. r^2 n flops twice. */
double rrss_gamma_max(int r, int n, const double *x, double *activity);

#endif
