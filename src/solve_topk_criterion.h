/* solve_topk_criterion.h: the criterion g(S) of top-k selection, see
 * solve_topk_criterion.c. */
#ifndef UFS_SOLVE_TOPK_CRITERION_H
#define UFS_SOLVE_TOPK_CRITERION_H

#include "ufs.h"

/* The criterion g(S) = ||Y||^2 - tr(B_S'(K_SS + lambda_a I)^{-1} B_S) through the r x p factor f
 * of K = f'f, B = f'h. */
typedef struct {
    int n, p, c, k, r;
    bool compressed; /* r = p, otherwise r = n */
    double lambda_a, yy, b_norm;
    double *b;           /* p x c */
    double *diag;        /* diagonal of K */
    const double *f, *h; /* r x p, r x c */
    const double *x;
    /* Work. */
    double *f_own, *h_own;
    double *small, *cols, *bs; /* k x k, r x k, k x c */
    double *chol;              /* n x n: I + lambda_i L; compressed: n x p, L x */
    double *vector, *value;    /* compressed: p x p, p */
} topk_criterion;

/* For orders by (first, second) descending, index ascending. */
typedef struct {
    double first, second;
    int index;
} topk_entry;

void topk_criterion_init(topk_criterion *g, int n, int p, int c, int k, const double *x,
                         double lambda_a, bool graph, const ufs_paths *paths);
/* label: 1..c. weights (n x n) with lambda_i > 0 adds the structure term, NULL none. */
int topk_criterion_set(topk_criterion *g, const int *label, const double *weights, double lambda_i);
/* g(S); +Inf if the k x k factorisation fails. */
double topk_criterion_value(topk_criterion *g, const int *subset);
/* a (p x c) = the optimal A' for the set, zero outside it. Returns LAPACK's code. */
int topk_criterion_coef(topk_criterion *g, const int *subset, double *a);
/* out (p x m) = K[, subset], m <= k. */
void topk_criterion_columns(topk_criterion *g, const int *subset, int m, double *out);

/* The k best of p entries (which are sorted in place), as an ascending set. */
void topk_best(int p, int k, topk_entry *entry, int *subset);

#endif
