/* solve_topk_criterion.h: the criterion g(S) of top-k selection, see
 * solve_topk_criterion.c. */
#ifndef UFS_SOLVE_TOPK_CRITERION_H
#define UFS_SOLVE_TOPK_CRITERION_H

#include "ufs.h"

/* The criterion g(S) = ||Y||^2 - tr(B_S'(K_SS + lambda_a I)^{-1} B_S), in one of two
 * forms: K itself (p <= n), or K = f'f, B = f'h through the r x p factor f. */
typedef struct {
    int n, p, c, k, r;
    bool dense;
    double lambda_a, yy, b_norm;
    double *b;           /* p x c */
    double *diag;        /* diagonal of K */
    double *kmat;        /* dense: p x p */
    const double *f, *h; /* r x p, r x c; in the dense form only after topk_factor */
    double *f_own, *h_own;
    const double *x;
    /* Work. */
    double *small, *cols, *bs; /* k x k, r x k, k x c */
    double *chol;              /* n x n: I + lambda_i L; dense: n x p, L x */
} topk_criterion;

/* For orders by (first, second) descending, index ascending. */
typedef struct {
    double first, second;
    int index;
} topk_entry;

void topk_criterion_init(topk_criterion *g, int n, int p, int c, int k, const double *x,
                         double lambda_a, bool graph, char form, bool factor);
/* label: 1..c. weights (n x n) with lambda_i > 0 adds the structure term, NULL none. */
int topk_criterion_set(topk_criterion *g, const int *label, const double *weights, double lambda_i);
/* g(S); +Inf if the k x k factorisation fails. */
double topk_criterion_value(topk_criterion *g, const int *subset);
/* a (p x c) = the optimal A' for the set, zero outside it. Returns LAPACK's code. */
int topk_criterion_coef(topk_criterion *g, const int *subset, double *a);
/* out (p x m) = K[, subset]. */
void topk_criterion_columns(const topk_criterion *g, const int *subset, int m, double *scratch,
                            double *out);
/* Dense form: makes f and h with K = f'f, B = f'h by an eigen-decomposition. */
int topk_criterion_factor(topk_criterion *g);

/* The k best of p entries (which are sorted in place), as an ascending set. */
void topk_best(int p, int k, topk_entry *entry, int *subset);

#endif
