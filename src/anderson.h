/* anderson.h: Anderson acceleration of a fixed-point iteration u <- f(u). */
#ifndef UFS_ANDERSON_H
#define UFS_ANDERSON_H

#include "ufs.h"

/* With residuals r = f(u) - u, the next point is f - sum_i gamma_i df_i, where gamma
 * minimises || weight o (r - sum_i gamma_i dr_i) || over the last `depth` differences of f
 * and r (type II). 4 size depth^2 flops per step. */
typedef struct {
    int size, depth, count, at; /* count differences are stored, the next goes to `at` */
    bool has_last;
    double *df, *dr;            /* size x depth */
    double *last_f, *last_r;
    double *basis, *target;     /* scratch: size x depth, size */
    double *coef, *upper;       /* depth, depth x depth */
} anderson;

void anderson_init(anderson *a, int size, int depth);
/* Forgets the history. */
void anderson_reset(anderson *a);
/* next (may be u or f) from a point u, its image f and the weights of the norm. */
void anderson_step(anderson *a, const double *u, const double *f, const double *weight,
                   double *next);

#endif
