/* solve_topk_lp.h: sub-problem 1 of top-k selection, sample by sample to its optimum, see
 * solve_topk_lp.c. */
#ifndef UFS_SOLVE_TOPK_LP_H
#define UFS_SOLVE_TOPK_LP_H

#include "solve_topk_theta.h"

typedef struct {
    double lambda_e, lambda_z;
    double tol;       /* on the relative violation of the dual constraints */
    int most_pivots;  /* per sample and call */
    bool nonnegative; /* Z >= 0 */
} topk_lp_settings;

typedef struct {
    int n, p, most;  /* most = min(n, p): the largest basis */
    const double *x; /* n x p */
    double *z, *e;   /* n x n, n x p: the results */
    long pivots;
    int unsolved;          /* samples whose optimum was not reached */
    double objective, gap; /* value of (Z, E), and its relative duality gap */
    /* What stays between calls: the basis of every sample. */
    int *size, *sample, *feature; /* n; most x n each */
    double *xt;                   /* p x n */
    /* One sample at a time. */
    struct topk_lp_row *row; /* see solve_topk_lp.c */
} topk_lp;

/* z (n x n) and e (n x p) are where the results will be; xt (p x n) is only used during a solve. */
void topk_lp_init(topk_lp *work, int n, int p, const double *x, double *z, double *e, double *xt);
/* theta: row i for sample i. Continues from the bases of the last call. */
void topk_lp_solve(topk_lp *work, const topk_lp_settings *settings, const topk_theta *theta);
/* The links of sample i alone, at equal weights and from none; `pivots` counts on. */
int topk_lp_links(topk_lp *work, const topk_lp_settings *settings, int i);

#endif
