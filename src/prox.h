/* prox.h: the soft threshold, the proximal map of |a|. */
#ifndef UFS_PROX_H
#define UFS_PROX_H

/* sign(a) max(|a| - t, 0), as a less its nearest point in [-t, t]: without a branch, which nobody
 * could predict in the loops that call it. */
static inline double prox_soft(double a, double t)
{
    double least = a < t ? a : t;
    return a - (least > -t ? least : -t);
}

#endif
