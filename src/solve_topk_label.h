/* solve_topk_label.h: clusters of the samples from their representation, see
 * solve_topk_label.c. */
#ifndef UFS_SOLVE_TOPK_LABEL_H
#define UFS_SOLVE_TOPK_LABEL_H

#include "ufs.h"

typedef struct {
    int n, c;
    double *affinity; /* n x n */
    double *degree, *value;
    double *u;        /* n x c: the rows to be clustered */
    double *centre;   /* c x c */
    double *distance; /* n */
    int *trial, *again, *old, *size, *seed;
    int isolated; /* samples without any link */
} topk_label;

/* affinity: n x n, only used during a solve. */
void topk_label_init(topk_label *work, int n, int c, double *affinity);
/* Clusters the samples from z; label holds the previous partition if have_previous,
 * and the new one on return. Returns LAPACK's code, or -1 if fewer than c samples have a
 * link. */
int topk_label_solve(topk_label *work, const double *z, bool have_previous, int *label);

#endif
