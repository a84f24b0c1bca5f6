/* x_scaled.h: the operations of x_ops.h on a dense R that is standardised on the spot, a block
 * of columns of at most 256 KB (one at least) at a time: 2np flops more per pass than on X
 * itself, and no copy of it. */
#ifndef UFS_X_SCALED_H
#define UFS_X_SCALED_H

#include "x_ops.h"

void x_scaled_column(const ufs_x *x, int j, double *out);
void x_scaled_mul(const ufs_x *x, int c, const double *v, double *y);
/* U p x c, or c x p if by_rows. */
void x_scaled_cross(const ufs_x *x, int c, const double *t, double *u, bool by_rows);
/* K = XX', both triangles. */
void x_scaled_gram_rows(const ufs_x *x, double *k);
/* G = X'X, both triangles. */
void x_scaled_gram_cols(const ufs_x *x, double *g);

#endif
