/* base_laplacian.h: the Laplacian score. */
#ifndef UFS_BASE_LAPLACIAN_H
#define UFS_BASE_LAPLACIAN_H

#include "graph.h"

/* score_j of each column of x (n x p); NaN where a column is constant on the nodes that
 * have edges. work has length n. */
void laplacian_scores(const graph_csr *g, const ufs_x *x, double *work, double *score);
/* out = f - (f'd / 1'd) 1; returns sum d_i out_i^2, or 0 if that is rounding. */
double laplacian_center(const graph_csr *g, const double *f, double *out);

#endif
