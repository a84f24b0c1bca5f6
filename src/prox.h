/* prox.h: proximal maps. Shapes: column-major n x p. */
#ifndef UFS_PROX_H
#define UFS_PROX_H

#include "ufs.h"

/* sign(a) max(|a| - t, 0) for one number. */
static inline double prox_soft(double a, double t)
{
    return a > t ? a - t : (a < -t ? a + t : 0.0);
}

/* out = argmin_U 1/2 ||U - A||^2 + t sum_i ||row i of U||; norm (length n)
 * returns the row norms of A. 3np flops; out may be a. */
void prox_rows(int n, int p, const double *a, double t, double *norm, double *out);
/* The same with columns; norm has length p. */
void prox_cols(int n, int p, const double *a, double t, double *norm, double *out);

#endif
