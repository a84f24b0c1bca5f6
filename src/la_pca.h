/* la_pca.h: principal components of a centred matrix. */
#ifndef UFS_LA_PCA_H
#define UFS_LA_PCA_H

#include "ufs.h"

/* The k leading components of x (n x p, columns centred): scores n x k, loadings p x k with
 * unit columns, and k squared singular values d2, through the smaller Gram matrix. Signs are
 * fixed by the largest loading. A component with no variance has zero loadings.
 * min(n, p) n p + 4 min(n, p)^3 / 3 + 4npk flops; memory min(n, p)^2. Returns LAPACK's info. */
int la_pca(int n, int p, const double *x, int k, double *scores, double *loadings, double *d2);

#endif
