/* solve_blfse_agreement.h: which base clusterings put two samples together, found once per sample and
 * kind (solve_blfse_agreement.c). */
#ifndef UFS_SOLVE_BLFSE_AGREEMENT_H
#define UFS_SOLVE_BLFSE_AGREEMENT_H

#include "solve_blfse.h"
#include "ufs.h"
#include <stdint.h>

/* Which clusterings put pairs together: `group` bytes for each. Kinds are numbered by their first
 * samples. */
typedef struct {
    int n, m, kinds, group, plane; /* plane: bytes of the largest label */
    int *kind;                     /* n */
    uint64_t *word;       /* n x plane x group: a byte of the labels of eight clusterings */
    unsigned char *pair;  /* n x group: of one sample and the kinds so far */
    double *table;        /* group x 256: sum of weights over the set bits */
    double *same, *apart; /* group x 256: what is summed for the errors */
    int seen;             /* kinds up to the present column */
    double *join;         /* n: sum of weights of those that put it and a kind together */
    double *near, *far;   /* n: what the column adds to same and apart, by kind */
} blfse_agreement;

void blfse_agreement_init(blfse_agreement *set, const blfse_problem *problem);
/* Before the first column: weights (m) of the clusterings. After the last: their errors (m), summed
 * per byte, `same` for the pairs together, `apart` for the others. Only sums of squares: nothing
 * cancels. */
void blfse_agreement_begin(blfse_agreement *set, const double *weight);
void blfse_agreement_end(const blfse_agreement *set, double *error);
/* Sample j and all kinds up to its own; columns come in order. Bits beyond the last clustering are
 * set; none of the sums looks at them. */
void blfse_column_begin(blfse_agreement *set, int j);
/* What the pairs of the column add to the errors, each as (i, j) and (j, i). */
void blfse_column_end(blfse_agreement *set);

/* What the pair adds to the errors of base results that put the two together, and of those that do
 * not. */
static inline void blfse_add_error(blfse_agreement *set, int kind, double w, double s)
{
    set->near[kind] += w * w * (s - 1.0) * (s - 1.0);
    set->far[kind] += w * w * s * s;
}

#endif
