/* solve_topk_polish.h: 1-swap local search on g(S), see solve_topk_polish.c. */
#ifndef UFS_SOLVE_TOPK_POLISH_H
#define UFS_SOLVE_TOPK_POLISH_H

#include "ufs.h"
#include "solve_topk_criterion.h"

typedef struct {
    double *kc;      /* p x k: K[, S] */
    double *u, *r;   /* p x k, p x c */
    double *rt, *rr; /* p x k: R T'; p: row norms of R */
    double *inv, *t; /* k x k, k x c */
    bool *in;        /* p */
} topk_polish;

void topk_polish_init(topk_polish *work, const topk_criterion *g);
/* Improves `subset` (ascending) in place; returns g, or +Inf after a failed
 * factorisation. */
double topk_polish_solve(topk_polish *work, topk_criterion *g, int *subset, int *swaps);

#endif
