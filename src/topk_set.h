/* topk_set.h: sub-problem 2 of top-k selection, the set S of k features. Its criterion
 * with a local search (topk_criterion.c), the paper's ADMM (topk_select.c), a lower
 * bound and branch and bound (topk_solve.c). */
#pragma once

#include "quota.h"
#include "la.h"

/* ---- topk_criterion.c ----------------------------------------------------------------- */

/* For orders by (first, second) descending, index ascending. */
typedef struct {
    double first, second;
    int index;
} topk_entry;

/* Features taken one by one: how many of each stratum there are, how many are lacking of the least, and
 * room for how many is left. */
typedef struct {
    const ufs_quota *quota;
    int *have, lacking, room;
} topk_walk;

/* The criterion g(S) = ||Y||^2 - tr(B_S'(K_SS + lambda_a I)^{-1} B_S) through the r x p factor f
 * of K = f'f, B = f'h. */
typedef struct {
    int n, p, c, k, r;
    bool compressed; /* r = p, otherwise r = n */
    double lambda_a, yy, b_norm;
    const int *must; /* p: 1 for features in every set, -1 for those in none, else 0; NULL: all 0 */
    const double *
        cost; /* p: of the features, of which a set has no more than the budget; NULL: no costs. The
                           k cheapest, with those that must be in, are within it. */
    double budget;
    ufs_quota quota; /* which sets of k features, with those that must be in, can meet */
    double price;    /* what the relaxation adds for each unit of cost above the budget */
    double *b;       /* p x c */
    double *diag;    /* p: the diagonal of K; and room for twice as much */
    const double *f; /* r x p: f_own, or x */
    double *h;       /* r x c */
    const double *x;
    /* Work. */
    double *f_own;
    double *small, *cols, *bs; /* k x k, r x k, k x c */
    double *chol;              /* n x n: I + lambda_i L; compressed: n x p, L x */
    int *pivot;                /* p */
    topk_entry *sort;          /* p */
    int *cheap, *other;        /* p by rising cost; k: with costs only */
    bool *used;                /* p */
    topk_walk walk[2];
    int *index; /* p or strata; part: 2 p, total: each stratum; with quotas only */
    double *part, *total;
    double *u, *system; /* n x p, nothing between two calls; r x r */
    double *m, *pull;   /* r x c, p x c: see topk_criterion_relaxed */
} topk_criterion;

/* The caller has set n, p, c, k, x, lambda_a, must, cost, budget and quota; the rest is made here. graph: whether the criterion
 * will have the structure term. */
void topk_criterion_init(topk_criterion *g, bool graph, const ufs_paths *paths);
/* label: 1..c. weights (n x n) with lambda_i > 0 adds the structure term, NULL none. */
int topk_criterion_set(topk_criterion *g, const int *label, const double *weights, double lambda_i);
/* g(S); +Inf if the k x k factorisation fails. */
double topk_criterion_value(topk_criterion *g, const int *subset);
/* a (p x c) = the optimal A' for the set, zero outside it. Returns LAPACK's code. */
int topk_criterion_coef(topk_criterion *g, const int *subset, double *a);

/* m = (f V^2 f' + lambda_a I)^{-1} h and pull = f'm, V = diag(v); trace: of the matrix. r^2 m
 * + r^3/3 + 2rpc flops, m = number of v_j that are not zero. Returns LAPACK's code. */
int topk_criterion_relaxed(topk_criterion *g, const double *v, double *trace);

static inline bool topk_affordable(const topk_criterion *g, double price)
{
    return price <= g->budget * (1.0 + UFS_ROUNDING);
}

static inline int topk_must(const topk_criterion *g, int j)
{
    return g->must == NULL ? 0 : g->must[j];
}

/* ---- topk_criterion.c: without quotas a walk may take everything ------------------------------ */

/* Nothing taken, room for so many. */
void topk_walk_begin(topk_walk *walk, int room);
void topk_walk_take(topk_walk *walk, int j);
/* The smallest sum with which the walk can be completed by some of the features index[0 .. n_free) with
 * the values u, both of which are reordered. */
double topk_quota_sum(topk_criterion *g, topk_walk *walk, int n_free);
/* Is there a set with what is fixed in (1), without what is out (-1)? */
bool topk_quota_feasible(topk_criterion *g, const signed char *fixed);
/* The projection of y (p, infinite for what is fixed) on the hull of the sets. */
void topk_quota_project(topk_criterion *g, const double *y, double *out);

/* ---- topk_criterion.c: sets --------------------------------------------------------------- */

/* The k features with the largest v (p), the larger `second` of equals, as an ascending set. Like all
 * others it keeps to the quotas, has the features that must be in and none of those that may not be. Under a budget the
 * better of two sets: with the largest v that leave enough for the others, and the same by v over
 * cost. */
void topk_best(topk_criterion *g, const double *v, const double *second, int *subset);

/* A set replaces another one if its value is smaller by more than rounding. */
static inline bool topk_better(double value, double than)
{
    return !R_FINITE(than) || value < than - UFS_ROUNDING * (1.0 + fabs(than));
}

typedef struct {
    double *kc;      /* p x k: K[, S] */
    double *u, *r;   /* p x k, p x c */
    double *rt;      /* p x k: R T' */
    double *rr, *tt; /* p, k: row norms of R and T */
    bool *in;        /* p */
} topk_polish;

void topk_polish_init(topk_polish *work, const topk_criterion *g);
/* Improves `subset` (ascending) in place; returns g, or +Inf after a failed
 * factorisation. */
double topk_polish_solve(topk_polish *work, topk_criterion *g, int *subset, int *swaps);

/* ---- topk_select.c -------------------------------------------------------------------- */

typedef struct {
    double lambda_a, lambda_i;
    double growth; /* of the penalty, per iteration */
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
    double *rhs, *v1, *v2, *y2, *y3, *previous, *target; /* p */
    double *cg, *pc;                                     /* 4 p; p */
    double rho, y1;                                      /* penalty; multiplier of the sum */
    double *av;                                          /* p x c */
    int *trial;
} topk_select;

void topk_select_init(topk_select *work, topk_criterion *g);
/* ADMM; the result is the best set that it met. */
int topk_select_admm(topk_select *work, const topk_select_settings *settings, int outer,
                     ufs_trace *trace);

/* ---- topk_solve.c --------------------------------------------------------------------- */

typedef struct {
    double *s, *gradient, *trial, *next, *score, *root; /* p */
    double step;                                        /* of the gradient, the last one */
    double value, lower;                                /* h(s), and the proved bound on it */
    int iterations;
    /* Of branch and bound. */
    int nodes;      /* relaxations solved */
    bool proved;    /* the set is optimal up to rounding */
    double overall; /* bound on all sets */
} topk_bound;

/* s is the same everywhere. */
void topk_bound_init(topk_bound *work, const topk_criterion *g);
/* Minimises the relaxation from `start` (p, or s itself) with s_j = 1 where fixed is 1
 * and 0 where it is -1 (NULL: as the criterion has it). Stops at value - lower <= tol (1 + |value|); with a
 * target (none: NA) when lower passes it, or not before value is below it. The criterion must have
 * been factored. Returns LAPACK's code. */
int topk_bound_solve(topk_bound *work, topk_criterion *g, const signed char *fixed,
                     const double *start, double target, double tol, int max_iter);
