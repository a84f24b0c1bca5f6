/* solve_topk_select.h: sub-problem 2 of top-k selection by ADMM, see solve_topk_select.c. */
#ifndef UFS_SOLVE_TOPK_SELECT_H
#define UFS_SOLVE_TOPK_SELECT_H

#include "solve_topk_criterion.h"

enum { TOPK_SELECT_COLUMNS = 7 };

typedef struct {
    double lambda_a, lambda_i;
    double tol;
    int max_iter;
} topk_select_settings;

typedef struct {
    topk_criterion *g;
    double *a;    /* p x c, the transpose of A */
    double *v;    /* p, continuous */
    int *chosen;  /* k, ascending, 0-based */
    double value; /* g(chosen) */
    int iterations;
    bool converged;
    double residual; /* the largest of the four */
    /* Work. */
    double *factor;                                      /* r x r: what is factored */
    double *u, *sol;                                     /* r x p, r x c */
    double *rhs, *v1, *v2, *y2, *y3, *previous, *target; /* p */
    double *cg_r, *cg_z, *cg_p, *cg_q, *pc;              /* p */
    double rho, y1;                                      /* penalty; multiplier of the sum */
    double *av, *back, *t;                               /* p x c, p x c, r x c */
    int *trial;
    topk_entry *sort;
} topk_select;

/* u: r x p, only used during a solve. */
void topk_select_init(topk_select *work, topk_criterion *g, double *u);
/* ADMM; the result is the best set that it met. */
int topk_select_admm(topk_select *work, const topk_select_settings *settings, int outer,
                     ufs_trace *trace);

#endif
