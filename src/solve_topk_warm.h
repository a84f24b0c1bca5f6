/* solve_topk_warm.h: sub-problem 1 of top-k selection for samples with many links, by an ADMM that
 * goes on from one outer iteration to the next, see solve_topk_warm.c. */
#ifndef UFS_SOLVE_TOPK_WARM_H
#define UFS_SOLVE_TOPK_WARM_H

#include "solve_topk_theta.h"

typedef struct {
    double lambda_e, lambda_z;
    double tol;       /* on the three residuals */
    int max_iter;     /* of one call */
    bool nonnegative; /* Z >= 0 */
    bool coarse;      /* the first call, because others will follow */
} topk_warm_settings;

typedef struct {
    int n, p;
    const double *x; /* n x p */
    double *z, *e;   /* n x n, n x p: the results */
    int calls, iterations;
    bool converged;
    double residual;        /* the largest of the last iteration */
    double objective;       /* sum(w |Z|) + lambda_e ||x - Zx||_1 */
    double mu;              /* penalty of the next iteration */
    double *xt, *y;         /* p x n: x', the multiplier of x = Qx + E */
    bool n_form;            /* for p >= n */
    int width;              /* samples of a block */
    double *gram, *inverse; /* p x p: x'x, (x'x + RATIO I)^{-1}; n x n: (xx' + RATIO I)^{-1} */
    struct topk_warm_block *block;
} topk_warm;

/* z (n x n) and e (n x p) are where the results will be; xt (p x n) is only used during a solve.
 * Returns LAPACK's code. */
int topk_warm_init(topk_warm *work, int n, int p, const double *x, double *z, double *e,
                   double *xt);
/* theta: row i for sample i. change: by how much the new weights changed the objective of
 * the present Z, relative to it; Z stays as it is if that is below SETTLED. */
void topk_warm_solve(topk_warm *work, const topk_warm_settings *settings, const topk_theta *theta,
                     double change);

#endif
