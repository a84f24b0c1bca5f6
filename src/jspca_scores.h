/* jspca_scores.h: for JSPCA over many samples of few features, X = S V'. */
#ifndef UFS_JSPCA_SCORES_H
#define UFS_JSPCA_SCORES_H

#include "x_ops.h"

typedef struct {
    int n, p, k, r;
    double *s, *v;       /* n x r, p x r: scores, and eigenvectors of X'X */
    double *sigma;       /* r: singular values of X */
    double *gram, *root; /* r x r: S'WS, and C with C'C = S'WS */
    double *small;       /* r x p: C V' */
    double *tile;        /* scratch */
    ufs_x x;             /* C V', which has the inner products of W^{1/2} X */
} jspca_scores;

/* Whether n r^2 flops for a new S'WS cost less than old weights with vectors of length n k. */
bool jspca_scores_pay(const ufs_x *x, int k);

/* S = X V; r = 0 where the rank of X is in doubt, as X'X squares its condition. n p (p + r) flops.
 * Returns LAPACK's info. */
int jspca_scores_init(jspca_scores *work, const ufs_x *x, int k);

/* S'WS, C and C V' for these n weights; n r^2 + p r^2 flops. Returns LAPACK's info. */
int jspca_scores_weigh(jspca_scores *work, const double *weight);

/* a is p x k: inner (r x k) = V'a, out (n x k) = S V'a, which is X a. inner may be NULL. */
void jspca_scores_times(jspca_scores *work, const double *a, double *inner, double *out);

/* out (p x k) = X'WX a. */
void jspca_scores_weighted(jspca_scores *work, const double *a, double *out);

#endif
