/* wstep.h: the step that UDFS and SOGFS share, see wstep.c. */
#pragma once

#include "eig.h"
#include "mm.h"

typedef struct {
    int n, p, c;
    const double *x;      /* n x p */
    mm_settings settings; /* penalty: gamma */
} wstep_problem;

/* Arrays: the caller's. */
typedef struct {
    mm_result norms; /* row: |w_j|^2; dual: 2 |(MW)_j| / gamma, a row of zeros stays zero up to 1 */
    double *w;       /* p x c: orthonormal columns */
    double residual; /* of the last step's eigenvectors, relative */
} wstep_result;

typedef struct {
    const wstep_problem *problem;
    wstep_result *out;
    mm s;
    double *m; /* p x p: M, or NULL if p > n; the caller's to fill */
    double *b; /* n x p: B with M = B'B, or NULL if p <= n; wstep_factor() */
    bool started;
    double *part, *vector; /* M of the q rows at hand, q <= min(n, p); W of these rows, or MW */
    double *zw;            /* n x c: scratch */
    double *delta, *values;
    eig_lowest lowest;
} wstep;

/* Allocates; then m is to be filled, or b. */
void wstep_init(wstep *w, const wstep_problem *problem, wstep_result *out, ufs_run *run);
/* b from a, n x n positive semidefinite and destroyed: M = X'A X. n^3/3 + n^2 p flops. */
int wstep_factor(wstep *w, double *a);
/* For the M at hand, from the last W if there is one. LAPACK's info. */
int wstep_solve(wstep *w);
