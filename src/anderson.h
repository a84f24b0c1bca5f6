/* anderson.h: Anderson acceleration of a fixed-point iteration u <- f(u). */
#pragma once

#include "ufs.h"

/* With residuals r = f(u) - u, the next point is f - sum_i gamma_i df_i, where gamma
 * minimises || weight o (r - sum_i gamma_i dr_i) || over the last `depth` differences of f
 * and r (type II). 4 size depth^2 flops per step, (3 depth + 3) size doubles. */
typedef struct {
    int size, depth, count, at; /* count differences are stored, the next goes to `at` */
    bool has_last;
    double *df, *dr; /* size x depth */
    double *last_f, *last_r;
    double *basis, *target; /* scratch: size x depth, size */
    double *coef, *upper;   /* depth, depth x depth */
} anderson;

void anderson_init(anderson *a, int size, int depth);
/* Forgets the history; then `size` may be another one, at most that of the start. */
void anderson_reset(anderson *a);
/* Forgets all but the last pair, from which the next difference is taken. */
void anderson_keep_last(anderson *a);
/* Adds a point u and its image f to the history. */
void anderson_push(anderson *a, const double *u, const double *f);
/* next: the point from the history, whose last pair was just pushed; weights of the norm,
 * or NULL for ones. False, and next is not set, if there is no difference yet. */
bool anderson_mix(anderson *a, const double *weight, double *next);
