/* eig_graph.h: the c smallest eigenvectors of a symmetric matrix, ties shared equally. */
#ifndef UFS_EIG_GRAPH_H
#define UFS_EIG_GRAPH_H

#include "ufs.h"

/* The minimiser of tr(N A) over {0 <= N <= I, tr N = c} of least Frobenius norm has
 * weight 1 on the `lo` eigenvectors below the c-th eigenvalue and `share` =
 * (c - lo) / eq on the `eq` that equal it up to the tolerance, 0 on the rest. It is the
 * projector on the c smallest if there is no tie, and unique in any case. */
typedef struct {
    int lo, eq;
    double share;
} low_split;

/* value: `found` smallest eigenvalues, ascending, found >= c. */
low_split low_ties(const double *value, int found, int c, double tol);

/* Workspace for the Laplacian L = diag(S 1) - S of a weight matrix S, packed as in la_packed.h. */
typedef struct {
    int n, c;
    int dense_limit; /* up to this n the whole spectrum is computed */
    double *value;   /* n */
    const double *degree;
    int *label, *order;
    double *warm; /* n x (c + 1): vectors of the last call, indicators left out */
    int n_warm;
    double worst; /* largest residual accepted so far, relative to max degree */
    enum { LOW_DENSE = 1, LOW_KRYLOV, LOW_BLOCKS } path; /* what the last call took */
} low_work;

void low_init(low_work *work, int n, int c, int dense_limit);
/* Weighted eigenvectors, so that R R' is the minimiser above for A = L(S): r n x k,
 * k = lo + eq columns times sqrt(weight). r and scratch have room for n x n; degree: n, S 1;
 *   n <= dense_limit: full dsyevr, about 9 n^3 flops;
 *   otherwise: with c or more components (of exact zeros in S) they are the
 *   indicators; if not, eig_krylov() finds the others, from the vectors of the last call,
 *   2 n^2 flops per vector, to a residual of 1e-12 max degree; a tie, or no convergence, falls
 *   back on the dense path.
 * Returns LAPACK's info. */
int low_laplacian(low_work *work, const double *s, const double *degree, double *scratch, double *r,
                  int *k, low_split *split);

#endif
