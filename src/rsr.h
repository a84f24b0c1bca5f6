/* rsr.h: regularised self-representation, see rsr.c. */
#pragma once

#include "mm.h"

typedef struct {
    int n, p;
    const double *x;     /* n x p */
    const double *count; /* n: how many samples each row is the sum of, all alike; NULL: one */
    double start_g;      /* plain iteration: first weight of every row of E, over its count */
} rsr_problem;

/* w is p x p, or NULL if it is not wanted. */
typedef struct {
    mm_result norms; /* of the rows of W and of E */
    double *w;
    double identity; /* largest lambda at which W = I is proved optimal; NaN: p > n, no full rank */
} rsr_result;

void rsr_solve(const rsr_problem *problem, const mm_settings *settings, rsr_result *result,
               ufs_run *run);
