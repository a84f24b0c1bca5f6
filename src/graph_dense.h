/* graph_dense.h: graphs given as dense symmetric weight matrices, packed. */
#ifndef UFS_GRAPH_DENSE_H
#define UFS_GRAPH_DENSE_H

#include "ufs.h"

/* Connected components of {s_ij > threshold}, the columns of whose upper triangle are s (see
 * la_packed.h): their number; label (n) is 1, 2, ... by first appearance. order: n ints. n^2 / 2
 * reads, fewer where components join early. */
int graph_dense_components(int n, const double *s, double threshold, int *label, int *order);

#endif
