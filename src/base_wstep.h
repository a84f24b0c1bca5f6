/* base_wstep.h: the step that UDFS and SOGFS share, see base_wstep.c. */
#ifndef UFS_BASE_WSTEP_H
#define UFS_BASE_WSTEP_H

#include "la_lowest.h"
#include "ufs.h"

typedef struct {
    int n, p, c;
    double gamma, eps;
    double *m;       /* p x p: M, or NULL if p > n */
    double *b;       /* n x p: B with M = B'B, or NULL if p <= n */
    double *w;       /* p x c: orthonormal columns, of the caller */
    double *row2;    /* p: |w_j|^2, of the caller */
    double objective, residual; /* after a step; of the eigenvectors */
    int lapack;
    bool started, converged;    /* converged: the eigenvectors of the last step */
    double *delta, *values;
    la_lowest lowest;
} wstep;

/* Allocates; then m or b must be filled. */
void wstep_init(wstep *s, int n, int p, int c, double gamma, double eps, double *w,
                double *row2);
/* b from a, n x n positive semidefinite and destroyed, and x: M = X'A X. n^3/3 + n^2 p flops. */
int wstep_factor(wstep *s, double *a, const double *x, int *pivot, double *work);
/* m = X'Y, known to be symmetric (Y = A X), from x and y stored n x p (trans = 'T') or p x n
 * (trans = 'N'). n p^2 flops. */
void wstep_scatter(wstep *s, char trans, const double *x, const double *y);
/* row2 of the first W (equal weights), without W. */
void wstep_start(wstep *s);
/* One reweighted step from row2. */
void wstep_step(wstep *s);
/* How many |w_j|^2 exceed the size that the smoothing alone gives. */
int wstep_live(const wstep *s);

#endif
