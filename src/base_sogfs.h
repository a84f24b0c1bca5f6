/* base_sogfs.h: structured optimal graph feature selection, see base_sogfs.c. */
#ifndef UFS_BASE_SOGFS_H
#define UFS_BASE_SOGFS_H

#include "ufs.h"

typedef struct {
    int n, p;
    const double *x; /* n x p */
    int m, c, k;     /* columns of W, clusters, neighbours */
    double gamma;
} sogfs_problem;

typedef struct {
    int max_iter, inner_max_iter;
    double inner_tol, eps;
    bool accelerate;
} sogfs_settings;

typedef struct {
    double *w;              /* p x m */
    double *row2;           /* p: |w_j|^2 */
    double *reach;          /* p: 2 |(MW)_j| / gamma; a row of zeros stays zero up to 1 */
    double *f;              /* n x c */
    int *neighbour;         /* k x n, 0-based: where row i of S may be non-zero */
    double *s;              /* k x n: its values */
    int *component;         /* n: of the learnt graph, 0-based */
    int n_components, live; /* of that graph; rows of W that are not zero */
    double alpha, lambda;   /* from the distances; the last one */
    double residual;        /* of the last step's eigenvectors, relative */
} sogfs_result;

void sogfs_solve(const sogfs_problem *problem, const sogfs_settings *settings, sogfs_result *result,
                 ufs_run *run);

#endif
