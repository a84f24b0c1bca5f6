/* base_rsr.h: regularised self-representation, see base_rsr.c. */
#ifndef UFS_BASE_RSR_H
#define UFS_BASE_RSR_H

#include "ufs.h"

typedef struct {
    int n, p;
    const double *x; /* n x p */
    double lambda;
} rsr_problem;

typedef struct {
    int max_iter;
    double tol;
    double eps_residual, eps_row; /* smoothing of |e_i|^2 and of |w_j|^2 */
    double start_g;               /* first weight of every row of E, a length of rows */
    bool accelerate;
} rsr_settings;

/* w is p x p, or NULL if it is not wanted. */
typedef struct {
    double *row;      /* p: |w_j| */
    double *residual; /* n: |e_i| */
    double *dual;     /* p: |X'Y|_j / lambda of the dual point Y before it is scaled */
    double *w;
    double objective, gap; /* smoothed objective and relative gap of the last accepted point */
} rsr_result;

/* The window of lambda. identity: the largest value at which W = I is proved optimal (NaN if
 * p > n or x has no full column rank); zero: the smallest at which W = 0 is. */
int rsr_window(int n, int p, const double *x, double *identity, double *zero);

void rsr_solve(const rsr_problem *problem, const rsr_settings *settings, rsr_result *result,
               ufs_run *run);

#endif
