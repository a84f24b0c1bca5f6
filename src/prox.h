/* prox.h: the soft threshold, the proximal map of |a|. */
#ifndef UFS_PROX_H
#define UFS_PROX_H

/* sign(a) max(|a| - t, 0). */
static inline double prox_soft(double a, double t)
{
    return a > t ? a - t : (a < -t ? a + t : 0.0);
}

#endif
