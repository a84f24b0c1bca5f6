/* base_wstep.h: the step that UDFS and SOGFS share, see base_wstep.c. */
#ifndef UFS_BASE_WSTEP_H
#define UFS_BASE_WSTEP_H

#include "la.h"
#include "mm.h"

/* Arrays: the caller's. */
typedef struct {
    double *w;       /* p x c: orthonormal columns */
    double *row2;    /* p: |w_j|^2 */
    double *reach;   /* p: 2 |(MW)_j| / gamma; a row of zeros stays zero up to 1 */
    double residual; /* of the last step's eigenvectors, relative */
} wstep_result;

typedef struct {
    int n, p, c;
    const double *x; /* n x p */
    double gamma, eps;
    bool accelerate;
} wstep_problem;

typedef struct {
    const wstep_problem *problem;
    wstep_result *out;
    void *owner; /* the caller's, for judge() */
    mm s;
    mm_problem reweighted;
    double *m; /* p x p: M, or NULL if p > n; the caller's to fill */
    double *b; /* n x p: B with M = B'B, or NULL if p <= n; wstep_factor() */
    bool started, converged;
    double *part, *vector; /* M of the q rows at hand, q <= min(n, p); W of these rows, or MW */
    double *zw;            /* n x c: scratch */
    double *delta, *values;
    la_lowest lowest;
} wstep;

/* Allocates; then m is to be filled, or b. judge: see mm.h; its data is the wstep. */
void wstep_init(wstep *w, const wstep_problem *problem, wstep_result *out, void *owner,
                bool (*judge)(void *data, mm *s, bool accepted));
/* b from a, n x n positive semidefinite and destroyed: M = X'A X. n^3/3 + n^2 p flops. */
int wstep_factor(wstep *w, double *a);
/* After m or b was filled: the objective is another one. LAPACK's info. Then mm_run(). */
int wstep_renew(wstep *w);
/* For judge(), of an accepted step: the relative change of the objective, NaN for the first. */
double wstep_change(wstep *w);
/* For judge(), when steps have become small: do the rows left out belong there? If not they come
 * back. */
bool wstep_settled(wstep *w);
/* w, row2 and reach of all rows; once before they are read. */
void wstep_finish(wstep *w);

#endif
