/* la_krylov.h: what the subspace methods share: start vectors, orthonormal blocks, the small
 * eigenproblem and the change of basis. Used by la_eigs, la_lowest, RSR's start and Inf-FS. */
#ifndef UFS_LA_KRYLOV_H
#define UFS_LA_KRYLOV_H

#include "ufs.h"

/* A start vector: a hash of (row, column), uniform on (-1, 1), that no structure of the data
 * is orthogonal to by design. */
void la_krylov_noise(int n, int column, double *x);

/* Makes columns k .. k + added - 1 of q (n rows) orthonormal to `known` (n x n_known
 * orthonormal columns, or NULL), to the k columns of q before, which are orthonormal, and to
 * each other; those of which less than `least` of their length is left are dropped, and the
 * others move up. Returns how many are left. The block against the rest by two products,
 * twice, then column by column: 4n (n_known + k) added + 4n added^2 flops.
 * dot: max(n_known + k, k + added) x added doubles. */
int la_krylov_orthonormalise(int n, int n_known, const double *known, int k, int added, double *q,
                             double least, double *dot);

/* Eigenpairs of the leading k x k block of h (leading dimension ld, upper triangle read): theta
 * ascending, y k x k. copy: k x k scratch. Returns LAPACK's info. */
int la_krylov_ritz(int k, const double *h, int ld, double *theta, double *y, double *copy);

/* The first `keep` columns of q (n x k) become q y (y k x keep), in place, by blocks of rows.
 * scratch: LA_KRYLOV_ROWS x keep. 2n k keep flops. */
enum { LA_KRYLOV_ROWS = 128 };
void la_krylov_rotate(int n, int k, int keep, double *q, const double *y, double *scratch);

#endif
