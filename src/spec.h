/* spec.h: SPEC, spectral feature ranking. */
#pragma once

#include "graph.h"

/* phi1 (center = false) or phi2 (center = true) of each column of x, n x p, for
 * g(l) = l^power; NaN where it is 0 / 0. */
void spec_quadratic(const graph_csr *g, const ufs_x *x, int power, bool center, double *phi);
/* phi3 with m eigenpairs (l, u) beyond the trivial one; g without isolated nodes. */
void spec_leading(const graph_csr *g, const ufs_x *x, int power, int m, const double *l,
                  const double *u, double *phi);
