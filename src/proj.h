/* proj.h: Euclidean projections on simple sets, and the soft threshold, the proximal map of |a|. */
#ifndef UFS_PROJ_H
#define UFS_PROJ_H

#include "ufs.h"

/* Projection of y (length n) on {v >= 0, sum v = total}, total > 0: exact, by
 * sorting (n log n). work has length n. out may be y. */
void proj_simplex(int n, const double *y, double total, double *work, double *out);
/* Projection on {0 <= v <= 1, sum v = total}, 0 <= total <= n: bisection on the shift,
 * then the exact shift of the interior entries. Entries of y may be +-infinite (they
 * become 1 and 0). */
void proj_capped_simplex(int n, const double *y, double total, double *out);
/* Projection on the sphere {||v - 1/2||^2 = n/4} that meets the box [0, 1]^n in
 * the binary vectors; if y is its centre (within 1e-12), `fallback` is projected
 * instead. */
void proj_half_sphere(int n, const double *y, const double *fallback, double *out);

/* The nearest point of [-t, t], NaN of NaN: without a branch, which nobody could predict in the loops
 * that call it. */
static inline double prox_clip(double a, double t)
{
    double most = a > t ? t : a;
    return most < -t ? -t : most;
}

/* sign(a) max(|a| - t, 0). */
static inline double prox_soft(double a, double t)
{
    return a - prox_clip(a, t);
}

#endif
