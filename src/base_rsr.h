/* base_rsr.h: regularised self-representation, see base_rsr.c and base_rsr_window.c. */
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

/* The window of lambda. identity: the largest value at which W = I is proved optimal (NaN if
 * p > n or x has no full column rank); zero: the smallest at which W = 0 is. activity: p,
 * |sum_i x_ij x_i/|x_i||. root: n x n with root root' = x x' if p > n, else NULL. */
int rsr_window(int n, int p, const double *x, double *identity, double *zero, double *activity,
               double *root);

void rsr_solve(const rsr_problem *problem, const rsr_settings *settings, rsr_result *result,
               ufs_run *run);

/* Is W = I optimal, by a dual point? length: |x_i|. */
bool rsr_proves_identity(const rsr_problem *problem, const double *length);
/* First weights of the accelerated iteration: wr of the q columns in set, wg; length: |x_i|. */
void rsr_start(const rsr_problem *problem, int q, const int *set, const double *length, double *wr,
               double *wg);
/* norm_j = |Y'x_j|, y n x r (destroyed). 2nrp flops, n^2 p for a square y and p > 2n. */
void rsr_products(int n, int p, int r, const double *x, double *y, double *norm);

#endif
