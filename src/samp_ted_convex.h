/* samp_ted_convex.h: convex transductive experimental design (samp_ted_convex.c). */
#ifndef UFS_SAMP_TED_CONVEX_H
#define UFS_SAMP_TED_CONVEX_H

#include "samp_mm.h"

typedef struct {
    int r, n;        /* coordinates, samples */
    const double *x; /* r x n, columns = samples */
    double mu, eps;
} tedc_problem;

/* Of the best A found; length n each, provided by the caller. */
typedef struct {
    double *row_norm; /* ||A_j.|| */
    double *activity; /* ||(X'Y)_j.|| / mu of its dual point, at most 1 */
    mm_info mm;
} tedc_info;

void tedc_solve(const tedc_problem *problem, const mm_settings *settings,
                tedc_info *info);

/* mu_max = max_j ||2 X'x_j||: A = 0 is optimal if and only if mu >= mu_max. */
double tedc_mu_max(int r, int n, const double *x, double *activity);

#endif
