/* base_wstep.h: the step that UDFS and SOGFS share, see base_wstep.c. */
#ifndef UFS_BASE_WSTEP_H
#define UFS_BASE_WSTEP_H

#include "la_lowest.h"
#include "mm.h"
#include "ufs.h"

typedef struct {
    int n, p, c;
    const double *x; /* n x p */
    double gamma, eps;
    bool accelerate;
    /* See mm.h; data is the wstep, whose owner is the caller's. */
    bool (*judge)(void *data, mm *s, bool accepted);
} wstep_problem;

typedef struct {
    const wstep_problem *problem;
    void *owner;
    int n, p, c;
    mm s;
    mm_problem reweighted;
    double *y;               /* n x p: A X with M = X'A X, or NULL if p > n; the caller's to fill */
    double *m;               /* M of the rows at hand, or NULL if p > n */
    double *b;               /* n x p: B with M = B'B, or NULL if p <= n; wstep_factor() */
    double *w;               /* p x c: orthonormal columns, the caller's */
    double *row2;            /* p: |w_j|^2, the caller's */
    double residual, change; /* of the last step's eigenvectors; of the objective */
    bool started, converged, rough; /* rough: the eigenvectors were not solved to the end */
    int n_held, *held;              /* the rows of part_w */
    double *part_x, *part_y, *part_w, *part_m;
    double *mw, *zw; /* p x c: M W; n x c */
    double *delta, *values;
    la_lowest lowest;
} wstep;

/* Allocates; then y is to be filled, or b. reach: p, how near a zero row is to entering (1 =
 * enters). All three arrays are the caller's. */
void wstep_init(wstep *w, const wstep_problem *problem, double *result_w, double *row2,
                double *reach);
/* b from a, n x n positive semidefinite and destroyed, and x: M = X'A X. n^3/3 + n^2 p flops. */
int wstep_factor(wstep *w, double *a, const double *x, int *pivot, double *work);
/* After y or b was filled: the objective is another one. LAPACK's info. Then mm_run(). */
int wstep_renew(wstep *w);
/* For judge(), of an accepted step: the relative change of the objective, NaN for the first. */
double wstep_change(wstep *w);
/* For judge(), when steps have become small: do the rows left out belong there, and are the
 * eigenvectors exact, and is no row at hand as good as zero? Otherwise such rows come back, or leave,
 * or the next eigenvectors will be exact. */
bool wstep_settled(wstep *w);
/* w, row2 and reach of all rows; once before they are read. */
void wstep_finish(wstep *w);
/* How many |w_j|^2 exceed the size that the smoothing alone gives. */
int wstep_live(const wstep *w);

#endif
