/* base_rsr.h: regularised self-representation, see base_rsr.c. */
#ifndef UFS_BASE_RSR_H
#define UFS_BASE_RSR_H

#include "ufs.h"

typedef struct {
    int n, p;
    const double *x; /* n x p */
    double lambda;
    bool relative; /* lambda is a share of the smallest at which W = 0 is optimal */
} rsr_problem;

typedef struct {
    double eps_residual, eps_row; /* smoothing of |e_i|^2 and of |w_j|^2 */
    double start_g;               /* authors' iteration: first weight of every row of E */
    bool accelerate;              /* the exact solver; tol is the gap then, not the change */
} rsr_settings;

/* w is p x p, or NULL if it is not wanted. */
typedef struct {
    double *row;      /* p: |w_j| */
    double *residual; /* n: |e_i| */
    double *dual;     /* p: |X'Y|_j / lambda of the dual point Y before it is scaled */
    double *w;
    double objective, gap; /* smoothed objective and relative gap of the last accepted point */
    double lambda;
    double identity; /* largest lambda at which W = I is proved optimal; NaN: p > n, no full rank */
    double zero;     /* smallest lambda at which W = 0 is optimal */
} rsr_result;

void rsr_solve(const rsr_problem *problem, const rsr_settings *settings, rsr_result *result,
               ufs_run *run);

#endif
