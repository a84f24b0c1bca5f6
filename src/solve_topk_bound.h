/* solve_topk_bound.h: convex lower bound on g(S), see solve_topk_bound.c. */
#ifndef UFS_SOLVE_TOPK_BOUND_H
#define UFS_SOLVE_TOPK_BOUND_H

#include "ufs.h"
#include "solve_topk_criterion.h"

typedef struct {
    double *s, *gradient, *trial, *next, *score, *root; /* p */
    double *fs, *gram, *m;                              /* r x p, r x r, r x c */
    double *pull;                                       /* p x c */
    topk_entry *sort;                                   /* p */
    double step;                                        /* of the gradient, the last one */
    double value, lower;                                /* h(s), and the proved bound on it */
    int iterations;
} topk_bound;

/* fs: r x p, only used during a solve. */
void topk_bound_init(topk_bound *work, const topk_criterion *g, double *fs);
/* Minimises the relaxation from `start` (NULL: all equal) with s_j = 1 where fixed is 1
 * and 0 where it is -1 (NULL: none). Stops at value - lower <= tol (1 + |value|); with a
 * finite target also when lower passes it or at a tenth of the way to it. The criterion
 * must have been factored. Returns LAPACK's code. */
int topk_bound_solve(topk_bound *work, const topk_criterion *g, const signed char *fixed,
                     const double *start, double target, double tol, int max_iter);
/* The k largest entries of the relaxed s, ascending. */
void topk_bound_round(topk_bound *work, const topk_criterion *g, int *subset);

#endif
