/* solve_topk_branch.c: a proof that a set is the best one, or a better set. Features are fixed
 * in or out, the node with the smallest bound (solve_topk_bound.c) first, until no node can hold
 * a set better than the one at hand. One node: a relaxation from the root's solution, about 10
 * evaluations. Memory: node_limit x p bytes. */
#include "solve_topk_branch.h"
#include <R_ext/Memory.h>

/* Open nodes in a binary heap, smallest bound first; slots of closed ones are reused. */
typedef struct {
    int p, open, n_slot;
    signed char *fixed; /* slots x p */
    double *lower;      /* of the slot */
    int *branch;        /* feature to branch on */
    int *heap, *spare, n_spare;
} tree;

static void tree_push(tree *t, const signed char *fixed, double lower, int branch);
static int tree_pop(tree *t);
static int fractional(const topk_bound *work, const signed char *fixed, int p);

int topk_branch_solve(topk_bound *work, topk_polish *polish, topk_criterion *g, double tol,
                      int max_iter, int node_limit, int *subset, double *value,
                      topk_branch_result *result)
{
    size_t p = (size_t) g->p, k = (size_t) g->k;
    signed char *fixed = (signed char *) R_alloc(p, 1);
    int *trial = ufs_ialloc(k), swaps = 0;
    size_t slots = (size_t) node_limit + 2;
    tree t = {g->p, 0, 0, NULL, NULL, NULL, NULL, NULL, 0};

    t.fixed = (signed char *) R_alloc(slots * p, 1);
    t.lower = ufs_dalloc(slots, 1);
    t.branch = ufs_ialloc(slots);
    t.heap = ufs_ialloc(slots);
    t.spare = ufs_ialloc(slots);
    result->nodes = 0;
    result->improved = false;
    memset(fixed, 0, p);
    /* The root is the relaxation just solved. */
    ufs_copy(work->root, work->s, p);
    tree_push(&t, fixed, work->lower, fractional(work, fixed, g->p));

    while (t.open > 0 && result->nodes + 2 <= node_limit) {
        int slot, branch;
        double cut = *value - 1e-9 * (1.0 + fabs(*value));
        if (t.lower[t.heap[0]] >= cut) break;
        slot = tree_pop(&t);
        branch = t.branch[slot];
        for (int side = 1; side >= -1; side -= 2) {
            int in = 0, n_free = 0, lapack;
            double found;
            memcpy(fixed, t.fixed + (size_t) slot * p, p);
            fixed[branch] = (signed char) side;
            for (size_t j = 0; j < p; j++) {
                in += fixed[j] == 1;
                n_free += fixed[j] == 0;
            }
            result->nodes++;
            if (in > g->k || in + n_free < g->k) continue;
            lapack = topk_bound_solve(work, g, fixed, work->root, cut, tol, max_iter);
            if (lapack) return lapack;
            if (work->lower >= cut) continue;
            topk_bound_round(work, g, trial);
            found = topk_criterion_value(g, trial);
            if (found < *value - 1e-9 * (1.0 + fabs(*value))) {
                if (polish != NULL) found = topk_polish_solve(polish, g, trial, &swaps);
                *value = found;
                memcpy(subset, trial, k * sizeof(int));
                result->improved = true;
                cut = *value - 1e-9 * (1.0 + fabs(*value));
            }
            /* A complete set has no children: its value was just looked at. */
            if (in < g->k && in + n_free > g->k && work->lower < cut)
                tree_push(&t, fixed, work->lower, fractional(work, fixed, g->p));
        }
        t.spare[t.n_spare++] = slot;
        ufs_hook_step(NULL, 0, 0.0, 0.0);
    }
    ufs_copy(work->s, work->root, p);
    result->lower = *value;
    for (int i = 0; i < t.open; i++) result->lower = fmin(result->lower, t.lower[t.heap[i]]);
    result->proved = result->lower >= *value - 1e-9 * (1.0 + fabs(*value));
    return 0;
}

/* The free entry nearest to 1/2, the first of equals. */
static int fractional(const topk_bound *work, const signed char *fixed, int p)
{
    double best = R_PosInf;
    int at = 0;
    for (int j = 0; j < p; j++) {
        double d = fabs(work->s[j] - 0.5);
        if (fixed[j] == 0 && d < best - 1e-9) {
            best = d;
            at = j;
        }
    }
    return at;
}

static void tree_push(tree *t, const signed char *fixed, double lower, int branch)
{
    int slot = t->n_spare > 0 ? t->spare[--t->n_spare] : t->n_slot++;
    int at = t->open++;
    memcpy(t->fixed + (size_t) slot * (size_t) t->p, fixed, (size_t) t->p);
    t->lower[slot] = lower;
    t->branch[slot] = branch;
    while (at > 0 && t->lower[t->heap[(at - 1) / 2]] > lower) {
        t->heap[at] = t->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    t->heap[at] = slot;
}

static int tree_pop(tree *t)
{
    int first = t->heap[0], last = t->heap[--t->open], at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= t->open) break;
        if (child + 1 < t->open && t->lower[t->heap[child + 1]] < t->lower[t->heap[child]]) child++;
        if (t->lower[t->heap[child]] >= t->lower[last]) break;
        t->heap[at] = t->heap[child];
        at = child;
    }
    t->heap[at] = last;
    return first;
}
