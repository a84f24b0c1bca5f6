/* solve_topk_admm.h: sub-problem 1 of top-k selection by ADMM, as the paper runs it and as one run
 * through all outer iterations, see solve_topk_admm.c. */
#ifndef UFS_SOLVE_TOPK_ADMM_H
#define UFS_SOLVE_TOPK_ADMM_H

#include "solve_topk_theta.h"

typedef struct {
    double lambda_e, lambda_z;
    double mu, growth; /* the paper's: the first penalty, and its factor per iteration */
    double tol;        /* on the three residuals; < 0: never stop early */
    int max_iter;      /* of one call */
    bool nonnegative;  /* Z >= 0 */
    bool coarse;       /* not the paper's: a first call that others will follow */
} topk_admm_settings;

typedef struct {
    int n, p;
    bool paper;
    const double *x; /* n x p */
    double *z, *e;   /* n x n, n x p: the results */
    int calls, iterations;
    bool converged;
    double residual[3];     /* max|x - Qx - E|, max|Q - Z|, change of Z, in the last iteration */
    double objective;       /* sum(w |Z|) + lambda_e ||x - Zx||_1 */
    double mu;              /* penalty of the next iteration */
    double ratio, relax;    /* penalty of Q = Z over that of x = Qx + E; over-relaxation */
    double *xt, *y;         /* p x n: x', the multiplier of x = Qx + E */
    bool by_samples;        /* for p >= n: systems are n x n, otherwise p x p */
    int width;              /* samples of a block */
    double *inverse;        /* (xx' or x'x + ratio I)^{-1} */
    struct topk_admm_block *block;
} topk_admm;

/* z (n x n) and e (n x p) are where the results will be; xt (p x n) is only used during a solve.
 * paper: which of the two schedules. Returns LAPACK's code. */
int topk_admm_init(topk_admm *work, int n, int p, const double *x, double *z, double *e, double *xt,
                   bool paper, const ufs_paths *paths);
/* Both take row i of theta for sample i. */
/* From Z = 0. trace: rows (outer, iteration, mu, the three residuals, the objective at (Z, E)); the
 * hook (or NULL) is called in every iteration. */
void topk_admm_paper(topk_admm *work, const topk_admm_settings *settings, const topk_theta *theta,
                     int outer, ufs_trace *trace, const ufs_hook *hook);
/* From where the last call ended. change: by how much the new weights changed the objective of the
 * present Z, relative to it; Z stays as it is if that is below SETTLED. */
void topk_admm_go_on(topk_admm *work, const topk_admm_settings *settings, const topk_theta *theta,
                     double change);
/* Relative duality gap of the last solve: the multiplier, made feasible by a factor per sample,
 * proves a lower bound. 2n^2 p flops. */
double topk_admm_gap(const topk_admm *work, const topk_admm_settings *settings,
                     const topk_theta *theta);

#endif
