/* base_rsr.h: regularised self-representation, see base_rsr.c and base_rsr_exact.c. */
#ifndef UFS_BASE_RSR_H
#define UFS_BASE_RSR_H

#include "ufs.h"

typedef struct {
    int n, p;
    const double *x; /* n x p */
    double lambda;
    /* What rsr_window() found. */
    double identity;        /* NaN if unknown */
    const double *activity; /* p */
    const double *root;     /* n x n, NULL if p <= n */
} rsr_problem;

typedef struct {
    int max_iter;
    double tol;
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
} rsr_result;

/* A bound above the objective by more than that: the systems were too badly scaled. */
#define RSR_ABOVE 1e-8
#define RSR_FLOOR 1e-12

/* The window of lambda. identity: the largest value at which W = I is proved optimal (NaN if
 * p > n or x has no full column rank); zero: the smallest at which W = 0 is. activity: p,
 * |sum_i x_ij x_i/|x_i||. root: n x n with root root' = x x' if p > n, else NULL. */
int rsr_window(int n, int p, const double *x, double *identity, double *zero, double *activity,
               double *root);

void rsr_solve(const rsr_problem *problem, const rsr_settings *settings, rsr_result *result,
               ufs_run *run);

/* The two halves of it and what they share.
 * Products: norm_j = |Y'x_j|, y n x r (destroyed). 2nrp flops, n^2 p for a square y and p > 2n.
 * Floor: raises g_i to at least RSR_FLOOR x_i R x_i' / lambda, so that no system is singular to
 * rounding however small lambda is; R holds the weights r of the columns in set (NULL: all of q).
 * Any weights g give a W and a dual point, so the gap stays a bound. scratch: n. 2nq flops. */
void rsr_exact_solve(const rsr_problem *problem, const rsr_settings *settings, rsr_result *result,
                     ufs_run *run);
void rsr_floor(const rsr_problem *problem, int q, const int *set, const double *r, double *g,
               double *scratch);
void rsr_products(int n, int p, int r, const double *x, double *y, double *norm);

#endif
