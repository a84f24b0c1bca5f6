/* la_lowest.h: the lowest eigenpairs of a positive semidefinite matrix plus a positive
 * diagonal, without a matrix of order p when p is large. */
#ifndef UFS_LA_LOWEST_H
#define UFS_LA_LOWEST_H

#include "ufs.h"

/* P = diag(delta) + M of order p, delta > 0, with M given as
 *   m: p x p, symmetric, both triangles (b = NULL), or
 *   b: r x p with M = B'B (m = NULL).
 * The largest eigenpairs of (P - sigma I)^{-1} by la_eigs_krylov(), sigma just below min(delta). The
 * inverse is applied through a Cholesky factor of P - sigma I (p^3/3 flops once, 2p^2 per vector), or
 * by Woodbury,
 *   (P - sigma I)^{-1} = G - G B'(I + B G B')^{-1} B G,  G = (diag(delta) - sigma I)^{-1},
 * at r^2 p + r^3/3 once and 4rp per vector. p <= LA_LOWEST_DENSE or 8c with m: LAPACK.
 * Memory: 2p (3c + 48) doubles while it solves, and p^2, or rp + r^2. */
enum { LA_LOWEST_DENSE = 120 };

typedef struct {
    int p, c, r;
    const double *m, *b;
    const int *set; /* p: the columns of b in use, or NULL for all */
    double *g;      /* p: 1 / (delta - sigma), Woodbury only */
    double *k;      /* Cholesky factor, p x p or r x r */
    double *scaled; /* r x p: B G^{1/2} */
} la_lowest;

typedef struct {
    int lapack, applied; /* LAPACK's info; vectors the inverse was applied to */
    double residual;     /* of (P - sigma I)^{-1}, relative to its largest eigenvalue */
    bool converged;
} la_lowest_info;

/* 1 <= c <= p; r = p with m. */
void la_lowest_init(la_lowest *s, int p, int c, int r, const double *m, const double *b);
/* Another matrix of lower order, in the same memory: p no larger than at first; m of an order
 * no larger than what was factored then (p with m, r with b), b with as many rows, of whose
 * columns `set` (kept, not copied; may be NULL) names p. */
void la_lowest_set(la_lowest *s, int p, int r, const double *m, const double *b, const int *set);
/* The c lowest pairs, ascending: values c, vectors p x c (orthonormal). With `warm`, vectors
 * holds orthonormal guesses on entry. Stops at residual <= tol, or below 1e-7 when rounding
 * allows no better; that too counts as converged. */
void la_lowest_solve(la_lowest *s, const double *delta, bool warm, double tol, double *values,
                     double *vectors, la_lowest_info *info);

#endif
