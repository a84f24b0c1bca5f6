/* solve_topk_represent.h: sub-problem 1 of top-k selection by ADMM, see solve_topk_represent.c. */
#ifndef UFS_SOLVE_TOPK_REPRESENT_H
#define UFS_SOLVE_TOPK_REPRESENT_H

#include "ufs.h"

enum { TOPK_REPRESENT_COLUMNS = 7 };

typedef struct {
    double lambda_e, lambda_z;
    double mu, growth, mu_max; /* mu is multiplied by growth up to mu_max */
    double tol;                /* on the three residuals; < 0: never stop early */
    int max_iter;
    bool nonnegative; /* Z >= 0 */
    char form;        /* 'n', 'p', or 'a' for the cheaper one */
} topk_represent_settings;

typedef struct topk_blocks topk_blocks; /* see solve_topk_blocks.c */

typedef struct {
    int n, p;
    bool n_form;
    const double *x; /* n x p */
    /* Results. */
    double *z;      /* n x n */
    double *q, *y2; /* n-form: n x n */
    double *e, *y1; /* n x p */
    double mu;
    int iterations;
    bool converged;
    double residual[3]; /* max|x - Qx - E|, max|Q - Z|, change of Z */
    double objective;   /* sum(w |Z|) + lambda_e ||x - Zx||_1 */
    /* For the objective of every iteration: sum(w |Z|), <Y1, x>, <Y1, D>, its mu. */
    double weighted, y1_x, y1_d, mu_now;
    /* Work. */
    double *inverse;                   /* (xx' + I)^{-1}, n x n, or (x'x + I)^{-1}, p x p */
    double *gram, *rhs, *cross, *step; /* n-form: n x n */
    double *tile, *change;             /* n x tile */
    double *reference, *qt;            /* n-form: n x n, Q0 and Q' */
    float *margin;                     /* n-form: n x p, rounded down */
    double *moved, *norm;              /* n-form: n, p */
    bool screened;                     /* the last step of E */
    int n_screened;                    /* of all */
    topk_blocks *blocks;               /* p-form */
    const ufs_hook *hook;              /* NULL: interrupts only */
} topk_represent;

/* Factors what does not change: xx' + I, or x'x + I. z (n x n) and e (n x p) are where the results
 * will be; y1 (n x p) is only used during a solve, unless it is warm. Returns LAPACK's code. */
int topk_represent_init(topk_represent *work, int n, int p, const double *x, double *z, double *e,
                        double *y1, char form);
/* Relative duality gap of the last solve: Y1, made feasible by a factor per sample, proves a lower
 * bound. 2n^2 p flops. */
double topk_represent_gap(topk_represent *work, const topk_represent_settings *settings,
                          const double *theta);
/* theta: n x n, like Z. warm: continue from the last state. trace: rows
 * (outer, iteration, mu, the three residuals, the objective at (Z, E)). */
void topk_represent_solve(topk_represent *work, const topk_represent_settings *settings,
                          const double *theta, bool warm, int outer, ufs_trace *trace);

/* The p-form: set-up, a cold start, the iterations, and the copy Q of Z with its multiplier Y2
 * (n x n each) after them. */
void topk_blocks_init(topk_represent *work);
void topk_blocks_start(topk_represent *work, double mu);
void topk_blocks_solve(topk_represent *work, const topk_represent_settings *settings,
                       const double *theta, int outer, ufs_trace *trace);
void topk_blocks_copies(const topk_represent *work, double *q, double *y2);

#endif
