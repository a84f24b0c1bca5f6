/* propagate.h: harmonic labels on a weighted graph (Zhu, Ghahramani, Lafferty 2003).
 * Minimises tr(Y L Y') over the unlabelled columns with the labelled ones fixed:
 * L_uu Y_u' = W_ul Y_l'. Cholesky of L_uu: u^3/3 + 2u^2 c flops, u x u memory; of a graph given by its
 * edges conjugate gradients, see propagate.c. */
#pragma once

#include "ufs.h"

typedef struct {
    int n, c;
    const double *w;  /* n x n, symmetric, not negative; the diagonal is ignored */
    const int *known; /* class 1..c, 0 = unlabelled; every class occurs */
    int p;
    const double *x;          /* n x p for the nearest labelled sample, or NULL */
    bool cmn;                 /* class mass normalisation */
    const int *start, *index; /* of the edges in w, node by node; NULL: w is n x n */
    const ufs_hook *hook;     /* told of each class that is done; or NULL */
} propagate_problem;

/* Nodes that are not connected to a labelled one get the class shares of the labelled ones as
 * probability, and the label of the nearest labelled sample (without x: the most frequent
 * class). */
typedef struct {
    int *label;          /* n: 1..c */
    double *probability; /* n x c, rows sum to 1 */
    int *reached;        /* n: connected to a labelled node */
    double error;        /* no probability is further off; 0 by Cholesky */
} propagate_result;

/* Returns LAPACK's code. Workspace is allocated inside and given back: it is called in a loop. */
int propagate_solve(const propagate_problem *problem, propagate_result *result);
