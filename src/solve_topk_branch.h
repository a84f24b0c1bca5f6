/* solve_topk_branch.h: branch and bound for g(S), see solve_topk_branch.c. */
#ifndef UFS_SOLVE_TOPK_BRANCH_H
#define UFS_SOLVE_TOPK_BRANCH_H

#include "ufs.h"
#include "solve_topk_bound.h"
#include "solve_topk_polish.h"

typedef struct {
    int nodes;   /* relaxations solved */
    bool proved; /* the set is optimal to a relative 1e-9 */
    double lower;
} topk_branch_result;

/* Best-first branch and bound after topk_bound_solve, from the incumbent `subset` with
 * value *value; both are improved in place, by polishing what roundings find (polish NULL:
 * as they are). Memory: node_limit x p bytes. Returns LAPACK's code. */
int topk_branch_solve(topk_bound *work, topk_polish *polish, topk_criterion *g, double tol,
                      int max_iter, int node_limit, int *subset, double *value,
                      topk_branch_result *result);

#endif
