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
    double *w;      /* p x m */
    double *row2;   /* p: |w_j|^2 */
    double *f;      /* n x c */
    int *neighbour; /* k x n, 0-based: where row i of S may be non-zero */
    double *s;      /* k x n: its values */
    int *component; /* n: of the learnt graph, 0-based */
} sogfs_result;

typedef struct {
    ufs_status status;
    int iterations, lapack, live, n_components;
    double lambda, r; /* the last lambda; r = alpha */
    double residual;
    ufs_trace trace;  /* objective, lambda, sums of the c and c + 1 smallest eigenvalues of L,
                         inner iterations */
} sogfs_info;

void sogfs_solve(const sogfs_problem *problem, const sogfs_settings *settings,
                 const ufs_hook *hook, sogfs_result *result, sogfs_info *info);

#endif
