/* solve_blfse_agreement.h: which base clusterings put two samples together, found once per sample
 * and kind (solve_blfse_agreement.c). */
#ifndef UFS_SOLVE_BLFSE_AGREEMENT_H
#define UFS_SOLVE_BLFSE_AGREEMENT_H

#include "solve_blfse.h"

/* Kinds are numbered by their first samples. */
typedef struct {
    int n, m;
    int *kind;          /* n */
    int *label;         /* n x m: of the kinds */
    int seen;           /* kinds up to the present column */
    double *join;       /* n: sum of weights of those that put it and a kind together */
    double *near, *far; /* n: what the column adds to the errors, by kind */
} blfse_agreement;

void blfse_agreement_init(blfse_agreement *set, const blfse_problem *problem);
/* Sample j and all kinds up to its own, for weights (m) of the clusterings; columns in order. */
void blfse_column_begin(blfse_agreement *set, int j, const double *weight);
/* What the pairs of the column add to the errors (m), each as (i, j) and (j, i). Only sums of
 * squares: nothing cancels. */
void blfse_column_end(const blfse_agreement *set, int j, double *error);

/* What the pair adds to the errors of base results that put the two together, and of those that do
 * not. */
static inline void blfse_add_error(blfse_agreement *set, int kind, double w, double s)
{
    set->near[kind] += w * w * (s - 1.0) * (s - 1.0);
    set->far[kind] += w * w * s * s;
}

#endif
