/* solve_topk_branch.c: a proof that a set is the best one, or a better set. Features are fixed
 * in or out, the node with the smallest bound (solve_topk_bound.c) first, until no node can hold
 * a set better than the one at hand. One node: a relaxation from the root's solution, about 10
 * evaluations. Memory: node_limit x p bytes. */
#include "solve_topk_branch.h"
#include <R_ext/Memory.h>

/* What two values may differ by and still be equal. */
static const double SAME = 1e-9;

/* Open nodes, in no order: finding the smallest bound among them costs nothing beside a relaxation.
 */
typedef struct {
    size_t p;
    int open;
    signed char *fixed; /* node_limit + 2 times p: 1 in, -1 out, 0 free */
    double *lower;
    int *branch; /* feature to branch on */
} nodes;

static void push(nodes *t, const signed char *fixed, double lower, int branch)
{
    memcpy(t->fixed + (size_t) t->open * t->p, fixed, t->p);
    t->lower[t->open] = lower;
    t->branch[t->open++] = branch;
}

static int smallest(const nodes *t)
{
    int at = 0;
    for (int i = 1; i < t->open; i++)
        if (t->lower[i] < t->lower[at]) at = i;
    return at;
}

/* The last one takes the place of node `at`. */
static void take(nodes *t, int at, signed char *fixed, int *branch)
{
    memcpy(fixed, t->fixed + (size_t) at * t->p, t->p);
    *branch = t->branch[at];
    t->open--;
    memmove(t->fixed + (size_t) at * t->p, t->fixed + (size_t) t->open * t->p, t->p);
    t->lower[at] = t->lower[t->open];
    t->branch[at] = t->branch[t->open];
}

/* The free entry nearest to 1/2, the first of equals. */
static int fractional(const topk_bound *work, const signed char *fixed, int p)
{
    double best = R_PosInf;
    int at = 0;
    for (int j = 0; j < p; j++) {
        double d = fabs(work->s[j] - 0.5);
        if (fixed[j] == 0 && d < best - SAME) {
            best = d;
            at = j;
        }
    }
    return at;
}

static double cut_below(double value)
{
    return value - SAME * (1.0 + fabs(value));
}

int topk_branch_solve(topk_bound *work, topk_polish *polish, topk_criterion *g, double tol,
                      int max_iter, int node_limit, int *subset, double *value,
                      topk_branch_result *result)
{
    size_t p = (size_t) g->p, k = (size_t) g->k, most = (size_t) node_limit + 2;
    signed char *parent = (signed char *) R_alloc(p, 1), *fixed = (signed char *) R_alloc(p, 1);
    int *trial = ufs_ialloc(k), swaps = 0, branch, at;
    nodes t = {.p = p,
               .fixed = (signed char *) R_alloc(most * p, 1),
               .lower = ufs_dalloc(most, 1),
               .branch = ufs_ialloc(most)};

    result->nodes = 0;
    memset(fixed, 0, p);
    /* The root is the relaxation just solved. */
    ufs_copy(work->root, work->s, p);
    push(&t, fixed, work->lower, fractional(work, fixed, g->p));
    while (t.open > 0 && result->nodes + 2 <= node_limit) {
        at = smallest(&t);
        if (t.lower[at] >= cut_below(*value)) break;
        take(&t, at, parent, &branch);
        for (int side = 1; side >= -1; side -= 2) {
            int in = 0, n_free = 0, lapack;
            double found;
            memcpy(fixed, parent, p);
            fixed[branch] = (signed char) side;
            for (size_t j = 0; j < p; j++) {
                in += fixed[j] == 1;
                n_free += fixed[j] == 0;
            }
            result->nodes++;
            if (in > g->k || in + n_free < g->k) continue;
            lapack = topk_bound_solve(work, g, fixed, work->root, cut_below(*value), tol, max_iter);
            if (lapack) return lapack;
            if (work->lower >= cut_below(*value)) continue;
            topk_bound_round(work, g, trial);
            found = topk_criterion_value(g, trial);
            if (found < cut_below(*value)) {
                if (polish != NULL) found = topk_polish_solve(polish, g, trial, &swaps);
                *value = found;
                memcpy(subset, trial, k * sizeof(int));
            }
            /* A complete set has no children: its value was just looked at. */
            if (in < g->k && in + n_free > g->k && work->lower < cut_below(*value))
                push(&t, fixed, work->lower, fractional(work, fixed, g->p));
        }
        ufs_hook_step(NULL, 0, 0.0, 0.0);
    }
    ufs_copy(work->s, work->root, p);
    result->lower = *value;
    for (int i = 0; i < t.open; i++) result->lower = fmin(result->lower, t.lower[i]);
    result->proved = result->lower >= cut_below(*value);
    return 0;
}
