/* prox.h: the soft threshold, the proximal map of |a|, and what it takes away. */
#ifndef UFS_PROX_H
#define UFS_PROX_H

/* The nearest point of [-t, t]: without a branch, which nobody could predict in the loops that call
 * it. */
static inline double prox_clip(double a, double t)
{
    double least = a < t ? a : t;
    return least > -t ? least : -t;
}

/* sign(a) max(|a| - t, 0). */
static inline double prox_soft(double a, double t)
{
    return a - prox_clip(a, t);
}

#endif
