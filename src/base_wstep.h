/* base_wstep.h: the step that UDFS and SOGFS share, see base_wstep.c. */
#ifndef UFS_BASE_WSTEP_H
#define UFS_BASE_WSTEP_H

#include "anderson.h"
#include "la_lowest.h"
#include "ufs.h"

typedef struct {
    int n, p, c;
    double gamma, eps;
    double *m;       /* p x p: M, or NULL if p > n */
    double *b;       /* n x p: B with M = B'B, or NULL if p <= n */
    double *w;       /* p x c: orthonormal columns, of the caller */
    double *row2;    /* p: |w_j|^2, of the caller */
    bool accelerate;
    double objective, residual; /* after a step; of the eigenvectors */
    int lapack;
    bool started, converged;    /* converged: the eigenvectors of the last step */
    double *root;               /* p: (|w_j|^2 + eps)^{1/4} of the next weights, extrapolated */
    double *plain;              /* p: the same of the last accepted W */
    double *one, *delta, *values;
    anderson history;
    la_lowest lowest;
} wstep;

/* Allocates; then m or b must be filled. */
void wstep_init(wstep *s, int n, int p, int c, double gamma, double eps, bool accelerate,
                double *w, double *row2);
/* b from a, n x n positive semidefinite and destroyed, and x: M = X'A X. n^3/3 + n^2 p flops. */
int wstep_factor(wstep *s, double *a, const double *x, int *pivot, double *work);
/* m = X'Y, known to be symmetric (Y = A X), from x and y stored n x p (trans = 'T') or p x n
 * (trans = 'N'). n p^2 flops. */
void wstep_scatter(wstep *s, char trans, const double *x, const double *y);
/* row2 of the first W (equal weights), without W. */
void wstep_start(wstep *s);
/* For a new M or B: the objective is another one. */
void wstep_renew(wstep *s);
/* One reweighted step. False: its extrapolated weights had raised the objective, and the next step
 * starts from the W before again. A step after one with extrapolate = false is never refused. */
bool wstep_step(wstep *s, bool extrapolate);
/* How many |w_j|^2 exceed the size that the smoothing alone gives. */
int wstep_live(const wstep *s);

#endif
