/* graph_dense.h: graphs given as dense symmetric weight matrices. */
#ifndef UFS_GRAPH_DENSE_H
#define UFS_GRAPH_DENSE_H

#include "ufs.h"

/* Connected components of {s_ij > threshold}, s n x n: their number; label (n) is
 * 1, 2, ... by first appearance. queue: n ints. Breadth first, n^2 reads. */
int graph_dense_components(int n, const double *s, double threshold, int *label, int *queue);

#endif
